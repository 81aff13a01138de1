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

TEST by_type_it_claims_from_page_to_page_until_the_end(void)
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

TEST by_type_what_waits_in_a_list_is_ranked_first(void)
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

TEST by_type_it_sleeps_for_a_short_while_when_others_wait(void)
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

TEST by_type_it_claims_at_once_when_the_first_ones_came_meanwhile(void)
{
    t_rig t;

    t_begin_typed(&t, 1);
    t_picked(&t, 0, "e-inf");
    (void)t_sends(&t);
    (void)t_lined_up(&t, 0);
    ASSERT_STR_EQ("claim", t_sends(&t));
    PASS();
}

TEST by_type_it_begins_in_front_again_a_second_after_the_end(void)
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
TEST by_type_it_begins_again_the_later_the_longer_it_took(void)
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
TEST by_type_it_begins_again_though_it_finds_more_and_more(void)
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

TEST by_type_a_long_way_to_the_first_is_not_cut_short(void)
{
    t_rig t;

    t_begin_typed(&t, 1);
    t_clock_pass(&t.c, 3 * T_POLL);
    t_picked(&t, 0, "m128");
    ASSERT_STR_EQ("claim", t_sends(&t));
    ASSERT_STR_EQ("128", t_mark(&t));
    PASS();
}

TEST by_type_who_is_held_back_goes_on_where_it_was(void)
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

TEST by_type_who_was_woken_in_vain_wakes_another(void)
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

TEST by_type_who_was_woken_and_found_something_wakes_nobody(void)
{
    t_rig t;

    t_typed_asleep(&t);
    rlt_worker_wake(&t.w);
    (void)t_sends(&t);
    t_picked(&t, 1, "e9");
    ASSERT_EQ(0, t.w.cursor.woken);
    PASS();
}

TEST by_type_a_wake_up_behind_what_was_sent_is_not_forgotten(void)
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

TEST who_claims_any_type_wakes_nobody(void)
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
    RUN_TEST(by_type_it_claims_from_page_to_page_until_the_end);
    RUN_TEST(by_type_what_waits_in_a_list_is_ranked_first);
    RUN_TEST(by_type_it_sleeps_for_a_short_while_when_others_wait);
    RUN_TEST(by_type_it_claims_at_once_when_the_first_ones_came_meanwhile);
    RUN_TEST(by_type_it_begins_in_front_again_a_second_after_the_end);
    RUN_TEST(by_type_it_begins_again_the_later_the_longer_it_took);
    RUN_TEST(by_type_it_begins_again_though_it_finds_more_and_more);
    RUN_TEST(by_type_a_long_way_to_the_first_is_not_cut_short);
    RUN_TEST(by_type_who_is_held_back_goes_on_where_it_was);
    RUN_TEST(by_type_who_was_woken_in_vain_wakes_another);
    RUN_TEST(by_type_who_was_woken_and_found_something_wakes_nobody);
    RUN_TEST(by_type_a_wake_up_behind_what_was_sent_is_not_forgotten);
    RUN_TEST(who_claims_any_type_wakes_nobody);
    GREATEST_MAIN_END();
}
