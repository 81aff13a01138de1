/* SPDX-License-Identifier: MIT
 *
 * luaexec.c - the loop over instructions.
 *
 * The first switch has the instructions on which scripts spend most of their
 * time, the second switch the rest. Registers may move whenever a function is
 * called: then they are looked up again. */
#include "luaexec.h"

/* The results of the second switch: go on, look everything up again, or
 * leave. */
#define LUAEXEC_NEXT 0
#define LUAEXEC_AGAIN 1
#define LUAEXEC_LEAVE 2

#define LUAEXEC_RK(x)                                                         \
    ((x) < RLT_LUAOP_CONSTANT ? r + (x) : k + ((x)-RLT_LUAOP_CONSTANT))

static int luaexec_call(rlt_lua *L, const rlt_luaop *o, uint32_t func)
{
    if (o->b > 0)
        L->top = func + o->b;
    return rlt_luavm_enter(L, func, o->c - 1);
}

static int luaexec_return(rlt_lua *L, const rlt_luaop *o, rlt_luaval *a)
{
    int n = o->b > 0 ? o->b - 1 : (int)(L->stack + L->top - a);

    return rlt_luavm_return(L, a, n) ? LUAEXEC_LEAVE : LUAEXEC_AGAIN;
}

/* The generator's results, from R[a + 3] on; the jump back is the next
 * instruction, which nil skips. */
static int luaexec_generate(rlt_lua *L, const rlt_luaop *o, uint32_t a)
{
    rlt_luaval *r = L->stack + a;
    rlt_luaframe *f;

    r[3] = r[0];
    r[4] = r[1];
    r[5] = r[2];
    if (rlt_luavm_call(L, a + 3, 2, o->c) < 0)
        return -1;
    r = L->stack + a;
    f = &L->frames[L->frames_n - 1];
    if (r[3].type == RLT_LUA_NIL)
        f->pc++;
    else
        r[2] = r[3];
    return LUAEXEC_AGAIN;
}

static int luaexec_varargs(rlt_lua *L, const rlt_luaop *o, uint32_t to)
{
    return rlt_luavm_spread(L, to, o->b - 1) < 0 ? -1 : LUAEXEC_AGAIN;
}

static int luaexec_table(rlt_lua *L, const rlt_luaop *o, rlt_luaval *a)
{
    rlt_luatab *t = rlt_luavm_table(L, rlt_luatab_hint(o->b),
                                    rlt_luatab_hint((uint32_t)o->c));

    if (t == NULL)
        return -1;
    *a = rlt_luaval_table(t);
    return LUAEXEC_NEXT;
}

static int luaexec_nils(const rlt_luaop *o, rlt_luaval *r)
{
    int i;

    for (i = o->a; i <= o->b; i++)
        r[i] = rlt_luaval_nil();
    return LUAEXEC_NEXT;
}

static int luaexec_close(rlt_lua *L, const rlt_luaval *a)
{
    if (L->open)
        rlt_luavm_close(L, a);
    return LUAEXEC_NEXT;
}

static int luaexec_list(rlt_lua *L, const rlt_luaop *o, rlt_luaval *a)
{
    int n = o->b > 0 ? o->b : (int)(L->stack + L->top - a) - 1;

    return rlt_luaexec_list(L, a, n, (uint32_t)o->c);
}

static int luaexec_rest(rlt_lua *L, const rlt_luaframe *f, const rlt_luaop *o,
                        rlt_luaval *r, const rlt_luaval *k)
{
    rlt_luaval *a = &r[o->a];
    uint32_t at = f->base + o->a;
    int e;

    switch (o->op) {
    case RLT_LUAOP_LOADNIL:
        return luaexec_nils(o, r);
    case RLT_LUAOP_SETGLOBAL:
        return rlt_luaerr_run(L, "Attempt to modify a readonly table");
    case RLT_LUAOP_NEWTABLE:
        return luaexec_table(L, o, a);
    case RLT_LUAOP_SETLIST:
        return luaexec_list(L, o, a);
    case RLT_LUAOP_SELF: {
        rlt_luaval object = r[o->b];

        /* An error names the register in which the object was. */
        e = rlt_luaexec_get(L, a, &r[o->b], LUAEXEC_RK(o->c));
        a[1] = object;
        return e;
    }
    case RLT_LUAOP_POW:
        return rlt_luaexec_arithmetic(L, (rlt_luaopcode)o->op, a,
                                      LUAEXEC_RK(o->b), LUAEXEC_RK(o->c));
    case RLT_LUAOP_UNM:
        return rlt_luaexec_arithmetic(L, RLT_LUAOP_UNM, a, &r[o->b],
                                      &r[o->b]);
    case RLT_LUAOP_LEN:
        return rlt_luaexec_length(L, a, &r[o->b]);
    case RLT_LUAOP_CONCAT:
        return rlt_luaexec_concat(L, a, &r[o->b], o->c - o->b + 1);
    case RLT_LUAOP_TAILCALL:
        if (o->b > 0)
            L->top = at + o->b;
        return rlt_luavm_tail_call(L, at) < 0 ? -1 : LUAEXEC_AGAIN;
    case RLT_LUAOP_TFORLOOP:
        return luaexec_generate(L, o, at);
    case RLT_LUAOP_CLOSE:
        return luaexec_close(L, a);
    case RLT_LUAOP_CLOSURE:
        return rlt_luaexec_closure(L, a, f->fn->proto->protos[o->c], f->fn,
                                   r);
    case RLT_LUAOP_VARARG:
        return luaexec_varargs(L, o, at);
    default:
        rlt_assert(0 && "no such instruction");
        return -1;
    }
}

/* An operation on two numbers gives a number. Only the sign of a NaN needs more
 * care. */
#define LUAEXEC_ARITHMETIC(result)                                            \
    b = LUAEXEC_RK(o->b);                                                     \
    c = LUAEXEC_RK(o->c);                                                     \
    if (RLT_LIKELY(b->type == RLT_LUA_NUMBER && c->type == RLT_LUA_NUMBER)) { \
        n = (result);                                                         \
        if (RLT_LIKELY(n == n)) {                                             \
            a->u.n = n;                                                       \
            a->type = RLT_LUA_NUMBER;                                         \
            break;                                                            \
        }                                                                     \
    }                                                                         \
    if (rlt_luaexec_arithmetic(L, (rlt_luaopcode)o->op, a, b, c) < 0)         \
        return -1;                                                            \
    break;

/* A jump follows: to be made, or to be skipped. Those that lead back count. */
#define LUAEXEC_JUMP_IF(condition)                                            \
    if (condition) {                                                          \
        const rlt_luaop *to = ops + pc->c;                                    \
                                                                              \
        if (to <= pc && RLT_UNLIKELY(--L->steps < 0))                         \
            return rlt_luaerr_steps(L);                                       \
        pc = to;                                                              \
    } else {                                                                  \
        pc++;                                                                 \
    }                                                                         \
    break;

static int luaexec_for_goes_on(rlt_luaval *a)
{
    double step = a[2].u.n, i = a[0].u.n + step, limit = a[1].u.n;

    if (!(step > 0 ? i <= limit : limit <= i))
        return 0;
    a[0].u.n = i;
    a[3].u.n = i;
    a[3].type = RLT_LUA_NUMBER;
    return 1;
}

/* This function is long because r, k and pc stay in registers of the machine
 * only while they are locals of the function that runs the instructions. */
RELET_PRIVATE int rlt_luaexec(rlt_lua *L)
{
    rlt_luaframe *f;
    const rlt_luaop *pc, *o, *ops;
    const rlt_luaval *k, *b, *c;
    rlt_luaval *r, *a;
    double n;
    int e;

again:
    f = &L->frames[L->frames_n - 1];
    ops = f->fn->proto->ops;
    k = f->fn->proto->constants;
    r = L->stack + f->base;
    pc = f->pc;
    for (;;) {
        o = pc++;
        f->pc = pc; /* errors look here                                      */
        a = r + o->a;
        switch (o->op) {
        case RLT_LUAOP_MOVE:
            *a = r[o->b];
            break;
        case RLT_LUAOP_LOADK:
            *a = k[o->c];
            break;
        case RLT_LUAOP_LOADBOOL:
            *a = rlt_luaval_bool(o->b);
            pc += o->c;
            break;
        case RLT_LUAOP_GETUPVAL:
            *a = *f->fn->ups[o->b]->at;
            break;
        case RLT_LUAOP_SETUPVAL:
            *f->fn->ups[o->b]->at = *a;
            break;
        case RLT_LUAOP_GETGLOBAL:
            b = rlt_luatab_get_str(L->globals, k[o->c].u.s);
            if (RLT_UNLIKELY(b->type == RLT_LUA_NIL))
                return rlt_luaerr_global(L, k[o->c].u.s);
            *a = *b;
            break;
        case RLT_LUAOP_GETTABLE:
            c = LUAEXEC_RK(o->c);
            b = r + o->b;
            if (b->type == RLT_LUA_TABLE && o->c >= RLT_LUAOP_CONSTANT &&
                c->type == RLT_LUA_STRING && !b->u.t->strict)
                *a = *rlt_luatab_get_str(b->u.t, c->u.s);
            else if (rlt_luaexec_get(L, a, b, c) < 0)
                return -1;
            break;
        case RLT_LUAOP_SETTABLE:
            if (rlt_luaexec_set(L, a, LUAEXEC_RK(o->b), LUAEXEC_RK(o->c)) < 0)
                return -1;
            break;
        case RLT_LUAOP_ADD:
            LUAEXEC_ARITHMETIC(b->u.n + c->u.n)
        case RLT_LUAOP_SUB:
            LUAEXEC_ARITHMETIC(b->u.n - c->u.n)
        case RLT_LUAOP_MUL:
            LUAEXEC_ARITHMETIC(b->u.n * c->u.n)
        case RLT_LUAOP_DIV:
            LUAEXEC_ARITHMETIC(b->u.n / c->u.n)
        case RLT_LUAOP_MOD:
            LUAEXEC_ARITHMETIC(b->u.n -
                               rlt_luanum_floor(b->u.n / c->u.n) * c->u.n)
        case RLT_LUAOP_NOT:
            *a = rlt_luaval_bool(RLT_LUA_IS_FALSE(&r[o->b]));
            break;
        case RLT_LUAOP_JUMP:
            pc--;
            LUAEXEC_JUMP_IF(1)
        case RLT_LUAOP_EQ:
            e = rlt_luavm_same(L, LUAEXEC_RK(o->b), LUAEXEC_RK(o->c));
            if (e < 0)
                return -1;
            LUAEXEC_JUMP_IF(e == o->a)
        case RLT_LUAOP_LT:
        case RLT_LUAOP_LE:
            e = rlt_luavm_less(L, LUAEXEC_RK(o->b), LUAEXEC_RK(o->c),
                               o->op == RLT_LUAOP_LE);
            if (e < 0)
                return -1;
            LUAEXEC_JUMP_IF(e == o->a)
        case RLT_LUAOP_TEST:
            LUAEXEC_JUMP_IF(RLT_LUA_IS_FALSE(a) != o->c)
        case RLT_LUAOP_TESTSET:
            b = r + o->b;
            if (RLT_LUA_IS_FALSE(b) != o->c)
                *a = *b;
            LUAEXEC_JUMP_IF(RLT_LUA_IS_FALSE(b) != o->c)
        case RLT_LUAOP_CALL:
            e = luaexec_call(L, o, f->base + o->a);
            if (e < 0)
                return -1;
            if (e == LUAEXEC_ENTERED)
                goto again;
            f = &L->frames[L->frames_n - 1];
            r = L->stack + f->base;
            break;
        case RLT_LUAOP_RETURN:
            if (luaexec_return(L, o, a) == LUAEXEC_LEAVE)
                return 0;
            goto again;
        case RLT_LUAOP_FORPREP:
            if (rlt_luaexec_for(L, a) < 0)
                return -1;
            pc = ops + o->c;
            break;
        case RLT_LUAOP_FORLOOP:
            if (RLT_UNLIKELY(--L->steps < 0))
                return rlt_luaerr_steps(L);
            if (luaexec_for_goes_on(a))
                pc = ops + o->c;
            break;
        default:
            e = luaexec_rest(L, f, o, r, k);
            if (e < 0)
                return -1;
            if (e == LUAEXEC_AGAIN)
                goto again;
            break;
        }
    }
}
