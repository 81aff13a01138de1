/* SPDX-License-Identifier: MIT
 *
 * queue_put_test.c - the scripts of a queue on a server: how jobs enter a
 * queue, by put, put_full and unique.
 *
 *   queue_put_test [SOCKET]    the local server, or a real one there
 *
 * The tests move time by setting scores to 0: so no test waits, and the results
 * are the same on every server. */
#include "queue_rig.h"

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

/* A newer put had taken the repeat id when a proxy delivered the older one
 * late: the older job was put a second time. Found by the simulator. */
TEST an_older_put_that_comes_late_is_void(void)
{
    (void)RUN("put", "P.0", "1", "0", "a", NULL);
    (void)RUN("put", "P.0", "17", "0", "b", NULL);
    (void)RUN("put", "P.0", "1", "0", "a", NULL);
    SAID("2", t_tell("LLEN {q}:waiting"));
    PASS();
}

/* The same when the newer call put no job, since its id was taken. Found by the
 * simulator. */
TEST an_older_put_is_void_after_a_put_full_that_put_nothing(void)
{
    (void)RUN("put", "P.0", "1", "0", "a", NULL);
    SAID("2", RUN("put_full", "P.1", "2", "0", "0,0,0,1,0;x", "b", NULL));
    SAID("-2W", RUN("put_full", "P.0", "17", "0", "0,0,0,1,0;x", "c", NULL));
    (void)RUN("put", "P.0", "1", "0", "a", NULL);
    SAID("1", t_tell("LLEN {q}:waiting"));
    PASS();
}

TEST a_full_queue_takes_all_or_nothing(void)
{
    t_put(2);
    SAID("-FULL 2 jobs wait", RUN("put", "P.1", "2", "3", "c", "d", NULL));
    SAID("[3 0]", RUN("put", "P.1", "3", "3", "c", NULL));
    PASS();
}

/* Regression: put_full counted only delayed jobs, and its own jobs are delayed
 * only for a moment, so that the queue was never full. */
TEST a_limited_put_full_counts_the_jobs_of_each_waiting_place(void)
{
    t_put(1);
    (void)t_put_full("1", "5,0,0,0,0;", "ranked");
    t_promote();
    (void)t_put_full("2", "0,3600000,0,0,0;", "late");
    SAID("-FULL 3 jobs wait",
         RUN("put_full", "P.9", "3", "3", "0,0,0,1,0;x", "d", NULL));
    SAID("4", RUN("put_full", "P.9", "4", "4", "0,0,0,1,0;x", "d", NULL));
    PASS();
}

TEST a_full_queue_takes_no_further_unique_job(void)
{
    t_put(2);
    SAID("-FULL 2 jobs wait", RUN("unique", "P.3", "1", "r", "0",
                                  "0,0,0,1,0;x", "a", "2", NULL));
    SAID("0", t_tell("HLEN {q}:ids"));
    SAID("3", RUN("unique", "P.3", "2", "r", "0", "0,0,0,1,0;x", "b", "3",
                  NULL));
    SAID("-3W", RUN("unique", "P.3", "3", "r", "0", "0,0,0,1,0;x", "c", "3",
                    NULL)); /* it adds no waiting job */
    PASS();
}

TEST a_closed_queue_takes_nothing_but_repeats(void)
{
    t_put(1);
    (void)t_say("HSET {q}:jobs closed 1");
    SAID("[1 1]", RUN("put", "P.0", "1", "0", "a", NULL));
    ASSERT(strncmp(RUN("put", "P.1", "2", "0", "b", NULL), "-CLOSED", 7) == 0);
    ASSERT(strncmp(t_put_full("1", "0,0,0,1,0;x", "p"), "-CLOSED", 7) == 0);
    SAID("-1", t_tell("HLEN {q}:ids")[0] == '0' ? "-1" : "0");
    PASS();
}

TEST numbers_go_on_beyond_2_to_31(void)
{
    (void)t_say("HSET {q}:jobs seq 5000000000");
    SAID("[5000000001 0]", RUN("put", "P.0", "1", "0", "a", NULL));
    SAID("5000000002", t_put_full("1", "0,0,0,1,0;x", "b"));
    t_promote();
    (void)t_claim("W", "1", "5");
    SAID("5000000001 5000000002", t_brought());
    SWEPT;
    PASS();
}

/* ----------------------------------------------------------------- offering */

TEST a_job_of_put_full_waits_once_it_is_due(void)
{
    SAID("1 2", RUN("put_full", "P.0", "1", "0", "0,3600000,0,0,0;", "late",
                    "0,0,0,0,0;", "now", NULL));
    (void)RUN("promote", "9", NULL);
    ASSERT_EQ(1, t_nth(0));
    ASSERT(t_nth(1) > 3500000 && t_nth(1) <= 3600000);
    SAID("[2]", t_tell("LRANGE {q}:waiting 0 -1"));
    SWEPT;
    PASS();
}

TEST an_id_that_is_taken_names_the_first_job(void)
{
    SAID("1", t_put_full("1", "0,0,0,1,0;x", "a"));
    SAID("-1W", t_put_full("2", "0,0,0,1,0;x", "b"));
    SAID("2 -2W", RUN("put_full", "P.1", "3", "0", "0,0,0,1,0;y", "c",
                      "0,0,0,1,0;y", "d", NULL));
    PASS();
}

TEST an_id_that_is_taken_tells_where_its_job_is(void)
{
    SAID("1", t_put_full("1", "0,0,0,1,0;x", "a"));
    t_promote();
    SAID("-1W", t_put_full("2", "0,0,0,1,0;x", "b"));
    (void)t_claim("W", "1", "1");
    SAID("-1L", t_put_full("3", "0,0,0,1,0;x", "b"));
    SAID("-1L", t_unique("4", "r", "0,0,0,1,0;x"));
    (void)RUN("done", "W", "1", "1", t_token("1"), "5000", "", NULL);
    SAID("-1D", t_put_full("5", "0,0,0,1,0;x", "b"));
    SAID("-1D", t_put_full("5", "0,0,0,1,0;x", "b")); /* the same again */
    SWEPT;
    PASS();
}

TEST a_repeated_put_full_takes_effect_once(void)
{
    (void)t_put_full("1", "0,0,0,1,0;x", "a");
    (void)RUN("forget", "", "100", NULL); /* which marks what is remembered */
    SAID("1", t_put_full("1", "0,0,0,1,0;x", "a"));
    SAID("1", t_tell("ZCARD {q}:delayed"));
    PASS();
}

TEST an_id_whose_job_has_no_record_is_free(void)
{
    (void)t_put_full("1", "0,0,0,1,0;x", "a");
    (void)t_say("HDEL {q}:jobs 1");
    SAID("2", t_put_full("2", "0,0,0,1,0;x", "b"));
    PASS();
}

TEST a_dead_job_does_not_block_its_id(void)
{
    (void)t_put_full("1", "0,0,0,1,0;x", "a");
    t_promote();
    (void)t_claim("W", "1", "1");
    (void)RUN("fail", "W", "1", "1", t_token("1"), "x", "0", "no", NULL);
    SAID("2", t_put_full("2", "0,0,0,1,0;x", "b"));
    (void)RUN("trim", "0", "0", "0", "9", NULL);
    SAID("2", t_tell("HGET {q}:ids x")); /* it is not the dead job's */
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
    SAID("1 2", t_run_spans("put_full", arg, 7));
    arg[1] = t_span("2");
    SAID("-1W -2W", t_run_spans("put_full", arg, 7));
    t_promote();
    (void)t_claim("W", "1", "9");
    SAID("d", RUN("done", "W.0", t_token("1"), "1", t_token("1"), "0", "",
                  NULL));
    SAID("[1]", t_tell("HKEYS {q}:ids"));
    SWEPT;
    PASS();
}

/* ------------------------------------------------------------------- unique */

TEST a_throttle_admits_one_job_in_its_window(void)
{
    SAID("1", t_unique("1", "t", "0,0,0,1,0;x"));
    SAID("-1W", t_unique("2", "t", "0,0,0,1,0;x"));
    t_promote();
    (void)t_claim("W", "1", "1");
    (void)RUN("done", "W", "1", "1", t_token("1"), "0", "", NULL);
    SAID("-1G", t_unique("3", "t", "0,0,0,1,0;x"));
    (void)t_say("HSET {q}:ids x 1,5,60000");
    SAID("2", t_unique("4", "t", "0,0,0,1,0;x"));
    SWEPT;
    PASS();
}

TEST a_window_outlives_a_job_that_died(void)
{
    SAID("1", t_unique("1", "t", "0,0,0,1,0;x"));
    t_promote();
    (void)t_claim("W", "1", "1");
    (void)RUN("fail", "W", "1", "1", t_token("1"), "x", "0", "no", NULL);
    SAID("-1X", t_unique("2", "t", "0,0,0,1,0;x"));
    SWEPT;
    PASS();
}

TEST an_extended_window_begins_anew(void)
{
    char first[60];

    (void)t_unique("1", "e", "0,0,0,1,0;x");
    (void)t_say("HSET {q}:ids x 1,4000000000000,50000");
    strcpy(first, t_tell("HGET {q}:ids x"));
    SAID("-1W", t_unique("2", "e", "0,0,0,1,0;x"));
    ASSERT(strcmp(first, t_tell("HGET {q}:ids x")) != 0);
    ASSERT(strstr(t_shown, ",50000"));
    SAID("-1W", t_unique("3", "t", "0,0,0,1,0;x"));
    PASS();
}

TEST a_replacement_takes_the_payload_alone(void)
{
    SAID("1", t_unique("1", "r", "3,0,0,1,0;x"));
    SAID("-1W", t_unique("2", "r", "0,9,1,1,0;Tx"));
    ASSERT(strstr(RUN("look", "x", "", NULL), "3,0,0,1,0;x2 "));
    t_promote();
    (void)t_claim("W", "1", "1");
    SAID("-1L", t_unique("3", "r", "0,0,0,1,0;x"));
    ASSERT(strstr(RUN("look", "x", "", NULL), "3,0,0,1,0;x2 "));
    SWEPT;
    PASS();
}

TEST a_finished_job_is_not_replaced(void)
{
    SAID("1", t_unique("1", "r", "0,0,0,1,0;x"));
    t_promote();
    (void)t_claim("W", "1", "1");
    SAID("d", RUN("done", "W", "1", "1", t_token("1"), "60000", "r", NULL));
    SAID("-1D", t_unique("2", "r", "0,0,0,1,0;x"));
    ASSERT(strstr(RUN("look", "x", "", NULL), "0,0,0,1,0;x1 "));
    SWEPT;
    PASS();
}

TEST a_debounced_job_waits_anew(void)
{
    (void)t_unique("1", "d", "0,5000,0,1,0;x");
    t_all_due("delayed");
    SAID("-1W", t_unique("2", "d", "0,5000,0,1,0;x"));
    ASSERT(strlen(t_tell("ZSCORE {q}:delayed 1")) > 5);
    t_promote();
    (void)t_claim("W", "1", "1");
    SAID("2", t_unique("3", "d", "0,5000,0,1,0;x"));
    (void)RUN("done", "W", "1", "1", t_token("1"), "0", "", NULL);
    SAID("2", t_tell("HGET {q}:ids x"));
    SWEPT;
    PASS();
}

TEST a_refused_unique_put_leaves_no_id(void)
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
    SAID("-1W", t_unique("2", "d", "0,5000,0,1,0;x"));
    SAID("-1W", t_unique("2", "d", "0,5000,0,1,0;x"));
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

/* Of all the workers of a queue, one an hour searches the records that the
 * queue keeps of its clients. */
TEST a_search_for_records_of_old_clients_begins_at_most_once_an_hour(void)
{
    static const char *const set[] = {"HSET", "{q}:jobs", "pold", "5 1", NULL};

    (void)RUN("forget", "", "100", "3600", NULL);
    SAID("0", t_tell("EXISTS {q}:jobs"));
    t_put(1);
    SAID("i0", RUN("forget", "", "100", "3600", NULL));
    (void)t_ask(set);
    SAID("", RUN("forget", "", "100", "3600", NULL));
    SAID("5 1", t_tell("HGET {q}:jobs pold"));
    SAID("", RUN("forget", "i0", "100", "3600", NULL)); /* it goes on */
    SAID("i0", RUN("forget", "", "100", NULL));         /* or is asked to */
    ASSERT(strstr(t_tell("HGET {q}:jobs pold"), "5 1@"));
    (void)t_ask(set);
    (void)t_say("HSET {q}:jobs swept 1");
    SAID("i0", RUN("forget", "", "100", "3600", NULL));
    ASSERT(strstr(t_tell("HGET {q}:jobs pold"), "5 1@"));
    PASS();
}

/* The time of the search was noted by a clock that was days ahead and has been
 * set right since. */
TEST a_search_noted_in_the_future_does_not_prevent_the_next_search(void)
{
    t_put(1);
    (void)t_say("HSET {q}:jobs swept 9999999999");
    SAID("i0", RUN("forget", "", "100", "3600", NULL));
    SAID("", RUN("forget", "", "100", "3600", NULL));
    PASS();
}

/* ------------------------------------------------- places of cancelled jobs
 *
 * A job that is cancelled in the list leaves its number there until its
 * turn. */

/* The number of waiting jobs that the refusal of a put names. */
static const char *t_waiting(void)
{
    static char said[60];
    static int op = 900;
    char number[12];

    sprintf(number, "%d", op++);
    sprintf(said, "%.59s", RUN("put", "P.f", number, "1", "a", "b", NULL));
    return strncmp(said, "-FULL ", 6) == 0 ? strtok(said + 6, " ") : said;
}

TEST a_cancelled_job_leaves_room_for_another_job(void)
{
    t_put(3);
    SAID("[c 2]", RUN("cancel", "", "2", NULL));
    SAID("2", t_waiting());
    SAID("[4 0]", RUN("put", "P.1", "1", "3", "d", NULL));
    SAID("-FULL 3 jobs wait", RUN("put", "P.1", "2", "3", "e", NULL));
    SAID("-FULL 3 jobs wait", RUN("put_full", "P.1", "2", "3", "1,0,0,0,0;",
                                  "e",
                                  NULL));
    SAID("-FULL 3 jobs wait", RUN("unique", "P.1", "2", "r", "0",
                                  "0,0,0,1,0;u", "e", "3", NULL));
    SAID("[c 1]", RUN("cancel", "", "1", NULL));
    SAID("5", RUN("put_full", "P.1", "2", "3", "1,0,0,0,0;", "e", NULL));
    SAID("[c 3]", RUN("cancel", "", "3", NULL));
    SAID("6", RUN("unique", "P.1", "3", "r", "0", "0,0,0,1,0;u", "e", "3",
                  NULL));
    PASS();
}

/* A claim that passes over places that were never counted leaves such a
 * count. */
TEST a_count_of_places_below_none_hides_no_cancelled_job(void)
{
    t_put(3);
    (void)t_say("HSET {q}:jobs holes -5");
    SAID("[c 2]", RUN("cancel", "", "2", NULL));
    SAID("1", t_tell("HGET {q}:jobs holes"));
    SAID("2", t_waiting());
    PASS();
}

TEST a_job_that_is_cancelled_elsewhere_leaves_no_place(void)
{
    (void)t_put_full("1", "5,0,0,0,0;", "a");
    (void)t_put_full("2", "0,3600000,0,0,0;", "b");
    (void)t_say("ZADD {q}:delayed 0 1,5");
    (void)RUN("promote", "1", NULL);
    t_put(1);
    SAID("[c 1]", RUN("cancel", "", "1", NULL)); /* has a rank */
    SAID("[c 2]", RUN("cancel", "", "2", NULL)); /* is delayed */
    SAID("nil", t_tell("HGET {q}:jobs holes"));
    SAID("1", t_waiting());
    PASS();
}

TEST a_place_that_was_passed_over_is_counted_no_more(void)
{
    t_put(5);
    (void)RUN("cancel", "", "1", NULL);
    (void)RUN("cancel", "", "3", NULL);
    (void)RUN("cancel", "", "5", NULL);
    SAID("3", t_tell("HGET {q}:jobs holes"));
    (void)t_claim("W", "1", "3"); /* 1 and 3 are passed over */
    SAID("2", t_brought());
    SAID("1", t_tell("HGET {q}:jobs holes"));
    SAID("-FULL 1 jobs wait", RUN("put", "P.1", "1", "1", "x", NULL));
    SAID("[6 0]", RUN("put", "P.1", "1", "2", "x", NULL));
    SAID("2", t_waiting());
    PASS();
}

TEST a_place_is_counted_no_more_when_it_is_ranked_or_purged(void)
{
    t_put(4);
    (void)RUN("cancel", "", "2", NULL);
    (void)RUN("cancel", "", "4", NULL);
    SAID("[2 2]", RUN("rank", "2", NULL));
    SAID("1", t_tell("HGET {q}:jobs holes"));
    SAID("[3]", t_tell("ZRANGE {q}:ranked 0 -1"));
    SAID("2", t_waiting());
    SAID("[2 1]", RUN("purge", "w", "2", "0", NULL));
    SAID("0", t_tell("HGET {q}:jobs holes"));
    SAID("[3]", t_tell("ZRANGE {q}:ranked 0 -1"));
    PASS();
}

TEST the_status_tells_how_many_jobs_wait_and_not_how_many_places(void)
{
    t_put(3);
    (void)RUN("cancel", "", "1", NULL);
    (void)RUN("status", NULL);
    ASSERT_EQ(2, t_nth(1));
    PASS();
}

/* An older program, or a step that was cut, may leave a wrong count. */
TEST a_count_of_places_that_is_wrong_ends_with_the_list(void)
{
    t_put(1);
    (void)t_say("HSET {q}:jobs holes 7");
    (void)RUN("idle", "me", "1", NULL);
    SAID("7", t_tell("HGET {q}:jobs holes"));
    (void)t_claim("W", "1", "1");
    (void)RUN("idle", "me", "1", NULL);
    SAID("nil", t_tell("HGET {q}:jobs holes"));
    (void)t_say("HSET {q}:jobs holes -7");
    SAID("[2 0]", RUN("put", "P.1", "1", "2", "x", "y", NULL));
    SAID("-FULL 2 jobs wait", RUN("put", "P.1", "2", "2", "x", NULL));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    if (!t_open(&argc, &argv) || !t_load_all())
        return 1;
    GREATEST_MAIN_BEGIN();
    GREATEST_SET_SETUP_CB(t_fresh, NULL);
    RUN_TEST(jobs_are_given_numbers_in_their_order);
    RUN_TEST(a_put_that_is_repeated_is_done_once);
    RUN_TEST(an_older_put_that_comes_late_is_void);
    RUN_TEST(an_older_put_is_void_after_a_put_full_that_put_nothing);
    RUN_TEST(a_full_queue_takes_all_or_nothing);
    RUN_TEST(a_limited_put_full_counts_the_jobs_of_each_waiting_place);
    RUN_TEST(a_full_queue_takes_no_further_unique_job);
    RUN_TEST(a_closed_queue_takes_nothing_but_repeats);
    RUN_TEST(numbers_go_on_beyond_2_to_31);
    RUN_TEST(a_job_of_put_full_waits_once_it_is_due);
    RUN_TEST(an_id_that_is_taken_names_the_first_job);
    RUN_TEST(an_id_that_is_taken_tells_where_its_job_is);
    RUN_TEST(a_repeated_put_full_takes_effect_once);
    RUN_TEST(an_id_whose_job_has_no_record_is_free);
    RUN_TEST(a_dead_job_does_not_block_its_id);
    RUN_TEST(ids_may_hold_any_byte);
    RUN_TEST(a_throttle_admits_one_job_in_its_window);
    RUN_TEST(a_window_outlives_a_job_that_died);
    RUN_TEST(an_extended_window_begins_anew);
    RUN_TEST(a_replacement_takes_the_payload_alone);
    RUN_TEST(a_finished_job_is_not_replaced);
    RUN_TEST(a_debounced_job_waits_anew);
    RUN_TEST(a_refused_unique_put_leaves_no_id);
    RUN_TEST(a_unique_put_that_is_repeated_is_done_once);
    RUN_TEST(a_window_that_has_closed_is_forgotten);
    RUN_TEST(a_search_for_records_of_old_clients_begins_at_most_once_an_hour);
    RUN_TEST(a_search_noted_in_the_future_does_not_prevent_the_next_search);
    RUN_TEST(a_cancelled_job_leaves_room_for_another_job);
    RUN_TEST(a_count_of_places_below_none_hides_no_cancelled_job);
    RUN_TEST(a_job_that_is_cancelled_elsewhere_leaves_no_place);
    RUN_TEST(a_place_that_was_passed_over_is_counted_no_more);
    RUN_TEST(a_place_is_counted_no_more_when_it_is_ranked_or_purged);
    RUN_TEST(the_status_tells_how_many_jobs_wait_and_not_how_many_places);
    RUN_TEST(a_count_of_places_that_is_wrong_ends_with_the_list);
    t_close();
    GREATEST_MAIN_END();
}
