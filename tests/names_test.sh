#!/bin/sh
# SPDX-License-Identifier: MIT
#
# names_test.sh - the tests that tests/README.md names are there.

set -u
# shellcheck disable=SC1091
. tests/count.sh

known() {
    grep -rqE "(TEST|static void) $1\(|SIM_MARK\($1\)|\b$1\b" tests/*.c \
        tests/*.h tests/both tests/sim tests/*.sh || echo "there is no $1"
}

for name in $(grep -oE '`[a-z0-9]+(_[a-z0-9]+)+`' tests/README.md | tr -d '`' |
    sort -u); do
    check "tests/README.md: $name is there" known "$name"
done
total
