/* SPDX-License-Identifier: MIT
 *
 * child.c - a command that may run only as long as a lease is valid. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* waitid */
#endif
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "child.h"
#include "cli.h"

/* ----------------------------------------------------------------- signals */

static const int child_passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
#define CHILD_PASSED_ON (sizeof child_passed_on / sizeof *child_passed_on)

static relet *volatile child_to_wake;
static volatile sig_atomic_t child_signo;

static void child_on_signal(int signo)
{
    int saved = errno;

    if (signo != SIGCHLD)
        child_signo = signo;
    if (child_to_wake)
        relet_wake(child_to_wake);
    errno = saved;
}

static void child_handle(int signo, void (*handler)(int))
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signo, &action, NULL);
}

void child_signals(relet *r)
{
    size_t i;

    child_to_wake = r;
    if (!r)
        return;
    child_handle(SIGCHLD, child_on_signal);
    for (i = 0; i < CHILD_PASSED_ON; i++) {
        struct sigaction before;

        sigaction(child_passed_on[i], NULL, &before);
        if (before.sa_handler != SIG_IGN)
            child_handle(child_passed_on[i], child_on_signal);
    }
}

int child_signal_take(void)
{
    int signo = child_signo;

    child_signo = 0;
    return signo;
}

/* Blocks all signals: our handlers must not run in a forked process, and giving
 * the terminal away must not stop this process (SIGTTOU). */
static void child_block(sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, before);
}

/* ------------------------------------------------------------------- guard */

#define GUARD_FDS 1024

/* Our pipes do not end while another process has them open. All descriptors
 * that we opened are below GUARD_FDS, as open takes the lowest free number. */
static void guard_close(int line)
{
    int fd;

    for (fd = STDERR_FILENO + 1; fd < GUARD_FDS; fd++)
        if (fd != line)
            close(fd);
}

/* Looks at the clock each second: poll does not count the time in which the
 * machine sleeps, but the lease goes on to its end meanwhile. */
static void guard_main(int line, relet_time kill_at)
{
    struct pollfd p;

    setpgid(0, 0);
    guard_close(line);
    memset(&p, 0, sizeof p);
    p.fd = line;
    p.events = POLLIN;
    for (;;) {
        relet_time left = kill_at - relet_clock();

        if (left <= 0)
            break;
        if (poll(&p, 1, left < 1000 ? (int)left : 1000) > 0 &&
            read(line, &kill_at, sizeof kill_at) != (long)sizeof kill_at)
            break;
    }
    kill(-getpid(), SIGKILL);
}

static void child_close_all(int fd[2])
{
    int saved = errno;

    close(fd[0]);
    close(fd[1]);
    errno = saved;
}

static int guard_start(child *x, relet_time kill_at)
{
    int fd[2];

    if (pipe(fd))
        return -1;
    /* A guard that does not read must not hold us up. */
    if (fcntl(fd[1], F_SETFL, O_NONBLOCK) ||
        fcntl(fd[1], F_SETFD, FD_CLOEXEC) ||
        fcntl(fd[0], F_SETFD, FD_CLOEXEC) || (x->guard = fork()) < 0) {
        child_close_all(fd);
        return -1;
    }
    if (x->guard == 0) {
        guard_main(fd[0], kill_at);
        _exit(0);
    }
    setpgid(x->guard, x->guard); /* parent or child, whichever is first */
    close(fd[0]);
    x->line = fd[1];
    x->kill_at = kill_at;
    return 0;
}

/* Kills all processes of the group that still run, the guard too. */
static void guard_end(child *x)
{
    kill(-x->guard, SIGKILL);
    close(x->line);
    while (waitpid(x->guard, NULL, 0) < 0 && errno == EINTR)
        ;
    x->guard = 0;
}

/* ----------------------------------------------------------------- command */

/* Standard input is a terminal that we may read. */
static int child_has_terminal(void)
{
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* A descriptor of the terminal, whatever standard input is; or -1. */
static int child_terminal(void)
{
    return open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
}

/* A command that is given pipes gets no terminal, so it cannot open /dev/tty. A
 * read from the terminal would stop it, as it does any group in the background,
 * and nothing would let the command go on. */
static void child_leave_terminal(void)
{
#ifdef TIOCNOTTY
    int fd = child_terminal();

    if (fd < 0)
        return;
    (void)ioctl(fd, TIOCNOTTY);
    close(fd);
#endif
}

/* Lends the terminal, if it is ours, to a command that was stopped for wanting
 * the terminal, and lets the command go on. */
static void child_lend_terminal(child *x)
{
    int fd = child_terminal();
    sigset_t mask;

    if (fd >= 0 && tcgetpgrp(fd) == getpgrp()) {
        child_block(&mask);
        x->terminal = !tcsetpgrp(fd, x->guard);
        sigprocmask(SIG_SETMASK, &mask, NULL);
    }
    if (fd >= 0)
        close(fd);
    if (!x->terminal)
        return;
    x->waits = 0;
    child_tell(x, SIGCONT);
}

static int child_unable(int failed)
{
    return failed == ENOENT ? CHILD_UNKNOWN : CHILD_UNABLE;
}

/* Looks for the name in one folder, or with n 0 takes it as a path. 0 or errno.
 */
static int child_look_in(const char *folder, size_t n, const char *name)
{
    char path[4096];
    struct stat info;

    if (n + strlen(name) + 2 > sizeof path)
        return ENAMETOOLONG;
    memcpy(path, folder, n);
    if (n > 0)
        path[n++] = '/';
    memcpy(path + n, name, strlen(name) + 1);
    if (access(path, X_OK) || stat(path, &info))
        return errno;
    return S_ISREG(info.st_mode) ? 0 : EACCES;
}

int child_look_up(const char *name)
{
    const char *path = strchr(name, '/') || !*name ? "" : getenv("PATH");
    int failed = ENOENT;

    for (path = path ? path : "/bin:/usr/bin";;) {
        size_t n = strcspn(path, ":");
        int here = child_look_in(path, n, name);

        if (!here)
            return 0;
        if (here != ENOENT && here != ENOTDIR)
            failed = here;
        if (path[n] == 0)
            break;
        path += n + 1;
    }
    cli_say("'%s': %s", name, strerror(failed));
    return child_unable(failed);
}

/* Runs in the forked process. Returns only if this process cannot become the
 * command: the exit code that tells the reason. */
static int child_become(const child *x, char **argv, const int *fds,
                        const sigset_t *mask, pid_t parent)
{
    size_t i;
    int failed;

    setpgid(0, x->guard);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent)
        return CHILD_UNABLE;
    if (x->terminal)
        tcsetpgrp(STDIN_FILENO, x->guard);
    if (fds)
        child_leave_terminal();
    for (i = 0; fds && i < CHILD_FDS; i++)
        if (dup2(fds[i], (int)i) < 0 || fcntl((int)i, F_SETFD, 0) < 0)
            return CHILD_UNABLE;
    for (i = 0; i < CHILD_PASSED_ON; i++) {
        struct sigaction before;

        sigaction(child_passed_on[i], NULL, &before);
        if (before.sa_handler == child_on_signal)
            child_handle(child_passed_on[i], SIG_DFL);
    }
    child_handle(SIGCHLD, SIG_DFL);
    child_handle(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(argv[0], argv);
    failed = errno;
    cli_say("'%s': %s", argv[0], strerror(failed));
    return child_unable(failed);
}

int child_start(child *x, char **argv, const int *fds, relet_time kill_at)
{
    pid_t parent = getpid();
    sigset_t mask;
    int failed;

    memset(x, 0, sizeof *x);
    child_block(&mask);
    failed = guard_start(x, kill_at);
    if (!failed) {
        x->terminal = !fds && child_has_terminal();
        x->pid = fork();
        if (x->pid == 0)
            _exit(child_become(x, argv, fds, &mask, parent));
        if (x->pid < 0) {
            failed = -1;
            x->pid = 0;
            guard_end(x);
        } else {
            setpgid(x->pid, x->guard);
        }
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return failed;
}

void child_setenv(const char *name, uint64_t n)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, n);
    setenv(name, text, 1);
}

void child_kill_at(child *x, relet_time at)
{
    if (at <= relet_clock())
        child_tell(x, SIGKILL);
    /* A time that is not delivered does no harm: the guard kills earlier. */
    if (at != x->kill_at && write(x->line, &at, sizeof at) < 0 &&
        errno == EPIPE)
        child_tell(x, SIGKILL); /* the guard is gone */
    x->kill_at = at;
}

/* The command may have left its group, so its pid gets the signal, too. */
void child_tell(const child *x, int signo)
{
    if (!x->pid)
        return;
    kill(-x->guard, signo);
    kill(x->pid, signo);
}

static void child_take_terminal(const child *x)
{
    int fd = x->terminal ? child_terminal() : -1;
    sigset_t mask;

    if (fd < 0)
        return;
    child_block(&mask);
    tcsetpgrp(fd, getpgrp());
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(fd);
}

/* After Ctrl-Z the command goes on at once: no shell notices the stop, and a
 * lease is not held for a stopped command. */
static void child_stopped(child *x, int signo)
{
    if (signo == SIGTSTP)
        child_tell(x, SIGCONT);
    else if (signo == SIGTTIN || signo == SIGTTOU)
        x->waits = 1;
}

int child_ended(child *x, int *code)
{
    siginfo_t info;
    int status;

    memset(&info, 0, sizeof info);
    if (x->pid && x->waits)
        child_lend_terminal(x);
    if (!x->pid || waitid(P_PID, (id_t)x->pid, &info,
                          WEXITED | WSTOPPED | WNOHANG | WNOWAIT) ||
        info.si_pid == 0)
        return 0;
    if (info.si_code == CLD_STOPPED) {
        int signo = info.si_status;

        (void)waitid(P_PID, (id_t)x->pid, &info, WSTOPPED | WNOHANG);
        child_stopped(x, signo);
        return 0;
    }
    guard_end(x);
    child_take_terminal(x);
    if (waitpid(x->pid, &status, 0) != x->pid)
        status = 0;
    x->pid = 0;
    *code = WIFSIGNALED(status) ? CHILD_SIGNAL + WTERMSIG(status)
                                : WEXITSTATUS(status);
    return 1;
}
