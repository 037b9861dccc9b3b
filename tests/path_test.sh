#!/usr/bin/env bash
# How many functions and folders a reader must follow for one copy to the card: fy_to(on_cpu, "cuda")
# in a warmed-up program with an open log (call_path.c).
#
#   functions   distinct functions of lib/ that the call enters, including inline ones of headers
#   changes     in call order: how often a function's folder differs from the previous function's.
#               Returns are not counted: the reader continues in the caller. Nor is lib/base:
#               locks, sizes of types and the clock are used everywhere, like libc.
#
# lib/cpu is taken as built, since compiling it takes long and a copy does not enter it.
. "$(dirname "$0")/shell.sh"

as_built() { printf '%s\n' "$@" | sed -E "s|^|$B/|; s|\.c$||; s|$|.o|"; } # their objects
build() {
    local flags="-std=gnu11 -O0 -g1 -gdwarf-4 -fno-inline -DFERRY_INSIDE -DFERRY_VERSION=\"0\" -Ilib $(printf -- '-I%s ' lib/*/)"
    # shellcheck disable=SC2016,SC2046 # expanded by the inner shell; libraries are words
    printf '%s\n' lib/*/*.c | grep -vE '^lib/(cpu/|devices/cuda(_entry)?\.c)' |
        xargs -P "$(nproc)" -I{} sh -c 'gcc $1 -finstrument-functions -c "$2" -o "$3/$(basename "$2" .c).o"' - "$flags" {} "$work" &&
        gcc -std=gnu11 -O1 -Ilib tests/call_path.c "$work"/*.o $(as_built lib/cpu/*.c kernels/*.cu kernels/*.cc) \
            $(make -s B="$B" core-libs) -o "$work/call_path"
}
follow() { # a line for each function entered: first or again, folder, file:line:function
    FERRY_GPU=sim FERRY_TRACE=$work/log.jsonl "$work/call_path" >"$work/steps" && [[ -s $work/log.jsonl ]] || return 1
    cut -d' ' -f2 "$work/steps" | addr2line -f -e "$work/call_path" | paste -d' ' - - |
        sed -E 's|^([^ ]+) .*/lib/([a-z]+)/([^ ]*).*|\2 \3:\1|' |
        paste -d' ' <(cut -d' ' -f1 "$work/steps") - >"$work/path"
    [[ $(grep -cE '^again [a-z]+ [a-z_]+\.[ch]:[0-9]+:[a-z_0-9]+$' "$work/path") -ge 100 ]]
}
functions() { awk -v call="$1" '$1 == call { print $2, $3 }' "${2:-$work/path}" | sort -u | wc -l; }
changes() { # the folders in call order without repetitions and without one of them
    awk -v call="$1" -v out="${3-base}" '$1 == call && $2 != out { print $2 }' "${2:-$work/path}" | uniq | tail -n +2 | wc -l
}
all_changes() { changes "$1" "$work/path" ""; } # including lib/base
at_most() { # at_most LIMIT COUNT CALL
    local found
    found=$("$2" "$3")
    [[ $found -gt 0 && $found -le $1 ]] || { echo "$found $2, $1 at most"; awk '$1 == "again" { print $2 "/" $3 }' "$work/path" | uniq; return 1; }
}
known_path() { # tests the counting itself
    printf '%s\n' 'again ops a.c:1' 'again base b.h:2' 'again ops a.c:9' 'again order c.c:3' 'again ops a.c:1' 'first ops a.c:7' >"$work/known"
    [[ $(functions again "$work/known") == 4 && $(changes again "$work/known") == 2 && $(changes first "$work/known") == 0 ]]
}

holds "functions and changes of folder are counted right" known_path
holds "lib builds with every entry of a function noted" build
holds "a copy to the card is followed, twice" follow
holds "a copy to the card calls at most 141 functions" at_most 141 functions again
holds "a copy changes the folder at most 33 times" at_most 33 changes again
holds "with lib/base it changes the folder at most 57 times" at_most 57 all_changes again
for call in first again; do echo "# $call: $(functions $call) functions, $(changes $call) changes of folder, $(all_changes $call) with lib/base counted"; done
finish
