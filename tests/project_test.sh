#!/usr/bin/env bash
# The rules of the house: what lies where, who includes whom, how long a file may be, what the README
# says. Style is not judged here beyond what .clang-format says.
. "$(dirname "$0")/shell.sh"
shopt -s extglob

sources() { find lib kernels viewer lessons www tests -path tests/page/node_modules -prune -o -type f "$@" -print; }
includes() { sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]+[<"]([^>"]+)[>"].*/\1/p' "$@"; }
none() { # none PATTERN FILE...: no line matches; shows those that do
    local pattern=$1
    shift
    ! grep -nE "$pattern" "$@" /dev/null
}

eight_entries() {
    diff <(ls | grep -vxE 'build|my' | sort) \
        <(printf '%s\n' CHANGELOG.md CONTRIBUTING.md LICENSE Makefile README.md examples kernels lessons lib tests viewer www)
}
no_web_in_lib() { none '#[[:space:]]*include.*(viewer/|civetweb|cJSON|cjson)' lib/*.h lib/*/*.[ch] kernels/*; }
no_web_in_archive() {
    ! nm "$B/libferry.a" 2>/dev/null | grep -E ' U (mg_|cJSON_|server_)'
}
civetweb_in_server_alone() {
    ! grep -lE 'include.*civetweb' viewer/*/*.[ch] | grep -v '^viewer/server/'
}
lessons_include_ferry() {
    ! includes $(sources -name '*.c' | grep '^lessons/' | grep -v '/check.c$') | grep -vxE 'ferry\.h|std[a-z]+\.h|math\.h|string\.h|unistd\.h|sys/[a-z]+\.h'
}
checks_include_grade() {
    ! includes lessons/*/check.c | grep -vxE '(.*/)?grade\.h|std[a-z]+\.h|math\.h|string\.h|inttypes\.h|cjson/cJSON\.h'
}
kernels_include_shim() { # a kernel its shim alone; the shim what every floor needs
    ! includes kernels/*.cu | grep -vxE 'kernel\.h|reduce\.h|list\.h|math\.h' &&
        ! includes kernels/*.cc kernels/*.h | grep -vxE "kernel\.h|[a-z]+\.h|$(cd lib/base && echo *.h | tr ' ' '|')|(sys|valgrind|sanitizer)/[a-z_]+\.h|type_traits"
}
page_stands_alone() { # the page loads nothing from other hosts and knows only events
    none "(src|href|from|import|fetch|url)[ (=]*['\"(]*(https?:)?//" $(sources -name '*.js' -o -name '*.html' -o -name '*.css' | grep '^www/')
}
emitters() { # each kind is emitted in one file (a completion by what launched it); back ends and kernels never emit
    local twice
    twice=$(grep -oE 'FY_EMIT\([^,]+, *[a-z_]+' lib/*/*.c viewer/*/*.c | grep -v '^lib/session/segv_handler.c' |
        sed -E 's/^([^:]+):.*, */\1 /' | sort -u | awk '{ print $2 }' | sort | uniq -d | grep -vxE 'complete|sync')
    echo "emitted in two files: $twice"
    none 'FY_EMIT|fy_emit' lib/cpu/*.c lib/devices/sim*.c lib/devices/cuda.c lib/devices/cuda_clock.h lib/base/clock.c lib/devices/card_models.c kernels/* && [[ -z $twice ]] &&
        ! grep -lE 'FY_EMIT|fy_emit *\(' viewer/*/*.[ch] | grep -vx viewer/grade/grade.c
}
short_files() {
    local long
    long=$(sources \( -name '*.[chS]' -o -name '*.cu' -o -name '*.cc' -o -name '*.js' -o -name '*.mjs' -o -name '*.css' \) |
        xargs wc -l | awk '$2 != "total" && $1 > 600')
    echo "$long"
    [[ -z $long ]]
}
no_paths() { none '/(root|home/[a-z]+|work|tmp/[a-z]-)/' $(sources -name '*.[ch]' -o -name '*.cu' -o -name '*.md' -o -name '*.json' | grep -v package-lock) *.md Makefile; }
finished() { none '\b(TODO|FIXME|XXX)\b' $(sources -name '*.[chS]' -o -name '*.cu' -o -name '*.js' -o -name '*.md') *.md; }
formatted() { make -s fmt-check; }
sabotage_fits() { # each sabotage still changes one line, and its test exists
    local sabs=(tests/sabotage/*.sab) symbols=$work/symbols wrong=0 sab file script line suite name
    local -A suites names texts # of a sabotage; of a suite: some hundred times a process for each would take long
    tests/sabotage/symbols >"$symbols"
    . tests/sabotage/place.sh
    for file in "${sabs[@]}"; do
        sab=${file##*/} sab=${sab%.sab}
        while IFS= read -r line; do
            case $line in suite:*) suites[$sab]=${line##suite:*( )} ;; test:*) names[$sab]=${line##test:*( )} ;; esac
        done <"$file"
    done
    sabs=("${sabs[@]##*/}")
    while IFS=$'\t' read -r sab file script; do
        [[ -f $file ]] || { echo "$sab: $script ($file)"; wrong=1; continue; }
        [[ $(lines_changed "$file" "$script") == 1 ]] || { echo "$sab does not change one line of $file"; wrong=1; }
        suite=${suites[$sab]:-} name=${names[$sab]:-}
        [[ $suite == sh:* || $name == 'ended after'* ]] && continue
        [[ -n ${texts[$suite]:-} ]] || texts[$suite]=$(cat tests/"${suite#*:}".c tests/page/"${suite#*:}".mjs 2>/dev/null)
        [[ ${texts[$suite]} == *"${name##*: }"* ]] || { echo "$sab: there is no '$name' in $suite"; wrong=1; }
    done < <(place "${sabs[@]%.sab}")
    return $wrong
}
built_once() { # the first make builds all that was edited since the tests were built
    local goals=(all tests 'TESTS=$(PLAIN)') # as `make test` builds
    make -s B="$B" "${goals[@]}" && make -q B="$B" "${goals[@]}" &&
        make -q B="$(realpath "$B")" "${goals[@]}" && return # and a folder by another name is the same one
    make -d -n B="$B" "${goals[@]}" | grep -E 'newer than target|Must remake' | head
    return 1
}
readme_program() { # the first C block of the README, as a learner would copy it
    awk '/^```c/ { on = 1; next } /^```/ { if (on) exit } on' README.md >"$work/readme.c"
    [[ $(wc -l <"$work/readme.c") -ge 8 ]] && make -s B="$B" all &&
        gcc -Wall -Wextra -Werror -Ilib "$work/readme.c" -L"$B" -lferry $(make -s B="$B" core-libs) -o "$work/readme" &&
        FERRY_GPU=sim "$work/readme" | grep .
}
readme_twin() { # the block next to its PyTorch equivalent, as the body of a program
    awk '/^```python/ { twin = 1 } /^```c/ { on = twin; next } /^```/ { if (on) exit } on' README.md >"$work/twin"
    [[ $(wc -l <"$work/twin") -ge 5 ]] && { echo '#include <ferry.h>'; echo 'int main(void) {'; cat "$work/twin"; echo '}'; } >"$work/twin.c" &&
        gcc -Wall -Wextra -Werror -Ilib "$work/twin.c" -L"$B" -lferry $(make -s B="$B" core-libs) -o "$work/twin" &&
        FERRY_GPU=sim "$work/twin" | grep -F "device='cuda:0'"
}
guide_example() ( # what CONTRIBUTING.md shows is all that its op needs: that compiles; LONG=1: the table test and the fuzzer pass
    awk '/^```diff/ { on = 1; next } /^```/ { if (on) exit } on' CONTRIBUTING.md >"$work/example.diff"
    (($(grep -c '^+++ ' "$work/example.diff") <= 4)) && mkdir "$work/example" &&
        { git ls-files -z 2>/dev/null || find . -path ./build -prune -o -path '*/node_modules' -prune -o -type f -print0; } |
        xargs -0 cp --parents -t "$work/example" || return 1
    cd "$work/example" && git apply -C1 --recount "$work/example.diff" || return 1
    if [[ -n ${LONG:-} ]]; then
        make -s NVCC= B=b OPT=-O0 FAST= b/tests/op_table_test b/tests/fuzz && b/tests/op_table_test && b/tests/fuzz --programs 1500
    else
        printf '#include <ferry.h>\nint main(void) { fy_print(fy_trunc(fy_randn((3)))); }\n' >user.c &&
            gcc -fsyntax-only -Wall -Werror -Ilib user.c &&
            make -s NVCC= B=b OPT=-O0 FAST= b/lib/cpu/cpu_unary.o b/kernels/unary.cu.o
    fi
)
readme_links() { # every file that the guides name exists
    local missing=0 guide target
    for guide in *.md */README.md; do
        [[ -f $guide ]] || continue
        while read -r target; do
            [[ -e $target || -e $(dirname "$guide")/$target ]] || { echo "$guide: $target"; missing=1; }
        done < <(grep -oE '\]\([^)#:]+\)' "$guide" | sed 's/^](//; s/)$//')
    done
    return $missing
}
readme_streams() { # the block with a stream: correct with its wait, wrong in every run without it
    awk '/^```c/ { on = 1; text = ""; next } /^```/ { if (on && text ~ /fy_cuda_stream/) { printf "%s", text; exit } on = 0 } on { text = text $0 "\n" }' README.md >"$work/block"
    local wait_or_not
    for wait_or_not in cat "grep -v fy_event_wait"; do
        { echo '#include <ferry.h>'; echo 'int main(void) {'; $wait_or_not "$work/block"; echo '}'; } >"$work/streams.c"
        # shellcheck disable=SC2046 # libraries are words
        gcc -Wall -Wextra -Werror -Ilib "$work/streams.c" -L"$B" -lferry $(make -s B="$B" core-libs) -o "$work/streams" || return 1
        FERRY_GPU=sim FERRY_TRACE=$work/streams.jsonl "$work/streams" >"$work/streams.out" || return 1
        if [[ $wait_or_not == cat ]]; then ! grep -q nan "$work/streams.out" && ! grep -q '"kind":"data_race"' "$work/streams.jsonl" || return 1
        else grep -q nan "$work/streams.out" && grep -q '"type":"race"' "$work/streams.jsonl" || return 1; fi
    done
}
variables_documented() { # every variable that Ferry reads is in the README
    local missing=0 name
    for name in $(grep -rhoE 'getenv\("FERRY_[A-Z_]+"' lib viewer | grep -oE 'FERRY_[A-Z_]+' | sort -u); do
        grep -q "\`$name" README.md lib/README.md CONTRIBUTING.md || { echo "$name"; missing=1; }
    done
    return $missing
}

holds "eight entries and what every project has" eight_entries
holds "lib knows nothing of the web" no_web_in_lib
holds "libferry.a needs no web library" no_web_in_archive
holds "civetweb is the server's alone" civetweb_in_server_alone
holds "lessons include ferry.h alone" lessons_include_ferry
holds "checks include grade.h alone" checks_include_grade
holds "kernels include their shim alone" kernels_include_shim
holds "the page fetches nothing from elsewhere" page_stands_alone
holds "one file emits each event kind, and no back end" emitters
holds "no file is longer than 600 lines" short_files
holds "no path of one machine" no_paths
holds "nothing is left to do" finished
holds "each sabotage changes one line and names a test" sabotage_fits
holds "make twice does nothing" built_once
holds "the README's program compiles and runs" readme_program
holds "the README's streams are right with their event alone" readme_streams
holds "the README's twin of a PyTorch program compiles and runs" readme_twin
holds "the operation that CONTRIBUTING.md adds fits, and works" guide_example
holds "what the guides link to is there" readme_links
holds "every environment variable is documented" variables_documented
if command -v clang-format >/dev/null; then
    holds "C files are formatted" formatted
else
    skips "C files are formatted" "no clang-format"
fi
finish
