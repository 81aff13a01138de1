/* SPDX-License-Identifier: MIT
 *
 * stream_group.h - consumer groups of a stream, and their pending entries.
 */
#ifndef RLT_STREAM_GROUP_H
#define RLT_STREAM_GROUP_H

#include "stream.h"

typedef struct rlt_stream_consumer {
    rlt_leaf leaf;      /* in its group, by name                             */
    rlt_tree pending;   /* rlt_stream_pending.in_consumer, by id             */
    int64_t seen_ms;    /* XINFO's idle counts from here                     */
    uint32_t len;
    char name[1];       /* len bytes                                         */
} rlt_stream_consumer;

typedef struct rlt_stream_pending {
    rlt_leaf in_group, in_consumer;
    rlt_stream_id id;
    rlt_stream_consumer *consumer;
    int64_t delivered_ms;
    uint64_t deliveries;
} rlt_stream_pending;

typedef struct rlt_stream_group {
    rlt_leaf leaf;         /* in its stream, by name                         */
    rlt_tree consumers;    /* by name                                        */
    rlt_tree pending;      /* rlt_stream_pending.in_group, by id             */
    rlt_stream_id last;    /* last id delivered                              */
    int64_t entries_read;  /* -1: not known                                  */
    uint32_t len;
    char name[1];
} rlt_stream_group;

/* Memory to promise for a group or consumer with a name of n bytes, and for one
 * pending entry. */
#define RLT_STREAM_GROUP_COST(n) \
    RLT_POOL_COST(sizeof(rlt_stream_group) + (size_t)(n))
#define RLT_STREAM_CONSUMER_COST(n) \
    RLT_POOL_COST(sizeof(rlt_stream_consumer) + (size_t)(n))
#define RLT_STREAM_PENDING_COST RLT_POOL_COST(sizeof(rlt_stream_pending))

/* ------------------------------------------------------------------- groups */

/* Removes all groups. */
RELET_PRIVATE void rlt_stream_groups_clear(rlt_stream *s, rlt_pool *pool);

/* Copies all groups, with consumers and pending entries, into a stream that has
 * none; and the memory to promise for that. */
RELET_PRIVATE void rlt_stream_groups_copy(const rlt_stream *s, rlt_pool *pool,
                                          rlt_stream *to);
RELET_PRIVATE size_t rlt_stream_groups_copy_cost(const rlt_stream *s);

/* Groups and consumers are iterated in byte order of their names: _first, then
 * _next. NULL: no such name, or no more. */
RELET_PRIVATE rlt_stream_group *rlt_stream_group_find(const rlt_stream *s,
                                                      relet_span name);
RELET_PRIVATE rlt_stream_group *rlt_stream_group_add(
    rlt_stream *s, rlt_pool *pool, relet_span name, rlt_stream_id last,
    int64_t entries_read); /* a new name */
RELET_PRIVATE void rlt_stream_group_remove(rlt_stream *s, rlt_pool *pool,
                                           rlt_stream_group *g);
RELET_PRIVATE rlt_stream_group *rlt_stream_group_first(const rlt_stream *s);
RELET_PRIVATE rlt_stream_group *rlt_stream_group_next(
    const rlt_stream_group *g);
RELET_PRIVATE relet_span rlt_stream_group_name(const rlt_stream_group *g);

RELET_PRIVATE rlt_stream_consumer *rlt_stream_consumer_find(
    const rlt_stream_group *g, relet_span name);
RELET_PRIVATE rlt_stream_consumer *rlt_stream_consumer_add(
    rlt_stream_group *g, rlt_pool *pool, relet_span name,
    int64_t now_ms); /* a new name */

/* Also removes the consumer's pending entries from the group. */
RELET_PRIVATE void rlt_stream_consumer_remove(rlt_stream_group *g,
                                              rlt_pool *pool,
                                              rlt_stream_consumer *c);
RELET_PRIVATE rlt_stream_consumer *rlt_stream_consumer_first(
    const rlt_stream_group *g);
RELET_PRIVATE rlt_stream_consumer *rlt_stream_consumer_next(
    const rlt_stream_consumer *c);
RELET_PRIVATE relet_span rlt_stream_consumer_name(
    const rlt_stream_consumer *c);

/* XREADGROUP > has delivered an entry: g->last becomes its id, and entries_read
 * is incremented or estimated, as in Redis. */
RELET_PRIVATE void rlt_stream_group_read(const rlt_stream *s,
                                         rlt_stream_group *g,
                                         rlt_stream_id id);

/* How many entries a reader at id has read; -1: unknown. And the lag of XINFO;
 * -1: null. */
RELET_PRIVATE int64_t rlt_stream_read_at(const rlt_stream *s,
                                         rlt_stream_id id);
RELET_PRIVATE int64_t rlt_stream_group_lag(const rlt_stream *s,
                                           const rlt_stream_group *g);

/* ------------------------------------------------------------------ pending */

/* Adds an entry that is not yet pending in this group; deliveries is 1. */
RELET_PRIVATE rlt_stream_pending *rlt_stream_pending_add(
    rlt_stream_group *g, rlt_pool *pool, rlt_stream_consumer *c,
    rlt_stream_id id, int64_t now_ms);
RELET_PRIVATE void rlt_stream_pending_remove(rlt_stream_group *g,
                                             rlt_pool *pool,
                                             rlt_stream_pending *p);

/* Moves an entry to another consumer of the group, or the same. Takes no
 * memory. */
RELET_PRIVATE void rlt_stream_pending_give(rlt_stream_pending *p,
                                           rlt_stream_consumer *c);

/* In the whole group, or (c not NULL) among the entries of c: the pending entry
 * with this id; the first at or above it (side 1), the last at or below (side
 * 0); the neighbour. NULL: none. */
RELET_PRIVATE rlt_stream_pending *rlt_stream_pending_find(
    const rlt_stream_group *g, rlt_stream_id id);
RELET_PRIVATE rlt_stream_pending *rlt_stream_pending_seek(
    const rlt_stream_group *g, const rlt_stream_consumer *c,
    rlt_stream_id id, int side);
RELET_PRIVATE rlt_stream_pending *rlt_stream_pending_step(
    const rlt_stream_pending *p, int of_consumer, int side);

#endif
