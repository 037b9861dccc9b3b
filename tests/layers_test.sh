#!/usr/bin/env bash
# The floors of lib/: a file refers to its own folder and to those below it, never up. What must go up is a hook
# that the upper floor sets (lib/base/session_hooks.h). Judged by the symbols of the objects and by #include lines.
. "$(dirname "$0")/shell.sh"

floors="kernels base trace cpu devices order memory tensors ops session" # the lowest first

# up: of lines "folder file folder file what", from and to, those that go up. A folder without a floor is below all.
up() {
    ! awk -v floors="$floors" '
        BEGIN { n = split(floors, name, " "); for (i = 1; i <= n; i++) floor[name[i]] = i }
        $1 != $3 && !(floor[$3] && floor[$1] > floor[$3]) { print $1 "/" $2 " refers up to " $3 "/" $4 ": " $5 }' | grep .
}
objects() { # those whose source is still there
    local o source
    find "$B/kernels" "$B/lib" -name '*.o' | while read -r o; do
        source=${o#"$B"/} source=${source%.o}
        [[ ! -e $source && ! -e $source.c ]] || echo "$o"
    done
}
# Every symbol that one object defines and another needs; a weak need counts too.
symbols() {
    # shellcheck disable=SC2046 # one word an object
    nm -A $(objects) | awk -F: '
        { n = split($1, path, "/"); where = path[n - 1] " " path[n]; m = split($2, column, " "); type = column[m - 1] }
        type ~ /^[TDBRCVWGS]$/ { home[column[m]] = where }
        type ~ /^[Uwv]$/ { need[++count] = where; symbol[count] = column[m] }
        END { for (i = 1; i <= count; i++) if (symbol[i] in home) print need[i], home[symbol[i]], symbol[i] }'
}
includes() {
    { find lib/*/ -name '*.h'; grep -HE '^#include "[a-z_]+\.h"' lib/*/*.[ch]; } | awk -F'[:/"]' '
        NF == 3 { folder[$3] = $2; next }
        $5 in folder { print $2, $3, folder[$5], $5, "#include" }'
}

every_folder_has_a_floor() {
    local folder wrong=0
    for folder in lib/*/; do
        folder=$(basename "$folder")
        [[ " $floors " == *" $folder "* ]] || { echo "lib/$folder has no floor"; wrong=1; }
    done
    return $wrong
}
symbols_go_down() { symbols >"$work/symbols" && [[ $(wc -l <"$work/symbols") -gt 500 ]] && up <"$work/symbols"; }
includes_go_down() { includes >"$work/includes" && [[ $(wc -l <"$work/includes") -gt 300 ]] && up <"$work/includes"; }
one_name_one_header() { # where two folders had a header of one name, which is meant would hang on the search path
    ! find lib -name '*.h' -printf '%f\n' | sort | uniq -d | grep .
}
an_upward_call_is_seen() { # the judge itself: one more symbol and one more line, both upward
    ! echo "base text.o session session.o fy_narrate" | up && ! echo "order stream.h memory storage.h include" | up
}

holds "every folder of lib has a floor" every_folder_has_a_floor
holds "no object of lib refers to a floor above its own" symbols_go_down
holds "no file of lib includes a floor above its own" includes_go_down
holds "no two headers of lib share a name" one_name_one_header
holds "an upward reference is noticed and shown" an_upward_call_is_seen
finish
