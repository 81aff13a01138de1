/* SPDX-License-Identifier: MIT
 *
 * record.c - the requests of nodes about leases, and their answers, in the form
 * of history.h: an act lasts from the first byte that a node sent to the last
 * byte that it read.
 *
 *   L10 the answers about a lease are right in at least one order
 *
 * The history is judged in parts. A part ends when servers lose writes; the
 * next part begins with the first grant of a new token by the server that is
 * left, since that grant sets all that the scripts look at. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "wire.h"

#define RECORD_VOID (-1) /* to_us of a refused act, which has no effect       */

static sim_record *record_new(sim_world *w, int key, sim_act_kind what,
                              uint32_t who)
{
    sim_record *r;

    if (w->records_n == w->records_cap) {
        w->records_cap = w->records_cap ? 2 * w->records_cap : 256;
        w->record = (sim_record *)realloc(w->record, w->records_cap *
                                                         sizeof *w->record);
        if (w->record == NULL)
            abort();
    }
    r = &w->record[w->records_n++];
    memset(r, 0, sizeof *r);
    r->key = key;
    r->act.what = what;
    r->act.who = who;
    r->act.from_us = w->now_us;
    r->act.to_us = INT64_MAX;
    return r;
}

static void record_lie(sim_world *w, int key)
{
    if (w->leases.key[key].lied_us == 0)
        w->leases.key[key].lied_us = w->now_us;
}

/* Servers lose writes now, of any key. */
void sim_record_forgotten(sim_world *w)
{
    sim_record *r = w->records_n ? &w->record[w->records_n - 1] : NULL;

    if (r == NULL || r->key != SIM_RECORD_FORGOTTEN || r->ran < w->leases.runs)
        r = record_new(w, SIM_RECORD_FORGOTTEN, SIM_ACT_DROP, SIM_ACT_OTHER);
    r->act.from_us = w->now_us;
    r->ran = w->leases.runs;
}

/* A node has given the first byte of a command to a link. */
void sim_record_sent(sim_world *w, sim_link *l, const sim_words *c)
{
    static const sim_act_kind what[] = {SIM_ACT_ACQUIRE, SIM_ACT_RENEW,
                                        SIM_ACT_RELEASE};
    sim_record *r;
    sim_run run;

    if (!sim_claims_read(c, &run))
        return;
    sim_pace_sent(w, &w->node[l->node], run.serial);
    if (l->lied)
        record_lie(w, run.key);
    if (l->records_sent - l->records_read == SIM_RECORDS) {
        sim_fail(w, SIM_E1, "more than SIM_RECORDS unanswered acts on a link");
        return;
    }
    r = record_new(w, run.key, what[run.what], run.serial);
    r->act.term = run.term;
    r->act.token = run.token;
    r->act.ttl_us = run.ttl_us;
    r->act.quarantine = run.what == SIM_ACQUIRE &&
                        !sim_wire_is(c, c->n - 1, "0");
    if (l->host_gone || l->reset) /* no server is there                       */
        r->act.to_us = w->now_us;
    else
        l->record[l->records_sent++ % SIM_RECORDS] = (uint32_t)w->records_n - 1;
}

static sim_record *record_at(sim_world *w, const sim_link *l, unsigned i)
{
    return &w->record[l->record[i % SIM_RECORDS]];
}

uint32_t sim_record_arrived(sim_link *l)
{
    return l->record[l->records_ran++ % SIM_RECORDS];
}

/* The act granted a new token, while only this server gives out tokens. */
static int record_is_fresh(const sim_world *w, const sim_run *run)
{
    return run->what == SIM_ACQUIRE && run->answer[0] == 1 &&
           (uint64_t)run->answer[1] != run->last &&
           run->host == w->primary && !w->host[1 - w->primary].up;
}

/* A request has run, or was refused, and its answer ends after `behind` bytes
 * of the link; 0: there is no link any more. */
void sim_record_ran(sim_world *w, const sim_run *run, int refused,
                    uint64_t behind)
{
    sim_record *r = &w->record[run->record];

    r->ran = ++w->leases.runs;
    r->ran_us = w->now_us;
    r->fresh = !refused && record_is_fresh(w, run);
    r->behind = refused ? 1 : behind;
    r->host = run->host;
    r->wall_us = sim_host_wall(w, &w->host[run->host]);
    r->act.to_us = refused && !run->cut ? RECORD_VOID : w->now_us;
    r->act.cut = refused && run->cut;
    r->act.status = run->answer[0];
    r->act.last = (uint64_t)run->answer[1];
}

/* A server lied about all requests on this link that are not answered yet. */
void sim_record_lied(sim_world *w, const sim_link *l)
{
    unsigned i;

    for (i = l->records_read; i < l->records_sent; i++)
        record_lie(w, record_at(w, l, i)->key);
}

/* A node has read more bytes. If a server lied on the link, the judge does not
 * know which bytes the node took for the answer: the request ran, and counts as
 * not answered. */
void sim_record_read(sim_world *w, sim_link *l)
{
    const sim_pipe *p = &l->pipe[SIM_DOWN];

    while (l->records_read < l->records_ran) {
        sim_record *r = record_at(w, l, l->records_read);

        if (r->behind == 0 || r->behind > p->carried - (p->tail - p->head))
            return;
        l->records_read++;
        if (r->act.to_us == RECORD_VOID || r->act.cut || l->lied)
            continue;
        r->act.to_us = w->now_us;
        r->act.answered = 1;
        sim_pace_heard(w, &w->node[l->node], r);
    }
}

/* Requests that have not arrived never will. */
void sim_record_gone(sim_world *w, sim_link *l)
{
    for (; l->records_ran < l->records_sent; l->records_ran++)
        record_at(w, l, l->records_ran)->act.to_us = w->now_us;
    l->records_read = l->records_ran;
}

void sim_record_other(sim_world *w, int key, int take, relet_time ms, int done)
{
    sim_record *r = record_new(w, key, take ? SIM_ACT_TAKE : SIM_ACT_DROP,
                               SIM_ACT_OTHER);

    r->ran = ++w->leases.runs;
    r->ran_us = w->now_us;
    r->act.to_us = w->now_us;
    r->act.ttl_us = ms * SIM_MS;
    r->act.answered = 1;
    r->act.status = done;
}

/* ------------------------------------------------------------------ the end */

/* A part, judged as a whole: from the grant that begins it, or the start. */
typedef struct record_part {
    const sim_record *first;
    int64_t end_us;
} record_part;

/* The judge knows when the act that begins a part ran, and with what effect. */
static size_t record_first(const sim_record *first, sim_act *acts)
{
    if (first == NULL)
        return 0;
    acts[0] = first->act;
    acts[0].from_us = acts[0].to_us = first->ran_us;
    acts[0].answered = 1;
    return 1;
}

/* Returns 1 if the act ran before this part, or could no longer run when this
 * part began. */
static int record_is_before(const record_part *p, const sim_record *r)
{
    if (p->first == NULL)
        return 0;
    return r->ran > 0 ? r->ran <= p->first->ran
                      : r->act.to_us <= p->first->ran_us;
}

/* Collects the acts about one key until end_us. */
static size_t record_of(const sim_world *w, int key, const record_part *p,
                        int64_t end_us, sim_act *acts)
{
    size_t i, n = record_first(p->first, acts);
    int64_t from_us = n > 0 ? p->first->ran_us + 1 : 0;

    for (i = 0; i < w->records_n; i++) {
        const sim_act *a = &w->record[i].act;

        if (w->record[i].key != key || a->to_us == RECORD_VOID ||
            a->from_us >= end_us || record_is_before(p, &w->record[i]))
            continue;
        acts[n] = *a;
        if (a->from_us < from_us)
            acts[n].from_us = from_us;
        if (a->to_us < from_us)
            acts[n].to_us = from_us;
        if (a->to_us >= end_us) {
            acts[n].to_us = end_us;
            acts[n].answered = 0;
        }
        n++;
    }
    return n;
}

static void record_part_check(sim_world *w, int key, const record_part *p,
                              sim_act *acts)
{
    static const char *const text[] = {"acquires", "renews", "releases",
                                       "takes", "drops"};
    int64_t lied_us = w->leases.key[key].lied_us;
    size_t n = record_of(w, key, p, p->end_us, acts), culprit = 0;
    sim_verdict verdict = sim_history_check(acts, n, w->leases.leap,
                                            w->leases.leaps, &culprit);
    const sim_act *a = &acts[culprit];

    /* With many acts that have no answer there are too many orders. */
    if (verdict == SIM_GAVE_UP && lied_us > 0) {
        n = record_of(w, key, p, lied_us < p->end_us ? lied_us : p->end_us,
                      acts);
        verdict = sim_history_check(acts, n, w->leases.leap, w->leases.leaps,
                                    &culprit);
    }
    if (n > 0)
        (void)sim_judges(w, SIM_L10, verdict == SIM_GAVE_UP, 1);
    w->gave_up += verdict == SIM_GAVE_UP;
    if (p->first && n > 1)
        SIM_MARK(judged_behind_a_loss);
    if (verdict != SIM_DISORDERED)
        return;
    sim_fail(w, SIM_L10, "%s: no order of %lu acts explains all answers; none "
             "explains that owner %u %s from %.6f to %.6f: %ld, token %llu",
             sim_key_name[key], (unsigned long)n, a->who, text[a->what],
             (double)a->from_us / 1e6, (double)a->to_us / 1e6,
             (long)a->status, (unsigned long long)a->last);
}

/* The first grant of a new token between two losses. */
static const sim_record *record_anew(const sim_world *w, int key,
                                     uint32_t after, uint32_t until)
{
    const sim_record *first = NULL;
    size_t i;

    for (i = 0; i < w->records_n; i++) {
        const sim_record *r = &w->record[i];

        if (r->key == key && r->fresh && r->ran > after && r->ran <= until &&
            (first == NULL || r->ran < first->ran))
            first = r;
    }
    return first;
}

static void record_check(sim_world *w, int key, sim_act *acts)
{
    record_part p = {NULL, 0};
    uint32_t after = 0;
    size_t i, parts = 0;

    for (i = 0; i <= w->records_n && !w->failed; i++) {
        int last = i == w->records_n;
        uint32_t until = last ? UINT32_MAX : w->record[i].ran;

        if (!last && w->record[i].key != SIM_RECORD_FORGOTTEN)
            continue;
        p.end_us = last ? SIM_NEVER : w->record[i].act.from_us;
        p.first = parts > 0 ? record_anew(w, key, after, until) : NULL;
        if (parts++ == 0 || p.first)
            record_part_check(w, key, &p, acts);
        after = until;
    }
}

void sim_record_judge(sim_world *w)
{
    sim_act *acts;
    int key;

    if (w->records_n == 0 || w->failed)
        return;
    acts = (sim_act *)malloc((w->records_n + 1) * sizeof *acts);
    if (acts == NULL)
        abort();
    for (key = 0; key < SIM_KEYS; key++)
        record_check(w, key, acts);
    free(acts);
}
