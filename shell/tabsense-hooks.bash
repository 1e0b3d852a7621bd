# tabsense for bash, second half: the prompt tells what ran, and everything starts. `tabsense init bash`
# prints it after tabsense.bash, which decides whether anything happens at all (`__tabsense_native`).
#
# The key for words is $TABSENSE_DO_KEY as `bind` takes it; empty: no key; unset: Alt-Enter where that
# is free, and not in vi mode, where Escape and then Enter come as the same bytes.

if [ -z "$__tabsense_native" ]; then

  # --- the prompt

  # First in PROMPT_COMMAND: tells what ran. $? stays what it was for those after it.
  __tabsense_prompt() {
    __tabsense_status=$?
    __tabsense_calm __tabsense_tell || :
    # An element of its own needs no status: bash keeps it. Under `set -e` a status would end the shell.
    if [[ $- == *e* || -z $__tabsense_seen && ${#FUNCNAME[@]} -eq 1 && ${PROMPT_COMMAND-} == __tabsense_prompt ]]; then
      __tabsense_seen=1
      return 0
    fi
    __tabsense_seen=1
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
    # The client takes the place of this subshell; lastpipe works without job control only.
    set +m
    shopt -s lastpipe
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
    } | exec "$TABSENSE_BIN" prompt --hook
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
    # What ran has not been told where it set PROMPT_COMMAND anew. ($? stays in `case`.)
    case $__tabsense_ran in
      0) ;;
      *)
        __tabsense_status=$?
        __tabsense_calm __tabsense_tell || :
        ;;
    esac
    __tabsense_calm __tabsense_settle || :
  }

  __tabsense_settle() {
    local IFS=$' \t\n' LC_ALL=C text='' registered='' bound='' first
    local -a parts=() lines=()
    first=$__tabsense_first
    # Readline gets ready here, and not in the subshell and then here.
    [[ -z $first ]] || builtin bind -X >/dev/null 2>&1
    if ! __tabsense_peek 2>/dev/null; then
      text=$(__tabsense_look 2>/dev/null)
      IFS=$'\1'
      # shellcheck disable=SC2206 # globbing is off
      parts=($text)
      registered=${parts[0]-} bound=${parts[1]-} __tabsense_last=${parts[*]:2}
      registered=${registered%$'\n'} IFS=$' \t\n'
    fi
    __tabsense_ran=0 __tabsense_cwd=${PWD-}
    __tabsense_heal
    __tabsense_seen=''
    case $__tabsense_stale in
      late) __tabsense_stale='' && __tabsense_defer "$registered" ;;
      1) __tabsense_adopt "$registered" ;;
    esac
    [[ -z $first ]] || __tabsense_do_start "$bound"
    __tabsense_first=''
    return 0
  }

  # Whether what has put this script here has told the first prompt, from the same directory.
  __tabsense_is_told() {
    [[ $__tabsense_told == "$$ ${PWD-}" ]]
  }

  # At a first prompt that has been told: what __tabsense_look prints, without a subshell, which costs a
  # millisecond, and another one as bash writes it line by line. It goes through files that have no name:
  # here-documents of bash 5.0 are such. Fails where they cannot be opened a second time.
  __tabsense_peek() {
    [[ -n $first && $__tabsense_stale == late && $__tabsense_array == 1 ]] && __tabsense_is_told || return 1
    local IFS=$'\n' BASH_COMPAT=50
    {
      [[ -f /dev/fd/9 ]] || return 1
      {
        __tabsense_do_keys
        printf '\1'
        HISTTIMEFORMAT='' \builtin history 1
      } >>/dev/fd/9
      IFS='' read -r -d '' text <&9
    } 9<<<''
    [[ $text == $'\n'*$'\1'* ]] || return 1
    { \builtin complete -p >>/dev/fd/9 && mapfile -t -s 1 lines <&9; } 9<<<''
    ((${#lines[@]})) || return 1
    registered="${lines[*]}" bound=${text%%$'\1'*} __tabsense_last=${text#*$'\1'}
    while [[ $__tabsense_last == *$'\n' ]]; do
      __tabsense_last=${__tabsense_last%$'\n'}
    done
  }

  # In one subshell, as each costs a millisecond: the completions, the keys and the last command. The
  # first prompt also warms the worker.
  __tabsense_look() {
    local now='' ran=0 start=0
    if [[ -n $first ]] && ! __tabsense_is_told && __tabsense_may_tell; then
      __tabsense_inform </dev/null >/dev/null 2>&1 &
    fi
    [[ -z $__tabsense_stale ]] || __tabsense_registered
    printf '\1'
    [[ -z $first ]] || __tabsense_do_keys
    printf '\1'
    HISTTIMEFORMAT='' \builtin history 1
  }

  # Puts the hooks where they belong; others may have set PROMPT_COMMAND or PS0 anew. $1: see __tabsense_hook.
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
    __tabsense_hook "$@"
  }

  # $1 is not empty where the rc file goes on: all that it does to PROMPT_COMMAND shall be as without us, so
  # that the first element, which a plain assignment sets, is left to it.
  __tabsense_hook() {
    local item nl=$'\n'
    local -a others=()
    [[ ${PROMPT_COMMAND@a}${PROMPT_COMMAND[*]@a} != *r* ]] || return 0
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
    [[ -n ${1-} || ${PROMPT_COMMAND[0]-} != __tabsense_prompt || ${PROMPT_COMMAND[-1]} != __tabsense_ready ]] ||
      return 0
    __tabsense_theirs
    if [[ -z ${1-} ]]; then
      PROMPT_COMMAND=(__tabsense_prompt ${others[@]+"${others[@]}"} __tabsense_ready)
      __tabsense_led=1
      return 0
    fi
    __tabsense_led=''
    PROMPT_COMMAND=(${others[@]+"${others[@]}"})
    if ((${#others[@]})); then
      PROMPT_COMMAND+=(__tabsense_ready)
    else
      PROMPT_COMMAND[1]=__tabsense_ready
    fi
  }

  # Sets `others` to what PROMPT_COMMAND, an array, would hold without us; element 0 may be empty.
  __tabsense_theirs() {
    local item ours='' zero=${PROMPT_COMMAND[0]-}
    # It may still be a string.
    PROMPT_COMMAND+=()
    local -a after=("${PROMPT_COMMAND[@]:1}")
    for item in "${after[@]}"; do
      case $item in
        __tabsense_prompt | __tabsense_ready) ours+=$item ;;
      esac
    done
    if [[ $zero == __tabsense_prompt ]]; then
      zero=${after[0]-} after=("${after[@]:1}")
    elif [[ -n $__tabsense_led && $ours == __tabsense_ready && ${after[0]} != __tabsense_ready ]]; then
      # Element 0 was ours, and what would be there without us follows it.
      if [[ $zero == *__tabsense_prompt* ]]; then
        [[ -z ${after[0]} ]] || zero=${zero//__tabsense_prompt/"${after[0]}"}
        after=("${after[@]:1}")
      elif [[ -z $__tabsense_seen ]]; then
        # (Else the new text runs ours, kept elsewhere: then it has not taken its place.)
        after=("${after[@]:1}")
      fi
    fi
    [[ $zero != __tabsense_ready ]] || zero=''
    for item in "${after[@]}"; do
      [[ -z $item || $item == __tabsense_prompt || $item == __tabsense_ready ]] || others+=("$item")
    done
    [[ -z $zero && ${#others[@]} -eq 0 ]] || others=("$zero" ${others[@]+"${others[@]}"})
  }

  # --- words into commands

  # tabsense-do.bash defines these two anew: most shells never need it, and each would read it at its start.
  __tabsense_do_key() {
    ! __tabsense_calm __tabsense_load 'do' || __tabsense_do_key
  }

  __tabsense_do_comma() {
    if __tabsense_load 'do'; then
      __tabsense_do_comma "$@"
    else
      printf '%s\n' 'tabsense: no answer' >&2
      return 1
    fi
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
    # What is registered and not wrapped yet, and what was.
    __tabsense_kept=${__tabsense_kept-} __tabsense_was=${__tabsense_was-}
    __tabsense_ran=0 __tabsense_start=0 __tabsense_told="${__tabsense_told-} ${PWD-}"
    __tabsense_last='' __tabsense_cwd='' __tabsense_slow='' __tabsense_do_bound=''
    printf -v __tabsense_session '%s.%(%s)T' "$$" -2
    __tabsense_seen='' __tabsense_led=${__tabsense_led-}
    unset -v __tabsense_void
    __tabsense_heal early
    # The first prompt looks at what is registered, when the whole rc file has been read.
    __tabsense_first=1 __tabsense_stale=late
    # Should PROMPT_COMMAND be set anew until then, a TAB brings the hook back.
    builtin compopt -D >/dev/null 2>&1 || builtin complete -F __tabsense_late -D
    ((BASH_VERSINFO[0] < 5)) || builtin compopt -I >/dev/null 2>&1 || builtin complete -F __tabsense_late -I
    # An old bash loses the hook to any string.
    if ((!__tabsense_array)) || [[ ${PROMPT_COMMAND@a} == *r* ]]; then
      local -a lines=()
      __tabsense_defer "$(__tabsense_registered)"
    fi
    return 0
  }
  __tabsense_calm __tabsense_start_up || :

fi

eval "$__tabsense_restore"
\unset -v __tabsense_restore
