/* SPDX-License-Identifier: MIT
 *
 * intake.c - the input of a server: commands are given to it one by one, so
 * that the judge knows which answer belongs to which command, and so that some
 * commands get an error instead. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "wire.h"

static int intake_is_one_of(const sim_words *c, const char *const *names)
{
    for (; *names; names++)
        if (sim_wire_is(c, 0, *names))
            return 1;
    return 0;
}

static int intake_answers_while_loading(const sim_words *c)
{
    static const char *const names[] = {
        "HELLO", "AUTH", "CLIENT", "SELECT", "MULTI", "EXEC", "DISCARD",
        "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE",
        "PUNSUBSCRIBE", "SUNSUBSCRIBE", NULL};

    return intake_is_one_of(c, names);
}

static int intake_writes(const sim_words *c)
{
    static const char *const names[] = {"SET", "HINCRBY", "RPUSH", "DEL",
                                        "EVAL", "EVALSHA", "INCR", NULL};

    return intake_is_one_of(c, names);
}

static int intake_is_greeting(const sim_words *c)
{
    static const char *const names[] = {
        "HELLO", "CLIENT", "SELECT", "PING", "SUBSCRIBE", "PSUBSCRIBE",
        "SSUBSCRIBE", NULL};

    return intake_is_one_of(c, names) && sim_wire_tag(c) == 0;
}

/* ----------------------------------------------------------- for the judge */

static void intake_subscriptions(sim_link *l, const sim_words *c)
{
    static const char *const come[] = {"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"};
    static const char *const go[] = {"UNSUBSCRIBE", "PUNSUBSCRIBE",
                                     "SUNSUBSCRIBE"};
    int kind, wish;

    for (kind = 0; kind < 3; kind++) {
        if (c->n < 2)
            return;
        wish = sim_wish_of((relet_channel)kind, c->word[1]);
        if (wish < 0)
            continue;
        if (sim_wire_is(c, 0, come[kind]))
            l->subscribed |= 1u << wish;
        if (sim_wire_is(c, 0, go[kind]))
            l->subscribed &= ~(1u << wish);
    }
}

/* The tag of the operation whose answer comes next; 0: none. */
static uint64_t intake_whose(sim_world *w, sim_link *l, const sim_words *c)
{
    uint64_t tag = sim_wire_tag(c);

    if (sim_wire_is(c, 0, "HELLO") && c->n > 1)
        l->greeted = 1;
    if (sim_wire_is(c, 0, "SELECT") && c->n == 2)
        l->selected = atoi(c->word[1].p);
    if (sim_wire_is(c, 0, "MULTI")) {
        l->in_multi = 1;
        l->unit = 0;
        return 0;
    }
    if (sim_wire_is(c, 0, "EXEC")) {
        l->in_multi = 0;
        return l->unit;
    }
    if (l->in_multi && l->unit == 0)
        sim_op_of(w, tag)->text = 0;
    if (l->in_multi)
        l->unit = tag;
    if (tag != 0)
        sim_hears_first(w, l);
    return tag;
}

/* ------------------------------------------------------------------- errors */

/* A server that loads, or is busy with a script, answers HELLO as usual. Every
 * server answers HELLO without arguments as usual. */
static int intake_refuses_hello(const sim_words *c, const char *error)
{
    return c->n > 1 && (memcmp(error, "NO", 2) == 0 ||
                        memcmp(error, "ERR", 3) == 0);
}

static const char *intake_error(sim_world *w, sim_link *l, const sim_words *c,
                                uint64_t tag)
{
    sim_host *h = &w->host[l->host];
    const char *error;

    if (sim_wire_is(c, 0, "MULTI") || sim_wire_is(c, 0, "EXEC"))
        return NULL;
    if (w->now_us < h->loading_until_us && !intake_answers_while_loading(c)) {
        SIM_MARK(loading);
        return "LOADING Redis is loading the dataset in memory";
    }
    if (h->read_only && intake_writes(c)) {
        SIM_MARK(read_only);
        return "READONLY You can't write against a read only replica.";
    }
    if (w->leases.run.active ||
        (w->jobs.run.what != SIM_V_NONE && tag == 0) ||
        sim_wire_is(c, 0, "WAIT") ||
        sim_wire_is(c, 0, "WAITAOF")) {
        error = sim_fault_error(w, l->node,
                                sim_mix(l->gen, (uint64_t)w->now_us), 0);
        if (error)
            SIM_MARK(lease_error);
        return error;
    }
    if (tag == 0 && !intake_is_greeting(c))
        return NULL;
    error = sim_fault_error(w, l->node,
                            tag != 0 ? tag : sim_wire_text(l->gen, 'g',
                                                           c->word[c->n - 1]),
                            tag == 0);
    if (error && sim_wire_is(c, 0, "HELLO") && !intake_refuses_hello(c, error))
        return NULL;
    if (error && tag != 0 && l->in_multi)
        SIM_MARK(unit_refused);
    else if (error && tag != 0)
        SIM_MARK(error_reply);
    return error;
}

/* A transaction with a refused command will not run. */
static void intake_spoil(sim_world *w, sim_link *l)
{
    static const char bad[] = "*1\r\n$3\r\nBAD\r\n";
    sim_host *h = &w->host[l->host];
    const uint8_t *p;
    size_t n;

    relet_local_feed(h->local, l->id, bad, sizeof bad - 1);
    while ((n = relet_local_output(h->local, l->id, &p)) > 0)
        relet_local_sent(h->local, l->id, n);
}

static void intake_refuse(sim_world *w, sim_link *l, uint64_t tag,
                          const char *text, int select)
{
    relet_span s = relet_str(text);
    uint64_t digest = sim_wire_text(0, '-', s);

    if (l->in_multi)
        intake_spoil(w, l);
    SIM_SAY(w, "h%d says %s to n%d", l->host, text, l->node);
    if (select)
        l->selected = 0;
    if (tag != 0 && l->in_multi)
        sim_judge_refusal(w, tag, digest);
    else
        for (; tag != 0; tag = sim_op_of(w, tag)->with)
            sim_judge_answered(w, l, tag, digest, 1);
    sim_host_say(l, "-");
    sim_host_say(l, text);
    sim_host_say(l, "\r\n");
    sim_disturb_by_error(w, l);
    sim_host_flush(w, l);
}

/* ----------------------------------------------------------------- commands */

static int intake_pushes_only(const sim_words *c)
{
    static const char *const names[] = {
        "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE",
        "SUNSUBSCRIBE", NULL};

    return intake_is_one_of(c, names);
}

static void intake_command(sim_world *w, sim_link *l, const uint8_t *p,
                           size_t n, const sim_words *c)
{
    sim_host *h = &w->host[l->host];
    uint64_t tag = intake_whose(w, l, c), gen = l->gen;
    const char *error;
    size_t wrote;

    sim_claims_before(w, l, c);
    sim_verbs_before(w, l, c);
    error = intake_error(w, l, c, tag);
    sim_note(w, 100 + (uint64_t)l->node, tag);
    if (error) {
        if (w->leases.run.active) {
            sim_record_ran(w, &w->leases.run, 1, 0);
            if (sim_net_in_use(w, l)) /* not a link that its client has left */
                sim_pace_refused(w, &w->leases.run, error);
        }
        l->deaf |= sim_wire_is(c, 0, "SSUBSCRIBE") &&
                   sim_wish_of(RELET_SHARDED, c->word[1]) < 0;
        w->leases.run.active = 0;
        w->jobs.run.what = SIM_V_NONE;
        intake_refuse(w, l, tag, error, sim_wire_is(c, 0, "SELECT"));
        return;
    }
    if (w->flush_next && sim_wire_is(c, 0, "EVALSHA")) {
        SIM_MARK(flushed_between);
        w->flush_next = 0;
        sim_host_admin(w, h, 2, "SCRIPT", "FLUSH");
    }
    if (sim_copies_wait(w, l, c))
        return;
    intake_subscriptions(l, c);
    l->awaited = tag;
    l->blocked = !intake_pushes_only(c);
    if (l->kill_after_run == 1 && !l->in_multi &&
        (tag != 0 || w->leases.run.active ||
         w->jobs.run.what != SIM_V_NONE))
        l->kill_after_run = 2;
    wrote = h->log.n;
    h->asking = l;
    sim_cuts_begin(w, l);
    relet_local_feed(h->local, l->id, p, n);
    sim_cuts_end(w, l);
    sim_host_outputs(w, h);
    h->asking = NULL;
    if (l->gen == gen && h->log.n > wrote)
        l->wrote_n = h->log.n;
    sim_claims_after(w, l);
    sim_verbs_after(w);
    if (l->gen == gen && l->closing)
        sim_host_flush(w, l);
}

static void intake_read(sim_world *w, sim_link *l)
{
    sim_pipe *p = &l->pipe[SIM_UP];
    size_t n = p->arrived;

    if (l->in_n + n > l->in_cap) {
        l->in_cap = 2 * (l->in_n + n);
        l->in = (uint8_t *)realloc(l->in, l->in_cap);
        if (l->in == NULL)
            abort();
    }
    if (n > 0)
        memcpy(l->in + l->in_n, p->bytes + p->head, n);
    l->in_n += n;
    sim_pipe_take(p, n);
    if (p->wanted && n > 0) {
        p->wanted = 0;
        sim_due_at(w, w->now_us, SIM_WAKE, l->node, UINT64_MAX);
    }
}

/* A proxy closes the client's link, and delivers the client's bytes later: a
 * renewal arrives when the client has another term, or an acquisition when the
 * client has left. The path is down until the lease in the renewal has
 * ended. */
static int intake_stalls(sim_world *w, sim_link *l, const sim_words *c)
{
    int64_t shut = l->stall_for_us / 2;
    int leases = w->work == &sim_lease || w->work == &sim_both;
    sim_run run;

    run.serial = 0;
    if (leases &&
        (!sim_claims_read(c, &run) || run.what != l->stall_what))
        return 0;
    if (leases)
        shut = run.what == SIM_RENEW ? run.ttl_us + run.ttl_us / 8 : 0;
    w->path[l->node][l->host].shut_us = w->now_us + shut;
    sim_net_stall(l, SIM_UP, w->now_us + shut + l->stall_for_us);
    l->stall_for_us = 0;
    sim_claims_late(w, l, run.serial);
    sim_disturb_link(w, l);
    sim_due_at(w, l->stalled_us[SIM_UP], SIM_BYTES, l->number,
               l->gen << 1 | SIM_UP);
    sim_net_fin(w, l, SIM_DOWN);
    return 1;
}

/* Runs whole commands; the rest waits for more bytes. */
void sim_host_arrived(sim_world *w, sim_link *l)
{
    sim_host *h = &w->host[l->host];
    uint64_t gen = l->gen;
    sim_words words;
    size_t at = 0;
    long n = 0;

    if (l->host_gone || !h->up || h->frozen ||
        l->stalled_us[SIM_UP] > w->now_us)
        return;
    sim_host_time(w, h);
    intake_read(w, l);
    while (at < l->in_n && !w->failed && !l->blocked && !l->closing &&
           !l->host_gone) {
        n = sim_wire_command(l->in + at, l->in_n - at, &words);
        if (n <= 0 || (l->stall_for_us > 0 && intake_stalls(w, l, &words)))
            break;
        if (l->client_gone)
            SIM_MARK(ran_after_close);
        intake_command(w, l, l->in + at, (size_t)n, &words);
        if (l->gen != gen)
            return;
        at += (size_t)n;
    }
    if (n < 0)
        sim_fail(w, SIM_R2, "n%d sent bytes that are no command", l->node);
    if (l->host_gone)
        return;
    if (at > 0)
        memmove(l->in, l->in + at, l->in_n - at);
    l->in_n -= at;
    if (l->pipe[SIM_UP].fin == 2 && l->pipe[SIM_UP].arrived == 0)
        sim_net_host_lets_go(w, l);
    else
        sim_host_schedule(w, h);
}
