# SPDX-License-Identifier: MIT
#
# harm.sh - what is done to the server, and to the way there, while jobs are
# worked on: by workers (jobs.sh) or by the command (work.sh).
# shellcheck shell=bash disable=SC2154

# So that a fault does not come when the work is over, however slow the machine
# is, the work waits for the scene: so many jobs are put (n1's, or lines of
# feed) as it has allowed, and it can keep what is at work from its end. Where
# that comes to nothing the scene fails, rather than to show nothing.

# allow N: so many jobs may be put by now; in the beginning 40. allow_all: all.
allow() {
    echo "$1" >"$dir/socket.new"
    mv "$dir/socket.new" "$dir/socket.upto"
}
allow_all() { rm -f "$dir/socket.upto"; }

# allow_part I N: by the Ith of N times.
allow_part() { allow $((40 + (jobs_total - 40) * $1 / $2)); }

# allowed N: whether job N may be put.
allowed() {
    local upto
    { read -r upto <"$dir/socket.upto"; } 2>/dev/null || return 0
    [ "$1" -le "$upto" ]
}

# at_work N [WHO]: N are allowed, more than before, and some stay at work, WHO's
# if it is named, until let_go.
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
kept=           # so many at least are at work
lost_before=    # and so many were lost by then

# shellcheck disable=SC2086
helds() { cat "$dir"/$1.log | grep -c ' held '; }
helds_above() { [ "$(helds "$2")" -gt "$1" ]; }

# By n1 to n4, or by the command.
losses() {
    find "$dir" -name '*.log' -o -name '*.txt' | xargs cat |
        grep -cE "^[0-9]+ n[1-4] lost |: (lost|given back: not renewed)"
}
losses_above() { [ "$(losses)" -ge "$1" ]; }

# What at_work keeps is told to be lost: its lease has ended meanwhile.
until_lost() {
    must until_so "$kept leases end" losses_above $((lost_before + kept))
}

# until_done N: so many writes were taken.
until_done() { must until_so "$1 jobs are done" took_at_least "$1"; }
took_at_least() { [ "$(grep -c ' took ' "$dir/fence.log")" -ge "$1" ]; }

# killed_twice OPTION...: with some at work and more to be put, and begun again
# on what it had written.
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

# What had been said to who puts by then (work.sh) may be lost, and no more.
dies() {
    server_killed
    fed_then=$(cat "$dir"/fed* 2>/dev/null | wc -l)
}
fed_then=

# forgets older, or BYTES: what it was told last is lost, and it does not know.
# Numbers and tokens are given anew.
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

# falls_asleep SECONDS: it goes on meanwhile.
falls_asleep() {
    local slept
    slept=$(grep -c 'DEBUG LOG: asleep' "$dir/server/server.log")
    printf '%s\n' MULTI 'DEBUG LOG asleep' "DEBUG SLEEP $1" EXEC |
        quietly redis &
    must until_line "$dir/server/server.log" 'DEBUG LOG: asleep' $((slept + 1))
}

# flushes_at_work N: each has a script sent again, and more jobs follow.
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

# The second time for longer than a lease.
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

# pauses WHAT N: whoever writes, or all, for longer than a lease; N are allowed
# before, and 20 more meanwhile.
pauses() {
    at_work "$2"
    quietly redis CLIENT PAUSE $((ttl + 500)) "$1"
    allow $(($2 + 20))
    until_lost
    quietly redis SET over "$1" # this one has to wait, too
    let_go
}

pauses_clients() {
    until_done 20
    pauses WRITE 60
    pauses ALL 110
}

# For so long that each of their leases ends.
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

# loads_until COMMAND...: with what was saved while work went on, so that some of
# it is done again.
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

# So slowly that nobody waits for its end: it is told to go on faster.
begins_to_load() {
    server_begin "$server_port" "$dir/server" --key-load-delay 100 \
        --loading-process-events-interval-bytes 20000
    must until_so 'the server loads' loading
}

# is_full COMMAND...: until that is so nothing can be put; what is there is
# worked on all the same.
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

# ------------------------------------------------------------------- the way

loses_packets() {
    until_done 20
    firewall -I INPUT -p tcp -m statistic --mode random --probability 0.1 \
        -j DROP || fail 'no such rule'
    allow_all
    PATIENCE=60 until_done 100
    check "$scene: packets were lost" dropped
    firewall -F
}

# resets COMMAND...: whoever comes, until that is so and for two seconds more.
resets() {
    until_done 20
    firewall -I INPUT -p tcp --dport "$server_port" -j REJECT \
        --reject-with tcp-reset || fail 'no such rule'
    allow_all
    must "$@"
    sleep 2
}

# narrow_until N: so many are done over a line of 512 kbit. 1 where there can
# be none. What is larger than a burst never passes.
narrow_until() {
    until_done 20
    nsenter --net="/run/netns/$namespace" ip link set lo mtu 1500 ||
        fail 'the line stays as wide as it is'
    nsenter --net="/run/netns/$namespace" tc qdisc add dev lo root tbf rate 512kbit \
        burst 16kb latency 20s 2>"$dir/narrow" || {
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
