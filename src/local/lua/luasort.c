/* SPDX-License-Identifier: MIT
 *
 * luasort.c - table.sort.
 *
 * A quicksort that is not stable. Scripts can see which of two equal elements
 * comes first, and which comparisons are made with an inconsistent order
 * function. So pivot and steps are those of Lua 5.1. */
#include "lualib.h"

/* Ranges that wait; the larger half waits, so there are few. */
#define LUASORT_RANGES 40

typedef struct luasort {
    rlt_lua *L;
    rlt_luatab *t;
    rlt_luaval less; /* a function, or nil                                   */
} luasort;

static rlt_luaval luasort_at(const luasort *s, int64_t i)
{
    return *rlt_luatab_get_int(s->t, i);
}

static int luasort_set(luasort *s, int64_t i, rlt_luaval v)
{
    return rlt_luavm_set_int(s->L, s->t, i, &v);
}

static int luasort_swap(luasort *s, int64_t i, int64_t j)
{
    rlt_luaval a = luasort_at(s, i), b = luasort_at(s, j);

    return luasort_set(s, i, b) < 0 || luasort_set(s, j, a) < 0 ? -1 : 0;
}

/* a < b: 1, 0, or negative. */
static int luasort_less(luasort *s, rlt_luaval a, rlt_luaval b)
{
    rlt_lua *L = s->L;
    uint32_t func = L->top;
    int r;

    if (rlt_luavm_spend(L, 1) < 0)
        return -1;
    if (s->less.type == RLT_LUA_NIL)
        return rlt_luavm_less(L, &a, &b, 0);
    if (rlt_luavm_room(L, 3) < 0)
        return -1;
    rlt_luavm_push(L, s->less);
    rlt_luavm_push(L, a);
    rlt_luavm_push(L, b);
    if (rlt_luavm_call(L, func, 2, 1) < 0)
        return -1;
    r = !RLT_LUA_IS_FALSE(&L->stack[func]);
    L->top = func;
    return r;
}

/* Swap when the element at i is less than that at j: 1, 0, or negative. */
static int luasort_order(luasort *s, int64_t i, int64_t j)
{
    int less = luasort_less(s, luasort_at(s, i), luasort_at(s, j));

    if (less > 0 && luasort_swap(s, i, j) < 0)
        return -1;
    return less;
}

/* First, middle and last in order; 1 when that was all of them. */
static int luasort_three(luasort *s, int64_t low, int64_t high)
{
    int64_t middle = (low + high) / 2;
    int e;

    if (luasort_order(s, high, low) < 0)
        return -1;
    if (high - low == 1)
        return 1;
    e = luasort_order(s, middle, low);
    if (e == 0)
        e = luasort_order(s, high, middle);
    if (e < 0)
        return -1;
    return high - low == 2;
}

static int luasort_invalid(luasort *s)
{
    return rlt_luaerr(s->L, "invalid order function for sorting");
}

/* The next element from i on that is not less than the pivot. */
static int luasort_up(luasort *s, int64_t *i, rlt_luaval pivot, int64_t high)
{
    int less;

    for (;;) {
        less = luasort_less(s, luasort_at(s, ++*i), pivot);
        if (less <= 0)
            return less;
        if (*i > high)
            return luasort_invalid(s);
    }
}

static int luasort_down(luasort *s, int64_t *j, rlt_luaval pivot, int64_t low)
{
    int less;

    for (;;) {
        less = luasort_less(s, pivot, luasort_at(s, --*j));
        if (less <= 0)
            return less;
        if (*j < low)
            return luasort_invalid(s);
    }
}

/* Where the pivot ends up: smaller ones before it, larger ones behind. */
static int luasort_split(luasort *s, int64_t low, int64_t high, int64_t *at)
{
    int64_t i = low, j = high - 1;
    rlt_luaval pivot = luasort_at(s, (low + high) / 2);

    if (luasort_swap(s, (low + high) / 2, high - 1) < 0)
        return -1;
    for (;;) {
        if (luasort_up(s, &i, pivot, high) < 0 ||
            luasort_down(s, &j, pivot, low) < 0)
            return -1;
        if (j < i)
            break;
        if (luasort_swap(s, i, j) < 0)
            return -1;
    }
    *at = i;
    return luasort_swap(s, high - 1, i);
}

static int luasort_run(luasort *s, int64_t low, int64_t high)
{
    struct {
        int64_t low, high;
    } wait[LUASORT_RANGES];
    int n = 0, e;
    int64_t at = 0;

    for (;;) {
        while (low < high) {
            e = luasort_three(s, low, high);
            if (e < 0)
                return -1;
            if (e > 0)
                break;
            if (luasort_split(s, low, high, &at) < 0)
                return -1;
            /* The smaller half first, as it would be by recursion. */
            rlt_assert(n < LUASORT_RANGES);
            if (at - low < high - at) {
                wait[n].low = at + 1;
                wait[n++].high = high;
                high = at - 1;
            } else {
                wait[n].low = low;
                wait[n++].high = at - 1;
                low = at + 1;
            }
        }
        if (n == 0)
            return 0;
        low = wait[--n].low;
        high = wait[n].high;
    }
}

RELET_PRIVATE int rlt_lualib_sort(rlt_lua *L, uint32_t base, int n)
{
    rlt_luaargs a = rlt_luaargs_of(L, base, n);
    luasort s;

    s.L = L;
    s.less = rlt_luaval_nil();
    if (rlt_luaarg_table(&a, 1, &s.t) < 0)
        return -1;
    if (!rlt_luaarg_is_nothing(&a, 2)) {
        if (rlt_luaarg_function(&a, 2) < 0)
            return -1;
        s.less = *rlt_luaarg_given(&a, 2);
    }
    return luasort_run(&s, 1, rlt_luatab_length(s.t));
}
