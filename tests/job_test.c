/* SPDX-License-Identifier: MIT
 *
 * job_test.c - tests of key names, heads, records, states and back-off. */
#include "job.h"
#include "text.h"

#include "greatest.h"

static relet_span t_span(const char *p, size_t n)
{
    relet_span s;

    s.p = p;
    s.n = n;
    return s;
}

/* A record as the scripts write it; the time of the put is second 67 of 1970,
 * in hexadecimal. */
static relet_span t_record(const relet_job *j, char *out)
{
    char head[RLT_JOB_HEAD_MAX];
    size_t k = rlt_job_head(j, head), n = 0;

    if (k == 0) {
        memcpy(out, ".\0\0\0C", 5);
        n = 5;
    } else {
        memcpy(out, "+00000043", 9);
        n = 9;
    }
    memcpy(out + n, head, k);
    memcpy(out + n + k, j->payload.p, j->payload.n);
    return t_span(out, n + k + j->payload.n);
}

TEST all_keys_of_a_queue_share_one_hash_tag(void)
{
    char room[RLT_QUEUE_KEY_MAX];
    rlt_queue_tag q;
    int i;

    ASSERT_EQ(NULL, rlt_queue_tag_make(&q, relet_str("app"), relet_str("q")));
    ASSERT(rlt_span_is(rlt_queue_name(&q, RLT_KEY_JOBS, room),
                       "{app:q}:jobs"));
    for (i = 0; i < RLT_QUEUE_KEYS; i++)
        ASSERT_EQ(0, memcmp(rlt_queue_name(&q, (rlt_queue_key)i, room).p,
                            "{app:q}:", 8));
    PASS();
}

TEST an_empty_prefix_leaves_no_colon(void)
{
    char room[RLT_QUEUE_KEY_MAX];
    rlt_queue_tag q;

    ASSERT_EQ(NULL, rlt_queue_tag_make(&q, relet_str(""), relet_str("q")));
    ASSERT(rlt_span_is(rlt_queue_name(&q, RLT_KEY_IDLE, room), "{q}:idle"));
    PASS();
}

TEST a_name_that_would_end_the_hash_tag_is_refused(void)
{
    rlt_queue_tag q;

    ASSERT_STR_EQ("the name of a queue may hold no }",
                  rlt_queue_tag_make(&q, relet_str(""), relet_str("a}b")));
    ASSERT_STR_EQ("the name of a queue may hold no }",
                  rlt_queue_tag_make(&q, relet_str("}"), relet_str("b")));
    PASS();
}

TEST a_name_has_a_byte_and_at_most_so_many(void)
{
    char name[RLT_QUEUE_NAME_MAX];
    rlt_queue_tag q;

    memset(name, 'a', sizeof name);
    ASSERT_STR_EQ("a queue has a name",
                  rlt_queue_tag_make(&q, relet_str("p"), relet_str("")));
    ASSERT_EQ(NULL, rlt_queue_tag_make(&q, relet_str(""),
                                       t_span(name, sizeof name - 1)));
    ASSERT_STR_EQ("prefix and name of a queue have at most 199 bytes",
                  rlt_queue_tag_make(&q, relet_str("p"),
                                     t_span(name, sizeof name - 1)));
    ASSERT_STR_EQ("prefix and name of a queue have at most 199 bytes",
                  rlt_queue_tag_make(&q, relet_str(""),
                                     t_span(name, sizeof name)));
    PASS();
}

TEST a_plain_job_needs_no_head(void)
{
    char out[RLT_JOB_HEAD_MAX];
    relet_job j;

    memset(&j, 0, sizeof j);
    j.payload = relet_str("x");
    ASSERT_EQ(0, rlt_job_head(&j, out));
    PASS();
}

TEST a_type_alone_is_a_head(void)
{
    char out[RLT_JOB_HEAD_MAX];
    relet_job j;

    memset(&j, 0, sizeof j);
    j.type = relet_str("t");
    ASSERT_EQ(11, rlt_job_head(&j, out));
    ASSERT_MEM_EQ("0,0,1,0,0;t", out, 11);
    PASS();
}

TEST all_options_of_a_job_are_read_back_from_its_record(void)
{
    char out[RLT_JOB_HEAD_MAX + 100];
    relet_job j, got;
    uint64_t born;

    memset(&j, 0, sizeof j);
    j.payload = t_span("\0,;{}\r\n", 7);
    j.id = t_span("i\0,", 3);
    j.type = t_span("+t;", 3);
    j.reply_to = relet_str("r r a5 ");
    j.rank = -7;
    j.delay_ms = 1;
    j.attempts = 5;
    j.backoff = RELET_BACKOFF_LINEAR;
    j.backoff_ms = 2;
    j.backoff_max_ms = 3;
    j.timeout_ms = 4;
    j.deadline_ms = 5;
    j.keep_ms = 6;
    ASSERT_EQ(1, rlt_job_read(t_record(&j, out), &got, &born));
    ASSERT_EQ(67, born);
    ASSERT(rlt_span_same(j.payload, got.payload));
    ASSERT(rlt_span_same(j.id, got.id));
    ASSERT(rlt_span_same(j.type, got.type));
    ASSERT(rlt_span_same(j.reply_to, got.reply_to));
    ASSERT(got.rank == -7 && got.delay_ms == 1 && got.attempts == 5);
    ASSERT(got.backoff == RELET_BACKOFF_LINEAR && got.backoff_ms == 2);
    ASSERT(got.backoff_max_ms == 3 && got.timeout_ms == 4);
    ASSERT(got.deadline_ms == 5 && got.keep_ms == 6);
    PASS();
}

TEST a_plain_payload_may_be_any_bytes_or_none(void)
{
    char out[100];
    relet_job j, got;
    uint64_t born;

    memset(&j, 0, sizeof j);
    j.payload = t_span("+\0.", 3);
    ASSERT_EQ(1, rlt_job_read(t_record(&j, out), &got, &born));
    ASSERT(rlt_span_same(j.payload, got.payload));
    ASSERT_EQ(67, born);
    j.payload = relet_str("");
    ASSERT_EQ(1, rlt_job_read(t_record(&j, out), &got, &born));
    ASSERT_EQ(0, got.payload.n);
    PASS();
}

/* Each record is read as payload only, and is reported as not ours. */
TEST a_record_of_another_program_is_read_as_payload_alone(void)
{
    static const char *const odd[] = {
        "", ".", ".abc", "+", "+0000004", "+0000004g0,0,0,0,0;",
        "+00000043", "+000000430,0,0,0;", "+000000430,0,0,0,0",
        "+000000430,0,9,0,0;", "+000000430,0,0,9,0;", "+000000430,0,0,0,9;",
        "+000000430,0,-1,0,0;", "+000000431001,0,0,0,0;",
        "+000000430,-1,0,0,0;", "+00000043,0,0,0,0;",
        "+000000430,0,9223372036854775807,1,1;", "hello", "hello world",
        "+00000043x,0,0,0,0;", "+000000430,x,0,0,0;", "+000000430,0,x,0,0;",
        "+000000430,0,0,x,0;", "+000000430,0,0,0,x;", "+000000430,0,0,-1,0;",
        "+000000430,0,0,0,-1;", "+00000043-1001,0,0,0,0;"};
    relet_job got;
    uint64_t born;
    size_t i;

    for (i = 0; i < sizeof odd / sizeof *odd; i++) {
        ASSERT_EQ_FMT(0, rlt_job_read(relet_str(odd[i]), &got, &born), "%d");
        ASSERT(rlt_span_is(got.payload, odd[i]));
        ASSERT_EQ(0, got.id.n);
    }
    PASS();
}

TEST options_of_a_later_version_are_passed_over(void)
{
    relet_job got;
    uint64_t born;

    ASSERT_EQ(1, rlt_job_read(
                     relet_str("+000000430,0,0,0,19;z9 a4 sx s9 k7 y rcp"),
                     &got, &born));
    ASSERT_EQ(4, got.attempts);
    ASSERT_EQ(7, got.keep_ms);
    ASSERT_EQ(RELET_BACKOFF_EXPONENTIAL, got.backoff);
    ASSERT(rlt_span_is(got.reply_to, "c"));
    ASSERT(rlt_span_is(got.payload, "p"));
    PASS();
}

TEST an_option_below_zero_is_passed_over(void)
{
    relet_job got;
    uint64_t born;

    ASSERT_EQ(1, rlt_job_read(relet_str("+000000430,0,0,0,8;k-7 a-2 p"), &got,
                              &born));
    ASSERT_EQ(0, got.keep_ms);
    ASSERT_EQ(0, got.attempts);
    ASSERT(rlt_span_is(got.payload, "p"));
    PASS();
}

/* Another program may have written the record. Regression: the double of this
 * wait was negative. */
TEST an_option_beyond_its_bound_counts_as_the_bound(void)
{
    relet_job got;
    uint64_t born;

    ASSERT_EQ(1, rlt_job_read(relet_str("+000000430,0,0,0,45;"
                                        "b9223372036854775807 "
                                        "c9223372036854775807 t7 p"),
                              &got, &born));
    ASSERT_EQ(INT64_C(1000000000000), got.backoff_ms);
    ASSERT(rlt_job_backoff(&got, 9, 77) <= INT64_C(1000000000000));
    PASS();
}

TEST a_rank_has_its_bounds(void)
{
    relet_job j;

    memset(&j, 0, sizeof j);
    for (j.rank = -1000; j.rank <= 1000; j.rank += 2000)
        ASSERT_EQ(NULL, rlt_job_rule(&j));
    for (j.rank = -1001; j.rank <= 1001; j.rank += 2002)
        ASSERT_STR_EQ("job.rank must be between -1000 and 1000",
                      rlt_job_rule(&j));
    PASS();
}

TEST each_time_of_a_job_has_its_bounds(void)
{
    static const char *const name[] = {"delay_ms", "backoff_ms",
                                       "backoff_max_ms", "timeout_ms",
                                       "deadline_ms", "keep_ms"};
    relet_job j;
    relet_time *const field[] = {&j.delay_ms, &j.backoff_ms,
                                 &j.backoff_max_ms, &j.timeout_ms,
                                 &j.deadline_ms, &j.keep_ms};
    char expected[80];
    size_t i;

    memset(&j, 0, sizeof j);
    for (i = 0; i < sizeof field / sizeof *field; i++) {
        sprintf(expected, "job.%s must be between 0 and 1000000000000",
                name[i]);
        *field[i] = -1;
        ASSERT_STR_EQ(expected, rlt_job_rule(&j));
        *field[i] = INT64_C(1000000000001);
        ASSERT_STR_EQ(expected, rlt_job_rule(&j));
        *field[i] = INT64_C(1000000000000);
        ASSERT_EQ(NULL, rlt_job_rule(&j));
    }
    PASS();
}

TEST each_text_has_its_length(void)
{
    relet_job j;

    memset(&j, 0, sizeof j);
    j.id.n = j.type.n = j.reply_to.n = 255;
    ASSERT_EQ(NULL, rlt_job_rule(&j));
    j.reply_to.n = 256;
    ASSERT_STR_EQ("job.reply_to has at most 255 bytes", rlt_job_rule(&j));
    j.type.n = 256;
    ASSERT_STR_EQ("job.type has at most 255 bytes", rlt_job_rule(&j));
    j.id.n = 256;
    ASSERT_STR_EQ("job.id has at most 255 bytes", rlt_job_rule(&j));
    PASS();
}

TEST the_longest_head_fits(void)
{
    static char text[RLT_JOB_TEXT_MAX];
    char out[RLT_JOB_HEAD_MAX];
    relet_job j;

    memset(&j, 0, sizeof j);
    memset(text, 'a', sizeof text);
    j.id = j.type = j.reply_to = t_span(text, sizeof text);
    j.rank = -1000;
    j.attempts = UINT32_MAX;
    j.backoff = RELET_BACKOFF_FIXED;
    j.delay_ms = j.backoff_ms = j.backoff_max_ms = j.timeout_ms =
        j.deadline_ms = j.keep_ms = 1000000000000;
    ASSERT_EQ(NULL, rlt_job_rule(&j));
    ASSERT(rlt_job_head(&j, out) <= sizeof out);
    PASS();
}

TEST only_a_leased_job_has_a_token(void)
{
    rlt_job_state s;

    ASSERT_EQ(1, rlt_job_state_read(relet_str("L 170 1 2 3 - w"), &s));
    ASSERT(s.token == 170 && s.attempts == 1 && s.stalls == 2);
    ASSERT_EQ(3, s.replays);
    ASSERT_EQ(0, rlt_job_state_read(relet_str("W 0 1 2 3 - w"), &s));
    ASSERT_EQ(0, rlt_job_state_read(relet_str("L 0 1 2 3 - w"), &s));
    ASSERT_EQ(0, rlt_job_state_read(relet_str("L x 1 2 3 - w"), &s));
    ASSERT_EQ(0, rlt_job_state_read(relet_str("L 170 1 -2 3 - w"), &s));
    ASSERT_EQ(0, rlt_job_state_read(relet_str("L 170 1 2"), &s));
    PASS();
}

TEST a_job_state_with_invalid_counts_is_refused(void)
{
    static const char *const odd[] = {
        "L 170 x 2 3 - w", "L 170 -1 2 3 - w", "L 170 1 x 3 - w",
        "L 170 1 2 x - w", "L 170 1 2 -3 - w", "L 170 4294967296 2 3 - w"};
    rlt_job_state s;
    size_t i;

    for (i = 0; i < sizeof odd / sizeof *odd; i++)
        ASSERT_EQ_FMT(0, rlt_job_state_read(relet_str(odd[i]), &s), "%d");
    ASSERT_EQ(1, rlt_job_state_read(relet_str("L 170 4294967295 2 3 - w"), &s));
    ASSERT_EQ(UINT32_MAX, s.attempts);
    PASS();
}

/* Returns the longest back-off of 100 000 random numbers. */
static relet_time t_longest(const relet_job *j, uint32_t attempts)
{
    relet_time most = 0;
    uint64_t i;

    for (i = 0; i < 100000; i++)
        most = RLT_MAX(most, rlt_job_backoff(j, attempts, i));
    return most;
}

TEST waits_grow_as_asked_for_and_no_longer_than_the_longest(void)
{
    relet_job j;

    memset(&j, 0, sizeof j);
    j.backoff_ms = 100;
    j.backoff_max_ms = 350;
    ASSERT_EQ(100, t_longest(&j, 1));
    ASSERT_EQ(200, t_longest(&j, 2));
    ASSERT_EQ(350, t_longest(&j, 3));
    ASSERT_EQ(350, t_longest(&j, UINT32_MAX));
    j.backoff = RELET_BACKOFF_LINEAR;
    ASSERT_EQ(200, t_longest(&j, 2));
    ASSERT_EQ(300, t_longest(&j, 3));
    ASSERT_EQ(350, t_longest(&j, 4));
    j.backoff = RELET_BACKOFF_FIXED;
    ASSERT_EQ(100, rlt_job_backoff(&j, 9, 77));
    PASS();
}

/* Regression: the back-off was counted up in steps, which took seconds. */
TEST the_delay_after_any_number_of_attempts_is_computed_at_once(void)
{
    relet_job j;

    memset(&j, 0, sizeof j);
    j.backoff = RELET_BACKOFF_LINEAR;
    j.backoff_ms = 3;
    j.backoff_max_ms = INT64_C(1000000000000);
    ASSERT_EQ(INT64_C(3) * UINT32_MAX,
              rlt_job_backoff(&j, UINT32_MAX, UINT64_C(3) * UINT32_MAX));
    ASSERT_EQ(3, rlt_job_backoff(&j, 0, 3));
    PASS();
}

TEST a_wait_of_many_long_steps_is_the_longest(void)
{
    const relet_time longest = INT64_C(1000000000000);
    relet_job j;

    memset(&j, 0, sizeof j);
    j.backoff = RELET_BACKOFF_LINEAR;
    j.backoff_ms = j.backoff_max_ms = longest;
    ASSERT_EQ(longest, rlt_job_backoff(&j, 10000000, (uint64_t)longest));
    ASSERT_EQ(0, rlt_job_backoff(&j, 10000000, (uint64_t)longest + 1));
    PASS();
}

TEST the_default_delay_of_a_retry_is_a_second(void)
{
    relet_job j;

    memset(&j, 0, sizeof j);
    ASSERT_EQ(1000, t_longest(&j, 1));
    j.backoff = RELET_BACKOFF_FIXED;
    ASSERT_EQ(1000, rlt_job_backoff(&j, 9, 77));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(all_keys_of_a_queue_share_one_hash_tag);
    RUN_TEST(an_empty_prefix_leaves_no_colon);
    RUN_TEST(a_name_that_would_end_the_hash_tag_is_refused);
    RUN_TEST(a_name_has_a_byte_and_at_most_so_many);
    RUN_TEST(a_plain_job_needs_no_head);
    RUN_TEST(a_type_alone_is_a_head);
    RUN_TEST(all_options_of_a_job_are_read_back_from_its_record);
    RUN_TEST(a_plain_payload_may_be_any_bytes_or_none);
    RUN_TEST(a_record_of_another_program_is_read_as_payload_alone);
    RUN_TEST(options_of_a_later_version_are_passed_over);
    RUN_TEST(an_option_below_zero_is_passed_over);
    RUN_TEST(an_option_beyond_its_bound_counts_as_the_bound);
    RUN_TEST(a_rank_has_its_bounds);
    RUN_TEST(each_time_of_a_job_has_its_bounds);
    RUN_TEST(each_text_has_its_length);
    RUN_TEST(the_longest_head_fits);
    RUN_TEST(only_a_leased_job_has_a_token);
    RUN_TEST(a_job_state_with_invalid_counts_is_refused);
    RUN_TEST(waits_grow_as_asked_for_and_no_longer_than_the_longest);
    RUN_TEST(the_delay_after_any_number_of_attempts_is_computed_at_once);
    RUN_TEST(a_wait_of_many_long_steps_is_the_longest);
    RUN_TEST(the_default_delay_of_a_retry_is_a_second);
    GREATEST_MAIN_END();
}
