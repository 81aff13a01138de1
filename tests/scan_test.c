/* SPDX-License-Identifier: MIT
 *
 * scan_test.c - tests of the scanner beyond the test vectors.
 *
 * The vectors in tests/vectors test the grammar. These tests are about caps,
 * room, loans and offsets, and show that the cutting of the bytes changes
 * nothing. */
#include "value_words.h"

#include "greatest.h"

static uint32_t t_seed = 1;

static uint32_t t_random(uint32_t below)
{
    t_seed = t_seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)t_seed * below >> 32);
}

typedef struct t_setup {
    rlt_scan_limits limits;
    uint32_t tape_max;
    size_t frame_max;
} t_setup;

static t_setup t_usual(void)
{
    t_setup u;

    u.limits = t_feed_limits();
    u.tape_max = UINT32_MAX;
    u.frame_max = SIZE_MAX;
    return u;
}

/* Returns the events of n bytes that come `chunk` at a time; 0: all at once. */
static const char *t_tell(t_setup u, const char *wire, size_t n, size_t chunk)
{
    static t_text told;
    t_feed f;
    size_t at, take;

    told.n = 0;
    told.p[0] = '\0';
    t_feed_init(&f, u.limits, u.tape_max, t_event, &told);
    f.frame_max = u.frame_max;
    for (at = 0; at < n; at += take) {
        take = chunk == 0 || n - at < chunk ? n - at : chunk;
        t_feed_bytes(&f, (const uint8_t *)wire + at, take);
    }
    t_feed_free(&f);
    return told.p;
}

static const char *t_story(t_setup u, const char *wire)
{
    return t_tell(u, wire, strlen(wire), 0);
}

/* The events are the same, whole and byte by byte. */
#define T_TELLS(want, u, wire) \
    do { \
        ASSERT_STR_EQ(want, t_story(u, wire)); \
        ASSERT_STR_EQ(want, t_tell(u, wire, strlen(wire), 1)); \
    } while (0)

/* A scanner that the test drives itself. */
typedef struct t_scan {
    rlt_scan s;
    relet_node tape[RLT_SCAN_DEPTH_HARD + 2];
    uint8_t bytes[4096];
    size_t n;
} t_scan;

static void t_begin(t_scan *t, uint32_t tape_cap)
{
    rlt_scan_limits limits = t_feed_limits();

    t->n = 0;
    rlt_scan_init(&t->s, &limits, t->tape, tape_cap);
}

static rlt_verdict t_more(t_scan *t, const char *wire)
{
    size_t n = strlen(wire);

    memcpy(t->bytes + t->n, wire, n);
    t->n += n;
    return rlt_scan_run(&t->s, t->bytes, t->n);
}

/* -------------------------------------------------------------------- caps */

TEST a_line_over_its_cap_is_skipped_to_its_end(void)
{
    t_setup u = t_usual();

    u.limits.line_max = 5;
    T_TELLS("text\"12345\" ; SKIPPED LINE ; text\"OK\"", u,
            "+12345\r\n+123456\r\n+OK\r\n");
    T_TELLS("SKIPPED LINE ; SKIPPED LINE ; SKIPPED LINE ; null", u,
            "-1234567\r\n(123456\r\n,12345.6\r\n_\r\n");
    PASS();
}

TEST a_double_that_is_skipped_is_still_judged(void)
{
    t_setup u = t_usual();

    u.limits.line_max = 5;
    T_TELLS("ERR DBL", u, ",1234567x\r\n");
    T_TELLS("ERR LINE", u, "+1234567\n\r\n");
    PASS();
}

TEST a_string_over_its_cap_is_skipped_and_the_next_reply_is_whole(void)
{
    t_setup u = t_usual();

    u.limits.bulk_max = 4;
    T_TELLS("text\"1234\" ; SKIPPED BULK ; text\"OK\"", u,
            "$4\r\n1234\r\n$5\r\n12345\r\n+OK\r\n");
    T_TELLS("SKIPPED BULK ; SKIPPED BULK ; int(1)", u,
            "!5\r\n12345\r\n=5\r\ntxt:1\r\n:1\r\n");
    T_TELLS("SKIPPED BULK ; int(1)", u,
            "$?\r\n;2\r\n12\r\n;3\r\n345\r\n;0\r\n:1\r\n");
    PASS();
}

TEST a_skipped_string_must_still_end_in_crlf(void)
{
    t_setup u = t_usual();

    u.limits.bulk_max = 4;
    T_TELLS("ERR CRLF", u, "$5\r\n123456\r\n");
    T_TELLS("ERR VERB", u, "=5\r\ntxt;1\r\n");
    PASS();
}

TEST an_aggregate_over_its_cap_is_skipped_with_all_that_is_in_it(void)
{
    t_setup u = t_usual();

    u.limits.count_max = 2;
    T_TELLS("SKIPPED COUNT ; text\"OK\"", u,
            "*3\r\n*1\r\n:1\r\n%1\r\n:1\r\n:2\r\n$1\r\nx\r\n+OK\r\n");
    T_TELLS("SKIPPED COUNT ; map[int(1) int(2) int(3) int(4)]", u,
            "%3\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n"
            "%2\r\n:1\r\n:2\r\n:3\r\n:4\r\n");
    PASS();
}

TEST a_streamed_aggregate_over_its_cap_is_skipped_to_its_stop(void)
{
    t_setup u = t_usual();

    u.limits.count_max = 2;
    T_TELLS("arr[int(1) int(2)] ; SKIPPED COUNT ; text\"OK\"", u,
            "*?\r\n:1\r\n:2\r\n.\r\n*?\r\n:1\r\n:2\r\n:3\r\n:4\r\n.\r\n"
            "+OK\r\n");
    T_TELLS("SKIPPED COUNT ; text\"OK\"", u,
            "%?\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n.\r\n+OK\r\n");
    T_TELLS("ERR STREAM", u, "%?\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n.\r\n");
    PASS();
}

TEST a_frame_nested_over_the_cap_is_skipped(void)
{
    t_setup u = t_usual();

    u.limits.depth_max = 2;
    T_TELLS("arr[arr[int(1)]] ; SKIPPED DEPTH ; text\"OK\"", u,
            "*1\r\n*1\r\n:1\r\n*2\r\n*1\r\n*1\r\n:1\r\n:2\r\n+OK\r\n");
    PASS();
}

TEST an_empty_aggregate_is_a_level_too(void)
{
    t_setup u = t_usual();

    u.limits.depth_max = 1;
    T_TELLS("arr[] ; SKIPPED DEPTH", u, "*0\r\n*1\r\n*0\r\n");
    PASS();
}

TEST a_frame_deeper_than_the_tape_can_follow_is_an_error(void)
{
    t_setup u = t_usual();

    u.limits.depth_max = 2;
    u.tape_max = 4;
    T_TELLS("SKIPPED DEPTH ; text\"OK\"", u,
            "*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n+OK\r\n");
    T_TELLS("ERR DEPTH", u, "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n");
    PASS();
}

TEST the_first_cap_that_was_hit_is_the_one_told(void)
{
    t_setup u = t_usual();

    u.limits.bulk_max = 4;
    u.limits.line_max = 4;
    T_TELLS("SKIPPED LINE", u, "*2\r\n+12345\r\n$5\r\n12345\r\n");
    T_TELLS("SKIPPED BULK", u, "*2\r\n$5\r\n12345\r\n+12345\r\n");
    PASS();
}

TEST limits_over_the_hard_ones_are_the_hard_ones(void)
{
    t_setup u = t_usual();

    u.limits.bulk_max = u.limits.count_max = u.limits.depth_max = UINT32_MAX;
    T_TELLS("ERR LIMIT", u, "$536870913\r\n");
    T_TELLS("ERR LIMIT", u, "*2147483648\r\n");
    PASS();
}

/* ------------------------------------------------------------------ pushes */

TEST a_skipped_push_is_told_as_a_push(void)
{
    t_setup u = t_usual();

    u.limits.bulk_max = 4;
    T_TELLS("SKIPPED BULK push ; int(1)", u,
            ">2\r\n$5\r\n12345\r\n+x\r\n:1\r\n");
    PASS();
}

TEST pushes_inside_a_skipped_value_are_counted_as_lost(void)
{
    t_setup u = t_usual();

    u.limits.bulk_max = 4;
    T_TELLS("SKIPPED BULK lost lost ; int(1)", u,
            "*3\r\n$5\r\n12345\r\n>1\r\n+x\r\n:1\r\n>1\r\n*1\r\n+y\r\n:2\r\n"
            ":1\r\n");
    T_TELLS("SKIPPED BULK lost ; int(1)", u,
            "*1\r\n>1\r\n$5\r\n12345\r\n:2\r\n:1\r\n");
    PASS();
}

TEST a_push_inside_a_value_leaves_no_trace_in_it(void)
{
    T_TELLS("push[text\"x\" arr[int(7)]] ; @{text\"a\":int(1)}push[text\"y\"]"
            " ; arr[int(1) arr[int(2)] int(3)]",
            t_usual(),
            "*3\r\n:1\r\n*1\r\n>2\r\n+x\r\n*1\r\n:7\r\n:2\r\n"
            "|1\r\n+a\r\n:1\r\n>1\r\n+y\r\n:3\r\n");
    PASS();
}

TEST a_described_push_inside_a_value_takes_its_attribute_with_it(void)
{
    T_TELLS("@{text\"a\":int(1)}push[text\"y\"] ; "
            "arr[@{text\"b\":int(2)}int(3)]", t_usual(),
            "*1\r\n|1\r\n+a\r\n:1\r\n>1\r\n+y\r\n|1\r\n+b\r\n:2\r\n:3\r\n");
    PASS();
}

TEST next_keeps_the_frame_after_a_push_inside_a_value(void)
{
    t_scan t;

    t_begin(&t, 8);
    ASSERT_EQ(RLT_SCAN_PUSH, t_more(&t, "*2\r\n:1\r\n>1\r\n+x\r\n"));
    ASSERT_EQ(0, rlt_scan_next(&t.s));
    ASSERT_EQ(t.n, t.s.at);
    ASSERT_EQ(RLT_SCAN_VALUE, t_more(&t, ":2\r\n"));
    ASSERT_EQ(t.n, rlt_scan_next(&t.s));
    PASS();
}

TEST a_verdict_is_said_again_until_next(void)
{
    t_scan t;

    t_begin(&t, 8);
    ASSERT_EQ(RLT_SCAN_VALUE, t_more(&t, ":1\r\n"));
    ASSERT_EQ(RLT_SCAN_VALUE, t_more(&t, ":2\r\n"));
    ASSERT_EQ(4, rlt_scan_next(&t.s));
    PASS();
}

/* -------------------------------------------------------------- attributes */

TEST attributes_in_a_row_are_one_map_at_any_level(void)
{
    T_TELLS("arr[@{text\"a\":arr[int(1)] text\"b\":@{text\"c\":int(2)}int(3)}"
            "arr[int(4)] int(5)]",
            t_usual(),
            "*2\r\n|1\r\n+a\r\n*1\r\n:1\r\n|0\r\n|1\r\n+b\r\n|1\r\n+c\r\n:2\r\n"
            ":3\r\n*1\r\n:4\r\n:5\r\n");
    PASS();
}

TEST an_attribute_describes_nothing_at_the_end_of_a_stream(void)
{
    T_TELLS("ERR STREAM", t_usual(), "*?\r\n|1\r\n+a\r\n:1\r\n.\r\n");
    PASS();
}

/* -------------------------------------------------------------------- room */

TEST a_declared_count_reserves_no_memory(void)
{
    t_scan t;

    t_begin(&t, 3);
    ASSERT_EQ(RLT_SCAN_MORE, t_more(&t, "*2147483647\r\n"));
    ASSERT_EQ(t.n + 1, t.s.need);
    PASS();
}

TEST a_full_tape_is_told_before_anything_is_lost(void)
{
    t_scan t;
    relet_node more[8];

    t_begin(&t, 3);
    ASSERT_EQ(RLT_SCAN_TAPE, t_more(&t, "*3\r\n:1\r\n:2\r\n:3\r\n"));
    ASSERT_EQ(RLT_SCAN_TAPE, rlt_scan_run(&t.s, t.bytes, t.n));
    memcpy(more, t.tape, 3 * sizeof *more);
    memset(t.tape, 0xff, sizeof t.tape);
    rlt_scan_tape(&t.s, more, 8);
    ASSERT_EQ(RLT_SCAN_VALUE, rlt_scan_run(&t.s, t.bytes, t.n));
    ASSERT_EQ(3, relet_value_count(rlt_scan_value(&t.s, t.bytes)));
    PASS();
}

TEST a_frame_that_no_tape_can_hold_is_skipped_in_sync(void)
{
    t_setup u = t_usual();

    u.tape_max = 5;
    T_TELLS("arr[int(1) int(2) int(3)] ; SKIPPED TAPE lost ; text\"OK\"", u,
            "*3\r\n:1\r\n:2\r\n:3\r\n"
            "*5\r\n*1\r\n:1\r\n*1\r\n*1\r\n:2\r\n>1\r\n:3\r\n:4\r\n%1\r\n:5\r\n"
            ":6\r\n:7\r\n+OK\r\n");
    PASS();
}

TEST a_frame_that_no_buffer_can_hold_is_dropped_as_it_comes(void)
{
    t_setup u = t_usual();
    const char *wire = "*3\r\n$30\r\n012345678901234567890123456789\r\n"
                       "+a line that goes on and on\r\n,0.123456789012345\r\n"
                       "$?\r\n;9\r\n012345678\r\n;9\r\n012345678\r\n;0\r\n";

    u.frame_max = 8;
    ASSERT_STR_EQ("SKIPPED BYTES ; SKIPPED BYTES",
                  t_tell(u, wire, strlen(wire), 1));
    PASS();
}

TEST skipping_needs_room_for_no_more_than_four_bytes(void)
{
    const char *wire = "*4\r\n=31\r\ntxt:012345678901234567890123456\r\n"
                       "+line\r\n,1.5\r\n:12345\r\n";
    t_scan t;
    size_t at, n = 0, most = 0;

    t_begin(&t, RLT_SCAN_DEPTH_HARD + 2);
    rlt_scan_skip(&t.s, RLT_SKIP_BYTES);
    for (at = 0; wire[at] != '\0'; at++) {
        t.bytes[n++] = (uint8_t)wire[at];
        if (rlt_scan_run(&t.s, t.bytes, n) != RLT_SCAN_MORE)
            break;
        most = n > most ? n : most;
        memmove(t.bytes, t.bytes + t.s.at, n - t.s.at);
        n -= rlt_scan_drop(&t.s);
    }
    ASSERT_EQ(RLT_SCAN_SKIPPED, t.s.verdict);
    ASSERT_EQ(strlen(wire) - 1, at);
    ASSERT(most <= 4);
    PASS();
}

TEST a_kept_frame_loses_no_bytes(void)
{
    t_scan t;

    t_begin(&t, 8);
    ASSERT_EQ(RLT_SCAN_MORE, t_more(&t, "*2\r\n:1\r\n"));
    ASSERT_EQ(0, rlt_scan_drop(&t.s));
    PASS();
}

TEST a_skip_in_the_middle_of_anything_ends_with_the_frame(void)
{
    const char *wire = "*6\r\n*2\r\n:1\r\n*3\r\n:1\r\n~2\r\n:1\r\n:2\r\n:3\r\n"
                       "|1\r\n+a\r\n:1\r\n$5\r\nhello\r\n%1\r\n+k\r\n"
                       "=5\r\ntxt:v\r\n$?\r\n;2\r\nab\r\n;0\r\n"
                       "~?\r\n:1\r\n.\r\n,1.5\r\n";
    size_t n = strlen(wire), cut;
    t_scan t;

    for (cut = 0; cut < n; cut++) {
        t_begin(&t, RLT_SCAN_DEPTH_HARD + 2);
        memcpy(t.bytes, wire, n);
        ASSERT_EQ(RLT_SCAN_MORE, rlt_scan_run(&t.s, t.bytes, cut));
        rlt_scan_skip(&t.s, RLT_SKIP_BYTES);
        rlt_scan_skip(&t.s, RLT_SKIP_TAPE);
        ASSERT_EQ(RLT_SCAN_SKIPPED, rlt_scan_run(&t.s, t.bytes, n));
        ASSERT_EQ(RLT_SKIP_BYTES, t.s.skip_why);
        ASSERT_EQ(n, rlt_scan_next(&t.s));
    }
    PASS();
}

TEST the_next_frame_knows_nothing_of_a_skipped_one(void)
{
    t_setup u = t_usual();

    u.limits.bulk_max = 4;
    T_TELLS("SKIPPED BULK push ; SKIPPED BULK lost ; SKIPPED BULK", u,
            ">1\r\n$5\r\n12345\r\n*1\r\n>1\r\n$5\r\n12345\r\n:1\r\n"
            "$5\r\n12345\r\n");
    PASS();
}

/* -------------------------------------------------------------------- need */

TEST need_is_the_whole_of_a_string_once_its_length_is_known(void)
{
    t_scan t;

    t_begin(&t, 8);
    ASSERT_EQ(RLT_SCAN_MORE, t_more(&t, "*2\r\n$1000000\r\n"));
    ASSERT_EQ(t.n + 1000000 + 2, t.s.need);
    PASS();
}

TEST need_is_one_byte_more_inside_a_header(void)
{
    t_scan t;

    t_begin(&t, 8);
    ASSERT_EQ(1, t.s.need);
    ASSERT_EQ(RLT_SCAN_MORE, t_more(&t, "$10"));
    ASSERT_EQ(4, t.s.need);
    PASS();
}

/* ------------------------------------------------------------------ errors */

TEST an_error_stays_and_knows_its_first_wrong_byte(void)
{
    static const struct {
        const char *wire;
        size_t at;
        int error;
    } cases[] = {
        {"+OK\n", 3, RLT_SCAN_E_LINE},
        {"+OK\rX", 4, RLT_SCAN_E_LINE},
        {"$2\r\nabXY", 6, RLT_SCAN_E_CRLF},
        {"$2\r\nab\rY", 7, RLT_SCAN_E_CRLF},
        {"*1\r\n$x", 5, RLT_SCAN_E_LEN},
        {":12x", 3, RLT_SCAN_E_INT},
        {",1.5.", 4, RLT_SCAN_E_DOUBLE},
        {",1e\r", 3, RLT_SCAN_E_DOUBLE},
        {"*1\r\n@", 4, RLT_SCAN_E_TYPE},
        {"=5\r\ntxt;", 7, RLT_SCAN_E_VERB},
        {"#x", 1, RLT_SCAN_E_BOOL},
        {"_x", 1, RLT_SCAN_E_NULL},
        {">1\r\n>", 4, RLT_SCAN_E_PUSH},
        {"$?\r\n:", 4, RLT_SCAN_E_STREAM},
    };
    t_scan t;
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        t_begin(&t, 8);
        ASSERT_EQ(RLT_SCAN_ERROR, t_more(&t, cases[i].wire));
        ASSERT_EQ(cases[i].error, t.s.error);
        ASSERT_EQ(cases[i].at, t.s.at);
        ASSERT_EQ(RLT_SCAN_ERROR, t_more(&t, "+OK\r\n"));
        ASSERT_EQ(cases[i].at, t.s.at);
    }
    PASS();
}

TEST every_error_has_a_text_of_its_own(void)
{
    int i, k;

    for (i = 0; i <= RLT_SCAN_E_STREAM; i++)
        for (k = 0; k < i; k++)
            ASSERT(strcmp(rlt_scan_error_text(i), rlt_scan_error_text(k)) != 0);
    ASSERT_STR_EQ("unknown error", rlt_scan_error_text(99));
    PASS();
}

TEST every_form_of_nan_that_servers_print_is_a_double(void)
{
    T_TELLS("dbl(nan) ; dbl(nan) ; dbl(nan) ; dbl(nan) ; dbl(-inf)", t_usual(),
            ",-nan\r\n,NAN\r\n,+nan(0x8_f)\r\n,nan()\r\n,-INF\r\n");
    PASS();
}

TEST a_text_that_no_server_prints_is_no_double(void)
{
    static const char *const wires[] = {
        ",\r\n", ",-\r\n", ",--1\r\n", ",1-\r\n", ",1.5.\r\n", ",.x\r\n",
        ",1e5.\r\n", ",1e+-5\r\n", ",1x\r\n", ",i\r\n", ",ix\r\n",
        ",inx\r\n", ",infi\r\n", ",n\r\n", ",nx\r\n", ",nax\r\n", ",nanx\r\n",
        ",nan(\r\n", ",nan(-)\r\n", ",nan()x\r\n", ",1e\x01\r\n"};
    size_t i;

    for (i = 0; i < sizeof wires / sizeof *wires; i++)
        T_TELLS("ERR DBL", t_usual(), wires[i]);
    PASS();
}

TEST numbers_are_the_same_with_zeros_in_front(void)
{
    T_TELLS("arr[text\"abc\" int(7) int(-7) text\"more than thirty bytes\"]",
            t_usual(),
            "*0000000004\r\n$00000000000000003\r\nabc\r\n"
            ":0000000000000000007\r\n:-000000000000000007\r\n"
            "+more than thirty bytes\r\n");
    T_TELLS("ERR LEN", t_usual(), "$00000000000000000003\r\nabc\r\n");
    T_TELLS("ERR INT", t_usual(), ":00000000000000000007\r\n");
    PASS();
}

/* -------------------------------------------- both paths, and every cutting */

/* A value of any shape, now and then with a wrong byte in it. */
static void t_make(t_text *w, int depth)
{
    static const char *const leaves[] = {
        "+OK\r\n", "-ERR x\r\n", ":0\r\n", ":-12345678901\r\n", "_\r\n",
        "$0\r\n\r\n", "$5\r\nhello\r\n", "$-1\r\n", "#t\r\n", ",1.5e3\r\n",
        "(123456789012345678901\r\n", "!5\r\nERR y\r\n", "=7\r\ntxt:abc\r\n",
        "$?\r\n;2\r\nab\r\n;1\r\nc\r\n;0\r\n", "*-1\r\n", "*0\r\n",
        "$12\r\nhello, world\r\n", ":9223372036854775807\r\n",
        "$40\r\na string that ends behind any one header\r\n",
        "+a line that no single header of thirty-two bytes can hold\r\n"};
    static const char *const nests[] = {"*2\r\n", "*3\r\n", "%1\r\n", "~2\r\n",
                                        "*?\r\n", "%?\r\n", "|1\r\n"};
    static const int members[] = {2, 3, 2, 2, 3, 2, 2};
    uint32_t pick = t_random(7);
    int i;

    if (t_random(20) == 0 && depth > 0)
        t_say(w, ">1\r\n+x\r\n");
    if (depth == 6 || t_random(3) > 0) {
        t_say(w, leaves[t_random(sizeof leaves / sizeof *leaves)]);
        return;
    }
    t_say(w, nests[pick]);
    for (i = 0; i < members[pick]; i++)
        t_make(w, depth + 1);
    if (nests[pick][1] == '?')
        t_say(w, ".\r\n");
    if (nests[pick][0] == '|')
        t_make(w, depth);
}

static void t_spoil(t_text *w)
{
    static const char bytes[] = "\r\n0123456789-+?.:$*%~>|_#,(!=;tx";

    if (t_random(3) == 0)
        w->p[t_random((uint32_t)w->n)] = bytes[t_random(sizeof bytes)];
}

static t_setup t_any_setup(void)
{
    t_setup u = t_usual();

    if (t_random(4) == 0)
        u.limits.line_max = 1 + t_random(6);
    if (t_random(4) == 0)
        u.limits.bulk_max = t_random(8);
    if (t_random(4) == 0)
        u.limits.count_max = 1 + t_random(3);
    if (t_random(4) == 0)
        u.limits.depth_max = 1 + t_random(4);
    if (t_random(4) == 0)
        u.tape_max = 3 + t_random(12);
    return u;
}

TEST the_way_that_bytes_arrive_changes_nothing(void)
{
    static t_text wire, whole;
    const char *other;
    t_setup u;
    int round, i;

    for (round = 0; round < 3000; round++) {
        wire.n = 0;
        for (i = 0; i < 4; i++)
            t_make(&wire, 0);
        t_spoil(&wire);
        u = t_any_setup();
        whole.n = 0;
        other = t_tell(u, wire.p, wire.n, 0);
        t_say(&whole, other);
        other = t_tell(u, wire.p, wire.n, 1);
        ASSERT_STR_EQ(whole.p, other);
        other = t_tell(u, wire.p, wire.n, 2 + t_random(100));
        ASSERT_STR_EQ(whole.p, other);
    }
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_line_over_its_cap_is_skipped_to_its_end);
    RUN_TEST(a_double_that_is_skipped_is_still_judged);
    RUN_TEST(a_string_over_its_cap_is_skipped_and_the_next_reply_is_whole);
    RUN_TEST(a_skipped_string_must_still_end_in_crlf);
    RUN_TEST(an_aggregate_over_its_cap_is_skipped_with_all_that_is_in_it);
    RUN_TEST(a_streamed_aggregate_over_its_cap_is_skipped_to_its_stop);
    RUN_TEST(a_frame_nested_over_the_cap_is_skipped);
    RUN_TEST(an_empty_aggregate_is_a_level_too);
    RUN_TEST(a_frame_deeper_than_the_tape_can_follow_is_an_error);
    RUN_TEST(the_first_cap_that_was_hit_is_the_one_told);
    RUN_TEST(limits_over_the_hard_ones_are_the_hard_ones);
    RUN_TEST(a_skipped_push_is_told_as_a_push);
    RUN_TEST(pushes_inside_a_skipped_value_are_counted_as_lost);
    RUN_TEST(a_push_inside_a_value_leaves_no_trace_in_it);
    RUN_TEST(a_described_push_inside_a_value_takes_its_attribute_with_it);
    RUN_TEST(next_keeps_the_frame_after_a_push_inside_a_value);
    RUN_TEST(a_verdict_is_said_again_until_next);
    RUN_TEST(attributes_in_a_row_are_one_map_at_any_level);
    RUN_TEST(an_attribute_describes_nothing_at_the_end_of_a_stream);
    RUN_TEST(a_declared_count_reserves_no_memory);
    RUN_TEST(a_full_tape_is_told_before_anything_is_lost);
    RUN_TEST(a_frame_that_no_tape_can_hold_is_skipped_in_sync);
    RUN_TEST(a_frame_that_no_buffer_can_hold_is_dropped_as_it_comes);
    RUN_TEST(skipping_needs_room_for_no_more_than_four_bytes);
    RUN_TEST(a_kept_frame_loses_no_bytes);
    RUN_TEST(a_skip_in_the_middle_of_anything_ends_with_the_frame);
    RUN_TEST(the_next_frame_knows_nothing_of_a_skipped_one);
    RUN_TEST(need_is_the_whole_of_a_string_once_its_length_is_known);
    RUN_TEST(need_is_one_byte_more_inside_a_header);
    RUN_TEST(an_error_stays_and_knows_its_first_wrong_byte);
    RUN_TEST(every_error_has_a_text_of_its_own);
    RUN_TEST(every_form_of_nan_that_servers_print_is_a_double);
    RUN_TEST(a_text_that_no_server_prints_is_no_double);
    RUN_TEST(numbers_are_the_same_with_zeros_in_front);
    RUN_TEST(the_way_that_bytes_arrive_changes_nothing);
    GREATEST_MAIN_END();
}
