# SPDX-License-Identifier: MIT
#
# count.sh - functions by which test scripts count passed, failed and skipped
# tests.
# shellcheck shell=sh

passed=0
failed=0
skipped=0
on= # which of several servers the claims are about

# shellcheck disable=SC1091
[ -f build/deps/have.mk ] && . build/deps/have.mk
unset MAKEFLAGS MFLAGS MAKELEVEL
CC=${CC:-cc}
MAKE=${MAKE:-make}

# check NAME COMMAND...: passes if the command succeeds and prints nothing.
check() {
    claim=${on:+$on: }$1
    shift
    if said=$("$@" 2>&1) && [ -z "$said" ]; then
        passed=$((passed + 1))
        return 0
    fi
    failed=$((failed + 1))
    echo "FAIL $claim: $*"
    echo "$said" | head -n 20 | sed 's/^/    /'
    return 1
}

skip() {
    skipped=$((skipped + 1))
    echo "SKIP $1: $2"
}

# cannot NAME WHY: skips a test that this machine cannot run, though the tools
# are here. Tests missing from a step's floor then count as skipped: see
# step.sh.
cannot() { skip "$1" "this machine: $2"; }

# given KEY NAME: succeeds if deps.sh has found the tool; otherwise skips NAME.
given() {
    [ -n "$(eval "echo \"\${$1:-}\"")" ] && return
    skip "$2" "tests/deps.sh did not find $1"
    return 1
}

total() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
