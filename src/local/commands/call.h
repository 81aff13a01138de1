/* SPDX-License-Identifier: MIT
 *
 * call.h - one running command: its arguments, and the functions it may use.
 *
 * This is the contract between the families of commands (cmd_hash.c and so
 * on) and the rest of the server. A family is a table of rows and a function
 * per row. The function reads c->argv, looks keys up, writes exactly one
 * reply to c->out, and reports what it changed. All else is up to the
 * dispatcher: arity, permission, memory, MULTI, scripts, time.
 *
 *   static void cmd_set_add(rlt_call *c)            SADD key member [...]
 *   {
 *       rlt_obj *o;
 *       int64_t n = 0;
 *       uint32_t i;
 *
 *       if (!rlt_call_write(c, 1, RLT_OBJ_SET, &o))
 *           return;                                 WRONGTYPE was replied
 *       if (o == NULL)
 *           o = rlt_call_make(c, 1, RLT_OBJ_SET);
 *       for (i = 2; i < c->argc; i++)
 *           n += rlt_set_add(&o->of.set, c->pool, c->argv[i]);
 *       if (n > 0) {
 *           rlt_call_changed(c, c->argv[1], RLT_EVENT_SET, "sadd");
 *           c->dirty += n - 1;                      changed() counted one
 *       }
 *       rlt_out_int(c->out, n);
 *   }
 *
 * Memory: before a WRITE command runs, the pool has promised enough for every
 * argument to become a key, an element or a field with its value
 * (rlt_call_cost), or what the row's own `bound` returns. So rlt_pool_get and
 * all functions that take from the promise cannot fail. If a command needs
 * more, in proportion to the stored data rather than to its arguments, either
 * `bound` counts it (which may look keys up with rlt_call_peek), or it is
 * taken as scratch before anything is changed. */
#ifndef RLT_CALL_H
#define RLT_CALL_H

#include "keys.h"
#include "num.h"
#include "out.h"

struct rlt_server;
struct rlt_peer;
struct rlt_command;

typedef struct rlt_call {
    struct rlt_server *server;
    struct rlt_peer *peer; /* the client; in a script, the one of EVAL       */
    rlt_pool *pool;
    rlt_rand *rand;
    rlt_keys *db;
    uint32_t db_index;
    const struct rlt_command *command;
    const struct rlt_command *container; /* the row of argv[0]               */
    const relet_span *argv; /* argv[0] is the name, argv[1] a subcommand     */
    uint32_t argc;
    rlt_out *out;
    int64_t now_ms, now_us; /* the wall clock; stands still in a script      */
    int in_script, in_exec;
    const struct rlt_call *outer; /* in a script: the EVAL that runs it      */
    int is_sub;            /* command is a subcommand's row                  */
    /* The key that woke a parked command: its function runs once more, and
     * serves from this key alone. NULL at other times. See rlt_call_block. */
    const relet_span *woken;
    /* What the command reports, 0 at first. */
    int64_t dirty;    /* changes made; above 0: goes into the log            */
    int told_effect;  /* the command wrote its own log entries               */
    int parked;       /* no reply now, rlt_call_block was called             */
    int failed;       /* an error was replied                                */
    void *scratch;    /* rlt_call_scratch's, freed at the end                */
} rlt_call;

/* -------------------------------------------------------------------- rows */

/* The flags of a command, as in COMMAND INFO. */
enum {
    RLT_CMD_WRITE = 1 << 0,
    RLT_CMD_READONLY = 1 << 1,
    RLT_CMD_DENYOOM = 1 << 2,
    RLT_CMD_ADMIN = 1 << 3,
    RLT_CMD_PUBSUB = 1 << 4,
    RLT_CMD_NOSCRIPT = 1 << 5,
    RLT_CMD_BLOCKING = 1 << 6,
    RLT_CMD_LOADING = 1 << 7,
    RLT_CMD_STALE = 1 << 8,
    RLT_CMD_FAST = 1 << 9,
    RLT_CMD_NO_AUTH = 1 << 10,
    RLT_CMD_NO_MULTI = 1 << 11,
    RLT_CMD_ALLOW_BUSY = 1 << 12,
    RLT_CMD_SKIP_MONITOR = 1 << 13,
    RLT_CMD_MOVABLE = 1 << 14,
    RLT_CMD_MAY_REPLICATE = 1 << 15,
    RLT_CMD_NO_ASYNC_LOADING = 1 << 16
};

typedef void rlt_command_fn(rlt_call *c);

/* Bytes to promise instead of rlt_call_cost(c). Called before the command,
 * with the arity checked and nothing else. */
typedef size_t rlt_bound_fn(const rlt_call *c);

/* Where a command's keys are, beside first/last/step. */
typedef enum rlt_key_find {
    RLT_KEYS_FIXED,   /* only there                                          */
    RLT_KEYS_COUNTED, /* argv[count_at] says how many follow it              */
    RLT_KEYS_STREAMS  /* the first half of what follows the word STREAMS     */
} rlt_key_find;

typedef struct rlt_command {
    const char *name; /* lower case; NULL ends a list of subcommands         */
    rlt_command_fn *run;
    int arity;        /* as COMMAND INFO: 3 exactly three, -3 at least       */
    uint32_t flags;
    /* Key positions as in COMMAND INFO; 0 0 0: none. last -1: to the end. */
    int8_t first, last, step;
    int8_t find;      /* rlt_key_find                                        */
    int8_t count_at;  /* for RLT_KEYS_COUNTED; first may be a store key      */
    rlt_bound_fn *bound; /* NULL: rlt_call_cost; only WRITE commands         */
    const struct rlt_command *sub; /* a container's subcommands; arity counts
                                    * the container's name too               */
} rlt_command;

/* Every family has one of these: returns its rows, and in *n their number. The
 * table in table.c lists them:
 *
 *   rlt_cmd_hash_rows    rlt_cmd_list_rows    rlt_cmd_set_rows
 *   rlt_cmd_zset_rows    rlt_cmd_stream_rows  rlt_cmd_group_rows
 *
 * A family that is several files has one such function per file or one for
 * all, as it likes; declare them in cmd_<family>.h. Statics of cmd_hash.c are
 * cmd_hash_*, as hash_* belong to data/hash.c. */
typedef const rlt_command *rlt_rows_fn(size_t *n);

/* Memory to promise so that every argument can be stored, with a key for it. */
RELET_PRIVATE size_t rlt_call_cost(const rlt_call *c);

/* ----------------------------------------------------------------- looking */

/* The object under argv[i], for reading or for writing: 1, *o NULL when there
 * is no such key; or 0 when WRONGTYPE was replied. A key that has expired is
 * deleted first, as in Redis, with its event and its DEL in the log. */
RELET_PRIVATE int rlt_call_read(rlt_call *c, uint32_t i, rlt_obj_type type,
                                rlt_obj **o);
RELET_PRIVATE int rlt_call_write(rlt_call *c, uint32_t i, rlt_obj_type type,
                                 rlt_obj **o);

/* The entry of a key of any type, which need not be an argument; NULL: none.
 * The entry can be passed to rlt_keys_expire and so on. */
RELET_PRIVATE rlt_entry *rlt_call_find_read(rlt_call *c, relet_span key);
RELET_PRIVATE rlt_entry *rlt_call_find_write(rlt_call *c, relet_span key);


/* The object of a key, without side effects: nothing is expired, touched or
 * counted. NULL for a key that is due. For bounds, and for a second look. */
RELET_PRIVATE rlt_obj *rlt_call_peek(const rlt_call *c, relet_span key);

/* ---------------------------------------------------------------- changing */

/* A new empty object under argv[i], where there was none. Clients that wait for
 * such a key are woken after the command, the transaction or the script. The
 * caller must then call rlt_call_changed. */
RELET_PRIVATE rlt_obj *rlt_call_make(rlt_call *c, uint32_t i,
                                     rlt_obj_type type);

/* A key has expired: deletes it, logs that, and notifies clients. */
RELET_PRIVATE void rlt_call_lapse(struct rlt_server *s, uint32_t db,
                                  rlt_entry *e);

/* Only that part of rlt_call_lapse that concerns watching clients. */
RELET_PRIVATE void rlt_call_watched_lapse(struct rlt_server *s, uint32_t db,
                                          relet_span key);

/* Put `o` (made by rlt_obj_new and the like) under the key, in place of any
 * object and expiry time there (a store command). Does not call
 * rlt_call_changed. */
RELET_PRIVATE rlt_entry *rlt_call_put(rlt_call *c, relet_span key,
                                      rlt_obj *o);

/* Delete the key: 1, or 0: there was none. Without rlt_call_changed or an
 * event. */
RELET_PRIVATE int rlt_call_delete(rlt_call *c, relet_span key);

/* When the object under argv[i] has no elements left: delete it, publish the
 * event "del" and return 1. Call it after rlt_call_changed. */
RELET_PRIVATE int rlt_call_delete_empty(rlt_call *c, uint32_t i,
                                        const rlt_obj *o);

/* Event classes, as in notify-keyspace-events. */
enum {
    RLT_EVENT_GENERIC = 1 << 2,   /* g */
    RLT_EVENT_STRING = 1 << 3,    /* $ */
    RLT_EVENT_LIST = 1 << 4,      /* l */
    RLT_EVENT_SET = 1 << 5,       /* s */
    RLT_EVENT_HASH = 1 << 6,      /* h */
    RLT_EVENT_ZSET = 1 << 7,      /* z */
    RLT_EVENT_EXPIRED = 1 << 8,   /* x */
    RLT_EVENT_EVICTED = 1 << 9,   /* e */
    RLT_EVENT_STREAM = 1 << 10,   /* t */
    RLT_EVENT_KEY_MISS = 1 << 11, /* m */
    RLT_EVENT_NEW = 1 << 14       /* n */
};

/* n elements were taken from the object of argv[i]: publish the event; when
 * none is left, delete the key, with its event; at last report the key as
 * modified. This is the order in Redis. */
RELET_PRIVATE void rlt_call_taken(rlt_call *c, uint32_t i, const rlt_obj *o,
                                  int class_, const char *event, int64_t n);

/* All in one: modified, event, and c->dirty++. */
RELET_PRIVATE void rlt_call_changed(rlt_call *c, relet_span key, int class_,
                                    const char *event);

/* Notify watching and tracking clients (signalModifiedKey). */
RELET_PRIVATE void rlt_call_modified(rlt_call *c, relet_span key);

/* Publish a keyspace event (notifyKeyspaceEvent). */
RELET_PRIVATE void rlt_call_event(rlt_call *c, int class_, const char *event,
                                  relet_span key);

/* ---------------------------------------------------------------- waiting */

/* The command cannot be answered yet: wait for one of the keys argv[first],
 * argv[first + step], … (n of them) to hold an object of that type. Returns
 *
 *   1  parked: return without a reply;
 *   0  it may not wait (in a script or in EXEC): reply as after a time-out.
 *
 * deadline_ms as rlt_call_timeout_s or _ms gave it. When a key is ready, the
 * same function runs again with c->woken set. It either replies, or calls
 * rlt_call_block once more (same arguments; the command keeps its place in the
 * queue and its deadline). After a time-out the null array is replied for it.
 * `flags`: RLT_BLOCK_GONE wakes also when the key was deleted or changed its
 * type (XREADGROUP; check rlt_call_find_read yourself then). */
enum { RLT_BLOCK_GONE = 1 };
RELET_PRIVATE int rlt_call_block(rlt_call *c, rlt_obj_type type,
                                 uint32_t first, uint32_t n, uint32_t step,
                                 int64_t deadline_ms, int flags);

/* Keeps bytes while parked, such as the id that $ stood for: _note copies them
 * before rlt_call_block, _noted lends them when woken. 1, or 0: OOM was
 * replied. */
RELET_PRIVATE int rlt_call_note(rlt_call *c, const void *p, size_t n);
RELET_PRIVATE const void *rlt_call_noted(const rlt_call *c, size_t *n);

/* This key has news (XADD, XGROUP DESTROY): commands that are parked on it run
 * again. rlt_call_make and rlt_call_put call this themselves. */
RELET_PRIVATE void rlt_call_ready(rlt_call *c, relet_span key);

/* ----------------------------------------------------------------- the log */

/* A command with dirty > 0 is logged as it was received. A command that must
 * not be repeated like that (SPOP, XADD with *, blocking commands, commands
 * that use the clock) logs other commands instead, any number of them: first
 * the number of words, then the words. rlt_call_effect_none: log nothing. */
RELET_PRIVATE void rlt_call_effect(rlt_call *c, size_t words);
RELET_PRIVATE void rlt_call_effect_word(rlt_call *c, relet_span word);
RELET_PRIVATE void rlt_call_effect_text(rlt_call *c, const char *word);
RELET_PRIVATE void rlt_call_effect_int(rlt_call *c, int64_t word);
RELET_PRIVATE void rlt_call_effect_none(rlt_call *c);

/* ---------------------------------------------------------------- arguments */

/* All of these: 1, or 0 when an error was replied. `error` NULL: the usual
 * error message (in brackets). */

/* [ERR value is not an integer or out of range] */
RELET_PRIVATE int rlt_call_int(rlt_call *c, uint32_t i, int64_t *v,
                               const char *error);

/* min <= v <= max; `error` both when it is no integer and when it is outside.
 * [not an integer: as above; outside: ERR value is out of range, value must
 * between <min> and <max>] */
RELET_PRIVATE int rlt_call_between(rlt_call *c, uint32_t i, int64_t min,
                                   int64_t max, int64_t *v,
                                   const char *error);

/* 0 and more. [ERR value is out of range, must be positive] */
RELET_PRIVATE int rlt_call_positive(rlt_call *c, uint32_t i, int64_t *v,
                                    const char *error);

/* [ERR value is not a valid float] */
RELET_PRIVATE int rlt_call_double(rlt_call *c, uint32_t i, double *v,
                                  const char *error);

/* A time-out to block for, in seconds with a fraction or in milliseconds:
 * *deadline_ms is 0 for ever. Replies to every bad time-out with its own
 * error. */
RELET_PRIVATE int rlt_call_timeout_s(rlt_call *c, uint32_t i,
                                     int64_t *deadline_ms);
RELET_PRIVATE int rlt_call_timeout_ms(rlt_call *c, uint32_t i,
                                      int64_t *deadline_ms);

/* 1 if argv[i] is this word, in any case; 0 beyond argc. No reply. */
RELET_PRIVATE int rlt_call_is(const rlt_call *c, uint32_t i,
                              const char *word);

/* SCAN, HSCAN, …: argv[i] is the cursor, behind it MATCH, COUNT (and TYPE with
 * `with_type`). match.p is NULL for all. */
typedef struct rlt_call_scan {
    uint64_t cursor;
    int64_t count;
    relet_span match;
    relet_span type;
} rlt_call_scan;
RELET_PRIVATE int rlt_call_scan_cursor(rlt_call *c, uint32_t i,
                                       rlt_call_scan *s);
RELET_PRIVATE int rlt_call_scan_options(rlt_call *c, uint32_t i,
                                        rlt_call_scan *s, int with_type);

/* Matches patterns as Redis does: * ? [a-z] [^a] and \x. */
RELET_PRIVATE int rlt_call_glob(relet_span pattern, relet_span s, int nocase);

/* ----------------------------------------------------------------- replies */

/* Reply an error, with its code: "ERR …". It is counted; use this rather than
 * rlt_out_error. The second form puts a word between two texts. */
RELET_PRIVATE void rlt_call_error(rlt_call *c, const char *text);
RELET_PRIVATE void rlt_call_error_with(rlt_call *c, const char *before,
                                       relet_span word, const char *after);

#define RLT_ERR_SYNTAX "ERR syntax error"
#define RLT_ERR_INT "ERR value is not an integer or out of range"
#define RLT_ERR_FLOAT "ERR value is not a valid float"
#define RLT_ERR_POSITIVE "ERR value is out of range, must be positive"
#define RLT_ERR_NO_KEY "ERR no such key"
#define RLT_ERR_INDEX "ERR index out of range"
#define RLT_ERR_OVERFLOW "ERR increment or decrement would overflow"
#define RLT_ERR_NAN "ERR increment would produce NaN or Infinity"
#define RLT_ERR_WRONGTYPE \
    "WRONGTYPE Operation against a key holding the wrong kind of value"
#define RLT_ERR_OOM \
    "OOM command not allowed when used memory > 'maxmemory'."

/* "ERR unknown subcommand or wrong number of arguments for 'x'. Try CMD HELP."
 * where x is argv[1]. */
RELET_PRIVATE void rlt_call_error_subcommand(rlt_call *c);

/* "ERR wrong number of arguments for 'name' command", for a count that the
 * arity cannot express. */
RELET_PRIVATE void rlt_call_error_arity(rlt_call *c);

/* "get", "client|kill"; name has RLT_CALL_NAME_MAX bytes. */
#define RLT_CALL_NAME_MAX 160
RELET_PRIVATE relet_span rlt_call_full_name(const rlt_command *command,
                                            relet_span container, char *name);

/* A row's function for HELP: the names of the subcommands, no more. */
RELET_PRIVATE void rlt_call_help(rlt_call *c);

/* Memory until the command is over, for sorting and gathering. Replies OOM and
 * returns NULL when there is none; so call it before changing anything. */
RELET_PRIVATE void *rlt_call_scratch(rlt_call *c, size_t n);

/* For the dispatcher: frees all scratch memory. */
RELET_PRIVATE void rlt_call_end(rlt_call *c);

#endif
