/* SPDX-License-Identifier: MIT
 *
 * cmd_flush.c - whole databases: FLUSHALL, FLUSHDB, SWAPDB.
 */
#include "blocked.h"
#include "rows.h"
#include "track.h"

/* Watched keys that exist, here or in `with`, have changed. A key that was due
 * already only expires now. */
static void cmd_flush_touch(rlt_server *s, uint32_t db, const rlt_keys *with)
{
    rlt_keys *k = &s->dbs[db].keys;
    const rlt_entry *e;
    relet_span key;
    rlt_entry *live;

    for (e = k->watched.first; e; e = e->next) {
        key = rlt_entry_key(e);
        live = rlt_keys_find(k, key);
        if (live == NULL && with)
            live = rlt_keys_find(with, key);
        if (live == NULL)
            continue;
        if (rlt_keys_is_due(rlt_keys_obj(live), s->now_us / 1000))
            rlt_call_watched_lapse(s, db, key);
        else
            rlt_keys_touch(k, key);
    }
}

/* Every client that waits in this database tries its keys again. */
static void cmd_flush_look(rlt_server *s, uint32_t db)
{
    const rlt_entry *e;

    for (e = s->dbs[db].waiting.first; e; e = e->next)
        rlt_blocked_came(s, db, rlt_entry_key(e));
}

RELET_PRIVATE void rlt_cmd_flush_dbs(rlt_server *s, uint32_t from,
                                     uint32_t to)
{
    uint32_t db;

    for (db = from; db < to; db++) {
        cmd_flush_touch(s, db, NULL);
        rlt_keys_clear(&s->dbs[db].keys, &s->pool);
        cmd_flush_look(s, db);
    }
    rlt_track_flushed(s);
}

static int cmd_flush_mode(rlt_call *c)
{
    if (c->argc == 1 || (c->argc == 2 && (rlt_call_is(c, 1, "sync") ||
                                          rlt_call_is(c, 1, "async"))))
        return 1;
    rlt_call_error(c, RLT_ERR_SYNTAX);
    return 0;
}

static void cmd_flush_flushall(rlt_call *c)
{
    if (!cmd_flush_mode(c))
        return;
    rlt_cmd_flush_dbs(c->server, 0, c->server->config.databases);
    c->dirty++;
    rlt_out_status(c->out, "OK");
}

static void cmd_flush_flushdb(rlt_call *c)
{
    if (!cmd_flush_mode(c))
        return;
    rlt_cmd_flush_dbs(c->server, c->db_index, c->db_index + 1);
    c->dirty++;
    rlt_out_status(c->out, "OK");
}

static int cmd_flush_db(rlt_call *c, uint32_t i, const char *error,
                        int64_t *db)
{
    return rlt_call_between(c, i, INT32_MIN, INT32_MAX, db, error);
}

static void cmd_flush_swapdb(rlt_call *c)
{
    rlt_server *s = c->server;
    int64_t a, b, n = s->config.databases;

    if (!cmd_flush_db(c, 1, "ERR invalid first DB index", &a) ||
        !cmd_flush_db(c, 2, "ERR invalid second DB index", &b))
        return;
    if (a < 0 || b < 0 || a >= n || b >= n) {
        rlt_call_error(c, "ERR DB index is out of range");
        return;
    }
    if (a != b) {
        cmd_flush_touch(s, (uint32_t)a, &s->dbs[b].keys);
        cmd_flush_touch(s, (uint32_t)b, &s->dbs[a].keys);
        rlt_keys_swap(&s->dbs[a].keys, &s->dbs[b].keys);
        cmd_flush_look(s, (uint32_t)a);
        cmd_flush_look(s, (uint32_t)b);
    }
    c->dirty++;
    rlt_out_status(c->out, "OK");
}

static const rlt_command cmd_flush_rows[] = {
    {"flushall", cmd_flush_flushall, -1, RLT_CMD_WRITE, 0, 0, 0, 0, 0, NULL,
     NULL},
    {"flushdb", cmd_flush_flushdb, -1, RLT_CMD_WRITE, 0, 0, 0, 0, 0, NULL,
     NULL},
    {"swapdb", cmd_flush_swapdb, 3, RLT_CMD_WRITE | RLT_CMD_FAST, 0, 0, 0, 0,
     0, NULL, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_flush_rows(size_t *n)
{
    *n = sizeof cmd_flush_rows / sizeof *cmd_flush_rows;
    return cmd_flush_rows;
}
