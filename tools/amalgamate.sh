#!/bin/sh
# SPDX-License-Identifier: MIT
#
# amalgamate.sh [-local] VERSION FILE... - writes relet.c, all rooms in one
# file; or relet_local.c, those of the local server and of the core below it.
#
# Each local include vanishes: the file it names stands further up already, or
# else a room looks above itself and we fail. Include guards stay, so that a
# test that includes a room's header behind relet.c gets nothing twice.

set -eu
part=relet
if [ "$1" = -local ]; then
    part=relet_local
    shift
fi
version=$1
shift

head_relet() {
    cat <<END
/* SPDX-License-Identifier: MIT
 *
 * relet.c - relet $version in one file, made from its rooms by "make dist".
 *
 * Put it and relet.h into your project and compile it with any C99 or C++
 * compiler; no flag and no library is needed. -DRELET_NO_POLL leaves out the
 * driver for POSIX, and with it every system header but four of C's own;
 * -DRELET_NO_LEASE leaves out leases, -DRELET_NO_QUEUE queues and workers: then
 * compile your own files with the same macros. */
#ifndef RELET_NO_POLL
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for the driver, before the first system header */
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif
#endif

#include "relet.h"

END
}

head_relet_local() {
    cat <<END
/* SPDX-License-Identifier: MIT
 *
 * relet_local.c - the local server of relet $version in one file, made from its
 * rooms by "make dist".
 *
 * Put it, relet_local.h, relet.h and relet.c into your project and compile it
 * with any C99 or C++ compiler; no library is needed. relet.c knows mem: and
 * file: with -DRELET_LOCAL. -DRELET_NO_POLL leaves those out here: then relet.c
 * is not needed, and of C three headers, none that needs a system. */
#if !defined(RELET_NO_POLL) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#if !defined(RELET_NO_POLL) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif
#include "relet_local.h"

END
}

# It may be linked beside relet.c and has no public name in common with it.
private_relet_local() {
    cat <<'END'
#define relet_str rlt_local_str
#define relet_code_text rlt_local_code_text
RELET_PRIVATE relet_span relet_str(const char *s);
RELET_PRIVATE const char *relet_code_text(int code);
END
}

private_relet() {
    :
}

head_$part
cat <<'END'
/* What the rooms share stays in here. Some of it only the tests use. */
#ifndef RELET_PRIVATE
#if defined(__GNUC__)
#define RELET_PRIVATE __attribute__((unused)) static
#define RLT_SHORT __attribute__((unused)) static inline
#else
#define RELET_PRIVATE static
#endif
END
private_$part
echo '#endif'

# relet.c asks for relet_local.h where it was told that it is there.
awk -v part_of=$part '
FNR == 1 {
    seen[name(FILENAME)] = 1
    printf "\n/* ---- %s ---- */\n\n", FILENAME
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    if (part[2] == "relet_local.h" && part_of == "relet")
        print
    if (part[2] == "relet.h" || part[2] == "relet_local.h" ||
        name(part[2]) in seen)
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
