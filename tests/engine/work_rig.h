/* SPDX-License-Identifier: MIT
 *
 * work_rig.h - producers and workers of whole clients on a server: how they
 * begin, put, work and end. */
#ifndef T_WORK_RIG_H
#define T_WORK_RIG_H

#include "world.h"

static inline void t_begin(t_world *w, int clients)
{
    relet_config c = t_config();

    c.workers_max = 2;
    c.jobs_max = 8;
    t_world_start_with(w, clients, &c);
    t_world_pass(w, 10);
}

static inline relet_worker_config t_config_of(const char *queue)
{
    relet_worker_config c;

    memset(&c, 0, sizeof c);
    c.queue = relet_str(queue);
    return c;
}

static inline int t_work_with(t_world *w, int i, uint32_t room)
{
    relet_worker_config c = t_config_of("q");

    c.room = room;
    c.tag = 5;
    return relet_worker_start(w->p[i].r, &c);
}

static inline int t_put_job(t_world *w, int i, const relet_job *j)
{
    relet_request q = {9, 0, 0};
    int code = relet_queue_put(w->p[i].r, relet_str("q"), j, 1, 0, &q);

    t_world_settle(w);
    return code;
}

static inline relet_job t_job(const char *payload)
{
    relet_job j;

    memset(&j, 0, sizeof j);
    j.payload = relet_str(payload);
    return j;
}

static inline int t_put(t_world *w, int i, const char *payload)
{
    relet_job j = t_job(payload);

    return t_put_job(w, i, &j);
}

static inline int t_done(t_world *w, int i, uint64_t number)
{
    int code = relet_job_done(w->p[i].r, 0, number, relet_str(""));

    t_world_settle(w);
    return code;
}

static inline int t_fail(t_world *w, int i, uint64_t number,
                         relet_verdict verdict)
{
    relet_failure f;
    int code;

    memset(&f, 0, sizeof f);
    f.verdict = verdict;
    f.text = relet_str("no");
    code = relet_job_fail(w->p[i].r, 0, number, &f);
    t_world_settle(w);
    return code;
}

static inline void t_put_many(t_world *w, char queue, int count)
{
    const char name[2] = {queue, '\0'};
    relet_job j;

    memset(&j, 0, sizeof j);
    j.payload = relet_str("x");
    for (; count > 0; count--)
        (void)relet_queue_put(w->p[0].r, relet_str(name), &j, 1, 0, NULL);
    t_world_settle(w);
}

#endif
