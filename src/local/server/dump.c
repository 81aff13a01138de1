/* SPDX-License-Identifier: MIT
 *
 * dump.c - the whole data set as commands that recreate it.
 *
 * A large value is split over many commands, so that none is too long to be
 * read at once. */
#include "dump.h"

/* Elements in one command, as many as Redis uses when it rewrites its log. */
#define DUMP_ITEMS 64

static void dump_begin(rlt_out *o, size_t words, const char *name,
                       relet_span key)
{
    rlt_out_array(o, words);
    rlt_out_text(o, name);
    rlt_out_bulk(o, key);
}

static void dump_score(rlt_out *o, double v)
{
    char text[RLT_NUM_MAX];
    relet_span s;

    s.p = text;
    s.n = rlt_num_score(text, v);
    rlt_out_bulk(o, s);
}

/* If a command begins at element i of n: how many elements it has; else 0. */
static size_t dump_more(size_t i, size_t n)
{
    return i % DUMP_ITEMS == 0 ? RLT_MIN(n - i, DUMP_ITEMS) : 0;
}

RELET_PRIVATE void rlt_dump_db(rlt_out *o, uint32_t db)
{
    rlt_out_array(o, 2);
    rlt_out_text(o, "SELECT");
    rlt_out_bulk_int(o, db);
}

/* -------------------------------------------------------------- small types */

static void dump_list(rlt_out *o, relet_span key, const rlt_list *l)
{
    rlt_list_place at = rlt_list_end(l, 0);
    size_t i = 0, more;

    for (; at.chunk; (void)rlt_list_step(&at, 1), i++) {
        more = dump_more(i, l->count);
        if (more)
            dump_begin(o, 2 + more, "RPUSH", key);
        rlt_out_bulk(o, rlt_list_get(at));
    }
}

static void dump_set(rlt_out *o, relet_span key, const rlt_set *s)
{
    const rlt_entry *e;
    size_t i = 0, more;

    for (e = s->members.first; e; e = e->next, i++) {
        more = dump_more(i, s->members.count);
        if (more)
            dump_begin(o, 2 + more, "SADD", key);
        rlt_out_bulk(o, rlt_entry_key(e));
    }
}

static void dump_zset(rlt_out *o, relet_span key, const rlt_zset *z)
{
    const rlt_entry *e;
    size_t i = 0, more;

    for (e = z->members.first; e; e = e->next, i++) {
        more = dump_more(i, z->members.count);
        if (more)
            dump_begin(o, 2 + 2 * more, "ZADD", key);
        dump_score(o, ((const rlt_zset_item *)e->value.p)->score);
        rlt_out_bulk(o, rlt_entry_key(e));
    }
}

static void dump_hash(rlt_out *o, relet_span key, const rlt_hash *h)
{
    const rlt_entry *e;
    size_t i = 0, more;

    for (e = h->fields.first; e; e = e->next, i++) {
        more = dump_more(i, h->fields.count);
        if (more)
            dump_begin(o, 2 + 2 * more, "HSET", key);
        rlt_out_bulk(o, rlt_entry_key(e));
        rlt_out_bulk(o, rlt_hash_value(e));
    }
}

/* ------------------------------------------------------------------ streams */

static void dump_id(rlt_out *o, rlt_stream_id id)
{
    char text[RLT_STREAM_ID_MAX];
    relet_span s;

    s.p = text;
    s.n = rlt_stream_id_text(text, id);
    rlt_out_bulk(o, s);
}

/* An empty stream is recreated by an XADD that trims its own entry. */
static void dump_entries(rlt_out *o, relet_span key, const rlt_stream *s)
{
    const rlt_stream_entry *e = rlt_stream_end(s, 0);
    uint32_t i;

    if (e == NULL) {
        dump_begin(o, 7, "XADD", key);
        rlt_out_text(o, "MAXLEN");
        rlt_out_text(o, "0");
        dump_id(o, s->last.ms || s->last.seq ? s->last
                                             : rlt_stream_id_of(0, 1));
        rlt_out_text(o, "x");
        rlt_out_text(o, "y");
    }
    for (; e; e = rlt_stream_step(e, 1)) {
        dump_begin(o, 3 + (size_t)e->n, "XADD", key);
        dump_id(o, e->id);
        for (i = 0; i < e->n; i++)
            rlt_out_bulk(o, rlt_stream_string(e, i));
    }
    dump_begin(o, 7, "XSETID", key);
    dump_id(o, s->last);
    rlt_out_text(o, "ENTRIESADDED");
    rlt_out_bulk_int(o, (int64_t)s->added);
    rlt_out_text(o, "MAXDELETEDID");
    dump_id(o, s->max_deleted);
}

static void dump_consumers(rlt_out *o, relet_span key,
                           const rlt_stream_group *g)
{
    const rlt_stream_consumer *c = rlt_stream_consumer_first(g);

    for (; c; c = rlt_stream_consumer_next(c)) {
        rlt_out_array(o, 5);
        rlt_out_text(o, "XGROUP");
        rlt_out_text(o, "CREATECONSUMER");
        rlt_out_bulk(o, key);
        rlt_out_bulk(o, rlt_stream_group_name(g));
        rlt_out_bulk(o, rlt_stream_consumer_name(c));
    }
}

static void dump_pending(rlt_out *o, relet_span key,
                         const rlt_stream_group *g)
{
    const rlt_stream_pending *p =
        rlt_stream_pending_seek(g, NULL, rlt_stream_id_of(0, 0), 1);

    for (; p; p = rlt_stream_pending_step(p, 0, 1)) {
        dump_begin(o, 12, "XCLAIM", key);
        rlt_out_bulk(o, rlt_stream_group_name(g));
        rlt_out_bulk(o, rlt_stream_consumer_name(p->consumer));
        rlt_out_text(o, "0");
        dump_id(o, p->id);
        rlt_out_text(o, "TIME");
        rlt_out_bulk_int(o, p->delivered_ms);
        rlt_out_text(o, "RETRYCOUNT");
        rlt_out_bulk_int(o, (int64_t)p->deliveries);
        rlt_out_text(o, "JUSTID");
        rlt_out_text(o, "FORCE");
    }
}

static void dump_stream(rlt_out *o, relet_span key, const rlt_stream *s)
{
    const rlt_stream_group *g = rlt_stream_group_first(s);

    dump_entries(o, key, s);
    for (; g; g = rlt_stream_group_next(g)) {
        rlt_out_array(o, 7);
        rlt_out_text(o, "XGROUP");
        rlt_out_text(o, "CREATE");
        rlt_out_bulk(o, key);
        rlt_out_bulk(o, rlt_stream_group_name(g));
        dump_id(o, g->last);
        rlt_out_text(o, "ENTRIESREAD");
        rlt_out_bulk_int(o, g->entries_read);
        dump_consumers(o, key, g);
        dump_pending(o, key, g);
    }
}

/* --------------------------------------------------------------------- keys */

RELET_PRIVATE void rlt_dump_key(rlt_out *o, const rlt_entry *e)
{
    const rlt_obj *obj = rlt_keys_obj(e);
    relet_span key = rlt_entry_key(e);
    int64_t at_ms = rlt_keys_expires_at(obj);

    switch (obj->type) {
    case RLT_OBJ_STRING:
        dump_begin(o, 3, "SET", key);
        rlt_out_bulk(o, rlt_obj_span(obj));
        break;
    case RLT_OBJ_LIST:
        dump_list(o, key, &obj->of.list);
        break;
    case RLT_OBJ_SET:
        dump_set(o, key, &obj->of.set);
        break;
    case RLT_OBJ_ZSET:
        dump_zset(o, key, &obj->of.zset);
        break;
    case RLT_OBJ_HASH:
        dump_hash(o, key, &obj->of.hash);
        break;
    case RLT_OBJ_STREAM:
        dump_stream(o, key, &obj->of.stream);
        break;
    }
    if (at_ms < 0)
        return;
    dump_begin(o, 3, "PEXPIREAT", key);
    rlt_out_bulk_int(o, at_ms);
}
