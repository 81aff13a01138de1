/* SPDX-License-Identifier: MIT
 *
 * await.c - put a job and wait for its end: a loop over what is public. */
#include "await.h"
#include "client.h"
#include "text.h"

#ifndef RELET_NO_POLL

#define AWAIT_LOOK_MS 5000
#define AWAIT_LAST_MS 1000 /* for the last look and the put, behind the time */
#define AWAIT_KEEP_MS 60000

enum { AWAIT_PUT = 1, AWAIT_LOOK = 2 };

static void await_look(rlt_await *a, relet_time now)
{
    relet_request q = {0, 0, 0};
    relet_span none = {NULL, 0};

    q.tag = a->look_tag;
    a->look_at = now + AWAIT_LOOK_MS;
    if (a->number != 0 && a->looks == 0 &&
        relet_job_look(a->r, a->queue, a->number, none, &q) == 0)
        a->looks = 1;
}

/* "17 d result", "17 x error", "17 c ": 1 when that is the job's end. */
static int await_heard(rlt_await *a, relet_span text)
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
        a->end->place = RELET_DONE;
        a->end->result = text;
    } else if (how.p[0] == 'x') {
        a->end->place = RELET_DEAD;
        a->end->error = text;
    }
    return 1;
}

/* What was found when it was looked for. */
static int await_found(rlt_await *a, relet_value v)
{
    relet_job_info info;

    if (!relet_job_look_read(v, &info))
        memset(&info, 0, sizeof info);
    if (info.place != RELET_NOWHERE && info.place != RELET_DONE &&
        info.place != RELET_DEAD)
        return 0;
    *a->end = info;
    a->end->work.number = a->number;
    return 1;
}

RELET_PRIVATE int rlt_await_event(rlt_await *a, const relet_event *ev,
                                  relet_time now)
{
    int outcome = ev->kind >= RELET_REPLY && ev->kind <= RELET_UNSURE;

    if (ev->kind == RELET_MESSAGE && rlt_span_same(ev->channel, a->channel))
        return await_heard(a, relet_value_text(ev->value)) ? 1 : -1;
    if (ev->kind == RELET_UP)
        await_look(a, now);
    if (outcome && a->looks && ev->tag == a->look_tag) {
        a->looks = 0;
        return ev->kind == RELET_REPLY && await_found(a, ev->value) ? 1 : -1;
    }
    if (!outcome || ev->tag != a->put_tag)
        return -1;
    if (ev->kind != RELET_REPLY)
        return 0;
    rlt_assert(a->number == 0);
    switch (relet_put_number(ev->value, 0, &a->number)) {
    case 0: return 0;
    case 2: await_look(a, now); break; /* another one's, it may have ended   */
    default:
        if (a->late)
            await_look(a, now);
    }
    return -1;
}

RELET_PRIVATE int rlt_await_tick(rlt_await *a, relet_time now)
{
    if (a->late && a->number != 0 && (now >= a->until || a->looks == 0))
        return 1;
    if (now >= a->until) {
        a->until = now + AWAIT_LAST_MS;
        a->late = 1;
        await_look(a, now);
    } else if (now >= a->look_at) {
        await_look(a, now);
    }
    return 0;
}

RELET_PRIVATE relet_time rlt_await_deadline(const rlt_await *a)
{
    return RLT_MIN(a->look_at, a->until);
}

/* The channel has a number of its own: an end that is told late, of what an
 * earlier wait has put, may be of a job with the same number in another
 * queue. */
RELET_PRIVATE int rlt_await_start(rlt_await *a, relet *r, relet_span queue,
                                  const relet_job *job, relet_job_info *end,
                                  relet_time now, relet_time timeout_ms)
{
    relet_request q = {0, 0, 0};
    relet_job own = *job;
    rlt_say name;
    int code;

    rlt_hold_name(r);
    memcpy(a->name, r->wake, r->wake_len);
    rlt_say_init(&name, a->name + r->wake_len, sizeof a->name - r->wake_len);
    rlt_say_text(&name, ":end:");
    rlt_say_int(&name, (int64_t)r->put_op + 1);
    a->r = r;
    a->queue = queue;
    a->channel = rlt_span(a->name, r->wake_len + name.n);
    a->end = end;
    a->number = 0;
    a->looks = a->late = 0;
    a->until = now + timeout_ms;
    a->look_at = now + AWAIT_LOOK_MS;
    own.reply_to = a->channel;
    own.keep_ms = own.keep_ms ? own.keep_ms : AWAIT_KEEP_MS;
    q.tag = a->put_tag;
    q.timeout_ms = timeout_ms + AWAIT_LAST_MS;
    memset(end, 0, sizeof *end);
    code = relet_subscribe(r, RELET_CHANNEL, a->channel);
    return code == 0 ? relet_put(r, queue, &own, 1, 0, &q) : code;
}

RELET_PRIVATE void rlt_await_finish(rlt_await *a, int heard)
{
    static const uint64_t nobody = RLT_TAG_NOBODY;

    a->end->work.number = a->number;
    (void)relet_unsubscribe(a->r, RELET_CHANNEL, a->channel);
    if (heard)
        (void)rlt_conn_cancel(&a->r->conn, a->look_tag, &nobody);
    (void)relet_cancel(a->r, a->put_tag);
    (void)relet_cancel(a->r, a->look_tag);
}

/* 1, 0 as above, or a code. The put has an outcome, by its own time. */
static int await_all(rlt_await *a, relet_event *ev)
{
    relet_time now = relet_clock();
    int code;

    for (;;) {
        code = relet_wait(a->r, ev,
                          (int)RLT_MAX(rlt_await_deadline(a) - now, 0));
        now = relet_clock();
        if (code < 0)
            return code;
        code = code == 1 ? rlt_await_event(a, ev, now) : -1;
        if (code >= 0)
            return code;
        if (rlt_await_tick(a, now))
            return RELET_E_TIMEOUT;
    }
}

RELET_API int relet_put_wait(relet *r, relet_span queue, const relet_job *job,
                             relet_event *ev, relet_job_info *end,
                             int timeout_ms)
{
    relet_event late;
    rlt_await a;
    int code;

    if (rlt_client_is_foreign(r))
        return RELET_E_FORKED;
    if (relet_outstanding(r) > 0 || rlt_hold_any(r) || r->desk_busy)
        return rlt_client_refuse(r, "relet_put_wait while there are other "
                                    "operations, leases or workers");
    if (timeout_ms < 0)
        return rlt_client_refuse(r, "relet_put_wait needs an end of its time");
    a.put_tag = AWAIT_PUT;
    a.look_tag = AWAIT_LOOK;
    code = rlt_await_start(&a, r, queue, job, end, relet_clock(), timeout_ms);
    if (code == 0)
        code = await_all(&a, ev);
    rlt_await_finish(&a, code >= 0);
    while (code == RELET_E_TIMEOUT && relet_next(r, &late))
        continue;
    return code;
}

#endif
