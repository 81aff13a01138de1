/* SPDX-License-Identifier: MIT
 *
 * route.c - the functions that act on every link of a client. */
#include "route.h"

RELET_PRIVATE void rlt_route_free(rlt_route *o)
{
    int i;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        rlt_link_free(&o->link[i]);
}

RELET_PRIVATE void rlt_route_stats(const rlt_route *o, relet_stats *out)
{
    int i;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        rlt_link_stats(&o->link[i], out);
}

RELET_PRIVATE relet_time rlt_route_deadline(const rlt_route *o)
{
    relet_time due = RELET_NEVER;
    int i;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        due = RLT_MIN(due, rlt_link_deadline(&o->link[i]));
    return due;
}

RELET_PRIVATE void rlt_route_tick(rlt_route *o, relet_time now)
{
    int i;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        rlt_link_tick(&o->link[i], now);
}

RELET_PRIVATE void rlt_route_stop(rlt_route *o)
{
    int i;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        rlt_link_stop(&o->link[i]);
}

RELET_PRIVATE int rlt_route_want(rlt_route *o, relet_io *io)
{
    int i;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        if (rlt_link_want(&o->link[i], io)) {
            io->link = i;
            return 1;
        }
    return 0;
}

RELET_PRIVATE int rlt_route_is_over(const rlt_route *o)
{
    int i, over = 1;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        over &= rlt_link_is_over(&o->link[i]);
    return over;
}

RELET_PRIVATE size_t rlt_route_cancel(rlt_route *o, uint64_t tag)
{
    size_t i, n = 0;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        n += rlt_link_cancel(&o->link[i], tag);
    return n;
}

RELET_PRIVATE void rlt_route_disown(rlt_route *o, uint64_t tag, uint64_t heir)
{
    int i;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        rlt_link_disown(&o->link[i], tag, heir);
}

RELET_PRIVATE int rlt_route_has_tag(const rlt_route *o, uint64_t tag)
{
    int i, has = 0;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        has |= rlt_link_has_tag(&o->link[i], tag);
    return has;
}

RELET_PRIVATE int rlt_route_has_place(const rlt_route *o, uint32_t place)
{
    int i, has = 0;

    rlt_assert(place > 0);
    for (i = 0; i < RELET_LINKS_MAX; i++)
        has |= rlt_link_has_place(&o->link[i], place);
    return has;
}

RELET_PRIVATE int rlt_route_credentials(rlt_route *o, relet_span user,
                                        relet_span password)
{
    int i, code = 0;

    for (i = 0; i < RELET_LINKS_MAX && code == 0; i++)
        code = rlt_link_credentials(&o->link[i], user, password);
    return code;
}

RELET_PRIVATE int rlt_route_take_answered(rlt_route *o, rlt_op *out)
{
    int i;

    for (i = 0; i < RELET_LINKS_MAX; i++)
        if (rlt_link_take_answered(&o->link[i], out))
            return 1;
    return 0;
}
