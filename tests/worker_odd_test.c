/* SPDX-License-Identifier: MIT
 *
 * worker_odd_test.c - tests of a worker's state machine: its deadline in each
 * state, and malformed answers. */
#include "worker.h"

#include "greatest.h"
#include "lease_rig.h"

#define T_SLOTS 4
#define T_LEASE 10000
#define T_REAP 20000

typedef struct t_rig {
    t_clock c;
    rlt_worker w;
    rlt_claim slot[T_SLOTS];
    rlt_worker_request e; /* the last request sent                           */
    int all;      /* requests sent together                                  */
} t_rig;

static void t_begin(t_rig *t, uint32_t slots)
{
    rlt_worker_plan plan;

    memset(t, 0, sizeof *t);
    memset(&plan, 0, sizeof plan);
    t_clock_begin(&t->c);
    plan.lease_ms = T_LEASE;
    plan.renew_ms = T_LEASE / 3;
    plan.poll_ms = 30000;
    plan.reap_ms = RELET_NEVER;
    plan.slots = slots;
    plan.batch = RLT_WORKER_BATCH;
    rlt_worker_start(&t->w, &plan, t->slot, &t->c.rand, t->c.now);
}

/* Returns 1 if the worker sends this step now. */
static int t_sends(t_rig *t, rlt_step step)
{
    rlt_worker_request e;
    int sent = 0;

    t->all = 0;
    rlt_worker_tick(&t->w, t->c.now);
    for (; rlt_worker_want(&t->w, t->c.now, ++t->c.serial, &e); t->e = e) {
        sent |= e.step == step;
        t->all++;
    }
    return sent;
}

#define SENDS(t, step) ASSERT(t_sends(t, step) && (t)->all == 1)
#define SENDS_NOTHING(t) ASSERT(!t_sends(t, RLT_STEP_CLAIM) && (t)->all == 0)

static int t_hear(t_rig *t, rlt_step step, const char *bytes)
{
    rlt_reply r = t_reply_to(&t->c, t->w.step[step].serial, bytes);

    return rlt_worker_reply(&t->w, t->c.now, step, &r);
}

#define T_JOB(n) ":" #n "\r\n+.1234x\r\n+L 1" #n " 0 0 0 - me\r\n"
#define T_NONE "*3\r\n:1700000000000000\r\n+\r\n:0\r\n"
#define T_ONE "*6\r\n:1700000000000000\r\n+\r\n:0\r\n" T_JOB(7)
#define T_OTHER "*6\r\n:1700000000000000\r\n+\r\n:0\r\n" T_JOB(8)
#define T_TWO "*9\r\n:1700000000000000\r\n+\r\n:0\r\n" T_JOB(7) T_JOB(8)

/* The worker is full, with one or two jobs. */
static void t_full(t_rig *t, uint32_t slots)
{

    t_begin(t, slots);
    (void)t_sends(t, RLT_STEP_CLAIM);
    (void)t_hear(t, RLT_STEP_CLAIM, slots == 1 ? T_ONE : T_TWO);
}

static void t_asleep(t_rig *t)
{

    t_begin(t, 1);
    (void)t_sends(t, RLT_STEP_CLAIM);
    (void)t_hear(t, RLT_STEP_CLAIM, T_NONE);
    (void)t_sends(t, RLT_STEP_LINE_UP);
    (void)t_hear(t, RLT_STEP_LINE_UP, "*3\r\n:1\r\n+\r\n:1\r\n");
}

static relet_time t_due(const t_rig *t)
{
    return rlt_worker_deadline(&t->w, 1, t->c.now);
}

/* --------------------------------------------------------------------- time */

TEST the_end_of_a_job_is_due_at_once_unless_it_is_under_way(void)
{
    t_rig t;

    t_full(&t, 2);
    ASSERT(t_due(&t) > t.c.now);
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_DONE);
    ASSERT_EQ(t.c.now, t_due(&t));
    t.w.allowed = 1; /* other workers have the other room */
    SENDS(&t, RLT_STEP_DONE);
    ASSERT(t_due(&t) > t.c.now);
    (void)rlt_claims_end(&t.w.held, &t.slot[1], RLT_CLAIM_RETURN);
    t.w.allowed = 0;
    ASSERT_EQ(t.c.now, t_due(&t));
    SENDS(&t, RLT_STEP_RETURN);
    ASSERT(t_due(&t) > t.c.now);
    ASSERT(rlt_worker_sends(&t.slot[0], RLT_STEP_DONE));
    ASSERT(!rlt_worker_sends(&t.slot[0], RLT_STEP_RETURN));
    PASS();
}

TEST a_worker_sends_nothing_during_the_back_off_after_a_failure(void)
{
    t_rig t;

    t_full(&t, 1);
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_DONE);
    t.w.again_at = t.c.now + 40;
    SENDS_NOTHING(&t);
    ASSERT_EQ(t.c.now + 40, t_due(&t));
    PASS();
}

TEST without_a_link_only_the_end_of_a_lease_is_waited_for(void)
{
    t_rig t;

    t_full(&t, 1);
    ASSERT_EQ(t.c.now + T_TRUST, rlt_worker_deadline(&t.w, 0, t.c.now));
    t_asleep(&t);
    ASSERT_EQ(RELET_NEVER, rlt_worker_deadline(&t.w, 0, t.c.now));
    PASS();
}

TEST a_renewal_that_is_under_way_is_not_due(void)
{
    t_rig t;

    t_full(&t, 1);
    t_clock_pass(&t.c, T_LEASE / 3);
    ASSERT(t_due(&t) <= t.c.now);
    SENDS(&t, RLT_STEP_RENEW);
    ASSERT(t_due(&t) > t.c.now + T_LEASE / 3);
    PASS();
}

TEST a_recall_is_due_at_once_and_sent_once(void)
{
    t_rig t;

    t_begin(&t, 1);
    SENDS(&t, RLT_STEP_CLAIM);
    (void)t_hear(&t, RLT_STEP_CLAIM, "*0\r\n");
    ASSERT_EQ(t.c.now, t_due(&t));
    ASSERT_EQ(1, rlt_worker_load(&t.w)); /* as many jobs as it may have got */
    SENDS(&t, RLT_STEP_RECALL);
    ASSERT(t_due(&t) > t.c.now);
    PASS();
}

TEST a_recall_waits_for_a_free_claim(void)
{
    t_rig t;

    t_full(&t, 1);
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_DONE);
    (void)t_sends(&t, RLT_STEP_DONE);
    (void)t_hear(&t, RLT_STEP_CLAIM, T_OTHER);
    ASSERT(t_due(&t) > t.c.now);
    SENDS_NOTHING(&t);
    (void)t_hear(&t, RLT_STEP_DONE, "$1\r\nd\r\n");
    SENDS(&t, RLT_STEP_RECALL);
    PASS();
}

TEST a_reaper_that_is_under_way_or_stops_is_not_due(void)
{
    t_rig t;

    t_asleep(&t);
    t.w.plan.reap_ms = T_REAP;
    t.w.reaper.reap_at = t.c.now;
    ASSERT_EQ(t.c.now, t_due(&t));
    ASSERT(t_sends(&t, RLT_STEP_REAP));
    ASSERT(t_due(&t) > t.c.now);
    t_full(&t, 1);
    t.w.reaper.reap_at = t.c.now + 1;
    rlt_worker_stop(&t.w);
    ASSERT(t_due(&t) > t.c.now + 1);
    PASS();
}

TEST a_promotion_that_is_under_way_is_not_due(void)
{
    t_rig t;

    t_full(&t, 1);
    t.w.due_at = t.c.now;
    ASSERT_EQ(t.c.now, t_due(&t));
    SENDS(&t, RLT_STEP_PROMOTE);
    ASSERT(t_due(&t) > t.c.now);
    PASS();
}

TEST an_ended_worker_has_no_deadline(void)
{
    t_rig t;

    t_full(&t, 1);
    rlt_worker_cut_off(&t.w, RELET_WHY_STOPPED);
    ASSERT_EQ(RELET_NEVER, t_due(&t));
    SENDS_NOTHING(&t);
    PASS();
}

/* ----------------------------------------------------------------- stopping */

TEST a_worker_stopped_twice_or_after_its_end_ends_once(void)
{
    t_rig t;

    t_begin(&t, 1);
    rlt_worker_stop(&t.w);
    rlt_worker_stop(&t.w);
    rlt_worker_cut_off(&t.w, RELET_WHY_STOPPED);
    ASSERT(rlt_worker_ended(&t.w));
    rlt_worker_stop(&t.w);
    rlt_worker_cut_off(&t.w, RELET_WHY_STOPPED);
    ASSERT(!rlt_worker_ended(&t.w));
    PASS();
}

TEST a_stopping_worker_waits_for_its_repeated_claim(void)
{
    t_rig t;

    t_begin(&t, 1);
    SENDS(&t, RLT_STEP_CLAIM);
    (void)t_hear(&t, RLT_STEP_CLAIM, NULL);
    t_clock_pass(&t.c, 60);
    SENDS(&t, RLT_STEP_CLAIM);
    rlt_worker_stop(&t.w);
    SENDS_NOTHING(&t);
    (void)t_hear(&t, RLT_STEP_CLAIM, T_ONE);
    SENDS(&t, RLT_STEP_RETURN);
    (void)t_hear(&t, RLT_STEP_RETURN, "$1\r\nd\r\n");
    ASSERT(rlt_worker_ended(&t.w));
    PASS();
}

TEST a_stopping_worker_recalls_jobs_of_a_malformed_answer(void)
{
    t_rig t;

    t_begin(&t, 1);
    SENDS(&t, RLT_STEP_CLAIM);
    rlt_worker_stop(&t.w);
    (void)t_hear(&t, RLT_STEP_CLAIM, "*0\r\n");
    ASSERT(!rlt_worker_ended(&t.w));
    SENDS(&t, RLT_STEP_RECALL);
    (void)t_hear(&t, RLT_STEP_RECALL,
                 "*3\r\n:1\r\n:1700000000000000\r\n:0\r\n");
    ASSERT(rlt_worker_ended(&t.w));
    PASS();
}

TEST an_earlier_answer_does_not_put_a_stopping_worker_to_sleep(void)
{
    t_rig t;

    t_begin(&t, 1);
    SENDS(&t, RLT_STEP_CLAIM);
    rlt_worker_stop(&t.w);
    (void)t_hear(&t, RLT_STEP_CLAIM, "*3\r\n:1\r\n+\r\n:-1\r\n");
    ASSERT(rlt_worker_ended(&t.w));
    t_begin(&t, 1);
    SENDS(&t, RLT_STEP_CLAIM);
    (void)t_hear(&t, RLT_STEP_CLAIM, T_NONE);
    SENDS(&t, RLT_STEP_LINE_UP);
    rlt_worker_stop(&t.w);
    (void)t_hear(&t, RLT_STEP_LINE_UP, "*3\r\n:1\r\n+\r\n:1\r\n");
    SENDS(&t, RLT_STEP_LEAVE);
    PASS();
}

/* ------------------------------------------------------------------ answers */

TEST an_answer_to_another_request_is_ignored(void)
{
    rlt_reply r;
    t_rig t;

    t_begin(&t, 1);
    SENDS(&t, RLT_STEP_CLAIM);
    r = t_reply_to(&t.c, t.e.serial + 1, T_ONE);
    ASSERT_EQ(0, rlt_worker_reply(&t.w, t.c.now, RLT_STEP_CLAIM, &r));
    r = t_reply_to(&t.c, 0, "*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n");
    ASSERT_EQ(0, rlt_worker_reply(&t.w, t.c.now, RLT_STEP_REAP, &r));
    ASSERT_EQ(0, rlt_claims_busy(&t.w.held));
    ASSERT_EQ(0, t.w.tries);
    PASS();
}

TEST an_answer_of_another_form_is_as_no_answer(void)
{
    static const char *const odd[] = {"+OK\r\n", "_\r\n", ":1\r\n",
                                      "-ERR no\r\n", "%1\r\n:1\r\n:2\r\n"};
    size_t i;
    t_rig t;

    for (i = 0; i < sizeof odd / sizeof *odd; i++) {
        t_begin(&t, 1);
        SENDS(&t, RLT_STEP_CLAIM);
        ASSERT_EQ(RLT_WORKER_TROUBLE, t_hear(&t, RLT_STEP_CLAIM, odd[i]));
        ASSERT_EQ(1, t.w.tries);
        ASSERT(t.w.again_at > t.c.now);
    }
    t_full(&t, 1);
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_RETURN);
    ASSERT(t_sends(&t, RLT_STEP_RETURN));
    (void)t_hear(&t, RLT_STEP_RETURN, "*0\r\n");
    ASSERT_EQ(1, rlt_claims_busy(&t.w.held));
    PASS();
}

TEST a_negative_due_time_counts_as_none(void)
{
    t_rig t;

    t_begin(&t, 1);
    SENDS(&t, RLT_STEP_CLAIM);
    (void)t_hear(&t, RLT_STEP_CLAIM, "*3\r\n:1\r\n+-5\r\n:0\r\n");
    ASSERT_EQ(RELET_NEVER, t.w.due_at);
    PASS();
}

/* Regression: sums of such numbers were negative. */
TEST extreme_numbers_in_answers_do_no_harm(void)
{
#define T_HUGE "9223372036854775807"
#define T_TINY "-9223372036854775808"
    t_rig t;

    t_begin(&t, 1);
    t.w.plan.reap_ms = T_REAP;
    t.w.reaper.reap_at = t.c.now;
    (void)t_sends(&t, RLT_STEP_REAP);
    (void)t_hear(&t, RLT_STEP_REAP,
                 "*4\r\n:" T_HUGE "\r\n:" T_HUGE "\r\n:0\r\n:" T_HUGE "\r\n");
    ASSERT(t.w.reaper.reap_at <= t.c.now + T_REAP / 8 + 1);
    (void)t_hear(&t, RLT_STEP_CLAIM,
                 "*3\r\n:" T_TINY "\r\n+" T_HUGE "\r\n:" T_HUGE "\r\n");
    ASSERT(t.w.due_at > t.c.now);
    t_clock_pass(&t.c, T_REAP);
    (void)t_sends(&t, RLT_STEP_REAP);
    ASSERT(t.e.latest_ms > 0);
    (void)t_hear(&t, RLT_STEP_REAP,
                 "*4\r\n:" T_TINY "\r\n:" T_TINY "\r\n:" T_TINY "\r\n:" T_TINY
                 "\r\n");
    ASSERT(t.w.reaper.reap_at >= t.c.now + T_REAP);
    t.w.due_at = t.c.now;
    (void)t_sends(&t, RLT_STEP_PROMOTE);
    (void)t_hear(&t, RLT_STEP_PROMOTE, "*2\r\n:1\r\n:" T_HUGE "\r\n");
    ASSERT(t.w.due_at > t.c.now);
    PASS();
}

/* A worker that claims by type continues behind a mark. */
TEST an_invalid_cursor_is_ignored(void)
{
    static const char *const odd[] = {
        "m", "m123456789012345678901234567890123", "m300"};
    static const char *const mark[] = {"-inf", "-inf", "300"};
    char bytes[80];
    t_rig t;
    size_t i;

    t_begin(&t, 1);
    t.w.plan.type = relet_str("t");
    SENDS(&t, RLT_STEP_CLAIM);
    for (i = 0; i < sizeof odd / sizeof *odd; i++) {
        sprintf(bytes, "*3\r\n:1\r\n+\r\n+%s\r\n", odd[i]);
        (void)t_hear(&t, RLT_STEP_CLAIM, bytes);
        SENDS(&t, RLT_STEP_CLAIM);
        ASSERT_EQ(strlen(mark[i]), t.w.cursor.mark_len);
        ASSERT_MEM_EQ(mark[i], t.w.cursor.mark, strlen(mark[i]));
    }
    PASS();
}

TEST a_claim_by_type_without_a_cursor_has_reached_the_last_job(void)
{
    t_rig t;

    t_begin(&t, 1);
    t.w.plan.type = relet_str("t");
    SENDS(&t, RLT_STEP_CLAIM);
    (void)t_hear(&t, RLT_STEP_CLAIM, "*3\r\n:1\r\n+\r\n_\r\n");
    SENDS(&t, RLT_STEP_LINE_UP);
    PASS();
}

TEST freed_room_wakes_only_a_sleeping_worker(void)
{
    t_rig t;

    t_begin(&t, 1);
    SENDS(&t, RLT_STEP_CLAIM);
    (void)t_hear(&t, RLT_STEP_CLAIM, "*3\r\n:1\r\n+\r\n:-1\r\n");
    rlt_worker_eased(&t.w);
    ASSERT_EQ(RLT_WORKER_EAGER, t.w.state);
    rlt_worker_eased(&t.w);
    ASSERT_EQ(RLT_WORKER_EAGER, t.w.state);
    rlt_worker_stop(&t.w);
    rlt_worker_eased(&t.w);
    ASSERT(t.w.state != RLT_WORKER_EAGER);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(the_end_of_a_job_is_due_at_once_unless_it_is_under_way);
    RUN_TEST(a_worker_sends_nothing_during_the_back_off_after_a_failure);
    RUN_TEST(without_a_link_only_the_end_of_a_lease_is_waited_for);
    RUN_TEST(a_renewal_that_is_under_way_is_not_due);
    RUN_TEST(a_recall_is_due_at_once_and_sent_once);
    RUN_TEST(a_recall_waits_for_a_free_claim);
    RUN_TEST(a_reaper_that_is_under_way_or_stops_is_not_due);
    RUN_TEST(a_promotion_that_is_under_way_is_not_due);
    RUN_TEST(an_ended_worker_has_no_deadline);
    RUN_TEST(a_worker_stopped_twice_or_after_its_end_ends_once);
    RUN_TEST(a_stopping_worker_waits_for_its_repeated_claim);
    RUN_TEST(a_stopping_worker_recalls_jobs_of_a_malformed_answer);
    RUN_TEST(an_earlier_answer_does_not_put_a_stopping_worker_to_sleep);
    RUN_TEST(an_answer_to_another_request_is_ignored);
    RUN_TEST(an_answer_of_another_form_is_as_no_answer);
    RUN_TEST(a_negative_due_time_counts_as_none);
    RUN_TEST(extreme_numbers_in_answers_do_no_harm);
    RUN_TEST(an_invalid_cursor_is_ignored);
    RUN_TEST(a_claim_by_type_without_a_cursor_has_reached_the_last_job);
    RUN_TEST(freed_room_wakes_only_a_sleeping_worker);
    GREATEST_MAIN_END();
}
