#!/bin/sh
# SPDX-License-Identifier: MIT
#
# man.sh VERSION FOLDER - makes the manual pages in FOLDER/man1 and FOLDER/man3,
# and FOLDER/list with their names.
#
# man1 has the pages of packaging/man and, for each command with a section in
# one of these pages, a link by which `man relet-lock` finds the page. man3.awk
# makes man3 from the public headers.

set -eu
LC_ALL=C
export LC_ALL
version=$1
out=$2

rm -rf "$out"
mkdir -p "$out/man1" "$out/man3"
for page in packaging/man/*.1; do
    name=${page##*/}
    cp "$page" "$out/man1/$name"
    for command in $(sed -n 's/^\.SS relet //p' "$page"); do
        [ -f "packaging/man/relet-$command.1" ] ||
            echo ".so man1/$name" >"$out/man1/relet-$command.1"
    done
done
awk -v out="$out/man3" -v version="$version" -f tools/man3.awk \
    include/relet.h include/relet_local.h
(cd "$out" && find man1 man3 -type f | sort >list.new && mv list.new list)
