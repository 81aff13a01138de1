/* SPDX-License-Identifier: MIT
 *
 * cmd_stream_read.c - XREAD and XREADGROUP.
 */
#include "cmd_stream.h"

typedef struct stream_read {
    int of_group, no_ack, waits;
    uint32_t group_at; /* argv of the group, the consumer behind it          */
    uint32_t keys_at, n; /* argv of the first key; as many ids follow        */
    uint64_t count;      /* 0: all                                           */
    int64_t deadline;
} stream_read;

/* The most entries that a woken client gets if it gave no COUNT. */
#define STREAM_READ_WOKEN_MAX 1000

/* ---------------------------------------------------------------- arguments */

static int stream_read_of_group(rlt_call *c, const stream_read *r,
                                const char *error)
{
    if (!r->of_group)
        rlt_call_error(c, error);
    return r->of_group;
}

static int stream_read_streams(rlt_call *c, uint32_t i, stream_read *r)
{
    r->keys_at = i + 1;
    r->n = (c->argc - r->keys_at) / 2;
    if ((c->argc - r->keys_at) % 2 == 0)
        return 1;
    rlt_call_error(c, "ERR Unbalanced XREAD list of streams: for each stream "
                      "key an ID or '$' must be specified.");
    return 0;
}

/* Reads the option at argv[*i]; *i moves to its last word. */
static int stream_read_option(rlt_call *c, uint32_t *i, stream_read *r)
{
    uint32_t more = c->argc - *i - 1;
    int64_t count;

    if (more > 0 && rlt_call_is(c, *i, "block")) {
        if (c->in_script) {
            rlt_call_error_with(c, "ERR ", c->argv[0],
                                " command is not allowed with BLOCK option "
                                "from scripts");
            return 0;
        }
        r->waits = 1;
        return rlt_call_timeout_ms(c, ++*i, &r->deadline);
    }
    if (more > 0 && rlt_call_is(c, *i, "count")) {
        if (!rlt_call_int(c, ++*i, &count, NULL))
            return 0;
        r->count = count > 0 ? (uint64_t)count : 0;
        return 1;
    }
    if (more > 0 && rlt_call_is(c, *i, "streams"))
        return stream_read_streams(c, *i, r);
    if (more > 1 && rlt_call_is(c, *i, "group")) {
        r->group_at = *i + 1;
        *i += 2;
        return stream_read_of_group(
            c, r, "ERR The GROUP option is only supported by XREADGROUP. You "
                  "called XREAD instead.");
    }
    if (rlt_call_is(c, *i, "noack")) {
        r->no_ack = 1;
        return stream_read_of_group(
            c, r, "ERR The NOACK option is only supported by XREADGROUP. You "
                  "called XREAD instead.");
    }
    rlt_call_error(c, RLT_ERR_SYNTAX);
    return 0;
}

static int stream_read_words(rlt_call *c, stream_read *r)
{
    uint32_t i;

    for (i = 1; i < c->argc && r->keys_at == 0; i++)
        if (!stream_read_option(c, &i, r))
            return 0;
    if (r->keys_at == 0) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return 0;
    }
    if (r->of_group && r->group_at == 0) {
        rlt_call_error(c, "ERR Missing GROUP option for XREADGROUP");
        return 0;
    }
    return 1;
}

/* Reads the id of stream k; > is the highest possible id. */
static int stream_read_id(rlt_call *c, const stream_read *r, uint32_t k,
                          const rlt_stream *s, rlt_stream_id *id)
{
    uint32_t i = r->keys_at + r->n + k;

    if (rlt_span_is(c->argv[i], "$")) {
        if (r->of_group)
            rlt_call_error(
                c, "ERR The $ ID is meaningless in the context of XREADGROUP: "
                   "you want to read the history of this consumer by "
                   "specifying a proper ID, or use the > ID to get new "
                   "messages. The $ ID would just return an empty result set.");
        *id = s ? s->last : rlt_stream_id_of(0, 0);
        return !r->of_group;
    }
    if (rlt_span_is(c->argv[i], ">")) {
        *id = rlt_stream_id_of(UINT64_MAX, UINT64_MAX);
        return stream_read_of_group(
            c, r, "ERR The > ID can be specified only when calling XREADGROUP "
                  "using the GROUP <group> <consumer> option.");
    }
    return rlt_cmd_stream_id(c, i, 0, id);
}

/* Checks all streams and ids before any is served; the ids go to ids[]. */
static int stream_read_judge(rlt_call *c, const stream_read *r,
                             rlt_stream_id *ids)
{
    rlt_stream_group *g;
    rlt_stream *s;
    rlt_obj *o;
    uint32_t k;

    for (k = 0; k < r->n; k++) {
        if (r->of_group) {
            if (!rlt_cmd_stream_group(c, r->keys_at + k, r->group_at,
                                      "' in XREADGROUP with GROUP option", &s,
                                      &g))
                return 0;
        } else {
            if (!rlt_call_read(c, r->keys_at + k, RLT_OBJ_STREAM, &o))
                return 0;
            s = o ? &o->of.stream : NULL;
        }
        if (!stream_read_id(c, r, k, s, &ids[k]))
            return 0;
    }
    return 1;
}

/* ------------------------------------------------------------------ serving */

/* Delivers a new entry to the consumer, even if it is pending at another
 * one. */
static void stream_read_hand(rlt_call *c, const stream_read *r, uint32_t key,
                             rlt_stream_group *g, rlt_stream_consumer *who,
                             rlt_stream_id id)
{
    rlt_stream_pending *p = rlt_stream_pending_find(g, id);

    if (p) {
        rlt_stream_pending_give(p, who);
        p->delivered_ms = c->now_ms;
        p->deliveries = 1;
    } else {
        p = rlt_stream_pending_add(g, c->pool, who, id, c->now_ms);
    }
    rlt_cmd_stream_log_pending(c, key, r->group_at, g, p);
}

/* Replies the entries that are new for the group: those behind g->last. */
static void stream_read_new(rlt_call *c, const stream_read *r, uint32_t key,
                            rlt_stream *s, rlt_stream_group *g, uint64_t count)
{
    rlt_stream_consumer *who =
        rlt_cmd_stream_consumer(c, key, g, r->group_at + 1);
    rlt_stream_id from = g->last;
    const rlt_stream_entry *e = NULL;
    size_t mark = rlt_out_later(c->out), n = 0;

    if (rlt_stream_id_next(&from))
        e = rlt_stream_seek(s, from, 1);
    for (; e && (count == 0 || n < count); e = rlt_stream_step(e, 1), n++) {
        rlt_stream_group_read(s, g, e->id);
        rlt_cmd_stream_tell(c, e);
        if (!r->no_ack)
            stream_read_hand(c, r, key, g, who, e->id);
    }
    rlt_out_later_end(c->out, mark, '*', n);
    if (n > 0)
        rlt_cmd_stream_log_group(c, key, r->group_at, g);
}

/* Redis does not log a repeated delivery; this server does. */
static void stream_read_tell_again(rlt_call *c, const stream_read *r,
                                   uint32_t key, const rlt_stream *s,
                                   const rlt_stream_group *g,
                                   rlt_stream_pending *p)
{
    const rlt_stream_entry *e = rlt_stream_find(s, p->id);

    if (e == NULL) {
        rlt_out_array(c->out, 2);
        rlt_cmd_stream_tell_id(c, p->id);
        rlt_out_null_array(c->out);
        return;
    }
    rlt_cmd_stream_tell(c, e);
    p->delivered_ms = c->now_ms;
    p->deliveries++;
    rlt_cmd_stream_log_pending(c, key, r->group_at, g, p);
}

/* Replies the pending entries of the consumer behind `after`. */
static void stream_read_history(rlt_call *c, const stream_read *r,
                                uint32_t key, const rlt_stream *s,
                                rlt_stream_group *g, rlt_stream_id after)
{
    rlt_stream_consumer *who =
        rlt_cmd_stream_consumer(c, key, g, r->group_at + 1);
    rlt_stream_pending *p = NULL;
    size_t mark = rlt_out_later(c->out), n = 0;

    if (rlt_stream_id_next(&after))
        p = rlt_stream_pending_seek(g, who, after, 1);
    for (; p && (r->count == 0 || n < r->count); n++) {
        stream_read_tell_again(c, r, key, s, g, p);
        p = rlt_stream_pending_step(p, 1, 1);
    }
    rlt_out_later_end(c->out, mark, '*', n);
}

/* Begins the pair of key and entries; the entries follow. */
static void stream_read_head(rlt_call *c, uint32_t key)
{
    if (c->out->resp == 2)
        rlt_out_array(c->out, 2);
    rlt_out_bulk(c->out, c->argv[key]);
}

static int stream_read_is_above(const rlt_stream *s, rlt_stream_id id)
{
    const rlt_stream_entry *top = rlt_stream_end(s, 1);

    return top && rlt_stream_id_compare(top->id, id) > 0;
}

/* Serves stream k: 1, or 0: it has nothing to read. */
static int stream_read_one(rlt_call *c, const stream_read *r, uint32_t k,
                           rlt_stream *s, rlt_stream_id id)
{
    uint32_t key = r->keys_at + k;
    int is_new = id.ms == UINT64_MAX && id.seq == UINT64_MAX;
    rlt_stream_group *g = NULL;

    if (r->of_group)
        g = rlt_stream_group_find(s, c->argv[r->group_at]);
    if (g ? is_new && !stream_read_is_above(s, g->last)
          : !stream_read_is_above(s, id))
        return 0;
    stream_read_head(c, key);
    if (g == NULL) {
        (void)rlt_stream_id_next(&id);
        rlt_cmd_stream_tell_range(c, s, id,
                                  rlt_stream_id_of(UINT64_MAX, UINT64_MAX),
                                  r->count, 0);
        return 1;
    }
    if (is_new)
        stream_read_new(c, r, key, s, g, r->count);
    else
        stream_read_history(c, r, key, s, g, id);
    c->dirty++;
    return 1;
}

/* How many streams were served; the reply is whole if any was. */
static size_t stream_read_all(rlt_call *c, const stream_read *r,
                              const rlt_stream_id *ids)
{
    size_t mark = 0, n = 0;
    rlt_obj *o;
    uint32_t k;

    for (k = 0; k < r->n; k++) {
        if (!rlt_call_read(c, r->keys_at + k, RLT_OBJ_STREAM, &o) || !o)
            continue;
        if (n == 0)
            mark = rlt_out_later(c->out); /* after keymiss events             */
        n += (size_t)stream_read_one(c, r, k, &o->of.stream, ids[k]);
    }
    if (n > 0)
        rlt_out_later_end(c->out, mark, c->out->resp == 2 ? '*' : '%', n);
    return n;
}

/* ------------------------------------------------------------------ waiting */

static void stream_read_wait(rlt_call *c, const stream_read *r,
                             const rlt_stream_id *ids)
{
    if (!r->of_group && ids != NULL &&
        !rlt_call_note(c, ids, r->n * sizeof *ids))
        return;
    if (!rlt_call_block(c, RLT_OBJ_STREAM, r->keys_at, r->n, 1, r->deadline,
                        r->of_group ? RLT_BLOCK_GONE : 0))
        rlt_out_null_array(c->out);
}

/* The number of the stream that is ready. */
static uint32_t stream_read_woken_k(const rlt_call *c, const stream_read *r)
{
    uint32_t k = 0;

    while (k + 1 < r->n &&
           !rlt_span_same(c->argv[r->keys_at + k], *c->woken))
        k++;
    return k;
}

/* The id from which a woken reader goes on: 1, or 0: an error was replied. */
static int stream_read_woken_from(rlt_call *c, const stream_read *r,
                                  uint32_t k, rlt_stream *s,
                                  rlt_stream_group **g, rlt_stream_id *id)
{
    size_t size;
    const void *noted = rlt_call_noted(c, &size);

    *g = NULL;
    if (!r->of_group) {
        rlt_assert((k + 1) * sizeof *id <= size);
        memcpy(id, (const char *)noted + k * sizeof *id, sizeof *id);
        return 1;
    }
    *g = rlt_stream_group_find(s, c->argv[r->group_at]);
    if (*g)
        *id = (*g)->last;
    else
        rlt_call_error(c, "NOGROUP the consumer group this client was blocked "
                          "on no longer exists");
    return *g != NULL;
}

static void stream_read_woken_serve(rlt_call *c, const stream_read *r,
                                    uint32_t k, rlt_stream *s,
                                    rlt_stream_group *g, rlt_stream_id id)
{
    uint64_t count = r->count > 0 ? r->count : STREAM_READ_WOKEN_MAX;

    if (g) /* its event comes before the reply begins                        */
        (void)rlt_cmd_stream_consumer(c, r->keys_at + k, g, r->group_at + 1);
    if (c->out->resp == 2)
        rlt_out_array(c->out, 1);
    else
        rlt_out_map(c->out, 1);
    stream_read_head(c, r->keys_at + k);
    if (g) {
        stream_read_new(c, r, r->keys_at + k, s, g, count);
        c->dirty++;
        return;
    }
    (void)rlt_stream_id_next(&id);
    rlt_cmd_stream_tell_range(
        c, s, id, rlt_stream_id_of(UINT64_MAX, UINT64_MAX), count, 0);
}

static void stream_read_woken(rlt_call *c, const stream_read *r)
{
    uint32_t k = stream_read_woken_k(c, r);
    rlt_entry *e = rlt_call_find_write(c, *c->woken); /* no keymiss           */
    rlt_stream_group *g;
    rlt_stream_id id;
    rlt_stream *s;

    if (e == NULL || rlt_keys_obj(e)->type != RLT_OBJ_STREAM) {
        rlt_call_error(c, "UNBLOCKED the stream key no longer exists");
        return;
    }
    s = &rlt_keys_obj(e)->of.stream;
    if (!stream_read_woken_from(c, r, k, s, &g, &id))
        return;
    if (rlt_stream_id_compare(s->last, id) > 0)
        stream_read_woken_serve(c, r, k, s, g, id);
    else
        stream_read_wait(c, r, NULL);
}

static void stream_read_begin(rlt_call *c, const stream_read *r)
{
    rlt_stream_id *ids;

    ids = (rlt_stream_id *)rlt_call_scratch(c, r->n * sizeof *ids);
    if (ids == NULL || !stream_read_judge(c, r, ids) ||
        stream_read_all(c, r, ids) > 0)
        return;
    if (r->waits)
        stream_read_wait(c, r, ids);
    else
        rlt_out_null_array(c->out);
}

/* The command itself is never logged: its effects have been logged. */
static void stream_read_run(rlt_call *c, int of_group)
{
    stream_read r;

    memset(&r, 0, sizeof r);
    r.of_group = of_group;
    if (!stream_read_words(c, &r))
        return;
    if (c->woken)
        stream_read_woken(c, &r);
    else
        stream_read_begin(c, &r);
    rlt_call_effect_none(c);
}

static void stream_read_xread(rlt_call *c)
{
    stream_read_run(c, 0);
}

static void stream_read_xreadgroup(rlt_call *c)
{
    stream_read_run(c, 1);
}

/* ------------------------------------------------------------------- memory */

/* The most entries of one stream that a reader of the group can get. */
static uint64_t stream_read_ahead(const rlt_obj *o, relet_span group)
{
    const rlt_stream_group *g;
    const rlt_stream_entry *e;
    rlt_stream_id from;

    if (o == NULL || o->type != RLT_OBJ_STREAM)
        return 0;
    g = rlt_stream_group_find(&o->of.stream, group);
    from = g ? g->last : rlt_stream_id_of(0, 0);
    if (g == NULL || !rlt_stream_id_next(&from))
        return 0;
    e = rlt_stream_seek(&o->of.stream, from, 1);
    return e ? rlt_stream_count(&o->of.stream) - rlt_tree_rank(&e->leaf) : 0;
}

/* Options are searched for, not checked: too much memory is promised rather
 * than too little. */
static size_t stream_read_bound(const rlt_call *c)
{
    uint64_t count = UINT64_MAX, ahead, entries = 0;
    uint32_t i, group = 0;
    int64_t v;
    size_t n = rlt_call_cost(c);

    for (i = 1; i + 1 < c->argc && !rlt_call_is(c, i, "streams"); i++) {
        if (rlt_call_is(c, i, "group"))
            group = ++i;
        else if (rlt_call_is(c, i, "count") &&
                 rlt_str_int(c->argv[i + 1], &v) && v > 0)
            count = (uint64_t)v;
    }
    if (group == 0)
        return n;
    for (i++; i < c->argc; i++) {
        ahead = stream_read_ahead(rlt_call_peek(c, c->argv[i]),
                                  c->argv[group]);
        entries += RLT_MIN(ahead, count);
        n += RLT_STREAM_CONSUMER_COST(c->argv[group + 1].n);
    }
    return n + (size_t)entries * RLT_STREAM_PENDING_COST;
}

/* --------------------------------------------------------------------- rows */

static const rlt_command stream_read_rows[] = {
    {"xread", stream_read_xread, -4,
     RLT_CMD_READONLY | RLT_CMD_BLOCKING | RLT_CMD_MOVABLE, 0, 0, 0,
     RLT_KEYS_STREAMS, 0, NULL, NULL},
    {"xreadgroup", stream_read_xreadgroup, -7,
     RLT_CMD_WRITE | RLT_CMD_BLOCKING | RLT_CMD_MOVABLE, 0, 0, 0,
     RLT_KEYS_STREAMS, 0, stream_read_bound, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_stream_read_rows(size_t *n)
{
    *n = sizeof stream_read_rows / sizeof stream_read_rows[0];
    return stream_read_rows;
}
