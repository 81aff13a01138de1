/* SPDX-License-Identifier: MIT
 *
 * dispatch.h - a command, from its name to its reply: the checks in their
 * order.
 */
#ifndef RLT_RUN_H
#define RLT_RUN_H

#include "state.h"

/* Fills a call for this peer, but for argv, command and out. */
RELET_PRIVATE void rlt_dispatch_begin(rlt_call *c, rlt_peer *p);

/* Where replies to the peer go now: CLIENT REPLY may have turned them off. */
RELET_PRIVATE rlt_out *rlt_dispatch_out(rlt_peer *p);

/* Run a command that passed the checks: promise memory, run, log effects, track
 * the keys that were read. */
RELET_PRIVATE void rlt_dispatch_call(rlt_call *c);

/* 1 when memory is over the limit. */
RELET_PRIVATE int rlt_dispatch_oom(const rlt_server *s);

/* Check and run the command in p->argv, then serve the peers that it wakes. */
RELET_PRIVATE void rlt_dispatch_peer(rlt_peer *p);

/* Serve the peers whose keys became available, or were deleted. */
RELET_PRIVATE void rlt_dispatch_serve(rlt_server *s);

/* Peers whose wait timed out get their replies; pauses end. */
RELET_PRIVATE void rlt_dispatch_time(rlt_server *s);
RELET_PRIVATE int64_t rlt_dispatch_deadline_ms(const rlt_server *s);

/* End the peer's wait, with the reply for a time-out, or with `error` if
 * given. */
RELET_PRIVATE void rlt_dispatch_unblock(rlt_peer *p, const char *error);

/* The pause, if there is one, ends. */
RELET_PRIVATE void rlt_dispatch_unpause(rlt_server *s);

#endif
