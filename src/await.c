/* SPDX-License-Identifier: MIT
 *
 * await.c - put a job and wait for its end: a loop over what is public.
 *
 * The end is told on a channel of this wait alone. A message may be lost with
 * its link, so the job is also looked for on each new link, every few seconds,
 * and once more at the end of the time. */
#include "client.h"
#include "text.h"

#ifndef RELET_NO_POLL

#define AWAIT_LOOK_MS 5000
#define AWAIT_LAST_MS 1000 /* for the last look, behind the time             */
#define AWAIT_KEEP_MS 60000

enum { AWAIT_PUT = 1, AWAIT_LOOK = 2 };

typedef struct await {
    relet *r;
    relet_span queue, channel;
    uint64_t number; /* 0: not put yet                                       */
    relet_time look_at;
    int looks; /* under way                                                  */
    relet_job_info *end;
} await;

static void await_look(await *a, relet_time now)
{
    relet_request q = {AWAIT_LOOK, 0, 0};
    relet_span none = {NULL, 0};

    a->look_at = now + AWAIT_LOOK_MS;
    if (a->number != 0 && a->looks == 0 &&
        relet_job_look(a->r, a->queue, a->number, none, &q) == 0)
        a->looks = 1;
}

/* "17 d result", "17 x error", "17 c ": 1 when that is the job's end. */
static int await_heard(await *a, relet_span text)
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
static int await_found(await *a, relet_value v)
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

/* 1: it has ended. 0: the put failed, and *ev says so. -1: go on. */
static int await_event(await *a, const relet_event *ev, relet_time now)
{
    int outcome = ev->kind >= RELET_REPLY && ev->kind <= RELET_UNSURE;

    if (ev->kind == RELET_MESSAGE && rlt_span_same(ev->channel, a->channel))
        return await_heard(a, relet_value_text(ev->value)) ? 1 : -1;
    if (ev->kind == RELET_UP)
        await_look(a, now);
    if (!outcome)
        return -1;
    if (ev->tag == AWAIT_LOOK) {
        a->looks = 0;
        return ev->kind == RELET_REPLY && await_found(a, ev->value) ? 1 : -1;
    }
    if (ev->kind != RELET_REPLY)
        return 0;
    if (relet_put_number(ev->value, 0, &a->number) == 2)
        await_look(a, now); /* another one's, which may have ended           */
    return -1;
}

/* 1, 0 as above, or a code. */
static int await_all(await *a, relet_event *ev, relet_time until)
{
    relet_time now = relet_clock();
    int last = 0, code;

    a->look_at = now + AWAIT_LOOK_MS;
    for (;;) {
        relet_time next = RLT_MIN(a->look_at, until);

        code = relet_wait(a->r, ev, (int)RLT_MAX(next - now, 0));
        now = relet_clock();
        if (code < 0)
            return code;
        if (code == 1)
            code = await_event(a, ev, now);
        else
            code = -1;
        if (code >= 0)
            return code;
        if (last && (now >= until || a->looks == 0))
            return RELET_E_TIMEOUT;
        if (now >= until) {
            until = now + AWAIT_LAST_MS;
            last = 1;
            await_look(a, now);
        } else if (now >= a->look_at) {
            await_look(a, now);
        }
    }
}

RELET_API int relet_put_wait(relet *r, relet_span queue, const relet_job *job,
                             relet_event *ev, relet_job_info *end,
                             int timeout_ms)
{
    static const uint64_t nobody = RLT_TAG_NOBODY;
    char name[sizeof r->wake + 4];
    relet_request q = {AWAIT_PUT, 0, 0};
    relet_job own = *job;
    relet_event late;
    await a;
    int code;

    if (relet_outstanding(r) > 0 || rlt_hold_any(r) || r->desk_busy)
        return rlt_client_refuse(r, "relet_put_wait while there are other "
                                    "operations, leases or workers");
    if (timeout_ms < 0)
        return rlt_client_refuse(r, "relet_put_wait needs an end of its time");
    rlt_hold_name(r);
    memcpy(name, r->wake, r->wake_len);
    memcpy(name + r->wake_len, ":end", 4);
    memset(&a, 0, sizeof a);
    a.r = r;
    a.queue = queue;
    a.channel = rlt_span(name, (size_t)r->wake_len + 4);
    a.end = end;
    own.reply_to = a.channel;
    own.keep_ms = own.keep_ms ? own.keep_ms : AWAIT_KEEP_MS;
    q.timeout_ms = RLT_MAX(timeout_ms, 1);
    memset(end, 0, sizeof *end);
    code = relet_subscribe(r, RELET_CHANNEL, a.channel);
    if (code == 0)
        code = relet_put(r, queue, &own, 1, 0, &q);
    if (code == 0)
        code = await_all(&a, ev, relet_clock() + timeout_ms);
    end->work.number = a.number;
    (void)relet_unsubscribe(r, RELET_CHANNEL, a.channel);
    if (code >= 0) /* and is not told, since *ev lends what it says */
        (void)rlt_conn_cancel(&r->conn, AWAIT_LOOK, &nobody);
    (void)relet_cancel(r, AWAIT_PUT);
    (void)relet_cancel(r, AWAIT_LOOK);
    while (code == RELET_E_TIMEOUT && relet_next(r, &late))
        continue;
    return code;
}

#endif
