# SPDX-License-Identifier: MIT
#
# process.sh - scenarios in which a contender is paused, killed or told to end.
# shellcheck shell=bash disable=SC2154

# A contender may finish after a pause the write that it decided on before: the
# register then refuses it. Before any other act the contender must hear that
# the lease was lost.
scene_T5() {
    local first
    world_begin T5
    nodes
    until_led
    first=$leader
    until_wrote "$first"
    signal USR1 "$first"
    must until_so "$first stops itself" stopped "$first"
    mark stop "$first"
    until_led "$first"
    until_wrote "$leader"
    wake "$first"
    must until_line "$dir/fence.log" "refused .* $first"
    check 'T5: a write decided before a pause is refused' \
        same 1 "$(grep -c refused "$dir/fence.log")"
    must until_line "$dir/$first.log" lost
    check 'T5: a paused leader is told of the loss first' \
        same 'lost expired' "$(first_news "$first")"
    until_led "$first"
    first=$leader
    pause "$first"
    until_led "$first"
    until_wrote "$leader"
    wake "$first"
    must until_line "$dir/$first.log" lost
    check 'T5: a leader paused anywhere is told of the loss first' \
        same 'lost expired' "$(first_news "$first")"
    check 'T5: the lease stays with the next leader' same "$leader" "$(leads)"
    world_end
}

# Prints the first event of WHO after its pause, and the reason.
first_news() {
    logs | awk -v who="$1" '
        $2 == "world" && $3 == "cont" && $4 == who { from = $1; told = "" }
        $2 == who && from && told == "" && /gained|lost|ended|trouble|write/ {
            told = $3 " " $6
        }
        END { print told }'
}

scene_T7() {
    world_begin T7
    nodes
    until_led
    until_wrote "$leader"
    murder "$leader"
    until_led
    check 'T7: a killed leader is followed when its lease ends' \
        holds "$(after_ms kill gained)" -le $((ttl + room))
    until_wrote "$leader"
    echo "# $on T7: followed in $(after_ms kill gained) ms (TTL $ttl ms)"
    world_end
}

# With a lease this long, a contender that waited for its end would be late.
scene_T8() {
    local ttl=60000 first
    world_begin T8
    nodes
    until_led
    first=$leader
    until_wrote "$first"
    mark told "$first"
    signal TERM "$first"
    until_led "$first"
    check 'T8: a leader that is stopped is followed at once' \
        holds "$(after_ms told gained)" -le "$room"
    until_wrote "$leader"
    echo "# $on T8: followed in $(after_ms told gained) ms (TTL $ttl ms)"
    world_end
}

# n1 has the clock of this script; the others are in time namespaces of their
# own.
scene_T33() {
    local said days='unshare --time --boottime 1000000 --monotonic 1000000'
    local second='unshare --time --boottime 1 --monotonic 77777'
    said=$($days true 2>&1) || { cannot "$on: T33" "$said"; return; }
    world_begin T33
    node n1
    node_in=$days node n2
    node_in=$second node n3
    must until_line "$dir/n3.log" up
    check 'T33: the contenders live in different times' same 3 \
        "$(readlink /proc/"${node_pid[n1]}"/ns/time \
            /proc/"${node_pid[n2]}"/ns/time /proc/"${node_pid[n3]}"/ns/time |
            sort -u | wc -l)"
    in_turn T33
    world_end
}

# Each contender leads once, and ends.
in_turn() {
    local first
    until_led
    first=$leader
    until_wrote "$first"
    murder "$first"
    until_led
    check "$1: a killed leader is followed when its lease ends" \
        holds "$(after_ms kill gained)" -le $((ttl + room))
    until_wrote "$leader"
    first=$leader
    signal TERM "$first"
    until_led "$first"
    until_wrote "$leader"
    check "$1: each contender has led" same 3 "$(logs |
        awk '$3 == "gained" { print $2 }' | sort -u | wc -l)"
}
