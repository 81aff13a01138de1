/* SPDX-License-Identifier: MIT
 *
 * cmd_zset_range.c - ranges of a sorted set: by rank, by score, by bytes.
 *
 * Every kind of range is resolved to ranks: how many members it has, and the
 * lowest of them.
 */
#include "cmd_zset.h"

typedef enum zset_range_by {
    ZSET_RANGE_ANY, /* not given yet                                         */
    ZSET_RANGE_RANK,
    ZSET_RANGE_SCORE,
    ZSET_RANGE_LEX
} zset_range_by;

typedef struct zset_range {
    zset_range_by by;
    int reverse; /* -1: not given yet                                        */
    int with_scores;
    int64_t offset, limit; /* limit -1: none                                 */
    int64_t from, to;      /* by rank, as given                              */
    rlt_zset_scores scores;
    rlt_zset_lex lex;
} zset_range;

/* ------------------------------------------------------------------- bounds */

/* Reads one end of a range of bytes: [x, (x, - or +. */
static int zset_range_lex_bound(relet_span s, relet_span *bound, int *open,
                                int *end)
{
    int first = s.n > 0 ? *s.p : 0;

    *open = first == '(';
    *end = 0;
    *bound = s;
    if (first == '+' || first == '-') {
        *end = first == '+' ? 1 : -1;
        *open = 1;
        return s.n == 1 || s.p[1] == '\0';
    }
    if (first != '(' && first != '[')
        return 0;
    bound->p++;
    bound->n--;
    return 1;
}

/* The bounds at argv[min] and argv[max]. 0: an error was replied. */
static int zset_range_bounds(rlt_call *c, zset_range *r, uint32_t min,
                             uint32_t max)
{
    int ok = 0;

    switch (r->by) {
    case ZSET_RANGE_ANY:
    case ZSET_RANGE_RANK:
        return rlt_call_int(c, min, &r->from, NULL) &&
               rlt_call_int(c, max, &r->to, NULL);
    case ZSET_RANGE_SCORE:
        ok = rlt_num_read_bound(c->argv[min], &r->scores.min,
                                &r->scores.min_open) &&
             rlt_num_read_bound(c->argv[max], &r->scores.max,
                                &r->scores.max_open);
        if (!ok)
            rlt_call_error(c, "ERR min or max is not a float");
        return ok;
    case ZSET_RANGE_LEX:
        ok = zset_range_lex_bound(c->argv[min], &r->lex.min, &r->lex.min_open,
                                  &r->lex.min_end) &&
             zset_range_lex_bound(c->argv[max], &r->lex.max, &r->lex.max_open,
                                  &r->lex.max_end);
        if (!ok)
            rlt_call_error(c, "ERR min or max not valid string range item");
        return ok;
    }
    return ok;
}

/* ------------------------------------------------------------------ members */

static int zset_range_above(const rlt_zset_item *item, const rlt_zset_lex *x)
{
    int order;

    if (x->min_end != 0)
        return x->min_end < 0;
    order = rlt_str_compare(rlt_zset_member(item), x->min);
    return x->min_open ? order > 0 : order >= 0;
}

static int zset_range_below(const rlt_zset_item *item, const rlt_zset_lex *x)
{
    int order;

    if (x->max_end != 0)
        return x->max_end > 0;
    order = rlt_str_compare(rlt_zset_member(item), x->max);
    return x->max_open ? order < 0 : order <= 0;
}

/* Checks one bound: at the lower one (side 1) a walk upwards enters the range,
 * and a walk downwards leaves it. */
static int zset_range_keeps(const rlt_zset_item *item, const rlt_zset_lex *x,
                            int side)
{
    return side ? zset_range_above(item, x) : zset_range_below(item, x);
}

/* A small zset is walked, as in Redis, and skipped members are not checked:
 * both show when the scores differ, for which a lex range is not meant. */
static uint32_t zset_range_walk(const rlt_zset *z, const rlt_zset_lex *x,
                                int reverse, int64_t skip, uint32_t *from)
{
    const rlt_zset_item *item = rlt_zset_end(z, reverse);
    uint32_t n = 0;

    *from = 0;
    if (item == NULL || !zset_range_below(rlt_zset_end(z, 0), x) ||
        !zset_range_above(rlt_zset_end(z, 1), x))
        return 0;
    while (item && !zset_range_keeps(item, x, !reverse))
        item = rlt_zset_step(item, !reverse);
    if (item && !zset_range_keeps(item, x, reverse))
        return 0;
    for (; item && skip > 0; skip--)
        item = rlt_zset_step(item, !reverse);
    if (item)
        *from = rlt_zset_rank(item);
    for (; item && zset_range_keeps(item, x, reverse); n++)
        item = rlt_zset_step(item, !reverse);
    if (reverse && n > 0)
        *from -= n - 1;
    return n;
}

static uint32_t zset_range_ranks(const rlt_zset *z, const zset_range *r,
                                 uint32_t *lowest)
{
    int64_t count = rlt_zset_count(z), from = r->from, to = r->to;

    if (from < 0)
        from = from < -count ? 0 : from + count;
    if (to < 0)
        to = to < -count ? -1 : to + count;
    if (to >= count)
        to = count - 1;
    *lowest = 0;
    if (from > to)
        return 0;
    *lowest = (uint32_t)(r->reverse ? count - 1 - to : from);
    return (uint32_t)(to - from + 1);
}

/* Returns how many members are in the range; *lowest is the lowest rank. */
static uint32_t zset_range_find(const rlt_zset *z, const zset_range *r,
                                uint32_t *lowest)
{
    uint32_t n = 0;

    switch (r->by) {
    case ZSET_RANGE_ANY:
    case ZSET_RANGE_RANK:
        n = zset_range_ranks(z, r, lowest);
        break;
    case ZSET_RANGE_SCORE:
        n = rlt_zset_in_scores(z, &r->scores, lowest);
        break;
    case ZSET_RANGE_LEX:
        if (z->large)
            n = rlt_zset_in_lex(z, &r->lex, lowest);
        else
            n = zset_range_walk(z, &r->lex, r->reverse, 0, lowest);
        break;
    }
    return n;
}

/* The same after LIMIT; *first is the rank of the first member to reply. */
static uint32_t zset_range_limited(const rlt_zset *z, const zset_range *r,
                                   uint32_t *first)
{
    uint32_t lowest = 0, n, skip = 0;

    if (r->by == ZSET_RANGE_RANK) { /* LIMIT is -1 here, if given */
        n = zset_range_find(z, r, &lowest);
        *first = r->reverse ? lowest + n - 1 : lowest;
        return n;
    }
    if (r->offset < 0)
        return 0;
    if (r->by == ZSET_RANGE_LEX && !z->large) {
        n = zset_range_walk(z, &r->lex, r->reverse, r->offset, &lowest);
    } else {
        n = zset_range_find(z, r, &lowest);
        skip = r->offset < n ? (uint32_t)r->offset : n;
    }
    if (skip == n)
        return 0;
    *first = r->reverse ? lowest + n - 1 - skip : lowest + skip;
    n -= skip;
    return r->limit >= 0 && r->limit < n ? (uint32_t)r->limit : n;
}

/* ------------------------------------------------------------------- ZRANGE */

static int zset_range_option(rlt_call *c, uint32_t *i, zset_range *r,
                             int store)
{
    if (!store && rlt_call_is(c, *i, "withscores")) {
        r->with_scores = 1;
    } else if (*i + 2 < c->argc && rlt_call_is(c, *i, "limit")) {
        *i += 2;
        return rlt_call_int(c, *i - 1, &r->offset, NULL) &&
               rlt_call_int(c, *i, &r->limit, NULL);
    } else if (r->reverse < 0 && rlt_call_is(c, *i, "rev")) {
        r->reverse = 1;
    } else if (r->by == ZSET_RANGE_ANY && rlt_call_is(c, *i, "bylex")) {
        r->by = ZSET_RANGE_LEX;
    } else if (r->by == ZSET_RANGE_ANY && rlt_call_is(c, *i, "byscore")) {
        r->by = ZSET_RANGE_SCORE;
    } else {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return 0;
    }
    return 1;
}

/* argv[at] is the key; bounds and options follow. */
static int zset_range_read(rlt_call *c, zset_range *r, uint32_t at, int store)
{
    const char *fault = NULL;
    uint32_t i;
    int swap;

    for (i = at + 3; i < c->argc; i++)
        if (!zset_range_option(c, &i, r, store))
            return 0;
    if (r->reverse < 0)
        r->reverse = 0;
    if (r->by == ZSET_RANGE_ANY)
        r->by = ZSET_RANGE_RANK;
    if (r->limit != -1 && r->by == ZSET_RANGE_RANK)
        fault = "ERR syntax error, LIMIT is only supported in combination "
                "with either BYSCORE or BYLEX";
    else if (r->with_scores && r->by == ZSET_RANGE_LEX)
        fault = "ERR syntax error, WITHSCORES not supported in combination "
                "with BYLEX";
    if (fault) {
        rlt_call_error(c, fault);
        return 0;
    }
    swap = r->reverse && r->by != ZSET_RANGE_RANK;
    return zset_range_bounds(c, r, at + 1 + (uint32_t)swap,
                             at + 2 - (uint32_t)swap);
}

static void zset_range_init(zset_range *r, zset_range_by by, int reverse)
{
    memset(r, 0, sizeof *r);
    r->by = by;
    r->reverse = reverse;
    r->limit = -1;
}

static void zset_range_tell(rlt_call *c, zset_range_by by, int reverse)
{
    const rlt_zset_item *item;
    uint32_t n = 0, first = 0;
    zset_range r;
    rlt_obj *o;

    zset_range_init(&r, by, reverse);
    if (!zset_range_read(c, &r, 1, 0) ||
        !rlt_call_read(c, 1, RLT_OBJ_ZSET, &o))
        return;
    if (o)
        n = zset_range_limited(&o->of.zset, &r, &first);
    rlt_cmd_zset_header(c, n, r.with_scores);
    if (n == 0)
        return;
    item = rlt_zset_at(&o->of.zset, first);
    for (; n > 0; n--, item = rlt_zset_step(item, !r.reverse))
        rlt_cmd_zset_tell(c, rlt_zset_member(item), item->score,
                          r.with_scores);
}

static void zset_range_zrange(rlt_call *c)
{
    zset_range_tell(c, ZSET_RANGE_ANY, -1);
}

static void zset_range_zrevrange(rlt_call *c)
{
    zset_range_tell(c, ZSET_RANGE_RANK, 1);
}

static void zset_range_zrangebyscore(rlt_call *c)
{
    zset_range_tell(c, ZSET_RANGE_SCORE, 0);
}

static void zset_range_zrevrangebyscore(rlt_call *c)
{
    zset_range_tell(c, ZSET_RANGE_SCORE, 1);
}

static void zset_range_zrangebylex(rlt_call *c)
{
    zset_range_tell(c, ZSET_RANGE_LEX, 0);
}

static void zset_range_zrevrangebylex(rlt_call *c)
{
    zset_range_tell(c, ZSET_RANGE_LEX, 1);
}

static size_t zset_range_store_bound(const rlt_call *c)
{
    const rlt_obj *o = rlt_call_peek(c, c->argv[2]);
    size_t n = rlt_call_cost(c);
    const rlt_entry *e;

    if (o == NULL || o->type != RLT_OBJ_ZSET)
        return n;
    for (e = o->of.zset.members.first; e; e = e->next)
        n += RLT_ZSET_COST(e->len);
    return n;
}

static void zset_range_store(rlt_call *c)
{
    const rlt_zset_item *item;
    rlt_obj *o, *made = NULL;
    uint32_t n = 0, first = 0;
    zset_range r;

    zset_range_init(&r, ZSET_RANGE_ANY, -1);
    if (!zset_range_read(c, &r, 2, 1) ||
        !rlt_call_read(c, 2, RLT_OBJ_ZSET, &o))
        return;
    if (o)
        n = zset_range_limited(&o->of.zset, &r, &first);
    if (n > 0) {
        made = rlt_obj_new(c->pool, RLT_OBJ_ZSET);
        item = rlt_zset_at(&o->of.zset, first);
        for (; n > 0; n--, item = rlt_zset_step(item, !r.reverse))
            (void)rlt_zset_add(&made->of.zset, c->pool,
                               rlt_zset_member(item), item->score);
    }
    rlt_cmd_zset_store(c, made, "zrangestore");
}

/* ---------------------------------------------------- counting and removing */

static void zset_range_count(rlt_call *c, zset_range_by by)
{
    uint32_t lowest;
    zset_range r;
    rlt_obj *o;

    zset_range_init(&r, by, 0);
    if (!zset_range_bounds(c, &r, 2, 3) ||
        !rlt_call_read(c, 1, RLT_OBJ_ZSET, &o))
        return;
    rlt_out_int(c->out, o ? zset_range_find(&o->of.zset, &r, &lowest) : 0);
}

static void zset_range_zcount(rlt_call *c)
{
    zset_range_count(c, ZSET_RANGE_SCORE);
}

static void zset_range_zlexcount(rlt_call *c)
{
    zset_range_count(c, ZSET_RANGE_LEX);
}

static void zset_range_drop(rlt_call *c, rlt_zset *z, uint32_t lowest,
                            uint32_t n)
{
    rlt_zset_item *item = rlt_zset_at(z, lowest), *next;

    for (; n > 0; n--, item = next) {
        next = rlt_zset_step(item, 1);
        rlt_zset_remove(z, c->pool, item);
    }
}

static void zset_range_remove(rlt_call *c, zset_range_by by,
                              const char *event)
{
    uint32_t n = 0, lowest = 0;
    zset_range r;
    rlt_obj *o;

    zset_range_init(&r, by, 0);
    if (!zset_range_bounds(c, &r, 2, 3) ||
        !rlt_call_write(c, 1, RLT_OBJ_ZSET, &o))
        return;
    if (o)
        n = zset_range_find(&o->of.zset, &r, &lowest);
    if (n > 0) {
        zset_range_drop(c, &o->of.zset, lowest, n);
        rlt_call_changed(c, c->argv[1], RLT_EVENT_ZSET, event);
        c->dirty += n - 1;
        (void)rlt_call_delete_empty(c, 1, o);
    }
    rlt_out_int(c->out, n);
}

static void zset_range_zremrangebyrank(rlt_call *c)
{
    zset_range_remove(c, ZSET_RANGE_RANK, "zremrangebyrank");
}

static void zset_range_zremrangebyscore(rlt_call *c)
{
    zset_range_remove(c, ZSET_RANGE_SCORE, "zremrangebyscore");
}

static void zset_range_zremrangebylex(rlt_call *c)
{
    zset_range_remove(c, ZSET_RANGE_LEX, "zremrangebylex");
}

/* --------------------------------------------------------------------- rows */

#define ZSET_RANGE_READ RLT_CMD_READONLY
#define ZSET_RANGE_PEEK (RLT_CMD_READONLY | RLT_CMD_FAST)

static const rlt_command zset_range_rows[] = {
    {"zrange", zset_range_zrange, -4, ZSET_RANGE_READ, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"zrevrange", zset_range_zrevrange, -4, ZSET_RANGE_READ, 1, 1, 1, 0, 0,
     NULL, NULL},
    {"zrangebyscore", zset_range_zrangebyscore, -4, ZSET_RANGE_READ, 1, 1, 1,
     0, 0, NULL, NULL},
    {"zrevrangebyscore", zset_range_zrevrangebyscore, -4, ZSET_RANGE_READ, 1,
     1, 1, 0, 0, NULL, NULL},
    {"zrangebylex", zset_range_zrangebylex, -4, ZSET_RANGE_READ, 1, 1, 1, 0,
     0, NULL, NULL},
    {"zrevrangebylex", zset_range_zrevrangebylex, -4, ZSET_RANGE_READ, 1, 1,
     1, 0, 0, NULL, NULL},
    {"zrangestore", zset_range_store, -5, RLT_CMD_WRITE | RLT_CMD_DENYOOM, 1,
     2, 1, 0, 0, zset_range_store_bound, NULL},
    {"zcount", zset_range_zcount, 4, ZSET_RANGE_PEEK, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"zlexcount", zset_range_zlexcount, 4, ZSET_RANGE_PEEK, 1, 1, 1, 0, 0,
     NULL, NULL},
    {"zremrangebyrank", zset_range_zremrangebyrank, 4, RLT_CMD_WRITE, 1, 1, 1,
     0, 0, NULL, NULL},
    {"zremrangebyscore", zset_range_zremrangebyscore, 4, RLT_CMD_WRITE, 1, 1,
     1, 0, 0, NULL, NULL},
    {"zremrangebylex", zset_range_zremrangebylex, 4, RLT_CMD_WRITE, 1, 1, 1,
     0, 0, NULL, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_zset_range_rows(size_t *n)
{
    *n = sizeof zset_range_rows / sizeof zset_range_rows[0];
    return zset_range_rows;
}
