/* SPDX-License-Identifier: MIT
 *
 * multi.h - what a client has put off by MULTI, and what it watches.
 */
#ifndef RLT_QUEUE_H
#define RLT_QUEUE_H

#include "state.h"

/* Put a command off: 1, or 0: no memory. */
RELET_PRIVATE int rlt_queue_add(rlt_peer *p, const rlt_call *c);
RELET_PRIVATE const relet_span *rlt_multi_argv(const rlt_queued *q);

/* MULTI ends: what was put off is forgotten, and what was watched. */
RELET_PRIVATE void rlt_queue_clear(rlt_peer *p);

#define RLT_QUEUE_WATCH_COST(n) \
    (RLT_KEYS_WATCH_COST(n) + RLT_POOL_COST(sizeof(rlt_watching)))
RELET_PRIVATE void rlt_queue_watch(rlt_peer *p, relet_span key,
                                   int64_t now_ms);
RELET_PRIVATE void rlt_queue_unwatch(rlt_peer *p);

/* 1 when a watched key has changed, or has lapsed, since. */
RELET_PRIVATE int rlt_queue_changed(const rlt_peer *p, int64_t now_ms);

#endif
