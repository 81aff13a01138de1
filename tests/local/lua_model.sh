#!/bin/sh
# SPDX-License-Identifier: MIT
#
# lua_model.sh [COUNT [FROM]] - lua_model against the servers of deps.sh: the
# corpus, and COUNT made-up programs from seed FROM on.

set -u
# shellcheck disable=SC1091
. build/deps/have.mk
count=${1:-2000}
from=${2:-1}
work=build/lua_model
mkdir -p "$work"

# start NAME COMMAND...: $port and $pid of a server that answers.
start() {
    name=$1
    shift
    mkdir -p "$work/$name"
    for attempt in 1 2 3 4 5; do
        port=$((20000 + ($$ * 7 + attempt * 997 + ${#name} * 31) % 20000))
        "$@" --port "$port" --bind 127.0.0.1 --save '' \
            --dir "$work/$name" >"$work/$name/log" 2>&1 &
        pid=$!
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            kill -0 "$pid" 2>/dev/null || break
            [ "$("$REDIS_CLI" -p "$port" ping 2>/dev/null)" = PONG ] && return
            sleep 0.1
        done
        kill "$pid" 2>/dev/null
    done
    return 1
}

pids=
trap '[ -z "$pids" ] || kill $pids' EXIT
trap 'exit 1' HUP INT TERM

redis=0
valkey=0
if [ -n "${REDIS_SERVER:-}" ]; then
    start redis "$REDIS_SERVER" || exit 1
    redis=$port
    pids=$pid
fi
if [ -n "${VALKEY_SERVER:-}" ]; then
    start valkey env "LD_LIBRARY_PATH=$VALKEY_LIBS" "$VALKEY_SERVER" || exit 1
    valkey=$port
    pids="$pids $pid"
fi
[ -n "$pids" ] || {
    echo "SKIP lua_model: tests/deps.sh did not find a server"
    exit 0
}
"${LUA_MODEL:-$work/lua_model}" tests/lua/corpus.txt "$redis" "$valkey" \
    "$from" "$count"
