/* SPDX-License-Identifier: MIT
 *
 * state.h - the structs of a local server: databases, clients, waiters,
 * subscriptions, settings. A file in parentheses maintains the struct.
 */
#ifndef RLT_STATE_H
#define RLT_STATE_H

#include "call.h"
#include "sha1.h"
#include "relet_local.h"

struct rlt_peer;

#define RLT_TABLE_SIZE 1024 /* a power of two, four times the commands       */

/* ------------------------------------------------------------- databases */

/* One client that waits for one key (blocked.c). */
typedef struct rlt_waiter {
    struct rlt_waiter *next, *back; /* same key, in order of arrival         */
    struct rlt_waiter *of_peer;     /* the next key of the same peer         */
    struct rlt_peer *peer;
    rlt_entry *key;                 /* in db->waiting; value.p: first        */
} rlt_waiter;

typedef struct rlt_db {
    rlt_keys keys;
    rlt_dict waiting; /* key -> rlt_waiter *, the first                      */
} rlt_db;

/* ------------------------------------------------------------ subscribing */

typedef enum rlt_local_pubsub_kind {
    RLT_NEWS_CHANNEL,
    RLT_NEWS_PATTERN,
    RLT_NEWS_SHARD,
    RLT_NEWS_KINDS
} rlt_local_pubsub_kind;

/* One subscription (pubsub.c): in its topic's list and in its peer's dict. */
typedef struct rlt_reader {
    struct rlt_reader *next, *back; /* of the same topic                     */
    struct rlt_peer *peer;
    rlt_entry *topic; /* in server->topics[kind]; value.p: rlt_topic *       */
} rlt_reader;

typedef struct rlt_topic {
    rlt_reader *first, *last;
    uint32_t count;
} rlt_topic;

/* --------------------------------------------------------------- tracking */

enum {
    RLT_TRACK_ON = 1,
    RLT_TRACK_BCAST = 2,
    RLT_TRACK_OPTIN = 4,
    RLT_TRACK_OPTOUT = 8,
    RLT_TRACK_NOLOOP = 16,
    RLT_TRACK_CACHING = 32,       /* CLIENT CACHING, for the next command    */
    RLT_TRACK_BROKEN_REDIRECT = 64
};

/* One peer that may have a key in its cache (track.c). */
typedef struct rlt_tracker {
    struct rlt_tracker *next;
    uint64_t peer_id; /* this peer may be gone by now                        */
    int number;
} rlt_tracker;

/* A key prefix whose changes are broadcast, and the keys changed since the last
 * broadcast. */
typedef struct rlt_prefix {
    rlt_dict changed;  /* value.i: id of the peer that changed it last       */
    rlt_dict peers;    /* keyed by peer id, eight bytes                      */
} rlt_prefix;

/* ------------------------------------------------------------------- users */

typedef struct rlt_user {
    struct rlt_user *next;
    rlt_str *name;
    int enabled, no_password, all_keys, all_channels, all_commands;
    rlt_dict passwords; /* clear text: not for real secrets                  */
    rlt_dict keys;      /* patterns                                          */
    rlt_dict channels;
    rlt_dict rules;     /* "+get", "-@write": the last that matches counts   */
} rlt_user;

/* ------------------------------------------------------------------- peers */

/* A watched key of a peer (multi.c). */
typedef struct rlt_watching {
    struct rlt_watching *next;
    rlt_watch *watch;
    uint64_t changes;
    uint32_t db;
    int expired; /* the key was already due at WATCH                         */
} rlt_watching;

/* A queued command; its arguments follow it in the same block. */
typedef struct rlt_queued {
    struct rlt_queued *next;
    const rlt_command *command, *container;
    uint32_t argc;
    int is_sub;
    size_t size; /* of the block                                             */
} rlt_queued;

typedef enum rlt_peer_wait {
    RLT_WAIT_NONE,
    RLT_WAIT_KEYS,    /* BLPOP and so on                                     */
    RLT_WAIT_REPLICAS,/* WAIT                                                */
    RLT_WAIT_SLEEP,   /* DEBUG SLEEP                                         */
    RLT_WAIT_PAUSE    /* CLIENT PAUSE: its command has not begun             */
} rlt_peer_wait;

enum { RLT_REPLY_ON, RLT_REPLY_OFF, RLT_REPLY_SKIP, RLT_REPLY_SKIP_NEXT };

/* The decoder's state of the command that is arriving. */
typedef struct rlt_decode {
    int64_t words;   /* array elements still due; 0: a new command           */
    int64_t bulk;    /* bytes of the arriving string; -1: its header is due  */
    size_t at;       /* bytes of the buffer that are decoded                 */
    size_t searched; /* bytes searched for a line end                        */
} rlt_decode;

typedef struct rlt_arg {
    size_t at, n; /* offset in `in`, or in `words` if inline                 */
} rlt_arg;

typedef struct rlt_peer {
    int number;           /* index in server->peers                          */
    uint64_t id;
    struct rlt_server *server;
    rlt_buf in;
    rlt_out out;
    rlt_decode decode;
    rlt_arg *args;        /* of the command that is arriving                 */
    relet_span *argv;     /* args as spans, while the command runs           */
    uint32_t argc, args_cap;
    rlt_buf words;        /* unquoted arguments of an inline command         */
    int is_inline;        /* args are in `words`                             */
    int held;             /* the command stays in `in` during a wait         */
    uint32_t db;
    rlt_str *name;        /* NULL: none                                      */
    rlt_user *user;
    int authenticated;
    int closing;          /* to be closed once `out` is sent                 */
    int reply_mode;
    int no_evict;
    int replaying;
    int64_t created_ms, used_ms;
    const rlt_command *last, *last_container;
    /* multi.c */
    int in_multi, multi_broken, multi_changed;
    uint32_t multi_flags; /* of all queued commands, ORed                    */
    uint32_t multi_count;
    rlt_queued *multi_first, *multi_last;
    rlt_watching *watching;
    /* blocked.c */
    rlt_peer_wait wait;
    rlt_obj_type wait_type;
    int wait_flags;
    int64_t wait_until_ms; /* 0: for ever                                    */
    rlt_waiter *waiters;
    rlt_waiter *waiters_last;
    void *note;
    size_t note_size;
    struct rlt_peer *resume_next; /* in server->resume: has input left       */
    int resuming;
    struct rlt_peer *pause_next, *pause_back; /* in server->paused           */
    int again;             /* the command is yet to run, after a pause        */
    /* pubsub.c */
    rlt_dict subscribed[RLT_NEWS_KINDS]; /* value.p: rlt_reader *            */
    /* track.c */
    int tracking;
    uint64_t redirect;     /* id of the peer notified, 0: this one           */
    rlt_dict prefixes;
    rlt_out later;         /* own invalidations, sent after its reply        */
} rlt_peer;

/* ------------------------------------------------------------------ server */

/* A key that became available to waiters, in order (blocked.c). */
typedef struct rlt_came {
    struct rlt_came *next;
    uint32_t db;
    rlt_str *key;
} rlt_came;

typedef struct rlt_settings {
    uint64_t maxmemory;
    int notify;           /* RLT_EVENT_ bits, RLT_NOTIFY_KEYSPACE …          */
    int64_t proto_max_bulk;
    int64_t tracking_table_max;
} rlt_settings;

enum {
    RLT_NOTIFY_KEYSPACE = 1 << 0, /* K */
    RLT_NOTIFY_KEYEVENT = 1 << 1  /* E */
};

typedef struct rlt_counts {
    uint64_t connections, commands, expired, hits, misses, errors;
    uint64_t bytes_in, bytes_out;
} rlt_counts;

typedef struct rlt_server {
    relet_local_config config;
    rlt_memory memory;    /* counts and caps, then calls the user's          */
    size_t held, held_peak;
    rlt_pool pool;
    rlt_rand rand;
    char run_id[41], replid[41], replid2[41];
    int64_t now_us, start_us;
    int now_known;
    rlt_db *dbs;
    rlt_settings settings;
    rlt_counts counts;
    int64_t dirty;
    int active_expire;

    /* table.c: rows by name */
    const rlt_command *table[RLT_TABLE_SIZE];
    uint8_t table_category[RLT_TABLE_SIZE]; /* as in users.c                 */
    uint32_t commands;

    /* peers */
    rlt_peer **peers;
    uint32_t peers_cap, peers_count;
    uint64_t next_id;
    rlt_peer *current;    /* whose command is running                        */
    rlt_peer *resume;     /* peers with input left to run                    */
    rlt_peer *resume_last;
    uint32_t blocked;     /* peers that wait                                 */
    rlt_out nowhere;      /* replies that CLIENT REPLY turned off            */

    /* blocked.c */
    rlt_came *came, *came_last;
    int came_lost;        /* memory was short: a key is missing              */
    rlt_peer *paused, *paused_last; /* in order of arrival                   */
    int64_t pause_until_ms;
    int64_t asleep_until_ms; /* DEBUG SLEEP: nothing is read until then       */
    int pause_all;

    /* pubsub.c */
    rlt_dict topics[RLT_NEWS_KINDS];

    /* track.c */
    rlt_dict tracked;     /* key -> rlt_tracker *                            */
    rlt_dict prefixes;    /* prefix -> rlt_prefix *                          */
    uint32_t trackers;    /* peers that track                                */
    uint64_t tracked_items;

    /* propagate.c */
    rlt_buf effects;
    size_t effect_unit;   /* offset where this unit begins                   */
    uint32_t effect_count;/* commands in this unit                           */
    uint32_t effect_db;   /* database selected in the log; UINT32_MAX: none  */
    int effect_broken, effect_off;
    rlt_out dump;         /* what relet_local_dump lends                     */
    const rlt_entry *dump_next; /* the key that comes next                   */
    size_t effect_left;   /* words still due of the command being written    */

    struct rlt_scripts *scripts;
    const char *cut;      /* error that ends the next script; NULL: none     */
    uint32_t cut_behind;  /* … after this many changes                       */
    rlt_user *users;      /* sorted by name                                  */
    rlt_user *user_default;
} rlt_server;

#endif
