#!/bin/sh
# SPDX-License-Identifier: MIT
#
# header_test.sh - relet.h and relet_local.h are valid in each C and C++
# standard in use, and their functions can be linked from C++.

set -u
# shellcheck disable=SC1091
. tests/count.sh
work=build/header
mkdir -p "$work"
cat >"$work/header.c" <<'END'
#include "relet_local.h"
#include "relet_local.h"
#include "relet.h"
int main(void) { return relet_version()[0] == 0; }
END
cp "$work/header.c" "$work/header.cc"
$MAKE -s lib || exit 1

flags="-Wall -Wextra -Wpedantic -Wshadow -Wundef -Werror -Iinclude"

compiles() {
    # shellcheck disable=SC2086
    "$@" $flags -c -o "$work/header.o"
}

both() {
    compiler=$1
    file=$2
    shift 2
    for std; do
        check "$compiler $std" compiles "$compiler" "-std=$std" "$file"
        check "$compiler $std without the driver" \
            compiles "$compiler" "-std=$std" -DRELET_NO_POLL "$file"
    done
}

both "$CC" "$work/header.c" c99 c11 c17
given CLANG headers_in_clang && both "$CLANG" "$work/header.c" c99 c11 c17 c2x
given TCC header_in_tcc && check tcc "$TCC" -Iinclude -c -o "$work/header.o" \
    "$work/header.c"
if given COMPILER_CXX headers_in_cxx; then
    both "$COMPILER_CXX" "$work/header.cc" c++98 c++11 c++14 c++17 c++20
    check "links from C++" "$COMPILER_CXX" -Iinclude -o "$work/header" \
        "$work/header.cc" build/librelet.a
    check "runs from C++" "$work/header"
fi
given CLANG headers_in_clang_cxx &&
    both "$CLANG++" "$work/header.cc" c++98 c++11 c++14 c++17 c++20
total
