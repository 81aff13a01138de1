/* SPDX-License-Identifier: MIT
 *
 * ping.c - relet ping: whether the server answers, and how long a round trip
 * takes. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct pinger {
    cli *c;
    double *trips_us; /* of the pings that were answered                    */
    size_t answered;
    long sent;
    int refused; /* the server answered PING with an error                  */
} pinger;

static void ping_answered(pinger *p, double us)
{
    p->trips_us[p->answered++] = us;
    if (!p->c->json)
        printf("answer %lu: %.3f ms\n", (unsigned long)p->answered,
               us / 1000.0);
}

/* 1 when ev is the outcome of the ping that was sent at sent_at. */
static int ping_event(pinger *p, const relet_event *ev, double sent_at)
{
    if (ev->kind == RELET_EV_REPLY) {
        ping_answered(p, cli_now_us() - sent_at);
    } else if (ev->kind == RELET_EV_ERROR) {
        p->refused = 1;
        cli_say("%.*s", cli_text(ev->text));
    } else if (ev->kind == RELET_EV_NOT_SENT || ev->kind == RELET_EV_UNSURE) {
        cli_say("ping %ld: %.*s", p->sent, cli_text(ev->text));
    } else {
        if (!p->c->quiet &&
            (ev->kind == RELET_EV_UP || ev->kind == RELET_EV_DOWN))
            cli_say("%s: %.*s", relet_kind_text(ev->kind),
                    cli_text(ev->text));
        return 0;
    }
    return 1;
}

/* Takes events until `until`, or until the outcome of the ping that was sent at
 * sent_at; 0: no ping is under way. */
static int ping_until(pinger *p, double until, double sent_at)
{
    relet_event ev;

    while (!cli_interrupted()) {
        double left_ms = (until - cli_now_us()) / 1000.0;
        int got;

        if (left_ms <= 0)
            return 0;
        got = relet_wait(p->c->r, &ev, left_ms < 1e9 ? (int)left_ms + 1 : -1);
        if (got < 0)
            return cli_trouble(p->c, got);
        if (got == 1 && ping_event(p, &ev, sent_at) && sent_at > 0)
            return 0;
    }
    return 0;
}

static int ping_once(pinger *p)
{
    double sent_at = cli_now_us();
    relet_request q = cli_request(p->c);
    int code = relet_command_text(p->c->r, &q, "PING", (char *)NULL);

    if (code)
        return cli_trouble(p->c, code);
    p->sent++;
    code = ping_until(p, sent_at + 1e18, sent_at);
    if (cli_interrupted() && relet_outstanding(p->c->r) > 0)
        p->sent--; /* a signal ended the wait */
    return code;
}

static void ping_summary(pinger *p)
{
    double min, median, p99, max;
    char where[1100];

    cli_sort(p->trips_us, p->answered);
    min = cli_rank(p->trips_us, p->answered, 0) / 1000.0;
    median = cli_rank(p->trips_us, p->answered, 0.5) / 1000.0;
    p99 = cli_rank(p->trips_us, p->answered, 0.99) / 1000.0;
    max = cli_rank(p->trips_us, p->answered, 1) / 1000.0;
    if (p->c->json) {
        fputs("{\"server\":", stdout);
        show_json(stdout, relet_str(p->c->server));
        printf(",\"sent\":%ld,\"answered\":%lu,\"min_ms\":%.3f,"
               "\"median_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f}\n",
               p->sent, (unsigned long)p->answered, min, median, p99, max);
        return;
    }
    printf("%s at %s: %lu of %ld answered; min %.3f, median %.3f, p99 %.3f, "
           "max %.3f ms\n",
           p->c->server, cli_where(p->c, where, sizeof where),
           (unsigned long)p->answered, p->sent, min, median, p99, max);
}

static int ping_all(pinger *p)
{
    long i;

    for (i = 0; i < p->c->count && !cli_interrupted(); i++) {
        double began = cli_now_us();

        if (ping_once(p))
            break;
        cli_flush();
        if (i + 1 < p->c->count &&
            ping_until(p, began + 1000.0 * (double)p->c->interval_ms, 0))
            break;
    }
    ping_summary(p);
    if ((long)p->answered == p->sent && p->sent > 0)
        return CLI_OK;
    return p->refused ? CLI_ERROR : CLI_UNSURE;
}

static int ping_run(cli *c)
{
    pinger p;
    int code;

    if (c->argc) {
        cli_say("ping takes no '%s'; the server is told by --url",
                c->argv[0]);
        return CLI_USAGE;
    }
    memset(&p, 0, sizeof p);
    p.c = c;
    if (!c->count)
        c->count = 1;
    if (c->interval_ms < 0)
        c->interval_ms = 1000;
    code = cli_configure(c);
    if (code)
        return code;
    if (c->wait_ms > 0 && c->config.retry_max_ms > 250)
        c->config.retry_min_ms = c->config.retry_max_ms = 250;
    code = cli_connect(c, c->wait_ms);
    if (code)
        return code;
    p.trips_us = (double *)cli_grow(NULL, (size_t)c->count * sizeof(double));
    cli_interruptible(c);
    code = ping_all(&p);
    free(p.trips_us);
    return code;
}

static const cli_option ping_options[] = {
    {'c', "count", "N", CLI_NUMBER, offsetof(cli, count), 1, 1000000,
     "number of pings; default 1"},
    {'i', "interval", "MS", CLI_NUMBER, offsetof(cli, interval_ms), 0,
     86400000, "time from one ping to the next; default 1000"},
    {0, "wait", "MS", CLI_NUMBER, offsetof(cli, wait_ms), 1, 86400000,
     "longest wait for the server; default one attempt"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command ping_command = {
    "ping", "measure round trips, or wait for a server",
    "ping [OPTION]...",
    "Connects, sends PING one at a time and prints the round trips. Exit code\n"
    "0 means that all of them were answered.",
    ping_options, 0, ping_run,
};
