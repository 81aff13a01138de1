#!/bin/sh
# SPDX-License-Identifier: MIT
#
# loop_test.sh - the example with a poll loop of its own, on a real server.

set -u
# shellcheck disable=SC1091
. tests/count.sh
# shellcheck disable=SC1091
. tests/redis.sh
work=$PWD/build/loop
example=build/examples/loop
rm -rf "$work"
mkdir -p "$work"

# answers URL URL: both clients came up and had their answer.
answers() {
    "$example" "$@" >"$work/out" 2>&1 &&
        [ "$(grep -c '^[01] up: ' "$work/out")" -eq 2 ] &&
        [ "$(grep -c '^[01] reply: hello$' "$work/out")" -eq 2 ] ||
        cat "$work/out"
}

# One of the two never comes up: the other is not held back by it.
outlives() {
    timeout 20 "$example" "$1" "$2" >"$work/out" 2>&1
    grep -q '^0 reply: hello$' "$work/out" &&
        grep -q '^1 down: connect to ' "$work/out" &&
        grep -q '^1 not sent: ' "$work/out" || cat "$work/out"
}

"$MAKE" -s "$example" || exit 1
if given REDIS_SERVER 'loop: two clients'; then
    server_start "$work" || exit 1
    url=redis://127.0.0.1:$server_port
    check 'loop: two clients' answers "$url/0" "$url/1"
    check 'loop: one without a server' outlives "$url" \
        'redis://127.0.0.1:1?timeout_ms=200'
fi
total
