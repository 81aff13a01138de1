/* SPDX-License-Identifier: MIT
 *
 * heap_test.c - deadlines in order, the earliest first.
 */

#include "heap.h"

#include "greatest.h"

#define T_ITEMS 50

typedef struct t_world {
    rlt_heap heap;
    rlt_heap_item *places[T_ITEMS];
    rlt_heap_item items[T_ITEMS];
} t_world;

static t_world *t_start(void)
{
    static t_world w;

    memset(&w, 0, sizeof w);
    rlt_heap_init(&w.heap, w.places, T_ITEMS);
    return &w;
}

static uint32_t t_state;

static uint32_t t_below(uint32_t n)
{
    t_state = t_state * 1664525u + 1013904223u;
    return (t_state >> 8) % n;
}

/* The earliest by looking at all of them. */
static const rlt_heap_item *t_earliest(const t_world *w)
{
    const rlt_heap_item *best = NULL;
    int i;

    for (i = 0; i < T_ITEMS; i++)
        if (w->items[i].place != 0)
            if (best == NULL || w->items[i].at < best->at)
                best = &w->items[i];
    return best;
}

TEST an_empty_heap_has_no_first(void)
{
    ASSERT_EQ(NULL, rlt_heap_first(&t_start()->heap));
    PASS();
}

TEST deadlines_leave_in_order(void)
{
    t_world *w = t_start();
    relet_time last = INT64_MIN;
    int i;

    t_state = 1;
    for (i = 0; i < T_ITEMS; i++)
        rlt_heap_insert(&w->heap, &w->items[i], (relet_time)t_below(20) - 10);
    for (i = 0; i < T_ITEMS; i++) {
        rlt_heap_item *first = rlt_heap_first(&w->heap);

        ASSERT(first->at >= last);
        last = first->at;
        rlt_heap_remove(&w->heap, first);
        ASSERT_EQ(0, first->place);
    }
    ASSERT_EQ(NULL, rlt_heap_first(&w->heap));
    PASS();
}

TEST an_item_that_left_may_come_back(void)
{
    t_world *w = t_start();

    rlt_heap_insert(&w->heap, &w->items[0], 5);
    rlt_heap_remove(&w->heap, &w->items[0]);
    rlt_heap_insert(&w->heap, &w->items[0], RELET_NEVER);
    ASSERT_EQ(&w->items[0], rlt_heap_first(&w->heap));
    ASSERT_EQ(RELET_NEVER, w->items[0].at);
    PASS();
}

TEST a_moved_deadline_finds_its_new_place(void)
{
    t_world *w = t_start();
    int i;

    for (i = 0; i < 7; i++)
        rlt_heap_insert(&w->heap, &w->items[i], i);
    rlt_heap_move(&w->heap, &w->items[0], 10);
    ASSERT_EQ(&w->items[1], rlt_heap_first(&w->heap));
    rlt_heap_move(&w->heap, &w->items[6], -1);
    ASSERT_EQ(&w->items[6], rlt_heap_first(&w->heap));
    rlt_heap_move(&w->heap, &w->items[6], -1);
    ASSERT_EQ(&w->items[6], rlt_heap_first(&w->heap));
    PASS();
}

/* The last item, put where another one left, may have to rise: that one may
 * have stood under a later parent. */
TEST removing_from_another_branch_keeps_the_order(void)
{
    static const relet_time at[] = {0, 10, 1, 11, 12, 2, 3};
    t_world *w = t_start();
    int i;

    for (i = 0; i < 7; i++)
        rlt_heap_insert(&w->heap, &w->items[i], at[i]);
    rlt_heap_remove(&w->heap, &w->items[3]);
    rlt_heap_remove(&w->heap, &w->items[0]);
    rlt_heap_remove(&w->heap, &w->items[2]);
    rlt_heap_remove(&w->heap, &w->items[5]);
    ASSERT_EQ(&w->items[6], rlt_heap_first(&w->heap));
    PASS();
}

TEST the_first_is_the_earliest_after_any_history(void)
{
    t_world *w = t_start();
    rlt_heap_item *item;
    uint32_t inside = 0, place;
    int step;

    t_state = 7;
    for (step = 0; step < 20000; step++) {
        item = &w->items[t_below(T_ITEMS)];
        if (item->place == 0) {
            rlt_heap_insert(&w->heap, item, t_below(40));
            inside++;
        } else if (t_below(3) == 0) {
            rlt_heap_remove(&w->heap, item);
            inside--;
        } else {
            rlt_heap_move(&w->heap, item, t_below(40));
        }
        ASSERT_EQ(inside, w->heap.n);
        for (place = 1; place <= inside; place++)
            ASSERT_EQ(place, w->places[place - 1]->place);
        if (inside > 0)
            ASSERT_EQ(t_earliest(w)->at, rlt_heap_first(&w->heap)->at);
    }
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(an_empty_heap_has_no_first);
    RUN_TEST(deadlines_leave_in_order);
    RUN_TEST(an_item_that_left_may_come_back);
    RUN_TEST(a_moved_deadline_finds_its_new_place);
    RUN_TEST(removing_from_another_branch_keeps_the_order);
    RUN_TEST(the_first_is_the_earliest_after_any_history);
    GREATEST_MAIN_END();
}
