/* SPDX-License-Identifier: MIT
 *
 * relet.h - a RESP3 client for Redis and Valkey that owns no socket.
 *
 * A program needs this header and relet.c (`cc APP.c relet.c`), or the library
 * that was installed (`pkg-config --cflags --libs relet`). RELET_NO_LEASE,
 * RELET_NO_QUEUE and RELET_NO_POLL leave out leases, queues and the driver for
 * POSIX, here and in relet.c; RELET_SMALL leaves out more (see below, The small
 * profile). This header is the manual. It is in nine parts:
 *
 *   1  words     spans, time, codes, faults
 *   2  values    reading a reply
 *   3  config    where to connect, with which limits
 *   4  client    what a client is, and the events that it tells
 *   5  commands  commands, transactions, scripts
 *   6  messages  subscriptions
 *   7  leases    a leader, a lock
 *   8  queues    putting jobs, working on them, operating queues
 *   9  drivers   the interface for drivers, and the driver for POSIX
 *
 * The client is a state machine over bytes and time. You submit commands and
 * take events; a driver carries bytes. Nothing calls you back, nothing is
 * global, and only the functions of part 9 that wait block. A client belongs to
 * one thread at a time; different clients share nothing.
 *
 * Ownership in one rule: what you pass in is copied before the call returns,
 * and what an event shows you is lent until the next call of relet_next, of a
 * function that waits, of relet_stop, relet_tick or a relet_io_ function on
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

/* The version of this header, as a text and as the number
 * major * 10000 + minor * 100 + patch. relet_version returns that of the
 * library. */
#define RELET_VERSION "0.1.0"
#define RELET_VERSION_NUMBER 100

/* The small profile. RELET_SMALL is the smallest client that still reconnects
 * and reports the outcome of each command. Define it for relet.c and for your
 * own files. Features that it lacks are not declared:
 *
 *   leases, queues    it implies RELET_NO_LEASE and RELET_NO_QUEUE
 *   messages          subscriptions, client-side caching; a push is dropped
 *   URL, environment  set the fields of relet_config; the url of relet_open
 *                     is NULL, and a descriptor in relet_poll_config is
 *                     followed by links to the host of the configuration, if
 *                     one is given. The host is not checked before it is
 *                     looked up
 *   sentences         fault.text is empty. An event has a text only if it is
 *                     RELET_EV_ERROR: the text of the server. Codes,
 *                     fault.field and the event's why remain
 *   relet_await       relet_next, relet_wait and relet_call remain; so does
 *                     relet_command_text, but not relet_call_text
 *   WATCH             RELET_E_REFUSED: use a script instead
 *   streamed values   RELET_WHY_PROTOCOL: no server sends them
 *   speed of reading  replies are judged byte by byte */
#ifdef RELET_SMALL
#ifndef RELET_NO_LEASE
#define RELET_NO_LEASE
#endif
#ifndef RELET_NO_QUEUE
#define RELET_NO_QUEUE
#endif
#endif

#ifndef RELET_API
#define RELET_API
#endif

/* The compiler warns when the last argument of such a function is not NULL. */
#ifdef __GNUC__
#define RELET_ENDS_WITH_NULL __attribute__((sentinel))
#else
#define RELET_ENDS_WITH_NULL
#endif

/* ------------------------------------------------------------------ 1 words */

/* Bytes that the span does not own. Any byte may occur, also NUL. */
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

/* Error codes. A function that fails returns one of these, all below zero. */
enum {
    RELET_E_CONFIG = -1,  /* a setting is wrong: the fault names it          */
    RELET_E_LIMIT = -2,   /* a limit you set is reached; take events, retry  */
    RELET_E_MEMORY = -3,  /* the allocator failed; nothing was changed       */
    RELET_E_REFUSED = -4, /* a rule forbids it; relet_refusal names the rule */
    RELET_E_STOPPED = -5, /* the client was stopped or gave up               */
    RELET_E_TIMEOUT = -6, /* relet_call: no outcome within its time          */
    RELET_E_SYSTEM = -7,  /* the operating system refused; errno says why    */
    RELET_E_FORKED = -8   /* another process opened this client (part 9)     */
};

#ifndef RELET_SMALL
/* A short English name of a code, for logs. */
RELET_API const char *relet_code_text(int code);
#endif

/* A wrong setting. `text` is a complete sentence for people that names the
 * field, the place and the broken rule. */
typedef struct relet_fault {
    int code;          /* RELET_E_CONFIG, _MEMORY, _SYSTEM, _FORKED        */
    const char *field; /* "url", "operations_max", … or NULL               */
    size_t offset;     /* of the first wrong byte, when field is "url"     */
    char text[256];
} relet_fault;

/* ----------------------------------------------------------------- 2 values
 *
 * A value is a cursor into a reply that has been checked already: no reply of a
 * server can make these functions fail. Reading a value as another type gives
 * 0, an empty span, or a null value. Every function accepts a null value.
 * Nothing here allocates, and no value needs freeing. */

/* The type of a value. */
typedef enum relet_type {
    RELET_T_NULL,  /* one type for every null a server can send              */
    RELET_T_TEXT,  /* bulk or simple string                                  */
    RELET_T_ERROR, /* error text: as a whole reply, or inside EXEC           */
    RELET_T_INT,
    RELET_T_DOUBLE,
    RELET_T_BOOL,
    RELET_T_BIG,      /* big number, as text                                 */
    RELET_T_VERBATIM, /* text with a three-byte format                       */
    RELET_T_ARRAY,
    RELET_T_MAP,
    RELET_T_SET,
    RELET_T_PUSH
} relet_type;

/* One node of the tape. Its layout is private and changes without notice: it
 * is here only because the functions that step through a reply are inline. */
typedef struct relet_node {
    uint8_t kind;
    uint8_t flags;
    uint16_t spare;
    uint32_t len;
    int64_t payload;
} relet_node;

/* A cursor: one value in a reply. */
typedef struct relet_value {
    const relet_node *node; /* NULL: the null value                          */
    const char *base;       /* first byte of the reply                       */
} relet_value;

/* The type of v. */
static inline relet_type relet_value_type(relet_value v);

/* The bytes of text, failure, big, verbatim (without its format) and double
 * (as sent). Anything else: an empty span whose p is NULL. */
static inline relet_span relet_value_text(relet_value v);

/* Returns 1 and sets *out if v is an integer or a text that is one (as GET
 * returns a counter); else returns 0 and leaves *out untouched. */
static inline int relet_value_int(relet_value v, int64_t *out);

/* The same for a double: v is a double, an integer, or a text that is a number.
 * *out is correctly rounded and independent of the locale. */
RELET_API int relet_value_double(relet_value v, double *out);

/* The same for a boolean: v is a boolean or the integer 0 or 1. */
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

/* The value of a key, in a map or in a flat array of pairs (as RESP2 and
 * scripts send maps). Null when there is no such key. */
RELET_API relet_value relet_value_get(relet_value v, const char *key);

/* The attributes that the server sent with v: a map, or null if it sent
 * none. */
RELET_API relet_value relet_value_attributes(relet_value v);

/* The three bytes of a verbatim's format; else an empty span. */
RELET_API relet_span relet_value_format(relet_value v);

/* 1 if v has the type big number but its text is not a number: servers do not
 * check the big numbers that scripts return. */
RELET_API int relet_value_malformed(relet_value v);

/* Keep a value beyond its loan: relet_value_size tells how many bytes a copy
 * needs, relet_value_copy makes the copy in your memory (aligned for int64_t),
 * which must outlive the copy. A null value if `size` is too small. */
RELET_API size_t relet_value_size(relet_value v);
RELET_API relet_value relet_value_copy(relet_value v, void *mem, size_t size);

/* For an error: 1 when its text proves that the command had no effect
 * (MOVED, LOADING, NOPERM, wrong arity, …). 0 proves nothing. */
RELET_API int relet_value_proves_no_effect(relet_value v);

/* ----------------------------------------------------------------- 3 config
 *
 * Fill a configuration with relet_config_init, then by a URL, the environment
 * or by hand, in any order. Its only pointers are the allocator's: copy it
 * freely. */

/* How to reach the server. */
typedef enum relet_scheme {
    RELET_TCP,      /* redis://, valkey://                                  */
    RELET_TLS,      /* rediss://, valkeys://; needs a transport (part 9)    */
    RELET_UNIX,     /* unix:; the host is a path; a leading @: abstract     */
    RELET_SENTINEL, /* sentinel://h1:p,h2/service; not built yet            */
    RELET_CLUSTER,  /* cluster://h1:p,h2; not built yet                     */
    RELET_MEM,      /* mem:, mem:name; no server: relet_local.h answers     */
    RELET_FILE      /* file:path; the same, with its data in a file         */
} relet_scheme;

/* When a change in a store of file: is safe on disk: before its command is
 * answered, within a second, or when the system writes it (relet_local.h). */
typedef enum relet_fsync {
    RELET_FSYNC_ALWAYS,
    RELET_FSYNC_EVERYSEC,
    RELET_FSYNC_NEVER
} relet_fsync;

/* CLIENT TRACKING: the server reports by RELET_EV_INVALIDATE that keys which
 * this connection read were changed. */
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

/* The settings of a client. */
typedef struct relet_config {
    /* Where. */
    relet_scheme scheme;
    char host[1024];   /* name, address, path, or list of host:port          */
    int port;          /* 1..65535                                           */
    char service[128]; /* the Sentinels' name of the primary                 */

    /* User and set-up. With an empty password no AUTH is sent. */
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
    relet_time timeout_ms;    /* an operation's, unless it has its own        */
    relet_time ping_every_ms; /* PING after so long a silence; 0: never       */
    relet_time retry_min_ms;  /* back-off: pauses are random, at most this,   */
    relet_time retry_max_ms;  /* doubled after each failure up to this        */
    relet_time stable_ms;     /* a link that lived so long ends the back-off  */
    int attempts_max;         /* failed attempts before giving up; 0: never   */
    int fail_fast;            /* 1: refuse operations while there is no link  */

    /* Limits. An operation beyond one of these is refused, or ends with an
     * error and RELET_WHY_TOO_LARGE; the link stays. */
    uint32_t operations_max;    /* operations without an outcome              */
    uint32_t subscriptions_max; /* channels and patterns                      */
    uint32_t scripts_max;       /* bodies given to relet_script_add           */
    uint32_t leases_max;        /* leases at a time; some 900 bytes each; 0
                                 * in a build with RELET_NO_LEASE             */
    uint32_t workers_max;       /* workers at a time; some 1 KB each, and
                                 * 24 KB for the first; queues need 1 or
                                 * more; 0 in a build with RELET_NO_QUEUE     */
    uint32_t jobs_max;          /* jobs of each worker; some 100 bytes each   */
    size_t output_max;          /* bytes queued, or kept to be repeated       */
    size_t reply_max;           /* bytes of one reply on the wire             */
    size_t tape_max;            /* bytes of one reply's tape: 16 per element  */
    uint32_t bulk_max;          /* bytes of one string, ≤ 512 MiB             */
    uint32_t line_max;          /* bytes of one simple string or error        */
    uint32_t count_max;         /* elements of one aggregate                  */
    uint32_t depth_max;         /* nesting, ≤ 128                             */
    size_t buffer_min;          /* initial size of input and output buffers   */

    /* Memory. With resize NULL the buffers are part of the block that
     * relet_init is given, at their largest size, and nothing ever
     * allocates. */
    relet_resize_fn *resize;
    void *resize_user;

    uint64_t seed; /* for jitter; equal seeds, equal behaviour               */
} relet_config;

/* The defaults: localhost:6379, database 0, limits for a server process.
 * relet_config_init_small: the smallest that is useful, about 8 KiB a client
 * with fixed buffers. The stack comes on top: no call takes more than 4 KiB of
 * it. docs/limits.md has the figures as measured. */
RELET_API void relet_config_init(relet_config *c);
RELET_API void relet_config_init_small(relet_config *c);

#ifndef RELET_SMALL

/* Set what a URL says; the rest of *c stays.
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
 * is untouched and *fault (may be NULL) tells the offset. Returns 0 or a
 * code. */
RELET_API int relet_config_url(relet_config *c, const char *url,
                               relet_fault *fault);

/* Set what the environment says. Each variable is looked up with the scope as
 * its prefix and then without, so relet_config_env(c, "MUTEX_", …) reads
 * MUTEX_REDIS_URL and falls back to REDIS_URL. Scoped variables beat generic
 * ones; within one scope a Sentinel beats a host, and a host beats a URL.
 * Variables:
 *
 *   REDIS_URL  REDIS_HOST REDIS_PORT  REDIS_DB  REDIS_USERNAME
 *   REDIS_PASSWORD  REDIS_PREFIX
 *   REDIS_SENTINEL_HOST REDIS_SENTINEL_PORT REDIS_SENTINEL_NAME
 *
 * If none is set, *c stays as it is, and that is no error. `get` is getenv or a
 * stand-in: it returns NULL for a variable that is not set. It is called more
 * than once for each variable, and must return the same each time. */
typedef const char *relet_env_fn(void *user, const char *name);
RELET_API int relet_config_env_from(relet_config *c, const char *scope,
                                    relet_env_fn *get, void *user,
                                    relet_fault *fault);

#endif /* RELET_SMALL */

/* Check every rule between settings. relet_init does this too, and so does
 * relet_open, after it has set `resize` and `seed` if they are 0. If `resize`
 * is NULL, each buffer has a fixed size, and the check limits these sizes. */
RELET_API int relet_config_check(const relet_config *c, relet_fault *fault);

/* Overwrite the password. */
RELET_API void relet_config_wipe(relet_config *c);

/* ---------------------------------------------------------- 4 client, events
 *
 * Programs on POSIX begin with relet_open (part 9) and skip to part 5.
 *
 * Every operation that was accepted ends in exactly one of four events:
 *
 *   RELET_EV_REPLY     the server's answer
 *   RELET_EV_ERROR     the server's error, or an answer over a limit of yours
 *   RELET_EV_NOT_SENT  it had no effect and never will
 *   RELET_EV_UNSURE    it was sent and no answer came: it may have run, may
 *                      still run, or may never run; read the server's data to
 *                      find out
 *
 * No operation is sent twice, except those marked RELET_REPEATABLE, those of
 * which this manual says that they are repeated, and a script call to which the
 * server answered NOSCRIPT. Without a link, operations wait for the next one
 * until their time is up.
 *
 * Outcomes come in the order of submission, except for operations that ended
 * early (time up, cancelled) or were sent again. */

/* A client. */
typedef struct relet relet;

/* Bytes that relet_init needs; 0 when the configuration is wrong. */
RELET_API size_t relet_size(const relet_config *c);

/* Make a client in your memory, which must be aligned for any object, outlive
 * the client and not move. The client begins connecting at the first tick. NULL
 * and a fault (may be NULL) when the configuration is wrong or `size` too
 * small. */
RELET_API relet *relet_init(void *mem, size_t size, const relet_config *c,
                            relet_fault *fault);

/* End every operation (NOT_SENT or UNSURE, RELET_WHY_STOPPED) and ask the
 * driver to close the link. Then take events until there are none, to get each
 * outcome. This is final: a stopped client refuses everything but
 * relet_finish. */
RELET_API void relet_stop(relet *r);

/* Free what was allocated through `resize` and overwrite secrets. The memory
 * given to relet_init is yours again. No event follows. */
RELET_API void relet_finish(relet *r);

/* Set the credentials for the next connect and later ones, for instance when a
 * token expires. Returns 0; RELET_E_CONFIG when they would not fit the
 * configuration's fields; or RELET_E_MEMORY, and the old ones stay (without an
 * allocator there is room for as many bytes as the first credentials had, or
 * for 96 if that is more). */
RELET_API int relet_credentials(relet *r, relet_span user,
                                relet_span password);

#ifndef RELET_SMALL
/* The rule that was broken when this client last returned RELET_E_REFUSED, or
 * RELET_E_CONFIG for a lease or worker: a text for people. */
RELET_API const char *relet_refusal(const relet *r);
#endif

/* The kind of an event. The comment of each kind names the fields of
 * relet_event that it has. */
typedef enum relet_kind {
    RELET_EV_NOTHING,
    /* Outcomes have a tag. */
    RELET_EV_REPLY,    /* value                                              */
    RELET_EV_ERROR,    /* value (null if there is a why), text, why          */
    RELET_EV_NOT_SENT, /* why, text                                          */
    RELET_EV_UNSURE,   /* why, text                                          */
    /* The link. */
    RELET_EV_UP,   /* ready; text: "redis 7.0.15"                            */
    RELET_EV_DOWN, /* why, text, retry_in_ms (RELET_NEVER: gave up, stopped) */
    /* Messages. */
    RELET_EV_SUBSCRIBED,           /* channel_kind, channel                  */
    RELET_EV_UNSUBSCRIBED,         /* channel_kind, channel                  */
    RELET_EV_SUBSCRIPTION_REFUSED, /* channel_kind, channel, text            */
    RELET_EV_MESSAGE,    /* channel_kind, channel, pattern, value: payload   */
    RELET_EV_INVALIDATE, /* value: array of keys, or null: all of them       */
    RELET_EV_GAP,        /* messages or invalidations may be lost: clear a
                          * cache (see RELET_CACHED). channel: which; empty:
                          * all. why, text: of the DOWN before it; else NONE */
    RELET_EV_PUSHED,     /* a push of a kind unknown to the library; value   */
    /* Leases: all have tag, lease and did_wait. */
    RELET_EV_LEASE_GAINED,  /* term, token: the work may begin               */
    RELET_EV_LEASE_LOST,    /* term, token, why, text: the work must stop    */
    RELET_EV_LEASE_TROUBLE, /* why, text: not granted, renewed or released;
                             * it is tried again, and told again only after a
                             * success, or if the reason has changed         */
    RELET_EV_LEASE_ENDED,   /* why: the last event of it; its number is free */
    /* Workers: all have tag and worker. */
    RELET_EV_JOBS,       /* value, for relet_jobs_next                       */
    RELET_EV_JOB_CANCEL, /* job, token: it was cancelled; with why TIMEOUT:
                          * it has taken too long, and its lease is not
                          * renewed any more                                 */
    RELET_EV_JOB_LOST,   /* job, token, why: the work must stop, or its end
                          * came too late                                    */
    RELET_EV_WORKER_TROUBLE, /* why, text: the server refuses a request of the
                              * worker, which tries again; the event comes
                              * once until such a request succeeds           */
    RELET_EV_WORKER_ENDED    /* the last event of it; its number is free     */
} relet_kind;

/* The reason that an event gives. */
typedef enum relet_why {
    RELET_WHY_NONE,
    RELET_WHY_TIMEOUT,    /* the operation's time was up                     */
    RELET_WHY_CANCELLED,  /* relet_cancel                                    */
    RELET_WHY_BROKEN,     /* the link broke                                  */
    RELET_WHY_STOPPED,    /* relet_stop                                      */
    RELET_WHY_GAVE_UP,    /* attempts_max                                    */
    RELET_WHY_WATCH_LOST, /* the WATCH, or the link that held it, is gone    */
    RELET_WHY_TOO_LARGE,  /* reply_max, bulk_max, line_max, count_max, …     */
    RELET_WHY_MEMORY,     /* the allocator failed                            */
    RELET_WHY_CONNECT,    /* no connection; errno of the driver in the text  */
    RELET_WHY_CLOSED,     /* the server closed; its last error in the text   */
    RELET_WHY_SILENT,     /* no byte, though an answer was due               */
    RELET_WHY_PROTOCOL,   /* not RESP: at which byte, and why                */
    RELET_WHY_NO_RESP3,   /* HELLO 3 was refused                             */
    RELET_WHY_AUTH,       /* WRONGPASS, NOAUTH, NOPERM: retried slowly       */
    RELET_WHY_SETUP,      /* SELECT or another step was refused              */
    RELET_WHY_BUSY,       /* LOADING, BUSY, MASTERDOWN for too long          */
    /* Of leases, beside _STOPPED, _TIMEOUT (wait_ms) and _GAVE_UP. */
    RELET_WHY_EXPIRED,    /* not renewed in time, by our clock               */
    RELET_WHY_TAKEN,      /* another owner holds it                          */
    RELET_WHY_GONE,       /* its key was removed                             */
    RELET_WHY_CLOCK,      /* the server's clock jumped, or stands still      */
    RELET_WHY_GROUP,      /* an earlier lease of its group was lost          */
    RELET_WHY_NOT_REPLICATED, /* fewer copies than `replicas` and `fsync` ask */
    RELET_WHY_QUARANTINE, /* the server has just restarted or taken over     */
    RELET_WHY_REFUSED     /* the server answered with the error in the text,
                           * perhaps to the CLIENT CACHING before a read     */
} relet_why;

/* The kind of a subscription, and of the channel of a message. */
typedef enum relet_channel {
    RELET_CHANNEL, /* SUBSCRIBE   */
    RELET_PATTERN, /* PSUBSCRIBE  */
    RELET_SHARDED  /* SSUBSCRIBE  */
} relet_channel;

/* An event. Its kind says which of the other fields it has. */
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
    uint64_t term;  /* number of the GAINED of its lease, from 1 on          */
    uint64_t job;   /* number of the job                                     */
    uint64_t token; /* the fencing token                                     */
    int lease;      /* number of the lease; -1: it is of none                */
    int worker;     /* number of the worker; -1: it is of none               */
    int did_wait;   /* the lease was not free when first asked for           */
} relet_event;

/* Lend the next event. Returns 1, or 0 when there is none. */
RELET_API int relet_next(relet *r, relet_event *ev);

#ifndef RELET_SMALL
/* English names of the enumerators: "reply", "timeout". */
RELET_API const char *relet_kind_text(relet_kind kind);
RELET_API const char *relet_why_text(relet_why why);
#endif

/* Operations without an outcome yet. */
RELET_API size_t relet_outstanding(const relet *r);

/* 1 while there is a link that operations may go over. */
RELET_API int relet_is_up(const relet *r);

/* What has happened so far. Counters only grow. */
typedef struct relet_stats {
    uint64_t submitted, replies, errors, not_sent, unsure; /* operations     */
    uint64_t late;         /* answers swallowed after a timeout or cancel    */
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

/* ---------------------------------------------------------------- 5 commands
 *
 *     relet_request q = {7, 0, RELET_REPEATABLE};
 *     code = relet_command_text(r, &q, "GET", "key", (char *)NULL);
 *
 * If the code is 0, an outcome comes with the tag 7 (part 4). */

/* The flags of an operation. */
enum {
#ifndef RELET_SMALL
    /* CLIENT CACHING YES is sent directly before the command. For relet_command
     * and relet_script_run, with RELET_TRACK_OPTIN; otherwise RELET_E_REFUSED,
     * since nothing would invalidate what was read. A reply comes only if the
     * server accepted both. If it refused CACHING, the outcome is
     * RELET_EV_ERROR with RELET_WHY_REFUSED and without a value. */
    RELET_CACHED = 2,
#endif
    /* May be sent again after a broken link, or after LOADING, BUSY or
     * MASTERDOWN: running twice does the same as running once. */
    RELET_REPEATABLE = 1
};

/* How to keep a cache of what was read with tracking. Before each look-up in
 * the cache take all events (relet_wait with timeout_ms 0), and drop
 *
 *   at RELET_EV_INVALIDATE  the keys in the array `value`; all, if it is null
 *   at RELET_EV_GAP         everything
 *
 * GAP comes directly after the DOWN that ends a link, before the outcomes of
 * the operations that end with the link, and again after the UP of the next
 * link: nothing can be read into a cache in between, but messages may have been
 * missed. While there is no link the cache is empty. Which DOWN brings a GAP:
 *
 *   DOWN: why                   the link had been UP    it had not
 *   --------------------------  ----------------------  ------------------
 *   CLOSED, PROTOCOL, BROKEN,   GAP                     none (1)
 *     MEMORY, STOPPED
 *   SILENT                      GAP (2)                 none (1)
 *   CONNECT, AUTH, NO_RESP3,    does not occur          none (1)
 *     SETUP
 *   BUSY                        does not occur (3)      none: the link stays
 *
 * (1) The GAP came when the last link that had been UP ended. Exception: if
 *     RELET_EV_SUBSCRIBED came before UP, that subscription is lost with a GAP.
 * (2) A server that hangs, or a network that is cut, is noticed after
 *     ping_every_ms + timeout_ms of silence at the latest. Until then a cache
 *     may be stale without any event. With ping_every_ms 0 and no command under
 *     way it is never noticed: a cache needs pings.
 * (3) BUSY, LOADING or MASTERDOWN as the answer to a command pauses writing.
 *     The link stays UP and invalidations keep coming.
 *
 * The last DOWN of a client that gave up (retry_in_ms is RELET_NEVER) has one
 * of these reasons, too. relet_call and relet_queue_put_wait drop events that
 * are no outcome, also INVALIDATE and GAP: do not use them on a client with a
 * cache. */

/* What a program may say about an operation when it submits it. */
typedef struct relet_request {
    uint64_t tag;          /* comes back in the event; any number            */
    relet_time timeout_ms; /* 0: the configured one; RELET_NEVER: none. It
                            * counts from the first tick after submission    */
    unsigned flags;
} relet_request;

/* Submit one command. q may be NULL (tag 0, no flags). Returns 0, or a code:
 * then nothing was queued and no event will come.
 *   RELET_E_LIMIT    operations_max or output_max; take events, then retry
 *   RELET_E_REFUSED  by a rule that relet_refusal names: an empty command; any
 *                    command without a link if fail_fast is set; SUBSCRIBE and
 *                    its family, MULTI, EXEC, DISCARD, HELLO, AUTH, SELECT,
 *                    RESET, QUIT, MONITOR, SYNC, PSYNC, REPLCONF, CLIENT REPLY,
 *                    CLIENT TRACKING, CLIENT CACHING, because they would change
 *                    the meaning of later answers. relet_refusal also names
 *                    what to use instead
 *   RELET_E_MEMORY, RELET_E_STOPPED */
RELET_API int relet_command(relet *r, const relet_span *argv, size_t argc,
                            const relet_request *q);

/* The same with the words as strings: relet_command_text(r, NULL, "SET", "k",
 * "v", (char *)NULL). At most 64 words. */
RELET_API int relet_command_text(relet *r, const relet_request *q, ...)
    RELET_ENDS_WITH_NULL;

/* The words of one command of a transaction. */
typedef struct relet_args {
    const relet_span *argv;
    size_t argc;
} relet_args;

/* Submit MULTI, the commands and EXEC as one operation, with nothing in
 * between. The reply is that of EXEC: an array, or null when a watched key was
 * changed. If the server refuses one of the commands, the outcome is
 * RELET_EV_ERROR with the first refusal, and none of them ran. RELET_E_REFUSED:
 * one of the commands is WATCH, or one that relet_command refuses.
 *
 * Submit WATCH before it, by relet_command. If the link breaks between WATCH
 * and its transaction, the transaction is not sent: it is RELET_E_REFUSED if it
 * is submitted later, and ends as RELET_EV_NOT_SENT with RELET_WHY_WATCH_LOST
 * if it was queued already. The same happens if the WATCH, or one of several,
 * ends NOT_SENT; and if the server refuses the WATCH, or its answer cannot be
 * read, before the first byte of the transaction is sent. A transaction that
 * has been sent by then runs unguarded. To rule that out, wait for the answer
 * to WATCH. UNWATCH or the transaction ends the watch. A transaction that is
 * not sent does not end it: other WATCHes before it stay in force until
 * UNWATCH, another transaction or the end of the link. WATCH and UNWATCH are
 * never sent again, and neither is a transaction after a WATCH, even one for
 * another transaction: in spite of RELET_REPEATABLE, BUSY and LOADING are then
 * the outcome. */
RELET_API int relet_transaction(relet *r, const relet_args *commands,
                                size_t count, const relet_request *q);

/* Register a script. Returns its number, or a code. The body is not copied and
 * must outlive the client. */
RELET_API int relet_script_add(relet *r, relet_span body);

/* Run a registered script: `keys` keys come first in argv, then arguments. The
 * first call over a link sends the whole script, later ones its SHA-1. If the
 * server answers NOSCRIPT, that call is sent again with the whole script, and
 * then runs after operations that were submitted later. */
RELET_API int relet_script_run(relet *r, int script, size_t keys,
                               const relet_span *argv, size_t argc,
                               const relet_request *q);

/* End the operations with this tag now: NOT_SENT if no byte was sent, else
 * UNSURE, both RELET_WHY_CANCELLED; an answer that comes later is swallowed.
 * Returns how many it ended. Puts that share a call with others (see
 * relet_queue_put) are neither ended nor counted. */
RELET_API size_t relet_cancel(relet *r, uint64_t tag);

/* ---------------------------------------------------------------- 6 messages
 *
 *     code = relet_subscribe(r, RELET_CHANNEL, relet_str("news"));
 *
 * From RELET_EV_SUBSCRIBED on RELET_EV_MESSAGE comes for each message. */

#ifndef RELET_SMALL

/* Subscribe to messages. The client restores a subscription on every new link,
 * until you unsubscribe. RELET_EV_SUBSCRIBED comes each time that it takes
 * effect, RELET_EV_SUBSCRIPTION_REFUSED if the server refuses it (then it is
 * forgotten), RELET_EV_UNSUBSCRIBED when no more of its messages will come. A
 * subscription is in effect until RELET_EV_DOWN. A DOWN with RELET_WHY_BUSY is
 * the exception: it keeps the link and its subscriptions, messages keep coming,
 * and the next UP brings no new SUBSCRIBED. Subscribing twice is the same as
 * once. Both functions return 0 or RELET_E_LIMIT, _MEMORY, _STOPPED, _REFUSED
 * (an empty name; unsubscribing without a subscription). */
RELET_API int relet_subscribe(relet *r, relet_channel kind, relet_span name);
RELET_API int relet_unsubscribe(relet *r, relet_channel kind,
                                relet_span name);

#endif /* RELET_SMALL */

/* ------------------------------------------------------------------ 7 leases
 *
 * The example is at relet_lease_config. */

#ifndef RELET_NO_LEASE

/* A lease: one key that a client holds for a limited time, and renews until it
 * gives the key up. The client that holds it is the leader; followers wait
 * until it is free.
 *
 *     int l = relet_lease_start(r, &config);
 *     …
 *     case RELET_EV_LEASE_GAINED: begin the work, pass ev.token along; break;
 *     case RELET_EV_LEASE_LOST:   stop it; relet_lease_work_done(r, l); break;
 *
 * GAINED and LOST alternate; ENDED is the last event of a lease. Rely on the
 * time and not on events: check relet_lease_valid_for before each step that
 * only one client may do. That time ends before the server grants the lease to
 * another client, whatever the link, the server or this process are doing, as
 * long as both clocks run and the server forgets nothing. Where the server may
 * forget (a failover, a power cut), use the token: a database that refuses a
 * token lower than one that it has seen is safe from a client that was paused,
 * or whose lease the server forgot.
 *
 * The key holds only the owner's name. So other programs may compete for it, if
 * they take it by SET NX PX and compare its value before they change it. Two
 * more keys belong to it. {key}:fence counts the tokens and is never deleted:
 * it takes 170 bytes for each name that was ever leased, 270 with a quarantine
 * (Redis 7.0), so do not make up a name for each use. {key}:sleepers lists the
 * clients that wait. If the key already contains a hash tag, as app:{x} does,
 * the suffixes follow it without more braces. A key that is only a hash tag, as
 * {x}, is refused, and so is a key with a } but no hash tag. For the key
 * app:x these are {app:x}:fence and {app:x}:sleepers.
 *
 * An ACL must allow to read and write the three keys, the sharded channels
 * {key}:wake:*, and these commands: EVAL, EVALSHA, SSUBSCRIBE, SUNSUBSCRIBE,
 * SPUBLISH, PUBSUB SHARDNUMSUB, PING, TIME, GET, SET, DEL, PTTL, PEXPIRE, HGET,
 * HMGET, HSET, ZADD, ZREM, ZRANGE and ZRANK; with quarantine_ms INFO, with
 * replicas WAIT, with fsync WAITAOF, and SELECT if `db` is not 0. If the server
 * refuses a renewal, RELET_EV_LEASE_TROUBLE has its error, before the lease is
 * lost. If it refuses the channel, RELET_EV_SUBSCRIPTION_REFUSED names the
 * channel, and no release wakes this follower: it asks when the lease ends.
 *
 * Commands that block or answer slowly delay renewals on the same link: give
 * them a client of their own. A leader does not wait for pings to find that a
 * link is dead: if the answer to a renewal is due and no byte has come for a
 * third of ttl_ms (at least a second), the client changes to a new link while
 * there is time: RELET_EV_DOWN comes with RELET_WHY_SILENT, and commands end as
 * with any broken link. A renewal behind a command that has not timed out yet
 * does not count as due. */
typedef struct relet_lease_config {
    relet_span name;  /* the key is PREFIX:leader:name; PREFIX:lock:name if
                       * `once` is set                                       */
    relet_span key;   /* the whole key, instead of the name. Either way a key
                       * has at most 255 bytes                               */
    relet_span label; /* in front of the owner's name, for people            */
    uint64_t tag;     /* comes back in its events                            */
    /* Milliseconds. 0 is the default. */
    relet_time ttl_ms;   /* 10 s; without a renewal it ends then             */
    relet_time renew_ms; /* a third of ttl_ms, which is also the most        */
    relet_time retry_ms; /* ttl_ms; a follower asks at least this often, and
                          * sooner when it is woken or the lease ends        */
    relet_time wait_ms;  /* for ever; a lease that was not gained by then
                          * ends. Counts from the first tick after the start */
    relet_time grace_ms; /* ttl_ms; the release follows a stop after so long,
                          * unless relet_lease_work_done was called before */
    int once;  /* a lock: it ends when it is lost, and is not asked for again */
    int alone; /* no election: gained at once, without a server, token 0     */
    /* Leases of one group (not 0) are acquired one after the other, in the
     * order of their keys. If one is lost, those after it are lost, too. So
     * clients that need several leases at a time cannot deadlock. */
    uint32_t group;
    /* A grant or renewal counts once so many replicas have it; with fsync, once
     * it is on the disks of the primary and of the replicas. WAIT and WAITAOF
     * block the link for replicas_ms at most (0: a tenth of ttl_ms). */
    uint32_t replicas;
    int fsync;
    relet_time replicas_ms;
    /* No client is granted the lease for so long after a restart, after a
     * failover (also one back to an earlier master) and before the first grant
     * of all: by then the lease that an earlier server granted has ended. These
     * are recognized by the run id and the replication id of INFO, so the pause
     * also comes when a server gets its first replica, or has had none for so
     * long that it drops its replication backlog. 0: no pause. Needs INFO. */
    relet_time quarantine_ms;
} relet_lease_config;

/* Begin to acquire a lease. Returns its number, from 0 on; or RELET_E_LIMIT
 * (leases_max), RELET_E_CONFIG (relet_refusal says which rule),
 * RELET_E_STOPPED. Everything in *c is copied. Owners' names are made from the
 * configuration's seed: two clients that share a server must not have the same
 * seed. */
RELET_API int relet_lease_start(relet *r, const relet_lease_config *c);

/* Give up a lease. A follower stops waiting for it. A leader gets LOST, and the
 * lease is renewed until relet_lease_work_done is called or grace_ms have
 * passed; then it is released, which wakes one follower, and ENDED comes.
 * Without a link for the release, ENDED comes when the lease has run out in any
 * case: ttl_ms after the last request at the latest. Returns 0 or
 * RELET_E_REFUSED. */
RELET_API int relet_lease_stop(relet *r, int lease);

/* Say that the work has stopped. After your own relet_lease_stop, and after a
 * LOST with RELET_WHY_GROUP, this releases the lease at once instead of after
 * grace_ms. If the lease was lost otherwise, there is nothing to release, and
 * the call is optional. A leader whose work is done may call it alone, without
 * relet_lease_stop, to resign. Returns 0 or RELET_E_REFUSED. */
RELET_API int relet_lease_work_done(relet *r, int lease);

/* For how many milliseconds from `now` the lease may be acted on; 0: not at
 * all; RELET_NEVER: it is `alone`. `now` is relet_clock, or the clock whose
 * time you pass to relet_tick. */
RELET_API relet_time relet_lease_valid_for(const relet *r, int lease,
                                           relet_time now);

/* The fencing token: higher than that of each grant before; 0: not held. */
RELET_API uint64_t relet_lease_token(const relet *r, int lease);

#endif /* RELET_NO_LEASE */

/* ------------------------------------------------------------------ 8 queues
 *
 * A job is put by relet_queue_put and worked on by a worker, in this process or
 * another one; the example is at relet_worker_config.
 *
 * An ACL must allow to read and write the keys {queue}:*, the sharded channels
 * {queue}:wake:*, the channels of reply_to, for relet_queue_put_wait the
 * channels wake:*:end:*, and these commands: EVAL, EVALSHA, SSUBSCRIBE,
 * SUNSUBSCRIBE, SPUBLISH, SUBSCRIBE, UNSUBSCRIBE, PUBLISH, PING, TIME, INFO,
 * HGET, HMGET, HSET, HDEL, HSTRLEN, HEXISTS, HINCRBY, HSCAN, LLEN, LRANGE,
 * LPOS, LPUSH, RPUSH, LPOP, RPOP, ZADD, ZREM, ZCARD, ZCOUNT, ZSCORE, ZRANGE,
 * ZRANGEBYSCORE and ZPOPMIN; and SELECT if `db` is not 0. With a prefix these
 * are {prefix:queue}:* and prefix:wake:*:end:*. */

#ifndef RELET_NO_QUEUE

/* How the longest pause between attempts grows. */
typedef enum relet_backoff {
    RELET_BACKOFF_EXPONENTIAL, /* backoff_ms, twice that, four times …       */
    RELET_BACKOFF_LINEAR,      /* backoff_ms, twice that, three times …      */
    RELET_BACKOFF_FIXED
} relet_backoff;

/* A job, as it is put and as it is claimed. A job in which all but the payload
 * is 0 is a plain job, and takes the least memory. */
typedef struct relet_job {
    relet_span payload; /* any bytes                                         */
    relet_span id;      /* your own: while a job with this id is there and not
                         * dead, no second one is put. At most 255 bytes     */
    relet_span type;    /* at most 255 bytes                                 */
    int rank; /* -1000..1000: rank r overtakes at most the 1000 * r jobs put
               * just before it, so no job starves. Jobs already waiting when
               * the queue first sees a rank are never overtaken             */
    relet_time delay_ms;    /* until it begins to wait for a worker          */
    uint32_t attempts;      /* how often it may be tried; 0: 3               */
    relet_backoff backoff;  /* how the longest pause between attempts grows;
                             * the pause is random, so that jobs that failed
                             * together are not retried together. FIXED: not
                             * random                                        */
    relet_time backoff_ms;  /* 0: 1 s                                        */
    relet_time backoff_max_ms; /* 0: 1 hour                                  */
    relet_time timeout_ms;  /* of one attempt: its worker then gets
                             * RELET_EV_JOB_CANCEL; 0: none                   */
    relet_time deadline_ms; /* from the put, accurate to a second: a job that
                             * has not begun by then is dead; 0: none        */
    relet_time keep_ms;     /* how long a done job and its result are kept;
                             * 0: not at all                                 */
    relet_span reply_to;    /* the channel on which its end is published     */
} relet_job;

/* Where a job is on the server. */
typedef enum relet_place {
    RELET_AT_NOWHERE, /* there is no such job; as an argument: all places    */
    RELET_AT_WAITING,
    RELET_AT_RANKED,  /* waits, in order of rank; listed and counted apart   */
    RELET_AT_DELAYED, /* waits until at_ms                                   */
    RELET_AT_LEASED,  /* until at_ms, without a renewal                      */
    RELET_AT_DONE,    /* and kept until at_ms                                */
    RELET_AT_DEAD     /* since at_ms                                         */
} relet_place;

/* Put jobs into a queue, all of them or none: at most 128 plain jobs, or 16 if
 * some are not plain. waiting_max: refuse the put if more jobs would then wait;
 * if some are not plain, delayed jobs count, too; cancelled jobs do not count;
 * 0: no limit.
 *
 * Plain puts into one queue, one after the other, with the same timeout and
 * without waiting_max, share one server call as long as no byte of it was sent.
 * relet_cancel ends none of the puts that share a call.
 *
 * The outcome is RELET_EV_REPLY, to be read by relet_queue_put_number, or
 * RELET_EV_ERROR with a text that begins with FULL, CLOSED, VERSION or an error
 * code of the server. If the link breaks, the put is repeated over the next
 * link, but takes effect once. It times out after 50 minutes at the latest,
 * also with RELET_NEVER: an hour later the queue may forget the last put of a
 * client, and a repeat would put the jobs twice. Returns 0, or RELET_E_LIMIT,
 * _MEMORY, _REFUSED, _STOPPED. */
RELET_API int relet_queue_put(relet *r, relet_span queue, const relet_job *jobs,
                              size_t count, uint32_t waiting_max,
                              const relet_request *q);

/* Read the reply for the i-th job of a put: 1 and its number; 2 and the number
 * of the job that has its id already; 0 if v says nothing about it. */
RELET_API int relet_queue_put_number(relet_value v, size_t i, uint64_t *number);

/* The place of that other job with the same id: RELET_AT_WAITING, also if it is
 * delayed; _LEASED or _DONE. After relet_queue_put_unique also _DEAD, or
 * RELET_AT_NOWHERE if the job is gone but its window is still open.
 * RELET_AT_NOWHERE also if there was no other job. */
RELET_API relet_place relet_queue_put_twin(relet_value v, size_t i);

/* Put one job, unless another job with the same id makes that unnecessary.
 * job->id is required. waiting_max counts only if a new job would be added. A
 * relet_queue_put with the same id ignores the window and looks only for the
 * job itself. Everything else is as in a relet_queue_put of one job. */
typedef enum relet_unique {
    RELET_THROTTLE, /* one job per window_ms, which begins with its put      */
    RELET_EXTEND,   /* the same, and each put in the window restarts it      */
    RELET_REPLACE,  /* a job that waits gets this payload; if it has begun,
                     * nothing changes                                       */
    RELET_DEBOUNCE  /* a job that waits gets this payload, and a delayed one
                     * delay_ms again; if it has begun, a new one is put     */
} relet_unique;
RELET_API int relet_queue_put_unique(relet *r, relet_span queue,
                                     const relet_job *job, relet_unique mode,
                                     relet_time window_ms,
                                     uint32_t waiting_max,
                                     const relet_request *q);

/* A worker claims jobs of a queue, as many as it has room for, and renews
 * their leases until each has ended. It asks for no more at a time than fit
 * into reply_max, bulk_max, tape_max and count_max. A single job over these
 * limits never arrives, and is dead once it has stalled more than stalls_max
 * times.
 *
 *     case RELET_EV_JOBS:
 *         while (relet_jobs_next(r, &ev, &at, &work)) begin work.job;
 *     …
 *     relet_job_done(r, worker, work.number, result);
 *
 * Check relet_job_valid_for before each step that only one worker may do, and
 * pass the token to every system that can refuse a lower one. End each job that
 * RELET_EV_JOBS brought by exactly one of relet_job_done, _fail or _release,
 * also after RELET_EV_JOB_LOST. */
typedef struct relet_worker_config {
    relet_span queue;
    relet_span label; /* in front of its name, for people                    */
    uint64_t tag;     /* comes back in its events                            */
    uint32_t room;    /* jobs at a time; 0: 1. Set it to handlers + 1 to
                       * prefetch one job; when stopping, release the job that
                       * was not started                                     */
    relet_span type;  /* only jobs of this type, oldest first; empty: any. The
                       * worker searches all waiting jobs, some at a time: a
                       * long run of other types cannot block it. From the
                       * first such worker on, each waiting job takes some
                       * 100 bytes more                                      */
    /* Milliseconds. 0 is the default. */
    relet_time lease_ms; /* 30 s; a job that is not renewed for so long is
                          * leased again by another worker                   */
    relet_time renew_ms; /* a third of lease_ms, which is also the most      */
    relet_time poll_ms;  /* 30 s; an idle worker polls this often, in case a
                          * wake-up is lost                                  */
    relet_time run_ms;   /* 1 day; after that a job's lease is not renewed   */
    relet_time reap_ms;  /* lease_ms; how often it looks for jobs of workers
                          * that are gone. RELET_NEVER: other workers do     */
    uint32_t stalls_max; /* a job whose lease has run out more often than this
                          * is dead; 0: 2                                    */
    /* Every 4 * reap_ms it also trims: it removes results whose time is over,
     * dead jobs after dead_ms (0: 30 days, RELET_NEVER: never), and the oldest
     * dead jobs over dead_max (0: 100000). Every 120 * reap_ms (an hour by
     * default) one worker of the queue looks through what the server remembers
     * of clients, up to four times 100 bytes each: the data of an idle client
     * is removed an hour after it was found. */
    relet_time dead_ms;
    uint32_t dead_max;
    /* Workers of one team (not 0) have together at most as many jobs as the
     * largest `room` among them. While several of their queues have work, they
     * divide that room by weight (0: 1); if it is smaller than the weights,
     * they alternate. A queue that alone has work gets all of it. */
    uint32_t team, weight;
} relet_worker_config;

/* A job that a worker has claimed. */
typedef struct relet_work {
    relet_job job;
    uint64_t number, token;
    uint64_t put_s;   /* seconds since 1970, by the server                   */
    uint32_t attempt; /* from 1 on                                           */
    uint32_t stalls, replays;
} relet_work;

/* Start a worker. Returns its number, from 0 on; or RELET_E_LIMIT
 * (workers_max), RELET_E_CONFIG (relet_refusal says which rule),
 * RELET_E_STOPPED. */
RELET_API int relet_worker_start(relet *r, const relet_worker_config *c);

/* Claim no more jobs. RELET_EV_WORKER_ENDED comes when the server has answered
 * the ends of all jobs of the worker: one round trip after the last handler.
 * Without a link it comes one round trip after the next link is up, however
 * long that takes. A program that must not wait so long calls relet_stop. If
 * the server has not answered the end of a job by then, the job may run again
 * when its lease ends. Returns 0 or RELET_E_REFUSED. */
RELET_API int relet_worker_stop(relet *r, int worker);

/* Lend the next job of a RELET_EV_JOBS event, for as long as the event is lent.
 * *at is 0 at first. Returns 1, or 0 when there are no more. */
struct relet_event;
RELET_API int relet_jobs_next(const relet *r, const struct relet_event *ev,
                              size_t *at, relet_work *out);

/* For how many milliseconds from `now` the job may be worked on; 0: not at
 * all. */
RELET_API relet_time relet_job_valid_for(const relet *r, int worker,
                                         uint64_t number, relet_time now);

/* What becomes of a job that failed. */
typedef enum relet_verdict {
    RELET_RETRY,  /* try again later; dead if no attempts are left           */
    RELET_SNOOZE, /* try again after delay_ms; the attempt does not count    */
    RELET_BURY    /* do not try again: the job is dead                       */
} relet_verdict;

/* How an attempt failed. `text` is kept with the job. */
typedef struct relet_failure {
    relet_verdict verdict;
    relet_span text;
    relet_time delay_ms; /* RETRY: 0 is the job's own backoff                */
} relet_failure;

/* End a job. Returns 0; RELET_E_LIMIT or _MEMORY: try again; RELET_E_REFUSED:
 * the worker has no such job, or the call can never be sent; relet_refusal says
 * which. For a job that was lost nothing is sent. RELET_EV_JOB_LOST comes if
 * the server answers that the end came too late. */
RELET_API int relet_job_done(relet *r, int worker, uint64_t number,
                             relet_span result);
RELET_API int relet_job_fail(relet *r, int worker, uint64_t number,
                             const relet_failure *f);
RELET_API int relet_job_release(relet *r, int worker, uint64_t number);

/* Report how far a job has come, as any text, for relet_queue_job_look. Without
 * a link the update is dropped; a later one replaces it. Returns 0 or a
 * code. */
RELET_API int relet_job_progress(relet *r, int worker, uint64_t number,
                                 relet_span text);

/* Calls for operators. Each submits an operation with an outcome;
 * the text of an error begins with VERSION or an error code of the server. They
 * need workers_max of at least 1. If the link breaks they are repeated over the
 * next one, but relet_queue_job_cancel, relet_queue_replay and
 * relet_queue_purge only with RELET_REPEATABLE. Each returns 0 or a code as
 * relet_queue_put does. A job is named by its number or, if that is 0, by its
 * id. */

/* What the server has of a job. */
typedef struct relet_job_info {
    relet_work work;      /* attempt: attempts begun, without released ones  */
    relet_place place;
    relet_time at_ms;     /* since 1970, by the server; below 0: not known   */
    int is_cancelled;     /* while leased: its worker is to be told          */
    relet_span owners;    /* workers that had it, in order, blanks between   */
    relet_span progress, result, error; /* p is NULL if there is none        */
    uint64_t payload_len; /* of all of it: a list may cut payloads and texts */
    uint64_t told_len;    /* of all of the progress, result or error         */
} relet_job_info;

/* Look at one job. */
RELET_API int relet_queue_job_look(relet *r, relet_span queue, uint64_t number,
                                   relet_span id, const relet_request *q);

/* Read the reply of relet_queue_job_look: 1, or 0 if there is no such job. *out
 * is lent for as long as v. */
RELET_API int relet_queue_job_look_read(relet_value v, relet_job_info *out);

/* Keep a done job and its result for keep_ms from now, whatever its keep_ms was
 * before; 0: the next trim removes it. Read the reply by
 * relet_queue_job_look_read: it gives the job's place, its number and, for
 * RELET_AT_DONE, at_ms. A job in another place is not changed; a delayed job
 * shows as RELET_AT_WAITING. */
RELET_API int relet_queue_job_keep(relet *r, relet_span queue, uint64_t number,
                                   relet_span id, relet_time keep_ms,
                                   const relet_request *q);

/* List a page of the jobs in a place: `most` of them (at most 128) are looked
 * at, beginning with `from` (0 at first). type: only jobs of this type; NULL:
 * all. relet_queue_job_list_read gives the next `from`. Jobs that move between
 * two pages are listed twice or not at all. */
RELET_API int relet_queue_job_list(relet *r, relet_span queue,
                                   relet_place place, uint64_t from,
                                   uint32_t most, const relet_span *type,
                                   const relet_request *q);

/* Read the next job of the reply; *at is 0 at first. *go_on is the next `from`;
 * below 0: that was the last page. Returns 1, or 0 when there are no more. */
RELET_API int relet_queue_job_list_read(relet_value v, relet_place place,
                                        size_t *at, int64_t *go_on,
                                        relet_job_info *out);

/* Cancel a job. A job that does not run yet is removed. The worker of a running
 * job gets RELET_EV_JOB_CANCEL; however that job ends, it is not tried
 * again. */
typedef enum relet_cancelled {
    RELET_CANCEL_NONE, /* there is no such job                               */
    RELET_CANCEL_GONE, /* it did not run, and was removed                    */
    RELET_CANCEL_TOLD, /* it runs, and its worker will be told               */
    RELET_CANCEL_OVER  /* it had ended before                                */
} relet_cancelled;
RELET_API int relet_queue_job_cancel(relet *r, relet_span queue,
                                     uint64_t number, relet_span id,
                                     const relet_request *q);
RELET_API int relet_queue_job_cancel_read(relet_value v, relet_cancelled *out,
                                          uint64_t *number);

/* A queue in numbers: how many jobs are in which place, and how it is set. */
typedef struct relet_queue_info {
    int64_t version; /* 0: nothing was ever put                              */
    int64_t waiting, ranked, delayed, leased, done, dead; /* jobs, without
                      * cancelled ones                                       */
    int64_t idle;    /* workers without work                                 */
    int64_t put, done_ever;
    int64_t limit;   /* of leased jobs; below 0: none                        */
    int64_t is_closed, is_stopped; /* takes no jobs; gives no jobs out       */
    int64_t waits_s; /* since the first job in line was put; below 0: none */
    int64_t due_ms, lapse_ms; /* until a delayed job is due; until a lease
                      * ends; below 0: there is none                         */
    int64_t server_us; /* the server's clock, since 1970                     */
} relet_queue_info;
RELET_API int relet_queue_status(relet *r, relet_span queue,
                                 const relet_request *q);
RELET_API int relet_queue_status_read(relet_value v, relet_queue_info *out);

/* Make dead jobs wait again: those with these numbers (at most 128), or with
 * count 0 the `most` oldest ones (at most 128) after the first `from`. Jobs
 * that were cancelled, or replayed replays_max times before (0: 10), are
 * refused. One call looks at 1 MiB of jobs and then stops. With count 0, jobs
 * that were not replayed stay: pass the sum of refused and not_dead so far as
 * the next `from`. With numbers, go on after those looked at; their count is
 * the sum of replayed, refused and not_dead. A job keeps its id. If another job
 * has taken that id since, the id finds the other job.
 *
 * This reader, and those below, return 0 if the value is no such reply. */
typedef struct relet_replayed {
    uint64_t replayed, refused, not_dead;
    int more; /* there are jobs that were not looked at                      */
} relet_replayed;
RELET_API int relet_queue_replay(relet *r, relet_span queue,
                                 const uint64_t *numbers, size_t count,
                                 uint64_t from, uint32_t most,
                                 uint32_t replays_max, const relet_request *q);
RELET_API int relet_queue_replay_read(relet_value v, relet_replayed *out);

/* Put one job that is missing in the key of its place back into that key. A job
 * may be missing if keys were changed by hand or partly lost by the server. A
 * job in its place is left alone, so workers may go on meanwhile. lease_ms:
 * how long the worker of a job that is leased, but not listed among the leased
 * jobs, may still work on it. The reply is a text of letters, empty if all was
 * well:
 *   y  it waits again
 *   l  it is leased for lease_ms
 *   d  its result is kept for an hour
 *   x  it is dead
 *   h  future numbers and tokens exceed its own
 *   g  it had no record, and the rest was removed
 *   s  its state could not be read: it is dead
 *   u  its record or numbers cannot be read: nothing was changed */
RELET_API int relet_queue_repair(relet *r, relet_span queue, uint64_t number,
                                 relet_time lease_ms, const relet_request *q);

/* Remove jobs whatever their state: those of one place or, with
 * RELET_AT_NOWHERE, of all; at most `most` of them (at most 128), and fewer if
 * they are long. With `force` leased jobs go, too, and their workers lose them.
 * Without it a purge that would include leased jobs ends with the error
 * LEASED. */
typedef struct relet_removed {
    uint64_t removed;
    int more;
} relet_removed;
RELET_API int relet_queue_purge(relet *r, relet_span queue, relet_place place,
                                uint32_t most, int force,
                                const relet_request *q);
RELET_API int relet_queue_purge_read(relet_value v, relet_removed *out);

/* Maintenance. Workers do this by themselves; these calls are for queues
 * without such workers. relet_queue_reap: jobs whose leases have ended wait
 * again, to be leased by other workers, at most `most` (at most 128); jobs that
 * have stalled more than stalls_max times are dead. After a restart or failover
 * of the server no job is taken from its worker for hold_off_ms, so that living
 * workers can renew. */
typedef struct relet_reaped {
    uint64_t waiting, dead; /* jobs that wait again; that stalled too often  */
    relet_time again_ms;    /* until a lease ends; RELET_NEVER: no lease      */
    int64_t server_ms;      /* the server's clock, since 1970                */
} relet_reaped;
RELET_API int relet_queue_reap(relet *r, relet_span queue, uint32_t most,
                               uint32_t stalls_max, relet_time hold_off_ms,
                               const relet_request *q);
RELET_API int relet_queue_reap_read(relet_value v, relet_reaped *out);

/* Delayed jobs that are due begin to wait, at most `most` (at most 128). */
typedef struct relet_promoted {
    uint64_t promoted;
    relet_time due_ms; /* until the next job is due; RELET_NEVER: no job is  */
} relet_promoted;
RELET_API int relet_queue_promote(relet *r, relet_span queue, uint32_t most,
                                  const relet_request *q);
RELET_API int relet_queue_promote_read(relet_value v, relet_promoted *out);

/* Remove done jobs whose keep_ms is over, jobs that have been dead for dead_ms
 * (0: never), and the oldest ones over done_max and dead_max; at most `most`
 * (at most 128). */
RELET_API int relet_queue_trim(relet *r, relet_span queue, uint64_t done_max,
                               uint64_t dead_max, relet_time dead_ms,
                               uint32_t most, const relet_request *q);
RELET_API int relet_queue_trim_read(relet_value v, relet_removed *out);

/* Remove what the queue remembers of clients that have been gone for hours, and
 * closed windows of relet_queue_put_unique; looks at some 100 of them. The
 * reply is the next `from`: pass "" at first; a reply of "" is the end. It is
 * enough to call this seldom. */
RELET_API int relet_queue_forget(relet *r, relet_span queue, relet_span from,
                                 const relet_request *q);

/* The most jobs that may be leased at a time; 0: any number. */
RELET_API int relet_queue_limit(relet *r, relet_span queue, uint32_t limit,
                                const relet_request *q);

/* Pause a queue, so that it takes no jobs (RELET_IN), gives none out
 * (RELET_OUT), or both; and resume it. Jobs that run go on. */
#define RELET_IN 1
#define RELET_OUT 2
RELET_API int relet_queue_pause(relet *r, relet_span queue, int gates,
                                const relet_request *q);
RELET_API int relet_queue_resume(relet *r, relet_span queue, int gates,
                                 const relet_request *q);

#endif /* RELET_NO_QUEUE */

/* ----------------------------------------------------------------- 9 drivers
 *
 * The interface for drivers. A driver does, in a loop of its own:
 *
 *     while (relet_io_want(r, &io)) open or close link io.link;
 *     write what relet_io_pending lends, say so by relet_io_sent;
 *     wait for the link, at most until relet_deadline;
 *     read into what relet_io_space lends, say so by relet_io_received;
 *     relet_tick(r, now);
 *     while (relet_next(r, &ev)) …
 *
 * Read before you tick: an answer that is here already beats a deadline. */

/* How many links a client has at most. */
#define RELET_LINKS_MAX 1

/* A request to the driver, from relet_io_want. */
typedef struct relet_io {
    int link;            /* 0..RELET_LINKS_MAX-1                             */
    int open;            /* 1: open it, 0: close it                          */
    relet_scheme scheme; /* with open: TCP, TLS, UNIX, MEM or FILE           */
    const char *host;    /* lent until relet_finish                          */
    int port;
    relet_time deadline; /* give up by then and say so by relet_io_opened    */
} relet_io;

/* When relet_tick is next worth calling, if nothing else happens before. */
RELET_API relet_time relet_deadline(const relet *r);

/* Tell the client the time, in steady milliseconds from 0 on. A time before the
 * last one counts as the last one. */
RELET_API void relet_tick(relet *r, relet_time now);

/* Returns 1 and a request in *io if a link is to be opened or closed; else 0.
 * Each request comes once, and a link is closed before the next one is opened.
 * Call it until it returns 0,
 * and do what it says, before you call relet_io_opened or relet_io_closed:
 * after a request to open, these are about the new link. A link that is closed
 * on request needs no relet_io_closed. */
RELET_API int relet_io_want(relet *r, relet_io *io);

/* The link is open (err 0), or could not be opened; text (may be NULL) says
 * why, for people. */
RELET_API void relet_io_opened(relet *r, int link, int err, const char *text);

/* The link was closed or reset by the other side, or failed; all bytes that
 * could be read must have been given to relet_io_received before. */
RELET_API void relet_io_closed(relet *r, int link, int err, const char *text);

/* Lends room to read into; 0 when there is none until events are taken. */
RELET_API size_t relet_io_space(relet *r, int link, uint8_t **p);
RELET_API void relet_io_received(relet *r, int link, size_t n);

/* Lends bytes to write. Submitting may move them, and cancelling or a deadline
 * may take back what was not sent. Bytes that a TLS library has begun to
 * encrypt count as sent: call relet_io_sent at once, and keep what it has not
 * written. */
RELET_API size_t relet_io_pending(const relet *r, int link,
                                  const uint8_t **p);
RELET_API void relet_io_sent(relet *r, int link, size_t n);

#ifndef RELET_NO_POLL

/* The driver for POSIX systems. It has sockets, poll and a clock. */

/* Another way to move bytes, such as TLS. All calls are non-blocking. open
 * returns a session over a connected descriptor, or NULL; the descriptor stays
 * the driver's. The other functions take the session. handshake returns 0 when
 * done, or one of the codes below; read and write return the bytes moved, 0 for
 * the end of the stream, or a code. They must never raise SIGPIPE. After READ
 * or WRITE the same call comes again when the descriptor is ready for that; a
 * write then has the same p and n, so that a TLS library may have begun to
 * encrypt these bytes. */
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
    const char *(*problem)(void *session); /* a sentence or NULL; may be NULL;
                                            * session NULL: why open failed   */
} relet_transport;

/* The stores that clients with mem: and file: share (relet_local.h). */
typedef struct relet_stores relet_stores;

/* The settings of the driver. All of them may be 0. */
typedef struct relet_poll_config {
    const relet_transport *transport; /* rediss://; must outlive the client   */
    const int *fd;       /* a connected socket for the first link; NULL: none */
    int keepalive_s;     /* TCP keepalive idle time; 0: 60, below 0: none     */
    relet_stores *stores; /* shared with other clients, for mem: and file:;
                           * NULL: a store of its own (relet_local.h)         */
} relet_poll_config;

/* About fd. Once relet_open has succeeded, the client owns and closes it. The
 * links after the first go where the URL says. Without a URL they cannot be
 * opened: RELET_EV_DOWN tells that, and then close the client. With rediss://
 * the transport runs over fd. */

/* fork. A client belongs to the process that opened it. In a child process, or
 * a child of a child, each call with it is refused: functions that return a
 * code return RELET_E_FORKED, the others 0, RELET_NEVER for relet_deadline and
 * -1 for relet_poll_timeout, or do nothing; relet_refusal says why. No lease
 * and no job is valid there. Only relet_close is of use: it closes the child's
 * descriptors and frees its memory, sends nothing, and does not affect the
 * parent; a session of a transport is left as it is, since closing it would
 * send bytes. A child that wants a client opens its own. exec closes all
 * descriptors.
 *
 * To recognize a child costs a page of memory for each client, which the system
 * zeroes in a child (Linux 4.14, FreeBSD, OpenBSD), and no system calls. On
 * other systems the calls of this part compare the process number. There a
 * child is refused everything from the first such call on; operations that it
 * queued before are never sent.
 *
 * Clients made by relet_init know nothing of processes. A copy of such a client
 * in a child has no link of its own: do not drive it there, only call
 * relet_finish. */

/* Open a client. url may be NULL (then the configuration or the defaults say
 * where), c may be NULL, p may be NULL. With c NULL or c->seed 0 the seed is
 * taken from the system; with c NULL or c->resize NULL malloc is used.
 * Connecting begins with the first relet_wait; a server that cannot be reached
 * is no error here, but RELET_EV_DOWN tells it later. NULL and *fault (may be
 * NULL) on a wrong setting.
 *
 * Name look-up uses getaddrinfo and may block; numeric addresses do not. The
 * addresses of a name are tried side by side, one more each quarter of a
 * second, and the first to connect is taken. Signals are neither raised nor
 * handled, and every descriptor is closed by exec. */
RELET_API relet *relet_open(const char *url, const relet_config *c,
                            const relet_poll_config *p, relet_fault *fault);

/* The next event, waiting for it at most timeout_ms (below 0: for ever; 0:
 * do what can be done now). 1: *ev is lent. 0: time is up, or relet_wake was
 * called. A code: RELET_E_SYSTEM; RELET_E_STOPPED when it would wait for ever,
 * and no event can come any more, since the client was stopped or gave up. */
RELET_API int relet_wait(relet *r, relet_event *ev, int timeout_ms);

#ifndef RELET_SMALL

/* Wait for the outcome of the operation with this tag, and keep all other
 * events that come meanwhile: relet_next and relet_wait return them later, in
 * their order and before any newer event. So a program that leads or works can
 * ask a question at any place:
 *
 *     code = relet_command_text(r, &q, "GET", "key", (char *)NULL);
 *     if (code == 0 && relet_await(r, q.tag, &ev, -1) == 1)
 *         … ev.kind: any of the four outcomes …
 *
 * 1: *ev is lent. 0: no outcome came in `ms` (below 0: for ever; the timeout of
 * the operation counts in any case); the operation goes on, and you may wait
 * again. If operations share the tag, the first outcome. An outcome that an
 * earlier wait has kept is returned at once. relet_wake does not end this wait.
 * A code:
 *   RELET_E_REFUSED  no operation with this tag waits for its outcome
 *   RELET_E_MEMORY   no memory to keep an event: nothing is lost. relet_next
 *                    returns this event after those kept before, and then reads
 *                    on. If there is still no memory at relet_stop, the event
 *                    becomes RELET_EV_ERROR with RELET_WHY_MEMORY, or comes
 *                    without its value and texts
 *   RELET_E_LIMIT    the same, since what is kept would exceed reply_max bytes
 *                    (some 200 for each event, and its value and texts)
 *   RELET_E_SYSTEM, RELET_E_STOPPED, RELET_E_FORKED  as relet_wait
 * After MEMORY and LIMIT take events, then wait again. Memory is given back
 * when events are taken, and by relet_close.
 *
 * A kept event may be out of date when you take it. A lease may have been lost
 * since its GAINED was kept, for example, so ask relet_lease_valid_for. LOST is
 * kept like any other event, so a client that leads or works should not wait
 * for long. */
RELET_API int relet_await(relet *r, uint64_t tag, relet_event *ev,
                          relet_time ms);

#endif /* RELET_SMALL */

/* Wait in the same way for RELET_EV_LEASE_ENDED or RELET_EV_WORKER_ENDED, after
 * relet_lease_stop or relet_worker_stop. RELET_E_REFUSED: there is no lease or
 * worker with this number. The number is not given to a new lease or worker
 * while such an event is kept. A worker that has jobs ends only after you have
 * ended these jobs. */
#ifndef RELET_NO_LEASE
RELET_API int relet_lease_await_end(relet *r, int lease, relet_event *ev,
                                    relet_time ms);
#endif
#ifndef RELET_NO_QUEUE
RELET_API int relet_worker_await_end(relet *r, int worker, relet_event *ev,
                                     relet_time ms);
#endif

/* Send one command and wait for its outcome: 0 and *ev lent (any of the four
 * outcomes), or a code. For tools and scripts: it is RELET_E_REFUSED while
 * other operations are outstanding, there are leases or workers, or events are
 * kept; and events that are no outcome are dropped meanwhile. Elsewhere use
 * relet_await. RELET_E_TIMEOUT: no outcome came in timeout_ms, and the command
 * was cancelled. With timeout_ms below 0 the configured timeout applies, and
 * then a timeout is an outcome in *ev. */
RELET_API int relet_call(relet *r, const relet_span *argv, size_t argc,
                         relet_event *ev, int timeout_ms);

#ifndef RELET_SMALL
/* The same with the words as strings: relet_call_text(r, &ev, 1000, "GET", "k",
 * (char *)NULL). At most 64 words. */
RELET_API int relet_call_text(relet *r, relet_event *ev, int timeout_ms, ...)
    RELET_ENDS_WITH_NULL;
#endif

#ifndef RELET_NO_QUEUE

/* Put one job and wait for its end. 1: *end says how it ended: RELET_AT_DONE
 * and its result, RELET_AT_DEAD and the error, RELET_AT_NOWHERE: cancelled, or
 * gone. 0: the job was not put, or that is unknown; *ev is the outcome of the
 * put. A code: RELET_E_TIMEOUT if the job has not ended in timeout_ms, which
 * may not be below 0; the job then goes on, and end->work.number is its number.
 * An answer to the put and a last look for the end may take a second more. If
 * there is a job with the same id already, its end is waited for. The result is
 * pushed and also polled for, so that a lost message only delays it. It is kept
 * for a minute if keep_ms is 0.
 *
 * Each call subscribes to a channel of its own, which takes a place of
 * subscriptions_max until the server has confirmed the unsubscription.
 * Otherwise as relet_call; *ev and *end are lent until the next call. */
RELET_API int relet_queue_put_wait(relet *r, relet_span queue,
                                   const relet_job *job, relet_event *ev,
                                   relet_job_info *end, int timeout_ms);

#endif /* RELET_NO_QUEUE */

/* Make a relet_wait return soon: the running one, or else the next that would
 * have to wait. Wakes are not counted, and end no other function that waits.
 * The only function that another thread or a signal handler may call, and not
 * once relet_close has begun; in a child process it does nothing. */
RELET_API void relet_wake(relet *r);

/* Close the socket and free everything. r may be NULL. Open operations end
 * without an event; to get their outcomes, call relet_stop first. */
RELET_API void relet_close(relet *r);

/* For a loop of your own. Before each sleep call relet_fd or relet_watches,
 * which tell what to watch, and relet_poll_timeout, which tells how long to
 * sleep at most. After the sleep call relet_wait(r, &ev, 0), best until it
 * returns 0, and ask again: the answers change with each turn and with each
 * command. After a call that lent an event relet_poll_timeout is 0, as more
 * events may be there already.
 *
 * relet_fd, for loops that keep what they watch (epoll, libuv, libevent): one
 * descriptor, the same until relet_close. It is readable when relet_wait has
 * something to do. Begin to watch it once, only for reading, and stop before
 * relet_close. Each call of relet_fd brings it up to date. RELET_E_SYSTEM where
 * there is no epoll, and when the system refuses. See examples/loop_epoll.c,
 * loop_uv.c. */
RELET_API int relet_fd(relet *r);

/* relet_watches, for loops that list what to watch before each sleep (poll,
 * select): writes at most `max` descriptors, with events as for poll, and
 * returns their number. Do not keep them: relet_wait closes descriptors, and
 * the next one that the program opens may get the same number. */
typedef struct relet_watch {
    int fd;
    short events; /* POLLIN, POLLOUT */
} relet_watch;
#define RELET_WATCH_MAX (1 + 3 * RELET_LINKS_MAX)
RELET_API int relet_watches(relet *r, relet_watch *w, int max);

/* Milliseconds until relet_wait is worth calling though nothing happened on
 * the descriptors; -1: never. */
RELET_API int relet_poll_timeout(const relet *r);

/* The driver's clock: CLOCK_BOOTTIME where there is one. */
RELET_API relet_time relet_clock(void);

#ifndef RELET_SMALL
/* relet_config_env_from with the real environment. */
RELET_API int relet_config_env(relet_config *c, const char *scope,
                               relet_fault *fault);
#endif

#endif /* RELET_NO_POLL */

/* The version of the library that was linked. */
RELET_API const char *relet_version(void);

/* ---------------------------------------------------------------- private
 *
 * Nothing below is for users. These few functions step through a reply; they
 * are here so that compilers can inline them. */

#define RELET_NODE_ATTRIBUTE 12 /* kinds beside those of relet_type           */
#define RELET_NODE_END 13

RELET_API int relet_value_text_int(relet_value v, int64_t *out);

/* The node after n and all its children. */
static inline const relet_node *relet_node_behind(const relet_node *n)
{
    return n->kind < RELET_T_ARRAY ? n + 1 : n + ((size_t)n->payload + 1);
}

static inline relet_type relet_value_type(relet_value v)
{
    if (v.node == NULL || v.node->kind == RELET_NODE_END)
        return RELET_T_NULL;
    if (v.node->kind == RELET_NODE_ATTRIBUTE)
        return RELET_T_MAP;
    return (relet_type)v.node->kind;
}

static inline relet_span relet_value_text(relet_value v)
{
    const unsigned kinds = 1u << RELET_T_TEXT | 1u << RELET_T_ERROR |
                           1u << RELET_T_DOUBLE | 1u << RELET_T_BIG |
                           1u << RELET_T_VERBATIM;
    relet_span text = {NULL, 0};

    if (v.node != NULL && (kinds >> v.node->kind & 1u) != 0) {
        text.p = v.base + v.node->payload;
        text.n = v.node->len;
    }
    return text;
}

static inline int relet_value_int(relet_value v, int64_t *out)
{
    if (v.node == NULL || v.node->kind != RELET_T_INT)
        return relet_value_text_int(v, out);
    *out = v.node->payload;
    return 1;
}

static inline size_t relet_value_count(relet_value v)
{
    if (v.node == NULL || v.node->kind < RELET_T_ARRAY)
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
