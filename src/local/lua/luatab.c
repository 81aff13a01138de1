/* SPDX-License-Identifier: MIT
 *
 * luatab.c - tables: an array part, and nodes that are chained in place.
 *
 * A key belongs to the node that its hash names. If another key that belongs
 * there has the node, the new key goes to a free node and into the chain; a key
 * that does not belong there is moved away instead. When no node is free, the
 * table gets new sizes: the array takes the largest power of two of which more
 * than half would be in use. Scripts see all of this in #t and in the order of
 * pairs(), so it is done as in Lua 5.1. */
#include "luaval.h"

#define LUATAB_BITS 26 /* log2 of the longest array part                     */

static const rlt_luaval luatab_nothing = {{0}, RLT_LUA_NIL};

RELET_PRIVATE rlt_luatab *rlt_luatab_new(rlt_luamem *m, uint32_t array,
                                         uint32_t nodes)
{
    rlt_luatab *t = (rlt_luatab *)rlt_luamem_get(m, sizeof *t);
    rlt_luaval *fresh = NULL;
    uint32_t i, n;

    if (t == NULL)
        return NULL;
    memset(t, 0, sizeof *t);
    if (array > 0) {
        fresh = (rlt_luaval *)rlt_luamem_get(m, array * sizeof *fresh);
        if (fresh == NULL)
            return NULL;
        for (i = 0; i < array; i++)
            fresh[i] = luatab_nothing;
        t->array = fresh;
        t->array_n = array;
    }
    if (nodes > 0) {
        for (n = 1; n < nodes; n *= 2)
            ;
        t->nodes = (rlt_luanode *)rlt_luamem_get(m, n * sizeof *t->nodes);
        if (t->nodes == NULL)
            return NULL;
        memset(t->nodes, 0, n * sizeof *t->nodes);
        t->nodes_n = n;
        t->free = t->nodes + n;
    }
    return t;
}

static rlt_luanode *luatab_node_number(const rlt_luatab *t, double n)
{
    uint64_t u;

    if (n == 0)
        return t->nodes;
    memcpy(&u, &n, sizeof u);
    return t->nodes + ((uint32_t)u + (uint32_t)(u >> 32)) %
                          ((t->nodes_n - 1) | 1);
}

/* The hash of a key that is a table or a function: by its serial number, or by
 * its name if it is built in. Servers use the address, but then the order of
 * pairs() differs from run to run. */
static uint32_t luatab_address(const rlt_luaval *key)
{
    uint32_t n;

    if (key->type == RLT_LUA_TABLE)
        n = key->u.t->serial;
    else if (key->type == RLT_LUA_CLOSURE)
        n = key->u.f->serial;
    else
        n = rlt_luastr_hash(key->u.b->name, strlen(key->u.b->name));
    return (n >> 4 ^ n >> 20) + n;
}

/* The node a key belongs to; there is at least one node. */
static rlt_luanode *luatab_node(const rlt_luatab *t, const rlt_luaval *key)
{
    switch (key->type) {
    case RLT_LUA_NUMBER:
        return luatab_node_number(t, key->u.n);
    case RLT_LUA_STRING:
        return t->nodes + (key->u.s->hash & (t->nodes_n - 1));
    case RLT_LUA_FALSE:
    case RLT_LUA_TRUE:
        return t->nodes + ((key->type == RLT_LUA_TRUE) & (t->nodes_n - 1));
    case RLT_LUA_NIL:
    case RLT_LUA_TABLE:
    case RLT_LUA_CLOSURE:
    case RLT_LUA_BUILTIN:
        break;
    }
    return t->nodes + luatab_address(key) % ((t->nodes_n - 1) | 1);
}

/* The place in an array that a number names: 1 … 2^26, or 0. */
static uint32_t luatab_index(double n)
{
    uint32_t i;

    if (!(n >= 1 && n <= (double)((uint32_t)1 << LUATAB_BITS)))
        return 0;
    i = (uint32_t)n;
    return (double)i == n ? i : 0;
}

RELET_PRIVATE const rlt_luaval *rlt_luatab_get_str(const rlt_luatab *t,
                                                   const rlt_luastr *key)
{
    const rlt_luanode *n;

    if (t->nodes_n == 0)
        return &luatab_nothing;
    for (n = t->nodes + (key->hash & (t->nodes_n - 1)); n; n = n->next)
        if (n->key.type == RLT_LUA_STRING && rlt_luastr_same(n->key.u.s, key))
            return &n->value;
    return &luatab_nothing;
}

RELET_PRIVATE const rlt_luaval *rlt_luatab_get_text(const rlt_luatab *t,
                                                    const char *key)
{
    rlt_luastr s;

    s.p = key;
    s.n = (uint32_t)strlen(key);
    rlt_luastr_seal(&s);
    return rlt_luatab_get_str(t, &s);
}

static const rlt_luaval *luatab_find(const rlt_luatab *t,
                                     const rlt_luaval *key)
{
    const rlt_luanode *n = t->nodes_n > 0 ? luatab_node(t, key) : NULL;

    for (; n; n = n->next)
        if (rlt_luaval_same(&n->key, key))
            return &n->value;
    return &luatab_nothing;
}

RELET_PRIVATE const rlt_luaval *rlt_luatab_get_int(const rlt_luatab *t,
                                                   int64_t key)
{
    rlt_luaval v;

    if (key >= 1 && key <= (int64_t)t->array_n)
        return &t->array[key - 1];
    v = rlt_luaval_number((double)key);
    return luatab_find(t, &v);
}

RELET_PRIVATE const rlt_luaval *rlt_luatab_get(const rlt_luatab *t,
                                               const rlt_luaval *key)
{
    uint32_t i;

    if (key->type == RLT_LUA_STRING)
        return rlt_luatab_get_str(t, key->u.s);
    if (key->type == RLT_LUA_NIL)
        return &luatab_nothing;
    if (key->type == RLT_LUA_NUMBER) {
        i = luatab_index(key->u.n);
        if (i > 0 && i <= t->array_n)
            return &t->array[i - 1];
    }
    return luatab_find(t, key);
}

/* ------------------------------------------------------------- growing */

/* How many integer keys there are between 2^(i-1) + 1 and 2^i. */
typedef struct luatab_census {
    uint32_t by_size[LUATAB_BITS + 1];
    uint32_t integers, all;
} luatab_census;

static void luatab_count(luatab_census *c, const rlt_luaval *key)
{
    uint32_t i = key->type == RLT_LUA_NUMBER ? luatab_index(key->u.n) : 0;
    uint32_t size;

    c->all++;
    if (i == 0)
        return;
    for (size = 0; (uint32_t)1 << size < i; size++)
        ;
    c->by_size[size]++;
    c->integers++;
}

static void luatab_count_array(luatab_census *c, const rlt_luatab *t)
{
    uint32_t size, i = 1, top;

    for (size = 0; i <= t->array_n; size++) {
        top = RLT_MIN((uint32_t)1 << size, t->array_n);
        for (; i <= top; i++) {
            if (t->array[i - 1].type == RLT_LUA_NIL)
                continue;
            c->by_size[size]++;
            c->integers++;
            c->all++;
        }
    }
}

/* The largest size of the array of which more than half is in use; *inside: how
 * many elements are in use. */
static uint32_t luatab_best(const luatab_census *c, uint32_t *inside)
{
    uint32_t size, sum = 0, best = 0;

    *inside = 0;
    for (size = 0; size <= LUATAB_BITS; size++) {
        uint32_t n = (uint32_t)1 << size;

        if (n / 2 >= c->integers)
            break;
        sum += c->by_size[size];
        if (c->by_size[size] > 0 && sum > n / 2) {
            best = n;
            *inside = sum;
        }
    }
    return best;
}

static rlt_luaval *luatab_insert(rlt_luatab *t, const rlt_luaval *key);

/* Inserts into a table that is large enough by construction. */
static void luatab_put(rlt_luatab *t, const rlt_luaval *key,
                       const rlt_luaval *value)
{
    uint32_t i = key->type == RLT_LUA_NUMBER ? luatab_index(key->u.n) : 0;
    rlt_luaval *slot;

    if (i > 0 && i <= t->array_n)
        slot = &t->array[i - 1];
    else
        slot = luatab_insert(t, key);
    rlt_assert(slot != NULL);
    *slot = *value;
}

/* Gives both parts new sizes. Scripts could notice an array that is larger than
 * asked for, so both parts are allocated before any old part is given up. */
static int luatab_resize(rlt_luamem *m, rlt_luatab *t, uint32_t array,
                         uint32_t nodes)
{
    rlt_luatab old = *t, *fresh;
    rlt_luaval key;
    uint32_t i, keep = RLT_MIN(array, old.array_n);
    int same_array = array == old.array_n;

    fresh = rlt_luatab_new(m, same_array ? 0 : array, nodes);
    if (fresh == NULL)
        return 0;
    t->nodes = fresh->nodes;
    t->nodes_n = fresh->nodes_n;
    t->free = fresh->free;
    if (!same_array) {
        t->array = fresh->array;
        t->array_n = array;
        if (keep > 0)
            memcpy(t->array, old.array, keep * sizeof *t->array);
    }
    for (i = keep; i < old.array_n; i++) {
        key = rlt_luaval_number((double)i + 1);
        if (old.array[i].type != RLT_LUA_NIL)
            luatab_put(t, &key, &old.array[i]);
    }
    for (i = old.nodes_n; i > 0; i--)
        if (old.nodes[i - 1].value.type != RLT_LUA_NIL)
            luatab_put(t, &old.nodes[i - 1].key, &old.nodes[i - 1].value);
    return 1;
}

static int luatab_grow(rlt_luamem *m, rlt_luatab *t, const rlt_luaval *key)
{
    luatab_census c;
    uint32_t i, array, inside;

    memset(&c, 0, sizeof c);
    luatab_count_array(&c, t);
    for (i = 0; i < t->nodes_n; i++)
        if (t->nodes[i].value.type != RLT_LUA_NIL)
            luatab_count(&c, &t->nodes[i].key);
    luatab_count(&c, key);
    array = luatab_best(&c, &inside);
    return luatab_resize(m, t, array, c.all - inside);
}

RELET_PRIVATE int rlt_luatab_reserve(rlt_luamem *m, rlt_luatab *t, uint32_t n)
{
    return n <= t->array_n || luatab_resize(m, t, n, t->nodes_n);
}

static rlt_luanode *luatab_free_node(rlt_luatab *t)
{
    while (t->free > t->nodes) {
        t->free--;
        if (t->free->key.type == RLT_LUA_NIL)
            return t->free;
    }
    return NULL;
}

/* The key that sits in `at` belongs elsewhere: it moves to `spare`. */
static void luatab_evict(rlt_luanode *home, rlt_luanode *at,
                         rlt_luanode *spare)
{
    while (home->next != at)
        home = home->next;
    home->next = spare;
    *spare = *at;
    at->next = NULL;
    at->value.type = RLT_LUA_NIL;
}

/* A node for a key that has none; NULL when all are taken. */
static rlt_luaval *luatab_insert(rlt_luatab *t, const rlt_luaval *key)
{
    rlt_luanode *at, *spare, *home;

    if (t->nodes_n == 0)
        return NULL;
    at = luatab_node(t, key);
    if (at->value.type != RLT_LUA_NIL) {
        spare = luatab_free_node(t);
        if (spare == NULL)
            return NULL;
        home = luatab_node(t, &at->key);
        if (home != at) {
            luatab_evict(home, at, spare);
        } else {
            spare->next = at->next;
            at->next = spare;
            at = spare;
        }
    }
    at->key = *key;
    return &at->value;
}

/* The address is ours to write to; only the look-up is const. */
static rlt_luaval *luatab_writable(const rlt_luatab *t, const rlt_luaval *v)
{
    const char *p = (const char *)v, *nodes = (const char *)t->nodes;

    return &t->nodes[(size_t)(p - nodes) / sizeof *t->nodes].value;
}

RELET_PRIVATE rlt_luaval *rlt_luatab_global(const rlt_luatab *t,
                                            const char *key)
{
    return luatab_writable(t, rlt_luatab_get_text(t, key));
}

/* The place of the key's value, or a new node for the key; NULL: the table has
 * to grow. */
static rlt_luaval *luatab_slot(rlt_luatab *t, const rlt_luaval *key)
{
    const rlt_luaval *found;
    uint32_t i = key->type == RLT_LUA_NUMBER ? luatab_index(key->u.n) : 0;

    if (i > 0 && i <= t->array_n)
        return &t->array[i - 1];
    found = rlt_luatab_get(t, key);
    if (found != &luatab_nothing)
        return luatab_writable(t, found);
    return luatab_insert(t, key);
}

RELET_PRIVATE rlt_luaval *rlt_luatab_slot(rlt_luamem *m, rlt_luatab *t,
                                          const rlt_luaval *key)
{
    rlt_luaval *slot = luatab_slot(t, key);

    if (slot)
        return slot;
    return luatab_grow(m, t, key) ? luatab_slot(t, key) : NULL;
}

RELET_PRIVATE rlt_luaval *rlt_luatab_slot_int(rlt_luamem *m, rlt_luatab *t,
                                              int64_t key)
{
    rlt_luaval v;

    if (key >= 1 && key <= (int64_t)t->array_n)
        return &t->array[key - 1];
    v = rlt_luaval_number((double)key);
    return rlt_luatab_slot(m, t, &v);
}

/* --------------------------------------------------------------- walking */

RELET_PRIVATE int64_t rlt_luatab_length(const rlt_luatab *t)
{
    int64_t low = 0, high = (int64_t)t->array_n;

    if (high > 0 && t->array[high - 1].type == RLT_LUA_NIL) {
        while (high - low > 1) {
            int64_t middle = (low + high) / 2;

            if (t->array[middle - 1].type == RLT_LUA_NIL)
                high = middle;
            else
                low = middle;
        }
        return low;
    }
    if (t->nodes_n == 0)
        return high;
    low = high;
    for (high++; rlt_luatab_get_int(t, high)->type != RLT_LUA_NIL; high *= 2)
        low = high;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;

        if (rlt_luatab_get_int(t, middle)->type == RLT_LUA_NIL)
            high = middle;
        else
            low = middle;
    }
    return low;
}

RELET_PRIVATE int rlt_luatab_walk(const rlt_luatab *t, uint32_t *place,
                                  rlt_luaval *key, rlt_luaval *value)
{
    uint32_t i = *place;

    for (; i < t->array_n; i++) {
        if (t->array[i].type == RLT_LUA_NIL)
            continue;
        *key = rlt_luaval_number((double)i + 1);
        *value = t->array[i];
        *place = i + 1;
        return 1;
    }
    for (; i - t->array_n < t->nodes_n; i++) {
        const rlt_luanode *n = &t->nodes[i - t->array_n];

        if (n->value.type == RLT_LUA_NIL)
            continue;
        *key = n->key;
        *value = n->value;
        *place = i + 1;
        return 1;
    }
    *place = i;
    return 0;
}

RELET_PRIVATE int rlt_luatab_place(const rlt_luatab *t, const rlt_luaval *key,
                                   uint32_t *place)
{
    const rlt_luaval *found;
    const char *p;
    uint32_t i = key->type == RLT_LUA_NUMBER ? luatab_index(key->u.n) : 0;

    *place = 0;
    if (key->type == RLT_LUA_NIL)
        return 1;
    *place = i;
    if (i > 0 && i <= t->array_n)
        return 1;
    found = luatab_find(t, key);
    if (found == &luatab_nothing)
        return 0;
    p = (const char *)found;
    *place = t->array_n + 1 +
             (uint32_t)((size_t)(p - (const char *)t->nodes) /
                        sizeof *t->nodes);
    return 1;
}
