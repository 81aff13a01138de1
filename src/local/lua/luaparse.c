/* SPDX-License-Identifier: MIT
 *
 * luaparse.c - the expressions of Lua 5.1, and the names in them.
 *
 * Recursive descent with a limit for its depth. After an error the lexer gives
 * only the end of the text, so all loops end. Statements are in luastat.c. */
#include "luastat.h"

RELET_PRIVATE void rlt_luaparse_fail_expected(rlt_luaparser *p, int type)
{
    char text[64];
    rlt_say say;

    rlt_say_init(&say, text, sizeof text);
    rlt_say_text(&say, "'");
    rlt_lualex_say_type(&say, type);
    rlt_say_text(&say, "' expected");
    rlt_lualex_fail(&p->x, text);
}

RELET_PRIVATE int rlt_luaparse_eat(rlt_luaparser *p, int type)
{
    if (p->x.token.type != type)
        return 0;
    rlt_lualex_next(&p->x);
    return 1;
}

RELET_PRIVATE void rlt_luaparse_need(rlt_luaparser *p, int type)
{
    if (!rlt_luaparse_eat(p, type))
        rlt_luaparse_fail_expected(p, type);
}

/* The word that closes what `opener` began at that line. */
RELET_PRIVATE void rlt_luaparse_need_close(rlt_luaparser *p, int type,
                                           int opener, uint32_t line)
{
    char text[96];
    rlt_say say;

    if (rlt_luaparse_eat(p, type))
        return;
    if (line == p->x.line) {
        rlt_luaparse_fail_expected(p, type);
        return;
    }
    rlt_say_init(&say, text, sizeof text);
    rlt_say_text(&say, "'");
    rlt_lualex_say_type(&say, type);
    rlt_say_text(&say, "' expected (to close '");
    rlt_lualex_say_type(&say, opener);
    rlt_say_text(&say, "' at line ");
    rlt_say_int(&say, (int64_t)line);
    rlt_say_text(&say, ")");
    rlt_lualex_fail(&p->x, text);
}

RELET_PRIVATE const rlt_luastr *rlt_luaparse_name(rlt_luaparser *p)
{
    const rlt_luastr *name = p->x.token.string;

    if (p->x.token.type != RLT_LUATOK_NAME) {
        rlt_luaparse_fail_expected(p, RLT_LUATOK_NAME);
        return NULL;
    }
    rlt_lualex_next(&p->x);
    return name;
}

RELET_PRIVATE int rlt_luaparse_enter(rlt_luaparser *p)
{
    if (++p->depth <= RLT_LUA_SYNTAX_MAX)
        return 1;
    rlt_lualex_fail_limit(&p->x, "chunk has too many syntax levels");
    return 0;
}

RELET_PRIVATE void rlt_luaparse_leave(rlt_luaparser *p)
{
    p->depth--;
}

/* "function at line 7 has more than 60 upvalues" */
static void luaparse_fail_limit(rlt_luaparser *p, const rlt_luacode *c,
                                int limit, const char *what)
{
    char text[96];
    rlt_say say;

    rlt_say_init(&say, text, sizeof text);
    if (c->line == 0) {
        rlt_say_text(&say, "main function");
    } else {
        rlt_say_text(&say, "function at line ");
        rlt_say_int(&say, (int64_t)c->line);
    }
    rlt_say_text(&say, " has more than ");
    rlt_say_int(&say, limit);
    rlt_say_text(&say, " ");
    rlt_say_text(&say, what);
    rlt_lualex_fail_limit(&p->x, text);
}

/* ------------------------------------------------------------------ names */

RELET_PRIVATE void rlt_luaparse_declare(rlt_luaparser *p,
                                        const rlt_luastr *name, int ahead)
{
    rlt_luacode *c = p->code;

    if (c->active_n + ahead + 1 > RLT_LUA_LOCALS_MAX) {
        luaparse_fail_limit(p, c, RLT_LUA_LOCALS_MAX, "local variables");
        return;
    }
    c->active[c->active_n + ahead] = rlt_luacode_local(c, name);
}

RELET_PRIVATE void rlt_luaparse_declare_text(rlt_luaparser *p,
                                             const char *name, int ahead)
{
    rlt_luaparse_declare(
        p, rlt_lualex_string(&p->x, name, strlen(name)), ahead);
}

RELET_PRIVATE void rlt_luaparse_activate(rlt_luaparser *p, int n)
{
    rlt_luacode *c = p->code;

    if (p->x.failed)
        return;
    for (; n > 0; n--) {
        rlt_lualocal *l = &c->locals[c->active[c->active_n]];

        l->from = c->n;
        l->reg = (uint8_t)c->active_n++;
    }
}

RELET_PRIVATE void rlt_luaparse_deactivate(rlt_luaparser *p, int down_to)
{
    rlt_luacode *c = p->code;

    if (p->x.failed)
        return;
    while (c->active_n > down_to)
        c->locals[c->active[--c->active_n]].to = c->n;
}

static int luaparse_find_local(const rlt_luacode *c, const rlt_luastr *name)
{
    int i;

    for (i = c->active_n; i > 0; i--)
        if (c->locals[c->active[i - 1]].name == name)
            return i - 1;
    return -1;
}

/* The block that the local belongs to must give it a place of its own. */
static void luaparse_mark_captured(rlt_luacode *c, int reg)
{
    rlt_luablock *b = c->block;

    while (b && b->locals > reg)
        b = b->outer;
    if (b)
        b->captured = 1;
}

static int luaparse_upvalue(rlt_luaparser *p, rlt_luacode *c,
                            const rlt_luastr *name, int in_stack, int index)
{
    int i;

    for (i = 0; i < c->ups_n; i++)
        if (c->ups[i].in_stack == in_stack && c->ups[i].index == index)
            return i;
    if (c->ups_n == RLT_LUA_UPVALUES_MAX) {
        luaparse_fail_limit(p, c, RLT_LUA_UPVALUES_MAX, "upvalues");
        return 0;
    }
    c->ups[c->ups_n].name = name;
    c->ups[c->ups_n].in_stack = (uint8_t)in_stack;
    c->ups[c->ups_n].index = (uint8_t)index;
    return c->ups_n++;
}

/* Where in c the name is found: an upvalue of all functions in between. */
static rlt_luaexpr_kind luaparse_resolve(rlt_luaparser *p, rlt_luacode *c,
                                         const rlt_luastr *name, int base,
                                         int *index)
{
    rlt_luaexpr_kind kind;

    if (c == NULL || p->x.failed)
        return RLT_LUAEXPR_GLOBAL;
    *index = luaparse_find_local(c, name);
    if (*index >= 0) {
        if (!base)
            luaparse_mark_captured(c, *index);
        return RLT_LUAEXPR_LOCAL;
    }
    kind = luaparse_resolve(p, c->outer, name, 0, index);
    if (kind == RLT_LUAEXPR_GLOBAL)
        return kind;
    *index = luaparse_upvalue(p, c, name, kind == RLT_LUAEXPR_LOCAL, *index);
    return RLT_LUAEXPR_UPVALUE;
}

RELET_PRIVATE void rlt_luaparse_variable(rlt_luaparser *p, rlt_luaexpr *e)
{
    const rlt_luastr *name = rlt_luaparse_name(p);
    int index = 0;
    rlt_luaexpr_kind kind = luaparse_resolve(p, p->code, name, 1, &index);

    if (kind == RLT_LUAEXPR_GLOBAL)
        index = rlt_luacode_string(p->code, name);
    rlt_luaexpr_init(e, kind, index);
}

static void luaparse_string(rlt_luaparser *p, rlt_luaexpr *e,
                            const rlt_luastr *s)
{
    rlt_luaexpr_init(e, RLT_LUAEXPR_CONSTANT, rlt_luacode_string(p->code, s));
}

RELET_PRIVATE void rlt_luaparse_field(rlt_luaparser *p, rlt_luaexpr *t)
{
    rlt_luaexpr key;

    (void)rlt_luacode_any(p->code, t);
    rlt_lualex_next(&p->x);
    luaparse_string(p, &key, rlt_luaparse_name(p));
    rlt_luacode_index(p->code, t, &key);
}

static void luaparse_key(rlt_luaparser *p, rlt_luaexpr *key)
{
    rlt_lualex_next(&p->x);
    rlt_luaparse_expr(p, key);
    rlt_luacode_value(p->code, key);
    rlt_luaparse_need(p, ']');
}

/* ----------------------------------------------------------- constructors */

#define LUAPARSE_BATCH 50 /* elements in registers at a time                 */

typedef struct luaparse_table {
    rlt_luaexpr last; /* an element that is not stored yet                   */
    int reg;
    int32_t elements, fields, waiting;
} luaparse_table;

static void luaparse_set_list(rlt_luaparser *p, luaparse_table *t, int n)
{
    (void)rlt_luacode_emit(p->code, RLT_LUAOP_SETLIST, t->reg, n,
                           t->elements - t->waiting);
    p->code->free = t->reg + 1;
    t->waiting = 0;
}

static void luaparse_table_close(rlt_luaparser *p, luaparse_table *t)
{
    if (t->last.kind == RLT_LUAEXPR_VOID)
        return;
    rlt_luacode_next(p->code, &t->last);
    t->last.kind = RLT_LUAEXPR_VOID;
    if (t->waiting == LUAPARSE_BATCH)
        luaparse_set_list(p, t, LUAPARSE_BATCH);
}

static int luaparse_is_open(const rlt_luaexpr *e)
{
    return e->kind == RLT_LUAEXPR_CALL || e->kind == RLT_LUAEXPR_VARARG;
}

static void luaparse_table_end(rlt_luaparser *p, luaparse_table *t)
{
    if (t->waiting == 0)
        return;
    if (luaparse_is_open(&t->last)) {
        rlt_luacode_results(p->code, &t->last, -1);
        luaparse_set_list(p, t, 0);
        t->elements--; /* how many it gives is not known                     */
        return;
    }
    if (t->last.kind != RLT_LUAEXPR_VOID)
        rlt_luacode_next(p->code, &t->last);
    luaparse_set_list(p, t, t->waiting);
}

static void luaparse_table_field(rlt_luaparser *p, luaparse_table *t)
{
    rlt_luacode *c = p->code;
    rlt_luaexpr key, value;
    int free = c->free;
    int32_t rk;

    if (p->x.token.type == RLT_LUATOK_NAME)
        luaparse_string(p, &key, rlt_luaparse_name(p));
    else
        luaparse_key(p, &key);
    t->fields++;
    rlt_luaparse_need(p, '=');
    rk = rlt_luacode_rk(c, &key);
    rlt_luaparse_expr(p, &value);
    (void)rlt_luacode_emit(c, RLT_LUAOP_SETTABLE, t->reg, rk,
                           rlt_luacode_rk(c, &value));
    c->free = free;
}

static void luaparse_table_item(rlt_luaparser *p, luaparse_table *t)
{
    int type = p->x.token.type;

    if (type == '[' || (type == RLT_LUATOK_NAME &&
                        rlt_lualex_peek(&p->x) == '=')) {
        luaparse_table_field(p, t);
        return;
    }
    rlt_luaparse_expr(p, &t->last);
    t->elements++;
    t->waiting++;
}

static void luaparse_constructor(rlt_luaparser *p, rlt_luaexpr *e)
{
    rlt_luacode *c = p->code;
    uint32_t line = p->x.line;
    int32_t at = rlt_luacode_emit(c, RLT_LUAOP_NEWTABLE, 0, 0, 0);
    luaparse_table t;

    memset(&t, 0, sizeof t);
    rlt_luaexpr_init(e, RLT_LUAEXPR_OPEN, at);
    rlt_luaexpr_init(&t.last, RLT_LUAEXPR_VOID, 0);
    rlt_luacode_next(c, e);
    t.reg = e->info;
    rlt_luaparse_need(p, '{');
    while (p->x.token.type != '}') {
        luaparse_table_close(p, &t);
        luaparse_table_item(p, &t);
        if (!rlt_luaparse_eat(p, ',') && !rlt_luaparse_eat(p, ';'))
            break;
    }
    rlt_luaparse_need_close(p, '}', '{', line);
    luaparse_table_end(p, &t);
    if (p->x.failed)
        return;
    c->ops[at].b = (uint16_t)RLT_MIN(t.elements, RLT_LUAOP_OPERAND_MAX);
    c->ops[at].c = t.fields;
}

/* ------------------------------------------------------------------ calls */

RELET_PRIVATE int rlt_luaparse_list(rlt_luaparser *p, rlt_luaexpr *e)
{
    int n = 1;

    rlt_luaparse_expr(p, e);
    while (rlt_luaparse_eat(p, ',')) {
        rlt_luacode_next(p->code, e);
        rlt_luaparse_expr(p, e);
        n++;
    }
    return n;
}

static void luaparse_call_list(rlt_luaparser *p, rlt_luaexpr *args,
                               uint32_t line)
{
    if (line != p->x.last_line)
        rlt_lualex_fail(&p->x,
                        "ambiguous syntax (function call x new statement)");
    rlt_lualex_next(&p->x);
    if (p->x.token.type != ')') {
        (void)rlt_luaparse_list(p, args);
        if (luaparse_is_open(args))
            rlt_luacode_results(p->code, args, -1);
    }
    rlt_luaparse_need_close(p, ')', '(', line);
}

/* f is in a register, and the object of a method in the next one. */
static void luaparse_call(rlt_luaparser *p, rlt_luaexpr *f)
{
    rlt_luacode *c = p->code;
    uint32_t line = p->x.line;
    int base = f->info, n = 0;
    rlt_luaexpr args;

    rlt_luaexpr_init(&args, RLT_LUAEXPR_VOID, 0);
    if (p->x.token.type == '(') {
        luaparse_call_list(p, &args, line);
    } else if (p->x.token.type == '{') {
        luaparse_constructor(p, &args);
    } else if (p->x.token.type == RLT_LUATOK_STRING) {
        luaparse_string(p, &args, p->x.token.string);
        rlt_lualex_next(&p->x);
    } else {
        rlt_lualex_fail(&p->x, "function arguments expected");
        return;
    }
    if (!luaparse_is_open(&args)) {
        if (args.kind != RLT_LUAEXPR_VOID)
            rlt_luacode_next(c, &args);
        n = c->free - base;
    }
    rlt_luaexpr_init(f, RLT_LUAEXPR_CALL,
                     rlt_luacode_emit(c, RLT_LUAOP_CALL, base, n, 2));
    rlt_luacode_line(c, line);
    c->free = RLT_MIN(base + 1, RLT_LUA_REGISTERS_MAX);
}

static void luaparse_prefix(rlt_luaparser *p, rlt_luaexpr *e)
{
    uint32_t line = p->x.line;

    if (p->x.token.type == '(') {
        rlt_lualex_next(&p->x);
        rlt_luaparse_expr(p, e);
        rlt_luaparse_need_close(p, ')', '(', line);
        rlt_luacode_read(p->code, e); /* now it is one value, no variable    */
    } else if (p->x.token.type == RLT_LUATOK_NAME) {
        rlt_luaparse_variable(p, e);
    } else {
        rlt_luaexpr_init(e, RLT_LUAEXPR_NIL, 0);
        rlt_lualex_fail(&p->x, "unexpected symbol");
    }
}

static void luaparse_method(rlt_luaparser *p, rlt_luaexpr *e)
{
    rlt_luaexpr key;

    rlt_lualex_next(&p->x);
    luaparse_string(p, &key, rlt_luaparse_name(p));
    rlt_luacode_self(p->code, e, &key);
    luaparse_call(p, e);
}

RELET_PRIVATE void rlt_luaparse_suffixed(rlt_luaparser *p, rlt_luaexpr *e)
{
    rlt_luaexpr key;

    luaparse_prefix(p, e);
    for (;;) {
        switch (p->x.token.type) {
        case '.':
            rlt_luaparse_field(p, e);
            break;
        case '[':
            (void)rlt_luacode_any(p->code, e);
            luaparse_key(p, &key);
            rlt_luacode_index(p->code, e, &key);
            break;
        case ':':
            luaparse_method(p, e);
            break;
        case '(':
        case '{':
        case RLT_LUATOK_STRING:
            rlt_luacode_next(p->code, e);
            luaparse_call(p, e);
            break;
        default:
            return;
        }
    }
}

/* -------------------------------------------------------------- operators */

static void luaparse_dots(rlt_luaparser *p, rlt_luaexpr *e)
{
    rlt_luacode *c = p->code;

    if (!(c->vararg & RLT_LUA_VARARG)) {
        rlt_lualex_fail(&p->x,
                        "cannot use '...' outside a vararg function");
        rlt_luaexpr_init(e, RLT_LUAEXPR_NIL, 0);
        return;
    }
    c->vararg = RLT_LUA_VARARG;
    rlt_luaexpr_init(e, RLT_LUAEXPR_VARARG,
                     rlt_luacode_emit(c, RLT_LUAOP_VARARG, 0, 1, 0));
    rlt_lualex_next(&p->x);
}

static void luaparse_simple(rlt_luaparser *p, rlt_luaexpr *e)
{
    switch (p->x.token.type) {
    case RLT_LUATOK_NUMBER:
        rlt_luaexpr_init(e, RLT_LUAEXPR_NUMBER, 0);
        e->number = p->x.token.number;
        break;
    case RLT_LUATOK_STRING:
        luaparse_string(p, e, p->x.token.string);
        break;
    case RLT_LUATOK_NIL:
        rlt_luaexpr_init(e, RLT_LUAEXPR_NIL, 0);
        break;
    case RLT_LUATOK_TRUE:
        rlt_luaexpr_init(e, RLT_LUAEXPR_TRUE, 0);
        break;
    case RLT_LUATOK_FALSE:
        rlt_luaexpr_init(e, RLT_LUAEXPR_FALSE, 0);
        break;
    case RLT_LUATOK_DOTS:
        luaparse_dots(p, e);
        return;
    case '{':
        luaparse_constructor(p, e);
        return;
    case RLT_LUATOK_FUNCTION: {
        uint32_t line = p->x.line;

        rlt_lualex_next(&p->x);
        rlt_luaparse_body(p, e, 0, line);
        return;
    }
    default:
        rlt_luaparse_suffixed(p, e);
        return;
    }
    rlt_lualex_next(&p->x);
}

/* How tightly an operator binds to its left and to its right, in the order of
 * rlt_luabinary; .. and ^ are computed from the right. */
static const struct {
    int type, left, right;
} luaparse_operators[] = {
    {'+', 6, 6},  {'-', 6, 6},  {'*', 7, 7}, {'/', 7, 7}, {'%', 7, 7},
    {'^', 10, 9}, {RLT_LUATOK_CONCAT, 5, 4}, {RLT_LUATOK_NE, 3, 3},
    {RLT_LUATOK_EQ, 3, 3}, {'<', 3, 3}, {RLT_LUATOK_LE, 3, 3}, {'>', 3, 3},
    {RLT_LUATOK_GE, 3, 3}, {RLT_LUATOK_AND, 2, 2}, {RLT_LUATOK_OR, 1, 1}};

static rlt_luabinary luaparse_binary(int type)
{
    int i = 0;

    while (i < RLT_LUABIN_NONE && luaparse_operators[i].type != type)
        i++;
    return (rlt_luabinary)i;
}

#define LUAPARSE_UNARY 8

static rlt_luabinary luaparse_above(rlt_luaparser *p, rlt_luaexpr *e,
                                    int limit);

static int luaparse_unary(rlt_luaparser *p, rlt_luaexpr *e)
{
    rlt_luaopcode op = RLT_LUAOP_NOT;

    if (p->x.token.type == '-')
        op = RLT_LUAOP_UNM;
    else if (p->x.token.type == '#')
        op = RLT_LUAOP_LEN;
    else if (p->x.token.type != RLT_LUATOK_NOT)
        return 0;
    rlt_lualex_next(&p->x);
    (void)luaparse_above(p, e, LUAPARSE_UNARY);
    rlt_luacode_unary(p->code, op, e);
    return 1;
}

/* Reads an expression of operators that bind tighter than limit. Returns the
 * operator at which it stopped. */
static rlt_luabinary luaparse_above(rlt_luaparser *p, rlt_luaexpr *e,
                                    int limit)
{
    rlt_luabinary op, next;
    rlt_luaexpr right;

    if (!rlt_luaparse_enter(p)) {
        rlt_luaexpr_init(e, RLT_LUAEXPR_NIL, 0);
        rlt_luaparse_leave(p);
        return RLT_LUABIN_NONE;
    }
    if (!luaparse_unary(p, e))
        luaparse_simple(p, e);
    op = luaparse_binary(p->x.token.type);
    while (op != RLT_LUABIN_NONE && luaparse_operators[op].left > limit) {
        rlt_lualex_next(&p->x);
        rlt_luacode_infix(p->code, op, e);
        next = luaparse_above(p, &right, luaparse_operators[op].right);
        rlt_luacode_binary(p->code, op, e, &right);
        op = next;
    }
    rlt_luaparse_leave(p);
    return op;
}

RELET_PRIVATE void rlt_luaparse_expr(rlt_luaparser *p, rlt_luaexpr *e)
{
    (void)luaparse_above(p, e, 0);
}
