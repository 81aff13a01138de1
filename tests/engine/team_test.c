/* SPDX-License-Identifier: MIT
 *
 * team_test.c - workers of whole clients that share their room as a team. */
#include "work_rig.h"

/* How many jobs of this queue, a or b, are leased. */
static int t_leased(t_world *w, char queue)
{
    char line[30];

    sprintf(line, "ZCARD {%c}:leased", queue);
    return atoi(t_world_ask(w, line) + 1);
}

static int t_team(t_world *w, const char *queue, uint32_t weight)
{
    relet_worker_config c;

    memset(&c, 0, sizeof c);
    c.queue = relet_str(queue);
    c.room = 4;
    c.team = 1;
    c.weight = weight;
    return relet_worker_start(w->p[1].r, &c);
}

TEST a_team_shares_its_room_by_weight_while_all_have_work(void)
{
    t_world w;

    t_begin(&w, 2);
    t_put_many(&w, 'a', 20);
    t_put_many(&w, 'b', 20);
    ASSERT_EQ(0, t_team(&w, "a", 3));
    ASSERT_EQ(1, t_team(&w, "b", 1));
    t_world_pass(&w, 1000);
    ASSERT_EQ(3, t_leased(&w, 'a'));
    ASSERT_EQ(1, t_leased(&w, 'b'));
    t_world_end(&w);
    PASS();
}

TEST a_team_of_equal_weights_uses_all_of_its_room(void)
{
    t_world w;

    t_begin(&w, 2);
    t_put_many(&w, 'a', 20);
    t_put_many(&w, 'b', 20);
    ASSERT_EQ(0, t_team(&w, "a", 1));
    ASSERT_EQ(1, t_team(&w, "b", 1));
    t_world_pass(&w, 1000);
    ASSERT_EQ(2, t_leased(&w, 'a'));
    ASSERT_EQ(2, t_leased(&w, 'b'));
    t_world_end(&w);
    PASS();
}

TEST the_only_busy_worker_of_a_team_has_all_of_its_room(void)
{
    t_world w;

    t_begin(&w, 2);
    t_put_many(&w, 'a', 20);
    ASSERT_EQ(0, t_team(&w, "a", 1));
    ASSERT_EQ(1, t_team(&w, "b", 1));
    t_world_pass(&w, 1000);
    ASSERT_EQ(4, t_leased(&w, 'a'));
    t_world_end(&w);
    PASS();
}

TEST the_room_of_a_team_shrinks_when_its_largest_worker_has_ended(void)
{
    static const char *const queue[] = {"a", "b", "c"};
    relet_config c = t_config();
    relet_worker_config d;
    t_world w;
    int i;

    c.workers_max = 3;
    c.jobs_max = 8;
    t_world_start_with(&w, 2, &c);
    for (i = 0; i < 3; i++) {
        d = t_config_of(queue[i]);
        d.room = i == 2 ? 4 : 2;
        d.team = 1;
        ASSERT_EQ(i, relet_worker_start(w.p[1].r, &d));
    }
    t_world_pass(&w, 1000);
    ASSERT_EQ(0, relet_worker_stop(w.p[1].r, 2));
    t_world_settle(&w);
    T_HEARD(&w, 1, "worker ended");
    t_put_many(&w, 'a', 9);
    t_put_many(&w, 'b', 9);
    t_world_pass(&w, 1000);
    ASSERT_EQ(2, t_leased(&w, 'a') + t_leased(&w, 'b'));
    t_world_end(&w);
    PASS();
}

TEST a_late_worker_of_a_team_gets_its_share_as_soon_as_a_job_ends(void)
{
    t_world w;

    t_begin(&w, 2);
    t_put_many(&w, 'a', 20);
    ASSERT_EQ(0, t_team(&w, "a", 1));
    ASSERT_EQ(1, t_team(&w, "b", 1));
    t_world_pass(&w, 1000);
    t_put_many(&w, 'b', 20);
    ASSERT_EQ(0, t_leased(&w, 'b'));
    ASSERT_EQ(0, t_done(&w, 1, 1));
    t_world_pass(&w, 10);
    ASSERT_EQ(3, t_leased(&w, 'a'));
    ASSERT_EQ(1, t_leased(&w, 'b'));
    ASSERT_EQ(0, t_done(&w, 1, 2));
    t_world_pass(&w, 10);
    ASSERT_EQ(2, t_leased(&w, 'a'));
    ASSERT_EQ(2, t_leased(&w, 'b'));
    ASSERT_EQ(0, t_done(&w, 1, 3));
    t_world_pass(&w, 10);
    ASSERT_EQ(2, t_leased(&w, 'a'));
    ASSERT_EQ(2, t_leased(&w, 'b'));
    t_world_end(&w);
    PASS();
}

/* Ends n jobs, one after the other, of two workers that share a room for one
 * job, and counts them in ended. */
static int t_end_in_turn(t_world *w, int n, uint64_t ended[2])
{
    int at;

    while (n-- > 0) {
        at = t_leased(w, 'b');
        if (t_leased(w, 'a') + at != 1 ||
            relet_job_done(w->p[1].r, at, ++ended[at], relet_str("")) != 0)
            return 0;
        t_world_pass(w, 10);
    }
    return 1;
}

static int t_share_one_place(t_world *w, int i, uint32_t team, uint32_t weight)
{
    relet_worker_config c;

    memset(&c, 0, sizeof c);
    c.room = 1;
    c.team = team;
    c.queue = relet_str(i ? "b" : "a");
    c.weight = weight;
    return relet_worker_start(w->p[1].r, &c);
}

/* Story: the worker that was started first decided while the job of the other
 * one had ended, but its end was not sent yet: weights 1:3 gave equal
 * shares. */
TEST the_shares_of_a_team_do_not_depend_on_the_order_of_its_workers(void)
{
    int order, i;

    for (order = 0; order < 2; order++) {
        uint64_t ended[2] = {0, 0};
        t_world w;

        t_begin(&w, 2);
        t_put_many(&w, 'a', 50);
        t_put_many(&w, 'b', 50);
        for (i = 0; i < 2; i++)
            ASSERT_EQ(i, t_share_one_place(&w, i, 1, i == order ? 3 : 1));
        t_world_pass(&w, 10);
        ASSERT(t_end_in_turn(&w, 40, ended));
        ASSERT_EQ(30, (int)ended[order]);
        t_world_end(&w);
    }
    PASS();
}

/* Story: the worker had all of the room until it had taken as many jobs as the
 * other one had in its whole life. */
TEST a_worker_that_joins_a_team_has_no_credit(void)
{
    uint64_t ended[2] = {0, 0};
    t_world w;

    t_begin(&w, 2);
    t_put_many(&w, 'a', 50);
    t_put_many(&w, 'b', 50);
    ASSERT_EQ(0, t_work_with(&w, 1, 1));
    ASSERT_EQ(1, t_share_one_place(&w, 1, 1, 1));
    ASSERT_EQ(0, relet_worker_stop(w.p[1].r, 0));
    t_world_pass(&w, 1000);
    ASSERT(t_end_in_turn(&w, 10, ended));
    ASSERT_EQ(0, t_share_one_place(&w, 0, 1, 1));
    t_world_pass(&w, 10);
    ASSERT(t_end_in_turn(&w, 20, ended));
    ASSERT_IN_RANGE(10, (int)ended[0], 1);
    t_world_end(&w);
    PASS();
}

/* By weight the light worker gets one job for each three of the other worker.
 * In a room for fewer than four jobs it once never got any. */
TEST a_worker_of_low_weight_gets_its_share_of_a_small_room(void)
{
    uint64_t ended[2] = {0, 0};
    t_world w;

    t_begin(&w, 2);
    t_put_many(&w, 'a', 30);
    t_put_many(&w, 'b', 30);
    ASSERT_EQ(0, t_share_one_place(&w, 0, 1, 3));
    ASSERT_EQ(1, t_share_one_place(&w, 1, 1, 1));
    t_world_pass(&w, 10);
    ASSERT(t_end_in_turn(&w, 20, ended));
    ASSERT_EQ(15, ended[0]);
    ASSERT_EQ(5, ended[1]);
    t_world_end(&w);
    PASS();
}

/* Two workers have room for one job. Worker b has done ten jobs, with nothing
 * to do for worker a, which is of this team. */
static int t_after_ten_alone(t_world *w, uint32_t team, uint64_t ended[2])
{
    t_begin(w, 2);
    t_put_many(w, 'b', 30);
    if (t_share_one_place(w, 0, team, 1) != 0 ||
        t_share_one_place(w, 1, 1, 1) != 1)
        return 0;
    t_world_pass(w, 1000);
    return t_end_in_turn(w, 10, ended);
}

TEST an_idle_worker_banks_no_credit_against_its_team(void)
{
    uint64_t ended[2] = {0, 0};
    t_world w;

    ASSERT(t_after_ten_alone(&w, 1, ended));
    t_put_many(&w, 'a', 30);
    ASSERT(t_end_in_turn(&w, 10, ended));
    ASSERT_EQ(5, ended[0]);
    ASSERT_EQ(15, ended[1]);
    t_world_end(&w);
    PASS();
}

TEST a_worker_that_is_started_again_owes_its_team_nothing(void)
{
    uint64_t ended[2] = {0, 0};
    t_world w;
    int i;

    ASSERT(t_after_ten_alone(&w, 0, ended));
    for (i = 0; i < 2; i++)
        ASSERT_EQ(0, relet_worker_stop(w.p[1].r, i));
    ASSERT_EQ(0, relet_job_release(w.p[1].r, 1, ended[1] + 1));
    t_world_pass(&w, 1000);
    t_put_many(&w, 'a', 30);
    for (i = 0; i < 2; i++)
        ASSERT_EQ(i, t_share_one_place(&w, i, 1, 1));
    t_world_pass(&w, 10);
    ASSERT(t_end_in_turn(&w, 10, ended));
    ASSERT_EQ(5, ended[0]);
    ASSERT_EQ(15, ended[1]);
    t_world_end(&w);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_team_shares_its_room_by_weight_while_all_have_work);
    RUN_TEST(a_team_of_equal_weights_uses_all_of_its_room);
    RUN_TEST(the_only_busy_worker_of_a_team_has_all_of_its_room);
    RUN_TEST(the_room_of_a_team_shrinks_when_its_largest_worker_has_ended);
    RUN_TEST(a_late_worker_of_a_team_gets_its_share_as_soon_as_a_job_ends);
    RUN_TEST(the_shares_of_a_team_do_not_depend_on_the_order_of_its_workers);
    RUN_TEST(a_worker_that_joins_a_team_has_no_credit);
    RUN_TEST(a_worker_of_low_weight_gets_its_share_of_a_small_room);
    RUN_TEST(an_idle_worker_banks_no_credit_against_its_team);
    RUN_TEST(a_worker_that_is_started_again_owes_its_team_nothing);
    GREATEST_MAIN_END();
}
