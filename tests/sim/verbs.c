/* SPDX-License-Identifier: MIT
 *
 * verbs.c - what must hold of jobs at a server, under any faults. Each script
 * is checked by its changes in the store: it changes what it should, and
 * nothing else. fates.c judges requests of operators, books.c whole queues.
 *
 *   Q1  a job is in one place, and no job disappears that has not ended
 *   Q2  a job that was put is there, once; an acknowledged job is not lost
 *       (jobs.c)
 *   Q3  after the healing each job ends, and no job is done that was not begun
 *       (jobs.c)
 *   Q4  tokens grow, and data that handlers change refuse older tokens
 *       (hands.c)
 *   Q5  only a request with the token of a lease changes its job, and a handler
 *       that is late gets JOB_LOST (tasks.c)
 *   Q6  a job has as many attempts and stalls as it may have, no more, no fewer
 *   Q7  no worker loses a job while it may believe in it, or without a cause
 *   Q8  no worker works after the end of a lease, believes in a job for longer
 *       than it is leased, or begins after a deadline; a worker gets JOB_CANCEL
 *       for a cancellation or a time-out (tasks.c)
 *   Q9  leases end by the server's clock, and not just after its start
 *   Q10 waiting jobs are claimed in order, and delayed jobs not before their
 *       time; no job enters a closed queue, leaves a stopped one, or is claimed
 *       above the limit of its queue; no worker has more jobs than its room
 *       (tasks.c)
 *   Q11 an idle worker is woken by a job that is put or relet (waits.c), and a
 *       node that waits for the end of a job learns of the end (awaits.c)
 *   Q12 a worker that stops gives back its jobs, and holds none when it has
 *       ended (tasks.c) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "wire.h"

#define VERBS_LOSSY(w, since_us) \
    ((w)->leases.void_us[SIM_VOID_COPY] >= (since_us) || \
     (w)->leases.void_us[SIM_VOID_DISK] >= (since_us))

/* --------------------------------------------------------------------- runs */

void sim_verbs_before(sim_world *w, sim_link *l, const sim_words *c)
{
    sim_step *run = &w->jobs.run;
    int i;

    run->what = SIM_V_NONE;
    if (w->work != &sim_working)
        return;
    sim_ledger_read(w, &w->host[l->host]);
    if (!sim_asks_read(c, run))
        return;
    sim_hears_first(w, l);
    if (l->selected != w->shape.db) {
        run->what = SIM_V_NONE; /* its SELECT was refused, and the refusal was
                                 * altered (seed 1704635399989 of WORK=jobs) */
        return;
    }
    sim_cuts_look(w, &w->host[l->host]);
    if (run->what == SIM_V_IDLE)
        sim_waits_lines_up(&w->node[l->node], c);
    run->host = l->host;
    run->from = l->node;
    run->link = l->number;
    run->wall_us = sim_host_wall(w, &w->host[l->host]);
    run->wall_ms = run->wall_us / 1000;
    sim_fates_before(w, c);
    sim_books_before(w);
    w->jobs.touches = 0;
    w->jobs.noted = 0;
    for (i = 0; i < SIM_QUEUES; i++) {
        sim_book *b = &w->host[l->host].ledger.book[i];

        b->pushed_first = b->pushed_last = 0;
    }
}

/* Takes the answer to the script that runs. */
void sim_verbs_answer(sim_world *w, sim_link *l, const sim_frame *f)
{
    if (w->jobs.run.what == SIM_V_NONE)
        return;
    sim_replies_answer(w, f);
    sim_cuts_answer(w, l, f);
    w->jobs.run.refused |= f->type == '-';
    w->jobs.run.full |= f->type == '-' && f->text.n > 5 &&
                        memcmp(f->text.p, "FULL ", 5) == 0;
}

void sim_verbs_message(sim_world *w, const sim_frame *f)
{
    sim_step *run = &w->jobs.run;

    if (run->what == SIM_V_NONE || f->words < 3 || f->word[0].n != 7 ||
        f->word[1].n != sizeof SIM_REPLY_TO - 1 ||
        memcmp(f->word[1].p, SIM_REPLY_TO, f->word[1].n) != 0)
        return;
    run->told[run->tolds++ % SIM_TOLD] = sim_ledger_digest(f->word[2]);
}

/* -------------------------------------------------------------- one place */

const char *sim_verbs_text(sim_verb what)
{
    static const char *const text[] = {"nothing", "put", "put_full",
                                       "promote", "claim", "recall", "renew",
                                       "done_plain", "done", "fail", "release",
                                       "reap", "idle", "cancel", "purge",
                                       "replay", "trim", "forget", "unique",
                                       "progress", "rank", "keep", "status",
                                       "look", "list", "repair"};

    return text[what];
}

void sim_verbs_fail(sim_world *w, sim_rule rule, const sim_touch *t,
                    const char *why)
{
    sim_fail(w, rule, "h%d, %s: job %llu of q%d %s", w->jobs.run.host,
             sim_verbs_text(w->jobs.run.what), (unsigned long long)t->number,
             t->queue, why);
}

/* Returns 1 if the job is in the place of its state and in no other. A job that
 * was cancelled may leave its number in the list. */
int sim_verbs_one_place(const sim_place *p)
{
    uint32_t open = p->waiting + p->ranked + p->delayed;

    if (p->job == 0)
        return open + p->leased + p->done + p->dead ==
                   (uint32_t)(p->gone && p->waiting + p->ranked == 1) &&
               p->letter == 'W';
    switch (p->letter) {
    case 'W':
        return open == 1 && p->leased + p->done + p->dead == 0;
    case 'L':
        return p->leased == 1 && open + p->done + p->dead == 0;
    case 'D':
        return p->done == 1 && open + p->leased + p->dead == 0;
    case 'X':
        return p->dead == 1 && open + p->leased + p->done == 0;
    }
    return 0;
}

/* The job's place in the ranked line. */
static int64_t verbs_score(const sim_touch *t, const sim_place *p)
{
    return ((int64_t)t->number - 1000 * p->terms.rank) * SIM_RANK_PARTS -
           p->terms.rank;
}

/* 1 + the index of this lease among those that the script names; 0: it is not
 * named, or with another token. */
static uint32_t verbs_named(const sim_step *run, const sim_touch *t)
{
    uint32_t i;

    for (i = 0; i < run->pairs; i++)
        if (run->number[i] == t->number && t->was.letter == 'L' &&
            run->token[i] == t->was.token)
            return i + 1;
    return 0;
}

int sim_verbs_counts_same(const sim_place *a, const sim_place *b)
{
    return a->attempts == b->attempts && a->stalls == b->stalls &&
           a->replays == b->replays;
}

/* Returns 1 if the end of a job may name another job: a server lied to a
 * client, or servers that lost writes gave out numbers and tokens twice. */
int sim_verbs_blind(sim_world *w, const sim_touch *t)
{
    return sim_tasks_lied_about(w, t) ||
           sim_tasks_twice(w, t->queue, t->was.token) ||
           (t->was.job && w->jobs.job[t->was.job - 1].lied);
}

/* Returns 1 if another job with this id has not ended. */
static int verbs_has_twin(sim_world *w, const sim_job *j)
{
    const sim_step *run = &w->jobs.run;
    const sim_ledger *l = &w->host[run->host].ledger;
    uint32_t i;

    for (i = 0; j->id > 0 && i < w->jobs.jobs; i++) {
        const sim_job *o = &w->jobs.job[i];
        const sim_place *p;

        if (o == j || o->id != j->id || o->queue != j->queue ||
            o->gen[run->host] != l->gen || o->number[run->host] == 0)
            continue;
        p = &l->book[o->queue].at[o->number[run->host]];
        if (p->job == i + 1 && p->letter != 'X')
            return 1;
    }
    return 0;
}

void sim_verbs_entered(sim_world *w, const sim_touch *t, const sim_place *p)
{
    const sim_step *run = &w->jobs.run;
    sim_job *j = p->job ? &w->jobs.job[p->job - 1] : NULL;
    uint64_t gen = w->host[run->host].ledger.gen;
    int64_t ms;

    if (!sim_holds(w, SIM_Q2, t->was.job == 0 && j && p->letter == 'W' &&
                                  j->queue == t->queue)) {
        sim_verbs_fail(w, SIM_Q2, t, "is new, but was not put into this queue");
        return;
    }
    if (!sim_holds(w, SIM_Q10,
                   !w->host[run->host].ledger.book[t->queue].closed))
        sim_verbs_fail(w, SIM_Q10, t, "was put into a queue that is closed");
    if (!sim_holds(w, SIM_Q2, j->gen[run->host] != gen ||
                                  j->number[run->host] == 0))
        sim_verbs_fail(w, SIM_Q2, t, "is put for the second time");
    if (!(w->jobs.loose[j->queue] & 1u << j->id) &&
        !sim_holds(w, SIM_Q2, !verbs_has_twin(w, j)))
        sim_verbs_fail(w, SIM_Q2, t, "has the id of a job that has not ended");
    if (!sim_holds(w, SIM_Q2, sim_ledger_same_terms(&p->terms, &j->terms)))
        sim_verbs_fail(w, SIM_Q2, t, "has other terms than it was put with");
    j->gen[run->host] = gen;
    j->number[run->host] = t->number;
    sim_waits_waits(w, j, w->now_us + j->delay_ms * SIM_MS);
    if (run->what == SIM_V_PUT)
        return;
    ms = p->score / 1024;
    if (!sim_holds(w, SIM_Q10, p->delayed && ms == run->wall_ms + j->delay_ms))
        sim_verbs_fail(w, SIM_Q10, t, "has another delay than it was put with");
}

static void verbs_promoted(sim_world *w, const sim_touch *t,
                           const sim_place *p)
{
    const sim_step *run = &w->jobs.run;

    if (!sim_holds(w, SIM_Q1, t->was.delayed && t->was.letter == 'W' &&
                                  p->letter == 'W' && !p->delayed &&
                                  sim_verbs_counts_same(&t->was, p)))
        sim_verbs_fail(w, SIM_Q1, t, "is promoted, but was not delayed, or is "
                                     "not as before");
    if (!sim_holds(w, SIM_Q10, t->was.score / 1024 <= run->wall_ms))
        sim_verbs_fail(w, SIM_Q10, t, "is promoted before it is due");
    if (p->job && p->ranked && !sim_verbs_blind(w, t) &&
        !sim_holds(w, SIM_Q10,
                   p->rank_score == verbs_score(t, p)))
        sim_verbs_fail(w, SIM_Q10, t, "has another rank than it was put with");
    if (t->was.score / 1024 < run->wall_ms - 50)
        SIM_MARK(promoted_late);
    SIM_MARK(promoted);
}

/* Judges a new token. If a server lost writes and its clock was set back as
 * well, no server could know which tokens were given out. */
static void verbs_token(sim_world *w, const sim_touch *t, uint64_t token)
{
    sim_jobs *g = &w->jobs;
    int queue = t->queue;
    int lossy = VERBS_LOSSY(w, g->granted_us[queue]);
    int blind = lossy && g->run.wall_ms * 1000 <= (int64_t)g->token[queue];

    if (!blind && !sim_holds(w, SIM_Q4, token > g->token[queue]))
        sim_verbs_fail(w, SIM_Q4, t, "is leased with a token that is not new");
    g->token_top[queue] = RLT_MAX(g->token_top[queue], token);
    if (token <= g->token[queue])
        g->twice[queue] = RLT_MAX(g->twice[queue], g->token_top[queue]);
}

static void verbs_leased(sim_world *w, const sim_touch *t, const sim_place *p)
{
    const sim_step *run = &w->jobs.run;
    const sim_book *b = &w->host[run->host].ledger.book[t->queue];

    if (t->was.job == 0 && p->job == 0 && !p->gone) { /* no job: removed */
        SIM_MARK(passed_over);
        return;
    }
    w->jobs.run.pairs++;

    if (!sim_holds(w, SIM_Q1, t->was.letter == 'W' &&
                                  (!t->was.delayed || t->was.cut) &&
                                  t->was.job > 0 && p->letter == 'L' &&
                                  sim_verbs_counts_same(&t->was, p))) {
        sim_verbs_fail(w, SIM_Q1, t, "is claimed, but did not wait, or is not "
                                     "as before");
        return;
    }
    if (!sim_holds(w, SIM_Q10, !b->stopped))
        sim_verbs_fail(w, SIM_Q10, t, "is claimed from a stopped queue");
    if (!sim_holds(w, SIM_Q10, b->limit == 0 || b->held <= b->limit))
        sim_verbs_fail(w, SIM_Q10, t, "is claimed above the queue's limit");
    if (!sim_holds(w, SIM_Q9, p->score == run->wall_ms + run->lease_ms))
        sim_verbs_fail(w, SIM_Q9, t,
                       "is leased for another time than the claim asked");
    verbs_token(w, t, p->token);
    sim_tasks_claimed(w, run, t->number, p);
}

static void verbs_renewed(sim_world *w, const sim_touch *t, const sim_place *p)
{
    const sim_step *run = &w->jobs.run;
    int64_t age_us = run->wall_us - (int64_t)t->was.token;

    if (!sim_holds(w, SIM_Q5, verbs_named(run, t) > 0 && p->letter == 'L' &&
                                  p->token == t->was.token &&
                                  sim_verbs_counts_same(&t->was, p)))
        sim_verbs_fail(w, SIM_Q5, t, "is renewed, but not by its owner");
    if (!sim_holds(w, SIM_Q9, p->score == run->wall_ms + run->lease_ms))
        sim_verbs_fail(w, SIM_Q9, t,
                       "is renewed for another time than the renewal asked");
    if (!sim_holds(w, SIM_Q6, age_us <= run->run_ms * 1000))
        sim_verbs_fail(w, SIM_Q6, t, "is renewed after its longest run");
    if (t->was.score < run->wall_ms)
        SIM_MARK(job_renewed_late);
}

/* The owner of a lease ends its job, by its token. */
static void verbs_ended(sim_world *w, const sim_touch *t, const sim_place *p)
{
    const sim_step *run = &w->jobs.run;
    int kept = run->what == SIM_V_DONE && run->wait_ms > 0;

    if (!sim_holds(w, SIM_Q5, verbs_named(run, t) > 0)) {
        sim_verbs_fail(w, SIM_Q5, t, "is ended, but not by its owner");
        return;
    }
    if (!sim_holds(w, SIM_Q1, kept ? p->job && p->letter == 'D' &&
                                         p->score == run->wall_ms + run->wait_ms
                                   : p->job == 0 &&
                                         (!p->gone || t->was.cut)))
        sim_verbs_fail(w, SIM_Q1, t, "is done, but kept for another time than "
                                     "the request says");
    if (run->what == SIM_V_DONE && t->was.job > 0 && !sim_verbs_blind(w, t) &&
        !sim_holds(w, SIM_Q1, run->wait_ms == t->was.terms.keep_ms))
        sim_verbs_fail(w, SIM_Q1, t, "is kept for another time than its put "
                                     "asked");
    if (t->was.score < run->wall_ms)
        SIM_MARK(late_done);
    if (t->was.job > 0 && !sim_verbs_blind(w, t) &&
        !sim_holds(w, SIM_Q3, w->jobs.job[t->was.job - 1].starts > 0))
        sim_verbs_fail(w, SIM_Q3, t, "is done, but no handler began it");
    if (kept)
        SIM_MARK(job_kept);
    sim_tasks_accepted(w, run, t->number, t->was.token);
}

/* A worker found that the job's deadline had passed, and did not begin it. */
static int verbs_stale(sim_world *w, const sim_touch *t, const sim_place *p)
{
    sim_step *run = &w->jobs.run;
    const sim_terms *terms = &t->was.terms;
    int64_t ms = run->wall_ms;

    /* A token holds the time of its claim; the clock may have been set back
     * since. */
    if (ms < (int64_t)(t->was.token / 1000))
        ms = (int64_t)(t->was.token / 1000);
    run->stale = t->was.job && terms->deadline_ms > 0 &&
                 run->verdict == 'x' && p->letter == 'X' &&
                 ms - t->was.born_s * 1000 >= terms->deadline_ms;
    return run->stale;
}

/* Returns 1 if a handler has buried the job under this token. The counts in the
 * store do not show that, since a server may lose a replay of the job (seed
 * 3611190170466). */
static int verbs_buried(const sim_job *j, uint64_t token)
{
    int i;

    for (i = 0; i < SIM_BURIALS; i++)
        if (j->buried[i] == token)
            return 1;
    return 0;
}

static void verbs_failed(sim_world *w, const sim_touch *t, const sim_place *p)
{
    const sim_step *run = &w->jobs.run;
    sim_job *j = t->was.job ? &w->jobs.job[t->was.job - 1] : NULL;
    uint32_t burnt = run->verdict == 's' ? 0 : 1;
    int right;

    if (!sim_holds(w, SIM_Q5, verbs_named(run, t) > 0)) {
        sim_verbs_fail(w, SIM_Q5, t, "is failed, but not by its owner");
        return;
    }
    right = p->job == t->was.job && p->attempts == t->was.attempts + burnt &&
            p->stalls == t->was.stalls;
    if (run->verdict == 'x' || t->was.flag == 'c')
        right = right && p->letter == 'X';
    else
        right = right && p->letter == 'W' && p->delayed &&
                p->score / 1024 == run->wall_ms + run->wait_ms;
    if (!sim_holds(w, SIM_Q6, right))
        sim_verbs_fail(w, SIM_Q6, t, "is failed, but its counts, its state or "
                                     "its delay are wrong");
    if (!verbs_stale(w, t, p) && t->was.flag != 'c' && j &&
        !verbs_buried(j, t->was.token) &&
        !sim_verbs_blind(w, t) && burnt &&
        !sim_holds(w, SIM_Q6, (p->letter == 'X') ==
                                  (p->attempts >= p->terms.attempts)))
        sim_verbs_fail(w, SIM_Q6, t, p->letter == 'X'
                                     ? "is dead, but has attempts left"
                                     : "is tried again, but has no attempts "
                                       "left");
    if (t->was.flag == 'c')
        SIM_MARK(cancelled_and_failed);
    else if (p->letter == 'X')
        SIM_MARK(dead_by_attempts);
    else
        SIM_MARK(job_again);
    if (j)
        j->spent++;
    sim_tasks_accepted(w, run, t->number, t->was.token);
}

static void verbs_released(sim_world *w, const sim_touch *t,
                           const sim_place *p)
{
    const sim_step *run = &w->jobs.run;

    if (!sim_holds(w, SIM_Q5, verbs_named(run, t) > 0)) {
        sim_verbs_fail(w, SIM_Q5, t, "is released, but not by its owner");
        return;
    }
    if (t->was.flag == 'c') {
        if (!sim_holds(w, SIM_Q1, p->letter == 'L' && p->flag == 'c' &&
                                      p->score == 0))
            sim_verbs_fail(w, SIM_Q1, t, "is cancelled and released, but its "
                                         "lease does not end");
        SIM_MARK(cancelled_and_given_back);
        sim_tasks_accepted(w, run, t->number, t->was.token);
        return;
    }
    if (!sim_holds(w, SIM_Q12, p->letter == 'W' &&
                                   (p->waiting == 1 || t->was.cut) &&
                                   sim_verbs_counts_same(&t->was, p)))
        sim_verbs_fail(w, SIM_Q12, t,
                       "is released, but does not wait as before");
    if (t->was.job) {
        w->jobs.job[t->was.job - 1].spent++;
        sim_waits_waits(w, &w->jobs.job[t->was.job - 1], w->now_us);
    }
    SIM_MARK(job_given_back);
    sim_tasks_accepted(w, run, t->number, t->was.token);
}

/* For the time of one lease after its first request to a server that has just
 * started, a reaper takes no job: the owners may be about to renew. */
static void verbs_storm(sim_world *w, const sim_touch *t)
{
    const sim_step *run = &w->jobs.run;
    const sim_host *h = &w->host[run->host];
    const sim_book *b = &h->ledger.book[t->queue];

    if (!sim_holds(w, SIM_Q9, b->run_gen == h->ledger.gen &&
                                  run->wall_ms >= b->open_ms))
        sim_verbs_fail(w, SIM_Q9, t,
                       "is reaped too soon after the start of its server");
}

static void verbs_holds_off(sim_world *w, int before, uint64_t run_gen)
{
    const sim_step *run = &w->jobs.run;
    const sim_host *h = &w->host[run->host];
    const sim_book *b = &h->ledger.book[run->queue];

    if (b->run_gen == run_gen || b->run_gen != h->ledger.gen)
        return;
    if (before)
        SIM_MARK(reaper_held_off);
    if (!sim_holds(w, SIM_Q9, b->open_ms == run->wall_ms +
                                  (before ? run->lease_ms : 0)))
        sim_fail(w, SIM_Q9, "h%d: a reaper does not wait for one lease after "
                 "the start of its server", run->host);
}

static void verbs_reaped(sim_world *w, const sim_touch *t, const sim_place *p)
{
    const sim_step *run = &w->jobs.run;
    int cancelled = t->was.flag == 'c';
    int over = cancelled || t->was.stalls + 1 > run->stalls_max;

    if (!sim_holds(w, SIM_Q9, t->was.letter == 'L' &&
                                  t->was.score < run->wall_ms))
        sim_verbs_fail(w, SIM_Q9, t, "is reaped before its lease has ended");
    if (!sim_holds(w, SIM_Q6, p->job == t->was.job &&
                                  p->attempts == t->was.attempts &&
                                  p->stalls == t->was.stalls + 1 &&
                                  p->letter == (over ? 'X' : 'W')))
        sim_verbs_fail(w, SIM_Q6, t, "is reaped, but its count of stalls or "
                                     "its state is wrong");
    verbs_storm(w, t);
    if (cancelled)
        SIM_MARK(cancelled_and_reaped);
    else if (over)
        SIM_MARK(dead_by_stalls);
    else
        SIM_MARK(job_relet);
    if (t->was.job) {
        w->jobs.job[t->was.job - 1].spent++;
        sim_waits_waits(w, &w->jobs.job[t->was.job - 1], w->now_us);
    }
    sim_tasks_taken(w, t->number, t->was.token);
}

/* A claim by type ranks the line: jobs without a rank keep their places, and
 * numbers without a job leave it. */
static void verbs_ranked(sim_world *w, const sim_touch *t, const sim_place *p)
{
    int right = t->was.job == 0
                    ? p->ranked == 0
                    : p->ranked == 1 && p->letter == 'W' &&
                          p->rank_score == verbs_score(t, p);

    if (!sim_holds(w, SIM_Q10, right && p->waiting == 0))
        sim_verbs_fail(w, SIM_Q10, t, "has lost its place in line");
    SIM_MARK(ranked);
}

static void verbs_touched(sim_world *w, const sim_touch *t, sim_place *p)
{
    int cut = sim_cuts_touched(w, t);

    if (cut && sim_cuts_judge(w, t, p))
        return;
    if (!cut && !sim_holds(w, SIM_Q1, sim_verbs_one_place(p))) {
        sim_verbs_fail(w, SIM_Q1, t, "is not in exactly one place");
        return;
    }
    if (!cut &&
        !sim_holds(w, SIM_Q1, !p->gone || t->was.gone ||
                                  w->jobs.run.what == SIM_V_CANCEL))
        sim_verbs_fail(w, SIM_Q1, t, "has no record, but is in the list");
    switch (w->jobs.run.what) {
    case SIM_V_PUT:
    case SIM_V_PUT_FULL:
        sim_verbs_entered(w, t, p);
        return;
    case SIM_V_PROMOTE:
        verbs_promoted(w, t, p);
        return;
    case SIM_V_CLAIM:
        verbs_leased(w, t, p);
        return;
    case SIM_V_RENEW:
        verbs_renewed(w, t, p);
        return;
    case SIM_V_DONE_PLAIN:
    case SIM_V_DONE:
        verbs_ended(w, t, p);
        return;
    case SIM_V_FAIL:
        verbs_failed(w, t, p);
        return;
    case SIM_V_RELEASE:
        verbs_released(w, t, p);
        return;
    case SIM_V_REAP:
        verbs_reaped(w, t, p);
        return;
    case SIM_V_CANCEL:
    case SIM_V_PURGE:
    case SIM_V_REPLAY:
    case SIM_V_TRIM:
    case SIM_V_UNIQUE:
    case SIM_V_KEEP:
        sim_fates_touched(w, t, p);
        return;
    case SIM_V_NONE:
    case SIM_V_RANK:
        verbs_ranked(w, t, p);
        return;
    case SIM_V_RECALL:
    case SIM_V_IDLE:
    case SIM_V_FORGET:
    case SIM_V_PROGRESS:
    case SIM_V_STATUS:
    case SIM_V_LOOK:
    case SIM_V_LIST:
    case SIM_V_REPAIR:
        break;
    }
    sim_verbs_fail(w, SIM_Q1, t, "was changed by a script that only reads");
}

/* -------------------------------------------------------------- all of them */

/* Counts all renewals, also those that changed no score, because the clock
 * stood still. */
static void verbs_renewals(sim_world *w, sim_book *b)
{
    const sim_step *run = &w->jobs.run;
    uint32_t i;

    for (i = 0; i < run->pairs; i++) {
        const sim_place *p = sim_ledger_at(b, run->number[i]);
        int64_t age_us = run->wall_us - (int64_t)run->token[i];

        if (p->letter == 'L' && p->token == run->token[i] &&
            age_us <= run->run_ms * 1000)
            sim_tasks_renewed(w, run, run->number[i], p);
    }
}

/* A put pushes jobs at the end, in order; a release or a reap pushes them at
 * the front, in the order in which they were leased. */
static void verbs_order(sim_world *w, const sim_book *b)
{
    const sim_step *run = &w->jobs.run;
    size_t i;
    int right = 1;

    if (run->what == SIM_V_PUT || run->what == SIM_V_PROMOTE) {
        right = b->pushed_first == 0;
        for (i = 1; right && run->what == SIM_V_PUT && i < b->pushed_last; i++)
            right = b->line[b->line_n - i] > b->line[b->line_n - i - 1];
    } else if (run->what == SIM_V_RELEASE || run->what == SIM_V_REAP) {
        right = b->pushed_last == 0;
    }
    if (!sim_holds(w, SIM_Q10, right))
        sim_fail(w, SIM_Q10, "h%d, %s: the waiting jobs are not in order",
                 run->host, sim_verbs_text(run->what));
}

static void verbs_claimed(sim_world *w, uint32_t many)
{
    const sim_step *run = &w->jobs.run;
    const sim_book *b = &w->host[run->host].ledger.book[run->queue];

    if (!sim_holds(w, SIM_Q10, many <= run->wanted))
        sim_fail(w, SIM_Q10, "h%d: a claim for %u jobs brought %u", run->host,
                 run->wanted, many);
    if (many == 0)
        return;
    if (many > 16) /* queue_claim.lua then leases differently */
        SIM_MARK(claimed_many);
    w->jobs.token[run->queue] = b->token;
    w->jobs.granted_us[run->queue] = w->now_us;
}

/* A step over a link that its client has given up may take the client out of
 * the line, after a later step lined it up. */
static void verbs_asks(sim_world *w, sim_book *b)
{
    const sim_step *run = &w->jobs.run;

    if (sim_net_in_use(w, w->link[run->link]))
        w->node[run->from].claims_us[run->queue] = w->now_us;
    else
        b->stale_us = w->now_us;
}

void sim_verbs_after(sim_world *w)
{
    sim_jobs *g = &w->jobs;
    sim_host *h = &w->host[g->run.host];
    sim_book *b;
    uint64_t run_gen;
    size_t i;
    int seen;

    if (g->run.what == SIM_V_NONE || w->failed)
        return;
    b = &h->ledger.book[g->run.queue];
    if (g->run.what == SIM_V_CLAIM || g->run.what == SIM_V_IDLE)
        verbs_asks(w, b);
    if (g->run.what != SIM_V_REAP && g->run.what != SIM_V_RENEW)
        g->busy_us[g->run.queue] = w->now_us;
    run_gen = b->run_gen;
    seen = b->seen;
    sim_ledger_read(w, h);
    if (g->run.what == SIM_V_REAP)
        verbs_holds_off(w, seen, run_gen);
    if (g->run.what == SIM_V_CLAIM && sim_claims_two_masters(w))
        SIM_MARK(two_masters);
    SIM_SAY(w, "h%d: q%d %s, worker %u, changes %lu", g->run.host,
            g->run.queue, sim_verbs_text(g->run.what), g->run.serial,
            (unsigned long)g->touches);
    for (i = 0; i < g->touches && !w->failed; i++) {
        const sim_touch *t = &g->touch[i];
        sim_place *p = sim_ledger_at(&h->ledger.book[t->queue], t->number);

        if (p->job && sim_tasks_lied_about(w, t))
            g->job[p->job - 1].lied = 1;
        if (p->waiting && !t->was.waiting)
            p->since_us = w->now_us;
        if (t->moved)
            verbs_touched(w, t, p);
        sim_books_touched(w, t, p);
        sim_awaits_touched(w, t, p);
    }
    sim_cuts_after(w);
    if (g->touches > 0)
        verbs_order(w, b);
    if (g->run.what == SIM_V_RENEW && !g->run.refused)
        verbs_renewals(w, b);
    if (g->run.what == SIM_V_RECALL && !g->run.refused) {
        SIM_MARK(claim_recalled);
        sim_tasks_recalled(w, &g->run, b);
    }
    if (g->run.what == SIM_V_CLAIM)
        verbs_claimed(w, g->run.pairs);
    sim_fates_after(w);
    sim_books_after(w);
    sim_replies_after(w);
    g->run.what = SIM_V_NONE;
}
