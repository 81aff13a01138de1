/* SPDX-License-Identifier: MIT
 *
 * multi.h - the commands that a client queues after MULTI, and its watches.
 */
#ifndef RLT_QUEUE_H
#define RLT_QUEUE_H

#include "state.h"

/* Queue a command: 1, or 0: no memory. */
RELET_PRIVATE int rlt_queue_add(rlt_peer *p, const rlt_call *c);
RELET_PRIVATE const relet_span *rlt_multi_argv(const rlt_queued *q);

/* MULTI ends: drop the queued commands and the watches. */
RELET_PRIVATE void rlt_queue_clear(rlt_peer *p);

#define RLT_QUEUE_WATCH_COST(n) \
    (RLT_KEYS_WATCH_COST(n) + RLT_POOL_COST(sizeof(rlt_watching)))
RELET_PRIVATE void rlt_queue_watch(rlt_peer *p, relet_span key,
                                   int64_t now_ms);
RELET_PRIVATE void rlt_queue_unwatch(rlt_peer *p);

/* 1 when a watched key has changed, or has expired, since it was watched. */
RELET_PRIVATE int rlt_queue_changed(const rlt_peer *p, int64_t now_ms);

#endif
