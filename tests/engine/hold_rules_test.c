/* SPDX-License-Identifier: MIT
 *
 * hold_rules_test.c - leases of whole clients on a server: how they are
 * configured, the names of their keys and owners, and which events a client
 * gets. */
#include "hashslot.h"
#include "hold_rig.h"

#define REFUSED(w, rule, c) \
    T_REFUSED(w, rule, relet_lease_start((w)->p[0].r, c))

/* -------------------------------------------------------------------- rules */

TEST each_time_of_a_lease_has_its_bounds(void)
{
    relet_lease_config c = t_lease("n");
    relet_time *const field[] = {&c.ttl_ms, &c.renew_ms, &c.retry_ms,
                                 &c.wait_ms, &c.grace_ms, &c.replicas_ms,
                                 &c.quarantine_ms};
    static const relet_time over[] = {1000000001, 3334, 1000000001, 1000000001,
                                      1000000001, 2501, 1000000001};
    static const char *const rule[] = {
        "lease.ttl_ms must be between 50 and 1000000000",
        "lease.renew_ms must be at most a third of ttl_ms",
        "lease.retry_ms must be between 1 and 1000000000",
        "lease.wait_ms must be between 1 and 1000000000",
        "lease.grace_ms must be between 1 and 1000000000",
        "lease.replicas_ms must be at most a quarter of ttl_ms",
        "lease.quarantine_ms must be between 0 and 1000000000"};
    t_world w;
    size_t i;

    t_world_start(&w, 1);
    for (i = 0; i < sizeof field / sizeof *field; i++) {
        *field[i] = -1;
        REFUSED(&w, rule[i], &c);
        *field[i] = over[i];
        REFUSED(&w, rule[i], &c);
        *field[i] = 0;
    }
    c.ttl_ms = 49;
    REFUSED(&w, rule[0], &c);
    t_world_end(&w);
    PASS();
}

TEST each_time_may_be_as_long_as_its_bound(void)
{
    relet_lease_config c = t_lease("n");
    t_world w;

    t_world_start(&w, 1);
    c.ttl_ms = c.retry_ms = c.grace_ms = c.quarantine_ms = 1000000000;
    c.renew_ms = c.ttl_ms / 3;
    c.replicas_ms = c.ttl_ms / 4;
    c.wait_ms = RELET_NEVER;
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    t_world_end(&w);
    PASS();
}

TEST a_label_has_at_most_so_many_bytes(void)
{
    relet_lease_config c = t_lease("n");
    char label[64];
    t_world w;

    memset(label, 'l', sizeof label);
    c.label.p = label;
    c.label.n = sizeof label;
    t_world_start(&w, 1);
    REFUSED(&w, "lease.label has at most 63 bytes", &c);
    c.label.n--;
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    t_world_end(&w);
    PASS();
}

TEST a_group_that_has_begun_grows_only_at_its_end(void)
{
    relet_lease_config c = t_lease("m");
    t_world w;

    c.group = 1;
    t_world_start(&w, 1);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    t_world_pass(&w, 10);
    c.name = relet_str("a");
    REFUSED(&w, "the group has begun with a key behind this one", &c);
    c.name = relet_str("z");
    ASSERT_EQ(1, relet_lease_start(w.p[0].r, &c));
    t_world_end(&w);
    PASS();
}

TEST a_group_that_was_not_asked_for_yet_grows_anywhere(void)
{
    relet_lease_config c = t_lease("m");
    t_world w;

    c.group = 1;
    t_world_start(&w, 1);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    c.name = relet_str("a");
    ASSERT_EQ(1, relet_lease_start(w.p[0].r, &c));
    t_world_pass(&w, 10);
    T_HEARD(&w, 0, "lease gained 7");
    T_HEARD(&w, 0, "lease gained 7");
    t_world_end(&w);
    PASS();
}

TEST groups_do_not_wait_for_each_other(void)
{
    relet_lease_config c = t_lease("b");
    t_world w;

    t_world_start(&w, 1);
    (void)t_world_ask(&w, "SET leader:a thief");
    c.group = 1;
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    c.name = relet_str("a");
    c.group = 2;
    ASSERT_EQ(1, relet_lease_start(w.p[0].r, &c));
    t_world_pass(&w, 100);
    ASSERT(relet_lease_valid_for(w.p[0].r, 0, w.now) > 0);
    ASSERT_EQ(0, relet_lease_valid_for(w.p[0].r, 1, w.now));
    t_world_end(&w);
    PASS();
}

TEST a_stopped_client_starts_no_lease(void)
{
    relet_lease_config c = t_lease("n");
    t_world w;

    t_world_start(&w, 1);
    relet_stop(w.p[0].r);
    ASSERT_EQ(RELET_E_STOPPED, relet_lease_start(w.p[0].r, &c));
    t_world_end(&w);
    PASS();
}

TEST a_call_about_an_unknown_lease_is_refused(void)
{
    static const int none[] = {-1, 0, 99};
    t_world w;
    size_t i;

    t_world_start(&w, 1);
    for (i = 0; i < 3; i++) {
        ASSERT_EQ(RELET_E_REFUSED, relet_lease_stop(w.p[0].r, none[i]));
        ASSERT_EQ(RELET_E_REFUSED, relet_lease_work_done(w.p[0].r, none[i]));
        ASSERT_STR_EQ("there is no such lease", relet_refusal(w.p[0].r));
        ASSERT_EQ(0, relet_lease_valid_for(w.p[0].r, none[i], w.now));
        ASSERT_EQ(0, relet_lease_token(w.p[0].r, none[i]));
    }
    t_world_end(&w);
    PASS();
}

TEST a_lease_without_an_election_has_no_token(void)
{
    relet_lease_config c = t_lease("n");
    t_world w;

    t_world_start(&w, 1);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    ASSERT_EQ(0, relet_lease_token(w.p[0].r, 0)); /* not requested yet */
    c.alone = 1;
    ASSERT_EQ(1, relet_lease_start(w.p[0].r, &c));
    t_world_pass(&w, 10);
    ASSERT(relet_lease_token(w.p[0].r, 0) > 0);
    ASSERT_EQ(RELET_NEVER, relet_lease_valid_for(w.p[0].r, 1, w.now));
    ASSERT_EQ(0, relet_lease_token(w.p[0].r, 1));
    t_world_end(&w);
    PASS();
}

TEST a_wrong_setting_is_refused_by_name(void)
{
    relet_lease_config c = t_lease("n");
    char key[300];
    t_world w;

    t_world_start(&w, 1);
    c.renew_ms = 5000;
    ASSERT_EQ(RELET_E_CONFIG, relet_lease_start(w.p[0].r, &c));
    ASSERT_STR_EQ("lease.renew_ms must be at most a third of ttl_ms",
                  relet_refusal(w.p[0].r));
    c = t_lease("n");
    c.key = relet_str("k");
    ASSERT_EQ(RELET_E_CONFIG, relet_lease_start(w.p[0].r, &c));
    memset(key, 'x', sizeof key);
    c.name.n = 0;
    c.key.p = key;
    c.key.n = 256;
    ASSERT_EQ(RELET_E_CONFIG, relet_lease_start(w.p[0].r, &c));
    c.key.n = 255;
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    c.group = 3;
    c.key.n = 2;
    ASSERT_EQ(1, relet_lease_start(w.p[0].r, &c));
    ASSERT_EQ(RELET_E_CONFIG, relet_lease_start(w.p[0].r, &c));
    ASSERT_STR_EQ("the key is in this group already",
                  relet_refusal(w.p[0].r));
    c.group = 0;
    ASSERT_EQ(2, relet_lease_start(w.p[0].r, &c));
    ASSERT_EQ(3, relet_lease_start(w.p[0].r, &c));
    ASSERT_EQ(RELET_E_LIMIT, relet_lease_start(w.p[0].r, &c));
    ASSERT_EQ(RELET_E_REFUSED, relet_lease_stop(w.p[0].r, 4));
    t_world_end(&w);
    PASS();
}

/* -------------------------------------------------------------------- names */

TEST a_prefix_and_a_label_stand_in_front(void)
{
    relet_lease_config c = t_lease("n");
    relet_config like = t_config();
    const char *said;
    t_world w;

    like.leases_max = 1;
    memcpy(like.prefix, "app", sizeof "app");
    c.label = relet_str("me");
    t_world_start_with(&w, 1, &like);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    t_world_pass(&w, 10);
    ASSERT(strncmp(t_world_ask(&w, "GET app:leader:n"), "$35\r\nme:", 8) == 0);
    said = t_world_ask(&w, "PUBSUB SHARDCHANNELS *");
    ASSERT(strncmp(said, "*1\r\n$52\r\n{app:leader:n}:wake:", 29) == 0);
    t_world_end(&w);
    PASS();
}

TEST a_key_may_hold_any_byte(void)
{
    static const char key[] = "a\0{b\r\n}{}\xff:c";
    relet_lease_config c = t_lease("");
    t_world w;

    c.key.p = key;
    c.key.n = sizeof key - 1;
    t_world_start(&w, 2);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    t_world_pass(&w, 10);
    ASSERT_EQ(0, relet_lease_start(w.p[1].r, &c));
    t_world_pass(&w, 20000);
    ASSERT(t_leads(&w, 0));
    ASSERT_EQ(0, t_stopped(&w, 0));
    t_world_settle(&w);
    ASSERT(t_leads(&w, 1));
    t_world_end(&w);
    PASS();
}

/* The other keys of such a lease would be in other hash slots of a cluster. */
TEST a_brace_that_closes_nothing_is_refused_by_name(void)
{
    static const char *const bad[] = {"a}b", "{}", "{}{a}", "}", "}{"};
    static const char *const good[] = {"{a}b", "}{a}", "{a", "{a}}{}"};
    relet_lease_config c = t_lease("");
    t_world w;
    size_t i;

    t_world_start(&w, 1);
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        c.key = relet_str(bad[i]);
        ASSERT_EQ(RELET_E_CONFIG, relet_lease_start(w.p[0].r, &c));
        ASSERT_STR_EQ("the key of a lease has a } but no hash tag",
                      relet_refusal(w.p[0].r));
    }
    for (i = 0; i < sizeof good / sizeof good[0]; i++) {
        c.key = relet_str(good[i]);
        ASSERT_EQ((int)i, relet_lease_start(w.p[0].r, &c));
    }
    t_world_end(&w);
    PASS();
}

/* Such a key once shared its token counter with the key inside the braces. */
TEST a_hash_tag_alone_is_refused_by_name(void)
{
    relet_lease_config c = t_lease("");
    t_world w;

    t_world_start(&w, 1);
    c.key = relet_str("{a}");
    ASSERT_EQ(RELET_E_CONFIG, relet_lease_start(w.p[0].r, &c));
    ASSERT_STR_EQ("the key of a lease is a hash tag and nothing else",
                  relet_refusal(w.p[0].r));
    t_world_end(&w);
    PASS();
}

TEST a_key_may_end_with_its_hash_tag(void)
{
    relet_lease_config c = t_lease("");
    t_world w;

    t_world_start(&w, 1);
    c.key = relet_str("a{b}");
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    t_world_pass(&w, 10);
    T_HEARD(&w, 0, "lease gained 7");
    t_world_end(&w);
    PASS();
}

TEST a_lock_and_a_leader_of_one_name_are_two_leases(void)
{
    t_world w;

    t_world_start(&w, 2);
    ASSERT_EQ(0, t_lead(&w, 0, "x"));
    ASSERT_EQ(0, t_lock(&w, 1, "x", 0, 7));
    ASSERT_EQ(1, t_lock(&w, 1, "leader:x", 0, 8));
    t_world_pass(&w, 10);
    T_HEARD(&w, 0, "lease gained 7");
    T_HEARD(&w, 1, "lease gained 7");
    T_HEARD(&w, 1, "lease gained 8");
    t_world_end(&w);
    PASS();
}

TEST the_keys_of_a_lease_share_a_slot(void)
{
    static const char *const keys[] = {"k", "a:{b}:c", "{a}{b}", "{", "a{b",
                                       "{{a}b"};
    relet_lease_config c = t_lease("");
    size_t i, n;
    t_world w;

    for (i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *at;

        c.key = relet_str(keys[i]);
        t_world_start(&w, 2);
        ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
        t_world_pass(&w, 10);
        ASSERT_EQ(0, relet_lease_start(w.p[1].r, &c));
        t_world_pass(&w, 1000);
        at = t_world_ask(&w, "KEYS *");
        ASSERT(strncmp(at, "*3\r\n", 4) == 0);
        for (n = 0; n < 3; n++) {
            relet_span key;

            key.n = (size_t)strtol(strchr(at, '$') + 1, NULL, 10);
            key.p = strchr(strchr(at, '$'), '\n') + 1;
            at = key.p + key.n;
            ASSERT_EQ(rlt_hashslot_of(c.key), rlt_hashslot_of(key));
        }
        t_world_end(&w);
    }
    PASS();
}

/* -------------------------------------------------------------------- turns */

TEST a_lease_that_was_just_started_is_due_now(void)
{
    relet_lease_config c = t_lease("n");
    t_world w;

    t_world_start(&w, 1);
    t_world_pass(&w, 10);
    ASSERT(relet_deadline(w.p[0].r) > w.now);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    ASSERT(relet_deadline(w.p[0].r) <= w.now);
    t_world_end(&w);
    PASS();
}

TEST without_an_election_there_is_nothing_to_wait_for(void)
{
    relet_lease_config c = t_lease("n");
    t_world w;

    t_world_start(&w, 1);
    c.alone = 1;
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    t_world_pass(&w, 100000);
    T_HEARD(&w, 0, "lease gained 7");
    T_HEARD(&w, 0, "");
    ASSERT_STR_EQ("*0\r\n", t_world_ask(&w, "KEYS *"));
    t_world_end(&w);
    PASS();
}

/* The user subscribes to channels that resemble the channels of wake-ups. */
TEST the_messages_of_the_user_are_told(void)
{
    relet_lease_config c = t_lease("n");
    const char *line;
    int told = 0;
    t_world w;

    t_world_start(&w, 1);
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    ASSERT_EQ(0, t_wish(&w.p[0], RELET_CHANNEL, "short"));
    ASSERT_EQ(0, t_wish(&w.p[0], RELET_CHANNEL,
                        "wake:0123456789abcdef0123456789abcdef"));
    ASSERT_EQ(0, t_wish(&w.p[0], RELET_SHARDED,
                        "wake:0123456789abcdef0123456789abcdef"));
    t_world_pass(&w, 10);
    (void)t_world_ask(&w, "PUBLISH short a");
    (void)t_world_ask(&w, "PUBLISH wake:0123456789abcdef0123456789abcdef b");
    (void)t_world_ask(&w, "SPUBLISH wake:0123456789abcdef0123456789abcdef c");
    t_world_settle(&w);
    while ((line = t_told(&w.p[0]))[0] != '\0')
        told += strncmp(line, "message", 7) == 0;
    ASSERT_EQ(3, told);
    t_world_end(&w);
    PASS();
}

/* The local server has no WAITAOF; its error names the command. */
TEST copies_on_disk_are_asked_for_by_their_own_name(void)
{
    relet_lease_config c = t_lease("n");
    relet_event ev;
    t_world w;
    int i;

    t_world_start(&w, 1);
    c.fsync = 1;
    ASSERT_EQ(0, relet_lease_start(w.p[0].r, &c));
    w.p[0].manual = 1;
    memset(&ev, 0, sizeof ev);
    for (i = 0; i < 100 && ev.kind != RELET_EV_LEASE_TROUBLE; i++)
        if (!relet_next(w.p[0].r, &ev))
            (void)t_world_turn(&w);
    ASSERT_EQ(RELET_EV_LEASE_TROUBLE, ev.kind);
    ASSERT_EQ(RELET_WHY_NOT_REPLICATED, ev.why);
    ASSERT(strstr(ev.text.p, "WAITAOF") != NULL);
    t_world_end(&w);
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(each_time_of_a_lease_has_its_bounds);
    RUN_TEST(each_time_may_be_as_long_as_its_bound);
    RUN_TEST(a_label_has_at_most_so_many_bytes);
    RUN_TEST(a_group_that_has_begun_grows_only_at_its_end);
    RUN_TEST(a_group_that_was_not_asked_for_yet_grows_anywhere);
    RUN_TEST(groups_do_not_wait_for_each_other);
    RUN_TEST(a_stopped_client_starts_no_lease);
    RUN_TEST(a_call_about_an_unknown_lease_is_refused);
    RUN_TEST(a_lease_without_an_election_has_no_token);
    RUN_TEST(a_wrong_setting_is_refused_by_name);
    RUN_TEST(a_prefix_and_a_label_stand_in_front);
    RUN_TEST(a_key_may_hold_any_byte);
    RUN_TEST(a_brace_that_closes_nothing_is_refused_by_name);
    RUN_TEST(a_hash_tag_alone_is_refused_by_name);
    RUN_TEST(a_key_may_end_with_its_hash_tag);
    RUN_TEST(a_lock_and_a_leader_of_one_name_are_two_leases);
    RUN_TEST(the_keys_of_a_lease_share_a_slot);
    RUN_TEST(a_lease_that_was_just_started_is_due_now);
    RUN_TEST(without_an_election_there_is_nothing_to_wait_for);
    RUN_TEST(the_messages_of_the_user_are_told);
    RUN_TEST(copies_on_disk_are_asked_for_by_their_own_name);
    GREATEST_MAIN_END();
}
