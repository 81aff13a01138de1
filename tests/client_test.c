/* SPDX-License-Identifier: MIT
 *
 * client_test.c - tests of the outcomes of operations: answers, broken links,
 * timeouts, cancels, limits, and memory. */
#include "peer.h"

#include "greatest.h"
#include "outcome.h"

/* ------------------------------------------------------------ the happy way */

TEST answers_come_in_the_order_of_submission(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask3(&p, 1, 0, "SET", "k", "v"));
    ASSERT_EQ(0, t_ask(&p, 2, 0, "GET", "k"));
    ASSERT_EQ(0, t_ask(&p, 3, 0, "NOSUCH", "k"));
    T_TOOK(&p, "SET k v");
    T_TOOK(&p, "GET k");
    T_TOOK(&p, "NOSUCH k");
    t_say(&p, "+OK\r\n$1\r\nv\r\n-ERR unknown command\r\n");
    T_TOLD(&p, "reply 1 \"OK\"");
    T_TOLD(&p, "reply 2 \"v\"");
    T_TOLD(&p, "error 3 ERR unknown command");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST operations_wait_for_a_link(void)
{
    t_peer p;

    t_start(&p);
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    p.honest = 1;
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "reply 1 \"k\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST the_stats_count_what_happened(void)
{
    relet_stats s;
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, 0, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "k");
    (void)t_ask_within(&p, 3, 10, "GET", "k");
    (void)t_ask(&p, 4, RELET_REPEATABLE, "GET", "k");
    t_move(&p);
    t_say(&p, "+OK\r\n-ERR\r\n>1\r\n+x\r\n");
    t_pass(&p, 10);
    t_say(&p, "+late\r\n");
    p.accept = 0;
    (void)t_ask_within(&p, 5, 10, "GET", "k");
    t_pass(&p, 10);
    p.accept = (size_t)-1;
    (void)t_ask(&p, 6, 0, "GET", "k");
    t_move(&p);
    t_break(&p);
    p.honest = 1;
    t_pass(&p, 200);
    relet_stats_get(p.r, &s);
    ASSERT_EQ(6, s.submitted);
    ASSERT_EQ(2, s.replies);
    ASSERT_EQ(1, s.errors);
    ASSERT_EQ(1, s.not_sent);
    ASSERT_EQ(2, s.unsure);
    ASSERT_EQ(1, s.late);
    ASSERT_EQ(1, s.repeated);
    ASSERT_EQ(1, s.pushes);
    ASSERT_EQ(2, s.connects);
    ASSERT_EQ(2, s.attempts);
    ASSERT_EQ(0, s.protocol_errors);
    ASSERT(s.bytes_in > 0 && s.bytes_out > 0);
    ASSERT_EQ(p.heap.held, s.memory);
    ASSERT(s.memory_peak <= p.heap.peak * 2);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST fail_fast_refuses_what_would_have_to_wait(void)
{
    relet_config c = t_config();
    t_peer p;

    c.fail_fast = 1;
    ASSERT(t_start_with(&p, &c));
    ASSERT_EQ(RELET_E_REFUSED, t_ask(&p, 1, 0, "GET", "k"));
    ASSERT_STR_EQ("there is no link, and fail_fast is set",
                  relet_refusal(p.r));
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST what_may_not_go_over_a_shared_link_is_refused(void)
{
    relet_span words[65], huge;
    relet_args args[1];
    t_peer p;
    int i;

    t_start(&p);
    ASSERT_EQ(RELET_E_REFUSED, t_ask(&p, 1, 0, "SELECT", "1"));
    ASSERT_STR_EQ("SELECT would be lost with the link: set db in the "
                  "configuration", relet_refusal(p.r));
    ASSERT_EQ(RELET_E_REFUSED, relet_command(p.r, NULL, 0, NULL));
    ASSERT_EQ(RELET_E_REFUSED, relet_transaction(p.r, NULL, 0, NULL));
    for (i = 0; i < 65; i++)
        words[i] = relet_str("EXEC");
    args[0].argv = words;
    args[0].argc = 1;
    ASSERT_EQ(RELET_E_REFUSED, relet_transaction(p.r, args, 1, NULL));
    words[0] = relet_str("WATCH");
    ASSERT_EQ(RELET_E_REFUSED, relet_transaction(p.r, args, 1, NULL));
    huge.p = "never read";
    huge.n = ((size_t)512 << 20) + 1;
    words[0] = relet_str("GET");
    words[1] = huge;
    ASSERT_EQ(RELET_E_REFUSED, relet_command(p.r, words, 2, NULL));
    args[0].argc = 2;
    ASSERT_EQ(RELET_E_REFUSED, relet_transaction(p.r, args, 1, NULL));
    ASSERT_EQ(0, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST words_beyond_sixty_four_are_refused(void)
{
    t_peer p;

#define T_TEN "x", "x", "x", "x", "x", "x", "x", "x", "x", "x"
    t_start(&p);
    ASSERT_EQ(0, relet_command_text(p.r, NULL, "MGET", T_TEN, T_TEN, T_TEN,
                                    T_TEN, T_TEN, T_TEN, "x", "x", "x",
                                    (char *)NULL));
    ASSERT_EQ(RELET_E_REFUSED,
              relet_command_text(p.r, NULL, "MGET", T_TEN, T_TEN, T_TEN,
                                 T_TEN, T_TEN, T_TEN, "x", "x", "x", "x",
                                 (char *)NULL));
    ASSERT_EQ(1, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* --------------------------------------------------------------- the break
 *
 * The outcome depends on the kind of operation and on how much of it had been
 * sent when the link broke. */

typedef enum t_what {
    T_PLAIN,
    T_REPEATABLE,
    T_UNIT,
    T_UNIT_REPEATABLE,
    T_SCRIPT,
    T_SCRIPT_REPEATABLE,
    T_WATCHED,
    T_WATCHED_REPEATABLE
} t_what;

static int t_submit(t_peer *p, t_what what)
{
    switch (what) {
    case T_PLAIN:
        return t_ask(p, 9, 0, "GET", "k");
    case T_REPEATABLE:
        return t_ask(p, 9, RELET_REPEATABLE, "GET", "k");
    case T_UNIT:
    case T_WATCHED:
        return t_unit(p, 9, 0, "x", "y");
    case T_UNIT_REPEATABLE:
    case T_WATCHED_REPEATABLE:
        return t_unit(p, 9, RELET_REPEATABLE, "x", "y");
    case T_SCRIPT:
        return t_run(p, 9, 0, 0, "k");
    case T_SCRIPT_REPEATABLE:
        return t_run(p, 9, RELET_REPEATABLE, 0, "k");
    }
    return -1;
}

enum { T_NONE, T_PART, T_WHOLE };

/* Submits an operation, lets how_much of it out, and breaks the link. *sent
 * receives the operation's bytes. */
static void t_broken(t_peer *p, t_what what, int how_much, t_bytes *sent)
{
    const uint8_t *from = NULL;
    size_t n;

    t_start(p);
    if (relet_script_add(p->r, relet_str("return 1")) != 0 || !t_up(p))
        t_die("no start");
    p->honest = 1;
    if (t_run(p, 1, 0, 0, "known") < 0)
        t_die("no script");
    if (what >= T_WATCHED && t_ask(p, 2, 0, "WATCH", "k") < 0)
        t_die("no watch");
    t_move(p);
    p->honest = 0;
    t_bytes_clear(&p->log);
    p->accept = 0;
    if (t_submit(p, what) < 0)
        t_die("no submission");
    n = relet_io_pending(p->r, 0, &from);
    t_bytes_put(sent, from, n);
    p->accept = how_much == T_NONE ? 0 : how_much == T_PART ? n - 1 : n;
    t_move(p);
    t_break(p);
    p->accept = (size_t)-1;
}

/* The operation's event comes behind DOWN and before the next UP. */
#define T_ENDS(what, how_much, told_of_it) \
    do { \
        t_bytes sent = {NULL, 0, 0, 0}; \
        t_peer p; \
        t_broken(&p, what, how_much, &sent); \
        T_TOLD(&p, "down closed: reset"); \
        ASSERT_STR_EQ(told_of_it, t_told(&p)); \
        ASSERT(t_up(&p)); \
        ASSERT_EQ(0, t_bytes_used(&p.out)); \
        ASSERT_EQ(0, relet_outstanding(p.r)); \
        t_bytes_free(&sent); \
        ASSERT_EQ(0, t_end(&p)); \
    } while (0)

/* The same bytes go out over the next link, and their answers are told. */
#define T_GOES_AGAIN(what, how_much, answers, told_of_it) \
    do { \
        t_bytes sent = {NULL, 0, 0, 0}; \
        t_peer p; \
        t_broken(&p, what, how_much, &sent); \
        T_TOLD(&p, "down closed: reset"); \
        ASSERT_STR_EQ("", t_told(&p)); \
        t_pass(&p, 200); \
        while (strcmp(t_took(&p), "PING") != 0) \
            ; \
        t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n"); \
        t_move(&p); \
        ASSERT_EQ(t_bytes_used(&sent), t_bytes_used(&p.out)); \
        ASSERT_MEM_EQ(t_bytes_head(&sent), t_bytes_head(&p.out), \
                      t_bytes_used(&sent)); \
        t_say(&p, answers); \
        T_TOLD(&p, "up redis 7.0.15"); \
        T_TOLD(&p, told_of_it); \
        T_TOLD(&p, ""); \
        t_bytes_free(&sent); \
        ASSERT_EQ(0, t_end(&p)); \
    } while (0)

#define T_EXEC_SAYS "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+x\r\n+y\r\n"

TEST what_was_not_sent_is_sent_over_the_next_link(void)
{
    T_GOES_AGAIN(T_PLAIN, T_NONE, "+v\r\n", "reply 9 \"v\"");
    T_GOES_AGAIN(T_REPEATABLE, T_NONE, "+v\r\n", "reply 9 \"v\"");
    T_GOES_AGAIN(T_UNIT, T_NONE, T_EXEC_SAYS, "reply 9 [\"x\" \"y\"]");
    T_GOES_AGAIN(T_SCRIPT, T_NONE, "+v\r\n", "reply 9 \"v\"");
    PASS();
}

TEST what_was_partly_sent_is_sent_whole_over_the_next_link(void)
{
    T_GOES_AGAIN(T_PLAIN, T_PART, "+v\r\n", "reply 9 \"v\"");
    T_GOES_AGAIN(T_REPEATABLE, T_PART, "+v\r\n", "reply 9 \"v\"");
    T_GOES_AGAIN(T_UNIT, T_PART, T_EXEC_SAYS, "reply 9 [\"x\" \"y\"]");
    T_GOES_AGAIN(T_SCRIPT, T_PART, "+v\r\n", "reply 9 \"v\"");
    PASS();
}

TEST what_was_sent_is_unsure_when_the_link_breaks(void)
{
    T_ENDS(T_PLAIN, T_WHOLE, "unsure 9 broken");
    T_ENDS(T_UNIT, T_WHOLE, "unsure 9 broken");
    T_ENDS(T_SCRIPT, T_WHOLE, "unsure 9 broken");
    T_ENDS(T_WATCHED, T_WHOLE, "unsure 9 broken");
    T_ENDS(T_WATCHED_REPEATABLE, T_WHOLE, "unsure 9 broken");
    PASS();
}

TEST what_was_sent_and_is_repeatable_is_sent_again(void)
{
    T_GOES_AGAIN(T_REPEATABLE, T_WHOLE, "+v\r\n", "reply 9 \"v\"");
    T_GOES_AGAIN(T_UNIT_REPEATABLE, T_WHOLE, T_EXEC_SAYS,
                 "reply 9 [\"x\" \"y\"]");
    T_GOES_AGAIN(T_SCRIPT_REPEATABLE, T_WHOLE, "+v\r\n", "reply 9 \"v\"");
    PASS();
}

TEST a_watched_transaction_is_never_sent_without_its_watch(void)
{
    T_ENDS(T_WATCHED, T_NONE, "not sent 9 watch lost");
    T_ENDS(T_WATCHED, T_PART, "not sent 9 watch lost");
    T_ENDS(T_WATCHED_REPEATABLE, T_NONE, "not sent 9 watch lost");
    T_ENDS(T_WATCHED_REPEATABLE, T_PART, "not sent 9 watch lost");
    PASS();
}

TEST what_goes_again_goes_in_order(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, 0, "GET", "sent");
    (void)t_ask(&p, 2, RELET_REPEATABLE, "GET", "a");
    (void)t_ask(&p, 3, 0, "GET", "sent");
    (void)t_ask(&p, 4, RELET_REPEATABLE, "GET", "b");
    t_move(&p);
    p.accept = 3;
    (void)t_ask(&p, 5, 0, "GET", "c");
    (void)t_ask(&p, 6, RELET_REPEATABLE, "GET", "d");
    t_move(&p);
    t_say(&p, "+v\r\n");
    t_break(&p);
    p.accept = (size_t)-1;
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "unsure 1 broken");
    T_TOLD(&p, "unsure 3 broken");
    (void)t_ask(&p, 7, 0, "GET", "e");
    p.honest = 1;
    t_pass(&p, 200);
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "reply 2 \"a\"");
    T_TOLD(&p, "reply 4 \"b\"");
    T_TOLD(&p, "reply 5 \"c\"");
    T_TOLD(&p, "reply 6 \"d\"");
    T_TOLD(&p, "reply 7 \"e\"");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: the answers that had come before the break were not awaited again
 * after the repetition. */
TEST a_transaction_cut_off_between_its_answers_is_answered_rightly(void)
{
    static const char *const came[] = {"+OK\r\n", "+OK\r\n+QUEUED\r\n",
                                       "+OK\r\n+QUEUED\r\n+QUEUED\r\n"};
    int i;

    for (i = 0; i < 3; i++) {
        t_peer p;

        t_start(&p);
        ASSERT(t_up(&p));
        (void)t_unit(&p, 1, RELET_REPEATABLE, "x", "y");
        (void)t_ask(&p, 2, RELET_REPEATABLE, "GET", "z");
        t_move(&p);
        t_say(&p, came[i]);
        t_move(&p);
        t_break(&p);
        T_TOLD(&p, "down closed: reset");
        p.honest = 1;
        t_pass(&p, 200);
        T_TOLD(&p, "up redis 7.0.15");
        T_TOLD(&p, "reply 1 [\"x\" \"y\"]");
        T_TOLD(&p, "reply 2 \"z\"");
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST what_was_sent_once_can_never_end_not_sent(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, RELET_REPEATABLE, "GET", "a");
    (void)t_ask(&p, 2, RELET_REPEATABLE, "GET", "b");
    t_move(&p);
    t_break(&p);
    p.no = "no";
    (void)t_ask(&p, 3, RELET_REPEATABLE, "GET", "c");
    ASSERT_EQ(1, relet_cancel(p.r, 2));
    t_pass(&p, 5000);
    t_bytes_drop(&p.log, strlen(t_bytes_head(&p.log)) + 1);
    T_TOLD(&p, "unsure 2 cancelled");
    while (strncmp(t_bytes_head(&p.log), "down", 4) == 0)
        t_told(&p);
    T_TOLD(&p, "unsure 1 timeout");
    T_TOLD(&p, "not sent 3 timeout");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------- timeouts, cancels */

TEST a_late_answer_does_not_shift_the_next_one(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask_within(&p, 1, 10, "GET", "a");
    (void)t_ask_within(&p, 2, 50, "GET", "b");
    (void)t_ask_within(&p, 3, 10, "GET", "c");
    t_pass(&p, 10);
    T_TOLD(&p, "unsure 1 timeout");
    T_TOLD(&p, "unsure 3 timeout");
    (void)t_ask(&p, 4, 0, "GET", "d");
    p.honest = 1;
    T_TOLD(&p, "reply 2 \"b\"");
    T_TOLD(&p, "reply 4 \"d\"");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_timeout_counts_from_the_first_tick(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.now += 3600000;
    (void)t_ask_within(&p, 1, 100, "GET", "a");
    p.honest = 1;
    t_move(&p);
    p.honest = 0;
    (void)t_ask_within(&p, 2, 100, "GET", "b");
    t_pass(&p, 99);
    T_TOLD(&p, "reply 1 \"a\"");
    T_TOLD(&p, "");
    t_pass(&p, 1);
    T_TOLD(&p, "unsure 2 timeout");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_timeout_of_what_was_not_sent_takes_its_bytes_away(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.accept = 0;
    (void)t_ask_within(&p, 1, 100, "GET", "a");
    (void)t_ask_within(&p, 2, 10, "GET", "b");
    (void)t_ask_within(&p, 3, 100, "GET", "c");
    t_pass(&p, 10);
    T_TOLD(&p, "not sent 2 timeout");
    p.accept = (size_t)-1;
    T_TOOK(&p, "GET a");
    T_TOOK(&p, "GET c");
    T_TOOK(&p, "");
    t_say(&p, "+1\r\n+3\r\n");
    T_TOLD(&p, "reply 1 \"1\"");
    T_TOLD(&p, "reply 3 \"3\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_cancel_of_what_was_not_sent_takes_exactly_its_bytes_away(void)
{
    int k;

    for (k = 0; k < 3; k++) {
        t_peer p;

        t_start(&p);
        ASSERT(t_up(&p));
        p.accept = 0;
        (void)t_ask(&p, 0, 0, "GET", "first");
        (void)t_unit(&p, 1, 0, "second", "second");
        (void)t_ask(&p, 2, RELET_REPEATABLE, "GET", "third");
        t_move(&p);
        ASSERT_EQ(1, relet_cancel(p.r, (uint64_t)k));
        ASSERT_EQ(0, relet_cancel(p.r, (uint64_t)k));
        p.accept = (size_t)-1;
        if (k != 0)
            T_TOOK(&p, "GET first");
        if (k != 1) {
            T_TOOK(&p, "MULTI");
            T_TOOK(&p, "ECHO second");
            T_TOOK(&p, "ECHO second");
            T_TOOK(&p, "EXEC");
        }
        if (k != 2)
            T_TOOK(&p, "GET third");
        T_TOOK(&p, "");
        ASSERT_EQ(0, strncmp(t_told(&p), "not sent ", 9));
        T_TOLD(&p, "");
        ASSERT_EQ(2, relet_outstanding(p.r));
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST a_cancel_in_the_middle_of_a_write_lets_the_rest_of_it_out(void)
{
    size_t k;

    for (k = 1; k < 22; k++) {
        t_peer p;

        t_start(&p);
        ASSERT(t_up(&p));
        p.accept = k;
        (void)t_ask(&p, 1, 0, "GET", "one");
        (void)t_ask(&p, 2, 0, "GET", "two");
        t_move(&p);
        ASSERT_EQ(1, relet_cancel(p.r, 1));
        T_TOLD(&p, "unsure 1 cancelled");
        p.accept = (size_t)-1;
        T_TOOK(&p, "GET one");
        T_TOOK(&p, "GET two");
        t_say(&p, "+1\r\n+2\r\n");
        T_TOLD(&p, "reply 2 \"2\"");
        T_TOLD(&p, "");
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST a_timeout_in_the_middle_of_a_write_lets_the_rest_of_it_out(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.accept = 7;
    (void)t_ask_within(&p, 1, 10, "GET", "one");
    (void)t_ask_within(&p, 2, 10, "GET", "two");
    (void)t_ask(&p, 3, 0, "GET", "three");
    t_pass(&p, 10);
    T_TOLD(&p, "unsure 1 timeout");
    T_TOLD(&p, "not sent 2 timeout");
    p.accept = (size_t)-1;
    T_TOOK(&p, "GET one");
    T_TOOK(&p, "GET three");
    T_TOOK(&p, "");
    t_say(&p, "+1\r\n+3\r\n");
    T_TOLD(&p, "reply 3 \"3\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_cancelled_operation_cut_off_by_a_break_does_not_come_back(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.accept = 7;
    (void)t_ask(&p, 1, RELET_REPEATABLE, "GET", "one");
    (void)t_ask(&p, 2, 0, "GET", "two");
    t_move(&p);
    ASSERT_EQ(1, relet_cancel(p.r, 1));
    t_break(&p);
    p.accept = (size_t)-1;
    p.honest = 1;
    t_pass(&p, 200);
    T_TOLD(&p, "unsure 1 cancelled");
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "reply 2 \"two\"");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST cancel_ends_every_operation_of_the_tag(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 7, 0, "GET", "a");
    (void)t_ask(&p, 8, 0, "GET", "b");
    (void)t_ask(&p, 7, 0, "GET", "c");
    t_move(&p);
    ASSERT_EQ(2, relet_cancel(p.r, 7));
    p.honest = 1;
    T_TOLD(&p, "unsure 7 cancelled");
    T_TOLD(&p, "unsure 7 cancelled");
    T_TOLD(&p, "reply 8 \"b\"");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: an operation that waits kept the places of ended operations
 * behind it taken. */
TEST what_ended_unsent_makes_room_behind_one_that_waits(void)
{
    relet_config c = t_config();
    t_peer p;
    int i;

    c.operations_max = 4;
    ASSERT(t_start_with(&p, &c));
    p.no = "no";
    ASSERT_EQ(0, t_ask_within(&p, 1, RELET_NEVER, "GET", "a"));
    ASSERT_EQ(0, t_ask_within(&p, 2, RELET_NEVER, "GET", "b"));
    for (i = 0; i < 100; i++) {
        ASSERT_EQ(0, t_ask_within(&p, 3, 10, "GET", "short"));
        if (i % 3 == 0)
            ASSERT_EQ(1, relet_cancel(p.r, 3));
        t_pass(&p, 10);
    }
    p.no = NULL;
    t_bytes_clear(&p.log);
    ASSERT_EQ(0, t_ask_within(&p, 4, RELET_NEVER, "GET", "c"));
    p.honest = 1;
    t_pass(&p, 20000);
    while (strncmp(t_told(&p), "up", 2) != 0)
        ;
    T_TOLD(&p, "reply 1 \"a\"");
    T_TOLD(&p, "reply 2 \"b\"");
    T_TOLD(&p, "reply 4 \"c\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------------ transactions */

TEST a_transaction_has_one_outcome(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_unit(&p, 1, 0, "x", "y");
    (void)t_ask(&p, 2, 0, "GET", "k");
    T_TOOK(&p, "MULTI");
    T_TOOK(&p, "ECHO x");
    T_TOOK(&p, "ECHO y");
    T_TOOK(&p, "EXEC");
    T_TOOK(&p, "GET k");
    t_say(&p, T_EXEC_SAYS "+k\r\n");
    T_TOLD(&p, "reply 1 [\"x\" \"y\"]");
    T_TOLD(&p, "reply 2 \"k\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_aborted_transaction_tells_the_first_refusal(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_unit(&p, 1, 0, "x", "y");
    (void)t_unit(&p, 2, 0, "x", "y");
    t_move(&p);
    t_say(&p, "+OK\r\n-ERR first\r\n-ERR second\r\n-EXECABORT because\r\n");
    t_say(&p, "+OK\r\n+QUEUED\r\n+QUEUED\r\n-EXECABORT on its own\r\n");
    T_TOLD(&p, "error 1 ERR first");
    T_TOLD(&p, "error 2 EXECABORT on its own");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* If the user may not call MULTI, the server runs the commands one by one. */
TEST an_exec_without_multi_is_told_as_it_is(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_unit(&p, 1, 0, "x", "y");
    t_move(&p);
    t_say(&p, "-NOPERM no multi\r\n+x\r\n+y\r\n-ERR EXEC without MULTI\r\n");
    T_TOLD(&p, "error 1 ERR EXEC without MULTI");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_refusal_in_a_cut_off_transaction_is_not_told_of_the_next(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_unit(&p, 1, 0, "x", "y");
    t_move(&p);
    t_say(&p, "+OK\r\n-ERR of the first\r\n");
    t_move(&p);
    t_break(&p);
    ASSERT(t_up(&p));
    (void)t_unit(&p, 2, 0, "x", "y");
    t_move(&p);
    t_say(&p, "+OK\r\n+QUEUED\r\n-ERR of the second\r\n-EXECABORT x\r\n");
    T_TOLD(&p, "error 2 ERR of the second");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_changed_key_gives_null(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)t_unit(&p, 2, 0, "x", "y");
    t_move(&p);
    t_say(&p, "+OK\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n_\r\n");
    T_TOLD(&p, "reply 1 \"OK\"");
    T_TOLD(&p, "reply 2 nil");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_transaction_after_a_lost_watch_is_refused_once(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    T_TOLD(&p, "reply 1 \"OK\"");
    t_break(&p);
    t_pass(&p, 200);
    ASSERT_EQ(RELET_E_REFUSED, t_unit(&p, 2, 0, "x", "y"));
    ASSERT_STR_EQ("the link that held the WATCH is gone",
                  relet_refusal(p.r));
    ASSERT_EQ(0, t_unit(&p, 3, 0, "x", "y"));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST unwatch_ends_the_watch(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)t_ask(&p, 2, 0, "UNWATCH", NULL);
    t_move(&p);
    t_break(&p);
    t_pass(&p, 200);
    ASSERT_EQ(0, t_unit(&p, 3, 0, "x", "y"));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_transaction_ends_the_watch(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)t_unit(&p, 2, 0, "x", "y");
    t_move(&p);
    t_break(&p);
    ASSERT_EQ(0, t_unit(&p, 3, 0, "x", "y"));
    t_pass(&p, 200);
    T_TOLD(&p, "reply 1 \"OK\"");
    T_TOLD(&p, "reply 2 [\"x\" \"y\"]");
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "reply 3 [\"x\" \"y\"]");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: after a failed attempt to connect, the client no longer knew of
 * the WATCH in its queue. */
TEST a_watch_in_the_queue_is_remembered_over_a_failed_attempt(void)
{
    t_peer p;

    t_start(&p);
    p.no = "no";
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    T_TOLD(&p, "down connect: no");
    (void)t_unit(&p, 2, 0, "x", "y");
    p.no = NULL;
    ASSERT(t_up(&p) && t_bytes_used(&p.out) == 0);
    t_break(&p);
    ASSERT_EQ(0, t_end(&p));

    t_start(&p);
    p.no = "no";
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    T_TOLD(&p, "down connect: no");
    (void)t_unit(&p, 2, 0, "x", "y");
    p.no = NULL;
    t_pass(&p, 200);
    t_say(&p, T_HELLO_SAYS "+OK\r\n+OK\r\n+PONG\r\n");
    t_bytes_clear(&p.out);
    p.accept = strlen("*2\r\n$5\r\nWATCH\r\n$1\r\nk\r\n");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOOK(&p, "WATCH k");
    t_break(&p);
    p.accept = (size_t)-1;
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "unsure 1 broken");
    T_TOLD(&p, "not sent 2 watch lost");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: the unsent WATCH went out over the next link and guarded a
 * refused transaction, or another caller's. */
TEST an_unsent_watch_does_not_survive_its_transaction(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.accept = 0;
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)t_unit(&p, 2, 0, "x", "y");
    t_break(&p);
    p.accept = (size_t)-1;
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "not sent 1 watch lost");
    T_TOLD(&p, "not sent 2 watch lost");
    ASSERT(t_up(&p));
    T_TOOK(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------- a WATCH that is not in force */

#define T_WATCH_K "*2\r\n$5\r\nWATCH\r\n$1\r\nk\r\n"

/* The client is up, and the link takes only n more bytes. */
static int t_up_narrow(t_peer *p, size_t n)
{
    int up;

    t_start(p);
    up = t_up(p);
    p->accept = n;
    return up;
}

TEST a_transaction_ends_with_its_watch_that_is_cancelled_unsent(void)
{
    t_peer p;

    ASSERT(t_up_narrow(&p, 0));
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)t_unit(&p, 2, 0, "x", "y");
    (void)t_unit(&p, 3, 0, "x", "y");
    ASSERT_EQ(1, relet_cancel(p.r, 1));
    T_TOLD(&p, "not sent 1 cancelled");
    T_TOLD(&p, "not sent 2 watch lost");
    T_TOLD(&p, "");
    p.accept = (size_t)-1;
    T_TOOK(&p, "MULTI");
    ASSERT_EQ(1, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_transaction_ends_with_its_watch_that_is_not_sent_in_time(void)
{
    t_peer p;

    ASSERT(t_up_narrow(&p, 0));
    (void)t_ask_within(&p, 1, 50, "WATCH", "k");
    (void)t_unit(&p, 2, RELET_REPEATABLE, "x", "y");
    t_pass(&p, 60);
    T_TOLD(&p, "not sent 1 timeout");
    T_TOLD(&p, "not sent 2 watch lost");
    p.accept = (size_t)-1;
    T_TOOK(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_transaction_ends_with_any_of_several_watches(void)
{
    uint64_t tag;
    t_peer p;

    for (tag = 1; tag <= 2; tag++) {
        ASSERT(t_up_narrow(&p, 0));
        (void)t_ask(&p, 1, 0, "WATCH", "k");
        (void)t_ask(&p, 2, 0, "WATCH", "l");
        (void)t_unit(&p, 3, 0, "x", "y");
        (void)relet_cancel(p.r, tag);
        T_TOLD(&p, tag == 1 ? "not sent 1 cancelled" : "not sent 2 cancelled");
        T_TOLD(&p, "not sent 3 watch lost");
        p.accept = (size_t)-1;
        T_TOOK(&p, tag == 1 ? "WATCH l" : "WATCH k");
        T_TOOK(&p, "");
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST a_cancel_counts_the_watch_and_its_transaction_of_one_tag(void)
{
    t_peer p;

    ASSERT(t_up_narrow(&p, 0));
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)t_unit(&p, 1, 0, "x", "y");
    ASSERT_EQ(2, relet_cancel(p.r, 1));
    T_TOLD(&p, "not sent 1 cancelled");
    T_TOLD(&p, "not sent 1 cancelled");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_transaction_behind_a_cancelled_watch_is_refused_once(void)
{
    t_peer p;

    ASSERT(t_up_narrow(&p, 0));
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)relet_cancel(p.r, 1);
    /* Until the loss is told, the next WATCH may belong to the same
     * transaction. */
    (void)t_ask(&p, 2, 0, "WATCH", "l");
    ASSERT_EQ(RELET_E_REFUSED, t_unit(&p, 3, 0, "x", "y"));
    ASSERT_STR_EQ("its WATCH was not sent, or refused", relet_refusal(p.r));
    ASSERT_EQ(0, t_unit(&p, 4, 0, "x", "y"));
    T_TOLD(&p, "not sent 1 cancelled");
    (void)relet_cancel(p.r, 2); /* the refused transaction's WATCH */
    T_TOLD(&p, "not sent 2 cancelled");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_watch_begins_anew_once_the_loss_is_told(void)
{
    t_peer p;

    ASSERT(t_up_narrow(&p, 0));
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)relet_cancel(p.r, 1);
    T_TOLD(&p, "not sent 1 cancelled");
    (void)t_ask(&p, 2, 0, "WATCH", "k");
    ASSERT_EQ(0, t_unit(&p, 3, 0, "x", "y"));
    p.accept = (size_t)-1;
    T_TOOK(&p, "WATCH k");
    T_TOOK(&p, "MULTI");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_watch_before_an_unwatch_takes_no_transaction_with_it(void)
{
    t_peer p;

    ASSERT(t_up_narrow(&p, 0));
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)t_ask(&p, 2, 0, "UNWATCH", NULL);
    (void)t_ask(&p, 3, 0, "WATCH", "l");
    (void)relet_cancel(p.r, 1);
    ASSERT_EQ(0, t_unit(&p, 4, 0, "x", "y"));
    T_TOLD(&p, "not sent 1 cancelled");
    T_TOLD(&p, "");
    (void)relet_cancel(p.r, 3);
    T_TOLD(&p, "not sent 3 cancelled");
    T_TOLD(&p, "not sent 4 watch lost");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_watch_of_a_refused_transaction_takes_no_other_with_it(void)
{
    t_peer p;

    ASSERT(t_up_narrow(&p, 0));
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)t_ask(&p, 2, 0, "WATCH", "l");
    (void)relet_cancel(p.r, 1);
    T_TOLD(&p, "not sent 1 cancelled");
    ASSERT_EQ(RELET_E_REFUSED, t_unit(&p, 3, 0, "x", "y"));
    (void)t_ask(&p, 4, 0, "WATCH", "k");
    ASSERT_EQ(0, t_unit(&p, 5, 0, "x", "y"));
    (void)relet_cancel(p.r, 2);
    T_TOLD(&p, "not sent 2 cancelled");
    T_TOLD(&p, "");
    ASSERT_EQ(2, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Regression: once the place of the cancelled transaction was reused, its WATCH
 * was taken for the WATCH of the second transaction. */
TEST a_watch_takes_no_transaction_but_its_own_with_it(void)
{
    t_peer p;
    int i;

    ASSERT(t_up_narrow(&p, 0));
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)t_unit(&p, 2, 0, "x", "y");
    (void)relet_cancel(p.r, 2);
    T_TOLD(&p, "not sent 2 cancelled");
    for (i = 0; i < 5000; i++) {
        ASSERT_EQ(0, t_ask(&p, 9, 0, "GET", "k"));
        (void)relet_cancel(p.r, 9);
        T_TOLD(&p, "not sent 9 cancelled");
    }
    (void)t_ask(&p, 3, 0, "WATCH", "l");
    (void)t_unit(&p, 4, 0, "x", "y");
    (void)relet_cancel(p.r, 1);
    T_TOLD(&p, "not sent 1 cancelled");
    T_TOLD(&p, "");
    ASSERT_EQ(2, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_transaction_is_not_sent_behind_a_refused_watch(void)
{
    t_peer p;

    ASSERT(t_up_narrow(&p, strlen(T_WATCH_K)));
    (void)t_ask(&p, 1, RELET_REPEATABLE, "WATCH", "k");
    (void)t_unit(&p, 2, RELET_REPEATABLE, "x", "y");
    T_TOOK(&p, "WATCH k");
    p.accept = 0;
    t_say(&p, "-LOADING x\r\n");
    T_TOLD(&p, "error 1 LOADING x");
    T_TOLD(&p, "not sent 2 watch lost");
    p.accept = (size_t)-1;
    T_TOOK(&p, "");
    (void)t_ask(&p, 3, 0, "WATCH", "k");
    t_pass(&p, 4000);
    t_say(&p, "-ERR no\r\n");
    T_TOLD(&p, "error 3 ERR no");
    ASSERT_EQ(RELET_E_REFUSED, t_unit(&p, 4, 0, "x", "y"));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_transaction_is_not_sent_behind_a_watch_refused_late(void)
{
    t_peer p;

    ASSERT(t_up_narrow(&p, strlen(T_WATCH_K)));
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)t_unit(&p, 2, 0, "x", "y");
    T_TOOK(&p, "WATCH k");
    p.accept = 0;
    (void)relet_cancel(p.r, 1);
    T_TOLD(&p, "unsure 1 cancelled");
    T_TOLD(&p, "");
    t_say(&p, "-ERR no\r\n");
    T_TOLD(&p, "not sent 2 watch lost");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_transaction_sent_before_its_watch_was_refused_runs(void)
{
    t_peer p;

    ASSERT(t_up_narrow(&p, (size_t)-1));
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)t_unit(&p, 2, 0, "x", "y");
    t_move(&p);
    t_say(&p, "-ERR no\r\n" T_EXEC_SAYS);
    T_TOLD(&p, "error 1 ERR no");
    T_TOLD(&p, "reply 2 [\"x\" \"y\"]");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_transaction_is_not_sent_again_behind_a_watch(void)
{
    t_peer p;

    ASSERT(t_up_narrow(&p, (size_t)-1));
    (void)t_unit(&p, 1, RELET_REPEATABLE, "x", "y");
    (void)t_ask(&p, 2, 0, "WATCH", "k");
    t_move(&p);
    t_say(&p, "-BUSY x\r\n-BUSY x\r\n-BUSY x\r\n-BUSY x\r\n+OK\r\n");
    T_TOLD(&p, "error 1 BUSY x");
    T_TOLD(&p, "reply 2 \"OK\"");
    ASSERT_EQ(0, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_unwatch_is_not_sent_again_behind_a_watch(void)
{
    t_peer p;

    ASSERT(t_up_narrow(&p, (size_t)-1));
    (void)t_ask(&p, 1, RELET_REPEATABLE, "UNWATCH", NULL);
    (void)t_ask(&p, 2, 0, "WATCH", "k");
    t_move(&p);
    t_say(&p, "-BUSY x\r\n+OK\r\n");
    T_TOLD(&p, "error 1 BUSY x");
    T_TOLD(&p, "reply 2 \"OK\"");
    ASSERT_EQ(0, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* The server answers MULTI while the rest of a large transaction, with its
 * EXEC, is not sent yet. Regression: such an answer was taken for a stray. */
TEST a_transaction_may_be_answered_before_all_of_it_is_sent(void)
{
    size_t k;

    for (k = 1; k < 30; k++) {
        t_peer p;

        t_start(&p);
        ASSERT(t_up(&p));
        p.accept = strlen("*1\r\n$5\r\nMULTI\r\n") + k;
        (void)t_unit(&p, 1, 0, "x", "y");
        (void)t_ask(&p, 2, 0, "GET", "k");
        T_TOOK(&p, "MULTI");
        t_say(&p, "+OK\r\n");
        t_move(&p);
        ASSERT_EQ(1, relet_is_up(p.r));
        p.accept = (size_t)-1;
        t_move(&p);
        t_say(&p, "+QUEUED\r\n+QUEUED\r\n*2\r\n+x\r\n+y\r\n+k\r\n");
        T_TOLD(&p, "reply 1 [\"x\" \"y\"]");
        T_TOLD(&p, "reply 2 \"k\"");
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST an_answer_to_what_is_partly_sent_is_a_stray_one(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.accept = 8;
    (void)t_ask(&p, 1, 0, "GET", "k");
    t_move(&p);
    t_say(&p, "+stray\r\n");
    T_TOLD(&p, "down protocol: an answer came that nothing waited for");
    T_TOLD(&p, "");
    ASSERT_EQ(1, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------------------ cached */

/* The client is up and tracks the reads submitted with RELET_CACHED. */
static int t_start_optin(t_peer *p)
{
    relet_config c = t_config();

    c.tracking = RELET_TRACK_OPTIN;
    return t_start_with(p, &c) && t_up(p);
}

TEST cached_without_optin_is_refused_by_name(void)
{
    static const relet_tracking other[] = {
        RELET_TRACK_OFF, RELET_TRACK_READ, RELET_TRACK_BROADCAST};
    relet_config c = t_config();
    size_t i;
    int script;

    for (i = 0; i < sizeof other / sizeof other[0]; i++) {
        t_peer p;

        c.tracking = other[i];
        ASSERT(t_start_with(&p, &c));
        ASSERT(t_up(&p));
        script = relet_script_add(p.r, relet_str("return 1"));
        ASSERT_EQ(RELET_E_REFUSED, t_ask(&p, 1, RELET_CACHED, "GET", "k"));
        ASSERT(strstr(relet_refusal(p.r), "RELET_CACHED needs tracking=optin"));
        ASSERT_EQ(RELET_E_REFUSED, t_run(&p, 2, RELET_CACHED, script, "k"));
        ASSERT(strstr(relet_refusal(p.r), "RELET_CACHED needs tracking=optin"));
        ASSERT_EQ(0, relet_outstanding(p.r));
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST cached_is_for_commands_and_scripts_alone(void)
{
    t_peer p;

    ASSERT(t_start_optin(&p));
    ASSERT_EQ(RELET_E_REFUSED, t_unit(&p, 1, RELET_CACHED, "x", "y"));
    ASSERT(strstr(relet_refusal(p.r), "RELET_CACHED is for relet_command"));
    ASSERT_EQ(0, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST cached_puts_client_caching_directly_in_front(void)
{
    t_peer p;

    ASSERT(t_start_optin(&p));
    (void)t_ask(&p, 1, RELET_CACHED, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "l");
    T_TOOK(&p, "CLIENT CACHING YES");
    T_TOOK(&p, "GET k");
    T_TOOK(&p, "GET l");
    t_say(&p, "+OK\r\n+k\r\n+l\r\n");
    T_TOLD(&p, "reply 1 \"k\"");
    T_TOLD(&p, "reply 2 \"l\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_refused_caching_ends_its_read_in_an_error_and_shifts_no_answer(void)
{
    t_peer p;

    ASSERT(t_start_optin(&p));
    (void)t_ask(&p, 1, RELET_CACHED, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "l");
    t_move(&p);
    t_say(&p, "-ERR no tracking\r\n+k\r\n-ERR own\r\n");
    T_TOLD(&p, "error 1 refused: ERR no tracking");
    T_TOLD(&p, "error 2 ERR own");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_caching_answered_over_a_limit_ends_its_read_in_an_error(void)
{
    char line[1100];
    t_peer p;

    ASSERT(t_start_optin(&p));
    memset(line, 'x', sizeof line);
    line[0] = '-';
    memcpy(line + sizeof line - 3, "\r\n", 3);
    (void)t_ask(&p, 1, RELET_CACHED, "GET", "k");
    t_move(&p);
    t_say(&p, line);
    t_say(&p, "+k\r\n");
    T_TOLD(&p, "error 1 refused: the answer to CLIENT CACHING YES is over a "
               "limit");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* A script ends between the two commands: CLIENT CACHING is refused as BUSY,
 * but GET is answered. That answer would never be invalidated. */
TEST a_busy_caching_is_waited_out_with_its_read_when_that_may_be_repeated(void)
{
    t_peer p;

    ASSERT(t_start_optin(&p));
    (void)t_ask(&p, 1, RELET_CACHED | RELET_REPEATABLE, "GET", "k");
    t_move(&p);
    t_bytes_clear(&p.out);
    t_say(&p, "-BUSY a script runs\r\n+old\r\n");
    T_TOLD(&p, "");
    t_pass(&p, 200);
    T_TOOK(&p, "CLIENT CACHING YES");
    T_TOOK(&p, "GET k");
    t_say(&p, "+OK\r\n+new\r\n");
    T_TOLD(&p, "reply 1 \"new\"");
    (void)t_ask(&p, 2, RELET_CACHED, "GET", "k");
    t_move(&p);
    t_say(&p, "-BUSY a script runs\r\n+old\r\n");
    T_TOLD(&p, "error 2 refused: BUSY a script runs");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_read_that_ran_behind_a_busy_caching_never_ends_not_sent(void)
{
    t_peer p;

    ASSERT(t_start_optin(&p));
    (void)t_ask(&p, 1, RELET_CACHED | RELET_REPEATABLE, "GET", "k");
    t_move(&p);
    t_say(&p, "-BUSY a script runs\r\n+old\r\n");
    T_TOLD(&p, "");
    ASSERT_EQ(1, relet_cancel(p.r, 1));
    T_TOLD(&p, "unsure 1 cancelled");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_cached_read_cut_off_between_its_answers_is_answered_rightly(void)
{
    t_peer p;

    ASSERT(t_start_optin(&p));
    (void)t_ask(&p, 1, RELET_CACHED | RELET_REPEATABLE, "GET", "k");
    (void)t_ask(&p, 2, RELET_REPEATABLE, "GET", "l");
    t_move(&p);
    t_say(&p, "+OK\r\n");
    t_move(&p);
    t_break(&p);
    p.honest = 1;
    t_pass(&p, 200);
    T_TOLD(&p, "down closed: reset");
    T_TOLD(&p, "gap closed");
    T_TOLD(&p, "up redis 7.0.15");
    T_TOLD(&p, "gap");
    T_TOLD(&p, "reply 1 \"k\"");
    T_TOLD(&p, "reply 2 \"l\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------------------- busy */

TEST busy_is_told_of_what_may_not_be_repeated(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    p.server.busy = 1;
    (void)t_ask(&p, 1, 0, "GET", "k");
    T_TOLD(&p, "error 1 BUSY Redis is busy running a script.");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST what_may_be_repeated_is_repeated_until_the_server_is_free(void)
{
    static const char *const text[] = {"-BUSY x\r\n", "-LOADING x\r\n",
                                       "-MASTERDOWN x\r\n"};
    relet_stats s;
    int i;

    for (i = 0; i < 3; i++) {
        t_peer p;

        t_start(&p);
        ASSERT(t_up(&p));
        p.honest = 1;
        p.server.busy = 7;
        p.server.busy_text = text[i];
        (void)t_ask_for(&p, 1, RELET_REPEATABLE, 100000, "GET", "k");
        t_pass(&p, 100000);
        T_TOLD(&p, "reply 1 \"k\"");
        T_TOLD(&p, "");
        relet_stats_get(p.r, &s);
        ASSERT_EQ(7, s.repeated);
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST nothing_goes_out_while_a_busy_server_is_left_alone(void)
{
    relet_time began;
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, RELET_REPEATABLE, "GET", "k");
    T_TOOK(&p, "GET k");
    t_say(&p, "-BUSY x\r\n");
    T_TOOK(&p, "");
    (void)t_ask(&p, 2, 0, "GET", "l");
    (void)t_wish(&p, RELET_CHANNEL, "c");
    began = p.now;
    T_TOOK(&p, "");
    t_pass(&p, relet_deadline(p.r) - p.now);
    ASSERT(p.now > began && p.now <= began + 101);
    T_TOOK(&p, "GET k");
    T_TOOK(&p, "GET l");
    T_TOOK(&p, "SUBSCRIBE c");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_busy_server_is_asked_less_and_less_often(void)
{
    relet_time began, longest = 0;
    t_peer p;
    int i;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask_for(&p, 1, RELET_REPEATABLE, 10000000, "GET", "k");
    for (i = 0; i < 30; i++) {
        began = p.now;
        while (strcmp(t_took(&p), "GET k") != 0)
            t_pass(&p, 1);
        longest = RLT_MAX(longest, p.now - began);
        ASSERT(longest <= 10002);
        t_say(&p, "-BUSY x\r\n");
        t_move(&p);
    }
    ASSERT(longest > 2000);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* All commands had been sent when the server became busy. */
TEST many_commands_that_a_busy_server_refuses_are_one_wait(void)
{
    relet_time began;
    t_peer p;
    int i;

    t_start(&p);
    ASSERT(t_up(&p));
    for (i = 0; i < 30; i++)
        (void)t_ask(&p, (uint64_t)i + 1, RELET_REPEATABLE, "GET", "k");
    for (i = 0; i < 30; i++)
        T_TOOK(&p, "GET k");
    for (i = 0; i < 30; i++)
        t_say(&p, "-BUSY x\r\n");
    T_TOOK(&p, "");
    began = p.now;
    while (strcmp(t_took(&p), "GET k") != 0) {
        ASSERT(p.now <= began + 101);
        t_pass(&p, 1);
    }
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_server_that_was_busy_once_is_asked_soon_the_next_time(void)
{
    t_peer p;
    int i;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    for (i = 0; i < 20; i++) {
        p.server.busy = 1;
        (void)t_ask(&p, 1, RELET_REPEATABLE, "GET", "k");
        t_pass(&p, 102);
        T_TOLD(&p, "reply 1 \"k\"");
    }
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_busy_operation_still_ends_with_its_time(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    p.server.busy = 1000000;
    (void)t_ask(&p, 1, RELET_REPEATABLE, "GET", "k");
    t_pass(&p, 5000);
    ASSERT_EQ(0, strncmp(t_told(&p), "not sent 1 timeout", 18) &&
                     strcmp(p.line, "unsure 1 timeout"));
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_repeatable_transaction_is_repeated_when_busy_was_inside(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    p.server.busy = 3;
    (void)t_unit(&p, 1, RELET_REPEATABLE, "x", "y");
    (void)t_ask(&p, 2, RELET_REPEATABLE, "GET", "k");
    t_pass(&p, 2000);
    T_TOLD(&p, "reply 1 [\"x\" \"y\"]");
    T_TOLD(&p, "reply 2 \"k\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* EXECABORT ends the WATCH, so no WATCH would guard a second try. */
TEST a_watched_transaction_is_not_repeated_when_busy_was_inside(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    T_TOLD(&p, "reply 1 \"OK\"");
    p.server.busy = 1;
    (void)t_unit(&p, 2, RELET_REPEATABLE, "x", "y");
    T_TOLD(&p, "error 2 BUSY Redis is busy running a script.");
    t_pass(&p, 4000);
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_idle_link_that_was_busy_is_still_found_dead(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, RELET_REPEATABLE, "GET", "k");
    t_move(&p);
    t_say(&p, "-BUSY x\r\n");
    t_pass(&p, 30000);
    ASSERT_EQ(0, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------------------ pushes */

TEST a_push_may_stand_anywhere(void)
{
    t_peer p;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, 0, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "k");
    t_move(&p);
    t_say(&p, ">1\r\n:1\r\n*2\r\n:10\r\n>1\r\n:2\r\n*1\r\n>1\r\n:3\r\n:11\r\n"
              ">1\r\n:4\r\n$1\r\nv\r\n>1\r\n:5\r\n");
    T_TOLD(&p, "pushed <1>");
    T_TOLD(&p, "pushed <2>");
    T_TOLD(&p, "pushed <3>");
    T_TOLD(&p, "reply 1 [10 [11]]");
    T_TOLD(&p, "pushed <4>");
    T_TOLD(&p, "reply 2 \"v\"");
    T_TOLD(&p, "pushed <5>");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_push_may_stand_in_the_greeting(void)
{
    t_peer p;

    t_start(&p);
    t_move(&p);
    t_say(&p, ">1\r\n:1\r\n" T_HELLO_SAYS ">1\r\n:2\r\n+OK\r\n+OK\r\n"
              ">1\r\n:3\r\n+PONG\r\n");
    T_TOLD(&p, "pushed <1>");
    T_TOLD(&p, "pushed <2>");
    T_TOLD(&p, "pushed <3>");
    T_TOLD(&p, "up redis 7.0.15");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------------------ limits */

static relet_config t_config_tight(void)
{
    relet_config c = t_config();

    c.reply_max = 1024;
    c.tape_max = 512;
    c.bulk_max = 256;
    c.line_max = 128;
    c.count_max = 64;
    c.depth_max = 4;
    return c;
}

static void t_say_many(t_peer *p, int n, const char *text)
{
    while (n-- > 0)
        t_say(p, text);
}

static void t_say_over(t_peer *p, int which)
{
    switch (which) {
    case 0: /* line_max */
        t_say(p, "+");
        t_say_many(p, 129, "x");
        t_say(p, "\r\n");
        return;
    case 1: /* bulk_max */
        t_say(p, "$257\r\n");
        t_say_many(p, 257, "x");
        t_say(p, "\r\n");
        return;
    case 2: /* count_max */
        t_say(p, "*65\r\n");
        t_say_many(p, 65, ":1\r\n");
        return;
    case 3: /* depth_max */
        t_say_many(p, 5, "*1\r\n");
        t_say(p, ":1\r\n");
        return;
    case 4: /* reply_max */
        t_say(p, "*5\r\n");
        for (which = 0; which < 5; which++) {
            t_say(p, "$250\r\n");
            t_say_many(p, 250, "y");
            t_say(p, "\r\n");
        }
        return;
    case 5: /* tape_max */
        t_say(p, "*40\r\n");
        t_say_many(p, 40, ":1\r\n");
        return;
    default:
        t_die("no such limit");
    }
}

TEST an_answer_over_a_limit_is_an_error_of_that_operation_alone(void)
{
    static const char *const told[] = {
        "error 1 too large: a line of the answer is over line_max",
        "error 1 too large: a string of the answer is over bulk_max",
        "error 1 too large: an aggregate of the answer is over count_max",
        "error 1 too large: the answer is nested over depth_max",
        "error 1 too large: the answer is over reply_max",
        "error 1 too large: the answer is over tape_max"};
    relet_config c = t_config_tight();
    int which;

    for (which = 0; which < 6; which++) {
        t_peer p;

        ASSERT(t_start_with(&p, &c));
        ASSERT(t_up(&p));
        (void)t_ask(&p, 0, 0, "GET", "k");
        (void)t_ask(&p, 1, 0, "GET", "k");
        (void)t_ask(&p, 2, 0, "GET", "k");
        t_move(&p);
        t_say(&p, "+before\r\n");
        t_say_over(&p, which);
        t_say(&p, "+after\r\n");
        T_TOLD(&p, "reply 0 \"before\"");
        T_TOLD(&p, told[which]);
        T_TOLD(&p, "reply 2 \"after\"");
        T_TOLD(&p, "");
        ASSERT_EQ(1, relet_is_up(p.r));
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST a_transaction_is_not_sent_behind_a_watch_with_an_answer_over_a_limit(void)
{
    relet_config c = t_config_tight();
    t_peer p;

    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    p.accept = strlen(T_WATCH_K);
    (void)t_ask(&p, 1, 0, "WATCH", "k");
    (void)t_unit(&p, 2, 0, "x", "y");
    T_TOOK(&p, "WATCH k");
    p.accept = 0;
    t_say_over(&p, 0);
    T_TOLD(&p, "error 1 too large: a line of the answer is over line_max");
    T_TOLD(&p, "not sent 2 watch lost");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_answer_over_a_limit_inside_a_transaction_shifts_nothing(void)
{
    relet_config c = t_config_tight();
    t_peer p;

    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    (void)t_unit(&p, 1, 0, "x", "y");
    (void)t_ask(&p, 2, 0, "GET", "k");
    t_move(&p);
    t_say(&p, "+OK\r\n");
    t_say_over(&p, 0);
    t_say(&p, "+QUEUED\r\n*2\r\n+x\r\n+y\r\n+k\r\n");
    T_TOLD(&p, "reply 1 [\"x\" \"y\"]");
    T_TOLD(&p, "reply 2 \"k\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_late_answer_over_a_limit_is_swallowed(void)
{
    relet_config c = t_config_tight();
    t_peer p;

    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, 0, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "k");
    t_move(&p);
    (void)relet_cancel(p.r, 1);
    t_say_over(&p, 1);
    t_say(&p, "+right\r\n");
    T_TOLD(&p, "unsure 1 cancelled");
    T_TOLD(&p, "reply 2 \"right\"");
    T_TOLD(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_push_over_a_limit_is_a_gap(void)
{
    relet_config c = t_config_tight();
    t_peer p;

    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    t_say(&p, ">3\r\n+message\r\n+c\r\n$257\r\n");
    t_say_many(&p, 257, "x");
    t_say(&p, "\r\n");
    T_TOLD(&p, "gap");
    T_TOLD(&p, "");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_push_inside_an_answer_over_a_limit_is_a_gap(void)
{
    relet_config c = t_config_tight();
    t_peer p;

    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, 0, "GET", "k");
    t_move(&p);
    t_say(&p, "*65\r\n>1\r\n:9\r\n");
    t_say_many(&p, 65, ":1\r\n");
    T_TOLD(&p, "error 1 too large: an aggregate of the answer is over "
               "count_max");
    T_TOLD(&p, "gap");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* Two regressions: the idle client freed the memory of a frame that was still
 * being skipped; and a frame nested deeper than depth_max by more than one
 * level was a protocol error. */
TEST a_push_over_a_limit_may_stop_in_the_middle_and_go_on(void)
{
    relet_config c = t_config_tight();
    t_peer p;

    c.tape_max = 4096;
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    t_say(&p, ">1\r\n");
    t_say_many(&p, 40, "*1\r\n");
    t_pass(&p, 15000);
    T_TOOK(&p, "PING");
    t_say(&p, ":1\r\n+PONG\r\n");
    T_TOLD(&p, "gap");
    t_pass(&p, 15000);
    T_TOOK(&p, "PING");
    ASSERT_EQ(1, relet_is_up(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST commands_over_output_max_are_refused(void)
{
    relet_config c = t_config();
    char big[2000];
    t_peer p;

    c.output_max = 1024;
    memset(big, 'x', sizeof big);
    big[1100] = '\0';
    ASSERT(t_start_with(&p, &c));
    ASSERT_EQ(RELET_E_REFUSED, t_ask(&p, 1, 0, "GET", big));
    ASSERT_STR_EQ("the command is larger than output_max",
                  relet_refusal(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST output_max_holds_what_is_queued(void)
{
    relet_config c = t_config();
    char big[500];
    t_peer p;

    c.output_max = 1024;
    memset(big, 'x', sizeof big);
    big[400] = '\0';
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    p.accept = 0;
    ASSERT_EQ(0, t_ask(&p, 1, 0, "ECHO", big));
    ASSERT_EQ(0, t_ask(&p, 2, 0, "ECHO", big));
    ASSERT_EQ(RELET_E_LIMIT, t_ask(&p, 3, 0, "ECHO", big));
    ASSERT_EQ(2, relet_outstanding(p.r));
    p.accept = (size_t)-1;
    t_move(&p);
    ASSERT_EQ(0, t_ask(&p, 3, 0, "ECHO", big));
    p.honest = 1;
    t_move(&p);
    ASSERT_EQ(0, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST output_max_holds_what_may_be_repeated_until_it_is_answered(void)
{
    relet_config c = t_config();
    char big[500];
    t_peer p;

    c.output_max = 1024;
    memset(big, 'x', sizeof big);
    big[400] = '\0';
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    ASSERT_EQ(0, t_ask(&p, 1, RELET_REPEATABLE, "ECHO", big));
    ASSERT_EQ(0, t_ask(&p, 2, RELET_REPEATABLE, "ECHO", big));
    t_move(&p);
    ASSERT_EQ(RELET_E_LIMIT, t_ask(&p, 3, 0, "ECHO", big));
    p.honest = 1;
    t_move(&p);
    ASSERT_EQ(0, t_ask(&p, 3, 0, "ECHO", big));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST operations_max_holds_until_outcomes_are_taken(void)
{
    relet_config c = t_config();
    uint64_t i;
    t_peer p;

    c.operations_max = 5;
    ASSERT(t_start_with(&p, &c));
    ASSERT(t_up(&p));
    for (i = 0; i < 5; i++)
        ASSERT_EQ(0, t_ask(&p, i, 0, "GET", "k"));
    ASSERT_EQ(RELET_E_LIMIT, t_ask(&p, 9, 0, "GET", "k"));
    ASSERT_EQ(1, relet_cancel(p.r, 3));
    ASSERT_EQ(RELET_E_LIMIT, t_ask(&p, 9, 0, "GET", "k"));
    t_move(&p);
    ASSERT_EQ(0, t_ask(&p, 9, 0, "GET", "k"));
    ASSERT_EQ(RELET_E_LIMIT, t_ask(&p, 10, 0, "GET", "k"));
    p.honest = 1;
    t_move(&p);
    for (i = 0; i < 5; i++)
        ASSERT_EQ(0, t_ask(&p, i, 0, "GET", "k"));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST nothing_is_read_while_events_wait(void)
{
    uint8_t *to = NULL;
    relet_stats s;
    t_peer p;
    int i;

    t_start(&p);
    ASSERT(t_up(&p));
    p.manual = 1;
    for (i = 0; i < 60; i++)
        ASSERT_EQ(0, t_ask(&p, 1, 0, "GET", "k"));
    t_move(&p);
    for (i = 0; i < 60; i++) {
        t_say(&p, "$1000\r\n");
        t_say_many(&p, 100, "0123456789");
        t_say(&p, "\r\n");
    }
    t_move(&p);
    relet_stats_get(p.r, &s);
    ASSERT_EQ(0, relet_io_space(p.r, 0, &to));
    ASSERT(t_bytes_used(&p.in) > 40000);
    ASSERT(s.memory_peak < 6000);
    p.manual = 0;
    t_move(&p);
    ASSERT_EQ(0, t_bytes_used(&p.in));
    ASSERT_EQ(0, relet_outstanding(p.r));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------------------ memory */

TEST without_an_allocator_nothing_is_allocated(void)
{
    t_peer p;

    if (!t_fixed)
        SKIPm("only in fixed memory");
    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    (void)t_ask(&p, 1, RELET_REPEATABLE, "GET", "k");
    (void)t_unit(&p, 2, 0, "x", "y");
    (void)t_wish(&p, RELET_CHANNEL, "a");
    t_pass(&p, 100000);
    ASSERT_EQ(0, p.heap.calls);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST the_small_configuration_takes_eight_kib(void)
{
    relet_config c;
    char value[900], line[900];
    t_peer p;
    int fixed = t_fixed;

    relet_config_init_small(&c);
    memcpy(c.host, "peer", sizeof "peer");
    t_fixed = 1;
    ASSERT(t_start_with(&p, &c));
    t_fixed = fixed;
    ASSERT(p.size <= 8192 || sizeof(void *) > 8);
    ASSERT(t_up(&p));
    p.honest = 1;
    memset(value, 'x', sizeof value);
    value[700] = '\0';
    ASSERT_EQ(0, t_ask(&p, 1, RELET_REPEATABLE, "GET", value));
    t_move(&p);
    sprintf(line, "reply 1 \"%.256s...700\"", value);
    T_TOLD(&p, line);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    T_TOLD(&p, "subscribed channel a");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_block_that_is_too_small_is_refused(void)
{
    relet_config c = t_config();
    relet_fault fault;
    size_t size = relet_size(&c);
    void *block = malloc(size);

    ASSERT(block != NULL);
    ASSERT_EQ(NULL, relet_init(block, size - 1, &c, &fault));
    ASSERT_EQ(RELET_E_MEMORY, fault.code);
    ASSERT_EQ(NULL, relet_init(NULL, size, &c, NULL));
    c.port = 0;
    ASSERT_EQ(0, relet_size(&c));
    ASSERT_EQ(NULL, relet_init(block, size, &c, &fault));
    ASSERT_EQ(RELET_E_CONFIG, fault.code);
    free(block);
    PASS();
}

TEST memory_is_given_back_when_idle(void)
{
    static char big[6000];
    relet_stats s;
    size_t rest;
    t_peer p;

    if (t_fixed)
        SKIPm("only with an allocator");
    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    t_pass(&p, 15000);
    relet_stats_get(p.r, &s);
    rest = s.memory;
    memset(big, 'x', sizeof big - 1);
    (void)t_ask(&p, 1, RELET_REPEATABLE, "ECHO", big);
    t_move(&p);
    relet_stats_get(p.r, &s);
    ASSERT(s.memory > rest + 10000);
    t_pass(&p, 15000);
    relet_stats_get(p.r, &s);
    ASSERT(s.memory <= rest + 64); /* the size of a read may differ  */
    ASSERT(rest <= 4096);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST what_an_event_lends_is_overwritten_after_the_loan(void)
{
#ifdef RELET_TINY
    const char *text;
    relet_event ev;
    t_peer p;

    if (!t_fixed)
        SKIPm("elsewhere it is freed, too");
    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, 0, "GET", "k");
    t_move(&p);
    p.manual = 1;
    t_say(&p, "$6\r\nabcdef\r\n");
    t_move(&p);
    ASSERT_EQ(1, relet_next(p.r, &ev));
    text = relet_value_text(ev.value).p;
    ASSERT_MEM_EQ("abcdef", text, 6);
    ASSERT_EQ(0, relet_next(p.r, &ev));
    ASSERT(memcmp("abcdef", text, 6) != 0);
    ASSERT_EQ(0, t_end(&p));
    PASS();
#else
    SKIPm("only in the hostile build");
#endif
}

TEST submitting_does_not_end_a_loan(void)
{
    relet_event ev;
    t_peer p;
    int i;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, 0, "GET", "k");
    t_move(&p);
    p.manual = 1;
    t_say(&p, "*2\r\n$6\r\nabcdef\r\n:5\r\n");
    t_move(&p);
    ASSERT_EQ(1, relet_next(p.r, &ev));
    for (i = 0; i < 60; i++)
        (void)t_ask(&p, 2, RELET_REPEATABLE, "GET", "other words");
    (void)t_wish(&p, RELET_CHANNEL, "a");
    (void)relet_cancel(p.r, 2);
    ASSERT_MEM_EQ("abcdef",
                  relet_value_text(relet_value_at(ev.value, 0)).p, 6);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ---------------------------------------------------------- anything at all */

#define T_TOKENS 4000

typedef struct t_book {
    uint8_t ran[T_TOKENS];   /* how often the peer ran it                    */
    uint8_t ended[T_TOKENS]; /* outcomes                                     */
    uint8_t flags[T_TOKENS];
    int wrong;
} t_book;

static long t_number(relet_span s)
{
    long v = 0;
    size_t i;

    for (i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
        v = v * 10 + (s.p[i] - '0');
    return v;
}

static int t_book_ran(t_peer *p, const t_words *w)
{
    t_book *book = (t_book *)p->user;

    if (t_is(w, 0, "ECHO"))
        book->ran[t_number(w->word[1])]++;
    return 0;
}

static void t_book_reply(t_book *book, const relet_event *ev)
{
    relet_value v = ev->value;

    if (relet_value_type(v) == RELET_T_ARRAY)
        v = relet_value_first(v);
    if (t_number(relet_value_text(v)) != (long)ev->tag ||
        book->ran[ev->tag] == 0)
        book->wrong = 1;
}

static void t_book_event(t_book *book, const relet_event *ev)
{
    if (ev->kind == RELET_EV_REPLY)
        t_book_reply(book, ev);
    if (ev->kind == RELET_EV_NOT_SENT)
        book->wrong |= book->ran[ev->tag] != 0;
    if (t_is_outcome(ev->kind))
        book->ended[ev->tag]++;
}

static void t_book_step(t_peer *p, t_book *book, uint64_t *tag)
{
    char text[16];
    unsigned flags = t_below(2) ? RELET_REPEATABLE : 0;

    sprintf(text, "%lu", (unsigned long)*tag);
    switch (t_below(12)) {
    case 0:
    case 1:
    case 2:
        book->flags[*tag] = (uint8_t)flags;
        *tag += t_ask(p, *tag, flags, "ECHO", text) == 0;
        return;
    case 3:
        *tag += t_ask_within(p, *tag, 1 + t_below(300), "ECHO", text) == 0;
        return;
    case 4:
        book->flags[*tag] = (uint8_t)flags;
        *tag += t_unit(p, *tag, flags, text, "0") == 0;
        return;
    case 5:
        (void)relet_cancel(p->r, *tag - 1 - t_below(10));
        return;
    case 6:
        if (t_below(6) == 0 && p->open) {
            t_link_gone(p);
            relet_io_closed(p->r, 0, 1, "reset");
        }
        return;
    case 7:
        p->now += t_below(200);
        return;
    case 8:
        p->accept = t_below(3) ? (size_t)-1 : t_below(60);
        return;
    case 9:
        p->give = t_below(3) ? (size_t)-1 : t_below(40);
        return;
    case 10:
        p->server.busy += t_below(8) == 0;
        return;
    default:
        p->honest = t_below(3) > 0;
        return;
    }
}

static void t_book_drive(t_peer *p, t_book *book, int turns)
{
    relet_event ev;

    p->manual = 1;
    while (turns-- > 0) {
        (void)t_turn(p);
        while (relet_next(p->r, &ev))
            t_book_event(book, &ev);
    }
}

TEST whatever_happens_each_reply_belongs_to_its_command(void)
{
    static t_book book;
    uint32_t seed;
    uint64_t i;

    for (seed = 1; seed <= 150; seed++) {
        uint64_t tag = 100;
        t_peer p;
        int step;

        memset(&book, 0, sizeof book);
        t_seed = seed;
        t_start(&p);
        p.user = &book;
        p.answer = t_book_ran;
        for (step = 0; step < 600; step++) {
            t_book_step(&p, &book, &tag);
            t_book_drive(&p, &book, (int)t_below(4));
        }
        p.honest = 1;
        p.accept = p.give = (size_t)-1;
        t_book_drive(&p, &book, 100);
        for (step = 0; step < 200; step++) {
            p.now += 500;
            t_book_drive(&p, &book, 100);
        }
        ASSERT_EQ(0, book.wrong);
        for (i = 100; i < tag; i++) {
            ASSERT_EQ(1, book.ended[i]);
            ASSERT(book.flags[i] || book.ran[i] <= 1);
        }
        ASSERT_EQ(0, relet_outstanding(p.r));
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

static SUITE(client)
{
    RUN_TEST(answers_come_in_the_order_of_submission);
    RUN_TEST(operations_wait_for_a_link);
    RUN_TEST(the_stats_count_what_happened);
    RUN_TEST(fail_fast_refuses_what_would_have_to_wait);
    RUN_TEST(what_may_not_go_over_a_shared_link_is_refused);
    RUN_TEST(words_beyond_sixty_four_are_refused);
    RUN_TEST(what_was_not_sent_is_sent_over_the_next_link);
    RUN_TEST(what_was_partly_sent_is_sent_whole_over_the_next_link);
    RUN_TEST(what_was_sent_is_unsure_when_the_link_breaks);
    RUN_TEST(what_was_sent_and_is_repeatable_is_sent_again);
    RUN_TEST(a_watched_transaction_is_never_sent_without_its_watch);
    RUN_TEST(what_goes_again_goes_in_order);
    RUN_TEST(a_transaction_cut_off_between_its_answers_is_answered_rightly);
    RUN_TEST(what_was_sent_once_can_never_end_not_sent);
    RUN_TEST(a_late_answer_does_not_shift_the_next_one);
    RUN_TEST(a_timeout_counts_from_the_first_tick);
    RUN_TEST(a_timeout_of_what_was_not_sent_takes_its_bytes_away);
    RUN_TEST(a_cancel_of_what_was_not_sent_takes_exactly_its_bytes_away);
    RUN_TEST(a_cancel_in_the_middle_of_a_write_lets_the_rest_of_it_out);
    RUN_TEST(a_timeout_in_the_middle_of_a_write_lets_the_rest_of_it_out);
    RUN_TEST(a_cancelled_operation_cut_off_by_a_break_does_not_come_back);
    RUN_TEST(cancel_ends_every_operation_of_the_tag);
    RUN_TEST(what_ended_unsent_makes_room_behind_one_that_waits);
    RUN_TEST(a_transaction_has_one_outcome);
    RUN_TEST(an_aborted_transaction_tells_the_first_refusal);
    RUN_TEST(an_exec_without_multi_is_told_as_it_is);
    RUN_TEST(a_refusal_in_a_cut_off_transaction_is_not_told_of_the_next);
    RUN_TEST(a_changed_key_gives_null);
    RUN_TEST(a_transaction_after_a_lost_watch_is_refused_once);
    RUN_TEST(unwatch_ends_the_watch);
    RUN_TEST(a_transaction_ends_the_watch);
    RUN_TEST(a_watch_in_the_queue_is_remembered_over_a_failed_attempt);
    RUN_TEST(an_unsent_watch_does_not_survive_its_transaction);
    RUN_TEST(a_transaction_ends_with_its_watch_that_is_cancelled_unsent);
    RUN_TEST(a_transaction_ends_with_its_watch_that_is_not_sent_in_time);
    RUN_TEST(a_transaction_ends_with_any_of_several_watches);
    RUN_TEST(a_cancel_counts_the_watch_and_its_transaction_of_one_tag);
    RUN_TEST(a_transaction_behind_a_cancelled_watch_is_refused_once);
    RUN_TEST(a_watch_begins_anew_once_the_loss_is_told);
    RUN_TEST(a_watch_before_an_unwatch_takes_no_transaction_with_it);
    RUN_TEST(a_watch_of_a_refused_transaction_takes_no_other_with_it);
    RUN_TEST(a_watch_takes_no_transaction_but_its_own_with_it);
    RUN_TEST(a_transaction_is_not_sent_behind_a_refused_watch);
    RUN_TEST(a_transaction_is_not_sent_behind_a_watch_refused_late);
    RUN_TEST(a_transaction_sent_before_its_watch_was_refused_runs);
    RUN_TEST(a_transaction_is_not_sent_again_behind_a_watch);
    RUN_TEST(an_unwatch_is_not_sent_again_behind_a_watch);
    RUN_TEST(a_transaction_may_be_answered_before_all_of_it_is_sent);
    RUN_TEST(an_answer_to_what_is_partly_sent_is_a_stray_one);
    RUN_TEST(cached_without_optin_is_refused_by_name);
    RUN_TEST(cached_is_for_commands_and_scripts_alone);
    RUN_TEST(cached_puts_client_caching_directly_in_front);
    RUN_TEST(a_refused_caching_ends_its_read_in_an_error_and_shifts_no_answer);
    RUN_TEST(a_caching_answered_over_a_limit_ends_its_read_in_an_error);
    RUN_TEST(a_busy_caching_is_waited_out_with_its_read_when_that_may_be_repeated);
    RUN_TEST(a_read_that_ran_behind_a_busy_caching_never_ends_not_sent);
    RUN_TEST(a_cached_read_cut_off_between_its_answers_is_answered_rightly);
    RUN_TEST(busy_is_told_of_what_may_not_be_repeated);
    RUN_TEST(what_may_be_repeated_is_repeated_until_the_server_is_free);
    RUN_TEST(nothing_goes_out_while_a_busy_server_is_left_alone);
    RUN_TEST(a_busy_server_is_asked_less_and_less_often);
    RUN_TEST(many_commands_that_a_busy_server_refuses_are_one_wait);
    RUN_TEST(a_server_that_was_busy_once_is_asked_soon_the_next_time);
    RUN_TEST(a_busy_operation_still_ends_with_its_time);
    RUN_TEST(a_repeatable_transaction_is_repeated_when_busy_was_inside);
    RUN_TEST(a_watched_transaction_is_not_repeated_when_busy_was_inside);
    RUN_TEST(an_idle_link_that_was_busy_is_still_found_dead);
    RUN_TEST(a_push_may_stand_anywhere);
    RUN_TEST(a_push_may_stand_in_the_greeting);
    RUN_TEST(an_answer_over_a_limit_is_an_error_of_that_operation_alone);
    RUN_TEST(
        a_transaction_is_not_sent_behind_a_watch_with_an_answer_over_a_limit);
    RUN_TEST(an_answer_over_a_limit_inside_a_transaction_shifts_nothing);
    RUN_TEST(a_late_answer_over_a_limit_is_swallowed);
    RUN_TEST(a_push_over_a_limit_is_a_gap);
    RUN_TEST(a_push_inside_an_answer_over_a_limit_is_a_gap);
    RUN_TEST(a_push_over_a_limit_may_stop_in_the_middle_and_go_on);
    RUN_TEST(commands_over_output_max_are_refused);
    RUN_TEST(output_max_holds_what_is_queued);
    RUN_TEST(output_max_holds_what_may_be_repeated_until_it_is_answered);
    RUN_TEST(operations_max_holds_until_outcomes_are_taken);
    RUN_TEST(nothing_is_read_while_events_wait);
    RUN_TEST(without_an_allocator_nothing_is_allocated);
    RUN_TEST(the_small_configuration_takes_eight_kib);
    RUN_TEST(a_block_that_is_too_small_is_refused);
    RUN_TEST(memory_is_given_back_when_idle);
    RUN_TEST(what_an_event_lends_is_overwritten_after_the_loan);
    RUN_TEST(submitting_does_not_end_a_loan);
    RUN_TEST(whatever_happens_each_reply_belongs_to_its_command);
}

T_MAIN(client)
