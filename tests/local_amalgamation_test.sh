#!/bin/sh
# SPDX-License-Identifier: MIT
#
# local_amalgamation_test.sh - relet_local.c compiles in silence wherever it
# is vendored, comes out the same twice, and lives beside relet.c.

set -u
# shellcheck disable=SC1091
. tests/count.sh
work=build/local_amalgamation
mkdir -p "$work"
source=build/dist/relet_local.c

# In another locale, elsewhere.
$MAKE -s dist || exit 1
LC_ALL=C.UTF-8 TZ=UTC+9 $MAKE -s DIST="$work/again" \
    "$work/again/relet_local.c" || exit 1
check "it comes out the same twice" cmp $source "$work/again/relet_local.c"
check "its header is the header" \
    cmp build/dist/relet_local.h include/relet_local.h

# compiles "COMPILER FLAG...", as one argument.
compiles() {
    # shellcheck disable=SC2086
    check "$1" $1 -c -o "$work/relet_local.o" $source
}

compiles "$CC"
compiles "$CC -O2 -Wall -Wextra"
compiles "$CC -std=c99 -pedantic-errors -Wall -Wextra -DRELET_TINY"
compiles "$CC -ffreestanding -Wall -Wextra -DNDEBUG -DRELET_NO_POLL"
given CLANG local_amalgamation_in_clang && compiles "$CLANG" &&
    compiles "$CLANG -std=c99 -pedantic-errors -Wall -Wextra"
given TCC local_amalgamation_in_tcc && compiles "$TCC"
given MUSL_GCC local_amalgamation_on_musl && compiles "$MUSL_GCC -Wall -Wextra"
given M32 local_amalgamation_for_32_bits &&
    compiles "$CC -m32 -O2 -Wall -Wextra ${M32_CFLAGS:-}"
given CC_BE local_amalgamation_for_big_endian &&
    compiles "$CC_BE -Wall -Wextra"
given COMPILER_CXX local_amalgamation_as_cxx &&
    compiles "$COMPILER_CXX -x c++ -std=c++11 -Wall -Wextra"
given CLANG local_amalgamation_as_cxx_in_clang &&
    compiles "$CLANG++ -x c++ -std=c++17 -Wall -Wextra"

# Both parts in one program: each has its own copy of the rooms they share.
cat >"$work/app.c" <<'END'
#include <stdlib.h>
#include "relet.h"
#include "relet_local.h"

static void *app_resize(void *user, void *p, size_t old_size, size_t size)
{
    (void)user;
    (void)old_size;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, size);
}

/* The other way, through the driver. */
static int app_by_url(void)
{
#ifdef RELET_NO_POLL
    return 1;
#else
    relet *r = relet_open("mem:", NULL, NULL, NULL);
    relet_span word = relet_str("PING");
    relet_event ev;
    int code = RELET_E_REFUSED;

    if (r != NULL)
        code = relet_call(r, &word, 1, &ev, 1000);
    relet_close(r);
    return code == 0;
#endif
}

int main(void)
{
    static const char ping[] = "*1\r\n$4\r\nPING\r\n";
    relet_local_config config = {0};
    void *memory = malloc(relet_local_size());
    const uint8_t *p = NULL;
    relet_local *l;
    size_t n;
    int id;

    config.resize = app_resize;
    l = relet_local_init(memory, relet_local_size(), &config);
    if (l == NULL)
        return 1;
    if (!app_by_url())
        return 3;
    id = relet_local_connect(l);
    relet_local_feed(l, id, ping, sizeof ping - 1);
    n = relet_local_output(l, id, &p);
    if (n != 7 || p[0] != '+' || p[1] != 'P')
        return 2;
    relet_local_finish(l);
    free(memory);
    return 0;
}
END
check "a program with both parts" "$CC" -DRELET_LOCAL -Ibuild/dist \
    -o "$work/app" "$work/app.c" build/dist/relet.c $source
check "which answers PING" "$work/app"
check "a program with the local server alone" "$CC" -DRELET_NO_POLL \
    -Ibuild/dist -o "$work/alone" "$work/app.c" $source
check "which answers PING too" "$work/alone"
total
