#!/bin/sh
# SPDX-License-Identifier: MIT
#
# kills.sh [COUNT] - a process that writes to file: is killed so many times;
# each time everything it was told is there, and nothing half done. It counts as
# the tests of kill_test, however often they kill.

set -u
cd "$(dirname "$0")/.." || exit 1
test=build/release/tests/store/kill_test
${MAKE:-make} -s F=release $test || exit 1
KILLS=${1:-1000} TEST_SECONDS=1800 exec sh tests/suite.sh "" $test
