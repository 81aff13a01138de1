/* SPDX-License-Identifier: MIT
 *
 * relet_local.h - a RESP server in memory, fed with bytes and time.
 *
 * It answers as Redis 7.0 does, in RESP2 and RESP3, and runs scripts. It owns
 * no socket, clock, thread or file: connections are numbers, you set the wall
 * clock, and bytes go in and out of buffers. The same bytes at the same times
 * give the same answers, on every machine.
 *
 *   relet_local *l = relet_local_init(memory, relet_local_size(), &config);
 *   int id = relet_local_connect(l);
 *
 *   relet_local_time(l, wall_us);
 *   relet_local_feed(l, id, bytes, n);
 *   while ((n = relet_local_output(l, id, &p)) > 0)
 *       relet_local_sent(l, id, carry(p, n));
 *   if (relet_local_closed(l, id))
 *       relet_local_hangup(l, id);
 *
 * Bytes from one client may produce output for others: subscribers, clients
 * that wait in BLPOP, clients whose cached keys changed. So check all
 * connections with relet_local_ready after each feed and each relet_local_time.
 *
 * Nothing here blocks, calls back (but the allocator) or is global. A server
 * belongs to one thread at a time.
 *
 * Memory. The server lives in the block that relet_local_init was given; data,
 * clients and scripts come from the allocator of the configuration. No command
 * fails half done: one that cannot get the memory that it may need is refused
 * with -OOM and has changed nothing. A client whose replies do not fit is
 * closed, as servers do at their output limit. */
#ifndef RELET_LOCAL_H
#define RELET_LOCAL_H

#include "relet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A server. */
typedef struct relet_local relet_local;

/* A configuration may be all zero except for `resize`, without which nothing
 * can be stored. */
typedef struct relet_local_config {
    relet_resize_fn *resize; /* as in relet_config                           */
    void *user;
    size_t memory_max;      /* bytes taken through resize; 0: no limit.
                             * Beyond: -OOM, whatever CONFIG maxmemory says  */
    uint64_t seed;          /* for random choices: run id, SPOP, RANDOMKEY   */
    uint32_t clients_max;   /* 0: 1024                                       */
    uint32_t databases;     /* 0: 16                                         */
    size_t input_max;       /* bytes of one command; 0: 512 MiB              */
    size_t output_max;      /* bytes of replies not yet taken; 0: 1 GiB      */
    uint64_t script_steps;  /* a script that takes more ends in an error;
                             * 0: 50 million, some seconds                   */
    size_t script_memory;   /* bytes a script may use; 0: 64 MiB             */
    int effects;            /* 1: keep the changes, for relet_local_effects  */
    int port;               /* as INFO shows it; 0: 6379                     */
    const char *run_id;     /* as INFO shows it, 40 hex digits; NULL: random.
                             * A promoted replica keeps its own              */
    const char *replid;     /* for a promoted replica: the replication id of
                             * its master, shown as its second id; its first
                             * id is new. NULL: it was no replica            */
} relet_local_config;

/* Bytes that the block needs, aligned as malloc does it. */
RELET_API size_t relet_local_size(void);

/* Makes an empty server in the block, with its clock at 0. *config is copied;
 * NULL is as all zero. Returns NULL when memory_size is too small or the
 * allocator refuses. */
RELET_API relet_local *relet_local_init(void *memory, size_t memory_size,
                                        const relet_local_config *config);

/* Gives everything back to the allocator; the block is yours again. */
RELET_API void relet_local_finish(relet_local *l);

/* -------------------------------------------------------------- connections */

/* Opens a connection: returns its number, 0 or more, or RELET_E_LIMIT,
 * RELET_E_MEMORY. Numbers of ended connections are used again. */
RELET_API int relet_local_connect(relet_local *l);

/* Bytes from the client, cut anywhere. Whole commands in them are run now. */
RELET_API void relet_local_feed(relet_local *l, int id, const void *p,
                                size_t n);

/* Lends bytes for the client, until the next call with this server; returns
 * how many. Then relet_local_sent says how many of them were taken. */
RELET_API size_t relet_local_output(const relet_local *l, int id,
                                    const uint8_t **p);
RELET_API void relet_local_sent(relet_local *l, int id, size_t n);

/* The client is gone. Ends the connection and its number. */
RELET_API void relet_local_hangup(relet_local *l, int id);

/* 1 when the server wants the connection closed: take its remaining output,
 * then hang up. */
RELET_API int relet_local_closed(const relet_local *l, int id);

/* The first connection, from number `from` on, that has output or is to be
 * closed; -1: none. */
RELET_API int relet_local_ready(const relet_local *l, int from);

/* -------------------------------------------------------------------- time */

/* Sets the wall clock, in microseconds since 1970. It may jump, also back.
 * Blocked clients whose time is up and keys that are due end in this call. */
RELET_API void relet_local_time(relet_local *l, int64_t wall_us);

/* When relet_local_time is next worth calling, by the same clock: then a
 * blocked client times out, a pause ends or a key expires. INT64_MAX: nothing
 * waits. */
RELET_API int64_t relet_local_deadline(const relet_local *l);

/* ----------------------------------------------------------------- effects */

/* The changes since the effects were last taken, as commands in RESP that make
 * the same changes when all are fed, in order, to an empty server: SPOP as
 * SREM, expiry as points in time, a script or a transaction within MULTI and
 * EXEC. Lends them until the next call and returns how many bytes. *broken is 1
 * if memory was short and some are missing: then only a dump of everything is
 * complete. Only with `effects` in the configuration. */
RELET_API size_t relet_local_effects(const relet_local *l, const uint8_t **p,
                                     int *broken);
RELET_API void relet_local_effects_taken(relet_local *l, size_t n);

/* The whole data set as such commands, a part at a time. *at is 0 at first.
 * Each call lends some bytes until the next call, returns how many, and moves
 * *at on; it returns 0 at the end. Feed nothing between the parts. *broken as
 * above. */
RELET_API size_t relet_local_dump(relet_local *l, uint64_t *at,
                                  const uint8_t **p, int *broken);

/* Turns replaying on or off for a connection. Meanwhile its commands are not
 * logged again, need no password, and expire no keys (a key that is due goes at
 * the next command of another connection). */
RELET_API void relet_local_replay(relet_local *l, int id, int on);

/* -------------------------------------------------------------------- state */

/* Returns the bytes of the allocator that data use; *held (may be NULL): all
 * bytes in use. */
RELET_API size_t relet_local_used(const relet_local *l, size_t *held);

/* For tests: the next script ends with this error when it is about to make more
 * than so many changes; the changes made before stay. A server ends a script so
 * when it refuses one of its commands: for lack of a permission, or as the hash
 * slot of its keys migrates. `error` begins with a code, as in "ERR text", and
 * stays yours; NULL: no script is cut. It holds for one script. */
RELET_API void relet_local_cut(relet_local *l, uint32_t changes,
                               const char *error);

/* Removes data and scripts, as FLUSHALL and SCRIPT FLUSH do; subscriptions and
 * names of clients stay. For a simulated restart use finish and init. */
RELET_API void relet_local_flush(relet_local *l);

#ifndef RELET_NO_POLL

/* ------------------------------------------------------------ mem: and file:
 *
 * A client of the driver for POSIX (relet.h, part 9) with no server at all:
 *
 *   relet *r = relet_open("file:jobs.relet", NULL, NULL, &fault);
 *
 *   code = relet_command_text(r, NULL, "RPUSH", "jobs", "x", (char *)NULL);
 *   while (code == 0 && relet_wait(r, &ev, 1000) > 0)
 *       …         as with any server: RELET_EV_UP, RELET_EV_REPLY
 *   relet_close(r);
 *
 * It needs relet_local.c beside relet.c, and relet.c compiled with
 * -DRELET_LOCAL. The link of such a client is a connection number of a local
 * server, called a store; nothing else is different. There is no thread and no
 * socket: commands are run in relet_wait and relet_call.
 *
 *   mem:        a store of this client alone, which ends with the client
 *   mem:NAME    a store shared by the clients with the same relet_stores
 *   file:PATH   a store with its data in the file; shared in the same way. Only
 *               one store of one process may have the file open: others are
 *               refused ("in use"), which RELET_EV_DOWN tells, and try again
 *               until the file is free
 *
 * Clients that share a store belong to one thread, and each of them moves only
 * its own bytes: what client A causes for client B (a message, an element for
 * its BLPOP) arrives in B's next relet_wait, and B's relet_poll_timeout is 0.
 *
 *   relet_stores *all = relet_stores_make(NULL);
 *   relet_poll_config p = {0};
 *
 *   p.stores = all;
 *   a = relet_open("mem:jobs", NULL, &p, &fault);
 *   b = relet_open("mem:jobs", NULL, &p, &fault);
 *   relet_stores_close(all); now or after them: a and b keep what they need
 *
 * The file. It is a log of changes, which is read when the first client
 * connects. It holds keys and when they end, streams with their groups, and
 * nothing else: no scripts, users, settings, subscriptions. What one command,
 * one transaction or one script changed is in it whole or not at all.
 * `?fsync=`:
 *
 *   always     the changes of a command are safe on disk before it is answered.
 *              The default, so that no answered change is lost. It costs a
 *              sync, some milliseconds on flash, which commands that are under
 *              way together share
 *   everysec   the changes are safe on disk within a second. A crash of the
 *              process loses nothing, a power cut loses the last second
 *   never      the system decides when; relet_close still syncs
 *
 * A torn end, as a crash leaves it, is cut off when the file is read, and
 * relet_store_info tells how much was cut. An error before the end is damage:
 * the file is refused, the message tells the offset, and nothing is cut.
 *
 * When a change cannot be written (the disk is full, or failing), it is not
 * answered: all links of the store break, operations are RELET_EV_UNSURE, and
 * the next link begins with what is in the file.
 *
 * When the log is twice as long as after its last rewrite, and has rewrite_min
 * bytes, it is rewritten: a new file (PATH.new) is written beside it and takes
 * its place. All clients wait meanwhile, and the disk needs room for both. A
 * crash meanwhile leaves one of the two. */

/* A configuration may be all zero. */
typedef struct relet_stores_config {
    relet_local_config local; /* of each store. resize NULL: malloc; seed 0:
                               * that of its first client; `effects` is
                               * ignored                                      */
    uint64_t rewrite_min;     /* 0: 1 MiB                                     */
} relet_stores_config;

/* Makes stores that clients can share. *c is copied; c NULL is as all zero.
 * Returns NULL without memory. They belong to the process that made them: in a
 * child process relet_open with them fails with RELET_E_FORKED, and closing
 * them or their clients only closes descriptors. A file stays locked until each
 * child has closed its clients, too, or called exec. */
RELET_API relet_stores *relet_stores_make(const relet_stores_config *c);

/* No more clients will be opened with these stores. A store of mem:NAME ends
 * here, or with its last client if that is later. A store of a file ends with
 * its last client, also before this call. NULL is allowed. */
RELET_API void relet_stores_close(relet_stores *all);

/* The state of a store. */
typedef struct relet_store_info {
    size_t memory;       /* bytes of keys and values                         */
    uint64_t log_bytes;  /* of the file; 0 with mem:, as all that follow     */
    uint64_t cut_at;     /* where a torn end was cut off when opening         */
    uint64_t cut_bytes;  /* the size of that end; 0: the file was whole      */
    uint64_t replayed;   /* records read when the file was opened            */
    uint64_t records;    /* records written since                            */
    uint64_t syncs;      /* syncs that succeeded                             */
    uint64_t rewrites;
} relet_store_info;

/* Returns 1 and the state of the store to which this client has a link; 0 if it
 * has no link. */
RELET_API int relet_store_info_get(const relet *r, relet_store_info *out);

/* -------------------------------------------------------------- for drivers
 *
 * What relet_open does for mem: and file:, step by step. */

/* One client's end of a store. */
typedef struct relet_store relet_store;

/* Joins the store that c->scheme, c->host and c->fsync name. `all` may be NULL.
 * Returns NULL and *fault when that is not possible. A file is not touched
 * before a link is asked for. */
RELET_API relet_store *relet_store_join(relet_stores *all,
                                        const relet_config *c,
                                        relet_fault *fault);

/* Hangs up, syncs the log, and leaves the store. The client is told nothing. */
RELET_API void relet_store_leave(relet_store *k);

/* Passes on a request of relet_io_want, which may be answered at once. */
RELET_API void relet_store_wish(relet_store *k, relet *r, const relet_io *io);

/* Moves bytes both ways until none can be moved, and does what is due. After it
 * take events, tick, and ask for the deadline, by relet_clock. */
RELET_API void relet_store_move(relet_store *k);
RELET_API relet_time relet_store_deadline(const relet_store *k);

/* As relet_store_info_get. */
RELET_API int relet_store_tell(const relet_store *k, relet_store_info *out);

#endif /* RELET_NO_POLL */

#ifdef __cplusplus
}
#endif

#endif
