#!/usr/bin/env bash
# The log of each lesson's example and solution, and of each experiment, equals the committed one except `values`
# events (rounding may differ between machines). `tests/golden_test.sh remake` rewrites them after an intended change.
. "$(dirname "$0")/shell.sh"
export FERRY_GPU=sim FERRY_SEED=0

log_of() { # log_of PROGRAM: its log
    local card=h200
    [[ $1 == "$B"/experiments/* ]] || card= # a lesson names its own
    env ${card:+FERRY_SIM=$card} FERRY_TRACE="$work/log.jsonl" timeout 60 "$1" >/dev/null 2>&1 </dev/null ||
        grep -qs '"demo_stops"' "lessons/${1##*/}/lesson.json" || return 1
    grep -v '"kind":"values"' "$work/log.jsonl"
}

same() { diff -u "tests/golden/$2.jsonl" <(log_of "$1"); }

for program in "$B"/lessons/* "$B"/solutions/* "$B"/experiments/*; do
    id=${program##*/}
    [[ -x $program && $id != *.* ]] || continue
    [[ $program != "$B"/lessons/* ]] || id=demo-$id
    if [[ ${1:-} == remake ]]; then
        log_of "$program" >"$work/new" && cp "$work/new" "tests/golden/$id.jsonl" && echo "tests/golden/$id.jsonl"
    else
        holds "$id logs what its golden log says" same "$program" "$id"
    fi
done
[[ ${1:-} == remake ]] || finish
