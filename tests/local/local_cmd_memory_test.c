/* SPDX-License-Identifier: MIT
 *
 * local_cmd_memory_test.c - a command is refused and changes nothing if the
 * memory that it may need cannot be allocated.
 */
#include "local_cmd.h"

#define T_OOM "-OOM command not allowed when used memory > 'maxmemory'.\r\n"

static char t_long[3][60000];

/* Values so large that each command needs new allocations. */
static const char *const t_commands[] = {
    "HSET h a 1 b 2",
    "HINCRBYFLOAT h c 0.5",
    "HSET h x " /* and t_long[0] */,
    "RPUSH l a b c",
    "LPUSH l " /* and t_long[1] */,
    "LMOVE l m LEFT RIGHT",
    "LINSERT m before q x",
    "SADD s 1 2 a b",
    "SADD t 2 a c",
    "SUNIONSTORE u s t",
    "SUNION s t",
    "ZADD z 1 a 2 b 3 c",
    "ZADD z 4 " /* and t_long[2] */,
    "ZUNIONSTORE y 2 z s",
    "ZRANGESTORE w z 0 -1",
    "ZUNION 2 y z",
    "XADD x 1-1 a 1",
    "XADD x 2-1 a 1",
    "XGROUP CREATE x g 0",
    "XREADGROUP GROUP g c COUNT 1 STREAMS x >",
    "XCLAIM x g d 0 2-1 FORCE",
    "XAUTOCLAIM x g e 0 0 COUNT 1",
};

#define T_COMMANDS ((int)(sizeof t_commands / sizeof *t_commands))

static const char *const t_reads[] = {
    "HGETALL h",     "LRANGE l 0 -1",       "LRANGE m 0 -1",
    "SMEMBERS s",    "SMEMBERS t",          "SMEMBERS u",
    "ZRANGE z 0 -1", "ZRANGE y 0 -1",       "ZRANGE w 0 -1",
    "XRANGE x - +",  "XPENDING x g - + 10",
};

#define T_READS ((int)(sizeof t_reads / sizeof *t_reads))

static void t_command(char *out, int i)
{
    static const int longs[3] = {2, 4, 12};
    int k;

    strcpy(out, t_commands[i]);
    for (k = 0; k < 3; k++)
        if (i == longs[k])
            strcat(out, t_long[k]);
}

/* Copies the bytes that were sent to the client, at most cap bytes. */
static size_t t_take(char *out, size_t cap)
{
    const uint8_t *p;
    size_t n = relet_local_output(t_one.l, t_one.ids[0], &p);

    memcpy(out, p, n < cap ? n : cap);
    relet_local_sent(t_one.l, t_one.ids[0], n);
    return n;
}

/* Writes the whole data set as replies; returns their number of bytes. */
static size_t t_data(char *out, size_t cap)
{
    size_t n = 0;
    int i;

    for (i = 0; i < T_READS; i++) {
        t_send(0, t_reads[i]);
        n += t_take(out + n, cap - n);
    }
    return n;
}

typedef enum t_end { T_WRONG, T_REFUSED, T_DONE, T_CLOSED } t_end;

/* Runs command i while the allocator fails from its k-th call on. */
static t_end t_short_of_memory(int i, long k, int *failed)
{
    static char before[1 << 20], after[1 << 20], reply[1 << 16];
    static char command[1 << 17];
    size_t had = t_data(before, sizeof before), n;

    t_command(command, i);
    t_one.fail_from = t_one.calls + k;
    t_one.fail_to = t_one.fail_from + 1000000;
    t_send(0, command);
    *failed = t_one.calls >= t_one.fail_from;
    t_one.fail_from = t_one.fail_to = 0;
    if (relet_local_closed(t_one.l, t_one.ids[0]))
        return T_CLOSED;
    n = t_take(reply, sizeof reply);
    if (n != strlen(T_OOM) || memcmp(reply, T_OOM, n) != 0)
        return T_DONE;
    n = t_data(after, sizeof after);
    return n == had && memcmp(before, after, n) == 0 ? T_REFUSED : T_WRONG;
}

/* The client was closed, since its command or its reply did not fit: a new
 * client takes its place. */
static void t_next_client(void)
{
    relet_local_hangup(t_one.l, t_one.ids[0]);
    t_one.ids[0] = relet_local_connect(t_one.l);
}

TEST a_refused_command_has_changed_nothing(void)
{
    int i, failed, refused = 0;
    t_end end;
    long k;

    for (i = 0; i < 3; i++)
        memset(t_long[i], 'a' + i, sizeof t_long[i] - 1);
    t_open();
    for (i = 0; i < T_COMMANDS; i++) {
        for (k = 1, failed = 1; failed; k++) {
            end = t_short_of_memory(i, k, &failed);
            ASSERT(end != T_WRONG);
            refused += end == T_REFUSED;
            if (end == T_CLOSED)
                t_next_client();
        }
    }
    ASSERT(refused > 0);
    t_close();
    PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
    GREATEST_MAIN_BEGIN();
    RUN_TEST(a_refused_command_has_changed_nothing);
    GREATEST_MAIN_END();
}
