/* SPDX-License-Identifier: MIT
 *
 * cmd_zset_algebra.c - ZUNION, ZINTER, ZDIFF and their variants.
 *
 * Sources are sorted sets, or sets whose members all score 1. The result is
 * gathered as pointers to members with their scores; then it is replied in
 * order, or copied.
 */
#include "cmd_zset.h"

typedef enum zset_algebra_op {
    ZSET_ALGEBRA_UNION,
    ZSET_ALGEBRA_INTER,
    ZSET_ALGEBRA_DIFF
} zset_algebra_op;

typedef enum zset_algebra_fold {
    ZSET_ALGEBRA_SUM,
    ZSET_ALGEBRA_MIN,
    ZSET_ALGEBRA_MAX
} zset_algebra_fold;

typedef struct zset_algebra_source {
    const rlt_obj *o; /* NULL: no such key                                   */
    const rlt_dict *members;
    uint32_t count;
    double weight;
} zset_algebra_source;

typedef struct zset_algebra_item {
    const rlt_entry *e;
    double score;
} zset_algebra_item;

typedef struct zset_algebra {
    zset_algebra_op op;
    zset_algebra_fold fold;
    int counting, storing; /* ZINTERCARD; …STORE                             */
    int with_scores;
    int64_t limit;
    uint32_t at, n; /* argv of numkeys; how many sources                     */
    zset_algebra_source *sources;
    zset_algebra_item *found, *spare; /* spare: for sorting                  */
    uint32_t count;
} zset_algebra;

/* ------------------------------------------------------------------ sources */

static int zset_algebra_source_read(rlt_call *c, uint32_t i,
                                    zset_algebra_source *s)
{
    rlt_entry *e = rlt_call_find_read(c, c->argv[i]);

    memset(s, 0, sizeof *s);
    s->weight = 1;
    if (e == NULL)
        return 1;
    s->o = rlt_keys_obj(e);
    if (s->o->type != RLT_OBJ_SET && s->o->type != RLT_OBJ_ZSET) {
        rlt_call_error(c, RLT_ERR_WRONGTYPE);
        return 0;
    }
    s->members = s->o->type == RLT_OBJ_SET ? &s->o->of.set.members
                                           : &s->o->of.zset.members;
    s->count = s->members->count;
    return 1;
}

static double zset_algebra_score(const zset_algebra_source *s,
                                 const rlt_entry *e)
{
    if (s->o->type == RLT_OBJ_SET)
        return 1;
    return ((const rlt_zset_item *)e->value.p)->score;
}

static double zset_algebra_weighed(const zset_algebra_source *s,
                                   const rlt_entry *e)
{
    return zset_algebra_score(s, e) * s->weight;
}

static const rlt_entry *zset_algebra_find(const zset_algebra_source *s,
                                          relet_span member)
{
    if (s->o == NULL)
        return NULL;
    if (s->o->type == RLT_OBJ_SET)
        return rlt_set_find(&s->o->of.set, member);
    return rlt_dict_find(s->members, member);
}

/* Sorts the sources by size, equal ones as they stood: sums of fractions depend
 * on the order of addition. */
static void zset_algebra_order(zset_algebra *a)
{
    zset_algebra_source s;
    uint32_t i, k;

    for (i = 1; i < a->n; i++) {
        s = a->sources[i];
        for (k = i; k > 0 && a->sources[k - 1].count > s.count; k--)
            a->sources[k] = a->sources[k - 1];
        a->sources[k] = s;
    }
}

/* --------------------------------------------------------------- arguments */

static int zset_algebra_weights(rlt_call *c, zset_algebra *a, uint32_t i)
{
    uint32_t k;

    for (k = 0; k < a->n; k++)
        if (!rlt_call_double(c, i + k, &a->sources[k].weight,
                             "ERR weight value is not a float"))
            return 0;
    return 1;
}

static int zset_algebra_fold_read(rlt_call *c, zset_algebra *a, uint32_t i)
{
    if (rlt_call_is(c, i, "sum"))
        a->fold = ZSET_ALGEBRA_SUM;
    else if (rlt_call_is(c, i, "min"))
        a->fold = ZSET_ALGEBRA_MIN;
    else if (rlt_call_is(c, i, "max"))
        a->fold = ZSET_ALGEBRA_MAX;
    else {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return 0;
    }
    return 1;
}

/* Reads an option at argv[*i]; *i moves behind it. */
static int zset_algebra_option(rlt_call *c, zset_algebra *a, uint32_t *i)
{
    uint32_t left = c->argc - *i, at = *i;
    int folds = a->op != ZSET_ALGEBRA_DIFF && !a->counting;

    if (folds && left > a->n && rlt_call_is(c, at, "weights")) {
        *i += 1 + a->n;
        return zset_algebra_weights(c, a, at + 1);
    }
    if (folds && left >= 2 && rlt_call_is(c, at, "aggregate")) {
        *i += 2;
        return zset_algebra_fold_read(c, a, at + 1);
    }
    if (!a->storing && !a->counting && rlt_call_is(c, at, "withscores")) {
        *i += 1;
        a->with_scores = 1;
        return 1;
    }
    if (a->counting && left >= 2 && rlt_call_is(c, at, "limit")) {
        *i += 2;
        return rlt_call_positive(c, at + 1, &a->limit,
                                 "ERR LIMIT can't be negative");
    }
    rlt_call_error(c, RLT_ERR_SYNTAX);
    return 0;
}

static int zset_algebra_read_keys(rlt_call *c, zset_algebra *a)
{
    int64_t n;
    uint32_t i;

    if (!rlt_call_int(c, a->at, &n, NULL))
        return 0;
    if (n < 1) {
        rlt_call_error_with(c, "ERR at least 1 input key is needed for '",
                            relet_str(c->command->name), "' command");
        return 0;
    }
    if (n > (int64_t)(c->argc - a->at - 1)) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return 0;
    }
    a->n = (uint32_t)n;
    a->sources = (zset_algebra_source *)rlt_call_scratch(
        c, a->n * sizeof *a->sources);
    if (a->sources == NULL)
        return 0;
    for (i = 0; i < a->n; i++)
        if (!zset_algebra_source_read(c, a->at + 1 + i, &a->sources[i]))
            return 0;
    return 1;
}

static int zset_algebra_read(rlt_call *c, zset_algebra *a)
{
    uint32_t i;

    if (!zset_algebra_read_keys(c, a))
        return 0;
    for (i = a->at + 1 + a->n; i < c->argc;)
        if (!zset_algebra_option(c, a, &i))
            return 0;
    if (a->op != ZSET_ALGEBRA_DIFF)
        zset_algebra_order(a);
    return 1;
}

/* ---------------------------------------------------------------- gathering */

static double zset_algebra_number(double v)
{
    return v != v ? 0 : v;
}

static double zset_algebra_folded(const zset_algebra *a, double x, double y)
{
    double v = x;

    switch (a->fold) {
    case ZSET_ALGEBRA_SUM:
        /* Infinities of both signs add up to 0, as in Redis. */
        v = zset_algebra_number(x + y);
        break;
    case ZSET_ALGEBRA_MIN:
        v = y < x ? y : x;
        break;
    case ZSET_ALGEBRA_MAX:
        v = y > x ? y : x;
        break;
    }
    return v;
}

static int zset_algebra_room(rlt_call *c, zset_algebra *a, size_t n)
{
    a->found = (zset_algebra_item *)rlt_call_scratch(
        c, (n + 1) * 2 * sizeof *a->found);
    if (a->found == NULL)
        return 0;
    a->spare = a->found + n + 1;
    return 1;
}

static void zset_algebra_take(zset_algebra *a, const rlt_entry *e,
                              double score)
{
    if (a->found) {
        a->found[a->count].e = e;
        a->found[a->count].score = score;
    }
    a->count++;
}

/* Folds in the score that a source has for a member. In a union a product that
 * is NaN counts as 0; an intersection takes it as it is. */
static void zset_algebra_fold_one(const zset_algebra *a,
                                  const zset_algebra_source *s,
                                  const rlt_entry *e, double *score)
{
    double v = zset_algebra_weighed(s, e);

    if (a->op == ZSET_ALGEBRA_UNION)
        v = zset_algebra_number(v);
    *score = zset_algebra_folded(a, *score, v);
}

/* Folds in the scores of the sources from `from` on. 0: one of them has
 * none. */
static int zset_algebra_fold_rest(const zset_algebra *a, uint32_t from,
                                  relet_span member, double *score)
{
    const rlt_entry *e;
    int all = 1;
    uint32_t i;

    for (i = from; i < a->n; i++) {
        e = zset_algebra_find(&a->sources[i], member);
        if (e)
            zset_algebra_fold_one(a, &a->sources[i], e, score);
        else
            all = 0;
        if (!all && a->op == ZSET_ALGEBRA_INTER)
            break;
    }
    return all;
}

static void zset_algebra_inter(zset_algebra *a)
{
    const zset_algebra_source *s = &a->sources[0];
    const rlt_entry *e = s->count ? s->members->first : NULL;
    double score;

    for (; e; e = e->next) {
        if (a->limit > 0 && a->count >= a->limit)
            break;
        score = zset_algebra_number(zset_algebra_weighed(s, e));
        if (zset_algebra_fold_rest(a, 1, rlt_entry_key(e), &score))
            zset_algebra_take(a, e, score);
    }
}

static int zset_algebra_seen(const zset_algebra *a, uint32_t from, uint32_t to,
                             relet_span member)
{
    uint32_t i;

    for (i = from; i < to; i++)
        if (zset_algebra_find(&a->sources[i], member))
            return 1;
    return 0;
}

/* In the order of sources: at the first with a member, the others are folded
 * in. */
static void zset_algebra_union(zset_algebra *a)
{
    const rlt_entry *e;
    double score;
    uint32_t i;

    for (i = 0; i < a->n; i++) {
        e = a->sources[i].count ? a->sources[i].members->first : NULL;
        for (; e; e = e->next) {
            if (zset_algebra_seen(a, 0, i, rlt_entry_key(e)))
                continue;
            score =
                zset_algebra_number(zset_algebra_weighed(&a->sources[i], e));
            (void)zset_algebra_fold_rest(a, i + 1, rlt_entry_key(e), &score);
            zset_algebra_take(a, e, score);
        }
    }
}

static void zset_algebra_diff(zset_algebra *a)
{
    const zset_algebra_source *s = &a->sources[0];
    const rlt_entry *e = s->count ? s->members->first : NULL;

    for (; e; e = e->next)
        if (!zset_algebra_seen(a, 1, a->n, rlt_entry_key(e)))
            zset_algebra_take(a, e, zset_algebra_score(s, e));
}

static int zset_algebra_gather(rlt_call *c, zset_algebra *a)
{
    size_t n = a->sources[0].count;
    uint32_t i;

    if (a->op == ZSET_ALGEBRA_UNION)
        for (i = 1; i < a->n; i++)
            n += a->sources[i].count;
    if (!a->counting && !zset_algebra_room(c, a, n))
        return 0;
    switch (a->op) {
    case ZSET_ALGEBRA_UNION:
        zset_algebra_union(a);
        break;
    case ZSET_ALGEBRA_INTER:
        zset_algebra_inter(a);
        break;
    case ZSET_ALGEBRA_DIFF:
        zset_algebra_diff(a);
        break;
    }
    return 1;
}

/* ----------------------------------------------------------------- replying */

static int zset_algebra_before(const zset_algebra_item *x,
                               const zset_algebra_item *y)
{
    if (x->score < y->score || x->score > y->score)
        return x->score < y->score;
    return rlt_str_compare(rlt_entry_key(x->e), rlt_entry_key(y->e)) < 0;
}

/* Merges two neighbouring runs of up to `run` items, from i on, into one. */
static void zset_algebra_merge(zset_algebra *a, uint32_t i, uint32_t run)
{
    uint32_t end = a->count - i > run ? i + run : a->count;
    uint32_t left = i, right = end, k = i, stop;

    stop = a->count - end > run ? end + run : a->count;
    for (; left < end || right < stop; k++)
        if (right >= stop ||
            (left < end &&
             !zset_algebra_before(&a->found[right], &a->found[left])))
            a->spare[k] = a->found[left++];
        else
            a->spare[k] = a->found[right++];
}

static void zset_algebra_sort(zset_algebra *a)
{
    zset_algebra_item *swap;
    uint32_t run, i;

    for (run = 1; run < a->count; run = run > a->count / 2 ? a->count
                                                           : run * 2) {
        for (i = 0; i < a->count;
             i = a->count - i > 2 * (size_t)run ? i + 2 * run : a->count)
            zset_algebra_merge(a, i, run);
        swap = a->found;
        a->found = a->spare;
        a->spare = swap;
    }
}

static void zset_algebra_tell(rlt_call *c, zset_algebra_op op)
{
    zset_algebra a;
    uint32_t i;

    memset(&a, 0, sizeof a);
    a.op = op;
    a.at = 1;
    if (!zset_algebra_read(c, &a) || !zset_algebra_gather(c, &a))
        return;
    zset_algebra_sort(&a);
    rlt_cmd_zset_header(c, a.count, a.with_scores);
    for (i = 0; i < a.count; i++)
        rlt_cmd_zset_tell(c, rlt_entry_key(a.found[i].e), a.found[i].score,
                          a.with_scores);
}

static void zset_algebra_zunion(rlt_call *c)
{
    zset_algebra_tell(c, ZSET_ALGEBRA_UNION);
}

static void zset_algebra_zinter(rlt_call *c)
{
    zset_algebra_tell(c, ZSET_ALGEBRA_INTER);
}

static void zset_algebra_zdiff(rlt_call *c)
{
    zset_algebra_tell(c, ZSET_ALGEBRA_DIFF);
}

static void zset_algebra_zintercard(rlt_call *c)
{
    zset_algebra a;

    memset(&a, 0, sizeof a);
    a.op = ZSET_ALGEBRA_INTER;
    a.at = 1;
    a.counting = 1;
    if (zset_algebra_read(c, &a) && zset_algebra_gather(c, &a))
        rlt_out_int(c->out, a.count);
}

/* ------------------------------------------------------------------ storing */

static size_t zset_algebra_bound(const rlt_call *c)
{
    size_t n = rlt_call_cost(c);
    const rlt_entry *e;
    const rlt_obj *o;
    int64_t keys;
    uint32_t i;

    if (!rlt_str_int(c->argv[2], &keys) || keys > (int64_t)(c->argc - 3))
        return n;
    for (i = 3; (int64_t)i < 3 + keys; i++) {
        o = rlt_call_peek(c, c->argv[i]);
        if (o == NULL || (o->type != RLT_OBJ_SET && o->type != RLT_OBJ_ZSET))
            continue;
        e = o->type == RLT_OBJ_SET ? o->of.set.members.first
                                   : o->of.zset.members.first;
        for (; e; e = e->next)
            n += RLT_ZSET_COST(e->len);
    }
    return n;
}

static void zset_algebra_store(rlt_call *c, zset_algebra_op op,
                               const char *event)
{
    rlt_obj *o = NULL;
    zset_algebra a;
    uint32_t i;

    memset(&a, 0, sizeof a);
    a.op = op;
    a.at = 2;
    a.storing = 1;
    if (!zset_algebra_read(c, &a) || !zset_algebra_gather(c, &a))
        return;
    if (a.count > 0)
        o = rlt_obj_new(c->pool, RLT_OBJ_ZSET);
    for (i = 0; i < a.count; i++)
        (void)rlt_zset_add(&o->of.zset, c->pool, rlt_entry_key(a.found[i].e),
                           a.found[i].score);
    rlt_cmd_zset_store(c, o, event);
}

static void zset_algebra_zunionstore(rlt_call *c)
{
    zset_algebra_store(c, ZSET_ALGEBRA_UNION, "zunionstore");
}

static void zset_algebra_zinterstore(rlt_call *c)
{
    zset_algebra_store(c, ZSET_ALGEBRA_INTER, "zinterstore");
}

static void zset_algebra_zdiffstore(rlt_call *c)
{
    zset_algebra_store(c, ZSET_ALGEBRA_DIFF, "zdiffstore");
}

/* --------------------------------------------------------------------- rows */

#define ZSET_ALGEBRA_READ (RLT_CMD_READONLY | RLT_CMD_MOVABLE)
#define ZSET_ALGEBRA_STORE (RLT_CMD_WRITE | RLT_CMD_DENYOOM | RLT_CMD_MOVABLE)

static const rlt_command zset_algebra_rows[] = {
    {"zunion", zset_algebra_zunion, -3, ZSET_ALGEBRA_READ, 0, 0, 0,
     RLT_KEYS_COUNTED, 1, NULL, NULL},
    {"zinter", zset_algebra_zinter, -3, ZSET_ALGEBRA_READ, 0, 0, 0,
     RLT_KEYS_COUNTED, 1, NULL, NULL},
    {"zdiff", zset_algebra_zdiff, -3, ZSET_ALGEBRA_READ, 0, 0, 0,
     RLT_KEYS_COUNTED, 1, NULL, NULL},
    {"zintercard", zset_algebra_zintercard, -3, ZSET_ALGEBRA_READ, 0, 0, 0,
     RLT_KEYS_COUNTED, 1, NULL, NULL},
    {"zunionstore", zset_algebra_zunionstore, -4, ZSET_ALGEBRA_STORE, 1, 1, 1,
     RLT_KEYS_COUNTED, 2, zset_algebra_bound, NULL},
    {"zinterstore", zset_algebra_zinterstore, -4, ZSET_ALGEBRA_STORE, 1, 1, 1,
     RLT_KEYS_COUNTED, 2, zset_algebra_bound, NULL},
    {"zdiffstore", zset_algebra_zdiffstore, -4, ZSET_ALGEBRA_STORE, 1, 1, 1,
     RLT_KEYS_COUNTED, 2, zset_algebra_bound, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_zset_algebra_rows(size_t *n)
{
    *n = sizeof zset_algebra_rows / sizeof zset_algebra_rows[0];
    return zset_algebra_rows;
}
