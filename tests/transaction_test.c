/* SPDX-License-Identifier: MIT
 *
 * transaction_test.c - tests of transactions: their single outcome, and the
 * WATCH that guards them or has lost its effect. */
#include "peer.h"

#include "greatest.h"

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
    p.accept = strlen(T_WATCH_K);
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

/* ------------------------------------------- a WATCH that is not in force */

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

static SUITE(transaction)
{
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
}

T_MAIN(transaction)
