#!/bin/sh
# SPDX-License-Identifier: MIT
#
# goals.sh GOALS BENCH [ABSENT] - prints the goals beside the measured figures.
#
# GOALS is goals.tsv; BENCH is build/bench.tsv, written by run.sh. Each goal
# gets a line: the goal, the measured figure, and `met`, `MISSED` or the reason
# why it was not measured; the same lines go to the end of BENCH. ABSENT has a
# line for each part that could not run: a pattern for "bench: workload: peer"
# of the goals that the part measures, a tab, and the reason.
#
# The exit code is 1 if a goal has no row in BENCH and no reason in ABSENT, or
# if a line of GOALS is not a goal. A missed goal does not change the exit code.

set -u
goals=$1
bench=$2
absent=${3:-/dev/null}
lines=$(mktemp) || exit 1
trap 'rm -f "$lines"' EXIT

LC_ALL=C awk -F '\t' -v goals="$goals" -v bench="$bench" -v absent="$absent" \
    -v lines="$lines" '
function bad(text) {
    failed = failed "FAIL goals: " text "\n"
}

# Returns the reason, or "".
function why(key,    k) {
    for (k = 1; k <= absent_n; k++)
        if (key ~ pattern[k])
            return reason[k]
    return ""
}

# Of the matching rows, the one furthest from the goal counts.
function seek(    k, v) {
    fits = 0
    for (k = 1; k <= rows; k++) {
        if (row_bench[k] !~ ("^(" $6 ")$") || row_work[k] !~ ("^(" $7 ")$") ||
            row_peer[k] !~ ("^(" $8 ")$"))
            continue
        v = $9 == "ratio" ? row_ratio[k] : row_ours[k]
        if (v !~ /^[0-9.]+$/)
            continue
        v += 0
        if (!fits || ($3 == "<=" ? v > measured : v < measured)) {
            measured = v
            spread = row_spread[k]
        }
        fits = 1
    }
    return fits
}

function tell(verdict, text,    sign) {
    sign = $3 == ">=" ? "\342\211\245 " : "\342\211\244 "
    printf "%-7s %-64s %10s  %-30s %s\n", $1, $2, \
        $3 == "-" ? "  -" : sign $4, \
        text, verdict
    printf "goal\t%s: %s\t%s\tgoal\t%s\t%s\t%s\t%s\n", $1, $2, \
        fits ? measured : "-", $4, $5, verdict, fits ? spread : "-" >lines
    seen[verdict]++
}

FILENAME == absent { pattern[++absent_n] = $1; reason[absent_n] = $2; next }
FILENAME == bench {
    if ($1 != "goal" && FNR > 1) {
        row_bench[++rows] = $1; row_work[rows] = $2; row_ours[rows] = $3
        row_peer[rows] = $4; row_ratio[rows] = $7; row_spread[rows] = $8 + 0
    }
    next
}
/^#/ { next }
NF != 9 || $3 !~ /^(>=|<=|-)$/ || $9 !~ /^(ours|ratio|-)$/ ||
($3 != "-" && $4 !~ /^[0-9.]+$/) {
    bad("line " FNR " is no goal: " $0)
    next
}
$6 == "-" { fits = 0; tell("not measured", $7); next }
!seek() {
    said = why($6 ": " $7 ": " $8)
    if (said == "") {
        said = "no row of bench.tsv"
        bad($2 ": no row of bench.tsv fits " $6 ", " $7 ", " $8)
    }
    tell("not measured", said)
    next
}
{
    said = sprintf("%.4g %s \302\261%.0f%%", measured, $5, spread)
    if ($3 == "-")
        tell("told", said)
    else if ($3 == ">=" ? measured >= $4 + 0 : measured <= $4 + 0)
        tell("met", said)
    else
        tell("MISSED", said)
}
END {
    if (!(seen["met"] + seen["MISSED"] + seen["not measured"] + seen["told"]))
        bad("there are none")
    printf "%s", failed
    printf "goals: %d met, %d missed, %d not measured, %d told\n", \
        seen["met"], seen["MISSED"], seen["not measured"], seen["told"]
    exit failed != ""
}' "$absent" "$bench" "$goals"
code=$?
grep -v '^goal	' "$bench" >"$lines.bench"
cat "$lines.bench" "$lines" >"$bench"
rm -f "$lines.bench"
exit $code
