#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_calls.sh KNOWN OBJECT... - no room calls a room above it.
#
# The objects come in layer order, lowest first. A symbol that one of them needs
# and a later one defines is a call upward. KNOWN lists the calls upward that are
# not mended yet, "caller callee symbol" each. A call that is not in the list is
# a failure, and so is a line of the list without its call: the list only
# shrinks.

set -u
known=$1
shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for object; do
    room=$(basename "$object" .o)
    nm -P "$object" | sed "s/^/$room /" || exit 1
done >"$work/symbols"

# A public function calls none above it either, so relet_ counts as rlt_ does.
awk '
!($1 in place) { place[$1] = ++rooms; name[rooms] = $1 }
$3 == "U" { needs[$1 " " $2] = 1; next }
$3 ~ /^[TDRB]$/ { owner[$2] = $1 }
END {
    if (rooms == 0)
        exit 1
    for (n in needs) {
        split(n, part, " ")
        if (part[2] in owner && place[owner[part[2]]] > place[part[1]])
            print part[1], owner[part[2]], part[2]
    }
}' "$work/symbols" | LC_ALL=C sort >"$work/found" || exit 1
[ -s "$work/symbols" ] || { echo "layers: there are no objects"; exit 1; }

grep -v '^#' "$known" | LC_ALL=C sort >"$work/known"
LC_ALL=C comm -13 "$work/known" "$work/found" | sed 's/$/: a call upward/' \
    >"$work/trouble"
LC_ALL=C comm -23 "$work/known" "$work/found" |
    sed "s|\$|: no such call any more; take it out of $known|" >>"$work/trouble"
if [ -s "$work/trouble" ]; then
    cat "$work/trouble"
    exit 1
fi
echo "layers: $# objects, $(wc -l <"$work/known" | tr -d ' ') known calls upward"
