#!/bin/sh
# SPDX-License-Identifier: MIT
#
# goals_test.sh - tests/bench/goals.sh prints which goals are met, missed and
# not measured, and each goal of goals.tsv names its benchmark, or the reason
# why it has none. The step bench checks that the benchmarks write these rows.

set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck disable=SC1091
. tests/count.sh
work=build/goals_test
rm -rf "$work"
mkdir -p "$work"

# tabs LINE...: with a tab for each |.
tabs() { printf '%s\n' "$@" | tr '|' '\t'; }

measured() {
    tabs 'bench|workload|ours|peer|theirs|unit|ratio|spread' \
        'b|one|5|them|10|x|2.000|3.0' 'b|one|5|others|20|x|4.000|3.0' \
        'b|two, 1|7|-|-|us|-|1.0' 'b|two, 2|9|-|-|us|-|1.0' \
        'b|none|-|-|-|us|-|0' >"$work/bench.tsv"
}

# verdict LINE [ABSENT]: of one goal.
verdict() {
    measured
    tabs "Part|it|$1" >"$work/goals"
    tabs "${2:-no such}" >"$work/absent"
    sh tests/bench/goals.sh "$work/goals" "$work/bench.tsv" "$work/absent" \
        >"$work/out" 2>&1
    echo "$? $(sed -n 's/^goal	Part: it	\([^	]*\)	.*	\([^	]*\)	[^	]*$/\1 \2/p' \
        "$work/bench.tsv")"
}

is() {
    [ "$1" = "$2" ] || { echo "wanted '$1', got '$2'"; cat "$work/out"; }
}

check 'at least the goal is met' is '0 2 met' \
    "$(verdict '>=|2|x|b|one|them|ratio')"
check 'under the goal is missed' is '0 2 MISSED' \
    "$(verdict '>=|2.01|x|b|one|them|ratio')"
check 'at most the goal is met' is '0 7 met' \
    "$(verdict '<=|7|us|b|two, 1|.*|ours')"
check 'over the goal is missed' is '0 7 MISSED' \
    "$(verdict '<=|6.9|us|b|two, 1|.*|ours')"
check 'of several peers the best one counts' is '0 2 MISSED' \
    "$(verdict '>=|3|x|b|one|.*|ratio')"
check 'of several workloads the worst one counts' is '0 9 MISSED' \
    "$(verdict '<=|8|us|b|two, .*|.*|ours')"
check 'a pattern is one of the whole field' is '1 - not measured' \
    "$(verdict '<=|8|us|b|two|.*|ours')"
check 'a row without a goal is shown' is '0 2 told' \
    "$(verdict '-|-|x|b|one|them|ratio')"
check 'a row that could not be measured says why' is '0 - not measured' \
    "$(verdict '<=|8|us|c|one|.*|ours' '^c|no c here')"
check 'the reason for a missing measurement is in the table' \
    grep -q 'no c here *not measured' "$work/out"
check 'a goal that no bench measures says why' is '0 - not measured' \
    "$(verdict '<=|8|us|-|no way yet|-|-')"
check 'a goal without a row and a reason is a failure' is '1 - not measured' \
    "$(verdict '<=|8|us|c|one|.*|ours')"
check 'a row without a figure is none' is '1 - not measured' \
    "$(verdict '<=|8|us|b|none|.*|ours')"
check 'a goal of too few fields is a failure' is '1 ' \
    "$(verdict '<=|8|us|b|one|.*')"
check 'a goal that is no number is a failure' is '1 ' \
    "$(verdict '<=|few|us|b|one|.*|ours')"

again() {
    verdict '>=|2|x|b|one|them|ratio' >/dev/null
    sh tests/bench/goals.sh "$work/goals" "$work/bench.tsv" >/dev/null
    is 1 "$(grep -c '^goal' "$work/bench.tsv")"
}
check 'goals stand in bench.tsv once' again

# whole: each line of goals.tsv; a source that is - says why.
whole() {
    awk -F '\t' '
        /^#/ { next }
        NF != 9 { print FNR ": not 9 fields" }
        $6 == "-" && length($7) < 10 { print FNR ": nothing measures it" }
        $6 != "-" && ($7 == "" || $8 == "" || $9 == "-") {
            print FNR ": no row could measure it"
        }
        $3 != "-" && $4 !~ /^[0-9.]+$/ { print FNR ": no goal" }
        seen[$1, $2]++ { print FNR ": twice" }
        { rows++; part[$1]++ }
        END {
            if (part["Client"] < 20 || part["Engine"] < 15 || part["Small"] < 8)
                print "goals are missing"
        }' tests/bench/goals.tsv
}
check 'each goal names the bench that measures it' whole
total
