/* SPDX-License-Identifier: MIT
 *
 * queue_rig.h - runs the scripts of a queue by name, if need be cut short, and
 * checks over all keys that each job is in exactly one place. */
#ifndef T_QUEUE_RIG_H
#define T_QUEUE_RIG_H

#include <stdarg.h>

#include "script_rig.h"

/* -------------------------------------------------------------------- calls */

typedef struct t_script {
    const char *name;
    int oom; /* it is refused when memory is full */
    char text[4096];
} t_script;

static t_script t_scripts[] = {
    {"cancel", 0, ""},   {"claim", 0, ""},  {"done_plain", 0, ""},
    {"fail", 0, ""},     {"forget", 0, ""}, {"recall", 0, ""},
    {"look", 0, ""},      {"done", 0, ""},   {"list", 0, ""},
    {"put_full", 1, ""},    {"claim_type", 0, ""},   {"progress", 0, ""},
    {"purge", 0, ""},    {"put", 1, ""},    {"rank", 0, ""},
    {"promote", 0, ""},    {"reap", 0, ""},   {"release", 0, ""},
    {"renew", 0, ""},    {"repair", 0, ""}, {"replay", 0, ""},
    {"keep", 0, ""},   {"idle", 0, ""},  {"status", 0, ""},
    {"trim", 0, ""},     {"unique", 1, ""}};
#define T_SCRIPTS (sizeof t_scripts / sizeof t_scripts[0])

static int t_cut = -1; /* inner commands that the next script may do; -1: all */
static int t_bare;     /* 1: scripts run unchanged, not through t_watched    */

static inline int t_load_all(void)
{
    char path[60];
    size_t i;

    for (i = 0; i < T_SCRIPTS; i++) {
        sprintf(path, "lua/queue_%s.lua", t_scripts[i].name);
        if (!t_load(t_scripts[i].text, sizeof t_scripts[i].text, path))
            return 0;
    }
    return 1;
}

static inline t_script *t_named(const char *name)
{
    size_t i;

    for (i = 0; i < T_SCRIPTS; i++)
        if (strcmp(t_scripts[i].name, name) == 0)
            return &t_scripts[i];
    abort();
    return NULL;
}

/* The key that the letter of a place stands for. */
static inline const char *t_place_of(char letter)
{
    static const char letters[] = "wkyldx";
    static const char *const place[] = {"{q}:waiting", "{q}:ranked",
                                        "{q}:delayed", "{q}:leased",
                                        "{q}:done",    "{q}:dead"};

    return place[strchr(letters, letter) - letters];
}

/* Fills in the keys that the head of the script names; returns their count. */
static inline size_t t_keys(const t_script *s, char key[][24])
{
    const char *p = strstr(s->text, "-- KEYS") + 7;
    const char *end = strstr(p, "ARGV");
    size_t n = 0;
    int k;

    for (; p < end; p++)
        if (*p >= '1' && *p <= '9' && p[-1] == ' ') {
            k = (int)strspn(p + 2, "abcdefghijklmnopqrstuvwxyz");
            sprintf(key[n++], "{q}:%.*s", k, p + 2);
        }
    return n;
}

/* Runs a script with these arguments; returns its answer as text. */
static inline const char *t_run_spans(const char *name, const relet_span *arg,
                                      size_t n)
{
    static char key[10][24];
    relet_span word[T_WORDS];
    const t_script *s = t_named(name);
    size_t keys = t_keys(s, key), i;
    char digits[4];

    if (strcmp(name, "list") == 0)
        strcpy(key[1], t_place_of(arg[0].p[0]));
    sprintf(digits, "%d", (int)keys);
    word[0] = t_span("EVAL");
    word[1] = t_span(t_bare ? s->text : t_watched(s->text, t_cut));
    word[2] = t_span(digits);
    for (i = 0; i < keys; i++)
        word[3 + i] = t_span(key[i]);
    for (i = 0; i < n; i++)
        word[3 + keys + i] = arg[i];
    (void)t_ask_spans(word, 3 + keys + n);
    return t_show();
}

static inline const char *t_run(const char *name, ...)
{
    relet_span arg[T_WORDS];
    const char *word;
    size_t n = 0;
    va_list ap;

    va_start(ap, name);
    while ((word = va_arg(ap, const char *)) != NULL)
        arg[n++] = t_span(word);
    va_end(ap);
    return t_run_spans(name, arg, n);
}

static inline const char *t_tell(const char *line)
{
    (void)t_say(line);
    return t_show();
}

/* -------------------------------------------------------------------- sweep
 *
 * All that the keys hold, as lists of words. */

#define T_LIST 400
#define T_WORD 400

typedef struct t_list {
    size_t n;
    char word[T_LIST][T_WORD];
} t_list;

static inline void t_read(t_list *l, const char *command)
{
    const char *p;
    size_t i;

    (void)t_say(command);
    l->n = 0;
    if (t_reply[0] != '*')
        return;
    l->n = (size_t)strtol(t_reply + 1, NULL, 10);
    if (l->n > T_LIST)
        abort();
    for (p = strstr(t_reply, "\r\n") + 2, i = 0; i < l->n; i++) {
        size_t k = (size_t)strtol(p + 1, NULL, 10);

        p = strstr(p, "\r\n") + 2;
        if (k >= T_WORD)
            abort();
        memcpy(l->word[i], p, k);
        l->word[i][k] = '\0';
        p += k + 2;
    }
}

typedef struct t_world {
    t_list jobs, waiting, ranked, delayed, leased, dead, done;
} t_world;

static t_world t_all;

static inline void t_look(void)
{
    t_read(&t_all.jobs, "HGETALL {q}:jobs");
    t_read(&t_all.waiting, "LRANGE {q}:waiting 0 -1");
    t_read(&t_all.ranked, "ZRANGE {q}:ranked 0 -1");
    t_read(&t_all.delayed, "ZRANGE {q}:delayed 0 -1");
    t_read(&t_all.leased, "ZRANGE {q}:leased 0 -1");
    t_read(&t_all.dead, "ZRANGE {q}:dead 0 -1");
    t_read(&t_all.done, "ZRANGE {q}:done 0 -1");
}

/* How often the list holds number n; "n,rank" counts as n, too. */
static inline int t_count(const t_list *l, const char *n)
{
    size_t i, k = strlen(n);
    int count = 0;

    for (i = 0; i < l->n; i++)
        count += strncmp(l->word[i], n, k) == 0 &&
                 (l->word[i][k] == '\0' || l->word[i][k] == ',');
    return count;
}

static inline const char *t_field(const char *n, const char *suffix)
{
    char name[T_WORD + 9];
    size_t i;

    sprintf(name, "%s%s", n, suffix);
    for (i = 0; i + 1 < t_all.jobs.n; i += 2)
        if (strcmp(t_all.jobs.word[i], name) == 0)
            return t_all.jobs.word[i + 1];
    return NULL;
}

static inline int t_is_number(const char *s)
{
    return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/* NULL, or what is wrong with job n. */
static inline const char *t_sweep_one(const char *n, int strict)
{
    const char *state = t_field(n, "s");
    int waits = t_count(&t_all.waiting, n) + t_count(&t_all.ranked, n) +
                t_count(&t_all.delayed, n);
    int leased = t_count(&t_all.leased, n), dead = t_count(&t_all.dead, n);
    int done = t_count(&t_all.done, n), right;

    switch (state ? state[0] : 'W') {
    case 'W':
        right = waits;
        break;
    case 'L':
        right = leased;
        break;
    case 'X':
        right = dead;
        break;
    case 'D':
        right = done;
        break;
    default:
        return "a state of no kind";
    }
    if (right == 0)
        return "in no place";
    if (strict && (right != 1 || waits + leased + dead + done != 1))
        return "in more than one place";
    return NULL;
}

/* NULL, or what is wrong. Each record must be in its place and, if strict, in
 * no other; no part of a record may outlive it. */
static inline const char *t_sweep(int strict)
{
    static char said[T_WORD + 60];
    const char *wrong;
    size_t i;

    t_look();
    for (i = 0; i + 1 < t_all.jobs.n; i += 2) {
        char *name = t_all.jobs.word[i];
        size_t k = strlen(name);

        if (name[0] < '0' || name[0] > '9')
            continue;
        wrong = NULL;
        if (t_is_number(name)) {
            wrong = t_sweep_one(name, strict);
        } else {
            char n[T_WORD];

            sprintf(n, "%.*s", (int)(k - 1), name);
            if (t_field(n, "") == NULL)
                wrong = "a part without a record";
        }
        if (wrong) {
            sprintf(said, "%s: %s", name, wrong);
            return said;
        }
    }
    return NULL;
}

/* How many records there are. */
static inline int t_records(void)
{
    size_t i;
    int n = 0;

    t_look();
    for (i = 0; i + 1 < t_all.jobs.n; i += 2)
        n += t_is_number(t_all.jobs.word[i]);
    return n;
}

/* How many records are of jobs that are done. */
static inline int t_records_done(void)
{
    size_t i;
    int n = 0;

    for (i = 0; i + 1 < t_all.jobs.n; i += 2)
        n += t_is_number(t_all.jobs.word[i]) &&
             t_field(t_all.jobs.word[i], "s") != NULL &&
             t_field(t_all.jobs.word[i], "s")[0] == 'D';
    return n;
}

/* -------------------------------------------------------------------- drain */

static inline const char *t_token(const char *n)
{
    static char out[8][30];
    static int next;
    char line[60];
    char *text = out[next++ % 8];

    sprintf(line, "HGET {q}:jobs %ss", n);
    if (sscanf(t_tell(line), "L %29s", text) != 1)
        strcpy(text, "0");
    return text;
}

static inline void t_all_due(const char *place)
{
    t_list l;
    char line[T_WORD + 60];
    size_t i;

    sprintf(line, "ZRANGE {q}:%s 0 -1", place);
    t_read(&l, line);
    for (i = 0; i < l.n; i++) {
        sprintf(line, "ZADD {q}:%s 0 %s", place, l.word[i]);
        (void)t_say(line);
    }
}

/* Clears the mark of cancelled dead jobs, which would not be replayed. */
static inline void t_wanted_again(void)
{
    const char *word[] = {"HSET", "{q}:jobs", NULL, NULL, NULL};
    char field[410], line[450], text[400], *flag;
    size_t i;

    t_look();
    for (i = 0; i < t_all.dead.n; i++) {
        sprintf(field, "%ss", t_all.dead.word[i]);
        sprintf(line, "HGET {q}:jobs %s", field);
        strcpy(text, t_tell(line));
        flag = strstr(text, " c");
        if (flag == NULL)
            continue;
        flag[1] = '-';
        word[2] = field;
        word[3] = text;
        (void)t_ask(word);
    }
}

/* Ends every lease, makes delayed jobs due, replays dead jobs, and completes
 * all jobs. NULL if each job was done exactly once and nothing is left of any,
 * or what is wrong. */
static inline const char *t_drain(void)
{
    static int op = 1000;
    int before = t_records() - t_records_done(), turns, done = 0;
    char number[30], digits[30];
    size_t i;

    t_all_due("leased");
    (void)t_run("reap", "100", "1000", "0", NULL);
    t_wanted_again();
    (void)t_run("replay", "1000", "100", "0", NULL);
    t_all_due("delayed");
    (void)t_run("promote", "100", NULL);
    t_all_due("done");
    (void)t_run("trim", "0", "100", "0", "100", NULL);
    for (turns = 0; turns < 60; turns++) {
        sprintf(digits, "%d", op++);
        (void)t_run("claim", "Z", digits, "60000", "3", "1048576",
                    NULL);
        t_look();
        for (i = 0; i < t_all.leased.n; i++) {
            strcpy(number, t_all.leased.word[i]);
            sprintf(digits, "%d", op++);
            if (strcmp(t_run("done_plain", "Z", digits, number, t_token(number),
                             NULL), "d") == 0)
                done++;
        }
    }
    if (done != before)
        return done < before ? "a job was lost" : "a job was done twice";
    (void)t_run("trim", "0", "0", "0", "100", NULL);
    t_look();
    if (t_all.waiting.n + t_all.ranked.n + t_all.delayed.n + t_all.leased.n +
            t_all.dead.n + t_all.done.n > 0)
        return "a place is not empty";
    return t_records() == 0 ? NULL : "a record is left";
}

/* -------------------------------------------------------------- short words */

#define RUN t_run
#define SAID(expected, said) ASSERT_STR_EQ(expected, said)
#define SWEPT ASSERT_EQ(NULL, t_sweep(1))

/* Puts n plain jobs, 26 at most, with payloads a, b, … */
static inline void t_put(int n)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    relet_span arg[3 + 26];
    int i;

    arg[0] = t_span("P.0");
    arg[1] = t_span("1");
    arg[2] = t_span("0");
    for (i = 0; i < n; i++) {
        arg[3 + i].p = letters + i;
        arg[3 + i].n = 1;
    }
    (void)t_run_spans("put", arg, 3 + (size_t)n);
}

static inline const char *t_claim(const char *worker, const char *op,
                                  const char *n)
{
    return RUN("claim", worker, op, "60000", n, "1048576", NULL);
}

/* The numbers that an answer of claim or held brought. */
static inline const char *t_brought(void)
{
    static char out[400];
    const char *p = strstr(t_reply, "\r\n") + 2, *end = t_reply + t_reply_n;
    size_t n = (size_t)strtol(t_reply + 1, NULL, 10), i;
    char *to = out;

    *to = '\0';
    for (i = 0; t_reply[0] == '*' && i < n; i++) {
        if (i >= 3 && i % 3 == 0) {
            const char *text = strstr(p, "\r\n") + 2;

            to += sprintf(to, "%s%.*s", to == out ? "" : " ",
                          (int)strtol(p + 1, NULL, 10), text);
        }
        p = t_behind(p, end);
    }
    return out;
}

/* The i-th element of the answer, as a number. */
static inline long long t_nth(size_t i)
{
    const char *p = strstr(t_reply, "\r\n") + 2;

    while (i-- > 0)
        p = t_behind(p, t_reply + t_reply_n);
    return strtoll(p[0] == '$' ? strstr(p, "\r\n") + 2 : p + 1, NULL, 10);
}

/* Returns the answer to a worker that lines up: 1, 0, or an error. */
static inline const char *t_sleep(const char *channel, const char *stays)
{
    const char *said = RUN("idle", channel, stays, NULL), *last;

    if (said[0] != '[')
        return said;
    last = strrchr(said, ' ') + 1;
    return strcmp(last, "1]") == 0 ? "1" : strcmp(last, "0]") == 0 ? "0" : said;
}

/* The answer of a reap, without the server's clock at its end. */
static inline const char *t_reap(const char *most, const char *stalls,
                                 const char *hold_off)
{
    static char said[100];
    char *last;

    sprintf(said, "%.90s", RUN("reap", most, stalls, hold_off, NULL));
    last = strrchr(said, ' ');
    if (said[0] == '[' && last)
        strcpy(last, "]");
    return said;
}

static inline const char *t_state(const char *n)
{
    char line[60];

    sprintf(line, "HGET {q}:jobs %ss", n);
    return t_tell(line);
}

static inline const char *t_put_full(const char *op, const char *head,
                           const char *payload)
{
    return RUN("put_full", "P.9", op, "0", head, payload, NULL);
}

static inline void t_promote(void)
{
    t_all_due("delayed");
    (void)RUN("promote", "100", NULL);
}

static inline const char *t_unique(const char *op, const char *mode,
                                   const char *head)
{
    return RUN("unique", "P.3", op, mode, "60000", head, op, "0", NULL);
}

#endif
