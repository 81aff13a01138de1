/* SPDX-License-Identifier: MIT
 *
 * mem_test.c - clients without a server: mem: through the driver. */
#include "store_rig.h"

/* --------------------------------------------------------------------- mem: */

TEST a_client_needs_no_server(void)
{
    relet *r = t_open("mem:", NULL);

    T_SAYS(r, "SET k v", "OK");
    T_SAYS(r, "GET k", "v");
    PASS();
}

/* Such a wait once ended at once: the client's clock begins with its first
 * tick, and the system's clock has run for longer than a second. */
TEST a_wait_for_a_lease_begins_with_the_first_tick(void)
{
    relet *r = t_open("mem:", NULL);
    relet_lease_config c;
    relet_event ev;
    int got;

    memset(&c, 0, sizeof c);
    c.name = relet_str("n");
    c.wait_ms = 1000;
    ASSERT_EQ(0, relet_lease_start(r, &c));
    do
        got = relet_wait(r, &ev, 5000);
    while (got == 1 && ev.kind == RELET_EV_UP);
    ASSERT_EQ(1, got);
    ASSERT_EQ(RELET_EV_LEASE_GAINED, ev.kind);
    PASS();
}

TEST clients_of_mem_without_a_name_share_no_data(void)
{
    relet *a, *b;

    t_stores = relet_stores_make(NULL);
    a = t_open("mem:", t_stores);
    b = t_open("mem:", t_stores);
    T_SAYS(a, "SET k v", "OK");
    T_SAYS(b, "GET k", "(nil)");
    PASS();
}

TEST clients_with_the_same_store_name_share_its_data(void)
{
    relet *a, *b, *c;

    t_stores = relet_stores_make(NULL);
    a = t_open("mem:one", t_stores);
    b = t_open("mem:one", t_stores);
    c = t_open("mem:two", t_stores);
    T_SAYS(a, "SET k v", "OK");
    T_SAYS(b, "GET k", "v");
    T_SAYS(c, "GET k", "(nil)");
    PASS();
}

TEST a_store_name_without_stores_is_refused_with_advice(void)
{
    ASSERT(t_open("mem:one", NULL) == NULL);
    ASSERT_EQ(RELET_E_CONFIG, t_fault.code);
    ASSERT_STR_EQ("url", t_fault.field);
    ASSERT(strstr(t_fault.text, "relet_poll_config") != NULL);
    PASS();
}

TEST a_descriptor_is_refused(void)
{
    static const int fd = 1;
    relet_poll_config p;

    memset(&p, 0, sizeof p);
    p.fd = &fd;
    ASSERT(relet_open("mem:", NULL, &p, &t_fault) == NULL);
    ASSERT(strstr(t_fault.text, "descriptor") != NULL);
    PASS();
}

TEST a_named_store_outlives_its_clients(void)
{
    relet *a;

    t_stores = relet_stores_make(NULL);
    a = t_open("mem:one", t_stores);
    T_SAYS(a, "SET k v", "OK");
    t_close(a);
    a = t_open("mem:one", t_stores);
    T_SAYS(a, "GET k", "v");
    PASS();
}

TEST stores_may_be_closed_before_their_clients(void)
{
    relet_stores *all = relet_stores_make(NULL);
    relet *a = t_open("mem:one", all), *b = t_open("mem:one", all);

    relet_stores_close(all);
    T_SAYS(a, "SET k v", "OK");
    t_close(a);
    T_SAYS(b, "GET k", "v");
    PASS();
}

/* A call never sleeps or spins either: the client watches only the wake-up. */
TEST a_call_needs_no_poll(void)
{
    relet *r = t_open("mem:", NULL);
    relet_watch w[RELET_WATCH_MAX];
    int i;

    T_SAYS(r, "PING", "PONG");
    t_polls = 0;
    for (i = 0; i < 100; i++)
        T_SAYS(r, "PING", "PONG");
    ASSERT_EQ(0, t_polls);
    ASSERT_EQ(1, relet_watches(r, w, RELET_WATCH_MAX));
    PASS();
}

TEST an_idle_client_sleeps(void)
{
    relet *r = t_open("mem:", NULL);
    relet_event ev;

    T_SAYS(r, "SET k v EX 1000", "OK");
    ASSERT_EQ(0, relet_wait(r, &ev, 0));
    ASSERT(relet_poll_timeout(r) > 1000);
    t_polls = 0;
    ASSERT_EQ(0, relet_wait(r, &ev, 50));
    ASSERT(t_polls < 5);
    PASS();
}

TEST a_message_of_one_client_reaches_another(void)
{
    relet *a, *b;
    relet_event ev;

    t_stores = relet_stores_make(NULL);
    a = t_open("mem:one", t_stores);
    b = t_open("mem:one", t_stores);
    ASSERT_EQ(0, relet_subscribe(b, RELET_CHANNEL, relet_str("news")));
    ASSERT(t_await(b, RELET_EV_SUBSCRIBED, &ev));
    while (relet_wait(b, &ev, 0) > 0)
        continue;
    ASSERT(relet_poll_timeout(b) != 0);
    T_SAYS(a, "PUBLISH news hello", "1");
    ASSERT_EQ(0, relet_poll_timeout(b));
    ASSERT(t_await(b, RELET_EV_MESSAGE, &ev));
    ASSERT(relet_value_is(ev.value, "hello"));
    ASSERT_EQ(0, relet_wait(b, &ev, 0));
    ASSERT(relet_poll_timeout(b) != 0);
    PASS();
}

TEST a_blocked_client_gets_an_element_from_another_client(void)
{
    relet *a, *b;
    relet_event ev;

    t_stores = relet_stores_make(NULL);
    a = t_open("mem:one", t_stores);
    b = t_open("mem:one", t_stores);
    ASSERT_EQ(0, t_submit(b, "BLPOP jobs 0", 7));
    ASSERT(t_await(b, RELET_EV_UP, &ev));
    ASSERT_EQ(0, relet_wait(b, &ev, 0));
    T_SAYS(a, "RPUSH jobs one", "1");
    ASSERT_EQ(0, relet_poll_timeout(b));
    ASSERT(t_await(b, RELET_EV_REPLY, &ev));
    ASSERT_STR_EQ("[jobs one]", t_outcome(&ev));
    T_SAYS(a, "LLEN jobs", "0");
    PASS();
}

/* The answer comes while the client does not wait, and then the time is up. */
TEST an_answer_of_the_local_server_beats_its_deadline(void)
{
    relet_request q = {1, 30, 0};
    struct timespec t = {0, 60000000};
    relet_span argv[8];
    relet *a, *b;
    relet_event ev;

    t_stores = relet_stores_make(NULL);
    a = t_open("mem:one", t_stores);
    b = t_open("mem:one", t_stores);
    ASSERT(t_await(b, RELET_EV_UP, &ev));
    ASSERT_EQ(0, relet_command(b, argv, t_words(argv, "BLPOP jobs 0"), &q));
    ASSERT_EQ(0, relet_wait(b, &ev, 0));
    T_SAYS(a, "RPUSH jobs one", "1");
    nanosleep(&t, NULL);
    ASSERT(relet_wait(b, &ev, T_SOON_MS) == 1);
    ASSERT_STR_EQ("[jobs one]", t_outcome(&ev));
    PASS();
}

TEST waiting_for_an_element_ends_in_time(void)
{
    relet *r = t_open("mem:", NULL);
    relet_time begin = relet_clock();

    T_SAYS(r, "BLPOP jobs 0.05", "(nil)");
    ASSERT(relet_clock() - begin >= 45);
    PASS();
}

TEST a_key_ends_while_its_client_sleeps(void)
{
    relet *r = t_open("mem:", NULL);
    relet_event ev;

    T_SAYS(r, "CONFIG SET notify-keyspace-events Ex", "OK");
    ASSERT_EQ(0, relet_subscribe(r, RELET_CHANNEL,
                                 relet_str("__keyevent@0__:expired")));
    T_SAYS(r, "SET k v PX 40", "OK");
    t_polls = 0;
    ASSERT(t_await(r, RELET_EV_MESSAGE, &ev));
    ASSERT(relet_value_is(ev.value, "k"));
    ASSERT(t_polls < 10);
    PASS();
}

TEST a_wake_ends_a_wait(void)
{
    relet *r = t_open("mem:", NULL);
    relet_event ev;

    T_SAYS(r, "PING", "PONG");
    relet_wake(r);
    ASSERT_EQ(0, relet_wait(r, &ev, -1));
    PASS();
}

TEST a_client_that_was_killed_comes_back_to_its_data(void)
{
    relet *a, *b;
    relet_event ev;

    t_stores = relet_stores_make(NULL);
    a = t_open("mem:one", t_stores);
    b = t_open("mem:one", t_stores);
    T_SAYS(b, "SET k v", "OK");
    T_SAYS(a, "CLIENT KILL TYPE normal SKIPME yes", "1");
    ASSERT_EQ(0, relet_poll_timeout(b));
    ASSERT(t_await(b, RELET_EV_DOWN, &ev));
    ASSERT_EQ(RELET_WHY_CLOSED, ev.why);
    ASSERT(t_await(b, RELET_EV_UP, &ev));
    T_SAYS(b, "GET k", "v");
    PASS();
}

/* The value is larger than any buffer on the way. Once, when a reply had filled
 * the client's buffer, its rest stayed in the store, and the client slept. */
TEST a_large_value_goes_both_ways_without_a_server(void)
{
    static char value[5000000], back[5000000];
    relet *r = t_open("mem:", NULL);
    relet_span set[3], get[2];
    relet_event ev;
    size_t i;

    for (i = 0; i < sizeof value; i++)
        value[i] = (char)(i * 7 + i / 1000);
    set[0] = relet_str("SET");
    set[1] = get[1] = relet_str("k");
    set[2].p = value;
    set[2].n = sizeof value;
    get[0] = relet_str("GET");
    ASSERT_EQ(0, relet_call(r, set, 3, &ev, T_SOON_MS));
    ASSERT_EQ(0, relet_call(r, get, 2, &ev, T_SOON_MS));
    ASSERT_EQ(sizeof value, relet_value_text(ev.value).n);
    memcpy(back, relet_value_text(ev.value).p, sizeof back);
    ASSERT_EQ(0, memcmp(value, back, sizeof back));
    PASS();
}

TEST untaken_replies_hold_back_commands(void)
{
    relet *r = t_open("mem:", NULL);
    relet_event ev;
    int i, replies = 0;

    T_SAYS(r, "SETRANGE k 8000 x", "8001");
    for (i = 0; i < 400; i++)
        ASSERT_EQ(0, t_submit(r, "GET k", 1));
    while (replies < 400 && relet_wait(r, &ev, T_SOON_MS) == 1)
        replies += ev.kind == RELET_EV_REPLY &&
                   relet_value_text(ev.value).n == 8001;
    ASSERT_EQ(400, replies);
    PASS();
}

SUITE(memory)
{
    SET_SETUP(t_setup, NULL);
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(a_client_needs_no_server);
    RUN_TEST(clients_of_mem_without_a_name_share_no_data);
    RUN_TEST(clients_with_the_same_store_name_share_its_data);
    RUN_TEST(a_store_name_without_stores_is_refused_with_advice);
    RUN_TEST(a_descriptor_is_refused);
    RUN_TEST(a_named_store_outlives_its_clients);
    RUN_TEST(stores_may_be_closed_before_their_clients);
    RUN_TEST(a_call_needs_no_poll);
    RUN_TEST(an_idle_client_sleeps);
    RUN_TEST(a_message_of_one_client_reaches_another);
    RUN_TEST(a_blocked_client_gets_an_element_from_another_client);
    RUN_TEST(an_answer_of_the_local_server_beats_its_deadline);
    RUN_TEST(waiting_for_an_element_ends_in_time);
    RUN_TEST(a_key_ends_while_its_client_sleeps);
    RUN_TEST(a_wake_ends_a_wait);
    RUN_TEST(a_client_that_was_killed_comes_back_to_its_data);
    RUN_TEST(a_large_value_goes_both_ways_without_a_server);
    RUN_TEST(a_wait_for_a_lease_begins_with_the_first_tick);
    RUN_TEST(untaken_replies_hold_back_commands);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(memory);
    GREATEST_MAIN_END();
}
