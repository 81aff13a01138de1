#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scripts_test.sh - runs the scripts of lua/ on each real server that deps.sh
# found, by the tests that the suite runs on the local server; and in a hash
# slot that migrates between two nodes of a Cluster. `make check-generated`
# checks that the library sends these scripts.

set -u
# shellcheck disable=SC1091
. tests/count.sh
# shellcheck disable=SC1091
. build/deps/have.mk
engine=build/asan/tests/engine
move=$engine/queue_move_test
tests="$engine/scripts_test $engine/queue_put_test $engine/queue_claim_test \
    $engine/queue_end_test $engine/queue_cut_test $move"
work=$(mktemp -d) || exit 1

server_pid=
second_pid=
stop() {
    [ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null
    [ -z "$second_pid" ] || kill "$second_pid" 2>/dev/null
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

cli() {
    "$REDIS_CLI" -s "$work/socket" "$@"
}

# The first node has all slots, and knows the second by its own name.
joined() {
    cli cluster addslotsrange 0 16383 >>"$work/said" || return 1
    cli cluster meet 127.0.0.1 "$1" >>"$work/said" || return 1
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        cli cluster nodes >"$work/nodes"
        [ "$(grep -c master "$work/nodes")" -eq 2 ] &&
            ! grep -q handshake "$work/nodes" &&
            cli cluster info | grep -q cluster_state:ok && return 0
        sleep 0.3
    done
    return 1
}

# Ports that another process has end a node at once; then others are tried.
two_nodes() {
    attempt=$1
    shift
    port=$((20000 + ($$ * 7 + attempt * 997) % 10000))
    mkdir -p "$work/first" "$work/second"
    set -- "$@" --bind 127.0.0.1 --save '' --cluster-enabled yes
    "$@" --port "$port" --dir "$work/first" --unixsocket "$work/socket" \
        >"$work/server.log" 2>&1 &
    server_pid=$!
    "$@" --port "$((port + 1))" --dir "$work/second" >/dev/null 2>&1 &
    second_pid=$!
    listens && joined "$((port + 1))"
}

stop_nodes() {
    kill "$server_pid" "$second_pid" 2>/dev/null
    wait "$server_pid" "$second_pid" 2>/dev/null
    server_pid=
    second_pid=
    rm -rf "$work/socket" "$work/first" "$work/second"
}

migrating() {
    code=1
    for attempt in 1 2 3; do
        if two_nodes "$attempt" "$@"; then
            "$move" "$work/socket" >>"$work/said" 2>&1
            code=$?
            grep -q 'skip: 1' "$work/said" || code=1 # it ran on no Cluster
            stop_nodes
            break
        fi
        stop_nodes
    done
    [ "$code" -eq 0 ] || cat "$work/server.log" "$work/said"
    rm -f "$work/said"
    return "$code"
}

# on_each NAME COMMAND...: the server alone, then two of them.
on_each() {
    name=$1
    shift
    check "scripts: on $name" on "$@"
    if given REDIS_CLI "scripts: in a slot that migrates, on $name"; then
        check "scripts: in a slot that migrates, on $name" migrating "$@"
    fi
}

# shellcheck disable=SC2086
${MAKE:-make} -s F=asan $tests || exit 1
if given REDIS_SERVER "scripts: on redis"; then
    on_each redis "$REDIS_SERVER"
fi
if given VALKEY_SERVER "scripts: on valkey"; then
    on_each valkey env LD_LIBRARY_PATH="${VALKEY_LIBS:-}" "$VALKEY_SERVER"
fi
total
