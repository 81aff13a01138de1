/* SPDX-License-Identifier: MIT
 *
 * clean_steps.c - the steps with which a worker cleans up its queue. REAP puts
 * jobs back in line after their leases have expired, TRIM deletes jobs that
 * were kept for long enough, and FORGET deletes the records of clients that are
 * gone. reaper.h says when each step is due. */
#include "step.h"

#include "text.h"

#ifndef RELET_NO_QUEUE

#define CLEAN_FORGET_MAX 16 /* a server copies the records that it walks over */
#define CLEAN_KEPT_MAX (UINT64_C(1) << 52) /* no limit on done jobs           */

static relet_time clean_due(const rlt_worker *w, relet_time at)
{
    return w->state == RLT_WORKER_STOPPING ? RELET_NEVER : at;
}

RELET_PRIVATE void rlt_worker_clean_failed(rlt_worker *w, relet_time now,
                                           rlt_step step, int is_error)
{
    relet_time again = rlt_reaper_again(now, w->plan.reap_ms, w->rand);

    if (step == RLT_STEP_REAP)
        w->reaper.reap_at = again;
    else if (step == RLT_STEP_TRIM)
        w->reaper.trim_at = again;
    else
        w->reaper.forget_at =
            is_error ? now + rlt_reaper_forgets(w->plan.reap_ms) : again;
}

/* -------------------------------------------------------------------- REAP */

RELET_PRIVATE relet_time rlt_step_reap_due(const rlt_worker *w, relet_time now)
{
    (void)now;
    return clean_due(w, w->reaper.reap_at);
}

RELET_PRIVATE rlt_own_script rlt_step_reap_say(const rlt_worker *w,
                                               rlt_args *a,
                                               const rlt_worker_request *e)
{
    static const uint8_t keys[] = {RLT_KEY_WAITING, RLT_KEY_LEASED,
                                   RLT_KEY_DEAD, RLT_KEY_IDLE, 0};

    rlt_args_keys(a, w->plan.queue, keys);
    rlt_args_number(a, RLT_WORKER_BATCH);
    rlt_args_number(a, w->plan.stalls_max);
    rlt_args_number(a, (uint64_t)w->plan.lease_ms);
    if (e->latest_ms > 0)
        rlt_args_number(a, (uint64_t)e->latest_ms);
    return RLT_SCRIPT_QUEUE_REAP;
}

/* Reaped jobs wait again, also for the worker that reaped them. */
RELET_PRIVATE uint32_t rlt_step_reap_heard(rlt_worker *w, relet_time now,
                                           relet_value v)
{
    if (rlt_reaper_reaped(&w->reaper, now, w->step[RLT_STEP_REAP].sent_at,
                          w->plan.reap_ms, v, w->rand) > 0)
        rlt_worker_wake(w);
    return 0;
}

/* -------------------------------------------------------------------- TRIM */

RELET_PRIVATE relet_time rlt_step_trim_due(const rlt_worker *w, relet_time now)
{
    (void)now;
    return clean_due(w, w->reaper.trim_at);
}

RELET_PRIVATE rlt_own_script rlt_step_trim_say(const rlt_worker *w,
                                               rlt_args *a,
                                               const rlt_worker_request *e)
{
    static const uint8_t keys[] = {RLT_KEY_DONE, RLT_KEY_DEAD, RLT_KEY_IDS, 0};

    (void)e;
    rlt_args_keys(a, w->plan.queue, keys);
    rlt_args_number(a, CLEAN_KEPT_MAX);
    rlt_args_number(a, w->plan.dead_max);
    rlt_args_number(a, (uint64_t)w->plan.dead_ms);
    rlt_args_number(a, RLT_WORKER_BATCH);
    return RLT_SCRIPT_QUEUE_TRIM;
}

RELET_PRIVATE uint32_t rlt_step_trim_heard(rlt_worker *w, relet_time now,
                                           relet_value v)
{
    rlt_reaper_trimmed(&w->reaper, now, w->plan.reap_ms, v, w->rand);
    return 0;
}

/* ------------------------------------------------------------------ FORGET */

RELET_PRIVATE relet_time rlt_step_forget_due(const rlt_worker *w,
                                             relet_time now)
{
    (void)now;
    return clean_due(w, w->reaper.forget_at);
}

RELET_PRIVATE rlt_own_script rlt_step_forget_say(const rlt_worker *w,
                                                 rlt_args *a,
                                                 const rlt_worker_request *e)
{
    static const uint8_t keys[] = {RLT_KEY_IDS, 0};
    relet_time ms = rlt_reaper_forgets(w->plan.reap_ms);

    (void)e;
    rlt_args_keys(a, w->plan.queue, keys);
    rlt_args_add(a, rlt_span(w->reaper.from, w->reaper.from_len));
    rlt_args_number(a, CLEAN_FORGET_MAX);
    rlt_args_number(a, (uint64_t)ms / 1000);
    return RLT_SCRIPT_QUEUE_FORGET;
}

RELET_PRIVATE uint32_t rlt_step_forget_heard(rlt_worker *w, relet_time now,
                                             relet_value v)
{
    rlt_reaper_forgot(&w->reaper, now, w->plan.reap_ms, v, w->rand);
    return 0;
}

#endif /* RELET_NO_QUEUE */
