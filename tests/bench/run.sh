#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh - every benchmark, side by side; `make bench` builds and calls it.
#
#   tests/bench/run.sh
#   PARTS="leases small" tests/bench/run.sh    these alone: programs
#       local_server leases queues instructions beside_redis_benchmark small
#
# Prints tables and leaves build/bench.tsv; a ratio over 1 means that relet is
# better. What has "musl" in its first column ran statically linked to musl,
# hiredis too. A server of its own is started on loopback and stopped.

set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC1091
. build/deps/have.mk
# shellcheck disable=SC1091
. tests/redis.sh
work=build/bench-run
tsv=build/bench.tsv
rm -rf "$work"
mkdir -p "$work"
printf 'bench\tworkload\tours\tpeer\ttheirs\tunit\tratio\n' >$tsv

# row BENCH WORKLOAD OURS PEER THEIRS UNIT LESS|MORE: to the table and the
# screen. LESS: the smaller the better.
row() {
    echo "$7 $3 $5" | awk '{ x = $1 == "less" ? $3 / $2 : $2 / $3
                             printf "%.2f\n", x }' >"$work/ratio"
    read -r ratio <"$work/ratio"
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" "$6" \
        "$ratio" >>$tsv
    printf '%-8s%-38s%10s %10s  %-16s %-6s %6s×\n' "$1" "$2" "$3" "$5" "$4" \
        "$6" "$ratio"
}

median() {
    sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# ------------------------------------------------------ programs of their own

# programs FLAVOUR SUFFIX: what they append gets the suffix in column 1.
programs() {
    for name in parse_bench client_bench queue_scripts_bench; do
        program=build/$1/tests/bench/$name
        [ -x "$program" ] || continue
        echo "== $name$2"
        "$program" "$work/tsv" "$server_port" || exit 1
        awk -F '\t' -v OFS='\t' -v suffix="$2" '{ $1 = $1 suffix; print }' \
            "$work/tsv" >>$tsv
        rm "$work/tsv"
        echo
    done
}

# leases: of one flavour, for they wait for a server and for time.
leases() {
    echo "== lease_bench (takes four minutes)"
    build/bench/tests/bench/lease_bench "$work/tsv" "$server_port" || exit 1
    cat "$work/tsv" >>$tsv
    rm "$work/tsv"
    echo
}

# Flushes the server's data, as the scripts alone do too.
queues() {
    echo "== queue_bench, beside the peers (takes ten minutes)"
    bash tests/bench/peers.sh $tsv "$work" "$server_port" || exit 1
    echo
}

# -------------------------------------------------------- counted instructions

# count WHO COMMAND N: instructions of this process for N at depth 64.
count() {
    "$VALGRIND" --tool=callgrind --callgrind-out-file=/dev/null \
        build/bench/tests/bench/client_bench --count "$1" "$2" 64 "$3" \
        "$server_port" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# Long runs minus short ones: what start-up costs cancels out.
instructions_of() {
    for _ in 1 2 3 4 5; do
        long=$(count "$1" "$2" 38400)
        short=$(count "$1" "$2" 6400)
        echo $(((long - short) / 32000))
    done | median
}

instructions() {
    [ -n "${VALGRIND:-}" ] || return 0
    for command in SET GET; do
        ours=$(instructions_of relet $command)
        row client "instructions per $command, depth 64" "$ours" \
            "hiredis 1.2.0" "$(instructions_of hiredis $command)" instr less
        row client "instructions per $command, depth 64" "$ours" \
            "a raw writer" "$(instructions_of raw $command)" instr less
    done
}

# ------------------------------------------------------------ redis-benchmark

ours_rate() {
    build/relet --json -u "redis://127.0.0.1:$server_port" bench get \
        -n 500000 -d "$1" -k 100000 |
        sed -n 's/.*"operations_per_s":\([0-9]*\).*/\1/p'
}

theirs_rate() {
    "$REDIS_BENCHMARK" -h 127.0.0.1 -p "$server_port" -c 1 -P "$1" -t get \
        -n 500000 -r 100000 --csv |
        sed -n 's/^"GET","\([0-9]*\).*/\1/p'
}

beside_redis_benchmark() {
    [ -n "${REDIS_BENCHMARK:-}" ] && [ -x build/relet ] || return 0
    build/relet -q -u "redis://127.0.0.1:$server_port" bench set -n 200000 \
        -k 100000 >/dev/null || exit 1
    for depth in 64 256; do
        : >"$work/ours"
        : >"$work/theirs"
        for _ in 1 2 3 4 5; do
            ours_rate $depth >>"$work/ours"
            theirs_rate $depth >>"$work/theirs"
        done
        row client "GET, relet bench, depth $depth" "$(median <"$work/ours")" \
            redis-benchmark "$(median <"$work/theirs")" ops/s more
        echo "        spread $(sort -n "$work/ours" | sed -n '1p;$p' | xargs) \
against $(sort -n "$work/theirs" | sed -n '1p;$p' | xargs)"
    done
}

# ----------------------------------------------------------------------- small

text_of() {
    ${CC:-cc} -Os -DNDEBUG "$@" -c -o "$work/relet.o" build/dist/relet.c &&
        size "$work/relet.o" | awk 'NR == 2 { print $1 }'
}

compile_ms() {
    for _ in 1 2 3 4 5; do
        begin=$(date +%s%N)
        ${CC:-cc} -O2 -c -o "$work/relet.o" build/dist/relet.c || exit 1
        echo $((($(date +%s%N) - begin) / 1000000))
    done | median
}

small() {
    [ -f build/dist/relet.c ] || return 0
    row small "relet.o, -Os, text" "$(text_of)" goal 32768 bytes less
    row small "relet.o, -Os, without the driver" \
        "$(text_of -DRELET_NO_POLL)" goal 32768 bytes less
    row small "compile of relet.c at -O2" "$(compile_ms)" goal 5000 ms less
    if [ -x build/small/relet ]; then
        strip -o "$work/relet" build/small/relet
        row small "relet command, static musl, stripped" \
            "$(wc -c <"$work/relet")" goal 307200 bytes less
    fi
}

local_server() {
    echo "== local_bench"
    sh tests/local/bench.sh "$work/local.tsv" && cat "$work/local.tsv" >>$tsv
    echo
}

# part NAME [ARGUMENT...]: the function of that name, if it is wanted.
part() {
    case " ${PARTS:-$1} " in *" $1 "*) "$@" ;; esac
}

if [ -z "${REDIS_SERVER:-}" ] || ! server_start "$work/server"; then
    echo "run.sh: there is no redis-server; only what needs none" >&2
    server_port=
fi
part programs bench ""
part programs bench-musl " musl"
part local_server
if [ -n "$server_port" ]; then
    part leases
    part queues
    part instructions
    part beside_redis_benchmark
fi
part small
