#!/usr/bin/env bash
# Other ways to write the solutions that keep the values (tests/mutants/equivalences.mjs) pass, or spend a budget and fail it
# alone. One of each lesson; LONG=1: sixty of each.
. "$(dirname "$0")/shell.sh"

MOST=1 # variants of a lesson, another way of writing in each
[[ -z ${LONG:-} ]] || MOST=60

holds "what keeps the values fails no check but a budget" node tests/mutants/equivalents.mjs "$B" $MOST
finish
