# tabsense for fish, words into commands: a key turns what is typed into the command that it means, and
# so does a line that begins with a comma and a blank. Nothing is ever run: the command stands on the
# line, and undo brings the words back. `tabsense init fish` prints this after tabsense.fish.
#
# The key is $TABSENSE_DO_KEY as `bind` takes it; empty: no key; unset: Alt-Enter where that is free,
# and not in vi mode, where Escape and then Enter come as the same bytes.

status is-interactive; or return 0
test -n "$TERM" -a "$TERM" != dumb; or return 0

# What the key offers next, as long as the line is $__tabsense_do_shown.
set -g __tabsense_do_choices
set -g __tabsense_do_shown

# What the key calls.
function __tabsense_do_key
    set -l line (commandline -b | string collect)
    set -g __tabsense_do_labels
    if set -q __tabsense_do_choices[1]; and test "$line" = "$__tabsense_do_shown"
        # The next one; after the last the first again.
        __tabsense_do_put $__tabsense_do_choices[1]
        set -g __tabsense_do_choices $__tabsense_do_choices[2..-1] $__tabsense_do_choices[1]
        return
    end
    set -g __tabsense_do_choices
    set -g __tabsense_do_status 3
    string match -qr '\S' -- "$line"; and __tabsense_do_ask "$line"
    if test "$__tabsense_do_status" != 0; and not set -q TABSENSE_DO_KEY
        # These are no words: what fish does on Alt-Enter.
        commandline -i \n
        return
    end
    if set -q __tabsense_do_labels[1]
        # fish has no place for messages: below the line, then the prompt anew.
        printf '\n'
        printf '%s\n' $__tabsense_do_labels
        commandline -f repaint
    end
    set -q __tabsense_do_choices[1]; or return
    if test -n "$__tabsense_do_sure"
        __tabsense_do_put $__tabsense_do_choices[1]
        set -g __tabsense_do_choices
        set -g __tabsense_do_sure
    else
        set -g __tabsense_do_shown "$line"
    end
end

# Puts a choice on the line: where the cursor goes, a blank, the text.
function __tabsense_do_put --argument-names choice
    set -l text (string replace -r '^\d+ ' '' -- $choice | string collect)
    commandline -r -- "$text"
    commandline -C (string match -r '^\d+' -- $choice)
    set -g __tabsense_do_shown "$text"
end

# Asks what the words mean. Sets __tabsense_do_choices, _labels (what people are told), _sure and _status.
function __tabsense_do_ask --argument-names words
    set -g __tabsense_do_choices
    set -g __tabsense_do_labels
    set -g __tabsense_do_sure
    command -q -- $TABSENSE_BIN; or return
    set -l body (printf '%s\0' shell=fish session=$__tabsense_session "cwd=$PWD" "line=$words" unit=chars '' \
        (__tabsense_do_own_names) | command $TABSENSE_BIN do --hook 2>/dev/null | string split0
        echo $pipestatus[2])
    test "$body[-2]" = . -a "$body[1]" = v1; or return
    set -g __tabsense_do_status $body[-1]
    set -l first
    set -l cursor
    for record in $body[2..-3]
        # What to do comes with status 0 only.
        test "$body[-1]" = 0; or string match -q 'message=*' -- $record; or continue
        set -l value (string replace -r '^\w+=' '' -- $record | string collect)
        switch $record
            case 'line=*'
                set first "$value"
            case 'cursor=*'
                set cursor (string match -r '^\d+$' -- $value)
            case 'message=*'
                set -p __tabsense_do_labels (string replace -ra '\pC' ' ' -- $value | string collect)
            case 'choice=*'
                string match -qr '^\d+\t\d+\t.*\t' -- $value; or continue
                set -l text (string replace -r '(?s)^\d+\t\d+\t.*?\t' '' -- $value | string collect)
                set -l label (string replace -r '(?s)^\d+\t\d+\t(.*?)\t.*' '$1' -- $value | string collect)
                set -a __tabsense_do_choices (string match -r '^\d+' -- $value)" $text"
                set -a __tabsense_do_labels "  "(string replace -ra '\pC' ' ' -- "$label: $text" | string collect)
        end
    end
    if test -n "$first"
        test -n "$cursor"; or set cursor (string length -- "$first")
        set -g __tabsense_do_sure 1
        set -g __tabsense_do_choices "$cursor $first"
    end
end

# Aliases, abbreviations and functions of the user's own, one record each.
function __tabsense_do_own_names
    for line in (abbr --show 2>/dev/null)
        set -l part (string match -r -- '^abbr -a (?:.* )?-- (\S+) (.*)$' $line); or continue
        printf 'b\t%s\t%s\n' $part[2] (string unescape -- $part[3] | string join ' ')
    end
    # Not what comes with fish or with packages.
    set -l theirs (string replace -r '.*/(.*)\.fish$' '$1' -- $__fish_data_dir/functions/*.fish $__fish_vendor_functionsdirs/*.fish)
    for name in (functions --names | string match -v '*tabsense*' | string match -r '^[A-Za-z].*')
        contains -- $name $theirs; and continue
        # Where it is defined, and as fifth what it is for.
        set -l about (functions --details --verbose -- $name 2>/dev/null)
        string match -q -- "$__fish_data_dir/*" "$about[1]"; and continue
        set about $about[5]
        if string match -q "alias $name*" -- "$about"
            printf 'a\t%s\t%s\n' $name (string replace -r '^alias \S+?[= ]' '' -- $about)
        else
            printf 'f\t%s\t%s\n' $name (string match -v n/a -- $about)
        end
    end
end

# `, words`: puts the command on the next line.
function __tabsense_do_comma
    __tabsense_do_ask ", $argv"
    if set -q __tabsense_do_labels[1]
        printf '%s\n' $__tabsense_do_labels >&2
    else if not set -q __tabsense_do_choices[1]
        echo 'tabsense: no answer' >&2
    end
    set -g __tabsense_do_shown
    set -q __tabsense_do_choices[1]; or return 1
    test -n "$__tabsense_do_sure"; or return 1
    # While a command runs, this is the line of the next prompt.
    __tabsense_do_put $__tabsense_do_choices[1]
    set -g __tabsense_do_choices
end

# Binds the key. A chosen one in vi mode too, even if it begins with Escape, as function keys do: who
# names it wants it; mode insert is bound once there are bindings that have it. Else Alt-Enter unless
# the user has something there, and only with fish's default bindings.
function __tabsense_do_bind --on-variable fish_key_bindings
    set -l key \e\r
    # fish 4 has names for keys, and terminals that tell them apart.
    string match -qr '^[0-3]\.' -- $version; or set key alt-enter
    set -q TABSENSE_DO_KEY; and set key $TABSENSE_DO_KEY
    test -n "$key"; or return
    set -g __tabsense_do_bound $key
    set -l modes default
    if not contains -- "$fish_key_bindings" '' fish_default_key_bindings
        if not set -q TABSENSE_DO_KEY
            # fish's own again, if it was ours.
            string match -q '*__tabsense_do_key*' -- (bind --user -M default $key 2>/dev/null)
            and bind --user --erase -M default $key
            return
        end
        set -a modes insert
    end
    for mode in $modes
        set -q TABSENSE_DO_KEY; or not bind --user -M $mode $key >/dev/null 2>&1
        and bind --user -M $mode $key __tabsense_do_key
    end
end
__tabsense_do_bind

if not type -q ,
    function ,
        __tabsense_do_comma $argv
    end
end
