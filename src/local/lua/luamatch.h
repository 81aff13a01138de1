/* SPDX-License-Identifier: MIT
 *
 * luamatch.h - the patterns of Lua 5.1. */
#ifndef RLT_LUAMATCH_H
#define RLT_LUAMATCH_H

#include "luaarg.h"
#include "luaexec.h"

#define RLT_LUAMATCH_CAPTURES 32

/* The depth of recursion in a match, which bounds the C stack. */
#define RLT_LUAMATCH_DEPTH (RLT_TINY ? 20 : 200)

typedef struct rlt_luamatch {
    rlt_lua *L;
    const char *source, *end; /* of the text                                 */
    const char *pattern_end;
    int depth, failed;        /* failed: the error is set                    */
    int captures;
    struct {
        const char *p;
        ptrdiff_t n; /* or one of the two below                              */
    } capture[RLT_LUAMATCH_CAPTURES];
} rlt_luamatch;

#define RLT_LUAMATCH_UNFINISHED (-1)
#define RLT_LUAMATCH_POSITION (-2)

RELET_PRIVATE void rlt_luamatch_init(rlt_luamatch *m, rlt_lua *L,
                                     relet_span text, relet_span *pattern);

/* Where a match that begins at s ends, or NULL: none, or failed. */
RELET_PRIVATE const char *rlt_luamatch_at(rlt_luamatch *m, const char *s,
                                          const char *pattern);

/* Push capture i; [s, e) is the whole match, capture 0 when there is none.
 * 1, or negative. */
RELET_PRIVATE int rlt_luamatch_push(rlt_luamatch *m, int i, const char *s,
                                    const char *e);
/* Push them all; s NULL: only those that there are. How many, or negative. */
RELET_PRIVATE int rlt_luamatch_push_all(rlt_luamatch *m, const char *s,
                                        const char *e);

RELET_PRIVATE int rlt_luamatch_find(rlt_lua *L, uint32_t base, int n);
RELET_PRIVATE int rlt_luamatch_match(rlt_lua *L, uint32_t base, int n);
RELET_PRIVATE int rlt_luamatch_gmatch(rlt_lua *L, uint32_t base, int n);
RELET_PRIVATE int rlt_luamatch_gsub(rlt_lua *L, uint32_t base, int n);

#endif
