/* SPDX-License-Identifier: MIT
 *
 * wake.c - the channels on which a client is woken: their names, and their
 * subscriptions. Leases and workers of a client share the channel if they have
 * the same key. */
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

RELET_PRIVATE relet_span rlt_wake_channel(const relet *r, char *out, size_t n)
{
    rlt_assert(r->wake.len > RLT_UID_LEN);
    n = rlt_span_put(out, n, relet_str(":wake:"));
    n = rlt_span_put(
        out, n,
        rlt_span(r->wake.name + r->wake.len - RLT_UID_LEN, RLT_UID_LEN));
    return rlt_span(out, n);
}

RELET_PRIVATE int rlt_wake_listen(relet *r, uint16_t hashslot,
                                  relet_span channel)
{
    rlt_assert(channel.n > RLT_WAKE_TAIL);
    return rlt_link_own_channel(rlt_route_link(&r->route, hashslot),
                                channel) == 0;
}

RELET_PRIVATE void rlt_wake_leave(relet *r, uint16_t hashslot,
                                  relet_span channel)
{
    rlt_link_leave_channel(rlt_route_link(&r->route, hashslot), channel);
}

/* The UID at the end of a channel's name decides: no other client has it. */
RELET_PRIVATE int rlt_wake_hides(const relet *r, const relet_event *ev)
{
    size_t n = ev->channel.n;

    return r->wake.len > 0 && n > RLT_WAKE_TAIL &&
           ev->channel_kind == RELET_SHARDED &&
           memcmp(ev->channel.p + n - RLT_UID_LEN,
                  r->wake.name + r->wake.len - RLT_UID_LEN, RLT_UID_LEN) == 0;
}
