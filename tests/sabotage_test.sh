#!/usr/bin/env bash
# The sabotage runner on a small tree: which are detected, which are not, and which could not run: these are
# listed, and the run fails. A change is located by its symbol, wherever that moves.
. "$(dirname "$0")/shell.sh"
unset CI
tree=$work/tree

sab() { # sab NAME SED SUITE TEST
    printf '%s\n' "why: for a test" "file: subject" "sed: $2" "suite: $3" "test: $4" >"$tree/tests/sabotage/$1.sab"
}
plant() {
    mkdir -p "$tree/tests/sabotage" "$tree/tests/page" "$tree/build" && cp tests/run tests/shell.sh "$tree/tests/" &&
        cp tests/sabotage/{run,symbols,place.sh} "$tree/tests/sabotage/" && cd "$tree" && git init -q . || return 1
    printf 'all tests:\n\ttrue\n' >Makefile
    printf 'one\ntwo\n' >subject
    touch tests/skips.txt
    printf '%s\n' '. "$(dirname "$0")/shell.sh"' 'holds "one is there" grep -q one subject' 'skips "two is there" "not here"' finish >tests/part_test.sh
    echo "import 'a-package-that-is-nowhere'; export const missing = '';" >tests/page/browser.mjs
    echo "import './browser.mjs';" >tests/page/page_test.mjs
    sab noticed 's/one/three/' sh:part_test 'one is there'
    sab unnoticed 's/two/three/' sh:part_test 'one is there'
    sab skipped 's/two/three/' sh:part_test 'two is there'
    sab page 's/two/three/' page:page_test 'the page is there'
}
try() { (cd "$tree" && tests/sabotage/run build "$@") >"$work/said" 2>&1; }
said() { grep -E "$1" "$work/said" || { cat "$work/said"; return 1; }; }

green() { (plant) && try noticed && said '^ok 2 - noticed$' && said '^ok 3 - every one was run$' && said '^1\.\.3$'; }
red() { ! try noticed unnoticed && said '^not ok [23] - unnoticed$' && said "# 'one is there' of sh:part_test did not fail" && said '^ok 4'; }
not_run() {
    ! try noticed page skipped && said '^ok 1 - ' && said '^ok [234] - noticed$' && said '^ok [234] - page # SKIP not run: .*ci/deps test' &&
        said '^ok [234] - skipped # SKIP not run: ' && said '^not ok 5 - every one was run$' && said '^# not run: page$' && said '^# not run: skipped$'
}
in_sources() { # in_sources COMMAND...: runs it in a tree with two files that define some names
    mkdir -p "$work/src/lib/a" "$work/src/tests/sabotage" && cp tests/sabotage/{symbols,place.sh} "$work/src/tests/sabotage/" && cd "$work/src" || return 1
    printf '%s\n' '#define TWICE(x) \' '    ((x) + (x))' '' 'static int once(int x) { return x; }' '' 'static int hidden(int x,' \
        '                  int y)' '{' '    return x - y;' '}' 'int declared(int x);' 'static const int sizes[] = {' '    1, 2,' '};' >lib/a/one.c
    printf '%s\n' 'static int hidden(void)' '{' '    return 7;' '}' 'int unlike(void)' '{' '    return 7;' '}' >lib/a/two.c
    change() { printf '%s\n' "in: $1" "sed: $2" 'suite: c:x' 'test: y' >"tests/sabotage/x.sab" && bash -c "cd $PWD && symbols=$PWD/index && tests/sabotage/symbols >index && . tests/sabotage/place.sh && changes x"; }
    "$@"
}
places() {
    [[ $(change TWICE 's/\+ \(x/+ (y/') == '1 lib/a/one.c' && $(change once 's/return/yield/') == '1 lib/a/one.c' ]] &&
        [[ $(change sizes 's/1, 2/1/') == '1 lib/a/one.c' && $(change one.c:hidden 's/-/+/') == '1 lib/a/one.c' ]] &&
        [[ $(change two.c:hidden 's/7/8/') == '1 lib/a/two.c' && $(change unlike 's/7|one/8/') == '1 lib/a/two.c' ]] &&
        mkdir lib/b && mv lib/a/two.c lib/b/three.c && [[ $(change unlike 's/7/8/') == '1 lib/b/three.c' ]]
}
no_place() {
    [[ $(change hidden 's/7/8/') == 'several files define hidden (say FILE:hidden): lib/a/one.c lib/a/two.c' ]] &&
        [[ $(change declared 's/x/y/') == 'no source defines declared' && $(change unlike 's/-/+/') == '0 lib/a/two.c' ]]
}
installs() { make -n sabotage >"$work/would" 2>&1; head -n 1 "$work/would" | grep -x '.ci/deps test'; }

holds "what is noticed is counted" green
holds "what nobody notices makes the run red" red
holds "what could not run is named and makes it red" not_run
holds "a name's definition is found, though its file moved" eval '(in_sources places)'
holds "a name that none or several files define is refused" eval '(rm -rf "$work/src" && in_sources no_place)'
holds "make sabotage installs what its tests need" installs
finish
