/* SPDX-License-Identifier: MIT
 *
 * cmd_group.c - consumer groups: XGROUP, and XINFO about them and streams.
 */
#include "cmd_stream.h"

/* ------------------------------------------------------------------- XGROUP */

typedef struct cmd_group_words {
    int makes;     /* MKSTREAM                                               */
    int64_t read;  /* ENTRIESREAD; -1: not known                             */
    rlt_stream *s; /* NULL: no such key                                      */
    rlt_stream_group *g;
} cmd_group_words;

static int cmd_group_options(rlt_call *c, int creates, int sets,
                             cmd_group_words *w)
{
    uint32_t i;

    for (i = 5; i < c->argc; i++) {
        if (creates && rlt_call_is(c, i, "mkstream")) {
            w->makes = 1;
        } else if ((creates || sets) && i + 1 < c->argc &&
                   rlt_call_is(c, i, "entriesread")) {
            if (!rlt_call_int(c, ++i, &w->read, NULL))
                return 0;
            if (w->read < -1) {
                rlt_call_error(
                    c, "ERR value for ENTRIESREAD must be positive or -1");
                return 0;
            }
        } else {
            rlt_call_error_subcommand(c);
            return 0;
        }
    }
    return 1;
}

/* XGROUP <subcommand> key group: looks both up. The key must exist unless
 * w->makes, the group if needs_group. */
static int cmd_group_open(rlt_call *c, int needs_group, cmd_group_words *w)
{
    rlt_obj *o;

    if (!rlt_call_write(c, 2, RLT_OBJ_STREAM, &o))
        return 0;
    w->s = o ? &o->of.stream : NULL;
    w->g = o ? rlt_stream_group_find(w->s, c->argv[3]) : NULL;
    if (o == NULL && !w->makes) {
        rlt_call_error(c, "ERR The XGROUP subcommand requires the key to "
                          "exist. Note that for CREATE you may want to use "
                          "the MKSTREAM option to create an empty stream "
                          "automatically.");
        return 0;
    }
    if (w->g || !needs_group)
        return 1;
    rlt_cmd_stream_no_group(c, "NOGROUP No such consumer group '", c->argv[3],
                            "' for key name '", c->argv[2], "'");
    return 0;
}

static void cmd_group_init(cmd_group_words *w)
{
    memset(w, 0, sizeof *w);
    w->read = -1;
}

/* The id at argv[4], or $. */
static int cmd_group_id(rlt_call *c, const rlt_stream *s, int any,
                        rlt_stream_id *id)
{
    if (rlt_span_is(c->argv[4], "$")) {
        *id = s ? s->last : rlt_stream_id_of(0, 0);
        return 1;
    }
    return any ? rlt_cmd_stream_id_any(c, 4, 0, id)
               : rlt_cmd_stream_id(c, 4, 0, id);
}

/* Logs XGROUP CREATE with the id that $ stood for. */
static void cmd_group_log_create(rlt_call *c, rlt_stream_id id, int64_t read)
{
    rlt_call_effect(c, 8);
    rlt_call_effect_text(c, "XGROUP");
    rlt_call_effect_text(c, "CREATE");
    rlt_call_effect_word(c, c->argv[2]);
    rlt_call_effect_word(c, c->argv[3]);
    rlt_cmd_stream_log_id(c, id);
    rlt_call_effect_text(c, "MKSTREAM");
    rlt_call_effect_text(c, "ENTRIESREAD");
    rlt_call_effect_int(c, read);
}

static void cmd_group_create(rlt_call *c)
{
    cmd_group_words w;
    rlt_stream_id id;

    cmd_group_init(&w);
    if (!cmd_group_options(c, 1, 0, &w) || !cmd_group_open(c, 0, &w))
        return;
    if (c->argc > 8) {
        rlt_call_error_subcommand(c);
        return;
    }
    if (!cmd_group_id(c, w.s, 0, &id))
        return;
    if (w.s == NULL) {
        w.s = &rlt_call_make(c, 2, RLT_OBJ_STREAM)->of.stream;
        rlt_call_modified(c, c->argv[2]);
    }
    if (w.g) {
        rlt_call_error(c, "BUSYGROUP Consumer Group name already exists");
        return;
    }
    (void)rlt_stream_group_add(w.s, c->pool, c->argv[3], id, w.read);
    rlt_out_status(c->out, "OK");
    rlt_call_event(c, RLT_EVENT_STREAM, "xgroup-create", c->argv[2]);
    c->dirty++;
    cmd_group_log_create(c, id, w.read);
}

static void cmd_group_set_id(rlt_call *c)
{
    cmd_group_words w;
    rlt_stream_id id;

    cmd_group_init(&w);
    if (!cmd_group_options(c, 0, 1, &w) || !cmd_group_open(c, 1, &w))
        return;
    if (c->argc != 5 && c->argc != 7) {
        rlt_call_error_subcommand(c);
        return;
    }
    if (!cmd_group_id(c, w.s, 1, &id))
        return;
    w.g->last = id;
    w.g->entries_read = w.read;
    rlt_out_status(c->out, "OK");
    rlt_call_event(c, RLT_EVENT_STREAM, "xgroup-setid", c->argv[2]);
    c->dirty++;
    rlt_cmd_stream_log_group(c, 2, 3, w.g);
}

static void cmd_group_destroy(rlt_call *c)
{
    cmd_group_words w;

    cmd_group_init(&w);
    if (!cmd_group_open(c, 0, &w))
        return;
    rlt_out_int(c->out, w.g != NULL);
    if (w.g == NULL)
        return;
    rlt_stream_group_remove(w.s, c->pool, w.g);
    rlt_call_event(c, RLT_EVENT_STREAM, "xgroup-destroy", c->argv[2]);
    c->dirty++;
    rlt_call_ready(c, c->argv[2]);
}

static void cmd_group_create_consumer(rlt_call *c)
{
    cmd_group_words w;
    int is_new;

    cmd_group_init(&w);
    if (!cmd_group_open(c, 1, &w))
        return;
    is_new = rlt_stream_consumer_find(w.g, c->argv[4]) == NULL;
    if (is_new)
        (void)rlt_cmd_stream_consumer(c, 2, w.g, 4);
    rlt_out_int(c->out, is_new);
}

static void cmd_group_delete_consumer(rlt_call *c)
{
    rlt_stream_consumer *who;
    cmd_group_words w;
    int64_t pending = 0;

    cmd_group_init(&w);
    if (!cmd_group_open(c, 1, &w))
        return;
    who = rlt_stream_consumer_find(w.g, c->argv[4]);
    if (who) {
        pending = rlt_tree_count(&who->pending);
        rlt_stream_consumer_remove(w.g, c->pool, who);
        rlt_call_event(c, RLT_EVENT_STREAM, "xgroup-delconsumer", c->argv[2]);
        c->dirty++;
    }
    rlt_out_int(c->out, pending);
}

static size_t cmd_group_bound(const rlt_call *c)
{
    return 1024 + RLT_OBJ_COST + RLT_KEYS_PUT_COST(c->argv[2].n) +
           RLT_STREAM_GROUP_COST(c->argv[3].n) +
           RLT_STREAM_CONSUMER_COST(c->argv[4].n);
}

/* ------------------------------------------------------------ XINFO, groups */

static void cmd_group_tell_or_null(rlt_call *c, int64_t v, int known)
{
    if (known)
        rlt_out_int(c->out, v);
    else
        rlt_out_null(c->out);
}

/* A lag is below 0 when ENTRIESREAD was set too high. A lag of -1 is unknown,
 * unless ENTRIESREAD was too high by just one and still counts: nothing was
 * deleted between the group and the present entries. */
static int cmd_group_lag_known(const rlt_stream *s, const rlt_stream_group *g)
{
    const rlt_stream_entry *first = rlt_stream_end(s, 0);

    if (rlt_stream_group_lag(s, g) != -1)
        return 1;
    if (g->entries_read == -1 || (uint64_t)g->entries_read != s->added + 1)
        return 0;
    return first == NULL ||
           rlt_stream_id_compare(first->id, s->max_deleted) > 0 ||
           rlt_stream_id_compare(g->last, s->max_deleted) > 0;
}

static void cmd_group_tell_read(rlt_call *c, const rlt_stream *s,
                                const rlt_stream_group *g)
{
    rlt_out_text(c->out, "last-delivered-id");
    rlt_cmd_stream_tell_id(c, g->last);
    rlt_out_text(c->out, "entries-read");
    cmd_group_tell_or_null(c, g->entries_read, g->entries_read != -1);
    rlt_out_text(c->out, "lag");
    cmd_group_tell_or_null(c, rlt_stream_group_lag(s, g),
                           cmd_group_lag_known(s, g));
}

static void cmd_group_tell_count(rlt_call *c, const char *name, int64_t n)
{
    rlt_out_text(c->out, name);
    rlt_out_int(c->out, n);
}

/* The stream under argv[2]; NULL: an error was replied. */
static rlt_stream *cmd_group_info_open(rlt_call *c)
{
    rlt_obj *o;

    if (!rlt_call_read(c, 2, RLT_OBJ_STREAM, &o))
        return NULL;
    if (o)
        return &o->of.stream;
    rlt_call_error(c, RLT_ERR_NO_KEY);
    return NULL;
}

static void cmd_group_info_groups(rlt_call *c)
{
    const rlt_stream *s = cmd_group_info_open(c);
    const rlt_stream_group *g;

    if (s == NULL)
        return;
    rlt_out_array(c->out, rlt_tree_count(&s->groups));
    g = rlt_stream_group_first(s);
    for (; g; g = rlt_stream_group_next(g)) {
        rlt_out_map(c->out, 6);
        rlt_out_text(c->out, "name");
        rlt_out_bulk(c->out, rlt_stream_group_name(g));
        cmd_group_tell_count(c, "consumers", rlt_tree_count(&g->consumers));
        cmd_group_tell_count(c, "pending", rlt_tree_count(&g->pending));
        cmd_group_tell_read(c, s, g);
    }
}

static void cmd_group_info_consumers(rlt_call *c)
{
    const rlt_stream *s = cmd_group_info_open(c);
    const rlt_stream_consumer *who;
    const rlt_stream_group *g;

    if (s == NULL)
        return;
    g = rlt_stream_group_find(s, c->argv[3]);
    if (g == NULL) {
        rlt_cmd_stream_no_group(c, "NOGROUP No such consumer group '",
                                c->argv[3], "' for key name '", c->argv[2],
                                "'");
        return;
    }
    rlt_out_array(c->out, rlt_tree_count(&g->consumers));
    who = rlt_stream_consumer_first(g);
    for (; who; who = rlt_stream_consumer_next(who)) {
        rlt_out_map(c->out, 3);
        rlt_out_text(c->out, "name");
        rlt_out_bulk(c->out, rlt_stream_consumer_name(who));
        cmd_group_tell_count(c, "pending", rlt_tree_count(&who->pending));
        cmd_group_tell_count(c, "idle", RLT_MAX(c->now_ms - who->seen_ms, 0));
    }
}

/* ------------------------------------------------------------- XINFO STREAM */

/* In how many of 16 leading bytes two ids agree: Redis keeps ids in a radix
 * tree of their bytes. */
static uint32_t cmd_group_same_bytes(rlt_stream_id a, rlt_stream_id b)
{
    uint64_t differ = a.ms ^ b.ms;
    uint32_t n = 0;

    if (differ == 0) {
        differ = a.seq ^ b.seq;
        n = 8;
    }
    for (; differ != 0 && differ >> 56 == 0; differ <<= 8)
        n++;
    return n;
}

typedef struct cmd_group_tree {
    uint32_t branches[17], depth; /* where the path to the last key branches */
    int64_t nodes;
} cmd_group_tree;

/* Where the part below the nearest branch begins; `next`: the same for the
 * branch that comes next, 0: none. */
static uint32_t cmd_group_tree_from(const cmd_group_tree *t, uint32_t next)
{
    uint32_t own = t->depth > 0 ? t->branches[t->depth - 1] + 1 : 0;

    return RLT_MAX(own, next);
}

/* How many nodes that tree has: each key ends in a leaf, there is a branch
 * where keys diverge, and the bytes between two of these are one node, or none
 * when there are no bytes between them. */
static int64_t cmd_group_tree_nodes(const rlt_stream *s)
{
    const rlt_stream_node *node;
    cmd_group_tree t;
    uint32_t next, at;

    memset(&t, 0, sizeof t);
    t.nodes = s->first == NULL;
    for (node = s->first; node; node = node->next) {
        next = node->next ? cmd_group_same_bytes(node->master,
                                                 node->next->master) + 1
                          : 0;
        t.nodes += 1 + (cmd_group_tree_from(&t, next) < 16);
        while (t.depth > 0 && t.branches[t.depth - 1] + 1 > next) {
            at = t.branches[--t.depth];
            t.nodes += 1 + (at > cmd_group_tree_from(&t, next));
        }
        if (next > 0 && cmd_group_tree_from(&t, 0) < next)
            t.branches[t.depth++] = next - 1;
    }
    return t.nodes;
}

static void cmd_group_tell_stream(rlt_call *c, const rlt_stream *s)
{
    const rlt_stream_entry *e = rlt_stream_end(s, 0);

    cmd_group_tell_count(c, "length", rlt_stream_count(s));
    cmd_group_tell_count(c, "radix-tree-keys", s->nodes);
    cmd_group_tell_count(c, "radix-tree-nodes", cmd_group_tree_nodes(s));
    rlt_out_text(c->out, "last-generated-id");
    rlt_cmd_stream_tell_id(c, s->last);
    rlt_out_text(c->out, "max-deleted-entry-id");
    rlt_cmd_stream_tell_id(c, s->max_deleted);
    cmd_group_tell_count(c, "entries-added", (int64_t)s->added);
    rlt_out_text(c->out, "recorded-first-entry-id");
    rlt_cmd_stream_tell_id(c, e ? e->id : rlt_stream_id_of(0, 0));
}

static void cmd_group_tell_end(rlt_call *c, const rlt_stream *s,
                               const char *name, int side)
{
    const rlt_stream_entry *e = rlt_stream_end(s, side);

    rlt_out_text(c->out, name);
    if (e)
        rlt_cmd_stream_tell(c, e);
    else
        rlt_out_null(c->out);
}

/* Replies at most max pending entries (0: all) of the group, or of one
 * consumer. */
static void cmd_group_tell_pending(rlt_call *c, const rlt_stream_group *g,
                                   const rlt_stream_consumer *who,
                                   uint64_t max)
{
    const rlt_stream_pending *p =
        rlt_stream_pending_seek(g, who, rlt_stream_id_of(0, 0), 1);
    size_t mark, n = 0;

    cmd_group_tell_count(
        c, "pel-count", rlt_tree_count(who ? &who->pending : &g->pending));
    rlt_out_text(c->out, "pending");
    mark = rlt_out_later(c->out);
    for (; p && (max == 0 || n < max); n++) {
        rlt_out_array(c->out, who ? 3 : 4);
        rlt_cmd_stream_tell_id(c, p->id);
        if (who == NULL)
            rlt_out_bulk(c->out, rlt_stream_consumer_name(p->consumer));
        rlt_out_int(c->out, p->delivered_ms);
        rlt_out_int(c->out, (int64_t)p->deliveries);
        p = rlt_stream_pending_step(p, who != NULL, 1);
    }
    rlt_out_later_end(c->out, mark, '*', n);
}

static void cmd_group_tell_full(rlt_call *c, const rlt_stream *s,
                                const rlt_stream_group *g, uint64_t max)
{
    const rlt_stream_consumer *who = rlt_stream_consumer_first(g);

    rlt_out_map(c->out, 7);
    rlt_out_text(c->out, "name");
    rlt_out_bulk(c->out, rlt_stream_group_name(g));
    cmd_group_tell_read(c, s, g);
    cmd_group_tell_pending(c, g, NULL, max);
    rlt_out_text(c->out, "consumers");
    rlt_out_array(c->out, rlt_tree_count(&g->consumers));
    for (; who; who = rlt_stream_consumer_next(who)) {
        rlt_out_map(c->out, 4);
        rlt_out_text(c->out, "name");
        rlt_out_bulk(c->out, rlt_stream_consumer_name(who));
        cmd_group_tell_count(c, "seen-time", who->seen_ms);
        cmd_group_tell_pending(c, g, who, max);
    }
}

static void cmd_group_info_full(rlt_call *c, const rlt_stream *s, uint64_t max)
{
    const rlt_stream_group *g = rlt_stream_group_first(s);

    rlt_out_map(c->out, 9);
    cmd_group_tell_stream(c, s);
    rlt_out_text(c->out, "entries");
    rlt_cmd_stream_tell_range(c, s, rlt_stream_id_of(0, 0),
                              rlt_stream_id_of(UINT64_MAX, UINT64_MAX), max,
                              0);
    rlt_out_text(c->out, "groups");
    rlt_out_array(c->out, rlt_tree_count(&s->groups));
    for (; g; g = rlt_stream_group_next(g))
        cmd_group_tell_full(c, s, g, max);
}

#define CMD_GROUP_FULL_MAX 10 /* entries replied without COUNT               */

static void cmd_group_info_stream(rlt_call *c)
{
    const rlt_stream *s = cmd_group_info_open(c);
    int64_t max = CMD_GROUP_FULL_MAX;

    if (s == NULL)
        return;
    if (c->argc == 3) {
        rlt_out_map(c->out, 10);
        cmd_group_tell_stream(c, s);
        cmd_group_tell_count(c, "groups", rlt_tree_count(&s->groups));
        cmd_group_tell_end(c, s, "first-entry", 0);
        cmd_group_tell_end(c, s, "last-entry", 1);
        return;
    }
    if ((c->argc != 4 && c->argc != 6) || !rlt_call_is(c, 3, "full") ||
        (c->argc == 6 && !rlt_call_is(c, 4, "count"))) {
        rlt_call_error_subcommand(c);
        return;
    }
    if (c->argc == 6 && !rlt_call_int(c, 5, &max, NULL))
        return;
    cmd_group_info_full(c, s,
                        max < 0 ? CMD_GROUP_FULL_MAX : (uint64_t)max);
}

/* --------------------------------------------------------------------- rows */

#define CMD_GROUP_HELP (RLT_CMD_LOADING | RLT_CMD_STALE)

static const rlt_command cmd_group_subs[] = {
    {"create", cmd_group_create, -5, RLT_CMD_WRITE | RLT_CMD_DENYOOM, 2, 2, 1,
     0, 0, cmd_group_bound, NULL},
    {"setid", cmd_group_set_id, -5, RLT_CMD_WRITE, 2, 2, 1, 0, 0, NULL, NULL},
    {"destroy", cmd_group_destroy, 4, RLT_CMD_WRITE, 2, 2, 1, 0, 0, NULL,
     NULL},
    {"createconsumer", cmd_group_create_consumer, 5,
     RLT_CMD_WRITE | RLT_CMD_DENYOOM, 2, 2, 1, 0, 0, cmd_group_bound, NULL},
    {"delconsumer", cmd_group_delete_consumer, 5, RLT_CMD_WRITE, 2, 2, 1, 0, 0,
     NULL, NULL},
    {"help", rlt_call_help, 2, CMD_GROUP_HELP, 0, 0, 0, 0, 0, NULL, NULL},
    {NULL, NULL, 0, 0, 0, 0, 0, 0, 0, NULL, NULL},
};

static const rlt_command cmd_group_info_subs[] = {
    {"stream", cmd_group_info_stream, -3, RLT_CMD_READONLY, 2, 2, 1, 0, 0,
     NULL, NULL},
    {"groups", cmd_group_info_groups, 3, RLT_CMD_READONLY, 2, 2, 1, 0, 0, NULL,
     NULL},
    {"consumers", cmd_group_info_consumers, 4, RLT_CMD_READONLY, 2, 2, 1, 0, 0,
     NULL, NULL},
    {"help", rlt_call_help, 2, CMD_GROUP_HELP, 0, 0, 0, 0, 0, NULL,
     NULL},
    {NULL, NULL, 0, 0, 0, 0, 0, 0, 0, NULL, NULL},
};

static const rlt_command cmd_group_rows[] = {
    {"xgroup", NULL, -2, 0, 0, 0, 0, 0, 0, NULL, cmd_group_subs},
    {"xinfo", NULL, -2, 0, 0, 0, 0, 0, 0, NULL, cmd_group_info_subs},
};

RELET_PRIVATE const rlt_command *rlt_cmd_group_rows(size_t *n)
{
    *n = sizeof cmd_group_rows / sizeof cmd_group_rows[0];
    return cmd_group_rows;
}
