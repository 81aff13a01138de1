/* SPDX-License-Identifier: MIT
 *
 * luastat.c - the statements of Lua 5.1, and functions (luaparse.h). */
#include "luastat.h"

static void luastat_block(rlt_luaparser *p);
static void luastat_chunk(rlt_luaparser *p);

static void luastat_enter(rlt_luaparser *p, rlt_luablock *b, int is_loop)
{
    b->outer = p->code->block;
    b->breaks = RLT_LUA_NO_JUMP;
    b->locals = (uint8_t)p->code->active_n;
    b->captured = 0;
    b->is_loop = (uint8_t)is_loop;
    p->code->block = b;
}

static void luastat_leave(rlt_luaparser *p)
{
    rlt_luacode *c = p->code;
    rlt_luablock *b = c->block;

    c->block = b->outer;
    rlt_luaparse_deactivate(p, b->locals);
    if (b->captured)
        (void)rlt_luacode_emit(c, RLT_LUAOP_CLOSE, b->locals, 0, 0);
    if (!p->x.failed)
        c->free = c->active_n;
    rlt_luacode_patch_here(c, b->breaks);
}

/* -------------------------------------------------------------- functions */

static void luastat_open(rlt_luaparser *p, rlt_luacode *c, uint32_t line)
{
    rlt_luacode_open(c, &p->x, p->code);
    c->line = line;
    p->code = c;
}

static const rlt_luaproto *luastat_close(rlt_luaparser *p)
{
    rlt_luacode *c = p->code;

    rlt_luaparse_deactivate(p, 0);
    rlt_luacode_return(c, 0, 0);
    p->code = c->outer;
    return rlt_luacode_close(c);
}

/* If a function is declared with "..." but does not use it, its further
 * arguments are in a table called arg. Servers keep this old behaviour. */
static void luastat_params(rlt_luaparser *p, int method)
{
    rlt_luacode *c = p->code;
    int n = 0;

    if (method) {
        rlt_luaparse_declare_text(p, "self", n++);
        rlt_luaparse_activate(p, 1);
        n = 0;
    }
    if (p->x.token.type != ')') {
        do {
            if (p->x.token.type == RLT_LUATOK_NAME) {
                rlt_luaparse_declare(p, rlt_luaparse_name(p), n++);
            } else if (p->x.token.type == RLT_LUATOK_DOTS) {
                rlt_lualex_next(&p->x);
                rlt_luaparse_declare_text(p, "arg", n++);
                c->vararg = RLT_LUA_VARARG | RLT_LUA_VARARG_TABLE;
            } else {
                rlt_lualex_fail(&p->x, "<name> or '...' expected");
            }
        } while (!c->vararg && rlt_luaparse_eat(p, ','));
    }
    rlt_luaparse_activate(p, n);
    c->params = c->active_n - (c->vararg != 0);
    rlt_luacode_reserve(c, c->active_n);
}

RELET_PRIVATE void rlt_luaparse_body(rlt_luaparser *p, rlt_luaexpr *e,
                                     int method, uint32_t line)
{
    rlt_luacode *c = (rlt_luacode *)rlt_luamem_get(p->x.scratch, sizeof *c);
    const rlt_luaproto *proto;

    rlt_luaexpr_init(e, RLT_LUAEXPR_NIL, 0);
    if (c == NULL) {
        rlt_lualex_fail_memory(&p->x);
        return;
    }
    luastat_open(p, c, line);
    rlt_luaparse_need(p, '(');
    luastat_params(p, method);
    rlt_luaparse_need(p, ')');
    luastat_chunk(p);
    rlt_luaparse_need_close(p, RLT_LUATOK_END, RLT_LUATOK_FUNCTION, line);
    proto = luastat_close(p);
    if (p->x.failed)
        return;
    rlt_luaexpr_init(e, RLT_LUAEXPR_OPEN,
                     rlt_luacode_emit(p->code, RLT_LUAOP_CLOSURE, 0, 0,
                                      rlt_luacode_proto(p->code, proto)));
}

/* ------------------------------------------------------------- assignment */

typedef struct luastat_target {
    struct luastat_target *before;
    rlt_luaexpr var;
} luastat_target;

/* Makes the number of values that of the names: adds nils, or drops values. */
static void luastat_adjust(rlt_luaparser *p, int names, int values,
                           rlt_luaexpr *e)
{
    rlt_luacode *c = p->code;
    int missing = names - values;

    if (e->kind == RLT_LUAEXPR_CALL || e->kind == RLT_LUAEXPR_VARARG) {
        missing = RLT_MAX(missing + 1, 0);
        rlt_luacode_results(c, e, missing);
        if (missing > 1)
            rlt_luacode_reserve(c, missing - 1);
        missing = 0;
    } else if (e->kind != RLT_LUAEXPR_VOID) {
        rlt_luacode_next(c, e);
    }
    if (missing > 0) {
        int reg = c->free;

        rlt_luacode_reserve(c, missing);
        (void)rlt_luacode_emit(c, RLT_LUAOP_LOADNIL, reg, reg + missing - 1,
                               0);
    }
    c->free -= RLT_MAX(values - names, 0);
}

/* a[i], i = …: what the table expression used must outlive the assignment
 * to i, so it uses a copy. */
static void luastat_conflict(rlt_luaparser *p, luastat_target *t,
                             const rlt_luaexpr *local)
{
    rlt_luacode *c = p->code;
    int copy = c->free, conflict = 0;

    for (; t; t = t->before) {
        if (t->var.kind != RLT_LUAEXPR_INDEXED)
            continue;
        if (t->var.info == local->info) {
            t->var.info = copy;
            conflict = 1;
        }
        if (t->var.aux == local->info) {
            t->var.aux = copy;
            conflict = 1;
        }
    }
    if (!conflict)
        return;
    (void)rlt_luacode_emit(c, RLT_LUAOP_MOVE, copy, local->info, 0);
    rlt_luacode_reserve(c, 1);
}

static int luastat_is_variable(const rlt_luaexpr *e)
{
    return e->kind == RLT_LUAEXPR_LOCAL || e->kind == RLT_LUAEXPR_UPVALUE ||
           e->kind == RLT_LUAEXPR_GLOBAL || e->kind == RLT_LUAEXPR_INDEXED;
}

/* t is the n-th variable of the statement; values go in from the last one. */
static void luastat_assign(rlt_luaparser *p, luastat_target *t, int n)
{
    luastat_target next;
    rlt_luaexpr e;
    int values;

    if (!luastat_is_variable(&t->var)) {
        rlt_lualex_fail(&p->x, "syntax error");
        return;
    }
    if (rlt_luaparse_eat(p, ',')) {
        next.before = t;
        rlt_luaparse_suffixed(p, &next.var);
        if (next.var.kind == RLT_LUAEXPR_LOCAL)
            luastat_conflict(p, t, &next.var);
        if (rlt_luaparse_enter(p))
            luastat_assign(p, &next, n + 1);
        rlt_luaparse_leave(p);
    } else {
        rlt_luaparse_need(p, '=');
        values = rlt_luaparse_list(p, &e);
        if (values == n) {
            rlt_luacode_one(p->code, &e);
            rlt_luacode_store(p->code, &t->var, &e);
            return;
        }
        luastat_adjust(p, n, values, &e);
    }
    rlt_luaexpr_init(&e, RLT_LUAEXPR_FIXED, p->code->free - 1);
    rlt_luacode_store(p->code, &t->var, &e);
}

static void luastat_expression(rlt_luaparser *p)
{
    luastat_target t;

    t.before = NULL;
    rlt_luaparse_suffixed(p, &t.var);
    if (t.var.kind == RLT_LUAEXPR_CALL)
        rlt_luacode_results(p->code, &t.var, 0);
    else
        luastat_assign(p, &t, 1);
}

/* ------------------------------------------------------------------ loops */

/* The jumps that are taken when the condition is false. */
static int32_t luastat_condition(rlt_luaparser *p)
{
    rlt_luaexpr e;

    rlt_luaparse_expr(p, &e);
    if (e.kind == RLT_LUAEXPR_NIL)
        e.kind = RLT_LUAEXPR_FALSE;
    rlt_luacode_if_true(p->code, &e);
    return e.when_false;
}

static void luastat_break(rlt_luaparser *p)
{
    rlt_luacode *c = p->code;
    rlt_luablock *b = c->block;
    int captured = 0;

    while (b && !b->is_loop) {
        captured |= b->captured;
        b = b->outer;
    }
    if (b == NULL) {
        rlt_lualex_fail(&p->x, "no loop to break");
        return;
    }
    if (captured)
        (void)rlt_luacode_emit(c, RLT_LUAOP_CLOSE, b->locals, 0, 0);
    rlt_luacode_join(c, &b->breaks, rlt_luacode_jump(c));
}

static void luastat_while(rlt_luaparser *p, uint32_t line)
{
    rlt_luacode *c = p->code;
    rlt_luablock b;
    int32_t start, out;

    rlt_lualex_next(&p->x);
    start = rlt_luacode_label(c);
    out = luastat_condition(p);
    luastat_enter(p, &b, 1);
    rlt_luaparse_need(p, RLT_LUATOK_DO);
    luastat_block(p);
    rlt_luacode_patch(c, rlt_luacode_jump(c), start);
    rlt_luaparse_need_close(p, RLT_LUATOK_END, RLT_LUATOK_WHILE, line);
    luastat_leave(p);
    rlt_luacode_patch_here(c, out);
}

static void luastat_repeat(rlt_luaparser *p, uint32_t line)
{
    rlt_luacode *c = p->code;
    rlt_luablock loop, scope;
    int32_t start = rlt_luacode_label(c), again;

    luastat_enter(p, &loop, 1);
    luastat_enter(p, &scope, 0);
    rlt_lualex_next(&p->x);
    luastat_chunk(p);
    rlt_luaparse_need_close(p, RLT_LUATOK_UNTIL, RLT_LUATOK_REPEAT, line);
    again = luastat_condition(p); /* sees the locals of the loop             */
    if (scope.captured) {
        luastat_break(p);
        rlt_luacode_patch_here(c, again);
        luastat_leave(p);
        again = rlt_luacode_jump(c);
    } else {
        luastat_leave(p);
    }
    rlt_luacode_patch(c, again, start);
    luastat_leave(p);
}

/* Both kinds of for, from `do` on; n: how many names the body sees. */
static void luastat_for_body(rlt_luaparser *p, int base, uint32_t line, int n,
                             int numeric)
{
    rlt_luacode *c = p->code;
    rlt_luablock b;
    int32_t prepare, end;

    rlt_luaparse_activate(p, 3);
    rlt_luaparse_need(p, RLT_LUATOK_DO);
    prepare = numeric ? rlt_luacode_emit(c, RLT_LUAOP_FORPREP, base, 0, -1)
                      : rlt_luacode_jump(c);
    luastat_enter(p, &b, 0);
    rlt_luaparse_activate(p, n);
    rlt_luacode_reserve(c, n);
    luastat_block(p);
    luastat_leave(p);
    rlt_luacode_patch_here(c, prepare);
    end = numeric ? rlt_luacode_emit(c, RLT_LUAOP_FORLOOP, base, 0, -1)
                  : rlt_luacode_emit(c, RLT_LUAOP_TFORLOOP, base, 0, n);
    rlt_luacode_line(c, line);
    if (!numeric)
        end = rlt_luacode_jump(c);
    rlt_luacode_patch(c, end, prepare + 1);
}

static void luastat_for_value(rlt_luaparser *p)
{
    rlt_luaexpr e;

    rlt_luaparse_expr(p, &e);
    rlt_luacode_next(p->code, &e);
}

static void luastat_for_numeric(rlt_luaparser *p, const rlt_luastr *name,
                                uint32_t line)
{
    rlt_luacode *c = p->code;
    int base = c->free;
    rlt_luaexpr one;

    rlt_luaparse_declare_text(p, "(for index)", 0);
    rlt_luaparse_declare_text(p, "(for limit)", 1);
    rlt_luaparse_declare_text(p, "(for step)", 2);
    rlt_luaparse_declare(p, name, 3);
    rlt_luaparse_need(p, '=');
    luastat_for_value(p);
    rlt_luaparse_need(p, ',');
    luastat_for_value(p);
    if (rlt_luaparse_eat(p, ',')) {
        luastat_for_value(p);
    } else {
        rlt_luaexpr_init(&one, RLT_LUAEXPR_NUMBER, 0);
        one.number = 1;
        rlt_luacode_next(c, &one);
    }
    luastat_for_body(p, base, line, 1, 1);
}

static void luastat_for_generic(rlt_luaparser *p, const rlt_luastr *name)
{
    rlt_luacode *c = p->code;
    int base = c->free, n = 3, values;
    uint32_t line;
    rlt_luaexpr e;

    rlt_luaparse_declare_text(p, "(for generator)", 0);
    rlt_luaparse_declare_text(p, "(for state)", 1);
    rlt_luaparse_declare_text(p, "(for control)", 2);
    rlt_luaparse_declare(p, name, n++);
    while (rlt_luaparse_eat(p, ','))
        rlt_luaparse_declare(p, rlt_luaparse_name(p), n++);
    rlt_luaparse_need(p, RLT_LUATOK_IN);
    line = p->x.line;
    values = rlt_luaparse_list(p, &e);
    luastat_adjust(p, 3, values, &e);
    c->stack = RLT_MAX(c->stack, base + 6); /* the call of the generator     */
    luastat_for_body(p, base, line, n - 3, 0);
}

static void luastat_for(rlt_luaparser *p, uint32_t line)
{
    rlt_luablock b;
    const rlt_luastr *name;

    luastat_enter(p, &b, 1);
    rlt_lualex_next(&p->x);
    name = rlt_luaparse_name(p);
    if (p->x.token.type == '=')
        luastat_for_numeric(p, name, line);
    else if (p->x.token.type == ',' || p->x.token.type == RLT_LUATOK_IN)
        luastat_for_generic(p, name);
    else
        rlt_lualex_fail(&p->x, "'=' or 'in' expected");
    rlt_luaparse_need_close(p, RLT_LUATOK_END, RLT_LUATOK_FOR, line);
    luastat_leave(p);
}

/* ------------------------------------------------------- other statements */

/* One condition and its block; returns the jumps past it. */
static int32_t luastat_then(rlt_luaparser *p)
{
    int32_t past;

    rlt_lualex_next(&p->x);
    past = luastat_condition(p);
    rlt_luaparse_need(p, RLT_LUATOK_THEN);
    luastat_block(p);
    return past;
}

static void luastat_if(rlt_luaparser *p, uint32_t line)
{
    rlt_luacode *c = p->code;
    int32_t past = luastat_then(p), end = RLT_LUA_NO_JUMP;

    while (p->x.token.type == RLT_LUATOK_ELSEIF) {
        rlt_luacode_join(c, &end, rlt_luacode_jump(c));
        rlt_luacode_patch_here(c, past);
        past = luastat_then(p);
    }
    if (p->x.token.type == RLT_LUATOK_ELSE) {
        rlt_luacode_join(c, &end, rlt_luacode_jump(c));
        rlt_luacode_patch_here(c, past);
        rlt_lualex_next(&p->x);
        luastat_block(p);
    } else {
        rlt_luacode_join(c, &end, past);
    }
    rlt_luacode_patch_here(c, end);
    rlt_luaparse_need_close(p, RLT_LUATOK_END, RLT_LUATOK_IF, line);
}

static void luastat_function(rlt_luaparser *p, uint32_t line)
{
    rlt_luaexpr var, body;
    int method = 0;

    rlt_lualex_next(&p->x);
    rlt_luaparse_variable(p, &var);
    while (p->x.token.type == '.')
        rlt_luaparse_field(p, &var);
    if (p->x.token.type == ':') {
        method = 1;
        rlt_luaparse_field(p, &var);
    }
    rlt_luaparse_body(p, &body, method, line);
    rlt_luacode_store(p->code, &var, &body);
    rlt_luacode_line(p->code, line);
}

/* The name is in scope already: the function may call itself. */
static void luastat_local_function(rlt_luaparser *p)
{
    rlt_luacode *c = p->code;
    rlt_luaexpr var, body;

    rlt_luaparse_declare(p, rlt_luaparse_name(p), 0);
    rlt_luaexpr_init(&var, RLT_LUAEXPR_LOCAL, c->free);
    rlt_luacode_reserve(c, 1);
    rlt_luaparse_activate(p, 1);
    rlt_luaparse_body(p, &body, 0, p->x.line);
    rlt_luacode_store(c, &var, &body);
    if (!p->x.failed)
        c->locals[c->active[c->active_n - 1]].from = c->n;
}

static void luastat_local(rlt_luaparser *p)
{
    int names = 0, values = 0;
    rlt_luaexpr e;

    rlt_luaexpr_init(&e, RLT_LUAEXPR_VOID, 0);
    do {
        rlt_luaparse_declare(p, rlt_luaparse_name(p), names++);
    } while (rlt_luaparse_eat(p, ','));
    if (rlt_luaparse_eat(p, '='))
        values = rlt_luaparse_list(p, &e);
    luastat_adjust(p, names, values, &e);
    rlt_luaparse_activate(p, names);
}

static int luastat_is_end(int type)
{
    return type == RLT_LUATOK_ELSE || type == RLT_LUATOK_ELSEIF ||
           type == RLT_LUATOK_END || type == RLT_LUATOK_END_OF_TEXT ||
           type == RLT_LUATOK_UNTIL;
}

static void luastat_return(rlt_luaparser *p)
{
    rlt_luacode *c = p->code;
    rlt_luaexpr e;
    int first = 0, n = 0;

    rlt_lualex_next(&p->x);
    if (!luastat_is_end(p->x.token.type) && p->x.token.type != ';') {
        n = rlt_luaparse_list(p, &e);
        if (e.kind == RLT_LUAEXPR_CALL || e.kind == RLT_LUAEXPR_VARARG) {
            rlt_luacode_results(c, &e, -1);
            if (e.kind == RLT_LUAEXPR_CALL && n == 1 && !p->x.failed)
                c->ops[e.info].op = RLT_LUAOP_TAILCALL;
            first = c->active_n;
            n = -1;
        } else if (n == 1) {
            first = rlt_luacode_any(c, &e);
        } else {
            rlt_luacode_next(c, &e);
            first = c->active_n;
        }
    }
    rlt_luacode_return(c, first, n);
}

/* Compiles one statement. 1 when no other may follow it in its block. */
static int luastat_one(rlt_luaparser *p)
{
    uint32_t line = p->x.line;

    switch (p->x.token.type) {
    case RLT_LUATOK_IF:
        luastat_if(p, line);
        return 0;
    case RLT_LUATOK_WHILE:
        luastat_while(p, line);
        return 0;
    case RLT_LUATOK_DO:
        rlt_lualex_next(&p->x);
        luastat_block(p);
        rlt_luaparse_need_close(p, RLT_LUATOK_END, RLT_LUATOK_DO, line);
        return 0;
    case RLT_LUATOK_FOR:
        luastat_for(p, line);
        return 0;
    case RLT_LUATOK_REPEAT:
        luastat_repeat(p, line);
        return 0;
    case RLT_LUATOK_FUNCTION:
        luastat_function(p, line);
        return 0;
    case RLT_LUATOK_LOCAL:
        rlt_lualex_next(&p->x);
        if (rlt_luaparse_eat(p, RLT_LUATOK_FUNCTION))
            luastat_local_function(p);
        else
            luastat_local(p);
        return 0;
    case RLT_LUATOK_RETURN:
        luastat_return(p);
        return 1;
    case RLT_LUATOK_BREAK:
        rlt_lualex_next(&p->x);
        luastat_break(p);
        return 1;
    default:
        luastat_expression(p);
        return 0;
    }
}

static void luastat_chunk(rlt_luaparser *p)
{
    int last = 0;

    if (rlt_luaparse_enter(p)) {
        while (!last && !luastat_is_end(p->x.token.type)) {
            last = luastat_one(p);
            (void)rlt_luaparse_eat(p, ';');
            if (!p->x.failed)
                p->code->free = p->code->active_n;
        }
    }
    rlt_luaparse_leave(p);
}

static void luastat_block(rlt_luaparser *p)
{
    rlt_luablock b;

    luastat_enter(p, &b, 0);
    luastat_chunk(p);
    luastat_leave(p);
}

RELET_PRIVATE const rlt_luaproto *rlt_luaparse(relet_span source,
                                               const char *chunk,
                                               rlt_luamem *code,
                                               rlt_luamem *scratch,
                                               char *error, size_t error_cap)
{
    rlt_luaparser p;
    rlt_luacode *main;

    memset(&p, 0, sizeof p);
    rlt_lualex_start(&p.x, source, chunk, code, scratch, error, error_cap);
    main = (rlt_luacode *)rlt_luamem_get(scratch, sizeof *main);
    if (main == NULL)
        rlt_lualex_fail_memory(&p.x);
    if (p.x.failed)
        return NULL;
    luastat_open(&p, main, 0);
    main->vararg = RLT_LUA_VARARG;
    luastat_chunk(&p);
    if (p.x.token.type != RLT_LUATOK_END_OF_TEXT)
        rlt_luaparse_fail_expected(&p, RLT_LUATOK_END_OF_TEXT);
    return luastat_close(&p);
}
