/* SPDX-License-Identifier: MIT
 *
 * conn_test.c - tests of a link's operations and buffers, from inside. */
#include "conn.h"
#include "peer.h"

#include "greatest.h"

#define T_OPS 16
#define T_MAX 4096

typedef struct t_conn {
    rlt_conn c;
    t_heap heap;
    rlt_op ops[T_OPS];
    relet_node tape[256];
    uint8_t in[T_MAX], out[T_MAX];
} t_conn;

static t_conn *t_conn_start(void)
{
    static t_conn t;
    rlt_conn_plan plan;

    memset(&t, 0, sizeof t);
    memset(&plan, 0, sizeof plan);
    if (!t_fixed) {
        plan.reader.memory.resize = t_heap_resize;
        plan.reader.memory.user = &t.heap;
    }
    plan.reader.limits.line_max = plan.reader.limits.bulk_max = T_MAX;
    plan.reader.limits.count_max = 200;
    plan.reader.limits.depth_max = 8;
    plan.ops = t.ops;
    plan.ops_cap = T_OPS;
    plan.reader.buffer_min = 64;
    plan.output_max = plan.reader.reply_max = T_MAX;
    plan.reader.tape_max = sizeof t.tape;
    plan.reader.block = t.in;
    plan.out_block = t.out;
    plan.reader.tape_block = t.tape;
    rlt_conn_init(&t.c, &plan);
    if (rlt_reader_open(&t.c.reader) < 0)
        t_die("the link was not opened");
    return &t;
}

static size_t t_conn_end(t_conn *t)
{
    rlt_conn_free(&t->c);
    return t->heap.blocks + t->heap.held;
}

/* Queues an operation whose bytes are this text. */
static int t_put(rlt_conn *c, uint64_t tag, unsigned flags, relet_time wait,
                 const char *text)
{
    size_t n = strlen(text);
    uint8_t *out = NULL;
    rlt_op op;
    int code = rlt_conn_begin(c, n, &out);

    if (code < 0)
        return code;
    memset(&op, 0, sizeof op);
    op.tag = tag;
    op.flags = (uint8_t)flags;
    op.deadline = wait;
    memcpy(out, text, n);
    rlt_conn_commit(c, &op, n);
    return 0;
}

/* Returns up to `most` unsent bytes as text, and marks them as sent. */
static const char *t_out(rlt_conn *c, size_t most)
{
    static char text[T_MAX + 1];
    const uint8_t *p = NULL;
    size_t n = rlt_conn_pending(c, &p);

    n = RLT_MIN(n, most);
    if (n > 0)
        memcpy(text, p, n);
    text[n] = '\0';
    rlt_conn_sent(c, n);
    return text;
}

static void t_in(rlt_conn *c, const char *text)
{
    uint8_t *p = NULL;
    size_t n = strlen(text), room = rlt_reader_space(&c->reader, &p);

    if (room < n)
        t_die("no room for what came");
    memcpy(p, text, n);
    rlt_reader_received(&c->reader, n);
}

/* Returns the tag of the operation that the next answer belongs to; 0: none. */
static uint64_t t_answered(rlt_conn *c)
{
    relet_value v = {NULL, NULL};
    uint64_t tag = 0;
    rlt_op *op;

    if (rlt_reader_next(&c->reader, &v) == RLT_ARRIVED_VALUE) {
        op = rlt_conn_front(c);
        tag = op ? op->tag : 0;
        if (op)
            rlt_conn_pop(c);
    }
    rlt_reader_release(&c->reader);
    return tag;
}

TEST positions_in_the_ring_wrap_around(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;
    uint64_t tag, ended = 0;
    rlt_op op;
    int unsure;

    c->first = c->last = c->unsent = c->fresh = c->ended_from =
        UINT32_MAX - 20;
    ASSERT_EQ(0, t_put(c, 1, 0, 100, "a"));
    for (tag = 1; tag < 100; tag += 4) { /* the ring is never idle */
        ASSERT_EQ(0, t_put(c, tag + 1, RELET_REPEATABLE, 100, "b"));
        ASSERT_EQ(0, t_put(c, tag + 2, 0, 100, "c"));
        ASSERT_EQ(0, t_put(c, tag + 3, 0, 100, "d"));
        rlt_conn_tick(c, (relet_time)tag, 1);
        ASSERT_STR_EQ("abc", t_out(c, 3));
        ASSERT_EQ(1, rlt_conn_cancel(c, tag + 2, NULL));
        ASSERT_EQ(1, rlt_conn_cancel(c, tag + 3, NULL));
        while (rlt_conn_take_ended(c, &op, &unsure)) {
            ASSERT_EQ(unsure, op.tag == tag + 2);
            ended++;
        }
        ASSERT_STR_EQ("", t_out(c, 3));
        t_in(c, "+1\r\n+2\r\n+3\r\n");
        ASSERT_EQ(tag, t_answered(c));
        ASSERT_EQ(tag + 1, t_answered(c));
        ASSERT_EQ(0, t_put(c, tag + 4, 0, 100, "a"));
        ASSERT_EQ(tag + 2, t_answered(c));
        ASSERT_EQ(0, rlt_conn_idle(c));
    }
    ASSERT_EQ(50, ended);
    ASSERT(c->first > 0 && c->first < 1000); /* the index has wrapped */
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

/* Regression: a client that submits one operation after the other touched its
 * whole ring of 3 MB. */
TEST an_idle_ring_begins_anew(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;
    uint64_t tag;

    for (tag = 1; tag < 100; tag++) {
        ASSERT_EQ(0, t_put(c, tag, 0, 100, "a"));
        ASSERT_EQ(0, c->first);
        ASSERT_STR_EQ("a", t_out(c, 3));
        t_in(c, "+1\r\n");
        ASSERT_EQ(tag, t_answered(c));
        ASSERT_EQ(1, rlt_conn_idle(c));
    }
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST a_break_wraps_around_too(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;
    rlt_op op;
    int unsure;

    c->first = c->last = c->unsent = c->fresh = c->ended_from =
        UINT32_MAX - 1;
    ASSERT_EQ(0, t_put(c, 1, RELET_REPEATABLE, 100, "one,"));
    ASSERT_EQ(0, t_put(c, 2, 0, 100, "two,"));
    ASSERT_EQ(0, t_put(c, 3, RELET_REPEATABLE, 100, "three,"));
    ASSERT_EQ(0, t_put(c, 4, 0, 100, "four,"));
    ASSERT_STR_EQ("one,two,three,f", t_out(c, 15));
    rlt_conn_break(c, RELET_WHY_BROKEN, 0);
    ASSERT_EQ(1, rlt_conn_take_ended(c, &op, &unsure));
    ASSERT_EQ(2, op.tag);
    ASSERT_EQ(1, unsure);
    ASSERT_EQ(0, rlt_conn_take_ended(c, &op, &unsure));
    ASSERT_EQ(0, rlt_reader_open(&c->reader));
    ASSERT_EQ(0, t_put(c, 5, 0, 100, "five"));
    ASSERT_STR_EQ("one,three,four,five", t_out(c, 100));
    ASSERT_EQ(4, c->outstanding);
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST cancelled_operations_end_in_the_order_of_submission(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;
    rlt_op op;
    int unsure;

    ASSERT_EQ(0, t_put(c, 1, 0, 100, "one"));
    ASSERT_EQ(0, t_put(c, 2, 0, 100, "two"));
    ASSERT_EQ(0, t_put(c, 3, 0, 100, "three"));
    ASSERT_EQ(1, rlt_conn_cancel(c, 3, NULL));
    ASSERT_EQ(1, rlt_conn_cancel(c, 1, NULL));
    ASSERT_EQ(1, rlt_conn_take_ended(c, &op, &unsure));
    ASSERT_EQ(1, op.tag);
    ASSERT_EQ(1, rlt_conn_take_ended(c, &op, &unsure));
    ASSERT_EQ(3, op.tag);
    ASSERT_EQ(0, rlt_conn_take_ended(c, &op, &unsure));
    ASSERT_STR_EQ("two", t_out(c, 100));
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST a_full_ring_is_a_limit(void)
{
    t_conn *t = t_conn_start();
    int i;

    for (i = 0; i < T_OPS; i++)
        ASSERT_EQ(0, t_put(&t->c, 1, 0, 100, "x"));
    ASSERT_EQ(RELET_E_LIMIT, t_put(&t->c, 1, 0, 100, "x"));
    ASSERT_EQ(T_OPS, t->c.outstanding);
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST a_full_ring_frees_the_places_of_operations_that_ended_unsent(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;
    uint64_t tag;
    rlt_op op;
    int unsure;

    for (tag = 1; tag <= T_OPS; tag++)
        ASSERT_EQ(0, t_put(c, tag, 0, tag % 3 ? 10 : RELET_NEVER, "x"));
    ASSERT_STR_EQ("xx", t_out(c, 2));
    rlt_conn_tick(c, 0, 1);
    rlt_conn_tick(c, 10, 1);
    while (rlt_conn_take_ended(c, &op, &unsure))
        ASSERT_EQ(unsure, op.tag <= 2);
    for (tag = 21; tag <= 29; tag++)
        ASSERT_EQ(0, t_put(c, tag, 0, 100, "y"));
    ASSERT_EQ(RELET_E_LIMIT, t_put(c, 99, 0, 100, "y"));
    ASSERT_STR_EQ("xxxxxyyyyyyyyy", t_out(c, 100));
    t_in(c, "+\r\n+\r\n+\r\n+\r\n+\r\n+\r\n+\r\n+\r\n+\r\n+\r\n");
    ASSERT_EQ(1, t_answered(c));
    ASSERT_EQ(2, t_answered(c));
    ASSERT_EQ(3, t_answered(c));
    ASSERT_EQ(6, t_answered(c));
    ASSERT_EQ(9, t_answered(c));
    ASSERT_EQ(12, t_answered(c));
    ASSERT_EQ(15, t_answered(c));
    ASSERT_EQ(21, t_answered(c));
    ASSERT_EQ(2, c->late);
    rlt_conn_tick(c, 20, 1);
    ASSERT_EQ(120, rlt_conn_deadline(c, 20));
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST a_full_ring_that_is_compacted_reports_each_end_once(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;
    uint64_t tag;
    rlt_op op;
    int unsure;

    for (tag = 1; tag <= T_OPS; tag++)
        ASSERT_EQ(0, t_put(c, tag, 0, RELET_NEVER, "x"));
    ASSERT_EQ(1, rlt_conn_cancel(c, 2, NULL));
    ASSERT_EQ(1, rlt_conn_cancel(c, 3, NULL));
    ASSERT_EQ(1, rlt_conn_take_ended(c, &op, &unsure));
    ASSERT_EQ(1, rlt_conn_take_ended(c, &op, &unsure));
    ASSERT_EQ(1, rlt_conn_cancel(c, 10, NULL));
    ASSERT_EQ(1, rlt_conn_cancel(c, 12, NULL));
    ASSERT_EQ(0, t_put(c, 21, 0, RELET_NEVER, "y"));
    ASSERT_EQ(1, rlt_conn_take_ended(c, &op, &unsure));
    ASSERT_EQ(10, op.tag);
    ASSERT_EQ(1, rlt_conn_take_ended(c, &op, &unsure));
    ASSERT_EQ(12, op.tag);
    ASSERT_EQ(0, rlt_conn_take_ended(c, &op, &unsure));
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST sent_bytes_are_dropped_unless_they_may_be_wanted_again(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;

    ASSERT_EQ(0, t_put(c, 1, 0, 100, "one"));
    (void)t_out(c, 100);
    ASSERT_EQ(0, rlt_buf_used(&c->out));
    ASSERT_EQ(0, t_put(c, 2, RELET_REPEATABLE, 100, "two"));
    ASSERT_EQ(0, t_put(c, 3, 0, 100, "three"));
    (void)t_out(c, 100);
    ASSERT_EQ(8, rlt_buf_used(&c->out));
    t_in(c, "+\r\n+\r\n");
    ASSERT_EQ(1, t_answered(c));
    ASSERT_EQ(8, rlt_buf_used(&c->out));
    ASSERT_EQ(2, t_answered(c));
    ASSERT_EQ(0, rlt_buf_used(&c->out));
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST bytes_of_a_command_cut_off_in_the_middle_are_kept(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;

    ASSERT_EQ(0, t_put(c, 1, 0, 100, "one"));
    ASSERT_EQ(0, t_put(c, 2, 0, 100, "two"));
    ASSERT_STR_EQ("onet", t_out(c, 4));
    ASSERT_EQ(3, rlt_buf_used(&c->out));
    rlt_conn_break(c, RELET_WHY_BROKEN, 0);
    ASSERT_EQ(0, rlt_reader_open(&c->reader));
    ASSERT_STR_EQ("two", t_out(c, 100));
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

/* Over another link, WAIT would count the replicas of that link's writes. */
TEST a_request_of_a_lease_ends_with_its_link_even_if_unsent(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;
    int unsure = 1;
    rlt_op op;

    ASSERT_EQ(0, t_put(c, 1, 0, 100, "one"));
    ASSERT_EQ(0, t_put(c, 2, RLT_OP_OURS, 100, "two"));
    ASSERT_EQ(1, c->outstanding);
    ASSERT_EQ(0, rlt_conn_cancel(c, 2, NULL));
    rlt_conn_break(c, RELET_WHY_BROKEN, 0);
    ASSERT(rlt_conn_take_ended(c, &op, &unsure));
    ASSERT_EQ(2, op.tag);
    ASSERT_EQ(0, unsure);
    ASSERT_EQ(1, c->outstanding);
    ASSERT_EQ(0, rlt_reader_open(&c->reader));
    ASSERT_STR_EQ("one", t_out(c, 100));
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST a_repeated_operation_goes_to_the_end_with_its_patch(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;
    relet_span patch[2] = {{"<", 1}, {">", 1}};

    ASSERT_EQ(0, t_put(c, 1, RELET_REPEATABLE, 100, "one"));
    ASSERT_EQ(0, t_put(c, 2, RELET_REPEATABLE, 100, "two"));
    ASSERT_STR_EQ("onetw", t_out(c, 5));
    ASSERT_EQ(0, rlt_conn_again(c, RLT_OP_PLAIN, 1, patch, 2));
    ASSERT_EQ(2, c->outstanding);
    ASSERT_STR_EQ("o<>ne", t_out(c, 100));
    t_in(c, "+\r\n+\r\n");
    ASSERT_EQ(2, t_answered(c));
    ASSERT_EQ(1, t_answered(c));
    ASSERT_EQ(0, c->kept_ops);
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST repeating_an_operation_without_room_changes_nothing(void)
{
    static char big[T_MAX - 10];
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;
    relet_span patch;

    memset(big, 'x', sizeof big - 1);
    patch.p = big;
    patch.n = sizeof big - 1;
    ASSERT_EQ(0, t_put(c, 1, RELET_REPEATABLE, 100, "0123456789abcdef"));
    (void)t_out(c, 100);
    ASSERT_EQ(RELET_E_LIMIT, rlt_conn_again(c, RLT_OP_PLAIN, 0, &patch, 1));
    ASSERT_EQ(1, rlt_conn_front(c)->tag);
    ASSERT_EQ(16, rlt_conn_front_bytes(c).n);
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST a_declared_length_is_not_believed(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;
    relet_value v = {NULL, NULL};
    uint8_t *p = NULL;
    int i;

    if (t_fixed)
        SKIPm("only with an allocator");
    ASSERT_EQ(0, t_put(c, 1, 0, 100, "x"));
    t_in(c, "$4000\r\n");
    for (i = 0; i < 20; i++) {
        ASSERT_EQ(RLT_ARRIVED_NOTHING, rlt_reader_next(&c->reader, &v));
        ASSERT(rlt_reader_space(&c->reader, &p) > 0);
        ASSERT(c->reader.bytes.cap <= 2 * rlt_buf_used(&c->reader.bytes) + 128);
        *p = 'x';
        rlt_reader_received(&c->reader, 1);
    }
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST an_aggregate_over_a_limit_takes_no_room(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;
    relet_value v = {NULL, NULL};
    size_t cap;
    int i;

    ASSERT_EQ(0, t_put(c, 1, 0, 100, "x"));
    (void)t_out(c, 1);
    t_in(c, "*100000\r\n");
    cap = c->reader.bytes.cap;
    for (i = 0; i < 100000; i += 10) {
        ASSERT_EQ(RLT_ARRIVED_NOTHING, rlt_reader_next(&c->reader, &v));
        t_in(c, ":1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n");
    }
    ASSERT_EQ(RLT_ARRIVED_SKIPPED, rlt_reader_next(&c->reader, &v));
    ASSERT_EQ(RLT_SKIP_COUNT, c->reader.scan.skip_why);
    ASSERT(c->reader.bytes.cap <= 2 * cap + 64);
    rlt_reader_release(&c->reader);
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST the_deadline_is_that_of_the_first_operation_to_time_out(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;

    ASSERT_EQ(RELET_NEVER, rlt_conn_deadline(c, 5));
    ASSERT_EQ(0, t_put(c, 1, 0, RELET_NEVER, "x"));
    ASSERT_EQ(RELET_NEVER, rlt_conn_deadline(c, 5));
    ASSERT_EQ(0, t_put(c, 2, 0, 70, "x"));
    ASSERT_EQ(0, t_put(c, 3, 0, 30, "x"));
    ASSERT_EQ(1030, rlt_conn_deadline(c, 1000));
    rlt_conn_tick(c, 2000, 1);
    ASSERT_EQ(2030, rlt_conn_deadline(c, 2010));
    rlt_conn_tick(c, 2030, 1);
    ASSERT_EQ(1, c->ended);
    ASSERT_EQ(2070, rlt_conn_deadline(c, 2030));
    ASSERT_EQ(0, t_put(c, 4, 0, 10, "x"));
    ASSERT_EQ(2045, rlt_conn_deadline(c, 2035));
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST a_timeout_put_off_by_its_caller_takes_effect_later(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;

    ASSERT_EQ(0, t_put(c, 1, 0, 10, "x"));
    rlt_conn_tick(c, 0, 1);
    rlt_conn_tick(c, 100, 0);
    ASSERT_EQ(0, c->ended);
    rlt_conn_tick(c, 100, 1);
    ASSERT_EQ(1, c->ended);
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST an_answer_without_a_sent_command_has_no_operation(void)
{
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;

    ASSERT_EQ(NULL, rlt_conn_front(c));
    ASSERT_EQ(0, t_put(c, 1, 0, 10, "xyz"));
    ASSERT_EQ(NULL, rlt_conn_front(c));
    (void)t_out(c, 2);
    ASSERT_EQ(NULL, rlt_conn_front(c));
    (void)t_out(c, 2);
    ASSERT(rlt_conn_front(c) != NULL);
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

TEST an_idle_connection_gives_memory_back_but_loses_no_bytes(void)
{
    char big[1001];
    t_conn *t = t_conn_start();
    rlt_conn *c = &t->c;

    memset(big, 'x', sizeof big);
    big[1000] = '\0';
    ASSERT_EQ(0, t_put(c, 1, 0, 100, big));
    (void)t_out(c, 900);
    ASSERT_EQ(0, t_put(c, 2, 0, 100, "end"));
    rlt_conn_rest(c);
    ASSERT_EQ(103, strlen(t_out(c, T_MAX)));
    rlt_conn_rest(c);
    if (!t_fixed)
        ASSERT(t->heap.held <= 130 * sizeof(relet_node) + 256);
    ASSERT_EQ(0, t_conn_end(t));
    PASS();
}

static SUITE(conn)
{
    RUN_TEST(positions_in_the_ring_wrap_around);
    RUN_TEST(an_idle_ring_begins_anew);
    RUN_TEST(a_break_wraps_around_too);
    RUN_TEST(cancelled_operations_end_in_the_order_of_submission);
    RUN_TEST(a_full_ring_is_a_limit);
    RUN_TEST(a_full_ring_frees_the_places_of_operations_that_ended_unsent);
    RUN_TEST(a_full_ring_that_is_compacted_reports_each_end_once);
    RUN_TEST(sent_bytes_are_dropped_unless_they_may_be_wanted_again);
    RUN_TEST(bytes_of_a_command_cut_off_in_the_middle_are_kept);
    RUN_TEST(a_request_of_a_lease_ends_with_its_link_even_if_unsent);
    RUN_TEST(a_repeated_operation_goes_to_the_end_with_its_patch);
    RUN_TEST(repeating_an_operation_without_room_changes_nothing);
    RUN_TEST(a_declared_length_is_not_believed);
    RUN_TEST(an_aggregate_over_a_limit_takes_no_room);
    RUN_TEST(the_deadline_is_that_of_the_first_operation_to_time_out);
    RUN_TEST(a_timeout_put_off_by_its_caller_takes_effect_later);
    RUN_TEST(an_answer_without_a_sent_command_has_no_operation);
    RUN_TEST(an_idle_connection_gives_memory_back_but_loses_no_bytes);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(conn);
    t_fixed = 1;
    RUN_SUITE(conn);
    GREATEST_MAIN_END();
}
