/* SPDX-License-Identifier: MIT
 *
 * runner.c - one job and the command that runs for it, from its start to the
 * job's outcome. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

/* Exit codes of the command that mean more than a failure: BSD's sysexits. */
enum {
    WORK_BURY = 65,  /* EX_DATAERR: no attempt will be better               */
    WORK_SNOOZE = 75 /* EX_TEMPFAIL: not now                                */
};

#define WORK_NOTE_MS 250 /* the least time between two progress notes       */

/* ------------------------------------------------------------------ telling */

static void runner_document(const char *title, const runner *x,
                            const char *event, relet_span text)
{
    fprintf(stderr, "{\"event\":\"%s\",\"queue\":", event);
    show_json(stderr, relet_str(x ? x->desk->name : title));
    if (x)
        fprintf(stderr, ",\"job\":%" PRIu64 ",\"token\":%" PRIu64
                ",\"attempt\":%u,\"code\":%d", x->number, x->token,
                (unsigned)x->attempt, x->code);
    if (text.n > 0) {
        fputs(",\"text\":", stderr);
        show_json(stderr, text);
    }
    fputs("}\n", stderr);
}

/* --json: prints a line of the command's standard error as a document. */
static void runner_say_line(runner *x)
{
    relet_span line;

    line.p = x->said;
    line.n = x->said_n;
    if (x->said_n > 0)
        runner_document(NULL, x, "stderr", line);
    x->said_n = 0;
}

static void runner_pass(void *to, const char *bytes, size_t n)
{
    runner *x = (runner *)to;
    size_t i;

    for (i = 0; i < n; i++) {
        if (bytes[i] == '\n' || x->said_n == sizeof x->said)
            runner_say_line(x);
        if (bytes[i] != '\n')
            x->said[x->said_n++] = bytes[i];
    }
}

/* --quiet does not silence a notice of something wrong. */
void runner_note(const worker *w, const runner *x, const char *event,
                 const char *text, int wrong)
{
    const char *colon = text[0] ? ": " : "";

    if (!child_io_may_say() || (w->c->quiet && !wrong))
        return;
    if (w->c->json)
        runner_document(w->title, x, event, relet_str(text));
    else if (x)
        cli_say("%s: job %" PRIu64 ": %s%s%s", x->desk->name, x->number,
                event, colon, text);
    else
        cli_say("%s: %s%s%s", w->title, event, colon, text);
}

/* ---------------------------------------------------------------- beginning */

static relet_time runner_until(const worker *w, const runner *x, relet_time now)
{
    return now +
           relet_job_valid_for(w->c->r, x->desk->number, x->number, now) -
           w->margin;
}

/* The environment cannot hold a text with a NUL: the variable is then unset. */
static void runner_setenv(const char *name, relet_span s)
{
    char text[256];

    if (s.n == 0 || s.n >= sizeof text || memchr(s.p, 0, s.n)) {
        unsetenv(name);
        return;
    }
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    setenv(name, text, 1);
}

static void runner_environment(const work_desk *d, const relet_work *job)
{
    setenv("RELET_QUEUE", d->name, 1);
    child_setenv("RELET_PROGRESS_FD", CHILD_IO_NOTES);
    child_setenv("RELET_JOB", job->number);
    child_setenv("RELET_TOKEN", job->token);
    child_setenv("RELET_ATTEMPT", job->attempt);
    child_setenv("RELET_STALLS", job->stalls);
    child_setenv("RELET_REPLAYS", job->replays);
    runner_setenv("RELET_ID", job->job.id);
    runner_setenv("RELET_TYPE", job->job.type);
}

/* No process can be started, which is not the job's fault: the job is released,
 * and work stops. */
static void runner_unable(worker *w, const work_desk *d, uint64_t number)
{
    cli_say("cannot start a process: %s", strerror(errno));
    (void)relet_job_release(w->c->r, d->number, number);
    w->code = CHILD_UNABLE;
    work_stop(w);
}

void runner_begin(worker *w, const work_desk *d, const relet_work *job)
{
    runner *x = w->runners;
    relet_time now = relet_clock();
    int more = w->c->count == 0 || w->begun < w->c->count;

    while (x < w->runners + w->width && x->busy)
        x++;
    if (x == w->runners + w->width || !more || w->code || w->signo) {
        (void)relet_job_release(w->c->r, d->number, job->number);
        return;
    }
    memset(x, 0, sizeof *x);
    x->desk = d;
    x->number = job->number;
    x->token = job->token;
    x->attempt = job->attempt;
    x->time_ms = job->job.timeout_ms ? job->job.timeout_ms : w->c->run_ms;
    x->time_at = x->time_ms ? now + x->time_ms : RELET_NEVER;
    x->kill_at = RELET_NEVER;
    runner_environment(d, job);
    if (child_io_start(&x->child_io, w->command, job->job.payload,
                    (size_t)w->c->result_max, runner_until(w, x, now))) {
        runner_unable(w, d, job->number);
        return;
    }
    x->child_io.quiet = w->c->quiet;
    x->child_io.pass = w->c->json ? runner_pass : NULL;
    x->child_io.to = x;
    x->busy = 1;
    w->busy++;
    w->begun++;
    if (w->c->count > 0 && w->begun >= w->c->count)
        work_stop(w);
}

/* ------------------------------------------------------------------- ending */

static relet_span runner_said(const runner *x)
{
    relet_span s;

    s.p = x->child_io.tail;
    s.n = x->child_io.tail_n;
    while (s.n > 0 && s.p[s.n - 1] == '\n')
        s.n--;
    return s;
}

/* 1 when the client has no room: then the call is tried again later. */
static int runner_waits(int code)
{
    return code == RELET_E_LIMIT || code == RELET_E_MEMORY;
}

/* Fails the job. The error's text is `why` and the end of the command's
 * standard error. */
static int runner_fail(worker *w, runner *x, relet_verdict verdict,
                       const char *why)
{
    char text[CHILD_IO_TAIL + 200];
    relet_span said = runner_said(x);
    relet_failure f;
    size_t n = strlen(why);
    int code;

    memcpy(text, why, n);
    if (said.n > 0) {
        memcpy(text + n, ": ", 2);
        memcpy(text + n + 2, said.p, said.n);
        n += 2 + said.n;
    }
    memset(&f, 0, sizeof f);
    f.verdict = verdict;
    f.text.p = text;
    f.text.n = n;
    f.delay_ms = verdict == RELET_SNOOZE ? w->c->snooze_ms : 0;
    code = relet_job_fail(w->c->r, x->desk->number, x->number, &f);
    if (!runner_waits(code))
        runner_note(w, x, verdict == RELET_SNOOZE ? "not now" : "failed", why,
                    verdict != RELET_SNOOZE);
    return code;
}

static int runner_give_back(worker *w, runner *x, const char *why)
{
    runner_note(w, x, "given back", why, 1);
    return relet_job_release(w->c->r, x->desk->number, x->number);
}

static int runner_done(worker *w, runner *x)
{
    relet_span result;
    int code;

    result.p = x->child_io.out;
    result.n = x->child_io.out_n;
    code = relet_job_done(w->c->r, x->desk->number, x->number, result);
    if (!runner_waits(code))
        runner_note(w, x, "done", "", 0);
    return code;
}

/* 1 when the guard killed the command while this process could not do anything.
 */
static int runner_was_killed(const worker *w, const runner *x)
{
    relet_time now = relet_clock();

    return x->code == CHILD_SIGNAL + SIGKILL &&
           relet_job_valid_for(w->c->r, x->desk->number, x->number, now) <=
               w->margin;
}

static int runner_judge_own(worker *w, runner *x)
{
    char why[64];

    if (runner_was_killed(w, x))
        return runner_give_back(w, x, "not renewed for long");
    if (x->code >= CHILD_SIGNAL && x->code < CHILD_SIGNAL + 65)
        snprintf(why, sizeof why, "signal %d", x->code - CHILD_SIGNAL);
    else
        snprintf(why, sizeof why, "exit code %d", x->code);
    return runner_fail(w, x, x->code == WORK_SNOOZE ? RELET_SNOOZE
                       : x->code == WORK_BURY ? RELET_BURY
                                              : RELET_RETRY, why);
}

/* Tells the queue the job's outcome. A command that was told to end may have
 * done the job all the same. */
static int runner_judge(worker *w, runner *x)
{
    char why[80];

    if (x->code == 0 && x->child_io.out_over) {
        snprintf(why, sizeof why, "the result is over %ld bytes",
                 w->c->result_max);
        return runner_fail(w, x, RELET_RETRY, why);
    }
    if (x->code == 0 && x->why != WORK_LOST)
        return runner_done(w, x);
    switch (x->why) {
    case WORK_OWN:
        return runner_judge_own(w, x);
    case WORK_CANCELLED:
        return runner_fail(w, x, RELET_BURY, "cancelled");
    case WORK_OUT_OF_TIME:
        snprintf(why, sizeof why, "not done in %" PRId64 " ms", x->time_ms);
        return runner_fail(w, x, RELET_RETRY, why);
    case WORK_LEASE_ENDS:
        return runner_give_back(w, x, "not renewed for long");
    case WORK_LEAVING:
        return runner_give_back(w, x, "this worker ends");
    case WORK_LOST:
        break;
    }
    return relet_job_release(w->c->r, x->desk->number, x->number);
}

static void runner_ended(worker *w, runner *x)
{
    int code;

    if (!x->ended && !child_io_ended(&x->child_io, &x->code))
        return;
    if (!x->ended && child_io_may_say())
        runner_say_line(x);
    x->ended = 1;
    code = runner_judge(w, x);
    if (runner_waits(code))
        return;
    child_io_free(&x->child_io);
    x->busy = 0;
    w->busy--;
}

/* ----------------------------------------------------------------- watching */

/* Whatever happens later, the command gets no more time than the grace. */
void runner_tell(worker *w, runner *x, work_why why)
{
    if (x->ended || x->why != WORK_OWN)
        return;
    x->why = why;
    x->kill_at = relet_clock() + w->grace;
    child_tell(&x->child_io.child, SIGTERM);
}

/* Passes the command's latest note on; notes that come too often are left out.
 */
static void runner_progress(worker *w, runner *x, relet_time now)
{
    relet_span text;

    if (!x->child_io.has_note || now < x->note_at)
        return;
    text.p = x->child_io.note;
    text.n = x->child_io.note_n;
    x->note_at = now + WORK_NOTE_MS;
    if (!runner_waits(relet_job_progress(w->c->r, x->desk->number, x->number,
                                         text)))
        x->child_io.has_note = 0;
}

void runner_watch(worker *w, runner *x)
{
    relet_time now = relet_clock(), until;

    if (!x->busy || x->ended)
        return;
    until = x->why == WORK_LOST ? now : runner_until(w, x, now);
    if (now >= until - w->grace)
        runner_tell(w, x, WORK_LEASE_ENDS);
    if (now >= x->time_at)
        runner_tell(w, x, WORK_OUT_OF_TIME);
    child_kill_at(&x->child_io.child, until < x->kill_at ? until : x->kill_at);
    child_io_carry(&x->child_io);
    runner_progress(w, x, now);
    runner_ended(w, x);
}

/* The time at which something is due that no event tells of. */
relet_time runner_due(const worker *w, const runner *x, relet_time now)
{
    relet_time at = x->child_io.child.kill_at;

    if (x->ended)
        return now + 20;
    if (at <= now)
        return now + 100; /* the command is dying; SIGCHLD will wake us */
    if (x->why == WORK_OWN)
        at = at - w->grace < x->time_at ? at - w->grace : x->time_at;
    if (x->child_io.has_note && x->note_at < at)
        at = x->note_at;
    return at;
}
