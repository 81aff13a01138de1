/* SPDX-License-Identifier: MIT
 *
 * local_cmd_hash_test.c - the commands of hashes reply as real servers.
 */
#include "local_cmd.h"

TEST fields_are_told_in_the_order_in_which_they_were_set(void)
{
    t_open();
    T_SAYS("HSET h b 1 a 2", ":2\r\n");
    T_SAYS("HSET h b 3 c 4", ":1\r\n");
    T_SAYS("HGETALL h",
           "*6\r\n$1\r\nb\r\n$1\r\n3\r\n$1\r\na\r\n$1\r\n2\r\n$1\r\n"
           "c\r\n$1\r\n4\r\n");
    T_SAYS_TO(2, "HGETALL h",
           "%3\r\n$1\r\nb\r\n$1\r\n3\r\n$1\r\na\r\n$1\r\n2\r\n$1\r\n"
           "c\r\n$1\r\n4\r\n");
    T_SAYS("HKEYS h", "*3\r\n$1\r\nb\r\n$1\r\na\r\n$1\r\nc\r\n");
    T_SAYS("HVALS h", "*3\r\n$1\r\n3\r\n$1\r\n2\r\n$1\r\n4\r\n");
    t_close();
    PASS();
}

TEST a_field_without_a_value_changes_nothing(void)
{
    t_open();
    T_SAYS("HSET h a 1 b",
           "-ERR wrong number of arguments for 'hset' command\r\n");
    T_SAYS("HMSET h a",
           "-ERR wrong number of arguments for 'hmset' command\r\n");
    T_SAYS("EXISTS h", ":0\r\n");
    t_close();
    PASS();
}

TEST hmset_says_ok_and_hset_how_many_are_new(void)
{
    t_open();
    T_SAYS("HMSET h a 1", "+OK\r\n");
    T_SAYS("HSET h a 1 b 2", ":1\r\n");
    T_SAYS("HSETNX h a 5", ":0\r\n");
    T_SAYS("HSETNX h c 5", ":1\r\n");
    t_close();
    PASS();
}

TEST reads_of_a_missing_hash_give_nulls_and_zeros(void)
{
    t_open();
    T_SAYS("HGET h a", "$-1\r\n");
    T_SAYS_TO(2, "HGET h a", "_\r\n");
    T_SAYS("HMGET h a b", "*2\r\n$-1\r\n$-1\r\n");
    T_SAYS_TO(2, "HMGET h a b", "*2\r\n_\r\n_\r\n");
    T_SAYS("HLEN h", ":0\r\n");
    T_SAYS("HSTRLEN h a", ":0\r\n");
    T_SAYS("HEXISTS h a", ":0\r\n");
    T_SAYS_TO(2, "HGETALL h", "%0\r\n");
    T_SAYS("HDEL h a", ":0\r\n");
    t_close();
    PASS();
}

TEST the_last_field_takes_the_key_with_it(void)
{
    t_open();
    T_SAYS("HSET h a 1 b 2", ":2\r\n");
    T_SAYS("HDEL h a x", ":1\r\n");
    T_SAYS("HDEL h b b", ":1\r\n");
    T_SAYS("EXISTS h", ":0\r\n");
    t_close();
    PASS();
}

TEST increments_are_added_only_to_integers(void)
{
    t_open();
    T_SAYS("HINCRBY h a 5", ":5\r\n");
    T_SAYS("HINCRBY h a -7", ":-2\r\n");
    T_SAYS("HINCRBY h a x",
           "-ERR value is not an integer or out of range\r\n");
    T_SAYS("HSET h s x", ":1\r\n");
    T_SAYS("HINCRBY h s 1", "-ERR hash value is not an integer\r\n");
    T_SAYS("HSET h m 9223372036854775807", ":1\r\n");
    T_SAYS("HINCRBY h m 1", "-ERR increment or decrement would overflow\r\n");
    T_SAYS("HGET h m", "$19\r\n9223372036854775807\r\n");
    t_close();
    PASS();
}

TEST fractions_are_added_with_as_many_digits_as_a_server_has(void)
{
    t_open();
    T_SAYS("HINCRBYFLOAT h a 0.1", "$3\r\n0.1\r\n");
    T_SAYS("HINCRBYFLOAT h a 0.2", "$3\r\n0.3\r\n");
    T_SAYS("HINCRBYFLOAT h a 3.0e3", "$22\r\n3000.30000000000000004\r\n");
    T_SAYS("HINCRBYFLOAT h a inf", "-ERR value is NaN or Infinity\r\n");
    T_SAYS("HINCRBYFLOAT h a x", "-ERR value is not a valid float\r\n");
    T_SAYS("HSET h s x", ":1\r\n");
    T_SAYS("HINCRBYFLOAT h s 1", "-ERR hash value is not a float\r\n");
    t_close();
    PASS();
}

TEST a_draw_of_more_fields_than_there_are_gives_each_once(void)
{
    t_open();
    T_SAYS("HSET h a 1 b 2", ":2\r\n");
    T_SAYS("HRANDFIELD h 5", "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
    T_SAYS("HRANDFIELD h 5 WITHVALUES",
           "*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n");
    T_SAYS_TO(2, "HRANDFIELD h 5 WITHVALUES",
           "*2\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$1\r\nb\r\n"
           "$1\r\n2\r\n");
    T_SAYS("HRANDFIELD x", "$-1\r\n");
    T_SAYS("HRANDFIELD x 5", "*0\r\n");
    t_close();
    PASS();
}

TEST a_draw_that_cannot_be_is_refused_before_the_key_is_looked_at(void)
{
    t_open();
    T_SAYS("HRANDFIELD x a",
           "-ERR value is not an integer or out of range\r\n");
    T_SAYS("HRANDFIELD x 1 VALUES", "-ERR syntax error\r\n");
    T_SAYS("HRANDFIELD x 5000000000000000000 WITHVALUES",
           "-ERR value is out of range\r\n");
    T_SAYS("HRANDFIELD x -9223372036854775808",
           "-ERR value is out of range, value must between -922337203685477"
           "5807 and 9223372036854775807\r\n");
    t_close();
    PASS();
}

TEST a_small_hash_is_scanned_in_one_step(void)
{
    t_open();
    T_SAYS("HSET h a 1 b 2 ab 3", ":3\r\n");
    T_SAYS("HSCAN h 0 COUNT 1",
           "*2\r\n$1\r\n0\r\n*6\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\n"
           "b\r\n$1\r\n2\r\n$2\r\nab\r\n$1\r\n3\r\n");
    T_SAYS("HSCAN h 0 MATCH a*",
           "*2\r\n$1\r\n0\r\n*4\r\n$1\r\na\r\n$1\r\n1\r\n$2\r\n"
           "ab\r\n$1\r\n3\r\n");
    T_SAYS("HSCAN h 7 MATCH z", "*2\r\n$1\r\n0\r\n*0\r\n");
    T_SAYS("HSCAN x 0", "*2\r\n$1\r\n0\r\n*0\r\n");
    T_SAYS("HSCAN h 0 COUNT 0", "-ERR syntax error\r\n");
    T_SAYS("HSCAN h a", "-ERR invalid cursor\r\n");
    T_SAYS("HSCAN h 0 MATCH", "-ERR syntax error\r\n");
    t_close();
    PASS();
}

TEST hash_commands_refuse_a_key_of_another_type(void)
{
    t_open();
    T_SAYS("SET h x", "+OK\r\n");
    T_SAYS("HSET h a 1",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("HGET h a",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("HDEL h a",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("HINCRBY h a 1",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("HSCAN h 0",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    t_close();
    PASS();
}

TEST a_float_increment_is_logged_as_its_result(void)
{
    t_open();
    t_does(0, "HINCRBYFLOAT h a 0.5");
    ASSERT(t_logs("SELECT 0\nHSET h a 0.5\n"));
    t_close();
    PASS();
}

TEST a_change_is_logged_and_a_refusal_is_not(void)
{
    t_open();
    t_does(0, "HSET h a 1");
    t_does(0, "HSET h a");
    t_does(0, "HDEL h x");
    ASSERT(t_logs("SELECT 0\nHSET h a 1\n"));
    t_close();
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(fields_are_told_in_the_order_in_which_they_were_set);
    RUN_TEST(a_field_without_a_value_changes_nothing);
    RUN_TEST(hmset_says_ok_and_hset_how_many_are_new);
    RUN_TEST(reads_of_a_missing_hash_give_nulls_and_zeros);
    RUN_TEST(the_last_field_takes_the_key_with_it);
    RUN_TEST(increments_are_added_only_to_integers);
    RUN_TEST(fractions_are_added_with_as_many_digits_as_a_server_has);
    RUN_TEST(a_draw_of_more_fields_than_there_are_gives_each_once);
    RUN_TEST(a_draw_that_cannot_be_is_refused_before_the_key_is_looked_at);
    RUN_TEST(a_small_hash_is_scanned_in_one_step);
    RUN_TEST(hash_commands_refuse_a_key_of_another_type);
    RUN_TEST(a_float_increment_is_logged_as_its_result);
    RUN_TEST(a_change_is_logged_and_a_refusal_is_not);
    GREATEST_MAIN_END();
}
