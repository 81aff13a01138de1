#!/bin/sh
# SPDX-License-Identifier: MIT
#
# servers.sh - the server tests on each real server that deps.sh found.

set -u
set -a
# shellcheck disable=SC1091
. build/deps/have.mk
set +a
export TEST_SECONDS=900
set --
for file in tests/server_*test.c; do
    set -- "$@" "build/asan/${file%.c}"
done
${MAKE:-make} -s F=asan "$@" || exit 1
# Without a server each test is skipped, which is no failure.
sh tests/suite.sh "" "$@" || [ -z "$REDIS_SERVER$VALKEY_SERVER" ]
