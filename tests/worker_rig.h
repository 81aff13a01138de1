/* SPDX-License-Identifier: MIT
 *
 * worker_rig.h - a worker's state machine, with its requests as text, and the
 * server's answers to them. */
#ifndef T_WORKER_RIG_H
#define T_WORKER_RIG_H

#include "lease_rig.h"
#include "worker.h"

#define T_SLOTS 4
#define T_LEASE 10000
#define T_POLL 30000

typedef struct t_rig {
    t_clock c;
    rlt_worker w;
    rlt_claim slot[T_SLOTS];
    rlt_worker_request e; /* the last request sent                           */
    char sent[60];
} t_rig;

static inline void t_begin(t_rig *t, uint32_t slots)
{
    rlt_worker_plan plan;

    memset(t, 0, sizeof *t);
    memset(&plan, 0, sizeof plan);
    t_clock_begin(&t->c);
    plan.lease_ms = T_LEASE;
    plan.renew_ms = T_LEASE / 3;
    plan.poll_ms = T_POLL;
    plan.reap_ms = RELET_NEVER;
    plan.slots = slots;
    plan.batch = RLT_WORKER_BATCH;
    rlt_worker_start(&t->w, &plan, t->slot, &t->c.rand, t->c.now);
}

/* Returns the steps that the worker sends now, one word each. */
static inline const char *t_sends(t_rig *t)
{
    static const char *const names[RLT_STEPS] = {
        "renew", "done",  "return", "promote", "recall",
        "rank",  "claim", "lineup", "leave",   "reap",
        "trim",  "forget"};

    rlt_worker_request e;

    t->sent[0] = '\0';
    rlt_worker_tick(&t->w, t->c.now);
    for (; rlt_worker_want(&t->w, t->c.now, ++t->c.serial, &e); t->e = e)
        sprintf(t->sent + strlen(t->sent), "%s%s", t->sent[0] ? " " : "",
                names[e.step]);
    return t->sent;
}

/* Answers this step's request under way. Returns the result of
 * rlt_worker_reply. */
static inline int t_hear(t_rig *t, rlt_step step, const char *bytes)
{
    rlt_reply r = t_reply_to(&t->c, t->w.step[step].serial, bytes);

    return rlt_worker_reply(&t->w, t->c.now, step, &r);
}

/* Answers a claim with `count` jobs, the first with this number. due: of the
 * server's clock, or "". */
static inline int t_claimed(t_rig *t, int count, int number, const char *due,
                            int passed)
{
    static char text[600];
    int i, n;

    n = sprintf(text, "*%d\r\n:%.0f\r\n$%d\r\n%s\r\n:%d\r\n", 3 + 3 * count,
                (double)t->c.server_us, (int)strlen(due), due, passed);
    for (i = number; i < number + count; i++)
        n += sprintf(text + n,
                     ":%d\r\n$6\r\n.1234x\r\n$15\r\nL %d 0 0 0 - me\r\n",
                     i, i + 10);
    strcpy(t->c.bytes, text);
    return t_hear(t, RLT_STEP_CLAIM, t->c.bytes);
}

static inline int t_lined_up(t_rig *t, int stands)
{
    char text[80];

    sprintf(text, "*3\r\n:%.0f\r\n$0\r\n\r\n:%d\r\n", (double)t->c.server_us,
            stands);
    return t_hear(t, RLT_STEP_LINE_UP, text);
}

static inline void t_asleep(t_rig *t)
{
    t_begin(t, 1);
    (void)t_sends(t);
    (void)t_claimed(t, 0, 0, "", 0);
    (void)t_sends(t);
    (void)t_lined_up(t, 1);
}

#endif
