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

/* Everything goes: data, scripts, clients' subscriptions and names stay. As
 * FLUSHALL and SCRIPT FLUSH; for a simulated restart use finish and init. */
RELET_API void relet_local_flush(relet_local *l);

#ifdef __cplusplus
}
#endif

#endif
