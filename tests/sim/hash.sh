#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hash.sh - runs some seeds of three workloads, and prints for each run its
# words and its hash. A run that fails has no hash, and the exit code is 1.

bad=0
for words in "SEEDS=200 FROM=1" "SEEDS=60 FROM=1 WORK=jobs" \
    "SEEDS=100 FROM=1 WORK=lease"; do
    # Words of the command line, so they are split.
    # shellcheck disable=SC2086
    hash=$(build/sim $words |
        sed -n 's/.*, 0 failed.* hash \([0-9a-f]*\);.*/\1/p')
    echo "$words: $hash"
    [ -n "$hash" ] || bad=1
done
exit $bad
