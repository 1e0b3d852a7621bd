# tabsense for zsh, second half: commands are told to the worker, and the widgets are put in place.
# `tabsense init zsh` prints it after tabsense.zsh.
#
# The key for words is $TABSENSE_DO_KEY as `bindkey` takes it; empty: no key; unset: Alt-Enter where that
# is free, and not in vi mode, where Escape and then Enter come as the same bytes.

if [[ -o interactive && -o zle && -n ${TERM:-} && $TERM != dumb ]]; then

# --- commands -------------------------------------------------------------------------------------

# The shell's own ignore settings, as far as they can be seen before the command runs.
__tabsense_keeps() {
  local line=$1 word=${1%%[[:space:]]*}
  [[ -n ${HISTFILE:-} && $HISTFILE != /dev/null && ${SAVEHIST:-0} -gt 0 ]] || return 1
  [[ -n $line && $line != ' '* ]] || return 1
  [[ -z ${HISTORY_IGNORE:-} || $line != ${~HISTORY_IGNORE} ]] || return 1
  [[ ! -o hist_ignore_space || ${aliases[$word]-} != ' '* ]] || return 1
  local stored='(builtin |)(history|r|fc *-*l*)(| *)'
  [[ ! -o hist_no_store || $line != ${~stored} ]]
}

__tabsense_preexec() {
  # HISTORY_IGNORE is a pattern in the user's own terms; the other options outlive `emulate`.
  local glob=no_extended_glob
  [[ ! -o extended_glob ]] || glob=extended_glob
  emulate -L zsh "${__tabsense_safe[@]}" -o $glob
  __tabsense_flush
  # $1 as typed, with its line breaks; empty where there is no history.
  __tabsense_command=
  if __tabsense_keeps "${1-}"; then
    __tabsense_command=$1 __tabsense_histcmd=HISTCMD
    __tabsense_started=($epochtime "$PWD")
  fi
}

__tabsense_precmd() {
  local __tabsense_status=$?
  emulate -L zsh "${__tabsense_safe[@]}"
  [[ $__tabsense_session == $$.* ]] || __tabsense_session=$$.$EPOCHSECONDS
  __tabsense_install
  if [[ -z $__tabsense_command ]]; then
    __tabsense_tell
    (( ! ${+functions[__tabsense_do_start]} )) || __tabsense_do_start 2>/dev/null
    return 0
  fi
  local -a now=($epochtime)
  local -i took=$(( (now[1] - __tabsense_started[1]) * 1000 + (now[2] - __tabsense_started[2]) / 1000000 ))
  (( took >= 0 )) || took=0
  __tabsense_pending=("command=$__tabsense_command" exit=$__tabsense_status
    start=${__tabsense_started[1]}.${(l:9::0:)__tabsense_started[2]} duration_ms=$took
    "ran_in=$__tabsense_started[3]")
  __tabsense_command=
  # Where the first prompts went by without us.
  (( ! ${+functions[__tabsense_do_start]} )) || __tabsense_do_start 2>/dev/null
  # A hook of someone else may keep the line out of the history: zsh shows that one line later.
  if (( ${+functions[zshaddhistory]} || ${#zshaddhistory_functions-} )) || [[ -o hist_no_functions ]]; then
    __tabsense_tell late=1
    return 0
  fi
  __tabsense_tell "${(@)__tabsense_pending}"
  __tabsense_pending=()
}

# Sends the line that waited. The event number stands still when the shell drops a line.
__tabsense_flush() {
  (( $#__tabsense_pending )) || return 0
  (( HISTCMD == __tabsense_histcmd )) || __tabsense_tell late=1 "${(@)__tabsense_pending}"
  __tabsense_pending=()
}

# Tells the worker where the shell is and what ran. Does not wait.
__tabsense_tell() {
  local bin=$TABSENSE_BIN
  # `tabsense init` may have told the first prompt's place.
  if [[ $# == 0 && $__tabsense_told == "$$ $PWD" ]]; then
    __tabsense_told=
    return 0
  fi
  [[ $bin == */* ]] || bin=${commands[$bin]-}
  [[ -n $bin && -x $bin ]] || return 0
  local -a header=(shell=zsh "session=$__tabsense_session" "cwd=$PWD" "histfile=${HISTFILE-}" "$@")
  local data="${(pj:\0:)header}"$'\0\0'
  setopt no_bg_nice
  # In a substitution, not in `( )`: the job table, $! and the terminal's foreground stay as they are.
  # The first one also tells what Alt-Enter is bound to: each substitution costs a millisecond.
  # And zsh's <<< is a file: only where those are kept in memory, for a secret must not reach the disk.
  # Where there may be no more processes or files, nothing is told, and that quietly.
  { __tabsense_bound=$(
    if [[ -n ${XDG_RUNTIME_DIR-} && -w $XDG_RUNTIME_DIR ]]; then
      TMPPREFIX=$XDG_RUNTIME_DIR/tabsense-zsh
      "$bin" prompt --hook >/dev/null 2>&1 <<<"$data" &
    else
      print -rn -- "$data" | "$bin" prompt --hook >/dev/null 2>&1 &
    fi
    (( ! ${+functions[__tabsense_do_start]} )) || bindkey -M emacs -- '^[^M'
  ) } 2>/dev/null
}

# --- words into commands --------------------------------------------------------------------------

# tabsense-do.zsh defines these anew: most shells never need it, and each would read it at its start.
_tabsense_do() {
  if __tabsense_load do 2>/dev/null; then
    _tabsense_do "$@"
  elif [[ $KEYS == *$'\r' && -n $__tabsense_do_break ]]; then
    LBUFFER+=$'\n'
  fi
}

__tabsense_do_comma() {
  if __tabsense_load do 2>/dev/null; then
    __tabsense_do_comma "$@"
  else
    print -ru2 -- 'tabsense: no answer'
    return 1
  fi
}

# What Alt-Enter is bound to without us, and whether that is zsh's own line break.
typeset -g +x __tabsense_bound=''
typeset -g +x __tabsense_do_break="${__tabsense_do_break-}"

# At the first prompt, when all rc files have been read: the key, and the comma unless the user has one.
# To define a function by that name, an alias must not stand in the way.
__tabsense_do_start() {
  emulate -L zsh "${__tabsense_safe[@]}"
  unfunction __tabsense_do_start
  __tabsense_do_bind
  if (( ! ${+functions[,]} && ! ${+aliases[,]} && ! ${+galiases[,]} )) && ! builtin whence -p , >/dev/null; then
    functions[,]='__tabsense_do_comma "$@"'
    # The words are no patterns.
    aliases[,]='noglob ,'
  fi
  return 0
}

# Binds the key. A chosen one in vi mode too, even if it begins with Escape, as function keys do: who
# names it wants it. Else Alt-Enter in emacs mode where it is free.
__tabsense_do_bind() {
  local map
  zle -N _tabsense_do
  if [[ -n ${TABSENSE_DO_KEY+chosen} ]]; then
    [[ -n $TABSENSE_DO_KEY ]] || return 0
    for map in emacs viins vicmd; do
      bindkey -M $map -- "$TABSENSE_DO_KEY" _tabsense_do
    done
    return 0
  fi
  # Through a file without a name, where it can be opened a second time: that takes no process. (To append:
  # what is cut short a disk writes out at once.)
  if [[ -z $__tabsense_bound ]]; then
    [[ -n ${XDG_RUNTIME_DIR-} && -w $XDG_RUNTIME_DIR ]] && local TMPPREFIX=$XDG_RUNTIME_DIR/tabsense-zsh
    {
      bindkey -M emacs -- '^[^M' >>/dev/fd/9 && IFS= read -r map <&9 && IFS= read -r __tabsense_bound <&9
    } 9<<<''
    [[ -n $__tabsense_bound ]] || __tabsense_bound=$(bindkey -M emacs -- '^[^M')
  fi
  # Free: zsh has nothing there by itself, or the line break that Alt makes no different.
  case $__tabsense_bound in
    *' undefined-key' | *' self-insert' | *' self-insert-unmeta')
      [[ $__tabsense_bound == *' undefined-key' ]] || __tabsense_do_break=1
      bindkey -M emacs -- '^[^M' _tabsense_do
      ;;
  esac
}

# --- setting up -----------------------------------------------------------------------------------

# Who answers TAB instead of us. Exported when there is someone, so that `tabsense doctor` can tell.
__tabsense_look_around() {
  local other=
  if (( ! ${+functions[_main_complete]} )); then
    other='compinit was not run, and zsh completes without functions'
  elif (( ${+functions[fzf-tab-complete]} )); then
    other='fzf-tab shows its own list'
  elif (( ${+functions[.autocomplete__main]} || ${+functions[.autocomplete.__init__]} )); then
    other='zsh-autocomplete redraws its own list at each key'
  elif [[ -n $__tabsense_replaced ]]; then
    other='tabsense was replaced after this shell had started'
  fi
  if [[ -n $other ]]; then
    typeset -gx __tabsense_native=$other
  else
    unset __tabsense_native
  fi
}

# Puts _tabsense_tab behind every completion widget that runs _main_complete. Again at each prompt,
# as compinit or a plugin may define them later.
__tabsense_install() {
  emulate -L zsh "${__tabsense_safe[@]}"
  if [[ -n ${TABSENSE_TRY-} && -z ${functions[_main_complete]-} ]]; then
    autoload -Uz compinit && compinit -u
  fi
  __tabsense_look_around
  local name style
  for name in ${(k)widgets[(R)completion:.*:_main_complete]}; do
    [[ $name != _tabsense_* ]] || continue
    style=${${widgets[$name]#completion:.}%%:*}
    if (( ! ${+widgets[_tabsense_first_$style]} )); then
      zle -C _tabsense_first_$style .$style _tabsense_first
      zle -C _tabsense_second_$style .$style _tabsense_second
      # Plugins look for a widget defined like this one (zsh-autosuggestions: to suggest completions).
      zle -C _tabsense_native_$style .$style _main_complete
      # One line: with CSH_JUNKIE_QUOTES a string must not go over several.
      functions[_tabsense_tab_$style]="local __tabsense_failed=0; _tabsense_tab $style \"\$@\" || __tabsense_failed=\$?; setopt local_options no_err_exit no_err_return; return \$__tabsense_failed"
    fi
    zle -N $name _tabsense_tab_$style
  done
  return 0
}

# Puts the hooks where they belong, behind those of others. Each TAB looks, as the lists may be set anew.
__tabsense_hook() {
  emulate -L zsh "${__tabsense_safe[@]}"
  typeset -ga preexec_functions precmd_functions
  if (( $# == 0 || ! ${preexec_functions[(I)__tabsense_preexec]} )); then
    preexec_functions=(${preexec_functions:#__tabsense_preexec} __tabsense_preexec)
  fi
  if (( $# == 0 || ! ${precmd_functions[(I)__tabsense_precmd]} )); then
    precmd_functions=(${precmd_functions:#__tabsense_precmd} __tabsense_precmd)
  fi
}

__tabsense_start() {
  emulate -L zsh "${__tabsense_safe[@]}"
  __tabsense_told="${__tabsense_told-} $PWD"
  zmodload -F zsh/datetime p:EPOCHSECONDS p:EPOCHREALTIME p:epochtime || return 1
  zmodload zsh/zleparameter zsh/parameter zsh/zutil zsh/complete || return 1
  local letter=$'\xc3\xa9'
  if (( $#letter == 1 )); then __tabsense_unit=chars; else __tabsense_unit=bytes; fi
  __tabsense_hook
  __tabsense_install
}
typeset -g +x __tabsense_told="${__tabsense_told-}"
__tabsense_start 2>/dev/null || :

fi
