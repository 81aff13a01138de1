/* SPDX-License-Identifier: MIT
 *
 * history_test.c - histories that have an order, and some that have none. */
#include "greatest.h"
#include "history.h"

#include <string.h>

#define T_TTL 1000000

typedef struct t_history {
    sim_act act[4000];
    size_t n;
} t_history;

static t_history t;

static sim_act *t_act(sim_act_kind what, uint32_t who, int64_t from,
                      int64_t to)
{
    sim_act *a = &t.act[t.n++];

    memset(a, 0, sizeof *a);
    a->what = what;
    a->who = who;
    a->from_us = from;
    a->to_us = to;
    a->ttl_us = T_TTL;
    a->term = 1;
    a->answered = 1;
    return a;
}

static sim_act *t_said(sim_act *a, int64_t status, uint64_t last)
{
    a->status = status;
    a->last = last;
    return a;
}

static sim_act *t_acquire(uint32_t who, int64_t from, int64_t to,
                          int64_t status, uint64_t last)
{
    return t_said(t_act(SIM_ACT_ACQUIRE, who, from, to), status, last);
}

static sim_act *t_renew(uint32_t who, uint64_t token, int64_t from, int64_t to,
                        int64_t status, uint64_t last)
{
    sim_act *a = t_said(t_act(SIM_ACT_RENEW, who, from, to), status, last);

    a->token = token;
    return a;
}

static sim_act *t_release(uint32_t who, uint64_t token, int64_t from,
                          int64_t to, int64_t status, uint64_t last)
{
    sim_act *a = t_said(t_act(SIM_ACT_RELEASE, who, from, to), status, last);

    a->token = token;
    return a;
}

static sim_verdict t_check(const sim_leap *leap)
{
    size_t culprit;

    return sim_history_check(t.act, t.n, leap, leap != NULL, &culprit);
}

#define T_ORDERED() ASSERT_EQ(SIM_ORDERED, t_check(NULL))
#define T_DISORDERED() ASSERT_EQ(SIM_DISORDERED, t_check(NULL))

TEST an_empty_history_has_an_order(void)
{
    T_ORDERED();
    PASS();
}

TEST a_grant_and_a_refusal_at_once_have_an_order(void)
{
    t_acquire(1, 0, 100, 1, 50);
    t_acquire(2, 10, 90, 0, 50);
    T_ORDERED();
    PASS();
}

TEST two_grants_without_an_end_between_have_no_order(void)
{
    t_acquire(1, 0, 100, 1, 50);
    t_acquire(2, 10, 90, 1, 51);
    T_DISORDERED();
    PASS();
}

TEST a_refusal_before_any_grant_has_no_order(void)
{
    t_acquire(2, 10, 90, 0, 50);
    t_acquire(1, 100, 200, 1, 50);
    T_DISORDERED();
    PASS();
}

TEST a_grant_follows_a_release(void)
{
    t_acquire(1, 0, 100, 1, 50);
    t_release(1, 50, 200, 300, 1, 50);
    t_acquire(2, 250, 400, 1, 51);
    T_ORDERED();
    PASS();
}

TEST a_grant_follows_an_end_and_not_sooner(void)
{
    t_acquire(1, 0, 100, 1, 50);
    t_acquire(2, T_TTL + 5000, T_TTL + 6000, 1, 51);
    T_ORDERED();
    t.act[1].from_us = T_TTL / 2;
    t.act[1].to_us = T_TTL / 2 + 100;
    T_DISORDERED();
    PASS();
}

TEST a_leap_of_the_clock_ends_only_the_lease_in_force(void)
{
    sim_leap leap;

    t_acquire(1, 1000, 1100, 1, 50);
    t_acquire(2, T_TTL / 2, T_TTL / 2 + 100, 1, 51);
    leap.from_us = leap.to_us = 500;
    ASSERT_EQ(SIM_DISORDERED, t_check(&leap));
    leap.from_us = leap.to_us = T_TTL / 4;
    ASSERT_EQ(SIM_ORDERED, t_check(&leap));
    leap.from_us = leap.to_us = T_TTL;
    ASSERT_EQ(SIM_DISORDERED, t_check(&leap));
    PASS();
}

TEST a_lease_outlives_its_time_while_the_clock_stands(void)
{
    sim_leap leap;

    t_acquire(1, 0, 100, 1, 50);
    t_renew(1, 50, 3 * T_TTL, 3 * T_TTL + 100, 1, 50);
    T_DISORDERED();
    leap.from_us = T_TTL / 2;
    leap.to_us = 4 * T_TTL;
    ASSERT_EQ(SIM_ORDERED, t_check(&leap));
    PASS();
}

TEST a_renewal_puts_the_end_off(void)
{
    t_acquire(1, 0, 100, 1, 50);
    t_renew(1, 50, T_TTL / 2, T_TTL / 2 + 100, 1, 50);
    t_acquire(2, T_TTL + 5000, T_TTL + 6000, 0, 50);
    T_ORDERED();
    t_said(&t.act[2], 1, 51);
    T_DISORDERED();
    PASS();
}

TEST a_lease_that_ended_long_ago_is_not_renewed(void)
{
    t_acquire(1, 0, 100, 1, 50);
    t_renew(1, 50, 2 * T_TTL, 2 * T_TTL + 100, 1, 50);
    T_DISORDERED();
    PASS();
}

TEST an_unanswered_grant_explains_a_refusal(void)
{
    t_acquire(1, 0, INT64_MAX, 0, 0)->answered = 0;
    t_acquire(2, 200, 300, 0, 70);
    T_ORDERED();
    PASS();
}

TEST a_request_that_can_no_longer_take_effect_explains_nothing(void)
{
    t_acquire(1, 0, 100, 0, 0)->answered = 0;
    t_acquire(2, 200, 300, 1, 50);
    t_acquire(3, 400, 500, 0, 50);
    T_ORDERED();
    t_said(&t.act[2], 0, 60);
    T_DISORDERED();
    PASS();
}

TEST tokens_grow(void)
{
    t_acquire(1, 0, 100, 1, 50);
    t_release(1, 50, 200, 300, 1, 50);
    t_acquire(2, 400, 500, 1, 50);
    T_DISORDERED();
    PASS();
}

TEST the_same_term_is_the_same_grant(void)
{
    t_acquire(1, 0, 100, 1, 50);
    t_acquire(1, 200, 300, 1, 50);
    T_ORDERED();
    t_said(&t.act[1], 1, 51);
    T_DISORDERED();
    PASS();
}

TEST a_renewal_with_an_older_token_is_refused(void)
{
    t_acquire(1, 0, 100, 1, 50);
    t_acquire(1, 200, 300, 1, 51)->term = 2;
    t_renew(1, 50, 400, 500, 0, 51);
    T_ORDERED();
    t_said(&t.act[2], 1, 51);
    T_DISORDERED();
    PASS();
}

TEST a_released_term_is_not_granted_behind_it(void)
{
    t_release(1, 0, 0, 100, -1, 0);
    t_acquire(1, 200, 300, -1, 0);
    T_ORDERED();
    t_said(&t.act[1], 1, 50);
    T_DISORDERED();
    PASS();
}

TEST another_program_is_waited_for(void)
{
    t_said(t_act(SIM_ACT_TAKE, SIM_ACT_OTHER, 0, 0), 1, 0);
    t_acquire(1, 100, 200, 0, 0);
    t_said(t_act(SIM_ACT_DROP, SIM_ACT_OTHER, 300, 300), 1, 0);
    t_acquire(1, 400, 500, 1, 50);
    T_ORDERED();
    t_said(&t.act[2], 0, 0);
    T_DISORDERED();
    PASS();
}

TEST the_first_impossible_operation_is_named(void)
{
    size_t culprit = 99;

    t_acquire(1, 0, 100, 1, 50);
    t_renew(1, 50, 200, 300, 1, 50);
    t_acquire(2, 400, 500, 1, 51);
    t_renew(2, 51, 600, 700, 1, 51);
    ASSERT_EQ(SIM_DISORDERED, sim_history_check(t.act, t.n, NULL, 0, &culprit));
    ASSERT_EQ(2, culprit);
    PASS();
}

/* Again and again five acts of three clients, which overlap. */
TEST a_long_history_is_judged(void)
{
    int64_t at;

    for (at = 0; t.n + 5 < 4000; at += 1000) {
        t_acquire(1, at, at + 900, 1, (uint64_t)at + 10);
        t_acquire(2, at + 1, at + 1500, 0, (uint64_t)at + 10);
        t_acquire(3, at + 2, INT64_MAX, 0, 0)->answered = 0;
        t_renew(1, (uint64_t)at + 10, at + 3, at + 900, 1, (uint64_t)at + 10);
        t_release(1, (uint64_t)at + 10, at + 910, at + 999, 1,
                  (uint64_t)at + 10);
        t.act[t.n - 5].term = t.act[t.n - 1].term = (uint64_t)at + 1;
        t.act[t.n - 4].to_us = at + 905;
    }
    T_ORDERED();
    PASS();
}

static void t_fresh(void *none)
{
    (void)none;
    t.n = 0;
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    SET_SETUP(t_fresh, NULL);
    RUN_TEST(an_empty_history_has_an_order);
    RUN_TEST(a_grant_and_a_refusal_at_once_have_an_order);
    RUN_TEST(two_grants_without_an_end_between_have_no_order);
    RUN_TEST(a_refusal_before_any_grant_has_no_order);
    RUN_TEST(a_grant_follows_a_release);
    RUN_TEST(a_grant_follows_an_end_and_not_sooner);
    RUN_TEST(a_leap_of_the_clock_ends_only_the_lease_in_force);
    RUN_TEST(a_lease_outlives_its_time_while_the_clock_stands);
    RUN_TEST(a_renewal_puts_the_end_off);
    RUN_TEST(a_lease_that_ended_long_ago_is_not_renewed);
    RUN_TEST(an_unanswered_grant_explains_a_refusal);
    RUN_TEST(a_request_that_can_no_longer_take_effect_explains_nothing);
    RUN_TEST(tokens_grow);
    RUN_TEST(the_same_term_is_the_same_grant);
    RUN_TEST(a_renewal_with_an_older_token_is_refused);
    RUN_TEST(a_released_term_is_not_granted_behind_it);
    RUN_TEST(another_program_is_waited_for);
    RUN_TEST(the_first_impossible_operation_is_named);
    RUN_TEST(a_long_history_is_judged);
    GREATEST_MAIN_END();
}
