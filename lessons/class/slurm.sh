#!/usr/bin/env bash
#SBATCH --job-name=ferry-class
#SBATCH --output=ferry-class-%A-%a.out
# Grades a class on a Slurm cluster: a task of an array a shard, and a job that joins them when all have ended well.
#
#     lessons/class/slurm.sh submit DIR 8                    both, from the folder that will hold class.csv
#
#     id=$(sbatch --parsable --array=1-8 slurm.sh DIR)       the same by hand
#     sbatch --dependency=afterok:$id slurm.sh join DIR 8
#
# All nodes must see DIR, ferry and the folder it was typed in. FERRY names the command, if it is not ./build/ferry or in
# PATH; CSV the table (class.csv); OPTIONS has more for ferry grade-class: OPTIONS='--secret FILE --seconds 20'; SBATCH
# more for sbatch: SBATCH='--partition=short --cpus-per-task=4'. What an interrupted task has graded counts; to run
# tasks 3 and 7 of 8 again: sbatch --array=3,7 slurm.sh DIR 8.
set -euo pipefail
csv=${CSV:-class.csv}
ferry=${FERRY:-ferry}
[[ -n ${FERRY:-} || ! -x build/ferry ]] || ferry=$PWD/build/ferry
read -ra options <<<"${OPTIONS:-}"
read -ra more <<<"${SBATCH:-}"
die() { echo "slurm.sh: $*" >&2; exit 2; }

submit() { # submit DIR SHARDS
    local id
    id=$(sbatch --parsable --array="1-$2" "${more[@]}" "$0" "$1" "$2")
    id=${id%%;*} # with the cluster's name, where there are several
    sbatch --dependency="afterok:$id" --kill-on-invalid-dep=yes "${more[@]}" "$0" join "$1" "$2"
}
shard() { # shard DIR [SHARDS]
    local task=${SLURM_ARRAY_TASK_ID:-} count=${2:-${SLURM_ARRAY_TASK_COUNT:-}} table
    [[ -n $task ]] || die "this is no task of an array: sbatch --array=1-8 slurm.sh DIR, or slurm.sh submit DIR 8"
    [[ -n ${2:-} || (${SLURM_ARRAY_TASK_MIN:-1} == 1 && ${SLURM_ARRAY_TASK_MAX:-$count} == "$count") ]] ||
        die "the array is no 1-$count: say how many shards there are, as in: sbatch --array=3,7 slurm.sh DIR 8"
    table=$csv.shards/$task-of-$count.csv
    mkdir -p "$csv.shards"
    [[ ! -e $table ]] || return 0 # complete
    "$ferry" grade-class "$1" --shard "$task/$count" --csv "$table.part" --jobs "${SLURM_CPUS_ON_NODE:-1}" "${options[@]}"
    mv "$table.part" "$table"
}
join() { # join DIR SHARDS
    local tables=() i
    for ((i = 1; i <= $2; i++)); do tables+=("$csv.shards/$i-of-$2.csv"); done
    "$ferry" join-class "$csv" "${tables[@]}"
    "$ferry" grade-class "$1" --csv "$csv" "${options[@]}" # nothing is left: it tells what the whole table says
}

case ${1:-} in
submit | join) [[ -d ${2:-} && ${3:-} =~ ^[1-9][0-9]*$ ]] || die "usage: slurm.sh $1 DIR SHARDS"; "$@" ;;
*) [[ -d ${1:-} ]] || die "there is no folder '${1:-}': sbatch --array=1-8 slurm.sh DIR"; shard "$@" ;;
esac
