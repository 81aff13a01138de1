#!/bin/sh
# SPDX-License-Identifier: MIT
#
# servers.sh - server_test on each real server that deps.sh found.

set -u
set -a
# shellcheck disable=SC1091
. build/deps/have.mk
set +a
${MAKE:-make} -s F=asan build/asan/tests/server_test || exit 1
exec build/asan/tests/server_test
