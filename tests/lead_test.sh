#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# lead_test.sh - relet lead, lock and leases, from outside: commands that run
# only while a lease is held, and what becomes of them when processes are
# killed or stopped and servers go away.
#
#   tests/lead_test.sh      RELET names the program, build/relet otherwise
#
# The tests run on each real server that deps.sh found.
#
# The tests wait for a process by reading the files that it writes.

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
relet=${RELET:-build/relet}
[[ $relet == /* ]] || relet=$PWD/$relet
for name in $(compgen -v | grep -E '^(RELET_)?REDIS_(URL|HOST|PORT|DB|PREFIX|'\
'USERNAME|PASSWORD|SENTINEL_.*)$'); do
    unset "$name"
done
work=$PWD/build/lead
rm -rf "$work"
mkdir -p "$work"

# ------------------------------------------------------------------- helpers

waits_for() { [ "$(redis ZCARD "$1")" = 1 ]; }

# run ARGUMENT...: leaves $code, $out and the file err.
run() {
    out=$(timeout 30 "$relet" "$@" 2>"$work/err" </dev/null)
    code=$?
}

# begin NAME ARGUMENT...: in the background as $pid; files NAME.out and .err.
begin() {
    local as=$1
    shift
    : >"$work/$as.out"
    : >"$work/$as.err"
    "$relet" "$@" >"$work/$as.out" 2>"$work/$as.err" </dev/null &
    pid=$!
}

# A command that prints its pid and token, then waits to be killed.
forever='echo "pid $$ token $RELET_LEASE_TOKEN"; while :; do sleep 1; done'
# The same command, which only reports SIGTERM.
stubborn='trap "echo told" TERM; '$forever

# pid_of FILE, token_of FILE: of the last command that wrote to the file.
pid_of() { sed -n 's/^pid \([0-9]*\) .*/\1/p' "$work/$1" | tail -n 1; }
token_of() { sed -n 's/.* token \([0-9]*\)$/\1/p' "$work/$1" | tail -n 1; }

server_again() { server_try "$server_port" "$work/server"; }

redis() { "$REDIS_CLI" -p "$server_port" "$@"; }

# ------------------------------------------------------- one, and its command

test_command() {
    run lock env -- sh -c 'echo $RELET_LEASE_NAME $RELET_LEASE_TERM; exit 7'
    check "lock: relet ends with the command's exit code" same 7 "$code"
    check 'lock: the command finds name and term' same 'env 1' "$out"
    run lead env -- sh -c 'echo $RELET_LEASE_TOKEN; exit 3'
    check "lead: relet ends with the command's exit code" same 3 "$code"
    check 'lead: the command finds the token of the fence' \
        same "$(redis HGET '{leader:env}:fence' token)" "$out"
    run lead --again env -- sh -c 'echo $RELET_LEASE_TERM
        [ $RELET_LEASE_TERM -lt 3 ] || kill -TERM $PPID; exec sleep 0'
    check 'lead --again campaigns again' same '1,2,3' "$(paste -sd , <<<"$out")"
    out=$(echo in | "$relet" -q lock io -- sh -c 'read a; echo $a; echo e >&2' \
        2>"$work/err")
    check 'standard input and output are the command'\''s' same in "$out"
    check 'standard error too, and -q adds nothing' same e "$(cat "$work/err")"
    run lock none -- /nonexistent/program
    check 'a command that is not there: 127' same 127 "$code"
    check 'lock: the lock is free after a command that is not there' \
        same 0 "$(redis EXISTS lock:none)"
    run lock none -- /etc/passwd
    check 'a command that cannot be executed: 126' same 126 "$code"
    run lock none -- sh -c 'kill -KILL $$'
    check 'a command that was killed: 128 + 9' same 137 "$code"
    run lead none --ttl 200 -- true
    check 'options may stand behind the name' same 0 "$code"
    run lock long --ttl 1500 -- sleep 2
    check 'a command may run for longer than its lease' same 0 "$code"
    run --json lead json -- sh -c 'exit 4'
    check 'option --json: notices are documents' same '' "$(grep -v \
        '^{"event":"[a-z ]*","name":"json","token":[0-9]*,"term":.*}$' \
        "$work/err")"
    check 'option --json: the last one has the exit code' \
        grep -q '"event":"command ended".*"code":4}$' "$work/err"
    run -q --json lead quiet -- true
    check '-q --json: no notices either' same '0 ' "$code $(cat "$work/err")"
    run -u mem: lock local -- echo hello
    check 'without a server, on mem:' same 'hello 0' "$out $code"
}

test_usage() {
    local words
    for words in lead 'lock name' 'lead --key k' 'lock --ttl 10 x -- true' \
        'lock --ttl 1000 --grace 501 x -- true' 'leases a b' \
        'lock name ls -l' 'lock name ls' 'lead -- true' 'lock -- true x' \
        'lead --key k x -- true' 'lock --key k x -- true' \
        'lead a b -- true' 'lead a --'; do
        # shellcheck disable=SC2086
        run -u mem: $words
        check "wrong use: $words" same 2 "$code"
        check "in one line: $words" same 1 "$(wc -l <"$work/err")"
    done
    run -u mem: lock --owner "$(printf '%064d' 0)" x -- true
    check 'a long --owner is refused by its own name' \
        grep -q -e '--owner has at most 63' "$work/err"
    run -u mem: lock 'a}b' -- true
    check 'an invalid name: 2' same 2 "$code"
    run -u redis://127.0.0.1:1 lock --wait 0 x -- true
    check 'lock --wait 0 without a server: 3' same 3 "$code"
    run -u redis://127.0.0.1:1 lock --wait 300 x -- true
    check 'lock --wait 300 without a server: 3' same 3 "$code"
    run -u redis://127.0.0.1:1 leases
    check 'leases without a server: 3' same 3 "$code"
}

# -------------------------------------------------------------------- pauses

# Prints how often a command of relet lead --again ran within two seconds.
runs_in_2s() {
    : >"$work/runs"
    timeout -s TERM 2 "$relet" -q lead --again "$@" 2>"$work/err"
    wc -l <"$work/runs"
}

test_pauses() {
    local n
    n=$(runs_in_2s fails -- sh -c 'echo >>"$1"; false' sh "$work/runs")
    check 'lead --again: a command that fails at once campaigns seldom' \
        holds "$n" -le 8
    check 'lead --again: a command that fails is run again' holds "$n" -ge 3
    n=$(runs_in_2s --backoff 0 hurries -- sh -c 'echo >>"$1"' sh "$work/runs")
    check 'lead --backoff 0: without a pause' holds "$n" -ge 20
    begin one lead --again --backoff 400 runs -- sleep 0.5
    until_line "$work/one.err" gained 3
    kill -TERM "$pid"
    wait "$pid"
    check 'lead --backoff: a command that ran for so long makes no pause' \
        same 0 "$(grep -c 'pause' "$work/one.err")"
    begin one lead --again paused -- false
    until_line "$work/one.err" 'pause: 400 ms until the next campaign'
    check 'lead --again: the lease is free in a pause' \
        same '' "$(redis GET leader:paused)"
    kill -TERM "$pid"
    wait "$pid"
    check 'lead --again: a signal ends the pause: 128 + 15' same 143 $?
}

# --------------------------------------------------- what an ACL does not allow

# as RULE...: the URL of a user that may do all but this.
as() {
    redis ACL SETUSER plain reset on '>pw' '~*' '&*' +@all "$@" >/dev/null
    echo "redis://plain:pw@127.0.0.1:$server_port"
}

test_permissions() {
    run -u "$(as -pexpire)" lock --ttl 900 denied -- sleep 5
    check 'lock: a refused renewal is named before the lease is lost' \
        same 'refused lost' "$(awk -F ': ' '/: (refused|lost): / { print $3 }' \
            "$work/err" | paste -s -d ' ')"
    check 'lock: a lease lost for a refused renewal: 121' same 121 "$code"
    run -u "$(as -del)" --timeout 300 lock --ttl 900 stays -- true
    check 'lock: a lease that could not be released is told once' \
        same 1 "$(grep -c 'not released' "$work/err")"
    check "lock: the command's exit code, also if the release is refused" \
        same 0 "$code"
    run -u "$(as resetchannels)" lock deaf -- true
    check 'lock: a refused channel for wake-ups is told' \
        same 1 "$(grep -c 'no wake-ups: NOPERM' "$work/err")"
    redis ACL DELUSER plain >/dev/null
}

# ------------------------------------------------------------ two, and a lock

test_lock() {
    local began
    begin one lock --key job -- sh -c "$forever"
    until_line "$work/one.out" token
    run -q lock --wait 0 --key job -- echo ran
    check 'lock --wait 0: not free: 120, not run' same '120 ' "$code $out"
    began=$(now_ms)
    run -q lock --wait 400 --key job -- echo ran
    check 'lock --wait: not free in time: 120' same '120 ' "$code $out"
    check 'lock --wait: the command waits for the lock' \
        holds $(($(now_ms) - began)) -ge 400
    check 'lock --wait 0: the lock is left as it was' \
        same "$(token_of one.out)" "$(redis HGET '{job}:fence' token)"
    kill -TERM "$pid"
    wait "$pid"
    check 'SIGTERM is passed on to the command' same 143 $?
    check 'the lock is released after SIGTERM' same '' "$(redis GET job)"
    run lock --wait 0 --key job -- echo ran
    check 'lock --wait 0: a free lock is taken' same '0 ran' "$code $out"
    redis SET job someone PX 400 >"$work/log"
    run lock --key job -- echo ran
    check "another program's SET NX PX is waited for" same '0 ran' "$code $out"
}

# Each adds one to a number in a file, not atomically.
test_contenders() {
    local pids=
    echo 0 >"$work/sum"
    for _ in 1 2 3 4 5 6 7 8; do
        "$relet" -q lock sum --wait 20000 -- sh -c '
            read n <"$1"; sleep 0.02; echo $((n + 1)) >"$1"' sh "$work/sum" &
        pids="$pids $!"
    done
    # shellcheck disable=SC2086
    wait $pids
    check 'eight contenders: one at a time' same 8 "$(cat "$work/sum")"
}

# -------------------------------------------------------------------- failover

test_command_dies() {
    local first second began old took
    begin one lead --ttl 60000 crash -- sh -c "$forever"
    first=$pid
    until_line "$work/one.out" token
    begin two lead --ttl 60000 crash -- sh -c \
        'echo "at $(date +%s%N)"; '"$forever"
    second=$pid
    until_line "$work/two.err" up
    until_so 'the second waits' waits_for '{leader:crash}:sleepers'
    old=$(pid_of one.out)
    began=$(date +%s%N)
    kill -KILL "$old"
    until_line "$work/two.out" token
    took=$((($(sed -n 's/^at //p' "$work/two.out") - began) / 1000000))
    check 'a command that crashes is followed at once, not after the TTL' \
        holds $took -lt 5000
    wait "$first"
    check 'the exit code tells how a command crashed' same 137 $?
    check 'the next one has a higher token' \
        holds "$(token_of two.out)" -gt "$(token_of one.out)"
    kill -TERM "$second"
    wait "$second"
    echo "# $on: a crashed command is followed in $took ms (TTL 60000 ms)"
}

test_leader_killed() {
    local second old inner
    begin one lead --ttl 1500 kill9 -- sh -c \
        'sleep 1000 & echo "inner $!"; '"$forever"
    until_line "$work/one.out" token
    old=$(pid_of one.out)
    inner=$(sed -n 's/^inner //p' "$work/one.out")
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    check 'kill -9 of the leader kills the command' until_gone "$old"
    check 'kill -9 of the leader kills children of the command' \
        until_gone "$inner"
    begin two lead --ttl 1500 kill9 -- sh -c "$forever"
    second=$pid
    check 'the next one leads when the lease has ended' \
        until_line "$work/two.out" token
    check 'the next leader has a higher token' \
        holds "$(token_of two.out)" -gt "$(token_of one.out)"
    kill -TERM "$second"
    wait "$second"
}

test_leader_stopped() {
    local first second old
    begin one lead --ttl 2000 pause -- sh -c "$stubborn"
    first=$pid
    until_line "$work/one.out" token
    old=$(pid_of one.out)
    kill -STOP "$first"
    begin two lead --ttl 2000 pause -- sh -c \
        'echo "old: $(ps -o stat= -p '"$old"')"; '"$forever"
    second=$pid
    until_line "$work/two.out" token
    check 'a stopped leader: its command is dead when the next one leads' \
        grep -Eq '^old: (Z.*)?$' "$work/two.out"
    check 'a stopped leader: the next one has a higher token' \
        holds "$(token_of two.out)" -gt "$(token_of one.out)"
    kill -CONT "$first"
    until_line "$work/one.err" 'command ended with 137'
    kill -TERM "$second"
    wait "$second"
    until_line "$work/one.out" token 2
    check 'a stopped leader that goes on campaigns again' \
        holds "$(token_of one.out)" -gt "$(token_of two.out)"
    kill -KILL "$first"
    wait "$first" 2>/dev/null
}

test_server_dies() {
    local lock lead began took old
    begin one lock --ttl 4000 held -- sh -c "$stubborn"
    lock=$pid
    begin two lead --ttl 4000 led -- sh -c "$forever"
    lead=$pid
    until_line "$work/one.out" token
    until_line "$work/two.out" token
    old=$(pid_of one.out)
    began=$(now_ms)
    kill -KILL "$server_pid"
    wait "$server_pid" 2>/dev/null
    check 'the server dies: the command gets a signal' \
        until_line "$work/one.out" '^told$'
    check 'the server dies: the command goes on at first' \
        holds $(($(now_ms) - began)) -gt 1000
    until_gone "$old"
    took=$(($(now_ms) - began))
    check 'the server dies: the command is killed before the lease ends' \
        holds $took -lt 4000
    wait "$lock"
    check 'lock: lost while running: 121' same 121 $?
    until_gone "$(pid_of two.out)"
    server_again || exit 1
    check 'lead: the command runs again when the server is back' \
        until_line "$work/two.out" token 2
    kill -TERM "$lead"
    wait "$lead"
    check 'lead: SIGTERM ends it: 128 + 15' same 143 $?
    echo "# $on: the server died; the command was dead after $took ms" \
        '(TTL 4000 ms)'
}

test_link_breaks() {
    begin one lock --ttl 8000 short -- sh -c 'echo begun; read line <"$1"' \
        sh "$work/fifo"
    until_line "$work/one.out" begun
    redis CLIENT KILL TYPE pubsub >"$work/log"
    until_line "$work/one.err" ': up' 2
    give_line "$work/fifo"
    wait "$pid"
    check 'a link that breaks and comes back ends no command' same 0 $?
}

test_taken_away() {
    begin one lock --ttl 3000 gone -- sh -c "$stubborn"
    until_line "$work/one.out" token
    redis SET lock:gone somebody >"$work/log"
    wait "$pid"
    check 'lock: lost to another holder: 121' same 121 $?
    check 'lock: lost to another holder: the command is dead' \
        gone "$(pid_of one.out)"
    check 'lock: the lease of the other holder is left alone' \
        same somebody "$(redis GET lock:gone)"
}

# ------------------------------------------------------------------- processes

test_processes() {
    local left one
    run lock left -- sh -c 'sleep 1000 >/dev/null 2>&1 & echo $!'
    left=$out
    check 'processes left behind by the command are ended' gone "$left"
    begin one lead --again tidy -- true
    until_line "$work/one.err" gained 5
    kill -STOP "$pid"
    check 'no more zombies than the one that has just ended' \
        holds "$(ps -o stat= --ppid "$pid" | grep -c Z)" -le 2
    kill -CONT "$pid"
    kill -TERM "$pid"
    wait "$pid"
    begin one lead wait -- sh -c "$forever"
    one=$pid
    until_line "$work/one.out" token
    begin two lead wait -- sh -c "$forever"
    until_line "$work/two.err" up
    kill -TERM "$pid"
    wait "$pid"
    check 'a signal ends a command that waits: 128 + 15' same 143 $?
    kill -TERM "$one"
    wait "$one"
    command -v script >/dev/null || { skip terminal 'no script(1)'; return; }
    printf -v line '%q ' "$relet" -q lock tty -- sh -c 'read a; echo "got $a"'
    : >"$work/typescript"
    { until_line "$work/typescript" ask >&2; echo hello; } | SHELL=/bin/sh \
        timeout 20 script -qefc "echo ask; $line" "$work/typescript" \
        >"$work/out" 2>&1
    check 'a command may read from the terminal' grep -q 'got hello' "$work/out"
    printf -v line '%q ' "$relet" -q lock tty -- \
        sh -c 'read a </dev/tty; echo "got $a"'
    : >"$work/typescript"
    { until_line "$work/typescript" ask >&2; echo there; } | SHELL=/bin/sh \
        timeout 20 script -qefc "echo ask; $line </dev/null" \
        "$work/typescript" >"$work/out" 2>&1
    check 'a command may run without a terminal as standard input' \
        grep -q 'got there' "$work/out"
    printf -v line '%q ' "$relet" lead --again --backoff 0 tty -- \
        sh -c 'echo begun; sleep 20'
    : >"$work/typescript"
    { until_line "$work/typescript" begun >&2; printf '\3'; sleep 15; } |
        SHELL=/bin/sh timeout 10 script -qefc "$line" "$work/typescript" \
            >"$work/out" 2>&1
    check 'lead --again: Ctrl-C ends the leader and the command' \
        same 130 "${PIPESTATUS[1]}"
}

# ---------------------------------------------------------------------- leases

test_leases() {
    local one two
    redis FLUSHALL >"$work/log"
    run leases
    check 'leases: none' same '0 ' "$code $out"
    run -q lock past -- true
    begin one lead --ttl 60000 --owner me --key 'app:{x}' -- sh -c "$forever"
    one=$pid
    until_line "$work/one.out" token
    begin two lead --ttl 60000 --key 'app:{x}' -- sh -c "$forever"
    two=$pid
    until_so 'the second waits' waits_for 'app:{x}:sleepers'
    redis SET wrong:fence text >"$work/log"
    redis HSET other:fence field value >"$work/log"
    redis HSET '{list}:fence' token 7 >"$work/log"
    redis RPUSH list a b >"$work/log"
    run leases
    check 'leases: key, holder, token, time left, how many wait' \
        grep -Eqx "app:\{x\}	me:[0-9a-f]{32}	$(token_of one.out)	[0-9]+	1" \
        <<<"$out"
    check 'leases: only held leases are shown' same 1 "$(wc -l <<<"$out")"
    run leases -a
    check 'leases -a: leases that were held are shown, too' \
        grep -Eqx 'lock:past	-	[0-9]+	-	0' <<<"$out"
    check 'leases -a: in the order of their keys' same 'app:{x} lock:past' \
        "$(cut -f 1 <<<"$out" | paste -sd ' ')"
    run leases -a lock:
    check 'leases PREFIX: only keys with the prefix are shown' \
        same lock:past "$(cut -f 1 <<<"$out")"
    run -q lock $'two\nlines' -- true
    run leases -a lock:two
    check 'leases: a key with a newline is one line' same \
        '"lock:two\nlines"' "$(cut -f 1 <<<"$out")"
    run --json leases
    check 'leases --json' grep -Eqx '\{"key":"app:\{x\}","holder":"me:[0-9a-f]'\
'*","token":[0-9]+,"left_ms":[0-9]+,"waiting":1\}' <<<"$out"
    kill -TERM "$one" "$two"
    wait "$one" "$two"
    run leases
    check 'leases: released' same '0 ' "$code $out"
}

# ----------------------------------------------------------------------- on it

ends() {
    # shellcheck disable=SC2046
    kill -KILL $(jobs -p) 2>/dev/null
    wait 2>/dev/null
    server_pid=
}

# on_server KIND: every claim on a server of its own.
on_server() {
    server_kind=$1
    on=$1
    server_start "$work/server" || exit 1
    trap ends EXIT
    export RELET_REDIS_URL=redis://127.0.0.1:$server_port
    test_command
    test_pauses
    test_permissions
    test_lock
    test_contenders
    test_command_dies
    test_leader_killed
    test_leader_stopped
    test_server_dies
    test_link_breaks
    test_taken_away
    test_processes
    test_leases
    ends
    on=
}

mkfifo "$work/fifo"
test_usage
if given REDIS_SERVER 'lead: on redis'; then
    on_server redis
fi
if given VALKEY_SERVER 'lead: on valkey'; then
    on_server valkey
fi
total
