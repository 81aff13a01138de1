/* SPDX-License-Identifier: MIT
 *
 * main.c - the frame of the relet command: finds the command, takes the
 * options, prints the help. What a command does is in the file of its name. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const cli_command help_command;

static const cli_command *const main_commands[] = {
    &call_command, &listen_command, &lead_command,
    &lock_command, &leases_command, &put_command, &work_command,
    &jobs_command, &job_command, &dead_command, &cancel_command,
    &retry_command, &purge_command, &pause_command, &resume_command,
    &limit_command, &stats_command, &reap_command, &fsck_command,
    &ping_command, &bench_command, &demo_command, &help_command,
};
#define MAIN_COMMANDS (sizeof main_commands / sizeof *main_commands)

static const cli_option main_options[] = {
    {'u', "url", "URL", CLI_TEXT, offsetof(cli, url), 0, 0,
     "the server, instead of that of the environment"},
    {0, "timeout", "MS", CLI_NUMBER, offsetof(cli, timeout_ms), 0, INT_MAX,
     "limit for connecting and answers; 0: none for answers"},
    {0, "json", NULL, CLI_FLAG, offsetof(cli, json), 0, 0,
     "one JSON document per result"},
    {'q', "quiet", NULL, CLI_FLAG, offsetof(cli, quiet), 0, 0,
     "no notices on standard error, only errors"},
    {'h', "help", NULL, CLI_FLAG, offsetof(cli, help), 0, 0,
     "print this and exit"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

static const cli_option main_version_option[] = {
    {'V', "version", NULL, CLI_FLAG, offsetof(cli, version), 0, 0,
     "print the version and exit"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

static cli main_cli;

/* ------------------------------------------------------- for all the files */

void cli_say(const char *format, ...)
{
    char line[1024], *p;
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (p = line; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
    fflush(stdout); /* keeps stdout and stderr in order */
    if (!main_cli.json) {
        fprintf(stderr, "relet: %s\n", line);
        return;
    }
    fputs("{\"message\":", stderr);
    show_json(stderr, relet_str(line));
    fputs("}\n", stderr);
}

void *cli_grow(void *p, size_t size)
{
    void *grown = realloc(p, size);

    if (!grown) {
        cli_say("out of memory");
        exit(CLI_NOT_SENT);
    }
    return grown;
}

int cli_flushed(void)
{
    return !fflush(stdout) && !ferror(stdout) ? 0 : CLI_OUTPUT;
}

/* errno does not tell why: the write that failed may have been long ago. */
void cli_flush(void)
{
    struct pollfd out;

    if (!cli_flushed())
        return;
    memset(&out, 0, sizeof out);
    out.fd = STDOUT_FILENO;
    if (poll(&out, 1, 0) != 1 || !(out.revents & POLLERR))
        cli_say("standard output cannot be written");
    _Exit(CLI_OUTPUT);
}

/* -------------------------------------------------------------------- help */

static void help_option(const cli_option *o)
{
    char left[40];

    snprintf(left, sizeof left, "%c%c%c --%s%s%s", o->letter ? '-' : ' ',
             o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->word,
             o->value ? " " : "", o->value ? o->value : "");
    printf("  %-22s %s\n", left, o->help);
}

static void help_options(const char *title, const cli_option *o)
{
    printf("\n%s\n", title);
    for (; o->word; o++)
        help_option(o);
}

static void help_exit_codes(void)
{
    fputs("\nExit codes:\n"
          "  0  done\n"
          "  1  the server answered an error\n"
          "  2  wrong use or configuration; nothing was sent\n"
          "  3  no connection, or not sent: it had no effect\n"
          "  4  unsure: sent, but no answer came; it may have run\n"
          "  5  standard output was closed or is full\n",
          stdout);
}

static void help_all(void)
{
    size_t i;

    puts("relet talks to Redis and Valkey.\n\n"
         "usage: relet [OPTION]... COMMAND [ARGUMENT]...\n\nCommands:");
    for (i = 0; i < MAIN_COMMANDS; i++)
        printf("  %-8s %s\n", main_commands[i]->name,
               main_commands[i]->summary);
    help_options("Options, before or after the command:", main_options);
    help_option(main_version_option);
    puts("\nWithout --url the server is that of RELET_REDIS_URL or REDIS_URL"
         " (or _HOST,\n_PORT, ...: see the manual), else localhost:6379.");
    help_exit_codes();
    puts("\n'relet COMMAND --help' tells more about a command.");
}

static void help_one(const cli_command *command)
{
    printf("usage: relet %s\n\n%s\n", command->usage, command->about);
    if (command->options->word)
        help_options("Options:", command->options);
    help_options("Common options:", main_options);
    help_exit_codes();
}

/* -------------------------------------------------------- unknown commands */

static size_t main_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must change to make one word of the other (Levenshtein);
 * 32 for words that are longer than any command's name. */
static size_t main_distance(const char *a, const char *b)
{
    size_t row[32], i, j;

    if (strlen(a) >= 32 || strlen(b) >= 32)
        return 32;
    for (j = 0; j <= strlen(b); j++)
        row[j] = j;
    for (i = 1; i <= strlen(a); i++) {
        size_t corner = row[0];

        row[0] = i;
        for (j = 1; j <= strlen(b); j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);

            corner = row[j];
            row[j] = main_min(best, main_min(corner, row[j - 1]) + 1);
        }
    }
    return row[strlen(b)];
}

static const cli_command *main_find(const char *name)
{
    size_t i;

    for (i = 0; i < MAIN_COMMANDS; i++)
        if (!strcmp(main_commands[i]->name, name))
            return main_commands[i];
    return NULL;
}

static int main_unknown(const char *name)
{
    const char *near = NULL;
    size_t best = 3, i;

    for (i = 0; i < MAIN_COMMANDS; i++) {
        size_t d = main_distance(name, main_commands[i]->name);

        if (d < best && d < strlen(name)) {
            best = d;
            near = main_commands[i]->name;
        }
    }
    if (near)
        cli_say("there is no command '%s'; did you mean '%s'? "
                "See relet --help", name, near);
    else
        cli_say("there is no command '%s'; see relet --help", name);
    return CLI_USAGE;
}

/* ----------------------------------------------------------------- options */

typedef struct main_parser {
    cli *c;
    const cli_command *command; /* NULL: none seen yet */
    char **argv;
    int argc, at;
} main_parser;

static const cli_option *main_option_in(const cli_option *o, char letter,
                                        const char *word, size_t n)
{
    for (; o->word; o++)
        if (letter ? o->letter == letter
                   : strlen(o->word) == n && !memcmp(o->word, word, n))
            return o;
    return NULL;
}

/* Finds an option by letter, or when letter is 0 by the first n bytes of word.
 */
static const cli_option *main_option(const main_parser *p, char letter,
                                     const char *word, size_t n)
{
    const cli_option *o = NULL;

    if (p->command)
        o = main_option_in(p->command->options, letter, word, n);
    if (!o)
        o = main_option_in(main_options, letter, word, n);
    if (!o && !p->command)
        o = main_option_in(main_version_option, letter, word, n);
    return o;
}

static int main_take_number(cli *c, const cli_option *o, const char *text)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(text, &end, 10); /* which also takes blanks and a + */
    if (errno || end == text || *end || n < o->min || n > o->max ||
        strspn(text, "-0123456789") != strlen(text)) {
        cli_say("--%s takes a number from %ld to %ld, not '%s'", o->word,
                o->min, o->max, text);
        return CLI_USAGE;
    }
    memcpy((char *)c + o->at, &n, sizeof n);
    return 0;
}

static int main_set_flag(cli *c, const cli_option *o)
{
    int yes = 1;

    memcpy((char *)c + o->at, &yes, sizeof yes);
    return 0;
}

static int main_take(cli *c, const cli_option *o, const char *text)
{
    switch (o->kind) {
    case CLI_FLAG:
        return main_set_flag(c, o);
    case CLI_NUMBER:
        return main_take_number(c, o, text);
    case CLI_TEXT:
        memcpy((char *)c + o->at, &text, sizeof text);
        return 0;
    case CLI_LIST:
        c->patterns = (const char **)cli_grow(
            (void *)c->patterns, (c->pattern_count + 1) * sizeof text);
        c->patterns[c->pattern_count++] = text;
        return 0;
    }
    return 0;
}

/* The value behind an option: glued to it, or the next argument. */
static int main_take_value(main_parser *p, const cli_option *o,
                           const char *glued)
{
    if (!glued && p->at == p->argc) {
        cli_say("--%s wants a value: %s", o->word, o->value);
        return CLI_USAGE;
    }
    return main_take(p->c, o, glued ? glued : p->argv[p->at++]);
}

static int main_unknown_option(const main_parser *p, const char *option)
{
    const char *name = p->command ? p->command->name : "";

    cli_say("there is no option '%s'; see relet %s%s--help", option, name,
            *name ? " " : "");
    return CLI_USAGE;
}

static int main_long_option(main_parser *p, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t n = equals ? (size_t)(equals - word) : strlen(word);
    const cli_option *o = main_option(p, 0, word, n);

    if (!o)
        return main_unknown_option(p, word - 2);
    if (o->value)
        return main_take_value(p, o, equals ? equals + 1 : NULL);
    if (equals) {
        cli_say("--%s takes no value", o->word);
        return CLI_USAGE;
    }
    return main_set_flag(p->c, o);
}

/* -q, -n5, -qn5 */
static int main_short_options(main_parser *p, const char *letters)
{
    for (; *letters; letters++) {
        const cli_option *o = main_option(p, *letters, NULL, 0);
        char name[3] = "-?";

        name[1] = *letters;
        if (!o)
            return main_unknown_option(p, name);
        if (o->value)
            return main_take_value(p, o, letters[1] ? letters + 1 : NULL);
        (void)main_set_flag(p->c, o);
    }
    return 0;
}

/* The first operand is the command; the others are kept for it. */
static int main_operand(main_parser *p, char *word)
{
    if (p->command) {
        p->c->argv[p->c->argc++] = word;
        return 0;
    }
    p->command = main_find(word);
    return p->command ? 0 : main_unknown(word);
}

static int main_parse(main_parser *p)
{
    int options = 1, failed = 0;

    while (!failed && p->at < p->argc) {
        char *word = p->argv[p->at++];

        if (options && !strcmp(word, "--")) {
            options = 0;
            p->c->dashes = p->command != NULL;
            p->c->before = p->c->argc;
        } else if (options && !strncmp(word, "--", 2)) {
            failed = main_long_option(p, word + 2);
        } else if (options && word[0] == '-' && word[1]) {
            failed = main_short_options(p, word + 1);
        } else {
            failed = main_operand(p, word);
            if (p->command && p->command->verbatim && p->c->argc)
                options = 0;
        }
    }
    return failed;
}

/* A standard descriptor that was closed before the start must not become our
 * socket: output would be sent to the server. It is opened in the wrong
 * direction, so that using it fails. */
static void main_occupy_descriptors(void)
{
    int fd;

    for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static int main_run(const main_parser *p)
{
    if (p->c->version) {
        printf("relet %s\n", relet_version());
        return CLI_OK;
    }
    if (p->c->help && p->command) {
        help_one(p->command);
        return CLI_OK;
    }
    if (p->c->help) {
        help_all();
        return CLI_OK;
    }
    if (!p->command) {
        cli_say("which command? See relet --help");
        return CLI_USAGE;
    }
    p->c->command = p->command->name;
    return p->command->run(p->c);
}

static int help_run(cli *c)
{
    const cli_command *command;

    if (c->argc == 0) {
        help_all();
        return CLI_OK;
    }
    if (c->argc > 1) {
        cli_say("help takes one command, not '%s', too", c->argv[1]);
        return CLI_USAGE;
    }
    command = main_find(c->argv[0]);
    if (!command)
        return main_unknown(c->argv[0]);
    help_one(command);
    return CLI_OK;
}

static const cli_option help_no_options[] = {
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

static const cli_command help_command = {
    "help", "explain a command", "help [COMMAND]",
    "Tells what a command does and which options it takes.",
    help_no_options, 0, help_run,
};

int main(int argc, char **argv)
{
    cli *c = &main_cli;
    main_parser p;
    int code;

    main_occupy_descriptors();
    /* Writing to a closed pipe then returns an error instead of a signal. */
    signal(SIGPIPE, SIG_IGN);
    memset(&p, 0, sizeof p);
    c->timeout_ms = c->interval_ms = c->size = c->wait_ms = c->grace_ms = -1;
    c->done_max = c->dead_max = c->pause_ms = -1;
    c->argv = (char **)cli_grow(NULL, ((size_t)argc + 1) * sizeof *argv);
    p.c = c;
    p.argv = argv;
    p.argc = argc;
    p.at = 1;
    code = main_parse(&p);
    if (!code)
        code = main_run(&p);
    cli_close(c);
    free(c->argv);
    free((void *)c->patterns);
    cli_flush();
    return code;
}
