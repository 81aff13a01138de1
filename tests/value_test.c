/* SPDX-License-Identifier: MIT
 *
 * value_test.c - tests of reading values from the scanner's tape. */
#include "value_words.h"

#include "greatest.h"

/* One reply, lent by the test's own scanner. */
typedef struct t_reply {
    rlt_scan s;
    relet_node tape[64];
    uint8_t bytes[2048];
    relet_value v;
} t_reply;

static relet_value t_read(t_reply *r, const char *wire)
{
    rlt_scan_limits limits = t_feed_limits();
    rlt_verdict verdict;
    size_t n = strlen(wire);

    memcpy(r->bytes, wire, n);
    rlt_scan_init(&r->s, &limits, r->tape, 64);
    verdict = rlt_scan_run(&r->s, r->bytes, n);
    r->v.node = NULL;
    r->v.base = NULL;
    if (verdict == RLT_SCAN_VALUE || verdict == RLT_SCAN_PUSH)
        r->v = rlt_scan_value(&r->s, r->bytes);
    return r->v;
}

static relet_value t_nothing(void)
{
    relet_value none = {NULL, NULL};

    return none;
}

/* ------------------------------------------------------------------- types */

TEST every_wire_type_has_its_value_type(void)
{
    static const struct {
        const char *wire;
        relet_type type;
    } cases[] = {
        {"+a\r\n", RELET_T_TEXT},         {"$1\r\na\r\n", RELET_T_TEXT},
        {"-a\r\n", RELET_T_ERROR},      {"!1\r\na\r\n", RELET_T_ERROR},
        {":1\r\n", RELET_T_INT},          {",1\r\n", RELET_T_DOUBLE},
        {"#t\r\n", RELET_T_BOOL},         {"(1\r\n", RELET_T_BIG},
        {"=4\r\ntxt:\r\n", RELET_T_VERBATIM}, {"*0\r\n", RELET_T_ARRAY},
        {"%0\r\n", RELET_T_MAP},          {"~0\r\n", RELET_T_SET},
        {">0\r\n", RELET_T_PUSH},         {"_\r\n", RELET_T_NULL},
        {"$-1\r\n", RELET_T_NULL},        {"*-1\r\n", RELET_T_NULL},
        {"*?\r\n.\r\n", RELET_T_ARRAY},   {"$?\r\n;0\r\n", RELET_T_TEXT},
    };
    t_reply r;
    size_t i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        t_read(&r, cases[i].wire);
        ASSERT(r.v.node != NULL);
        ASSERT_EQ(cases[i].type, relet_value_type(r.v));
    }
    PASS();
}

TEST a_null_value_may_be_asked_everything(void)
{
    relet_value v = t_nothing();
    int64_t i = 7;
    double d = 7;
    int b = 7;

    ASSERT_EQ(RELET_T_NULL, relet_value_type(v));
    ASSERT_EQ(NULL, relet_value_text(v).p);
    ASSERT_EQ(NULL, relet_value_format(v).p);
    ASSERT_EQ(0, relet_value_int(v, &i));
    ASSERT_EQ(0, relet_value_double(v, &d));
    ASSERT_EQ(0, relet_value_bool(v, &b));
    ASSERT(i == 7 && d == 7 && b == 7);
    ASSERT_EQ(0, relet_value_is(v, ""));
    ASSERT_EQ(0, relet_value_count(v));
    ASSERT_EQ(NULL, relet_value_first(v).node);
    ASSERT_EQ(NULL, relet_value_next(v).node);
    ASSERT_EQ(NULL, relet_value_at(v, 0).node);
    ASSERT_EQ(NULL, relet_value_get(v, "k").node);
    ASSERT_EQ(NULL, relet_value_attributes(v).node);
    ASSERT_EQ(0, relet_value_malformed(v));
    ASSERT_EQ(0, relet_value_size(v));
    ASSERT_EQ(NULL, relet_value_copy(v, &i, sizeof i).node);
    ASSERT_EQ(0, relet_value_proves_no_effect(v));
    PASS();
}

TEST a_value_read_as_another_type_gives_nothing(void)
{
    t_reply r;
    int64_t i = 7;
    double d = 7;
    int b = 7;

    t_read(&r, "*1\r\n:1\r\n");
    ASSERT_EQ(NULL, relet_value_text(r.v).p);
    ASSERT_EQ(0, relet_value_int(r.v, &i) + relet_value_double(r.v, &d));
    ASSERT_EQ(0, relet_value_bool(r.v, &b));
    ASSERT_EQ(0, relet_value_is(r.v, ""));
    t_read(&r, "$1\r\n1\r\n");
    ASSERT_EQ(0, relet_value_count(r.v));
    ASSERT_EQ(NULL, relet_value_first(r.v).node);
    ASSERT_EQ(NULL, relet_value_get(r.v, "1").node);
    ASSERT_EQ(0, relet_value_bool(r.v, &b));
    ASSERT_EQ(NULL, relet_value_format(r.v).p);
    ASSERT(i == 7 && d == 7 && b == 7);
    PASS();
}

/* ----------------------------------------------------------------- scalars */

TEST a_text_that_is_an_integer_can_be_read_as_an_integer(void)
{
    t_reply r;
    int64_t i = 0;

    ASSERT(relet_value_int(t_read(&r, "$3\r\n-42\r\n"), &i));
    ASSERT_EQ(-42, i);
    ASSERT(relet_value_int(t_read(&r, ":9\r\n"), &i));
    ASSERT_EQ(9, i);
    ASSERT_EQ(0, relet_value_int(t_read(&r, "$2\r\n1x\r\n"), &i));
    ASSERT_EQ(0, relet_value_int(t_read(&r, "$0\r\n\r\n"), &i));
    ASSERT_EQ(0, relet_value_int(t_read(&r, "-42\r\n"), &i));
    ASSERT_EQ(0, relet_value_int(t_read(&r, ",42\r\n"), &i));
    ASSERT_EQ(0, relet_value_int(t_read(&r, "#t\r\n"), &i));
    ASSERT_EQ(9, i);
    PASS();
}

TEST doubles_integers_and_texts_can_be_read_as_doubles(void)
{
    t_reply r;
    double d = 0;

    ASSERT(relet_value_double(t_read(&r, ",-0.15625\r\n"), &d));
    ASSERT(d == -5.0 / 32);
    ASSERT(relet_value_double(t_read(&r, ":-3\r\n"), &d));
    ASSERT(d == -3);
    ASSERT(relet_value_double(t_read(&r, "$3\r\n2.5\r\n"), &d));
    ASSERT(d == 2.5);
    ASSERT_EQ(0, relet_value_double(t_read(&r, "$3\r\n2,5\r\n"), &d));
    ASSERT(d == 2.5);
    PASS();
}

TEST a_double_keeps_the_text_it_was_sent_as(void)
{
    t_reply r;

    ASSERT(relet_value_is(t_read(&r, ",1e+21\r\n"), "1e+21"));
    PASS();
}

TEST only_zero_and_one_are_booleans_among_integers(void)
{
    t_reply r;
    int b = 7;

    ASSERT(relet_value_bool(t_read(&r, "#t\r\n"), &b));
    ASSERT_EQ(1, b);
    ASSERT(relet_value_bool(t_read(&r, ":0\r\n"), &b));
    ASSERT_EQ(0, b);
    ASSERT(relet_value_bool(t_read(&r, ":1\r\n"), &b));
    ASSERT_EQ(1, b);
    ASSERT_EQ(0, relet_value_bool(t_read(&r, ":2\r\n"), &b));
    ASSERT_EQ(0, relet_value_bool(t_read(&r, ":-1\r\n"), &b));
    ASSERT_EQ(0, relet_value_bool(t_read(&r, ":4294967297\r\n"), &b));
    ASSERT_EQ(1, b);
    PASS();
}

TEST relet_value_is_compares_the_whole_text(void)
{
    t_reply r;

    t_read(&r, "$2\r\nOK\r\n");
    ASSERT(relet_value_is(r.v, "OK"));
    ASSERT_EQ(0, relet_value_is(r.v, "O"));
    ASSERT_EQ(0, relet_value_is(r.v, "OKAY"));
    ASSERT(relet_value_is(t_read(&r, "$0\r\n\r\n"), ""));
    ASSERT_EQ(0, relet_value_is(t_read(&r, "_\r\n"), ""));
    PASS();
}

TEST a_verbatim_is_its_text_and_its_format(void)
{
    t_reply r;

    t_read(&r, "=6\r\nx  :hi\r\n");
    ASSERT(relet_value_is(r.v, "hi"));
    ASSERT_EQ(3, relet_value_format(r.v).n);
    ASSERT_EQ(0, memcmp(relet_value_format(r.v).p, "x  ", 3));
    PASS();
}

TEST a_big_number_that_is_none_is_malformed(void)
{
    t_reply r;

    ASSERT_EQ(0, relet_value_malformed(t_read(&r, "(1234567890123456789\r\n")));
    ASSERT_EQ(0, relet_value_malformed(t_read(&r, "(-0\r\n")));
    ASSERT(relet_value_malformed(t_read(&r, "(\r\n")));
    ASSERT(relet_value_malformed(t_read(&r, "(+\r\n")));
    ASSERT(relet_value_malformed(t_read(&r, "(1 2\r\n")));
    ASSERT_EQ(0, relet_value_malformed(t_read(&r, "+x\r\n")));
    PASS();
}

/* ---------------------------------------------------------------- children */

TEST a_walk_over_children_skips_grandchildren(void)
{
    t_reply r;
    relet_value c;

    t_read(&r, "*3\r\n*2\r\n:1\r\n*1\r\n:2\r\n%1\r\n+k\r\n+v\r\n:3\r\n");
    c = relet_value_first(r.v);
    ASSERT_EQ(2, relet_value_count(c));
    c = relet_value_next(c);
    ASSERT_EQ(RELET_T_MAP, relet_value_type(c));
    c = relet_value_next(c);
    ASSERT_EQ(RELET_T_INT, relet_value_type(c));
    PASS();
}

TEST walking_past_the_end_stays_at_nothing(void)
{
    t_reply r;
    relet_value c = t_read(&r, ":1\r\n");
    int i;

    for (i = 0; i < 100; i++) {
        c = relet_value_next(c);
        ASSERT_EQ(RELET_T_NULL, relet_value_type(c));
        ASSERT_EQ(0, relet_value_count(c));
        ASSERT_EQ(NULL, relet_value_first(c).node);
        ASSERT_EQ(NULL, relet_value_text(c).p);
    }
    PASS();
}

TEST walking_past_an_attributes_end_stays_at_nothing(void)
{
    t_reply r;
    relet_value c;
    int i;

    t_read(&r, "|1\r\n+a\r\n:1\r\n:5\r\n");
    c = relet_value_first(relet_value_attributes(r.v));
    for (i = 0; i < 100; i++)
        c = relet_value_next(c);
    ASSERT_EQ(RELET_T_NULL, relet_value_type(c));
    PASS();
}

TEST the_children_of_nothing_are_nothing(void)
{
    t_reply r;

    t_read(&r, "*2\r\n*0\r\n:1\r\n");
    ASSERT_EQ(NULL, relet_value_first(relet_value_first(r.v)).node);
    ASSERT_EQ(NULL, relet_value_at(relet_value_first(r.v), 0).node);
    PASS();
}

TEST at_finds_the_same_child_as_a_walk(void)
{
    static const char *const wires[] = {
        "*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n",
        "*4\r\n:1\r\n*1\r\n:2\r\n|1\r\n+a\r\n:1\r\n:3\r\n:4\r\n",
        "%2\r\n:1\r\n%1\r\n:1\r\n:1\r\n:3\r\n:4\r\n",
        "~3\r\n|1\r\n+a\r\n:1\r\n:3\r\n:4\r\n:5\r\n"};
    relet_value c;
    t_reply r;
    size_t w, i, n;

    for (w = 0; w < sizeof wires / sizeof *wires; w++) {
        t_read(&r, wires[w]);
        n = relet_value_count(r.v);
        n = relet_value_type(r.v) == RELET_T_MAP ? n * 2 : n;
        for (i = 0, c = relet_value_first(r.v); i < n; i++) {
            ASSERT_EQ(c.node, relet_value_at(r.v, i).node);
            c = relet_value_next(c);
        }
        ASSERT_EQ(NULL, relet_value_at(r.v, n).node);
    }
    PASS();
}

TEST get_finds_a_key_in_a_map_and_in_a_flat_array(void)
{
    t_reply r;

    t_read(&r, "%3\r\n:1\r\n+x\r\n*1\r\n+b\r\n+y\r\n$1\r\nb\r\n+z\r\n");
    ASSERT(relet_value_is(relet_value_get(r.v, "b"), "z"));
    ASSERT_EQ(NULL, relet_value_get(r.v, "c").node);
    t_read(&r, "*5\r\n+a\r\n+b\r\n$1\r\nb\r\n+z\r\n+odd\r\n");
    ASSERT(relet_value_is(relet_value_get(r.v, "b"), "z"));
    ASSERT_EQ(NULL, relet_value_get(r.v, "odd").node);
    t_read(&r, "~2\r\n+a\r\n+b\r\n");
    ASSERT_EQ(NULL, relet_value_get(r.v, "a").node);
    PASS();
}

TEST attributes_are_found_from_their_value_only(void)
{
    t_reply r;
    relet_value a;

    t_read(&r, "*2\r\n:1\r\n|1\r\n+ttl\r\n:3600\r\n*1\r\n:2\r\n");
    ASSERT_EQ(NULL, relet_value_attributes(r.v).node);
    ASSERT_EQ(NULL, relet_value_attributes(relet_value_first(r.v)).node);
    a = relet_value_attributes(relet_value_at(r.v, 1));
    ASSERT_EQ(RELET_T_MAP, relet_value_type(a));
    ASSERT_EQ(1, relet_value_count(a));
    ASSERT(relet_value_get(a, "ttl").node != NULL);
    PASS();
}

/* ----------------------------------------------------------------- keeping */

TEST a_copy_says_the_same_after_the_loan(void)
{
    static t_text before, after;
    static const char *const wires[] = {
        "|1\r\n+a\r\n=5\r\ntxt:b\r\n*2\r\n$0\r\n\r\n%1\r\n(12\r\n,1\r\n",
        ":1\r\n", "$3\r\nabc\r\n", "_\r\n", ">1\r\n+x\r\n"};
    relet_value v;
    t_reply r;
    size_t i, size;
    void *mem;

    for (i = 0; i < sizeof wires / sizeof *wires; i++) {
        before.n = after.n = 0;
        t_put_value(&before, t_read(&r, wires[i]));
        size = relet_value_size(r.v);
        mem = t_feed_alloc(size);
        v = relet_value_copy(r.v, mem, size);
        memset(&r, 0xdd, sizeof r);
        t_put_value(&after, v);
        ASSERT_STR_EQ(before.p, after.p);
        ASSERT_EQ(RELET_T_NULL, relet_value_type(relet_value_next(v)));
        free(mem);
    }
    PASS();
}

TEST a_child_is_copied_without_its_parent(void)
{
    t_reply r;
    relet_value v;
    int64_t mem[16];

    t_read(&r, "*2\r\n$5\r\nhello\r\n$3\r\nabc\r\n");
    v = relet_value_at(r.v, 1);
    ASSERT_EQ(2 * sizeof(relet_node) + 3, relet_value_size(v));
    v = relet_value_copy(v, mem, sizeof mem);
    ASSERT(relet_value_is(v, "abc"));
    ASSERT((const char *)mem <= relet_value_text(v).p);
    PASS();
}

TEST a_copy_is_refused_memory_that_is_short(void)
{
    t_reply r;
    int64_t mem[16] = {0};

    t_read(&r, "$3\r\nabc\r\n");
    ASSERT_EQ(NULL,
              relet_value_copy(r.v, mem, relet_value_size(r.v) - 1).node);
    ASSERT_EQ(0, mem[0]);
    PASS();
}

/* ---------------------------------------------- errors that prove no effect */

TEST known_refusals_prove_that_a_command_had_no_effect(void)
{
    static const char *const wires[] = {
        "-MOVED 1 h:1\r\n", "-ASK 1 h:1\r\n", "-REDIRECT h:1\r\n",
        "-TRYAGAIN x\r\n", "-CLUSTERDOWN x\r\n", "-CROSSSLOT x\r\n",
        "-LOADING x\r\n", "-BUSY x\r\n", "-NOAUTH x\r\n", "-NOPERM x\r\n",
        "-NOSCRIPT x\r\n", "-READONLY x\r\n", "-MISCONF x\r\n",
        "-NOREPLICAS x\r\n", "-MASTERDOWN x\r\n", "-EXECABORT x\r\n",
        "-OOM x\r\n", "-UNBLOCKED x\r\n", "-ERR unknown command 'x'\r\n",
        "-ERR wrong number of arguments for 'get' command\r\n",
        "!7\r\nNOPERM \r\n", "-LOADING\r\n"};
    t_reply r;
    size_t i;

    for (i = 0; i < sizeof wires / sizeof *wires; i++)
        ASSERTm(wires[i], relet_value_proves_no_effect(t_read(&r, wires[i])));
    PASS();
}

TEST other_answers_prove_nothing_about_the_effect(void)
{
    static const char *const wires[] = {
        "-ERR x\r\n", "-WRONGTYPE x\r\n", "-MOVEDX 1 h:1\r\n",
        "-ASKING x\r\n", "-BUSYGROUP x\r\n", "-BUSYKEY x\r\n", "-\r\n",
        "-ERR unknown\r\n", "-moved 1 h:1\r\n", "+MOVED 1 h:1\r\n",
        "$8\r\nREADONLY\r\n", "-OOM x script: f00, on @user_script:1.\r\n",
        "-MOVED x script: f00, on @user_script:1.\r\n", "*0\r\n"};
    t_reply r;
    size_t i;

    for (i = 0; i < sizeof wires / sizeof *wires; i++)
        ASSERTm(wires[i], !relet_value_proves_no_effect(t_read(&r, wires[i])));
    PASS();
}

TEST a_script_may_have_begun_before_most_errors(void)
{
    t_reply r;

    ASSERT(rlt_value_proves_script_unrun(t_read(&r, "-NOSCRIPT x\r\n")));
    ASSERT(rlt_value_proves_script_unrun(t_read(&r, "-BUSY x\r\n")));
    ASSERT(rlt_value_proves_script_unrun(t_read(&r, "-MOVED 1 h:1\r\n")));
    ASSERT(!rlt_value_proves_script_unrun(t_read(&r, "-OOM x\r\n")));
    ASSERT(!rlt_value_proves_script_unrun(t_read(&r, "-READONLY x\r\n")));
    ASSERT(!rlt_value_proves_script_unrun(t_read(&r, "+NOSCRIPT x\r\n")));
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(every_wire_type_has_its_value_type);
    RUN_TEST(a_null_value_may_be_asked_everything);
    RUN_TEST(a_value_read_as_another_type_gives_nothing);
    RUN_TEST(a_text_that_is_an_integer_can_be_read_as_an_integer);
    RUN_TEST(doubles_integers_and_texts_can_be_read_as_doubles);
    RUN_TEST(a_double_keeps_the_text_it_was_sent_as);
    RUN_TEST(only_zero_and_one_are_booleans_among_integers);
    RUN_TEST(relet_value_is_compares_the_whole_text);
    RUN_TEST(a_verbatim_is_its_text_and_its_format);
    RUN_TEST(a_big_number_that_is_none_is_malformed);
    RUN_TEST(a_walk_over_children_skips_grandchildren);
    RUN_TEST(walking_past_the_end_stays_at_nothing);
    RUN_TEST(walking_past_an_attributes_end_stays_at_nothing);
    RUN_TEST(the_children_of_nothing_are_nothing);
    RUN_TEST(at_finds_the_same_child_as_a_walk);
    RUN_TEST(get_finds_a_key_in_a_map_and_in_a_flat_array);
    RUN_TEST(attributes_are_found_from_their_value_only);
    RUN_TEST(a_copy_says_the_same_after_the_loan);
    RUN_TEST(a_child_is_copied_without_its_parent);
    RUN_TEST(a_copy_is_refused_memory_that_is_short);
    RUN_TEST(known_refusals_prove_that_a_command_had_no_effect);
    RUN_TEST(other_answers_prove_nothing_about_the_effect);
    RUN_TEST(a_script_may_have_begun_before_most_errors);
    GREATEST_MAIN_END();
}
