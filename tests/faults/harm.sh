# SPDX-License-Identifier: MIT
#
# harm.sh - what is done to the server, and to the way there, while jobs are
# worked on: by workers (jobs.sh) or by the command (work.sh).
# shellcheck shell=bash disable=SC2154

# until_done N: so many writes were taken.
until_done() { must until_so "$1 jobs are done" took_at_least "$1"; }
took_at_least() { [ "$(grep -c ' took ' "$dir/fence.log")" -ge "$1" ]; }

# killed_at N [OPTION...]: and begun again on what it had written.
killed_at() {
    until_done "$1"
    server_killed
    server_again "${@:2}" || fail 'no server again'
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
    until_done 60
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
    until_done 90
}
written='--appendonly yes --appendfsync always'

sleeps_twice() {
    local n
    for n in 0.15 2; do
        until_done 30
        quietly redis DEBUG SLEEP "$n"
    done
}

pauses_clients() {
    local what
    for what in WRITE ALL; do
        until_done 20
        quietly redis CLIENT PAUSE $((ttl + 500)) $what
        quietly redis SET over $what # this one has to wait, too
    done
}

# For so long that each of their leases ends.
is_busy_for_long() {
    until_done 30
    quietly redis EVAL 'while true do end' 0 &
    must until_so 'the server is busy' busy
    sleep $((2 * ttl / 1000))
    quietly redis SCRIPT KILL
    must until_so 'the script ends' not_busy
}

# It was saved while work went on, so some of that is done again.
loads_for_long() {
    until_done 30
    quietly redis DEBUG POPULATE 200000
    quietly redis SAVE
    dies
    server_begin "$server_port" "$dir/server" --key-load-delay -6 \
        --loading-process-events-interval-bytes 20000
    must until_so 'the server loads' loading
    must until_so 'the server has loaded' server_answers
}

# is_full COMMAND...: until that is so nothing can be put; what is there is
# worked on all the same.
is_full() {
    until_done 20
    quietly redis CONFIG SET maxmemory 1
    must "$@"
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
    PATIENCE=60 until_done 100
    firewall -F
}

# resets COMMAND...: whoever comes, until that is so and for two seconds more.
resets() {
    until_done 20
    firewall -I INPUT -p tcp --dport "$server_port" -j REJECT \
        --reject-with tcp-reset || fail 'no such rule'
    must "$@"
    sleep 2
}

# narrow_until N: so many are done over a line of 512 kbit. 1 where there can
# be none. What is larger than a burst never passes.
narrow_until() {
    until_done 20
    ip -n "$namespace" link set lo mtu 1500
    ip netns exec "$namespace" tc qdisc add dev lo root tbf rate 512kbit \
        burst 16kb latency 20s 2>"$dir/narrow" || {
        skip "$on: $scene" "$(cat "$dir/narrow")"
        return 1
    }
    PATIENCE=90 until_done "$1"
}

wide_again() { ip netns exec "$namespace" tc qdisc del dev lo root; }
