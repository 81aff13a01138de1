#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scripts_test.sh - lua/ on each real server that deps.sh found, by the same
# claims that the suite has on the local one. That these are the texts which the
# library sends, `make check-generated` compares.

set -u
# shellcheck disable=SC1091
. tests/count.sh
# shellcheck disable=SC1091
. build/deps/have.mk
both=build/asan/tests/both
tests="$both/scripts_test $both/queue_put_test $both/queue_claim_test \
    $both/queue_end_test $both/queue_cut_test"
work=$(mktemp -d) || exit 1

server_pid=
stop() {
    [ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' HUP INT TERM

# There is no telling when a server listens but by looking.
listens() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -S "$work/socket" ] && return 0
        sleep 0.1
    done
    return 1
}

on() {
    "$@" --port 0 --save '' --dir "$work" --unixsocket "$work/socket" \
        >"$work/server.log" 2>&1 &
    server_pid=$!
    code=1
    if listens; then
        code=0
        for test in $tests; do
            "$test" "$work/socket" >>"$work/said" 2>&1 || code=1
        done
    fi
    [ "$code" -eq 0 ] || cat "$work/server.log" "$work/said"
    kill "$server_pid"
    wait "$server_pid" 2>/dev/null
    server_pid=
    rm -f "$work/socket" "$work/said"
    return "$code"
}

# shellcheck disable=SC2086
${MAKE:-make} -s F=asan $tests || exit 1
if [ -n "${REDIS_SERVER:-}" ]; then
    check "scripts: on redis" on "$REDIS_SERVER"
else
    skip "scripts: on redis" "the server is not installed"
fi
if [ -n "${VALKEY_SERVER:-}" ]; then
    check "scripts: on valkey" on env LD_LIBRARY_PATH="${VALKEY_LIBS:-}" \
        "$VALKEY_SERVER"
else
    skip "scripts: on valkey" "the server is not installed"
fi
total
