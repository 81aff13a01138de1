/* SPDX-License-Identifier: MIT
 *
 * log.c - the format of a log file: its records, and which of them are intact.
 */
#include "log.h"

#define LOG_MAGIC "relet log "
#define LOG_VERSION "1"

static uint64_t log_mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

static uint64_t log_get(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
           (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
           (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static void log_put(uint8_t *p, uint64_t v)
{
    int i;

    for (i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* Each step is invertible, so a change within eight bytes always changes the
 * hash. */
static uint64_t log_hash(uint64_t h, const void *bytes, size_t n)
{
    const uint8_t *p = (const uint8_t *)bytes;
    uint8_t last[8] = {0, 0, 0, 0, 0, 0, 0, 0};

    h = log_mix(h, n);
    for (; n >= 8; p += 8, n -= 8)
        h = log_mix(h, log_get(p));
    if (n > 0) {
        memcpy(last, p, n);
        h = log_mix(h, log_get(last));
    }
    return log_mix(h, UINT64_C(0x72656c6574)); /* mix the last bytes, too    */
}

/* ------------------------------------------------------------------- header */

static char *log_hex(char *out, uint64_t v)
{
    static const char digits[] = "0123456789abcdef";
    int i;

    for (i = 60; i >= 0; i -= 4)
        *out++ = digits[v >> i & 15];
    return out;
}

static uint64_t log_unhex(const char *p)
{
    uint64_t v = 0;
    int i;

    for (i = 0; i < 16; i++)
        v = v << 4 | (uint64_t)(rlt_text_hex(p[i]) & 15);
    return v;
}

RELET_PRIVATE void rlt_log_header(const rlt_log *g, char out[RLT_LOG_HEADER])
{
    const char begin[] = LOG_MAGIC LOG_VERSION " ";
    char *p = out + sizeof begin - 1;

    memcpy(out, begin, sizeof begin - 1);
    p = log_hex(p, g->salt);
    *p++ = ' ';
    p = log_hex(p, g->base);
    *p++ = ' ';
    p = log_hex(p, log_hash(0, out, (size_t)(p - out)));
    *p++ = '\n';
    rlt_assert(p == out + RLT_LOG_HEADER);
}

RELET_PRIVATE rlt_log_kind rlt_log_header_read(rlt_log *g, const char *p,
                                               size_t n)
{
    const char begin[] = LOG_MAGIC LOG_VERSION " ";
    const size_t magic = sizeof LOG_MAGIC - 1, whole = sizeof begin - 1;
    char again[RLT_LOG_HEADER];
    rlt_log read;

    if (n < magic || memcmp(p, begin, magic) != 0)
        return RLT_LOG_FOREIGN;
    if (n < RLT_LOG_HEADER)
        return RLT_LOG_DAMAGED;
    if (memcmp(p, begin, whole) != 0)
        return RLT_LOG_LATER;
    read.salt = log_unhex(p + whole);
    read.base = log_unhex(p + whole + 17);
    rlt_log_header(&read, again);
    if (memcmp(p, again, sizeof again) != 0)
        return RLT_LOG_DAMAGED;
    *g = read;
    return RLT_LOG_OURS;
}

/* ------------------------------------------------------------------ records */

static uint64_t log_mark(const rlt_log *g, uint64_t at, uint64_t length,
                         uint64_t synced)
{
    return log_mix(log_mix(log_mix(log_mix(g->salt, at), length), synced), 1);
}

RELET_PRIVATE void rlt_log_head(const rlt_log *g, uint64_t at, uint64_t synced,
                                const void *payload, size_t n,
                                uint8_t out[RLT_LOG_HEAD])
{
    uint64_t mark = log_mark(g, at, n, synced);

    rlt_assert(n > 0);
    log_put(out, n);
    log_put(out + 8, synced);
    log_put(out + 16, mark);
    log_put(out + 24, log_hash(mark, payload, n));
}

RELET_PRIVATE int rlt_log_head_read(const rlt_log *g, uint64_t at,
                                    const uint8_t head[RLT_LOG_HEAD],
                                    uint64_t *length, uint64_t *synced)
{
    *length = log_get(head);
    *synced = log_get(head + 8);
    return *length > 0 && *synced <= at &&
           log_get(head + 16) == log_mark(g, at, *length, *synced);
}

RELET_PRIVATE int rlt_log_whole(const uint8_t head[RLT_LOG_HEAD],
                                const void *payload, size_t n)
{
    return log_get(head) == n &&
           log_get(head + 24) == log_hash(log_get(head + 16), payload, n);
}

RELET_PRIVATE uint64_t rlt_log_safe(const rlt_log *g, uint64_t at,
                                    const uint8_t *p, size_t places)
{
    uint64_t safe = g->base, length, synced;
    size_t i;

    for (i = 0; i < places; i++)
        if (rlt_log_head_read(g, at + i, p + i, &length, &synced))
            safe = RLT_MAX(safe, synced);
    return safe;
}

/* ------------------------------------------------------------------ replies */

/* Replies are read flat: an array is a line, and its elements follow. */
RELET_PRIVATE relet_span rlt_log_refusal(const uint8_t *p, size_t n)
{
    relet_span rest, line, none = {NULL, 0};
    int64_t skip;

    rest.p = (const char *)p;
    rest.n = n;
    while (rest.n > 0) {
        line = rlt_span_cut(&rest, '\n');
        if (line.n > 0 && line.p[line.n - 1] == '\r')
            line.n--;
        if (rlt_span_eat(&line, "-"))
            return line;
        if (!rlt_span_eat(&line, "$") || rest.n < 2 ||
            !rlt_text_int(line.p, line.n, &skip) || skip < 0)
            continue;
        skip = RLT_MIN(skip, (int64_t)rest.n - 2) + 2;
        rest.p += skip;
        rest.n -= (size_t)skip;
    }
    return none;
}
