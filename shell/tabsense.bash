# tabsense for bash 4.4 and later: completions in the order that fits, commands remembered.
#
# Nothing is bound to a key. Every completion that is registered with `complete` gets a wrapper that
# runs it as it is and then asks `tabsense complete --hook` for the order of what it offers; whenever
# there is no good answer the shell's own result stands. The first TAB does that (tabsense-tab.bash):
# until then one function stands in for all of them, as no start has to wait for what only some shells
# need. A hook in PROMPT_COMMAND and an arithmetic expansion in PS0 (no DEBUG trap) tell
# `tabsense prompt --hook` what ran, if the shell's own history kept it.
#
# bash 3.2 must be able to parse the whole file: it decides below that everything stays native there.

# The user's aliases must not change what is defined here, not even in the words that come next.
__tabsense_restore=:
\shopt -q expand_aliases && __tabsense_restore='\shopt -s expand_aliases'
\shopt -u expand_aliases

__tabsense_native=''
case $- in
  *i*) ;;
  *) __tabsense_native='the shell is not interactive' ;;
esac
case ${TERM:-dumb} in
  dumb) __tabsense_native=${__tabsense_native:-'the terminal is dumb'} ;;
esac
case ${BASH_VERSION:-0} in
  4.[4-9]* | 4.[1-9][0-9]* | [5-9].* | [1-9][0-9]*.*) ;;
  *)
    # Exported, so that `tabsense doctor` can tell it.
    export __tabsense_native="bash ${BASH_VERSION:-0} is too old, 4.4 or later is needed"
    ;;
esac

# `set -a` must not export it.
case $- in
  *a*)
    __tabsense_restore="$__tabsense_restore; set -a"
    set +a
    ;;
esac

if [ -z "$__tabsense_native" ]; then

  # Whether PROMPT_COMMAND may be an array.
  __tabsense_array=0
  ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)) || __tabsense_array=1

  # Runs a function of ours with the user's shell options out of the way.
  __tabsense_calm() {
    # Before bash 5.1 this would turn the history list on. It puts the options back after Ctrl-C too.
    if ((__tabsense_array)); then local -; fi
    # Under `set -k` a `local` cannot assign.
    local __tabsense_options __tabsense_result
    __tabsense_options=$-
    set +aeEkuvxT -f
    __tabsense_result=0
    "$@" || __tabsense_result=$?
    __tabsense_options=${__tabsense_options//[!aeEkuvxTf]/}
    [[ $__tabsense_options == *f* ]] || set +f
    [[ -z $__tabsense_options ]] || set -"$__tabsense_options"
    return "$__tabsense_result"
  }

  # Reads the part $1 of this script, which no start has to wait for. Fails with 2 when that is for good:
  # the shell's own completion stays, or what is there now is another version and does not go with this one.
  __tabsense_load() {
    local IFS=$' \t\n' aliases=-u text code=0
    [[ -z $__tabsense_native ]] || return 2
    __tabsense_client || return 1
    # Before the aliases are off: here Ctrl-C may come.
    { text=$("$TABSENSE_BIN" init bash --part "$1") || code=$?; } 2>/dev/null
    # Not when it could not run or was ended.
    ((code < 126)) || return 1
    if ((code)) || [[ $text != "# tabsense $1 ${__tabsense_version-}"$'\n'* ]]; then
      export __tabsense_native='tabsense was replaced after this shell had started'
      return 2
    fi
    shopt -q expand_aliases && aliases=-s
    shopt -u expand_aliases
    \eval "$text"
    shopt "$aliases" expand_aliases
  }

  # Whether the client can be started: silently native after it was removed.
  __tabsense_client() {
    case $TABSENSE_BIN in
      */*) [[ -f $TABSENSE_BIN && -x $TABSENSE_BIN ]] ;;
      *) builtin type -P "$TABSENSE_BIN" >/dev/null 2>&1 ;;
    esac
  }

  # Whether ble.sh, which has its own line editor and its own order, is there.
  __tabsense_yields() {
    [[ -n ${BLE_VERSION-} ]] || return 1
    export __tabsense_native='ble.sh completes by itself'
  }

  # --- completions, until the first TAB

  # Prints what is registered, as `complete -p` does. Before bash 5.1 that prints an empty name as nothing.
  __tabsense_registered() {
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] > 500)); then
      \builtin complete -p 2>/dev/null
      return
    fi
    local text
    text=$(\builtin complete -p 2>/dev/null)$'\n'
    printf '%s' "${text// $'\n'/ \'\'$'\n'}"
  }

  # Notes what $1, the text of `complete -p`, registers and has one function stand in for all of it, with
  # one command: wrapping hundreds takes milliseconds, and not every shell completes. The array `lines` may
  # have the lines of $1 already.
  __tabsense_defer() {
    local IFS=$'\n' LC_ALL=C
    local -a names=()
    ! __tabsense_yields || return 0
    if ! __tabsense_is_plain "$1"; then
      # Not to be taken apart by lines.
      ! __tabsense_load tab || __tabsense_adopt "$1"
      return 0
    fi
    # shellcheck disable=SC2206 # one a line; globbing is off
    {
      ((${#lines[@]})) || lines=($1)
      names=(${lines[@]##* })
      names=(${names[@]/#[-\'\"\$\\]*/})
    }
    ((${#names[@]} == 0)) || builtin complete -F __tabsense_late -- "${names[@]}"
    ! builtin compopt '' >/dev/null 2>&1 || builtin complete -F __tabsense_late -- ''
    ! builtin compopt -E >/dev/null 2>&1 || builtin complete -F __tabsense_late -E
    # The command word, and commands without a completion of their own, whatever is there.
    builtin complete -F __tabsense_late -D
    ((BASH_VERSINFO[0] < 5)) || builtin complete -F __tabsense_late -I
    __tabsense_kept=${__tabsense_kept:+$__tabsense_kept$IFS}$1
  }

  # Whether each line of $1 is a command of its own: all begin as they should, and quotes close on their line.
  # (bash-completion has quotes for job numbers and the empty name.)
  __tabsense_is_plain() {
    local IFS=\' nl=$'\n' i
    # shellcheck disable=SC2206 # what is between quotes; globbing is off
    local -a parts=($1$nl)
    [[ $nl$1 != *"$nl"[!c]* ]] && ((${#parts[@]} % 2)) || return 1
    for ((i = 1; i < ${#parts[@]}; i += 2)); do
      [[ ${parts[i]} != *$nl* ]] || return 1
    done
  }

  # The completion that stands in for all the others: puts them back, has them wrapped, and bash asks again.
  __tabsense_late() {
    [[ ${#FUNCNAME[@]} -gt 1 && -z $__tabsense_kept ]] || __tabsense_calm __tabsense_undefer
    if ((${#FUNCNAME[@]} == 1)); then
      ! builtin compopt -- "${1-}" >/dev/null 2>&1 || return 124
      __tabsense_instead "$@"
      return
    fi
    # Another completion took this one for the command's own.
    local __tabsense_form
    __tabsense_form=$'\ncomplete [^\n]*-F ([A-Za-z0-9_]+) '
    [[ $'\n'$__tabsense_was$'\n' =~ $__tabsense_form"${1-}"$'\n' ]] || return 0
    "${BASH_REMATCH[1]}" "$@"
  }

  # Completes the command $1, which has a completion by its last part or none: for those bash does not ask
  # again.
  __tabsense_instead() {
    local __tabsense_form __tabsense_spec
    __tabsense_spec=$(\builtin complete -p -- "${1##*/}" 2>/dev/null || \builtin complete -p -D 2>/dev/null) ||
      __tabsense_spec='complete -o bashdefault -o default -D'
    for __tabsense_form in bashdefault default dirnames filenames noquote nosort nospace plusdirs; do
      [[ $__tabsense_spec != *" -o $__tabsense_form "* ]] || compopt -o "$__tabsense_form"
    done
    __tabsense_form=' -F ([^ ]+) [^ ]+$'
    [[ $__tabsense_spec =~ $__tabsense_form ]] || return 0
    "${BASH_REMATCH[1]}" "$@"
  }

  # Puts back what was noted where nothing else has been registered since. Then the part of this script
  # that completes takes over, if it can be had.
  __tabsense_undefer() {
    local IFS=$'\n' LC_ALL=C line name back=''
    # Before bash 5.1 empty quotes are no subscript.
    local -A was=()
    for line in $__tabsense_kept; do
      [[ $line == *' -F __tabsense_late '* ]] || was["x${line##* }"]=$line
    done
    for line in $(__tabsense_registered); do
      name=${line#complete -F __tabsense_late }
      # There may have been nothing, and it may have been copied.
      [[ $name == "$line" ]] || back+=${was["x$name"]:-"complete -r $name"}$IFS
    done
    __tabsense_evaluate "$back"
    __tabsense_was=${__tabsense_kept:-$__tabsense_was} __tabsense_kept='' __tabsense_stale=''
    if __tabsense_load tab; then
      __tabsense_adopt
    elif (($? == 1)); then
      # The next prompt tries it again.
      __tabsense_stale=late
    fi
  }

  # Evaluates the lines $1, commands `complete` and functions, whatever the user's alias of that name is.
  __tabsense_evaluate() {
    local text=$IFS$1
    [[ -z ${BASH_ALIASES[complete]-} ]] || text=${text//"${IFS}complete "/"$IFS\\complete "}
    \eval "$text" 2>/dev/null
  }

fi
