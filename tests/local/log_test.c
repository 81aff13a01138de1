/* SPDX-License-Identifier: MIT
 *
 * log_test.c - the bytes of a log: reading finds whole records only, wherever
 * the log was cut and whatever byte was changed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "greatest.h"
#include "log.h"

#define T_RECORDS 6
#define T_SALT UINT64_C(0x0123456789abcdef)

/* A recorded log: its bytes, and the ends of its records. The payload of the
 * last record is a log itself, since a user may keep a log in a value. */
typedef struct t_file {
    uint8_t bytes[4000];
    size_t n;
    size_t end[T_RECORDS + 1]; /* of that many records                       */
    rlt_log log;
} t_file;

static t_file t_one;

static void t_append(t_file *f, const void *p, size_t n, uint64_t synced)
{
    rlt_log_head(&f->log, f->n, synced, p, n, f->bytes + f->n);
    memcpy(f->bytes + f->n + RLT_LOG_HEAD, p, n);
    f->n += RLT_LOG_HEAD + n;
}

/* Synced before each record, as `always` has it. */
static t_file *t_record(void)
{
    static const size_t sizes[T_RECORDS] = {1, 7, 8, 9, 100, 0};
    t_file *f = &t_one;
    char payload[100];
    size_t i;

    memset(f, 0, sizeof *f);
    for (i = 0; i < sizeof payload; i++)
        payload[i] = (char)(i * 11 + 1);
    f->log.salt = T_SALT;
    f->log.base = RLT_LOG_HEADER;
    rlt_log_header(&f->log, (char *)f->bytes);
    f->n = f->end[0] = RLT_LOG_HEADER;
    for (i = 0; i < T_RECORDS; i++) {
        if (sizes[i] > 0)
            t_append(f, payload, sizes[i], f->n);
        else
            t_append(f, f->bytes, f->n, f->n);
        f->end[i + 1] = f->n;
    }
    return f;
}

typedef struct t_found {
    size_t records, end; /* whole records, and their end                     */
    uint64_t safe;       /* the file was synced up to here                   */
    rlt_log_kind kind;
} t_found;

/* Reads the log as the store does, from memory that ends with the file. */
static t_found t_read(const uint8_t *bytes, size_t n)
{
    uint8_t *p = (uint8_t *)malloc(n > 0 ? n : 1);
    t_found f = {0, 0, 0, RLT_LOG_OURS};
    uint64_t length, synced;
    rlt_log g;

    memcpy(p, bytes, n);
    f.kind = rlt_log_header_read(&g, (const char *)p, n);
    if (f.kind == RLT_LOG_OURS) {
        f.end = RLT_LOG_HEADER;
        while (n - f.end >= RLT_LOG_HEAD &&
               rlt_log_head_read(&g, f.end, p + f.end, &length, &synced) &&
               length <= n - f.end - RLT_LOG_HEAD &&
               rlt_log_whole(p + f.end, p + f.end + RLT_LOG_HEAD,
                             (size_t)length)) {
            f.end += RLT_LOG_HEAD + (size_t)length;
            f.records++;
        }
        f.safe = g.base;
        if (n - f.end >= RLT_LOG_HEAD)
            f.safe = rlt_log_safe(&g, f.end, p + f.end,
                                  n - f.end - RLT_LOG_HEAD + 1);
    }
    free(p);
    return f;
}

static size_t t_whole_before(const t_file *f, size_t cut)
{
    size_t i = 0;

    while (i < T_RECORDS && f->end[i + 1] <= cut)
        i++;
    return i;
}

/* ------------------------------------------------------------------- header */

TEST a_header_comes_back(void)
{
    rlt_log in = {T_SALT, UINT64_C(0xfedcba9876543210)}, out = {0, 0};
    char p[RLT_LOG_HEADER];

    rlt_log_header(&in, p);
    ASSERT_EQ(RLT_LOG_OURS, rlt_log_header_read(&out, p, sizeof p));
    ASSERT_EQ(in.salt, out.salt);
    ASSERT_EQ(in.base, out.base);
    ASSERT_EQ('\n', p[RLT_LOG_HEADER - 1]);
    PASS();
}

/* As written on every machine, whatever its byte order. */
TEST a_log_has_the_same_bytes_on_every_machine(void)
{
    static const char header[] = "relet log 1 0123456789abcdef "
                                 "000000000000003f 30620bd45056760a\n";
    static const uint8_t head[RLT_LOG_HEAD] = {
        0x01, 0,    0,    0,    0,    0,    0,    0,    0x3f, 0,    0,
        0,    0,    0,    0,    0,    0xc9, 0x98, 0xfa, 0xf5, 0x17, 0xb1,
        0xd3, 0x17, 0x6a, 0x62, 0xb7, 0xb8, 0x7c, 0x2e, 0x95, 0xb1};
    const t_file *f = t_record();

    ASSERT_MEM_EQ(header, f->bytes, RLT_LOG_HEADER);
    ASSERT_MEM_EQ(head, f->bytes + RLT_LOG_HEADER, RLT_LOG_HEAD);
    PASS();
}

TEST any_changed_bit_of_a_header_is_detected(void)
{
    const t_file *f = t_record();
    char p[RLT_LOG_HEADER];
    rlt_log g;
    int i, bit;

    for (i = 0; i < RLT_LOG_HEADER; i++)
        for (bit = 0; bit < 8; bit++) {
            memcpy(p, f->bytes, sizeof p);
            p[i] = (char)(p[i] ^ 1 << bit);
            ASSERT(rlt_log_header_read(&g, p, sizeof p) != RLT_LOG_OURS);
        }
    PASS();
}

TEST a_file_that_is_no_log_is_not_read(void)
{
    static const char later[] = "relet log 2 0123456789abcdef "
                                "000000000000003f 0123456789abcdef\n";
    rlt_log g;

    ASSERT_EQ(RLT_LOG_FOREIGN, rlt_log_header_read(&g, "", 0));
    ASSERT_EQ(RLT_LOG_FOREIGN, rlt_log_header_read(&g, "#!/bin/sh\n", 10));
    ASSERT_EQ(RLT_LOG_DAMAGED, rlt_log_header_read(&g, "relet log 1", 11));
    ASSERT_EQ(RLT_LOG_LATER,
              rlt_log_header_read(&g, later, RLT_LOG_HEADER));
    PASS();
}

/* ------------------------------------------------------------------ records */

TEST a_log_comes_back_whole(void)
{
    const t_file *f = t_record();
    t_found found = t_read(f->bytes, f->n);

    ASSERT_EQ(T_RECORDS, found.records);
    ASSERT_EQ(f->n, found.end);
    PASS();
}

TEST a_log_cut_anywhere_has_the_whole_records_before_the_cut(void)
{
    const t_file *f = t_record();
    t_found found;
    size_t cut;

    for (cut = RLT_LOG_HEADER; cut < f->n; cut++) {
        found = t_read(f->bytes, cut);
        ASSERT_EQ(t_whole_before(f, cut), found.records);
        ASSERT_EQ(f->end[found.records], found.end);
        ASSERT(found.safe <= found.end); /* so it may be cut there */
    }
    PASS();
}

TEST zeros_behind_a_cut_are_no_records(void)
{
    const t_file *f = t_record();
    static uint8_t p[sizeof f->bytes];
    t_found found;
    size_t cut;

    for (cut = RLT_LOG_HEADER; cut < f->n; cut++) {
        memset(p, 0, sizeof p);
        memcpy(p, f->bytes, cut);
        found = t_read(p, sizeof p);
        ASSERT_EQ(t_whole_before(f, cut), found.records);
        ASSERT(found.safe <= found.end);
    }
    PASS();
}

/* Changes each bit of each record: reading ends there; and the file shows that
 * the record was whole before, unless it was the last one. */
TEST damage_is_found_and_distinguished_from_a_torn_tail(void)
{
    t_file *f = t_record();
    t_found found;
    size_t at, record;
    int bit;

    for (at = RLT_LOG_HEADER; at < f->n; at++)
        for (bit = 0; bit < 8; bit++) {
            f->bytes[at] = (uint8_t)(f->bytes[at] ^ 1 << bit);
            found = t_read(f->bytes, f->n);
            f->bytes[at] = (uint8_t)(f->bytes[at] ^ 1 << bit);
            record = t_whole_before(f, at);
            ASSERT_EQ(record, found.records);
            ASSERT_EQ(record < T_RECORDS - 1, found.safe > found.end);
        }
    PASS();
}

TEST unsynced_records_may_be_torn_before_whole_records(void)
{
    t_file *f = t_record();
    t_found found;
    size_t begin = f->n, second;

    t_append(f, "one", 3, begin);
    second = f->n;
    t_append(f, "two", 3, begin);
    t_append(f, "three", 5, begin);
    f->bytes[second + RLT_LOG_HEAD] ^= 1;
    found = t_read(f->bytes, f->n);
    ASSERT_EQ(T_RECORDS + 1, found.records);
    ASSERT(found.safe <= found.end);
    f->bytes[begin - 1] ^= 1; /* that was safe when "one" was written */
    found = t_read(f->bytes, f->n);
    ASSERT_EQ(T_RECORDS - 1, found.records);
    ASSERT_EQ(begin, found.safe);
    PASS();
}

TEST records_synced_before_the_rename_of_the_file_are_never_torn(void)
{
    t_file *f = t_record();
    t_found found;

    f->log.base = f->n;
    rlt_log_header(&f->log, (char *)f->bytes);
    f->bytes[f->end[2]] ^= 1;
    found = t_read(f->bytes, f->end[3]);
    ASSERT_EQ(2, found.records);
    ASSERT_EQ(f->n, found.safe);
    PASS();
}

TEST a_record_counts_at_its_own_place_alone(void)
{
    t_file *f = t_record();
    t_found found;

    memcpy(f->bytes + f->n, f->bytes + f->end[0], f->end[1] - f->end[0]);
    found = t_read(f->bytes, f->n + f->end[1] - f->end[0]);
    ASSERT_EQ(T_RECORDS, found.records);
    PASS();
}

TEST a_record_counts_in_its_own_file_alone(void)
{
    t_file *f = t_record();
    size_t n = f->n;
    t_found found;

    f->log.salt++;
    t_append(f, "stale", 5, n);
    f->log.salt--;
    found = t_read(f->bytes, f->n);
    ASSERT_EQ(T_RECORDS, found.records);
    ASSERT(found.safe <= found.end);
    PASS();
}

/* ------------------------------------------------------------------ replies */

static int t_refused(const char *replies, const char *why)
{
    relet_span s = rlt_log_refusal((const uint8_t *)replies, strlen(replies));

    return why == NULL ? s.p == NULL
                       : s.n == strlen(why) && memcmp(s.p, why, s.n) == 0;
}

TEST an_error_among_replies_is_found(void)
{
    ASSERT(t_refused("", NULL));
    ASSERT(t_refused("+OK\r\n:1\r\n$-1\r\n*0\r\n", NULL));
    ASSERT(t_refused("+OK\r\n-ERR no\r\n", "ERR no"));
    ASSERT(t_refused("*2\r\n:1\r\n-OOM\r\n", "OOM"));
    ASSERT(t_refused("$9\r\n\r\n-ERR x\r\n\r\n:1\r\n", NULL));
    ASSERT(t_refused("$0\r\n\r\n-ERR\r\n", "ERR"));
    ASSERT(t_refused("$99\r\nab", NULL));
    ASSERT(t_refused("$5", NULL));
    PASS();
}

SUITE(header)
{
    RUN_TEST(a_header_comes_back);
    RUN_TEST(a_log_has_the_same_bytes_on_every_machine);
    RUN_TEST(any_changed_bit_of_a_header_is_detected);
    RUN_TEST(a_file_that_is_no_log_is_not_read);
}

SUITE(records)
{
    RUN_TEST(a_log_comes_back_whole);
    RUN_TEST(a_log_cut_anywhere_has_the_whole_records_before_the_cut);
    RUN_TEST(zeros_behind_a_cut_are_no_records);
    RUN_TEST(damage_is_found_and_distinguished_from_a_torn_tail);
    RUN_TEST(unsynced_records_may_be_torn_before_whole_records);
    RUN_TEST(records_synced_before_the_rename_of_the_file_are_never_torn);
    RUN_TEST(a_record_counts_at_its_own_place_alone);
    RUN_TEST(a_record_counts_in_its_own_file_alone);
    RUN_TEST(an_error_among_replies_is_found);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(header);
    RUN_SUITE(records);
    GREATEST_MAIN_END();
}
