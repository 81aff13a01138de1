/* SPDX-License-Identifier: MIT
 *
 * dispatch.h - a command, from its name to its reply: the checks in their order.
 */
#ifndef RLT_RUN_H
#define RLT_RUN_H

#include "state.h"

/* A call as it stands for this peer: without argv, command, out. */
RELET_PRIVATE void rlt_dispatch_begin(rlt_call *c, rlt_peer *p);

/* Where replies to it go now: CLIENT REPLY may have turned them off. */
RELET_PRIVATE rlt_out *rlt_dispatch_out(rlt_peer *p);

/* Run what passed the checks: memory, the command, its effects, tracking. */
RELET_PRIVATE void rlt_dispatch_call(rlt_call *c);

/* 1 when memory is over the limit. */
RELET_PRIVATE int rlt_dispatch_oom(const rlt_server *s);

/* The command in p->argv, with all checks, and what follows from it. */
RELET_PRIVATE void rlt_dispatch_peer(rlt_peer *p);

/* Who waits for keys that have come, or gone, goes on. */
RELET_PRIVATE void rlt_dispatch_serve(rlt_server *s);

/* The peers that waited too long get their replies; pauses end. */
RELET_PRIVATE void rlt_dispatch_time(rlt_server *s);
RELET_PRIVATE int64_t rlt_dispatch_deadline_ms(const rlt_server *s);

/* A peer that waits for keys is told that time is over, or (error) why it may
 * not wait. */
RELET_PRIVATE void rlt_dispatch_unblock(rlt_peer *p, const char *error);

/* The pause, if there is one, ends. */
RELET_PRIVATE void rlt_dispatch_unpause(rlt_server *s);

#endif
