/* SPDX-License-Identifier: MIT
 *
 * blocked.h - clients that wait: for a key, for time, for the end of a pause.
 */
#ifndef RLT_PARK_H
#define RLT_PARK_H

#include "state.h"

/* The peer waits for keys; more of them by rlt_blocked_key, whose memory is
 * promised (RLT_PARK_COST). until_ms 0: for ever. */
#define RLT_PARK_COST(n) (RLT_DICT_COST(n) + RLT_POOL_COST(sizeof(rlt_waiter)))
RELET_PRIVATE void rlt_blocked_add(rlt_peer *p, rlt_peer_wait what,
                                   int64_t until_ms);
RELET_PRIVATE void rlt_blocked_key(rlt_peer *p, relet_span key);

/* Its command has been answered: CLIENT REPLY SKIP goes on to the next. */
RELET_PRIVATE void rlt_blocked_answered(rlt_peer *p);

/* It waits no longer. Its input goes on after what runs now. */
RELET_PRIVATE void rlt_blocked_end(rlt_peer *p);

/* The key has come: noted if anybody waits for it. */
RELET_PRIVATE void rlt_blocked_came(rlt_server *s, uint32_t db, relet_span key);

/* The first key that has come, taken off the list; NULL: none. Then whoever
 * waits for it, first come first; and free it. */
RELET_PRIVATE rlt_came *rlt_blocked_next(rlt_server *s);
RELET_PRIVATE rlt_waiter *rlt_blocked_first(rlt_server *s, const rlt_came *c);
RELET_PRIVATE void rlt_blocked_came_free(rlt_server *s, rlt_came *c);

/* Something was said to the peer that it did not ask for now. What did not fit
 * is lost, so it is closed. */
RELET_PRIVATE void rlt_blocked_told(rlt_peer *p);

/* Peers with input left, or to be closed: queued, and taken. */
RELET_PRIVATE void rlt_blocked_resume(rlt_peer *p);
RELET_PRIVATE rlt_peer *rlt_blocked_resumed(rlt_server *s);

#endif
