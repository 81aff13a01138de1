#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_stack.sh - measures the stack that each part takes by docs/limits.md.
#
# gcc writes the frame of each function and the calls between functions; the
# deepest chain of calls from a public function is the figure of that function
# (stack.awk). A row of the table in docs/limits.md is right if no function of
# its part takes more, and one takes nine tenths of the figure or more: so the
# table follows improvements, too. No public function takes more than 4096
# bytes.

set -u
unset MAKEFLAGS MFLAGS MAKELEVEL
work=build/stack
mkdir -p "$work"
passed=0
failed=0

case $(uname -m) in
x86_64) ;;
*)
    echo "SKIP stack_of_each_part: this machine: is no x86-64"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0 ;;
esac
# Another compiler inlines other functions.
if ! ${CC:-cc} --version | grep -q '12\.[0-9.]*$' ||
    ! ${CC:-cc} -std=c99 -O2 -fcallgraph-info=su -dumpbase '' -c \
        -o "$work/relet.o" build/dist/relet.c 2>"$work/errors"; then
    echo "SKIP stack_of_each_part: this machine: has no gcc 12"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
graph=$(find "$work" -name '*.ci' | head -n 1)

# deepest FILE: lists bytes, function and chain of calls; the deepest last.
deepest() {
    LC_ALL=C awk -f tools/stack.awk "$1" | sort -n >"$1.deepest"
}

# Functions that are never called without workers, or without leases either.
workers='(rlt_workers?|rlt_put|workers|complete|work|rlt_claims)_[a-z_.0-9]*'
leases='(rlt_leases?|leases|rlt_elect|elect|lease)_[a-z_.0-9]*'
grep -vE "sourcename: \"[^\"]*:$workers\"" "$graph" >"$work/leases"
grep -vE "sourcename: \"[^\"]*:$leases\"" "$work/leases" >"$work/plain"
cp "$graph" "$work/workers"
for part in plain leases workers; do
    deepest "$work/$part" || exit 1
done

# row NAME GRAPH FUNCTIONS: compares the deepest of these functions with the
# figure in the page.
row() {
    found=$(grep -E "^[0-9]+ relet_($3)( |\$)" "$work/$2.deepest" | tail -n 1)
    bytes=${found%% *}
    says=$(sed -n "s/^| $1 |.* \([0-9]*\) |\$/\1/p" docs/limits.md)
    verdict=ok
    if [ "${bytes:-0}" -gt 4096 ]; then
        verdict="over 4096"
        failed=$((failed + 1))
    elif [ -z "$says" ] || [ -z "$bytes" ] || [ "$bytes" -gt "$says" ] ||
        [ $((bytes * 10)) -lt $((says * 9)) ]; then
        verdict="docs/limits.md says ${says:-nothing}"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
    printf '%-42s %6s  %s\n    %s\n' "$1" "$bytes" "$verdict" \
        "$(echo "${found#* }" | cut -c 1-150)"
}

# Functions with rows of their own; the last row has all others.
submit='command|command_text|transaction|script_run|script_add|subscribe'
submit="$submit|unsubscribe|cancel|credentials"
events='next|tick|io_.*|stop|deadline'
opening='config_.*|size|init'
lease='(start|stop|work_done|valid_for|token)'
row 'commands: submit' plain "$submit"
row 'events and the seam, no leases, no workers' plain "$events"
row 'the same with leases' leases "$events|lease_$lease"
row 'the same with workers' workers \
    "$events|worker_(start|stop)|job_(done|fail|release)"
row 'configuration and `relet_init`' workers "$opening"
row '`relet_open`' workers open
row '`relet_wait`, `relet_call`, `relet_await`, no workers' leases \
    'wait|call|await|lease_await_end'
row '`relet_wait`, `relet_call`, `relet_await` with workers' workers \
    'wait|call|await|(lease|worker)_await_end'
row '`relet_call_text`' workers 'call_text'
row '`relet_queue_put`, `relet_queue_put_unique`, `relet_queue_put_wait`' \
    workers 'queue_(put|put_unique|put_wait)'
row 'what operators ask of queues' workers \
    'queue_([a-oq-z].*|pause|promote|purge)|job_progress'
others="lease_.*|worker_.*|job_.*|queue_.*|put.*|open|wait|await|call|call_text"
rest=$(grep -vE "^[0-9]+ relet_($submit|$events|$opening|$others)( |\$)" \
    "$work/workers.deepest" | tail -n 1 | cut -d ' ' -f 1)
row 'everything else' workers '(value|stats|fd|watches|jobs|close|finish).*'
[ "$rest" = "$bytes" ] || {
    echo "a function is in no row, and deeper than 'everything else': $rest"
    failed=$((failed + 1))
}
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
