/* SPDX-License-Identifier: MIT
 *
 * cmd_conn.c - the connection itself: HELLO, AUTH, SELECT, PING, RESET.
 */
#include "pubsub.h"
#include "peer.h"
#include "rows.h"
#include "dispatch.h"
#include "users.h"

static void cmd_conn_ping(rlt_call *c)
{
    if (c->argc > 2) {
        rlt_call_error_arity(c);
        return;
    }
    if (c->out->resp == 2 && !c->in_script &&
        rlt_local_pubsub_reading(c->peer)) {
        rlt_out_array(c->out, 2);
        rlt_out_text(c->out, "pong");
        if (c->argc == 1)
            rlt_out_text(c->out, "");
        else
            rlt_out_bulk(c->out, c->argv[1]);
    } else if (c->argc == 1) {
        rlt_out_status(c->out, "PONG");
    } else {
        rlt_out_bulk(c->out, c->argv[1]);
    }
}

static void cmd_conn_echo(rlt_call *c)
{
    rlt_out_bulk(c->out, c->argv[1]);
}

static void cmd_conn_select(rlt_call *c)
{
    int64_t v;

    if (!rlt_call_between(c, 1, INT32_MIN, INT32_MAX, &v, NULL))
        return;
    if (v < 0 || v >= c->server->config.databases) {
        rlt_call_error(c, "ERR DB index is out of range");
        return;
    }
    c->peer->db = (uint32_t)v;
    rlt_out_status(c->out, "OK");
}

static void cmd_conn_reset(rlt_call *c)
{
    rlt_peer_reset(c->peer);
    c->out = rlt_dispatch_out(c->peer);
    rlt_out_status(c->out, "RESET");
}

/* -------------------------------------------------------------------- AUTH */

static int cmd_conn_enter(rlt_call *c, relet_span name, relet_span password)
{
    rlt_user *u = rlt_users_enter(c->server, name, password);

    if (u == NULL) {
        rlt_call_error(c, "WRONGPASS invalid username-password pair or user "
                          "is disabled.");
        return 0;
    }
    c->peer->user = u;
    c->peer->authenticated = 1;
    return 1;
}

static void cmd_conn_auth(rlt_call *c)
{
    relet_span name = relet_str("default");

    if (c->argc > 3) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return;
    }
    if (c->argc == 2 && rlt_users_default(c->server)->no_password) {
        rlt_call_error(c, "ERR AUTH <password> called without any password "
                          "configured for the default user. Are you sure "
                          "your configuration is correct?");
        return;
    }
    if (c->argc == 3)
        name = c->argv[1];
    if (cmd_conn_enter(c, name, c->argv[c->argc - 1]))
        rlt_out_status(c->out, "OK");
}

/* ------------------------------------------------------------------- HELLO */

RELET_PRIVATE int rlt_cmd_conn_name_ok(rlt_call *c, relet_span name)
{
    size_t i;

    for (i = 0; i < name.n; i++)
        if (name.p[i] < '!' || name.p[i] > '~') {
            rlt_call_error(c, "ERR Client names cannot contain spaces, "
                              "newlines or special characters.");
            return 0;
        }
    return 1;
}

/* *version is 0 when none was given. Options take effect as they are read, even
 * when a later one is wrong. */
static int cmd_conn_hello_options(rlt_call *c, int64_t *version)
{
    uint32_t i;

    *version = 0;
    if (c->argc < 2)
        return 1;
    if (!rlt_call_int(c, 1, version,
                      "ERR Protocol version is not an integer or out of "
                      "range"))
        return 0;
    if (*version < 2 || *version > 3) {
        rlt_call_error(c, "NOPROTO unsupported protocol version");
        return 0;
    }
    for (i = 2; i < c->argc; i++) {
        if (rlt_call_is(c, i, "auth") && c->argc - i > 2) {
            if (!cmd_conn_enter(c, c->argv[i + 1], c->argv[i + 2]))
                return 0;
            i += 2;
        } else if (rlt_call_is(c, i, "setname") && c->argc - i > 1) {
            if (!rlt_cmd_conn_name_ok(c, c->argv[++i]))
                return 0;
            rlt_peer_name(c->peer, c->argv[i]);
        } else {
            rlt_call_error_with(c, "ERR Syntax error in HELLO option '",
                                c->argv[i], "'");
            return 0;
        }
    }
    return 1;
}

static void cmd_conn_hello_reply(rlt_call *c)
{
    rlt_out_map(c->out, 7);
    rlt_out_text(c->out, "server");
    rlt_out_text(c->out, "redis");
    rlt_out_text(c->out, "version");
    rlt_out_text(c->out, "7.0.15");
    rlt_out_text(c->out, "proto");
    rlt_out_int(c->out, c->out->resp);
    rlt_out_text(c->out, "id");
    rlt_out_int(c->out, (int64_t)c->peer->id);
    rlt_out_text(c->out, "mode");
    rlt_out_text(c->out, "standalone");
    rlt_out_text(c->out, "role");
    rlt_out_text(c->out, "master");
    rlt_out_text(c->out, "modules");
    rlt_out_array(c->out, 0);
}

static void cmd_conn_hello(rlt_call *c)
{
    int64_t version;

    if (!cmd_conn_hello_options(c, &version))
        return;
    if (!c->peer->authenticated) {
        rlt_call_error(c, "NOAUTH HELLO must be called with the client already "
                          "authenticated, otherwise the HELLO AUTH <user> "
                          "<pass> option can be used to authenticate the "
                          "client and select the RESP protocol version at "
                          "the same time");
        return;
    }
    if (version) {
        c->peer->out.resp = (int)version;
        c->out->resp = (int)version;
    }
    cmd_conn_hello_reply(c);
}

static size_t cmd_conn_bound(const rlt_call *c)
{
    size_t n = 0;
    uint32_t i;

    for (i = 1; i < c->argc; i++)
        n += RLT_STR_COST(c->argv[i].n);
    return n;
}

/* Only for scripts, which may not call it, and for COMMAND: the dispatcher
 * looks for QUIT before all else. */
static void cmd_conn_quit(rlt_call *c)
{
    c->peer->closing = 1;
    rlt_out_status(c->out, "OK");
}

#define ANY \
    (RLT_CMD_NOSCRIPT | RLT_CMD_LOADING | RLT_CMD_STALE | RLT_CMD_FAST | \
     RLT_CMD_NO_AUTH | RLT_CMD_ALLOW_BUSY)
#define NONE 0, 0, 0, 0, 0

static const rlt_command cmd_conn_rows[] = {
    {"ping", cmd_conn_ping, -1, RLT_CMD_FAST, NONE, NULL, NULL},
    {"echo", cmd_conn_echo, 2, RLT_CMD_FAST, NONE, NULL, NULL},
    {"select", cmd_conn_select, 2,
     RLT_CMD_LOADING | RLT_CMD_STALE | RLT_CMD_FAST, NONE, NULL, NULL},
    {"auth", cmd_conn_auth, -2, ANY, NONE, NULL, NULL},
    {"hello", cmd_conn_hello, -1, ANY, NONE, cmd_conn_bound, NULL},
    {"quit", cmd_conn_quit, -1, ANY, NONE, NULL, NULL},
    {"reset", cmd_conn_reset, 1, ANY, NONE, NULL, NULL},
};

#undef ANY
#undef NONE

RELET_PRIVATE const rlt_command *rlt_cmd_conn_rows(size_t *n)
{
    *n = sizeof cmd_conn_rows / sizeof *cmd_conn_rows;
    return cmd_conn_rows;
}
