#!/bin/sh
# assets.sh FILE...: prints assembly that embeds the files in a library, with the table of assets.h. A file's path on the
# page is what follows www/.
set -eu
echo '.section .rodata'
n=0
for file; do
    printf 'name%d: .asciz "/%s"\ndata%d: .incbin "%s"\nend%d:\n' $n "${file##*www/}" $n "$file" $n
    n=$((n + 1))
done
printf '.section .data.rel.ro,"aw",%%progbits\n.balign 8\n.globl fy_assets\n.type fy_assets, %%object\nfy_assets:\n'
i=0
while [ $i -lt $n ]; do
    printf '.quad name%d, data%d, end%d - data%d\n' $i $i $i $i
    i=$((i + 1))
done
printf '.quad 0, 0, 0\n.size fy_assets, . - fy_assets\n.section .note.GNU-stack,"",%%progbits\n'
