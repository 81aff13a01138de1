/* SPDX-License-Identifier: MIT
 *
 * cmd_bits.c - strings as rows of bits: SETBIT, BITCOUNT, BITPOS, BITOP.
 *
 * Bit 0 is the highest of the first byte. */
#include "cmd_bits.h"

/* ---------------------------------------------------------------- offsets */

RELET_PRIVATE int rlt_cmd_bits_offset(const rlt_call *c, relet_span s,
                                      int bits, int64_t *at)
{
    int64_t v, times = 1, max = c->server->settings.proto_max_bulk;

    if (bits > 0 && rlt_span_eat(&s, "#"))
        times = bits;
    if (!rlt_str_int(s, &v) || v < 0 || v > INT64_MAX / 64)
        return 0;
    v *= times;
    if (v >> 3 >= max)
        return 0;
    *at = v;
    return 1;
}

static int cmd_bits_offset(rlt_call *c, int64_t *at)
{
    if (rlt_cmd_bits_offset(c, c->argv[2], 0, at))
        return 1;
    rlt_call_error(c, RLT_CMD_BITS_OFFSET);
    return 0;
}

RELET_PRIVATE rlt_obj *rlt_cmd_bits_grow(rlt_call *c, size_t n, int *grown)
{
    rlt_obj *o;

    *grown = 0;
    if (!rlt_call_write(c, 1, RLT_OBJ_STRING, &o))
        return NULL;
    if (o == NULL) {
        o = rlt_obj_string(c->pool, relet_str(""));
        (void)rlt_call_put(c, c->argv[1], o);
        *grown = 1;
    }
    o->raw = 1;
    if (rlt_obj_span(o).n < n) {
        o->of.str = rlt_str_resize(c->pool, o->of.str, n);
        *grown = 1;
    }
    return o;
}

RELET_PRIVATE size_t rlt_cmd_bits_cost(const rlt_call *c, size_t n)
{
    const rlt_obj *o = rlt_call_peek(c, c->argv[1]);
    size_t had = 0;

    if (o && o->type == RLT_OBJ_STRING)
        had = rlt_obj_span(o).n;
    return rlt_call_cost(c) + RLT_STR_COST(0) +
           (n > had ? RLT_STR_RESIZE_COST(n) : 0);
}

static int cmd_bits_get(relet_span s, int64_t at)
{
    size_t byte = (size_t)(at >> 3);

    return byte < s.n ? (unsigned char)s.p[byte] >> (7 - (at & 7)) & 1 : 0;
}

/* ----------------------------------------------------------------- one bit */

static size_t cmd_bits_set_bound(const rlt_call *c)
{
    int64_t at;

    if (!rlt_cmd_bits_offset(c, c->argv[2], 0, &at))
        return 0;
    return rlt_cmd_bits_cost(c, (size_t)(at >> 3) + 1);
}

static void cmd_bits_setbit(rlt_call *c)
{
    int64_t at, on;
    int grown, was;
    char *byte;
    rlt_obj *o;

    if (!cmd_bits_offset(c, &at) ||
        !rlt_call_between(c, 3, 0, 1, &on,
                          "ERR bit is not an integer or out of range"))
        return;
    o = rlt_cmd_bits_grow(c, (size_t)(at >> 3) + 1, &grown);
    if (o == NULL)
        return;
    was = cmd_bits_get(rlt_obj_span(o), at);
    byte = o->of.str->p + (at >> 3);
    *byte = (char)((*byte & ~(1 << (7 - (at & 7)))) |
                   (int)(on << (7 - (at & 7))));
    if (grown || was != on)
        rlt_call_changed(c, c->argv[1], RLT_EVENT_STRING, "setbit");
    rlt_out_int(c->out, was);
}

static void cmd_bits_getbit(rlt_call *c)
{
    int64_t at;
    rlt_obj *o;

    if (!cmd_bits_offset(c, &at) ||
        !rlt_call_read(c, 1, RLT_OBJ_STRING, &o))
        return;
    rlt_out_int(c->out, o ? cmd_bits_get(rlt_obj_span(o), at) : 0);
}

/* ---------------------------------------------------------- many of them */

/* Bits from `from` to `to`, both included; none when from > to. */
typedef struct cmd_bits_range {
    int64_t from, to;
    int to_given;
} cmd_bits_range;

/* Counted from the end when below 0, and kept within n. */
static int64_t cmd_bits_index(int64_t i, int64_t n)
{
    return RLT_MAX(i < 0 ? i + n : i, 0);
}

static void cmd_bits_clip(cmd_bits_range *r, int64_t n, int is_bit)
{
    r->from = cmd_bits_index(r->from, n);
    r->to = RLT_MIN(cmd_bits_index(r->to, n), n - 1);
    if (r->from > r->to) {
        r->from = 1;
        r->to = 0;
    } else if (!is_bit) {
        r->from *= 8;
        r->to = r->to * 8 + 7;
    }
}

static int cmd_bits_unit(rlt_call *c, uint32_t i, int *is_bit)
{
    *is_bit = rlt_call_is(c, i, "bit");
    if (i >= c->argc || *is_bit || rlt_call_is(c, i, "byte"))
        return 1;
    rlt_call_error(c, RLT_ERR_SYNTAX);
    return 0;
}

static void cmd_bits_bitcount(rlt_call *c)
{
    cmd_bits_range r = {0, -1, 0};
    int64_t n = 0, i;
    relet_span s;
    rlt_obj *o;
    int is_bit = 0;

    if (!rlt_call_read(c, 1, RLT_OBJ_STRING, &o))
        return;
    if (o == NULL) {
        rlt_out_int(c->out, 0);
        return;
    }
    if (c->argc == 3 || c->argc > 5) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return;
    }
    s = rlt_obj_span(o);
    if (c->argc > 3) {
        if (!rlt_call_int(c, 2, &r.from, NULL) ||
            !rlt_call_int(c, 3, &r.to, NULL))
            return;
        if (r.from < 0 && r.to < 0 && r.from > r.to) {
            rlt_out_int(c->out, 0);
            return;
        }
        if (!cmd_bits_unit(c, 4, &is_bit))
            return;
    }
    cmd_bits_clip(&r, (int64_t)s.n * (is_bit ? 8 : 1), is_bit);
    for (i = r.from; i <= r.to; i++) {
        if ((i & 7) == 0 && i + 7 <= r.to && s.p[i >> 3] == 0)
            i += 7;
        else
            n += cmd_bits_get(s, i);
    }
    rlt_out_int(c->out, n);
}

/* The first bit that is `bit` in the range, or -1. */
static int64_t cmd_bits_first(relet_span s, const cmd_bits_range *r, int bit)
{
    char none = (char)(bit ? 0 : 0xff);
    int64_t i;

    for (i = r->from; i <= r->to; i++) {
        if ((i & 7) == 0 && i + 7 <= r->to && s.p[i >> 3] == none)
            i += 7;
        else if (cmd_bits_get(s, i) == bit)
            return i;
    }
    return -1;
}

static int cmd_bits_pos_range(rlt_call *c, relet_span s, cmd_bits_range *r)
{
    int is_bit = 0;

    r->from = 0;
    r->to = -1;
    r->to_given = c->argc >= 5;
    if (c->argc > 6) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return 0;
    }
    if (c->argc > 3 && !rlt_call_int(c, 3, &r->from, NULL))
        return 0;
    if (c->argc == 6 && !cmd_bits_unit(c, 5, &is_bit))
        return 0;
    if (c->argc > 4 && !rlt_call_int(c, 4, &r->to, NULL))
        return 0;
    cmd_bits_clip(r, (int64_t)s.n * (is_bit ? 8 : 1), is_bit);
    return 1;
}

/* Behind a string that was not cut off there are zeros without end. */
static void cmd_bits_bitpos(rlt_call *c)
{
    cmd_bits_range r;
    int64_t bit, at;
    relet_span s;
    rlt_obj *o;

    if (!rlt_call_int(c, 2, &bit, NULL))
        return;
    if (bit != 0 && bit != 1) {
        rlt_call_error(c, "ERR The bit argument must be 1 or 0.");
        return;
    }
    if (!rlt_call_read(c, 1, RLT_OBJ_STRING, &o))
        return;
    if (o == NULL) {
        rlt_out_int(c->out, -bit);
        return;
    }
    s = rlt_obj_span(o);
    if (!cmd_bits_pos_range(c, s, &r))
        return;
    at = cmd_bits_first(s, &r, (int)bit);
    if (at < 0 && bit == 0 && !r.to_given && r.from <= r.to)
        at = (int64_t)s.n * 8;
    rlt_out_int(c->out, at);
}

/* ------------------------------------------------------------------- BITOP */

typedef enum cmd_bits_op {
    CMD_BITS_AND,
    CMD_BITS_OR,
    CMD_BITS_XOR,
    CMD_BITS_NOT
} cmd_bits_op;

static int cmd_bits_op_of(const rlt_call *c, cmd_bits_op *op)
{
    static const char *const words[] = {"and", "or", "xor", "not"};
    int i;

    for (i = 0; i < 4; i++)
        if (rlt_call_is(c, 1, words[i])) {
            *op = (cmd_bits_op)i;
            return 1;
        }
    return 0;
}

/* The longest source: -1 when one is no string. */
static int64_t cmd_bits_longest(const rlt_call *c)
{
    int64_t n = 0;
    uint32_t i;

    for (i = 3; i < c->argc; i++) {
        const rlt_obj *o = rlt_call_peek(c, c->argv[i]);

        if (o && o->type != RLT_OBJ_STRING)
            return -1;
        if (o)
            n = RLT_MAX(n, (int64_t)rlt_obj_span(o).n);
    }
    return n;
}

static size_t cmd_bits_op_bound(const rlt_call *c)
{
    int64_t n = cmd_bits_longest(c);

    return rlt_call_cost(c) + RLT_STR_COST(RLT_MAX(n, 0));
}

static void cmd_bits_mix(char *to, relet_span s, size_t n, cmd_bits_op op)
{
    size_t i;
    int v;

    for (i = 0; i < n; i++) {
        v = i < s.n ? s.p[i] : 0;
        switch (op) {
        case CMD_BITS_AND:
            to[i] = (char)(to[i] & v);
            break;
        case CMD_BITS_OR:
            to[i] = (char)(to[i] | v);
            break;
        case CMD_BITS_XOR:
            to[i] = (char)(to[i] ^ v);
            break;
        case CMD_BITS_NOT:
            to[i] = (char)~v;
            break;
        }
    }
}

static rlt_str *cmd_bits_result(rlt_call *c, cmd_bits_op op, size_t n)
{
    rlt_str *s = rlt_str_blank(c->pool, n);
    rlt_entry *e;
    uint32_t i;

    memset(s->p, op == CMD_BITS_AND ? 0xff : 0, n);
    for (i = 3; i < c->argc; i++) {
        e = rlt_keys_find(c->db, c->argv[i]);
        cmd_bits_mix(s->p, e ? rlt_obj_span(rlt_keys_obj(e)) : relet_str(""),
                     n, op);
    }
    return s;
}

static void cmd_bits_bitop(rlt_call *c)
{
    cmd_bits_op op;
    rlt_obj *o;
    int64_t n;
    uint32_t i;

    if (!cmd_bits_op_of(c, &op)) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return;
    }
    if (op == CMD_BITS_NOT && c->argc != 4) {
        rlt_call_error(c, "ERR BITOP NOT must be called with a single source "
                          "key.");
        return;
    }
    for (i = 3; i < c->argc; i++)
        if (!rlt_call_read(c, i, RLT_OBJ_STRING, &o))
            return;
    n = cmd_bits_longest(c);
    if (n > 0) {
        o = rlt_obj_string_of(c->pool, cmd_bits_result(c, op, (size_t)n));
        o->raw = 1;
        (void)rlt_call_find_write(c, c->argv[2]);
        (void)rlt_call_put(c, c->argv[2], o);
        rlt_call_changed(c, c->argv[2], RLT_EVENT_STRING, "set");
    } else if (rlt_call_find_write(c, c->argv[2])) {
        (void)rlt_call_delete(c, c->argv[2]);
        rlt_call_changed(c, c->argv[2], RLT_EVENT_GENERIC, "del");
    }
    rlt_out_int(c->out, n);
}

#define W (RLT_CMD_WRITE | RLT_CMD_DENYOOM)
#define R RLT_CMD_READONLY
#define F RLT_CMD_FAST
#define ONE 1, 1, 1, 0, 0

static const rlt_command cmd_bits_rows[] = {
    {"setbit", cmd_bits_setbit, 4, W, ONE, cmd_bits_set_bound, NULL},
    {"getbit", cmd_bits_getbit, 3, R | F, ONE, NULL, NULL},
    {"bitcount", cmd_bits_bitcount, -2, R, ONE, NULL, NULL},
    {"bitpos", cmd_bits_bitpos, -3, R, ONE, NULL, NULL},
    {"bitop", cmd_bits_bitop, -4, W, 2, -1, 1, 0, 0, cmd_bits_op_bound,
     NULL},
};

#undef W
#undef R
#undef F
#undef ONE

RELET_PRIVATE const rlt_command *rlt_cmd_bits_rows(size_t *n)
{
    *n = sizeof cmd_bits_rows / sizeof *cmd_bits_rows;
    return cmd_bits_rows;
}
