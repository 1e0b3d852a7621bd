# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_tabsense_global_optspecs
    string join \n h/help V/version
end

function __fish_tabsense_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_tabsense_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_tabsense_using_subcommand
    set -l cmd (__fish_tabsense_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c tabsense -n "__fish_tabsense_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tabsense -n "__fish_tabsense_needs_command" -s V -l version -d 'Print version'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "try" -d 'Open a shell with everything on, on your own history, that leaves nothing behind'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "init" -d 'Print the script that turns tabsense on'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "complete" -d 'Rank the completions of a line'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "worker" -d 'Look after the worker'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "import" -d 'Read a shell\'s history file, Atuin\'s or zoxide\'s database'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "forget" -d 'Take commands out of the history'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "why" -d 'Explain'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "adapt" -d 'Adapt the ranking to you by replaying your history; it also happens by itself once a day'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "pause" -d 'Stop recording and ranking until `resume`'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "resume" -d 'Go on after `pause`'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "config" -d 'Show the settings in force, or where they come from'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "doctor" -d 'Check every part and say how to mend what fails'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "eval" -d 'Measure how good the ranking is'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "bench" -d 'Measure how fast it is'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "model" -d 'Look after the decision model'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "decide" -d 'Let the decision model answer questions about a text, for scripts'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "do" -d 'Say in your own words what you want; prints the command for it and never runs it unasked'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "uninstall" -d 'Take out what init, import and the worker put on this machine'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "completions" -d 'Write the completions of this command line into a directory'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "prompt" -d 'For the shells\' prompt hooks: `prompt --hook`'
complete -c tabsense -n "__fish_tabsense_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c tabsense -n "__fish_tabsense_using_subcommand try" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tabsense -n "__fish_tabsense_using_subcommand init" -l part -d 'Print a part that the script reads when it is needed' -r -f -a "tab\t'The order of what TAB offers'
do\t'Words into commands'"
complete -c tabsense -n "__fish_tabsense_using_subcommand init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tabsense -n "__fish_tabsense_using_subcommand complete" -l shell -d 'The shell whose syntax the line is in' -r -f -a "zsh\t'zsh'
fish\t'fish'
bash\t'bash 4.4 or later'"
complete -c tabsense -n "__fish_tabsense_using_subcommand complete" -l line -d 'The line' -r
complete -c tabsense -n "__fish_tabsense_using_subcommand complete" -l cursor -d 'The cursor\'s offset in characters; the end by default' -r
complete -c tabsense -n "__fish_tabsense_using_subcommand complete" -l cwd -d 'The working directory; the current one by default' -r -F
complete -c tabsense -n "__fish_tabsense_using_subcommand complete" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand complete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status run help" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status run help" -f -a "start" -d 'Start it; TAB does so by itself'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status run help" -f -a "stop" -d 'Stop it'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status run help" -f -a "restart" -d 'Stop it and start it again'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status run help" -f -a "status" -d 'Say how it is'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status run help" -f -a "run" -d 'Run it here, in the foreground'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and not __fish_seen_subcommand_from start stop restart status run help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and __fish_seen_subcommand_from restart" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and __fish_seen_subcommand_from status" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "start" -d 'Start it; TAB does so by itself'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "stop" -d 'Stop it'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "restart" -d 'Stop it and start it again'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "status" -d 'Say how it is'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "run" -d 'Run it here, in the foreground'
complete -c tabsense -n "__fish_tabsense_using_subcommand worker; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c tabsense -n "__fish_tabsense_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tabsense -n "__fish_tabsense_using_subcommand forget" -l all -d 'Everything that was ever recorded'
complete -c tabsense -n "__fish_tabsense_using_subcommand forget" -l yes -d 'Do not ask'
complete -c tabsense -n "__fish_tabsense_using_subcommand forget" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand why" -l not-recorded -d 'Why a command is not in the history, or not as it was typed' -r
complete -c tabsense -n "__fish_tabsense_using_subcommand why" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand adapt" -l reset -d 'Go back to the ranking as it came'
complete -c tabsense -n "__fish_tabsense_using_subcommand adapt" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand adapt" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand pause" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand resume" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand config; and not __fish_seen_subcommand_from path reference help" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand config; and not __fish_seen_subcommand_from path reference help" -f -a "path" -d 'Print where the settings file is'
complete -c tabsense -n "__fish_tabsense_using_subcommand config; and not __fish_seen_subcommand_from path reference help" -f -a "reference" -d 'Print the page that documents every key'
complete -c tabsense -n "__fish_tabsense_using_subcommand config; and not __fish_seen_subcommand_from path reference help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c tabsense -n "__fish_tabsense_using_subcommand config; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand config; and __fish_seen_subcommand_from reference" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "path" -d 'Print where the settings file is'
complete -c tabsense -n "__fish_tabsense_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "reference" -d 'Print the page that documents every key'
complete -c tabsense -n "__fish_tabsense_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c tabsense -n "__fish_tabsense_using_subcommand doctor" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and not __fish_seen_subcommand_from history completion shortcuts help" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and not __fish_seen_subcommand_from history completion shortcuts help" -f -a "history" -d 'Replay histories: JSON lines, one user a line (.gz too)'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and not __fish_seen_subcommand_from history completion shortcuts help" -f -a "completion" -d 'Rank completion cases: JSON lines, one case a line (.gz too)'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and not __fish_seen_subcommand_from history completion shortcuts help" -f -a "shortcuts" -d 'Choose shortcuts for phrases: JSON lines, {"text": …, "lang": …, "id": … or null} (.gz too)'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and not __fish_seen_subcommand_from history completion shortcuts help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from history" -l model -d 'A checkpoint\'s directory; the model in the settings by default' -r -F
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from history" -l sample -d 'Score about so many commands of each user, always the same ones; all by default' -r
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from history" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from history" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from completion" -l model -d 'A checkpoint\'s directory; the model in the settings by default' -r -F
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from completion" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from completion" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from shortcuts" -l model -d 'A checkpoint\'s directory; the model in the settings by default' -r -F
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from shortcuts" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from shortcuts" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from help" -f -a "history" -d 'Replay histories: JSON lines, one user a line (.gz too)'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from help" -f -a "completion" -d 'Rank completion cases: JSON lines, one case a line (.gz too)'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from help" -f -a "shortcuts" -d 'Choose shortcuts for phrases: JSON lines, {"text": …, "lang": …, "id": … or null} (.gz too)'
complete -c tabsense -n "__fish_tabsense_using_subcommand eval; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c tabsense -n "__fish_tabsense_using_subcommand bench" -l model -d 'A checkpoint\'s directory' -r
complete -c tabsense -n "__fish_tabsense_using_subcommand bench" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand bench" -l quick -d 'Fewer requests, small sizes only'
complete -c tabsense -n "__fish_tabsense_using_subcommand bench" -l prompts -d 'Only how much later the first prompt of each shell stands'
complete -c tabsense -n "__fish_tabsense_using_subcommand bench" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and not __fish_seen_subcommand_from list info use verify quantize bench help" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and not __fish_seen_subcommand_from list info use verify quantize bench help" -f -a "list" -d 'Show the models on this machine; * marks the one in use'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and not __fish_seen_subcommand_from list info use verify quantize bench help" -f -a "info" -d 'Show what a checkpoint is'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and not __fish_seen_subcommand_from list info use verify quantize bench help" -f -a "use" -d 'Choose the model that ranks'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and not __fish_seen_subcommand_from list info use verify quantize bench help" -f -a "verify" -d 'Compare a checkpoint with its expected answers, and what can run it with each other'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and not __fish_seen_subcommand_from list info use verify quantize bench help" -f -a "quantize" -d 'Write a smaller copy of a checkpoint and say what that changes'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and not __fish_seen_subcommand_from list info use verify quantize bench help" -f -a "bench" -d 'Measure how fast a checkpoint is here'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and not __fish_seen_subcommand_from list info use verify quantize bench help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from list" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from info" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from info" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from use" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from verify" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from quantize" -l bits -d 'Bits of a weight' -r -f -a "8\t''
4\t''"
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from quantize" -l group-size -d 'Weights that share a scale; `row` for a whole row, the fastest to run' -r
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from quantize" -l keep -d 'Matrices to leave as they are: part of a name, * for anything; may be repeated' -r
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from quantize" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from quantize" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from bench" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from bench" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show the models on this machine; * marks the one in use'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "info" -d 'Show what a checkpoint is'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "use" -d 'Choose the model that ranks'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Compare a checkpoint with its expected answers, and what can run it with each other'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "quantize" -d 'Write a smaller copy of a checkpoint and say what that changes'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "bench" -d 'Measure how fast a checkpoint is here'
complete -c tabsense -n "__fish_tabsense_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c tabsense -n "__fish_tabsense_using_subcommand decide" -l state -d 'What is asked about: a text, @FILE, or - for standard input; a JSON list or object is read as one' -r
complete -c tabsense -n "__fish_tabsense_using_subcommand decide" -l questions -d 'The questions: {"id": {"type": "choice", "instructions": "…", "criteria": ["…"]}, …}' -r -F
complete -c tabsense -n "__fish_tabsense_using_subcommand decide" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand decide" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand do" -l shell -d 'The shell that the command is for; yours by default' -r -f -a "zsh\t'zsh'
fish\t'fish'
bash\t'bash 4.4 or later'"
complete -c tabsense -n "__fish_tabsense_using_subcommand do" -l cwd -d 'The working directory; the current one by default' -r -F
complete -c tabsense -n "__fish_tabsense_using_subcommand do" -l run -d 'Run it when it is sure: at once if it only reads, else after asking'
complete -c tabsense -n "__fish_tabsense_using_subcommand do" -l json -d 'For programs'
complete -c tabsense -n "__fish_tabsense_using_subcommand do" -l explain -d 'Tell why'
complete -c tabsense -n "__fish_tabsense_using_subcommand do" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tabsense -n "__fish_tabsense_using_subcommand uninstall" -l purge -d 'Delete the recorded history, too'
complete -c tabsense -n "__fish_tabsense_using_subcommand uninstall" -l yes -d 'Do not ask'
complete -c tabsense -n "__fish_tabsense_using_subcommand uninstall" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand completions" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand prompt" -s h -l help -d 'Print help'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "try" -d 'Open a shell with everything on, on your own history, that leaves nothing behind'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "init" -d 'Print the script that turns tabsense on'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "complete" -d 'Rank the completions of a line'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "worker" -d 'Look after the worker'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "import" -d 'Read a shell\'s history file, Atuin\'s or zoxide\'s database'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "forget" -d 'Take commands out of the history'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "why" -d 'Explain'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "adapt" -d 'Adapt the ranking to you by replaying your history; it also happens by itself once a day'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "pause" -d 'Stop recording and ranking until `resume`'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "resume" -d 'Go on after `pause`'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "config" -d 'Show the settings in force, or where they come from'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "doctor" -d 'Check every part and say how to mend what fails'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "eval" -d 'Measure how good the ranking is'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "bench" -d 'Measure how fast it is'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "model" -d 'Look after the decision model'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "decide" -d 'Let the decision model answer questions about a text, for scripts'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "do" -d 'Say in your own words what you want; prints the command for it and never runs it unasked'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "uninstall" -d 'Take out what init, import and the worker put on this machine'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "completions" -d 'Write the completions of this command line into a directory'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "prompt" -d 'For the shells\' prompt hooks: `prompt --hook`'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and not __fish_seen_subcommand_from try init complete worker import forget why adapt pause resume config doctor eval bench model decide do uninstall completions prompt help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from worker" -f -a "start" -d 'Start it; TAB does so by itself'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from worker" -f -a "stop" -d 'Stop it'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from worker" -f -a "restart" -d 'Stop it and start it again'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from worker" -f -a "status" -d 'Say how it is'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from worker" -f -a "run" -d 'Run it here, in the foreground'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "path" -d 'Print where the settings file is'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "reference" -d 'Print the page that documents every key'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from eval" -f -a "history" -d 'Replay histories: JSON lines, one user a line (.gz too)'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from eval" -f -a "completion" -d 'Rank completion cases: JSON lines, one case a line (.gz too)'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from eval" -f -a "shortcuts" -d 'Choose shortcuts for phrases: JSON lines, {"text": …, "lang": …, "id": … or null} (.gz too)'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "list" -d 'Show the models on this machine; * marks the one in use'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "info" -d 'Show what a checkpoint is'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "use" -d 'Choose the model that ranks'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "verify" -d 'Compare a checkpoint with its expected answers, and what can run it with each other'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "quantize" -d 'Write a smaller copy of a checkpoint and say what that changes'
complete -c tabsense -n "__fish_tabsense_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "bench" -d 'Measure how fast a checkpoint is here'
