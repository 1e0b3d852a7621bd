# tabsense for zsh, the order of what TAB offers: noting what is added, asking, adding it again.
# tabsense.zsh reads this (`tabsense init zsh --part tab`) when a completion runs for the first time: every
# shell starts, and not every one completes.

if [[ -o interactive && -o zle && -n ${TERM:-} && $TERM != dumb ]]; then

typeset -gi +x __tabsense_calls __tabsense_groups __tabsense_total __tabsense_odd
typeset -gi +x __tabsense_sure
typeset -ga +x __tabsense_options_of __tabsense_context __tabsense_group_of __tabsense_all_items
typeset -ga +x __tabsense_group_names __tabsense_plan __tabsense_added __tabsense_plain __tabsense_state
typeset -g +x __tabsense_word='' __tabsense_numeric='' __tabsense_multibyte=''

__tabsense_begin() {
  local numeric= multibyte=no_multibyte
  if [[ -o numeric_glob_sort ]]; then numeric=n; fi
  if [[ -o multibyte ]]; then multibyte=multibyte; fi
  emulate -L zsh "${__tabsense_safe[@]}"
  __tabsense_numeric=$numeric __tabsense_multibyte=$multibyte
  __tabsense_calls=0 __tabsense_groups=0 __tabsense_total=0 __tabsense_odd=0
  __tabsense_options_of=() __tabsense_context=() __tabsense_group_of=()
  __tabsense_group_names=() __tabsense_added=() __tabsense_plain=()
  __tabsense_word=$PREFIX
  comppostfuncs=(${comppostfuncs:#_tabsense_post} _tabsense_post)
  functions[compadd]=$functions[_tabsense_compadd]
}

# Runs inside _main_complete, at its end. A message on show is not among the noted calls, and what
# _expand offers first is all expansions at once.
_tabsense_post() {
  [[ -z $_comp_mesg && $_completer != expand* ]] || __tabsense_odd=1
}

# Stands in front of the builtin `compadd` while completion functions run, under their options.
_tabsense_compadd() {
  local -a __tabsense_all=("$@") __tabsense_opts __tabsense_query __tabsense_names
  local -a __tabsense_grp __tabsense_disp __tabsense_rest __tabsense_shown __tabsense_hits
  if [[ ${_comp_correct:-0} -gt 0 ]]; then
    local __tabsense_pattern=
    __tabsense_correct "$@" || return 1
    PREFIX=$__tabsense_pattern
    set -- "${__tabsense_all[@]}"
  fi
  # What is only asked for (-O, -A, -D) goes past; what has no place in the dry run is kept apart.
  zparseopts -D -a __tabsense_opts \
    A+:=__tabsense_query O+:=__tabsense_query D+:=__tabsense_query C=__tabsense_rest E+:=__tabsense_rest \
    J+:=__tabsense_grp V+:=__tabsense_grp d+:=__tabsense_disp a=__tabsense_names k=__tabsense_names \
    P+: S+: p+: s+: i+: I+: W+: F+: M+: r+: R+: X+: x+: o+:: 'q' 'f' 'e' 'n' 'U' 'Q' 'l' '1' '2'
  if (( $#__tabsense_query || __tabsense_odd || ! $# )); then
    builtin compadd "${__tabsense_all[@]}"
    return
  fi
  local -i __tabsense_given=$#
  if (( $#__tabsense_names )); then
    # The words are names of arrays (or keys of them). Counted first: the dry run looks at each.
    local __tabsense_name
    for __tabsense_name; do
      [[ $__tabsense_name == \(* ]] || __tabsense_given+=${#${(@P)__tabsense_name}}
    done
  fi
  if (( $#__tabsense_rest || __tabsense_given > __tabsense_most_given )) ||
     [[ ${__tabsense_disp[2]-} == \(* ]]; then
    # Dummies that line columns up, "all matches", too many: native order.
    __tabsense_odd=1
    builtin compadd "${__tabsense_all[@]}"
    return
  fi
  if (( $#__tabsense_disp )); then
    __tabsense_shown=("${(@P)__tabsense_disp[2]}")
    builtin compadd "${__tabsense_opts[@]}" -D __tabsense_shown -O __tabsense_hits "${__tabsense_names[@]}" -- "$@"
  else
    builtin compadd "${__tabsense_opts[@]}" -O __tabsense_hits "${__tabsense_names[@]}" -- "$@"
  fi
  __tabsense_note 2>/dev/null
  builtin compadd "${__tabsense_all[@]}"
}

# Notes one call: __tabsense_opts, _grp, _hits and _shown of the caller.
__tabsense_note() {
  emulate -L zsh "${__tabsense_safe[@]}"
  local -i count=$#__tabsense_hits call group
  if (( __tabsense_total + count > __tabsense_most || __tabsense_calls > __tabsense_most_calls )); then
    __tabsense_odd=1
  fi
  (( count && ! __tabsense_odd )) || return 0
  call=$(( ++__tabsense_calls ))
  __tabsense_total+=count
  __tabsense_options_of[call]=${(pj:\0:)__tabsense_opts}
  __tabsense_context[call]="$PREFIX"$'\0'"$SUFFIX"$'\0'"$IPREFIX"$'\0'"$ISUFFIX"$'\0'"${compstate[pattern_match]-}"$'\0'"${#compstate[all_quotes]}"

  # zsh keeps groups apart by name and by how they are sorted.
  local name=${__tabsense_grp[2]:-default} order=${__tabsense_opts[(r)-o*]-} sort=o
  [[ ${__tabsense_grp[1]-} == -V || $order == *nosort* ]] && sort=
  [[ -n $sort && $order == *rev* ]] && sort=O
  [[ -n $sort && ( $order == *num* || -n $__tabsense_numeric ) ]] && sort+=n
  group=${__tabsense_group_names[(ie)$sort:$name]}
  if (( group > __tabsense_groups )); then
    __tabsense_groups=group
    __tabsense_group_names[group]=$sort:$name
    typeset -ga +x __tabsense_items_$group
    set -A __tabsense_items_$group
  fi
  __tabsense_group_of[call]=$group

  # Mostly there is one call, whose matches show as they are: those need no more than their text.
  if (( call == 1 && ! $#__tabsense_shown )); then
    __tabsense_plain=("${(@)__tabsense_hits}")
    return 0
  fi
  if (( $#__tabsense_plain )); then
    set -A __tabsense_items_1 $'\0'"${(@)^__tabsense_plain}"$'\0'1
    __tabsense_plain=()
  fi
  # One item a match: display string, text, call. Joined and split in one go, without a loop.
  local -a items shown hits
  if (( $#__tabsense_shown )); then
    local nul=$'\0' end=$'\0\1'
    while (( $#__tabsense_shown < count )); do __tabsense_shown+=(''); done
    shown=("${(@)^__tabsense_shown[1,count]}$nul") hits=("${(@)^__tabsense_hits}$nul$call$end")
    shown=("${(@)shown:^hits}")
    local joined="${(j::)shown}"
    items=("${(@ps:\0\1:)${joined%$end}}")
  else
    items=($'\0'"${(@)^__tabsense_hits}"$'\0'"$call")
  fi
  # Appended in place: there may be hundreds of calls.
  eval "__tabsense_items_$group+=(\"\${(@)items}\")"
}

# _approximate puts its own compadd in front only when there is none yet, so its part is done here:
# the pattern flag that allows errors goes before what was typed. Changes _all and _pattern of the
# caller, which sets PREFIX itself: zsh puts it back when a function returns.
__tabsense_correct() {
  local -a opts group
  local -i unmatched
  zparseopts -D -a opts A: O: D: 'C' E: J:=group V:=group d: 'a' 'k' P: S: p: s: i: I: W: F: M: r: R: X: x: o:: 'q' 'f' 'e' 'n' 'U' 'Q' 'l' '1' '2'
  unmatched=${opts[(I)-U]}
  (( unmatched || $#PREFIX + $#SUFFIX > _comp_correct )) || return 1
  local path_prefix=
  (( ${opts[(I)-p]} )) && path_prefix=${opts[${opts[(I)-p]}+1]}
  if [[ $PREFIX == \~* && $path_prefix != \~* ]]; then
    __tabsense_pattern="~(#a$_comp_correct)${PREFIX#\~}"
  else
    __tabsense_pattern="(#a$_comp_correct)$PREFIX"
  fi
  if [[ ${_correct_group:-0} -gt 0 ]] && (( $#group )); then
    _correct_expl[_correct_group]=${group[1][1,2]}
  fi
  __tabsense_all=("${_correct_expl[@]}" "${__tabsense_all[@]}")
  return 0
}

# Asks for the order once the native completion is done, and drops its result when there is one.
__tabsense_decide() {
  emulate -L zsh "${__tabsense_safe[@]}" -o no_bg_nice -o extended_glob
  local insert=${compstate[insert]-} list=${compstate[list]-}
  (( ! __tabsense_odd )) || return 0
  [[ ${compstate[old_list]-} != keep && $insert != all && $insert != *tab* && $insert != [0-9]* ]] || return 0
  local -i found=compstate[nmatches]
  # Matches that were not noted cannot be added again.
  (( found <= __tabsense_total && found != 1 )) || return 0
  # One that is sure goes in at once, but not for a menu, a list on request, or what REC_EXACT takes.
  __tabsense_sure=0
  [[ $insert != *unambiguous || ${compstate[exact]-} == accept && -n ${compstate[exact_string]-} ]] ||
    __tabsense_sure=1
  # Where the native result only makes the word longer, no order is seen.
  local common=${compstate[unambiguous]-} longer=
  if [[ $found -gt 1 && $insert == *unambiguous && $list == ambiguous* && $list != *force* &&
        $common == $__tabsense_word?* ]]; then
    [[ -n ${__tabsense_word##*/} ]] || return 0
    longer=1
  fi
  # Candidates of the client's own: where the shell has none, where a list is shown, in a menu.
  local add=0
  if [[ $found == 0 || $insert == *menu && $insert != *unambiguous || -z $insert ||
        $common == "$__tabsense_word" ]]; then
    add=1
  fi
  __tabsense_ask $found $add || return 0
  (( ! __tabsense_sure )) || longer= list=
  [[ -z $longer ]] || return 0
  if (( $#__tabsense_added )) && [[ $found == 0 || $insert == *unambiguous ]]; then
    # Own candidates need not begin with the word: a common beginning would cut it. A list, then.
    insert=
    (( ${#${(@M)__tabsense_added:#+*}} > 1 || found > 0 )) || insert=unambiguous
    [[ -n $list || $__tabsense_sure == 1 ]] || list=autolist
  fi
  __tabsense_state=(insert "$insert" list "$list")
  local key
  for key in exact last_prompt list_max pattern_insert to_end; do
    [[ -z ${compstate[$key]+set} ]] || __tabsense_state+=($key "$compstate[$key]")
  done
  __tabsense_again=1
  # A list on request: the line stays, and this result is not shown, the next one replaces it.
  compstate[insert]= compstate[list]=list
}

# Sends all matches to the client; sets __tabsense_plan to the order. $1: how many zsh counts,
# $2: whether the client may add candidates.
__tabsense_ask() {
  local bin=$TABSENSE_BIN
  [[ $bin == */* ]] || bin=${commands[$bin]-}
  [[ -n $bin && -x $bin ]] || return 1

  local nul=$'\0'
  local -a all items rest texts shown records
  local -i group call
  local own
  for (( group = 1; group <= __tabsense_groups; group++ )); do
    own=__tabsense_items_$group
    (( ! $#__tabsense_plain )) || own=__tabsense_plain
    items=("${(@P)own}")
    case ${__tabsense_group_names[group]%%:*} in
      o) items=("${(@o)items}") ;;
      O) items=("${(@O)items}") ;;
      on) items=("${(@on)items}") ;;
      On) items=("${(@On)items}") ;;
    esac
    all+=("${(@u)items}")
  done
  # What a match stands for: the whole word as the command will get it.
  local -A before after quoted
  local -a context options reply
  for (( call = 1; call <= __tabsense_calls; call++ )); do
    context=("${(@ps:\0:)__tabsense_context[call]}") options=("${(@ps:\0:)__tabsense_options_of[call]}")
    # Inside a quoted argument that holds a whole command: rare, and not ours to take apart.
    (( context[6] <= ${#compstate[all_quotes]} )) || return 1
    __tabsense_around "${context[3]}" "${options[@]}"
    before[$call]=$reply[1] after[$call]=$reply[2] quoted[$call]=$reply[3]
  done
  if (( $#__tabsense_plain )); then
    texts=("${(@)all}")
  else
    rest=("${(@)all#*$nul}")
    texts=("${(@)rest%%$nul*}")
  fi
  if (( ${#${(@u)before}} <= 1 && ${#${(@u)after}} <= 1 && ${#${(@u)quoted}} <= 1 )); then
    # Unquoting is slow, and most names have nothing to unquote.
    [[ ${quoted[1]-} != Q || "$texts" != *[\\\'\"\$]* ]] || texts=("${(@Q)texts}")
    texts=("${before[1]-}${(@)^texts}${after[1]-}")
  else
    __tabsense_whole_words
  fi

  local -a header=(shell=zsh "session=$__tabsense_session" "line=$PREBUFFER$BUFFER"
    cursor=$(( $#PREBUFFER + $#LBUFFER )) "unit=$__tabsense_unit" "cwd=$PWD" "word=${(Q)__tabsense_word}"
    base= pairs=1 "add=$2" "sure=$__tabsense_sure" "time=${EPOCHREALTIME-}")
  # Where nothing is to be sorted, somebody has chosen the order.
  (( ! $#all || ${#${(@)__tabsense_group_names:#:*}} )) || header+=(ordered=1)
  local data="${(pj:\0:)header}"$'\0\0'
  # Always pairs: the line break after the last record is then half a pair, which the client drops.
  if (( $#__tabsense_plain )); then
    data+="${(pj:\0\0:)texts}"$'\0\0'
  elif (( $#all )); then
    shown=("${(@)all%%$nul*}")
    shown=("${(@)shown#* -- }")
    records=("${(@)texts:^shown}")
    data+="${(pj:\0:)records}"$'\0'
  fi
  local answer
  # As in __tabsense_tell: no line is written to a disk.
  if [[ -n ${XDG_RUNTIME_DIR-} && -w $XDG_RUNTIME_DIR ]]; then
    local TMPPREFIX=$XDG_RUNTIME_DIR/tabsense-zsh
    { answer=$("$bin" complete --hook <<<"$data") || return 1; } 2>/dev/null
  else
    { answer=$(print -rn -- "$data" | "$bin" complete --hook) || return 1; } 2>/dev/null
  fi
  __tabsense_read_answer $#all "$answer" || return 1
  (( ! __tabsense_sure || ! $#all )) || all=("${all[__tabsense_plan[1]+1]}") __tabsense_plan=(0)
  __tabsense_all_items=("${(@)all}")
}

# Each match in the words of its own call: texts and rest of the caller, which are changed.
__tabsense_whole_words() {
  local -i i
  local text
  for (( i = 1; i <= $#rest; i++ )); do
    call=${rest[i]#*$nul} text=${rest[i]%%$nul*}
    [[ $quoted[$call] != Q ]] || text=${(Q)text}
    texts[i]=$before[$call]$text$after[$call]
  done
}

# What surrounds the matches of a call within the word, unquoted. $1: IPREFIX, then the options.
__tabsense_around() {
  local inserted= pre= path= path_suffix= quoted=
  local ignored=$1
  shift
  while (( $# )); do
    case $1 in
      -i) inserted=$2 ;;
      -P) pre=$2 ;;
      -p) path=$2 ;;
      -s) path_suffix=$2 ;;
      -Q) quoted=Q ;;
    esac
    case $1 in
      -[PSpsiIWFMrRXx]) shift 2 ;;
      *) shift ;;
    esac
  done
  [[ -z $quoted ]] || path=${(Q)path} path_suffix=${(Q)path_suffix}
  reply=("${(Q)ignored}$inserted${(Q)pre}$path" "$path_suffix" "$quoted")
}

# Checks an answer about $1 matches and sets __tabsense_plan (places from 0) and __tabsense_added.
__tabsense_read_answer() {
  local -i count=$1
  local -a records
  records=("${(@ps:\0:)2}")
  [[ $records[1] == v1 && $records[-2] == . && -z $records[-1] ]] || return 1
  if [[ $records[2] == '!sure' ]]; then records[2]=(); else __tabsense_sure=0; fi
  records=("${(@)records[2,-3]}")
  local -a places=("${(@M)records:#=<->}")
  places=("${(@)places#=}")
  local -a others=("${(@)records:#=<->}")
  (( $#places == count && ${#${(@u)places}} == count )) || return 1
  (( count == 0 || ${${(@On)places}[1]:-0} == count - 1 )) || return 1
  [[ -z ${others[(r)^[+?]*]-} ]] || return 1
  __tabsense_plan=("${(@)places}") __tabsense_added=("${(@)others}")
  # Sure: the first one only. One of the client's own stands alone where the shell has none.
  [[ ${records[1]-} == '='* || $count == 0 && ${records[1]-} == +[wdf]* ]] || __tabsense_sure=0
  if (( __tabsense_sure )); then
    __tabsense_plan=($places[1]) __tabsense_added=(${records[1]:#=*})
    return 0
  fi
  # The native order, and nothing more: the native result stands.
  local -a native=("${(@on)places}")
  [[ $#others -gt 0 || "$places" != "$native" ]]
}

# --- step 2 ---------------------------------------------------------------------------------------

# The second completion widget: adds what the first one noted, in our order.
_tabsense_second() {
  if [[ ${__tabsense_again-} != 1 ]]; then
    # Called again from within menu selection: a fresh native completion.
    local __tabsense_result=0
    _main_complete "$@" || __tabsense_result=$?
    setopt local_options no_err_exit no_err_return
    return $__tabsense_result
  fi
  __tabsense_replay 2>/dev/null || :
}

__tabsense_replay() {
  emulate -L zsh "${__tabsense_safe[@]}" -o extended_glob -o $__tabsense_multibyte
  __tabsense_again=0
  local nul=$'\0' place
  local -a ranked=() items calls
  local -i group call
  # The best one by one; the others follow in native order, in one go.
  for place in "${(@)__tabsense_plan[1,__tabsense_single]}"; do
    ranked+=("${__tabsense_all_items[place+1]}")
  done
  ranked+=("${(@)__tabsense_all_items:|ranked}")
  local -i groups=__tabsense_groups
  if (( $#__tabsense_plain )); then
    local -a words=("${(@)ranked}") shown=()
    __tabsense_add_words 1
    groups=0
  fi
  for (( group = 1; group <= groups; group++ )); do
    calls=()
    for (( call = 1; call <= __tabsense_calls; call++ )); do
      (( __tabsense_group_of[call] != group )) || calls+=($call)
    done
    if (( $#calls == __tabsense_calls )); then
      items=("${(@)ranked}")
    else
      items=("${(@M)ranked:#*$nul(${(~j:|:)calls})}")
    fi
    (( $#items )) || continue
    if (( $#calls == 1 )); then
      __tabsense_add $calls "${(@)items}"
    else
      __tabsense_add_mixed
    fi
  done
  __tabsense_add_own
  local key value
  for key value in "${(@)__tabsense_state}"; do
    # Where a list was asked for there is nothing to insert.
    [[ $key == insert && -z ${compstate[insert]-} && -z $value ]] || compstate[$key]=$value
  done
}

# Adds items of several calls (items, calls and nul of the caller): neighbours of one call at once.
__tabsense_add_mixed() {
  local -i i first=1 count=$#items
  (( count <= __tabsense_single )) || count=__tabsense_single
  local item last= call
  for (( i = 1; i <= count; i++ )); do
    item=${items[i]#*$nul}
    call=${item#*$nul}
    if [[ $call != $last ]]; then
      [[ -z $last ]] || __tabsense_add $last "${(@)items[first,i-1]}"
      last=$call first=i
    fi
  done
  [[ -z $last ]] || __tabsense_add $last "${(@)items[first,count]}"
  (( count < $#items )) || return 0
  local -a tail=("${(@)items[count+1,-1]}") part
  for call in $calls; do
    part=("${(@M)tail:#*$nul$call}")
    (( ! $#part )) || __tabsense_add $call "${(@)part}"
  done
}

# Adds items with the options and in the context of call $1.
__tabsense_add() {
  local nul=$'\0' call=$1
  shift
  local -a shown=("${(@)@%%$nul*}") words=("${(@)@#*$nul}")
  words=("${(@)words%%$nul*}")
  __tabsense_add_words $call
}

# Adds words with their display strings (words and shown of the caller) as call $1 did.
# A function of its own: zsh puts PREFIX and its kin back when it returns.
__tabsense_add_words() {
  local name=${__tabsense_group_names[${__tabsense_group_of[$1]}]#*:}
  local -a context=("${(@ps:\0:)__tabsense_context[$1]}") options=()
  [[ -z $__tabsense_options_of[$1] ]] || options=("${(@ps:\0:)__tabsense_options_of[$1]}")
  PREFIX=$context[1] SUFFIX=$context[2] IPREFIX=$context[3] ISUFFIX=$context[4]
  [[ ${compstate[pattern_match]-} == $context[5] ]] || compstate[pattern_match]=$context[5]
  # The first of several equal options counts: ours.
  local -a own=(-V "$name" -o nosort)
  [[ -z ${(j::)shown} ]] || own+=(-d shown)
  builtin compadd "${own[@]}" "${options[@]}" -a -- words
}

# Adds what the client knows beyond the native matches: whole words, in a group of their own.
__tabsense_add_own() {
  (( $#__tabsense_added )) || return 0
  local record text dir base
  for record in "${(@)__tabsense_added}"; do
    text=${record#*$'\t'}
    if [[ $record == +w* ]]; then
      builtin compadd -U -V tabsense -- "$text"
    fi
    [[ $record == +[df]* ]] || continue
    [[ $text != \~/* || -z $compstate[quote] ]] || text=$HOME/${text#\~/}
    base=${text%/}
    dir=
    [[ $base != */* ]] || dir=${base%/*}/ base=${base##*/}
    builtin compadd -U -f -V tabsense -p "$dir" -W "${dir/#\~\//$HOME/}" -- "$base"
  done
}

# Now the widgets may use it.
__tabsense_ordering=1

fi
