/* SPDX-License-Identifier: MIT
 *
 * loop.c - two clients in one poll loop that is the program's own.
 *
 *     cc loop.c relet.c -o loop
 *     ./loop redis://localhost/0 redis://localhost/1
 *
 * A loop for a client has to watch the client's current descriptors, to sleep
 * only until the client's deadline, and to call relet_wait without waiting
 * after each sleep. */
#include <poll.h>
#include <stdio.h>

#include "relet.h"

#define CLIENTS 2

static relet *client[CLIENTS];
static int waiting; /* number of outcomes that have not come yet */

/* Prints all events of one client. */
static void tell(int i)
{
    relet_event ev;

    while (relet_wait(client[i], &ev, 0) == 1) {
        int reply = ev.kind == RELET_EV_REPLY;
        relet_span text = reply ? relet_value_text(ev.value) : ev.text;

        printf("%d %s: %.*s\n", i, relet_kind_text(ev.kind), (int)text.n,
               text.p);
        if (ev.kind >= RELET_EV_REPLY && ev.kind <= RELET_EV_UNSURE)
            waiting--;
    }
}

/* Sleeps until one of the clients has something to do. */
static void doze(void)
{
    struct pollfd p[CLIENTS * RELET_WATCH_MAX];
    relet_watch w[RELET_WATCH_MAX];
    int i, k, ms, count = 0, timeout = -1;

    for (i = 0; i < CLIENTS; i++) {
        k = relet_watches(client[i], w, RELET_WATCH_MAX);
        while (k-- > 0) {
            p[count].fd = w[k].fd;
            p[count++].events = w[k].events;
        }
        ms = relet_poll_timeout(client[i]);
        if (ms >= 0 && (timeout < 0 || ms < timeout))
            timeout = ms;
    }
    poll(p, (nfds_t)count, timeout);
}

int main(int argc, char **argv)
{
    relet_fault fault;
    int i;

    for (i = 0; i < CLIENTS; i++) {
        client[i] = relet_open(argc > i + 1 ? argv[i + 1] : NULL, NULL, NULL,
                               &fault);
        if (client[i] == NULL) {
            fprintf(stderr, "%s\n", fault.text);
            return 2;
        }
        relet_command_text(client[i], NULL, "ECHO", "hello", (char *)NULL);
        waiting++;
    }
    while (waiting > 0) {
        doze();
        for (i = 0; i < CLIENTS; i++)
            tell(i);
    }
    for (i = 0; i < CLIENTS; i++)
        relet_close(client[i]);
    return 0;
}
