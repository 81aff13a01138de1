/* SPDX-License-Identifier: MIT
 *
 * worker_test.c - tests of a worker's state machine, cell by cell of its
 * table. */
#include "worker_rig.h"

#include "greatest.h"

static void t_held(t_rig *t)
{
    t_begin(t, 1);
    (void)t_sends(t);
    (void)t_claimed(t, 1, 7, "", 0);
}

/* Three recalls get no answer. */
static void t_recalls_in_vain(t_rig *t)
{
    int i;

    for (i = 0; i < 3; i++) {
        t_clock_pass(&t->c, T_LEASE / 8);
        (void)t_sends(t);
        (void)t_hear(t, RLT_STEP_RECALL, NULL);
    }
}

TEST a_worker_claims_as_soon_as_it_starts(void)
{
    t_rig t;

    t_begin(&t, 2);
    ASSERT_STR_EQ("claim", t_sends(&t));
    ASSERT_EQ(2, (int)t.e.count);
    ASSERT_STR_EQ("", t_sends(&t));
    PASS();
}

TEST a_worker_claims_again_while_there_is_work_and_room(void)
{
    t_rig t;

    t_held(&t);
    ASSERT_EQ(1, (int)rlt_claims_busy(&t.w.held));
    ASSERT_STR_EQ("", t_sends(&t));
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_DONE);
    ASSERT_STR_EQ("done claim", t_sends(&t));
    PASS();
}

TEST a_worker_that_got_fewer_jobs_lines_up_and_sleeps_until_its_poll(void)
{
    relet_time due;
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    ASSERT_EQ(0, t_claimed(&t, 0, 0, "", 0));
    ASSERT_STR_EQ("lineup", t_sends(&t));
    (void)t_lined_up(&t, 1);
    ASSERT_EQ(RLT_WORKER_ASLEEP, t.w.state);
    due = rlt_worker_deadline(&t.w, 1, t.c.now) - t.c.now;
    ASSERT(due > T_POLL * 3 / 4 - 2 && due <= T_POLL);
    t_clock_pass(&t.c, due);
    ASSERT_STR_EQ("lineup", t_sends(&t));
    PASS();
}

TEST a_worker_that_finds_work_when_it_lines_up_claims(void)
{
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    (void)t_claimed(&t, 0, 0, "", 0);
    (void)t_sends(&t);
    (void)t_lined_up(&t, 0);
    ASSERT_STR_EQ("claim", t_sends(&t));
    PASS();
}

TEST a_sleeping_worker_that_is_woken_claims(void)
{
    t_rig t;

    t_asleep(&t);
    rlt_worker_wake(&t.w);
    ASSERT_STR_EQ("claim", t_sends(&t));
    PASS();
}

TEST a_sleeping_worker_promotes_delayed_jobs_that_are_due_and_claims(void)
{
    char due[30];
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    sprintf(due, "%.0f", ((double)t.c.server_us / 1000 + 500) * 1024);
    (void)t_claimed(&t, 0, 0, due, 0);
    (void)t_sends(&t);
    sprintf(t.c.bytes, "*3\r\n:%.0f\r\n$%d\r\n%s\r\n:1\r\n",
            (double)t.c.server_us, (int)strlen(due), due);
    (void)t_hear(&t, RLT_STEP_LINE_UP, t.c.bytes);
    ASSERT_EQ(t.c.now + 500, rlt_worker_deadline(&t.w, 1, t.c.now));
    t_clock_pass(&t.c, 500);
    ASSERT_STR_EQ("promote claim", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_PROMOTE, "*2\r\n:1\r\n:700\r\n");
    ASSERT_EQ(t.c.now + 700, t.w.due_at);
    PASS();
}

TEST a_throttled_worker_polls_soon_and_then_seldom(void)
{
    relet_time first, later = 0;
    t_rig t;
    int i;

    t_begin(&t, 1);
    (void)t_sends(&t);
    (void)t_claimed(&t, 0, 0, "", -1);
    ASSERT_EQ(RLT_WORKER_ASLEEP, t.w.state);
    first = t.w.poll_at - t.c.now;
    ASSERT(first > 0 && first <= 50);
    for (i = 0; i < 8; i++) {
        later = t.w.poll_at - t.c.now;
        t_clock_pass(&t.c, later);
        ASSERT_STR_EQ("claim", t_sends(&t));
        (void)t_claimed(&t, 0, 0, "", -1);
    }
    ASSERT(later >= 500 && later <= 1000);
    PASS();
}

TEST a_throttled_worker_claims_when_its_own_job_ends(void)
{
    t_rig t;

    t_begin(&t, 2);
    (void)t_sends(&t);
    (void)t_claimed(&t, 1, 7, "", -1);
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_DONE);
    rlt_worker_eased(&t.w);
    ASSERT_STR_EQ("done claim", t_sends(&t));
    PASS();
}

TEST a_lease_is_renewed_at_a_third_of_its_time(void)
{
    t_rig t;

    t_held(&t);
    t_clock_pass(&t.c, T_LEASE / 3 - 1);
    ASSERT_STR_EQ("", t_sends(&t));
    t_clock_pass(&t.c, 1);
    ASSERT_STR_EQ("renew", t_sends(&t));
    t_clock_pass(&t.c, 100);
    (void)t_hear(&t, RLT_STEP_RENEW, "*2\r\n$1\r\nr\r\n:1\r\n");
    ASSERT_EQ(t.c.now - 100 + T_TRUST, t.slot[0].valid_until);
    PASS();
}

/* Job 8 was claimed nearly half a renewal period after job 7. */
TEST a_renewal_includes_leases_half_way_to_their_own_renewal(void)
{
    t_rig t;

    t_begin(&t, 2);
    (void)t_sends(&t);
    (void)t_claimed(&t, 1, 7, "", 1);
    t_clock_pass(&t.c, T_LEASE / 6 - 10);
    ASSERT_STR_EQ("claim", t_sends(&t));
    (void)t_claimed(&t, 1, 8, "", 1);
    t_clock_pass(&t.c, T_LEASE / 3 - (T_LEASE / 6 - 10));
    ASSERT_STR_EQ("renew", t_sends(&t));
    ASSERT_EQ(2, (int)t.e.count);
    PASS();
}

TEST a_step_has_the_time_of_a_renewal(void)
{
    t_rig t;

    t_begin(&t, 1);
    ASSERT_STR_EQ("claim", t_sends(&t));
    ASSERT_EQ(T_LEASE / 3, t.e.timeout_ms);
    t_begin(&t, 1);
    t.w.plan.renew_ms = 10;
    ASSERT_STR_EQ("claim", t_sends(&t));
    ASSERT_EQ(1000, t.e.timeout_ms);
    PASS();
}

TEST without_an_answer_a_step_is_repeated_under_its_number(void)
{
    uint64_t op;
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    op = t.e.op;
    (void)t_hear(&t, RLT_STEP_CLAIM, NULL);
    ASSERT_STR_EQ("", t_sends(&t));
    t_clock_pass(&t.c, 60);
    ASSERT_STR_EQ("claim", t_sends(&t));
    ASSERT_EQ((int)op, (int)t.e.op);
    (void)t_claimed(&t, 1, 7, "", 0);
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_DONE);
    (void)t_sends(&t);
    ASSERT_EQ((int)op + 1, (int)t.e.op);
    PASS();
}

/* The first claim may have leased the jobs that the repeated claim brings, so
 * their leases may have begun with the first. */
TEST leases_of_a_repeated_claim_count_from_the_first(void)
{
    relet_time first;
    t_rig t;

    t_begin(&t, 1);
    first = t.c.now;
    (void)t_sends(&t);
    t_clock_pass(&t.c, 300);
    (void)t_hear(&t, RLT_STEP_CLAIM, NULL);
    t_clock_pass(&t.c, 60);
    (void)t_sends(&t);
    (void)t_claimed(&t, 1, 7, "", 0);
    ASSERT_EQ(first + T_TRUST, t.slot[0].valid_until);
    PASS();
}

TEST a_claim_that_was_done_before_is_recalled(void)
{
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    (void)t_hear(&t, RLT_STEP_CLAIM, "*0\r\n");
    ASSERT_STR_EQ("recall", t_sends(&t));
    ASSERT_EQ(1, t_hear(&t, RLT_STEP_RECALL,
                        "*6\r\n:1\r\n:1700000000000000\r\n:0\r\n:7\r\n$6\r\n"
                        ".1234x\r\n$15\r\nL 17 0 0 0 - me\r\n"));
    ASSERT(rlt_claims_find(&t.w.held, 7, 17) != NULL);
    PASS();
}

/* The first claim may still arrive over its old link, behind the repeated one,
 * and lease jobs that the worker does not know of. Found by the simulator. */
TEST a_repeated_claim_that_brought_nothing_is_recalled(void)
{
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    (void)t_hear(&t, RLT_STEP_CLAIM, NULL);
    t_clock_pass(&t.c, 60);
    ASSERT_STR_EQ("claim", t_sends(&t));
    (void)t_claimed(&t, 0, 0, "", 0);
    ASSERT_STR_EQ("recall", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_RECALL,
                 "*3\r\n:0\r\n:1700000000000000\r\n:0\r\n");
    ASSERT_STR_EQ("claim", t_sends(&t));
    PASS();
}

/* Regression, found by the simulator: each recall had the number of the first
 * claim, so the jobs of a later claim stalled for a lease. */
TEST each_claim_is_recalled_by_its_own_number(void)
{
    uint64_t op;
    t_rig t;

    t_begin(&t, 2);
    (void)t_sends(&t);
    (void)t_claimed(&t, 1, 7, "", 0);
    rlt_worker_wake(&t.w);
    ASSERT_STR_EQ("claim", t_sends(&t));
    op = t.e.op;
    (void)t_hear(&t, RLT_STEP_CLAIM, "*0\r\n");
    ASSERT_STR_EQ("recall", t_sends(&t));
    ASSERT_EQ(op, t.e.op);
    PASS();
}

/* Regression, found by the simulator: such a job was reported and lost in one
 * turn, and stalled for the rest of its lease. */
TEST a_job_claimed_after_its_lease_ended_is_given_back_unreported(void)
{
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    t_clock_pass(&t.c, T_LEASE);
    (void)t_hear(&t, RLT_STEP_CLAIM, NULL);
    t_clock_pass(&t.c, 60);
    ASSERT_STR_EQ("claim", t_sends(&t));
    ASSERT_EQ(0, t_claimed(&t, 1, 7, "", 0));
    ASSERT_STR_EQ("return lineup", t_sends(&t));
    PASS();
}

/* Regression: an answer of 40 MB is over the server's output limit for a
 * listening client. It broke each link, and the worker repeated only the
 * recall. */
TEST a_recall_that_is_in_vain_ends_with_the_leases(void)
{
    uint64_t op;
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    op = t.e.op;
    (void)t_hear(&t, RLT_STEP_CLAIM, "*0\r\n");
    t_recalls_in_vain(&t);
    t_clock_pass(&t.c, T_LEASE - 3 * (T_LEASE / 8) - 1);
    ASSERT_STR_EQ("recall", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_RECALL, NULL);
    t_clock_pass(&t.c, T_LEASE);
    ASSERT_STR_EQ("claim", t_sends(&t));
    ASSERT_EQ(op + 1, t.e.op);
    PASS();
}

TEST a_recall_that_is_answered_ends_the_row_of_those_in_vain(void)
{
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    (void)t_hear(&t, RLT_STEP_CLAIM, "*0\r\n");
    t_recalls_in_vain(&t);
    t_clock_pass(&t.c, T_LEASE / 8);
    ASSERT_STR_EQ("recall", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_RECALL, "*3\r\n:1\r\n:0\r\n:0\r\n");
    ASSERT_STR_EQ("claim", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_CLAIM, "*0\r\n");
    ASSERT_STR_EQ("recall", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_RECALL, NULL);
    t_clock_pass(&t.c, T_LEASE);
    ASSERT_STR_EQ("recall", t_sends(&t));
    PASS();
}

/* Regression, found by the simulator: the worker ended or claimed again late,
 * at the next turn that came by chance. */
TEST the_deadline_of_a_worker_includes_the_end_of_its_recalls(void)
{
    relet_time gives_up;
    t_rig t;
    int up;

    for (up = 0; up < 2; up++) {
        t_begin(&t, 1);
        (void)t_sends(&t);
        gives_up = t.c.now + T_LEASE;
        (void)t_hear(&t, RLT_STEP_CLAIM, "*0\r\n");
        t_recalls_in_vain(&t);
        ASSERT(rlt_worker_deadline(&t.w, up, t.c.now) <= gives_up);
        t.w.again_at = gives_up + 1; /* a long pause before the next recall   */
        ASSERT_EQ(gives_up, rlt_worker_deadline(&t.w, up, t.c.now));
        t_clock_pass(&t.c, gives_up - t.c.now);
        rlt_worker_tick(&t.w, t.c.now);
        ASSERT_EQ(RLT_CLAIMING_NONE, t.w.claiming);
    }
    PASS();
}

/* A delayed request runs later than it was sent, and its leases begin later.
 * Regression: a stopping worker counted from the sending, and ended while a job
 * was still leased to it (seed 1704635441943). */
TEST recalls_without_success_end_a_lease_after_the_answer_to_the_claim(void)
{
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    t_clock_pass(&t.c, T_LEASE / 2);
    (void)t_hear(&t, RLT_STEP_CLAIM, "*0\r\n");
    t_recalls_in_vain(&t);
    t_clock_pass(&t.c, T_LEASE - 3 * (T_LEASE / 8) - 1);
    rlt_worker_tick(&t.w, t.c.now);
    ASSERT_EQ(RLT_CLAIMING_RECALLED, t.w.claiming);
    t_clock_pass(&t.c, 1);
    rlt_worker_tick(&t.w, t.c.now);
    ASSERT_EQ(RLT_CLAIMING_NONE, t.w.claiming);
    PASS();
}

/* The claim that should become free is still taken, since the answer to `done`
 * is late. Regression, found by the simulator: the worker forgot the new job,
 * which stalled. */
TEST a_job_without_a_free_claim_is_recalled_when_one_is_free(void)
{
    t_rig t;

    t_held(&t);
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_DONE);
    ASSERT_STR_EQ("done claim", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_DONE, "-BUSY it is\r\n");
    ASSERT_EQ(0, t_claimed(&t, 1, 8, "", 0));
    t_clock_pass(&t.c, 60);
    ASSERT_STR_EQ("done", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_DONE, "$1\r\nd\r\n");
    ASSERT_STR_EQ("recall", t_sends(&t));
    ASSERT_EQ(1, t_hear(&t, RLT_STEP_RECALL,
                        "*6\r\n:1\r\n:1700000000000000\r\n:0\r\n:8\r\n$6\r\n"
                        ".1234x\r\n$15\r\nL 18 0 0 0 - me\r\n"));
    PASS();
}

/* Regression, found by the simulator: the recall brought back a job that the
 * worker had ended without an answer, and the job was reported once more. */
TEST a_recall_does_not_report_a_job_that_was_claimed_before(void)
{
    t_rig t;

    t_held(&t);
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_DONE);
    (void)t_sends(&t);
    (void)t_hear(&t, RLT_STEP_DONE, "-BUSY it is\r\n");
    (void)t_claimed(&t, 1, 8, "", 0);
    t_clock_pass(&t.c, 60);
    (void)t_sends(&t);
    (void)t_hear(&t, RLT_STEP_DONE, "$1\r\nd\r\n");
    ASSERT_STR_EQ("recall", t_sends(&t));
    ASSERT_EQ(1, t_hear(&t, RLT_STEP_RECALL,
                        "*9\r\n:1\r\n:1700000000000000\r\n:0\r\n"
                        ":6\r\n$6\r\n.1234x\r\n$15\r\nL 16 0 0 0 - me\r\n"
                        ":8\r\n$6\r\n.1234x\r\n$15\r\nL 18 0 0 0 - me\r\n"));
    ASSERT_EQ(8, (int)t.slot[0].number);
    PASS();
}

/* Regression, found by the simulator: the worker's deadline was the present
 * time until the answer came. */
TEST a_worker_awaiting_an_answer_has_a_deadline_in_the_future(void)
{
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    (void)t_claimed(&t, 0, 0, "", 0);
    ASSERT_STR_EQ("lineup", t_sends(&t));
    ASSERT(rlt_worker_deadline(&t.w, 1, t.c.now) > t.c.now);
    PASS();
}

/* Regression, found by the simulator: the deadline of a full worker did not
 * name the time at which a delayed job is due. */
TEST a_full_worker_promotes_delayed_jobs_that_are_due(void)
{
    char due[32];
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    sprintf(due, "%.0f", (double)(t.c.server_us / 1000 + 70) * 1024);
    (void)t_claimed(&t, 1, 7, due, 0);
    ASSERT_EQ(t.c.now + 70, rlt_worker_deadline(&t.w, 1, t.c.now));
    t_clock_pass(&t.c, 70);
    ASSERT_STR_EQ("promote", t_sends(&t));
    PASS();
}

/* Regression, found by the simulator: other workers of the team took the room
 * of jobs that a claim under way was about to bring. */
TEST jobs_that_a_claim_may_have_brought_count_as_load(void)
{
    t_rig t;

    t_begin(&t, 2);
    (void)t_sends(&t);
    ASSERT_EQ(2, (int)rlt_worker_load(&t.w));
    (void)t_hear(&t, RLT_STEP_CLAIM, NULL);
    ASSERT_EQ(2, (int)rlt_worker_load(&t.w));
    t_clock_pass(&t.c, 60);
    (void)t_sends(&t);
    (void)t_claimed(&t, 1, 7, "", 0);
    ASSERT_EQ(1, (int)rlt_worker_load(&t.w));
    PASS();
}

/* Regression, found by the simulator: two workers of a team waited for each
 * other for ever. */
TEST an_unanswered_claim_is_repeated_even_when_the_team_has_no_room(void)
{
    t_rig t;

    t_begin(&t, 2);
    (void)t_sends(&t);
    (void)t_hear(&t, RLT_STEP_CLAIM, NULL);
    t.w.allowed = 0;
    t_clock_pass(&t.c, 60);
    ASSERT_STR_EQ("claim", t_sends(&t));
    PASS();
}

/* Regression, found by the simulator: the jobs of the unanswered claim
 * stalled. */
TEST a_stopping_worker_recalls_an_unanswered_claim(void)
{
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    (void)t_hear(&t, RLT_STEP_CLAIM, NULL);
    rlt_worker_stop(&t.w);
    ASSERT(!rlt_worker_ended(&t.w));
    t_clock_pass(&t.c, 60);
    ASSERT_STR_EQ("recall", t_sends(&t));
    ASSERT_EQ(0, t_hear(&t, RLT_STEP_RECALL,
                        "*6\r\n:1\r\n:1700000000000000\r\n:0\r\n:7\r\n$6\r\n"
                        ".1234x\r\n$15\r\nL 17 0 0 0 - me\r\n"));
    ASSERT_STR_EQ("return", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_RETURN, "$1\r\nd\r\n");
    ASSERT(rlt_worker_ended(&t.w));
    PASS();
}

TEST a_job_ended_while_a_step_is_under_way_goes_out_with_the_next_step(void)
{
    t_rig t;

    t_begin(&t, 2);
    (void)t_sends(&t);
    (void)t_claimed(&t, 2, 7, "", 0);
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_DONE);
    (void)t_sends(&t);
    (void)rlt_claims_end(&t.w.held, &t.slot[1], RLT_CLAIM_DONE);
    ASSERT_STR_EQ("", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_DONE, "$1\r\nd\r\n");
    ASSERT_STR_EQ("done", t_sends(&t));
    ASSERT_EQ(1, (int)t.e.count);
    PASS();
}

TEST an_error_does_not_count_as_a_renewal(void)
{
    t_rig t;

    t_held(&t);
    t_clock_pass(&t.c, T_LEASE / 3);
    (void)t_sends(&t);
    (void)t_hear(&t, RLT_STEP_RENEW, "-LOADING it is\r\n");
    ASSERT(t.slot[0].valid_until < t.c.now + T_LEASE * 2 / 3);
    ASSERT(t.w.again_at > t.c.now);
    PASS();
}

TEST a_stopping_worker_leaves_the_line_of_idle_workers_and_ends(void)
{
    t_rig t;

    t_asleep(&t);
    rlt_worker_stop(&t.w);
    ASSERT(!rlt_worker_ended(&t.w));
    ASSERT_STR_EQ("leave", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_LEAVE, "*3\r\n:1\r\n$0\r\n\r\n:0\r\n");
    ASSERT(rlt_worker_ended(&t.w));
    ASSERT(!rlt_worker_ended(&t.w));
    PASS();
}

/* The claim may have got all jobs that it asked for. The worker has less room
 * now, since the application has not taken the loss of an ended job yet. */
TEST a_claim_without_an_answer_counts_as_load_in_full(void)
{
    t_rig t;

    t_begin(&t, 2);
    (void)t_sends(&t);
    (void)t_claimed(&t, 2, 7, "", 5);
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_DONE);
    (void)rlt_claims_end(&t.w.held, &t.slot[1], RLT_CLAIM_DONE);
    ASSERT_STR_EQ("done claim", t_sends(&t));
    ASSERT_EQ(2, (int)t.e.count);
    (void)t_hear(&t, RLT_STEP_DONE, "$2\r\ndl\r\n");
    (void)t_hear(&t, RLT_STEP_CLAIM, NULL);
    t_clock_pass(&t.c, 6000);
    ASSERT_STR_EQ("claim", t_sends(&t));
    ASSERT_EQ(1, (int)t.e.count);
    ASSERT_EQ(2, (int)t.w.wanted);
    ASSERT(rlt_worker_load(&t.w) >= 2);
    PASS();
}

/* Otherwise no worker hears of the job behind the wake-up. */
TEST a_full_worker_that_was_woken_passes_the_wake_up_on_before_it_ends(void)
{
    t_rig t;

    t_held(&t);
    ASSERT_EQ(1, rlt_worker_passes(&t.w));
    rlt_worker_stop(&t.w);
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_DONE);
    ASSERT_STR_EQ("done leave", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_LEAVE, NULL);
    (void)t_hear(&t, RLT_STEP_DONE, "$1\r\nd\r\n");
    ASSERT(!rlt_worker_ended(&t.w));
    t_clock_pass(&t.c, 6000);
    ASSERT_STR_EQ("leave", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_LEAVE, "*3\r\n:1\r\n$0\r\n\r\n:0\r\n");
    ASSERT(rlt_worker_ended(&t.w));
    PASS();
}

/* Regression: the worker took the answer for its own place in line and slept
 * until its next poll, but no wake-up could reach it. Seed 204561664731979 of
 * WORK=jobs. */
TEST a_worker_lines_up_again_when_a_sibling_left_the_line_meanwhile(void)
{
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    (void)t_claimed(&t, 0, 0, "", 0);
    ASSERT_STR_EQ("lineup", t_sends(&t));
    rlt_worker_left(&t.w);
    ASSERT_STR_EQ("claim", t_sends(&t));
    (void)t_lined_up(&t, 1);
    ASSERT_EQ(RLT_WORKER_EAGER, t.w.state);
    (void)t_claimed(&t, 0, 0, "", 0);
    ASSERT_STR_EQ("lineup", t_sends(&t));
    (void)t_lined_up(&t, 1);
    ASSERT_EQ(RLT_WORKER_ASLEEP, t.w.state);
    PASS();
}

/* The first lineup gets no answer; the lineup behind it does. */
TEST a_sibling_that_left_the_line_is_noticed_once(void)
{
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    (void)t_claimed(&t, 0, 0, "", 0);
    (void)t_sends(&t);
    rlt_worker_left(&t.w);
    (void)t_hear(&t, RLT_STEP_LINE_UP, NULL);
    t_clock_pass(&t.c, 6000);
    ASSERT_STR_EQ("claim", t_sends(&t));
    (void)t_claimed(&t, 0, 0, "", 0);
    ASSERT_STR_EQ("lineup", t_sends(&t));
    (void)t_lined_up(&t, 1);
    ASSERT_EQ(RLT_WORKER_ASLEEP, t.w.state);
    PASS();
}

/* Regression: a back-off of up to 5 s cost leases although the server answered
 * again. */
TEST a_wait_after_failures_is_at_most_half_of_that_between_renewals(void)
{
    t_rig t;
    int i;

    for (i = 0; i < 20; i++) {
        t_held(&t);
        t.w.tries = 8 + i;
        t_clock_pass(&t.c, T_LEASE / 3);
        (void)t_sends(&t);
        (void)t_hear(&t, RLT_STEP_RENEW, "-LOADING it is\r\n");
        ASSERT(t.w.again_at > t.c.now);
        ASSERT(t.w.again_at <= t.c.now + T_LEASE / 6);
    }
    PASS();
}

TEST steps_that_fail_together_count_as_one_failure(void)
{
    t_rig t;

    t_held(&t);
    t.w.step[RLT_STEP_RENEW].serial = 101;
    t.w.step[RLT_STEP_DONE].serial = 102;
    (void)t_hear(&t, RLT_STEP_RENEW, "-LOADING it is\r\n");
    (void)t_hear(&t, RLT_STEP_DONE, "-LOADING it is\r\n");
    ASSERT_EQ(1, t.w.tries);
    PASS();
}

/* Regression: `relet work` waits one second for the stop, so it ended by 3:
 * faults T13-work. */
TEST stopping_clears_the_retry_back_off(void)
{
    t_rig t;
    int i;

    t_asleep(&t);
    rlt_worker_wake(&t.w);
    for (i = 0; i < 8; i++) {
        t_clock_pass(&t.c, 5000);
        (void)t_sends(&t);
        (void)t_hear(&t, RLT_STEP_CLAIM, "-BUSY it is\r\n");
    }
    ASSERT(t.w.again_at > t.c.now + T_LEASE / 3 / 4 - 1);
    ASSERT_STR_EQ("", t_sends(&t));
    rlt_worker_stop(&t.w);
    ASSERT_STR_EQ("recall leave", t_sends(&t));
    PASS();
}

TEST a_stopping_worker_renews_until_its_last_job_has_ended(void)
{
    t_rig t;

    t_begin(&t, 2);
    (void)t_sends(&t);
    (void)t_claimed(&t, 1, 7, "", 0);
    (void)t_sends(&t);
    (void)t_lined_up(&t, 0);
    rlt_worker_stop(&t.w);
    t_clock_pass(&t.c, T_LEASE / 3);
    ASSERT_STR_EQ("renew", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_RENEW, "*2\r\n$1\r\nr\r\n:1\r\n");
    ASSERT(!rlt_worker_ended(&t.w));
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_DONE);
    ASSERT_STR_EQ("done", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_DONE, "$1\r\nd\r\n");
    ASSERT(rlt_worker_ended(&t.w));
    PASS();
}

TEST a_job_claimed_after_the_stop_is_given_back_unreported(void)
{
    t_rig t;

    t_begin(&t, 1);
    (void)t_sends(&t);
    rlt_worker_stop(&t.w);
    ASSERT_EQ(0, t_claimed(&t, 1, 7, "", 0));
    ASSERT_STR_EQ("return", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_RETURN, "$1\r\nd\r\n");
    ASSERT(rlt_worker_ended(&t.w));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_worker_claims_as_soon_as_it_starts);
    RUN_TEST(a_worker_claims_again_while_there_is_work_and_room);
    RUN_TEST(a_worker_that_got_fewer_jobs_lines_up_and_sleeps_until_its_poll);
    RUN_TEST(a_worker_that_finds_work_when_it_lines_up_claims);
    RUN_TEST(a_sleeping_worker_that_is_woken_claims);
    RUN_TEST(a_sleeping_worker_promotes_delayed_jobs_that_are_due_and_claims);
    RUN_TEST(a_throttled_worker_polls_soon_and_then_seldom);
    RUN_TEST(a_throttled_worker_claims_when_its_own_job_ends);
    RUN_TEST(a_lease_is_renewed_at_a_third_of_its_time);
    RUN_TEST(a_renewal_includes_leases_half_way_to_their_own_renewal);
    RUN_TEST(a_step_has_the_time_of_a_renewal);
    RUN_TEST(without_an_answer_a_step_is_repeated_under_its_number);
    RUN_TEST(leases_of_a_repeated_claim_count_from_the_first);
    RUN_TEST(a_claim_that_was_done_before_is_recalled);
    RUN_TEST(a_repeated_claim_that_brought_nothing_is_recalled);
    RUN_TEST(each_claim_is_recalled_by_its_own_number);
    RUN_TEST(a_job_claimed_after_its_lease_ended_is_given_back_unreported);
    RUN_TEST(a_recall_that_is_in_vain_ends_with_the_leases);
    RUN_TEST(a_recall_that_is_answered_ends_the_row_of_those_in_vain);
    RUN_TEST(the_deadline_of_a_worker_includes_the_end_of_its_recalls);
    RUN_TEST(
        recalls_without_success_end_a_lease_after_the_answer_to_the_claim);
    RUN_TEST(a_job_without_a_free_claim_is_recalled_when_one_is_free);
    RUN_TEST(a_recall_does_not_report_a_job_that_was_claimed_before);
    RUN_TEST(a_worker_awaiting_an_answer_has_a_deadline_in_the_future);
    RUN_TEST(a_full_worker_promotes_delayed_jobs_that_are_due);
    RUN_TEST(jobs_that_a_claim_may_have_brought_count_as_load);
    RUN_TEST(an_unanswered_claim_is_repeated_even_when_the_team_has_no_room);
    RUN_TEST(a_stopping_worker_recalls_an_unanswered_claim);
    RUN_TEST(a_job_ended_while_a_step_is_under_way_goes_out_with_the_next_step);
    RUN_TEST(an_error_does_not_count_as_a_renewal);
    RUN_TEST(a_claim_without_an_answer_counts_as_load_in_full);
    RUN_TEST(a_full_worker_that_was_woken_passes_the_wake_up_on_before_it_ends);
    RUN_TEST(a_worker_lines_up_again_when_a_sibling_left_the_line_meanwhile);
    RUN_TEST(a_sibling_that_left_the_line_is_noticed_once);
    RUN_TEST(a_wait_after_failures_is_at_most_half_of_that_between_renewals);
    RUN_TEST(steps_that_fail_together_count_as_one_failure);
    RUN_TEST(a_stopping_worker_leaves_the_line_of_idle_workers_and_ends);
    RUN_TEST(stopping_clears_the_retry_back_off);
    RUN_TEST(a_stopping_worker_renews_until_its_last_job_has_ended);
    RUN_TEST(a_job_claimed_after_the_stop_is_given_back_unreported);
    GREATEST_MAIN_END();
}
