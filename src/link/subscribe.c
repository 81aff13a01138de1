/* SPDX-License-Identifier: MIT
 *
 * subscribe.c - sends SUBSCRIBE and UNSUBSCRIBE, the latter with a command that
 * marks the end of its answers. */
#include "subscribe.h"

#include "cmd.h"

/* UNSUBSCRIBE is answered by pushes or by an error, and the client cannot know
 * by which. HELLO behind it has exactly one answer, and no ACL forbids HELLO:
 * all that comes before the answer to HELLO belongs to the UNSUBSCRIBE. */
static const char subscribe_barrier[] = "*1\r\n$5\r\nHELLO\r\n";

RELET_PRIVATE int rlt_subscribe_send(rlt_conn *c, rlt_pubsub *ps, uint32_t slot,
                                     int leave, relet_time timeout_ms)
{
    size_t barrier = leave ? sizeof subscribe_barrier - 1 : 0, n;
    relet_span argv[2];
    uint8_t *out = NULL;
    rlt_op op;
    int code;

    memset(&op, 0, sizeof op);
    op.klass = leave ? RLT_OP_UNSUBSCRIBE : RLT_OP_SUBSCRIBE;
    op.skip = leave ? 1 : 0;
    op.arg = slot;
    op.deadline = timeout_ms;
    rlt_pubsub_command(ps, slot, leave, argv);
    n = rlt_cmd_size(argv, 2) + barrier;
    code = rlt_conn_begin(c, n, &out);
    if (code < 0)
        return code;
    out = rlt_cmd_write(out, argv, 2);
    memcpy(out, subscribe_barrier, barrier);
    rlt_conn_commit(c, &op, n);
    rlt_pubsub_was_sent(ps, slot, leave);
    return 0;
}
