/* SPDX-License-Identifier: MIT
 *
 * local_hostile_test.c - a test for each defect that local_fuzz found. */
#include "local_cmd.h"

/* A second server, fed by the log or by a dump of the first. */
typedef struct t_copy {
    relet_local *l;
    void *block;
    int id;
} t_copy;

static t_copy t_copy_open(void)
{
    static t_server heap; /* its resize wants one                            */
    relet_local_config config;
    t_copy c;

    memset(&config, 0, sizeof config);
    config.resize = t_resize;
    config.user = &heap;
    c.block = malloc(relet_local_size());
    c.l = relet_local_init(c.block, relet_local_size(), &config);
    if (c.l == NULL)
        abort();
    c.id = relet_local_connect(c.l);
    relet_local_replay(c.l, c.id, 1);
    return c;
}

static void t_copy_close(t_copy *c)
{
    relet_local_finish(c->l);
    free(c->block);
}

static void t_copy_log(t_copy *c)
{
    const uint8_t *p;
    int broken;
    size_t n = relet_local_effects(t_one.l, &p, &broken);

    relet_local_feed(c->l, c->id, p, n);
    relet_local_effects_taken(t_one.l, n);
}

static void t_copy_dump(t_copy *c)
{
    const uint8_t *p;
    uint64_t at = 0;
    size_t n;
    int broken;

    while ((n = relet_local_dump(t_one.l, &at, &p, &broken)) > 0)
        relet_local_feed(c->l, c->id, p, n);
}

static size_t t_dump(relet_local *l, char *out, size_t cap)
{
    const uint8_t *p;
    uint64_t at = 0;
    size_t n, sum = 0;
    int broken;

    while ((n = relet_local_dump(l, &at, &p, &broken)) > 0 && n < cap - sum) {
        memcpy(out + sum, p, n);
        sum += n;
    }
    return sum;
}

static int t_copy_same(const t_copy *c)
{
    static char a[1 << 16], b[1 << 16];
    size_t n = t_dump(t_one.l, a, sizeof a);

    return t_dump(c->l, b, sizeof b) == n && memcmp(a, b, n) == 0;
}

/* Regression: relet_local_flush did not write the flush to the log. */
TEST a_flush_is_in_the_log(void)
{
    t_open();
    t_does(0, "SET a 1");
    ASSERT(t_logs("SELECT 0\nSET a 1\n"));
    relet_local_flush(t_one.l);
    ASSERT(t_logs("FLUSHALL\n"));
    t_close();
    PASS();
}

/* Regression: a flush did not wake clients blocked in a consumer group that the
 * flush removed. */
TEST a_flush_is_reported_to_blocked_clients(void)
{
    t_open();
    t_does(0, "XGROUP CREATE x g 0 MKSTREAM");
    t_does(1, "XREADGROUP GROUP g c BLOCK 0 STREAMS x >");
    relet_local_flush(t_one.l);
    T_HEARS(1, "-UNBLOCKED the stream key no longer exists\r\n");
    t_close();
    PASS();
}

/* Regression: the server asked for the deadline of another client, though a
 * sleeping server looks at no client. */
TEST a_sleeping_server_asks_for_the_time_when_it_wakes(void)
{
    t_open();
    t_does(1, "BLPOP l 0.005");
    t_does(0, "DEBUG SLEEP 1");
    t_pass(100);
    ASSERT(relet_local_deadline(t_one.l) > t_one.now_us);
    t_pass(2000);
    ASSERT(relet_local_deadline(t_one.l) > t_one.now_us);
    T_HEARS(1, "*-1\r\n");
    t_close();
    PASS();
}

/* Regression: a time of delivery ahead of the clock was refused as an error.
 * The clock of a server that reads its log may not be set yet. */
TEST times_of_delivery_are_restored_with_any_clock(void)
{
    t_copy log, dump;

    t_open();
    t_does(0, "XADD x 1-1 a b");
    t_does(0, "XGROUP CREATE x g 0");
    t_does(0, "XREADGROUP GROUP g c STREAMS x >");
    log = t_copy_open();
    dump = t_copy_open();
    t_copy_log(&log);
    t_copy_dump(&dump);
    ASSERT(t_copy_same(&log));
    ASSERT(t_copy_same(&dump));
    t_copy_close(&log);
    t_copy_close(&dump);
    t_close();
    PASS();
}

/* XCLAIM does not make a missing entry pending. */
TEST deleted_entries_are_still_pending_after_a_dump(void)
{
    t_copy dump;

    t_open();
    t_does(0, "XADD x 1-1 a b");
    t_does(0, "XGROUP CREATE x g 0");
    t_does(0, "XREADGROUP GROUP g c STREAMS x >");
    t_does(0, "XDEL x 1-1");
    dump = t_copy_open();
    t_copy_dump(&dump);
    ASSERT(t_copy_same(&dump));
    t_copy_close(&dump);
    T_SAYS("XCLAIM x g d 0 1-1 FORCE JUSTID", "*0\r\n");
    T_SAYS("XPENDING x g", "*4\r\n:0\r\n$-1\r\n$-1\r\n*-1\r\n");
    t_close();
    PASS();
}

/* Regression: a client that was closed because its input did not fit stayed
 * blocked. */
TEST a_closed_client_is_blocked_no_longer(void)
{
    static char much[100000]; /* all zero                                     */

    t_open();
    t_does(1, "BLPOP l 0");
    t_one.fail_from = t_one.calls + 1;
    t_one.fail_to = t_one.fail_from + 1000;
    relet_local_feed(t_one.l, t_one.ids[1], much, sizeof much);
    t_one.fail_from = t_one.fail_to = 0;
    ASSERT(relet_local_closed(t_one.l, t_one.ids[1]));
    t_does(0, "RPUSH l a");
    T_SAYS("LLEN l", ":1\r\n");
    t_close();
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_flush_is_in_the_log);
    RUN_TEST(a_flush_is_reported_to_blocked_clients);
    RUN_TEST(a_sleeping_server_asks_for_the_time_when_it_wakes);
    RUN_TEST(times_of_delivery_are_restored_with_any_clock);
    RUN_TEST(deleted_entries_are_still_pending_after_a_dump);
    RUN_TEST(a_closed_client_is_blocked_no_longer);
    GREATEST_MAIN_END();
}
