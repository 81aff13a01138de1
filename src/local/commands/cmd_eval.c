/* SPDX-License-Identifier: MIT
 *
 * cmd_eval.c - EVAL and EVALSHA, and what a script may run; SCRIPT.
 */
#include "lookup.h"
#include "luaresp.h"
#include "rows.h"
#include "dispatch.h"
#include "scripts.h"
#include "users.h"

/* Elements for one script step. Most commands do not walk all elements, so a
 * step has many: by default 800 commands may each look at a million
 * elements. */
#define CMD_EVAL_WALK 16

/* A running script. */
typedef struct cmd_eval_run {
    rlt_call *c;
    int read_only, allow_oom, has_written, was_oom;
    const char *cut;     /* it ends with this error, …                       */
    uint32_t cut_behind; /* … behind so many changes                         */
} cmd_eval_run;

/* ------------------------------------------------- what a script may run */

static int cmd_eval_may(cmd_eval_run *r, rlt_call *in)
{
    const rlt_command *row;
    char why;

    row = rlt_lookup_row(in->server, in->argv, in->argc, &in->is_sub,
                         &in->container);
    in->command = row;
    if (row == NULL)
        rlt_call_error(in, "ERR Unknown Redis command called from script");
    else if (!rlt_lookup_arity_ok(row, in->argc))
        rlt_call_error(in, "ERR Wrong number of args calling Redis command "
                           "from script");
    else if (row->flags & RLT_CMD_NOSCRIPT)
        rlt_call_error(in,
                       "ERR This Redis command is not allowed from script");
    else if (!in->peer->replaying &&
             !rlt_users_may(in, in->peer->user, &why))
        rlt_call_error(
            in, why == 'c'
                    ? "ERR The user executing the script can't run this "
                      "command or subcommand"
                : why == 'k'
                    ? "ERR The user executing the script can't access at "
                      "least one of the keys mentioned in the command "
                      "arguments"
                    : "ERR The user executing the script can't publish to "
                      "the channel mentioned in the command");
    else if (r->read_only &&
             (row->flags & (RLT_CMD_WRITE | RLT_CMD_MAY_REPLICATE)))
        rlt_call_error(in, "ERR Write commands are not allowed from "
                           "read-only scripts.");
    else if (!r->allow_oom && !r->has_written && r->was_oom &&
             (row->flags & RLT_CMD_DENYOOM))
        rlt_call_error(in, RLT_ERR_OOM);
    else if (r->cut && (row->flags & RLT_CMD_WRITE)) {
        if (r->cut_behind == 0)
            rlt_call_error(in, r->cut);
        else
            r->cut_behind--;
    }
    return !in->failed;
}

/* The elements that a command may have walked, in script steps: else a runaway
 * script could walk for hours. Fast commands walk none. */
static int cmd_eval_cost(const rlt_call *in)
{
    uint32_t at = 0, i;
    const rlt_obj *o;
    uint64_t n = 0;

    if (in->command->flags & RLT_CMD_FAST)
        return 0;
    if (strcmp(in->command->name, "keys") == 0)
        n = (uint64_t)4 * rlt_keys_count(in->db); /* and compares names      */
    while ((i = rlt_lookup_key(in->command, in->argv, in->argc, &at)) != 0) {
        o = rlt_call_peek(in, in->argv[i]);
        n += o ? rlt_obj_count(o) : 0;
    }
    return (int)RLT_MIN(n / CMD_EVAL_WALK, INT32_MAX);
}

static int cmd_eval_call(void *user, const relet_span *argv, uint32_t argc,
                         int resp, relet_span *reply)
{
    cmd_eval_run *r = (cmd_eval_run *)user;
    rlt_out *out = &r->c->server->scripts->reply;
    rlt_call in;
    int cost = 0;

    rlt_buf_drop(&out->buf, rlt_buf_used(&out->buf));
    out->resp = resp;
    rlt_dispatch_begin(&in, r->c->peer);
    in.argv = argv;
    in.argc = argc;
    in.out = out;
    in.in_script = 1;
    in.outer = r->c;
    in.in_exec = r->c->in_exec;
    if (cmd_eval_may(r, &in)) {
        if (in.command->flags & RLT_CMD_WRITE)
            r->has_written = 1;
        rlt_dispatch_call(&in);
        cost = cmd_eval_cost(&in);
    }
    if (out->failed) {
        out->failed = 0;
        return RELET_E_MEMORY;
    }
    reply->p = (const char *)rlt_buf_head(&out->buf);
    reply->n = rlt_buf_used(&out->buf);
    return cost;
}

static int cmd_eval_acl(void *user, const relet_span *argv, uint32_t argc)
{
    const cmd_eval_run *r = (const cmd_eval_run *)user;
    rlt_call in;
    char why;

    rlt_dispatch_begin(&in, r->c->peer);
    in.argv = argv;
    in.argc = argc;
    in.command =
        rlt_lookup_row(in.server, argv, argc, &in.is_sub, &in.container);
    if (in.command == NULL)
        return -1;
    return in.peer->replaying || rlt_users_may(&in, in.peer->user, &why);
}

static void cmd_eval_set_repl(void *user, int what)
{
    cmd_eval_run *r = (cmd_eval_run *)user;

    r->c->server->effect_off = r->c->peer->replaying || !(what & 1);
}

/* ------------------------------------------------------------------ running */

/* "CODE text script: SHA, on @user_script:1." */
static void cmd_eval_failed(rlt_call *c, const rlt_script *script,
                            const rlt_lua_result *result)
{
    static const char script_is[] = " script: ";
    size_t n = result->error.n + result->source.n + 100, at;
    char *text = (char *)rlt_call_scratch(c, n);
    relet_span s;

    if (text == NULL)
        return;
    at = result->error.n;
    if (at > 0)
        memcpy(text, result->error.p, at);
    if (result->line != 0) {
        memcpy(text + at, script_is, sizeof script_is - 1);
        at += sizeof script_is - 1;
        memcpy(text + at, script->sha, 40);
        at += 40;
        memcpy(text + at, ", on ", 5);
        at += 5;
        memcpy(text + at, result->source.p, result->source.n);
        at += result->source.n;
        text[at++] = ':';
        at += rlt_text_put_i64(text + at, result->line);
        text[at++] = '.';
    }
    s.p = text;
    s.n = at;
    c->failed = 1;
    c->server->counts.errors += result->counted ? 0u : 1u;
    rlt_out_error_span(c->out, s);
}

static int cmd_eval_prepare(rlt_call *c, const rlt_script *script, int ro,
                            cmd_eval_run *r)
{
    int plain = script->flags & RLT_SCRIPT_PLAIN;

    memset(r, 0, sizeof *r);
    r->c = c;
    r->cut = c->server->cut;
    r->cut_behind = c->server->cut_behind;
    c->server->cut = NULL;
    r->was_oom = rlt_dispatch_oom(c->server) && !c->peer->replaying;
    if (!plain && !(script->flags & RLT_SCRIPT_NO_WRITES) && ro) {
        rlt_call_error(c, "ERR Can not execute a script with write flag "
                          "using *_ro command.");
        return 0;
    }
    if (!plain && r->was_oom &&
        !(script->flags & (RLT_SCRIPT_ALLOW_OOM | RLT_SCRIPT_NO_WRITES))) {
        rlt_call_error(c, "OOM allow-oom flag is not set on the script, can "
                          "not run it when used memory > 'maxmemory'");
        return 0;
    }
    r->read_only = ro || (!plain && (script->flags & RLT_SCRIPT_NO_WRITES));
    r->allow_oom =
        !plain && (script->flags & (RLT_SCRIPT_ALLOW_OOM)) != 0;
    return 1;
}

static void cmd_eval_run_script(rlt_call *c, const rlt_script *script,
                                uint32_t keys, int ro)
{
    rlt_server *s = c->server;
    rlt_lua *L = &s->scripts->lua;
    uint32_t db = c->peer->db;
    int effect_off = s->effect_off;
    rlt_lua_call call;
    rlt_lua_host host;
    rlt_lua_result result;
    cmd_eval_run r;

    if (!cmd_eval_prepare(c, script, ro, &r))
        return;
    memset(&host, 0, sizeof host);
    host.user = &r;
    host.call = cmd_eval_call;
    host.may = cmd_eval_acl;
    host.set_repl = cmd_eval_set_repl;
    memset(&call, 0, sizeof call);
    call.keys = c->argv + 3;
    call.keys_n = keys;
    call.args = c->argv + 3 + keys;
    call.args_n = c->argc - 3 - keys;
    call.host = &host;
    call.steps_max = (int64_t)RLT_MIN(s->config.script_steps, INT64_MAX);
    call.memory_max = s->config.script_memory;
    if (rlt_lua_run(L, script->code, &call, &result))
        s->counts.errors += rlt_luaresp_write(L, c->out, &result.value);
    else
        cmd_eval_failed(c, script, &result);
    rlt_lua_end(L);
    rlt_buf_drop(&s->scripts->reply.buf,
                 rlt_buf_used(&s->scripts->reply.buf));
    rlt_buf_shrink(&s->scripts->reply.buf, 4096);
    /* A script's SELECT ends with the script. */
    c->peer->db = db;
    s->effect_off = effect_off;
}

static int cmd_eval_keys(rlt_call *c, uint32_t *keys)
{
    int64_t n;

    if (!rlt_call_int(c, 2, &n, NULL))
        return 0;
    if (n > (int64_t)c->argc - 3) {
        rlt_call_error(c, "ERR Number of keys can't be greater than number "
                          "of args");
        return 0;
    }
    if (n < 0) {
        rlt_call_error(c, "ERR Number of keys can't be negative");
        return 0;
    }
    *keys = (uint32_t)n;
    return 1;
}

static void cmd_eval_eval(rlt_call *c)
{
    const rlt_script *script;
    uint32_t keys;

    if (!cmd_eval_keys(c, &keys))
        return;
    script = rlt_scripts_load(c, c->argv[1]);
    if (script)
        cmd_eval_run_script(c, script, keys,
                            strcmp(c->command->name, "eval_ro") == 0);
}

static void cmd_eval_evalsha(rlt_call *c)
{
    static const char unknown[] =
        "NOSCRIPT No matching script. Please use EVAL.";
    const rlt_script *script;
    uint32_t keys;

    if (c->argv[1].n != 40) {
        rlt_call_error(c, unknown);
        return;
    }
    if (!cmd_eval_keys(c, &keys))
        return;
    script = rlt_scripts_find(c->server, c->argv[1]);
    if (script == NULL) {
        rlt_call_error(c, unknown);
        return;
    }
    cmd_eval_run_script(c, script, keys,
                        strcmp(c->command->name, "evalsha_ro") == 0);
}

/* ------------------------------------------------------------------- SCRIPT */

static void cmd_eval_load(rlt_call *c)
{
    const rlt_script *script = rlt_scripts_load(c, c->argv[2]);

    if (script)
        rlt_out_text(c->out, script->sha);
}

static void cmd_eval_exists(rlt_call *c)
{
    uint32_t i;

    rlt_out_array(c->out, c->argc - 2);
    for (i = 2; i < c->argc; i++)
        rlt_out_int(c->out, rlt_scripts_find(c->server, c->argv[i]) != NULL);
}

static void cmd_eval_flush(rlt_call *c)
{
    if (c->argc > 3 || (c->argc == 3 && !rlt_call_is(c, 2, "async") &&
                        !rlt_call_is(c, 2, "sync"))) {
        rlt_call_error(c,
                       "ERR SCRIPT FLUSH only support SYNC|ASYNC option");
        return;
    }
    rlt_scripts_flush(c->server);
    rlt_out_status(c->out, "OK");
}

static void cmd_eval_kill(rlt_call *c)
{
    rlt_call_error(c, "NOTBUSY No scripts in execution right now.");
}

#define NO RLT_CMD_NOSCRIPT
#define NONE 0, 0, 0, 0, 0, NULL, NULL
#define KEYS 0, 0, 0, RLT_KEYS_COUNTED, 2, NULL, NULL

static const rlt_command cmd_eval_script[] = {
    {"exists", cmd_eval_exists, -3, NO, NONE},
    {"flush", cmd_eval_flush, -2, NO, NONE},
    {"help", rlt_call_help, 2,
     NO | RLT_CMD_LOADING | RLT_CMD_STALE, NONE},
    {"kill", cmd_eval_kill, 2, NO | RLT_CMD_ALLOW_BUSY, NONE},
    {"load", cmd_eval_load, 3, NO | RLT_CMD_STALE, NONE},
    {NULL, NULL, 0, 0, NONE},
};

#define RUN \
    (NO | RLT_CMD_SKIP_MONITOR | RLT_CMD_STALE | RLT_CMD_MOVABLE)

static const rlt_command cmd_eval_rows[] = {
    {"eval", cmd_eval_eval, -3, RUN | RLT_CMD_MAY_REPLICATE, KEYS},
    {"evalsha", cmd_eval_evalsha, -3, RUN | RLT_CMD_MAY_REPLICATE, KEYS},
    {"eval_ro", cmd_eval_eval, -3, RUN | RLT_CMD_READONLY, KEYS},
    {"evalsha_ro", cmd_eval_evalsha, -3, RUN | RLT_CMD_READONLY, KEYS},
    {"script", NULL, -2, 0, 0, 0, 0, 0, 0, NULL, cmd_eval_script},
};

#undef NO
#undef NONE
#undef KEYS
#undef RUN

RELET_PRIVATE const rlt_command *rlt_cmd_eval_rows(size_t *n)
{
    *n = sizeof cmd_eval_rows / sizeof *cmd_eval_rows;
    return cmd_eval_rows;
}
