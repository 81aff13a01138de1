/* SPDX-License-Identifier: MIT
 *
 * cli.h - what the files of the relet command share: one record for what was
 * asked for, tables for commands and options, exit codes.
 *
 * The command sees only the public header: whatever it can do, a program that
 * vendors the library can do too. */
#ifndef RELET_CLI_H
#define RELET_CLI_H

#include <stddef.h>
#include <stdio.h>

#include "relet.h"

/* Exit codes. A larger one is worse news, so several commands end in the
 * largest of theirs. The manual and --help repeat this list. */
enum {
    CLI_OK = 0,
    CLI_ERROR = 1,    /* the server answered an error                       */
    CLI_USAGE = 2,    /* wrong use or configuration: nothing was sent       */
    CLI_NOT_SENT = 3, /* no connection, or ended before it was sent         */
    CLI_UNSURE = 4,   /* sent, but no answer came: it may have run          */
    CLI_OUTPUT = 5    /* standard output is closed or full                  */
};

/* What the command line said. A field belongs to the option of its name. */
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
    long count; /* listen, ping, bench                                      */
    long interval_ms;
    long wait_ms; /* ping, lock; -1: not given                              */
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
    int all; /* leases */
    int lines; /* put, and what jobs are put with                           */
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
    long lead_ttl_ms; /* of the lease by which one of several reaps         */
    long renew_ms;
    long retry_ms;
    int repair; /* fsck                                                     */

    const char *command; /* its name                                        */
    const char *queue;   /* that is asked about, for what cli_answer says   */
    int argc; /* what is left when the options are taken                    */
    int dashes; /* there was a -- behind the command's name                 */
    int before; /* of argc, so many came before --                          */
    char **argv;

    relet_config config;
    relet *r;
    char server[96]; /* what RELET_UP said: "redis 7.0.15"                  */
} cli;

typedef enum cli_kind { CLI_FLAG, CLI_NUMBER, CLI_TEXT, CLI_LIST } cli_kind;

/* An option writes to the field at this offset of cli. letter 0: none. The
 * table ends with a word of NULL. */
typedef struct cli_option {
    char letter;
    const char *word;
    const char *value; /* its name in the help; NULL for a flag             */
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
    int verbatim; /* what follows the first operand is no option of ours    */
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

/* As realloc, but does not come back without memory. */
void *cli_grow(void *p, size_t size);

/* Flush standard output; ends the program when nobody takes it: silently for
 * a closed pipe, as a reader that has seen enough is no fault. */
void cli_flush(void);

/* The same for a command that has to clean up first: 0, or CLI_OUTPUT, and
 * the command ends as soon as it can; cli_flush says why. */
int cli_flushed(void);

/* connect.c: fill c->config from -u or the environment. 0 or an exit code. */
int cli_configure(cli *c);

/* A request that --timeout applies to. */
relet_request cli_request(const cli *c);

/* A text as the two arguments of "%.*s": no longer than a line. */
#define cli_text(s) ((int)((s).n < 900 ? (s).n : 900)), ((s).p ? (s).p : "")

/* A code of the library on stderr, and as an exit code. */
int cli_trouble(const cli *c, int code);

/* A rule of the library on stderr, where the fields of its structs have the
 * names of the options that set them. */
void cli_say_rule(const cli *c, const char *rule);

/* Why a lease or a worker could not be started, and as an exit code. */
int cli_unstarted(const cli *c, int code);

/* Open c->r, which then connects while it is waited on. 0 or an exit code. */
int cli_open(cli *c);

/* Wait until c->r is up, at most wait_ms when that is positive,
 * else until the first attempt failed. 0 or an exit code. */
int cli_wait_up(cli *c, long wait_ms);

/* Both of these. */
int cli_connect(cli *c, long wait_ms);
void cli_close(cli *c);

/* From now on SIGINT, SIGTERM, and SIGHUP unless it is ignored, do not end the
 * program at once, but wake c->r. A second signal of a kind ends it. */
void cli_interruptible(cli *c);

/* The number of the signal that came, or 0. */
int cli_interrupted(void);

/* A shell says this of a command that a signal ended: 128 + its number. */
#define CLI_SIGNAL 128

/* An outcome that is no answer, on stderr, and as an exit code. */
int cli_refused(const cli *c, const relet_event *ev);

/* The outcome of what was just asked, alone, whose code this was: 0 and *ev, a
 * reply; or an exit code, and it was said why. */
int cli_answer(cli *c, int code, relet_event *ev);

/* queue.c: the first operand is a queue, and there are at least so many more of
 * this name; then connect. 0 or an exit code. */
int cli_queue(cli *c, const char *command, int more, const char *of);

/* A decimal number above 0: 1, or 0. */
int cli_number(const char *text, uint64_t *out);

/* The queues that a prefix has, in order: 0 and a table that ends with NULL, of
 * which each name and then all are to be freed; or an exit code. */
int cli_queues(cli *c, char ***names);

/* As it is, or quoted when it has bytes that would make another line of it. */
void show_name(FILE *out, const char *name);
size_t show_utf8(const char *s); /* of its first character; 0: it is none */

/* Names of places, NULL behind the last: "waiting". -1: there is none. */
extern const char *const cli_places[];
int cli_place(const char *name);

/* HOST.PID or --owner, so that people who look at what is held know where to
 * look next. 0 or an exit code. */
#define CLI_LABEL 64
int cli_label(const cli *c, char label[CLI_LABEL]);

/* Where c->config points to, for people. */
const char *cli_where(const cli *c, char *buf, size_t size);

/* Microseconds of a steady clock. */
double cli_now_us(void);

/* Sorts; then the value that this share of n samples does not exceed. */
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
