/* SPDX-License-Identifier: MIT
 *
 * pubsub_rig.h - a client that is subscribed to channel a, and the bytes by
 * which a server confirms that. */
#ifndef T_PUBSUB_RIG_H
#define T_PUBSUB_RIG_H

#include "peer.h"

#define T_SUB_A ">3\r\n+subscribe\r\n+a\r\n:1\r\n"
#define T_UNSUB_A ">3\r\n+unsubscribe\r\n+a\r\n:0\r\n"

/* The client is up, with a subscription to channel a in force. */
static inline int t_hearing(t_peer *p)
{
    t_start(p);
    if (!t_up(p) || t_wish(p, RELET_CHANNEL, "a") < 0)
        return 0;
    p->honest = 1;
    t_move(p);
    p->honest = 0;
    return strcmp(t_told(p), "subscribed channel a") == 0;
}

#endif
