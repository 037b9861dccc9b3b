#!/usr/bin/env bash
# Ferry gives PyTorch's results: the committed cases, and those in ../shared if they exist.
# The runner detects errors: a changed case fails, a crash is one failure, no case is skipped silently.
. "$(dirname "$0")/shell.sh"
export FERRY_GPU=sim
own=tests/oracle/cases.jsonl given=../shared/oracle/torch_cases.jsonl

oracle() { "$B/tests/oracle" "$@" >"$work/said"; }
counts() { # counts PASSED FAILED SKIPPED: exactly
    local last
    last=$(tail -n 1 "$work/said")
    grep -v '^skipped' "$work/said"
    [[ $last == "$1 passed, $2 failed, $3 skipped" ]]
}
complete() { # complete FILE: every line is counted
    tail -n 1 "$work/said" | awk -v lines="$(grep -c . "$1")" '{ exit $1 + $3 + $5 != lines }'
}
at_least() { # at_least PASSED: none failed
    grep -v '^skipped' "$work/said"
    tail -n 1 "$work/said" | awk -v n="$1" '{ exit !($1 >= n && $3 == 0) }'
}
on_cpu() { oracle "$1" && complete "$1" && at_least "$2"; }
on_card() { oracle --device cuda "$1" && complete "$1" && at_least "$2"; }
none_skipped() { oracle "$given" && ! grep '^skipped' "$work/said"; }
few_refused() { (($(grep -cvE '^#|	cuda	' tests/oracle/refused.txt) <= 8)); }
reasons_on_card() { # on the card also known differences of cards
    oracle --device cuda "$own"
    ! grep '^skipped' "$work/said" | grep -vE '\(C[0-9]+\.[0-9]+\)$'
}

one='{"id":"x","group":"g","inputs":{"a":{"dtype":"f32","shape":[2],"data":[1.5,"-0"]}},"program":[["y","PROGRAM",["a"],{}]],"watch":["y"],"expect":{"y":{"dtype":"DTYPE","shape":[2],"strides":[STRIDE],"data":[DATA]}}}'
case_of() { # case_of PROGRAM DTYPE STRIDE DATA
    local text=${one/PROGRAM/$1}
    text=${text/DTYPE/$2} text=${text/STRIDE/$3}
    echo "${text/DATA/$4}" >>"$work/cases"
}
right() { : >"$work/cases"; case_of neg f32 1 '-1.5,0.0'; oracle "$work/cases"; counts 1 0 0; }
wrong() { # each has one error
    : >"$work/cases"
    case_of neg f32 1 '-1.5,"-0"'
    case_of neg f32 1 '-1.5000001,0.0'
    case_of neg f64 1 '-1.5,0.0'
    case_of neg f32 2 '-1.5,0.0'
    case_of unheard f32 1 '-1.5,0.0'
    case_of softmax f32 1 '-1.5,0.0'
    sed 's/"neg",\["a"\],{}/"neg",["a"],{"out":1}/' <(case_of neg f32 1 '-1.5,0.0'; tail -n 1 "$work/cases") >"$work/last"
    sed -i '$d' "$work/cases" && cat "$work/last" >>"$work/cases"
    ! oracle "$work/cases" && counts 0 7 0
}
wrong_error() { # no error, another step, another text
    sed -n '/"error":{"step":0/{p;q}' "$own" >"$work/cases"
    oracle "$work/cases" && counts 1 0 0 || return 1
    sed -i 's/"step":0/"step":1/' "$work/cases"
    ! oracle "$work/cases" && counts 0 1 0 || return 1
    sed -i 's/"step":1/"step":0/; s/"text":"[^"]*"/"text":"something else"/' "$work/cases"
    ! oracle "$work/cases" && counts 0 1 0
}
spoiled_line() { printf '{"id":\n\n' >"$work/cases"; ! oracle "$work/cases" && counts 0 1 0; }
crash() { # the next case still runs
    : >"$work/cases"
    case_of crash f32 1 '1'
    case_of neg f32 1 '-1.5,0.0'
    ! oracle "$work/cases" && counts 1 1 0
}
missing() { ! oracle "$work/none" && ! oracle; }

holds "a right answer passes" right
holds "a wrong value, sign, dtype, stride, op or argument fails" wrong
holds "an error at another step or with other words fails" wrong_error
holds "a line that is no case fails" spoiled_line
holds "a crash is one failure" crash
holds "a file that is not there is red" missing
holds "PyTorch's answers on the CPU" on_cpu "$own" "$(grep -c . "$own")"
holds "PyTorch's answers on the card" on_card "$own" 1100
holds "what the card leaves out has a rule" reasons_on_card
holds "at most 8 cases are refused" few_refused
if [[ -f $given ]]; then
    holds "the given cases on the CPU" on_cpu "$given" 349
    holds "the given cases on the card" on_card "$given" 300
    holds "none of the given cases is left out" none_skipped
else
    for name in "the given cases on the CPU" "the given cases on the card" "none of the given cases is left out"; do
        skips "$name" "../shared/oracle is not there"
    done
fi
finish
