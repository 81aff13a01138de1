#!/bin/sh
# SPDX-License-Identifier: MIT
#
# loop_test.sh - the examples with a loop of their own, on a real server that is
# restarted meanwhile; and a program that gets the client's descriptor numbers
# as soon as they are free.

set -u
# shellcheck disable=SC1091
. tests/count.sh
# shellcheck disable=SC1091
. tests/redis.sh
work=$PWD/build/loop
example=build/examples/loop
rm -rf "$work"
mkdir -p "$work"

# answers URL URL: both clients connect and get their answers.
answers() {
    "$example" "$@" >"$work/out" 2>&1 &&
        [ "$(grep -c '^[01] up: ' "$work/out")" -eq 2 ] &&
        [ "$(grep -c '^[01] reply: hello$' "$work/out")" -eq 2 ] ||
        cat "$work/out"
}

# One of the two clients never connects; the other is not delayed by that.
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

# restart NAME: runs the example, and restarts the server meanwhile. This must
# run in the shell that started the server.
restart() {
    rm -f "$work"/*.out
    "build/examples/$1" "redis://127.0.0.1:$server_port" 30 \
        >"$work/$1.out" 2>&1 &
    program=$!
    port=$server_port
    until_line 'reply: hello' && server_stop && until_line 'down: ' &&
        server_try "$port" "$work"
    wait "$program"
    code=$?
}

# survives NAME: the example reports the loss, and goes on over the next link.
survives() {
    [ "$code" -eq 0 ] && [ "$(grep -c '^up: ' "$work/$1.out")" -ge 2 ] &&
        [ "$(sed -n '$p' "$work/$1.out")" = 'reply: hello' ] ||
        cat "$work/$1.out"
}

until_line() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        grep -q "^$1" "$work"/*.out 2>/dev/null && return
        sleep 0.5
    done
    echo "never: $1"
    return 1
}

# recycles NAME FLAG...: links break, and files get their descriptor numbers.
recycles() {
    name=$1
    shift
    # shellcheck disable=SC2086
    "$CC" -Wall -Wextra -Iinclude -o "$work/$name" tests/loop/recycle.c \
        build/librelet.a "$@" && timeout 60 "$work/$name" 12
}

for name in loop_epoll loop_uv; do
    [ "$name" != loop_uv ] || given LIBUV_DEV "loop: $name" || continue
    given REDIS_SERVER "loop: $name" || continue
    "$MAKE" -s "build/examples/$name" || exit 1
    restart "$name"
    check "loop: $name survives a restart" survives "$name"
done
"$MAKE" -s build/librelet.a || exit 1
check 'loop: numbers that epoll knows are given again' recycles recycle_epoll
given LIBUV_DEV 'loop: numbers that libuv knows are given again' &&
    check 'loop: numbers that libuv knows are given again' \
        recycles recycle_uv -DWITH_UV -luv
total
