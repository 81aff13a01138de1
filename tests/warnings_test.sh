#!/bin/sh
# SPDX-License-Identifier: MIT
#
# warnings_test.sh - compilers give no warning for any file.
#
# All warnings of clang are on, except those about padding, compatibility with
# C90, declarations after statements, switches without a default, comparisons of
# floats (Lua needs them), and code that only another system reaches.

set -u
# shellcheck disable=SC1091
. tests/count.sh
work=build/warnings
mkdir -p "$work"

common="-std=c99 -pedantic-errors -O2 -Iinclude -Werror -Wall -Wextra
    -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wstrict-prototypes
    -Wmissing-prototypes -Wundef -Wvla -Wformat=2 -Wswitch-enum
    -Wdouble-promotion -Wnull-dereference -Wwrite-strings"
gcc_only="-Wcast-align=strict -Wduplicated-cond -Wduplicated-branches
    -Wjump-misses-init"
clang_only="-Weverything -Wno-unknown-warning-option -Wno-padded
    -Wno-declaration-after-statement -Wno-disabled-macro-expansion
    -Wno-unused-macros -Wno-reserved-macro-identifier
    -Wno-covered-switch-default -Wno-switch-default -Wno-float-equal
    -Wno-unsafe-buffer-usage -Wno-pre-c11-compat -Wno-unreachable-code"

# Examples are only read, not vendored, and OpenSSL's macros cast, so examples
# have fewer warnings on.
example="-std=c99 -O2 -Iinclude -Werror -Wall -Wextra -Wpedantic -Wshadow
    -Wconversion"

# compiles FLAGS COMPILER FILE
compiles() {
    # shellcheck disable=SC2086
    "$2" $1 $seen -c -o "$work/room.o" "$3"
}

"$CC" --version | grep -q 'Free Software' || gcc_only=
core=$($MAKE -s folders)
local=$($MAKE -s local-folders)
for file in src/*/*.c src/local/*/*.c; do
    case $file in
    src/local/* | src/driver/log* | src/driver/store*) seen=$local ;;
    src/cli/*) seen= ;;
    *) seen=$core ;;
    esac
    check "$CC $file" compiles "$common $gcc_only" "$CC" "$file"
    [ -z "${CLANG:-}" ] ||
        check "clang $file" compiles "$common $clang_only" "$CLANG" "$file"
done
seen=
for file in examples/*.c; do
    case $file in
    *openssl*) given OPENSSL_DEV "warnings of $file" || continue ;;
    *uv*) given LIBUV_DEV "warnings of $file" || continue ;;
    esac
    check "$CC $file" compiles "$example" "$CC" "$file"
    [ -z "${CLANG:-}" ] ||
        check "clang $file" compiles "$example" "$CLANG" "$file"
done
given CLANG warnings_of_clang
total
