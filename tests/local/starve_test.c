/* SPDX-License-Identifier: MIT
 *
 * starve_test.c - the n-th allocation fails, for every n, until none does.
 *
 * A tape of commands is played on a server that is short of memory and, one
 * step behind, on one that has plenty: the second is not given what the first
 * refused. After each step both have the same data and have said the same;
 * -OOM has changed nothing, and a client that could not be answered is closed.
 *
 * In a tape "1: GET a" is sent by client 1, "+100" lets 100 ms pass, and a
 * word "@3000" is that many bytes. Client 2 speaks RESP3. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "greatest.h"
#include "relet_local.h"

#define T_CLIENTS 3
#define T_BEGIN_US INT64_C(1700000000123456)
#define T_NEVER (LONG_MAX / 4)

/* ------------------------------------------------------------------ servers */

typedef struct t_bytes {
    uint8_t *p;
    size_t n, cap;
} t_bytes;

static void t_put(t_bytes *b, const void *p, size_t n)
{
    if (b->cap - b->n < n) {
        b->cap = (b->n + n) * 2;
        b->p = (uint8_t *)realloc(b->p, b->cap);
        if (b->p == NULL)
            abort();
    }
    if (n > 0)
        memcpy(b->p + b->n, p, n);
    b->n += n;
}

static int t_same(const t_bytes *a, const t_bytes *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0);
}

typedef struct t_server {
    relet_local *l;
    void *block;
    int id[T_CLIENTS];
    int64_t now_us;
    size_t held;
    long calls, fail_from, fail_to;
    t_bytes said[T_CLIENTS]; /* in this step                                 */
    t_bytes data, effects;
    int log_broken;
    int warm;
} t_server;

static t_server t_poor, t_rich;
static long t_refusals; /* that a tape has met                               */

static void *t_resize(void *user, void *p, size_t old_size, size_t size)
{
    t_server *s = (t_server *)user;
    void *q;

    if (size == 0) {
        s->held -= old_size;
        free(p);
        return NULL;
    }
    s->calls++;
    if (s->calls >= s->fail_from && s->calls < s->fail_to)
        return NULL;
    q = realloc(p, size);
    if (q == NULL)
        abort();
    s->held += size - old_size;
    return q;
}

static int t_failed(const t_server *s)
{
    return s->calls >= s->fail_from;
}

/* No allocation fails in the test's own requests. */
static long t_pause(t_server *s)
{
    long left = s->fail_from - s->calls;

    s->fail_from = T_NEVER;
    return left;
}

static void t_resume(t_server *s, long left)
{
    s->fail_from = s->calls + left;
}

/* Its buffers are there, so that it can ask when there is no memory. */
static void t_warm(t_server *s, int client)
{
    static char ping[4000];
    size_t n = (size_t)sprintf(ping, "*2\r\n$4\r\nPING\r\n$3900\r\n");

    memset(ping + n, 'x', 3900);
    memcpy(ping + n + 3900, "\r\n", 2);
    relet_local_feed(s->l, s->id[client], ping, n + 3902);
}

static int t_connect(t_server *s, int client)
{
    static const char hello[] = "*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n";
    const uint8_t *p;

    s->id[client] = relet_local_connect(s->l);
    if (s->id[client] < 0)
        return 0;
    if (s->warm)
        t_warm(s, client);
    if (client == 2)
        relet_local_feed(s->l, s->id[2], hello, sizeof hello - 1);
    relet_local_sent(s->l, s->id[client],
                     relet_local_output(s->l, s->id[client], &p));
    return !relet_local_closed(s->l, s->id[client]);
}

/* 1, or 0 when memory was short. */
static int t_open(t_server *s, long fail_at, long fails)
{
    relet_local_config config;
    int i;

    memset(&config, 0, sizeof config);
    config.resize = t_resize;
    config.user = s;
    config.effects = 1;
    config.script_memory = 100000;
    s->held = 0;
    s->calls = 0;
    s->fail_from = fail_at;
    s->fail_to = fail_at > T_NEVER - fails ? T_NEVER : fail_at + fails;
    s->log_broken = 0;
    s->effects.n = 0;
    s->block = malloc(relet_local_size());
    s->l = relet_local_init(s->block, relet_local_size(), &config);
    if (s->l == NULL)
        return 0;
    s->now_us = T_BEGIN_US;
    relet_local_time(s->l, s->now_us);
    for (i = 0; i < T_CLIENTS; i++)
        if (!t_connect(s, i))
            return 0;
    return 1;
}

/* 1 when all memory came back. */
static int t_close(t_server *s)
{
    if (s->l)
        relet_local_finish(s->l);
    free(s->block);
    s->l = NULL;
    s->block = NULL;
    return s->held == 0;
}

static void t_forget(t_server *s)
{
    int i;

    for (i = 0; i < T_CLIENTS; i++)
        free(s->said[i].p);
    free(s->data.p);
    free(s->effects.p);
    memset(s, 0, sizeof *s);
}

/* -------------------------------------------------------------------- tapes */

static size_t t_word(char *out, const char *p, size_t n)
{
    size_t size;

    if (*p != '@') {
        memcpy(out, p, n);
        return n;
    }
    size = (size_t)strtoul(p + 1, NULL, 10);
    memset(out, 'x', size);
    return size;
}

static void t_send(t_server *s, int client, const char *command)
{
    static char frame[1 << 17], word[1 << 16];
    const char *p, *end;
    size_t n, len, words = 1;

    for (p = command; *p; p++)
        words += *p == ' ';
    n = (size_t)sprintf(frame, "*%u\r\n", (unsigned)words);
    for (p = command; words > 0; words--, p = end + 1) {
        end = strchr(p, ' ') ? strchr(p, ' ') : p + strlen(p);
        len = t_word(word, p, (size_t)(end - p));
        n += (size_t)sprintf(frame + n, "$%u\r\n", (unsigned)len);
        memcpy(frame + n, word, len);
        memcpy(frame + n + len, "\r\n", 2);
        n += len + 2;
    }
    relet_local_feed(s->l, s->id[client], frame, n);
}

static int t_client(const char *step)
{
    return step[0] >= '0' && step[0] <= '2' && step[1] == ':' ? step[0] - '0'
                                                              : 0;
}

static void t_take(t_server *s)
{
    const uint8_t *p;
    size_t n;
    int i, broken;

    for (i = 0; i < T_CLIENTS; i++) {
        n = relet_local_output(s->l, s->id[i], &p);
        s->said[i].n = 0;
        t_put(&s->said[i], p, n);
        relet_local_sent(s->l, s->id[i], n);
    }
    n = relet_local_effects(s->l, &p, &broken);
    t_put(&s->effects, p, n);
    s->log_broken |= broken;
    relet_local_effects_taken(s->l, n);
}

static void t_step(t_server *s, const char *step)
{
    if (step[0] == '+') {
        s->now_us += atol(step + 1) * 1000;
        relet_local_time(s->l, s->now_us);
    } else {
        t_send(s, t_client(step), step[1] == ':' ? step + 3 : step);
    }
    t_take(s);
}

/* All data, which takes no memory from what is tested. */
static void t_read(t_server *s)
{
    long left = t_pause(s);
    const uint8_t *p;
    uint64_t at = 0;
    size_t n;
    int broken;

    s->data.n = 0;
    while ((n = relet_local_dump(s->l, &at, &p, &broken)) > 0)
        t_put(&s->data, p, n);
    t_resume(s, left);
}

/* ---------------------------------------------------------------- comparing */

typedef enum t_grade {
    T_STRICT, /* all or nothing                                              */
    T_PARTLY  /* of several commands some may be refused                     */
} t_grade;

static const char *t_wrong(const char *what, const char *step)
{
    fprintf(stderr, "allocation %ld, %s: %s\n", t_poor.fail_from, step, what);
    return what;
}

static int t_refused(const t_bytes *reply)
{
    return reply->n > 4 && memcmp(reply->p, "-OOM", 4) == 0;
}

/* Closes on the second server each client that the first one closed, and
 * connects these clients again. */
static void t_mirror_closed(void)
{
    long left = t_pause(&t_poor);
    int i;

    for (i = 0; i < T_CLIENTS; i++)
        if (relet_local_closed(t_poor.l, t_poor.id[i])) {
            relet_local_hangup(t_poor.l, t_poor.id[i]);
            relet_local_hangup(t_rich.l, t_rich.id[i]);
            (void)t_connect(&t_poor, i);
            (void)t_connect(&t_rich, i);
            t_poor.said[i].n = t_rich.said[i].n = 0;
        }
    t_resume(&t_poor, left);
}

static const char *t_compare_said(const char *step)
{
    int i;

    for (i = 0; i < T_CLIENTS; i++) {
        if (relet_local_closed(t_poor.l, t_poor.id[i]) ||
            t_same(&t_poor.said[i], &t_rich.said[i]))
            continue;
        fprintf(stderr, "client %d, short of memory: %.*s", i,
                (int)t_poor.said[i].n, (const char *)t_poor.said[i].p);
        fprintf(stderr, "client %d, else: %.*s", i, (int)t_rich.said[i].n,
                (const char *)t_rich.said[i].p);
        return t_wrong("said something else", step);
    }
    return NULL;
}

/* Returns 1 if a blocked client was refused: the element for which it waited is
 * still there. */
static int t_waiter_refused(int asked)
{
    int i, n = 0;

    for (i = 0; i < T_CLIENTS; i++)
        n += i != asked && t_refused(&t_poor.said[i]);
    return n > 0;
}

/* Plays one step on both servers. Returns NULL or the difference; sets *over if
 * the two cannot be compared any more. */
static const char *t_both(const char *step, int *over)
{
    int asked = t_client(step), closed;

    t_step(&t_poor, step);
    t_read(&t_poor);
    closed = relet_local_closed(t_poor.l, t_poor.id[asked]);
    if (t_refused(&t_poor.said[asked]) ||
        (closed && t_same(&t_poor.data, &t_rich.data))) {
        if (!t_same(&t_poor.data, &t_rich.data))
            return t_wrong("refused, and changed", step);
        t_refusals++;
        t_mirror_closed();
        return NULL;
    }
    if (t_waiter_refused(asked)) {
        *over = 1;
        return NULL;
    }
    t_step(&t_rich, step);
    t_read(&t_rich);
    if (!t_same(&t_poor.data, &t_rich.data))
        return t_wrong("other data", step);
    if (t_compare_said(step))
        return "said something else";
    t_mirror_closed();
    return NULL;
}

/* Checks that the log has the changes that were made, unless it reports that it
 * is incomplete. */
static const char *t_log_is_true(void)
{
    static t_server follower;
    const char *wrong = NULL;

    t_pause(&t_poor);
    if (t_poor.log_broken || t_poor.effects.n == 0)
        return NULL;
    if (!t_open(&follower, T_NEVER, 1))
        return "no follower";
    relet_local_replay(follower.l, follower.id[0], 1);
    relet_local_feed(follower.l, follower.id[0], t_poor.effects.p,
                     t_poor.effects.n);
    t_read(&follower);
    t_read(&t_poor);
    if (!t_same(&follower.data, &t_poor.data))
        wrong = t_wrong("another log", "");
    if (!t_close(&follower))
        wrong = "the follower leaks";
    t_forget(&follower);
    return wrong;
}

static const char *t_works(void)
{
    t_pause(&t_poor);
    relet_local_hangup(t_poor.l, t_poor.id[0]);
    if (!t_connect(&t_poor, 0))
        return t_wrong("no new client", "");
    relet_local_replay(t_poor.l, t_poor.id[0], 1); /* needs no password */
    t_send(&t_poor, 0, "PING");
    t_take(&t_poor);
    if (t_poor.said[0].n != 7 || memcmp(t_poor.said[0].p, "+PONG\r\n", 7) != 0)
        return t_wrong("does not work", "");
    return NULL;
}

/* ------------------------------------------------------------------ playing */

/* The tape, with `fails` allocations failing from number n on. *over: the tape
 * needs no n allocations. */
static const char *t_play(const char *const *tape, t_grade grade, long n,
                          long fails, int *over)
{
    const char *wrong = NULL;
    int apart = 0;

    *over = 0;
    if (!t_open(&t_poor, n, fails)) {
        wrong = t_close(&t_poor) ? NULL : t_wrong("leaks", "init");
        return wrong;
    }
    if (!t_open(&t_rich, T_NEVER, 1))
        return "no server";
    t_read(&t_rich);
    for (; *tape && wrong == NULL; tape++) {
        if (grade == T_STRICT && !apart) {
            wrong = t_both(*tape, &apart);
        } else {
            t_step(&t_poor, *tape);
            t_mirror_closed();
        }
    }
    *over = !t_failed(&t_poor);
    if (wrong == NULL)
        wrong = t_log_is_true();
    if (wrong == NULL)
        wrong = t_works();
    if (!t_close(&t_poor) && wrong == NULL)
        wrong = t_wrong("leaks", "at the end");
    (void)t_close(&t_rich);
    return wrong;
}

/* One failure alone, then three, then all from there on. */
static const char *t_starve(const char *const *tape, t_grade grade)
{
    static const long fails[] = {1, 3, T_NEVER};
    const char *wrong = NULL;
    int over, i;
    long n;

    for (i = 0; i < 3 && wrong == NULL; i++)
        for (n = 1, over = 0; !over && wrong == NULL; n++)
            wrong = t_play(tape, grade, n, fails[i], &over);
    t_forget(&t_poor);
    t_forget(&t_rich);
    return wrong;
}

/* Memory is full to the last byte, then some of what does not matter goes. */
static const char *t_fill(int room)
{
    char command[64];
    const char *wrong = NULL;
    int i, over = 0;

    t_poor.fail_from = t_poor.calls + 1;
    t_poor.fail_to = T_NEVER;
    for (i = 0; i < 2000 && wrong == NULL; i++) {
        sprintf(command, "SET fill:%d @%d", i, 10 + i % 90);
        wrong = t_both(command, &over);
        if (t_refused(&t_poor.said[0]))
            break;
    }
    if (i == 2000)
        return "memory is not short";
    for (i -= 1; i >= 0 && room-- > 0 && wrong == NULL; i--) {
        sprintf(command, "DEL fill:%d", i);
        wrong = t_both(command, &over);
    }
    return wrong;
}

/* The tape in a full server that gets nothing more, with a little room, and
 * more of it each time. */
static const char *t_starve_full(const char *const *tape)
{
    const char *wrong = NULL, *const *step;
    int room, over;
    long met = 0;

    for (room = 0; room < 120 && wrong == NULL; room += 3) {
        t_poor.warm = 1;
        if (!t_open(&t_poor, T_NEVER, 1) || !t_open(&t_rich, T_NEVER, 1))
            return "no server";
        t_read(&t_rich);
        wrong = t_fill(room);
        t_refusals = 0;
        for (step = tape, over = 0; *step && wrong == NULL && !over; step++)
            wrong = t_both(*step, &over);
        met += t_refusals;
        if (wrong == NULL)
            wrong = t_works();
        if (!t_close(&t_poor) && wrong == NULL)
            wrong = t_wrong("leaks", "at the end");
        (void)t_close(&t_rich);
    }
    t_forget(&t_poor);
    t_forget(&t_rich);
    t_refusals = met;
    return wrong;
}

#define T_STARVE(tape) \
    do { \
        t_refusals = 0; \
        ASSERT_EQ(NULL, t_starve(tape, T_STRICT)); \
        ASSERT(t_refusals > 0); \
        ASSERT_EQ(NULL, t_starve_full(tape)); \
        ASSERT(t_refusals > 0); \
        PASS(); \
    } while (0)

#define T_STARVE_PARTLY(tape) \
    do { \
        ASSERT_EQ(NULL, t_starve(tape, T_PARTLY)); \
        PASS(); \
    } while (0)

/* ----------------------------------------------------------------- families */

TEST strings_are_stored_whole_or_not(void)
{
    static const char *const tape[] = {
        "SET s @3000", "SET s @9000 PX 50", "APPEND s @2000",
        "SETRANGE s 9000 @500", "GETSET s @4000", "MSET a @5000 b @5000 c d",
        "MSETNX e @2000 f @2000", "INCR n", "INCRBY n 100", "DECR n",
        "INCRBYFLOAT n 1.5", "GETEX s PX 100", "SET s @20000 GET",
        "STRLEN s", "GETRANGE s 0 5000", "MGET s a b", "PSETEX p 50 @6000",
        "SETNX q @3000", "SETEX r 10 @3000", "+60", "GETDEL s", "SET s x",
        "APPEND s @17000", "SETRANGE z 17000 x", NULL};

    T_STARVE(tape);
}

TEST hashes_are_changed_whole_or_not(void)
{
    static const char *const tape[] = {
        "HSET h a @3000 b @3000", "HSET h a @5000 c 1 d 2 e 3 f 4 g 5",
        "HINCRBY h c 5", "HINCRBYFLOAT h d 0.25", "HSETNX h n @4000",
        "HMSET h i @2000 j @2000", "HGETALL h", "2: HGETALL h",
        "HMGET h a b c n", "HKEYS h", "HVALS h", "HSCAN h 0 COUNT 100",
        "HSET h @7000 @7000", "HDEL h a b c", "HSET other @17000 x",
        "HRANDFIELD h 50 WITHVALUES", "DEL h other", NULL};

    T_STARVE(tape);
}

TEST lists_are_changed_whole_or_not(void)
{
    static const char *const tape[] = {
        "RPUSH l @3000 @3000 a b c", "LPUSH l @4000 d", "LINSERT l BEFORE a e",
        "LSET l 0 @5000", "LMOVE l m LEFT RIGHT", "RPOPLPUSH l m",
        "RPUSHX l @17000 f", "LRANGE l 0 -1", "LPOS l a COUNT 0",
        "LMPOP 1 l LEFT COUNT 2", "LREM l 0 b", "LTRIM l 1 -2",
        "LINSERT m AFTER @4000 @9000", "LPOP m 2", "LMOVE m m LEFT RIGHT",
        "RPUSH t 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22",
        "DEL l m", NULL};

    T_STARVE(tape);
}

TEST sets_are_changed_whole_or_not(void)
{
    static const char *const tape[] = {
        "SADD s a b c @3000 @4000", "SADD t b c d 1 2 3 @3000",
        "SINTERSTORE i s t", "SUNIONSTORE u s t", "SDIFFSTORE d s t",
        "SUNION s t u", "SINTER s t", "SDIFF s t", "SMEMBERS u",
        "2: SMEMBERS u", "SMOVE s t a", "SMOVE s new b", "SPOP s 100",
        "SREM t b c", "SADD t 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18",
        "SSCAN t 0", "SRANDMEMBER t 100", "SINTERCARD 2 t u",
        "SUNIONSTORE t t u", NULL};

    T_STARVE(tape);
}

TEST sorted_sets_are_changed_whole_or_not(void)
{
    static const char *const tape[] = {
        "ZADD z 1 a 2 b 3 c 4 @3000", "ZADD y 1 b 5 c 6 d 7 @5000",
        "ZADD z GT CH 9 a 1 b", "ZADD z INCR 3 new", "ZINCRBY z 4 other",
        "ZUNIONSTORE u 2 z y", "ZINTERSTORE i 2 z y WEIGHTS 2 3",
        "ZDIFFSTORE d 2 z y", "ZUNION 2 z y WITHSCORES",
        "2: ZUNION 2 z y WITHSCORES", "ZINTER 2 z y", "ZDIFF 2 z y",
        "ZRANGESTORE r z 0 -1", "ZRANGESTORE r y 1 9 BYSCORE",
        "ZRANGE u 0 -1 WITHSCORES", "ZPOPMIN u 2", "ZMPOP 1 u MAX COUNT 2",
        "ZREM z a b", "ZREMRANGEBYRANK y 0 0", "ZSCAN z 0",
        "ZADD z 1 @17000", "ZRANDMEMBER z 100 WITHSCORES", NULL};

    T_STARVE(tape);
}

TEST streams_are_changed_whole_or_not(void)
{
    static const char *const tape[] = {
        "XADD x 1-1 f @3000", "XADD x 2-1 f @3000 g h", "XADD x * f v",
        "XADD x MAXLEN 3 * f @4000", "XGROUP CREATE x g 0",
        "XGROUP CREATE new g 0 MKSTREAM", "XGROUP CREATECONSUMER x g c",
        "XREADGROUP GROUP g d COUNT 1 STREAMS x >",
        "2: XREADGROUP GROUP g e STREAMS x >", "XPENDING x g",
        "XPENDING x g - + 10", "XCLAIM x g @2000 0 2-1 FORCE",
        "XAUTOCLAIM x g f 0 0", "XACK x g 2-1", "XRANGE x - +",
        "XREAD STREAMS x 0", "XINFO STREAM x FULL", "XINFO GROUPS x",
        "XINFO CONSUMERS x g", "XDEL x 2-1", "XTRIM x MAXLEN 1",
        "XGROUP DELCONSUMER x g e", "XSETID x 9999999999999-1",
        "XGROUP CREATE x @3000 0", "XREADGROUP GROUP g @3000 STREAMS x 0",
        "XGROUP DESTROY x g", "XADD x * f @17000", NULL};

    T_STARVE(tape);
}

TEST keys_are_moved_whole_or_not(void)
{
    static const char *const tape[] = {
        "SET s @3000", "RPUSH l a b @3000", "SADD t a b", "ZADD z 1 a 2 b",
        "HSET h f @3000", "XADD x 1-1 a b", "XGROUP CREATE x g 0",
        "XREADGROUP GROUP g c STREAMS x >", "COPY s s2", "COPY l l2",
        "COPY t t2", "COPY z z2", "COPY h h2 DB 1", "COPY x x2",
        "RENAME s @3000", "RENAMENX l l3", "MOVE t 1", "PEXPIRE z 50",
        "PEXPIRE h 5000", "KEYS *", "SCAN 0 COUNT 100", "RANDOMKEY",
        "OBJECT ENCODING h", "TOUCH z h", "+60", "PERSIST h",
        "SWAPDB 0 1", "EXISTS s h", "TYPE x", "FLUSHDB", "SET s x",
        "FLUSHALL", NULL};

    T_STARVE(tape);
}

TEST blocked_clients_are_served_or_closed(void)
{
    static const char *const tape[] = {
        "1: BLPOP a b 0", "RPUSH b @3000 x y", "1: BLMOVE c d LEFT RIGHT 0",
        "2: BLPOP d 0", "RPUSH c @5000", "1: BZPOPMIN z 0", "ZADD z 1 @3000",
        "1: XREAD BLOCK 0 STREAMS x $", "XADD x * f @3000",
        "XGROUP CREATE x g $", "2: XREADGROUP GROUP g c BLOCK 0 STREAMS x >",
        "XADD x * f @3000", "1: BLPOP none 0.05", "2: BLMPOP 0.05 1 n LEFT",
        "+60", "1: WAIT 1 20", "+30", "1: BRPOPLPUSH p q 0", "RPUSH p @9000",
        "LRANGE q 0 -1", NULL};

    T_STARVE(tape);
}

TEST news_come_whole_or_close_the_reader(void)
{
    static const char *const tape[] = {
        "1: SUBSCRIBE a b @3000", "2: PSUBSCRIBE a* __key*",
        "2: SSUBSCRIBE s", "PUBLISH a @3000", "SPUBLISH s @3000",
        "CONFIG SET notify-keyspace-events KEA", "SET s @3000",
        "PUBSUB CHANNELS", "PUBSUB NUMSUB a b", "1: UNSUBSCRIBE a",
        "PUBLISH b @20000", "2: PUNSUBSCRIBE", "DEL s", "1: UNSUBSCRIBE",
        "2: SUNSUBSCRIBE", NULL};

    T_STARVE(tape);
}

TEST trackers_are_told_or_closed(void)
{
    static const char *const tape[] = {
        "2: CLIENT TRACKING ON", "SET a 1", "SET @3000 1", "2: GET a",
        "2: GET @3000", "2: MGET a b c d", "SET a @3000", "SET @3000 2",
        "2: CLIENT TRACKING OFF",
        "2: CLIENT TRACKING ON BCAST PREFIX a PREFIX @3000 NOLOOP",
        "SET abc @3000", "2: SET abd 1", "2: CLIENT TRACKINGINFO",
        "DEL abc", "FLUSHALL", "2: CLIENT TRACKING OFF", NULL};

    T_STARVE(tape);
}

TEST clients_are_told_or_closed(void)
{
    static const char *const tape[] = {
        "1: HELLO 3", "1: CLIENT SETNAME @3000", "1: CLIENT GETNAME",
        "CONFIG GET *", "CONFIG SET maxmemory 100000000", "ACL LIST",
        "ACL SETUSER ann on >pw ~a* ~b* &c* +@all -flushall", "ACL USERS",
        "ACL SETUSER bob on nopass ~* +get", "ACL WHOAMI", "1: AUTH ann pw",
        "1: GET a", "1: GET zz", "ACL DELUSER bob", "COMMAND COUNT",
        "CONFIG SET requirepass @3000", "CONFIG SET requirepass pw",
        "1: RESET", "ECHO @9000", "PING @17000", "nosuch @3000", NULL};

    T_STARVE(tape);
}

TEST queued_commands_are_kept_or_refused(void)
{
    static const char *const tape[] = {
        "WATCH a b @3000", "SET q @3000", "MULTI", "SET a @3000",
        "RPUSH l @3000 b", "DISCARD", "UNWATCH", "MULTI", "GET a",
        "PING @9000", "EXEC", NULL};

    T_STARVE(tape);
}

TEST the_log_has_exactly_the_effects_of_a_transaction(void)
{
    static const char *const tape[] = {
        "1: BLPOP l 0", "2: CLIENT TRACKING ON", "2: GET a", "WATCH a",
        "MULTI", "SET a @3000", "RPUSH l @3000 b", "ZADD z 1 a 2 @5000",
        "XADD x * f @5000", "SPOP s", "INCR n", "EXEC", "MULTI",
        "HSET h f @9000", "DEL a", "EXEC", NULL};

    T_STARVE_PARTLY(tape);
}

TEST the_log_has_exactly_the_effects_of_a_script(void)
{
    static const char *const tape[] = {
        "EVAL redis.call('SET',KEYS[1],ARGV[1])redis.call('INCR','n')return"
        "{1,ARGV[1],redis.call('GET',KEYS[1])} 1 s @3000",
        "EVAL for\ti=1,30\tdo\tredis.call('RPUSH','l',i..ARGV[1])end 0 @500",
        "EVAL local\ts=ARGV[1]for\ti=1,4\tdo\ts=s..s\tend\treturn\ts 0 @900",
        "EVAL redis.call('ZADD','z',1,'a')error('late') 0",
        "EVAL redis.call('SADD','t','a','b')return\tredis.call('SPOP','t') 0",
        "2: EVAL return\tredis.call('HGETALL','h') 0",
        "SCRIPT LOAD return\tredis.call('INCR','n')",
        "EVALSHA 0b65615fb82415accb5b64ce031935a5b21d8788 0",
        "EVAL return\tstring.rep('x',50000) 0",
        "EVAL local\tt={}for\ti=1,999\tdo\tt[i]={i}end\treturn\t#t 0",
        "EVAL redis.call('SET','s',string.rep('y',20000)) 0",
        "SCRIPT FLUSH", "EVAL return\tredis.call('XADD','x','*','f',1) 0",
        NULL};

    T_STARVE_PARTLY(tape);
}

/* ----------------------------------------------------------------- the rest */

static int t_dump_starved(long n, const t_bytes *whole, int *over)
{
    t_bytes part = {NULL, 0, 0};
    const uint8_t *p;
    uint64_t at = 0;
    size_t more;
    int broken = 0, right;

    t_poor.fail_from = t_poor.calls + n;
    t_poor.fail_to = t_poor.fail_from + 1;
    while ((more = relet_local_dump(t_poor.l, &at, &p, &broken)) > 0 &&
           !broken)
        t_put(&part, p, more);
    *over = !t_failed(&t_poor);
    right = broken || t_same(&part, whole);
    free(part.p);
    return right;
}

TEST a_dump_is_whole_or_says_that_it_is_not(void)
{
    static const char *const tape[] = {
        "SET s @3000", "RPUSH l @3000 @9000", "HSET h a @20000", "SELECT 3",
        "XADD x 1-1 f @3000", "XGROUP CREATE x g 0", "SADD t a b c", NULL};
    const char *const *step;
    t_bytes whole = {NULL, 0, 0};
    int over = 0;
    long n;

    ASSERT(t_open(&t_poor, T_NEVER, 1));
    for (step = tape; *step; step++)
        t_step(&t_poor, *step);
    t_read(&t_poor);
    t_put(&whole, t_poor.data.p, t_poor.data.n);
    for (n = 1; !over; n++)
        ASSERT(t_dump_starved(n, &whole, &over));
    t_poor.fail_from = T_NEVER;
    t_read(&t_poor);
    ASSERT(t_same(&whole, &t_poor.data));
    ASSERT(t_close(&t_poor));
    free(whole.p);
    t_forget(&t_poor);
    PASS();
}

TEST after_a_log_without_memory_a_dump_lets_the_log_go_on(void)
{
    int broken = 0, i;
    const uint8_t *p;
    size_t n;

    ASSERT(t_open(&t_poor, T_NEVER, 1));
    t_step(&t_poor, "SELECT 2");
    t_step(&t_poor, "SET a 1");
    for (i = 1; !broken; i++) {
        t_poor.fail_from = t_poor.calls + i;
        t_poor.fail_to = t_poor.fail_from + 1;
        t_send(&t_poor, 0, "SET s @2000");
        (void)relet_local_effects(t_poor.l, &p, &broken);
        if (relet_local_closed(t_poor.l, t_poor.id[0])) {
            relet_local_hangup(t_poor.l, t_poor.id[0]);
            ASSERT(t_connect(&t_poor, 0));
            t_step(&t_poor, "SELECT 2");
        }
        ASSERT(i < 20);
    }
    t_poor.fail_from = T_NEVER;
    t_take(&t_poor);
    t_poor.effects.n = 0;
    t_step(&t_poor, "SET b 2");
    n = relet_local_effects(t_poor.l, &p, &broken);
    ASSERT_EQ(0, n);
    ASSERT_FALSE(broken);
    /* a reader of a dump has not selected what the one of the log had */
    ASSERT(t_poor.effects.n > 12);
    ASSERT_EQ(0, memcmp(t_poor.effects.p, "*2\r\n$6\r\nSELECT", 14));
    ASSERT(t_close(&t_poor));
    t_forget(&t_poor);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(strings_are_stored_whole_or_not);
    RUN_TEST(hashes_are_changed_whole_or_not);
    RUN_TEST(lists_are_changed_whole_or_not);
    RUN_TEST(sets_are_changed_whole_or_not);
    RUN_TEST(sorted_sets_are_changed_whole_or_not);
    RUN_TEST(streams_are_changed_whole_or_not);
    RUN_TEST(keys_are_moved_whole_or_not);
    RUN_TEST(blocked_clients_are_served_or_closed);
    RUN_TEST(news_come_whole_or_close_the_reader);
    RUN_TEST(trackers_are_told_or_closed);
    RUN_TEST(clients_are_told_or_closed);
    RUN_TEST(queued_commands_are_kept_or_refused);
    RUN_TEST(the_log_has_exactly_the_effects_of_a_transaction);
    RUN_TEST(the_log_has_exactly_the_effects_of_a_script);
    RUN_TEST(a_dump_is_whole_or_says_that_it_is_not);
    RUN_TEST(after_a_log_without_memory_a_dump_lets_the_log_go_on);
    GREATEST_MAIN_END();
}
