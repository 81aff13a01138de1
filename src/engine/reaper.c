/* SPDX-License-Identifier: MIT
 *
 * reaper.c - when a worker cleans up its queue. */
#include "reaper.h"

#include "claims.h"
#include "text.h"

#ifndef RELET_NO_QUEUE

#define REAPER_AGAIN_MS 5000 /* after a failure                              */
#define REAPER_REST 4 /* times every_ms between two TRIM steps                */
#define REAPER_FORGETS                                                         \
    120 /* times every_ms between two rounds of FORGET */
#define REAPER_FORGETS_MIN 60000
#define REAPER_STEP_MS 100 /* between two steps of such a round              */
#define REAPER_MS_MAX INT64_C(1000000000000000) /* above any clock; sums fit */

RELET_PRIVATE void rlt_reaper_begin(rlt_reaper *s, relet_time every_ms,
                                    relet_time now)
{
    int others = every_ms == RELET_NEVER;

    s->reap_at = others ? RELET_NEVER : now;
    s->trim_at = others ? RELET_NEVER : now + REAPER_REST * every_ms;
    s->forget_at = s->trim_at;
    s->from_len = 0;
    s->server_ms = 0;
    s->server_at = -1;
}

RELET_PRIVATE int64_t rlt_reaper_latest(const rlt_reaper *s, relet_time now,
                                        relet_time lease_ms)
{
    if (s->server_at < 0)
        return 0;
    return s->server_ms + (now - s->server_at) + lease_ms / 4;
}

static uint32_t reaper_count(relet_value v, size_t i)
{
    int64_t n = 0;

    (void)relet_value_int(relet_value_at(v, i), &n);
    return (uint32_t)RLT_MIN(RLT_MAX(n, 0), RLT_WORKER_BATCH);
}

static relet_time reaper_chance(relet_time every_ms, rlt_rand *rand)
{
    return (relet_time)rlt_rand_below(rand, (uint64_t)every_ms / 8 + 1);
}

/* The next REAP comes after every_ms, or when the next lease ends if that is
 * sooner. */
RELET_PRIVATE uint32_t rlt_reaper_reaped(rlt_reaper *s, relet_time now,
                                         relet_time sent_at,
                                         relet_time every_ms, relet_value v,
                                         rlt_rand *rand)
{
    relet_time wait = every_ms;
    int64_t left = -1, ms;

    rlt_assert(every_ms > 0);
    rlt_assert(sent_at <= now);
    (void)relet_value_int(relet_value_at(v, 2), &left);
    if (relet_value_int(relet_value_at(v, 3), &ms)) {
        s->server_ms = RLT_MIN(ms, REAPER_MS_MAX);
        s->server_at = sent_at;
    }
    if (left >= 0)
        wait = RLT_MIN(wait, left);
    if (reaper_count(v, 0) + reaper_count(v, 1) >= RLT_WORKER_BATCH)
        s->reap_at = now;
    else
        s->reap_at = now + wait + reaper_chance(every_ms, rand);
    return reaper_count(v, 0);
}

RELET_PRIVATE void rlt_reaper_trimmed(rlt_reaper *s, relet_time now,
                                      relet_time every_ms, relet_value v,
                                      rlt_rand *rand)
{
    int64_t more = 0;

    (void)relet_value_int(relet_value_at(v, 1), &more);
    s->trim_at =
        more > 0 && reaper_count(v, 0) > 0
            ? now
            : now + REAPER_REST * every_ms + reaper_chance(every_ms, rand);
}

RELET_PRIVATE relet_time rlt_reaper_forgets(relet_time every_ms)
{
    return RLT_MAX(REAPER_FORGETS * every_ms, REAPER_FORGETS_MIN);
}

/* An answer that does not fit in `from` ends the round. */
RELET_PRIVATE void rlt_reaper_forgot(rlt_reaper *s, relet_time now,
                                     relet_time every_ms, relet_value v,
                                     rlt_rand *rand)
{
    relet_span from = relet_value_text(v);

    s->from_len = from.n > sizeof s->from ? 0 : (uint8_t)from.n;
    rlt_assert(s->from_len <= sizeof s->from);
    if (s->from_len > 0)
        memcpy(s->from, from.p, s->from_len);
    s->forget_at = now + (s->from_len > 0 ? REAPER_STEP_MS
                                          : rlt_reaper_forgets(every_ms) +
                                                reaper_chance(every_ms, rand));
}

RELET_PRIVATE void rlt_reaper_kept(rlt_reaper *s, relet_time till)
{
    if (s->trim_at != RELET_NEVER)
        s->trim_at = RLT_MIN(s->trim_at, till);
}

RELET_PRIVATE relet_time rlt_reaper_again(relet_time now, relet_time every_ms,
                                          rlt_rand *rand)
{
    relet_time wait = RLT_MIN(every_ms, REAPER_AGAIN_MS);

    return now + wait + reaper_chance(wait, rand);
}

#endif /* RELET_NO_QUEUE */
