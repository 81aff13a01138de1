/* SPDX-License-Identifier: MIT
 *
 * piped.c - a command that is given its input and whose output is kept. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "piped.h"

static void piped_close(piped *p, int i)
{
    if (p->fd[i] >= 0)
        close(p->fd[i]);
    p->fd[i] = -1;
}

static void piped_close_all(int *fd, int n)
{
    int i, saved = errno;

    for (i = 0; i < n; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    errno = saved;
}

/* Ours does not block and does not stay open in other commands. */
static int piped_prepare(int ours, int theirs)
{
    return fcntl(ours, F_SETFL, O_NONBLOCK) ||
           fcntl(ours, F_SETFD, FD_CLOEXEC) ||
           fcntl(theirs, F_SETFD, FD_CLOEXEC);
}

/* 0, or -1 and errno: none is open. */
static int piped_open(int ours[PIPED_FDS], int theirs[PIPED_FDS])
{
    int i, fd[2];

    for (i = 0; i < PIPED_FDS; i++)
        ours[i] = theirs[i] = -1;
    for (i = 0; i < PIPED_FDS; i++) {
        if (pipe(fd))
            break;
        ours[i] = fd[i == STDIN_FILENO];
        theirs[i] = fd[i != STDIN_FILENO];
        if (piped_prepare(ours[i], theirs[i]))
            break;
    }
    if (i == PIPED_FDS)
        return 0;
    piped_close_all(ours, PIPED_FDS);
    piped_close_all(theirs, PIPED_FDS);
    return -1;
}

int piped_start(piped *p, char **argv, relet_span in, size_t out_max,
                relet_time kill_at)
{
    int theirs[PIPED_FDS], failed;

    memset(p, 0, sizeof *p);
    if (piped_open(p->fd, theirs))
        return -1;
    failed = child_start(&p->child, argv, theirs, kill_at);
    piped_close_all(theirs, PIPED_FDS);
    if (failed) {
        piped_close_all(p->fd, PIPED_FDS);
        return -1;
    }
    p->out_max = out_max;
    p->in_n = in.n;
    p->in = (char *)cli_grow(NULL, in.n + 1);
    if (in.n > 0)
        memcpy(p->in, in.p, in.n);
    return 0;
}

int piped_may_say(void)
{
    struct pollfd out = {STDERR_FILENO, POLLOUT, 0};

    return poll(&out, 1, 0) != 0;
}

/* What nobody reads of ours stays in theirs. */
int piped_watch(const piped *p, struct pollfd *fds)
{
    int i, n = 0;

    for (i = 0; i < PIPED_FDS; i++) {
        int ours = i == STDERR_FILENO && !p->quiet && !piped_may_say();

        if (p->fd[i] < 0)
            continue;
        fds[n].fd = ours ? STDERR_FILENO : p->fd[i];
        fds[n].events = i == STDIN_FILENO || ours ? POLLOUT : POLLIN;
        fds[n++].revents = 0;
    }
    return n;
}

/* A command need not read all of it. */
static void piped_feed(piped *p)
{
    while (p->fd[STDIN_FILENO] >= 0 && p->in_at < p->in_n) {
        ssize_t n = write(p->fd[STDIN_FILENO], p->in + p->in_at,
                          p->in_n - p->in_at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n < 0)
            break;
        p->in_at += (size_t)n;
    }
    piped_close(p, STDIN_FILENO);
}

static void piped_keep_out(piped *p, const char *bytes, size_t n)
{
    if (n > p->out_max - p->out_n) {
        p->out_over = 1;
        n = p->out_max - p->out_n;
    }
    if (p->out_cap - p->out_n < n) {
        p->out_cap = 2 * p->out_cap + n;
        p->out = (char *)cli_grow(p->out, p->out_cap);
    }
    if (n > 0)
        memcpy(p->out + p->out_n, bytes, n);
    p->out_n += n;
}

static void piped_keep_tail(piped *p, const char *bytes, size_t n)
{
    size_t drop;

    if (n > PIPED_TAIL) {
        bytes += n - PIPED_TAIL;
        n = PIPED_TAIL;
    }
    drop = p->tail_n + n > PIPED_TAIL ? p->tail_n + n - PIPED_TAIL : 0;
    memmove(p->tail, p->tail + drop, p->tail_n - drop);
    memcpy(p->tail + p->tail_n - drop, bytes, n);
    p->tail_n += n - drop;
}

static void piped_keep_note(piped *p, const char *bytes, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            if (p->line_n < PIPED_NOTE)
                p->line[p->line_n++] = bytes[i];
            continue;
        }
        memcpy(p->note, p->line, p->line_n);
        p->note_n = p->line_n;
        p->has_note = 1;
        p->line_n = 0;
    }
}

/* A command that never stops to write must not keep us; what a pipe may hold at
 * its end is at most a MiB. */
#define PIPED_MOST (1 << 20)
#define PIPED_BYTES 16384
#define PIPED_ATOM 512 /* a pipe that takes anything takes as much            */

/* On to our own standard error. */
static void piped_pass(piped *p, const char *bytes, size_t n)
{
    if (p->pass) {
        p->pass(p->to, bytes, n);
        return;
    }
    fwrite(bytes, 1, n, stderr);
    p->midline = bytes[n - 1] != '\n';
}

static void piped_empty(piped *p, int i, int last)
{
    char bytes[PIPED_BYTES];
    int passes = i == STDERR_FILENO && !p->quiet;
    size_t most = passes ? PIPED_ATOM : sizeof bytes;
    size_t turns = PIPED_MOST / most;

    while (p->fd[i] >= 0 && turns-- > 0) {
        int may = !passes || piped_may_say();
        ssize_t n;

        if (!may && !last)
            return;
        n = read(p->fd[i], bytes, most);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0)
            piped_close(p, i);
        else if (i == STDOUT_FILENO)
            piped_keep_out(p, bytes, (size_t)n);
        else if (i == PIPED_NOTES)
            piped_keep_note(p, bytes, (size_t)n);
        else
            piped_keep_tail(p, bytes, (size_t)n);
        if (n > 0 && passes && may)
            piped_pass(p, bytes, (size_t)n);
    }
}

void piped_carry(piped *p)
{
    piped_feed(p);
    piped_empty(p, STDOUT_FILENO, 0);
    piped_empty(p, STDERR_FILENO, 0);
    piped_empty(p, PIPED_NOTES, 0);
}

/* Somebody who left the command's group may have its pipes still: what comes
 * from there later is not waited for. */
int piped_ended(piped *p, int *code)
{
    int i;

    if (!child_ended(&p->child, code))
        return 0;
    piped_close(p, STDIN_FILENO);
    piped_empty(p, STDOUT_FILENO, 1);
    piped_empty(p, STDERR_FILENO, 1);
    if (p->midline && piped_may_say()) /* what comes next is no part of that */
        fputc('\n', stderr);
    for (i = 0; i < PIPED_FDS; i++)
        piped_close(p, i);
    return 1;
}

void piped_free(piped *p)
{
    free(p->in);
    free(p->out);
    p->in = p->out = NULL;
}
