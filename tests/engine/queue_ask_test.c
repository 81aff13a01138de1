/* SPDX-License-Identifier: MIT
 *
 * queue_ask_test.c - requests of operators about queues, on mem:, and the
 * functions that read their answers. */
#include "ask_rig.h"

/* Puts job 1 and buries it. */
static int t_one_dead(void)
{
    relet_failure f;

    memset(&f, 0, sizeof f);
    f.verdict = RELET_BURY;
    f.text = relet_str("no good");
    return t_put("a", "x") == 1 && t_worker(1) == 0 && t_until(RELET_EV_JOBS) &&
           relet_job_fail(t_r, 0, 1, &f) == 0 &&
           relet_worker_stop(t_r, 0) == 0 && t_until(RELET_EV_WORKER_ENDED);
}

TEST a_job_is_seen_in_each_of_its_places(void)
{
    ASSERT_EQ(1, t_put("payload", "x"));
    ASSERT_EQ(1, t_look(0, "x"));
    ASSERT_EQ(RELET_AT_WAITING, t_info.place);
    ASSERT_EQ(1, t_info.work.number);
    ASSERT_EQ(0, t_info.work.attempt);
    SPAN("payload", t_info.work.job.payload);
    SPAN("x", t_info.work.job.id);
    ASSERT_EQ(NULL, t_info.owners.p);
    ASSERT_EQ(0, t_worker(1));
    ASSERT(t_until(RELET_EV_JOBS));
    ASSERT_EQ(0, relet_job_progress(t_r, 0, 1, relet_str("half")));
    ASSERT_EQ(1, t_look(1, NULL));
    ASSERT_EQ(RELET_AT_LEASED, t_info.place);
    ASSERT_EQ(1, t_info.work.attempt);
    ASSERT(t_info.work.token > 0 && t_info.at_ms > 0);
    SPAN("half", t_info.progress);
    ASSERT(strncmp(t_info.owners.p, "W me:", 5) == 0 ||
           strncmp(t_info.owners.p, "me:", 3) == 0);
    ASSERT_EQ(0, t_info.is_cancelled);
    ASSERT_EQ(0, t_look(7, NULL));
    ASSERT_EQ(0, t_look(0, "y"));
    PASS();
}

TEST progress_of_an_unknown_job_is_refused(void)
{
    ASSERT_EQ(RELET_E_REFUSED, relet_job_progress(t_r, 0, 1, t_none));
    ASSERT_EQ(0, t_worker(1));
    ASSERT_EQ(RELET_E_REFUSED, relet_job_progress(t_r, 0, 1, t_none));
    ASSERT_EQ(RELET_E_REFUSED, relet_job_progress(t_r, -1, 1, t_none));
    ASSERT_EQ(RELET_E_REFUSED, relet_job_progress(t_r, 99, 1, t_none));
    PASS();
}

TEST a_list_is_read_to_its_end(void)
{
    static char large[5000];
    size_t at = 0;
    int64_t on;

    memset(large, 'x', sizeof large - 1);
    ASSERT_EQ(1, t_put("one", NULL));
    ASSERT_EQ(1, t_put(large, NULL));
    HEARD(
        relet_queue_job_list(t_r, t_queue, RELET_AT_WAITING, 0, 2, NULL, NULL));
    ASSERT_EQ(1, relet_queue_job_list_read(t_ev.value, RELET_AT_WAITING, &at,
                                           &on, &t_info));
    ASSERT_EQ(1, t_info.work.number);
    ASSERT_EQ(3, t_info.payload_len);
    ASSERT_EQ(RELET_AT_WAITING, t_info.place);
    ASSERT_EQ(1, relet_queue_job_list_read(t_ev.value, RELET_AT_WAITING, &at,
                                           &on, &t_info));
    ASSERT_EQ(2, t_info.work.number);
    ASSERT_EQ(4999, t_info.payload_len);
    ASSERT(t_info.work.job.payload.n < 4999);
    ASSERT_EQ(0, relet_queue_job_list_read(t_ev.value, RELET_AT_WAITING, &at,
                                           &on, &t_info));
    ASSERT_EQ(2, on);
    PASS();
}

/* Puts job 1 and completes it; its result is kept. */
static int t_one_done(void)
{
    relet_job j = t_job("a", NULL);

    j.keep_ms = 60000;
    return t_hear(relet_queue_put(t_r, t_queue, &j, 1, 0, NULL)) ==
               RELET_EV_REPLY &&
           t_worker(1) == 0 && t_until(RELET_EV_JOBS) &&
           relet_job_done(t_r, 0, 1, relet_str("fine")) == 0 &&
           relet_worker_stop(t_r, 0) == 0 && t_until(RELET_EV_WORKER_ENDED);
}

TEST a_result_that_is_kept_is_seen(void)
{
    ASSERT(t_one_done());
    ASSERT_EQ(1, t_look(1, NULL));
    ASSERT_EQ(RELET_AT_DONE, t_info.place);
    ASSERT_EQ(1, t_info.work.attempt);
    ASSERT(t_info.at_ms > 0);
    SPAN("fine", t_info.result);
    PASS();
}

TEST a_result_may_be_kept_for_longer(void)
{
    relet_queue_info now;
    relet_time until;

    ASSERT(t_one_done());
    ASSERT_EQ(1, t_look(1, NULL));
    until = t_info.at_ms;
    HEARD(relet_queue_job_keep(t_r, t_queue, 1, t_none, 3600000, NULL));
    ASSERT_EQ(1, relet_queue_job_look_read(t_ev.value, &t_info));
    ASSERT_EQ(RELET_AT_DONE, t_info.place);
    ASSERT_EQ(1, t_info.work.number);
    ASSERT(t_info.at_ms > until + 3000000);
    HEARD(relet_queue_status(t_r, t_queue, NULL));
    ASSERT(relet_queue_status_read(t_ev.value, &now));
    ASSERT(t_info.at_ms <= now.server_us / 1000 + 3600000);
    HEARD(relet_queue_job_keep(t_r, t_queue, 2, t_none, 3600000, NULL));
    ASSERT_EQ(0, relet_queue_job_look_read(t_ev.value, &t_info));
    PASS();
}

/* The number of the only job of a place, or 0. */
static uint64_t t_only(relet_place place, const relet_span *type)
{
    relet_job_info other;
    size_t at = 0;
    int64_t on;

    memset(&t_info, 0, sizeof t_info);
    if (t_hear(relet_queue_job_list(t_r, t_queue, place, 0, 100, type, NULL)) !=
            RELET_EV_REPLY ||
        !relet_queue_job_list_read(t_ev.value, place, &at, &on, &t_info) ||
        relet_queue_job_list_read(t_ev.value, place, &at, &on, &other))
        return 0;
    return t_info.work.number;
}

TEST each_place_has_its_list(void)
{
    relet_failure f;
    relet_job j = t_job("late", NULL);

    ASSERT(t_one_done());
    ASSERT_EQ(1, t_put("dead", NULL));
    ASSERT_EQ(1, t_put("leased", NULL));
    ASSERT_EQ(1, t_put("waits", NULL));
    j.delay_ms = 60000;
    HEARD(relet_queue_put(t_r, t_queue, &j, 1, 0, NULL));
    j.delay_ms = 0;
    j.rank = 1;
    memset(&f, 0, sizeof f);
    f.verdict = RELET_BURY;
    ASSERT_EQ(0, t_worker(1));
    ASSERT(t_until(RELET_EV_JOBS));
    ASSERT_EQ(0, relet_job_fail(t_r, 0, 2, &f));
    ASSERT(t_until(RELET_EV_JOBS));
    HEARD(relet_queue_put(t_r, t_queue, &j, 1, 0, NULL));
    ASSERT_EQ(1, t_only(RELET_AT_DONE, NULL));
    ASSERT_EQ(2, t_only(RELET_AT_DEAD, NULL));
    ASSERT_EQ(3, t_only(RELET_AT_LEASED, NULL));
    ASSERT_EQ(4, t_only(RELET_AT_WAITING, NULL));
    ASSERT_EQ(5, t_only(RELET_AT_DELAYED, NULL));
    ASSERT_EQ(6, t_only(RELET_AT_RANKED, NULL));
    PASS();
}

TEST a_list_of_one_type_leaves_other_types_out(void)
{
    const relet_span type = relet_str("t");
    relet_job j = t_job("a", NULL);

    ASSERT_EQ(1, t_put("plain", NULL));
    j.type = type;
    HEARD(relet_queue_put(t_r, t_queue, &j, 1, 0, NULL));
    ASSERT_EQ(2, t_only(RELET_AT_WAITING, &type));
    SPAN("t", t_info.work.job.type);
    PASS();
}

TEST a_job_replayed_up_to_the_limit_stays_dead(void)
{
    const uint64_t number = 1;

    ASSERT(t_one_dead());
    HEARD(relet_queue_replay(t_r, t_queue, &number, 1, 0, 0, 1, NULL));
    ASSERT_EQ(1, t_nth(0));
    HEARD(relet_command_text(t_r, NULL, "HSET", "{q}:jobs", "1s",
                             "X 1 1 0 1 - w", (char *)NULL));
    HEARD(relet_command_text(t_r, NULL, "ZADD", "{q}:dead", "1", "1",
                             (char *)NULL));
    HEARD(relet_queue_replay(t_r, t_queue, &number, 1, 0, 0, 1, NULL));
    ASSERT_EQ(0, t_nth(0));
    ASSERT_EQ(1, t_nth(1));
    PASS();
}

TEST a_dead_job_tells_why_and_is_replayed(void)
{
    const uint64_t numbers[] = {1, 9};

    ASSERT(t_one_dead());
    ASSERT_EQ(1, t_look(1, NULL));
    ASSERT_EQ(RELET_AT_DEAD, t_info.place);
    SPAN("no good", t_info.error);
    HEARD(relet_queue_replay(t_r, t_queue, numbers, 2, 0, 0, 0, NULL));
    ASSERT_EQ(1, t_nth(0));
    ASSERT_EQ(0, t_nth(1));
    ASSERT_EQ(1, t_nth(2));
    ASSERT_EQ(1, t_look(1, NULL));
    ASSERT_EQ(RELET_AT_WAITING, t_info.place);
    ASSERT_EQ(1, t_info.work.replays);
    ASSERT_EQ(0, t_info.work.attempt);
    PASS();
}

TEST the_oldest_dead_are_replayed_without_numbers(void)
{
    ASSERT(t_one_dead());
    HEARD(relet_queue_replay(t_r, t_queue, NULL, 0, 0, 10, 0, NULL));
    ASSERT_EQ(1, t_nth(0));
    PASS();
}

TEST the_answer_to_a_cancel_tells_its_effect(void)
{
    relet_cancelled what;
    uint64_t number;

    ASSERT_EQ(1, t_put("a", "x"));
    ASSERT_EQ(1, t_put("b", NULL));
    HEARD(relet_queue_job_cancel(t_r, t_queue, 0, relet_str("x"), NULL));
    ASSERT_EQ(1, relet_queue_job_cancel_read(t_ev.value, &what, &number));
    ASSERT_EQ(RELET_CANCEL_GONE, what);
    ASSERT_EQ(1, number);
    HEARD(relet_queue_job_cancel(t_r, t_queue, 1, t_none, NULL));
    ASSERT_EQ(1, relet_queue_job_cancel_read(t_ev.value, &what, &number));
    ASSERT_EQ(RELET_CANCEL_NONE, what);
    ASSERT_EQ(0, t_worker(1));
    ASSERT(t_until(RELET_EV_JOBS));
    HEARD(relet_queue_job_cancel(t_r, t_queue, 2, t_none, NULL));
    ASSERT_EQ(1, relet_queue_job_cancel_read(t_ev.value, &what, &number));
    ASSERT_EQ(RELET_CANCEL_TOLD, what);
    ASSERT_EQ(1, t_look(2, NULL));
    ASSERT_EQ(1, t_info.is_cancelled);
    PASS();
}

TEST a_paused_queue_refuses_puts_and_says_so_in_its_status(void)
{
    relet_queue_info info;

    ASSERT_EQ(1, t_put("a", NULL));
    HEARD(relet_queue_pause(t_r, t_queue, RELET_IN | RELET_OUT, NULL));
    HEARD(relet_queue_limit(t_r, t_queue, 7, NULL));
    ASSERT_EQ(-1, t_put("b", NULL));
    ASSERT_EQ(RELET_EV_ERROR, t_ev.kind);
    ASSERT(strncmp(t_ev.text.p, "CLOSED", 6) == 0);
    HEARD(relet_queue_status(t_r, t_queue, NULL));
    ASSERT_EQ(1, relet_queue_status_read(t_ev.value, &info));
    ASSERT_EQ(1, info.waiting);
    ASSERT_EQ(7, info.limit);
    ASSERT_EQ(1, info.is_closed);
    ASSERT_EQ(1, info.is_stopped);
    HEARD(relet_queue_resume(t_r, t_queue, RELET_IN, NULL));
    HEARD(relet_queue_limit(t_r, t_queue, 0, NULL));
    ASSERT_EQ(1, t_put("b", NULL));
    HEARD(relet_queue_status(t_r, t_queue, NULL));
    ASSERT_EQ(1, relet_queue_status_read(t_ev.value, &info));
    ASSERT_EQ(2, info.waiting);
    ASSERT_EQ(-1, info.limit);
    ASSERT_EQ(0, info.is_closed);
    ASSERT_EQ(1, info.is_stopped);
    PASS();
}

TEST a_purge_spares_leased_jobs_unless_forced(void)
{
    ASSERT_EQ(1, t_put("a", NULL));
    ASSERT_EQ(0, t_worker(1));
    ASSERT(t_until(RELET_EV_JOBS));
    ASSERT_EQ(1, t_put("b", NULL));
    ASSERT_EQ(RELET_EV_ERROR,
              t_hear(relet_queue_purge(t_r, t_queue, RELET_AT_NOWHERE,
                                                    10, 0, NULL)));
    HEARD(relet_queue_purge(t_r, t_queue, RELET_AT_RANKED, 10, 0, NULL));
    ASSERT_EQ(1, t_nth(0));
    HEARD(relet_queue_purge(t_r, t_queue, RELET_AT_NOWHERE, 10, 1, NULL));
    ASSERT_EQ(1, t_nth(0));
    ASSERT_EQ(0, t_look(1, NULL));
    PASS();
}

TEST an_operator_may_request_the_upkeep_steps_of_workers(void)
{
    ASSERT(t_one_dead());
    HEARD(relet_queue_reap(t_r, t_queue, 10, 2, 0, NULL));
    ASSERT_EQ(0, t_nth(0));
    HEARD(relet_queue_promote(t_r, t_queue, 10, NULL));
    ASSERT_EQ(-1, t_nth(1));
    HEARD(relet_queue_trim(t_r, t_queue, 10, 0, 0, 10, NULL));
    ASSERT_EQ(1, t_nth(0));
    HEARD(relet_queue_forget(t_r, t_queue, t_none, NULL));
    PASS();
}

TEST a_second_put_within_its_throttle_window_names_the_first_job(void)
{
    relet_job j = t_job("a", "x");

    HEARD(relet_queue_put_unique(t_r, t_queue, &j, RELET_THROTTLE, 60000, 0,
                                 NULL));
    ASSERT_EQ(1, relet_queue_put_number(t_ev.value, 0, &t_number));
    HEARD(relet_queue_put_unique(t_r, t_queue, &j, RELET_THROTTLE, 60000, 0,
                                 NULL));
    ASSERT_EQ(2, relet_queue_put_number(t_ev.value, 0, &t_number));
    ASSERT_EQ(1, t_number);
    ASSERT_EQ(RELET_AT_WAITING, relet_queue_put_twin(t_ev.value, 0));
    PASS();
}

TEST the_last_payload_is_the_one_that_is_worked_on(void)
{
    relet_job j = t_job("old", "x");

    HEARD(relet_queue_put_unique(t_r, t_queue, &j, RELET_REPLACE, 0, 0, NULL));
    j.payload = relet_str("newer");
    HEARD(relet_queue_put_unique(t_r, t_queue, &j, RELET_REPLACE, 0, 0, NULL));
    ASSERT_EQ(2, relet_queue_put_number(t_ev.value, 0, &t_number));
    ASSERT_EQ(1, t_look(1, NULL));
    SPAN("newer", t_info.work.job.payload);
    PASS();
}

/* The end of the options was once searched for at a distance that depended on
 * the delay. */
TEST a_payload_is_replaced_behind_any_delay(void)
{
    relet_job j = t_job("old", "x");

    j.delay_ms = 60000;
    j.attempts = 7;
    HEARD(relet_queue_put_unique(t_r, t_queue, &j, RELET_REPLACE, 0, 0, NULL));
    j.payload = relet_str("newer");
    HEARD(relet_queue_put_unique(t_r, t_queue, &j, RELET_REPLACE, 0, 0, NULL));
    ASSERT_EQ(1, t_look(1, NULL));
    SPAN("newer", t_info.work.job.payload);
    ASSERT_EQ(7, t_info.work.job.attempts);
    PASS();
}

TEST an_invalid_request_to_a_queue_is_refused_by_name(void)
{
    relet_job j = t_job("a", NULL);

#define REFUSED(text, code)                              \
    do {                                                 \
        ASSERT_EQ(RELET_E_REFUSED, code);                \
        ASSERT_STR_EQ(text, relet_refusal(t_r));         \
    } while (0)

    REFUSED(
        "relet_queue_put_unique needs job.id",
        relet_queue_put_unique(t_r, t_queue, &j, RELET_REPLACE, 0, 0, NULL));
    j.id = relet_str("x");
    REFUSED("window_ms must be between 1 and 1000000000000",
            relet_queue_put_unique(t_r, t_queue, &j, RELET_EXTEND, 0, 0, NULL));
    REFUSED("a job is named by its number or its id",
            relet_queue_job_look(t_r, t_queue, 0, t_none, NULL));
    REFUSED("the name of a queue may hold no }",
            relet_queue_status(t_r, relet_str("a}b"), NULL));
    REFUSED(
        "there is no such place",
        relet_queue_job_list(t_r, t_queue, RELET_AT_NOWHERE, 0, 1, NULL, NULL));
    REFUSED(
        "between 1 and 128 at a time",
        relet_queue_job_list(t_r, t_queue, RELET_AT_DEAD, 0, 129, NULL, NULL));
    REFUSED("between 1 and 128 at a time",
            relet_queue_purge(t_r, t_queue, RELET_AT_DEAD, 0, 0, NULL));
    REFUSED("at most 128 jobs are named at a time",
            relet_queue_replay(t_r, t_queue, &t_number, 129, 0, 0, 0, NULL));
    REFUSED("gates are RELET_IN, RELET_OUT or both",
            relet_queue_pause(t_r, t_queue, 4, NULL));
    REFUSED("hold_off_ms must be between 0 and 1000000000000",
            relet_queue_reap(t_r, t_queue, 1, 1, -1, NULL));
    REFUSED("dead_ms must be between 0 and 1000000000000",
            relet_queue_trim(t_r, t_queue, 1, 1, -1, 1, NULL));
    PASS();
}

/* A server may answer anything. */
TEST an_answer_of_another_form_is_no_answer(void)
{
    relet_queue_info info;
    relet_cancelled what;
    size_t at = 0;
    int64_t on;

    HEARD(relet_command_text(t_r, NULL, "PING", (char *)NULL));
    ASSERT_EQ(0, relet_queue_job_look_read(t_ev.value, &t_info));
    ASSERT_EQ(0, relet_queue_job_list_read(t_ev.value, RELET_AT_DEAD, &at, &on,
                                           &t_info));
    ASSERT_EQ(-1, on);
    ASSERT_EQ(0, relet_queue_job_cancel_read(t_ev.value, &what, &t_number));
    ASSERT_EQ(0, relet_queue_status_read(t_ev.value, &info));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    GREATEST_SET_SETUP_CB(t_setup, NULL);
    GREATEST_SET_TEARDOWN_CB(t_teardown, NULL);
    RUN_TEST(a_job_is_seen_in_each_of_its_places);
    RUN_TEST(progress_of_an_unknown_job_is_refused);
    RUN_TEST(a_list_is_read_to_its_end);
    RUN_TEST(a_result_that_is_kept_is_seen);
    RUN_TEST(a_result_may_be_kept_for_longer);
    RUN_TEST(each_place_has_its_list);
    RUN_TEST(a_list_of_one_type_leaves_other_types_out);
    RUN_TEST(a_job_replayed_up_to_the_limit_stays_dead);
    RUN_TEST(a_dead_job_tells_why_and_is_replayed);
    RUN_TEST(the_oldest_dead_are_replayed_without_numbers);
    RUN_TEST(the_answer_to_a_cancel_tells_its_effect);
    RUN_TEST(a_paused_queue_refuses_puts_and_says_so_in_its_status);
    RUN_TEST(a_purge_spares_leased_jobs_unless_forced);
    RUN_TEST(an_operator_may_request_the_upkeep_steps_of_workers);
    RUN_TEST(a_second_put_within_its_throttle_window_names_the_first_job);
    RUN_TEST(the_last_payload_is_the_one_that_is_worked_on);
    RUN_TEST(a_payload_is_replaced_behind_any_delay);
    RUN_TEST(an_invalid_request_to_a_queue_is_refused_by_name);
    RUN_TEST(an_answer_of_another_form_is_no_answer);
    GREATEST_MAIN_END();
}
