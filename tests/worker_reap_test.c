/* SPDX-License-Identifier: MIT
 *
 * worker_reap_test.c - tests of the data that a worker cleans up: leases that
 * have ended, results that are kept too long, and records of clients. */
#include "worker_rig.h"

#include "greatest.h"

/* The worker that reaped may be the only one that listens. */
TEST jobs_brought_back_by_a_reap_wake_the_worker_that_reaped(void)
{
    t_rig t;

    t_asleep(&t);
    t.w.plan.reap_ms = T_LEASE;
    t.w.reaper.reap_at = t.c.now;
    ASSERT_STR_EQ("reap", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_REAP, "*3\r\n:1\r\n:0\r\n:-1\r\n");
    ASSERT_STR_EQ("claim", t_sends(&t));
    PASS();
}

/* Regression: a server that forbids INFO refused each reap, and each time the
 * worker's other steps waited for a second. */
TEST a_refused_reap_or_trim_delays_no_other_step(void)
{
    t_rig t;

    t_begin(&t, 1);
    t.w.plan.reap_ms = T_LEASE;
    t.w.reaper.reap_at = t.w.reaper.trim_at = t.c.now;
    ASSERT_STR_EQ("claim reap trim", t_sends(&t));
    ASSERT_EQ(RLT_WORKER_TROUBLE, t_hear(&t, RLT_STEP_REAP, "-NOPERM no\r\n"));
    ASSERT_EQ(RLT_WORKER_TROUBLE, t_hear(&t, RLT_STEP_TRIM, "-NOPERM no\r\n"));
    ASSERT(t.w.again_at <= t.c.now);
    ASSERT(t.w.reaper.reap_at > t.c.now && t.w.reaper.trim_at > t.c.now);
    t_clock_pass(&t.c, T_LEASE * 2);
    ASSERT_STR_EQ("reap trim", t_sends(&t));
    ASSERT_EQ(0, t_hear(&t, RLT_STEP_REAP, "-NOPERM no\r\n"));
    ASSERT_EQ(0, t_hear(&t, RLT_STEP_TRIM, "*2\r\n:1\r\n:1\r\n"));
    ASSERT_STR_EQ("trim", t_sends(&t)); /* there is more to do */
    ASSERT_EQ(RLT_WORKER_TROUBLE, t_hear(&t, RLT_STEP_TRIM, "-NOPERM no\r\n"));
    PASS();
}

TEST a_full_reap_is_followed_by_the_next_and_then_by_a_pause(void)
{
    t_rig t;

    t_begin(&t, 1);
    t.w.plan.reap_ms = T_LEASE;
    t.w.reaper.reap_at = t.c.now;
    ASSERT_STR_EQ("claim reap", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_REAP, "*3\r\n:100\r\n:28\r\n:0\r\n");
    ASSERT_EQ(t.c.now, t.w.reaper.reap_at);
    ASSERT_STR_EQ("reap", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_REAP, "*3\r\n:0\r\n:0\r\n:-1\r\n");
    ASSERT(t.w.reaper.reap_at >= t.c.now + T_LEASE);
    PASS();
}

/* A request takes some time to the server, and not each takes the same. */
TEST a_reap_may_come_a_quarter_of_a_lease_late(void)
{
    t_rig t;

    t_begin(&t, 1);
    t.w.plan.reap_ms = T_LEASE;
    t.w.reaper.reap_at = t.c.now;
    ASSERT_STR_EQ("claim reap", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_REAP, "*4\r\n:0\r\n:0\r\n:-1\r\n:5000\r\n");
    t_clock_pass(&t.c, 100);
    ASSERT_EQ(5100 + T_LEASE / 4,
              rlt_reaper_latest(&t.w.reaper, t.c.now, T_LEASE));
    PASS();
}

TEST records_of_clients_are_searched_seldom_and_in_steps(void)
{
    t_rig t;

    t_begin(&t, 1);
    t.w.plan.reap_ms = T_LEASE;
    t.w.reaper.forget_at = t.c.now;
    ASSERT_STR_EQ("claim forget", t_sends(&t));
    ASSERT_EQ(0, t_hear(&t, RLT_STEP_FORGET, "$3\r\nj17\r\n"));
    ASSERT_EQ(3, t.w.reaper.from_len);
    ASSERT_STR_EQ("", t_sends(&t));
    t_clock_pass(&t.c, 100);
    ASSERT_STR_EQ("forget", t_sends(&t));
    ASSERT_EQ(0, t_hear(&t, RLT_STEP_FORGET, "$0\r\n\r\n"));
    ASSERT_EQ(0, t.w.reaper.from_len);
    ASSERT(t.w.reaper.forget_at >= t.c.now + 120 * T_LEASE);
    t.w.reaper.forget_at = t.c.now;
    ASSERT_STR_EQ("forget", t_sends(&t));
    ASSERT_EQ(0, t_hear(&t, RLT_STEP_FORGET,
                        "$25\r\nj123456789012345678901234\r\n"));
    ASSERT_EQ(0, t.w.reaper.from_len); /* not a cursor of this server */
    t.w.reaper.forget_at = t.c.now;
    ASSERT_STR_EQ("forget", t_sends(&t));
    ASSERT_EQ(RLT_WORKER_TROUBLE,
              t_hear(&t, RLT_STEP_FORGET, "-NOPERM no\r\n"));
    ASSERT(t.w.again_at <= t.c.now);
    ASSERT(t.w.reaper.forget_at >= t.c.now + 120 * T_LEASE);
    PASS();
}

/* If the job's worker is dead, no other step finds the job before reap_ms has
 * passed. */
TEST a_reap_is_due_when_the_next_lease_ends(void)
{
    t_rig t;

    t_begin(&t, 1);
    t.w.plan.reap_ms = T_LEASE;
    t.w.reaper.reap_at = t.c.now;
    ASSERT_STR_EQ("claim reap", t_sends(&t));
    (void)t_hear(&t, RLT_STEP_REAP, "*3\r\n:0\r\n:0\r\n:500\r\n");
    ASSERT(t.w.reaper.reap_at >= t.c.now + 500);
    ASSERT(t.w.reaper.reap_at <= t.c.now + 500 + T_LEASE / 8);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(jobs_brought_back_by_a_reap_wake_the_worker_that_reaped);
    RUN_TEST(a_refused_reap_or_trim_delays_no_other_step);
    RUN_TEST(a_full_reap_is_followed_by_the_next_and_then_by_a_pause);
    RUN_TEST(a_reap_may_come_a_quarter_of_a_lease_late);
    RUN_TEST(records_of_clients_are_searched_seldom_and_in_steps);
    RUN_TEST(a_reap_is_due_when_the_next_lease_ends);
    GREATEST_MAIN_END();
}
