/* SPDX-License-Identifier: MIT
 *
 * lease_test.c - tests of a lease's state machine, for each cell of the table
 * in lease.h. */
#include "lease_rig.h"

#include "greatest.h"

typedef struct t_rig {
    t_clock c;
    rlt_lease l;
    rlt_request want;
} t_rig;

static void t_begin(t_rig *t)
{
    rlt_lease_plan plan = t_lease_plan();

    t_clock_begin(&t->c);
    rlt_lease_init(&t->l, &plan, &t->c.rand);
}

static rlt_lease_result t_pass(t_rig *t, relet_time ms)
{
    t_clock_pass(&t->c, ms);
    return rlt_lease_tick(&t->l, t->c.now, 1);
}

/* Returns the request that the lease sends now. */
static rlt_want t_sent(t_rig *t)
{
    t->want.what = RLT_WANT_NOTHING;
    if (rlt_lease_want(&t->l, t->c.now, t->c.serial + 1, &t->want))
        t->c.serial++;
    return t->want.what;
}

/* Gives the lease this answer of the server; NULL: there was none. */
static rlt_lease_result t_hear(t_rig *t, const char *bytes)
{
    rlt_reply r = t_reply_to(&t->c, t->c.serial, bytes);

    return rlt_lease_reply(&t->l, t->c.now, &r);
}

static rlt_lease_result t_answer(t_rig *t, int status, long token, long left)
{
    rlt_reply r = t_script(&t->c, status, token, left, 2);

    return rlt_lease_reply(&t->l, t->c.now, &r);
}

static void t_ask(t_rig *t)
{
    t_begin(t);
    rlt_lease_ask(&t->l);
    (void)t_sent(t);
}

static void t_ask_copies(t_rig *t, uint32_t replicas, int fsync)
{
    t_begin(t);
    t->l.plan.replicas = replicas;
    t->l.plan.fsync = fsync;
    rlt_lease_ask(&t->l);
    (void)t_sent(t);
}

static void t_hold(t_rig *t)
{
    t_ask(t);
    (void)t_answer(t, 1, 50, T_TTL);
}

/* The lease is held, and a renewal is under way. */
static void t_renew(t_rig *t)
{
    t_hold(t);
    (void)t_pass(t, 3334);
    (void)t_sent(t);
}

/* ------------------------------------------------------------------ asking */

TEST a_lease_sends_one_request_when_it_is_asked_for(void)
{
    t_rig t;

    t_begin(&t);
    ASSERT_EQ(RLT_WANT_NOTHING, t_sent(&t));
    rlt_lease_ask(&t.l);
    ASSERT_EQ(0, rlt_lease_deadline(&t.l, 1));
    ASSERT_EQ(RLT_WANT_ACQUIRE, t_sent(&t));
    ASSERT_EQ(1, t.want.term);
    ASSERT_EQ(T_TTL / 2, t.want.timeout_ms);
    ASSERT_EQ(RLT_WANT_NOTHING, t_sent(&t));
    ASSERT_EQ(RELET_NEVER, rlt_lease_deadline(&t.l, 1));
    PASS();
}

TEST a_grant_is_believed_from_the_asking_and_not_from_the_answer(void)
{
    t_rig t;

    t_ask(&t);
    (void)t_pass(&t, 4000);
    ASSERT_EQ(RLT_LEASE_WAS_GRANTED, t_answer(&t, 1, 50, T_TTL));
    ASSERT_EQ(RLT_LEASE_HELD, t.l.state);
    ASSERT_EQ(1000 + T_TRUST, t.l.valid_until);
    ASSERT_EQ(50, t.l.token);
    PASS();
}

TEST a_grant_that_has_expired_does_not_count(void)
{
    t_rig t;

    t_ask(&t);
    (void)t_pass(&t, T_TRUST);
    ASSERT_EQ(RLT_LEASE_WAS_REFUSED, t_answer(&t, 1, 50, T_TTL));
    ASSERT_EQ(RELET_WHY_EXPIRED, t.l.why);
    ASSERT_EQ(RLT_LEASE_NONE, t.l.state);
    PASS();
}

TEST a_refusal_says_for_how_long(void)
{
    t_rig t;

    t_ask(&t);
    ASSERT_EQ(RLT_LEASE_WAS_REFUSED, t_answer(&t, 0, 50, 777));
    ASSERT_EQ(RELET_WHY_TAKEN, t.l.why);
    ASSERT_EQ(777, t.l.left_ms);
    ASSERT_EQ(2, t.l.place);
    ASSERT_EQ(RLT_LEASE_NONE, t.l.state);
    PASS();
}

TEST a_term_lasts_until_it_is_granted(void)
{
    t_rig t;

    t_ask(&t);
    (void)t_answer(&t, 0, 50, 777);
    rlt_lease_ask(&t.l);
    (void)t_sent(&t);
    ASSERT_EQ(1, t.want.term);
    (void)t_answer(&t, -1, 50, 0);
    ASSERT_EQ(RELET_WHY_GONE, t.l.why);
    rlt_lease_ask(&t.l);
    (void)t_sent(&t);
    ASSERT_EQ(2, t.want.term);
    PASS();
}

TEST a_quarantine_is_a_refusal(void)
{
    t_rig t;

    t_ask(&t);
    ASSERT_EQ(RLT_LEASE_WAS_REFUSED, t_answer(&t, -2, 0, 500));
    ASSERT_EQ(RELET_WHY_QUARANTINE, t.l.why);
    ASSERT_EQ(500, t.l.left_ms);
    PASS();
}

TEST an_error_is_a_refusal_with_its_text(void)
{
    t_rig t;

    t_ask(&t);
    ASSERT_EQ(RLT_LEASE_WAS_REFUSED, t_hear(&t, "-WRONGTYPE x\r\n"));
    ASSERT_EQ(RELET_WHY_REFUSED, t.l.why);
    ASSERT_EQ(0, memcmp(t.l.text.p, "WRONGTYPE x", t.l.text.n));
    PASS();
}

TEST an_answer_that_no_lease_script_gives_counts_as_an_error(void)
{
    static const char *const odd[] = {
        "+OK\r\n", "_\r\n", "*0\r\n", "*4\r\n:1\r\n:2\r\n:3\r\n+x\r\n",
        "*4\r\n+x\r\n:2\r\n:3\r\n:4\r\n", "*4\r\n:1\r\n+x\r\n:3\r\n:4\r\n",
        "*4\r\n:1\r\n:2\r\n+x\r\n:4\r\n", "*4\r\n:1\r\n:2\r\n:3\r\n:-4\r\n",
        "*5\r\n:1\r\n:2\r\n:3\r\n:4\r\n:-5\r\n",
        "*4\r\n:1\r\n:-2\r\n:3\r\n:4\r\n", "%1\r\n:1\r\n:2\r\n"};
    size_t i;
    t_rig t;

    for (i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        t_ask(&t);
        ASSERT_EQ(RLT_LEASE_WAS_REFUSED, t_hear(&t, odd[i]));
        ASSERT_EQ(RELET_WHY_REFUSED, t.l.why);
        t_renew(&t);
        ASSERT_EQ(RLT_LEASE_WAS_KEPT, t_hear(&t, odd[i]));
        ASSERT_EQ(RLT_LEASE_HELD, t.l.state);
    }
    PASS();
}

TEST without_an_answer_the_term_is_asked_for_again(void)
{
    t_rig t;

    t_ask(&t);
    ASSERT_EQ(RLT_LEASE_WAS_REFUSED, t_hear(&t, NULL));
    ASSERT_EQ(RELET_WHY_BROKEN, t.l.why);
    rlt_lease_ask(&t.l);
    (void)t_sent(&t);
    ASSERT_EQ(1, t.want.term);
    PASS();
}

TEST an_answer_to_an_earlier_request_does_not_count(void)
{
    rlt_reply late;
    t_rig t;

    t_ask(&t);
    (void)t_hear(&t, NULL);
    rlt_lease_ask(&t.l);
    (void)t_sent(&t);
    late = t_script(&t.c, 1, 50, T_TTL, 0);
    late.serial--;
    ASSERT_EQ(RLT_LEASE_WAS_NONE, rlt_lease_reply(&t.l, t.c.now, &late));
    ASSERT_EQ(RLT_LEASE_ASKING, t.l.state);
    PASS();
}

/* ------------------------------------------------------------------ copies */

TEST an_error_about_the_copies_of_a_renewal_is_not_a_loss(void)
{
    relet_time until;
    t_rig t;

    t_ask_copies(&t, 1, 0);
    (void)t_answer(&t, 1, 50, T_TTL);
    (void)t_sent(&t);
    (void)t_hear(&t, ":1\r\n");
    until = t.l.valid_until;
    (void)t_pass(&t, 3334);
    (void)t_sent(&t);
    (void)t_answer(&t, 1, 50, T_TTL);
    ASSERT_EQ(0, rlt_lease_deadline(&t.l, 1)); /* the copies must be counted */
    ASSERT_EQ(RLT_WANT_CONFIRM, t_sent(&t));
    ASSERT_EQ(until, rlt_lease_deadline(&t.l, 1));
    ASSERT_EQ(RLT_LEASE_WAS_KEPT, t_hear(&t, "-ERR no\r\n"));
    ASSERT_EQ(RLT_LEASE_HELD, t.l.state);
    ASSERT_EQ(until, t.l.valid_until);
    PASS();
}

TEST one_disk_is_enough_when_no_replica_was_asked_for(void)
{
    t_rig t;

    t_ask_copies(&t, 0, 1);
    ASSERT_EQ(RLT_LEASE_WAS_NONE, t_answer(&t, 1, 50, T_TTL));
    ASSERT_EQ(RLT_WANT_CONFIRM, t_sent(&t));
    ASSERT_EQ(RLT_LEASE_WAS_GRANTED, t_hear(&t, "*2\r\n:1\r\n:0\r\n"));
    PASS();
}

TEST a_grant_counts_once_it_has_its_copies(void)
{
    t_rig t;

    t_ask_copies(&t, 2, 0);
    ASSERT_EQ(RLT_LEASE_WAS_NONE, t_answer(&t, 1, 50, T_TTL));
    ASSERT_EQ(RLT_LEASE_CONFIRMING, t.l.state);
    ASSERT_EQ(RLT_WANT_CONFIRM, t_sent(&t));
    (void)t_pass(&t, 500);
    ASSERT_EQ(RLT_LEASE_WAS_GRANTED, t_hear(&t, ":2\r\n"));
    ASSERT_EQ(1000 + T_TRUST, t.l.valid_until);
    PASS();
}

TEST copies_confirmed_too_late_do_not_count(void)
{
    t_rig t;

    t_ask_copies(&t, 1, 0);
    (void)t_answer(&t, 1, 50, T_TTL);
    (void)t_sent(&t);
    (void)t_pass(&t, T_TRUST);
    ASSERT_EQ(RLT_LEASE_WAS_REFUSED, t_hear(&t, ":1\r\n"));
    ASSERT_EQ(RELET_WHY_EXPIRED, t.l.why);
    PASS();
}

TEST a_grant_with_too_few_copies_is_released(void)
{
    static const char *const few[] = {":1\r\n", "-ERR no\r\n", "+OK\r\n"};
    size_t i;
    t_rig t;

    for (i = 0; i < 3; i++) {
        t_ask_copies(&t, 2, 0);
        (void)t_answer(&t, 1, 50, T_TTL);
        (void)t_sent(&t);
        ASSERT_EQ(RLT_LEASE_WAS_REFUSED, t_hear(&t, few[i]));
        ASSERT_EQ(RELET_WHY_NOT_REPLICATED, t.l.why);
        ASSERT_EQ(RLT_WANT_RELEASE, t_sent(&t));
        ASSERT_EQ(50, t.want.token);
    }
    PASS();
}

TEST a_grant_whose_copies_are_not_confirmed_is_requested_again(void)
{
    t_rig t;

    t_ask_copies(&t, 1, 0);
    (void)t_answer(&t, 1, 50, T_TTL);
    (void)t_sent(&t);
    ASSERT_EQ(RLT_LEASE_WAS_REFUSED, t_hear(&t, NULL));
    ASSERT_EQ(RELET_WHY_BROKEN, t.l.why);
    ASSERT_EQ(RLT_LEASE_NONE, t.l.state);
    PASS();
}

TEST a_renewal_without_its_copies_does_not_count(void)
{
    relet_time until;
    t_rig t;

    t_ask_copies(&t, 1, 0);
    (void)t_answer(&t, 1, 50, T_TTL);
    (void)t_sent(&t);
    (void)t_hear(&t, ":1\r\n");
    until = t.l.valid_until;
    (void)t_pass(&t, 3334);
    ASSERT_EQ(RLT_WANT_RENEW, t_sent(&t));
    (void)t_answer(&t, 1, 50, T_TTL);
    ASSERT_EQ(until, t.l.valid_until);
    ASSERT_EQ(RLT_WANT_CONFIRM, t_sent(&t));
    ASSERT_EQ(RLT_LEASE_WAS_KEPT, t_hear(&t, ":0\r\n"));
    ASSERT_EQ(until, t.l.valid_until);
    (void)t_pass(&t, 100);
    ASSERT_EQ(RLT_WANT_RENEW, t_sent(&t));
    (void)t_answer(&t, 1, 50, T_TTL);
    (void)t_sent(&t);
    (void)t_hear(&t, ":1\r\n");
    ASSERT_EQ(until + 3334 + 100, t.l.valid_until);
    PASS();
}

TEST copies_on_disk_are_counted_on_the_server_and_its_replicas(void)
{
    static const char *const said[] = {"*2\r\n:0\r\n:1\r\n",
                                       "*2\r\n:1\r\n:0\r\n", ":1\r\n"};
    size_t i;
    t_rig t;

    for (i = 0; i < 3; i++) {
        t_ask_copies(&t, 1, 1);
        (void)t_answer(&t, 1, 50, T_TTL);
        (void)t_sent(&t);
        ASSERT_EQ(RLT_LEASE_WAS_REFUSED, t_hear(&t, said[i]));
    }
    t_ask_copies(&t, 1, 1);
    (void)t_answer(&t, 1, 50, T_TTL);
    (void)t_sent(&t);
    ASSERT_EQ(RLT_LEASE_WAS_GRANTED, t_hear(&t, "*2\r\n:1\r\n:1\r\n"));
    PASS();
}

/* ----------------------------------------------------------------- holding */

TEST a_renewal_is_sent_at_a_third_with_jitter(void)
{
    relet_time first = 0, last = 0;
    t_rig t;
    int i;

    for (i = 0; i < 50; i++) {
        t_begin(&t);
        rlt_rand_seed(&t.c.rand, (uint64_t)i);
        rlt_lease_ask(&t.l);
        (void)t_sent(&t);
        (void)t_answer(&t, 1, 50, T_TTL);
        first = i == 0 ? t.l.again_at : RLT_MIN(first, t.l.again_at);
        last = RLT_MAX(last, t.l.again_at);
    }
    ASSERT(first >= 1000 + 3333 - 417);
    ASSERT(last <= 1000 + 3333);
    ASSERT(last - first > 200);
    PASS();
}

TEST a_renewal_extends_from_its_sending(void)
{
    t_rig t;

    t_renew(&t);
    ASSERT_EQ(RLT_WANT_RENEW, t.want.what);
    ASSERT_EQ(50, t.want.token);
    ASSERT_EQ(T_TRUST - 3334, t.want.timeout_ms);
    (void)t_pass(&t, 2000);
    ASSERT_EQ(RLT_LEASE_WAS_RENEWED, t_answer(&t, 1, 50, T_TTL));
    ASSERT_EQ(1000 + 3334 + T_TRUST, t.l.valid_until);
    PASS();
}

TEST one_error_is_not_a_loss(void)
{
    t_rig t;

    t_renew(&t);
    ASSERT_EQ(RLT_LEASE_WAS_KEPT, t_hear(&t, "-LOADING x\r\n"));
    ASSERT_EQ(RLT_LEASE_HELD, t.l.state);
    ASSERT(t.l.again_at > t.c.now && t.l.again_at <= t.c.now + 20);
    (void)t_pass(&t, 20);
    ASSERT_EQ(RLT_WANT_RENEW, t_sent(&t));
    PASS();
}

TEST failed_renewals_come_less_and_less_often(void)
{
    t_rig t;
    int i;

    t_renew(&t);
    for (i = 0; t.l.state == RLT_LEASE_HELD; i++) {
        (void)t_hear(&t, "-LOADING x\r\n");
        ASSERT(t.l.again_at <= t.c.now + T_TTL / 6);
        (void)t_pass(&t, t.l.again_at - t.c.now);
        (void)t_sent(&t);
    }
    ASSERT(i >= 6 && i <= 25);
    PASS();
}

TEST a_lease_is_renewed_at_once_after_a_broken_link(void)
{
    t_rig t;

    t_renew(&t);
    (void)t_hear(&t, NULL);
    ASSERT_EQ(RLT_WANT_RENEW, t_sent(&t));
    (void)t_hear(&t, NULL); /* no second time at once */
    ASSERT_EQ(RLT_WANT_NOTHING, t_sent(&t));
    PASS();
}

TEST another_holder_or_a_newer_token_is_a_loss(void)
{
    t_rig t;

    t_renew(&t);
    ASSERT_EQ(RLT_LEASE_WAS_LOST, t_answer(&t, 0, 50, 900));
    ASSERT_EQ(RELET_WHY_TAKEN, t.l.why);
    ASSERT_EQ(900, t.l.left_ms);
    t_renew(&t);
    ASSERT_EQ(RLT_LEASE_WAS_LOST, t_answer(&t, 1, 51, 900));
    ASSERT_EQ(RELET_WHY_TAKEN, t.l.why);
    PASS();
}

TEST a_key_that_is_gone_is_a_loss(void)
{
    t_rig t;

    t_renew(&t);
    ASSERT_EQ(RLT_LEASE_WAS_LOST, t_answer(&t, -1, 50, 0));
    ASSERT_EQ(RELET_WHY_GONE, t.l.why);
    PASS();
}

TEST a_lease_that_is_not_renewed_ends_before_it_expires(void)
{
    t_rig t;

    t_renew(&t);
    ASSERT_EQ(RLT_LEASE_WAS_NONE, t_pass(&t, T_TRUST - 3334 - 1));
    ASSERT_EQ(1000 + T_TRUST, rlt_lease_deadline(&t.l, 1));
    ASSERT_EQ(1000 + T_TRUST, rlt_lease_deadline(&t.l, 0));
    ASSERT_EQ(RLT_LEASE_WAS_LOST, t_pass(&t, 1));
    ASSERT_EQ(RELET_WHY_EXPIRED, t.l.why);
    PASS();
}

TEST a_late_answer_does_not_bring_a_lease_back(void)
{
    t_rig t;

    t_renew(&t);
    t_clock_pass(&t.c, T_TRUST); /* a pause without a tick */
    ASSERT_EQ(RLT_LEASE_WAS_LOST, t_answer(&t, 1, 50, T_TTL));
    ASSERT_EQ(RELET_WHY_EXPIRED, t.l.why);
    ASSERT_EQ(RLT_LEASE_WAS_NONE, t_answer(&t, 1, 50, T_TTL));
    ASSERT_EQ(RLT_LEASE_NONE, t.l.state);
    PASS();
}

/* ------------------------------------------------------------------ clocks */

TEST a_server_clock_that_went_too_far_is_a_loss(void)
{
    t_rig t;

    t_renew(&t);
    t.c.server_us += 200000;
    ASSERT_EQ(RLT_LEASE_WAS_LOST, t_answer(&t, 1, 50, T_TTL));
    ASSERT_EQ(RELET_WHY_CLOCK, t.l.why);
    t_renew(&t);
    t.c.server_us -= 200000;
    ASSERT_EQ(RLT_LEASE_WAS_LOST, t_answer(&t, 1, 50, T_TTL));
    ASSERT_EQ(RELET_WHY_CLOCK, t.l.why);
    PASS();
}

TEST clocks_may_differ_a_little(void)
{
    t_rig t;

    t_renew(&t);
    t.c.server_us += 90000;
    ASSERT_EQ(RLT_LEASE_WAS_RENEWED, t_answer(&t, 1, 50, T_TTL));
    PASS();
}

/* The server read its clock before the slow answer began its way back. */
TEST a_slow_answer_is_no_sign_of_a_wrong_clock(void)
{
    t_rig t;

    t_renew(&t);
    t.c.now += 4000;
    ASSERT_EQ(RLT_LEASE_WAS_RENEWED, t_answer(&t, 1, 50, T_TTL));
    t.c.server_us += 4000000;
    (void)t_pass(&t, 1000);
    ASSERT_EQ(RLT_WANT_RENEW, t_sent(&t));
    ASSERT_EQ(RLT_LEASE_WAS_RENEWED, t_answer(&t, 1, 50, T_TTL));
    PASS();
}

TEST a_grant_by_a_wrong_clock_is_released(void)
{
    t_rig t;

    t_ask(&t);
    (void)t_answer(&t, 0, 0, 100);
    (void)t_pass(&t, 100);
    t.c.server_us += 60000000;
    rlt_lease_ask(&t.l);
    (void)t_sent(&t);
    ASSERT_EQ(RLT_LEASE_WAS_REFUSED, t_answer(&t, 1, 50, T_TTL));
    ASSERT_EQ(RELET_WHY_CLOCK, t.l.why);
    ASSERT_EQ(RLT_WANT_RELEASE, t_sent(&t));
    PASS();
}

/* --------------------------------------------------------------- releasing */

TEST a_release_names_the_grant(void)
{
    t_rig t;

    t_hold(&t);
    ASSERT_EQ(RLT_LEASE_WAS_NONE, rlt_lease_release(&t.l, t.c.now));
    ASSERT_EQ(RLT_WANT_RELEASE, t_sent(&t));
    ASSERT_EQ(50, t.want.token);
    ASSERT_EQ(1, t.want.term);
    ASSERT_EQ(RLT_LEASE_WAS_RELEASED, t_answer(&t, 1, 50, 1));
    ASSERT_EQ(RLT_LEASE_NONE, t.l.state);
    PASS();
}

TEST a_release_of_a_lost_lease_counts_as_a_release(void)
{
    t_rig t;

    t_hold(&t);
    (void)rlt_lease_release(&t.l, t.c.now);
    (void)t_sent(&t);
    ASSERT_EQ(RLT_LEASE_WAS_RELEASED, t_answer(&t, 0, 51, 1));
    PASS();
}

TEST a_release_is_sent_behind_a_request_under_way(void)
{
    rlt_reply grant;
    t_rig t;

    t_ask(&t);
    (void)rlt_lease_release(&t.l, t.c.now);
    ASSERT_EQ(RLT_WANT_RELEASE, t_sent(&t));
    ASSERT_EQ(0, t.want.token);
    grant = t_script(&t.c, 1, 50, T_TTL, 0);
    grant.serial--;
    ASSERT_EQ(RLT_LEASE_WAS_NONE, rlt_lease_reply(&t.l, t.c.now, &grant));
    ASSERT_EQ(RLT_LEASE_RELEASING, t.l.state);
    ASSERT_EQ(RLT_LEASE_WAS_RELEASED, t_answer(&t, 1, 50, 1));
    PASS();
}

TEST a_failed_release_is_tried_until_the_lease_has_ended(void)
{
    t_rig t;
    int i;

    t_hold(&t);
    (void)rlt_lease_release(&t.l, t.c.now);
    for (i = 0; t_sent(&t) == RLT_WANT_RELEASE; i++) {
        ASSERT_EQ(RLT_LEASE_WAS_KEPT, t_hear(&t, i % 2 ? NULL : "-BUSY\r\n"));
        (void)t_pass(&t, RLT_MAX(0, t.l.again_at - t.c.now));
    }
    ASSERT(i > 5 && i < 50);
    ASSERT_EQ(RLT_LEASE_NONE, t.l.state);
    ASSERT(t.c.now >= 1000 + 2 * T_TTL);
    PASS();
}

TEST a_release_waits_for_a_link_while_the_lease_could_be_believed_in(void)
{
    t_rig t;

    t_hold(&t);
    (void)rlt_lease_release(&t.l, t.c.now);
    ASSERT_EQ(1000 + T_TRUST, rlt_lease_deadline(&t.l, 0));
    t_clock_pass(&t.c, T_TRUST - 1);
    ASSERT_EQ(RLT_LEASE_WAS_NONE, rlt_lease_tick(&t.l, t.c.now, 0));
    t_clock_pass(&t.c, 1);
    ASSERT_EQ(RLT_LEASE_WAS_RELEASED, rlt_lease_tick(&t.l, t.c.now, 0));
    PASS();
}

/* The server that takes over may know of the grant although the client does
 * not. */
TEST a_release_ends_a_term_whose_grant_was_not_received(void)
{
    t_rig t;

    t_ask(&t);
    (void)rlt_lease_release(&t.l, t.c.now);
    (void)t_sent(&t);
    ASSERT_EQ(1, t.want.term);
    (void)t_answer(&t, 1, 50, 1);
    rlt_lease_ask(&t.l);
    (void)t_sent(&t);
    ASSERT_EQ(2, t.want.term);
    PASS();
}

TEST a_lease_that_was_never_requested_is_released_at_once(void)
{
    t_rig t;

    t_begin(&t);
    rlt_lease_ask(&t.l);
    ASSERT_EQ(RLT_LEASE_WAS_RELEASED, rlt_lease_release(&t.l, t.c.now));
    ASSERT_EQ(RLT_WANT_NOTHING, t_sent(&t));
    PASS();
}

TEST a_forgotten_lease_sends_no_request(void)
{
    t_rig t;

    t_renew(&t);
    rlt_lease_forget(&t.l);
    ASSERT_EQ(RLT_WANT_NOTHING, t_sent(&t));
    ASSERT_EQ(RELET_NEVER, rlt_lease_deadline(&t.l, 1));
    ASSERT_EQ(RLT_LEASE_WAS_NONE, t_pass(&t, 100000));
    PASS();
}

TEST trust_ends_before_the_lease_by_drift_and_margin(void)
{
    ASSERT_EQ(T_TRUST, rlt_trust_ms(T_TTL));
    ASSERT_EQ(50 - 1 - 5, rlt_trust_ms(50));
    ASSERT_EQ(1000000000 - 200001 - 10000000, rlt_trust_ms(1000000000));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_lease_sends_one_request_when_it_is_asked_for);
    RUN_TEST(a_grant_is_believed_from_the_asking_and_not_from_the_answer);
    RUN_TEST(a_grant_that_has_expired_does_not_count);
    RUN_TEST(a_refusal_says_for_how_long);
    RUN_TEST(a_term_lasts_until_it_is_granted);
    RUN_TEST(a_quarantine_is_a_refusal);
    RUN_TEST(an_error_is_a_refusal_with_its_text);
    RUN_TEST(an_answer_that_no_lease_script_gives_counts_as_an_error);
    RUN_TEST(without_an_answer_the_term_is_asked_for_again);
    RUN_TEST(an_answer_to_an_earlier_request_does_not_count);
    RUN_TEST(an_error_about_the_copies_of_a_renewal_is_not_a_loss);
    RUN_TEST(one_disk_is_enough_when_no_replica_was_asked_for);
    RUN_TEST(a_grant_counts_once_it_has_its_copies);
    RUN_TEST(copies_confirmed_too_late_do_not_count);
    RUN_TEST(a_grant_with_too_few_copies_is_released);
    RUN_TEST(a_grant_whose_copies_are_not_confirmed_is_requested_again);
    RUN_TEST(a_renewal_without_its_copies_does_not_count);
    RUN_TEST(copies_on_disk_are_counted_on_the_server_and_its_replicas);
    RUN_TEST(a_renewal_is_sent_at_a_third_with_jitter);
    RUN_TEST(a_renewal_extends_from_its_sending);
    RUN_TEST(one_error_is_not_a_loss);
    RUN_TEST(failed_renewals_come_less_and_less_often);
    RUN_TEST(a_lease_is_renewed_at_once_after_a_broken_link);
    RUN_TEST(another_holder_or_a_newer_token_is_a_loss);
    RUN_TEST(a_key_that_is_gone_is_a_loss);
    RUN_TEST(a_lease_that_is_not_renewed_ends_before_it_expires);
    RUN_TEST(a_late_answer_does_not_bring_a_lease_back);
    RUN_TEST(a_server_clock_that_went_too_far_is_a_loss);
    RUN_TEST(clocks_may_differ_a_little);
    RUN_TEST(a_slow_answer_is_no_sign_of_a_wrong_clock);
    RUN_TEST(a_grant_by_a_wrong_clock_is_released);
    RUN_TEST(a_release_names_the_grant);
    RUN_TEST(a_release_of_a_lost_lease_counts_as_a_release);
    RUN_TEST(a_release_is_sent_behind_a_request_under_way);
    RUN_TEST(a_failed_release_is_tried_until_the_lease_has_ended);
    RUN_TEST(a_release_waits_for_a_link_while_the_lease_could_be_believed_in);
    RUN_TEST(a_release_ends_a_term_whose_grant_was_not_received);
    RUN_TEST(a_lease_that_was_never_requested_is_released_at_once);
    RUN_TEST(a_forgotten_lease_sends_no_request);
    RUN_TEST(trust_ends_before_the_lease_by_drift_and_margin);
    GREATEST_MAIN_END();
}
