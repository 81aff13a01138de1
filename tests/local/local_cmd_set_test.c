/* SPDX-License-Identifier: MIT
 *
 * local_cmd_set_test.c - the commands of sets reply as real servers.
 */
#include "local_cmd.h"

TEST integers_are_told_in_ascending_order(void)
{
    t_open();
    T_SAYS("SADD s 30 5 -1 5", ":3\r\n");
    T_SAYS("SMEMBERS s", "*3\r\n$2\r\n-1\r\n$1\r\n5\r\n$2\r\n30\r\n");
    T_SAYS_TO(2, "SMEMBERS s", "~3\r\n$2\r\n-1\r\n$1\r\n5\r\n$2\r\n30\r\n");
    T_SAYS("SSCAN s 0",
           "*2\r\n$1\r\n0\r\n*3\r\n$2\r\n-1\r\n$1\r\n5\r\n$2\r\n"
           "30\r\n");
    t_close();
    PASS();
}

TEST adding_and_removing_members_count_the_changes(void)
{
    t_open();
    T_SAYS("SADD s a b", ":2\r\n");
    T_SAYS("SADD s b c", ":1\r\n");
    T_SAYS("SREM s a x", ":1\r\n");
    T_SAYS("SREM s b c", ":2\r\n");
    T_SAYS("EXISTS s", ":0\r\n");
    t_close();
    PASS();
}

TEST membership_is_told_one_by_one(void)
{
    t_open();
    T_SAYS("SADD s a b", ":2\r\n");
    T_SAYS("SISMEMBER s a", ":1\r\n");
    T_SAYS("SISMEMBER s z", ":0\r\n");
    T_SAYS("SMISMEMBER s a z b", "*3\r\n:1\r\n:0\r\n:1\r\n");
    T_SAYS("SMISMEMBER x a", "*1\r\n:0\r\n");
    T_SAYS("SCARD s", ":2\r\n");
    T_SAYS("SCARD x", ":0\r\n");
    t_close();
    PASS();
}

TEST a_member_moves_and_takes_an_empty_key_with_it(void)
{
    t_open();
    T_SAYS("SADD s a", ":1\r\n");
    T_SAYS("SMOVE s t a", ":1\r\n");
    T_SAYS("EXISTS s", ":0\r\n");
    T_SAYS("SMOVE s t a", ":0\r\n");
    T_SAYS("SMOVE t t a", ":1\r\n");
    T_SAYS("SMOVE t t b", ":0\r\n");
    T_SAYS("SADD u a", ":1\r\n");
    T_SAYS("SMOVE u t a", ":1\r\n");
    T_SAYS("SCARD t", ":1\r\n");
    t_close();
    PASS();
}

TEST popping_all_of_a_set_takes_the_key(void)
{
    t_open();
    T_SAYS("SADD s 1 2 3", ":3\r\n");
    T_SAYS("SPOP s 5", "*3\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n");
    T_SAYS("EXISTS s", ":0\r\n");
    T_SAYS("SPOP s", "$-1\r\n");
    T_SAYS("SPOP s 1", "*0\r\n");
    T_SAYS_TO(2, "SPOP s 1", "~0\r\n");
    T_SAYS_TO(2, "SPOP s", "_\r\n");
    T_SAYS("SADD s 1", ":1\r\n");
    T_SAYS("SPOP s", "$1\r\n1\r\n");
    t_close();
    PASS();
}

TEST a_draw_that_cannot_be_is_refused(void)
{
    t_open();
    T_SAYS("SPOP s -1", "-ERR value is out of range, must be positive\r\n");
    T_SAYS("SPOP s x", "-ERR value is out of range, must be positive\r\n");
    T_SAYS("SPOP s 1 1", "-ERR syntax error\r\n");
    T_SAYS("SRANDMEMBER s x",
           "-ERR value is not an integer or out of range\r\n");
    T_SAYS("SRANDMEMBER s 1 1", "-ERR syntax error\r\n");
    T_SAYS("SRANDMEMBER s -9223372036854775808",
           "-ERR value is out of range, value must between -922337203685477"
           "5807 and 9223372036854775807\r\n");
    t_close();
    PASS();
}

TEST a_draw_of_more_members_than_there_are_gives_each_once(void)
{
    t_open();
    T_SAYS("SADD s 1 2", ":2\r\n");
    T_SAYS("SRANDMEMBER s 9", "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
    T_SAYS("SRANDMEMBER s 0", "*0\r\n");
    T_SAYS("SRANDMEMBER x", "$-1\r\n");
    T_SAYS("SRANDMEMBER x 3", "*0\r\n");
    T_SAYS("SRANDMEMBER x -3", "*0\r\n");
    t_close();
    PASS();
}

TEST sets_have_intersections_unions_and_differences(void)
{
    t_open();
    T_SAYS("SADD s 1 2 3 4", ":4\r\n");
    T_SAYS("SADD t 3 4 5", ":3\r\n");
    T_SAYS("SINTER s t", "*2\r\n$1\r\n3\r\n$1\r\n4\r\n");
    T_SAYS("SUNION s t",
           "*5\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n$1\r\n"
           "5\r\n");
    T_SAYS("SDIFF s t", "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
    T_SAYS("SDIFF t s", "*1\r\n$1\r\n5\r\n");
    T_SAYS("SINTER s x", "*0\r\n");
    T_SAYS("SUNION s x", "*4\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n");
    T_SAYS("SDIFF x s", "*0\r\n");
    T_SAYS_TO(2, "SINTER s t", "~2\r\n$1\r\n3\r\n$1\r\n4\r\n");
    t_close();
    PASS();
}

TEST common_members_of_sets_are_counted_up_to_a_limit(void)
{
    t_open();
    T_SAYS("SADD s 1 2 3 4", ":4\r\n");
    T_SAYS("SADD t 2 3 4", ":3\r\n");
    T_SAYS("SINTERCARD 2 s t", ":3\r\n");
    T_SAYS("SINTERCARD 2 s t LIMIT 2", ":2\r\n");
    T_SAYS("SINTERCARD 2 s t LIMIT 0", ":3\r\n");
    T_SAYS("SINTERCARD 2 s x", ":0\r\n");
    T_SAYS("SINTERCARD 0 s", "-ERR numkeys should be greater than 0\r\n");
    T_SAYS("SINTERCARD 3 s t",
           "-ERR Number of keys can't be greater than number of args\r\n");
    T_SAYS("SINTERCARD 1 s LIMIT -1", "-ERR LIMIT can't be negative\r\n");
    T_SAYS("SINTERCARD 1 s LIMIT", "-ERR syntax error\r\n");
    T_SAYS("SINTERCARD 1 s COUNT 1", "-ERR syntax error\r\n");
    t_close();
    PASS();
}

TEST a_result_is_stored_over_anything_and_nothing_deletes(void)
{
    t_open();
    T_SAYS("SADD s 1 2", ":2\r\n");
    T_SAYS("SADD t 2 3", ":2\r\n");
    T_SAYS("SET d x", "+OK\r\n");
    T_SAYS("SUNIONSTORE d s t", ":3\r\n");
    T_SAYS("SMEMBERS d", "*3\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n");
    T_SAYS("SINTERSTORE d d t", ":2\r\n");
    T_SAYS("SMEMBERS d", "*2\r\n$1\r\n2\r\n$1\r\n3\r\n");
    T_SAYS("SDIFFSTORE s s t", ":1\r\n");
    T_SAYS("SMEMBERS s", "*1\r\n$1\r\n1\r\n");
    T_SAYS("SINTERSTORE d s t", ":0\r\n");
    T_SAYS("EXISTS d", ":0\r\n");
    t_close();
    PASS();
}

TEST set_commands_refuse_a_key_of_another_type(void)
{
    t_open();
    T_SAYS("SET s x", "+OK\r\n");
    T_SAYS("SADD s a",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("SMEMBERS s",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("SINTER x s",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("SUNIONSTORE d x s",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("SADD t a", ":1\r\n");
    T_SAYS("SMOVE t s a",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("SMOVE x s a", ":0\r\n");
    t_close();
    PASS();
}

TEST a_popped_member_is_logged_by_name(void)
{
    t_open();
    t_does(0, "SADD s a");
    t_does(0, "SPOP s");
    ASSERT(t_logs("SELECT 0\nSADD s a\nSREM s a\n"));
    t_close();
    PASS();
}

TEST a_set_popped_empty_is_logged_as_deleted(void)
{
    t_open();
    t_does(0, "SADD s a");
    t_does(0, "SPOP s 3");
    ASSERT(t_logs("SELECT 0\nSADD s a\nDEL s\n"));
    t_close();
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(integers_are_told_in_ascending_order);
    RUN_TEST(adding_and_removing_members_count_the_changes);
    RUN_TEST(membership_is_told_one_by_one);
    RUN_TEST(a_member_moves_and_takes_an_empty_key_with_it);
    RUN_TEST(popping_all_of_a_set_takes_the_key);
    RUN_TEST(a_draw_that_cannot_be_is_refused);
    RUN_TEST(a_draw_of_more_members_than_there_are_gives_each_once);
    RUN_TEST(sets_have_intersections_unions_and_differences);
    RUN_TEST(common_members_of_sets_are_counted_up_to_a_limit);
    RUN_TEST(a_result_is_stored_over_anything_and_nothing_deletes);
    RUN_TEST(set_commands_refuse_a_key_of_another_type);
    RUN_TEST(a_popped_member_is_logged_by_name);
    RUN_TEST(a_set_popped_empty_is_logged_as_deleted);
    GREATEST_MAIN_END();
}
