# SPDX-License-Identifier: MIT
#
# wait.sh - read by the test scripts that watch other processes at work: waiting
# for what these write, and comparing.
# shellcheck shell=bash

# until_so CLAIM COMMAND...: it succeeds within ten seconds, or PATIENCE.
until_so() {
    local tries=0
    until "${@:2}"; do
        tries=$((tries + 1))
        [ $tries -lt $((${PATIENCE:-10} * 50)) ] ||
            { echo "$1: not within ${PATIENCE:-10} seconds"; return 1; }
        sleep 0.02
    done
}

# has FILE PATTERN N: so many lines at least match.
has() { [ "$(grep -c -- "$2" "$1")" -ge "$3" ]; }

# until_line FILE PATTERN [N]
until_line() { until_so "'$2' in ${1##*/}" has "$1" "$2" "${3:-1}"; }

# give_line FIFO: gives a line to the process that reads it. Opening a FIFO waits for
# its reader: one that never comes is waited for as long as a claim is.
give_line() {
    timeout "${PATIENCE:-10}" sh -c 'echo go >"$1"' sh "$1" ||
        echo "nobody reads ${1##*/} within ${PATIENCE:-10} seconds"
}

# gone PID: it does not run any more; a zombie does not run.
gone() {
    local state
    state=$(ps -o stat= -p "$1")
    [[ -z $state || $state == Z* ]]
}

until_gone() { until_so "$1 is gone" gone "$1"; }

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# same WANTED GOT
same() { [ "$1" = "$2" ] || echo "wanted '$1', got '$2'"; }

# Whether a number is below (-lt), above … another one.
holds() { test "$1" "$2" "$3" || echo "not $1 $2 $3"; }
