/* SPDX-License-Identifier: MIT
 *
 * propagate.c - logs changes as commands that repeat them (effects).
 *
 * If memory runs out, effects are lost and effect_broken is set: the data stays
 * correct, but the effects no longer describe all of it. */
#include "propagate.h"

static void propagate_put(rlt_server *s, const char *p, size_t n)
{
    if (!s->effect_broken && rlt_buf_put(&s->effects, p, n) != 0)
        s->effect_broken = 1;
}

static void propagate_header(rlt_server *s, char type, uint64_t n)
{
    char line[24];
    size_t len;

    line[0] = type;
    len = 1 + rlt_text_put_u64(line + 1, n);
    line[len++] = '\r';
    line[len++] = '\n';
    propagate_put(s, line, len);
}

static void propagate_text(rlt_server *s, relet_span word)
{
    propagate_header(s, '$', word.n);
    propagate_put(s, word.p, word.n);
    propagate_put(s, "\r\n", 2);
}

static int propagate_on(const rlt_server *s)
{
    return s->config.effects && !s->effect_off && !s->effect_broken;
}

RELET_PRIVATE void rlt_propagate_unit(rlt_server *s)
{
    s->effect_unit = rlt_buf_used(&s->effects);
    s->effect_count = 0;
}

static void propagate_select(rlt_server *s, uint32_t db)
{
    char digits[20];
    relet_span number;

    if (s->effect_db == db)
        return;
    s->effect_db = db;
    number.p = digits;
    number.n = rlt_text_put_u64(digits, db);
    propagate_header(s, '*', 2);
    propagate_text(s, relet_str("SELECT"));
    propagate_text(s, number);
}

RELET_PRIVATE void rlt_propagate_begin(rlt_server *s, uint32_t db, size_t words)
{
    rlt_assert(s->effect_left == 0);
    if (!propagate_on(s))
        return;
    propagate_select(s, db);
    propagate_header(s, '*', words);
    s->effect_left = words;
    s->effect_count++;
}

RELET_PRIVATE void rlt_propagate_word(rlt_server *s, relet_span word)
{
    if (s->effect_left == 0)
        return;
    s->effect_left--;
    propagate_text(s, word);
}

/* Moves the unit's effects up, and puts MULTI before and EXEC behind them. */
static void propagate_wrap(rlt_server *s)
{
    static const char begin[] = "*1\r\n$5\r\nMULTI\r\n";
    static const char end[] = "*1\r\n$4\r\nEXEC\r\n";
    size_t n = sizeof begin - 1, used = rlt_buf_used(&s->effects);
    uint8_t *at;

    propagate_put(s, begin, n);
    propagate_put(s, end, sizeof end - 1);
    if (s->effect_broken)
        return;
    at = rlt_buf_head(&s->effects) + s->effect_unit;
    memmove(at + n, at, used - s->effect_unit);
    memcpy(at, begin, n);
}

RELET_PRIVATE void rlt_propagate_unit_end(rlt_server *s)
{
    rlt_assert(s->effect_left == 0);
    if (s->effect_count > 1 && !s->effect_broken)
        propagate_wrap(s);
    s->effect_count = 0;
}
