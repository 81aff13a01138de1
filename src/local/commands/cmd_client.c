/* SPDX-License-Identifier: MIT
 *
 * cmd_client.c - CLIENT: naming, listing, killing and pausing clients.
 */
#include "pubsub.h"
#include "blocked.h"
#include "peer.h"
#include "multi.h"
#include "rows.h"
#include "dispatch.h"
#include "track.h"
#include "users.h"

/* ------------------------------------------------------------ names and ids */

static void cmd_client_id(rlt_call *c)
{
    rlt_out_int(c->out, (int64_t)c->peer->id);
}

static void cmd_client_getname(rlt_call *c)
{
    if (c->peer->name)
        rlt_out_bulk(c->out, rlt_str_span(c->peer->name));
    else
        rlt_out_null(c->out);
}

static void cmd_client_setname(rlt_call *c)
{
    if (!rlt_cmd_conn_name_ok(c, c->argv[2]))
        return;
    rlt_peer_name(c->peer, c->argv[2]);
    rlt_out_status(c->out, "OK");
}

static size_t cmd_client_setname_bound(const rlt_call *c)
{
    return RLT_STR_COST(c->argv[2].n);
}

/* -------------------------------------------------------- CLIENT LIST lines */

/* Bytes that a line takes beside the name. */
#define CMD_CLIENT_LINE 768

static void cmd_client_number(rlt_say *s, const char *name, int64_t v)
{
    rlt_say_text(s, name);
    rlt_say_int(s, v);
}

static void cmd_client_flags(rlt_say *s, const rlt_peer *p)
{
    char text[16];
    size_t n = 0;

    if (rlt_local_pubsub_reading(p))
        text[n++] = 'P';
    if (p->in_multi)
        text[n++] = 'x';
    if (p->wait != RLT_WAIT_NONE)
        text[n++] = 'b';
    if (p->tracking & RLT_TRACK_ON)
        text[n++] = 't';
    if (p->tracking & RLT_TRACK_BROKEN_REDIRECT)
        text[n++] = 'R';
    if (p->tracking & RLT_TRACK_BCAST)
        text[n++] = 'B';
    if (p->watching && rlt_queue_changed(p, INT64_MIN))
        text[n++] = 'd';
    if (p->closing)
        text[n++] = 'c';
    text[n++] = 'U'; /* no TCP connection, like a Unix socket                 */
    if (p->no_evict)
        text[n++] = 'e';
    text[n] = '\0';
    rlt_say_text(s, text);
}

static void cmd_client_command(rlt_say *s, const rlt_peer *p)
{
    if (p->last == NULL) {
        rlt_say_text(s, "NULL");
        return;
    }
    if (p->last_container && p->last_container != p->last) {
        rlt_say_text(s, p->last_container->name);
        rlt_say_text(s, "|");
    }
    rlt_say_text(s, p->last->name);
}

/* Buffer sizes are those of this server, not those of Redis. */
static void cmd_client_say(rlt_say *s, const rlt_peer *p)
{
    int64_t now_ms = p->server->now_us / 1000;

    cmd_client_number(s, "id=", (int64_t)p->id);
    cmd_client_number(s, " addr=local:", p->number);
    rlt_say_text(s, " laddr=local:0");
    cmd_client_number(s, " fd=", p->number);
    rlt_say_text(s, " name=");
    if (p->name)
        rlt_say_span(s, rlt_str_span(p->name));
    cmd_client_number(s, " age=", (now_ms - p->created_ms) / 1000);
    cmd_client_number(s, " idle=", (now_ms - p->used_ms) / 1000);
    rlt_say_text(s, " flags=");
    cmd_client_flags(s, p);
    cmd_client_number(s, " db=", p->db);
    cmd_client_number(s, " sub=", p->subscribed[RLT_NEWS_CHANNEL].count);
    cmd_client_number(s, " psub=", p->subscribed[RLT_NEWS_PATTERN].count);
    cmd_client_number(s, " ssub=", p->subscribed[RLT_NEWS_SHARD].count);
    cmd_client_number(s, " multi=", p->in_multi ? (int64_t)p->multi_count : -1);
    cmd_client_number(s, " qbuf=", (int64_t)rlt_buf_used(&p->in));
    cmd_client_number(s, " qbuf-free=", (int64_t)rlt_buf_room(&p->in));
    cmd_client_number(s, " argv-mem=", 0);
    cmd_client_number(s, " multi-mem=", 0);
    cmd_client_number(s, " rbs=", (int64_t)p->out.buf.cap);
    cmd_client_number(s, " rbp=", (int64_t)p->out.buf.cap);
    cmd_client_number(s, " obl=", (int64_t)rlt_buf_used(&p->out.buf));
    rlt_say_text(s, " oll=0 omem=0");
    cmd_client_number(s, " tot-mem=",
                      (int64_t)(sizeof *p + p->in.cap + p->out.buf.cap));
    rlt_say_text(s, " events=r cmd=");
    cmd_client_command(s, p);
    rlt_say_text(s, " user=");
    if (p->user)
        rlt_say_span(s, rlt_str_span(p->user->name));
    cmd_client_number(s, " redir=", p->tracking & RLT_TRACK_ON
                                        ? (int64_t)p->redirect
                                        : -1);
    cmd_client_number(s, " resp=", p->out.resp);
    rlt_say_text(s, "\n");
}

static int cmd_client_is_type(const rlt_peer *p, const char *type)
{
    if (strcmp(type, "pubsub") == 0)
        return rlt_local_pubsub_reading(p);
    return strcmp(type, "normal") == 0 && !rlt_local_pubsub_reading(p);
}

/* "normal", "pubsub", "master", "replica"; NULL: an error was replied. */
static const char *cmd_client_type(rlt_call *c, uint32_t i)
{
    static const char *const types[] = {"normal", "pubsub", "master",
                                        "replica"};
    size_t k;

    for (k = 0; k < sizeof types / sizeof *types; k++)
        if (rlt_call_is(c, i, types[k]))
            return types[k];
    if (rlt_call_is(c, i, "slave"))
        return "replica";
    rlt_call_error_with(c, "ERR Unknown client type '", c->argv[i], "'");
    return NULL;
}

/* Writes one line, with room for names that escaping makes four times as
 * long. */
static void cmd_client_write(rlt_call *c, rlt_out *to, const rlt_peer *p)
{
    size_t cap = CMD_CLIENT_LINE + (p->name ? 4 * p->name->n : 0) +
                 (p->user ? 4 * p->user->name->n : 0);
    char *text = (char *)rlt_call_scratch(c, cap);
    rlt_say s;

    if (text == NULL) {
        to->failed = 1;
        return;
    }
    rlt_say_init(&s, text, cap);
    cmd_client_say(&s, p);
    rlt_out_raw(to, text, s.n);
}

static void cmd_client_reply(rlt_call *c, rlt_out *lines)
{
    relet_span text;

    text.p = (const char *)rlt_buf_head(&lines->buf);
    text.n = rlt_buf_used(&lines->buf);
    if (lines->failed) {
        if (!c->failed)
            rlt_call_error(c, RLT_ERR_OOM);
    } else {
        rlt_out_verbatim(c->out, "txt", text);
    }
    rlt_out_free(lines);
}

static void cmd_client_info(rlt_call *c)
{
    rlt_out lines;

    rlt_out_init(&lines, c->server->memory, c->server->config.output_max);
    cmd_client_write(c, &lines, c->peer);
    cmd_client_reply(c, &lines);
}

/* 1 if another peer is closed already, but its connection is not yet hung
 * up. */
static int cmd_client_gone(const rlt_call *c, const rlt_peer *p)
{
    return p->closing && p != c->peer;
}

static void cmd_client_list_ids(rlt_call *c, rlt_out *lines, uint32_t i)
{
    const rlt_peer *p;
    int64_t id;

    for (; i < c->argc; i++) {
        p = rlt_str_int(c->argv[i], &id)
                ? rlt_track_peer(c->server, (uint64_t)id)
                : NULL;
        if (p && !cmd_client_gone(c, p))
            cmd_client_write(c, lines, p);
    }
}

static int cmd_client_list_options(rlt_call *c, const char **type,
                                   uint32_t *ids)
{
    int64_t id;
    uint32_t i;

    *type = NULL;
    *ids = 0;
    if (c->argc == 4 && rlt_call_is(c, 2, "type")) {
        *type = cmd_client_type(c, 3);
        return *type != NULL;
    }
    if (c->argc > 3 && rlt_call_is(c, 2, "id")) {
        *ids = 3;
        for (i = 3; i < c->argc; i++)
            if (!rlt_call_int(c, i, &id, "ERR Invalid client ID"))
                return 0;
        return 1;
    }
    if (c->argc == 2)
        return 1;
    rlt_call_error(c, RLT_ERR_SYNTAX);
    return 0;
}

static void cmd_client_list(rlt_call *c)
{
    const rlt_server *s = c->server;
    const char *type;
    uint32_t ids, i;
    rlt_out lines;

    if (!cmd_client_list_options(c, &type, &ids))
        return;
    rlt_out_init(&lines, s->memory, s->config.output_max);
    if (ids)
        cmd_client_list_ids(c, &lines, ids);
    for (i = 0; i < s->peers_cap && ids == 0; i++)
        if (s->peers[i] && !cmd_client_gone(c, s->peers[i]) &&
            (type == NULL || cmd_client_is_type(s->peers[i], type)))
            cmd_client_write(c, &lines, s->peers[i]);
    cmd_client_reply(c, &lines);
}

/* -------------------------------------------------------------------- KILL */

typedef struct cmd_client_aim {
    int64_t id; /* 0: any                                                    */
    const char *type;
    relet_span addr, user;
    int skip_me, nowhere;
} cmd_client_aim;

static int cmd_client_aim_at(rlt_call *c, uint32_t i, cmd_client_aim *a)
{
    if (rlt_call_is(c, i, "id")) {
        return rlt_call_between(c, i + 1, 1, INT64_MAX, &a->id,
                                "ERR client-id should be greater than 0");
    }
    if (rlt_call_is(c, i, "type")) {
        a->type = cmd_client_type(c, i + 1);
        return a->type != NULL;
    }
    if (rlt_call_is(c, i, "addr")) {
        a->addr = c->argv[i + 1];
        return 1;
    }
    if (rlt_call_is(c, i, "laddr")) {
        a->nowhere |= !rlt_span_is(c->argv[i + 1], "local:0");
        return 1;
    }
    if (rlt_call_is(c, i, "user")) {
        a->user = c->argv[i + 1];
        if (rlt_users_find(c->server, a->user))
            return 1;
        rlt_call_error_with(c, "ERR No such user '", a->user, "'");
        return 0;
    }
    if (rlt_call_is(c, i, "skipme") && (rlt_call_is(c, i + 1, "yes") ||
                                        rlt_call_is(c, i + 1, "no"))) {
        a->skip_me = rlt_call_is(c, i + 1, "yes");
        return 1;
    }
    rlt_call_error(c, RLT_ERR_SYNTAX);
    return 0;
}

static int cmd_client_hit(const rlt_call *c, const rlt_peer *p,
                          const cmd_client_aim *a)
{
    relet_span addr = a->addr;
    int64_t number;

    if (a->nowhere || cmd_client_gone(c, p) || (a->skip_me && p == c->peer))
        return 0;
    if (a->id && (uint64_t)a->id != p->id)
        return 0;
    if (a->type && !cmd_client_is_type(p, a->type))
        return 0;
    if (a->user.p && !(p->user && rlt_span_same(rlt_str_span(p->user->name),
                                                a->user)))
        return 0;
    return a->addr.p == NULL ||
           (rlt_span_eat(&addr, "local:") && rlt_str_int(addr, &number) &&
            number == p->number);
}

static int64_t cmd_client_shoot(rlt_call *c, const cmd_client_aim *a)
{
    rlt_server *s = c->server;
    int64_t n = 0;
    uint32_t i;

    for (i = 0; i < s->peers_cap; i++) {
        if (s->peers[i] == NULL || !cmd_client_hit(c, s->peers[i], a))
            continue;
        n++;
        if (s->peers[i] == c->peer)
            c->peer->closing = 1;
        else
            rlt_peer_drop(s->peers[i]);
    }
    return n;
}

static void cmd_client_kill(rlt_call *c)
{
    cmd_client_aim a;
    uint32_t i;

    memset(&a, 0, sizeof a);
    if (c->argc == 3) {
        a.addr = c->argv[2];
        if (cmd_client_shoot(c, &a) > 0)
            rlt_out_status(c->out, "OK");
        else
            rlt_call_error(c, "ERR No such client");
        return;
    }
    a.skip_me = 1;
    for (i = 2; i < c->argc; i += 2) {
        if (i + 1 >= c->argc) {
            rlt_call_error(c, RLT_ERR_SYNTAX);
            return;
        }
        if (!cmd_client_aim_at(c, i, &a))
            return;
    }
    rlt_out_int(c->out, cmd_client_shoot(c, &a));
}

/* ---------------------------------------------------------- other switches */

static void cmd_client_pause(rlt_call *c)
{
    int64_t until;
    int all = 1;

    if (c->argc > 4) {
        rlt_call_error_subcommand(c);
        return;
    }
    if (c->argc == 4) {
        all = rlt_call_is(c, 3, "all");
        if (!all && !rlt_call_is(c, 3, "write")) {
            rlt_call_error(c, "ERR CLIENT PAUSE mode must be WRITE or ALL");
            return;
        }
    }
    if (!rlt_call_timeout_ms(c, 2, &until))
        return;
    c->server->pause_until_ms = RLT_MAX(until, c->now_ms);
    c->server->pause_all = all;
    rlt_out_status(c->out, "OK");
}

static void cmd_client_unpause(rlt_call *c)
{
    if (c->server->pause_until_ms != INT64_MIN)
        rlt_dispatch_unpause(c->server);
    rlt_out_status(c->out, "OK");
}

static void cmd_client_reply_mode(rlt_call *c)
{
    rlt_peer *p = c->peer;

    if (rlt_call_is(c, 2, "on")) {
        p->reply_mode = RLT_REPLY_ON;
        rlt_out_status(&p->out, "OK");
    } else if (rlt_call_is(c, 2, "off")) {
        p->reply_mode = RLT_REPLY_OFF;
    } else if (rlt_call_is(c, 2, "skip")) {
        if (p->reply_mode != RLT_REPLY_OFF)
            p->reply_mode = RLT_REPLY_SKIP_NEXT;
    } else {
        rlt_call_error(c, RLT_ERR_SYNTAX);
    }
}

static void cmd_client_unblock(rlt_call *c)
{
    const char *error = NULL;
    rlt_peer *p;
    int64_t id;

    if (c->argc > 4) {
        rlt_call_error_subcommand(c);
        return;
    }
    if (c->argc == 4) {
        if (rlt_call_is(c, 3, "error")) {
            error = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
        } else if (!rlt_call_is(c, 3, "timeout")) {
            rlt_call_error(c, "ERR CLIENT UNBLOCK reason should be TIMEOUT "
                              "or ERROR");
            return;
        }
    }
    if (!rlt_call_int(c, 2, &id, NULL))
        return;
    p = rlt_track_peer(c->server, (uint64_t)id);
    if (p && (p->wait == RLT_WAIT_KEYS || p->wait == RLT_WAIT_REPLICAS)) {
        rlt_dispatch_unblock(p, error);
        rlt_out_int(c->out, 1);
    } else {
        rlt_out_int(c->out, 0);
    }
}

static void cmd_client_no_evict(rlt_call *c)
{
    if (rlt_call_is(c, 2, "on")) {
        c->peer->no_evict = 1;
    } else if (rlt_call_is(c, 2, "off")) {
        c->peer->no_evict = 0;
    } else {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return;
    }
    rlt_out_status(c->out, "OK");
}

/* -------------------------------------------------------------------- rows */

#define ANY (RLT_CMD_NOSCRIPT | RLT_CMD_LOADING | RLT_CMD_STALE)
#define ADM (ANY | RLT_CMD_ADMIN)
#define NONE 0, 0, 0, 0, 0

static const rlt_command cmd_client_client[] = {
    {"caching", rlt_cmd_track_caching, 3, ANY, NONE, NULL, NULL},
    {"getname", cmd_client_getname, 2, ANY, NONE, NULL, NULL},
    {"getredir", rlt_cmd_track_getredir, 2, ANY, NONE, NULL, NULL},
    {"help", rlt_call_help, 2, RLT_CMD_LOADING | RLT_CMD_STALE, NONE,
     NULL, NULL},
    {"id", cmd_client_id, 2, ANY, NONE, NULL, NULL},
    {"info", cmd_client_info, 2, ANY, NONE, NULL, NULL},
    {"kill", cmd_client_kill, -3, ADM, NONE, NULL, NULL},
    {"list", cmd_client_list, -2, ADM, NONE, NULL, NULL},
    {"no-evict", cmd_client_no_evict, 3, ADM, NONE, NULL, NULL},
    {"pause", cmd_client_pause, -3, ADM, NONE, NULL, NULL},
    {"reply", cmd_client_reply_mode, 3, ANY, NONE, NULL, NULL},
    {"setname", cmd_client_setname, 3, ANY, NONE, cmd_client_setname_bound,
     NULL},
    {"tracking", rlt_cmd_track_tracking, -3, ANY, NONE, rlt_cmd_track_bound,
     NULL},
    {"trackinginfo", rlt_cmd_track_info, 2, ANY, NONE, NULL, NULL},
    {"unblock", cmd_client_unblock, -3, ADM, NONE, NULL, NULL},
    {"unpause", cmd_client_unpause, 2, ADM, NONE, NULL, NULL},
    {NULL, NULL, 0, 0, NONE, NULL, NULL},
};

static const rlt_command cmd_client_rows[] = {
    {"client", NULL, -2, 0, NONE, NULL, cmd_client_client},
};

#undef ANY
#undef ADM
#undef NONE

RELET_PRIVATE const rlt_command *rlt_cmd_client_rows(size_t *n)
{
    *n = sizeof cmd_client_rows / sizeof *cmd_client_rows;
    return cmd_client_rows;
}
