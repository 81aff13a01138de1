/* SPDX-License-Identifier: MIT
 *
 * args.c - builds the arguments of a queue's script. */
#include "args.h"

#include "text.h"

#ifndef RELET_NO_QUEUE

RELET_PRIVATE void rlt_args_init(rlt_args *w)
{
    w->argc = w->keys = w->used = 0;
}

RELET_PRIVATE void rlt_args_add(rlt_args *w, relet_span s)
{
    rlt_assert(w->argc < RLT_ARGS_MAX);
    w->argv[w->argc++] = s;
}

RELET_PRIVATE void rlt_args_key(rlt_args *w, const rlt_queue_tag *q,
                                rlt_queue_key key)
{
    rlt_assert(w->keys == w->argc && w->keys < RLT_ARGS_KEYS);
    rlt_args_add(w, rlt_queue_name(q, key, w->key[w->keys]));
    w->keys++;
}

RELET_PRIVATE void rlt_args_keys(rlt_args *w, const rlt_queue_tag *q,
                                 const uint8_t *keys)
{
    rlt_args_key(w, q, RLT_KEY_JOBS);
    for (; *keys != RLT_KEY_JOBS; keys++)
        rlt_args_key(w, q, (rlt_queue_key)*keys);
}

/* The n bytes just written behind `used` become the next argument. */
static void args_take(rlt_args *w, size_t n)
{
    relet_span s;

    s.p = w->text + w->used;
    s.n = n;
    w->used += n;
    rlt_assert(w->used <= sizeof w->text);
    rlt_args_add(w, s);
}

RELET_PRIVATE void rlt_args_number(rlt_args *w, uint64_t v)
{
    args_take(w, rlt_text_put_u64(w->text + w->used, v));
}

RELET_PRIVATE void rlt_args_head(rlt_args *w, const relet_job *j)
{
    size_t n;

    rlt_assert(sizeof w->text - w->used >= RLT_JOB_HEAD_MAX);
    n = rlt_job_head(j, w->text + w->used);
    if (n > 0)
        args_take(w, n);
    else
        rlt_args_add(w, relet_str("0,0,0,0,0;"));
}

RELET_PRIVATE void rlt_args_place(rlt_args *w, relet_span name, uint64_t v)
{
    char *at = w->text + w->used;

    memcpy(at, name.p, name.n);
    at[name.n] = '.';
    args_take(w, name.n + 1 + rlt_text_put_u64(at + name.n + 1, v));
}

RELET_PRIVATE void rlt_args_name(rlt_args *w, uint64_t v, int32_t rank)
{
    char *at = w->text + w->used;
    size_t n = rlt_text_put_u64(at, v);

    if (rank != 0) {
        at[n++] = ',';
        n += rlt_text_put_i64(at + n, rank);
    }
    args_take(w, n);
}

#endif /* RELET_NO_QUEUE */
