#!/usr/bin/env bash
# ferry.h in C++: tests/cpp.cc compiles without warnings and passes; what is an error only in
# C++ does not appear, and mistakes in calls are reported.
. "$(dirname "$0")/shell.sh"
export FERRY_GPU=sim
libs=$(make -s B="$B" core-libs)

builds_and_runs() { # builds_and_runs CXX
    # shellcheck disable=SC2086 # libraries are words
    "$1" -std=c++17 -Wall -Wextra -Wshadow -Werror -Ilib tests/cpp.cc -L"$B" -lferry $libs -o "$work/cpp" && "$work/cpp"
}
refuses() { # refuses WORDS STATEMENT
    printf '#include <ferry.h>\nint main() { %s; }\n' "$2" >"$work/bad.cc"
    ! g++ -std=c++17 -Ilib -c "$work/bad.cc" -o /dev/null 2>"$work/bad.out" && grep -q "$1" "$work/bad.out"
}
a_shape_without_parentheses() { refuses 'the shape needs parentheses' 'fy_zeros(2)'; }
a_text_as_an_operand() { refuses 'deleted' 'fy_add(fy_ones((2)), "1")'; }
null_as_an_operand() { refuses 'NULL is neither a tensor nor a number' 'fy_add(NULL, fy_ones((2)))'; }
nullptr_as_an_operand() { refuses 'deleted\|ambiguous' 'fy_add(nullptr, fy_ones((2)))'; }
a_device_by_number() { refuses 'a device is named by text, not by a number' 'fy_ones((2), .device = 0)'; }
a_device_without_name() { refuses 'options are given by name' 'fy_ones((2), "cuda")'; }
a_tensor_as_a_size() { refuses 'static_cast' 'fy_tensor *x = fy_ones((2)); fy_ones((x))'; }
a_third_operand_too_many() { refuses 'fy_add gets too many arguments' 'fy_add(fy_ones((2)), 1, 2, 3)'; }
a_number_as_a_target() { refuses 'deleted' 'fy_to(fy_ones((2)), 1)'; }

for cxx in g++ clang++; do
    if command -v $cxx >/dev/null; then holds "a program in C++ is built by $cxx and runs" builds_and_runs $cxx
    else skips "a program in C++ is built by $cxx and runs" "no $cxx"; fi
done
holds "a shape without parentheses is refused in words" a_shape_without_parentheses
holds "a number is no target in C++ either" a_number_as_a_target
holds "a text is no operand in C++ either" a_text_as_an_operand
holds "NULL is no operand in C++ either" null_as_an_operand
holds "nullptr is no operand in C++ either" nullptr_as_an_operand
holds "a number is no device in C++ either" a_device_by_number
holds "a device without its name is refused in C++ too" a_device_without_name
holds "a tensor is no size in C++ either" a_tensor_as_a_size
holds "an argument too many is told in C++ too" a_third_operand_too_many
finish
