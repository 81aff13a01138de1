#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_symbols.sh LIBRARY OBJECT... - what the library adds to a program's
# names.
#
# Room by room: relet_* and rlt_*. As amalgamations, and as shared LIBRARY if
# one is named: what the headers declare, no less and no more. And no object
# has data of its own that could change.

set -u
library=$1
shift
work=build/pure
bad=0

# What nm cannot read would have no symbols.
{ [ $# -gt 0 ] && nm "$@" ${library:+"$library"} >/dev/null; } || {
    echo "symbols: no objects"
    exit 1
}

trouble() {
    [ -z "$2" ] && return
    echo "$1:"
    echo "$2" | sed 's/^/    /'
    bad=1
}

exported() {
    awk '$2 ~ /^[A-Z]$/ && $2 != "U" { print $3 }' | sort -u
}

# declared HEADER...: RELET_API up to the name in front of the parenthesis.
declared() {
    cat "$@" | tr '\n' ' ' | tr ';' '\n' |
        sed -n 's/.*RELET_API [^(]*[ *]\(relet_[a-z0-9_]*\)(.*/\1/p' | sort -u
}

# compile NAME OBJECT FLAG...: an amalgamation.
compile() {
    source=build/dist/$1.c
    object=$work/$2.o
    shift 2
    ${CC:-cc} -O0 -fno-pic "$@" -c -o "$object" "$source" || exit 1
}

compile relet relet
compile relet both_relet -DRELET_LOCAL
compile relet_local relet_local
declared include/relet.h >"$work/relet.declared"
declared include/relet.h include/relet_local.h >"$work/both.declared"

trouble "not prefixed" "$(nm -A -g --defined-only "$@" |
    awk '$NF !~ /^(relet|rlt)_/')"
trouble "mutable data" "$(nm -A "$@" "$work/both_relet.o" \
    "$work/relet_local.o" | awk '$(NF - 1) ~ /^[bBcCdDgGsS]$/')"
trouble "relet.c: exported <, declared >" \
    "$(nm "$work/relet.o" | exported | diff - "$work/relet.declared")"
trouble "relet.c with relet_local.c: exported <, declared >" \
    "$(nm "$work/both_relet.o" "$work/relet_local.o" | exported |
        diff - "$work/both.declared")"
[ -z "$library" ] || trouble "$library: exported <, declared >" \
    "$(nm -D "$library" | exported | diff - "$work/both.declared")"

[ "$bad" -eq 0 ] &&
    echo "symbols: $(wc -l <"$work/both.declared") functions, no data"
exit "$bad"
