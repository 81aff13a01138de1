/* SPDX-License-Identifier: MIT
 *
 * work.h - the functions of the workload that puts jobs and works on them;
 * included by sim.h. Their data is in jobs.h. */
#ifndef SIM_WORK_H
#define SIM_WORK_H

/* jobs.c */
void sim_jobs_begun(sim_world *w, sim_job *j);
int sim_jobs_put(sim_world *w, sim_node *n, int queue, size_t count,
                 relet_time delay_ms);
const char *sim_jobs_queue(int queue);
void sim_jobs_draw(sim_node *n, relet_time delay_ms, relet_job *j, sim_job *g,
                   char id[8]);
relet_span sim_jobs_payload(char room[32], uint64_t tag, size_t i);
long sim_jobs_open(sim_world *w);
long sim_jobs_stay(sim_world *w);
long sim_jobs_overdue(sim_world *w);
int64_t sim_jobs_patience(const sim_world *w); /* time for jobs to be removed */
int sim_jobs_missing(sim_world *w); /* 1: some jobs have not ended            */

/* waits.c: sleeping workers are woken. */
void sim_waits_up(sim_world *w, sim_node *n);
void sim_waits_turn(sim_world *w, sim_node *n);
int sim_waits_more(sim_world *w);   /* 1: this is still due after healing    */
void sim_waits_lines_up(sim_node *n, const struct sim_words *c);
void sim_waits_channel(sim_node *n, relet_span name);
void sim_waits_waits(sim_world *w, const sim_job *j, int64_t from_us);
void sim_waits_begun(sim_world *w, const sim_node *n, uint32_t job);
int sim_waits_keeps(const sim_world *w, uint32_t job, sim_wait how);
int sim_waits_falls(sim_world *w, sim_node *n);

/* ledger.c */
int64_t sim_ledger_number(relet_span s);
uint64_t sim_ledger_digest(relet_span s); /* not 0 */
int sim_ledger_id(relet_span s);
int sim_ledger_key(relet_span s, relet_span *name);
uint32_t sim_ledger_job(sim_world *w, relet_span payload);
int sim_ledger_same_terms(const sim_terms *a, const sim_terms *b);
sim_place *sim_ledger_at(sim_book *b, uint64_t number);
void sim_ledger_read(sim_world *w, sim_host *h);
void sim_ledger_anew(sim_host *h); /* the host starts with another log        */
/* Gives the buffers of another ledger to a ledger of zeros. */
void sim_ledger_keep(sim_ledger *g, const sim_ledger *from);
void sim_ledger_free(sim_host *h);

/* asks.c: returns 1, and fills *run, if the command is about a queue. */
int sim_asks_read(const struct sim_words *c, sim_step *run);

/* awaits.c: a node that waits for the end of a job that it puts. */
void sim_awaits_start(sim_world *w, sim_node *n);
void sim_awaits_step(sim_world *w, sim_node *n);
void sim_awaits_event(sim_world *w, sim_node *n, const relet_event *ev);
int sim_awaits_turn(sim_world *w, sim_node *n); /* 1: it made progress       */
int sim_awaits_channel(relet_span name);        /* 1: ends are told on it    */
void sim_awaits_touched(sim_world *w, const sim_touch *t, const sim_place *p);

/* verbs.c: what servers do with jobs, as it happens. */
void sim_verbs_before(sim_world *w, sim_link *l, const struct sim_words *c);
void sim_verbs_answer(sim_world *w, sim_link *l, const struct sim_frame *f);
/* A message that the server sends to a client; called for each listener. */
void sim_verbs_message(sim_world *w, const struct sim_frame *f);
void sim_verbs_after(sim_world *w);

const char *sim_verbs_text(sim_verb what);
void sim_verbs_fail(sim_world *w, sim_rule rule, const sim_touch *t,
                    const char *why);
int sim_verbs_counts_same(const sim_place *a, const sim_place *b);
int sim_verbs_blind(sim_world *w, const sim_touch *t);
void sim_verbs_entered(sim_world *w, const sim_touch *t, const sim_place *p);

int sim_verbs_one_place(const sim_place *p);

/* cuts.c: scripts that end in their middle. */
void sim_cuts_begin(sim_world *w, const sim_link *l);
void sim_cuts_end(sim_world *w, const sim_link *l);
void sim_cuts_answer(sim_world *w, sim_link *l, const struct sim_frame *f);
void sim_cuts_look(sim_world *w, sim_host *h);
int sim_cuts_touched(const sim_world *w, const sim_touch *t);
int sim_cuts_stays(const sim_touch *t, const sim_place *p);
int sim_cuts_judge(sim_world *w, const sim_touch *t, sim_place *p);
void sim_cuts_after(sim_world *w);

/* books.c: what must hold of a whole queue after each script. */
void sim_books_before(sim_world *w);
void sim_books_touched(sim_world *w, const sim_touch *t, const sim_place *p);
void sim_books_after(sim_world *w);

/* replies.c: what servers answer. */
void sim_replies_answer(sim_world *w, const struct sim_frame *f);
void sim_replies_after(sim_world *w);
void sim_replies_event(sim_world *w, sim_node *n, const relet_event *ev);

/* fates.c: the same for operators' requests, and for jobs that stand in for
 * others. */
void sim_fates_before(sim_world *w, const struct sim_words *c);
void sim_fates_touched(sim_world *w, const sim_touch *t, const sim_place *p);
void sim_fates_after(sim_world *w);
void sim_fates_purge_runs(sim_world *w);

/* orders.c: what operators ask. */
void sim_orders_step(sim_world *w, sim_node *n);
void sim_orders_promote(sim_world *w, sim_node *n, int queue);
void sim_orders_repair(sim_world *w, sim_node *n);
int sim_orders_quiet(sim_world *w, sim_node *n);

/* tasks.c: what nodes are told of jobs. */
void sim_tasks_recalled(sim_world *w, const sim_step *run, const sim_book *b);
void sim_tasks_claimed(sim_world *w, const sim_step *run, uint64_t number,
                       const sim_place *p);
void sim_tasks_renewed(sim_world *w, const sim_step *run, uint64_t number,
                       const sim_place *p);
void sim_tasks_cancelled(sim_world *w, uint64_t number, uint64_t token);
void sim_tasks_accepted(sim_world *w, const sim_step *run, uint64_t number,
                        uint64_t token);
void sim_tasks_taken(sim_world *w, uint64_t number, uint64_t token);
void sim_tasks_event(sim_world *w, sim_node *n, const relet_event *ev);
uint32_t sim_tasks_in_hand(const sim_desk *d);
int sim_tasks_twice(const sim_world *w, int queue, uint64_t token);
int sim_tasks_lied(const sim_node *n, const sim_desk *d, uint64_t token);
int sim_tasks_lied_of(const sim_node *n, const sim_desk *d, const sim_task *t);
int sim_tasks_lied_about(sim_world *w, const sim_touch *touch);
void sim_tasks_lied_to(sim_world *w, sim_node *n);
void sim_tasks_turn(sim_world *w, sim_node *n);
void sim_tasks_gone(sim_world *w, sim_node *n, int crash);

/* hands.c: what the handlers of nodes do. */
void sim_hands_later(sim_world *w, const sim_node *n, int desk,
                     const sim_task *t, int64_t us);
void sim_hands_begin(sim_world *w, sim_node *n, int desk, sim_task *t);
void sim_hands_due(sim_world *w, sim_node *n, uint64_t which);
void sim_hands_arrives(sim_world *w, uint64_t which);

#endif
