/* SPDX-License-Identifier: MIT
 *
 * await.c - waits for one event: the outcome of an operation, the end of a
 * lease or a worker, while all other events are kept; and relet_call, which
 * drops them. */
#include "kept.h"
#include "turn.h"

#ifndef RELET_NO_POLL

static rlt_wanted await_outcome(uint64_t tag)
{
    rlt_wanted w;

    w.kind = RELET_EV_REPLY;
    w.number = -1;
    w.tag = tag;
    return w;
}

#ifndef RELET_SMALL

/* Takes one turn even if ms is 0, so that input that is there already counts. A
 * relet_wake meanwhile ends the next relet_wait. */
static int await_one(relet *r, const rlt_wanted *w, relet_event *ev,
                     relet_time ms)
{
    relet_time until;
    int code, turns = 0;

    if (rlt_turn_look_foreign(r))
        return RELET_E_FORKED;
    code = rlt_await_begin(r, w, ev);
    if (code != 0)
        return code;
    until = rlt_turn_until(r, ms);
    for (;; turns = 1) {
        rlt_turn_serve(r);
        code = rlt_await_next(r, w, ev);
        rlt_driver_of(r)->lends |= code == 1;
        if (code != 0 || (turns && rlt_turn_now(r) >= until))
            return code;
        if (until == RELET_NEVER && rlt_turn_is_over(r))
            return RELET_E_STOPPED;
        if (rlt_turn_take(r, until) != 0)
            return RELET_E_SYSTEM;
    }
}

RELET_API int relet_await(relet *r, uint64_t tag, relet_event *ev,
                          relet_time ms)
{
    rlt_wanted w = await_outcome(tag);

    return await_one(r, &w, ev, ms);
}

#if !defined(RELET_NO_LEASE) || !defined(RELET_NO_QUEUE)
static int await_end(relet *r, relet_kind kind, int number,
                     relet_event *ev, relet_time ms)
{
    rlt_wanted w;

    w.kind = kind;
    w.number = number;
    w.tag = 0;
    return await_one(r, &w, ev, ms);
}
#endif

#ifndef RELET_NO_LEASE
RELET_API int relet_lease_await_end(relet *r, int lease, relet_event *ev,
                                    relet_time ms)
{
    return await_end(r, RELET_EV_LEASE_ENDED, lease, ev, ms);
}
#endif

#ifndef RELET_NO_QUEUE
RELET_API int relet_worker_await_end(relet *r, int worker, relet_event *ev,
                                     relet_time ms)
{
    return await_end(r, RELET_EV_WORKER_ENDED, worker, ev, ms);
}
#endif

#endif /* RELET_SMALL */

/* Tells the outcome of a relet_call from older outcomes. */
#define AWAIT_CALL_TAG UINT64_C(0x72656c65742e6331)

RELET_API int relet_call(relet *r, const relet_span *argv, size_t argc,
                         relet_event *ev, int timeout_ms)
{
    relet_time until = rlt_turn_until(r, timeout_ms);
    relet_request q = {AWAIT_CALL_TAG, 0, 0};
    rlt_wanted w = await_outcome(AWAIT_CALL_TAG);
    int code;

    if (rlt_turn_look_foreign(r))
        return RELET_E_FORKED;
    if (relet_outstanding(r) > 0)
        return rlt_client_refuse(r, "relet_call while other operations are "
                                    "outstanding");
    if (rlt_leases_any(r) || rlt_workers_any(r))
        return rlt_client_refuse(r, "relet_call while there are leases or "
                                    "workers: their events would be lost");
    if (rlt_kept_any(r))
        return rlt_client_refuse(r, "relet_call while there are events to take "
                                    "that an earlier wait has kept");
    if (timeout_ms >= 0)
        q.timeout_ms = RELET_NEVER; /* `until` decides */
    code = relet_command(r, argv, argc, &q);
    if (code != 0)
        return code;
    while (code == 0) {
        rlt_turn_serve(r);
        while (relet_next(r, ev))
            if (rlt_wanted_is(&w, ev)) {
                rlt_driver_of(r)->lends = 1;
                return 0;
            }
        code = rlt_turn_now(r) < until ? rlt_turn_take(r, until)
                                       : RELET_E_TIMEOUT;
    }
    (void)relet_cancel(r, AWAIT_CALL_TAG);
    while (relet_next(r, ev))
        continue;
    return code;
}

#ifndef RELET_SMALL

RELET_API int relet_call_text(relet *r, relet_event *ev, int timeout_ms, ...)
{
    relet_span argv[RLT_SUBMIT_WORDS];
    size_t argc;
    va_list list;

    va_start(list, timeout_ms);
    argc = rlt_submit_words(argv, list);
    va_end(list);
    if (argc > RLT_SUBMIT_WORDS)
        return rlt_client_refuse(r, "relet_call_text takes 64 words");
    return relet_call(r, argv, argc, ev, timeout_ms);
}

#endif /* RELET_SMALL */

#endif /* RELET_NO_POLL */
