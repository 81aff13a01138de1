/* SPDX-License-Identifier: MIT
 *
 * cmd_list.c - commands on lists, but for moving and waiting.
 */
#include "cmd_list.h"

#define CMD_LIST_HEAD 0
#define CMD_LIST_TAIL 1

/* ------------------------------------------------------------------ pushing */

static void cmd_list_push(rlt_call *c, int end, int must_exist)
{
    rlt_obj *o;
    uint32_t i;

    if (!rlt_call_write(c, 1, RLT_OBJ_LIST, &o))
        return;
    if (o == NULL && must_exist) {
        rlt_out_int(c->out, 0);
        return;
    }
    if (o == NULL)
        o = rlt_call_make(c, 1, RLT_OBJ_LIST);
    for (i = 2; i < c->argc; i++)
        rlt_list_push(&o->of.list, c->pool, c->argv[i], end);
    rlt_out_int(c->out, o->of.list.count);
    rlt_call_changed(c, c->argv[1], RLT_EVENT_LIST, end ? "rpush" : "lpush");
    c->dirty += c->argc - 3;
}

static void cmd_list_lpush(rlt_call *c)
{
    cmd_list_push(c, CMD_LIST_HEAD, 0);
}

static void cmd_list_rpush(rlt_call *c)
{
    cmd_list_push(c, CMD_LIST_TAIL, 0);
}

static void cmd_list_lpushx(rlt_call *c)
{
    cmd_list_push(c, CMD_LIST_HEAD, 1);
}

static void cmd_list_rpushx(rlt_call *c)
{
    cmd_list_push(c, CMD_LIST_TAIL, 1);
}

/* The first element equal to s; none: the chunk is NULL. */
static rlt_list_place cmd_list_find(const rlt_list *l, relet_span s)
{
    rlt_list_place at = rlt_list_end(l, CMD_LIST_HEAD);

    while (at.chunk && !rlt_span_same(rlt_list_get(at), s))
        if (!rlt_list_step(&at, 1))
            break;
    return at;
}

static void cmd_list_insert(rlt_call *c)
{
    int behind = rlt_call_is(c, 2, "after");
    rlt_list_place at;
    rlt_obj *o;

    if (!behind && !rlt_call_is(c, 2, "before")) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return;
    }
    if (!rlt_call_write(c, 1, RLT_OBJ_LIST, &o))
        return;
    if (o == NULL) {
        rlt_out_int(c->out, 0);
        return;
    }
    at = cmd_list_find(&o->of.list, c->argv[3]);
    if (at.chunk == NULL) {
        rlt_out_int(c->out, -1);
        return;
    }
    rlt_list_insert(&o->of.list, c->pool, at, behind, c->argv[4]);
    rlt_call_changed(c, c->argv[1], RLT_EVENT_LIST, "linsert");
    rlt_out_int(c->out, o->of.list.count);
}

/* ------------------------------------------------------------------ popping */

RELET_PRIVATE void rlt_cmd_list_taken(rlt_call *c, uint32_t i, rlt_obj *o,
                                      int end, int64_t n)
{
    rlt_call_taken(c, i, o, RLT_EVENT_LIST, end ? "rpop" : "lpop", n);
}

RELET_PRIVATE void rlt_cmd_list_pop_range(rlt_call *c, uint32_t i, rlt_obj *o,
                                          int end, uint32_t n)
{
    rlt_str *s;
    uint32_t k;

    rlt_out_array(c->out, n);
    for (k = 0; k < n; k++) {
        s = rlt_list_pop(&o->of.list, c->pool, end);
        rlt_out_bulk(c->out, rlt_str_span(s));
        rlt_str_free(c->pool, s);
    }
    rlt_cmd_list_taken(c, i, o, end, n);
}

static void cmd_list_pop_one(rlt_call *c, rlt_obj *o, int end)
{
    rlt_str *s = rlt_list_pop(&o->of.list, c->pool, end);

    rlt_out_bulk(c->out, rlt_str_span(s));
    rlt_str_free(c->pool, s);
    rlt_cmd_list_taken(c, 1, o, end, 1);
}

static void cmd_list_pop(rlt_call *c, int end)
{
    int64_t n = 0;
    rlt_obj *o;

    if (c->argc > 3) {
        rlt_call_error_arity(c);
        return;
    }
    if ((c->argc == 3 && !rlt_call_positive(c, 2, &n, NULL)) ||
        !rlt_call_write(c, 1, RLT_OBJ_LIST, &o))
        return;
    if (o == NULL && c->argc == 3)
        rlt_out_null_array(c->out);
    else if (o == NULL)
        rlt_out_null(c->out);
    else if (c->argc == 2)
        cmd_list_pop_one(c, o, end);
    else if (n == 0)
        rlt_out_array(c->out, 0);
    else
        rlt_cmd_list_pop_range(
            c, 1, o, end,
            n < o->of.list.count ? (uint32_t)n : o->of.list.count);
}

static void cmd_list_lpop(rlt_call *c)
{
    cmd_list_pop(c, CMD_LIST_HEAD);
}

static void cmd_list_rpop(rlt_call *c)
{
    cmd_list_pop(c, CMD_LIST_TAIL);
}

/* ----------------------------------------------------------------- by index */

/* Resolves from..to, which count from the end when below 0. Returns how many
 * elements they are. */
static uint32_t cmd_list_range(const rlt_list *l, int64_t from, int64_t to,
                               uint32_t *first)
{
    int64_t count = l->count;

    if (from < 0)
        from = from < -count ? 0 : from + count;
    if (to < 0)
        to = to < -count ? -1 : to + count;
    if (to >= count)
        to = count - 1;
    *first = 0;
    if (from > to)
        return 0;
    *first = (uint32_t)from;
    return (uint32_t)(to - from + 1);
}

static void cmd_list_lrange(rlt_call *c)
{
    int64_t from, to;
    uint32_t first = 0, n = 0;
    rlt_list_place at;
    rlt_obj *o;

    if (!rlt_call_int(c, 2, &from, NULL) || !rlt_call_int(c, 3, &to, NULL) ||
        !rlt_call_read(c, 1, RLT_OBJ_LIST, &o))
        return;
    if (o)
        n = cmd_list_range(&o->of.list, from, to, &first);
    rlt_out_array(c->out, n);
    if (n == 0)
        return;
    at = rlt_list_seek(&o->of.list, first);
    for (; n > 0; n--) {
        rlt_out_bulk(c->out, rlt_list_get(at));
        (void)rlt_list_step(&at, 1);
    }
}

static void cmd_list_trim(rlt_call *c)
{
    int64_t from, to;
    uint32_t first, n, had;
    rlt_obj *o;

    if (!rlt_call_int(c, 2, &from, NULL) || !rlt_call_int(c, 3, &to, NULL) ||
        !rlt_call_write(c, 1, RLT_OBJ_LIST, &o))
        return;
    if (o == NULL) {
        rlt_out_status(c->out, "OK");
        return;
    }
    had = o->of.list.count;
    n = cmd_list_range(&o->of.list, from, to, &first);
    rlt_list_trim(&o->of.list, c->pool, first, n);
    rlt_call_taken(c, 1, o, RLT_EVENT_LIST, "ltrim", had - n);
    rlt_out_status(c->out, "OK");
}

/* The place of the element with index argv[i]. 0: not an integer, and
 * replied. */
static int cmd_list_place(rlt_call *c, uint32_t i, const rlt_list *l,
                          rlt_list_place *at)
{
    int64_t index;

    if (!rlt_call_int(c, i, &index, NULL))
        return 0;
    if (index < 0)
        index += l->count;
    memset(at, 0, sizeof *at);
    if (index >= 0 && index < l->count)
        *at = rlt_list_seek(l, (uint32_t)index);
    return 1;
}

static void cmd_list_index(rlt_call *c)
{
    rlt_list_place at;
    rlt_obj *o;

    if (!rlt_call_read(c, 1, RLT_OBJ_LIST, &o))
        return;
    if (o == NULL) {
        rlt_out_null(c->out);
        return;
    }
    if (!cmd_list_place(c, 2, &o->of.list, &at))
        return;
    if (at.chunk)
        rlt_out_bulk(c->out, rlt_list_get(at));
    else
        rlt_out_null(c->out);
}

static void cmd_list_lset(rlt_call *c)
{
    rlt_list_place at;
    rlt_obj *o;

    if (!rlt_call_write(c, 1, RLT_OBJ_LIST, &o))
        return;
    if (o == NULL) {
        rlt_call_error(c, RLT_ERR_NO_KEY);
        return;
    }
    if (!cmd_list_place(c, 2, &o->of.list, &at))
        return;
    if (at.chunk == NULL) {
        rlt_call_error(c, RLT_ERR_INDEX);
        return;
    }
    rlt_list_set(at, c->pool, c->argv[3]);
    rlt_out_status(c->out, "OK");
    rlt_call_changed(c, c->argv[1], RLT_EVENT_LIST, "lset");
}

static void cmd_list_len(rlt_call *c)
{
    rlt_obj *o;

    if (rlt_call_read(c, 1, RLT_OBJ_LIST, &o))
        rlt_out_int(c->out, o ? o->of.list.count : 0);
}

/* ----------------------------------------------------------------- by value */

/* 0 means all; so does a number that no list can hold. */
static uint32_t cmd_list_rem_max(int64_t count)
{
    if (count < -(int64_t)UINT32_MAX || count > (int64_t)UINT32_MAX)
        return 0;
    return (uint32_t)(count < 0 ? -count : count);
}

static void cmd_list_rem(rlt_call *c)
{
    int64_t count;
    uint32_t max, gone = 0;
    rlt_obj *o;

    if (!rlt_call_int(c, 2, &count, NULL) ||
        !rlt_call_write(c, 1, RLT_OBJ_LIST, &o))
        return;
    max = cmd_list_rem_max(count);
    if (o)
        gone = rlt_list_remove_same(&o->of.list, c->pool, c->argv[3], max,
                                    count < 0);
    if (gone > 0) {
        rlt_call_changed(c, c->argv[1], RLT_EVENT_LIST, "lrem");
        c->dirty += gone - 1;
        (void)rlt_call_delete_empty(c, 1, o);
    }
    rlt_out_int(c->out, gone);
}

typedef struct cmd_list_search {
    int64_t rank;   /* the first match to reply, from 1                      */
    int64_t count;  /* how many to reply, 0: all; -1: one, not in an array   */
    int64_t max;    /* elements to look at; 0: all                           */
    int side;       /* 1: from head to tail, 0: from tail to head            */
} cmd_list_search;

/* RANK, COUNT or MAXLEN at argv[i]. */
static int cmd_list_search_option(rlt_call *c, uint32_t i, cmd_list_search *s)
{
    if (i + 1 < c->argc && rlt_call_is(c, i, "rank")) {
        if (!rlt_call_int(c, i + 1, &s->rank, NULL))
            return 0;
        if (s->rank != 0)
            return 1;
        rlt_call_error(c, "ERR RANK can't be zero: use 1 to start from the "
                          "first match, 2 from the second ... or use negative "
                          "to start from the end of the list");
        return 0;
    }
    if (i + 1 < c->argc && rlt_call_is(c, i, "count"))
        return rlt_call_positive(c, i + 1, &s->count,
                                 "ERR COUNT can't be negative");
    if (i + 1 < c->argc && rlt_call_is(c, i, "maxlen"))
        return rlt_call_positive(c, i + 1, &s->max,
                                 "ERR MAXLEN can't be negative");
    rlt_call_error(c, RLT_ERR_SYNTAX);
    return 0;
}

static int cmd_list_search_read(rlt_call *c, cmd_list_search *s)
{
    uint32_t i;

    memset(s, 0, sizeof *s);
    s->rank = 1;
    s->count = -1;
    for (i = 3; i < c->argc; i += 2)
        if (!cmd_list_search_option(c, i, s))
            return 0;
    s->side = s->rank > 0;
    /* INT64_MIN has no opposite; Redis then replies every match. */
    if (s->rank < 0)
        s->rank = s->rank == INT64_MIN ? 1 : -s->rank;
    return 1;
}

/* Replies the indexes; returns how many. */
static size_t cmd_list_search_walk(rlt_call *c, const rlt_list *l,
                                   const cmd_list_search *s)
{
    rlt_list_place at = rlt_list_end(l, !s->side);
    int64_t seen, matches = 0, max = l->count, found = 0;

    if (s->max > 0 && s->max < max)
        max = s->max;
    for (seen = 0; seen < max; seen++) {
        if (rlt_span_same(rlt_list_get(at), c->argv[2]) &&
            ++matches >= s->rank) {
            rlt_out_int(c->out, s->side ? seen : (int64_t)l->count - 1 - seen);
            found++;
            if (s->count != 0 && (s->count < 0 || found >= s->count))
                break;
        }
        (void)rlt_list_step(&at, s->side);
    }
    return (size_t)found;
}

static void cmd_list_pos(rlt_call *c)
{
    cmd_list_search s;
    size_t mark = 0, n = 0;
    rlt_obj *o;

    if (!cmd_list_search_read(c, &s) ||
        !rlt_call_read(c, 1, RLT_OBJ_LIST, &o))
        return;
    if (s.count >= 0)
        mark = rlt_out_later(c->out);
    if (o)
        n = cmd_list_search_walk(c, &o->of.list, &s);
    if (s.count >= 0)
        rlt_out_later_end(c->out, mark, '*', n);
    else if (n == 0)
        rlt_out_null(c->out);
}

/* --------------------------------------------------------------------- rows */

#define CMD_LIST_GROW (RLT_CMD_WRITE | RLT_CMD_DENYOOM)
#define CMD_LIST_PUSH (CMD_LIST_GROW | RLT_CMD_FAST)
#define CMD_LIST_POP (RLT_CMD_WRITE | RLT_CMD_FAST)
#define CMD_LIST_READ RLT_CMD_READONLY

static const rlt_command cmd_list_rows[] = {
    {"lpush", cmd_list_lpush, -3, CMD_LIST_PUSH, 1, 1, 1, 0, 0, NULL, NULL},
    {"rpush", cmd_list_rpush, -3, CMD_LIST_PUSH, 1, 1, 1, 0, 0, NULL, NULL},
    {"lpushx", cmd_list_lpushx, -3, CMD_LIST_PUSH, 1, 1, 1, 0, 0, NULL, NULL},
    {"rpushx", cmd_list_rpushx, -3, CMD_LIST_PUSH, 1, 1, 1, 0, 0, NULL, NULL},
    {"linsert", cmd_list_insert, 5, CMD_LIST_GROW, 1, 1, 1, 0, 0, NULL, NULL},
    {"lpop", cmd_list_lpop, -2, CMD_LIST_POP, 1, 1, 1, 0, 0, NULL, NULL},
    {"rpop", cmd_list_rpop, -2, CMD_LIST_POP, 1, 1, 1, 0, 0, NULL, NULL},
    {"lrange", cmd_list_lrange, 4, CMD_LIST_READ, 1, 1, 1, 0, 0, NULL, NULL},
    {"ltrim", cmd_list_trim, 4, RLT_CMD_WRITE, 1, 1, 1, 0, 0, NULL, NULL},
    {"lindex", cmd_list_index, 3, CMD_LIST_READ, 1, 1, 1, 0, 0, NULL, NULL},
    {"lset", cmd_list_lset, 4, CMD_LIST_GROW, 1, 1, 1, 0, 0, NULL, NULL},
    {"llen", cmd_list_len, 2, CMD_LIST_READ | RLT_CMD_FAST, 1, 1, 1, 0, 0,
     NULL, NULL},
    {"lrem", cmd_list_rem, 4, RLT_CMD_WRITE, 1, 1, 1, 0, 0, NULL, NULL},
    {"lpos", cmd_list_pos, -3, CMD_LIST_READ, 1, 1, 1, 0, 0, NULL, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_list_rows(size_t *n)
{
    *n = sizeof cmd_list_rows / sizeof cmd_list_rows[0];
    return cmd_list_rows;
}
