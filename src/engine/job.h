/* SPDX-License-Identifier: MIT
 *
 * job.h - what a job is on the server: the names of a queue's keys, the head
 * in front of a payload, the state behind a lease.
 *
 * A record is what was put, and never changes:
 *
 *   . seconds payload         plain; 4 bytes, highest first
 *   + seconds head payload    8 hexadecimal digits
 *
 * where a head is RANK,DELAY,N,N,N; and, N bytes each, type, id and options:
 * a letter and a number each, blanks between them, and last r with a channel.
 * Scripts read all of them but the numbers among the options.
 *
 * All that a queue knows of job 17 is in one hash, `jobs`, so that one command
 * reads or changes it, and nothing of it outlives it:
 *
 *   17    its record
 *   17s   its state, once it was claimed; rlt_job_state_read says more
 *   17r   p and its progress, x and its last error, or d and its result
 *
 * beside what the queue knows of itself: version, seq, fence, closed, stopped,
 * limit, due, ranks, run, open, done; and of its clients, for repeats: p, c,
 * d or f and a name, with the number of the last step and its answer. The
 * other keys say where a job is. A number that stands in one of them without
 * a record, or whose state says otherwise, is passed over: so a job can be
 * cancelled without a search, and a step be cut short anywhere. */
#ifndef RLT_JOB_H
#define RLT_JOB_H

#include "base.h"

/* ------------------------------------------------------------------- names */

typedef enum rlt_queue_key {
    RLT_KEY_JOBS,
    RLT_KEY_WAITING,
    RLT_KEY_RANKED,
    RLT_KEY_DELAYED,
    RLT_KEY_LEASED,
    RLT_KEY_DONE,
    RLT_KEY_DEAD,
    RLT_KEY_IDS,
    RLT_KEY_IDLE
} rlt_queue_key;
#define RLT_QUEUE_KEYS 9
#define RLT_QUEUE_NAME_MAX 200

/* {PREFIX:NAME}, the part of all keys that decides upon their slot. */
typedef struct rlt_queue_tag {
    char text[RLT_QUEUE_NAME_MAX + 2];
    uint8_t len;
} rlt_queue_tag;

/* NULL, or the rule that prefix and name break. */
RELET_PRIVATE const char *rlt_queue_tag_make(rlt_queue_tag *q,
                                             relet_span prefix,
                                             relet_span name);

/* {PREFIX:NAME}:jobs or another, made in `room`. */
#define RLT_QUEUE_KEY_MAX (RLT_QUEUE_NAME_MAX + 12)
RELET_PRIVATE relet_span rlt_queue_name(const rlt_queue_tag *q,
                                        rlt_queue_key key,
                                        char room[RLT_QUEUE_KEY_MAX]);

/* ------------------------------------------------------------------- heads */

#define RLT_JOB_TEXT_MAX 255 /* bytes of an id, of a type                    */
#define RLT_JOB_HEAD_MAX (3 * RLT_JOB_TEXT_MAX + 256)

/* NULL, or the rule that a job breaks. */
RELET_PRIVATE const char *rlt_job_rule(const relet_job *j);

/* The head that stands for all but its payload: how many bytes; 0: it is plain
 * and needs none. It breaks no rule. */
RELET_PRIVATE size_t rlt_job_head(const relet_job *j,
                                  char out[RLT_JOB_HEAD_MAX]);

/* A record, taken apart; spans point into it. 1; or 0: it is none of ours, and
 * all of it is the payload. */
RELET_PRIVATE int rlt_job_read(relet_span record, relet_job *j,
                               uint64_t *born_s);

/* ------------------------------------------------------------------ states */

/* "L token attempts stalls replays flag owners" of a leased job: 1, or 0. */
typedef struct rlt_job_state {
    uint64_t token;
    uint32_t attempts, stalls, replays;
} rlt_job_state;
RELET_PRIVATE int rlt_job_state_read(relet_span text, rlt_job_state *s);

/* How often it may be tried. */
RELET_PRIVATE uint32_t rlt_job_attempts(const relet_job *j);

/* How long the job waits before its next attempt; `chance` is any number. */
RELET_PRIVATE relet_time rlt_job_backoff(const relet_job *j, uint32_t attempts,
                                         uint64_t chance);

#endif
