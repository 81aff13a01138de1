/* SPDX-License-Identifier: MIT
 *
 * pubsub.h - channels, patterns, shard channels: who reads them.
 */
#ifndef RLT_NEWS_H
#define RLT_NEWS_H

#include "glob.h"
#include "state.h"

/* What one subscription takes of a promise. */
#define RLT_NEWS_COST(n) \
    (2 * RLT_DICT_COST(n) + RLT_POOL_COST(sizeof(rlt_reader)) + \
     RLT_POOL_COST(sizeof(rlt_topic)))

/* 1, or 0: it was subscribed already. Its memory is promised. */
RELET_PRIVATE int rlt_local_pubsub_join(rlt_peer *p, rlt_local_pubsub_kind kind,
                                        relet_span name);
/* 1, or 0: it was not subscribed. */
RELET_PRIVATE int rlt_local_pubsub_leave(rlt_peer *p,
                                         rlt_local_pubsub_kind kind,
                                         relet_span name);
/* All of them, without a word. */
RELET_PRIVATE void rlt_local_pubsub_leave_all(rlt_peer *p);

/* Channels and patterns of a peer: what a reply to SUBSCRIBE counts. */
RELET_PRIVATE uint32_t rlt_local_pubsub_count(const rlt_peer *p);

/* 1 when the peer may do nothing but subscribe, in RESP2. */
RELET_PRIVATE int rlt_local_pubsub_reading(const rlt_peer *p);

/* To all who read it: how many. Shard channels have no patterns. */
RELET_PRIVATE uint32_t rlt_local_pubsub_publish(rlt_server *s, int shard,
                                                relet_span channel,
                                                relet_span message);

/* A keyspace event, if somebody asked for its class. */
RELET_PRIVATE void rlt_local_pubsub_event(rlt_server *s, uint32_t db,
                                          int class_, const char *event,
                                          relet_span key);

/* "KEA" to bits and back; -1: a letter that is none. text has 24 bytes. */
RELET_PRIVATE int rlt_local_pubsub_flags(relet_span letters);
RELET_PRIVATE size_t rlt_local_pubsub_letters(int flags, char *text);

#endif
