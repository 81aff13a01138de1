/* SPDX-License-Identifier: MIT
 *
 * peer.h - clients: how they begin, what they leave behind.
 */
#ifndef RLT_PEER_H
#define RLT_PEER_H

#include "state.h"

/* NULL: *code says why. */
RELET_PRIVATE rlt_peer *rlt_peer_new(rlt_server *s, int *code);
RELET_PRIVATE void rlt_peer_free(rlt_peer *p);

/* It gives up all it waits for, reads and watches, and is to be closed. */
RELET_PRIVATE void rlt_peer_kill(rlt_peer *p);

/* The same, and what it was not yet sent is lost: another client wishes so. */
RELET_PRIVATE void rlt_peer_drop(rlt_peer *p);

/* RESET: as it began, but for its id. */
RELET_PRIVATE void rlt_peer_reset(rlt_peer *p);

/* An empty name is none; its memory is promised (RLT_STR_COST). */
RELET_PRIVATE void rlt_peer_name(rlt_peer *p, relet_span name);

#endif
