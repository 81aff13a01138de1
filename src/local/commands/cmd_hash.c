/* SPDX-License-Identifier: MIT
 *
 * cmd_hash.c - commands on hashes.
 */
#include "cmd_hash.h"
#include "cmd_walk.h"

/* ------------------------------------------------------------------ writing */

/* The hash for writing, made when it is missing. NULL: WRONGTYPE was
 * replied. */
static rlt_hash *cmd_hash_open(rlt_call *c)
{
    rlt_obj *o;

    if (!rlt_call_write(c, 1, RLT_OBJ_HASH, &o))
        return NULL;
    if (o == NULL)
        o = rlt_call_make(c, 1, RLT_OBJ_HASH);
    return &o->of.hash;
}

/* Sets all fields. Returns how many are new; -1: an error was replied. */
static int64_t cmd_hash_put_all(rlt_call *c)
{
    int64_t made = 0;
    rlt_hash *h;
    uint32_t i;

    if (c->argc % 2 == 1) {
        rlt_call_error_arity(c);
        return -1;
    }
    h = cmd_hash_open(c);
    if (h == NULL)
        return -1;
    for (i = 2; i < c->argc; i += 2)
        made += rlt_hash_set(h, c->pool, c->argv[i], c->argv[i + 1]);
    return made;
}

static void cmd_hash_told(rlt_call *c)
{
    rlt_call_changed(c, c->argv[1], RLT_EVENT_HASH, "hset");
    c->dirty += c->argc / 2 - 2;
}

static void cmd_hash_set(rlt_call *c)
{
    int64_t made = cmd_hash_put_all(c);

    if (made < 0)
        return;
    rlt_out_int(c->out, made);
    cmd_hash_told(c);
}

static void cmd_hash_mset(rlt_call *c)
{
    if (cmd_hash_put_all(c) < 0)
        return;
    rlt_out_status(c->out, "OK");
    cmd_hash_told(c);
}

static void cmd_hash_set_nx(rlt_call *c)
{
    rlt_hash *h = cmd_hash_open(c);

    if (h == NULL)
        return;
    if (rlt_hash_find(h, c->argv[2])) {
        rlt_out_int(c->out, 0);
        return;
    }
    (void)rlt_hash_set(h, c->pool, c->argv[2], c->argv[3]);
    rlt_out_int(c->out, 1);
    rlt_call_changed(c, c->argv[1], RLT_EVENT_HASH, "hset");
}

static void cmd_hash_del(rlt_call *c)
{
    rlt_obj *o;
    rlt_entry *e;
    int64_t gone = 0;
    uint32_t i;

    if (!rlt_call_write(c, 1, RLT_OBJ_HASH, &o))
        return;
    for (i = 2; o && i < c->argc; i++) {
        e = rlt_hash_find(&o->of.hash, c->argv[i]);
        if (e == NULL)
            continue;
        rlt_hash_remove(&o->of.hash, c->pool, e);
        gone++;
    }
    if (gone > 0) {
        rlt_call_changed(c, c->argv[1], RLT_EVENT_HASH, "hdel");
        c->dirty += gone - 1;
        (void)rlt_call_delete_empty(c, 1, o);
    }
    rlt_out_int(c->out, gone);
}

/* ---------------------------------------------------------------- counting */

static int cmd_hash_sum(int64_t a, int64_t b, int64_t *sum)
{
    if ((b > 0 && a > INT64_MAX - b) || (b < 0 && a < INT64_MIN - b))
        return 0;
    *sum = a + b;
    return 1;
}

static void cmd_hash_incr(rlt_call *c)
{
    int64_t by, v = 0;
    char text[20];
    relet_span value;
    rlt_entry *e;
    rlt_hash *h;

    if (!rlt_call_int(c, 3, &by, NULL))
        return;
    h = cmd_hash_open(c);
    if (h == NULL)
        return;
    e = rlt_hash_find(h, c->argv[2]);
    if (e && !rlt_str_int(rlt_hash_value(e), &v)) {
        rlt_call_error(c, "ERR hash value is not an integer");
        return;
    }
    if (!cmd_hash_sum(v, by, &v)) {
        rlt_call_error(c, RLT_ERR_OVERFLOW);
        return;
    }
    value.p = text;
    value.n = rlt_text_put_i64(text, v);
    (void)rlt_hash_set(h, c->pool, c->argv[2], value);
    rlt_out_int(c->out, v);
    rlt_call_changed(c, c->argv[1], RLT_EVENT_HASH, "hincrby");
}

static void cmd_hash_log_value(rlt_call *c, relet_span value)
{
    rlt_call_effect(c, 4);
    rlt_call_effect_text(c, "HSET");
    rlt_call_effect_word(c, c->argv[1]);
    rlt_call_effect_word(c, c->argv[2]);
    rlt_call_effect_word(c, value);
}

/* The sum of `by` and a field, which is 0 when missing: 1, or 0 and an
 * error. */
static int cmd_hash_float_sum(rlt_call *c, const rlt_entry *e, rlt_long by,
                              rlt_long *sum)
{
    rlt_long v;

    memset(&v, 0, sizeof v);
    if (e && !rlt_longdouble_read(rlt_hash_value(e), &v)) {
        rlt_call_error(c, "ERR hash value is not a float");
        return 0;
    }
    *sum = rlt_longdouble_add(v, by);
    if (sum->inf) {
        rlt_call_error(c, RLT_ERR_NAN);
        return 0;
    }
    return 1;
}

static void cmd_hash_incr_float(rlt_call *c)
{
    char text[RLT_LONG_MAX];
    relet_span value;
    rlt_long by, sum;
    rlt_hash *h;

    if (!rlt_longdouble_read(c->argv[3], &by)) {
        rlt_call_error(c, RLT_ERR_FLOAT);
        return;
    }
    if (by.inf) {
        rlt_call_error(c, "ERR value is NaN or Infinity");
        return;
    }
    h = cmd_hash_open(c);
    if (h == NULL)
        return;
    if (!cmd_hash_float_sum(c, rlt_hash_find(h, c->argv[2]), by, &sum))
        return;
    value.p = text;
    value.n = rlt_longdouble_text(text, sum);
    (void)rlt_hash_set(h, c->pool, c->argv[2], value);
    rlt_out_bulk(c->out, value);
    rlt_call_changed(c, c->argv[1], RLT_EVENT_HASH, "hincrbyfloat");
    cmd_hash_log_value(c, value);
}

static size_t cmd_hash_incr_bound(const rlt_call *c)
{
    return rlt_call_cost(c) + RLT_STR_COST(RLT_LONG_MAX);
}

/* ------------------------------------------------------------------ reading */

static void cmd_hash_tell_value(rlt_call *c, const rlt_entry *e)
{
    if (e)
        rlt_out_bulk(c->out, rlt_hash_value(e));
    else
        rlt_out_null(c->out);
}

static void cmd_hash_get(rlt_call *c)
{
    rlt_obj *o;

    if (!rlt_call_read(c, 1, RLT_OBJ_HASH, &o))
        return;
    cmd_hash_tell_value(c, o ? rlt_hash_find(&o->of.hash, c->argv[2]) : NULL);
}

static void cmd_hash_mget(rlt_call *c)
{
    rlt_obj *o;
    uint32_t i;

    if (!rlt_call_read(c, 1, RLT_OBJ_HASH, &o))
        return;
    rlt_out_array(c->out, c->argc - 2);
    for (i = 2; i < c->argc; i++)
        cmd_hash_tell_value(
            c, o ? rlt_hash_find(&o->of.hash, c->argv[i]) : NULL);
}

static void cmd_hash_len(rlt_call *c)
{
    rlt_obj *o;

    if (rlt_call_read(c, 1, RLT_OBJ_HASH, &o))
        rlt_out_int(c->out, o ? o->of.hash.fields.count : 0);
}

/* Looks up one field: *e is NULL when it is missing. */
static int cmd_hash_field(rlt_call *c, rlt_entry **e)
{
    rlt_obj *o;

    if (!rlt_call_read(c, 1, RLT_OBJ_HASH, &o))
        return 0;
    *e = o ? rlt_hash_find(&o->of.hash, c->argv[2]) : NULL;
    return 1;
}

static void cmd_hash_value_len(rlt_call *c)
{
    rlt_entry *e;

    if (cmd_hash_field(c, &e))
        rlt_out_int(c->out, e ? (int64_t)rlt_hash_value(e).n : 0);
}

static void cmd_hash_exists(rlt_call *c)
{
    rlt_entry *e;

    if (cmd_hash_field(c, &e))
        rlt_out_int(c->out, e != NULL);
}

static void cmd_hash_tell_field(rlt_call *c, const rlt_entry *e)
{
    rlt_out_bulk(c->out, rlt_entry_key(e));
}

static void cmd_hash_tell_both(rlt_call *c, const rlt_entry *e)
{
    rlt_out_bulk(c->out, rlt_entry_key(e));
    rlt_out_bulk(c->out, rlt_hash_value(e));
}

static void cmd_hash_tell_all(rlt_call *c, const rlt_obj *o,
                              rlt_cmd_walk_fn *tell)
{
    const rlt_entry *e = o ? o->of.hash.fields.first : NULL;

    for (; e; e = e->next)
        tell(c, e);
}

static void cmd_hash_get_all(rlt_call *c)
{
    rlt_obj *o;

    if (!rlt_call_read(c, 1, RLT_OBJ_HASH, &o))
        return;
    rlt_out_map(c->out, o ? o->of.hash.fields.count : 0);
    cmd_hash_tell_all(c, o, cmd_hash_tell_both);
}

static void cmd_hash_list(rlt_call *c, rlt_cmd_walk_fn *tell)
{
    rlt_obj *o;

    if (!rlt_call_read(c, 1, RLT_OBJ_HASH, &o))
        return;
    rlt_out_array(c->out, o ? o->of.hash.fields.count : 0);
    cmd_hash_tell_all(c, o, tell);
}

static void cmd_hash_keys(rlt_call *c)
{
    cmd_hash_list(c, cmd_hash_tell_field);
}

static void cmd_hash_values(rlt_call *c)
{
    cmd_hash_list(c, cmd_hash_tell_value);
}

/* -------------------------------------------------- random fields and scans */

static void cmd_hash_tell_pair(rlt_call *c, const rlt_entry *e)
{
    if (c->out->resp > 2)
        rlt_out_array(c->out, 2);
    cmd_hash_tell_both(c, e);
}

static void cmd_hash_draw_some(rlt_call *c, const rlt_hash *h, int64_t count,
                               int pairs)
{
    uint64_t n = count < 0 ? (uint64_t)-count : (uint64_t)count;

    if (count > h->fields.count)
        n = h->fields.count;
    rlt_out_array(c->out, (size_t)(pairs && c->out->resp == 2 ? n * 2 : n));
    rlt_cmd_walk_draw(c, &h->fields,
                      pairs ? cmd_hash_tell_pair : cmd_hash_tell_field, count);
}

static void cmd_hash_draw(rlt_call *c)
{
    int64_t count;
    int one, pairs;
    rlt_obj *o;

    if (!rlt_cmd_walk_draw_words(c, "WITHVALUES", &count, &one, &pairs) ||
        !rlt_call_read(c, 1, RLT_OBJ_HASH, &o))
        return;
    if (o && one)
        rlt_cmd_walk_draw(c, &o->of.hash.fields, cmd_hash_tell_field, 1);
    else if (o)
        cmd_hash_draw_some(c, &o->of.hash, count, pairs);
    else if (one)
        rlt_out_null(c->out);
    else
        rlt_out_array(c->out, 0);
}

static void cmd_hash_scan(rlt_call *c)
{
    rlt_call_scan s;
    rlt_cmd_walk w;
    rlt_obj *o;

    if (!rlt_call_scan_cursor(c, 2, &s) ||
        !rlt_call_read(c, 1, RLT_OBJ_HASH, &o))
        return;
    if (o == NULL) {
        rlt_cmd_walk_scan_none(c);
        return;
    }
    w.dict = &o->of.hash.fields;
    w.first = w.dict->first;
    w.next = o->of.hash.large ? NULL : rlt_cmd_walk_order;
    w.tell = cmd_hash_tell_both;
    w.words = 2;
    rlt_cmd_walk_scan(c, &w, &s);
}

/* --------------------------------------------------------------------- rows */

#define CMD_HASH_READ RLT_CMD_READONLY
#define CMD_HASH_GROW (RLT_CMD_WRITE | RLT_CMD_DENYOOM | RLT_CMD_FAST)
#define CMD_HASH_PEEK (RLT_CMD_READONLY | RLT_CMD_FAST)

static const rlt_command cmd_hash_rows[] = {
    {"hset", cmd_hash_set, -4, CMD_HASH_GROW, 1, 1, 1, 0, 0, NULL, NULL},
    {"hmset", cmd_hash_mset, -4, CMD_HASH_GROW, 1, 1, 1, 0, 0, NULL, NULL},
    {"hsetnx", cmd_hash_set_nx, 4, CMD_HASH_GROW, 1, 1, 1, 0, 0, NULL, NULL},
    {"hget", cmd_hash_get, 3, CMD_HASH_PEEK, 1, 1, 1, 0, 0, NULL, NULL},
    {"hmget", cmd_hash_mget, -3, CMD_HASH_PEEK, 1, 1, 1, 0, 0, NULL, NULL},
    {"hdel", cmd_hash_del, -3, RLT_CMD_WRITE | RLT_CMD_FAST, 1, 1, 1, 0, 0,
     NULL, NULL},
    {"hlen", cmd_hash_len, 2, CMD_HASH_PEEK, 1, 1, 1, 0, 0, NULL, NULL},
    {"hstrlen", cmd_hash_value_len, 3, CMD_HASH_PEEK, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"hexists", cmd_hash_exists, 3, CMD_HASH_PEEK, 1, 1, 1, 0, 0, NULL, NULL},
    {"hincrby", cmd_hash_incr, 4, CMD_HASH_GROW, 1, 1, 1, 0, 0,
     cmd_hash_incr_bound, NULL},
    {"hincrbyfloat", cmd_hash_incr_float, 4, CMD_HASH_GROW, 1, 1, 1, 0, 0,
     cmd_hash_incr_bound, NULL},
    {"hkeys", cmd_hash_keys, 2, CMD_HASH_READ, 1, 1, 1, 0, 0, NULL, NULL},
    {"hvals", cmd_hash_values, 2, CMD_HASH_READ, 1, 1, 1, 0, 0, NULL, NULL},
    {"hgetall", cmd_hash_get_all, 2, CMD_HASH_READ, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"hrandfield", cmd_hash_draw, -2, CMD_HASH_READ, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"hscan", cmd_hash_scan, -3, CMD_HASH_READ, 1, 1, 1, 0, 0, NULL, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_hash_rows(size_t *n)
{
    *n = sizeof cmd_hash_rows / sizeof cmd_hash_rows[0];
    return cmd_hash_rows;
}
