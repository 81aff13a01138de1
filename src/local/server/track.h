/* SPDX-License-Identifier: MIT
 *
 * track.h - who may keep which keys in a cache, and telling them of changes.
 */
#ifndef RLT_TRACK_H
#define RLT_TRACK_H

#include "state.h"

/* The peer with this id, or NULL. */
RELET_PRIVATE rlt_peer *rlt_track_peer(const rlt_server *s, uint64_t id);

/* The peer has read the key. */
RELET_PRIVATE void rlt_track_read(rlt_peer *p, relet_span key);

/* The key has changed. `by`: who is told nothing of it in a broadcast when it
 * wishes so; NULL for a script. (Else it is whose command is running.) */
RELET_PRIVATE void rlt_track_changed(rlt_server *s, const rlt_peer *by,
                                     relet_span key);

/* All keys have. */
RELET_PRIVATE void rlt_track_flushed(rlt_server *s);

/* CLIENT TRACKING ON (again, with more prefixes) and OFF. A prefix takes
 * RLT_TRACK_PREFIX_COST of a promise. */
#define RLT_TRACK_PREFIX_COST(n) \
    (3 * RLT_DICT_COST((n) + 8) + RLT_POOL_COST(sizeof(rlt_prefix)))
RELET_PRIVATE void rlt_track_on(rlt_peer *p, int flags, uint64_t redirect);
RELET_PRIVATE void rlt_track_prefix(rlt_peer *p, relet_span name);
RELET_PRIVATE void rlt_track_off(rlt_peer *p);

/* The command of the peer is answered: what concerns itself can go out. */
RELET_PRIVATE void rlt_track_answered(rlt_peer *p);

/* All that was there to do is done: broadcasts go out. */
RELET_PRIVATE void rlt_track_broadcast(rlt_server *s);

RELET_PRIVATE void rlt_track_free(rlt_server *s);

#endif
