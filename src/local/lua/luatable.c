/* SPDX-License-Identifier: MIT
 *
 * luatable.c - the table library, sort apart. */
#include "lualib.h"

static int luatable_length(const rlt_luaargs *a, rlt_luatab **t,
                           int64_t *length)
{
    if (rlt_luaarg_table(a, 1, t) < 0)
        return -1;
    *length = rlt_luatab_length(*t);
    return 0;
}

static int luatable_concat_one(rlt_lua *L, rlt_luabytes *b,
                               const rlt_luatab *t, int64_t i)
{
    rlt_luaval v = *rlt_luatab_get_int(t, i);
    char text[RLT_LUANUM_TEXT], sentence[96];
    rlt_say say;

    if (v.type == RLT_LUA_STRING) {
        rlt_luabytes_add(b, v.u.s->p, v.u.s->n);
        return b->failed ? -1 : rlt_luavm_spend(L, 1);
    }
    if (v.type == RLT_LUA_NUMBER) {
        rlt_luabytes_add(b, text, rlt_luavm_text(b->L, text, v.u.n));
        return b->failed ? -1 : rlt_luavm_spend(L, 1);
    }
    rlt_say_init(&say, sentence, sizeof sentence);
    rlt_say_text(&say, "invalid value (");
    rlt_say_text(&say, rlt_luaval_type_name(&v));
    rlt_say_text(&say, ") at index ");
    rlt_say_int(&say, i);
    rlt_say_text(&say, " in table for 'concat'");
    return rlt_luaerr(L, sentence);
}

static int luatable_concat(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    relet_span between = relet_str("");
    rlt_luatab *t;
    rlt_luabytes b;
    int64_t i = 1, last;

    if (!rlt_luaarg_is_nothing(&a, 2) &&
        rlt_luaarg_string(&a, 2, &between) < 0)
        return -1;
    if (luatable_length(&a, &t, &last) < 0 ||
        rlt_luaarg_int32_or(&a, 3, &i) < 0 ||
        rlt_luaarg_int32_or(&a, 4, &last) < 0)
        return -1;
    rlt_luabytes_init(&b, L);
    for (; i <= last; i++) {
        if (luatable_concat_one(L, &b, t, i) < 0)
            return -1;
        if (i < last)
            rlt_luabytes_add(&b, between.p, between.n);
    }
    return rlt_luabytes_push(&b);
}

/* Calls the function for a pair. 1 if its result, which stays on top, is not
 * nil and ends the walk. */
static int luatable_tell(rlt_lua *L, rlt_luaval function, rlt_luaval key,
                         rlt_luaval value)
{
    uint32_t func = L->top;

    if (rlt_luavm_room(L, 3) < 0)
        return -1;
    rlt_luavm_push(L, function);
    rlt_luavm_push(L, key);
    rlt_luavm_push(L, value);
    if (rlt_luavm_call(L, func, 2, 1) < 0)
        return -1;
    if (L->stack[func].type != RLT_LUA_NIL)
        return 1;
    L->top--;
    return 0;
}

static int luatable_foreach(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luatab *t;
    rlt_luaval f, key = rlt_luaval_nil(), value;
    uint32_t place;
    int e;

    if (rlt_luaarg_table(&a, 1, &t) < 0 || rlt_luaarg_function(&a, 2) < 0)
        return -1;
    f = *rlt_luaarg_given(&a, 2);
    for (;;) {
        if (!rlt_luatab_place(t, &key, &place))
            return rlt_luaerr_run(L, "invalid key to 'next'");
        if (!rlt_luatab_walk(t, &place, &key, &value))
            return 0;
        e = luatable_tell(L, f, key, value);
        if (e != 0)
            return e;
    }
}

static int luatable_foreachi(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luatab *t;
    rlt_luaval f;
    int64_t i, last;
    int e;

    if (luatable_length(&a, &t, &last) < 0 || rlt_luaarg_function(&a, 2) < 0)
        return -1;
    f = *rlt_luaarg_given(&a, 2);
    for (i = 1; i <= last; i++) {
        e = luatable_tell(L, f, rlt_luaval_number((double)i),
                          *rlt_luatab_get_int(t, i));
        if (e != 0)
            return e;
    }
    return 0;
}

static int luatable_getn(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luatab *t;
    int64_t length;

    if (luatable_length(&a, &t, &length) < 0)
        return -1;
    return rlt_luapush_number(L, (double)length);
}

static int luatable_setn(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luatab *t;

    if (rlt_luaarg_table(&a, 1, &t) < 0)
        return -1;
    return rlt_luaerr(L, "'setn' is obsolete");
}

static int luatable_move(rlt_lua *L, rlt_luatab *t, int64_t to, int64_t from)
{
    rlt_luaval v = *rlt_luatab_get_int(t, from);

    if (rlt_luavm_spend(L, 1) < 0)
        return -1;
    return rlt_luavm_set_int(L, t, to, &v);
}

static int luatable_insert(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luatab *t;
    int64_t end, at, i;
    rlt_luaval v;

    if (luatable_length(&a, &t, &end) < 0)
        return -1;
    at = ++end;
    if (n != 2 && n != 3)
        return rlt_luaerr(L, "wrong number of arguments to 'insert'");
    if (n == 3 && rlt_luaarg_int32(&a, 2, &at) < 0)
        return -1;
    for (i = RLT_MAX(end, at); i > at; i--)
        if (luatable_move(L, t, i, i - 1) < 0)
            return -1;
    v = *rlt_luaarg_given(&a, n);
    return rlt_luavm_set_int(L, t, at, &v);
}

static int luatable_remove(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luatab *t;
    int64_t end, at;
    rlt_luaval nil = rlt_luaval_nil();

    if (luatable_length(&a, &t, &end) < 0)
        return -1;
    at = end;
    if (rlt_luaarg_int32_or(&a, 2, &at) < 0)
        return -1;
    if (at < 1 || at > end)
        return 0;
    (void)rlt_luapush(L, *rlt_luatab_get_int(t, at));
    for (; at < end; at++)
        if (luatable_move(L, t, at, at + 1) < 0)
            return -1;
    return rlt_luavm_set_int(L, t, end, &nil) < 0 ? -1 : 1;
}

static int luatable_maxn(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    rlt_luatab *t;
    rlt_luaval key, value;
    uint32_t place = 0;
    double max = 0;

    if (rlt_luaarg_table(&a, 1, &t) < 0 ||
        rlt_luavm_spend(L, (t->array_n + t->nodes_n) / 8) < 0)
        return -1;
    while (rlt_luatab_walk(t, &place, &key, &value))
        if (key.type == RLT_LUA_NUMBER && key.u.n > max)
            max = key.u.n;
    return rlt_luapush_number(L, max);
}

static const rlt_luabuiltin luatable_all[] = {
    {"concat", luatable_concat},     {"foreach", luatable_foreach},
    {"foreachi", luatable_foreachi}, {"getn", luatable_getn},
    {"insert", luatable_insert},     {"maxn", luatable_maxn},
    {"remove", luatable_remove},     {"setn", luatable_setn},
    {"sort", rlt_lualib_sort}};

RELET_PRIVATE const rlt_luabuiltin *rlt_lualib_table(size_t *n)
{
    *n = sizeof luatable_all / sizeof luatable_all[0];
    return luatable_all;
}
