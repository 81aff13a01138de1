/* SPDX-License-Identifier: MIT
 *
 * luaexpr.c - operators of expressions, folded or turned into instructions
 * and jumps (luacode.h). */
#include "luacode.h"

static rlt_luaop *luaexpr_op(rlt_luacode *c, int32_t at)
{
    return at >= 0 && at < c->n ? &c->ops[at] : NULL;
}

static void luaexpr_release(rlt_luacode *c, const rlt_luaexpr *e)
{
    if (e->kind == RLT_LUAEXPR_FIXED && e->info >= c->active_n && c->free > 0)
        c->free--;
}

/* ----------------------------------------------------------------- jumps */

/* The instruction that decides jump `at`. */
static rlt_luaop *luaexpr_control(rlt_luacode *c, int32_t at)
{
    rlt_luaop *o = luaexpr_op(c, at);

    if (o && at > 0 && o[-1].op >= RLT_LUAOP_EQ &&
        o[-1].op <= RLT_LUAOP_TESTSET)
        return o - 1;
    return o;
}

static void luaexpr_invert(rlt_luacode *c, const rlt_luaexpr *e)
{
    rlt_luaop *o = luaexpr_control(c, e->info);

    if (o)
        o->a = !o->a;
}

/* A jump that is taken when e is `when`. */
static int32_t luaexpr_jump_if(rlt_luacode *c, rlt_luaexpr *e, int when)
{
    rlt_luaop *o;

    if (e->kind == RLT_LUAEXPR_OPEN) {
        o = luaexpr_op(c, e->info);
        if (o && o->op == RLT_LUAOP_NOT) {
            int reg = o->b;

            c->n--; /* the NOT                                               */
            (void)rlt_luacode_emit(c, RLT_LUAOP_TEST, reg, 0, !when);
            return rlt_luacode_jump(c);
        }
    }
    if (e->kind != RLT_LUAEXPR_FIXED)
        rlt_luacode_next(c, e);
    luaexpr_release(c, e);
    (void)rlt_luacode_emit(c, RLT_LUAOP_TESTSET, 0, e->info, when);
    return rlt_luacode_jump(c);
}

static int luaexpr_is_true(const rlt_luaexpr *e)
{
    return e->kind == RLT_LUAEXPR_TRUE || e->kind == RLT_LUAEXPR_NUMBER ||
           e->kind == RLT_LUAEXPR_CONSTANT;
}

RELET_PRIVATE void rlt_luacode_if_true(rlt_luacode *c, rlt_luaexpr *e)
{
    int32_t at;

    rlt_luacode_read(c, e);
    if (luaexpr_is_true(e)) {
        at = RLT_LUA_NO_JUMP;
    } else if (e->kind == RLT_LUAEXPR_JUMP) {
        luaexpr_invert(c, e);
        at = e->info;
    } else {
        at = luaexpr_jump_if(c, e, 0);
    }
    rlt_luacode_join(c, &e->when_false, at);
    rlt_luacode_patch_here(c, e->when_true);
    e->when_true = RLT_LUA_NO_JUMP;
}

static void luaexpr_if_false(rlt_luacode *c, rlt_luaexpr *e)
{
    int32_t at;

    rlt_luacode_read(c, e);
    if (e->kind == RLT_LUAEXPR_NIL || e->kind == RLT_LUAEXPR_FALSE)
        at = RLT_LUA_NO_JUMP;
    else if (e->kind == RLT_LUAEXPR_JUMP)
        at = e->info;
    else
        at = luaexpr_jump_if(c, e, 1);
    rlt_luacode_join(c, &e->when_true, at);
    rlt_luacode_patch_here(c, e->when_false);
    e->when_false = RLT_LUA_NO_JUMP;
}

static void luaexpr_drop_values(rlt_luacode *c, int32_t list)
{
    for (; list >= 0 && list < c->n; list = c->ops[list].c) {
        rlt_luaop *o = luaexpr_control(c, list);

        if (o->op != RLT_LUAOP_TESTSET)
            continue;
        o->op = RLT_LUAOP_TEST;
        o->a = (uint8_t)o->b;
        o->b = 0;
    }
}

/* ------------------------------------------------------------ arithmetic */

RELET_PRIVATE double rlt_luaop_compute(rlt_luaopcode op, double a, double b)
{
    double r = 0;

    if (op == RLT_LUAOP_ADD)
        r = a + b;
    else if (op == RLT_LUAOP_SUB)
        r = a - b;
    else if (op == RLT_LUAOP_MUL)
        r = a * b;
    else if (op == RLT_LUAOP_DIV)
        r = a / b;
    else if (op == RLT_LUAOP_MOD)
        r = a - rlt_luanum_floor(a / b) * b;
    else if (op == RLT_LUAOP_POW)
        r = rlt_luanum_pow(a, b);
    else
        return -a;
    /* A NaN gets the sign that common machines give it. */
    if (RLT_UNLIKELY(r != r))
        return a != a ? a : b != b ? b : rlt_luanum_nan();
    return r;
}

static int luaexpr_is_number(const rlt_luaexpr *e)
{
    return e->kind == RLT_LUAEXPR_NUMBER && e->when_true < 0 &&
           e->when_false < 0;
}

/* Computes an operation on two constants: 1, or 0 if it divides by 0 or its
 * result is not a number. Such an operation is left to the run. */
static int luaexpr_fold(rlt_luaopcode op, rlt_luaexpr *a,
                        const rlt_luaexpr *b)
{
    double r;

    if (!luaexpr_is_number(a) || !luaexpr_is_number(b))
        return 0;
    if (op == RLT_LUAOP_LEN)
        return 0;
    if ((op == RLT_LUAOP_DIV || op == RLT_LUAOP_MOD) && b->number == 0)
        return 0;
    r = rlt_luaop_compute(op, a->number, b->number);
    if (r != r)
        return 0;
    a->number = r;
    return 1;
}

static void luaexpr_arithmetic(rlt_luacode *c, rlt_luaopcode op,
                               rlt_luaexpr *a, rlt_luaexpr *b, int unary)
{
    int32_t left, right;

    if (luaexpr_fold(op, a, b))
        return;
    right = unary ? 0 : rlt_luacode_rk(c, b);
    left = rlt_luacode_rk(c, a);
    if (left > right) {
        luaexpr_release(c, a);
        luaexpr_release(c, b);
    } else {
        luaexpr_release(c, b);
        luaexpr_release(c, a);
    }
    rlt_luaexpr_init(a, RLT_LUAEXPR_OPEN,
                     rlt_luacode_emit(c, op, 0, left, right));
}

static void luaexpr_not(rlt_luacode *c, rlt_luaexpr *e)
{
    int32_t swap;

    rlt_luacode_read(c, e);
    if (e->kind == RLT_LUAEXPR_NIL || e->kind == RLT_LUAEXPR_FALSE) {
        e->kind = RLT_LUAEXPR_TRUE;
    } else if (luaexpr_is_true(e)) {
        e->kind = RLT_LUAEXPR_FALSE;
    } else if (e->kind == RLT_LUAEXPR_JUMP) {
        luaexpr_invert(c, e);
    } else {
        if (e->kind != RLT_LUAEXPR_FIXED) {
            int32_t yes = e->when_true, no = e->when_false;

            e->when_true = e->when_false = RLT_LUA_NO_JUMP;
            rlt_luacode_next(c, e);
            e->when_true = yes;
            e->when_false = no;
        }
        luaexpr_release(c, e);
        e->info = rlt_luacode_emit(c, RLT_LUAOP_NOT, 0, e->info, 0);
        e->kind = RLT_LUAEXPR_OPEN;
    }
    swap = e->when_true;
    e->when_true = e->when_false;
    e->when_false = swap;
    luaexpr_drop_values(c, e->when_true);
    luaexpr_drop_values(c, e->when_false);
}

RELET_PRIVATE void rlt_luacode_unary(rlt_luacode *c, rlt_luaopcode op,
                                     rlt_luaexpr *e)
{
    rlt_luaexpr zero;

    if (op == RLT_LUAOP_NOT) {
        luaexpr_not(c, e);
        return;
    }
    rlt_luaexpr_init(&zero, RLT_LUAEXPR_NUMBER, 0);
    if (op == RLT_LUAOP_LEN || !luaexpr_is_number(e))
        (void)rlt_luacode_any(c, e);
    luaexpr_arithmetic(c, op, e, &zero, 1);
}

/* ---------------------------------------------------- between two of them */

static void luaexpr_compare(rlt_luacode *c, rlt_luaopcode op, int when,
                            rlt_luaexpr *a, rlt_luaexpr *b)
{
    int32_t left = rlt_luacode_rk(c, a), right = rlt_luacode_rk(c, b), swap;

    luaexpr_release(c, b);
    luaexpr_release(c, a);
    if (when == 0 && op != RLT_LUAOP_EQ) {
        swap = left; /* a > b is b < a                                       */
        left = right;
        right = swap;
        when = 1;
    }
    (void)rlt_luacode_emit(c, op, when, left, right);
    rlt_luaexpr_init(a, RLT_LUAEXPR_JUMP, rlt_luacode_jump(c));
}

static void luaexpr_concat(rlt_luacode *c, rlt_luaexpr *a, rlt_luaexpr *b)
{
    rlt_luaop *o;

    rlt_luacode_value(c, b);
    o = b->kind == RLT_LUAEXPR_OPEN ? luaexpr_op(c, b->info) : NULL;
    if (o && o->op == RLT_LUAOP_CONCAT) {
        luaexpr_release(c, a); /* a..(b..c): one instruction for all         */
        o->b = (uint16_t)a->info;
        rlt_luaexpr_init(a, RLT_LUAEXPR_OPEN, b->info);
        return;
    }
    rlt_luacode_next(c, b);
    luaexpr_arithmetic(c, RLT_LUAOP_CONCAT, a, b, 0);
}

RELET_PRIVATE void rlt_luacode_infix(rlt_luacode *c, rlt_luabinary op,
                                     rlt_luaexpr *e)
{
    if (op == RLT_LUABIN_AND)
        rlt_luacode_if_true(c, e);
    else if (op == RLT_LUABIN_OR)
        luaexpr_if_false(c, e);
    else if (op == RLT_LUABIN_CONCAT)
        rlt_luacode_next(c, e);
    else if (op > RLT_LUABIN_POW || !luaexpr_is_number(e))
        (void)rlt_luacode_rk(c, e);
}

RELET_PRIVATE void rlt_luacode_binary(rlt_luacode *c, rlt_luabinary op,
                                      rlt_luaexpr *e, rlt_luaexpr *right)
{
    switch (op) {
    case RLT_LUABIN_AND:
        rlt_luacode_read(c, right);
        rlt_luacode_join(c, &right->when_false, e->when_false);
        *e = *right;
        return;
    case RLT_LUABIN_OR:
        rlt_luacode_read(c, right);
        rlt_luacode_join(c, &right->when_true, e->when_true);
        *e = *right;
        return;
    case RLT_LUABIN_CONCAT:
        luaexpr_concat(c, e, right);
        return;
    case RLT_LUABIN_ADD:
    case RLT_LUABIN_SUB:
    case RLT_LUABIN_MUL:
    case RLT_LUABIN_DIV:
    case RLT_LUABIN_MOD:
    case RLT_LUABIN_POW:
        luaexpr_arithmetic(c, (rlt_luaopcode)(RLT_LUAOP_ADD + (int)op), e,
                           right, 0);
        return;
    case RLT_LUABIN_EQ:
    case RLT_LUABIN_NE:
        luaexpr_compare(c, RLT_LUAOP_EQ, op == RLT_LUABIN_EQ, e, right);
        return;
    case RLT_LUABIN_LT:
    case RLT_LUABIN_GT:
        luaexpr_compare(c, RLT_LUAOP_LT, op == RLT_LUABIN_LT, e, right);
        return;
    case RLT_LUABIN_LE:
    case RLT_LUABIN_GE:
        luaexpr_compare(c, RLT_LUAOP_LE, op == RLT_LUABIN_LE, e, right);
        return;
    case RLT_LUABIN_NONE:
        return;
    }
}
