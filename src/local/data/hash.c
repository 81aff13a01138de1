/* SPDX-License-Identifier: MIT
 *
 * hash.c - fields with values, in the order in which fields were added.
 */
#include "hash.h"

RELET_PRIVATE void rlt_hash_init(rlt_hash *h)
{
    memset(h, 0, sizeof *h);
}

RELET_PRIVATE void rlt_hash_clear(rlt_hash *h, rlt_pool *pool)
{
    rlt_entry *e;

    for (e = h->fields.first; e; e = e->next)
        rlt_str_free(pool, (rlt_str *)e->value.p);
    rlt_dict_clear(&h->fields, pool);
    rlt_hash_init(h);
}

RELET_PRIVATE rlt_entry *rlt_hash_find(const rlt_hash *h, relet_span field)
{
    return rlt_dict_find(&h->fields, field);
}

RELET_PRIVATE relet_span rlt_hash_value(const rlt_entry *e)
{
    return rlt_str_span((const rlt_str *)e->value.p);
}

RELET_PRIVATE int rlt_hash_set(rlt_hash *h, rlt_pool *pool, relet_span field,
                               relet_span value)
{
    rlt_entry *e = rlt_hash_find(h, field);
    int is_new = e == NULL;
    rlt_str *copy = rlt_str_new(pool, value);

    if (is_new)
        e = rlt_dict_add(&h->fields, pool, field);
    else
        rlt_str_free(pool, (rlt_str *)e->value.p);
    e->value.p = copy;
    if (h->fields.count > RLT_HASH_SMALL || field.n > RLT_HASH_SMALL_BYTES ||
        value.n > RLT_HASH_SMALL_BYTES)
        h->large = 1;
    return is_new;
}

RELET_PRIVATE void rlt_hash_remove(rlt_hash *h, rlt_pool *pool, rlt_entry *e)
{
    rlt_str_free(pool, (rlt_str *)e->value.p);
    rlt_dict_remove(&h->fields, pool, e);
}
