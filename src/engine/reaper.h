/* SPDX-License-Identifier: MIT
 *
 * reaper.h - when a worker looks for jobs whose workers are gone, for what was
 * kept for long enough, and for what is remembered of clients that are gone. All
 * that look do so at about the same pace, and one in time is enough: so each has
 * some chance in its pauses. */
#ifndef RLT_REAPER_H
#define RLT_REAPER_H

#include "base.h"
#include "rand.h"

typedef struct rlt_reaper {
    relet_time reap_at, trim_at, forget_at; /* NEVER: others do              */
    char from[24]; /* where to go on to forget; none: at the front           */
    uint8_t from_len;
    int64_t server_ms; /* the server's clock, at some time since server_at,  */
    relet_time server_at; /* when it was last asked to reap; below 0: never  */
} rlt_reaper;

RELET_PRIVATE void rlt_reaper_begin(rlt_reaper *s, relet_time every_ms,
                                    relet_time now);

/* When it is to look next, but for what is under way. */
RELET_PRIVATE relet_time rlt_reaper_due(const rlt_reaper *s, int reaping,
                                        int trimming, int forgetting);

/* What the server's clock may show, by ours, but for what no clock is late by:
 * when it leaps ahead all leases end at once, and nobody is gone. 0: any. */
RELET_PRIVATE int64_t rlt_reaper_latest(const rlt_reaper *s, relet_time now,
                                        relet_time lease_ms);

/* What came of a step that was sent then: a full one is followed by the next at
 * once. How many jobs wait again. _again: when, after one that failed. */
RELET_PRIVATE uint32_t rlt_reaper_reaped(rlt_reaper *s, relet_time now,
                                         relet_time sent_at,
                                         relet_time every_ms, relet_value v,
                                         rlt_rand *rand);
RELET_PRIVATE void rlt_reaper_trimmed(rlt_reaper *s, relet_time now,
                                      relet_time every_ms, relet_value v,
                                      rlt_rand *rand);

/* The whole look is some steps with short pauses between them, and the next one
 * comes after rlt_reaper_forgets(every_ms). */
RELET_PRIVATE relet_time rlt_reaper_forgets(relet_time every_ms);
RELET_PRIVATE void rlt_reaper_forgot(rlt_reaper *s, relet_time now,
                                     relet_time every_ms, relet_value v,
                                     rlt_rand *rand);

/* What this worker did is kept so long, and then somebody has to see to it. */
RELET_PRIVATE void rlt_reaper_kept(rlt_reaper *s, relet_time till);
RELET_PRIVATE relet_time rlt_reaper_again(relet_time now, relet_time every_ms,
                                          rlt_rand *rand);

#endif
