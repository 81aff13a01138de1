/* SPDX-License-Identifier: MIT
 *
 * job.h - how a job is stored on the server: the names of a queue's keys, the
 * head in front of a payload, the state of a leased job.
 *
 * A record is the job as it was put, and never changes:
 *
 *   . seconds payload         plain; 4 bytes, highest first
 *   + seconds head payload    8 hexadecimal digits
 *
 * A head is RANK,DELAY,N,N,N; followed by type, id and options of N bytes each.
 * An option is a letter and a number; blanks stand between options; the last
 * option is r with a channel. Scripts read all parts of a head but the numbers
 * among the options.
 *
 * All that a queue knows of job 17 is in one hash, `jobs`, so that one command
 * reads or changes the job, and no part of the job outlives it:
 *
 *   17    its record
 *   17s   its state, once it was claimed: see rlt_job_state_read
 *   17r   p and its progress, x and its last error, or d and its result
 *
 * The hash also has the fields of the queue itself: version, seq, fence,
 * closed, stopped, limit, due, ranks, run, open, done. To recognise a repeated
 * step, the hash has a field for each client and kind of step: the letter p, c,
 * d or f and a name, with the number of the last step and its answer. The other
 * keys say where a job is. A job number in one of these keys is skipped if it
 * has no record, or if its state says that it is elsewhere: so a job can be
 * cancelled without a search, and a step can be cut short anywhere. */
#ifndef RLT_JOB_H
#define RLT_JOB_H

#include "base.h"

#ifndef RELET_NO_QUEUE

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

/* {PREFIX:NAME}, the part of every key that decides its hash slot. */
typedef struct rlt_queue_tag {
    char text[RLT_QUEUE_NAME_MAX + 2];
    uint8_t len;
} rlt_queue_tag;

/* NULL, or the rule that prefix and name break. */
RELET_PRIVATE const char *rlt_queue_tag_make(rlt_queue_tag *q,
                                             relet_span prefix,
                                             relet_span name);

/* {PREFIX:NAME}:jobs or another key, made in `room`. */
#define RLT_QUEUE_KEY_MAX (RLT_QUEUE_NAME_MAX + 12)
RELET_PRIVATE relet_span rlt_queue_name(const rlt_queue_tag *q,
                                        rlt_queue_key key,
                                        char room[RLT_QUEUE_KEY_MAX]);

/* ------------------------------------------------------------------- heads */

#define RLT_JOB_TEXT_MAX 255 /* bytes of an id, of a type                    */
#define RLT_JOB_HEAD_MAX (3 * RLT_JOB_TEXT_MAX + 256)

/* NULL, or the rule that a job breaks. */
RELET_PRIVATE const char *rlt_job_rule(const relet_job *j);

/* Writes the head, which holds all of a job but its payload. Returns its bytes,
 * or 0 for a plain job, which needs no head. The job must break no rule. */
RELET_PRIVATE size_t rlt_job_head(const relet_job *j,
                                  char out[RLT_JOB_HEAD_MAX]);

/* Takes a record apart; the spans of *j point into it. Returns 1, or 0 if it is
 * not in the form above: then all of it is the payload. */
RELET_PRIVATE int rlt_job_read(relet_span record, relet_job *j,
                               uint64_t *born_s);

/* ------------------------------------------------------------------ states */

/* Reads "L token attempts stalls replays flag owners", the state of a leased
 * job. Returns 1, or 0 if the text is not of that form. */
typedef struct rlt_job_state {
    uint64_t token;
    uint32_t attempts, stalls, replays;
} rlt_job_state;
RELET_PRIVATE int rlt_job_state_read(relet_span text, rlt_job_state *s);

/* How many attempts the job may have. */
RELET_PRIVATE uint32_t rlt_job_attempts(const relet_job *j);

/* How long the job waits before its next attempt; `chance` is any number. */
RELET_PRIVATE relet_time rlt_job_backoff(const relet_job *j, uint32_t attempts,
                                         uint64_t chance);

#endif /* RELET_NO_QUEUE */

#endif
