/* SPDX-License-Identifier: MIT
 *
 * judge.c - what must hold of a client under any faults: it compares what
 * servers did with what the client told its program.
 *
 *   R1  each accepted operation has one outcome
 *   R2  an answer is the one that the server gave to that operation
 *   R3  answers come in the order of submission
 *   R4  NOT_SENT: no server got all of it, nor will; UNSURE: one may have
 *   R5  an operation that may have run is sent again only if it is repeatable
 *   R6  each failure that a client reports has a cause
 *   R7  each link is closed once; memory stays below its bound and is freed
 *   R8  an operation with a deadline ends by that deadline
 *   R9  a new link does the handshake and restores subscriptions (hears.c)
 *   R10 nothing depends on how bytes are cut (world.c)
 *   R11 a healed system works again (bounds.c)
 *   R12 a link that was silent for as long as the configuration says, and no
 *       other link, gets a PING; a link that stays silent is closed
 *   R13 a client acts at the deadline that it announced: a wake-up for no
 *       reason finds nothing to do (node.c)
 *   R14 a script that a server does not know is sent whole
 *   R15 a client does not reconnect all the time (pace.c)
 *   R16 a limit is reported only when it is reached
 *   R17 on a link that is up, a submitted operation is sent at once
 *   R18 a transaction runs on the link that holds its WATCH, or not at all
 *   E1  no assertion fails, and the simulator exceeds none of its own limits
 *   E2  two runs of a seed are equal (sim_main.c)
 *   E3  the work of a turn is bounded     E4 the counters are right */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "wire.h"

#define JUDGE_GRACE_MS 1100 /* a reply that has arrived gets a second         */
#define JUDGE_SCRIPT_MAX 8192 /* the longest script with its arguments        */

const char *const sim_rule_name[SIM_RULES] = {
    "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12",
    "R13", "R14", "R15", "R16", "R17", "R18", "E1", "E2", "E3", "E4", "L1",
    "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9", "L10", "L11", "L12", "Q1",
    "Q2", "Q3", "Q4", "Q5", "Q6", "Q7", "Q8", "Q9", "Q10", "Q11", "Q12"};

/* Only the first failure counts. */
void sim_fail(sim_world *w, sim_rule rule, const char *format, ...)
{
    va_list list;

    if (w->failed)
        return;
    w->failed = 1 + (int)rule;
    va_start(list, format);
    (void)vsnprintf(w->why, sizeof w->why, format, list);
    va_end(list);
    SIM_SAY(w, "FAILED %s: %s", sim_rule_name[rule], w->why);
}

int sim_holds(sim_world *w, sim_rule rule, int holds)
{
    w->checked[rule]++;
    return holds;
}

int sim_judges(sim_world *w, sim_rule rule, int excused, int holds)
{
    if (!excused)
        return sim_holds(w, rule, holds);
    w->excused[rule]++;
    return 1;
}

sim_op *sim_op_of(sim_world *w, uint64_t tag)
{
    uint64_t node = tag >> 32, at = tag & UINT32_MAX;

    if (node >= SIM_NODES || at == 0 || at > w->node[node].ops_n) {
        memset(&w->nobody, 0, sizeof w->nobody);
        return &w->nobody;
    }
    return &w->node[node].ops[at - 1];
}

static unsigned long judge_n(uint64_t tag)
{
    return (unsigned long)(tag & UINT32_MAX);
}

/* ------------------------------------------------------------- submission */

uint64_t sim_judge_next_tag(sim_world *w, sim_node *n)
{
    if (n->ops_n == n->ops_cap) {
        n->ops_cap = n->ops_cap ? 2 * n->ops_cap : 64;
        n->ops = (sim_op *)realloc(n->ops, n->ops_cap * sizeof *n->ops);
        if (n->ops == NULL)
            abort();
    }
    memset(&n->ops[n->ops_n], 0, sizeof *n->ops);
    n->ops[n->ops_n].outcome = 255; /* not accepted                          */
    n->ops[n->ops_n].at_us = w->now_us;
    n->now = sim_node_clock(w, n);
    return SIM_TAG(n->number, ++n->ops_n);
}

/* Bytes that went out are kept only while an operation is open that may be sent
 * again; except those of an operation that is half sent. */
#define JUDGE_COMMAND_MAX 1300

static void judge_limit(sim_world *w, const sim_node *n)
{
    const sim_link *l = sim_net_of_node(w, n);
    const uint8_t *p;
    size_t used = relet_io_pending(n->r, 0, &p) + 2 * JUDGE_COMMAND_MAX;
    uint32_t i;
    int kept = w->work != &sim_plain || l == NULL || !relet_is_up(n->r) ||
               sim_link_waits(w, l) || /* then it is not shown as pending */
               n->lied; /* answers that never come keep their operations */

    for (i = n->ops_first; i < n->ops_n && !kept; i++)
        kept = n->ops[i].outcome == RELET_EV_NOTHING &&
               (n->ops[i].repeatable || n->ops[i].script);
    if (relet_outstanding(n->r) >= n->config.operations_max)
        (void)sim_holds(w, SIM_R16, 1); /* regardless of `kept`           */
    else if (!sim_judges(w, SIM_R16, kept, used > n->config.output_max))
        sim_fail(w, SIM_R16, "n%d reports a limit, with only %lu operations "
                 "and %lu bytes", n->number,
                 (unsigned long)relet_outstanding(n->r), (unsigned long)used);
}

void sim_judge_submitted(sim_world *w, sim_node *n, const relet_request *q,
                         int code, int what)
{
    sim_op *op = sim_op_of(w, q->tag);
    relet_time ms = q->timeout_ms ? q->timeout_ms : n->config.timeout_ms;

    op->what = (uint8_t)what;
    SIM_SAY(w, "n%d submits op %lu, kind %d%s: %s", n->number,
            judge_n(q->tag), what,
            q->flags & RELET_REPEATABLE ? ", repeatable" : "",
            code ? relet_code_text(code) : "accepted");
    if (code == RELET_E_LIMIT)
        SIM_MARK(limit_reached);
    if (!sim_holds(w, SIM_R1, code == 0 || code == RELET_E_LIMIT ||
                                  code == RELET_E_MEMORY ||
                                  code == RELET_E_REFUSED ||
                                  code == RELET_E_STOPPED))
        sim_fail(w, SIM_R1, "a submission returned %d", code);
    if (code == RELET_E_LIMIT)
        judge_limit(w, n);
    if (code == RELET_E_MEMORY && !n->oom && !sim_troubled(n, w->now_us))
        sim_fail(w, SIM_R6, "a submission returned RELET_E_MEMORY without a "
                 "memory fault");
    if (code < 0)
        return;
    op->outcome = RELET_EV_NOTHING;
    op->lied = (uint8_t)n->lied;
    op->repeatable = (q->flags & RELET_REPEATABLE) != 0;
    op->cached = (q->flags & RELET_CACHED) != 0;
    op->hasty = ms < n->config.timeout_ms;
    op->deadline = ms == RELET_NEVER ? RELET_NEVER : n->now + ms;
    n->open_ops++;
}

/* ------------------------------------------------------------ on the wire */

/* Links the operations of a put batch: `with` leads from each put to the put
 * before it. The tag of the batch is that of its last put. */
static void judge_ride(sim_world *w, const sim_words *c, uint64_t tag)
{
    size_t i = c->n, first = 0;
    uint64_t t, next = 0;

    for (; (t = sim_wire_tag_before(c, &i)) != 0 && t != next; next = t) {
        first = i;
        sim_op_of(w, t)->before = (uint32_t)i;
        sim_op_of(w, t)->with = 0;
        if (next != 0) {
            sim_op_of(w, next)->with = t;
            SIM_MARK(put_together);
        }
    }
    for (t = tag; t != 0; t = sim_op_of(w, t)->with)
        sim_op_of(w, t)->before -= (uint32_t)first;
}

static void judge_touched(sim_world *w, sim_link *l, uint64_t tag)
{
    sim_op *op = sim_op_of(w, tag);

    /* A cursor of queue_forget that a server made up may name an operation. */
    if (op->outcome != RELET_EV_NOTHING && !op->lied)
        sim_fail(w, SIM_R5, "n%d op %lu is sent after its outcome: %s",
                 l->node, judge_n(tag),
                 op->outcome == 255 ? "refused"
                                    : relet_kind_text(
                                          (relet_kind)op->outcome));
    if (op->touched > 0)
        SIM_MARK(repeated);
    if (!op->lied &&
        !sim_holds(w, SIM_R5, op->whole <= op->refused || op->repeatable))
        sim_fail(w, SIM_R5, "n%d op %lu is sent again, though it may have run "
                 "and is not repeatable", l->node, judge_n(tag));
    op->touched++;
    op->sent_gen = l->gen;
}

/* The first byte of an operation was given to the link. */
void sim_judge_touched(sim_world *w, sim_link *l, const sim_words *c,
                       uint64_t tag)
{
    judge_ride(w, c, tag);
    for (; tag != 0; tag = sim_op_of(w, tag)->with)
        judge_touched(w, l, tag);
}

void sim_judge_whole(sim_world *w, sim_link *l, uint64_t tag)
{
    for (; tag != 0; tag = sim_op_of(w, tag)->with)
        sim_op_of(w, tag)->whole++;
    (void)l;
}

/* Returns 1 if the WATCH, and each WATCH before it, was sent or will be sent on
 * the link that is in use. */
static int judge_watch_holds(sim_world *w, const sim_node *n, uint64_t watch)
{
    const sim_link *l = sim_net_of_node(w, n);
    const sim_op *op;

    for (; watch != 0; watch = op->watch_before) {
        op = sim_op_of(w, watch);
        if (op->touched == 0 ? op->outcome != RELET_EV_NOTHING
                             : l == NULL || l->gen != op->sent_gen)
            return 0;
    }
    return 1;
}

/* Returns 1 if, besides, none of these WATCHes ended before it was sent, and
 * none was refused. */
static int judge_watch_stands(sim_world *w, const sim_node *n, uint64_t watch)
{
    const sim_op *op;
    int stands = judge_watch_holds(w, n, watch);

    for (; stands && watch != 0; watch = op->watch_before) {
        op = sim_op_of(w, watch);
        stands = op->touched == 0
                     ? !op->cancelled && op->deadline > n->now
                     : !op->refused && !op->lied &&
                           op->outcome != RELET_EV_ERROR &&
                           op->outcome != RELET_EV_UNSURE;
    }
    return stands;
}

void sim_judge_watch(sim_world *w, sim_node *n, uint64_t tag, int code)
{
    if (code < 0)
        return;
    if (n->watch != 0 && judge_watch_holds(w, n, n->watch))
        sim_op_of(w, tag)->watch_before = n->watch;
    n->watch = tag;
}

void sim_judge_unwatch(sim_node *n, int code)
{
    if (code == 0)
        n->watch = 0;
}

void sim_judge_unit(sim_world *w, sim_node *n, uint64_t tag, int code)
{
    int lost = code == RELET_E_REFUSED && strstr(relet_refusal(n->r), "WATCH");

    sim_op_of(w, tag)->watch = code == 0 ? n->watch : 0;
    if (lost && judge_watch_stands(w, n, n->watch))
        sim_fail(w, SIM_R18, "n%d op %lu is refused for a lost WATCH, which "
                 "still holds", n->number, judge_n(tag));
    if (lost)
        SIM_MARK(watch_lost);
    if (code == 0 || lost)
        n->watch = 0;
}

/* Each WATCH of a transaction was sent over the link on which it runs. */
static void judge_watched(sim_world *w, const sim_link *l, const sim_op *op)
{
    uint64_t watch;

    for (watch = op->watch; watch != 0;
         watch = sim_op_of(w, watch)->watch_before) {
        SIM_MARK(watched);
        if (!sim_holds(w, SIM_R18,
                       sim_op_of(w, watch)->sent_gen == l->gen))
            sim_fail(w, SIM_R18, "n%d op %lu runs without the WATCH of op %lu",
                     l->node, (unsigned long)(op - w->node[l->node].ops) + 1,
                     judge_n(watch));
    }
}

/* A transaction ends when one of its WATCHes has ended without success. */
static int judge_is_unguarded(sim_world *w, const sim_op *op)
{
    uint64_t watch = op->watch;

    for (; watch != 0; watch = sim_op_of(w, watch)->watch_before)
        if (sim_op_of(w, watch)->outcome != RELET_EV_NOTHING &&
            sim_op_of(w, watch)->outcome != RELET_EV_REPLY)
            return 1;
    return 0;
}

void sim_judge_ran(sim_world *w, sim_link *l, uint64_t tag)
{
    sim_op *op = sim_op_of(w, tag);

    op->ran++;
    if (op->lied)
        return;
    judge_watched(w, l, op);
    if (!sim_holds(w, SIM_R4, op->outcome != RELET_EV_NOT_SENT))
        sim_fail(w, SIM_R4, "n%d op %lu runs after its outcome NOT_SENT",
                 l->node, judge_n(tag));
    if (!sim_holds(w, SIM_R5, op->ran <= 1 || op->repeatable))
        sim_fail(w, SIM_R5, "n%d op %lu runs a second time", l->node,
                 judge_n(tag));
}

void sim_judge_answered(sim_world *w, sim_link *l, uint64_t tag,
                        uint64_t digest, int refusal)
{
    sim_op *op = sim_op_of(w, tag);

    memmove(op->digest + 1, op->digest,
            (SIM_DIGESTS - 1) * sizeof *op->digest);
    op->digest[0] = digest;
    op->refused = (uint16_t)(op->refused + (refusal != 0));
    (void)w;
    (void)l;
}

/* A command of a transaction was refused. The client reports only the first
 * refusal. */
void sim_judge_refusal(sim_world *w, uint64_t tag, uint64_t digest)
{
    sim_op *op = sim_op_of(w, tag);

    if (op->text == 0)
        op->text = digest;
}

/* ----------------------------------------------------------------- outcomes */

/* Any answer that servers gave to the operation counts: a copy of it that was
 * sent over a link that is gone may run after the one that was sent last. Seed
 * 7708176282312063961 had two of them. */
static int judge_knows(const sim_op *op, uint64_t digest)
{
    int i;

    for (i = 0; i < SIM_DIGESTS; i++)
        if (op->digest[i] == digest && digest != 0)
            return 1;
    return 0;
}

/* Answers come in order: when this operation has its answer, every operation
 * sent before it on the same link has had its outcome. The exception is a
 * cached read that ran after a refused CACHING: the read is sent again. */
static void judge_passed_over(sim_world *w, const sim_node *n,
                              const sim_op *op, uint32_t at)
{
    uint32_t i = n->ops_first;

    if (at > i + n->config.operations_max * 4)
        i = at - n->config.operations_max * 4;
    for (; i + 1 < at; i++) {
        const sim_op *o = &n->ops[i];

        if (o->outcome != RELET_EV_NOTHING || o->touched != 1 ||
            o->refused > 0 ||
            o->sent_gen != op->sent_gen || o->lied || o->unseen ||
            (o->cached && o->repeatable && n->refused_us >= o->at_us))
            continue;
        sim_fail(w, SIM_R1, "n%d op %lu is passed over: op %lu is answered",
                 n->number, (unsigned long)i + 1, (unsigned long)at);
        return;
    }
    (void)sim_holds(w, SIM_R1, 1);
}

static void judge_order(sim_world *w, sim_node *n, const sim_op *op,
                        uint64_t tag)
{
    uint32_t at = (uint32_t)(tag & UINT32_MAX);

    if (op->touched != 1 || op->refused > 0)
        return;
    if (!sim_holds(w, SIM_R3, at > n->in_order))
        sim_fail(w, SIM_R3, "n%d op %lu is answered behind op %lu", n->number,
                 judge_n(tag), (unsigned long)n->in_order);
    n->in_order = at;
    judge_passed_over(w, n, op, at);
}

static void judge_answer(sim_world *w, sim_node *n, sim_op *op,
                         const relet_event *ev)
{
    uint64_t digest;
    int unknown;

    if (ev->kind == RELET_EV_ERROR && ev->why != RELET_WHY_NONE) {
        if (ev->why == RELET_WHY_MEMORY && n->short_us < op->at_us)
            sim_fail(w, SIM_R6, "n%d op %lu ends for lack of memory, and no "
                     "allocation had failed", n->number, judge_n(ev->tag));
        if (ev->why == RELET_WHY_TOO_LARGE)
            SIM_MARK(too_large);
        return;
    }
    /* A put and an operator's call are long scripts. They may find no room
     * behind much other output if the buffer is small or nearly full. */
    unknown = ev->text.n > 8 && memcmp(ev->text.p, "NOSCRIPT", 8) == 0;
    if (n->oom == 0 && !op->lied &&
        !sim_judges(w, SIM_R14,
                    unknown && (op->jobs_n > 0 || op->unseen) &&
                        (n->config.output_max <= 32768 ||
                         n->held + JUDGE_SCRIPT_MAX >= n->config.output_max),
                    !unknown))
        sim_fail(w, SIM_R14, "n%d op %lu ends with NOSCRIPT; the client holds "
                 "%lu bytes, output_max is %lu", n->number, judge_n(ev->tag),
                 (unsigned long)n->held, (unsigned long)n->config.output_max);
    if (op->lied || op->unseen)
        return;
    digest = ev->kind == RELET_EV_ERROR ? sim_wire_text(0, '-', ev->text)
                                     : sim_wire_value(ev->value);
    if (!sim_holds(w, SIM_R2, judge_knows(op, digest) ||
                                  (ev->kind == RELET_EV_ERROR &&
                                   op->text == digest)))
        sim_fail(w, SIM_R2, "n%d op %lu has the answer of another operation: "
                 "%s %.60s", n->number, judge_n(ev->tag),
                 relet_kind_text(ev->kind),
                 ev->kind == RELET_EV_ERROR ? ev->text.p : "");
    /* On a link that follows another one, an answer counts as a check of R6:
     * the client reported no failure of this operation. */
    if (n->ups > 1)
        (void)sim_judges(w, SIM_R6, op->hasty || sim_troubled(n, op->at_us), 1);
    if (ev->kind == RELET_EV_REPLY && op->ran == 0)
        sim_fail(w, SIM_R2, "n%d op %lu has an answer, but did not run",
                 n->number, judge_n(ev->tag));
    judge_order(w, n, op, ev->tag);
}

static void judge_unanswered(sim_world *w, sim_node *n, const sim_op *op,
                             const relet_event *ev)
{
    if (ev->kind == RELET_EV_NOT_SENT) {
        SIM_MARK(not_sent);
        if (ev->why == RELET_WHY_TIMEOUT)
            SIM_MARK(not_sent_in_time);
        if (!op->lied &&
            !sim_holds(w, SIM_R4, op->whole <= op->refused && !op->ran))
            sim_fail(w, SIM_R4, "n%d op %lu ends as NOT_SENT, but all of it "
                     "was sent", n->number, judge_n(ev->tag));
    } else {
        SIM_MARK(unsure);
        n->owed = 1;
        if (ev->why == RELET_WHY_TIMEOUT)
            SIM_MARK(unsure_timeout);
        if (ev->why == RELET_WHY_BROKEN)
            SIM_MARK(unsure_broken);
        if (!op->unseen && !sim_holds(w, SIM_R4, op->touched > 0))
            sim_fail(w, SIM_R4, "n%d op %lu ends as UNSURE, but no byte of it "
                     "was sent", n->number, judge_n(ev->tag));
    }
    if (ev->why == RELET_WHY_CANCELLED)
        SIM_MARK(cancelled);
    if (ev->why == RELET_WHY_CANCELLED || ev->why == RELET_WHY_STOPPED ||
        (ev->why == RELET_WHY_TIMEOUT && op->hasty) || op->lied)
        return;
    if (ev->why == RELET_WHY_WATCH_LOST && judge_is_unguarded(w, op))
        return;
    if (!sim_judges(w, SIM_R6, sim_troubled(n, op->at_us), 0))
        sim_fail(w, SIM_R6, "n%d op %lu ends as %s, %s, without a cause",
                 n->number, judge_n(ev->tag), relet_kind_text(ev->kind),
                 relet_why_text(ev->why));
}

static void judge_outcome(sim_world *w, sim_node *n, const relet_event *ev)
{
    sim_op *op = sim_op_of(w, ev->tag);

    if (!sim_holds(w, SIM_R1, ev->tag >> 32 == (uint64_t)n->number &&
                                  (ev->tag & UINT32_MAX) > n->ops_first &&
                                  op->outcome == RELET_EV_NOTHING)) {
        sim_fail(w, SIM_R1, "n%d op %lu: %s, but the operation waits for no "
                 "outcome", n->number, judge_n(ev->tag),
                 relet_kind_text(ev->kind));
        return;
    }
    if (ev->kind == RELET_EV_REPLY || ev->kind == RELET_EV_ERROR)
        judge_answer(w, n, op, ev);
    else
        judge_unanswered(w, n, op, ev);
    op->outcome = (uint8_t)ev->kind;
    n->open_ops--;
}

/* --------------------------------------------------------------------- link */

static void judge_down(sim_world *w, sim_node *n, const relet_event *ev)
{
    if (ev->why == RELET_WHY_BUSY) {
        SIM_MARK(greeting_busy); /* the client keeps its link */
    } else {
        n->loss_due = (n->is_up && n->config.tracking != RELET_TRACK_OFF) ||
                      (n->in_force & n->wished & ~n->wish_moved) != 0;
        n->in_force = 0;
        n->is_up = 0;
        sim_pace_down(n);
    }
    if (ev->why == RELET_WHY_SILENT)
        SIM_MARK(gave_up_silent);
    if (n->lied) {
        n->misled += ev->why == RELET_WHY_PROTOCOL;
        w->found_out += ev->why == RELET_WHY_PROTOCOL;
        SIM_MARK(found_out);
        sim_disturb(w, n->number);
    }
    if (ev->why == RELET_WHY_STOPPED || n->lied)
        return;
    if (!sim_judges(w, SIM_R6, sim_troubled(n, w->now_us), 0))
        sim_fail(w, SIM_R6, "n%d is down, %s: %.100s; without a cause",
                 n->number, relet_why_text(ev->why), ev->text.p);
    if (ev->why == RELET_WHY_PROTOCOL || ev->why == RELET_WHY_NO_RESP3)
        if (ev->why == RELET_WHY_PROTOCOL)
            sim_fail(w, SIM_R6, "n%d reports a protocol error: %.100s",
                     n->number, ev->text.p);
}

static void judge_up(sim_world *w, sim_node *n)
{
    sim_link *l = sim_net_of_node(w, n);

    n->ups++;
    sim_pace_up(w, n);
    n->is_up = 1;
    n->may_gap = n->told[RELET_EV_DOWN] > 0;
    if (l && n->ups > 1 && (l->restore & ~l->left)) {
        SIM_MARK(restored);
        n->gap_due = 1;
    }
}

/* A program with a cache gets the GAP of a lost link before any event of the
 * next link, such as an outcome, a message or UP. */
static void judge_loss(sim_world *w, const sim_node *n, const relet_event *ev)
{
    int of_a_link = ev->kind >= RELET_EV_REPLY && ev->kind <= RELET_EV_PUSHED &&
                    ev->kind != RELET_EV_GAP && ev->kind != RELET_EV_DOWN;

    if (of_a_link && !sim_judges(w, SIM_R9, n->lied, !n->loss_due))
        sim_fail(w, SIM_R9, "n%d gets the event %s before the GAP of its lost "
                 "link", n->number, relet_kind_text(ev->kind));
}

void sim_judge_event(sim_world *w, sim_node *n, const relet_event *ev)
{
    SIM_SAY(w, "n%d: %s %s%s%.*s", n->number, relet_kind_text(ev->kind),
            ev->why ? relet_why_text(ev->why) : "", ev->text.n ? ": " : "",
            ev->text.n < 80 ? (int)ev->text.n : 80,
            ev->text.n ? ev->text.p : "");
    if (ev->tag && ev->kind >= RELET_EV_REPLY && ev->kind <= RELET_EV_UNSURE)
        SIM_SAY(w, "n%d: … of op %lu", n->number, judge_n(ev->tag));
    n->told[ev->kind]++;
    w->history = sim_mix(w->history, sim_mix((uint64_t)ev->kind << 8 |
                                                 (uint64_t)n->number,
                                             ev->tag ^ (uint64_t)n->now));
    sim_note(w, 200 + (uint64_t)ev->kind, ev->tag);
    judge_loss(w, n, ev);
    switch (ev->kind) {
    case RELET_EV_REPLY:
    case RELET_EV_ERROR:
    case RELET_EV_NOT_SENT:
    case RELET_EV_UNSURE:
        judge_outcome(w, n, ev);
        return;
    case RELET_EV_UP:
        sim_waits_up(w, n);
        judge_up(w, n);
        return;
    case RELET_EV_DOWN:
        judge_down(w, n, ev);
        return;
    case RELET_EV_SUBSCRIBED:
    case RELET_EV_UNSUBSCRIBED:
    case RELET_EV_SUBSCRIPTION_REFUSED:
        sim_hears_subscription(w, n, ev);
        return;
    case RELET_EV_MESSAGE:
        sim_hears_message(w, n, ev);
        return;
    case RELET_EV_GAP:
        SIM_MARK(gap);
        if (ev->why != RELET_WHY_NONE)
            n->loss_due = 0;
        else
            sim_hears_gap(w, n);
        return;
    case RELET_EV_INVALIDATE:
        SIM_MARK(invalidated);
        return;
    case RELET_EV_LEASE_GAINED:
    case RELET_EV_LEASE_LOST:
    case RELET_EV_LEASE_TROUBLE:
    case RELET_EV_LEASE_ENDED:
        sim_belief_event(w, n, ev);
        return;
    case RELET_EV_PUSHED:
        SIM_MARK(odd_push);
        n->odd += n->lied != 0;
        if (sim_holds(w, SIM_R2, n->told[RELET_EV_PUSHED] <= n->odd))
            return;
        break;
    case RELET_EV_JOBS:
    case RELET_EV_JOB_CANCEL:
    case RELET_EV_JOB_LOST:
    case RELET_EV_WORKER_TROUBLE:
    case RELET_EV_WORKER_ENDED:
        sim_tasks_event(w, n, ev);
        return;
    case RELET_EV_NOTHING:
        break;
    }
    sim_fail(w, SIM_R2, "n%d gets an unexpected event: %s", n->number,
             relet_kind_text(ev->kind));
}

/* ----------------------------------------------------------------- progress */

/* 1 while an operation without a deadline is open: then only TCP finds out that
 * a link is dead. */
int sim_judge_waits_for_ever(const sim_node *n)
{
    uint32_t i;

    for (i = n->ops_first; i < n->ops_n; i++)
        if (n->ops[i].outcome == RELET_EV_NOTHING &&
            n->ops[i].deadline == RELET_NEVER)
            return 1;
    return 0;
}

/* A silent link that owes no answer gets a PING. Then the server answers, or
 * the client closes the link. A client that was paused may learn in one turn
 * both that an answer is overdue and that the link is silent; the client acts
 * in the next turn (seed 5093954543741467201). */
static void judge_pings(sim_world *w, sim_node *n)
{
    const relet_config *c = &n->config;
    relet_time patience = c->timeout_ms + c->retry_max_ms + 100 +
                          w->leases.ttl_max + /* a renewal may wait so long  */
                          (w->work == &sim_working ? 1000 : 0);
    relet_time last = n->heard_at > n->short_at ? n->heard_at : n->short_at;

    if (n->open_ops > 0 || n->owed || n->lied || c->ping_every_ms == 0 ||
        !relet_is_up(n->r)) {
        n->unasked = 0;
        return;
    }
    w->checked[SIM_R12]++;
    if (n->now - n->said_at <= patience ||
        n->now - last <= patience + c->ping_every_ms)
        n->unasked = 0;
    else if (n->unasked++ > 0)
        sim_fail(w, SIM_R12, "n%d: a link is silent for %ld ms, and gets no "
                 "PING", n->number, (long)(n->now - n->heard_at));
}

/* A link gets no PING before it has been silent for as long as its client's
 * configuration says. */
void sim_judge_pinged(sim_world *w, const sim_node *n)
{
    relet_time silent = n->now - n->heard_tick;

    if (!sim_holds(w, SIM_R12, silent >= n->config.ping_every_ms))
        sim_fail(w, SIM_R12, "n%d: a link gets a PING after a silence of only "
                 "%ld ms", n->number, (long)silent);
}

/* Only a busy server delays an operation. If a full pipe has no room for more
 * bytes, there is nothing to judge. */
static void judge_waits(sim_world *w, const sim_node *n, const sim_op *op)
{
    const sim_link *l = sim_net_of_node(w, n);
    const uint8_t *p;

    if (op->jobs_n > 0 || op->unseen || l == NULL || l->state != SIM_OPEN ||
        l->open_us >= 0 || l->reset || !relet_is_up(n->r) ||
        (l->pipe[SIM_UP].wanted && relet_io_pending(n->r, 0, &p) > 0))
        return;
    if (!sim_judges(w, SIM_R17,
                    sim_link_waits(w, l) || l->lied ||
                        n->short_us >= op->at_us,
                    op->sent_gen == l->gen))
        sim_fail(w, SIM_R17, "n%d op %lu is not sent, though its link is up",
                 n->number, (unsigned long)(op - n->ops) + 1);
}

/* After a turn no operation is overdue. */
void sim_judge_turn(sim_world *w, sim_node *n)
{
    uint32_t i = n->ops_first;

    judge_pings(w, n);
    sim_belief_turn(w, n);
    sim_tasks_turn(w, n);
    sim_causes_turn(w, n);
    if (n->open_ops == 0)
        return;
    if (n->ops_n > i + n->config.operations_max * 4)
        i = n->ops_n - n->config.operations_max * 4;
    while (i < n->ops_n && n->ops[i].outcome != RELET_EV_NOTHING)
        i++;
    if (i < n->ops_n)
        judge_waits(w, n, &n->ops[i]);
    for (; i < n->ops_n; i++)
        if (n->ops[i].outcome == RELET_EV_NOTHING &&
            n->ops[i].deadline != RELET_NEVER &&
            n->ops[i].deadline + JUDGE_GRACE_MS < n->now) {
            sim_fail(w, SIM_R8, "n%d op %lu is overdue by %ld ms", n->number,
                     (unsigned long)i + 1,
                     (long)(n->now - n->ops[i].deadline));
            return;
        }
    w->checked[SIM_R8]++;
}

static void judge_counters(sim_world *w, sim_node *n)
{
    relet_stats s;
    int right;

    relet_stats_get(n->r, &s);
    right = s.replies == n->told[RELET_EV_REPLY] &&
            s.errors == n->told[RELET_EV_ERROR] &&
            s.not_sent == n->told[RELET_EV_NOT_SENT] &&
            s.unsure == n->told[RELET_EV_UNSURE] && s.memory == n->held &&
            s.bytes_in == n->bytes_in && s.bytes_out == n->bytes_out &&
            s.connects >= n->ups;
    if (!sim_holds(w, SIM_E4, right))
        sim_fail(w, SIM_E4, "n%d: a counter is wrong", n->number);
    if (s.late > 0)
        SIM_MARK(late_swallowed);
    if (!sim_holds(w, SIM_R6, s.protocol_errors == n->misled))
        sim_fail(w, SIM_R6, "n%d counts %lu protocol errors, and reported %lu",
                 n->number, (unsigned long)s.protocol_errors,
                 (unsigned long)n->misled);
}

/* An upper bound of a client's memory: each buffer at its limit, and twice
 * while a buffer is copied to grow. */
static size_t judge_memory_max(const relet_config *c)
{
    return 2 * (c->output_max + c->reply_max + c->tape_max) + 4096 +
           2 * (65536 + 512 * (size_t)c->subscriptions_max) +
           (c->leases_max ? 2 * (8192 + 1280 * (size_t)c->leases_max) : 0);
}

/* An incarnation has ended, in order or with its process. */
void sim_judge_gone(sim_world *w, sim_node *n, int crash)
{
    uint32_t i;

    if (!sim_holds(w, SIM_R7, n->held_peak <=
                                  judge_memory_max(&n->config)))
        sim_fail(w, SIM_R7, "n%d held %lu bytes, over its bound", n->number,
                 (unsigned long)n->held_peak);
    judge_counters(w, n);
    sim_belief_gone(w, n, crash);
    sim_tasks_gone(w, n, crash);
    for (i = n->ops_first; i < n->ops_n; i++) {
        if (n->ops[i].outcome != RELET_EV_NOTHING)
            continue;
        if (!crash)
            sim_fail(w, SIM_R1, "n%d op %lu never had an outcome", n->number,
                     (unsigned long)i + 1);
        n->ops[i].outcome = RELET_EV_UNSURE;
    }
    n->ops_first = n->in_order = n->ops_n;
    n->open_ops = 0;
}
