/* SPDX-License-Identifier: MIT
 *
 * luaval.c - the values of a script: strings, and the outside of tables.
 *
 * How tables grow is in luatab.c. */
#include "luaval.h"

RELET_PRIVATE const char *rlt_luaval_type_name(const rlt_luaval *v)
{
    switch (v->type) {
    case RLT_LUA_NIL:
        return "nil";
    case RLT_LUA_FALSE:
    case RLT_LUA_TRUE:
        return "boolean";
    case RLT_LUA_NUMBER:
        return "number";
    case RLT_LUA_STRING:
        return "string";
    case RLT_LUA_TABLE:
        return "table";
    case RLT_LUA_CLOSURE:
    case RLT_LUA_BUILTIN:
        return "function";
    }
    return "";
}

/* The hash of Lua 5.1, in which only every n-th byte of a long string counts. A
 * better hash would change the order of pairs(). */
RELET_PRIVATE uint32_t rlt_luastr_hash(const char *p, size_t n)
{
    uint32_t h = (uint32_t)n;
    size_t step = (n >> 5) + 1, i;

    for (i = n; i >= step; i -= step)
        h ^= (h << 5) + (h >> 2) + (uint8_t)p[i - 1];
    return h;
}

RELET_PRIVATE void rlt_luastr_seal(rlt_luastr *s)
{
    s->hash = rlt_luastr_hash(s->p, s->n);
}

RELET_PRIVATE rlt_luastr *rlt_luastr_lend(rlt_luamem *m, const char *p,
                                          size_t n)
{
    rlt_luastr *s;

    if (n > RLT_LUA_STRING_MAX)
        return NULL;
    s = (rlt_luastr *)rlt_luamem_get(m, sizeof *s);
    if (s == NULL)
        return NULL;
    s->p = n > 0 ? p : "";
    s->n = (uint32_t)n;
    rlt_luastr_seal(s);
    return s;
}

RELET_PRIVATE rlt_luastr *rlt_luastr_make(rlt_luamem *m, size_t n,
                                          char **bytes)
{
    rlt_luastr *s;

    if (n > RLT_LUA_STRING_MAX)
        return NULL;
    s = (rlt_luastr *)rlt_luamem_get(m, sizeof *s + n);
    if (s == NULL)
        return NULL;
    *bytes = (char *)(s + 1);
    s->p = *bytes;
    s->n = (uint32_t)n;
    s->hash = 0;
    return s;
}

RELET_PRIVATE rlt_luastr *rlt_luastr_copy(rlt_luamem *m, const char *p,
                                          size_t n)
{
    char *bytes;
    rlt_luastr *s = rlt_luastr_make(m, n, &bytes);

    if (s == NULL)
        return NULL;
    if (n > 0)
        memcpy(bytes, p, n);
    rlt_luastr_seal(s);
    return s;
}

RELET_PRIVATE int rlt_luastr_order(const rlt_luastr *a, const rlt_luastr *b)
{
    int r = memcmp(a->p, b->p, RLT_MIN(a->n, b->n));

    return r ? r : (a->n > b->n) - (a->n < b->n);
}

RELET_PRIVATE int rlt_luaval_same(const rlt_luaval *a, const rlt_luaval *b)
{
    if (a->type != b->type)
        return 0;
    switch (a->type) {
    case RLT_LUA_NIL:
    case RLT_LUA_FALSE:
    case RLT_LUA_TRUE:
        return 1;
    case RLT_LUA_NUMBER:
        return a->u.n == b->u.n;
    case RLT_LUA_STRING:
        return rlt_luastr_same(a->u.s, b->u.s);
    case RLT_LUA_TABLE:
        return a->u.t == b->u.t;
    case RLT_LUA_CLOSURE:
        return a->u.f == b->u.f;
    case RLT_LUA_BUILTIN:
        return a->u.b == b->u.b;
    }
    return 0;
}

RELET_PRIVATE uint32_t rlt_luatab_hint(uint32_t n)
{
    uint32_t e = 0;

    while (n >= 16) {
        n = (n + 1) >> 1;
        e++;
    }
    return n << e;
}
