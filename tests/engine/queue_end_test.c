/* SPDX-License-Identifier: MIT
 *
 * queue_end_test.c - the scripts of a queue on a server: how jobs end, and
 * what is kept of them.
 *
 *   queue_end_test [SOCKET]    the local server, or a real one there
 *
 * The tests move time by setting scores to 0: so no test waits, and the results
 * are the same on every server. */
#include "queue_rig.h"

/* ------------------------------------------------------------------- ending */

TEST done_jobs_leave_nothing(void)
{
    t_put(2);
    (void)t_claim("W", "1", "2");
    (void)RUN("progress", "1", t_token("1"), "half", NULL);
    SAID("dd", RUN("done_plain", "W", "1", "1", t_token("1"), "2", t_token("2"),
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
    SAID("dg", RUN("done_plain", "W", "1", "1", token, "9", "9", NULL));
    SAID("dg", RUN("done_plain", "W", "1", "1", token, "9", "9", NULL));
    (void)RUN("forget", "", "100", NULL);
    SAID("dg", RUN("done_plain", "W", "1", "1", token, "9", "9", NULL));
    SAID("g", RUN("done_plain", "W", "2", "1", token, NULL));
    SAID("1", t_tell("HGET {q}:jobs done"));
    PASS();
}

/* Regression, found by the simulator: a link that the client had left delivered
 * an older step late. The queue then forgot the newer step, and the answer to
 * the repeat of that step was that its job was gone. */
TEST an_older_end_that_comes_late_is_void(void)
{
    char one[30], two[30];

    t_put(6);
    (void)t_claim("W", "1", "6");
    strcpy(one, t_token("1"));
    strcpy(two, t_token("2"));
    (void)RUN("done_plain", "W", "1", "1", one, NULL);
    SAID("d", RUN("done_plain", "W", "2", "2", two, NULL));
    SAID("", RUN("done_plain", "W", "1", "1", one, NULL));
    SAID("d", RUN("done_plain", "W", "2", "2", two, NULL));
    strcpy(one, t_token("3"));
    strcpy(two, t_token("4"));
    (void)RUN("done", "W.0", "5", "3", one, "0", "r", NULL);
    SAID("d", RUN("done", "W.0", "6", "4", two, "0", "r", NULL));
    SAID("", RUN("done", "W.0", "5", "3", one, "0", "r", NULL));
    SAID("d", RUN("done", "W.0", "6", "4", two, "0", "r", NULL));
    strcpy(one, t_token("5"));
    strcpy(two, t_token("6"));
    (void)RUN("fail", "W.0", "7", "5", one, "x", "0", "e", NULL);
    SAID("d", RUN("fail", "W.0", "8", "6", two, "x", "0", "e", NULL));
    SAID("", RUN("fail", "W.0", "7", "5", one, "x", "0", "e", NULL));
    SAID("d", RUN("fail", "W.0", "8", "6", two, "x", "0", "e", NULL));
    PASS();
}

/* The job of a stopped worker was leased to another worker (tests/README.md,
 * acceptance 1 and 2). */
TEST an_old_token_changes_nothing(void)
{
    char old[30], state[100];

    t_put(1);
    (void)t_claim("A", "1", "1");
    strcpy(old, t_token("1"));
    t_all_due("leased");
    (void)t_reap("9", "3", "0");
    (void)t_claim("B", "1", "1");
    ASSERT(strtoll(t_token("1"), NULL, 10) > strtoll(old, NULL, 10));
    strcpy(state, t_state("1"));
    SAID("l", RUN("done_plain", "A", "1", "1", old, NULL));
    SAID("l", RUN("done", "A", "2", "1", old, "1000", "r", NULL));
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

TEST a_kept_result_is_trimmed_when_its_time_is_over(void)
{
    (void)t_put_full("1", "0,0,0,1,0;x", "a");
    t_promote();
    (void)t_claim("W", "1", "1");
    SAID("d", RUN("done", "W", "1", "1", t_token("1"), "60000", "res", NULL));
    SAID("dres", t_tell("HGET {q}:jobs 1r"));
    SAID("-1D", t_put_full("2", "0,0,0,1,0;x", "b"));
    SAID("[0 0]", RUN("trim", "10", "10", "0", "9", NULL));
    SWEPT;
    t_all_due("done");
    SAID("[1 0]", RUN("trim", "10", "10", "0", "9", NULL));
    ASSERT_EQ(0, t_records());
    SAID("0", t_tell("EXISTS {q}:ids"));
    PASS();
}

/* Two jobs with ids end in one step, a third job later. Each result is kept for
 * a time of its own: when one time ends, the other results stay. */
TEST results_are_kept_each_for_its_own_time(void)
{
    long long first;

    (void)t_put_full("1", "0,0,0,1,0;x", "a");
    (void)t_put_full("2", "0,0,0,1,0;y", "b");
    (void)t_put_full("3", "0,0,0,1,0;z", "c");
    t_promote();
    (void)t_claim("W", "1", "3");
    SAID("dd", RUN("done", "W", "1", "1", t_token("1"), "86400000", "one", "2",
                   t_token("2"), "300000", "two", NULL));
    SAID("dtwo", t_tell("HGET {q}:jobs 2r"));
    first = strtoll(t_tell("ZSCORE {q}:done 1"), NULL, 10);
    ASSERT_EQ(86400000 - 300000,
              first - strtoll(t_tell("ZSCORE {q}:done 2"), NULL, 10));
    (void)t_say("ZADD {q}:done XX 1 2");
    SAID("d", RUN("done", "W", "2", "3", t_token("3"), "1000", "three", NULL));
    SAID("[1 0]", RUN("trim", "10", "10", "0", "9", NULL));
    SAID("done", t_tell("HGET {q}:jobs 1r")); /* d, then "one" */
    SAID("dthree", t_tell("HGET {q}:jobs 3r"));
    SAID("nil", t_tell("HGET {q}:jobs 2r"));
    SAID("-1D", t_put_full("4", "0,0,0,1,0;x", "d"));
    SAID("[1 3]", t_tell("HMGET {q}:ids x z"));
    SWEPT;
    PASS();
}

/* A job is put with the id of a job whose result is gone: the keep time of the
 * old job does not end the new job. */
TEST the_end_of_a_kept_result_leaves_the_next_job_of_its_id(void)
{
    (void)t_put_full("1", "0,0,0,1,0;x", "a");
    t_promote();
    (void)t_claim("W", "1", "1");
    (void)RUN("done", "W", "1", "1", t_token("1"), "1", "one", NULL);
    t_all_due("done");
    (void)RUN("trim", "10", "10", "0", "9", NULL);
    SAID("2", t_put_full("2", "0,0,0,1,0;x", "b"));
    SAID("[0 0]", RUN("trim", "0", "0", "1", "9", NULL));
    t_promote();
    (void)t_claim("W", "2", "1");
    SAID("[0 0]", RUN("trim", "0", "0", "1", "9", NULL));
    SAID("d", RUN("done", "W", "2", "2", t_token("2"), "60000", "two", NULL));
    SAID("[0 0]", RUN("trim", "9", "9", "1", "9", NULL));
    SAID("2", t_tell("HGET {q}:ids x"));
    SAID("dtwo", t_tell("HGET {q}:jobs 2r"));
    SWEPT;
    PASS();
}

/* The job is done, and its result has 60 s left. */
TEST the_time_of_a_kept_result_may_be_extended_or_ended(void)
{
    (void)t_put_full("1", "0,0,0,1,0;x", "a");
    SAID("[w 1 -1]", RUN("keep", "x", "", "5000", NULL)); /* is delayed */
    t_promote();
    SAID("[w 1 -1]", RUN("keep", "x", "", "5000", NULL));
    (void)t_claim("W", "1", "1");
    SAID("[l 1 -1]", RUN("keep", "", "1", "5000", NULL));
    (void)RUN("done", "W", "1", "1", t_token("1"), "60000", "res", NULL);
    t_all_due("done");
    (void)RUN("keep", "x", "", "60000", NULL);
    ASSERT_EQ(0, strncmp("[d 1 1", t_shown, 6)); /* a time of this century */
    SAID("[0 0]", RUN("trim", "10", "10", "0", "9", NULL));
    SAID("dres", t_tell("HGET {q}:jobs 1r"));
    SWEPT;
    (void)RUN("keep", "", "1", "0", NULL);
    SAID("[1 0]", RUN("trim", "10", "10", "0", "9", NULL));
    SAID("[g 1]", RUN("keep", "", "1", "5000", NULL));
    SAID("[g ]", RUN("keep", "x", "", "5000", NULL));
    SAID("0", t_tell("EXISTS {q}:done"));
    PASS();
}

TEST the_time_of_a_dead_job_cannot_be_extended(void)
{
    t_put(1);
    (void)t_claim("W", "1", "1");
    (void)RUN("fail", "W", "1", "1", t_token("1"), "x", "0", "no", NULL);
    SAID("[x 1 -1]", RUN("keep", "", "1", "5000", NULL));
    SAID("0", t_tell("EXISTS {q}:done"));
    SWEPT;
    PASS();
}

TEST an_id_is_free_when_nothing_is_kept(void)
{
    (void)t_put_full("1", "0,0,0,1,0;x", "a");
    t_promote();
    (void)t_claim("W", "1", "1");
    SAID("d", RUN("done", "W", "1", "1", t_token("1"), "0", "", NULL));
    SAID("0", t_tell("EXISTS {q}:ids"));
    SAID("2", t_put_full("2", "0,0,0,1,0;x", "b"));
    PASS();
}

TEST an_id_that_another_job_has_by_now_stays(void)
{
    (void)t_put_full("1", "0,0,0,1,0;x", "a");
    t_promote();
    (void)t_claim("W", "1", "1");
    (void)t_say("HSET {q}:ids x 9");
    (void)RUN("done", "W", "1", "1", t_token("1"), "0", "", NULL);
    SAID("9", t_tell("HGET {q}:ids x"));
    PASS();
}

/* Trim and purge once freed the id "-" whichever job they removed. */
TEST an_id_stays_when_another_job_goes(void)
{
    SAID("1", t_put_full("1", "0,3600000,0,1,0;-", "a"));
    t_put(2);
    (void)t_claim("W", "1", "1");
    (void)RUN("fail", "W", "1", "2", t_token("2"), "x", "0", "", NULL);
    SAID("[1 0]", RUN("trim", "0", "0", "0", "9", NULL));
    SAID("1", t_tell("HGET {q}:ids -"));
    SAID("[1 0]", RUN("purge", "w", "9", "0", NULL));
    SAID("1", t_tell("HGET {q}:ids -"));
    SAID("[1 0]", RUN("purge", "y", "9", "0", NULL));
    SAID("nil", t_tell("HGET {q}:ids -"));
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

/* A replay once looked no further than the first thousand refused jobs. */
TEST a_replay_goes_on_behind_those_that_are_refused(void)
{
    t_put(4);
    (void)t_claim("W", "1", "2");
    (void)RUN("fail", "W", "1", "1", t_token("1"), "x", "0", "", "2",
              t_token("2"), "x", "0", "", NULL);
    SAID("[2 0 0 1]", RUN("replay", "1", "2", "0", NULL));
    t_promote();
    (void)t_claim("W", "2", "4");
    (void)RUN("fail", "W", "2", "1", t_token("1"), "x", "0", "", "2",
              t_token("2"), "x", "0", "", "3", t_token("3"), "x", "0", "",
              "4", t_token("4"), "x", "0", "", NULL);
    (void)t_say("ZADD {q}:dead 1 1 1 2"); /* 1 and 2 are the oldest */
    SAID("[0 2 0 1]", RUN("replay", "1", "2", "0", NULL));
    SAID("[2 0 0 1]", RUN("replay", "1", "2", "2", NULL));
    SAID("[0 0 0 0]", RUN("replay", "1", "2", "2", NULL));
    SWEPT;
    PASS();
}

TEST a_dead_job_that_is_named_twice_is_replayed_once(void)
{
    t_put(1);
    (void)t_claim("W", "1", "1");
    (void)RUN("fail", "W", "1", "1", t_token("1"), "x", "0", "no", NULL);
    SAID("[1 0 1 0]", RUN("replay", "1", "9", "0", "1", "1", NULL));
    SAID("W 0 0 0 1 - W", t_state("1"));
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
    SAID("[1 0 1 0]", RUN("replay", "1", "9", "0", "1", "7", NULL));
    SAID("W 0 0 0 1 - W", t_state("1"));
    SWEPT;
    t_promote();
    (void)t_claim("W", "2", "1");
    (void)RUN("fail", "W", "2", "1", t_token("1"), "x", "0", "no", NULL);
    SAID("[0 1 0 0]", RUN("replay", "1", "9", "0", NULL));
    SWEPT;
    PASS();
}

TEST a_job_that_is_replayed_has_its_rank_again(void)
{
    (void)t_put_full("1", "-5,0,0,0,0;", "a");
    t_promote();
    (void)t_claim("W", "1", "1");
    SAID("d", RUN("fail", "W", "1", "1,-5", t_token("1"), "x", "0", "no",
                  NULL));
    SAID("[1 0 0 0]", RUN("replay", "1", "9", "0", "1", NULL));
    SAID("[1,-5]", t_tell("ZRANGE {q}:delayed 0 -1"));
    SWEPT;
    PASS();
}

/* Five dead jobs, all but the last of 400 000 bytes. */
static void t_five_bulky(void)
{
    static char bulky[400001];
    int i;

    memset(bulky, 'x', sizeof bulky - 1);
    (void)RUN("put", "P", "1", "0", bulky, bulky, bulky, bulky, "a", NULL);
    (void)RUN("claim", "W", "1", "60000", "5", "4000000", NULL);
    for (i = 1; i <= 5; i++) {
        char n[12];

        sprintf(n, "%d", i);
        (void)RUN("fail", "W", n, n, t_token(n), "x", "0", "no", NULL);
    }
}

TEST long_records_are_replayed_some_at_a_time(void)
{
    t_five_bulky();
    SAID("[2 0 0 1]", RUN("replay", "9", "128", "0", NULL));
    SAID("[3 0 0 0]", RUN("replay", "9", "128", "0", NULL));
    SAID("5", t_tell("ZCARD {q}:delayed"));
    t_fresh(NULL);
    t_five_bulky();
    SAID("[3 0 0 1]", RUN("replay", "9", "0", "0", "5", "4", "3", "2", "1",
                          NULL)); /* jobs 5, 4 and 3 */
    SAID("[3 4 5]", t_tell("ZRANGE {q}:delayed 0 -1"));
    PASS();
}

TEST long_records_are_purged_some_at_a_time(void)
{
    t_five_bulky();
    SAID("[2 1]", RUN("purge", "x", "128", "0", NULL));
    SAID("[3 0]", RUN("purge", "a", "128", "0", NULL));
    ASSERT_EQ(0, t_records());
    PASS();
}

TEST a_replay_says_whether_there_is_more(void)
{
    t_put(3);
    (void)t_claim("W", "1", "3");
    (void)RUN("fail", "W", "1", "1", t_token("1"), "x", "0", "", "2",
              t_token("2"), "x", "0", "", "3", t_token("3"), "x", "0", "",
              NULL);
    SAID("[2 0 0 1]", RUN("replay", "9", "2", "0", NULL));
    SAID("[1 0 0 0]", RUN("replay", "9", "2", "0", NULL));
    SAID("[0 0 1 0]", RUN("replay", "9", "2", "0", "7", NULL));
    PASS();
}

TEST long_records_are_listed_and_trimmed_some_at_a_time(void)
{
    static char bulky[400001];
    int i;

    memset(bulky, 'x', sizeof bulky - 1);
    (void)RUN("put", "P", "1", "0", bulky, bulky, bulky, bulky, "a", NULL);
    (void)RUN("list", "w", "0", "128", "1100", NULL);
    ASSERT_EQ(2, t_nth(0)); /* go on behind the second */
    (void)RUN("list", "w", "2", "128", "1100", NULL);
    ASSERT_EQ(-1, t_nth(0));
    (void)RUN("claim", "W", "1", "60000", "5", "4000000", NULL);
    for (i = 1; i <= 5; i++) {
        char op[12], n[12];

        sprintf(op, "%d", i);
        sprintf(n, "%d", i);
        SAID("d", RUN("fail", "W", op, n, t_token(n), "x", "0", "no", NULL));
    }
    SAID("[2 1]", RUN("trim", "0", "0", "0", "128", NULL));
    SAID("[3 0]", RUN("trim", "0", "0", "0", "128", NULL));
    SWEPT;
    PASS();
}

/* `relet retry --all` once replayed jobs that an operator had cancelled. */
TEST a_cancelled_job_is_not_replayed(void)
{
    t_put(2);
    (void)t_claim("W", "1", "2");
    SAID("[r 1]", RUN("cancel", "", "1", NULL));
    SAID("d", RUN("fail", "W", "1", "1", t_token("1"), "r", "0", "no", NULL));
    SAID("d", RUN("fail", "W", "2", "2", t_token("2"), "x", "0", "no", NULL));
    SAID("[0 1 0 0]", RUN("replay", "9", "9", "0", "1", NULL));
    SAID("[1 1 0 0]", RUN("replay", "9", "9", "0", NULL));
    SAID("[1]", t_tell("ZRANGE {q}:dead 0 -1"));
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

/* Connects another client that is subscribed to the channel `me`. */
static int t_listen(void)
{
    int other = relet_local_connect(t_local);
    const uint8_t *from;

    relet_local_feed(t_local, other, "SUBSCRIBE me\r\n", 14);
    relet_local_sent(t_local, other, relet_local_output(t_local, other, &from));
    return other;
}

/* Puts all that this client received into t_reply, and disconnects it. */
static void t_heard(int other)
{
    const uint8_t *from;
    size_t n = relet_local_output(t_local, other, &from);

    memcpy(t_reply, from, n);
    t_reply[n] = '\0';
    relet_local_hangup(t_local, other);
}

TEST the_end_of_a_job_is_published_to_its_waiting_client(void)
{
    int other;

    if (t_local == NULL)
        SKIP();
    other = t_listen();
    (void)t_put_full("1", "0,0,0,0,6;k5 rme", "a");
    (void)t_put_full("2", "0,0,0,0,3;rme", "b");
    (void)t_put_full("3", "0,0,0,0,3;rme", "c");
    (void)t_put_full("4", "0,0,0,0,3;rme", "d");
    t_promote();
    (void)RUN("cancel", "", "3", NULL);
    (void)t_claim("W", "1", "9");
    (void)RUN("done", "W", "1", "1", t_token("1"), "5", "r", NULL);
    (void)RUN("fail", "W", "1", "2", t_token("2"), "x", "0", "no", NULL);
    (void)RUN("done", "W", "2", "4", t_token("4"), "0", "is not kept", NULL);
    t_heard(other);
    ASSERT(strstr(t_reply, "\r\n4 d is not kept\r\n"));
    ASSERT(strstr(t_reply, "\r\n1 d r\r\n"));
    ASSERT(strstr(t_reply, "\r\n2 x no\r\n"));
    ASSERT(strstr(t_reply, "\r\n3 c \r\n"));
    PASS();
}

/* Regression: a waiting client learned of the end only with its next look, up
 * to 5 s later. */
TEST a_death_by_reaping_is_published_to_the_waiting_client(void)
{
    int other;

    if (t_local == NULL)
        SKIP();
    other = t_listen();
    (void)t_put_full("1", "0,0,1,2,6;rora5 rme", "r payload r");
    (void)t_put_full("2", "0,0,0,0,3;rme", "b");
    (void)t_put_full("3", "0,0,0,1,3;rk5 ", "nobody waits");
    t_promote();
    (void)t_claim("W", "1", "9");
    (void)RUN("cancel", "", "2", NULL);
    t_all_due("leased");
    SAID("[0 3 -1]", t_reap("9", "0", "0"));
    t_heard(other);
    ASSERT(strstr(t_reply, "\r\n1 x stalled too often\r\n"));
    ASSERT(strstr(t_reply, "\r\n2 x cancelled\r\n"));
    ASSERT_EQ(NULL, strstr(t_reply, "\r\n3 x"));
    SAID("xstalled too often", t_tell("HGET {q}:jobs 1r"));
    SWEPT;
    PASS();
}

TEST jobs_given_back_are_first_in_line_again(void)
{
    t_put(3);
    (void)t_claim("W", "1", "2");
    SAID("dd", RUN("release", "1", t_token("1"), "2", t_token("2"), NULL));
    SAID("[1 2 3]", t_tell("LRANGE {q}:waiting 0 -1"));
    SAID("W 0 0 0 0 - W", t_state("1"));
    SWEPT;
    PASS();
}

/* --------------------------------------------------------------- cancelling */

TEST a_waiting_job_that_is_cancelled_is_gone(void)
{
    t_put(1);
    (void)t_put_full("1", "3,5000,0,1,0;x", "a");
    SAID("[c 1]", RUN("cancel", "", "1", NULL));
    SAID("[c 2]", RUN("cancel", "x", "", NULL));
    SAID("[g 2]", RUN("cancel", "", "2", NULL));
    SAID("[g ]", RUN("cancel", "x", "", NULL));
    SAID("0", t_tell("EXISTS {q}:delayed {q}:ids"));
    ASSERT_EQ(0, t_records());
    PASS();
}

/* The renewal tells the worker, and the job never waits again (tests/README.md,
 * acceptance 25). */
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
    (void)t_reap("9", "9", "0");
    SAID("[1 2 3]", t_tell("ZRANGE {q}:dead 0 -1"));
    SAID("0", t_tell("EXISTS {q}:waiting {q}:delayed {q}:leased"));
    SWEPT;
    PASS();
}

TEST an_ended_job_cannot_be_cancelled(void)
{
    (void)t_put_full("1", "0,0,0,1,0;x", "a");
    t_promote();
    (void)t_claim("W", "1", "1");
    (void)RUN("done", "W", "1", "1", t_token("1"), "60000", "res", NULL);
    SAID("[e 1]", RUN("cancel", "x", "", NULL));
    SAID("[g ]", RUN("cancel", "", "seq", NULL));
    SWEPT;
    PASS();
}

/* --------------------------------------------------------------- inspecting */

TEST a_job_is_found_in_each_of_its_places(void)
{
    (void)t_put_full("1", "2,0,0,1,0;x", "a");
    ASSERT(strncmp(RUN("look", "x", "", NULL), "[y 1 1", 6) == 0);
    t_promote();
    ASSERT(strncmp(RUN("look", "", "1", NULL), "[w 1 -1 +", 9) == 0);
    (void)t_claim("W", "1", "1");
    (void)RUN("progress", "1", t_token("1"), "half", NULL);
    ASSERT(strstr(RUN("look", "x", "", NULL), "0 0 - W phalf]"));
    ASSERT(strncmp(t_shown, "[l 1 1", 6) == 0);
    (void)RUN("done", "W", "1", "1", t_token("1"), "60000", "res", NULL);
    ASSERT(strncmp(RUN("look", "x", "", NULL), "[d 1 1", 6) == 0);
    ASSERT(strstr(t_shown, " dres]"));
    SAID("[g 7]", RUN("look", "", "7", NULL));
    PASS();
}

/* One field of each job in a list, behind the job's number. */
static const char *t_listed(size_t field)
{
    static char out[400];
    const char *p = strstr(t_reply, "\r\n") + 2, *end = t_reply + t_reply_n;
    size_t n = (size_t)strtol(t_reply + 1, NULL, 10), i;
    char *to = out;

    *to = '\0';
    for (i = 0; t_reply[0] == '*' && i < n; i++) {
        if (i >= 2 && ((i - 2) % 7 == 0 || (i - 2) % 7 == field)) {
            const char *text = p[0] == '$' ? strstr(p, "\r\n") + 2 : p + 1;
            int k = p[0] == '$' ? (int)strtol(p + 1, NULL, 10)
                                : (int)strcspn(p + 1, "\r");

            to += sprintf(to, "%s%.*s", to == out ? "" : " ", k, text);
        }
        p = t_behind(p, end);
    }
    return out;
}

TEST a_list_goes_on_where_it_ended(void)
{
    t_put(5);
    (void)RUN("list", "w", "0", "2", "1100", NULL);
    ASSERT_EQ(2, t_nth(0));
    SAID("1 6 2 6", t_listed(2));
    (void)RUN("list", "w", "2", "3", "1100", NULL);
    ASSERT_EQ(5, t_nth(0));
    (void)RUN("list", "w", "5", "3", "1100", NULL);
    ASSERT_EQ(-1, t_nth(0));
    SAID("", t_listed(2));
    PASS();
}

TEST a_list_tells_times_and_texts(void)
{
    t_put(3);
    (void)t_put_full("1", "3,5000,1,0,0;t", "d");
    (void)t_say("ZADD {q}:delayed 5242885 4,3");
    (void)RUN("list", "y", "0", "9", "1100", NULL);
    SAID("4 5120", t_listed(1));
    (void)t_claim("W", "1", "2");
    (void)RUN("progress", "1", t_token("1"), "half", NULL);
    (void)t_say("ZADD {q}:leased 17 1 18 2");
    (void)RUN("list", "l", "0", "9", "1100", NULL);
    SAID("1 17 2 18", t_listed(1));
    SAID("1 phalf 2 ", t_listed(5));
    SAID("1 5 2 0", t_listed(6));
    (void)RUN("fail", "W", "1", "1", t_token("1"), "x", "0", "no", NULL);
    (void)RUN("list", "x", "0", "9", "1100", NULL);
    SAID("1 xno", t_listed(5));
    PASS();
}

TEST a_list_leaves_out_jobs_of_other_places_and_types(void)
{
    t_put(2);
    (void)t_put_full("1", "0,0,1,0,0;t", "a");
    (void)t_put_full("2", "0,0,2,0,0;tt", "a");
    (void)t_put_full("3", "1,0,1,0,0;t", "a");
    t_promote();
    (void)RUN("cancel", "", "1", NULL);
    (void)t_claim("W", "1", "2");
    (void)t_say("RPUSH {q}:waiting 2 1 -");
    (void)RUN("list", "w", "0", "9", "1100", NULL);
    SAID("", t_listed(2));
    (void)RUN("list", "k", "0", "9", "1100", NULL);
    SAID("5 -1 3 -1 4 -1", t_listed(1));
    (void)RUN("list", "k", "0", "9", "1100", "t", NULL);
    SAID("5 -1 3 -1", t_listed(1));
    (void)RUN("list", "l", "0", "9", "1100", "", NULL);
    SAID("2 6", t_listed(2));
    PASS();
}

TEST a_list_shows_only_the_beginning_of_long_texts(void)
{
    char payload[3001];

    memset(payload, 'x', 3000);
    payload[3000] = '\0';
    SAID("[1 0]", RUN("put", "P.0", "1", "0", payload, NULL));
    (void)RUN("list", "w", "0", "9", "1100", NULL);
    SAID("1 3005", t_listed(2));
    ASSERT(t_reply_n > 1100 && t_reply_n < 1300);
    (void)t_claim("W", "1", "1");
    (void)RUN("progress", "1", t_token("1"), payload, NULL);
    (void)RUN("list", "l", "0", "9", "1100", NULL);
    SAID("1 3001", t_listed(6));
    PASS();
}

TEST the_status_of_a_queue_counts_its_jobs_and_has_its_settings(void)
{
    SAID("[0 0 0 0 0 0 0 0 0 0 -1 0 0 -1 -1 -1",
         (RUN("status", NULL), *strrchr(t_shown, ' ') = '\0', t_shown));
    t_put(3);
    (void)t_put_full("1", "0,5000,0,0,0;", "a");
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

/* A record with a head holds its time in another form. */
TEST the_oldest_job_in_line_tells_how_long_it_has_waited(void)
{
    if (t_local == NULL)
        SKIP();
    (void)t_put_full("1", "5,0,1,0,0;t", "a");
    t_promote();
    relet_local_time(t_local, T_WALL_US + 3000000);
    t_put(1);
    (void)RUN("status", NULL);
    relet_local_time(t_local, T_WALL_US);
    ASSERT_EQ(3, t_nth(13));
    (void)RUN("purge", "a", "9", "0", NULL);
    (void)RUN("put", "P.1", "1", "0", "plain", NULL);
    relet_local_time(t_local, T_WALL_US + 5000000);
    (void)RUN("status", NULL);
    relet_local_time(t_local, T_WALL_US);
    ASSERT_EQ(5, t_nth(13));
    PASS();
}

/* ----------------------------------------------------------- purge and trim */

TEST a_purge_goes_on_until_all_is_gone(void)
{
    t_put(5);
    (void)t_put_full("1", "0,5000,0,1,0;x", "a");
    SAID("[4 1]", RUN("purge", "a", "4", "0", NULL));
    SWEPT;
    SAID("[2 0]", RUN("purge", "a", "4", "0", NULL));
    ASSERT_EQ(0, t_records());
    SAID("0", t_tell("EXISTS {q}:waiting {q}:delayed {q}:ids"));
    PASS();
}

TEST a_purge_leaves_leased_jobs_alone(void)
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
    SAID("g", RUN("done_plain", "W", "1", "1", "1", NULL));
    PASS();
}

TEST a_trim_leaves_jobs_that_have_not_ended(void)
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

/* Sets a field of {q}:jobs, marked as seen `ago` seconds ago. */
static void t_mark(const char *name, long ago)
{
    const char *word[5] = {"HSET", "{q}:jobs", NULL, NULL, NULL};
    char value[60];

    (void)t_say("TIME");
    sprintf(value, "1 2@%ld", strtol(t_show() + 1, NULL, 10) - ago);
    word[2] = name;
    word[3] = value;
    (void)t_ask(word);
}

TEST the_record_of_a_dead_client_is_forgotten_after_an_hour(void)
{
    t_put(1);
    t_mark("cW", 3700);
    t_mark("cV", 3500);
    SAID("i0", RUN("forget", "", "1000", NULL));
    SAID("", RUN("forget", "i0", "1000", NULL));
    SAID("0", t_tell("HEXISTS {q}:jobs cW"));
    SAID("1", t_tell("HEXISTS {q}:jobs cV"));
    SAID("[1 1]", RUN("put", "P.0", "1", "0", "a", NULL));
    PASS();
}

TEST a_client_that_takes_another_step_is_remembered_anew(void)
{
    t_put(1);
    t_mark("cW", 3500);
    (void)t_claim("W", "3", "1");
    ASSERT_EQ(NULL, strchr(t_tell("HGET {q}:jobs cW"), '@'));
    (void)RUN("forget", "", "1000", NULL);
    ASSERT(strchr(t_tell("HGET {q}:jobs cW"), '@') != NULL);
    PASS();
}

TEST a_job_that_is_in_its_place_is_not_repaired(void)
{
    t_put(4);
    (void)t_put_full("1", "2,5000,0,0,0;", "a");
    (void)t_claim("W", "1", "3");
    SAID("d", RUN("done", "W", "1", "1", t_token("1"), "5000", "r", NULL));
    SAID("d", RUN("fail", "W", "1", "2", t_token("2"), "x", "0", "", NULL));
    SAID("", RUN("repair", "1", "60000", "5000", NULL));
    SAID("", RUN("repair", "2", "60000", "5000", NULL));
    SAID("", RUN("repair", "3", "60000", "5000", NULL));
    SAID("", RUN("repair", "4", "60000", "5000", NULL));
    SAID("", RUN("repair", "5", "60000", "5000", NULL));
    SAID("", RUN("repair", "6", "60000", "5000", NULL));
    SWEPT;
    PASS();
}

/* The worker may still run the job: another worker gets the job when the lease
 * is over. */
TEST a_job_missing_from_the_leased_set_stays_its_workers_for_a_lease(void)
{
    static char token[30];

    t_put(2);
    (void)t_claim("W", "1", "2");
    strcpy(token, t_token("1"));
    (void)t_say("ZREM {q}:leased 1");
    SAID("l", RUN("repair", "1", "86400000", "5000", NULL));
    SWEPT;
    SAID("[2 1]", t_tell("ZRANGE {q}:leased 0 -1")); /* in their order */
    SAID("d", RUN("done_plain", "W", "2", "1", token, NULL));
    SWEPT;
    PASS();
}

TEST numbers_that_cannot_be_given_are_left_as_they_are(void)
{
    t_put(1);
    (void)t_say("HSET {q}:jobs 5000000000000000 .1234x");
    SAID("u", RUN("repair", "5000000000000000", "1", "1", NULL));
    (void)t_say("HSET {q}:jobs 1 odd");
    SAID("u", RUN("repair", "1", "1", "1", NULL));
    SAID("1", t_tell("HGET {q}:jobs seq"));
    SAID("odd", t_tell("HGET {q}:jobs 1"));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    if (!t_open(&argc, &argv) || !t_load_all())
        return 1;
    GREATEST_MAIN_BEGIN();
    GREATEST_SET_SETUP_CB(t_fresh, NULL);
    RUN_TEST(done_jobs_leave_nothing);
    RUN_TEST(done_that_is_repeated_says_the_same);
    RUN_TEST(an_older_end_that_comes_late_is_void);
    RUN_TEST(an_old_token_changes_nothing);
    RUN_TEST(a_kept_result_is_trimmed_when_its_time_is_over);
    RUN_TEST(results_are_kept_each_for_its_own_time);
    RUN_TEST(the_end_of_a_kept_result_leaves_the_next_job_of_its_id);
    RUN_TEST(the_time_of_a_kept_result_may_be_extended_or_ended);
    RUN_TEST(the_time_of_a_dead_job_cannot_be_extended);
    RUN_TEST(an_id_is_free_when_nothing_is_kept);
    RUN_TEST(an_id_that_another_job_has_by_now_stays);
    RUN_TEST(an_id_stays_when_another_job_goes);
    RUN_TEST(a_retry_waits_and_counts_and_a_snooze_only_waits);
    RUN_TEST(a_replay_goes_on_behind_those_that_are_refused);
    RUN_TEST(a_dead_job_that_is_named_twice_is_replayed_once);
    RUN_TEST(a_dead_job_is_replayed_with_its_count);
    RUN_TEST(a_job_that_is_replayed_has_its_rank_again);
    RUN_TEST(long_records_are_listed_and_trimmed_some_at_a_time);
    RUN_TEST(long_records_are_replayed_some_at_a_time);
    RUN_TEST(long_records_are_purged_some_at_a_time);
    RUN_TEST(a_replay_says_whether_there_is_more);
    RUN_TEST(a_cancelled_job_is_not_replayed);
    RUN_TEST(a_failure_that_is_repeated_counts_once);
    RUN_TEST(the_end_of_a_job_is_published_to_its_waiting_client);
    RUN_TEST(a_death_by_reaping_is_published_to_the_waiting_client);
    RUN_TEST(jobs_given_back_are_first_in_line_again);
    RUN_TEST(a_waiting_job_that_is_cancelled_is_gone);
    RUN_TEST(a_running_job_that_is_cancelled_never_comes_back);
    RUN_TEST(an_ended_job_cannot_be_cancelled);
    RUN_TEST(a_job_is_found_in_each_of_its_places);
    RUN_TEST(a_list_goes_on_where_it_ended);
    RUN_TEST(a_list_tells_times_and_texts);
    RUN_TEST(a_list_leaves_out_jobs_of_other_places_and_types);
    RUN_TEST(a_list_shows_only_the_beginning_of_long_texts);
    RUN_TEST(the_status_of_a_queue_counts_its_jobs_and_has_its_settings);
    RUN_TEST(the_oldest_job_in_line_tells_how_long_it_has_waited);
    RUN_TEST(a_purge_goes_on_until_all_is_gone);
    RUN_TEST(a_purge_leaves_leased_jobs_alone);
    RUN_TEST(a_trim_leaves_jobs_that_have_not_ended);
    RUN_TEST(the_dead_are_kept_up_to_a_number_and_an_age);
    RUN_TEST(the_record_of_a_dead_client_is_forgotten_after_an_hour);
    RUN_TEST(a_client_that_takes_another_step_is_remembered_anew);
    RUN_TEST(a_job_that_is_in_its_place_is_not_repaired);
    RUN_TEST(a_job_missing_from_the_leased_set_stays_its_workers_for_a_lease);
    RUN_TEST(numbers_that_cannot_be_given_are_left_as_they_are);
    t_close();
    GREATEST_MAIN_END();
}
