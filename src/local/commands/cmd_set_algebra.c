/* SPDX-License-Identifier: MIT
 *
 * cmd_set_algebra.c - SINTER, SUNION, SDIFF and their variants.
 *
 * The members of the result are gathered first, as pointers into the source
 * sets; then they are replied, or copied into a new set.
 */
#include "cmd_set.h"

typedef enum set_algebra_op {
    SET_ALGEBRA_INTER,
    SET_ALGEBRA_UNION,
    SET_ALGEBRA_DIFF
} set_algebra_op;

typedef struct set_algebra {
    const rlt_set **sets; /* NULL for a missing key                          */
    uint32_t n, empty;    /* how many; how many of them are NULL             */
    const rlt_entry **found;
    uint32_t count;
    uint32_t max; /* gather no more members                                  */
} set_algebra;

/* The sets under argv[from], n of them. 0: an error was replied. */
static int set_algebra_read(rlt_call *c, set_algebra *a, uint32_t from,
                            uint32_t n)
{
    rlt_obj *o;
    uint32_t i;

    memset(a, 0, sizeof *a);
    a->sets = (const rlt_set **)rlt_call_scratch(c, n * sizeof(rlt_set *));
    if (a->sets == NULL)
        return 0;
    for (i = 0; i < n; i++) {
        if (!rlt_call_read(c, from + i, RLT_OBJ_SET, &o))
            return 0;
        a->sets[i] = o ? &o->of.set : NULL;
        a->empty += o == NULL;
    }
    a->n = n;
    a->max = UINT32_MAX;
    return 1;
}

/* ---------------------------------------------------------------- gathering */

/* In how many of the sets from..to-1 the member is, counting no further than
 * `enough`. */
static uint32_t set_algebra_in(const set_algebra *a, uint32_t from,
                               uint32_t to, relet_span member, uint32_t enough)
{
    uint32_t n = 0, i;

    for (i = from; i < to && n < enough; i++)
        n += a->sets[i] != NULL && rlt_set_find(a->sets[i], member) != NULL;
    return n;
}

/* Moves the smallest set to the front: no other set need be walked. */
static void set_algebra_smallest_first(set_algebra *a)
{
    const rlt_set *first = a->sets[0];
    uint32_t i, best = 0;

    for (i = 1; i < a->n; i++)
        if (a->sets[i]->members.count < a->sets[best]->members.count)
            best = i;
    a->sets[0] = a->sets[best];
    a->sets[best] = first;
}

static int set_algebra_room(rlt_call *c, set_algebra *a, size_t n)
{
    a->found =
        (const rlt_entry **)rlt_call_scratch(c, (n + 1) * sizeof(rlt_entry *));
    return a->found != NULL;
}

static void set_algebra_take(set_algebra *a, const rlt_entry *e)
{
    if (a->found)
        a->found[a->count] = e;
    a->count++;
}

/* Takes the members of the first set that are in all others, or in none. */
static void set_algebra_first(set_algebra *a, int in_others)
{
    const rlt_entry *e = a->sets[0]->members.first;
    uint32_t all = in_others ? a->n - 1 : 0, enough = in_others ? a->n : 1;

    for (; e && a->count < a->max; e = e->next)
        if (set_algebra_in(a, 1, a->n, rlt_entry_key(e), enough) == all)
            set_algebra_take(a, e);
}

static int set_algebra_inter(rlt_call *c, set_algebra *a)
{
    if (a->empty > 0)
        return 1;
    set_algebra_smallest_first(a);
    if (!set_algebra_room(c, a, a->sets[0]->members.count))
        return 0;
    set_algebra_first(a, 1);
    return 1;
}

static int set_algebra_diff(rlt_call *c, set_algebra *a)
{
    if (a->sets[0] == NULL)
        return 1;
    if (!set_algebra_room(c, a, a->sets[0]->members.count))
        return 0;
    set_algebra_first(a, 0);
    return 1;
}

static int set_algebra_union(rlt_call *c, set_algebra *a)
{
    const rlt_entry *e;
    size_t all = 0;
    uint32_t i;

    for (i = 0; i < a->n; i++)
        all += a->sets[i] ? a->sets[i]->members.count : 0;
    if (!set_algebra_room(c, a, all))
        return 0;
    for (i = 0; i < a->n; i++)
        for (e = a->sets[i] ? a->sets[i]->members.first : NULL; e; e = e->next)
            if (set_algebra_in(a, 0, i, rlt_entry_key(e), 1) == 0)
                set_algebra_take(a, e);
    return 1;
}

/* Integers are replied in ascending order, as a set of them would be. */
static void set_algebra_sort(set_algebra *a)
{
    const rlt_entry *e;
    int64_t v, w;
    uint32_t i, k;

    if (a->count > RLT_SET_INTS)
        return;
    for (i = 0; i < a->count; i++)
        if (!rlt_str_int(rlt_entry_key(a->found[i]), &v))
            return;
    for (i = 1; i < a->count; i++) {
        e = a->found[i];
        (void)rlt_str_int(rlt_entry_key(e), &v);
        for (k = i; k > 0; k--) {
            (void)rlt_str_int(rlt_entry_key(a->found[k - 1]), &w);
            if (w < v)
                break;
            a->found[k] = a->found[k - 1];
        }
        a->found[k] = e;
    }
}

static int set_algebra_gather(rlt_call *c, set_algebra *a, set_algebra_op op,
                              uint32_t from)
{
    int ok = 0;

    if (!set_algebra_read(c, a, from, c->argc - from))
        return 0;
    switch (op) {
    case SET_ALGEBRA_INTER:
        ok = set_algebra_inter(c, a);
        break;
    case SET_ALGEBRA_UNION:
        ok = set_algebra_union(c, a);
        break;
    case SET_ALGEBRA_DIFF:
        ok = set_algebra_diff(c, a);
        break;
    }
    return ok;
}

/* ----------------------------------------------------------------- replying */

static void set_algebra_tell(rlt_call *c, set_algebra_op op)
{
    set_algebra a;
    uint32_t i;

    if (!set_algebra_gather(c, &a, op, 1))
        return;
    set_algebra_sort(&a);
    rlt_out_set(c->out, a.count);
    for (i = 0; i < a.count; i++)
        rlt_out_bulk(c->out, rlt_entry_key(a.found[i]));
}

static void set_algebra_sinter(rlt_call *c)
{
    set_algebra_tell(c, SET_ALGEBRA_INTER);
}

static void set_algebra_sunion(rlt_call *c)
{
    set_algebra_tell(c, SET_ALGEBRA_UNION);
}

static void set_algebra_sdiff(rlt_call *c)
{
    set_algebra_tell(c, SET_ALGEBRA_DIFF);
}

/* Counts members only: nothing is gathered. */
static void set_algebra_count(rlt_call *c, uint32_t n, int64_t limit)
{
    set_algebra a;

    if (!set_algebra_read(c, &a, 2, n))
        return;
    if (limit > 0 && limit < UINT32_MAX)
        a.max = (uint32_t)limit;
    if (a.empty == 0) {
        set_algebra_smallest_first(&a);
        set_algebra_first(&a, 1);
    }
    rlt_out_int(c->out, a.count);
}

static void set_algebra_sintercard(rlt_call *c)
{
    int64_t n, limit = 0;
    uint32_t i;

    if (!rlt_call_between(c, 1, 1, INT64_MAX, &n,
                          "ERR numkeys should be greater than 0"))
        return;
    if (n > (int64_t)(c->argc - 2)) {
        rlt_call_error(
            c, "ERR Number of keys can't be greater than number of args");
        return;
    }
    for (i = 2 + (uint32_t)n; i < c->argc; i += 2) {
        if (i + 1 == c->argc || !rlt_call_is(c, i, "limit")) {
            rlt_call_error(c, RLT_ERR_SYNTAX);
            return;
        }
        if (!rlt_call_positive(c, i + 1, &limit,
                               "ERR LIMIT can't be negative"))
            return;
    }
    set_algebra_count(c, (uint32_t)n, limit);
}

/* ------------------------------------------------------------------ storing */

static size_t set_algebra_bound(const rlt_call *c)
{
    size_t n = rlt_call_cost(c);
    const rlt_entry *e;
    const rlt_obj *o;
    uint32_t i;

    for (i = 2; i < c->argc; i++) {
        o = rlt_call_peek(c, c->argv[i]);
        if (o == NULL || o->type != RLT_OBJ_SET)
            continue;
        for (e = o->of.set.members.first; e; e = e->next)
            n += RLT_SET_COST(e->len);
    }
    return n;
}

static void set_algebra_keep(rlt_call *c, const set_algebra *a,
                             const char *event)
{
    rlt_obj *o = rlt_obj_new(c->pool, RLT_OBJ_SET);
    uint32_t i;

    for (i = 0; i < a->count; i++)
        (void)rlt_set_add(&o->of.set, c->pool, rlt_entry_key(a->found[i]));
    (void)rlt_call_find_write(c, c->argv[1]); /* expires a due key          */
    (void)rlt_call_put(c, c->argv[1], o);
    rlt_out_int(c->out, a->count);
    rlt_call_changed(c, c->argv[1], RLT_EVENT_SET, event);
}

static void set_algebra_store(rlt_call *c, set_algebra_op op,
                              const char *event)
{
    set_algebra a;
    int at_once;

    if (!set_algebra_gather(c, &a, op, 2))
        return;
    if (a.count > 0) {
        set_algebra_keep(c, &a, event);
        return;
    }
    /* Redis sees a missing set of an intersection at once, and replies last. */
    at_once = op == SET_ALGEBRA_INTER && a.empty > 0;
    if (!at_once)
        rlt_out_int(c->out, 0);
    if (rlt_call_delete(c, c->argv[1]))
        rlt_call_changed(c, c->argv[1], RLT_EVENT_GENERIC, "del");
    if (at_once)
        rlt_out_int(c->out, 0);
}

static void set_algebra_sinterstore(rlt_call *c)
{
    set_algebra_store(c, SET_ALGEBRA_INTER, "sinterstore");
}

static void set_algebra_sunionstore(rlt_call *c)
{
    set_algebra_store(c, SET_ALGEBRA_UNION, "sunionstore");
}

static void set_algebra_sdiffstore(rlt_call *c)
{
    set_algebra_store(c, SET_ALGEBRA_DIFF, "sdiffstore");
}

/* --------------------------------------------------------------------- rows */

#define SET_ALGEBRA_STORE (RLT_CMD_WRITE | RLT_CMD_DENYOOM)

static const rlt_command set_algebra_rows[] = {
    {"sinter", set_algebra_sinter, -2, RLT_CMD_READONLY, 1, -1, 1, 0, 0, NULL,
     NULL},
    {"sunion", set_algebra_sunion, -2, RLT_CMD_READONLY, 1, -1, 1, 0, 0, NULL,
     NULL},
    {"sdiff", set_algebra_sdiff, -2, RLT_CMD_READONLY, 1, -1, 1, 0, 0, NULL,
     NULL},
    {"sintercard", set_algebra_sintercard, -3,
     RLT_CMD_READONLY | RLT_CMD_MOVABLE, 0, 0, 0, RLT_KEYS_COUNTED, 1, NULL,
     NULL},
    {"sinterstore", set_algebra_sinterstore, -3, SET_ALGEBRA_STORE, 1, -1, 1,
     0, 0, set_algebra_bound, NULL},
    {"sunionstore", set_algebra_sunionstore, -3, SET_ALGEBRA_STORE, 1, -1, 1,
     0, 0, set_algebra_bound, NULL},
    {"sdiffstore", set_algebra_sdiffstore, -3, SET_ALGEBRA_STORE, 1, -1, 1, 0,
     0, set_algebra_bound, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_set_algebra_rows(size_t *n)
{
    *n = sizeof set_algebra_rows / sizeof set_algebra_rows[0];
    return set_algebra_rows;
}
