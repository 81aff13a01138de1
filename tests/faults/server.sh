# SPDX-License-Identifier: MIT
#
# server.sh - scenarios in which the server dies, stops, closes links or refuses
# commands.
# shellcheck shell=bash disable=SC2154

# until_renewed MARK: waits until a node believes anew, for which it needs the
# server.
until_renewed() {
    must until_so "a lease is believed in after '$1'" renewed "$1"
    check "$scene: after '$1' a contender leads in time" \
        holds "$(after_ms "$1" valid)" -le $((ttl + room))
}

renewed() { [ "$(after_ms "$1" valid)" != never ]; }

# Prints how often a command was refused, or ran, by the server's counters.
commandstat() {
    redis INFO commandstats | tr -d '\r' |
        sed -n "s/^cmdstat_$1:\(.*,\)*$2=\([0-9]*\).*/\2/p" |
        awk '{ n += $1 } END { print n + 0 }'
}

# ---------------------------------------------------------------------- death

# Each answered write is in the file. With everysec it may be missing while the
# disk is slow: the server then puts off its next write until the last one is
# synced.
files='--appendonly yes --appendfsync no'

# The second time the server stays away for longer than a lease.
scene_T1() {
    # shellcheck disable=SC2086
    world_begin T1 $files
    nodes load=4
    until_led
    until_wrote "$leader"
    server_killed
    # shellcheck disable=SC2086
    server_again $files || fail 'no server again'
    mark back
    until_renewed back
    until_led
    server_killed
    must until_line "$dir/$leader.log" lost
    # shellcheck disable=SC2086
    server_again $files || fail 'no server again'
    mark again
    until_renewed again
    until_led
    until_wrote "$leader"
    world_leave
    check 'T1: no answered command is lost, none runs twice' counters
    world_end
}

# No node may believe in a lease that it could not renew, and no other node gets
# the lease before the server goes on.
scene_T4() {
    local gained
    world_begin T4
    nodes load=2
    until_led
    until_wrote "$leader"
    freeze 0.5
    until_led
    until_wrote "$leader"
    gained=$(gains)
    signal_server STOP
    must until_line "$dir/$leader.log" 'lost .* expired' \
        $(($(count "$leader" lost) + 1))
    check 'T4: while the server is stopped no other contender leads' \
        same "$gained" "$(gains)"
    signal_server CONT
    until_renewed CONT
    until_led
    freeze 3
    until_led
    until_wrote "$leader"
    world_leave
    check 'T4: no answered command is lost, none runs twice' counters
    world_end
}

gains() { logs | grep -c ' gained '; }

signal_server() {
    kill "-$1" "$server_pid"
    mark "$1"
}

# freeze N: the server stands still for so many TTLs.
freeze() {
    signal_server STOP
    sleep "$(awk -v n="$1" -v ttl="$ttl" 'BEGIN { print n * ttl / 1000 }')"
    signal_server CONT
    until_renewed CONT
}

scene_T12() {
    local n
    world_begin T12
    nodes load=2
    for n in 0.15 1.5 3; do
        until_led
        until_wrote "$leader"
        quietly redis DEBUG SLEEP "$n"
        mark "slept-$n"
        until_renewed "slept-$n"
    done
    check 'T12: a server that slept for two TTLs was given up' \
        holds "$(logs | grep -c 'lost .* expired')" -ge 1
    until_led
    until_wrote "$leader"
    world_leave
    check 'T12: no answered command is lost, none runs twice' counters
    world_end
}

# ---------------------------------------------------------------------- links

# kill_some SEED: of the contenders' links, each with a chance of two in three.
# How many the server says that it killed.
kill_some() {
    redis CLIENT LIST | sed -n 's/^id=\([0-9]*\) .* name=n[123] .*/\1/p' |
        awk -v seed="$1" 'BEGIN { srand(seed) }
            rand() * 3 < 2 { print "CLIENT KILL ID", $1 }' |
        redis | awk '{ n += $1 } END { print n + 0 }'
}

# Nothing but a kill ends a link here, however slow this machine is.
patient='timeout=8000 ping=8000 connect=8000'

scene_T10() {
    local kills=0 round=0
    world_begin T10
    # shellcheck disable=SC2086
    nodes load=4 $patient
    until_led
    until_wrote "$leader"
    while [ $kills -lt 60 ] && [ $round -lt 300 ]; do
        round=$((round + 1))
        kills=$((kills + $(kill_some $round)))
        sleep 0.05
    done
    mark quiet
    until_renewed quiet
    until_led
    until_wrote "$leader"
    world_leave
    check 'T10: links were killed' holds $kills -ge 60
    check 'T10: a killed link costs one new link' \
        holds "$(sum attempts)" -le $((kills + 3))
    check 'T10: no answered command is lost, none runs twice' counters
    echo "# $on T10: $kills links killed, $(sum attempts) made," \
        "$(logs | grep -c ' lost ') leases lost"
    world_end
}

scene_T11() {
    local what
    world_begin T11
    nodes load=2
    for what in WRITE ALL; do
        until_led
        until_wrote "$leader"
        quietly redis CLIENT PAUSE $((2 * ttl)) $what
        must until_line "$dir/$leader.log" 'lost .* expired' \
            $(($(count "$leader" lost) + 1))
        # This one has to wait, too.
        quietly redis SET over $what
        mark "paused-$what"
        until_renewed "paused-$what"
    done
    until_led
    until_wrote "$leader"
    world_leave
    check 'T11: commands with short timeouts ended' holds "$(sum unsure)" -ge 1
    check 'T11: no answered command is lost, none runs twice' counters
    world_end
}

scene_T17() {
    # Clients that listen to wake-ups have the limits of the class pubsub.
    world_begin T17 --client-output-buffer-limit normal 64kb 0 0 pubsub 64kb 0 0
    head -c 1000000 /dev/zero | tr '\0' x | quietly redis -x SET big
    # shellcheck disable=SC2086
    nodes load=1 big=1 pace=200 $patient
    must until_line "$dir/n1.log" 'down .* closed' 10
    until_led
    until_wrote "$leader" 50
    world_leave
    check 'T17: answers were cut' holds "$(sum unsure)" -ge 3
    check 'T17: each cut answer cost one link' \
        holds "$(sum attempts)" -le $(($(sum unsure) + 3))
    world_end
}

# -------------------------------------------------------------------- scripts

busy() { [[ $(redis PING 2>&1) == BUSY* ]]; }
not_busy() { ! busy; }

# An endless script that is killed, and one that has written and cannot be
# killed.
scene_T13() {
    local gained began refused
    world_begin T13 --lua-time-limit 100
    nodes
    until_led
    until_wrote "$leader"
    gained=$(gains)
    quietly redis EVAL 'while true do end' 0 &
    must until_so 'the server is busy' busy
    began=$(now_ms)
    must until_line "$dir/$leader.log" 'lost .* expired'
    check 'T13: while the server is busy no other contender leads' \
        same "$gained" "$(gains)"
    quietly redis SCRIPT KILL
    must until_so 'the script ends' not_busy
    mark killed
    began=$(($(now_ms) - began))
    until_renewed killed
    refused=$(($(commandstat '.*' rejected_calls)))
    check 'T13: a busy server is asked less and less often' \
        holds $refused -le $((3 * (20 + began / 50)))
    until_led
    until_wrote "$leader"
    quietly redis EVAL "redis.call('SET', KEYS[1], 1)
        for i = 1, 200000000 do end" 1 x &
    must until_so 'the server is busy' busy
    check 'T13: a script that has written cannot be killed' \
        grep -q UNKILLABLE <(redis SCRIPT KILL 2>&1)
    PATIENCE=90 must until_so 'the script ends' not_busy
    mark ended
    until_renewed ended
    echo "# $on T13: $refused commands refused in $began ms"
    world_end
}

# flushes COMMAND...: flushes the scripts every 50 ms until the command
# succeeds, at most a thousand times.
flushes() {
    local i
    for ((i = 0; i < 1000; i++)); do
        quietly redis SCRIPT FLUSH
        sleep 0.05
        if "$@"; then
            return
        fi
    done
    fail 'a thousand flushes'
}
has_flushed() { [ "$(commandstat 'script|flush' calls)" -ge "$1" ]; }

beliefs() { logs | grep -c ' valid '; }
has_believed() { [ "$(beliefs)" -ge "$1" ]; }

# At first no lease is due for a renewal, so that only one script is in use.
scene_T14() {
    local flushed=60 believed
    world_begin T14
    nodes ttl=60000 load=1 script=1
    until_led
    until_wrote "$leader"
    quietly redis CONFIG RESETSTAT
    flushes has_flushed $flushed
    flushed=$(commandstat 'script|flush' calls)
    check 'T14: at most one script is sent again, for each link and flush' \
        holds "$(commandstat eval calls)" -le $((flushed * 3))
    check 'T14: scripts were sent again' \
        holds "$(commandstat eval calls)" -ge $((flushed / 2))
    check 'T14: scripts were called by name, too' \
        holds "$(commandstat evalsha calls)" -ge $((flushed * 2))
    world_leave
    node n4 ttl=$((ttl + room)) load=1 script=1
    node n5 ttl=$((ttl + room)) load=1 script=1
    until_led
    believed=$(beliefs)
    flushes has_believed $((believed + 3))
    check 'T14: leases are renewed in spite of the flushes' \
        same 00 "$(count n4 lost)$(count n5 lost)"
    world_leave
    check 'T14: no flush causes an error' same 0 "$(sum errors)"
    check 'T14: no answered command is lost, none runs twice' counters
    world_end
}

# -------------------------------------------------------------------- loading

loading() { [[ $(redis PING 2>&1) == LOADING* ]]; }

scene_T15() {
    local name began greeted
    world_begin T15
    nodes
    until_led
    until_wrote "$leader"
    quietly redis DEBUG POPULATE 200000
    quietly redis SAVE
    server_killed
    begins_to_load
    began=$(now_ms)
    sleep 2
    for name in n1 n2 n3; do
        must until_line "$dir/$name.log" 'down .* busy LOADING'
    done
    quietly redis CONFIG SET key-load-delay 0
    must until_so 'the server has loaded' server_answers
    mark loaded
    began=$(($(now_ms) - began))
    until_renewed loaded
    until_led
    until_wrote "$leader"
    all_up 2
    greeted=$(commandstat hello calls) # these it answers all the time
    check 'T15: a server that loads is asked less and less often' \
        holds "$greeted" -le $((3 * (20 + began / 20)))
    check 'T15: the server loads over the same link' \
        same 6 "$(logs | grep -c ' up ')"
    echo "# $on T15: loaded for $began ms, greeted $greeted times"
    world_end
}
