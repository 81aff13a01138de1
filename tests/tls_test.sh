#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tls_test.sh - the OpenSSL example against a real TLS server: with the
# authority that has signed the server's certificate, with another one, and
# with none.

set -u
# shellcheck disable=SC1091
. tests/count.sh
work=$PWD/build/tls
example=build/examples/tls_openssl
rm -rf "$work"
mkdir -p "$work"

server_pid=
trap '[ -z "$server_pid" ] || kill "$server_pid"' EXIT
trap 'exit 1' HUP INT TERM

skip_all() {
    for claim in 'the right authority' 'the right authority, by number' \
        'another authority' 'another host' 'plain to TLS' 'TLS to plain'; do
        skip "tls: $claim" "$1"
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    exit 0
}

# authority NAME: makes a self-signed certificate and its key.
authority() {
    "$OPENSSL" req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$1" \
        -keyout "$work/$1.key" -out "$work/$1.pem" 2>>"$work/log"
}

# Makes a certificate for localhost, and for one of its addresses.
certificate() {
    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' >"$work/names"
    "$OPENSSL" req -newkey rsa:2048 -nodes -subj /CN=localhost \
        -keyout "$work/server.key" -out "$work/server.csr" 2>>"$work/log" &&
        "$OPENSSL" x509 -req -in "$work/server.csr" -days 2 \
            -CA "$work/right.pem" -CAkey "$work/right.key" \
            -CAcreateserial -extfile "$work/names" \
            -out "$work/server.pem" 2>>"$work/log"
}

# up: succeeds if the server has printed that it accepts connections.
up() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        kill -0 "$server_pid" 2>/dev/null || return 1
        grep -q 'eady to accept connections' "$work/server.log" && return
        sleep 0.1
    done
    return 1
}

# start PORT: starts a server with TLS at this port, and plain text at the next
# one. The port may be in use.
start() {
    "$REDIS_SERVER" --tls-port "$1" --port $(($1 + 1)) --save '' \
        --bind 127.0.0.1 127.0.0.2 --dir "$work" --tls-auth-clients no \
        --tls-cert-file "$work/server.pem" \
        --tls-key-file "$work/server.key" \
        --tls-ca-cert-file "$work/right.pem" >"$work/server.log" 2>&1 &
    server_pid=$!
    up && return
    kill "$server_pid" 2>/dev/null
    server_pid=
    return 1
}

start_somewhere() {
    for attempt in 1 2 3 4 5; do
        port=$((20000 + ($$ * 7 + attempt * 991) % 12000))
        start "$port" && return
    done
    return 1
}

# says CODE TEXT URL CA: the example ends with this code and prints this text.
says() {
    "$example" "$3" "$4" >"$work/out" 2>&1
    [ $? -eq "$1" ] && grep -q "$2" "$work/out" || cat "$work/out"
}

for key in REDIS_SERVER OPENSSL OPENSSL_DEV; do
    [ -n "$(eval "echo \"\${$key:-}\"")" ] ||
        skip_all "tests/deps.sh did not find $key"
done
"$MAKE" -s "$example" || exit 1
authority right && authority wrong && certificate || exit 1
start_somewhere || {
    grep -q 'TLS' "$work/server.log" && skip_all 'the server has no TLS'
    cat "$work/server.log"
    exit 1
}

right=$work/right.pem
check 'tls: the right authority' \
    says 0 'reply: hello' "rediss://localhost:$port" "$right"
check 'tls: the right authority, by number' \
    says 0 'reply: hello' "rediss://127.0.0.1:$port" "$right"
check 'tls: another authority' says 1 \
    "down: .*TLS with localhost:$port: .*certificate" \
    "rediss://localhost:$port" "$work/wrong.pem"
check 'tls: another host' says 1 'down: .*mismatch' \
    "rediss://127.0.0.2:$port" "$right"
check 'tls: plain to TLS' says 1 "down: .*127.0.0.1:$port" \
    "redis://127.0.0.1:$port" "$right"
# A Redis server takes the first bytes of TLS for the beginning of a line.
check 'tls: TLS to plain' says 1 'down: TLS with .*: timed out' \
    "rediss://127.0.0.1:$((port + 1))?connect_timeout_ms=300" "$right"
total
