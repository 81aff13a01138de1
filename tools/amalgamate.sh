#!/bin/sh
# SPDX-License-Identifier: MIT
#
# amalgamate.sh [-local] VERSION FILE... - writes relet.c, all files of the
# library in one; or relet_local.c, the files of the local server and of the
# core below it.
#
# Each local include is removed: its file must stand further up already, or else
# the script fails, since a file includes a file above it. Include guards stay,
# so that a test that includes a private header after relet.c defines nothing
# twice.

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
 * with any C99 or C++ compiler; no library is needed. Compile relet.c with
 * -DRELET_LOCAL, too: then it accepts the URLs mem: and file:. -DRELET_NO_POLL
 * leaves both out of this file, which then needs neither relet.c nor a header
 * of the system, but three headers of C. */
#if !defined(RELET_NO_POLL) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#if !defined(RELET_NO_POLL) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif
#include "relet_local.h"

END
}

# relet_local.c may be linked beside relet.c: the two have no public name in
# common.
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
/* Functions that several files share are private here. Some of them only the
 * tests use. */
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

# relet.c includes relet_local.h with -DRELET_LOCAL.
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
