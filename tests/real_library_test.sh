#!/usr/bin/env bash
# libferry-cuda.so, the library for real cards, may be added to built programs or removed: without it they
# run and print what to type; with it they use it. A small replacement is used here, without nvcc.
. "$(dirname "$0")/shell.sh"
B=$(realpath "$B")
unset FERRY_NARRATE LD_LIBRARY_PATH

# library FOLDER ANSWER: a library that returns ANSWER as its back end, whose cards fail to open with its own message
library() {
    cat >"$work/library.c" <<C
#include <stdio.h>
#include "cuda_library.h"

static bool open_none(fy_dev *d, char *why, size_t room)
{
    (void)d;
    return snprintf(why, room, "asked the library"), false;
}

__attribute__((unused)) static const fy_backend backend = {.kind = "real", .open = open_none};

const fy_backend *fy_cuda_open_library(const fy_cuda_host *host)
{
    return host->layout == fy_cuda_layout() && host->now() == 0 ? $2 : NULL;
}
C
    mkdir -p "$1" && gcc -shared -fPIC -DFERRY_INSIDE -Wall -Werror -Ilib $(printf -- '-I%s ' lib/*/) "$work/library.c" -o "$1/libferry-cuda.so"
}
says() { # says WORDS PROGRAM...: asked for a real card it prints why there is none; its status is ignored
    local words=$1
    shift
    FERRY_GPU=real "$@" >"$work/said" 2>&1
    grep -qF "FERRY_GPU=real needs a real card, and there is none: $words. FERRY_GPU=auto simulates one" "$work/said" || { cat "$work/said"; return 1; }
}

cat >"$work/a.c" <<'C'
#include <ferry.h>

int main(void)
{
    fy_print(fy_to(fy_ones((2)), "cuda"));
}
C
own() { # a program built against a library folder with pkg-config
    mkdir -p "$work/kit" && cp "$B/libferry.a" "$work/kit/" &&
        sed "s|^libdir=.*|libdir=$work/kit|; s|^includedir=.*|includedir=$PWD/lib|" "$B/ferry-core.pc" >"$work/kit/ferry-core.pc" &&
        PKG_CONFIG_PATH=$work/kit gcc "$work/a.c" $(PKG_CONFIG_PATH=$work/kit pkg-config --cflags --libs ferry-core) -o "$work/own" &&
        grep -qF -- '-L${libdir} -Wl,-rpath,${libdir} ' lib/ferry.pc.in
}
simulated() { FERRY_GPU=auto "$1" | grep "cuda:0"; }
lesson() { mkdir -p "$work/lessons" && cp "$B/lessons/01-where-am-i" "$work/lessons/01-where-am-i" && says "$1" "$work/lessons/01-where-am-i"; }
learners() { # a learner's program built by `ferry run`, with the library in ferry's folder
    mkdir -p "$work/home/build" "$work/home/my" && cp "$B/ferry" "$B/libferry.a" "$work/home/build/" && cp -r lessons lib "$work/home/" &&
        cp lessons/01-where-am-i/solution.c "$work/home/my/01-where-am-i.c" && library "$work/home/build" '&backend' &&
        (cd "$work/home" && FERRY_HOME=$work/home FERRY_MY=$work/home/my XDG_CACHE_HOME=$work/cache FERRY_GPU=real build/ferry run 01 >"$work/said" 2>&1
            grep -F "asked the library" "$work/said" || { cat "$work/said"; false; })
}
none='the kernels for a real card are not built; `make all` builds them, with nvcc'

library "$work/empty" NULL
holds "a program of one's own builds without it" own
holds "without it, what to type is said" says "$none" "$work/own"
holds "the card is simulated unless a real one was requested" simulated "$work/own"
library "$work/kit" '&backend'
holds "once there, the same program asks it for a card" says "asked the library" "$work/own"
library "$work/kit" NULL
holds "another build's is not used, and that is said" says 'the kernels for a real card are from another build of Ferry; run `make all`' "$work/own"
: >"$work/kit/libferry-cuda.so"
holds "one that is damaged is named" says "$work/kit/libferry-cuda.so: file too short" "$work/own"
rm -f "$work/kit/libferry-cuda.so"
holds "gone again, it is done without" says "$none" "$work/own"
holds "a lesson does without it, too" lesson "$none"
library "$work" '&backend'
holds "and finds one that is installed beside it" lesson "asked the library"
holds "a learner's program finds it where ferry's own library is" learners
finish
