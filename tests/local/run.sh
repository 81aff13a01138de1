#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh - the tests of src/local, the local server, which nothing else is
# built with yet. Its rooms and its tests under ASan and UBSan.
#
#   sh tests/local/run.sh [TEST...]    names without .c; all of them

set -u
cd "$(dirname "$0")/../.." || exit 1
[ -f build/deps/have.mk ] || sh tests/deps.sh || exit 1
# shellcheck disable=SC1091
. build/deps/have.mk
work=build/local
flags="-std=c99 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
       -Iinclude -Isrc -Isrc/local -Itests -Itests/local -isystem $GREATEST_DIR"
mkdir -p "$work"
passed=0 failed=0 skipped=0

compile() {
    # shellcheck disable=SC2086
    ${CC:-cc} $flags -Wall -Wextra -c -o "$work/$(basename "$1" .c).o" "$1"
}

for file in src/local/*.c src/text.c src/rand.c src/buf.c src/sha1.c; do
    object=$work/$(basename "$file" .c).o
    [ "$object" -nt "$file" ] || compile "$file" || exit 1
done
if [ $# -eq 0 ]; then
    for file in tests/local/*_test.c; do
        set -- "$@" "$(basename "$file" .c)"
    done
fi
for name in "$@"; do
    # shellcheck disable=SC2086
    if ${CC:-cc} $flags -o "$work/$name" "tests/local/$name.c" "$work"/*.o \
        -lm && timeout 300 "$work/$name" >"$work/$name.log" 2>&1; then
        n=$(sed -n 's/^Pass: \([0-9]*\),.*/\1/p' "$work/$name.log" |
            awk '{ n += $1 } END { print n + 0 }')
        passed=$((passed + n))
    else
        echo "FAIL $name"
        tail -n 5 "$work/$name.log" 2>/dev/null
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
