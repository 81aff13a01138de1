#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sim_hash_test.sh - a seed gives the same run, to the last draw and event, with
# each compiler, optimisation, word size and byte order.

set -u
# shellcheck disable=SC1091
. tests/count.sh
seeds=200
few=30 # for what is emulated

# hash_of COUNT COMMAND...: prints the hash of so many seeds.
hash_of() {
    count=$1
    shift
    "$@" SEEDS="$count" | sed -n 's/.*, 0 failed.* hash \([0-9a-f]*\);.*/\1/p'
}

# same COUNT HASH COMMAND...: compares the hash of the command with this hash.
same() {
    expected=$2
    count=$1
    shift 2
    found=$(hash_of "$count" "$@")
    [ -n "$found" ] && [ "$found" = "$expected" ] ||
        echo "$found, not $expected"
}

# in_flavour NAME COUNT HASH [RUNNER]
in_flavour() {
    if ! $MAKE -s F="$1" "build/$1/sim"; then
        check "the simulator is built: $1" false
        return
    fi
    # RUNNER is a word, or none.
    # shellcheck disable=SC2086
    check "$2 seeds are the same: $1" same "$2" "$3" ${4:-} "build/$1/sim"
}

# with_flags NAME FLAGS: builds and compares, in a folder of that name.
with_flags() {
    if ! $MAKE -s O="build/sim_$1" CFLAGS="$2" "build/sim_$1/sim"; then
        check "the simulator is built: $1" false
        return
    fi
    check "$seeds seeds are the same: $2" same $seeds "$all" "build/sim_$1/sim"
}

$MAKE -s build/sim || exit 1
all=$(hash_of $seeds build/sim)
some=$(hash_of $few build/sim)
check "$seeds seeds are clean" test -n "$all"
check "again they are the same" same $seeds "$all" build/sim

with_flags O0 -O0
with_flags O3 -O3
in_flavour release $seeds "$all"
in_flavour asan $seeds "$all"
given CLANG sim_hash_in_clang && in_flavour release-clang $seeds "$all"
given M32 sim_hash_for_32_bits && in_flavour m32 $seeds "$all"
given MUSL_GCC sim_hash_on_musl && in_flavour musl $seeds "$all"
given TCC sim_hash_in_tcc && in_flavour tcc $seeds "$all"
given CC_BE sim_hash_for_big_endian &&
    given QEMU_BE sim_hash_on_big_endian &&
    in_flavour be $few "$some" "$QEMU_BE"
total
