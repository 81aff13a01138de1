/* SPDX-License-Identifier: MIT
 *
 * fates.c - judges what is done to jobs not by their workers: an operator
 * cancels, purges, replays or trims a job, or a job of the same id replaces it.
 * The rules are listed in verbs.c. */
#include <string.h>

#include "sim.h"
#include "wire.h"

#define FATES_DEAD_MS ((relet_time)30 * 86400000) /* by default              */
#define FATES_DEAD_MAX 100000                     /* by default, too         */

static sim_book *fates_book(sim_world *w)
{
    return &w->host[w->jobs.run.host].ledger.book[w->jobs.run.queue];
}

/* Returns 1 if nothing is left of the job, except perhaps a place in line. */
static int fates_is_gone(const sim_place *p)
{
    return p->job == 0 && p->letter == 'W';
}

/* A waiting job that is cancelled is removed; a leased one is only marked as
 * cancelled. */
static void fates_cancelled(sim_world *w, const sim_touch *t,
                            const sim_place *p)
{
    const sim_step *run = &w->jobs.run;

    if (!sim_holds(w, SIM_Q5, run->number[0] == t->number))
        sim_verbs_fail(w, SIM_Q5, t, "is cancelled instead of the named job");
    if (t->was.letter == 'L') {
        if (!sim_holds(w, SIM_Q1, p->letter == 'L' && p->flag == 'c' &&
                                      p->job == t->was.job &&
                                      p->token == t->was.token &&
                                      p->score == t->was.score &&
                                      sim_verbs_counts_same(&t->was, p)))
            sim_verbs_fail(w, SIM_Q1, t, "is leased and cancelled, and changed "
                                         "by more than the mark");
        SIM_MARK(cancelled_while_it_runs);
        sim_tasks_cancelled(w, t->number, t->was.token);
        return;
    }
    if (!sim_holds(w, SIM_Q1, t->was.letter == 'W' && t->was.job > 0 &&
                                  fates_is_gone(p)))
        sim_verbs_fail(w, SIM_Q1, t, "is cancelled though it had ended, or is "
                                     "cancelled and not removed");
    if (t->was.delayed)
        SIM_MARK(cancelled_while_delayed);
    else
        SIM_MARK(cancelled_while_it_waits);
}

static char fates_letter(char place)
{
    return place == 'x' ? 'X' : place == 'd' ? 'D' : place == 'l' ? 'L' : 'W';
}

static void fates_purged(sim_world *w, const sim_touch *t, const sim_place *p)
{
    const sim_step *run = &w->jobs.run;
    int asked = run->verdict == 'a' ||
                t->was.letter == fates_letter(run->verdict);

    if (!sim_holds(w, SIM_Q1, asked && fates_is_gone(p) &&
                                  (!p->gone || sim_cuts_touched(w, t))))
        sim_verbs_fail(w, SIM_Q1, t, "is purged from a place that the purge "
                                     "does not name, or is not removed");
    if (!sim_holds(w, SIM_Q5, t->was.letter != 'L' || run->forced))
        sim_verbs_fail(w, SIM_Q5, t, "is leased, but purged without force");
    if (t->was.letter == 'L')
        SIM_MARK(purged_while_it_runs);
    else
        SIM_MARK(purged);
}

static void fates_replayed(sim_world *w, const sim_touch *t,
                           const sim_place *p)
{
    const sim_step *run = &w->jobs.run;
    uint32_t i;

    for (i = 0; i < run->pairs; i++)
        if (run->number[i] == t->number)
            break;
    if (!sim_holds(w, SIM_Q1, t->was.letter == 'X' && p->letter == 'W' &&
                                  p->delayed && p->job == t->was.job &&
                                  (run->pairs == 0 || i < run->pairs)))
        sim_verbs_fail(w, SIM_Q1, t, "is replayed, but was not dead, not "
                                     "named, or is not delayed now");
    if (!sim_holds(w, SIM_Q6, p->attempts == 0 && p->stalls == 0 &&
                                  p->replays == t->was.replays + 1 &&
                                  p->replays <= run->stalls_max &&
                                  p->flag != 'c'))
        sim_verbs_fail(w, SIM_Q6, t, "is replayed, but its counts of attempts, "
                                     "stalls or replays are wrong");
    if (!sim_holds(w, SIM_Q10, p->score / 1024 == run->wall_ms))
        sim_verbs_fail(w, SIM_Q10, t, "is replayed, but not due at once");
    if (t->was.job) /* another job may have its id by now */
        w->jobs.loose[t->queue] |= 1u << w->jobs.job[t->was.job - 1].id;
    SIM_MARK(replayed);
}

/* A trim removes a job only if the job has ended, and is too old or one of too
 * many. */
static void fates_trimmed(sim_world *w, const sim_touch *t, const sim_place *p)
{
    const sim_step *run = &w->jobs.run;
    int dead = t->was.letter == 'X';
    int64_t till = dead ? run->wall_ms - run->wait_ms : run->wall_ms;
    int old = (!dead || run->wait_ms > 0) && t->was.score <= till;

    if (!sim_holds(w, SIM_Q1, (dead || t->was.letter == 'D') &&
                                  fates_is_gone(p) &&
                                  (!p->gone || sim_cuts_touched(w, t))))
        sim_verbs_fail(w, SIM_Q1, t, "is trimmed, but has not ended or stays");
    if (!sim_holds(w, SIM_Q1, old || fates_book(w)->over[dead] >=
                                         run->most[dead]))
        sim_verbs_fail(w, SIM_Q1, t, "is trimmed, but should be kept");
    if (dead && run->most[1] >= FATES_DEAD_MAX)
        SIM_MARK(forgotten_dead);
    SIM_MARK(trimmed);
}

/* Only the named job is to be kept until wait_ms from now, and only if it is
 * done. */
static void fates_retained(sim_world *w, const sim_touch *t,
                           const sim_place *p)
{
    const sim_step *run = &w->jobs.run;

    if (!sim_holds(w, SIM_Q1, t->was.letter == 'D' && p->letter == 'D' &&
                                  t->number == run->number[0] &&
                                  p->job == t->was.job &&
                                  p->score == run->wall_ms + run->wait_ms))
        sim_verbs_fail(w, SIM_Q1, t, "is kept for another time, but was not "
                                     "done or not named");
    SIM_MARK(retained);
}

/* -------------------------------------------------------------------- unique
 *
 * If the payload of a job was replaced, its number now means the job with the
 * new payload; all its other terms stay those of the job before. */

static void fates_replaced(sim_world *w, const sim_touch *t,
                           const sim_place *p)
{
    const sim_step *run = &w->jobs.run;
    sim_job *now = p->job ? &w->jobs.job[p->job - 1] : NULL;
    const sim_job *was = &w->jobs.job[t->was.job - 1];

    if (!sim_holds(w, SIM_Q2, (run->verdict == 'r' || run->verdict == 'd') &&
                                  now && now->id == was->id &&
                                  t->was.letter == 'W' && p->letter == 'W' &&
                                  sim_verbs_counts_same(&t->was, p))) {
        sim_verbs_fail(w, SIM_Q2, t, "is replaced, which the put or its state "
                                     "does not allow");
        return;
    }
    if (!sim_holds(w, SIM_Q2, sim_ledger_same_terms(&p->terms, &t->was.terms)))
        sim_verbs_fail(w, SIM_Q2, t, "is replaced, and its terms with it");
    now->number[run->host] = t->number;
    now->gen[run->host] = w->host[run->host].ledger.gen;
    if (!sim_holds(w, SIM_Q10, p->score == t->was.score || !t->was.delayed ||
                                   (run->verdict == 'd' &&
                                    p->score / 1024 ==
                                        run->wall_ms + now->delay_ms)))
        sim_verbs_fail(w, SIM_Q10, t, "is replaced, and has a wrong delay");
    SIM_MARK(replaced);
}

static void fates_unique(sim_world *w, const sim_touch *t, const sim_place *p)
{
    if (t->was.job > 0 && p->job == t->was.job)
        SIM_MARK(put_stands_in);
    else if (t->was.job > 0)
        fates_replaced(w, t, p);
    else
        sim_verbs_entered(w, t, p);
}

/* Finds the job that the id names. Returns 1 if this job stands in for a new
 * job, so that the new job is not put. */
static int fates_stands_in(sim_world *w, int id, uint64_t *number)
{
    const sim_step *run = &w->jobs.run;
    const sim_book *b = fates_book(w);
    const sim_place *p = NULL;
    int window = run->verdict == 't' || run->verdict == 'e';

    *number = b->id[id].number;
    if (*number > 0 && *number < b->n)
        p = &b->at[*number];
    if (window && b->id[id].till > 0)
        return b->id[id].till > run->wall_ms;
    return p && p->job > 0 && p->letter != 'X' &&
           (run->verdict != 'd' || p->letter == 'W');
}

/* Predicts from the queue before the script whether a unique job is to
 * enter. */
void sim_fates_before(sim_world *w, const sim_words *c)
{
    sim_step *run = &w->jobs.run;
    const sim_op *op;
    uint32_t job;

    run->enters = -1;
    if ((run->what == SIM_V_CANCEL || run->what == SIM_V_KEEP ||
         run->what == SIM_V_LOOK) && run->id > 0)
        run->number[0] = fates_book(w)->id[run->id].number;
    if (run->what == SIM_V_PUT && c->n > 10) {
        job = sim_ledger_job(w, c->word[10]);
        op = sim_op_of(w, job ? w->jobs.job[job - 1].tag : 0);
        run->again = op->touched != 1 || op->outcome != RELET_EV_NOTHING;
    }
    if (run->what != SIM_V_UNIQUE || c->n < 14)
        return;
    job = sim_ledger_job(w, c->word[13]);
    if (job == 0 || w->jobs.job[job - 1].id == 0)
        return;
    run->id = (int)w->jobs.job[job - 1].id;
    op = sim_op_of(w, w->jobs.job[job - 1].tag);
    run->again = op->touched > 1 || op->outcome != RELET_EV_NOTHING;
    run->enters = !fates_stands_in(w, run->id, &run->number[0]);
    w->jobs.loose[run->queue] |= 1u << run->id;
}

static void fates_window(sim_world *w, int entered)
{
    const sim_step *run = &w->jobs.run;
    const sim_book *b = fates_book(w);
    int opens = entered || run->verdict == 'e';

    if (run->verdict != 't' && run->verdict != 'e')
        return;
    if (b->id[run->id].till > 0 && opens &&
        !sim_holds(w, SIM_Q2, b->id[run->id].till ==
                                  run->wall_ms + b->id[run->id].width &&
                                  (!entered ||
                                   b->id[run->id].width == run->wait_ms)))
        sim_fail(w, SIM_Q2, "h%d: the window of id%d ends at a wrong time",
                 run->host, run->id);
    if (entered && !sim_holds(w, SIM_Q2, b->id[run->id].till > 0))
        sim_fail(w, SIM_Q2, "h%d: no window of id%d opens", run->host,
                 run->id);
    if (!entered)
        SIM_MARK(throttled);
}

/* After a cancellation, the named job is gone, has ended, or is marked. */
static void fates_cancel(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    const sim_book *b = fates_book(w);
    const sim_place *p;

    if (run->number[0] == 0 || run->number[0] >= b->n)
        return;
    p = &b->at[run->number[0]];
    if (!sim_holds(w, SIM_Q1, p->job == 0 || p->letter == 'D' ||
                                  p->letter == 'X' || p->flag == 'c'))
        sim_fail(w, SIM_Q1, "h%d: job %llu of q%d is cancelled, but neither "
                 "removed nor marked", run->host,
                 (unsigned long long)run->number[0], run->queue);
}

static void fates_progress(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    const sim_place *p = sim_ledger_at(fates_book(w), run->number[0]);

    if (!sim_holds(w, SIM_Q5, w->jobs.noted ==
                                  (p->letter == 'L' &&
                                   p->token == run->token[0])))
        sim_fail(w, SIM_Q5, "h%d: a progress of job %llu of q%d is stored for "
                 "a token without its lease, or not stored for the owner",
                 run->host, (unsigned long long)run->number[0], run->queue);
}

/* A worker's trim names the time for which the worker's configuration keeps
 * dead jobs. A trim by an operator differs: it keeps fewer jobs. */
static void fates_forgets(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    relet_time right = w->shape.dead_ms ? w->shape.dead_ms : FATES_DEAD_MS;

    if (run->most[1] >= FATES_DEAD_MAX &&
        !sim_holds(w, SIM_Q1, run->wait_ms == right))
        sim_fail(w, SIM_Q1, "h%d: dead jobs of q%d are kept for %ld ms, and "
                 "not for %ld", run->host, run->queue, (long)run->wait_ms,
                 (long)right);
}

/* A purge runs at most as often as its node asked for it. A node asks once more
 * if a server lies that it does not know the script; that extra run does not
 * count against the next purge (seed 1704635382844 of WORK=jobs). */
void sim_fates_purge_runs(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    long *left = &w->jobs.purges[run->queue][run->from];

    if (!run->cut && !sim_judges(w, SIM_Q1, w->node[run->from].lied, *left > 0))
        sim_fail(w, SIM_Q1, "h%d: a purge of n%d runs more often than n%d sent "
                 "it", run->host, run->from, run->from);
    if (*left > 0)
        --*left;
}

void sim_fates_after(sim_world *w)
{
    sim_step *run = &w->jobs.run;
    size_t i;
    int entered = 0, changed = w->jobs.touches > 0;

    if (run->refused || w->failed)
        return;
    if (run->what == SIM_V_PURGE)
        sim_fates_purge_runs(w);
    if (run->what == SIM_V_TRIM)
        fates_forgets(w);
    if (run->what == SIM_V_CANCEL)
        fates_cancel(w);
    if (run->what == SIM_V_PROGRESS)
        fates_progress(w);

    if (run->what != SIM_V_UNIQUE || run->enters < 0 || run->again)
        return;
    for (i = 0; i < w->jobs.touches; i++)
        entered += w->jobs.touch[i].was.job == 0;
    if (!sim_holds(w, SIM_Q2, entered == run->enters))
        sim_fail(w, SIM_Q2, "h%d, unique %c: id%d %s", run->host, run->verdict,
                 run->id, entered ? "names a job, but a new job is put"
                                  : "names no job, but no new job is put");
    if (!w->failed && (entered || changed || run->verdict == 'e'))
        fates_window(w, entered);
}

void sim_fates_touched(sim_world *w, const sim_touch *t, const sim_place *p)
{
    switch (w->jobs.run.what) {
    case SIM_V_CANCEL:
        fates_cancelled(w, t, p);
        return;
    case SIM_V_PURGE:
        fates_purged(w, t, p);
        return;
    case SIM_V_REPLAY:
        fates_replayed(w, t, p);
        return;
    case SIM_V_TRIM:
        fates_trimmed(w, t, p);
        return;
    case SIM_V_UNIQUE:
        fates_unique(w, t, p);
        return;
    case SIM_V_KEEP:
        fates_retained(w, t, p);
        return;
    case SIM_V_NONE:
    case SIM_V_PUT:
    case SIM_V_PUT_FULL:
    case SIM_V_PROMOTE:
    case SIM_V_CLAIM:
    case SIM_V_RECALL:
    case SIM_V_RENEW:
    case SIM_V_DONE_PLAIN:
    case SIM_V_DONE:
    case SIM_V_FAIL:
    case SIM_V_RELEASE:
    case SIM_V_REAP:
    case SIM_V_IDLE:
    case SIM_V_RANK:
    case SIM_V_FORGET:
    case SIM_V_PROGRESS:
    case SIM_V_STATUS:
    case SIM_V_LOOK:
    case SIM_V_LIST:
    case SIM_V_REPAIR:
        return;
    }
}
