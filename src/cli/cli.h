/* SPDX-License-Identifier: MIT
 *
 * cli.h - shared by the files of the relet command: the parsed command line,
 * the tables of commands and options, the exit codes.
 *
 * The command includes only the public headers. So a program that vendors the
 * library can do all that the command does. */
#ifndef RELET_CLI_H
#define RELET_CLI_H

#include <stddef.h>
#include <stdio.h>

#include "relet.h"

/* Exit codes. A larger code is a worse outcome: a run with several outcomes
 * ends with the largest of their codes. The manual and --help repeat this
 * list. */
enum {
    CLI_OK = 0,
    CLI_ERROR = 1,    /* the server answered an error                       */
    CLI_USAGE = 2,    /* wrong use or configuration: nothing was sent       */
    CLI_NOT_SENT = 3, /* no connection, or the command was not sent         */
    CLI_UNSURE = 4,   /* sent, but no answer came: it may have run          */
    CLI_OUTPUT = 5    /* standard output is closed or full                  */
};

/* The parsed command line. Most fields hold the option of the same name; the
 * comment beside a field names the commands that have it. */
typedef struct cli {
    const char *url;
    int json;
    int quiet;
    long timeout_ms; /* -1: not given                                       */
    int help;
    int version;

    int stdin_last; /* call: the last argument comes from standard input    */
    long repeat;
    const char **patterns; /* listen */
    size_t pattern_count;
    long count; /* listen, ping, bench, work, jobs, dead, retry, purge, put */
    long interval_ms;
    long wait_ms; /* ping, lock, put; -1: not given                         */
    long depth;
    long size;
    long keys;
    int sharded; /* listen                                                  */
    const char *key; /* lead, lock                                          */
    const char *owner;
    long ttl_ms;
    long grace_ms;
    int again;
    long pause_ms; /* lead; -1: not given                                   */
    int all; /* leases, retry, purge */
    int lines; /* put, as are the fields down to backoff_ms                 */
    const char *id;
    const char *batch;
    const char *unique;
    long window_ms;
    const char *type;
    long rank;
    long delay_ms;
    long attempts;
    long run_ms;
    long keep_ms;
    long deadline_ms;
    long backoff_ms;
    long width; /* work                                                     */
    int drain;
    long snooze_ms;
    long result_max;
    long stalls;
    const char *place; /* jobs, purge                                       */
    int payload;       /* job                                               */
    int result;
    int force;
    int in; /* pause, resume                                                */
    int out;
    int prom;
    int once;
    long replays;
    long done_max; /* reap; -1: not given                                   */
    long dead_max;
    long dead_ms;
    int alone;
    long lead_ttl_ms; /* reap: of the lease that elects one of several      */
    long renew_ms;
    long retry_ms;
    int repair; /* fsck                                                     */

    const char *command; /* name of the command                             */
    const char *queue;   /* printed in front of cli_refused's text; or NULL */
    int argc; /* operands: the arguments left once options are taken        */
    int dashes; /* there was a -- behind the command's name                 */
    int before; /* how many of the operands came before --                  */
    char **argv;

    relet_config config;
    relet *r;
    char server[96]; /* what RELET_EV_UP said: "redis 7.0.15"                 */
} cli;

typedef enum cli_kind { CLI_FLAG, CLI_NUMBER, CLI_TEXT, CLI_LIST } cli_kind;

/* An option writes to the field of cli at the offset `at`. letter 0: it has no
 * short form. A table of options ends with an entry whose word is NULL. */
typedef struct cli_option {
    char letter;
    const char *word;
    const char *value; /* the value's name in the help; NULL for a flag     */
    cli_kind kind;
    size_t at;
    long min, max;
    const char *help;
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *summary;
    const char *usage;
    const char *about;
    const cli_option *options;
    int verbatim; /* arguments behind the first operand are no options      */
    int (*run)(cli *c);
} cli_command;

extern const cli_command call_command, listen_command, ping_command,
    bench_command, demo_command, lead_command, lock_command, leases_command,
    put_command, work_command, jobs_command, job_command, dead_command,
    cancel_command, retry_command, purge_command, pause_command,
    resume_command, limit_command, stats_command, reap_command, fsck_command;

/* main.c: one line on stderr, "relet: …", or with --json a document with the
 * member message. Control bytes are shown as '?'. */
#ifdef __GNUC__
__attribute__((format(printf, 1, 2)))
#endif
void cli_say(const char *format, ...);

/* As realloc, but ends the program when there is no memory. */
void *cli_grow(void *p, size_t size);

/* Flush standard output. A failed write ends the program with CLI_OUTPUT:
 * silently for a closed pipe, since a reader may stop reading at any time. */
void cli_flush(void);

/* As cli_flush, for a command that has to clean up first: 0, or CLI_OUTPUT and
 * then the command ends as soon as it can; cli_flush prints why. */
int cli_flushed(void);

/* connect.c: fill c->config from -u or the environment. 0 or an exit code. */
int cli_configure(cli *c);

/* A request that --timeout applies to. */
relet_request cli_request(const cli *c);

/* A span as the two arguments of "%.*s", cut off after 900 bytes. */
#define cli_text(s) ((int)((s).n < 900 ? (s).n : 900)), ((s).p ? (s).p : "")

/* Print the text of a library code on stderr. Returns an exit code. */
int cli_trouble(const cli *c, int code);

/* Print a rule of the library on stderr, with the options that set the fields
 * of its structs in place of the fields' names. */
void cli_say_rule(const cli *c, const char *rule);

/* Print why a lease or a worker could not be started. Returns an exit code. */
int cli_unstarted(const cli *c, int code);

/* Open c->r, which connects during relet_wait. 0 or an exit code. */
int cli_open(cli *c);

/* Wait until c->r is up, at most wait_ms when that is positive,
 * else until the first attempt failed. 0 or an exit code. */
int cli_wait_up(cli *c, long wait_ms);

/* cli_open and cli_wait_up. Also reports what was cut off a torn file: store.
 */
int cli_connect(cli *c, long wait_ms);
void cli_close(cli *c);

/* From now on SIGINT, SIGTERM, and SIGHUP unless it is ignored, do not end the
 * program at once, but wake c->r. A second signal of a kind ends it. */
void cli_interruptible(cli *c);

/* The number of the signal that came, or 0. */
int cli_interrupted(void);

/* A command that a signal ended exits with 128 + its number, as in a shell. */
#define CLI_SIGNAL 128

/* Print an outcome other than a reply on stderr. Returns an exit code. */
int cli_refused(const cli *c, const relet_event *ev);

/* Wait for the outcome of the only open operation; code is what submitting it
 * returned. 0 and *ev: a reply. Else an exit code, and the reason was printed,
 * unless a signal ended the wait. */
int cli_answer(cli *c, int code, relet_event *ev);

/* queue.c: check that the first operand is a queue and that at least `more`
 * job numbers follow, then connect. `of` names them in messages; NULL: no
 * operand may follow. 0 or an exit code. */
int cli_queue(cli *c, const char *command, int more, const char *of);

/* 1 and *out when text is a decimal number above 0, else 0. */
int cli_number(const char *text, uint64_t *out);

/* Look for the queues under the configured prefix, sorted by name. 0 or an exit
 * code; *names ends with NULL in either case, and the caller frees each name
 * and then the table. */
int cli_queues(cli *c, char ***names);

/* Print a name as it is, or quoted when it has control bytes, such as a newline
 * that would end the line. */
void show_name(FILE *out, const char *name);
size_t show_utf8(const char *s); /* first character's bytes; 0: not UTF-8 */

/* The names of places by relet_place, NULL behind the last. cli_place returns
 * the place of a name such as "waiting"; -1: there is none, as was printed. */
extern const char *const cli_places[];
int cli_place(const char *name);

/* The label of an owner: HOST.PID or --owner, so that an operator can find the
 * process that holds a lease or a job. 0 or an exit code. */
#define CLI_LABEL 64
int cli_label(const cli *c, char label[CLI_LABEL]);

/* Write the address in c->config to buf, for people. Returns buf. */
const char *cli_where(const cli *c, char *buf, size_t size);

/* Microseconds of a steady clock. */
double cli_now_us(void);

/* cli_sort sorts samples. cli_rank returns the value that this share of the n
 * sorted samples does not exceed. */
void cli_sort(double *samples, size_t n);
double cli_rank(const double *sorted, size_t n, double share);

/* split.c: a line into arguments, in place. The words point into line.
 * Returns 0, or the 1-based column of the mistake and *why. Grows *words. */
typedef struct cli_words {
    relet_span *p;
    size_t n, cap;
} cli_words;
size_t split_words(cli_words *words, char *line, size_t n, const char **why);

/* show.c: values and bytes for people and programs. */
typedef enum show_form {
    SHOW_RAW,    /* the bytes, one leaf a line                              */
    SHOW_PRETTY, /* types, numbering, escapes                               */
    SHOW_JSON
} show_form;
show_form show_form_of(const cli *c);
void show_value(FILE *out, show_form form, relet_value v); /* with newline  */
void show_quoted(FILE *out, relet_span s);                 /* "a\x00"       */
void show_json(FILE *out, relet_span s); /* string, or {"bytes":"base64"}   */

#endif
