#!/usr/bin/env bash
# tests/run counts results and fails on: a failed test, a suite that dies, a suite that runs
# nothing, an unlisted skip. It knows of every C suite whether valgrind runs it.
. "$(dirname "$0")/shell.sh"
mkdir -p "$work/b/tests"

fake() { # fake NAME LINES...: a suite that prints these lines
    local name=$1
    shift
    { echo '#!/bin/sh'; printf "echo '%s'\n" "$@"; } >"$work/b/tests/${name}_test"
    chmod +x "$work/b/tests/${name}_test"
}
ran() { tests/run "c:$work/b:$1_test" >"$work/said" 2>&1; }
last() { [[ $(tail -n 1 "$work/said") == "$1" ]]; }

green() { fake good '1..2' 'ok 1 - a' 'ok 2 - b' && ran good && last '2 passed, 0 failed, 0 skipped'; }
red() { fake bad '1..2' 'ok 1 - a' 'not ok 2 - b' && ! ran bad && last '1 passed, 1 failed, 0 skipped' && grep -q 'failed: .*bad_test: b' "$work/said"; }
cut() { fake cut '1..3' 'ok 1 - a' && ! ran cut && last '1 passed, 2 failed, 0 skipped'; }
empty() { fake none '' && ! ran none && last '0 passed, 1 failed, 0 skipped'; }
status() { fake quits '1..1' 'ok 1 - a' && echo 'exit 3' >>"$work/b/tests/quits_test" && ! ran quits; }
missing() { ! ran absent && grep -q '1 failed' "$work/said"; }
skip() { fake skips '1..2' 'ok 1 - a' 'ok 2 - odd # SKIP no reason'; }
skip_local() { skip && CI=false ran skips && last '1 passed, 0 failed, 1 skipped' && grep -q 'skipped: .*skips_test: odd' "$work/said"; }
skip_ci() { skip && ! CI=true ran skips && grep -q 'not in tests/skips.txt' "$work/said"; }
together() { # each waits for the other
    local name
    rm -f "$work"/b/tests/* "$work"/here.*
    for name in one two; do
        fake $name '1..1' 'ok 1 - a'
        printf 'touch %s\nfor i in $(seq 100); do ls %s %s && exit; sleep 0.1; done\nexit 1\n' \
            "$work/here.$name" "$work/here.one" "$work/here.two" >>"$work/b/tests/${name}_test"
    done
    JOBS=2 tests/run "c:$work/b" >"$work/said" 2>&1 && last '2 passed, 0 failed, 0 skipped'
}
interrupted() { # when it is interrupted, its suite ends as well
    local pid suite i
    fake waits '1..1'
    printf 'echo $$ >%s\nexec sleep 60\n' "$work/suite.pid" >>"$work/b/tests/waits_test"
    tests/run "c:$work/b:waits_test" >"$work/said" 2>&1 &
    pid=$!
    for ((i = 0; i < 100; i++)); do [[ -s $work/suite.pid ]] && break; sleep 0.1; done
    suite=$(cat "$work/suite.pid") || return 1
    kill -TERM $pid
    wait $pid && return 1
    for ((i = 0; i < 100; i++)); do kill -0 "$suite" 2>/dev/null || return 0; sleep 0.1; done
    kill "$suite"
    return 1
}
child_complains() { # a suite that passes, under a fake valgrind that only runs it
    fake log '1..1' '==7== Invalid read of size 4' 'ok 1 - a'
    printf '#!/bin/sh\nfor last; do :; done\nexec "$last"\n' >"$work/valgrind" && chmod +x "$work/valgrind"
    ! PATH=$work:$PATH tests/run "valgrind:$work/b:log_test" >"$work/said" 2>&1 && last '1 passed, 1 failed, 0 skipped'
}
under_valgrind() { # tests/valgrind.txt lists exactly the C suites, to run or with a reason why not
    local file name wrong=0
    for file in tests/*_test.c; do
        name=$(basename "$file" .c)
        [[ $(grep -cE "^$name( |$)|^# $name: ." tests/valgrind.txt) == 1 ]] || { echo "$name"; wrong=1; }
    done
    for name in $(sed -nE 's/^(# )?([a-z_]+_test)(:? .*)?$/\2/p' tests/valgrind.txt); do
        [[ -f tests/$name.c ]] || { echo "$name is not there"; wrong=1; }
    done
    return $wrong
}

plain() { # suites with code for sanitizers are listed; only existing suites are listed; ASan runs all
    local file name wrong=0
    for file in $(grep -lE '__SANITIZE_ADDRESS__|__has_feature\(address' tests/*_test.c); do
        name=$(basename "$file" .c)
        grep -qx "$name" tests/plain.txt || { echo "$name is not in tests/plain.txt"; wrong=1; }
    done
    for name in $(grep -xE '[a-z_]+_test' tests/plain.txt); do
        [[ -f tests/$name.c ]] || { echo "$name is not there"; wrong=1; }
    done
    grep -qE '^\s+(REAL=\S+ )?tests/run .*plain:\$\(B\) .* c:\$\(B\)/asan$' Makefile || { echo "make test does not run both"; wrong=1; }
    [[ -z $(sort tests/plain.txt | grep -x '[a-z_]*_test' | uniq -d) && $wrong == 0 ]]
}
plain_runs() { # the listed suites, by name
    rm "$work"/b/tests/* && fake guard '1..1' 'ok 1 - a' && fake other '1..1' 'ok 1 - a'
    tests/run "plain:$work/b" >"$work/said" 2>&1
    grep -qE '^.*/guard_test +1 passed' "$work/said" && ! grep -q 'other_test' "$work/said" &&
        [[ $(grep -c 'none is there' "$work/said") == $(($(grep -cx '[a-z_]*_test' tests/plain.txt) - 1)) ]]
}

test_names() { # a line for each name, its words separated
    sed -nE 's/^(static void |TEST\()([A-Za-z_0-9]+)(\(void \*\*.*|\)( .*)?)$/\2/p' tests/*_test.c | tr _ ' '
    grep -ohE '\b(holds|skips) "[^"]*"' tests/*_test.sh | sed -E 's/^[a-z]+ "//; s/"$//'
    grep -ohE "\btest\(('([^'\\]|\\.)*'|\`[^\`]*\`|\"[^\"]*\")" tests/page/*_test.mjs | sed -E 's/^test\(.//; s/.$//'
}
short_names() { ! test_names | awk 'NF > 10' | grep .; }

holds "passes are counted" green
holds "a failure is named and makes it red" red
holds "a suite that dies on its way is red" cut
holds "a suite that runs nothing is red" empty
holds "a bad exit status is red" status
holds "a suite that is not there is red" missing
holds "a skip is named" skip_local
holds "under CI a skip that is not listed is red" skip_ci
holds "suites run beside each other, and all are counted" together
holds "an interrupted run leaves no suite behind" interrupted
holds "what valgrind says of a suite's children makes it red" child_complains
holds "what differs without ASan runs in the plain build" plain
holds "of the plain build, the suites that differ run" plain_runs
holds "every C suite runs under valgrind, or says why not" under_valgrind
holds "a test's name has ten words or fewer" short_names
finish
