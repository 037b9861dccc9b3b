# Sourced by tests/*_test.sh: prints TAP for tests/run. Changes to the repository's root. $work is a temporary folder.
#
#   holds NAME COMMAND...   passes if COMMAND succeeds; on failure its status and last 40 lines are shown
#   skips NAME REASON       reports a test that did not run
#   finish                  prints the plan and exits; the last line of each suite
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
B=${B:-build}
results=0 bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

holds() {
    local name=$1 status
    shift
    results=$((results + 1))
    if "$@" >"$work/holds.out" 2>&1; then
        echo "ok $results - $name"
    else
        status=$?
        bad=1
        echo "not ok $results - $name"
        echo "# $* ended with status $status"
        tail -n 40 "$work/holds.out" | sed 's/^/# /'
    fi
}

skips() {
    results=$((results + 1))
    echo "ok $results - $1 # SKIP $2"
}

finish() { echo "1..$results"; exit $bad; }
