/* SPDX-License-Identifier: MIT
 *
 * cmd_bitfield.c - BITFIELD: integers of any width, anywhere in a string.
 */
#include "cmd_bits.h"

typedef enum cmd_bitfield_what {
    CMD_BITFIELD_GET,
    CMD_BITFIELD_SET,
    CMD_BITFIELD_INCR
} cmd_bitfield_what;

typedef enum cmd_bitfield_over {
    CMD_BITFIELD_WRAP,
    CMD_BITFIELD_SAT,
    CMD_BITFIELD_FAIL
} cmd_bitfield_over;

typedef struct cmd_bitfield_op {
    cmd_bitfield_what what;
    cmd_bitfield_over over; /* holds until the next OVERFLOW                 */
    int is_signed, bits;
    int64_t at;    /* the highest bit                                        */
    int64_t value;
} cmd_bitfield_op;

/* ----------------------------------------------------------------- parsing */

static int cmd_bitfield_type(rlt_call *c, relet_span s, cmd_bitfield_op *op)
{
    int64_t bits;
    relet_span digits = s;

    op->is_signed = s.n > 0 && *s.p == 'i';
    if (s.n > 0) {
        digits.p++;
        digits.n--;
    }
    if (s.n > 0 && (op->is_signed || *s.p == 'u') &&
        rlt_str_int(digits, &bits) && bits >= 1 &&
        bits <= (op->is_signed ? 64 : 63)) {
        op->bits = (int)bits;
        return 1;
    }
    rlt_call_error(c, "ERR Invalid bitfield type. Use something like i16 u8. "
                      "Note that u64 is not supported but i64 is.");
    return 0;
}

static int cmd_bitfield_overflow(rlt_call *c, uint32_t i,
                                 cmd_bitfield_op *op)
{
    if (rlt_call_is(c, i, "wrap")) {
        op->over = CMD_BITFIELD_WRAP;
    } else if (rlt_call_is(c, i, "sat")) {
        op->over = CMD_BITFIELD_SAT;
    } else if (rlt_call_is(c, i, "fail")) {
        op->over = CMD_BITFIELD_FAIL;
    } else {
        rlt_call_error(c, "ERR Invalid OVERFLOW type specified");
        return 0;
    }
    return 1;
}

static uint32_t cmd_bitfield_args(const rlt_call *c, uint32_t i,
                                  cmd_bitfield_op *op)
{
    uint32_t left = c->argc - i - 1;

    if (rlt_call_is(c, i, "get") && left >= 2) {
        op->what = CMD_BITFIELD_GET;
        return 2;
    }
    if (rlt_call_is(c, i, "set") && left >= 3) {
        op->what = CMD_BITFIELD_SET;
        return 3;
    }
    if (rlt_call_is(c, i, "incrby") && left >= 3) {
        op->what = CMD_BITFIELD_INCR;
        return 3;
    }
    return 0;
}

/* The next operation from argv[*i] on, which moves behind it: 1; 0 at the end;
 * -1 when an error was replied. */
static int cmd_bitfield_next(rlt_call *c, uint32_t *i, cmd_bitfield_op *op)
{
    uint32_t n;

    while (*i < c->argc && rlt_call_is(c, *i, "overflow") &&
           *i + 1 < c->argc) {
        if (!cmd_bitfield_overflow(c, *i + 1, op))
            return -1;
        *i += 2;
    }
    if (*i >= c->argc)
        return 0;
    n = cmd_bitfield_args(c, *i, op);
    if (n == 0) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return -1;
    }
    if (!cmd_bitfield_type(c, c->argv[*i + 1], op))
        return -1;
    if (!rlt_cmd_bits_offset(c, c->argv[*i + 2], op->bits, &op->at)) {
        rlt_call_error(c, RLT_CMD_BITS_OFFSET);
        return -1;
    }
    if (n == 3 && !rlt_call_int(c, *i + 3, &op->value, NULL))
        return -1;
    *i += n + 1;
    return 1;
}

/* All of it is right: how many operations, and in *size how many bytes the
 * string must have for the writes among them (0: there are none). -1: an
 * error was replied. */
static int64_t cmd_bitfield_check(rlt_call *c, size_t *size)
{
    cmd_bitfield_op op;
    uint32_t i = 2;
    int64_t n = 0;
    int more;

    *size = 0;
    memset(&op, 0, sizeof op);
    while ((more = cmd_bitfield_next(c, &i, &op)) > 0) {
        n++;
        if (op.what != CMD_BITFIELD_GET)
            *size = RLT_MAX(*size, (size_t)((op.at + op.bits - 1) >> 3) + 1);
    }
    return more < 0 ? -1 : n;
}

static size_t cmd_bitfield_bound(const rlt_call *c)
{
    cmd_bitfield_op op;
    rlt_call quiet = *c;
    rlt_out nowhere;
    rlt_memory none;
    size_t size;

    memset(&op, 0, sizeof op);
    memset(&none, 0, sizeof none);
    rlt_out_init(&nowhere, none, 0);
    nowhere.failed = 1;
    quiet.out = &nowhere;
    if (cmd_bitfield_check(&quiet, &size) < 0)
        return 0;
    return rlt_cmd_bits_cost(c, size);
}

/* ----------------------------------------------------------------- integers */

static uint64_t cmd_bitfield_mask(int bits)
{
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static int64_t cmd_bitfield_signed(uint64_t v, int bits)
{
    uint64_t high = UINT64_C(1) << (bits - 1);

    if (v & high)
        return -1 - (int64_t)(~v & cmd_bitfield_mask(bits));
    return (int64_t)(v & cmd_bitfield_mask(bits));
}

static uint64_t cmd_bitfield_load(relet_span s, int64_t at, int bits)
{
    uint64_t v = 0;
    int64_t i;

    for (i = at; i < at + bits; i++) {
        size_t byte = (size_t)(i >> 3);
        int bit = byte < s.n ? (unsigned char)s.p[byte] >> (7 - (i & 7)) : 0;

        v = v << 1 | (uint64_t)(bit & 1);
    }
    return v;
}

static void cmd_bitfield_store(char *p, int64_t at, int bits, uint64_t v)
{
    int64_t i;

    for (i = at + bits - 1; i >= at; i--, v >>= 1) {
        int bit = 1 << (7 - (i & 7));

        p[i >> 3] = (char)(v & 1 ? p[i >> 3] | bit : p[i >> 3] & ~bit);
    }
}

/* a - b, as a machine counts that does not mind. */
static int64_t cmd_bitfield_minus(int64_t a, int64_t b)
{
    uint64_t v = (uint64_t)a - (uint64_t)b;

    return v <= INT64_MAX ? (int64_t)v : -1 - (int64_t)~v;
}

/* v + by within a type without sign: -1 too low, 1 too high, 0 right. A
 * negative v stands for a huge one. */
static int cmd_bitfield_outside_unsigned(int bits, int64_t v, int64_t by)
{
    int64_t max = (int64_t)cmd_bitfield_mask(bits);

    if (v < 0 || v > max || (by > 0 && by > max - v))
        return 1;
    return by < 0 && by < -v ? -1 : 0;
}

/* The room above and below v is computed before v is known to be right, as
 * servers do it; so a value far too low can count as too high. */
static int cmd_bitfield_outside_signed(int bits, int64_t v, int64_t by)
{
    int64_t max = (int64_t)(cmd_bitfield_mask(bits) >> 1), min = -1 - max;
    int64_t above = cmd_bitfield_minus(max, v);
    int64_t below = cmd_bitfield_minus(min, v);

    if (v > max || (bits != 64 && by > above) ||
        (v >= 0 && by > 0 && by > above))
        return 1;
    if (v < min || (bits != 64 && by < below) ||
        (v < 0 && by < 0 && by < below))
        return -1;
    return 0;
}

static int cmd_bitfield_outside(const cmd_bitfield_op *op, int64_t v,
                                int64_t by)
{
    return op->is_signed ? cmd_bitfield_outside_signed(op->bits, v, by)
                         : cmd_bitfield_outside_unsigned(op->bits, v, by);
}

/* What the field becomes when it cannot hold the sum. */
static uint64_t cmd_bitfield_bent(const cmd_bitfield_op *op, uint64_t sum,
                                  int outside)
{
    uint64_t mask = cmd_bitfield_mask(op->bits);
    uint64_t high = op->is_signed ? mask >> 1 : mask;

    if (op->over == CMD_BITFIELD_SAT)
        return outside > 0 ? high : op->is_signed ? high + 1 : 0;
    return sum & mask;
}

static int64_t cmd_bitfield_value(const cmd_bitfield_op *op, uint64_t raw)
{
    return op->is_signed ? cmd_bitfield_signed(raw, op->bits)
                         : (int64_t)raw;
}

/* Runs one that writes; 1 when the string is another than before. */
static int cmd_bitfield_write(rlt_call *c, rlt_obj *o,
                              const cmd_bitfield_op *op)
{
    uint64_t was = cmd_bitfield_load(rlt_obj_span(o), op->at, op->bits), now;
    int64_t old = cmd_bitfield_value(op, was);
    int is_incr = op->what == CMD_BITFIELD_INCR, outside;

    if (is_incr) {
        outside = cmd_bitfield_outside(op, old, op->value);
        now = (uint64_t)old + (uint64_t)op->value;
    } else {
        outside = cmd_bitfield_outside(op, op->value, 0);
        now = (uint64_t)op->value;
    }
    if (outside && op->over == CMD_BITFIELD_FAIL) {
        rlt_out_null(c->out);
        return 0;
    }
    now = outside ? cmd_bitfield_bent(op, now, outside)
                  : now & cmd_bitfield_mask(op->bits);
    rlt_out_int(c->out, is_incr ? cmd_bitfield_value(op, now) : old);
    cmd_bitfield_store(o->of.str->p, op->at, op->bits, now);
    return now != was;
}

static void cmd_bitfield_run(rlt_call *c, rlt_obj *o, int64_t n, int grown)
{
    relet_span s;
    cmd_bitfield_op op;
    uint32_t i = 2;
    int64_t changes = 0;

    memset(&op, 0, sizeof op);
    rlt_out_array(c->out, (size_t)n);
    while (cmd_bitfield_next(c, &i, &op) > 0) {
        s = o ? rlt_obj_span(o) : relet_str("");
        if (op.what == CMD_BITFIELD_GET)
            rlt_out_int(c->out, cmd_bitfield_value(
                                    &op, cmd_bitfield_load(s, op.at,
                                                           op.bits)));
        else if (cmd_bitfield_write(c, o, &op) || grown)
            changes++;
    }
    if (changes > 0) {
        rlt_call_changed(c, c->argv[1], RLT_EVENT_STRING, "setbit");
        c->dirty += changes - 1;
    }
}

static void cmd_bitfield_bitfield(rlt_call *c)
{
    size_t size;
    int64_t n = cmd_bitfield_check(c, &size);
    int grown = 0;
    rlt_obj *o;

    if (n < 0)
        return;
    if (size == 0) {
        if (!rlt_call_read(c, 1, RLT_OBJ_STRING, &o))
            return;
    } else if (c->command->flags & RLT_CMD_READONLY) {
        rlt_call_error(c, "ERR BITFIELD_RO only supports the GET subcommand");
        return;
    } else {
        o = rlt_cmd_bits_grow(c, size, &grown);
        if (o == NULL)
            return;
    }
    cmd_bitfield_run(c, o, n, grown);
}

static const rlt_command cmd_bitfield_rows[] = {
    {"bitfield", cmd_bitfield_bitfield, -2,
     RLT_CMD_WRITE | RLT_CMD_DENYOOM, 1, 1, 1, 0, 0, cmd_bitfield_bound,
     NULL},
    {"bitfield_ro", cmd_bitfield_bitfield, -2,
     RLT_CMD_READONLY | RLT_CMD_FAST, 1, 1, 1, 0, 0, NULL, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_bitfield_rows(size_t *n)
{
    *n = sizeof cmd_bitfield_rows / sizeof *cmd_bitfield_rows;
    return cmd_bitfield_rows;
}
