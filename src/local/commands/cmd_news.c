/* SPDX-License-Identifier: MIT
 *
 * cmd_news.c - SUBSCRIBE and PUBLISH in all their forms, and PUBSUB.
 */
#include "pubsub.h"
#include "rows.h"

typedef struct cmd_news_words {
    const char *join, *leave;
} cmd_news_words;

static const cmd_news_words cmd_news_said[RLT_NEWS_KINDS] = {
    {"subscribe", "unsubscribe"},
    {"psubscribe", "punsubscribe"},
    {"ssubscribe", "sunsubscribe"}};

static rlt_local_pubsub_kind cmd_news_kind(const rlt_call *c)
{
    if (c->command->name[0] == 'p')
        return RLT_NEWS_PATTERN;
    if (c->command->name[0] == 's' && c->command->name[1] != 'u')
        return RLT_NEWS_SHARD;
    return strcmp(c->command->name, "sunsubscribe") == 0 ? RLT_NEWS_SHARD
                                                          : RLT_NEWS_CHANNEL;
}

/* Writes to the peer itself, even if CLIENT REPLY has turned replies off. */
static void cmd_news_tell(rlt_peer *p, rlt_local_pubsub_kind kind,
                          const char *what, const relet_span *name)
{
    rlt_out_push(&p->out, 3);
    rlt_out_text(&p->out, what);
    if (name)
        rlt_out_bulk(&p->out, *name);
    else
        rlt_out_null(&p->out);
    rlt_out_int(&p->out, kind == RLT_NEWS_SHARD
                             ? p->subscribed[RLT_NEWS_SHARD].count
                             : rlt_local_pubsub_count(p));
}

static size_t cmd_news_bound(const rlt_call *c)
{
    size_t n = 0;
    uint32_t i;

    for (i = 1; i < c->argc; i++)
        n += RLT_NEWS_COST(c->argv[i].n);
    return n;
}

static void cmd_news_subscribe(rlt_call *c)
{
    rlt_local_pubsub_kind kind = cmd_news_kind(c);
    uint32_t i;

    if (kind == RLT_NEWS_SHARD && c->in_exec) {
        rlt_call_error(c, "ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING "
                          "client");
        return;
    }
    for (i = 1; i < c->argc; i++) {
        (void)rlt_local_pubsub_join(c->peer, kind, c->argv[i]);
        cmd_news_tell(c->peer, kind, cmd_news_said[kind].join, &c->argv[i]);
    }
}

static void cmd_news_leave_all(rlt_call *c, rlt_local_pubsub_kind kind)
{
    rlt_dict *d = &c->peer->subscribed[kind];
    relet_span name, kept;
    char *copy;

    if (d->count == 0)
        cmd_news_tell(c->peer, kind, cmd_news_said[kind].leave, NULL);
    while (d->first) {
        name = rlt_entry_key(d->first);
        copy = (char *)rlt_pool_try(c->pool, name.n + 1);
        kept.p = copy ? copy : "";
        kept.n = copy ? name.n : 0;
        if (kept.n > 0)
            memcpy(copy, name.p, kept.n);
        (void)rlt_local_pubsub_leave(c->peer, kind, name);
        cmd_news_tell(c->peer, kind, cmd_news_said[kind].leave, &kept);
        rlt_pool_put(c->pool, copy, kept.n + 1);
    }
}

static void cmd_news_unsubscribe(rlt_call *c)
{
    rlt_local_pubsub_kind kind = cmd_news_kind(c);
    uint32_t i;

    if (c->argc == 1) {
        cmd_news_leave_all(c, kind);
        return;
    }
    for (i = 1; i < c->argc; i++) {
        (void)rlt_local_pubsub_leave(c->peer, kind, c->argv[i]);
        cmd_news_tell(c->peer, kind, cmd_news_said[kind].leave, &c->argv[i]);
    }
}

static void cmd_news_publish(rlt_call *c)
{
    rlt_out_int(c->out,
                rlt_local_pubsub_publish(c->server, c->command->name[0] == 's',
                                         c->argv[1], c->argv[2]));
}

/* ------------------------------------------------------------------ PUBSUB */

static rlt_dict *cmd_news_topics(const rlt_call *c)
{
    return &c->server->topics[c->command->name[0] == 's' ? RLT_NEWS_SHARD
                                                         : RLT_NEWS_CHANNEL];
}

static void cmd_news_channels(rlt_call *c)
{
    size_t mark, n = 0;
    const rlt_entry *e;

    if (c->argc > 3) {
        rlt_call_error_subcommand(c);
        return;
    }
    mark = rlt_out_later(c->out);
    for (e = cmd_news_topics(c)->first; e; e = e->next)
        if (c->argc == 2 || rlt_glob_match(c->argv[2], rlt_entry_key(e), 0)) {
            rlt_out_bulk(c->out, rlt_entry_key(e));
            n++;
        }
    rlt_out_later_end(c->out, mark, '*', n);
}

static void cmd_news_numsub(rlt_call *c)
{
    const rlt_entry *e;
    uint32_t i;

    rlt_out_array(c->out, (c->argc - 2) * (size_t)2);
    for (i = 2; i < c->argc; i++) {
        e = rlt_dict_find(cmd_news_topics(c), c->argv[i]);
        rlt_out_bulk(c->out, c->argv[i]);
        rlt_out_int(c->out, e ? ((rlt_topic *)e->value.p)->count : 0);
    }
}

static void cmd_news_numpat(rlt_call *c)
{
    rlt_out_int(c->out, c->server->topics[RLT_NEWS_PATTERN].count);
}

#define ANY (RLT_CMD_PUBSUB | RLT_CMD_LOADING | RLT_CMD_STALE)
#define NONE 0, 0, 0, 0, 0

static const rlt_command cmd_news_pubsub[] = {
    {"channels", cmd_news_channels, -2, ANY, NONE, NULL, NULL},
    {"help", rlt_call_help, 2, RLT_CMD_LOADING | RLT_CMD_STALE, NONE,
     NULL, NULL},
    {"numpat", cmd_news_numpat, 2, ANY, NONE, NULL, NULL},
    {"numsub", cmd_news_numsub, -2, ANY, NONE, NULL, NULL},
    {"shardchannels", cmd_news_channels, -2, ANY, NONE, NULL, NULL},
    {"shardnumsub", cmd_news_numsub, -2, ANY, NONE, NULL, NULL},
    {NULL, NULL, 0, 0, NONE, NULL, NULL},
};

#define SUB (ANY | RLT_CMD_NOSCRIPT)
#define PUB \
    (ANY | RLT_CMD_FAST | RLT_CMD_MAY_REPLICATE)

static const rlt_command cmd_news_rows[] = {
    {"subscribe", cmd_news_subscribe, -2, SUB, NONE, cmd_news_bound, NULL},
    {"unsubscribe", cmd_news_unsubscribe, -1, SUB, NONE, NULL, NULL},
    {"psubscribe", cmd_news_subscribe, -2, SUB, NONE, cmd_news_bound, NULL},
    {"punsubscribe", cmd_news_unsubscribe, -1, SUB, NONE, NULL, NULL},
    {"ssubscribe", cmd_news_subscribe, -2, SUB, NONE, cmd_news_bound, NULL},
    {"sunsubscribe", cmd_news_unsubscribe, -1, SUB, NONE, NULL, NULL},
    {"publish", cmd_news_publish, 3, PUB, NONE, NULL, NULL},
    {"spublish", cmd_news_publish, 3, PUB, NONE, NULL, NULL},
    {"pubsub", NULL, -2, 0, NONE, NULL, cmd_news_pubsub},
};

#undef ANY
#undef SUB
#undef PUB
#undef NONE

RELET_PRIVATE const rlt_command *rlt_cmd_news_rows(size_t *n)
{
    *n = sizeof cmd_news_rows / sizeof *cmd_news_rows;
    return cmd_news_rows;
}
