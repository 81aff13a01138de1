/* SPDX-License-Identifier: MIT
 *
 * list.c - a list of byte strings, O(1) at both ends.
 *
 * No chunk is empty. A full chunk that must take an element in its middle is
 * split; a chunk with few elements left is joined with the next one, if both
 * fit into half a chunk. */
#include "list.h"
#include "text.h"

RELET_PRIVATE void rlt_list_init(rlt_list *l)
{
    memset(l, 0, sizeof *l);
}

RELET_PRIVATE void rlt_list_clear(rlt_list *l, rlt_pool *pool)
{
    rlt_list_chunk *c = l->first, *next;

    for (; c; c = next) {
        next = c->next;
        for (; c->from < c->to; c->from++)
            rlt_str_free(pool, c->slots[c->from]);
        rlt_pool_put(pool, c, sizeof *c);
    }
    rlt_list_init(l);
}

/* ------------------------------------------------------------------- chunks */

static uint32_t list_used(const rlt_list_chunk *c)
{
    return c->to - c->from;
}

/* Adds an empty chunk behind `back`; NULL: in front of all. Its slots fill from
 * `at` on. */
static rlt_list_chunk *list_chunk_add(rlt_list *l, rlt_pool *pool,
                                      rlt_list_chunk *back, uint32_t at)
{
    rlt_list_chunk *c = (rlt_list_chunk *)rlt_pool_get(pool, sizeof *c);

    c->from = c->to = at;
    c->back = back;
    c->next = back ? back->next : l->first;
    if (c->next)
        c->next->back = c;
    else
        l->last = c;
    if (back)
        back->next = c;
    else
        l->first = c;
    return c;
}

static void list_chunk_remove(rlt_list *l, rlt_pool *pool, rlt_list_chunk *c)
{
    if (c->back)
        c->back->next = c->next;
    else
        l->first = c->next;
    if (c->next)
        c->next->back = c->back;
    else
        l->last = c->back;
    rlt_pool_put(pool, c, sizeof *c);
}

static void list_move(rlt_list_chunk *to, uint32_t at,
                      const rlt_list_chunk *from, uint32_t first, uint32_t n)
{
    memmove(to->slots + at, from->slots + first, n * sizeof to->slots[0]);
}

/* ---------------------------------------------------------------- both ends */

static void list_push_head(rlt_list *l, rlt_pool *pool, rlt_str *s)
{
    rlt_list_chunk *c = l->first;

    if (c == NULL || c->from == 0)
        c = list_chunk_add(l, pool, NULL, RLT_LIST_SLOTS);
    c->slots[--c->from] = s;
}

static void list_push_tail(rlt_list *l, rlt_pool *pool, rlt_str *s)
{
    rlt_list_chunk *c = l->last;

    if (c == NULL || c->to == RLT_LIST_SLOTS)
        c = list_chunk_add(l, pool, l->last, 0);
    c->slots[c->to++] = s;
}

RELET_PRIVATE void rlt_list_push_str(rlt_list *l, rlt_pool *pool, rlt_str *s,
                                     int end)
{
    if (end)
        list_push_tail(l, pool, s);
    else
        list_push_head(l, pool, s);
    l->count++;
}

RELET_PRIVATE void rlt_list_push(rlt_list *l, rlt_pool *pool, relet_span s,
                                 int end)
{
    rlt_list_push_str(l, pool, rlt_str_new(pool, s), end);
}

RELET_PRIVATE rlt_str *rlt_list_pop(rlt_list *l, rlt_pool *pool, int end)
{
    rlt_list_chunk *c = end ? l->last : l->first;
    rlt_str *s;

    if (c == NULL)
        return NULL;
    s = end ? c->slots[--c->to] : c->slots[c->from++];
    if (c->from == c->to)
        list_chunk_remove(l, pool, c);
    l->count--;
    return s;
}

/* ------------------------------------------------------------------- places */

static rlt_list_place list_place(rlt_list_chunk *c, uint32_t at)
{
    rlt_list_place place;

    place.chunk = c;
    place.at = at;
    return place;
}

RELET_PRIVATE rlt_list_place rlt_list_end(const rlt_list *l, int end)
{
    if (l->count == 0)
        return list_place(NULL, 0);
    return end ? list_place(l->last, l->last->to - 1)
               : list_place(l->first, l->first->from);
}

static rlt_list_place list_seek_back(const rlt_list *l, uint32_t from_end)
{
    rlt_list_chunk *c = l->last;

    for (; from_end >= list_used(c); c = c->back)
        from_end -= list_used(c);
    return list_place(c, c->to - 1 - from_end);
}

RELET_PRIVATE rlt_list_place rlt_list_seek(const rlt_list *l, uint32_t index)
{
    rlt_list_chunk *c = l->first;

    if (index >= l->count)
        return list_place(NULL, 0);
    if (index >= l->count / 2)
        return list_seek_back(l, l->count - 1 - index);
    for (; index >= list_used(c); c = c->next)
        index -= list_used(c);
    return list_place(c, c->from + index);
}

RELET_PRIVATE int rlt_list_step(rlt_list_place *at, int side)
{
    rlt_list_chunk *c = at->chunk;

    if (side) {
        if (++at->at == c->to) {
            c = c->next;
            at->at = c ? c->from : 0;
        }
    } else if (at->at-- == c->from) {
        c = c->back;
        at->at = c ? c->to - 1 : 0;
    }
    at->chunk = c;
    return c != NULL;
}

RELET_PRIVATE relet_span rlt_list_get(rlt_list_place at)
{
    rlt_assert(at.chunk != NULL);
    return rlt_str_span(at.chunk->slots[at.at]);
}

/* ------------------------------------------------------------ in the middle */

RELET_PRIVATE void rlt_list_set(rlt_list_place at, rlt_pool *pool,
                                relet_span s)
{
    rlt_str *was = at.chunk->slots[at.at];

    at.chunk->slots[at.at] = rlt_str_new(pool, s);
    rlt_str_free(pool, was);
}

/* Moves the slots from `at` on to a new chunk. */
static void list_split(rlt_list *l, rlt_pool *pool, rlt_list_chunk *c,
                       uint32_t at)
{
    rlt_list_chunk *more = list_chunk_add(l, pool, c, 0);

    more->to = c->to - at;
    list_move(more, 0, c, at, more->to);
    c->to = at;
}

/* Frees a slot in front of slot `at` of a chunk that is not full; returns
 * it. */
static uint32_t list_open(rlt_list_chunk *c, uint32_t at)
{
    if (c->to < RLT_LIST_SLOTS) {
        list_move(c, at + 1, c, at, c->to - at);
        c->to++;
        return at;
    }
    list_move(c, c->from - 1, c, c->from, at - c->from);
    c->from--;
    return at - 1;
}

RELET_PRIVATE void rlt_list_insert(rlt_list *l, rlt_pool *pool,
                                   rlt_list_place at, int side, relet_span s)
{
    rlt_list_chunk *c = at.chunk;
    uint32_t slot = at.at + (uint32_t)(side != 0);
    uint32_t middle = RLT_LIST_SLOTS / 2;
    rlt_str *copy = rlt_str_new(pool, s);

    if (list_used(c) == RLT_LIST_SLOTS) {
        list_split(l, pool, c, middle);
        if (slot > middle) {
            c = c->next;
            slot -= middle;
        }
    }
    slot = list_open(c, slot);
    c->slots[slot] = copy;
    l->count++;
}

/* Moves the elements of c to the front of the next chunk, and *place with
 * them. */
static void list_join(rlt_list *l, rlt_pool *pool, rlt_list_chunk *c,
                      rlt_list_place *place)
{
    rlt_list_chunk *next = c->next;
    uint32_t n = list_used(c), had = list_used(next);

    if (place->chunk == next)
        place->at += n - next->from;
    if (place->chunk == c)
        *place = list_place(next, place->at - c->from);
    list_move(next, n, next, next->from, had);
    list_move(next, 0, c, c->from, n);
    next->from = 0;
    next->to = n + had;
    list_chunk_remove(l, pool, c);
}

/* The place next to the element that was just removed from slot `at`. */
static rlt_list_place list_beside(rlt_list_chunk *c, uint32_t at, int side)
{
    if (side && at < c->to)
        return list_place(c, at);
    if (!side && at > c->from)
        return list_place(c, at - 1);
    c = side ? c->next : c->back;
    return c ? list_place(c, side ? c->from : c->to - 1) : list_place(NULL, 0);
}

RELET_PRIVATE rlt_list_place rlt_list_remove(rlt_list *l, rlt_pool *pool,
                                             rlt_list_place at, int side)
{
    rlt_list_chunk *c = at.chunk;
    rlt_list_place place;

    rlt_str_free(pool, c->slots[at.at]);
    list_move(c, at.at, c, at.at + 1, c->to - at.at - 1);
    c->to--;
    l->count--;
    place = list_beside(c, at.at, side);
    if (list_used(c) == 0)
        list_chunk_remove(l, pool, c);
    else if (c->next &&
             list_used(c) + list_used(c->next) <= RLT_LIST_SLOTS / 2)
        list_join(l, pool, c, &place);
    return place;
}

RELET_PRIVATE uint32_t rlt_list_remove_same(rlt_list *l, rlt_pool *pool,
                                            relet_span s, uint32_t max,
                                            int end)
{
    rlt_list_place at = rlt_list_end(l, end);
    uint32_t gone = 0;

    while (at.chunk && (max == 0 || gone < max)) {
        if (!rlt_span_same(rlt_list_get(at), s)) {
            (void)rlt_list_step(&at, !end);
            continue;
        }
        at = rlt_list_remove(l, pool, at, !end);
        gone++;
    }
    return gone;
}

RELET_PRIVATE void rlt_list_trim(rlt_list *l, rlt_pool *pool, uint32_t from,
                                 uint32_t n)
{
    rlt_assert(from <= l->count);
    rlt_assert(n <= l->count - from);
    for (; from > 0; from--)
        rlt_str_free(pool, rlt_list_pop(l, pool, 0));
    while (l->count > n)
        rlt_str_free(pool, rlt_list_pop(l, pool, 1));
}
