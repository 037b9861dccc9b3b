#!/usr/bin/env bash
# `make install` into an empty folder; then a program is built against it with pkg-config
# alone, and the installed command works without the source tree.
. "$(dirname "$0")/shell.sh"
prefix=$work/prefix
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export FERRY_GPU=sim
unset FERRY_HOME

installs() { make -s B="$B" PREFIX="$prefix" install; }
documents() {
    local file
    for file in LICENSE README.md CHANGELOG.md; do cmp "$file" "$prefix/share/doc/ferry/$file" || return 1; done
}
# The first section of the changelog tells what this version has.
changes_of_this_version() {
    local version
    version=$("$prefix/bin/ferry" --version) && version=${version#ferry }
    grep -m 1 '^## ' "$prefix/share/doc/ferry/CHANGELOG.md" | grep -E "^## ${version//./[.]}[, ]"
}
stages() { # DESTDIR is where it goes, PREFIX is what the files say
    make -s B="$B" PREFIX=/opt/ferry DESTDIR="$work/stage" install &&
        grep -qx 'prefix=/opt/ferry' "$work/stage/opt/ferry/lib/pkgconfig/ferry.pc" &&
        ! grep -rq "$work" "$work/stage/opt/ferry/lib/pkgconfig"
}
uninstalls() {
    make -s B="$B" PREFIX=/opt/ferry DESTDIR="$work/stage" uninstall && [[ -z $(find "$work/stage" -type f) ]]
}

mkdir -p "$work/own"
cat >"$work/own/a.c" <<'C'
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_ones((2, 3));
    fy_tensor *b = fy_to(a, "cuda");
    fy_tensor *c = fy_add(b, b);
    fy_print(fy_cpu(c));
}
C
cat >"$work/own/b.cc" <<'C'
#include <ferry.h>

int main()
{
    return fy_cuda_device_count() >= 0 ? 0 : 1;
}
C
builds() { # builds MODULE OUT
    (cd "$work/own" && gcc -Wall -Wextra -Werror a.c $(pkg-config --cflags --libs "$1") -o "$2")
}
runs() { (cd "$work/own" && "$1" | grep 2); }
traces() {
    (cd "$work/own" && FERRY_TRACE=run.jsonl ./a.out >/dev/null && head -n 1 run.jsonl | grep '"kind":"session"' &&
        grep -q '"kind":"copy"' run.jsonl && tail -n 1 run.jsonl | grep '"kind":"end"')
}
cplusplus() {
    (cd "$work/own" && g++ -std=c++17 -Wall -Wextra -Werror b.cc $(pkg-config --cflags --libs ferry-core) -o b.out && ./b.out)
}
webless() { ! ldd "$work/own/core.out" | grep -E 'civetweb|cjson'; }
lists() { (cd "$work/own" && "$prefix/bin/ferry" list | grep 01-where-am-i); }
grades() { # the learner's file is created in the current folder
    (cd "$work/own" && XDG_CACHE_HOME=$work/cache && export XDG_CACHE_HOME && mkdir -p my &&
        cp "$OLDPWD/lessons/01-where-am-i/solution.c" my/01-where-am-i.c && "$prefix/bin/ferry" grade 01-where-am-i)
}
proves_own_lessons() { # a check.c is built with the installed headers
    (cd "$work/own" && XDG_CACHE_HOME=$work/cache && export XDG_CACHE_HOME && "$prefix/bin/ferry" new-lesson mine/01-own &&
        "$prefix/bin/ferry" prove 01-own --lessons mine && ls "$work"/cache/ferry/my/.own/*/checks/01-own.so)
}
refuses_to_build() { # a world-writable folder may contain anybody's files
    mkdir -p "$work/open/ferry/my" && chmod 777 "$work/open/ferry/my" &&
        ! (cd "$work/own" && XDG_CACHE_HOME=$work/open "$prefix/bin/ferry" grade 01-where-am-i) >"$work/refused" 2>&1 &&
        grep 'cannot build: .*/ferry/my can be written by' "$work/refused" && [[ -z $(ls "$work/open/ferry/my") ]]
}

# Fetches the page whose URL a viewed program printed to $1; the program may have ended.
page_of() {
    local i url
    for ((i = 0; i < 100; i++)); do
        url=$(grep -o 'http://127[^ #]*' "$1" | head -n 1) && break
        sleep 0.1
    done
    [[ -n $url ]] && exec 3<>"/dev/tcp/127.0.0.1/$(sed 's/.*://; s|/.*||' <<<"$url")" &&
        printf 'GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' >&3 && grep -q '<title>Ferry' <&3
}
# Starts a command whose viewer prints its URL to $work/seen, fetches the page, ends both.
seen() {
    local status=0 pid
    : >"$work/seen"
    BROWSER=none XDG_STATE_HOME=$work/state timeout 60 "$@" >"$work/printed" 2>"$work/seen" &
    pid=$!
    page_of "$work/seen" || status=1
    kill -INT "$pid" 2>/dev/null # timeout forwards it only to the program; the viewer gets its signal below
    sed -n 's/.*`kill \([0-9]*\)`.*/\1/p' "$work/seen" | while read -r viewer; do kill "$viewer"; done
    wait "$pid" 2>/dev/null
    cat "$work/seen"
    return $status
}
cat >"$work/own/args.c" <<'C'
#include <ferry.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    fy_print(fy_cuda(fy_ones((2))));
    for (int i = 1; i < argc; i++) printf("[%s]", argv[i]);
    fflush(stdout);
}
C
views() { # all arguments are the program's, also those that a lesson would take
    (cd "$work/own" && gcc args.c $(pkg-config --cflags --libs ferry) -o args.out) &&
        seen env FERRY_VIEW=1 "$work/own/args.out" --view --trace zzz && grep -F '[--view][--trace][zzz]' "$work/printed"
}
lone_lesson() { # one file, copied out of the tree
    mkdir -p "$work/lone" && cp "$B/lessons/01-where-am-i" "$work/lone/01-where-am-i" &&
        (cd "$work/lone" && seen env -i PATH=/usr/bin:/bin HOME="$work/lone" BROWSER=none ./01-where-am-i --view)
}
moved() { # a copy of the checkout compiles against itself, and its .pc files do not name this one
    mkdir -p "$work/moved/$B" && cp -r lib "$work/moved" && cp "$B"/*.pc "$B"/*.a "$work/moved/$B" || return 1
    ! grep -lF "$PWD" "$work/moved/$B"/*.pc || return 1
    (export PKG_CONFIG_PATH=$work/moved/$B && cd "$work/own" && for pc in ferry ferry-core; do
        gcc -Wall -Werror a.c $(pkg-config --cflags --libs $pc) -o moved.out && ./moved.out | grep 2 || exit 1
    done)
}
uninstalled() {
    (export PKG_CONFIG_PATH=$(realpath "$B") && cd "$work/own" &&
        gcc -Wall -Werror a.c $(pkg-config --cflags --libs ferry) -o b.out && ./b.out | grep 2)
}

holds "make install PREFIX=" installs
holds "licence, README and changelog are installed" documents
holds "the changelog begins with the version that ferry names" changes_of_this_version
holds "make install DESTDIR= stages" stages
holds "make uninstall leaves no file" uninstalls
holds "a program builds by pkg-config ferry" builds ferry a.out
holds "a program builds by pkg-config ferry-core" builds ferry-core core.out
holds "the program runs" runs ./a.out
holds "the program without the viewer runs" runs ./core.out
holds "ferry-core needs no web library" webless
holds "FERRY_TRACE writes the run" traces
holds "FERRY_VIEW=1 shows one's own program and leaves its arguments alone" views
holds "a lesson executable alone serves its run" lone_lesson
holds "a program builds against build/ by pkg-config" uninstalled
holds "a moved checkout builds against itself" moved
holds "C++ may include ferry.h" cplusplus
holds "the installed ferry lists the lessons" lists
holds "the installed ferry grades" grades
holds "the installed ferry proves a teacher's own lesson" proves_own_lessons
holds "it builds nothing in a folder writable by others" refuses_to_build
finish
