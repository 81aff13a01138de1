#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_size.sh - measures the sizes that docs/numbers.md and README state.
#
# These are the text of relet.o, the amalgamation compiled with -Os, and the
# stripped command, linked statically with musl. A size that misses its goal has
# a bound of its own, so that it does not grow further unnoticed. The table of
# the parts in README is right if no part is larger than the table says, or
# smaller by over 2 %. A benchmark measures the time to compile.

set -u
unset MAKEFLAGS MFLAGS MAKELEVEL
# shellcheck disable=SC1091
[ -f build/deps/have.mk ] && . build/deps/have.mk
work=build/size
mkdir -p "$work"
passed=0
failed=0
skipped=0

row() {
    verdict=ok
    if [ "$2" -le "$3" ]; then
        passed=$((passed + 1))
    else
        verdict="over"
        failed=$((failed + 1))
    fi
    printf '%-54s %8d of %8d %s  %s\n' "$1" "$2" "$3" "$4" "$verdict"
}

object() {
    ${CC:-cc} -Os -c "$@" -o "$work/relet.o" build/dist/relet.c || exit 1
}

text() {
    size "$work/relet.o" | awk 'NR == 2 { print $1 }'
}

# `size` counts constants and unwinding tables as text, too.
parts() {
    size -A "$work/relet.o" | awk '
        $1 ~ /^\.text/ { code += $2 }
        $1 ~ /^\.rodata/ { constants += $2 }
        $1 == ".eh_frame" { unwinding += $2 }
        END {
            printf "code %d, constants %d, unwinding %d bytes\n", \
                code, constants, unwinding
        }'
}

# part NAME FLAG...: the text of a build with these parts, as README has it.
part() {
    name=$1
    shift
    object -fno-asynchronous-unwind-tables "$@"
    says=$(sed -n "s/^| $name | \([0-9]*\) |.*/\1/p" README.md)
    row "parts: $name; README says so" "$(text)" "${says:-0}" bytes
    [ "$(text)" -ge $((${says:-0} * 98 / 100)) ] || {
        echo "    README says more"
        failed=$((failed + 1))
    }
}

case $(uname -m) in
x86_64)
    object
    row "relet.o, -Os, text (98304 with the whole engine)" \
        "$(text)" 142000 bytes
    echo "    $(parts)"
    object -DRELET_NO_POLL
    echo "    without the driver $(text) bytes: $(parts)"
    part client -DRELET_NO_POLL -DRELET_NO_LEASE -DRELET_NO_QUEUE
    part 'client driver' -DRELET_NO_LEASE -DRELET_NO_QUEUE
    part 'client driver lease' -DRELET_NO_QUEUE
    part 'client driver queue' -DRELET_NO_LEASE
    part 'client driver lease queue'
    part 'client driver small' -DRELET_SMALL ;;
*)
    echo "SKIP size_of_relet_o: the goal is for x86-64"
    skipped=$((skipped + 1)) ;;
esac

if [ -n "${MUSL_GCC:-}" ]; then
    ${MAKE:-make} -s F=small build/small/relet || exit 1
    strip -o "$work/relet" build/small/relet
    row "relet command, static musl, stripped (goal 307200)" \
        "$(wc -c <"$work/relet")" 530000 bytes
else
    echo "SKIP size_of_the_static_command: musl-gcc is missing"
    skipped=$((skipped + 1))
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
