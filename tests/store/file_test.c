/* SPDX-License-Identifier: MIT
 *
 * file_test.c - clients with a file instead of a server: what is kept, which
 * process may use the file, and when the data is safe. */
#include "store_rig.h"

/* -------------------------------------------------------------------- file: */

TEST every_type_of_key_is_restored_from_the_file(void)
{
    relet *r = t_file();

    T_SAYS(r, "SET s text", "OK");
    T_SAYS(r, "SET e soon PX 100000000", "OK");
    T_SAYS(r, "RPUSH l a b c", "3");
    T_SAYS(r, "HSET h f 1 g 2", "2");
    T_SAYS(r, "SADD u x", "1");
    T_SAYS(r, "ZADD z 1.5 m", "1");
    T_SAYS(r, "XADD x 1-1 f v", "1-1");
    T_SAYS(r, "XGROUP CREATE x g 0", "OK");
    T_SAYS(r, "XREADGROUP GROUP g c COUNT 1 STREAMS x >",
           "[x [[1-1 [f v]]]]");
    T_SAYS(r, "EVAL return(redis.call('INCR',KEYS[1])) 1 n", "1");
    t_close(r);
    r = t_file();
    T_SAYS(r, "GET s", "text");
    T_SAYS(r, "GET e", "soon");
    T_SAYS(r, "EXPIRETIME s", "-1");
    ASSERT(atol(t_does(r, "PTTL e")) > 90000000);
    T_SAYS(r, "LRANGE l 0 -1", "[a b c]");
    T_SAYS(r, "HGETALL h", "[f 1 g 2]");
    T_SAYS(r, "SMEMBERS u", "[x]");
    T_SAYS(r, "ZRANGE z 0 -1", "[m]");
    T_SAYS(r, "XPENDING x g", "[1 1-1 1-1 [[c 1]]]");
    T_SAYS(r, "GET n", "1");
    T_SAYS(r, "DBSIZE", "8");
    PASS();
}

TEST databases_stay_apart(void)
{
    relet *r = t_file_with("?db=3", NULL);

    T_SAYS(r, "SET k three", "OK");
    t_close(r);
    r = t_file();
    T_SAYS(r, "GET k", "(nil)");
    T_SAYS(r, "SET k zero", "OK");
    t_close(r);
    r = t_file_with("?db=3", NULL);
    T_SAYS(r, "GET k", "three");
    PASS();
}

TEST scripts_do_not_come_back(void)
{
    relet *r = t_file();
    char sha[41];

    snprintf(sha, sizeof sha, "%s", t_does(r, "SCRIPT LOAD return(1)"));
    t_close(r);
    r = t_file();
    snprintf(t_url, sizeof t_url, "SCRIPT EXISTS %s", sha);
    T_SAYS(r, t_url, "[0]");
    PASS();
}

TEST a_key_that_expired_meanwhile_does_not_come_back(void)
{
    struct timespec t = {0, 50000000};
    relet *r = t_file();

    T_SAYS(r, "SET k v PX 20", "OK");
    t_close(r);
    nanosleep(&t, NULL);
    r = t_file();
    T_SAYS(r, "GET k", "(nil)");
    T_SAYS(r, "DBSIZE", "0");
    PASS();
}

TEST a_file_is_for_one_store_at_a_time(void)
{
    relet *a = t_file(), *b;

    T_SAYS(a, "SET k v", "OK");
    b = t_file();
    ASSERT(t_is_down(b, "in use"));
    ASSERT(strstr(t_heard, t_path) != NULL);
    t_close(a);
    T_SAYS(b, "GET k", "v");
    PASS();
}

TEST another_process_is_refused_as_well(void)
{
    relet *r = t_file();
    int status = 0;
    pid_t pid;

    T_SAYS(r, "SET k v", "OK");
    T_SAYS(r, "GET k", "v");
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        _exit(t_is_down(t_file(), "in use") ? 0 : 1);
    ASSERT_EQ(pid, waitpid(pid, &status, 0));
    ASSERT_EQ(0, status);
    PASS();
}

/* 0 if every call of a child with its parent's client and stores is refused. */
static int t_child_of(relet *r)
{
    relet_event ev;

    if (relet_wait(r, &ev, 0) != RELET_E_FORKED ||
        relet_command_text(r, NULL, "SET", "k", "child", (char *)NULL) !=
            RELET_E_FORKED ||
        relet_wait(r, &ev, 0) != RELET_E_FORKED)
        return 1;
    if (t_file() != NULL || t_fault.code != RELET_E_FORKED)
        return 2;
    relet_close(r);
    relet_stores_close(t_stores);
    return 0;
}

TEST a_child_writes_nothing_to_the_file_of_its_parent(void)
{
    char before[4096], after[4096];
    int status = 0;
    size_t n;
    relet *r;
    pid_t pid;

    t_stores = relet_stores_make(NULL);
    r = t_file_with("?fsync=never", t_stores);
    T_SAYS(r, "SET k parent", "OK");
    n = t_slurp(before, sizeof before);
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        _exit(t_child_of(r));
    ASSERT_EQ(pid, waitpid(pid, &status, 0));
    ASSERT_EQ(0, status);
    ASSERT_EQ(n, t_slurp(after, sizeof after));
    ASSERT_EQ(0, memcmp(before, after, n));
    T_SAYS(r, "APPEND k s", "7");
    t_close(r);
    r = t_file();
    T_SAYS(r, "GET k", "parents");
    PASS();
}

TEST clients_of_one_stores_share_a_file(void)
{
    relet *a, *b;

    t_stores = relet_stores_make(NULL);
    a = t_file();
    b = t_file();
    T_SAYS(a, "SET k v", "OK");
    T_SAYS(b, "GET k", "v");
    ASSERT(t_file_with("?fsync=never", t_stores) == NULL);
    ASSERT_STR_EQ("fsync", t_fault.field);
    PASS();
}

TEST a_file_is_free_when_its_last_client_has_left(void)
{
    relet *a;

    t_stores = relet_stores_make(NULL);
    a = t_file();
    T_SAYS(a, "SET k v", "OK");
    t_close(a);
    a = t_file_with("", NULL);
    T_SAYS(a, "GET k", "v");
    PASS();
}

TEST a_file_can_only_be_read_by_its_owner(void)
{
    struct stat s;
    relet *r = t_file();

    T_SAYS(r, "PING", "PONG");
    ASSERT_EQ(0, stat(t_path, &s));
    ASSERT_EQ(0600, (int)(s.st_mode & 0777));
    PASS();
}

TEST a_file_that_is_no_log_is_left_alone(void)
{
    char back[64];

    t_spill("#!/bin/sh\necho hello\n", 21);
    ASSERT(t_is_down(t_file(), "is no log"));
    ASSERT_EQ(21u, t_slurp(back, sizeof back));
    t_spill("relet log 2 more", 16);
    ASSERT(t_is_down(t_file(), "damaged"));
    ASSERT_EQ(16u, t_slurp(back, sizeof back));
    PASS();
}

TEST a_folder_that_is_not_there_is_told(void)
{
    ASSERT(t_is_down(t_open("file:/nowhere/at/all", NULL), "No such file"));
    PASS();
}

/* ------------------------------------------------------------------ syncing */

TEST always_syncs_before_each_answer(void)
{
    relet *r = t_file();
    int i;

    T_SAYS(r, "PING", "PONG");
    t_syncs = 0;
    for (i = 1; i <= 5; i++) {
        T_SAYS(r, "SET k v", "OK");
        ASSERT_EQ(i, t_syncs);
    }
    T_SAYS(r, "GET k", "v");
    ASSERT_EQ(5, t_syncs);
    PASS();
}

TEST commands_under_way_together_share_a_sync(void)
{
    relet *r = t_file();
    relet_event ev;
    int i, replies = 0;

    T_SAYS(r, "PING", "PONG");
    t_syncs = 0;
    for (i = 0; i < 100; i++)
        ASSERT_EQ(0, t_submit(r, "INCR n", 1));
    while (replies < 100 && relet_wait(r, &ev, T_SOON_MS) == 1)
        replies += ev.kind == RELET_EV_REPLY;
    ASSERT_EQ(100, replies);
    ASSERT_EQ(1, t_syncs);
    PASS();
}

TEST everysec_syncs_within_a_second_without_further_writes(void)
{
    relet *r = t_file_with("?fsync=everysec", NULL);
    relet_event ev;

    T_SAYS(r, "PING", "PONG");
    t_syncs = 0;
    T_SAYS(r, "SET k v", "OK");
    T_SAYS(r, "SET k w", "OK");
    ASSERT_EQ(0, t_syncs);
    ASSERT(relet_poll_timeout(r) <= 1000);
    ASSERT_EQ(0, relet_wait(r, &ev, 1200));
    ASSERT_EQ(1, t_syncs);
    ASSERT(relet_poll_timeout(r) > 1000);
    PASS();
}

TEST never_syncs_when_the_client_is_closed(void)
{
    relet *r = t_file_with("?fsync=never", NULL);

    T_SAYS(r, "PING", "PONG");
    t_syncs = 0;
    T_SAYS(r, "SET k v", "OK");
    ASSERT_EQ(0, t_syncs);
    t_close(r);
    ASSERT_EQ(1, t_syncs);
    PASS();
}

SUITE(files)
{
    SET_SETUP(t_setup, NULL);
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(every_type_of_key_is_restored_from_the_file);
    RUN_TEST(databases_stay_apart);
    RUN_TEST(scripts_do_not_come_back);
    RUN_TEST(a_key_that_expired_meanwhile_does_not_come_back);
    RUN_TEST(a_file_is_for_one_store_at_a_time);
    RUN_TEST(another_process_is_refused_as_well);
    RUN_TEST(a_child_writes_nothing_to_the_file_of_its_parent);
    RUN_TEST(clients_of_one_stores_share_a_file);
    RUN_TEST(a_file_is_free_when_its_last_client_has_left);
    RUN_TEST(a_file_can_only_be_read_by_its_owner);
    RUN_TEST(a_file_that_is_no_log_is_left_alone);
    RUN_TEST(a_folder_that_is_not_there_is_told);
}

SUITE(syncing)
{
    SET_SETUP(t_setup, NULL);
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(always_syncs_before_each_answer);
    RUN_TEST(commands_under_way_together_share_a_sync);
    RUN_TEST(everysec_syncs_within_a_second_without_further_writes);
    RUN_TEST(never_syncs_when_the_client_is_closed);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(files);
    RUN_SUITE(syncing);
    GREATEST_MAIN_END();
}
