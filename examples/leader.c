/* SPDX-License-Identifier: MIT
 *
 * leader.c - a daemon of which one instance works, while the others stand by.
 *
 *     cc leader.c relet.c -o leader
 *     ./leader redis://localhost report
 *
 * Start it on as many hosts as you like. The instance that leads works, one
 * step each half second. SIGTERM or SIGINT stops it: first the work comes to
 * its end, then the lease is released, and the next instance leads at once. A
 * second signal ends the process, as if there was no handler. If the leader is
 * killed or cut off, the next instance leads after the ttl, which is 3 s, or
 * the third argument. If the server restarts, the instances wait and campaign
 * again. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* sigaction */
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relet.h"

#define STEP_MS 500
#define MARGIN_MS 200 /* no step takes longer, from its check to its end     */

typedef struct leader {
    relet *r;
    int lease;
    int working;     /* 1: work of this term is unfinished                   */
    int stopping;    /* relet_lease_stop was called                          */
    int over;        /* the lease has ended                                  */
    unsigned steps;  /* in this term                                         */
    relet_time next; /* when the next step is due                            */
} leader;

/* A signal ends no relet_wait; relet_wake does. A wake-up is kept until the
 * next wait, so a signal between a look at `asked` and the wait is not lost. */
static volatile sig_atomic_t asked;
static relet *to_wake; /* set before the handler is, so it need not be atomic */

static void on_signal(int signo)
{
    asked = signo;
    relet_wake(to_wake);
}

static void handle(void (*handler)(int))
{
    struct sigaction a;

    memset(&a, 0, sizeof a);
    a.sa_handler = handler;
    a.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&a.sa_mask);
    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGINT, &a, NULL);
}

static void say(const char *what, uint64_t number, relet_span text)
{
    printf("%s %llu %.*s\n", what, (unsigned long long)number, (int)text.n,
           text.p != NULL ? text.p : "");
    fflush(stdout);
}

/* The end of this term's work. The library asked for it by LOST. With
 * RELET_WHY_STOPPED the lease is still held, and renewed until
 * relet_lease_work_done (for grace_ms at most): there is time to bring the work
 * to a good end. With any other reason another instance may lead already, and
 * nothing more may be written. */
static void finish(leader *l, const relet_event *ev)
{
    relet_time left = relet_lease_valid_for(l->r, l->lease, relet_clock());

    if (ev->why == RELET_WHY_STOPPED && left > MARGIN_MS)
        say("saved", l->steps, relet_str("steps"));
    else
        say("dropped", l->steps, relet_str("steps"));
    l->working = 0;
    (void)relet_lease_work_done(l->r, l->lease); /* refused: it has ended */
}

static void on_event(leader *l, const relet_event *ev)
{
    switch ((int)ev->kind) { /* only these matter here */
    case RELET_EV_LEASE_GAINED:
        say("leading", ev->token, relet_str(""));
        l->working = 1;
        l->steps = 0;
        l->next = relet_clock();
        break;
    case RELET_EV_LEASE_LOST:
        say("lost", ev->token, relet_str(relet_why_text(ev->why)));
        finish(l, ev);
        break;
    case RELET_EV_LEASE_ENDED: /* stopped; or attempts_max is in the URL */
        say("ended", ev->term, relet_str(relet_why_text(ev->why)));
        l->over = 1;
        break;
    case RELET_EV_UP: say("up", 0, ev->text); break;
    case RELET_EV_DOWN:
    case RELET_EV_LEASE_TROUBLE: say("trouble", 0, ev->text); break;
    }
}

/* Does one step, if it is due and allowed. Each step checks the lease by the
 * clock and not by the events: after a pause of this process the clock shows
 * that the lease is over before any event is taken. If the lease is too short
 * for a step, the next renewal or LOST will decide. The token goes along to
 * every system that can refuse a lower one. */
static void step(leader *l)
{
    relet_time now = relet_clock();

    if (!l->working || l->stopping || now < l->next)
        return;
    l->next = now + STEP_MS;
    if (relet_lease_valid_for(l->r, l->lease, now) <= MARGIN_MS)
        return;
    say("step", relet_lease_token(l->r, l->lease), relet_str(""));
    l->steps++;
}

static int run(leader *l)
{
    relet_event ev;
    int code;

    while (!l->over) {
        relet_time left = l->next - relet_clock();
        int sleep_ms = !l->working ? -1 : left > 0 ? (int)left : 0;

        code = relet_wait(l->r, &ev, sleep_ms);
        if (code < 0)
            return fprintf(stderr, "%s\n", relet_code_text(code)), 2;
        if (code == 1)
            on_event(l, &ev);
        if (asked && !l->stopping)
            l->stopping = relet_lease_stop(l->r, l->lease) == 0;
        step(l);
    }
    return asked ? 0 : 1;
}

int main(int argc, char **argv)
{
    relet_lease_config c = {0};
    relet_fault fault;
    leader l = {0};
    int code;

    if (argc < 3)
        return fprintf(stderr, "usage: leader URL NAME [TTL_MS]\n"), 2;
    l.r = relet_open(argv[1], NULL, NULL, &fault);
    if (l.r == NULL)
        return fprintf(stderr, "%s\n", fault.text), 2;
    to_wake = l.r;
    handle(on_signal);
    c.name = relet_str(argv[2]);
    c.ttl_ms = argc > 3 ? atoi(argv[3]) : 3000;
    l.lease = relet_lease_start(l.r, &c);
    if (l.lease < 0) {
        fprintf(stderr, "%s: %s\n", relet_code_text(l.lease),
                relet_refusal(l.r));
        code = 2;
    } else {
        code = run(&l);
    }
    handle(SIG_DFL); /* relet_wake must not be called once closing begins */
    relet_close(l.r);
    return code;
}
