# SPDX-License-Identifier: MIT
#
# harm.sh - the faults of the server and of the network while workers (jobs.sh)
# or the command (work.sh) work on jobs.
# shellcheck shell=bash disable=SC2154

# The work waits for the scenario, so that on any machine a fault comes during
# the work: the scenario allows a number of jobs to be put (by n1, or as lines
# of feed), and it can keep the work on jobs from ending. If that fails, the
# scenario fails.

# allow N: N jobs may be put by now; at the beginning 40. allow_all: all may.
allow() {
    echo "$1" >"$dir/socket.new"
    mv "$dir/socket.new" "$dir/socket.upto"
}
allow_all() { rm -f "$dir/socket.upto"; }

# allow_part I N: allows the share of jobs for the Ith of N times.
allow_part() { allow $((40 + (jobs_total - 40) * $1 / $2)); }

# allowed N: succeeds if job N may be put.
allowed() {
    local upto
    { read -r upto <"$dir/socket.upto"; } 2>/dev/null || return 0
    [ "$1" -le "$upto" ]
}

# at_work N [WHO]: allows N jobs, more than before, and keeps the work on some
# of them, WHO's if it is named, from ending until let_go.
at_work() {
    local before
    before=$(helds "${2:-*}")
    : >"$dir/socket.held"
    allow "$1"
    must until_so 'some are at work' helds_above "$before" "${2:-*}"
    kept=$(($(helds "${2:-*}") - before))
    lost_before=$(losses)
}
let_go() { rm -f "$dir/socket.held"; }
kept=           # the least number of jobs at work
lost_before=    # the number of jobs lost by then

# shellcheck disable=SC2086
helds() { cat "$dir"/$1.log | grep -c ' held '; }
helds_above() { [ "$(helds "$2")" -gt "$1" ]; }

# Counts the jobs lost by n1 to n4, or by the command.
losses() {
    find "$dir" -name '*.log' -o -name '*.txt' | xargs cat |
        grep -cE "^[0-9]+ n[1-4] lost |: (lost|given back: not renewed)"
}
losses_above() { [ "$(losses)" -ge "$1" ]; }

# Waits until the jobs that at_work keeps are reported as lost, since their
# leases have ended.
until_lost() {
    must until_so "$kept leases end" losses_above $((lost_before + kept))
}

# until_done N: waits until N writes were taken.
until_done() { must until_so "$1 jobs are done" took_at_least "$1"; }
took_at_least() { [ "$(grep -c ' took ' "$dir/fence.log")" -ge "$1" ]; }

# killed_twice OPTION...: kills the server twice, with jobs at work and more to
# be put, and starts it again on the data that it has written.
killed_twice() {
    local n
    until_done 30
    for n in 60 120; do
        at_work $n
        server_killed
        allow $((n + 40))
        let_go
        server_again "$@" || fail 'no server again'
    done
}

# Kills the server. Only jobs fed to the putting command (work.sh) by then may
# be lost.
dies() {
    server_killed
    fed_then=$(cat "$dir"/fed* 2>/dev/null | wc -l)
}
fed_then=

# forgets older|BYTES: the server loses its last writes without noticing, and
# gives the same numbers and tokens again.
forgets() {
    local files=$dir/server/appendonlydir
    until_done 30
    [ "$1" != older ] || cp -r "$files" "$dir/older"
    allow 100
    until_done 80
    dies
    if [ "$1" = older ]; then
        rm -r "$files"
        mv "$dir/older" "$files"
    else
        truncate -s -"$1" "$files"/*.incr.aof
    fi
    # shellcheck disable=SC2086
    server_again $written || fail 'no server again'
    mark back
    allow_all
    until_done 120
}
written='--appendonly yes --appendfsync always'

# falls_asleep SECONDS: the server sleeps, in the background of this script.
falls_asleep() {
    local slept
    slept=$(grep -c 'DEBUG LOG: asleep' "$dir/server/server.log")
    printf '%s\n' MULTI 'DEBUG LOG asleep' "DEBUG SLEEP $1" EXEC |
        quietly redis &
    must until_line "$dir/server/server.log" 'DEBUG LOG: asleep' $((slept + 1))
}

# flushes_at_work N: flushes the scripts N times. After each flush, a script is
# sent again, and more jobs follow.
flushes_at_work() {
    local i sent
    for ((i = 1; i <= $1; i++)); do
        sent=$(commandstat eval calls)
        quietly redis SCRIPT FLUSH
        allow_part $i "$1"
        must until_so 'a script is sent again' sent_above "$sent"
    done
}
sent_above() { [ "$(commandstat eval calls)" -gt "$1" ]; }

# The server sleeps twice, the second time for longer than a lease.
sleeps_twice() {
    until_done 30
    at_work 60
    falls_asleep 0.15
    let_go
    at_work 100
    falls_asleep 2
    allow_all
    until_lost
    let_go
}

# pauses WRITE|ALL N: pauses the clients for longer than a lease. N jobs are
# allowed before, and 20 more meanwhile.
pauses() {
    at_work "$2"
    quietly redis CLIENT PAUSE $((ttl + 500)) "$1"
    allow $(($2 + 20))
    until_lost
    quietly redis SET over "$1" # this SET has to wait, too
    let_go
}

pauses_clients() {
    until_done 20
    pauses WRITE 60
    pauses ALL 110
}

# The server is busy for so long that the lease of each job at work ends.
is_busy_for_long() {
    until_done 30
    at_work 60
    quietly redis EVAL 'while true do end' 0 &
    must until_so 'the server is busy' busy
    allow 100
    until_lost
    quietly redis SCRIPT KILL
    must until_so 'the script ends' not_busy
    let_go
}

# loads_until COMMAND...: the server loads data that was saved while work went
# on, so that some jobs are done again.
loads_until() {
    until_done 30
    quietly redis DEBUG POPULATE 200000
    quietly redis SAVE
    allow 100
    until_done 80
    dies
    begins_to_load
    allow_all
    must "$@"
    quietly redis CONFIG SET key-load-delay 0
    must until_so 'the server has loaded' server_answers
}

# The server loads very slowly, until it is told to go on faster.
begins_to_load() {
    server_begin "$server_port" "$dir/server" --key-load-delay 100 \
        --loading-process-events-interval-bytes 20000
    must until_so 'the server loads' loading
}

# is_full COMMAND...: no job can be put until the command succeeds; the jobs in
# the queue are worked on all the same.
is_full() {
    until_done 20
    at_work 60
    quietly redis CONFIG SET maxmemory 1
    allow_all
    must "$@"
    let_go
    check "$scene: a full server lets workers end what they have" \
        until_so 'none is leased' none_leased
    quietly redis CONFIG SET maxmemory 0
}

none_leased() { [ "$(redis ZCARD '{q}:leased')" = 0 ]; }

# --------------------------------------------------------------- the network

loses_packets() {
    until_done 20
    firewall -I INPUT -p tcp -m statistic --mode random --probability 0.1 \
        -j DROP || fail 'no such rule'
    allow_all
    PATIENCE=60 until_done 100
    check "$scene: packets were lost" dropped
    firewall -F
}

# resets COMMAND...: resets all links until the command succeeds, and for two
# seconds more.
resets() {
    until_done 20
    firewall -I INPUT -p tcp --dport "$server_port" -j REJECT \
        --reject-with tcp-reset || fail 'no such rule'
    allow_all
    must "$@"
    sleep 2
}

# narrow_until N: waits until N jobs are done over a line of 512 kbit. Fails if
# there can be no such line. A packet larger than a burst never passes.
narrow_until() {
    until_done 20
    nsenter --net="/run/netns/$namespace" ip link set lo mtu 1500 ||
        fail 'the line stays as wide as it is'
    nsenter --net="/run/netns/$namespace" tc qdisc add dev lo root tbf \
        rate 512kbit burst 16kb latency 20s 2>"$dir/narrow" || {
        cannot "$on: $scene" "$(head -n 1 "$dir/narrow")"
        return 1
    }
    allow_all
    PATIENCE=90 until_done "$1"
    check "$scene: there was more than the line can bear" \
        holds "$(over_limit)" -ge 1
}

over_limit() {
    nsenter --net="/run/netns/$namespace" tc -s qdisc show dev lo |
        sed -n 's/.* overlimits \([0-9]*\) .*/\1/p'
}

wide_again() { nsenter --net="/run/netns/$namespace" tc qdisc del dev lo root; }
