#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_generated.sh - generated files are up to date, and equal when they are
# made again; each file that repeats the version has the same one; each mutant
# applies, and its head keeps to the limits of head.sh; and the simulator's runs
# have the hashes of tests/sim/hash.txt.

set -u
unset MAKEFLAGS MFLAGS MAKELEVEL
work=build/generated
rm -rf "$work"
mkdir -p "$work"
bad=0
version=$(sed -n 's/^#define RELET_VERSION "\(.*\)"/\1/p' include/relet.h)

trouble() {
    echo "$*"
    bad=1
}

# Made again, in another folder and another locale, relet.c is the same file.
LC_ALL=C.UTF-8 TZ=UTC+9 ${MAKE:-make} -s DIST="$work" dist || exit 1
cmp build/dist/relet.c "$work/relet.c" ||
    trouble "relet.c differs when it is made again"
cmp build/dist/relet.h include/relet.h || trouble "relet.h is not the header"
grep -n '#[ ]*include[ ]*"' build/dist/relet.c |
    grep -v '"relet\(_local\)*\.h"' &&
    trouble "relet.c still includes a file of the project"

LC_ALL=C awk -f tools/embed.awk lua/*.lua |
    build/tools/pack >"$work/script_text.inc"
cmp src/link/script_text.inc "$work/script_text.inc" ||
    trouble "src/link/script_text.inc is older than lua/*.lua: make scripts"

# The manual pages of section 3 are made from the headers.
LC_ALL=C.UTF-8 ${MAKE:-make} -s man || trouble "the manual pages are not made"
LC_ALL=C.UTF-8 sh tools/man.sh "$version" "$work/man"
diff -r build/man "$work/man" ||
    trouble "the manual pages differ when made again"

awk 'length > 80 { print FILENAME ":" FNR " has more than 80 columns" }
    FNR == 46 { print FILENAME " has more than 45 lines" }' lua/*.lua \
    >"$work/lua"
[ ! -s "$work/lua" ] || trouble "$(cat "$work/lua")"

command -v patch >/dev/null || {
    echo "generated: there is no patch; tests/deps.sh installs it"
    exit 1
}
for patch in tests/sim/mutants/*.patch; do
    patch -s -p1 -F0 --dry-run <"$patch" >/dev/null 2>&1 ||
        trouble "$patch does not apply any more"
    sh tests/sim/head.sh "$patch"
    sed -n 's/^test: *//p' "$patch" | while read -r program test; do
        grep -q "^TEST $test(" "tests/$program.c" ||
            echo "$patch names $test, which is not in tests/$program.c"
    done
done >"$work/mutants"
[ ! -s "$work/mutants" ] || trouble "$(cat "$work/mutants")"

# A hash of all events of clients, leases and jobs in these runs: a change that
# keeps the behaviour keeps the hash. A change of the behaviour is recorded by
# `make sim-hash`, and its commit says why.
sh tests/sim/hash.sh >"$work/hash" || trouble "the simulator's runs failed"
cmp -s tests/sim/hash.txt "$work/hash" ||
    trouble "the simulator's runs are not those of tests/sim/hash.txt: $(
        diff tests/sim/hash.txt "$work/hash")"

number=$(sed -n 's/^#define RELET_VERSION_NUMBER \([0-9]*\).*/\1/p' \
    include/relet.h)
expected=$(echo "$version" | awk -F. '{ print $1 * 10000 + $2 * 100 + $3 }')
[ "$number" = "$expected" ] ||
    trouble "RELET_VERSION_NUMBER is $number, $version makes $expected"
grep -q "^## .*$version" CHANGELOG.md ||
    trouble "CHANGELOG.md has no section for $version"
for page in packaging/man/*.1; do
    grep -q "^\.TH.*\"relet $version\"" "$page" ||
        trouble "$page does not name version $version"
done

[ "$bad" -eq 0 ] && echo "generated: relet.c is reproducible, version $version"
exit "$bad"
