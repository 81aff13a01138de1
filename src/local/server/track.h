/* SPDX-License-Identifier: MIT
 *
 * track.h - client-side caching: which peers may cache which keys, and their
 * invalidations.
 */
#ifndef RLT_TRACK_H
#define RLT_TRACK_H

#include "state.h"

/* The peer with this id, or NULL. */
RELET_PRIVATE rlt_peer *rlt_track_peer(const rlt_server *s, uint64_t id);

/* The peer has read the key. */
RELET_PRIVATE void rlt_track_read(rlt_peer *p, relet_span key);

/* The key has changed. `by` made the change; NULL: a script did. NOLOOP spares
 * `by` the broadcast. (Outside of broadcasts NOLOOP spares the peer whose
 * command is running.) */
RELET_PRIVATE void rlt_track_changed(rlt_server *s, const rlt_peer *by,
                                     relet_span key);

/* All keys have changed. */
RELET_PRIVATE void rlt_track_flushed(rlt_server *s);

/* CLIENT TRACKING ON (also repeated, with more prefixes) and OFF. For a prefix
 * RLT_TRACK_PREFIX_COST is promised. */
#define RLT_TRACK_PREFIX_COST(n) \
    (3 * RLT_DICT_COST((n) + 8) + RLT_POOL_COST(sizeof(rlt_prefix)))
RELET_PRIVATE void rlt_track_on(rlt_peer *p, int flags, uint64_t redirect);
RELET_PRIVATE void rlt_track_prefix(rlt_peer *p, relet_span name);
RELET_PRIVATE void rlt_track_off(rlt_peer *p);

/* The peer's command is answered: send it the invalidations held back for
 * it. */
RELET_PRIVATE void rlt_track_answered(rlt_peer *p);

/* All commands have run: send the broadcasts. */
RELET_PRIVATE void rlt_track_broadcast(rlt_server *s);

RELET_PRIVATE void rlt_track_free(rlt_server *s);

#endif
