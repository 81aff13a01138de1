/* SPDX-License-Identifier: MIT
 *
 * cmd_set.c - commands on one set, and on two: SMOVE.
 */
#include "cmd_set.h"
#include "cmd_walk.h"

/* ------------------------------------------------------------------ writing */

static void cmd_set_add(rlt_call *c)
{
    rlt_obj *o;
    int64_t n = 0;
    uint32_t i;

    if (!rlt_call_write(c, 1, RLT_OBJ_SET, &o))
        return;
    if (o == NULL)
        o = rlt_call_make(c, 1, RLT_OBJ_SET);
    for (i = 2; i < c->argc; i++)
        n += rlt_set_add(&o->of.set, c->pool, c->argv[i]);
    if (n > 0) {
        rlt_call_changed(c, c->argv[1], RLT_EVENT_SET, "sadd");
        c->dirty += n - 1;
    }
    rlt_out_int(c->out, n);
}

/* Removes a member: 1, or 0: it was not a member. */
static int cmd_set_drop(rlt_call *c, rlt_obj *o, relet_span member)
{
    rlt_entry *e = rlt_set_find(&o->of.set, member);

    if (e == NULL)
        return 0;
    rlt_set_remove(&o->of.set, c->pool, e);
    return 1;
}

static void cmd_set_rem(rlt_call *c)
{
    int64_t gone = 0;
    rlt_obj *o;
    uint32_t i;

    if (!rlt_call_write(c, 1, RLT_OBJ_SET, &o))
        return;
    for (i = 2; o && i < c->argc; i++)
        gone += cmd_set_drop(c, o, c->argv[i]);
    if (gone > 0) {
        rlt_call_changed(c, c->argv[1], RLT_EVENT_SET, "srem");
        c->dirty += gone - 1;
        (void)rlt_call_delete_empty(c, 1, o);
    }
    rlt_out_int(c->out, gone);
}

static void cmd_set_move_into(rlt_call *c, rlt_obj *from, rlt_obj *to)
{
    rlt_call_taken(c, 1, from, RLT_EVENT_SET, "srem", 1);
    if (to == NULL)
        to = rlt_call_make(c, 2, RLT_OBJ_SET);
    if (rlt_set_add(&to->of.set, c->pool, c->argv[3]))
        rlt_call_changed(c, c->argv[2], RLT_EVENT_SET, "sadd");
    rlt_out_int(c->out, 1);
}

static void cmd_set_move(rlt_call *c)
{
    rlt_entry *source = rlt_call_find_write(c, c->argv[1]);
    rlt_entry *target = rlt_call_find_write(c, c->argv[2]);
    rlt_obj *from, *to = target ? rlt_keys_obj(target) : NULL;

    if (source == NULL) {
        rlt_out_int(c->out, 0);
        return;
    }
    from = rlt_keys_obj(source);
    if (from->type != RLT_OBJ_SET || (to && to->type != RLT_OBJ_SET))
        rlt_call_error(c, RLT_ERR_WRONGTYPE);
    else if (from == to)
        rlt_out_int(c->out, rlt_set_find(&from->of.set, c->argv[3]) != NULL);
    else if (!cmd_set_drop(c, from, c->argv[3]))
        rlt_out_int(c->out, 0);
    else
        cmd_set_move_into(c, from, to);
}

/* ------------------------------------------------------------------ reading */

static void cmd_set_is_member(rlt_call *c)
{
    rlt_obj *o;

    if (rlt_call_read(c, 1, RLT_OBJ_SET, &o))
        rlt_out_int(c->out,
                    o && rlt_set_find(&o->of.set, c->argv[2]) != NULL);
}

static void cmd_set_are_members(rlt_call *c)
{
    rlt_obj *o;
    uint32_t i;

    if (!rlt_call_read(c, 1, RLT_OBJ_SET, &o))
        return;
    rlt_out_array(c->out, c->argc - 2);
    for (i = 2; i < c->argc; i++)
        rlt_out_int(c->out,
                    o && rlt_set_find(&o->of.set, c->argv[i]) != NULL);
}

static void cmd_set_card(rlt_call *c)
{
    rlt_obj *o;

    if (rlt_call_read(c, 1, RLT_OBJ_SET, &o))
        rlt_out_int(c->out, o ? o->of.set.members.count : 0);
}

static void cmd_set_tell(rlt_call *c, const rlt_entry *e)
{
    rlt_out_bulk(c->out, rlt_entry_key(e));
}

static void cmd_set_tell_all(rlt_call *c, const rlt_obj *o)
{
    const rlt_entry *e;

    for (e = o->of.set.members.first; e; e = e->next)
        cmd_set_tell(c, e);
}

static void cmd_set_members(rlt_call *c)
{
    rlt_obj *o;

    if (!rlt_call_read(c, 1, RLT_OBJ_SET, &o))
        return;
    rlt_out_set(c->out, o ? o->of.set.members.count : 0);
    if (o)
        cmd_set_tell_all(c, o);
}

/* ------------------------------------------------------------------ drawing */

static void cmd_set_log_gone(rlt_call *c, relet_span member)
{
    rlt_call_effect(c, 3);
    rlt_call_effect_text(c, "SREM");
    rlt_call_effect_word(c, c->argv[1]);
    rlt_call_effect_word(c, member);
}

static void cmd_set_pop_one(rlt_call *c, rlt_obj *o)
{
    rlt_entry *e = rlt_dict_random(&o->of.set.members, c->rand);

    rlt_out_bulk(c->out, rlt_entry_key(e));
    cmd_set_log_gone(c, rlt_entry_key(e));
    rlt_set_remove(&o->of.set, c->pool, e);
}

static void cmd_set_pop_all(rlt_call *c, rlt_obj *o)
{
    cmd_set_tell_all(c, o);
    rlt_call_effect(c, 2);
    rlt_call_effect_text(c, "DEL");
    rlt_call_effect_word(c, c->argv[1]);
    rlt_set_clear(&o->of.set, c->pool);
}

/* The event was published before the reply began. */
static void cmd_set_popped(rlt_call *c, const rlt_obj *o, uint32_t n)
{
    c->dirty += n;
    (void)rlt_call_delete_empty(c, 1, o);
    rlt_call_modified(c, c->argv[1]);
}

static void cmd_set_pop_some(rlt_call *c, rlt_obj *o, int64_t count)
{
    uint32_t had = o->of.set.members.count, n, i;

    n = count < had ? (uint32_t)count : had;
    if (n > 0)
        rlt_call_event(c, RLT_EVENT_SET, "spop", c->argv[1]);
    rlt_out_set(c->out, n);
    if (n == 0)
        return;
    for (i = 0; i < n && n < had; i++)
        cmd_set_pop_one(c, o);
    if (n == had)
        cmd_set_pop_all(c, o);
    cmd_set_popped(c, o, n);
}

static void cmd_set_pop(rlt_call *c)
{
    int64_t count = 0;
    rlt_obj *o;

    if (c->argc > 3) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return;
    }
    if ((c->argc == 3 && !rlt_call_positive(c, 2, &count, NULL)) ||
        !rlt_call_write(c, 1, RLT_OBJ_SET, &o))
        return;
    if (o && c->argc == 3) {
        cmd_set_pop_some(c, o, count);
    } else if (o) {
        rlt_call_event(c, RLT_EVENT_SET, "spop", c->argv[1]);
        cmd_set_pop_one(c, o);
        cmd_set_popped(c, o, 1);
    } else if (c->argc == 3) {
        rlt_out_set(c->out, 0);
    } else {
        rlt_out_null(c->out);
    }
}

static void cmd_set_draw(rlt_call *c)
{
    int64_t count = 1, n;
    rlt_obj *o;

    if (c->argc > 3) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return;
    }
    if ((c->argc == 3 &&
         !rlt_call_between(c, 2, -INT64_MAX, INT64_MAX, &count, NULL)) ||
        !rlt_call_read(c, 1, RLT_OBJ_SET, &o))
        return;
    n = o ? o->of.set.members.count : 0;
    if (o && count < n)
        n = count < 0 ? -count : count;
    if (c->argc == 3)
        rlt_out_array(c->out, (size_t)n);
    else if (o == NULL)
        rlt_out_null(c->out);
    if (o)
        rlt_cmd_walk_draw(c, &o->of.set.members, cmd_set_tell, count);
}

static void cmd_set_scan(rlt_call *c)
{
    rlt_call_scan s;
    rlt_cmd_walk w;
    rlt_obj *o;

    if (!rlt_call_scan_cursor(c, 2, &s) ||
        !rlt_call_read(c, 1, RLT_OBJ_SET, &o))
        return;
    if (o == NULL) {
        rlt_cmd_walk_scan_none(c);
        return;
    }
    w.dict = &o->of.set.members;
    w.first = w.dict->first;
    w.next = o->of.set.large ? NULL : rlt_cmd_walk_order;
    w.tell = cmd_set_tell;
    w.words = 1;
    rlt_cmd_walk_scan(c, &w, &s);
}

/* --------------------------------------------------------------------- rows */

#define CMD_SET_DROP (RLT_CMD_WRITE | RLT_CMD_FAST)
#define CMD_SET_PEEK (RLT_CMD_READONLY | RLT_CMD_FAST)

static const rlt_command cmd_set_rows[] = {
    {"sadd", cmd_set_add, -3, RLT_CMD_WRITE | RLT_CMD_DENYOOM | RLT_CMD_FAST,
     1, 1, 1, 0, 0, NULL, NULL},
    {"srem", cmd_set_rem, -3, CMD_SET_DROP, 1, 1, 1, 0, 0, NULL, NULL},
    {"smove", cmd_set_move, 4, CMD_SET_DROP, 1, 2, 1, 0, 0, NULL, NULL},
    {"spop", cmd_set_pop, -2, CMD_SET_DROP, 1, 1, 1, 0, 0, NULL, NULL},
    {"sismember", cmd_set_is_member, 3, CMD_SET_PEEK, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"smismember", cmd_set_are_members, -3, CMD_SET_PEEK, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"scard", cmd_set_card, 2, CMD_SET_PEEK, 1, 1, 1, 0, 0, NULL, NULL},
    {"smembers", cmd_set_members, 2, RLT_CMD_READONLY, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"srandmember", cmd_set_draw, -2, RLT_CMD_READONLY, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"sscan", cmd_set_scan, -3, RLT_CMD_READONLY, 1, 1, 1, 0, 0, NULL, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_set_rows(size_t *n)
{
    *n = sizeof cmd_set_rows / sizeof cmd_set_rows[0];
    return cmd_set_rows;
}
