/* SPDX-License-Identifier: MIT
 *
 * scripts_test.c - the files in lua/, one by one, on a server.
 *
 *   scripts_test [SOCKET]     the local server, or a real one on that path
 *
 * DEL stands for the end of a lease, for it leaves what expiry leaves: so no
 * test waits, and the results are the same on every server. */
#include "script_rig.h"

/* ------------------------------------------------------------------ scripts */

static char t_text[3][4000]; /* acquire, release, renew */

static long long t_got[5]; /* of the last answer: status, token, left, … */

static int t_run(const char *const *word)
{
    const char *p = t_ask(word);
    int i;

    memset(t_got, 0, sizeof t_got);
    if (p[0] != '*')
        return -100;
    p = strstr(p, "\r\n") + 2;
    for (i = 0; i < 5 && *p == ':'; i++, p = strstr(p, "\r\n") + 2)
        t_got[i] = strtoll(p + 1, NULL, 10);
    return (int)t_got[0];
}

static int t_acquire_with(const char *owner, const char *term,
                          const char *channel, const char *quarantine)
{
    const char *word[12] = {"EVAL", NULL, "3", "l", "{l}:fence",
                            "{l}:sleepers"};

    word[1] = t_watched(t_text[0], -1);
    word[6] = owner;
    word[7] = term;
    word[8] = "60000";
    word[9] = channel;
    word[10] = quarantine;
    word[11] = NULL;
    return t_run(word);
}

static int t_acquire(const char *owner, const char *term)
{
    return t_acquire_with(owner, term, owner, "0");
}

static const char *t_number(long long v)
{
    static char text[30];

    sprintf(text, "%lld", v);
    return text;
}

static int t_renew(const char *owner, long long token)
{
    const char *word[9] = {"EVAL", NULL, "2", "l", "{l}:fence"};

    word[1] = t_watched(t_text[2], -1);
    word[5] = owner;
    word[6] = t_number(token);
    word[7] = "60000";
    word[8] = NULL;
    return t_run(word);
}

static int t_release(const char *owner, const char *term, const char *token)
{
    const char *word[11] = {"EVAL", NULL, "3", "l", "{l}:fence",
                            "{l}:sleepers"};

    word[1] = t_watched(t_text[1], -1);
    word[6] = owner;
    word[7] = term;
    word[8] = token;
    word[9] = owner;
    word[10] = NULL;
    return t_run(word);
}

/* ---------------------------------------------------------------- acquiring */

TEST a_free_lease_is_granted_for_its_time(void)
{
    ASSERT_EQ(1, t_acquire("A", "1"));
    ASSERT(t_got[1] > 0);
    ASSERT_EQ(60000, t_got[2]);
    ASSERT_EQ(t_got[3], t_got[1]); /* the first token is the time */
    ASSERT_STR_EQ("$1\r\nA\r\n", t_say("GET l"));
    ASSERT_STR_EQ(":-1\r\n", t_say("PTTL {l}:fence"));
    PASS();
}

TEST asking_again_for_a_term_gives_the_same_grant(void)
{
    long long token;

    (void)t_acquire("A", "1");
    token = t_got[1];
    (void)t_say("PEXPIRE l 5000");
    ASSERT_EQ(1, t_acquire("A", "1"));
    ASSERT_EQ(token, t_got[1]);
    ASSERT_EQ(60000, t_got[2]);
    ASSERT(strtol(t_say("PTTL l") + 1, NULL, 10) > 5000);
    PASS();
}

TEST a_term_that_is_over_is_not_granted_again(void)
{
    (void)t_acquire("A", "2");
    (void)t_say("DEL l");
    ASSERT_EQ(-1, t_acquire("A", "2"));
    ASSERT_EQ(-1, t_acquire("A", "1"));
    ASSERT_STR_EQ("$-1\r\n", t_say("GET l"));
    ASSERT_EQ(1, t_acquire("A", "3"));
    PASS();
}

TEST an_earlier_term_does_not_disturb_a_later_one(void)
{
    long long token;

    (void)t_acquire("A", "2");
    token = t_got[1];
    ASSERT_EQ(-1, t_acquire("A", "1"));
    ASSERT_EQ(1, t_renew("A", token));
    PASS();
}

TEST a_new_term_of_the_holder_is_a_new_token(void)
{
    long long token;

    (void)t_acquire("A", "1");
    token = t_got[1];
    ASSERT_EQ(1, t_acquire("A", "2"));
    ASSERT(t_got[1] > token);
    ASSERT_EQ(0, t_renew("A", token));
    PASS();
}

TEST tokens_grow_though_the_server_forgot_the_fence(void)
{
    long long token;

    (void)t_acquire("A", "1");
    token = t_got[1];
    (void)t_say("DEL l {l}:fence");
    if (t_local)
        relet_local_time(t_local, token + 1);
    ASSERT_EQ(1, t_acquire("B", "1"));
    ASSERT(t_got[1] > token);
    PASS();
}

TEST tokens_grow_though_the_clock_goes_back(void)
{
    (void)t_say("HSET {l}:fence token 4000000000000000");
    ASSERT_EQ(1, t_acquire("A", "1"));
    ASSERT_EQ(4000000000000001LL, t_got[1]);
    ASSERT_STR_EQ("$16\r\n4000000000000001\r\n",
                  t_say("HGET {l}:fence token"));
    PASS();
}

TEST a_held_lease_is_refused_with_its_rest(void)
{
    (void)t_acquire("A", "1");
    (void)t_say("PEXPIRE l 5000");
    ASSERT_EQ(0, t_acquire("B", "1"));
    ASSERT(t_got[2] > 0 && t_got[2] <= 5000);
    ASSERT_STR_EQ("$1\r\nA\r\n", t_say("GET l"));
    (void)t_say("PERSIST l");
    ASSERT_EQ(0, t_acquire("B", "1"));
    ASSERT_EQ(-1, t_got[2]);
    PASS();
}

TEST a_refused_contender_lines_up_if_it_can_be_woken(void)
{
    (void)t_acquire("A", "1");
    (void)t_acquire_with("B", "1", "", "0");
    ASSERT_STR_EQ(":0\r\n", t_say("ZCARD {l}:sleepers"));
    (void)t_say("ZADD {l}:sleepers 0 dead");
    ASSERT_EQ(0, t_acquire("C", "1"));
    ASSERT_EQ(0, t_got[4]); /* the dead sleeper before C is out */
    ASSERT_STR_EQ("*1\r\n$1\r\nC\r\n", t_say("ZRANGE {l}:sleepers 0 9"));
    (void)t_say("DEL l");
    ASSERT_EQ(1, t_acquire("C", "1"));
    ASSERT_STR_EQ(":0\r\n", t_say("EXISTS {l}:sleepers"));
    PASS();
}

TEST a_quarantine_holds_for_new_grants_alone(void)
{
    long long token;

    ASSERT_EQ(-2, t_acquire_with("A", "1", "A", "50000"));
    ASSERT(t_got[2] > 0 && t_got[2] <= 50000);
    ASSERT_EQ(-2, t_acquire_with("B", "1", "B", "50000"));
    (void)t_say("HSET {l}:fence open 1");
    ASSERT_EQ(1, t_acquire_with("A", "1", "A", "50000"));
    token = t_got[1];
    (void)t_say("HSET {l}:fence run another");
    ASSERT_EQ(1, t_renew("A", token));
    ASSERT_EQ(1, t_acquire_with("A", "1", "A", "50000"));
    (void)t_say("DEL l");
    ASSERT_EQ(-2, t_acquire_with("B", "1", "B", "50000"));
    PASS();
}

/* The server does not know of the grants of the other server, and its run id is
 * the same as before. */
TEST a_failover_and_a_failback_are_quarantined(void)
{
    long long token;

    (void)t_acquire_with("A", "1", "A", "50000");
    (void)t_say("HSET {l}:fence open 1");
    ASSERT_EQ(1, t_acquire_with("A", "1", "A", "50000"));
    token = t_got[1];
    t_failed_back("{l}:fence", "run");
    ASSERT_EQ(1, t_renew("A", token));
    (void)t_say("DEL l");
    ASSERT_EQ(-2, t_acquire_with("B", "1", "B", "50000"));
    ASSERT(t_got[2] > 0 && t_got[2] <= 50000);
    (void)t_say("HSET {l}:fence open 1");
    ASSERT_EQ(1, t_acquire_with("B", "1", "B", "50000"));
    PASS();
}

/* The old server may have granted the lease to other clients since. */
TEST a_new_term_of_the_apparent_holder_is_quarantined_too(void)
{
    (void)t_acquire_with("A", "1", "A", "50000");
    (void)t_say("HSET {l}:fence open 1");
    ASSERT_EQ(1, t_acquire_with("A", "1", "A", "50000"));
    ASSERT_EQ(1, t_acquire_with("A", "2", "A", "50000"));
    (void)t_say("HSET {l}:fence run another");
    ASSERT_EQ(-2, t_acquire_with("A", "3", "A", "50000"));
    ASSERT_EQ(1, t_acquire_with("A", "2", "A", "50000"));
    PASS();
}

/* ------------------------------------------------------ renewing, releasing */

TEST only_the_owner_with_the_newest_token_renews(void)
{
    long long token;

    (void)t_acquire("A", "1");
    token = t_got[1];
    (void)t_say("PEXPIRE l 5000");
    ASSERT_EQ(0, t_renew("B", token));
    ASSERT_EQ(0, t_renew("A", token - 1));
    ASSERT_EQ(0, t_renew("A", token + 1));
    ASSERT(strtol(t_say("PTTL l") + 1, NULL, 10) <= 5000);
    ASSERT_EQ(1, t_renew("A", token));
    ASSERT_EQ(token, t_got[1]);
    ASSERT(strtol(t_say("PTTL l") + 1, NULL, 10) > 5000);
    PASS();
}

TEST a_lease_that_has_ended_is_not_renewed(void)
{
    long long token;

    (void)t_acquire("A", "1");
    token = t_got[1];
    (void)t_say("DEL l");
    ASSERT_EQ(-1, t_renew("A", token));
    ASSERT_STR_EQ("$-1\r\n", t_say("GET l"));
    (void)t_acquire("B", "1");
    ASSERT_EQ(0, t_renew("A", token));
    PASS();
}

TEST only_the_owner_of_the_grant_releases(void)
{
    char token[30];

    (void)t_acquire("A", "3");
    strcpy(token, t_number(t_got[1]));
    ASSERT_EQ(0, t_release("B", "3", token));
    ASSERT_EQ(0, t_release("A", "2", token));
    ASSERT_EQ(0, t_release("A", "3", "1"));
    ASSERT_STR_EQ("$1\r\nA\r\n", t_say("GET l"));
    ASSERT_EQ(1, t_release("A", "3", token));
    ASSERT_STR_EQ("$-1\r\n", t_say("GET l"));
    ASSERT_EQ(-1, t_release("A", "3", token));
    PASS();
}

TEST a_grant_that_was_not_received_is_released_by_its_term(void)
{
    (void)t_acquire("A", "1");
    ASSERT_EQ(1, t_release("A", "1", ""));
    ASSERT_STR_EQ("$-1\r\n", t_say("GET l"));
    PASS();
}

TEST a_request_that_arrives_after_its_release_is_void(void)
{
    ASSERT_EQ(-1, t_release("A", "1", ""));
    ASSERT_EQ(-1, t_acquire("A", "1"));
    ASSERT_STR_EQ("$-1\r\n", t_say("GET l"));
    ASSERT_EQ(1, t_acquire("A", "2"));
    PASS();
}

TEST a_release_wakes_no_follower_while_another_contender_holds(void)
{
    (void)t_acquire("A", "1");
    (void)t_say("ZADD {l}:sleepers 1 B 2 C");
    ASSERT_EQ(0, t_release("B", "1", ""));
    ASSERT_STR_EQ("*1\r\n$1\r\nC\r\n", t_say("ZRANGE {l}:sleepers 0 9"));
    PASS();
}

TEST a_release_gives_up_on_followers_that_do_not_listen(void)
{
    (void)t_acquire("A", "1");
    (void)t_say("ZADD {l}:sleepers 1 a 2 b 3 c 4 d 5 e 6 f 7 g 8 h 9 i 10 j");
    ASSERT_EQ(1, t_release("A", "1", ""));
    ASSERT_EQ(0, t_got[2]);
    ASSERT_STR_EQ(":1\r\n", t_say("ZCARD {l}:sleepers"));
    PASS();
}

/* ------------------------------------------------------- what may go wrong */

TEST a_key_of_another_type_changes_nothing(void)
{
    static const char *const wrong[] = {"l", "{l}:fence", "{l}:sleepers"};
    char line[60];
    size_t i;

    for (i = 0; i < 3; i++) {
        (void)t_say("FLUSHALL");
        sprintf(line, "LPUSH %s x", wrong[i]);
        (void)t_say(line);
        ASSERT_EQ(-100, t_acquire("A", "1"));
        ASSERT(strstr(t_reply, "WRONGTYPE") != NULL);
        ASSERT_EQ(-100, t_release("A", "1", ""));
        ASSERT_EQ(i == 2 ? -1 : -100, t_renew("A", 1));
        ASSERT_STR_EQ(":1\r\n", t_say("DBSIZE"));
    }
    PASS();
}

TEST leases_go_on_when_memory_is_full(void)
{
    long long token;

    (void)t_say("CONFIG SET maxmemory 1");
    ASSERT(strncmp(t_say("SET a b"), "-OOM", 4) == 0);
    ASSERT_EQ(1, t_acquire("A", "1"));
    token = t_got[1];
    ASSERT_EQ(0, t_acquire("B", "1"));
    ASSERT_EQ(1, t_renew("A", token));
    ASSERT_EQ(1, t_release("A", "1", t_number(token)));
    PASS();
}

/* ------------------------------------- programs that know nothing of a fence
 *
 * They take the key by SET NX PX, and compare before they extend or delete. */

static const char *t_theirs(const char *act)
{
    static char body[200];
    const char *word[6] = {"EVAL", NULL, "1", "l", "them", NULL};

    sprintf(body, "if redis.call('GET', KEYS[1]) == ARGV[1] then "
                  "return redis.call(%s) end return 0", act);
    word[1] = body;
    return t_ask(word);
}

#define T_EXTEND "'PEXPIRE', KEYS[1], 60000"
#define T_DELETE "'DEL', KEYS[1]"

TEST another_program_cannot_take_a_held_lease(void)
{
    (void)t_acquire("A", "1");
    ASSERT_STR_EQ("$-1\r\n", t_say("SET l them NX PX 60000"));
    ASSERT_STR_EQ(":0\r\n", t_theirs(T_EXTEND));
    ASSERT_STR_EQ(":0\r\n", t_theirs(T_DELETE));
    ASSERT_STR_EQ("$1\r\nA\r\n", t_say("GET l"));
    PASS();
}

TEST a_lease_of_another_program_cannot_be_taken(void)
{
    long long token;

    (void)t_acquire("A", "1");
    token = t_got[1];
    (void)t_say("DEL l");
    ASSERT_STR_EQ("+OK\r\n", t_say("SET l them NX PX 60000"));
    ASSERT_EQ(0, t_acquire("A", "2"));
    ASSERT_EQ(0, t_renew("A", token));
    ASSERT_EQ(0, t_release("A", "1", t_number(token)));
    ASSERT_STR_EQ(":1\r\n", t_theirs(T_EXTEND));
    ASSERT_STR_EQ(":1\r\n", t_theirs(T_DELETE));
    ASSERT_EQ(1, t_acquire("A", "2"));
    ASSERT(t_got[1] > token);
    PASS();
}

TEST another_program_can_take_a_released_lease(void)
{
    (void)t_acquire("A", "1");
    ASSERT_EQ(1, t_release("A", "1", ""));
    ASSERT_STR_EQ("+OK\r\n", t_say("SET l them NX PX 60000"));
    PASS();
}

/* ---------------------------------------------------------------- all of it */

TEST each_lease_script_is_short_and_begins_with_its_purpose(void)
{
    size_t i;

    for (i = 0; i < 3; i++)
        ASSERT_EQ(NULL, t_form(t_text[i], 0));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    if (!t_open(&argc, &argv))
        return 1;
    GREATEST_MAIN_BEGIN();
    if (!t_load(t_text[0], sizeof t_text[0], "lua/lease_acquire.lua") ||
        !t_load(t_text[1], sizeof t_text[1], "lua/lease_release.lua") ||
        !t_load(t_text[2], sizeof t_text[2], "lua/lease_renew.lua")) {
        fprintf(stderr, "scripts_test: run it where lua/ is\n");
        return 1;
    }
    GREATEST_SET_SETUP_CB(t_fresh, NULL);
    RUN_TEST(a_free_lease_is_granted_for_its_time);
    RUN_TEST(asking_again_for_a_term_gives_the_same_grant);
    RUN_TEST(a_term_that_is_over_is_not_granted_again);
    RUN_TEST(an_earlier_term_does_not_disturb_a_later_one);
    RUN_TEST(a_new_term_of_the_holder_is_a_new_token);
    RUN_TEST(tokens_grow_though_the_server_forgot_the_fence);
    RUN_TEST(tokens_grow_though_the_clock_goes_back);
    RUN_TEST(a_held_lease_is_refused_with_its_rest);
    RUN_TEST(a_refused_contender_lines_up_if_it_can_be_woken);
    RUN_TEST(a_quarantine_holds_for_new_grants_alone);
    RUN_TEST(a_failover_and_a_failback_are_quarantined);
    RUN_TEST(a_new_term_of_the_apparent_holder_is_quarantined_too);
    RUN_TEST(only_the_owner_with_the_newest_token_renews);
    RUN_TEST(a_lease_that_has_ended_is_not_renewed);
    RUN_TEST(only_the_owner_of_the_grant_releases);
    RUN_TEST(a_grant_that_was_not_received_is_released_by_its_term);
    RUN_TEST(a_request_that_arrives_after_its_release_is_void);
    RUN_TEST(a_release_wakes_no_follower_while_another_contender_holds);
    RUN_TEST(a_release_gives_up_on_followers_that_do_not_listen);
    RUN_TEST(a_key_of_another_type_changes_nothing);
    RUN_TEST(leases_go_on_when_memory_is_full);
    RUN_TEST(another_program_cannot_take_a_held_lease);
    RUN_TEST(a_lease_of_another_program_cannot_be_taken);
    RUN_TEST(another_program_can_take_a_released_lease);
    RUN_TEST(each_lease_script_is_short_and_begins_with_its_purpose);
    t_close();
    GREATEST_MAIN_END();
}
