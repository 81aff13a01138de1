#!/bin/sh
# SPDX-License-Identifier: MIT
#
# suite.sh RUNNER PROGRAM... - runs test programs and sums what they count.
#
# A program is a test with greatest, the vectors, or a fuzz harness linked to
# replay.c, whose corpus counts as one test. Each program ends with a line of
# counts; a program that ends without it has failed, whatever its exit code. Its
# output stays in PROGRAM.log. SUITE_JOBS programs run at a time; program.sh
# runs one of them.

set -u
runner=$1
shift
passed=0
failed=0
skipped=0

# "Pass: 3, fail: 0, skip: 1." of greatest, "3 passed, 0 failed" of others, "12
# inputs" of a harness, as three numbers. Of a program that did not live to
# tell, the lines it wrote, and a word behind them.
counts() {
    awk '
        /^Pass: [0-9]+, fail: [0-9]+, skip: [0-9]+\.$/ {
            gsub(/[^0-9 ]/, ""); sum = $0
        }
        /^[0-9]+ passed, [0-9]+ failed/ { sum = $1 " " $3 " " $5 + 0 }
        /^[1-9][0-9]* inputs$/ { sum = "1 0 0" }
        /^(PASS|FAIL|SKIP) / { n[$1]++ }
        END {
            if (sum == "")
                sum = n["PASS"] + 0 " " n["FAIL"] + 0 " " n["SKIP"] + 0 " died"
            print sum
        }' "$1"
}

trouble() {
    printf 'FAIL %s: %s\n' "$name" "$1"
    grep -a -A 3 '^FAIL' "$log" | head -n 40
    tail -n 25 "$log"
}

# Removes the results of an earlier run, in case a program does not run at all.
for program; do
    rm -f "$program.code" "$program.log"
done
# xargs goes on with the next program if a shell is killed.
# shellcheck disable=SC2016
printf '%s\n' "$@" | xargs -P "${SUITE_JOBS:-1}" -n 1 \
    sh -c 'sh tests/program.sh "$@" || exit 1' program "$runner"

for program; do
    name=${program##*/}
    log=$program.log
    code=$(cat "$program.code" 2>/dev/null || echo 255)
    [ -f "$log" ] || echo "it did not run" >"$log"
    counted=$(counts "$log")
    # shellcheck disable=SC2086
    set -- $counted
    if [ "$2" -ne 0 ]; then
        trouble "$2 tests, exit code $code"
    elif [ "$code" -ne 0 ]; then
        case $code in
        124) trouble "took over ${TEST_SECONDS:-300} s" ;;
        *) trouble "exit code $code" ;;
        esac
        failed=$((failed + 1))
    elif [ $# -eq 4 ]; then
        trouble "ended without its closing line, $1 tests had passed"
        failed=$((failed + 1))
    elif [ $(($1 + $3)) -eq 0 ]; then
        trouble "counted nothing"
        failed=$((failed + 1))
    fi
    grep -a '^SKIP' "$log" |
        sed -e "s/^SKIP /SKIP $name: /" -e 's/ ([0-9]* ticks.*//'
    passed=$((passed + $1))
    failed=$((failed + $2))
    skipped=$((skipped + $3))
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
