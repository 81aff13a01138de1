/* SPDX-License-Identifier: MIT
 *
 * broken_link_test.c - tests of the outcomes of operations whose link breaks.
 *
 * The outcome depends on the kind of operation and on how much of it had been
 * sent when the link broke. */
#include "peer.h"

#include "greatest.h"

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

/* Submits an operation, sends how_much of it, and breaks the link. *sent
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

TEST an_unsent_operation_goes_out_over_the_next_link(void)
{
    T_GOES_AGAIN(T_PLAIN, T_NONE, "+v\r\n", "reply 9 \"v\"");
    T_GOES_AGAIN(T_REPEATABLE, T_NONE, "+v\r\n", "reply 9 \"v\"");
    T_GOES_AGAIN(T_UNIT, T_NONE, T_EXEC_SAYS, "reply 9 [\"x\" \"y\"]");
    T_GOES_AGAIN(T_SCRIPT, T_NONE, "+v\r\n", "reply 9 \"v\"");
    PASS();
}

TEST a_partly_sent_operation_goes_out_whole_over_the_next_link(void)
{
    T_GOES_AGAIN(T_PLAIN, T_PART, "+v\r\n", "reply 9 \"v\"");
    T_GOES_AGAIN(T_REPEATABLE, T_PART, "+v\r\n", "reply 9 \"v\"");
    T_GOES_AGAIN(T_UNIT, T_PART, T_EXEC_SAYS, "reply 9 [\"x\" \"y\"]");
    T_GOES_AGAIN(T_SCRIPT, T_PART, "+v\r\n", "reply 9 \"v\"");
    PASS();
}

TEST a_sent_operation_ends_unsure_when_the_link_breaks(void)
{
    T_ENDS(T_PLAIN, T_WHOLE, "unsure 9 broken");
    T_ENDS(T_UNIT, T_WHOLE, "unsure 9 broken");
    T_ENDS(T_SCRIPT, T_WHOLE, "unsure 9 broken");
    T_ENDS(T_WATCHED, T_WHOLE, "unsure 9 broken");
    T_ENDS(T_WATCHED_REPEATABLE, T_WHOLE, "unsure 9 broken");
    PASS();
}

TEST a_sent_repeatable_operation_goes_out_again_after_a_break(void)
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

TEST repeated_operations_go_out_in_their_order(void)
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

TEST an_operation_sent_once_never_ends_not_sent(void)
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

static SUITE(broken_link)
{
    RUN_TEST(an_unsent_operation_goes_out_over_the_next_link);
    RUN_TEST(a_partly_sent_operation_goes_out_whole_over_the_next_link);
    RUN_TEST(a_sent_operation_ends_unsure_when_the_link_breaks);
    RUN_TEST(a_sent_repeatable_operation_goes_out_again_after_a_break);
    RUN_TEST(a_watched_transaction_is_never_sent_without_its_watch);
    RUN_TEST(repeated_operations_go_out_in_their_order);
    RUN_TEST(a_transaction_cut_off_between_its_answers_is_answered_rightly);
    RUN_TEST(an_operation_sent_once_never_ends_not_sent);
}

T_MAIN(broken_link)
