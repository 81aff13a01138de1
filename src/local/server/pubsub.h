/* SPDX-License-Identifier: MIT
 *
 * pubsub.h - channels, patterns, shard channels, and their subscribers.
 */
#ifndef RLT_NEWS_H
#define RLT_NEWS_H

#include "glob.h"
#include "state.h"

/* Memory to promise for one subscription to a name of n bytes. */
#define RLT_NEWS_COST(n) \
    (2 * RLT_DICT_COST(n) + RLT_POOL_COST(sizeof(rlt_reader)) + \
     RLT_POOL_COST(sizeof(rlt_topic)))

/* Subscribe: 1, or 0: subscribed already. The memory is promised. */
RELET_PRIVATE int rlt_local_pubsub_join(rlt_peer *p, rlt_local_pubsub_kind kind,
                                        relet_span name);
/* Unsubscribe: 1, or 0: not subscribed. */
RELET_PRIVATE int rlt_local_pubsub_leave(rlt_peer *p,
                                         rlt_local_pubsub_kind kind,
                                         relet_span name);
/* Drop all subscriptions of the peer, without a message. */
RELET_PRIVATE void rlt_local_pubsub_leave_all(rlt_peer *p);

/* Channels and patterns of a peer, as the reply to SUBSCRIBE counts them. */
RELET_PRIVATE uint32_t rlt_local_pubsub_count(const rlt_peer *p);

/* 1 when the peer has subscriptions: in RESP2 it may then only subscribe. */
RELET_PRIVATE int rlt_local_pubsub_reading(const rlt_peer *p);

/* Send to all subscribers; returns how many. Patterns do not match shard
 * channels. */
RELET_PRIVATE uint32_t rlt_local_pubsub_publish(rlt_server *s, int shard,
                                                relet_span channel,
                                                relet_span message);

/* Publish a keyspace event, if its class is configured. */
RELET_PRIVATE void rlt_local_pubsub_event(rlt_server *s, uint32_t db,
                                          int class_, const char *event,
                                          relet_span key);

/* Letters such as "KEA" to flags and back; -1: an unknown letter. text has 24
 * bytes. */
RELET_PRIVATE int rlt_local_pubsub_flags(relet_span letters);
RELET_PRIVATE size_t rlt_local_pubsub_letters(int flags, char *text);

#endif
