/* SPDX-License-Identifier: MIT
 *
 * origin.h - the process that opened a client, and whether this is still that
 * process.
 *
 * After fork the child has the parent's descriptors, and must not send or
 * receive over them. So the client's rlt_home is in a page that the system
 * zeroes in a child; on a system without such pages the driver compares process
 * numbers in its own calls. */
#ifndef RLT_ORIGIN_H
#define RLT_ORIGIN_H

#include "client.h"

#ifndef RELET_NO_POLL

typedef struct rlt_origin {
    rlt_home *home; /* zeroed by fork; NULL: this system cannot do that, …   */
    long process;   /* … and the client's process number is compared         */
} rlt_origin;

/* _begin: this process opens a client. _end: the client is closed. */
RELET_PRIVATE void rlt_origin_begin(rlt_origin *o);
RELET_PRIVATE void rlt_origin_end(rlt_origin *o);

/* Whether this is another process. If so, _look also marks the client, so that
 * all calls with it are refused. */
RELET_PRIVATE int rlt_origin_is_foreign(const rlt_origin *o, const relet *r);
RELET_PRIVATE int rlt_origin_look(const rlt_origin *o, relet *r);

#endif /* RELET_NO_POLL */

#endif
