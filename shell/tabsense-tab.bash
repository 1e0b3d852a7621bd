# tabsense for bash, completions: those that are registered get their wrappers, and the wrappers run them.
# tabsense.bash reads this (`tabsense init bash --part tab`) at the first TAB.

if [ -z "$__tabsense_native" ]; then

  __tabsense_odd=${__tabsense_odd:-0}
  # The completion functions that ran before.
  unset -v __tabsense_known
  declare -gA __tabsense_known=()

  # --- running a completion

  # Runs the completion function $1 as bash would have ($2 command, $3 word, $4 word before), then
  # orders what it offers.
  __tabsense_run() {
    local __tabsense_code
    __tabsense_code=0
    # Completions call each other (`sudo git`): only the outermost one orders. ble.sh, when it was
    # loaded after us, has an order of its own.
    if [[ -n ${__tabsense_inside-}${BLE_VERSION-} ]]; then
      "$@" || __tabsense_code=$?
      return "$__tabsense_code"
    fi
    local __tabsense_inside
    __tabsense_inside=1
    "$@" || __tabsense_code=$?
    # It may have loaded more completions: the next prompt looks. When it runs for the first time it
    # may have put another one in its own place, which the next TAB on this line shall find wrapped.
    __tabsense_stale=1
    if ((__tabsense_code == 124)) || [[ -z ${__tabsense_known[$1]-} ]]; then
      __tabsense_known[$1]=1
      __tabsense_calm __tabsense_undefer
    fi
    # A loader registered the real completion: bash asks again.
    ((__tabsense_code != 124)) || return 124
    __tabsense_calm __tabsense_rank "${3-}" || :
    return "$__tabsense_code"
  }

  # Adds what `compgen` makes for the word $1 from the arguments after it.
  __tabsense_actions() {
    local word=$1 made
    shift
    # `-W` is split at the user's IFS.
    made=$(\builtin compgen "$@" -- "$word" 2>/dev/null)
    [[ -n $made ]] || return 0
    local IFS=$'\n'
    # shellcheck disable=SC2206 # one candidate a line; globbing is off
    COMPREPLY+=($made)
    case " ${*//$IFS/ } " in
      # bash takes these for file names by itself.
      *' -f '* | *' -d '* | *' file '* | *' directory '*) compopt -o filenames 2>/dev/null || : ;;
    esac
  }

  # `complete -C`: runs the registered command line $1 with command, word and word before.
  __tabsense_program() {
    local IFS=$'\n'
    local made
    made=$(
      \export COMP_LINE COMP_POINT COMP_TYPE COMP_KEY
      # The command line is the user's own; the words stay arguments.
      \eval "$1 \"\$2\" \"\$3\" \"\$4\""
    )
    # shellcheck disable=SC2206
    COMPREPLY+=($made)
  }

  # Offers nothing: for commands without a completion the files come from __tabsense_ask.
  __tabsense_none() {
    return 0
  }

  # The command word itself.
  __tabsense_commands() {
    # A path, a quote or an expansion is the shell's own business.
    case $2 in
      '' | *[!A-Za-z0-9_.+-]*) return 0 ;;
    esac
    __tabsense_calm __tabsense_actions "$2" -c
  }

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
    ! __tabsense_yields || return 0
    (($#)) || text=$(__tabsense_registered)
    # shellcheck disable=SC2206 # what a pattern empties goes; globbing is off
    {
      lines=($text)
      lines=(${lines[@]/#*' -F __tabsense_'*/})
    }
    __tabsense_sort_out
    __tabsense_adopt_plain
    __tabsense_adopt_rest
    __tabsense_evaluate "$bulk"
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
    # shellcheck disable=SC2206
    {
      odd=(${lines[@]/#'complete -'[oF]*/})
      plain=(${lines[@]/#'complete -'[!oF]*/})
    }
    # Mostly that was it. Else there is an odd function name, a blank in quotes, a part of a word with
    # newlines or what needs quotes: that line is in neither or in `plain`, and is looked at alone.
    line="^(complete( -o [a-z]+)* -F [A-Za-z0-9_]+ ([A-Za-z0-9_./+@%:,-]+|'')$IFS)*\$"
    if ((${#plain[@]} + ${#odd[@]} == ${#lines[@]})); then
      [[ ${#plain[@]} -gt 0 && ! ${plain[*]}$IFS =~ $line ]] || return 0
    fi
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

  # Adds to `bulk` what wraps the lines of `plain`: the few functions first, then their many lines.
  __tabsense_adopt_plain() {
    local function
    local -a others=(${plain[@]+"${plain[@]}"})
    ((${#plain[@]})) || return 0
    while ((${#others[@]})); do
      function=${others[0]#*-F }
      function=${function%% *}
      bulk+="__tabsense_f_$function() { __tabsense_run $function \"\$@\"; }$IFS"
      # shellcheck disable=SC2206
      others=(${others[@]/#*"-F $function "*/})
    done
    bulk+="${plain[*]/-F /-F __tabsense_f_}$IFS"
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
          bulk+="$function() { __tabsense_calm __tabsense_actions \"\$2\" -$action; \return 0; }$IFS"
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
    \eval "__tabsense_odd_$__tabsense_odd() { $body \return \$code; }"
    __tabsense_wrapper "__tabsense_odd_$__tabsense_odd" || return 0
    options+=(-F "__tabsense_f___tabsense_odd_$__tabsense_odd")
    if [[ -n $place ]]; then
      builtin complete "${options[@]}" "$place"
    else
      builtin complete "${options[@]}" -- "$name"
    fi
  }

  __tabsense_wrapper __tabsense_none
  __tabsense_wrapper __tabsense_commands

fi
