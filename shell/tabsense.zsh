# tabsense for zsh (5.3 and later): TAB in our order, and recorded commands.
#
# How it works. zsh cannot reorder matches once they are added, and completers look at what was
# added before (`compstate[nmatches]`), so nothing can be held back either. So TAB runs in two steps:
#   1. The shell's own completion (`_main_complete`) runs untouched and adds everything natively. A
#      `compadd` function in front of the builtin notes each call: options, matches, display strings.
#   2. The client ranks all matches in one call. With a good answer the native result is dropped
#      before it is shown, and a second completion widget adds the same calls again, in our order.
# Without a good answer there is no second step: what is shown is the native result itself.
# The widgets that compinit defines keep their names, so no key is bound here. What the two steps do is in
# tabsense-tab.zsh, which the first TAB reads.
#
# `eval` parses all of this at once under the user's options (but without aliases: `tabsense init` sees to
# that), so no syntax below depends on options; each function sets its own options when it runs.

if [[ -o interactive && -o zle && -n ${TERM:-} && $TERM != dumb ]]; then

typeset -g +x TABSENSE_BIN="${TABSENSE_BIN:-tabsense}"
# Every function but the widgets runs with zsh's own options and these.
typeset -ga +x __tabsense_safe=(-o no_aliases -o no_err_return -o no_err_exit -o no_xtrace)
# More matches than this are left in native order: sending and adding them would cost too long.
# As are matches picked from more words than that (they are looked at twice), or from more calls.
typeset -gi +x __tabsense_most=3000 __tabsense_most_given=20000 __tabsense_most_calls=500
# So many of the best are put in order one by one; the rest follows in native order.
typeset -gi +x __tabsense_single=300
typeset -gi +x __tabsense_histcmd
typeset -ga +x __tabsense_started __tabsense_pending
typeset -g +x __tabsense_command='' __tabsense_session="${__tabsense_session:-}" __tabsense_unit=''
# Whether tabsense-tab.zsh has been read, and whether what is there now is another version.
typeset -g +x __tabsense_ordering='' __tabsense_replaced=''

# --- parts ----------------------------------------------------------------------------------------

# Reads the part $1 of this script, which no start has to wait for.
__tabsense_load() {
  emulate -L zsh "${__tabsense_safe[@]}"
  local bin=$TABSENSE_BIN text nl=$'\n'
  local -i code=0
  [[ -z $__tabsense_replaced ]] || return 1
  [[ $bin == */* ]] || bin=${commands[$bin]-}
  [[ -n $bin && -x $bin ]] || return 1
  text=$("$bin" init zsh --part $1 2>/dev/null) || code=$?
  # It could not run or was ended: the next time, perhaps.
  (( code < 126 )) || return 1
  # Parts of two versions do not go together.
  if (( code )) || [[ $text != "# tabsense $1 ${__tabsense_version-}$nl"* ]]; then
    __tabsense_replaced=1
    return 1
  fi
  eval "$text"
}

# --- step 1 ---------------------------------------------------------------------------------------

# The widget behind the completion widgets' names. $1 is the builtin widget it stands for.
_tabsense_tab() {
  local __tabsense_style=$1 __tabsense_status=0 __tabsense_again=0
  shift
  zle _tabsense_first_$__tabsense_style -- "$@" || __tabsense_status=$?
  if [[ $__tabsense_again == 1 ]]; then
    __tabsense_status=0
    zle _tabsense_second_$__tabsense_style -- "$@" || __tabsense_status=$?
  fi
  return $__tabsense_status
}

__tabsense_can_order() {
  [[ -n $__tabsense_ordering ]] || __tabsense_load tab
}

# The first completion widget: native completion, with the calls of compadd noted.
# The user's options stay in force here, completion depends on them.
_tabsense_first() {
  local __tabsense_result=0
  __tabsense_hook missing 2>/dev/null || :
  if [[ -n ${functions[compadd]-} ]] || ! __tabsense_can_order 2>/dev/null; then
    # Someone else (fzf-tab, zsh-autocomplete) stands in front of compadd already: theirs. Or zsh's.
    _main_complete "$@" || __tabsense_result=$?
    setopt local_options no_err_exit no_err_return
    return $__tabsense_result
  fi
  __tabsense_begin 2>/dev/null
  {
    _main_complete "$@" || __tabsense_result=$?
  } always {
    [[ -z ${functions[compadd]-} ]] || unfunction compadd
  }
  __tabsense_decide 2>/dev/null
  # With ERR_EXIT a status of 1 ("nothing inserted") would end the shell.
  setopt local_options no_err_exit no_err_return
  return $__tabsense_result
}

fi
