/* SPDX-License-Identifier: MIT
 *
 * luaarg.c - how a builtin reads its arguments and writes a long string. */
#include "luaarg.h"

RELET_PRIVATE int rlt_luaarg_is_nothing(const rlt_luaargs *a, int i)
{
    const rlt_luaval *v = rlt_luaarg(a, i);

    return v == NULL || v->type == RLT_LUA_NIL;
}

RELET_PRIVATE int rlt_luaarg_any(const rlt_luaargs *a, int i)
{
    return rlt_luaarg(a, i) ? 0
                            : rlt_luaerr_argument(a->L, i, "value expected");
}

RELET_PRIVATE int rlt_luaarg_string(const rlt_luaargs *a, int i,
                                    relet_span *out)
{
    rlt_luaval *v = rlt_luaarg(a, i);

    if (v && v->type == RLT_LUA_NUMBER && rlt_luavm_to_string(a->L, v) < 0)
        return -1;
    if (v == NULL || v->type != RLT_LUA_STRING)
        return rlt_luaerr_expected(a->L, i, v, "string");
    *out = rlt_luastr_span(v->u.s);
    return 0;
}

RELET_PRIVATE int rlt_luaarg_number(const rlt_luaargs *a, int i, double *out)
{
    const rlt_luaval *v = rlt_luaarg(a, i);

    if (v == NULL || !rlt_luavm_number(a->L, v, out))
        return rlt_luaerr_expected(a->L, i, v, "number");
    return 0;
}

RELET_PRIVATE int rlt_luaarg_int(const rlt_luaargs *a, int i, int64_t *out)
{
    double n;

    if (rlt_luaarg_number(a, i, &n) < 0)
        return -1;
    *out = rlt_luanum_int(n);
    return 0;
}

RELET_PRIVATE int rlt_luaarg_int32(const rlt_luaargs *a, int i, int64_t *out)
{
    int64_t v;
    uint32_t low;

    if (rlt_luaarg_int(a, i, &v) < 0)
        return -1;
    low = (uint32_t)(uint64_t)v;
    *out = low < (uint32_t)1 << 31 ? (int64_t)low
                                   : (int64_t)low - ((int64_t)1 << 32);
    return 0;
}

RELET_PRIVATE int rlt_luaarg_int_or(const rlt_luaargs *a, int i, int64_t *out)
{
    return rlt_luaarg_is_nothing(a, i) ? 0 : rlt_luaarg_int(a, i, out);
}

RELET_PRIVATE int rlt_luaarg_int32_or(const rlt_luaargs *a, int i,
                                      int64_t *out)
{
    return rlt_luaarg_is_nothing(a, i) ? 0 : rlt_luaarg_int32(a, i, out);
}

RELET_PRIVATE int rlt_luaarg_table(const rlt_luaargs *a, int i,
                                   rlt_luatab **out)
{
    const rlt_luaval *v = rlt_luaarg(a, i);

    *out = NULL;
    if (v == NULL || v->type != RLT_LUA_TABLE)
        return rlt_luaerr_expected(a->L, i, v, "table");
    *out = v->u.t;
    return 0;
}

RELET_PRIVATE int rlt_luaarg_function(const rlt_luaargs *a, int i)
{
    const rlt_luaval *v = rlt_luaarg(a, i);

    if (v && (v->type == RLT_LUA_CLOSURE || v->type == RLT_LUA_BUILTIN))
        return 0;
    return rlt_luaerr_expected(a->L, i, v, "function");
}

RELET_PRIVATE int rlt_luapush(rlt_lua *L, rlt_luaval v)
{
    rlt_luavm_push(L, v);
    return 1;
}

RELET_PRIVATE int rlt_luapush_number(rlt_lua *L, double n)
{
    return rlt_luapush(L, rlt_luaval_number(n));
}

RELET_PRIVATE int rlt_luapush_string(rlt_lua *L, const char *p, size_t n)
{
    const rlt_luastr *s = rlt_luavm_string(L, p, n);

    return s ? rlt_luapush(L, rlt_luaval_string(s)) : -1;
}

RELET_PRIVATE int rlt_luapush_text(rlt_lua *L, const char *text)
{
    return rlt_luapush_string(L, text, strlen(text));
}

/* ---------------------------------------------------------- growing strings */

RELET_PRIVATE void rlt_luabytes_init(rlt_luabytes *b, rlt_lua *L)
{
    memset(b, 0, sizeof *b);
    b->L = L;
}

static int luabytes_room(rlt_luabytes *b, size_t n)
{
    size_t cap = RLT_MAX(b->cap * 2, RLT_MAX(b->n + n, (size_t)128));
    char *p;

    if (b->failed || n <= b->cap - b->n)
        return !b->failed;
    b->failed = 1;
    if (n > RLT_LUA_STRING_MAX || b->n + n > RLT_LUA_STRING_MAX)
        return rlt_luaerr_memory(b->L) == 0;
    if (rlt_luavm_spend(b->L, cap / 64) < 0)
        return 0;
    p = (char *)rlt_luavm_alloc(b->L, cap);
    if (p == NULL)
        return 0;
    if (b->n > 0)
        memcpy(p, b->p, b->n);
    b->p = p;
    b->cap = cap;
    b->failed = 0;
    return 1;
}

RELET_PRIVATE void rlt_luabytes_add(rlt_luabytes *b, const char *p, size_t n)
{
    if (n == 0 || !luabytes_room(b, n))
        return;
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

RELET_PRIVATE void rlt_luabytes_add_char(rlt_luabytes *b, char c)
{
    if ((b->n < b->cap && !b->failed) || luabytes_room(b, 1))
        b->p[b->n++] = c;
}

RELET_PRIVATE int rlt_luabytes_push(rlt_luabytes *b)
{
    const rlt_luastr *s;

    if (b->failed)
        return -1;
    s = rlt_luastr_lend(&b->L->run, b->p, b->n);
    if (s == NULL)
        return rlt_luaerr_memory(b->L);
    return rlt_luapush(b->L, rlt_luaval_string(s));
}

/* --------------------------------------------------------------- tostring */

/* Servers show an address here; this is a number that each run repeats. */
static int luaarg_push_address(rlt_lua *L, const char *type, uint32_t serial)
{
    char buffer[48], hex[13];
    rlt_say say;
    int i;

    memcpy(hex, "7fff", 4);
    for (i = 0; i < 8; i++)
        hex[4 + i] = "0123456789abcdef"[serial >> (28 - 4 * i) & 15];
    hex[12] = 0;
    rlt_say_init(&say, buffer, sizeof buffer);
    rlt_say_text(&say, type);
    rlt_say_text(&say, ": 0x");
    rlt_say_text(&say, hex);
    return rlt_luapush_string(L, say.p, say.n);
}

RELET_PRIVATE int rlt_luapush_shown(rlt_lua *L, const rlt_luaval *v)
{
    char text[RLT_LUANUM_TEXT];
    const char *name;

    switch (v->type) {
    case RLT_LUA_NIL:
        return rlt_luapush_text(L, "nil");
    case RLT_LUA_FALSE:
        return rlt_luapush_text(L, "false");
    case RLT_LUA_TRUE:
        return rlt_luapush_text(L, "true");
    case RLT_LUA_NUMBER:
        return rlt_luapush_string(L, text, rlt_luavm_text(L, text, v->u.n));
    case RLT_LUA_STRING:
        return rlt_luapush(L, *v);
    case RLT_LUA_TABLE:
        return luaarg_push_address(L, "table", v->u.t->serial);
    case RLT_LUA_CLOSURE:
        return luaarg_push_address(L, "function", v->u.f->serial);
    case RLT_LUA_BUILTIN:
        name = v->u.b->name;
        return luaarg_push_address(L, "function",
                                   rlt_luastr_hash(name, strlen(name)));
    }
    return -1;
}
