#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sim_alone_test.sh - the run of a seed does not depend on the seeds that the
# same process has run before.

set -u
# shellcheck disable=SC1091
. tests/count.sh
$MAKE -s build/sim || exit 1
work=build/sim_alone
mkdir -p $work

# each FROM COUNT WORD...: prints the verdict, the hashes, and the checks of
# each rule, of each seed.
each() {
    from=$1
    many=$2
    shift 2
    build/sim FROM="$from" SEEDS="$many" EACH=1 "$@" | grep '^[0-9]*: verdict'
}

# alone FROM COUNT WORD...: prints the same, with a process for each seed.
alone() {
    first=$1
    last=$(($1 + $2 - 1))
    shift 2
    for seed in $(seq "$first" "$last"); do
        each "$seed" 1 "$@"
    done
}

# same NAME COUNT WORD...: compares the two.
same() {
    name=$work/$1
    count=$2
    shift 2
    each 1 "$count" "$@" >"$name.row"
    alone 1 "$count" "$@" >"$name.alone"
    [ "$(grep -c verdict "$name.row")" -eq "$count" ] || echo "not $count"
    diff "$name.row" "$name.alone" | head -n 4
}

check "100 seeds of the mix are the same alone and in a row" same mix 100
check "100 seeds of jobs are the same alone and in a row" \
    same jobs 100 WORK=jobs
total
