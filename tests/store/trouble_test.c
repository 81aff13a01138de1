/* SPDX-License-Identifier: MIT
 *
 * trouble_test.c - a file that cannot be written, was torn, or was damaged;
 * and the log that is written anew. */
#include "store_rig.h"

#include <sys/resource.h>

#define T_CAP 1000000

static char t_bytes[T_CAP];

/* Stores that write their log anew when it is twice as long. */
static relet_stores *t_stores_small(void)
{
    relet_stores_config c;

    memset(&c, 0, sizeof c);
    c.rewrite_min = 1000;
    return relet_stores_make(&c);
}

static relet_store_info t_info(relet *r)
{
    relet_store_info info;

    if (!relet_store_info_get(r, &info))
        abort();
    return info;
}

/* Plays a killed process: closes the client and writes these bytes as its
 * file. */
static void t_forget(relet *r, const char *bytes, size_t n)
{
    t_close(r);
    t_spill(bytes, n);
}

/* ------------------------------------------------------------------ writing */

TEST a_command_that_cannot_be_logged_is_not_answered(void)
{
    relet *r = t_file();
    long room;

    T_SAYS(r, "SET k old", "OK");
    for (room = 0; room < 80; room += 7) {
        t_room = room;
        T_SAYS(r, "SET k new", "unsure broken");
        t_room = -1;
        T_SAYS(r, "GET k", "old");
    }
    T_SAYS(r, "SET k new", "OK");
    T_SAYS(r, "GET k", "new");
    PASS();
}

TEST the_reason_of_a_failed_write_is_reported(void)
{
    relet *r = t_file();

    T_SAYS(r, "SET k old", "OK");
    t_room = 3;
    ASSERT_EQ(0, t_submit(r, "SET k new", 1));
    ASSERT(t_is_down(r, "No space left"));
    ASSERT(strstr(t_heard, "/log: write") != NULL);
    PASS();
}

TEST a_read_is_answered_on_a_full_disk(void)
{
    relet *r = t_file();

    T_SAYS(r, "SET k old", "OK");
    t_room = 0;
    T_SAYS(r, "GET k", "old");
    T_SAYS(r, "SET k new", "unsure broken");
    T_SAYS(r, "GET k", "old");
    PASS();
}

TEST all_clients_of_a_broken_store_hear_of_it(void)
{
    relet *a, *b;
    relet_event ev;

    t_stores = relet_stores_make(NULL);
    a = t_file();
    b = t_file();
    T_SAYS(a, "SET k old", "OK");
    ASSERT_EQ(0, t_submit(b, "BLPOP l 0", 1));
    ASSERT(t_await(b, RELET_EV_UP, &ev));
    ASSERT_EQ(0, relet_wait(b, &ev, 0));
    t_room = 3;
    T_SAYS(a, "RPUSH l x", "unsure broken");
    t_room = -1;
    ASSERT_EQ(0, relet_poll_timeout(b));
    ASSERT(t_await(b, RELET_EV_UNSURE, &ev));
    T_SAYS(b, "LLEN l", "0");
    T_SAYS(a, "GET k", "old");
    PASS();
}

/* After a failed sync the system may have dropped the bytes that it could not
 * write, though it still shows them: so the store writes the whole log anew. */
TEST a_failed_sync_is_not_answered_and_all_is_written_anew(void)
{
    relet *r = t_file();
    const char *now;

    T_SAYS(r, "SET k old", "OK");
    t_sync_errno = EIO;
    T_SAYS(r, "SET k new", "unsure broken");
    t_sync_errno = 0;
    now = t_does(r, "GET k");
    ASSERT(strcmp(now, "old") == 0 || strcmp(now, "new") == 0);
    ASSERT_EQ(1u, t_info(r).rewrites);
    PASS();
}

TEST a_store_stays_down_while_its_syncs_fail(void)
{
    relet *r = t_file();

    T_SAYS(r, "SET k old", "OK");
    t_sync_errno = EIO;
    T_SAYS(r, "SET k new", "unsure broken");
    ASSERT_EQ(0, t_submit(r, "GET k", 1));
    ASSERT(t_is_down(r, strerror(EIO)));
    ASSERT(t_is_down(r, strerror(EIO)));
    PASS();
}

TEST a_late_sync_that_fails_breaks_the_store(void)
{
    relet *r = t_file_with("?fsync=everysec", NULL);

    T_SAYS(r, "SET k old", "OK");
    t_sync_errno = EIO;
    ASSERT(t_is_down(r, "sync"));
    PASS();
}

TEST a_limit_of_the_system_is_a_failed_write(void)
{
    struct rlimit limit = {200, 200};
    int status = 0;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        relet *r = t_file();
        int i, n = 0;

        signal(SIGXFSZ, SIG_IGN);
        if (strcmp(t_does(r, "PING"), "PONG") != 0 ||
            setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(1);
        for (i = 0; i < 9; i++)
            n += atoi(t_does(r, "INCR n")) > 0;
        _exit(n > 0 && n < 9 && atoi(t_does(r, "GET n")) == n ? 0 : 2);
    }
    ASSERT_EQ(pid, waitpid(pid, &status, 0));
    ASSERT_EQ(0, status);
    PASS();
}

static long t_calls, t_fail_at;

static void *t_resize(void *user, void *p, size_t old_size, size_t size)
{
    (void)user;
    (void)old_size;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return ++t_calls == t_fail_at ? NULL : realloc(p, size);
}

/* Each allocation of the store fails in turn. If an effect could not be logged
 * for lack of memory, the store writes its log anew. */
TEST memory_that_ends_loses_nothing_that_was_answered(void)
{
    relet_stores_config c;
    int i, done, known = 0, mended = 0;
    relet *r;

    memset(&c, 0, sizeof c);
    c.local.resize = t_resize;
    for (t_fail_at = 1; t_fail_at <= t_calls + 1 || known == 0; t_fail_at++) {
        t_calls = 0;
        t_stores = relet_stores_make(&c);
        r = t_file();
        for (done = i = 0; i < 20; i++)
            done += atoi(t_does(r, "INCR n")) > 0 &&
                    atoi(t_does(r, "APPEND s 0123456789012345678901234")) > 0;
        known += done == 20;
        mended += t_info(r).rewrites > 1;
        ASSERT(done >= 18);
        t_close(r);
        relet_stores_close(t_stores);
        t_stores = NULL;
        r = t_file();
        ASSERT(atoi(t_does(r, "GET n")) >= done);
        ASSERT(atoi(t_does(r, "STRLEN s")) >= done * 25);
        t_close(r);
        unlink(t_path);
    }
    ASSERT(mended > 0);
    PASS();
}

/* ------------------------------------------------------------ torn, damaged */

TEST a_torn_tail_is_cut_and_told(void)
{
    relet *r = t_file();
    size_t n;

    T_SAYS(r, "SET k one", "OK");
    T_SAYS(r, "SET k two", "OK");
    n = t_slurp(t_bytes, T_CAP);
    t_forget(r, t_bytes, n - 5);
    r = t_file();
    T_SAYS(r, "GET k", "one");
    ASSERT(t_info(r).cut_bytes > 0);
    ASSERT_EQ((uint64_t)n - 5, t_info(r).cut_at + t_info(r).cut_bytes);
    ASSERT_EQ(t_info(r).cut_at, t_info(r).log_bytes);
    T_SAYS(r, "SET l three", "OK");
    t_close(r);
    r = t_file();
    T_SAYS(r, "MGET k l", "[one three]");
    ASSERT_EQ(0u, t_info(r).cut_bytes);
    PASS();
}

TEST zeros_at_the_end_are_cut(void)
{
    relet *r = t_file();
    size_t n;

    T_SAYS(r, "SET k one", "OK");
    n = t_slurp(t_bytes, T_CAP);
    memset(t_bytes + n, 0, 100000);
    t_forget(r, t_bytes, n + 100000);
    r = t_file();
    T_SAYS(r, "GET k", "one");
    ASSERT_EQ(100000u, t_info(r).cut_bytes);
    PASS();
}

TEST damage_further_in_is_refused_and_nothing_is_cut(void)
{
    relet *r = t_file();
    size_t at, n;
    char place[40];

    T_SAYS(r, "SET k one", "OK");
    at = t_slurp(t_bytes, T_CAP);
    T_SAYS(r, "SET k two", "OK");
    T_SAYS(r, "SET k three", "OK");
    n = t_slurp(t_bytes, T_CAP);
    t_bytes[at + 50] ^= 1;
    t_forget(r, t_bytes, n);
    snprintf(place, sizeof place, "damaged at byte %u", (unsigned)at);
    ASSERT(t_is_down(t_file(), place));
    ASSERT_EQ((long)n, t_size(t_path));
    PASS();
}

TEST a_damaged_file_can_be_opened_when_it_is_cut_at_the_reported_byte(void)
{
    relet *r = t_file();
    size_t at, n;

    T_SAYS(r, "SET k one", "OK");
    at = t_slurp(t_bytes, T_CAP);
    T_SAYS(r, "SET k two", "OK");
    T_SAYS(r, "SET k three", "OK");
    n = t_slurp(t_bytes, T_CAP);
    t_bytes[at + 3] ^= 64;
    t_forget(r, t_bytes, n);
    r = t_file();
    ASSERT(t_is_down(r, "cut at"));
    at = (size_t)atol(strstr(t_heard, "cut at") + 7);
    ASSERT_EQ(0, truncate(t_path, (off_t)at));
    T_SAYS(r, "GET k", "one");
    PASS();
}

/* A power cut may lose an earlier page of the file and keep a later one. */
TEST a_hole_in_unsynced_records_is_a_torn_tail(void)
{
    relet *r = t_file_with("?fsync=never", NULL);
    size_t at, n;

    T_SAYS(r, "SET k one", "OK");
    at = t_slurp(t_bytes, T_CAP);
    T_SAYS(r, "SET k two", "OK");
    T_SAYS(r, "SET k three", "OK");
    n = t_slurp(t_bytes, T_CAP);
    memset(t_bytes + at, 0, 40);
    t_forget(r, t_bytes, n);
    r = t_file_with("?fsync=never", NULL);
    T_SAYS(r, "GET k", "one");
    ASSERT_EQ((uint64_t)(n - at), t_info(r).cut_bytes);
    PASS();
}

TEST damage_in_a_rewritten_log_is_refused(void)
{
    relet *r;
    size_t n;
    int i;

    t_stores = t_stores_small();
    r = t_file();
    for (i = 0; i < 100 && t_does(r, "INCR n")[0] != 'u'; i++)
        if (t_info(r).rewrites == 2)
            break;
    n = t_slurp(t_bytes, T_CAP);
    t_bytes[n - 1] ^= 1;
    t_forget(r, t_bytes, n);
    ASSERT(t_is_down(t_file(), "damaged"));
    PASS();
}

/* The record of one script is cut at many places. */
TEST the_effects_of_one_script_are_restored_whole_or_not_at_all(void)
{
    relet *r = t_file();
    size_t at, n, cut;

    T_SAYS(r, "SET n 0", "OK");
    at = t_slurp(t_bytes, T_CAP);
    T_SAYS(r, "EVAL redis.call('INCR','n')redis.call('RPUSH','l',1) 0",
           "(nil)");
    n = t_slurp(t_bytes, T_CAP);
    for (cut = at; cut <= n; cut += cut + 1 < n ? 3 : 1) {
        t_forget(r, t_bytes, cut);
        r = t_file();
        T_SAYS(r, "GET n", cut < n ? "0" : "1");
        T_SAYS(r, "LLEN l", cut < n ? "0" : "1");
    }
    PASS();
}

/* ---------------------------------------------------------------- rewriting */

TEST a_log_that_has_doubled_is_written_anew_and_keeps_all(void)
{
    relet *r;
    int i;

    t_stores = t_stores_small();
    r = t_file();
    T_SAYS(r, "RPUSH l a b c", "3");
    T_SAYS(r, "SET e v PX 100000000", "OK");
    for (i = 1; i <= 300; i++)
        ASSERT_EQ(i, atoi(t_does(r, "INCR n")));
    ASSERT(t_info(r).rewrites > 3);
    ASSERT(t_size(t_path) < 2000);
    ASSERT_EQ((long)t_info(r).log_bytes, t_size(t_path));
    t_close(r);
    r = t_file();
    T_SAYS(r, "GET n", "300");
    T_SAYS(r, "LRANGE l 0 -1", "[a b c]");
    ASSERT(atol(t_does(r, "PTTL e")) > 90000000);
    T_SAYS(r, "DBSIZE", "3");
    PASS();
}

/* The dump had selected the last database, and later commands once went
 * there. */
TEST commands_after_a_rewrite_go_into_their_own_database(void)
{
    relet *a, *b;
    int i, n;

    t_stores = t_stores_small();
    a = t_file();
    b = t_file_with("?db=5", t_stores);
    T_SAYS(b, "SET k five", "OK");
    for (i = 1; i <= 100; i++)
        ASSERT_EQ(i, atoi(t_does(a, "INCR n")));
    n = (int)t_info(a).rewrites;
    ASSERT(n > 1);
    t_close(a);
    t_close(b);
    a = t_file();
    T_SAYS(a, "GET n", "100");
    PASS();
}

TEST a_rewrite_keeps_the_lock(void)
{
    relet *r;
    int i;

    t_stores = t_stores_small();
    r = t_file();
    for (i = 1; i <= 100; i++)
        ASSERT_EQ(i, atoi(t_does(r, "INCR n")));
    ASSERT(t_info(r).rewrites > 1);
    ASSERT(t_is_down(t_file_with("", NULL), "in use"));
    PASS();
}

TEST a_rewrite_keeps_the_permissions_of_the_file(void)
{
    struct stat s;
    relet *r;
    int i;

    t_stores = t_stores_small();
    r = t_file();
    T_SAYS(r, "PING", "PONG");
    ASSERT_EQ(0, chmod(t_path, 0640));
    for (i = 1; i <= 100; i++)
        ASSERT_EQ(i, atoi(t_does(r, "INCR n")));
    ASSERT_EQ(0, stat(t_path, &s));
    ASSERT_EQ(0640, (int)(s.st_mode & 0777));
    PASS();
}

TEST a_rewrite_that_fails_leaves_everything_as_it_was(void)
{
    char path[400];
    relet *r;
    int i;

    t_stores = t_stores_small();
    r = t_file();
    T_SAYS(r, "PING", "PONG");
    snprintf(path, sizeof path, "%s.new", t_path);
    t_rename_errno = EACCES;
    for (i = 1; i <= 200; i++)
        ASSERT_EQ(i, atoi(t_does(r, "INCR n")));
    ASSERT_EQ(1u, t_info(r).rewrites); /* the one that made the file */
    ASSERT_EQ(-1, t_size(path));
    t_rename_errno = 0;
    for (; i <= 400; i++)
        ASSERT_EQ(i, atoi(t_does(r, "INCR n")));
    ASSERT(t_info(r).rewrites > 1);
    t_close(r);
    r = t_file();
    T_SAYS(r, "GET n", "400");
    PASS();
}

TEST many_short_sessions_do_not_make_the_log_grow(void)
{
    relet *r;
    int i;

    t_stores = t_stores_small();
    for (i = 1; i <= 100; i++) {
        r = t_file();
        ASSERT_EQ(i, atoi(t_does(r, "INCR n")));
        t_close(r);
    }
    ASSERT(t_size(t_path) < 2000);
    PASS();
}

TEST an_unfinished_rewrite_left_by_a_crash_is_removed(void)
{
    char path[400];
    relet *r = t_file();
    FILE *f;

    T_SAYS(r, "SET k v", "OK");
    t_close(r);
    snprintf(path, sizeof path, "%s.new", t_path);
    f = fopen(path, "w");
    ASSERT(f != NULL);
    fputs("relet log 1 half of", f);
    fclose(f);
    r = t_file();
    T_SAYS(r, "GET k", "v");
    ASSERT_EQ(-1, t_size(path));
    PASS();
}

TEST a_symbolic_link_to_the_file_stays_one(void)
{
    char path[400];
    struct stat s;
    relet *r;
    int i;

    snprintf(path, sizeof path, "%s2", t_path);
    ASSERT_EQ(0, symlink(t_path, path));
    t_stores = t_stores_small();
    snprintf(t_url, sizeof t_url, "file:%s", path);
    r = t_open(t_url, t_stores);
    for (i = 1; i <= 100; i++)
        ASSERT_EQ(i, atoi(t_does(r, "INCR n")));
    ASSERT(t_info(r).rewrites > 1);
    ASSERT_EQ(0, lstat(path, &s));
    ASSERT(S_ISLNK(s.st_mode));
    ASSERT_EQ((long)t_info(r).log_bytes, t_size(t_path));
    unlink(path);
    PASS();
}

SUITE(writing)
{
    SET_SETUP(t_setup, NULL);
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(a_command_that_cannot_be_logged_is_not_answered);
    RUN_TEST(the_reason_of_a_failed_write_is_reported);
    RUN_TEST(a_read_is_answered_on_a_full_disk);
    RUN_TEST(all_clients_of_a_broken_store_hear_of_it);
    RUN_TEST(a_failed_sync_is_not_answered_and_all_is_written_anew);
    RUN_TEST(a_store_stays_down_while_its_syncs_fail);
    RUN_TEST(a_late_sync_that_fails_breaks_the_store);
    RUN_TEST(a_limit_of_the_system_is_a_failed_write);
    RUN_TEST(memory_that_ends_loses_nothing_that_was_answered);
}

SUITE(damage)
{
    SET_SETUP(t_setup, NULL);
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(a_torn_tail_is_cut_and_told);
    RUN_TEST(zeros_at_the_end_are_cut);
    RUN_TEST(damage_further_in_is_refused_and_nothing_is_cut);
    RUN_TEST(a_damaged_file_can_be_opened_when_it_is_cut_at_the_reported_byte);
    RUN_TEST(a_hole_in_unsynced_records_is_a_torn_tail);
    RUN_TEST(damage_in_a_rewritten_log_is_refused);
    RUN_TEST(the_effects_of_one_script_are_restored_whole_or_not_at_all);
}

SUITE(rewriting)
{
    SET_SETUP(t_setup, NULL);
    SET_TEARDOWN(t_teardown, NULL);
    RUN_TEST(a_log_that_has_doubled_is_written_anew_and_keeps_all);
    RUN_TEST(commands_after_a_rewrite_go_into_their_own_database);
    RUN_TEST(a_rewrite_keeps_the_lock);
    RUN_TEST(a_rewrite_keeps_the_permissions_of_the_file);
    RUN_TEST(a_rewrite_that_fails_leaves_everything_as_it_was);
    RUN_TEST(many_short_sessions_do_not_make_the_log_grow);
    RUN_TEST(an_unfinished_rewrite_left_by_a_crash_is_removed);
    RUN_TEST(a_symbolic_link_to_the_file_stays_one);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_SUITE(writing);
    RUN_SUITE(damage);
    RUN_SUITE(rewriting);
    GREATEST_MAIN_END();
}
