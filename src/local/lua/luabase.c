/* SPDX-License-Identifier: MIT
 *
 * luabase.c - the global functions: pairs, pcall, tostring, …
 *
 * Left out: metatables, coroutines, load, and the functions of the garbage
 * collector. */
#include "lualib.h"

static int luabase_assert(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    relet_span text = relet_str("assertion failed!");
    const rlt_luaval *v = rlt_luaarg(&a, 1);
    rlt_luabytes b;
    char where[256];
    rlt_say say;

    if (rlt_luaarg_any(&a, 1) < 0)
        return -1;
    rlt_assert(v != NULL);
    if (!RLT_LUA_IS_FALSE(v))
        return n;
    if (!rlt_luaarg_is_nothing(&a, 2) && rlt_luaarg_string(&a, 2, &text) < 0)
        return -1;
    rlt_say_init(&say, where, sizeof where);
    rlt_luaerr_where(L, 1, &say);
    rlt_luabytes_init(&b, L);
    rlt_luabytes_add(&b, say.p, say.n);
    rlt_luabytes_add(&b, text.p, text.n);
    if (rlt_luabytes_push(&b) < 0)
        return -1;
    L->error = L->stack[--L->top];
    return -1;
}

static int luabase_error(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luaval v = n > 0 ? *rlt_luaarg_given(&a, 1) : rlt_luaval_nil();
    int64_t level = 1;
    rlt_luabytes b;
    char where[256];
    rlt_say say;

    if (rlt_luaarg_int32_or(&a, 2, &level) < 0)
        return -1;
    L->error = v;
    if (level <= 0 ||
        (v.type != RLT_LUA_STRING && v.type != RLT_LUA_NUMBER))
        return -1;
    rlt_say_init(&say, where, sizeof where);
    rlt_luaerr_where(L, (int)RLT_MIN(level, (int64_t)1 << 20), &say);
    if (rlt_luavm_to_string(L, &v) < 0)
        return -1;
    rlt_luabytes_init(&b, L);
    rlt_luabytes_add(&b, say.p, say.n);
    rlt_luabytes_add(&b, v.u.s->p, v.u.s->n);
    if (rlt_luabytes_push(&b) < 0)
        return -1;
    L->error = L->stack[--L->top];
    return -1;
}

static int luabase_step(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luatab *t;
    int64_t i;

    if (rlt_luaarg_int32(&a, 2, &i) < 0 || rlt_luaarg_table(&a, 1, &t) < 0)
        return -1;
    i++;
    if (rlt_luatab_get_int(t, i)->type == RLT_LUA_NIL)
        return 0;
    (void)rlt_luapush_number(L, (double)i);
    return 1 + rlt_luapush(L, *rlt_luatab_get_int(t, i));
}

static const rlt_luabuiltin luabase_step_function = {"ipairs", luabase_step};

static int luabase_walk(rlt_lua *L, rlt_luaval function, uint32_t base, int n,
                        rlt_luaval start)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luatab *t;

    if (rlt_luaarg_table(&a, 1, &t) < 0)
        return -1;
    (void)rlt_luapush(L, function);
    (void)rlt_luapush(L, rlt_luaval_table(t));
    (void)rlt_luapush(L, start);
    return 3;
}

static rlt_luaval luabase_value(const rlt_luabuiltin *b)
{
    rlt_luaval v;

    v.u.b = b;
    v.type = RLT_LUA_BUILTIN;
    return v;
}

static int luabase_ipairs(rlt_lua *L, uint32_t base, int n)
{
    return luabase_walk(L, luabase_value(&luabase_step_function), base, n,
                        rlt_luaval_number(0));
}

static int luabase_next(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luatab *t;
    rlt_luaval key = n > 1 ? *rlt_luaarg_given(&a, 2) : rlt_luaval_nil(), value;
    uint32_t place, from;

    if (rlt_luaarg_table(&a, 1, &t) < 0)
        return -1;
    if (!rlt_luatab_place(t, &key, &place))
        return rlt_luaerr_run(L, "invalid key to 'next'");
    from = place;
    if (!rlt_luatab_walk(t, &place, &key, &value))
        return rlt_luapush(L, rlt_luaval_nil());
    if (rlt_luavm_spend(L, (place - from) / 8) < 0)
        return -1;
    (void)rlt_luapush(L, key);
    return 1 + rlt_luapush(L, value);
}

static const rlt_luabuiltin luabase_next_function = {"next", luabase_next};

static int luabase_pairs(rlt_lua *L, uint32_t base, int n)
{
    return luabase_walk(L, luabase_value(&luabase_next_function), base, n,
                        rlt_luaval_nil());
}

/* ------------------------------------------------------------------ pcall */

/* Pushes the results of pcall for an error. Of a table with a text under "err",
 * the result is that text: so servers keep old scripts working. After any other
 * table servers leave the value of "err" as one more result. */
static int luabase_caught(rlt_lua *L)
{
    rlt_luaval v = L->error, text;

    (void)rlt_luapush(L, rlt_luaval_bool(0));
    if (v.type != RLT_LUA_TABLE)
        return 1 + rlt_luapush(L, v);
    text = *rlt_luatab_get_text(v.u.t, "err");
    if (text.type == RLT_LUA_STRING || text.type == RLT_LUA_NUMBER)
        return 1 + rlt_luapush(L, text);
    (void)rlt_luapush(L, v);
    return 2 + rlt_luapush(L, text);
}

static int luabase_pcall(rlt_lua *L, uint32_t base, int n)
{
    uint32_t frames = L->frames_n, nesting = L->nesting;

    /* Without arguments a server calls the value true, which is an error. */
    if (n == 0) {
        (void)rlt_luapush(L, rlt_luaval_bool(1));
        n = 1;
    }
    if (rlt_luavm_call(L, base, n - 1, RLT_LUA_ALL) < 0) {
        if (L->fatal)
            return -1;
        rlt_luavm_unwind(L, frames, base, nesting);
        return luabase_caught(L);
    }
    n = (int)(L->top - base);
    if (rlt_luavm_room(L, 1) < 0)
        return -1;
    memmove(&L->stack[base + 1], &L->stack[base],
            (size_t)n * sizeof *L->stack);
    L->stack[base] = rlt_luaval_bool(1);
    L->top++;
    return n + 1;
}

/* The handler is called where the error is caught, not where it happened:
 * without debug functions a script cannot tell the difference. */
static int luabase_xpcall(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    uint32_t frames = L->frames_n, nesting = L->nesting, top;
    rlt_luaval handler;

    if (n < 2)
        return rlt_luaerr_argument(L, 2, "value expected");
    handler = *rlt_luaarg_given(&a, 2);
    (void)rlt_luapush(L, rlt_luaval_bool(1));
    top = L->top;
    (void)rlt_luapush(L, *rlt_luaarg_given(&a, 1));
    if (rlt_luavm_call(L, top, 0, RLT_LUA_ALL) == 0)
        return (int)(L->top - top) + 1;
    if (L->fatal)
        return -1;
    rlt_luavm_unwind(L, frames, top, nesting);
    L->stack[top - 1] = rlt_luaval_bool(0);
    (void)rlt_luapush(L, handler);
    (void)rlt_luapush(L, L->error);
    if (rlt_luavm_call(L, top, 1, 1) == 0)
        return 2;
    if (L->fatal)
        return -1;
    rlt_luavm_unwind(L, frames, top, nesting);
    return 1 + rlt_luapush_text(L, "error in error handling");
}

/* -------------------------------------------------------------- raw access */

static int luabase_rawequal(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    int same;

    if (rlt_luaarg_any(&a, 1) < 0 || rlt_luaarg_any(&a, 2) < 0)
        return -1;
    same = rlt_luavm_same(L, rlt_luaarg_given(&a, 1),
                          rlt_luaarg_given(&a, 2));
    return same < 0 ? -1 : rlt_luapush(L, rlt_luaval_bool(same));
}

static int luabase_rawget(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luatab *t;

    if (rlt_luaarg_table(&a, 1, &t) < 0 || rlt_luaarg_any(&a, 2) < 0)
        return -1;
    return rlt_luapush(L, *rlt_luatab_get(t, rlt_luaarg_given(&a, 2)));
}

static int luabase_rawset(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luatab *t;

    if (rlt_luaarg_table(&a, 1, &t) < 0 || rlt_luaarg_any(&a, 2) < 0 ||
        rlt_luaarg_any(&a, 3) < 0 ||
        rlt_luavm_set(L, t, rlt_luaarg_given(&a, 2),
                      rlt_luaarg_given(&a, 3)) < 0)
        return -1;
    return rlt_luapush(L, rlt_luaval_table(t));
}

/* ------------------------------------------------------------ conversions */

static int luabase_select(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    const rlt_luaval *v = rlt_luaarg(&a, 1);
    int64_t i;

    if (v && v->type == RLT_LUA_STRING && v->u.s->n > 0 &&
        v->u.s->p[0] == '#')
        return rlt_luapush_number(L, n - 1);
    if (rlt_luaarg_int32(&a, 1, &i) < 0)
        return -1;
    if (i < 0)
        i += n;
    else if (i > n)
        i = n;
    if (i < 1)
        return rlt_luaerr_argument(L, 1, "index out of range");
    return n - (int)i;
}

static int luabase_tonumber(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    int64_t radix = 10;
    relet_span s;
    double v;

    if (rlt_luaarg_int32_or(&a, 2, &radix) < 0)
        return -1;
    if (radix == 10) {
        if (rlt_luaarg_any(&a, 1) < 0)
            return -1;
        if (rlt_luavm_number(L, rlt_luaarg_given(&a, 1), &v))
            return rlt_luapush_number(L, v);
        return rlt_luapush(L, rlt_luaval_nil());
    }
    if (rlt_luaarg_string(&a, 1, &s) < 0)
        return -1;
    if (radix < 2 || radix > 36)
        return rlt_luaerr_argument(L, 2, "base out of range");
    if (rlt_luavm_spend(L, s.n) < 0)
        return -1;
    if (rlt_luanum_read_base(s, (int)radix, &v))
        return rlt_luapush_number(L, v);
    return rlt_luapush(L, rlt_luaval_nil());
}

static int luabase_tostring(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);

    if (rlt_luaarg_any(&a, 1) < 0)
        return -1;
    return rlt_luapush_shown(L, rlt_luaarg_given(&a, 1));
}

static int luabase_type(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);

    if (rlt_luaarg_any(&a, 1) < 0)
        return -1;
    return rlt_luapush_text(L, rlt_luaval_type_name(rlt_luaarg_given(&a, 1)));
}

static int luabase_unpack(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luatab *t;
    int64_t from = 1, to, i;

    if (rlt_luaarg_table(&a, 1, &t) < 0 ||
        rlt_luaarg_int32_or(&a, 2, &from) < 0)
        return -1;
    to = rlt_luatab_length(t);
    if (rlt_luaarg_int32_or(&a, 3, &to) < 0)
        return -1;
    if (from > to)
        return 0;
    if (to - from + 1 + n > RLT_LUA_RESULTS_MAX)
        return rlt_luaerr(L, "too many results to unpack");
    if (rlt_luavm_room(L, (int)(to - from) + 1) < 0)
        return -1;
    for (i = from; i <= to; i++)
        rlt_luavm_push(L, *rlt_luatab_get_int(t, i));
    return (int)(to - from) + 1;
}

static const rlt_luabuiltin luabase_all[] = {
    {"assert", luabase_assert},     {"error", luabase_error},
    {"ipairs", luabase_ipairs},     {"next", luabase_next},
    {"pairs", luabase_pairs},       {"pcall", luabase_pcall},
    {"rawequal", luabase_rawequal}, {"rawget", luabase_rawget},
    {"rawset", luabase_rawset},     {"select", luabase_select},
    {"tonumber", luabase_tonumber}, {"tostring", luabase_tostring},
    {"type", luabase_type},         {"unpack", luabase_unpack},
    {"xpcall", luabase_xpcall}};

RELET_PRIVATE const rlt_luabuiltin *rlt_lualib_base(size_t *n)
{
    *n = sizeof luabase_all / sizeof luabase_all[0];
    return luabase_all;
}
