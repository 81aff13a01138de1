/* SPDX-License-Identifier: MIT
 *
 * child_io.c - a command that is given its input and whose output is kept. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "child_io.h"

static void child_io_close(child_io *p, int i)
{
    if (p->fd[i] >= 0)
        close(p->fd[i]);
    p->fd[i] = -1;
}

static void child_io_close_all(int *fd, int n)
{
    int i, saved = errno;

    for (i = 0; i < n; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    errno = saved;
}

/* Our end does not block. Neither end stays open in other commands. */
static int child_io_prepare(int ours, int theirs)
{
    return fcntl(ours, F_SETFL, O_NONBLOCK) ||
           fcntl(ours, F_SETFD, FD_CLOEXEC) ||
           fcntl(theirs, F_SETFD, FD_CLOEXEC);
}

/* 0, or -1 and errno: then no pipe is open. */
static int child_io_open(int ours[CHILD_IO_FDS], int theirs[CHILD_IO_FDS])
{
    int i, fd[2];

    for (i = 0; i < CHILD_IO_FDS; i++)
        ours[i] = theirs[i] = -1;
    for (i = 0; i < CHILD_IO_FDS; i++) {
        if (pipe(fd))
            break;
        ours[i] = fd[i == STDIN_FILENO];
        theirs[i] = fd[i != STDIN_FILENO];
        if (child_io_prepare(ours[i], theirs[i]))
            break;
    }
    if (i == CHILD_IO_FDS)
        return 0;
    child_io_close_all(ours, CHILD_IO_FDS);
    child_io_close_all(theirs, CHILD_IO_FDS);
    return -1;
}

int child_io_start(child_io *p, char **argv, relet_span in, size_t out_max,
                   relet_time kill_at)
{
    int theirs[CHILD_IO_FDS], failed;

    memset(p, 0, sizeof *p);
    if (child_io_open(p->fd, theirs))
        return -1;
    failed = child_start(&p->child, argv, theirs, kill_at);
    child_io_close_all(theirs, CHILD_IO_FDS);
    if (failed) {
        child_io_close_all(p->fd, CHILD_IO_FDS);
        return -1;
    }
    p->out_max = out_max;
    p->in_n = in.n;
    p->in = (char *)cli_grow(NULL, in.n + 1);
    if (in.n > 0)
        memcpy(p->in, in.p, in.n);
    return 0;
}

int child_io_may_say(void)
{
    struct pollfd out = {STDERR_FILENO, POLLOUT, 0};

    return poll(&out, 1, 0) != 0;
}

/* While our standard error takes no bytes, the command's stay in its pipe: then
 * ours is watched in its place. */
int child_io_watch(const child_io *p, struct pollfd *fds)
{
    int i, n = 0;

    for (i = 0; i < CHILD_IO_FDS; i++) {
        int ours = i == STDERR_FILENO && !p->quiet && !child_io_may_say();

        if (p->fd[i] < 0)
            continue;
        fds[n].fd = ours ? STDERR_FILENO : p->fd[i];
        fds[n].events = i == STDIN_FILENO || ours ? POLLOUT : POLLIN;
        fds[n++].revents = 0;
    }
    return n;
}

/* A command need not read all of its input: a write that fails closes the pipe.
 */
static void child_io_feed(child_io *p)
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
    child_io_close(p, STDIN_FILENO);
}

static void child_io_keep_out(child_io *p, const char *bytes, size_t n)
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

static void child_io_keep_tail(child_io *p, const char *bytes, size_t n)
{
    size_t drop;

    if (n > CHILD_IO_TAIL) {
        bytes += n - CHILD_IO_TAIL;
        n = CHILD_IO_TAIL;
    }
    drop = p->tail_n + n > CHILD_IO_TAIL ? p->tail_n + n - CHILD_IO_TAIL : 0;
    memmove(p->tail, p->tail + drop, p->tail_n - drop);
    memcpy(p->tail + p->tail_n - drop, bytes, n);
    p->tail_n += n - drop;
}

static void child_io_keep_note(child_io *p, const char *bytes, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            if (p->line_n < CHILD_IO_NOTE)
                p->line[p->line_n++] = bytes[i];
            continue;
        }
        memcpy(p->note, p->line, p->line_n);
        p->note_n = p->line_n;
        p->has_note = 1;
        p->line_n = 0;
    }
}

/* The most that is read of a pipe in one turn: a command that never stops
 * writing must not keep us. Once it has ended, its pipe holds at most a MiB. */
#define CHILD_IO_MOST (1 << 20)
#define CHILD_IO_BYTES 16384
#define CHILD_IO_ATOM 512 /* a pipe that takes any byte takes as many         */

/* Passes bytes on to p->pass, or else to our own standard error. */
static void child_io_pass(child_io *p, const char *bytes, size_t n)
{
    if (p->pass) {
        p->pass(p->to, bytes, n);
        return;
    }
    fwrite(bytes, 1, n, stderr);
    p->midline = bytes[n - 1] != '\n';
}

static void child_io_empty(child_io *p, int i, int last)
{
    char bytes[CHILD_IO_BYTES];
    int passes = i == STDERR_FILENO && !p->quiet;
    size_t most = passes ? CHILD_IO_ATOM : sizeof bytes;
    size_t turns = CHILD_IO_MOST / most;

    while (p->fd[i] >= 0 && turns-- > 0) {
        int may = !passes || child_io_may_say();
        ssize_t n;

        if (!may && !last)
            return;
        n = read(p->fd[i], bytes, most);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0)
            child_io_close(p, i);
        else if (i == STDOUT_FILENO)
            child_io_keep_out(p, bytes, (size_t)n);
        else if (i == CHILD_IO_NOTES)
            child_io_keep_note(p, bytes, (size_t)n);
        else
            child_io_keep_tail(p, bytes, (size_t)n);
        if (n > 0 && passes && may)
            child_io_pass(p, bytes, (size_t)n);
    }
}

void child_io_carry(child_io *p)
{
    child_io_feed(p);
    child_io_empty(p, STDOUT_FILENO, 0);
    child_io_empty(p, STDERR_FILENO, 0);
    child_io_empty(p, CHILD_IO_NOTES, 0);
}

/* A process that left the command's group may still have its pipes open: bytes
 * that it writes later are not waited for. */
int child_io_ended(child_io *p, int *code)
{
    int i;

    if (!child_ended(&p->child, code))
        return 0;
    child_io_close(p, STDIN_FILENO);
    child_io_empty(p, STDOUT_FILENO, 1);
    child_io_empty(p, STDERR_FILENO, 1);
    if (p->midline &&
        child_io_may_say()) /* the next notice begins a line */
        fputc('\n', stderr);
    for (i = 0; i < CHILD_IO_FDS; i++)
        child_io_close(p, i);
    return 1;
}

void child_io_free(child_io *p)
{
    free(p->in);
    free(p->out);
    p->in = p->out = NULL;
}
