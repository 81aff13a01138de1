/* SPDX-License-Identifier: MIT
 *
 * heap.h - deadlines in order, the earliest first.
 *
 * Whoever has a deadline embeds an item, all zero at first; the heap holds
 * pointers to items, in an array that its owner brings, and owns nothing. */
#ifndef RLT_HEAP_H
#define RLT_HEAP_H

#include "base.h"

typedef struct rlt_heap_item {
    relet_time at;
    uint32_t place; /* 0: in no heap; else one more than its index */
} rlt_heap_item;

typedef struct rlt_heap {
    rlt_heap_item **items;
    uint32_t n, cap;
} rlt_heap;

RELET_PRIVATE void rlt_heap_init(rlt_heap *h, rlt_heap_item **items,
                                 uint32_t cap);

/* The earliest item, or NULL. Equal deadlines come in no promised order, but
 * in the same one for the same calls. */
RELET_PRIVATE rlt_heap_item *rlt_heap_first(const rlt_heap *h);

/* An item that is in no heap goes in; there must be room for it. */
RELET_PRIVATE void rlt_heap_insert(rlt_heap *h, rlt_heap_item *item,
                                   relet_time at);

/* An item that is in this heap gets another deadline, or leaves. */
RELET_PRIVATE void rlt_heap_move(rlt_heap *h, rlt_heap_item *item,
                                 relet_time at);
RELET_PRIVATE void rlt_heap_remove(rlt_heap *h, rlt_heap_item *item);

#endif
