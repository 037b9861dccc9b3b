#!/usr/bin/env bash
# With a wrong line in kernels/add.cu results on the card change, and results on the CPU do not.
. "$(dirname "$0")/shell.sh"
export FERRY_GPU=sim
cat >"$work/sums.c" <<'C'
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *a = fy_arange((6)), *f = fy_to(a, FY_FLOAT32);
    printf("cpu %g %g\n", fy_item(fy_sum(fy_add(a, a))), fy_item(fy_sum(fy_add(f, 1.5))));
    fy_tensor *c = fy_cuda(a), *g = fy_cuda(f);
    printf("cuda %g %g\n", fy_item(fy_sum(fy_add(c, c))), fy_item(fy_sum(fy_add(g, 1.5))));
}
C
run_with() { # run_with FOLDER: the program against the library there
    gcc -Ilib "$work/sums.c" -L"$1" -lferry $(make -s B="$B" core-libs) -o "$work/sums" && "$work/sums"
}
spoiled() {
    mkdir -p "$work/kernels" "$work/b" && cp kernels/*.h kernels/add.cu "$work/kernels" && cp "$B/libferry.a" "$work/b" &&
        sed -i 's/sum(x, alpha, y));/sum(x, x, y));/' "$work/kernels/add.cu" && ! cmp -s kernels/add.cu "$work/kernels/add.cu" &&
        g++ -std=gnu++17 -O2 -fno-exceptions -fno-rtti -fwrapv -Ilib $(printf -- "-I%s " lib/*) -x c++ -c "$work/kernels/add.cu" -o "$work/b/add.cu.o" &&
        ar r "$work/b/libferry.a" "$work/b/add.cu.o"
}
whole() { run_with "$B" >"$work/whole" && grep -qx 'cpu 30 24' "$work/whole" && grep -qx 'cuda 30 24' "$work/whole"; }
cpu_same() { run_with "$work/b" >"$work/broken"; grep -qx 'cpu 30 24' "$work/broken"; }
cuda_other() { cat "$work/broken"; grep -q '^cuda' "$work/broken" && ! grep -qx 'cuda 30 24' "$work/broken"; }

holds "add is right on both devices" whole
holds "one line of add.cu can be spoiled" spoiled
holds "then the CPU is as before" cpu_same
holds "and the card is not" cuda_other
finish
