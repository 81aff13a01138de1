/* SPDX-License-Identifier: MIT
 *
 * set.c - a set of byte strings.
 */
#include "set.h"

RELET_PRIVATE void rlt_set_init(rlt_set *s)
{
    memset(s, 0, sizeof *s);
}

RELET_PRIVATE void rlt_set_clear(rlt_set *s, rlt_pool *pool)
{
    rlt_dict_clear(&s->members, pool);
    rlt_set_init(s);
}

RELET_PRIVATE rlt_entry *rlt_set_find(const rlt_set *s, relet_span member)
{
    return rlt_dict_find(&s->members, member);
}

/* Searches from the end, since integers are mostly added in ascending order. */
static void set_place(rlt_set *s, rlt_entry *e)
{
    rlt_entry *before = NULL, *at = e->back;

    for (; at && at->value.i > e->value.i; at = at->back)
        before = at;
    if (before)
        rlt_dict_place(&s->members, e, before);
}

RELET_PRIVATE int rlt_set_add(rlt_set *s, rlt_pool *pool, relet_span member)
{
    rlt_entry *e;
    int64_t v = 0;

    if (rlt_set_find(s, member))
        return 0;
    e = rlt_dict_add(&s->members, pool, member);
    if (s->large)
        return 1;
    if (!rlt_str_int(member, &v) || s->members.count > RLT_SET_INTS)
        s->large = 1;
    e->value.i = v;
    if (!s->large)
        set_place(s, e);
    return 1;
}

RELET_PRIVATE void rlt_set_remove(rlt_set *s, rlt_pool *pool, rlt_entry *e)
{
    rlt_dict_remove(&s->members, pool, e);
}
