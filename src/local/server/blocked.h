/* SPDX-License-Identifier: MIT
 *
 * blocked.h - clients that wait: for a key, for time, for the end of a pause.
 */
#ifndef RLT_PARK_H
#define RLT_PARK_H

#include "state.h"

/* The peer begins to wait. rlt_blocked_key adds a key that it waits for, whose
 * memory is promised (RLT_PARK_COST). until_ms 0: for ever. */
#define RLT_PARK_COST(n) (RLT_DICT_COST(n) + RLT_POOL_COST(sizeof(rlt_waiter)))
RELET_PRIVATE void rlt_blocked_add(rlt_peer *p, rlt_peer_wait what,
                                   int64_t until_ms);
RELET_PRIVATE void rlt_blocked_key(rlt_peer *p, relet_span key);

/* The peer's command was answered: CLIENT REPLY SKIP advances one command. */
RELET_PRIVATE void rlt_blocked_answered(rlt_peer *p);

/* The peer waits no longer. Its input resumes after the running command. */
RELET_PRIVATE void rlt_blocked_end(rlt_peer *p);

/* The key became available: it is noted if a peer waits for it. */
RELET_PRIVATE void rlt_blocked_came(rlt_server *s, uint32_t db, relet_span key);

/* Takes the first noted key off the list; NULL: none. Then: the first peer that
 * waits for this key, in order of arrival; and freeing the note. */
RELET_PRIVATE rlt_came *rlt_blocked_next(rlt_server *s);
RELET_PRIVATE rlt_waiter *rlt_blocked_first(rlt_server *s, const rlt_came *c);
RELET_PRIVATE void rlt_blocked_came_free(rlt_server *s, rlt_came *c);

/* Output was written to the peer outside of its own command. If some of that
 * output did not fit, the peer is closed. */
RELET_PRIVATE void rlt_blocked_told(rlt_peer *p);

/* The queue of peers with input left, or to be closed: append, take first. */
RELET_PRIVATE void rlt_blocked_resume(rlt_peer *p);
RELET_PRIVATE rlt_peer *rlt_blocked_resumed(rlt_server *s);

#endif
