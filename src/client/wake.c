/* SPDX-License-Identifier: MIT
 *
 * wake.c - the channel on which a client is woken: its name, and its
 * subscription. Leases and workers share it. */
#include "client.h"
#include "text.h"

RELET_PRIVATE size_t rlt_uid_make(relet *r, char *out)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t v = 0;
    size_t i;

    for (i = 0; i < RLT_UID_LEN; i++, v >>= 4) {
        if (i % 16 == 0)
            v = rlt_rand_next(&r->rand);
        out[i] = digits[v & 15];
    }
    return RLT_UID_LEN;
}

RELET_PRIVATE void rlt_wake_name(relet *r)
{
    size_t n = rlt_span_put(r->wake.name, 0, relet_str(r->prefix));

    if (r->wake.len > 0)
        return;
    rlt_link_scripts_own(rlt_route_home(&r->route),
                         rlt_workers_max(r) ? RLT_SCRIPTS_OWN
                                            : RLT_SCRIPTS_LEASE);
    if (n > 0)
        r->wake.name[n++] = ':';
    n = rlt_span_put(r->wake.name, n, relet_str("wake:"));
    n += rlt_uid_make(r, r->wake.name + n);
    rlt_assert(n <= sizeof r->wake.name);
    r->wake.len = (uint8_t)n;
}

RELET_PRIVATE void rlt_wake_listen(relet *r)
{
    rlt_wake_name(r);
    rlt_assert(r->wake.len > RLT_UID_LEN);
    /* Sent before the first request. If it fails, only timers wake. */
    if (!r->wake.listens &&
        rlt_link_own_channel(rlt_route_home(&r->route),
                             rlt_span(r->wake.name, r->wake.len)) >= 0)
        r->wake.listens = 1;
}

/* Events about the channel of wake-ups are not for the user. */
RELET_PRIVATE int rlt_wake_hides(const relet *r, const relet_event *ev)
{
    return r->wake.len > 0 && ev->channel.n == r->wake.len &&
           ev->channel_kind == RELET_CHANNEL &&
           memcmp(ev->channel.p, r->wake.name, r->wake.len) == 0;
}
