#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_symbols.sh [-local] OBJECT... - what the library adds to a program's
# names; with -local the local server.
#
# Room by room: relet_* and rlt_*. As amalgamation and as shared library:
# what the header declares, no less and no more. And no object has data of its
# own that could change.

set -u
part=relet
if [ "$1" = -local ]; then
    part=relet_local
    shift
fi
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

# The shared library holds both parts; what is not the local server's is ours.
of_this_part() {
    declared relet_local >"$work/$part.other"
    case $part in
    relet) grep -vxF -f "$work/$part.other" ;;
    relet_local) grep -xF -f "$work/$part.other" ;;
    esac
}

# declared PART: RELET_API up to the name in front of the parenthesis.
declared() {
    tr '\n' ' ' <"include/$1.h" | tr ';' '\n' |
        sed -n 's/.*RELET_API [^(]*[ *]\(relet_[a-z0-9_]*\)(.*/\1/p' | sort -u
}

${CC:-cc} -O2 -fno-pic -c -o "$work/$part.o" "build/dist/$part.c" || exit 1
declared $part >"$work/$part.declared"

trouble "not prefixed" "$(nm -A -g --defined-only "$@" |
    awk '$NF !~ /^(relet|rlt)_/')"
trouble "mutable data" "$(nm -A "$@" "$work/$part.o" |
    awk '$(NF - 1) ~ /^[bBcCdDgGsS]$/')"
trouble "$part.c: exported <, declared >" \
    "$(nm "$work/$part.o" | exported | diff - "$work/$part.declared")"
trouble "librelet.so: exported <, declared >" \
    "$(nm -D build/librelet.so | exported | of_this_part |
        diff - "$work/$part.declared")"

[ "$bad" -eq 0 ] &&
    echo "symbols: $(wc -l <"$work/$part.declared") functions, no data"
exit "$bad"
