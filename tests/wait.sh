# SPDX-License-Identifier: MIT
#
# wait.sh - functions for test scripts that watch other processes: waiting for
# the output of these processes, and comparing.
# shellcheck shell=bash

# until_so CLAIM COMMAND...: repeats the command until it succeeds, for ten
# seconds or PATIENCE seconds.
until_so() {
    local tries=0
    until "${@:2}"; do
        tries=$((tries + 1))
        [ $tries -lt $((${PATIENCE:-10} * 50)) ] ||
            { echo "$1: not within ${PATIENCE:-10} seconds"; return 1; }
        sleep 0.02
    done
}

# has FILE PATTERN N: at least N lines match.
has() { [ "$(grep -c -- "$2" "$1")" -ge "$3" ]; }

# until_line FILE PATTERN [N]
until_line() { until_so "'$2' in ${1##*/}" has "$1" "$2" "${3:-1}"; }

# give_line FIFO: writes a line to a FIFO. Opening the FIFO waits for its
# reader, for as long as until_so waits.
give_line() {
    timeout "${PATIENCE:-10}" sh -c 'echo go >"$1"' sh "$1" ||
        echo "no process reads ${1##*/} within ${PATIENCE:-10} seconds"
}

# gone PID: succeeds if the process has ended; a zombie has ended.
gone() {
    local state
    state=$(ps -o stat= -p "$1")
    [[ -z $state || $state == Z* ]]
}

until_gone() { until_so "$1 is gone" gone "$1"; }

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# same WANTED GOT
same() { [ "$1" = "$2" ] || echo "wanted '$1', got '$2'"; }

# holds NUMBER OPERATOR NUMBER: compares as test does, by -lt, -ge and so on.
holds() { test "$1" "$2" "$3" || echo "not $1 $2 $3"; }
