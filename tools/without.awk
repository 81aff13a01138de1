# SPDX-License-Identifier: MIT
#
# without.awk - removes the lines that a build with these macros leaves out:
#
#   awk -v out="RELET_NO_QUEUE RELET_NO_POLL" -f tools/without.awk FILE
#
# An #ifndef or #ifdef of one of these macros is removed, with the lines that
# are not compiled then. Other conditions stay.

BEGIN {
    n = split(out, names, " ")
    for (i = 1; i <= n; i++)
        gone[names[i]] = 1
}
/^#if/ {
    depth++
    ours[depth] = ($1 == "#ifndef" || $1 == "#ifdef") && $2 in gone
    hides[depth] = ours[depth] && $1 == "#ifndef"
    hidden += hides[depth]
    if (ours[depth])
        next
}
/^#else/ && ours[depth] {
    hidden -= hides[depth]
    hides[depth] = !hides[depth]
    hidden += hides[depth]
    next
}
/^#endif/ {
    mine = ours[depth]
    hidden -= hides[depth]
    hides[depth] = 0
    depth--
    if (mine)
        next
}
!hidden { print }
END {
    if (depth != 0) {
        print "without.awk: an #if without an #endif" >"/dev/stderr"
        exit 1
    }
}
