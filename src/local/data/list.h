/* SPDX-License-Identifier: MIT
 *
 * list.h - a list of byte strings, O(1) at both ends.
 *
 * Strings are kept in chunks of a few dozen; a seek to the middle walks the
 * chunks from the nearer end. All zero is an empty list. */
#ifndef RLT_LIST_H
#define RLT_LIST_H

#include "str.h"

#define RLT_LIST_SLOTS 28

typedef struct rlt_list_chunk {
    struct rlt_list_chunk *next, *back;
    uint32_t from, to; /* which slots are in use                             */
    rlt_str *slots[RLT_LIST_SLOTS];
} rlt_list_chunk;

typedef struct rlt_list {
    rlt_list_chunk *first, *last;
    uint32_t count;
} rlt_list;

/* A place in a list: at an element, or at none (chunk NULL). Valid until the
 * list is changed by other means than this place. */
typedef struct rlt_list_place {
    rlt_list_chunk *chunk;
    uint32_t at;
} rlt_list_place;

/* Memory to promise for pushing, setting or inserting a string of n bytes. */
#define RLT_LIST_COST(n) \
    (RLT_STR_COST(n) + RLT_POOL_COST(sizeof(rlt_list_chunk)))

RELET_PRIVATE void rlt_list_init(rlt_list *l);
RELET_PRIVATE void rlt_list_clear(rlt_list *l, rlt_pool *pool);

/* end 0: the head, 1: the tail. */
RELET_PRIVATE void rlt_list_push(rlt_list *l, rlt_pool *pool, relet_span s,
                                 int end);

/* The string belongs to the caller; NULL when the list is empty. A string
 * that was popped can be pushed again without a copy. */
RELET_PRIVATE rlt_str *rlt_list_pop(rlt_list *l, rlt_pool *pool, int end);
RELET_PRIVATE void rlt_list_push_str(rlt_list *l, rlt_pool *pool, rlt_str *s,
                                     int end);

/* The place of the element with this index, from 0; at none if there is no such
 * element. The place of the first (end 0) or the last (end 1) element. */
RELET_PRIVATE rlt_list_place rlt_list_seek(const rlt_list *l, uint32_t index);
RELET_PRIVATE rlt_list_place rlt_list_end(const rlt_list *l, int end);

/* Move to the next element (side 1) or the one before (side 0). 1, or 0: now at
 * none. */
RELET_PRIVATE int rlt_list_step(rlt_list_place *at, int side);

/* The place must be at an element. */
RELET_PRIVATE relet_span rlt_list_get(rlt_list_place at);
RELET_PRIVATE void rlt_list_set(rlt_list_place at, rlt_pool *pool,
                                relet_span s);

/* Insert before (side 0) or behind (side 1) the place, which must be at an
 * element and is no longer valid. */
RELET_PRIVATE void rlt_list_insert(rlt_list *l, rlt_pool *pool,
                                   rlt_list_place at, int side, relet_span s);

/* Remove and free the element; returns the place of the next (side 1) or of the
 * one before (side 0), which may be none. */
RELET_PRIVATE rlt_list_place rlt_list_remove(rlt_list *l, rlt_pool *pool,
                                             rlt_list_place at, int side);

/* Remove elements equal to s, at most max of them (0: all), beginning at the
 * head (end 0) or the tail (end 1). Returns how many were removed. */
RELET_PRIVATE uint32_t rlt_list_remove_same(rlt_list *l, rlt_pool *pool,
                                            relet_span s, uint32_t max,
                                            int end);

/* Keep only n elements from index `from` on. Both are within the list. */
RELET_PRIVATE void rlt_list_trim(rlt_list *l, rlt_pool *pool, uint32_t from,
                                 uint32_t n);

#endif
