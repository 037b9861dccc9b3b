#!/usr/bin/env bash
# tests/rules.txt: every PyTorch rule that Ferry implements has an existing test, or a reason.
. "$(dirname "$0")/shell.sh"
table=tests/rules.txt rules=../shared/semantics.md cases=tests/oracle/cases.jsonl

ids() { grep -v '^#' "$table" | cut -f 1; }
per_group() { # number of rules in each group, in order
    diff <(ids | cut -d . -f 1 | uniq -c | awk '{ print $2, $1 }') - <<'N'
C1 18
C2 15
C3 17
C4 12
C5 9
C6 13
C7 7
C8 16
C9 8
C10 11
C11 10
C12 14
C13 14
C14 13
C15 7
C16 9
C17 7
C18 10
C19 4
N
}
once() { [[ $(ids | wc -l) == 214 && -z $(ids | sort | uniq -d) ]]; }
same_ids() { diff <(ids) <(sed -nE 's/^\| (C[0-9]+\.[0-9]+) \|.*/\1/p' "$rules"); }

is_case() { # is_case RULE ID: the case exists; if made for a rule, for this one
    local line
    line=$(grep -F "{\"id\":\"$2\"," "$cases") || return 1
    [[ $2 != own_rule_* || $line == *"\"note\":\"$1\""* ]]
}
is_test() { # is_test RULE SUITE NAME
    local id
    if [[ $2 == oracle_test ]]; then
        for id in $3; do is_case "$1" "$id" || return 1; done
    elif [[ -f tests/$2.c ]]; then grep -qE "^TEST\($3\)" "tests/$2.c"
    else grep -qF "holds \"$3\"" "tests/$2.sh"; fi
}
tests_are_there() {
    local rule checks check bad=0
    while IFS=$'\t' read -r rule checks; do
        [[ $rule == '#'* || $checks == none:* ]] && continue
        while IFS= read -r check; do
            is_test "$rule" "${check%%: *}" "${check#*: }" || { echo "$rule: there is no $check"; bad=1; }
        done <<<"${checks//; /$'\n'}"
    done <"$table"
    return $bad
}
reasons() { # a rule without a test names the missing feature, or why it does not apply
    ! grep -v '^#' "$table" | cut -f 2- | grep -vE '^(none: .{12,}|[a-z_]+: [^ ].*)$'
}
known_waits() {
    ! grep -oE 'none: waits for .*' "$table" |
        grep -vxE 'none: waits for (modules|modules and optimizers|streams|the caching allocator|the data loader|mixed precision)'
}

holds "there are 214 rules, each once" once
holds "each group has as many as it should" per_group
if [[ -f $rules ]]; then holds "they are the rules of the reference" same_ids
else skips "they are the rules of the reference" "../shared is not there"; fi
holds "every test that a rule names is there" tests_are_there
holds "a rule without a test has a reason" reasons
holds "what is waited for is a part still to come" known_waits
finish
