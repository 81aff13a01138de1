/* SPDX-License-Identifier: MIT
 *
 * cmd_zset.c - commands on the members of a sorted set.
 */
#include "cmd_zset.h"
#include "cmd_walk.h"

RELET_PRIVATE void rlt_cmd_zset_tell(rlt_call *c, relet_span member,
                                     double score, int with_score)
{
    if (with_score && c->out->resp > 2)
        rlt_out_array(c->out, 2);
    rlt_out_bulk(c->out, member);
    if (with_score)
        rlt_out_double(c->out, score);
}

RELET_PRIVATE void rlt_cmd_zset_header(rlt_call *c, size_t n, int with_score)
{
    rlt_out_array(c->out, with_score && c->out->resp == 2 ? n * 2 : n);
}

/* A small zset keeps integers as such, and so has no -0. */
static void cmd_zset_plain(const rlt_zset *z, rlt_zset_item *item)
{
    if (!z->large)
        item->score += 0.0;
}

static void cmd_zset_plain_all(const rlt_zset *z)
{
    rlt_zset_item *item = z->large ? NULL : rlt_zset_end(z, 0);

    for (; item; item = rlt_zset_step(item, 1))
        cmd_zset_plain(z, item);
}

RELET_PRIVATE void rlt_cmd_zset_store(rlt_call *c, rlt_obj *o,
                                      const char *event)
{
    if (o) {
        cmd_zset_plain_all(&o->of.zset);
        (void)rlt_call_find_write(c, c->argv[1]); /* expires a due key      */
        (void)rlt_call_put(c, c->argv[1], o);
        rlt_out_int(c->out, rlt_zset_count(&o->of.zset));
        rlt_call_changed(c, c->argv[1], RLT_EVENT_ZSET, event);
        return;
    }
    rlt_out_int(c->out, 0);
    if (rlt_call_delete(c, c->argv[1]))
        rlt_call_changed(c, c->argv[1], RLT_EVENT_GENERIC, "del");
}

/* --------------------------------------------------------------------- ZADD */

typedef struct cmd_zset_add {
    int nx, xx, gt, lt, ch, incr;
    uint32_t from;      /* argv of the first score                           */
    double first;       /* that score                                        */
    int64_t added, moved;
    double score;       /* of the last member, as it is now …                */
    int done;           /* … 0: an option left it alone                      */
} cmd_zset_add;

static int cmd_zset_add_option(rlt_call *c, uint32_t i, cmd_zset_add *a)
{
    int *const flags[6] = {&a->nx, &a->xx, &a->ch, &a->incr, &a->gt, &a->lt};
    static const char *const words[6] = {"nx", "xx", "ch", "incr", "gt", "lt"};
    uint32_t k;

    for (k = 0; k < 6; k++)
        if (rlt_call_is(c, i, words[k])) {
            *flags[k] = 1;
            return 1;
        }
    return 0;
}

static const char *cmd_zset_add_fault(const rlt_call *c,
                                      const cmd_zset_add *a)
{
    uint32_t words = c->argc - a->from;

    if (words == 0 || words % 2 == 1)
        return RLT_ERR_SYNTAX;
    if (a->nx && a->xx)
        return "ERR XX and NX options at the same time are not compatible";
    if ((a->gt && a->nx) || (a->lt && a->nx) || (a->gt && a->lt))
        return "ERR GT, LT, and/or NX options at the same time are not "
               "compatible";
    if (a->incr && words > 2)
        return "ERR INCR option supports a single increment-element pair";
    return NULL;
}

/* Checks all arguments before anything is changed. */
static int cmd_zset_add_read(rlt_call *c, cmd_zset_add *a)
{
    const char *fault;
    double score;
    uint32_t i;

    a->from = 2;
    while (cmd_zset_add_option(c, a->from, a))
        a->from++;
    fault = cmd_zset_add_fault(c, a);
    if (fault) {
        rlt_call_error(c, fault);
        return 0;
    }
    for (i = a->from + 2; i < c->argc; i += 2)
        if (!rlt_num_read(c->argv[i], &score))
            break;
    /* Redis reports the first bad score; the error is the same for all. */
    if (i < c->argc)
        rlt_call_error(c, RLT_ERR_FLOAT);
    return i >= c->argc && rlt_call_double(c, a->from, &a->first, NULL);
}

/* Updates an existing member: 0 when its score would be NaN, and replied. */
static int cmd_zset_add_again(rlt_call *c, cmd_zset_add *a, rlt_zset *z,
                              rlt_zset_item *item, double score)
{
    if (a->nx)
        return 1;
    if (a->incr)
        score += item->score;
    if (score != score) {
        rlt_call_error(c, "ERR resulting score is not a number (NaN)");
        return 0;
    }
    if ((a->lt && score >= item->score) || (a->gt && score <= item->score))
        return 1;
    a->done = 1;
    a->score = score;
    if (score < item->score || score > item->score) {
        rlt_zset_move(z, item, score);
        cmd_zset_plain(z, item);
        a->moved++;
    }
    return 1;
}

static int cmd_zset_add_one(rlt_call *c, cmd_zset_add *a, rlt_zset *z,
                            relet_span member, double score)
{
    rlt_zset_item *item = rlt_zset_find(z, member);

    a->done = 0;
    if (item)
        return cmd_zset_add_again(c, a, z, item, score);
    if (a->xx)
        return 1;
    cmd_zset_plain(z, rlt_zset_add(z, c->pool, member, score));
    a->added++;
    a->done = 1;
    a->score = score;
    return 1;
}

static int cmd_zset_add_all(rlt_call *c, cmd_zset_add *a, rlt_zset *z)
{
    double score = a->first;
    uint32_t i;

    for (i = a->from; i < c->argc; i += 2) {
        if (i > a->from)
            (void)rlt_num_read(c->argv[i], &score);
        if (!cmd_zset_add_one(c, a, z, c->argv[i + 1], score))
            return 0;
    }
    return 1;
}

static void cmd_zset_add_run(rlt_call *c, int incr)
{
    cmd_zset_add a;
    rlt_obj *o;

    memset(&a, 0, sizeof a);
    a.incr = incr;
    if (!cmd_zset_add_read(c, &a) || !rlt_call_write(c, 1, RLT_OBJ_ZSET, &o))
        return;
    if (o == NULL && !a.xx)
        o = rlt_call_make(c, 1, RLT_OBJ_ZSET);
    if (o && !cmd_zset_add_all(c, &a, &o->of.zset))
        return;
    if (!a.incr)
        rlt_out_int(c->out, a.ch ? a.added + a.moved : a.added);
    else if (a.done)
        rlt_out_double(c->out, a.score);
    else
        rlt_out_null(c->out);
    if (a.added + a.moved > 0) {
        rlt_call_changed(c, c->argv[1], RLT_EVENT_ZSET,
                         a.incr ? "zincr" : "zadd");
        c->dirty += a.added + a.moved - 1;
    }
}

static void cmd_zset_zadd(rlt_call *c)
{
    cmd_zset_add_run(c, 0);
}

static void cmd_zset_incr(rlt_call *c)
{
    cmd_zset_add_run(c, 1);
}

static void cmd_zset_rem(rlt_call *c)
{
    rlt_zset_item *item;
    int64_t gone = 0;
    rlt_obj *o;
    uint32_t i;

    if (!rlt_call_write(c, 1, RLT_OBJ_ZSET, &o))
        return;
    for (i = 2; o && i < c->argc; i++) {
        item = rlt_zset_find(&o->of.zset, c->argv[i]);
        if (item == NULL)
            continue;
        rlt_zset_remove(&o->of.zset, c->pool, item);
        gone++;
    }
    if (gone > 0)
        rlt_call_taken(c, 1, o, RLT_EVENT_ZSET, "zrem", gone);
    rlt_out_int(c->out, gone);
}

/* ------------------------------------------------------------------ reading */

static void cmd_zset_card(rlt_call *c)
{
    rlt_obj *o;

    if (rlt_call_read(c, 1, RLT_OBJ_ZSET, &o))
        rlt_out_int(c->out, o ? rlt_zset_count(&o->of.zset) : 0);
}

static void cmd_zset_tell_score(rlt_call *c, const rlt_obj *o, uint32_t i)
{
    const rlt_zset_item *item =
        o ? rlt_zset_find(&o->of.zset, c->argv[i]) : NULL;

    if (item)
        rlt_out_double(c->out, item->score);
    else
        rlt_out_null(c->out);
}

static void cmd_zset_score(rlt_call *c)
{
    rlt_obj *o;

    if (rlt_call_read(c, 1, RLT_OBJ_ZSET, &o))
        cmd_zset_tell_score(c, o, 2);
}

static void cmd_zset_scores(rlt_call *c)
{
    rlt_obj *o;
    uint32_t i;

    if (!rlt_call_read(c, 1, RLT_OBJ_ZSET, &o))
        return;
    rlt_out_array(c->out, c->argc - 2);
    for (i = 2; i < c->argc; i++)
        cmd_zset_tell_score(c, o, i);
}

static void cmd_zset_tell_rank(rlt_call *c, int from_top)
{
    const rlt_zset_item *item = NULL;
    rlt_obj *o;
    uint32_t rank;

    if (!rlt_call_read(c, 1, RLT_OBJ_ZSET, &o))
        return;
    if (o)
        item = rlt_zset_find(&o->of.zset, c->argv[2]);
    if (item == NULL) {
        rlt_out_null(c->out);
        return;
    }
    rank = rlt_zset_rank(item);
    rlt_out_int(c->out,
                from_top ? rlt_zset_count(&o->of.zset) - 1 - rank : rank);
}

static void cmd_zset_rank(rlt_call *c)
{
    cmd_zset_tell_rank(c, 0);
}

static void cmd_zset_rev_rank(rlt_call *c)
{
    cmd_zset_tell_rank(c, 1);
}

/* ------------------------------------------------- random members and scans */

static const rlt_zset_item *cmd_zset_item(const rlt_entry *e)
{
    return (const rlt_zset_item *)e->value.p;
}

static void cmd_zset_tell_member(rlt_call *c, const rlt_entry *e)
{
    rlt_out_bulk(c->out, rlt_entry_key(e));
}

static void cmd_zset_tell_pair(rlt_call *c, const rlt_entry *e)
{
    rlt_cmd_zset_tell(c, rlt_entry_key(e), cmd_zset_item(e)->score, 1);
}

static void cmd_zset_draw_some(rlt_call *c, const rlt_zset *z, int64_t count,
                               int pairs)
{
    uint64_t n = count < 0 ? (uint64_t)-count : (uint64_t)count;

    if (count > rlt_zset_count(z))
        n = rlt_zset_count(z);
    rlt_cmd_zset_header(c, (size_t)n, pairs);
    rlt_cmd_walk_draw(c, &z->members,
                      pairs ? cmd_zset_tell_pair : cmd_zset_tell_member,
                      count);
}

static void cmd_zset_draw(rlt_call *c)
{
    int64_t count;
    int one, pairs;
    rlt_obj *o;

    if (!rlt_cmd_walk_draw_words(c, "WITHSCORES", &count, &one, &pairs) ||
        !rlt_call_read(c, 1, RLT_OBJ_ZSET, &o))
        return;
    if (o && one)
        rlt_cmd_walk_draw(c, &o->of.zset.members, cmd_zset_tell_member, 1);
    else if (o)
        cmd_zset_draw_some(c, &o->of.zset, count, pairs);
    else if (one)
        rlt_out_null(c->out);
    else
        rlt_out_array(c->out, 0);
}

static const rlt_entry *cmd_zset_next(const rlt_entry *e)
{
    const rlt_zset_item *item = rlt_zset_step(cmd_zset_item(e), 1);

    return item ? item->entry : NULL;
}

/* ZSCAN replies a score as text, also in RESP3. */
static void cmd_zset_tell_scanned(rlt_call *c, const rlt_entry *e)
{
    char text[RLT_NUM_MAX];
    relet_span score;

    score.p = text;
    score.n = rlt_num_score(text, cmd_zset_item(e)->score);
    rlt_out_bulk(c->out, rlt_entry_key(e));
    rlt_out_bulk(c->out, score);
}

/* For a small zset ZSCAN prints a score that is an integer in all its
 * digits. */
#define CMD_ZSET_INTEGER 4611686018427387904.0

static void cmd_zset_tell_small(rlt_call *c, const rlt_entry *e)
{
    double v = cmd_zset_item(e)->score;
    int64_t whole;

    if (v >= -CMD_ZSET_INTEGER && v <= CMD_ZSET_INTEGER) {
        whole = (int64_t)v;
        if (!((double)whole < v) && !((double)whole > v)) {
            rlt_out_bulk(c->out, rlt_entry_key(e));
            rlt_out_bulk_int(c->out, whole);
            return;
        }
    }
    cmd_zset_tell_scanned(c, e);
}

static void cmd_zset_scan(rlt_call *c)
{
    const rlt_zset_item *first;
    rlt_call_scan s;
    rlt_cmd_walk w;
    rlt_obj *o;

    if (!rlt_call_scan_cursor(c, 2, &s) ||
        !rlt_call_read(c, 1, RLT_OBJ_ZSET, &o))
        return;
    if (o == NULL) {
        rlt_cmd_walk_scan_none(c);
        return;
    }
    first = rlt_zset_end(&o->of.zset, 0);
    w.dict = &o->of.zset.members;
    w.first = first ? first->entry : NULL;
    w.next = o->of.zset.large ? NULL : cmd_zset_next;
    w.tell = w.next ? cmd_zset_tell_small : cmd_zset_tell_scanned;
    w.words = 2;
    rlt_cmd_walk_scan(c, &w, &s);
}

/* --------------------------------------------------------------------- rows */

#define CMD_ZSET_GROW (RLT_CMD_WRITE | RLT_CMD_DENYOOM | RLT_CMD_FAST)
#define CMD_ZSET_PEEK (RLT_CMD_READONLY | RLT_CMD_FAST)

static const rlt_command cmd_zset_rows[] = {
    {"zadd", cmd_zset_zadd, -4, CMD_ZSET_GROW, 1, 1, 1, 0, 0, NULL, NULL},
    {"zincrby", cmd_zset_incr, 4, CMD_ZSET_GROW, 1, 1, 1, 0, 0, NULL, NULL},
    {"zrem", cmd_zset_rem, -3, RLT_CMD_WRITE | RLT_CMD_FAST, 1, 1, 1, 0, 0,
     NULL, NULL},
    {"zcard", cmd_zset_card, 2, CMD_ZSET_PEEK, 1, 1, 1, 0, 0, NULL, NULL},
    {"zscore", cmd_zset_score, 3, CMD_ZSET_PEEK, 1, 1, 1, 0, 0, NULL, NULL},
    {"zmscore", cmd_zset_scores, -3, CMD_ZSET_PEEK, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"zrank", cmd_zset_rank, 3, CMD_ZSET_PEEK, 1, 1, 1, 0, 0, NULL, NULL},
    {"zrevrank", cmd_zset_rev_rank, 3, CMD_ZSET_PEEK, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"zrandmember", cmd_zset_draw, -2, RLT_CMD_READONLY, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"zscan", cmd_zset_scan, -3, RLT_CMD_READONLY, 1, 1, 1, 0, 0, NULL, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_zset_rows(size_t *n)
{
    *n = sizeof cmd_zset_rows / sizeof cmd_zset_rows[0];
    return cmd_zset_rows;
}
