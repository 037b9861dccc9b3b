#!/usr/bin/env bash
# `make gpu-check`: its folder is complete and small enough to copy, its script detects differences, and all of it is
# rehearsed on a stand-in for the card (tests/standin), whose work takes time. Compiling for every card and running every
# case take minutes, so this test only sees that the real card's library compiles, and runs every other solution; the long
# run does it all.
. "$(dirname "$0")/shell.sh"
B=$(realpath "$B")
most=$((48 << 20))
export STREAMS_SIDE=32 # simulated, larger products take half a minute
short=() all=$B/gpu refused=$B/gpu
[[ -n ${LONG:-} ]] || short=(CARRIED=) all=$work/half refused=$work/fewest

part() { mkdir "$work/$1" && ln -s "$B"/gpu/* "$work/$1" && rm "$work/$1/cases" && cat >"$work/$1/cases"; } # part FOLDER <CASES
parts() { # folders with some of its cases: every solution's, half of them; a few, with those in which times matter most; three
    grep -E '/solution\b|^[a-z]+\b' "$B/gpu/cases" | part solutions &&
        sed -n '1~6p; /^09-timing/p; /^23-reuse/p; /^27-training-step/p' "$work/solutions/cases" | sort -u | part few &&
        sed -n '1~2p' "$work/solutions/cases" | sort -u - "$work/few/cases" | part half &&
        sed -n '1~5p' "$work/few/cases" | head -n 3 | part fewest && (($(wc -l <"$work/few/cases") >= 10 && $(wc -l <"$work/fewest/cases") == 3))
}
on_standin() { # on_standin FOLDER CASES LIBRARY MEASURE: a folder as for a card, with the stand-in in place of the library
    mkdir "$1" && ln -s "$B"/gpu/* "$1" && rm "$1"/{lib,bin,cases} && mkdir "$1"/{lib,bin} && ln -s "$B"/gpu/lib/* "$1/lib" &&
        ln -sf "$3" "$1/lib/libferry-cuda.so" && ln -s "$B/gpu/bin/check" "$B/standin/measure" "$1/bin" && cp "$2/cases" "$1"
}
standins() {
    make -s B="$B" "${B#"$PWD"/}"/standin/{libferry-cuda.so,measure} && on_standin "$work/rehearsal" "$all" "$B/standin/libferry-cuda.so" &&
        on_standin "$work/short" "$work/few" "$B/standin/libferry-cuda.so" || return 1
    [[ -z ${LONG:-} ]] || ! fuses || { make -s B="$B" "${B#"$PWD"/}/standin/fused/libferry-cuda.so" && on_standin "$work/fused" "$all" "$B/standin/fused/libferry-cuda.so"; }
}
fuses() { grep -qw fma /proc/cpuinfo; } # can this processor?
agrees() { # agrees FOLDER MICROSECONDS: all cases agree where a card's work takes so long
    STANDIN_US=$2 "$work/$1/compare" >"$work/said"
    cat "$work/said"
    grep -q '^[1-9][0-9]* passed, 0 failed$' "$work/said" && grep "^ok      PyTorch's answers: [1-9][0-9]* passed, 0 failed" "$work/said"
}
leaves_out() { # of made-up events what a card alone knows is left out, and nothing else
    mkdir "$work/schema" && cp tests/gpu/canonical "$work/schema" && cat >"$work/schema/schema.h" <<'X' || return 1
    KIND(warm, "a real card was used for the first time") \
        FIELD(warm, INT, size, "how many") \
    END(warm) \
    KIND(op, "an operation") \
        FIELD(op, OPT, launch, "measured: ns between two marks") \
        FIELD(op, INT, nsize, "nothing that a card measures") \
        FIELD(op, REAL, share, "may differ between machines") \
        FIELD(op, SEQ, because, "an event") \
X
    "$work/schema/canonical" <<'X' >"$work/said"
{"seq":1,"kind":"warm","th":0,"size":1}
{"seq":2,"kind":"op","th":0,"nsize":1,"launch":4,"share":1.5e-3,"because":1}
{"seq":3,"kind":"alloc","th":0,"bytes":8,"tenant":1}
X
    diff "$work/said" - <<'X'
{"kind":"op","th":0,"nsize":1}
{"kind":"alloc","th":0,"bytes":8,"tenant":1}
X
}
sees() { # sees PLANT: after this change to the second log every case with an affected line must fail
    ! PLANT=$1 "$work/fewest/compare" sim >"$work/planted" && grep -q '^not ok' "$work/planted"
}
sees_output() { # other text, another integer, a float that is not near; a measured time may be any
    local a=$work/printed.a b=$work/printed.b
    eval "$(sed -n '/^same_output() {/,/^}/p' tests/gpu/compare)"
    printf '%s\n' 'took 12345 ns' 'tensor([1.0000, -0.0001])' 'n 3' >"$a"
    printf '%s\n' 'took 6 ns' 'tensor([ 0.9999, 0.0002])' 'n 3' >"$b"
    [[ -z $(same_output "$a" "$b") ]] || { same_output "$a" "$b"; return 1; }
    for change in s/tensor/tensors/ s/3/4/ s/0.9999/1.01/ '$d' '$p' s/ns/bytes/; do
        sed "$change" "$b" >"$b.2"
        [[ -n $(same_output "$a" "$b.2") ]] || { echo "missed: $change"; return 1; }
    done
}
rehearses() { # all parts, one after the other, with few cases and small sizes; the card's work takes no time
    OUT=$work/out SPEED_SIZE=10 MEASURE_SIZE=20 STANDIN_US=0 "$work/short/run" >"$work/said"
    local status=$? part
    cat "$work/said"
    for part in machine first check speed traced torch figures memcheck racecheck initcheck; do
        grep -q "^== $part (at most [1-9][0-9]* s)$" "$work/said" && grep -qE "^-- $part: (done|skipped), " "$work/out/report.txt" || return 1
    done
    [[ $(cd "$work/out" && echo *) == "figures.jsonl first.jsonl.gz report.txt" ]] && gunzip -c "$work/out/first.jsonl.gz" | grep -q '"kind":"end"' &&
        grep -q '^[1-9][0-9]* passed, 0 failed$' "$work/out/report.txt" && ((status == 0))
}
figures() { # of the table in its README all that need neither PyTorch nor cuBLAS; those of the example likewise
    local file figure line='^\{"figure":"[a-z_]+"(,"[A-Za-z_]+":("[^"]*"|-?[0-9.]+|true|false))+\}$'
    for file in "$work/out/figures.jsonl" tests/gpu/figures.stand-in.jsonl; do
        head -n 1 "$file" | grep -E '^\{"figure":"card","format":1,"card":"stand-in, no card","driver":"[^"]*","cuda":[0-9]+,"date":"[-0-9]+T[:0-9]+Z".*"stand_in":true\}$' || return 1
        ! grep -nvE "$line" "$file" || return 1
        for figure in $(sed -n '/^| figure/,$ s/^| \([a-z_, ]*\) | .*\(ns\|launches\|TFLOP_s\) |.*/\1/p' tests/gpu/README.md | tr -d ,); do
            grep -q "^{\"figure\":\"$figure\"," "$file" || { echo "$file lacks $figure"; return 1; }
        done
    done
}
goes_on() { # a part that fails, and one that hangs, stop no other
    cp -r "$work/short" "$work/broken" && rm "$work/broken/bin/"* || return 1
    printf '#!/bin/sh\n[ "$1" != card ] || exit 3\nsleep 100\n' >"$work/broken/bin/measure"
    printf '#!/bin/sh\nexit 4\n' >"$work/broken/bin/check" && chmod +x "$work/broken/bin/"*
    ! OUT=$work/broken/out "$work/broken/run" first speed figures=2 memcheck >"$work/said" 2>&1
    cat "$work/said"
    grep -q '^-- machine: failed, status 3' "$work/said" && grep -q '^-- first: failed' "$work/said" && grep -q '^-- speed: failed, status 4' "$work/said" &&
        grep -q '^-- figures: stopped at its limit' "$work/said" && grep -qE '^-- memcheck: (skipped|failed)' "$work/said" &&
        ! "$work/broken/run" nonsense 2>"$work/said" && grep "there is no part 'nonsense'; known: machine first" "$work/said"
}
misses_a_program() { # a case that the folder's program does not have
    printf 'ops\t\n99-none/solution\tx:float32:8\n' | part unknown && ! "$work/unknown/compare" sim >"$work/said"
    cat "$work/said"
    grep -q '^ok      ops' "$work/said" && grep -A 1 '^not ok  99-none/solution' "$work/said" | grep -q "there is no '99-none/solution'"
}
says_why() { # without a card: every case fails, by name and with the reason
    ! "$refused/compare" real >"$work/real" && ! grep -q '^ok' "$work/real" &&
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
    make -s B="$B" "${B#"$PWD"/}/standin/measure" && gcc -shared -x c /dev/null -o "$work/library" && truncate -s $((48 << 20)) "$work/library"
    ! tests/gpu/pack "$work/large" "$B/cases/check" "$work/library" "$B/standin/measure" 2>"$work/said" && [[ ! -e $work/large ]] &&
        grep 'it may have 48' "$work/said" && grep 'lib/libferry-cuda.so' "$work/said"
}
holds "what a real card needs compiles" make -s B="$B" real-compiles
holds "make gpu-check builds its folder" make -s B="$B" "${short[@]}" gpu-check
holds "it carries every solution, and wrong answers, with inputs" carries
holds "it has at most 48 MiB, stripped" small
holds "what it needs but glibc is in it" needs_glibc_alone
holds "a larger one is refused, saying what is large" refuses_a_large_one
holds "some of its cases make a folder" parts
holds "a stand-in for a card is built, without a toolkit" standins
holds "cases agree where a card's work takes a millisecond" agrees rehearsal 1000
if [[ -n ${LONG:-} ]]; then
    holds "they agree where it takes no time" agrees rehearsal 0
    holds "they agree where it takes 50 microseconds" agrees rehearsal 50
    holds "they agree where it takes 5 milliseconds" agrees rehearsal 5000
    if fuses; then for us in 0 50 1000 5000; do holds "they agree with multiply-adds fused, at $us microseconds" agrees fused $us; done
    else skips "they agree with multiply-adds fused" "this processor cannot"; fi
fi
holds "what a card alone knows is left out by rule" leaves_out
holds "what is printed may differ by rounding and time alone" sees_output
holds "everything is rehearsed on the stand-in" rehearses
holds "its figures are those that the README lists" figures
holds "a part that fails or hangs stops no other" goes_on
holds "every operation agrees with the CPU" equal_ops
holds "a case without a program is seen" misses_a_program
holds "a copy that is missing is seen" sees '/"kind":"copy"/d'
holds "another kernel is seen" sees 's/"kernel":"[a-z]*_f32"/"kernel":"other"/'
holds "other bytes are seen" sees 's/"bytes":[0-9]*/"bytes":1/'
if [[ -e /dev/nvidia0 ]]; then
    holds "a real card agrees with the simulated one" "$B/gpu/compare"
else
    holds "without a card each case says that none answered" says_why
fi
finish
