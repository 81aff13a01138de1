/* SPDX-License-Identifier: MIT
 *
 * cmd_multi.c - MULTI EXEC DISCARD WATCH UNWATCH.
 */
#include "rows.h"
#include "multi.h"
#include "dispatch.h"
#include "users.h"

static void cmd_multi_multi(rlt_call *c)
{
    if (c->peer->in_multi) {
        rlt_call_error(c, "ERR MULTI calls can not be nested");
        return;
    }
    c->peer->in_multi = 1;
    rlt_out_status(c->out, "OK");
}

static void cmd_multi_discard(rlt_call *c)
{
    if (!c->peer->in_multi) {
        rlt_call_error(c, "ERR DISCARD without MULTI");
        return;
    }
    rlt_queue_clear(c->peer);
    rlt_out_status(c->out, "OK");
}

static void cmd_multi_refused(rlt_call *in, char why)
{
    const char *what = "no permission to execute the command or subcommand";

    if (why == 'k')
        what = "no permission to touch the specified keys";
    if (why == 'n')
        what = "no permission to access one of the channels used as "
               "arguments to the command";
    rlt_call_error_with(
        in, "NOPERM ACLs rules changed between the moment the transaction "
            "was accumulated and the EXEC call. This command is no longer "
            "allowed for the following reason: ",
        relet_str(what), "");
}

static void cmd_multi_one(rlt_call *c, const rlt_queued *q)
{
    rlt_call in;
    char why;

    rlt_dispatch_begin(&in, c->peer);
    /* A peer that an earlier command has closed gets no more replies. */
    in.out = c->peer->closing ? &c->server->nowhere : rlt_dispatch_out(c->peer);
    in.command = q->command;
    in.container = q->container;
    in.is_sub = q->is_sub;
    in.argv = rlt_multi_argv(q);
    in.argc = q->argc;
    in.in_exec = 1;
    if (c->peer->replaying || rlt_users_may(&in, c->peer->user, &why))
        rlt_dispatch_call(&in);
    else
        cmd_multi_refused(&in, why);
}

/* Watches end before the queued commands run; the queue is dropped after the
 * last of them, and the transaction ends. */
static void cmd_multi_exec(rlt_call *c)
{
    rlt_peer *p = c->peer;
    const rlt_queued *q;

    if (!p->in_multi) {
        rlt_call_error(c, "ERR EXEC without MULTI");
        return;
    }
    if (p->multi_broken) {
        rlt_queue_clear(p);
        rlt_call_error(c, "EXECABORT Transaction discarded because of "
                          "previous errors.");
        return;
    }
    if (rlt_queue_changed(p, c->now_ms)) {
        rlt_queue_clear(p);
        rlt_out_null_array(c->out);
        return;
    }
    rlt_queue_unwatch(p);
    rlt_out_array(c->out, p->multi_count);
    for (q = p->multi_first; q; q = q->next)
        cmd_multi_one(c, q);
    rlt_queue_clear(p);
}

static size_t cmd_multi_watch_bound(const rlt_call *c)
{
    size_t n = 0;
    uint32_t i;

    for (i = 1; i < c->argc; i++)
        n += RLT_QUEUE_WATCH_COST(c->argv[i].n);
    return n;
}

static void cmd_multi_watch(rlt_call *c)
{
    uint32_t i;

    if (c->peer->in_multi) {
        rlt_call_error(c, "ERR WATCH inside MULTI is not allowed");
        return;
    }
    for (i = 1; i < c->argc; i++)
        rlt_queue_watch(c->peer, c->argv[i], c->now_ms);
    rlt_out_status(c->out, "OK");
}

static void cmd_multi_unwatch(rlt_call *c)
{
    rlt_queue_unwatch(c->peer);
    rlt_out_status(c->out, "OK");
}

#define F_BASE \
    (RLT_CMD_NOSCRIPT | RLT_CMD_LOADING | RLT_CMD_STALE | RLT_CMD_FAST | \
     RLT_CMD_ALLOW_BUSY)

static const rlt_command cmd_multi_rows[] = {
    {"multi", cmd_multi_multi, 1, F_BASE, 0, 0, 0, 0, 0, NULL, NULL},
    {"exec", cmd_multi_exec, 1,
     RLT_CMD_NOSCRIPT | RLT_CMD_LOADING | RLT_CMD_STALE |
         RLT_CMD_SKIP_MONITOR,
     0, 0, 0, 0, 0, NULL, NULL},
    {"discard", cmd_multi_discard, 1, F_BASE, 0, 0, 0, 0, 0, NULL, NULL},
    {"watch", cmd_multi_watch, -2, F_BASE, 1, -1, 1, 0, 0,
     cmd_multi_watch_bound, NULL},
    {"unwatch", cmd_multi_unwatch, 1, F_BASE, 0, 0, 0, 0, 0, NULL, NULL},
};

#undef F_BASE

RELET_PRIVATE const rlt_command *rlt_cmd_multi_rows(size_t *n)
{
    *n = sizeof cmd_multi_rows / sizeof *cmd_multi_rows;
    return cmd_multi_rows;
}
