/* SPDX-License-Identifier: MIT
 *
 * cmd_key.c - keys of any type: DEL, EXISTS, RENAME, COPY, SCAN and so on.
 */
#include "glob.h"
#include "rows.h"

static void cmd_key_del(rlt_call *c)
{
    int64_t n = 0;
    uint32_t i;

    for (i = 1; i < c->argc; i++)
        if (rlt_call_find_write(c, c->argv[i])) {
            (void)rlt_call_delete(c, c->argv[i]);
            rlt_call_changed(c, c->argv[i], RLT_EVENT_GENERIC, "del");
            n++;
        }
    rlt_out_int(c->out, n);
}

static void cmd_key_exists(rlt_call *c)
{
    int64_t n = 0;
    uint32_t i;

    for (i = 1; i < c->argc; i++)
        n += rlt_call_find_read(c, c->argv[i]) != NULL;
    rlt_out_int(c->out, n);
}

static void cmd_key_touch(rlt_call *c)
{
    int64_t n = 0;
    uint32_t i;

    for (i = 1; i < c->argc; i++)
        n += rlt_call_find_read(c, c->argv[i]) != NULL;
    rlt_out_int(c->out, n);
}

static void cmd_key_type(rlt_call *c)
{
    rlt_entry *e = rlt_call_find_read(c, c->argv[1]);

    rlt_out_status(c->out, e ? rlt_obj_type_name(rlt_keys_obj(e)->type)
                             : "none");
}

/* -------------------------------------------------- renaming and copying */

/* Wakes the readers of a stream that wait in a group: the stream is gone. */
static void cmd_key_left(rlt_call *c, const rlt_obj *o, relet_span key)
{
    if (o->type == RLT_OBJ_STREAM)
        rlt_call_ready(c, key);
}

static void cmd_key_rename_as(rlt_call *c, int nx)
{
    relet_span from = c->argv[1], to = c->argv[2];
    rlt_entry *e = rlt_call_find_write(c, from);
    int64_t at_ms;
    rlt_obj *o;

    if (e == NULL) {
        rlt_call_error(c, RLT_ERR_NO_KEY);
        return;
    }
    if (!rlt_span_same(from, to)) {
        if (nx && rlt_call_find_write(c, to)) {
            rlt_out_int(c->out, 0);
            return;
        }
        (void)rlt_call_find_write(c, to);
        (void)rlt_call_delete(c, to);
        o = rlt_keys_take(c->db, c->pool, rlt_keys_find(c->db, from), &at_ms);
        e = rlt_call_put(c, to, o);
        if (at_ms >= 0)
            rlt_keys_expire(c->db, c->pool, e, at_ms);
        cmd_key_left(c, o, from);
        rlt_call_modified(c, from);
        rlt_call_modified(c, to);
        rlt_call_event(c, RLT_EVENT_GENERIC, "rename_from", from);
        rlt_call_event(c, RLT_EVENT_GENERIC, "rename_to", to);
        c->dirty++;
        if (nx)
            rlt_out_int(c->out, 1);
    } else if (nx) {
        rlt_out_int(c->out, 0);
    }
    if (!nx)
        rlt_out_status(c->out, "OK");
}

static void cmd_key_rename(rlt_call *c)
{
    cmd_key_rename_as(c, 0);
}

static void cmd_key_renamenx(rlt_call *c)
{
    cmd_key_rename_as(c, 1);
}

/* Reads argv[i] as the number of a database: 1, or 0: an error was replied. */
static int cmd_key_db(rlt_call *c, uint32_t i, uint32_t *db)
{
    int64_t v;

    if (!rlt_call_between(c, i, INT32_MIN, INT32_MAX, &v, NULL))
        return 0;
    if (v < 0 || v >= c->server->config.databases) {
        rlt_call_error(c, "ERR DB index is out of range");
        return 0;
    }
    *db = (uint32_t)v;
    return 1;
}

/* The same call as if another database were selected. */
static rlt_call cmd_key_in(const rlt_call *c, uint32_t db)
{
    rlt_call in = *c;

    in.db_index = db;
    in.db = &c->server->dbs[db].keys;
    return in;
}

static int cmd_key_copy_options(rlt_call *c, uint32_t *db, int *replace)
{
    uint32_t i;

    *db = c->db_index;
    *replace = 0;
    for (i = 3; i < c->argc; i++) {
        if (rlt_call_is(c, i, "replace")) {
            *replace = 1;
        } else if (rlt_call_is(c, i, "db") && i + 1 < c->argc) {
            if (!cmd_key_db(c, ++i, db))
                return 0;
        } else {
            rlt_call_error(c, RLT_ERR_SYNTAX);
            return 0;
        }
    }
    if (*db == c->db_index && rlt_span_same(c->argv[1], c->argv[2])) {
        rlt_call_error(c,
                       "ERR source and destination objects are the same");
        return 0;
    }
    return 1;
}

static size_t cmd_key_copy_bound(const rlt_call *c)
{
    const rlt_obj *o = rlt_call_peek(c, c->argv[1]);

    return rlt_call_cost(c) + (o ? rlt_obj_copy_cost(o) : 0);
}

static void cmd_key_copy(rlt_call *c)
{
    uint32_t db;
    int replace;
    int64_t at_ms;
    rlt_entry *e;
    rlt_obj *o;
    rlt_call to;

    if (!cmd_key_copy_options(c, &db, &replace))
        return;
    to = cmd_key_in(c, db);
    e = rlt_call_find_read(c, c->argv[1]);
    if (e == NULL || (rlt_call_find_write(&to, c->argv[2]) && !replace)) {
        rlt_out_int(c->out, 0);
        return;
    }
    (void)rlt_call_delete(&to, c->argv[2]);
    at_ms = rlt_keys_expires_at(rlt_keys_obj(e));
    o = rlt_obj_copy(c->pool, rlt_keys_obj(e));
    e = rlt_call_put(&to, c->argv[2], o);
    if (at_ms >= 0)
        rlt_keys_expire(to.db, c->pool, e, at_ms);
    rlt_call_modified(&to, c->argv[2]);
    rlt_call_event(&to, RLT_EVENT_GENERIC, "copy_to", c->argv[2]);
    c->dirty++;
    rlt_out_int(c->out, 1);
}

static void cmd_key_move(rlt_call *c)
{
    relet_span key = c->argv[1];
    uint32_t db;
    int64_t at_ms;
    rlt_entry *e;
    rlt_obj *o;
    rlt_call to;

    if (!cmd_key_db(c, 2, &db))
        return;
    if (db == c->db_index) {
        rlt_call_error(c,
                       "ERR source and destination objects are the same");
        return;
    }
    to = cmd_key_in(c, db);
    e = rlt_call_find_write(c, key);
    if (e == NULL || rlt_call_find_write(&to, key)) {
        rlt_out_int(c->out, 0);
        return;
    }
    o = rlt_keys_take(c->db, c->pool, e, &at_ms);
    e = rlt_call_put(&to, key, o);
    if (at_ms >= 0)
        rlt_keys_expire(to.db, c->pool, e, at_ms);
    cmd_key_left(c, o, key);
    rlt_call_modified(c, key);
    rlt_call_modified(&to, key);
    rlt_call_event(c, RLT_EVENT_GENERIC, "move_from", key);
    rlt_call_event(&to, RLT_EVENT_GENERIC, "move_to", key);
    c->dirty++;
    rlt_out_int(c->out, 1);
}

/* ----------------------------------------------------------------- walking */

static int cmd_key_seen(const rlt_call *c, const rlt_entry *e)
{
    return !rlt_keys_is_due(rlt_keys_obj(e), c->now_ms);
}

static void cmd_key_keys(rlt_call *c)
{
    size_t mark = rlt_out_later(c->out), n = 0;
    int all = rlt_span_is(c->argv[1], "*");
    const rlt_entry *e;

    for (e = c->db->dict.first; e; e = e->next)
        if (cmd_key_seen(c, e) &&
            (all || rlt_glob_match(c->argv[1], rlt_entry_key(e), 0))) {
            rlt_out_bulk(c->out, rlt_entry_key(e));
            n++;
        }
    rlt_out_later_end(c->out, mark, '*', n);
}

/* A due entry that a scan has met: it is deleted after the scan, which a
 * deletion could disturb. */
typedef struct cmd_key_gone {
    struct cmd_key_gone *next;
    rlt_entry *e;
} cmd_key_gone;

static void cmd_key_go_later(rlt_call *c, rlt_entry *e, cmd_key_gone **gone)
{
    cmd_key_gone *g = (cmd_key_gone *)rlt_call_scratch(c, sizeof *g);

    if (g == NULL)
        return;
    g->next = *gone;
    g->e = e;
    *gone = g;
}

/* SCAN with TYPE reads the keys, and counts these as misses. */
static void cmd_key_go(rlt_call *c, const cmd_key_gone *gone, int typed)
{
    for (; gone; gone = gone->next) {
        relet_span key = rlt_entry_key(gone->e);

        (void)(typed ? rlt_call_find_read(c, key)
                     : rlt_call_find_write(c, key));
    }
}

static int cmd_key_wanted(rlt_call *c, const rlt_call_scan *s, rlt_entry *e,
                          cmd_key_gone **gone)
{
    const rlt_obj *o = rlt_keys_obj(e);

    if (s->match.p && !rlt_glob_match(s->match, rlt_entry_key(e), 0))
        return 0;
    if (!cmd_key_seen(c, e)) {
        cmd_key_go_later(c, e, gone);
        return 0;
    }
    if (s->type.p == NULL)
        return 1;
    c->server->counts.hits++;
    return rlt_span_is_nocase(s->type, rlt_obj_type_name(o->type));
}

static void cmd_key_scan(rlt_call *c)
{
    size_t n = 0;
    int64_t met = 0, steps = 0;
    cmd_key_gone *gone = NULL;
    rlt_call_scan s;
    rlt_entry *e;
    char digits[20];
    relet_span cursor;
    rlt_out found;

    if (!rlt_call_scan_cursor(c, 1, &s) ||
        !rlt_call_scan_options(c, 2, &s, 1))
        return;
    rlt_out_init(&found, c->server->memory, c->server->config.output_max);
    do {
        s.cursor = rlt_dict_scan(&c->db->dict, s.cursor, &e);
        for (; e; e = rlt_dict_scan_next(&c->db->dict, e)) {
            met++;
            if (cmd_key_wanted(c, &s, e, &gone)) {
                rlt_out_bulk(&found, rlt_entry_key(e));
                n++;
            }
        }
    } while (s.cursor && met < s.count && ++steps < s.count * 10);
    cmd_key_go(c, gone, s.type.p != NULL);
    if (c->failed) {
        rlt_out_free(&found);
        return;
    }
    cursor.p = digits;
    cursor.n = rlt_text_put_u64(digits, s.cursor);
    rlt_out_array(c->out, 2);
    rlt_out_bulk(c->out, cursor);
    rlt_out_array(c->out, n);
    rlt_out_raw(c->out, rlt_buf_head(&found.buf), rlt_buf_used(&found.buf));
    if (found.failed)
        c->out->failed = 1;
    rlt_out_free(&found);
}

static void cmd_key_dbsize(rlt_call *c)
{
    rlt_out_int(c->out, rlt_keys_count(c->db));
}

/* Deletes due keys that it draws; a bounded number of them, as a replica
 * would. */
static void cmd_key_randomkey(rlt_call *c)
{
    rlt_entry *e;
    int tries;

    for (tries = 0; tries < 1000; tries++) {
        e = rlt_keys_random(c->db, c->rand);
        if (e == NULL)
            break;
        if (cmd_key_seen(c, e)) {
            rlt_out_bulk(c->out, rlt_entry_key(e));
            return;
        }
        (void)rlt_call_find_write(c, rlt_entry_key(e));
    }
    rlt_out_null(c->out);
}

/* -------------------------------------------------------------------- rows */

#define R RLT_CMD_READONLY
#define W RLT_CMD_WRITE
#define F RLT_CMD_FAST
#define ONE 1, 1, 1, 0, 0, NULL, NULL
#define ALL 1, -1, 1, 0, 0, NULL, NULL
#define NONE 0, 0, 0, 0, 0, NULL, NULL

static const rlt_command cmd_key_rows[] = {
    {"del", cmd_key_del, -2, W, ALL},
    {"unlink", cmd_key_del, -2, W | F, ALL},
    {"exists", cmd_key_exists, -2, R | F, ALL},
    {"touch", cmd_key_touch, -2, R | F, ALL},
    {"type", cmd_key_type, 2, R | F, ONE},
    {"rename", cmd_key_rename, 3, W, 1, 2, 1, 0, 0, NULL, NULL},
    {"renamenx", cmd_key_renamenx, 3, W | F, 1, 2, 1, 0, 0, NULL, NULL},
    {"copy", cmd_key_copy, -3, W | RLT_CMD_DENYOOM, 1, 2, 1, 0, 0,
     cmd_key_copy_bound, NULL},
    {"move", cmd_key_move, 3, W | F, ONE},
    {"keys", cmd_key_keys, 2, R, NONE},
    {"scan", cmd_key_scan, -2, R, NONE},
    {"dbsize", cmd_key_dbsize, 1, R | F, NONE},
    {"randomkey", cmd_key_randomkey, 1, R, NONE},
};

#undef R
#undef W
#undef F
#undef ONE
#undef ALL
#undef NONE

RELET_PRIVATE const rlt_command *rlt_cmd_key_rows(size_t *n)
{
    *n = sizeof cmd_key_rows / sizeof *cmd_key_rows;
    return cmd_key_rows;
}
