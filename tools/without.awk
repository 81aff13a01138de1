# SPDX-License-Identifier: MIT
#
# without.awk - leaves out what a build with some macros would leave out:
#
#   awk -v out="RELET_NO_QUEUE RELET_NO_POLL" -f tools/without.awk FILE
#
# The condition of an #ifndef or #ifdef of one of these macros is decided, and
# its lines go, with all that is not compiled then. Other conditions stay.

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
