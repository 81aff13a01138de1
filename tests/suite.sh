#!/bin/sh
# SPDX-License-Identifier: MIT
#
# suite.sh RUNNER PROGRAM... - runs test programs and sums what they count.
#
# A program is a test on greatest, the vectors, or a fuzz harness linked to
# replay.c, which then counts as one test: its corpus. RUNNER, if not empty,
# is what a program runs under. What a program said stays in PROGRAM.log.
# One that takes longer than TEST_SECONDS is stopped and has failed.

set -u
runner=$1
shift
seconds=${TEST_SECONDS:-300}
passed=0
failed=0
skipped=0

export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"

run() {
    # RUNNER holds words, so it is split.
    # shellcheck disable=SC2086
    case $name in
    *_fuzz) timeout "$seconds" $runner "$1" "fuzz/corpus/${name%_fuzz}" ;;
    vectors_test) timeout "$seconds" $runner "$1" ;;
    *) timeout "$seconds" $runner "$1" -v ;;
    esac
}

# "Pass: 3, fail: 0, skip: 1." of greatest, or "3 passed, 0 failed" of others,
# as three numbers; of a test that did not live to tell, the lines it wrote.
counts() {
    awk '
        /^Pass: [0-9]/ { gsub(/[^0-9 ]/, ""); sum = $0 }
        /^[0-9]+ passed, [0-9]+ failed/ { sum = $1 " " $3 " " $5 + 0 }
        /^(PASS|FAIL|SKIP) / { n[$1]++ }
        END {
            if (sum == "")
                sum = n["PASS"] + 0 " " n["FAIL"] + 0 " " n["SKIP"] + 0
            print sum
        }' "$1"
}

trouble() {
    printf 'FAIL %s: %s\n' "$name" "$1"
    grep -a -A 3 '^FAIL' "$log" | head -n 40
    tail -n 25 "$log"
}

for program; do
    name=${program##*/}
    log=$program.log
    run "$program" >"$log" 2>&1
    code=$?
    counted=$(counts "$log")
    case $name in
    *_fuzz) [ "$code" -ne 0 ] || counted="1 0 0" ;;
    esac
    # shellcheck disable=SC2086
    set -- $counted
    if [ "$2" -ne 0 ]; then
        trouble "$2 tests, exit code $code"
    elif [ "$code" -ne 0 ]; then
        case $code in
        124) trouble "took over $seconds s" ;;
        *) trouble "exit code $code" ;;
        esac
        failed=$((failed + 1))
    elif [ $(($1 + $3)) -eq 0 ]; then
        trouble "counted nothing"
        failed=$((failed + 1))
    fi
    grep -a '^SKIP' "$log" | sed -e "s/^SKIP /SKIP $name: /" -e 's/ ([0-9]* ticks.*//'
    passed=$((passed + $1))
    failed=$((failed + $2))
    skipped=$((skipped + $3))
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
