# SPDX-License-Identifier: MIT
#
# redis.sh - functions for test scripts that need a real server.
# shellcheck shell=sh

server_kind=redis # or valkey
server_in=        # words in front of it, to run it elsewhere
server_pid=
server_port=

server_stop() {
    [ -n "$server_pid" ] && kill "$server_pid" 2>/dev/null
    server_pid=
}

server_answers() {
    # shellcheck disable=SC2086
    [ "$($server_in "$REDIS_CLI" -p "$server_port" ping 2>/dev/null)" = PONG ]
}

# server_begin PORT FOLDER [OPTION...]: starts the server of $server_kind.
server_begin() {
    server_port=$1
    folder=$2
    shift 2
    set -- --port "$server_port" --bind 127.0.0.1 --save '' --dir "$folder" "$@"
    if [ "$server_kind" = valkey ]; then
        set -- env LD_LIBRARY_PATH="${VALKEY_LIBS:-}" "$VALKEY_SERVER" "$@"
    else
        set -- "$REDIS_SERVER" "$@"
    fi
    # Options that come later count.
    # shellcheck disable=SC2086
    $server_in "$@" >"$folder/server.log" 2>&1 &
    server_pid=$!
}

# A process may have taken the port before us: then the server ends at once,
# and the next port is tried.
server_try() {
    server_begin "$@"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        kill -0 "$server_pid" 2>/dev/null || return 1
        server_answers && return 0
        sleep 0.1
    done
    return 1
}

# server_start FOLDER [OPTION...]: starts a server on a free port, $server_port,
# and ends it with the script.
server_start() {
    trap server_stop EXIT
    trap 'exit 1' HUP INT TERM
    mkdir -p "$1"
    for attempt in 1 2 3 4 5; do
        server_try $((20000 + ($$ * 7 + attempt * 997) % 20000)) "$@" && return
        server_stop
    done
    return 1
}
