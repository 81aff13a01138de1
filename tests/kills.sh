#!/bin/sh
# SPDX-License-Identifier: MIT
#
# kills.sh [COUNT] - a process that writes to file: is killed so many times;
# each time everything it was told is there, and nothing half done.

set -u
cd "$(dirname "$0")/.." || exit 1
${MAKE:-make} -s F=release build/release/tests/store/kill_test || exit 1
if KILLS=${1:-1000} build/release/tests/store/kill_test -v; then
    echo "${1:-1000} passed, 0 failed, 0 skipped"
else
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
