/* SPDX-License-Identifier: MIT
 *
 * host.c - a server and its machine: its clock, its log, its start and its end,
 * and the bytes that it sends to its clients. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "wire.h"

#define HOST_EPOCH_US INT64_C(1700000000000000)

static void *host_resize(void *user, void *p, size_t old_size, size_t new_size)
{
    sim_host *h = (sim_host *)user;

    h->held += new_size - old_size;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    p = realloc(p, new_size);
    if (p == NULL)
        abort();
    return p;
}

/* ------------------------------------------------------------------- time */

int64_t sim_host_wall(const sim_world *w, const sim_host *h)
{
    if (h->wall_stop_us != SIM_NEVER)
        return h->wall_stop_us;
    return HOST_EPOCH_US + h->wall_offset_us + w->now_us +
           w->now_us * h->ppm / 1000000;
}

void sim_host_schedule(sim_world *w, sim_host *h)
{
    int64_t wall = relet_local_deadline(h->local), at;

    if (wall == INT64_MAX || h->wall_stop_us != SIM_NEVER)
        return;
    at = w->now_us + wall - sim_host_wall(w, h);
    if (at < w->now_us + SIM_MS)
        at = w->now_us + SIM_MS;
    if (at - w->now_us > 3600 * SIM_S ||
        (h->due_us > w->now_us && h->due_us <= at))
        return;
    h->due_us = at;
    sim_due_at(w, at, SIM_HOST, h->number, h->gen);
}

void sim_host_time(sim_world *w, sim_host *h)
{
    h->timed_us = w->now_us;
    relet_local_time(h->local, sim_host_wall(w, h));
}

void sim_host_clock(sim_world *w, sim_host *h)
{
    if (!h->up || h->frozen)
        return;
    sim_host_time(w, h);
    sim_host_outputs(w, h);
    sim_host_schedule(w, h);
}

/* ------------------------------------------------------------ start and end */

static void host_discard(sim_host *h, int id)
{
    const uint8_t *p;
    size_t n;

    while ((n = relet_local_output(h->local, id, &p)) > 0)
        relet_local_sent(h->local, id, n);
}

/* "$12\r
 * ", without printf, which is slow: this runs for each script. */
static size_t host_head(char *out, char type, size_t count)
{
    size_t n = 0;

    out[n++] = type;
    if (count >= 100)
        out[n++] = (char)('0' + count / 100 % 10);
    if (count >= 10)
        out[n++] = (char)('0' + count / 10 % 10);
    out[n++] = (char)('0' + count % 10);
    out[n++] = '\r';
    out[n++] = '\n';
    return n;
}

static void host_feed(sim_host *h, int argc, va_list list)
{
    char command[512];
    size_t n = host_head(command, '*', (size_t)argc), len;

    while (argc-- > 0) {
        const char *word = va_arg(list, const char *);

        len = strlen(word);
        n += host_head(command + n, '$', len);
        memcpy(command + n, word, len);
        memcpy(command + n + len, "\r\n", 2);
        n += len + 2;
    }
    relet_local_feed(h->local, h->admin, command, n);
}

void sim_host_admin(sim_world *w, sim_host *h, int argc, ...)
{
    va_list list;

    va_start(list, argc);
    host_feed(h, argc, list);
    va_end(list);
    host_discard(h, h->admin);
    sim_host_outputs(w, h);
}

void sim_host_ask(sim_host *h, char *out, size_t size, int argc, ...)
{
    const uint8_t *p;
    va_list list;
    size_t n;

    va_start(list, argc);
    host_feed(h, argc, list);
    va_end(list);
    n = relet_local_output(h->local, h->admin, &p);
    if (n > size)
        n = size;
    if (n > 0)
        memcpy(out, p + 1, n - 1);
    out[n > 0 ? n - 1 : 0] = '\0';
    host_discard(h, h->admin);
}

static void host_replay(sim_host *h)
{
    int id = relet_local_connect(h->local);

    relet_local_replay(h->local, id, 1);
    relet_local_feed(h->local, id, h->log.bytes, h->log.n);
    host_discard(h, id);
    relet_local_hangup(h->local, id);
}

/* An INFO field that holds an id. */
void sim_host_id(sim_host *h, const char *section, const char *field, char *out)
{
    char text[2048];
    const char *at;

    sim_host_ask(h, text, sizeof text, 2, "INFO", section);
    at = strstr(text, field);
    sprintf(out, "%.40s", at ? at + strlen(field) : "");
}

/* The server starts with the first `keep` bytes of the log `from`. */
void sim_host_start(sim_world *w, sim_host *h, const sim_log *from,
                    size_t keep)
{
    relet_local_config c;
    char db[12];

    memset(&c, 0, sizeof c);
    c.resize = host_resize;
    c.user = h;
    c.effects = 1;
    c.clients_max = SIM_LINKS;
    c.run_id = h->run_id[0] ? h->run_id : NULL;
    c.replid = h->replid[0] ? h->replid : NULL;
    c.seed = sim_keyed(&w->choices, SIM_OF_DELAY, (uint64_t)h->number,
                       ++h->gen);
    if (h->block == NULL)
        h->block = malloc(relet_local_size());
    h->local = relet_local_init(h->block, relet_local_size(), &c);
    if (h->local == NULL)
        abort();
    if (h->run_id[0] && h->replid[0])
        SIM_MARK(failed_back);
    h->run_id[0] = h->replid[0] = '\0';
    h->up = 1;
    h->start_us = w->now_us;
    h->due_us = 0;
    h->read_only = 0;
    memset(h->by_id, 0, sizeof h->by_id);
    h->timed_us = h->looked_us;
    /* This does not look at the clock: keys of the log that ended while no
     * process ran stay until the first look, and a clock that is set back
     * before it revives them. */
    relet_local_time(h->local, sim_host_wall(w, h));
    sim_log_copy(&h->log, from, keep);
    sim_ledger_anew(h);
    if (h->copied_n > h->log.n)
        h->copied_n = h->log.n;
    if (h->synced_n > h->log.n)
        h->synced_n = h->log.n;
    if (h->log.n > 0)
        host_replay(h);
    h->admin = relet_local_connect(h->local);
    if (w->shape.password)
        sim_host_admin(w, h, 4, "CONFIG", "SET", "requirepass", "sesame");
    sprintf(db, "%d", w->shape.db);
    sim_host_admin(w, h, 2, "SELECT", db);
    SIM_SAY(w, "h%d starts with %u bytes", h->number, (unsigned)h->log.n);
}

/* The process has ended: its links are reset, or closed in order. */
void sim_host_down(sim_world *w, sim_host *h, int reset)
{
    sim_link *l;
    uint64_t gen = 0;

    if (!h->up)
        return;
    (void)sim_claims_two_masters(w);
    while ((l = sim_net_next(w, &gen)) != NULL) {
        if (l->state != SIM_OPEN || l->host != h->number || l->host_gone)
            continue;
        sim_disturb_link(w, l);
        if (reset) {
            sim_net_reset(w, l, 0);
        } else {
            sim_net_fin(w, l, SIM_DOWN);
            sim_net_host_lets_go(w, l);
        }
    }
    relet_local_finish(h->local);
    h->local = NULL;
    h->up = 0;
    if (h->held != 0)
        sim_fail(w, SIM_E1, "the local server did not free %lu bytes",
                 (unsigned long)h->held);
}

void sim_host_free(sim_host *h)
{
    if (h->local)
        relet_local_finish(h->local);
    free(h->block);
    free(h->log.bytes);
    free(h->log.at);
    memset(h, 0, sizeof *h);
}

/* -------------------------------------------------------------------- links */

static void host_write(sim_link *l, const void *p, size_t n)
{
    if (l->out_n + n > l->out_cap) {
        l->out_cap = 2 * (l->out_n + n);
        l->out = (uint8_t *)realloc(l->out, l->out_cap);
        if (l->out == NULL)
            abort();
    }
    memcpy(l->out + l->out_n, p, n);
    l->out_n += n;
}

void sim_host_say(sim_link *l, const char *text)
{
    host_write(l, text, strlen(text));
}

void sim_host_accept(sim_world *w, sim_link *l)
{
    static const char crowded[] = "-ERR max number of clients reached\r\n";
    sim_host *h = &w->host[l->host];

    if (w->path[l->node][l->host].crowd ||
        (l->id = relet_local_connect(h->local)) < 0) {
        SIM_MARK(crowded);
        sim_disturb_link(w, l);
        l->id = -1;
        (void)sim_net_write(w, l, SIM_DOWN, (const uint8_t *)crowded,
                            sizeof crowded - 1);
        sim_net_fin(w, l, SIM_DOWN);
        l->host_gone = 1;
        return;
    }
    h->by_id[l->id] = l;
}

/* Sends as much to the client as the pipe takes. */
void sim_host_flush(sim_world *w, sim_link *l)
{
    while (l->out_at < l->out_n && l->state == SIM_OPEN && !l->reset) {
        size_t n = sim_net_write(w, l, SIM_DOWN, l->out + l->out_at,
                                 l->out_n - l->out_at);

        l->out_at += n;
        if (n == 0)
            return;
    }
    l->out_at = l->out_n = 0;
    if (l->closing && !l->host_gone) {
        sim_net_fin(w, l, SIM_DOWN);
        sim_net_host_lets_go(w, l);
    }
}

static void host_message(sim_world *w, sim_link *l, const sim_frame *f)
{
    static const char *const kind[] = {"message", "pmessage", "smessage"};
    sim_node *n = &w->node[l->node];
    uint64_t digest = 0;
    size_t i, k;

    sim_verbs_message(w, f);
    for (k = 0; k < 3; k++)
        if (f->words > 2 && f->word[0].n == strlen(kind[k]) &&
            memcmp(f->word[0].p, kind[k], f->word[0].n) == 0)
            break;
    if (k == 3 || (f->word[1].n > 32 && memchr(f->word[1].p, ':', 16)))
        return; /* no message, a wake-up, or the end of a job: awaits.c       */
    digest = sim_mix(digest, k);
    for (i = 1; i < f->words; i++)
        digest = sim_wire_text(digest, 'm', f->word[i]);
    if (n->message_gen != l->gen || n->lied)
        return; /* the client has another link, or was lied to */
    if (n->message_last - n->message_first == SIM_MESSAGES)
        sim_fail(w, SIM_E1, "more than SIM_MESSAGES undelivered messages");
    n->message[n->message_last++ % SIM_MESSAGES] = digest;
}

static void host_answer(sim_world *w, sim_link *l, const sim_frame *f)
{
    uint64_t tag = l->awaited;
    int noscript = f->type == '-' && f->text.n > 8 &&
                   memcmp(f->text.p, "NOSCRIPT", 8) == 0;
    int aborted = f->type == '-' && f->text.n > 9 &&
                  memcmp(f->text.p, "EXECABORT", 9) == 0;

    l->blocked = 0;
    l->awaited = 0;
    if (tag == 0)
        return;
    if (noscript)
        SIM_MARK(noscript);
    if (l->in_multi) {
        if (f->type == '-')
            sim_judge_refusal(w, tag, f->digest);
        return;
    }
    for (; tag != 0; tag = sim_op_of(w, tag)->with) {
        if (!noscript && !aborted)
            sim_judge_ran(w, l, tag);
        sim_judge_answered(w, l, tag,
                           sim_wire_put_digest(f, sim_op_of(w, tag)->before),
                           noscript || aborted);
    }
}

/* Collects the server's output on this link: each frame is an answer or a
 * message. */
static void host_collect(sim_world *w, sim_link *l)
{
    sim_host *h = &w->host[l->host];
    size_t at = l->out_n, n;
    const uint8_t *p;
    sim_frame f;
    long k;

    while ((n = relet_local_output(h->local, l->id, &p)) > 0) {
        host_write(l, p, n);
        relet_local_sent(h->local, l->id, n);
    }
    for (; at < l->out_n; at += (size_t)k) {
        k = sim_wire_frame(l->out + at, l->out_n - at, &f);
        if (k <= 0) {
            sim_fail(w, SIM_E1, "the local server's output is no whole frame");
            return;
        }
        if (f.type == '>') {
            host_message(w, l, &f);
        } else {
            if (l == h->asking) {
                sim_claims_answer(w, l, at, (size_t)k);
                sim_verbs_answer(w, l, &f);
            } else {
                sim_verbs_message(w, &f); /* in RESP2, as HELLO was refused */
            }
            host_answer(w, l, &f);
        }
        if (w->talking > 0) {
            n = (size_t)k;
            k = (long)sim_lies(w, l, at, n, &f);
            if (f.type != '>' && l == h->asking) /* a lie may be longer      */
                sim_claims_answer_ends(w, (int64_t)k - (int64_t)n);
        }
    }
    if (relet_local_closed(h->local, l->id))
        l->closing = 1;
}

void sim_host_outputs(sim_world *w, sim_host *h)
{
    const uint8_t *p;
    size_t n;
    int broken, id = -1;

    n = relet_local_effects(h->local, &p, &broken);
    sim_log_put(&h->log, w->now_us, p, n);
    relet_local_effects_taken(h->local, n);
    h->looked_us = h->timed_us;
    while ((id = relet_local_ready(h->local, id + 1)) >= 0) {
        sim_link *l = h->by_id[id];

        if (l == NULL) {
            host_discard(h, id);
            continue;
        }
        host_collect(w, l);
        if (w->failed)
            return;
        if (l->kill_after_run > 1) {
            SIM_MARK(killed_after_run);
            sim_net_reset(w, l, 0);
        } else {
            sim_host_flush(w, l);
        }
    }
}

/* Handles what arrived while the server was frozen. Data on a link that is now
 * stalled is read when the stall ends: nothing else would look for it, and a
 * link whose operations have no deadline stayed dead (seed 5611190010362). */
void sim_host_thaw(sim_world *w, sim_host *h)
{
    sim_link *l;
    uint64_t gen = 0;

    while ((l = sim_net_next(w, &gen)) != NULL) {
        if (l->state != SIM_OPEN || l->host != h->number)
            continue;
        if (l->stalled_us[SIM_UP] <= w->now_us)
            sim_host_arrived(w, l);
        else if (l->pipe[SIM_UP].arrived > 0)
            sim_due_at(w, l->stalled_us[SIM_UP], SIM_BYTES, l->number,
                       l->gen << 1 | SIM_UP);
    }
    sim_copies_turn(w);
    sim_host_clock(w, h);
}
