/* SPDX-License-Identifier: MIT
 *
 * memory_test.c - tests of a client's memory: its block, its allocations, and
 * the memory that an event lends. */
#include "peer.h"

#include "greatest.h"

TEST without_an_allocator_nothing_is_allocated(void)
{
    t_peer p;

    if (!t_fixed)
        SKIPm("only in fixed memory");
    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    (void)t_ask(&p, 1, RELET_REPEATABLE, "GET", "k");
    (void)t_unit(&p, 2, 0, "x", "y");
    (void)t_wish(&p, RELET_CHANNEL, "a");
    t_pass(&p, 100000);
    ASSERT_EQ(0, p.heap.calls);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST the_small_configuration_takes_eight_kib(void)
{
    relet_config c;
    char value[900], line[900];
    t_peer p;
    int fixed = t_fixed;

    relet_config_init_small(&c);
    memcpy(c.host, "peer", sizeof "peer");
    t_fixed = 1;
    ASSERT(t_start_with(&p, &c));
    t_fixed = fixed;
    ASSERT(p.size <= 8192 || sizeof(void *) > 8);
    ASSERT(t_up(&p));
    p.honest = 1;
    memset(value, 'x', sizeof value);
    value[700] = '\0';
    ASSERT_EQ(0, t_ask(&p, 1, RELET_REPEATABLE, "GET", value));
    t_move(&p);
    sprintf(line, "reply 1 \"%.256s...700\"", value);
    T_TOLD(&p, line);
    ASSERT_EQ(0, t_wish(&p, RELET_CHANNEL, "a"));
    T_TOLD(&p, "subscribed channel a");
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST a_block_that_is_too_small_is_refused(void)
{
    relet_config c = t_config();
    relet_fault fault;
    size_t size = relet_size(&c);
    void *block = malloc(size);

    ASSERT(block != NULL);
    ASSERT_EQ(NULL, relet_init(block, size - 1, &c, &fault));
    ASSERT_EQ(RELET_E_MEMORY, fault.code);
    ASSERT_EQ(NULL, relet_init(NULL, size, &c, NULL));
    c.port = 0;
    ASSERT_EQ(0, relet_size(&c));
    ASSERT_EQ(NULL, relet_init(block, size, &c, &fault));
    ASSERT_EQ(RELET_E_CONFIG, fault.code);
    free(block);
    PASS();
}

TEST memory_is_given_back_when_idle(void)
{
    static char big[6000];
    relet_stats s;
    size_t rest;
    t_peer p;

    if (t_fixed)
        SKIPm("only with an allocator");
    t_start(&p);
    ASSERT(t_up(&p));
    p.honest = 1;
    t_pass(&p, 15000);
    relet_stats_get(p.r, &s);
    rest = s.memory;
    memset(big, 'x', sizeof big - 1);
    (void)t_ask(&p, 1, RELET_REPEATABLE, "ECHO", big);
    t_move(&p);
    relet_stats_get(p.r, &s);
    ASSERT(s.memory > rest + 10000);
    t_pass(&p, 15000);
    relet_stats_get(p.r, &s);
    ASSERT(s.memory <= rest + 64); /* the size of a read may differ  */
    ASSERT(rest <= 4096);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

TEST bytes_lent_by_an_event_are_overwritten_after_the_loan(void)
{
#ifdef RELET_TINY
    const char *text;
    relet_event ev;
    t_peer p;

    if (!t_fixed)
        SKIPm("elsewhere it is freed, too");
    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, 0, "GET", "k");
    t_move(&p);
    p.manual = 1;
    t_say(&p, "$6\r\nabcdef\r\n");
    t_move(&p);
    ASSERT_EQ(1, relet_next(p.r, &ev));
    text = relet_value_text(ev.value).p;
    ASSERT_MEM_EQ("abcdef", text, 6);
    ASSERT_EQ(0, relet_next(p.r, &ev));
    ASSERT(memcmp("abcdef", text, 6) != 0);
    ASSERT_EQ(0, t_end(&p));
    PASS();
#else
    SKIPm("only in the hostile build");
#endif
}

TEST submitting_does_not_end_a_loan(void)
{
    relet_event ev;
    t_peer p;
    int i;

    t_start(&p);
    ASSERT(t_up(&p));
    (void)t_ask(&p, 1, 0, "GET", "k");
    t_move(&p);
    p.manual = 1;
    t_say(&p, "*2\r\n$6\r\nabcdef\r\n:5\r\n");
    t_move(&p);
    ASSERT_EQ(1, relet_next(p.r, &ev));
    for (i = 0; i < 60; i++)
        (void)t_ask(&p, 2, RELET_REPEATABLE, "GET", "other words");
    (void)t_wish(&p, RELET_CHANNEL, "a");
    (void)relet_cancel(p.r, 2);
    ASSERT_MEM_EQ("abcdef",
                  relet_value_text(relet_value_at(ev.value, 0)).p, 6);
    ASSERT_EQ(0, t_end(&p));
    PASS();
}

static SUITE(memory)
{
    RUN_TEST(without_an_allocator_nothing_is_allocated);
    RUN_TEST(the_small_configuration_takes_eight_kib);
    RUN_TEST(a_block_that_is_too_small_is_refused);
    RUN_TEST(memory_is_given_back_when_idle);
    RUN_TEST(bytes_lent_by_an_event_are_overwritten_after_the_loan);
    RUN_TEST(submitting_does_not_end_a_loan);
}

T_MAIN(memory)
