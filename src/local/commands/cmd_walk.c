/* SPDX-License-Identifier: MIT
 *
 * cmd_walk.c - parts of an object: HSCAN and its like, and random elements.
 */
#include "cmd_walk.h"

/* --------------------------------------------------------------------- scan */

RELET_PRIVATE const rlt_entry *rlt_cmd_walk_order(const rlt_entry *e)
{
    return e->next;
}

RELET_PRIVATE void rlt_cmd_walk_scan_none(rlt_call *c)
{
    rlt_out_array(c->out, 2);
    rlt_out_text(c->out, "0");
    rlt_out_array(c->out, 0);
}

/* Visits one entry: writes it if `tell`; 1 when it matches. */
static uint32_t walk_pass(rlt_call *c, const rlt_cmd_walk *w,
                          const rlt_call_scan *s, const rlt_entry *e, int tell)
{
    if (s->match.p != NULL &&
        !rlt_call_glob(s->match, rlt_entry_key(e), 0))
        return 0;
    if (tell)
        w->tell(c, e);
    return 1;
}

static uint32_t walk_all(rlt_call *c, const rlt_cmd_walk *w,
                         const rlt_call_scan *s, int tell)
{
    const rlt_entry *e;
    uint32_t n = 0;

    for (e = w->first; e; e = w->next(e))
        n += walk_pass(c, w, s, e, tell);
    return n;
}

static uint32_t walk_some(rlt_call *c, const rlt_cmd_walk *w,
                          const rlt_call_scan *s, uint64_t *cursor, int tell)
{
    int64_t steps = s->count > INT64_MAX / 10 ? INT64_MAX : s->count * 10;
    uint32_t n = 0;
    rlt_entry *e;

    do {
        *cursor = rlt_dict_scan(w->dict, *cursor, &e);
        for (; e; e = rlt_dict_scan_next(w->dict, e))
            n += walk_pass(c, w, s, e, tell);
    } while (*cursor != 0 && --steps > 0 &&
             (int64_t)n * w->words < s->count);
    return n;
}

/* In the reply the new cursor comes before the entries that moved it. So the
 * walk is made twice, and writes the entries the second time. */
RELET_PRIVATE void rlt_cmd_walk_scan(rlt_call *c, const rlt_cmd_walk *w,
                                     rlt_call_scan *s)
{
    uint64_t at = s->cursor;
    char text[20];
    relet_span cursor;
    uint32_t n;

    if (!rlt_call_scan_options(c, 3, s, 0))
        return;
    if (w->next)
        at = 0;
    n = w->next ? walk_all(c, w, s, 0) : walk_some(c, w, s, &at, 0);
    cursor.p = text;
    cursor.n = rlt_text_put_u64(text, at);
    rlt_out_array(c->out, 2);
    rlt_out_bulk(c->out, cursor);
    rlt_out_array(c->out, (size_t)n * w->words);
    at = s->cursor;
    if (w->next)
        (void)walk_all(c, w, s, 1);
    else
        (void)walk_some(c, w, s, &at, 1);
}

/* ------------------------------------------------------------------ drawing */

#define WALK_FEW 32 /* drawn again until all differ */

static void walk_draw_few(rlt_call *c, const rlt_dict *d,
                          rlt_cmd_walk_fn *tell, uint32_t count)
{
    const rlt_entry *drawn[WALK_FEW];
    uint32_t n = 0, i;

    while (n < count) {
        drawn[n] = rlt_dict_random(d, c->rand);
        for (i = 0; drawn[i] != drawn[n]; i++)
            ;
        if (i == n)
            tell(c, drawn[n++]);
    }
}

/* Each entry is taken with the chance count / left, which fills the count. */
static void walk_draw_many(rlt_call *c, const rlt_dict *d,
                           rlt_cmd_walk_fn *tell, uint32_t count)
{
    const rlt_entry *e;
    uint32_t left = d->count;

    for (e = d->first; count > 0; e = e->next, left--) {
        if (rlt_rand_below(c->rand, left) >= count)
            continue;
        tell(c, e);
        count--;
    }
}

RELET_PRIVATE void rlt_cmd_walk_draw(rlt_call *c, const rlt_dict *d,
                                     rlt_cmd_walk_fn *tell, int64_t count)
{
    uint32_t n;

    for (; count < 0 && !c->out->failed; count++)
        tell(c, rlt_dict_random(d, c->rand));
    if (count <= 0)
        return;
    n = count < d->count ? (uint32_t)count : d->count;
    if (n <= WALK_FEW && n <= d->count / 2)
        walk_draw_few(c, d, tell, n);
    else
        walk_draw_many(c, d, tell, n);
}

RELET_PRIVATE int rlt_cmd_walk_draw_words(rlt_call *c, const char *with,
                                          int64_t *count, int *one,
                                          int *with_values)
{
    *count = 1;
    *one = c->argc == 2;
    *with_values = c->argc == 4;
    if (*one)
        return 1;
    if (!rlt_call_between(c, 2, -INT64_MAX, INT64_MAX, count, NULL))
        return 0;
    if (c->argc > 4 || (c->argc == 4 && !rlt_call_is(c, 3, with))) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return 0;
    }
    if (*with_values &&
        (*count < -(INT64_MAX / 2) || *count > INT64_MAX / 2)) {
        rlt_call_error(c, "ERR value is out of range");
        return 0;
    }
    return 1;
}

/* ------------------------------------------------------------- several keys */

static int walk_end(rlt_call *c, uint32_t i, const char *const ends[2],
                    int *end)
{
    for (*end = 0; *end < 2; ++*end)
        if (rlt_call_is(c, i, ends[*end]))
            return 1;
    rlt_call_error(c, RLT_ERR_SYNTAX);
    return 0;
}

static int walk_count(rlt_call *c, uint32_t i, int64_t *count)
{
    int given = 0;

    for (; i < c->argc; i += 2, given = 1) {
        if (given || i + 1 == c->argc || !rlt_call_is(c, i, "count")) {
            rlt_call_error(c, RLT_ERR_SYNTAX);
            return 0;
        }
        if (!rlt_call_between(c, i + 1, 1, INT64_MAX, count,
                              "ERR count should be greater than 0"))
            return 0;
    }
    return 1;
}

RELET_PRIVATE int rlt_cmd_walk_many(rlt_call *c, uint32_t i,
                                    const char *const ends[2],
                                    rlt_cmd_walk_keys *k)
{
    int64_t n;

    if (!rlt_call_between(c, i, 1, INT64_MAX, &n,
                          "ERR numkeys should be greater than 0"))
        return 0;
    if (n >= (int64_t)(c->argc - i - 1)) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return 0;
    }
    k->first = i + 1;
    k->n = (uint32_t)n;
    k->count = 1;
    i = k->first + k->n;
    return walk_end(c, i, ends, &k->end) && walk_count(c, i + 1, &k->count);
}

RELET_PRIVATE int rlt_cmd_walk_is_on(const rlt_call *c, uint32_t i)
{
    return c->woken == NULL || rlt_span_same(c->argv[i], *c->woken);
}
