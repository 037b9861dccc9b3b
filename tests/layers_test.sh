#!/usr/bin/env bash
# The layers of lib/, viewer/ and www/: a file refers to its own folder and those below, never up. An upward call
# goes through a hook that the upper layer sets (lib/base/session_hooks.h). Checks the symbols of the objects, and
# includes and imports.
. "$(dirname "$0")/shell.sh"

# The lowest first; a name with a slash is a folder of viewer/ or www/.  www/library is made by make.
lib="base kernels trace cpu devices order memory tensors ops autograd nn optim amp data session"
viewer="viewer/files viewer/trace viewer/sandbox viewer/compile viewer/whatif viewer/analyze viewer/grade viewer/server
    viewer/embed viewer/lessons viewer/class viewer/export viewer/where viewer/command"
www="www/library www/model www/stage www/panes www/cost www/runs www/lessons www"
floors="$lib $viewer $www"

# up: those lines "folder file folder file what", from and to, that refer upward. A folder without a layer is lowest.
up() {
    ! awk -v floors="$(echo $floors)" '
        BEGIN { n = split(floors, name, " "); for (i = 1; i <= n; i++) floor[name[i]] = i }
        $1 != $3 && !(floor[$3] && floor[$1] > floor[$3]) { print $1 "/" $2 " refers up to " $3 "/" $4 ": " $5 }' | grep .
}
objects() { # those whose source still exists
    local o source
    find "$B/kernels" "$B/lib" "$B/viewer" -name '*.o' | while read -r o; do
        source=${o#"$B"/} source=${source%.o}
        [[ ! -f $source && ! -f $source.c ]] || echo "$o"
    done
}
# Every symbol that one object defines and another needs, weak ones too. Not counted: files that replace another if
# a library is missing (no_server.c), which define the same names, and names of libc.
symbols() {
    # shellcheck disable=SC2046 # one word per object
    nm -A $(objects | grep -v /no_server.o) | awk -F: '
        { n = split($1, path, "/"); folder = path[n - 1]; if (path[n - 2] == "viewer") folder = "viewer/" folder
          where = folder " " path[n]; m = split($2, column, " "); type = column[m - 1] }
        type ~ /^[TDBRCVWGS]$/ { home[column[m]] = where }
        type ~ /^[Uwv]$/ && column[m] !~ /^pthread_/ { need[++count] = where; symbol[count] = column[m] }
        END { for (i = 1; i <= count; i++) if (symbol[i] in home) print need[i], home[symbol[i]], symbol[i] }'
}
includes() { # of lib and of viewer: a header of that name in the file's own half goes first, as the compiler has it
    { find lib/*/ viewer/*/ -name '*.h'; grep -HE '^#include "[a-z_]+\.h"' lib/*/*.[ch] viewer/*/*.[ch]; } | awk -F'[:/"]' '
        function name(half, folder) { return half == "lib" ? folder : half "/" folder }
        NF == 3 { folder[$1, $3] = $2; next }
        { half = ($1, $5) in folder ? $1 : "lib" }
        (half, $5) in folder { print name($1, $2), $3, name(half, folder[half, $5]), $5, "#include" }'
}
imports() {
    grep -HoE "(from |import ?\(?)'\.[^']+'" www/*.js www/*/*.js | while IFS=: read -r file import; do
        import=$(realpath -m --relative-to=. "$(dirname "$file")/$(cut -d"'" -f2 <<<"$import")")
        echo "$(dirname "$file") $(basename "$file") $(dirname "$import") $(basename "$import") import"
    done
}

every_folder_has_a_floor() {
    local folder wrong=0
    for folder in lib/*/ viewer/*/ www/*/; do
        folder=${folder%/} folder=${folder#lib/}
        [[ " $(echo $floors) " == *" $folder "* ]] || { echo "$folder has no floor"; wrong=1; }
    done
    return $wrong
}
go_down() { # go_down LEAST COMMAND: no line refers upward, and there are at least LEAST lines
    $2 >"$work/edges" && [[ $(wc -l <"$work/edges") -ge $1 ]] && up <"$work/edges"
}
one_name_one_header() { # otherwise the search path would decide between two headers of the same name
    ! find lib viewer -name '*.h' -printf '%f\n' | sort | uniq -d | grep .
}
an_upward_call_is_seen() { # tests the check itself
    ! echo "base text.o session session.o fy_narrate" | up && ! echo "order stream.h memory storage.h #include" | up &&
        ! echo "viewer/trace trace.o viewer/server server.o server_start" | up
}
two_names_for_programs() { # a program that links libferry-view.a may have a function of its own called `found`
    [[ $(nm -g --defined-only "$B/viewer/cost.o" | awk '{ print $3 }' | sort | xargs) == 'fy_run_findings fy_run_whatif' ]]
}

# A call is recorded by its frame (lib/trace/frame.h), and a call site is a line of the program.
each_call_opens_a_frame() {
    awk '
        /^[a-z#].*_at\(fy_site \*at/ || /^    fy_tensor \*fy_##name##_+at\(fy_site/ { if ($0 !~ /;/) { call = $0; line = FNR; where = FILENAME; seen++ } }
        call && /FY_CALL\(at\)|FY_REGION_OF_BLOCK\(at/ { call = "" }
        call && FNR > line + 6 { print where ":" line ": " call; call = ""; wrong = 1 }
        END { exit wrong || seen < 190 }' lib/*/*.c
}
the_library_has_no_call_site() { ! nm -A "$B"/lib/*/*.o | grep ' [bBdD] fy_site_'; }

holds "each function with a call site opens a frame" each_call_opens_a_frame
holds "no object of the library has its own call site" the_library_has_no_call_site
holds "every folder of lib, viewer and www has a floor" every_folder_has_a_floor
holds "no object refers to a floor above its own" go_down 1000 symbols
holds "no C file includes a floor above its own" go_down 500 includes
holds "no page module imports a floor above its own" go_down 30 imports
holds "no two headers share a name" one_name_one_header
holds "an upward reference is noticed and shown" an_upward_call_is_seen
[[ ! -f $B/viewer/cost.o ]] || # no civetweb
    holds "findings in a program add two names to it" two_names_for_programs
finish
