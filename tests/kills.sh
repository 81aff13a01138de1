#!/bin/sh
# SPDX-License-Identifier: MIT
#
# kills.sh [COUNT] - kills a process that writes to file: so many times; each
# time all acknowledged writes must be there, and none half done. The number of
# tests counted is that of kill_test, whatever COUNT is.

set -u
cd "$(dirname "$0")/.." || exit 1
test=build/release/tests/store/kill_test
${MAKE:-make} -s F=release $test || exit 1
KILLS=${1:-1000} TEST_SECONDS=1800 exec sh tests/suite.sh "" $test
