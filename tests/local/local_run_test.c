/* SPDX-License-Identifier: MIT
 *
 * local_run_test.c - the order of checks, transactions, waiting, subscribing,
 * tracking, users and scripts, with the replies that a real server gave. */
#include "local_cmd.h"

/* ------------------------------------------------------------------ checks */

TEST an_unknown_command_is_named_with_its_arguments(void)
{
    t_open();
    T_SAYS("nosuch a b", "-ERR unknown command 'nosuch', with args beginning "
                         "with: 'a' 'b' \r\n");
    T_SAYS("client nosuch",
           "-ERR unknown subcommand 'nosuch'. Try CLIENT HELP.\r\n");
    T_SAYS("get", "-ERR wrong number of arguments for 'get' command\r\n");
    T_SAYS("client kill",
           "-ERR wrong number of arguments for 'client|kill' command\r\n");
    t_close();
    PASS();
}

TEST a_command_that_takes_memory_is_refused_over_maxmemory(void)
{
    t_open();
    T_SAYS("SET a 1", "+OK\r\n");
    T_SAYS("CONFIG SET maxmemory 1", "+OK\r\n");
    T_SAYS("SET a 2", "-OOM command not allowed when used memory > "
                      "'maxmemory'.\r\n");
    T_SAYS("GET a", "$1\r\n1\r\n");
    T_SAYS("DEL a", ":1\r\n");
    T_SAYS("EVAL return(redis.call('SET','a',1)) 0",
           "-OOM command not allowed when used memory > 'maxmemory'. script: "
           "6274210007bdf2d38463339f49dd28197efccb99, on @user_script:1."
           "\r\n");
    T_SAYS("MULTI", "+OK\r\n");
    T_SAYS("GET a", "-OOM command not allowed when used memory > "
                    "'maxmemory'.\r\n");
    T_SAYS("EXEC", "-EXECABORT Transaction discarded because of previous "
                   "errors.\r\n");
    t_close();
    PASS();
}

TEST a_reader_in_resp2_may_do_nothing_else(void)
{
    t_open();
    T_SAYS("SUBSCRIBE c", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
    T_SAYS("GET a",
           "-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE "
           "/ PING / QUIT / RESET are allowed in this context\r\n");
    T_SAYS("PING", "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
    T_SAYS("RESET", "+RESET\r\n");
    T_SAYS("GET a", "$-1\r\n");
    t_close();
    PASS();
}

TEST replies_can_be_turned_off(void)
{
    t_open();
    T_SAYS("CLIENT REPLY SKIP", "");
    T_SAYS("SET a 1", "");
    T_SAYS("GET a", "$1\r\n1\r\n");
    T_SAYS("CLIENT REPLY OFF", "");
    T_SAYS("INCR a", "");
    T_SAYS("CLIENT REPLY ON", "+OK\r\n");
    T_SAYS("GET a", "$1\r\n2\r\n");
    t_close();
    PASS();
}

/* ------------------------------------------------------------ transactions */

TEST a_refused_command_spoils_the_transaction(void)
{
    t_open();
    T_SAYS("MULTI", "+OK\r\n");
    T_SAYS("SET a 1", "+QUEUED\r\n");
    T_SAYS("GET", "-ERR wrong number of arguments for 'get' command\r\n");
    T_SAYS("EXEC", "-EXECABORT Transaction discarded because of previous "
                   "errors.\r\n");
    T_SAYS("GET a", "$-1\r\n");
    T_SAYS("EXEC", "-ERR EXEC without MULTI\r\n");
    t_close();
    PASS();
}

TEST nested_multi_and_watch_inside_spoil_nothing(void)
{
    t_open();
    T_SAYS("MULTI", "+OK\r\n");
    T_SAYS("MULTI", "-ERR MULTI calls can not be nested\r\n");
    T_SAYS("WATCH a", "-ERR WATCH inside MULTI is not allowed\r\n");
    T_SAYS("SET a 1", "+QUEUED\r\n");
    T_SAYS("EXEC", "*1\r\n+OK\r\n");
    t_close();
    PASS();
}

TEST a_watched_key_that_changed_or_lapsed_ends_the_transaction(void)
{
    t_open();
    T_SAYS("WATCH a", "+OK\r\n");
    T_SAYS_TO(1, "SET a 1 PX 50", "+OK\r\n");
    T_SAYS("MULTI", "+OK\r\n");
    T_SAYS("PING", "+QUEUED\r\n");
    T_SAYS("EXEC", "*-1\r\n");
    T_SAYS("DEBUG SET-ACTIVE-EXPIRE 0", "+OK\r\n");
    T_SAYS("WATCH a", "+OK\r\n");
    t_pass(51);
    T_SAYS("MULTI", "+OK\r\n");
    T_SAYS("PING", "+QUEUED\r\n");
    T_SAYS("EXEC", "*-1\r\n");
    t_close();
    PASS();
}

TEST a_key_that_was_due_when_watched_has_not_changed_by_going(void)
{
    t_open();
    T_SAYS("DEBUG SET-ACTIVE-EXPIRE 0", "+OK\r\n");
    T_SAYS("SET a 1 PX 50", "+OK\r\n");
    t_pass(51);
    T_SAYS("WATCH a", "+OK\r\n");
    T_SAYS_TO(1, "GET a", "$-1\r\n");
    T_SAYS("MULTI", "+OK\r\n");
    T_SAYS("PING", "+QUEUED\r\n");
    T_SAYS("EXEC", "*1\r\n+PONG\r\n");
    t_close();
    PASS();
}

/* ----------------------------------------------------------------- waiting */

TEST the_client_that_blocked_first_is_served_first(void)
{
    t_open();
    t_send(0, "BLPOP a b 0");
    t_send(1, "BLPOP b 0");
    T_SAYS_TO(2, "RPUSH b 1 2 3", ":3\r\n");
    T_HEARS(0, "*2\r\n$1\r\nb\r\n$1\r\n1\r\n");
    T_HEARS(1, "*2\r\n$1\r\nb\r\n$1\r\n2\r\n");
    T_SAYS_TO(2, "LLEN b", ":1\r\n");
    ASSERT(t_logs("SELECT 0\nRPUSH b 1 2 3\nLPOP b\nLPOP b\n"));
    t_close();
    PASS();
}

TEST a_blocked_client_is_served_from_the_key_that_was_filled_first(void)
{
    t_open();
    t_send(0, "BZPOPMIN a b 0");
    T_SAYS_TO(1, "MULTI", "+OK\r\n");
    T_SAYS_TO(1, "ZADD b 1 x", "+QUEUED\r\n");
    T_SAYS_TO(1, "ZADD a 1 y", "+QUEUED\r\n");
    T_SAYS_TO(1, "EXEC", "*2\r\n:1\r\n:1\r\n");
    T_HEARS(0, "*3\r\n$1\r\nb\r\n$1\r\nx\r\n$1\r\n1\r\n");
    t_close();
    PASS();
}

TEST commands_of_a_blocked_client_run_afterwards(void)
{
    t_open();
    t_send(0, "BLPOP a 0");
    t_send(0, "PING");
    T_HEARS(0, "");
    T_SAYS_TO(1, "CLIENT UNBLOCK 1 ERROR", ":1\r\n");
    T_HEARS(0, "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n"
               "+PONG\r\n");
    t_close();
    PASS();
}

TEST a_key_of_another_type_wakes_no_blocked_client(void)
{
    t_open();
    t_send(0, "BLPOP a 0");
    T_SAYS_TO(1, "SET a 1", "+OK\r\n");
    T_SAYS_TO(1, "DEL a", ":1\r\n");
    T_SAYS_TO(1, "ZADD a 1 x", ":1\r\n");
    T_HEARS(0, "");
    T_SAYS_TO(1, "DEL a", ":1\r\n");
    T_SAYS_TO(1, "RPUSH a v", ":1\r\n");
    T_HEARS(0, "*2\r\n$1\r\na\r\n$1\r\nv\r\n");
    t_close();
    PASS();
}

TEST wait_for_replicas_ends_with_none(void)
{
    t_open();
    T_SAYS("WAIT 0 0", ":0\r\n");
    t_send(0, "WAIT 1 50");
    t_pass(50);
    T_HEARS(0, "");
    t_pass(1);
    T_HEARS(0, ":0\r\n");
    t_close();
    PASS();
}

/* -------------------------------------------------- channels and tracking */

TEST a_message_reaches_channels_and_patterns(void)
{
    t_open();
    T_SAYS("SUBSCRIBE c", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
    T_SAYS_TO(2, "PSUBSCRIBE ?",
              ">3\r\n$10\r\npsubscribe\r\n$1\r\n?\r\n:1\r\n");
    T_SAYS_TO(1, "PUBLISH c hi", ":2\r\n");
    T_HEARS(0, "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n");
    T_HEARS(2, ">4\r\n$8\r\npmessage\r\n$1\r\n?\r\n$1\r\nc\r\n$2\r\nhi\r\n");
    T_SAYS_TO(1, "SPUBLISH c hi", ":0\r\n");
    t_close();
    PASS();
}

TEST keyspace_events_are_told_when_asked_for(void)
{
    t_open();
    T_SAYS("CONFIG SET notify-keyspace-events Exg", "+OK\r\n");
    T_SAYS("CONFIG GET notify-keyspace-events",
           "*2\r\n$22\r\nnotify-keyspace-events\r\n$3\r\ngxE\r\n");
    T_SAYS_TO(2, "PSUBSCRIBE *",
              ">3\r\n$10\r\npsubscribe\r\n$1\r\n*\r\n:1\r\n");
    T_SAYS("SET a 1 PX 5", "+OK\r\n");
    T_HEARS(2, ">4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$21\r\n"
               "__keyevent@0__:expire\r\n$1\r\na\r\n");
    t_pass(6);
    T_HEARS(2, ">4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$22\r\n"
               "__keyevent@0__:expired\r\n$1\r\na\r\n");
    t_close();
    PASS();
}

TEST a_tracking_client_is_told_once_that_a_key_it_read_changed(void)
{
    t_open();
    T_SAYS_TO(2, "CLIENT TRACKING ON", "+OK\r\n");
    T_SAYS_TO(2, "GET a", "_\r\n");
    T_SAYS("SET a 1", "+OK\r\n");
    T_HEARS(2, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n");
    T_SAYS("SET a 2", "+OK\r\n");
    T_HEARS(2, "");
    T_SAYS_TO(2, "MGET a b", "*2\r\n$1\r\n2\r\n_\r\n");
    T_SAYS("FLUSHALL", "+OK\r\n");
    T_HEARS(2, ">2\r\n$10\r\ninvalidate\r\n_\r\n");
    t_close();
    PASS();
}

TEST an_own_change_is_told_behind_the_reply_or_not_at_all(void)
{
    t_open();
    T_SAYS_TO(2, "CLIENT TRACKING ON", "+OK\r\n");
    T_SAYS_TO(2, "GET a", "_\r\n");
    T_SAYS_TO(2, "SET a 1",
              "+OK\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n");
    T_SAYS_TO(2, "CLIENT TRACKING ON NOLOOP", "+OK\r\n");
    T_SAYS_TO(2, "GET a", "$1\r\n1\r\n");
    T_SAYS_TO(2, "SET a 2", "+OK\r\n");
    t_close();
    PASS();
}

TEST only_reads_that_opted_in_are_tracked(void)
{
    t_open();
    T_SAYS_TO(2, "CLIENT TRACKING ON OPTIN", "+OK\r\n");
    T_SAYS_TO(2, "GET a", "_\r\n");
    T_SAYS_TO(2, "CLIENT CACHING YES", "+OK\r\n");
    T_SAYS_TO(2, "GET b", "_\r\n");
    T_SAYS("MSET a 1 b 1", "+OK\r\n");
    T_HEARS(2, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nb\r\n");
    t_close();
    PASS();
}

TEST broadcasts_tell_of_prefixes_without_reading(void)
{
    t_open();
    T_SAYS_TO(2, "CLIENT TRACKING ON BCAST PREFIX k PREFIX kk",
              "-ERR Prefix 'k' overlaps with another provided prefix 'kk'. "
              "Prefixes for a single client must not overlap.\r\n");
    T_SAYS_TO(2, "CLIENT TRACKING ON BCAST PREFIX k", "+OK\r\n");
    T_SAYS("MSET k2 1 a 1 k1 1", "+OK\r\n");
    T_HEARS(2, ">2\r\n$10\r\ninvalidate\r\n*2\r\n$2\r\nk1\r\n$2\r\nk2\r\n");
    t_close();
    PASS();
}

TEST a_redirect_reaches_a_reader_in_resp2(void)
{
    t_open();
    T_SAYS_TO(1, "SUBSCRIBE __redis__:invalidate",
              "*3\r\n$9\r\nsubscribe\r\n$20\r\n__redis__:invalidate\r\n"
              ":1\r\n");
    T_SAYS("CLIENT TRACKING ON REDIRECT 2", "+OK\r\n");
    T_SAYS("GET a", "$-1\r\n");
    T_SAYS_TO(2, "SET a 1", "+OK\r\n");
    T_HEARS(1, "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n"
               "$1\r\na\r\n");
    t_close();
    PASS();
}

/* ------------------------------------------------------------------- users */

TEST a_user_may_run_only_commands_its_rules_allow(void)
{
    t_open();
    T_SAYS("ACL SETUSER u on >pw ~a* +@read -mget +set", "+OK\r\n");
    T_SAYS_TO(1, "AUTH u no", "-WRONGPASS invalid username-password pair or "
                              "user is disabled.\r\n");
    T_SAYS_TO(1, "AUTH u pw", "+OK\r\n");
    T_SAYS_TO(1, "SET ab 1", "+OK\r\n");
    T_SAYS_TO(1, "GET b", "-NOPERM this user has no permissions to access "
                          "one of the keys used as arguments\r\n");
    T_SAYS_TO(1, "MGET ab", "-NOPERM this user has no permissions to run the "
                            "'mget' command\r\n");
    T_SAYS_TO(1, "CONFIG GET port", "-NOPERM this user has no permissions to "
                                    "run the 'config|get' command\r\n");
    t_close();
    PASS();
}

TEST a_wrong_rule_changes_nothing(void)
{
    t_open();
    T_SAYS("ACL SETUSER u on nope",
           "-ERR Error in ACL SETUSER modifier 'nope': Syntax error\r\n");
    T_SAYS("ACL USERS", "*1\r\n$7\r\ndefault\r\n");
    T_SAYS("ACL SETUSER u +nosuch",
           "-ERR Error in ACL SETUSER modifier '+nosuch': Unknown command or "
           "category name in ACL\r\n");
    T_SAYS("ACL DELUSER default",
           "-ERR The 'default' user cannot be removed\r\n");
    t_close();
    PASS();
}

/* ----------------------------------------------------------------- scripts */

TEST a_script_is_known_by_its_name_in_any_case(void)
{
    t_open();
    T_SAYS("EVALSHA bc70ae583496ef68242126e5f723b4224435af02 0",
           "-NOSCRIPT No matching script. Please use EVAL.\r\n");
    T_SAYS("SCRIPT LOAD return(7)",
           "$40\r\nbc70ae583496ef68242126e5f723b4224435af02\r\n");
    T_SAYS("EVALSHA BC70ae583496ef68242126e5f723b4224435af02 0", ":7\r\n");
    t_close();
    PASS();
}

TEST a_script_may_not_do_everything(void)
{
    t_open();
    T_SAYS("EVAL return(redis.pcall('MULTI')) 0",
           "-ERR This Redis command is not allowed from script\r\n");
    T_SAYS("EVAL return(redis.pcall('NOSUCH')) 0",
           "-ERR Unknown Redis command called from script\r\n");
    T_SAYS("EVAL_RO return(redis.pcall('SET','a',1)) 0",
           "-ERR Write commands are not allowed from read-only scripts."
           "\r\n");
    t_close();
    PASS();
}

TEST select_within_a_script_ends_with_the_script(void)
{
    t_open();
    T_SAYS("EVAL redis.call('SELECT',3)redis.call('SET','a',1) 0",
           "$-1\r\n");
    T_SAYS("GET a", "$-1\r\n");
    T_SAYS("SELECT 3", "+OK\r\n");
    T_SAYS("GET a", "$1\r\n1\r\n");
    t_close();
    PASS();
}

TEST a_script_that_is_cut_keeps_its_changes(void)
{
    static const char *const call = "EVAL "
        "redis.call('SET','a',1);redis.call('GET','a');"
        "redis.call('SET','b',1);return(1) 0";

    t_open();
    relet_local_cut(t_one.l, 1, "ERR it migrates");
    T_SAYS(call, "-ERR it migrates script: "
                 "8b4cd733218965b4e40b0c5d0dd3e31c41067827, "
                 "on @user_script:1.\r\n");
    T_SAYS("EXISTS a b", ":1\r\n");
    T_SAYS(call, ":1\r\n");
    relet_local_cut(t_one.l, 2, "ERR it migrates");
    T_SAYS(call, ":1\r\n");
    T_SAYS(call, ":1\r\n");
    T_SAYS("EXISTS a b", ":2\r\n");
    relet_local_cut(t_one.l, 0, "ERR it migrates");
    relet_local_cut(t_one.l, 0, NULL);
    T_SAYS(call, ":1\r\n");
    t_close();
    PASS();
}

TEST a_script_without_end_is_ended(void)
{
    const uint8_t *p;
    size_t n;

    t_open();
    t_send(0, "EVAL redis.call('SET','a',1)repeat\nuntil(false) 0");
    n = relet_local_output(t_one.l, t_one.ids[0], &p);
    ASSERT(n > 5);
    ASSERT_MEM_EQ("-ERR ", p, 5);
    relet_local_sent(t_one.l, t_one.ids[0], n);
    T_SAYS("GET a", "$1\r\n1\r\n");
    t_close();
    PASS();
}

/* ------------------------------------------------------------------ suites */

SUITE(t_checks)
{
    RUN_TEST(an_unknown_command_is_named_with_its_arguments);
    RUN_TEST(a_command_that_takes_memory_is_refused_over_maxmemory);
    RUN_TEST(a_reader_in_resp2_may_do_nothing_else);
    RUN_TEST(replies_can_be_turned_off);
    RUN_TEST(a_refused_command_spoils_the_transaction);
    RUN_TEST(nested_multi_and_watch_inside_spoil_nothing);
    RUN_TEST(a_watched_key_that_changed_or_lapsed_ends_the_transaction);
    RUN_TEST(a_key_that_was_due_when_watched_has_not_changed_by_going);
}

SUITE(t_waits)
{
    RUN_TEST(the_client_that_blocked_first_is_served_first);
    RUN_TEST(a_blocked_client_is_served_from_the_key_that_was_filled_first);
    RUN_TEST(commands_of_a_blocked_client_run_afterwards);
    RUN_TEST(a_key_of_another_type_wakes_no_blocked_client);
    RUN_TEST(wait_for_replicas_ends_with_none);
}

SUITE(t_news)
{
    RUN_TEST(a_message_reaches_channels_and_patterns);
    RUN_TEST(keyspace_events_are_told_when_asked_for);
    RUN_TEST(a_tracking_client_is_told_once_that_a_key_it_read_changed);
    RUN_TEST(an_own_change_is_told_behind_the_reply_or_not_at_all);
    RUN_TEST(only_reads_that_opted_in_are_tracked);
    RUN_TEST(broadcasts_tell_of_prefixes_without_reading);
    RUN_TEST(a_redirect_reaches_a_reader_in_resp2);
}

SUITE(t_users_and_scripts)
{
    RUN_TEST(a_user_may_run_only_commands_its_rules_allow);
    RUN_TEST(a_wrong_rule_changes_nothing);
    RUN_TEST(a_script_is_known_by_its_name_in_any_case);
    RUN_TEST(a_script_may_not_do_everything);
    RUN_TEST(select_within_a_script_ends_with_the_script);
    RUN_TEST(a_script_that_is_cut_keeps_its_changes);
    RUN_TEST(a_script_without_end_is_ended);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(t_checks);
    RUN_SUITE(t_waits);
    RUN_SUITE(t_news);
    RUN_SUITE(t_users_and_scripts);
    GREATEST_MAIN_END();
}
