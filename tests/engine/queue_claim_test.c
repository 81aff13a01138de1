/* SPDX-License-Identifier: MIT
 *
 * queue_claim_test.c - the scripts of a queue on a server: how jobs are
 * leased, by age, rank and type, and relet.
 *
 *   queue_claim_test [SOCKET]    the local server, or a real one there
 *
 * The tests move time by setting scores to 0: so no test waits, and the results
 * are the same on every server. */
#include "queue_rig.h"

/* ----------------------------------------------------------------- claiming */

/* Small and large claims, with and without jobs leased before: the path
 * differs. */
TEST a_claim_leases_the_jobs_it_brings_and_no_others(void)
{
    static const char *const many[] = {"16", "17", "26"};
    char count[16];
    int i, n;

    for (i = 0; i < 6; i++) {
        t_fresh(NULL);
        t_put(26);
        if (i >= 3)
            (void)t_claim("V", "1", "5");
        (void)t_claim("W", "2", many[i % 3]);
        n = i < 3 ? atoi(many[i]) : i == 5 ? 26 : 5 + atoi(many[i - 3]);
        sprintf(count, "%d", n);
        SAID(count, t_tell("ZCARD {q}:leased"));
        sprintf(count, "%d", n > 26 ? 0 : 26 - n);
        SAID(count, t_tell("LLEN {q}:waiting"));
        SWEPT;
    }
    PASS();
}

TEST a_claim_brings_the_oldest_jobs_first(void)
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
    (void)RUN("recall", "W", "1", NULL);
    SAID("1 2", t_brought());
    SWEPT;
    PASS();
}

/* Regression, found by the simulator: the worker of such a claim had ended
 * before the claim ran, and the jobs stalled. */
TEST a_claim_that_comes_behind_its_recall_brings_nothing(void)
{
    t_put(2);
    (void)RUN("recall", "W", "4", NULL);
    SAID("[]", t_claim("W", "4", "2"));
    SAID("[]", t_claim("W", "3", "2"));
    (void)t_claim("W", "5", "2");
    SAID("1 2", t_brought());
    PASS();
}

/* Regression, found by faults T17-jobs: a server that cut the link because an
 * answer was too long cut each next link for the same answer. Seed 949 of
 * WORK=jobs found the same with a client that reads at most 32 values. */
TEST a_claim_brings_no_more_bytes_than_its_client_reads(void)
{
    static char bulky[600001];
    char op[12], most[12];
    int n;

    memset(bulky, 'x', sizeof bulky - 1);
    (void)RUN("put", "P", "1", "0", bulky, bulky, "c", "d", NULL);
    (void)t_claim("W", "1", "4");
    SAID("1", t_brought());
    ASSERT_EQ(0, t_nth(2));
    (void)t_claim("W", "2", "4");
    SAID("2 3 4", t_brought());
    bulky[300] = '\0';
    for (n = 0; n < 40; n++) {
        t_fresh(NULL);
        (void)RUN("put", "P", "1", "0", bulky, "b", "", bulky, "e", NULL);
        sprintf(op, "%d", n + 1);
        sprintf(most, "%d", 50 * n);
        (void)RUN("claim", "W", op, "60000", "5", most, NULL);
        ASSERT(strcmp(t_brought(), "1") == 0 ||
               t_reply_n <= (size_t)(50 * n + 128));
    }
    SAID("1 2 3 4 5", t_brought());
    PASS();
}

TEST a_job_over_the_byte_limit_is_brought_alone(void)
{
    t_put(3);
    (void)RUN("claim", "W", "1", "60000", "3", "1", NULL);
    SAID("1", t_brought());
    (void)RUN("claim", "W", "2", "60000", "3", "1", NULL);
    SAID("2", t_brought());
    PASS();
}

/* The last byte of the i-th record of an answer. */
static char t_record_end(size_t i)
{
    const char *end = t_reply + t_reply_n, *p = strstr(t_reply, "\r\n") + 2;

    for (i = 3 + 3 * i + 2; i > 0; i--)
        p = t_behind(p, end);
    return p[-3];
}

/* The script fetches only the first sixteen records at first, in case the
 * records are huge. */
TEST a_claim_of_many_brings_each_with_its_record(void)
{
    char op[20];
    size_t i;

    for (i = 0; i < 4; i++) {
        sprintf(op, "%d", (int)i + 10);
        (void)RUN("put", "P.1", op, "0", "a", "b", "c", "d", "e", "f", "g",
                  "h", "i", "j", NULL);
    }
    (void)t_claim("V", "1", "20");
    (void)RUN("cancel", "", "33", NULL);
    (void)RUN("release", "17", t_token("17"), "18", t_token("18"), NULL);
    (void)t_claim("W", "1", "50");
    ASSERT_EQ(1, t_nth(2));
    SAID("17 18 21 22 23 24 25 26 27 28 29 30 31 32 34 35 36 37 38 39 40",
         t_brought());
    ASSERT_EQ('g', t_record_end(0));
    for (i = 2; i < 14; i++)
        ASSERT_EQ("abcdefghij"[(i - 2) % 10], t_record_end(i));
    for (; i < 21; i++)
        ASSERT_EQ("abcdefghij"[(i - 1) % 10], t_record_end(i));
    SWEPT;
    PASS();
}

/* The cursor in an answer of claim_type, as text; t_brought reads the jobs. */
static const char *t_pick(const char *op, const char *n, const char *type,
                          const char *from)
{
    static char said[60];
    const char *p;

    if (RUN("claim_type", "W", op, "60000", n, "1048576", type, from,
            NULL)[0] != '[' ||
        t_reply[1] == '0')
        return t_show();
    p = t_behind(t_behind(strstr(t_reply, "\r\n") + 2, t_reply + t_reply_n),
                 t_reply + t_reply_n);
    sprintf(said, "%.*s", (int)strtol(p + 1, NULL, 10), strchr(p, '\n') + 1);
    return said;
}

/* Promotes the delayed jobs and gives the waiting ones their ranks. */
static void t_typed(void)
{
    t_promote();
    (void)RUN("rank", "1000", NULL);
}

/* Jobs passed over on the way to the first match do not count as brought. */
TEST a_claim_by_type_brings_no_more_bytes_than_its_client_reads(void)
{
    static char bulky[600001];
    static const char a[] = "0,0,1,0,0;A", b[] = "0,0,1,0,0;B";

    memset(bulky, 'x', sizeof bulky - 1);
    (void)RUN("put_full", "P.0", "1", "0", b, bulky, a, bulky, b, "c", a, bulky,
              a, "e", NULL);
    t_typed();
    SAID("m1", t_pick("1", "9", "A", "-inf")); /* it has read one MiB */
    SAID("", t_brought());
    SAID("m3", t_pick("2", "9", "A", "1"));
    SAID("2", t_brought());
    SAID("e5", t_pick("3", "9", "A", "3"));
    SAID("4 5", t_brought());
    PASS();
}

TEST a_claim_by_type_brings_bulky_jobs_one_by_one(void)
{
    static const char a[] = "0,0,1,0,0;A";

    (void)RUN("put_full", "P.0", "1", "0", a, "x", a, "y", NULL);
    t_typed();
    (void)RUN("claim_type", "W", "1", "60000", "9", "1", "A", "-inf", NULL);
    SAID("1", t_brought());
    (void)RUN("claim_type", "W", "2", "60000", "9", "1", "A", "1", NULL);
    SAID("2", t_brought());
    PASS();
}

TEST a_recall_brings_only_jobs_that_are_still_leased(void)
{
    t_put(2);
    (void)t_claim("W", "1", "2");
    (void)RUN("done_plain", "W", "1", "1", t_token("1"), NULL);
    (void)RUN("recall", "W", "1", NULL);
    ASSERT_EQ(1, t_nth(0));
    SAID("2", t_brought());
    (void)RUN("release", "2", t_token("2"), NULL);
    (void)RUN("recall", "W", "1", NULL);
    SAID("", t_brought());
    (void)RUN("recall", "W", "2", NULL);
    ASSERT_EQ(0, t_nth(0));
    SAID("", t_brought());
    PASS();
}

TEST a_recall_brings_no_job_that_another_worker_has_by_now(void)
{
    t_put(2);
    (void)t_claim("W", "1", "2");
    t_all_due("leased");
    (void)t_reap("1", "3", "0");
    (void)t_claim("V", "1", "1");
    (void)RUN("recall", "W", "1", NULL);
    ASSERT_EQ(1, t_nth(0));
    SAID("2", t_brought());
    PASS();
}

/* The keys of claims have no time to live either, so a server that evicts such
 * keys removes nothing. */
TEST no_key_of_a_queue_ends_by_itself(void)
{
    char line[T_WORD + 10];
    t_list keys;
    size_t i;

    t_put(3);
    (void)t_put_full("1", "5,0,1,1,7;tyk86400 ", "ranked");
    t_promote();
    (void)t_put_full("2", "0,60000,0,1,3;xk9 ", "later");
    (void)t_claim("W", "1", "3");
    (void)RUN("renew", "60000", "86400000", "1", t_token("1"), NULL);
    (void)RUN("done", "W", "1", "1", t_token("1"), "60000", "r", NULL);
    (void)RUN("fail", "W", "1", "2", t_token("2"), "x", "0", "e", NULL);
    (void)RUN("progress", "3", t_token("3"), "half", NULL);
    (void)t_say("RENAME {q}:ranked {q}:aside");
    (void)RUN("idle", "wake:1", "1", NULL);
    (void)t_say("RENAME {q}:aside {q}:ranked");
    SAID("6", RUN("unique", "P.8", "1", "t", "60000", "0,0,0,1,0;z", "a", "0",
                  NULL));
    t_read(&keys, "KEYS {q}*");
    /* jobs, ids, ranked, delayed, leased, done, dead, idle */
    ASSERT_EQ_FMT((size_t)8, keys.n, "%zu");
    for (i = 0; i < keys.n; i++) {
        sprintf(line, "PTTL %s", keys.word[i]);
        SAID("-1", t_tell(line));
    }
    PASS();
}

/* There is no list of workers that could name a worker that is gone. */
TEST a_job_names_the_workers_that_had_it(void)
{
    t_put(1);
    (void)t_claim("A", "1", "1");
    t_all_due("leased");
    (void)t_reap("9", "3", "0");
    ASSERT(strcmp(strstr(t_state("1"), " - "), " - A") == 0);
    (void)t_claim("B", "1", "1");
    ASSERT(strcmp(strstr(t_state("1"), " - "), " - A B") == 0);
    (void)RUN("fail", "B", "1", "1", t_token("1"), "x", "0", "e", NULL);
    (void)RUN("look", "", "1", NULL);
    ASSERT(strstr(t_shown, " - A B "));
    SAID("0", t_tell("EXISTS {q}:idle {q}:leased"));
    PASS();
}

TEST tokens_of_jobs_grow_though_the_clock_goes_back(void)
{
    t_put(2);
    (void)t_say("HSET {q}:jobs fence 4000000000000000");
    (void)t_claim("W", "1", "2");
    SAID("4000000000000001", t_token("1"));
    SAID("4000000000000002", t_token("2"));
    SAID("4000000000000002", t_tell("HGET {q}:jobs fence"));
    PASS();
}

TEST places_of_cancelled_jobs_are_passed_over_and_counted(void)
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

TEST a_job_twice_in_the_waiting_list_is_leased_once(void)
{
    t_put(1);
    (void)t_say("RPUSH {q}:waiting 1");
    (void)t_claim("W", "1", "5");
    SAID("1", t_brought());
    ASSERT_EQ(1, t_nth(2));
    SWEPT;
    PASS();
}

TEST a_limit_of_leased_jobs_holds_further_jobs_back(void)
{
    t_put(4);
    (void)t_say("HSET {q}:jobs limit 2");
    (void)t_claim("W", "1", "3");
    SAID("1 2", t_brought());
    ASSERT_EQ(-1, t_nth(2));
    (void)t_claim("V", "1", "3");
    SAID("", t_brought());
    ASSERT_EQ(-1, t_nth(2));
    (void)RUN("done_plain", "W", "1", "1", t_token("1"), NULL);
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
    SAID("1003", t_put_full("1", "1,0,0,0,0;", "r"));
    t_promote();
    (void)t_claim("W", "1", "9");
    SAID("1 2 1003 3", t_brought());
    SWEPT;
    PASS();
}

TEST ranks_come_after_the_list_that_was_there(void)
{
    t_put(2);
    SAID("3", t_put_full("1", "5,0,0,0,0;", "r"));
    t_promote();
    SAID("[4 0]", RUN("put", "P.1", "2", "0", "d", NULL));
    SAID("[3 4]", t_tell("ZRANGE {q}:ranked 0 -1"));
    (void)t_claim("W", "1", "3");
    SAID("1 2 3", t_brought());
    SWEPT;
    PASS();
}

TEST delayed_jobs_come_in_the_order_in_which_they_are_due(void)
{
    (void)t_say("HSET {q}:jobs seq 7");
    (void)RUN("put_full", "P.0", "1", "0", "0,30,0,0,0;", "a", "0,20,0,0,0;",
              "b",
              "0,20,0,0,0;", "c", "0,10,0,0,0;", "d", NULL);
    SAID("[11 9 10 8]", t_tell("ZRANGE {q}:delayed 0 -1"));
    if (t_local) {
        relet_local_time(t_local, T_WALL_US + 20000);
        SAID("[3 10]", RUN("promote", "9", NULL));
        relet_local_time(t_local, T_WALL_US);
        SAID("[11 9 10]", t_tell("LRANGE {q}:waiting 0 -1"));
    }
    PASS();
}

TEST the_queue_knows_when_more_are_due(void)
{
    char due[60];

    (void)RUN("put_full", "P.0", "1", "0", "0,0,0,0,0;", "a",
              "0,3600000,0,0,0;",
              "b", NULL);
    (void)t_say("ZADD {q}:delayed 0 1");
    (void)RUN("promote", "9", NULL);
    strcpy(due, t_tell("ZSCORE {q}:delayed 2"));
    SAID(due, t_tell("HGET {q}:jobs due"));
    t_all_due("delayed");
    (void)RUN("promote", "9", NULL);
    SAID("", t_tell("HGET {q}:jobs due"));
    PASS();
}

TEST no_more_are_promoted_than_were_asked_for(void)
{
    (void)RUN("put_full", "P.0", "1", "0", "0,0,0,0,0;", "a", "0,0,0,0,0;", "b",
              "0,0,0,0,0;", "c", NULL);
    t_all_due("delayed");
    SAID("[2 0]", RUN("promote", "2", NULL));
    SAID("[1 -1]", RUN("promote", "2", NULL));
    SAID("[0 -1]", RUN("promote", "2", NULL));
    PASS();
}

TEST an_invalid_delayed_entry_does_not_stop_a_promotion(void)
{
    (void)t_say("ZADD {q}:delayed 0 junk");
    (void)t_put_full("1", "0,0,0,0,0;", "a");
    t_all_due("delayed");
    (void)RUN("promote", "9", NULL);
    SAID("[1]", t_tell("LRANGE {q}:waiting 0 -1"));
    PASS();
}

/* ------------------------------------------------------------------ leasing */

TEST a_renewal_extends_only_leases_with_the_given_token(void)
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

TEST a_lease_is_not_renewed_beyond_run_ms(void)
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
    ASSERT(strncmp(t_reap("9", "3", "0"), "[0 0 ", 5) == 0);
    t_all_due("leased");
    SAID("[2 0 -1]", t_reap("9", "3", "0"));
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
    SAID("[0 1 -1]", t_reap("9", "0", "0"));
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
    (void)t_reap("2", "3", "0");
    ASSERT_EQ(2, t_nth(0));
    ASSERT(t_nth(2) == 0);
    SWEPT;
    PASS();
}

/* Job 1 ends before its lapsed lease is found, job 2 after that. */
TEST a_reap_beside_an_end_or_another_reap_brings_a_job_back_once(void)
{
    char token[30];

    t_put(2);
    (void)t_claim("W", "1", "2");
    strcpy(token, t_token("2"));
    t_all_due("leased");
    SAID("d", RUN("done_plain", "W", "1", "1", t_token("1"), NULL));
    SAID("[1 0 -1]", t_reap("9", "3", "0"));
    SAID("[0 0 -1]", t_reap("9", "3", "0"));
    SAID("l", RUN("done_plain", "W", "2", "2", token, NULL));
    SAID("[2]", t_tell("LRANGE {q}:waiting 0 -1"));
    SAID("W 0 0 1 0 - W", t_state("2"));
    SWEPT;
    PASS();
}

TEST a_reap_is_delayed_on_a_new_server(void)
{
    t_put(1);
    (void)t_claim("W", "1", "1");
    t_all_due("leased");
    (void)t_say("HSET {q}:jobs run another open 1");
    (void)t_reap("9", "3", "50000");
    ASSERT_EQ(0, t_nth(0));
    ASSERT(t_nth(2) > 0 && t_nth(2) <= 50000);
    (void)t_say("HSET {q}:jobs open 1");
    (void)t_reap("9", "3", "50000");
    ASSERT_EQ(1, t_nth(0));
    PASS();
}

TEST a_failover_and_a_failback_delay_the_next_reap(void)
{
    t_put(1);
    (void)t_claim("W", "1", "1");
    t_all_due("leased");
    (void)t_reap("0", "3", "50000"); /* notes the server's run id */
    t_failed_back("{q}:jobs", "run");
    (void)t_reap("9", "3", "50000");
    ASSERT_EQ(0, t_nth(0));
    ASSERT(t_nth(2) > 0 && t_nth(2) <= 50000);
    (void)t_say("HSET {q}:jobs open 1");
    (void)t_reap("9", "3", "50000");
    ASSERT_EQ(1, t_nth(0));
    PASS();
}

TEST a_reap_is_delayed_after_a_leap_of_the_clock(void)
{
    t_put(1);
    (void)t_claim("W", "1", "1");
    (void)t_reap("9", "3", "0");
    t_all_due("leased");
    (void)RUN("reap", "9", "3", "50000", "1000", NULL);
    ASSERT_EQ(0, t_nth(0));
    ASSERT(t_nth(2) > 0 && t_nth(2) <= 50000);
    (void)t_reap("9", "3", "50000"); /* a reap without the leap waits, too */
    ASSERT_EQ(0, t_nth(0));
    PASS();
}

/* ----------------------------------------------------------------- by type */

TEST a_claim_by_type_leaves_other_types_in_their_order(void)
{
    (void)RUN("put_full", "P.0", "1", "0", "0,0,1,0,0;A", "1", "0,0,1,0,0;B",
              "2",
              "0,0,1,0,0;A", "3", "0,0,1,0,0;B", "4", NULL);
    t_typed();
    SAID("m3", t_pick("1", "1", "B", "-inf"));
    SAID("2", t_brought());
    SAID("[]", t_pick("1", "1", "B", "-inf"));
    (void)RUN("recall", "W", "1", NULL);
    SAID("2", t_brought());
    SAID("e4", t_pick("2", "9", "B", "3"));
    SAID("4", t_brought());
    SWEPT;
    SAID("e3", t_pick("3", "9", "C", "-inf"));
    SAID("", t_brought());
    (void)t_claim("V", "1", "9");
    SAID("1 3", t_brought());
    SWEPT;
    ASSERT_EQ(NULL, t_drain());
    PASS();
}

TEST a_type_that_begins_like_another_is_another(void)
{
    (void)RUN("put_full", "P.0", "1", "0", "0,0,2,0,0;AB", "1", "0,0,1,1,0;AB",
              "2", "0,0,0,2,0;AB", "3", NULL);
    t_typed();
    (void)t_pick("1", "9", "A", "-inf");
    SAID("2", t_brought());
    PASS();
}

TEST a_claim_by_type_brings_ranked_jobs_first(void)
{
    (void)RUN("put_full", "P.0", "1", "0", "0,0,1,0,0;A", "1", "0,0,1,0,0;B",
              "2",
              "5,0,1,0,0;B", "3", NULL);
    t_typed();
    SAID("e2", t_pick("1", "9", "B", "-inf"));
    SAID("3 2", t_brought());
    SAID("[1]", t_tell("ZRANGE {q}:ranked 0 -1"));
    SWEPT;
    PASS();
}

TEST a_list_is_ranked_from_its_end_before_a_claim_by_type(void)
{
    t_put(5);
    SAID("w", t_pick("1", "9", "A", "-inf"));
    SAID("[2 3]", RUN("rank", "2", NULL));
    SAID("[4 5]", t_tell("ZRANGE {q}:ranked 0 -1"));
    (void)t_claim("V", "1", "1");
    SAID("1", t_brought()); /* the oldest is still the first */
    SAID("w", t_pick("1", "9", "A", "-inf"));
    SAID("[2 0]", RUN("rank", "100", NULL));
    SAID("e5", t_pick("1", "9", "A", "-inf"));
    (void)RUN("put", "P.1", "9", "0", "new", NULL);
    SAID("0", t_tell("LLEN {q}:waiting"));
    (void)t_claim("V", "2", "9");
    SAID("2 3 4 5 6", t_brought());
    ASSERT_EQ(NULL, t_drain());
    PASS();
}

TEST a_claim_by_type_looks_at_128_jobs_and_returns_a_cursor(void)
{
    char op[20];
    int i;

    for (i = 0; i < 20; i++) {
        sprintf(op, "%d", i + 10);
        (void)RUN("put", "P.1", op, "0", "a", "b", "c", "d", "e", "f", "g",
                  "h", "i", "j", NULL);
    }
    (void)t_put_full("1", "0,0,1,0,0;A", "mine");
    t_typed();
    SAID("m128", t_pick("1", "2", "A", "-inf"));
    SAID("", t_brought());
    SAID("e201", t_pick("2", "2", "A", "128"));
    SAID("201", t_brought());
    PASS();
}

TEST a_limit_and_a_stop_hold_picks_back(void)
{
    (void)RUN("put_full", "P.0", "1", "0", "0,0,1,0,0;A", "1", "0,0,1,0,0;B",
              "2",
              "0,0,1,0,0;A", "3", NULL);
    t_typed();
    (void)t_say("HSET {q}:jobs stopped 1");
    SAID("h-inf", t_pick("1", "9", "A", "-inf"));
    (void)t_say("HDEL {q}:jobs stopped");
    (void)t_say("HSET {q}:jobs limit 1");
    SAID("h2", t_pick("1", "9", "A", "-inf"));
    SAID("1", t_brought());
    SAID("h2", t_pick("2", "9", "A", "2"));
    SAID("", t_brought());
    (void)RUN("done_plain", "W", "9", "1", t_token("1"), NULL);
    SAID("e3", t_pick("2", "9", "A", "2"));
    SAID("3", t_brought());
    PASS();
}

TEST a_claim_by_type_removes_places_without_a_job(void)
{
    (void)RUN("put_full", "P.0", "1", "0", "0,0,1,0,0;A", "1", "0,0,1,0,0;B",
              "2",
              NULL);
    t_typed();
    (void)t_say("ZADD {q}:ranked 0 77 1 odd");
    (void)t_say("HSET {q}:jobs 2s none");
    SAID("e2", t_pick("1", "9", "A", "-inf"));
    SAID("1", t_brought());
    SAID("0", t_tell("ZCARD {q}:ranked"));
    PASS();
}

/* Otherwise queue_forget.lua would not recognize the field. */
TEST an_empty_claim_by_type_is_recorded_in_the_usual_form(void)
{
    (void)RUN("rank", "9", NULL);
    (void)t_say("ZADD {q}:ranked 0 77");
    SAID("e0", t_pick("2", "9", "A", "-inf"));
    SAID("2 ", t_tell("HGET {q}:jobs cW"));
    PASS();
}

/* A claim_type that goes on behind a score would skip the second job for ever.
 */
TEST no_two_jobs_have_one_score(void)
{
    t_put(3);
    (void)t_say("HSET {q}:jobs seq 1002");
    (void)t_put_full("1", "1,0,1,0,0;A", "r");
    t_promote();
    (void)RUN("rank", "9", NULL);
    SAID("3", t_tell("ZSCORE {q}:ranked 3"));
    SAID("2.99951171875", t_tell("ZSCORE {q}:ranked 1003"));
    SAID("e3", t_pick("1", "1", "A", "2"));
    SAID("1003", t_brought());
    PASS();
}

/* The records are so long that the jobs are claimed page by page. */
TEST a_job_given_back_has_its_rank_again(void)
{
    static char bulky[600001];

    (void)t_say("HSET {q}:jobs ranks 1 seq 1001");
    memset(bulky, 'x', sizeof bulky - 1);
    (void)RUN("put_full", "P.0", "1", "0", "1,0,0,0,0;", "r", "-1,0,0,0,0;",
              bulky,
              "0,0,0,0,0;", bulky, NULL);
    t_promote();
    (void)t_claim("W", "1", "3");
    SAID("1002 1004", t_brought());
    (void)t_claim("W", "2", "3");
    SAID("1003", t_brought());
    (void)RUN("release", "1002", t_token("1002"), "1004", t_token("1004"),
              "1003", t_token("1003"), NULL);
    SAID("[1002 1004 1003]", t_tell("LRANGE {q}:waiting 0 -1"));
    SAID("[3 0]", RUN("rank", "128", NULL));
    SAID("[1002 1004 1003]", t_tell("ZRANGE {q}:ranked 0 -1"));
    SAID("1.99951171875", t_tell("ZSCORE {q}:ranked 1002"));
    SAID("1004", t_tell("ZSCORE {q}:ranked 1004"));
    SAID("2003.00048828125", t_tell("ZSCORE {q}:ranked 1003"));
    PASS();
}

TEST long_records_are_ranked_some_at_a_time(void)
{
    static char bulky[70001];
    int i;

    memset(bulky, 'x', sizeof bulky - 1);
    for (i = 0; i < 20; i++) {
        char op[12];

        sprintf(op, "%d", i + 1);
        (void)RUN("put", "P", op, "0", bulky, NULL);
    }
    SAID("[16 4]", RUN("rank", "128", NULL));
    SAID("[4 0]", RUN("rank", "128", NULL));
    SAID("[1 2 3 4 5 6]", t_tell("ZRANGE {q}:ranked 0 5"));
    PASS();
}

/* The worker that leaves may be the one that was woken. */
TEST a_leaving_worker_wakes_another_if_there_is_or_will_be_work(void)
{
    (void)t_say("ZADD {q}:idle 1 A 2 B 3 C");
    SAID("0", t_sleep("A", "0"));
    SAID("[B C]", t_tell("ZRANGE {q}:idle 0 -1"));
    (void)t_say("HSET {q}:jobs due 5");
    SAID("0", t_sleep("B", "0")); /* C does not listen */
    SAID("[]", t_tell("ZRANGE {q}:idle 0 -1"));
    (void)t_say("HDEL {q}:jobs due");
    (void)t_say("RPUSH {q}:waiting 1");
    (void)t_say("ZADD {q}:idle 2 B 3 C");
    SAID("0", t_sleep("B", "0"));
    SAID("[]", t_tell("ZRANGE {q}:idle 0 -1"));
    PASS();
}

TEST a_leaving_worker_gives_up_on_eight_that_do_not_listen(void)
{
    (void)t_say("ZADD {q}:idle 1 A 2 b 3 c 4 d 5 e 6 f 7 g 8 h 9 i 10 j");
    (void)t_say("HSET {q}:jobs due 5");
    SAID("0", t_sleep("A", "0"));
    SAID("[j]", t_tell("ZRANGE {q}:idle 0 -1"));
    PASS();
}

TEST a_worker_woken_in_vain_wakes_another_idle_worker(void)
{
    (void)t_say("ZADD {q}:idle 1 A 2 B");
    (void)t_put_full("1", "0,0,1,0,0;A", "mine");
    t_typed();
    (void)t_say("ZADD {q}:idle 1 A 2 B 3 C");
    SAID("0", t_sleep("C", "1"));
    SAID("2", t_tell("ZCARD {q}:idle"));
    SAID("0", t_sleep("C", "p")); /* and drops sleepers that do not listen */
    SAID("0", t_tell("ZCARD {q}:idle"));
    (void)t_pick("1", "9", "A", "-inf");
    SAID("1", t_sleep("C", "p"));
    SAID("[C]", t_tell("ZRANGE {q}:idle 0 -1"));
    PASS();
}

/* ----------------------------------------------------------------- sleepers */

TEST a_worker_without_work_lines_up(void)
{
    SAID("1", t_sleep("A", "1"));
    SAID("1", t_sleep("B", "1"));
    SAID("1", t_sleep("A", "1"));
    SAID("2", t_tell("ZCARD {q}:idle"));
    SAID("0", t_sleep("A", "0"));
    SAID("[B]", t_tell("ZRANGE {q}:idle 0 -1"));
    PASS();
}

TEST a_worker_that_lines_up_is_told_when_the_next_job_is_due(void)
{
    SAID("1", t_sleep("A", "1"));
    ASSERT(strstr(t_show(), "  1]"));
    int64_t before = t_nth(0) / 1000;
    (void)t_put_full("1", "0,3600000,0,0,0;", "late");
    SAID("1", t_sleep("B", "1"));
    int64_t put = t_nth(1) / 1024 - 3600000; /* a real clock went on since */
    ASSERT(put >= before && put <= t_nth(0) / 1000);
    PASS();
}

/* An idle worker was told a due time when it lined up. Each sooner due time
 * wakes one idle worker, a later one wakes none. */
TEST an_idle_worker_is_told_that_a_job_is_due_sooner(void)
{
    (void)t_say("ZADD {q}:idle 1 A 2 B 3 C");
    (void)t_put_full("1", "0,3600000,0,0,0;", "late");
    (void)RUN("promote", "100", NULL);
    SAID("[]", t_tell("ZRANGE {q}:idle 0 -1")); /* none of them listens */
    (void)t_say("ZADD {q}:idle 1 A 2 B 3 C");
    (void)t_put_full("2", "0,7200000,0,0,0;", "later");
    (void)RUN("promote", "100", NULL);
    SAID("[A B C]", t_tell("ZRANGE {q}:idle 0 -1"));
    (void)t_put_full("3", "0,60000,0,0,0;", "sooner");
    (void)RUN("promote", "100", NULL);
    SAID("[]", t_tell("ZRANGE {q}:idle 0 -1"));
    PASS();
}

TEST no_worker_lines_up_while_there_is_work(void)
{
    t_put(1);
    (void)t_say("ZADD {q}:idle 1 A");
    SAID("0", t_sleep("A", "1"));
    SAID("0", t_tell("EXISTS {q}:idle"));
    (void)t_say("DEL {q}:waiting");
    (void)t_say("ZADD {q}:ranked 1 1");
    SAID("0", t_sleep("A", "1"));
    PASS();
}

/* Sleepers that do not listen are passed over, eight at a time. */
TEST a_put_gives_up_on_idle_workers_that_do_not_listen(void)
{
    (void)t_say("ZADD {q}:idle 1 a 2 b 3 c 4 d 5 e 6 f 7 g 8 h 9 i");
    t_put(1);
    SAID("[i]", t_tell("ZRANGE {q}:idle 0 -1"));
    PASS();
}

TEST as_many_are_woken_as_there_are_jobs(void)
{
    static const char *const ways[] = {"put", "promote", "release"};
    const uint8_t *from;
    int other;
    size_t i;

    if (t_local == NULL)
        SKIP();
    other = relet_local_connect(t_local);
    relet_local_feed(t_local, other, "SSUBSCRIBE a b c\r\n", 18);
    for (i = 0; i < 3; i++) {
        t_fresh(NULL);
        if (i == 1)
            (void)t_put_full("1", "0,0,0,0,0;", "x");
        if (i == 2) {
            t_put(1);
            (void)t_claim("W", "1", "1");
        }
        (void)t_say("ZADD {q}:idle 1 a 2 b 3 c");
        if (i == 0)
            t_put(1);
        else if (i == 1)
            t_promote();
        else
            (void)RUN("release", "1", t_token("1"), NULL);
        ASSERT_STR_EQm(ways[i], "[b c]", t_tell("ZRANGE {q}:idle 0 -1"));
    }
    relet_local_sent(t_local, other, relet_local_output(t_local, other, &from));
    relet_local_hangup(t_local, other);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    if (!t_open(&argc, &argv) || !t_load_all())
        return 1;
    GREATEST_MAIN_BEGIN();
    GREATEST_SET_SETUP_CB(t_fresh, NULL);
    RUN_TEST(a_claim_leases_the_jobs_it_brings_and_no_others);
    RUN_TEST(a_claim_brings_the_oldest_jobs_first);
    RUN_TEST(a_claim_that_is_repeated_brings_nothing_more);
    RUN_TEST(a_claim_that_comes_behind_its_recall_brings_nothing);
    RUN_TEST(a_claim_brings_no_more_bytes_than_its_client_reads);
    RUN_TEST(a_job_over_the_byte_limit_is_brought_alone);
    RUN_TEST(a_claim_of_many_brings_each_with_its_record);
    RUN_TEST(a_claim_by_type_brings_no_more_bytes_than_its_client_reads);
    RUN_TEST(a_claim_by_type_brings_bulky_jobs_one_by_one);
    RUN_TEST(a_recall_brings_only_jobs_that_are_still_leased);
    RUN_TEST(a_recall_brings_no_job_that_another_worker_has_by_now);
    RUN_TEST(no_key_of_a_queue_ends_by_itself);
    RUN_TEST(a_job_names_the_workers_that_had_it);
    RUN_TEST(tokens_of_jobs_grow_though_the_clock_goes_back);
    RUN_TEST(places_of_cancelled_jobs_are_passed_over_and_counted);
    RUN_TEST(a_job_twice_in_the_waiting_list_is_leased_once);
    RUN_TEST(a_limit_of_leased_jobs_holds_further_jobs_back);
    RUN_TEST(a_stopped_queue_gives_nothing_out);
    RUN_TEST(a_rank_goes_before_a_thousand_older_jobs_and_no_more);
    RUN_TEST(ranks_come_after_the_list_that_was_there);
    RUN_TEST(delayed_jobs_come_in_the_order_in_which_they_are_due);
    RUN_TEST(the_queue_knows_when_more_are_due);
    RUN_TEST(no_more_are_promoted_than_were_asked_for);
    RUN_TEST(an_invalid_delayed_entry_does_not_stop_a_promotion);
    RUN_TEST(a_renewal_extends_only_leases_with_the_given_token);
    RUN_TEST(a_lease_is_not_renewed_beyond_run_ms);
    RUN_TEST(a_lease_that_ended_is_relet_first);
    RUN_TEST(a_job_that_stalls_too_often_is_dead);
    RUN_TEST(no_more_are_reaped_than_were_asked_for);
    RUN_TEST(a_reap_beside_an_end_or_another_reap_brings_a_job_back_once);
    RUN_TEST(a_reap_is_delayed_on_a_new_server);
    RUN_TEST(a_failover_and_a_failback_delay_the_next_reap);
    RUN_TEST(a_reap_is_delayed_after_a_leap_of_the_clock);
    RUN_TEST(a_claim_by_type_leaves_other_types_in_their_order);
    RUN_TEST(a_type_that_begins_like_another_is_another);
    RUN_TEST(a_claim_by_type_brings_ranked_jobs_first);
    RUN_TEST(a_list_is_ranked_from_its_end_before_a_claim_by_type);
    RUN_TEST(a_claim_by_type_looks_at_128_jobs_and_returns_a_cursor);
    RUN_TEST(a_limit_and_a_stop_hold_picks_back);
    RUN_TEST(a_claim_by_type_removes_places_without_a_job);
    RUN_TEST(an_empty_claim_by_type_is_recorded_in_the_usual_form);
    RUN_TEST(no_two_jobs_have_one_score);
    RUN_TEST(a_job_given_back_has_its_rank_again);
    RUN_TEST(long_records_are_ranked_some_at_a_time);
    RUN_TEST(a_leaving_worker_wakes_another_if_there_is_or_will_be_work);
    RUN_TEST(a_leaving_worker_gives_up_on_eight_that_do_not_listen);
    RUN_TEST(a_worker_woken_in_vain_wakes_another_idle_worker);
    RUN_TEST(a_worker_without_work_lines_up);
    RUN_TEST(a_worker_that_lines_up_is_told_when_the_next_job_is_due);
    RUN_TEST(an_idle_worker_is_told_that_a_job_is_due_sooner);
    RUN_TEST(no_worker_lines_up_while_there_is_work);
    RUN_TEST(a_put_gives_up_on_idle_workers_that_do_not_listen);
    RUN_TEST(as_many_are_woken_as_there_are_jobs);
    t_close();
    GREATEST_MAIN_END();
}
