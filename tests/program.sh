#!/bin/sh
# SPDX-License-Identifier: MIT
#
# program.sh RUNNER PROGRAM - runs one test program.
#
# RUNNER, if not empty, is a command that runs the program. Its output goes to
# PROGRAM.log, its exit code to PROGRAM.code. A program that takes longer than
# TEST_SECONDS is stopped and has failed, with code 124.

set -u
runner=$1
program=$2
name=${program##*/}
seconds=${TEST_SECONDS:-300}
rm -f "$program.code"

export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"

case $name in
*_fuzz) set -- "fuzz/corpus/${name%_fuzz}" ;;
vectors_test) set -- ;;
*) set -- -v ;;
esac
# RUNNER holds words, so it is split.
# shellcheck disable=SC2086
timeout -k 10 "$seconds" $runner "$program" "$@" >"$program.log" 2>&1
echo $? >"$program.code"
