#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sim_words_test.sh - what the simulator is told on its command line.

set -u
# shellcheck disable=SC1091
. tests/count.sh
$MAKE -s build/sim || exit 1

# sim WORD...: how many seeds from which in how many seconds.
sim() {
    $MAKE -s sim "$@" | sed -n 's/^\(.* s\), 0 failed.*/\1/p'
}

# says TEXT PATTERN: nothing, when it fits.
says() {
    # shellcheck disable=SC2254
    case $1 in $2) ;; *) echo "$1" ;; esac
}

# It ended after a thousand seeds, in a second.
check "SECONDS alone is as many as there is time for" \
    says "$(sim SECONDS=3 PRESET=lite)" "* seeds from 1 in [3-9] s"
check "SEEDS bounds SECONDS" \
    says "$(sim SECONDS=60 SEEDS=3 PRESET=lite)" "3 seeds from 1 in * s"
check "FROM is the first" \
    says "$(sim SEEDS=3 FROM=77 PRESET=lite)" "3 seeds from 77 in * s"
check "the name of a commit is a seed" \
    says "$(sim SEEDS=1 FROM=8cf228f PRESET=lite)" \
    "1 seeds from [1-9]???????????????* in * s"
total
