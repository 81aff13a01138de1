/* SPDX-License-Identifier: MIT
 *
 * cmd_number.c - strings that are numbers: INCR and so on.
 */
#include "rows.h"

/* Sets the key's value to these bytes; its expiry time stays. */
static void cmd_number_store(rlt_call *c, rlt_obj *o, const char *p, size_t n)
{
    relet_span v;

    v.p = p;
    v.n = n;
    if (o == NULL) {
        (void)rlt_call_put(c, c->argv[1], rlt_obj_string(c->pool, v));
        return;
    }
    rlt_obj_set_string(c->pool, o, rlt_str_new(c->pool, v));
}

static void cmd_number_add(rlt_call *c, int64_t by)
{
    char digits[24];
    int64_t v = 0;
    rlt_obj *o;

    if (!rlt_call_write(c, 1, RLT_OBJ_STRING, &o))
        return;
    if (o && !rlt_str_int(rlt_obj_span(o), &v)) {
        rlt_call_error(c, RLT_ERR_INT);
        return;
    }
    if ((by < 0 && v < 0 && by < INT64_MIN - v) ||
        (by > 0 && v > 0 && by > INT64_MAX - v)) {
        rlt_call_error(c, RLT_ERR_OVERFLOW);
        return;
    }
    v += by;
    cmd_number_store(c, o, digits, rlt_text_put_i64(digits, v));
    rlt_call_changed(c, c->argv[1], RLT_EVENT_STRING, "incrby");
    rlt_out_int(c->out, v);
}

static void cmd_number_incr(rlt_call *c)
{
    cmd_number_add(c, 1);
}

static void cmd_number_decr(rlt_call *c)
{
    cmd_number_add(c, -1);
}

static void cmd_number_incrby(rlt_call *c)
{
    int64_t by;

    if (rlt_call_int(c, 2, &by, NULL))
        cmd_number_add(c, by);
}

static void cmd_number_decrby(rlt_call *c)
{
    int64_t by;

    if (!rlt_call_int(c, 2, &by, NULL))
        return;
    if (by == INT64_MIN) {
        rlt_call_error(c, "ERR decrement would overflow");
        return;
    }
    cmd_number_add(c, -by);
}

static void cmd_number_effect(rlt_call *c, relet_span v)
{
    rlt_call_effect(c, 4);
    rlt_call_effect_text(c, "SET");
    rlt_call_effect_word(c, c->argv[1]);
    rlt_call_effect_word(c, v);
    rlt_call_effect_text(c, "KEEPTTL");
}

static void cmd_number_incrbyfloat(rlt_call *c)
{
    char text[RLT_LONG_MAX];
    rlt_long v, by;
    relet_span s;
    rlt_obj *o;

    if (!rlt_call_write(c, 1, RLT_OBJ_STRING, &o))
        return;
    memset(&v, 0, sizeof v);
    if ((o && !rlt_longdouble_read(rlt_obj_span(o), &v)) ||
        !rlt_longdouble_read(c->argv[2], &by)) {
        rlt_call_error(c, RLT_ERR_FLOAT);
        return;
    }
    v = rlt_longdouble_add(v, by);
    if (v.inf) {
        rlt_call_error(c, RLT_ERR_NAN);
        return;
    }
    s.p = text;
    s.n = rlt_longdouble_text(text, v);
    cmd_number_store(c, o, s.p, s.n);
    cmd_number_effect(c, s);
    rlt_call_changed(c, c->argv[1], RLT_EVENT_STRING, "incrbyfloat");
    rlt_out_bulk(c->out, s);
}

static size_t cmd_number_float_bound(const rlt_call *c)
{
    return rlt_call_cost(c) + RLT_STR_COST(RLT_LONG_MAX);
}

#define W (RLT_CMD_WRITE | RLT_CMD_DENYOOM | RLT_CMD_FAST)
#define ONE 1, 1, 1, 0, 0

static const rlt_command cmd_number_rows[] = {
    {"incr", cmd_number_incr, 2, W, ONE, NULL, NULL},
    {"decr", cmd_number_decr, 2, W, ONE, NULL, NULL},
    {"incrby", cmd_number_incrby, 3, W, ONE, NULL, NULL},
    {"decrby", cmd_number_decrby, 3, W, ONE, NULL, NULL},
    {"incrbyfloat", cmd_number_incrbyfloat, 3, W, ONE,
     cmd_number_float_bound, NULL},
};

#undef W
#undef ONE

RELET_PRIVATE const rlt_command *rlt_cmd_number_rows(size_t *n)
{
    *n = sizeof cmd_number_rows / sizeof *cmd_number_rows;
    return cmd_number_rows;
}
