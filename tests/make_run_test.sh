#!/usr/bin/env bash
# `make run` as typed by a user, with everything installed: it prints one URL, over SSH also the
# forwarding command; a second one points to the first, and another checkout has its own server. No network, no install.
. "$(dirname "$0")/shell.sh"
export XDG_STATE_HOME=$work/state FERRY_MY=$work/my BROWSER=none NO_INSTALL=1 FERRY_GPU=sim
export FERRY_HOME=$PWD
unset DISPLAY WAYLAND_DISPLAY SSH_CONNECTION
mkdir -p "$FERRY_MY"

address() { grep -o 'http://127[^ ]*#token=[0-9a-f]*' "$1" | head -n 1; }
await() { # await FILE: waits up to a minute for its URL
    for ((i = 0; i < 600; i++)); do
        [[ -n $(address "$1") ]] && return
        sleep 0.1
    done
    cat "$1"
    return 1
}
first() {
    SSH_CONNECTION='10.0.0.1 50000 10.0.0.2 22' timeout 240 make -s B="$B" run >"$work/first" 2>&1 &
    echo $! >"$work/pid"
    await "$work/first"
}
one_address() { [[ $(grep -o 'http://[^ ]*' "$work/first" | sort -u | wc -l) == 1 ]]; }
forwards() { local port; port=$(address "$work/first" | sed 's/.*127.0.0.1://; s|/.*||'); grep -q "ssh -L $port:127.0.0.1:$port" "$work/first"; }
simulated() { [[ $(grep -c 'simulated' "$work/first") == 1 ]]; }
second() {
    timeout 60 make -s B="$B" run >"$work/second" 2>&1
    [[ -n $(address "$work/first") && $(address "$work/second") == "$(address "$work/first")" ]]
}
another() { # a second checkout of the same user: its own URL and folder
    mkdir -p "$work/checkout/build" && cp -a "$B/ferry" "$B/libferry.a" "$B/lessons" "$work/checkout/build/" &&
        cp -a lessons lib Makefile "$work/checkout/" || return 1
    (unset FERRY_HOME FERRY_MY; exec timeout 60 "$work/checkout/build/ferry" serve >"$work/another" 2>&1) &
    echo $! >"$work/another.pid"
    await "$work/another"
    sleep 0.2
    kill -INT "$(cat "$work/another.pid")" && wait "$(cat "$work/another.pid")"
    cat "$work/another"
    [[ -n $(address "$work/another") && $(address "$work/another") != "$(address "$work/first")" ]] &&
        grep -F "your files are in $work/checkout/my" "$work/another"
}
ends() { # Ctrl-C
    [[ -n $(address "$work/first") ]] || return 1
    kill -INT "$(cat "$work/pid")" && wait "$(cat "$work/pid")"
    ! { exec 3<>"/dev/tcp/127.0.0.1/$(address "$work/first" | sed 's/.*127.0.0.1://; s|/.*||')"; } 2>/dev/null
}

in_order() { # the order in a fresh checkout
    make -n B="$work/fresh" run >"$work/would" 2>&1
    [[ $(grep -oE '^\.ci/deps run|-o [^ ]*/fresh/ferry|[^ ]*/fresh/ferry serve' "$work/would" | tr '\n' ' ') == \
        ".ci/deps run -o $work/fresh/ferry $work/fresh/ferry serve " ]] || { tail -n 5 "$work/would"; return 1; }
}

holds "make run installs, builds and then serves" in_order
holds "make run prints an address" first
holds "and only one" one_address
holds "over SSH it prints the forwarding line" forwards
holds "it says once that the GPU is simulated" simulated
holds "a second make run points to the first" second
holds "another checkout's serves its own folder" another
holds "Ctrl-C ends it" ends
finish
