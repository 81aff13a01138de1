#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# floors.sh - maintains floors.tsv, the least number of tests of each step of
# all.sh.
#
#   bash tests/floors.sh          raises each floor to the count of the last run
#   bash tests/floors.sh NAME N   sets one floor, also lower: tests were removed
#   bash tests/floors.sh --check  each step has a floor, each floor a step
#
# The floors hold on every machine, since skipped tests count, too. Only floors
# of steps that ended without a failure are raised; a new step gets a floor.
# FLOORS and WORK name other files than tests/floors.tsv and build/test.

set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 1
floors=${FLOORS:-tests/floors.tsv}
work=${WORK:-build/test}

# put NAME N
put() {
    {
        grep '^#' "$floors"
        { grep -v "^#\|^$1	" "$floors"; printf '%s\t%s\n' "$1" "$2"; } | sort
    } >"$floors.new" && mv "$floors.new" "$floors"
}

floor_of() { sed -n "s/^$1	\([0-9]*\)$/\1/p" "$floors"; }

raise() {
    local file name passed failed skipped old
    for file in "$work"/*.count; do
        [ -f "$file" ] || { echo "floors.sh: no run has counted" >&2; exit 1; }
        name=${file##*/}
        name=${name%.count}
        read -r passed failed skipped <"$file"
        old=$(floor_of "$name")
        [ "$failed" -eq 0 ] || continue
        passed=$((passed + skipped))
        [ $passed -gt "${old:-0}" ] || continue
        put "$name" $passed
        echo "$name: ${old:-none} -> $passed"
    done
}

compare() {
    diff <(bash tests/all.sh --list | cut -f 1 | sort) \
        <(sed -n 's/^\([a-z0-9_-]*\)	[1-9][0-9]*$/\1/p' "$floors" | sort) |
        awk -v file="$floors" '
            $1 == "<" {
                print $2 ": a step without a floor: bash tests/floors.sh", $2, 1
            }
            $1 == ">" { print $2 ": a floor without a step, in " file }'
}

case $# in
0) raise ;;
1)
    said=$(compare)
    [ -z "$said" ] || { echo "$said"; exit 1; } ;;
*) put "$1" "$2" ;;
esac
