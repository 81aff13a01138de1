#!/bin/sh
# SPDX-License-Identifier: MIT
#
# amalgamation_test.sh - relet.c compiles without warnings: without flags, with
# warnings on, as C++, and for other machines.

set -u
# shellcheck disable=SC1091
. tests/count.sh
work=build/amalgamation
mkdir -p "$work"
$MAKE -s dist || exit 1

# compiles "COMPILER FLAG...", as one argument.
compiles() {
    # shellcheck disable=SC2086
    check "$1" $1 -c -o "$work/relet.o" build/dist/relet.c
}

for compiler in "$CC" "${CLANG:-}"; do
    [ -n "$compiler" ] || continue
    compiles "$compiler"
    compiles "$compiler -O0 -Wall -Wextra"
    compiles "$compiler -O3 -Wall -Wextra"
    compiles "$compiler -Os -Wall -Wextra -DNDEBUG"
    compiles "$compiler -Wall -Wextra -DRELET_NO_POLL"
    compiles "$compiler -Wall -Wextra -DRELET_TINY"
    compiles "$compiler -std=c99 -pedantic-errors -Wall -Wextra"
    compiles "$compiler -std=c11 -pedantic-errors -Wall -Wextra"
    compiles "$compiler -std=c17 -pedantic-errors -Wall -Wextra"
    compiles "$compiler -Wall -Wextra -funsigned-char"
    compiles "$compiler -Wall -fshort-enums"
    compiles "$compiler -O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong"
    compiles "$compiler -ffreestanding -DRELET_NO_POLL"
    compiles "$compiler -D_GNU_SOURCE"
done
given CLANG amalgamation_in_clang
given TCC amalgamation_in_tcc && compiles "$TCC"
given MUSL_GCC amalgamation_on_musl && compiles "$MUSL_GCC -Wall -Wextra"
given M32 amalgamation_for_32_bits &&
    compiles "$CC -m32 -O2 -Wall -Wextra ${M32_CFLAGS:-}"
given CC_BE amalgamation_for_big_endian && compiles "$CC_BE -Wall -Wextra"
if given COMPILER_CXX amalgamation_as_cxx; then
    compiles "$COMPILER_CXX -x c++"
    for std in c++11 c++14 c++17 c++20; do
        compiles "$COMPILER_CXX -x c++ -std=$std -Wall -Wextra"
    done
fi
given CLANG amalgamation_as_cxx_in_clang && compiles "$CLANG++ -x c++" &&
    compiles "$CLANG++ -x c++ -std=c++17 -Wall -Wextra"

# On a system that cannot zero pages in a child the driver still recognizes a
# child.
if given GREATEST_DIR fork_without_wiped_pages; then
    # shellcheck disable=SC2086
    check "a driver of plain POSIX" "$CC" -DRELET_POLL_PLAIN -Ibuild/dist \
        -Itests -isystem "$GREATEST_DIR" -o "$work/fork_test" \
        tests/fork_test.c build/dist/relet.c
    refused() {
        "$work/fork_test" >"$work/fork.log" 2>&1 || cat "$work/fork.log"
    }
    check "a driver of plain POSIX refuses a child" refused
fi

# As README says, one command compiles the two files with a user's own.
cat >"$work/app.c" <<'END'
#include "relet.h"
int main(void) { return relet_version()[0] == 0; }
END
check "a program compiles with the two files" \
    "$CC" -Ibuild/dist -o "$work/app" "$work/app.c" build/dist/relet.c
check "the program with the two files runs" "$work/app"
total
