/* SPDX-License-Identifier: MIT
 *
 * ask_rig.h - a client on mem: that sends a request and waits for the
 * outcome, and helpers that put jobs and look at them. */
#ifndef T_ASK_RIG_H
#define T_ASK_RIG_H

#include <stdlib.h>
#include <string.h>

#include "greatest.h"
#include "relet.h"
#include "relet_local.h"

static relet *t_r;
static relet_event t_ev;
static relet_job_info t_info;
static uint64_t t_number;

/* Waits for the link first: a job that is put without a link is promoted only
 * by workers. */
static inline void t_setup(void *user)
{
    (void)user;
    t_r = relet_open("mem:", NULL, NULL, NULL);
    if (t_r == NULL || relet_wait(t_r, &t_ev, 10000) != 1 ||
        t_ev.kind != RELET_EV_UP)
        abort();
}

static inline void t_teardown(void *user)
{
    (void)user;
    relet_close(t_r);
}

static const relet_span t_queue = {"q", 1};
static const relet_span t_none = {NULL, 0};

/* The outcome of the request that was just submitted and returned `code`. */
static inline relet_kind t_hear(int code)
{
    if (code != 0)
        return RELET_EV_NOTHING;
    do {
        if (relet_wait(t_r, &t_ev, 10000) != 1)
            return RELET_EV_NOTHING;
    } while (t_ev.kind < RELET_EV_REPLY || t_ev.kind > RELET_EV_UNSURE);
    return t_ev.kind;
}

#define HEARD(code) ASSERT_EQ(RELET_EV_REPLY, t_hear(code))

/* The next event of this kind. */
static inline int t_until(relet_kind kind)
{
    do {
        if (relet_wait(t_r, &t_ev, 10000) != 1)
            return 0;
    } while (t_ev.kind != kind);
    return 1;
}

static inline int64_t t_nth(size_t i)
{
    int64_t n = -99;

    (void)relet_value_int(relet_value_at(t_ev.value, i), &n);
    return n;
}

static inline relet_job t_job(const char *payload, const char *id)
{
    relet_job j;

    memset(&j, 0, sizeof j);
    j.payload = relet_str(payload);
    if (id)
        j.id = relet_str(id);
    return j;
}

/* Puts one job; returns what relet_queue_put_number returns for it. */
static inline int t_put(const char *payload, const char *id)
{
    relet_job j = t_job(payload, id);

    if (t_hear(relet_queue_put(t_r, t_queue, &j, 1, 0, NULL)) != RELET_EV_REPLY)
        return -1;
    return relet_queue_put_number(t_ev.value, 0, &t_number);
}

static inline int t_look(uint64_t number, const char *id)
{
    if (t_hear(relet_queue_job_look(t_r, t_queue, number,
                                    id ? relet_str(id) : t_none, NULL)) !=
        RELET_EV_REPLY)
        return -1;
    return relet_queue_job_look_read(t_ev.value, &t_info);
}

static inline int t_worker(uint32_t room)
{
    relet_worker_config c;

    memset(&c, 0, sizeof c);
    c.queue = t_queue;
    c.room = room;
    c.label = relet_str("me");
    return relet_worker_start(t_r, &c);
}

#define SPAN(expected, span)                             \
    do {                                                 \
        ASSERT_EQ(strlen(expected), (span).n);           \
        ASSERT_MEM_EQ(expected, (span).p, (span).n);     \
    } while (0)

#endif
