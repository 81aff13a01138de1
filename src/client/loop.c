/* SPDX-License-Identifier: MIT
 *
 * loop.c - a turn of the client: time goes to the session first, then to the
 * leases and the workers, which find the link as the session left it. */
#include "client.h"

RELET_API relet_time relet_deadline(const relet *r)
{
    relet_time ours;

    if (rlt_client_is_foreign(r))
        return RELET_NEVER;
    ours = RLT_MIN(rlt_leases_deadline(r), rlt_workers_deadline(r));
    return RLT_MIN(rlt_session_deadline(&r->session), ours);
}

RELET_API void relet_tick(relet *r, relet_time now)
{
    if (rlt_client_is_foreign(r))
        return;
    rlt_reader_release(&r->conn.reader);
    r->now = RLT_MAX(now, r->now);
    rlt_session_tick(&r->session, r->now);
    rlt_leases_tick(r);
    rlt_workers_tick(r);
}

RELET_API void relet_stop(relet *r)
{
    if (rlt_client_is_foreign(r))
        return;
    rlt_session_stop(&r->session);
    rlt_leases_stop(r);
    rlt_workers_stop(r);
}
