/* SPDX-License-Identifier: MIT
 *
 * args.h - builds the arguments of a queue's script: keys first, then the other
 * arguments, with room for the text of numbers and of job heads. */
#ifndef RLT_ARGS_H
#define RLT_ARGS_H

#include "base.h"
#include "claims.h"
#include "job.h"

#ifndef RELET_NO_QUEUE

#define RLT_ARGS_KEYS 8
#define RLT_ARGS_MAX (RLT_ARGS_KEYS + 8 + 2 * RLT_WORKER_BATCH)
#define RLT_ARGS_HEADS 16 /* heads of jobs in one call at most                */

/* About 22 KiB, so it lives in the block of a client, never on a stack. It is
 * filled and sent before the arguments of the next call are begun. */
typedef struct rlt_args {
    size_t argc, keys, used;
    relet_span argv[RLT_ARGS_MAX];
    char key[RLT_ARGS_KEYS][RLT_QUEUE_KEY_MAX];
    char text[RLT_ARGS_HEADS * RLT_JOB_HEAD_MAX + 512];
} rlt_args;

RELET_PRIVATE void rlt_args_init(rlt_args *w);

/* All keys come before the first argument. */
RELET_PRIVATE void rlt_args_key(rlt_args *w, const rlt_queue_tag *q,
                                rlt_queue_key key);
/* RLT_KEY_JOBS, which is 0, then the keys until the next 0. */
RELET_PRIVATE void rlt_args_keys(rlt_args *w, const rlt_queue_tag *q,
                                 const uint8_t *keys);
RELET_PRIVATE void rlt_args_add(rlt_args *w, relet_span s);   /* not copied   */
RELET_PRIVATE void rlt_args_number(rlt_args *w, uint64_t v);

/* Adds the head of a job. A plain job has one here, too: all zeros. */
RELET_PRIVATE void rlt_args_head(rlt_args *w, const relet_job *j);

/* _place adds "NAME.v"; _name adds "v,rank", or "v" alone when rank is 0. */
RELET_PRIVATE void rlt_args_place(rlt_args *w, relet_span name, uint64_t v);
RELET_PRIVATE void rlt_args_name(rlt_args *w, uint64_t v, int32_t rank);

#endif /* RELET_NO_QUEUE */

#endif
