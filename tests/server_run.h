/* SPDX-License-Identifier: MIT
 *
 * server_run.h - runs a table of tests on Redis and on Valkey, over TCP and
 * over a Unix socket.
 *
 *   REDIS_SERVER=… VALKEY_SERVER=… [VALKEY_LIBS=…] server_test [PART OF NAME]
 *
 * Each server has a runner, a separate process that starts and ends servers as
 * its tests need them. Both runners run at once. Each child process ends with
 * its parent, however the parent ends. After each test, the ledger of every
 * client must show exactly one outcome for each operation. */
#ifndef T_SERVER_RUN_H
#define T_SERVER_RUN_H

#include "server_proxy.h"
#include "server_rig.h"

enum { T_BOTH, T_TCP };

typedef struct t_case {
    const char *name;
    void (*run)(void);
    int where; /* T_BOTH transports, or one of them                     */
} t_case;

#define C(name, where) {#name, name, where}

/* Prints each line in one write, since both runners print at once. */
static void t_tell(const char *verdict, const char *name, const char *more)
{
    char line[1400];
    int n = snprintf(line, sizeof line, "%s %s %s: %s%s\n", verdict,
                     t_world.kind, t_world.local ? "unix" : "tcp", name, more);

    if (n > (int)sizeof line - 1)
        n = (int)sizeof line - 1;
    (void)!write(STDOUT_FILENO, line, (size_t)n);
}

static void t_spell(char *out, const char *name)
{
    while ((*out = *name++) != '\0') {
        if (*out == '_')
            *out = ' ';
        out++;
    }
}

/* failed is volatile, since setjmp returns twice. */
static void t_run(const t_case *t)
{
    volatile int failed = 0;
    relet_time began = relet_clock();
    char name[200], more[1100];

    t_spell(name, t->name);
    t_world.jumping = 1;
    if (setjmp(t_world.out) == 0) {
        t->run();
        t_settle_all();
    } else {
        failed = 1;
    }
    t_world.jumping = 0;
    t_clean();
    (void)snprintf(more, sizeof more, " (%lld ms)",
                   (long long)(relet_clock() - began));
    if (failed)
        (void)snprintf(more, sizeof more, "\n    %s", t_world.trouble);
    t_tell(failed ? "FAIL" : "ok", name, more);
    t_world.failed += failed;
    t_world.passed += !failed;
}

#define T_SERVERS 2
static const char *const t_kinds[T_SERVERS] = {"redis", "valkey"};

typedef struct t_sums {
    int passed, failed, skipped;
} t_sums;

/* The runners and folders that end with the parent process. */
static volatile pid_t t_runner[T_SERVERS];
static char t_folder[T_SERVERS][200];

static int t_chosen(const t_case *t, const char *part)
{
    char name[200];

    t_spell(name, t->name);
    return part == NULL || strstr(name, part) != NULL ||
           strstr(t->name, part) != NULL;
}

static void t_run_all(const t_case *cases, size_t count, const char *part)
{
    size_t i;

    for (t_world.local = 0; t_world.local < 2; t_world.local++)
        for (i = 0; i < count; i++) {
            char name[200];

            if (!t_chosen(&cases[i], part) ||
                (t_world.local && cases[i].where == T_TCP))
                continue;
            if (t_world.binary != NULL) {
                t_run(&cases[i]);
                continue;
            }
            t_spell(name, cases[i].name);
            t_tell("SKIP", name, ", the server is not installed");
            t_world.skipped++;
        }
}

/* Runs all tests of one server, in a separate process. */
static void t_runner_main(const t_case *cases, size_t count, const char *part,
                          int sums_fd)
{
    t_sums sums;

    t_run_all(cases, count, part);
    sums.passed = t_world.passed;
    sums.failed = t_world.failed;
    sums.skipped = t_world.skipped;
    (void)!write(sums_fd, &sums, sizeof sums);
    exit(0);
}

static const char *t_env(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

static int t_begin(int i, const t_case *cases, size_t count, const char *part)
{
    static const char *const variable[T_SERVERS] = {"REDIS_SERVER",
                                                    "VALKEY_SERVER"};
    pid_t parent = getpid();
    int fd[2];

    t_world.kind = t_kinds[i];
    t_world.binary = t_env(variable[i]);
    t_world.libs = i == 1 ? t_env("VALKEY_LIBS") : NULL;
    (void)snprintf(t_folder[i], sizeof t_folder[i], "%.150s/relet-XXXXXX",
                   t_env("TMPDIR") ? t_env("TMPDIR") : "/tmp");
    if (mkdtemp(t_folder[i]) == NULL || pipe(fd) != 0)
        return -1;
    memcpy(t_world.folder, t_folder[i], sizeof t_world.folder);
    t_runner[i] = fork();
    if (t_runner[i] < 0)
        return -1;
    if (t_runner[i] == 0) {
        (void)signal(SIGTERM, SIG_DFL);
        (void)signal(SIGINT, SIG_DFL);
        t_die_with_parent(parent);
        (void)close(fd[0]);
        t_runner_main(cases, count, part, fd[1]);
    }
    (void)close(fd[1]);
    return fd[0];
}

static void t_remove_folder(int i)
{
    if (t_folder[i][0] == '\0')
        return;
    t_empty(t_folder[i], 1);
    (void)rmdir(t_folder[i]);
}

/* On a signal to stop, or when the time is up, kills the runners, whose servers
 * end with them. The wait for the runners then returns, and the parent cleans
 * up. */
static void t_stopped(int sig)
{
    int i;

    (void)sig;
    for (i = 0; i < T_SERVERS; i++)
        if (t_runner[i] > 0)
            (void)kill(t_runner[i], SIGKILL);
}

/* Returns 1 if the runner has reported its sums and ended by 0. */
static int t_finish(int i, int fd, t_sums *sums)
{
    int status = 0, told;

    memset(sums, 0, sizeof *sums);
    do {
        told = (int)read(fd, sums, sizeof *sums);
    } while (told < 0 && errno == EINTR);
    while (waitpid(t_runner[i], &status, 0) < 0 && errno == EINTR)
        continue;
    t_runner[i] = 0;
    (void)close(fd);
    t_remove_folder(i);
    return told == (int)sizeof *sums && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

#define T_TOGETHER_S 900

static void t_add(t_sums *total, int i, int fd)
{
    t_sums sums = {0, 0, 0};

    if (fd < 0 || !t_finish(i, fd, &sums)) {
        (void)printf("FAIL %s: its tests ended early\n", t_kinds[i]);
        sums.failed++;
    }
    total->passed += sums.passed;
    total->failed += sums.failed;
    total->skipped += sums.skipped;
}

static int t_main(int argc, char **argv, const t_case *cases, size_t count)
{
    const char *part = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    t_sums total = {0, 0, 0};
    int fd[T_SERVERS], i;

    (void)signal(SIGTERM, t_stopped);
    (void)signal(SIGINT, t_stopped);
    (void)signal(SIGALRM, t_stopped);
    (void)alarm(T_TOGETHER_S);
    for (i = 0; i < T_SERVERS; i++)
        fd[i] = t_begin(i, cases, count, part);
    for (i = 0; i < T_SERVERS; i++)
        t_add(&total, i, fd[i]);
    (void)printf("%d passed, %d failed, %d skipped\n", total.passed,
                 total.failed, total.skipped);
    return total.failed > 0 || total.passed + total.skipped == 0;
}

#define T_SERVER_MAIN(cases)                                            \
    int main(int argc, char **argv)                                     \
    {                                                                   \
        return t_main(argc, argv, cases, sizeof cases / sizeof *cases); \
    }

#endif
