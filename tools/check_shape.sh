#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_shape.sh - limits of the source text.
#
# A function of src has at most 70 lines, except the interpreter of Lua, which
# is one switch. A line of src, include, tests, tools, fuzz or examples has at
# most 80 columns. The layers that hold state have at least 10 assertions per
# 1000 lines. No line outside src/link uses a private member or function of a
# link.

set -u
bad=0

lengths=$(awk '
    FNR == 1 { start = 0 }
    /^{$/ { start = FNR; name = head }
    /^}/ && start { print FNR - start + 1, FILENAME, name; start = 0 }
    !start && /^[a-zA-Z].*\(/ {
        head = $0
        sub(/\(.*/, "", head)
        sub(/.*[ *]/, "", head)
    }' src/*/*.c src/local/*/*.c | sort -n)
long=$(echo "$lengths" | awk '$1 > 70 && $3 != "rlt_luaexec"')
if [ -z "$lengths" ] || [ -n "$long" ]; then
    echo "functions of over 70 lines: ${long:-none were found}"
    bad=1
fi
echo "$lengths" | awk '
    { n[NR] = $1 }
    END {
        printf "shape: %d functions, lines: median %d, 90 %% %d, longest %d\n",
            NR, n[int((NR + 1) / 2)], n[int(NR * 0.9)], n[NR]
    }'

# The peers' benchmark is JavaScript, raii.cpp C++; a URL may be longer.
wide=$(find src include tests tools fuzz examples -type f \( -name '*.[ch]' \
    -o -name '*.cpp' -o -name '*.sh' -o -name '*.awk' -o -name '*.mk' \
    -o -name '*.mjs' \) -print | sort |
    LC_ALL=C.UTF-8 xargs grep -nE '^.{81,}' | grep -v '://')
if [ -n "$wide" ]; then
    echo "lines of over 80 columns:"
    echo "$wide"
    bad=1
fi

for layer in link route engine client; do
    cat "src/$layer"/*.[ch] | awk -v layer="$layer" '
        /rlt_assert\(/ { asserts++ }
        END {
            printf "shape: src/%s has %d assertions in %d lines\n", layer,
                asserts, NR
            exit asserts * 100 < NR
        }' || { echo "which is under 10 per 1000"; bad=1; }
done

member='link(\.|->)(session|conn|pubsub|scripts)\b'
private='rlt_(session|conn|pubsub|subscribe|scripts|reader)_'
reaches=$(grep -nE "$member|$private" src/engine/*.[ch] src/client/*.[ch] \
    src/driver/*.[ch])
if [ -n "$reaches" ]; then
    echo "these lines use private parts of a link; call src/link instead:"
    echo "$reaches"
    bad=1
fi
exit "$bad"
