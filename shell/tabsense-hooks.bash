# tabsense for bash, second half: completions that are registered get their wrappers, the prompt tells
# what ran, and everything starts. `tabsense init bash` prints it after tabsense.bash, which decides
# whether anything happens at all (`__tabsense_native`).
#
# The key for words is $TABSENSE_DO_KEY as `bind` takes it; empty: no key; unset: Alt-Enter where that
# is free, and not in vi mode, where Escape and then Enter come as the same bytes.

if [ -z "$__tabsense_native" ]; then

  # --- taking over what is registered

  # Wraps every completion that is not wrapped yet; $1 is what `complete -p` says, when known. Each
  # shell does it, and there may be hundreds: the work is done on whole arrays, with one `eval`.
  __tabsense_adopt() {
    # Patterns are several times faster in the C locale.
    local IFS=$'\n' LC_ALL=C text=${1-} line bulk=''
    # `-f` is not `-F`.
    if shopt -q nocasematch; then
      shopt -u nocasematch
      __tabsense_adopt "$@"
      shopt -s nocasematch
      return 0
    fi
    local -a lines=() plain=() odd=()
    __tabsense_stale=''
    if [[ -n ${BLE_VERSION-} ]]; then
      # ble.sh has its own line editor and its own order.
      export __tabsense_native='ble.sh completes by itself'
      return 0
    fi
    (($#)) || text=$(\builtin complete -p 2>/dev/null)
    # shellcheck disable=SC2206 # what a pattern empties goes; globbing is off
    {
      lines=($text)
      lines=(${lines[@]/#*' -F __tabsense_'*/})
    }
    __tabsense_sort_out
    __tabsense_adopt_plain
    __tabsense_adopt_rest
    \eval "$bulk" 2>/dev/null
    [[ $text$IFS == *" -D$IFS"* ]] || __tabsense_adopt_default
    [[ $text$IFS == *" -I$IFS"* ]] || ((BASH_VERSINFO[0] < 5)) || __tabsense_adopt_first
  }

  # What completes a command without a completion of its own.
  __tabsense_adopt_default() {
    builtin complete -o bashdefault -o default -F __tabsense_f___tabsense_none -D
  }

  # What completes the first word.
  __tabsense_adopt_first() {
    builtin complete -o bashdefault -o default -F __tabsense_f___tabsense_commands -I
  }

  # Splits `lines` into `plain` (options, one function, one name, no quotes) and `odd`.
  __tabsense_sort_out() {
    local -a neither=()
    # shellcheck disable=SC2206
    {
      odd=(${lines[@]/#*' -F '*/})
      plain=(${lines[@]/#*' -'[!oFDEI]*/})
      neither=(${odd[@]/#*' -'[!oFDEI]*/})
    }
    # Mostly that was it. Else there is an odd function name, a blank in quotes, a part of a word with
    # newlines or what needs quotes.
    line="-F [A-Za-z0-9_]*([^A-Za-z0-9_ ]| [^ $IFS]* )|$IFS([^c]|c[^o]|co[^m]|com[^p]|comp[^l])"
    line+="|[^A-Za-z0-9_./+@%:, '$IFS-]"
    ((${#neither[@]} > 0 || ${#plain[@]} + ${#odd[@]} != ${#lines[@]})) ||
      [[ $IFS${plain[*]-} =~ $line ]] || return 0
    plain=() odd=()
    for line in "${lines[@]}"; do
      case $line in
        'complete '*[!A-Za-z0-9_./+@%:,\ -]* | 'complete '*' -'[!oF]*' -F '* | *' -F '*[!A-Za-z0-9_]*' '*)
          odd+=("$line")
          ;;
        'complete '*'-F '*) plain+=("$line") ;;
        *) odd+=("$line") ;;
      esac
    done
  }

  # Adds to `bulk` what wraps the lines of `plain`.
  __tabsense_adopt_plain() {
    local function
    local -a functions=()
    local -A known=()
    ((${#plain[@]})) || return 0
    functions=("${plain[@]% *}")
    for function in "${functions[@]##* }"; do
      known[$function]=1
    done
    for function in "${!known[@]}"; do
      bulk+="__tabsense_f_$function() { __tabsense_run $function \"\$@\"; }$IFS"
    done
    bulk+="${plain[*]/ -F / -F __tabsense_f_}$IFS"
  }

  # Wraps what the lines of `odd` register, or adds to `bulk` what does.
  __tabsense_adopt_rest() {
    local action name function words
    local -A known=()
    # bash printed it to be read again: words and single quotes only.
    words="^complete( ([A-Za-z0-9_./+@%:,=-]|'[^']*'|\\\\')+)+\$"
    for line in ${odd[@]+"${odd[@]}"}; do
      action=${line#complete -}
      name=${action##* }
      action=${action% *}
      # One action, one name: one wrapper for each action.
      if [[ $action == [abcdefgjksuv] || $action == 'A '[a-z]* && $action != ??*[!a-z]* ]] &&
        [[ $name == [A-Za-z0-9_]* && $name != *[!A-Za-z0-9_./+@%:,-]* && $line == 'complete -'* ]]; then
        function=__tabsense_odd_${action/ /_}
        if [[ -z ${known[$action]-} ]]; then
          known[$action]=1
          bulk+="$function() { __tabsense_calm __tabsense_actions \"\$2\" -$action; return 0; }$IFS"
          bulk+="__tabsense_f_$function() { __tabsense_run $function \"\$@\"; }$IFS"
        fi
        bulk+="complete -F __tabsense_f_$function $name$IFS"
      elif [[ $line != *" -P '\"%' -S '\"' "* && $line =~ $words ]]; then
        # (Not job numbers: their order is fine.)
        \eval "__tabsense_adopt_odd ${line#complete }" 2>/dev/null
      fi
    done
  }

  # Defines the wrapper of the completion function $1; its name tells the function.
  __tabsense_wrapper() {
    \eval "__tabsense_f_$1() { __tabsense_run $1 \"\$@\"; }" 2>/dev/null
    declare -F "__tabsense_f_$1" >/dev/null
  }

  # Takes a completion apart that is more than a function; $@ is what stands after `complete`.
  __tabsense_adopt_odd() {
    local function='' program='' place='' name='' filter='' body made
    local -a options=() actions=()
    while (($#)); do
      case $1 in
        -o) options+=(-o "$2") && shift ;;
        -F) function=$2 && shift ;;
        -C) program=$2 && shift ;;
        -A | -G | -W) actions+=("$1" "$2") && shift ;;
        -X) actions+=(-X "$2") filter=1 && shift ;;
        # The order of job numbers and the like is fine.
        -P | -S) return 0 ;;
        -D | -E | -I) place=$1 ;;
        -[abcdefgjksuv]) actions+=("$1") ;;
        --) ;;
        *) name=$1 ;;
      esac
      shift
    done
    [[ -z $filter || -z $function$program ]] || return 0
    [[ $function != *[!A-Za-z0-9_:./@%,+-]* ]] || return 0
    body='\local code; code=0;'
    [[ -z $function ]] || body+=" $function \"\$@\" || code=\$?;"
    if [[ -n $program ]]; then
      printf -v made '%q' "$program"
      body+=" __tabsense_calm __tabsense_program $made \"\$@\";"
    fi
    if ((${#actions[@]})); then
      printf -v made ' %q' "${actions[@]}"
      body+=" __tabsense_calm __tabsense_actions \"\$2\"$made;"
    fi
    ((__tabsense_odd += 1))
    \eval "__tabsense_odd_$__tabsense_odd() { $body return \$code; }"
    __tabsense_wrapper "__tabsense_odd_$__tabsense_odd" || return 0
    options+=(-F "__tabsense_f___tabsense_odd_$__tabsense_odd")
    if [[ -n $place ]]; then
      builtin complete "${options[@]}" "$place"
    else
      builtin complete "${options[@]}" -- "$name"
    fi
  }

  # --- the prompt

  # First in PROMPT_COMMAND: tells what ran. $? stays what it was for those after it.
  __tabsense_prompt() {
    __tabsense_status=$?
    __tabsense_calm __tabsense_tell || :
    # An element of its own needs no status: bash keeps it. Under `set -e` a status would end the shell.
    if [[ $- == *e* ]] || ((${#FUNCNAME[@]} == 1 && __tabsense_array)); then
      return 0
    fi
    return "$__tabsense_status"
  }

  __tabsense_tell() {
    local IFS=$' \t\n'
    local now=${EPOCHREALTIME-} ran=${__tabsense_ran:-0} start=${__tabsense_start:-0}
    __tabsense_ran=0
    # A job of a subshell: no message, and $! stays.
    ((ran == 0)) || ! __tabsense_may_tell || : "$(__tabsense_inform </dev/null >/dev/null 2>&1 &)"
  }

  # Who keeps no history wants none kept.
  __tabsense_may_tell() {
    [[ -o history && -n ${HISTFILE-} && $HISTFILE != /dev/null ]] &&
      [[ ${HISTSIZE-1} != 0 && ${HISTFILESIZE-1} != 0 ]] && __tabsense_client
  }

  # In the background: the command, when the shell's history kept it, then the client.
  __tabsense_inform() {
    local entry='' seconds=0 milliseconds=''
    # Ctrl-C is for the next command.
    trap '' INT QUIT TSTP
    ((ran == 0)) || __tabsense_entry
    # Nobody should keep these, also when another tool rewrites HISTCONTROL.
    [[ $entry != [$' \t']* ]] || entry=''
    if [[ $now == *[.,]* ]]; then
      now=${now/[.,]/}
      milliseconds=$(((now - start) / 1000))
      seconds=$((start / 1000000)).${start: -6}
    elif ((ran)); then
      milliseconds=$(((SECONDS - start) * 1000))
      printf -v seconds '%(%s)T' -1
      seconds=$((seconds - SECONDS + start))
    fi
    {
      printf '%s\0' 'shell=bash' "session=$__tabsense_session" "cwd=${PWD-}"
      [[ -z $entry ]] || printf '%s\0' "command=$entry" "ran_in=$__tabsense_cwd" "exit=$__tabsense_status" \
        "start=$seconds" "duration_ms=$milliseconds"
      printf '\0'
    } | "$TABSENSE_BIN" prompt --hook
  }

  # Sets `entry` to the command that ran if the history list has it.
  __tabsense_entry() {
    local text line first=0 form='^ *([0-9]+)[* ] (.*)$'
    # bash 4.4 counts the command that is read next.
    ((BASH_VERSINFO[0] > 4)) || ran=$((ran - 1))
    text=$(HISTTIMEFORMAT='' \builtin history 1)
    [[ $text != "$__tabsense_last" && $text =~ $form ]] || return 0
    # What ran may have changed the list itself (`history -c`, `history -r`).
    ((BASH_REMATCH[1] == ran)) || return 0
    entry=${BASH_REMATCH[2]}
    shopt -q cmdhist && return 0
    # One entry a line.
    [[ ! $__tabsense_last =~ $form ]] || first=${BASH_REMATCH[1]}
    ((ran > first + 1 && ran < first + 1000)) || return 0
    text=$(HISTTIMEFORMAT='' \builtin history $((ran - first)))
    entry=''
    while IFS= read -r line; do
      [[ ! $line =~ $form ]] || entry+=${entry:+$'\n'}${BASH_REMATCH[2]}
    done <<<"$text"
  }

  # Last in PROMPT_COMMAND: remembers where the history ends before the next command is read.
  __tabsense_ready() {
    __tabsense_calm __tabsense_settle || :
  }

  __tabsense_settle() {
    local IFS=$' \t\n' LC_ALL=C text registered bound first
    first=$__tabsense_first
    text=$(__tabsense_look 2>/dev/null)
    registered=${text%%$'\1'*}
    text=${text:${#registered}+1}
    bound=${text%%$'\1'*}
    __tabsense_last=${text:${#bound}+1}
    __tabsense_ran=0 __tabsense_cwd=${PWD-}
    __tabsense_heal
    [[ -z $__tabsense_stale ]] || __tabsense_adopt "$registered"
    [[ -z $first ]] || __tabsense_do_start "$bound"
    __tabsense_first=''
    return 0
  }

  # In one subshell, as each costs a millisecond: the completions, the keys and the last command. The
  # first prompt also warms the worker.
  __tabsense_look() {
    local now='' ran=0 start=0
    if [[ -n $first ]] && __tabsense_may_tell; then
      __tabsense_inform </dev/null >/dev/null 2>&1 &
    fi
    [[ -z $__tabsense_stale ]] || \builtin complete -p
    printf '\1'
    [[ -z $first ]] || __tabsense_do_keys
    printf '\1'
    HISTTIMEFORMAT='' \builtin history 1
  }

  # Puts the hooks where they belong; others may have set PROMPT_COMMAND or PS0 anew.
  # shellcheck disable=SC2016 # the text is expanded later, in PS0
  __tabsense_heal() {
    local clock='SECONDS' mark
    [[ ${EPOCHREALTIME-} != *[.,]* ]] || clock='${EPOCHREALTIME/[.,]/}'
    # Arithmetic only, and it expands to nothing: the array is never set.
    mark="\${__tabsense_void[__tabsense_ran=\\!,__tabsense_start=$clock,0]-}"
    if [[ ${PS0-} != *__tabsense_void* ]]; then
      # Without promptvars the text itself would show.
      ! shopt -q promptvars || [[ ${PS0@a} == *r* ]] || PS0=$mark${PS0-}
    elif ! shopt -q promptvars; then
      PS0=${PS0/'${__tabsense_void['*',0]-}'/}
    fi
    __tabsense_hook
  }

  __tabsense_hook() {
    local item nl=$'\n'
    local -a rest=()
    [[ ${PROMPT_COMMAND@a} != *r* ]] || return 0
    if [[ -n ${bash_preexec_imported-}${__bp_imported-} ]]; then
      # bash-preexec wants to be first and last itself.
      [[ " ${precmd_functions[*]-} " != *' __tabsense_ready '* ]] || return 0
      precmd_functions=(__tabsense_prompt ${precmd_functions[@]+"${precmd_functions[@]}"} __tabsense_ready)
      return 0
    fi
    if ((!__tabsense_array)); then
      item=${PROMPT_COMMAND-}
      [[ $item != "__tabsense_prompt$nl"*"${nl}__tabsense_ready" ]] || return 0
      item=${item//__tabsense_prompt$nl/}
      item=${item//${nl}__tabsense_ready/}
      PROMPT_COMMAND="__tabsense_prompt$nl${item:-:}${nl}__tabsense_ready"
      return 0
    fi
    ((${#PROMPT_COMMAND[@]} == 0)) ||
      [[ ${PROMPT_COMMAND[0]-} != __tabsense_prompt || ${PROMPT_COMMAND[-1]} != __tabsense_ready ]] ||
      return 0
    # An rc file that is read again sets the same string before the one that made way for us.
    [[ ${PROMPT_COMMAND[0]-} != "${PROMPT_COMMAND[1]-}" ]] || unset 'PROMPT_COMMAND[0]'
    for item in ${PROMPT_COMMAND[@]+"${PROMPT_COMMAND[@]}"}; do
      [[ -z $item || $item == __tabsense_prompt || $item == __tabsense_ready ]] || rest+=("$item")
    done
    PROMPT_COMMAND=(__tabsense_prompt ${rest[@]+"${rest[@]}"} __tabsense_ready)
  }

  # --- words into commands

  # tabsense-do.bash defines these two anew: most shells never need it, and each would read it at its start.
  __tabsense_do_key() {
    ! __tabsense_calm __tabsense_do_load || __tabsense_do_key
  }

  __tabsense_do_comma() {
    if __tabsense_do_load; then
      __tabsense_do_comma "$@"
    else
      printf '%s\n' 'tabsense: no answer' >&2
      return 1
    fi
  }

  __tabsense_do_load() {
    local aliases=-u text
    __tabsense_client || return 1
    # Before the aliases are off: here Ctrl-C may come.
    text=$("$TABSENSE_BIN" init bash --words 2>/dev/null)
    shopt -q expand_aliases && aliases=-s
    shopt -u expand_aliases
    \eval "$text"
    shopt "$aliases" expand_aliases
    declare -F __tabsense_do_ask >/dev/null
  }

  # At the first prompt, when all rc files have been read: the key, and the comma unless the user has
  # one or the mode forbids such names. $1 says what is bound.
  __tabsense_do_start() {
    __tabsense_do_claim "$1" 2>/dev/null
    shopt -qo posix || builtin type -t , >/dev/null ||
      \eval ',() { __tabsense_calm __tabsense_do_comma "$@"; }'
  }

  # Binds the key. A chosen one in each keymap, even if it begins with Escape, as function keys do: who
  # names it wants it. Else Alt-Enter in emacs mode when it is free: not in $1, unless by us.
  __tabsense_do_claim() {
    local map key=${TABSENSE_DO_KEY-'\e\C-m'}
    local -a maps=(emacs-standard vi-insert vi-command)
    __tabsense_do_bound=''
    [[ -n $key ]] || return 0
    if [[ -z ${TABSENSE_DO_KEY+chosen} ]]; then
      maps=(emacs-standard)
      [[ $1 != *"\"$key\": "* || $1 == *__tabsense_do_key* ]] || return 0
    fi
    for map in "${maps[@]}"; do
      builtin bind -m "$map" -x "\"$key\": __tabsense_do_key" || continue
      __tabsense_do_bound=$key
      [[ $key != '\e\C-m' ]] || __tabsense_do_bound='Alt-Enter'
    done
  }

  # Prints what is bound, in the C locale: macros and commands. Readline's own functions only where
  # the user's file names such a key: asking for them takes several milliseconds.
  __tabsense_do_keys() {
    local -a lines=()
    [[ -z ${TABSENSE_DO_KEY+chosen} ]] || return 0
    mapfile -t lines <"${INPUTRC:-${HOME-}/.inputrc}"
    case ${lines[*]-} in
      *'\e\C-m'* | *'\M-\C-m'* | *'\e\r'* | *'\M-\r'* | *[Mm]*-[Rr]eturn*) builtin bind -m emacs-standard -p ;;
    esac
    builtin bind -m emacs-standard -s
    builtin bind -m emacs-standard -X
  }

  # --- start

  __tabsense_start_up() {
    local IFS=$' \t\n'
    # Names of an outer shell may have come through the environment.
    export -n __tabsense_native
    TABSENSE_BIN=${TABSENSE_BIN:-tabsense}
    # Candidates beyond this many are passed through as they are.
    __tabsense_most=1000
    # Seconds that a directory may take to read before the shell does it alone.
    __tabsense_patience=${__tabsense_patience:-0.045}
    __tabsense_odd=${__tabsense_odd:-0}
    # The completion functions that ran before.
    unset -v __tabsense_known
    declare -gA __tabsense_known=()
    __tabsense_ran=0 __tabsense_start=0
    __tabsense_last='' __tabsense_cwd='' __tabsense_slow='' __tabsense_do_bound=''
    printf -v __tabsense_session '%s.%(%s)T' "$$" -2
    unset -v __tabsense_void
    __tabsense_wrapper __tabsense_none
    __tabsense_wrapper __tabsense_commands
    __tabsense_heal
    # The first prompt takes over what is registered, when the whole rc file has been read.
    __tabsense_first=1 __tabsense_stale=1
    # Should PROMPT_COMMAND be set anew until then, a TAB brings the hook back.
    builtin compopt -D >/dev/null 2>&1 || __tabsense_adopt_default
    ((BASH_VERSINFO[0] < 5)) || builtin compopt -I >/dev/null 2>&1 || __tabsense_adopt_first
    # An old bash loses the hook to any string.
    if ((!__tabsense_array)) || [[ ${PROMPT_COMMAND@a} == *r* ]]; then
      __tabsense_adopt
      __tabsense_stale=1
    fi
    return 0
  }
  __tabsense_calm __tabsense_start_up || :

fi

eval "${__tabsense_restore:-:}"
unset -v __tabsense_restore
