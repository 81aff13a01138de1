/* SPDX-License-Identifier: MIT
 *
 * words.c - templates of commands, by family.
 *
 *   WORD        itself
 *   %x          something of kind x, see expand.c
 *   [a|b|]      one of these, perhaps nothing
 *   {...}       once or more
 *   (a;b;c)     some of these in any order
 *   !           first: not spoilt, since its replies could not be compared
 *
 * A command is repeated here as often as its share requires. */
#include "model.h"

static const char *const words_strings[] = {
    "GET %s", "GET %k", "SET %s %v", "SET %s %i", "SET %k %v",
    "SET %s %v ([NX|XX];GET;[EX %S|PX %M|EXAT %A|PXAT %B|KEEPTTL])",
    "SET %s %v PX %M", "SET %s %v ([NX|XX];PX %M)", "SET %s %v [PX|EX] %w",
    "SETNX %s %v", "SETEX %s %S %v", "PSETEX %s %M %v", "GETSET %s %v",
    "GETDEL %s", "GETEX %s [EX %S|PX %M|EXAT %A|PXAT %B|PERSIST|]",
    "MGET {%s}", "MGET {%k}", "MSET {%s %v}", "MSETNX {%s %v}",
    "INCR %s", "DECR %s", "INCRBY %s %i", "DECRBY %s %i",
    "INCRBYFLOAT %s %f", "APPEND %s %v", "STRLEN %s", "STRLEN %k",
    "GETRANGE %s %r %r", "SUBSTR %s %r %r", "SETRANGE %s %n %v", NULL};

static const char *const words_hashes[] = {
    "HSET %h {%e %v}", "HSET %h {%e %i}", "HSET %k %e %v",
    "HSETNX %h %e %v", "HMSET %h {%e %v}", "HGET %h %e", "HGET %k %e",
    "HMGET %h {%e}", "HGETALL %h", "HGETALL %k", "HDEL %h {%e}",
    "HDEL %h a b c d e 1 2", "HLEN %h", "HEXISTS %h %e", "HKEYS %h",
    "HVALS %h", "HSTRLEN %h %e", "HINCRBY %h %e %i",
    "HINCRBYFLOAT %h %e %f", "HRANDFIELD %h [%q|%q WITHVALUES|]",
    "HSCAN %h 0 (MATCH %p;COUNT [1000|%n])", NULL};

static const char *const words_lists[] = {
    "LPUSH %l {%e}", "RPUSH %l {%e}", "LPUSHX %l {%e}", "RPUSHX %l {%v}",
    "LPUSH %k %e", "LPOP %l", "RPOP %l", "LPOP %l %n", "RPOP %l %n",
    "LLEN %l", "LLEN %k", "LRANGE %l %r %r", "LRANGE %l 0 -1",
    "LRANGE %k 0 -1", "LINDEX %l %r", "LSET %l %r %v",
    "LINSERT %l [BEFORE|AFTER] %e %v", "LREM %l %r %e", "LTRIM %l %r %r",
    "RPOPLPUSH %l %l", "LMOVE %l %l [LEFT|RIGHT] [LEFT|RIGHT]",
    "LPOS %l %e (RANK %r;COUNT %n;MAXLEN %n)",
    "LMPOP [1 %l|2 %l %l] [LEFT|RIGHT] [COUNT %n|]", NULL};

static const char *const words_sets[] = {
    "SADD %t {%e}", "SADD %t {%i}", "SADD %k %e", "SREM %t {%e}",
    "SREM %t a b c d e 1 2", "SCARD %t", "SISMEMBER %t %e",
    "SMISMEMBER %t {%e}", "SMEMBERS %t", "SMEMBERS %k",
    "SMOVE %t %t %e", "SINTER {%t}", "SUNION {%t}", "SDIFF {%t}",
    "SINTERSTORE %t {%t}", "SUNIONSTORE %t {%t}", "SDIFFSTORE %t {%t}",
    "SINTERCARD [1 %t|2 %t %t] [LIMIT %n|]", "SPOP %t [%q|]",
    "SRANDMEMBER %t [%q|]", "SSCAN %t 0 (MATCH %p;COUNT [1000|%n])", NULL};

static const char *const words_zsets[] = {
    "ZADD %z {%f %e}", "ZADD %z {%f %e}", "ZADD %k %f %e",
    "ZADD %z ([NX|XX];[GT|LT];CH;INCR) {%f %e}",
    "ZADD %z ([NX|XX];[GT|LT];CH) INCR %f %e", "ZINCRBY %z %f %e",
    "ZADD %z 0 a 0 b 0 c 0 d", "ZREM %z {%e}", "ZREM %z a b c d e 1 2",
    "ZCARD %z", "ZCARD %k", "ZSCORE %z %e", "ZMSCORE %z {%e}",
    "ZRANK %z %e", "ZREVRANK %z %e", "ZRANGE %z %r %r [WITHSCORES|]",
    "ZREVRANGE %z %r %r [WITHSCORES|]", "ZRANGE %z 0 -1 WITHSCORES",
    "ZRANGE %k 0 -1", "ZRANGEBYSCORE %z %m %m (WITHSCORES;LIMIT %r %r)",
    "ZREVRANGEBYSCORE %z %m %m (WITHSCORES;LIMIT %r %r)",
    "ZRANGEBYLEX %z %L %L [LIMIT %r %r|]",
    "ZREVRANGEBYLEX %z %L %L [LIMIT %r %r|]",
    "ZRANGE %z %m %m BYSCORE (REV;LIMIT %r %r;WITHSCORES)",
    "ZRANGE %z %L %L BYLEX (REV;LIMIT %r %r)",
    "ZRANGE %z %r %r ([BYSCORE|BYLEX];REV;LIMIT %r %r;WITHSCORES)",
    "ZRANGESTORE %z %z %r %r [REV|]",
    "ZRANGESTORE %z %z %m %m BYSCORE (REV;LIMIT %r %r)",
    "ZCOUNT %z %m %m", "ZLEXCOUNT %z %L %L", "ZREMRANGEBYRANK %z %r %r",
    "ZREMRANGEBYSCORE %z %m %m", "ZREMRANGEBYLEX %z %L %L",
    "ZPOPMIN %z [%n|]", "ZPOPMAX %z [%n|]",
    "ZMPOP [1 %z|2 %z %z] [MIN|MAX] [COUNT %n|]",
    "ZRANDMEMBER %z [%q|%q WITHSCORES|]",
    "ZSCAN %z 0 (MATCH %p;COUNT [1000|%n])",
    "[ZUNIONSTORE|ZINTERSTORE] %z [1 %z|2 %z %z|2 %z %t] "
    "([WEIGHTS %f|WEIGHTS %f %f];AGGREGATE [SUM|MIN|MAX])",
    "[ZUNION|ZINTER] [1 %z|2 %z %z|2 %z %t] "
    "([WEIGHTS %f|WEIGHTS 2 %f];AGGREGATE [SUM|MIN|MAX];WITHSCORES)",
    "ZDIFF [1 %z|2 %z %z] [WITHSCORES|]", "ZDIFFSTORE %z [1 %z|2 %z %z]",
    "ZINTERCARD [1 %z|2 %z %z] [LIMIT %n|]", NULL};

static const char *const words_streams[] = {
    "XADD %x * {%e %v}", "XADD %x %I {%e %v}", "XADD %x %I %e %v",
    "XADD %x (NOMKSTREAM;[MAXLEN|MINID] [~|=|] [%n|%I] [LIMIT %n|]) "
    "[*|%I] %e %v",
    "XADD %x MAXLEN ~ %n * %e %v", "XLEN %x", "XLEN %k",
    "XRANGE %x %I %I [COUNT %n|]", "XRANGE %x - + [COUNT %n|]",
    "XREVRANGE %x %I %I [COUNT %n|]", "XREVRANGE %x + -",
    "XDEL %x {%I}", "XTRIM %x [MAXLEN|MINID] [~|=|] [%n|%I] [LIMIT %n|]",
    "XSETID %x %I [ENTRIESADDED %n|] [MAXDELETEDID %I|]",
    "XREAD [COUNT %n|] STREAMS [%x %I|%x %x %I %I|%x $]",
    "XGROUP CREATE %x %g [%I|$|0] [MKSTREAM|] [ENTRIESREAD %n|]",
    "XGROUP CREATE %x %g 0 MKSTREAM", "XGROUP SETID %x %g [%I|$|0]",
    "XGROUP DESTROY %x %g", "XGROUP CREATECONSUMER %x %g %o",
    "XGROUP DELCONSUMER %x %g %o", "XGROUP HELP",
    "XREADGROUP GROUP %g %o [COUNT %n|] [NOACK|] STREAMS %x >",
    "XREADGROUP GROUP %g %o [COUNT %n|] [NOACK|] STREAMS %x >",
    "XREADGROUP GROUP %g %o [COUNT %n|] STREAMS [%x %I|%x %x > >]",
    "XACK %x %g {%I}", "XPENDING %x %g",
    "XPENDING %x %g [IDLE %M|] - + %n [%o|]",
    "XPENDING %x %g %I %I %n [%o|]",
    "XCLAIM %x %g %o %M {%I} (IDLE %M;TIME %B;RETRYCOUNT %n;FORCE;JUSTID;"
    "LASTID %I)",
    "XAUTOCLAIM %x %g %o %M %I [COUNT %n|] [JUSTID|]",
    "XAUTOCLAIM %x %g %o %M 0 [COUNT %n|] [JUSTID|]",
    "XINFO STREAM %x [FULL|FULL COUNT %n|]", "XINFO GROUPS %x",
    "XINFO CONSUMERS %x %g", NULL};

/* Commands of the consumers of a group. */
static const char *const words_groups[] = {
    "XADD x1 * {%e %v}", "XADD x1 * a b", "XADD x2 * a b", "XLEN x1",
    "XREADGROUP GROUP g1 %o COUNT %n STREAMS x1 >",
    "XREADGROUP GROUP g1 %o [COUNT %n|] [NOACK|] STREAMS x1 x2 > >",
    "XREADGROUP GROUP g1 %o [COUNT %n|] STREAMS x1 [0|%I]",
    "XREADGROUP GROUP g1 %o [COUNT %n|] BLOCK %M [NOACK|] STREAMS x1 >",
    "XREADGROUP GROUP g1 %o BLOCK %M STREAMS x1 x2 > >",
    "XREAD BLOCK %M STREAMS x1 x2 $ $", "XREAD COUNT %n STREAMS x1 x2 0 %I",
    "XACK x1 g1 {%I}", "XACK x1 g1 {%I}", "XPENDING x1 g1",
    "XPENDING x1 g1 [IDLE %M|] - + %n [%o|]",
    "XPENDING x1 g1 %I %I %n [%o|]", "XDEL x1 {%I}",
    "XCLAIM x1 g1 %o [0|%M] {%I} (IDLE %M;TIME %B;RETRYCOUNT %n;FORCE;"
    "JUSTID;LASTID %I)",
    "XCLAIM x1 g1 %o 0 {%I} [FORCE|JUSTID|]",
    "XAUTOCLAIM x1 g1 %o [0|%M] [0|%I] [COUNT %n|] [JUSTID|]",
    "XAUTOCLAIM x1 g1 %o 0 0 COUNT 1", "XTRIM x1 MAXLEN [1|2|3]",
    "XGROUP SETID x1 g1 [%I|$|0] [ENTRIESREAD %n|]",
    "XGROUP CREATECONSUMER x1 g1 %o", "XGROUP DELCONSUMER x1 g1 %o",
    "XGROUP CREATE x1 g1 0 MKSTREAM", "XGROUP CREATE x2 g1 $ MKSTREAM",
    "XGROUP DESTROY x1 g1", "XINFO STREAM x1 [FULL|FULL COUNT %n|]",
    "XINFO GROUPS x1", "XINFO CONSUMERS x1 g1", "DEL x1",
    "RENAME x1 [x2|x3]", "RENAME x3 x1", "COPY x1 x2 REPLACE", "MOVE x1 1",
    NULL};

static const char *const words_keys[] = {
    "DEL {%k}", "UNLINK {%k}", "EXISTS {%k}", "TYPE %k", "TOUCH {%k}",
    "EXPIRE %k %S [NX|XX|GT|LT|]", "PEXPIRE %k %M [NX|XX|GT|LT|]",
    "PEXPIRE %k %M", "PEXPIRE %k %M", "EXPIREAT %k %A [NX|XX|GT|LT|]",
    "PEXPIREAT %k %B [NX|XX|GT|LT|]", "TTL %k", "PTTL %k", "PTTL %k",
    "EXPIRETIME %k", "PEXPIRETIME %k", "PERSIST %k", "RENAME %k %k",
    "RENAMENX %k %k", "COPY %k %k [DB %d|] [REPLACE|]", "MOVE %k %d",
    "KEYS %p", "KEYS *", "SCAN 0 (MATCH %p;COUNT 1000;TYPE "
    "[string|hash|list|set|zset|stream])", "DBSIZE", "RANDOMKEY",
    "SELECT %d", "SELECT 0", "SWAPDB %d %d", "FLUSHDB [ASYNC|SYNC|]",
    NULL};

static const char *const words_blocking[] = {
    "BLPOP {%l} %b", "BRPOP {%l} %b", "BLMOVE %l %l [LEFT|RIGHT] "
    "[LEFT|RIGHT] %b", "BRPOPLPUSH %l %l %b",
    "BLMPOP %b [1 %l|2 %l %l] [LEFT|RIGHT] [COUNT %n|]",
    "BZPOPMIN {%z} %b", "BZPOPMAX {%z} %b",
    "BZMPOP %b [1 %z|2 %z %z] [MIN|MAX] [COUNT %n|]",
    "XREAD [COUNT %n|] BLOCK %M STREAMS %x $",
    "XREAD BLOCK %M STREAMS %x %x $ $",
    "XREADGROUP GROUP %g %o [COUNT %n|] BLOCK %M [NOACK|] STREAMS %x >",
    "LPUSH %l {%e}", "RPUSH %l {%e}", "ZADD %z {%f %e}", "XADD %x * a b",
    "XGROUP CREATE %x %g $ MKSTREAM", "DEL {%k}", "RENAME %k %l",
    "!CLIENT UNBLOCK %C [TIMEOUT|ERROR|]", "WAIT [0|1] %M", "LMOVE %l %l "
    "LEFT RIGHT", "SET %l x", NULL};

static const char *const words_transactions[] = {
    "MULTI", "MULTI", "EXEC", "EXEC", "DISCARD", "WATCH {%k}", "WATCH %s",
    "UNWATCH", "INCR %s", "SET %s %v", NULL};

static const char *const words_pubsub[] = {
    "SUBSCRIBE {%c}", "UNSUBSCRIBE [%c|]", "PSUBSCRIBE {%P}",
    "PUNSUBSCRIBE [%P|]", "SSUBSCRIBE %c", "SUNSUBSCRIBE [%c|]",
    "PUBLISH %c %v", "PUBLISH %c %v", "SPUBLISH %c %v",
    "PUBSUB CHANNELS [%p|]", "PUBSUB NUMSUB [{%c}|]", "PUBSUB NUMPAT",
    "PUBSUB SHARDCHANNELS", "PUBSUB SHARDNUMSUB %c",
    "PSUBSCRIBE __key*__:*", "PSUBSCRIBE __key*__:*",
    "!CONFIG SET notify-keyspace-events [KEA|KA|EA|Kg$xe|Elshzt|KEAmn|AKd]",
    "!CONFIG GET notify-keyspace-events", "PING [%v|]", "RESET", NULL};

static const char *const words_tracking[] = {
    "CLIENT TRACKING ON", "CLIENT TRACKING ON (OPTIN;NOLOOP)",
    "CLIENT TRACKING ON (BCAST;PREFIX %y;PREFIX %y;NOLOOP)",
    "CLIENT TRACKING ON (OPTOUT;OPTIN;BCAST;NOLOOP;REDIRECT %C)",
    "CLIENT TRACKING OFF", "CLIENT CACHING [YES|NO]",
    "CLIENT TRACKINGINFO", "CLIENT GETREDIR", "GET %s", "MGET {%s}",
    "HGETALL %h", "SET %s %v", "DEL {%k}", "HSET %h %e %v", "INCR %s",
    "PEXPIRE %k %M", "HELLO 3", "HELLO 3", "GET %s", "FLUSHDB", NULL};

/* Few keys, read by connections that also block on them: these commands test
 * the invalidations, and their places between the replies. */
static const char *const words_caches[] = {
    "LRANGE l1 0 -1", "LRANGE l2 0 -1", "LRANGE l1 0 -1", "LRANGE l2 0 -1",
    "BLMOVE l1 l2 [LEFT|RIGHT] [LEFT|RIGHT] %b", "BLMOVE l2 l1 LEFT RIGHT %b",
    "BLMOVE l1 l1 LEFT RIGHT %b", "BRPOPLPUSH l1 l2 %b", "BLPOP l1 l2 %b",
    "BLMPOP %b 1 l1 LEFT", "RPUSH l1 {%e}", "RPUSH l1 {%e}", "RPUSH l2 {%e}",
    "LPOP l1", "DEL l1", "DEL l1 l2", "RENAME l2 l1", "ZRANGE z1 0 -1",
    "BZPOPMIN z1 z2 %b", "BZMPOP %b 1 z1 MIN", "ZADD z1 1 %e", "DEL z1",
    "XREAD BLOCK %M STREAMS x1 x2 $ $", "XREAD STREAMS x1 0", "XADD x1 * a b",
    "XLEN x1", "DEL x1", "GET s1", "SET s1 %v", "MGET s1 s2", "INCR s2",
    "EVAL redis.call('rpush',KEYS[1],'a','b') 1 l1",
    "EVAL return\tredis.call('set',KEYS[1],'x') 1 s1", "PUBLISH c1 x",
    "CLIENT TRACKING ON [NOLOOP|BCAST|OPTIN|]", "CLIENT TRACKING OFF",
    "CLIENT CACHING YES", "SUBSCRIBE c1", "FLUSHDB", NULL};

/* Commands that disturb the queue and the lease of the scripts of lua/. */
static const char *const words_engine[] = {
    "SUBSCRIBE {%c}", "UNSUBSCRIBE c1", "HSET q.jobs version [1|2]",
    "HDEL q.jobs version", "HSET q.jobs closed 1", "HDEL q.jobs closed",
    "HSET q.jobs limit [0|1|2]", "HDEL q.jobs limit", "HSET q.jobs stopped 1",
    "HDEL q.jobs stopped", "HSET q.jobs ranks 1", "HDEL q.jobs %N",
    "RPUSH q.waiting %N", "ZADD q.ranked %n %N", "ZADD q.delayed 1 %N,3",
    "ZREM q.leased %N", "SET q.[waiting|idle|done] x", "DEL q.waiting",
    "DEL q.jobs q.waiting q.ranked q.delayed q.leased q.done q.dead q.ids",
    "DEL q.lease", "SET q.lease other PX %M", "HSET q.fence token %T",
    "HGETALL q.jobs", "LRANGE q.waiting 0 -1", "ZRANGE q.leased 0 -1",
    "PEXPIRE q.lease %M", "CONFIG SET maxmemory [1|0|0]", NULL};

/* CLIENT UNBLOCK of a connection that CLIENT PAUSE holds back crashes Redis
 * 7.0, so it is in words_blocking, apart from CLIENT PAUSE. */
static const char *const words_server[] = {
    "PING", "PING %v", "ECHO %v", "HELLO [2|3|]", "HELLO [2|3|4|1]",
    "HELLO 3 (AUTH [default|ann] %v;SETNAME %o)", "AUTH [%v|ann %v|ann pw]",
    "CLIENT ID", "CLIENT GETNAME", "CLIENT SETNAME [%o|%v]",
    "CLIENT NO-EVICT [ON|OFF]", "CLIENT INFO", "!CLIENT LIST",
    "!CLIENT LIST TYPE [pubsub|replica|master]", "!CLIENT LIST ID %C %C",
    "!CLIENT KILL ID %C", "!CLIENT KILL TYPE pubsub", "!CLIENT KILL 1.2.3:4",
    "!CLIENT KILL ADDR 1.2.3:4", "CLIENT HELP", "!CLIENT PAUSE 999999999 WRITE",
    "!CLIENT UNPAUSE", "!CLIENT REPLY [ON|OFF|SKIP]",
    "RESET", "QUIT", "TIME", "ROLE", "WAIT 0 0", "LASTSAVE", "INFO",
    "INFO [server|keyspace|replication|memory|stats|clients|nope]",
    "COMMAND COUNT", "CONFIG GET maxmemory",
    "!CONFIG GET [maxmemory*|databases|appendonly|save|nope]",
    "!CONFIG SET maxmemory [1|0|0|0]", "!CONFIG SET maxmemory [1kb|x|-1]",
    "!CONFIG SET maxmemory-policy [noeviction|nope]", "CONFIG RESETSTAT",
    "!CONFIG SET nope 1", "!CONFIG SET maxmemory", "CONFIG HELP",
    "!CONFIG SET maxmemory 0 maxmemory 0", "CONFIG REWRITE",
    "!DEBUG SLEEP 0", "CLUSTER INFO", "CLUSTER SLOTS",
    "READONLY", "ASKING", "FLUSHALL [ASYNC|SYNC|]",
    "nosuch {%v}", "CLIENT nosuch %v", "XINFO nosuch %v", "SCRIPT nosuch",
    "GET", "CLIENT", "CONFIG", "XGROUP", "SCRIPT", NULL};

static const char *const words_acl[] = {
    "!ACL SETUSER ann on >pw ~* &* +@all", "!ACL SETUSER ann on >pw ~s* "
    "&c* +get +set +ping +multi +exec", "!ACL SETUSER ann off",
    "!ACL SETUSER bob on nopass ~* &* +@all -@write -flushall",
    "!ACL SETUSER bob on nopass ~s1 -@all +get +eval +evalsha",
    "!ACL SETUSER ann reset", "!ACL DELUSER [ann|bob|default]",
    "!AUTH ann pw", "!AUTH ann no", "!AUTH bob x", "!ACL WHOAMI",
    "!ACL USERS", "!ACL LIST", "!CONFIG SET requirepass [x|]", "!AUTH x",
    "!ACL CAT nope", "!ACL SETUSER ann nope", "!ACL SETUSER ann +nope",
    "GET %s", "SET %s %v", "DEL %k", "PUBLISH %c x", "SUBSCRIBE %c",
    "PSUBSCRIBE %P", "SSUBSCRIBE %c", "MGET {%k}", "RENAME %s %k",
    "!HELLO 3 AUTH ann pw", "EVAL return_1 0", "HSET %h a b",
    "!ACL SETUSER ann on >pw ~s* &c* +@all -acl|setuser -@dangerous",
    "!ACL SETUSER ann resetchannels resetkeys", "!AUTH ann pw",
    "EVAL redis.call('set',KEYS[1],'x') [1|2] %s %s",
    "EVAL redis.call('get','h1') 0", "XREAD STREAMS %s %k 0 0",
    "EVAL return{redis.acl_check_cmd('get','h1'),"
    "redis.acl_check_cmd('publish','d','x')} 0", "!AUTH default x",
    "SUNIONSTORE %t {%t}", "ZUNIONSTORE %z 2 %z %s", "CONFIG GET nope",
    NULL};

static const char *const words_scripts[] = {
    "SCRIPT LOAD %u", "SCRIPT EXISTS {%U}", "SCRIPT EXISTS %U %v",
    "SCRIPT FLUSH [ASYNC|SYNC|]", "SCRIPT KILL", "EVALSHA %U 0",
    "EVALSHA %U 1 %k %v", "EVALSHA_RO %U 1 %k", "EVAL %u 0",
    "EVAL %u 1 %k", "EVAL_RO %u 1 %k", "EVAL %u %w %k", NULL};

const family families[] = {
    {"strings", 12, words_strings},    {"hashes", 9, words_hashes},
    {"lists", 9, words_lists},         {"sets", 8, words_sets},
    {"zsets", 14, words_zsets},        {"streams", 14, words_streams},
    {"groups", 5, words_groups},
    {"keys", 12, words_keys},          {"blocking", 7, words_blocking},
    {"transactions", 5, words_transactions},
    {"pubsub", 5, words_pubsub},       {"tracking", 5, words_tracking},
    {"caches", 4, words_caches},       {"engine", 7, words_engine},
    {"server", 5, words_server},       {"acl", 2, words_acl},
    {"scripts", 4, words_scripts}};
const int family_count = (int)(sizeof families / sizeof *families);

const char *const hostile_words[] = {
    "", "inf", "-inf", "+inf", "nan", "1e400", "-0", "0", "-1", "1",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "18446744073709551615", "18446744073709551616",
    "0x10", " 1", "1 ", "1.5", "1e3", "00", "+1", "3.0", ".5", "5.", "1_0",
    "1.7976931348623157e308", "5e-324", "0.1", "4294967296", "2147483648",
    "-2147483649", "abc", "\x01\xff", "*", "$", "-", "+", "~", "=", ">",
    "(1", "[a", "(", "[", "1-1", "1-", "-1-1", "1-1-1", "0-0", "NX", "XX",
    "COUNT", "LIMIT", "GET", "nil", "a\r\nb", "infinity", "1e-400", "1,5",
    "9007199254740993", "0.30000000000000004", "123456789012345678901",
    "99999999999999999999-1", "%s%n", "{a}b", NULL};
