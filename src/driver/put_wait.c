/* SPDX-License-Identifier: MIT
 *
 * put_wait.c - put a job and wait for its end: a loop over public calls. */
#include "put_wait.h"
#include "kept.h"
#include "text.h"

#ifndef RELET_NO_POLL
#ifndef RELET_NO_QUEUE

#define PUT_WAIT_LOOK_MS 5000
#define PUT_WAIT_LAST_MS                                                       \
    1000 /* for the put and the last look, after the time is up */
#define PUT_WAIT_KEEP_MS 60000

enum { PUT_WAIT_PUT = 1, PUT_WAIT_LOOK = 2 };

static void put_wait_look(rlt_put_wait *a, relet_time now)
{
    relet_request q = {0, 0, 0};
    relet_span none = {NULL, 0};

    q.tag = a->look_tag;
    a->look_at = now + PUT_WAIT_LOOK_MS;
    if (a->number != 0 && a->looks == 0 &&
        relet_queue_job_look(a->r, a->queue, a->number, none, &q) == 0)
        a->looks = 1;
}

/* Reads "17 d result", "17 x error" or "17 c ": 1 if it ends this job. */
static int put_wait_heard(rlt_put_wait *a, relet_span text)
{
    relet_span number = rlt_span_cut(&text, ' '), how;
    int64_t n;

    how = rlt_span_cut(&text, ' ');
    if (!rlt_text_int(number.p, number.n, &n) || (uint64_t)n != a->number ||
        how.n != 1)
        return 0;
    memset(a->end, 0, sizeof *a->end);
    a->end->work.number = a->number;
    if (text.p == NULL)
        text = relet_str("");
    if (how.p[0] == 'd') {
        a->end->place = RELET_AT_DONE;
        a->end->result = text;
    } else if (how.p[0] == 'x') {
        a->end->place = RELET_AT_DEAD;
        a->end->error = text;
    }
    return 1;
}

/* Reads the reply of a look: 1 if the job has ended or is gone. */
static int put_wait_found(rlt_put_wait *a, relet_value v)
{
    relet_job_info info;

    if (!relet_queue_job_look_read(v, &info))
        memset(&info, 0, sizeof info);
    if (info.place != RELET_AT_NOWHERE && info.place != RELET_AT_DONE &&
        info.place != RELET_AT_DEAD)
        return 0;
    *a->end = info;
    a->end->work.number = a->number;
    return 1;
}

RELET_PRIVATE int rlt_put_wait_event(rlt_put_wait *a, const relet_event *ev,
                                     relet_time now)
{
    int outcome = ev->kind >= RELET_EV_REPLY && ev->kind <= RELET_EV_UNSURE;

    if (ev->kind == RELET_EV_MESSAGE && rlt_span_same(ev->channel, a->channel))
        return put_wait_heard(a, relet_value_text(ev->value)) ? 1 : -1;
    if (ev->kind == RELET_EV_UP)
        put_wait_look(a, now);
    if (outcome && a->looks && ev->tag == a->look_tag) {
        a->looks = 0;
        return ev->kind == RELET_EV_REPLY && put_wait_found(a, ev->value) ? 1
                                                                          : -1;
    }
    if (!outcome || ev->tag != a->put_tag)
        return -1;
    if (ev->kind != RELET_EV_REPLY)
        return 0;
    rlt_assert(a->number == 0);
    switch (relet_queue_put_number(ev->value, 0, &a->number)) {
    case 0: return 0;
    case 2: put_wait_look(a, now); break; /* an older job, perhaps ended */
    default:
        if (a->late)
            put_wait_look(a, now);
    }
    return -1;
}

RELET_PRIVATE int rlt_put_wait_tick(rlt_put_wait *a, relet_time now)
{
    if (a->late && a->number != 0 && (now >= a->until || a->looks == 0))
        return 1;
    if (now >= a->until) {
        a->until = now + PUT_WAIT_LAST_MS;
        a->late = 1;
        put_wait_look(a, now);
    } else if (now >= a->look_at) {
        put_wait_look(a, now);
    }
    return 0;
}

RELET_PRIVATE relet_time rlt_put_wait_deadline(const rlt_put_wait *a)
{
    return RLT_MIN(a->look_at, a->until);
}

/* Each wait has a channel of its own: a late message for an earlier wait may be
 * about a job with the same number in another queue. */
RELET_PRIVATE int rlt_put_wait_start(rlt_put_wait *a, relet *r,
                                     relet_span queue, const relet_job *job,
                                     relet_job_info *end, relet_time now,
                                     relet_time timeout_ms)
{
    relet_request q = {0, 0, 0};
    relet_job own = *job;
    rlt_say name;
    int code;

    rlt_wake_name(r);
    memcpy(a->name, r->wake.name, r->wake.len);
    rlt_say_init(&name, a->name + r->wake.len, sizeof a->name - r->wake.len);
    rlt_say_text(&name, ":end:");
    rlt_say_int(&name, (int64_t)r->workers.put_op + 1);
    a->r = r;
    a->queue = queue;
    a->channel = rlt_span(a->name, r->wake.len + name.n);
    a->end = end;
    a->number = 0;
    a->looks = a->late = 0;
    a->until = now + timeout_ms;
    a->look_at = now + PUT_WAIT_LOOK_MS;
    own.reply_to = a->channel;
    own.keep_ms = own.keep_ms ? own.keep_ms : PUT_WAIT_KEEP_MS;
    q.tag = a->put_tag;
    q.timeout_ms = timeout_ms + PUT_WAIT_LAST_MS;
    memset(end, 0, sizeof *end);
    code = relet_subscribe(r, RELET_CHANNEL, a->channel);
    return code == 0 ? relet_queue_put(r, queue, &own, 1, 0, &q) : code;
}

RELET_PRIVATE void rlt_put_wait_finish(rlt_put_wait *a, int heard)
{
    a->end->work.number = a->number;
    (void)relet_unsubscribe(a->r, RELET_CHANNEL, a->channel);
    if (heard)
        rlt_route_disown(&a->r->route, a->look_tag, RLT_TAG_IGNORED);
    (void)relet_cancel(a->r, a->put_tag);
    (void)relet_cancel(a->r, a->look_tag);
}

/* Returns 1 or 0 as rlt_put_wait_event does, or a code. The loop ends: the put
 * has a timeout of its own, so that it gets an outcome. */
static int put_wait_all(rlt_put_wait *a, relet_event *ev)
{
    relet_time now = relet_clock();
    int code;

    for (;;) {
        code = relet_wait(a->r, ev,
                          (int)RLT_MAX(rlt_put_wait_deadline(a) - now, 0));
        now = relet_clock();
        if (code < 0)
            return code;
        code = code == 1 ? rlt_put_wait_event(a, ev, now) : -1;
        if (code >= 0)
            return code;
        if (rlt_put_wait_tick(a, now))
            return RELET_E_TIMEOUT;
    }
}

RELET_API int relet_queue_put_wait(relet *r, relet_span queue,
                                   const relet_job *job, relet_event *ev,
                                   relet_job_info *end, int timeout_ms)
{
    relet_event late;
    rlt_put_wait a;
    int code;

    if (rlt_client_is_foreign(r))
        return RELET_E_FORKED;
    if (relet_outstanding(r) > 0 || rlt_leases_any(r) || rlt_workers_any(r))
        return rlt_client_refuse(r,
                                 "relet_queue_put_wait while there are other "
                                 "operations, leases or workers");
    if (rlt_kept_any(r))
        return rlt_client_refuse(r,
                                 "relet_queue_put_wait while there are events "
                                 "to take that an earlier wait has kept");
    if (timeout_ms < 0)
        return rlt_client_refuse(
            r, "relet_queue_put_wait needs an end of its time");
    a.put_tag = PUT_WAIT_PUT;
    a.look_tag = PUT_WAIT_LOOK;
    code =
        rlt_put_wait_start(&a, r, queue, job, end, relet_clock(), timeout_ms);
    if (code == 0)
        code = put_wait_all(&a, ev);
    rlt_put_wait_finish(&a, code >= 0);
    while (code == RELET_E_TIMEOUT && relet_next(r, &late))
        continue;
    return code;
}

#endif /* RELET_NO_QUEUE */
#endif /* RELET_NO_POLL */
