/* SPDX-License-Identifier: MIT
 *
 * log_fuzz.c - reading a damaged log gives the first of the written records,
 * each of them whole.
 *
 * The first byte chooses the meaning of the rest. 0: the rest is a file. 1: the
 * rest is replies. Otherwise a log is written and then damaged: an even byte n
 * below 128 writes a record of the next n / 2 bytes; the others cut the log,
 * change a byte, or repeat bytes from elsewhere, at the place in the next two
 * bytes. */
#include <stdlib.h>
#include <string.h>

#include "log.h"

#define FUZZ_RECORDS 64
#define FUZZ_BYTES 8192

typedef struct tale {
    uint8_t bytes[FUZZ_BYTES];
    size_t n;
    uint8_t first[FUZZ_BYTES]; /* the bytes as they were written             */
    size_t end[FUZZ_RECORDS + 1];
    size_t records;
    rlt_log log;
} tale;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(int holds)
{
    if (!holds)
        abort();
}

/* The length of the file's whole records. Each record, written anew, must give
 * the same bytes. */
static size_t read_log(const uint8_t *p, size_t n)
{
    uint64_t length, synced, safe;
    uint8_t again[RLT_LOG_HEAD];
    size_t end = RLT_LOG_HEADER;
    rlt_log g;

    if (rlt_log_header_read(&g, (const char *)p, n) != RLT_LOG_OURS)
        return 0;
    while (n - end >= RLT_LOG_HEAD &&
           rlt_log_head_read(&g, end, p + end, &length, &synced) &&
           length <= n - end - RLT_LOG_HEAD &&
           rlt_log_whole(p + end, p + end + RLT_LOG_HEAD, (size_t)length)) {
        rlt_log_head(&g, end, synced, p + end + RLT_LOG_HEAD, (size_t)length,
                     again);
        must(memcmp(again, p + end, sizeof again) == 0);
        end += RLT_LOG_HEAD + (size_t)length;
    }
    if (n - end >= RLT_LOG_HEAD) {
        safe = rlt_log_safe(&g, end, p + end, n - end - RLT_LOG_HEAD + 1);
        must(safe >= g.base);
    }
    return end;
}

static void fuzz_replies(const uint8_t *p, size_t n)
{
    relet_span why = rlt_log_refusal(p, n);

    must(why.p == NULL || (why.p > (const char *)p &&
                           why.p + why.n <= (const char *)p + n));
}

static size_t fuzz_record(tale *t, const uint8_t *p, size_t left, size_t n)
{
    n = RLT_MIN(n, left);
    if (n == 0 || t->records == FUZZ_RECORDS ||
        n + RLT_LOG_HEAD > sizeof t->bytes - t->n)
        return 0;
    rlt_log_head(&t->log, t->n, t->n, p, n, t->bytes + t->n);
    memcpy(t->bytes + t->n + RLT_LOG_HEAD, p, n);
    t->n += n + RLT_LOG_HEAD;
    t->end[++t->records] = t->n;
    memcpy(t->first, t->bytes, t->n);
    return n;
}

static void fuzz_spoil(tale *t, unsigned how, const uint8_t *at)
{
    size_t place = (at[0] + 256u * at[1]) % (t->n + 1);
    size_t from = (size_t)at[1] * 31 % (t->n + 1), n;

    if (how % 3 == 0) {
        t->n = place;
    } else if (how % 3 == 1 && place < t->n) {
        t->bytes[place] = (uint8_t)(t->bytes[place] ^ (1 + how / 3));
    } else {
        n = RLT_MIN(t->n - from, sizeof t->bytes - place);
        memmove(t->bytes + place, t->bytes + from, n);
        t->n = RLT_MAX(t->n, place + n);
    }
}

static void fuzz_written(const uint8_t *p, size_t n)
{
    static tale t;
    size_t i = 0, end, k = 0;

    memset(&t, 0, sizeof t);
    t.log.salt = 7;
    t.log.base = RLT_LOG_HEADER;
    rlt_log_header(&t.log, (char *)t.bytes);
    t.n = t.end[0] = RLT_LOG_HEADER;
    memcpy(t.first, t.bytes, t.n);
    for (; i < n && p[i] % 2 == 0 && p[i] < 128; i++)
        i += fuzz_record(&t, p + i + 1, n - i - 1, p[i] / 2);
    for (; i + 2 < n; i += 3)
        fuzz_spoil(&t, p[i], p + i + 1);
    end = read_log(t.bytes, t.n);
    if (end == 0)
        return;
    while (k <= t.records && t.end[k] != end)
        k++;
    must(k <= t.records);
    must(memcmp(t.bytes, t.first, end) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *own;

    if (n == 0)
        return 0;
    own = (uint8_t *)malloc(n > 1 ? n - 1 : 1);
    must(own != NULL);
    memcpy(own, data + 1, n - 1);
    if (data[0] == 0)
        (void)read_log(own, n - 1);
    else if (data[0] == 1)
        fuzz_replies(own, n - 1);
    else
        fuzz_written(own, n - 1);
    free(own);
    return 0;
}
