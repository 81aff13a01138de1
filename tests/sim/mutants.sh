#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutants.sh CC CFLAGS SIM-OBJECT... - breaks a copy of the client, one patch
# at a time, and asks the simulator to find it: by the rule that the patch
# names, within its budget of seeds, from the one that it names or the first.
# ONLY=003 for one of them. What each build and run said stays in
# build/mutants/.
#
# The objects are those of the simulator and of the local server; a patch
# changes the client alone, which is one file to compile: quickly, since most
# are found by a few seeds, and a seed is the same run in any build. The one
# that expects "none" changes nothing, and must survive.

set -u
cc=$1
cflags=$2
shift 2
work=build/mutants
caught=0
needs=
all=0
slow=0

field() { sed -n "s/^$1: *\([^ ]*\).*/\1/p" "$2" | head -n 1; }

# A copy of what the amalgamation is made of, with the patch, as one object.
build() {
    rm -rf "$work/tree" "$work/sim"
    mkdir -p "$work/tree"
    cp -R Makefile ./*.mk LICENSE include src tools "$work/tree" || return 1
    (cd "$work/tree" && patch -s -p1 -F0) <"$1" || return 1
    make -s -C "$work/tree" build/dist/relet.c build/dist/relet.h || return 1
    # CFLAGS holds words.
    # shellcheck disable=SC2086
    $cc -std=c99 $cflags -Og -g0 -w -c -o "$work/relet.o" \
        "$work/tree/build/dist/relet.c" || return 1
    # shellcheck disable=SC2086
    $cc $cflags -o "$work/sim" $objects "$work/relet.o" -lm
}

# What the run amounts to: 0 caught, 1 not.
judge() {
    case $expect:$1 in
    none:3) return 0 ;;
    none:* | *:3 | *:4) return 1 ;;
    *:0) return 0 ;;
    esac
    # An assertion ended it.
    case $expect in *E1*) grep -q '^FAILED E1' "$log" ;; *) return 1 ;; esac
}

# How few of its faults the first failure needs: they have to be ten at most,
# and found in ten seconds.
shrunk() {
    seed=$(sed -n 's/^seed \([0-9]*\) FAILED.*/\1/p' "$log" | head -n 1)
    [ -n "$seed" ] || return 0 # an assertion ended it
    timeout 10 "$work/sim" SEED="$seed" WORK="$kind" >"$log.shrunk" 2>&1
    few=$(sed -n 's/^ *\([0-9]*\) faults of .* are enough.*/\1/p' "$log.shrunk")
    sed -n 's/^ *\(.* faults of .*\) are enough, found \(.*\):/, \1 \2/p' \
        "$log.shrunk"
    [ "${few:-99}" -le 10 ]
}

# By which rule and seed, as the log says it.
found() {
    sed -n -e 's/^seed \([0-9]*\) FAILED \([RELQ0-9]*\):.*/\2 by seed \1/p' \
        -e 's/^FAILED E1: .*SEED=\([0-9]*\)/E1 by seed \1/p' "$log" |
        head -n 1
    [ "$expect" != none ] || echo "survives $seeds seeds"
}

objects=$*
mkdir -p "$work"
for patch in tests/sim/mutants/"${ONLY:-}"*.patch; do
    name=$(basename "$patch" .patch)
    log=$work/$name.log
    expect=$(field expect "$patch")
    budget=$(field budget "$patch")
    kind=$(field work "$patch") # or whatever the seed says
    from=$(field from "$patch")
    all=$((all + 1))
    if ! build "$patch" >"$log" 2>&1; then
        echo "$name: does not apply or build any more, see $log"
        continue
    fi
    timeout 300 "$work/sim" SEEDS="$budget" FROM="${from:-1}" \
        EXPECT="$expect" WORK="$kind" >"$log" 2>&1
    code=$?
    seeds=$(sed -n 's/^\([0-9]*\) seeds from .*/\1/p' "$log")
    if judge "$code" && needs=$(shrunk); then
        caught=$((caught + 1))
        [ "$expect" = none ] || [ "${seeds:-0}" -le "$slow" ] || slow=$seeds
        echo "$name: $(found)$needs"
    else
        echo "$name: NOT CAUGHT by $expect in ${seeds:-?} of $budget seeds," \
             "or not shrunk$needs: $(grep FAILED "$log" | head -n 1)"
    fi
done
echo "caught $caught of $all, the slowest by $slow seeds"
[ "$caught" -eq "$all" ] && [ "$all" -gt 0 ]
