#!/usr/bin/env bash
# The same program writes the same log, byte for byte: from another checkout, with and without address randomization, in
# another environment and folder, under load, with one BLAS thread and two, and in the ASan build. `values` events are not
# guaranteed. All of that is tried at once for every solution, and one by one for each fourth; for each eighth under load.
# LONG=1 tries it one by one for each, often under load, and builds the other checkout's library as well.
. "$(dirname "$0")/shell.sh"
export FERRY_GPU=sim
B=$(realpath "$B")

trace() { # trace OUT COMMAND...: the command's log without `values` events
    local out=$1
    shift
    rm -f "$out.all"
    timeout 120 "$@" --trace "$out.all" >/dev/null 2>"$out.err" || { cat "$out.err"; return 1; }
    grep -v '"kind":"values"' "$out.all" >"$out"
}
equal() { # equal COMMAND...: its log equals the first one
    trace "$work/other" "$@" && cmp "$work/first" "$work/other"
}
seeded() { # another seed changes the log, identically in both checkouts
    trace "$work/seed.1" env FERRY_SEED=41 "$1" && trace "$work/seed.2" env FERRY_SEED=41 "$2" &&
        cmp "$work/seed.1" "$work/seed.2" && ! cmp -s "$work/first" "$work/seed.1"
}
elsewhere() (cd / && equal env -i PATH=/usr/bin:/bin HOME=/nonexistent LC_ALL=C.UTF-8 TZ=Asia/Tokyo \
    COLUMNS=7 TMPDIR=/tmp XDG_STATE_HOME="$work/odd" FERRY_GPU=sim OTHER="$(printf 'x%.0s' {1..5000})" "$@")
loaded() {
    local busy=() status=0 i
    for i in 1 2 3; do
        timeout 60 bash -c 'while :; do :; done' &
        busy+=($!)
    done
    for ((i = 0; i < ${LONG:+20} + 3; i++)); do equal "$@" || { status=1; break; }; done
    kill "${busy[@]}" 2>/dev/null
    wait "${busy[@]}" 2>/dev/null
    return $status
}

# A second checkout in a folder of another name and depth, without optimization, which must give the same log. Its library
# is this one, unless LONG.
other=$work/a/deeper/checkout
checkout() {
    local built=()
    mkdir -p "$other/out" && cp -r Makefile .ci lib kernels viewer lessons www "$other" || return 1
    [[ -n ${LONG:-} ]] || { cp "$B"/libferry{,-view}.a "$other/out" && built=(-o out/libferry.a -o out/libferry-view.a); }
    (cd "$other" && make -s NVCC= B=out OPT=-O0 FAST= "${built[@]}" "${ids[@]/#/out/solutions/}")
}

number=-1 ids=()
for solution in "$B"/solutions/*; do
    [[ -x $solution && $solution != *.d ]] && ids+=("${solution##*/}")
done
holds "there are solutions to compare" test "${#ids[@]}" -gt 0
holds "a second checkout builds" checkout
each() { [[ -n ${LONG:-} ]] || ((number % $1 == 0)); } # each COUNT: is it this solution's turn?
for id in "${ids[@]}"; do
    program=$B/solutions/$id
    number=$((number + 1))
    holds "$id: a first run" trace "$work/first" "$program"
    if each 4; then
        holds "$id: a second run" equal "$program"
        holds "$id: without address randomisation" equal setarch -R "$program"
        holds "$id: another environment and folder" elsewhere "$program"
        holds "$id: one BLAS thread" equal env OPENBLAS_NUM_THREADS=1 "$program"
        holds "$id: two BLAS threads" equal env OPENBLAS_NUM_THREADS=2 "$program"
        holds "$id: one thread" equal env FERRY_THREADS=1 "$program"
        holds "$id: three threads" equal env FERRY_THREADS=3 "$program"
        holds "$id: another checkout" equal "$other/out/solutions/$id"
        holds "$id: another seed" seeded "$program" "$other/out/solutions/$id"
    else
        holds "$id: elsewhere, not randomised, one BLAS thread, three threads" \
            elsewhere env OPENBLAS_NUM_THREADS=1 FERRY_THREADS=3 setarch -R "$program"
        holds "$id: another checkout, two BLAS threads, one thread" \
            equal env OPENBLAS_NUM_THREADS=2 FERRY_THREADS=1 "$other/out/solutions/$id"
    fi
    if [[ -x $B/asan/solutions/$id ]]; then
        holds "$id: the ASan build" equal "$B/asan/solutions/$id"
    else
        skips "$id: the ASan build" "not built"
    fi
    ! each 8 || holds "$id: under load" loaded "$program"
done
finish
