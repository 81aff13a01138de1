/* SPDX-License-Identifier: MIT
 *
 * cuts.c - scripts that end in their middle: a server refuses one of their
 * commands, because of permissions, for lack of memory, or because the hash
 * slot of the keys migrates; the changes before that command stay.
 *
 * The field with the state of a job says where the job is. Each script writes
 * this field in one command, after it has added the job to its new place and
 * before it removes the job from the old one. So a cut leaves a job in more
 * than one place, never in none, and no worker claims a job whose state is not
 * "waiting". What a cut leaves behind:
 *
 *   put      numbers of no job in the list; the next put gives them out again,
 *            so a job may be in the list twice, and a delayed job in the list
 *   put_full numbers that are skipped, delayed places and an id of no job
 *   unique   the same; and a window that has not opened
 *   promote  due jobs in the list that are still in `delayed`
 *   claim    jobs whose state is "waiting" in `leased`, or leased jobs in the
 *            list
 *   rank     jobs in the list and in `ranked`
 *   done_plain  leases of no job
 *   done     leased jobs in `done`, or done jobs in `leased`; for jobs that are
 *            not kept, leases and an id of no job
 *   fail     leased jobs in `delayed` or `dead`, or failed jobs in `leased`
 *   release  leased jobs in the list, or waiting jobs in `leased`
 *   reap     the same, or leased jobs in `dead` and dead jobs in `leased`; the
 *            producer of a job gets the message of its end twice
 *   cancel   places and an id of no job
 *   purge    the same
 *   trim     the same
 *   replay   dead jobs in `delayed`, or delayed jobs in `dead`
 *   renew, progress, recall, keep, idle  nothing: each changes once
 *
 * A script of a lease leaves
 *
 *   acquire  a lease without a token, which only its owner can take, with a new
 *            token; a new opening time of a quarantine; a place in line
 *   release  a free lease, and no follower was woken; a place in line
 *   renew    nothing: it changes once
 *
 * Besides, idle workers are not woken, the count of places without a job is
 * wrong until the list is empty, and a worker that repeats its request finds
 * the jobs ended.
 *
 * queue_cut_test.c tries each script at each of its commands. Here a job is
 * marked while it is not in the place of its state alone. A script that changes
 * a marked job has to keep the job in that place, and may change its state as
 * for any other job; moving only its other places counts as no change. */
#include <string.h>

#include "sim.h"
#include "wire.h"

#define CUTS_WRITES 7 /* writes before a cut: 0 to 6 are tried                */

static const char *const cuts_text[] = {
    "ERR Script attempted to access a non local key in a cluster node",
    "ERR The user executing the script can't run this command or subcommand",
    "OOM command not allowed when used memory > 'maxmemory'."};
#define CUTS_TEXTS (sizeof cuts_text / sizeof cuts_text[0])

/* ---------------------------------------------------------- cutting scripts */

void sim_cuts_begin(sim_world *w, const sim_link *l)
{
    uint64_t bits;

    if (w->shape.cuts == 0 || w->phase != SIM_CHAOS ||
        (w->jobs.run.what == SIM_V_NONE && !w->leases.run.active))
        return;
    bits = sim_keyed(&w->choices, SIM_OF_ERROR, 7000,
                     sim_mix(l->gen, (uint64_t)w->now_us));
    if ((bits & 255) >= w->shape.cuts)
        return;
    w->leases.run.cut = w->leases.run.active;
    relet_local_cut(w->host[l->host].local,
                    (uint32_t)((bits >> 8) % CUTS_WRITES),
                    cuts_text[(bits >> 16) % CUTS_TEXTS]);
}

/* Ends the cut: commands other than the chosen script run whole. */
void sim_cuts_end(sim_world *w, const sim_link *l)
{
    if (w->shape.cuts > 0 && w->host[l->host].local)
        relet_local_cut(w->host[l->host].local, 0, NULL);
}

/* Notes a cut if the answer is the error of a cut, followed by the name of the
 * script. */
void sim_cuts_answer(sim_world *w, sim_link *l, const sim_frame *f)
{
    size_t i;

    for (i = 0; w->shape.cuts > 0 && i < CUTS_TEXTS; i++)
        if (f->type == '-' && f->text.n > strlen(cuts_text[i]) &&
            memcmp(f->text.p, cuts_text[i], strlen(cuts_text[i])) == 0)
            w->jobs.run.cut = 1;
    if (w->jobs.run.cut)
        sim_disturb_by_error(w, l);
}

/* ------------------------------------------------------------------- places */

/* Returns 1 if the job is in the place of its state, and maybe in others,
 * too. */
static int cuts_in_place(const sim_place *p)
{
    if (p->job == 0)
        return p->letter == 'W';
    switch (p->letter) {
    case 'W':
        return p->waiting + p->ranked + p->delayed > 0;
    case 'L':
        return p->leased > 0;
    case 'D':
        return p->done > 0;
    case 'X':
        return p->dead > 0;
    }
    return 0;
}

static void cuts_mark(sim_book *b, sim_place *p, int on)
{
    b->cut_n += on - p->cut;
    p->cut = (uint8_t)on;
}

/* A host that has started has its keys, but the marks of its jobs are lost:
 * marks the jobs again. */
void sim_cuts_look(sim_world *w, sim_host *h)
{
    sim_ledger *g = &h->ledger;
    size_t i;
    int q;

    if (w->jobs.cuts == 0 || g->looked)
        return;
    g->looked = 1;
    for (q = 0; q < SIM_QUEUES; q++) {
        sim_book *b = &g->book[q];

        b->miscounted = 1;
        for (i = 0; i < b->n; i++)
            cuts_mark(b, &b->at[i], !sim_verbs_one_place(&b->at[i]));
    }
}

int sim_cuts_touched(const sim_world *w, const sim_touch *t)
{
    return w->jobs.run.cut || t->was.cut;
}

/* Returns 1 if nothing but the places of the job was changed. */
int sim_cuts_stays(const sim_touch *t, const sim_place *p)
{
    return t->was.job == p->job && t->was.record == p->record &&
           t->was.letter == p->letter && t->was.token == p->token &&
           t->was.flag == p->flag && sim_verbs_counts_same(&t->was, p);
}

/* Returns 1 for a number in line that a cut put left there and no put has given
 * out. A purge takes the number for a job that is gone, but the next put gives
 * it to a job. */
static int cuts_unused(const sim_touch *t, const sim_place *p)
{
    return t->was.cut && t->was.job == 0 && p->job == 0 &&
           p->waiting + p->ranked > 0;
}

/* Returns 1 if no other rule is to judge the job. */
int sim_cuts_judge(sim_world *w, const sim_touch *t, sim_place *p)
{
    sim_book *b = &w->host[w->jobs.run.host].ledger.book[t->queue];

    if (!sim_holds(w, SIM_Q1, cuts_in_place(p))) {
        sim_verbs_fail(w, SIM_Q1, t, "is not in the place of its state after a "
                                     "script that was cut");
        return 1;
    }
    cuts_mark(b, p, !sim_verbs_one_place(p) || cuts_unused(t, p));
    if (p->cut)
        SIM_MARK(cut_in_two_places);
    return sim_cuts_stays(t, p);
}

/* If the script that has just run was cut, notes what else may be wrong. */
void sim_cuts_after(sim_world *w)
{
    sim_step *run = &w->jobs.run;
    sim_book *b = &w->host[run->host].ledger.book[run->queue];

    if (!run->cut)
        return;
    SIM_MARK(cut);
    w->jobs.cuts++;
    w->host[run->host].ledger.looked = 1;
    b->cut_us = w->now_us;
    run->told_any = 1;
    if (w->jobs.touches > 0) {
        SIM_MARK(cut_behind_a_change);
        b->miscounted = 1;
    }
    if (run->what == SIM_V_PURGE)
        sim_fates_purge_runs(w);
}
