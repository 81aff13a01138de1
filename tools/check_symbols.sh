#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_symbols.sh LIBRARY OBJECT... - checks the names that the library adds to
# a program.
#
# The objects define only relet_* and rlt_*. The amalgamations, and the shared
# LIBRARY if one is named, define exactly the functions that the headers
# declare. No object has writable data.

set -u
library=$1
shift
work=build/pure
bad=0

# A file that nm cannot read would seem to have no symbols.
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

# declared HEADER...: the functions that the headers declare with RELET_API.
declared() {
    cat "$@" | tr '\n' ' ' | tr ';' '\n' |
        sed -n 's/.*RELET_API [^(]*[ *]\(relet_[a-z0-9_]*\)(.*/\1/p' | sort -u
}

# compile NAME OBJECT FLAG...: compiles an amalgamation.
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
