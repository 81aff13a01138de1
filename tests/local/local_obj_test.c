/* SPDX-License-Identifier: MIT
 *
 * local_obj_test.c - the value of a key: type names, emptiness, copies.
 */
#include "local_data.h"
#include "obj.h"

static rlt_obj *t_string(const char *text)
{
    if (!t_promise(RLT_OBJ_COST + RLT_STR_COST(strlen(text))))
        return NULL;
    return rlt_obj_string(&t_pool, t_text(text));
}

static const rlt_obj_type t_types[] = {RLT_OBJ_STRING, RLT_OBJ_LIST,
                                       RLT_OBJ_SET,    RLT_OBJ_ZSET,
                                       RLT_OBJ_HASH,   RLT_OBJ_STREAM};

TEST types_have_names_and_new_ones_are_empty(void)
{
    static const char *const names[] = {"string", "list", "set",
                                        "zset",   "hash", "stream"};
    rlt_obj *o;
    int i;

    t_start(1);
    ASSERT_STR_EQ("string", rlt_obj_type_name(RLT_OBJ_STRING));
    for (i = 1; i < 6; i++) {
        ASSERT_STR_EQ(names[i], rlt_obj_type_name(t_types[i]));
        ASSERT(t_promise(RLT_OBJ_COST));
        o = rlt_obj_new(&t_pool, t_types[i]);
        ASSERT_EQ(0u, rlt_obj_count(o));
        ASSERT_EQ(t_types[i] != RLT_OBJ_STREAM, rlt_obj_is_empty(o));
        rlt_obj_free(&t_pool, o);
    }
    ASSERT(t_end());
    PASS();
}

TEST a_string_can_be_replaced(void)
{
    rlt_obj *o;
    rlt_str *s;

    t_start(1);
    o = t_string("abc");
    ASSERT(t_promise_open(RLT_STR_COST(3) + RLT_STR_RESIZE_COST(5)));
    s = rlt_str_new(&t_pool, t_text("xyz"));
    rlt_obj_set_string(&t_pool, o, s);
    ASSERT(t_same(rlt_obj_span(o), t_text("xyz")));
    rlt_obj_set_string(&t_pool, o, rlt_str_resize(&t_pool, s, 2));
    ASSERT(t_same(rlt_obj_span(o), t_text("xy")));
    ASSERT_EQ(1u, rlt_obj_count(o));
    ASSERT(!rlt_obj_is_empty(o));
    rlt_obj_free(&t_pool, o);
    ASSERT(t_end());
    PASS();
}

/* Puts the element with number k into the object. */
static void t_put(rlt_obj *o, int k)
{
    char a[20];
    relet_span s = t_span(a, (size_t)snprintf(a, sizeof a, "%d", k));
    relet_span strings[2];

    strings[0] = strings[1] = s;
    switch (o->type) {
    case RLT_OBJ_STRING:
        break;
    case RLT_OBJ_LIST:
        rlt_list_push(&o->of.list, &t_pool, s, 1);
        break;
    case RLT_OBJ_SET:
        rlt_set_add(&o->of.set, &t_pool, s);
        break;
    case RLT_OBJ_ZSET:
        rlt_zset_add(&o->of.zset, &t_pool, s, k % 10);
        break;
    case RLT_OBJ_HASH:
        rlt_hash_set(&o->of.hash, &t_pool, s, t_text("value"));
        break;
    case RLT_OBJ_STREAM:
        rlt_stream_add(&o->of.stream, &t_pool,
                       rlt_stream_id_of((uint64_t)k + 1, 0), strings, 2);
        break;
    }
}

/* A digest of all elements of the object, in order. */
static uint64_t t_sum(const rlt_obj *o)
{
    uint64_t sum = 7;
    const rlt_entry *e = NULL;
    rlt_list_place at;
    const rlt_zset_item *item;
    const rlt_stream_entry *x;

#define T_MIX(s) sum = sum * 31 + (uint8_t)(s).p[(s).n - 1] + (s).n
    switch (o->type) {
    case RLT_OBJ_STRING:
        T_MIX(rlt_obj_span(o));
        break;
    case RLT_OBJ_LIST:
        at = rlt_list_end(&o->of.list, 0);
        for (; at.chunk; (void)rlt_list_step(&at, 1))
            T_MIX(rlt_list_get(at));
        break;
    case RLT_OBJ_ZSET:
        item = rlt_zset_end(&o->of.zset, 0);
        for (; item; item = rlt_zset_step(item, 1))
            T_MIX(rlt_zset_member(item));
        break;
    case RLT_OBJ_SET:
        e = o->of.set.members.first;
        break;
    case RLT_OBJ_HASH:
        e = o->of.hash.fields.first;
        break;
    case RLT_OBJ_STREAM:
        x = rlt_stream_end(&o->of.stream, 0);
        for (; x; x = rlt_stream_step(x, 1))
            T_MIX(rlt_stream_string(x, 0));
        break;
    }
    for (; e; e = e->next)
        T_MIX(rlt_entry_key(e));
    return sum;
}

TEST a_copied_object_is_equal_and_costs_the_promised_memory(void)
{
    rlt_obj *o, *copy;
    int i, k;

    t_start(1);
    for (i = 0; i < 6; i++) {
        ASSERT(t_promise_open(RLT_OBJ_COST + RLT_STR_COST(50)));
        o = i == 0 ? rlt_obj_string(&t_pool, t_text("some text"))
                   : rlt_obj_new(&t_pool, t_types[i]);
        for (k = 0; k < 700; k++) {
            ASSERT(t_promise_open(3000));
            t_put(o, k);
        }
        ASSERT(t_promise(rlt_obj_copy_cost(o)));
        copy = rlt_obj_copy(&t_pool, o);
        ASSERT_EQ(t_sum(o), t_sum(copy));
        ASSERT_EQ(rlt_obj_count(o), rlt_obj_count(copy));
        t_lent.refuse = 0;
        rlt_obj_free(&t_pool, o);
        ASSERT(rlt_obj_count(copy) > 0);
        rlt_obj_free(&t_pool, copy);
    }
    ASSERT(t_end());
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(types_have_names_and_new_ones_are_empty);
    RUN_TEST(a_string_can_be_replaced);
    RUN_TEST(a_copied_object_is_equal_and_costs_the_promised_memory);
    GREATEST_MAIN_END();
}
