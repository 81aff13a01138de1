/* SPDX-License-Identifier: MIT
 *
 * listen.c - relet listen: prints messages as they come, and a notice of each
 * gap in which messages may have been missed. */
#include <string.h>

#include "cli.h"

typedef struct listener {
    cli *c;
    show_form form;
    long seen;
    int code;
    int ended;
} listener;

static int listen_wish(cli *c, relet_channel kind, const char *name)
{
    int refused = relet_subscribe(c->r, kind, relet_str(name));

    return refused ? cli_trouble(c, refused) : 0;
}

static int listen_wishes(cli *c)
{
    size_t p;
    int i, code = 0;

    for (i = 0; !code && i < c->argc; i++)
        code = listen_wish(c, c->sharded ? RELET_SHARDED : RELET_CHANNEL,
                           c->argv[i]);
    for (p = 0; !code && p < c->pattern_count; p++)
        code = listen_wish(c, RELET_PATTERN, c->patterns[p]);
    return code;
}

static void listen_json_message(const relet_event *ev)
{
    fputs("{\"channel\":", stdout);
    show_json(stdout, ev->channel);
    if (ev->channel_kind == RELET_PATTERN) {
        fputs(",\"pattern\":", stdout);
        show_json(stdout, ev->pattern);
    }
    fputs(",\"message\":", stdout);
    show_json(stdout, relet_value_text(ev->value));
    puts("}");
}

static void listen_message(listener *l, const relet_event *ev)
{
    relet_span text = relet_value_text(ev->value);

    l->seen++;
    switch (l->form) {
    case SHOW_JSON:
        listen_json_message(ev);
        return;
    case SHOW_PRETTY:
        show_quoted(stdout, ev->channel);
        putchar(' ');
        show_quoted(stdout, text);
        putchar('\n');
        return;
    case SHOW_RAW:
        fwrite(ev->channel.p, 1, ev->channel.n, stdout);
        putchar('\t');
        if (text.n)
            fwrite(text.p, 1, text.n, stdout);
        putchar('\n');
        return;
    }
}

/* With --json a gap is printed on standard output, too: a program that reads
 * JSON has to learn of it there. */
static void listen_gap(const listener *l, const relet_event *ev)
{
    if (l->form == SHOW_JSON) {
        fputs("{\"gap\":", stdout);
        if (ev->channel.n)
            show_json(stdout, ev->channel);
        else
            fputs("null", stdout);
        puts("}");
    }
    if (ev->channel.n)
        cli_say("gap: messages of %.*s may have been missed",
                cli_text(ev->channel));
    else
        cli_say("gap: messages may have been missed");
}

static void listen_end(listener *l, int code)
{
    l->code = code;
    l->ended = 1;
}

static void listen_notice(const listener *l, const char *what,
                          relet_span text)
{
    if (!l->c->quiet)
        cli_say("%s %.*s", what, cli_text(text));
}

static void listen_event(listener *l, const relet_event *ev)
{
    if (ev->kind == RELET_EV_MESSAGE) {
        listen_message(l, ev);
    } else if (ev->kind == RELET_EV_GAP) {
        if (ev->why == RELET_WHY_NONE) /* else it repeats the DOWN before it */
            listen_gap(l, ev);
    } else if (ev->kind == RELET_EV_UP) {
        listen_notice(l, "up:", ev->text);
    } else if (ev->kind == RELET_EV_SUBSCRIBED) {
        listen_notice(l, "listening to", ev->channel);
    } else if (ev->kind == RELET_EV_DOWN && ev->retry_in_ms != RELET_NEVER) {
        listen_notice(l, "down:", ev->text);
    } else if (ev->kind == RELET_EV_DOWN) {
        cli_say("%.*s", cli_text(ev->text));
        listen_end(l, CLI_NOT_SENT);
    } else if (ev->kind == RELET_EV_SUBSCRIPTION_REFUSED) {
        cli_say("%.*s", cli_text(ev->text));
        listen_end(l, CLI_ERROR);
    }
}

static int listen_loop(listener *l)
{
    relet_event ev;
    int got;

    while (!l->ended && !cli_interrupted()) {
        got = relet_next(l->c->r, &ev);
        if (!got) {
            cli_flush(); /* readers see messages now, not a buffer later */
            got = relet_wait(l->c->r, &ev, -1);
        }
        if (got < 0)
            return cli_trouble(l->c, got);
        if (got == 1)
            listen_event(l, &ev);
        if (l->c->count && l->seen >= l->c->count)
            break;
    }
    return l->code;
}

static int listen_run(cli *c)
{
    listener l;
    int code;

    memset(&l, 0, sizeof l);
    l.c = c;
    l.form = show_form_of(c);
    if (c->sharded && c->pattern_count) {
        cli_say("--sharded does not go with --pattern");
        return CLI_USAGE;
    }
    if (!c->argc && !c->pattern_count) {
        cli_say("listen to which channel? See relet listen --help");
        return CLI_USAGE;
    }
    code = cli_configure(c);
    if (code)
        return code;
    c->config.subscriptions_max = (uint32_t)c->argc +
                                  (uint32_t)c->pattern_count + 16;
    code = cli_connect(c, 0);
    if (!code)
        code = listen_wishes(c);
    if (code)
        return code;
    cli_interruptible(c);
    return listen_loop(&l);
}

static const cli_option listen_options[] = {
    {'p', "pattern", "PATTERN", CLI_LIST, 0, 0, 0,
     "also channels that match this; may be repeated"},
    {'s', "sharded", NULL, CLI_FLAG, offsetof(cli, sharded), 0, 0,
     "the channels are sharded, as for SPUBLISH"},
    {'n', "count", "N", CLI_NUMBER, offsetof(cli, count), 1, 2000000000,
     "end after N messages"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command listen_command = {
    "listen", "print the messages of channels as they come",
    "listen [OPTION]... [CHANNEL]...",
    "Subscribes and prints each message as a line: channel, tab, message. If\n"
    "the link breaks, relet opens it again, as often as it takes. Notices on\n"
    "standard error tell of that, and of gaps in which messages may have been\n"
    "missed. SIGINT and SIGTERM end relet with exit code 0.",
    listen_options, 0, listen_run,
};
