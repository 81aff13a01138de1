#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_symbols.sh OBJECT... - what the library adds to a program's names.
#
# Room by room: relet_* and rlt_*. As amalgamation and as shared library:
# what relet.h declares, no less and no more. And no object has data of its
# own that could change.

set -u
work=build/pure
bad=0

trouble() {
    [ -z "$2" ] && return
    echo "$1:"
    echo "$2" | sed 's/^/    /'
    bad=1
}

exported() {
    awk '$2 ~ /^[A-Z]$/ && $2 != "U" { print $3 }' | sort -u
}

# Declarations: RELET_API up to the name in front of the parenthesis.
declared() {
    tr '\n' ' ' <include/relet.h | tr ';' '\n' |
        sed -n 's/.*RELET_API [^(]*[ *]\(relet_[a-z0-9_]*\)(.*/\1/p' | sort -u
}

${CC:-cc} -O2 -fno-pic -c -o "$work/relet.o" build/dist/relet.c || exit 1
declared >"$work/declared"

trouble "not prefixed" "$(nm -A -g --defined-only "$@" |
    awk '$NF !~ /^(relet|rlt)_/')"
trouble "mutable data" "$(nm -A "$@" "$work/relet.o" |
    awk '$(NF - 1) ~ /^[bBcCdDgGsS]$/')"
trouble "relet.c: exported <, declared >" \
    "$(nm "$work/relet.o" | exported | diff - "$work/declared")"
trouble "librelet.so: exported <, declared >" \
    "$(nm -D build/librelet.so | exported | diff - "$work/declared")"

[ "$bad" -eq 0 ] &&
    echo "symbols: $(wc -l <"$work/declared") functions, no data"
exit "$bad"
