/* SPDX-License-Identifier: MIT
 *
 * local_random_test.c - each command with a random result draws each element
 * with the same probability.
 *
 * Chi-square over all elements: of n elements it is n - 1 on average, with a
 * deviation of sqrt(2 (n - 1)). Five deviations above are allowed. The seed is
 * fixed, so a test says the same every time. */
#include <math.h>

#include "local_cmd.h"

#define T_MANY 2000

static long t_hits[T_MANY];

static double t_chi(int n, long draws)
{
    double want = (double)draws / n, sum = 0, off;
    int i;

    for (i = 0; i < n; i++) {
        off = (double)t_hits[i] - want;
        sum += off * off / want;
    }
    return sum;
}

/* Returns 0 also if the elements were drawn more evenly than is probable. */
static int t_even(int n, long draws, int apart)
{
    double chi = t_chi(n, draws), spread = sqrt(2.0 * (n - 1));
    int ok = chi < n - 1 + 5 * spread && (apart || chi > n - 1 - 5 * spread);

    if (!ok)
        fprintf(stderr, "chi-square %.0f at %d\n", chi, n - 1);
    return ok;
}

/* "word %d" for each number from `from` up to and without `to`. */
static void t_each(const char *format, int from, int to)
{
    char command[100];
    int i;

    for (i = from; i < to; i++) {
        snprintf(command, sizeof command, format, i, i);
        t_does(0, command);
    }
}

/* Draws once, and counts the elements of the reply. A name ends in the
 * element's number; a value between two names must end in that number, too. -1:
 * a word is no element, or an element comes twice though all should differ. */
static int t_draw(const char *command, int n, int apart, int values)
{
    static char met[T_MANY];
    const uint8_t *reply;
    const char *p, *next, *end;
    int drawn = 0, i, last = -1, is_value = 0;
    size_t size;

    memset(met, 0, sizeof met);
    t_send(0, command);
    size = relet_local_output(t_one.l, t_one.ids[0], &reply);
    end = (const char *)reply + size;
    for (p = (const char *)reply; p < end; p = next) {
        next = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
        if (*p == '*' || *p == '$')
            continue;
        i = atoi(p + strcspn(p, "0123456789"));
        if (values && is_value) {
            if (i != last)
                return -1;
        } else {
            if (i < 0 || i >= n || (apart && met[i]))
                return -1;
            met[i] = 1;
            t_hits[i]++;
            drawn++;
        }
        last = i;
        is_value = !is_value;
    }
    relet_local_sent(t_one.l, t_one.ids[0], size);
    return drawn;
}

/* Calls the command so often; each call should return `each` of n elements. */
static int t_draws(const char *command, int n, int calls, int each, int apart)
{
    int values = strstr(command, "WITH") != NULL, i;

    memset(t_hits, 0, sizeof t_hits);
    for (i = 0; i < calls; i++)
        if (t_draw(command, n, apart, values) != each)
            return 0;
    return t_even(n, (long)calls * each, apart);
}

/* Draws in three ways from the same elements: one, several different ones, and
 * many with repeats. */
static int t_all_ways(const char *command, const char *with, int n)
{
    static const int counts[] = {1, 5, 31, 40};
    char line[100];
    size_t i;

    if (!t_draws(command, n, 6400, 1, 0))
        return 0;
    for (i = 0; i < sizeof counts / sizeof *counts; i++) {
        snprintf(line, sizeof line, "%s %d%s", command, counts[i], with);
        if (!t_draws(line, n, 6400 / counts[i], counts[i], 1))
            return 0;
    }
    snprintf(line, sizeof line, "%s -1000%s", command, with);
    return t_draws(line, n, 64, 1000, 0);
}

TEST srandmember_draws_each_member_alike(void)
{
    t_open();
    t_each("SADD s m%d", 0, 64);
    ASSERT(t_all_ways("SRANDMEMBER s", "", 64));
    t_each("SADD s m%d", 64, 1000); /* SRANDMEMBER s 40 walks no more        */
    ASSERT(t_all_ways("SRANDMEMBER s", "", 1000));
    t_close();
    PASS();
}

TEST srandmember_draws_each_integer_alike(void)
{
    t_open();
    t_each("SADD s %d", 0, 64);
    ASSERT(t_all_ways("SRANDMEMBER s", "", 64));
    t_each("SADD s %d", 64, 600);
    ASSERT(t_all_ways("SRANDMEMBER s", "", 600));
    t_close();
    PASS();
}

TEST after_many_deletions_each_member_is_still_drawn_alike(void)
{
    t_open();
    t_each("SADD s m%d", 0, T_MANY);
    t_each("SREM s m%d", 300, T_MANY);
    ASSERT(t_all_ways("SRANDMEMBER s", "", 300));
    t_each("SREM s m%d", 64, 300);
    ASSERT(t_all_ways("SRANDMEMBER s", "", 64));
    t_close();
    PASS();
}

/* The buckets stay as many as they were: nearly all of them are empty. */
TEST without_memory_to_shrink_each_member_is_still_drawn_alike(void)
{
    t_open();
    t_each("SADD s m%d", 0, T_MANY);
    t_one.fail_from = t_one.calls;
    t_one.fail_to = t_one.calls + 1000000;
    t_each("SREM s m%d", 64, T_MANY);
    t_one.fail_to = 0;
    ASSERT(t_all_ways("SRANDMEMBER s", "", 64));
    t_close();
    PASS();
}

TEST hrandfield_draws_each_field_alike(void)
{
    t_open();
    t_each("HSET h f%d v%d", 0, 64);
    ASSERT(t_all_ways("HRANDFIELD h", "", 64));
    ASSERT(t_draws("HRANDFIELD h 5 WITHVALUES", 64, 1280, 5, 1));
    ASSERT(t_draws("HRANDFIELD h -1000 WITHVALUES", 64, 64, 1000, 0));
    t_close();
    PASS();
}

TEST zrandmember_draws_each_member_alike(void)
{
    t_open();
    t_each("ZADD z %d m%d", 0, 64);
    ASSERT(t_all_ways("ZRANDMEMBER z", "", 64));
    ASSERT(t_draws("ZRANDMEMBER z 5 WITHSCORES", 64, 1280, 5, 1));
    ASSERT(t_draws("ZRANDMEMBER z -1000 WITHSCORES", 64, 64, 1000, 0));
    t_close();
    PASS();
}

/* The server keeps its log of changes until it is taken. In the tiny build the
 * buffer of the log grows by as little as possible, and a test that never takes
 * the log lasts for minutes. */
static void t_take_effects(void)
{
    const uint8_t *p;
    int broken;

    relet_local_effects_taken(t_one.l,
                              relet_local_effects(t_one.l, &p, &broken));
}

/* Pops each time from a new set of the same members. */
static int t_pops(const char *command, int n, int calls, int each)
{
    int i;

    memset(t_hits, 0, sizeof t_hits);
    for (i = 0; i < calls; i++) {
        t_does(0, "COPY s t REPLACE");
        if (t_draw(command, n, 1, 0) != each)
            return 0;
        t_take_effects();
    }
    return t_even(n, (long)calls * each, each > 1);
}

TEST spop_takes_each_member_alike(void)
{
    t_open();
    t_each("SADD s m%d", 0, 64);
    ASSERT(t_pops("SPOP t", 64, 6400, 1));
    ASSERT(t_pops("SPOP t 5", 64, 1280, 5));
    ASSERT(t_pops("SPOP t 50", 64, 640, 50));
    t_close();
    PASS();
}

TEST randomkey_draws_each_key_alike(void)
{
    t_open();
    t_each("SET k%d x", 0, 64);
    ASSERT(t_draws("RANDOMKEY", 64, 6400, 1, 0));
    t_each("SET k%d x", 64, 1000);
    t_each("DEL k%d", 130, 1000);
    ASSERT(t_draws("RANDOMKEY", 130, 13000, 1, 0));
    t_close();
    PASS();
}

TEST a_count_beyond_the_members_brings_each_once(void)
{
    t_open();
    t_each("SADD s m%d", 0, 64);
    ASSERT(t_draw("SRANDMEMBER s 64", 64, 1, 0) == 64);
    ASSERT(t_draw("SRANDMEMBER s 9999", 64, 1, 0) == 64);
    ASSERT(t_draw("SRANDMEMBER s 63", 64, 1, 0) == 63);
    t_close();
    PASS();
}

/* The numbers come from the server's seed and from nothing else. */
TEST the_same_seed_draws_the_same_members(void)
{
    static char first[4096];
    const uint8_t *p;
    size_t n;
    int run;

    for (run = 0; run < 2; run++) {
        t_open();
        t_each("SADD s m%d", 0, 64);
        t_send(0, "SRANDMEMBER s -100");
        n = relet_local_output(t_one.l, t_one.ids[0], &p);
        ASSERT(n > 0 && n < sizeof first);
        if (run == 0)
            memcpy(first, p, n);
        ASSERT(memcmp(first, p, n) == 0);
        t_close();
    }
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(srandmember_draws_each_member_alike);
    RUN_TEST(srandmember_draws_each_integer_alike);
    RUN_TEST(after_many_deletions_each_member_is_still_drawn_alike);
    RUN_TEST(without_memory_to_shrink_each_member_is_still_drawn_alike);
    RUN_TEST(hrandfield_draws_each_field_alike);
    RUN_TEST(zrandmember_draws_each_member_alike);
    RUN_TEST(spop_takes_each_member_alike);
    RUN_TEST(randomkey_draws_each_key_alike);
    RUN_TEST(a_count_beyond_the_members_brings_each_once);
    RUN_TEST(the_same_seed_draws_the_same_members);
    GREATEST_MAIN_END();
}
