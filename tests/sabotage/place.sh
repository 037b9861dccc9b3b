# Where the changes of .sab files go. For tests/sabotage/run and tests/project_test.sh, which source it; $symbols is
# the file that tests/sabotage/symbols made of the sources.

field() { sed -n "s/^$2: *//p" "tests/sabotage/$1.sab"; }
place() { # place NAME...: for each a line of NAME, FILE and a sed script for it; or NAME, "-" and why there is no such place
    awk -F'\t' '
        function done(   name, symbol, i, n, at, part, files, script) {
            if (sab == "") return
            if ("in" in key) {
                name = symbol = key["in"]
                sub(/.*:/, "", symbol)
                sub(/:?[^:]*$/, "", name)
                n = split(where[symbol], at, "\n")
                for (i = 1; i < n; i++) {
                    split(at[i], part, "\t")
                    if (name != "" && substr("/" part[1], length(part[1]) + 1 - length(name)) != "/" name) continue
                    if (!index(files " ", " " part[1] " ")) files = files " " part[1]
                    script = script part[2] "," part[3] "{" key["sed"] "};"
                }
                if (files == "") print sab "\t-\tno source defines " symbol
                else if (index(substr(files, 2), " ")) print sab "\t-\tseveral files define " symbol " (say FILE:" symbol "):" files
                else print sab "\t" substr(files, 2) "\t" script
            } else print sab "\t" key["file"] "\t" key["sed"]
            split("", key)
        }
        FNR == NR { where[$1] = where[$1] $2 "\t" $3 "\t" $4 "\n"; next }
        FNR == 1 { done(); sab = FILENAME; sub(/.*\//, "", sab); sub(/\.sab$/, "", sab) }
        match($0, /^[a-z]+: */) { part = substr($0, 1, RLENGTH); sub(/:.*/, "", part); key[part] = substr($0, RLENGTH + 1) }
        END { done() }' "$symbols" $(printf 'tests/sabotage/%s.sab ' "$@")
}
lines_changed() { sed -E -e "$2" "$1" | diff "$1" - | grep -cE '^(<|[0-9,]+a)'; } # lines_changed FILE SCRIPT
changes() { # changes NAME: how many lines it would change, of which file; or why there is no such place, and status 1
    local file script
    IFS=$'\t' read -r _ file script < <(place "$1")
    [[ $file != - ]] || { echo "$script"; return 1; }
    [[ -f $file ]] || { echo "${file:-its file} is not there"; return 1; }
    echo "$(lines_changed "$file" "$script") $file"
}
