#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sim_seeds_test.sh - the runs of tests/sim/seeds.txt, each of which failed
# once, are clean.

set -u
# shellcheck disable=SC1091
. tests/count.sh
$MAKE -s build/sim || exit 1

# clean WORD...: nothing, or what the simulator found.
clean() {
    build/sim "$@" >build/sim_seeds.log 2>&1 || cat build/sim_seeds.log
}

while IFS=: read -r claim words; do
    case $claim in '#'* | '') continue ;; esac
    # The words of a run are several.
    # shellcheck disable=SC2086
    check "$claim" clean $words
done <tests/sim/seeds.txt
total
