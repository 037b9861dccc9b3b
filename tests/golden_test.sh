#!/usr/bin/env bash
# The log of each lesson's solution is the committed one, `values` events aside (floats may round
# otherwise on another machine). `tests/golden_test.sh remake` writes them anew, after a wanted change.
. "$(dirname "$0")/shell.sh"
export FERRY_GPU=sim FERRY_SEED=0

log_of() { # log_of LESSON: the solution's lines
    timeout 60 "$B/solutions/$1" --trace "$work/$1.jsonl" >/dev/null && grep -v '"kind":"values"' "$work/$1.jsonl"
}

same() { diff -u "tests/golden/$1.jsonl" <(log_of "$1"); }

for solution in "$B"/solutions/*; do
    id=${solution##*/}
    [[ -x $solution && $id != *.* ]] || continue
    if [[ ${1:-} == remake ]]; then
        log_of "$id" >"$work/new" && cp "$work/new" "tests/golden/$id.jsonl" && echo "tests/golden/$id.jsonl"
    else
        holds "solution of $id logs what its golden log says" same "$id"
    fi
done
[[ ${1:-} == remake ]] || finish
