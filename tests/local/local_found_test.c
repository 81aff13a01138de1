/* SPDX-License-Identifier: MIT
 *
 * local_found_test.c - differences between the local server and a real one that
 * are repaired.
 *
 * The tapes of tests/model found them; each test has the few commands that show
 * one. The replies are those of the real server. */
#include "local_cmd.h"

/* Client 2 gets every keyspace event, also those of its own commands. */
static void t_ears(void)
{
    t_open();
    t_does(2, "CONFIG SET notify-keyspace-events Kg$lshzxetmn");
    t_does(2, "PSUBSCRIBE __key*__:*");
}

#define T_EVENT(at, key, n, event)                                            \
    ">4\r\n$8\r\npmessage\r\n$10\r\n__key*__:*\r\n$" at                       \
    "\r\n__keyspace@0__:" key "\r\n$" n "\r\n" event "\r\n"

/* --------------------------------------------------------- order of events */

TEST the_reply_of_expire_comes_before_its_event(void)
{
    t_ears();
    t_does(0, "SET k v");
    t_done(2);
    T_SAYS_TO(2, "PEXPIRE k 100", ":1\r\n" T_EVENT("16", "k", "6", "expire"));
    T_SAYS_TO(2, "PEXPIRE k 0", T_EVENT("16", "k", "3", "del") ":1\r\n");
    t_close();
    PASS();
}

TEST the_reply_of_hset_and_zadd_comes_before_the_event(void)
{
    t_ears();
    t_does(0, "HSET h a 1");
    t_does(0, "ZADD z 1 a");
    t_done(2);
    T_SAYS_TO(2, "HSET h a 2", ":0\r\n" T_EVENT("16", "h", "4", "hset"));
    T_SAYS_TO(2, "HMSET h a 2", "+OK\r\n" T_EVENT("16", "h", "4", "hset"));
    T_SAYS_TO(2, "ZADD z 1 b", ":1\r\n" T_EVENT("16", "z", "4", "zadd"));
    T_SAYS_TO(2, "ZINCRBY z 1 b", ",2\r\n" T_EVENT("16", "z", "5", "zincr"));
    t_close();
    PASS();
}

TEST an_event_of_zpopmin_stands_within_its_reply(void)
{
    t_ears();
    t_does(0, "ZADD z 1 a 2 b");
    t_done(2);
    T_SAYS_TO(2, "ZPOPMIN z",
              "*2\r\n" T_EVENT("16", "z", "7", "zpopmin") "$1\r\na\r\n,1\r\n");
    t_close();
    PASS();
}

TEST an_event_of_spop_comes_before_its_reply(void)
{
    t_ears();
    t_does(0, "SADD t a");
    t_done(2);
    T_SAYS_TO(2, "SPOP t",
              T_EVENT("16", "t", "4", "spop") "$1\r\na\r\n"
              T_EVENT("16", "t", "3", "del"));
    t_close();
    PASS();
}

TEST lmove_replies_between_its_two_events(void)
{
    t_ears();
    t_does(0, "RPUSH l a b");
    t_does(0, "RPUSH m c");
    t_done(2);
    T_SAYS_TO(2, "LMOVE l m LEFT LEFT",
              T_EVENT("16", "m", "5", "lpush") "$1\r\na\r\n"
              T_EVENT("16", "l", "4", "lpop"));
    t_close();
    PASS();
}

TEST an_empty_result_deletes_its_key_without_expiring_it(void)
{
    t_ears();
    t_does(0, "DEBUG SET-ACTIVE-EXPIRE 0");
    t_does(0, "SET k v PX 10");
    t_pass(20);
    t_done(2);
    T_SAYS("SDIFFSTORE k none", ":0\r\n");
    T_HEARS(2, T_EVENT("19", "none", "7", "keymiss")
                   T_EVENT("16", "k", "3", "del"));
    t_close();
    PASS();
}

TEST a_stored_result_expires_the_key_that_was_due(void)
{
    t_ears();
    t_does(0, "DEBUG SET-ACTIVE-EXPIRE 0");
    t_does(0, "SET k v PX 10");
    t_does(0, "SADD t a");
    t_pass(20);
    t_done(2);
    T_SAYS("SUNIONSTORE k t", ":1\r\n");
    T_HEARS(2, T_EVENT("16", "k", "7", "expired")
                   T_EVENT("16", "k", "3", "new")
                   T_EVENT("16", "k", "11", "sunionstore"));
    t_close();
    PASS();
}

TEST xautoclaim_looks_its_key_up_before_it_reads_arguments(void)
{
    t_ears();
    T_SAYS("XAUTOCLAIM x g c 1 0 COUNT 0", "-ERR COUNT must be > 0\r\n");
    T_HEARS(2, T_EVENT("16", "x", "7", "keymiss"));
    t_close();
    PASS();
}

TEST a_due_key_that_chance_meets_is_not_missed(void)
{
    t_ears();
    t_does(0, "DEBUG SET-ACTIVE-EXPIRE 0");
    t_does(0, "SET k v PX 10");
    t_pass(20);
    t_done(2);
    T_SAYS("RANDOMKEY", "$-1\r\n");
    T_HEARS(2, T_EVENT("16", "k", "7", "expired"));
    t_close();
    PASS();
}

TEST xread_misses_a_stream_before_its_reply_begins(void)
{
    t_ears();
    t_does(0, "XADD x 1-1 a b");
    t_done(2);
    T_SAYS_TO(2, "XREAD STREAMS no x 0 0",
              T_EVENT("17", "no", "7", "keymiss")
              T_EVENT("17", "no", "7", "keymiss")
              "%1\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\na\r\n"
              "$1\r\nb\r\n");
    t_close();
    PASS();
}

/* ------------------------------------------------------------------ waiting */

TEST a_reader_of_a_group_is_told_when_its_stream_is_renamed(void)
{
    t_open();
    t_does(0, "XGROUP CREATE x g $ MKSTREAM");
    t_send(1, "XREADGROUP GROUP g c BLOCK 0 STREAMS x >");
    T_HEARS(1, "");
    T_SAYS("RENAME x y", "+OK\r\n");
    T_HEARS(1, "-UNBLOCKED the stream key no longer exists\r\n");
    t_send(1, "XREADGROUP GROUP g c BLOCK 0 STREAMS y >");
    T_SAYS("MOVE y 1", ":1\r\n");
    T_HEARS(1, "-UNBLOCKED the stream key no longer exists\r\n");
    t_close();
    PASS();
}

TEST a_deleted_stream_gives_its_blocked_reader_no_keymiss_event(void)
{
    t_ears();
    t_does(0, "XGROUP CREATE x g $ MKSTREAM");
    t_send(1, "XREADGROUP GROUP g c BLOCK 0 STREAMS x >");
    t_done(2);
    T_SAYS("DEL x", ":1\r\n");
    T_HEARS(1, "-UNBLOCKED the stream key no longer exists\r\n");
    T_HEARS(2, T_EVENT("16", "x", "3", "del"));
    t_close();
    PASS();
}

TEST a_consumer_that_waited_is_made_before_its_reply_begins(void)
{
    t_ears();
    t_does(0, "XGROUP CREATE x g $ MKSTREAM");
    t_done(2);
    t_send(2, "XREADGROUP GROUP g c BLOCK 0 NOACK STREAMS x >");
    t_does(0, "XADD x 1-1 a b");
    T_HEARS(2, T_EVENT("16", "x", "4", "xadd")
                   T_EVENT("16", "x", "21", "xgroup-createconsumer")
            "%1\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\na\r\n"
            "$1\r\nb\r\n");
    t_close();
    PASS();
}

TEST a_script_may_not_ask_to_block(void)
{
    t_open();
    relet_local_feed(t_one.l, t_one.ids[0],
                     "EVAL \"return redis.pcall('xread','BLOCK',0,'streams',"
                     "'x','$')\" 0\r\n", 66);
    T_HEARS(0, "-ERR xread command is not allowed with BLOCK option from "
               "scripts\r\n");
    t_close();
    PASS();
}

TEST waiting_for_fewer_than_no_replicas_ends_at_once(void)
{
    t_open();
    T_SAYS("WAIT -2147483649 1", ":0\r\n");
    T_SAYS("WAIT 4294967296 1", ":0\r\n");
    t_close();
    PASS();
}

TEST a_time_out_beyond_all_time_never_comes(void)
{
    t_open();
    T_SAYS("XREAD BLOCK 9223372036854775807 STREAMS x $", "");
    T_SAYS_TO(1, "BLPOP l 9223372036854775", "");
    T_SAYS_TO(2, "BLPOP l 9223372036854776",
              "-ERR timeout is negative\r\n");
    ASSERT(relet_local_deadline(t_one.l) == INT64_MAX);
    t_close();
    PASS();
}

/* -------------------------------------------------------------- connections */

static int t_told(int client, const char *text)
{
    const uint8_t *p;
    size_t n = relet_local_output(t_one.l, t_one.ids[client], &p);
    size_t m = strlen(text), i;

    for (i = 0; i + m <= n; i++)
        if (memcmp(p + i, text, m) == 0)
            return 1;
    return 0;
}

TEST a_command_within_multi_that_is_spoilt_is_not_kept(void)
{
    t_open();
    t_does(0, "MULTI");
    t_does(0, "NOSUCH");
    T_SAYS("SET a b", "+QUEUED\r\n");
    t_send(1, "CLIENT LIST");
    ASSERT(t_told(1, " multi=0 "));
    ASSERT_FALSE(t_told(1, " multi=1 "));
    t_close();
    PASS();
}

TEST a_killed_client_is_not_listed(void)
{
    t_open();
    T_SAYS("CLIENT KILL TYPE normal SKIPME yes", ":2\r\n");
    t_send(0, "CLIENT LIST");
    ASSERT(t_told(0, "addr=local:0 "));
    ASSERT_FALSE(t_told(0, "addr=local:1 "));
    t_close();
    PASS();
}

TEST a_client_closed_within_exec_gets_no_further_replies(void)
{
    t_open();
    t_does(0, "ACL SETUSER bob on nopass ~* &* +@all");
    t_does(0, "AUTH bob x");
    t_does(0, "MULTI");
    t_does(0, "ACL DELUSER bob");
    t_does(0, "PING");
    T_SAYS("EXEC", "*2\r\n:1\r\n");
    ASSERT(relet_local_closed(t_one.l, t_one.ids[0]));
    t_close();
    PASS();
}

TEST quit_closes_a_client_with_replies_off(void)
{
    t_open();
    t_does(0, "CLIENT REPLY OFF");
    T_SAYS("QUIT", "");
    ASSERT(relet_local_closed(t_one.l, t_one.ids[0]));
    t_close();
    PASS();
}

TEST a_reset_that_is_to_be_skipped_says_nothing(void)
{
    t_open();
    t_does(0, "CLIENT REPLY SKIP");
    T_SAYS("RESET", "");
    T_SAYS("PING", "+PONG\r\n");
    t_close();
    PASS();
}

TEST a_skipped_reply_is_skipped_after_blocking_too(void)
{
    t_open();
    t_does(0, "CLIENT REPLY SKIP");
    t_send(0, "BLPOP l 0.01");
    t_pass(20);
    T_HEARS(0, "");
    T_SAYS("PING", "+PONG\r\n");
    t_close();
    PASS();
}

/* ----------------------------------------------------------------- tracking */

TEST client_caching_outlives_a_repeated_client_tracking(void)
{
    t_open();
    t_does(2, "CLIENT TRACKING ON OPTIN");
    t_does(2, "CLIENT CACHING YES");
    t_does(2, "CLIENT TRACKING ON OPTIN");
    t_does(2, "GET k");
    t_does(0, "SET k v");
    T_HEARS(2, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n");
    t_close();
    PASS();
}

TEST client_caching_in_a_transaction_ends_with_the_transaction(void)
{
    t_open();
    t_does(0, "CLIENT TRACKING ON OPTOUT");
    t_does(0, "MULTI");
    t_does(0, "CLIENT CACHING NO");
    t_does(0, "EXEC");
    t_send(0, "CLIENT TRACKINGINFO");
    ASSERT_FALSE(t_told(0, "caching-no"));
    t_close();
    PASS();
}

TEST an_own_change_is_told_in_the_protocol_of_the_end(void)
{
    t_open();
    t_does(2, "CLIENT TRACKING ON");
    t_does(2, "MULTI");
    t_does(2, "FLUSHDB");
    t_does(2, "HELLO 2");
    t_send(2, "EXEC");
    ASSERT_FALSE(t_told(2, "invalidate"));
    t_done(2);
    t_does(2, "MULTI");
    t_does(2, "FLUSHDB");
    t_does(2, "HELLO 3");
    t_send(2, "EXEC");
    ASSERT(t_told(2, ">2\r\n$10\r\ninvalidate\r\n_\r\n"));
    t_close();
    PASS();
}

TEST a_key_that_changed_while_its_reader_waited_is_not_told_again(void)
{
    t_open();
    t_does(2, "CLIENT TRACKING ON");
    t_send(2, "XREAD BLOCK 0 STREAMS x $");
    t_does(0, "XADD x 1-1 a b");
    ASSERT(t_told(2, "invalidate"));
    t_done(2);
    t_does(0, "XADD x 1-2 a b");
    T_HEARS(2, "");
    t_close();
    PASS();
}

TEST an_unbalanced_xread_reads_no_key(void)
{
    t_open();
    t_does(2, "CLIENT TRACKING ON");
    t_does(2, "XREAD STREAMS x x $");
    t_does(0, "XADD x * a b");
    T_HEARS(2, "");
    t_does(2, "XREAD STREAMS x 0");
    t_does(0, "XADD x * a b");
    ASSERT(t_told(2, "invalidate"));
    t_close();
    PASS();
}

/* The first number of a client is 1. */
TEST a_shard_channel_subscriber_gets_redirected_invalidations(void)
{
    t_open();
    t_does(1, "SSUBSCRIBE d");
    t_does(0, "CLIENT TRACKING ON REDIRECT 2");
    t_does(0, "GET k");
    t_does(0, "SET k v");
    ASSERT(t_told(1, "__redis__:invalidate"));
    t_close();
    PASS();
}

/* --------------------------------------------------------------- permission */

TEST a_script_can_ask_which_commands_its_user_may_run(void)
{
    static const char ask[] =
        "EVAL \"return{redis.acl_check_cmd('get','s1'),"
        "redis.acl_check_cmd('get','h1'),redis.acl_check_cmd('set','s1',"
        "'x')}\" 0\r\n";
    static const char none[] =
        "EVAL \"return redis.acl_check_cmd('no')\" 0\r\n";

    t_open();
    t_does(0, "ACL SETUSER bob on nopass ~s* -@all +get +eval");
    t_does(0, "AUTH bob x");
    relet_local_feed(t_one.l, t_one.ids[0], ask, sizeof ask - 1);
    T_HEARS(0, "*3\r\n:1\r\n$-1\r\n$-1\r\n");
    relet_local_feed(t_one.l, t_one.ids[0], none, sizeof none - 1);
    T_HEARS(0, "-ERR Invalid command passed to redis.acl_check_cmd() script: "
               "2f250175ce299b3cd6648e29b8b882e1b9b4f4a5, on "
               "@user_script:1.\r\n");
    t_close();
    PASS();
}

TEST a_script_is_told_which_channel_it_may_not_use(void)
{
    static const char ask[] =
        "EVAL \"return redis.pcall('publish','d','x')\" 0\r\n";

    t_open();
    t_does(0, "ACL SETUSER bob on nopass ~* &c* +@all");
    t_does(0, "AUTH bob x");
    relet_local_feed(t_one.l, t_one.ids[0], ask, sizeof ask - 1);
    T_HEARS(0, "-ERR The user executing the script can't publish to the "
               "channel mentioned in the command\r\n");
    t_close();
    PASS();
}

TEST shard_channels_are_no_keys(void)
{
    t_open();
    t_does(0, "ACL SETUSER bob on nopass ~s* &c* +@all");
    t_does(0, "AUTH bob x");
    T_SAYS("SPUBLISH c1 x", ":0\r\n");
    T_SAYS("SPUBLISH d x", "-NOPERM this user has no permissions to access "
                           "one of the channels used as arguments\r\n");
    t_close();
    PASS();
}

TEST keys_are_counted_as_atoi_counts(void)
{
    t_open();
    t_does(0, "ACL SETUSER bob on nopass ~s* +@all");
    t_does(0, "AUTH bob x");
    T_SAYS("EVAL x 1-1 h1", "-NOPERM this user has no permissions to access "
                            "one of the keys used as arguments\r\n");
    T_SAYS("EVAL x -1 h1", "-ERR Number of keys can't be negative\r\n");
    T_SAYS("ZDIFFSTORE h1 ( h2", "-ERR value is not an integer or out of "
                                 "range\r\n");
    t_close();
    PASS();
}

/* -------------------------------------------------------------- sorted sets */

TEST a_limit_of_ranks_that_limits_nothing_is_not_looked_at(void)
{
    t_open();
    t_does(0, "ZADD z 4 a");
    T_SAYS("ZRANGE z -100 2 LIMIT -100 -1", "*1\r\n$1\r\na\r\n");
    t_close();
    PASS();
}

/* A number in INFO, -1: it is not there. */
static long t_info(const char *field)
{
    static char text[8192];
    const uint8_t *p;
    const char *at;
    size_t n;

    t_send(0, "INFO");
    n = relet_local_output(t_one.l, t_one.ids[0], &p);
    if (n >= sizeof text)
        return -1;
    memcpy(text, p, n);
    text[n] = '\0';
    relet_local_sent(t_one.l, t_one.ids[0], n);
    at = strstr(text, field);
    return at ? strtol(at + strlen(field) + 1, NULL, 10) : -1;
}

TEST every_lookup_of_a_key_counts_a_hit_or_a_miss(void)
{
    t_open();
    t_does(0, "SET a 1");
    t_does(0, "CONFIG RESETSTAT");
    t_does(0, "EXISTS a b");
    t_does(0, "TYPE a");
    t_does(0, "TYPE b");
    t_does(0, "TTL a");
    t_does(0, "PTTL b");
    t_does(0, "EXPIRETIME a");
    t_does(0, "SCAN 0 TYPE list");
    ASSERT_EQ(5, t_info("keyspace_hits"));
    ASSERT_EQ(3, t_info("keyspace_misses"));
    t_close();
    PASS();
}

TEST an_error_that_a_script_returns_is_counted_once(void)
{
    t_open();
    t_does(0, "EVAL return{err='x'} 0");
    ASSERT_EQ(1, t_info("total_error_replies"));
    t_does(0, "EVAL return{1,redis.error_reply('x'),{err='y'}} 0");
    ASSERT_EQ(3, t_info("total_error_replies"));
    t_does(0, "EVAL return{redis.pcall('incr','x','y')} 0");
    ASSERT_EQ(4, t_info("total_error_replies"));
    t_does(0, "EVAL error('x') 0");
    ASSERT_EQ(5, t_info("total_error_replies"));
    t_close();
    PASS();
}

TEST after_a_pause_commands_run_in_the_order_in_which_they_came(void)
{
    t_open();
    T_SAYS_TO(1, "CLIENT PAUSE 1000 WRITE", "+OK\r\n");
    T_SAYS_TO(2, "RPUSH l c", "");
    T_SAYS_TO(0, "RPUSH l a", "");
    t_does(1, "CLIENT UNPAUSE");
    T_HEARS(2, ":1\r\n");
    T_HEARS(0, ":2\r\n");
    t_does(1, "CLIENT PAUSE 1000 WRITE");
    T_SAYS_TO(2, "RPUSH l d", "");
    T_SAYS_TO(0, "RPUSH l e", "");
    t_pass(1001);
    T_HEARS(2, ":3\r\n");
    T_HEARS(0, ":4\r\n");
    t_close();
    PASS();
}

TEST a_paused_client_that_leaves_is_not_waited_for(void)
{
    t_open();
    t_does(1, "CLIENT PAUSE 1000 WRITE");
    T_SAYS_TO(0, "RPUSH l a", "");
    T_SAYS_TO(2, "RPUSH l b", "");
    relet_local_hangup(t_one.l, t_one.ids[0]);
    t_does(1, "CLIENT UNPAUSE");
    T_HEARS(2, ":1\r\n");
    t_close();
    PASS();
}

TEST an_operand_chosen_by_or_has_no_name_in_an_error(void)
{
    t_open();
    T_SAYS("EVAL return(ARGV[1]or\t0)+1 0 x",
           "-ERR user_script:1: attempt to perform arithmetic on a string "
           "value script: 381df97e51245a547f23683b47ef96b522758d00, on "
           "@user_script:1.\r\n");
    t_close();
    PASS();
}

TEST a_setting_without_a_value_is_a_syntax_error(void)
{
    t_open();
    T_SAYS("CONFIG SET maxmemory 0 maxmemory-policy",
           "-ERR syntax error\r\n");
    T_SAYS("CONFIG SET nope x y", "-ERR syntax error\r\n");
    T_SAYS("CONFIG SET maxmemory",
           "-ERR wrong number of arguments for 'config|set' command\r\n");
    t_close();
    PASS();
}

TEST members_skipped_by_a_lex_range_are_not_compared(void)
{
    t_open();
    t_does(0, "ZADD z 0 B 3 2 4 aa 5 10 100 d");
    T_SAYS("ZREVRANGEBYLEX z [z (a LIMIT 2 -2", "*1\r\n$2\r\naa\r\n");
    t_close();
    PASS();
}

SUITE(t_events)
{
    RUN_TEST(the_reply_of_expire_comes_before_its_event);
    RUN_TEST(the_reply_of_hset_and_zadd_comes_before_the_event);
    RUN_TEST(an_event_of_zpopmin_stands_within_its_reply);
    RUN_TEST(an_event_of_spop_comes_before_its_reply);
    RUN_TEST(lmove_replies_between_its_two_events);
    RUN_TEST(an_empty_result_deletes_its_key_without_expiring_it);
    RUN_TEST(a_stored_result_expires_the_key_that_was_due);
    RUN_TEST(xautoclaim_looks_its_key_up_before_it_reads_arguments);
    RUN_TEST(a_due_key_that_chance_meets_is_not_missed);
    RUN_TEST(xread_misses_a_stream_before_its_reply_begins);
}

SUITE(t_waits_and_connections)
{
    RUN_TEST(a_reader_of_a_group_is_told_when_its_stream_is_renamed);
    RUN_TEST(a_deleted_stream_gives_its_blocked_reader_no_keymiss_event);
    RUN_TEST(a_consumer_that_waited_is_made_before_its_reply_begins);
    RUN_TEST(a_script_may_not_ask_to_block);
    RUN_TEST(waiting_for_fewer_than_no_replicas_ends_at_once);
    RUN_TEST(a_time_out_beyond_all_time_never_comes);
    RUN_TEST(a_command_within_multi_that_is_spoilt_is_not_kept);
    RUN_TEST(a_killed_client_is_not_listed);
    RUN_TEST(a_client_closed_within_exec_gets_no_further_replies);
    RUN_TEST(quit_closes_a_client_with_replies_off);
    RUN_TEST(a_reset_that_is_to_be_skipped_says_nothing);
    RUN_TEST(a_skipped_reply_is_skipped_after_blocking_too);
    RUN_TEST(client_caching_outlives_a_repeated_client_tracking);
    RUN_TEST(client_caching_in_a_transaction_ends_with_the_transaction);
    RUN_TEST(an_own_change_is_told_in_the_protocol_of_the_end);
    RUN_TEST(a_key_that_changed_while_its_reader_waited_is_not_told_again);
    RUN_TEST(an_unbalanced_xread_reads_no_key);
    RUN_TEST(a_shard_channel_subscriber_gets_redirected_invalidations);
}

SUITE(t_others)
{
    RUN_TEST(a_script_can_ask_which_commands_its_user_may_run);
    RUN_TEST(a_script_is_told_which_channel_it_may_not_use);
    RUN_TEST(shard_channels_are_no_keys);
    RUN_TEST(keys_are_counted_as_atoi_counts);
    RUN_TEST(a_limit_of_ranks_that_limits_nothing_is_not_looked_at);
    RUN_TEST(every_lookup_of_a_key_counts_a_hit_or_a_miss);
    RUN_TEST(an_error_that_a_script_returns_is_counted_once);
    RUN_TEST(after_a_pause_commands_run_in_the_order_in_which_they_came);
    RUN_TEST(a_paused_client_that_leaves_is_not_waited_for);
    RUN_TEST(an_operand_chosen_by_or_has_no_name_in_an_error);
    RUN_TEST(a_setting_without_a_value_is_a_syntax_error);
    RUN_TEST(members_skipped_by_a_lex_range_are_not_compared);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(t_events);
    RUN_SUITE(t_waits_and_connections);
    RUN_SUITE(t_others);
    GREATEST_MAIN_END();
}
