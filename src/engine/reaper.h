/* SPDX-License-Identifier: MIT
 *
 * reaper.h - when a worker cleans up its queue: jobs whose workers are gone
 * (REAP), jobs that were kept for long enough (TRIM), and the memory of clients
 * that are gone (FORGET). All workers do so at about the same pace, and one of
 * them in time is enough, so each pause has a random part. */
#ifndef RLT_REAPER_H
#define RLT_REAPER_H

#include "base.h"
#include "rand.h"

#ifndef RELET_NO_QUEUE

typedef struct rlt_reaper {
    relet_time reap_at, trim_at, forget_at; /* NEVER: other workers do it    */
    char from[24]; /* where FORGET goes on; empty: at the start              */
    uint8_t from_len;
    int64_t server_ms; /* the server clock at some time since server_at      */
    relet_time server_at; /* when the last REAP was sent; below 0: never     */
} rlt_reaper;

RELET_PRIVATE void rlt_reaper_begin(rlt_reaper *s, relet_time every_ms,
                                    relet_time now);

/* The latest time that the server clock may show, judged by our clock, with a
 * tolerance of lease_ms / 4; 0: any time. If the server clock leaps ahead, all
 * leases end at once, although no worker is gone. */
RELET_PRIVATE int64_t rlt_reaper_latest(const rlt_reaper *s, relet_time now,
                                        relet_time lease_ms);

/* The answer to a REAP or a TRIM: a full step is followed by the next at once.
 * _reaped returns how many jobs wait again. */
RELET_PRIVATE uint32_t rlt_reaper_reaped(rlt_reaper *s, relet_time now,
                                         relet_time sent_at,
                                         relet_time every_ms, relet_value v,
                                         rlt_rand *rand);
RELET_PRIVATE void rlt_reaper_trimmed(rlt_reaper *s, relet_time now,
                                      relet_time every_ms, relet_value v,
                                      rlt_rand *rand);

/* A round of FORGET is several steps with short pauses between them. The next
 * round begins after rlt_reaper_forgets(every_ms). */
RELET_PRIVATE relet_time rlt_reaper_forgets(relet_time every_ms);
RELET_PRIVATE void rlt_reaper_forgot(rlt_reaper *s, relet_time now,
                                     relet_time every_ms, relet_value v,
                                     rlt_rand *rand);

/* _kept: a job that this worker ended is kept until `till`, and a TRIM is due
 * then. _again: when to repeat a step that failed. */
RELET_PRIVATE void rlt_reaper_kept(rlt_reaper *s, relet_time till);
RELET_PRIVATE relet_time rlt_reaper_again(relet_time now, relet_time every_ms,
                                          rlt_rand *rand);

#endif /* RELET_NO_QUEUE */

#endif
