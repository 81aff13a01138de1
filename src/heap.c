/* SPDX-License-Identifier: MIT
 *
 * heap.c - deadlines in order, the earliest first.
 *
 * A binary heap. Items know their place, so that a deadline in the middle
 * moves or leaves without a search. Places count from 1 as in the textbook:
 * the parent of p is p / 2. */

#include "heap.h"

static void heap_put(rlt_heap *h, rlt_heap_item *item, uint32_t place)
{
    h->items[place - 1] = item;
    item->place = place;
}

static void heap_rise(rlt_heap *h, rlt_heap_item *item, uint32_t place)
{
    rlt_heap_item *parent;

    for (; place > 1; place /= 2) {
        parent = h->items[place / 2 - 1];
        if (parent->at <= item->at)
            break;
        heap_put(h, parent, place);
    }
    heap_put(h, item, place);
}

static void heap_sink(rlt_heap *h, rlt_heap_item *item, uint32_t place)
{
    rlt_heap_item *child;
    uint32_t below;

    while (place <= h->n / 2) {
        below = place * 2;
        if (below < h->n && h->items[below]->at < h->items[below - 1]->at)
            below++;
        child = h->items[below - 1];
        if (item->at <= child->at)
            break;
        heap_put(h, child, place);
        place = below;
    }
    heap_put(h, item, place);
}

/* Either way one of the two finds nothing to do. */
static void heap_settle(rlt_heap *h, rlt_heap_item *item, uint32_t place)
{
    heap_rise(h, item, place);
    heap_sink(h, item, item->place);
}

void rlt_heap_init(rlt_heap *h, rlt_heap_item **items, uint32_t cap)
{
    rlt_assert(cap <= UINT32_MAX / 2); /* a child's place must not wrap */
    h->items = items;
    h->n = 0;
    h->cap = cap;
}

rlt_heap_item *rlt_heap_first(const rlt_heap *h)
{
    return h->n > 0 ? h->items[0] : NULL;
}

void rlt_heap_insert(rlt_heap *h, rlt_heap_item *item, relet_time at)
{
    rlt_assert(item->place == 0);
    rlt_assert(h->n < h->cap);
    item->at = at;
    h->n++;
    heap_rise(h, item, h->n);
}

void rlt_heap_move(rlt_heap *h, rlt_heap_item *item, relet_time at)
{
    rlt_assert(item->place >= 1);
    rlt_assert(item->place <= h->n);
    rlt_assert(h->items[item->place - 1] == item);
    item->at = at;
    heap_settle(h, item, item->place);
}

void rlt_heap_remove(rlt_heap *h, rlt_heap_item *item)
{
    rlt_heap_item *last;
    uint32_t place = item->place;

    rlt_assert(item->place >= 1);
    rlt_assert(item->place <= h->n);
    rlt_assert(h->items[item->place - 1] == item);
    last = h->items[h->n - 1];
    h->n--;
    if (last != item)
        heap_settle(h, last, place);
    item->place = 0;
}
