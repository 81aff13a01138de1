/* SPDX-License-Identifier: MIT
 *
 * client_test.c - tests of the outcomes of operations: answers, timeouts,
 * cancels, pushes between answers, and random conversations. */
#include "peer.h"

#include "greatest.h"
#include "outcome.h"

/* ------------------------------------------------------------------ answers */

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

TEST the_stats_count_each_kind_of_outcome(void)
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

TEST fail_fast_refuses_a_command_while_there_is_no_link(void)
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

TEST a_command_not_allowed_on_a_shared_link_is_refused(void)
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

TEST an_answer_to_a_partly_sent_command_is_a_stray_answer(void)
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

TEST a_timeout_of_an_unsent_command_removes_its_bytes(void)
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

TEST a_cancel_of_an_unsent_operation_removes_its_bytes_alone(void)
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
TEST operations_ended_unsent_free_their_places_behind_a_waiting_one(void)
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

TEST a_push_may_arrive_during_the_handshake(void)
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

/* ----------------------------------------------------- random conversations */

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

TEST each_reply_belongs_to_its_command_in_random_runs(void)
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
    RUN_TEST(the_stats_count_each_kind_of_outcome);
    RUN_TEST(fail_fast_refuses_a_command_while_there_is_no_link);
    RUN_TEST(a_command_not_allowed_on_a_shared_link_is_refused);
    RUN_TEST(words_beyond_sixty_four_are_refused);
    RUN_TEST(a_late_answer_does_not_shift_the_next_one);
    RUN_TEST(a_timeout_counts_from_the_first_tick);
    RUN_TEST(a_timeout_of_an_unsent_command_removes_its_bytes);
    RUN_TEST(a_cancel_of_an_unsent_operation_removes_its_bytes_alone);
    RUN_TEST(a_cancel_in_the_middle_of_a_write_lets_the_rest_of_it_out);
    RUN_TEST(a_timeout_in_the_middle_of_a_write_lets_the_rest_of_it_out);
    RUN_TEST(a_cancelled_operation_cut_off_by_a_break_does_not_come_back);
    RUN_TEST(cancel_ends_every_operation_of_the_tag);
    RUN_TEST(operations_ended_unsent_free_their_places_behind_a_waiting_one);
    RUN_TEST(an_answer_to_a_partly_sent_command_is_a_stray_answer);
    RUN_TEST(a_push_may_stand_anywhere);
    RUN_TEST(a_push_may_arrive_during_the_handshake);
    RUN_TEST(each_reply_belongs_to_its_command_in_random_runs);
}

T_MAIN(client)
