/* SPDX-License-Identifier: MIT
 *
 * luaarg.h - how a builtin reads its arguments and writes a long string.
 *
 * Arguments are counted from 1. For a wrong argument a function sets the error
 * of Lua 5.1 and returns -1. */
#ifndef RLT_LUAARG_H
#define RLT_LUAARG_H

#include "luaerr.h"

/* The arguments of a call. */
typedef struct rlt_luaargs {
    rlt_lua *L;
    uint32_t base;
    int n;
} rlt_luaargs;

static inline rlt_luaargs rlt_luaargs_of(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a;

    a.L = L;
    a.base = base;
    a.n = n;
    return a;
}

/* NULL: there is none. The address is good until the next call or room. */
static inline rlt_luaval *rlt_luaarg(const rlt_luaargs *a, int i)
{
    return i <= a->n ? &a->L->stack[a->base + (uint32_t)i - 1] : NULL;
}

/* One that is known to be there. */
static inline rlt_luaval *rlt_luaarg_given(const rlt_luaargs *a, int i)
{
    return &a->L->stack[a->base + (uint32_t)i - 1];
}

RELET_PRIVATE int rlt_luaarg_is_nothing(const rlt_luaargs *a, int i);
RELET_PRIVATE int rlt_luaarg_any(const rlt_luaargs *a, int i);
RELET_PRIVATE int rlt_luaarg_string(const rlt_luaargs *a, int i,
                                    relet_span *out);
RELET_PRIVATE int rlt_luaarg_number(const rlt_luaargs *a, int i, double *out);
/* Without the fraction; and in 32 bits, as C's int. */
RELET_PRIVATE int rlt_luaarg_int(const rlt_luaargs *a, int i, int64_t *out);
RELET_PRIVATE int rlt_luaarg_int32(const rlt_luaargs *a, int i, int64_t *out);
/* For a missing argument or nil, *out stays as it is. */
RELET_PRIVATE int rlt_luaarg_int_or(const rlt_luaargs *a, int i,
                                    int64_t *out);
RELET_PRIVATE int rlt_luaarg_int32_or(const rlt_luaargs *a, int i,
                                      int64_t *out);
RELET_PRIVATE int rlt_luaarg_table(const rlt_luaargs *a, int i,
                                   rlt_luatab **out);
RELET_PRIVATE int rlt_luaarg_function(const rlt_luaargs *a, int i);

/* Results: each returns 1, the number of them, or -1. */
RELET_PRIVATE int rlt_luapush(rlt_lua *L, rlt_luaval v);
RELET_PRIVATE int rlt_luapush_number(rlt_lua *L, double n);
RELET_PRIVATE int rlt_luapush_string(rlt_lua *L, const char *p, size_t n);
RELET_PRIVATE int rlt_luapush_text(rlt_lua *L, const char *text);

/* A string that grows. After a failure nothing is added any more. */
typedef struct rlt_luabytes {
    rlt_lua *L;
    char *p;
    size_t n, cap;
    int failed;
} rlt_luabytes;

RELET_PRIVATE void rlt_luabytes_init(rlt_luabytes *b, rlt_lua *L);
RELET_PRIVATE void rlt_luabytes_add(rlt_luabytes *b, const char *p, size_t n);
RELET_PRIVATE void rlt_luabytes_add_char(rlt_luabytes *b, char c);
/* As a result: 1, or -1 when it failed on the way. */
RELET_PRIVATE int rlt_luabytes_push(rlt_luabytes *b);

/* Pushes the text that tostring gives, such as "function: 0x…". */
RELET_PRIVATE int rlt_luapush_shown(rlt_lua *L, const rlt_luaval *v);

#endif
