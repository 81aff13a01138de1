/* SPDX-License-Identifier: MIT
 *
 * local_cmd_list_test.c - the commands of lists reply as real servers.
 */
#include "local_cmd.h"

TEST a_list_can_be_pushed_and_popped_at_both_ends(void)
{
    t_open();
    T_SAYS("RPUSH l a b", ":2\r\n");
    T_SAYS("LPUSH l c d", ":4\r\n");
    T_SAYS("LRANGE l 0 -1",
           "*4\r\n$1\r\nd\r\n$1\r\nc\r\n$1\r\na\r\n$1\r\nb\r\n");
    T_SAYS("LPOP l", "$1\r\nd\r\n");
    T_SAYS("RPOP l", "$1\r\nb\r\n");
    T_SAYS("LRANGE l 0 -1", "*2\r\n$1\r\nc\r\n$1\r\na\r\n");
    t_close();
    PASS();
}

TEST lpushx_and_rpushx_to_a_missing_list_do_nothing(void)
{
    t_open();
    T_SAYS("LPUSHX l a", ":0\r\n");
    T_SAYS("RPUSHX l a", ":0\r\n");
    T_SAYS("EXISTS l", ":0\r\n");
    t_close();
    PASS();
}

TEST a_pop_with_a_count_leaves_the_rest_of_the_list(void)
{
    t_open();
    T_SAYS("RPUSH l a b c d", ":4\r\n");
    T_SAYS("LPOP l 2", "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
    T_SAYS("RPOP l 5", "*2\r\n$1\r\nd\r\n$1\r\nc\r\n");
    T_SAYS("LPOP l 0", "*-1\r\n");
    T_SAYS("LPOP l", "$-1\r\n");
    T_SAYS("EXISTS l", ":0\r\n");
    t_close();
    PASS();
}

TEST a_pop_of_no_elements_is_an_empty_array_and_not_a_null(void)
{
    t_open();
    T_SAYS("RPUSH l a", ":1\r\n");
    T_SAYS("LPOP l 0", "*0\r\n");
    T_SAYS("LPOP x 0", "*-1\r\n");
    T_SAYS_TO(2, "LPOP x 1", "_\r\n");
    T_SAYS("LPOP l -1", "-ERR value is out of range, must be positive\r\n");
    T_SAYS("LPOP l 1 1",
           "-ERR wrong number of arguments for 'lpop' command\r\n");
    t_close();
    PASS();
}

TEST an_insert_finds_its_first_pivot(void)
{
    t_open();
    T_SAYS("RPUSH l a b a", ":3\r\n");
    T_SAYS("LINSERT l before a x", ":4\r\n");
    T_SAYS("LINSERT l AFTER b y", ":5\r\n");
    T_SAYS("LINSERT l after q z", ":-1\r\n");
    T_SAYS("LINSERT x before a b", ":0\r\n");
    T_SAYS("LINSERT l at a b", "-ERR syntax error\r\n");
    T_SAYS("LRANGE l 0 -1",
           "*5\r\n$1\r\nx\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\ny\r\n$1\r\n"
           "a\r\n");
    t_close();
    PASS();
}

TEST indexes_count_from_both_ends(void)
{
    t_open();
    T_SAYS("RPUSH l a b c", ":3\r\n");
    T_SAYS("LINDEX l 0", "$1\r\na\r\n");
    T_SAYS("LINDEX l -1", "$1\r\nc\r\n");
    T_SAYS("LINDEX l 3", "$-1\r\n");
    T_SAYS("LINDEX l x", "-ERR value is not an integer or out of range\r\n");
    T_SAYS("LINDEX x x", "$-1\r\n");
    T_SAYS("LSET l -2 z", "+OK\r\n");
    T_SAYS("LSET l 3 z", "-ERR index out of range\r\n");
    T_SAYS("LSET x 0 z", "-ERR no such key\r\n");
    T_SAYS("LRANGE l -100 100", "*3\r\n$1\r\na\r\n$1\r\nz\r\n$1\r\nc\r\n");
    T_SAYS("LRANGE l 2 1", "*0\r\n");
    t_close();
    PASS();
}

TEST a_trim_to_nothing_takes_the_key(void)
{
    t_open();
    T_SAYS("RPUSH l a b c d", ":4\r\n");
    T_SAYS("LTRIM l 1 -2", "+OK\r\n");
    T_SAYS("LRANGE l 0 -1", "*2\r\n$1\r\nb\r\n$1\r\nc\r\n");
    T_SAYS("LTRIM l 5 9", "+OK\r\n");
    T_SAYS("EXISTS l", ":0\r\n");
    T_SAYS("LTRIM l x 1", "-ERR value is not an integer or out of range\r\n");
    t_close();
    PASS();
}

TEST equal_elements_go_from_either_side(void)
{
    t_open();
    T_SAYS("RPUSH l a b a b a", ":5\r\n");
    T_SAYS("LREM l 1 a", ":1\r\n");
    T_SAYS("LREM l -1 a", ":1\r\n");
    T_SAYS("LRANGE l 0 -1", "*3\r\n$1\r\nb\r\n$1\r\na\r\n$1\r\nb\r\n");
    T_SAYS("LREM l 0 b", ":2\r\n");
    T_SAYS("LREM l 0 a", ":1\r\n");
    T_SAYS("EXISTS l", ":0\r\n");
    t_close();
    PASS();
}

TEST positions_are_found_by_rank_and_count(void)
{
    t_open();
    T_SAYS("RPUSH l a b a c a", ":5\r\n");
    T_SAYS("LPOS l a", ":0\r\n");
    T_SAYS("LPOS l a RANK 2", ":2\r\n");
    T_SAYS("LPOS l a RANK -1", ":4\r\n");
    T_SAYS("LPOS l a COUNT 0", "*3\r\n:0\r\n:2\r\n:4\r\n");
    T_SAYS("LPOS l a COUNT 2 RANK -1", "*2\r\n:4\r\n:2\r\n");
    T_SAYS("LPOS l a COUNT 0 MAXLEN 3", "*2\r\n:0\r\n:2\r\n");
    T_SAYS("LPOS l z", "$-1\r\n");
    T_SAYS_TO(2, "LPOS l z", "_\r\n");
    T_SAYS("LPOS l z COUNT 1", "*0\r\n");
    T_SAYS("LPOS l a RANK 0",
           "-ERR RANK can't be zero: use 1 to start from the first match, 2"
           " from the second ... or use negative to start from the end of t"
           "he list\r\n");
    T_SAYS("LPOS l a COUNT -1", "-ERR COUNT can't be negative\r\n");
    T_SAYS("LPOS l a MAXLEN -1", "-ERR MAXLEN can't be negative\r\n");
    T_SAYS("LPOS l a RANK", "-ERR syntax error\r\n");
    T_SAYS("LPOS l a RANK -9223372036854775808", ":4\r\n");
    t_close();
    PASS();
}

TEST an_element_moves_from_any_end_to_any_end(void)
{
    t_open();
    T_SAYS("RPUSH l a b c", ":3\r\n");
    T_SAYS("LMOVE l m LEFT RIGHT", "$1\r\na\r\n");
    T_SAYS("LMOVE l m right left", "$1\r\nc\r\n");
    T_SAYS("LRANGE m 0 -1", "*2\r\n$1\r\nc\r\n$1\r\na\r\n");
    T_SAYS("LMOVE m m LEFT RIGHT", "$1\r\nc\r\n");
    T_SAYS("LRANGE m 0 -1", "*2\r\n$1\r\na\r\n$1\r\nc\r\n");
    T_SAYS("RPOPLPUSH l m", "$1\r\nb\r\n");
    T_SAYS("EXISTS l", ":0\r\n");
    T_SAYS("RPOPLPUSH l m", "$-1\r\n");
    T_SAYS("LMOVE l m up down", "-ERR syntax error\r\n");
    t_close();
    PASS();
}

TEST the_first_list_that_is_there_is_popped(void)
{
    t_open();
    T_SAYS("RPUSH l a b c", ":3\r\n");
    T_SAYS("LMPOP 2 x l LEFT COUNT 2",
           "*2\r\n$1\r\nl\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n");
    T_SAYS("LMPOP 2 x l RIGHT", "*2\r\n$1\r\nl\r\n*1\r\n$1\r\nc\r\n");
    T_SAYS("LMPOP 2 x l RIGHT", "*-1\r\n");
    T_SAYS("LMPOP 0 l LEFT", "-ERR numkeys should be greater than 0\r\n");
    T_SAYS("LMPOP 3 l LEFT", "-ERR syntax error\r\n");
    T_SAYS("LMPOP 1 l UP", "-ERR syntax error\r\n");
    T_SAYS("LMPOP 1 l LEFT COUNT 0",
           "-ERR count should be greater than 0\r\n");
    T_SAYS("LMPOP 1 l LEFT COUNT 1 COUNT 1", "-ERR syntax error\r\n");
    t_close();
    PASS();
}

TEST a_client_blocked_on_a_list_gets_the_pushed_element(void)
{
    t_open();
    T_SAYS("BLPOP x l 0", "");
    T_SAYS_TO(1, "RPUSH l a b", ":2\r\n");
    T_HEARS(0, "*2\r\n$1\r\nl\r\n$1\r\na\r\n");
    T_SAYS_TO(1, "LRANGE l 0 -1", "*1\r\n$1\r\nb\r\n");
    t_close();
    PASS();
}

TEST the_client_blocked_first_on_a_list_is_served_first(void)
{
    t_open();
    T_SAYS("BLPOP l 0", "");
    T_SAYS_TO(1, "BRPOP l 0", "");
    T_SAYS_TO(2, "RPUSH l a b", ":2\r\n");
    T_HEARS(0, "*2\r\n$1\r\nl\r\n$1\r\na\r\n");
    T_HEARS(1, "*2\r\n$1\r\nl\r\n$1\r\nb\r\n");
    t_close();
    PASS();
}

TEST a_client_blocked_on_a_list_is_told_when_its_time_is_over(void)
{
    t_open();
    T_SAYS("BLPOP l 1", "");
    t_pass(1000);
    T_HEARS(0, "");
    t_pass(1);
    T_HEARS(0, "*-1\r\n");
    T_SAYS_TO(1, "BLMPOP 0.01 1 l LEFT", "");
    t_pass(11);
    T_HEARS(1, "*-1\r\n");
    T_SAYS_TO(2, "BRPOPLPUSH l m 1", "");
    t_pass(1001);
    T_HEARS(2, "_\r\n");
    t_close();
    PASS();
}

TEST a_move_that_waited_is_a_push_elsewhere_that_wakes(void)
{
    t_open();
    T_SAYS("BLMOVE l m LEFT RIGHT 0", "");
    T_SAYS_TO(1, "BLPOP m 0", "");
    T_SAYS_TO(2, "RPUSH l a", ":1\r\n");
    T_HEARS(0, "$1\r\na\r\n");
    T_HEARS(1, "*2\r\n$1\r\nm\r\n$1\r\na\r\n");
    T_SAYS_TO(2, "EXISTS l m", ":0\r\n");
    t_close();
    PASS();
}

TEST a_blocked_move_into_another_type_fails_when_an_element_comes(void)
{
    t_open();
    T_SAYS("BRPOPLPUSH l m 0", "");
    T_SAYS_TO(1, "SET m x", "+OK\r\n");
    T_SAYS_TO(1, "RPUSH l a", ":1\r\n");
    T_HEARS(0,
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS_TO(1, "LRANGE l 0 -1", "*1\r\n$1\r\na\r\n");
    t_close();
    PASS();
}

TEST a_blocking_command_in_a_transaction_does_not_block(void)
{
    t_open();
    T_SAYS("MULTI", "+OK\r\n");
    T_SAYS("BLPOP l 0", "+QUEUED\r\n");
    T_SAYS("BLMOVE l m LEFT LEFT 0", "+QUEUED\r\n");
    T_SAYS("BLMPOP 0 1 l LEFT", "+QUEUED\r\n");
    T_SAYS("EXEC", "*3\r\n*-1\r\n$-1\r\n*-1\r\n");
    t_close();
    PASS();
}

TEST a_time_out_must_be_one(void)
{
    t_open();
    T_SAYS("BLPOP l x", "-ERR timeout is not a float or out of range\r\n");
    T_SAYS("BLPOP l -1", "-ERR timeout is negative\r\n");
    T_SAYS("BLPOP l 1e400", "-ERR timeout is negative\r\n");
    T_SAYS("BLMPOP x 0 l LEFT", "-ERR numkeys should be greater than 0\r\n");
    T_SAYS("BLMPOP x 1 l LEFT",
           "-ERR timeout is not a float or out of range\r\n");
    T_SAYS("BLMOVE l m LEFT LEFT nan",
           "-ERR timeout is not a float or out of range\r\n");
    t_close();
    PASS();
}

TEST list_commands_refuse_a_key_of_another_type(void)
{
    t_open();
    T_SAYS("SET l x", "+OK\r\n");
    T_SAYS("LPUSH l a",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("BLPOP l 0",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("BLPOP x l 0",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("LMPOP 2 x l LEFT",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("RPOPLPUSH x l", "$-1\r\n");
    T_SAYS("RPUSH m a", ":1\r\n");
    T_SAYS("RPOPLPUSH m l",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    t_close();
    PASS();
}

TEST a_blocking_pop_of_a_list_is_logged_as_a_pop(void)
{
    t_open();
    t_does(1, "BLPOP l 0");
    t_does(0, "RPUSH l a");
    t_done(1);
    ASSERT(t_logs("SELECT 0\nRPUSH l a\nLPOP l\n"));
    t_close();
    PASS();
}

TEST a_pop_of_several_elements_is_logged_with_their_count(void)
{
    t_open();
    t_does(0, "RPUSH l a b");
    t_does(0, "LMPOP 1 l RIGHT COUNT 9");
    ASSERT(t_logs("SELECT 0\nRPUSH l a b\nRPOP l 2\n"));
    t_close();
    PASS();
}

TEST a_blocking_move_is_logged_as_one_that_does_not(void)
{
    t_open();
    t_does(0, "RPUSH l a b");
    t_does(0, "BLMOVE l m LEFT RIGHT 0");
    t_does(0, "BRPOPLPUSH l m 0");
    ASSERT(t_logs(
           "SELECT 0\nRPUSH l a b\nLMOVE l m LEFT RIGHT\nRPOPLPUSH l m\n"));
    t_close();
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_list_can_be_pushed_and_popped_at_both_ends);
    RUN_TEST(lpushx_and_rpushx_to_a_missing_list_do_nothing);
    RUN_TEST(a_pop_with_a_count_leaves_the_rest_of_the_list);
    RUN_TEST(a_pop_of_no_elements_is_an_empty_array_and_not_a_null);
    RUN_TEST(an_insert_finds_its_first_pivot);
    RUN_TEST(indexes_count_from_both_ends);
    RUN_TEST(a_trim_to_nothing_takes_the_key);
    RUN_TEST(equal_elements_go_from_either_side);
    RUN_TEST(positions_are_found_by_rank_and_count);
    RUN_TEST(an_element_moves_from_any_end_to_any_end);
    RUN_TEST(the_first_list_that_is_there_is_popped);
    RUN_TEST(a_client_blocked_on_a_list_gets_the_pushed_element);
    RUN_TEST(the_client_blocked_first_on_a_list_is_served_first);
    RUN_TEST(a_client_blocked_on_a_list_is_told_when_its_time_is_over);
    RUN_TEST(a_move_that_waited_is_a_push_elsewhere_that_wakes);
    RUN_TEST(a_blocked_move_into_another_type_fails_when_an_element_comes);
    RUN_TEST(a_blocking_command_in_a_transaction_does_not_block);
    RUN_TEST(a_time_out_must_be_one);
    RUN_TEST(list_commands_refuse_a_key_of_another_type);
    RUN_TEST(a_blocking_pop_of_a_list_is_logged_as_a_pop);
    RUN_TEST(a_pop_of_several_elements_is_logged_with_their_count);
    RUN_TEST(a_blocking_move_is_logged_as_one_that_does_not);
    GREATEST_MAIN_END();
}
