/* SPDX-License-Identifier: MIT
 *
 * queue_scripts_test.c - the scripts of a queue, one by one, on a server.
 *
 *   queue_scripts_test [SOCKET]    the local server, or a real one there
 *
 * Time is played by moving scores to 0, so that no claim waits, and all are
 * the same on each server. */
#include "queue_rig.h"

#define RUN t_run
#define SAID(expected, said) ASSERT_STR_EQ(expected, said)
#define SWEPT ASSERT_EQ(NULL, t_sweep(1))

/* n plain jobs wait, with payloads a, b, … */
static void t_put(int n)
{
    relet_span arg[20];
    int i;

    arg[0] = t_span("P.0");
    arg[1] = t_span("1");
    arg[2] = t_span("0");
    for (i = 0; i < n; i++) {
        arg[3 + i].p = "abcdefghij" + i;
        arg[3 + i].n = 1;
    }
    (void)t_run_spans("put", arg, 3 + (size_t)n);
}

static const char *t_claim(const char *worker, const char *op, const char *n)
{
    return RUN("claim", worker, op, "60000", n, NULL);
}

/* The numbers that an answer of claim or held brought. */
static const char *t_brought(void)
{
    static char out[400];
    const char *p = strstr(t_reply, "\r\n") + 2, *end = t_reply + t_reply_n;
    size_t n = (size_t)strtol(t_reply + 1, NULL, 10), i;
    char *to = out;

    *to = '\0';
    for (i = 0; t_reply[0] == '*' && i < n; i++) {
        if (i >= 3 && i % 3 == 0) {
            const char *text = strstr(p, "\r\n") + 2;

            to += sprintf(to, "%s%.*s", to == out ? "" : " ",
                          (int)strtol(p + 1, NULL, 10), text);
        }
        p = t_behind(p, end);
    }
    return out;
}

/* The i-th of an answer, a number. */
static long long t_nth(size_t i)
{
    const char *p = strstr(t_reply, "\r\n") + 2;

    while (i-- > 0)
        p = t_behind(p, t_reply + t_reply_n);
    return strtoll(p[0] == '$' ? strstr(p, "\r\n") + 2 : p + 1, NULL, 10);
}

static const char *t_state(const char *n)
{
    char line[60];

    sprintf(line, "HGET {q}:jobs %ss", n);
    return t_tell(line);
}

static const char *t_offer(const char *op, const char *head,
                           const char *payload)
{
    return RUN("offer", "P.9", op, "0", head, payload, NULL);
}

static void t_ready(void)
{
    t_all_due("delayed");
    (void)RUN("ready", "100", NULL);
}

/* ------------------------------------------------------------------ putting */

TEST jobs_are_given_numbers_in_their_order(void)
{
    SAID("[1 0]", RUN("put", "P.0", "1", "0", "a", "b", NULL));
    SAID("[3 0]", RUN("put", "P.1", "2", "0", "c", NULL));
    SAID("[1 2 3]", t_tell("LRANGE {q}:waiting 0 -1"));
    SWEPT;
    PASS();
}

TEST a_put_that_is_repeated_is_done_once(void)
{
    (void)RUN("put", "P.0", "1", "0", "a", "b", NULL);
    (void)RUN("put", "P.1", "2", "0", "c", NULL);
    SAID("[1 1]", RUN("put", "P.0", "1", "0", "a", "b", NULL));
    SAID("3", t_tell("LLEN {q}:waiting"));
    PASS();
}

TEST a_full_queue_takes_all_or_nothing(void)
{
    t_put(2);
    SAID("-FULL 2 jobs wait", RUN("put", "P.1", "2", "3", "c", "d", NULL));
    SAID("[3 0]", RUN("put", "P.1", "3", "3", "c", NULL));
    PASS();
}

TEST a_closed_queue_takes_nothing_but_repeats(void)
{
    t_put(1);
    (void)t_say("HSET {q}:jobs closed 1");
    SAID("[1 1]", RUN("put", "P.0", "1", "0", "a", NULL));
    ASSERT(strncmp(RUN("put", "P.1", "2", "0", "b", NULL), "-CLOSED", 7) == 0);
    ASSERT(strncmp(t_offer("1", "0,0,0,1,0;x", "p"), "-CLOSED", 7) == 0);
    SAID("-1", t_tell("HLEN {q}:ids")[0] == '0' ? "-1" : "0");
    PASS();
}

TEST numbers_go_on_beyond_2_to_31(void)
{
    (void)t_say("HSET {q}:jobs seq 5000000000");
    SAID("[5000000001 0]", RUN("put", "P.0", "1", "0", "a", NULL));
    SAID("5000000002", t_offer("1", "0,0,0,1,0;x", "b"));
    t_ready();
    (void)t_claim("W", "1", "5");
    SAID("5000000001 5000000002", t_brought());
    SWEPT;
    PASS();
}

/* ----------------------------------------------------------------- offering */

TEST what_is_offered_waits_once_it_is_due(void)
{
    SAID("1 2", RUN("offer", "P.0", "1", "0", "0,3600000,0,0,0;", "late",
                    "0,0,0,0,0;", "now", NULL));
    (void)RUN("ready", "9", NULL);
    ASSERT_EQ(1, t_nth(0));
    ASSERT(t_nth(1) > 3500000 && t_nth(1) <= 3600000);
    SAID("[2]", t_tell("LRANGE {q}:waiting 0 -1"));
    SWEPT;
    PASS();
}

TEST an_id_that_is_taken_names_the_first_job(void)
{
    SAID("1", t_offer("1", "0,0,0,1,0;x", "a"));
    SAID("-1", t_offer("2", "0,0,0,1,0;x", "b"));
    SAID("2 -2", RUN("offer", "P.1", "3", "0", "0,0,0,1,0;y", "c",
                     "0,0,0,1,0;y", "d", NULL));
    PASS();
}

TEST an_offer_that_is_repeated_is_done_once(void)
{
    (void)t_offer("1", "0,0,0,1,0;x", "a");
    (void)RUN("forget", "", "100", NULL); /* which marks what is remembered */
    SAID("1", t_offer("1", "0,0,0,1,0;x", "a"));
    SAID("1", t_tell("ZCARD {q}:delayed"));
    PASS();
}

TEST a_twin_whose_record_is_gone_is_no_twin(void)
{
    (void)t_offer("1", "0,0,0,1,0;x", "a");
    (void)t_say("HDEL {q}:jobs 1");
    SAID("2", t_offer("2", "0,0,0,1,0;x", "b"));
    PASS();
}

TEST a_dead_twin_does_not_block(void)
{
    (void)t_offer("1", "0,0,0,1,0;x", "a");
    t_ready();
    (void)t_claim("W", "1", "1");
    (void)RUN("fail", "W", "1", "1", t_token("1"), "x", "0", "no", NULL);
    SAID("2", t_offer("2", "0,0,0,1,0;x", "b"));
    (void)RUN("trim", "0", "0", "0", "9", NULL);
    SAID("2", t_tell("HGET {q}:ids x")); /* it is not the dead one's */
    PASS();
}

TEST ids_may_hold_any_byte(void)
{
    static const char head[] = "0,0,3,5,0;{,}a\0}\r\n";
    static const char digits[] = "0,0,0,1,0;1";
    relet_span arg[7];

    arg[0] = t_span("P.0");
    arg[1] = t_span("1");
    arg[2] = t_span("0");
    arg[3].p = head;
    arg[3].n = sizeof head - 1;
    arg[4].p = "\0pay";
    arg[4].n = 4;
    arg[5] = t_span(digits);
    arg[6] = t_span("");
    SAID("1 2", t_run_spans("offer", arg, 7));
    arg[1] = t_span("2");
    SAID("-1 -2", t_run_spans("offer", arg, 7));
    t_ready();
    (void)t_claim("W", "1", "9");
    SAID("d", RUN("keep", "W.0", t_token("1"), "1", t_token("1"), "0", "",
                  NULL));
    SAID("[1]", t_tell("HKEYS {q}:ids"));
    SWEPT;
    PASS();
}

/* ----------------------------------------------------------------- claiming */

TEST the_oldest_come_first(void)
{
    t_put(5);
    (void)t_claim("W", "1", "2");
    SAID("1 2", t_brought());
    (void)t_claim("W", "2", "9");
    SAID("3 4 5", t_brought());
    SWEPT;
    PASS();
}

TEST a_claim_that_is_repeated_brings_nothing_more(void)
{
    t_put(3);
    (void)t_claim("W", "1", "2");
    SAID("[]", t_claim("W", "1", "2"));
    (void)RUN("forget", "", "100", NULL);
    SAID("[]", t_claim("W", "1", "2"));
    (void)RUN("held", "W", "1", NULL);
    SAID("1 2", t_brought());
    SWEPT;
    PASS();
}

TEST what_is_held_is_what_is_still_leased(void)
{
    t_put(2);
    (void)t_claim("W", "1", "2");
    (void)RUN("done", "W", "1", "1", t_token("1"), NULL);
    (void)RUN("held", "W", "1", NULL);
    ASSERT_EQ(1, t_nth(0));
    SAID("2", t_brought());
    (void)RUN("held", "W", "2", NULL);
    ASSERT_EQ(0, t_nth(0));
    SAID("", t_brought());
    PASS();
}

TEST tokens_grow_though_the_clock_goes_back(void)
{
    t_put(2);
    (void)t_say("HSET {q}:jobs fence 4000000000000000");
    (void)t_claim("W", "1", "2");
    SAID("4000000000000001", t_token("1"));
    SAID("4000000000000002", t_token("2"));
    SAID("4000000000000002", t_tell("HGET {q}:jobs fence"));
    PASS();
}

TEST ghosts_are_passed_over_and_counted(void)
{
    t_put(3);
    (void)RUN("cancel", "", "1", NULL);
    (void)RUN("cancel", "", "2", NULL);
    (void)t_claim("W", "1", "2");
    ASSERT_EQ(2, t_nth(2));
    SAID("", t_brought());
    (void)t_claim("W", "1", "2");
    ASSERT_EQ(0, t_nth(2));
    SAID("3", t_brought());
    PASS();
}

TEST one_that_stands_twice_in_line_is_leased_once(void)
{
    t_put(1);
    (void)t_say("RPUSH {q}:waiting 1");
    (void)t_claim("W", "1", "5");
    SAID("1", t_brought());
    ASSERT_EQ(1, t_nth(2));
    SWEPT;
    PASS();
}

TEST a_limit_holds_the_others_back(void)
{
    t_put(4);
    (void)t_say("HSET {q}:jobs limit 2");
    (void)t_claim("W", "1", "3");
    SAID("1 2", t_brought());
    ASSERT_EQ(-1, t_nth(2));
    (void)t_claim("V", "1", "3");
    SAID("", t_brought());
    ASSERT_EQ(-1, t_nth(2));
    (void)RUN("done", "W", "1", "1", t_token("1"), NULL);
    (void)t_claim("V", "2", "3");
    SAID("3", t_brought());
    SWEPT;
    PASS();
}

TEST a_stopped_queue_gives_nothing_out(void)
{
    (void)t_say("HSET {q}:jobs stopped 1");
    (void)t_claim("W", "1", "3");
    ASSERT_EQ(0, t_nth(2)); /* nothing waits, so its worker may line up */
    t_put(2);
    (void)t_claim("W", "2", "3");
    ASSERT_EQ(-1, t_nth(2));
    (void)t_say("HDEL {q}:jobs stopped");
    (void)t_claim("W", "3", "3");
    SAID("1 2", t_brought());
    PASS();
}

TEST a_rank_goes_before_a_thousand_older_jobs_and_no_more(void)
{
    (void)t_say("HSET {q}:jobs ranks 1");
    (void)t_put(3);
    (void)t_say("HSET {q}:jobs seq 1002");
    SAID("1003", t_offer("1", "1,0,0,0,0;", "r"));
    t_ready();
    (void)t_claim("W", "1", "9");
    SAID("1 2 1003 3", t_brought()); /* 1003 - 1000 is 3: by its name */
    SWEPT;
    PASS();
}

TEST ranks_come_after_the_list_that_was_there(void)
{
    t_put(2);
    SAID("3", t_offer("1", "5,0,0,0,0;", "r"));
    t_ready();
    SAID("[4 0]", RUN("put", "P.1", "2", "0", "d", NULL));
    SAID("[3 4]", t_tell("ZRANGE {q}:ranked 0 -1"));
    (void)t_claim("W", "1", "3");
    SAID("1 2 3", t_brought());
    SWEPT;
    PASS();
}

TEST delayed_jobs_come_in_the_order_in_which_they_are_due(void)
{
    (void)RUN("offer", "P.0", "1", "0", "0,30,0,0,0;", "a", "0,20,0,0,0;", "b",
              "0,20,0,0,0;", "c", "0,10,0,0,0;", "d", NULL);
    SAID("[4 2 3 1]", t_tell("ZRANGE {q}:delayed 0 -1"));
    if (t_local) {
        relet_local_time(t_local, T_WALL_US + 20000);
        SAID("[3 10]", RUN("ready", "9", NULL));
        relet_local_time(t_local, T_WALL_US);
        SAID("[4 2 3]", t_tell("LRANGE {q}:waiting 0 -1"));
    }
    PASS();
}

TEST no_more_are_promoted_than_were_asked_for(void)
{
    (void)RUN("offer", "P.0", "1", "0", "0,0,0,0,0;", "a", "0,0,0,0,0;", "b",
              "0,0,0,0,0;", "c", NULL);
    t_all_due("delayed");
    SAID("[2 0]", RUN("ready", "2", NULL));
    SAID("[1 -1]", RUN("ready", "2", NULL));
    SAID("[0 -1]", RUN("ready", "2", NULL));
    PASS();
}

TEST a_delayed_name_that_is_none_stops_nobody(void)
{
    (void)t_say("ZADD {q}:delayed 0 junk");
    (void)t_offer("1", "0,0,0,0,0;", "a");
    t_all_due("delayed");
    (void)RUN("ready", "9", NULL);
    SAID("[1]", t_tell("LRANGE {q}:waiting 0 -1"));
    PASS();
}

/* ------------------------------------------------------------------- ending */

TEST done_jobs_leave_nothing(void)
{
    t_put(2);
    (void)t_claim("W", "1", "2");
    (void)RUN("progress", "1", t_token("1"), "half", NULL);
    SAID("dd", RUN("done", "W", "1", "1", t_token("1"), "2", t_token("2"),
                   NULL));
    SAID("0", t_tell("EXISTS {q}:leased {q}:waiting"));
    ASSERT_EQ(0, t_records());
    SWEPT;
    PASS();
}

TEST done_that_is_repeated_says_the_same(void)
{
    const char *token;

    t_put(2);
    (void)t_claim("W", "1", "1");
    token = t_token("1");
    SAID("dg", RUN("done", "W", "1", "1", token, "9", "9", NULL));
    SAID("dg", RUN("done", "W", "1", "1", token, "9", "9", NULL));
    (void)RUN("forget", "", "100", NULL);
    SAID("dg", RUN("done", "W", "1", "1", token, "9", "9", NULL));
    SAID("g", RUN("done", "W", "2", "1", token, NULL));
    SAID("1", t_tell("HGET {q}:jobs done"));
    PASS();
}

/* The job of a stopped worker was given to another. Acceptance 1 and 2. */
TEST an_old_token_changes_nothing(void)
{
    char old[30], state[100];

    t_put(1);
    (void)t_claim("A", "1", "1");
    strcpy(old, t_token("1"));
    t_all_due("leased");
    (void)RUN("reap", "9", "3", "0", NULL);
    (void)t_claim("B", "1", "1");
    ASSERT(strtoll(t_token("1"), NULL, 10) > strtoll(old, NULL, 10));
    strcpy(state, t_state("1"));
    SAID("l", RUN("done", "A", "1", "1", old, NULL));
    SAID("l", RUN("keep", "A", "2", "1", old, "1000", "r", NULL));
    SAID("l", RUN("fail", "A", "1", "1", old, "r", "0", "e", NULL));
    SAID("l", RUN("fail", "A", "2", "1", old, "x", "0", "e", NULL));
    SAID("l", RUN("release", "1", old, NULL));
    SAID("l", RUN("progress", "1", old, "text", NULL));
    ASSERT(strncmp(RUN("renew", "60000", "86400000", "1", old, NULL), "[l ",
                   3) == 0);
    SAID(state, t_state("1"));
    SAID("nil", t_tell("HGET {q}:jobs 1r"));
    SWEPT;
    PASS();
}

TEST what_is_kept_is_kept_for_its_time(void)
{
    (void)t_offer("1", "0,0,0,1,0;x", "a");
    t_ready();
    (void)t_claim("W", "1", "1");
    SAID("d", RUN("keep", "W", "1", "1", t_token("1"), "60000", "res", NULL));
    SAID("dres", t_tell("HGET {q}:jobs 1r"));
    SAID("-1", t_offer("2", "0,0,0,1,0;x", "b"));
    SAID("[0 0]", RUN("trim", "10", "10", "0", "9", NULL));
    SWEPT;
    t_all_due("done");
    SAID("[1 0]", RUN("trim", "10", "10", "0", "9", NULL));
    ASSERT_EQ(0, t_records());
    SAID("0", t_tell("EXISTS {q}:ids"));
    PASS();
}

TEST an_id_is_free_when_nothing_is_kept(void)
{
    (void)t_offer("1", "0,0,0,1,0;x", "a");
    t_ready();
    (void)t_claim("W", "1", "1");
    SAID("d", RUN("keep", "W", "1", "1", t_token("1"), "0", "", NULL));
    SAID("0", t_tell("EXISTS {q}:ids"));
    SAID("2", t_offer("2", "0,0,0,1,0;x", "b"));
    PASS();
}

TEST an_id_that_another_job_has_by_now_stays(void)
{
    (void)t_offer("1", "0,0,0,1,0;x", "a");
    t_ready();
    (void)t_claim("W", "1", "1");
    (void)t_say("HSET {q}:ids x 9");
    (void)RUN("keep", "W", "1", "1", t_token("1"), "0", "", NULL);
    SAID("9", t_tell("HGET {q}:ids x"));
    PASS();
}

TEST a_retry_waits_and_counts_and_a_snooze_only_waits(void)
{
    t_put(2);
    (void)t_claim("W", "1", "2");
    SAID("dd", RUN("fail", "W", "1", "1", t_token("1"), "r", "5000", "e1", "2",
                   t_token("2"), "s", "5000", "e2", NULL));
    SAID("W 0 1 0 0 - W", t_state("1"));
    SAID("W 0 0 0 0 - W", t_state("2"));
    SAID("xe1", t_tell("HGET {q}:jobs 1r"));
    SAID("[1 2]", t_tell("ZRANGE {q}:delayed 0 -1"));
    SWEPT;
    PASS();
}

TEST a_dead_job_is_replayed_with_its_count(void)
{
    t_put(1);
    (void)t_claim("W", "1", "1");
    SAID("d", RUN("fail", "W", "1", "1", t_token("1"), "x", "0", "no", NULL));
    SAID("X 0 1 0 0 - W", t_state("1"));
    SWEPT;
    SAID("[1 0 1]", RUN("replay", "1", "9", "1", "7", NULL));
    SAID("W 0 0 0 1 - W", t_state("1"));
    SWEPT;
    t_ready();
    (void)t_claim("W", "2", "1");
    (void)RUN("fail", "W", "2", "1", t_token("1"), "x", "0", "no", NULL);
    SAID("[0 1 0]", RUN("replay", "1", "9", NULL));
    SWEPT;
    PASS();
}

TEST a_failure_that_is_repeated_counts_once(void)
{
    const char *token;

    t_put(1);
    (void)t_claim("W", "1", "1");
    token = t_token("1");
    SAID("d", RUN("fail", "W", "1", "1", token, "r", "0", "e", NULL));
    SAID("d", RUN("fail", "W", "1", "1", token, "r", "0", "e", NULL));
    SAID("W 0 1 0 0 - W", t_state("1"));
    PASS();
}

TEST who_waits_hears_how_it_ended(void)
{
    int other;
    const uint8_t *from;
    size_t n;

    if (t_local == NULL)
        SKIP();
    other = relet_local_connect(t_local);
    relet_local_feed(t_local, other, "SUBSCRIBE me\r\n", 14);
    relet_local_sent(t_local, other, relet_local_output(t_local, other, &from));
    (void)t_offer("1", "0,0,0,0,6;k5 rme", "a");
    (void)t_offer("2", "0,0,0,0,3;rme", "b");
    (void)t_offer("3", "0,0,0,0,3;rme", "c");
    t_ready();
    (void)t_claim("W", "1", "2");
    (void)RUN("keep", "W", "1", "1", t_token("1"), "5", "r", NULL);
    (void)RUN("fail", "W", "1", "2", t_token("2"), "x", "0", "no", NULL);
    (void)RUN("cancel", "", "3", NULL);
    n = relet_local_output(t_local, other, &from);
    memcpy(t_reply, from, n);
    t_reply[n] = '\0';
    relet_local_hangup(t_local, other);
    ASSERT(strstr(t_reply, "\r\n1 d r\r\n"));
    ASSERT(strstr(t_reply, "\r\n2 x no\r\n"));
    ASSERT(strstr(t_reply, "\r\n3 c \r\n"));
    PASS();
}

TEST what_is_given_back_is_first_again(void)
{
    t_put(3);
    (void)t_claim("W", "1", "2");
    SAID("dd", RUN("release", "1", t_token("1"), "2", t_token("2"), NULL));
    SAID("[1 2 3]", t_tell("LRANGE {q}:waiting 0 -1"));
    SAID("W 0 0 0 0 - W", t_state("1"));
    SWEPT;
    PASS();
}

/* ------------------------------------------------------------------ leasing */

TEST a_renewal_is_for_the_one_who_holds(void)
{
    t_put(2);
    (void)t_claim("W", "1", "2");
    t_all_due("leased");
    ASSERT(strncmp(RUN("renew", "60000", "86400000", "1", t_token("1"), "2",
                       "5", "7", "7", NULL), "[rlg ", 5) == 0);
    SAID("[2]", t_tell("ZRANGE {q}:leased 0 0"));
    ASSERT(strlen(t_tell("ZSCORE {q}:leased 1")) > 5);
    PASS();
}

TEST nobody_holds_for_ever(void)
{
    t_put(1);
    (void)t_claim("W", "1", "1");
    if (t_local)
        relet_local_time(t_local, T_WALL_US + 2000);
    ASSERT(strncmp(RUN("renew", "60000", "-1000", "1", t_token("1"), NULL),
                   "[o ", 3) == 0);
    if (t_local)
        relet_local_time(t_local, T_WALL_US);
    PASS();
}

TEST a_lease_that_ended_is_relet_first(void)
{
    t_put(3);
    (void)t_claim("W", "1", "2");
    ASSERT(strncmp(RUN("reap", "9", "3", "0", NULL), "[0 0 ", 5) == 0);
    t_all_due("leased");
    SAID("[2 0 -1]", RUN("reap", "9", "3", "0", NULL));
    SAID("[1 2 3]", t_tell("LRANGE {q}:waiting 0 -1"));
    SAID("W 0 0 1 0 - W", t_state("1"));
    SWEPT;
    PASS();
}

TEST a_job_that_stalls_too_often_is_dead(void)
{
    t_put(1);
    (void)t_claim("W", "1", "1");
    t_all_due("leased");
    SAID("[0 1 -1]", RUN("reap", "9", "0", "0", NULL));
    SAID("X 0 0 1 0 - W", t_state("1"));
    SAID("xstalled too often", t_tell("HGET {q}:jobs 1r"));
    SWEPT;
    PASS();
}

TEST no_more_are_reaped_than_were_asked_for(void)
{
    t_put(3);
    (void)t_claim("W", "1", "3");
    t_all_due("leased");
    (void)RUN("reap", "2", "3", "0", NULL);
    ASSERT_EQ(2, t_nth(0));
    ASSERT(t_nth(2) == 0);
    SWEPT;
    PASS();
}

TEST another_server_holds_off_before_it_reaps(void)
{
    t_put(1);
    (void)t_claim("W", "1", "1");
    t_all_due("leased");
    (void)t_say("HSET {q}:jobs run another open 1");
    (void)RUN("reap", "9", "3", "50000", NULL);
    ASSERT_EQ(0, t_nth(0));
    ASSERT(t_nth(2) > 0 && t_nth(2) <= 50000);
    (void)t_say("HSET {q}:jobs open 1");
    (void)RUN("reap", "9", "3", "50000", NULL);
    ASSERT_EQ(1, t_nth(0));
    PASS();
}

/* --------------------------------------------------------------- cancelling */

TEST a_waiting_job_that_is_cancelled_is_gone(void)
{
    t_put(1);
    (void)t_offer("1", "3,5000,0,1,0;x", "a");
    SAID("[c 1]", RUN("cancel", "", "1", NULL));
    SAID("[c 2]", RUN("cancel", "x", "", NULL));
    SAID("[g 2]", RUN("cancel", "", "2", NULL));
    SAID("[g ]", RUN("cancel", "x", "", NULL));
    SAID("0", t_tell("EXISTS {q}:delayed {q}:ids"));
    ASSERT_EQ(0, t_records());
    PASS();
}

/* Acceptance 25: it is told by the renewal, and does not come back. */
TEST a_running_job_that_is_cancelled_never_comes_back(void)
{
    t_put(3);
    (void)t_claim("W", "1", "3");
    SAID("[r 1]", RUN("cancel", "", "1", NULL));
    (void)RUN("cancel", "", "2", NULL);
    (void)RUN("cancel", "", "3", NULL);
    ASSERT(strncmp(RUN("renew", "60000", "86400000", "1", t_token("1"), NULL),
                   "[c ", 3) == 0);
    SAID("d", RUN("fail", "W", "1", "1", t_token("1"), "r", "0", "e", NULL));
    SAID("d", RUN("release", "2", t_token("2"), NULL));
    t_all_due("leased");
    (void)RUN("reap", "9", "9", "0", NULL);
    SAID("[1 2 3]", t_tell("ZRANGE {q}:dead 0 -1"));
    SAID("0", t_tell("EXISTS {q}:waiting {q}:delayed {q}:leased"));
    SWEPT;
    PASS();
}

TEST what_has_ended_cannot_be_cancelled(void)
{
    (void)t_offer("1", "0,0,0,1,0;x", "a");
    t_ready();
    (void)t_claim("W", "1", "1");
    (void)RUN("keep", "W", "1", "1", t_token("1"), "60000", "res", NULL);
    SAID("[e 1]", RUN("cancel", "x", "", NULL));
    SAID("[g ]", RUN("cancel", "", "seq", NULL));
    SWEPT;
    PASS();
}

/* --------------------------------------------------------------- inspecting */

TEST a_job_is_found_in_each_of_its_places(void)
{
    (void)t_offer("1", "2,0,0,1,0;x", "a");
    ASSERT(strncmp(RUN("job", "x", "", NULL), "[y 1 1", 6) == 0);
    t_ready();
    ASSERT(strncmp(RUN("job", "", "1", NULL), "[w 1 -1 +", 9) == 0);
    (void)t_claim("W", "1", "1");
    (void)RUN("progress", "1", t_token("1"), "half", NULL);
    ASSERT(strstr(RUN("job", "x", "", NULL), "0 0 - W phalf]"));
    ASSERT(strncmp(t_shown, "[l 1 1", 6) == 0);
    (void)RUN("keep", "W", "1", "1", t_token("1"), "60000", "res", NULL);
    ASSERT(strncmp(RUN("job", "x", "", NULL), "[d 1 1", 6) == 0);
    ASSERT(strstr(t_shown, " dres]"));
    SAID("[g 7]", RUN("job", "", "7", NULL));
    PASS();
}

TEST a_queue_tells_how_it_is(void)
{
    SAID("[0 0 0 0 0 0 0 0 0 0 -1 0 0 -1 -1 -1",
         (RUN("status", NULL), *strrchr(t_shown, ' ') = '\0', t_shown));
    t_put(3);
    (void)t_offer("1", "0,5000,0,0,0;", "a");
    (void)t_say("HSET {q}:jobs limit 7 stopped 1");
    (void)RUN("status", NULL);
    ASSERT_EQ(3, t_nth(1));
    ASSERT_EQ(1, t_nth(3));
    ASSERT_EQ(4, t_nth(8));
    ASSERT_EQ(7, t_nth(10));
    ASSERT_EQ(0, t_nth(11));
    ASSERT_EQ(1, t_nth(12));
    ASSERT(t_nth(13) >= 0 && t_nth(13) < 100);
    ASSERT(t_nth(14) > 0 && t_nth(14) <= 5000);
    ASSERT_EQ(-1, t_nth(15));
    PASS();
}

/* ------------------------------------------------------------ purge and trim */

TEST a_purge_goes_on_until_all_is_gone(void)
{
    t_put(5);
    (void)t_offer("1", "0,5000,0,1,0;x", "a");
    SAID("[4 1]", RUN("purge", "a", "4", "0", NULL));
    SWEPT;
    SAID("[2 0]", RUN("purge", "a", "4", "0", NULL));
    ASSERT_EQ(0, t_records());
    SAID("0", t_tell("EXISTS {q}:waiting {q}:delayed {q}:ids"));
    PASS();
}

TEST a_purge_leaves_what_is_leased(void)
{
    t_put(3);
    (void)t_claim("W", "1", "1");
    (void)t_say("LPUSH {q}:waiting 1"); /* as a step that was cut leaves it */
    SAID("-LEASED 1 jobs are leased", RUN("purge", "a", "9", "0", NULL));
    (void)RUN("purge", "w", "9", "0", NULL);
    ASSERT_EQ(1, t_records());
    SWEPT;
    (void)RUN("purge", "a", "9", "1", NULL);
    ASSERT_EQ(0, t_records());
    SAID("g", RUN("done", "W", "1", "1", "1", NULL));
    PASS();
}

TEST a_trim_leaves_what_has_not_ended(void)
{
    t_put(2);
    (void)t_claim("W", "1", "1");
    (void)t_say("ZADD {q}:done 0 1"); /* as steps that were cut leave them */
    (void)t_say("ZADD {q}:dead 0 2");
    (void)t_say("HSET {q}:jobs 2s W");
    SAID("[2 0]", RUN("trim", "0", "0", "0", "9", NULL));
    ASSERT_EQ(2, t_records());
    SWEPT;
    PASS();
}

TEST the_dead_are_kept_up_to_a_number_and_an_age(void)
{
    t_put(3);
    (void)t_claim("W", "1", "3");
    (void)RUN("fail", "W", "1", "1", t_token("1"), "x", "0", "", "2",
              t_token("2"), "x", "0", "", "3", t_token("3"), "x", "0", "",
              NULL);
    SAID("[1 0]", RUN("trim", "0", "2", "0", "9", NULL));
    SAID("[0 0]", RUN("trim", "0", "2", "60000", "9", NULL));
    (void)t_say("ZADD {q}:dead 1 2");
    SAID("[1 0]", RUN("trim", "0", "2", "60000", "9", NULL));
    SAID("[3]", t_tell("ZRANGE {q}:dead 0 -1"));
    SWEPT;
    PASS();
}

TEST what_dead_clients_were_told_is_forgotten(void)
{
    char line[100];
    const char *seen;

    t_put(2);
    (void)t_claim("W", "1", "1");
    SAID("i0", RUN("forget", "", "1000", NULL));
    SAID("", RUN("forget", "i0", "1000", NULL));
    seen = strchr(t_tell("HGET {q}:jobs cW"), '@');
    ASSERT(seen != NULL);
    sprintf(line, "HSET {q}:jobs cW 1@%ld", strtol(seen + 1, NULL, 10) - 3700);
    (void)t_say(line);
    sprintf(line, "HSET {q}:jobs cV 1_2@%ld", strtol(seen + 1, NULL, 10) - 9);
    *strchr(line, '_') = '\t';
    (void)RUN("forget", "", "1000", NULL);
    SAID("1", t_tell("HEXISTS {q}:jobs pP.0"));
    SAID("[1 1]", RUN("put", "P.0", "1", "0", "a", NULL));
    PASS();
}

/* ----------------------------------------------------------------- by type */

TEST a_type_is_picked_from_what_waits(void)
{
    (void)RUN("offer", "P.0", "1", "0", "0,0,1,0,0;A", "1", "0,0,1,0,0;B", "2",
              "0,0,1,0,0;A", "3", "0,0,1,0,0;B", "4", NULL);
    t_ready();
    (void)RUN("pick", "W", "1", "60000", "9", "B", "0", "3", "w", NULL);
    SAID("2", t_brought());
    ASSERT_EQ(3, t_nth(2));
    SAID("[]", RUN("pick", "W", "1", "60000", "9", "B", "0", "3", "w", NULL));
    (void)RUN("pick", "W", "2", "60000", "9", "B", "3", "3", "w", NULL);
    SAID("4", t_brought());
    ASSERT_EQ(-1, t_nth(2));
    SWEPT;
    (void)t_claim("V", "1", "9");
    SAID("1 3", t_brought());
    SWEPT;
    ASSERT_EQ(NULL, t_drain());
    PASS();
}

TEST a_type_is_picked_from_ranks(void)
{
    (void)RUN("offer", "P.0", "1", "0", "1,0,1,0,0;A", "1", "2,0,1,0,0;B", "2",
              "0,0,1,0,0;B", "3", NULL);
    t_ready();
    (void)RUN("pick", "W", "1", "60000", "9", "B", "0", "9", "r", NULL);
    SAID("2 3", t_brought());
    SAID("[1]", t_tell("ZRANGE {q}:ranked 0 -1"));
    SWEPT;
    PASS();
}

/* ------------------------------------------------------------------- unique */

static const char *t_unique(const char *op, const char *mode, const char *head)
{
    return RUN("unique", "P.3", op, mode, "60000", head, op, NULL);
}

TEST a_throttle_lets_one_pass_in_its_window(void)
{
    SAID("1", t_unique("1", "t", "0,0,0,1,0;x"));
    SAID("-1", t_unique("2", "t", "0,0,0,1,0;x"));
    t_ready();
    (void)t_claim("W", "1", "1");
    (void)RUN("keep", "W", "1", "1", t_token("1"), "0", "", NULL);
    SAID("-1", t_unique("3", "t", "0,0,0,1,0;x"));
    (void)t_say("HSET {q}:ids x 1,5,60000");
    SAID("2", t_unique("4", "t", "0,0,0,1,0;x"));
    SWEPT;
    PASS();
}

TEST an_extended_window_begins_anew(void)
{
    char first[60];

    (void)t_unique("1", "e", "0,0,0,1,0;x");
    (void)t_say("HSET {q}:ids x 1,4000000000000,50000");
    strcpy(first, t_tell("HGET {q}:ids x"));
    SAID("-1", t_unique("2", "e", "0,0,0,1,0;x"));
    ASSERT(strcmp(first, t_tell("HGET {q}:ids x")) != 0);
    ASSERT(strstr(t_shown, ",50000"));
    SAID("-1", t_unique("3", "t", "0,0,0,1,0;x"));
    PASS();
}

TEST a_replacement_takes_the_payload_alone(void)
{
    SAID("1", t_unique("1", "r", "3,0,0,1,0;x"));
    SAID("-1", t_unique("2", "r", "0,9,1,1,0;Tx"));
    ASSERT(strstr(RUN("job", "x", "", NULL), "3,0,0,1,0;x2 "));
    t_ready();
    (void)t_claim("W", "1", "1");
    SAID("-1", t_unique("3", "r", "0,0,0,1,0;x"));
    ASSERT(strstr(RUN("job", "x", "", NULL), "3,0,0,1,0;x2 "));
    SWEPT;
    PASS();
}

TEST a_debounced_job_waits_anew(void)
{
    (void)t_unique("1", "d", "0,5000,0,1,0;x");
    t_all_due("delayed");
    SAID("-1", t_unique("2", "d", "0,5000,0,1,0;x"));
    ASSERT(strlen(t_tell("ZSCORE {q}:delayed 1")) > 5);
    t_ready();
    (void)t_claim("W", "1", "1");
    SAID("2", t_unique("3", "d", "0,5000,0,1,0;x"));
    (void)RUN("keep", "W", "1", "1", t_token("1"), "0", "", NULL);
    SAID("2", t_tell("HGET {q}:ids x"));
    SWEPT;
    PASS();
}

TEST what_is_refused_leaves_no_id(void)
{
    static const char *const modes[] = {"t", "e", "r", "d"};
    size_t i;

    (void)t_say("HSET {q}:jobs closed 1");
    for (i = 0; i < 4; i++)
        ASSERT_EQ('-', t_unique("1", modes[i], "0,0,0,1,0;x")[0]);
    SAID("0", t_tell("EXISTS {q}:ids {q}:delayed"));
    PASS();
}

TEST a_unique_put_that_is_repeated_is_done_once(void)
{
    SAID("1", t_unique("1", "d", "0,5000,0,1,0;x"));
    SAID("1", t_unique("1", "d", "0,5000,0,1,0;x"));
    SAID("-1", t_unique("2", "d", "0,5000,0,1,0;x"));
    SAID("-1", t_unique("2", "d", "0,5000,0,1,0;x"));
    SWEPT;
    PASS();
}

TEST a_window_that_has_closed_is_forgotten(void)
{
    (void)t_unique("1", "t", "0,0,0,1,0;x");
    (void)t_say("HSET {q}:ids x 1,5,60000 y 8,5,60000 z 9,4000000000000,9");
    SAID("", RUN("forget", "i0", "100", NULL));
    SAID("1", t_tell("HGET {q}:ids x"));
    SAID("nil", t_tell("HGET {q}:ids y"));
    SAID("9,4000000000000,9", t_tell("HGET {q}:ids z"));
    PASS();
}

/* ------------------------------------------------------- what may go wrong */

TEST a_queue_of_another_version_is_left_alone(void)
{
    static const char *const say[][10] = {
        {"put", "P", "1", "0", "a", NULL},
        {"offer", "P", "1", "0", "0,0,0,0,0;", "a", NULL},
        {"unique", "P", "1", "t", "9", "0,0,0,1,0;x", "a", NULL},
        {"claim", "W", "1", "9", "9", NULL},
        {"pick", "W", "1", "9", "9", "t", "0", "9", "w", NULL},
        {"done", "W", "1", "1", "1", NULL},
        {"keep", "W", "1", "1", "1", "0", "", NULL},
        {"fail", "W", "1", "1", "1", "r", "0", "", NULL},
        {"release", "1", "1", NULL},
        {"renew", "9", "9", "1", "1", NULL},
        {"held", "W", "1", NULL},
        {"progress", "1", "1", "x", NULL},
        {"ready", "9", NULL},
        {"reap", "9", "9", "9", NULL},
        {"replay", "9", "9", NULL},
        {"cancel", "", "1", NULL},
        {"trim", "0", "0", "0", "9", NULL},
        {"purge", "a", "9", "1", NULL},
        {"forget", "", "9", NULL},
        {"job", "", "1", NULL}};
    relet_span arg[10];
    size_t i, n;

    (void)t_say("HSET {q}:jobs version 2");
    for (i = 0; i < sizeof say / sizeof say[0]; i++) {
        for (n = 0; say[i][n + 1] != NULL; n++)
            arg[n] = t_span(say[i][n + 1]);
        SAID("-VERSION 2", t_run_spans(say[i][0], arg, n));
    }
    SAID("1", t_tell("DBSIZE"));
    SAID("1", t_tell("HLEN {q}:jobs"));
    PASS();
}

TEST work_goes_on_when_memory_is_full(void)
{
    t_put(3);
    (void)t_say("CONFIG SET maxmemory 1");
    ASSERT(strncmp(RUN("put", "P.1", "2", "0", "x", NULL), "-OOM", 4) == 0);
    ASSERT(strncmp(t_offer("1", "0,0,0,0,0;", "x"), "-OOM", 4) == 0);
    ASSERT(strncmp(t_unique("1", "t", "0,0,0,1,0;x"), "-OOM", 4) == 0);
    (void)t_claim("W", "1", "3");
    SAID("1 2 3", t_brought());
    SAID("d", RUN("done", "W", "1", "1", t_token("1"), NULL));
    SAID("d", RUN("fail", "W", "1", "2", t_token("2"), "r", "0", "e", NULL));
    SAID("d", RUN("release", "3", t_token("3"), NULL));
    ASSERT_EQ(NULL, t_drain());
    PASS();
}

/* --------------------------------------------------------------- cut anywhere
 *
 * Jobs in every place; then one step, which ends in an error after k of its
 * commands, for each k; then the same step again, as a client does it; then
 * all that is there is finished. */

static void t_everywhere(void)
{
    t_fresh(NULL);
    t_put(7);
    (void)RUN("offer", "P.8", "1", "0", "0,0,1,1,3;Tuk5 ", "u", "4,0,0,1,0;v",
              "v", "2,3600000,0,1,0;w", "w", NULL); /* 8, 9, 10 */
    (void)t_claim("W", "1", "5");
    (void)RUN("fail", "W", "1", "4", t_token("4"), "x", "0", "no", "5",
              t_token("5"), "r", "0", "no", NULL);
}

static const char *const t_steps[][12] = {
    {"put", "P.2", "5", "0", "g", "h", NULL},
    {"offer", "P.2", "5", "0", "0,0,0,1,0;z", "z", "3,7,0,1,0;y", "y", NULL},
    {"unique", "P.2", "5", "t", "5000", "0,0,0,1,0;z", "z", NULL},
    {"unique", "P.2", "5", "e", "5000", "0,0,0,1,0;u", "z", NULL},
    {"unique", "P.2", "5", "r", "5000", "0,0,0,1,0;u", "z", NULL},
    {"unique", "P.2", "5", "d", "5000", "0,0,0,1,0;w", "z", NULL},
    {"ready", "9", NULL},
    {"claim", "V", "2", "60000", "2", NULL},
    {"claim", "V", "2", "60000", "9", NULL},
    {"pick", "V", "2", "60000", "2", "", "0", "9", "w", NULL},
    {"done", "W", "2", "1", "#1", "2", "#2", NULL},
    {"keep", "W.1", "3", "1", "#1", "0", "r", NULL},
    {"keep", "W.1", "3", "1", "#1", "5000", "r", NULL},
    {"fail", "W.1", "3", "1", "#1", "r", "5000", "r", NULL},
    {"fail", "W.1", "3", "1", "#1", "x", "5000", "r", NULL},
    {"release", "1", "#1", "3", "#3", NULL},
    {"renew", "60000", "86400000", "1", "#1", "3", "#3", NULL},
    {"progress", "1", "#1", "text", NULL},
    {"reap", "9", "9", "0", NULL},
    {"reap", "9", "0", "0", NULL},
    {"cancel", "", "6", NULL},
    {"cancel", "u", "", NULL},
    {"cancel", "", "1", NULL},
    {"replay", "9", "9", NULL},
    {"trim", "0", "0", "0", "9", NULL},
    {"purge", "a", "5", "1", NULL},
    {"forget", "", "100", NULL},
    {"sleep", "me", "1", NULL}};

/* #3 stands for the token of job 3. */
static const char *t_step(const char *const *step)
{
    relet_span arg[12];
    char token[12][30];
    size_t n;
    int cut = t_cut;

    t_cut = -1;
    for (n = 0; step[n + 1] != NULL; n++) {
        arg[n] = t_span(step[n + 1]);
        if (step[n + 1][0] == '#') {
            strcpy(token[n], t_token(step[n + 1] + 1));
            arg[n] = t_span(token[n]);
        }
    }
    t_cut = cut;
    (void)t_run_spans(step[0], arg, n);
    t_cut = -1;
    return t_shown;
}

static void t_prepare(const char *name)
{
    t_everywhere();
    if (strcmp(name, "reap") == 0)
        t_all_due("leased");
    if (strcmp(name, "ready") == 0)
        t_all_due("delayed");
}

TEST a_step_that_is_cut_anywhere_loses_and_doubles_nothing(void)
{
    size_t i;
    int k, cuts = 0;
    char name[60];

    for (i = 0; i < sizeof t_steps / sizeof t_steps[0]; i++)
        for (k = 0;; k++) {
            const char *said;
            int whole;

            sprintf(name, "%s (%d) cut after %d", t_steps[i][0], (int)i, k);
            t_prepare(t_steps[i][0]);
            ASSERT_EQm(name, NULL, t_sweep(0));
            t_cut = k;
            said = t_step(t_steps[i]);
            whole = !(said[0] == '-' && strstr(said, "cut"));
            ASSERTm(name, !whole || said[0] != '-' ||
                              strchr("0123456789", said[1]));
            ASSERT_EQm(name, NULL, t_sweep(0));
            said = t_step(t_steps[i]);
            ASSERTm(name, said[0] != '-' ||
                              strchr("0123456789", said[1]));
            ASSERT_EQm(name, NULL, t_sweep(0));
            said = t_drain();
            if (said)
                fprintf(stderr, "%s: %s\n", name, said);
            ASSERT_EQm(name, NULL, said);
            cuts++;
            if (whole)
                break;
        }
    ASSERT(cuts > 150);
    PASS();
}

TEST each_script_is_short_and_says_what_it_does(void)
{
    size_t i;

    for (i = 0; i < T_SCRIPTS; i++)
        ASSERT_EQm(t_scripts[i].name, NULL,
                   t_form(t_scripts[i].text, t_scripts[i].oom));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    const char *path = NULL;

    if (argc > 1 && argv[1][0] == '/') {
        path = argv[1];
        argc--;
        argv++;
    }
    GREATEST_MAIN_BEGIN();
    if (!(path ? t_open_real(path) : t_open_local())) {
        fprintf(stderr, "queue_scripts_test: no server\n");
        return 1;
    }
    if (!t_load_all()) {
        fprintf(stderr, "queue_scripts_test: run it where lua/ is\n");
        return 1;
    }
    GREATEST_SET_SETUP_CB(t_fresh, NULL);
    RUN_TEST(jobs_are_given_numbers_in_their_order);
    RUN_TEST(a_put_that_is_repeated_is_done_once);
    RUN_TEST(a_full_queue_takes_all_or_nothing);
    RUN_TEST(a_closed_queue_takes_nothing_but_repeats);
    RUN_TEST(numbers_go_on_beyond_2_to_31);
    RUN_TEST(what_is_offered_waits_once_it_is_due);
    RUN_TEST(an_id_that_is_taken_names_the_first_job);
    RUN_TEST(an_offer_that_is_repeated_is_done_once);
    RUN_TEST(a_twin_whose_record_is_gone_is_no_twin);
    RUN_TEST(a_dead_twin_does_not_block);
    RUN_TEST(ids_may_hold_any_byte);
    RUN_TEST(the_oldest_come_first);
    RUN_TEST(a_claim_that_is_repeated_brings_nothing_more);
    RUN_TEST(what_is_held_is_what_is_still_leased);
    RUN_TEST(tokens_grow_though_the_clock_goes_back);
    RUN_TEST(ghosts_are_passed_over_and_counted);
    RUN_TEST(one_that_stands_twice_in_line_is_leased_once);
    RUN_TEST(a_limit_holds_the_others_back);
    RUN_TEST(a_stopped_queue_gives_nothing_out);
    RUN_TEST(a_rank_goes_before_a_thousand_older_jobs_and_no_more);
    RUN_TEST(ranks_come_after_the_list_that_was_there);
    RUN_TEST(delayed_jobs_come_in_the_order_in_which_they_are_due);
    RUN_TEST(no_more_are_promoted_than_were_asked_for);
    RUN_TEST(a_delayed_name_that_is_none_stops_nobody);
    RUN_TEST(done_jobs_leave_nothing);
    RUN_TEST(done_that_is_repeated_says_the_same);
    RUN_TEST(an_old_token_changes_nothing);
    RUN_TEST(what_is_kept_is_kept_for_its_time);
    RUN_TEST(an_id_is_free_when_nothing_is_kept);
    RUN_TEST(an_id_that_another_job_has_by_now_stays);
    RUN_TEST(a_retry_waits_and_counts_and_a_snooze_only_waits);
    RUN_TEST(a_dead_job_is_replayed_with_its_count);
    RUN_TEST(a_failure_that_is_repeated_counts_once);
    RUN_TEST(who_waits_hears_how_it_ended);
    RUN_TEST(what_is_given_back_is_first_again);
    RUN_TEST(a_renewal_is_for_the_one_who_holds);
    RUN_TEST(nobody_holds_for_ever);
    RUN_TEST(a_lease_that_ended_is_relet_first);
    RUN_TEST(a_job_that_stalls_too_often_is_dead);
    RUN_TEST(no_more_are_reaped_than_were_asked_for);
    RUN_TEST(another_server_holds_off_before_it_reaps);
    RUN_TEST(a_waiting_job_that_is_cancelled_is_gone);
    RUN_TEST(a_running_job_that_is_cancelled_never_comes_back);
    RUN_TEST(what_has_ended_cannot_be_cancelled);
    RUN_TEST(a_job_is_found_in_each_of_its_places);
    RUN_TEST(a_queue_tells_how_it_is);
    RUN_TEST(a_purge_goes_on_until_all_is_gone);
    RUN_TEST(a_purge_leaves_what_is_leased);
    RUN_TEST(a_trim_leaves_what_has_not_ended);
    RUN_TEST(the_dead_are_kept_up_to_a_number_and_an_age);
    RUN_TEST(what_dead_clients_were_told_is_forgotten);
    RUN_TEST(a_type_is_picked_from_what_waits);
    RUN_TEST(a_type_is_picked_from_ranks);
    RUN_TEST(a_throttle_lets_one_pass_in_its_window);
    RUN_TEST(an_extended_window_begins_anew);
    RUN_TEST(a_replacement_takes_the_payload_alone);
    RUN_TEST(a_debounced_job_waits_anew);
    RUN_TEST(what_is_refused_leaves_no_id);
    RUN_TEST(a_unique_put_that_is_repeated_is_done_once);
    RUN_TEST(a_window_that_has_closed_is_forgotten);
    RUN_TEST(a_queue_of_another_version_is_left_alone);
    RUN_TEST(work_goes_on_when_memory_is_full);
    RUN_TEST(a_step_that_is_cut_anywhere_loses_and_doubles_nothing);
    RUN_TEST(each_script_is_short_and_says_what_it_does);
    t_close();
    GREATEST_MAIN_END();
}
