#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sim_words_test.sh - the words of the simulator's command line.

set -u
# shellcheck disable=SC1091
. tests/count.sh
$MAKE -s build/sim || exit 1

# sim WORD...: prints how many seeds ran, from which one, in how many seconds.
sim() {
    $MAKE -s sim "$@" | sed -n 's/^\(.* s\), 0 failed.*/\1/p'
}

# says TEXT PATTERN: prints the text if the pattern does not match it.
says() {
    # shellcheck disable=SC2254
    case $1 in $2) ;; *) echo "$1" ;; esac
}

# SECONDS alone once ended after a thousand seeds, in a second.
check "SECONDS alone runs as many seeds as there is time for" \
    says "$(sim SECONDS=3 PRESET=lite)" "* seeds from 1 in [3-9] s"
check "SEEDS bounds SECONDS" \
    says "$(sim SECONDS=60 SEEDS=3 PRESET=lite)" "3 seeds from 1 in * s"
check "FROM is the first seed" \
    says "$(sim SEEDS=3 FROM=77 PRESET=lite)" "3 seeds from 77 in * s"
check "the name of a commit is a seed" \
    says "$(sim SEEDS=1 FROM=8cf228f PRESET=lite)" \
    "1 seeds from [1-9]???????????????* in * s"

# again WORD...: runs the line that the simulator prints for a failing seed, and
# reports if that run does not show the same failure with the same hash.
again() {
    build/sim SEEDS=40 PLANT=1 "$@" >build/sim_again.log
    line=$(sed -n 's/^again: //p' build/sim_again.log | head -n 1)
    first=$(grep -o 'planted, .*' build/sim_again.log | sed -n 2p)
    second=$($MAKE -s ${line#make } 2>/dev/null |
        grep -o 'planted, .*' | head -n 1)
    [ -n "$first" ] && [ "$first" = "$second" ] ||
        echo "$line: $second, not $first"
}

# WORK, PRESET and SALT change the run; a shrunk run needs KEEP as well.
check "a failing seed fails again by the line that it prints" again
check "a failing seed of WORK=jobs does" again WORK=jobs
check "a failing seed of WORK=lease does" again WORK=lease
check "a failing seed of PRESET=lite with SALT=3 does" \
    again PRESET=lite SALT=3 WORK=both
check "a seed that fails without a fault says KEEP=none" \
    says "$(build/sim SEED=1 PLANT=2 WORK=jobs | grep ^again)" \
    "* WORK=jobs PLANT=2 TRACE=1 KEEP=none"
check "a build of another flavour names it" \
    says "$(build/sim SEEDS=9 PLANT=1 F=asan WORK=jobs | grep ^again)" \
    "* WORK=jobs PLANT=1 F=asan TRACE=1 KEEP=*"
check "a word that is misspelt is refused" \
    says "$(build/sim SEDS=1 2>&1 | head -n 1)" "sim: *"
check "a kind of work that does not exist is refused" \
    says "$(build/sim WORK=job 2>&1 | head -n 1)" "sim: *"
total
