#!/usr/bin/env bash
# `make gpu-check`: its folder is complete and small enough to copy, and its script detects differences. The
# simulated card replaces the real one here. Compiling for every card and running every case take minutes, so this
# test only sees that the real card's library compiles, and runs the solutions; the long run does it all.
. "$(dirname "$0")/shell.sh"
B=$(realpath "$B")
most=$((48 << 20))
short=() all=$B/gpu refused=$B/gpu
[[ -n ${LONG:-} ]] || short=(CARRIED_LIBRARY=) all=$work/solutions refused=$work/few

agrees() { "$all/run" sim >"$work/sim"; cat "$work/sim"; grep -q '^[1-9][0-9]* passed, 0 failed$' "$work/sim"; }
answers() { grep "^ok      PyTorch's answers: [1-9][0-9]* passed, 0 failed" "$work/sim"; }
part() { mkdir "$work/$1" && ln -s "$B"/gpu/* "$work/$1" && rm "$work/$1/cases" && cat >"$work/$1/cases"; } # part FOLDER <CASES
parts() { # folders with some of its cases: every solution's, and a few of those
    grep -E '/solution\b|^[a-z]+\b' "$B/gpu/cases" | part solutions && sed -n '1~4p' "$work/solutions/cases" | part few &&
        (($(wc -l <"$work/few/cases") >= 10))
}
sees() { # sees PLANT: after this change to the second log every case with an affected line must fail
    ! PLANT=$1 "$work/few/run" sim >"$work/planted" && grep -q '^not ok' "$work/planted"
}
misses_a_program() { # a case that the folder's program does not have
    printf 'ops\t\n99-none/solution\tx:float32:8\n' | part unknown && ! "$work/unknown/run" sim >"$work/said"
    cat "$work/said"
    grep -q '^ok      ops' "$work/said" && grep -A 1 '^not ok  99-none/solution' "$work/said" | grep -q "there is no '99-none/solution'"
}
says_why() { # without a card: every case fails, by name and with the reason
    ! "$refused/run" real >"$work/real" && ! grep -q '^ok' "$work/real" &&
        [[ $(grep -c 'no card answered: .*FERRY_GPU=real' "$work/real") == $(wc -l <"$refused/cases") ]]
}
equal_ops() { # until the end of the file
    FERRY_GPU=sim "$B/gpu/bin/check" ops >"$work/ops" && grep -q '^arange: equal$' "$work/ops" && ! grep ': differs$' "$work/ops"
}
carries() {
    local source program
    "$B/gpu/bin/check" none 2>"$work/known"
    for source in lessons/*/solution.c lessons/0[1-3]-*/wrong_*.c; do
        program=${source#lessons/}
        grep -q "^${program%.c}"$'\t.' "$B/gpu/cases" && grep -qE " ${program%.c}(,|$)" "$work/known" || { echo "$program"; return 1; }
    done
}
small() { # without files that are useless there
    du -sb "$B/gpu" && (($(du -sb "$B/gpu" | cut -f 1) <= most)) && [[ -z $(find "$B/gpu" -name '*.d' -o -name '*.o') ]] &&
        ! readelf -S "$B/gpu/bin/check" | grep -F .debug
}
needs_glibc_alone() { # all other libraries that its programs need are in the folder
    local file missing=
    [[ -x $B/gpu/bin/check && -e $B/gpu/lib/libgcc_s.so.1 ]] || return 1
    for file in "$B"/gpu/bin/* "$B"/gpu/lib/*; do
        [[ $file != *.gz ]] || { gunzip -c "$file" >"$work/packed" && file=$work/packed; }
        missing+=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
            grep -vxE '(libc|libm|libpthread|libdl|librt)\.so\.[0-9]+|ld-linux.*' | while read -r name; do
            [[ -e $B/gpu/lib/$name || -e $B/gpu/lib/$name.gz ]] || echo "$name "
        done)
    done
    echo "missing: $missing"
    [[ -z $missing ]]
}
refuses_a_large_one() {
    gcc -shared -x c /dev/null -o "$work/library" && truncate -s $((48 << 20)) "$work/library"
    ! tests/gpu/pack "$work/large" "$B/cases/check" "$work/library" 2>"$work/said" && [[ ! -e $work/large ]] &&
        grep 'it may have 48' "$work/said" && grep 'lib/libferry-cuda.so' "$work/said"
}
holds "what a real card needs compiles" make -s B="$B" real-compiles
holds "make gpu-check builds its folder" make -s B="$B" "${short[@]}" gpu-check
holds "it carries every solution, and wrong answers, with inputs" carries
holds "it has at most 48 MiB, stripped" small
holds "what it needs but glibc is in it" needs_glibc_alone
holds "a larger one is refused, saying what is large" refuses_a_large_one
holds "some of its cases make a folder" parts
holds "the simulated card agrees with itself on every case" agrees
holds "it gives PyTorch's answers there" answers
holds "every operation agrees with the CPU" equal_ops
holds "a case without a program is seen" misses_a_program
holds "a copy that is missing is seen" sees '/"kind":"copy"/d'
holds "another kernel is seen" sees 's/"kernel":"[a-z]*_f32"/"kernel":"other"/'
holds "other bytes are seen" sees 's/"bytes":[0-9]*/"bytes":1/'
if [[ -e /dev/nvidia0 ]]; then
    holds "a real card agrees with the simulated one" "$B/gpu/run"
else
    holds "without a card each case says that none answered" says_why
fi
finish
