/* SPDX-License-Identifier: MIT
 *
 * buf.c - a byte queue that grows through the allocator hook, up to a cap.
 *
 * Growth doubles the capacity, which bounds the copying per byte stored. The
 * contents are moved down instead when at least as many bytes have been
 * dropped as must be moved, which bounds that cost too. */

#include "buf.h"

void rlt_buf_init(rlt_buf *b, rlt_memory memory, void *block, size_t floor,
                  size_t max)
{
    rlt_assert(floor <= max);
    memset(b, 0, sizeof *b);
    b->memory = memory;
    b->floor = floor;
    b->max = max;
    if (memory.resize == NULL) {
        rlt_assert(block != NULL || max == 0);
        b->p = (uint8_t *)block;
        b->cap = max;
    }
}

void rlt_buf_free(rlt_buf *b)
{
    if (b->memory.resize != NULL && b->cap > 0) {
        (void)b->memory.resize(b->memory.user, b->p, b->cap, 0);
        b->p = NULL;
        b->cap = 0;
    }
    b->head = b->tail = 0;
}

size_t rlt_buf_used(const rlt_buf *b)
{
    return b->tail - b->head;
}

size_t rlt_buf_room(const rlt_buf *b)
{
    return b->cap - b->tail;
}

uint8_t *rlt_buf_head(const rlt_buf *b)
{
    return b->p == NULL ? NULL : b->p + b->head;
}

uint8_t *rlt_buf_end(const rlt_buf *b)
{
    return b->p == NULL ? NULL : b->p + b->tail;
}

static void buf_move_down(rlt_buf *b)
{
    size_t used = rlt_buf_used(b);

    if (b->head == 0)
        return;
    memmove(b->p, b->p + b->head, used);
    b->head = 0;
    b->tail = used;
}

static int buf_resize(rlt_buf *b, size_t cap)
{
    void *p = b->memory.resize(b->memory.user, b->p, b->cap, cap);

    if (p == NULL)
        return 0;
    b->p = (uint8_t *)p;
    b->cap = cap;
    return 1;
}

/* The new capacity when `need` bytes must fit. The hostile build takes the
 * smallest step, so that tests run every path that grows. */
static size_t buf_step(const rlt_buf *b, size_t need)
{
    size_t cap = b->cap > b->max / 2 ? b->max : b->cap * 2;

    if (RLT_TINY)
        cap = need;
    return RLT_MAX(RLT_MAX(cap, need), b->floor);
}

int rlt_buf_reserve(rlt_buf *b, size_t n)
{
    size_t used = rlt_buf_used(b);
    int fits, cheap;

    rlt_assert(b->head <= b->tail);
    rlt_assert(b->tail <= b->cap);
    rlt_assert(b->cap <= b->max);
    if (RLT_LIKELY(n <= b->cap - b->tail))
        return 0;
    if (n > b->max - used)
        return RELET_E_LIMIT;

    fits = n <= b->cap - used;
    cheap = fits && (RLT_TINY || used <= b->head);
    if (!cheap && b->memory.resize != NULL && b->cap < b->max)
        (void)buf_resize(b, buf_step(b, used + n));
    if (n <= b->cap - b->tail)
        return 0;
    /* Resized or not, any space that is still missing at the tail can only be
     * in front of the head. The contents move only now, so that a failed
     * allocation leaves the buffer as it was. */
    if (n > b->cap - used)
        return RELET_E_MEMORY;
    buf_move_down(b);
    return 0;
}

void rlt_buf_commit(rlt_buf *b, size_t n)
{
    rlt_assert(n <= b->cap - b->tail);
    b->tail += n;
}

int rlt_buf_put(rlt_buf *b, const void *p, size_t n)
{
    int err = rlt_buf_reserve(b, n);

    if (err != 0)
        return err;
    if (p != NULL && n > 0)
        memcpy(b->p + b->tail, p, n);
    b->tail += n;
    return 0;
}

void rlt_buf_drop(rlt_buf *b, size_t n)
{
    rlt_assert(n <= b->tail - b->head);
    b->head += n;
    if (b->head == b->tail)
        b->head = b->tail = 0;
}

void rlt_buf_cut(rlt_buf *b, size_t from_head, size_t n)
{
    size_t behind;
    uint8_t *hole;

    rlt_assert(from_head <= rlt_buf_used(b));
    rlt_assert(n <= rlt_buf_used(b) - from_head);
    if (n == 0)
        return;
    behind = rlt_buf_used(b) - from_head - n;
    hole = b->p + b->head + from_head;
    if (from_head <= behind) {
        memmove(b->p + b->head + n, b->p + b->head, from_head);
        rlt_buf_drop(b, n);
    } else {
        memmove(hole, hole + n, behind);
        b->tail -= n;
    }
}

void rlt_buf_shrink(rlt_buf *b, size_t keep)
{
    size_t cap = RLT_MAX(RLT_MAX(b->floor, keep), rlt_buf_used(b));

    if (b->memory.resize == NULL || cap >= b->cap)
        return;
    if (cap == 0) {
        rlt_buf_free(b);
        return;
    }
    buf_move_down(b);
    (void)buf_resize(b, cap);
}

void rlt_buf_poison_room(rlt_buf *b)
{
    if (b->p == NULL)
        return;
    memset(b->p, 0xDD, b->head);
    memset(b->p + b->tail, 0xDD, b->cap - b->tail);
}
