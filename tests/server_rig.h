/* SPDX-License-Identifier: MIT
 *
 * server_rig.h - real servers and clients for the server tests, and their
 * ledger.
 *
 * There is one server at a time, a child process that listens at a free
 * loopback port and at a Unix socket in a temporary folder. All clients of a
 * test turn in one loop, over relet_watches, so a test is a plain sequence of
 * steps. Every client has a ledger with a line for each operation: its command,
 * its outcome, and its effect as told by the server. A failed check jumps out
 * of the test; clients and servers that the test left open are closed behind
 * it. */
#ifndef T_SERVER_RIG_H
#define T_SERVER_RIG_H

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "outcome.h"
#include "relet.h"

#define T_CLIENTS 8
#define T_SOON 30000 /* to fail instead of hanging, on a slow machine */

typedef enum t_what {
    T_ANY,   /* the test checks the answer itself                       */
    T_ECHO,  /* ECHO of the tag                                         */
    T_COUNT, /* INCR of this client's own counter                       */
    T_PUSH,  /* RPUSH log TAG: a repetition shows                       */
    T_SET    /* HSET done TAG 1                                         */
} t_what;

typedef struct t_line {
    uint8_t what, flags;
    uint8_t outcome; /* relet_kind; RELET_EV_NOTHING: none yet             */
    uint8_t why;
    uint32_t effects;
} t_line;

/* A copy of an outcome. */
typedef struct t_answer {
    relet_kind kind;
    relet_why why;
    relet_type type;
    int64_t number; /* -1: not a number                                 */
    size_t count;
    int proves; /* it proves that there was no effect                   */
    char text[400];
} t_answer;

typedef struct t_client t_client;
typedef void t_see(t_client *c, const relet_event *ev);

struct t_client {
    relet *r;
    t_line *line; /* by tag                                             */
    uint64_t tags, cap;
    uint64_t n[RELET_EV_PUSHED + 1];     /* events by kind                 */
    uint64_t down[RELET_WHY_BUSY + 1]; /* DOWN by why                   */
    uint64_t late_order; /* replies out of order                        */
    uint64_t last_reply, asked;
    int64_t counter;
    t_answer answer; /* to the operation `asked`                        */
    char down_text[400], up_text[100], refused_text[200];
    relet_time retry_in_ms;
    t_see *see; /* the test's own look at each event                    */
    void *user;
    uint32_t window; /* operations kept under way                       */
    int script;      /* if not -1, they call this script                */
};

static struct {
    const char *kind, *binary, *libs; /* "redis", its program           */
    int local;                        /* over the Unix socket           */
    char folder[200];
    pid_t pid; /* of the server; 0: none                                */
    int port;
    char path[240];
    t_client client[T_CLIENTS];
    uint64_t turns;
    int heard; /* events in the last turn                               */
    jmp_buf out;
    int jumping; /* 1 while a test runs                                 */
    char trouble[1000];
    int passed, failed, skipped;
} t_world;

/* The proxy is a part of the loop, with its own descriptors. */
#define T_LINKS 8
#define T_PROXY_FDS (1 + 2 * T_LINKS)
static inline int t_proxy_watch(struct pollfd *p);
static inline void t_proxy_turn(const struct pollfd *p, int n);
static inline void t_proxy_close(void);

/* ----------------------------------------------------------------- checks */

#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 3, 4)))
#endif
static inline void t_fail(const char *file, int line, const char *format, ...)
{
    va_list list;
    int n = snprintf(t_world.trouble, sizeof t_world.trouble, "%s:%d: ", file,
                     line);

    va_start(list, format);
    (void)vsnprintf(t_world.trouble + n, sizeof t_world.trouble - (size_t)n,
                    format, list);
    va_end(list);
    if (t_world.jumping)
        longjmp(t_world.out, 1);
    (void)fprintf(stderr, "%s\n", t_world.trouble);
    exit(1);
}

/* The condition must hold. */
#define T(cond)                                                           \
    do {                                                                  \
        if (!(cond))                                                      \
            t_fail(__FILE__, __LINE__, "%s", #cond);                      \
    } while (0)

/* The comparison of two numbers must hold. */
#define T_CMP(a, op, b)                                                   \
    do {                                                                  \
        long long t_a = (long long)(a), t_b = (long long)(b);             \
        if (!(t_a op t_b))                                                \
            t_fail(__FILE__, __LINE__, "%s %s %s: %lld and %lld", #a, #op, \
                   #b, t_a, t_b);                                         \
    } while (0)
#define T_EQ(a, b) T_CMP(a, ==, b)

/* The text must contain the word. */
#define T_HAS(text, word)                                                 \
    do {                                                                  \
        if (strstr(text, word) == NULL)                                   \
            t_fail(__FILE__, __LINE__, "no '%s' in '%s'", word, text);    \
    } while (0)

/* Turns the loop until the condition holds. Fails after T_SOON ms. */
#define T_UNTIL(cond)                                                     \
    do {                                                                  \
        relet_time t_end = relet_clock() + T_SOON;                        \
        while (t_turn(), !(cond)) {                                       \
            if (relet_clock() >= t_end)                                   \
                t_fail(__FILE__, __LINE__, "waited in vain for: %s",      \
                       #cond);                                            \
            t_sleep(t_end);                                               \
        }                                                                 \
    } while (0)

/* ----------------------------------------------------------------- server */

static inline void t_pause(int ms)
{
    struct timespec t;

    t.tv_sec = ms / 1000;
    t.tv_nsec = (long)(ms % 1000) * 1000000;
    (void)nanosleep(&t, NULL);
}

/* No child outlives this process. */
static inline void t_die_with_parent(pid_t parent)
{
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent)
        _exit(1);
}

static inline int t_bind_loopback(int *port)
{
    struct sockaddr_in a;
    socklen_t n = (socklen_t)sizeof a;
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    T(fd >= 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    T(bind(fd, (struct sockaddr *)&a, n) == 0);
    T(getsockname(fd, (struct sockaddr *)&a, &n) == 0);
    *port = ntohs(a.sin_port);
    return fd;
}

/* Chooses the next server's port and path. No process listens there yet. */
static inline void t_place(void)
{
    int fd = t_bind_loopback(&t_world.port);

    (void)close(fd);
    (void)snprintf(t_world.path, sizeof t_world.path, "%s/socket",
                   t_world.folder);
}

static inline void t_write_config(const char *lines)
{
    char name[260];
    FILE *f;

    (void)snprintf(name, sizeof name, "%s/conf", t_world.folder);
    f = fopen(name, "w");
    T(f != NULL);
    (void)fprintf(f,
                  "bind 127.0.0.1\nport %d\nunixsocket %s\ndir %s\n"
                  "logfile %s/log\nsave \"\"\ndaemonize no\n"
                  "enable-debug-command yes\n%s\n",
                  t_world.port, t_world.path, t_world.folder, t_world.folder,
                  lines);
    T(fclose(f) == 0);
}

static inline int t_connect(void)
{
    struct sockaddr_un a;
    struct timeval limit = {1, 0};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    T(fd >= 0);
    memset(&a, 0, sizeof a);
    a.sun_family = AF_UNIX;
    T(strlen(t_world.path) < sizeof a.sun_path);
    memcpy(a.sun_path, t_world.path, strlen(t_world.path));
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&a, (socklen_t)sizeof a) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

/* Copies the server's answer to PING into text; "" if there is none. */
static inline void t_peek(char *text, size_t cap)
{
    int fd = t_connect();
    long got;

    text[0] = '\0';
    if (fd < 0)
        return;
    got = send(fd, "PING\r\n", 6, MSG_NOSIGNAL) == 6
              ? (long)recv(fd, text, cap - 1, 0) : 0;
    text[got > 0 ? got : 0] = '\0';
    (void)close(fd);
}

static inline void t_launch(void)
{
    char conf[260];
    pid_t parent = getpid();

    (void)snprintf(conf, sizeof conf, "%s/conf", t_world.folder);
    t_world.pid = fork();
    T(t_world.pid >= 0);
    if (t_world.pid > 0)
        return;
    t_die_with_parent(parent);
    if (t_world.libs != NULL && t_world.libs[0] != '\0')
        (void)setenv("LD_LIBRARY_PATH", t_world.libs, 1);
    (void)execl(t_world.binary, t_world.binary, conf, (char *)NULL);
    _exit(127);
}

/* Returns 1 if the server answers, 0 if it has ended, perhaps since the port
 * was taken. */
static inline int t_answers(int even_loading)
{
    relet_time end = relet_clock() + T_SOON;
    char text[100];

    while (relet_clock() < end) {
        t_peek(text, sizeof text);
        if (text[0] != '\0' && (even_loading || strncmp(text, "-LOAD", 5)))
            return 1;
        if (waitpid(t_world.pid, NULL, WNOHANG) == t_world.pid) {
            t_world.pid = 0;
            return 0;
        }
        t_pause(2);
    }
    t_fail(__FILE__, __LINE__, "the server does not come");
}

static inline void t_signal(int sig)
{
    int status = 0;

    T(t_world.pid > 0);
    T(kill(t_world.pid, sig) == 0);
    if (sig == SIGSTOP) {
        T(waitpid(t_world.pid, &status, WUNTRACED) == t_world.pid);
        T(WIFSTOPPED(status));
    }
}

/* Kills the server by SIGKILL, so that it cannot end in order. */
static inline void t_kill(void)
{
    if (t_world.pid <= 0)
        return;
    (void)kill(t_world.pid, SIGKILL);
    while (waitpid(t_world.pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    t_world.pid = 0;
}

/* Starts a server with these lines in its configuration, at the chosen port and
 * path. */
static inline void t_start_here(const char *lines, int even_loading)
{
    int tries;

    t_write_config(lines);
    for (tries = 0; tries < 20; tries++) {
        t_launch();
        if (t_answers(even_loading))
            return;
        t_pause(50); /* another process holds the port */
    }
    t_fail(__FILE__, __LINE__, "the server does not start");
}

static inline void t_remove_data(void);

static inline void t_start(const char *lines)
{
    t_remove_data();
    t_place();
    t_start_here(lines, 0);
}

/* Removes the content of a folder, one level of folders deep. */
static inline void t_empty(const char *folder, int deeper)
{
    char name[600];
    struct dirent *e;
    DIR *d = opendir(folder);

    while (d != NULL && (e = readdir(d)) != NULL) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        (void)snprintf(name, sizeof name, "%s/%.255s", folder, e->d_name);
        if (unlink(name) != 0 && deeper > 0) {
            t_empty(name, deeper - 1);
            (void)rmdir(name);
        }
    }
    if (d != NULL)
        (void)closedir(d);
}

static inline void t_remove_data(void)
{
    t_empty(t_world.folder, 1);
}

/* ---------------------------------------------------------------- clients */

/* The retries are quick, and operations have much time. */
static inline relet_config t_config(void)
{
    relet_config g;

    relet_config_init(&g);
    g.timeout_ms = 20000;
    g.retry_min_ms = 2;
    g.retry_max_ms = 50;
    g.stable_ms = 1;
    g.seed = 1;
    return g;
}

/* bob is a user whom a test adds to the configuration of its server. */
static inline relet_config t_as_bob(void)
{
    relet_config g = t_config();

    (void)strcpy(g.user, "bob");
    (void)strcpy(g.password, "pw");
    return g;
}

/* Sets the server's address in the configuration. */
static inline void t_aim(relet_config *g)
{
    g->scheme = t_world.local ? RELET_UNIX : RELET_TCP;
    g->port = t_world.port;
    (void)snprintf(g->host, sizeof g->host, "%s",
                   t_world.local ? t_world.path : "127.0.0.1");
}

static inline t_client *t_open_at(const relet_config *g)
{
    relet_fault fault;
    t_client *c = t_world.client;

    while (c < t_world.client + T_CLIENTS && c->r != NULL)
        c++;
    T(c < t_world.client + T_CLIENTS);
    memset(c, 0, sizeof *c);
    c->script = -1;
    c->r = relet_open(NULL, g, NULL, &fault);
    if (c->r == NULL)
        t_fail(__FILE__, __LINE__, "%s", fault.text);
    return c;
}

static inline t_client *t_open(const relet_config *g)
{
    relet_config own = *g;

    t_aim(&own);
    return t_open_at(&own);
}

static inline void t_turn(void);
static inline void t_sleep(relet_time until);

/* Opens a client with the usual configuration and waits until it is up. */
static inline t_client *t_promote(void)
{
    relet_config g = t_config();
    t_client *c = t_open(&g);

    T_UNTIL(relet_is_up(c->r) && c->n[RELET_EV_UP] > 0);
    return c;
}

static inline relet_stats t_stats(const t_client *c)
{
    relet_stats s;

    relet_stats_get(c->r, &s);
    return s;
}

/* ----------------------------------------------------------------- events */

static inline void t_copy(char *to, size_t cap, relet_span s)
{
    size_t n = s.n < cap - 1 ? s.n : cap - 1;

    if (n > 0)
        memcpy(to, s.p, n);
    to[n] = '\0';
}

static inline void t_reply(t_client *c, const t_line *l, const relet_event *ev)
{
    int64_t number = -1;

    c->late_order += ev->tag < c->last_reply;
    c->last_reply = ev->tag;
    (void)relet_value_int(ev->value, &number);
    switch ((t_what)l->what) {
    case T_ANY:
        return;
    case T_ECHO:
        T_EQ(number, ev->tag);
        return;
    case T_COUNT:
        T_EQ(number, ++c->counter);
        return;
    case T_PUSH:
        T_CMP(number, >, 0);
        return;
    case T_SET:
        T(number == 0 || number == 1);
        return;
    }
}

static inline void t_keep(t_answer *a, const relet_event *ev)
{
    memset(a, 0, sizeof *a);
    a->kind = ev->kind;
    a->why = ev->why;
    a->type = relet_value_type(ev->value);
    a->number = -1;
    (void)relet_value_int(ev->value, &a->number);
    a->count = relet_value_count(ev->value);
    a->proves = relet_value_proves_no_effect(ev->value);
    t_copy(a->text, sizeof a->text,
           ev->kind == RELET_EV_REPLY ? relet_value_text(ev->value) : ev->text);
}

static inline void t_outcome(t_client *c, const relet_event *ev)
{
    t_line *l;

    T_CMP(ev->tag, <, c->tags);
    l = &c->line[ev->tag];
    T_EQ(l->outcome, RELET_EV_NOTHING);
    l->outcome = (uint8_t)ev->kind;
    l->why = (uint8_t)ev->why;
    if (ev->kind == RELET_EV_REPLY)
        t_reply(c, l, ev);
    if (ev->tag == c->asked)
        t_keep(&c->answer, ev);
}

static inline void t_hear(t_client *c, const relet_event *ev)
{
    c->n[ev->kind]++;
    if (t_is_outcome(ev->kind)) {
        t_outcome(c, ev);
    } else if (ev->kind == RELET_EV_UP) {
        t_copy(c->up_text, sizeof c->up_text, ev->text);
    } else if (ev->kind == RELET_EV_DOWN) {
        c->down[ev->why]++;
        c->retry_in_ms = ev->retry_in_ms;
        t_copy(c->down_text, sizeof c->down_text, ev->text);
    } else if (ev->kind == RELET_EV_SUBSCRIPTION_REFUSED) {
        t_copy(c->refused_text, sizeof c->refused_text, ev->text);
    }
    if (c->see != NULL)
        c->see(c, ev);
}

/* ------------------------------------------------------------- operations */

static inline void t_line_new(t_client *c, t_what what, unsigned flags)
{
    if (c->tags == c->cap) {
        c->cap = c->cap * 2 + 1024;
        c->line = (t_line *)realloc(c->line, c->cap * sizeof *c->line);
        T(c->line != NULL);
    }
    memset(&c->line[c->tags], 0, sizeof *c->line);
    c->line[c->tags].what = (uint8_t)what;
    c->line[c->tags].flags = (uint8_t)flags;
}

/* Returns tag, timeout and flags of the operation that is submitted next. */
static inline relet_request t_request(const t_client *c, unsigned flags,
                                      relet_time timeout_ms)
{
    relet_request q;

    q.tag = c->tags;
    q.timeout_ms = timeout_ms;
    q.flags = flags;
    return q;
}

/* Submits an operation. Returns an error code, or 0 if it has a line now. */
static inline int t_try(t_client *c, t_what what, unsigned flags,
                        relet_time timeout_ms, const relet_span *argv,
                        size_t argc)
{
    relet_request q = t_request(c, flags, timeout_ms);
    int code;

    t_line_new(c, what, flags);
    code = relet_command(c->r, argv, argc, &q);
    c->tags += code == 0;
    return code;
}

/* Submits the words up to NULL. Returns 0 or an error code. */
static inline int t_words(t_client *c, const char *const *word)
{
    relet_span argv[8];
    size_t argc = 0;

    while (argc < 8 && word[argc] != NULL) {
        argv[argc] = relet_str(word[argc]);
        argc++;
    }
    return t_try(c, T_ANY, 0, 0, argv, argc);
}

/* Lets the answer to the last submitted operation be kept. Returns its tag. */
static inline uint64_t t_asked(t_client *c)
{
    memset(&c->answer, 0, sizeof c->answer);
    return c->asked = c->tags - 1;
}

/* Submits the words up to NULL and returns the tag. */
static inline uint64_t t_say(t_client *c, unsigned flags,
                             relet_time timeout_ms, ...)
{
    relet_span argv[64];
    const char *word;
    size_t argc = 0;
    va_list list;

    va_start(list, timeout_ms);
    while ((word = va_arg(list, const char *)) != NULL && argc < 64)
        argv[argc++] = relet_str(word);
    va_end(list);
    T_EQ(t_try(c, T_ANY, flags, timeout_ms, argv, argc), 0);
    return t_asked(c);
}

#define T_SAY(c, ...) t_say(c, 0, 0, __VA_ARGS__, (const char *)NULL)

/* Waits for the outcome of the last operation of t_say or t_unit. */
static inline const t_answer *t_ask(t_client *c, uint64_t tag)
{
    T_EQ(c->asked, tag);
    T_UNTIL(c->line[tag].outcome != RELET_EV_NOTHING);
    return &c->answer;
}

#define T_ASK(c, ...) t_ask(c, T_SAY(c, __VA_ARGS__))

/* Submits one operation of this kind, about its own tag. Returns 0 or an error
 * code. */
static inline int t_do(t_client *c, t_what what, unsigned flags,
                       relet_time timeout_ms)
{
    char tag[24];
    relet_span argv[4];

    (void)snprintf(tag, sizeof tag, "%llu", (unsigned long long)c->tags);
    argv[1] = argv[2] = relet_str(tag);
    argv[3] = relet_str("1");
    switch (what) {
    case T_ANY:
        break;
    case T_ECHO:
        argv[0] = relet_str("ECHO");
        return t_try(c, what, flags, timeout_ms, argv, 2);
    case T_COUNT:
        argv[0] = relet_str("INCR");
        argv[1] = relet_str("counter");
        return t_try(c, what, flags, timeout_ms, argv, 2);
    case T_PUSH:
        argv[0] = relet_str("RPUSH");
        argv[1] = relet_str("log");
        return t_try(c, what, flags, timeout_ms, argv, 3);
    case T_SET:
        argv[0] = relet_str("HSET");
        argv[1] = relet_str("done");
        return t_try(c, what, flags, timeout_ms, argv, 4);
    }
    t_fail(__FILE__, __LINE__, "no such operation");
}

static inline int t_wish(t_client *c, relet_channel kind, const char *name)
{
    return relet_subscribe(c->r, kind, relet_str(name));
}

static inline void t_many(t_client *c, int count, t_what what, unsigned flags,
                          relet_time timeout_ms)
{
    while (count-- > 0)
        T_EQ(t_do(c, what, flags, timeout_ms), 0);
}

/* Counts the lines of this kind, or of any if `what` is below 0, with this
 * outcome. */
static inline uint64_t t_count(const t_client *c, int what, relet_kind kind)
{
    uint64_t i, n = 0;

    for (i = 0; i < c->tags; i++)
        n += c->line[i].outcome == (uint8_t)kind &&
             (what < 0 || c->line[i].what == (uint8_t)what);
    return n;
}

static inline int t_quiet(const t_client *c)
{
    return relet_outstanding(c->r) == 0;
}

/* ------------------------------------------------------------------- load */

static inline int t_feed_script(t_client *c)
{
    relet_request q = t_request(c, 0, 0);
    char tag[24];
    relet_span argv[2];
    int code;

    (void)snprintf(tag, sizeof tag, "%llu", (unsigned long long)c->tags);
    argv[0] = relet_str("log");
    argv[1] = relet_str(tag);
    t_line_new(c, T_PUSH, 0);
    code = relet_script_run(c->r, c->script, 1, argv, 2, &q);
    c->tags += code == 0;
    return code;
}

/* A mix of repeatable operations and of others. */
static inline int t_feed_one(t_client *c)
{
    if (c->script >= 0)
        return t_feed_script(c);
    switch (c->tags % 4) {
    case 0: return t_do(c, T_PUSH, 0, 0);
    case 1: return t_do(c, T_ECHO, RELET_REPEATABLE, 0);
    case 2: return t_do(c, T_SET, RELET_REPEATABLE, 0);
    default: return t_do(c, T_ECHO, 0, 0);
    }
}

static inline void t_feed(t_client *c)
{
    int code;

    while (relet_outstanding(c->r) < c->window) {
        code = t_feed_one(c);
        if (code == RELET_E_LIMIT)
            return; /* tombstones count for the limit */
        T_EQ(code, 0);
    }
}

/* --------------------------------------------------------------- the loop */

#define T_EVENTS_MAX 4096 /* of one client in a turn; others wait       */

static inline int t_drain(t_client *c)
{
    relet_event ev;
    int n = 0, code = 0;

    while (n < T_EVENTS_MAX && (code = relet_wait(c->r, &ev, 0)) == 1) {
        t_hear(c, &ev);
        n++;
    }
    T_CMP(code, >=, 0);
    return n;
}

/* Takes all events of all clients, T_EVENTS_MAX of each at most. */
static inline void t_turn(void)
{
    int i;

    t_world.turns++;
    t_world.heard = 0;
    for (i = 0; i < T_CLIENTS; i++) {
        t_client *c = &t_world.client[i];

        if (c->r == NULL)
            continue;
        if (c->window > 0)
            t_feed(c);
        t_world.heard += t_drain(c);
    }
}

static inline int t_watch_all(struct pollfd *p, int *timeout_ms)
{
    relet_watch w[RELET_WATCH_MAX];
    int i, k, n, ms, used = 0;

    for (i = 0; i < T_CLIENTS; i++) {
        if (t_world.client[i].r == NULL)
            continue;
        n = relet_watches(t_world.client[i].r, w, RELET_WATCH_MAX);
        for (k = 0; k < n; k++) {
            p[used].fd = w[k].fd;
            p[used].revents = 0;
            p[used++].events = w[k].events;
        }
        ms = relet_poll_timeout(t_world.client[i].r);
        if (ms >= 0 && ms < *timeout_ms)
            *timeout_ms = ms;
    }
    return used;
}

/* If the last turn had no event, waits until a descriptor or a time is due. */
static inline void t_sleep(relet_time until)
{
    struct pollfd p[T_CLIENTS * RELET_WATCH_MAX + T_PROXY_FDS];
    relet_time left = until - relet_clock();
    int ms = left < 0 || t_world.heard > 0 ? 0 : (int)left, n, mine;

    mine = t_watch_all(p, &ms);
    n = mine + t_proxy_watch(p + mine);
    (void)poll(p, (nfds_t)n, ms);
    t_proxy_turn(p + mine, n - mine);
}

/* Turns for so many ms; only for tests about time itself. */
static inline void t_pass(int ms)
{
    relet_time end = relet_clock() + ms;

    for (t_turn(); relet_clock() < end; t_turn())
        t_sleep(end);
}

/* -------------------------------------------------------------- judgement */

/* Counts the effects: the reply is an array of tags. */
static inline void t_see_effects(t_client *c, const relet_event *ev)
{
    t_client *of = (t_client *)c->user;
    relet_value v = relet_value_first(ev->value);
    size_t n = relet_value_count(ev->value);
    int64_t tag;

    for (; n > 0; n--, v = relet_value_next(v)) {
        T(relet_value_int(v, &tag));
        T_CMP(tag, >=, 0);
        T_CMP(tag, <, of->tags);
        of->line[tag].effects++;
    }
}

static inline void t_gather(t_client *c, t_client *admin)
{
    uint64_t i;

    for (i = 0; i < c->tags; i++)
        c->line[i].effects = 0;
    admin->user = c;
    admin->see = t_see_effects;
    T_EQ(T_ASK(admin, "LRANGE", "log", "0", "-1")->kind, RELET_EV_REPLY);
    T_EQ(T_ASK(admin, "HKEYS", "done")->kind, RELET_EV_REPLY);
    admin->see = NULL;
}

/* An answered operation took effect once, an unsent or refused one never, and
 * none twice. */
static inline void t_judge(t_client *c, t_client *admin)
{
    uint64_t i;

    T(t_quiet(c));
    t_gather(c, admin);
    for (i = 0; i < c->tags; i++) {
        const t_line *l = &c->line[i];

        T_CMP(l->effects, <=, 1);
        if (l->what != T_PUSH && l->what != T_SET)
            T_EQ(l->effects, 0);
        else if (l->outcome == RELET_EV_REPLY)
            T_EQ(l->effects, 1);
        else if (l->outcome != RELET_EV_UNSURE)
            T_EQ(l->effects, 0);
    }
}

/* Each repeatable operation was repeated until it was answered. */
static inline void t_judge_repeatable(const t_client *c)
{
    uint64_t i;

    for (i = 0; i < c->tags; i++)
        if (c->line[i].flags & RELET_REPEATABLE)
            T_EQ(c->line[i].outcome, RELET_EV_REPLY);
}

/* Submitted = replies + errors + not sent + unsure, each tag once, and the
 * client's statistics agree with the ledger. */
static inline void t_settle(t_client *c)
{
    relet_stats s;
    relet_event ev;
    uint64_t i;

    c->window = 0;
    relet_stop(c->r);
    while (relet_wait(c->r, &ev, 0) == 1)
        t_hear(c, &ev);
    s = t_stats(c);
    T_EQ(relet_outstanding(c->r), 0);
    T_EQ(s.submitted, c->tags);
    T_EQ(s.replies, c->n[RELET_EV_REPLY]);
    T_EQ(s.errors, c->n[RELET_EV_ERROR]);
    T_EQ(s.not_sent, c->n[RELET_EV_NOT_SENT]);
    T_EQ(s.unsure, c->n[RELET_EV_UNSURE]);
    T_EQ(s.replies + s.errors + s.not_sent + s.unsure, c->tags);
    T_EQ(s.protocol_errors, 0);
    for (i = 0; i < c->tags; i++)
        T(c->line[i].outcome != RELET_EV_NOTHING);
}

static inline void t_close(t_client *c)
{
    relet_close(c->r);
    free(c->line);
    memset(c, 0, sizeof *c);
}

static inline void t_end(t_client *c)
{
    t_settle(c);
    t_close(c);
}

static inline void t_settle_all(void)
{
    int i;

    for (i = 0; i < T_CLIENTS; i++)
        if (t_world.client[i].r != NULL)
            t_settle(&t_world.client[i]);
}

static inline void t_clean(void)
{
    int i;

    for (i = 0; i < T_CLIENTS; i++)
        if (t_world.client[i].r != NULL)
            t_close(&t_world.client[i]);
    t_proxy_close();
    t_kill();
}

#endif
