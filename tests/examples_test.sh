#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# examples_test.sh - the whole programs of examples/ on real servers: a lock, a
# leader, a worker with threads, a cache and the wrapper for C++; also while
# processes are killed and the server is restarted. loop_test.sh and tls_test.sh
# run the other examples.

# Text in single quotes is expanded by the shells that the tests start.
# shellcheck disable=SC2016
set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 1
# shellcheck disable=SC1091
. tests/count.sh
# shellcheck disable=SC1091
. tests/redis.sh
# shellcheck disable=SC1091
. tests/wait.sh
work=$PWD/build/examples_test
built=build/examples
rm -rf "$work"
mkdir -p "$work"

# ------------------------------------------------------------------- helpers

redis() { "$REDIS_CLI" -p "$server_port" "$@"; }

relet() { timeout 30 build/relet -u "$url" "$@" 2>&1; }

# Ends the server; its port is free then.
server_gone() {
    kill "$server_pid"
    wait "$server_pid"
    server_pid=
}

server_again() { server_try "$server_port" "$work/server"; }

# begin NAME PROGRAM ARGUMENT...: starts the program in the background as $pid,
# with its output in NAME.out and NAME.err.
begin() {
    local as=$1
    shift
    : >"$work/$as.out"
    : >"$work/$as.err"
    "$built/$1" "${@:2}" >"$work/$as.out" 2>"$work/$as.err" </dev/null &
    pid=$!
}

# ends PID: waits for its end and leaves its exit $code, or why there is none.
ends() {
    code=$(until_gone "$1") || return
    wait "$1"
    code=$?
}

# Prints the number in the N-th line of NAME.out that begins with WORD.
number_of() {
    grep "^$2 " "$work/$1.out" | sed -n "${3:-1}s/^[a-z]* \([0-9]*\).*/\1/p"
}

exists() { redis EXISTS "$1"; }

waits_for() { [ "$(redis ZCARD "{$1}:sleepers")" = "${2:-1}" ]; }

is_stopped() { [[ $(ps -o stat= -p "$1") == T* ]]; }

# --------------------------------------------------------------------- lock.c

lock() {
    timeout 30 "$built/lock" "$@" >>"$work/lock.out" 2>>"$work/lock.err"
}

# Each begin is followed by the end of the same token.
alternates() {
    awk '$1 == "begin" { if (open) print "overlap:", $0; open = $2; n++ }
        $1 == "end" { if (open != $2) print "end of", $2, "in", open; open = 0 }
        END { if (n != 8) print n, "begin" }' "$work/lock.out"
}

test_lock() {
    local pids='' first
    : >"$work/lock.out"
    rm -f "$work/sum"
    for _ in 1 2 3 4 5 6 7 8; do
        lock "$url" sums 20000 "$work/sum" 5 &
        pids="$pids $!"
    done
    # shellcheck disable=SC2086
    wait $pids
    check 'lock: eight processes, one at a time' alternates
    check 'lock: no sum is lost' same 40 "$(cut -d ' ' -f 1 "$work/sum")"
    check 'lock: released, and not left to run out' same 0 "$(exists lock:sums)"
    lock "$url" 'x}y' 1000 "$work/sum" 1
    check 'lock: a wrong name is told' same 2 $?
    lock 'redis://127.0.0.1:1' sums 300 "$work/sum" 1
    check 'lock: no server: not in time' same 1 $?

    # The first one holds the lock and hangs, while it reads a FIFO.
    rm -f "$work/fifo"
    mkfifo "$work/fifo"
    begin first lock "$url" hangs 20000 "$work/fifo" 1
    first=$pid
    until_line "$work/first.out" begin
    lock "$url" hangs 200 "$work/sum" 1
    check 'lock: taken: not in time' same 1 $?
    lock "$url" hangs 20000 "$work/sum" 1
    check 'lock: the next one gets it when the lease has ended' same 0 $?
    timeout 10 sh -c 'cat "$1" >"$2"' sh "$work/sum" "$work/fifo"
    ends "$first"
    check 'lock: a holder that hung writes nothing over a higher token' \
        same 3 "$code"
    begin gone lock "$url" gone 20000 "$work/other" 100000
    until_line "$work/gone.out" begin
    redis DEL lock:gone >"$work/log"
    ends "$pid"
    check 'lock: lost while the work goes on' same 3 "$code"
}

# ------------------------------------------------------------------- leader.c

# The last lines of one that was stopped.
tail_of() { tail -n 3 "$work/$1.out" | cut -d ' ' -f 1 | paste -sd ' '; }

test_leader_stops() {
    local one two
    begin one leader "$url" report 60000
    one=$pid
    until_line "$work/one.out" step
    begin two leader "$url" report 60000
    two=$pid
    until_so 'the second waits' waits_for leader:report
    kill -TERM "$one"
    check 'leader: SIGTERM: the next one leads long before the ttl is over' \
        until_line "$work/two.out" leading
    ends "$one"
    check 'leader: SIGTERM ends it in order' same 0 "$code"
    check 'leader: first the work ends, then the lease' \
        same 'lost saved ended' "$(tail_of one)"
    check 'leader: the next one has a higher token' \
        holds "$(number_of two leading)" -gt "$(number_of one leading)"
    kill -INT "$two"
    ends "$two"
    check 'leader: SIGINT, too' same 0 "$code"
    check 'leader: and nothing holds the lease' same 0 "$(exists leader:report)"
    begin one leader 'redis://127.0.0.1:1' report
    until_line "$work/one.out" trouble
    kill -TERM "$pid"
    ends "$pid"
    check 'leader: SIGTERM ends it without a server' same 0 "$code"
}

test_leader_killed() {
    local one two steps
    begin one leader "$url" killed 1500
    one=$pid
    until_line "$work/one.out" leading
    begin two leader "$url" killed 1500
    two=$pid
    until_so 'the second waits' waits_for leader:killed
    kill -KILL "$one"
    wait "$one" 2>/dev/null
    check 'leader: kill -9: the next one leads' until_line "$work/two.out" step
    check 'leader: kill -9: with a higher token' \
        holds "$(number_of two leading)" -gt "$(number_of one leading)"

    # A leader is stopped, and goes on when another one leads.
    begin one leader "$url" killed 1500
    one=$pid
    until_so 'the other waits' waits_for leader:killed
    kill -STOP "$two"
    until_so 'it stands still' is_stopped "$two"
    steps=$(grep -c '^step' "$work/two.out")
    check 'leader: SIGSTOP: the next one leads' until_line "$work/one.out" step
    kill -CONT "$two"
    check 'leader: SIGCONT: it hears that it has lost the lease' \
        until_line "$work/two.out" '^lost .* expired'
    check 'leader: and took no step more' \
        same "$steps" "$(grep -c '^step' "$work/two.out")"
    check 'leader: and has saved nothing' \
        same 0 "$(grep -c '^saved' "$work/two.out")"
    kill -TERM "$two" "$one"
    ends "$two"
    check 'leader: as a follower it stops, too' same 0 "$code"
    ends "$one"
    check 'leader: and the one that leads' same 0 "$code"
}

test_leader_restart() {
    begin one leader "$url" again 2000
    until_line "$work/one.out" step
    server_gone
    until_line "$work/one.out" trouble
    server_again || exit 1
    check 'leader: a restarted server: it leads again' \
        until_line "$work/one.out" leading 2
    check 'leader: a restarted server: with a higher token' \
        holds "$(number_of one leading 2)" -gt "$(number_of one leading)"
    kill -TERM "$pid"
    ends "$pid"
    check 'leader: and stops in order' same 0 "$code"
}

# ------------------------------------------------------------------ threads.c

runs_now() { relet stats sums | grep -q "leased $1	"; }

is_gone() { relet job sums "$1" | grep -q "$2"; }

test_threads() {
    local long again
    begin one threads "$url" sums
    check 'threads: the result of a job' \
        same 4950 "$(relet put --wait 20000 sums 100)"
    check 'threads: a payload that is no number' \
        same 'relet: job 2 is dead: the payload is no number' \
        "$(relet put --wait 20000 sums abc)"
    check 'threads: a job that takes too long is told so' \
        same 'relet: job 3 is dead: it took too long' \
        "$(relet put --wait 20000 --attempts 1 --run 200 sums 1000000)"
    long=$(relet put sums 1000000)
    until_so 'it runs' runs_now 1
    relet cancel sums "$long" >"$work/log"
    check 'threads: a cancelled job stops' \
        until_so 'cancelled' is_gone "$long" 'error *"cancelled"'
    seq 20 | relet put --lines --keep 60000 sums >"$work/log"
    check 'threads: more jobs than threads' until_so 'all are done' \
        is_gone $((long + 20)) '"190"'
    long=$(relet put sums 1000000)
    again=$(relet put sums 1000001)
    until_so 'they run' runs_now 2
    kill -TERM "$pid"
    ends "$pid"
    check 'threads: SIGTERM ends it' same 0 "$code"
    check 'threads: its jobs are given back' same \
        'place waiting place waiting' \
        "$(for job in $long $again; do relet job sums "$job"; done |
            grep '^place' | xargs)"
}

# -------------------------------------------------------------------- cache.c

# asked LINE: compares the answer of the cache for the key of that line.
asked() {
    local key=${1%% *} before
    before=$(grep -c "^$key = " "$work/cache.out")
    echo "$key" >&8
    until_line "$work/cache.out" "^$key = " $((before + 1)) &&
        same "$1" "$(grep "^$key = " "$work/cache.out" | tail -n 1)"
}

test_cache() {
    local big
    rm -f "$work/keys"
    mkfifo "$work/keys"
    : >"$work/cache.out"
    "$built/cache" "$url?timeout_ms=300&retry_max_ms=200" <"$work/keys" \
        >"$work/cache.out" 2>"$work/cache.err" &
    pid=$!
    exec 8>"$work/keys"
    redis SET a 1 >"$work/log"
    check 'cache: the server is asked' asked 'a = 1 (asked)'
    check 'cache: the second read is cached' asked 'a = 1 (cached)'
    check 'cache: no such key' asked 'none =  (there is none)'
    redis SET a 2 >"$work/log"
    check 'cache: a change of another client is heard' \
        until_line "$work/cache.out" '^dropped a'
    check 'cache: the new value' asked 'a = 2 (asked)'
    big=$(printf %300s '' | tr ' ' x)
    redis SET big "$big" >"$work/log"
    check 'cache: too large to be kept' asked "big = $big (asked)"
    check 'cache: so it is asked for again' asked "big = $big (asked)"
    check 'cache: other keys stay' asked 'a = 2 (cached)'
    redis CLIENT KILL TYPE normal >"$work/log"
    check 'cache: a broken link empties it' \
        until_line "$work/cache.out" '^dropped all' 2
    check 'cache: after a broken link the server is asked' \
        asked 'a = 2 (asked)'
    server_gone
    check 'cache: it is empty while there is no server' \
        until_line "$work/cache.out" '^dropped all' 3
    check 'cache: nothing old without a server' \
        asked 'a = not sent in time (not sent)'
    server_again 8>&- || exit 1 # or else it would hold the FIFO open, too
    redis SET a 3 >"$work/log"
    check 'cache: the next link empties it, too' \
        until_line "$work/cache.out" '^dropped all' 4
    check 'cache: nothing old after a restart' asked 'a = 3 (asked)'
    redis FLUSHALL >"$work/log"
    check 'cache: FLUSHALL empties it' \
        until_line "$work/cache.out" '^dropped all' 5
    check 'cache: what was flushed is gone' asked 'a =  (there is none)'
    exec 8>&-
    ends "$pid"
    check 'cache: it ends with its input' same 0 "$code"
}

# ------------------------------------------------------------------- raii.cpp

# test_raii COMPILER: tests the wrapper that this compiler has built.
test_raii() {
    local of=raii_$1
    begin "$of" "$of" "$url" night "mails$1" 3
    until_line "$work/$of.out" locked
    lock "$url" night 100 "$work/sum" 1
    check "$of: the lock is held within the scope" same 1 $?
    relet put "mails$1" a b c >"$work/log"
    ends "$pid"
    check "$of: three jobs" same 0 "$code"
    check "$of: jobs within the scope, then the release" \
        same 'locked job job job released' \
        "$(cut -d ' ' -f 1 "$work/$of.out" | paste -sd ' ')"
    check "$of: the end of the scope releases" same 0 "$(exists lock:night)"
    check "$of: all jobs have ended" grep -q 'waiting 0	.*leased 0	' \
        <<<"$(relet stats "mails$1")"
    begin "$of" "$of" "$url" night '' 3
    ends "$pid"
    check "$of: an exception ends it" same 1 "$code"
    check "$of: an exception releases, too" same 'locked 0' \
        "$(cut -d ' ' -f 1 "$work/$of.out") $(exists lock:night)"
    redis SET lock:night somebody PX 400 >"$work/log"
    begin "$of" "$of" "$url" night '' 0
    check "$of: a lock is waited for" until_line "$work/$of.out" locked
    ends "$pid"
}

# --------------------------------------------------------------------- the run

stop_all() {
    # shellcheck disable=SC2046
    kill -KILL $(jobs -p) 2>/dev/null
    wait 2>/dev/null
    server_pid=
}

# on_server KIND
on_server() {
    server_kind=$1
    on=$1
    server_start "$work/server" || exit 1
    trap stop_all EXIT
    url=redis://127.0.0.1:$server_port
    test_lock
    test_leader_stops
    test_leader_killed
    test_leader_restart
    test_threads
    test_cache
    [ ! -x "$built/raii_gcc" ] || test_raii gcc
    [ ! -x "$built/raii_clang" ] || test_raii clang
    stop_all
    on=
}

# compiles COMPILER NAME
compiles() {
    "$1" -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
        -Iinclude -o "$built/raii_$2" examples/raii.cpp build/librelet.a
}

"$MAKE" -s all "$built/lock" "$built/leader" "$built/threads" "$built/cache" ||
    exit 1
rm -f "$built"/raii_*
given COMPILER_CXX 'examples: raii' &&
    check 'raii.cpp compiles' compiles "$COMPILER_CXX" gcc
given CLANG 'examples: raii with clang' &&
    check 'raii.cpp compiles with clang' compiles "$CLANG++" clang
if given REDIS_SERVER 'examples: on redis'; then
    on_server redis
fi
if given VALKEY_SERVER 'examples: on valkey'; then
    on_server valkey
fi
total
