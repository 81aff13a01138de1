/* SPDX-License-Identifier: MIT
 *
 * local_cmd_zset_test.c - the commands of sorted sets reply as real servers.
 */
#include "local_cmd.h"

TEST members_stand_in_order_of_score_then_of_bytes(void)
{
    t_open();
    T_SAYS("ZADD z 2 b 1 c 2 a", ":3\r\n");
    T_SAYS("ZRANGE z 0 -1", "*3\r\n$1\r\nc\r\n$1\r\na\r\n$1\r\nb\r\n");
    T_SAYS("ZRANGE z 0 -1 WITHSCORES",
           "*6\r\n$1\r\nc\r\n$1\r\n1\r\n$1\r\na\r\n$1\r\n2\r\n$1\r\n"
           "b\r\n$1\r\n2\r\n");
    T_SAYS_TO(2, "ZRANGE z 0 -1 WITHSCORES",
           "*3\r\n*2\r\n$1\r\nc\r\n,1\r\n*2\r\n$1\r\na\r\n,2\r\n"
           "*2\r\n$1\r\nb\r\n,2\r\n");
    T_SAYS("ZREVRANGE z 0 0 WITHSCORES", "*2\r\n$1\r\nb\r\n$1\r\n2\r\n");
    T_SAYS("ZRANK z a", ":1\r\n");
    T_SAYS("ZREVRANK z a", ":1\r\n");
    T_SAYS("ZRANK z x", "$-1\r\n");
    T_SAYS("ZSCORE z a", "$1\r\n2\r\n");
    T_SAYS_TO(2, "ZSCORE z a", ",2\r\n");
    T_SAYS("ZMSCORE z a x", "*2\r\n$1\r\n2\r\n$-1\r\n");
    T_SAYS("ZCARD z", ":3\r\n");
    t_close();
    PASS();
}

TEST options_of_zadd_say_which_scores_are_taken(void)
{
    t_open();
    T_SAYS("ZADD z 5 a", ":1\r\n");
    T_SAYS("ZADD z NX 6 a 1 b", ":1\r\n");
    T_SAYS("ZADD z XX CH 7 a 1 c", ":1\r\n");
    T_SAYS("ZADD z GT CH 6 a 2 b", ":1\r\n");
    T_SAYS("ZADD z LT CH 9 a 1 b 4 d", ":2\r\n");
    T_SAYS("ZRANGE z 0 -1 WITHSCORES",
           "*6\r\n$1\r\nb\r\n$1\r\n1\r\n$1\r\nd\r\n$1\r\n4\r\n$1\r\n"
           "a\r\n$1\r\n7\r\n");
    t_close();
    PASS();
}

TEST options_of_zadd_that_exclude_each_other_are_refused(void)
{
    t_open();
    T_SAYS("ZADD z NX XX 1 a",
           "-ERR XX and NX options at the same time are not compatible\r\n");
    T_SAYS("ZADD z NX GT 1 a",
           "-ERR GT, LT, and/or NX options at the same time are not compati"
           "ble\r\n");
    T_SAYS("ZADD z GT LT 1 a",
           "-ERR GT, LT, and/or NX options at the same time are not compati"
           "ble\r\n");
    T_SAYS("ZADD z INCR 1 a 2 b",
           "-ERR INCR option supports a single increment-element pair\r\n");
    T_SAYS("ZADD z 1 a 2", "-ERR syntax error\r\n");
    T_SAYS("ZADD z NX CH", "-ERR syntax error\r\n");
    T_SAYS("ZADD z x a", "-ERR value is not a valid float\r\n");
    T_SAYS("ZADD z 1 a nan b", "-ERR value is not a valid float\r\n");
    T_SAYS("EXISTS z", ":0\r\n");
    t_close();
    PASS();
}

TEST an_increment_tells_the_score_and_a_null_when_it_was_not_to_be(void)
{
    t_open();
    T_SAYS("ZADD z INCR 2.5 a", "$3\r\n2.5\r\n");
    T_SAYS_TO(2, "ZADD z INCR 1 a", ",3.5\r\n");
    T_SAYS("ZADD z NX INCR 1 a", "$-1\r\n");
    T_SAYS("ZADD z XX INCR 1 b", "$-1\r\n");
    T_SAYS("ZADD x XX INCR 1 b", "$-1\r\n");
    T_SAYS("ZINCRBY z -3 a", "$3\r\n0.5\r\n");
    T_SAYS("ZADD z inf i", ":1\r\n");
    T_SAYS("ZINCRBY z -inf i",
           "-ERR resulting score is not a number (NaN)\r\n");
    T_SAYS("ZINCRBY z x a", "-ERR value is not a valid float\r\n");
    t_close();
    PASS();
}

TEST a_small_set_keeps_no_minus_zero_and_whole_numbers_as_such(void)
{
    t_open();
    T_SAYS("ZADD z -0 a 1e17 b 0.1 c", ":3\r\n");
    T_SAYS("ZSCORE z a", "$1\r\n0\r\n");
    T_SAYS("ZSCORE z b", "$5\r\n1e+17\r\n");
    T_SAYS("ZSCAN z 0",
           "*2\r\n$1\r\n0\r\n*6\r\n$1\r\na\r\n$1\r\n0\r\n$1\r\n"
           "c\r\n$19\r\n0.10000000000000001\r\n$1\r\nb\r\n$18\r\n"
           "100000000000000000\r\n");
    T_SAYS_TO(2, "ZSCAN z 0 MATCH c",
           "*2\r\n$1\r\n0\r\n*2\r\n$1\r\nc\r\n$19\r\n0.10000000000000001\r\n");
    t_close();
    PASS();
}

TEST ranges_by_score_are_open_or_closed_and_limited(void)
{
    t_open();
    T_SAYS("ZADD z 1 a 2 b 3 c 4 d", ":4\r\n");
    T_SAYS("ZRANGEBYSCORE z (1 3", "*2\r\n$1\r\nb\r\n$1\r\nc\r\n");
    T_SAYS("ZRANGEBYSCORE z -inf +inf LIMIT 1 2",
           "*2\r\n$1\r\nb\r\n$1\r\nc\r\n");
    T_SAYS("ZREVRANGEBYSCORE z 4 (1 LIMIT 0 2",
           "*2\r\n$1\r\nd\r\n$1\r\nc\r\n");
    T_SAYS("ZRANGE z 4 2 BYSCORE REV",
           "*3\r\n$1\r\nd\r\n$1\r\nc\r\n$1\r\nb\r\n");
    T_SAYS("ZRANGE z (1 inf BYSCORE LIMIT 1 -1",
           "*2\r\n$1\r\nc\r\n$1\r\nd\r\n");
    T_SAYS("ZRANGE z 1 2 BYSCORE LIMIT -1 5", "*0\r\n");
    T_SAYS("ZRANGE z 3 1 BYSCORE", "*0\r\n");
    T_SAYS("ZCOUNT z (1 (4", ":2\r\n");
    T_SAYS("ZCOUNT z a b", "-ERR min or max is not a float\r\n");
    T_SAYS("ZRANGEBYSCORE z 1 nan", "-ERR min or max is not a float\r\n");
    T_SAYS("ZRANGE z 0 -1 LIMIT 0 1",
           "-ERR syntax error, LIMIT is only supported in combination with "
           "either BYSCORE or BYLEX\r\n");
    T_SAYS("ZRANGE z a b", "-ERR value is not an integer or out of range\r\n");
    t_close();
    PASS();
}

TEST ranges_by_bytes_have_open_ends(void)
{
    t_open();
    T_SAYS("ZADD z 0 a 0 aa 0 b 0 c", ":4\r\n");
    T_SAYS("ZRANGEBYLEX z - +",
           "*4\r\n$1\r\na\r\n$2\r\naa\r\n$1\r\nb\r\n$1\r\nc\r\n");
    T_SAYS("ZRANGEBYLEX z [aa (c", "*2\r\n$2\r\naa\r\n$1\r\nb\r\n");
    T_SAYS("ZREVRANGEBYLEX z (c [a LIMIT 1 1", "*1\r\n$2\r\naa\r\n");
    T_SAYS("ZRANGE z - (b BYLEX", "*2\r\n$1\r\na\r\n$2\r\naa\r\n");
    T_SAYS("ZRANGE z + [aa BYLEX REV",
           "*3\r\n$1\r\nc\r\n$1\r\nb\r\n$2\r\naa\r\n");
    T_SAYS("ZLEXCOUNT z (a +", ":3\r\n");
    T_SAYS("ZLEXCOUNT z + -", ":0\r\n");
    T_SAYS("ZRANGEBYLEX z a b",
           "-ERR min or max not valid string range item\r\n");
    T_SAYS("ZRANGE z - + BYLEX WITHSCORES",
           "-ERR syntax error, WITHSCORES not supported in combination with"
           " BYLEX\r\n");
    t_close();
    PASS();
}

TEST a_range_can_be_stored(void)
{
    t_open();
    T_SAYS("ZADD z 1 a 2 b 3 c", ":3\r\n");
    T_SAYS("ZRANGESTORE d z 0 1", ":2\r\n");
    T_SAYS("ZRANGE d 0 -1 WITHSCORES",
           "*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n");
    T_SAYS("ZRANGESTORE d z (1 inf BYSCORE LIMIT 1 1", ":1\r\n");
    T_SAYS("ZRANGE d 0 -1", "*1\r\n$1\r\nc\r\n");
    T_SAYS("ZRANGESTORE d x 0 -1", ":0\r\n");
    T_SAYS("EXISTS d", ":0\r\n");
    T_SAYS("ZRANGESTORE d z 0 1 WITHSCORES", "-ERR syntax error\r\n");
    t_close();
    PASS();
}

TEST ranges_are_removed_and_the_last_member_takes_the_key(void)
{
    t_open();
    T_SAYS("ZADD z 1 a 2 b 3 c 3 d", ":4\r\n");
    T_SAYS("ZREMRANGEBYRANK z 0 0", ":1\r\n");
    T_SAYS("ZREMRANGEBYSCORE z (2 +inf", ":2\r\n");
    T_SAYS("ZREMRANGEBYLEX z - [z", ":1\r\n");
    T_SAYS("EXISTS z", ":0\r\n");
    T_SAYS("ZREM z a", ":0\r\n");
    T_SAYS("ZADD z 1 a 2 b", ":2\r\n");
    T_SAYS("ZREM z a x b", ":2\r\n");
    T_SAYS("EXISTS z", ":0\r\n");
    t_close();
    PASS();
}

TEST the_lowest_and_the_highest_are_popped(void)
{
    t_open();
    T_SAYS("ZADD z 1 a 2 b 3 c", ":3\r\n");
    T_SAYS("ZPOPMIN z", "*2\r\n$1\r\na\r\n$1\r\n1\r\n");
    T_SAYS("ZPOPMAX z 1", "*2\r\n$1\r\nc\r\n$1\r\n3\r\n");
    T_SAYS_TO(2, "ZPOPMIN z 1", "*1\r\n*2\r\n$1\r\nb\r\n,2\r\n");
    T_SAYS("EXISTS z", ":0\r\n");
    T_SAYS("ZPOPMIN z", "*0\r\n");
    T_SAYS("ZPOPMAX z 0", "*0\r\n");
    T_SAYS("ZPOPMIN z -1", "-ERR value is out of range, must be positive\r\n");
    T_SAYS("ZPOPMIN z 1 1", "-ERR syntax error\r\n");
    T_SAYS("ZADD z 1 a 2 b 3 c", ":3\r\n");
    T_SAYS_TO(2, "ZPOPMIN z", "*2\r\n$1\r\na\r\n,1\r\n");
    T_SAYS("ZMPOP 2 x z MAX COUNT 5",
           "*2\r\n$1\r\nz\r\n*2\r\n*2\r\n$1\r\nc\r\n$1\r\n3\r\n"
           "*2\r\n$1\r\nb\r\n$1\r\n2\r\n");
    T_SAYS("ZMPOP 2 x z MIN", "*-1\r\n");
    T_SAYS("ZMPOP 0 z MIN", "-ERR numkeys should be greater than 0\r\n");
    T_SAYS("ZMPOP 1 z UP", "-ERR syntax error\r\n");
    t_close();
    PASS();
}

TEST a_client_blocked_on_a_sorted_set_gets_the_added_member(void)
{
    t_open();
    T_SAYS("BZPOPMIN x z 0", "");
    T_SAYS_TO(1, "ZADD z 2 b 1 a", ":2\r\n");
    T_HEARS(0, "*3\r\n$1\r\nz\r\n$1\r\na\r\n$1\r\n1\r\n");
    T_SAYS_TO(2, "BZPOPMAX z y 1", "*3\r\n$1\r\nz\r\n$1\r\nb\r\n,2\r\n");
    T_SAYS_TO(2, "BZPOPMAX z 0.5", "");
    t_pass(501);
    T_HEARS(2, "_\r\n");
    T_SAYS_TO(1, "BZMPOP 0 1 z MIN COUNT 3", "");
    T_SAYS("ZADD z 4 a 5 b", ":2\r\n");
    T_HEARS(1,
           "*2\r\n$1\r\nz\r\n*2\r\n*2\r\n$1\r\na\r\n$1\r\n4\r\n"
           "*2\r\n$1\r\nb\r\n$1\r\n5\r\n");
    T_SAYS("EXISTS z", ":0\r\n");
    t_close();
    PASS();
}

TEST sets_and_sorted_sets_are_joined(void)
{
    t_open();
    T_SAYS("ZADD y 1 a 2 b", ":2\r\n");
    T_SAYS("ZADD z 10 b 20 c", ":2\r\n");
    T_SAYS("SADD s a c", ":2\r\n");
    T_SAYS("ZUNION 2 y z WITHSCORES",
           "*6\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$2\r\n12\r\n"
           "$1\r\nc\r\n$2\r\n20\r\n");
    T_SAYS("ZUNION 3 y z s WEIGHTS 2 1 0.5 AGGREGATE MAX WITHSCORES",
           "*6\r\n$1\r\na\r\n$1\r\n2\r\n$1\r\nb\r\n$2\r\n10\r\n"
           "$1\r\nc\r\n$2\r\n20\r\n");
    T_SAYS_TO(2, "ZINTER 2 y z WITHSCORES", "*1\r\n*2\r\n$1\r\nb\r\n,12\r\n");
    T_SAYS("ZINTER 2 y s AGGREGATE MIN WITHSCORES",
           "*2\r\n$1\r\na\r\n$1\r\n1\r\n");
    T_SAYS("ZDIFF 2 y z WITHSCORES", "*2\r\n$1\r\na\r\n$1\r\n1\r\n");
    T_SAYS("ZDIFF 2 y x", "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
    T_SAYS("ZINTERCARD 2 y z", ":1\r\n");
    T_SAYS("ZINTERCARD 2 y y LIMIT 1", ":1\r\n");
    T_SAYS("ZUNIONSTORE d 2 y z", ":3\r\n");
    T_SAYS("ZINTERSTORE d 2 d s", ":2\r\n");
    T_SAYS("ZRANGE d 0 -1 WITHSCORES",
           "*4\r\n$1\r\na\r\n$1\r\n2\r\n$1\r\nc\r\n$2\r\n21\r\n");
    T_SAYS("ZDIFFSTORE d 2 d s", ":0\r\n");
    T_SAYS("EXISTS d", ":0\r\n");
    t_close();
    PASS();
}

TEST opposite_infinities_add_up_to_zero(void)
{
    t_open();
    T_SAYS("ZADD y inf a", ":1\r\n");
    T_SAYS("ZADD z -inf a", ":1\r\n");
    T_SAYS("ZUNION 2 y z WITHSCORES", "*2\r\n$1\r\na\r\n$1\r\n0\r\n");
    T_SAYS("ZUNION 2 y z WEIGHTS 0 1 WITHSCORES",
           "*2\r\n$1\r\na\r\n$4\r\n-inf\r\n");
    t_close();
    PASS();
}

TEST a_join_that_cannot_be_is_refused(void)
{
    t_open();
    T_SAYS("ZUNION 0 z",
           "-ERR at least 1 input key is needed for 'zunion' command\r\n");
    T_SAYS("ZUNION x z", "-ERR value is not an integer or out of range\r\n");
    T_SAYS("ZUNION 2 z", "-ERR syntax error\r\n");
    T_SAYS("ZUNION 1 z WEIGHTS x", "-ERR weight value is not a float\r\n");
    T_SAYS("ZUNION 1 z WEIGHTS", "-ERR syntax error\r\n");
    T_SAYS("ZUNION 1 z AGGREGATE avg", "-ERR syntax error\r\n");
    T_SAYS("ZDIFF 1 z WEIGHTS 1", "-ERR syntax error\r\n");
    T_SAYS("ZUNIONSTORE d 1 z WITHSCORES", "-ERR syntax error\r\n");
    T_SAYS("ZINTERCARD 1 z LIMIT -1", "-ERR LIMIT can't be negative\r\n");
    t_close();
    PASS();
}

TEST sorted_set_commands_refuse_a_key_of_another_type(void)
{
    t_open();
    T_SAYS("SET z x", "+OK\r\n");
    T_SAYS("ZADD z 1 a",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("ZRANGE z 0 -1",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("ZUNION 1 z",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("BZPOPMIN z 0",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("ZRANGESTORE d z 0 -1",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    t_close();
    PASS();
}

TEST a_blocking_pop_of_a_sorted_set_is_logged_as_a_pop(void)
{
    t_open();
    t_does(1, "BZPOPMAX z 0");
    t_does(0, "ZADD z 1 a");
    t_done(1);
    ASSERT(t_logs("SELECT 0\nZADD z 1 a\nZPOPMAX z\n"));
    t_close();
    PASS();
}

TEST a_pop_of_several_members_is_logged_with_their_count(void)
{
    t_open();
    t_does(0, "ZADD z 1 a 2 b");
    t_does(0, "ZMPOP 1 z MIN COUNT 9");
    ASSERT(t_logs("SELECT 0\nZADD z 1 a 2 b\nZPOPMIN z 2\n"));
    t_close();
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(members_stand_in_order_of_score_then_of_bytes);
    RUN_TEST(options_of_zadd_say_which_scores_are_taken);
    RUN_TEST(options_of_zadd_that_exclude_each_other_are_refused);
    RUN_TEST(an_increment_tells_the_score_and_a_null_when_it_was_not_to_be);
    RUN_TEST(a_small_set_keeps_no_minus_zero_and_whole_numbers_as_such);
    RUN_TEST(ranges_by_score_are_open_or_closed_and_limited);
    RUN_TEST(ranges_by_bytes_have_open_ends);
    RUN_TEST(a_range_can_be_stored);
    RUN_TEST(ranges_are_removed_and_the_last_member_takes_the_key);
    RUN_TEST(the_lowest_and_the_highest_are_popped);
    RUN_TEST(a_client_blocked_on_a_sorted_set_gets_the_added_member);
    RUN_TEST(sets_and_sorted_sets_are_joined);
    RUN_TEST(opposite_infinities_add_up_to_zero);
    RUN_TEST(a_join_that_cannot_be_is_refused);
    RUN_TEST(sorted_set_commands_refuse_a_key_of_another_type);
    RUN_TEST(a_blocking_pop_of_a_sorted_set_is_logged_as_a_pop);
    RUN_TEST(a_pop_of_several_members_is_logged_with_their_count);
    GREATEST_MAIN_END();
}
