/* SPDX-License-Identifier: MIT
 *
 * peer.c - clients: how they are made, named, reset, closed and freed.
 */
#include "peer.h"
#include "pubsub.h"
#include "blocked.h"
#include "multi.h"
#include "track.h"
#include "users.h"

static int peer_slot(rlt_server *s)
{
    uint32_t i, cap = s->peers_cap;
    void *more;

    for (i = 0; i < cap; i++)
        if (s->peers[i] == NULL)
            return (int)i;
    if (cap >= s->config.clients_max)
        return RELET_E_LIMIT;
    cap = RLT_MIN(RLT_MAX(cap * 2, 8), s->config.clients_max);
    more = s->memory.resize
               ? s->memory.resize(s->memory.user, s->peers,
                                  s->peers_cap * sizeof *s->peers,
                                  cap * sizeof *s->peers)
               : NULL;
    if (more == NULL)
        return RELET_E_MEMORY;
    s->peers = (rlt_peer **)more;
    for (; s->peers_cap < cap; s->peers_cap++)
        s->peers[s->peers_cap] = NULL;
    return (int)i;
}

static void peer_init(rlt_server *s, rlt_peer *p, int number)
{
    memset(p, 0, sizeof *p);
    p->server = s;
    p->number = number;
    p->id = s->next_id++;
    rlt_buf_init(&p->in, s->memory, NULL, 0, s->config.input_max);
    rlt_buf_init(&p->words, s->memory, NULL, 0, s->config.input_max);
    rlt_out_init(&p->out, s->memory, s->config.output_max);
    rlt_out_init(&p->later, s->memory, s->config.output_max);
    p->decode.bulk = -1;
    p->created_ms = p->used_ms = s->now_us / 1000;
    rlt_users_begin(p);
}

RELET_PRIVATE rlt_peer *rlt_peer_new(rlt_server *s, int *code)
{
    int number = peer_slot(s);
    rlt_peer *p;

    *code = number;
    if (number < 0)
        return NULL;
    p = (rlt_peer *)rlt_pool_try(&s->pool, sizeof *p);
    if (p == NULL) {
        *code = RELET_E_MEMORY;
        return NULL;
    }
    peer_init(s, p, number);
    s->peers[number] = p;
    s->peers_count++;
    s->counts.connections++;
    return p;
}

static void peer_leave(rlt_peer *p)
{
    p->again = 0;
    rlt_blocked_end(p);
    rlt_queue_clear(p);
    rlt_local_pubsub_leave_all(p);
    rlt_track_off(p);
}

static void peer_unresume(rlt_peer *p)
{
    rlt_server *s = p->server;
    rlt_peer *q, *kept = NULL;

    if (!p->resuming)
        return;
    /* Take all peers off the list, and put back all but this one, in order. */
    for (q = s->resume, s->resume = s->resume_last = NULL; q; q = kept) {
        kept = q->resume_next;
        q->resuming = 0;
        if (q != p)
            rlt_blocked_resume(q);
    }
}

RELET_PRIVATE void rlt_peer_free(rlt_peer *p)
{
    rlt_server *s = p->server;

    peer_leave(p);
    peer_unresume(p);
    rlt_str_free(&s->pool, p->name);
    rlt_buf_free(&p->in);
    rlt_buf_free(&p->words);
    rlt_out_free(&p->out);
    rlt_out_free(&p->later);
    if (p->args_cap > 0)
        (void)s->memory.resize(s->memory.user, p->args,
                               p->args_cap * (sizeof *p->args +
                                              sizeof *p->argv),
                               0);
    s->peers[p->number] = NULL;
    s->peers_count--;
    rlt_pool_put(&s->pool, p, sizeof *p);
}

RELET_PRIVATE void rlt_peer_drop(rlt_peer *p)
{
    rlt_buf_drop(&p->out.buf, rlt_buf_used(&p->out.buf));
    rlt_peer_kill(p);
}

RELET_PRIVATE void rlt_peer_kill(rlt_peer *p)
{
    peer_leave(p);
    p->closing = 1;
}

RELET_PRIVATE void rlt_peer_name(rlt_peer *p, relet_span name)
{
    rlt_str_free(&p->server->pool, p->name);
    p->name = name.n > 0 ? rlt_str_new(&p->server->pool, name) : NULL;
}

RELET_PRIVATE void rlt_peer_reset(rlt_peer *p)
{
    rlt_queue_clear(p);
    rlt_local_pubsub_leave_all(p);
    rlt_track_off(p);
    p->db = 0;
    p->out.resp = 2;
    if (p->reply_mode != RLT_REPLY_SKIP) /* SKIP ends with this command       */
        p->reply_mode = RLT_REPLY_ON;
    rlt_peer_name(p, relet_str(NULL));
    rlt_users_begin(p);
}
