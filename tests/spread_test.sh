#!/usr/bin/env bash
# A class over shards, with make and with Slurm, and on Gradescope: the joined table is that of one run, and results.json
# says what was earned. LONG=1: a Slurm cluster of one node, and the autograder's zip in a fresh Debian.
. "$(dirname "$0")/shell.sh"
export FERRY_GPU=sim NO_INSTALL=1 FERRY_HOME=$PWD
ferry=$(realpath "$B/ferry")
daemons=() # of the cluster, by their files of process ids
trap 'stop_cluster; rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' INT TERM HUP
chmod 755 "$work" # programs may run as another user

hand_in() { mkdir -p "$work/class/$1" && if [[ -f lessons/$2/$3 ]]; then cat "lessons/$2/$3"; else echo "$3"; fi >"$work/class/$1/$2.c"; }
hand_in ada 01-where-am-i solution.c
hand_in ada 02-to-returns wrong_twice.c
hand_in bob 01-where-am-i wrong_on_cpu.c
hand_in 'cyd, c' 02-to-returns solution.c
hand_in dan 01-where-am-i 'int main('
whole() { (cd "$work" && "$ferry" grade-class class --csv whole.csv) && [[ $(wc -l <"$work/whole.csv") -gt 40 ]]; }

# ---- make, ssh --------------------------------------------------------------------------------------------------
shards() { make -C "$work" -f "$PWD/lessons/class/class.mk" FERRY="$ferry" CLASS=class SHARDS=3 "$@"; }
make_equals() {
    shards -j2 >"$work/said" && cmp "$work/whole.csv" "$work/class.csv" && grep '4 students, 8 submissions graded, 2 passed' "$work/said" &&
        [[ $(ls "$work/class.csv.shards") == $'1-of-3.csv\n2-of-3.csv\n3-of-3.csv' ]]
}
make_goes_on() { # the table of a shard that was complete is not made again
    rm "$work/class.csv" "$work/class.csv.shards/2-of-3.csv" &&
        shards >"$work/said" && cmp "$work/whole.csv" "$work/class.csv" && [[ $(grep -c -- --shard "$work/said") == 1 ]]
}
over_ssh() { # to each machine in turn; here ssh runs it in a shell, as sshd does
    mkdir -p "$work/bin" && printf '#!/bin/sh\necho "$2" >>%s/hosts\nshift 2\ncd / && exec sh -c "$*"\n' "$work" >"$work/bin/ssh" &&
        chmod +x "$work/bin/ssh" && PATH=$work/bin:$PATH shards CSV=far.csv HOSTS='one two' && cmp "$work/whole.csv" "$work/far.csv" &&
        [[ $(sort "$work/hosts" | uniq -c | xargs) == '2 one 1 two' ]]
}
join() { (cd "$work" && "$ferry" join-class "$@" >said 2>&1); }
says() { grep -F "$1" "$work/said"; }
refused() {
    ! join out.csv class.csv.shards/1-of-3.csv class.csv.shards/1-of-3.csv && says 'is in two of these tables' &&
        ! join out.csv class.csv.shards/1-of-3.csv none.csv && says 'cannot read none.csv' &&
        ! join out.csv class/ada/01-where-am-i.c && says 'record 1 is not of a class' && [[ ! -e $work/out.csv ]]
}

# ---- Slurm ------------------------------------------------------------------------------------------------------
slurm() { (cd "$work" && FERRY=$ferry "$OLDPWD/lessons/class/slurm.sh" "$@"); }
task() { SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=3 slurm class; }
by_tasks() { # what Slurm tells a task stands in its environment
    export CSV=tasks.csv
    for i in 1 2 3; do task $i || return 1; done
    slurm join class 3 && cmp "$work/whole.csv" "$work/tasks.csv"
    local status=$?
    unset CSV
    return $status
}
no_other_shards() { # of an array 3,7 the count is 2, though the class is in eight parts
    ! SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=7 CSV=part.csv slurm class 2>"$work/said" &&
        says 'sbatch --array=3,7 slurm.sh DIR 8' && [[ ! -e $work/part.csv.shards ]]
}
why_no_cluster() {
    local name
    if [[ $(id -u) != 0 ]]; then echo "only root may start its daemons"; fi
    for name in munged slurmctld slurmd sbatch; do command -v $name >/dev/null || { echo "$name is not installed"; return; }; done
}
start_cluster() { # one node, this machine, with files of its own
    local dir=$work/slurm name
    name=$(hostname -s) && mkdir -p "$dir/munge" "$dir/spool" "$dir/state" && chmod 700 "$dir/munge" &&
        head -c 64 /dev/urandom >"$dir/munge/key" && chmod 600 "$dir/munge/key" || return 1
    cat >"$dir/slurm.conf" <<END
ClusterName=ferry
SlurmctldHost=$name(127.0.0.1)
SlurmUser=root
AuthInfo=socket=$dir/munge/socket
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmctldPort=$((20000 + $$ % 20000))
SlurmdPort=$((40000 + $$ % 20000))
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmdSpoolDir=$dir/spool
StateSaveLocation=$dir/state
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
SchedulerParameters=sched_interval=1
ReturnToService=2
NodeName=$name NodeAddr=127.0.0.1 CPUs=$(nproc)
PartitionName=all Nodes=ALL Default=YES
END
    export SLURM_CONF=$dir/slurm.conf
    daemons=("$dir/munge/pid" "$dir/slurmctld.pid" "$dir/slurmd.pid")
    munged --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
        --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" && slurmctld -c && slurmd
}
stop_cluster() {
    local file i
    for file in "${daemons[@]}"; do [[ ! -s $file ]] || kill "$(cat "$file")" 2>/dev/null; done
    for file in "${daemons[@]}"; do for ((i = 0; i < 100; i++)); do [[ -e $file ]] || break; sleep 0.1; done; done
    daemons=()
}
on_a_cluster() {
    local i
    start_cluster && CSV=cluster.csv slurm submit class 3 || { tail "$work"/slurm/*.log; return 1; }
    for ((i = 0; i < 1200; i++)); do [[ -n $(squeue -h) ]] || break; sleep 0.1; done
    cat "$work"/ferry-class-*.out
    cmp "$work/whole.csv" "$work/cluster.csv" && [[ $(ls "$work"/ferry-class-*-[123].out | wc -l) == 3 ]]
}

# ---- Gradescope ---------------------------------------------------------------------------------------------------
# result STUDENT EXPRESSION: of what this student handed in; r is what was read, t its tests by name.
result() { reads "$work/$1.json" "$2"; }
reads() { node -e 'const assert = require("assert"), r = JSON.parse(require("fs").readFileSync(process.argv[1])), t = {};
    for (const one of r.tests) t[one.name.replace("01-where-am-i: ", "")] = one;
    for (const one of r.tests) assert(["passed", "failed"].includes(one.status) && one.score <= one.max_score && typeof one.output == "string");
    assert.strictEqual(r.score, r.tests.reduce((sum, one) => sum + one.score, 0));
    assert.strictEqual(r.extra_data.max_score, r.tests.reduce((sum, one) => sum + one.max_score, 0));
    assert(eval(process.argv[2]), JSON.stringify(r, null, 1));' "$1" "$2"; }
submit() { FERRY_MY=$work/class/$1 "$ferry" grade 01 --gradescope "$work/$1.json"; }
passing() { submit ada && result ada 'r.score == 9 && r.tests.length == 9 && r.tests.every(one => one.status == "passed")'; }
failing() {
    submit bob && result bob 'r.score == 7 && r.extra_data.max_score == 9 && t["ran-on-the-card"].status == "failed" &&
        t["ran-on-the-card"].output.startsWith("my/01-where-am-i.c:19: mat1 was never copied") && t["ran-on-the-card"].extra_data.line == 19 &&
        t["one-copy"].score == 1 && /expected .*\ngot /.test(t["ran-on-the-card"].output)'
}
not_compiling() {
    submit dan && result dan 'r.score == 0 && r.extra_data.max_score == 9 && t.compiled.output.startsWith("my/01-where-am-i.c:1: ") &&
        t.compiled.output.includes("int main(") && r.output.includes("0 of 9 points")'
}
crashing() { # what it computed before counts for nothing
    sed 's/^}$/    __builtin_trap();\n}/' lessons/01-where-am-i/solution.c >"$work/trap.c" && hand_in eve 01-where-am-i "$(cat "$work/trap.c")" &&
        submit eve && result eve 'r.score == 0 && t.ran.output.includes("the program crashed") && t.answered.score == 0' || return 1
    (cd "$work" && mkdir crash && cp -r class/eve crash && "$ferry" grade-class crash --csv crash.csv) && grep -E 'eve,01-where-am-i,total,0,[0-9]+,9,failed' "$work/crash.csv"
    local status=$?
    rm -r "$work/class/eve"
    return $status
}
nothing() {
    mkdir -p "$work/class/fay" && submit fay && result fay 'r.score == 0 && r.extra_data.max_score == 9 && t.submitted.output == "no file 01-where-am-i.c was handed in"' &&
        FERRY_MY=$work/class/fay "$ferry" check-all --gradescope "$work/fay.json" && result fay 'r.score == 0 && r.tests.length == 0 && r.output.includes("no file of a lesson")'
    local status=$?
    rmdir "$work/class/fay" # as it was: nothing was written into it
    return $((status || $?))
}
several() { # a folder my/ is looked into as well; points of one's own
    mkdir -p "$work/two/my" && cp lessons/01-where-am-i/solution.c "$work/two/my/01-where-am-i.c" && cp lessons/02-to-returns/solution.c "$work/two/02-to-returns.c" &&
        echo '{"01-where-am-i": {"answered": 2.5}, "02-to-returns": {"answered": 1, "predicted-1": 4}}' >"$work/points.json" &&
        FERRY_MY=$work/two "$ferry" check-all --gradescope "$work/two.json" && result two 'r.score == 19' &&
        FERRY_MY=$work/two "$ferry" grade 01 02 --points "$work/points.json" --gradescope "$work/two.json" &&
        result two 'r.score == 3.5 && r.extra_data.max_score == 7.5 && t["02-to-returns: predicted-1"].score == 0'
}
no_secrets() { ! FERRY_MY=$work/two "$ferry" grade 01 --gradescope "$work/x.json" --secret "$work/points.json" && [[ ! -e $work/x.json ]]; }
as_nobody() { # a program cannot write its own results
    hand_in gus 01-where-am-i '#include <ferry.h>
#include <stdio.h>
int main(void)
{
    FILE *f = fopen("'"$work/gus.json"'", "w");
    fy_print(fy_ones((1)));
    return f ? 3 : 4;
}' && submit gus && result gus 't.ran.output.includes("exit status '$((4 - ($(id -u) != 0)))'")'
    local status=$?
    rm -r "$work/class/gus"
    return $status
}

# The zip, in the folders that Gradescope has; setup.sh and its packages are for LONG.
packed() {
    (umask 077 && head -c 32 /dev/urandom >"$work/secret") && make -s B="$B" gradescope LESSONS="01 02" SECRET="$work/secret" | tee "$work/said" && says ': 01 02, 19 points' &&
        [[ -s $B/gradescope.zip && -x $B/gradescope/setup.sh && -x $B/gradescope/run_autograder && -x $B/gradescope/ferry/bin/ferry ]]
}
shows_nothing() { ! find "$B/gradescope" -name 'solution*' -o -name 'wrong*' -o -name 'check.c' -o -name '*.pc' -o -name 'verdicts*' | grep .; }
wrong_name() {
    ! make -s B="$B" gradescope LESSONS="01 99" >"$work/said" 2>&1 && says "there is no lesson '99'" &&
        ! make -s B="$B" gradescope >"$work/said" 2>&1 && says 'make gradescope LESSONS="01 02 03"'
}
lay_out() { # lay_out DIR: as Gradescope does
    rm -rf "$1" && mkdir -p "$1/source" "$1/submission" "$1/results" && cp -r "$B"/gradescope/* "$1/source" && cp "$1/source/run_autograder" "$1" &&
        echo '{"id": 7, "users": [{"email": "ada@example.edu", "id": 1}]}' >"$1/submission_metadata.json"
}
autograder() {
    lay_out "$work/autograder" && cp lessons/01-where-am-i/solution.c "$work/autograder/submission/01-where-am-i.c" &&
        env -u FERRY_HOME AUTOGRADER="$work/autograder" AUTOGRADER_FERRY="$work/autograder/source/ferry" "$work/autograder/run_autograder" &&
        reads "$work/autograder/results/results.json" 'r.score == 9 && r.extra_data.max_score == 19'
}
why_no_root() {
    if [[ $(id -u) != 0 ]]; then echo "only root may make a root"
    elif ! command -v debootstrap >/dev/null; then echo "debootstrap is not installed"
    elif ! unshare --mount --pid --fork --kill-child chroot / true 2>/dev/null; then echo "no namespaces, or no chroot, are allowed"
    fi
}
proxy() { apt-config shell p "Acquire::$1::Proxy" | sed -n "s/^p='\(.*\)'$/\1/p"; }
fresh_debian() {
    local suite place root=$work/root
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    http_proxy=$(proxy http) debootstrap --variant=minbase "$suite" "$root" \
        "$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' | awk -v suite="$suite" '$2 == suite { print $1; exit }')" || return 1
    for place in sources.list sources.list.d keyrings trusted.gpg.d; do
        rm -rf "$root/etc/apt/$place"
        [[ ! -e /etc/apt/$place ]] || cp -aL "/etc/apt/$place" "$root/etc/apt/"
    done
    apt-config dump | grep -E '^Acquire::(Check|Languages|[a-z]+::(Proxy|Timeout))' >"$root/etc/apt/apt.conf.d/90acquire"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
}
inside() { # inside COMMAND: in the root, with all that it starts
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child --mount-proc sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
        exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root http_proxy="$2" bash -c "$1"' "$work/root" "$1" "$(proxy http)"
}
in_fresh_debian() {
    fresh_debian && lay_out "$work/root/autograder" && inside /autograder/source/setup.sh &&
        cp lessons/0[12]-*/solution.c "$work/root/autograder/submission" 2>/dev/null
    cp lessons/01-where-am-i/solution.c "$work/root/autograder/submission/01-where-am-i.c" &&
        cp lessons/02-to-returns/wrong_twice.c "$work/root/autograder/submission/02-to-returns.c" &&
        inside 'cd /autograder && ./run_autograder && ! command -v make' &&
        reads "$work/root/autograder/results/results.json" 'r.score > 9 && r.score < 19 && r.extra_data.max_score == 19'
}

holds "a class is graded in one run" whole
holds "make grades it in three shards, with the same table" make_equals
holds "make grades the missing shard alone" make_goes_on
holds "shards go over ssh to each machine in turn" over_ssh
holds "tables that are no parts of a class are refused" refused
holds "tasks of a Slurm array give the same table" by_tasks
holds "an array that is not whole must say its shards" no_other_shards
holds "Gradescope: all points for a solution" passing
holds "Gradescope: a failed check is named with its line" failing
holds "Gradescope: nothing for what does not compile, and why" not_compiling
holds "Gradescope: nothing for what crashes, and why" crashing
holds "Gradescope: an empty submission gets a valid result" nothing
holds "Gradescope: several lessons, and points of one's own" several
holds "Gradescope: a secret that cannot serve is refused" no_secrets
holds "Gradescope: a program cannot write root's results" as_nobody
holds "make gradescope refuses a lesson that is not there" wrong_name
holds "make gradescope makes a zip" packed
holds "there is no solution in it" shows_nothing
holds "its autograder grades what was handed in" autograder
if [[ -n ${LONG:-} ]]; then
    why=$(why_no_cluster)
    if [[ -n $why ]]; then skips "a Slurm cluster of one node gives the same table" "$why"
    else holds "a Slurm cluster of one node gives the same table" on_a_cluster; fi
    why=$(why_no_root)
    if [[ -n $why ]]; then skips "the zip grades in a fresh Debian" "$why"
    else holds "the zip grades in a fresh Debian" in_fresh_debian; fi
fi
finish
