/* SPDX-License-Identifier: MIT
 *
 * lock.c - one short piece of work under a lock that other hosts respect.
 *
 *     cc lock.c relet.c -o lock
 *     ./lock redis://localhost sums 5000 sum.txt 10
 *
 * Adds 10 to the number in sum.txt, in steps of 1, each by reading and writing
 * the file: two processes that do this at the same time would lose steps. Waits
 * at most 5000 ms for the lock. The exit code is 0 if the work was done, 1 if
 * the lock was not free in time, 2 for a wrong setting or a file that cannot be
 * written, 3 if the lock was lost before the work was done. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relet.h"

#define TTL_MS 2000
#define STEP_MS 20    /* the pause between two steps                         */
#define MARGIN_MS 200 /* no step takes longer, from its check to its end     */

enum { DONE, NOT_IN_TIME, WRONG, LOST };

static int wrong(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return WRONG;
}

/* Returns 1 and sets *token once the lock is held; returns 0 if it is not free
 * within wait_ms of the start, or the server is away for so long. */
static int acquire(relet *r, uint64_t *token)
{
    relet_event ev;

    while (relet_wait(r, &ev, -1) == 1) {
        if (ev.kind == RELET_EV_LEASE_GAINED) {
            *token = ev.token;
            return 1;
        }
        if (ev.kind == RELET_EV_LEASE_ENDED)
            return 0;
        if (ev.kind == RELET_EV_DOWN || ev.kind == RELET_EV_LEASE_TROUBLE)
            fprintf(stderr, "%.*s\n", (int)ev.text.n, ev.text.p);
    }
    return 0;
}

/* Release at once, which wakes the next one in line. Without a link for the
 * release ENDED comes when the lease has run out, so this takes TTL_MS at most.
 * A refusal means that ENDED was taken already: the lock was lost. */
static void release(relet *r, int lease)
{
    relet_event ev;

    if (relet_lease_work_done(r, lease) != 0)
        return;
    while (relet_wait(r, &ev, -1) == 1 && ev.kind != RELET_EV_LEASE_ENDED)
        continue;
}

/* The pause between two steps, in which the library renews the lease. Events
 * need no look: that the lock was lost shows in relet_lease_valid_for, also
 * when this process was stopped and has not taken any event yet. */
static int may_go_on(relet *r, int lease, int pause_ms)
{
    relet_time now = relet_clock(), until = now + pause_ms;
    relet_event ev;

    do {
        if (relet_wait(r, &ev, (int)(until - now)) < 0)
            return 0;
        now = relet_clock();
    } while (now < until);
    return relet_lease_valid_for(r, lease, now) > MARGIN_MS;
}

/* Adds one to the number in the file. The file also has the highest token that
 * it has seen. A process that was stopped after may_go_on may go on when
 * another process holds the lock; it then finds a higher token, and writes
 * nothing. There is still a gap between this check and the write; a store that
 * compares and writes in one step, as a database does, has no gap. */
static int add_one(const char *path, uint64_t token)
{
    unsigned long long sum = 0, seen = 0;
    FILE *f = fopen(path, "r");

    if (f != NULL) {
        int fields = fscanf(f, "%llu %llu", &sum, &seen);

        fclose(f);
        if (fields != 2)
            return wrong(path, "is no file of this program");
    } else if (errno != ENOENT) {
        return wrong(path, strerror(errno));
    }
    if (seen > token)
        return LOST;
    f = fopen(path, "w");
    if (f == NULL)
        return wrong(path, strerror(errno));
    fprintf(f, "%llu %llu\n", sum + 1, (unsigned long long)token);
    return fclose(f) == 0 ? DONE : wrong(path, strerror(errno));
}

static int work(relet *r, int lease, uint64_t token, const char *path, int n)
{
    int i, code = DONE;

    printf("begin %llu\n", (unsigned long long)token);
    fflush(stdout);
    for (i = 0; i < n && code == DONE; i++)
        code = may_go_on(r, lease, i > 0 ? STEP_MS : 0) ? add_one(path, token)
                                                        : LOST;
    printf("%s %llu\n", code == DONE ? "end" : "cut",
           (unsigned long long)token);
    fflush(stdout);
    return code;
}

int main(int argc, char **argv)
{
    relet_lease_config c = {0};
    relet_fault fault;
    uint64_t token = 0;
    int lease, code = NOT_IN_TIME;
    relet *r;

    if (argc != 6)
        return wrong("usage", "lock URL NAME WAIT_MS FILE STEPS");
    c.name = relet_str(argv[2]);
    c.once = 1; /* a lock: when it is lost, it is not asked for again */
    c.ttl_ms = TTL_MS;
    c.wait_ms = atoi(argv[3]); /* connecting included; 0 is: for ever */
    r = relet_open(argv[1], NULL, NULL, &fault);
    if (r == NULL)
        return wrong("relet_open", fault.text);
    lease = relet_lease_start(r, &c);
    if (lease < 0) {
        code = wrong(relet_code_text(lease), relet_refusal(r));
    } else if (acquire(r, &token)) {
        code = work(r, lease, token, argv[4], atoi(argv[5]));
        release(r, lease);
    }
    relet_close(r);
    return code;
}
