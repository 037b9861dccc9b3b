#!/usr/bin/env bash
# Missing packages are installed by root or password-less sudo, otherwise the command is printed; no download
# if nothing is missing. Without civetweb everything except the page is built, without CodeMirror its editor is plain.
. "$(dirname "$0")/shell.sh"
unset NO_INSTALL CI
mkdir -p "$work/bin"

hide() { # hide WORD...: makes a compiler that cannot link these libraries
    printf '#!/bin/bash\nfor a; do case $a in %s) [[ $* != *.ci/have.c* ]] || exit 1 ;; esac; done\nexec gcc "$@"\n' \
        "$(printf -- '-l%s|' "$@")none" >"$work/bin/hiding"
    chmod +x "$work/bin/hiding"
}
fake() { printf '#!/bin/bash\n%s\n' "$2" >"$work/bin/$1"; chmod +x "$work/bin/$1"; }
deps() { PATH=$work/bin:$PATH CC=hiding .ci/deps "$@" >"$work/deps.out" 2>&1; }
fake apt-get "echo apt-get \"\$@\" >>$work/asked"
fake dnf "echo dnf \"\$@\" >>$work/asked"
asked() { [[ -f $work/asked ]] && grep -q "$1" "$work/asked"; }

nothing_missing() { hide none; rm -f "$work/asked"; deps run && [[ ! -s $work/deps.out && ! -e $work/asked ]]; }
root_installs() { hide cjson; rm -f "$work/asked"; fake id 'echo 0'; deps run; asked 'install.* libcjson-dev'; }
sudo_installs() {
    hide cjson civetweb; rm -f "$work/asked"; fake id 'echo 1000'; fake sudo 'shift; exec "$@"'
    deps run; asked 'install.* libcivetweb-dev libcjson-dev'
}
no_sudo_advises() {
    hide cjson openblas; rm -f "$work/asked"; fake id 'echo 1000'; fake sudo 'exit 1'
    ! deps run && [[ ! -e $work/asked ]] && grep -q 'apt-get install -y libcjson-dev libopenblas-dev' "$work/deps.out" &&
        grep -q 'dnf install -y cjson-devel openblas-devel' "$work/deps.out"
}
# The container's list is that of `make run`, and stands nowhere else.
container_asks_here() {
    local all
    hide cjson civetweb cmark openblas zip; rm -f "$work/asked"; fake id 'echo 0'; CODEMIRROR=$work/none deps run
    all=$(.ci/deps packages) && for name in $(sed -n 's/.*--no-install-recommends //p' "$work/asked") gcc g++ pkg-config; do
        [[ " $all " == *" $name "* ]] || { echo "$name is not in: $all"; return 1; }
    done
    grep -F '$(/.ci/deps packages)' .devcontainer/Containerfile && ! grep -E 'lib[a-z]+-dev|libjs' .devcontainer/Containerfile
}
forbidden() {
    hide cjson; rm -f "$work/asked"; fake id 'echo 0'
    ! NO_INSTALL=1 deps run && [[ ! -e $work/asked ]] && grep -q libcjson-dev "$work/deps.out"
}
# Only the reference BLAS: a header with the same functions, but no OpenBLAS to link.
header_alone() {
    mkdir -p "$work/blas" && echo 'double cblas_ddot(int, const double *, int, const double *, int);' >"$work/blas/cblas.h"
    printf '#!/bin/bash\nexec gcc -I%s "${@/#-lopenblas/-lno-openblas}"\n' "$work/blas" >"$work/bin/hiding"
    rm -f "$work/asked"; fake id 'echo 0'; deps run
    cat "$work/deps.out"; grep -x 'ferry: installing openblas' "$work/deps.out" && asked 'install.* libopenblas-dev'
}
editor_asked() { hide none; rm -f "$work/asked"; fake id 'echo 0'; CODEMIRROR=$work/none deps run; asked 'install.* libjs-codemirror'; }
# A machine without the Chromium that has no windows: it is asked for where apt knows it, and can be done without.
windowless() {
    mkdir "$work/usr" && ln -s /usr/bin/* "$work/usr" && rm -f "$work/usr/chromium-headless-shell" "$work/asked"
    hide none; fake chromium 'exit 0'; fake apt-cache 'exit 0'; fake id 'echo 0'
    PATH=$work/bin:$work/usr CC=hiding .ci/deps test && asked 'install.* chromium-headless-shell' || return 1
    fake id 'echo 1000'; fake sudo 'exit 1'
    PATH=$work/bin:$work/usr CC=hiding .ci/deps test 2>"$work/said" && grep 'apt-get install -y chromium-headless-shell' "$work/said" || return 1
    fake apt-cache 'exit 100'; rm -f "$work/asked"
    PATH=$work/bin:$work/usr CC=hiding .ci/deps test 2>"$work/said" && [[ ! -s $work/said ]]
}
# Tests that were fetched before they used another package.
package_asked() {
    local tree=$work/tree
    mkdir -p "$tree/tests/page/node_modules/ws" && cp -r .ci "$tree" && cp tests/page/package-lock.json "$tree/tests/page" || return 1
    ! NO_INSTALL=1 "$tree/.ci/deps" test 2>"$work/said" && grep 'Type: cd tests/page && npm ci' "$work/said" || return 1
    mkdir "$tree"/tests/page/node_modules/{axe-core,playwright-core} && NO_INSTALL=1 "$tree/.ci/deps" test
}
# Without CodeMirror the page has an empty library, and make says what it has not.
editorless() {
    make -s CODEMIRROR= B="$work/plain" NVCC= "$work/plain/www/library/codemirror.js" "$work/plain/www/library/names.js" &&
        [[ -e $work/plain/www/library/codemirror.js && ! -s $work/plain/www/library/codemirror.js ]] && grep -q '"fy_zeros"' "$work/plain/www/library/names.js" &&
        make -n CODEMIRROR= B="$work/plain" NVCC= all | grep 'CodeMirror is missing'
}
bearable() { hide civetweb; NO_INSTALL=1 deps run && grep -q libcivetweb-dev "$work/deps.out"; }

# Without civetweb the objects are the same; only the command is relinked.
built_without_web() {
    hide civetweb
    mkdir "$work/b" && cp -a "$B/lib" "$B/kernels" "$B/viewer" "$B/checks" "$work/b" || return 1
    [[ ! -d $B/cuda ]] || cp -a "$B/cuda" "$work/b"
    find "$work/b" -name '*.d' -delete
    make -s CC="$work/bin/hiding" B="$work/b" all >"$work/build.out" 2>&1 || { cat "$work/build.out"; return 1; }
    [[ $(grep -c 'without the browser view' "$work/build.out") == 1 ]] && ! ldd "$work/b/ferry" | grep civetweb
}
webless() { FERRY_GPU=sim FERRY_HOME=$PWD FERRY_MY=$work/my timeout 60 "$work/b/ferry" "$@" 2>&1; }
lists() { webless list | grep 01-where-am-i; }
grades() {
    mkdir -p "$work/my" && cp lessons/01-where-am-i/solution.c "$work/my/01-where-am-i.c" && webless grade 01-where-am-i
}
serve_says_why() { ! webless serve >"$work/said" && grep 'without civetweb' "$work/said"; }
demo_narrates() { FERRY_GPU=sim "$work/b/lessons/01-where-am-i" 2>&1 | grep matmul >/dev/null; }

# A CUDA toolkit is where its nvcc reports it, not where nvcc is; without headers it is ignored.
toolkit() { # toolkit WORD...: an nvcc that prints this
    fake nvcc "printf '%s\n' $(printf '%q ' "$@") >&2"
}
# Also what `make test` leaves out: the real card's kernels.
would() { env -u REAL make -n B="$work/c" NVCC="$work/bin/nvcc" "$@" 2>&1; }
wrapped_nvcc() {
    mkdir -p "$work/kit/include" "$work/kit/lib" && echo 'int cudaFree(void *);' >"$work/kit/include/cuda_runtime_api.h"
    echo 'int cudaFree(void *p); int cudaFree(void *p) { return p != 0; }' | gcc -x c -c - -o "$work/kit/kit.o"
    ar rcs "$work/kit/lib/libcudart_static.a" "$work/kit/kit.o"
    toolkit '#$ TOP=x' "#\$ INCLUDES=\"-I$work/kit/include\"  " "#\$ LIBRARIES=  \"-L$work/kit/lib/stubs\" \"-L$work/kit/lib\""
    would "$work/c/cuda/cuda.o" | grep -F -- "-isystem $work/kit/include -Ilib"
}
half_toolkit() {
    toolkit "#\$ INCLUDES=\"-I$work/none\"  " "#\$ LIBRARIES=  \"-L$work/none\""
    would all >"$work/half.out" && grep -F "$work/bin/nvcc has no usable runtime" "$work/half.out" && ! grep libferry-cuda.so "$work/half.out"
}
run_compiles_add_for() { # nvcc's flags when DRIVER reports the driver; empty if nvcc is not called
    NO_INSTALL=1 would DRIVER="$1" run >"$work/run.out"
    grep -F -- "$work/bin/nvcc -DFERRY_INSIDE -O2" "$work/run.out" | grep -F cuda/add.nv.o | grep -o -- '-arch=[^ ]*'
}
kernels_for_a_card() { [[ $(run_compiles_add_for '') == '' && $(run_compiles_add_for /dev/null) == -arch=native ]]; }
kernels_by_all() { would DRIVER= all >"$work/all.out" && grep -F -- "sm_120" "$work/all.out" | grep -F cuda/add.nv.o; }

moved_source() { # an older build's dependency on a deleted source
    mkdir -p "$work/older/lessons"
    echo "$work/older/lessons/01-where-am-i: viewer/gone.c tests/gone.c" >"$work/older/lessons/01-where-am-i.d"
    make -n B="$work/older" "$work/older/lessons/01-where-am-i" >"$work/moved.out" 2>&1 || { cat "$work/moved.out"; return 1; }
}
moved_header() { # an older build's object that depends on a deleted header is rebuilt
    mkdir -p "$work/older/lib/base" && touch "$work/older/lib/base/clock.o"
    printf '%s\n' "$work/older/lib/base/clock.o: lib/base/clock.c" >"$work/older/lib/base/clock.d"
    make -q B="$work/older" "$work/older/lib/base/clock.o" || return 1
    printf '%s\n' "$work/older/lib/base/clock.o: lib/base/clock.c lib/gone.h" '' 'lib/gone.h:' >"$work/older/lib/base/clock.d"
    ! make -q B="$work/older" "$work/older/lib/base/clock.o"
}
holds "nothing missing: no word, no download" nothing_missing
holds "root installs what is missing" root_installs
holds "password-less sudo installs what is missing" sudo_installs
holds "without either the commands for apt and dnf are printed" no_sudo_advises
holds "the container has the packages of make run" container_asks_here
holds "NO_INSTALL=1 forbids and advises" forbidden
holds "the editor's library is installed" editor_asked
holds "Chromium without windows is asked for, not required" windowless
holds "a missing package of the page tests is asked for" package_asked
holds "without it a plain text field is left, and said" editorless
holds "a header without its library is missing" header_alone
holds "without civetweb NO_INSTALL=1 goes on" bearable
holds "without civetweb all but the page is built, said once" built_without_web
holds "without civetweb: ferry list" lists
holds "without civetweb: ferry grade" grades
holds "without civetweb: ferry serve says why not" serve_says_why
holds "without civetweb: a lesson narrates" demo_narrates
holds "a toolkit is found by its nvcc's own word" wrapped_nvcc
holds "make run builds card kernels only where a driver is" kernels_for_a_card
holds "make all builds them wherever nvcc is" kernels_by_all
holds "an nvcc without headers is said and done without" half_toolkit
holds "an older build's moved source does not stop make" moved_source
holds "what was built with a moved header is built again" moved_header
finish
