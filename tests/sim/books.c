/* SPDX-License-Identifier: MIT
 *
 * books.c - judges a whole queue after each script: the script has changed all
 * that it had to change. verbs.c and fates.c judge each job that the script did
 * change.
 *
 *   ids      each id names a job with this id, and is freed with that job alone
 *   fields   a job that is gone leaves no field behind; a result, an error or a
 *            progress is the text of the handler, and nothing else changes it
 *   counts   a script changes as many jobs as it was asked to
 *   order    jobs leave a list at its front, and come back to it in order
 *   wakes    an idle worker is woken for each job that begins to wait */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define BOOKS_JOB_BYTES 600 /* the most that one job takes in an answer      */
#define BOOKS_CALLED 8 /* idle workers that a script wakes at most            */

static sim_book *books_of(sim_world *w)
{
    return &w->host[w->jobs.run.host].ledger.book[w->jobs.run.queue];
}

static void books_fail(sim_world *w, sim_rule rule, const char *what,
                       long is, long right)
{
    sim_fail(w, rule, "h%d, %s of q%d: %s %ld, not %ld", w->jobs.run.host,
             sim_verbs_text(w->jobs.run.what), w->jobs.run.queue, what, is,
             right);
}

/* --------------------------------------------------------- before a script */

static long books_sleepers(sim_world *w)
{
    char name[16], text[24];

    sprintf(name, "{%s}:idle", sim_jobs_queue(w->jobs.run.queue));
    sim_host_ask(&w->host[w->jobs.run.host], text, sizeof text, 2, "ZCARD",
                 name);
    return strtol(text, NULL, 10);
}

static long books_listeners(sim_world *w)
{
    char text[48], *at;

    sim_host_ask(&w->host[w->jobs.run.host], text, sizeof text, 3, "PUBSUB",
                 "NUMSUB", SIM_REPLY_TO);
    at = strrchr(text, ':');
    return at ? strtol(at + 1, NULL, 10) : 0;
}

/* Counts the jobs that the script has to change because they are due. */
static void books_count_late(sim_world *w, sim_before *m)
{
    const sim_step *run = &w->jobs.run;
    const sim_book *b = books_of(w);
    int64_t dead_till = run->wall_ms - run->wait_ms;
    size_t i;

    for (i = 0; i < b->n; i++) {
        const sim_place *p = &b->at[i];

        if (run->what == SIM_V_PROMOTE)
            m->late += p->delayed && p->scores[0] / 1024 <= run->wall_ms;
        if (run->what == SIM_V_REAP)
            m->late += p->leased && p->scores[1] < run->wall_ms;
        if (run->what != SIM_V_TRIM)
            continue;
        m->old[0] += p->done && p->scores[2] <= run->wall_ms;
        m->old[1] += p->dead && run->wait_ms > 0 && p->scores[3] <= dead_till;
    }
}

static int books_wakes(sim_verb what)
{
    return what == SIM_V_PUT || what == SIM_V_PROMOTE ||
           what == SIM_V_RELEASE ||
           what == SIM_V_REAP;
}

static int books_ends(sim_verb what)
{
    return what == SIM_V_DONE || what == SIM_V_FAIL || what == SIM_V_REAP ||
           what == SIM_V_CANCEL;
}

void sim_books_before(sim_world *w)
{
    const sim_book *b = books_of(w);
    sim_before *m = &w->jobs.before;
    sim_verb what = w->jobs.run.what;
    int i;

    for (i = 0; i < SIM_IDS; i++) {
        m->id[i].number = b->id[i].number;
        m->id[i].till = b->id[i].till;
    }
    m->line_n = b->line_n;
    if (what == SIM_V_CLAIM && b->line_n > 0 && b->line_n <= SIM_LINE)
        memcpy(m->line, b->line, b->line_n * sizeof *b->line);
    m->ranked_n = b->ranked_n;
    m->gone = b->gone_n;
    m->cut_n = b->cut_n;
    m->delayed_n = b->delayed_n;
    m->held = b->held;
    m->over[0] = b->over[0];
    m->over[1] = b->over[1];
    m->listen = books_ends(what) ? books_listeners(w) : 0;
    m->idle_n = books_wakes(what) ? books_sleepers(w) : 0;
    m->late = m->old[0] = m->old[1] = 0;
    if ((what == SIM_V_PROMOTE && b->delayed_n > 0) ||
        (what == SIM_V_REAP && b->held > 0) ||
        (what == SIM_V_TRIM && b->over[0] + b->over[1] > 0))
        books_count_late(w, m);
}

/* ------------------------------------------------------------------ fields */

static uint64_t books_digest(char letter, const char *text, uint64_t token)
{
    char room[64];

    sprintf(room, "%c%s", letter, text);
    if (token > 0)
        sprintf(room + strlen(room), "%llu", (unsigned long long)token);
    return sim_ledger_digest(relet_str(room));
}

/* The digest of the text that the job must have after the script that has just
 * run. */
static uint64_t books_text(const sim_world *w, const sim_touch *t,
                           const sim_place *p)
{
    const sim_step *run = &w->jobs.run;
    uint64_t stale;

    if (sim_cuts_touched(w, t) && sim_cuts_stays(t, p) &&
        (run->cut || run->what != SIM_V_PROGRESS))
        return t->was.text;
    if (run->what == SIM_V_PROGRESS)
        return books_digest('p', SIM_TEXT_PROGRESS, t->was.token);
    if (run->what == SIM_V_DONE)
        return books_digest('d', SIM_TEXT_RESULT, t->was.token);
    if (run->what == SIM_V_FAIL) {
        /* A handler may also bury its job after the deadline. */
        stale = books_digest('x', "its deadline has passed", 0);
        return run->stale && p->text == stale
                   ? stale
                   : books_digest('x', SIM_TEXT_ERROR, t->was.token);
    }
    if (run->what == SIM_V_REAP && p->letter == 'X')
        return books_digest('x', t->was.flag == 'c' ? "cancelled"
                                                    : "stalled too often", 0);
    return t->was.text;
}

/* ------------------------------------------------------------------- ends
 *
 * The producer of a job may listen for its end: "17 d result", "17 x error" or
 * "17 c ". */

/* Writes the message about the end of a job. Returns the letter in it; 0: this
 * script has not ended the job. */
static char books_end(const sim_world *w, const sim_touch *t,
                      const sim_place *p, char text[80])
{
    unsigned long long number = t->number, token = t->was.token;
    sim_verb what = w->jobs.run.what;

    if (what == SIM_V_DONE) {
        sprintf(text, "%llu d " SIM_TEXT_RESULT "%llu", number, token);
        return 'd';
    }
    if (what == SIM_V_FAIL) {
        sprintf(text, "%llu x " SIM_TEXT_ERROR "%llu", number, token);
        if (p->text == books_digest('x', "its deadline has passed", 0))
            sprintf(text, "%llu x its deadline has passed", number);
        return p->letter == 'X' ? 'x' : 0;
    }
    if (what == SIM_V_REAP) {
        sprintf(text, "%llu x %s", number,
                t->was.flag == 'c' ? "cancelled" : "stalled too often");
        return p->letter == 'X' ? 'x' : 0;
    }
    if (what == SIM_V_CANCEL) {
        sprintf(text, "%llu c ", number);
        return !p->record ? 'c' : 0;
    }
    return 0;
}

static void books_told(sim_world *w, const sim_touch *t, const sim_place *p)
{
    sim_step *run = &w->jobs.run;
    uint32_t i, heard = 0;
    char text[80];
    long listen;

    if (t->was.terms.reply != 1 || !t->was.record || !t->moved ||
        (t->was.cut && sim_cuts_stays(t, p)) ||
        !books_end(w, t, p, text))
        return;
    listen = w->jobs.before.listen;
    for (i = 0; i < run->tolds && i < SIM_TOLD; i++)
        heard += run->told[i] == sim_ledger_digest(relet_str(text));
    run->told_right += (uint32_t)listen;
    if (listen > 0)
        SIM_MARK(end_told);
    if (run->tolds <= SIM_TOLD &&
        !sim_holds(w, SIM_Q1, (long)heard == listen))
        books_fail(w, SIM_Q1, "clients that get the message of an end",
                   (long)heard, listen);
}

void sim_books_touched(sim_world *w, const sim_touch *t, const sim_place *p)
{
    if (!p->record &&
        !sim_holds(w, SIM_Q1, !p->state && p->text == 0))
        sim_verbs_fail(w, SIM_Q1, t, "is gone, but some of its fields stay");
    if (p->record && w->jobs.run.what != SIM_V_NONE && t->was.record &&
        !sim_verbs_blind(w, t) &&
        !sim_holds(w, SIM_Q1, p->text == books_text(w, t, p)))
        sim_verbs_fail(w, SIM_Q1, t, "has another progress, error or result "
                                     "than its handler gave");
    if (sim_verbs_blind(w, t) || w->jobs.run.cut)
        w->jobs.run.told_any = 1;
    else if (!w->failed)
        books_told(w, t, p);
}

/* --------------------------------------------------------------------- ids */

static const sim_touch *books_touch(const sim_world *w, uint64_t number)
{
    size_t i;

    for (i = 0; i < w->jobs.touches; i++)
        if (w->jobs.touch[i].number == number)
            return &w->jobs.touch[i];
    return NULL;
}

static int books_has_id(const sim_world *w, const sim_place *p, int id)
{
    return p->job == 0 || (int)w->jobs.job[p->job - 1].id == id;
}

/* An id may pass to another job only if that job enters by this script. */
static int books_bound_rightly(sim_world *w, int id, uint64_t number)
{
    const sim_touch *t = books_touch(w, number);
    sim_verb what = w->jobs.run.what;

    return (what == SIM_V_PUT_FULL || what == SIM_V_UNIQUE) && t &&
           !t->was.record && books_has_id(w, sim_ledger_at(books_of(w), number),
                                          id);
}

/* An id may become free only if this script removed its job, or closed a window
 * that had outlived the job. */
static int books_freed_rightly(sim_world *w, uint64_t number, int64_t till)
{
    const sim_touch *t = books_touch(w, number);
    const sim_place *p = sim_ledger_at(books_of(w), number);

    if (w->jobs.run.what == SIM_V_FORGET)
        return till > 0 && till < w->jobs.run.wall_ms && !p->record;
    return t && t->was.record && !p->record;
}

/* Returns 1 if the script removed this job and had to free its id. An id with a
 * window stays, unless the job is cancelled or purged. */
static int books_frees(sim_world *w, uint64_t number, int64_t till)
{
    const sim_touch *t = books_touch(w, number);
    sim_verb what = w->jobs.run.what;

    return t && t->was.record && !sim_ledger_at(books_of(w), number)->record &&
           (till == 0 || what == SIM_V_CANCEL || what == SIM_V_PURGE);
}

/* Returns 1 if the running script ended this job under a token that may exist
 * twice: the token may be that of another job. */
static int books_twice(const sim_world *w, uint64_t number)
{
    const sim_touch *t = books_touch(w, number);

    return t && sim_tasks_twice(w, w->jobs.run.queue, t->was.token);
}

static void books_id(sim_world *w, int id)
{
    const sim_before *m = &w->jobs.before;
    const sim_book *b = books_of(w);
    uint64_t was = m->id[id].number, is = b->id[id].number;
    int right = 1;

    if (is == 0 && was == 0)
        return;
    if (is != was && is > 0)
        right = books_bound_rightly(w, id, is);
    else if (is != was)
        right = books_freed_rightly(w, was, m->id[id].till);
    else if (books_frees(w, was, m->id[id].till))
        /* A worker that was lied to ends a job as if it had no id. */
        right = w->jobs.run.what == SIM_V_DONE_PLAIN &&
                sim_verbs_blind(w, books_touch(w, was));
    if (!sim_judges(w, SIM_Q2, books_twice(w, was) || books_twice(w, is),
                    right))
        sim_fail(w, SIM_Q2, "h%d, %s: id%d of q%d named job %llu, and now %llu",
                 w->jobs.run.host, sim_verbs_text(w->jobs.run.what), id,
                 w->jobs.run.queue, (unsigned long long)was,
                 (unsigned long long)is);
}

static void books_ids(sim_world *w)
{
    int id;

    for (id = 1; id < SIM_IDS && !w->failed; id++)
        books_id(w, id);
}

/* ------------------------------------------------------------------ counts */

static long books_moved(const sim_world *w, char from)
{
    long n = 0;
    size_t i;

    for (i = 0; i < w->jobs.touches; i++)
        n += w->jobs.touch[i].moved &&
             (from == 0 || w->jobs.touch[i].was.letter == from);
    return n;
}

static long books_least(long a, long b)
{
    return a < b ? a : b;
}

/* A purge removes all jobs of the places that it named, up to its limit. */
static void books_purged(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    const sim_before *m = &w->jobs.before;
    int all = run->verdict == 'a';
    long there = 0, gone = books_moved(w, 0);

    if (all || run->verdict == 'w')
        there += (long)m->line_n + m->ranked_n;
    if (all || run->verdict == 'y')
        there += m->delayed_n;
    if (all || run->verdict == 'x')
        there += m->over[1];
    if (all || run->verdict == 'd')
        there += m->over[0];
    if (all || run->verdict == 'l')
        there += m->held;
    there = books_least(there, (long)run->wanted);
    if (!sim_judges(w, SIM_Q1, m->cut_n > 0, gone == there))
        books_fail(w, SIM_Q1, "jobs that are purged", gone, there);
}

/* A trim removes the jobs that are too old, or more than may be kept. */
static void books_trimmed(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    const sim_before *m = &w->jobs.before;
    long room = (long)run->wanted, right = 0, gone = books_moved(w, 0);
    int i;

    for (i = 0; i < 2; i++) {
        int64_t over = m->over[i] - run->most[i];
        long n = books_least(over > m->old[i] ? (long)over : m->old[i], room);

        right += n;
        room -= n;
    }
    if (!sim_judges(w, SIM_Q1, m->cut_n > 0, gone == right))
        books_fail(w, SIM_Q1, "jobs that are trimmed", gone, right);
}

static void books_timed(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    const sim_book *b = books_of(w);
    long right = books_least(w->jobs.before.late, (long)run->wanted);
    long is = books_moved(w, 0);

    if (run->what == SIM_V_REAP && run->wall_ms < b->open_ms)
        right = 0;
    if (run->what == SIM_V_PROMOTE && w->jobs.before.late > is)
        SIM_MARK(promoted_in_part);
    if (!sim_holds(w, SIM_Q10, is == right))
        books_fail(w, SIM_Q10, "due jobs that are moved", is, right);
}

static long books_entered(const sim_world *w)
{
    long n = 0;
    size_t i;

    for (i = 0; i < w->jobs.touches; i++)
        n += w->jobs.touch[i].moved && !w->jobs.touch[i].was.record;
    return n;
}

/* All jobs of a put enter, or none of them if the put ran before. */
static void books_put(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    long n = books_moved(w, 0);

    if (run->again || run->wanted == 0 || run->what != SIM_V_PUT)
        return;
    if (!sim_holds(w, SIM_Q2, n == (long)run->wanted))
        books_fail(w, SIM_Q2, "jobs that are put", n, (long)run->wanted);
}

/* No job enters above the bound that its producer named, and no job is refused
 * below that bound. Places of jobs that were cancelled may count. */
static void books_full(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    const sim_before *m = &w->jobs.before;
    long all = (long)m->line_n + m->ranked_n, wanted = (long)run->wanted;
    long entered = run->refused ? 0 : books_entered(w);

    if (run->waiting_max == 0)
        return;
    all += run->what == SIM_V_PUT ? 0 : m->delayed_n;
    if (!sim_judges(w, SIM_Q10, books_of(w)->miscounted,
                    entered == 0 ||
                        all - m->gone + entered <= run->waiting_max))
        books_fail(w, SIM_Q10, "jobs that wait after a bounded put",
                   all + entered, run->waiting_max);
    if (run->full)
        SIM_MARK(put_over_the_bound);
    if (!sim_holds(w, SIM_Q10, !run->full || all + wanted > run->waiting_max))
        books_fail(w, SIM_Q10, "jobs that would wait after a refused put",
                   all + wanted, run->waiting_max + 1);
}

/* ------------------------------------------------------------------- order */

static const sim_place *books_claimed(sim_world *w, uint64_t number)
{
    const sim_touch *t = books_touch(w, number);
    const sim_place *p = sim_ledger_at(books_of(w), number);

    return t && t->moved && p->letter == 'L' && p->token != t->was.token
               ? p
               : NULL;
}

/* Returns 1 if the number also stands further ahead in the line, which it may
 * once a script was cut. */
static int books_again(const sim_before *m, size_t i)
{
    size_t k;

    for (k = 0; m->cut_n > 0 && k < i; k++)
        if (m->line[k] == m->line[i])
            return 1;
    return 0;
}

/* A claim takes jobs from the front of the list and leaves out none; the tokens
 * of the jobs grow in the order of the list. */
static void books_from_front(sim_world *w)
{
    const sim_before *m = &w->jobs.before;
    const sim_book *b = books_of(w);
    uint64_t token = 0;
    size_t i, left = m->line_n - b->line_n;
    int right = b->line_n <= m->line_n && m->line_n <= SIM_LINE;

    for (i = 0; right && i < b->line_n; i++)
        right = b->line[i] == m->line[left + i];
    for (i = 0; right && i < left; i++) {
        const sim_place *p = books_again(m, i) ? NULL
                                               : books_claimed(w, m->line[i]);

        right = p == NULL || p->token > token;
        token = p ? p->token : token;
    }
    if (!sim_holds(w, SIM_Q10, right))
        sim_fail(w, SIM_Q10, "h%d: a claim takes jobs of q%d out of order",
                 w->jobs.run.host, w->jobs.run.queue);
}

/* Tokens grow in the order of ranks. If no type is asked for, no ranked job
 * that stays stands before one that was claimed. */
static void books_by_rank(sim_world *w)
{
    const sim_book *b = books_of(w);
    int typed = w->jobs.run.typed;
    int64_t last = 0;
    size_t i, k;
    int any = 0, right = 1;

    for (i = 0; right && i < w->jobs.touches; i++) {
        const sim_touch *t = &w->jobs.touch[i], *u;
        const sim_place *p = books_claimed(w, t->number);

        if (p == NULL || !t->was.ranked || t->was.waiting)
            continue;
        for (k = 0; right && k < i; k++) {
            u = &w->jobs.touch[k];
            if (u->was.ranked && !u->was.waiting &&
                books_claimed(w, u->number))
                right = (u->was.rank_score < t->was.rank_score) ==
                        (b->at[u->number].token < p->token);
        }
        if (!any || t->was.rank_score > last)
            last = t->was.rank_score;
        any = 1;
    }
    if (any && !typed && b->line_n > 0)
        right = 0;
    for (i = 0; right && any && !typed && b->ranked_n > 0 && i < b->n; i++)
        right = !b->at[i].ranked || b->at[i].rank_score > last;
    if (!sim_holds(w, SIM_Q10, right))
        sim_fail(w, SIM_Q10, "h%d: a claim takes ranked jobs of q%d out of "
                 "order", w->jobs.run.host, w->jobs.run.queue);
}

/* A claim brings as many jobs as it asked for, if that many wait and the limit
 * of the queue allows them. */
static void books_enough(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    const sim_before *m = &w->jobs.before;
    const sim_book *b = books_of(w);
    long there = (long)m->line_n + m->ranked_n, n = (long)run->pairs;
    long gone = books_moved(w, 0) - n, want = (long)run->wanted;

    if (b->stopped || run->typed || run->again || n == 0)
        return;
    if (b->limit > 0)
        want = books_least(want, b->limit - m->held);
    want = books_least(want, there - gone);
    /* A claim for n jobs looks at n places in line, and some places may have no
     * job any more. */
    if (gone == 0 && run->bytes >= BOOKS_JOB_BYTES * want &&
        !sim_judges(w, SIM_Q10, m->cut_n > 0, n >= want))
        books_fail(w, SIM_Q10, "jobs that a claim brings", n, want);
}

/* Released jobs return to the front of the list in the order of their tokens;
 * reaped jobs, in the order in which their leases ended. */
static void books_back(sim_world *w)
{
    const sim_book *b = books_of(w);
    int reaped = w->jobs.run.what == SIM_V_REAP;
    size_t i;

    for (i = 1; i < b->pushed_first && !w->failed; i++) {
        const sim_touch *t = books_touch(w, b->line[i - 1]);
        const sim_touch *u = books_touch(w, b->line[i]);

        if (t == NULL || u == NULL)
            continue;
        if (!sim_holds(w, SIM_Q10, reaped ? t->was.score <= u->was.score
                                          : t->was.token < u->was.token))
            sim_verbs_fail(w, SIM_Q10, u, "comes back in front of a job that "
                                          "was claimed before it");
    }
}

/* ------------------------------------------------------------------- wakes */

/* One of the first eight idle workers is woken for each job; some of them may
 * be gone. */
static void books_called(sim_world *w)
{
    const sim_before *m = &w->jobs.before;
    const sim_book *b = books_of(w);
    long jobs, least, called = m->idle_n - books_sleepers(w);

    jobs = w->jobs.run.what == SIM_V_PROMOTE ? books_moved(w, 0)
                                           : (long)(b->pushed_first +
                                                    b->pushed_last);
    if (w->jobs.run.what == SIM_V_PUT)
        jobs = books_moved(w, 0);
    least = books_least(books_least(jobs, m->idle_n), BOOKS_CALLED);
    if (least > 0 && !sim_holds(w, SIM_Q11, called >= least))
        books_fail(w, SIM_Q11, "idle workers that are woken", called, least);
}

/* ---------------------------------------------------------- after a script */

void sim_books_after(sim_world *w)
{
    sim_verb what = w->jobs.run.what;

    if (!w->failed && (what == SIM_V_PUT || what == SIM_V_PUT_FULL ||
                       what == SIM_V_UNIQUE))
        books_full(w);
    if (!w->failed && !w->jobs.run.told_any &&
        !sim_holds(w, SIM_Q1, w->jobs.run.tolds == w->jobs.run.told_right))
        books_fail(w, SIM_Q1, "published ends of jobs",
                   (long)w->jobs.run.tolds, (long)w->jobs.run.told_right);
    if (w->failed || w->jobs.run.refused)
        return;
    books_ids(w);
    if (what == SIM_V_PURGE)
        books_purged(w);
    if (what == SIM_V_TRIM)
        books_trimmed(w);
    if (what == SIM_V_REAP || what == SIM_V_PROMOTE)
        books_timed(w);
    if (what == SIM_V_PUT)
        books_put(w);
    if (what == SIM_V_CLAIM && w->jobs.touches > 0) {
        books_from_front(w);
        books_by_rank(w);
        books_enough(w);
    }
    if (what == SIM_V_RELEASE || what == SIM_V_REAP)
        books_back(w);
    if (books_wakes(what) && w->jobs.before.idle_n > 0)
        books_called(w);
}
