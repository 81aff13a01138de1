/* SPDX-License-Identifier: MIT
 *
 * demo_view.c - the output of relet demo: a picture that is drawn over itself
 * on a terminal, lines in a pipe, and the account at the end. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "demo.h"

#define DEMO_VIEW_PICTURE_MS 100
#define DEMO_VIEW_LINE_MS 500
#define DEMO_VIEW_BAR 40

void demo_view_begin(demo *d)
{
    const char *term = getenv("TERM");
    int terminal = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
    int colour = terminal && !getenv("NO_COLOR");

    d->live = terminal;
    d->bold = colour ? "\033[1m" : "";
    d->dim = colour ? "\033[2m" : "";
    d->red = colour ? "\033[31m" : "";
    d->plain = colour ? "\033[0m" : "";
}

/* Erases the picture. */
static void demo_view_clear(demo *d)
{
    if (d->lines > 0)
        printf("\033[%dA\033[J", d->lines);
    d->lines = 0;
}

void demo_view_tell(demo *d, const char *format, ...)
{
    va_list ap;

    demo_view_clear(d);
    printf("%s%5.2f s%s  ", d->dim, (double)(d->now - d->began) / 1000,
           d->plain);
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    putchar('\n');
    d->shown_at = 0;
}

static unsigned demo_view_hands(const demo_actor *a)
{
    unsigned i, n = 0;

    for (i = 0; i < DEMO_ROOM; i++)
        n += a->hand[i].number != 0;
    return n;
}

static void demo_view_actor(demo *d, const demo_actor *a)
{
    printf("  %-3s ", a->name);
    if (a->state == DEMO_KILLED)
        printf("%skilled%s", d->red, d->plain);
    else if (a->state == DEMO_PAUSED)
        printf("%spaused%s", d->red, d->plain);
    else if (a->role == DEMO_PRODUCER)
        printf("%u put", a->put);
    else if (a->role == DEMO_WORKER)
        printf("%.*s%.*s %u done", (int)demo_view_hands(a), "########",
               (int)(DEMO_ROOM - demo_view_hands(a)), "........", a->done);
    else if (a == d->leader)
        printf("%sleads%s", d->bold, d->plain);
    else
        printf("follows");
    putchar('\n');
    d->lines++;
}

static void demo_view_bar(demo *d, const char *what, int64_t n)
{
    int64_t width = n * DEMO_VIEW_BAR / (DEMO_JOBS / 4);

    width = width > DEMO_VIEW_BAR ? DEMO_VIEW_BAR : width;
    printf("  %-8s %5" PRId64 " %.*s\n", what, n, (int)width,
           "========================================");
    d->lines++;
}

static void demo_view_picture(demo *d)
{
    size_t i;

    demo_view_clear(d);
    demo_view_bar(d, "waiting", d->counts.waiting);
    demo_view_bar(d, "leased", d->counts.leased);
    printf("  %-8s %5" PRId64 " of %u put\n", "done", d->counts.done, d->put);
    d->lines++;
    for (i = 0; i < DEMO_ACTORS; i++)
        demo_view_actor(d, &d->actor[i]);
}

static void demo_view_line(demo *d)
{
    demo_view_tell(d,
                   "%u put, %" PRId64 " waiting, %" PRId64 " leased, %" PRId64
                   " done; %s leads",
                   d->put, d->counts.waiting, d->counts.leased, d->counts.done,
                   d->leader ? d->leader->name : "nobody");
    d->shown_at = d->now;
}

void demo_view_show(demo *d, int last)
{
    relet_time every = d->live ? DEMO_VIEW_PICTURE_MS : DEMO_VIEW_LINE_MS;

    if (!last && d->now - d->shown_at < every)
        return;
    if (d->live)
        demo_view_picture(d);
    else
        demo_view_line(d);
    d->shown_at = d->now;
    d->unread = cli_flushed() != 0;
}

/* ----------------------------------------------------------------- account */

static unsigned demo_view_effects(const demo *d)
{
    unsigned i, n = 0;

    for (i = 1; i <= DEMO_JOBS; i++)
        n += d->task[i].effects;
    return n;
}

static unsigned demo_view_repeats(const demo *d)
{
    unsigned i, n = 0;

    for (i = 1; i <= DEMO_JOBS; i++)
        n += d->task[i].repeats;
    return n;
}

static void demo_view_claim(demo *d, int holds, const char *what)
{
    if (holds)
        return;
    d->wrong = 1;
    printf("  %snot so: %s%s\n", d->red, what, d->plain);
}

static void demo_view_loss(demo *d, const demo_loss *l, const char *what)
{
    printf("  %s was %s with %u jobs in hand; %u were relet, %" PRId64
           " to %" PRId64 " ms later\n", l->who->name, what, l->jobs, l->relet,
           l->first_ms, l->last_ms);
    demo_view_claim(d, l->jobs > 0, "it had jobs");
    demo_view_claim(d, l->relet > 0, "some were relet");
}

void demo_view_account(demo *d)
{
    const demo_counts *n = &d->counts;

    demo_view_clear(d);
    printf("\n%sThe account%s\n", d->bold, d->plain);
    printf("  %u put = %" PRId64 " done; %" PRId64 " wait, %" PRId64
           " are leased, %" PRId64 " are dead\n", d->put, n->done, n->waiting,
           n->leased, n->dead);
    demo_view_claim(d,
                    d->put == DEMO_JOBS && n->done == (int64_t)d->put &&
                        n->waiting + n->leased + n->dead == 0,
                    "all that was put is done");
    printf("  %u effects, one for each job; %u found that theirs had been "
           "made before\n",
           demo_view_effects(d), demo_view_repeats(d));
    demo_view_claim(d, demo_view_effects(d) == d->put,
                    "no effect twice, none missing");
    demo_view_loss(d, &d->loss[0], "killed");
    demo_view_loss(d, &d->loss[1], "paused");
    printf("  it came back, and knew by its own clock that %u were not its "
           "own any more\n", d->loss[1].who->lost);
    demo_view_claim(d, d->loss[1].who->lost > 0, "it was told of its losses");
    printf("  the leader was killed; the next one led %" PRId64
           " ms later; %u terms, never two at a time\n", d->led_again_ms,
           d->terms);
    demo_view_claim(d, d->led_again_ms > 0, "another one led");
    demo_view_claim(d, d->stolen == 0, "never two leaders, and tokens grow");
    puts(d->wrong ? "\nSomething was not as stated; see above."
                  : "\nAll of it was counted by the server or at the resource, "
                    "and checked. Go on with:\nrelet put, relet work, relet "
                    "lead; relet help says more.");
}
