/* SPDX-License-Identifier: MIT
 *
 * cmd_list_move.c - lists: popping from one of several, moving between two,
 * waiting for either.
 */
#include "cmd_list.h"
#include "cmd_walk.h"

/* Which end argv[i] names: 0 LEFT, 1 RIGHT; -1: neither, and replied. */
static int list_move_end(rlt_call *c, uint32_t i)
{
    if (rlt_call_is(c, i, "left"))
        return 0;
    if (rlt_call_is(c, i, "right"))
        return 1;
    rlt_call_error(c, RLT_ERR_SYNTAX);
    return -1;
}

/* ------------------------------------------------------ from one of several */

/* The first list under the n keys from argv[from] on: 1 and *at, or 1 and *o
 * NULL: there is none, or 0: an error was replied. */
static int list_move_first(rlt_call *c, uint32_t from, uint32_t n,
                           uint32_t *at, rlt_obj **o)
{
    uint32_t i;

    *o = NULL;
    for (i = from; i < from + n && *o == NULL; i++) {
        if (!rlt_cmd_walk_is_on(c, i))
            continue;
        if (!rlt_call_write(c, i, RLT_OBJ_LIST, o))
            return 0;
        *at = i;
    }
    return 1;
}

static void list_move_log_pop(rlt_call *c, uint32_t i, int end, int64_t n)
{
    rlt_call_effect(c, n > 0 ? 3 : 2);
    rlt_call_effect_text(c, end ? "RPOP" : "LPOP");
    rlt_call_effect_word(c, c->argv[i]);
    if (n > 0)
        rlt_call_effect_int(c, n);
}

/* BLPOP key [key ...] timeout */
static void list_move_bpop(rlt_call *c, int end)
{
    uint32_t n = c->argc - 2, at = 0;
    int64_t deadline;
    rlt_obj *o;
    rlt_str *s;

    if (!rlt_call_timeout_s(c, c->argc - 1, &deadline) ||
        !list_move_first(c, 1, n, &at, &o))
        return;
    if (o == NULL) {
        if (!rlt_call_block(c, RLT_OBJ_LIST, 1, n, 1, deadline, 0))
            rlt_out_null_array(c->out);
        return;
    }
    s = rlt_list_pop(&o->of.list, c->pool, end);
    rlt_out_array(c->out, 2);
    rlt_out_bulk(c->out, c->argv[at]);
    rlt_out_bulk(c->out, rlt_str_span(s));
    rlt_str_free(c->pool, s);
    rlt_cmd_list_taken(c, at, o, end, 1);
    list_move_log_pop(c, at, end, 0);
}

static void list_move_blpop(rlt_call *c)
{
    list_move_bpop(c, 0);
}

static void list_move_brpop(rlt_call *c)
{
    list_move_bpop(c, 1);
}

static const char *const list_move_ends[2] = {"left", "right"};

/* Pops from the first list. 0: there is none, and nothing was replied. */
static int list_move_many_pop(rlt_call *c, const rlt_cmd_walk_keys *m)
{
    uint32_t at = 0, n;
    rlt_obj *o;

    if (!list_move_first(c, m->first, m->n, &at, &o))
        return 1;
    if (o == NULL)
        return 0;
    n = o->of.list.count;
    if (m->count < n)
        n = (uint32_t)m->count;
    rlt_out_array(c->out, 2);
    rlt_out_bulk(c->out, c->argv[at]);
    rlt_cmd_list_pop_range(c, at, o, m->end, n);
    list_move_log_pop(c, at, m->end, n);
    return 1;
}

static void list_move_lmpop(rlt_call *c)
{
    rlt_cmd_walk_keys m;

    if (rlt_cmd_walk_many(c, 1, list_move_ends, &m) &&
        !list_move_many_pop(c, &m))
        rlt_out_null_array(c->out);
}

static void list_move_blmpop(rlt_call *c)
{
    rlt_cmd_walk_keys m;
    int64_t deadline;

    if (!rlt_cmd_walk_many(c, 2, list_move_ends, &m) ||
        !rlt_call_timeout_s(c, 1, &deadline) || list_move_many_pop(c, &m))
        return;
    if (!rlt_call_block(c, RLT_OBJ_LIST, m.first, m.n, 1, deadline, 0))
        rlt_out_null_array(c->out);
}

/* ------------------------------------------------------ from one to another */

/* The events come as in Redis: the push first, then the pop. */
static void list_move_do(rlt_call *c, rlt_obj *from, int from_end, int to_end)
{
    rlt_obj *to;
    rlt_str *s;

    if (!rlt_call_write(c, 2, RLT_OBJ_LIST, &to))
        return;
    s = rlt_list_pop(&from->of.list, c->pool, from_end);
    if (to == NULL)
        to = rlt_call_make(c, 2, RLT_OBJ_LIST);
    rlt_list_push_str(&to->of.list, c->pool, s, to_end);
    rlt_call_modified(c, c->argv[2]);
    rlt_call_event(c, RLT_EVENT_LIST, to_end ? "rpush" : "lpush", c->argv[2]);
    rlt_out_bulk(c->out, rlt_str_span(s));
    rlt_cmd_list_taken(c, 1, from, from_end, 1);
}

static void list_move_now(rlt_call *c, int from_end, int to_end)
{
    rlt_obj *from;

    if (!rlt_call_write(c, 1, RLT_OBJ_LIST, &from))
        return;
    if (from)
        list_move_do(c, from, from_end, to_end);
    else
        rlt_out_null(c->out);
}

static void list_move_lmove(rlt_call *c)
{
    int from = list_move_end(c, 3), to;

    if (from < 0)
        return;
    to = list_move_end(c, 4);
    if (to >= 0)
        list_move_now(c, from, to);
}

static void list_move_rpoplpush(rlt_call *c)
{
    list_move_now(c, 1, 0);
}

/* Moves, or waits. 1 when an element was moved. */
static int list_move_or_wait(rlt_call *c, int from_end, int to_end,
                             int64_t deadline)
{
    rlt_obj *from;

    if (!rlt_call_write(c, 1, RLT_OBJ_LIST, &from))
        return 0;
    if (from) {
        list_move_do(c, from, from_end, to_end);
        return c->dirty > 0;
    }
    if (!rlt_call_block(c, RLT_OBJ_LIST, 1, 1, 1, deadline, 0))
        rlt_out_null(c->out);
    return 0;
}

static void list_move_blmove(rlt_call *c)
{
    int from = list_move_end(c, 3), to;
    int64_t deadline;

    if (from < 0)
        return;
    to = list_move_end(c, 4);
    if (to < 0 || !rlt_call_timeout_s(c, 5, &deadline) ||
        !list_move_or_wait(c, from, to, deadline))
        return;
    rlt_call_effect(c, 5);
    rlt_call_effect_text(c, "LMOVE");
    rlt_call_effect_word(c, c->argv[1]);
    rlt_call_effect_word(c, c->argv[2]);
    rlt_call_effect_word(c, c->argv[3]);
    rlt_call_effect_word(c, c->argv[4]);
}

static void list_move_brpoplpush(rlt_call *c)
{
    int64_t deadline;

    if (!rlt_call_timeout_s(c, 3, &deadline) ||
        !list_move_or_wait(c, 1, 0, deadline))
        return;
    rlt_call_effect(c, 3);
    rlt_call_effect_text(c, "RPOPLPUSH");
    rlt_call_effect_word(c, c->argv[1]);
    rlt_call_effect_word(c, c->argv[2]);
}

/* --------------------------------------------------------------------- rows */

#define LIST_MOVE_WRITE (RLT_CMD_WRITE | RLT_CMD_DENYOOM)
#define LIST_MOVE_WAIT (RLT_CMD_BLOCKING | RLT_CMD_NOSCRIPT)

static const rlt_command list_move_rows[] = {
    {"lmove", list_move_lmove, 5, LIST_MOVE_WRITE, 1, 2, 1, 0, 0, NULL, NULL},
    {"rpoplpush", list_move_rpoplpush, 3, LIST_MOVE_WRITE, 1, 2, 1, 0, 0,
     NULL, NULL},
    {"lmpop", list_move_lmpop, -4, RLT_CMD_WRITE | RLT_CMD_MOVABLE, 0, 0, 0,
     RLT_KEYS_COUNTED, 1, NULL, NULL},
    {"blpop", list_move_blpop, -3, RLT_CMD_WRITE | LIST_MOVE_WAIT, 1, -2, 1, 0,
     0, NULL, NULL},
    {"brpop", list_move_brpop, -3, RLT_CMD_WRITE | LIST_MOVE_WAIT, 1, -2, 1, 0,
     0, NULL, NULL},
    {"blmove", list_move_blmove, 6, LIST_MOVE_WRITE | LIST_MOVE_WAIT, 1, 2, 1,
     0, 0, NULL, NULL},
    {"brpoplpush", list_move_brpoplpush, 4, LIST_MOVE_WRITE | LIST_MOVE_WAIT,
     1, 2, 1, 0, 0, NULL, NULL},
    {"blmpop", list_move_blmpop, -5,
     RLT_CMD_WRITE | RLT_CMD_BLOCKING | RLT_CMD_MOVABLE, 0, 0, 0,
     RLT_KEYS_COUNTED, 2, NULL, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_list_move_rows(size_t *n)
{
    *n = sizeof list_move_rows / sizeof list_move_rows[0];
    return list_move_rows;
}
