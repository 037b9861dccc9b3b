#!/usr/bin/env bash
# `make gpu-check`: its folder is whole and its script sees differences. What only a card can show is
# not tested here: the simulated card stands in for it.
. "$(dirname "$0")/shell.sh"
B=$(realpath "$B")

agrees() { "$B/gpu/run" sim | tee /dev/stderr | grep -q '^[1-9][0-9]* passed, 0 failed$'; }
answers() { "$B/gpu/run" sim | grep "^ok      PyTorch's answers: [1-9][0-9]* passed, 0 failed"; }
sees() { # sees PLANT: with this change to the second log every case with a log line it hits must fail
    ! PLANT=$1 "$B/gpu/run" sim >"$work/planted" && grep -q '^not ok' "$work/planted"
}
says_why() { # without a card: every case fails, by name and with the reason
    ! "$B/gpu/run" real >"$work/real" && ! grep -q '^ok' "$work/real" &&
        [[ $(grep -c 'no card answered: .*FERRY_GPU=real' "$work/real") == $(wc -l <"$B/gpu/cases") ]]
}
equal_ops() { [[ $(FERRY_GPU=sim "$B/gpu/bin/ops" | grep -c ': differs$') == 0 ]]; }
carries() {
    local source program
    for source in lessons/*/solution.c lessons/*/wrong_*.c; do
        program=${source#lessons/}
        grep -q "^${program%.c}"$'\t.' "$B/gpu/cases" && [[ -x $B/gpu/bin/${program%.c} ]] || return 1
    done
}

holds "make gpu-check builds its folder" make -s B="$B" gpu-check
holds "it carries every solution and every wrong answer, with inputs" carries
holds "the simulated card agrees with itself on every case" agrees
holds "it gives PyTorch's answers there" answers
holds "every operation agrees with the CPU" equal_ops
holds "a copy that is missing is seen" sees '/"kind":"copy"/d'
holds "another kernel is seen" sees 's/"kernel":"[a-z]*_f32"/"kernel":"other"/'
holds "other bytes are seen" sees 's/"bytes":[0-9]*/"bytes":1/'
if [[ -e /dev/nvidia0 ]]; then
    holds "a real card agrees with the simulated one" "$B/gpu/run"
else
    holds "without a card each case says that none answered" says_why
fi
finish
