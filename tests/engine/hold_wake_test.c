/* SPDX-License-Identifier: MIT
 *
 * hold_wake_test.c - the channels on which followers are woken: when a client
 * subscribes to them and leaves them, and which followers stay in line. */
#include "hold_rig.h"

/* How many channels for wake-ups are subscribed on the server. */
static long t_channels(t_world *w)
{
    return strtol(t_world_ask(w, "PUBSUB SHARDCHANNELS *:wake:*") + 1, NULL,
                  10);
}

static long t_in_line(t_world *w, const char *key)
{
    char line[100];

    (void)snprintf(line, sizeof line, "ZCARD {%s}:sleepers", key);
    return strtol(t_world_ask(w, line) + 1, NULL, 10);
}

TEST a_lease_listens_in_the_hash_slot_of_its_key(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    ASSERT(strstr(t_world_ask(&w, "PUBSUB SHARDCHANNELS *"),
                  "\r\n{leader:n}:wake:"));
    ASSERT_STR_EQ("*0\r\n", t_world_ask(&w, "PUBSUB CHANNELS *"));
    ASSERT_EQ(2, t_channels(&w));
    t_world_end(&w);
    PASS();
}

TEST each_key_of_a_client_has_a_channel_of_its_own(void)
{
    t_world w;

    t_world_start(&w, 1);
    ASSERT_EQ(0, t_lead(&w, 0, "a"));
    ASSERT_EQ(1, t_lead(&w, 0, "b"));
    t_world_pass(&w, 10);
    ASSERT_EQ(2, t_channels(&w));
    t_world_end(&w);
    PASS();
}

TEST leases_with_the_longest_keys_are_woken_in_fixed_memory(void)
{
    relet_lease_config c = t_lease("");
    relet_config like = t_config();
    char key[255];
    t_world w;
    int i, fixed = t_fixed;

    like.leases_max = 4;
    like.subscriptions_max = 1;
    t_fixed = 1;
    t_world_start_with(&w, 1, &like);
    t_fixed = fixed;
    memset(key, 'k', sizeof key);
    c.name.n = 0;
    c.key.p = key;
    c.key.n = sizeof key;
    for (i = 0; i < 4; i++) {
        key[0] = (char)('a' + i);
        ASSERT_EQ(i, relet_lease_start(w.p[0].r, &c));
    }
    t_world_pass(&w, 10);
    ASSERT_EQ(4, t_channels(&w));
    t_world_end(&w);
    PASS();
}

TEST leases_of_one_key_share_a_channel_until_the_last_one_ends(void)
{
    t_world w;
    int first;

    t_world_start(&w, 1);
    ASSERT_EQ(0, t_lead(&w, 0, "n"));
    ASSERT_EQ(1, t_lead(&w, 0, "n"));
    t_world_pass(&w, 10);
    ASSERT_EQ(1, t_channels(&w));
    first = relet_lease_valid_for(w.p[0].r, 1, w.now) > 0;
    ASSERT_EQ(0, relet_lease_work_done(w.p[0].r, first));
    t_world_pass(&w, 10);
    ASSERT_EQ(1, t_channels(&w));
    ASSERT(relet_lease_valid_for(w.p[0].r, !first, w.now) > 0);
    ASSERT_EQ(0, relet_lease_work_done(w.p[0].r, !first));
    t_world_pass(&w, 10);
    ASSERT_EQ(0, t_channels(&w));
    t_world_end(&w);
    PASS();
}

TEST a_channel_that_was_left_is_not_subscribed_on_the_next_link(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    ASSERT_EQ(0, relet_lease_stop(w.p[1].r, 0));
    t_world_pass(&w, 10);
    ASSERT_EQ(1, t_channels(&w));
    t_world_cut(&w, 1);
    t_world_pass(&w, 1000);
    ASSERT_EQ(1, t_channels(&w));
    t_world_end(&w);
    PASS();
}

/* Takes the events of the client until three leases have ended. */
static void t_until_ended(t_world *w)
{
    relet_event ev;
    int ended = 0;

    w->p[0].manual = 1;
    while (ended < 3)
        if (relet_next(w->p[0].r, &ev))
            ended += ev.kind == RELET_EV_LEASE_ENDED;
        else
            (void)t_world_turn(w);
    w->p[0].manual = 0;
}

/* The client is still unsubscribing from the channels of the earlier leases. */
TEST as_many_leases_as_there_may_be_start_again_at_once(void)
{
    relet_lease_config c = t_lease("");
    relet_config like = t_config();
    char name[24];
    t_world w;
    int i, turn;

    like.leases_max = 3;
    like.workers_max = 0;
    t_world_start_with(&w, 1, &like);
    for (turn = 0; turn < 3; turn++) {
        for (i = 0; i < 3; i++) {
            (void)snprintf(name, sizeof name, "%d.%d", turn, i);
            c.name = relet_str(name);
            ASSERT_EQ(i, relet_lease_start(w.p[0].r, &c));
        }
        t_world_pass(&w, 10);
        ASSERT_EQ(3, t_channels(&w));
        for (i = 0; i < 3; i++)
            ASSERT_EQ(0, relet_lease_work_done(w.p[0].r, i));
        t_until_ended(&w);
    }
    t_world_end(&w);
    PASS();
}

TEST a_refused_channel_takes_no_place_once_its_lease_has_ended(void)
{
    relet_config like = t_config();
    char name[24];
    t_world w;
    int i;

    like.leases_max = 1;
    like.workers_max = 0;
    t_world_start_with(&w, 1, &like);
    (void)t_world_ask(&w, "ACL SETUSER default resetchannels");
    for (i = 0; i < 5; i++) {
        (void)snprintf(name, sizeof name, "n%d", i);
        ASSERT_EQ(0, t_lead(&w, 0, name));
        t_world_pass(&w, 100);
        ASSERT_EQ(0, t_channels(&w));
        ASSERT_EQ(0, relet_lease_work_done(w.p[0].r, 0));
        t_world_pass(&w, 100);
    }
    (void)t_world_ask(&w, "ACL SETUSER default allchannels");
    ASSERT_EQ(0, t_lead(&w, 0, "last"));
    t_world_pass(&w, 100);
    ASSERT_EQ(1, t_channels(&w));
    t_world_end(&w);
    PASS();
}

/* The ACL of a program that was written before leases left their channels. */
/* Story: without permission for the channel a hand-over took a lease's time,
 * and nothing told why. */
TEST a_refused_channel_for_wake_ups_is_told(void)
{
    const char *line;
    t_world w;
    int told = 0;

    t_world_start(&w, 1);
    (void)t_world_ask(&w, "ACL SETUSER default resetchannels");
    ASSERT_EQ(0, t_lead(&w, 0, "n"));
    t_world_pass(&w, 100);
    while ((line = t_told(&w.p[0]))[0] != '\0')
        told += strstr(line, "refused sharded {leader:n}:wake:") != NULL;
    ASSERT_EQ(1, told);
    ASSERT(t_leads(&w, 0));
    t_world_end(&w);
    PASS();
}

TEST a_client_that_may_not_leave_a_channel_keeps_its_link(void)
{
    const char *line;
    t_world w;

    ASSERT(t_first_leads(&w, 1));
    (void)t_world_ask(&w, "ACL SETUSER default -sunsubscribe");
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_pass(&w, 100);
    ASSERT_EQ(0, t_lead(&w, 0, "n"));
    t_world_pass(&w, 100);
    ASSERT(t_leads(&w, 0));
    while ((line = t_told(&w.p[0]))[0] != '\0')
        ASSERT(strncmp(line, "lease", 5) == 0);
    t_world_end(&w);
    PASS();
}

/* The list is that of relet.h. HELLO needs no permission. */
TEST the_commands_that_the_header_names_are_enough_for_a_hand_over(void)
{
    t_world w;

    t_world_start(&w, 2);
    (void)t_world_ask(
        &w, "ACL SETUSER default -@all resetchannels resetkeys "
            "&{leader:n}:wake:* ~leader:n ~{leader:n}:fence "
            "~{leader:n}:sleepers +eval +evalsha +ssubscribe +sunsubscribe "
            "+spublish +pubsub|shardnumsub +ping +time +get +set +del +pttl "
            "+pexpire +hget +hmget +hset +zadd +zrem +zrange +zrank");
    (void)t_lead(&w, 0, "n");
    t_world_pass(&w, 10);
    (void)t_lead(&w, 1, "n");
    t_world_pass(&w, 20000);
    T_HEARD(&w, 0, "lease gained 7");
    T_HEARD(&w, 0, "");
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT(t_leads(&w, 1));
    T_HEARD(&w, 1, "lease gained 7");
    T_HEARD(&w, 1, "");
    t_world_end(&w);
    PASS();
}

/* The answer to SPUBLISH is an error here, and says nothing of listeners. */
TEST a_follower_stays_in_line_if_the_server_refuses_to_wake_it(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 2));
    ASSERT_EQ(1, t_in_line(&w, "leader:n"));
    (void)t_world_ask(&w, "ACL SETUSER default -spublish");
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT_EQ(1, t_in_line(&w, "leader:n"));
    t_world_end(&w);
    PASS();
}

TEST a_follower_that_does_not_listen_leaves_the_line(void)
{
    t_world w;

    ASSERT(t_first_leads(&w, 1));
    (void)t_world_ask(&w, "ZADD {leader:n}:sleepers 1 {leader:n}:wake:gone");
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT_EQ(0, t_in_line(&w, "leader:n"));
    t_world_end(&w);
    PASS();
}

/* The server sends the pushes of a hash slot that moves to another node. */
static void t_moves(t_world *w, int i)
{
    const char *said = t_world_ask(w, "PUBSUB SHARDCHANNELS *:wake:*");
    const char *name = strchr(said, '{');
    char push[200];
    uint8_t *room;
    size_t n;

    n = (size_t)snprintf(push, sizeof push,
                         ">3\r\n+sunsubscribe\r\n$%d\r\n%.*s\r\n:0\r\n",
                         (int)strcspn(name, "\r"), (int)strcspn(name, "\r"),
                         name);
    if (relet_io_space(w->p[i].r, 0, &room) < n)
        t_die("there is no room for the push");
    memcpy(room, push, n);
    relet_io_received(w->p[i].r, 0, n);
}

TEST a_follower_whose_channel_moved_asks_at_once_and_is_not_told(void)
{
    const char *line;
    t_world w;

    t_world_start(&w, 1);
    (void)t_world_ask(&w, "SET leader:n thief PX 100000");
    ASSERT_EQ(0, t_lead(&w, 0, "n"));
    t_world_pass(&w, 100);
    (void)t_world_ask(&w, "DEL leader:n");
    t_moves(&w, 0);
    t_world_settle(&w);
    ASSERT(t_leads(&w, 0));
    ASSERT_EQ(1, t_channels(&w));
    while ((line = t_told(&w.p[0]))[0] != '\0')
        ASSERT(strncmp(line, "up", 2) == 0 || strncmp(line, "lease", 5) == 0);
    t_world_end(&w);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_lease_listens_in_the_hash_slot_of_its_key);
    RUN_TEST(each_key_of_a_client_has_a_channel_of_its_own);
    RUN_TEST(leases_with_the_longest_keys_are_woken_in_fixed_memory);
    RUN_TEST(leases_of_one_key_share_a_channel_until_the_last_one_ends);
    RUN_TEST(a_channel_that_was_left_is_not_subscribed_on_the_next_link);
    RUN_TEST(as_many_leases_as_there_may_be_start_again_at_once);
    RUN_TEST(a_refused_channel_takes_no_place_once_its_lease_has_ended);
    RUN_TEST(a_refused_channel_for_wake_ups_is_told);
    RUN_TEST(a_client_that_may_not_leave_a_channel_keeps_its_link);
    RUN_TEST(the_commands_that_the_header_names_are_enough_for_a_hand_over);
    RUN_TEST(a_follower_stays_in_line_if_the_server_refuses_to_wake_it);
    RUN_TEST(a_follower_that_does_not_listen_leaves_the_line);
    RUN_TEST(a_follower_whose_channel_moved_asks_at_once_and_is_not_told);
    GREATEST_MAIN_END();
}
