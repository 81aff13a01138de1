#!/bin/sh
# SPDX-License-Identifier: MIT
#
# amalgamate.sh VERSION FILE... - writes relet.c, all rooms in one file.
#
# Each local include vanishes: the file it names stands further up already, or
# else a room looks above itself and we fail. Include guards stay, so that a
# test that includes a room's header behind relet.c gets nothing twice.

set -eu
version=$1
shift

cat <<END
/* SPDX-License-Identifier: MIT
 *
 * relet.c - relet $version in one file, made from its rooms by "make dist".
 *
 * Put it and relet.h into your project and compile it with any C99 or C++
 * compiler; no flag and no library is needed. -DRELET_NO_POLL leaves out the
 * driver for POSIX, and with it every system header but four of C's own. */
#ifndef RELET_NO_POLL
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for the driver, before the first system header */
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif
#endif

#include "relet.h"

/* What the rooms share stays in here. Some of it only the tests use. */
#ifndef RELET_PRIVATE
#if defined(__GNUC__)
#define RELET_PRIVATE __attribute__((unused)) static
#else
#define RELET_PRIVATE static
#endif
#endif
END

awk '
FNR == 1 {
    seen[name(FILENAME)] = 1
    printf "\n/* ---- %s ---- */\n\n", FILENAME
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    if (part[2] == "relet.h" || part[2] in seen)
        next
    printf "%s:%d: %s does not stand above\n", FILENAME, FNR, part[2] \
        >"/dev/stderr"
    exit failed = 1
}
{ print }
function name(path) { sub(/.*\//, "", path); return path }
END { exit failed }
' "$@"

echo
echo '/* ---- LICENSE ----'
echo ' *'
sed -e 's/^/ * /' -e 's/ *$//' LICENSE
echo ' */'
