/* SPDX-License-Identifier: MIT
 *
 * fsck.c - relet fsck: checks that each job of a queue is in its place.
 *
 * All keys are scanned while the queue is at work. A job that looks wrong may
 * only have moved, so it is read again in one transaction, and reported when it
 * is wrong at that moment, too. Traces that a step left when it was cut short
 * are no fault: they are passed over, and counted.
 *
 * With --repair a script of the library looks at each such job once more and
 * puts it back. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fsck_facts.h"

#define FSCK_SUFFIXES 8
static const char *const fsck_suffix[FSCK_SUFFIXES] = {
    "waiting", "ranked", "delayed", "leased", "done", "dead", "jobs", "ids"};
enum { FSCK_JOBS = 6, FSCK_IDS = 7 };

#define FSCK_PAGE "1000"

typedef struct fsck {
    cli *c;
    const char *queue;
    char key[FSCK_SUFFIXES][256];
    fsck_facts facts;
    uint64_t jobs, passed_over, broken, repaired;
    uint64_t seq, fence;
} fsck;

/* -------------------------------------------------------------------- walks */

static int fsck_ask(fsck *f, const relet_span *argv, size_t argc,
                    relet_event *ev)
{
    relet_request q = cli_request(f->c);

    return cli_answer(f->c, relet_command(f->c->r, argv, argc, &q), ev);
}

/* Notes that the job of this name was seen in a place. A rank behind the number
 * is ignored. */
static void fsck_place(fsck *f, relet_span name, uint32_t place)
{
    uint64_t number;

    if (fsck_facts_digits(name, &number) > 0)
        fsck_facts_add(&f->facts, number, place, 0);
}

static int fsck_list(fsck *f)
{
    char from[24], to[24];
    relet_span argv[4] = {{"LRANGE", 6}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    relet_event ev;
    relet_value v;
    uint64_t at = 0;
    size_t n;
    int code;

    do {
        snprintf(from, sizeof from, "%" PRIu64, at);
        snprintf(to, sizeof to, "%" PRIu64, at + 999);
        argv[1] = relet_str(f->key[0]);
        argv[2] = relet_str(from);
        argv[3] = relet_str(to);
        code = fsck_ask(f, argv, 4, &ev);
        if (code)
            return code;
        n = relet_value_count(ev.value);
        for (v = relet_value_first(ev.value); relet_value_text(v).p;
             v = relet_value_next(v))
            fsck_place(f, relet_value_text(v), FSCK_WAITING);
        at += n;
    } while (n > 0);
    return 0;
}

static void fsck_field(fsck *f, relet_span name, relet_span value)
{
    uint64_t number, token = 0;
    size_t n = fsck_facts_digits(name, &number);
    uint32_t seen;

    if (n == 0)
        return;
    if (n == name.n)
        fsck_facts_add(&f->facts, number, fsck_facts_record(value), 0);
    else if (n + 1 == name.n && name.p[n] == 's') {
        seen = fsck_facts_state(value, &token);
        fsck_facts_add(&f->facts, number, seen, token);
    } else if (n + 1 == name.n && name.p[n] == 'r')
        fsck_facts_add(&f->facts, number, FSCK_TEXT, 0);
}

/* Ids are looked at when the facts are folded. An id may name a job that has
 * gone. */
static void fsck_id(fsck *f, relet_span name)
{
    uint64_t number;

    (void)fsck_facts_digits(name, &number);
    f->passed_over += !fsck_facts_has(&f->facts, number);
}

/* Reads a key by ZSCAN or HSCAN, which return at least once each element that
 * is in the key for the whole scan. */
static int fsck_scan(fsck *f, const char *command, int key)
{
    char cursor[32] = "0";
    relet_span argv[5] = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {"COUNT", 5},
                          {FSCK_PAGE, 4}};
    relet_value part, name, value;
    relet_event ev;
    int code;

    argv[0] = relet_str(command);
    argv[1] = relet_str(f->key[key]);
    do {
        argv[2] = relet_str(cursor);
        code = fsck_ask(f, argv, 5, &ev);
        if (code)
            return code;
        part = relet_value_first(ev.value);
        snprintf(cursor, sizeof cursor, "%.*s",
                 cli_text(relet_value_text(part)));
        part = relet_value_next(part);
        for (name = relet_value_first(part); relet_value_text(name).p;
             name = relet_value_next(value)) {
            value = relet_value_next(name);
            if (key == FSCK_JOBS)
                fsck_field(f, relet_value_text(name), relet_value_text(value));
            else if (key == FSCK_IDS)
                fsck_id(f, relet_value_text(value));
            else
                fsck_place(f, relet_value_text(name), 1u << key);
        }
    } while (strcmp(cursor, "0") != 0);
    return 0;
}

static uint64_t fsck_number(relet_value v)
{
    int64_t n = 0;

    return relet_value_int(v, &n) && n > 0 ? (uint64_t)n : 0;
}

/* Runs after the scans: the last number and token that the queue has given by
 * now are not below those that were seen. */
static int fsck_meta(fsck *f)
{
    relet_span argv[5] = {{"HMGET", 5}, {NULL, 0}, {"version", 7}, {"seq", 3},
                          {"fence", 5}};
    relet_span version;
    relet_event ev;
    int code;

    argv[1] = relet_str(f->key[FSCK_JOBS]);
    code = fsck_ask(f, argv, 5, &ev);
    if (code)
        return code;
    version = relet_value_text(relet_value_at(ev.value, 0));
    f->seq = fsck_number(relet_value_at(ev.value, 1));
    f->fence = fsck_number(relet_value_at(ev.value, 2));
    if (!version.p || (version.n == 1 && version.p[0] == '1'))
        return 0;
    cli_say("%s: it is of version %.*s", f->queue, cli_text(version));
    return CLI_ERROR;
}

static int fsck_walk(fsck *f)
{
    int i, code = fsck_list(f);

    for (i = 1; i < FSCK_JOBS && !code; i++)
        code = fsck_scan(f, "ZSCAN", i);
    if (!code)
        code = fsck_scan(f, "HSCAN", FSCK_JOBS);
    return code ? code : fsck_meta(f);
}

/* ---------------------------------------------------------------- once more
 *
 * Reads one job again, all of it at one moment. */

/* The name among the delayed of a job with a rank, "number,rank"; the rank is
 * in the head of the record. Without a rank the name is the number. */
static void fsck_ranked_name(relet_span record, const char *number, char *out,
                             size_t size)
{
    relet_span s = record;
    size_t k = 0;

    if (s.n >= 19 && s.p[0] == '+')
        while (9 + k < s.n && k < 6 && s.p[9 + k] != ',')
            k++;
    if (k == 0 || (k == 1 && s.p[9] == '0'))
        snprintf(out, size, "%s", number);
    else
        snprintf(out, size, "%s,%.*s", number, (int)k, s.p + 9);
}

static uint32_t fsck_judge(const fsck_fact *fact, relet_value v)
{
    relet_value hash = relet_value_at(v, 0);
    relet_span record = relet_value_text(relet_value_at(hash, 0));
    relet_span state = relet_value_text(relet_value_at(hash, 1));
    uint64_t token = 0;
    uint32_t seen = 0;
    size_t i;

    if (record.p)
        seen |= fsck_facts_record(record);
    if (state.p)
        seen |= fsck_facts_state(state, &token);
    if (relet_value_text(relet_value_at(hash, 2)).p)
        seen |= FSCK_TEXT;
    for (i = 0; i < FSCK_JOBS; i++)
        if (relet_value_type(relet_value_at(v, 1 + i)) != RELET_T_NULL)
            seen |= 1u << i;
    if (relet_value_type(relet_value_at(v, 7)) != RELET_T_NULL)
        seen |= FSCK_DELAYED;
    if (fact->number > fsck_number(relet_value_at(hash, 3)) ||
        token > fsck_number(relet_value_at(hash, 4)))
        seen |= FSCK_HIGH; /* above seq or fence at the same moment */
    return seen;
}

static int fsck_record_of(fsck *f, const char *number, char *ranked,
                          size_t size)
{
    relet_span argv[3] = {{"HGET", 4}, {NULL, 0}, {NULL, 0}};
    relet_event ev;
    int code;

    argv[1] = relet_str(f->key[FSCK_JOBS]);
    argv[2] = relet_str(number);
    code = fsck_ask(f, argv, 3, &ev);
    if (!code)
        fsck_ranked_name(relet_value_text(ev.value), number, ranked, size);
    return code;
}

static int fsck_again(fsck *f, const fsck_fact *fact, uint32_t *seen)
{
    char number[24], state[26], text[26], ranked[40];
    relet_span word[8][7];
    relet_args commands[8];
    relet_request q = cli_request(f->c);
    relet_event ev;
    size_t i;
    int code;

    memset(&ev, 0, sizeof ev);
    snprintf(number, sizeof number, "%" PRIu64, fact->number);
    snprintf(state, sizeof state, "%ss", number);
    snprintf(text, sizeof text, "%sr", number);
    code = fsck_record_of(f, number, ranked, sizeof ranked);
    for (i = 0; i < 8; i++) {
        word[i][0] = relet_str(i == 0 ? "HMGET" : i == 1 ? "LPOS" : "ZSCORE");
        word[i][1] = relet_str(f->key[i == 0   ? (size_t)FSCK_JOBS
                                      : i == 7 ? (size_t)2 : i - 1]);
        word[i][2] = relet_str(i == 7 ? ranked : number);
        word[i][3] = relet_str(state); /* this and the rest: HMGET only */
        word[i][4] = relet_str(text);
        word[i][5] = relet_str("seq");
        word[i][6] = relet_str("fence");
        commands[i].argv = word[i];
        commands[i].argc = i == 0 ? 7 : 3;
    }
    if (!code)
        code = cli_answer(f->c, relet_transaction(f->c->r, commands, 8, &q),
                          &ev);
    if (!code)
        *seen = fsck_judge(fact, ev.value);
    return code;
}

/* The letters of relet_queue_repair, as text for people. */
static const struct {
    char letter;
    const char *text;
} fsck_repairs[] = {
    {'h', "later numbers are above its own"},
    {'g', "the rest of it is removed"},
    {'s', "it is dead, as its state is lost"},
    {'y', "it waits again"},
    {'l', "it is leased, until its worker renews it or the lease ends"},
    {'d', "its result is kept for an hour"},
    {'x', "it is among the dead"},
    {'u', "it cannot be repaired"},
};

/* Writes the letters of relet_queue_repair as text. Returns 1 if all is well
 * with the job now. */
static int fsck_read_repair(relet_span letters, char *out, size_t size)
{
    size_t i, at = 0;
    int well = 1;

    snprintf(out, size, "it is in its place by now");
    for (i = 0; i < sizeof fsck_repairs / sizeof fsck_repairs[0]; i++) {
        char letter = fsck_repairs[i].letter;

        if (letters.n == 0 || !memchr(letters.p, letter, letters.n))
            continue;
        at += (size_t)snprintf(out + at, size - at, "%s%s", at ? ", " : "",
                               fsck_repairs[i].text);
        well &= letter != 'u';
    }
    return well;
}

/* --repair: repairs one job. 0 and *said, what was done; or an exit code. */
static int fsck_repair(fsck *f, const fsck_fact *fact, char *said, size_t size)
{
    relet_request q = cli_request(f->c);
    relet_time lease = f->c->ttl_ms ? f->c->ttl_ms : 30000;
    relet_event ev;
    int code = relet_queue_repair(f->c->r, relet_str(f->queue), fact->number,
                                  lease, &q);

    code = cli_answer(f->c, code, &ev);
    if (!code)
        f->repaired += (uint64_t)fsck_read_repair(relet_value_text(ev.value),
                                                  said, size);
    return code;
}

/* Reports a broken job. fixed: what was done about it, or NULL. */
static void fsck_tell(fsck *f, const fsck_fact *fact, const char *wrong,
                      const char *fixed)
{
    f->broken++;
    if (f->c->json) {
        fputs("{\"queue\":", stdout);
        show_json(stdout, relet_str(f->queue));
        printf(",\"job\":%" PRIu64 ",\"broken\":\"%s\"", fact->number,
               wrong);
        if (fixed)
            printf(",\"repair\":\"%s\"", fixed);
        puts("}");
    } else {
        show_name(stdout, f->queue);
        printf("\t%" PRIu64 "\t%s%s%s\n", fact->number, wrong,
               fixed ? "\t" : "", fixed ? fixed : "");
    }
    cli_flush();
}

static int fsck_found(fsck *f, const fsck_fact *fact, const char *wrong)
{
    char said[300];
    int code = 0;

    if (f->c->repair)
        code = fsck_repair(f, fact, said, sizeof said);
    if (!code)
        fsck_tell(f, fact, wrong, f->c->repair ? said : NULL);
    return code;
}

static int fsck_check(fsck *f)
{
    size_t i;
    int code = 0;

    for (i = 0; i < f->facts.n && !code; i++) {
        fsck_fact *fact = &f->facts.list[i];
        const char *wrong;

        if (fact->number > f->seq || fact->token > f->fence)
            fact->seen |= FSCK_HIGH;
        f->jobs += (fact->seen & FSCK_RECORD) != 0;
        f->passed_over += fsck_facts_has_strays(fact->seen) != 0;
        if (!fsck_facts_wrong(fact->seen))
            continue;
        code = fsck_again(f, fact, &fact->seen);
        wrong = code ? NULL : fsck_facts_wrong(fact->seen);
        if (wrong)
            code = fsck_found(f, fact, wrong);
    }
    return code;
}

/* -------------------------------------------------------------------- queue */

static int fsck_keys(fsck *f)
{
    const char *prefix = f->c->config.prefix;
    int i;

    if (!f->queue[0] || strchr(f->queue, '}') ||
        strlen(prefix) + strlen(f->queue) > 199) {
        cli_say("'%s' is not the name of a queue", f->queue);
        return CLI_USAGE;
    }
    for (i = 0; i < FSCK_SUFFIXES; i++)
        snprintf(f->key[i], sizeof f->key[i], "{%s%s%s}:%s", prefix,
                 prefix[0] ? ":" : "", f->queue, fsck_suffix[i]);
    return 0;
}

static void fsck_sum(const fsck *f)
{
    if (f->c->json) {
        fputs("{\"queue\":", stdout);
        show_json(stdout, relet_str(f->queue));
        printf(",\"jobs\":%" PRIu64 ",\"passed_over\":%" PRIu64
               ",\"broken\":%" PRIu64, f->jobs, f->passed_over, f->broken);
        if (f->c->repair)
            printf(",\"repaired\":%" PRIu64, f->repaired);
        puts("}");
        return;
    }
    show_name(stdout, f->queue);
    printf(": %" PRIu64 " jobs, %" PRIu64 " broken, ", f->jobs, f->broken);
    if (f->c->repair)
        printf("%" PRIu64 " repaired, ", f->repaired);
    printf("%" PRIu64 " traces that are passed over\n", f->passed_over);
}

static int fsck_queue(cli *c, const char *queue)
{
    fsck f;
    int code;

    memset(&f, 0, sizeof f);
    f.c = c;
    f.queue = c->queue = queue;
    code = fsck_keys(&f);
    if (!code)
        code = fsck_walk(&f);
    fsck_facts_fold(&f.facts);
    if (!code)
        code = fsck_check(&f);
    if (!code)
        code = fsck_scan(&f, "HSCAN", FSCK_IDS);
    if (!code)
        fsck_sum(&f);
    free(f.facts.list);
    return code ? code : f.broken > f.repaired ? CLI_ERROR : 0;
}

static int fsck_run(cli *c)
{
    char **names = NULL;
    int i, code, worst = 0;

    code = cli_configure(c);
    if (!code)
        code = cli_connect(c, 0);
    for (i = 0; i < c->argc && !code; i++) {
        int found = fsck_queue(c, c->argv[i]);

        worst = found > worst ? found : worst;
    }
    if (code || c->argc > 0)
        return code ? code : worst;
    code = cli_queues(c, &names);
    for (i = 0; names[i]; i++) {
        int found = code ? 0 : fsck_queue(c, names[i]);

        worst = found > worst ? found : worst;
        free(names[i]);
    }
    free(names);
    return code ? code : worst;
}

static const cli_option fsck_options[] = {
    {0, "repair", NULL, CLI_FLAG, offsetof(cli, repair), 0, 0,
     "put each broken job back into its place"},
    {0, "lease", "MS", CLI_NUMBER, offsetof(cli, ttl_ms), 50, 1000000000,
     "with --repair: lease of a leased job; default 30000"},
    {0, NULL, NULL, CLI_FLAG, 0, 0, 0, NULL},
};

const cli_command fsck_command = {
    "fsck", "check that the jobs of a queue are in their places",
    "fsck [OPTION]... [QUEUE]...",
    "Walks through all keys of a queue, which may be in use, and prints a\n"
    "line for each job that is not in its place. A job that looks wrong is\n"
    "first read again, in one transaction. Without a name, SCAN looks for all\n"
    "queues. Changes nothing without --repair. The exit code is 1 if\n"
    "something is broken and was not repaired.",
    fsck_options, 0, fsck_run,
};
