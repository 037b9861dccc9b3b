# Sourced by tests/*_test.sh: results as tests/run reads them. Runs in the repository's root.
#
#   holds NAME COMMAND...   passes when COMMAND succeeds; its output is shown when it does not
#   skips NAME REASON       did not run, and why
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
