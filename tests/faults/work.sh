# SPDX-License-Identifier: MIT
#
# work.sh - scenarios with the command: `relet put` puts jobs, and three
# processes of `relet work` run a command for each job (deed.c), which writes to
# the register of its job. At the end each job was done; then the judge of jobs
# reads the logs.
# shellcheck shell=bash disable=SC2154

relet=$PWD/build/asan/relet
put_pid=
patience_ms=1000      # with a server that does not answer
bulk=1                # so many bytes at least are behind the number of each job

# worker NAME [MS]: starts `relet work`, whose command takes so long for a job.
worker() {
    : >>"$dir/$1.log"
    # shellcheck disable=SC2086
    $node_in "$relet" -u "$work_url" work -c 4 --lease $ttl --stalls 1000 q \
        -- "$faults/deed" "$dir/socket" "$dir/$1.log" "${2:-40}" \
        >>"$dir/$1.txt" 2>&1 &
    node_pid[$1]=$!
}

# puts FILE [OPTION...]: starts `relet put`, which puts a job for each line.
puts() {
    # shellcheck disable=SC2086
    $node_in "$relet" -u "$work_url" put --lines "${@:2}" q >"$dir/$1" \
        2>"$dir/$1.txt"
}

# Feeds a line every 5 ms or so, once it is allowed, and notes the line in a
# file.
feed() {
    local i
    for ((i = 1; i <= jobs_total; i++)); do
        until allowed $i; do
            sleep 0.02
        done
        echo $i >&3
        printf "%d %0${bulk}d\n" $i 0
        sleep 0.005
    done 3>"$dir/fed"
}

# work_begin SCENE COUNT MS [SERVER OPTION...]
work_begin() {
    world_begin "$1" "${@:4}"
    work_with "$2" "$3"
}

# work_with COUNT MS [PUT OPTION...]: starts three workers and the putting
# command.
work_with() {
    local name
    work_url="redis://127.0.0.1:$server_port?timeout_ms=$patience_ms"
    work_url+="&connect_timeout_ms=$patience_ms&ping_every_ms=$patience_ms"
    work_url+='&retry_max_ms=500'
    jobs_total=$1
    seq 1 "$1" | sed 's/.*/1 n1 put & 0/' >"$dir/n1.log"
    for name in w2 w3 w4; do
        worker $name "$2"
    done
    feed | puts put "${@:3}" &
    put_pid=$!
}

# put_ended CODE: waits for the end of the putting command, with this exit code.
# Without a server the command would never end.
put_ended() {
    until_so 'all is put' gone "$put_pid" || kill -KILL "$put_pid"
    wait "$put_pid"
    same "$1" "$?"
}

# Each line that was fed is queued, and queued once.
until_put() {
    allow_all
    put_ended 0
    same "$jobs_total" "$(cut -d ' ' -f 1 "$dir/$1" | sort -u | wc -l)"
    seq 1 "$jobs_total" | sed 's/.*/2 n1 queued & 0/' >>"$dir/n1.log"
}

nothing_waits() {
    [ "$(printf '%s\n' 'LLEN {q}:waiting' 'ZCARD {q}:ranked' \
        'ZCARD {q}:delayed' 'ZCARD {q}:leased' 'ZCARD {q}:dead' |
        redis | paste -sd ' ')" = "0 0 0 0 0" ]
}

nothing_is_left() {
    nothing_waits && [ "$(redis HGET '{q}:jobs' done)" = "$jobs_total" ]
}

# Workers that get SIGTERM end with 0, and without a report of a sanitizer.
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

# work_end [FILE]: FILE has the lines that were fed to the last putting command.
# This must run in the shell that started the processes, which alone can wait
# for them.
work_end() {
    until_put "${1:-put}" >"$dir/told"
    check "$scene: put is told of each job once" cat "$dir/told"
    check "$scene: each job was done, once for the server" \
        until_so 'all are done' nothing_is_left
    work_over
}

# shellcheck disable=SC2086
fscked() { quietly $node_in "$relet" -u "$work_url" fsck q; }

# work_over [VOID]: ends all processes and judges, without the rules VOID.
work_over() {
    workers_leave >"$dir/left"
    check "$scene: all processes leave in order" cat "$dir/left"
    check "$scene: fsck finds nothing" fscked
    world_end "${1:-}"
}

# descendants PID: prints the processes below it, and itself last.
descendants() {
    local child
    for child in $(ps -o pid= --ppid "$1"); do
        descendants "$child"
    done
    echo "$1"
}

# Stops a worker as if its machine stood still: with its guards and commands.
stand_still() {
    frozen=$(descendants "${node_pid[$1]}")
    # shellcheck disable=SC2086
    kill -STOP $frozen 2>/dev/null
    mark stop "$1"
}

move_on() {
    mark cont "$1"
    # shellcheck disable=SC2086
    kill -CONT $frozen 2>/dev/null
}

stalled() { cat "$dir"/w*.log | grep -c ' begun .* [1-9][0-9]*$'; }

scene_T1_work() {
    # shellcheck disable=SC2086
    work_begin T1-work 150 40 $files
    # shellcheck disable=SC2086
    killed_twice $files
    work_end
}

# work_forgotten SCENE WHAT: each job that the server lost was fed before the
# kill.
work_forgotten() {
    # shellcheck disable=SC2086
    work_begin "$1" 200 40 $written
    forgets "$2"
    forgotten_end
    check "$1: the server did forget" holds "$(twice_or_never | wc -l)" -ge 1
}

# Each job that was put again, or for the first time, after the server was back
# is done.
forgotten_end() {
    put_ended 0 >"$dir/told"
    check "$scene: put ends well" cat "$dir/told"
    check "$scene: nothing is left to do" until_so 'nothing waits' nothing_waits
    check "$scene: jobs put after the server forgot are done" \
        done_from $((fed_then + 1))
    work_over 'J1 J3 J6 J7 J8'
}

scene_T2_work() { work_forgotten T2-work older; }
scene_T3_work() { work_forgotten T3-work 5001; }

# Each job from number N on was done.
done_from() {
    comm -13 <(sed -n 's/.* took \([0-9]*\) .*/\1/p' "$dir/fence.log" |
        sort -u) <(seq "$1" "$jobs_total" | sort)
}
twice_or_never() {
    { sed -n 's/.* took \([0-9]*\) .*/\1/p' "$dir/fence.log"
      seq "$jobs_total" | sed p; } | sort -n | uniq -c | awk '$1 != 3'
}

# Its jobs are done by others meanwhile. What it was about to write comes late,
# if at all: the register or the guard sees to that.
scene_T6_work() {
    local before
    work_begin T6-work 100 200
    until_done 20
    at_work 60 w2
    stand_still w2
    let_go
    allow_all
    must until_so 'its jobs are relet' holds_some_stalled
    before=$(grep -c ' took ' "$dir/fence.log")
    until_done $((before + 10))
    move_on w2
    work_end
}

holds_some_stalled() { [ "$(stalled)" -ge 1 ]; }

scene_T9_work() {
    local below
    work_begin T9-work 60 200
    at_work 50 w2
    below=$(descendants "${node_pid[w2]}")
    murder w2
    let_go
    check 'T9-work: a killed worker takes its commands along' \
        until_so 'they are gone' all_of_them_gone "$below"
    work_end
    check 'T9-work: jobs of the killed worker are relet' \
        holds "$(stalled)" -ge 1
}

all_of_them_gone() {
    local pid
    for pid in $1; do
        gone "$pid" || return
    done
}

scene_T10_work() {
    local ttl=$((ttl + room)) kills=0 round
    work_begin T10-work 200 40
    until_done 20
    for round in {1..400}; do
        kills=$((kills + $(redis CLIENT KILL TYPE normal SKIPME yes)))
        [ $kills -lt 30 ] || break
        allow_part $kills 30
        sleep 0.05
    done
    work_end
    check 'T10-work: links were killed' holds $kills -ge 30
    check 'T10-work: no worker loses a job to a killed link' same 0 "$(stalled)"
}

scene_T14_work() {
    work_begin T14-work 150 40
    flushes_at_work 40
    work_end
}

scene_T11_work() {
    work_begin T11-work 150 40
    pauses_clients
    work_end
}

scene_T12_work() {
    work_begin T12-work 150 40
    sleeps_twice
    work_end
}

scene_T13_work() {
    work_begin T13-work 150 40 --lua-time-limit 100
    is_busy_for_long
    work_end
}

scene_T15_work() {
    work_begin T15-work 150 40
    loads_until until_line "$dir/put.txt" LOADING
    forgotten_end
}

# A job that could not be put is reported; if it is put again with the same
# words, it is put once.
scene_T16_work() {
    world_begin T16-work
    work_with 200 40 --batch b --keep 60000
    is_full until_line "$dir/put.txt" OOM
    put_ended 1 >"$dir/told"
    check 'T16-work: put says that some could not be put' cat "$dir/told"
    check 'T16-work: some jobs were not put' \
        holds "$(wc -l <"$dir/put")" -lt "$jobs_total"
    seq "$jobs_total" | puts again --batch b --keep 60000 &
    put_pid=$!
    work_end again
}

# Four bulky jobs at a time would be more than the server keeps for anybody.
# Their commands do not read all of it.
scene_T17_work() {
    world_begin T17-work --client-output-buffer-limit normal 1500kb 0 0 pubsub \
        1500kb 0 0
    ttl=10000 patience_ms=20000 bulk=499000 work_with 32 40
    work_end
    check 'T17-work: bulky jobs come in pieces, and no link is cut for them' \
        same 0 "$(cat "$dir"/*.txt | grep -c ': down:')"
}

work_net_begin() {
    net_begin "$1" || return
    node_in=$server_in
    work_with "$2" 40
}

work_net_end() {
    work_end
    node_in= server_in=
}

scene_T21_work() {
    work_net_begin T21-work 200 || return
    loses_packets
    work_net_end
}

scene_T22_work() {
    work_net_begin T22-work 200 || return
    resets until_line "$dir/put.txt" 'down' 5
    firewall -F
    work_net_end
}

scene_T23_work() {
    local ttl=$((ttl + room))
    patience_ms=20000 bulk=1000 work_net_begin T23-work 100 || return
    narrow_until 60 || { work_net_end; return; }
    check 'T23-work: leases are renewed beside bulky answers' \
        same 0 "$(stalled)"
    wide_again
    work_net_end
}

# Random faults for SOAK seconds, by default ten, drawn from SEED.
scene_T34_work() {
    local began name
    work_begin T34-work $((${SOAK:-10} * 60)) 40
    began=$SECONDS
    RANDOM=${SEED:-1}
    while [ $((SECONDS - began)) -lt "${SOAK:-10}" ]; do
        allow_part $((SECONDS - began)) "${SOAK:-10}"
        name=w$((RANDOM % 3 + 2))
        case $((RANDOM % 5)) in
        0) stand_still $name
           sleep $((RANDOM % 3)).$((RANDOM % 900 + 100))
           move_on $name ;;
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
