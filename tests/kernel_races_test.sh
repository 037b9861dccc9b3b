#!/usr/bin/env bash
# The race checker (kernels/racecheck.cc) finds hazards and names them; Ferry's kernels have none, and each barrier is
# there for a reason. Compiling all kernels for it takes a minute: that is in the long run.
. "$(dirname "$0")/shell.sh"
export FERRY_GPU=sim FERRY_BLAS=kernel FERRY_THREADS=3
read -ra compile < <(make -s B="$B" for-racecheck | tail -n 1)
read -ra libraries < <(make -s B="$B" core-libs | tail -n 1)
cases=tests/racecheck_cases.cu

build() { # build COMPILER: the cases, by it
    "$1" "${compile[@]:1}" -MF "$work/cases.d" -Ikernels -c $cases -o "$work/cases.o" &&
        gcc "$work/cases.o" "$B/libferry.a" "${libraries[@]}" -o "$work/cases"
}
runs() { # runs CASE: its report, in $work/said; a line's number, which precedes its text, must be right
    "$work/cases" "$1" 2>"$work/said" && grep -q '^racecheck: launches [1-9]' "$work/said" || return 1
    sed -n 's/^racecheck:   racecheck_cases.cu line \([0-9]*\): [^:]*: /\1 /p' "$work/said" | while read -r line text; do
        grep -n '' $cases | sed 's/: */:/' | grep -qxF "$line:$text" || { echo "line $line is not: $text"; return 1; }
    done || return 1
    sed -i 's/ line [0-9]*:/:/; s/^racecheck: *//; s/racecheck_cases\.cu: //' "$work/said"
}
says() { # says CASE LINE...: exactly the report
    runs "$1" && sed '$d' "$work/said" | diff - <(printf '%s\n' "${@:2}")
}
right() { for one in "$@"; do runs "$one" && grep 'hazards 0, places 0$' "$work/said" || return 1; done; }

no_barrier() {
    says no_barrier "kernel no_barrier: write after read in shared memory, tile + 128 bytes: no __syncthreads is between" \
        "thread (32,0,0) of block (0,0,0) writes: tile[t] = in[t]; /* writes too late */" \
        "thread (31,0,0) of block (0,0,0) read: out[t] = tile[N - 1 - t]; /* reads early */" \
        "kernel no_barrier: read after write in shared memory, tile + 124 bytes: no __syncthreads is between" \
        "thread (32,0,0) of block (0,0,0) reads: out[t] = tile[N - 1 - t]; /* reads early */" \
        "thread (31,0,0) of block (0,0,0) wrote: tile[t] = in[t]; /* writes too late */" && [[ $(tail -n 1 "$work/said") == *"hazards 64, places 2" ]]
}
overwritten() {
    says overwritten "kernel overwritten: write after read in shared memory, sum + 0 bytes: no __syncthreads is between" \
        "thread (63,0,0) of block (0,0,0) writes: if (t == N - 1) sum = 2; /* overwrites it */" \
        "thread (0,0,0) of block (0,0,0) read: out[t] = sum; /* reads it */"
}
one_place() {
    says one_place "kernel one_place: write after write in global memory, out, argument 1, + 0 bytes: no __syncthreads is between" \
        "thread (1,0,0) of block (0,0,0) writes: out[threadIdx.x / 2] = 1; /* two threads */" \
        "thread (0,0,0) of block (0,0,0) wrote: out[threadIdx.x / 2] = 1; /* two threads */"
}
neighbours() {
    says neighbours "kernel neighbours: read after write in global memory, out, argument 1, + 4 bytes: nothing orders the blocks of a launch" \
        "thread (0,0,0) of block (1,0,0) reads: out[N + blockIdx.x] = out[blockIdx.x]; /* reads the neighbour's */" \
        "thread (0,0,0) of block (0,0,0) wrote: out[blockIdx.x + 1] = 1; /* writes for the next block */"
}
variable() { runs counted && grep -qx 'kernel counted: read after write in global memory, total + 0 bytes: no __syncthreads is between' "$work/said"; }
helper() {
    says by_helper "kernel by_helper: write after write in global memory, out, argument 1, + 0 bytes: no __syncthreads is between" \
        "thread (1,0,0) of block (0,0,0) writes: put(&out[0], 1.0f); /* all write it */" \
        "thread (0,0,0) of block (0,0,0) wrote: put(&out[0], 1.0f); /* all write it */"
}
plane() { runs in_a_plane && grep -q '^thread (0,3,1) of block (0,0,0) writes' "$work/said" && grep -q '^thread (0,3,0) of block (0,0,0) wrote' "$work/said"; }

all_kernels() {
    make -s B="$B" kernel-races && make -s B="$B" kernel-races | grep -qE '^([0-9]+) of \1 kernels ran'
}
# Without its n-th barrier a kernel's file makes the same program report a hazard there. A block has one row here, so
# that a barrier before the next row is not missed.
needs() { # needs FILE N TEXT
    awk -v n="$2" '/__syncthreads\(\);/ && ++i == n { sub(/__syncthreads\(\);/, "") } { print }' "kernels/$1.cu" >"$work/$1.cu"
    "${compile[@]}" -MF "$work/$1.d" -Ikernels -c "$work/$1.cu" -o "$work/$1.o" &&
        gcc -std=gnu11 -Ilib tests/racecheck.c "$work/$1.o" $(ls "$B"/racecheck/*.o | grep -v "/$1.o") "$B/libferry.a" \
            "${libraries[@]}" -o "$work/rest" || return 1
    "$work/rest" 2>"$work/said"
    tail -n 4 "$work/said"
    grep -q "^racecheck:   $1.cu line .* thread" "$work/said"
}
barriers() { # barriers FILE
    local n=0 text needless=0
    while read -r text; do
        n=$((n + 1))
        [[ $text == *"the next row"* ]] && continue
        needs "$1" $n || { echo "barrier $n of $1.cu is not missed: $text"; needless=1; }
    done < <(grep '__syncthreads();' "kernels/$1.cu")
    ((n > 1 && !needless))
}
forgotten() { # a kernel that nothing calls
    ! tests/kernel_races "$B/racecheck/ops" >"$work/said" 2>&1 && grep -q '^kernel layer_norm_backward never ran' "$work/said"
}

holds "g++ builds the cases" build g++
holds "what is in order is no hazard" right reversed apart own_again own_array
holds "a missing barrier is told, with both lines" no_barrier
holds "a read that is overwritten is told" overwritten
holds "two threads that write one place are told" one_place
holds "no barrier orders two blocks" neighbours
holds "a variable of the card is named" variable
holds "the kernel's own line is told" helper
holds "threads in a plane are named" plane
if [[ -n ${LONG:-} ]]; then
    holds "no kernel has a hazard, and all have run" all_kernels
    holds "a kernel that never ran is named" forgotten
    for file in softmax layer_norm matmul; do holds "each barrier of $file is missed" barriers $file; done
    holds "clang builds the cases" build clang++
    holds "with clang, too, a missing barrier is told" no_barrier
    holds "with clang, too, what is in order is no hazard" right reversed apart own_again own_array
fi
finish
