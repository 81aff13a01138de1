/* SPDX-License-Identifier: MIT
 *
 * rand_test.c - tests of the random numbers for jitter: the same seed gives the
 * same numbers everywhere.
 *
 * The expected numbers come from the reference implementations. */

#include "rand.h"

#include "greatest.h"

TEST a_seed_is_spread_by_splitmix64(void)
{
    rlt_rand r;

    rlt_rand_seed(&r, 0);
    ASSERT_EQ(0xe220a8397b1dcdafu, r.s[0]);
    ASSERT_EQ(0x6e789e6aa1b965f4u, r.s[1]);
    ASSERT_EQ(0x06c45d188009454fu, r.s[2]);
    ASSERT_EQ(0xf88bb8a8724c81ecu, r.s[3]);
    PASS();
}

TEST a_known_state_gives_the_known_sequence(void)
{
    static const uint64_t expected[] = {41943041u,
                                        58720359u,
                                        3588806011781223u,
                                        3591011842654386u,
                                        9228616714210784205u,
                                        9973669472204895162u,
                                        14011001112246962877u,
                                        12406186145184390807u,
                                        15849039046786891736u,
                                        10450023813501588000u};
    rlt_rand r = {{1, 2, 3, 4}};
    size_t i;

    for (i = 0; i < sizeof expected / sizeof expected[0]; i++)
        ASSERT_EQ(expected[i], rlt_rand_next(&r));
    PASS();
}

TEST equal_seeds_give_equal_numbers_and_others_do_not(void)
{
    rlt_rand a, b, c;
    int i;

    rlt_rand_seed(&a, 42);
    rlt_rand_seed(&b, 42);
    rlt_rand_seed(&c, 43);
    for (i = 0; i < 100; i++) {
        uint64_t x = rlt_rand_next(&a);

        ASSERT_EQ(x, rlt_rand_next(&b));
        ASSERT(x != rlt_rand_next(&c));
    }
    PASS();
}

TEST a_bounded_number_is_below_its_bound_and_reaches_all(void)
{
    uint32_t seen[7] = {0};
    rlt_rand r;
    int i;

    rlt_rand_seed(&r, 1);
    for (i = 0; i < 70000; i++) {
        uint64_t x = rlt_rand_below(&r, 7);

        ASSERT(x < 7);
        seen[x]++;
    }
    for (i = 0; i < 7; i++)
        ASSERT_IN_RANGE(10000, (int)seen[i], 500);
    PASS();
}

TEST a_bound_of_one_leaves_only_zero(void)
{
    rlt_rand r;
    int i;

    rlt_rand_seed(&r, 2);
    for (i = 0; i < 100; i++)
        ASSERT_EQ(0, rlt_rand_below(&r, 1));
    PASS();
}

TEST the_largest_bound_uses_the_high_bits(void)
{
    rlt_rand r, same;
    int i;

    rlt_rand_seed(&r, 3);
    same = r;
    for (i = 0; i < 100; i++) {
        /* x * (2^64 - 1) / 2^64 is x - 1, except for 0. */
        uint64_t x = rlt_rand_next(&same);

        ASSERT_EQ(x - (x > 0), rlt_rand_below(&r, UINT64_MAX));
    }
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_seed_is_spread_by_splitmix64);
    RUN_TEST(a_known_state_gives_the_known_sequence);
    RUN_TEST(equal_seeds_give_equal_numbers_and_others_do_not);
    RUN_TEST(a_bounded_number_is_below_its_bound_and_reaches_all);
    RUN_TEST(a_bound_of_one_leaves_only_zero);
    RUN_TEST(the_largest_bound_uses_the_high_bits);
    GREATEST_MAIN_END();
}
