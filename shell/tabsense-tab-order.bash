# tabsense for bash, the order of what TAB offers: second half of what the first TAB reads, after
# tabsense-tab.bash.

if [ -z "$__tabsense_native" ]; then

  # Orders COMPREPLY for the word $1, or fills it where the shell would have listed files.
  __tabsense_rank() {
    local IFS=$'\n'
    __tabsense_heal
    __tabsense_client || return 0
    # One candidate that fits has no order.
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]-} != "$1"* ]] || return 0
    ((${#COMPREPLY[@]} <= __tabsense_most)) || return 0
    local answer flags item place code
    local -a items=() lines=()
    # A directory that took too long is not tried again until another one did.
    place=${PWD-}/${1%"${1##*/}"}
    [[ ${#COMPREPLY[@]} -gt 0 || $place != "$__tabsense_slow" ]] || return 0
    answer=$(__tabsense_ask "$1" 2>/dev/null) || {
      code=$?
      ((code != 4)) || __tabsense_slow=$place
      return 0
    }
    # shellcheck disable=SC2206
    lines=($answer)
    ((${#lines[@]} > 1)) || return 0
    flags=${lines[0]}
    for item in "${lines[@]:1}"; do
      item=${item#=}
      case $item in
        *\\*) printf -v item '%b' "$item" ;;
      esac
      items+=("$item")
    done
    [[ $flags != *f* ]] || compopt -o filenames 2>/dev/null
    [[ $flags != *n* ]] || compopt -o nospace 2>/dev/null
    [[ $flags != *p* ]] || compopt +o plusdirs 2>/dev/null
    compopt -o nosort 2>/dev/null || return 0
    COMPREPLY=("${items[@]}")
  }

  # --- completions: what runs in a subshell, which may change options and fail

  # Asks for the order of COMPREPLY for the word $1. Prints a line of flags (f: file names,
  # n: no blank after it, p: with the directories of `plusdirs`), then a line `=CANDIDATE` each, as for printf's %b.
  __tabsense_ask() {
    # lastpipe works without job control only.
    set +m
    shopt -s lastpipe
    shopt -u nocasematch failglob nullglob
    local word=$1 options flags='' quote='' raw base='' plain add=0 sure=0 unit=bytes
    local -a list=() reply=()
    options=$(\builtin compopt)
    raw=${COMP_WORDS[COMP_CWORD]-}
    case $raw in
      [\"\']*) [[ $word == "$raw" ]] || quote=${raw:0:1} ;;
    esac
    __tabsense_base
    plain=$word
    [[ $quote == "'" ]] || __tabsense_unquote
    if ((${#COMPREPLY[@]})); then
      list=("${COMPREPLY[@]}")
      __tabsense_cut
      case $options in
        *'-o plusdirs'*) __tabsense_more_directories ;;
      esac
      case $options in
        *'-o nosort'*) __tabsense_once ;;
        *) __tabsense_sort ;;
      esac
      ((${#list[@]} > 1)) || [[ ${list[*]} != "${COMPREPLY[*]}" ]] || return 1
    else
      __tabsense_files || return 1
      ((${#list[@]})) || add=1
    fi
    case $options in
      *'-o filenames'*) flags+=f ;;
    esac
    # A list that is asked for, and going through the candidates, need all of them.
    [[ ${COMP_TYPE-} != 9 ]] || sure=1
    __tabsense_send "${list[@]}"
  }

  # Sends the candidates and prints the answer. Fails unless the answer is complete and right.
  __tabsense_send() {
    local e=$'\303\251' name item
    local -a told=() order=() added=() seen=()
    ((${#e} > 1)) || unit=chars
    for item; do
      case $flags in
        *f*)
          __tabsense_path "$item"
          [[ ! -d $name || $item == */ ]] || item+=/
          ;;
        *)
          # Not file names: what the function offers is shell text, often with its own blank.
          item=${item% }
          item=${item//\\/}
          ;;
      esac
      told+=("$item")
    done
    {
      printf '%s\0' 'shell=bash' "session=$__tabsense_session" "line=$COMP_LINE" \
        "cursor=$COMP_POINT" "unit=$unit" "cwd=${PWD-}" "base=$base" 'pairs=0' "add=$add" "sure=$sure"
      [[ $plain == *[\"\'\`\$]* && -z $quote ]] || printf '%s\0' "word=$base$plain"
      printf '\0'
      ((${#told[@]} == 0)) || printf '%s\0' "${told[@]}"
    } | "$TABSENSE_BIN" complete --hook | mapfile -d '' -t reply
    ((PIPESTATUS[1] == 0 && ${#reply[@]} > 2)) || return 1
    [[ ${reply[0]} == v1 && ${reply[-1]} == . ]] || return 1
    if [[ ${reply[1]} == '!sure' ]]; then unset 'reply[1]'; else sure=0; fi
    unset 'reply[0]' 'reply[-1]'
    for item in "${reply[@]}"; do
      case $item in
        =*[!0-9]* | = | =??????*) return 1 ;;
        =*)
          item=$((10#${item#=}))
          [[ $item -lt $# && -z ${seen[item]-} ]] || return 1
          seen[item]=1
          order+=("$item")
          ;;
        +?$'\t'*) added+=("${item#+}") ;;
        \?*) ;;
        *) return 1 ;;
      esac
    done
    ((${#order[@]} == $#)) || return 1
    # Sure: as if there were only the first.
    ((!sure)) || order=("${order[@]:0:1}") added=("${added[@]:0:1}")
    (($#)) || __tabsense_added || return 1
    printf '%s\n' "$flags."
    local -a given=("$@")
    for item in "${order[@]}"; do
      __tabsense_print "${given[item]}"
    done
  }

  # Prints one candidate for __tabsense_rank.
  __tabsense_print() {
    local text=${1//\\/\\\\}
    printf '=%s\n' "${text//$'\n'/\\n}"
  }

  # The engine's own candidates, where the shell had none. Several that share less than what is
  # typed would make readline shorten the line: an empty one keeps it.
  __tabsense_added() {
    local text common=''
    local -a texts=()
    ((${#added[@]})) || return 1
    for text in "${added[@]}"; do
      [[ $text != l* ]] || continue
      text=${text#?$'\t'}
      [[ $text == "$base"?* ]] || continue
      # bash leaves these live in what is no file.
      [[ $text != *[\`\$]* || -e $text || -L $text ]] || continue
      texts+=("${text#"$base"}")
    done
    ((${#texts[@]})) || return 1
    common=${texts[0]}
    for text in "${texts[@]}"; do
      while [[ $text != "$common"* ]]; do
        common=${common%?}
      done
    done
    if ((${#texts[@]} > 1)) && [[ $common != "$plain"* ]]; then
      # readline would quote what is typed once more.
      [[ $word == "$plain" && $word != *[!A-Za-z0-9_./,+@%~-]* ]] || return 1
      texts+=('')
    fi
    # As file names they get quotes where needed.
    flags=fn
    for text in "${texts[@]}"; do
      [[ $text == */ ]] || flags=f
    done
    printf '%s\n' "$flags."
    for text in "${texts[@]}"; do
      __tabsense_print "$text"
    done
    exit 0
  }

  # Sets `base`: what precedes the word within the argument (bash cuts at COMP_WORDBREAKS).
  __tabsense_base() {
    local left=${COMP_LINE:0:COMP_POINT} rest=$quote$word part
    local -i i=COMP_CWORD
    [[ $left == *"$rest" ]] || return 0
    left=${left%"$rest"}
    # The word itself: a part of COMP_WORDS, or two when it begins with `@`, or none when empty.
    while ((i > 0)) && [[ -n $rest ]]; do
      part=${COMP_WORDS[i]-}
      [[ $part != "$rest"* ]] || part=$rest
      [[ $rest == *"$part" ]] || break
      rest=${rest%"$part"}
      i+=-1
    done
    while ((i > 0)); do
      part=${COMP_WORDS[i]-}
      [[ -n $part && $left == *"$part" && $part != *[\;\|\&\<\>\(\)\"\'\`\$]* ]] || break
      base=$part$base
      left=${left%"$part"}
      i+=-1
    done
    base=${base//\\/}
  }

  # Takes the backslashes out of `plain`.
  __tabsense_unquote() {
    local rest=$plain
    [[ $rest == *\\* ]] || return 0
    plain=''
    while [[ $rest == *\\?* ]]; do
      plain+=${rest%%\\*}
      rest=${rest#*\\}
      # Inside double quotes a backslash is one unless it quotes.
      [[ $quote != '"' || $rest == [\$\`\"\\$'\n']* ]] || plain+=\\
      plain+=${rest:0:1}
      rest=${rest:1}
    done
    plain+=$rest
  }

  # A completion that answers with whole arguments, or does not look at what is typed: keeps what
  # fits, without the part that stands before the word.
  __tabsense_cut() {
    local item
    local -a fit=()
    if [[ -n $base ]]; then
      for item in "${list[@]}"; do
        [[ $item != "$base$plain"* ]] || fit+=("${item#"$base"}")
      done
    elif [[ -n $plain && $options != *'-o filenames'* ]]; then
      for item in "${list[@]}"; do
        [[ $item != "$plain"* && $item != "$word"* && ${item,,} != "${plain,,}"* ]] || fit+=("$item")
      done
    fi
    ((${#fit[@]} == 0)) || list=("${fit[@]}")
  }

  # What the option `plusdirs` adds: part of the order, so it is made here.
  __tabsense_more_directories() {
    local -a directories=()
    builtin compgen -d -- "$word" | mapfile -t directories
    flags+=p
    ((${#directories[@]})) || return 0
    flags+=f
    list+=("${directories[@]}")
  }

  # The shell's own order: as readline sorts it, each once.
  __tabsense_sort() {
    local last=''
    local -a sorted=()
    printf '%s\0' "${list[@]}" | command sort -z | mapfile -d '' -t sorted
    ((${#sorted[@]} == ${#list[@]})) || sorted=("${list[@]}")
    list=()
    for item in "${sorted[@]}"; do
      [[ $item == "$last" ]] || list+=("$item")
      last=$item
    done
  }

  # Each candidate once, in the order of the completion function.
  __tabsense_once() {
    local item
    local -A known=()
    local -a given=("${list[@]}")
    list=()
    for item in "${given[@]}"; do
      [[ -z ${known["x$item"]-} ]] || continue
      known["x$item"]=1
      list+=("$item")
    done
  }

  # The files that the shell would list for the word, when its options say so. Fails when the shell
  # had better do it: expansions, patterns, hosts, users, odd names, or a directory that takes long.
  __tabsense_files() {
    local action item name directory=''
    case $options in
      *'-o dirnames'*) action=-d ;;
      *'-o default'*) action=-f ;;
      *) return 0 ;;
    esac
    case $word in
      *[\`\*\?\[]* | @* | \$*) return 1 ;;
      *\$*) [[ $quote == "'" ]] || return 1 ;;
      '~'*) [[ $word == '~'*/* ]] || return 1 ;;
    esac
    builtin compgen "$action" -- "$word" | command sort | {
      # The first line comes when the directory has been read. End of file is no candidate either.
      IFS= read -r -t "$__tabsense_patience" item || (($? == 1)) || exit 4
      [[ -z $item ]] || list=("$item")
      mapfile -t -n "$__tabsense_most" -O "${#list[@]}" list
    }
    ((${#list[@]} <= __tabsense_most)) || return 1
    flags=f
    [[ $word != */* ]] || directory=${word%/*}/
    for item in "${list[@]}"; do
      __tabsense_path "$item"
      # A name with a newline comes in pieces, and a piece may be the name of another file.
      [[ $item == "$directory"* && (-z $name || -e $name || -L $name) ]] || return 1
    done
    [[ $action != -d || ${#list[@]} -gt 0 ]] || case $options in
      *'-o default'*)
        options='-o default'
        __tabsense_files
        ;;
    esac
  }

  # Sets `name` to the file that the candidate $1 stands for; empty when only bash knows.
  __tabsense_path() {
    name=$1
    [[ -z $quote ]] || return 0
    case $name in
      \~/*) name=${HOME-}/${name#??} ;;
      \~*/*) name='' ;;
    esac
  }

fi
