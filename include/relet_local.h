/* SPDX-License-Identifier: MIT
 *
 * relet_local.h - a RESP server in memory, fed with bytes and time.
 *
 * It answers as Redis 7.0 does, in RESP2 and RESP3, and runs scripts. It owns
 * no socket, clock, thread or file: connections are numbers, the wall clock is
 * what you last said it is, and bytes go in and out of buffers. The same bytes
 * at the same times give the same answers, on every machine.
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
 * What one client sends may make bytes for others: subscribers, those who wait
 * in BLPOP, those whose cached keys changed. So look at all of them with
 * relet_local_ready after each feed and each relet_local_time.
 *
 * Nothing here blocks, calls back (but the allocator) or is global. A server
 * belongs to one thread at a time.
 *
 * Memory. The server lives in the block that relet_local_init was given; data,
 * clients and scripts come from the allocator of the configuration, and
 * nothing fails when it is half done: a command that could not get the memory
 * it may need is refused with -OOM and has changed nothing. A client whose
 * replies do not fit is closed, as servers do at their output limit. */
#ifndef RELET_LOCAL_H
#define RELET_LOCAL_H

#include "relet.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct relet_local relet_local;

/* All zero is a good one but for `resize`, without which nothing can be
 * stored. */
typedef struct relet_local_config {
    relet_resize_fn *resize; /* as in relet_config                           */
    void *user;
    size_t memory_max;      /* bytes taken through it at most; 0: no limit.
                             * Beyond: -OOM, whatever CONFIG maxmemory says  */
    uint64_t seed;          /* of what is random: run id, SPOP, RANDOMKEY    */
    uint32_t clients_max;   /* 0: 1024                                       */
    uint32_t databases;     /* 0: 16                                         */
    size_t input_max;       /* bytes of one command; 0: 512 MiB              */
    size_t output_max;      /* bytes of replies not yet taken; 0: 1 GiB      */
    uint64_t script_steps;  /* a script that takes more ends in an error;
                             * 0: 50 million, some seconds                   */
    size_t script_memory;   /* bytes a script may use; 0: 64 MiB             */
    int effects;            /* 1: keep what changes, for relet_local_effects */
    int port;               /* what INFO tells; 0: 6379                      */
    const char *run_id;     /* what INFO tells, 40 hex digits; NULL: drawn. A
                             * server that was a replica has kept its own    */
    const char *replid;     /* … and was one of the master with this id: its
                             * own is new, this one its second. NULL: none   */
} relet_local_config;

/* Bytes of the block, aligned as malloc does it. */
RELET_API size_t relet_local_size(void);

/* A server in the block, empty, its clock at 0. *config is copied; NULL is as
 * all zero. NULL when memory_size is too small or the allocator refuses. */
RELET_API relet_local *relet_local_init(void *memory, size_t memory_size,
                                        const relet_local_config *config);

/* Gives everything back to the allocator; the block is yours again. */
RELET_API void relet_local_finish(relet_local *l);

/* -------------------------------------------------------------- connections */

/* A new connection: its number, 0 or more, or RELET_E_LIMIT, RELET_E_MEMORY.
 * The numbers of those that hung up are used again. */
RELET_API int relet_local_connect(relet_local *l);

/* Bytes from the client, cut anywhere. Whole commands in them are run now. */
RELET_API void relet_local_feed(relet_local *l, int id, const void *p,
                                size_t n);

/* Lends bytes for the client, until the next call with this server; returns
 * how many. Then say how many of them were carried away. */
RELET_API size_t relet_local_output(const relet_local *l, int id,
                                    const uint8_t **p);
RELET_API void relet_local_sent(relet_local *l, int id, size_t n);

/* The client is gone. Its number ends. */
RELET_API void relet_local_hangup(relet_local *l, int id);

/* 1 when the server wants the connection closed: carry what output there is,
 * then hang up. */
RELET_API int relet_local_closed(const relet_local *l, int id);

/* The next connection, at or behind number `from`, that has output or wants to
 * be closed; -1: none. */
RELET_API int relet_local_ready(const relet_local *l, int from);

/* -------------------------------------------------------------------- time */

/* The wall clock in microseconds since 1970. It may jump, also back. Blocked
 * clients time out and keys expire on it, now. */
RELET_API void relet_local_time(relet_local *l, int64_t wall_us);

/* When relet_local_time is next worth calling, in the same time: a blocked
 * client times out, a pause ends, a key expires. INT64_MAX: nothing waits. */
RELET_API int64_t relet_local_deadline(const relet_local *l);

/* ----------------------------------------------------------------- effects */

/* What was changed since the effects were last taken, as commands in RESP that
 * make the same changes when they are fed to an empty server: SPOP as SREM,
 * times to end as points in time, a script or a transaction within MULTI and
 * EXEC. Lends them until the next call; returns how many bytes, and says in
 * *broken whether memory was short and some are missing, so that only a dump
 * of everything will do. Only with `effects` in the configuration. */
RELET_API size_t relet_local_effects(const relet_local *l, const uint8_t **p,
                                     int *broken);
RELET_API void relet_local_effects_taken(relet_local *l, size_t n);

/* The whole data set as such commands, a part at a time. *at is 0 at first;
 * lends some bytes until the next call and moves *at on; returns 0 at the end.
 * Nothing may be fed between the parts. *broken as above. */
RELET_API size_t relet_local_dump(relet_local *l, uint64_t *at,
                                  const uint8_t **p, int *broken);

/* While replaying: commands of this connection are not logged again, need no
 * password, and their deadlines do not end them (a key that is due goes at the
 * next command of another). */
RELET_API void relet_local_replay(relet_local *l, int id, int on);

/* -------------------------------------------------------------------- state */

/* Bytes in use of the allocator: by data alone, and all. */
RELET_API size_t relet_local_used(const relet_local *l, size_t *held);

/* For tests: the next script makes so many changes, and ends with this error
 * where it is about to make one more; what it has changed stays. So a script
 * ends whose server refuses it a command in its middle: for its user, or as the
 * slot of its keys migrates. `error` begins with a code, as in "ERR text", and
 * is yours; NULL: no script is cut. It holds for one script. */
RELET_API void relet_local_cut(relet_local *l, uint32_t changes,
                               const char *error);

/* Everything goes: data, scripts, clients' subscriptions and names stay. As
 * FLUSHALL and SCRIPT FLUSH; for a simulated restart use finish and init. */
RELET_API void relet_local_flush(relet_local *l);

#ifndef RELET_NO_POLL

/* ------------------------------------------------------------ mem: and file:
 *
 * A client of the driver for POSIX (relet.h, part 5) with no server at all:
 *
 *   relet *r = relet_open("file:/var/lib/door/jobs.relet", NULL, NULL, &fault);
 *
 *   code = relet_command_text(r, NULL, "RPUSH", "jobs", "open", (char *)NULL);
 *   while (code == 0 && relet_wait(r, &ev, 1000) > 0)
 *       …                       as with any server: RELET_UP, RELET_REPLY
 *   relet_close(r);
 *
 * It needs relet_local.c beside relet.c, and relet.c compiled with
 * -DRELET_LOCAL. The link of such a client is a connection number of a local
 * server, a store; nothing else is different. There is no thread and no
 * socket: commands are run in relet_wait and relet_call.
 *
 *   mem:        a store of this client, gone with it
 *   mem:NAME    one that clients share which were given the same relet_stores
 *   file:PATH   what is in the file; shared in the same way, but one store, of
 *               one process, at a time: others are refused ("in use"), which
 *               RELET_DOWN tells, and they try again until they can have it
 *
 * Clients that share a store belong to one thread, and each of them moves only
 * what is its own: what client A does for client B (a message, an element for
 * its BLPOP) is told by B's next relet_wait, and B's relet_poll_timeout is 0.
 *
 *   relet_stores *all = relet_stores_make(NULL);
 *   relet_poll_config p = {0};
 *
 *   p.stores = all;
 *   a = relet_open("mem:jobs", NULL, &p, &fault);
 *   b = relet_open("mem:jobs", NULL, &p, &fault);
 *   relet_stores_close(all);    now or after them: a and b keep what they need
 *
 * The file. It is a log of changes, which is read when the first client
 * connects. It holds keys and when they end, streams with their groups, and
 * nothing else: no scripts, users, settings, subscriptions. What one command,
 * one transaction or one script changed is in it whole or not at all.
 * `?fsync=`:
 *
 *   always     before a command is answered its changes are safe on disk. The
 *              default, since an answer should be true. It costs a sync, some
 *              milliseconds on flash, which commands that are under way
 *              together share
 *   everysec   they are within a second. A crash of the process loses nothing,
 *              a power cut the last second
 *   never      … as the system pleases. relet_close still sees to it
 *
 * Whatever is torn at the end, as a crash leaves it, is cut off when the file
 * is read, and relet_store_info tells how much. What is wrong further in is
 * damage: the file is refused with the place, and nothing is cut by itself.
 *
 * When a change cannot be written (the disk is full, or failing), it is not
 * answered: all links of the store break, operations are RELET_UNSURE, and the
 * next link begins with what is in the file.
 *
 * When the log is twice as long as when it was last written anew, and has
 * rewrite_min bytes, it is written anew beside itself (PATH.new), which then
 * takes its place. That happens at once, while everybody waits, and needs that
 * much room on the disk. A crash meanwhile leaves one of the two. */

/* All zero is a good one. */
typedef struct relet_stores_config {
    relet_local_config local; /* of each store. resize NULL: malloc, seed 0:
                               * that of its first client; `effects` does not
                               * count                                        */
    uint64_t rewrite_min;     /* 0: 1 MiB                                     */
} relet_stores_config;

/* Stores that clients share. *c is copied, NULL is as all zero. NULL: no
 * memory. They are for the process that made them: in a child relet_open with
 * them is RELET_E_FORKED, and leaving and closing only close descriptors. A file
 * stays locked until each child has closed its clients too, or called exec. */
RELET_API relet_stores *relet_stores_make(const relet_stores_config *c);

/* No more clients will be opened with these stores. A store named by mem: ends
 * here, or with its last client; one of a file ends with its last client even
 * before that. NULL is fine. */
RELET_API void relet_stores_close(relet_stores *all);

typedef struct relet_store_info {
    size_t memory;       /* bytes of keys and values                         */
    uint64_t log_bytes;  /* of the file; this and the rest is 0 with mem:    */
    uint64_t cut_at;     /* when it was opened it was torn here, …           */
    uint64_t cut_bytes;  /* … and so much was cut off; 0: it was whole       */
    uint64_t replayed;   /* records read when it was opened                  */
    uint64_t records;    /* … written since                                  */
    uint64_t syncs;      /* times that was made safe                         */
    uint64_t rewrites;
} relet_store_info;

/* About the store that this client has a link to: 1, or 0 when it has none. */
RELET_API int relet_store_info_get(const relet *r, relet_store_info *out);

/* ---- for drivers: what relet_open makes of mem: and file:, by hand */

typedef struct relet_store relet_store; /* one client's end of a store       */

/* Where c->scheme, c->host and c->fsync say. `all` may be NULL. NULL and *fault
 * when that cannot be; a file is not touched before a link is wished for. */
RELET_API relet_store *relet_store_join(relet_stores *all,
                                        const relet_config *c,
                                        relet_fault *fault);

/* Hang up, see to it that all is safe, and leave. The client hears nothing. */
RELET_API void relet_store_leave(relet_store *k);

/* What relet_io_want said; the wish may be answered at once. */
RELET_API void relet_store_wish(relet_store *k, relet *r, const relet_io *io);

/* Move bytes both ways as far as that goes, and do what is due. Then take
 * events, tick, and ask for the deadline, by relet_clock. */
RELET_API void relet_store_move(relet_store *k);
RELET_API relet_time relet_store_deadline(const relet_store *k);

/* As relet_store_info_get. */
RELET_API int relet_store_tell(const relet_store *k, relet_store_info *out);

#endif /* RELET_NO_POLL */

#ifdef __cplusplus
}
#endif

#endif
