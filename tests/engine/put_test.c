/* SPDX-License-Identifier: MIT
 *
 * put_test.c - put batches of whole clients on a server. */
#include "world.h"

static void t_begin(t_world *w)
{
    relet_config c = t_config();

    c.workers_max = 1;
    c.operations_max = 300;
    t_world_start_with(w, 1, &c);
    t_world_pass(w, 10);
    while (t_told(&w->p[0])[0] != '\0')
        ;
}

static int t_put_to(t_world *w, const char *queue, uint64_t tag,
                    const char *payload, uint32_t most)
{
    relet_request q = {0, 0, 0};
    relet_job j;

    q.tag = tag;
    memset(&j, 0, sizeof j);
    j.payload = relet_str(payload);
    return relet_queue_put(w->p[0].r, relet_str(queue), &j, 1, most, &q);
}

static int t_put(t_world *w, uint64_t tag, const char *payload)
{
    return t_put_to(w, "q", tag, payload, 0);
}

#define TOLD(w, expected) ASSERT_STR_EQ(expected, t_told(&(w)->p[0]))

/* The number of words of the first EVAL that was written; *all is 1 if nothing
 * follows it. */
static int t_words_out(t_world *w, int *all)
{
    t_peer *p = &w->p[0];
    t_words words;
    size_t size = 0, at;

    words.n = 0;
    (void)t_turn(p);
    at = p->out.at;
    while (t_decode(&p->out, &words, &size) && !t_is(&words, 0, "EVAL"))
        t_bytes_drop(&p->out, size); /* skip what precedes it */
    *all = size > 0 && size == t_bytes_used(&p->out);
    p->out.at = at;
    return words.n;
}

TEST puts_of_one_turn_are_one_request_and_each_gets_its_number(void)
{
    t_world w;
    int all;

    t_begin(&w);
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(0, t_put(&w, 2, "b"));
    ASSERT_EQ(0, t_put(&w, 3, "c"));
    ASSERT_EQ(3, relet_outstanding(w.p[0].r));
    ASSERT_EQ(13, t_words_out(&w, &all));
    ASSERT(all);
    t_world_settle(&w);
    TOLD(&w, "reply 1 [1 0]");
    TOLD(&w, "reply 2 [2 0]");
    TOLD(&w, "reply 3 [3 0]");
    TOLD(&w, "");
    ASSERT_EQ(0, relet_outstanding(w.p[0].r));
    ASSERT_STR_EQ("*3\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n",
                  t_world_ask(&w, "LRANGE {q}:waiting 0 -1"));
    t_world_end(&w);
    PASS();
}

/* The count of a call's words gets one digit longer at 100. */
TEST no_more_jobs_share_a_request_than_one_put_may_have(void)
{
    char expected[40];
    t_world w;
    int i;

    t_begin(&w);
    for (i = 1; i <= 260; i++)
        ASSERT_EQ(0, t_put(&w, (uint64_t)i, "payload"));
    t_world_settle(&w);
    for (i = 1; i <= 260; i++) {
        snprintf(expected, sizeof expected, "reply %d [%d 0]", i, i);
        TOLD(&w, expected);
    }
    ASSERT_STR_EQ(":260\r\n", t_world_ask(&w, "LLEN {q}:waiting"));
    ASSERT(strstr(t_world_ask(&w, "HGET {q}:jobs 260"), "payload") != NULL);
    t_world_end(&w);
    PASS();
}

TEST a_put_of_several_jobs_counts_all_of_them(void)
{
    relet_request q = {2, 0, 0};
    relet_job j[3];
    t_world w;
    int i;

    t_begin(&w);
    memset(j, 0, sizeof j);
    for (i = 0; i < 3; i++)
        j[i].payload = relet_str("x");
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(0, relet_queue_put(w.p[0].r, relet_str("q"), j, 3, 0, &q));
    ASSERT_EQ(0, t_put(&w, 3, "b"));
    t_world_settle(&w);
    TOLD(&w, "reply 1 [1 0]");
    TOLD(&w, "reply 2 [2 0]");
    TOLD(&w, "reply 3 [5 0]");
    t_world_end(&w);
    PASS();
}

TEST a_put_without_a_limit_joins_none_that_has_one(void)
{
    t_world w;

    t_begin(&w);
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    t_world_settle(&w);
    ASSERT_EQ(0, t_put_to(&w, "q", 2, "b", 1));
    ASSERT_EQ(0, t_put(&w, 3, "c"));
    t_world_settle(&w);
    TOLD(&w, "reply 1 [1 0]");
    TOLD(&w, "error 2 FULL 1 jobs wait");
    TOLD(&w, "reply 3 [2 0]");
    t_world_end(&w);
    PASS();
}

/* Two operations have four places, so the fifth put has the place of the first
 * one again. */
TEST a_put_joins_none_that_has_the_place_of_an_earlier_one(void)
{
    relet_config c = t_config();
    t_world w;
    uint64_t i;

    c.workers_max = 1;
    c.operations_max = 2;
    t_world_start_with(&w, 1, &c);
    t_world_pass(&w, 10);
    TOLD(&w, "up redis 7.0.15");
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    t_world_settle(&w);
    TOLD(&w, "reply 1 [1 0]");
    for (i = 2; i <= 4; i++) {
        ASSERT_EQ(0, t_put_to(&w, "q", i, "b", 1));
        t_world_settle(&w);
        (void)t_told(&w.p[0]);
    }
    ASSERT_EQ(0, t_put_to(&w, "q", 5, "b", 1));
    ASSERT_EQ(0, t_put(&w, 6, "c"));
    t_world_settle(&w);
    TOLD(&w, "error 5 FULL 1 jobs wait");
    TOLD(&w, "reply 6 [2 0]");
    t_world_end(&w);
    PASS();
}

/* The fourth of five jobs has the third one's id. A put of none is refused. */
TEST jobs_that_are_put_at_once_keep_their_types_and_ids(void)
{
    static const char *const id[5] = {"", "", "x", "x", "y"};
    static const char *const type[5] = {"", "t", "t", "", "u"};
    relet_request q = {9, 0, 0};
    relet_job j[5];
    t_world w;
    int i;

    t_begin(&w);
    memset(j, 0, sizeof j);
    for (i = 0; i < 5; i++) {
        j[i].id = relet_str(id[i]);
        j[i].type = relet_str(type[i]);
        j[i].payload = relet_str("p");
    }
    ASSERT_EQ(RELET_E_REFUSED,
              relet_queue_put(w.p[0].r, relet_str("q"), j, 0, 0, &q));
    ASSERT_EQ(0, relet_queue_put(w.p[0].r, relet_str("q"), j, 5, 0, &q));
    t_world_settle(&w);
    TOLD(&w, "reply 9 \"1 2 3 -3W 4\"");
    ASSERT_STR_EQ("*4\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n",
                  t_world_ask(&w, "LRANGE {q}:waiting 0 -1"));
    ASSERT(strstr(t_world_ask(&w, "HGET {q}:jobs 2"), "0,0,1,0,0;tp"));
    ASSERT(strstr(t_world_ask(&w, "HGET {q}:jobs 3"), "0,0,1,1,0;txp"));
    ASSERT(strstr(t_world_ask(&w, "HGET {q}:jobs 4"), "0,0,1,1,0;uyp"));
    t_world_end(&w);
    PASS();
}

TEST puts_that_differ_go_out_alone_and_in_their_order(void)
{
    relet_request q = {2, 0, 0};
    t_world w;

    t_begin(&w);
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(0, relet_command_text(w.p[0].r, &q, "LLEN", "{q}:waiting",
                                    (const char *)NULL));
    ASSERT_EQ(0, t_put(&w, 3, "b"));
    ASSERT_EQ(0, t_put_to(&w, "other", 4, "c", 0));
    ASSERT_EQ(0, t_put_to(&w, "other", 5, "d", 2));
    ASSERT_EQ(0, t_put_to(&w, "other", 6, "e", 2));
    t_world_settle(&w);
    TOLD(&w, "reply 1 [1 0]");
    TOLD(&w, "reply 2 1");
    TOLD(&w, "reply 3 [2 0]");
    TOLD(&w, "reply 4 [1 0]");
    TOLD(&w, "reply 5 [2 0]");
    TOLD(&w, "error 6 FULL 2 jobs wait");
    t_world_end(&w);
    PASS();
}

TEST a_put_with_another_timeout_goes_out_alone(void)
{
    relet_request q = {2, 500, 0};
    relet_job j;
    t_world w;
    int all;

    t_begin(&w);
    memset(&j, 0, sizeof j);
    j.payload = relet_str("b");
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(0, relet_queue_put(w.p[0].r, relet_str("q"), &j, 1, 0, &q));
    ASSERT_EQ(11, t_words_out(&w, &all));
    ASSERT_FALSE(all);
    t_world_end(&w);
    PASS();
}

TEST an_error_is_reported_to_each_put_of_a_batch(void)
{
    t_world w;

    t_begin(&w);
    (void)t_world_ask(&w, "HSET {q}:jobs closed 1");
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(0, t_put(&w, 2, "b"));
    t_world_settle(&w);
    TOLD(&w, "error 1 CLOSED the queue takes no jobs");
    TOLD(&w, "error 2 CLOSED the queue takes no jobs");
    TOLD(&w, "");
    t_world_end(&w);
    PASS();
}

TEST a_long_error_is_cut_for_all_but_the_first_put_of_a_batch(void)
{
    char line[400];
    t_world w;
    size_t n;

    t_begin(&w);
    n = (size_t)snprintf(line, sizeof line, "HSET {q}:jobs version ");
    memset(line + n, '9', sizeof line - n);
    line[sizeof line - 1] = '\0';
    (void)t_world_ask(&w, line);
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(0, t_put(&w, 2, "b"));
    t_world_settle(&w);
    ASSERT_EQ(0, strncmp("error 1 VERSION 99", t_told(&w.p[0]), 18));
    ASSERT(strlen(w.p[0].line) > 8 + 256);
    ASSERT_EQ(0, strncmp("error 2 VERSION 99", t_told(&w.p[0]), 18));
    ASSERT_EQ(8 + 256, strlen(w.p[0].line));
    t_world_end(&w);
    PASS();
}

TEST a_script_that_the_server_forgot_is_sent_again_for_all(void)
{
    t_world w;

    t_begin(&w);
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    t_world_settle(&w);
    (void)t_world_ask(&w, "SCRIPT FLUSH");
    ASSERT_EQ(0, t_put(&w, 2, "b"));
    ASSERT_EQ(0, t_put(&w, 3, "c"));
    ASSERT_EQ(0, t_put(&w, 4, "d"));
    t_world_settle(&w);
    TOLD(&w, "reply 1 [1 0]");
    TOLD(&w, "reply 2 [2 0]");
    TOLD(&w, "reply 3 [3 0]");
    TOLD(&w, "reply 4 [4 0]");
    ASSERT_STR_EQ(":4\r\n", t_world_ask(&w, "LLEN {q}:waiting"));
    t_world_end(&w);
    PASS();
}

TEST a_batch_is_repeated_over_a_new_link_and_put_once(void)
{
    t_world w;

    t_begin(&w);
    w.no_way_in[0] = 1;
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(0, t_put(&w, 2, "b"));
    t_world_settle(&w);
    ASSERT_STR_EQ(":2\r\n", t_world_ask(&w, "LLEN {q}:waiting"));
    t_world_cut(&w, 0);
    w.no_way_in[0] = 0;
    t_world_pass(&w, 3000);
    ASSERT_STR_EQ(":2\r\n", t_world_ask(&w, "LLEN {q}:waiting"));
    ASSERT_EQ(0, strncmp("down", t_told(&w.p[0]), 4));
    ASSERT_EQ(0, strncmp("up", t_told(&w.p[0]), 2));
    TOLD(&w, "reply 1 [1 1]");
    TOLD(&w, "reply 2 [2 1]");
    t_world_end(&w);
    PASS();
}

TEST an_unanswered_batch_ends_for_all_its_puts_at_once(void)
{
    t_world w;
    int all;

    t_begin(&w);
    w.no_way_out[0] = 1;
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(0, t_put(&w, 2, "b"));
    ASSERT_EQ(12, t_words_out(&w, &all));
    t_world_pass(&w, w.p[0].config.timeout_ms);
    TOLD(&w, "unsure 1 timeout");
    TOLD(&w, "unsure 2 timeout");
    t_world_end(&w);
    PASS();
}

TEST a_partly_sent_batch_leaves_all_its_puts_unsure(void)
{
    t_world w;

    t_begin(&w);
    w.p[0].accept = 400;
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(0, t_put(&w, 2, "b"));
    t_world_pass(&w, w.p[0].config.timeout_ms);
    TOLD(&w, "unsure 1 timeout");
    TOLD(&w, "unsure 2 timeout");
    t_world_end(&w);
    PASS();
}

/* An hour after a put ran, its queue may have forgotten it. */
TEST a_put_without_a_time_out_ends_while_its_queue_remembers_it(void)
{
    relet_request q = {1, RELET_NEVER, 0};
    t_world w;
    relet_job j;

    memset(&j, 0, sizeof j);
    t_begin(&w);
    w.no_way_in[0] = 1;
    ASSERT_EQ(0, relet_queue_put(w.p[0].r, relet_str("q"), &j, 1, 0, &q));
    t_world_settle(&w);
    w.refusing = 1;
    t_world_cut(&w, 0);
    t_world_pass(&w, 49 * 60 * 1000);
    ASSERT_EQ(1, relet_outstanding(w.p[0].r));
    t_world_pass(&w, 60 * 1000);
    while (strncmp("down", t_told(&w.p[0]), 4) == 0)
        ;
    ASSERT_STR_EQ("unsure 1 timeout", w.p[0].line);
    ASSERT_STR_EQ(":1\r\n", t_world_ask(&w, "LLEN {q}:waiting"));
    t_world_end(&w);
    PASS();
}

TEST a_batch_without_a_link_ends_not_sent(void)
{
    t_world w;

    t_begin(&w);
    w.refusing = 1;
    t_world_cut(&w, 0);
    t_world_pass(&w, 10);
    ASSERT_EQ(0, strncmp("down", t_told(&w.p[0]), 4));
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(0, t_put(&w, 2, "b"));
    t_world_pass(&w, w.p[0].config.timeout_ms);
    while (strncmp("down", t_told(&w.p[0]), 4) == 0)
        ;
    ASSERT_STR_EQ("not sent 1 timeout", w.p[0].line);
    TOLD(&w, "not sent 2 timeout");
    ASSERT_EQ(0, relet_outstanding(w.p[0].r));
    t_world_end(&w);
    PASS();
}

TEST a_put_in_a_batch_cannot_be_cancelled(void)
{
    t_world w;

    t_begin(&w);
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(0, t_put(&w, 2, "b"));
    ASSERT_EQ(0, relet_cancel(w.p[0].r, 1));
    ASSERT_EQ(0, relet_cancel(w.p[0].r, 2));
    t_world_settle(&w);
    TOLD(&w, "reply 1 [1 0]");
    TOLD(&w, "reply 2 [2 0]");
    ASSERT_EQ(0, t_put(&w, 3, "c"));
    ASSERT_EQ(1, relet_cancel(w.p[0].r, 3));
    t_world_settle(&w);
    TOLD(&w, "not sent 3 cancelled");
    t_world_end(&w);
    PASS();
}

/* The answer had come, and one outcome was told, when the link broke. */
TEST answered_puts_of_a_batch_keep_their_replies_when_the_link_breaks(void)
{
    relet_event ev;
    t_world w;

    t_begin(&w);
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(0, t_put(&w, 2, "b"));
    ASSERT_EQ(0, t_put(&w, 3, "c"));
    w.p[0].manual = 1;
    t_world_settle(&w);
    ASSERT(relet_next(w.p[0].r, &ev));
    t_log(&w.p[0], &ev);
    TOLD(&w, "reply 1 [1 0]");
    t_world_cut(&w, 0);
    t_world_settle(&w);
    w.p[0].manual = 0;
    t_world_pass(&w, 3000);
    TOLD(&w, "reply 2 [2 0]");
    TOLD(&w, "reply 3 [3 0]");
    ASSERT_EQ(0, strncmp("down", t_told(&w.p[0]), 4));
    ASSERT_STR_EQ(":3\r\n", t_world_ask(&w, "LLEN {q}:waiting"));
    t_world_end(&w);
    PASS();
}

/* A put whose outcome was reported has freed its place in the batch; a new put
 * joins none of the other places. */
TEST a_new_put_joins_none_that_was_sent(void)
{
    t_world w;

    t_begin(&w);
    w.no_way_in[0] = 1;
    ASSERT_EQ(0, t_put(&w, 1, "a"));
    t_world_settle(&w);
    ASSERT_EQ(0, t_put(&w, 2, "b"));
    ASSERT_EQ(0, t_put(&w, 3, "c"));
    t_world_settle(&w);
    w.no_way_in[0] = 0;
    t_world_settle(&w);
    TOLD(&w, "reply 1 [1 0]");
    TOLD(&w, "reply 2 [2 0]");
    TOLD(&w, "reply 3 [3 0]");
    t_world_end(&w);
    PASS();
}

TEST a_limit_of_operations_counts_each(void)
{
    t_world w;
    int i;

    t_begin(&w);
    for (i = 0; i < 300; i++)
        ASSERT_EQ(0, t_put(&w, 1, "a"));
    ASSERT_EQ(RELET_E_LIMIT, t_put(&w, 1, "a"));
    t_world_settle(&w);
    ASSERT_STR_EQ(":300\r\n", t_world_ask(&w, "LLEN {q}:waiting"));
    t_world_end(&w);
    PASS();
}

/* Each allocation fails in turn: only the accepted jobs are put. */
TEST a_put_that_finds_no_memory_is_not_there(void)
{
    uint64_t at;

    for (at = 1; at < 40; at++) {
        char payload[200], expected[16];
        t_world w;
        int i, taken = 0;

        t_begin(&w);
        memset(payload, 'x', sizeof payload);
        payload[199] = '\0';
        w.p[0].heap.fail_at = w.p[0].heap.calls + at;
        for (i = 0; i < 100; i++)
            taken += t_put(&w, 1, payload) == 0;
        t_world_pass(&w, 3000);
        snprintf(expected, sizeof expected, ":%d\r\n", taken);
        ASSERT_STR_EQ(expected, t_world_ask(&w, "LLEN {q}:waiting"));
        ASSERT_EQ(0, relet_outstanding(w.p[0].r));
        t_world_end(&w);
    }
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(puts_of_one_turn_are_one_request_and_each_gets_its_number);
    RUN_TEST(no_more_jobs_share_a_request_than_one_put_may_have);
    RUN_TEST(a_put_of_several_jobs_counts_all_of_them);
    RUN_TEST(a_put_without_a_limit_joins_none_that_has_one);
    RUN_TEST(a_put_joins_none_that_has_the_place_of_an_earlier_one);
    RUN_TEST(jobs_that_are_put_at_once_keep_their_types_and_ids);
    RUN_TEST(puts_that_differ_go_out_alone_and_in_their_order);
    RUN_TEST(a_put_with_another_timeout_goes_out_alone);
    RUN_TEST(an_error_is_reported_to_each_put_of_a_batch);
    RUN_TEST(a_long_error_is_cut_for_all_but_the_first_put_of_a_batch);
    RUN_TEST(a_script_that_the_server_forgot_is_sent_again_for_all);
    RUN_TEST(a_batch_is_repeated_over_a_new_link_and_put_once);
    RUN_TEST(an_unanswered_batch_ends_for_all_its_puts_at_once);
    RUN_TEST(a_partly_sent_batch_leaves_all_its_puts_unsure);
    RUN_TEST(a_put_without_a_time_out_ends_while_its_queue_remembers_it);
    RUN_TEST(a_batch_without_a_link_ends_not_sent);
    RUN_TEST(a_put_in_a_batch_cannot_be_cancelled);
    RUN_TEST(answered_puts_of_a_batch_keep_their_replies_when_the_link_breaks);
    RUN_TEST(a_new_put_joins_none_that_was_sent);
    RUN_TEST(a_limit_of_operations_counts_each);
    RUN_TEST(a_put_that_finds_no_memory_is_not_there);
    GREATEST_MAIN_END();
}
