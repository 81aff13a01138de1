/* SPDX-License-Identifier: MIT
 *
 * buf_test.c - tests of the byte queue that grows through the allocator hook.
 */

#include "buf.h"

#include <stdlib.h>

#include "greatest.h"

/* An allocator that moves every block, checks the old sizes, and fails on
 * demand. */
typedef struct t_heap {
    size_t live;  /* bytes lent           */
    int calls;
    int fail_all;
    int wrong;    /* an old size was false */
} t_heap;

static void *t_resize(void *user, void *p, size_t old_size, size_t new_size)
{
    t_heap *h = (t_heap *)user;
    void *q = NULL;

    h->calls++;
    h->wrong |= (p == NULL) != (old_size == 0) || old_size != h->live;
    if (new_size > 0 && h->fail_all)
        return NULL;
    if (new_size > 0) {
        q = malloc(new_size);
        if (q == NULL)
            abort();
        memset(q, 0xEE, new_size);
        if (old_size > 0)
            memcpy(q, p, RLT_MIN(old_size, new_size));
    }
    free(p);
    h->live = new_size;
    return q;
}

static t_heap t_lent;

static rlt_buf t_buf(size_t floor, size_t max)
{
    rlt_memory memory;
    rlt_buf b;

    memset(&t_lent, 0, sizeof t_lent);
    memory.resize = t_resize;
    memory.user = &t_lent;
    rlt_buf_init(&b, memory, NULL, floor, max);
    return b;
}

static rlt_buf t_fixed(void *block, size_t max)
{
    rlt_memory memory = {NULL, NULL};
    rlt_buf b;

    rlt_buf_init(&b, memory, block, 0, max);
    return b;
}

static int t_holds(const rlt_buf *b, const char *text)
{
    return rlt_buf_used(b) == strlen(text) &&
           (*text == '\0' || memcmp(rlt_buf_head(b), text, strlen(text)) == 0);
}

TEST a_buffer_allocates_no_memory_before_its_first_use(void)
{
    rlt_buf b = t_buf(64, 128);

    ASSERT_EQ(0, t_lent.calls);
    ASSERT_EQ(NULL, rlt_buf_head(&b));
    ASSERT_EQ(NULL, rlt_buf_end(&b));
    ASSERT_EQ(0, rlt_buf_put(&b, NULL, 0));
    ASSERT_EQ(0, rlt_buf_reserve(&b, 0));
    rlt_buf_poison_room(&b);
    rlt_buf_free(&b);
    ASSERT_EQ(0, t_lent.calls);
    PASS();
}

TEST the_first_allocation_is_the_floor(void)
{
    rlt_buf b = t_buf(64, 128);

    ASSERT_EQ(0, rlt_buf_put(&b, "a", 1));
    ASSERT_EQ(64, t_lent.live);
    ASSERT_EQ(63, rlt_buf_room(&b));
    rlt_buf_free(&b);
    ASSERT_EQ(0, t_lent.live);
    ASSERT_EQ(0, rlt_buf_used(&b));
    PASS();
}

TEST bytes_come_out_as_they_went_in(void)
{
    rlt_buf b = t_buf(4, 1000);

    ASSERT_EQ(0, rlt_buf_put(&b, "hello", 5));
    ASSERT_EQ(0, rlt_buf_reserve(&b, 3));
    memcpy(rlt_buf_end(&b), "you", 3);
    rlt_buf_commit(&b, 3);
    ASSERT(t_holds(&b, "helloyou"));
    rlt_buf_drop(&b, 4);
    ASSERT(t_holds(&b, "oyou"));
    rlt_buf_free(&b);
    PASS();
}

TEST an_empty_buffer_begins_at_its_block_again(void)
{
    rlt_buf b = t_buf(16, 16);

    ASSERT_EQ(0, rlt_buf_put(&b, "0123456789abcdef", 16));
    rlt_buf_drop(&b, 15);
    ASSERT_EQ(0, rlt_buf_room(&b));
    rlt_buf_drop(&b, 1);
    ASSERT_EQ(16, rlt_buf_room(&b));
    rlt_buf_free(&b);
    PASS();
}

TEST growth_stops_at_the_cap(void)
{
    rlt_buf b = t_buf(4, 10);

    ASSERT_EQ(0, rlt_buf_put(&b, "0123456", 7));
    ASSERT_EQ(0, rlt_buf_put(&b, "789", 3));
    ASSERT_EQ(10, t_lent.live);
    ASSERT_EQ(RELET_E_LIMIT, rlt_buf_put(&b, "x", 1));
    ASSERT(t_holds(&b, "0123456789"));
    rlt_buf_free(&b);
    PASS();
}

TEST a_cap_of_size_max_does_not_overflow(void)
{
    rlt_buf b = t_buf(0, SIZE_MAX);

    ASSERT_EQ(0, rlt_buf_put(&b, "abc", 3));
    ASSERT_EQ(RELET_E_LIMIT, rlt_buf_reserve(&b, SIZE_MAX - 2));
    t_lent.fail_all = 1;
    ASSERT_EQ(RELET_E_MEMORY, rlt_buf_reserve(&b, SIZE_MAX - 3));
    ASSERT_EQ(RELET_E_MEMORY, rlt_buf_reserve(&b, SIZE_MAX / 2));
    ASSERT(t_holds(&b, "abc"));
    rlt_buf_free(&b);
    PASS();
}

TEST growth_copies_a_bounded_number_of_times(void)
{
    rlt_buf b = t_buf(16, (size_t)1 << 20);
    int i, puts = RLT_TINY ? 1000 : 100000;

    for (i = 0; i < puts; i++)
        ASSERT_EQ(0, rlt_buf_put(&b, "0123456789", 10));
    ASSERT(t_lent.calls <= (RLT_TINY ? puts : 17));
    ASSERT_EQ((size_t)puts * 10, rlt_buf_used(&b));
    rlt_buf_free(&b);
    PASS();
}

TEST contents_move_down_when_that_is_cheaper_than_growing(void)
{
    rlt_buf b = t_buf(16, 1000);

    ASSERT_EQ(0, rlt_buf_put(&b, "0123456789abcdef", 16));
    rlt_buf_drop(&b, 12);
    ASSERT_EQ(0, rlt_buf_put(&b, "ghijklmnopqr", 12));
    ASSERT_EQ(16, t_lent.live);
    ASSERT_EQ(1, t_lent.calls);
    ASSERT(t_holds(&b, "cdefghijklmnopqr"));
    rlt_buf_free(&b);
    PASS();
}

TEST a_buffer_grows_when_moving_its_contents_is_expensive(void)
{
    rlt_buf b = t_buf(16, 1000);

    ASSERT_EQ(0, rlt_buf_put(&b, "0123456789abcdef", 16));
    rlt_buf_drop(&b, 1);
    ASSERT_EQ(0, rlt_buf_put(&b, "g", 1));
    ASSERT_EQ(RLT_TINY ? 16 : 32, t_lent.live);
    ASSERT(t_holds(&b, "123456789abcdefg"));
    rlt_buf_free(&b);
    PASS();
}

TEST a_buffer_that_cannot_grow_moves_its_contents_down_at_any_cost(void)
{
    rlt_buf b = t_buf(16, 1000);

    ASSERT_EQ(0, rlt_buf_put(&b, "0123456789abcdef", 16));
    rlt_buf_drop(&b, 1);
    t_lent.fail_all = 1;
    ASSERT_EQ(0, rlt_buf_put(&b, "g", 1));
    ASSERT(t_holds(&b, "123456789abcdefg"));
    rlt_buf_free(&b);
    PASS();
}

TEST a_failed_allocation_leaves_pointers_and_contents(void)
{
    rlt_buf b = t_buf(16, 1000);
    const uint8_t *head;

    ASSERT_EQ(0, rlt_buf_put(&b, "0123456789abcdef", 16));
    rlt_buf_drop(&b, 10);
    head = rlt_buf_head(&b);
    t_lent.fail_all = 1;
    ASSERT_EQ(RELET_E_MEMORY, rlt_buf_reserve(&b, 11));
    ASSERT_EQ(head, rlt_buf_head(&b));
    ASSERT(t_holds(&b, "abcdef"));
    t_lent.fail_all = 0;
    ASSERT_EQ(0, rlt_buf_put(&b, "ghijklmnopq", 11));
    ASSERT(t_holds(&b, "abcdefghijklmnopq"));
    rlt_buf_free(&b);
    PASS();
}

TEST without_a_hook_the_block_is_all_there_ever_is(void)
{
    char block[8];
    rlt_buf b = t_fixed(block, sizeof block);

    ASSERT_EQ(8, rlt_buf_room(&b));
    ASSERT_EQ(0, rlt_buf_put(&b, "01234567", 8));
    ASSERT_EQ(RELET_E_LIMIT, rlt_buf_reserve(&b, 1));
    rlt_buf_drop(&b, 1);
    ASSERT_EQ(0, rlt_buf_put(&b, "8", 1));
    ASSERT_EQ(RELET_E_LIMIT, rlt_buf_reserve(&b, 1));
    ASSERT(t_holds(&b, "12345678"));
    rlt_buf_shrink(&b, 0);
    ASSERT_EQ((uint8_t *)block, rlt_buf_head(&b));
    rlt_buf_free(&b);
    ASSERT_EQ(8, rlt_buf_room(&b));
    PASS();
}

TEST cutting_closes_the_gap_from_the_shorter_side(void)
{
    rlt_buf b = t_buf(16, 16);

    ASSERT_EQ(0, rlt_buf_put(&b, "0123456789", 10));
    rlt_buf_cut(&b, 2, 3);
    ASSERT(t_holds(&b, "0156789"));
    ASSERT_EQ(6, rlt_buf_room(&b)); /* the head moved                 */
    rlt_buf_cut(&b, 5, 1);
    ASSERT(t_holds(&b, "015679"));
    ASSERT_EQ(7, rlt_buf_room(&b)); /* the tail moved                 */
    rlt_buf_cut(&b, 5, 1);
    ASSERT(t_holds(&b, "01567"));
    rlt_buf_cut(&b, 3, 0);
    ASSERT(t_holds(&b, "01567"));
    rlt_buf_cut(&b, 0, 5);
    ASSERT_EQ(0, rlt_buf_used(&b));
    ASSERT_EQ(16, rlt_buf_room(&b));
    rlt_buf_free(&b);
    PASS();
}

TEST shrinking_keeps_the_contents_the_floor_and_the_requested_size(void)
{
    rlt_buf b = t_buf(4, 100);

    ASSERT_EQ(0, rlt_buf_reserve(&b, 100));
    ASSERT_EQ(0, rlt_buf_put(&b, "0123456789", 10));
    rlt_buf_drop(&b, 2);
    rlt_buf_shrink(&b, 20);
    ASSERT_EQ(20, t_lent.live);
    rlt_buf_shrink(&b, 0);
    ASSERT_EQ(8, t_lent.live);
    ASSERT(t_holds(&b, "23456789"));
    rlt_buf_drop(&b, 8);
    rlt_buf_shrink(&b, 0);
    ASSERT_EQ(4, t_lent.live);
    rlt_buf_free(&b);
    PASS();
}

TEST shrinking_that_fails_is_no_harm(void)
{
    rlt_buf b = t_buf(4, 100);

    ASSERT_EQ(0, rlt_buf_reserve(&b, 100));
    ASSERT_EQ(0, rlt_buf_put(&b, "abc", 3));
    t_lent.fail_all = 1;
    rlt_buf_shrink(&b, 0);
    ASSERT_EQ(100, t_lent.live);
    ASSERT(t_holds(&b, "abc"));
    rlt_buf_free(&b);
    PASS();
}

TEST without_a_floor_shrinking_frees_an_empty_buffer(void)
{
    rlt_buf b = t_buf(0, 100);

    ASSERT_EQ(0, rlt_buf_put(&b, "abc", 3));
    rlt_buf_drop(&b, 3);
    rlt_buf_shrink(&b, 0);
    ASSERT_EQ(0, t_lent.live);
    ASSERT_EQ(0, rlt_buf_put(&b, "abc", 3));
    ASSERT(t_holds(&b, "abc"));
    rlt_buf_free(&b);
    PASS();
}

TEST poison_covers_the_free_bytes_of_a_buffer_and_no_others(void)
{
    char block[8];
    rlt_buf b = t_fixed(block, sizeof block);

    ASSERT_EQ(0, rlt_buf_put(&b, "01234", 5));
    rlt_buf_drop(&b, 2);
    rlt_buf_poison_room(&b);
    ASSERT_MEM_EQ("\xdd\xdd"
                  "234\xdd\xdd\xdd",
                  block, sizeof block);
    PASS();
}

/* Compares the queue with a plain array, with an allocator that sometimes
 * fails. */
TEST random_buffer_operations_give_the_same_bytes_as_a_plain_array(void)
{
    static char plain[600];
    size_t used = 0, n, at, i;
    uint32_t random = 1;
    rlt_buf b = t_buf(8, 500);
    char piece[64];
    int step, err;

    for (step = 0; step < 50000; step++) {
        random = random * 1664525u + 1013904223u;
        n = random >> 9 & 63;
        t_lent.fail_all = (random >> 15 & 7) == 0;
        switch (random >> 28 & 3) {
        case 0:
        case 1:
            for (i = 0; i < n; i++)
                piece[i] = (char)(step + (int)i);
            err = rlt_buf_put(&b, piece, n);
            ASSERT_EQ(n > 500 - used, err == RELET_E_LIMIT);
            if (err != 0)
                break;
            memcpy(plain + used, piece, n);
            used += n;
            break;
        case 2:
            n = RLT_MIN(n, used);
            at = n == used ? 0 : (random >> 18) % (used - n);
            rlt_buf_cut(&b, at, n);
            memmove(plain + at, plain + at + n, used - at - n);
            used -= n;
            break;
        default:
            rlt_buf_shrink(&b, n);
        }
        rlt_buf_poison_room(&b);
        ASSERT_EQ(used, rlt_buf_used(&b));
        if (used > 0)
            ASSERT_EQ(0, memcmp(plain, rlt_buf_head(&b), used));
        ASSERT_EQ(0, t_lent.wrong);
    }
    rlt_buf_free(&b);
    ASSERT_EQ(0, t_lent.live);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_buffer_allocates_no_memory_before_its_first_use);
    RUN_TEST(the_first_allocation_is_the_floor);
    RUN_TEST(bytes_come_out_as_they_went_in);
    RUN_TEST(an_empty_buffer_begins_at_its_block_again);
    RUN_TEST(growth_stops_at_the_cap);
    RUN_TEST(a_cap_of_size_max_does_not_overflow);
    RUN_TEST(growth_copies_a_bounded_number_of_times);
    RUN_TEST(contents_move_down_when_that_is_cheaper_than_growing);
    RUN_TEST(a_buffer_grows_when_moving_its_contents_is_expensive);
    RUN_TEST(a_buffer_that_cannot_grow_moves_its_contents_down_at_any_cost);
    RUN_TEST(a_failed_allocation_leaves_pointers_and_contents);
    RUN_TEST(without_a_hook_the_block_is_all_there_ever_is);
    RUN_TEST(cutting_closes_the_gap_from_the_shorter_side);
    RUN_TEST(shrinking_keeps_the_contents_the_floor_and_the_requested_size);
    RUN_TEST(shrinking_that_fails_is_no_harm);
    RUN_TEST(without_a_floor_shrinking_frees_an_empty_buffer);
    RUN_TEST(poison_covers_the_free_bytes_of_a_buffer_and_no_others);
    RUN_TEST(random_buffer_operations_give_the_same_bytes_as_a_plain_array);
    GREATEST_MAIN_END();
}
