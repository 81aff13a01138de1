#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench.sh [TSV] - local_bench beside the real server of deps.sh, which gets a
# Unix socket of its own; lines for the table of all benchmarks go to TSV.

set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC1091
. build/deps/have.mk
work=build/local_bench
tsv=${1:-$work/tsv}
mkdir -p "$work"
rm -f "$work/socket"

${MAKE:-make} -s dist || exit 1
# shellcheck disable=SC2046
${CC:-cc} -std=c99 -D_POSIX_C_SOURCE=200809L -O2 -DNDEBUG -DRELET_NO_POLL \
    -Ibuild/dist $(${MAKE:-make} -s local-folders) -Itests/local \
    -include build/dist/relet_local.c \
    -o "$work/local_bench" tests/local/local_bench.c || exit 1

[ -n "${REDIS_SERVER:-}" ] || exec "$work/local_bench" "$tsv"
"$REDIS_SERVER" --port 0 --unixsocket "$PWD/$work/socket" --save '' \
    --dir "$work" >"$work/log" 2>&1 &
pid=$!
trap 'kill $pid' EXIT
trap 'exit 1' HUP INT TERM
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -S "$work/socket" ] && break
    sleep 0.1
done
"$work/local_bench" "$tsv" "$PWD/$work/socket"
