/* SPDX-License-Identifier: MIT
 *
 * local_cmd_group_test.c - the commands of consumer groups reply as real
 * servers.
 */
#include "local_cmd.h"

TEST a_group_is_made_and_set_and_destroyed(void)
{
    t_open();
    T_SAYS("XGROUP CREATE x g $",
           "-ERR The XGROUP subcommand requires the key to exist. Note that"
           " for CREATE you may want to use the MKSTREAM option to create a"
           "n empty stream automatically.\r\n");
    T_SAYS("XGROUP CREATE x g $ MKSTREAM", "+OK\r\n");
    T_SAYS("XGROUP CREATE x g 0",
           "-BUSYGROUP Consumer Group name already exists\r\n");
    T_SAYS("XGROUP CREATE x h 5-1 ENTRIESREAD 3", "+OK\r\n");
    T_SAYS("XGROUP SETID x h 6", "+OK\r\n");
    T_SAYS("XGROUP SETID x i 6",
           "-NOGROUP No such consumer group 'i' for key name 'x'\r\n");
    T_SAYS("XINFO GROUPS x",
           "*2\r\n*12\r\n$4\r\nname\r\n$1\r\ng\r\n$9\r\nconsumers\r\n"
           ":0\r\n$7\r\npending\r\n:0\r\n$17\r\nlast-delivered-id\r\n"
           "$3\r\n0-0\r\n$12\r\nentries-read\r\n$-1\r\n$3\r\nlag\r\n"
           ":0\r\n*12\r\n$4\r\nname\r\n$1\r\nh\r\n$9\r\nconsumers\r\n"
           ":0\r\n$7\r\npending\r\n:0\r\n$17\r\nlast-delivered-id\r\n"
           "$3\r\n6-0\r\n$12\r\nentries-read\r\n$-1\r\n$3\r\nlag\r\n"
           ":0\r\n");
    T_SAYS_TO(2, "XINFO GROUPS x",
           "*2\r\n%6\r\n$4\r\nname\r\n$1\r\ng\r\n$9\r\nconsumers\r\n"
           ":0\r\n$7\r\npending\r\n:0\r\n$17\r\nlast-delivered-id\r\n"
           "$3\r\n0-0\r\n$12\r\nentries-read\r\n_\r\n$3\r\nlag\r\n"
           ":0\r\n%6\r\n$4\r\nname\r\n$1\r\nh\r\n$9\r\nconsumers\r\n"
           ":0\r\n$7\r\npending\r\n:0\r\n$17\r\nlast-delivered-id\r\n"
           "$3\r\n6-0\r\n$12\r\nentries-read\r\n_\r\n$3\r\nlag\r\n"
           ":0\r\n");
    T_SAYS("XGROUP DESTROY x h", ":1\r\n");
    T_SAYS("XGROUP DESTROY x h", ":0\r\n");
    T_SAYS("XGROUP CREATE x h -",
           "-ERR Invalid stream ID specified as stream command argument\r\n");
    T_SAYS("XGROUP CREATE x h 0 ENTRIESREAD -2",
           "-ERR value for ENTRIESREAD must be positive or -1\r\n");
    T_SAYS("XGROUP SETID x g 1 MKSTREAM",
           "-ERR unknown subcommand or wrong number of arguments for 'SETID"
           "'. Try XGROUP HELP.\r\n");
    t_close();
    PASS();
}

TEST new_entries_are_handed_out_once(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XADD x 2-1 b 2", "$3\r\n2-1\r\n");
    T_SAYS("XGROUP CREATE x g 0", "+OK\r\n");
    T_SAYS("XREADGROUP GROUP g alice COUNT 1 STREAMS x >",
           "*1\r\n*2\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n"
           "$1\r\na\r\n$1\r\n1\r\n");
    T_SAYS_TO(2, "XREADGROUP GROUP g bob STREAMS x >",
           "%1\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n2-1\r\n*2\r\n$1\r\n"
           "b\r\n$1\r\n2\r\n");
    T_SAYS("XREADGROUP GROUP g bob STREAMS x >", "*-1\r\n");
    T_SAYS("XPENDING x g",
           "*4\r\n:2\r\n$3\r\n1-1\r\n$3\r\n2-1\r\n*2\r\n*2\r\n$5\r\n"
           "alice\r\n$1\r\n1\r\n*2\r\n$3\r\nbob\r\n$1\r\n1\r\n");
    T_SAYS("XPENDING x g - + 10",
           "*2\r\n*4\r\n$3\r\n1-1\r\n$5\r\nalice\r\n:0\r\n:1\r\n"
           "*4\r\n$3\r\n2-1\r\n$3\r\nbob\r\n:0\r\n:1\r\n");
    T_SAYS("XPENDING x g - + 10 bob",
           "*1\r\n*4\r\n$3\r\n2-1\r\n$3\r\nbob\r\n:0\r\n:1\r\n");
    T_SAYS("XPENDING x g - + 10 carol", "*0\r\n");
    T_SAYS("XINFO CONSUMERS x g",
           "*2\r\n*6\r\n$4\r\nname\r\n$5\r\nalice\r\n$7\r\npending\r\n"
           ":1\r\n$4\r\nidle\r\n:0\r\n*6\r\n$4\r\nname\r\n$3\r\n"
           "bob\r\n$7\r\npending\r\n:1\r\n$4\r\nidle\r\n:0\r\n");
    T_SAYS_TO(2, "XINFO CONSUMERS x g",
           "*2\r\n%3\r\n$4\r\nname\r\n$5\r\nalice\r\n$7\r\npending\r\n"
           ":1\r\n$4\r\nidle\r\n:0\r\n%3\r\n$4\r\nname\r\n$3\r\n"
           "bob\r\n$7\r\npending\r\n:1\r\n$4\r\nidle\r\n:0\r\n");
    t_close();
    PASS();
}

TEST history_tells_again_and_counts(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XADD x 2-1 b 2", "$3\r\n2-1\r\n");
    T_SAYS("XGROUP CREATE x g 0", "+OK\r\n");
    T_SAYS("XREADGROUP GROUP g alice STREAMS x >",
           "*1\r\n*2\r\n$1\r\nx\r\n*2\r\n*2\r\n$3\r\n1-1\r\n*2\r\n"
           "$1\r\na\r\n$1\r\n1\r\n*2\r\n$3\r\n2-1\r\n*2\r\n$1\r\n"
           "b\r\n$1\r\n2\r\n");
    T_SAYS("XDEL x 1-1", ":1\r\n");
    t_pass(5);
    T_SAYS("XREADGROUP GROUP g alice STREAMS x 0",
           "*1\r\n*2\r\n$1\r\nx\r\n*2\r\n*2\r\n$3\r\n1-1\r\n*-1\r\n"
           "*2\r\n$3\r\n2-1\r\n*2\r\n$1\r\nb\r\n$1\r\n2\r\n");
    T_SAYS("XREADGROUP GROUP g alice COUNT 1 STREAMS x 1-1",
           "*1\r\n*2\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n2-1\r\n*2\r\n"
           "$1\r\nb\r\n$1\r\n2\r\n");
    T_SAYS("XREADGROUP GROUP g bob STREAMS x 0",
           "*1\r\n*2\r\n$1\r\nx\r\n*0\r\n");
    T_SAYS("XPENDING x g - + 10",
           "*2\r\n*4\r\n$3\r\n1-1\r\n$5\r\nalice\r\n:5\r\n:1\r\n"
           "*4\r\n$3\r\n2-1\r\n$5\r\nalice\r\n:0\r\n:3\r\n");
    t_close();
    PASS();
}

TEST without_acknowledgement_nothing_is_pending(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XGROUP CREATE x g 0", "+OK\r\n");
    T_SAYS("XREADGROUP GROUP g alice NOACK STREAMS x >",
           "*1\r\n*2\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n"
           "$1\r\na\r\n$1\r\n1\r\n");
    T_SAYS("XPENDING x g", "*4\r\n:0\r\n$-1\r\n$-1\r\n*-1\r\n");
    T_SAYS("XINFO GROUPS x",
           "*1\r\n*12\r\n$4\r\nname\r\n$1\r\ng\r\n$9\r\nconsumers\r\n"
           ":1\r\n$7\r\npending\r\n:0\r\n$17\r\nlast-delivered-id\r\n"
           "$3\r\n1-1\r\n$12\r\nentries-read\r\n:1\r\n$3\r\nlag\r\n"
           ":0\r\n");
    t_close();
    PASS();
}

TEST acknowledged_entries_are_no_longer_pending(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XADD x 2-1 b 2", "$3\r\n2-1\r\n");
    T_SAYS("XGROUP CREATE x g 0", "+OK\r\n");
    T_SAYS("XREADGROUP GROUP g alice STREAMS x >",
           "*1\r\n*2\r\n$1\r\nx\r\n*2\r\n*2\r\n$3\r\n1-1\r\n*2\r\n"
           "$1\r\na\r\n$1\r\n1\r\n*2\r\n$3\r\n2-1\r\n*2\r\n$1\r\n"
           "b\r\n$1\r\n2\r\n");
    T_SAYS("XACK x g 1-1 9-9", ":1\r\n");
    T_SAYS("XACK x g 1-1", ":0\r\n");
    T_SAYS("XACK x h 1-1", ":0\r\n");
    T_SAYS("XACK y g x", ":0\r\n");
    T_SAYS("XACK x g 2-1 x",
           "-ERR Invalid stream ID specified as stream command argument\r\n");
    T_SAYS("XPENDING x g",
           "*4\r\n:1\r\n$3\r\n2-1\r\n$3\r\n2-1\r\n*1\r\n*2\r\n$5\r\n"
           "alice\r\n$1\r\n1\r\n");
    t_close();
    PASS();
}

TEST pending_entries_are_asked_for_by_idle_time(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XGROUP CREATE x g 0", "+OK\r\n");
    T_SAYS("XREADGROUP GROUP g alice STREAMS x >",
           "*1\r\n*2\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n"
           "$1\r\na\r\n$1\r\n1\r\n");
    t_pass(50);
    T_SAYS("XPENDING x g IDLE 50 - + 10",
           "*1\r\n*4\r\n$3\r\n1-1\r\n$5\r\nalice\r\n:50\r\n:1\r\n");
    T_SAYS("XPENDING x g IDLE 51 - + 10", "*0\r\n");
    T_SAYS("XPENDING x g IDLE 50 - + 10 alice",
           "*1\r\n*4\r\n$3\r\n1-1\r\n$5\r\nalice\r\n:50\r\n:1\r\n");
    T_SAYS("XPENDING x g IDLE 50 - +", "-ERR syntax error\r\n");
    T_SAYS("XPENDING x g - +", "-ERR syntax error\r\n");
    T_SAYS("XPENDING x g - + x",
           "-ERR value is not an integer or out of range\r\n");
    T_SAYS("XPENDING x h",
           "-NOGROUP No such key 'x' or consumer group 'h'\r\n");
    t_close();
    PASS();
}

TEST idle_entries_are_claimed(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XADD x 2-1 b 2", "$3\r\n2-1\r\n");
    T_SAYS("XGROUP CREATE x g 0", "+OK\r\n");
    T_SAYS("XREADGROUP GROUP g alice STREAMS x >",
           "*1\r\n*2\r\n$1\r\nx\r\n*2\r\n*2\r\n$3\r\n1-1\r\n*2\r\n"
           "$1\r\na\r\n$1\r\n1\r\n*2\r\n$3\r\n2-1\r\n*2\r\n$1\r\n"
           "b\r\n$1\r\n2\r\n");
    t_pass(50);
    T_SAYS("XCLAIM x g bob 51 1-1", "*0\r\n");
    T_SAYS("XCLAIM x g bob 50 1-1 7-7",
           "*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n");
    T_SAYS("XCLAIM x g bob 0 2-1 JUSTID", "*1\r\n$3\r\n2-1\r\n");
    T_SAYS("XCLAIM x g carol 0 2-1 IDLE 20 RETRYCOUNT 9",
           "*1\r\n*2\r\n$3\r\n2-1\r\n*2\r\n$1\r\nb\r\n$1\r\n2\r\n");
    T_SAYS("XPENDING x g - + 10",
           "*2\r\n*4\r\n$3\r\n1-1\r\n$3\r\nbob\r\n:0\r\n:2\r\n*4\r\n"
           "$3\r\n2-1\r\n$5\r\ncarol\r\n:20\r\n:9\r\n");
    T_SAYS("XINFO CONSUMERS x g",
           "*3\r\n*6\r\n$4\r\nname\r\n$5\r\nalice\r\n$7\r\npending\r\n"
           ":0\r\n$4\r\nidle\r\n:50\r\n*6\r\n$4\r\nname\r\n$3\r\n"
           "bob\r\n$7\r\npending\r\n:1\r\n$4\r\nidle\r\n:0\r\n*6\r\n"
           "$4\r\nname\r\n$5\r\ncarol\r\n$7\r\npending\r\n:1\r\n"
           "$4\r\nidle\r\n:0\r\n");
    t_close();
    PASS();
}

TEST a_claim_by_force_needs_no_pending_entry(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XGROUP CREATE x g 0", "+OK\r\n");
    T_SAYS("XCLAIM x g bob 0 1-1", "*0\r\n");
    T_SAYS("XCLAIM x g bob 0 1-1 FORCE JUSTID LASTID 3-3",
           "*1\r\n$3\r\n1-1\r\n");
    T_SAYS("XPENDING x g - + 10",
           "*1\r\n*4\r\n$3\r\n1-1\r\n$3\r\nbob\r\n:0\r\n:1\r\n");
    T_SAYS("XINFO GROUPS x",
           "*1\r\n*12\r\n$4\r\nname\r\n$1\r\ng\r\n$9\r\nconsumers\r\n"
           ":1\r\n$7\r\npending\r\n:1\r\n$17\r\nlast-delivered-id\r\n"
           "$3\r\n3-3\r\n$12\r\nentries-read\r\n$-1\r\n$3\r\nlag\r\n"
           "$-1\r\n");
    t_close();
    PASS();
}

TEST a_claim_that_cannot_be_says_why(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XGROUP CREATE x g 0", "+OK\r\n");
    T_SAYS("XCLAIM x g bob x 1-1",
           "-ERR Invalid min-idle-time argument for XCLAIM\r\n");
    T_SAYS("XCLAIM x g bob 0 1-1 SOON",
           "-ERR Unrecognized XCLAIM option 'SOON'\r\n");
    T_SAYS("XCLAIM x g bob 0 1-1 IDLE x",
           "-ERR Invalid IDLE option argument for XCLAIM\r\n");
    T_SAYS("XCLAIM x g bob 0 1-1 TIME x",
           "-ERR Invalid TIME option argument for XCLAIM\r\n");
    T_SAYS("XCLAIM x g bob 0 1-1 RETRYCOUNT x",
           "-ERR Invalid RETRYCOUNT option argument for XCLAIM\r\n");
    T_SAYS("XCLAIM x g bob 0 1-1 LASTID x",
           "-ERR Invalid stream ID specified as stream command argument\r\n");
    T_SAYS("XCLAIM x h bob 0 1-1",
           "-NOGROUP No such key 'x' or consumer group 'h'\r\n");
    T_SAYS("XAUTOCLAIM x g bob x 0",
           "-ERR Invalid min-idle-time argument for XAUTOCLAIM\r\n");
    T_SAYS("XAUTOCLAIM x g bob 0 0 COUNT 0", "-ERR COUNT must be > 0\r\n");
    T_SAYS("XAUTOCLAIM x g bob 0 0 COUNT 1000000000000000",
           "-ERR Insufficient memory, failed allocating transient memory, C"
           "OUNT too high.\r\n");
    T_SAYS("XAUTOCLAIM x g bob 0 0 SOON", "-ERR syntax error\r\n");
    T_SAYS("XAUTOCLAIM x h bob 0 0",
           "-NOGROUP No such key 'x' or consumer group 'h'\r\n");
    t_close();
    PASS();
}

TEST xautoclaim_claims_idle_entries_and_drops_deleted_ones(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XADD x 2-1 b 2", "$3\r\n2-1\r\n");
    T_SAYS("XADD x 3-1 c 3", "$3\r\n3-1\r\n");
    T_SAYS("XGROUP CREATE x g 0", "+OK\r\n");
    T_SAYS("XREADGROUP GROUP g alice STREAMS x >",
           "*1\r\n*2\r\n$1\r\nx\r\n*3\r\n*2\r\n$3\r\n1-1\r\n*2\r\n"
           "$1\r\na\r\n$1\r\n1\r\n*2\r\n$3\r\n2-1\r\n*2\r\n$1\r\n"
           "b\r\n$1\r\n2\r\n*2\r\n$3\r\n3-1\r\n*2\r\n$1\r\nc\r\n"
           "$1\r\n3\r\n");
    T_SAYS("XDEL x 2-1", ":1\r\n");
    t_pass(50);
    T_SAYS("XAUTOCLAIM x g bob 51 -",
           "*3\r\n$3\r\n0-0\r\n*0\r\n*1\r\n$3\r\n2-1\r\n");
    T_SAYS("XAUTOCLAIM x g bob 50 0 COUNT 2",
           "*3\r\n$3\r\n0-0\r\n*2\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\n"
           "a\r\n$1\r\n1\r\n*2\r\n$3\r\n3-1\r\n*2\r\n$1\r\nc\r\n"
           "$1\r\n3\r\n*0\r\n");
    T_SAYS("XAUTOCLAIM x g bob 0 3-1 JUSTID",
           "*3\r\n$3\r\n0-0\r\n*1\r\n$3\r\n3-1\r\n*0\r\n");
    T_SAYS("XPENDING x g - + 10",
           "*2\r\n*4\r\n$3\r\n1-1\r\n$3\r\nbob\r\n:0\r\n:2\r\n*4\r\n"
           "$3\r\n3-1\r\n$3\r\nbob\r\n:0\r\n:2\r\n");
    t_close();
    PASS();
}

TEST consumers_come_and_go(void)
{
    t_open();
    T_SAYS("XGROUP CREATE x g 0 MKSTREAM", "+OK\r\n");
    T_SAYS("XGROUP CREATECONSUMER x g bob", ":1\r\n");
    T_SAYS("XGROUP CREATECONSUMER x g bob", ":0\r\n");
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XREADGROUP GROUP g bob STREAMS x >",
           "*1\r\n*2\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n"
           "$1\r\na\r\n$1\r\n1\r\n");
    T_SAYS("XGROUP DELCONSUMER x g bob", ":1\r\n");
    T_SAYS("XGROUP DELCONSUMER x g bob", ":0\r\n");
    T_SAYS("XGROUP DELCONSUMER x h bob",
           "-NOGROUP No such consumer group 'h' for key name 'x'\r\n");
    T_SAYS("XPENDING x g", "*4\r\n:0\r\n$-1\r\n$-1\r\n*-1\r\n");
    t_close();
    PASS();
}

TEST the_lag_counts_on_while_nothing_is_deleted_ahead(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XADD x 2-1 a 1", "$3\r\n2-1\r\n");
    T_SAYS("XADD x 3-1 a 1", "$3\r\n3-1\r\n");
    T_SAYS("XGROUP CREATE x g 0", "+OK\r\n");
    T_SAYS("XREADGROUP GROUP g bob COUNT 1 STREAMS x >",
           "*1\r\n*2\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n"
           "$1\r\na\r\n$1\r\n1\r\n");
    T_SAYS("XINFO GROUPS x",
           "*1\r\n*12\r\n$4\r\nname\r\n$1\r\ng\r\n$9\r\nconsumers\r\n"
           ":1\r\n$7\r\npending\r\n:1\r\n$17\r\nlast-delivered-id\r\n"
           "$3\r\n1-1\r\n$12\r\nentries-read\r\n:1\r\n$3\r\nlag\r\n"
           ":2\r\n");
    T_SAYS("XDEL x 2-1", ":1\r\n");
    T_SAYS("XINFO GROUPS x",
           "*1\r\n*12\r\n$4\r\nname\r\n$1\r\ng\r\n$9\r\nconsumers\r\n"
           ":1\r\n$7\r\npending\r\n:1\r\n$17\r\nlast-delivered-id\r\n"
           "$3\r\n1-1\r\n$12\r\nentries-read\r\n:1\r\n$3\r\nlag\r\n"
           "$-1\r\n");
    T_SAYS("XREADGROUP GROUP g bob STREAMS x >",
           "*1\r\n*2\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n3-1\r\n*2\r\n"
           "$1\r\na\r\n$1\r\n1\r\n");
    T_SAYS("XINFO GROUPS x",
           "*1\r\n*12\r\n$4\r\nname\r\n$1\r\ng\r\n$9\r\nconsumers\r\n"
           ":1\r\n$7\r\npending\r\n:2\r\n$17\r\nlast-delivered-id\r\n"
           "$3\r\n3-1\r\n$12\r\nentries-read\r\n:2\r\n$3\r\nlag\r\n"
           ":1\r\n");
    T_SAYS("XGROUP SETID x g 0 ENTRIESREAD 5", "+OK\r\n");
    T_SAYS("XINFO GROUPS x",
           "*1\r\n*12\r\n$4\r\nname\r\n$1\r\ng\r\n$9\r\nconsumers\r\n"
           ":1\r\n$7\r\npending\r\n:2\r\n$17\r\nlast-delivered-id\r\n"
           "$3\r\n0-0\r\n$12\r\nentries-read\r\n:5\r\n$3\r\nlag\r\n"
           "$-1\r\n");
    t_close();
    PASS();
}

TEST a_stream_tells_all_of_itself(void)
{
    t_open();
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XADD x 2-1 b 2", "$3\r\n2-1\r\n");
    T_SAYS("XGROUP CREATE x g 0", "+OK\r\n");
    T_SAYS("XREADGROUP GROUP g bob COUNT 1 STREAMS x >",
           "*1\r\n*2\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n"
           "$1\r\na\r\n$1\r\n1\r\n");
    T_SAYS("XINFO STREAM x FULL",
           "*18\r\n$6\r\nlength\r\n:2\r\n$15\r\nradix-tree-keys\r\n"
           ":1\r\n$16\r\nradix-tree-nodes\r\n:2\r\n$17\r\nlast-generated-id"
           "\r\n$3\r\n2-1\r\n$20\r\nmax-deleted-entry-id\r\n$3\r\n"
           "0-0\r\n$13\r\nentries-added\r\n:2\r\n$23\r\nrecorded-first-entr"
           "y-id\r\n$3\r\n1-1\r\n$7\r\nentries\r\n*2\r\n*2\r\n$3\r\n"
           "1-1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$3\r\n2-1\r\n"
           "*2\r\n$1\r\nb\r\n$1\r\n2\r\n$6\r\ngroups\r\n*1\r\n*14\r\n"
           "$4\r\nname\r\n$1\r\ng\r\n$17\r\nlast-delivered-id\r\n"
           "$3\r\n1-1\r\n$12\r\nentries-read\r\n:1\r\n$3\r\nlag\r\n"
           ":1\r\n$9\r\npel-count\r\n:1\r\n$7\r\npending\r\n*1\r\n"
           "*4\r\n$3\r\n1-1\r\n$3\r\nbob\r\n:1700000000123\r\n:1\r\n"
           "$9\r\nconsumers\r\n*1\r\n*8\r\n$4\r\nname\r\n$3\r\n"
           "bob\r\n$9\r\nseen-time\r\n:1700000000123\r\n$9\r\npel-count\r\n"
           ":1\r\n$7\r\npending\r\n*1\r\n*3\r\n$3\r\n1-1\r\n:1700000000123\r"
           "\n:1\r\n");
    T_SAYS_TO(2, "XINFO STREAM x FULL COUNT 1",
           "%9\r\n$6\r\nlength\r\n:2\r\n$15\r\nradix-tree-keys\r\n"
           ":1\r\n$16\r\nradix-tree-nodes\r\n:2\r\n$17\r\nlast-generated-id"
           "\r\n$3\r\n2-1\r\n$20\r\nmax-deleted-entry-id\r\n$3\r\n"
           "0-0\r\n$13\r\nentries-added\r\n:2\r\n$23\r\nrecorded-first-entr"
           "y-id\r\n$3\r\n1-1\r\n$7\r\nentries\r\n*1\r\n*2\r\n$3\r\n"
           "1-1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n$6\r\ngroups\r\n"
           "*1\r\n%7\r\n$4\r\nname\r\n$1\r\ng\r\n$17\r\nlast-delivered-id\r"
           "\n$3\r\n1-1\r\n$12\r\nentries-read\r\n:1\r\n$3\r\nlag\r\n"
           ":1\r\n$9\r\npel-count\r\n:1\r\n$7\r\npending\r\n*1\r\n"
           "*4\r\n$3\r\n1-1\r\n$3\r\nbob\r\n:1700000000123\r\n:1\r\n"
           "$9\r\nconsumers\r\n*1\r\n%4\r\n$4\r\nname\r\n$3\r\n"
           "bob\r\n$9\r\nseen-time\r\n:1700000000123\r\n$9\r\npel-count\r\n"
           ":1\r\n$7\r\npending\r\n*1\r\n*3\r\n$3\r\n1-1\r\n:1700000000123\r"
           "\n:1\r\n");
    T_SAYS("XINFO STREAM x FULL COUNT",
           "-ERR unknown subcommand or wrong number of arguments for 'STREA"
           "M'. Try XINFO HELP.\r\n");
    T_SAYS("XINFO STREAM x ALL",
           "-ERR unknown subcommand or wrong number of arguments for 'STREA"
           "M'. Try XINFO HELP.\r\n");
    T_SAYS("XINFO STREAM y", "-ERR no such key\r\n");
    T_SAYS("XINFO CONSUMERS x h",
           "-NOGROUP No such consumer group 'h' for key name 'x'\r\n");
    t_close();
    PASS();
}

TEST a_client_blocked_in_a_group_is_handed_new_entries(void)
{
    t_open();
    T_SAYS("XGROUP CREATE x g $ MKSTREAM", "+OK\r\n");
    T_SAYS("XREADGROUP GROUP g alice BLOCK 0 STREAMS x >", "");
    T_SAYS_TO(2, "XREADGROUP GROUP g bob BLOCK 0 STREAMS x >", "");
    T_SAYS_TO(1, "XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_HEARS(0,
           "*1\r\n*2\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n"
           "$1\r\na\r\n$1\r\n1\r\n");
    T_HEARS(2, "");
    T_SAYS_TO(1, "XADD x 2-1 b 2", "$3\r\n2-1\r\n");
    T_HEARS(2,
           "%1\r\n$1\r\nx\r\n*1\r\n*2\r\n$3\r\n2-1\r\n*2\r\n$1\r\n"
           "b\r\n$1\r\n2\r\n");
    T_SAYS_TO(1, "XPENDING x g - + 10",
           "*2\r\n*4\r\n$3\r\n1-1\r\n$5\r\nalice\r\n:0\r\n:1\r\n"
           "*4\r\n$3\r\n2-1\r\n$3\r\nbob\r\n:0\r\n:1\r\n");
    t_close();
    PASS();
}

TEST a_client_blocked_in_a_group_is_told_when_the_group_has_gone(void)
{
    t_open();
    T_SAYS("XGROUP CREATE x g $ MKSTREAM", "+OK\r\n");
    T_SAYS("XREADGROUP GROUP g alice BLOCK 0 STREAMS x >", "");
    T_SAYS_TO(1, "XGROUP DESTROY x g", ":1\r\n");
    T_HEARS(0,
           "-NOGROUP the consumer group this client was blocked on no longe"
           "r exists\r\n");
    T_SAYS("XGROUP CREATE x g $", "+OK\r\n");
    T_SAYS("XREADGROUP GROUP g alice BLOCK 0 STREAMS x >", "");
    T_SAYS_TO(1, "DEL x", ":1\r\n");
    T_HEARS(0, "-UNBLOCKED the stream key no longer exists\r\n");
    t_close();
    PASS();
}

TEST a_read_in_a_group_that_cannot_be_says_why(void)
{
    t_open();
    T_SAYS("XREADGROUP GROUP g c STREAMS x >",
           "-NOGROUP No such key 'x' or consumer group 'g' in XREADGROUP wi"
           "th GROUP option\r\n");
    T_SAYS("XADD x 1-1 a 1", "$3\r\n1-1\r\n");
    T_SAYS("XREADGROUP GROUP g c STREAMS x >",
           "-NOGROUP No such key 'x' or consumer group 'g' in XREADGROUP wi"
           "th GROUP option\r\n");
    T_SAYS("XGROUP CREATE x g 0", "+OK\r\n");
    T_SAYS("XREADGROUP GROUP g c STREAMS x $",
           "-ERR The $ ID is meaningless in the context of XREADGROUP: you "
           "want to read the history of this consumer by specifying a prope"
           "r ID, or use the > ID to get new messages. The $ ID would just "
           "return an empty result set.\r\n");
    T_SAYS("XREADGROUP GROUP g c STREAMS x y",
           "-ERR Invalid stream ID specified as stream command argument\r\n");
    T_SAYS("XREADGROUP COUNT 1 NOACK BLOCK 1 STREAMS x 0",
           "-ERR Missing GROUP option for XREADGROUP\r\n");
    T_SAYS("XREADGROUP GROUP g c STREAMS x y z",
           "-ERR Unbalanced XREAD list of streams: for each stream key an I"
           "D or '$' must be specified.\r\n");
    t_close();
    PASS();
}

TEST help_names_the_subcommands(void)
{
    t_open();
    T_SAYS("XINFO HELP",
           "*6\r\n+XINFO <subcommand> [<arg> [value] [opt] ...]. Subcommand"
           "s are:\r\n+STREAM\r\n+GROUPS\r\n+CONSUMERS\r\n+HELP\r\n"
           "+    Prints this help.\r\n");
    t_close();
    PASS();
}

TEST entries_handed_out_are_logged_as_claimed(void)
{
    t_open();
    t_does(0, "XADD x 1-1 a 1");
    t_does(0, "XGROUP CREATE x g $");
    t_does(0, "XGROUP SETID x g 0");
    t_does(0, "XREADGROUP GROUP g c STREAMS x >");
    ASSERT(t_logs(
           "SELECT 0\nXADD x 1-1 a 1\nXGROUP CREATE x g 1-1 MKSTREAM ENTRIE"
           "SREAD -1\nXGROUP SETID x g 0-0 ENTRIESREAD -1\nMULTI\n"
           "XGROUP CREATECONSUMER x g c\nXCLAIM x g c 0 1-1 TIME 1700000000"
           "123 RETRYCOUNT 1 FORCE JUSTID LASTID 1-1\nXGROUP SETID x g 1-1 "
           "ENTRIESREAD 1\nEXEC\n"));
    t_close();
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_group_is_made_and_set_and_destroyed);
    RUN_TEST(new_entries_are_handed_out_once);
    RUN_TEST(history_tells_again_and_counts);
    RUN_TEST(without_acknowledgement_nothing_is_pending);
    RUN_TEST(acknowledged_entries_are_no_longer_pending);
    RUN_TEST(pending_entries_are_asked_for_by_idle_time);
    RUN_TEST(idle_entries_are_claimed);
    RUN_TEST(a_claim_by_force_needs_no_pending_entry);
    RUN_TEST(a_claim_that_cannot_be_says_why);
    RUN_TEST(xautoclaim_claims_idle_entries_and_drops_deleted_ones);
    RUN_TEST(consumers_come_and_go);
    RUN_TEST(the_lag_counts_on_while_nothing_is_deleted_ahead);
    RUN_TEST(a_stream_tells_all_of_itself);
    RUN_TEST(a_client_blocked_in_a_group_is_handed_new_entries);
    RUN_TEST(a_client_blocked_in_a_group_is_told_when_the_group_has_gone);
    RUN_TEST(a_read_in_a_group_that_cannot_be_says_why);
    RUN_TEST(help_names_the_subcommands);
    RUN_TEST(entries_handed_out_are_logged_as_claimed);
    GREATEST_MAIN_END();
}
