/* SPDX-License-Identifier: MIT
 *
 * jobs.c - relet jobs, job, dead: what is in a queue, and all that is known of
 * one job. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli.h"

#define JOBS_PAGE 100
#define JOBS_BRIEF 60 /* bytes of a payload in a line for people             */

/* -------------------------------------------------------------------- texts */

static void jobs_time(FILE *out, relet_time ms)
{
    time_t s = (time_t)(ms / 1000);
    struct tm utc;

    if (ms < 0 || !gmtime_r(&s, &utc))
        putc('-', out);
    else
        fprintf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                1900 + utc.tm_year, 1 + utc.tm_mon, utc.tm_mday, utc.tm_hour,
                utc.tm_min, utc.tm_sec, (int)(ms % 1000));
}

/* Prints a text quoted, so that a job stays on one line; - if there is none. */
static void jobs_text(relet_span s, size_t most, uint64_t len)
{
    putchar('\t');
    if (!s.p || (s.n == 0 && len == 0)) {
        putchar('-');
        return;
    }
    if (s.n > most)
        s.n = most;
    show_quoted(stdout, s);
    if (s.n < len)
        printf("+%" PRIu64, len - s.n);
}

/* The error, result or progress of a job, of which it has one at most. */
static relet_span jobs_told(const relet_job_info *i)
{
    return i->error.p ? i->error : i->result.p ? i->result : i->progress;
}

static void jobs_line(const relet_job_info *i)
{
    relet_span told = jobs_told(i);

    printf("%" PRIu64 "\t%s%s\t", i->work.number, cli_places[i->place],
           i->is_cancelled ? ",cancelled" : "");
    jobs_time(stdout, i->at_ms);
    printf("\t%u", (unsigned)i->work.attempt);
    jobs_text(i->work.job.id, SIZE_MAX, 0);
    jobs_text(i->work.job.type, SIZE_MAX, 0);
    jobs_text(i->work.job.payload, JOBS_BRIEF, i->payload_len);
    jobs_text(told, JOBS_BRIEF, i->told_len);
    putchar('\n');
}

/* --------------------------------------------------------------------- JSON */

static void jobs_member(const char *name, relet_span s, int always)
{
    if (!always && s.n == 0)
        return;
    printf(",\"%s\":", name);
    show_json(stdout, s);
}

static void jobs_member_number(const char *name, int64_t v)
{
    printf(",\"%s\":%" PRId64, name, v);
}

static void jobs_member_option(const char *name, int64_t v)
{
    if (v != 0)
        jobs_member_number(name, v);
}

/* A list has only the beginning of a long text; _len is then its whole length.
 */
static void jobs_told_member(const char *name, relet_span s, uint64_t len)
{
    if (!s.p)
        return;
    if (s.n < len)
        printf(",\"%s_len\":%" PRIu64, name, len);
    jobs_member(name, s, 1);
}

static void jobs_document(const relet_job_info *i)
{
    const relet_job *j = &i->work.job;

    printf("{\"job\":%" PRIu64 ",\"place\":\"%s\"", i->work.number,
           cli_places[i->place]);
    if (i->at_ms >= 0)
        jobs_member_number("at_ms", i->at_ms);
    jobs_member_number("put_s", (int64_t)i->work.put_s);
    jobs_member_number("attempt", i->work.attempt);
    jobs_member_number("stalls", i->work.stalls);
    jobs_member_number("replays", i->work.replays);
    jobs_member_option("token", (int64_t)i->work.token);
    if (i->is_cancelled)
        fputs(",\"cancelled\":true", stdout);
    jobs_member("owners", i->owners, 0);
    jobs_member("id", j->id, 0);
    jobs_member("type", j->type, 0);
    jobs_member_option("rank", j->rank);
    jobs_member_option("attempts", j->attempts);
    jobs_member_option("timeout_ms", j->timeout_ms);
    jobs_member_option("deadline_ms", j->deadline_ms);
    jobs_member_option("keep_ms", j->keep_ms);
    jobs_member_number("payload_len", (int64_t)i->payload_len);
    jobs_member("payload", j->payload, 1);
    jobs_told_member("progress", i->progress, i->told_len);
    jobs_told_member("result", i->result, i->told_len);
    jobs_told_member("error", i->error, i->told_len);
    puts("}");
}

/* --------------------------------------------------------------------- list */

/* What is listed. left: how many jobs of -n are left; below 0: no limit. */
typedef struct jobs_view {
    cli *c;
    relet_place place;
    relet_span type;
    long left;
} jobs_view;

static int jobs_show_page(jobs_view *v, relet_value page, int64_t *go_on)
{
    relet_job_info info;
    size_t at = 0;

    while (v->left != 0 &&
           relet_queue_job_list_read(page, v->place, &at, go_on, &info)) {
        v->left -= v->left > 0;
        if (show_form_of(v->c) == SHOW_JSON)
            jobs_document(&info);
        else
            jobs_line(&info);
    }
    return 0;
}

static int jobs_show_place(jobs_view *v)
{
    relet_request q = cli_request(v->c);
    relet_event ev;
    int64_t from = 0;
    int code = 0;

    while (!code && from >= 0 && v->left != 0) {
        code = relet_queue_job_list(v->c->r, relet_str(v->c->argv[0]), v->place,
                                    (uint64_t)from, JOBS_PAGE,
                                    v->c->type ? &v->type : NULL, &q);
        code = cli_answer(v->c, code, &ev);
        from = -1;
        if (!code)
            code = jobs_show_page(v, ev.value, &from);
        cli_flush();
    }
    return code;
}

static int jobs_show(cli *c, const char *command, const char *place)
{
    static const relet_place all[] = {RELET_AT_LEASED, RELET_AT_WAITING,
                                      RELET_AT_RANKED, RELET_AT_DELAYED,
                                      RELET_AT_DONE,   RELET_AT_DEAD};
    int only = place ? cli_place(place) : 0, code = 0;
    jobs_view v;
    size_t i;

    if (only < 0)
        return CLI_USAGE;
    memset(&v, 0, sizeof v);
    v.c = c;
    v.left = c->count ? c->count : -1;
    if (c->type)
        v.type = relet_str(c->type);
    code = cli_queue(c, command, 0, NULL);
    for (i = 0; i < sizeof all / sizeof all[0] && !code; i++) {
        v.place = all[i];
        if (only == 0 || only == (int)all[i] ||
            (only == RELET_AT_WAITING && all[i] == RELET_AT_RANKED))
            code = jobs_show_place(&v);
    }
    return code;
}

static int jobs_run(cli *c)
{
    return jobs_show(c, "jobs", c->place);
}

static int dead_run(cli *c)
{
    return jobs_show(c, "dead", "dead");
}

/* ---------------------------------------------------------------------- one */

static void job_row(const char *name, relet_span s)
{
    if (!s.p)
        return;
    printf("%-9s ", name);
    show_quoted(stdout, s);
    putchar('\n');
}

static void job_row_number(const char *name, int64_t v)
{
    if (v != 0)
        printf("%-9s %" PRId64 "\n", name, v);
}

static void job_text(const relet_job_info *i)
{
    static const char *const when[] = {"", "", "", " until ", " until ",
                                       " until ", " since "};
    const relet_job *j = &i->work.job;

    printf("%-9s %" PRIu64 "\n%-9s %s%s", "job", i->work.number, "place",
           cli_places[i->place], i->at_ms >= 0 ? when[i->place] : "");
    if (i->at_ms >= 0)
        jobs_time(stdout, i->at_ms);
    printf("%s\n%-9s ", i->is_cancelled ? ", cancelled" : "", "put");
    jobs_time(stdout, (relet_time)i->work.put_s * 1000);
    printf("\n%-9s %u of %u\n", "attempt", (unsigned)i->work.attempt,
           (unsigned)(j->attempts ? j->attempts : 3));
    job_row_number("stalls", i->work.stalls);
    job_row_number("replays", i->work.replays);
    job_row_number("token", (int64_t)i->work.token);
    job_row("owners", i->owners);
    job_row("id", j->id.n ? j->id : relet_str(NULL));
    job_row("type", j->type.n ? j->type : relet_str(NULL));
    job_row_number("rank", j->rank);
    job_row_number("timeout", j->timeout_ms);
    job_row_number("keep", j->keep_ms);
    job_row("payload", j->payload);
    job_row("progress", i->progress);
    job_row("result", i->result);
    job_row("error", i->error);
}

/* Prints the job, or its payload or result alone; 0 if it has no such text. */
static int job_show(const cli *c, const relet_job_info *i)
{
    relet_span bytes = c->payload ? i->work.job.payload : i->result;

    if ((c->payload || c->result) && !bytes.p)
        return 0;
    if ((c->payload || c->result) && show_form_of(c) == SHOW_JSON) {
        show_json(stdout, bytes);
        putchar('\n');
        return 1;
    }
    if (c->payload || c->result) {
        if (bytes.n > 0)
            fwrite(bytes.p, 1, bytes.n, stdout);
        return 1;
    }
    if (show_form_of(c) == SHOW_JSON)
        jobs_document(i);
    else
        job_text(i);
    return 1;
}

static int job_one(cli *c, uint64_t number, const char *name)
{
    relet_request q = cli_request(c);
    relet_job_info info;
    relet_event ev;
    int code = relet_queue_job_look(c->r, relet_str(c->argv[0]), number,
                                    relet_str(c->id), &q);

    code = cli_answer(c, code, &ev);
    if (code)
        return code;
    if (!relet_queue_job_look_read(ev.value, &info)) {
        cli_say("%s: there is no job %s", c->argv[0], name);
        return CLI_ERROR;
    }
    if (job_show(c, &info))
        return 0;
    cli_say("%s: job %s has no result", c->argv[0], name);
    return CLI_ERROR;
}

static int job_run(cli *c)
{
    uint64_t number;
    int i, code = cli_queue(c, "job", !c->id, "job"), worst;

    if (code)
        return code;
    if (c->payload && c->result) {
        cli_say("job takes --payload or --result, not both");
        return CLI_USAGE;
    }
    worst = c->id ? job_one(c, 0, c->id) : 0;
    for (i = 1; i < c->argc; i++) {
        (void)cli_number(c->argv[i], &number);
        code = job_one(c, number, c->argv[i]);
        worst = code > worst ? code : worst;
    }
    return worst;
}

#define JOBS_OPTIONS                                                          \
    {0, "type", "TYPE", CLI_TEXT, offsetof(cli, type), 0, 0,                  \
     "only jobs of this type"},                                               \
    {'n', "count", "N", CLI_NUMBER, offsetof(cli, count), 1, INT32_MAX,       \
     "at most N jobs"}

static const cli_option jobs_options[] = {
    {0, "place", "PLACE", CLI_TEXT, offsetof(cli, place), 0, 0,
     "waiting, delayed, leased, done or dead; default all"},
    JOBS_OPTIONS,
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

static const cli_option dead_options[] = {
    JOBS_OPTIONS,
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

static const cli_option job_options[] = {
    {0, "id", "ID", CLI_TEXT, offsetof(cli, id), 0, 0,
     "the job with this id"},
    {0, "payload", NULL, CLI_FLAG, offsetof(cli, payload), 0, 0,
     "print only the payload, byte for byte"},
    {0, "result", NULL, CLI_FLAG, offsetof(cli, result), 0, 0,
     "print only the result, byte for byte"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

#define JOBS_COLUMNS                                                          \
    "number, place, time, attempts that were begun, id, type, payload, and\n" \
    "progress, result or error, with tabs in between and - for what a job\n"  \
    "does not have. The time is when the lease ends, when the job is due,\n"  \
    "until when the result is kept, or since when the job is dead. Texts\n"   \
    "are quoted; a long text is cut off, and +N bytes are left out. A job\n"  \
    "that moves meanwhile may be listed twice or not at all."

const cli_command jobs_command = {
    "jobs", "list the jobs of a queue",
    "jobs [OPTION]... QUEUE",
    "Prints a line for each job, in the order of their places:\n" JOBS_COLUMNS,
    jobs_options, 0, jobs_run,
};

const cli_command dead_command = {
    "dead", "list the dead jobs of a queue",
    "dead [OPTION]... QUEUE",
    "Prints a line for each job that is dead, the oldest first:\n" JOBS_COLUMNS,
    dead_options, 0, dead_run,
};

const cli_command job_command = {
    "job", "show all that is known of a job",
    "job [OPTION]... QUEUE NUMBER...",
    "Prints where each job is, how often it was tried, which workers had it,\n"
    "and its texts. The exit code is 1 if there is no such job.",
    job_options, 0, job_run,
};
