#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# steps.sh WORK FLOORS [JOBS LIST]... - runs the steps of each LIST, JOBS at a
# time, one list after the other, and sums what they count.
#
# step.sh describes the lines of LIST and FLOORS. A step without a count in
# WORK, since its shell was killed, has failed; a step without a floor, and a
# floor without a step, are failures, too. The last line, which also goes to
# WORK/sum, is
#
#   1234 passed, 0 failed, 12 skipped
#
# With CHOSEN in the environment the lists have only some steps, so that a floor
# without a step is no failure.

set -u
work=$1
floors=$2
shift 2
passed=0
failed=0
skipped=0
ended=0
all=0

# run JOBS LIST: runs the steps; xargs goes on if a step is killed.
run() {
    [ -s "$2" ] || return 0
    # $0 and the others are those of the shell in quotes.
    # shellcheck disable=SC2016
    seq "$(wc -l <"$2")" | xargs -P "$1" -n 1 \
        sh -c 'sh tests/step.sh "$@" || exit 1' step "$work" "$floors" "$2"
}

fail() {
    echo "FAIL $1"
    failed=$((failed + 1))
}

# collect LIST: sums the lines of WORK/NAME.count: passed, failed, skipped.
collect() {
    local name p f s
    while IFS=$'\t' read -r name _; do
        all=$((all + 1))
        if read -r p f s 2>/dev/null <"$work/$name.count" && [ -n "$s" ]; then
            ended=$((ended + 1))
            passed=$((passed + p))
            failed=$((failed + f))
            skipped=$((skipped + s))
        else
            fail "$name: the step was killed, or never ran; see $work/$name.log"
        fi
        grep -q "^$name	" "$floors" ||
            fail "$name: has no floor; bash tests/floors.sh writes one"
    done <"$1"
}

# strangers LIST...: prints floors without a step, and steps that come twice.
strangers() {
    local name
    while read -r name; do
        [ -n "${CHOSEN:-}" ] || grep -q "^$name	" "$@" ||
            fail "$name: has a floor in $floors, but is no step"
    done < <(sed -n 's/^\([a-z0-9_-]*\)	.*/\1/p' "$floors")
    while read -r name; do
        fail "$name: two steps have this name"
    done < <(cut -f 1 "$@" | sort | uniq -d)
}

lists=()
while [ $# -ge 2 ]; do
    run "$1" "$2"
    lists+=("$2")
    shift 2
done
for list in "${lists[@]}"; do
    collect "$list"
done
strangers "${lists[@]}"
grep -h '^SKIP' "$work"/*.log | grep -v ' ticks, ' | sort -u
echo "$ended of $all steps ended"
echo "$passed passed, $failed failed, $skipped skipped" | tee "$work/sum"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] && [ "$ended" -eq "$all" ]
