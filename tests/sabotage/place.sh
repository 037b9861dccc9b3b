# Where the change of a .sab file goes. For tests/sabotage/run and tests/project_test.sh, which source it; $symbols is
# the file that tests/sabotage/symbols made of the sources.

field() { sed -n "s/^$2: *//p" "tests/sabotage/$1.sab"; }
place() { # place NAME: a file, and on the next lines a sed script for it; or why there is no such place, and status 1
    local file symbol where files
    file=$(field "$1" file) symbol=$(field "$1" in)
    if [[ -z $symbol ]]; then
        [[ -f $file ]] || { echo "${file:-its file} is not there"; return 1; }
        printf '%s\n' "$file"
        field "$1" sed
        return
    fi
    where=$(awk -F'\t' -v symbol="${symbol##*:}" -v name="${symbol%"${symbol##*:}"}" '
        BEGIN { sub(/:$/, "", name) }
        $1 == symbol && (name == "" || ("/" $2) ~ ("/" name "$"))' "$symbols")
    files=$(cut -f2 <<<"$where" | sort -u)
    [[ -n $files ]] || { echo "no source defines $symbol"; return 1; }
    [[ $(wc -l <<<"$files") == 1 ]] || { echo "several files define $symbol (say FILE:$symbol):" $files; return 1; }
    printf '%s\n' "$files"
    awk -F'\t' -v script="$(field "$1" sed | sed 's/\\/\\\\/g')" '{ print $3 "," $4 "{"; print script; print "}" }' <<<"$where"
}
changes() { # changes NAME: how many lines it would change, of which file; or why there is no such place, and status 1
    local at file
    at=$(place "$1") || { echo "$at"; return 1; }
    file=${at%%$'\n'*}
    echo "$(sed -E -e "${at#*$'\n'}" "$file" | diff "$file" - | grep -cE '^(<|[0-9,]+a)')" "$file"
}
