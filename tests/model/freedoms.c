/* SPDX-License-Identifier: MIT
 *
 * freedoms.c - the complete list of allowed differences, and their reasons.
 *
 * First the parts of replies that servers leave open, command by command: the
 * order of unordered elements, random results, and data of one process. Then
 * the differences of Valkey 8.0 from Redis 7.0, which the local server follows.
 * A difference that no row allows is a defect. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "model.h"

typedef struct freedom {
    const char *command; /* and its first argument, if that has a `*`     */
    rule what;
    const char *why;
    long used;
} freedom;

#define NO_ORDER "a set has none"
#define CHANCE "drawn by chance"
#define PROCESS "belongs to one process"
#define HELPS "ours names its subcommands and explains none"

static freedom freedom_rows[] = {
    {"SMEMBERS *", RULE_SORTED, NO_ORDER, 0},
    {"SINTER *", RULE_SORTED, NO_ORDER, 0},
    {"SUNION *", RULE_SORTED, NO_ORDER, 0},
    {"SDIFF *", RULE_SORTED, NO_ORDER, 0},
    {"KEYS *", RULE_SORTED, "names stand in a hash table", 0},
    {"HKEYS *", RULE_SORTED, "a great hash is a hash table", 0},
    {"HVALS *", RULE_SORTED, "a great hash is a hash table", 0},
    {"HGETALL *", RULE_PAIRS, "a great hash is a hash table", 0},
    {"PUBSUB CHANNELS*", RULE_SORTED, "names stand in a hash table", 0},
    {"PUBSUB SHARDCHANNELS*", RULE_SORTED, "names stand in a hash table", 0},
    {"SCAN *", RULE_SCAN, "cursors belong to a hash table", 0},
    {"SSCAN *", RULE_SCAN, "cursors belong to a hash table", 0},
    {"HSCAN *", RULE_SCAN_PAIRS, "cursors belong to a hash table", 0},
    {"ZSCAN *", RULE_SCAN_PAIRS, "cursors belong to a hash table", 0},
    {"UNSUBSCRIBE *", RULE_UNSUBSCRIBED, "names stand in a hash table", 0},
    {"PUNSUBSCRIBE *", RULE_UNSUBSCRIBED, "names stand in a hash table", 0},
    {"SUNSUBSCRIBE *", RULE_UNSUBSCRIBED, "names stand in a hash table", 0},
    {"SPOP *", RULE_SHAPE, CHANCE, 0},
    {"SRANDMEMBER *", RULE_SHAPE, CHANCE, 0},
    {"HRANDFIELD *", RULE_SHAPE, CHANCE, 0},
    {"ZRANDMEMBER *", RULE_SHAPE, CHANCE, 0},
    {"RANDOMKEY *", RULE_SHAPE, CHANCE, 0},
    {"XINFO STREAM*", RULE_HELLO, "radix-tree-nodes and -keys are how it is "
     "made", 0},
    {"HELLO *", RULE_HELLO, "name, version and number of a connection", 0},
    {"CLIENT ID*", RULE_IDS, "numbers of connections", 0},
    {"CLIENT GETREDIR*", RULE_IDS, "numbers of connections", 0},
    {"CLIENT TRACKINGINFO*", RULE_IDS, "numbers of connections", 0},
    {"CLIENT LIST*", RULE_CLIENTS, "buffers, sockets, ages", 0},
    {"CLIENT INFO*", RULE_CLIENTS, "buffers, sockets, ages", 0},
    {"CONFIG GET*", RULE_PAIRS, "names stand in a hash table", 0},
    {"INFO *", RULE_INFO, "ours has some of the fields", 0},
    {"LASTSAVE *", RULE_TYPE, PROCESS, 0},
    {"COMMAND ", RULE_ANY, "ours refuses: it has no list of its commands", 0},
    {"COMMAND COUNT*", RULE_TYPE, "each has its own set of commands", 0},
    {"CLIENT HELP*", RULE_HELP, HELPS, 0},
    {"CONFIG HELP*", RULE_HELP, HELPS, 0},
    {"XGROUP HELP*", RULE_HELP, HELPS, 0},
    {"ACL LIST*", RULE_SHAPE, "rules stand in a hash table", 0}};

/* ------------------------------------------------- Valkey 8.0, row by row */

typedef struct wording {
    const char *redis, *valkey;
    long used;
} wording;

/* Errors with the same meaning in other words. */
static wording wording_rows[] = {
    {"HELLO AUTH <user>", "HELLO <proto> AUTH <user>", 0},
    {"Lua redis lib command arguments must", "Command arguments must", 0},
    {"Unbalanced XREAD list of streams: for each stream key an ID or '$'",
     "Unbalanced 'xread' list of streams: for each stream key an ID or '$'", 0},
    {"Unbalanced XREAD list of streams: for each stream key an ID or '$'",
     "Unbalanced 'xreadgroup' list of streams: for each stream key an ID "
     "or '>'", 0},
    {"this user has", "User ann has", 0},
    {"this user has", "User bob has", 0},
    {"this user has", "User default has", 0},
    {"Unknown Redis command called", "Unknown command called", 0},
    {"No matching script. Please use EVAL.", "No matching script.", 0},
    {"calling Redis command from", "calling command from", 0},
    {"for this redis lib call", "for this call", 0},
    {"This Redis command is not", "This command is not", 0},
    {"Prints this help", "Print this help", 0}};

typedef struct version {
    const char *command, *redis, *valkey; /* globs; replies as rendered    */
    int parts; /* from here on the data sets are not the same              */
    const char *why;
    long used;
} version;

static version version_rows[] = {
    {"MULTI *", "-ERR MULTI calls can not be nested*", "*not allowed inside*",
     1, "MULTI in MULTI spoils the transaction", 0},
    {"WATCH *", "-ERR WATCH inside MULTI*", "*not allowed inside*", 1,
     "and so does WATCH", 0},
    {"* *", "*", "*-NOSUB*", 1,
     "UNSUBSCRIBE is refused to who has no subscription", 0},
    {"CLIENT SETNAME*", "-ERR Client names*", "*+OK*", 1,
     "a name ends at a NUL", 0},
    {"SCAN *", "*expired*", "*", 1, "a key of another type is not looked at",
     0},
    {"*AUTH *", "*-WRONGPASS*", "*", 1,
     "no reply at all behind another one that waits to be sent", 0},
    {"HELLO *", "*-WRONGPASS*", "*", 1, "options are read first", 0},
    {"READONLY *", "*cluster support*", "*OK*", 1, "is for replicas too", 0},
    {"READWRITE *", "*cluster support*", "*OK*", 1, "is for replicas too", 0},
    {"ASKING *", "*cluster support*", "*", 0, "other words", 0},
    {"ROLE *", "*master*", "*master*", 0, "offset of replication", 0},
    {"XREAD *", "*Invalid stream ID*", "*", 1, "knows +", 0},
    {"XREADGROUP *", "*Invalid stream ID*", "*The + ID is meaningless*", 0,
     "says what is wrong with +", 0},
    {"XREADGROUP *", "*-UNBLOCKED*", "*-NOGROUP*", 1,
     "runs once more when its stream has gone", 0},
    {"XREADGROUP *", "*-NOGROUP*", "*-NOGROUP*", 0, "and when its group has",
     0},
    {"XREAD* *", "%1 *", "%2 *", 1, "unblocks with all streams", 0},
    {"XREAD* *", "*1 *", "*2 *", 1, "unblocks with all streams", 0},
    {"XREAD* *", "*%1\r\n*", "*%2\r\n*", 1, "unblocks with all streams", 0},
    {"XREAD* *", "*", "", 1, "waits on when what came has gone again", 0},
    {"XREAD* *", "*", "*-WRONGTYPE*", 1, "and so looks at all streams", 0},
    {"B* *", "*", "*-WRONGTYPE*", 1, "looks at all keys when one has come",
     0},
    {"* *", "*", "*keymiss*", 1, "and so looks for the other streams", 0},
    {"* *", "*__:expire*", "*__:del*", 1,
     "SET with a time in the past deletes the key at once", 0},
    {"* *", "*", "*xgroup-createconsumer*", 1,
     "reading and claiming make a consumer without an entry", 0},
    {"X*CLAIM *", "*xgroup-createconsumer*", "*", 1,
     "it has been made by then", 0},
    {"XSETID *", "*", "*max_deleted_entry_id*", 1,
     "not below what was deleted", 0},
    {"EXEC *", "*message*", "*message*", 1,
     "messages follow the transaction that made them", 0},
    {"*SUBSCRIBE *", "*subscribe*", "", 1, "CLIENT REPLY OFF silences it", 0},
    {"Z*RANK *", "*wrong number of arguments*", "*", 1, "WITHSCORE", 0},
    {"* *", "*", "*timeout is out of range*", 1, "a time-out that overflows",
     0},
    {"EVAL* *", "*not allowed from script*", "*", 1,
     "may call what waits, and it does not wait", 0},
    {"EVAL* *", "*not allowed with BLOCK option*", "*", 1,
     "XREAD BLOCK, too, does not wait in a script", 0},
    {"EVAL* *", "*Invalid stream ID*", "*", 1, "XREAD knows +", 0},
    {"EVAL* *", "*cluster support*", "*", 1, "READONLY is for replicas too",
     0},
    {"EVAL* *", "*458767*", "*459268*", 0, "its version", 0},
    {"EVAL* *", "*wrong number of arg*", "*", 1, "WITHSCORE", 0},
    {"* *", "*-NOPERM*", "*-NOPERM*", 0, "names the user", 0},
    {"EXEC *", "", "*EXECABORT*", 1, "not held back by CLIENT PAUSE", 0},
    {"EXEC *", "*", "*-EXECABORT*", 1, "what spoils a transaction", 0},
    {"EXEC *", "*-EXECABORT*", "*", 1, "what spoils a transaction", 0},
    {"XGROUP *", ":*", ":*", 1,
     "XCLAIM and XAUTOCLAIM make a consumer without an entry", 0},
    {"EXEC *", "", "*", 1, "CLIENT REPLY in a transaction", 0},
    {"EXEC *", "*-EXECABORT*NOPERM*", "*-EXECABORT*NOPERM*", 0,
     "names the user", 0},
    {"SCAN *", "*", "*unknown type name*", 0, "TYPE is looked at", 0},
    {"*SCAN *", "*", "*invalid cursor*", 0, "a minus is not skipped", 0},
    {"*SCAN *", "*invalid cursor*", "*", 0, "a blank is skipped", 0},
    {"*SCAN *", "*keymiss*", "", 1, "arguments before the key", 0},
    {"LREM *", "*", "*value must between*", 1, "the least count of all", 0},
    {"LSET *", "*out of range*", "*OK*", 1, "the least index of all", 0},
    {"* *", "*", "*invalidate*", 1, "keys that scripts read are tracked", 0},
    {"* *", "*invalidate*", "*", 1,
     "keys that scripts declare are not, nor their own writes", 0},
    {"* *", "*-OOM*", "*QUEUED*", 1, "OOM in MULTI", 0},
    {"* *", "*-OOM*", "", 1, "OOM while clients are paused", 0},
    {"* *", "*-OOM*", "*not allowed inside*", 1, "OOM in MULTI", 0}};

static void freedom_name(bytes *b, const ask *a)
{
    int i;

    bytes_clear(b);
    for (i = 0; i < a->argc && i < 2; i++) {
        bytes_put(b, a->argv[i].p, a->argv[i].n < 60 ? a->argv[i].n : 60);
        bytes_text(b, " ");
    }
}

/* The reply of a script may differ as those of the commands in it. A script
 * that is called by a SHA which no script of the tape has does not exist. */
static rule freedom_script(word text)
{
    static const char *const free_in[] = {"smembers", "sinter'", "sunion'",
        "sdiff'", "hgetall", "hkeys", "hvals", "scan", "pubsub", NULL};
    const char *const *p;
    size_t i, n;

    for (p = free_in; *p != NULL; p++) {
        n = strlen(*p);
        for (i = 0; i + n <= text.n; i++)
            if (strncasecmp(text.p + i, *p, n) == 0)
                return RULE_DEEP;
    }
    return RULE_EXACT;
}

/* A scan that goes on may return anything. */
static int freedom_goes_on(const ask *a)
{
    int at = word_is(a->argv[0], "SCAN") ? 1 : 2;
    size_t i;

    if (a->argc <= at)
        return 0;
    for (i = 0; i < a->argv[at].n; i++)
        if (a->argv[at].p[i] != '0')
            return 1;
    return 0;
}

rule freedom_rule(const ask *a)
{
    static bytes name;
    size_t i;

    if (a->argc == 0)
        return RULE_EXACT;
    if (a->argc > 1 &&
        (word_is(a->argv[0], "EVAL") || word_is(a->argv[0], "EVAL_RO")))
        return freedom_script(a->argv[1]);
    if (a->argc > 1 && (word_is(a->argv[0], "EVALSHA") ||
                        word_is(a->argv[0], "EVALSHA_RO")))
        return freedom_script(script_of(a->argv[1]));
    freedom_name(&name, a);
    for (i = 0; i < sizeof freedom_rows / sizeof *freedom_rows; i++)
        if (bytes_glob(freedom_rows[i].command, name.p, name.n)) {
            freedom_rows[i].used++;
            if ((freedom_rows[i].what == RULE_SCAN ||
                 freedom_rows[i].what == RULE_SCAN_PAIRS) &&
                freedom_goes_on(a))
                return RULE_TYPE;
            return freedom_rows[i].what;
        }
    return RULE_EXACT;
}

void freedom_wording(const side *other, bytes *b)
{
    bytes out = {NULL, 0, 0};
    size_t i, n;
    char *p;

    if (strcmp(other->name, "valkey") != 0)
        return;
    for (i = 0; i < sizeof wording_rows / sizeof *wording_rows; i++) {
        wording *w = &wording_rows[i];

        n = strlen(w->valkey);
        while (b->n >= n && strcmp(w->redis, w->valkey) != 0 &&
               (p = (char *)memmem(b->p, b->n, w->valkey, n)) != NULL) {
            size_t before = (size_t)(p - b->p);

            w->used++;
            bytes_put(&out, b->p, before);
            bytes_text(&out, w->redis);
            memmove(b->p, p + n, b->n - before - n);
            b->n -= before + n;
        }
        bytes_put(&out, b->p, b->n);
        bytes_clear(b);
        bytes_put(b, out.p, out.n);
        bytes_clear(&out);
    }
    bytes_free(&out);
}

/* The same text but for numbers that mean the same double: Valkey writes them
 * as short as it can. */
static int freedom_digit(char c)
{
    return c != '\0' && strchr("0123456789.+-e", c) != NULL;
}

static int freedom_numbers(const bytes *a, const bytes *b)
{
    size_t i = 0, k = 0;

    while (i < a->n && k < b->n) {
        char *x, *y;

        if (a->p[i] == b->p[k] && !freedom_digit(a->p[i])) {
            i++;
            k++;
            continue;
        }
        if (strtod(a->p + i, &x) != strtod(b->p + k, &y) || x == a->p + i ||
            y == b->p + k) {
            if (a->p[i++] != b->p[k++])
                return 0;
            continue;
        }
        i = (size_t)(x - a->p);
        k = (size_t)(y - b->p);
    }
    return i == a->n && k == b->n;
}

/* XCLAIM and XAUTOCLAIM make a consumer without an entry: equal but for the
 * numbers of consumers. */
static int freedom_consumers(const bytes *a, const bytes *b)
{
    static const char field[] = "$consumers :";
    size_t i = 0, k = 0, n = sizeof field - 1;

    while (i < a->n && k < b->n && a->p[i] == b->p[k]) {
        i++;
        k++;
        if (i < n || memcmp(a->p + i - n, field, n) != 0)
            continue;
        i += strspn(a->p + i, "0123456789");
        k += strspn(b->p + k, "0123456789");
    }
    return i == a->n && k == b->n;
}

/* A number at *at, which goes behind it; -1: there is none. */
static long freedom_count(const bytes *b, size_t *at)
{
    long n = 0;
    size_t i = *at;

    for (; i < b->n && b->p[i] >= '0' && b->p[i] <= '9'; i++)
        n = 10 * n + (b->p[i] - '0');
    if (i == *at)
        return -1;
    *at = i;
    return n;
}

/* *at goes behind the text, if it stands there. */
static int freedom_eat(const bytes *b, size_t *at, const char *text)
{
    size_t n = strlen(text);

    if (b->n - *at < n || memcmp(b->p + *at, text, n) != 0)
        return 0;
    *at += n;
    return 1;
}

/* The field that only Valkey has, with its time. */
static int freedom_time(const bytes *b, size_t *at)
{
    size_t k = *at;

    if (!freedom_eat(b, &k, "$active-time :") &&
        !freedom_eat(b, &k, "$inactive :"))
        return 0;
    (void)freedom_eat(b, &k, "-");
    if (freedom_count(b, &k) < 0 || !freedom_eat(b, &k, " "))
        return 0;
    *at = k;
    return 1;
}

/* Fields of a consumer that has never had an entry; maps are sorted by name.
 * How many there are; *new: one of them is the field of Valkey. */
static int freedom_idle(const bytes *b, size_t *at, int *new)
{
    static const char *const field[] = {
        "$active-time :-1 ", "$inactive :-1 ", "$pel-count :0 ",
        "$pending *0 ", "$pending :0 ", "$seen-time :", "$idle :"};
    size_t f = 0, k;
    int n = 0;

    while (f < 7) {
        k = *at;
        if (!freedom_eat(b, &k, field[f]) ||
            (f > 4 && (freedom_count(b, &k) < 0 || !freedom_eat(b, &k, " ")))) {
            f++;
            continue;
        }
        *new |= f < 2;
        *at = k;
        f = 0;
        n++;
    }
    return n;
}

/* A consumer's name, somewhere behind the head that it begins with. */
static int freedom_named(const bytes *b, size_t *at, word *name, int *new)
{
    size_t k = *at;

    if ((!freedom_eat(b, &k, "*") && !freedom_eat(b, &k, "%")) ||
        freedom_count(b, &k) < 0 || !freedom_eat(b, &k, " "))
        return 0;
    (void)freedom_idle(b, &k, new);
    if (!freedom_eat(b, &k, "$name $"))
        return 0;
    name->p = b->p + k;
    while (k < b->n && b->p[k] != ' ')
        k++;
    name->n = (size_t)(b->p + k - name->p);
    *at = k;
    return freedom_eat(b, at, " ");
}

/* A consumer that has never had an entry, of XINFO STREAM or CONSUMERS. */
static int freedom_consumer(const bytes *b, size_t *at, word *name)
{
    size_t k = *at;
    int new = 0;

    if (!freedom_named(b, &k, name, &new) ||
        freedom_idle(b, &k, &new) == 0 || !new)
        return 0;
    *at = k;
    return 1;
}

/* Behind the name of such a field, any number: a consumer is seen when it tries
 * to read or claim, with Redis when it has; and one without an entry is
 * counted. */
static void freedom_seen(const bytes *a, size_t *i, const bytes *b, size_t *k)
{
    static const char *const field[] = {"$seen-time :", "$idle :",
                                        "$consumers :"};
    size_t f, n;

    for (f = 0; f < 3; f++) {
        n = strlen(field[f]);
        if (*i < n || memcmp(a->p + *i - n, field[f], n) != 0)
            continue;
        (void)freedom_count(a, i);
        (void)freedom_count(b, k);
        return;
    }
}

/* XINFO has one field more, a time: active-time of a stream's consumers,
 * inactive of a group's. And XREADGROUP, XCLAIM and XAUTOCLAIM make a consumer
 * without an entry. All else is equal, but for the counts of fields and of
 * consumers where one more stands. A script may hand it on. */
static int freedom_xinfo(const bytes *a, const bytes *b)
{
    size_t i = 0, k = 0, start, end;
    word name, theirs;
    int new = 0;
    long times = 0, consumers = 0, more = 0, x, y;

    while (k < b->n) {
        end = i;
        if (freedom_time(b, &k) && !freedom_time(a, &end)) {
            times++;
            continue;
        }
        end = k;
        start = i;
        if (freedom_consumer(b, &end, &theirs) &&
            (!freedom_named(a, &start, &name, &new) || name.n != theirs.n ||
             memcmp(name.p, theirs.p, name.n) != 0)) {
            consumers++;
            k = end;
            continue;
        }
        if (i == a->n || a->p[i] != b->p[k])
            return 0;
        i++;
        k++;
        freedom_seen(a, &i, b, &k);
        if (a->p[i - 1] != '%' && a->p[i - 1] != '*')
            continue;
        x = freedom_count(a, &i);
        y = freedom_count(b, &k);
        if (x > y || (x < 0 && y >= 0))
            return 0;
        more += y - x;
    }
    return i == a->n && times + consumers > 0 &&
           (more == times + consumers || more == 2 * times + consumers);
}

int freedom_version(const side *other, const ask *a, const bytes *redis,
                    const bytes *reply)
{
    static bytes name;
    size_t i;

    if (strcmp(other->name, "valkey") != 0)
        return 0;
    freedom_name(&name, a);
    if (freedom_numbers(redis, reply))
        return word_is(a->argv[0], "GET") ? 2 : 1;
    if (freedom_consumers(redis, reply))
        return 2;
    if (freedom_xinfo(redis, reply))
        return 1;
    for (i = 0; i < sizeof version_rows / sizeof *version_rows; i++) {
        version *v = &version_rows[i];

        if (!bytes_glob(v->command, name.p, name.n) ||
            !bytes_glob(v->redis, redis->p, redis->n) ||
            !bytes_glob(v->valkey, reply->p, reply->n))
            continue;
        v->used++;
        return 1 + v->parts;
    }
    return 0;
}

/* Valkey deletes a key that SET gives a time in the past; Redis keeps it until
 * it is looked at. Nothing shows it at once. In a transaction the past may be
 * what is soon. SCAN does not look at a key of another type. HELLO reads all
 * options before it follows any. And a script or a transaction whose reply is
 * not heard may have ended elsewhere. */
#define FREEDOM_SOON_MS 5000

int freedom_silent(const side *other, const ask *a, int64_t now_ms,
                   int heard)
{
    int i;

    if (strcmp(other->name, "valkey") != 0)
        return 0;
    if (!heard && (word_is(a->argv[0], "MULTI") ||
                   word_is(a->argv[0], "WATCH")))
        return 1;
    if (a->argc < 4)
        return 0;
    if (!heard && a->argv[0].n > 3 &&
        strncasecmp(a->argv[0].p, "EVAL", 4) == 0)
        return 1;
    if (word_is(a->argv[0], "HELLO") && a->argc > 6)
        return 1;
    for (i = 2; word_is(a->argv[0], "SCAN") && i + 1 < a->argc; i++)
        if (word_is(a->argv[i], "TYPE"))
            return 1;
    if (!word_is(a->argv[0], "SET"))
        return 0;
    now_ms += FREEDOM_SOON_MS;
    for (i = 3; i + 1 < a->argc; i++) {
        char text[32];
        size_t n = a->argv[i + 1].n;
        int64_t at;

        if (n >= sizeof text || (!word_is(a->argv[i], "PXAT") &&
                                 !word_is(a->argv[i], "EXAT")))
            continue;
        memcpy(text, a->argv[i + 1].p, n);
        text[n] = '\0';
        at = strtoll(text, NULL, 10);
        if (at <= (word_is(a->argv[i], "EXAT") ? now_ms / 1000 : now_ms))
            return 1;
    }
    return 0;
}

/* Meets several keys at once, in the order of a hash table. */
int freedom_any_order(const ask *a)
{
    static const char *const many[] = {"SCAN", "KEYS", "RANDOMKEY", "EVAL",
        "EVALSHA", "EXEC", "FLUSHALL", "FLUSHDB", "UNSUBSCRIBE",
        "PUNSUBSCRIBE", "SUNSUBSCRIBE", "SWAPDB", NULL};
    int i;

    for (i = 0; many[i] != NULL; i++)
        if (word_is(a->argv[0], many[i]))
            return 1;
    return 0;
}

void freedom_print(FILE *f)
{
    size_t i;

    (void)fprintf(f, "freedoms used:\n");
    for (i = 0; i < sizeof freedom_rows / sizeof *freedom_rows; i++)
        (void)fprintf(f, "  %8ld  %-22s %s\n", freedom_rows[i].used,
                      freedom_rows[i].command, freedom_rows[i].why);
    (void)fprintf(f, "version differences met:\n");
    for (i = 0; i < sizeof wording_rows / sizeof *wording_rows; i++)
        (void)fprintf(f, "  %8ld  \"%s\" for \"%s\"\n", wording_rows[i].used,
                      wording_rows[i].valkey, wording_rows[i].redis);
    for (i = 0; i < sizeof version_rows / sizeof *version_rows; i++)
        (void)fprintf(f, "  %8ld  %-22s %s\n", version_rows[i].used,
                      version_rows[i].command, version_rows[i].why);
}
