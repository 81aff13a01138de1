/* SPDX-License-Identifier: MIT
 *
 * stream.c - a stream: its entries by id.
 */
#include "stream.h"
#include "text.h"

/* ---------------------------------------------------------------------- ids */

RELET_PRIVATE rlt_stream_id rlt_stream_id_of(uint64_t ms, uint64_t seq)
{
    rlt_stream_id id;

    id.ms = ms;
    id.seq = seq;
    return id;
}

RELET_PRIVATE int rlt_stream_id_compare(rlt_stream_id a, rlt_stream_id b)
{
    if (a.ms != b.ms)
        return a.ms < b.ms ? -1 : 1;
    return (a.seq > b.seq) - (a.seq < b.seq);
}

/* Reads a number as Redis does: with leading blanks and zeros, a plus, and a
 * minus, which wraps around, if a blank is before it or a zero behind. */
static int stream_number(relet_span s, uint64_t *out)
{
    uint64_t v = 0, digit;
    size_t i = 0;
    int minus;

    while (i < s.n && (s.p[i] == ' ' || (s.p[i] >= '\t' && s.p[i] <= '\r')))
        i++;
    minus = i < s.n && s.p[i] == '-' &&
            (i > 0 || (s.n > 1 && s.p[1] == '0'));
    i += minus || (i < s.n && s.p[i] == '+');
    if (i == s.n)
        return 0;
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return 0;
        digit = (uint64_t)(s.p[i] - '0');
        if (v > (UINT64_MAX - digit) / 10)
            return 0;
        v = v * 10 + digit;
    }
    *out = minus ? 0 - v : v;
    return 1;
}

RELET_PRIVATE int rlt_stream_id_read(relet_span s, uint64_t missing,
                                     rlt_stream_id *out, int *any)
{
    relet_span ms;
    rlt_stream_id id = rlt_stream_id_of(0, missing);
    int star;

    if (s.n > 127)
        return 0;
    s = rlt_span_cut(&s, '\0');
    ms = rlt_span_cut(&s, '-');
    if (!stream_number(ms, &id.ms))
        return 0;
    star = any != NULL && s.p != NULL && rlt_span_is(s, "*");
    if (star)
        id.seq = 0;
    else if (s.p != NULL && !stream_number(s, &id.seq))
        return 0;
    if (any)
        *any = star;
    *out = id;
    return 1;
}

RELET_PRIVATE size_t rlt_stream_id_text(char *out, rlt_stream_id id)
{
    size_t n = rlt_text_put_u64(out, id.ms);

    out[n++] = '-';
    return n + rlt_text_put_u64(out + n, id.seq);
}

RELET_PRIVATE int rlt_stream_id_next(rlt_stream_id *id)
{
    if (id->seq < UINT64_MAX) {
        id->seq++;
        return 1;
    }
    if (id->ms == UINT64_MAX)
        return 0;
    *id = rlt_stream_id_of(id->ms + 1, 0);
    return 1;
}

RELET_PRIVATE int rlt_stream_id_back(rlt_stream_id *id)
{
    if (id->seq > 0) {
        id->seq--;
        return 1;
    }
    if (id->ms == 0)
        return 0;
    *id = rlt_stream_id_of(id->ms - 1, UINT64_MAX);
    return 1;
}

/* ------------------------------------------------- nodes, as Redis packs them
 *
 * A node's bytes are: a header, the numbers of live and of deleted entries, the
 * first entry's field names; and for each entry a flag, the distance of both
 * halves of its id from the first id, field names unless they are the first
 * entry's, values, and a count of all that. A string that is an integer is
 * kept as one. */

#define STREAM_PACK_FRAME 7 /* total length, count of items, and an end mark */

static size_t stream_packed(size_t n)
{
    size_t back = n <= 127        ? 1
                  : n < 16383     ? 2
                  : n < 2097151   ? 3
                  : n < 268435455 ? 4
                                  : 5;

    return n + back;
}

static size_t stream_packed_int(int64_t v)
{
    if (v >= 0 && v <= 127)
        return stream_packed(1);
    if (v >= -4096 && v <= 4095)
        return stream_packed(2);
    if (v >= INT16_MIN && v <= INT16_MAX)
        return stream_packed(3);
    if (v >= -8388608 && v <= 8388607)
        return stream_packed(4);
    if (v >= INT32_MIN && v <= INT32_MAX)
        return stream_packed(5);
    return stream_packed(9);
}

static size_t stream_packed_string(relet_span s)
{
    int64_t v;

    if (rlt_str_int(s, &v))
        return stream_packed_int(v);
    return stream_packed(s.n + (s.n < 64 ? 1 : s.n < 4096 ? 2 : 5));
}

static size_t stream_strings(const relet_span *strings, uint32_t n)
{
    size_t bytes = 0;
    uint32_t i;

    for (i = 0; i < n; i++)
        bytes += strings[i].n;
    return bytes;
}

static rlt_str *stream_fields(rlt_pool *pool, const relet_span *strings,
                              uint32_t n)
{
    size_t size = 0;
    uint32_t i, len;
    rlt_str *all;
    char *at;

    for (i = 0; i < n; i += 2)
        size += sizeof len + strings[i].n;
    all = rlt_str_blank(pool, size);
    at = all->p;
    for (i = 0; i < n; i += 2) {
        len = (uint32_t)strings[i].n;
        memcpy(at, &len, sizeof len);
        if (len > 0)
            memcpy(at + sizeof len, strings[i].p, len);
        at += sizeof len + len;
    }
    return all;
}

static int stream_same_fields(const rlt_stream_node *node,
                              const relet_span *strings, uint32_t n)
{
    const char *at = node->fields->p;
    uint32_t i, len;

    if (node->n != n / 2)
        return 0;
    for (i = 0; i < n; i += 2) {
        memcpy(&len, at, sizeof len);
        at += sizeof len;
        if (len != strings[i].n ||
            (len > 0 && memcmp(at, strings[i].p, len) != 0))
            return 0;
        at += len;
    }
    return 1;
}

static size_t stream_packed_entry(const rlt_stream_node *node,
                                  rlt_stream_id id, const relet_span *strings,
                                  uint32_t n)
{
    int same = stream_same_fields(node, strings, n);
    size_t bytes = stream_packed_int(same ? 2 : 0);
    uint32_t i;

    bytes += stream_packed_int((int64_t)(id.ms - node->master.ms));
    bytes += stream_packed_int((int64_t)(id.seq - node->master.seq));
    if (!same)
        bytes += stream_packed_int(n / 2);
    for (i = 0; i < n; i++)
        if (!same || i % 2 == 1)
            bytes += stream_packed_string(strings[i]);
    return bytes + stream_packed_int(same ? n / 2 + 3 : n + 4);
}

static rlt_stream_node *stream_node_add(rlt_stream *s, rlt_pool *pool,
                                        rlt_stream_id master,
                                        const relet_span *strings, uint32_t n)
{
    rlt_stream_node *node;
    uint32_t i;

    node = (rlt_stream_node *)rlt_pool_get(pool, sizeof *node);
    memset(node, 0, sizeof *node);
    node->master = master;
    node->n = n / 2;
    node->fields = stream_fields(pool, strings, n);
    node->bytes = STREAM_PACK_FRAME + 3 * stream_packed_int(0) +
                  stream_packed_int(n / 2);
    for (i = 0; i < n; i += 2)
        node->bytes += stream_packed_string(strings[i]);
    node->back = s->final;
    if (s->final)
        s->final->next = node;
    else
        s->first = node;
    s->final = node;
    s->nodes++;
    return node;
}

static void stream_node_remove(rlt_stream *s, rlt_pool *pool,
                               rlt_stream_node *node)
{
    rlt_assert(node->live == 0);
    if (node->back)
        node->back->next = node->next;
    else
        s->first = node->next;
    if (node->next)
        node->next->back = node->back;
    else
        s->final = node->back;
    s->nodes--;
    rlt_str_free(pool, node->fields);
    rlt_pool_put(pool, node, sizeof *node);
}

static int stream_node_is_full(const rlt_stream_node *node, size_t more)
{
    return node->bytes + more >= RLT_STREAM_NODE_BYTES ||
           node->live + node->deleted >= RLT_STREAM_NODE_ENTRIES;
}

/* ------------------------------------------------------------------ entries */

static size_t stream_entry_size(uint32_t n, size_t bytes)
{
    return RLT_MAX(offsetof(rlt_stream_entry, ends) + n * sizeof(uint32_t) +
                       bytes,
                   sizeof(rlt_stream_entry));
}

static rlt_stream_entry *stream_entry(rlt_leaf *leaf)
{
    return leaf ? RLT_TREE_OWNER(rlt_stream_entry, leaf, leaf) : NULL;
}

static void stream_entry_free(rlt_stream *s, rlt_pool *pool,
                              rlt_stream_entry *e)
{
    rlt_tree_unlink(&s->entries, &e->leaf);
    e->node->live--;
    e->node->deleted++;
    rlt_pool_put(pool, e, stream_entry_size(e->n, e->bytes));
}

RELET_PRIVATE void rlt_stream_init(rlt_stream *s)
{
    memset(s, 0, sizeof *s);
}

RELET_PRIVATE void rlt_stream_clear(rlt_stream *s, rlt_pool *pool)
{
    rlt_assert(s->groups.root == NULL);
    while (s->entries.root)
        stream_entry_free(s, pool, stream_entry(s->entries.root));
    while (s->first)
        stream_node_remove(s, pool, s->first);
    rlt_stream_init(s);
}

RELET_PRIVATE uint32_t rlt_stream_count(const rlt_stream *s)
{
    return rlt_tree_count(&s->entries);
}

RELET_PRIVATE int rlt_stream_id_for_now(const rlt_stream *s, uint64_t now_ms,
                                        rlt_stream_id *out)
{
    *out = rlt_stream_id_of(now_ms, 0);
    if (now_ms > s->last.ms)
        return 1;
    *out = s->last;
    return rlt_stream_id_next(out);
}

RELET_PRIVATE int rlt_stream_id_in_ms(const rlt_stream *s, uint64_t ms,
                                      rlt_stream_id *out)
{
    *out = rlt_stream_id_of(ms, 0);
    if (ms != s->last.ms)
        return ms > s->last.ms;
    out->seq = s->last.seq + 1;
    return s->last.seq < UINT64_MAX;
}

static rlt_stream_entry *stream_entry_new(rlt_pool *pool, rlt_stream_id id,
                                          const relet_span *strings,
                                          uint32_t n, size_t bytes)
{
    rlt_stream_entry *e;
    uint32_t i, end = 0;
    char *at;

    rlt_assert(bytes <= UINT32_MAX);
    e = (rlt_stream_entry *)rlt_pool_get(pool, stream_entry_size(n, bytes));
    e->id = id;
    e->n = n;
    e->bytes = (uint32_t)bytes;
    at = (char *)(e->ends + n);
    for (i = 0; i < n; i++) {
        if (strings[i].n > 0)
            memcpy(at + end, strings[i].p, strings[i].n);
        end += (uint32_t)strings[i].n;
        e->ends[i] = end;
    }
    return e;
}

RELET_PRIVATE rlt_stream_entry *rlt_stream_add(rlt_stream *s, rlt_pool *pool,
                                               rlt_stream_id id,
                                               const relet_span *strings,
                                               uint32_t n)
{
    size_t bytes = stream_strings(strings, n);
    rlt_stream_node *node = s->final;
    rlt_stream_entry *e = stream_entry_new(pool, id, strings, n, bytes);
    rlt_leaf *end = rlt_tree_end(&s->entries, 1);

    rlt_assert(rlt_stream_id_compare(id, s->last) > 0);
    if (node == NULL || stream_node_is_full(node, bytes))
        node = stream_node_add(s, pool, id, strings, n);
    node->bytes += stream_packed_entry(node, id, strings, n);
    node->last = id;
    node->live++;
    e->node = node;
    rlt_tree_link(&s->entries, &e->leaf, end, 1);
    s->last = id;
    s->added++;
    return e;
}

RELET_PRIVATE relet_span rlt_stream_string(const rlt_stream_entry *e,
                                           uint32_t i)
{
    uint32_t from = i > 0 ? e->ends[i - 1] : 0;
    relet_span s;

    rlt_assert(i < e->n);
    s.p = (const char *)(e->ends + e->n) + from;
    s.n = e->ends[i] - from;
    return s;
}

RELET_PRIVATE rlt_stream_entry *rlt_stream_seek(const rlt_stream *s,
                                                rlt_stream_id id, int side)
{
    rlt_leaf *leaf = s->entries.root, *best = NULL;
    int order, good;

    while (leaf) {
        order = rlt_stream_id_compare(stream_entry(leaf)->id, id);
        good = side ? order >= 0 : order <= 0;
        if (good)
            best = leaf;
        leaf = leaf->side[side ? !good : good];
    }
    return stream_entry(best);
}

RELET_PRIVATE rlt_stream_entry *rlt_stream_find(const rlt_stream *s,
                                                rlt_stream_id id)
{
    rlt_stream_entry *e = rlt_stream_seek(s, id, 1);

    return e && rlt_stream_id_compare(e->id, id) == 0 ? e : NULL;
}

RELET_PRIVATE rlt_stream_entry *rlt_stream_end(const rlt_stream *s, int side)
{
    return stream_entry(rlt_tree_end(&s->entries, side));
}

RELET_PRIVATE rlt_stream_entry *rlt_stream_step(const rlt_stream_entry *e,
                                                int side)
{
    return stream_entry(rlt_tree_step(&e->leaf, side));
}

RELET_PRIVATE void rlt_stream_delete(rlt_stream *s, rlt_pool *pool,
                                     rlt_stream_entry *e)
{
    rlt_stream_node *node = e->node;

    if (rlt_stream_id_compare(e->id, s->max_deleted) > 0)
        s->max_deleted = e->id;
    stream_entry_free(s, pool, e);
    if (node->live == 0)
        stream_node_remove(s, pool, node);
}

/* ----------------------------------------------------------------- trimming */

static int stream_cut_takes_node(const rlt_stream *s,
                                 const rlt_stream_cut *cut)
{
    if (cut->by_id)
        return rlt_stream_id_compare(s->first->last, cut->min_id) < 0;
    return rlt_stream_count(s) - s->first->live >= cut->max_count;
}

static int stream_cut_takes(const rlt_stream *s, const rlt_stream_cut *cut,
                            const rlt_stream_entry *e)
{
    if (cut->by_id)
        return rlt_stream_id_compare(e->id, cut->min_id) < 0;
    return rlt_stream_count(s) > cut->max_count;
}

RELET_PRIVATE uint32_t rlt_stream_trim(rlt_stream *s, rlt_pool *pool,
                                       const rlt_stream_cut *cut)
{
    uint32_t had = rlt_stream_count(s), gone;
    rlt_stream_entry *e;

    while (s->first && (cut->by_id || rlt_stream_count(s) > cut->max_count)) {
        gone = had - rlt_stream_count(s);
        if (cut->limit && (uint64_t)gone + s->first->live > cut->limit)
            break;
        if (!stream_cut_takes_node(s, cut))
            break;
        while (s->first->live > 0)
            stream_entry_free(s, pool, rlt_stream_end(s, 0));
        stream_node_remove(s, pool, s->first);
    }
    if (cut->approx)
        return had - rlt_stream_count(s);
    while ((e = rlt_stream_end(s, 0)) != NULL && stream_cut_takes(s, cut, e))
        stream_entry_free(s, pool, e);
    return had - rlt_stream_count(s);
}

/* ------------------------------------------------------------------- copies */

static void stream_node_copy(rlt_stream *to, rlt_pool *pool,
                             const rlt_stream_node *node)
{
    rlt_stream_node *copy;

    copy = (rlt_stream_node *)rlt_pool_get(pool, sizeof *copy);
    *copy = *node;
    copy->fields = rlt_str_new(pool, rlt_str_span(node->fields));
    copy->next = NULL;
    copy->back = to->final;
    if (to->final)
        to->final->next = copy;
    else
        to->first = copy;
    to->final = copy;
}

static void stream_entry_copy(rlt_stream *to, rlt_pool *pool,
                              const rlt_stream_entry *e)
{
    size_t size = stream_entry_size(e->n, e->bytes);
    rlt_stream_entry *copy = (rlt_stream_entry *)rlt_pool_get(pool, size);

    memcpy(copy, e, size);
    copy->node = to->final;
    rlt_tree_link(&to->entries, &copy->leaf, rlt_tree_end(&to->entries, 1), 1);
}

RELET_PRIVATE void rlt_stream_copy(const rlt_stream *s, rlt_pool *pool,
                                   rlt_stream *to)
{
    const rlt_stream_node *node;
    const rlt_stream_entry *e = rlt_stream_end(s, 0);

    rlt_assert(to->first == NULL);
    for (node = s->first; node; node = node->next) {
        stream_node_copy(to, pool, node);
        for (; e && e->node == node; e = rlt_stream_step(e, 1))
            stream_entry_copy(to, pool, e);
    }
    to->nodes = s->nodes;
    to->last = s->last;
    to->max_deleted = s->max_deleted;
    to->added = s->added;
}

RELET_PRIVATE size_t rlt_stream_copy_cost(const rlt_stream *s)
{
    const rlt_stream_node *node;
    const rlt_stream_entry *e;
    size_t cost = 0;

    for (node = s->first; node; node = node->next)
        cost += RLT_POOL_COST(sizeof *node) + RLT_STR_COST(node->fields->n);
    for (e = rlt_stream_end(s, 0); e; e = rlt_stream_step(e, 1))
        cost += RLT_POOL_COST(stream_entry_size(e->n, e->bytes));
    return cost;
}
