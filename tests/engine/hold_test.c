/* SPDX-License-Identifier: MIT
 *
 * hold_test.c - leases of whole clients on a server: which client leads, when
 * another one may lead, and which events are told. */
#include "hold_rig.h"

TEST one_of_three_contenders_leads_and_goes_on_leading(void)
{
    t_world w;
    int i;

    t_world_start(&w, 3);
    for (i = 0; i < 3; i++)
        ASSERT_EQ(0, t_lead(&w, i, "n"));
    t_world_pass(&w, 100000);
    ASSERT_EQ(1, t_leads(&w, 0) + t_leads(&w, 1) + t_leads(&w, 2));
    for (i = 0; i < 3; i++)
        if (t_leads(&w, i))
            T_HEARD(&w, i, "lease gained 7");
    for (i = 0; i < 3; i++)
        T_HEARD(&w, i, "");
    ASSERT_EQ(0, w.both_lead);
    t_world_end(&w);
    PASS();
}

TEST without_an_election_one_leads_at_once(void)
{
    relet_lease_config c = t_lease("n");
    t_world w;

    c.alone = 1;
    t_world_start(&w, 1);
    w.refusing = 1;
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    t_world_settle(&w);
    T_HEARD(&w, 0, "lease gained 7");
    ASSERT_EQ(RELET_NEVER, relet_lease_valid_for(w.p[0].r, 0, w.now));
    ASSERT_EQ(0, t_stop(&w, 0));
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    T_HEARD(&w, 0, "lease lost 7 stopped");
    T_HEARD(&w, 0, "lease ended 7 stopped");
    t_world_end(&w);
    PASS();
}

/* -------------------------------------------------------------- succession */

TEST a_release_wakes_one_follower_at_once(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 3));
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT_EQ(1, t_leads(&w, 1) + t_leads(&w, 2));
    T_HEARD(&w, 0, "lease lost 7 stopped");
    T_HEARD(&w, 0, "lease ended 7 stopped");
    T_HEARD(&w, t_leads(&w, 1) ? 1 : 2, "lease gained 7");
    T_HEARD(&w, t_leads(&w, 1) ? 2 : 1, "");
    t_world_end(&w);
    PASS();
}

TEST a_killed_leader_is_followed_when_its_lease_ends(void)
{
    relet_time renewed, gained;
    t_world w;

    ASSERT(t_first_leads(&w, 3));
    t_world_pass(&w, 20000);
    t_world_kill(&w, 0);
    renewed = w.now + relet_lease_valid_for(w.p[0].r, 0, w.now);
    while (!t_leads(&w, 1) && !t_leads(&w, 2) && w.now < 60000)
        t_world_pass(&w, 1);
    gained = w.now;
    ASSERT(gained >= renewed);
    ASSERT(gained <= renewed + 103 + 50);
    ASSERT_EQ(0, w.both_lead);
    t_world_end(&w);
    PASS();
}

/* A dead follower stands in line: the follower behind it does not wait. */
TEST a_dead_follower_is_passed_over(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 3));
    t_world_kill(&w, 1);
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT(t_leads(&w, 2));
    t_world_end(&w);
    PASS();
}

TEST a_follower_that_leaves_passes_its_wake_up_on(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 3));
    w.paused[1] = 1; /* the first in line is woken, and does nothing */
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT(!t_leads(&w, 2));
    ASSERT_EQ(0, t_stop(&w, 1));
    w.paused[1] = 0;
    t_world_settle(&w);
    ASSERT_EQ(1, t_leads(&w, 2));
    T_HEARD(&w, 1, "lease ended 7 stopped");
    t_world_end(&w);
    PASS();
}

TEST a_lost_message_wakes_every_follower(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    w.no_way_in[1] = 1;
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    t_world_lose_pushes(&w, 1);
    w.no_way_in[1] = 0;
    t_world_settle(&w);
    ASSERT(t_leads(&w, 1));
    t_world_end(&w);
    PASS();
}

/* The push is inside an answer that is over a limit. */
TEST a_message_lost_in_an_answer_wakes_every_follower(void)
{
    const uint8_t *from = NULL;
    t_world w;
    int i;

    ASSERT(t_first_leads(&w, 2));
    w.no_way_in[1] = 1;
    ASSERT_EQ(0, t_ask(&w.p[1], 1, 0, "GET", "k"));
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    relet_local_sent(w.l, w.id[1], relet_local_output(w.l, w.id[1], &from));
    t_say(&w.p[1], "*513\r\n>1\r\n:9\r\n");
    for (i = 0; i < 513; i++)
        t_say(&w.p[1], ":1\r\n");
    w.no_way_in[1] = 0;
    t_world_settle(&w);
    ASSERT(t_leads(&w, 1));
    t_world_end(&w);
    PASS();
}

/* The contender that is woken first sees for the first time that the server's
 * clock leapt, and gives its grant back. Both contenders have one channel. */
TEST a_grant_given_back_wakes_a_follower_in_the_same_client(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    w.wall_ms += 2000;
    ASSERT_EQ(1, t_lead(&w, 1, "n"));
    t_world_settle(&w);
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    T_HEARD(&w, 1, "lease trouble 7 clock");
    T_HEARD(&w, 1, "lease gained 7");
    ASSERT(relet_lease_valid_for(w.p[1].r, 1, w.now) > 0);
    t_world_end(&w);
    PASS();
}

TEST tokens_grow_with_each_leader(void)
{
    uint64_t first, second;
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    first = relet_lease_token(w.p[0].r, 0);
    ASSERT_EQ(0, t_stopped(&w, 0));
    w.wall_ms -= 3600000; /* and the clock goes back an hour */
    t_world_pass(&w, 30000);
    second = relet_lease_token(w.p[1].r, 0);
    ASSERT(first > 0);
    ASSERT(second > first);
    t_world_end(&w);
    PASS();
}

/* ------------------------------------------------------------------ leaving */

TEST a_stop_keeps_the_lease_until_the_work_has_stopped(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    ASSERT_EQ(0, t_stop(&w, 0));
    t_world_pass(&w, 9000);
    T_HEARD(&w, 0, "lease lost 7 stopped");
    T_HEARD(&w, 0, "");
    ASSERT(t_leads(&w, 0));
    ASSERT(!t_leads(&w, 1));
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    T_HEARD(&w, 0, "lease ended 7 stopped");
    ASSERT(t_leads(&w, 1));
    t_world_end(&w);
    PASS();
}

TEST a_stop_without_work_done_ends_with_the_grace_period(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    ASSERT_EQ(0, t_stop(&w, 0));
    t_world_pass(&w, 10000);
    T_HEARD(&w, 0, "lease lost 7 stopped");
    T_HEARD(&w, 0, "lease ended 7 stopped");
    ASSERT(t_leads(&w, 1));
    t_world_end(&w);
    PASS();
}

TEST a_grant_that_comes_after_the_stop_is_released(void)
{
    t_world w;

    t_world_start(&w, 1);
    t_world_pass(&w, 10);
    w.no_way_out[0] = 1;
    ASSERT_EQ(0, t_lead(&w, 0, "n"));
    t_world_pass(&w, 10);
    ASSERT_EQ(0, t_stop(&w, 0));
    w.no_way_out[0] = 0;
    t_world_settle(&w);
    T_HEARD(&w, 0, "lease ended 7 stopped");
    ASSERT_STR_EQ("$-1\r\n", t_world_ask(&w, "GET leader:n"));
    t_world_end(&w);
    PASS();
}

/* The end was once told only when the lease would have ended on a slow server,
 * too: for a lease of 30 s, a minute later. */
TEST without_a_link_a_stop_ends_when_the_lease_is_no_longer_valid(void)
{
    relet_time left;
    t_world w;

    ASSERT(t_first_leads(&w, 1));
    w.refusing = 1;
    t_world_cut(&w, 0);
    t_world_pass(&w, 10);
    left = relet_lease_valid_for(w.p[0].r, 0, w.now);
    ASSERT(left > 5000);
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_pass(&w, left - 1);
    T_HEARD(&w, 0, "lease lost 7 stopped");
    T_HEARD(&w, 0, "");
    t_world_pass(&w, 1);
    T_HEARD(&w, 0, "lease ended 7 stopped");
    t_world_end(&w);
    PASS();
}

TEST a_link_that_comes_back_in_time_carries_the_release(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 1));
    w.refusing = 1;
    t_world_cut(&w, 0);
    t_world_pass(&w, 10);
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_pass(&w, 2000);
    w.refusing = 0;
    t_world_pass(&w, 3000);
    T_HEARD(&w, 0, "lease lost 7 stopped");
    T_HEARD(&w, 0, "lease ended 7 stopped");
    ASSERT_STR_EQ("$-1\r\n", t_world_ask(&w, "GET leader:n"));
    t_world_end(&w);
    PASS();
}

TEST a_client_that_is_stopped_tells_the_end_of_its_leases(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 1));
    relet_stop(w.p[0].r);
    t_world_settle(&w);
    T_HEARD(&w, 0, "lease lost 7 stopped");
    T_HEARD(&w, 0, "lease ended 7 stopped");
    ASSERT_EQ(0, t_leads(&w, 0));
    t_world_end(&w);
    PASS();
}

TEST a_lease_can_be_started_again(void)
{
    t_world w;
    int i;

    t_world_start(&w, 1);
    for (i = 0; i < 20; i++) {
        ASSERT_EQ(0, t_lead(&w, 0, "n"));
        t_world_settle(&w);
        T_HEARD(&w, 0, "lease gained 7");
        ASSERT_EQ(0, t_stopped(&w, 0));
        t_world_settle(&w);
        T_HEARD(&w, 0, "lease lost 7 stopped");
        T_HEARD(&w, 0, "lease ended 7 stopped");
    }
    t_world_end(&w);
    PASS();
}

/* -------------------------------------------------------------------- locks */

TEST a_lock_that_is_not_free_in_time_ends_by_itself(void)
{
    t_world w;

    t_world_start(&w, 2);
    ASSERT_EQ(0, t_lock(&w, 0, "m", 0, 1));
    t_world_pass(&w, 10);
    ASSERT_EQ(0, t_lock(&w, 1, "m", 5000, 2));
    t_world_pass(&w, 5001);
    T_HEARD(&w, 0, "lease gained 1");
    T_HEARD(&w, 1, "lease ended 2 timeout");
    ASSERT(t_leads(&w, 0));
    t_world_end(&w);
    PASS();
}

/* The client did nothing for a second before, so its time is an old one. */
TEST a_lock_that_is_started_again_may_wait_for_all_of_its_time(void)
{
    t_world w;

    t_world_start(&w, 2);
    ASSERT_EQ(0, t_lock(&w, 0, "m", 0, 1));
    t_world_pass(&w, 10);
    ASSERT_EQ(0, t_lock(&w, 1, "m", 500, 2));
    t_world_pass(&w, 600);
    T_HEARD(&w, 1, "lease ended 2 timeout");
    w.paused[1] = 1;
    t_world_pass(&w, 1000);
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    w.paused[1] = 0;
    ASSERT_EQ(0, t_lock(&w, 1, "m", 500, 3));
    t_world_pass(&w, 100);
    T_HEARD(&w, 1, "lease gained 3");
    t_world_end(&w);
    PASS();
}

TEST a_lock_is_lost_once_and_not_asked_for_again(void)
{
    t_world w;

    t_world_start(&w, 1);
    ASSERT_EQ(0, t_lock(&w, 0, "m", 0, 1));
    t_world_pass(&w, 10);
    (void)t_world_ask(&w, "DEL lock:m");
    t_world_pass(&w, 30000);
    T_HEARD(&w, 0, "lease gained 1");
    T_HEARD(&w, 0, "lease lost 1 gone");
    T_HEARD(&w, 0, "lease ended 1 gone");
    T_HEARD(&w, 0, "");
    t_world_end(&w);
    PASS();
}

/* Contenders of one process once got the lock at the same time. */
TEST three_contenders_in_one_client_take_turns(void)
{
    t_world w;
    int i, turn, holders, last = -1;

    t_world_start(&w, 1);
    for (i = 0; i < 3; i++)
        ASSERT_EQ(i, t_lock(&w, 0, "m", 0, (uint64_t)i));
    for (turn = 0; turn < 3; turn++) {
        t_world_pass(&w, 10);
        for (i = holders = 0; i < 3; i++)
            if (relet_lease_valid_for(w.p[0].r, i, w.now) > 0) {
                holders++;
                last = i;
            }
        ASSERT_EQ(1, holders);
        ASSERT_EQ(0, relet_lease_work_done(w.p[0].r, last));
    }
    t_world_settle(&w);
    ASSERT_STR_EQ("$-1\r\n", t_world_ask(&w, "GET lock:m"));
    t_world_end(&w);
    PASS();
}

/* Client A takes x and y while client B takes y and x. */
TEST groups_that_overlap_do_not_block_each_other(void)
{
    relet_lease_config x = t_lease("x"), y = t_lease("y");
    t_world w;
    int i, rounds = 0, first;

    x.once = y.once = 1;
    x.group = y.group = 1;
    x.tag = 1;
    y.tag = 2;
    t_world_start(&w, 2);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &x));
    ASSERT_EQ(1, relet_lease_start(w.p[0].r, &y));
    ASSERT_EQ(0, relet_lease_start(w.p[1].r, &y));
    ASSERT_EQ(1, relet_lease_start(w.p[1].r, &x));
    for (; rounds < 2; rounds++) {
        t_world_pass(&w, 100);
        for (i = first = 0; i < 2; i++)
            if (relet_lease_valid_for(w.p[i].r, 0, w.now) > 0 &&
                relet_lease_valid_for(w.p[i].r, 1, w.now) > 0)
                first = i + 1;
        ASSERT(first > 0);
        ASSERT_EQ(0, relet_lease_work_done(w.p[first - 1].r, 0));
        ASSERT_EQ(0, relet_lease_work_done(w.p[first - 1].r, 1));
    }
    t_world_end(&w);
    PASS();
}

TEST a_lost_lease_takes_the_later_leases_of_its_group_along(void)
{
    relet_lease_config x = t_lease("x"), y = t_lease("y");
    t_world w;

    x.group = y.group = 1;
    x.tag = 1;
    y.tag = 2;
    t_world_start(&w, 1);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &y));
    ASSERT_EQ(1, relet_lease_start(w.p[0].r, &x));
    t_world_pass(&w, 10);
    T_HEARD(&w, 0, "lease gained 1");
    T_HEARD(&w, 0, "lease gained 2");
    (void)t_world_ask(&w, "SET leader:x thief PX 20000");
    t_world_pass(&w, 10000);
    T_HEARD(&w, 0, "lease lost 2 group");
    T_HEARD(&w, 0, "lease lost 1 taken");
    ASSERT_EQ(0, relet_lease_work_done(w.p[0].r, 0));
    t_world_settle(&w);
    ASSERT_STR_EQ("$-1\r\n", t_world_ask(&w, "GET leader:y"));
    t_world_pass(&w, 30000);
    T_HEARD(&w, 0, "lease gained 1");
    T_HEARD(&w, 0, "lease gained 2");
    t_world_end(&w);
    PASS();
}

/* ----------------------------------------------------------------- the rest */

TEST without_its_channel_a_follower_goes_by_the_clock(void)
{
    t_world w;

    t_world_start(&w, 2);
    (void)t_world_ask(&w, "ACL SETUSER default resetchannels");
    ASSERT_EQ(0, t_lead(&w, 0, "n"));
    t_world_pass(&w, 10);
    ASSERT_EQ(0, t_lead(&w, 1, "n"));
    t_world_pass(&w, 100);
    T_HEARD(&w, 0, "lease gained 7");
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT(!t_leads(&w, 1));
    t_world_pass(&w, 10100);
    T_HEARD(&w, 1, "lease gained 7");
    t_world_end(&w);
    PASS();
}

/* A client's other events and its outstanding count show nothing of leases. */
TEST wake_ups_are_not_reported_to_the_user(void)
{
    const char *line;
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    t_world_cut(&w, 1);
    t_world_pass(&w, 5000);
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT(t_leads(&w, 1));
    while ((line = t_told(&w.p[1]))[0] != '\0')
        ASSERT(strncmp(line, "up", 2) == 0 || strncmp(line, "down", 4) == 0 ||
               strncmp(line, "lease", 5) == 0);
    ASSERT_EQ(0, relet_outstanding(w.p[1].r));
    t_world_end(&w);
    PASS();
}

/* The follower was once first in line without a subscription, and asked again
 * only when the lease would have ended: sim seed 8069. */
TEST a_refused_wake_up_channel_is_subscribed_again_on_the_next_link(void)
{
    t_world w;

    t_world_start(&w, 2);
    (void)t_world_ask(&w, "ACL SETUSER default resetchannels");
    (void)t_lead(&w, 0, "n");
    t_world_pass(&w, 10);
    (void)t_lead(&w, 1, "n");
    t_world_pass(&w, 1000);
    (void)t_world_ask(&w, "ACL SETUSER default allchannels");
    t_world_cut(&w, 1);
    t_world_pass(&w, 1000);
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT(t_leads(&w, 1));
    t_world_end(&w);
    PASS();
}

TEST a_follower_that_began_without_memory_is_woken_once_there_is_some(void)
{
    t_world w;

    t_world_start(&w, 2);
    (void)t_lead(&w, 0, "n");
    t_world_pass(&w, 10);
    w.p[1].heap.fail_at = w.p[1].heap.calls + 1;
    w.p[1].heap.fail_on = 1;
    (void)t_lead(&w, 1, "n");
    ASSERT(t_fixed || w.p[1].heap.failed > 0);
    w.p[1].heap.fail_at = 0;
    t_world_pass(&w, 1000);
    ASSERT(t_leads(&w, 0));
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT(t_leads(&w, 1));
    t_world_end(&w);
    PASS();
}

TEST a_follower_that_waits_asks_about_once_a_lease(void)
{
    uint64_t before;
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    t_world_kill(&w, 0); /* it sends no renewals; PERSIST keeps its key */
    (void)t_world_ask(&w, "PERSIST leader:n");
    t_world_pass(&w, 20000);
    before = w.commands;
    t_world_pass(&w, 1000000);
    ASSERT(w.commands - before <= 1000 / 10 + 1000 / 15 + 10);
    t_world_end(&w);
    PASS();
}

TEST output_that_is_full_does_not_stop_a_renewal(void)
{
    char big[4000];
    relet_span argv[3];
    t_world w;
    int i;

    ASSERT(t_first_leads(&w, 1));
    memset(big, 'x', sizeof big);
    argv[0] = relet_str("SET");
    argv[1] = relet_str("k");
    argv[2].p = big;
    argv[2].n = sizeof big;
    for (i = 0; i < 400; i++) {
        while (relet_command(w.p[0].r, argv, 3, NULL) == 0)
            continue;
        t_world_pass(&w, 100);
    }
    T_HEARD(&w, 0, "");
    ASSERT(t_leads(&w, 0));
    t_world_end(&w);
    PASS();
}

/* ----------------------------------------------- programs that are not ours */

#define T_CAD "EVAL \"if redis.call('GET',KEYS[1])==ARGV[1] then return " \
    "redis.call('DEL',KEYS[1]) end return 0\" 1 leader:n them"
#define T_CAE "EVAL \"if redis.call('GET',KEYS[1])==ARGV[1] then return " \
    "redis.call('PEXPIRE',KEYS[1],10000) end return 0\" 1 leader:n them"

TEST another_program_is_kept_out_while_a_client_holds_the_lease(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 1));
    ASSERT_STR_EQ("$-1\r\n",
                  t_world_ask(&w, "SET leader:n them NX PX 10000"));
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, T_CAE));
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, T_CAD));
    t_world_pass(&w, 20000);
    T_HEARD(&w, 0, "");
    ASSERT(t_leads(&w, 0));
    t_world_end(&w);
    PASS();
}

TEST a_client_is_kept_out_while_another_program_holds_the_lease(void)
{
    t_world w;
    int i;

    t_world_start(&w, 1);
    ASSERT_STR_EQ("+OK\r\n", t_world_ask(&w, "SET leader:n them NX PX 10000"));
    ASSERT_EQ(0, t_lead(&w, 0, "n"));
    for (i = 0; i < 10; i++) {
        t_world_pass(&w, 5000);
        ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, T_CAE));
        ASSERT(!t_leads(&w, 0));
    }
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, T_CAD));
    t_world_pass(&w, 10100);
    ASSERT(t_leads(&w, 0));
    T_HEARD(&w, 0, "lease gained 7");
    ASSERT_STR_EQ(":0\r\n", t_world_ask(&w, T_CAD));
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT_STR_EQ("+OK\r\n", t_world_ask(&w, "SET leader:n them NX PX 10000"));
    t_world_end(&w);
    PASS();
}

TEST a_lease_taken_by_another_program_is_lost(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 1));
    (void)t_world_ask(&w, "SET leader:n them PX 10000");
    t_world_pass(&w, 4000);
    T_HEARD(&w, 0, "lease lost 7 taken");
    ASSERT_EQ(0, t_leads(&w, 0));
    t_world_pass(&w, 10000);
    T_HEARD(&w, 0, "lease gained 7");
    t_world_end(&w);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(one_of_three_contenders_leads_and_goes_on_leading);
    RUN_TEST(a_release_wakes_one_follower_at_once);
    RUN_TEST(a_killed_leader_is_followed_when_its_lease_ends);
    RUN_TEST(a_dead_follower_is_passed_over);
    RUN_TEST(a_follower_that_leaves_passes_its_wake_up_on);
    RUN_TEST(a_lost_message_wakes_every_follower);
    RUN_TEST(a_message_lost_in_an_answer_wakes_every_follower);
    RUN_TEST(a_grant_given_back_wakes_a_follower_in_the_same_client);
    RUN_TEST(tokens_grow_with_each_leader);
    RUN_TEST(a_stop_keeps_the_lease_until_the_work_has_stopped);
    RUN_TEST(a_stop_without_work_done_ends_with_the_grace_period);
    RUN_TEST(a_grant_that_comes_after_the_stop_is_released);
    RUN_TEST(without_a_link_a_stop_ends_when_the_lease_is_no_longer_valid);
    RUN_TEST(a_link_that_comes_back_in_time_carries_the_release);
    RUN_TEST(a_client_that_is_stopped_tells_the_end_of_its_leases);
    RUN_TEST(a_lease_can_be_started_again);
    RUN_TEST(a_lock_that_is_not_free_in_time_ends_by_itself);
    RUN_TEST(a_lock_that_is_started_again_may_wait_for_all_of_its_time);
    RUN_TEST(a_lock_is_lost_once_and_not_asked_for_again);
    RUN_TEST(three_contenders_in_one_client_take_turns);
    RUN_TEST(groups_that_overlap_do_not_block_each_other);
    RUN_TEST(a_lost_lease_takes_the_later_leases_of_its_group_along);
    RUN_TEST(without_an_election_one_leads_at_once);
    RUN_TEST(without_its_channel_a_follower_goes_by_the_clock);
    RUN_TEST(wake_ups_are_not_reported_to_the_user);
    RUN_TEST(a_refused_wake_up_channel_is_subscribed_again_on_the_next_link);
    RUN_TEST(a_follower_that_began_without_memory_is_woken_once_there_is_some);
    RUN_TEST(a_follower_that_waits_asks_about_once_a_lease);
    RUN_TEST(output_that_is_full_does_not_stop_a_renewal);
    RUN_TEST(another_program_is_kept_out_while_a_client_holds_the_lease);
    RUN_TEST(a_client_is_kept_out_while_another_program_holds_the_lease);
    RUN_TEST(a_lease_taken_by_another_program_is_lost);
    GREATEST_MAIN_END();
}
