# SPDX-License-Identifier: MIT
#
# net.sh - scenarios with faults of the network between contenders and server.
# shellcheck shell=bash disable=SC2154

# ------------------------------------------------------------------ partitions
#
# These run in a network namespace that exists only for the scenario. Each
# contender reaches the server by an address of its own, so that a rule can
# concern one contender alone.

# net_begin SCENE: returns 1, and the scenario is skipped, if this machine
# cannot make a namespace.
net_begin() {
    local said
    given IPTABLES "$on: $1" || return
    namespace=relet-$$-$1
    said=$(ip netns add "$namespace" 2>&1) || {
        cannot "$on: $1" "$said"
        namespace=
        return 1
    }
    # Not by `ip -n`, nor by `ip netns exec`: both mount anew, and cannot in a
    # changed root.
    server_in="nsenter --net=/run/netns/$namespace"
    said=$($server_in ip link set lo up 2>&1) ||
        fail "$on: $1: no way to the server: $said"
    world_begin "$1" --bind 127.0.0.1 127.0.0.11 127.0.0.12 127.0.0.13
}

# Starts each contender with these settings, at its own address.
net_nodes() {
    local i
    for i in 1 2 3; do
        node_in=$server_in node_host=127.0.0.1$i node n$i "$@"
    done
    all_up
}

firewall() { $server_in "$IPTABLES" "$@"; }

# The iptables rules for packets from n1, n2 or n3 to the server, and back.
drop_requests() {
    firewall -I INPUT -p tcp -d "127.0.0.1${1#n}" --dport "$server_port" -j DROP
}
drop_answers() {
    firewall -I INPUT -p tcp -s "127.0.0.1${1#n}" --sport "$server_port" -j DROP
}

net_end() {
    world_end
    server_in=
}

# Only one contender loses its lease, and it connects again afterwards.
scene_T18() {
    local first ups
    net_begin T18 || return
    net_nodes load=2 timeout=$room ping=$room
    until_led
    first=$leader
    until_wrote "$first"
    ups=$(count "$first" up)
    drop_requests "$first"
    drop_answers "$first"
    mark cut "$first"
    until_led "$first"
    check 'T18: a leader that is cut off is followed in time' \
        holds "$(after_ms cut gained)" -le $((ttl + room))
    check 'T18: the leader that is cut off gave up by itself' \
        same expired "$(reasons "$first" lost)"
    until_wrote "$leader"
    must until_line "$dir/$first.log" down
    firewall -F
    must until_line "$dir/$first.log" ' up ' $((ups + 1))
    check 'T18: no other contender lost a link' same 2 "$(other_ups "$first")"
    world_leave
    check 'T18: no answered command is lost, none runs twice' counters
    net_end
}

other_ups() { logs | awk -v who="$1" '
    $2 != who && $3 == "up" { n++ } END { print n + 0 }'; }

# The server goes on to receive the contender's requests and to run them.
scene_T19() {
    local first
    net_begin T19 || return
    net_nodes load=2
    until_led
    first=$leader
    until_wrote "$first"
    drop_answers "$first"
    mark cut "$first"
    until_led "$first"
    check 'T19: a leader that hears nothing is followed in time' \
        holds "$(after_ms cut gained)" -le $((2 * ttl + room))
    check 'T19: the leader that hears nothing gave up by itself' \
        same expired "$(reasons "$first" lost)"
    until_wrote "$leader"
    firewall -F
    world_leave
    check 'T19: unanswered commands are reported as unsure' \
        holds "$(unsure_of "$first")" -ge 1
    check 'T19: no answered command is lost, none runs twice' counters
    net_end
}

unsure_of() { sed -n 's/.* unsure=\([0-9]*\) .*/\1/p' "$dir/$1.log"; }

# The text of a script, as it is sent.
embedded() {
    LC_ALL=C awk -f tools/embed.awk "lua/$1.lua" | sed 1d
}

# Only renewals by the script's name are dropped, and so what is behind them on
# the same link. Each leads for as long as its lease and no longer.
scene_T20() {
    local name
    name=$(embedded lease_renew | sha1sum | cut -d ' ' -f 1)
    net_begin T20 || return
    net_nodes load=2
    until_led
    until_wrote "$leader"
    firewall -I INPUT -p tcp --dport "$server_port" -m string --algo bm \
        --string "$name" -j DROP || fail 'no such rule'
    PATIENCE=40 must until_so 'three have led' led_and_lost 3
    check 'T20: renewals were dropped' dropped
    check 'T20: each leader led to the end of its lease' early_losses
    check 'T20: no contender has trouble with the lease' \
        same 0 "$(logs | grep -c ' trouble ')"
    firewall -F
    until_led
    until_wrote "$leader" 100
    world_leave
    check 'T20: no answered command is lost, none runs twice' counters
    net_end
}

led_and_lost() { [ "$(logs | grep -c 'lost .* expired')" -ge "$1" ]; }

dropped() {
    firewall -L INPUT -v -x -n | awk '/STRING|statistic/ { n = $1 }
        END { if (n + 0 == 0) print "no packet was" }'
}

# A loss before the time until which it was last believed in.
early_losses() {
    logs | awk '
        $3 == "valid" { until[$2] = $6 }
        $3 == "lost" && ($6 != "expired" || $1 < until[$2]) {
            print until[$2] ": " $0
        }'
}

# --------------------------------------------------------------------- delays

# Answers take up to two TTLs, so that leases are lost and won all the time.
scene_T24() {
    local proxy proxy_pid
    world_begin T24
    : >"$dir/proxy.log"
    "$faults/proxy" "$server_port" 24 $((ttl / 5)) $((2 * ttl)) \
        >>"$dir/proxy.log" 2>"$dir/proxy.err" &
    proxy_pid=$!
    must until_line "$dir/proxy.log" ready
    proxy=$(sed -n 's/.* ready 0 0 //p' "$dir/proxy.log")
    node_port=$proxy nodes load=2 timeout=4000 ping=4000 connect=8000
    PATIENCE=60 must until_so 'four terms' led_times 4
    kill -HUP "$proxy_pid"
    mark healed
    until_renewed healed
    until_led
    until_wrote "$leader" 50
    world_leave
    check 'T24: no answered command is lost, none runs twice' counters
    world_end
}

led_times() { [ "$(gains)" -ge "$1" ]; }

# No contenders: one process has both ends of every link.
scene_T24_cuts() {
    world_begin T24-cuts
    check 'T24: cut at every byte of a conversation, each claim holds' \
        every_cut
    echo "# $on T24-cuts: $(tail -n 1 "$dir/cuts")"
    world_ends
}

every_cut() {
    "$faults/cuts" "$server_port" >"$dir/cuts" 2>&1 || cat "$dir/cuts"
}
