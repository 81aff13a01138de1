/* SPDX-License-Identifier: MIT
 *
 * reader.c - the bytes that come in, and the frames that they make. */
#include "reader.h"

/* Larger reads gain nothing: a read of this size costs far less than judging
 * its bytes. */
#define READER_READ_MAX ((size_t)256 * 1024)

/* Skipping a frame needs this much tape, however deep the frame is. The skip
 * must not fail, nor lose the tape while the rest of the frame is to come. */
#define READER_TAPE_MIN ((RLT_SCAN_DEPTH_HARD + 2) * sizeof(relet_node))

static uint32_t reader_nodes(const rlt_reader *i)
{
    return (uint32_t)(i->tape.cap / sizeof(relet_node));
}

RELET_PRIVATE void rlt_reader_init(rlt_reader *i, const rlt_reader_plan *p)
{
    memset(i, 0, sizeof *i);
    i->limits = p->limits;
    rlt_buf_init(&i->bytes, p->memory, p->block,
                 RLT_MIN(p->buffer_min, p->reply_max), p->reply_max);
    rlt_buf_init(&i->tape, p->memory, p->tape_block,
                 RLT_MIN(RLT_MAX(READER_TAPE_MIN, p->buffer_min), p->tape_max),
                 p->tape_max);
}

RELET_PRIVATE void rlt_reader_free(rlt_reader *i)
{
    rlt_buf_free(&i->bytes);
    rlt_buf_free(&i->tape);
}

RELET_PRIVATE int rlt_reader_open(rlt_reader *i)
{
    i->loan = i->eager = i->no_memory = i->starved = 0;
    i->hungry = 1;
    i->consumed = 0;
    rlt_buf_drop(&i->bytes, rlt_buf_used(&i->bytes));
    rlt_buf_drop(&i->tape, rlt_buf_used(&i->tape));
    if (rlt_buf_reserve(&i->tape, i->tape.floor) < 0)
        return RELET_E_MEMORY;
    rlt_scan_init(&i->scan, &i->limits, (relet_node *)(void *)i->tape.p,
                  reader_nodes(i));
    return 0;
}

/* How much room the next read should find. */
static size_t reader_read_size(const rlt_reader *i)
{
    size_t used = rlt_buf_used(&i->bytes), want;

    if (used == 0 && i->eager && i->bytes.cap < READER_READ_MAX)
        return RLT_MIN(i->bytes.cap * 2, i->bytes.max);
    if (used == 0)
        return i->bytes.cap ? i->bytes.cap : RLT_MAX(i->bytes.floor, 1);
    /* The length that the frame announces is believed only as far as the
     * buffer would grow anyway. */
    want = i->scan.need > used ? i->scan.need - used : 1;
    want = RLT_MIN(want, RLT_MAX(used, i->bytes.floor));
    return RLT_MAX(want, 1);
}

/* There is no room for this frame: judge the rest of it without keeping it. */
static void reader_skip(rlt_reader *i, rlt_scan_why why, int code)
{
    i->no_memory = code == RELET_E_MEMORY;
    rlt_scan_skip(&i->scan, (int)why);
}

static void reader_drop_in(rlt_reader *i, size_t n)
{
    rlt_buf_drop(&i->bytes, n);
    i->consumed += n;
    if (RLT_TINY)
        rlt_buf_poison_room(&i->bytes);
}

RELET_PRIVATE size_t rlt_reader_space(rlt_reader *i, uint8_t **p)
{
    if (i->hungry && !i->loan && rlt_buf_room(&i->bytes) < reader_read_size(i))
        if (rlt_buf_reserve(&i->bytes, reader_read_size(i)) == RELET_E_MEMORY &&
            rlt_buf_room(&i->bytes) == 0) {
            if (rlt_buf_used(&i->bytes) == 0) {
                i->starved = 1;
                return 0;
            }
            reader_skip(i, RLT_SKIP_BYTES, RELET_E_MEMORY);
            (void)rlt_scan_run(&i->scan, rlt_buf_head(&i->bytes),
                               rlt_buf_used(&i->bytes));
            reader_drop_in(i, rlt_scan_drop(&i->scan));
            (void)rlt_buf_reserve(&i->bytes, 1);
        }
    i->starved = 0;
    i->lent = rlt_buf_room(&i->bytes);
    *p = rlt_buf_end(&i->bytes);
    return i->lent;
}

RELET_PRIVATE void rlt_reader_received(rlt_reader *i, size_t n)
{
    rlt_assert(n <= i->lent);
    rlt_buf_commit(&i->bytes, n);
    i->eager = n == i->lent;
    i->lent -= n;
    if (n > 0)
        i->hungry = 0;
}

RELET_PRIVATE int rlt_reader_has_input(const rlt_reader *i)
{
    return !i->hungry;
}

RELET_PRIVATE uint64_t rlt_reader_error_at(const rlt_reader *i)
{
    return i->consumed + i->scan.at;
}

static void reader_tape_grow(rlt_reader *i)
{
    int code;

    /* Mark the whole tape as in use, so that the buffer keeps it on growing. */
    rlt_buf_commit(&i->tape, rlt_buf_room(&i->tape));
    code = rlt_buf_reserve(&i->tape, sizeof(relet_node));
    if (code < 0)
        reader_skip(i, RLT_SKIP_TAPE, code);
    else
        rlt_scan_tape(&i->scan, (relet_node *)(void *)i->tape.p,
                      reader_nodes(i));
}

/* The scanner wants more bytes. Returns 1 if it can run again without them. */
static int reader_more(rlt_reader *i)
{
    size_t gone = rlt_scan_drop(&i->scan);

    if (gone > 0)
        reader_drop_in(i, gone);
    else if (i->scan.need > i->bytes.max && !i->scan.skip_why) {
        reader_skip(i, RLT_SKIP_BYTES, RELET_E_LIMIT);
        return 1;
    }
    i->hungry = 1;
    return 0;
}

RELET_PRIVATE void rlt_reader_release(rlt_reader *i)
{
    if (!i->loan)
        return;
    i->loan = 0;
    i->no_memory = 0;
    reader_drop_in(i, rlt_scan_next(&i->scan));
}

RELET_PRIVATE rlt_arrival rlt_reader_next(rlt_reader *i, relet_value *v)
{
    int push;

    rlt_assert(!i->loan);
    while (rlt_buf_used(&i->bytes) > 0 && !i->hungry) {
        uint8_t *frame = rlt_buf_head(&i->bytes);

        switch (rlt_scan_run(&i->scan, frame, rlt_buf_used(&i->bytes))) {
        case RLT_SCAN_VALUE:
            i->loan = 1;
            *v = rlt_scan_value(&i->scan, frame);
            return RLT_ARRIVED_VALUE;
        case RLT_SCAN_PUSH:
            i->loan = 1;
            *v = rlt_scan_value(&i->scan, frame);
            return RLT_ARRIVED_PUSH;
        case RLT_SCAN_MORE:
            if (!reader_more(i))
                return RLT_ARRIVED_NOTHING;
            break;
        case RLT_SCAN_TAPE:
            reader_tape_grow(i);
            break;
        case RLT_SCAN_SKIPPED:
            push = i->scan.skip_push;
            i->loan = 1; /* only the reason is lent */
            return push ? RLT_ARRIVED_LOST : RLT_ARRIVED_SKIPPED;
        case RLT_SCAN_ERROR:
            return RLT_ARRIVED_BAD;
        }
    }
    i->hungry = 1;
    return RLT_ARRIVED_NOTHING;
}

RELET_PRIVATE void rlt_reader_close(rlt_reader *i)
{
    rlt_reader_release(i);
    i->hungry = 1;
    rlt_buf_drop(&i->bytes, rlt_buf_used(&i->bytes));
}

RELET_PRIVATE void rlt_reader_rest(rlt_reader *i)
{
    if (i->loan || rlt_buf_used(&i->bytes) > 0)
        return;
    rlt_buf_shrink(&i->bytes, 0);
    rlt_buf_drop(&i->tape, rlt_buf_used(&i->tape));
    rlt_buf_shrink(&i->tape, 0);
    rlt_scan_tape(&i->scan, (relet_node *)(void *)i->tape.p, reader_nodes(i));
}
