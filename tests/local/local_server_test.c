/* SPDX-License-Identifier: MIT
 *
 * local_server_test.c - the local server as its header promises it: bytes cut
 * anywhere, time, clients that come and go, limits, memory that ends. */
#include "local_cmd.h"

static void t_feed(int client, const char *bytes)
{
    relet_local_feed(t_one.l, t_one.ids[client], bytes, strlen(bytes));
}

static int t_closed(int client)
{
    return relet_local_closed(t_one.l, t_one.ids[client]);
}

/* ------------------------------------------------------------------- bytes */

TEST a_command_may_come_byte_by_byte(void)
{
    static const char bytes[] =
        "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n\r\n\r\nGET k\r\nGET 'k'\n";
    size_t i;

    t_open();
    for (i = 0; i < sizeof bytes - 1; i++)
        relet_local_feed(t_one.l, t_one.ids[0], bytes + i, 1);
    T_HEARS(0, "+OK\r\n$2\r\n\r\n\r\n$2\r\n\r\n\r\n");
    t_close();
    PASS();
}

TEST many_commands_may_come_at_once(void)
{
    t_open();
    t_feed(0, "INCR a\r\nINCR a\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\nPI");
    T_HEARS(0, ":1\r\n:2\r\n:3\r\n");
    t_feed(0, "NG\r\n");
    T_HEARS(0, "+PONG\r\n");
    t_close();
    PASS();
}

TEST quotes_and_escapes_of_inline_commands_are_read(void)
{
    t_open();
    t_feed(0, "\r\n  \r\nECHO \"a\\x41\\n\\\"b\"\r\nECHO 'it\\'s'\r\n");
    T_HEARS(0, "$5\r\naA\n\"b\r\n$4\r\nit's\r\n");
    t_close();
    PASS();
}

static enum greatest_test_res t_is_refused(const char *bytes,
                                           const char *error)
{
    t_open();
    t_feed(0, bytes);
    T_HEARS(0, error);
    ASSERT(t_closed(0));
    t_feed(0, "PING\r\n");
    T_HEARS(0, "");
    t_close();
    PASS();
}

#define T_BAD(text) "-ERR Protocol error: " text "\r\n"

TEST bytes_that_are_no_command_end_the_connection(void)
{
    CHECK_CALL(t_is_refused("GET \"a\r\n",
                            T_BAD("unbalanced quotes in request")));
    CHECK_CALL(t_is_refused("*x\r\n", T_BAD("invalid multibulk length")));
    CHECK_CALL(
        t_is_refused("*2147483648\r\n", T_BAD("invalid multibulk length")));
    CHECK_CALL(t_is_refused("*1\r\n+PING\r\n",
                            T_BAD("expected '$', got '+'")));
    CHECK_CALL(t_is_refused("*1\r\n$-1\r\n", T_BAD("invalid bulk length")));
    CHECK_CALL(
        t_is_refused("*1\r\n$536870913\r\n", T_BAD("invalid bulk length")));
    PASS();
}

TEST an_endless_line_is_refused_at_64_kilobytes(void)
{
    static char line[70000];

    memset(line, 'x', sizeof line - 1);
    CHECK_CALL(t_is_refused(line, T_BAD("too big inline request")));
    *line = '*';
    CHECK_CALL(t_is_refused(line, T_BAD("too big mbulk count string")));
    PASS();
}

TEST empty_arrays_are_passed_over(void)
{
    t_open();
    t_feed(0, "*0\r\n*-1\r\nPING\r\n");
    T_HEARS(0, "+PONG\r\n");
    t_close();
    PASS();
}

TEST an_unauthenticated_client_may_send_only_short_commands(void)
{
    t_open();
    T_SAYS("CONFIG SET requirepass pw", "+OK\r\n");
    relet_local_hangup(t_one.l, t_one.ids[1]);
    t_one.ids[1] = relet_local_connect(t_one.l);
    T_SAYS_TO(1, "GET k", "-NOAUTH Authentication required.\r\n");
    t_feed(1, "*11\r\n");
    T_HEARS(1, T_BAD("unauthenticated multibulk length"));
    ASSERT(t_closed(1));
    t_close();
    PASS();
}

TEST a_partial_command_of_one_client_stays_its_own(void)
{
    t_open();
    t_feed(0, "*2\r\n$4\r\nECHO\r\n$1\r\n");
    T_SAYS_TO(1, "PING", "+PONG\r\n");
    t_feed(0, "x\r\n");
    T_HEARS(0, "$1\r\nx\r\n");
    t_close();
    PASS();
}

/* ----------------------------------------------------------------- clients */

TEST a_number_is_used_again_but_not_an_id(void)
{
    int id;

    t_open();
    T_SAYS_TO(1, "CLIENT ID", ":2\r\n");
    id = t_one.ids[1];
    relet_local_hangup(t_one.l, id);
    t_one.ids[1] = relet_local_connect(t_one.l);
    ASSERT_EQ(id, t_one.ids[1]);
    T_SAYS_TO(1, "CLIENT ID", ":4\r\n");
    t_close();
    PASS();
}

TEST a_client_with_output_is_found(void)
{
    t_open();
    ASSERT_EQ(-1, relet_local_ready(t_one.l, 0));
    t_send(1, "PING");
    ASSERT_EQ(t_one.ids[1], relet_local_ready(t_one.l, 0));
    ASSERT_EQ(-1, relet_local_ready(t_one.l, t_one.ids[1] + 1));
    T_HEARS(1, "+PONG\r\n");
    t_send(0, "QUIT");
    T_HEARS(0, "+OK\r\n");
    ASSERT_EQ(t_one.ids[0], relet_local_ready(t_one.l, 0));
    t_close();
    PASS();
}

TEST output_may_be_taken_in_pieces(void)
{
    const uint8_t *p;

    t_open();
    t_send(0, "ECHO hello");
    ASSERT_EQ(11u, relet_local_output(t_one.l, t_one.ids[0], &p));
    relet_local_sent(t_one.l, t_one.ids[0], 4);
    T_HEARS(0, "hello\r\n");
    t_close();
    PASS();
}

TEST a_client_that_hangs_up_leaves_nothing_waiting(void)
{
    t_open();
    t_send(1, "BLPOP l 0");
    relet_local_hangup(t_one.l, t_one.ids[1]);
    T_SAYS("RPUSH l a", ":1\r\n");
    T_SAYS("LLEN l", ":1\r\n");
    t_one.ids[1] = relet_local_connect(t_one.l);
    T_SAYS_TO(1, "SUBSCRIBE c", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
    relet_local_hangup(t_one.l, t_one.ids[1]);
    T_SAYS("PUBLISH c x", ":0\r\n");
    t_close();
    PASS();
}

TEST a_killed_client_is_to_be_closed(void)
{
    t_open();
    T_SAYS("CLIENT KILL ID 2", ":1\r\n");
    ASSERT(t_closed(1));
    ASSERT(!t_closed(0));
    t_close();
    PASS();
}

TEST no_more_clients_than_the_limit_are_let_in(void)
{
    relet_local_config config;
    static char block[65536];
    relet_local *l;

    memset(&config, 0, sizeof config);
    memset(&t_one, 0, sizeof t_one);
    config.resize = t_resize;
    config.user = &t_one;
    config.clients_max = 1;
    ASSERT(relet_local_size() <= sizeof block);
    l = relet_local_init(block, sizeof block, &config);
    ASSERT_EQ(0, relet_local_connect(l));
    ASSERT_EQ(RELET_E_LIMIT, relet_local_connect(l));
    relet_local_finish(l);
    PASS();
}

/* -------------------------------------------------------------------- time */

TEST a_key_is_there_in_its_last_millisecond_and_gone_in_the_next(void)
{
    t_open();
    T_SAYS("SET k v PX 100", "+OK\r\n");
    t_pass(100);
    T_SAYS("PTTL k", ":0\r\n");
    t_pass(1);
    T_SAYS("PTTL k", ":-2\r\n");
    t_close();
    PASS();
}

TEST the_deadline_is_when_the_next_key_goes(void)
{
    t_open();
    ASSERT_EQ(INT64_MAX, relet_local_deadline(t_one.l));
    T_SAYS("SET k v PXAT 1700000009000", "+OK\r\n");
    T_SAYS("SET j v PXAT 1700000005000", "+OK\r\n");
    ASSERT_EQ(INT64_C(1700000005001000), relet_local_deadline(t_one.l));
    T_SAYS("DBSIZE", ":2\r\n");
    relet_local_time(t_one.l, INT64_C(1700000005001000));
    T_SAYS("DBSIZE", ":1\r\n");
    ASSERT_EQ(INT64_C(1700000009001000), relet_local_deadline(t_one.l));
    t_close();
    PASS();
}

TEST a_clock_that_jumps_back_gives_keys_more_time(void)
{
    t_open();
    T_SAYS("SET k v PX 1000", "+OK\r\n");
    t_pass(-60000);
    T_SAYS("PTTL k", ":61000\r\n");
    t_close();
    PASS();
}

TEST a_blocked_client_is_told_when_its_time_is_over(void)
{
    t_open();
    t_send(0, "BLPOP l 0.05");
    ASSERT_EQ(INT64_C(1700000000174000), relet_local_deadline(t_one.l));
    t_pass(50);
    T_HEARS(0, "");
    t_pass(1);
    T_HEARS(0, "*-1\r\n");
    t_close();
    PASS();
}

TEST a_sleeping_server_reads_nothing_until_it_wakes(void)
{
    t_open();
    t_send(0, "DEBUG SLEEP 2");
    t_send(1, "PING");
    t_pass(1000);
    T_HEARS(0, "");
    T_HEARS(1, "");
    t_pass(1000);
    T_HEARS(0, "+OK\r\n");
    T_HEARS(1, "+PONG\r\n");
    t_close();
    PASS();
}

TEST writes_wait_for_the_end_of_a_pause_and_reads_do_not(void)
{
    t_open();
    T_SAYS("CLIENT PAUSE 100 WRITE", "+OK\r\n");
    T_SAYS_TO(1, "GET k", "$-1\r\n");
    t_send(1, "SET k v");
    t_send(1, "GET k");
    T_HEARS(1, "");
    t_pass(101);
    T_HEARS(1, "+OK\r\n$1\r\nv\r\n");
    t_close();
    PASS();
}

/* ----------------------------------------------------------------- effects */

TEST the_log_has_effects_and_not_the_commands_as_sent(void)
{
    t_open();
    T_SAYS("SET k v EX 10", "+OK\r\n");
    T_SAYS("INCRBYFLOAT f 1.5", "$3\r\n1.5\r\n");
    T_SAYS("PEXPIRE k 5", ":1\r\n");
    T_SAYS("GET k", "$1\r\nv\r\n");
    T_SAYS("EXPIRE f -1", ":1\r\n");
    ASSERT(t_logs("SELECT 0\nSET k v PXAT 1700000010123\n"
                  "SET f 1.5 KEEPTTL\nPEXPIREAT k 1700000000128\nDEL f\n"));
    t_pass(6);
    ASSERT(t_logs("DEL k\n"));
    t_close();
    PASS();
}

TEST a_script_and_a_transaction_are_one_unit(void)
{
    t_open();
    T_SAYS("SELECT 1", "+OK\r\n");
    T_SAYS("MULTI", "+OK\r\n");
    T_SAYS("SET a 1", "+QUEUED\r\n");
    T_SAYS("GET a", "+QUEUED\r\n");
    T_SAYS("SET b 1", "+QUEUED\r\n");
    T_SAYS("EXEC", "*3\r\n+OK\r\n$1\r\n1\r\n+OK\r\n");
    ASSERT(t_logs("MULTI\nSELECT 1\nSET a 1\nSET b 1\nEXEC\n"));
    T_SAYS("EVAL redis.call('DEL','a')redis.call('DEL','b')return(1) 0",
           ":1\r\n");
    ASSERT(t_logs("MULTI\nDEL a\nDEL b\nEXEC\n"));
    T_SAYS("EVAL return(redis.call('INCR','n')) 0", ":1\r\n");
    ASSERT(t_logs("INCR n\n"));
    t_close();
    PASS();
}

TEST replayed_commands_are_not_logged_again(void)
{
    t_open();
    relet_local_replay(t_one.l, t_one.ids[1], 1);
    T_SAYS_TO(1, "SET k v PXAT 5", "+OK\r\n");
    T_SAYS_TO(1, "APPEND k w", ":2\r\n");
    ASSERT(t_logs(""));
    relet_local_replay(t_one.l, t_one.ids[1], 0);
    T_SAYS("GET k", "$-1\r\n");
    ASSERT(t_logs("SELECT 0\nDEL k\n"));
    t_close();
    PASS();
}

/* Takes the whole data set of one server as commands, feeds them to another,
 * and asks both. */
TEST a_dump_makes_the_same_data_set(void)
{
    static const char *const made[] = {
        "SET s v",          "SET t v PXAT 1700000009000",
        "RPUSH l a b c",    "SADD u 1 2 x",
        "HSET h f v g w",   "ZADD z 1.5 a -inf b 0.1 c",
        "XADD x 1-1 f v",   "XADD x 2-1 f v g w",
        "XDEL x 1-1",       "XGROUP CREATE x g 0",
        "XREADGROUP GROUP g c COUNT 1 STREAMS x >",
        "XGROUP CREATE y g $ MKSTREAM",
        "SELECT 3",         "SET other db",
        "SELECT 0"};
    static const char *const asked[] = {
        "GET s",          "PEXPIRETIME t",       "LRANGE l 0 -1",
        "SMEMBERS u",     "HGETALL h",           "ZRANGE z 0 -1 WITHSCORES",
        "XINFO STREAM x FULL", "XINFO STREAM y FULL", "DBSIZE"};
    static char dump[1 << 16], was[1 << 14];
    size_t i, n, got = 0;
    const uint8_t *p;
    uint64_t at = 0;
    int broken;

    t_open();
    for (i = 0; i < sizeof made / sizeof *made; i++)
        t_send(0, made[i]);
    while ((n = relet_local_dump(t_one.l, &at, &p, &broken)) > 0) {
        ASSERT(!broken);
        memcpy(dump + got, p, n);
        got += n;
    }
    for (i = 0; i < sizeof asked / sizeof *asked; i++)
        t_send(1, asked[i]);
    n = relet_local_output(t_one.l, t_one.ids[1], &p);
    ASSERT(n < sizeof was);
    memcpy(was, p, n);
    t_close();

    t_open();
    relet_local_feed(t_one.l, t_one.ids[0], dump, got);
    for (i = 0; i < sizeof asked / sizeof *asked; i++)
        t_send(1, asked[i]);
    ASSERT_EQ(n, relet_local_output(t_one.l, t_one.ids[1], &p));
    ASSERT_MEM_EQ(was, p, n);
    t_close();
    PASS();
}

/* ------------------------------------------------------------------ limits */

TEST an_empty_server_takes_no_more_than_64_kilobytes(void)
{
    size_t held;

    t_open();
    (void)relet_local_used(t_one.l, &held);
    ASSERT(relet_local_size() + held <= 65536);
    t_close();
    PASS();
}

TEST without_memory_there_is_no_server(void)
{
    char block[8];

    ASSERT(relet_local_init(NULL, 1 << 20, NULL) == NULL);
    ASSERT(relet_local_init(block, sizeof block, NULL) == NULL);
    PASS();
}

TEST a_client_that_does_not_take_its_replies_is_closed(void)
{
    relet_local_config config;
    relet_local *l;
    void *block = malloc(relet_local_size());
    const uint8_t *p;
    int id, i;

    memset(&config, 0, sizeof config);
    memset(&t_one, 0, sizeof t_one);
    config.resize = t_resize;
    config.user = &t_one;
    config.output_max = 1000;
    l = relet_local_init(block, relet_local_size(), &config);
    id = relet_local_connect(l);
    for (i = 0; i < 1000 && !relet_local_closed(l, id); i++)
        relet_local_feed(l, id, "PING\r\n", 6);
    ASSERT(i > 100 && i < 200);
    ASSERT(relet_local_output(l, id, &p) <= 1000);
    relet_local_finish(l);
    free(block);
    PASS();
}

TEST over_the_limit_a_command_is_refused_and_has_done_nothing(void)
{
    relet_local_config config;
    static char big[60000];
    relet_local *l;
    void *block = malloc(relet_local_size());
    const uint8_t *p;
    size_t n;
    int id, i;

    memset(&config, 0, sizeof config);
    memset(&t_one, 0, sizeof t_one);
    config.resize = t_resize;
    config.user = &t_one;
    config.memory_max = 1000000;
    l = relet_local_init(block, relet_local_size(), &config);
    id = relet_local_connect(l);
    memset(big, 'x', sizeof big);
    for (i = 0; i < 40; i++) {
        static const char head[] =
            "*3\r\n$5\r\nRPUSH\r\n$1\r\nl\r\n$60000\r\n";

        relet_local_feed(l, id, head, sizeof head - 1);
        relet_local_feed(l, id, big, sizeof big);
        relet_local_feed(l, id, "\r\n", 2);
        n = relet_local_output(l, id, &p);
        if (n == 0 || *p == '-')
            break;
        relet_local_sent(l, id, n);
    }
    ASSERT(i > 5 && i < 20);
    ASSERT(n > 0);
    ASSERT_MEM_EQ("-OOM ", p, 5);
    relet_local_sent(l, id, n);
    relet_local_feed(l, id, "LLEN l\r\n", 8);
    n = relet_local_output(l, id, &p);
    ASSERT_EQ((unsigned)i, (unsigned)strtoul((const char *)p + 1, NULL, 10));
    relet_local_finish(l);
    free(block);
    PASS();
}

/* ------------------------------------------------- memory fails, everywhere */

static const char *const t_talk[] = {
    "SET a 1",          "APPEND a 23456789",     "INCR n",
    "SETRANGE s 5000 x","GETEX a EX 100",        "MSET p 1 q 2 r 3",
    "RENAME p pp",      "COPY q qq",             "RPUSH l a b c d e",
    "LMOVE l m LEFT RIGHT", "SADD t a b 1 2 3",  "SUNIONSTORE u t t",
    "HSET h f v g w",   "ZADD z 1 a 2 b",        "XADD x * f v",
    "XGROUP CREATE x g 0", "XREADGROUP GROUP g c STREAMS x >",
    "WATCH a",          "MULTI",                 "SET a 2",
    "INCR n",           "EXEC",                  "SUBSCRIBE c",
    "UNSUBSCRIBE c",    "PUBLISH c x",           "CLIENT SETNAME me",
    "EVAL redis.call('SET','e',1)return({1,2,{3}}) 0",
    "EVAL return(redis.call('MGET','a','n')) 0", "SCRIPT LOAD return(7)",
    "ACL SETUSER u on >p ~* +@all", "CONFIG SET requirepass x",
    "INFO",             "CLIENT LIST",           "KEYS *",
    "SCAN 0",           "BLPOP none 0.001",      "FLUSHALL"};

static void t_converse(void)
{
    const uint8_t *p;
    size_t i;

    for (i = 0; i < sizeof t_talk / sizeof *t_talk; i++) {
        if (relet_local_closed(t_one.l, t_one.ids[0]))
            break;
        t_send(0, t_talk[i]);
        relet_local_sent(t_one.l, t_one.ids[0],
                         relet_local_output(t_one.l, t_one.ids[0], &p));
        t_pass(3);
        if (t_one.ids[2] >= 0 && !relet_local_closed(t_one.l, t_one.ids[2])) {
            t_send(2, i % 2 ? "CLIENT TRACKING ON" : "MGET a n l");
            relet_local_sent(t_one.l, t_one.ids[2],
                             relet_local_output(t_one.l, t_one.ids[2], &p));
        }
    }
}

/* Memory fails from the k-th allocation on, for a while or once; whatever
 * comes of it, afterwards the server works and gives all of it back. */
static enum greatest_test_res t_fails(long k, long n, long *calls)
{
    int id;
    const uint8_t *p;

    t_open();
    t_one.fail_from = t_one.calls + k;
    t_one.fail_to = t_one.fail_from + n;
    *calls = t_one.calls;
    t_converse();
    *calls = t_one.calls - *calls;
    t_one.fail_from = t_one.fail_to = 0;
    id = relet_local_connect(t_one.l);
    ASSERT(id >= 0);
    relet_local_replay(t_one.l, id, 1);
    relet_local_feed(t_one.l, id, "SET w 1\r\nGET w\r\n", 16);
    ASSERT_EQ(12u, relet_local_output(t_one.l, id, &p));
    ASSERT_MEM_EQ("+OK\r\n$1\r\n1\r\n", p, 12);
    t_close();
    PASS();
}

TEST any_allocation_of_a_server_may_fail(void)
{
    long k, calls = 1;

    for (k = 1; k <= calls; k++)
        CHECK_CALL(t_fails(k, 1, &calls));
    ASSERT(k > 10);
    PASS();
}

TEST any_allocation_may_fail_with_all_that_follow(void)
{
    long k, calls = 1;

    for (k = 1; k <= calls; k++)
        CHECK_CALL(t_fails(k, 1000000, &calls));
    PASS();
}

TEST a_server_that_cannot_begin_gives_everything_back(void)
{
    relet_local_config config;
    void *block = malloc(relet_local_size());
    relet_local *l = NULL;
    long k;

    for (k = 1; l == NULL; k++) {
        memset(&config, 0, sizeof config);
        memset(&t_one, 0, sizeof t_one);
        config.resize = t_resize;
        config.user = &t_one;
        t_one.fail_from = k;
        t_one.fail_to = k + 1;
        l = relet_local_init(block, relet_local_size(), &config);
    }
    ASSERT(k > 2);
    relet_local_finish(l);
    free(block);
    PASS();
}

/* ------------------------------------------------------------------- suites */

SUITE(t_bytes)
{
    RUN_TEST(a_command_may_come_byte_by_byte);
    RUN_TEST(many_commands_may_come_at_once);
    RUN_TEST(quotes_and_escapes_of_inline_commands_are_read);
    RUN_TEST(bytes_that_are_no_command_end_the_connection);
    RUN_TEST(an_endless_line_is_refused_at_64_kilobytes);
    RUN_TEST(empty_arrays_are_passed_over);
    RUN_TEST(an_unauthenticated_client_may_send_only_short_commands);
    RUN_TEST(a_partial_command_of_one_client_stays_its_own);
}

SUITE(t_clients)
{
    RUN_TEST(a_number_is_used_again_but_not_an_id);
    RUN_TEST(a_client_with_output_is_found);
    RUN_TEST(output_may_be_taken_in_pieces);
    RUN_TEST(a_client_that_hangs_up_leaves_nothing_waiting);
    RUN_TEST(a_killed_client_is_to_be_closed);
    RUN_TEST(no_more_clients_than_the_limit_are_let_in);
}

SUITE(t_times)
{
    RUN_TEST(a_key_is_there_in_its_last_millisecond_and_gone_in_the_next);
    RUN_TEST(the_deadline_is_when_the_next_key_goes);
    RUN_TEST(a_clock_that_jumps_back_gives_keys_more_time);
    RUN_TEST(a_blocked_client_is_told_when_its_time_is_over);
    RUN_TEST(a_sleeping_server_reads_nothing_until_it_wakes);
    RUN_TEST(writes_wait_for_the_end_of_a_pause_and_reads_do_not);
}

SUITE(t_effects)
{
    RUN_TEST(the_log_has_effects_and_not_the_commands_as_sent);
    RUN_TEST(a_script_and_a_transaction_are_one_unit);
    RUN_TEST(replayed_commands_are_not_logged_again);
    RUN_TEST(a_dump_makes_the_same_data_set);
}

SUITE(t_limits)
{
    RUN_TEST(an_empty_server_takes_no_more_than_64_kilobytes);
    RUN_TEST(without_memory_there_is_no_server);
    RUN_TEST(a_client_that_does_not_take_its_replies_is_closed);
    RUN_TEST(over_the_limit_a_command_is_refused_and_has_done_nothing);
    RUN_TEST(any_allocation_of_a_server_may_fail);
    RUN_TEST(any_allocation_may_fail_with_all_that_follow);
    RUN_TEST(a_server_that_cannot_begin_gives_everything_back);
}

/* --------------------------------------------------------------------- ids */

/* Returns a field of INFO of a server with this configuration. */
static const char *t_info(const relet_local_config *config, const char *field)
{
    static char said[4][60], text[8192];
    static int next;
    char *out = said[next++ % 4];
    relet_local *l = relet_local_init(t_one.block, relet_local_size(), config);
    const uint8_t *p;
    const char *at;
    size_t n;
    int id;

    if (l == NULL)
        abort();
    id = relet_local_connect(l);
    relet_local_feed(l, id, "INFO server replication\r\n", 25);
    n = relet_local_output(l, id, &p);
    sprintf(text, "%.*s", (int)n, (const char *)p);
    relet_local_finish(l);
    at = strstr(text, field);
    sprintf(out, "%.40s", at ? at + strlen(field) : "");
    out[strcspn(out, "\r")] = '\0';
    return out;
}

TEST a_server_that_is_promoted_keeps_its_run_id_and_has_a_new_history(void)
{
    relet_local_config config;
    char run[41], replid[41];

    memset(&config, 0, sizeof config);
    memset(&t_one, 0, sizeof t_one);
    config.resize = t_resize;
    config.user = &t_one;
    t_one.block = malloc(relet_local_size());
    strcpy(run, t_info(&config, "\nrun_id:"));
    strcpy(replid, t_info(&config, "\nmaster_replid:"));
    ASSERT_EQ(40, strlen(run));
    ASSERT_EQ(40, strlen(replid));
    ASSERT(strcmp(run, replid) != 0);
    ASSERT_STR_EQ("-1", t_info(&config, "\nsecond_repl_offset:"));
    config.seed = 9;
    ASSERT(strcmp(run, t_info(&config, "\nrun_id:")) != 0);
    config.run_id = run;
    config.replid = replid;
    ASSERT_STR_EQ(run, t_info(&config, "\nrun_id:"));
    ASSERT(strcmp(replid, t_info(&config, "\nmaster_replid:")) != 0);
    ASSERT_STR_EQ(replid, t_info(&config, "\nmaster_replid2:"));
    ASSERT_STR_EQ("0", t_info(&config, "\nsecond_repl_offset:"));
    free(t_one.block);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(t_bytes);
    RUN_SUITE(t_clients);
    RUN_SUITE(t_times);
    RUN_SUITE(t_effects);
    RUN_SUITE(t_limits);
    RUN_TEST(a_server_that_is_promoted_keeps_its_run_id_and_has_a_new_history);
    GREATEST_MAIN_END();
}
