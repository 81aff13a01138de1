/* SPDX-License-Identifier: MIT
 *
 * local_cmd_stream_test.c - the commands of streams reply as real servers.
 */
#include "local_cmd.h"

TEST ids_grow_and_are_made_from_the_clock(void)
{
    t_open();
    T_SAYS("XADD x * a 1", "$15\r\n1700000000123-0\r\n");
    T_SAYS("XADD x * a 2", "$15\r\n1700000000123-1\r\n");
    t_pass(1);
    T_SAYS("XADD x * a 3", "$15\r\n1700000000124-0\r\n");
    T_SAYS("XADD x 1700000000124-* a 4", "$15\r\n1700000000124-1\r\n");
    T_SAYS("XADD x 1700000000124 a 5",
           "-ERR The ID specified in XADD is equal or smaller than the targ"
           "et stream top item\r\n");
    T_SAYS("XADD x 1700000000999-5 a 6", "$15\r\n1700000000999-5\r\n");
    T_SAYS("XADD x 1700000000998-* a 7",
           "-ERR The ID specified in XADD is equal or smaller than the targ"
           "et stream top item\r\n");
    T_SAYS("XLEN x", ":5\r\n");
    t_close();
    PASS();
}

TEST an_entry_that_cannot_be_added_says_why(void)
{
    t_open();
    T_SAYS("XADD x 0-0 a 1",
           "-ERR The ID specified in XADD must be greater than 0-0\r\n");
    T_SAYS("XADD x 5 a",
           "-ERR wrong number of arguments for 'xadd' command\r\n");
    T_SAYS("XADD x x a 1",
           "-ERR Invalid stream ID specified as stream command argument\r\n");
    T_SAYS("XADD x NOMKSTREAM * a 1", "$-1\r\n");
    T_SAYS("EXISTS x", ":0\r\n");
    T_SAYS("XADD x 18446744073709551615-18446744073709551615 a 1",
           "$41\r\n18446744073709551615-18446744073709551615\r\n");
    T_SAYS("XADD x * a 1",
           "-ERR The stream has exhausted the last possible ID, unable to a"
           "dd more items\r\n");
    t_close();
    PASS();
}

TEST ranges_are_open_or_closed_and_counted(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XADD x 2-1 a 2 b 3", "$3\r\n2-1\r\n");
    T_SAYS("XADD x 3-1 a 4", "$3\r\n3-1\r\n");
    T_SAYS("XRANGE x - +",
           "*3\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n"
           "*2\r\n$3\r\n2-1\r\n*4\r\n$1\r\na\r\n$1\r\n2\r\n$1\r\n"
           "b\r\n$1\r\n3\r\n*2\r\n$3\r\n3-1\r\n*2\r\n$1\r\na\r\n"
           "$1\r\n4\r\n");
    T_SAYS("XRANGE x 2 2",
           "*1\r\n*2\r\n$3\r\n2-1\r\n*4\r\n$1\r\na\r\n$1\r\n2\r\n"
           "$1\r\nb\r\n$1\r\n3\r\n");
    T_SAYS("XRANGE x (1-1 3 COUNT 1",
           "*1\r\n*2\r\n$3\r\n2-1\r\n*4\r\n$1\r\na\r\n$1\r\n2\r\n"
           "$1\r\nb\r\n$1\r\n3\r\n");
    T_SAYS("XREVRANGE x + (1-1 COUNT 1",
           "*1\r\n*2\r\n$3\r\n3-1\r\n*2\r\n$1\r\na\r\n$1\r\n4\r\n");
    T_SAYS("XRANGE x - + COUNT 0", "*-1\r\n");
    T_SAYS_TO(2, "XRANGE x - + COUNT 0", "_\r\n");
    T_SAYS("XRANGE y - +", "*0\r\n");
    T_SAYS("XRANGE x ( +",
           "-ERR Invalid stream ID specified as stream command argument\r\n");
    T_SAYS("XRANGE x (18446744073709551615-18446744073709551615 +",
           "-ERR invalid start ID for the interval\r\n");
    T_SAYS("XRANGE x - (0-0", "-ERR invalid end ID for the interval\r\n");
    T_SAYS("XRANGE x - + COUNT", "-ERR syntax error\r\n");
    t_close();
    PASS();
}

TEST trimming_keeps_the_newest(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XADD x 2-1 a 1", "$3\r\n2-1\r\n");
    T_SAYS("XADD x 3-1 a 1", "$3\r\n3-1\r\n");
    T_SAYS("XADD x MAXLEN 2 4-1 a 1", "$3\r\n4-1\r\n");
    T_SAYS("XTRIM x MINID = 4", ":1\r\n");
    T_SAYS("XTRIM x MAXLEN ~ 0", ":1\r\n");
    T_SAYS("XTRIM x MAXLEN 0", ":0\r\n");
    T_SAYS("XLEN x", ":0\r\n");
    T_SAYS("EXISTS x", ":1\r\n");
    t_close();
    PASS();
}

TEST trimming_that_cannot_be_says_why(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XTRIM x FOO 1", "-ERR syntax error\r\n");
    T_SAYS("XTRIM x MAXLEN -1", "-ERR The MAXLEN argument must be >= 0.\r\n");
    T_SAYS("XTRIM x MAXLEN x",
           "-ERR value is not an integer or out of range\r\n");
    T_SAYS("XTRIM x MAXLEN 1 MINID 1",
           "-ERR syntax error, MAXLEN and MINID options at the same time ar"
           "e not compatible\r\n");
    T_SAYS("XTRIM x LIMIT 1",
           "-ERR syntax error, LIMIT cannot be used without specifying a tr"
           "imming strategy\r\n");
    T_SAYS("XTRIM x MAXLEN 1 LIMIT 1",
           "-ERR syntax error, LIMIT cannot be used without the special ~ o"
           "ption\r\n");
    T_SAYS("XTRIM x MAXLEN ~ 1 LIMIT -1",
           "-ERR The LIMIT argument must be >= 0.\r\n");
    T_SAYS("XTRIM x MINID -",
           "-ERR Invalid stream ID specified as stream command argument\r\n");
    T_SAYS("XTRIM x NOMKSTREAM",
           "-ERR wrong number of arguments for 'xtrim' command\r\n");
    t_close();
    PASS();
}

TEST deleting_leaves_a_mark(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XADD x 2-1 a 1", "$3\r\n2-1\r\n");
    T_SAYS("XDEL x 2-1 7", ":1\r\n");
    T_SAYS("XDEL x 1-1 y",
           "-ERR Invalid stream ID specified as stream command argument\r\n");
    T_SAYS("XINFO STREAM x",
           "*20\r\n$6\r\nlength\r\n:1\r\n$15\r\nradix-tree-keys\r\n"
           ":1\r\n$16\r\nradix-tree-nodes\r\n:2\r\n$17\r\nlast-generated-id"
           "\r\n$3\r\n2-1\r\n$20\r\nmax-deleted-entry-id\r\n$3\r\n"
           "2-1\r\n$13\r\nentries-added\r\n:2\r\n$23\r\nrecorded-first-entr"
           "y-id\r\n$3\r\n1-1\r\n$6\r\ngroups\r\n:0\r\n$11\r\nfirst-entry\r"
           "\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n$10\r\n"
           "last-entry\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\na\r\n$1\r\n"
           "1\r\n");
    T_SAYS_TO(2, "XINFO STREAM x",
           "%10\r\n$6\r\nlength\r\n:1\r\n$15\r\nradix-tree-keys\r\n"
           ":1\r\n$16\r\nradix-tree-nodes\r\n:2\r\n$17\r\nlast-generated-id"
           "\r\n$3\r\n2-1\r\n$20\r\nmax-deleted-entry-id\r\n$3\r\n"
           "2-1\r\n$13\r\nentries-added\r\n:2\r\n$23\r\nrecorded-first-entr"
           "y-id\r\n$3\r\n1-1\r\n$6\r\ngroups\r\n:0\r\n$11\r\nfirst-entry\r"
           "\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n$10\r\n"
           "last-entry\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\na\r\n$1\r\n"
           "1\r\n");
    t_close();
    PASS();
}

TEST the_last_id_is_set_but_never_below_an_entry(void)
{
    t_open();
    T_SAYS("XADD x 5-1 a 1", "$3\r\n5-1\r\n");
    T_SAYS("XSETID x 9-9", "+OK\r\n");
    T_SAYS("XSETID x 5-0",
           "-ERR The ID specified in XSETID is smaller than the target stre"
           "am top item\r\n");
    T_SAYS("XSETID x 9 ENTRIESADDED 0",
           "-ERR The entries_added specified in XSETID is smaller than the "
           "target stream length\r\n");
    T_SAYS("XSETID x 9 MAXDELETEDID 10",
           "-ERR The ID specified in XSETID is smaller than the provided ma"
           "x_deleted_entry_id\r\n");
    T_SAYS("XSETID x 9 ENTRIESADDED -1",
           "-ERR entries_added must be positive\r\n");
    T_SAYS("XSETID x 9 ENTRIESADDED 7 MAXDELETEDID 6-6", "+OK\r\n");
    T_SAYS("XINFO STREAM x",
           "*20\r\n$6\r\nlength\r\n:1\r\n$15\r\nradix-tree-keys\r\n"
           ":1\r\n$16\r\nradix-tree-nodes\r\n:2\r\n$17\r\nlast-generated-id"
           "\r\n$3\r\n9-0\r\n$20\r\nmax-deleted-entry-id\r\n$3\r\n"
           "6-6\r\n$13\r\nentries-added\r\n:7\r\n$23\r\nrecorded-first-entr"
           "y-id\r\n$3\r\n5-1\r\n$6\r\ngroups\r\n:0\r\n$11\r\nfirst-entry\r"
           "\n*2\r\n$3\r\n5-1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n$10\r\n"
           "last-entry\r\n*2\r\n$3\r\n5-1\r\n*2\r\n$1\r\na\r\n$1\r\n"
           "1\r\n");
    T_SAYS("XSETID y 1", "-ERR no such key\r\n");
    t_close();
    PASS();
}

TEST xread_gives_the_entries_behind_each_id(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XADD y 2-1 b 2", "$3\r\n2-1\r\n");
    T_SAYS("XREAD STREAMS x y 0 0",
           "*2\r\n*2\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n"
           "$1\r\na\r\n$1\r\n1\r\n*2\r\n$1\r\ny\r\n*1\r\n*2\r\n"
           "$3\r\n2-1\r\n*2\r\n$1\r\nb\r\n$1\r\n2\r\n");
    T_SAYS_TO(2, "XREAD COUNT 1 STREAMS x y 0 2-1",
           "%1\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\n"
           "a\r\n$1\r\n1\r\n");
    T_SAYS("XREAD STREAMS x 1-1", "*-1\r\n");
    T_SAYS_TO(2, "XREAD STREAMS x $", "_\r\n");
    T_SAYS("XREAD STREAMS x",
           "-ERR wrong number of arguments for 'xread' command\r\n");
    T_SAYS("XREAD STREAMS x >",
           "-ERR The > ID can be specified only when calling XREADGROUP usi"
           "ng the GROUP <group> <consumer> option.\r\n");
    T_SAYS("XREAD COUNT 1",
           "-ERR wrong number of arguments for 'xread' command\r\n");
    T_SAYS("XREAD NOACK STREAMS x 0",
           "-ERR The NOACK option is only supported by XREADGROUP. You call"
           "ed XREAD instead.\r\n");
    T_SAYS("XREAD GROUP g c STREAMS x 0",
           "-ERR The GROUP option is only supported by XREADGROUP. You call"
           "ed XREAD instead.\r\n");
    t_close();
    PASS();
}

TEST a_client_blocked_on_a_stream_gets_added_entries(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XREAD BLOCK 0 STREAMS y x $ $", "");
    T_SAYS_TO(2, "XREAD BLOCK 0 COUNT 1 STREAMS x 1-1", "");
    T_SAYS_TO(1, "XADD x 2-1 b 2", "$3\r\n2-1\r\n");
    T_HEARS(0,
           "*1\r\n*2\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n2-1\r\n*2\r\n"
           "$1\r\nb\r\n$1\r\n2\r\n");
    T_HEARS(2,
           "%1\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n2-1\r\n*2\r\n$1\r\n"
           "b\r\n$1\r\n2\r\n");
    T_SAYS("XREAD BLOCK 10 STREAMS x $", "");
    t_pass(11);
    T_HEARS(0, "*-1\r\n");
    T_SAYS("XREAD BLOCK -1 STREAMS x $", "-ERR timeout is negative\r\n");
    T_SAYS("XREAD BLOCK x STREAMS x $",
           "-ERR timeout is not an integer or out of range\r\n");
    t_close();
    PASS();
}

TEST stream_commands_refuse_a_key_of_another_type(void)
{
    t_open();
    T_SAYS("SET x y", "+OK\r\n");
    T_SAYS("XADD x * a 1",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("XLEN x",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("XREAD STREAMS x 0",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    T_SAYS("XRANGE x - +",
           "-WRONGTYPE Operation against a key holding the wrong kind of va"
           "lue\r\n");
    t_close();
    PASS();
}

TEST an_id_from_the_clock_is_logged_as_it_was(void)
{
    t_open();
    t_does(0, "XADD x * a 1");
    ASSERT(t_logs("SELECT 0\nXADD x 1700000000123-0 a 1\n"));
    t_close();
    PASS();
}

TEST an_approximate_trim_is_logged_by_the_length_it_left(void)
{
    t_open();
    t_does(0, "XADD x 1-1 a 1");
    t_does(0, "XADD x MAXLEN ~ 1 2-* a 1");
    ASSERT(t_logs("SELECT 0\nXADD x 1-1 a 1\nXADD x MAXLEN = 2 2-0 a 1\n"));
    t_close();
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(ids_grow_and_are_made_from_the_clock);
    RUN_TEST(an_entry_that_cannot_be_added_says_why);
    RUN_TEST(ranges_are_open_or_closed_and_counted);
    RUN_TEST(trimming_keeps_the_newest);
    RUN_TEST(trimming_that_cannot_be_says_why);
    RUN_TEST(deleting_leaves_a_mark);
    RUN_TEST(the_last_id_is_set_but_never_below_an_entry);
    RUN_TEST(xread_gives_the_entries_behind_each_id);
    RUN_TEST(a_client_blocked_on_a_stream_gets_added_entries);
    RUN_TEST(stream_commands_refuse_a_key_of_another_type);
    RUN_TEST(an_id_from_the_clock_is_logged_as_it_was);
    RUN_TEST(an_approximate_trim_is_logged_by_the_length_it_left);
    GREATEST_MAIN_END();
}
