/* SPDX-License-Identifier: MIT
 *
 * queue_test.c - the heap of due events gives them back in order. */
#include "greatest.h"
#include "queue.h"

static sim_due due(int64_t at_us, uint64_t tie, int whom)
{
    sim_due d = {0, 0, 0, 0, 0, 0};

    d.at_us = at_us;
    d.tie = tie;
    d.whom = whom;
    return d;
}

TEST an_empty_queue_has_nothing(void)
{
    sim_queue q = {NULL, 0, 0, 0};
    sim_due d;

    ASSERT_EQ(0, sim_queue_take(&q, &d));
    PASS();
}

TEST the_earliest_comes_first(void)
{
    sim_queue q = {NULL, 0, 0, 0};
    sim_due d;
    int64_t last = -1;
    uint32_t x = 1;
    int i;

    for (i = 0; i < 1000; i++) {
        x = x * 1664525u + 1013904223u;
        sim_queue_put(&q, due(x >> 20, 0, i));
    }
    for (i = 0; i < 1000; i++) {
        ASSERT_EQ(1, sim_queue_take(&q, &d));
        ASSERT(d.at_us >= last);
        last = d.at_us;
    }
    ASSERT_EQ(0, sim_queue_take(&q, &d));
    sim_queue_free(&q);
    PASS();
}

TEST on_the_same_instant_the_tie_decides(void)
{
    sim_queue q = {NULL, 0, 0, 0};
    sim_due d;

    sim_queue_put(&q, due(5, 9, 1));
    sim_queue_put(&q, due(5, 3, 2));
    sim_queue_put(&q, due(4, 99, 3));
    ASSERT(sim_queue_take(&q, &d) && d.whom == 3);
    ASSERT(sim_queue_take(&q, &d) && d.whom == 2);
    ASSERT(sim_queue_take(&q, &d) && d.whom == 1);
    sim_queue_free(&q);
    PASS();
}

TEST equal_entries_come_in_the_order_they_were_put(void)
{
    sim_queue q = {NULL, 0, 0, 0};
    sim_due d;
    int i;

    for (i = 0; i < 300; i++)
        sim_queue_put(&q, due(7, 7, i));
    for (i = 0; i < 300; i++)
        ASSERT(sim_queue_take(&q, &d) && d.whom == i);
    sim_queue_free(&q);
    PASS();
}

TEST a_cleared_queue_begins_again(void)
{
    sim_queue q = {NULL, 0, 0, 0};
    sim_due d;

    sim_queue_put(&q, due(1, 1, 1));
    sim_queue_clear(&q);
    ASSERT_EQ(0, sim_queue_take(&q, &d));
    sim_queue_put(&q, due(2, 1, 2));
    ASSERT(sim_queue_take(&q, &d) && d.whom == 2 && d.seq == 0);
    sim_queue_free(&q);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(an_empty_queue_has_nothing);
    RUN_TEST(the_earliest_comes_first);
    RUN_TEST(on_the_same_instant_the_tie_decides);
    RUN_TEST(equal_entries_come_in_the_order_they_were_put);
    RUN_TEST(a_cleared_queue_begins_again);
    GREATEST_MAIN_END();
}
