#!/usr/bin/env bash
# The graders against small changes: variants of the lessons' solutions, made by operators on their text, must fail unless
# their run is the same but for order, or tests/mutants/survivors.txt says why it may pass. A sample of the lessons;
# LONG=1: all, at least 500 variants that do something else, of which at most 2 % pass.
. "$(dirname "$0")/shell.sh"
MOST=16 # variants of a lesson
sample=(00-start 05-bytes-on-the-bus 26-between-cards)
[[ -z ${LONG:-} ]] || sample=()

same_list() { # the same text, twice
    cat >"$work/list.mjs" <<'N'
import fs from 'node:fs';
const { variantsOf } = await import(`file://${process.cwd()}/tests/mutants/generate.mjs`);
console.log(JSON.stringify(fs.readdirSync('lessons').filter(id => fs.existsSync(`lessons/${id}/solution.c`)).map(id => variantsOf(fs.readFileSync(`lessons/${id}/solution.c`, 'utf8'), 16))));
N
    node "$work/list.mjs" >"$work/one" && node "$work/list.mjs" >"$work/two" && cmp "$work/one" "$work/two" && [[ -s $work/one ]]
}
reasons() { ! grep -vE '^(#|[a-z0-9-]+/[a-z-]+/[0-9]+: .{20,}$)' tests/mutants/survivors.txt; }

holds "variants are the same each time" same_list
holds "every listed survivor has a reason" reasons
holds "no unlisted variant of a solution passes" node tests/mutants/run.mjs "$B" $MOST ${sample[@]+"${sample[@]}"}
finish
