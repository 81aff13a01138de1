#!/bin/sh
# SPDX-License-Identifier: MIT
#
# step.sh WORK FLOORS LIST NUMBER - runs one step and prints its result.
#
# LIST has a line per step: name, needed keys of have.mk, command; separated by
# tabs. FLOORS has a line per step, which tests/floors.sh writes: name, and the
# least number of its tests. The output of the command goes to WORK/NAME.log; if
# its last line counts tests, these count, otherwise the step is one test. The
# counts go to WORK/NAME.count at the very end, so that a step that is killed
# has no counts.
#
# A step that counts fewer tests than its floor, skipped ones included, has
# failed. But if a tool is missing, the missing tests count as skipped: in a
# step that needs the tool, all tests of the floor; in a step that prints `SKIP
# NAME: tests/deps.sh did not find KEY`, or `this machine: why`, the rest. A
# command that takes longer than STEP_SECONDS is stopped and has failed.
# Processes that it leaves running are killed with its process group.

set -u
work=$1
floors=$2
list=$3
number=$4
tab=$(printf '\t')
# shellcheck disable=SC1091
. build/deps/have.mk

IFS=$tab read -r name needs command <<END_OF_LINE
$(sed -n "${number}p" "$list")
END_OF_LINE
log=$work/$name.log
floor=$(sed -n "s/^$name$tab\([0-9]*\)$/\1/p" "$floors" | head -n 1)
floor=${floor:-1}
begin=$(date +%s)
rm -f "$work/$name.count"

# lacking KEY...: prints the keys that have no value in have.mk.
lacking() {
    for key; do
        [ "$key" = - ] || [ -n "$(eval "echo \"\${$key:-}\"")" ] || echo "$key"
    done
}

counts() {
    tail -n 3 "$log" |
        grep -aE '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' |
        tail -n 1 | awk '{ print $1, $3, $5 + 0 }'
}

# Prints why tests may be missing: the tools that the log reports as missing, if
# they are.
excused() {
    keys=$(grep -a '^SKIP .*: tests/deps\.sh did not find [A-Z_0-9]*$' "$log" |
        sed 's/.* //' | sort -u | xargs)
    # shellcheck disable=SC2086
    [ "$(lacking $keys | xargs)" = "$keys" ] || return
    [ -n "$keys" ] || grep -q '^SKIP .*: this machine: ' "$log"
}

# run COMMAND: in a process group of its own, that of timeout. A shell without
# job control has its background ignore the signals of the keyboard; they have
# their usual meaning to the tests.
run() {
    timeout -k 10 "${STEP_SECONDS:-1200}" \
        env --default-signal=INT,QUIT sh -c "$1" >"$log" 2>&1 </dev/null &
    group=$!
    trap 'stop; exit 1' HUP INT TERM
    wait "$group"
    code=$?
    kill -KILL "-$group" 2>/dev/null
    trap - HUP INT TERM
}

# Ctrl-C does not reach that group by itself; timeout passes the signal on.
stop() {
    kill "$group"
    wait "$group"
    kill -KILL "-$group" 2>/dev/null
}

# Prints the failures, and how the step ended.
trouble() {
    grep -a '^FAIL' "$log" | head -n 20
    echo ...
    tail -n 20 "$log"
}

# shellcheck disable=SC2086
missing=$(lacking $needs | xargs)
if [ -n "$missing" ]; then
    code=0
    echo "SKIP $name: $floor tests: tests/deps.sh did not find $missing" >"$log"
    set -- 0 0 "$floor"
else
    run "$command"
    counted=$(counts)
    if [ "$code" -eq 0 ]; then
        counted=${counted:-1 0 0}
    else
        counted=${counted:-0 1 0}
    fi
    # shellcheck disable=SC2086
    set -- $counted
fi

[ "$code" -ne 124 ] ||
    echo "FAIL $name: took over ${STEP_SECONDS:-1200} s" >>"$log"
[ "$code" -eq 0 ] || [ "$2" -gt 0 ] || set -- "$1" 1 "$3"
short=$((floor - $1 - $2 - $3))
if [ "$short" -gt 0 ] && [ "$2" -eq 0 ]; then
    if excused; then
        set -- "$1" "$2" $(($3 + short))
        echo "SKIP $name: $short tests more, for the reasons above" >>"$log"
    else
        echo "FAIL $name: $(($1 + $3)) tests, but $floor in $floors" >>"$log"
        set -- "$1" 1 "$3"
    fi
fi

result="$1 passed, $2 failed, $3 skipped"
[ "$2" -eq 0 ] || result="$result  FAILED"
printf '[%2d/%d] %-20s %4d s  %s\n' "$number" "$(wc -l <"$list")" "$name" \
    $(($(date +%s) - begin)) "$result"
[ "$2" -eq 0 ] || trouble | cut -c 1-200 | sed 's/^/    /'
echo "$1 $2 $3" >"$work/$name.count"
exit 0
