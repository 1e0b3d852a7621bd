# tabsense for zsh, words into commands: a key turns what is typed into the command that it means, and
# so does a line that begins with a comma and a blank. Nothing is ever run: the command stands on the
# line. tabsense-hooks.zsh binds the key and reads this (`tabsense init zsh --part do`) when it is pressed
# for the first time.

if [[ -o interactive && -o zle && -n ${TERM:-} && $TERM != dumb ]]; then

# What the key offers next, as long as the line is $__tabsense_do_shown.
typeset -ga +x __tabsense_do_choices __tabsense_do_labels __tabsense_do_names
typeset -g +x __tabsense_do_line='' __tabsense_do_shown=''
typeset -gi +x __tabsense_do_cursor

# The key's widget.
_tabsense_do() {
  emulate -L zsh "${__tabsense_safe[@]}"
  if (( $#__tabsense_do_choices )) && [[ $BUFFER == "$__tabsense_do_shown" ]]; then
    __tabsense_do_next
    return 0
  fi
  __tabsense_do_choices=() __tabsense_do_labels=()
  if [[ -z ${BUFFER//[[:space:]]/} || -n $PREBUFFER ]] || ! __tabsense_do_ask "$BUFFER" 2>/dev/null; then
    # What zsh does on Alt-Enter, if it was that.
    [[ $KEYS != *$'\r' || -z $__tabsense_do_break ]] || LBUFFER+=$'\n'
    (( ! $#__tabsense_do_labels )) || zle -M -- "${(F)__tabsense_do_labels}"
    return 0
  fi
  if (( $#__tabsense_do_choices )); then
    # Not sure: the line stays until the key is pressed once more.
    __tabsense_do_shown=$BUFFER
    zle -M -- "${(F)__tabsense_do_labels}"
    return 0
  fi
  __tabsense_do_put
  (( ! $#__tabsense_do_labels )) || zle -M -- "${(F)__tabsense_do_labels}"
}

# Puts the answer on the line: one step for undo, in vi mode too.
__tabsense_do_put() {
  zle .split-undo 2>/dev/null
  BUFFER=$__tabsense_do_line CURSOR=$__tabsense_do_cursor
  zle .split-undo 2>/dev/null
}

# The next choice; after the last one the first again.
__tabsense_do_next() {
  __tabsense_do_choice "$__tabsense_do_choices[1]"
  __tabsense_do_choices=("${(@)__tabsense_do_choices[2,-1]}" "$__tabsense_do_choices[1]")
  __tabsense_do_put
  __tabsense_do_shown=$BUFFER
}

# Takes a choice apart: cursor, length of the placeholder, label, line.
__tabsense_do_choice() {
  local tab=$'\t'
  __tabsense_do_cursor=${1%%$tab*} __tabsense_do_line=${1#*$tab*$tab*$tab}
}

# Asks what the words $1 mean; sets what the answer says. Fails when the line shall stay.
__tabsense_do_ask() {
  emulate -L zsh "${__tabsense_safe[@]}" -o no_bg_nice -o extended_glob
  __tabsense_do_choices=() __tabsense_do_labels=() __tabsense_do_line=''
  local bin=$TABSENSE_BIN
  [[ $bin == */* ]] || bin=${commands[$bin]-}
  [[ -n $bin && -x $bin ]] || return 1
  __tabsense_do_own_names
  local -a header=(shell=zsh "session=$__tabsense_session" "cwd=$PWD" "line=$1" "unit=$__tabsense_unit")
  local data="${(pj:\0:)header}"$'\0\0'
  (( $#__tabsense_do_names == 0 )) || data+="${(pj:\0:)__tabsense_do_names}"$'\0'
  local answer result=0
  # As in __tabsense_tell: no line is written to a disk.
  if [[ -n ${XDG_RUNTIME_DIR-} && -w $XDG_RUNTIME_DIR ]]; then
    local TMPPREFIX=$XDG_RUNTIME_DIR/tabsense-zsh
    answer=$("$bin" do --hook <<<"$data") || result=$?
  else
    answer=$(print -rn -- "$data" | "$bin" do --hook) || result=$?
  fi
  __tabsense_do_read "$answer" || return 1
  (( result == 0 )) || return 1
  [[ -n $__tabsense_do_line ]] || (( $#__tabsense_do_choices ))
}

# Aliases and functions of the user's own, one record each.
__tabsense_do_own_names() {
  local name tab=$'\t'
  __tabsense_do_names=()
  for name in ${(k)aliases}; do
    [[ $name == _* || $name == *tabsense* || $name == , ]] ||
      __tabsense_do_names+=("a$tab$name$tab$aliases[$name]")
  done
  local -a own=(${(M)${(k)functions}:#[[:alnum:]]*})
  own=(${own:#*tabsense*})
  __tabsense_do_names+=("f$tab"${^own}"$tab")
}

# Reads the records of an answer. Control characters of a message would reach the terminal.
__tabsense_do_read() {
  local -a records=("${(@ps:\0:)1}")
  [[ $records[1] == v1 && $records[-2] == . && -z $records[-1] ]] || return 1
  local record value tab=$'\t'
  local -i cursor=-1
  for record in "${(@)records[2,-3]}"; do
    value=${record#*=}
    case $record in
      line=*) __tabsense_do_line=$value ;;
      cursor=<->) cursor=$value ;;
      message=*) __tabsense_do_labels=("${value//[[:cntrl:]]/ }" "${(@)__tabsense_do_labels}") ;;
      choice=<->$tab<->$tab*$tab*)
        __tabsense_do_choices+=("$value")
        value=${value#*$tab*$tab}
        __tabsense_do_labels+=("  ${${value%%$tab*}//[[:cntrl:]]/ }: ${${value#*$tab}//[[:cntrl:]]/ }")
        ;;
    esac
  done
  __tabsense_do_cursor=$(( cursor < 0 ? $#__tabsense_do_line : cursor ))
}

# --- a line that begins with a comma --------------------------------------------------------------

# `, words`: puts the command on the next line.
__tabsense_do_comma() {
  emulate -L zsh "${__tabsense_safe[@]}"
  if ! __tabsense_do_ask ", $*" 2>/dev/null; then
    print -rlu2 -- "${(@)__tabsense_do_labels:-tabsense: no answer}"
    return 1
  fi
  (( ! $#__tabsense_do_labels )) || print -rlu2 -- "${(@)__tabsense_do_labels}"
  if (( $#__tabsense_do_choices )); then
    # The key brings them, one after the other.
    __tabsense_do_shown=
    return 1
  fi
  print -rz -- "$__tabsense_do_line"
  (( __tabsense_do_cursor < $#__tabsense_do_line )) || return 0
  # There is a placeholder: the cursor goes onto it when the line is there.
  zle -N _tabsense_do_place
  autoload -Uz add-zle-hook-widget
  add-zle-hook-widget line-init _tabsense_do_place 2>/dev/null
}

_tabsense_do_place() {
  emulate -L zsh "${__tabsense_safe[@]}"
  add-zle-hook-widget -d line-init _tabsense_do_place
  [[ $BUFFER == "$__tabsense_do_line" ]] || return 0
  CURSOR=$__tabsense_do_cursor
}

fi
