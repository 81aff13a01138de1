/* SPDX-License-Identifier: MIT
 *
 * luavm.c - calls, and the loop over instructions.
 *
 * What the instructions do with values is in luaexec.c. */
#include "luaexec.h"

/* -------------------------------------------------------------- the stack */

static int luavm_grow(rlt_lua *L, size_t need)
{
    size_t cap = RLT_MAX((size_t)L->stack_cap * 2, need + RLT_LUA_SLOTS);
    rlt_luaval *fresh;
    rlt_luacell *c;

    if (need > RLT_LUA_STACK_MAX)
        return rlt_luaerr_run(L, "stack overflow");
    cap = RLT_MIN(cap, (size_t)RLT_LUA_STACK_MAX + RLT_LUA_SLOTS);
    fresh = (rlt_luaval *)L->memory.resize(L->memory.user, NULL, 0,
                                           cap * sizeof *fresh);
    if (fresh == NULL)
        return rlt_luaerr_memory(L);
    memset(fresh, 0, cap * sizeof *fresh);
    if (L->stack_cap > 0)
        memcpy(fresh, L->stack, L->stack_cap * sizeof *fresh);
    for (c = L->open; c; c = c->next)
        c->at = fresh + (c->at - L->stack);
    if (L->stack)
        (void)L->memory.resize(L->memory.user, L->stack,
                               L->stack_cap * sizeof *fresh, 0);
    L->stack = fresh;
    L->stack_cap = (uint32_t)cap;
    return 0;
}

/* Slots up to `end` exist. */
static int luavm_reach(rlt_lua *L, size_t end)
{
    return RLT_LIKELY(end <= L->stack_cap) ? 0 : luavm_grow(L, end);
}

RELET_PRIVATE int rlt_luavm_room(rlt_lua *L, int n)
{
    return luavm_reach(L, (size_t)L->top + (size_t)n);
}

static int luavm_frames_grow(rlt_lua *L)
{
    uint32_t cap = L->frames_cap > 0 ? L->frames_cap * 2 : 8;
    rlt_luaframe *fresh;

    if (L->frames_cap >= RLT_LUA_CALLS_MAX)
        return rlt_luaerr_run(L, "stack overflow");
    cap = RLT_MIN(cap, (uint32_t)RLT_LUA_CALLS_MAX);
    fresh = (rlt_luaframe *)L->memory.resize(
        L->memory.user, L->frames, L->frames_cap * sizeof *fresh,
        cap * sizeof *fresh);
    if (fresh == NULL)
        return rlt_luaerr_memory(L);
    L->frames = fresh;
    L->frames_cap = cap;
    return 0;
}

static rlt_luaframe *luavm_frame(rlt_lua *L, uint32_t func, int want)
{
    rlt_luaframe *f;

    if (L->frames_n == L->frames_cap && luavm_frames_grow(L) < 0)
        return NULL;
    f = &L->frames[L->frames_n++];
    f->fn = NULL;
    f->pc = NULL;
    f->func = func;
    f->base = func + 1;
    f->want = want;
    f->tail_calls = 0;
    f->returns_to_c = 0;
    return f;
}

/* -------------------------------------------------------------- upvalues */

RELET_PRIVATE rlt_luacell *rlt_luavm_cell(rlt_lua *L, rlt_luaval *at)
{
    rlt_luacell **place = &L->open, *c;

    while (*place && (*place)->at > at)
        place = &(*place)->next;
    c = *place;
    if (c && c->at == at)
        return c;
    c = (rlt_luacell *)rlt_luavm_alloc(L, sizeof *c);
    if (c == NULL)
        return NULL;
    c->at = at;
    c->next = *place;
    *place = c;
    return c;
}

/* The stack from `from` on is left: shared variables there move into their
 * cells. */
RELET_PRIVATE void rlt_luavm_close(rlt_lua *L, const rlt_luaval *from)
{
    while (L->open && L->open->at >= from) {
        rlt_luacell *c = L->open;

        L->open = c->next;
        c->own = *c->at;
        c->at = &c->own;
    }
}

RELET_PRIVATE void rlt_luavm_unwind(rlt_lua *L, uint32_t frames_n,
                                    uint32_t top, uint32_t nesting)
{
    if (L->open)
        rlt_luavm_close(L, L->stack + top);
    L->frames_n = frames_n;
    L->top = top;
    L->nesting = nesting;
}

/* ----------------------------------------------------------------- calls */

/* The n values below the top become the results in a function's place. */
static void luavm_results(rlt_lua *L, uint32_t func, int want,
                          const rlt_luaval *from, int n)
{
    rlt_luaval *to = L->stack + func;
    int i;

    if (want == 1 && n > 0) {
        *to = *from;
        L->top = func + 1;
        return;
    }
    if (want < 0)
        want = n;
    L->steps -= want / 16; /* copying counts, so that it has an end          */
    for (i = 0; i < want && i < n; i++)
        to[i] = from[i];
    for (; i < want; i++)
        to[i] = rlt_luaval_nil();
    L->top = func + (uint32_t)want;
}

static int luavm_call_builtin(rlt_lua *L, uint32_t func, int want,
                              const rlt_luabuiltin *b, const rlt_luafn *fn)
{
    uint32_t base = func + 1;
    rlt_luaframe *f = luavm_frame(L, func, want);
    int n;

    if (f == NULL)
        return -1;
    f->fn = fn;
    if (luavm_reach(L, (size_t)L->top + RLT_LUA_SLOTS) < 0)
        return -1;
    n = b->fn(L, base, (int)(L->top - base));
    if (n < 0)
        return -1;
    L->frames_n--;
    luavm_results(L, func, want, L->stack + L->top - n, n);
    return LUAEXEC_DONE;
}

/* Arguments that have no name stay below the first register; those that have
 * one are moved above them. */
static int luavm_vararg(rlt_lua *L, rlt_luaframe *f, const rlt_luaproto *p,
                        int n)
{
    uint32_t base = L->top, i;
    rlt_luatab *t = NULL;
    rlt_luaval v;

    if (luavm_reach(L, (size_t)base + p->stack + RLT_LUA_SLOTS) < 0)
        return -1;
    for (i = 0; i < p->params; i++) {
        L->stack[base + i] = (int)i < n ? L->stack[f->func + 1 + i]
                                        : rlt_luaval_nil();
        if ((int)i < n)
            L->stack[f->func + 1 + i] = rlt_luaval_nil();
    }
    f->base = base;
    if (!(p->vararg & RLT_LUA_VARARG_TABLE)) {
        L->stack[base + i] = rlt_luaval_nil(); /* where a table might be     */
        return 0;
    }
    n = RLT_MAX(n - p->params, 0);
    t = rlt_luavm_table(L, (uint32_t)n, 1);
    if (t == NULL)
        return -1;
    for (i = 0; (int)i < n; i++)
        t->array[i] = L->stack[f->func + 1 + p->params + i];
    L->stack[base + p->params] = rlt_luaval_table(t);
    v = rlt_luaval_string(rlt_luavm_string(L, "n", 1));
    return v.u.s ? rlt_luavm_set_field(L, t, &v, (double)n) : -1;
}

static int luavm_call_closure(rlt_lua *L, uint32_t func, int want,
                              const rlt_luafn *fn)
{
    const rlt_luaproto *p = fn->proto;
    int n = (int)(L->top - func) - 1, i;
    rlt_luaframe *f;

    if (luavm_reach(L, (size_t)func + 1 + p->stack + RLT_LUA_SLOTS) < 0)
        return -1;
    f = luavm_frame(L, func, want);
    if (f == NULL)
        return -1;
    f->fn = fn;
    if (p->vararg == 0) {
        for (i = n; i < p->params; i++)
            L->stack[func + 1 + (uint32_t)i] = rlt_luaval_nil();
    } else {
        /* Missing arguments count as given: they are below all others. */
        for (; n < p->params; n++)
            L->stack[L->top++] = rlt_luaval_nil();
        if (luavm_vararg(L, f, p, n) < 0) {
            L->frames_n--;
            return -1;
        }
    }
    f->pc = p->ops;
    return LUAEXEC_ENTERED;
}

RELET_PRIVATE int rlt_luavm_enter(rlt_lua *L, uint32_t func, int want)
{
    const rlt_luaval *v = &L->stack[func];

    if (RLT_UNLIKELY(--L->steps < 0))
        return rlt_luaerr_steps(L);
    if (v->type == RLT_LUA_BUILTIN)
        return luavm_call_builtin(L, func, want, v->u.b, NULL);
    if (v->type != RLT_LUA_CLOSURE)
        return rlt_luaerr_type(L, v, "call");
    if (v->u.f->proto)
        return luavm_call_closure(L, func, want, v->u.f);
    return luavm_call_builtin(L, func, want, v->u.f->builtin, v->u.f);
}

RELET_PRIVATE int rlt_luavm_call(rlt_lua *L, uint32_t func, int n, int want)
{
    int r;

    L->top = func + 1 + (uint32_t)n;
    if (++L->nesting >= RLT_LUA_NESTING_MAX)
        return rlt_luaerr_run(L, "C stack overflow");
    r = rlt_luavm_enter(L, func, want);
    if (r == LUAEXEC_ENTERED) {
        L->frames[L->frames_n - 1].returns_to_c = 1;
        r = rlt_luaexec(L);
    }
    if (r < 0)
        return -1;
    L->nesting--;
    return 0;
}

/* The function of this frame is another one from now on, with the arguments
 * that stand behind it. */
RELET_PRIVATE int rlt_luavm_tail_call(rlt_lua *L, uint32_t func)
{
    rlt_luaframe old = L->frames[L->frames_n - 1], *f;
    uint32_t n = L->top - func, i;

    if (L->stack[func].type != RLT_LUA_CLOSURE ||
        L->stack[func].u.f->proto == NULL)
        return rlt_luavm_enter(L, func, RLT_LUA_ALL);
    if (RLT_UNLIKELY(--L->steps < 0))
        return rlt_luaerr_steps(L);
    L->steps -= n / 16;
    if (L->open)
        rlt_luavm_close(L, L->stack + old.base);
    for (i = 0; i < n; i++)
        L->stack[old.func + i] = L->stack[func + i];
    L->top = old.func + n;
    L->frames_n--;
    if (luavm_call_closure(L, old.func, old.want,
                           L->stack[old.func].u.f) < 0) {
        L->frames_n++;
        return -1;
    }
    f = &L->frames[L->frames_n - 1];
    f->tail_calls = old.tail_calls + 1;
    f->returns_to_c = old.returns_to_c;
    return LUAEXEC_ENTERED;
}

/* 1 when the frame that is left was entered from C. */
RELET_PRIVATE int rlt_luavm_return(rlt_lua *L, const rlt_luaval *from, int n)
{
    const rlt_luaframe *f = &L->frames[L->frames_n - 1];

    if (L->open)
        rlt_luavm_close(L, L->stack + f->base);
    L->frames_n--;
    luavm_results(L, f->func, f->want, from, n);
    return f->returns_to_c;
}

/* All of ..., from stack[to] on; the top is behind them. */
RELET_PRIVATE int rlt_luavm_spread(rlt_lua *L, uint32_t to, int want)
{
    const rlt_luaframe *f = &L->frames[L->frames_n - 1];
    uint32_t first = f->func + 1 + f->fn->proto->params;
    int n = (int)(f->base - first), i;

    if (want < 0) {
        want = n;
        if (luavm_reach(L, (size_t)to + (size_t)n + RLT_LUA_SLOTS) < 0)
            return -1;
        L->top = to + (uint32_t)n;
    }
    L->steps -= want / 16;
    for (i = 0; i < want; i++)
        L->stack[to + (uint32_t)i] = i < n ? L->stack[first + (uint32_t)i]
                                           : rlt_luaval_nil();
    return 0;
}
