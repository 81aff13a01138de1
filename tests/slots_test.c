/* SPDX-License-Identifier: MIT
 *
 * slots_test.c - tests of a worker's claims, for each cell of the table in
 * claims.h. */
#include "claims.h"

#include "greatest.h"
#include "lease_rig.h"

#define T_SLOTS 3

typedef struct t_rig {
    t_clock c;
    rlt_claims t;
    rlt_claim slot[T_SLOTS];
    rlt_claimed claim;
} t_rig;

static void t_begin(t_rig *t)
{
    memset(t, 0, sizeof *t);
    t_clock_begin(&t->c);
    rlt_claims_init(&t->t, t->slot, T_SLOTS);
    t->claim.sent_at = 1000;
    t->claim.until = 11000;
    t->claim.server_us = INT64_C(1700000000000000);
}

/* Claims a job of this number and head with this token. Returns the number of
 * jobs to begin. The job was put in second 1700000000. */
static uint32_t t_claim_of(t_rig *t, int number, int token, const char *head)
{
    char record[80], state[40], bytes[200];
    rlt_reply r;

    sprintf(record, "%s%sx", head[0] ? "+6553f100" : ".1234", head);
    sprintf(state, "L %d 1 2 3 - me", token);
    sprintf(bytes, "*3\r\n:%d\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", number,
            (int)strlen(record), record, (int)strlen(state), state);
    r = t_reply_to(&t->c, 1, bytes);
    return rlt_claims_take(&t->t, r.value, 0, &t->claim);
}

static uint32_t t_claim(t_rig *t, int number, int token)
{
    return t_claim_of(t, number, token, "");
}

/* Returns all events, as "cancel 1 0" or "lost 1 WHY". */
static const char *t_told(t_rig *t)
{
    static char text[200];
    rlt_claim job;
    int tell;

    text[0] = '\0';
    while (rlt_claims_event(&t->t, &tell, &job))
        sprintf(text + strlen(text), "%s %d %s;",
                tell == RLT_TELL_JOB_LOST ? "lost" : "cancel", (int)job.number,
                relet_why_text((relet_why)job.why));
    return text;
}

TEST a_claimed_job_is_held_with_the_counts_of_its_state(void)
{
    t_rig t;

    t_begin(&t);
    ASSERT_EQ(1, t_claim(&t, 7, 70));
    ASSERT_EQ(RLT_CLAIM_HELD, t.slot[0].state);
    ASSERT_EQ(7, (int)t.slot[0].number);
    ASSERT_EQ(70, (int)t.slot[0].token);
    ASSERT_EQ(1, (int)t.slot[0].attempts);
    ASSERT_EQ(2, (int)t.slot[0].stalls);
    ASSERT_EQ(3, (int)t.slot[0].replays);
    ASSERT_EQ(11000, t.slot[0].valid_until);
    ASSERT(rlt_claims_find(&t.t, 7, 70) == &t.slot[0]);
    ASSERT(rlt_claims_find(&t.t, 7, 71) == NULL);
    PASS();
}

TEST a_job_held_under_the_same_token_is_not_taken_twice(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 7, 70);
    ASSERT_EQ(0, t_claim(&t, 7, 70));
    ASSERT_EQ(1, rlt_claims_busy(&t.t));
    ASSERT_EQ(0, t.claim.twins);
    PASS();
}

TEST a_table_of_claims_takes_no_more_jobs_than_it_has_entries(void)
{
    t_rig t;

    t_begin(&t);
    ASSERT_EQ(1, t_claim(&t, 1, 1));
    ASSERT_EQ(1, t_claim(&t, 2, 2));
    ASSERT_EQ(1, t_claim(&t, 3, 3));
    ASSERT_EQ(0, t_claim(&t, 4, 4));
    PASS();
}

TEST a_job_claimed_while_its_worker_stops_is_given_back(void)
{
    t_rig t;

    t_begin(&t);
    t.claim.to_go_back = 1;
    ASSERT_EQ(0, t_claim(&t, 7, 70));
    ASSERT_EQ(RLT_CLAIM_RETURN, t.slot[0].state);
    PASS();
}

TEST a_lost_job_still_at_work_is_given_back_when_claimed_again(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 7, 70);
    rlt_claims_expire(&t.t, 11000);
    ASSERT_EQ(0, t_claim(&t, 7, 71));
    ASSERT_EQ(RLT_CLAIM_LOST, t.slot[0].state);
    ASSERT_EQ(RLT_CLAIM_RETURN, t.slot[1].state);
    ASSERT_EQ(1, t.claim.twins);
    PASS();
}

TEST a_lease_is_lost_when_its_time_has_come_and_told_once(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 7, 70);
    ASSERT_EQ(11000, rlt_claims_deadline(&t.t));
    rlt_claims_expire(&t.t, 10999);
    ASSERT_STR_EQ("", t_told(&t));
    rlt_claims_expire(&t.t, 11000);
    ASSERT_STR_EQ("lost 7 expired;", t_told(&t));
    rlt_claims_expire(&t.t, 12000);
    ASSERT_STR_EQ("", t_told(&t));
    ASSERT_EQ(RELET_NEVER, rlt_claims_deadline(&t.t));
    ASSERT_EQ(0,
              rlt_claims_end(&t.t, rlt_claims_open(&t.t, 7), RLT_CLAIM_DONE));
    ASSERT_EQ(0, rlt_claims_busy(&t.t));
    PASS();
}

TEST an_attempt_that_takes_too_long_is_told_and_is_not_renewed(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim_of(&t, 7, 70, "0,0,0,0,5;t4000");
    ASSERT_EQ(5000, rlt_claims_deadline(&t.t));
    rlt_claims_expire(&t.t, 5000);
    ASSERT_STR_EQ("cancel 7 timeout;", t_told(&t));
    rlt_claims_expire(&t.t, 6000);
    ASSERT_STR_EQ("", t_told(&t));
    ASSERT_EQ(0, rlt_claims_renew(&t.t, 99999, 9));
    ASSERT_EQ(RELET_NEVER, rlt_claims_until(&t.t));
    ASSERT_EQ(11000, rlt_claims_deadline(&t.t));
    rlt_claims_expire(&t.t, 11000);
    ASSERT_STR_EQ("lost 7 expired;", t_told(&t));
    PASS();
}

TEST a_job_claimed_after_its_deadline_is_not_begun(void)
{
    t_rig t;

    t_begin(&t);
    t.claim.server_us += 3999000;
    ASSERT_EQ(1, t_claim_of(&t, 7, 70, "0,0,0,0,5;d3000"));
    t.claim.server_us += 1000;
    ASSERT_EQ(0, t_claim_of(&t, 8, 80, "0,0,0,0,5;d3000"));
    ASSERT(rlt_claims_stale(&t.t) == &t.slot[1]);
    PASS();
}

TEST a_renewal_counts_only_for_the_claims_it_named(void)
{
    relet_span letters = relet_str("rlgoc");
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)t_claim(&t, 2, 2);
    ASSERT_EQ(2, rlt_claims_renew(&t.t, 11000, 9));
    (void)t_claim(&t, 3, 3); /* claimed during the renewal */
    rlt_claims_renewed(&t.t, letters, 20000);
    ASSERT_EQ(20000, t.slot[0].valid_until);
    ASSERT_EQ(RLT_CLAIM_LOST, t.slot[1].state);
    ASSERT_EQ(11000, t.slot[2].valid_until);
    ASSERT_STR_EQ("lost 2 taken;", t_told(&t));
    PASS();
}

/* Regression, found by the simulator: each later claim got the letter of the
 * claim before it, so it was reported as lost or as cancelled. */
TEST a_job_ended_before_its_renewal_is_answered_shifts_no_status_codes(void)
{
    relet_span letters = relet_str("gr");
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)t_claim(&t, 2, 2);
    (void)rlt_claims_renew(&t.t, 11000, 9);
    (void)rlt_claims_end(&t.t, &t.slot[0], RLT_CLAIM_DONE);
    rlt_claims_renewed(&t.t, letters, 20000);
    ASSERT_EQ(RLT_CLAIM_HELD, t.slot[1].state);
    ASSERT_EQ(20000, t.slot[1].valid_until);
    PASS();
}

/* Regression, found by the simulator: JOB_LOST came for jobs without a JOBS
 * event. */
TEST a_job_given_back_too_late_is_not_reported_as_lost(void)
{
    relet_span letters = relet_str("l");
    t_rig t;

    t_begin(&t);
    t.claim.to_go_back = 1;
    (void)t_claim(&t, 1, 1);
    (void)rlt_claims_send(&t.t, RLT_CLAIM_RETURN, 1, 9);
    rlt_claims_answered(&t.t, 1, letters);
    ASSERT_EQ(RLT_CLAIM_FREE, t.slot[0].state);
    ASSERT_STR_EQ("", t_told(&t));
    PASS();
}

TEST a_late_renewal_does_not_restore_a_lost_claim(void)
{
    relet_span letters = relet_str("r");
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)rlt_claims_renew(&t.t, 11000, 9);
    rlt_claims_expire(&t.t, 11000);
    rlt_claims_renewed(&t.t, letters, 20000);
    ASSERT_EQ(RLT_CLAIM_LOST, t.slot[0].state);
    PASS();
}

TEST a_renewal_without_an_answer_for_a_job_changes_nothing(void)
{
    relet_span none = relet_str("");
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)rlt_claims_renew(&t.t, 11000, 9);
    rlt_claims_renewed(&t.t, none, 20000);
    ASSERT_EQ(RLT_CLAIM_HELD, t.slot[0].state);
    ASSERT_EQ(11000, t.slot[0].valid_until);
    PASS();
}

TEST a_cancel_is_told_once_and_the_lease_goes_on(void)
{
    relet_span letters = relet_str("c");
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)rlt_claims_renew(&t.t, 11000, 9);
    rlt_claims_renewed(&t.t, letters, 20000);
    (void)rlt_claims_renew(&t.t, 20000, 9);
    rlt_claims_renewed(&t.t, letters, 30000);
    ASSERT_STR_EQ("cancel 1 none;", t_told(&t));
    ASSERT_EQ(30000, t.slot[0].valid_until);
    PASS();
}

TEST the_end_of_a_job_is_sent_until_it_is_answered(void)
{
    relet_span letters = relet_str("dl");
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)t_claim(&t, 2, 2);
    (void)t_claim(&t, 3, 3);
    ASSERT_EQ(1, rlt_claims_end(&t.t, &t.slot[0], RLT_CLAIM_DONE));
    ASSERT_EQ(1, rlt_claims_end(&t.t, &t.slot[1], RLT_CLAIM_DONE));
    ASSERT_EQ(1, rlt_claims_end(&t.t, &t.slot[2], RLT_CLAIM_RETURN));
    ASSERT_EQ(2, rlt_claims_send(&t.t, RLT_CLAIM_DONE, 4, 9));
    ASSERT_EQ(2, rlt_claims_sent(&t.t, 4));
    ASSERT_EQ(0, rlt_claims_sent(&t.t, 5));
    rlt_claims_answered(&t.t, 4, letters);
    ASSERT_EQ(RLT_CLAIM_FREE, t.slot[0].state);
    ASSERT_EQ(RLT_CLAIM_LATE, t.slot[1].state);
    ASSERT_EQ(RLT_CLAIM_RETURN, t.slot[2].state);
    ASSERT_STR_EQ("lost 2 taken;", t_told(&t));
    ASSERT_EQ(RLT_CLAIM_FREE, t.slot[1].state);
    PASS();
}

TEST a_closing_job_ends_with_its_answer(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)t_claim(&t, 2, 2);
    (void)t_claim(&t, 3, 3);
    (void)rlt_claims_end(&t.t, &t.slot[0], RLT_CLAIM_CLOSING);
    (void)rlt_claims_end(&t.t, &t.slot[1], RLT_CLAIM_CLOSING);
    rlt_claims_closed(&t.t, 0, 'd');
    rlt_claims_closed(&t.t, 1, 0);
    rlt_claims_closed(&t.t, 2, 'd'); /* this claim is not closing */
    ASSERT_EQ(RLT_CLAIM_FREE, t.slot[0].state);
    ASSERT_EQ(RLT_CLAIM_HELD, t.slot[2].state);
    ASSERT_STR_EQ("lost 2 broken;", t_told(&t));
    PASS();
}

TEST an_ended_job_causes_no_further_events(void)
{
    relet_span letters = relet_str("c");
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)rlt_claims_renew(&t.t, 11000, 9);
    rlt_claims_renewed(&t.t, letters, 20000);
    (void)rlt_claims_end(&t.t, &t.slot[0], RLT_CLAIM_DONE);
    ASSERT_STR_EQ("", t_told(&t));
    ASSERT_EQ(0, (int)t.t.tells);
    PASS();
}

TEST a_cut_off_worker_loses_its_claims_except_those_given_back(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)t_claim(&t, 2, 2);
    (void)t_claim(&t, 3, 3);
    (void)rlt_claims_end(&t.t, &t.slot[1], RLT_CLAIM_RETURN);
    (void)rlt_claims_end(&t.t, &t.slot[2], RLT_CLAIM_CLOSING);
    rlt_claims_cut_off(&t.t, RELET_WHY_STOPPED);
    ASSERT_STR_EQ("lost 1 stopped;lost 3 stopped;", t_told(&t));
    PASS();
}

/* ------------------------------------------------------------- rare events */

TEST a_job_with_an_id_a_waiting_client_or_a_kept_result_is_not_bare(void)
{
    static const char *const head[] = {"0,0,0,1,0;i", "0,0,0,0,2;rc",
                                       "0,0,0,0,3;k7 "};
    size_t i;
    t_rig t;

    t_begin(&t);
    for (i = 0; i < 3; i++) {
        ASSERT_EQ(1, t_claim_of(&t, (int)i + 1, 1, head[i]));
        ASSERT_EQ(0, t.slot[i].bare);
    }
    t_begin(&t);
    (void)t_claim_of(&t, 1, 1, "5,0,0,0,0;");
    ASSERT_EQ(1, t.slot[0].bare);
    PASS();
}

TEST an_invalid_job_takes_no_claim(void)
{
    static const char *const odd[] = {
        "*3\r\n+x\r\n+p\r\n+L 7 0 0 0 - me\r\n",
        "*3\r\n:0\r\n+p\r\n+L 7 0 0 0 - me\r\n",
        "*3\r\n:-1\r\n+p\r\n+L 7 0 0 0 - me\r\n",
        "*3\r\n:1\r\n+p\r\n+W 7 0 0 0 - me\r\n",
        "*3\r\n:1\r\n+p\r\n:7\r\n", "*2\r\n:1\r\n+p\r\n"};
    rlt_reply r;
    size_t i;
    t_rig t;

    t_begin(&t);
    for (i = 0; i < sizeof odd / sizeof *odd; i++) {
        r = t_reply_to(&t.c, 1, odd[i]);
        ASSERT_EQ(0, rlt_claims_take(&t.t, r.value, 0, &t.claim));
        ASSERT_EQ(0, rlt_claims_busy(&t.t));
    }
    ASSERT_EQ(0, t.claim.homeless);
    PASS();
}

TEST a_renewal_says_why_a_lease_is_lost(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)t_claim(&t, 2, 2);
    (void)t_claim(&t, 3, 3);
    ASSERT_EQ(3, rlt_claims_renew(&t.t, 11000, 9));
    rlt_claims_renewed(&t.t, relet_str("glo"), 20000);
    ASSERT_STR_EQ("lost 1 gone;lost 2 taken;lost 3 timeout;", t_told(&t));
    PASS();
}

TEST an_unknown_status_code_does_not_renew_a_lease(void)
{
    relet_span letters;
    t_rig t;

    letters.p = "\0";
    letters.n = 1;
    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)rlt_claims_renew(&t.t, 11000, 9);
    rlt_claims_renewed(&t.t, letters, 20000);
    ASSERT_EQ(11000, t.slot[0].valid_until);
    PASS();
}

TEST a_renewal_has_no_more_claims_than_its_limit(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)t_claim(&t, 2, 2);
    ASSERT_EQ(1, rlt_claims_renew(&t.t, 11000, 1));
    ASSERT_EQ(0, t.slot[1].renewed);
    PASS();
}

TEST a_lease_with_time_left_is_not_renewed_yet(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    t.claim.until = 11001;
    (void)t_claim(&t, 2, 2);
    ASSERT_EQ(1, rlt_claims_renew(&t.t, 11000, 9));
    ASSERT_EQ(1, t.slot[0].renewed);
    PASS();
}

TEST a_step_has_no_more_jobs_than_its_limit(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)t_claim(&t, 2, 2);
    (void)rlt_claims_end(&t.t, &t.slot[0], RLT_CLAIM_DONE);
    (void)rlt_claims_end(&t.t, &t.slot[1], RLT_CLAIM_DONE);
    ASSERT_EQ(1, rlt_claims_send(&t.t, RLT_CLAIM_DONE, 4, 1));
    ASSERT_EQ(RLT_CLAIM_DONE, t.slot[1].state);
    PASS();
}

TEST a_job_missing_from_an_answer_is_reported_gone(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)t_claim(&t, 2, 2);
    (void)rlt_claims_end(&t.t, &t.slot[0], RLT_CLAIM_DONE);
    (void)rlt_claims_end(&t.t, &t.slot[1], RLT_CLAIM_DONE);
    (void)rlt_claims_send(&t.t, RLT_CLAIM_DONE, 4, 9);
    rlt_claims_answered(&t.t, 4, relet_str("d"));
    ASSERT_STR_EQ("lost 2 gone;", t_told(&t));
    PASS();
}

TEST two_reasons_to_cancel_are_told_as_one(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim_of(&t, 7, 70, "0,0,0,0,5;t4000");
    (void)rlt_claims_renew(&t.t, 11000, 9);
    rlt_claims_renewed(&t.t, relet_str("c"), 20000);
    rlt_claims_expire(&t.t, 5000);
    ASSERT_STR_EQ("cancel 7 timeout;", t_told(&t));
    ASSERT_EQ(0, (int)t.t.tells);
    PASS();
}

/* Regression: the cancel was reported as a second time-out. Seed 40005739 of
 * the simulator. */
TEST a_cancel_behind_a_time_out_is_told_as_one(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim_of(&t, 7, 70, "0,0,0,0,5;t4000");
    (void)rlt_claims_renew(&t.t, 11000, 9);
    rlt_claims_expire(&t.t, 5000);
    ASSERT_STR_EQ("cancel 7 timeout;", t_told(&t));
    rlt_claims_renewed(&t.t, relet_str("c"), 20000);
    ASSERT_STR_EQ("cancel 7 none;", t_told(&t));
    PASS();
}

TEST an_unreported_cancel_gives_way_to_a_loss(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)rlt_claims_renew(&t.t, 11000, 9);
    rlt_claims_renewed(&t.t, relet_str("c"), 20000);
    rlt_claims_expire(&t.t, 20000);
    ASSERT_STR_EQ("lost 1 expired;", t_told(&t));
    PASS();
}

TEST a_lost_claim_is_open_but_not_held(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    rlt_claims_expire(&t.t, 11000);
    ASSERT(rlt_claims_open(&t.t, 1) == &t.slot[0]);
    ASSERT(rlt_claims_find(&t.t, 1, 1) == NULL);
    PASS();
}

TEST a_cut_off_worker_reports_each_loss_once(void)
{
    t_rig t;

    t_begin(&t);
    (void)t_claim(&t, 1, 1);
    (void)t_claim(&t, 2, 2);
    (void)rlt_claims_end(&t.t, &t.slot[1], RLT_CLAIM_CLOSING);
    rlt_claims_closed(&t.t, 1, 'l');
    rlt_claims_expire(&t.t, 11000);
    rlt_claims_cut_off(&t.t, RELET_WHY_STOPPED);
    ASSERT_STR_EQ("lost 1 expired;lost 2 taken;", t_told(&t));
    ASSERT_EQ(RLT_CLAIM_LOST, t.slot[0].state); /* its handler goes on */
    PASS();
}

TEST a_cut_off_worker_forgets_jobs_that_were_not_begun(void)
{
    t_rig t;

    t_begin(&t);
    t.claim.to_go_back = 1;
    (void)t_claim(&t, 1, 1);
    (void)rlt_claims_send(&t.t, RLT_CLAIM_RETURN, 1, 9);
    t.claim.to_go_back = 0;
    t.claim.server_us += 5000000;
    (void)t_claim_of(&t, 8, 80, "0,0,0,0,5;d3000");
    ASSERT(rlt_claims_stale(&t.t) == &t.slot[1]);
    rlt_claims_cut_off(&t.t, RELET_WHY_STOPPED);
    ASSERT_EQ(0, rlt_claims_busy(&t.t));
    ASSERT_STR_EQ("", t_told(&t));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_claimed_job_is_held_with_the_counts_of_its_state);
    RUN_TEST(a_job_held_under_the_same_token_is_not_taken_twice);
    RUN_TEST(a_table_of_claims_takes_no_more_jobs_than_it_has_entries);
    RUN_TEST(a_job_claimed_while_its_worker_stops_is_given_back);
    RUN_TEST(a_lost_job_still_at_work_is_given_back_when_claimed_again);
    RUN_TEST(a_lease_is_lost_when_its_time_has_come_and_told_once);
    RUN_TEST(an_attempt_that_takes_too_long_is_told_and_is_not_renewed);
    RUN_TEST(a_job_claimed_after_its_deadline_is_not_begun);
    RUN_TEST(a_renewal_counts_only_for_the_claims_it_named);
    RUN_TEST(a_job_ended_before_its_renewal_is_answered_shifts_no_status_codes);
    RUN_TEST(a_job_given_back_too_late_is_not_reported_as_lost);
    RUN_TEST(a_late_renewal_does_not_restore_a_lost_claim);
    RUN_TEST(a_renewal_without_an_answer_for_a_job_changes_nothing);
    RUN_TEST(a_cancel_is_told_once_and_the_lease_goes_on);
    RUN_TEST(the_end_of_a_job_is_sent_until_it_is_answered);
    RUN_TEST(a_closing_job_ends_with_its_answer);
    RUN_TEST(an_ended_job_causes_no_further_events);
    RUN_TEST(a_cut_off_worker_loses_its_claims_except_those_given_back);
    RUN_TEST(a_job_with_an_id_a_waiting_client_or_a_kept_result_is_not_bare);
    RUN_TEST(an_invalid_job_takes_no_claim);
    RUN_TEST(a_renewal_says_why_a_lease_is_lost);
    RUN_TEST(an_unknown_status_code_does_not_renew_a_lease);
    RUN_TEST(a_renewal_has_no_more_claims_than_its_limit);
    RUN_TEST(a_lease_with_time_left_is_not_renewed_yet);
    RUN_TEST(a_step_has_no_more_jobs_than_its_limit);
    RUN_TEST(a_job_missing_from_an_answer_is_reported_gone);
    RUN_TEST(two_reasons_to_cancel_are_told_as_one);
    RUN_TEST(a_cancel_behind_a_time_out_is_told_as_one);
    RUN_TEST(an_unreported_cancel_gives_way_to_a_loss);
    RUN_TEST(a_lost_claim_is_open_but_not_held);
    RUN_TEST(a_cut_off_worker_reports_each_loss_once);
    RUN_TEST(a_cut_off_worker_forgets_jobs_that_were_not_begun);
    GREATEST_MAIN_END();
}
