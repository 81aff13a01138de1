/* SPDX-License-Identifier: MIT
 *
 * scripts_test.c - the files in lua/, one by one, on a server.
 *
 *   scripts_test [SOCKET]     the local server, or a real one on that path
 *
 * The end of a lease is played by DEL, which leaves what expiry leaves: so no
 * claim waits, and all are the same on each server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "greatest.h"
#include "relet_local.h"

/* ------------------------------------------------------------------ servers */

static relet_local *t_local;
static void *t_block;
static int t_id;
static int t_fd = -1; /* of a real one */
static char t_reply[4000];

static void *t_resize(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size > 0)
        return realloc(p, new_size);
    free(p);
    return NULL;
}

static int t_open_local(void)
{
    relet_local_config c;

    memset(&c, 0, sizeof c);
    c.resize = t_resize;
    t_block = malloc(relet_local_size());
    t_local = relet_local_init(t_block, relet_local_size(), &c);
    if (t_local == NULL)
        return 0;
    relet_local_time(t_local, INT64_C(1700000000123456));
    t_id = relet_local_connect(t_local);
    return t_id >= 0;
}

static int t_open_real(const char *path)
{
    struct sockaddr_un a;

    memset(&a, 0, sizeof a);
    a.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof a.sun_path)
        return 0;
    strcpy(a.sun_path, path);
    t_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return connect(t_fd, (struct sockaddr *)&a, sizeof a) == 0;
}

/* The bytes behind the value that begins at p, or NULL while it is not whole.
 * RESP2, of what is asked here. */
static const char *t_behind(const char *p)
{
    const char *end = strstr(p, "\r\n");
    long n = end ? strtol(p + 1, NULL, 10) : 0;

    if (end == NULL)
        return NULL;
    end += 2;
    if (p[0] == '$' && n >= 0)
        return strlen(end) < (size_t)n + 2 ? NULL : end + n + 2;
    if (p[0] == '*')
        for (; end != NULL && n > 0; n--)
            end = t_behind(end);
    return end;
}

static void t_exchange(const char *bytes, size_t n)
{
    const uint8_t *from = NULL;
    size_t got = 0;
    ssize_t now;

    t_reply[0] = '\0';
    if (t_fd < 0) {
        relet_local_feed(t_local, t_id, bytes, n);
        got = relet_local_output(t_local, t_id, &from);
        if (got >= sizeof t_reply)
            abort();
        memcpy(t_reply, from, got);
        t_reply[got] = '\0';
        relet_local_sent(t_local, t_id, got);
        return;
    }
    if (write(t_fd, bytes, n) != (ssize_t)n)
        abort();
    while (t_behind(t_reply) == NULL) {
        now = read(t_fd, t_reply + got, sizeof t_reply - 1 - got);
        if (now <= 0)
            abort();
        got += (size_t)now;
        t_reply[got] = '\0';
    }
}

/* A command of words; NULL ends them. */
static const char *t_ask(const char *const *word)
{
    static char bytes[20000];
    size_t n = 0, i, words = 0;

    while (word[words] != NULL)
        words++;
    n = (size_t)sprintf(bytes, "*%lu\r\n", (unsigned long)words);
    for (i = 0; i < words; i++)
        n += (size_t)sprintf(bytes + n, "$%lu\r\n%s\r\n",
                             (unsigned long)strlen(word[i]), word[i]);
    t_exchange(bytes, n);
    return t_reply;
}

/* The same, from words with blanks between them. */
static const char *t_say(const char *line)
{
    const char *word[40];
    char copy[200];
    size_t n = 0;

    strcpy(copy, line);
    for (word[n] = strtok(copy, " "); word[n] != NULL;)
        word[++n] = strtok(NULL, " ");
    return t_ask(word);
}

/* ------------------------------------------------------------------ scripts */

static char t_text[3][4000]; /* acquire, release, renew */

static int t_load(int i, const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(t_text[i], 1, sizeof t_text[i] - 1, f) : 0;

    if (f)
        (void)fclose(f);
    t_text[i][n] = '\0';
    return n > 0;
}

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

    word[1] = t_text[0];
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

    word[1] = t_text[2];
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

    word[1] = t_text[1];
    word[6] = owner;
    word[7] = term;
    word[8] = token;
    word[9] = owner;
    word[10] = NULL;
    return t_run(word);
}

static void t_fresh(void *unused)
{
    (void)unused;
    (void)t_say("CONFIG SET maxmemory 0");
    (void)t_say("FLUSHALL");
}

/* ----------------------------------------------------------------- acquiring */

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

TEST who_is_refused_lines_up_if_it_can_be_woken(void)
{
    (void)t_acquire("A", "1");
    (void)t_acquire_with("B", "1", "", "0");
    ASSERT_STR_EQ(":0\r\n", t_say("ZCARD {l}:sleepers"));
    (void)t_say("ZADD {l}:sleepers 0 dead");
    ASSERT_EQ(0, t_acquire("C", "1"));
    ASSERT_EQ(0, t_got[4]); /* the dead one before it is out */
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

/* Others may have been let in on the old server since. */
TEST a_new_term_of_who_seems_to_hold_it_is_quarantined_too(void)
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

TEST a_grant_that_was_not_heard_is_released_by_its_term(void)
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

TEST a_release_wakes_nobody_while_another_holds(void)
{
    (void)t_acquire("A", "1");
    (void)t_say("ZADD {l}:sleepers 1 B 2 C");
    ASSERT_EQ(0, t_release("B", "1", ""));
    ASSERT_STR_EQ("*1\r\n$1\r\nC\r\n", t_say("ZRANGE {l}:sleepers 0 9"));
    PASS();
}

TEST a_release_gives_up_on_sleepers_that_do_not_listen(void)
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

TEST they_are_kept_out_of_what_is_ours(void)
{
    (void)t_acquire("A", "1");
    ASSERT_STR_EQ("$-1\r\n", t_say("SET l them NX PX 60000"));
    ASSERT_STR_EQ(":0\r\n", t_theirs(T_EXTEND));
    ASSERT_STR_EQ(":0\r\n", t_theirs(T_DELETE));
    ASSERT_STR_EQ("$1\r\nA\r\n", t_say("GET l"));
    PASS();
}

TEST we_are_kept_out_of_what_is_theirs(void)
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

TEST what_we_release_is_theirs_to_take(void)
{
    (void)t_acquire("A", "1");
    ASSERT_EQ(1, t_release("A", "1", ""));
    ASSERT_STR_EQ("+OK\r\n", t_say("SET l them NX PX 60000"));
    PASS();
}

/* ---------------------------------------------------------------- all of it */

TEST each_script_is_short_and_says_what_it_does(void)
{
    size_t i, lines;
    const char *p;

    for (i = 0; i < 3; i++) {
        ASSERT(strncmp(t_text[i], "#!lua flags=allow-oom\n-- ", 25) == 0);
        ASSERT(strstr(t_text[i], "\n-- KEYS") != NULL);
        ASSERT(strstr(t_text[i], "ARGV") != NULL);
        ASSERT(strstr(t_text[i], "\n-- Returns") != NULL);
        ASSERT(strstr(t_text[i], "\n-- Invariant") != NULL);
        for (lines = 0, p = t_text[i]; *p != '\0'; p++)
            lines += *p == '\n';
        ASSERT(lines <= 45);
    }
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    const char *path = NULL;

    if (argc > 1 && argv[1][0] == '/') {
        path = argv[1];
        argc--;
        argv++;
    }
    GREATEST_MAIN_BEGIN();
    if (!(path ? t_open_real(path) : t_open_local())) {
        fprintf(stderr, "scripts_test: no server\n");
        return 1;
    }
    if (!t_load(0, "lua/lease_acquire.lua") ||
        !t_load(1, "lua/lease_release.lua") ||
        !t_load(2, "lua/lease_renew.lua")) {
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
    RUN_TEST(who_is_refused_lines_up_if_it_can_be_woken);
    RUN_TEST(a_quarantine_holds_for_new_grants_alone);
    RUN_TEST(a_new_term_of_who_seems_to_hold_it_is_quarantined_too);
    RUN_TEST(only_the_owner_with_the_newest_token_renews);
    RUN_TEST(a_lease_that_has_ended_is_not_renewed);
    RUN_TEST(only_the_owner_of_the_grant_releases);
    RUN_TEST(a_grant_that_was_not_heard_is_released_by_its_term);
    RUN_TEST(a_request_that_arrives_after_its_release_is_void);
    RUN_TEST(a_release_wakes_nobody_while_another_holds);
    RUN_TEST(a_release_gives_up_on_sleepers_that_do_not_listen);
    RUN_TEST(a_key_of_another_type_changes_nothing);
    RUN_TEST(leases_go_on_when_memory_is_full);
    RUN_TEST(they_are_kept_out_of_what_is_ours);
    RUN_TEST(we_are_kept_out_of_what_is_theirs);
    RUN_TEST(what_we_release_is_theirs_to_take);
    RUN_TEST(each_script_is_short_and_says_what_it_does);
    if (t_local) {
        relet_local_finish(t_local);
        free(t_block);
    } else {
        (void)close(t_fd);
    }
    GREATEST_MAIN_END();
}
