#!/bin/sh
# SPDX-License-Identifier: MIT
#
# coverage.sh - which branches the suite and the corpora reach, room by room.
#
# The scanner and the connection have a goal, the others are told. Assertions
# are compiled out: their other branch is one that nothing must reach.

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

# Columns of the report, from its end: branches, missed, covered.
room() {
    awk -v room="$1.c" '$1 ~ "(^|/)" room "$" { print $(NF - 2), $(NF - 1) }' \
        "$work/report.txt"
}

reached() {
    # shellcheck disable=SC2046
    set -- "$1" "$2" $(room "$1")
    [ "${3:-0}" -gt 0 ] || return 0
    percent=$((($3 - $4) * 1000 / $3))
    printf '%-8s %5d branches, %4d not reached: %d.%d %%' "$1" "$3" "$4" \
        $((percent / 10)) $((percent % 10))
    if [ "$2" -eq 0 ]; then
        echo
    elif [ "$percent" -ge "$2" ]; then
        passed=$((passed + 1))
        echo ", goal $(($2 / 10)) %"
    else
        failed=$((failed + 1))
        echo ", under its goal of $(($2 / 10)) %"
    fi
}

reached scan 980
reached conn 920
for file in src/*.c; do
    name=${file#src/}
    case $name in
    scan.c | conn.c) ;;
    *) reached "${name%.c}" 0 ;;
    esac
done
total
