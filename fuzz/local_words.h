/* SPDX-License-Identifier: MIT
 *
 * local_words.h - turns bytes into commands for a server, for local_fuzz.
 *
 * A template is a line of words; bytes decide which command it becomes:
 *
 *   %s %l %t %z %h %x  a key that should be a string, list, set, zset, hash,
 *                      stream; %k of any kind
 *   %v a value  %f a member  %n an integer  %r a small one  %d a score
 *   %i a stream id  %g a group  %c a consumer  %m %M a duration, a point in
 *   time  %w a time-out  %p a pattern  %C a channel  %# a client's number
 *   %e a script's SHA  %E a script
 *   [a|b]   one of these or nothing
 *   (a b)   once or more
 *   {       another template
 *
 * New templates go to the end, for the corpus names them by their number. */
#ifndef LOCAL_WORDS_H
#define LOCAL_WORDS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "relet.h"
#include "sha1.h"

#define WORDS_MAX 256
#define WORDS_BYTES 65536

typedef struct words {
    const uint8_t *data; /* the bytes that decide                            */
    size_t n, at;
    uint32_t made_up;    /* decides in a group that is very long             */
    int is_made_up;
    int64_t now_ms;
    size_t start[WORDS_MAX], len[WORDS_MAX];
    int count;
    char bytes[WORDS_BYTES];
    size_t used;
    uint32_t members;    /* names made so far                                */
} words;

static const char *const words_templates[] = {
    /* strings */
    "SET %s %v", "SET %s %n", "SET %s %v [NX|XX|GET] [PX %m|PXAT %M|KEEPTTL]",
    "GET %s", "GETDEL %s", "GETEX %s [PX %m|PXAT %M|PERSIST|EX %r]",
    "GETSET %s %v", "SETNX %s %v", "SETEX %s %r %v", "PSETEX %s %m %v",
    "MGET (%s)", "MSET (%s %v)", "MSETNX (%k %v)", "APPEND %s %v",
    "SETRANGE %s %n %v", "GETRANGE %s %n %n", "STRLEN %s", "INCR %s",
    "DECR %s", "INCRBY %s %n", "DECRBY %s %n", "INCRBYFLOAT %s %d",
    /* lists */
    "LPUSH %l (%f)", "RPUSH %l (%f)", "LPUSHX %l %v", "RPUSHX %l (%f)",
    "LPOP %l [%r]", "RPOP %l [%n]", "LLEN %l", "LINDEX %l %n",
    "LRANGE %l %n %n", "LSET %l %r %v", "LINSERT %l [BEFORE|AFTER] %f %v",
    "LREM %l %r %f", "LTRIM %l %n %n", "RPOPLPUSH %l %l",
    "LMOVE %l %l [LEFT|RIGHT] [LEFT|RIGHT]",
    "LPOS %l %f [RANK %n] [COUNT %r] [MAXLEN %r]",
    "LMPOP %r (%l) [LEFT|RIGHT] [COUNT %r]", "BLPOP (%l) %w", "BRPOP (%l) %w",
    "BLMOVE %l %l [LEFT|RIGHT] RIGHT %w", "BRPOPLPUSH %l %l %w",
    "BLMPOP %w 1 %l [LEFT|RIGHT] [COUNT %r]",
    /* sets */
    "SADD %t (%f)", "SREM %t (%f)", "SCARD %t", "SISMEMBER %t %f",
    "SMISMEMBER %t (%f)", "SMEMBERS %t", "SPOP %t [%r]", "SRANDMEMBER %t [%r]",
    "SMOVE %t %t %f", "SINTER (%t)", "SUNION (%t)", "SDIFF (%t)",
    "SINTERSTORE %t (%t)", "SUNIONSTORE %t (%t)", "SDIFFSTORE %t (%t)",
    "SINTERCARD %r (%t) [LIMIT %n]", "SSCAN %t 0 [MATCH %p] [COUNT %n]",
    /* zsets */
    "ZADD %z (%d %f)", "ZADD %z [NX|XX] [GT|LT] [CH] (%d %f)",
    "ZADD %z [NX|XX|GT|LT] INCR %d %f", "ZINCRBY %z %d %f", "ZREM %z (%f)",
    "ZCARD %z", "ZSCORE %z %f", "ZMSCORE %z (%f)", "ZRANK %z %f",
    "ZREVRANK %z %f", "ZRANGE %z %n %n [REV] [WITHSCORES]",
    "ZRANGE %z %d %d BYSCORE [REV] [LIMIT %r %n] [WITHSCORES]",
    "ZRANGE %z - + BYLEX [REV] [LIMIT %r %n]", "ZRANGEBYSCORE %z %d %d",
    "ZREVRANGEBYSCORE %z %d %d [LIMIT %r %n]", "ZRANGEBYLEX %z [-|(a|[a] +",
    "ZRANGESTORE %z %z %n %n [REV]", "ZRANGESTORE %z %z %d %d BYSCORE",
    "ZCOUNT %z %d %d", "ZLEXCOUNT %z - [b|(b|+]",
    "ZREMRANGEBYRANK %z %n %n", "ZREMRANGEBYSCORE %z %d %d",
    "ZREMRANGEBYLEX %z [-|[a|(b] [+|[c]", "ZPOPMIN %z [%r]", "ZPOPMAX %z [%n]",
    "BZPOPMIN (%z) %w", "BZPOPMAX (%z) %w", "ZMPOP 1 %z [MIN|MAX] [COUNT %r]",
    "BZMPOP %w 2 %z %z [MIN|MAX] [COUNT %r]",
    "ZRANDMEMBER %z [%r] [WITHSCORES]", "ZSCAN %z %r [MATCH %p] [COUNT %n]",
    "ZUNIONSTORE %z 2 %z %t [WEIGHTS %d %d] [AGGREGATE MIN|AGGREGATE MAX]",
    "ZINTERSTORE %z 2 %z %z [WEIGHTS %d %d] [AGGREGATE MIN|AGGREGATE SUM]",
    "ZDIFFSTORE %z 2 %z %z", "ZUNION 2 %z %t [WEIGHTS %d %d] [WITHSCORES]",
    "ZINTER 2 %z %z [WITHSCORES]", "ZDIFF 2 %z %t [WITHSCORES]",
    "ZINTERCARD 2 %z %z [LIMIT %n]",
    /* hashes */
    "HSET %h (%f %v)", "HMSET %h (%f %v)", "HSETNX %h %f %v", "HGET %h %f",
    "HMGET %h (%f)", "HGETALL %h", "HDEL %h (%f)", "HLEN %h", "HKEYS %h",
    "HVALS %h", "HEXISTS %h %f", "HSTRLEN %h %f", "HINCRBY %h %f %n",
    "HINCRBYFLOAT %h %f %d", "HRANDFIELD %h [%r] [WITHVALUES]",
    "HSCAN %h 0 [MATCH %p] [COUNT %n]",
    /* streams */
    "XADD %x * (%f %v)", "XADD %x %i (%f %v)",
    "XADD %x [NOMKSTREAM] [MAXLEN ~ %r|MAXLEN %r|MINID %i] * %f %v",
    "XLEN %x", "XRANGE %x %i %i [COUNT %r]", "XREVRANGE %x + %i",
    "XDEL %x (%i)", "XTRIM %x [MAXLEN %r|MINID %i|MAXLEN ~ %r LIMIT %r]",
    "XSETID %x %i [ENTRIESADDED %n] [MAXDELETEDID %i]",
    "XREAD [COUNT %r] STREAMS %x %x %i %i", "XREAD BLOCK %m STREAMS %x $",
    "XGROUP CREATE %x %g [0|$|%i] [MKSTREAM] [ENTRIESREAD %n]",
    "XGROUP CREATE %x %g 0 MKSTREAM", "XGROUP SETID %x %g %i",
    "XGROUP DESTROY %x %g", "XGROUP CREATECONSUMER %x %g %c",
    "XGROUP DELCONSUMER %x %g %c",
    "XREADGROUP GROUP %g %c [COUNT %r] [NOACK] STREAMS %x >",
    "XREADGROUP GROUP %g %c STREAMS %x %x 0 >",
    "XREADGROUP GROUP %g %c BLOCK %m STREAMS %x >", "XACK %x %g (%i)",
    "XPENDING %x %g", "XPENDING %x %g [IDLE %m] - + %r [%c]",
    "XCLAIM %x %g %c 0 (%i) [FORCE] [JUSTID] [RETRYCOUNT %n] [IDLE %m]",
    "XCLAIM %x %g %c %m %i FORCE [TIME %M] [LASTID %i]",
    "XAUTOCLAIM %x %g %c %m 0 [COUNT %r] [JUSTID]", "XINFO STREAM %x [FULL]",
    "XINFO GROUPS %x", "XINFO CONSUMERS %x %g",
    /* keys */
    "DEL (%k)", "UNLINK %k", "EXISTS (%k)", "TOUCH %k", "TYPE %k",
    "RENAME %k %k", "RENAMENX %k %k", "COPY %k %k [DB %r] [REPLACE]",
    "MOVE %k %r", "KEYS %p", "SCAN %r [MATCH %p] [COUNT %n] [TYPE string]",
    "DBSIZE", "RANDOMKEY", "OBJECT [ENCODING|IDLETIME|REFCOUNT|FREQ] %k",
    "EXPIRE %k %r [NX|XX|GT|LT]", "PEXPIRE %k %m", "PEXPIREAT %k %M",
    "EXPIREAT %k %n", "TTL %k", "PTTL %k", "EXPIRETIME %k", "PERSIST %k",
    "SELECT %r", "SWAPDB %r %r", "FLUSHDB [SYNC|ASYNC]", "FLUSHALL",
    /* transactions */
    "MULTI", "EXEC", "DISCARD", "WATCH (%k)", "UNWATCH",
    /* pubsub */
    "SUBSCRIBE (%C)", "UNSUBSCRIBE [%C]", "PSUBSCRIBE %p", "PUNSUBSCRIBE [%p]",
    "SSUBSCRIBE %C", "SUNSUBSCRIBE [%C]", "PUBLISH %C %v", "SPUBLISH %C %v",
    "PUBSUB [CHANNELS|NUMSUB %C|NUMPAT|SHARDCHANNELS|SHARDNUMSUB %C]",
    "PSUBSCRIBE __key*", "CONFIG SET notify-keyspace-events [KEA|KA|Elgx|KEm]",
    /* tracking */
    "CLIENT TRACKING ON [OPTIN|OPTOUT|NOLOOP] [REDIRECT %#]",
    "CLIENT TRACKING ON BCAST [PREFIX %k|PREFIX s PREFIX l] [NOLOOP]",
    "CLIENT TRACKING OFF", "CLIENT CACHING [YES|NO]", "CLIENT TRACKINGINFO",
    "CLIENT GETREDIR", "CONFIG SET tracking-table-max-keys %r",
    /* clients */
    "HELLO [2|3|4|3 SETNAME %c|3 AUTH default %v]", "PING [%v]", "ECHO %v",
    "CLIENT [ID|INFO|LIST|GETNAME|LIST ID %#|LIST TYPE pubsub]",
    "CLIENT SETNAME %c", "CLIENT KILL [ID %#|TYPE normal|SKIPME no] [ID %#]",
    "CLIENT REPLY [ON|OFF|SKIP]", "CLIENT PAUSE %m [WRITE|ALL]",
    "CLIENT UNPAUSE", "CLIENT UNBLOCK %# [ERROR|TIMEOUT]",
    "CLIENT NO-EVICT [ON|OFF]", "RESET", "QUIT", "AUTH [%v|%v %v]",
    "ACL [WHOAMI|LIST|USERS|CAT|CAT read|DELUSER %c]",
    "ACL SETUSER %c [on|off] [nopass|>%v|reset] [~*|~s*|allkeys] [+@all|+get]",
    "ACL SETUSER default [-@write|+@all|resetkeys|~*|on]",
    "CONFIG GET %p", "CONFIG SET maxmemory %n", "CONFIG SET requirepass [%v]",
    "CONFIG RESETSTAT", "INFO [memory|stats|keyspace|all|%v]",
    "COMMAND [COUNT|INFO get|DOCS|GETKEYS {]", "WAIT %r %m", "TIME", "ROLE",
    "DEBUG SLEEP %w", "DEBUG SET-ACTIVE-EXPIRE [0|1]", "CLUSTER SLOTS",
    /* scripts */
    "EVAL %E 0 {", "EVAL %E 1 %k {", "EVAL %E 2 %k %k {", "EVAL_RO %E 0 {",
    "SCRIPT LOAD %E", "SCRIPT EXISTS (%e)", "SCRIPT FLUSH", "SCRIPT KILL",
    "EVALSHA %e 0 {", "EVALSHA %e 1 %k {", "EVALSHA_RO %e 0 {",
    "%v (%v)", "%v", "CLIENT %v (%v)", "CONFIG %v (%v)", "ACL %v (%v)",
};

/* Sequences of commands that exercise one feature, one command per line. */
static const char *const words_stories[] = {
    "XGROUP CREATE xa g 0 MKSTREAM\nXADD xa 1-1 a b\nXADD xa 1-2 c %v\n"
    "XADD xa * e f\nXREADGROUP GROUP g %c COUNT %r STREAMS xa >\n",
    "XREADGROUP GROUP g al STREAMS xa >\nXCLAIM xa g bo 0 1-1 1-2 JUSTID\n"
    "XADD xa * e f\nXDEL xa %i\nXAUTOCLAIM xa g %c 0 0 COUNT %r\n",
    "WATCH %k\nMULTI\nINCR sa\n{\n{\nXADD xa * a b\nEXEC\n",
    "MULTI\n{\nSPOP ta\n{\n[EXEC|DISCARD]\n",
    "HELLO 3\nCLIENT TRACKING ON [BCAST|OPTIN|NOLOOP]\nCLIENT CACHING YES\n"
    "GET %s\nMGET sa sb la\n",
    "HELLO 3\nSUBSCRIBE ch cg\nPSUBSCRIBE c* __key*\nSSUBSCRIBE ch\n"
    "CONFIG SET notify-keyspace-events KEA\n",
    "ACL SETUSER al on nopass ~s* &c* +@all -@admin +acl\nAUTH al x\n{\n{\n",
    "SADD ta (%f)\nSADD tb (%f)\nZADD za (%d %f)\nZADD zb (%d %f)\n"
    "HSET ha (%f %v)\nRPUSH la (%f)\nPEXPIRE %k %m\n",
    "BLPOP la 0\nBLMOVE la lb LEFT RIGHT 0\nXREAD BLOCK 0 STREAMS xa xb $ $\n",
    "SCRIPT LOAD %E\nEVALSHA %e 1 %k {\nEVALSHA %e 1 %k {\n",
    "SET sa %n PX %m\nSET sb %v PXAT %M\nPEXPIRE la %m\nEXPIRE ta 1\n",
};

#define WORDS_STORIES (sizeof words_stories / sizeof *words_stories)

#define WORDS_TEMPLATES \
    (sizeof words_templates / sizeof *words_templates)

static const char *const words_scripts[] = {
    "return redis.call(unpack(ARGV))",
    "return redis.pcall(unpack(ARGV))",
    "redis.setresp(3) return redis.call(unpack(ARGV))",
    "redis.call('INCR','sa') redis.call(unpack(ARGV)) "
    "return redis.call('INCR','sa')",
    "redis.call(unpack(ARGV)) redis.call('SET','sb',ARGV[1]) error('late')",
    "redis.pcall(unpack(ARGV)) redis.pcall('SPOP','ta') "
    "return redis.pcall('XADD','xa','*','f',ARGV[1])",
    "for i=1,70 do redis.call('RPUSH','la',i) redis.call('ZADD','za',i,i) end",
    "local t={} for i=1,9 do t[i]=redis.pcall(unpack(ARGV)) end return t",
    "redis.call('SELECT',1) return redis.call(unpack(ARGV))",
    "#!lua flags=no-writes\nreturn redis.call(unpack(ARGV))",
    "#!lua flags=allow-oom\nreturn redis.call(unpack(ARGV))",
    "while true do redis.call('INCR','sa') end",
    "local s='x' while true do s=s..s end",
    "return {1,'two',{3,{4}},false,{ok='fine'},{err='ERR not'},{double=1.5}}",
    "redis.setresp(3) return {map={a=1,b={set={x=true}}}}",
    "return redis.sha1hex(ARGV[1])..redis.call('PING')",
    "local t={} for i=1,100 do t={t} end return t",
    "return {redis.call('PEXPIRE','sa',5),redis.call('TIME'),KEYS,ARGV}",
    "redis.call('DEL',unpack(KEYS)) return redis.error_reply('MINE own')",
    "return redis.call('GET',KEYS[1])", "return",
    "local function f() return f() + 1 end return f()", "return ARGV[1] +",
};

#define WORDS_SCRIPTS (sizeof words_scripts / sizeof *words_scripts)

static uint8_t words_byte(words *w)
{
    if (w->is_made_up) {
        w->made_up = w->made_up * 1664525u + 1013904223u;
        return (uint8_t)(w->made_up >> 24);
    }
    return w->at < w->n ? w->data[w->at++] : 0;
}

/* ------------------------------------------------------------------ putting */

static void words_put(words *w, const void *p, size_t n)
{
    if (n > WORDS_BYTES - w->used)
        n = WORDS_BYTES - w->used;
    if (n > 0)
        memcpy(w->bytes + w->used, p, n);
    w->used += n;
    w->len[w->count] += n;
}

static void words_text(words *w, const char *text)
{
    words_put(w, text, strlen(text));
}

static void words_begin(words *w)
{
    w->start[w->count] = w->used;
    w->len[w->count] = 0;
}

static void words_end(words *w)
{
    if (w->count < WORDS_MAX - 1)
        w->count++;
    words_begin(w);
}

static void words_number(words *w, int64_t v)
{
    char text[24];

    sprintf(text, "%lld", (long long)v);
    words_text(w, text);
}

static void words_pick(words *w, const char *const *list, size_t n)
{
    words_text(w, list[words_byte(w) % n]);
}

#define WORDS_PICK(w, list) words_pick(w, list, sizeof list / sizeof *list)

/* ----------------------------------------------------- what stands for what */

static void words_key(words *w, char kind)
{
    static const char kinds[] = "sltzhx";
    uint8_t b = words_byte(w);

    if (kind == 'k' || b >= 240)
        kind = kinds[(b >> 2) % 6];
    words_put(w, &kind, 1);
    words_put(w, (b & 3) == 3 ? "b" : "a", 1);
    if (b == 239)
        words_put(w, "\0", 1);
}

static void words_run(words *w, char c, int n)
{
    while (n-- > 0)
        words_put(w, &c, 1);
}

static void words_value(words *w)
{
    static const char *const values[] = {"a", "", "1", "10", "-3", "3.5", "b",
        "hello world", "9223372036854775807", "1e3", "a\r\nb", "x", "default",
        "*", "$-1\r\n", "~"};
    uint8_t b = words_byte(w);
    size_t n;

    if (b < 192) {
        words_text(w, values[b % 16]);
    } else if (b < 200) {
        words_run(w, 'x', 63 + (b - 192));
    } else if (b < 204) {
        words_run(w, 'y', b & 1 ? 20000 : 3000);
    } else { /* the input's bytes themselves */
        for (n = b % 16; n > 0; n--) {
            b = words_byte(w);
            words_put(w, &b, 1);
        }
    }
}

static void words_member(words *w)
{
    static const char *const names[] = {"a", "b", "c", "1", "2", "", "-7",
                                        "a longer name than the others are"};
    uint8_t b = words_byte(w);

    if (b < 144) {
        words_text(w, names[b % 8]);
    } else if (b < 240) {
        words_text(w, "m");
        words_number(w, (int64_t)w->members++);
    } else {
        words_value(w);
    }
}

static void words_integer(words *w)
{
    static const char *const numbers[] = {"0", "1", "-1", "2", "-2", "3",
        "10", "100", "255", "65535", "2147483647", "-2147483648",
        "4294967296", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "18446744073709551615", "1e3", "", " 1", "01",
        "+1", "0x10", "nan", "-3", "5", "1000000", "536870911", "536870912",
        "-9223372036854775807", "1.0", "9223372036854775"};

    WORDS_PICK(w, numbers);
}

static void words_score(words *w)
{
    static const char *const scores[] = {"0", "1", "-1", "0.5", "2", "3",
        "inf", "-inf", "+inf", "nan", "1e308", "-1e308", "5e-324", "(1", "(0",
        "1.7976931348623157e308", "9007199254740993", "1e400", "0x1p3", "",
        "3.0", "(inf", "-0", "0.1", "17179869184.5", "1e-400", "[1", "1 "};

    WORDS_PICK(w, scores);
}

static void words_id(words *w)
{
    static const char *const ids[] = {"0", "0-1", "1-1", "1-2", "2-1", "1",
        "*", "1-*", "0-0", "-", "+", "$", ">", "(1-1", "5-5",
        "18446744073709551615-18446744073709551615", "18446744073709551615",
        "18446744073709551615-1", "9223372036854775808-0", "1-1-1", "3-3"};
    uint8_t b = words_byte(w);

    if (b < 224) {
        words_text(w, ids[b % (sizeof ids / sizeof *ids)]);
        return;
    }
    words_number(w, w->now_ms - (b & 3));
    words_text(w, b & 8 ? "-1" : "-0");
}

static int64_t words_duration(words *w)
{
    static const int64_t ms[] = {1, 5, 100, 1000, 60000, 0, 3, 2, 86400000,
        -1, INT64_MAX, INT64_MAX / 1000, INT64_MAX / 2, -1000, INT64_MIN, 10};

    return ms[words_byte(w) % 16];
}

static void words_sha(words *w)
{
    const char *text = words_scripts[words_byte(w) % WORDS_SCRIPTS];
    char sha[40];

    rlt_sha1_hex(text, strlen(text), sha);
    words_put(w, sha, 40);
}

static void words_stand_in(words *w, char kind)
{
    static const char *const small[] = {"1", "0", "2", "3", "-1", "5", "70",
                                        "-2"};
    static const char *const waits[] = {"0", "0.001", "1", "0.1", "-1", "60",
                                        "1e300", "inf"};
    static const char *const patterns[] = {"*", "s*", "?a", "[sl]a", "a",
        "__key*", "\\*", "[^a-m]*", "*a*a*a*a*b", "["};
    static const char *const names[] = {"g", "g", "g", "h", "g", "", "a b"};
    static const char *const channels[] = {"ch", "cg", "", "s{a}"};
    static const char *const consumers[] = {"al", "bo", "al", "", "a b"};
    int64_t ms;

    switch (kind) {
    case 'v': words_value(w); return;
    case 'f': words_member(w); return;
    case 'n': words_integer(w); return;
    case 'r': WORDS_PICK(w, small); return;
    case 'd': words_score(w); return;
    case 'i': words_id(w); return;
    case 'g': WORDS_PICK(w, names); return;
    case 'c': WORDS_PICK(w, consumers); return;
    case 'C': WORDS_PICK(w, channels); return;
    case 'p': WORDS_PICK(w, patterns); return;
    case 'w': WORDS_PICK(w, waits); return;
    case '#': words_number(w, words_byte(w) % 8); return;
    case 'm': words_number(w, words_duration(w)); return;
    case 'M':
        ms = words_duration(w);
        words_number(w, ms < 100000000 ? w->now_ms + ms : ms);
        return;
    case 'e': words_sha(w); return;
    case 'E': WORDS_PICK(w, words_scripts); return;
    }
    words_key(w, kind);
}

/* ---------------------------------------------------------------- expanding */

/* Words from p to end, without groups. */
static void words_plain(words *w, const char *p, const char *end)
{
    words_begin(w);
    for (; p < end; p++) {
        if (*p == ' ') {
            words_end(w);
        } else if (*p == '%' && p + 1 < end) {
            words_stand_in(w, *++p);
        } else {
            words_put(w, p, 1);
        }
    }
    words_end(w);
}

static const char *words_choice(words *w, const char *p, const char *end)
{
    const char *bar;
    int n = 1, k;

    for (bar = p; bar < end; bar++)
        n += *bar == '|';
    k = words_byte(w) % (n + 1);
    for (; p < end; p = bar + 1, k--) {
        bar = (const char *)memchr(p, '|', (size_t)(end - p));
        if (bar == NULL)
            bar = end;
        if (k == 0)
            words_plain(w, p, bar);
    }
    return end + 1;
}

static const char *words_repeat(words *w, const char *p, const char *end)
{
    uint8_t b = words_byte(w);
    int n = b < 250 ? 1 + b % 3 : 40 + (b - 250) * 10, was = w->is_made_up;

    if (b >= 250) {
        w->made_up = b;
        w->is_made_up = 1;
    }
    while (n-- > 0)
        words_plain(w, p, end);
    w->is_made_up = was;
    return end + 1;
}

static const char *words_until(const char *p, char c)
{
    const char *end = strchr(p, c);

    return end ? end : p + strlen(p);
}

/* A closing bracket is one that ends a word, as in [-|(a|[a]. */
static const char *words_close(const char *p)
{
    const char *end = strchr(p, ']');

    while (end && end[1] != ' ' && end[1] != '\0')
        end = strchr(end + 1, ']');
    return end ? end : p + strlen(p);
}

static void words_expand(words *w, const char *t, int inner)
{
    const char *end;

    while (*t) {
        if (*t == ' ') {
            t++;
        } else if (*t == '[') {
            t = words_choice(w, t + 1, words_close(t + 1));
        } else if (*t == '(') {
            t = words_repeat(w, t + 1, words_until(t, ')'));
        } else if (*t == '{') {
            if (!inner)
                words_expand(w, words_templates[words_byte(w) %
                                                WORDS_TEMPLATES], 1);
            t++;
        } else {
            end = words_until(t, ' ');
            words_plain(w, t, end);
            t = end;
        }
    }
}

/* Now and then makes a command slightly wrong. */
static void words_twist(words *w)
{
    uint8_t b = words_byte(w);
    int i;

    if (b < 232 || w->count == 0)
        return;
    i = b % w->count;
    if (b < 240 && w->count > 1) {
        w->count--;
    } else if (b < 248) {
        words_begin(w);
        words_value(w);
        words_end(w);
    } else {
        words_begin(w);
        words_integer(w);
        w->start[i] = w->start[w->count];
        w->len[i] = w->len[w->count];
    }
}

static void words_clear(words *w)
{
    w->count = 0;
    w->used = 0;
    w->is_made_up = 0;
    words_begin(w);
}

/* The next command, as words. */
static void words_make(words *w, size_t number)
{
    words_clear(w);
    words_expand(w, words_templates[number % WORDS_TEMPLATES], 0);
    words_twist(w);
}

/* Expands a line of a story; returns where the next line begins, or NULL. */
static const char *words_line(words *w, const char *story)
{
    char line[128];
    size_t n = strcspn(story, "\n");

    if (n == 0)
        return NULL;
    memcpy(line, story, n);
    line[n] = '\0';
    words_clear(w);
    words_expand(w, line, 0);
    return story + n + 1;
}

static relet_span words_get(const words *w, int i)
{
    relet_span s;

    s.p = w->bytes + w->start[i];
    s.n = w->len[i];
    return s;
}

#endif
