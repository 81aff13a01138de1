/* SPDX-License-Identifier: MIT
 *
 * subscribe.h - sends SUBSCRIBE and UNSUBSCRIBE, the latter with a command that
 * marks the end of its answers. */
#ifndef RLT_SUBSCRIBE_H
#define RLT_SUBSCRIBE_H

#include "base.h"
#include "conn.h"
#include "pubsub.h"

/* Sends what rlt_pubsub_send found: SUBSCRIBE for a slot or, with `leave`,
 * UNSUBSCRIBE. 0; or RELET_E_LIMIT, RELET_E_MEMORY, and nothing was sent. */
RELET_PRIVATE int rlt_subscribe_send(rlt_conn *c, rlt_pubsub *ps, uint32_t slot,
                                     int leave, relet_time timeout_ms);

#endif
