#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutants.sh CC CFLAGS FOLDERS SIM-OBJECT... - breaks the client in named ways,
# one patch at a time, and checks that each defect is found; mutant.sh does one.
# ONLY=003 runs those mutants whose names begin so; JOBS is their number at a
# time. The output of each build and run stays in build/mutants/. A mutant
# without a result, since its shell was killed, has failed. The run fails, too,
# if the head of a mutant asks for more than head.sh allows, or if the median of
# the seeds that the simulator needs is above 20.

set -u
export MUTANT_CC="$1" MUTANT_CFLAGS="$2" MUTANT_FOLDERS="$3"
shift 3
export MUTANT_OBJECTS="$*"
work=build/mutants
mkdir -p "$work"
rm -f "$work"/*.result

set -- tests/sim/mutants/"${ONLY:-}"*.patch
# A shell that is killed does not keep xargs from the next mutant.
# shellcheck disable=SC2016
printf '%s\n' "$@" | xargs -P "${JOBS:-1}" -n 1 \
    sh -c 'sh tests/sim/mutant.sh "$@" || exit 1' mutant

for patch; do
    name=$(basename "$patch" .patch)
    [ -s "$work/$name.result" ] ||
        echo "FAIL $name: it has no result, see $work/$name.log"
done

sh tests/sim/head.sh "$@" | sed 's/^/FAIL /' >"$work/heads"
cat "$work/heads"

# A result has three words: caught, missed or skipped; sim, unit or control; and
# the number of seeds.
cat /dev/null "$work"/*.result |
    awk -v patches=$# -v only="${ONLY:-}" -v heads="$(wc -l <"$work/heads")" '
    $1 == "skipped" { skipped++; next }
    { all[$2]++ }
    $1 == "caught" { caught[$2]++; passed++ }
    $1 == "caught" && $2 == "sim" { seeds[n++] = $3 }
    function median(   i, j, t) {
        for (i = 1; i < n; i++)
            for (j = i; j > 0 && seeds[j] + 0 < seeds[j - 1] + 0; j--) {
                t = seeds[j]; seeds[j] = seeds[j - 1]; seeds[j - 1] = t
            }
        return seeds[int(n / 2)] + 0
    }
    END {
        m = median()
        printf "the simulator caught %d of %d, half of them by %d seeds, " \
            "the slowest by %d; unit tests caught %d of %d\n", \
            caught["sim"], all["sim"], m, seeds[n - 1], \
            caught["unit"], all["unit"]
        slow = only == "" && m > 20
        if (slow)
            print "FAIL median: half of them need more than 20 seeds"
        failed = patches - passed - skipped + heads + slow
        printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
        exit failed != 0
    }'
