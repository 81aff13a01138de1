/* SPDX-License-Identifier: MIT
 *
 * zset.h - members with scores, in order of score, then of bytes.
 *
 * Scores are never NaN: callers refuse that. All zero is an empty zset. Access
 * by rank is O(log n), too. */
#ifndef RLT_ZSET_H
#define RLT_ZSET_H

#include "dict.h"
#include "str.h"
#include "tree.h"

/* Beyond one of these limits Redis converts to a skip list, and never back. */
#define RLT_ZSET_SMALL 128
#define RLT_ZSET_SMALL_BYTES 64

typedef struct rlt_zset_item {
    rlt_leaf leaf;
    double score;
    rlt_entry *entry; /* its key is the member                               */
} rlt_zset_item;

typedef struct rlt_zset {
    rlt_dict members; /* value.p: rlt_zset_item *                            */
    rlt_tree order;
    int large; /* 1: Redis would use a skip list                             */
} rlt_zset;

/* Memory to promise for adding a member of n bytes. Moving one takes none. */
#define RLT_ZSET_COST(n) \
    (RLT_DICT_COST(n) + RLT_POOL_COST(sizeof(rlt_zset_item)))

RELET_PRIVATE void rlt_zset_init(rlt_zset *z);
RELET_PRIVATE void rlt_zset_clear(rlt_zset *z, rlt_pool *pool);

RELET_PRIVATE uint32_t rlt_zset_count(const rlt_zset *z);
RELET_PRIVATE relet_span rlt_zset_member(const rlt_zset_item *item);

/* O(1); NULL when it is not a member. */
RELET_PRIVATE rlt_zset_item *rlt_zset_find(const rlt_zset *z,
                                           relet_span member);

/* The member must not be there yet. */
RELET_PRIVATE rlt_zset_item *rlt_zset_add(rlt_zset *z, rlt_pool *pool,
                                          relet_span member, double score);
RELET_PRIVATE void rlt_zset_move(rlt_zset *z, rlt_zset_item *item,
                                 double score);
RELET_PRIVATE void rlt_zset_remove(rlt_zset *z, rlt_pool *pool,
                                   rlt_zset_item *item);

/* Ranks count from 0 at the lowest. NULL when there is none with that rank. */
RELET_PRIVATE uint32_t rlt_zset_rank(const rlt_zset_item *item);
RELET_PRIVATE rlt_zset_item *rlt_zset_at(const rlt_zset *z, uint32_t rank);

/* side 0: the first, the one before; side 1: the last, the next. NULL: none. */
RELET_PRIVATE rlt_zset_item *rlt_zset_end(const rlt_zset *z, int side);
RELET_PRIVATE rlt_zset_item *rlt_zset_step(const rlt_zset_item *item,
                                           int side);

/* Scores from min to max, without the bound itself where it is open. */
typedef struct rlt_zset_scores {
    double min, max;
    int min_open, max_open;
} rlt_zset_scores;

/* Members from min to max, meant for equal scores. An end that is -1 is below
 * all members ("-"), 1 above all ("+"), 0 at the given bound. */
typedef struct rlt_zset_lex {
    relet_span min, max;
    int min_open, max_open;
    int min_end, max_end;
} rlt_zset_lex;

/* Returns how many members are within the range: ranks *from to *from + count -
 * 1. O(log n). An empty or reversed range has none. A lex range is searched as
 * if all scores were equal. */
RELET_PRIVATE uint32_t rlt_zset_in_scores(const rlt_zset *z,
                                          const rlt_zset_scores *range,
                                          uint32_t *from);
RELET_PRIVATE uint32_t rlt_zset_in_lex(const rlt_zset *z,
                                       const rlt_zset_lex *range,
                                       uint32_t *from);

#endif
