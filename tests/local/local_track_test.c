/* SPDX-License-Identifier: MIT
 *
 * local_track_test.c - the places of invalidations between the replies of a
 * connection, above all if the command waited before it ran. Recorded from
 * Redis 7.0.15 and Valkey 8.0, which agree. */
#include "local_cmd.h"

#define T_INVALID(size, key) \
    ">2\r\n$10\r\ninvalidate\r\n*1\r\n$" size "\r\n" key "\r\n"

/* Client 2 tracks, and has read the key. */
static void t_tracks(const char *options, const char *read)
{
    char line[100];

    snprintf(line, sizeof line, "CLIENT TRACKING ON%s", options);
    t_does(2, line);
    t_does(2, read);
}

TEST the_invalidation_by_an_unblocked_blmove_follows_its_reply(void)
{
    t_open();
    t_tracks("", "LRANGE dst 0 -1");
    T_SAYS_TO(2, "BLMOVE src dst LEFT RIGHT 0", "");
    t_does(0, "RPUSH src a");
    T_HEARS(2, "$1\r\na\r\n" T_INVALID("3", "dst"));
    t_does(2, "LRANGE dst 0 -1");
    T_SAYS_TO(2, "BRPOPLPUSH src dst 0", "");
    t_does(0, "RPUSH src b");
    T_HEARS(2, "$1\r\nb\r\n" T_INVALID("3", "dst"));
    t_close();
    PASS();
}

TEST the_invalidation_by_the_command_that_unblocks_comes_before_the_reply(void)
{
    t_open();
    t_tracks("", "LRANGE src 0 -1");
    t_does(2, "LRANGE dst 0 -1");
    T_SAYS_TO(2, "BLMOVE src dst LEFT RIGHT 0", "");
    t_does(0, "RPUSH src a");
    T_HEARS(2, T_INVALID("3", "src") "$1\r\na\r\n" T_INVALID("3", "dst"));
    t_does(2, "LRANGE src 0 -1");
    T_SAYS_TO(2, "BLPOP src 0", "");
    t_does(0, "RPUSH src a");
    T_HEARS(2, T_INVALID("3", "src")
            "*2\r\n$3\r\nsrc\r\n$1\r\na\r\n");
    t_close();
    PASS();
}

TEST a_transaction_and_a_script_unblock_in_the_same_order(void)
{
    t_open();
    t_tracks("", "LRANGE dst 0 -1");
    T_SAYS_TO(2, "BLMOVE src dst LEFT RIGHT 0", "");
    t_does(0, "MULTI");
    t_does(0, "RPUSH src a");
    t_does(0, "RPUSH src b");
    t_does(0, "EXEC");
    T_HEARS(2, "$1\r\na\r\n" T_INVALID("3", "dst"));
    t_does(0, "DEL src");
    t_does(2, "LRANGE dst 0 -1");
    T_SAYS_TO(2, "BLMOVE src dst LEFT RIGHT 0", "");
    t_does(0, "EVAL redis.call('rpush',KEYS[1],'c') 1 src");
    T_HEARS(2, "$1\r\nc\r\n" T_INVALID("3", "dst"));
    t_close();
    PASS();
}

TEST each_of_two_chained_moves_gets_its_reply_before_its_invalidation(void)
{
    t_open();
    t_does(0, "HELLO 3");
    t_does(0, "CLIENT TRACKING ON");
    t_does(0, "LRANGE mid 0 -1");
    T_SAYS_TO(0, "BLMOVE src mid LEFT RIGHT 0", "");
    t_tracks("", "LRANGE mid 0 -1");
    t_does(2, "LRANGE dst 0 -1");
    T_SAYS_TO(2, "BLMOVE mid dst LEFT RIGHT 0", "");
    t_does(1, "RPUSH src a");
    T_HEARS(0, "$1\r\na\r\n" T_INVALID("3", "mid"));
    T_HEARS(2, T_INVALID("3", "mid") "$1\r\na\r\n" T_INVALID("3", "dst"));
    t_close();
    PASS();
}

TEST with_noloop_an_unblocked_move_is_not_told_of_its_own_change(void)
{
    t_open();
    t_tracks(" NOLOOP", "LRANGE dst 0 -1");
    T_SAYS_TO(2, "BLMOVE src dst LEFT RIGHT 0", "");
    t_does(0, "RPUSH src a b");
    T_HEARS(2, "$1\r\na\r\n");
    t_does(2, "LRANGE dst 0 -1");
    t_does(0, "RPUSH dst x");
    T_HEARS(2, T_INVALID("3", "dst"));
    t_close();
    PASS();
}

TEST events_of_an_unblocked_move_come_before_its_invalidation(void)
{
    t_open();
    t_does(0, "CONFIG SET notify-keyspace-events El");
    t_does(2, "SUBSCRIBE __keyevent@0__:lpop");
    t_tracks("", "LRANGE dst 0 -1");
    T_SAYS_TO(2, "BLMOVE src dst LEFT RIGHT 0", "");
    t_does(0, "RPUSH src a");
    T_HEARS(2, "$1\r\na\r\n>3\r\n$7\r\nmessage\r\n$19\r\n"
            "__keyevent@0__:lpop\r\n$3\r\nsrc\r\n" T_INVALID("3", "dst"));
    t_close();
    PASS();
}

TEST a_transaction_is_followed_by_the_invalidations_of_its_own_changes(void)
{
    t_open();
    t_tracks("", "MGET a b");
    t_does(2, "MULTI");
    t_does(2, "SET a 1");
    t_does(2, "GET a");
    t_does(2, "SET a 2");
    t_does(2, "SET b 2");
    T_SAYS_TO(2, "EXEC", "*4\r\n+OK\r\n$1\r\n1\r\n+OK\r\n+OK\r\n"
              T_INVALID("1", "a") T_INVALID("1", "a") T_INVALID("1", "b"));
    t_does(2, "GET a");
    T_SAYS_TO(2, "EVAL redis.call('set',KEYS[1],1) 1 a",
              "_\r\n" T_INVALID("1", "a"));
    t_close();
    PASS();
}

TEST a_skipped_reply_of_an_unblocked_move_leaves_its_invalidation(void)
{
    t_open();
    t_tracks("", "LRANGE dst 0 -1");
    t_does(2, "CLIENT REPLY SKIP");
    T_SAYS_TO(2, "BLMOVE src dst LEFT RIGHT 0", "");
    t_does(0, "RPUSH src a");
    T_HEARS(2, T_INVALID("3", "dst"));
    T_SAYS_TO(2, "PING", "+PONG\r\n");
    t_close();
    PASS();
}

TEST a_stream_is_not_tracked_by_an_xread_with_malformed_options(void)
{
    t_open();
    t_tracks("", "XREAD BLOCK STREAMS x y 0 0");
    t_does(2, "XREAD STREAMS z");
    t_does(0, "XADD x 1-1 a b");
    t_does(0, "XADD z 1-1 a b");
    T_HEARS(2, "");
    t_does(2, "XREAD COUNT 1 STREAMS x y 0 0");
    t_does(0, "XADD y 1-1 a b");
    T_HEARS(2, T_INVALID("1", "y"));
    t_close();
    PASS();
}

/* The pushes to client 2: "lpop k" for an event, "!k" for an invalidation. */
static const char *t_told(void)
{
    static const char event[] = "__keyevent@0__:";
    static char text[400], heard[4000];
    const uint8_t *p;
    char *line, *was = heard;
    size_t n;

    n = relet_local_output(t_one.l, t_one.ids[2], &p);
    n = n < sizeof heard ? n : sizeof heard - 1;
    memcpy(heard, p, n);
    heard[n] = '\0';
    relet_local_sent(t_one.l, t_one.ids[2], n);
    text[0] = '\0';
    for (line = strtok(heard, "\r\n"); line; line = strtok(NULL, "\r\n")) {
        if (strchr("$*>", *line))
            continue;
        if (strcmp(was, "invalidate") == 0)
            strcat(strcat(strcat(text, text[0] ? " " : ""), "!"), line);
        else if (strncmp(was, event, sizeof event - 1) == 0)
            strcat(strcat(strcat(strcat(text, text[0] ? " " : ""),
                                 was + sizeof event - 1), " "), line);
        was = line;
    }
    return text;
}

static const char *const t_orders[][4] = {
    {"RPUSH k a b", "LRANGE k 0 -1", "LPOP k", "lpop k !k"},
    {"RPUSH k a", "LRANGE k 0 -1", "LPOP k 2", "lpop k del k !k"},
    {"RPUSH k a", "LRANGE k 0 -1", "LTRIM k 5 6", "ltrim k del k !k"},
    {"RPUSH k a", "LRANGE k 0 -1", "RPUSH k b", "!k rpush k"},
    {"RPUSH k a", "LRANGE k 0 -1", "LMOVE k j LEFT RIGHT",
     "!j rpush j lpop k del k !k"},
    {"RPUSH k a b", "LRANGE k 0 -1", "BLMOVE k j LEFT RIGHT 0",
     "!j rpush j lpop k !k"},
    {"RPUSH k a", "LRANGE k 0 -1", "BLMPOP 0 1 k LEFT", "lpop k del k !k"},
    {"SADD k a", "SCARD k", "SPOP k", "spop k del k !k"},
    {"SADD k a b", "SCARD k", "SPOP k 1", "spop k !k"},
    {"SADD k a", "SCARD k", "SREM k a", "!k srem k del k"},
    {"SADD k a", "SCARD k", "SMOVE k j a", "srem k del k !k !j sadd j"},
    {"ZADD k 1 a", "ZCARD k", "ZREM k a", "zrem k del k !k"},
    {"ZADD k 1 a", "ZCARD k", "ZPOPMIN k", "zpopmin k !k del k"},
    {"ZADD k 1 a", "ZCARD k", "BZMPOP 0 1 k MAX", "zpopmax k !k del k"},
    {"ZADD k 1 a", "ZCARD k", "ZREMRANGEBYRANK k 0 0",
     "!k zremrangebyrank k del k"},
    {"XADD k 1-1 a b", "XLEN k", "XTRIM k MAXLEN 0", "xtrim k !k"},
    {"XADD k 1-1 a b", "XLEN k", "XDEL k 1-1", "!k xdel k"},
    {"HSET k a b", "HLEN k", "HDEL k a", "!k hdel k del k"},
    {"SET k a", "GET k", "DEL k", "!k del k"}};

TEST an_invalidation_stands_among_events_where_servers_put_it(void)
{
    size_t i;

    for (i = 0; i < sizeof t_orders / sizeof *t_orders; i++) {
        t_open();
        t_does(0, "CONFIG SET notify-keyspace-events EA");
        t_does(0, t_orders[i][0]);
        t_does(2, "PSUBSCRIBE __keye*__:*");
        t_tracks("", t_orders[i][1]);
        t_does(2, "EXISTS j");
        t_does(0, t_orders[i][2]);
        ASSERT_STR_EQ(t_orders[i][3], t_told());
        t_close();
    }
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(the_invalidation_by_an_unblocked_blmove_follows_its_reply);
    RUN_TEST(
        the_invalidation_by_the_command_that_unblocks_comes_before_the_reply);
    RUN_TEST(a_transaction_and_a_script_unblock_in_the_same_order);
    RUN_TEST(each_of_two_chained_moves_gets_its_reply_before_its_invalidation);
    RUN_TEST(with_noloop_an_unblocked_move_is_not_told_of_its_own_change);
    RUN_TEST(events_of_an_unblocked_move_come_before_its_invalidation);
    RUN_TEST(a_transaction_is_followed_by_the_invalidations_of_its_own_changes);
    RUN_TEST(a_skipped_reply_of_an_unblocked_move_leaves_its_invalidation);
    RUN_TEST(an_invalidation_stands_among_events_where_servers_put_it);
    RUN_TEST(a_stream_is_not_tracked_by_an_xread_with_malformed_options);
    GREATEST_MAIN_END();
}
