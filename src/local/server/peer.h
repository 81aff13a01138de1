/* SPDX-License-Identifier: MIT
 *
 * peer.h - clients: how they are made, named, reset, closed and freed.
 */
#ifndef RLT_PEER_H
#define RLT_PEER_H

#include "state.h"

/* A new client, its number in *code; or NULL, and *code is a RELET_E_ code. */
RELET_PRIVATE rlt_peer *rlt_peer_new(rlt_server *s, int *code);
RELET_PRIVATE void rlt_peer_free(rlt_peer *p);

/* The client's waits, subscriptions, watches and tracking end, and it is marked
 * for closing. */
RELET_PRIVATE void rlt_peer_kill(rlt_peer *p);

/* As rlt_peer_kill, but unsent output is dropped: another client ordered it. */
RELET_PRIVATE void rlt_peer_drop(rlt_peer *p);

/* RESET: the client is as new, but keeps its id. */
RELET_PRIVATE void rlt_peer_reset(rlt_peer *p);

/* An empty name removes the name. The memory is promised (RLT_STR_COST). */
RELET_PRIVATE void rlt_peer_name(rlt_peer *p, relet_span name);

#endif
