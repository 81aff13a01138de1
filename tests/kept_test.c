/* SPDX-License-Identifier: MIT
 *
 * kept_test.c - tests of events that are kept while the user waits for another
 * one: their order, their values, the memory that they take. */
#include "peer.h"

#include "kept.h"
#include "greatest.h"

/* -------------------------------------------------------------- the waiting */

static rlt_wanted t_wanted(relet_kind kind, uint64_t tag, int number)
{
    rlt_wanted w;

    w.kind = kind;
    w.tag = tag;
    w.number = number;
    return w;
}

/* Waits as the driver does, until nothing moves. */
static int t_wait_for(t_peer *p, rlt_wanted w, relet_event *ev)
{
    int code = rlt_await_begin(p->r, &w, ev), still = 0, moved;

    while (code == 0 && still < 3) {
        moved = t_turn(p);
        code = rlt_await_next(p->r, &w, ev);
        still = moved ? 0 : still + 1;
    }
    return code;
}

static int t_await(t_peer *p, uint64_t tag, relet_event *ev)
{
    return t_wait_for(p, t_wanted(RELET_EV_REPLY, tag, -1), ev);
}

/* Writes the awaited event to the log, in front of what follows. */
static int t_awaits(t_peer *p, uint64_t tag)
{
    relet_event ev;
    int code = t_await(p, tag, &ev);

    if (code == 1)
        t_log(p, &ev);
    return code;
}

/* The log gets every event that there is. */
static void t_take_all(t_peer *p)
{
    p->manual = 0;
    t_move(p);
    p->manual = 1;
}

static void t_begin_with(t_peer *p, const relet_config *c)
{
    if (!t_start_with(p, c) || !t_up(p))
        t_die("the client is not up");
    p->manual = 1;
}

static void t_begin(t_peer *p)
{
    relet_config c = t_config();

    c.leases_max = 2;
    t_begin_with(p, &c);
}

#define T_NEXT(p, expected) ASSERT_STR_EQ(expected, t_told(p))

/* ------------------------------------------------------------ order, values */

TEST the_other_events_come_in_their_order(void)
{
    t_peer p;
    uint64_t i;

    t_begin(&p);
    for (i = 1; i <= 4; i++)
        (void)t_ask(&p, i, 0, "GET", "k");
    t_move(&p);
    t_say(&p, "+a\r\n-ERR b\r\n+c\r\n+d\r\n");
    ASSERT_EQ(1, t_awaits(&p, 3));
    T_NEXT(&p, "reply 3 \"c\"");
    t_take_all(&p);
    T_NEXT(&p, "reply 1 \"a\"");
    T_NEXT(&p, "error 2 ERR b");
    T_NEXT(&p, "reply 4 \"d\"");
    T_NEXT(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST kept_values_outlive_the_bytes_that_they_came_in(void)
{
    static const char deep[] =
        "|1\r\n+ttl\r\n:9\r\n*4\r\n$3\r\nxyz\r\n%1\r\n+k\r\n*1\r\n#t\r\n_\r\n"
        "=7\r\ntxt:abc\r\n";
    relet_event ev;
    t_peer p;
    int i;

    t_begin(&p);
    (void)t_ask(&p, 1, 0, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "k");
    t_move(&p);
    t_say(&p, deep);
    t_say(&p, "$300\r\n");
    for (i = 0; i < 300; i++)
        t_say(&p, "-");
    t_say(&p, "\r\n");
    ASSERT_EQ(1, t_await(&p, 2, &ev));
    ASSERT_EQ(300, (int)relet_value_text(ev.value).n);
    ASSERT_EQ(1, relet_next(p.r, &ev));
    ASSERT_EQ(0, memcmp(relet_value_format(relet_value_at(ev.value, 3)).p,
                        "txt", 3));
    ASSERT_EQ(RELET_T_INT, relet_value_type(relet_value_get(
                               relet_value_attributes(ev.value), "ttl")));
    t_log(&p, &ev);
    T_NEXT(&p, "reply 1 [\"xyz\" {\"k\" [true]} nil abc]");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST kept_messages_have_their_channel_and_pattern(void)
{
    t_peer p;

    t_begin(&p);
    p.honest = 1;
    (void)t_wish(&p, RELET_CHANNEL, "news");
    (void)t_wish(&p, RELET_PATTERN, "n*");
    t_take_all(&p);
    T_NEXT(&p, "subscribed channel news");
    T_NEXT(&p, "subscribed pattern n*");
    (void)t_ask(&p, 1, 0, "GET", "k");
    t_say(&p, ">3\r\n+message\r\n+news\r\n+hello\r\n");
    t_say(&p, ">4\r\n+pmessage\r\n+n*\r\n+nine\r\n+there\r\n");
    t_say(&p, ">2\r\n+invalidate\r\n*1\r\n+key\r\n>2\r\n+odd\r\n:1\r\n");
    ASSERT_EQ(1, t_awaits(&p, 1));
    t_take_all(&p);
    T_NEXT(&p, "reply 1 \"k\"");
    T_NEXT(&p, "message channel news \"hello\"");
    T_NEXT(&p, "message pattern n* nine \"there\"");
    T_NEXT(&p, "invalidate [\"key\"]");
    T_NEXT(&p, "pushed <\"odd\" 1>");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST an_outcome_that_was_kept_is_awaited_at_once(void)
{
    relet_event ev;
    t_peer p;
    uint64_t i;

    t_begin(&p);
    for (i = 1; i <= 4; i++)
        (void)t_ask(&p, i, 0, "GET", "k");
    t_move(&p);
    t_say(&p, "+a\r\n+b\r\n+c\r\n+d\r\n");
    ASSERT_EQ(1, t_awaits(&p, 4));
    ASSERT_EQ(1, t_awaits(&p, 2));
    ASSERT_EQ(1, t_awaits(&p, 3));
    ASSERT_EQ(RELET_E_REFUSED, t_await(&p, 3, &ev));
    t_take_all(&p);
    T_NEXT(&p, "reply 4 \"d\"");
    T_NEXT(&p, "reply 2 \"b\"");
    T_NEXT(&p, "reply 3 \"c\"");
    T_NEXT(&p, "reply 1 \"a\"");
    T_NEXT(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST outcomes_awaited_in_any_order_use_up_no_room(void)
{
    relet_event ev;
    t_peer p;
    uint64_t i;

    t_begin(&p);
    for (i = 1; i <= 8; i++)
        (void)t_ask(&p, i, 0, "GET", "k");
    t_move(&p);
    t_say(&p, "+a\r\n+b\r\n+c\r\n+d\r\n+e\r\n+f\r\n");
    ASSERT_EQ(1, t_await(&p, 6, &ev));
    for (i = 2; i <= 5; i++)
        ASSERT_EQ(1, t_await(&p, i, &ev));
    t_say(&p, "+g\r\n+h\r\n");
    ASSERT_EQ(1, t_await(&p, 8, &ev));
    ASSERT_EQ(1, t_await(&p, 7, &ev));
    ASSERT_EQ(1, t_await(&p, 1, &ev));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST of_two_operations_with_one_tag_the_first_is_awaited(void)
{
    t_peer p;

    t_begin(&p);
    (void)t_ask(&p, 1, 0, "GET", "k");
    (void)t_ask(&p, 1, 0, "GET", "k");
    t_move(&p);
    t_say(&p, "+a\r\n+b\r\n");
    ASSERT_EQ(1, t_awaits(&p, 1));
    ASSERT_EQ(1, t_awaits(&p, 1));
    T_NEXT(&p, "reply 1 \"a\"");
    T_NEXT(&p, "reply 1 \"b\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------------------ trouble */

TEST an_operation_that_is_not_there_is_not_awaited(void)
{
    relet_event ev;
    t_peer p;

    t_begin(&p);
    (void)t_ask(&p, 1, 0, "GET", "k");
    ASSERT_EQ(RELET_E_REFUSED, t_await(&p, 2, &ev));
    ASSERT_STR_EQ("no operation with this tag waits for its outcome",
                  relet_refusal(p.r));
    ASSERT_EQ(0, t_await(&p, 1, &ev));
    ASSERT_EQ(1, (int)relet_cancel(p.r, 1));
    ASSERT_EQ(1, t_awaits(&p, 1)); /* its outcome has not been taken */
    T_NEXT(&p, "unsure 1 cancelled");
    ASSERT_EQ(RELET_E_REFUSED, t_await(&p, 1, &ev));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST the_outcome_under_a_broken_link_is_unsure(void)
{
    t_peer p;

    t_begin(&p);
    (void)t_ask(&p, 1, 0, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "k");
    t_move(&p);
    t_break(&p);
    ASSERT_EQ(1, t_awaits(&p, 2));
    T_NEXT(&p, "unsure 2 broken");
    t_take_all(&p);
    T_NEXT(&p, "down closed: reset");
    T_NEXT(&p, "unsure 1 broken");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* The event in hand is told next, with the bytes of the link. */
TEST without_memory_the_event_in_hand_is_the_next(void)
{
    relet_event ev;
    t_peer p;
    int i;

    for (i = 0; i < 4; i++) {
        t_begin(&p);
        (void)t_ask(&p, 1, 0, "GET", "k");
        (void)t_ask(&p, 2, 0, "GET", "k");
        t_move(&p);
        t_say(&p, "+a long text\r\n+b\r\n");
        t_move(&p);
        p.heap.fail_at = p.heap.calls + 1 + (uint64_t)i % 2;
        p.heap.fail_on = i / 2;
        ASSERT_EQ(RELET_E_MEMORY, t_await(&p, 2, &ev));
        if (p.heap.fail_on)
            ASSERT_EQ(RELET_E_MEMORY, t_await(&p, 2, &ev));
        ASSERT_EQ(1, relet_next(p.r, &ev));
        t_log(&p, &ev);
        T_NEXT(&p, "reply 1 \"a long text\"");
        p.heap.fail_at = 0;
        ASSERT_EQ(1, t_awaits(&p, 2));
        T_NEXT(&p, "reply 2 \"b\"");
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

TEST an_event_in_hand_is_told_after_a_stop(void)
{
    relet_event ev;
    t_peer p;
    int refused;

    for (refused = 0; refused < 2; refused++) {
        t_begin(&p);
        (void)t_ask(&p, 1, 0, "GET", "k");
        (void)t_ask(&p, 2, 0, "GET", "k");
        t_move(&p);
        t_say(&p, "+a\r\n");
        t_move(&p);
        p.heap.fail_at = p.heap.calls + 2;
        p.heap.fail_on = refused;
        ASSERT_EQ(RELET_E_MEMORY, t_await(&p, 2, &ev));
        relet_stop(p.r);
        p.heap.fail_at = 0;
        t_take_all(&p);
        T_NEXT(&p, refused ? "error 1 memory: no memory to keep it"
                           : "reply 1 \"a\"");
        T_NEXT(&p, "down stopped: stopped");
        T_NEXT(&p, "unsure 2 stopped");
        ASSERT_EQ(0, t_end(&p));
    }
    PASS();
}

/* The bytes of the link are gone then. */
TEST an_event_that_found_no_memory_has_no_value(void)
{
    relet_event ev;
    t_peer p;

    t_begin(&p);
    (void)t_ask(&p, 1, 0, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "k");
    t_move(&p);
    t_say(&p, "+a\r\n");
    t_move(&p);
    p.heap.fail_at = p.heap.calls + 2;
    p.heap.fail_on = 1;
    ASSERT_EQ(RELET_E_MEMORY, t_await(&p, 2, &ev));
    relet_stop(p.r);
    p.heap.fail_at = 0;
    ASSERT_EQ(1, relet_next(p.r, &ev));
    ASSERT_EQ(1, (int)ev.tag);
    ASSERT_EQ(RELET_WHY_MEMORY, ev.why);
    ASSERT(ev.value.node == NULL);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST kept_events_have_a_bound(void)
{
    relet_config c = t_config();
    relet_event ev;
    int code = RELET_E_LIMIT, i, kept = 0;
    t_peer p;

    c.reply_max = 4096;
    c.bulk_max = 1000;
    t_begin_with(&p, &c);
    for (i = 1; i <= 61; i++)
        (void)t_ask(&p, i < 61 ? 1 : 2, 0, "GET", "k");
    t_move(&p);
    for (i = 1; i <= 61; i++)
        t_say(&p, "+a\r\n");
    ASSERT_EQ(RELET_E_LIMIT, t_await(&p, 2, &ev));
    while (code == RELET_E_LIMIT) {
        code = t_await(&p, 2, &ev);
        ASSERT(p.heap.held < 30000);
        while (code != 1 && rlt_kept_any(p.r))
            kept += relet_next(p.r, &ev);
    }
    ASSERT_EQ(1, code);
    ASSERT_EQ(2, (int)ev.tag);
    for (; relet_next(p.r, &ev); kept++)
        ASSERT_EQ(1, (int)ev.tag);
    ASSERT_EQ(60, kept);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_client_of_fixed_memory_keeps_nothing(void)
{
    relet_event ev;
    t_peer p;

    t_fixed = 1;
    t_begin(&p);
    t_fixed = 0;
    (void)t_ask(&p, 1, 0, "GET", "k");
    t_move(&p);
    t_say(&p, "+a\r\n");
    ASSERT_EQ(RELET_E_MEMORY, t_await(&p, 1, &ev));
    t_take_all(&p);
    T_NEXT(&p, "reply 1 \"a\"");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* t_end counts the blocks that were not freed. */
TEST kept_events_are_freed_when_they_were_taken_and_in_the_end(void)
{
    relet_event ev;
    size_t blocks;
    t_peer p;

    t_begin(&p);
    t_move(&p);
    (void)t_ask(&p, 1, 0, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "k");
    t_move(&p);
    t_say(&p, "+a\r\n+b\r\n");
    t_move(&p);
    blocks = p.heap.blocks;
    ASSERT_EQ(1, t_await(&p, 2, &ev));
    ASSERT(p.heap.blocks > blocks);
    t_take_all(&p);
    ASSERT(p.heap.blocks <= blocks);
    (void)t_ask(&p, 1, 0, "GET", "k");
    (void)t_ask(&p, 2, 0, "GET", "k");
    t_move(&p);
    t_say(&p, "+a\r\n+b\r\n");
    ASSERT_EQ(1, t_await(&p, 2, &ev));
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

/* ------------------------------------------------------------------- leases */

static int t_alone(t_peer *p, uint64_t tag)
{
    relet_lease_config c;

    memset(&c, 0, sizeof c);
    c.name = relet_str("n");
    c.tag = tag;
    c.alone = 1;
    return relet_lease_start(p->r, &c);
}

TEST the_end_of_a_lease_leaves_the_events_of_another(void)
{
    relet_event ev;
    t_peer p;

    t_begin(&p);
    p.honest = 1;
    ASSERT_EQ(0, t_alone(&p, 1));
    ASSERT_EQ(1, t_alone(&p, 2));
    (void)t_ask(&p, 9, 0, "GET", "k");
    ASSERT_EQ(1, t_await(&p, 9, &ev));
    (void)relet_lease_stop(p.r, 0);
    ASSERT_EQ(0, t_wait_for(&p, t_wanted(RELET_EV_LEASE_ENDED, 0, 0), &ev));
    (void)relet_lease_work_done(p.r, 0);
    ASSERT_EQ(1, t_wait_for(&p, t_wanted(RELET_EV_LEASE_ENDED, 0, 0), &ev));
    t_log(&p, &ev);
    T_NEXT(&p, "lease ended 1 stopped");
    ASSERT_EQ(RELET_E_REFUSED,
              t_wait_for(&p, t_wanted(RELET_EV_LEASE_ENDED, 0, 0), &ev));
    ASSERT_STR_EQ("there is no such lease", relet_refusal(p.r));
    ASSERT_EQ(RELET_E_REFUSED,
              t_wait_for(&p, t_wanted(RELET_EV_WORKER_ENDED, 0, 0), &ev));
    ASSERT_EQ(0, t_wait_for(&p, t_wanted(RELET_EV_LEASE_ENDED, 0, 1), &ev));
    t_take_all(&p);
    T_NEXT(&p, "lease gained 1");
    T_NEXT(&p, "lease gained 2");
    T_NEXT(&p, "lease lost 1 stopped");
    T_NEXT(&p, "");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST the_number_of_a_lease_is_not_free_while_its_end_is_kept(void)
{
    relet_event ev;
    t_peer p;

    t_begin(&p);
    p.honest = 1;
    ASSERT_EQ(0, t_alone(&p, 1));
    (void)relet_lease_stop(p.r, 0);
    (void)relet_lease_work_done(p.r, 0);
    (void)t_ask(&p, 9, 0, "GET", "k");
    ASSERT_EQ(1, t_await(&p, 9, &ev));
    ASSERT_EQ(RELET_E_REFUSED, relet_lease_stop(p.r, 0));
    ASSERT_EQ(1, t_alone(&p, 2));
    ASSERT_EQ(RELET_E_LIMIT, t_alone(&p, 3));
    ASSERT_EQ(1, t_wait_for(&p, t_wanted(RELET_EV_LEASE_ENDED, 0, 0), &ev));
    ASSERT_EQ(1, (int)ev.tag);
    ASSERT_EQ(0, t_alone(&p, 3));
    t_take_all(&p);
    T_NEXT(&p, "lease gained 3");
    T_NEXT(&p, "lease gained 2");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static SUITE(kept)
{
    RUN_TEST(the_other_events_come_in_their_order);
    RUN_TEST(kept_values_outlive_the_bytes_that_they_came_in);
    RUN_TEST(kept_messages_have_their_channel_and_pattern);
    RUN_TEST(an_outcome_that_was_kept_is_awaited_at_once);
    RUN_TEST(outcomes_awaited_in_any_order_use_up_no_room);
    RUN_TEST(of_two_operations_with_one_tag_the_first_is_awaited);
    RUN_TEST(an_operation_that_is_not_there_is_not_awaited);
    RUN_TEST(the_outcome_under_a_broken_link_is_unsure);
    RUN_TEST(without_memory_the_event_in_hand_is_the_next);
    RUN_TEST(an_event_in_hand_is_told_after_a_stop);
    RUN_TEST(an_event_that_found_no_memory_has_no_value);
    RUN_TEST(kept_events_have_a_bound);
    RUN_TEST(a_client_of_fixed_memory_keeps_nothing);
    RUN_TEST(kept_events_are_freed_when_they_were_taken_and_in_the_end);
    RUN_TEST(the_end_of_a_lease_leaves_the_events_of_another);
    RUN_TEST(the_number_of_a_lease_is_not_free_while_its_end_is_kept);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(kept);
    t_piece = 1;
    RUN_SUITE(kept);
    GREATEST_MAIN_END();
}
