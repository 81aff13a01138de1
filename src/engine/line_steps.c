/* SPDX-License-Identifier: MIT
 *
 * line_steps.c - the steps of a worker without work. LINE_UP puts the worker in
 * the line of idle workers, which are woken in order; LEAVE takes it out. */
#include "step.h"

#ifndef RELET_NO_QUEUE

static void line_say(rlt_args *a, const rlt_worker *w, const char *how)
{
    static const uint8_t keys[] = {RLT_KEY_WAITING, RLT_KEY_RANKED,
                                   RLT_KEY_IDLE, 0};

    rlt_assert(w->plan.wake.n > 0);
    rlt_args_keys(a, w->plan.queue, keys);
    rlt_args_add(a, w->plan.wake);
    rlt_args_add(a, relet_str(how));
}

/* ----------------------------------------------------------------- LINE_UP */

RELET_PRIVATE relet_time rlt_step_line_up_due(const rlt_worker *w,
                                              relet_time now)
{
    return w->state == RLT_WORKER_EAGER && w->drained &&
                   w->step[RLT_STEP_CLAIM].serial == 0
               ? now
               : RELET_NEVER;
}

RELET_PRIVATE uint32_t rlt_step_line_up_begin(rlt_worker *w, relet_time now)
{
    (void)now;
    rlt_assert(w->state == RLT_WORKER_EAGER);
    w->cursor.wake_seen = w->cursor.woken;
    w->left_since = 0;
    return 0;
}

/* A worker by type that was woken and found no job of its type passes the
 * wake-up on. */
RELET_PRIVATE rlt_own_script rlt_step_line_up_say(const rlt_worker *w,
                                                  rlt_args *a,
                                                  const rlt_worker_request *e)
{
    (void)e;
    line_say(a, w, w->cursor.woken ? "p" : "1");
    return RLT_SCRIPT_QUEUE_IDLE;
}

RELET_PRIVATE uint32_t rlt_step_line_up_heard(rlt_worker *w, relet_time now,
                                              relet_value v)
{
    int64_t us = 0, stands = 0;
    relet_time poll = w->plan.poll_ms;

    (void)relet_value_int(relet_value_at(v, 0), &us);
    (void)relet_value_int(relet_value_at(v, 2), &stands);
    rlt_worker_due(w, now, us, relet_value_at(v, 1));
    w->drained = 0;
    if (w->left_since) { /* a later LEAVE took the worker out of the line    */
        w->left_since = w->in_line = 0;
        return 0;
    }
    w->in_line = stands != 0;
    w->cursor.woken = w->cursor.woken && !w->cursor.wake_seen;
    if (!stands && w->plan.type.n > 0 && !rlt_type_cursor_at_start(&w->cursor))
        rlt_worker_throttle(w, now); /* the jobs that wait are of other types */
    if (!stands || w->state != RLT_WORKER_EAGER)
        return 0;
    rlt_type_cursor_begin(&w->cursor, now);
    w->throttled = 0;
    w->state = RLT_WORKER_ASLEEP;
    w->poll_at = now + poll -
                 (relet_time)rlt_rand_below(w->rand, (uint64_t)poll / 4 + 1);
    return 0;
}

/* ------------------------------------------------------------------- LEAVE */

RELET_PRIVATE relet_time rlt_step_leave_due(const rlt_worker *w,
                                            relet_time now)
{
    return w->called || (w->in_line && w->state == RLT_WORKER_STOPPING)
               ? now
               : RELET_NEVER;
}

RELET_PRIVATE rlt_own_script rlt_step_leave_say(const rlt_worker *w,
                                                rlt_args *a,
                                                const rlt_worker_request *e)
{
    (void)e;
    line_say(a, w, "0");
    return RLT_SCRIPT_QUEUE_IDLE;
}

RELET_PRIVATE uint32_t rlt_step_leave_heard(rlt_worker *w, relet_time now,
                                            relet_value v)
{
    (void)now;
    (void)v;
    w->in_line = w->called = 0;
    return 0;
}

#endif /* RELET_NO_QUEUE */
