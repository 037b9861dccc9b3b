#!/usr/bin/env bash
# examples/: each program builds as README says, and does what its PyTorch twin does.
. "$(dirname "$0")/shell.sh"
export FERRY_GPU=sim FERRY_SIM=h200
libs=$(make -s B="$B" core-libs)
python=$(for p in /usr/bin/python3 python3; do "$p" -c 'import torch' 2>/dev/null && echo "$p" && break; done)

builds() {
    # shellcheck disable=SC2086 # libraries are words
    gcc -std=gnu11 -Wall -Wextra -Wshadow -Wconversion -Werror -Ilib examples/spirals.c -L"$B" -lferry $libs -o "$work/spirals"
}
short() { (($(wc -l <examples/spirals.c) <= 60)); }
trains_on() { "$work/spirals" "$1" >"$work/$1"; }
near() { # near A B: the first 20 lines differ by at most 1e-5
    paste <(head -20 "$1") <(head -20 "$2") | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-5 || NF < 2) { print; bad = 1 } } END { exit bad || NR < 20 }'
}
right() { tail -1 "$1" | awk '{ exit !($1 >= 95) }'; }
learned() { trains_on "$1" && right "$work/$1"; }
twin() { "$python" examples/spirals.py >"$work/twin" && near "$work/twin" "$work/cpu" && right "$work/twin"; }

holds "the two spirals build without a warning" builds
holds "the program has at most 60 lines" short
holds "on the CPU 95 of 100 points are told right" learned cpu
holds "on the card 95 of 100 points are told right" learned cuda
holds "the first 20 losses are those PyTorch gave" near tests/golden/spirals.losses "$work/cpu"
holds "the card's first 20 losses are the CPU's" near "$work/cpu" "$work/cuda"
if [[ -n $python ]]; then holds "the twin in PyTorch gives the same losses" twin
else skips "the twin in PyTorch gives the same losses" "PyTorch is not installed"; fi
digits() { # built, and 95 of 100 new pictures told right, on the card; CI's machines are slow: no time is asked for
    # shellcheck disable=SC2086
    gcc -std=gnu11 -O1 -Wall -Wextra -Wshadow -Wconversion -Werror -Ilib examples/digits.c -L"$B" -lferry $libs -o "$work/digits" &&
        "$work/digits" cuda >"$work/told" && cat "$work/told" && tail -1 "$work/told" | awk '{ exit !($3 >= 95) }'
}
holds "ten digits are learned on the card from a loader" digits
finish
