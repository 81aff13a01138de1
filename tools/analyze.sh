#!/bin/sh
# SPDX-License-Identifier: MIT
#
# analyze.sh gcc | clang-tidy | cppcheck - runs an analyser; each finding is a
# failure.
#
# .clang-tidy names the checks that are off, .cppcheck the findings that are
# suppressed, each with the reason.

set -u
# shellcheck disable=SC1091
. tests/count.sh
work=build/analyze
mkdir -p "$work"

# $seen holds several flags.
# shellcheck disable=SC2086
by_gcc() {
    check "gcc -fanalyzer $1" gcc -std=c99 -O2 -Wall -fanalyzer -Iinclude \
        $seen -c -o "$work/analyzed.o" "$1"
}

# shellcheck disable=SC2086
# clang-tidy counts the warnings of system headers that it does not show.
tidy() {
    "$CLANG_TIDY" --quiet "$1" -- -std=c99 -Iinclude $seen 2>"$work/tidy.err"
    code=$?
    grep -v 'warnings\{0,1\} generated' "$work/tidy.err"
    return "$code"
}

by_clang_tidy() {
    check "clang-tidy $1" tidy "$1"
}

# shellcheck disable=SC2086
by_cppcheck() {
    check "cppcheck $1" "$CPPCHECK" --quiet --std=c99 --error-exitcode=1 \
        --enable=warning,style,performance,portability --inline-suppr \
        --suppressions-list=.cppcheck -D__GNUC__=12 -Iinclude $seen "$1"
}

# The include folders of each file.
core=$($MAKE -s folders)
local=$($MAKE -s local-folders)
for file in src/*/*.c src/local/*/*.c; do
    case $file in
    src/local/* | src/driver/log* | src/driver/store*) seen=$local ;;
    src/cli/*) seen= ;;
    *) seen=$core ;;
    esac
    case $1 in
    gcc) by_gcc "$file" ;;
    clang-tidy) by_clang_tidy "$file" ;;
    cppcheck) by_cppcheck "$file" ;;
    esac
done
total
