/* SPDX-License-Identifier: MIT
 *
 * luacode.c - instructions, constants, jumps and registers of a function that
 * is being compiled. luaexpr.c compiles expressions.
 *
 * After a failure the lexer gives only the end of the text, and instructions
 * that are emitted here are dropped. So callers need not check for errors. */
#include "luacode.h"

/* Room for one more of `size` bytes; the old place is lost until the end. */
static void *luacode_grow(rlt_luacode *c, void *old, int32_t n, int32_t *cap,
                          size_t size)
{
    int32_t want = *cap > 0 ? *cap * 2 : 16;
    void *fresh;

    if (n < *cap)
        return old;
    fresh = n > INT32_MAX / 4 ? NULL
                              : rlt_luamem_get(c->x->scratch,
                                               (size_t)want * size);
    if (fresh == NULL) {
        rlt_lualex_fail_memory(c->x);
        return NULL;
    }
    if (n > 0)
        memcpy(fresh, old, (size_t)n * size);
    *cap = want;
    return fresh;
}

RELET_PRIVATE void rlt_luacode_open(rlt_luacode *c, rlt_lualex *x,
                                    rlt_luacode *outer)
{
    memset(c, 0, sizeof *c);
    c->x = x;
    c->outer = outer;
    c->target = -1;
    c->nil_k = c->true_k = c->false_k = -1;
    c->stack = 2;
    c->constant_of = rlt_luatab_new(x->scratch, 0, 8);
    if (c->constant_of == NULL)
        rlt_lualex_fail_memory(x);
}

static void *luacode_keep(rlt_luacode *c, const void *p, int32_t n,
                          size_t size)
{
    void *r = rlt_luamem_get(c->x->code, (size_t)n * size + 1);

    if (r == NULL) {
        rlt_lualex_fail_memory(c->x);
        return NULL;
    }
    if (n > 0)
        memcpy(r, p, (size_t)n * size);
    return r;
}

RELET_PRIVATE const rlt_luaproto *rlt_luacode_close(rlt_luacode *c)
{
    rlt_luaproto *p;

    if (c->x->failed)
        return NULL;
    p = (rlt_luaproto *)rlt_luamem_get(c->x->code, sizeof *p);
    if (p == NULL) {
        rlt_lualex_fail_memory(c->x);
        return NULL;
    }
    memset(p, 0, sizeof *p);
    p->ops = (const rlt_luaop *)luacode_keep(c, c->ops, c->n, sizeof *c->ops);
    p->lines = (const uint32_t *)luacode_keep(c, c->lines, c->n,
                                              sizeof *c->lines);
    p->constants = (const rlt_luaval *)luacode_keep(
        c, c->constants, c->constants_n, sizeof *c->constants);
    p->protos = (const rlt_luaproto *const *)luacode_keep(
        c, c->protos, c->protos_n, sizeof *c->protos);
    p->locals = (const rlt_lualocal *)luacode_keep(c, c->locals, c->locals_n,
                                                   sizeof *c->locals);
    p->ups = (const rlt_luaup *)luacode_keep(c, c->ups, c->ups_n,
                                             sizeof c->ups[0]);
    p->ops_n = c->n;
    p->locals_n = c->locals_n;
    p->line = c->line;
    p->ups_n = (uint8_t)c->ups_n;
    p->params = (uint8_t)c->params;
    p->vararg = (uint8_t)c->vararg;
    p->stack = (uint8_t)c->stack;
    return c->x->failed ? NULL : p;
}

/* ---------------------------------------------------------- instructions */

RELET_PRIVATE int32_t rlt_luacode_emit(rlt_luacode *c, rlt_luaopcode op,
                                       int a, int b, int32_t arg)
{
    int32_t cap = c->cap;
    rlt_luaop *o;

    c->ops = (rlt_luaop *)luacode_grow(c, c->ops, c->n, &cap, sizeof *c->ops);
    c->lines = (uint32_t *)luacode_grow(c, c->lines, c->n, &c->cap,
                                        sizeof *c->lines);
    if (c->ops == NULL || c->lines == NULL) {
        c->ops = NULL;
        c->lines = NULL;
        c->n = c->cap = 0;
        return -1;
    }
    o = &c->ops[c->n];
    o->op = (uint8_t)op;
    o->a = (uint8_t)a;
    o->b = (uint16_t)b;
    o->c = arg;
    c->lines[c->n] = c->x->last_line;
    return c->n++;
}

RELET_PRIVATE void rlt_luacode_line(rlt_luacode *c, uint32_t line)
{
    if (c->n > 0)
        c->lines[c->n - 1] = line;
}

RELET_PRIVATE int32_t rlt_luacode_jump(rlt_luacode *c)
{
    return rlt_luacode_emit(c, RLT_LUAOP_JUMP, 0, 0, RLT_LUA_NO_JUMP);
}

/* A jump leads to the next instruction, so it may not be merged with those
 * before it. */
RELET_PRIVATE int32_t rlt_luacode_label(rlt_luacode *c)
{
    c->target = c->n;
    return c->n;
}

RELET_PRIVATE void rlt_luacode_join(rlt_luacode *c, int32_t *list,
                                    int32_t more)
{
    int32_t at = *list;

    if (more < 0 || c->ops == NULL)
        return;
    if (at < 0) {
        *list = more;
        return;
    }
    while (c->ops[at].c >= 0)
        at = c->ops[at].c;
    c->ops[at].c = more;
}

/* The instruction that decides a jump. */
static rlt_luaop *luacode_control(rlt_luacode *c, int32_t jump)
{
    rlt_luaop *o = &c->ops[jump];

    if (jump > 0 && o[-1].op >= RLT_LUAOP_EQ && o[-1].op <= RLT_LUAOP_TESTSET)
        return o - 1;
    return o;
}

/* A jump that brings its value takes it to reg, or, without one, leaves it. */
static int luacode_bring(rlt_luacode *c, int32_t jump, int reg)
{
    rlt_luaop *o = luacode_control(c, jump);

    if (o->op != RLT_LUAOP_TESTSET)
        return 0;
    if (reg >= 0 && reg != o->b) {
        o->a = (uint8_t)reg;
    } else {
        o->op = RLT_LUAOP_TEST;
        o->a = (uint8_t)o->b;
        o->b = 0;
    }
    return 1;
}

RELET_PRIVATE void rlt_luacode_patch(rlt_luacode *c, int32_t list,
                                     int32_t target)
{
    while (list >= 0 && list < c->n) {
        int32_t next = c->ops[list].c;

        (void)luacode_bring(c, list, -1);
        c->ops[list].c = target;
        list = next;
    }
}

RELET_PRIVATE void rlt_luacode_patch_here(rlt_luacode *c, int32_t list)
{
    if (list >= 0)
        rlt_luacode_patch(c, list, rlt_luacode_label(c));
}

RELET_PRIVATE void rlt_luacode_return(rlt_luacode *c, int first, int n)
{
    (void)rlt_luacode_emit(c, RLT_LUAOP_RETURN, first, n + 1, 0);
}

/* --------------------------------------------------- registers and names */

RELET_PRIVATE void rlt_luacode_reserve(rlt_luacode *c, int n)
{
    c->free += n;
    if (c->free > RLT_LUA_REGISTERS_MAX) {
        rlt_lualex_fail(c->x, "function or expression too complex");
        c->free = RLT_LUA_REGISTERS_MAX;
    }
    c->stack = RLT_MAX(c->stack, c->free);
}

RELET_PRIVATE int32_t rlt_luacode_local(rlt_luacode *c, const rlt_luastr *s)
{
    rlt_lualocal *l;

    c->locals = (rlt_lualocal *)luacode_grow(c, c->locals, c->locals_n,
                                             &c->locals_cap,
                                             sizeof *c->locals);
    if (c->locals == NULL) {
        c->locals_n = c->locals_cap = 0;
        return 0;
    }
    l = &c->locals[c->locals_n];
    memset(l, 0, sizeof *l);
    l->name = s;
    return c->locals_n++;
}

RELET_PRIVATE int32_t rlt_luacode_proto(rlt_luacode *c, const rlt_luaproto *p)
{
    c->protos = (const rlt_luaproto **)luacode_grow(
        c, c->protos, c->protos_n, &c->protos_cap, sizeof *c->protos);
    if (c->protos == NULL) {
        c->protos_n = c->protos_cap = 0;
        return 0;
    }
    c->protos[c->protos_n] = p;
    return c->protos_n++;
}

/* ------------------------------------------------------------- constants */

static int32_t luacode_constant_add(rlt_luacode *c, rlt_luaval v)
{
    c->constants = (rlt_luaval *)luacode_grow(
        c, c->constants, c->constants_n, &c->constants_cap,
        sizeof *c->constants);
    if (c->constants == NULL) {
        c->constants_n = c->constants_cap = 0;
        return 0;
    }
    c->constants[c->constants_n] = v;
    return c->constants_n++;
}

/* Each value once, by equality; so -0 becomes an earlier 0, as in Lua. */
static int32_t luacode_constant(rlt_luacode *c, rlt_luaval v)
{
    rlt_luaval *slot;
    const rlt_luaval *found;
    int32_t k;

    if (c->x->failed)
        return 0;
    found = rlt_luatab_get(c->constant_of, &v);
    if (found->type == RLT_LUA_NUMBER)
        return (int32_t)found->u.n;
    k = luacode_constant_add(c, v);
    slot = rlt_luatab_slot(c->x->scratch, c->constant_of, &v);
    if (slot == NULL)
        rlt_lualex_fail_memory(c->x);
    else
        *slot = rlt_luaval_number(k);
    return k;
}

RELET_PRIVATE int32_t rlt_luacode_string(rlt_luacode *c, const rlt_luastr *s)
{
    return s ? luacode_constant(c, rlt_luaval_string(s)) : 0;
}

static int32_t luacode_constant_once(rlt_luacode *c, int32_t *k, rlt_luaval v)
{
    if (*k < 0)
        *k = luacode_constant_add(c, v);
    return *k;
}

/* The constant that e is, or -1. */
static int32_t luacode_constant_of(rlt_luacode *c, const rlt_luaexpr *e)
{
    switch (e->kind) {
    case RLT_LUAEXPR_NIL:
        return luacode_constant_once(c, &c->nil_k, rlt_luaval_nil());
    case RLT_LUAEXPR_TRUE:
        return luacode_constant_once(c, &c->true_k, rlt_luaval_bool(1));
    case RLT_LUAEXPR_FALSE:
        return luacode_constant_once(c, &c->false_k, rlt_luaval_bool(0));
    case RLT_LUAEXPR_NUMBER:
        return luacode_constant(c, rlt_luaval_number(e->number));
    case RLT_LUAEXPR_CONSTANT:
        return e->info;
    case RLT_LUAEXPR_VOID:
    case RLT_LUAEXPR_LOCAL:
    case RLT_LUAEXPR_UPVALUE:
    case RLT_LUAEXPR_GLOBAL:
    case RLT_LUAEXPR_INDEXED:
    case RLT_LUAEXPR_JUMP:
    case RLT_LUAEXPR_OPEN:
    case RLT_LUAEXPR_FIXED:
    case RLT_LUAEXPR_CALL:
    case RLT_LUAEXPR_VARARG:
        break;
    }
    return -1;
}

/* ----------------------------------------------------------- expressions */

RELET_PRIVATE void rlt_luaexpr_init(rlt_luaexpr *e, rlt_luaexpr_kind kind,
                                    int32_t info)
{
    memset(e, 0, sizeof *e);
    e->kind = kind;
    e->info = info;
    e->when_true = e->when_false = RLT_LUA_NO_JUMP;
}

static rlt_luaop *luacode_op(rlt_luacode *c, const rlt_luaexpr *e)
{
    return e->info >= 0 && e->info < c->n ? &c->ops[e->info] : NULL;
}

static void luacode_release(rlt_luacode *c, int32_t reg)
{
    if (reg < RLT_LUAOP_CONSTANT && reg >= c->active_n && c->free > 0)
        c->free--;
}

static void luacode_release_expr(rlt_luacode *c, const rlt_luaexpr *e)
{
    if (e->kind == RLT_LUAEXPR_FIXED)
        luacode_release(c, e->info);
}

RELET_PRIVATE void rlt_luacode_results(rlt_luacode *c, rlt_luaexpr *e, int n)
{
    rlt_luaop *o = luacode_op(c, e);

    if (o == NULL)
        return;
    if (e->kind == RLT_LUAEXPR_CALL) {
        o->c = n + 1;
    } else if (e->kind == RLT_LUAEXPR_VARARG) {
        o->a = (uint8_t)c->free;
        o->b = (uint16_t)(n + 1);
        rlt_luacode_reserve(c, 1);
    }
}

RELET_PRIVATE void rlt_luacode_one(rlt_luacode *c, rlt_luaexpr *e)
{
    rlt_luaop *o = luacode_op(c, e);

    if (e->kind == RLT_LUAEXPR_CALL) {
        e->kind = RLT_LUAEXPR_FIXED;
        e->info = o ? o->a : 0;
    } else if (e->kind == RLT_LUAEXPR_VARARG) {
        e->kind = RLT_LUAEXPR_OPEN;
        if (o)
            o->b = 2;
    }
}

/* A variable is read: its value is in a register, or soon will be. */
RELET_PRIVATE void rlt_luacode_read(rlt_luacode *c, rlt_luaexpr *e)
{
    switch (e->kind) {
    case RLT_LUAEXPR_LOCAL:
        e->kind = RLT_LUAEXPR_FIXED;
        return;
    case RLT_LUAEXPR_UPVALUE:
        e->info = rlt_luacode_emit(c, RLT_LUAOP_GETUPVAL, 0, e->info, 0);
        break;
    case RLT_LUAEXPR_GLOBAL:
        e->info = rlt_luacode_emit(c, RLT_LUAOP_GETGLOBAL, 0, 0, e->info);
        break;
    case RLT_LUAEXPR_INDEXED:
        luacode_release(c, e->aux);
        luacode_release(c, e->info);
        e->info = rlt_luacode_emit(c, RLT_LUAOP_GETTABLE, 0, e->info, e->aux);
        break;
    case RLT_LUAEXPR_CALL:
    case RLT_LUAEXPR_VARARG:
        rlt_luacode_one(c, e);
        return;
    case RLT_LUAEXPR_VOID:
    case RLT_LUAEXPR_NIL:
    case RLT_LUAEXPR_TRUE:
    case RLT_LUAEXPR_FALSE:
    case RLT_LUAEXPR_CONSTANT:
    case RLT_LUAEXPR_NUMBER:
    case RLT_LUAEXPR_JUMP:
    case RLT_LUAEXPR_OPEN:
    case RLT_LUAEXPR_FIXED:
        return;
    }
    e->kind = RLT_LUAEXPR_OPEN;
}

static void luacode_into(rlt_luacode *c, rlt_luaexpr *e, int reg)
{
    rlt_luaop *o;

    rlt_luacode_read(c, e);
    switch (e->kind) {
    case RLT_LUAEXPR_NIL:
        (void)rlt_luacode_emit(c, RLT_LUAOP_LOADNIL, reg, reg, 0);
        break;
    case RLT_LUAEXPR_TRUE:
    case RLT_LUAEXPR_FALSE:
        (void)rlt_luacode_emit(c, RLT_LUAOP_LOADBOOL, reg,
                               e->kind == RLT_LUAEXPR_TRUE, 0);
        break;
    case RLT_LUAEXPR_CONSTANT:
    case RLT_LUAEXPR_NUMBER:
        (void)rlt_luacode_emit(c, RLT_LUAOP_LOADK, reg, 0,
                               luacode_constant_of(c, e));
        break;
    case RLT_LUAEXPR_OPEN:
        o = luacode_op(c, e);
        if (o)
            o->a = (uint8_t)reg;
        break;
    case RLT_LUAEXPR_FIXED:
        if (e->info != reg)
            (void)rlt_luacode_emit(c, RLT_LUAOP_MOVE, reg, e->info, 0);
        break;
    case RLT_LUAEXPR_VOID:
    case RLT_LUAEXPR_JUMP:
    case RLT_LUAEXPR_LOCAL:
    case RLT_LUAEXPR_UPVALUE:
    case RLT_LUAEXPR_GLOBAL:
    case RLT_LUAEXPR_INDEXED:
    case RLT_LUAEXPR_CALL:
    case RLT_LUAEXPR_VARARG:
        return; /* a jump has no value yet                                   */
    }
    e->kind = RLT_LUAEXPR_FIXED;
    e->info = reg;
}

/* Does some jump of the list bring no value along? */
static int luacode_needs_value(rlt_luacode *c, int32_t list)
{
    for (; list >= 0 && list < c->n; list = c->ops[list].c)
        if (luacode_control(c, list)->op != RLT_LUAOP_TESTSET)
            return 1;
    return 0;
}

static void luacode_patch_values(rlt_luacode *c, int32_t list, int reg,
                                 int32_t with_value, int32_t without)
{
    while (list >= 0 && list < c->n) {
        int32_t next = c->ops[list].c;

        c->ops[list].c = luacode_bring(c, list, reg) ? with_value : without;
        list = next;
    }
}

/* The value of e, jumps and all, in reg. */
static void luacode_finish(rlt_luacode *c, rlt_luaexpr *e, int reg)
{
    int32_t skip = RLT_LUA_NO_JUMP, no = -1, yes = -1, end;

    luacode_into(c, e, reg);
    if (e->kind == RLT_LUAEXPR_JUMP)
        rlt_luacode_join(c, &e->when_true, e->info);
    if (e->when_true != e->when_false) {
        if (luacode_needs_value(c, e->when_true) ||
            luacode_needs_value(c, e->when_false)) {
            if (e->kind != RLT_LUAEXPR_JUMP)
                skip = rlt_luacode_jump(c);
            no = rlt_luacode_label(c);
            (void)rlt_luacode_emit(c, RLT_LUAOP_LOADBOOL, reg, 0, 1);
            yes = rlt_luacode_label(c);
            (void)rlt_luacode_emit(c, RLT_LUAOP_LOADBOOL, reg, 1, 0);
            rlt_luacode_patch_here(c, skip);
        }
        end = rlt_luacode_label(c);
        luacode_patch_values(c, e->when_false, reg, end, no);
        luacode_patch_values(c, e->when_true, reg, end, yes);
    }
    rlt_luaexpr_init(e, RLT_LUAEXPR_FIXED, reg);
}

RELET_PRIVATE void rlt_luacode_next(rlt_luacode *c, rlt_luaexpr *e)
{
    rlt_luacode_read(c, e);
    luacode_release_expr(c, e);
    rlt_luacode_reserve(c, 1);
    luacode_finish(c, e, c->free - 1);
}

RELET_PRIVATE int rlt_luacode_any(rlt_luacode *c, rlt_luaexpr *e)
{
    rlt_luacode_read(c, e);
    if (e->kind == RLT_LUAEXPR_FIXED) {
        if (e->when_true == e->when_false)
            return e->info;
        if (e->info >= c->active_n) {
            luacode_finish(c, e, e->info);
            return e->info;
        }
    }
    rlt_luacode_next(c, e);
    return e->info;
}

RELET_PRIVATE void rlt_luacode_value(rlt_luacode *c, rlt_luaexpr *e)
{
    if (e->when_true != e->when_false)
        (void)rlt_luacode_any(c, e);
    else
        rlt_luacode_read(c, e);
}

RELET_PRIVATE int32_t rlt_luacode_rk(rlt_luacode *c, rlt_luaexpr *e)
{
    int32_t k;

    rlt_luacode_value(c, e);
    k = luacode_constant_of(c, e);
    if (k < 0 || k > RLT_LUAOP_OPERAND_MAX - RLT_LUAOP_CONSTANT)
        return rlt_luacode_any(c, e);
    rlt_luaexpr_init(e, RLT_LUAEXPR_CONSTANT, k);
    return k + RLT_LUAOP_CONSTANT;
}

RELET_PRIVATE void rlt_luacode_store(rlt_luacode *c, const rlt_luaexpr *var,
                                     rlt_luaexpr *e)
{
    int32_t rk;

    if (var->kind == RLT_LUAEXPR_LOCAL) {
        luacode_release_expr(c, e);
        luacode_finish(c, e, var->info);
        return;
    }
    if (var->kind == RLT_LUAEXPR_UPVALUE) {
        rk = rlt_luacode_any(c, e);
        (void)rlt_luacode_emit(c, RLT_LUAOP_SETUPVAL, rk, var->info, 0);
    } else if (var->kind == RLT_LUAEXPR_GLOBAL) {
        rk = rlt_luacode_any(c, e);
        (void)rlt_luacode_emit(c, RLT_LUAOP_SETGLOBAL, rk, 0, var->info);
    } else {
        rk = rlt_luacode_rk(c, e);
        (void)rlt_luacode_emit(c, RLT_LUAOP_SETTABLE, var->info, var->aux,
                               rk);
    }
    luacode_release_expr(c, e);
}

RELET_PRIVATE void rlt_luacode_self(rlt_luacode *c, rlt_luaexpr *e,
                                    rlt_luaexpr *key)
{
    int reg;
    int32_t rk;

    (void)rlt_luacode_any(c, e);
    luacode_release_expr(c, e);
    reg = c->free;
    rlt_luacode_reserve(c, 2);
    rk = rlt_luacode_rk(c, key);
    (void)rlt_luacode_emit(c, RLT_LUAOP_SELF, reg, e->info, rk);
    luacode_release_expr(c, key);
    rlt_luaexpr_init(e, RLT_LUAEXPR_FIXED, reg);
}

RELET_PRIVATE void rlt_luacode_index(rlt_luacode *c, rlt_luaexpr *t,
                                     rlt_luaexpr *key)
{
    t->aux = rlt_luacode_rk(c, key);
    t->kind = RLT_LUAEXPR_INDEXED;
}
