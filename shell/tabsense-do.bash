# tabsense for bash, words into commands: a key turns what is typed into the command that it means, and
# so does a line that begins with a comma and a blank. Nothing is ever run: the command stands on the
# line, and the key pressed again brings the words back. tabsense-hooks.bash binds the key and reads
# this (`tabsense init bash --part do`) when it is pressed for the first time.

if [ -z "$__tabsense_native" ]; then

  __tabsense_do_choices=() __tabsense_do_labels=() __tabsense_do_sure='' __tabsense_do_shown=''

  # The key's command: READLINE_LINE and READLINE_POINT are the line.
  __tabsense_do_key() {
    __tabsense_calm __tabsense_do_turn || :
  }

  __tabsense_do_turn() {
    local IFS=$'\n' old=$READLINE_LINE
    if ((${#__tabsense_do_choices[@]})) && [[ $old == "$__tabsense_do_shown" ]]; then
      # The next one; after the last the words as they were.
      __tabsense_do_put "${__tabsense_do_choices[0]}"
      __tabsense_do_choices=("${__tabsense_do_choices[@]:1}")
      return 0
    fi
    [[ $old == *[![:space:]]* ]] || return 0
    __tabsense_do_ask "$old"
    ((${#__tabsense_do_labels[@]} == 0)) || printf '%s\n' "${__tabsense_do_labels[@]}" >&2
    ((${#__tabsense_do_choices[@]})) || return 0
    __tabsense_do_choices+=("${#old} $old")
    __tabsense_do_shown=$old
    [[ -z $__tabsense_do_sure ]] || __tabsense_do_turn
  }

  # Puts a choice on the line: where the cursor goes, a blank, the text.
  __tabsense_do_put() {
    READLINE_LINE=${1#* }
    READLINE_POINT=${1%% *}
    __tabsense_do_shown=$READLINE_LINE
    # Before bash 5 the cursor counts bytes.
    ((BASH_VERSINFO[0] > 4)) || __tabsense_do_bytes
  }

  __tabsense_do_bytes() {
    local left=${READLINE_LINE:0:READLINE_POINT} LC_ALL=C
    READLINE_POINT=${#left}
  }

  # Asks what the words $1 mean. Sets __tabsense_do_choices, _labels (what people are told) and _sure.
  __tabsense_do_ask() {
    local answer line cursor='' first=''
    __tabsense_do_choices=() __tabsense_do_labels=() __tabsense_do_sure='' __tabsense_do_shown=''
    __tabsense_client || return 0
    # A line each, as for printf's %b: a substitution cannot hold NUL.
    answer=$(__tabsense_do_send "$1" 2>/dev/null)
    while IFS= read -r line; do
      printf -v line '%b' "$line"
      case $line in
        line=*) first=${line#*=} ;;
        cursor=*[!0-9]*) ;;
        cursor=*) cursor=${line#*=} ;;
        message=*) __tabsense_do_labels=("${line#*=}" ${__tabsense_do_labels[@]+"${__tabsense_do_labels[@]}"}) ;;
        choice=*$'\t'*$'\t'*$'\t'*)
          line=${line#*=}
          [[ ${line%%$'\t'*} != *[!0-9]* ]] || continue
          __tabsense_do_choices+=("${line%%$'\t'*} ${line#*$'\t'*$'\t'*$'\t'}")
          line=${line#*$'\t'*$'\t'}
          __tabsense_do_labels+=("  ${line%%$'\t'*}: ${line#*$'\t'}")
          ;;
      esac
    done <<<"$answer"
    # Nothing that a terminal would obey.
    __tabsense_do_labels=(${__tabsense_do_labels[@]+"${__tabsense_do_labels[@]//[[:cntrl:]]/ }"})
    [[ -n $first ]] || return 0
    __tabsense_do_sure=1
    __tabsense_do_choices=("${cursor:-${#first}} $first")
  }

  # In a subshell: sends the words $1 with the user's own names and prints the records of the answer.
  __tabsense_do_send() {
    set +m
    shopt -s lastpipe
    shopt -u nocasematch
    local e=$'\303\251' unit=bytes record name
    local -a reply=() names=()
    local -i status
    ((${#e} > 1)) || unit=chars
    for name in "${!BASH_ALIASES[@]}"; do
      [[ $name == _* || $name == *tabsense* ]] || names+=("a"$'\t'"$name"$'\t'"${BASH_ALIASES[$name]}")
    done
    # No `< <( )`, which is an error in the POSIX mode of bash before 5.1.
    builtin declare -F | while IFS= read -r name; do
      name=${name##* }
      [[ $name != [A-Za-z]* || $name == *tabsense* ]] || names+=("f"$'\t'"$name"$'\t')
    done
    {
      printf '%s\0' 'shell=bash' "session=$__tabsense_session" "cwd=${PWD-}" "line=$1" "unit=$unit" ''
      ((${#names[@]} == 0)) || printf '%s\0' "${names[@]}"
    } | "$TABSENSE_BIN" 'do' --hook | mapfile -d '' -t reply
    status=${PIPESTATUS[1]}
    ((${#reply[@]} > 2)) && [[ ${reply[0]} == v1 && ${reply[-1]} == . ]] || return 1
    unset 'reply[0]' 'reply[-1]'
    for record in "${reply[@]}"; do
      # What to do comes with status 0 only.
      ((status == 0)) || [[ $record == message=* ]] || continue
      record=${record//\\/\\\\}
      printf '%s\n' "${record//$'\n'/\\n}"
    done
  }

  # --- a line that begins with a comma

  # `, words`: tells the command; the key puts it on the line.
  __tabsense_do_comma() {
    local IFS=' '
    local words=", $*"
    IFS=$'\n'
    __tabsense_do_ask "$words"
    if [[ -n $__tabsense_do_sure ]]; then
      __tabsense_do_labels+=("${__tabsense_do_choices[0]#* }")
    fi
    if ((${#__tabsense_do_labels[@]})); then
      printf '%s\n' "${__tabsense_do_labels[@]//[[:cntrl:]]/ }" >&2
    else
      printf '%s\n' 'tabsense: no answer' >&2
    fi
    ((${#__tabsense_do_choices[@]})) || return 1
    if [[ -n ${TABSENSE_DO_KEY+chosen} ]] || ! shopt -qo vi; then
      [[ -z $__tabsense_do_bound ]] || printf '%s\n' "($__tabsense_do_bound puts it on the line)" >&2
    fi
    # As if the key had been pressed on the empty line.
    __tabsense_do_choices+=('0 ')
  }

fi
