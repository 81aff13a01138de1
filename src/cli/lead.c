/* SPDX-License-Identifier: MIT
 *
 * lead.c - relet lead, relet lock: run a command only while a lease is held.
 *
 *                         lease               command
 *   GAINED                held                is started
 *   not renewed for long  still valid         SIGTERM, and SIGKILL before the
 *                                             lease ends
 *   LOST                  may be another's    SIGKILL
 *   the command ends      is released         relet ends, or campaigns again
 *
 * A campaign ends with the event ENDED. The next one begins after that event,
 * and after the command of the last one has ended. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"

enum {
    LEAD_NOT_ACQUIRED = 120, /* lock: not gained within --wait              */
    LEAD_LOST = 121          /* lock: lost, and the command was killed      */
};

#define LEAD_PAUSE_MS 100 /* the first pause between campaigns                */
#define LEAD_PAUSE_MOST_MS 10000

typedef struct leader {
    cli *c;
    int lock;
    const char *name; /* the operand NAME, or the whole key of --key        */
    char **command;
    char label[CLI_LABEL];
    relet_time ttl, grace, margin;
    relet_time bye_ms;  /* how long a release may take                      */

    int lease;          /* -1: no campaign                                  */
    uint64_t term, token;
    child child;
    int waits;          /* the command waits for the terminal               */
    int told;           /* SIGTERM was sent, as the lease is not renewed    */
    int lost;           /* the lease was lost while the command ran         */
    int troubled;       /* a refusal of the lease was printed               */
    relet_time began_at; /* when the command began                           */
    relet_time pause_most; /* --backoff                                      */
    relet_time pause_ms; /* the last pause between two campaigns             */
    relet_time campaign_at; /* the next campaign begins no sooner            */
    int over;           /* no further campaign                              */
    int code;           /* the exit code, once `over` is set                */
    relet_time leave_at; /* relet ends then, lease released or not          */
} leader;

/* ------------------------------------------------------------------ telling
 *
 * Standard output is the command's, so all notices go to standard error. */

static void lead_document(const leader *l, const char *event,
                          relet_span detail, int code)
{
    fprintf(stderr, "{\"event\":\"%s\",\"name\":", event);
    show_json(stderr, relet_str(l->name));
    fprintf(stderr, ",\"token\":%" PRIu64 ",\"term\":%" PRIu64, l->token,
            l->term);
    if (code >= 0)
        fprintf(stderr, ",\"code\":%d", code);
    if (detail.n) {
        fputs(",\"text\":", stderr);
        show_json(stderr, detail);
    }
    fputs("}\n", stderr);
}

/* --quiet does not silence a notice of something wrong. */
static void lead_note(const leader *l, const char *event, relet_span detail,
                      int wrong)
{
    if (l->c->quiet && !wrong)
        return;
    if (l->c->json)
        lead_document(l, event, detail, -1);
    else
        cli_say("%s: %s%s%.*s", l->name, event, detail.n ? ": " : "",
                cli_text(detail));
}

static void lead_note_gained(const leader *l)
{
    if (l->c->quiet)
        return;
    if (l->c->json)
        lead_document(l, "gained", relet_str(""), -1);
    else
        cli_say("%s: gained: token %" PRIu64, l->name, l->token);
}

static void lead_note_lost(const leader *l, relet_span why)
{
    if (l->c->json)
        lead_document(l, "lost", why, -1);
    else
        cli_say("%s: lost: %.*s; the command is killed", l->name,
                cli_text(why));
}

static void lead_note_ended(const leader *l, int code)
{
    if (l->c->quiet)
        return;
    if (l->c->json)
        lead_document(l, "command ended", relet_str(""), code);
    else
        cli_say("%s: the command ended with %d", l->name, code);
}

/* --------------------------------------------------------------- campaigns */

static int lead_campaign(leader *l)
{
    relet_lease_config config;

    memset(&config, 0, sizeof config);
    if (l->c->key)
        config.key = relet_str(l->name);
    else
        config.name = relet_str(l->name);
    config.label = relet_str(l->label);
    config.ttl_ms = l->ttl;
    config.once = l->lock;
    if (l->lock && l->c->wait_ms > 0)
        config.wait_ms = l->c->wait_ms;
    l->lost = l->told = l->troubled = 0;
    l->token = 0;
    l->lease = relet_lease_start(l->c->r, &config);
    return l->lease >= 0 ? 0 : cli_unstarted(l->c, l->lease);
}

/* Pauses after a command that ended by itself soon after it began: 100 ms,
 * twice that, and so on up to --backoff. A command that ran for at least
 * --backoff clears the pause. */
static void lead_pause(leader *l)
{
    relet_time now = relet_clock();
    char text[64];

    l->pause_ms = now - l->began_at >= l->pause_most ? 0
                  : l->pause_ms == 0                 ? LEAD_PAUSE_MS
                                                     : 2 * l->pause_ms;
    if (l->pause_ms > l->pause_most)
        l->pause_ms = l->pause_most;
    l->campaign_at = now + l->pause_ms;
    if (l->pause_ms == 0)
        return;
    snprintf(text, sizeof text, "%" PRId64 " ms until the next campaign",
             l->pause_ms);
    lead_note(l, "pause", relet_str(text), 0);
}

/* No command runs: leaves this campaign, and releases the lease if held. */
static void lead_leave(leader *l)
{
    if (l->lease < 0)
        return;
    (void)relet_lease_stop(l->c->r, l->lease);
    (void)relet_lease_work_done(l->c->r, l->lease);
}

/* No further campaign; this one ends when the lease is released. */
static void lead_finish(leader *l, int code)
{
    l->over = 1;
    l->code = code;
    l->leave_at = relet_clock() + l->bye_ms;
    lead_leave(l);
}

static int lead_done(const leader *l)
{
    if (!l->over || l->child.pid)
        return 0;
    return l->lease < 0 || relet_clock() >= l->leave_at;
}

/* ----------------------------------------------------------------- command */

static relet_time lead_until(const leader *l, relet_time now)
{
    return now + relet_lease_valid_for(l->c->r, l->lease, now) - l->margin;
}

static void lead_begin(leader *l, const relet_event *ev)
{
    l->token = ev->token;
    l->term++;
    l->began_at = relet_clock();
    lead_note_gained(l);
    setenv("RELET_LEASE_NAME", l->name, 1);
    child_setenv("RELET_LEASE_TOKEN", l->token);
    child_setenv("RELET_LEASE_TERM", l->term);
    if (!child_start(&l->child, l->command, NULL,
                     lead_until(l, relet_clock())))
        return;
    cli_say("cannot start a process: %s", strerror(errno));
    lead_finish(l, CHILD_UNABLE);
}

/* 1 when the command ended because of the lease: killed by us, or by the guard
 * while this process could not do anything. */
static int lead_was_killed(const leader *l, int code)
{
    return l->lost || l->told ||
           (code == CHILD_SIGNAL + SIGKILL &&
            relet_lease_valid_for(l->c->r, l->lease, relet_clock()) <=
                l->margin);
}

/* 1 when Ctrl-C ended the command: the terminal, which is lent to the command's
 * group, signals that group alone. */
static int lead_was_interrupted(const leader *l, int code)
{
    return l->child.terminal && (code == CHILD_SIGNAL + SIGINT ||
                                 code == CHILD_SIGNAL + SIGQUIT);
}

static void lead_ended(leader *l, int code)
{
    int killed = lead_was_killed(l, code);

    lead_note_ended(l, code);
    l->over |= lead_was_interrupted(l, code);
    if (l->over || !killed) {
        if (l->over || l->lock || !l->c->again)
            lead_finish(l, code);
        else
            lead_pause(l);
    } else if (l->lock) {
        lead_finish(l, LEAD_LOST);
    }
    lead_leave(l);
}

/* A command that was told to end gets no more time than it had then, even if
 * the lease is renewed after all. */
static void lead_watch(leader *l)
{
    relet_time now = relet_clock(), until;

    if (!l->child.pid)
        return;
    until = l->lost || l->lease < 0 ? now : lead_until(l, now);
    if (l->told && until > l->child.kill_at)
        until = l->child.kill_at;
    child_kill_at(&l->child, until);
    if (l->child.waits && !l->waits)
        lead_note(l, "the command waits for the terminal", relet_str(""), 1);
    l->waits = l->child.waits;
    if (l->told || now < until - l->grace)
        return;
    l->told = 1;
    lead_note_lost(l, relet_str("not renewed for long"));
    child_tell(&l->child, SIGTERM);
}

/* ------------------------------------------------------------------ events */

static void lead_event_lost(leader *l, const relet_event *ev)
{
    if (ev->why == RELET_WHY_STOPPED)
        return;
    if (l->child.pid && !l->lost) {
        l->lost = 1;
        if (!l->told)
            lead_note_lost(l, ev->text);
    }
    /* The next campaign begins when the command is gone. */
    if (l->child.pid)
        (void)relet_lease_stop(l->c->r, l->lease);
    else
        lead_leave(l);
}

static void lead_not_acquired(leader *l)
{
    lead_note(l, "not acquired",
              relet_str(l->troubled ? "" : "another owner holds it"), 0);
    lead_finish(l, LEAD_NOT_ACQUIRED);
}

static void lead_event_ended(leader *l, const relet_event *ev)
{
    int up = relet_is_up(l->c->r);

    l->lease = -1;
    if (l->over)
        return;
    if (ev->why == RELET_WHY_TIMEOUT && up) {
        lead_not_acquired(l);
    } else if (ev->why == RELET_WHY_TIMEOUT || ev->why == RELET_WHY_GAVE_UP) {
        cli_say("%s: no connection", l->name);
        lead_finish(l, CLI_NOT_SENT);
    }
}

/* lock --wait 0: the outcome of the PING. The request for the lease, which was
 * sent before it, has been answered by now. */
static void lead_event_probed(leader *l, const relet_event *ev)
{
    if (l->token || relet_lease_valid_for(l->c->r, l->lease, relet_clock()))
        return;
    if (ev->kind == RELET_EV_NOT_SENT || ev->kind == RELET_EV_UNSURE) {
        cli_say("%s: %.*s", l->name, cli_text(ev->text));
        lead_finish(l, CLI_NOT_SENT);
        return;
    }
    lead_not_acquired(l);
}

static void lead_event_trouble(leader *l, const relet_event *ev)
{
    l->troubled = 1;
    lead_note(l, relet_why_text(ev->why), ev->text, 1);
}

static void lead_event(leader *l, const relet_event *ev)
{
    if (ev->kind == RELET_EV_LEASE_GAINED && !l->over)
        lead_begin(l, ev);
    else if (ev->kind == RELET_EV_LEASE_LOST)
        lead_event_lost(l, ev);
    else if (ev->kind == RELET_EV_LEASE_ENDED)
        lead_event_ended(l, ev);
    else if (ev->kind == RELET_EV_LEASE_TROUBLE)
        lead_event_trouble(l, ev);
    else if (ev->kind == RELET_EV_SUBSCRIPTION_REFUSED)
        lead_note(l, "no wake-ups", ev->text, 1);
    else if (ev->kind == RELET_EV_UP || ev->kind == RELET_EV_DOWN)
        lead_note(l, relet_kind_text(ev->kind), ev->text,
                  ev->why == RELET_WHY_AUTH);
    else if (ev->kind >= RELET_EV_REPLY && ev->kind <= RELET_EV_UNSURE)
        lead_event_probed(l, ev);
}

static void lead_signal(leader *l, int signo)
{
    if (l->child.pid) {
        l->over = 1; /* the command's exit code becomes ours */
        child_tell(&l->child, signo);
    } else if (l->over) {
        l->leave_at = 0; /* a second signal: do not wait */
    } else {
        lead_finish(l, CHILD_SIGNAL + signo);
    }
}

/* -------------------------------------------------------------------- loop */

/* Milliseconds until something is due that no event tells of; -1: nothing. */
static int lead_timeout(const leader *l)
{
    relet_time now = relet_clock(), at = RELET_NEVER, left;

    if (l->child.pid && l->child.kill_at <= now)
        return 100; /* the command is dying; SIGCHLD will wake us */
    if (l->child.pid && l->child.waits)
        return 100; /* until the terminal is ours to lend */
    if (l->child.pid)
        at = l->child.kill_at - (l->told ? 0 : l->grace);
    else if (l->over)
        at = l->leave_at;
    else if (l->lease < 0)
        at = l->campaign_at;
    if (at == RELET_NEVER)
        return -1;
    left = at - now;
    return left < 0 ? 0 : left < 1000000000 ? (int)left : 1000000000;
}

/* Asks for the lease once: relet_wait sends the request, and a PING that is
 * sent behind it is answered behind it. */
static int lead_probe(leader *l)
{
    relet_request q = cli_request(l->c);
    relet_event ev;
    int code = relet_wait(l->c->r, &ev, 0);

    if (code == 1)
        lead_event(l, &ev);
    if (code >= 0)
        code = relet_command_text(l->c->r, &q, "PING", (char *)NULL);
    return code ? cli_trouble(l->c, code) : 0;
}

static int lead_turn(leader *l)
{
    relet_event ev;
    int signo = child_signal_take(), code, got;

    if (signo)
        lead_signal(l, signo);
    if (child_ended(&l->child, &code))
        lead_ended(l, code);
    lead_watch(l);
    if (!l->over && l->lease < 0 && !l->child.pid &&
        relet_clock() >= l->campaign_at) {
        code = lead_campaign(l);
        if (code)
            return code;
    }
    if (lead_done(l))
        return 0;
    got = relet_wait(l->c->r, &ev, lead_timeout(l));
    if (got == 1)
        lead_event(l, &ev);
    return got < 0 ? cli_trouble(l->c, got) : 0;
}

static int lead_loop(leader *l)
{
    int code = lead_campaign(l);

    if (!code && l->lock && l->c->wait_ms == 0)
        code = lead_probe(l);
    while (!code && !lead_done(l))
        code = lead_turn(l);
    if (lead_done(l) && l->lease >= 0 && l->token)
        cli_say("%s: not released; the lease will end by itself", l->name);
    child_signals(NULL);
    if (l->child.pid) { /* the loop that watched it is over */
        int ignored;

        child_tell(&l->child, SIGKILL);
        while (!child_ended(&l->child, &ignored))
            ;
    }
    return code ? code : l->code;
}

/* ----------------------------------------------------------------- options */

/* SIGKILL comes `margin` before the lease ends: a process may be slow to die,
 * and another owner may have the lease as soon as it ends. */
static int lead_times(leader *l)
{
    l->ttl = l->c->ttl_ms ? l->c->ttl_ms : 10000;
    l->grace = l->c->grace_ms < 0 ? l->ttl / 4 : l->c->grace_ms;
    l->margin = l->ttl / 20 < 1000 ? l->ttl / 20 : 1000;
    l->bye_ms = l->c->config.timeout_ms;
    l->pause_most = l->c->pause_ms < 0 ? LEAD_PAUSE_MOST_MS : l->c->pause_ms;
    if (l->grace <= l->ttl / 2)
        return 0;
    cli_say("--grace is at most half of --ttl, which is %ld", (long)l->ttl);
    return CLI_USAGE;
}

/* NAME -- COMMAND, or with --key only -- COMMAND. NULL, or what is wrong. */
static const char *lead_misuse(const cli *c)
{
    int names = c->key ? 0 : 1, given = c->dashes ? c->before : c->argc;

    if (given < names)
        return "which name?";
    if (c->argc == given && given == names)
        return "which command?";
    if (!c->dashes)
        return "-- stands in front of the command.";
    if (given > names)
        return c->key ? "there is no name beside --key."
                      : "there is one name in front of --.";
    if (!*(c->key ? c->key : c->argv[0]))
        return "a name has at least one byte.";
    return c->argc == given ? "which command?" : NULL;
}

static int lead_words(leader *l, const char *command)
{
    cli *c = l->c;
    const char *misuse = lead_misuse(c);

    if (misuse) {
        cli_say("%s: %s See relet %s --help", command, misuse, command);
        return CLI_USAGE;
    }
    l->name = c->key ? c->key : c->argv[0];
    l->command = c->argv + c->before;
    c->argv[c->argc] = NULL; /* there is room for one more */
    return cli_label(c, l->label);
}

static int lead_run_as(cli *c, const char *command, int lock)
{
    leader l;
    int code;

    memset(&l, 0, sizeof l);
    l.c = c;
    l.lock = lock;
    l.lease = -1;
    code = lead_words(&l, command);
    if (!code)
        code = cli_configure(c);
    if (!code)
        code = lead_times(&l);
    if (!code)
        code = lock && c->wait_ms == 0 ? cli_connect(c, 0) : cli_open(c);
    if (code)
        return code;
    child_signals(c->r);
    return lead_loop(&l);
}

static int lead_run(cli *c)
{
    return lead_run_as(c, "lead", 0);
}

static int lock_run(cli *c)
{
    return lead_run_as(c, "lock", 1);
}

#define LEAD_COMMON_OPTIONS                                                   \
    {0, "key", "KEY", CLI_TEXT, offsetof(cli, key), 0, 0,                     \
     "this key, instead of one made from NAME"},                              \
    {0, "ttl", "MS", CLI_NUMBER, offsetof(cli, ttl_ms), 200, 1000000000,      \
     "how long it lasts without a renewal; default 10000"},                   \
    {0, "grace", "MS", CLI_NUMBER, offsetof(cli, grace_ms), 0, 500000000,     \
     "from SIGTERM to SIGKILL; default a quarter of --ttl"},                  \
    {0, "owner", "TEXT", CLI_TEXT, offsetof(cli, owner), 0, 0,                \
     "start of the holder's name; default host and pid"}

static const cli_option lead_options[] = {
    LEAD_COMMON_OPTIONS,
    {0, "again", NULL, CLI_FLAG, offsetof(cli, again), 0, 0,
     "campaign again when the command has ended"},
    {0, "backoff", "MS", CLI_NUMBER, offsetof(cli, pause_ms), 0, 1000000000,
     "longest pause after a short command; default 10000"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

static const cli_option lock_options[] = {
    LEAD_COMMON_OPTIONS,
    {0, "wait", "MS", CLI_NUMBER, offsetof(cli, wait_ms), 0, 1000000000,
     "longest wait for the lock; 0: try once; default none"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

#define LEAD_ABOUT                                                            \
    "The environment of the command has RELET_LEASE_NAME, _TOKEN and _TERM.\n" \
    "If the lease cannot be renewed, the command and its process group get\n" \
    "SIGTERM, and SIGKILL before the lease ends. When the command ends, the\n" \
    "lease is released at once. SIGTERM, SIGINT, SIGHUP and SIGQUIT are\n"    \
    "passed on to the command. Notices go to standard error.\n\n"             \
    "Exit codes besides those below: that of the command, and\n"
#define LEAD_CODES                                                            \
    "  126  the command could not be executed\n"                              \
    "  127  the command was not found\n"                                      \
    "  128 + N  signal N ended the command, or relet before it began"

const cli_command lead_command = {
    "lead", "run a command while this process leads",
    "lead [OPTION]... NAME -- COMMAND [ARGUMENT]...",
    "Campaigns for the lease NAME, for as long as it takes, and runs the\n"
    "command while the lease is held. If the lease is lost, relet kills the\n"
    "command and campaigns again. If the command ends by itself, relet ends\n"
    "with its exit code.\n\n" LEAD_ABOUT LEAD_CODES,
    lead_options, 0, lead_run,
};

const cli_command lock_command = {
    "lock", "run a command while holding a lock",
    "lock [OPTION]... NAME -- COMMAND [ARGUMENT]...",
    "Waits for the lock, runs the command once, releases the lock.\n\n"
    LEAD_ABOUT
    "  120  the lock was not free in time\n"
    "  121  the lock was lost, and the command killed\n" LEAD_CODES,
    lock_options, 0, lock_run,
};
