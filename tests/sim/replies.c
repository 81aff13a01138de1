/* SPDX-License-Identifier: MIT
 *
 * replies.c - judges the answers of servers about queues by their stores: a
 * letter for each job, for workers; numbers, places and lists, for operators.
 * This file also checks that the reading functions of a node give back the
 * contents of an answer. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "wire.h"

#define REPLIES_LISTED 7 /* elements of a list for each job                   */

static sim_book *replies_book(sim_world *w)
{
    return &w->host[w->jobs.run.host].ledger.book[w->jobs.run.queue];
}

/* Keeps the answer, since the bytes of the frame move. */
void sim_replies_answer(sim_world *w, const sim_frame *f)
{
    sim_step *run = &w->jobs.run;
    size_t i;

    run->said_type = f->type;
    run->said_digest = f->digest;
    run->said_count = f->type == '*' ? (long)sim_ledger_number(f->text) : 0;
    run->said_n = (uint32_t)f->words;
    for (i = 0; i < f->words; i++) {
        run->said[i].number = sim_ledger_number(f->word[i]);
        run->said[i].digest = sim_ledger_digest(f->word[i]);
        run->said[i].first = f->word[i].n > 0 ? *f->word[i].p : 0;
        run->said[i].empty = f->word[i].n == 0;
    }
    if (f->type != '$' && f->type != '*')
        return;
    if (f->type == '*' && f->words > 0)
        i = f->word[0].n < sizeof run->letters ? f->word[0].n : 0;
    else
        i = f->text.n < sizeof run->letters ? f->text.n : 0;
    memcpy(run->letters, f->type == '*' && f->words > 0 ? f->word[0].p
                                                        : f->text.p, i);
    run->letters[i] = '\0';
}

static void replies_number(sim_world *w, uint32_t i, int64_t right,
                           const char *what)
{
    const sim_step *run = &w->jobs.run;

    if (!w->failed &&
        !sim_holds(w, SIM_Q1, i < run->said_n && run->said[i].number == right))
        sim_fail(w, SIM_Q1, "h%d, %s of q%d: the answer says %ld %s, and right "
                 "is %ld", run->host, sim_verbs_text(run->what), run->queue,
                 (long)(i < run->said_n ? run->said[i].number : -1), what,
                 (long)right);
}

/* ---------------------------------------------------------------- operators */

static int64_t replies_soonest(const sim_book *b, int leased)
{
    int64_t ms = -1;
    size_t i;

    for (i = 0; i < b->n; i++) {
        const sim_place *p = &b->at[i];
        int64_t at = leased ? p->scores[1] : p->scores[0] / 1024;

        if ((leased ? p->leased : p->delayed) && (ms < 0 || at < ms))
            ms = at;
    }
    return ms;
}

static int64_t replies_until(int64_t at_ms, int64_t now_ms)
{
    return at_ms < 0 ? -1 : at_ms > now_ms ? at_ms - now_ms : 0;
}

static void replies_status(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    const sim_book *b = replies_book(w);
    int64_t lapse = replies_soonest(b, 1);

    if (run->said_n > 1 && run->said[1].number != (int64_t)b->line_n &&
        !b->miscounted)
        replies_number(w, 1, (int64_t)b->line_n - b->gone_n, "that wait");
    replies_number(w, 2, b->ranked_n, "by rank");
    replies_number(w, 3, b->delayed_n, "delayed");
    replies_number(w, 4, b->held, "leased");
    replies_number(w, 5, b->over[0], "done");
    replies_number(w, 6, b->over[1], "dead");
    replies_number(w, 10, b->limit > 0 ? b->limit : -1, "as limit");
    replies_number(w, 11, b->closed, "closed");
    replies_number(w, 12, b->stopped, "stopped");
    replies_number(w, 14, replies_until(replies_soonest(b, 0), run->wall_ms),
                   "ms until one is due");
    replies_number(w, 15,
                   lapse < 0 ? -1 : replies_until(lapse + 1, run->wall_ms),
                   "ms until a lease ends");
    replies_number(w, 16, run->wall_us, "as time");
    SIM_MARK(status_asked);
}

static char replies_place(const sim_place *p)
{
    if (!p->record)
        return 'g';
    switch (p->letter) {
    case 'L':
        return 'l';
    case 'D':
        return 'd';
    case 'X':
        return 'x';
    }
    return p->delayed ? 'y' : 'w';
}

static void replies_letter(sim_world *w, char right)
{
    const sim_step *run = &w->jobs.run;
    char is = run->said_n > 0 ? run->said[0].first : 0;

    if (!w->failed && !sim_holds(w, SIM_Q1, is == right))
        sim_fail(w, SIM_Q1, "h%d, %s of q%d: the answer about job %llu is %c, "
                 "not %c", run->host, sim_verbs_text(run->what), run->queue,
                 (unsigned long long)run->number[0], is ? is : '?', right);
}

static const sim_place *replies_job(sim_world *w)
{
    return sim_ledger_at(replies_book(w), w->jobs.run.number[0]);
}

static void replies_look(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    const sim_place *p = replies_job(w);
    char place = run->number[0] ? replies_place(p) : 'g';
    uint64_t none = sim_ledger_digest(relet_str(""));

    replies_letter(w, place);
    SIM_MARK(job_looked_for);
    if (place == 'g')
        return;
    replies_number(w, 1, (int64_t)run->number[0], "as number");
    replies_number(w, 2, place == 'w'   ? -1
                         : place == 'y' ? p->score / 1024
                                        : p->score, "as time");
    if (!w->failed && !sim_holds(w, SIM_Q1, run->said_n > 5 &&
                                     run->said[5].digest ==
                                         (p->text ? p->text : none)))
        sim_fail(w, SIM_Q1, "h%d: a look at job %llu of q%d is answered with "
                 "another text than the job has", run->host,
                 (unsigned long long)run->number[0], run->queue);
}

static void replies_cancelled(sim_world *w)
{
    const sim_touch *t = w->jobs.touches ? &w->jobs.touch[0] : NULL;
    const sim_place *p = replies_job(w);

    if (t)
        replies_letter(w, t->was.letter == 'L' ? 'r' : 'c');
    else
        replies_letter(w, !w->jobs.run.number[0] || !p->record ? 'g'
                          : p->letter == 'L'                   ? 'r'
                                                               : 'e');
}

static void replies_retained(sim_world *w)
{
    const sim_place *p = replies_job(w);
    char place = w->jobs.run.number[0] ? replies_place(p) : 'g';

    replies_letter(w, place == 'y' ? 'w' : place);
    if (place == 'd')
        replies_number(w, 2, p->score, "as time");
}

/* Unless a script was cut, each job is in its place under any faults, so a
 * repair has nothing to do. */
static void replies_repaired(sim_world *w)
{
    const sim_step *run = &w->jobs.run;

    SIM_MARK(repaired_in_vain);
    if (!sim_holds(w, SIM_Q1, run->said_type == '$' &&
                                  run->letters[0] == '\0' &&
                                  w->jobs.touches == 0))
        sim_fail(w, SIM_Q1, "h%d: job %llu of q%d is in its place, but a "
                 "repair answers %s", run->host,
                 (unsigned long long)run->number[0], run->queue, run->letters);
}

/* The job stands in its place once; if a script was cut, once or more often. */
static int replies_in_place(const sim_book *b, char letter, uint64_t number)
{
    const sim_place *p = number < b->n ? &b->at[number] : NULL;
    uint32_t times;

    if (p == NULL || !p->record)
        return 0;
    times = letter == 'w'   ? p->waiting
            : letter == 'k' ? p->ranked
            : letter == 'y' ? p->delayed
            : letter == 'l' ? p->leased
            : letter == 'd' ? p->done
                            : p->dead;
    return p->cut ? times > 0 : times == 1;
}

/* Each listed job is in its place, and all that were asked for are listed. */
static void replies_listed(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    const sim_book *b = replies_book(w);
    long there = 0, told = (run->said_count - 2) / REPLIES_LISTED;
    size_t i;

    for (i = 0; i < b->n; i++)
        there += replies_in_place(b, run->verdict, i);
    for (i = 2; i + REPLIES_LISTED <= run->said_n; i += REPLIES_LISTED)
        if (!w->failed &&
            !sim_holds(w, SIM_Q1, run->said[i].number >= 0 &&
                                      replies_in_place(
                                          b, run->verdict,
                                          (uint64_t)run->said[i].number)))
            sim_fail(w, SIM_Q1, "h%d: job %ld is listed in place %c of q%d, "
                     "and is not there", run->host, (long)run->said[i].number,
                     run->verdict, run->queue);
    SIM_MARK(jobs_listed);
    if (there > (long)run->wanted)
        there = (long)run->wanted;
    if (!w->failed && b->gone_n == 0 &&
        !sim_judges(w, SIM_Q1, b->cut_n > 0, told == there))
        sim_fail(w, SIM_Q1, "h%d: %ld jobs of place %c of q%d are listed, and "
                 "there are %ld", run->host, told, run->verdict, run->queue,
                 there);
}

static long replies_moved(const sim_world *w)
{
    long n = 0;
    size_t i;

    for (i = 0; i < w->jobs.touches; i++)
        n += w->jobs.touch[i].moved;
    return n;
}

/* ------------------------------------------------------------------ workers */

/* Returns 1 if this step of its worker, or a later one, ran before at any
 * server: the answer is then the earlier answer, or empty. */
static int replies_ran(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    unsigned at = run->serial % SIM_RAN, fail = run->what == SIM_V_FAIL;
    uint64_t *op = &w->jobs.ran[at].op[fail];

    if (run->op == 0 || w->jobs.ran[at].serial > run->serial)
        return run->op > 0;
    if (w->jobs.ran[at].serial < run->serial) {
        memset(&w->jobs.ran[at], 0, sizeof w->jobs.ran[at]);
        w->jobs.ran[at].serial = run->serial;
    }
    if (run->op <= *op)
        return 1;
    *op = run->op;
    return 0;
}

/* Checks the letter for each named job, by the state of the job before the
 * script: d, the named token is that of its lease; l, it has another lease; g,
 * there is no such job. */
static void replies_letters(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    sim_book *b = replies_book(w);
    uint32_t i;
    size_t k;

    if (replies_ran(w) && w->jobs.touches == 0)
        return;
    for (i = 0; i < run->pairs && !w->failed; i++) {
        const sim_place *p = sim_ledger_at(b, run->number[i]);
        char is = run->letters[i], right = p->state ? 'l' : 'g';

        for (k = 0; k < w->jobs.touches; k++)
            if (w->jobs.touch[k].number == run->number[i])
                right = w->jobs.touch[k].was.token == run->token[i] ? 'd'
                        : w->jobs.touch[k].was.state                ? 'l'
                                                                    : 'g';
        /* Progress changes no record; nor does a second release of a cancelled
         * job, whose lease the first release has ended. */
        if ((run->what == SIM_V_PROGRESS ||
             (run->what == SIM_V_RELEASE && p->flag == 'c')) &&
            p->letter == 'L' && p->token == run->token[i])
            right = 'd';
        if (!sim_holds(w, SIM_Q5, is == right))
            sim_fail(w, SIM_Q5, "h%d, %s: the answer for job %llu of q%d is "
                     "%c, not %c", run->host, sim_verbs_text(run->what),
                     (unsigned long long)run->number[i], run->queue,
                     is ? is : '?', right);
    }
}

static void replies_renewed(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    sim_book *b = replies_book(w);
    uint32_t i;

    for (i = 0; i < run->pairs && !w->failed; i++) {
        const sim_place *p = sim_ledger_at(b, run->number[i]);
        int64_t age_us = run->wall_us - (int64_t)run->token[i];
        char right = p->state ? 'l' : 'g';

        if (p->letter == 'L' && p->token == run->token[i])
            right = age_us > run->run_ms * 1000 ? 'o'
                    : p->flag == 'c'            ? 'c'
                                                : 'r';
        if (!sim_holds(w, SIM_Q5, run->letters[i] == right))
            sim_fail(w, SIM_Q5, "h%d: the answer to the renewal of job %llu of "
                     "q%d is %c, not %c", run->host,
                     (unsigned long long)run->number[i], run->queue,
                     run->letters[i] ? run->letters[i] : '?', right);
        if (run->letters[i] == '\0')
            return;
    }
}

static void replies_judge(sim_world *w)
{
    const sim_step *run = &w->jobs.run;

    switch (run->what) {
    case SIM_V_STATUS:
        replies_status(w);
        return;
    case SIM_V_LOOK:
        replies_look(w);
        return;
    case SIM_V_LIST:
        replies_listed(w);
        return;
    case SIM_V_CANCEL:
        replies_cancelled(w);
        return;
    case SIM_V_KEEP:
        replies_retained(w);
        return;
    case SIM_V_PURGE:
    case SIM_V_TRIM:
    case SIM_V_REPLAY:
    case SIM_V_PROMOTE:
        /* Leftovers of a cut beside a job are moved, too. */
        if (w->jobs.before.cut_n > 0)
            (void)sim_judges(w, SIM_Q1, 1, 1);
        else
            replies_number(w, 0, replies_moved(w), "jobs that were moved");
        return;
    case SIM_V_REAP:
        if (w->jobs.touches > 0)
            replies_number(w, 0,
                           (int64_t)replies_book(w)->pushed_first,
                           "jobs that were relet");
        replies_number(w, 3, run->wall_ms, "as time");
        return;
    case SIM_V_RENEW:
        replies_renewed(w);
        return;
    case SIM_V_DONE_PLAIN:
    case SIM_V_DONE:
    case SIM_V_FAIL:
    case SIM_V_RELEASE:
    case SIM_V_PROGRESS:
        replies_letters(w);
        return;
    case SIM_V_REPAIR:
        replies_repaired(w);
        return;
    case SIM_V_NONE:
    case SIM_V_PUT:
    case SIM_V_PUT_FULL:
    case SIM_V_CLAIM:
    case SIM_V_RECALL:
    case SIM_V_IDLE:
    case SIM_V_FORGET:
    case SIM_V_UNIQUE:
    case SIM_V_RANK:
        return;
    }
}

/* Returns 1 if an operator's script only reads. A node has one such request at
 * a time; its answer is that of the last run. */
static int replies_shows(sim_verb what)
{
    return what == SIM_V_STATUS || what == SIM_V_LOOK || what == SIM_V_LIST;
}

void sim_replies_after(sim_world *w)
{
    const sim_step *run = &w->jobs.run;
    sim_node *n = &w->node[run->from];
    const sim_link *l = sim_net_of_node(w, n);

    if (w->failed || run->refused || run->said_type == 0)
        return;
    replies_judge(w);
    if (replies_shows(run->what) && l && l->number == run->link)
        n->shown = run->said_digest;
}

/* ----------------------------------------------------------------- at nodes */

static relet_place replies_read_place(char letter)
{
    static const char letters[] = "gwkyldx";
    const char *at = letter ? strchr(letters, letter) : NULL;

    return at ? (relet_place)(at - letters) : RELET_AT_NOWHERE;
}

static int replies_same_info(sim_world *w, const relet_job_info *info,
                             relet_value v, size_t i)
{
    relet_span text = relet_value_text(relet_value_at(v, i + 2));
    int64_t number = 0;

    (void)w;
    (void)relet_value_int(relet_value_at(v, i - 2), &number);
    if (i == 5) /* in a list, a length precedes the record */
        (void)relet_value_int(relet_value_at(v, 2), &number);
    return (uint64_t)number == info->work.number &&
           info->progress.n + info->result.n + info->error.n + 1 ==
               (text.n ? text.n : 1) &&
           (text.n == 0 || (*text.p == 'd' ? info->result.n
                            : *text.p == 'x' ? info->error.n
                                             : info->progress.n) + 1 == text.n);
}

/* Returns 1 if the reading functions give back the contents of the answer. */
static int replies_read(sim_world *w, const sim_node *n, relet_value v)
{
    relet_queue_info q;
    relet_job_info info;
    int64_t go_on, waiting = -1;
    size_t at = 0;
    long many = 0;
    relet_span letter;

    switch (n->asks) {
    case SIM_V_STATUS:
        (void)relet_value_int(relet_value_at(v, 1), &waiting);
        return relet_queue_status_read(v, &q) && q.waiting == waiting;
    case SIM_V_LOOK:
        letter = relet_value_text(relet_value_at(v, 0));
        if (!relet_queue_job_look_read(v, &info))
            return letter.n == 1 && *letter.p == 'g';
        return info.place == replies_read_place(letter.n ? *letter.p : 0) &&
               replies_same_info(w, &info, v, 3);
    case SIM_V_LIST:
        while (relet_queue_job_list_read(v, RELET_AT_DEAD, &at, &go_on, &info))
            many++;
        return many == ((long)relet_value_count(v) - 2) / REPLIES_LISTED;
    default:
        return 1;
    }
}

void sim_replies_event(sim_world *w, sim_node *n, const relet_event *ev)
{
    if (n->asks_tag == 0 || ev->tag != n->asks_tag)
        return;
    n->asks_tag = 0;
    if (ev->kind != RELET_EV_REPLY || sim_op_of(w, ev->tag)->lied)
        return;
    if (!sim_holds(w, SIM_R2, sim_wire_value(ev->value) == n->shown))
        sim_fail(w, SIM_R2, "n%d gets another answer about a queue than the "
                 "server gave", n->number);
    if (!w->failed && !sim_holds(w, SIM_Q1, replies_read(w, n, ev->value)))
        sim_fail(w, SIM_Q1, "n%d: a reading function gives other contents than "
                 "the answer about a queue has", n->number);
}
