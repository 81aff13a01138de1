# SPDX-License-Identifier: MIT
#
# jobs.sh - scenarios with jobs: n1 puts jobs, n2, n3 and n4 work on them. At
# the end each job was put, and is done or dead; then the judge reads the logs.
# shellcheck shell=bash disable=SC2154

jobs_total=

# jobs_begin COUNT [SETTING...]: starts all four processes, with a job every 10
# ms and 20 ms of work per job.
jobs_begin() {
    local name
    for name in n2 n3 n4; do
        node $name room=4 "${@:2}"
    done
    jobs_total=$1
    node n1 put="$1" pace=10 "${@:2}"
    for name in n1 n2 n3 n4; do
        must until_line "$dir/$name.log" ' up '
    done
}

# Succeeds if no job is left to be put, to be answered or to be done.
over() {
    put_total && [ "$(printf '%s\n' 'LLEN {q}:waiting' 'ZCARD {q}:ranked' \
            'ZCARD {q}:delayed' 'ZCARD {q}:leased' | redis |
            paste -sd ' ')" = '0 0 0 0' ]
}

put_total() { [ "$(put_at_all)" = "$jobs_total" ]; }
put_at_all() { logs | grep -cE ' (queued|unput|unsure) '; }

# Waits until all jobs are over. If they are not in time, writes the server's
# data to a file.
until_over() {
    local key
    allow_all
    until_so 'all jobs are put and over' over >"$dir/over" && return
    for key in waiting ranked delayed leased dead idle; do
        echo "$key $(redis ZRANGE "{q}:$key" 0 -1 WITHSCORES | xargs)"
    done >"$dir/state"
    redis HGETALL '{q}:jobs' | xargs -n 2 >>"$dir/state"
    fail "$(cat "$dir/over")"
}

# jobs_end [VOID]: waits for the end of all jobs, and writes the dead ones to
# the log.
jobs_end() {
    local number
    until_over
    for number in $(redis --raw ZRANGE '{q}:dead' 0 -1); do
        mark dead "$(redis --raw HGET '{q}:jobs' "${number%%:*}" |
            tail -c +6 | cut -d ' ' -f 1 | tr -d '\0')"
    done
    world_end "${1:-}"
}

# ----------------------------------------------------------------- the server

scene_T1_jobs() {
    # shellcheck disable=SC2086
    world_begin T1-jobs $files
    jobs_begin 150
    # shellcheck disable=SC2086
    killed_twice $files
    must until_line "$dir/n1.log" down 2
    jobs_end
}

# After such a loss the server gives tokens again, so that most rules do not
# hold; but no register may take a lower token.
jobs_forgotten() {
    # shellcheck disable=SC2086
    world_begin "$1" $written
    jobs_begin 200
    forgets "$2"
    until_over
    check "$1: the server did forget" holds "$(forgotten)" -ge 1
    check "$1: lost jobs were put before the server forgot" lost_early
    jobs_end 'J1 J3 J6 J7 J8'
}

scene_T2_jobs() { jobs_forgotten T2-jobs older; }
scene_T3_jobs() { jobs_forgotten T3-jobs 5001; }

# Prints the number of jobs that were done twice, or were put and have no end.
forgotten() {
    logs | awk '
        $3 == "queued" { queued[$4] = 1 }
        $3 == "buried" { ended[$4] = 1 }
        $3 == "took" && ended[$4]++ { n++ }
        END { for (job in queued) n += !(job in ended); print n + 0 }'
}

# Succeeds if no job is lost that was put after the server was back.
lost_early() {
    logs | awk '
        $2 == "world" && $3 == "back" { back = 1 }
        $3 == "put" && back { late[$4] = 1 }
        $3 == "queued" && $4 in late { queued[$4] = 1 }
        $3 == "took" || $3 == "buried" { ended[$4] = 1 }
        END { for (job in queued) if (!(job in ended)) print "lost", job }'
}

scene_T12_jobs() {
    world_begin T12-jobs
    jobs_begin 150
    sleeps_twice
    jobs_end
}

scene_T11_jobs() {
    world_begin T11-jobs
    jobs_begin 150
    pauses_clients
    jobs_end
}

scene_T13_jobs() {
    world_begin T13-jobs --lua-time-limit 100
    jobs_begin 150
    is_busy_for_long
    jobs_end
}

scene_T14_jobs() {
    local ttl=$((ttl + room))
    world_begin T14-jobs
    jobs_begin 200
    flushes_at_work 40
    jobs_end
    check 'T14-jobs: no flush is noticed' same 00 \
        "$(logs | grep -cE ' (unput|unsure) ')$(logs | grep -c ' lost ')"
}

scene_T15_jobs() {
    world_begin T15-jobs
    jobs_begin 150
    loads_until until_line "$dir/n1.log" 'down .* busy LOADING'
    until_over
    jobs_end 'J1 J3 J6 J7 J8'
}

scene_T16_jobs() {
    world_begin T16-jobs
    jobs_begin 200
    is_full until_line "$dir/n1.log" 'unput .*OOM' 20
    jobs_end
}

# ---------------------------------------------------------------- the workers

# A worker stops itself between a decision and its write, for longer than its
# lease: the register refuses that write, and other workers do its jobs.
scene_T6_jobs() {
    world_begin T6-jobs
    jobs_begin 100 work=100
    until_done 20
    signal USR1 n2
    allow_all
    must until_so 'n2 stops itself' stopped n2
    mark stop n2
    must until_so 'its jobs are with others' job_of_the_paused_is_taken
    wake n2
    must until_line "$dir/fence.log" "refused .* n2"
    check 'T6-jobs: a write decided before a pause is refused' \
        same 1 "$(grep -c refused "$dir/fence.log")"
    must until_line "$dir/n2.log" lost
    jobs_end
    check 'T6-jobs: the job was written once by each of two tokens' \
        same 2 "$(writers_of "$(refused_job)")"
}

paused_job() { sed -n 's/.* write \([0-9]*\) .*/\1/p' "$dir/n2.log" |
    tail -n 1; }
job_of_the_paused_is_taken() {
    grep -q " took $(paused_job) " "$dir/fence.log"
}
refused_job() { sed -n 's/.* refused \([0-9]*\) .*/\1/p' "$dir/fence.log"; }
writers_of() { logs | awk -v job="$1" '
    $3 == "write" && $4 == job && !seen[$2]++ { n++ } END { print n + 0 }'; }

# The process holds four jobs that no other worker can end.
scene_T9_jobs() {
    world_begin T9-jobs
    node n2 room=4 work=60000
    jobs_total=4
    node n1 put=4 fail=0 bury=0
    must until_line "$dir/n2.log" ' begun ' 4
    murder n2
    node n3 room=4 fail=0 bury=0
    must until_line "$dir/n3.log" ' begun ' 4
    check 'T9-jobs: the jobs of a killed worker are relet in time' \
        holds "$(after_ms kill begun)" -le $((2 * ttl + room))
    check 'T9-jobs: each job is relet once: one stall, no attempt' \
        same '4 1 1' "$(sed -n 's/.* begun [0-9]* [0-9]* //p' "$dir/n3.log" |
            sort | uniq -c | xargs)"
    jobs_end
}

# ------------------------------------------------------------------ the links

# kill_links SEED: of all four, each with a chance of two in three.
kill_links() {
    redis CLIENT LIST | sed -n 's/^id=\([0-9]*\) .* name=n[1-4] .*/\1/p' |
        awk -v seed="$1" 'BEGIN { srand(seed) }
            rand() * 3 < 2 { print "CLIENT KILL ID", $1 }' |
        redis | awk '{ n += $1 } END { print n + 0 }'
}

scene_T10_jobs() {
    local ttl=$((ttl + room)) kills=0 round
    world_begin T10-jobs
    # shellcheck disable=SC2086
    jobs_begin 250 $patient
    for round in {1..60}; do
        kills=$((kills + $(kill_links "$round")))
        allow_part "$round" 60
        sleep 0.05
    done
    jobs_end
    check 'T10-jobs: links were killed' holds $kills -ge 20
    check 'T10-jobs: a killed link costs one new link' \
        holds "$(sum attempts)" -le $((kills + 4))
    check 'T10-jobs: no worker loses a job to a killed link' \
        same 0 "$(logs | grep -c ' lost ')"
}

# Eight bulky jobs at a time would be more than the server keeps for anybody.
scene_T17_jobs() {
    world_begin T17-jobs --client-output-buffer-limit normal 3mb 0 0 pubsub \
        3mb 0 0
    jobs_total=16
    node n1 put=16 pace=1 pad=499000 ttl=10000
    must until_so 'all are put' put_total
    # shellcheck disable=SC2086
    node n2 room=8 ttl=10000 $patient
    jobs_end
    check 'T17-jobs: bulky jobs come in pieces, and no link is cut for them' \
        same 2 "$(sum attempts)"
}

# jobs_net_begin SCENE COUNT [SETTING...]: in a namespace of its own.
jobs_net_begin() {
    net_begin "$1" || return
    node_in=$server_in
    jobs_begin "${@:2}"
}

jobs_net_end() {
    node_in=
    jobs_end
    server_in=
}

scene_T21_jobs() {
    jobs_net_begin T21-jobs 200 || return
    loses_packets
    jobs_net_end
}

scene_T22_jobs() {
    local asked began
    jobs_net_begin T22-jobs 200 || return
    began=$(now_ms)
    resets until_line "$dir/n1.log" 'down .* connect' 5
    asked=$(logs | grep -c ' down .* connect')
    began=$(($(now_ms) - began))
    firewall -F
    check 'T22-jobs: a refused worker asks less and less often' \
        holds "$asked" -le $((4 * (20 + began / 50)))
    jobs_net_end
    echo "# $on T22-jobs: refused $asked times"
}

scene_T23_jobs() {
    local ttl=$((ttl + room))
    jobs_net_begin T23-jobs 100 pad=1000 timeout=20000 ping=20000 || return
    narrow_until 60 || { jobs_net_end; return; }
    check 'T23-jobs: leases are renewed beside bulky answers' \
        same 0 "$(logs | grep -c ' lost ')"
    wide_again
    jobs_net_end
}

# ------------------------------------------------------------- all at a time

# SOAK seconds, by default ten, of whatever SEED draws.
scene_T34_jobs() {
    local began name seed=${SEED:-1}
    world_begin T34-jobs
    jobs_begin $((${SOAK:-10} * 40))
    began=$SECONDS
    RANDOM=$seed
    while [ $((SECONDS - began)) -lt "${SOAK:-10}" ]; do
        allow_part $((SECONDS - began)) "${SOAK:-10}"
        name=n$((RANDOM % 3 + 2))
        case $((RANDOM % 6)) in
        0) pause $name
           sleep $((RANDOM % 3)).$((RANDOM % 900 + 100))
           wake $name ;;
        1) murder $name
           node $name room=4 ;;
        2) quietly kill_links "$RANDOM" ;;
        3) quietly redis SCRIPT FLUSH ;;
        4) quietly redis DEBUG SLEEP 0.$((RANDOM % 900 + 100)) ;;
        5) quietly redis CLIENT PAUSE $((RANDOM % 2000)) WRITE ;;
        esac
        sleep 0.$((RANDOM % 400 + 100))
    done
    check 'T34-jobs: no descriptor is left open' few_descriptors
    jobs_end
}

# Links come and go; each has one, and some for what the process is told.
few_descriptors() {
    local name n
    for name in "${!node_pid[@]}"; do
        n=$(ls "/proc/${node_pid[$name]}/fd" | wc -l)
        [ "$n" -le 12 ] || echo "$name has $n"
    done
}
