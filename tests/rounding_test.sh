#!/usr/bin/env bash
# linspace and arange are rounded on a card as on the host: product and sum each, though nvcc, and g++ where the machine
# can, would join them to a multiply-add, which rounds once.
. "$(dirname "$0")/shell.sh"
read -ra libraries < <(make -s B="$B" core-libs | tail -n 1)
include=(-Ilib $(printf -- '-I%s ' lib/*/))
nvcc=${NVCC-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)}
case $(uname -m) in
x86_64) may_fuse=(-mfma) && can_fuse() { grep -qw fma /proc/cpuinfo; } ;;
aarch64) may_fuse=() && can_fuse() { true; } ;;
*) can_fuse() { false; } ;;
esac

same_elements() { # same_elements KERNELS: with its make.cu, compiled to fuse what it can
    g++ -std=gnu++17 -O2 -fno-exceptions -fno-rtti -fwrapv "${may_fuse[@]}" -ffp-contract=fast -DFERRY_INSIDE -Ikernels \
        "${include[@]}" -x c++ -c "$1" -o "$work/make.o" &&
        gcc -std=gnu11 -D_GNU_SOURCE "${include[@]}" tests/series.c "$work/make.o" "$B/libferry.a" "${libraries[@]}" -o "$work/series" &&
        FERRY_GPU=sim "$work/series"
}
fused_ones_differ() { # the same kernels with what a compiler may fuse: the comparison sees it
    sed -E 's/__[fd]add_rn\(a, __[fd]mul_rn\(b, c\)\)/a + b * c/' kernels/make.cu >"$work/make.cu"
    ! same_elements "$work/make.cu" >"$work/said" && cat "$work/said" && grep -q '^linspace of float32' "$work/said" &&
        grep -q '^arange of float64' "$work/said"
}
rounds_twice() { # a kernel's PTX: a product and a sum; in linspace the two multiply-adds that it asks for
    "$nvcc" -DFERRY_INSIDE -O2 -std=c++17 "${include[@]}" -arch=sm_75 -ptx kernels/make.cu -o "$work/make.ptx" || return 1
    awk '/\.entry/ { match($0, /(linspace|arange_reals)I[0-9a-z_]*/); name = RLENGTH > 0 ? substr($0, RSTART, RLENGTH) : "" }
        name && /[ \t]fma\./ { fused[name]++ }
        name && /[ \t]mul\.rn\.f/ { products[name]++ }
        name && /[ \t]add\.rn\.f/ { sums[name]++ }
        name { seen[name] = 1 }
        END {
            for (name in seen) {
                n++
                print name, products[name] + 0, sums[name] + 0, fused[name] + 0
                if (products[name] < 1 || sums[name] < 1 || fused[name] != (name ~ /^linspace/ ? 2 : 0)) bad = 1
            }
            exit bad || n < 11
        }' "$work/make.ptx"
}

if can_fuse; then
    holds "where products and sums may be fused, no element changes" same_elements kernels/make.cu
    holds "fused ones would differ" fused_ones_differ
else
    skips "where products and sums may be fused, no element changes" "this processor has no multiply-add"
    skips "fused ones would differ" "this processor has no multiply-add"
fi
if [[ -n $nvcc ]]; then
    holds "nvcc fuses neither linspace nor arange" rounds_twice
else
    skips "nvcc fuses neither linspace nor arange" "nvcc is not here"
fi
finish
