#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_calls.sh OBJECT... - no source file calls a file above it.
#
# The objects come in layer order, lowest first. A symbol that one object needs
# and a later object defines is a call upward, whether a header or the source
# file itself declares it.

set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for object; do
    nm -P "$object" >"$work/symbols" || exit 1
    sed "s/^/$(basename "$object" .o) /" "$work/symbols"
done >"$work/all"

awk '
!($1 in place) { place[$1] = ++rooms }
$3 == "U" { needs[$1 " " $2] = 1; next }
$3 ~ /^[TDRB]$/ { owner[$2] = $1 }
END {
    for (n in needs) {
        split(n, part, " ")
        if (!(part[2] in owner))
            continue
        calls++
        if (place[owner[part[2]]] > place[part[1]]) {
            printf "%s calls %s, which is in %s, above it\n", part[1], \
                part[2], owner[part[2]]
            bad = 1
        }
    }
    if (!calls)
        print "layers: no room calls another one"
    else if (!bad)
        printf "layers: %d rooms, %d calls, all of them down\n", rooms, calls
    exit bad || !calls
}' "$work/all"
