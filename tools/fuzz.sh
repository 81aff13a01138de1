#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fuzz.sh SECONDS [NAME] - runs the fuzz harnesses, or the one named.
#
# New inputs go to build/fuzz/corpus/NAME and are used again next time; an input
# that makes a harness fail is left in build/fuzz/NAME-*.

set -u
seconds=${1:-60}
only=${2:-}
passed=0
failed=0

export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"

dictionary() {
    for file in "fuzz/$1.dict" fuzz/resp.dict; do
        [ -f "$file" ] && echo "-dict=$file" && return
    done
}

for source in fuzz/*_fuzz.c; do
    name=${source##*/}
    name=${name%_fuzz.c}
    [ -z "$only" ] || [ "$only" = "$name" ] || continue
    log=build/fuzz/$name.log
    mkdir -p "build/fuzz/corpus/$name" "fuzz/corpus/$name"
    # shellcheck disable=SC2046
    if "build/fuzz/fuzz/${name}_fuzz" -max_total_time="$seconds" \
        -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/$name-" $(dictionary "$name") \
        "build/fuzz/corpus/$name" "fuzz/corpus/$name" >"$log" 2>&1; then
        passed=$((passed + 1))
        verdict=ok
    else
        failed=$((failed + 1))
        verdict=FAILED
    fi
    rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    echo "$name: ${rate:-?} runs a second, $verdict"
    [ "$verdict" = ok ] || tail -n 40 "$log"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
