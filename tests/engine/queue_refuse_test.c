/* SPDX-License-Identifier: MIT
 *
 * queue_refuse_test.c - which puts and requests are refused, and how
 * malformed answers are read. */
#include "ask_rig.h"

#define REFUSED(text, code)                              \
    do {                                                 \
        ASSERT_EQ(RELET_E_REFUSED, code);                \
        ASSERT_STR_EQ(text, relet_refusal(t_r));         \
    } while (0)

/* ---------------------------------------------------------------- each call */

static int t_replay(relet_span queue, const uint64_t *numbers, size_t count,
                    uint32_t most)
{
    return relet_queue_replay(t_r, queue, numbers, count, 0, most, 0, NULL);
}

static int t_unique(relet_span queue, const relet_job *j, relet_unique mode,
                    relet_time window_ms)
{
    return relet_queue_put_unique(t_r, queue, j, mode, window_ms, 0, NULL);
}

#define T_CALLS 17

/* The i-th of all calls that name a queue, with this queue. */
static int t_call(int i, relet_span queue)
{
    relet_job j = t_job("a", "x");
    uint64_t number = 1;

    switch (i) {
    case 0:
        return relet_queue_put(t_r, queue, &j, 1, 0, NULL);
    case 1:
        return t_unique(queue, &j, RELET_REPLACE, 0);
    case 2:
        return relet_queue_job_look(t_r, queue, 1, t_none, NULL);
    case 3:
        return relet_queue_job_cancel(t_r, queue, 1, t_none, NULL);
    case 4:
        return relet_queue_job_list(t_r, queue, RELET_AT_DEAD, 0, 1, NULL,
                                    NULL);
    case 5:
        return relet_queue_status(t_r, queue, NULL);
    case 6:
        return t_replay(queue, &number, 1, 0);
    case 7:
        return relet_queue_purge(t_r, queue, RELET_AT_DEAD, 1, 0, NULL);
    case 8:
        return relet_queue_reap(t_r, queue, 1, 1, 0, NULL);
    case 9:
        return relet_queue_promote(t_r, queue, 1, NULL);
    case 10:
        return relet_queue_trim(t_r, queue, 1, 1, 0, 1, NULL);
    case 11:
        return relet_queue_forget(t_r, queue, t_none, NULL);
    case 12:
        return relet_queue_limit(t_r, queue, 1, NULL);
    case 13:
        return relet_queue_pause(t_r, queue, RELET_IN, NULL);
    case 14:
        return relet_queue_job_keep(t_r, queue, 1, t_none, 1, NULL);
    case 15:
        return relet_queue_repair(t_r, queue, 1, 1, NULL);
    default:
        return relet_queue_resume(t_r, queue, RELET_IN, NULL);
    }
}

TEST each_call_needs_the_name_of_a_queue(void)
{
    int i;

    for (i = 0; i < T_CALLS; i++)
        REFUSED("a queue has a name", t_call(i, t_none));
    ASSERT_EQ(0, relet_outstanding(t_r));
    PASS();
}

TEST without_room_for_workers_there_are_no_queues(void)
{
    relet_config c;
    relet *other = t_r;
    int i;

    relet_config_init(&c);
    c.workers_max = 0;
    t_r = relet_open("mem:", &c, NULL, NULL);
    ASSERT(t_r != NULL);
    for (i = 0; i < T_CALLS; i++)
        REFUSED("queues need workers_max of at least 1", t_call(i, t_queue));
    relet_close(t_r);
    t_r = other;
    PASS();
}

TEST an_outcome_comes_back_with_the_tag_of_its_call(void)
{
    relet_request q = {77, 0, 0};

    HEARD(relet_queue_pause(t_r, t_queue, RELET_IN, &q));
    ASSERT_EQ(77, t_ev.tag);
    HEARD(relet_queue_limit(t_r, t_queue, 3, &q));
    ASSERT_EQ(77, t_ev.tag);
    PASS();
}

/* A call needs a free operation for its outcome. */
TEST a_queue_call_over_operations_max_is_refused(void)
{
    relet_config c;
    relet *other = t_r;
    int i;

    relet_config_init(&c);
    c.operations_max = 1;
    t_r = relet_open("mem:", &c, NULL, NULL);
    ASSERT(t_r != NULL);
    ASSERT_EQ(0, t_call(5, t_queue));
    for (i = 0; i < T_CALLS; i++)
        ASSERT_EQ(RELET_E_LIMIT, t_call(i, t_queue));
    ASSERT_EQ(1, relet_outstanding(t_r));
    HEARD(0);
    ASSERT_EQ(1, t_put("a", "x"));
    relet_close(t_r);
    t_r = other;
    PASS();
}

/* ----------------------------------------------------------------- settings */

TEST a_job_is_named_by_a_valid_number_or_id(void)
{
    static const char name[256] = "x";
    relet_span long_one = {name, sizeof name};

    REFUSED("a job is named by its number or its id",
            relet_queue_job_cancel(t_r, t_queue, 0, t_none, NULL));
    REFUSED("there is no such job",
            relet_queue_job_look(t_r, t_queue, UINT64_MAX, t_none, NULL));
    REFUSED("there is no such job",
            relet_queue_job_look(t_r, t_queue, 0, long_one, NULL));
    PASS();
}

TEST a_count_of_jobs_must_be_between_1_and_128(void)
{
    static const uint32_t odd[] = {0, 129};
    size_t i;

    for (i = 0; i < 2; i++) {
        REFUSED("between 1 and 128 at a time",
                relet_queue_job_list(t_r, t_queue, RELET_AT_DEAD, 0, odd[i],
                                     NULL, NULL));
        REFUSED("between 1 and 128 at a time",
                t_replay(t_queue, NULL, 0, odd[i]));
        REFUSED("between 1 and 128 at a time",
                relet_queue_purge(t_r, t_queue, RELET_AT_DEAD, odd[i], 0,
                                  NULL));
        REFUSED("between 1 and 128 at a time",
                relet_queue_reap(t_r, t_queue, odd[i], 1, 0, NULL));
        REFUSED("between 1 and 128 at a time",
                relet_queue_promote(t_r, t_queue, odd[i], NULL));
        REFUSED("between 1 and 128 at a time",
                relet_queue_trim(t_r, t_queue, 1, 1, 0, odd[i], NULL));
    }
    PASS();
}

TEST a_number_beyond_all_bounds_is_refused_by_name(void)
{
    const relet_time most = INT64_C(1000000000000);

    REFUSED("a list is not so long",
            relet_queue_job_list(t_r, t_queue, RELET_AT_DEAD,
                                 (uint64_t)most + 1, 1, NULL, NULL));
    REFUSED("hold_off_ms must be between 0 and 1000000000000",
            relet_queue_reap(t_r, t_queue, 1, 1, most + 1, NULL));
    REFUSED("keep_ms must be between 0 and 1000000000000",
            relet_queue_job_keep(t_r, t_queue, 1, t_none, most + 1, NULL));
    REFUSED("keep_ms must be between 0 and 1000000000000",
            relet_queue_job_keep(t_r, t_queue, 1, t_none, -1, NULL));
    REFUSED("dead_ms must be between 0 and 1000000000000",
            relet_queue_trim(t_r, t_queue, 1, 1, most + 1, 1, NULL));
    REFUSED("gates are RELET_IN, RELET_OUT or both",
            relet_queue_resume(t_r, t_queue, 0, NULL));
    PASS();
}

TEST a_purge_of_an_unknown_place_is_refused(void)
{
    REFUSED("there is no such place",
            relet_queue_purge(t_r, t_queue, (relet_place)99, 1, 0, NULL));
    PASS();
}

TEST a_backoff_that_is_none_is_refused_by_name(void)
{
    relet_job j = t_job("a", NULL);

    j.backoff = (relet_backoff)3;
    REFUSED("job.backoff is not one of relet_backoff",
            relet_queue_put(t_r, t_queue, &j, 1, 0, NULL));
    PASS();
}

TEST a_place_that_is_none_is_not_listed(void)
{
    REFUSED(
        "there is no such place",
        relet_queue_job_list(t_r, t_queue, (relet_place)9, 0, 1, NULL, NULL));
    PASS();
}

/* --------------------------------------------------------------------- puts */

TEST a_put_of_no_jobs_is_refused(void)
{
    relet_job j = t_job("a", NULL);

    REFUSED("nothing to put", relet_queue_put(t_r, t_queue, &j, 0, 0, NULL));
    PASS();
}

TEST a_put_has_at_most_so_many_jobs(void)
{
    relet_job j[129];
    size_t i;

    for (i = 0; i < 129; i++)
        j[i] = t_job("a", NULL);
    REFUSED("at most 128 jobs at a time, or 16 that are not plain",
            relet_queue_put(t_r, t_queue, j, 129, 0, NULL));
    HEARD(relet_queue_put(t_r, t_queue, j, 128, 0, NULL));
    j[3].rank = 1;
    REFUSED("at most 128 jobs at a time, or 16 that are not plain",
            relet_queue_put(t_r, t_queue, j, 17, 0, NULL));
    HEARD(relet_queue_put(t_r, t_queue, j, 16, 0, NULL));
    PASS();
}

TEST a_put_of_several_jobs_keeps_the_options_of_each_job(void)
{
    relet_job j[3];
    relet_request q = {0, 5000, 0};

    j[0] = t_job("plain", NULL);
    j[1] = t_job("named", "x");
    j[2] = t_job("typed", NULL);
    j[2].type = relet_str("t");
    HEARD(relet_queue_put(t_r, t_queue, j, 3, 0, &q));
    ASSERT_EQ(1, relet_queue_put_number(t_ev.value, 2, &t_number));
    ASSERT_EQ(3, t_number);
    ASSERT_EQ(0, relet_queue_put_number(t_ev.value, 3, &t_number));
    ASSERT_EQ(1, t_look(1, NULL));
    SPAN("plain", t_info.work.job.payload);
    ASSERT_EQ(0, t_info.work.job.id.n);
    ASSERT_EQ(1, t_look(3, NULL));
    SPAN("t", t_info.work.job.type);
    PASS();
}

TEST an_invalid_job_refuses_the_whole_put(void)
{
    relet_job j[2];

    j[0] = t_job("a", NULL);
    j[1] = t_job("b", "x");
    j[1].rank = -1001;
    REFUSED("job.rank must be between -1000 and 1000",
            relet_queue_put(t_r, t_queue, j, 2, 0, NULL));
    REFUSED("job.rank must be between -1000 and 1000",
            t_unique(t_queue, &j[1], RELET_REPLACE, 0));
    HEARD(relet_queue_status(t_r, t_queue, NULL));
    ASSERT_EQ(0, t_nth(8));
    PASS();
}

TEST a_mode_or_a_window_that_is_none_is_refused_by_name(void)
{
    relet_job j = t_job("a", "x");

    REFUSED("there is no such mode of relet_queue_put_unique",
            t_unique(t_queue, &j, (relet_unique)4, 1));
    REFUSED("window_ms must be between 1 and 1000000000000",
            t_unique(t_queue, &j, RELET_THROTTLE, INT64_C(1000000000001)));
    PASS();
}

/* -------------------------------------------------------------------- reading
 *
 * A server may answer anything. */

/* The answer is the value that this Lua text returns. */
static relet_value t_answer(const char *lua)
{
    if (t_hear(relet_command_text(t_r, NULL, "EVAL", lua, "0",
                                  (char *)NULL)) != RELET_EV_REPLY)
        abort();
    return t_ev.value;
}

TEST an_invalid_answer_to_a_put_has_no_job_number(void)
{
    static const char *const odd[] = {
        "return {'x'}",  "return {0}",   "return {-5}", "return {}",
        "return 'x'",    "return ''",    "return '0'",  "return '- 7'",
        "return '-W'",   "return '7W'",  "return '-0W'", "return '-7WW'",
        "return {false}", "return false", "return 7"};
    size_t i;

    for (i = 0; i < sizeof odd / sizeof *odd; i++)
        ASSERT_EQ_FMT(0, relet_queue_put_number(t_answer(odd[i]), 0, &t_number),
                      "%d");
    ASSERT_EQ(2,
              relet_queue_put_number(t_answer("return '7 -8'"), 1, &t_number));
    ASSERT_EQ(8, t_number);
    ASSERT_EQ(2,
              relet_queue_put_number(t_answer("return '7 -8W'"), 1, &t_number));
    ASSERT_EQ(8, t_number);
    PASS();
}

TEST the_answer_to_a_put_tells_the_place_of_the_job_with_its_id(void)
{
    ASSERT_EQ(RELET_AT_WAITING,
              relet_queue_put_twin(t_answer("return '7 -8W'"), 1));
    ASSERT_EQ(RELET_AT_LEASED,
              relet_queue_put_twin(t_answer("return '-8L 7'"), 0));
    ASSERT_EQ(RELET_AT_DONE, relet_queue_put_twin(t_answer("return '-8D'"), 0));
    ASSERT_EQ(RELET_AT_DEAD, relet_queue_put_twin(t_answer("return '-8X'"), 0));
    ASSERT_EQ(RELET_AT_NOWHERE,
              relet_queue_put_twin(t_answer("return '-8G'"), 0));
    ASSERT_EQ(RELET_AT_NOWHERE,
              relet_queue_put_twin(t_answer("return '8'"), 0));
    ASSERT_EQ(RELET_AT_NOWHERE,
              relet_queue_put_twin(t_answer("return '-8D'"), 1));
    ASSERT_EQ(RELET_AT_NOWHERE,
              relet_queue_put_twin(t_answer("return {7, 0}"), 0));
    ASSERT_EQ(RELET_AT_NOWHERE, relet_queue_put_twin(t_answer("return ''"), 0));
    PASS();
}

/* The index behind the last job once gave the last job's number. */
TEST an_index_past_the_last_job_of_a_put_has_no_number(void)
{
    ASSERT_EQ(1,
              relet_queue_put_number(t_answer("return '7 8'"), 1, &t_number));
    ASSERT_EQ(0,
              relet_queue_put_number(t_answer("return '7 8'"), 2, &t_number));
    ASSERT_EQ(0,
              relet_queue_put_number(t_answer("return '7 8'"), 9, &t_number));
    PASS();
}

/* The numbers were once subtracted as signed ones. */
TEST the_lowest_of_all_numbers_does_no_harm(void)
{
    size_t at = 0;
    int64_t on;

    ASSERT_EQ(2, relet_queue_put_number(
                     t_answer("return '-9223372036854775808'"), 0, &t_number));
    ASSERT_EQ(1, relet_queue_job_list_read(
                     t_answer("return {-1, 5, 7, 3, '-9223372036854775808', "
                              "'.1234abc', '', '', '-9223372036854775808'}"),
                     RELET_AT_DEAD, &at, &on, &t_info));
    ASSERT_EQ(3, t_info.payload_len);
    ASSERT_EQ(0, t_info.told_len);
    PASS();
}

TEST an_unknown_status_code_of_a_place_means_no_place(void)
{
    static const char *const odd[] = {
        "return {'q', 7}",     "return {'', 7}", "return {'ww', 7}",
        "return {'\\0', 7}",   "return {7, 7}",  "return {}",
        "return {'g', '7'}"};
    size_t i;

    for (i = 0; i < sizeof odd / sizeof *odd; i++) {
        ASSERT_EQ(0, relet_queue_job_look_read(t_answer(odd[i]), &t_info));
        ASSERT_EQ(RELET_AT_NOWHERE, t_info.place);
    }
    PASS();
}

TEST a_state_is_read_as_far_as_it_goes(void)
{
    ASSERT_EQ(1, relet_queue_job_look_read(t_answer(
        "return {'l', 7, 5, '.1234p', 'L x -3 2 y c', ''}"), &t_info));
    ASSERT_EQ(7, t_info.work.number);
    ASSERT_EQ(0, t_info.work.token);
    ASSERT_EQ(1, t_info.work.attempt);
    ASSERT_EQ(2, t_info.work.stalls);
    ASSERT_EQ(0, t_info.work.replays);
    ASSERT_EQ(1, t_info.is_cancelled);
    ASSERT_EQ(NULL, t_info.owners.p);
    ASSERT_EQ(1, relet_queue_job_look_read(t_answer(
        "return {'x', 'y', 'z', '.1234p', ' 9 9', ''}"), &t_info));
    ASSERT_EQ(0, t_info.work.number);
    ASSERT_EQ(-1, t_info.at_ms);
    ASSERT_EQ(0, t_info.work.token);
    PASS();
}

TEST a_text_with_an_unknown_status_code_is_ignored(void)
{
    ASSERT_EQ(1, relet_queue_job_look_read(t_answer(
        "return {'l', 7, 5, '.1234p', 'L 1 0 0 0 -', 'qwhat'}"), &t_info));
    ASSERT_EQ(NULL, t_info.progress.p);
    ASSERT_EQ(NULL, t_info.result.p);
    ASSERT_EQ(NULL, t_info.error.p);
    PASS();
}

TEST an_unknown_status_code_of_a_cancel_is_refused(void)
{
    static const char *const odd[] = {"return {'q', 7}", "return {'\\0', 7}",
                                      "return {'gg', 7}", "return {7}"};
    relet_cancelled what;
    size_t i;

    for (i = 0; i < sizeof odd / sizeof *odd; i++)
        ASSERT_EQ_FMT(0, relet_queue_job_cancel_read(t_answer(odd[i]), &what,
                                                     &t_number), "%d");
    ASSERT_EQ(1, relet_queue_job_cancel_read(t_answer("return {'c', -4}"),
                                             &what, &t_number));
    ASSERT_EQ(0, t_number);
    PASS();
}

TEST a_status_that_is_incomplete_is_refused(void)
{
    relet_queue_info info;

    ASSERT_EQ(0, relet_queue_status_read(
                     t_answer("return {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,"
                              "16}"), &info));
    ASSERT_EQ(0, relet_queue_status_read(
                     t_answer("return {1,2,'x',4,5,6,7,8,9,10,11,12,13,14,15,"
                              "16,17}"), &info));
    PASS();
}

TEST the_result_of_a_replay_has_three_counts_and_whether_there_is_more(void)
{
    relet_replayed out;

    ASSERT_EQ(1, relet_queue_replay_read(t_answer("return {3, 2, 5, 1}"),
                                         &out));
    ASSERT(out.replayed == 3 && out.refused == 2 && out.not_dead == 5);
    ASSERT_EQ(1, out.more);
    ASSERT_EQ(1, relet_queue_replay_read(t_answer("return {3, 2, 5, 0}"),
                                         &out));
    ASSERT_EQ(0, out.more);
    ASSERT_EQ(0, relet_queue_replay_read(t_answer("return {3, 2}"), &out));
    ASSERT_EQ(0, relet_queue_replay_read(t_answer("return {3, -2, 5, 0}"),
                                         &out));
    PASS();
}

TEST the_result_of_a_purge_or_trim_has_a_count_and_whether_there_is_more(void)
{
    relet_removed out;

    ASSERT_EQ(1, relet_queue_purge_read(t_answer("return {7, 1}"), &out));
    ASSERT(out.removed == 7 && out.more == 1);
    ASSERT_EQ(1, relet_queue_trim_read(t_answer("return {0, 0}"), &out));
    ASSERT(out.removed == 0 && out.more == 0);
    ASSERT_EQ(0, relet_queue_trim_read(t_answer("return 'OK'"), &out));
    ASSERT_EQ(0, relet_queue_purge_read(t_answer("return {-1, 1}"), &out));
    PASS();
}

TEST the_result_of_a_reap_says_when_the_next_lease_ends(void)
{
    relet_reaped out;

    ASSERT_EQ(1, relet_queue_reap_read(t_answer("return {2, 1, 250, 9000}"),
                                       &out));
    ASSERT(out.waiting == 2 && out.dead == 1);
    ASSERT(out.again_ms == 250 && out.server_ms == 9000);
    ASSERT_EQ(1, relet_queue_reap_read(t_answer("return {0, 0, -1, 9000}"),
                                       &out));
    ASSERT(out.again_ms == RELET_NEVER);
    ASSERT_EQ(0, relet_queue_reap_read(t_answer("return {2}"), &out));
    PASS();
}

TEST the_result_of_a_promote_says_when_the_next_job_is_due(void)
{
    relet_promoted out;

    ASSERT_EQ(1, relet_queue_promote_read(t_answer("return {4, 30}"), &out));
    ASSERT(out.promoted == 4 && out.due_ms == 30);
    ASSERT_EQ(1, relet_queue_promote_read(t_answer("return {0, -1}"), &out));
    ASSERT(out.due_ms == RELET_NEVER);
    ASSERT_EQ(0, relet_queue_promote_read(t_answer("return {}"), &out));
    PASS();
}

TEST a_list_that_ends_early_is_read_as_far_as_it_goes(void)
{
    relet_value v = t_answer("return {-1, 5, 7, 3, 'x', '.1234abc', '', '', 0, "
                             "8}");
    size_t at = 0;
    int64_t on;

    ASSERT_EQ(1,
              relet_queue_job_list_read(v, RELET_AT_DEAD, &at, &on, &t_info));
    ASSERT_EQ(-1, on);
    ASSERT_EQ(7, t_info.work.number);
    ASSERT_EQ(3, t_info.payload_len);
    ASSERT_EQ(0,
              relet_queue_job_list_read(v, RELET_AT_DEAD, &at, &on, &t_info));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    GREATEST_SET_SETUP_CB(t_setup, NULL);
    GREATEST_SET_TEARDOWN_CB(t_teardown, NULL);
    RUN_TEST(each_call_needs_the_name_of_a_queue);
    RUN_TEST(without_room_for_workers_there_are_no_queues);
    RUN_TEST(an_outcome_comes_back_with_the_tag_of_its_call);
    RUN_TEST(a_queue_call_over_operations_max_is_refused);
    RUN_TEST(a_job_is_named_by_a_valid_number_or_id);
    RUN_TEST(a_count_of_jobs_must_be_between_1_and_128);
    RUN_TEST(a_number_beyond_all_bounds_is_refused_by_name);
    RUN_TEST(a_purge_of_an_unknown_place_is_refused);
    RUN_TEST(a_backoff_that_is_none_is_refused_by_name);
    RUN_TEST(a_place_that_is_none_is_not_listed);
    RUN_TEST(a_put_of_no_jobs_is_refused);
    RUN_TEST(a_put_has_at_most_so_many_jobs);
    RUN_TEST(a_put_of_several_jobs_keeps_the_options_of_each_job);
    RUN_TEST(an_invalid_job_refuses_the_whole_put);
    RUN_TEST(a_mode_or_a_window_that_is_none_is_refused_by_name);
    RUN_TEST(an_invalid_answer_to_a_put_has_no_job_number);
    RUN_TEST(the_answer_to_a_put_tells_the_place_of_the_job_with_its_id);
    RUN_TEST(an_index_past_the_last_job_of_a_put_has_no_number);
    RUN_TEST(the_lowest_of_all_numbers_does_no_harm);
    RUN_TEST(an_unknown_status_code_of_a_place_means_no_place);
    RUN_TEST(a_state_is_read_as_far_as_it_goes);
    RUN_TEST(a_text_with_an_unknown_status_code_is_ignored);
    RUN_TEST(an_unknown_status_code_of_a_cancel_is_refused);
    RUN_TEST(a_status_that_is_incomplete_is_refused);
    RUN_TEST(the_result_of_a_replay_has_three_counts_and_whether_there_is_more);
    RUN_TEST(
        the_result_of_a_purge_or_trim_has_a_count_and_whether_there_is_more);
    RUN_TEST(the_result_of_a_reap_says_when_the_next_lease_ends);
    RUN_TEST(the_result_of_a_promote_says_when_the_next_job_is_due);
    RUN_TEST(a_list_that_ends_early_is_read_as_far_as_it_goes);
    GREATEST_MAIN_END();
}
