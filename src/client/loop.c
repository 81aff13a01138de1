/* SPDX-License-Identifier: MIT
 *
 * loop.c - a turn of the client: the link learns the time first, then the
 * leases and the workers, which see the new state of the link. */
#include "kept.h"

RELET_API relet_time relet_deadline(const relet *r)
{
    relet_time ours;

    if (rlt_client_is_foreign(r))
        return RELET_NEVER;
    ours = RLT_MIN(rlt_leases_deadline(r), rlt_workers_deadline(r));
    return RLT_MIN(rlt_route_deadline(&r->route), ours);
}

RELET_API void relet_tick(relet *r, relet_time now)
{
    if (rlt_client_is_foreign(r))
        return;
    if (RLT_UNLIKELY(r->kept != NULL))
        rlt_await_secure(r);
    r->now = RLT_MAX(now, r->now);
    rlt_route_tick(&r->route, r->now);
    rlt_leases_tick(r);
    rlt_workers_tick(r);
}

RELET_API void relet_stop(relet *r)
{
    if (rlt_client_is_foreign(r))
        return;
    if (r->kept != NULL)
        rlt_await_secure(r);
    rlt_route_stop(&r->route);
    rlt_leases_stop(r);
    rlt_workers_stop(r);
}

RELET_API void relet_finish(relet *r)
{
    rlt_kept_finish(r);
    rlt_route_free(&r->route);
}
