/* SPDX-License-Identifier: MIT
 *
 * hold_trouble_test.c - leases of whole clients on a server under faults:
 * pauses, links that break or swallow bytes, clocks, failovers, and random
 * faults. */
#include "hold_rig.h"
#include "rand.h"

/* ------------------------------------------------------------ lost leases
 *
 * After these faults another client may get the lease, so the leader must not
 * believe in it any more. */

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

TEST a_single_broken_link_is_no_loss(void)
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

/* Drops all bytes until the client closes its link, or for ms. The client runs
 * only at its own deadlines. Returns 1 if the client opened a new link. */
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

/* A renewal has the time of its lease, and not the time of a command. */
TEST a_short_timeout_of_commands_hides_no_silent_link(void)
{
    relet_config c = t_config();
    t_world w;

    c.leases_max = 1;
    c.timeout_ms = 500;
    t_world_start_with(&w, 1, &c);
    ASSERT_EQ(0, t_lead(&w, 0, "n"));
    t_world_pass(&w, 1000);
    ASSERT(t_swallow(&w, 0, 8000));
    t_world_pass(&w, 30000);
    T_HEARD(&w, 0, "lease gained 7");
    T_HEARD(&w, 0, "");
    ASSERT(t_leads(&w, 0));
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

TEST a_key_deleted_by_an_operator_ends_the_lease(void)
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

TEST no_contender_leads_while_the_server_clock_stands_still(void)
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

/* ----------------------------------------------------- copies and failovers */

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

TEST no_lease_is_granted_during_the_quarantine_after_a_failover(void)
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
TEST a_release_lost_in_a_failover_does_not_end_the_quarantine(void)
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

/* ------------------------------------------------------------ random faults
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

TEST no_two_contenders_lead_under_faults_and_one_leads_afterwards(void)
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
    RUN_TEST(a_paused_leader_hears_of_the_loss_first);
    RUN_TEST(a_silent_link_ends_the_belief_in_time);
    RUN_TEST(renewals_without_answers_do_not_count);
    RUN_TEST(a_single_broken_link_is_no_loss);
    RUN_TEST(a_link_that_swallows_a_renewal_is_left_while_there_is_time);
    RUN_TEST(a_short_timeout_of_commands_hides_no_silent_link);
    RUN_TEST(a_link_that_talks_is_kept_though_a_renewal_is_not_answered_yet);
    RUN_TEST(an_answer_that_is_here_saves_the_link_though_it_is_judged_late);
    RUN_TEST(a_command_that_has_time_left_is_waited_for_before_a_renewal);
    RUN_TEST(a_command_whose_time_is_up_does_not_keep_a_silent_link);
    RUN_TEST(a_short_silence_is_no_sign_of_death_however_short_the_lease);
    RUN_TEST(a_lost_answer_to_the_first_request_costs_nothing);
    RUN_TEST(a_request_does_not_outlive_its_link);
    RUN_TEST(scripts_that_were_flushed_are_sent_again);
    RUN_TEST(a_full_server_still_renews_and_releases);
    RUN_TEST(a_key_deleted_by_an_operator_ends_the_lease);
    RUN_TEST(a_key_of_another_type_is_trouble_told_once);
    RUN_TEST(a_server_clock_that_jumps_ends_each_belief);
    RUN_TEST(no_contender_leads_while_the_server_clock_stands_still);
    RUN_TEST(a_grant_without_its_copies_is_given_back);
    RUN_TEST(no_lease_is_granted_during_the_quarantine_after_a_failover);
    RUN_TEST(a_release_lost_in_a_failover_does_not_end_the_quarantine);
    RUN_TEST(no_two_contenders_lead_under_faults_and_one_leads_afterwards);
    GREATEST_MAIN_END();
}
