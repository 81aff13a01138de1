/* SPDX-License-Identifier: MIT
 *
 * worker_type_test.c - tests of a worker that claims jobs of some types only:
 * its way through the list, and the wake-ups that it passes on. */
#include "worker_rig.h"

#include "greatest.h"

static void t_begin_typed(t_rig *t, uint32_t slots)
{
    t_begin(t, slots);
    t->w.plan.type = relet_str("t");
    (void)t_sends(t);
}

/* Answers a claim with `count` jobs and the script's word on its cursor. */
static void t_picked(t_rig *t, int count, const char *said)
{
    char text[600];
    int i, n;

    n = sprintf(text, "*%d\r\n:%.0f\r\n$0\r\n\r\n$%d\r\n%s\r\n",
                3 + 3 * count, (double)t->c.server_us, (int)strlen(said), said);
    for (i = 7; i < 7 + count; i++)
        n += sprintf(text + n,
                     ":%d\r\n$6\r\n.1234x\r\n$15\r\nL %d 0 0 0 - me\r\n", i,
                     i + 10);
    (void)t_hear(t, RLT_STEP_CLAIM, text);
}

static const char *t_mark(const t_rig *t)
{
    static char text[RLT_MARK_MAX + 1];

    sprintf(text, "%.*s", (int)t->w.cursor.mark_len, t->w.cursor.mark);
    return text;
}

TEST a_claim_by_type_goes_from_page_to_page_until_the_end(void)
{
    t_rig t;

    t_begin_typed(&t, 2);
    ASSERT_STR_EQ("-inf", t_mark(&t));
    t_picked(&t, 0, "m128");
    ASSERT_STR_EQ("claim", t_sends(&t));
    ASSERT_STR_EQ("128", t_mark(&t));
    t_picked(&t, 1, "m256");
    ASSERT_STR_EQ("claim", t_sends(&t));
    t_picked(&t, 0, "e300");
    ASSERT_STR_EQ("lineup", t_sends(&t));
    PASS();
}

TEST a_worker_by_type_ranks_the_waiting_list_before_it_claims(void)
{
    t_rig t;

    t_begin_typed(&t, 1);
    t_picked(&t, 0, "w");
    ASSERT_STR_EQ("rank", t_sends(&t));
    ASSERT_STR_EQ("", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_RANK, "*2\r\n:500\r\n:7\r\n");
    ASSERT_STR_EQ("rank", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_RANK, "*2\r\n:7\r\n:0\r\n");
    ASSERT_STR_EQ("claim", t_sends(&t));
    ASSERT_STR_EQ("-inf", t_mark(&t));
    PASS();
}

TEST a_worker_by_type_sleeps_briefly_when_jobs_of_other_types_wait(void)
{
    relet_time wait;
    t_rig t;

    t_begin_typed(&t, 1);
    t_picked(&t, 0, "e300");
    ASSERT_STR_EQ("lineup", t_sends(&t));
    (void)t_lined_up(&t, 0);
    ASSERT_EQ(RLT_WORKER_ASLEEP, t.w.state);
    wait = rlt_worker_deadline(&t.w, 1, t.c.now) - t.c.now;
    ASSERT(wait > 0 && wait <= 50);
    t_clock_pass(&t.c, wait);
    ASSERT_STR_EQ("claim", t_sends(&t)); /* jobs that came behind the mark */
    ASSERT_STR_EQ("300", t_mark(&t));
    PASS();
}

TEST a_worker_by_type_claims_at_once_when_the_first_jobs_came(void)
{
    t_rig t;

    t_begin_typed(&t, 1);
    t_picked(&t, 0, "e-inf");
    (void)t_sends(&t);
    (void)t_lined_up(&t, 0);
    ASSERT_STR_EQ("claim", t_sends(&t));
    PASS();
}

TEST a_pass_by_type_begins_again_a_second_after_its_end(void)
{
    relet_time end;
    t_rig t;
    int i;

    t_begin_typed(&t, 1);
    t_picked(&t, 0, "e300");
    end = t.c.now;
    for (i = 0; i < 40 && strcmp(t_mark(&t), "-inf") != 0; i++) {
        ASSERT_STR_EQ("lineup", t_sends(&t));
        (void)t_lined_up(&t, 0);
        t_clock_pass(&t.c, t.w.poll_at - t.c.now);
        ASSERT_STR_EQ("claim", t_sends(&t));
        if (strcmp(t_mark(&t), "-inf") != 0)
            t_picked(&t, 0, "e300");
    }
    ASSERT(t.c.now - end >= 1000 && t.c.now - end <= 2000);
    PASS();
}

/* Each pass over the waiting jobs costs the server time. */
TEST a_long_pass_by_type_is_repeated_later_than_a_short_one(void)
{
    t_rig t;

    t_begin_typed(&t, 1);
    t_clock_pass(&t.c, 2000);
    t_picked(&t, 0, "e300");
    ASSERT_EQ(t.c.now + 17000, t.w.cursor.again_at);
    t_begin_typed(&t, 1);
    t_clock_pass(&t.c, 5000);
    t_picked(&t, 0, "e300");
    ASSERT_EQ(t.c.now + T_POLL, t.w.cursor.again_at);
    PASS();
}

/* Another attempt at a job may wait in front of the cursor. */
TEST a_pass_by_type_that_keeps_finding_jobs_begins_again_after_poll_ms(void)
{
    t_rig t;

    t_begin_typed(&t, 1);
    t_picked(&t, 1, "m128");
    (void)rlt_claims_end(&t.w.held, &t.slot[0], RLT_CLAIM_DONE);
    ASSERT_STR_EQ("done claim", t_sends(&t));
    ASSERT_STR_EQ("128", t_mark(&t));
    t_clock_pass(&t.c, T_POLL);
    (void)t_hear(&t, RLT_STEP_DONE, "$1\r\nd\r\n");
    t_picked(&t, 0, "m256");
    ASSERT_STR_EQ("claim", t_sends(&t));
    ASSERT_STR_EQ("-inf", t_mark(&t));
    PASS();
}

TEST a_long_pass_by_type_before_its_first_job_is_not_cut_short(void)
{
    t_rig t;

    t_begin_typed(&t, 1);
    t_clock_pass(&t.c, 3 * T_POLL);
    t_picked(&t, 0, "m128");
    ASSERT_STR_EQ("claim", t_sends(&t));
    ASSERT_STR_EQ("128", t_mark(&t));
    PASS();
}

TEST a_throttled_worker_by_type_resumes_where_it_was(void)
{
    t_rig t;

    t_begin_typed(&t, 2);
    t_picked(&t, 1, "h128");
    ASSERT_EQ(RLT_WORKER_ASLEEP, t.w.state);
    ASSERT_STR_EQ("", t_sends(&t));
    t_clock_pass(&t.c, 50);
    ASSERT_STR_EQ("claim", t_sends(&t));
    ASSERT_STR_EQ("128", t_mark(&t));
    PASS();
}

static void t_typed_asleep(t_rig *t)
{
    t_begin_typed(t, 1);
    t_picked(t, 0, "e-inf");
    (void)t_sends(t);
    (void)t_lined_up(t, 1);
}

TEST a_worker_by_type_woken_in_vain_wakes_another_worker(void)
{
    t_rig t;

    t_typed_asleep(&t);
    ASSERT_EQ(RLT_WORKER_ASLEEP, t.w.state);
    rlt_worker_wake(&t.w);
    ASSERT_STR_EQ("claim", t_sends(&t));
    t_picked(&t, 0, "e9");
    ASSERT_EQ(1, t.w.cursor.woken);
    ASSERT_STR_EQ("lineup", t_sends(&t));
    (void)t_lined_up(&t, 0);
    ASSERT_EQ(0, t.w.cursor.woken); /* no second wake-up */
    PASS();
}

TEST a_worker_by_type_that_was_woken_and_found_a_job_wakes_no_other(void)
{
    t_rig t;

    t_typed_asleep(&t);
    rlt_worker_wake(&t.w);
    (void)t_sends(&t);
    t_picked(&t, 1, "e9");
    ASSERT_EQ(0, t.w.cursor.woken);
    PASS();
}

TEST a_worker_by_type_remembers_a_wake_up_during_a_request(void)
{
    t_rig t;

    t_typed_asleep(&t);
    t_clock_pass(&t.c, T_POLL);
    ASSERT_STR_EQ("lineup", t_sends(&t));
    rlt_worker_wake(&t.w);
    (void)t_lined_up(&t, 0);
    ASSERT_EQ(1, t.w.cursor.woken);
    ASSERT_STR_EQ("claim", t_sends(&t));
    rlt_worker_wake(&t.w);
    t_picked(&t, 1, "m9");
    ASSERT_EQ(1, t.w.cursor.woken);
    PASS();
}

TEST a_worker_of_any_type_passes_no_wake_up_on(void)
{
    t_rig t;

    t_asleep(&t);
    rlt_worker_wake(&t.w);
    ASSERT_EQ(0, t.w.cursor.woken);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_claim_by_type_goes_from_page_to_page_until_the_end);
    RUN_TEST(a_worker_by_type_ranks_the_waiting_list_before_it_claims);
    RUN_TEST(a_worker_by_type_sleeps_briefly_when_jobs_of_other_types_wait);
    RUN_TEST(a_worker_by_type_claims_at_once_when_the_first_jobs_came);
    RUN_TEST(a_pass_by_type_begins_again_a_second_after_its_end);
    RUN_TEST(a_long_pass_by_type_is_repeated_later_than_a_short_one);
    RUN_TEST(a_pass_by_type_that_keeps_finding_jobs_begins_again_after_poll_ms);
    RUN_TEST(a_long_pass_by_type_before_its_first_job_is_not_cut_short);
    RUN_TEST(a_throttled_worker_by_type_resumes_where_it_was);
    RUN_TEST(a_worker_by_type_woken_in_vain_wakes_another_worker);
    RUN_TEST(a_worker_by_type_that_was_woken_and_found_a_job_wakes_no_other);
    RUN_TEST(a_worker_by_type_remembers_a_wake_up_during_a_request);
    RUN_TEST(a_worker_of_any_type_passes_no_wake_up_on);
    GREATEST_MAIN_END();
}
