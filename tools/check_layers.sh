#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_layers.sh DRIVER ROOM... - no file includes a file of a room above it. A
# room is a source file and its header; it is given with its folder:
# engine/lease.
#
# A room includes the headers of rooms before it, its own ROOM_text.inc, base.h
# and relet.h. Only the rooms of DRIVER include the local server, or a system
# header for files, clocks or the heap. The command includes only the public
# headers and its own.

set -u
driver=$1
shift

for room; do
    for file in "src/$room.h" "src/$room.c"; do
        [ -f "$file" ] && echo "$file"
    done
done | awk -v rooms="$*" -v driver=" $driver " '
function trouble(file, what) {
    printf "%s includes %s, %s\n", file, what, why
    bad = 1
}
function includes(file, line, n) {
    n = 0
    while ((getline line <file) > 0)
        if (line ~ /^[ \t]*#[ \t]*include/) {
            sub(/^[ \t]*#[ \t]*include[ \t]*/, "", line)
            sub(/[ \t].*/, "", line)
            list[++n] = line
        }
    close(file)
    return n
}
function check(file, allowed, n, i) {
    n = includes(file)
    for (i = 1; i <= n; i++)
        if (index(allowed, " " list[i] " ") == 0)
            trouble(file, list[i])
}
BEGIN {
    plain = " <stddef.h> <stdint.h> "
    why = "but may include only <stddef.h> and <stdint.h>"
    check("include/relet.h", plain)
    plain = plain "<string.h> <stdarg.h> <limits.h> <float.h> "
    why = "which does not stand below it"
    check("src/base/base.h", plain "\"relet.h\" ")
    own = plain "\"relet.h\" \"base.h\" "
    n = split(rooms, room, " ")
    for (k = 1; k <= n; k++) {
        sub(/.*\//, "", room[k])
        below[room[k]] = own = own "\"" room[k] ".h\" "
    }
    m = split(driver, room, " ")
    driver = " "
    for (k = 1; k <= m; k++) {
        sub(/.*\//, "", room[k])
        driver = driver room[k] " "
    }
}
{
    name = $0
    sub(/.*\//, "", name)
    sub(/\..*/, "", name)
    count++
    if (index(driver, " " name " ") == 0) {
        check($0, below[name] "\"" name "_text.inc\" ")
        next
    }
    m = includes($0)
    for (i = 1; i <= m; i++)
        if (list[i] !~ /^</ && list[i] != "\"relet_local.h\"" &&
            index(below[name], " " list[i] " ") == 0)
            trouble($0, list[i])
}
END {
    if (!count)
        print "layers: there are no rooms"
    else if (!bad)
        printf "layers: %d files look only down\n", count
    exit bad || !count
}' || exit 1

above=$(grep -n '^[ \t]*#[ \t]*include[ \t]*"' src/cli/*.[ch] |
    while IFS='"' read -r place name _; do
        [ -f "include/$name" ] || [ -f "src/cli/$name" ] ||
            echo "$place $name"
    done)
[ -z "$above" ] && exit
echo "src/cli includes more than the public and its own headers:"
echo "$above"
exit 1
