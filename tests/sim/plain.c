/* SPDX-License-Identifier: MIT
 *
 * plain.c - the first workload: commands, scripts, transactions, messages.
 *
 * Each operation carries its tag, so that its bytes tell which operation they
 * belong to, and most answers differ from each other. */
#include <stdio.h>
#include <string.h>

#include "sim.h"
#include "wire.h"

typedef enum plain_kind {
    PLAIN_SET, PLAIN_MGET, PLAIN_HINCRBY, PLAIN_ECHO, PLAIN_SCRIPT,
    PLAIN_SCRIPT_LONG, PLAIN_UNIT, PLAIN_PUBLISH, PLAIN_EXPIRING, PLAIN_BIG,
    PLAIN_LIST, PLAIN_WRONG, PLAIN_CANCEL, PLAIN_WISH, PLAIN_UNWISH,
    PLAIN_PROBE
} plain_kind;

#define PLAIN_KINDS PLAIN_PROBE

static const char plain_script[] =
    "return {redis.call('INCR', KEYS[1]), ARGV[1]}";
static const char plain_script_long[] =
    "local t = {} for i = 1, 40 do t[i] = ARGV[1] .. i end return t";

static void plain_start(sim_world *w, sim_node *n)
{
    int i;

    (void)w;
    n->script[0] = relet_script_add(n->r, relet_str(plain_script));
    n->script[1] = relet_script_add(n->r, relet_str(plain_script_long));
    for (i = 0; i < SIM_WISHES; i++)
        if ((w->shape.ops >> PLAIN_WISH & 1) && sim_chance(&n->work, 1, 4) &&
            relet_subscribe(n->r, sim_wish_kind[i],
                            relet_str(sim_wish_name[i])) == 0)
            sim_hears_wish(w, n, i, 1);
}

static relet_request plain_request(sim_node *n, uint64_t tag)
{
    relet_request q;

    memset(&q, 0, sizeof q);
    q.tag = tag;
    q.flags = sim_chance(&n->work, 1, n->world->shape.bursts ? 30 : 3)
                  ? RELET_REPEATABLE
                  : 0;
    if (n->config.tracking == RELET_TRACK_OPTIN && sim_chance(&n->work, 1, 3))
        q.flags |= RELET_CACHED;
    switch (sim_choose(&n->work, 8)) {
    case 0: q.timeout_ms = sim_spread(&n->work, 1, 2000); break;
    case 1: /* without pings a dead link is never found */
        if (n->config.ping_every_ms > 0)
            q.timeout_ms = RELET_NEVER;
        break;
    }
    return q;
}

/* A word of up to about a kilobyte; the same tag gives the same bytes. */
static relet_span plain_blob(char *room, uint64_t tag, size_t n)
{
    relet_span s;
    size_t i;

    for (i = 0; i < n; i++)
        room[i] = "\r\n$0*:abcdefghij"[sim_mix(tag, i / 4) >> (i % 4 * 4) & 15];
    s.p = room;
    s.n = n;
    return s;
}

static int plain_unit(sim_node *n, relet_span key, relet_span tag,
                      const relet_request *q)
{
    relet_span words[9];
    relet_args args[3];
    int code;

    words[0] = relet_str("SET");
    words[1] = key;
    words[2] = tag;
    words[3] = relet_str("HINCRBY");
    words[4] = relet_str("h");
    words[5] = tag;
    words[6] = relet_str("1");
    words[7] = relet_str("ECHO");
    words[8] = tag;
    args[0].argv = words;
    args[0].argc = 3;
    args[1].argv = words + 3;
    args[1].argc = 4;
    args[2].argv = words + 7;
    args[2].argc = 2;
    code = relet_transaction(n->r, args, 1 + sim_choose(&n->work, 3), q);
    sim_judge_unit(n->world, n, q->tag, code);
    return code;
}

static int plain_words(sim_node *n, const relet_request *q, size_t argc,
                       relet_span a, relet_span b, relet_span c, relet_span d,
                       const char *name);

/* WATCHes a key that others write, and one that has no writer. */
static int plain_watch(sim_node *n, relet_span key, relet_span tag,
                       const relet_request *q)
{
    relet_span none = {NULL, 0};
    int code = plain_words(n, q, 3, key, tag, none, none, "WATCH");

    sim_judge_watch(n->world, n, q->tag, code);
    return code;
}

static int plain_words(sim_node *n, const relet_request *q, size_t argc,
                       relet_span a, relet_span b, relet_span c, relet_span d,
                       const char *name)
{
    relet_span argv[5];

    argv[0] = relet_str(name);
    argv[1] = a;
    argv[2] = b;
    argv[3] = c;
    argv[4] = d;
    return relet_command(n->r, argv, argc, q);
}

static int plain_send(sim_node *n, plain_kind kind, const relet_request *q)
{
    static const char *const channel[] = {"c0", "c1", "p1", "s0", "s1", "c9"};
    char text[24], key[8], field[24], blob[1200];
    relet_span tag, k, none = {NULL, 0}, argv[2], big;

    tag.p = text;
    tag.n = sim_wire_put_tag(text, q->tag);
    sprintf(key, "k%u", sim_choose(&n->work, 5));
    sprintf(field, "f%lx", (unsigned long)(q->tag & 15));
    k = relet_str(key);
    argv[0] = k;
    argv[1] = tag;
    switch (kind) {
    case PLAIN_SET:
        return plain_words(n, q, 3, k, tag, none, none, "SET");
    case PLAIN_MGET:
        return plain_words(n, q, 3, k, tag, none, none, "MGET");
    case PLAIN_HINCRBY:
        return plain_words(n, q, 4, relet_str("h"), tag, relet_str("1"), none,
                           "HINCRBY");
    case PLAIN_SCRIPT:
        argv[0] = relet_str("n");
        return relet_script_run(n->r, n->script[0], 1, argv, 2, q);
    case PLAIN_SCRIPT_LONG:
        return relet_script_run(n->r, n->script[1], 1, argv, 2, q);
    case PLAIN_UNIT:
        return sim_mix(q->tag, 18) % 3 == 0 ? plain_watch(n, k, tag, q)
                                            : plain_unit(n, k, tag, q);
    case PLAIN_PUBLISH:
        k = relet_str(channel[sim_choose(&n->work, 6)]);
        return plain_words(n, q, 3, k, tag, none, none,
                           k.p[0] == 's' ? "SPUBLISH" : "PUBLISH");
    case PLAIN_EXPIRING:
        sprintf(field, "%u", 1 + sim_choose(&n->work, 500));
        return plain_words(n, q, 5, k, tag, relet_str("PX"), relet_str(field),
                           "SET");
    case PLAIN_BIG:
        big = plain_blob(blob, q->tag, sim_choose(&n->work, sizeof blob));
        return plain_words(n, q, 3, big, tag, none, none, "MGET");
    case PLAIN_LIST:
        return plain_words(n, q, 3, relet_str("l"), tag, none, none, "RPUSH");
    case PLAIN_WRONG:
        return plain_words(n, q, 3, relet_str("h"), tag, none, none, "RPUSH");
    case PLAIN_ECHO:
    case PLAIN_CANCEL:
    case PLAIN_WISH:
    case PLAIN_UNWISH:
    case PLAIN_PROBE:
        break;
    }
    return plain_words(n, q, 2, tag, none, none, none, "ECHO");
}

static void plain_submit(sim_world *w, sim_node *n, plain_kind kind)
{
    relet_request q = plain_request(n, sim_judge_next_tag(w, n));

    if (kind == PLAIN_PROBE) {
        q.flags = 0;
        q.timeout_ms = 0;
        n->probe = n->ops_n;
    }
    if (kind == PLAIN_UNIT)
        q.flags &= ~(unsigned)RELET_CACHED;
    sim_op_of(w, q.tag)->script = kind == PLAIN_SCRIPT ||
                                  kind == PLAIN_SCRIPT_LONG;
    sim_judge_submitted(w, n, &q, plain_send(n, kind, &q), (int)kind);
}

static void plain_wish(sim_world *w, sim_node *n, int on)
{
    int i = (int)sim_choose(&n->work, SIM_WISHES), code;
    relet_span name = relet_str(sim_wish_name[i]);

    if (!on && !(n->wished & 1u << i))
        return;
    code = on ? relet_subscribe(n->r, sim_wish_kind[i], name)
              : relet_unsubscribe(n->r, sim_wish_kind[i], name);
    if (code == 0)
        sim_hears_wish(w, n, i, on);
    else if (code != RELET_E_MEMORY && code != RELET_E_LIMIT &&
             code != RELET_E_STOPPED)
        sim_fail(w, SIM_R9, "n%d: relet_subscribe or relet_unsubscribe "
                 "returned %d", n->number, code);
}

static void plain_cancel(sim_world *w, sim_node *n, uint64_t tag)
{
    if (relet_cancel(n->r, tag) > 0)
        sim_op_of(w, tag)->cancelled = 1;
}

static void plain_one(sim_world *w, sim_node *n)
{
    plain_kind kind = (plain_kind)sim_choose(&n->work, PLAIN_KINDS);

    if (w->shape.bursts && sim_chance(&n->work, 7, 8))
        kind = PLAIN_BIG;
    if (!(w->shape.ops >> kind & 1) && !w->shape.bursts)
        kind = PLAIN_ECHO;
    if (n->oom > 0 && kind <= PLAIN_ECHO) /* its reply needs memory */
        kind = PLAIN_SCRIPT_LONG;
    if (kind == PLAIN_CANCEL)
        plain_cancel(w, n, SIM_TAG(n->number,
                                   n->ops_n - sim_choose(&n->work, 4)));
    else if (kind == PLAIN_WISH || kind == PLAIN_UNWISH)
        plain_wish(w, n, kind == PLAIN_WISH);
    else
        plain_submit(w, n, kind);
}

static void plain_step(sim_world *w, sim_node *n)
{
    uint32_t many = sim_chance(&n->work, 1, 8) ? 1 + sim_choose(&n->work, 12)
                                               : 1;

    if (w->shape.bursts && sim_chance(&n->work, 1, 4))
        many = 8;
    while (many-- > 0 && !w->failed)
        plain_one(w, n);
}

static void plain_event(sim_world *w, sim_node *n, const relet_event *ev)
{
    (void)w;
    (void)n;
    (void)ev;
}

/* An operation that is answered now proves that the client works. */
static int plain_quiet(sim_world *w, sim_node *n)
{
    uint8_t outcome = n->probe ? n->ops[n->probe - 1].outcome : 255;

    if (outcome == RELET_EV_NOTHING || outcome == RELET_EV_REPLY)
        return 0;
    plain_submit(w, n, PLAIN_PROBE);
    return 1;
}

static int plain_alive(sim_world *w, const sim_node *n)
{
    /* With leases some request is always outstanding. */
    return n->probe && n->ops[n->probe - 1].outcome == RELET_EV_REPLY &&
           relet_is_up(n->r) && n->open_ops == 0 &&
           (w->leases.ttl_max > 0 || w->work == &sim_working ||
            relet_outstanding(n->r) == 0) &&
           n->wished == n->in_force && !n->gap_due;
}

const sim_workload sim_plain = {"plain",     plain_start, plain_step,
                                plain_event, plain_quiet, plain_alive};
