/* SPDX-License-Identifier: MIT
 *
 * str.c - strings of bytes in the pool.
 */
#include "str.h"
#include "text.h"

static size_t str_block(size_t room)
{
    return offsetof(rlt_str, p) + RLT_MAX(room, 1);
}

static rlt_str *str_take(rlt_pool *pool, size_t n, size_t room)
{
    rlt_str *s;

    rlt_assert(room >= n);
    rlt_assert(room <= UINT32_MAX);
    s = (rlt_str *)rlt_pool_get(pool, str_block(room));
    s->n = (uint32_t)n;
    s->room = (uint32_t)room;
    return s;
}

RELET_PRIVATE rlt_str *rlt_str_blank(rlt_pool *pool, size_t n)
{
    return str_take(pool, n, n);
}

RELET_PRIVATE rlt_str *rlt_str_new(rlt_pool *pool, relet_span s)
{
    rlt_str *copy = rlt_str_blank(pool, s.n);

    if (s.n > 0)
        memcpy(copy->p, s.p, s.n);
    return copy;
}

RELET_PRIVATE void rlt_str_free(rlt_pool *pool, rlt_str *s)
{
    if (s)
        rlt_pool_put(pool, s, str_block(s->room));
}

RELET_PRIVATE rlt_str *rlt_str_resize(rlt_pool *pool, rlt_str *s, size_t n)
{
    rlt_str *bigger = s;

    /* Half as much again, so that appending bytes one by one copies each only
     * a few times. */
    if (n > s->room) {
        bigger = str_take(pool, n, RLT_MIN(n + n / 2, UINT32_MAX));
        memcpy(bigger->p, s->p, s->n);
        bigger->n = s->n;
        rlt_str_free(pool, s);
    }
    if (n > bigger->n)
        memset(bigger->p + bigger->n, 0, n - bigger->n);
    bigger->n = (uint32_t)n;
    return bigger;
}

RELET_PRIVATE relet_span rlt_str_span(const rlt_str *s)
{
    relet_span span;

    span.p = s->p;
    span.n = s->n;
    return span;
}

RELET_PRIVATE size_t rlt_str_size(const rlt_str *s)
{
    return str_block(s->room);
}

RELET_PRIVATE int rlt_str_compare(relet_span a, relet_span b)
{
    size_t n = RLT_MIN(a.n, b.n);
    int order = n > 0 ? memcmp(a.p, b.p, n) : 0;

    return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

RELET_PRIVATE int rlt_str_int(relet_span s, int64_t *out)
{
    size_t minus = s.n > 0 && s.p[0] == '-';

    if (s.n == 0 || s.p[0] == '+')
        return 0;
    if (s.n > 1 && s.p[minus] == '0')
        return 0;
    return rlt_text_int(s.p, s.n, out);
}
