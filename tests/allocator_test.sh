#!/usr/bin/env bash
# The caching allocator behaves like PyTorch's: the committed scenarios, and those in ../shared if they exist.
# The runner detects errors: every changed field fails, and so does an invalid line.
. "$(dirname "$0")/shell.sh"
own=tests/allocator/cases.jsonl given=../shared/oracle/allocator_cases.jsonl

allocator() { "$B/tests/allocator" "$@" >"$work/said" 2>&1; }
counts() { # counts PASSED FAILED: exactly
    cat "$work/said"
    [[ $(tail -n 1 "$work/said") == "$1 passed, $2 failed, 0 skipped" ]]
}
all_pass() { allocator "$1" && counts "$(grep -c . "$1")" 0; }
whole() { # whole NAME: the committed scenario of this name
    grep -F "\"name\":\"$1\"" "$own"
}
spoils() { # spoils SED...: each changes one field of a correct scenario, which must fail by name
    local with line
    line=$(whole "a card of one small segment")
    for with; do
        sed -E "$with" <<<"$line" >"$work/cases"
        ! cmp -s "$work/cases" <(echo "$line") || { echo "$with changes nothing"; return 1; }
        ! allocator "$work/cases" && counts 0 1 && grep -q '^failed own_[0-9]*: .*expected .* got ' "$work/said" ||
            { echo "after $with"; return 1; }
    done
}
each_field() {
    spoils 's/"segment":1/"segment":2/' 's/"offset":0/"offset":512/' 's/"block":512/"block":1024/' \
        's/"allocated":512/"allocated":4/' 's/"reserved":2097152/"reserved":0/' 's/"segments":1/"segments":2/' \
        's/"peak_allocated":[0-9]*/"peak_allocated":0/' 's/"peak_reserved":[0-9]*/"peak_reserved":0/' \
        's/"alloc_retries":[0-9]*/"alloc_retries":9/' 's/"ooms":[0-9]*/"ooms":0/' \
        's/20.00 MiB \(GPU/22.00 MiB (GPU/' 's/"error":"[^"]*",//' 's/"offset":0,//' \
        's/"block":512,/"block":512,"more":1,/' 's/"ooms":[0-9]*/&,"more":1/'
}
refuses() { # refuses WORDS LINE: the line fails with these words
    echo "$2" >"$work/cases"
    ! allocator "$work/cases" && counts 0 1 && grep -qF -- "$1" "$work/said"
}
step() { # a scenario with one step
    echo "{\"id\":\"x\",\"device_bytes\":4194304,\"trace\":[{\"step\":$1,\"allocated\":0,\"reserved\":0,\"segments\":0}],\
\"peak_allocated\":0,\"peak_reserved\":0,\"alloc_retries\":0,\"ooms\":0}"
}
bad_steps() {
    echo "$(step '["empty_cache"]')" >"$work/cases" && all_pass "$work/cases" &&
        refuses 'unknown step' "$(step '["lend","a",4]')" &&
        refuses 'unknown step' "$(step '["empty_cache",1]')" &&
        refuses 'unknown step' "$(step '["alloc","a"]')" &&
        refuses 'first word is missing' "$(step '[]')" &&
        refuses 'first word is missing' "$(step '{}')" &&
        refuses 'which is not allocated' "$(step '["free","a"]')" &&
        refuses 'which is not allocated' "$(step '["record_stream","a",1]')" &&
        refuses 'the size is -1' "$(step '["alloc","a",-1]')" &&
        refuses 'the size is 1.5' "$(step '["alloc","a",1.5]')" &&
        refuses 'the size is "4"' "$(step '["alloc","a","4"]')" &&
        refuses 'the stream is 1000' "$(step '["alloc","a",4,1000]')"
}
bad_lines() {
    refuses 'is not JSON' '{"id":' && refuses 'has no id' '{}' && refuses 'has no id' '7' &&
        refuses 'there is no trace' '{"id":"x","device_bytes":1,"peak_allocated":0,"peak_reserved":0,"alloc_retries":0,"ooms":0}' &&
        refuses 'there is no ooms' "$(step '["empty_cache"]' | sed 's/,"ooms":0//')" &&
        refuses 'device_bytes is missing' "$(step '["empty_cache"]' | sed 's/"device_bytes":4194304,//')"
}
counted() { # after an invalid line the next one is run; empty lines are ignored
    { whole "sizes around 512"; echo; echo '{'; whole "sizes around 1 MiB"; } >"$work/cases"
    ! allocator "$work/cases" && counts 2 1
}
no_file() {
    ! allocator && ! allocator "$work/none" && grep -q "none: No such file" "$work/said" &&
        ! allocator "$work" && ! { : >"$work/empty" && allocator "$work/empty"; }
}
same_again() { # the second model still gives the committed results
    python3 tests/allocator/make_cases.py | cmp - "$own"
}

holds "our scenarios" all_pass "$own"
holds "a wrong, missing or extra field fails by name" each_field
holds "a step that is none says so" bad_steps
holds "a line that is none says so" bad_lines
holds "every line counts" counted
holds "no file, no scenario: red" no_file
if command -v python3 >/dev/null; then holds "our scenarios are those of the second model" same_again
else skips "our scenarios are those of the second model" "python3 is not there"; fi
if [[ -f $given ]]; then holds "the given scenarios" all_pass "$given"
else skips "the given scenarios" "../shared/oracle is not there"; fi
finish
