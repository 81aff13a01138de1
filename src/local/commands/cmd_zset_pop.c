/* SPDX-License-Identifier: MIT
 *
 * cmd_zset_pop.c - taking the lowest or the highest members of a sorted set,
 * and waiting for them.
 */
#include "cmd_walk.h"
#include "cmd_zset.h"

/* The first zset under the n keys from argv[from] on, as list_move_first. */
static int zset_pop_first(rlt_call *c, uint32_t from, uint32_t n, uint32_t *at,
                          rlt_obj **o)
{
    uint32_t i;

    *o = NULL;
    for (i = from; i < from + n && *o == NULL; i++) {
        if (!rlt_cmd_walk_is_on(c, i))
            continue;
        if (!rlt_call_write(c, i, RLT_OBJ_ZSET, o))
            return 0;
        *at = i;
    }
    return 1;
}

/* Takes n members, no more than exist, from argv[i]; each is replied as an
 * array of its own when `nested`. */
static void zset_pop_take(rlt_call *c, uint32_t i, rlt_obj *o, int end,
                          uint32_t n, int nested)
{
    rlt_zset_item *item;
    uint32_t k;

    rlt_call_event(c, RLT_EVENT_ZSET, end ? "zpopmax" : "zpopmin", c->argv[i]);
    c->dirty += n;
    for (k = 0; k < n; k++) {
        item = rlt_zset_end(&o->of.zset, end);
        if (nested)
            rlt_out_array(c->out, 2);
        rlt_out_bulk(c->out, rlt_zset_member(item));
        rlt_out_double(c->out, item->score);
        rlt_zset_remove(&o->of.zset, c->pool, item);
    }
    rlt_call_modified(c, c->argv[i]);
    (void)rlt_call_delete_empty(c, i, o);
}

static uint32_t zset_pop_at_most(const rlt_obj *o, int64_t count)
{
    uint32_t had = rlt_zset_count(&o->of.zset);

    return count < had ? (uint32_t)count : had;
}

static void zset_pop_log(rlt_call *c, uint32_t i, int end, int64_t n)
{
    rlt_call_effect(c, n > 0 ? 3 : 2);
    rlt_call_effect_text(c, end ? "ZPOPMAX" : "ZPOPMIN");
    rlt_call_effect_word(c, c->argv[i]);
    if (n > 0)
        rlt_call_effect_int(c, n);
}

/* ------------------------------------------------------------- from one key */

static void zset_pop_one(rlt_call *c, int end)
{
    int64_t count = 1;
    int nested = c->argc == 3 && c->out->resp > 2;
    uint32_t n;
    rlt_obj *o;

    if (c->argc > 3) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return;
    }
    if ((c->argc == 3 && !rlt_call_positive(c, 2, &count, NULL)) ||
        !rlt_call_write(c, 1, RLT_OBJ_ZSET, &o))
        return;
    n = o ? zset_pop_at_most(o, count) : 0;
    rlt_out_array(c->out, nested ? n : (size_t)n * 2);
    if (n > 0)
        zset_pop_take(c, 1, o, end, n, nested);
}

static void zset_pop_zpopmin(rlt_call *c)
{
    zset_pop_one(c, 0);
}

static void zset_pop_zpopmax(rlt_call *c)
{
    zset_pop_one(c, 1);
}

/* ------------------------------------------------------ from one of several */

/* BZPOPMIN key [key ...] timeout */
static void zset_pop_wait(rlt_call *c, int end)
{
    uint32_t n = c->argc - 2, at = 0;
    int64_t deadline;
    rlt_obj *o;

    if (!rlt_call_timeout_s(c, c->argc - 1, &deadline) ||
        !zset_pop_first(c, 1, n, &at, &o))
        return;
    if (o == NULL) {
        if (!rlt_call_block(c, RLT_OBJ_ZSET, 1, n, 1, deadline, 0))
            rlt_out_null_array(c->out);
        return;
    }
    rlt_out_array(c->out, 3);
    rlt_out_bulk(c->out, c->argv[at]);
    zset_pop_take(c, at, o, end, 1, 0);
    zset_pop_log(c, at, end, 0);
}

static void zset_pop_bzpopmin(rlt_call *c)
{
    zset_pop_wait(c, 0);
}

static void zset_pop_bzpopmax(rlt_call *c)
{
    zset_pop_wait(c, 1);
}

static const char *const zset_pop_ends[2] = {"min", "max"};

/* Pops from the first zset. 0: there is none, and nothing was replied. */
static int zset_pop_many(rlt_call *c, const rlt_cmd_walk_keys *m)
{
    uint32_t at = 0, n;
    rlt_obj *o;

    if (!zset_pop_first(c, m->first, m->n, &at, &o))
        return 1;
    if (o == NULL)
        return 0;
    n = zset_pop_at_most(o, m->count);
    rlt_out_array(c->out, 2);
    rlt_out_bulk(c->out, c->argv[at]);
    rlt_out_array(c->out, n);
    zset_pop_take(c, at, o, m->end, n, 1);
    zset_pop_log(c, at, m->end, n);
    return 1;
}

static void zset_pop_zmpop(rlt_call *c)
{
    rlt_cmd_walk_keys m;

    if (rlt_cmd_walk_many(c, 1, zset_pop_ends, &m) && !zset_pop_many(c, &m))
        rlt_out_null_array(c->out);
}

static void zset_pop_bzmpop(rlt_call *c)
{
    rlt_cmd_walk_keys m;
    int64_t deadline;

    if (!rlt_cmd_walk_many(c, 2, zset_pop_ends, &m) ||
        !rlt_call_timeout_s(c, 1, &deadline) || zset_pop_many(c, &m))
        return;
    if (!rlt_call_block(c, RLT_OBJ_ZSET, m.first, m.n, 1, deadline, 0))
        rlt_out_null_array(c->out);
}

/* --------------------------------------------------------------------- rows */

#define ZSET_POP_NOW (RLT_CMD_WRITE | RLT_CMD_FAST)
#define ZSET_POP_WAIT (ZSET_POP_NOW | RLT_CMD_BLOCKING | RLT_CMD_NOSCRIPT)

static const rlt_command zset_pop_rows[] = {
    {"zpopmin", zset_pop_zpopmin, -2, ZSET_POP_NOW, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"zpopmax", zset_pop_zpopmax, -2, ZSET_POP_NOW, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"bzpopmin", zset_pop_bzpopmin, -3, ZSET_POP_WAIT, 1, -2, 1, 0, 0, NULL,
     NULL},
    {"bzpopmax", zset_pop_bzpopmax, -3, ZSET_POP_WAIT, 1, -2, 1, 0, 0, NULL,
     NULL},
    {"zmpop", zset_pop_zmpop, -4, RLT_CMD_WRITE | RLT_CMD_MOVABLE, 0, 0, 0,
     RLT_KEYS_COUNTED, 1, NULL, NULL},
    {"bzmpop", zset_pop_bzmpop, -5,
     RLT_CMD_WRITE | RLT_CMD_BLOCKING | RLT_CMD_MOVABLE, 0, 0, 0,
     RLT_KEYS_COUNTED, 2, NULL, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_zset_pop_rows(size_t *n)
{
    *n = sizeof zset_pop_rows / sizeof zset_pop_rows[0];
    return zset_pop_rows;
}
