/* SPDX-License-Identifier: MIT
 *
 * cmd_group_claim.c - finding groups and consumers, and commands on pending
 * entries: XACK, XPENDING, XCLAIM, XAUTOCLAIM.
 */
#include "cmd_stream.h"
#include "state.h"

/* ------------------------------------------------------------------ finding */

#define GROUP_CLAIM_TAIL 700 /* bytes of an error behind its first name      */

static void group_claim_add(char *to, size_t *n, const char *p, size_t len)
{
    len = RLT_MIN(len, GROUP_CLAIM_TAIL - 1 - *n);
    if (len > 0)
        memcpy(to + *n, p, len);
    *n += len;
    to[*n] = '\0';
}

RELET_PRIVATE void rlt_cmd_stream_no_group(rlt_call *c, const char *before,
                                           relet_span one, const char *between,
                                           relet_span other, const char *after)
{
    char tail[GROUP_CLAIM_TAIL];
    size_t n = 0;

    group_claim_add(tail, &n, between, strlen(between));
    group_claim_add(tail, &n, other.p, RLT_MIN(other.n, 600));
    n = strlen(tail); /* a name ends at a NUL here */
    group_claim_add(tail, &n, after, strlen(after));
    rlt_call_error_with(c, before, one, tail);
}

/* The group argv[i] of e, which was found under argv[key]; 0: replied. */
static int group_claim_group(rlt_call *c, rlt_entry *e, uint32_t key,
                             uint32_t i, const char *tail, rlt_stream **s,
                             rlt_stream_group **g)
{
    rlt_obj *o = e ? rlt_keys_obj(e) : NULL;

    if (o && o->type != RLT_OBJ_STREAM) {
        rlt_call_error(c, RLT_ERR_WRONGTYPE);
        return 0;
    }
    *s = o ? &o->of.stream : NULL;
    *g = o ? rlt_stream_group_find(*s, c->argv[i]) : NULL;
    if (*g)
        return 1;
    rlt_cmd_stream_no_group(c, "NOGROUP No such key '", c->argv[key],
                            "' or consumer group '", c->argv[i], tail);
    return 0;
}

RELET_PRIVATE int rlt_cmd_stream_group(rlt_call *c, uint32_t key, uint32_t i,
                                       const char *tail, rlt_stream **s,
                                       rlt_stream_group **g)
{
    return group_claim_group(c, rlt_call_find_read(c, c->argv[key]), key, i,
                             tail, s, g);
}

RELET_PRIVATE rlt_stream_consumer *rlt_cmd_stream_consumer(
    rlt_call *c, uint32_t key, rlt_stream_group *g, uint32_t i)
{
    rlt_stream_consumer *who = rlt_stream_consumer_find(g, c->argv[i]);

    if (who) {
        who->seen_ms = c->now_ms;
        return who;
    }
    rlt_call_effect(c, 5);
    rlt_call_effect_text(c, "XGROUP");
    rlt_call_effect_text(c, "CREATECONSUMER");
    rlt_call_effect_word(c, c->argv[key]);
    rlt_call_effect_word(c, rlt_stream_group_name(g));
    rlt_call_effect_word(c, c->argv[i]);
    rlt_call_event(c, RLT_EVENT_STREAM, "xgroup-createconsumer", c->argv[key]);
    c->dirty++;
    return rlt_stream_consumer_add(g, c->pool, c->argv[i], c->now_ms);
}

/* ------------------------------------------------------------------ the log */

RELET_PRIVATE void rlt_cmd_stream_log_pending(rlt_call *c, uint32_t key,
                                              uint32_t group,
                                              const rlt_stream_group *g,
                                              const rlt_stream_pending *p)
{
    rlt_call_effect(c, 14);
    rlt_call_effect_text(c, "XCLAIM");
    rlt_call_effect_word(c, c->argv[key]);
    rlt_call_effect_word(c, c->argv[group]);
    rlt_call_effect_word(c, rlt_stream_consumer_name(p->consumer));
    rlt_call_effect_text(c, "0");
    rlt_cmd_stream_log_id(c, p->id);
    rlt_call_effect_text(c, "TIME");
    rlt_call_effect_int(c, p->delivered_ms);
    rlt_call_effect_text(c, "RETRYCOUNT");
    rlt_call_effect_int(c, (int64_t)p->deliveries);
    rlt_call_effect_text(c, "FORCE");
    rlt_call_effect_text(c, "JUSTID");
    rlt_call_effect_text(c, "LASTID");
    rlt_cmd_stream_log_id(c, g->last);
}

RELET_PRIVATE void rlt_cmd_stream_log_group(rlt_call *c, uint32_t key,
                                            uint32_t group,
                                            const rlt_stream_group *g)
{
    rlt_call_effect(c, 7);
    rlt_call_effect_text(c, "XGROUP");
    rlt_call_effect_text(c, "SETID");
    rlt_call_effect_word(c, c->argv[key]);
    rlt_call_effect_word(c, c->argv[group]);
    rlt_cmd_stream_log_id(c, g->last);
    rlt_call_effect_text(c, "ENTRIESREAD");
    rlt_call_effect_int(c, RLT_MAX(g->entries_read, -1));
}

/* --------------------------------------------------------------------- XACK */

static int64_t group_claim_ack_all(rlt_call *c, rlt_stream_group *g)
{
    rlt_stream_pending *p;
    rlt_stream_id id;
    int64_t gone = 0;
    uint32_t i;

    for (i = 3; i < c->argc; i++) {
        (void)rlt_stream_id_read(c->argv[i], 0, &id, NULL);
        p = rlt_stream_pending_find(g, id);
        if (p == NULL)
            continue;
        rlt_stream_pending_remove(g, c->pool, p);
        gone++;
    }
    return gone;
}

static void group_claim_ack(rlt_call *c)
{
    rlt_stream_group *g = NULL;
    rlt_stream_id id;
    int64_t gone;
    rlt_obj *o;
    uint32_t i;

    if (!rlt_call_read(c, 1, RLT_OBJ_STREAM, &o))
        return;
    if (o)
        g = rlt_stream_group_find(&o->of.stream, c->argv[2]);
    if (g == NULL) {
        rlt_out_int(c->out, 0);
        return;
    }
    for (i = 3; i < c->argc; i++)
        if (!rlt_cmd_stream_id(c, i, 0, &id))
            return;
    gone = group_claim_ack_all(c, g);
    c->dirty += gone;
    rlt_out_int(c->out, gone);
}

/* ----------------------------------------------------------------- XPENDING */

typedef struct group_claim_asked {
    int64_t min_idle, count;
    rlt_stream_id from, to;
    uint32_t consumer_at; /* index in argv; 0: of all                        */
} group_claim_asked;

static int group_claim_asked_read(rlt_call *c, group_claim_asked *a)
{
    uint32_t i = 3;

    if (rlt_call_is(c, 3, "idle")) {
        if (!rlt_call_int(c, 4, &a->min_idle, NULL))
            return 0;
        if (c->argc < 8) {
            rlt_call_error(c, RLT_ERR_SYNTAX);
            return 0;
        }
        i = 5;
    }
    if (i + 3 < c->argc)
        a->consumer_at = i + 3;
    return rlt_call_int(c, i + 2, &a->count, NULL) &&
           rlt_cmd_stream_bound(c, i, 0, &a->from) &&
           rlt_cmd_stream_bound(c, i + 1, 1, &a->to);
}

static void group_claim_tell_consumers(rlt_call *c, const rlt_stream_group *g)
{
    const rlt_stream_consumer *who = rlt_stream_consumer_first(g);
    size_t mark = rlt_out_later(c->out), n = 0;

    for (; who; who = rlt_stream_consumer_next(who)) {
        if (rlt_tree_count(&who->pending) == 0)
            continue;
        rlt_out_array(c->out, 2);
        rlt_out_bulk(c->out, rlt_stream_consumer_name(who));
        rlt_out_bulk_int(c->out, rlt_tree_count(&who->pending));
        n++;
    }
    rlt_out_later_end(c->out, mark, '*', n);
}

static void group_claim_summary(rlt_call *c, const rlt_stream_group *g)
{
    const rlt_stream_id most = rlt_stream_id_of(UINT64_MAX, UINT64_MAX);
    const rlt_stream_pending *p =
        rlt_stream_pending_seek(g, NULL, rlt_stream_id_of(0, 0), 1);

    rlt_out_array(c->out, 4);
    rlt_out_int(c->out, rlt_tree_count(&g->pending));
    if (p == NULL) {
        rlt_out_null(c->out);
        rlt_out_null(c->out);
        rlt_out_null_array(c->out);
        return;
    }
    rlt_cmd_stream_tell_id(c, p->id);
    rlt_cmd_stream_tell_id(c, rlt_stream_pending_seek(g, NULL, most, 0)->id);
    group_claim_tell_consumers(c, g);
}

static void group_claim_list(rlt_call *c, const rlt_stream_group *g,
                             const group_claim_asked *a)
{
    const rlt_stream_consumer *who = NULL;
    const rlt_stream_pending *p;
    size_t mark = rlt_out_later(c->out);
    int64_t n = 0, idle;

    if (a->consumer_at > 0)
        who = rlt_stream_consumer_find(g, c->argv[a->consumer_at]);
    p = a->consumer_at > 0 && who == NULL
            ? NULL
            : rlt_stream_pending_seek(g, who, a->from, 1);
    for (; p && n < a->count && rlt_stream_id_compare(p->id, a->to) <= 0;
         p = rlt_stream_pending_step(p, who != NULL, 1)) {
        idle = c->now_ms - p->delivered_ms;
        if (a->min_idle != 0 && idle < a->min_idle)
            continue;
        rlt_out_array(c->out, 4);
        rlt_cmd_stream_tell_id(c, p->id);
        rlt_out_bulk(c->out, rlt_stream_consumer_name(p->consumer));
        rlt_out_int(c->out, RLT_MAX(idle, 0));
        rlt_out_int(c->out, (int64_t)p->deliveries);
        n++;
    }
    rlt_out_later_end(c->out, mark, '*', (size_t)n);
}

static void group_claim_pending(rlt_call *c)
{
    group_claim_asked a;
    rlt_stream_group *g;
    rlt_stream *s;

    memset(&a, 0, sizeof a);
    if (c->argc != 3 && (c->argc < 6 || c->argc > 9)) {
        rlt_call_error(c, RLT_ERR_SYNTAX);
        return;
    }
    if ((c->argc > 3 && !group_claim_asked_read(c, &a)) ||
        !rlt_cmd_stream_group(c, 1, 2, "'", &s, &g))
        return;
    if (c->argc == 3)
        group_claim_summary(c, g);
    else
        group_claim_list(c, g, &a);
}

/* -------------------------------------------------------- claiming an entry */

typedef struct group_claim_run {
    rlt_stream *s;
    rlt_stream_group *g;
    rlt_stream_consumer *who; /* NULL: not needed yet                        */
    int64_t min_idle;
    int64_t delivered_ms;     /* of claimed entries: time, …                 */
    int64_t retries;          /* … deliveries; -1: one more than before      */
    int force, just_id;
    int log_group;            /* the group's position must be logged         */
} group_claim_run;

/* Drops a pending entry that was deleted from the stream. */
static void group_claim_drop(rlt_call *c, group_claim_run *r,
                             rlt_stream_pending *p)
{
    rlt_call_effect(c, 4);
    rlt_call_effect_text(c, "XACK");
    rlt_call_effect_word(c, c->argv[1]);
    rlt_call_effect_word(c, c->argv[2]);
    rlt_cmd_stream_log_id(c, p->id);
    rlt_stream_pending_remove(r->g, c->pool, p);
    c->dirty++;
}

/* Claims an entry: e is not NULL, or just_id is set. */
static void group_claim_take(rlt_call *c, group_claim_run *r, rlt_stream_id id,
                             const rlt_stream_entry *e, rlt_stream_pending *p)
{
    if (r->who == NULL)
        r->who = rlt_cmd_stream_consumer(c, 1, r->g, 3);
    if (p == NULL)
        p = rlt_stream_pending_add(r->g, c->pool, r->who, id, c->now_ms);
    rlt_stream_pending_give(p, r->who);
    p->delivered_ms = r->delivered_ms;
    if (r->retries >= 0)
        p->deliveries = (uint64_t)r->retries;
    else if (!r->just_id)
        p->deliveries++;
    if (r->just_id)
        rlt_cmd_stream_tell_id(c, p->id);
    else
        rlt_cmd_stream_tell(c, e);
    rlt_cmd_stream_log_pending(c, 1, 2, r->g, p);
    r->log_group = 0;
    c->dirty++;
}

static int group_claim_is_idle(const rlt_call *c, const group_claim_run *r,
                               const rlt_stream_pending *p)
{
    return r->min_idle <= 0 || c->now_ms - p->delivered_ms >= r->min_idle;
}

/* ------------------------------------------------------------------- XCLAIM */

/* Reads the number behind the option at argv[*i]; *i moves to it. */
static int group_claim_number(rlt_call *c, uint32_t *i, const char *error,
                              int64_t *v)
{
    return rlt_call_int(c, ++*i, v, error);
}

static int group_claim_option(rlt_call *c, uint32_t *i, group_claim_run *r,
                              rlt_stream_id *last)
{
    int more = *i + 1 < c->argc;

    if (rlt_call_is(c, *i, "force")) {
        r->force = 1;
    } else if (rlt_call_is(c, *i, "justid")) {
        r->just_id = 1;
    } else if (more && rlt_call_is(c, *i, "idle")) {
        if (!group_claim_number(c, i,
                                "ERR Invalid IDLE option argument for XCLAIM",
                                &r->delivered_ms))
            return 0;
        r->delivered_ms =
            (int64_t)((uint64_t)c->now_ms - (uint64_t)r->delivered_ms);
    } else if (more && rlt_call_is(c, *i, "time")) {
        return group_claim_number(
            c, i, "ERR Invalid TIME option argument for XCLAIM",
            &r->delivered_ms);
    } else if (more && rlt_call_is(c, *i, "retrycount")) {
        return group_claim_number(
            c, i, "ERR Invalid RETRYCOUNT option argument for XCLAIM",
            &r->retries);
    } else if (more && rlt_call_is(c, *i, "lastid")) {
        return rlt_cmd_stream_id(c, ++*i, 0, last);
    } else {
        rlt_call_error_with(c, "ERR Unrecognized XCLAIM option '", c->argv[*i],
                            "'");
        return 0;
    }
    return 1;
}

/* Reads argv[4] and what follows: ids up to argv[*end], then options. */
static int group_claim_words(rlt_call *c, group_claim_run *r, uint32_t *end,
                             rlt_stream_id *last)
{
    uint32_t i;

    r->delivered_ms = -1;
    r->retries = -1;
    if (!rlt_call_int(c, 4, &r->min_idle,
                      "ERR Invalid min-idle-time argument for XCLAIM"))
        return 0;
    for (*end = 5; *end < c->argc; ++*end)
        if (!rlt_stream_id_read(c->argv[*end], 0, last, NULL))
            break;
    *last = rlt_stream_id_of(0, 0);
    for (i = *end; i < c->argc; i++)
        if (!group_claim_option(c, &i, r, last))
            return 0;
    /* An impossible time most likely comes from a different clock. The log is
     * replayed before the clock is set, so its times are kept. */
    if ((r->delivered_ms < 0 || r->delivered_ms > c->now_ms) &&
        !c->peer->replaying)
        r->delivered_ms = c->now_ms;
    return 1;
}

/* 1 when the entry was claimed. */
static int group_claim_one(rlt_call *c, group_claim_run *r, rlt_stream_id id)
{
    rlt_stream_pending *p = rlt_stream_pending_find(r->g, id);
    const rlt_stream_entry *e = rlt_stream_find(r->s, id);
    /* A replayed log may claim a pending entry that was deleted since. */
    int gone = e == NULL && !(c->peer->replaying && r->just_id);

    if (gone && p != NULL)
        group_claim_drop(c, r, p);
    if (gone || (p == NULL && !r->force) ||
        (p && !group_claim_is_idle(c, r, p)))
        return 0;
    group_claim_take(c, r, id, e, p);
    return 1;
}

static void group_claim_claim(rlt_call *c)
{
    group_claim_run r;
    rlt_stream_id id, last;
    uint32_t i, end;
    size_t mark, n = 0;

    memset(&r, 0, sizeof r);
    if (!rlt_cmd_stream_group(c, 1, 2, "'", &r.s, &r.g) ||
        !group_claim_words(c, &r, &end, &last))
        return;
    if (rlt_stream_id_compare(last, r.g->last) > 0) {
        r.g->last = last;
        r.log_group = 1;
    }
    mark = rlt_out_later(c->out);
    for (i = 5; i < end; i++) {
        (void)rlt_stream_id_read(c->argv[i], 0, &id, NULL);
        n += (size_t)group_claim_one(c, &r, id);
    }
    rlt_out_later_end(c->out, mark, '*', n);
    if (r.log_group) {
        rlt_cmd_stream_log_group(c, 1, 2, r.g);
        c->dirty++;
    }
    rlt_call_effect_none(c);
}

static size_t group_claim_bound(const rlt_call *c)
{
    return 1024 + RLT_STREAM_CONSUMER_COST(c->argv[3].n) +
           c->argc * RLT_STREAM_PENDING_COST;
}

/* --------------------------------------------------------------- XAUTOCLAIM */

/* Redis looks at up to so many times more entries than it would claim. */
#define GROUP_CLAIM_LOOKS 10

/* And it reserves room for as many ids as might turn out to be deleted. */
#define GROUP_CLAIM_ID_BYTES 16
#define GROUP_CLAIM_COUNT_MAX (INT64_C(1) << 43)

static int group_claim_auto_words(rlt_call *c, group_claim_run *r,
                                  rlt_stream_id *from, int64_t *count)
{
    uint32_t i;

    *count = 100;
    if (!rlt_call_int(c, 4, &r->min_idle,
                      "ERR Invalid min-idle-time argument for XAUTOCLAIM") ||
        !rlt_cmd_stream_bound(c, 5, 0, from))
        return 0;
    for (i = 6; i < c->argc; i++) {
        if (i + 1 < c->argc && rlt_call_is(c, i, "count")) {
            if (!rlt_call_between(c, ++i, 1, INT64_MAX / GROUP_CLAIM_ID_BYTES,
                                  count, "ERR COUNT must be > 0"))
                return 0;
        } else if (rlt_call_is(c, i, "justid")) {
            r->just_id = 1;
        } else {
            rlt_call_error(c, RLT_ERR_SYNTAX);
            return 0;
        }
    }
    return 1;
}

/* What one XAUTOCLAIM will do: planned before it is done, as its reply begins
 * with the id at which the next one goes on. */
typedef struct group_claim_plan {
    rlt_stream_id from, next;
    size_t claims, gone, looks;
} group_claim_plan;

static void group_claim_look(const rlt_call *c, const group_claim_run *r,
                             int64_t count, group_claim_plan *a)
{
    const rlt_stream_pending *p =
        rlt_stream_pending_seek(r->g, NULL, a->from, 1);
    size_t most = (size_t)count;

    for (; p && a->looks < most * GROUP_CLAIM_LOOKS &&
           a->gone + a->claims < most;
         a->looks++) {
        if (rlt_stream_find(r->s, p->id) == NULL)
            a->gone++;
        else if (group_claim_is_idle(c, r, p))
            a->claims++;
        p = rlt_stream_pending_step(p, 0, 1);
    }
    a->next = p ? p->id : rlt_stream_id_of(0, 0);
}

/* Claims the entries that exist, and gathers the ids of those deleted. */
static void group_claim_sweep(rlt_call *c, group_claim_run *r,
                              const group_claim_plan *a, rlt_stream_id *gone)
{
    rlt_stream_pending *p = rlt_stream_pending_seek(r->g, NULL, a->from, 1);
    const rlt_stream_entry *e;
    rlt_stream_pending *next;
    size_t i;

    for (i = 0; i < a->looks; i++, p = next) {
        next = rlt_stream_pending_step(p, 0, 1);
        e = rlt_stream_find(r->s, p->id);
        if (e == NULL) {
            *gone++ = p->id;
            group_claim_drop(c, r, p);
        } else if (group_claim_is_idle(c, r, p)) {
            group_claim_take(c, r, p->id, e, p);
        }
    }
}

static void group_claim_auto_run(rlt_call *c, group_claim_run *r,
                                 rlt_stream_id from, int64_t count)
{
    group_claim_plan a;
    rlt_stream_id *gone;
    size_t i;

    memset(&a, 0, sizeof a);
    a.from = from;
    group_claim_look(c, r, count, &a);
    gone = (rlt_stream_id *)rlt_call_scratch(c, (a.gone + 1) * sizeof *gone);
    if (gone == NULL)
        return;
    rlt_out_array(c->out, 3);
    rlt_cmd_stream_tell_id(c, a.next);
    rlt_out_array(c->out, a.claims);
    group_claim_sweep(c, r, &a, gone);
    rlt_out_array(c->out, a.gone);
    for (i = 0; i < a.gone; i++)
        rlt_cmd_stream_tell_id(c, gone[i]);
    rlt_call_effect_none(c);
}

static void group_claim_auto(rlt_call *c)
{
    group_claim_run r;
    rlt_stream_id from;
    int64_t count;
    rlt_entry *e;

    memset(&r, 0, sizeof r);
    r.retries = -1;
    r.delivered_ms = c->now_ms;
    /* Redis looks the key up first, which may publish events, and checks it
     * last. */
    e = rlt_call_find_read(c, c->argv[1]);
    if (!group_claim_auto_words(c, &r, &from, &count) ||
        !group_claim_group(c, e, 1, 2, "'", &r.s, &r.g))
        return;
    if (count >= GROUP_CLAIM_COUNT_MAX)
        rlt_call_error(c, "ERR Insufficient memory, failed allocating "
                          "transient memory, COUNT too high.");
    else
        group_claim_auto_run(c, &r, from, count);
}

/* --------------------------------------------------------------------- rows */

#define GROUP_CLAIM_WRITE (RLT_CMD_WRITE | RLT_CMD_FAST)

static const rlt_command group_claim_rows[] = {
    {"xack", group_claim_ack, -4, GROUP_CLAIM_WRITE, 1, 1, 1, 0, 0, NULL,
     NULL},
    {"xpending", group_claim_pending, -3, RLT_CMD_READONLY, 1, 1, 1, 0, 0,
     NULL, NULL},
    {"xclaim", group_claim_claim, -6, GROUP_CLAIM_WRITE, 1, 1, 1, 0, 0,
     group_claim_bound, NULL},
    {"xautoclaim", group_claim_auto, -6, GROUP_CLAIM_WRITE, 1, 1, 1, 0, 0,
     group_claim_bound, NULL},
};

RELET_PRIVATE const rlt_command *rlt_cmd_group_claim_rows(size_t *n)
{
    *n = sizeof group_claim_rows / sizeof group_claim_rows[0];
    return group_claim_rows;
}
