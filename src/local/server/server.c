/* SPDX-License-Identifier: MIT
 *
 * server.c - a whole local server: bytes and time in, bytes out.
 */
#include "server.h"
#include "dump.h"
#include "propagate.h"
#include "request.h"
#include "blocked.h"
#include "peer.h"
#include "rows.h"
#include "dispatch.h"
#include "scripts.h"
#include "table.h"
#include "track.h"
#include "users.h"

/* The most keys that one call of relet_local_time expires. While more are due,
 * relet_local_deadline is in the past. */
#define SERVER_LAPSES 1000

/* ------------------------------------------------------------------ memory */

/* All memory of the server is allocated here, so that it can be counted. */
static void *server_resize(void *user, void *p, size_t old_size, size_t size)
{
    rlt_server *s = (rlt_server *)user;
    size_t max = s->config.memory_max;
    void *q;

    if (s->config.resize == NULL)
        return NULL;
    if (size > old_size && max > 0 &&
        (s->held - old_size > max || size > max - (s->held - old_size)))
        return NULL;
    q = s->config.resize(s->config.user, p, old_size, size);
    if (q != NULL || size == 0)
        s->held += size - old_size;
    s->held_peak = RLT_MAX(s->held_peak, s->held);
    return q;
}

/* ----------------------------------------------------------- begin and end */

static void server_defaults(relet_local_config *c)
{
    if (c->clients_max == 0)
        c->clients_max = 1024;
    if (c->databases == 0)
        c->databases = 16;
    if (c->input_max == 0)
        c->input_max = (size_t)512 * 1024 * 1024;
    if (c->output_max == 0)
        c->output_max = (size_t)1024 * 1024 * 1024;
    if (c->script_steps == 0)
        c->script_steps = 50000000;
    if (c->script_memory == 0)
        c->script_memory = (size_t)64 * 1024 * 1024;
    if (c->port == 0)
        c->port = 6379;
}

static void server_draw_id(rlt_server *s, char *id)
{
    static const char digits[] = "0123456789abcdef";
    size_t i;

    for (i = 0; i < 40; i++)
        id[i] = digits[rlt_rand_below(&s->rand, 16)];
    id[40] = '\0';
}

static void server_given_id(const char *given, char *id)
{
    size_t n = strlen(given);

    memcpy(id, given, RLT_MIN(n, 40));
    id[RLT_MIN(n, 40)] = '\0';
}

/* The run id names the process. The replication id names a data history: a
 * replica takes its master's, and draws a new one when it becomes a master. */
static void server_ids(rlt_server *s)
{
    static const char none[] = "0000000000000000000000000000000000000000";

    server_draw_id(s, s->run_id);
    server_draw_id(s, s->replid);
    server_given_id(s->config.replid ? s->config.replid : none, s->replid2);
    if (s->config.run_id)
        server_given_id(s->config.run_id, s->run_id);
    s->config.run_id = s->config.replid = NULL; /* borrowed from the caller */
}

static int server_dbs(rlt_server *s)
{
    size_t n = s->config.databases * sizeof(rlt_db);

    s->dbs = (rlt_db *)rlt_pool_try(&s->pool, n);
    if (s->dbs == NULL)
        return 0;
    memset(s->dbs, 0, n);
    return 1;
}

RELET_API size_t relet_local_size(void)
{
    return sizeof(relet_local);
}

RELET_API relet_local *relet_local_init(void *memory, size_t memory_size,
                                        const relet_local_config *config)
{
    relet_local *l = (relet_local *)memory;
    rlt_server *s;

    if (memory == NULL || memory_size < sizeof *l)
        return NULL;
    memset(l, 0, sizeof *l);
    s = &l->server;
    if (config)
        s->config = *config;
    server_defaults(&s->config);
    s->memory.resize = server_resize;
    s->memory.user = s;
    s->next_id = 1;
    s->active_expire = 1;
    s->effect_db = UINT32_MAX;
    s->pause_until_ms = INT64_MIN;
    s->settings.proto_max_bulk = 512 * 1024 * 1024;
    s->settings.tracking_table_max = 1000000;
    rlt_pool_init(&s->pool, s->memory, 0);
    rlt_rand_seed(&s->rand, s->config.seed);
    server_ids(s);
    rlt_buf_init(&s->effects, s->memory, NULL, 0, SIZE_MAX / 2);
    rlt_out_init(&s->nowhere, s->memory, s->config.output_max);
    rlt_out_init(&s->dump, s->memory, SIZE_MAX / 2);
    rlt_table_fill(s);
    if (!server_dbs(s) || !rlt_users_init(s) || !rlt_scripts_begin(s)) {
        relet_local_finish(l);
        return NULL;
    }
    return l;
}

RELET_API void relet_local_finish(relet_local *l)
{
    rlt_server *s = &l->server;
    uint32_t i;

    for (i = 0; i < s->peers_cap; i++)
        if (s->peers[i])
            rlt_peer_free(s->peers[i]);
    if (s->peers_cap > 0)
        (void)server_resize(s, s->peers, s->peers_cap * sizeof *s->peers, 0);
    rlt_scripts_free(s);
    rlt_buf_free(&s->effects);
    rlt_out_free(&s->nowhere);
    rlt_out_free(&s->dump);
    rlt_pool_free(&s->pool);
    rlt_assert(s->held == 0);
}

/* -------------------------------------------------------------- connections */

static rlt_peer *server_peer(const relet_local *l, int id)
{
    rlt_assert(id >= 0);
    rlt_assert((uint32_t)id < l->server.peers_cap);
    rlt_assert(l->server.peers[id] != NULL);
    return l->server.peers[id];
}

/* After each change: waiting peers resume, and tracking broadcasts go out. */
static void server_settle(rlt_server *s)
{
    rlt_dispatch_serve(s);
    rlt_request_resume(s);
    rlt_track_broadcast(s);
    rlt_request_resume(s);
    rlt_pool_settle(&s->pool);
}

RELET_API int relet_local_connect(relet_local *l)
{
    int code;

    (void)rlt_peer_new(&l->server, &code);
    return code;
}

RELET_API void relet_local_feed(relet_local *l, int id, const void *p,
                                size_t n)
{
    rlt_request_feed(server_peer(l, id), p, n);
    server_settle(&l->server);
}

RELET_API size_t relet_local_output(const relet_local *l, int id,
                                    const uint8_t **p)
{
    const rlt_buf *b = &server_peer(l, id)->out.buf;

    *p = rlt_buf_head(b);
    return rlt_buf_used(b);
}

RELET_API void relet_local_sent(relet_local *l, int id, size_t n)
{
    rlt_buf *b = &server_peer(l, id)->out.buf;

    l->server.counts.bytes_out += n;
    rlt_buf_drop(b, n);
    if (rlt_buf_used(b) == 0)
        rlt_buf_shrink(b, 4096);
}

RELET_API void relet_local_hangup(relet_local *l, int id)
{
    rlt_peer_free(server_peer(l, id));
    server_settle(&l->server);
}

RELET_API int relet_local_closed(const relet_local *l, int id)
{
    return server_peer(l, id)->closing;
}

RELET_API int relet_local_ready(const relet_local *l, int from)
{
    const rlt_server *s = &l->server;
    uint32_t i;

    for (i = (uint32_t)RLT_MAX(from, 0); i < s->peers_cap; i++)
        if (s->peers[i] && (s->peers[i]->closing ||
                            rlt_buf_used(&s->peers[i]->out.buf) > 0))
            return (int)i;
    return -1;
}

/* -------------------------------------------------------------------- time */

static int server_lapses(const rlt_server *s)
{
    return s->active_expire && s->asleep_until_ms == 0 &&
           s->pause_until_ms == INT64_MIN;
}

static void server_lapse(rlt_server *s)
{
    uint32_t db, n = 0;
    rlt_entry *e;

    for (db = 0; db < s->config.databases; db++)
        while (n < SERVER_LAPSES &&
               (e = rlt_keys_first_due(&s->dbs[db].keys,
                                       s->now_us / 1000)) != NULL) {
            rlt_propagate_unit(s);
            rlt_call_lapse(s, db, e);
            rlt_propagate_unit_end(s);
            n++;
        }
}

RELET_API void relet_local_time(relet_local *l, int64_t wall_us)
{
    rlt_server *s = &l->server;

    s->now_us = wall_us;
    if (!s->now_known) {
        s->now_known = 1;
        s->start_us = wall_us;
    }
    rlt_dispatch_time(s);
    if (server_lapses(s))
        server_lapse(s);
    server_settle(s);
}

/* Saturates, so that the product cannot overflow. */
static int64_t server_us(int64_t ms)
{
    if (ms >= INT64_MAX / 1000)
        return INT64_MAX;
    return ms <= INT64_MIN / 1000 ? INT64_MIN : ms * 1000;
}

RELET_API int64_t relet_local_deadline(const relet_local *l)
{
    const rlt_server *s = &l->server;
    int64_t when = rlt_dispatch_deadline_ms(s), due;
    uint32_t db;

    if (!server_lapses(s))
        return server_us(when);
    for (db = 0; db < s->config.databases; db++) {
        due = rlt_keys_next_due(&s->dbs[db].keys);
        /* a key still exists during the millisecond of its due time */
        if (due != INT64_MAX)
            when = RLT_MIN(when, due + 1);
    }
    return server_us(when);
}

/* ----------------------------------------------------------------- effects */

RELET_API size_t relet_local_effects(const relet_local *l, const uint8_t **p,
                                     int *broken)
{
    const rlt_server *s = &l->server;

    *p = rlt_buf_head(&s->effects);
    *broken = s->effect_broken;
    return rlt_buf_used(&s->effects);
}

RELET_API void relet_local_effects_taken(relet_local *l, size_t n)
{
    rlt_server *s = &l->server;

    rlt_buf_drop(&s->effects, n);
    if (rlt_buf_used(&s->effects) > 0)
        return;
    if (s->effect_broken)
        s->effect_db = UINT32_MAX; /* a new reader selects anew               */
    s->effect_broken = 0;
    rlt_buf_shrink(&s->effects, 4096);
}

/* *at is twice the database number; bit 0: that database has been begun. */
RELET_API size_t relet_local_dump(relet_local *l, uint64_t *at,
                                  const uint8_t **p, int *broken)
{
    rlt_server *s = &l->server;
    uint32_t db = (uint32_t)(*at >> 1);

    rlt_buf_drop(&s->dump.buf, rlt_buf_used(&s->dump.buf));
    s->dump.failed = 0;
    for (; db < s->config.databases; db++, *at = (uint64_t)db << 1) {
        if ((*at & 1) == 0) {
            s->dump_next = s->dbs[db].keys.dict.first;
            if (s->dump_next)
                rlt_dump_db(&s->dump, db);
            *at |= 1;
        }
        if (s->dump_next == NULL)
            continue;
        rlt_dump_key(&s->dump, s->dump_next);
        s->dump_next = s->dump_next->next;
        break;
    }
    *broken = s->dump.failed;
    *p = rlt_buf_head(&s->dump.buf);
    if (rlt_buf_used(&s->dump.buf) == 0) {
        rlt_buf_shrink(&s->dump.buf, 0);
        s->effect_db = UINT32_MAX; /* the dump may end in any */
    }
    return rlt_buf_used(&s->dump.buf);
}

RELET_API void relet_local_replay(relet_local *l, int id, int on)
{
    server_peer(l, id)->replaying = on;
}

/* -------------------------------------------------------------------- state */

RELET_API size_t relet_local_used(const relet_local *l, size_t *held)
{
    if (held)
        *held = l->server.held;
    return l->server.pool.used;
}

RELET_API void relet_local_cut(relet_local *l, uint32_t changes,
                               const char *error)
{
    l->server.cut = error;
    l->server.cut_behind = changes;
}

RELET_API void relet_local_flush(relet_local *l)
{
    rlt_server *s = &l->server;

    rlt_propagate_unit(s);
    rlt_propagate_begin(s, 0, 1);
    rlt_propagate_word(s, relet_str("FLUSHALL"));
    rlt_propagate_unit_end(s);
    rlt_cmd_flush_dbs(s, 0, s->config.databases);
    rlt_scripts_flush(s);
    server_settle(s);
}
