/* SPDX-License-Identifier: MIT
 *
 * record.c - what nodes asked about leases and heard, as history.h wants it:
 * from the first byte that a node gave away to the last that it read.
 *
 *   L10 what was answered about a lease has an order in which it is right
 *
 * It ends with the first write that servers forget, and with the first lie. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "wire.h"

#define RECORD_VOID (-1) /* to_us of one that was refused: it has no effect   */

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

void sim_record_end(sim_world *w, int key)
{
    if (w->leases.key[key].record_end_us == 0)
        w->leases.key[key].record_end_us = w->now_us;
}

/* A node has given the first byte of a command away. */
void sim_record_sent(sim_world *w, sim_link *l, const sim_words *c)
{
    static const sim_act_kind what[] = {SIM_ACT_ACQUIRE, SIM_ACT_RENEW,
                                        SIM_ACT_RELEASE};
    sim_record *r;
    sim_run run;

    if (!sim_claims_read(c, &run))
        return;
    if (l->lied)
        sim_record_end(w, run.key);
    if (l->records_sent - l->records_read == SIM_RECORDS) {
        sim_fail(w, SIM_E1, "too many acts for the record");
        return;
    }
    r = record_new(w, run.key, what[run.what], run.serial);
    r->act.term = run.term;
    r->act.token = run.token;
    r->act.ttl_us = run.ttl_us;
    r->act.quarantine = run.what == SIM_ACQUIRE &&
                        !sim_wire_is(c, c->n - 1, "0");
    if (l->host_gone || l->reset) /* nobody is there                          */
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

/* It has run, or was refused, and its answer ends behind so many bytes of the
 * link; 0: there is no link any more. */
void sim_record_ran(sim_world *w, const sim_run *run, int refused,
                    uint64_t behind)
{
    sim_record *r = &w->record[run->record];

    r->behind = refused ? 1 : behind;
    r->act.to_us = refused ? RECORD_VOID : w->now_us;
    r->act.status = run->answer[0];
    r->act.last = (uint64_t)run->answer[1];
}

/* About what was not answered yet. */
void sim_record_lied(sim_world *w, const sim_link *l)
{
    unsigned i;

    for (i = l->records_read; i < l->records_sent; i++)
        sim_record_end(w, record_at(w, l, i)->key);
}

/* A node has read on. */
void sim_record_read(sim_world *w, sim_link *l)
{
    const sim_pipe *p = &l->pipe[SIM_DOWN];

    while (l->records_read < l->records_ran) {
        sim_record *r = record_at(w, l, l->records_read);

        if (r->behind == 0 || r->behind > p->carried - (p->tail - p->head))
            return;
        l->records_read++;
        if (r->act.to_us == RECORD_VOID)
            continue;
        r->act.to_us = w->now_us;
        r->act.answered = 1;
    }
}

/* What has not arrived will not. */
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

    r->act.to_us = w->now_us;
    r->act.ttl_us = ms * SIM_MS;
    r->act.answered = 1;
    r->act.status = done;
}

/* ------------------------------------------------------------------ the end */

/* Acts about one key, until servers forgot. */
static size_t record_of(const sim_world *w, int key, sim_act *acts)
{
    int64_t end_us = w->leases.first_loss_us;
    int64_t lie_us = w->leases.key[key].record_end_us;
    size_t i, n = 0;

    if (lie_us > 0 && lie_us < end_us)
        end_us = lie_us;

    for (i = 0; i < w->records_n; i++) {
        const sim_act *a = &w->record[i].act;

        if (w->record[i].key != key || a->to_us == RECORD_VOID ||
            a->from_us >= end_us)
            continue;
        acts[n] = *a;
        if (a->to_us >= end_us) {
            acts[n].to_us = end_us;
            acts[n].answered = 0;
        }
        n++;
    }
    return n;
}

static void record_check(sim_world *w, int key, sim_act *acts)
{
    static const char *const text[] = {"acquires", "renews", "releases",
                                       "takes", "drops"};
    size_t n = record_of(w, key, acts), culprit = 0;
    sim_verdict verdict = sim_history_check(acts, n, w->leases.leapt,
                                            &culprit);
    const sim_act *a = &acts[culprit];

    w->checked[SIM_L10] += n > 0;
    w->gave_up += verdict == SIM_GAVE_UP;
    if (verdict != SIM_DISORDERED)
        return;
    sim_fail(w, SIM_L10, "%s: no order of %lu acts is right; none gets past "
             "%u, who %s from %.6f to %.6f: %ld, token %llu",
             sim_key_name[key], (unsigned long)n, a->who, text[a->what],
             (double)a->from_us / 1e6, (double)a->to_us / 1e6,
             (long)a->status, (unsigned long long)a->last);
}

void sim_record_judge(sim_world *w)
{
    sim_act *acts;
    int key;

    if (w->records_n == 0 || w->failed)
        return;
    acts = (sim_act *)malloc(w->records_n * sizeof *acts);
    if (acts == NULL)
        abort();
    for (key = 0; key < SIM_KEYS; key++)
        record_check(w, key, acts);
    free(acts);
}
