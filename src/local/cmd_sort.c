/* SPDX-License-Identifier: MIT
 *
 * cmd_sort.c - SORT and SORT_RO.
 */
#include "rows.h"

typedef struct cmd_sort_item {
    relet_span element, weight; /* weight.p NULL: there is none              */
    double score;
} cmd_sort_item;

typedef struct cmd_sort_job {
    int descending, alpha, unsorted, by_weight, stored;
    uint32_t by, store;  /* arguments; 0: none                               */
    uint32_t gets;       /* how many GET there are                           */
    int64_t from, count; /* LIMIT; count -1: all                             */
    cmd_sort_item *items;
    size_t n, begin, end; /* of the items, those from begin to end - 1       */
} cmd_sort_job;

/* ----------------------------------------------------------------- options */

static int cmd_sort_has_star(relet_span s)
{
    size_t i;

    for (i = 0; i < s.n && s.p[i]; i++)
        if (s.p[i] == '*')
            return 1;
    return 0;
}

/* Keys that are not named can be read by those only who may read all. */
static int cmd_sort_may(rlt_call *c, const char *error)
{
    const rlt_user *u = c->peer->user;

    if (u == NULL || u->all_keys || c->peer->replaying)
        return 1;
    rlt_call_error(c, error);
    return 0;
}

static int cmd_sort_by(rlt_call *c, cmd_sort_job *j, uint32_t i)
{
    j->by = i;
    if (!cmd_sort_has_star(c->argv[i])) {
        j->unsorted = 1;
        return 1;
    }
    return cmd_sort_may(c, "ERR BY option of SORT denied due to insufficient "
                           "ACL permissions");
}

static int cmd_sort_option(rlt_call *c, cmd_sort_job *j, uint32_t *i)
{
    uint32_t left = c->argc - *i - 1;

    if (rlt_call_is(c, *i, "asc") || rlt_call_is(c, *i, "desc")) {
        j->descending = rlt_call_is(c, *i, "desc");
    } else if (rlt_call_is(c, *i, "alpha")) {
        j->alpha = 1;
    } else if (rlt_call_is(c, *i, "limit") && left >= 2) {
        if (!rlt_call_int(c, *i + 1, &j->from, NULL) ||
            !rlt_call_int(c, *i + 2, &j->count, NULL))
            return 0;
        *i += 2;
    } else if (rlt_call_is(c, *i, "store") && left >= 1 &&
               !(c->command->flags & RLT_CMD_READONLY)) {
        j->store = ++*i;
    } else if (rlt_call_is(c, *i, "by") && left >= 1) {
        return cmd_sort_by(c, j, ++*i);
    } else if (rlt_call_is(c, *i, "get") && left >= 1) {
        ++*i;
        j->gets++;
        return cmd_sort_may(c, "ERR GET option of SORT denied due to "
                               "insufficient ACL permissions");
    } else {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return 0;
    }
    return 1;
}

static int cmd_sort_options(rlt_call *c, cmd_sort_job *j)
{
    uint32_t i;

    memset(j, 0, sizeof *j);
    j->count = -1;
    for (i = 2; i < c->argc; i++)
        if (!cmd_sort_option(c, j, &i))
            return 0;
    j->stored = j->store != 0;
    return 1;
}

/* ---------------------------------------------------------------- patterns */

/* Where "->" stands with something behind it; s.n: nowhere. */
static size_t cmd_sort_arrow(relet_span s, size_t from)
{
    size_t i;

    for (i = from; i + 2 < s.n; i++)
        if (s.p[i] == '-' && s.p[i + 1] == '>')
            return i;
    return s.n;
}

/* "weight_*->field" with the element for the star: what it leads to, or p
 * NULL. *ok is 0 when there was no memory, which was replied. */
static relet_span cmd_sort_look(rlt_call *c, relet_span pattern,
                                relet_span element, int *ok)
{
    relet_span none = relet_str(NULL), key, field;
    size_t star = 0, arrow;
    rlt_entry *e;
    rlt_obj *o;
    char *text;

    *ok = 1;
    if (rlt_span_is(pattern, "#"))
        return element;
    while (star < pattern.n && pattern.p[star] != '*')
        star++;
    if (star == pattern.n)
        return none;
    arrow = cmd_sort_arrow(pattern, star + 1);
    text = (char *)rlt_call_scratch(c, arrow + element.n);
    if (text == NULL) {
        *ok = 0;
        return none;
    }
    key.p = text;
    key.n = arrow - 1 + element.n;
    memcpy(text, pattern.p, star);
    if (element.n > 0)
        memcpy(text + star, element.p, element.n);
    memcpy(text + star + element.n, pattern.p + star + 1, arrow - star - 1);
    e = rlt_call_find_read(c, key);
    o = e ? rlt_keys_obj(e) : NULL;
    if (o == NULL)
        return none;
    if (arrow == pattern.n)
        return o->type == RLT_OBJ_STRING ? rlt_obj_span(o) : none;
    if (o->type != RLT_OBJ_HASH)
        return none;
    field.p = pattern.p + arrow + 2;
    field.n = pattern.n - arrow - 2;
    e = rlt_hash_find(&o->of.hash, field);
    return e ? rlt_hash_value(e) : none;
}

/* ---------------------------------------------------------------- elements */

static void cmd_sort_add(cmd_sort_job *j, relet_span element)
{
    memset(&j->items[j->n], 0, sizeof *j->items);
    j->items[j->n++].element = element;
}

static void cmd_sort_load_zset(cmd_sort_job *j, const rlt_zset *z)
{
    const rlt_zset_item *item =
        rlt_zset_end(z, j->unsorted && j->descending);

    for (; item; item = rlt_zset_step(item, !(j->unsorted && j->descending)))
        cmd_sort_add(j, rlt_zset_member(item));
}

static int cmd_sort_load(rlt_call *c, cmd_sort_job *j, rlt_obj *o)
{
    rlt_list_place at;
    const rlt_entry *e;

    j->items = (cmd_sort_item *)rlt_call_scratch(
        c, 2 * sizeof *j->items * (o ? (size_t)rlt_obj_count(o) : 0) + 1);
    if (j->items == NULL)
        return 0;
    if (o == NULL)
        return 1;
    if (o->type == RLT_OBJ_LIST) {
        at = rlt_list_end(&o->of.list, 0);
        for (; at.chunk; (void)rlt_list_step(&at, 1))
            cmd_sort_add(j, rlt_list_get(at));
    } else if (o->type == RLT_OBJ_SET) {
        for (e = o->of.set.members.first; e; e = e->next)
            cmd_sort_add(j, rlt_entry_key(e));
    } else {
        o->of.zset.large = 1; /* as if a server had had to convert it        */
        cmd_sort_load_zset(j, &o->of.zset);
    }
    return 1;
}

static void cmd_sort_limit(cmd_sort_job *j)
{
    int64_t n = (int64_t)j->n;
    int64_t from = RLT_MIN(RLT_MAX(j->from, 0), n);
    int64_t count = RLT_MIN(RLT_MAX(j->count, -1), n);

    j->begin = (size_t)from;
    j->end = (size_t)(count < 0 ? n : RLT_MIN(from + count, n));
}

/* As strtod reads up to a NUL: blanks in front, and nothing at all is 0. */
static int cmd_sort_number(relet_span s, double *v)
{
    const char *nul = s.n > 0 ? (const char *)memchr(s.p, 0, s.n) : NULL;

    if (nul)
        s.n = (size_t)(nul - s.p);
    *v = 0;
    if (s.n == 0)
        return 1;
    while (s.n > 0 && (*s.p == ' ' || (*s.p >= '\t' && *s.p <= '\r'))) {
        s.p++;
        s.n--;
    }
    return rlt_num_read(s, v);
}

/* Weights of all items: 1; 0 when an error was replied. *bad: one is no
 * number. */
static int cmd_sort_weigh(rlt_call *c, cmd_sort_job *j, int *bad)
{
    cmd_sort_item *item;
    size_t i;
    int ok;

    *bad = 0;
    for (i = 0; i < j->n; i++) {
        item = &j->items[i];
        item->weight = item->element;
        if (j->by_weight) {
            item->weight =
                cmd_sort_look(c, c->argv[j->by], item->element, &ok);
            if (!ok)
                return 0;
        }
        if (!j->alpha && item->weight.p &&
            !cmd_sort_number(item->weight, &item->score))
            *bad = 1;
    }
    return 1;
}

/* ----------------------------------------------------------------- sorting */

static int cmd_sort_compare_texts(const cmd_sort_job *j, relet_span a,
                                  relet_span b)
{
    const char *nul;

    if (j->stored)
        return rlt_str_compare(a, b);
    /* For a reader servers compare as the C library does: up to a NUL. */
    nul = a.n > 0 ? (const char *)memchr(a.p, 0, a.n) : NULL;
    if (nul)
        a.n = (size_t)(nul - a.p);
    nul = b.n > 0 ? (const char *)memchr(b.p, 0, b.n) : NULL;
    if (nul)
        b.n = (size_t)(nul - b.p);
    return rlt_str_compare(a, b);
}

static int cmd_sort_compare(const cmd_sort_job *j, const cmd_sort_item *a,
                            const cmd_sort_item *b)
{
    int order;

    if (!j->alpha) {
        order = a->score < b->score ? -1 : a->score > b->score;
        if (order == 0)
            order = rlt_str_compare(a->element, b->element);
    } else if (a->weight.p == NULL || b->weight.p == NULL) {
        order = (a->weight.p != NULL) - (b->weight.p != NULL);
    } else {
        order = cmd_sort_compare_texts(j, a->weight, b->weight);
    }
    return j->descending ? -order : order;
}

static void cmd_sort_merge(const cmd_sort_job *j, const cmd_sort_item *from,
                           cmd_sort_item *to, size_t low, size_t middle,
                           size_t high)
{
    size_t a = low, b = middle, i;

    for (i = low; i < high; i++) {
        if (b >= high || (a < middle &&
                          cmd_sort_compare(j, &from[a], &from[b]) <= 0))
            to[i] = from[a++];
        else
            to[i] = from[b++];
    }
}

/* By merging runs of twice the length each time, to and fro: equal items stay
 * in their order. */
static void cmd_sort_sort(cmd_sort_job *j)
{
    cmd_sort_item *from = j->items, *to = j->items + j->n, *swap;
    size_t width, low;

    for (width = 1; width < j->n; width *= 2) {
        for (low = 0; low < j->n; low += 2 * width)
            cmd_sort_merge(j, from, to, low, RLT_MIN(low + width, j->n),
                           RLT_MIN(low + 2 * width, j->n));
        swap = from;
        from = to;
        to = swap;
    }
    j->items = from;
}

/* ------------------------------------------------------------------ result */

/* How many words the option at argv[i] has. */
static uint32_t cmd_sort_words(const rlt_call *c, uint32_t i)
{
    if (rlt_call_is(c, i, "limit"))
        return 3;
    return rlt_call_is(c, i, "by") || rlt_call_is(c, i, "store") ? 2 : 1;
}

/* What stands at place k of the result for an item: the item, or its GETs one
 * after the other from argument *i on. */
static int cmd_sort_result(rlt_call *c, const cmd_sort_job *j,
                           const cmd_sort_item *item, uint32_t *i,
                           relet_span *out)
{
    int ok = 1;

    *out = item->element;
    if (j->gets == 0)
        return 1;
    while (!rlt_call_is(c, *i, "get"))
        *i += cmd_sort_words(c, *i);
    *out = cmd_sort_look(c, c->argv[*i + 1], item->element, &ok);
    *i += 2;
    return ok;
}

/* All of the result into an array of spans, for it costs memory to look. */
static relet_span *cmd_sort_results(rlt_call *c, const cmd_sort_job *j,
                                    size_t *n)
{
    size_t each = j->gets ? j->gets : 1, k, g;
    relet_span *results;
    uint32_t i;

    *n = (j->end > j->begin ? j->end - j->begin : 0) * each;
    results =
        (relet_span *)rlt_call_scratch(c, *n * sizeof *results + 1);
    if (results == NULL)
        return NULL;
    for (k = 0; k < *n; k += each)
        for (g = 0, i = 2; g < each; g++)
            if (!cmd_sort_result(c, j, &j->items[j->begin + k / each], &i,
                                 &results[k + g]))
                return NULL;
    return results;
}

static void cmd_sort_store(rlt_call *c, const cmd_sort_job *j,
                           const relet_span *results, size_t n)
{
    relet_span key = c->argv[j->store];
    size_t cost = RLT_OBJ_COST + RLT_KEYS_PUT_COST(key.n), i;
    rlt_obj *o;

    for (i = 0; i < n; i++)
        cost += RLT_LIST_COST(results[i].n);
    if (!rlt_pool_ensure_more(c->pool, cost)) {
        rlt_call_error(c, RLT_ERR_OOM);
        return;
    }
    if (n > 0) {
        o = rlt_obj_new(c->pool, RLT_OBJ_LIST);
        for (i = 0; i < n; i++)
            rlt_list_push(&o->of.list, c->pool,
                          results[i].p ? results[i] : relet_str(""), 1);
        (void)rlt_call_find_write(c, key);
        (void)rlt_call_put(c, key, o);
        rlt_call_changed(c, key, RLT_EVENT_LIST, "sortstore");
        c->dirty += (int64_t)n - 1;
    } else if (rlt_call_find_write(c, key)) {
        (void)rlt_call_delete(c, key);
        rlt_call_changed(c, key, RLT_EVENT_GENERIC, "del");
    }
    rlt_out_int(c->out, (int64_t)n);
}

static void cmd_sort_tell(rlt_call *c, const relet_span *results, size_t n)
{
    size_t i;

    rlt_out_array(c->out, n);
    for (i = 0; i < n; i++)
        if (results[i].p)
            rlt_out_bulk(c->out, results[i]);
        else
            rlt_out_null(c->out);
}

/* The object to sort: 1, or 0: WRONGTYPE was replied. */
static int cmd_sort_source(rlt_call *c, rlt_obj **o)
{
    rlt_entry *e = rlt_call_find_read(c, c->argv[1]);

    *o = e ? rlt_keys_obj(e) : NULL;
    if (*o == NULL || (*o)->type == RLT_OBJ_LIST ||
        (*o)->type == RLT_OBJ_SET || (*o)->type == RLT_OBJ_ZSET)
        return 1;
    rlt_call_error(c, RLT_ERR_WRONGTYPE);
    return 0;
}

static void cmd_sort_run(rlt_call *c, cmd_sort_job *j, rlt_obj *o)
{
    relet_span *results;
    size_t n;
    int bad = 0;

    /* A set has no order that could be stored or told to a script. */
    if (j->unsorted && o && o->type == RLT_OBJ_SET &&
        (j->stored || c->in_script)) {
        j->unsorted = 0;
        j->alpha = 1;
        j->by = 0;
    }
    j->by_weight = j->by != 0 && !j->unsorted;
    if (!cmd_sort_load(c, j, o))
        return;
    cmd_sort_limit(j);
    if (!j->unsorted) {
        if (!cmd_sort_weigh(c, j, &bad))
            return;
        cmd_sort_sort(j);
    }
    if (bad) {
        rlt_call_error(
            c, "ERR One or more scores can't be converted into double");
        return;
    }
    results = cmd_sort_results(c, j, &n);
    if (results == NULL)
        return;
    if (j->stored)
        cmd_sort_store(c, j, results, n);
    else
        cmd_sort_tell(c, results, n);
}

static void cmd_sort_sort_key(rlt_call *c)
{
    cmd_sort_job j;
    rlt_obj *o;

    if (cmd_sort_options(c, &j) && cmd_sort_source(c, &o))
        cmd_sort_run(c, &j, o);
}

static const rlt_command cmd_sort_rows[] = {
    {"sort", cmd_sort_sort_key, -2,
     RLT_CMD_WRITE | RLT_CMD_DENYOOM | RLT_CMD_MOVABLE, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"sort_ro", cmd_sort_sort_key, -2, RLT_CMD_READONLY | RLT_CMD_MOVABLE, 1,
     1, 1, 0, 0, NULL, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_sort_rows(size_t *n)
{
    *n = sizeof cmd_sort_rows / sizeof *cmd_sort_rows;
    return cmd_sort_rows;
}
