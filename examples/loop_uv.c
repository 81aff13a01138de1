/* SPDX-License-Identifier: MIT
 *
 * loop_uv.c - a client in a libuv loop.
 *
 *     cc loop_uv.c relet.c -luv -o loop_uv
 *     ./loop_uv redis://localhost 20
 *
 * Sends 20 ECHOs, one every 100 ms, and prints their outcomes. The
 * server may be restarted meanwhile. One uv_poll_t serves for as long as the
 * client is open, since relet_fd stays the same. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for libuv's header */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include "relet.h"

static relet *r;
static uv_poll_t ready;    /* the client has something to do                 */
static uv_timer_t due;     /* the client's deadline has come                 */
static uv_prepare_t sleep_next;
static uv_timer_t ticker;  /* the program's own work                         */
static int to_send, left;

static void over(void)
{
    uv_close((uv_handle_t *)&ready, NULL);
    uv_close((uv_handle_t *)&due, NULL);
    uv_close((uv_handle_t *)&sleep_next, NULL);
    uv_close((uv_handle_t *)&ticker, NULL);
}

/* Prints all events of the client. */
static void tell(void)
{
    relet_event ev;

    while (relet_wait(r, &ev, 0) == 1) {
        int reply = ev.kind == RELET_EV_REPLY;
        relet_span text = reply ? relet_value_text(ev.value) : ev.text;

        printf("%s: %.*s\n", relet_kind_text(ev.kind), (int)text.n, text.p);
        if (ev.kind >= RELET_EV_REPLY && ev.kind <= RELET_EV_UNSURE)
            left--;
    }
    fflush(stdout);
    if (left == 0 && !uv_is_closing((uv_handle_t *)&ready))
        over();
}

static void on_ready(uv_poll_t *handle, int status, int events)
{
    (void)handle;
    (void)status;
    (void)events;
    tell();
}

static void on_due(uv_timer_t *handle)
{
    (void)handle;
    tell();
}

/* Before each sleep of the loop: bring relet_fd up to date, set the alarm. */
static void on_sleep(uv_prepare_t *handle)
{
    int ms = relet_poll_timeout(r);

    (void)handle;
    (void)relet_fd(r);
    uv_timer_stop(&due);
    if (ms >= 0)
        uv_timer_start(&due, on_due, (uint64_t)ms, 0);
}

static void on_tick(uv_timer_t *handle)
{
    (void)handle;
    if (to_send == 0)
        return;
    relet_command_text(r, NULL, "ECHO", "hello", (char *)NULL);
    to_send--;
}

int main(int argc, char **argv)
{
    uv_loop_t *loop = uv_default_loop();
    relet_fault fault;

    r = relet_open(argc > 1 ? argv[1] : NULL, NULL, NULL, &fault);
    if (r == NULL)
        return fprintf(stderr, "%s\n", fault.text), 2;
    left = to_send = argc > 2 ? atoi(argv[2]) : 20;
    if (uv_poll_init(loop, &ready, relet_fd(r)) != 0)
        return fprintf(stderr, "no descriptor\n"), 2;
    uv_poll_start(&ready, UV_READABLE, on_ready);
    uv_timer_init(loop, &due);
    uv_prepare_init(loop, &sleep_next);
    uv_prepare_start(&sleep_next, on_sleep);
    uv_timer_init(loop, &ticker);
    uv_timer_start(&ticker, on_tick, 0, 100);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_loop_close(loop);
    relet_close(r); /* no longer watched */
    return 0;
}
