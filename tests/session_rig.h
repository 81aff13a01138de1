/* SPDX-License-Identifier: MIT
 *
 * session_rig.h - starts a link and does its handshake, for the tests of the
 * life of a link. */
#ifndef T_SESSION_RIG_H
#define T_SESSION_RIG_H

#include "peer.h"

/* Checks the next command without a turn of the client before it, unlike
 * T_TOOK. */
#define T_NEXT_TOOK(peer, expected) ASSERT_STR_EQ(expected, t_took(peer))

static inline void t_greet_with(t_peer *p, const char *text)
{
    t_move(p);
    t_bytes_clear(&p->out);
    t_say(p, text);
    t_move(p);
}

static inline void t_start_named(t_peer *p)
{
    relet_config c = t_config();

    strcpy(c.user, "ann");
    strcpy(c.password, "sesame");
    strcpy(c.name, "worker-1");
    c.db = 3;
    c.tracking = RELET_TRACK_BROADCAST;
    c.tracking_noloop = 1;
    strcpy(c.tracking_prefix, "user:,job:");
    if (!t_start_with(p, &c))
        t_die("the client was not made");
}

#endif
