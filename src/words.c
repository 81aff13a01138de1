/* SPDX-License-Identifier: MIT
 *
 * words.c - what a script of a queue is called with. */
#include "words.h"

#include "text.h"

RELET_PRIVATE void rlt_words_init(rlt_words *w)
{
    w->argc = w->keys = w->used = 0;
}

RELET_PRIVATE void rlt_words_add(rlt_words *w, relet_span s)
{
    rlt_assert(w->argc < RLT_WORDS_MAX);
    w->argv[w->argc++] = s;
}

RELET_PRIVATE void rlt_words_key(rlt_words *w, const rlt_queue_tag *q,
                                 rlt_queue_key key)
{
    rlt_assert(w->keys == w->argc && w->keys < RLT_WORDS_KEYS);
    rlt_words_add(w, rlt_queue_name(q, key, w->key[w->keys]));
    w->keys++;
}

/* n bytes at the end of the text are the next word. */
static void words_take(rlt_words *w, size_t n)
{
    relet_span s;

    s.p = w->text + w->used;
    s.n = n;
    w->used += n;
    rlt_assert(w->used <= sizeof w->text);
    rlt_words_add(w, s);
}

RELET_PRIVATE void rlt_words_number(rlt_words *w, uint64_t v)
{
    words_take(w, rlt_text_put_u64(w->text + w->used, v));
}

RELET_PRIVATE void rlt_words_place(rlt_words *w, relet_span name, uint64_t v)
{
    char *at = w->text + w->used;

    memcpy(at, name.p, name.n);
    at[name.n] = '.';
    words_take(w, name.n + 1 + rlt_text_put_u64(at + name.n + 1, v));
}

RELET_PRIVATE void rlt_words_name(rlt_words *w, uint64_t v, int32_t rank)
{
    char *at = w->text + w->used;
    size_t n = rlt_text_put_u64(at, v);

    if (rank != 0) {
        at[n++] = ',';
        n += rlt_text_put_i64(at + n, rank);
    }
    words_take(w, n);
}
