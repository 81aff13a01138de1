/* SPDX-License-Identifier: MIT
 *
 * luaerr.c - the errors of a script, in the words of Lua 5.1.
 *
 * The name of a value is not known at run time. It is found from the last
 * instruction that put a value into the register. */
#include "luaerr.h"

#define LUAERR_TEXT 512

static const rlt_luastr luaerr_memory_text = {"not enough memory", 17, 0};

RELET_PRIVATE int rlt_luaerr_memory(rlt_lua *L)
{
    L->error = rlt_luaval_string(&luaerr_memory_text);
    L->fatal = 1;
    return -1;
}

static int luaerr_set(rlt_lua *L, const rlt_say *say)
{
    const rlt_luastr *s = rlt_luastr_copy(&L->run, say->p, say->n);

    if (s == NULL)
        return rlt_luaerr_memory(L);
    L->error = rlt_luaval_string(s);
    return -1;
}

RELET_PRIVATE int rlt_luaerr_plain(rlt_lua *L, const char *text)
{
    char buffer[LUAERR_TEXT];
    rlt_say say;

    rlt_say_init(&say, buffer, sizeof buffer);
    rlt_say_text(&say, text);
    return luaerr_set(L, &say);
}

RELET_PRIVATE int rlt_luaerr(rlt_lua *L, const char *text)
{
    char buffer[LUAERR_TEXT];
    rlt_say say;

    rlt_say_init(&say, buffer, sizeof buffer);
    rlt_luaerr_where(L, 1, &say);
    rlt_say_text(&say, text);
    return luaerr_set(L, &say);
}

RELET_PRIVATE int rlt_luaerr_run(rlt_lua *L, const char *text)
{
    char buffer[LUAERR_TEXT];
    rlt_say say;

    rlt_say_init(&say, buffer, sizeof buffer);
    rlt_luaerr_where(L, 0, &say);
    rlt_say_text(&say, text);
    return luaerr_set(L, &say);
}

RELET_PRIVATE int rlt_luaerr_steps(rlt_lua *L)
{
    L->fatal = 1;
    return rlt_luaerr_run(L, "script used up its steps");
}

/* -------------------------------------------------------------- positions */

static const rlt_luaproto *luaerr_proto(const rlt_luaframe *f)
{
    return f->pc ? f->fn->proto : NULL;
}

/* The frame that many levels up; levels that tail calls gave away count, and
 * *lost is set when it is one of them. NULL: there is no such level. */
static const rlt_luaframe *luaerr_level(const rlt_lua *L, int64_t level,
                                        int *lost)
{
    uint32_t i = L->frames_n;
    const rlt_luaframe *f;

    *lost = 0;
    while (i > 0 && level > 0) {
        f = &L->frames[--i];
        level -= 1 + (f->pc ? (int64_t)f->tail_calls : 0);
    }
    *lost = level < 0;
    return level < 0 || i == 0 ? NULL : &L->frames[i - 1];
}

/* The instruction being executed. */
static int32_t luaerr_at(const rlt_luaframe *f)
{
    return (int32_t)(f->pc - f->fn->proto->ops) - 1;
}

RELET_PRIVATE void rlt_luaerr_where(const rlt_lua *L, int level,
                                    rlt_say *say)
{
    int lost;
    const rlt_luaframe *f = luaerr_level(L, level, &lost);
    const rlt_luaproto *p = f ? luaerr_proto(f) : NULL;

    if (p == NULL)
        return;
    rlt_say_text(say, L->chunk);
    rlt_say_text(say, ":");
    rlt_say_int(say, (int64_t)p->lines[luaerr_at(f)]);
    rlt_say_text(say, ": ");
}

RELET_PRIVATE int64_t rlt_luaerr_line(const rlt_lua *L)
{
    int lost = 0;
    const rlt_luaframe *f = luaerr_level(L, 0, &lost);

    if (f && luaerr_proto(f) == NULL)
        f = luaerr_level(L, 1, &lost);
    if (f == NULL)
        return lost ? -1 : 0;
    return luaerr_proto(f) ? (int64_t)f->fn->proto->lines[luaerr_at(f)] : -1;
}

/* ------------------------------------------------------------------ names */

/* Does the instruction put something into the register? */
static int luaerr_writes(const rlt_luaop *o, int reg)
{
    switch ((rlt_luaopcode)o->op) {
    case RLT_LUAOP_SETUPVAL:
    case RLT_LUAOP_SETGLOBAL:
    case RLT_LUAOP_SETTABLE:
    case RLT_LUAOP_JUMP:
    case RLT_LUAOP_EQ:
    case RLT_LUAOP_LT:
    case RLT_LUAOP_LE:
    case RLT_LUAOP_RETURN:
    case RLT_LUAOP_SETLIST:
    case RLT_LUAOP_CLOSE:
        return 0;
    case RLT_LUAOP_LOADNIL:
        return reg >= o->a && reg <= o->b;
    case RLT_LUAOP_SELF:
        return reg == o->a || reg == o->a + 1;
    case RLT_LUAOP_CALL:
    case RLT_LUAOP_TAILCALL:
        return reg >= o->a;
    case RLT_LUAOP_TFORLOOP:
        return reg >= o->a + 2;
    case RLT_LUAOP_MOVE:
    case RLT_LUAOP_LOADK:
    case RLT_LUAOP_LOADBOOL:
    case RLT_LUAOP_GETUPVAL:
    case RLT_LUAOP_GETGLOBAL:
    case RLT_LUAOP_GETTABLE:
    case RLT_LUAOP_NEWTABLE:
    case RLT_LUAOP_ADD:
    case RLT_LUAOP_SUB:
    case RLT_LUAOP_MUL:
    case RLT_LUAOP_DIV:
    case RLT_LUAOP_MOD:
    case RLT_LUAOP_POW:
    case RLT_LUAOP_UNM:
    case RLT_LUAOP_NOT:
    case RLT_LUAOP_LEN:
    case RLT_LUAOP_CONCAT:
    case RLT_LUAOP_TEST: /* counts, though it does not: so in Lua 5.1 */
    case RLT_LUAOP_TESTSET:
    case RLT_LUAOP_FORPREP:
    case RLT_LUAOP_FORLOOP:
    case RLT_LUAOP_CLOSURE:
    case RLT_LUAOP_VARARG:
        break;
    }
    return reg == o->a;
}

/* The last instruction before `end` that wrote to the register, along jumps
 * that lead forward; NULL when there is none. */
static const rlt_luaop *luaerr_writer(const rlt_luaproto *p, int32_t end,
                                      int reg)
{
    const rlt_luaop *last = NULL;
    int32_t i = 0;

    while (i < end) {
        const rlt_luaop *o = &p->ops[i++];

        if (luaerr_writes(o, reg))
            last = o;
        if ((o->op == RLT_LUAOP_JUMP || o->op == RLT_LUAOP_FORPREP) &&
            o->c > i && o->c <= end)
            i = o->c;
    }
    return last;
}

static const rlt_luastr *luaerr_local(const rlt_luaproto *p, int32_t at,
                                      int reg)
{
    int32_t i;

    for (i = 0; i < p->locals_n; i++)
        if (p->locals[i].reg == reg && p->locals[i].from <= at &&
            at < p->locals[i].to)
            return p->locals[i].name;
    return NULL;
}

typedef struct luaerr_name {
    const char *kind;
    relet_span text;
} luaerr_name;

static luaerr_name luaerr_named(const char *kind, const rlt_luastr *s)
{
    luaerr_name name;

    name.kind = kind;
    name.text = s ? rlt_luastr_span(s) : relet_str("?");
    return name;
}

static const rlt_luastr *luaerr_key(const rlt_luaproto *p, int32_t rk)
{
    const rlt_luaval *k;

    if (rk < RLT_LUAOP_CONSTANT)
        return NULL;
    k = &p->constants[rk - RLT_LUAOP_CONSTANT];
    return k->type == RLT_LUA_STRING ? k->u.s : NULL;
}

/* The script's name for the value in a register; kind NULL: it has none. */
static luaerr_name luaerr_name_of(const rlt_luaframe *f, int reg)
{
    const rlt_luaproto *p = luaerr_proto(f);
    const rlt_luastr *local;
    const rlt_luaop *o;

    for (;;) {
        local = luaerr_local(p, luaerr_at(f), reg);
        if (local)
            return luaerr_named("local", local);
        o = luaerr_writer(p, luaerr_at(f), reg);
        if (o == NULL || o->op != RLT_LUAOP_MOVE || o->b >= o->a)
            break;
        reg = o->b;
    }
    if (o && o->op == RLT_LUAOP_GETGLOBAL)
        return luaerr_named("global", p->constants[o->c].u.s);
    if (o && o->op == RLT_LUAOP_GETTABLE)
        return luaerr_named("field", luaerr_key(p, o->c));
    if (o && o->op == RLT_LUAOP_GETUPVAL)
        return luaerr_named("upvalue", p->ups[o->b].name);
    if (o && o->op == RLT_LUAOP_SELF)
        return luaerr_named("method", luaerr_key(p, o->c));
    return luaerr_named(NULL, NULL);
}

/* Names are shown as C strings. */
static void luaerr_say(rlt_say *say, relet_span s)
{
    char one[2] = {0, 0};
    size_t i;

    for (i = 0; i < s.n && s.p[i]; i++) {
        one[0] = s.p[i];
        rlt_say_text(say, one);
    }
}

static void luaerr_say_name(rlt_say *say, luaerr_name name)
{
    rlt_say_text(say, name.kind);
    rlt_say_text(say, " '");
    luaerr_say(say, name.text);
    rlt_say_text(say, "' ");
}

/* ---------------------------------------------------------------- sentences */

/* Is v a register of the running function? */
static int luaerr_register(const rlt_lua *L, const rlt_luaframe *f,
                           const rlt_luaval *v)
{
    uint32_t i;

    for (i = 0; i < f->fn->proto->stack; i++)
        if (v == &L->stack[f->base + i])
            return (int)i;
    return -1;
}

RELET_PRIVATE int rlt_luaerr_type(rlt_lua *L, const rlt_luaval *v,
                                  const char *doing)
{
    char buffer[LUAERR_TEXT];
    const rlt_luaframe *f = &L->frames[L->frames_n - 1];
    const char *type = rlt_luaval_type_name(v);
    luaerr_name name = luaerr_named(NULL, NULL);
    rlt_say say;
    int reg;

    if (L->frames_n > 0 && luaerr_proto(f)) {
        reg = luaerr_register(L, f, v);
        if (reg >= 0)
            name = luaerr_name_of(f, reg);
    }
    rlt_say_init(&say, buffer, sizeof buffer);
    rlt_luaerr_where(L, 0, &say);
    rlt_say_text(&say, "attempt to ");
    rlt_say_text(&say, doing);
    rlt_say_text(&say, " ");
    if (name.kind) {
        luaerr_say_name(&say, name);
        rlt_say_text(&say, "(");
    }
    rlt_say_text(&say, "a ");
    rlt_say_text(&say, type);
    rlt_say_text(&say, name.kind ? " value)" : " value");
    return luaerr_set(L, &say);
}

RELET_PRIVATE int rlt_luaerr_order(rlt_lua *L, const rlt_luaval *a,
                                   const rlt_luaval *b)
{
    char buffer[LUAERR_TEXT];
    const char *x = rlt_luaval_type_name(a), *y = rlt_luaval_type_name(b);
    rlt_say say;

    rlt_say_init(&say, buffer, sizeof buffer);
    rlt_luaerr_where(L, 0, &say);
    rlt_say_text(&say, "attempt to compare ");
    if (strcmp(x, y) == 0) {
        rlt_say_text(&say, "two ");
        rlt_say_text(&say, x);
        rlt_say_text(&say, " values");
    } else {
        rlt_say_text(&say, x);
        rlt_say_text(&say, " with ");
        rlt_say_text(&say, y);
    }
    return luaerr_set(L, &say);
}

RELET_PRIVATE int rlt_luaerr_global(rlt_lua *L, const rlt_luastr *name)
{
    char buffer[LUAERR_TEXT];
    rlt_say say;

    rlt_say_init(&say, buffer, sizeof buffer);
    rlt_luaerr_where(L, 0, &say);
    rlt_say_text(&say,
                 "Script attempted to access nonexistent global variable '");
    luaerr_say(&say, rlt_luastr_span(name));
    rlt_say_text(&say, "'");
    return luaerr_set(L, &say);
}

/* The name by which the caller called the running builtin. */
static luaerr_name luaerr_callee(const rlt_lua *L)
{
    const rlt_luaframe *caller;
    const rlt_luaop *o;

    if (L->frames_n < 2)
        return luaerr_named(NULL, NULL);
    caller = &L->frames[L->frames_n - 2];
    if (luaerr_proto(caller) == NULL)
        return luaerr_named(NULL, NULL);
    o = caller->pc - 1;
    if (o->op != RLT_LUAOP_CALL && o->op != RLT_LUAOP_TAILCALL &&
        o->op != RLT_LUAOP_TFORLOOP)
        return luaerr_named(NULL, NULL);
    return luaerr_name_of(caller, o->a);
}

RELET_PRIVATE int rlt_luaerr_argument(rlt_lua *L, int i, const char *text)
{
    char buffer[LUAERR_TEXT];
    luaerr_name name = luaerr_callee(L);
    rlt_say say;

    rlt_say_init(&say, buffer, sizeof buffer);
    rlt_luaerr_where(L, 1, &say);
    if (name.kind && strcmp(name.kind, "method") == 0 && --i == 0) {
        rlt_say_text(&say, "calling '");
        luaerr_say(&say, name.text);
        rlt_say_text(&say, "' on bad self (");
    } else {
        rlt_say_text(&say, "bad argument #");
        rlt_say_int(&say, i);
        rlt_say_text(&say, " to '");
        luaerr_say(&say, name.text);
        rlt_say_text(&say, "' (");
    }
    rlt_say_text(&say, text);
    rlt_say_text(&say, ")");
    return luaerr_set(L, &say);
}

RELET_PRIVATE int rlt_luaerr_expected(rlt_lua *L, int i, const rlt_luaval *v,
                                      const char *expected)
{
    char buffer[96];
    rlt_say say;

    rlt_say_init(&say, buffer, sizeof buffer);
    rlt_say_text(&say, expected);
    rlt_say_text(&say, " expected, got ");
    rlt_say_text(&say, v ? rlt_luaval_type_name(v) : "no value");
    return rlt_luaerr_argument(L, i, buffer);
}
