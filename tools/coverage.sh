#!/bin/sh
# SPDX-License-Identifier: MIT
#
# coverage.sh - counts the branches that the suite and the fuzz corpora reach,
# in each source file.
#
# The scanner, the connection and the engine have a goal; for the other files
# the script only prints the figures. Assertions are compiled out, since no test
# can reach their failing branch.

set -u
# shellcheck disable=SC1091
. tests/count.sh
work=build/cov
rm -rf "$work/profile"
mkdir -p "$work/profile"

export LLVM_PROFILE_FILE="$work/profile/%m-%p.raw"
$MAKE -s F=cov suite >"$work/suite.log" 2>&1 || {
    tail -n 20 "$work/suite.log"
    exit 1
}
"$LLVM_PROFDATA" merge -sparse -o "$work/all.profile" "$work"/profile/*.raw ||
    exit 1

# The first program is named as such, the others as further objects of it.
objects=$(find "$work/tests" "$work/fuzz" -type f -name '*_[tf]*' \
    -perm -u+x | sed '2,$s/^/-object /')
# shellcheck disable=SC2086
"$LLVM_COV" report -instr-profile="$work/all.profile" $objects src \
    >"$work/report.txt" 2>"$work/report.err" || {
    cat "$work/report.err"
    exit 1
}

# rooms FILE...: prints the number of branches of these files, and of those that
# were missed. Columns of the report, from its end: branches, missed, covered. A
# file is named with its folder, since the local server has files of the same
# names.
rooms() {
    awk -v rooms=" $* " '
        { room = $1; sub(/\.c$/, "", room) }
        index(rooms, " " room " ") { all += $(NF - 2); missed += $(NF - 1) }
        END { print all + 0, missed + 0 }' "$work/report.txt"
}

# reached NAME GOAL FILE...: prints the figure, and compares it with the goal,
# in tenths of a percent; 0: no goal.
reached() {
    name=$1
    goal=$2
    shift 2
    for room; do
        [ -f "src/$room.c" ] && continue
        echo "there is no src/$room.c"
        failed=$((failed + 1))
    done
    # shellcheck disable=SC2046
    set -- $(rooms "$@")
    [ "$1" -gt 0 ] || return 0
    percent=$((($1 - $2) * 1000 / $1))
    printf '%-8s %5d branches, %4d not reached: %d.%d %%' "$name" "$1" "$2" \
        $((percent / 10)) $((percent % 10))
    if [ "$goal" -eq 0 ]; then
        echo
    elif [ "$percent" -ge "$goal" ]; then
        passed=$((passed + 1))
        echo ", goal $((goal / 10)) %"
    else
        failed=$((failed + 1))
        echo ", under its goal of $((goal / 10)) %"
    fi
}

# The scanner has three files, the connection four; the engine has all files of
# leases and queues.
reached scanner 980 resp/line resp/tape resp/scan
reached connection 920 link/reader link/conn link/ending route/route
# shellcheck disable=SC2046
reached engine 950 link/script client/leases client/lease_requests \
    client/complete client/team client/workers client/put client/queue \
    client/answers driver/put_wait \
    $($MAKE -s rooms | tr ' ' '\n' | grep '^engine/')
for room in $($MAKE -s rooms); do
    reached "${room#*/}" 0 "$room"
done
total
