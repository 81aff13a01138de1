/* SPDX-License-Identifier: MIT
 *
 * relet.h - a RESP3 client for Redis and Valkey that owns no socket.
 *
 * This header is the manual. It is in five parts:
 *
 *   1  words       spans, time, codes, faults
 *   2  values      reading a reply
 *   3  config      where to connect, with which limits
 *   4  client      submitting commands, taking events
 *   5  drivers     the seam a driver moves, and the one for POSIX
 *
 * The client is a state machine over bytes and time. You submit commands and
 * take events; a driver carries bytes. Nothing calls you back, nothing blocks
 * but relet_wait and relet_call, nothing is global. A client belongs to one
 * thread at a time; different clients share nothing.
 *
 * Ownership in one rule: what you pass in is copied before the call returns,
 * and what an event shows you is lent until the next call of relet_next,
 * relet_wait, relet_call, relet_stop, relet_tick or a relet_io_ function on
 * that client. Submitting is fine meanwhile, but relet_subscribe also ends the
 * loan of a channel's name.
 */
#ifndef RELET_H
#define RELET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RELET_VERSION "0.1.0"
#define RELET_VERSION_NUMBER 100 /* major * 10000 + minor * 100 + patch */

#ifndef RELET_API
#define RELET_API
#endif

/* ------------------------------------------------------------------ 1 words
 */

/* Bytes that somebody else owns. Any byte may occur, also NUL. */
typedef struct relet_span {
    const char *p;
    size_t n;
} relet_span;

/* The span of a NUL-terminated string. */
RELET_API relet_span relet_str(const char *text);

/* Milliseconds of a steady clock that also counts while the machine sleeps.
 * The zero is arbitrary; only differences mean something. */
typedef int64_t relet_time;
#define RELET_NEVER INT64_MAX

/* What a function that can fail returns when it does: below zero. */
enum {
    RELET_E_CONFIG = -1,  /* a setting is wrong: the fault names it          */
    RELET_E_LIMIT = -2,   /* a limit you set is reached; take events, retry  */
    RELET_E_MEMORY = -3,  /* the allocator said no; nothing was changed      */
    RELET_E_REFUSED = -4, /* this may not be sent so; relet_refusal says why */
    RELET_E_STOPPED = -5, /* the client was stopped or gave up               */
    RELET_E_TIMEOUT = -6, /* relet_call: no outcome within its time          */
    RELET_E_SYSTEM = -7,  /* the operating system refused; errno says why    */
    RELET_E_FORKED = -8   /* another process opened this client (part 5)     */
};

/* A short English name of a code, for logs. */
RELET_API const char *relet_code_text(int code);

/* A wrong setting: which, where and by which rule. `text` is a whole sentence
 * that holds the other three, ready to be printed. */
typedef struct relet_fault {
    int code;          /* RELET_E_CONFIG, _MEMORY, _SYSTEM, _FORKED        */
    const char *field; /* "url", "operations_max", … or NULL               */
    size_t offset;     /* of the first wrong byte, when field is "url"     */
    char text[256];
} relet_fault;

/* ----------------------------------------------------------------- 2 values
 *
 * A value is a cursor into a reply that the scanner has already judged: none
 * of these functions can fail on what a server sent. Asking a value for what
 * it is not gives 0, an empty span, or a null value; a null value may be
 * asked everything. Nothing here allocates, and no value needs freeing. */

typedef enum relet_type {
    RELET_NULL,    /* one type for every null a server can send           */
    RELET_TEXT,    /* bulk or simple string                               */
    RELET_FAILURE, /* error text: as a whole reply, or inside EXEC        */
    RELET_INT,
    RELET_DOUBLE,
    RELET_BOOL,
    RELET_BIG,      /* big number, as text                                 */
    RELET_VERBATIM, /* text with a three-byte format                       */
    RELET_ARRAY,
    RELET_MAP,
    RELET_SET,
    RELET_PUSH
} relet_type;

/* One node of the tape. Its layout is private and changes without notice: it
 * is here only because the functions that a walk lives in are inline. */
typedef struct relet_node {
    uint8_t kind;
    uint8_t flags;
    uint16_t spare;
    uint32_t len;
    int64_t payload;
} relet_node;

typedef struct relet_value {
    const relet_node *node; /* NULL: the null value                          */
    const char *base;       /* first byte of the reply                       */
} relet_value;

static inline relet_type relet_value_type(relet_value v);

/* The bytes of text, failure, big, verbatim (without its format) and double
 * (as sent). Anything else: an empty span whose p is NULL. */
static inline relet_span relet_value_text(relet_value v);

/* 1 and *out, when v is an integer or a text that is one (as GET returns a
 * counter); else 0 and *out untouched. */
static inline int relet_value_int(relet_value v, int64_t *out);

/* 1 and *out, when v is a double, an integer, or a text that is a number;
 * correctly rounded and independent of the locale. */
RELET_API int relet_value_double(relet_value v, double *out);

/* 1 and *out, when v is a boolean or the integer 0 or 1. */
RELET_API int relet_value_bool(relet_value v, int *out);

/* 1 when the text of v is exactly these bytes. */
RELET_API int relet_value_is(relet_value v, const char *text);

/* Elements of an array, set or push; pairs of a map; else 0. */
static inline size_t relet_value_count(relet_value v);

/* Children. A map's are key, value, key, value. Walk all of them by
 *
 *     relet_value c = relet_value_first(v);
 *     for (n = relet_value_count(v); n > 0; n--, c = relet_value_next(c))
 *
 * relet_value_at is O(1) when no child has children, else O(i). */
static inline relet_value relet_value_first(relet_value v);
static inline relet_value relet_value_next(relet_value v);
RELET_API relet_value relet_value_at(relet_value v, size_t i);

/* The value behind a key, in a map or in a flat array of pairs (which is how
 * RESP2 and scripts send one). Null when there is none. */
RELET_API relet_value relet_value_get(relet_value v, const char *key);

/* What the server said about v: a map, or null when it said nothing. */
RELET_API relet_value relet_value_attributes(relet_value v);

/* The three bytes of a verbatim's format; else an empty span. */
RELET_API relet_span relet_value_format(relet_value v);

/* 1 for a big number that is not one: servers do not check what scripts
 * return. */
RELET_API int relet_value_malformed(relet_value v);

/* Keep a value beyond its loan: ask for the size, bring the memory (aligned
 * for int64_t), get a copy that lives there. A null value if size is short. */
RELET_API size_t relet_value_size(relet_value v);
RELET_API relet_value relet_value_copy(relet_value v, void *mem, size_t size);

/* For an error: 1 when its text proves that the command had no effect
 * (MOVED, LOADING, NOPERM, wrong arity, …). 0 proves nothing. */
RELET_API int relet_value_proves_no_effect(relet_value v);

/* ----------------------------------------------------------------- 3 config
 *
 * Fill one with relet_config_init, then by a URL, by the environment, by hand,
 * in any order. It holds no pointer but the allocator's: copy it freely. */

typedef enum relet_scheme {
    RELET_TCP,      /* redis://  valkey://                                  */
    RELET_TLS,      /* rediss:// valkeys://   needs a transport (part 5)    */
    RELET_UNIX,     /* unix:     host is a path; a leading @: abstract      */
    RELET_SENTINEL, /* sentinel://h1:p,h2/service    not built yet          */
    RELET_CLUSTER,  /* cluster://h1:p,h2             not built yet          */
    RELET_MEM,      /* mem: mem:name  no server: relet_local.h answers      */
    RELET_FILE      /* file:path      the same, and it is still there later */
} relet_scheme;

/* What is written to a file: is safe before it is answered, or within a second,
 * or when the system gets to it (relet_local.h). */
typedef enum relet_fsync {
    RELET_FSYNC_ALWAYS,
    RELET_FSYNC_EVERYSEC,
    RELET_FSYNC_NEVER
} relet_fsync;

/* CLIENT TRACKING: the server pushes RELET_INVALIDATE for keys that this
 * connection read and somebody changed. */
typedef enum relet_tracking {
    RELET_TRACK_OFF,
    RELET_TRACK_READ,      /* every key read                                */
    RELET_TRACK_OPTIN,     /* only reads submitted with RELET_CACHED        */
    RELET_TRACK_BROADCAST  /* every key under tracking_prefix               */
} relet_tracking;

/* Resize p from old_size to new_size bytes, as realloc: p is NULL when
 * old_size is 0; new_size 0 frees and its return is ignored. NULL: no memory,
 * and p is as it was. Aligned for any object. */
typedef void *relet_resize_fn(void *user, void *p, size_t old_size,
                              size_t new_size);

typedef struct relet_config {
    /* Where. */
    relet_scheme scheme;
    char host[1024];   /* name, address, path, or list of host:port          */
    int port;          /* 1..65535                                           */
    char service[128]; /* what the Sentinels call the primary                */

    /* As whom. An empty password: no AUTH is sent. Then what is set up. */
    char user[256];
    char password[4096];
    char name[64]; /* CLIENT SETNAME; no blanks                              */
    int db;        /* SELECT, 0 is not sent                                  */
    relet_tracking tracking;
    int tracking_noloop;       /* not for keys this client changed itself     */
    char tracking_prefix[256]; /* comma-separated, for RELET_TRACK_BROADCAST  */
    char prefix[64]; /* in front of the keys the library makes               */
    relet_fsync fsync; /* for RELET_FILE                                      */

    /* How long. Milliseconds. */
    relet_time connect_timeout_ms; /* look-up, connect, TLS and handshake     */
    relet_time timeout_ms;    /* an operation's, unless it brings its own     */
    relet_time ping_every_ms; /* a link silent this long is asked; 0: never   */
    relet_time retry_min_ms;  /* backoff: full jitter under a bound that      */
    relet_time retry_max_ms;  /* doubles from min to max, …                   */
    relet_time stable_ms;     /* … and starts again after a link lived so long*/
    int attempts_max;         /* failed attempts before giving up; 0: never   */
    int fail_fast;            /* 1: refuse operations while there is no link  */

    /* How much. Beyond one of these an operation is refused, or ends with an
     * error and RELET_WHY_TOO_LARGE; the link lives on. */
    uint32_t operations_max;    /* operations without an outcome              */
    uint32_t subscriptions_max; /* channels and patterns                      */
    uint32_t scripts_max;       /* bodies given to relet_script_add           */
    uint32_t leases_max;        /* leases at a time; some 800 bytes each      */
    uint32_t workers_max;       /* workers at a time; some 1 KB each, and
                                 * 24 KB for the first, also to put jobs      */
    uint32_t jobs_max;          /* jobs that each has room for; 100 bytes each */
    size_t output_max;          /* bytes queued, or kept to be repeated       */
    size_t reply_max;           /* bytes of one reply on the wire             */
    size_t tape_max;            /* bytes of one reply's tape: 16 per element  */
    uint32_t bulk_max;          /* bytes of one string, ≤ 512 MiB             */
    uint32_t line_max;          /* bytes of one simple string or error        */
    uint32_t count_max;         /* elements of one aggregate                  */
    uint32_t depth_max;         /* nesting, ≤ 128                             */
    size_t buffer_min;          /* what the input and output buffers start at */

    /* From where. resize NULL: buffers are part of the block that relet_init
     * is given, at their caps, and nothing ever allocates. */
    relet_resize_fn *resize;
    void *resize_user;

    uint64_t seed; /* for jitter; equal seeds, equal behaviour               */
} relet_config;

/* The defaults: localhost:6379, database 0, limits for a server process.
 * relet_config_init_small: the smallest that is useful, about 8 KiB a client
 * with fixed buffers. The stack comes on top: no call takes more than 4 KiB of
 * it. README has the figures as measured. */
RELET_API void relet_config_init(relet_config *c);
RELET_API void relet_config_init_small(relet_config *c);

/* Take over what a URL says; the rest of *c stays.
 *
 *   redis://[[user]:password@]host[:port][/db][?option=value&…]
 *   rediss:// valkey:// valkeys://   the same
 *   unix://[[user]:password@]/path[?db=N&…]    unix:/path
 *   sentinel://[[user]:password@]host[:port][,host[:port]…]/service[/db]
 *   cluster://[[user]:password@]host[:port][,…]
 *   mem:  mem:name  file:path[?fsync=always|everysec|never]
 *
 * IPv6 addresses stand in brackets. Parts are percent-decoded. Options: db,
 * name, prefix, timeout_ms, connect_timeout_ms, ping_every_ms, retry_min_ms,
 * retry_max_ms, attempts_max, fail_fast, tracking (off, read, optin,
 * broadcast). Strict: an unknown scheme or option, a repeated one, an empty
 * host, a port over 65535, a control byte or a bad escape is refused; then *c
 * is untouched and *fault (may be NULL) tells the offset. 0 or a code. */
RELET_API int relet_config_url(relet_config *c, const char *url,
                               relet_fault *fault);

/* Take over what the environment says. Each variable is looked up under the
 * scope and then without it, so relet_config_env(c, "MUTEX_", …) reads
 * MUTEX_REDIS_URL and falls back to REDIS_URL; scoped beats generic, and a
 * Sentinel beats a host, beats a URL, of the same scope. Variables:
 *
 *   REDIS_URL  REDIS_HOST REDIS_PORT  REDIS_DB  REDIS_USERNAME
 *   REDIS_PASSWORD  REDIS_PREFIX
 *   REDIS_SENTINEL_HOST REDIS_SENTINEL_PORT REDIS_SENTINEL_NAME
 *
 * None of them set is no error: *c stays as it is. `get` is getenv or a stand-
 * in: it returns NULL for what is not set. It is asked for each more than once,
 * and returns the same each time. */
typedef const char *relet_env_fn(void *user, const char *name);
RELET_API int relet_config_env_from(relet_config *c, const char *scope,
                                    relet_env_fn *get, void *user,
                                    relet_fault *fault);

/* Check every rule between settings. relet_init does this too. */
RELET_API int relet_config_check(const relet_config *c, relet_fault *fault);

/* Overwrite the password. */
RELET_API void relet_config_wipe(relet_config *c);

/* ----------------------------------------------------------------- 4 client
 *
 * Programs on POSIX begin with relet_open (part 5) and skip to relet_command.
 *
 * Every operation that was accepted ends in exactly one of four events:
 *
 *   RELET_REPLY     the server's answer
 *   RELET_ERROR     the server's error, or an answer over a limit of yours
 *   RELET_NOT_SENT  it had no effect and never will
 *   RELET_UNSURE    it was sent and no answer came: it may have run, may run
 *                   yet, may never; ask the server in a way that can tell
 *
 * Nothing is ever sent twice, but what you marked RELET_REPEATABLE, and a
 * script call whose server said that it did not know the script. While there
 * is no link operations wait for one, until their time is up.
 *
 * Outcomes come in the order of submission, but for operations that ended
 * early (time up, cancelled) or were sent again. */

typedef struct relet relet;

/* Bytes that relet_init wants; 0 when the configuration is wrong. */
RELET_API size_t relet_size(const relet_config *c);

/* A client in memory that you bring, aligned for any object; the memory must
 * outlive it and may not move. It begins connecting at the first tick. NULL
 * and a fault (may be NULL) when the configuration is wrong or size short. */
RELET_API relet *relet_init(void *mem, size_t size, const relet_config *c,
                            relet_fault *fault);

/* End every operation (NOT_SENT or UNSURE, RELET_WHY_STOPPED) and ask the
 * driver to close the link. Take events until there are none, to learn of
 * each. Final: a stopped client refuses everything but relet_finish. */
RELET_API void relet_stop(relet *r);

/* Free what grew and overwrite secrets. No event follows. */
RELET_API void relet_finish(relet *r);

enum {
    /* May be sent again after a broken link, or after LOADING, BUSY or
     * MASTERDOWN: running twice does the same as running once. */
    RELET_REPEATABLE = 1,
    /* CLIENT CACHING YES directly in front. For relet_command and
     * relet_script_run with RELET_TRACK_OPTIN; RELET_E_REFUSED without, for then
     * nothing would invalidate what was read. A reply comes only if the server
     * took both; when it refused CACHING the outcome is RELET_ERROR with
     * RELET_WHY_REFUSED, and no value. */
    RELET_CACHED = 2
};

/* A cache of what was read with tracking. Take events before each look into it
 * (relet_wait with 0), and forget
 *
 *   at RELET_INVALIDATE  the keys in the array `value`; all, if it is null
 *   at RELET_GAP         everything
 *
 * GAP comes directly behind the DOWN that ends a link, before the outcomes that
 * this ends, and again behind the UP of the next link: nothing can be read into
 * a cache in between, but messages may have been missed. While there is no link
 * a cache is empty. Which DOWN brings a GAP:
 *
 *   DOWN: why                      the link had been UP    it had not
 *   -----------------------------  ----------------------  ------------------
 *   CLOSED, PROTOCOL, BROKEN,      GAP                     none (1)
 *     MEMORY, STOPPED
 *   SILENT                         GAP (2)                 none (1)
 *   CONNECT, AUTH, NO_RESP3,       does not occur          none (1)
 *     SETUP
 *   BUSY                           does not occur (3)      none: the link stays
 *
 * (1) The GAP came when the last link ended that had been UP. But a subscription
 *     that RELET_SUBSCRIBED had told of before UP is lost with a GAP.
 * (2) A server that hangs, or a network that is cut, is noticed after
 *     ping_every_ms + timeout_ms of silence at the latest, and for so long a
 *     cache may be stale without a word. With ping_every_ms 0 and no command
 *     under way it is never noticed: a cache needs pings.
 * (3) BUSY, LOADING or MASTERDOWN as the answer to a command pauses writing. The
 *     link stays UP and invalidations go on.
 *
 * The last DOWN of a client that gave up, whose retry_in_ms is RELET_NEVER, is
 * none but these. relet_call and relet_put_wait drop events that are no outcome,
 * INVALIDATE and GAP among them: not for a client with a cache. */

typedef struct relet_request {
    uint64_t tag;          /* comes back in the event; any number            */
    relet_time timeout_ms; /* 0: the configured one; RELET_NEVER: none. It
                            * counts from the first tick after submission    */
    unsigned flags;
} relet_request;

/* Submit one command. q may be NULL (tag 0, no flags). 0, or a code and then
 * nothing was queued and no event will come:
 *   RELET_E_LIMIT    operations_max or output_max; take events, then again
 *   RELET_E_REFUSED  by a rule that relet_refusal names: an empty command;
 *                    SUBSCRIBE and its family, MULTI, EXEC, DISCARD, HELLO,
 *                    AUTH, SELECT, RESET, QUIT, MONITOR, SYNC, PSYNC,
 *                    REPLCONF, CLIENT REPLY, CLIENT TRACKING, CLIENT CACHING, because
 *                    they would change what later answers mean; what is there
 *                    instead is said in the text; fail_fast without a link
 *   RELET_E_MEMORY, RELET_E_STOPPED */
RELET_API int relet_command(relet *r, const relet_span *argv, size_t argc,
                            const relet_request *q);

/* The same from strings: relet_command_text(r, NULL, "SET", "k", "v",
 * (char *)NULL). At most 64. */
RELET_API int relet_command_text(relet *r, const relet_request *q, ...);

typedef struct relet_args {
    const relet_span *argv;
    size_t argc;
} relet_args;

/* MULTI, the commands, EXEC, as one operation that nothing comes between. The
 * reply is EXEC's: an array, or null when a watched key was changed. When the
 * server refuses one of the commands the outcome is RELET_ERROR with the first
 * refusal, and none of them ran. Refused here: what relet_command refuses, and
 * WATCH.
 *
 * WATCH goes by relet_command before. If the link breaks between it and its
 * transaction, the transaction is not sent: RELET_E_REFUSED when it is
 * submitted later, RELET_NOT_SENT with RELET_WHY_WATCH_LOST when it was
 * queued already. So it is when the WATCH ends NOT_SENT, also one of several;
 * and when the server refuses the WATCH, or its answer cannot be read, before
 * the first byte of the transaction is sent: one that is sent by then runs
 * unguarded. Wait for the answer to WATCH if that may not be. UNWATCH, or the
 * transaction, ends the watch; one that is not sent does not: other WATCHes
 * before it stay in force until UNWATCH, another transaction or the end of the
 * link. WATCH and UNWATCH are never sent again, nor is any transaction behind a
 * WATCH for another: with RELET_REPEATABLE, too, BUSY and LOADING are told. */
RELET_API int relet_transaction(relet *r, const relet_args *commands,
                                size_t count, const relet_request *q);

/* A script that the client may run: its number, or a code. The body is not
 * copied and must outlive the client. */
RELET_API int relet_script_add(relet *r, relet_span body);

/* Run it: keys first in argv, then arguments. Sent whole the first time over
 * a link, then by its SHA-1; NOSCRIPT is answered by sending that one call
 * whole, which then runs behind what was submitted after it. */
RELET_API int relet_script_run(relet *r, int script, size_t keys,
                               const relet_span *argv, size_t argc,
                               const relet_request *q);

/* End the operations with this tag now: NOT_SENT if no byte was sent, else
 * UNSURE, both RELET_WHY_CANCELLED; an answer that comes later is swallowed.
 * How many there were; puts that share a call with others are none of them. */
RELET_API size_t relet_cancel(relet *r, uint64_t tag);

/* Wish for messages. A wish holds until it is taken back: it is restored on
 * every new link. RELET_SUBSCRIBED tells each time that it is in force,
 * RELET_SUBSCRIPTION_REFUSED that the server will not have it (then it is
 * forgotten), RELET_UNSUBSCRIBED that no more messages come of it. What is in
 * force is so until RELET_DOWN, but not one with RELET_WHY_BUSY: then the link
 * did not break, messages go on coming, and the next UP brings no new
 * SUBSCRIBED of it. Wishing twice is wishing once. 0 or RELET_E_LIMIT,
 * _MEMORY, _STOPPED, _REFUSED (an empty name; unsubscribing from what was
 * never wished for). */
typedef enum relet_channel {
    RELET_CHANNEL, /* SUBSCRIBE   */
    RELET_PATTERN, /* PSUBSCRIBE  */
    RELET_SHARDED  /* SSUBSCRIBE  */
} relet_channel;
RELET_API int relet_subscribe(relet *r, relet_channel kind, relet_span name);
RELET_API int relet_unsubscribe(relet *r, relet_channel kind,
                                relet_span name);

/* A lease: one key that is held for a while, and renewed for as long as it is
 * wanted. Whoever holds it leads; followers wait until it is free.
 *
 *     int l = relet_lease_start(r, &config);
 *     …
 *     case RELET_LEASE_GAINED: begin the work, pass ev.token along; break;
 *     case RELET_LEASE_LOST:   stop it; relet_lease_stopped(r, l); break;
 *
 * GAINED and LOST alternate; ENDED is the last event of a lease. What counts
 * is not that an event came but the time: look at relet_lease_valid_for before
 * each step that only one may do. It ends before the server lets another one
 * in, whatever the link, the server or this process are doing, as long as both
 * clocks run and the server forgets nothing. Where the server may forget (a
 * failover, a power cut), the token helps: a store that refuses a token lower
 * than one that it has seen cannot be harmed by who was paused or forgotten.
 *
 * The key holds the owner's name and nothing else, so that programs compete
 * correctly which take it by SET NX PX and compare before they touch it. Beside
 * it there are {key}:fence, which is never deleted, for it counts the tokens:
 * 170 bytes for each name that was ever leased, 270 with a quarantine (Redis
 * 7.0), so names are not to be made up for each use; and {key}:sleepers; without
 * more braces when the key has a hash tag, as
 * app:{x} has. A key that is a hash tag alone, or has a } but no hash tag, is
 * refused. An ACL must allow the three, the channel PREFIX:wake:*, and the
 * commands of the scripts.
 *
 * Commands that block or answer slowly hold up renewals on the same link: give
 * them a client of their own. And a holder does not wait for pings to find that
 * a link is dead: when nothing at all has come for a third of ttl_ms (a second
 * at least) though a renewal is due, the link is left for another one, while
 * there is time: RELET_DOWN with RELET_WHY_SILENT, and commands end as over any
 * broken link. A renewal that waits behind a command whose own time is not up
 * is not counted as due. */
typedef struct relet_lease_config {
    relet_span name;  /* the key is PREFIX:leader:name, or PREFIX:lock:name  */
    relet_span key;   /* … or this one; together at most 255 bytes           */
    relet_span label; /* in front of the owner's name, for people            */
    uint64_t tag;     /* comes back in its events                            */
    /* Milliseconds. 0 is the default. */
    relet_time ttl_ms;   /* 10 s; without a renewal it ends then             */
    relet_time renew_ms; /* a third of ttl_ms, and no more than that         */
    relet_time retry_ms; /* ttl_ms; a follower asks at least this often, and
                          * earlier when it is woken or the lease ends       */
    relet_time wait_ms;  /* for ever; then it ends, if it was never gained.
                          * It counts from the first tick after the start    */
    relet_time grace_ms; /* ttl_ms; from a stop to the release, unasked      */
    int once;  /* a lock: it ends when it is lost, and is not asked for again */
    int alone; /* no election: gained at once, without a server, token 0     */
    /* Leases of one group, if it is not 0, are asked for one after the other,
     * in the order of their keys, and one that is lost takes those behind it
     * along. So clients that need several at a time cannot block each other. */
    uint32_t group;
    /* A grant or renewal counts once so many replicas have it, and with fsync
     * once it is on the primary's disk and on theirs (WAIT, WAITAOF; these
     * hold up the link for replicas_ms at most, a tenth of ttl_ms). */
    uint32_t replicas;
    int fsync;
    relet_time replicas_ms;
    /* After a failover, also one back to a server that was the master before, a
     * restart, and before the first grant of all, nobody is granted the lease
     * for so long: what an earlier server granted has then ended. It goes by
     * the run id and the replication id of INFO, so it comes also when a server
     * gets its first replica, or has been without any for long enough to forget
     * its replication backlog. 0: no such pause. Needs INFO. */
    relet_time quarantine_ms;
} relet_lease_config;

/* Begin to ask. Its number, from 0 on; or RELET_E_LIMIT (leases_max),
 * RELET_E_CONFIG (relet_refusal says which rule), RELET_E_STOPPED. Everything
 * is copied. Owners' names are made from the configuration's seed: two clients
 * that share a server may not have the same one. */
RELET_API int relet_lease_start(relet *r, const relet_lease_config *c);

/* Leave. A follower just leaves. A leader hears LOST, and the lease is renewed
 * until the work is said to have stopped, or grace_ms have passed; then it is
 * released, which wakes one follower, and ENDED. Without a link to release it
 * over, ENDED comes once it may not be acted on any more in any case: ttl_ms
 * behind the last request, at the latest. 0 or RELET_E_REFUSED. */
RELET_API int relet_lease_stop(relet *r, int lease);

/* The work has stopped. After a LOST: behind a relet_lease_stop this releases
 * the lease; for another reason there is nothing to release, it changes nothing,
 * and it is fine not to call it. Or instead of relet_lease_stop, of a leader
 * that has no work any more. 0 or RELET_E_REFUSED. */
RELET_API int relet_lease_stopped(relet *r, int lease);

/* For how many milliseconds from `now` it may be acted on, 0 when it may not;
 * `now` is relet_clock, or whatever clock tick is told. RELET_NEVER: alone. */
RELET_API relet_time relet_lease_valid_for(const relet *r, int lease,
                                           relet_time now);

/* The fencing token: higher than that of each grant before; 0: not held. */
RELET_API uint64_t relet_lease_token(const relet *r, int lease);

/* A job, as it is put and as it is claimed. All 0 but for the payload is a
 * plain job, and takes the least memory. */
typedef enum relet_backoff {
    RELET_BACKOFF_EXPONENTIAL, /* backoff_ms, twice that, four times …       */
    RELET_BACKOFF_LINEAR,      /* backoff_ms, twice that, three times …      */
    RELET_BACKOFF_FIXED
} relet_backoff;

typedef struct relet_job {
    relet_span payload; /* any bytes                                         */
    relet_span id;      /* of yours: no second job of this id is put while
                         * there is one. At most 255 bytes                   */
    relet_span type;    /* at most 255 bytes                                 */
    int rank; /* -1000..1000: stands in front of what was put up to 1000 *
               * rank jobs earlier, and of nothing else; but not of those that
               * waited when a queue saw its first rank                      */
    relet_time delay_ms;    /* before it waits                               */
    uint32_t attempts;      /* how often it may be tried; 0: 3               */
    relet_backoff backoff;  /* between attempts: up to so long, by chance, so
                             * that what failed together is not tried together;
                             * FIXED: exactly so long                        */
    relet_time backoff_ms;  /* 0: 1 s                                        */
    relet_time backoff_max_ms; /* 0: 1 hour                                  */
    relet_time timeout_ms;  /* of one attempt, which then hears JOB_CANCEL;
                             * 0: none                                       */
    relet_time deadline_ms; /* from the put, to a second; what nobody has begun
                             * by then is dead; 0: none                      */
    relet_time keep_ms;     /* its result, after it is done; 0: nothing      */
    relet_span reply_to;    /* a channel that hears of its end               */
} relet_job;

/* Where a job is on the server. */
typedef enum relet_place {
    RELET_NOWHERE, /* there is no such job; or all places                    */
    RELET_WAITING,
    RELET_RANKED,  /* those that wait and have a rank: only listed apart     */
    RELET_DELAYED, /* waits until at_ms                                      */
    RELET_LEASED,  /* until at_ms, without a renewal                         */
    RELET_DONE,    /* and kept until at_ms                                   */
    RELET_DEAD     /* since at_ms                                            */
} relet_place;

/* Put jobs into a queue, all of them or none: at most 128 plain ones, or 16 of
 * which some are not plain. waiting_max: refuse when more would wait, or, with
 * one that is not plain, wait or be delayed; 0: never. One that was cancelled
 * does not count. Plain ones that are put one after the other, with
 * the same time-out and no waiting_max, go out in one call of the server as long
 * as no byte of it was sent; then relet_cancel ends none of them.
 * The outcome is that of a script: a RELET_REPLY for relet_put_number, or a
 * RELET_ERROR whose text begins with FULL, CLOSED, VERSION or a word of the
 * server's. It is repeated over the next link when one breaks, and put once. Its
 * time is up after 50 minutes at the latest, also with RELET_NEVER: the queue may
 * forget an hour later what a client put last, and a repeat would put it twice.
 * 0, or RELET_E_LIMIT, _MEMORY, _REFUSED, _STOPPED. */
RELET_API int relet_put(relet *r, relet_span queue, const relet_job *jobs,
                        size_t count, uint32_t waiting_max,
                        const relet_request *q);

/* What became of the i-th of them: 1 and its number; 2 and the number of the
 * job that has its id already; 0: v says nothing of it. */
RELET_API int relet_put_number(relet_value v, size_t i, uint64_t *number);

/* Where that other one was: RELET_WAITING, also for its time; _LEASED, _DONE;
 * of relet_put_unique also _DEAD, and RELET_NOWHERE when it is gone and its
 * window has not closed. Without another one: RELET_NOWHERE. */
RELET_API relet_place relet_put_twin(relet_value v, size_t i);

/* A job that another one of its id may stand in for. It has an id, and a plain
 * relet_put of that id is put when nothing of it is left. Otherwise as a put of
 * one job; waiting_max is for one that would be another. */
typedef enum relet_unique {
    RELET_THROTTLE, /* one in each window_ms, which begins with the put      */
    RELET_EXTEND,   /* the same, and whoever comes meanwhile begins it anew  */
    RELET_REPLACE,  /* the one that is there gets this payload, unless it was
                     * begun                                                 */
    RELET_DEBOUNCE  /* and waits for delay_ms once more; behind one that was
                     * begun there is another one                            */
} relet_unique;
RELET_API int relet_put_unique(relet *r, relet_span queue, const relet_job *job,
                               relet_unique mode, relet_time window_ms,
                               uint32_t waiting_max, const relet_request *q);

/* A worker claims jobs of a queue, as many as it has room for, and renews
 * their leases until each has ended. It asks for no more at a time than
 * reply_max, bulk_max, tape_max and count_max let in; what is over them alone
 * never comes, and is dead when it has stalled too often.
 *
 *     case RELET_JOBS:
 *         while (relet_jobs_next(r, &ev, &at, &work)) begin work.job;
 *     …
 *     relet_job_done(r, worker, work.number, result);
 *
 * Begin no step that only one may do without relet_job_valid_for; pass the
 * token along to whatever can refuse a lower one. Each job that was told ends
 * by exactly one of relet_job_done, _fail, _release, also when it was lost. */
typedef struct relet_worker_config {
    relet_span queue;
    relet_span label; /* in front of its name, for people                    */
    uint64_t tag;     /* comes back in its events                            */
    uint32_t room;    /* jobs at a time; 0: 1. With one more than there are
                       * handlers the next is here when one ends; those that
                       * nobody began are to be released at its stop         */
    relet_span type;  /* jobs of this type alone, oldest first; empty: any.
                       * It looks through all that waits, some at a time. From
                       * the first such worker on a job that waits takes some
                       * 100 bytes more                                      */
    /* Milliseconds. 0 is the default. */
    relet_time lease_ms; /* 30 s; without a renewal a job is relet then      */
    relet_time renew_ms; /* a third of lease_ms, and no more than that       */
    relet_time poll_ms;  /* 30 s; how long it sleeps when nobody wakes it    */
    relet_time run_ms;   /* 1 day; longer than that no lease is renewed      */
    relet_time reap_ms;  /* lease_ms; how often it looks for jobs of workers
                          * that are gone. RELET_NEVER: others do            */
    uint32_t stalls_max; /* how often that may happen to a job, which then is
                          * dead; 0: 2                                       */
    /* At four times reap_ms it also trims: results go whose time is over, and
     * dead jobs after dead_ms (0: 30 days, RELET_NEVER: for ever), the oldest
     * also when there are more than dead_max (0: 100000). At 120 times reap_ms,
     * which is an hour, one worker of the queue looks for what the server
     * remembers of clients, up to four times 100 bytes for each: that of one
     * that does nothing goes an hour after it was found. */
    relet_time dead_ms;
    uint32_t dead_max;
    /* Workers of one team, if it is not 0, have together as many jobs as the
     * largest of them has room for. While several of their queues have work
     * they share it by weight (0: 1), by turns where it is too small to have
     * it level at a time; one that is alone has it all. */
    uint32_t team, weight;
} relet_worker_config;

typedef struct relet_work {
    relet_job job;
    uint64_t number, token;
    uint64_t put_s;   /* seconds since 1970, by the server                   */
    uint32_t attempt; /* from 1 on                                           */
    uint32_t stalls, replays;
} relet_work;

/* Its number, from 0 on; or RELET_E_LIMIT (workers_max, jobs_max),
 * RELET_E_CONFIG (relet_refusal says which rule), RELET_E_STOPPED. */
RELET_API int relet_worker_start(relet *r, const relet_worker_config *c);

/* Claim no more. RELET_WORKER_ENDED comes when all it holds has ended. */
RELET_API int relet_worker_stop(relet *r, int worker);

/* The jobs that RELET_JOBS brought, one after the other; *at begins with 0.
 * Lent like the event. 1, or 0: there are no more. */
struct relet_event;
RELET_API int relet_jobs_next(const relet *r, const struct relet_event *ev,
                              size_t *at, relet_work *out);

/* For how many milliseconds from `now` the job may be worked on. */
RELET_API relet_time relet_job_valid_for(const relet *r, int worker,
                                         uint64_t number, relet_time now);

/* How a job ends. 0, RELET_E_LIMIT, _MEMORY: try again; RELET_E_REFUSED: it is
 * not here, or this would never go out, and relet_refusal says which. A job that
 * was lost is forgotten; a JOB_LOST comes for one of which the server says that
 * it was too late. */
typedef enum relet_verdict {
    RELET_RETRY,  /* later, while attempts are left; then it is dead         */
    RELET_SNOOZE, /* after delay_ms, and the attempt does not count          */
    RELET_BURY    /* never: it is dead                                       */
} relet_verdict;

typedef struct relet_failure {
    relet_verdict verdict;
    relet_span text;
    relet_time delay_ms; /* RETRY: 0 is the job's own backoff                */
} relet_failure;

RELET_API int relet_job_done(relet *r, int worker, uint64_t number,
                             relet_span result);
RELET_API int relet_job_fail(relet *r, int worker, uint64_t number,
                             const relet_failure *f);
RELET_API int relet_job_release(relet *r, int worker, uint64_t number);

/* How far the job has come, for relet_job_look: any text. It goes over the link
 * that is up, and when there is none the next one tells more. 0, or a code. */
RELET_API int relet_job_progress(relet *r, int worker, uint64_t number,
                                 relet_span text);

/* What operators ask of a queue. Each is an operation with an outcome, and an
 * error begins with VERSION or a word of the server's; it needs workers_max.
 * What may be asked twice is, when a link breaks; relet_job_cancel and
 * relet_queue_replay and _purge only with RELET_REPEATABLE. 0 or a code as for
 * relet_put. A job is named by its number or, if that is 0, by its id. */
typedef struct relet_job_info {
    relet_work work;      /* attempt: how many were begun and not given back */
    relet_place place;
    relet_time at_ms;     /* since 1970, by the server; below 0: not known   */
    int is_cancelled;     /* and its worker is to be told                    */
    relet_span owners;    /* workers that had it, blanks between, last last  */
    relet_span progress, result, error; /* what there is; NULL: none         */
    uint64_t payload_len; /* in a list payloads and texts may be cut off     */
    uint64_t told_len;    /* of progress, result or error, whole             */
} relet_job_info;

RELET_API int relet_job_look(relet *r, relet_span queue, uint64_t number,
                             relet_span id, const relet_request *q);

/* Of a reply: 1, or 0 when it says nothing of a job. Lent as v is. */
RELET_API int relet_job_look_read(relet_value v, relet_job_info *out);

/* What is done is kept for keep_ms from now, with its result, whatever was asked
 * for before; 0: the next relet_queue_trim takes it. relet_job_look_read reads
 * of the reply where the job is, its number and, if that is RELET_DONE, at_ms;
 * a job that is elsewhere stays as it is, and is RELET_WAITING while delayed. */
RELET_API int relet_job_keep(relet *r, relet_span queue, uint64_t number,
                             relet_span id, relet_time keep_ms,
                             const relet_request *q);

/* A page of a place, from `from` on (0 at first), `most` of them (128 at most)
 * looked at. type: NULL for all. relet_job_list_read says where to go on; below
 * 0: that was all. Jobs that move meanwhile are told twice or not at all. */
RELET_API int relet_job_list(relet *r, relet_span queue, relet_place place,
                             uint64_t from, uint32_t most,
                             const relet_span *type, const relet_request *q);

/* One after the other; *at begins with 0. 1, or 0: there are no more. */
RELET_API int relet_job_list_read(relet_value v, relet_place place, size_t *at,
                                  int64_t *go_on, relet_job_info *out);

/* Not wanted any more. What does not run is gone; who works on it is told by
 * RELET_JOB_CANCEL, and when that ends, however, it does not come back. */
typedef enum relet_cancelled {
    RELET_CANCEL_NONE, /* there is no such job                               */
    RELET_CANCEL_GONE,
    RELET_CANCEL_TOLD, /* it runs                                            */
    RELET_CANCEL_OVER  /* it has ended                                       */
} relet_cancelled;
RELET_API int relet_job_cancel(relet *r, relet_span queue, uint64_t number,
                               relet_span id, const relet_request *q);
RELET_API int relet_job_cancel_read(relet_value v, relet_cancelled *out,
                                    uint64_t *number);

typedef struct relet_queue_info {
    int64_t version; /* 0: nothing was ever put                              */
    int64_t waiting, ranked, delayed, leased, done, dead; /* without those
                      * that were cancelled                                  */
    int64_t idle;    /* workers without work                                 */
    int64_t put, done_ever;
    int64_t limit;   /* of leased ones; below 0: none                        */
    int64_t is_closed, is_stopped; /* takes none; gives none out             */
    int64_t waits_s; /* the oldest, so long; below 0: none waits             */
    int64_t due_ms, lapse_ms; /* until one is due, until a lease ends; below
                      * 0: never                                             */
    int64_t server_us; /* since 1970                                         */
} relet_queue_info;
RELET_API int relet_queue_status(relet *r, relet_span queue,
                                 const relet_request *q);
RELET_API int relet_queue_status_read(relet_value v, relet_queue_info *out);

/* Dead jobs wait once more: those of these numbers, at most 128, or with count
 * 0 the oldest `most` (at most 128) behind the first `from`, unless they were
 * cancelled, or replayed so often (0: 10) before. The reply: [replayed, refused,
 * not dead, 1 if there is more]: a step looks at 1 MiB of jobs, and stops behind
 * it. What was not replayed stays, so `from` grows by those, and numbers go on
 * behind those looked at. A job keeps its id, by which another one is found that
 * has it by then. */
RELET_API int relet_queue_replay(relet *r, relet_span queue,
                                 const uint64_t *numbers, size_t count,
                                 uint64_t from, uint32_t most,
                                 uint32_t replays_max, const relet_request *q);

/* A job that is in no place gets back to its own, one at a time: what keys hold
 * that were changed by hand, or by a server that lost a part of them. A job that
 * is in its place is left alone, so that workers may be at work. lease_ms: how
 * long the worker of a job that has a lease but no place among the leased may
 * still be at work on it. The reply is a text of letters, none when all was well:
 *   y  it waits again             h  later numbers and tokens are above its own
 *   l  it is leased for lease_ms  g  there was no record, and the rest is gone
 *   d  its result is kept for an  s  its state could not be read: it is dead
 *      hour                       u  its record or numbers cannot be read:
 *   x  it is among the dead          nothing was changed                      */
RELET_API int relet_queue_repair(relet *r, relet_span queue, uint64_t number,
                                 relet_time lease_ms, const relet_request *q);

/* Jobs go, whatever they are: of a place or of all, at most 128, of long ones
 * fewer. With `force` also leased ones, whose workers lose them; else, if there
 * are any where it is to purge, the error is LEASED. The reply: [gone, 1 if there
 * is more]. */
RELET_API int relet_queue_purge(relet *r, relet_span queue, relet_place place,
                                uint32_t most, int force,
                                const relet_request *q);

/* What workers do in between, for queues of which nobody sees to it. Jobs whose
 * leases have ended are relet, at most 128; those that stall more often than
 * that are dead. Behind a restart or a failover nothing is taken for hold_off_ms:
 * workers have to be able to renew first.
 * [relet, dead, ms until there may be more or -1, ms of its clock] */
RELET_API int relet_queue_reap(relet *r, relet_span queue, uint32_t most,
                               uint32_t stalls_max, relet_time hold_off_ms,
                               const relet_request *q);

/* Jobs that are due begin to wait, at most 128.
 * [how many, ms until the next one or -1] */
RELET_API int relet_queue_promote(relet *r, relet_span queue, uint32_t most,
                                  const relet_request *q);

/* Done and dead ones go, at most 128: the oldest beyond so many, those done
 * whose time is over, those dead for dead_ms (0: never).
 * [gone, 1 if there is more] */
RELET_API int relet_queue_trim(relet *r, relet_span queue, uint64_t done_max,
                               uint64_t dead_max, relet_time dead_ms,
                               uint32_t most, const relet_request *q);

/* What was remembered of clients that are gone for hours, and windows that have
 * closed, some 100 at a time. The reply: where to go on, "" at first and at the
 * end. Seldom is enough. */
RELET_API int relet_queue_forget(relet *r, relet_span queue, relet_span from,
                                 const relet_request *q);

/* The most jobs that may be leased at a time; 0: any number. */
RELET_API int relet_queue_limit(relet *r, relet_span queue, uint32_t limit,
                                const relet_request *q);

/* A queue that takes no jobs (RELET_IN), gives none out (RELET_OUT), or both;
 * and does so again. What runs goes on. */
#define RELET_IN 1
#define RELET_OUT 2
RELET_API int relet_queue_pause(relet *r, relet_span queue, int gates,
                                const relet_request *q);
RELET_API int relet_queue_resume(relet *r, relet_span queue, int gates,
                                 const relet_request *q);

/* Credentials for the next connect and those after it, as tokens that expire
 * want it. 0; RELET_E_CONFIG when they would not fit the configuration's
 * fields; or RELET_E_MEMORY and the old ones stay (without an allocator, what
 * is longer than the first credentials and than 96 bytes has no room). */
RELET_API int relet_credentials(relet *r, relet_span user,
                                relet_span password);

/* Which rule the last RELET_E_REFUSED of this client was. */
RELET_API const char *relet_refusal(const relet *r);

typedef enum relet_kind {
    RELET_NOTHING,
    /* outcomes: tag */
    RELET_REPLY,    /* value                                                 */
    RELET_ERROR,    /* value (null if there is a why), text, why             */
    RELET_NOT_SENT, /* why, text                                             */
    RELET_UNSURE,   /* why, text                                             */
    /* the link */
    RELET_UP,   /* ready; text: "redis 7.0.15"                               */
    RELET_DOWN, /* why, text, retry_in_ms (RELET_NEVER: gave up or stopped)  */
    /* messages */
    RELET_SUBSCRIBED,           /* channel_kind, channel                     */
    RELET_UNSUBSCRIBED,         /* channel_kind, channel                     */
    RELET_SUBSCRIPTION_REFUSED, /* channel_kind, channel, text               */
    RELET_MESSAGE,    /* channel_kind, channel, pattern, value: the payload  */
    RELET_INVALIDATE, /* value: array of keys, or null: all of them          */
    RELET_GAP,        /* messages or invalidations may be missed: flush a cache
                       * (see RELET_CACHED). channel: which; empty: all. why,
                       * text: those of the DOWN before it; else NONE        */
    RELET_PUSHED,     /* a push nobody here knows; value                     */
    /* leases: tag, lease, did_wait */
    RELET_LEASE_GAINED,  /* term, token: the work may begin                  */
    RELET_LEASE_LOST,    /* term, token, why, text: the work must stop       */
    RELET_LEASE_TROUBLE, /* why, text: it cannot be had, and is tried again  */
    RELET_LEASE_ENDED,   /* why: no more is told of it, its number is free   */
    /* workers: tag, lease: the worker's number */
    RELET_JOBS,          /* value, for relet_jobs_next                       */
    RELET_JOB_CANCEL,    /* term, token: the job of this number is not wanted
                          * any more; why TIMEOUT: or has taken too long. Its
                          * lease is then not renewed any more               */
    RELET_JOB_LOST,      /* term, token, why: the work must stop, or came too
                          * late                                             */
    RELET_WORKER_TROUBLE, /* why, text: the server refuses a step of it, which
                           * is tried again; told once until it succeeds     */
    RELET_WORKER_ENDED   /* no more is told of it, its number is free        */
} relet_kind;

typedef enum relet_why {
    RELET_WHY_NONE,
    RELET_WHY_TIMEOUT,    /* the operation's time was up                     */
    RELET_WHY_CANCELLED,  /* relet_cancel                                    */
    RELET_WHY_BROKEN,     /* the link broke                                  */
    RELET_WHY_STOPPED,    /* relet_stop                                      */
    RELET_WHY_GAVE_UP,    /* attempts_max                                    */
    RELET_WHY_WATCH_LOST, /* the WATCH, or the link that held it, is gone    */
    RELET_WHY_TOO_LARGE,  /* reply_max, bulk_max, line_max, count_max, …     */
    RELET_WHY_MEMORY,     /* the allocator said no                           */
    RELET_WHY_CONNECT,    /* no connection; errno of the driver in the text  */
    RELET_WHY_CLOSED,     /* the server closed; its last words in the text   */
    RELET_WHY_SILENT,     /* no byte, though an answer was due               */
    RELET_WHY_PROTOCOL,   /* not RESP: at which byte, and why                */
    RELET_WHY_NO_RESP3,   /* HELLO 3 was refused                             */
    RELET_WHY_AUTH,       /* WRONGPASS, NOAUTH, NOPERM: retried slowly       */
    RELET_WHY_SETUP,      /* SELECT or another step was refused              */
    RELET_WHY_BUSY,       /* LOADING, BUSY, MASTERDOWN for too long          */
    /* of leases; besides, _STOPPED, _TIMEOUT (wait_ms), _GAVE_UP            */
    RELET_WHY_EXPIRED,    /* not renewed in time, by our clock               */
    RELET_WHY_TAKEN,      /* another one holds it                            */
    RELET_WHY_GONE,       /* somebody removed it                             */
    RELET_WHY_CLOCK,      /* the server's clock jumped, or stands still      */
    RELET_WHY_GROUP,      /* one before it in its group was lost             */
    RELET_WHY_NOT_REPLICATED, /* fewer copies than asked for                 */
    RELET_WHY_QUARANTINE, /* the server has just taken over                  */
    RELET_WHY_REFUSED     /* an error of the server's: the text; also of the
                           * CLIENT CACHING in front of a read               */
} relet_why;

typedef struct relet_event {
    relet_kind kind;
    relet_why why;
    uint64_t tag;
    relet_value value;
    relet_channel channel_kind;
    relet_span channel;
    relet_span pattern; /* the pattern that matched, for RELET_PATTERN       */
    relet_span text;    /* a sentence for people, or a server's error        */
    relet_time retry_in_ms;
    uint64_t term;  /* which GAINED of its lease this is about, from 1; or the
                     * number of a job                                       */
    uint64_t token; /* the fencing token                                     */
    int lease;      /* its number                                            */
    int did_wait;   /* it was not free when it was first asked for           */
} relet_event;

/* Lends the next event. 1, or 0 when there is nothing to tell. */
RELET_API int relet_next(relet *r, relet_event *ev);

/* English names of the enumerators: "reply", "timeout". */
RELET_API const char *relet_kind_text(relet_kind kind);
RELET_API const char *relet_why_text(relet_why why);

/* Operations without an outcome yet. */
RELET_API size_t relet_outstanding(const relet *r);

/* 1 while there is a link that operations may go over. */
RELET_API int relet_is_up(const relet *r);

/* What has happened so far. Counters only grow. */
typedef struct relet_stats {
    uint64_t submitted, replies, errors, not_sent, unsure; /* operations     */
    uint64_t late;         /* answers swallowed behind a timeout or cancel   */
    uint64_t repeated;     /* operations sent again                          */
    uint64_t pushes;       /* pushes received                                */
    uint64_t connects;     /* links that became ready                        */
    uint64_t attempts;     /* links that were asked for                      */
    uint64_t protocol_errors; /* links given up for RELET_WHY_PROTOCOL        */
    uint64_t bytes_in, bytes_out;
    size_t memory;         /* bytes held through resize at the moment        */
    size_t memory_peak;
} relet_stats;
RELET_API void relet_stats_get(const relet *r, relet_stats *out);

/* ---------------------------------------------------------------- 5 drivers
 *
 * The seam. A driver does, in a loop of its own making:
 *
 *     while (relet_io_want(r, &io)) open or close link io.link;
 *     write what relet_io_pending lends, say so by relet_io_sent;
 *     wait for the link, at most until relet_deadline;
 *     read into what relet_io_space lends, say so by relet_io_received;
 *     relet_tick(r, now);
 *     while (relet_next(r, &ev)) …
 *
 * Read before you tick: an answer that is here already beats a deadline. */

#define RELET_LINKS_MAX 1

typedef struct relet_io {
    int link;            /* 0..RELET_LINKS_MAX-1                             */
    int open;            /* 1: open it, 0: close it                          */
    relet_scheme scheme; /* with open: TCP, TLS, UNIX, MEM or FILE           */
    const char *host;    /* lent until relet_finish                          */
    int port;
    relet_time deadline; /* give up by then and say so by relet_io_opened    */
} relet_io;

/* When tick is next worth calling, if nothing else happens before. */
RELET_API relet_time relet_deadline(const relet *r);

/* Steady milliseconds, from 0 on; a time before the last one counts as that
 * one. */
RELET_API void relet_tick(relet *r, relet_time now);

/* 1 and *io when a link is to be opened or closed: once each, and a link is
 * closed before the next one is opened. Ask until it returns 0, and do what it
 * says, before you tell what became of a link: behind an `open`, opened and
 * closed are about the new one. A link that is closed here needs no
 * relet_io_closed. */
RELET_API int relet_io_want(relet *r, relet_io *io);

/* The link is open (err 0), or could not be opened; text (may be NULL) says
 * why, for people. */
RELET_API void relet_io_opened(relet *r, int link, int err, const char *text);

/* The link was closed or reset by the other side, or failed; all bytes that
 * could be read must have been given to relet_io_received before. */
RELET_API void relet_io_closed(relet *r, int link, int err, const char *text);

/* Lends room to read into; 0 when there is none before events are taken. */
RELET_API size_t relet_io_space(relet *r, int link, uint8_t **p);
RELET_API void relet_io_received(relet *r, int link, size_t n);

/* Lends bytes to write. Submitting may move them, and cancelling or a deadline
 * may take back what was not sent: an engine that has begun to encrypt bytes
 * has sent them, so say so at once and keep what it has not got rid of. */
RELET_API size_t relet_io_pending(const relet *r, int link,
                                  const uint8_t **p);
RELET_API void relet_io_sent(relet *r, int link, size_t n);

#ifndef RELET_NO_POLL

/* The driver for POSIX systems: sockets, poll, a clock. */

/* Another way to carry bytes, such as TLS. All calls are non-blocking.
 * open returns a session over a connected descriptor, which stays the
 * driver's, or NULL; the others take it. handshake returns 0 when done, or one
 * of the codes below; read and write return the bytes moved, 0 for the end of
 * the stream, or a code. They must never raise SIGPIPE. After READ or WRITE
 * the same call comes again when the descriptor is ready for that; a write
 * then with the same p and n, so an engine may have begun with them. */
enum {
    RELET_TRANSPORT_READ = -1,  /* wants to read first                       */
    RELET_TRANSPORT_WRITE = -2, /* wants to write first                      */
    RELET_TRANSPORT_FAILED = -3
};
typedef struct relet_transport {
    void *user;
    void *(*open)(void *user, int fd, const char *host);
    int (*handshake)(void *session);
    long (*read)(void *session, void *p, size_t n);
    long (*write)(void *session, const void *p, size_t n);
    void (*close)(void *session);
    const char *(*problem)(void *session); /* a sentence, or NULL; may be NULL;
                                            * session NULL: open's problem    */
} relet_transport;

typedef struct relet_stores relet_stores;

typedef struct relet_poll_config {
    const relet_transport *transport; /* for rediss://; must outlive          */
    int fd;              /* > 0: a connected socket for the first link       */
    int keepalive_s;     /* TCP keepalive idle time; 0: 60, below 0: none     */
    relet_stores *stores; /* what clients with mem: and file: share; NULL: a
                           * store of its own (relet_local.h)                 */
} relet_poll_config;

/* About fd: it is the client's, and closed by it, once relet_open succeeded.
 * The links after the first go where the URL says; without one they cannot be
 * opened, which RELET_DOWN tells, and the client is to be closed. With
 * rediss:// the transport runs over fd. */

/* fork. A client belongs to the process that opened it. In a child, also in one
 * of a child, each call with it is refused: functions that return a code return
 * RELET_E_FORKED, the others 0, RELET_NEVER for relet_deadline and -1 for
 * relet_poll_timeout, or do nothing; relet_refusal says why. No lease and no job
 * is valid there. Only relet_close is of use: it closes the child's descriptors
 * and frees its memory, sends nothing, and the parent notices nothing; a session
 * of a transport is left as it is, for its close would send. A child that wants
 * a client opens its own. exec closes all descriptors.
 *
 * No call asks for this: it costs a page of memory for each client, which the
 * system zeroes in a child (Linux 4.14, FreeBSD, OpenBSD). On other systems the
 * process number is compared in the calls of this part, and a child is refused
 * everything from the first of them on; what it queued before goes nowhere.
 *
 * relet_init knows nothing of processes. A copy of such a client in a child has
 * no link of its own: do not drive it there, only relet_finish it. */

/* Open a client. url may be NULL (the configuration says it all, or the
 * defaults do), c may be NULL, p may be NULL. With c NULL or c->seed 0 the
 * seed is taken from the system; with c NULL or c->resize NULL malloc is
 * used. Connecting begins with the first relet_wait; a server that is away is
 * no error but RELET_DOWN. NULL and *fault (may be NULL) on a wrong setting.
 *
 * Name look-up uses getaddrinfo and may block; numeric addresses do not. The
 * addresses of a name are tried side by side, one more each quarter of a
 * second, and the first to connect is taken. Signals are neither raised nor
 * handled, and every descriptor is closed by exec. */
RELET_API relet *relet_open(const char *url, const relet_config *c,
                            const relet_poll_config *p, relet_fault *fault);

/* The next event, waiting for it at most timeout_ms (below 0: for ever; 0:
 * do what can be done now). 1: *ev is lent. 0: time is up, or relet_wake was
 * called. A code: RELET_E_SYSTEM. A client that was stopped or gave up, and
 * whose events are taken, has no more: do not wait for ever then. */
RELET_API int relet_wait(relet *r, relet_event *ev, int timeout_ms);

/* Send one command and wait for its outcome: 0 and *ev lent (any of the four
 * outcomes), or a code. For tools and scripts: it is RELET_E_REFUSED while
 * other operations are outstanding or there are leases, and events that are no
 * outcome are dropped meanwhile. RELET_E_TIMEOUT: no outcome in timeout_ms; it
 * was cancelled.
 * timeout_ms below 0: the configured one decides, and then it is an outcome. */
RELET_API int relet_call(relet *r, const relet_span *argv, size_t argc,
                         relet_event *ev, int timeout_ms);

/* Put one job and wait for its end. 1: *end says how it ended: RELET_DONE and
 * its result, RELET_DEAD and the error, RELET_NOWHERE: cancelled, or gone. 0: it
 * was not put, or nobody knows, and *ev says which of the outcomes that was. A
 * code: RELET_E_TIMEOUT when it has not ended in timeout_ms; it goes on then,
 * and end->work.number is its number. A put that is not answered by then, and a
 * last look for the end, have a second more. With a job of the same id there
 * already its end is waited for. A lost message does not matter: the job is
 * looked for, too. What it ends with is kept for a minute, if keep_ms is 0.
 * Each call listens on a channel of its own, which takes a place of
 * subscriptions_max until the server has confirmed that it was left.
 * Otherwise as relet_call; lent until the next call. */
RELET_API int relet_put_wait(relet *r, relet_span queue, const relet_job *job,
                             relet_event *ev, relet_job_info *end,
                             int timeout_ms);

/* Make a relet_wait return soon: the running one, or else the next that would
 * have to wait. Wakes are not counted, and do not end a relet_call. The only
 * function that another thread or a signal handler may call, and not once
 * relet_close has begun; in a child process it does nothing. */
RELET_API void relet_wake(relet *r);

/* Close the socket, free everything. NULL is fine. Open operations end
 * without an event; relet_stop first, to hear of them. */
RELET_API void relet_close(relet *r);

/* For a loop of your own. Before each sleep ask what to watch, by one of these
 * two, and by relet_poll_timeout when to come back at the latest. Then call
 * relet_wait(r, &ev, 0) until it returns 0, and ask again: all of it changes with
 * each turn and with each command.
 *
 * relet_fd, for loops that keep what they watch (epoll, libuv, libevent): one
 * descriptor, the same until relet_close. It is readable when relet_wait has
 * something to do. Begin to watch it once, for reading alone, and cease before
 * relet_close. Asking brings it up to date. RELET_E_SYSTEM where there is no
 * epoll, and when the system refuses. See examples/loop_epoll.c, loop_uv.c. */
RELET_API int relet_fd(relet *r);

/* relet_watches, for loops that are told anew what to watch before each sleep
 * (poll, select): the descriptors, at most max written, their number returned;
 * events as for poll. Do not keep them: relet_wait closes descriptors, and the
 * next one that the program opens may get the same number. */
typedef struct relet_watch {
    int fd;
    short events; /* POLLIN, POLLOUT */
} relet_watch;
#define RELET_WATCH_MAX 4
RELET_API int relet_watches(relet *r, relet_watch *w, int max);

/* Milliseconds until relet_wait is worth calling though nothing happened on
 * the descriptors; -1: never. */
RELET_API int relet_poll_timeout(const relet *r);

/* The driver's clock: CLOCK_BOOTTIME where there is one. */
RELET_API relet_time relet_clock(void);

/* relet_config_env_from with the real environment. */
RELET_API int relet_config_env(relet_config *c, const char *scope,
                               relet_fault *fault);

#endif /* RELET_NO_POLL */

/* The version of the library that was linked. */
RELET_API const char *relet_version(void);

/* ---------------------------------------------------------------- private
 *
 * Nothing below is for users. A walk over a reply lives in these few functions;
 * they are here so that compilers can see them. */

#define RELET_NODE_ATTRIBUTE 12 /* kinds beside those of relet_type           */
#define RELET_NODE_END 13

RELET_API int relet_value_text_int(relet_value v, int64_t *out);

/* What stands behind a node and all that is in it. */
static inline const relet_node *relet_node_behind(const relet_node *n)
{
    return n->kind < RELET_ARRAY ? n + 1 : n + ((size_t)n->payload + 1);
}

static inline relet_type relet_value_type(relet_value v)
{
    if (v.node == NULL || v.node->kind == RELET_NODE_END)
        return RELET_NULL;
    if (v.node->kind == RELET_NODE_ATTRIBUTE)
        return RELET_MAP;
    return (relet_type)v.node->kind;
}

static inline relet_span relet_value_text(relet_value v)
{
    const unsigned kinds = 1u << RELET_TEXT | 1u << RELET_FAILURE |
                           1u << RELET_DOUBLE | 1u << RELET_BIG |
                           1u << RELET_VERBATIM;
    relet_span text = {NULL, 0};

    if (v.node != NULL && (kinds >> v.node->kind & 1u) != 0) {
        text.p = v.base + v.node->payload;
        text.n = v.node->len;
    }
    return text;
}

static inline int relet_value_int(relet_value v, int64_t *out)
{
    if (v.node == NULL || v.node->kind != RELET_INT)
        return relet_value_text_int(v, out);
    *out = v.node->payload;
    return 1;
}

static inline size_t relet_value_count(relet_value v)
{
    if (v.node == NULL || v.node->kind < RELET_ARRAY)
        return 0;
    return v.node->kind == RELET_NODE_END ? 0 : v.node->len;
}

static inline relet_value relet_value_first(relet_value v)
{
    v.node = relet_value_count(v) == 0 ? NULL : v.node + 1;
    if (v.node != NULL && v.node->kind == RELET_NODE_ATTRIBUTE)
        v.node = relet_node_behind(v.node);
    return v;
}

static inline relet_value relet_value_next(relet_value v)
{
    if (v.node == NULL)
        return v;
    v.node = relet_node_behind(v.node);
    if (v.node->kind == RELET_NODE_ATTRIBUTE)
        v.node = relet_node_behind(v.node);
    return v;
}

#ifdef __cplusplus
}
#endif

#endif
