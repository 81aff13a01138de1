/* SPDX-License-Identifier: MIT
 *
 * luaredis.c - the table redis: the functions by which a script uses its
 * server.
 *
 * Errors of these functions are tables with the text under "err", as a
 * server makes them. */
#include "sha1.h"
#include "lua.h"
#include "lualib.h"
#include "luaresp.h"

/* ---------------------------------------------------------------- errors */

static int luaredis_push_error(rlt_lua *L, const char *text)
{
    return rlt_luaresp_push_error(L, relet_str(text));
}

static int luaredis_throw(rlt_lua *L, const char *text)
{
    if (luaredis_push_error(L, text) < 0)
        return -1;
    L->error = L->stack[--L->top];
    return -1;
}

/* ------------------------------------------------------------------ calls */

#define RLT_LUAREDIS_ARGUMENTS \
    "Lua redis lib command arguments must be strings or integers"

static int luaredis_argument(rlt_lua *L, const rlt_luaval *v, relet_span *out)
{
    char text[RLT_LUANUM_TEXT], *p;
    size_t n;

    if (v->type == RLT_LUA_STRING) {
        *out = rlt_luastr_span(v->u.s);
        return 1;
    }
    if (v->type != RLT_LUA_NUMBER)
        return 0;
    rlt_luavm_spend_digits(L, v->u.n);
    n = rlt_luanum_exact(text, v->u.n);
    p = (char *)rlt_luavm_alloc(L, n);
    if (p == NULL)
        return -1;
    memcpy(p, text, n);
    out->p = p;
    out->n = n;
    return 1;
}

/* NULL: they are no command; *e tells whether that is an error already set
 * (negative) or one to be told. */
static relet_span *luaredis_arguments(rlt_lua *L, uint32_t base, int n,
                                      int *e)
{
    relet_span *argv;
    int i;

    argv = (relet_span *)rlt_luavm_alloc(L, (size_t)n * sizeof *argv);
    *e = argv ? 1 : -1;
    for (i = 0; i < n && *e > 0; i++)
        *e = luaredis_argument(L, &L->stack[base + (uint32_t)i], &argv[i]);
    return *e > 0 ? argv : NULL;
}

/* An error of pcall is returned, one of call is thrown. */
static int luaredis_fail(rlt_lua *L, const char *text, int throws)
{
    return throws ? luaredis_throw(L, text) : luaredis_push_error(L, text);
}

static int luaredis_command(rlt_lua *L, uint32_t base, int n, int throws)
{
    relet_span *argv, reply;
    int e = 0;

    if (n == 0)
        return luaredis_fail(L, "Please specify at least one argument for "
                                "this redis lib call", throws);
    argv = luaredis_arguments(L, base, n, &e);
    if (argv == NULL && e < 0)
        return -1;
    if (argv == NULL)
        return luaredis_fail(L, RLT_LUAREDIS_ARGUMENTS, throws);
    if (rlt_luavm_spend(L, 10) < 0)
        return -1;
    e = L->host->call(L->host->user, argv, (uint32_t)n, L->resp, &reply);
    if (e < 0)
        return rlt_luaerr_memory(L);
    if (rlt_luavm_spend(L, (size_t)e) < 0 || rlt_luaresp_read(L, reply) < 0)
        return -1;
    if (!throws || reply.p[0] != '-')
        return 1;
    L->error = L->stack[--L->top];
    return -1;
}

static int luaredis_call(rlt_lua *L, uint32_t base, int n)
{
    return luaredis_command(L, base, n, 1);
}

static int luaredis_pcall(rlt_lua *L, uint32_t base, int n)
{
    return luaredis_command(L, base, n, 0);
}

static int luaredis_acl_check_cmd(rlt_lua *L, uint32_t base, int n)
{
    relet_span *argv;
    int e = 0, may;

    if (n == 0)
        return luaredis_throw(L, "Please specify at least one argument for "
                                 "this redis.acl_check_cmd() call");
    argv = luaredis_arguments(L, base, n, &e);
    if (argv == NULL && e < 0)
        return -1;
    if (argv == NULL)
        return luaredis_throw(L, RLT_LUAREDIS_ARGUMENTS);
    may = L->host->may ? L->host->may(L->host->user, argv, (uint32_t)n) : -1;
    if (may < 0)
        return luaredis_throw(L, "Invalid command passed to "
                                 "redis.acl_check_cmd()");
    return rlt_luapush(L, rlt_luaval_bool(may));
}

/* ---------------------------------------------------------------- replies */

static int luaredis_is_text(rlt_lua *L, uint32_t base, int n)
{
    return n == 1 && L->stack[base].type == RLT_LUA_STRING;
}

static int luaredis_error_reply(rlt_lua *L, uint32_t base, int n)
{
    const rlt_luastr *s;
    rlt_luabytes b;
    relet_span line;

    if (!luaredis_is_text(L, base, n))
        return luaredis_push_error(L, "wrong number or type of arguments");
    s = L->stack[base].u.s;
    rlt_luabytes_init(&b, L);
    if (s->n == 0 || s->p[0] != '-')
        rlt_luabytes_add_char(&b, '-');
    rlt_luabytes_add(&b, s->p, s->n);
    if (b.failed)
        return -1;
    line.p = b.p;
    line.n = b.n;
    return rlt_luaresp_push_error(L, line);
}

static int luaredis_status_reply(rlt_lua *L, uint32_t base, int n)
{
    rlt_luatab *t;
    rlt_luaval key;

    if (!luaredis_is_text(L, base, n))
        return luaredis_push_error(L, "wrong number or type of arguments");
    t = rlt_luavm_table(L, 0, 0);
    if (t == NULL || rlt_luapush_text(L, "ok") < 0)
        return -1;
    key = L->stack[--L->top];
    if (rlt_luavm_set(L, t, &key, &L->stack[base]) < 0)
        return -1;
    return rlt_luapush(L, rlt_luaval_table(t));
}

/* -------------------------------------------------------------- and others */

/* The text of a value; only texts and numbers have one. */
static int luaredis_text(rlt_lua *L, rlt_luaval *v, relet_span *out)
{
    if (rlt_luavm_to_string(L, v) < 0)
        return -1;
    if (v->type != RLT_LUA_STRING)
        return 0;
    *out = rlt_luastr_span(v->u.s);
    return 1;
}

static int luaredis_sha1hex(rlt_lua *L, uint32_t base, int n)
{
    relet_span s = relet_str("");
    char hex[40];

    if (n != 1)
        return luaredis_throw(L, "wrong number of arguments");
    if (luaredis_text(L, &L->stack[base], &s) < 0 ||
        rlt_luavm_spend(L, s.n / 8) < 0)
        return -1;
    rlt_sha1_hex(s.p, s.n, hex);
    return rlt_luapush_string(L, hex, sizeof hex);
}

static int luaredis_log(rlt_lua *L, uint32_t base, int n)
{
    rlt_luabytes b;
    relet_span s;
    double level;
    int64_t v;
    int i, e;

    if (n < 2)
        return luaredis_throw(L, "redis.log() requires two arguments or "
                                 "more.");
    if (!rlt_luavm_number(L, &L->stack[base], &level))
        return luaredis_throw(L, "First argument must be a number (log "
                                 "level).");
    v = rlt_luanum_int(level);
    if (v < 0 || v > 3)
        return luaredis_throw(L, "Invalid debug level.");
    rlt_luabytes_init(&b, L);
    for (i = 1; i < n; i++) {
        e = luaredis_text(L, &L->stack[base + (uint32_t)i], &s);
        if (e < 0)
            return -1;
        if (e > 0 && i > 1)
            rlt_luabytes_add_char(&b, ' ');
        if (e > 0)
            rlt_luabytes_add(&b, s.p, s.n);
    }
    if (b.failed)
        return -1;
    s.p = b.p;
    s.n = b.n;
    if (L->host->log)
        L->host->log(L->host->user, (int)v, s);
    return 0;
}

static int luaredis_setresp(rlt_lua *L, uint32_t base, int n)
{
    double v = 0;

    if (n != 1)
        return luaredis_throw(L, "redis.setresp() requires one argument.");
    (void)rlt_luavm_number(L, &L->stack[base], &v);
    if (rlt_luanum_int(v) != 2 && rlt_luanum_int(v) != 3)
        return luaredis_throw(L, "RESP version must be 2 or 3.");
    L->resp = (int)v;
    return 0;
}

static int luaredis_set_repl(rlt_lua *L, uint32_t base, int n)
{
    double v = 0;

    if (n != 1)
        return luaredis_throw(L, "redis.set_repl() requires two arguments.");
    (void)rlt_luavm_number(L, &L->stack[base], &v);
    if (rlt_luanum_int(v) < 0 || rlt_luanum_int(v) > 3)
        return luaredis_throw(L, "Invalid replication flags. Use REPL_AOF, "
                                 "REPL_REPLICA, REPL_ALL or REPL_NONE.");
    if (L->host->set_repl)
        L->host->set_repl(L->host->user, (int)v);
    return 0;
}

/* Effects are always replicated, and there is no debugger. */
static int luaredis_replicate_commands(rlt_lua *L, uint32_t base, int n)
{
    (void)base;
    (void)n;
    return rlt_luapush(L, rlt_luaval_bool(1));
}

static int luaredis_breakpoint(rlt_lua *L, uint32_t base, int n)
{
    (void)base;
    (void)n;
    return rlt_luapush(L, rlt_luaval_bool(0));
}

static int luaredis_debug(rlt_lua *L, uint32_t base, int n)
{
    (void)L;
    (void)base;
    (void)n;
    return 0;
}

static const rlt_luabuiltin luaredis_all[] = {
    {"call", luaredis_call},
    {"pcall", luaredis_pcall},
    {"acl_check_cmd", luaredis_acl_check_cmd},
    {"log", luaredis_log},
    {"setresp", luaredis_setresp},
    {"sha1hex", luaredis_sha1hex},
    {"error_reply", luaredis_error_reply},
    {"status_reply", luaredis_status_reply},
    {"replicate_commands", luaredis_replicate_commands},
    {"set_repl", luaredis_set_repl},
    {"breakpoint", luaredis_breakpoint},
    {"debug", luaredis_debug}};

RELET_PRIVATE const rlt_luabuiltin *rlt_lualib_redis(size_t *n)
{
    *n = sizeof luaredis_all / sizeof luaredis_all[0];
    return luaredis_all;
}
