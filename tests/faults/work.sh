# SPDX-License-Identifier: MIT
#
# work.sh - scenarios with the command: `relet put` puts jobs, three times
# `relet work` runs a command for each (deed.c), which writes to the register of
# its job. In the end each was done, and the judge of jobs reads what the
# commands did.
# shellcheck shell=bash disable=SC2154

relet=$PWD/build/asan/relet
put_pid=

# worker NAME [MS]: which takes so long for a job.
worker() {
    : >>"$dir/$1.log"
    "$relet" -u "$work_url" work -c 4 --lease $ttl --stalls 1000 q -- \
        "$faults/deed" "$dir/socket" "$dir/$1.log" "${2:-40}" \
        >>"$dir/$1.txt" 2>&1 &
    node_pid[$1]=$!
}

# work_begin SCENE COUNT MS [SERVER OPTION...]: a job every 5 ms or so.
work_begin() {
    local name i
    world_begin "$1" "${@:4}"
    work_url="redis://127.0.0.1:$server_port?timeout_ms=1000"
    work_url+='&connect_timeout_ms=1000&ping_every_ms=1000&retry_max_ms=500'
    jobs_total=$2
    seq 1 "$2" | sed 's/.*/1 n1 put & 0/' >"$dir/n1.log"
    for name in w2 w3 w4; do
        worker $name "$3"
    done
    for ((i = 1; i <= $2; i++)); do
        echo $i
        sleep 0.005
    done | "$relet" -u "$work_url" put --lines q >"$dir/put" 2>"$dir/put.txt" &
    put_pid=$!
}

# What it was told is queued: all of it, and once.
until_put() {
    must until_so 'all is put' gone "$put_pid"
    wait "$put_pid"
    same "0 $jobs_total" "$? $(sort -u "$dir/put" | wc -l)"
    seq 1 "$jobs_total" | sed 's/.*/2 n1 queued & 0/' >>"$dir/n1.log"
}

nothing_is_left() {
    [ "$(printf '%s\n' 'LLEN {q}:waiting' 'ZCARD {q}:ranked' \
        'ZCARD {q}:delayed' 'ZCARD {q}:leased' 'ZCARD {q}:dead' \
        'HGET {q}:jobs done' | redis | paste -sd ' ')" = \
        "0 0 0 0 0 $jobs_total" ]
}

# Workers that are told to leave end by 0, and no sanitizer has said a word.
workers_leave() {
    local name code
    for name in "${!node_pid[@]}"; do
        signal CONT "$name"
        signal TERM "$name"
        wait "${node_pid[$name]}"
        code=$?
        [ $code = 0 ] || echo "$name: $code: $(tail -n 1 "$dir/$name.txt")"
    done
    cat "$dir"/*.txt | grep -E 'Sanitizer|runtime error'
    node_pid=()
}

# Whom this shell has begun only this shell can wait for.
work_end() {
    until_put >"$dir/told"
    check "$scene: put is told of each job once" cat "$dir/told"
    check "$scene: each was done, once for the server" \
        until_so 'all are done' nothing_is_left
    workers_leave >"$dir/left"
    check "$scene: all leave in order" cat "$dir/left"
    check "$scene: fsck finds nothing" quietly "$relet" -u "$work_url" fsck q
    world_end "${1:-}"
}

# descendants PID: those below it, itself last.
descendants() {
    local child
    for child in $(ps -o pid= --ppid "$1"); do
        descendants "$child"
    done
    echo "$1"
}

# As if its machine stood still: the guards and the commands, too.
freeze() {
    frozen=$(descendants "${node_pid[$1]}")
    # shellcheck disable=SC2086
    kill -STOP $frozen 2>/dev/null
    mark stop "$1"
}

thaw() {
    mark cont "$1"
    # shellcheck disable=SC2086
    kill -CONT $frozen 2>/dev/null
}

# has_begun NAME N: so many commands at least.
has_begun() { [ "$(grep -c ' begun ' "$dir/$1.log")" -ge "$2" ]; }
stalled() { cat "$dir"/w*.log | grep -c ' begun .* [1-9][0-9]*$'; }

scene_T1_work() {
    local files='--appendonly yes --appendfsync everysec'
    # shellcheck disable=SC2086
    work_begin T1-work 150 40 $files
    until_done 30
    server_killed
    # shellcheck disable=SC2086
    server_again $files || fail 'no server again'
    until_done 90
    server_killed
    # shellcheck disable=SC2086
    server_again $files || fail 'no server again'
    work_end
}

# Its jobs are done by others meanwhile. What it was about to write comes late,
# if at all: the register or the guard sees to that.
scene_T6_work() {
    local before
    work_begin T6-work 100 200
    until_done 20
    freeze w2
    must until_so 'its jobs are relet' holds_some_stalled
    before=$(grep -c ' took ' "$dir/fence.log")
    until_done $((before + 10))
    thaw w2
    work_end
}

holds_some_stalled() { [ "$(stalled)" -ge 1 ]; }

scene_T9_work() {
    local below
    work_begin T9-work 60 200
    must until_so 'w2 is at work' has_begun w2 4
    below=$(descendants "${node_pid[w2]}")
    murder w2
    check 'T9-work: who is killed takes its commands along' \
        until_so 'they are gone' all_of_them_gone "$below"
    work_end
    check 'T9-work: what it had is relet' holds "$(stalled)" -ge 1
}

all_of_them_gone() {
    local pid
    for pid in $1; do
        gone "$pid" || return
    done
}

scene_T10_work() {
    local round
    work_begin T10-work 200 40
    until_done 20
    for round in {1..40}; do
        quietly redis CLIENT KILL TYPE normal SKIPME yes
        sleep 0.05
    done
    work_end
    check 'T10-work: nobody loses a job by it' same 0 "$(stalled)"
}

scene_T14_work() {
    work_begin T14-work 150 40
    flushes 40
    work_end
}

# SOAK seconds, by default ten, of whatever SEED draws.
scene_T34_work() {
    local until name
    work_begin T34-work $((${SOAK:-10} * 60)) 40
    until=$((SECONDS + ${SOAK:-10}))
    RANDOM=${SEED:-1}
    while [ $SECONDS -lt $until ]; do
        name=w$((RANDOM % 3 + 2))
        case $((RANDOM % 5)) in
        0) freeze $name
           sleep $((RANDOM % 3)).$((RANDOM % 900 + 100))
           thaw $name ;;
        1) murder $name
           worker $name ;;
        2) quietly redis CLIENT KILL TYPE normal SKIPME yes ;;
        3) quietly redis SCRIPT FLUSH ;;
        4) quietly redis DEBUG SLEEP 0.$((RANDOM % 900 + 100)) ;;
        esac
        sleep 0.$((RANDOM % 400 + 100))
    done
    work_end
}
