# tabsense for fish (3.4 and later): TAB keeps fish's own pager, in our order.
#
# How it works. fish sorts what it completes, except completions defined with --keep-order, and of
# two equal completions it keeps the first. So TAB takes fish's own candidates (`complete -C`), asks
# the client once, and puts the ordered list into a variable that a dormant completion offers: the
# same texts, kept in order, evaluated before all others. Then it calls fish's own `complete`, which
# inserts, escapes, shows the pager and describes as ever. Nothing of the user's is redefined, no
# name is ever evaluated, and the dormant completion offers nothing unless TAB has just armed it.
#
# That completion is defined for the command's path (`-p`): fish walks its completions sorted by
# name, and "/..." and "" (builtins and functions have no path) come before all command names. A
# separate definition also stays in force where an option of the command claims its argument.
#
# Where fish does not ask completions at all (command names, variables, user names, redirections,
# wildcards), or would match our texts differently from its own, TAB is exactly fish's `complete`.

status is-interactive; or return 0
test -n "$TERM" -a "$TERM" != dumb; or return 0

set -q TABSENSE_BIN; or set -g TABSENSE_BIN tabsense

# One name for this shell: pid and start time, so that a reused pid is another session.
if not string match -q -- "$fish_pid.*" "$__tabsense_session"
    set -g __tabsense_session $fish_pid.(random)
    if test -r /proc/$fish_pid/stat
        read -l __tabsense_stat </proc/$fish_pid/stat
        # The fields after the program's name, which may hold blanks; the start time is field 22.
        set __tabsense_stat (string replace -r '.*\) ' '' -- $__tabsense_stat | string split ' ')
        set -g __tabsense_session $fish_pid.$__tabsense_stat[20]
    end
end

# More candidates than this are left to fish: a thousand take its script 30 ms.
set -g __tabsense_most 1000
# A directory of this size on disk (bytes) holds many more: then they are counted first.
set -g __tabsense_large 200000
# The paths that have the dormant completion already.
set -q __tabsense_paths; or set -g __tabsense_paths
# Words that had too many candidates: left to fish without looking again.
set -g __tabsense_crowded

function __tabsense_tab --description 'Complete in the order of tabsense'
    if not commandline --paging-mode; and not commandline --search-mode
        __tabsense_order
        if test -n "$__tabsense_sure"
            commandline --current-token -- $__tabsense_sure
            return
        end
    end
    commandline -f complete
end

# Arms the dormant completion, or returns without: then TAB is fish's own.
function __tabsense_order
    set -g __tabsense_answer
    set -g __tabsense_armed
    set -g __tabsense_sure
    command -q -- $TABSENSE_BIN; or return

    # fish completes the whole word, also from its middle.
    set -l word (commandline -t | string collect)
    set -l typed (commandline -ct | string collect)
    set -l before (commandline -c | string collect)
    set -l text "$before"
    if test "$word" != "$typed"
        set -l rest (string sub -s (math (string length -- "$typed") + 1) -- "$word")
        string match -qr '^[\w./-]+$' -- "$rest"; or return
        set text "$before$rest"
    end
    __tabsense_plain_word "$word"; or return

    # The command: what comes first after variable assignments. None: a command is being typed.
    set -l words (commandline -poc)
    while string match -qr '^[A-Za-z_]\w*=' -- "$words[1]"
        set -e words[1]
    end
    test -n "$words[1]"; or return
    # After a redirection fish offers files and asks no completion.
    string match -qr '[<>][&?|]?\s*$' -- (string sub -l (math (string length -- "$before") - (string length -- "$typed")) -- "$before"); and return

    __tabsense_is_crowded "$PWD $words[1] $word" "$word"; and return
    set -l lines (complete -C "$text" --escape)
    if test (count $lines) -gt $__tabsense_most
        set -g __tabsense_crowded "$PWD $words[1] $word" $__tabsense_crowded[1..9]
        return
    end
    # Nothing to order.
    test (count $lines) -eq 1; and return

    set -l typed_plain (string unescape -- "$word")
    test (count $typed_plain) -le 1; or return
    # Asking completions, fish takes even an escaped * or ? of the word for a wildcard.
    string match -qr '[*?]' -- "$typed_plain"; and return
    __tabsense_rank "$word" "$typed_plain" $lines; or return
    test -n "$__tabsense_answer[1]"; or return
    __tabsense_offer $words[1]
    set -g __tabsense_armed "x$word"
end

# Whether a word has too many candidates to ask fish for them twice: it had them before, or it is
# short and its directory is huge.
function __tabsense_is_crowded --argument-names place word
    contains -- $place $__tabsense_crowded; and return
    string match -qr '[^/]{3}$' -- $word; and return 1
    set -l directory (string match -r '^[\w./-]*/' -- $word; or echo .)
    test "$__tabsense_roomy" = "$PWD $directory"; and return 1
    set -l size (command stat -L -c %s -- $directory 2>/dev/null; or command stat -L -f %z -- $directory 2>/dev/null)
    if string match -qr '^\d+$' -- "$size"; and test $size -gt $__tabsense_large
        set -l entries (command ls -1U -- $directory 2>/dev/null | command head -n (math $__tabsense_most + 1) | count)
        if test $entries -gt $__tabsense_most
            set -g __tabsense_crowded $place $__tabsense_crowded[1..9]
            return
        end
    end
    set -g __tabsense_roomy "$PWD $directory"
    return 1
end

# Whether fish would complete the word by asking completions, rather than as a wildcard, a
# substitution, a variable or a user name.
function __tabsense_plain_word --argument-names word
    string match -qr '\$\w*$|^~[^/]*$|\$\(' -- "$word"; and return 1
    # An escape at the end has nothing to escape yet.
    string match -qr '(?<!\\\\)(\\\\\\\\)*\\\\$' -- "$word"; and return 1
    set -l bare (string replace -ra '(?s)\\\\.|\'([^\'\\\\]|\\\\.)*(\'|$)|"([^"\\\\]|\\\\.)*("|$)' '' -- "$word")
    not string match -qr '[*?{}()\[\]]' -- $bare
end

# Asks the client about fish's candidates and sets __tabsense_answer to what the pager shall show,
# or __tabsense_sure to what shall stand in place of the word at once.
function __tabsense_rank --argument-names word typed
    set -l lines $argv[3..-1]
    # Before the first tab: the word as fish would write it. After it: the description.
    set -l escaped (string replace -r '\t.*' '' -- $lines)
    set -l plain $escaped
    if string match -qr '[\\\\\'"]' -- $escaped
        set plain (string unescape -- $escaped)
        # Names with line breaks: one at a time. One that ends in a line break cannot be held apart.
        if test (count $plain) -ne (count $escaped)
            string match -qr '\\\\n[\'"]?$' -- $escaped; and return 1
            set plain
            for one in $escaped
                set -a plain (string unescape -- $one | string collect)
            end
        end
    end
    # fish closes an open quote only together with a blank, and puts none after these characters
    # when completions offer them; after files it would.
    string match -qr '[\'"]$' -- $escaped; and string match -qr '[/=@:.,-]$' -- $plain; and return 1

    set -l described 0
    set -l shown $plain
    set -l sent $plain
    if string match -q '*'\t'*' -- $lines
        set described 1
        # Every line gets a tab, then splits into exactly two.
        set sent (string replace -r '^[^\t]*$' '$0\t' -- $lines | string split -m 1 \t)
        set shown $lines
        if test "$plain" != "$escaped"
            set shown
            set -l at 1
            for one in $plain
                set sent[$at] $one
                set at (math $at + 2)
                set -a shown (string join \t -- $one (string match -r '.+' -- $sent[(math $at - 1)]) | string collect)
            end
        end
    end

    set -l pattern (string escape --style=regex -- "$typed")
    set -l class (__tabsense_class "$typed" "$pattern" $shown)
    switch "$class"
        case none
        case prefix
            # fish leaves a tilde at the start of what we insert as it is: it would mean a home.
            test -z "$typed"; and string match -q '~*' -- $plain; and return 1
        case whole
            # The word is written anew: only where fish writes exactly our text.
            set -l again (string escape --no-quoted -- $plain)
            string match -q '~/*' -- "$word"; and set again (string replace -r '^\\\\~/' '~/' -- $again)
            test "$again" = "$escaped"; or return 1
        case '*'
            return 1
    end

    set -l add 1
    # In private mode nothing from the history comes up.
    test -n "$fish_private_mode"; and set add 0
    # Only at the end of the line fish's blank is always its own.
    set -l sure 0
    test "$(commandline -b | string collect)" = "$(commandline -c | string collect)"; and set sure 1
    set -l body (printf '%s\0' shell=fish session=$__tabsense_session \
        "line="(commandline -b | string collect) cursor=(__tabsense_cursor "$word") unit=chars \
        "cwd=$PWD" "word=$typed" base= pairs=$described add=$add sure=$sure '' $sent \
        | command $TABSENSE_BIN complete --hook 2>/dev/null | string split0
        echo $pipestatus[2])
    # v1, the records, the end record, the exit status.
    test "$body[-1]" = 0 -a "$body[-2]" = . -a "$body[1]" = v1 -a (count $body) -gt 3; or return 1
    set body $body[2..-3]
    if test "$body[1]" = '!sure'
        set -e body[1]
    else
        set sure 0
    end
    string match -rvq '(?s)^(=(0|[1-9]\d{0,5})$|\+[a-z]\t.|\?)' -- $body; and return 1
    set -l order (string match -r '^=\d+$' -- $body)
    test (count $order) -eq (count $plain); or return 1

    if test $sure = 1; and string match -q '=*' -- $body[1]
        set -l at (math (string sub -s 2 -- $body[1]) + 1)
        string match -qr '[/=@:.,-]$' -- $plain[$at]
        and set -g __tabsense_sure $escaped[$at]
        or set -g __tabsense_sure "$escaped[$at] "
        return 0
    end
    # One of the client's own, alone: fish inserts it.
    test $sure = 1 -a -z "$order"; and set body $body[1]

    # Numbers count from 0 and fish's lists from 1: the first goes to the end.
    set -l turned $shown[2..-1] $shown[1]
    set -l last (count $shown)
    if test (count $body) -eq (count $order)
        set -g __tabsense_answer $turned[(string replace = '' -- $order | string replace -r '^0$' $last)]
    else
        __tabsense_merge "$word" "$typed" "$pattern" "$class" (count $body) $body $turned
    end
    # Once more all of fish's own: equal ones fall away, and a wrong answer can lose none.
    set -ga __tabsense_answer $shown
    return 0
end

# How fish matches the texts against the typed word, when it does so alike for all of them:
# prefix (the rest is appended), whole (the word is replaced), none (there are no texts).
function __tabsense_class --argument-names typed pattern
    set -e argv[1..2]
    if not set -q argv[1]
        echo none
    else if not string match -rvq "^$pattern" -- $argv
        echo prefix
    else if string match -rq "^$pattern" -- $argv
        return 1
    else if not string match -rvq "(?i)^$pattern" -- $argv
        echo whole
    else if string match -rq "(?i)^$pattern" -- $argv
        return 1
    else if not string match -rvq "$pattern" -- $argv
        echo whole
    else if not string match -rq "$pattern" -- $argv; and not string match -rvq "(?i)$pattern" -- $argv
        echo whole
    end
end

# Where the cursor will be when fish completes: at the end of the word.
function __tabsense_cursor --argument-names word
    set -l typed (commandline -ct | string collect)
    math (commandline -C) + (string length -- "$word") - (string length -- "$typed")
end

# Puts the client's own candidates among fish's, where fish's matching lets them through.
function __tabsense_merge --argument-names word typed pattern class size
    set -l body $argv[6..(math 5 + $size)]
    set -l turned $argv[(math 6 + $size)..-1]
    set -l last (count $turned)
    set -l start '(?s)^'
    test "$class" = whole; and set start '(?si)^'
    # Nothing of fish's own: ours are shown even where only the client sees the likeness.
    set -l loose 0
    if test "$class" = none; and test -n "$typed"
        not string match -rq "(?s)^\+[a-z]\t$pattern" -- $body; and set loose 1
    end

    set -l merged
    set -l fresh 0
    for record in $body
        switch $record
            case '=*'
                set -l number (string sub -s 2 -- $record)
                test $number = 0; and set number $last
                set -a merged $turned[$number]
                set fresh 0
            case '\\?*'
                test $fresh = 1; or continue
                set fresh 0
                set -l about (string replace -ra '\s+' ' ' -- (string sub -s 2 -- $record | string collect))
                if test $loose = 1
                    set merged[-1] $merged[-1]" · $about"
                else
                    set merged[-1] $merged[-1]\t$about
                end
            case '*'
                set fresh 0
                set -l text (string sub -s 4 -- $record | string collect)
                # A whole line is no word; a tab would cut the text; another tilde is not a home.
                string match -q '+l*' -- $record; and continue
                string match -qr '\t|^~(?!/)' -- $text; and continue
                string match -q '~/*' -- $text; and string match -qr '^[\'"\\\\]' -- "$word"; and continue
                if test $loose = 1
                    # fish also looks for the word in the description, and replaces the word.
                    set -a merged $text\t"$typed"
                else if string match -rq "$start$pattern" -- $text
                    set -a merged $text
                else
                    continue
                end
                set fresh 1
        end
    end
    set -g __tabsense_answer $merged
end

# Defines the dormant completion for a command, once. The condition takes the arming away, so that
# one TAB is answered once.
function __tabsense_offer --argument-names command
    set -l at -p
    set -l path
    if string match -qr '^3\.4\.' -- $version
        # fish 3.4 keeps its completions in no order: a newer definition of the same name goes first.
        set at -c
        set path (string replace -r '.*/' '' -- $command)
    else if string match -q '/*' -- $command
        test -x $command; and set path $command
    else if string match -q '~/*' -- $command
        set path (string replace '~' $HOME -- $command)
    else
        # fish goes by the program that links lead to; a fish that does not goes by the link.
        set path (command -s -- $command)
        set path (builtin realpath -- $path 2>/dev/null) (string match '/*' -- $path)
    end
    set -q path[1]; or set path ''
    for place in $path
        contains -- "$place" $__tabsense_paths; and continue
        set -ga __tabsense_paths "$place"
        complete --keep-order --no-files $at "$(test -n "$place"; and string escape --no-quoted -- $place)" \
            -n 'test "$__tabsense_armed" = "x$(commandline -t)"; and set -g __tabsense_armed' \
            -a '$__tabsense_answer'
    end
end

function __tabsense_preexec --on-event fish_preexec
    set -g __tabsense_ran_in $PWD
end

function __tabsense_postexec --on-event fish_postexec
    set -g __tabsense_ran exit=$status duration_ms=$CMD_DURATION
    set -l line "$argv[1]"
    if test -z "$line"; or not __tabsense_may_record "$line"
        set -e __tabsense_ran
        return
    end
    set -p __tabsense_ran "command=$line" "ran_in=$__tabsense_ran_in"
end

# Whether fish itself would keep the command in its history.
function __tabsense_may_record --argument-names line
    __tabsense_is_private; and return 1
    string match -q ' *' -- $line; and return 1
    if functions -q fish_should_add_to_history
        fish_should_add_to_history $line >/dev/null 2>&1; or return 1
    end
end

function __tabsense_is_private
    test -n "$fish_private_mode"; and return 0
    set -q fish_history; and test -z "$fish_history"
end

# At a prompt: tells the worker where we are and what ran, without waiting.
function __tabsense_prompt --on-event fish_prompt
    set -g __tabsense_answer
    set -g __tabsense_armed
    set -l ran $__tabsense_ran
    set -e __tabsense_ran
    test -z "$ran" -a "$__tabsense_told" = "$PWD"; and return
    __tabsense_look_around
    __tabsense_is_private; and return
    command -q -- $TABSENSE_BIN; or return
    set -g __tabsense_told $PWD
    set -l last $last_pid
    printf '%s\0' shell=fish session=$__tabsense_session "cwd=$PWD" $ran '' \
        | command $TABSENSE_BIN prompt --hook >/dev/null 2>&1 &
    disown 2>/dev/null
    # The user's last background job stays the last one.
    set -q last[1]; and set -g last_pid $last
end

# Exported when TAB is not ours, so that `tabsense doctor` can tell.
function __tabsense_look_around
    set -l bound (bind --user -M default \t 2>/dev/null)
    if string match -q '*__tabsense_tab*' -- "$bound"
        set -e __tabsense_native
    else
        set -gx __tabsense_native "TAB is bound to "(string replace -r '^bind( --user)?( -M \S+)? \S+ ' '' -- "$bound[1]")
    end
end

# Takes back everything this file put into the shell.
function __tabsense_off --description 'Turn tabsense off in this shell'
    for mode in default insert
        string match -q '*__tabsense_tab*' -- (bind --user -M $mode \t 2>/dev/null)
        and bind --user --erase -M $mode \t
        string match -q '*__tabsense_do_key*' -- (bind --user -M $mode $__tabsense_do_bound 2>/dev/null)
        and bind --user --erase -M $mode $__tabsense_do_bound
    end
    functions , 2>/dev/null | string match -q '*__tabsense_do_comma*'; and functions --erase ,
    for name in (functions --all --names | string match '__tabsense_*')
        functions --erase $name
    end
    for name in (set --global --names | string match '__tabsense_*')
        set --erase --global $name
    end
end

# A TAB of the user's own stays. Ours is a user key, which outlives a change of fish_key_bindings;
# mode insert is bound once there are bindings that have it.
function __tabsense_bind --on-variable fish_key_bindings
    set -l modes default
    contains -- "$fish_key_bindings" '' fish_default_key_bindings; or set -a modes insert
    for mode in $modes
        bind --user -M $mode \t >/dev/null 2>&1; or bind --user -M $mode \t __tabsense_tab
    end
end
__tabsense_bind
