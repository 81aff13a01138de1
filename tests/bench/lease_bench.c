/* SPDX-License-Identifier: MIT
 *
 * lease_bench.c - measures how soon the next client leads, and the cost of
 * waiting.
 *
 *     lease_bench BENCH.TSV PORT      a table; lines appended to the file
 *     lease_bench --lead PORT RUN FIRST COUNT TTL_MS    leads these leases
 *                                                       until it is killed
 *
 * Many clients share one poll set, as in a program's own loop, so the times
 * include that loop. Nothing sleeps for an event. Followers are in line when
 * the server has counted them; a leader leads once it got GAINED.
 *
 *   release   relet_lease_work_done of the leader to GAINED of the next one;
 *             the server counts the requests for the lease (INFO commandstats)
 *   kill -9   of the leading process to GAINED of the next ones, less the time
 *             that the server gave each lease right behind the kill
 *   idle      commands that a client sends while nothing happens; each goes
 *             out alone, so the growths of its bytes_out are counted
 *
 * Each has five runs; the table has the median, and the least and the most.
 * More than one leader ends the program with 1. With BENCH_QUICK in the
 * environment each figure is that of one short run of few clients: for the
 * checks alone. */
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "members.h"

enum {
    RUNS = 5,
    RELEASES = 200, /* in a run                                              */
    KILLS = 5,
    KILLED = 20,        /* leases of a process that is killed                */
    KILL_TTL_MS = 1000, /* the result does not depend on it                  */
    IDLE_FOLLOWERS = 3
};

/* The sizes of a measurement; with BENCH_QUICK they are smaller. */
typedef struct sizes {
    int runs, releases, kills, killed, idle_leases;
    relet_time idle_ttl_ms, idle_window_ms; /* the default TTL               */
    int most; /* followers                                                   */
} sizes;

static const sizes whole = {RUNS, RELEASES, KILLS, KILLED, 50, 10000, 20000,
                            1000};
static const sizes short_ones = {1, 10, 1, 3, 2, 1000, 1000, 30};
static const sizes *size = &whole;

/* ----------------------------------------------------- what the server says */

static relet *control;

/* Returns the answer to a command: an integer, or a text. */
static relet_value ask(const char *word, const char *argument)
{
    static relet_event ev;
    relet_span argv[2];

    argv[0] = relet_str(word);
    argv[1] = relet_str(argument);
    if (relet_call(control, argv, 2, &ev, 10000) != 0 ||
        ev.kind != RELET_EV_REPLY)
        die("no answer", word);
    return ev.value;
}

static long ask_number(const char *word, const char *argument)
{
    int64_t n = 0;

    if (!relet_value_int(ask(word, argument), &n))
        die("no number", word);
    return (long)n;
}

/* An acquisition and a release look into the line once each, a renewal never.
 * The text ends with a line end, so reading the number stops inside the
 * text. */
static long looks_into_the_line(void)
{
    static const char word[] = "cmdstat_zrange:calls=";
    relet_span text = relet_value_text(ask("INFO", "commandstats"));
    size_t i;

    for (i = 0; i + sizeof word < text.n; i++)
        if (memcmp(text.p + i, word, sizeof word - 1) == 0)
            return strtol(text.p + i + sizeof word - 1, NULL, 10);
    return 0;
}

/* A part of each lease's name, so that no lease of an earlier run has it. */
static char run_name[16];

static const char *name_of(int number)
{
    static char name[40];

    snprintf(name, sizeof name, "bench-%s-%d", run_name, number);
    return name;
}

static const char *key_of(int number, const char *what)
{
    static char key[80];

    snprintf(key, sizeof key, *what ? "{leader:%s}%s" : "leader:%s%s",
             name_of(number), what);
    return key;
}

/* Turns until this number of followers is in the lease's line. */
static void until_in_line(int number, int followers)
{
    relet_time late = relet_clock() + 10000;

    while (ask_number("ZCARD", key_of(number, ":sleepers")) != followers) {
        members_turn(relet_clock());
        if (relet_clock() > late)
            die("they do not line up", key_of(number, ":sleepers"));
    }
}

/* ---------------------------------------------------------------- reporting */

static FILE *tsv;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Returns the percentile. Sorts the values. */
static double percentile(double *v, int n, int percent)
{
    qsort(v, (size_t)n, sizeof *v, by_size);
    return v[(n * percent + 99) / 100 - 1];
}

/* Prints the median of one figure of each run. */
static void report(const char *what, double *runs, const char *peer,
                   double theirs, const char *unit)
{
    double ours = percentile(runs, size->runs, 50);

    double spread = 50 * (runs[size->runs - 1] - runs[0]);

    printf("lease   %-47s%8.5g  (%.5g … %.5g) %s", what, ours, runs[0],
           runs[size->runs - 1], unit);
    if (peer != NULL)
        printf("; %s %g", peer, theirs);
    printf("\n");
    fflush(stdout);
    spread = ours > 0 ? spread / ours : 0;
    if (peer != NULL)
        fprintf(tsv, "lease\t%s\t%.3f\t%s\t%.3f\t%s\t%.2f\t%.1f\n", what,
                ours, peer, theirs, unit, ours > 0 ? theirs / ours : 0, spread);
    else
        fprintf(tsv, "lease\t%s\t%.3f\t-\t-\t%s\t-\t%.1f\n", what, ours,
                unit, spread);
}

static void report_times(const char *what, double *p50, double *p99,
                         const char *unit)
{
    char line[120];

    snprintf(line, sizeof line, "%s, p50", what);
    report(line, p50, NULL, 0, unit);
    snprintf(line, sizeof line, "%s, p99", what);
    report(line, p99, NULL, 0, unit);
}

/* ------------------------------------------------------------------ release */

static int number; /* the lease's number; each is used once                  */

static int leader(void)
{
    int i;

    for (i = 0; i < member_count && !members[i].leads; i++)
        ;
    return i;
}

/* Returns the us from the leader's release until the next client leads. The old
 * leader goes to the end of the line. */
static double release_once(int followers)
{
    int old = leader(), next;
    double begin = now_us();

    members[old].leads = 0;
    member_leave(old);
    while ((next = leader()) == member_count || !members[old].ended)
        members_turn(RELET_NEVER);
    member_start(old, name_of(number), 60000);
    until_in_line(number, followers);
    if (members_leading() != 1)
        die("there is not one leader", name_of(number));
    return members[next].gained_us - begin;
}

static void release_run(int followers, double *p50, double *p99,
                        double *woken)
{
    static double us[RELEASES];
    long before = looks_into_the_line(), looks;
    int i;

    for (i = 0; i < size->releases; i++)
        us[i] = release_once(followers);
    looks = looks_into_the_line() - before;
    /* Two looks are no wake-up: the release's own, and that of the old leader,
     * which lines up again. */
    *woken = (double)looks / size->releases - 2;
    *p50 = percentile(us, size->releases, 50);
    *p99 = percentile(us, size->releases, 99);
}

static void bench_release(int followers)
{
    double p50[RUNS], p99[RUNS], woken[RUNS];
    char what[80];
    int i;

    number++;
    members_open(followers + 1);
    member_start(0, name_of(number), 60000);
    while (!members[0].leads)
        members_turn(RELET_NEVER);
    for (i = 1; i <= followers; i++)
        member_start(i, name_of(number), 60000);
    until_in_line(number, followers);
    for (i = 0; i < size->runs; i++)
        release_run(followers, &p50[i], &p99[i], &woken[i]);
    snprintf(what, sizeof what, "release to GAINED, %d followers", followers);
    report_times(what, p50, p99, "us");
    snprintf(what, sizeof what, "who ask at a release, %d followers",
             followers);
    report(what, woken, NULL, 0, "asks");
    members_close();
}

/* ------------------------------------------------------------------ kill -9 */

static const char *self;

/* Leads `count` leases from `first` on. Once it leads all, it reports its
 * memory and goes on until it is killed or its parent has ended. */
static void lead(int first, int count, relet_time ttl_ms)
{
    pid_t parent = getppid();
    struct rusage used;
    int i;

    members_open(count);
    for (i = 0; i < count; i++)
        member_start(i, name_of(first + i), ttl_ms);
    while (members_leading() < count)
        members_turn(RELET_NEVER);
    getrusage(RUSAGE_SELF, &used);
    if (write(1, &used.ru_maxrss, sizeof used.ru_maxrss) < 0)
        die("nobody listens", "");
    while (getppid() == parent)
        members_turn(RELET_NEVER);
    exit(0);
}

static void lead_exec(const char *port, int first, int count, relet_time ttl)
{
    char from[16], n[16], ms[16];

    snprintf(from, sizeof from, "%d", first);
    snprintf(n, sizeof n, "%d", count);
    snprintf(ms, sizeof ms, "%d", (int)ttl);
    execl(self, self, "--lead", port, run_name, from, n, ms, (char *)NULL);
    _exit(127);
}

/* Starts a process that leads these leases. *kb receives its largest resident
 * size. */
static pid_t lead_start(const char *port, int first, int count,
                        relet_time ttl_ms, long *kb)
{
    int fd[2];
    pid_t pid = -1;

    if (pipe(fd) != 0 || (pid = fork()) < 0)
        die("fork", strerror(errno));
    if (pid == 0) {
        dup2(fd[1], 1);
        close(fd[0]);
        close(fd[1]);
        lead_exec(port, first, count, ttl_ms);
    }
    close(fd[1]);
    if (read(fd[0], kb, sizeof *kb) != (ssize_t)sizeof *kb)
        die("nobody leads", "");
    close(fd[0]);
    return pid;
}

static void lead_kill(pid_t pid)
{
    int status;

    if (kill(pid, SIGKILL) != 0 || waitpid(pid, &status, 0) != pid)
        die("kill", strerror(errno));
}

/* Stores the time, in us, at which each lease ends by the server's PTTL. */
static void ends(int first, int count, double *end_us)
{
    long left_ms;
    int i;

    for (i = 0; i < count; i++) {
        end_us[i] = now_us();
        left_ms = ask_number("PTTL", key_of(first + i, ""));
        if (left_ms < 0)
            die("lost before the kill", key_of(first + i, ""));
        end_us[i] += 1e3 * (double)left_ms;
    }
}

/* Waiting clients leave first, so that none of them leads in a leaver's
 * place. */
static void all_leave(void)
{
    int i;

    for (i = 0; i < member_count; i++)
        if (!members[i].leads)
            member_give_up(i);
    for (i = 0; i < member_count; i++)
        if (members[i].leads)
            member_leave(i);
    for (i = 0; i < member_count; i++)
        while (!members[i].ended)
            members_turn(RELET_NEVER);
}

static void follow(int followers)
{
    int i;

    for (i = 0; i < size->killed * followers; i++)
        member_start(i, name_of(number + i / followers), KILL_TTL_MS);
    for (i = 0; i < size->killed; i++)
        until_in_line(number + i, followers);
}

/* Stores for each lease how many ms after its end the next client led. */
static void kill_once(const char *port, int followers, double *late_ms)
{
    double end_us[KILLED];
    pid_t pid;
    long kb;
    int i;

    number += size->killed;
    pid = lead_start(port, number, size->killed, KILL_TTL_MS, &kb);
    follow(followers);
    members_run(rand() % KILL_TTL_MS); /* renewals of any age */
    lead_kill(pid);
    ends(number, size->killed, end_us);
    while (members_leading() < size->killed)
        members_turn(RELET_NEVER);
    for (i = 0; i < member_count; i++)
        if (members[i].leads)
            late_ms[i / followers] =
                (members[i].gained_us - end_us[i / followers]) / 1e3;
    all_leave();
}

static void bench_kill(const char *port, int followers)
{
    static double late_ms[KILLS * KILLED];
    double p50[RUNS], p99[RUNS];
    char what[80];
    int i, k;

    members_open(size->killed * followers);
    for (i = 0; i < size->runs; i++) {
        for (k = 0; k < size->kills; k++)
            kill_once(port, followers, late_ms + k * size->killed);
        p50[i] = percentile(late_ms, size->kills * size->killed, 50);
        p99[i] = percentile(late_ms, size->kills * size->killed, 99);
    }
    snprintf(what, sizeof what, "kill -9, GAINED behind the end, %d followers",
             followers);
    report_times(what, p50, p99, "ms");
    members_close();
}

/* --------------------------------------------------------------------- idle
 *
 * Each lease has a leader, a first follower in line, and other followers. */

enum { ROLES = 3 };

static int role_of(int i)
{
    int place = i % (1 + IDLE_FOLLOWERS);

    return place < ROLES ? place : ROLES - 1;
}

static void idle_start(void)
{
    int i, leads;

    members_open(size->idle_leases * (1 + IDLE_FOLLOWERS));
    for (i = 0; i < member_count; i++) {
        leads = role_of(i) == 0;
        number += leads;
        member_start(i, name_of(number), size->idle_ttl_ms);
        while (leads && !members[i].leads)
            members_turn(RELET_NEVER);
        if (!leads)
            until_in_line(number, i % (1 + IDLE_FOLLOWERS));
        members_run(size->idle_ttl_ms / member_count);
    }
    members_run(2 * size->idle_ttl_ms); /* then pings are as usual */
}

/* Commands per second and client, of each role. */
static void idle_window(double rate[ROLES])
{
    long sent[ROLES] = {0, 0, 0};
    int clients[ROLES] = {0, 0, 0}, i;

    for (i = 0; i < member_count; i++)
        members[i].sent = 0;
    members_run(size->idle_window_ms);
    for (i = 0; i < member_count; i++) {
        sent[role_of(i)] += members[i].sent;
        clients[role_of(i)]++;
    }
    for (i = 0; i < ROLES; i++)
        rate[i] = 1e3 * (double)sent[i] / clients[i] / size->idle_window_ms;
}

static void bench_idle(void)
{
    static const char *const what[ROLES] = {
        "idle leader, 10 s leases, commands", "idle follower, first in line",
        "idle follower, behind the first"};
    double rate[RUNS][ROLES], runs[RUNS];
    int i, role;

    idle_start();
    for (i = 0; i < size->runs; i++)
        idle_window(rate[i]);
    for (role = 0; role < ROLES; role++) {
        for (i = 0; i < size->runs; i++)
            runs[i] = rate[i][role];
        report(what[role], runs, role ? NULL : "renewals", 0.3, "/s");
    }
    members_close();
}

/* ------------------------------------------------------------------- memory */

/* Must be called while this process is small: its child begins as a copy. */
static void bench_process(const char *port)
{
    double runs[RUNS];
    long kb;
    int i;

    for (i = 0; i < size->runs; i++) {
        lead_kill(lead_start(port, ++number, 1, 10000, &kb));
        runs[i] = (double)kb;
    }
    report("process that leads, resident", runs, NULL, 0, "KB");
}

static void bench_client(void)
{
    double ours[RUNS], without;
    relet_config c;
    int i;

    relet_config_init_small(&c);
    without = (double)relet_size(&c);
    c.leases_max = 1;
    for (i = 0; i < size->runs; i++)
        ours[i] = (double)relet_size(&c);
    report("smallest client with a lease", ours, "without", without, "bytes");
}

/* Each client has two descriptors. */
static void many_descriptors(void)
{
    struct rlimit most;

    if (getrlimit(RLIMIT_NOFILE, &most) != 0)
        return;
    most.rlim_cur = most.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &most);
}

int main(int argc, char **argv)
{
    int followers[] = {2, 10, 0};
    size_t i;

    size = getenv("BENCH_QUICK") != NULL ? &short_ones : &whole;
    followers[2] = size->most;
    self = argv[0];
    if (argc == 7 && strcmp(argv[1], "--lead") == 0) {
        snprintf(server, sizeof server, "redis://127.0.0.1:%s", argv[2]);
        snprintf(run_name, sizeof run_name, "%s", argv[3]);
        lead(atoi(argv[4]), atoi(argv[5]), atoi(argv[6]));
    }
    if (argc != 3 || (tsv = fopen(argv[1], "a")) == NULL)
        die("usage: lease_bench BENCH.TSV PORT", "");
    snprintf(server, sizeof server, "redis://127.0.0.1:%s", argv[2]);
    snprintf(run_name, sizeof run_name, "%d", (int)getpid());
    many_descriptors();
    bench_process(argv[2]);
    bench_client();
    control = client_open();
    for (i = 0; i < sizeof followers / sizeof followers[0]; i++)
        bench_release(followers[i]);
    bench_kill(argv[2], 2);
    bench_kill(argv[2], 10);
    bench_idle();
    relet_close(control);
    fclose(tsv);
    return 0;
}
