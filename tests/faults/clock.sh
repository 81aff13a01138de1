# SPDX-License-Identifier: MIT
#
# clock.sh - scenarios with a wrong clock of the server.
#
# A server decides by its own clock when a lease has ended. If that clock jumps
# forward, or runs twice as fast, then two clients may believe in one lease for
# a while (L1), and only the register refuses the lower token (L4).
# shellcheck shell=bash disable=SC2034,SC2154

clock_begin() {
    scene_clock=$work/$on-$1-clock
    mkfifo "$scene_clock.fifo"
    "$faults/wallclock" "$scene_clock" <"$scene_clock.fifo" \
        >"$scene_clock.log" &
    exec 3>"$scene_clock.fifo"
    must until_line "$scene_clock.log" ready
    server_in="env LD_PRELOAD=$PWD/build/model/shim.so MODEL_CLOCK=$scene_clock"
    # Without this, a thread of the server would wait by a clock that may stand
    # still.
    world_begin "$1" --jemalloc-bg-thread no
}

# clock jump MS, clock rate PERCENT
clock() {
    echo "$*" >&3
    mark "clock-$1"
}

clock_end() {
    world_end "${1:-}"
    exec 3>&-
    server_in=
}

until_doubted() {
    must until_line "$dir/$1.log" 'lost .* clock' \
        $(($(grep -c 'lost .* clock' "$dir/$1.log") + 1))
    check "$scene: the leader notices the clock by its next renewal" \
        holds "$(after_ms "clock-$2" lost)" -le $((ttl / 3 + room))
}

scene_T32() {
    "$MAKE" -s build/model/shim.so || fail 'no shim'
    scene_T32_forward
    scene_T32_back
    scene_T32_still
    scene_T32_fast
}

# n4 starts when the lease has just ended, and has not yet seen the server's
# clock.
scene_T32_forward() {
    clock_begin T32-forward
    nodes
    until_led
    until_wrote "$leader"
    clock jump 60000
    node n4
    until_doubted "$leader" jump
    until_led
    until_wrote "$leader"
    clock_end L1
}

# A lease ends as much later as the clock was set back.
scene_T32_back() {
    local gained
    clock_begin T32-back
    nodes
    until_led
    until_wrote "$leader"
    clock jump -120000
    until_doubted "$leader" jump
    until_led
    until_wrote "$leader"
    clock jump -120000
    murder "$leader"
    gained=$(gains)
    sleep $((2 * ttl / 1000))
    check 'T32-back: no contender leads before the lease ends' \
        same "$gained" "$(gains)"
    clock jump 120000
    until_led
    until_wrote "$leader"
    clock_end
}

scene_T32_still() {
    clock_begin T32-still
    nodes
    until_led
    until_wrote "$leader"
    clock rate 0
    until_doubted "$leader" rate
    clock rate 100
    until_led
    until_wrote "$leader"
    clock_end
}

scene_T32_fast() {
    clock_begin T32-fast
    nodes
    until_led
    until_wrote "$leader"
    clock rate 200
    until_doubted "$leader" rate
    clock rate 100
    until_led
    until_wrote "$leader"
    clock_end L1
}

# The wall clocks of n2 and n3 are wrong by an hour, and stand still.
scene_E11() {
    local wrong="env LD_PRELOAD=$PWD/build/model/shim.so"
    wrong="$wrong ASAN_OPTIONS=verify_asan_link_order=0 MODEL_CLOCK="
    "$MAKE" -s build/model/shim.so || fail 'no shim'
    world_begin E11
    quietly "$faults/wallclock" "$dir/early" <<<'jump -3600000'
    quietly "$faults/wallclock" "$dir/late" <<<'jump 3600000'
    node n1
    node_in=$wrong$dir/early node n2
    node_in=$wrong$dir/late node n3
    must until_line "$dir/n3.log" up
    in_turn E11
    world_end
}
