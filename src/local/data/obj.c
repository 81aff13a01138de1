/* SPDX-License-Identifier: MIT
 *
 * obj.c - the object under a key: one of six types, and its expiry time.
 */
#include "obj.h"

static size_t obj_size(rlt_obj_type type)
{
    size_t of = 0;

    switch (type) {
    case RLT_OBJ_STRING:
        of = sizeof(rlt_str *);
        break;
    case RLT_OBJ_LIST:
        of = sizeof(rlt_list);
        break;
    case RLT_OBJ_SET:
        of = sizeof(rlt_set);
        break;
    case RLT_OBJ_ZSET:
        of = sizeof(rlt_zset);
        break;
    case RLT_OBJ_HASH:
        of = sizeof(rlt_hash);
        break;
    case RLT_OBJ_STREAM:
        of = sizeof(rlt_stream);
        break;
    }
    return offsetof(rlt_obj, of) + of;
}

/* All zero is an empty object of any type. */
RELET_PRIVATE rlt_obj *rlt_obj_new(rlt_pool *pool, rlt_obj_type type)
{
    size_t size = obj_size(type);
    rlt_obj *o = (rlt_obj *)rlt_pool_get(pool, size);

    memset(o, 0, size);
    o->type = type;
    return o;
}

RELET_PRIVATE rlt_obj *rlt_obj_string_of(rlt_pool *pool, rlt_str *s)
{
    rlt_obj *o = rlt_obj_new(pool, RLT_OBJ_STRING);

    o->of.str = s;
    return o;
}

RELET_PRIVATE rlt_obj *rlt_obj_string(rlt_pool *pool, relet_span s)
{
    return rlt_obj_string_of(pool, rlt_str_new(pool, s));
}

RELET_PRIVATE void rlt_obj_free(rlt_pool *pool, rlt_obj *o)
{
    rlt_assert(o->due == NULL);
    switch (o->type) {
    case RLT_OBJ_STRING:
        rlt_str_free(pool, o->of.str);
        break;
    case RLT_OBJ_LIST:
        rlt_list_clear(&o->of.list, pool);
        break;
    case RLT_OBJ_SET:
        rlt_set_clear(&o->of.set, pool);
        break;
    case RLT_OBJ_ZSET:
        rlt_zset_clear(&o->of.zset, pool);
        break;
    case RLT_OBJ_HASH:
        rlt_hash_clear(&o->of.hash, pool);
        break;
    case RLT_OBJ_STREAM:
        rlt_stream_groups_clear(&o->of.stream, pool);
        rlt_stream_clear(&o->of.stream, pool);
        break;
    }
    rlt_pool_put(pool, o, obj_size(o->type));
}

RELET_PRIVATE relet_span rlt_obj_span(const rlt_obj *o)
{
    rlt_assert(o->type == RLT_OBJ_STRING);
    return rlt_str_span(o->of.str);
}

RELET_PRIVATE void rlt_obj_set_string(rlt_pool *pool, rlt_obj *o, rlt_str *s)
{
    rlt_assert(o->type == RLT_OBJ_STRING);
    if (o->of.str != s)
        rlt_str_free(pool, o->of.str);
    o->of.str = s;
}

RELET_PRIVATE uint32_t rlt_obj_count(const rlt_obj *o)
{
    switch (o->type) {
    case RLT_OBJ_STRING:
        return 1;
    case RLT_OBJ_LIST:
        return o->of.list.count;
    case RLT_OBJ_SET:
        return o->of.set.members.count;
    case RLT_OBJ_ZSET:
        return o->of.zset.members.count;
    case RLT_OBJ_HASH:
        return o->of.hash.fields.count;
    case RLT_OBJ_STREAM:
        return rlt_stream_count(&o->of.stream);
    }
    return 0;
}

RELET_PRIVATE int rlt_obj_is_empty(const rlt_obj *o)
{
    return o->type != RLT_OBJ_STREAM && rlt_obj_count(o) == 0;
}

/* ------------------------------------------------------------------- copies */

static void obj_copy_list(rlt_pool *pool, const rlt_list *from, rlt_list *to)
{
    rlt_list_place at = rlt_list_end(from, 0);

    for (; at.chunk; (void)rlt_list_step(&at, 1))
        rlt_list_push(to, pool, rlt_list_get(at), 1);
}

static void obj_copy_set(rlt_pool *pool, const rlt_set *from, rlt_set *to)
{
    const rlt_entry *e;

    to->large = from->large;
    for (e = from->members.first; e; e = e->next)
        (void)rlt_set_add(to, pool, rlt_entry_key(e));
}

static void obj_copy_zset(rlt_pool *pool, const rlt_zset *from, rlt_zset *to)
{
    const rlt_entry *e;

    to->large = from->large;
    for (e = from->members.first; e; e = e->next)
        (void)rlt_zset_add(to, pool, rlt_entry_key(e),
                           ((const rlt_zset_item *)e->value.p)->score);
}

static void obj_copy_hash(rlt_pool *pool, const rlt_hash *from, rlt_hash *to)
{
    const rlt_entry *e;

    to->large = from->large;
    for (e = from->fields.first; e; e = e->next)
        (void)rlt_hash_set(to, pool, rlt_entry_key(e), rlt_hash_value(e));
}

RELET_PRIVATE rlt_obj *rlt_obj_copy(rlt_pool *pool, const rlt_obj *o)
{
    rlt_obj *copy;

    if (o->type == RLT_OBJ_STRING)
        return rlt_obj_string(pool, rlt_obj_span(o));
    copy = rlt_obj_new(pool, o->type);
    switch (o->type) {
    case RLT_OBJ_STRING:
        break;
    case RLT_OBJ_LIST:
        obj_copy_list(pool, &o->of.list, &copy->of.list);
        break;
    case RLT_OBJ_SET:
        obj_copy_set(pool, &o->of.set, &copy->of.set);
        break;
    case RLT_OBJ_ZSET:
        obj_copy_zset(pool, &o->of.zset, &copy->of.zset);
        break;
    case RLT_OBJ_HASH:
        obj_copy_hash(pool, &o->of.hash, &copy->of.hash);
        break;
    case RLT_OBJ_STREAM:
        rlt_stream_copy(&o->of.stream, pool, &copy->of.stream);
        rlt_stream_groups_copy(&o->of.stream, pool, &copy->of.stream);
        break;
    }
    return copy;
}

static size_t obj_list_cost(const rlt_list *l)
{
    rlt_list_place at = rlt_list_end(l, 0);
    size_t cost = 0;

    for (; at.chunk; (void)rlt_list_step(&at, 1))
        cost += RLT_LIST_COST(rlt_list_get(at).n);
    return cost;
}

/* Memory to promise for the entries of a dict, with `more` for each, and for
 * the values if they are strings. */
static size_t obj_dict_cost(const rlt_dict *d, size_t more, int strings)
{
    const rlt_entry *e;
    size_t cost = 0;

    for (e = d->first; e; e = e->next) {
        cost += RLT_DICT_COST(e->len) + more;
        if (strings)
            cost += RLT_STR_COST(rlt_hash_value(e).n);
    }
    return cost;
}

RELET_PRIVATE size_t rlt_obj_copy_cost(const rlt_obj *o)
{
    switch (o->type) {
    case RLT_OBJ_STRING:
        return RLT_OBJ_COST + RLT_STR_COST(rlt_obj_span(o).n);
    case RLT_OBJ_LIST:
        return RLT_OBJ_COST + obj_list_cost(&o->of.list);
    case RLT_OBJ_SET:
        return RLT_OBJ_COST + obj_dict_cost(&o->of.set.members, 0, 0);
    case RLT_OBJ_ZSET:
        return RLT_OBJ_COST +
               obj_dict_cost(&o->of.zset.members,
                             RLT_POOL_COST(sizeof(rlt_zset_item)), 0);
    case RLT_OBJ_HASH:
        return RLT_OBJ_COST + obj_dict_cost(&o->of.hash.fields, 0, 1);
    case RLT_OBJ_STREAM:
        return RLT_OBJ_COST + rlt_stream_copy_cost(&o->of.stream) +
               rlt_stream_groups_copy_cost(&o->of.stream);
    }
    return 0;
}

/* -------------------------------------------------------------------- names */

RELET_PRIVATE const char *rlt_obj_type_name(rlt_obj_type type)
{
    switch (type) {
    case RLT_OBJ_STRING:
        return "string";
    case RLT_OBJ_LIST:
        return "list";
    case RLT_OBJ_SET:
        return "set";
    case RLT_OBJ_ZSET:
        return "zset";
    case RLT_OBJ_HASH:
        return "hash";
    case RLT_OBJ_STREAM:
        return "stream";
    }
    return "none";
}
