/* SPDX-License-Identifier: MIT
 *
 * local_stream_test.c - entries by id, against an array.
 *
 * The ends of nodes were compared with Redis 7.0.15; a few such cases are kept.
 */
#include "local_data.h"
#include "stream.h"

#define T_MAX 3000

static rlt_stream t_stream;
static struct {
    rlt_stream_id id;
    int k;
} t_model[T_MAX];
static uint32_t t_count;
static uint64_t t_added;
static rlt_stream_id t_last, t_deleted;

static char t_texts[4][400];

/* The fields and values of entry number k. */
static uint32_t t_strings(relet_span *out, int k)
{
    uint32_t n = k % 5 ? 2 : 4, i;

    for (i = 0; i < n; i++) {
        if (i % 2 == 0)
            snprintf(t_texts[i], 20, "f%u", i + (k % 7 == 0));
        else if (k % 13 == 0)
            memset(t_texts[i], 'x', 399);
        else
            snprintf(t_texts[i], 20, "%d", k * 1000 - 500000);
        out[i] = t_text(t_texts[i]);
    }
    return n;
}

static int t_entry_right(const rlt_stream_entry *e, uint32_t at)
{
    relet_span want[4];
    uint32_t i, n = t_strings(want, t_model[at].k);

    if (e == NULL || rlt_stream_id_compare(e->id, t_model[at].id) != 0 ||
        e->n != n)
        return 0;
    for (i = 0; i < n; i++)
        if (!t_same(rlt_stream_string(e, i), want[i]))
            return 0;
    return 1;
}

static int t_nodes_right(void)
{
    const rlt_stream_node *node;
    uint32_t live = 0, nodes = 0;

    for (node = t_stream.first; node; node = node->next, nodes++) {
        live += node->live;
        if (node->live + node->deleted > RLT_STREAM_NODE_ENTRIES ||
            (node->next ? node->next->back : t_stream.final) != node)
            return 0;
    }
    return live == t_count && nodes == t_stream.nodes;
}

static int t_right(void)
{
    const rlt_stream_entry *e = rlt_stream_end(&t_stream, 0), *back = NULL;
    uint32_t i;

    if (rlt_stream_count(&t_stream) != t_count || t_stream.added != t_added ||
        rlt_stream_id_compare(t_stream.last, t_last) != 0 ||
        rlt_stream_id_compare(t_stream.max_deleted, t_deleted) != 0)
        return 0;
    for (i = 0; i < t_count; i++) {
        if (!t_entry_right(e, i) || rlt_stream_step(e, 0) != back ||
            rlt_stream_find(&t_stream, e->id) != e)
            return 0;
        back = e;
        e = rlt_stream_step(e, 1);
    }
    return e == NULL && rlt_stream_end(&t_stream, 1) == back &&
           t_nodes_right();
}

static int t_seeks_right(void)
{
    rlt_stream_id id = rlt_stream_id_of(t_below((uint32_t)t_last.ms + 2),
                                        t_below(4));
    const rlt_stream_entry *e;
    uint32_t i = 0;

    while (i < t_count && rlt_stream_id_compare(t_model[i].id, id) < 0)
        i++;
    e = rlt_stream_seek(&t_stream, id, 1);
    if (i == t_count ? e != NULL : !t_entry_right(e, i))
        return 0;
    if (i < t_count && rlt_stream_id_compare(t_model[i].id, id) == 0)
        i++;
    else if (rlt_stream_find(&t_stream, id))
        return 0;
    e = rlt_stream_seek(&t_stream, id, 0);
    return i == 0 ? e == NULL : t_entry_right(e, i - 1);
}

static void t_add(void)
{
    relet_span strings[4];
    rlt_stream_id id = t_last;
    int k = (int)t_below(1000);
    uint32_t n = t_strings(strings, k);

    if (t_below(2))
        id = rlt_stream_id_of(id.ms + 1 + t_below(5), t_below(3));
    else
        id.seq += 1 + t_below(2);
    if (t_count == T_MAX ||
        !t_any_promise(RLT_STREAM_ENTRY_COST(n, 4 * 400)))
        return;
    rlt_stream_add(&t_stream, &t_pool, id, strings, n);
    t_model[t_count].id = t_last = id;
    t_model[t_count++].k = k;
    t_added++;
}

static void t_forget(uint32_t from, uint32_t n)
{
    t_count -= n;
    memmove(t_model + from, t_model + from + n,
            (t_count - from) * sizeof t_model[0]);
}

/* Compares the entries after a trim: exactly those of the model, or, after a
 * trim by whole nodes, at least those. */
static int t_trim(void)
{
    rlt_stream_cut cut;
    uint32_t keep = t_below(t_count + 1), gone;

    memset(&cut, 0, sizeof cut);
    cut.approx = (int)t_below(2);
    cut.by_id = (int)t_below(2);
    cut.limit = cut.approx && t_below(2) ? 1 + t_below(300) : 0;
    cut.max_count = keep;
    cut.min_id = keep ? t_model[t_count - keep].id
                      : rlt_stream_id_of(t_last.ms + 1, 0);
    gone = rlt_stream_trim(&t_stream, &t_pool, &cut);
    if (cut.approx ? gone > t_count - keep : gone != t_count - keep)
        return 0;
    if (cut.limit && gone > cut.limit)
        return 0;
    t_forget(0, gone);
    return 1;
}

static int t_step(void)
{
    uint32_t what = t_below(1000), i;
    rlt_stream_id id;

    if (what < 780 || t_count == 0) {
        t_add();
    } else if (what < 990) {
        i = t_below(t_count);
        id = t_model[i].id;
        rlt_stream_delete(&t_stream, &t_pool,
                          rlt_stream_find(&t_stream, id));
        if (rlt_stream_id_compare(id, t_deleted) > 0)
            t_deleted = id;
        t_forget(i, 1);
    } else if (!t_trim()) {
        return 0;
    }
    return t_seeks_right();
}

static void t_clear(void)
{
    rlt_stream_init(&t_stream);
    t_count = 0;
    t_added = 0;
    t_last = t_deleted = rlt_stream_id_of(0, 0);
}

static int t_steps(int n)
{
    int i, ok = 1;

    t_clear();
    for (i = 0; i < n && ok; i++)
        ok = t_step() && (i % 40 || t_right());
    t_lent.refuse = 0;
    rlt_stream_clear(&t_stream, &t_pool);
    return ok;
}

TEST a_stream_holds_the_same_entries_as_an_array(void)
{
    uint64_t seed;

    for (seed = 1; seed < 8; seed++) {
        t_start(seed);
        ASSERT(t_steps(4000));
        ASSERT(t_end());
    }
    PASS();
}

static int t_some(void)
{
    return t_steps(400);
}

TEST any_allocation_of_a_stream_may_fail(void)
{
    ASSERT(t_with_each_failure(t_some, 4));
    PASS();
}

TEST a_copied_stream_is_equal_and_costs_the_promised_memory(void)
{
    rlt_stream copy, was;
    int i;

    t_start(3);
    t_clear();
    for (i = 0; i < 1000; i++)
        ASSERT(t_step());
    rlt_stream_init(&copy);
    ASSERT(t_promise(rlt_stream_copy_cost(&t_stream)));
    rlt_stream_copy(&t_stream, &t_pool, &copy);
    was = t_stream;
    t_stream = copy;
    ASSERT(t_right());
    for (i = 0; i < 500; i++)
        ASSERT(t_step());
    ASSERT(t_right());
    t_lent.refuse = 0;
    rlt_stream_clear(&t_stream, &t_pool);
    rlt_stream_clear(&was, &t_pool);
    ASSERT(t_end());
    PASS();
}

/* ---------------------------------------------------------- nodes, trimming */

static void t_fill(uint32_t from, uint32_t n, const char *field,
                   const char *value)
{
    relet_span strings[2];
    uint32_t i;

    strings[0] = t_text(field);
    strings[1] = t_text(value);
    for (i = from; i < from + n; i++)
        if (t_promise_open(RLT_STREAM_ENTRY_COST(2, 10000)))
            rlt_stream_add(&t_stream, &t_pool, rlt_stream_id_of(i, 0),
                           strings, 2);
}

static uint32_t t_trim_to(uint32_t max, int approx, uint64_t limit)
{
    rlt_stream_cut cut;

    memset(&cut, 0, sizeof cut);
    cut.approx = approx;
    cut.max_count = max;
    cut.limit = limit;
    return rlt_stream_trim(&t_stream, &t_pool, &cut);
}

TEST approximate_trimming_takes_whole_nodes(void)
{
    t_start(1);
    t_clear();
    t_fill(1, 250, "f", "v");
    ASSERT_EQ(3u, t_stream.nodes);
    ASSERT_EQ(0u, t_trim_to(151, 1, 0));
    ASSERT_EQ(100u, t_trim_to(150, 1, 0));
    ASSERT_EQ(0u, t_trim_to(0, 1, 99));
    ASSERT_EQ(100u, t_trim_to(0, 1, 149));
    ASSERT_EQ(50u, t_trim_to(0, 1, 10000));
    ASSERT_EQ(0u, t_stream.nodes);
    rlt_stream_clear(&t_stream, &t_pool);
    ASSERT(t_end());
    PASS();
}

TEST deleted_entries_still_fill_their_node(void)
{
    uint32_t i;

    t_start(1);
    t_clear();
    t_fill(1, 99, "f", "v");
    for (i = 1; i < 99; i++)
        rlt_stream_delete(&t_stream, &t_pool, rlt_stream_end(&t_stream, 0));
    t_fill(100, 1, "f", "v");
    ASSERT_EQ(1u, t_stream.nodes);
    t_fill(101, 1, "f", "v");
    ASSERT_EQ(2u, t_stream.nodes);
    rlt_stream_clear(&t_stream, &t_pool);
    ASSERT(t_end());
    PASS();
}

/* Frame, three counts and the field's name; then flag, distance, distance,
 * value and count of each entry, where an 8-digit integer takes 5 bytes and
 * one, 19 digits 9 and one; and the names of another field in between. */
TEST nodes_end_before_4096_bytes(void)
{
    char value[1001];

    memset(value, 'v', 1000);
    value[1000] = '\0';
    t_start(1);
    t_clear();
    t_fill(1, 4, "f", value);
    ASSERT_EQ(1u, t_stream.nodes);
    t_fill(5, 1, "f", value);
    ASSERT_EQ(2u, t_stream.nodes);
    rlt_stream_clear(&t_stream, &t_pool);
    t_fill(1, 1, "f", "12345678");
    t_fill(2, 1, "f", "1234567890123456789");
    t_fill(3, 1, "g", "-1");
    ASSERT_EQ(7 + 6 + 2 + 3 + (2 + 2 + 2 + 6 + 2) + (2 + 2 + 2 + 10 + 2) +
                  (2 + 2 + 2 + 2 + 3 + 3 + 2),
              (int)t_stream.first->bytes);
    rlt_stream_clear(&t_stream, &t_pool);
    ASSERT(t_end());
    PASS();
}

/* ---------------------------------------------------------------------- ids */

static int t_reads(const char *text, uint64_t ms, uint64_t seq)
{
    rlt_stream_id id;

    return rlt_stream_id_read(t_text(text), 77, &id, NULL) && id.ms == ms &&
           id.seq == seq;
}

TEST ids_are_read_as_servers_read_them(void)
{
    static const char *const not[] = {"", "-", "+", "$", "*", "1-", "-1", "a",
                                      "1-a", "1-*", "1-2-3", "1 ",
                                      "18446744073709551616", "1--2", "1.5",
                                      "5-18446744073709551616"};
    rlt_stream_id id;
    size_t i;
    int any;

    ASSERT(t_reads("1-2", 1, 2));
    ASSERT(t_reads("1", 1, 77));
    ASSERT(t_reads(" 1", 1, 77));
    ASSERT(t_reads("007-+5", 7, 5));
    ASSERT(t_reads("5--05", 5, UINT64_MAX - 4));
    ASSERT(t_reads("18446744073709551615-18446744073709551615", UINT64_MAX,
                   UINT64_MAX));
    ASSERT(rlt_stream_id_read(t_span("5-6\0x", 5), 0, &id, NULL));
    for (i = 0; i < sizeof not / sizeof not[0]; i++)
        ASSERT(!t_reads(not[i], 1, 2) &&
               !rlt_stream_id_read(t_text(not[i]), 0, &id, NULL));
    ASSERT(rlt_stream_id_read(t_text("9-*"), 77, &id, &any) && any == 1);
    ASSERT(id.ms == 9 && id.seq == 0);
    ASSERT(rlt_stream_id_read(t_text("9-3"), 77, &id, &any) && any == 0);
    PASS();
}

TEST ids_follow_each_other(void)
{
    rlt_stream_id id = rlt_stream_id_of(5, UINT64_MAX);
    char text[RLT_STREAM_ID_MAX];

    ASSERT(rlt_stream_id_next(&id) && id.ms == 6 && id.seq == 0);
    ASSERT(rlt_stream_id_back(&id) && id.ms == 5 && id.seq == UINT64_MAX);
    ASSERT(rlt_stream_id_back(&id) && id.seq == UINT64_MAX - 1);
    ASSERT(rlt_stream_id_next(&id) && id.seq == UINT64_MAX);
    ASSERT(t_same(t_span(text, rlt_stream_id_text(text, id)),
                  t_text("5-18446744073709551615")));
    id = rlt_stream_id_of(0, 0);
    ASSERT(!rlt_stream_id_back(&id) && id.ms == 0 && id.seq == 0);
    id = rlt_stream_id_of(UINT64_MAX, UINT64_MAX);
    ASSERT(!rlt_stream_id_next(&id) && id.seq == UINT64_MAX);
    PASS();
}

TEST given_ids_are_above_the_last(void)
{
    rlt_stream_id id;

    t_clear();
    t_stream.last = rlt_stream_id_of(10, 5);
    ASSERT(rlt_stream_id_for_now(&t_stream, 11, &id) && id.ms == 11 &&
           id.seq == 0);
    ASSERT(rlt_stream_id_for_now(&t_stream, 9, &id) && id.ms == 10 &&
           id.seq == 6);
    ASSERT(rlt_stream_id_in_ms(&t_stream, 10, &id) && id.seq == 6);
    ASSERT(rlt_stream_id_in_ms(&t_stream, 11, &id) && id.seq == 0);
    ASSERT(!rlt_stream_id_in_ms(&t_stream, 9, &id));
    t_stream.last.seq = UINT64_MAX;
    ASSERT(!rlt_stream_id_in_ms(&t_stream, 10, &id));
    ASSERT(rlt_stream_id_for_now(&t_stream, 10, &id) && id.ms == 11);
    t_stream.last.ms = UINT64_MAX;
    ASSERT(!rlt_stream_id_for_now(&t_stream, 10, &id));
    rlt_stream_init(&t_stream);
    ASSERT(rlt_stream_id_in_ms(&t_stream, 0, &id) && id.seq == 1);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_stream_holds_the_same_entries_as_an_array);
    RUN_TEST(any_allocation_of_a_stream_may_fail);
    RUN_TEST(a_copied_stream_is_equal_and_costs_the_promised_memory);
    RUN_TEST(approximate_trimming_takes_whole_nodes);
    RUN_TEST(deleted_entries_still_fill_their_node);
    RUN_TEST(nodes_end_before_4096_bytes);
    RUN_TEST(ids_are_read_as_servers_read_them);
    RUN_TEST(ids_follow_each_other);
    RUN_TEST(given_ids_are_above_the_last);
    GREATEST_MAIN_END();
}
