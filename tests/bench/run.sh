#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh - every benchmark, side by side; `make bench` builds and calls it.
#
#   tests/bench/run.sh
#   PARTS="leases small" tests/bench/run.sh    these alone: programs_glibc
#       programs_musl local_server store leases queues instructions
#       beside_redis_benchmark small
#   BENCH_QUICK=1 tests/bench/run.sh    each for about a second: for the checks
#       of the answers, not for the figures; a step of `make test`
#
# Prints tables and leaves build/bench.tsv; a ratio over 1 means that relet is
# better. Rows with "musl" in their first column come from programs statically
# linked to musl, hiredis too. The script starts and stops its own server on
# loopback. The table of goals stands at the end: goals.tsv, goals.sh. If a part
# fails, the others still run; the exit code is 1 then.

set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC1091
. tests/count.sh
# shellcheck disable=SC1091
. tests/redis.sh
work=build/bench-run
tsv=build/bench.tsv
quick=${BENCH_QUICK:-}
rm -rf "$work"
mkdir -p "$work"
: >"$work/absent"
printf 'bench\tworkload\tours\tpeer\ttheirs\tunit\tratio\tspread\n' >$tsv

# row BENCH WORKLOAD OURS PEER THEIRS UNIT LESS|MORE [SPREAD]: adds a row to the
# table and the screen. LESS: the smaller the better. SPREAD: half of the range,
# in percent. PEER is - if there is no peer.
row() {
    ratio=-
    if [ "$4" != - ]; then
        echo "$7 $3 $5" | awk '{ x = $1 == "less" ? $3 / $2 : $2 / $3
                                 printf "%.3f\n", x }' >"$work/ratio"
        read -r ratio <"$work/ratio"
    fi
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" \
        "$6" "$ratio" "${8:-0}" >>$tsv
    printf '%-8s%-38s%10s %10s  %-21s %-6s %6s×\n' "$1" "$2" "$3" "$5" "$4" \
        "$6" "$ratio"
}

# figure BENCH WORKLOAD VALUE UNIT [SPREAD]
figure() { row "$1" "$2" "$3" - - "$4" less "${5:-0}"; }

# absent PATTERN WHY: the goals of PATTERN cannot be measured; see goals.sh.
absent() { printf '%s\t%s\n' "$1" "$2" >>"$work/absent"; }

median() {
    sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# spread: half of the range, in percent of the median.
spread() {
    sort -n | awk '{ v[NR] = $1 }
        END { m = v[int((NR + 1) / 2)]
              printf "%.1f\n", m ? 50 * (v[NR] - v[1]) / m : 0 }'
}

# times N: prints 1 ... N, or only 1 with BENCH_QUICK.
times() { seq "$([ -n "$quick" ] && echo 1 || echo "$1")"; }

# some N M: prints N, or M with BENCH_QUICK.
some() { if [ -n "$quick" ]; then echo "$2"; else echo "$1"; fi; }

# ------------------------------------------------------------ separate programs

# appended SUFFIX PROGRAM ARGUMENT...: the rows that the program writes go to
# the table, with the suffix in column 1.
appended() {
    suffix=$1
    shift
    rm -f "$work/tsv"
    "$@" || return 1
    awk -F '\t' -v OFS='\t' -v suffix="$suffix" '{ $1 = $1 suffix; print }' \
        "$work/tsv" >>$tsv
}

# programs FLAVOUR SUFFIX
programs() {
    bad=0
    for name in parse_bench client_bench queue_scripts_bench; do
        echo "== $name$2"
        # The last program measures the server alone: once is enough.
        [ "$name$2" != "queue_scripts_bench musl" ] || [ -n "$quick" ] ||
            continue
        [ -n "$server_port" ] || [ "$name" != queue_scripts_bench ] || continue
        appended "$2" "build/$1/tests/bench/$name" "$work/tsv" \
            "$server_port" || bad=1
        echo
    done
    return $bad
}

programs_glibc() { programs bench ''; }
programs_musl() { programs bench-musl ' musl'; }

# leases: runs for one flavour only, since leases wait for a server and for
# time.
leases() {
    echo "== lease_bench (takes four minutes)"
    appended '' build/bench/tests/bench/lease_bench "$work/tsv" "$server_port"
}

# Flushes the server's data, as the scripts alone do too.
queues() {
    echo "== queue_bench, beside the peers (takes fifteen minutes)"
    bash tests/bench/peers.sh $tsv "$work" "$server_port" || return 1
    # Each contender counts as one test: each of its jobs came once.
    passed=$((passed + 4 - $(wc -l <"$work/peers/skipped")))
    while read -r line; do
        skip "bench_queues" "$line"
    done <"$work/peers/skipped"
    if [ -s "$work/peers/skipped" ]; then
        absent '^queue: .*: .*(BullMQ|bee-queue)' 'the peers are not here'
    fi
}

# -------------------------------------------------------- counted instructions

# count WHO COMMAND N: instructions of this process for N at depth 64.
count() {
    "$VALGRIND" --tool=callgrind --callgrind-out-file=/dev/null \
        build/bench/tests/bench/client_bench --count "$1" "$2" 64 "$3" \
        "$server_port" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# Long runs minus short ones: the cost of start-up cancels out.
instructions_of() {
    many=$(some 38400 1280)
    few=$(some 6400 640)
    for _ in $(times 5); do
        long=$(count "$1" "$2" "$many")
        short=$(count "$1" "$2" "$few")
        echo $(((long - short) / (many - few)))
    done | median
}

instructions() {
    for command in SET GET; do
        ours=$(instructions_of relet $command)
        [ "$ours" -gt 0 ] || return 1
        row client "instructions per $command, depth 64" "$ours" \
            "hiredis 1.2.0" "$(instructions_of hiredis $command)" instr less
        row client "instructions per $command, depth 64" "$ours" \
            "a raw writer" "$(instructions_of raw $command)" instr less
    done
}

# ------------------------------------------------------------ redis-benchmark

# Without a number, one of the runs has failed.
ours_rate() {
    build/relet --json -u "redis://127.0.0.1:$server_port" bench get \
        -n "$(some 500000 5000)" -d "$1" -k 100000 |
        sed -n 's/.*"operations_per_s":\([0-9]*\).*/\1/p' | grep .
}

theirs_rate() {
    "$REDIS_BENCHMARK" -h 127.0.0.1 -p "$server_port" -c 1 -P "$1" -t get \
        -n "$(some 500000 5000)" -r 100000 --csv |
        sed -n 's/^"GET","\([0-9]*\).*/\1/p' | grep .
}

beside_redis_benchmark() {
    build/relet -q -u "redis://127.0.0.1:$server_port" bench set \
        -n "$(some 200000 2000)" -k 100000 >/dev/null || return 1
    for depth in 64 256; do
        : >"$work/ours"
        : >"$work/theirs"
        for _ in $(times 5); do
            ours_rate $depth >>"$work/ours" || return 1
            theirs_rate $depth >>"$work/theirs" || return 1
        done
        row client "GET, relet bench, depth $depth" "$(median <"$work/ours")" \
            redis-benchmark "$(median <"$work/theirs")" ops/s more \
            "$(spread <"$work/ours")"
        echo "        spread $(sort -n "$work/ours" | sed -n '1p;$p' | xargs) \
against $(sort -n "$work/theirs" | sed -n '1p;$p' | xargs)"
    done
}

# ----------------------------------------------------------------------- small

unwound=-fno-asynchronous-unwind-tables
# object FLAG...: of the whole amalgamation.
object() {
    ${CC:-cc} -DNDEBUG "$@" -c -o "$work/relet.o" build/dist/relet.c
}

text_of() { size "$1" | awk 'NR == 2 { print $1 }'; }

# text NAME FLAG...: of the parts that the flags leave.
text() {
    name=$1
    shift
    object -Os $unwound "$@" || return 1
    figure small "text: $name" "$(text_of "$work/relet.o")" bytes
}

texts() {
    engine='-DRELET_NO_LEASE -DRELET_NO_QUEUE'
    # shellcheck disable=SC2086
    text 'client without driver' -DRELET_NO_POLL $engine &&
        text 'client with driver' $engine &&
        text 'client and leases' -DRELET_NO_QUEUE &&
        text 'RELET_SMALL with driver' -DRELET_SMALL &&
        text all
}

# Mutable data, calls that make threads or touch signals, shared libraries.
touched() {
    object -O0 -fno-pic || return 1
    globals=$(nm "$work/relet.o" | awk '$(NF - 1) ~ /^[bBcCdDgGsS]$/' | wc -l)
    calls=$(nm -u "$work/relet.o" |
        grep -cE ' (pthread_|thrd_|signal$|sigaction$|sigprocmask$|dlopen$)')
    needed=$(objdump -p build/librelet.so | grep NEEDED | grep -cv 'libc\.')
    figure small "globals, and imports beside libc" \
        $((globals + calls + needed)) names
}

# The figures of check_stack.sh; that check also compares them with README.
stack() {
    if [ ! -f tools/check_stack.sh ]; then
        absent ': stack of the ' 'no check measures it yet'
        return
    fi
    rm -rf build/stack
    sh tools/check_stack.sh >"$work/stack"
    if [ -s build/stack/workers.deepest ]; then
        figure small "stack of the deepest public call" \
            "$(tail -n 1 build/stack/workers.deepest | cut -d ' ' -f 1)" bytes
    else
        grep '^SKIP' "$work/stack" || { cat "$work/stack"; return 1; }
        absent ': stack of the ' 'gcc 12 on x86-64 measures it'
    fi
}

# ms COMMAND...: prints how long the command takes; its output is kept.
ms() {
    begin=$(date +%s%N)
    "$@" >"$work/said" 2>&1 || { cat "$work/said" >&2; return 1; }
    echo $((($(date +%s%N) - begin) / 1000000))
}

# took NAME COUNT COMMAND...: the median of so many times.
took() {
    name=$1
    count=$2
    shift 2
    : >"$work/ms"
    for _ in $(times "$count"); do
        ms "$@" >>"$work/ms" || return 1
    done
    figure small "$name" "$(median <"$work/ms")" ms "$(spread <"$work/ms")"
}

from_nothing() {
    rm -rf "$work/nothing"
    $MAKE -s -j2 O="$work/nothing" all
}

# A compiler cache does not count as a compiler.
small() {
    CCACHE_DISABLE=1
    export CCACHE_DISABLE
    echo "== small"
    texts || return 1
    touched || return 1
    stack || return 1
    took "compile of relet.c at -O2" 5 object -O2 || return 1
    took "build from nothing, make -j2" 5 from_nothing || return 1
    if [ -x build/small/relet ]; then
        strip -o "$work/relet" build/small/relet || return 1
        figure small "relet command, static musl, stripped" \
            "$(wc -c <"$work/relet")" bytes
    fi
    if [ -s build/test/seconds ]; then
        figure small "make test" "$(cat build/test/seconds)" s
    else
        absent ': make test: ' 'make test has not run here to its end'
    fi
}

local_server() {
    echo "== local_bench"
    sh tests/local/bench.sh "$work/local.tsv" && cat "$work/local.tsv" >>$tsv
}

store() {
    echo "== store_bench"
    build/release/tests/store/store_bench build/release "$(some 1 0.05)"
}

# ------------------------------------------------------------------------ all

# part NAME MEASURES [KEY...]: runs the function of that name, if PARTS names it
# and have.mk has a value for each key; MEASURES is a pattern of its goals.
part() {
    part=$1
    measures=$2
    shift 2
    case " ${PARTS:-$part} " in
    *" $part "*) ;;
    *)
        absent "$measures" "not chosen"
        return ;;
    esac
    for key; do
        if ! given "$key" "bench_$part"; then
            absent "$measures" "there is no $key"
            return
        fi
    done
    if "$part"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL bench_$part: see above"
        absent "$measures" "it failed"
    fi
    echo
}

server_port=
if [ -n "${REDIS_SERVER:-}" ] && [ -n "${REDIS_CLI:-}" ] &&
    ! server_start "$work/server"; then
    failed=1
    echo "FAIL bench: $REDIS_SERVER does not start, see $work/server/server.log"
    total
    exit 1
fi
[ -n "$server_port" ] || absent '^(client|scripts)' 'there is no server'
[ -n "${VALGRIND:-}" ] || absent 'instructions per ' 'there is no valgrind'
[ -x build/small/relet ] || absent 'static musl' 'there is no musl-gcc'
part programs_glibc \
    '^(parse|encode|client|memory|scripts): |: client, smallest' HIREDIS_DIR
part programs_musl '^[a-z]* musl: ' HIREDIS_DIR MUSL_GCC
part local_server '^local: '
part store '^store: '
part leases '^lease: ' REDIS_SERVER REDIS_CLI HIREDIS_DIR
part queues '^queue: ' REDIS_SERVER REDIS_CLI HIREDIS_DIR
part instructions 'instructions per SET' REDIS_SERVER REDIS_CLI VALGRIND \
    HIREDIS_DIR
part beside_redis_benchmark 'relet bench' REDIS_SERVER REDIS_CLI REDIS_BENCHMARK
part small '^small: '

echo "== goals (a row: goal, measured ± half of the range, verdict)"
if sh tests/bench/goals.sh tests/bench/goals.tsv $tsv "$work/absent" \
    >"$work/goals" 2>&1; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
fi
if [ -n "$quick" ]; then
    grep -E '^(FAIL|goals:)' "$work/goals"
else
    cat "$work/goals"
fi
total
