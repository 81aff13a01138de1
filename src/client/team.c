/* SPDX-License-Identifier: MIT
 *
 * team.c - how the workers of a team share their room: in proportion to their
 * weights, and by turns if the room is smaller than the weights. */
#include "client.h"

#ifndef RELET_NO_QUEUE

static int team_mates(const rlt_worker_entry *d, const rlt_worker_entry *e)
{
    return rlt_workers_in_use(e) && e->team == d->team;
}

/* The largest load of d that keeps load/weight at or below that of every hungry
 * team mate with one more job. */
static uint64_t team_level(const relet *r, const rlt_worker_entry *d)
{
    uint64_t level = UINT32_MAX;
    uint32_t i;

    for (i = 0; i < r->workers.max; i++) {
        const rlt_worker_entry *e = &r->workers.list[i];

        if (e != d && team_mates(d, e) && rlt_worker_hungry(&e->work))
            level = RLT_MIN(level, ((uint64_t)rlt_worker_load(&e->work) + 1) *
                                       d->weight / e->weight);
    }
    return level;
}

/* The hungry worker of the team that took the fewest jobs over time, by weight;
 * or NULL. */
static const rlt_worker_entry *team_next(const relet *r,
                                         const rlt_worker_entry *d)
{
    const rlt_worker_entry *next = NULL;
    uint32_t i;

    for (i = 0; i < r->workers.max; i++) {
        const rlt_worker_entry *e = &r->workers.list[i];

        if (team_mates(d, e) && rlt_worker_hungry(&e->work) &&
            (next == NULL || e->served < next->served))
            next = e;
    }
    return next;
}

static int team_is_busy(const rlt_worker_entry *d)
{
    return rlt_claims_busy(&d->work.held) > 0 || rlt_worker_hungry(&d->work) ||
           rlt_worker_load(&d->work) > 0;
}

/* A worker that joins has no credit against its team. */
RELET_PRIVATE void rlt_team_join(const relet *r, rlt_worker_entry *d)
{
    uint64_t least = UINT64_MAX;
    uint32_t i;

    for (i = 0; i < r->workers.max; i++)
        if (&r->workers.list[i] != d && team_mates(d, &r->workers.list[i]))
            least = RLT_MIN(least, r->workers.list[i].served);
    d->served = least != UINT64_MAX ? least : 0;
}

/* An idle worker banks no credit against its team. */
RELET_PRIVATE void rlt_team_account(const relet *r, rlt_worker_entry *d)
{
    uint64_t least = UINT64_MAX;
    uint32_t i;

    rlt_assert(d->weight > 0);
    d->served += (uint64_t)d->work.taken * 1000000 / d->weight;
    d->work.taken = 0;
    if (team_is_busy(d))
        return;
    for (i = 0; i < r->workers.max; i++)
        if (team_mates(d, &r->workers.list[i]) &&
            team_is_busy(&r->workers.list[i]))
            least = RLT_MIN(least, r->workers.list[i].served);
    if (least != UINT64_MAX)
        d->served = RLT_MAX(d->served, least);
}

/* How many jobs the worker may have at a time. The workers of a team share the
 * largest room among them in proportion to their weights. A worker without jobs
 * gets its turn even if the room is too small for its weight. */
RELET_PRIVATE uint32_t rlt_team_allowed(const relet *r,
                                        const rlt_worker_entry *d)
{
    const rlt_worker_entry *next = d->team ? team_next(r, d) : NULL;
    uint64_t all = 0, others = 0, level;
    uint32_t i;

    if (d->team == 0)
        return d->work.plan.slots;
    for (i = 0; i < r->workers.max; i++) {
        const rlt_worker_entry *e = &r->workers.list[i];

        if (!team_mates(d, e))
            continue;
        all = RLT_MAX(all, e->work.plan.slots);
        others += e == d ? 0 : rlt_worker_load(&e->work);
    }
    level = team_level(r, d);
    if (next == d)
        level = RLT_MAX(level, 1);
    else if (next != NULL && rlt_worker_load(&next->work) == 0)
        others++;
    all = all > others ? all - others : 0;
    return (uint32_t)RLT_MIN(RLT_MIN(all, level), d->work.plan.slots);
}

#endif /* RELET_NO_QUEUE */
