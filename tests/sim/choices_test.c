/* SPDX-License-Identifier: MIT
 *
 * choices_test.c - random draws follow from one seed. */
#include <string.h>

#include "choices.h"
#include "greatest.h"

TEST equal_seeds_draw_equal_numbers(void)
{
    sim_choices c;
    sim_stream a, b;
    int i;

    sim_choices_seed(&c, 42);
    sim_stream_open(&a, &c, 1, 7);
    sim_stream_open(&b, &c, 1, 7);
    for (i = 0; i < 1000; i++)
        ASSERT_EQ(sim_choose(&a, 1000000), sim_choose(&b, 1000000));
    PASS();
}

TEST the_numbers_of_a_seed_are_these_on_every_machine(void)
{
    static const uint32_t want[] = {92284,  573229, 471648, 554932,
                                    590204, 872706, 791147, 70355};
    sim_choices c;
    sim_stream st;
    size_t i;

    sim_choices_seed(&c, 42);
    sim_stream_open(&st, &c, 1, 7);
    for (i = 0; i < sizeof want / sizeof want[0]; i++)
        ASSERT_EQ(want[i], sim_choose(&st, 1000000));
    PASS();
}

TEST draws_from_one_stream_move_no_other_stream(void)
{
    sim_choices c;
    sim_stream a, b;
    uint32_t first;

    sim_choices_seed(&c, 5);
    sim_stream_open(&a, &c, 1, 1);
    first = sim_choose(&a, 1000000);
    sim_stream_open(&a, &c, 1, 1);
    sim_stream_open(&b, &c, 1, 2);
    (void)sim_choose(&b, 1000000);
    ASSERT_EQ(first, sim_choose(&a, 1000000));
    PASS();
}

TEST each_number_below_the_bound_comes_and_none_above(void)
{
    sim_choices c;
    sim_stream st;
    unsigned seen = 0, i;

    sim_choices_seed(&c, 1);
    sim_stream_open(&st, &c, 1, 0);
    for (i = 0; i < 1000; i++) {
        uint32_t v = sim_choose(&st, 7);

        ASSERT(v < 7);
        seen |= 1u << v;
    }
    ASSERT_EQ(127u, seen);
    PASS();
}

TEST a_spread_stays_within_its_ends_and_meets_both(void)
{
    sim_choices c;
    sim_stream st;
    int low = 0, high = 0, i;

    sim_choices_seed(&c, 3);
    sim_stream_open(&st, &c, 1, 0);
    for (i = 0; i < 1000; i++) {
        int64_t v = sim_spread(&st, 10, 100000);

        ASSERT(v >= 10 && v <= 100000);
        low += v == 10;
        high += v == 100000;
    }
    ASSERT(low > 20 && high > 20);
    PASS();
}

TEST a_range_over_four_thousand_million_is_drawn_whole(void)
{
    sim_choices c;
    sim_stream st;
    int64_t most = 0;
    int i;

    sim_choices_seed(&c, 3);
    sim_stream_open(&st, &c, 1, 0);
    for (i = 0; i < 1000; i++) {
        int64_t v = sim_even(&st, 0, INT64_C(1000000000000));

        ASSERT(v >= 0 && v <= INT64_C(1000000000000));
        most = v > most ? v : most;
    }
    ASSERT(most > INT64_C(900000000000));
    PASS();
}

TEST a_tape_is_played_again(void)
{
    sim_choices c;
    sim_stream st;
    uint32_t tape[16], drawn[16];
    int i;

    sim_choices_seed(&c, 9);
    sim_choices_record(&c, tape, 16);
    sim_stream_open(&st, &c, 1, 0);
    for (i = 0; i < 16; i++)
        drawn[i] = sim_choose(&st, 100);
    sim_choices_replay(&c);
    sim_stream_open(&st, &c, 2, 3);
    for (i = 0; i < 16; i++)
        ASSERT_EQ(drawn[i], sim_choose(&st, 100));
    PASS();
}

TEST bytes_choose_and_then_their_seed_does(void)
{
    static const uint8_t bytes[] = {3, 1, 2};
    sim_choices c;
    sim_stream a, b;
    uint32_t next;

    sim_choices_bytes(&c, bytes, sizeof bytes);
    sim_stream_open(&a, &c, 1, 0);
    ASSERT_EQ(3u, sim_choose(&a, 200));
    ASSERT_EQ(258u, sim_choose(&a, 60000));
    next = sim_choose(&a, 1000000);
    sim_choices_bytes(&c, bytes, sizeof bytes);
    c.bytes_at = sizeof bytes;
    sim_stream_open(&b, &c, 1, 0);
    ASSERT_EQ(next, sim_choose(&b, 1000000));
    PASS();
}

TEST an_odometer_meets_each_sequence_once(void)
{
    sim_choices c;
    sim_stream st;
    int runs = 0, seen[6] = {0};

    sim_choices_odometer(&c);
    do {
        uint32_t a, b;

        sim_stream_open(&st, &c, 1, 0);
        a = sim_choose(&st, 2);
        b = sim_choose(&st, 3);
        seen[a * 3 + b]++;
        runs++;
    } while (sim_choices_turn(&c) && runs < 100);
    ASSERT_EQ(6, runs);
    ASSERT(seen[0] == 1 && seen[5] == 1 && seen[3] == 1);
    PASS();
}

TEST delays_have_their_mean(void)
{
    int64_t sum = 0;
    uint64_t i;

    for (i = 0; i < 64; i++)
        sum += sim_delay(i, 100000);
    ASSERT(sum / 64 > 98000 && sum / 64 < 102000);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(equal_seeds_draw_equal_numbers);
    RUN_TEST(the_numbers_of_a_seed_are_these_on_every_machine);
    RUN_TEST(draws_from_one_stream_move_no_other_stream);
    RUN_TEST(each_number_below_the_bound_comes_and_none_above);
    RUN_TEST(a_spread_stays_within_its_ends_and_meets_both);
    RUN_TEST(a_range_over_four_thousand_million_is_drawn_whole);
    RUN_TEST(a_tape_is_played_again);
    RUN_TEST(bytes_choose_and_then_their_seed_does);
    RUN_TEST(an_odometer_meets_each_sequence_once);
    RUN_TEST(delays_have_their_mean);
    GREATEST_MAIN_END();
}
