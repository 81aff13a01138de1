/* SPDX-License-Identifier: MIT
 *
 * hold_test.c - leases of whole clients on a server: which client leads, when
 * another one may lead, and which events are told. */
#include "rand.h"
#include "hashslot.h"
#include "world.h"

static int t_lead(t_world *w, int i, const char *name)
{
    relet_lease_config c = t_lease(name);

    return relet_lease_start(w->p[i].r, &c);
}

static int t_leads(t_world *w, int i)
{
    return relet_lease_valid_for(w->p[i].r, 0, w->now) > 0;
}

TEST one_of_three_leads_and_goes_on_leading(void)
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


/* All clients have started, and client 0 leads. */
static int t_first_leads(t_world *w, int clients)
{
    int i;

    t_world_start(w, clients);
    (void)t_lead(w, 0, "n");
    t_world_pass(w, 10);
    for (i = 1; i < clients; i++)
        (void)t_lead(w, i, "n");
    t_world_pass(w, 1000);
    return strcmp(t_world_told(w, 0), "lease gained 7") == 0 && t_leads(w, 0);
}

static int t_stop(t_world *w, int i)
{
    return relet_lease_stop(w->p[i].r, 0);
}

static int t_stopped(t_world *w, int i)
{
    return relet_lease_work_done(w->p[i].r, 0);
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
TEST a_dead_sleeper_is_passed_over(void)
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

/* The contender that is woken first sees for the first time that the server's
 * clock leapt, and gives its grant back. Both contenders have one channel. */
TEST a_grant_given_back_wakes_who_waits_in_the_same_client(void)
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

/* -------------------------------------------------------------- disturbance
 *
 * A leader that still believed in its lease after these would not be alone. */

TEST a_paused_leader_hears_of_the_loss_first(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    w.paused[0] = 1;
    t_world_pass(&w, 15000);
    ASSERT(t_leads(&w, 1));
    ASSERT_EQ(0, relet_lease_valid_for(w.p[0].r, 0, w.now));
    w.paused[0] = 0;
    t_world_pass(&w, 100);
    T_HEARD(&w, 0, "lease lost 7 expired");
    T_HEARD(&w, 0, "");
    ASSERT(t_leads(&w, 1));
    ASSERT_EQ(0, w.both_lead);
    t_world_end(&w);
    PASS();
}

TEST a_silent_link_ends_the_belief_in_time(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    w.no_way_in[0] = w.no_way_out[0] = 1;
    t_world_pass(&w, 60000);
    T_HEARD(&w, 0, "lease lost 7 expired");
    T_HEARD(&w, 1, "lease gained 7");
    ASSERT_EQ(0, w.both_lead);
    w.no_way_in[0] = w.no_way_out[0] = 0;
    t_world_pass(&w, 60000);
    ASSERT(t_leads(&w, 1));
    ASSERT_EQ(0, w.both_lead);
    t_world_end(&w);
    PASS();
}

/* Renewals arrive, but their answers do not: the server extends the lease, and
 * the client stops believing in it. */
TEST renewals_without_answers_do_not_count(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    w.no_way_in[0] = 1;
    t_world_pass(&w, 10000);
    T_HEARD(&w, 0, "lease lost 7 expired");
    ASSERT_EQ(0, w.both_lead);
    t_world_end(&w);
    PASS();
}

TEST one_broken_link_is_no_loss(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    t_world_cut(&w, 0);
    t_world_pass(&w, 30000);
    T_HEARD(&w, 0, "");
    ASSERT(t_leads(&w, 0));
    t_world_end(&w);
    PASS();
}

/* ------------------------------------------------------------ a black hole
 *
 * Bytes vanish and no reset comes. Pings notice that only after the end of a
 * lease, so a leader once lost a lease that another link would have saved. */

/* Swallows all bytes until the client gives its link up, or for ms. The client
 * runs only at its own deadlines. Returns 1 if the client opened a new link. */
static int t_swallow(t_world *w, int i, relet_time ms)
{
    relet_time end = w->now + ms;
    int opens = w->p[i].opens;

    w->no_way_in[i] = w->no_way_out[i] = 1;
    while (w->now < end && w->p[i].opens == opens) {
        w->now = RLT_MIN(t_world_next(w), end);
        t_world_settle(w);
    }
    w->no_way_in[i] = w->no_way_out[i] = 0;
    return w->p[i].opens != opens;
}

TEST a_link_that_swallows_a_renewal_is_left_while_there_is_time(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    ASSERT(t_swallow(&w, 0, 8000));
    t_world_pass(&w, 30000);
    T_HEARD(&w, 0, "");
    ASSERT(t_leads(&w, 0));
    ASSERT_EQ(0, w.both_lead);
    t_world_end(&w);
    PASS();
}

TEST a_link_that_talks_is_kept_though_a_renewal_is_not_answered_yet(void)
{
    t_world w;
    int i;

    ASSERT(t_first_leads(&w, 1));
    w.no_way_in[0] = 1;
    for (i = 0; i < 7; i++) {
        t_world_pass(&w, 1000);
        t_say(&w.p[0], ">2\r\n+MOVING\r\n:1\r\n");
    }
    w.no_way_in[0] = 0;
    t_world_pass(&w, 30000);
    T_HEARD(&w, 0, "");
    ASSERT(t_leads(&w, 0));
    ASSERT_EQ(1, w.p[0].opens);
    t_world_end(&w);
    PASS();
}

TEST an_answer_that_is_here_saves_the_link_though_it_is_judged_late(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 1));
    w.p[0].manual = 1;
    t_world_pass(&w, 7000);
    w.p[0].manual = 0;
    t_world_pass(&w, 30000);
    T_HEARD(&w, 0, "");
    ASSERT(t_leads(&w, 0));
    ASSERT_EQ(1, w.p[0].opens);
    t_world_end(&w);
    PASS();
}

TEST a_command_that_has_time_left_is_waited_for_before_a_renewal(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 1));
    ASSERT_EQ(0, t_ask_within(&w.p[0], 1, RELET_NEVER, "GET", "k"));
    ASSERT(!t_swallow(&w, 0, 8000));
    t_world_pass(&w, 10);
    ASSERT(t_leads(&w, 0));
    T_HEARD(&w, 0, "");
    t_world_end(&w);
    PASS();
}

TEST a_command_whose_time_is_up_does_not_keep_a_silent_link(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 1));
    ASSERT_EQ(0, t_ask_within(&w.p[0], 1, 1000, "GET", "k"));
    ASSERT(t_swallow(&w, 0, 8000));
    t_world_pass(&w, 30000);
    T_HEARD(&w, 0, "");
    ASSERT(t_leads(&w, 0));
    t_world_end(&w);
    PASS();
}

TEST a_short_silence_is_no_sign_of_death_however_short_the_lease(void)
{
    relet_lease_config c = t_lease("n");
    t_world w;

    c.ttl_ms = 2000;
    t_world_start(&w, 1);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    t_world_pass(&w, 10);
    ASSERT(!t_swallow(&w, 0, 1550)); /* renewed at 583 or later */
    t_world_pass(&w, 10);
    T_HEARD(&w, 0, "lease gained 7");
    T_HEARD(&w, 0, "");
    ASSERT(t_leads(&w, 0));
    t_world_end(&w);
    PASS();
}

TEST a_lost_answer_to_the_first_request_costs_nothing(void)
{
    t_world w;

    t_world_start(&w, 1);
    t_world_pass(&w, 10);
    w.no_way_in[0] = 1;
    ASSERT_EQ(0, t_lead(&w, 0, "n"));
    t_world_pass(&w, 10);
    ASSERT(strstr(t_world_ask(&w, "GET leader:n"), "\r\n") != NULL);
    ASSERT(strncmp(t_world_ask(&w, "GET leader:n"), "$-1", 3) != 0);
    t_world_cut(&w, 0);
    w.no_way_in[0] = 0;
    t_world_pass(&w, 500);
    T_HEARD(&w, 0, "lease gained 7");
    t_world_end(&w);
    PASS();
}

/* Sent on the next link, the request would count from long ago, and a WAIT
 * behind it would count nothing. */
TEST a_request_does_not_outlive_its_link(void)
{
    t_world w;

    t_world_start(&w, 1);
    t_world_pass(&w, 10);
    w.p[0].accept = 0;
    ASSERT_EQ(0, t_lead(&w, 0, "n"));
    t_world_pass(&w, 4000);
    w.p[0].accept = (size_t)-1;
    t_world_cut(&w, 0);
    t_world_pass(&w, 1000);
    T_HEARD(&w, 0, "lease gained 7");
    ASSERT(relet_lease_valid_for(w.p[0].r, 0, w.now) > 8000);
    t_world_end(&w);
    PASS();
}

TEST scripts_that_were_flushed_are_sent_again(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    (void)t_world_ask(&w, "SCRIPT FLUSH");
    t_world_pass(&w, 30000);
    T_HEARD(&w, 0, "");
    ASSERT(t_leads(&w, 0));
    t_world_end(&w);
    PASS();
}

TEST a_full_server_still_renews_and_releases(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    (void)t_world_ask(&w, "CONFIG SET maxmemory 1");
    ASSERT(strncmp("-OOM", t_world_ask(&w, "SET a b"), 4) == 0);
    t_world_pass(&w, 30000);
    ASSERT(t_leads(&w, 0));
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT(t_leads(&w, 1));
    t_world_end(&w);
    PASS();
}

TEST an_operator_who_deletes_the_key_is_heard(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 1));
    (void)t_world_ask(&w, "DEL leader:n");
    t_world_pass(&w, 5000);
    T_HEARD(&w, 0, "lease lost 7 gone");
    T_HEARD(&w, 0, "lease gained 7");
    t_world_end(&w);
    PASS();
}

TEST a_key_of_another_type_is_trouble_told_once(void)
{
    t_world w;

    t_world_start(&w, 1);
    (void)t_world_ask(&w, "LPUSH leader:n x");
    ASSERT_EQ(0, t_lead(&w, 0, "n"));
    t_world_pass(&w, 60000);
    T_HEARD(&w, 0, "lease trouble 7 refused");
    T_HEARD(&w, 0, "");
    (void)t_world_ask(&w, "DEL leader:n");
    t_world_pass(&w, 20000);
    T_HEARD(&w, 0, "lease gained 7");
    t_world_end(&w);
    PASS();
}

/* ------------------------------------------------------------------- clocks */

TEST a_server_clock_that_jumps_ends_each_belief(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 1));
    w.wall_ms += 60000;
    t_world_pass(&w, 4000);
    T_HEARD(&w, 0, "lease lost 7 clock");
    t_world_pass(&w, 4000);
    T_HEARD(&w, 0, "lease gained 7");
    T_HEARD(&w, 0, "");
    t_world_end(&w);
    PASS();
}

TEST nobody_leads_on_a_clock_that_stands_still(void)
{
    t_world w;
    int i;

    ASSERT(t_first_leads(&w, 1));
    for (i = 0; i < 400; i++) {
        t_world_pass(&w, 100);
        w.wall_ms -= 100;
    }
    T_HEARD(&w, 0, "lease lost 7 clock");
    T_HEARD(&w, 0, "lease trouble 7 clock");
    ASSERT_EQ(0, t_leads(&w, 0));
    t_world_pass(&w, 30000);
    T_HEARD(&w, 0, "lease gained 7");
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

TEST a_stop_that_nobody_follows_up_ends_with_the_grace(void)
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
TEST without_a_link_a_stop_is_over_when_nobody_believes_in_the_lease(void)
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

static int t_lock(t_world *w, int i, const char *name, relet_time wait_ms,
                  uint64_t tag)
{
    relet_lease_config c = t_lease(name);

    c.once = 1;
    c.wait_ms = wait_ms;
    c.tag = tag;
    return relet_lease_start(w->p[i].r, &c);
}

TEST a_lock_that_is_not_had_in_time_ends_by_itself(void)
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

TEST one_that_is_lost_takes_those_behind_it_along(void)
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

/* ------------------------------------------------------------------ options */

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

TEST a_grant_without_its_copies_is_given_back(void)
{
    relet_lease_config c = t_lease("n");
    t_world w;

    c.replicas = 1;
    t_world_start(&w, 1);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    t_world_pass(&w, 1005);
    T_HEARD(&w, 0, "lease trouble 7 not replicated");
    T_HEARD(&w, 0, "");
    ASSERT_EQ(0, relet_lease_stop(w.p[0].r, 0));
    t_world_pass(&w, 2000);
    T_HEARD(&w, 0, "lease ended 7 stopped");
    ASSERT_STR_EQ("$-1\r\n", t_world_ask(&w, "GET leader:n"));
    t_world_end(&w);
    PASS();
}

TEST after_a_failover_nobody_is_let_in_for_the_quarantine(void)
{
    relet_lease_config c = t_lease("n");
    t_world w;

    c.quarantine_ms = 15000;
    t_world_start(&w, 1);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    t_world_pass(&w, 14999);
    T_HEARD(&w, 0, "lease trouble 7 quarantine");
    T_HEARD(&w, 0, "");
    t_world_pass(&w, 100);
    T_HEARD(&w, 0, "lease gained 7");
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    t_world_settle(&w);
    T_HEARD(&w, 0, "lease lost 7 stopped");
    T_HEARD(&w, 0, "lease ended 7 stopped");
    T_HEARD(&w, 0, "lease gained 7"); /* the server is the same */
    t_world_end(&w);
    PASS();
}

/* The client was once granted its lease at once: the new server did not know of
 * the release, so the key still named the client. A client that was granted the
 * lease after the release may still believe in it. */
TEST a_release_that_a_failover_forgot_is_no_way_past_the_quarantine(void)
{
    relet_lease_config x = t_lease("x"), y = t_lease("y");
    char owner[33], line[80];
    t_world w;

    x.group = y.group = 1;
    x.tag = 1;
    y.tag = 2;
    y.quarantine_ms = 15000;
    t_world_start(&w, 1);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &x));
    ASSERT_EQ(1, relet_lease_start(w.p[0].r, &y));
    t_world_pass(&w, 15100);
    (void)sprintf(owner, "%.32s", t_world_ask(&w, "GET leader:y") + 5);
    (void)t_world_ask(&w, "SET leader:x thief PX 20000");
    t_world_pass(&w, 3400);
    T_HEARD(&w, 0, "lease gained 1");
    T_HEARD(&w, 0, "lease trouble 2 quarantine");
    T_HEARD(&w, 0, "lease gained 2");
    T_HEARD(&w, 0, "lease lost 1 taken");
    T_HEARD(&w, 0, "lease lost 2 group");
    (void)sprintf(line, "SET leader:y %s PX 60000", owner);
    ASSERT_EQ(0, relet_lease_work_done(w.p[0].r, 1));
    t_world_settle(&w);
    ASSERT_STR_EQ("+OK\r\n", t_world_ask(&w, line));
    (void)t_world_ask(&w, "HSET {leader:y}:fence run another");
    t_world_pass(&w, 20000);
    T_HEARD(&w, 0, "lease gained 1");
    T_HEARD(&w, 0, "lease trouble 2 quarantine");
    T_HEARD(&w, 0, "");
    t_world_pass(&w, 15000);
    T_HEARD(&w, 0, "lease gained 2");
    t_world_end(&w);
    PASS();
}

TEST a_wrong_setting_is_refused_by_name(void)
{
    relet_lease_config c = t_lease("n");
    char key[300];
    t_world w;

    t_world_start(&w, 1);
    c.renew_ms = 5000;
    ASSERT_EQ(RELET_E_CONFIG, relet_lease_start(w.p[0].r, &c));
    ASSERT_STR_EQ("lease.renew_ms must be at most a third of ttl_ms",
                  relet_refusal(w.p[0].r));
    c = t_lease("n");
    c.key = relet_str("k");
    ASSERT_EQ(RELET_E_CONFIG, relet_lease_start(w.p[0].r, &c));
    memset(key, 'x', sizeof key);
    c.name.n = 0;
    c.key.p = key;
    c.key.n = 256;
    ASSERT_EQ(RELET_E_CONFIG, relet_lease_start(w.p[0].r, &c));
    c.key.n = 255;
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    c.group = 3;
    c.key.n = 2;
    ASSERT_EQ(1, relet_lease_start(w.p[0].r, &c));
    ASSERT_EQ(RELET_E_CONFIG, relet_lease_start(w.p[0].r, &c));
    ASSERT_STR_EQ("the key is in this group already",
                  relet_refusal(w.p[0].r));
    c.group = 0;
    ASSERT_EQ(2, relet_lease_start(w.p[0].r, &c));
    ASSERT_EQ(3, relet_lease_start(w.p[0].r, &c));
    ASSERT_EQ(RELET_E_LIMIT, relet_lease_start(w.p[0].r, &c));
    ASSERT_EQ(RELET_E_REFUSED, relet_lease_stop(w.p[0].r, 4));
    t_world_end(&w);
    PASS();
}

TEST a_key_may_hold_any_byte(void)
{
    static const char key[] = "a\0{b\r\n}{}\xff:c";
    relet_lease_config c = t_lease("");
    t_world w;

    c.key.p = key;
    c.key.n = sizeof key - 1;
    t_world_start(&w, 2);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    t_world_pass(&w, 10);
    ASSERT_EQ(0, relet_lease_start(w.p[1].r, &c));
    t_world_pass(&w, 20000);
    ASSERT(t_leads(&w, 0));
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT(t_leads(&w, 1));
    t_world_end(&w);
    PASS();
}

/* The other keys of such a lease would be in other hash slots of a cluster. */
TEST a_brace_that_closes_nothing_is_refused_by_name(void)
{
    static const char *const bad[] = {"a}b", "{}", "{}{a}", "}", "}{"};
    static const char *const good[] = {"{a}b", "}{a}", "{a", "{a}}{}"};
    relet_lease_config c = t_lease("");
    t_world w;
    size_t i;

    t_world_start(&w, 1);
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        c.key = relet_str(bad[i]);
        ASSERT_EQ(RELET_E_CONFIG, relet_lease_start(w.p[0].r, &c));
        ASSERT_STR_EQ("the key of a lease has a } but no hash tag",
                      relet_refusal(w.p[0].r));
    }
    for (i = 0; i < sizeof good / sizeof good[0]; i++) {
        c.key = relet_str(good[i]);
        ASSERT_EQ((int)i, relet_lease_start(w.p[0].r, &c));
    }
    t_world_end(&w);
    PASS();
}

/* Such a key once shared its token counter with the key inside the braces. */
TEST a_hash_tag_alone_is_refused_by_name(void)
{
    relet_lease_config c = t_lease("");
    t_world w;

    t_world_start(&w, 1);
    c.key = relet_str("{a}");
    ASSERT_EQ(RELET_E_CONFIG, relet_lease_start(w.p[0].r, &c));
    ASSERT_STR_EQ("the key of a lease is a hash tag and nothing else",
                  relet_refusal(w.p[0].r));
    t_world_end(&w);
    PASS();
}

TEST a_lock_and_a_leader_of_one_name_are_two_leases(void)
{
    t_world w;

    t_world_start(&w, 2);
    ASSERT_EQ(0, t_lead(&w, 0, "x"));
    ASSERT_EQ(0, t_lock(&w, 1, "x", 0, 7));
    ASSERT_EQ(1, t_lock(&w, 1, "leader:x", 0, 8));
    t_world_pass(&w, 10);
    T_HEARD(&w, 0, "lease gained 7");
    T_HEARD(&w, 1, "lease gained 7");
    T_HEARD(&w, 1, "lease gained 8");
    t_world_end(&w);
    PASS();
}

TEST the_keys_of_a_lease_share_a_slot(void)
{
    static const char *const keys[] = {"k", "a:{b}:c", "{a}{b}", "{", "a{b",
                                       "{{a}b"};
    relet_lease_config c = t_lease("");
    size_t i, n;
    t_world w;

    for (i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *at;

        c.key = relet_str(keys[i]);
        t_world_start(&w, 2);
        ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
        t_world_pass(&w, 10);
        ASSERT_EQ(0, relet_lease_start(w.p[1].r, &c));
        t_world_pass(&w, 1000);
        at = t_world_ask(&w, "KEYS *");
        ASSERT(strncmp(at, "*3\r\n", 4) == 0);
        for (n = 0; n < 3; n++) {
            relet_span key;

            key.n = (size_t)strtol(strchr(at, '$') + 1, NULL, 10);
            key.p = strchr(strchr(at, '$'), '\n') + 1;
            at = key.p + key.n;
            ASSERT_EQ(rlt_hashslot_of(c.key), rlt_hashslot_of(key));
        }
        t_world_end(&w);
    }
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
TEST wake_ups_are_not_told(void)
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
TEST a_refused_wake_up_is_wished_for_again_on_the_next_link(void)
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

/* ------------------------------------------------- programs that are not ours */

#define T_CAD "EVAL \"if redis.call('GET',KEYS[1])==ARGV[1] then return " \
    "redis.call('DEL',KEYS[1]) end return 0\" 1 leader:n them"
#define T_CAE "EVAL \"if redis.call('GET',KEYS[1])==ARGV[1] then return " \
    "redis.call('PEXPIRE',KEYS[1],10000) end return 0\" 1 leader:n them"

TEST another_program_is_kept_out_while_we_hold(void)
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

TEST we_are_kept_out_while_another_program_holds(void)
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

TEST what_was_taken_from_us_is_lost(void)
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

/* ----------------------------------------------------------------- bad days
 *
 * Clients are paused, cut off, stopped and started at random, and scripts are
 * flushed; then all trouble ends, and one client must lead. */

static void t_trouble(t_world *w, rlt_rand *dice)
{
    int i = (int)rlt_rand_below(dice, (uint64_t)w->clients);

    switch (rlt_rand_below(dice, 9)) {
    case 0:
        w->paused[i] = !w->paused[i];
        break;
    case 1:
        w->no_way_in[i] = !w->no_way_in[i];
        break;
    case 2:
        w->no_way_out[i] = !w->no_way_out[i];
        break;
    case 3:
    case 4:
        if (!w->paused[i])
            t_world_cut(w, i);
        break;
    case 5:
        w->refusing = !w->refusing;
        break;
    case 6:
        (void)t_world_ask(w, "SCRIPT FLUSH");
        break;
    case 7:
        if (!w->paused[i])
            (void)relet_lease_stop(w->p[i].r, 0);
        break;
    case 8:
        if (!w->paused[i] && relet_lease_work_done(w->p[i].r, 0) < 0)
            (void)t_lead(w, i, "n");
        break;
    }
}

static int t_all_well(t_world *w)
{
    int i, leaders = 0;

    w->refusing = 0;
    for (i = 0; i < w->clients; i++)
        w->paused[i] = w->no_way_in[i] = w->no_way_out[i] = 0;
    t_world_pass(w, 60000);
    for (i = 0; i < w->clients; i++)
        if (relet_lease_stop(w->p[i].r, 0) == 0)
            (void)relet_lease_work_done(w->p[i].r, 0);
    t_world_pass(w, 30000);
    for (i = 0; i < w->clients; i++)
        if (t_lead(w, i, "n") != 0)
            return 0; /* the old lease has not ended */
    t_world_pass(w, 1000);
    for (i = 0; i < w->clients; i++)
        leaders += t_leads(w, i);
    return leaders == 1;
}

/* 1 if GAINED and LOST alternate, and ENDED never comes while leading. */
static int t_in_order(t_world *w, int i)
{
    const char *line;
    int led = 0;

    while ((line = t_world_told(w, i))[0] != '\0') {
        if (strncmp(line, "lease gained", 12) == 0) {
            if (led)
                return 0;
            led = 1;
        } else if (strncmp(line, "lease lost", 10) == 0) {
            if (!led)
                return 0;
            led = 0;
        } else if (strncmp(line, "lease ended", 11) == 0 && led) {
            return 0;
        }
    }
    return 1;
}

TEST two_never_lead_on_a_bad_day_and_one_does_after_it(void)
{
    rlt_rand dice;
    t_world w;
    int seed, i;

    for (seed = 0; seed < 60; seed++) {
        rlt_rand_seed(&dice, (uint64_t)seed);
        t_world_start(&w, 3);
        for (i = 0; i < 3; i++)
            (void)t_lead(&w, i, "n");
        for (i = 0; i < 60; i++) {
            t_world_pass(&w, (relet_time)rlt_rand_below(&dice, 4000));
            t_trouble(&w, &dice);
        }
        ASSERT_EQ_FMT(0, w.both_lead, "%d");
        if (!t_all_well(&w)) {
            printf("seed %d\n", seed);
            FAILm("nobody leads");
        }
        for (i = 0; i < 3; i++)
            ASSERT(t_in_order(&w, i));
        t_world_end(&w);
    }
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(one_of_three_leads_and_goes_on_leading);
    RUN_TEST(a_release_wakes_one_follower_at_once);
    RUN_TEST(a_killed_leader_is_followed_when_its_lease_ends);
    RUN_TEST(a_dead_sleeper_is_passed_over);
    RUN_TEST(a_follower_that_leaves_passes_its_wake_up_on);
    RUN_TEST(a_lost_message_wakes_every_follower);
    RUN_TEST(a_grant_given_back_wakes_who_waits_in_the_same_client);
    RUN_TEST(tokens_grow_with_each_leader);
    RUN_TEST(a_paused_leader_hears_of_the_loss_first);
    RUN_TEST(a_silent_link_ends_the_belief_in_time);
    RUN_TEST(renewals_without_answers_do_not_count);
    RUN_TEST(one_broken_link_is_no_loss);
    RUN_TEST(a_link_that_swallows_a_renewal_is_left_while_there_is_time);
    RUN_TEST(a_link_that_talks_is_kept_though_a_renewal_is_not_answered_yet);
    RUN_TEST(an_answer_that_is_here_saves_the_link_though_it_is_judged_late);
    RUN_TEST(a_command_that_has_time_left_is_waited_for_before_a_renewal);
    RUN_TEST(a_command_whose_time_is_up_does_not_keep_a_silent_link);
    RUN_TEST(a_short_silence_is_no_sign_of_death_however_short_the_lease);
    RUN_TEST(a_lost_answer_to_the_first_request_costs_nothing);
    RUN_TEST(a_request_does_not_outlive_its_link);
    RUN_TEST(scripts_that_were_flushed_are_sent_again);
    RUN_TEST(a_full_server_still_renews_and_releases);
    RUN_TEST(an_operator_who_deletes_the_key_is_heard);
    RUN_TEST(a_key_of_another_type_is_trouble_told_once);
    RUN_TEST(a_server_clock_that_jumps_ends_each_belief);
    RUN_TEST(nobody_leads_on_a_clock_that_stands_still);
    RUN_TEST(a_stop_keeps_the_lease_until_the_work_has_stopped);
    RUN_TEST(a_stop_that_nobody_follows_up_ends_with_the_grace);
    RUN_TEST(a_grant_that_comes_after_the_stop_is_released);
    RUN_TEST(
        without_a_link_a_stop_is_over_when_nobody_believes_in_the_lease);
    RUN_TEST(a_link_that_comes_back_in_time_carries_the_release);
    RUN_TEST(a_client_that_is_stopped_tells_the_end_of_its_leases);
    RUN_TEST(a_lease_can_be_started_again);
    RUN_TEST(a_lock_that_is_not_had_in_time_ends_by_itself);
    RUN_TEST(a_lock_is_lost_once_and_not_asked_for_again);
    RUN_TEST(three_contenders_in_one_client_take_turns);
    RUN_TEST(groups_that_overlap_do_not_block_each_other);
    RUN_TEST(one_that_is_lost_takes_those_behind_it_along);
    RUN_TEST(without_an_election_one_leads_at_once);
    RUN_TEST(a_grant_without_its_copies_is_given_back);
    RUN_TEST(after_a_failover_nobody_is_let_in_for_the_quarantine);
    RUN_TEST(a_release_that_a_failover_forgot_is_no_way_past_the_quarantine);
    RUN_TEST(a_wrong_setting_is_refused_by_name);
    RUN_TEST(a_key_may_hold_any_byte);
    RUN_TEST(a_brace_that_closes_nothing_is_refused_by_name);
    RUN_TEST(a_hash_tag_alone_is_refused_by_name);
    RUN_TEST(a_lock_and_a_leader_of_one_name_are_two_leases);
    RUN_TEST(the_keys_of_a_lease_share_a_slot);
    RUN_TEST(without_its_channel_a_follower_goes_by_the_clock);
    RUN_TEST(wake_ups_are_not_told);
    RUN_TEST(a_refused_wake_up_is_wished_for_again_on_the_next_link);
    RUN_TEST(a_follower_that_began_without_memory_is_woken_once_there_is_some);
    RUN_TEST(a_follower_that_waits_asks_about_once_a_lease);
    RUN_TEST(output_that_is_full_does_not_stop_a_renewal);
    RUN_TEST(another_program_is_kept_out_while_we_hold);
    RUN_TEST(we_are_kept_out_while_another_program_holds);
    RUN_TEST(what_was_taken_from_us_is_lost);
    RUN_TEST(two_never_lead_on_a_bad_day_and_one_does_after_it);
    GREATEST_MAIN_END();
}
