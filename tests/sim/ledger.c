/* SPDX-License-Identifier: MIT
 *
 * ledger.c - the judge's picture of the queues in a server's store. The ledger
 * follows the log of changes, so that each script is checked by the jobs that
 * it changed; if a server starts with less of its log, the ledger is read
 * anew. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "text.h"
#include "wire.h"

static const char *const ledger_keys[] = {"jobs",   "waiting", "ranked",
                                          "delayed", "leased", "done",
                                          "dead",   "ids",     "idle"};

typedef enum ledger_key {
    LEDGER_JOBS, LEDGER_WAITING, LEDGER_RANKED, LEDGER_DELAYED, LEDGER_LEASED,
    LEDGER_DONE, LEDGER_DEAD, LEDGER_IDS, LEDGER_IDLE, LEDGER_OTHER
} ledger_key;

/* --------------------------------------------------------------------- text */

uint64_t sim_ledger_digest(relet_span s)
{
    uint64_t d = s.n + 1;
    size_t i;

    for (i = 0; i < s.n; i++)
        d = sim_mix(d, (unsigned char)s.p[i]);
    return d;
}

int64_t sim_ledger_number(relet_span s)
{
    char text[32];

    if (s.n == 0 || s.n >= sizeof text)
        return -1;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    return (int64_t)strtoll(text, NULL, 10);
}

/* Splits "{…qN}:NAME": *name is NAME; returns the queue, or -1. */
int sim_ledger_key(relet_span s, relet_span *name)
{
    size_t i;

    for (i = 1; i + 3 < s.n; i++)
        if (s.p[i] == 'q' && s.p[i + 2] == '}' && s.p[i + 3] == ':') {
            int queue = s.p[i + 1] - '0';

            name->p = s.p + i + 4;
            name->n = s.n - i - 4;
            return queue >= 0 && queue < SIM_QUEUES ? queue : -1;
        }
    return -1;
}

static ledger_key ledger_key_of(relet_span name)
{
    int i;

    for (i = 0; i < LEDGER_OTHER; i++)
        if (strlen(ledger_keys[i]) == name.n &&
            memcmp(ledger_keys[i], name.p, name.n) == 0)
            break;
    return (ledger_key)i;
}

/* The job with the payload "op:HEX" or "HEX,i", as 1 + its index; 0: none. */
uint32_t sim_ledger_job(sim_world *w, relet_span s)
{
    char text[40], *end;
    uint64_t tag, i = 0;
    const sim_op *op;

    if (s.n < 1 || s.n >= sizeof text)
        return 0;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    tag = strtoull(text + (memcmp(text, "op:", 3) == 0 ? 3 : 0), &end, 16);
    if (*end == ',')
        i = strtoull(end + 1, NULL, 10);
    op = sim_op_of(w, tag);
    return i < op->jobs_n ? op->jobs_from + (uint32_t)i + 1 : 0;
}

/* "id7" gives 7; any other text gives 0. */
int sim_ledger_id(relet_span s)
{
    return s.n == 3 && s.p[2] > '0' && s.p[2] < '0' + SIM_IDS
               ? s.p[2] - '0'
               : 0;
}

/* When a job was put, in seconds, from its record. */
static int64_t ledger_born(relet_span s)
{
    char text[12];
    int64_t v = 0;
    size_t i;

    if (s.n >= 5 && *s.p == '.') {
        for (i = 1; i < 5; i++)
            v = v * 256 + (unsigned char)s.p[i];
        return v;
    }
    if (s.n < 9)
        return 0;
    memcpy(text, s.p + 1, 8);
    text[8] = '\0';
    return (int64_t)strtoll(text, NULL, 16);
}

/* Each option is a letter and a number; blanks separate them. */
static void ledger_options(relet_span s, sim_terms *t)
{
    const char *p = s.p, *end = s.p + s.n;
    char *behind;

    for (; p + 1 < end && *p != 'r'; p = behind + 1) {
        int64_t v = (int64_t)strtoll(p + 1, &behind, 10);

        if (*p == 'b')
            t->backoff_ms = v;
        if (*p == 'c')
            t->backoff_max_ms = v;
        if (*p == 's')
            t->backoff = (int)v;
        if (*p == 'a')
            t->attempts = (uint32_t)v;
        if (*p == 'd')
            t->deadline_ms = v;
        if (*p == 'k')
            t->keep_ms = v;
        if (*p == 't')
            t->timeout_ms = v;
    }
    t->reply = p >= end || *p != 'r'                     ? 0
               : end - p - 1 == sizeof SIM_REPLY_TO - 1 ? 1
                                                         : 2;
}

/* Strips the head of a record, so that its payload is left, and reads the terms
 * from that head. Types are told apart by their length. */
static relet_span ledger_payload(relet_span s, sim_terms *t)
{
    size_t i, k, n[3] = {0, 0, 0};
    relet_span options;

    memset(t, 0, sizeof *t);
    t->attempts = 3;
    if (s.n >= 5 && *s.p == '.') {
        s.p += 5;
        s.n -= 5;
        return s;
    }
    for (i = k = 0; i < s.n && s.p[i] != ';'; i++)
        if (s.p[i] == ',')
            k++;
        else if (k >= 2 && k < 5)
            n[k - 2] = n[k - 2] * 10 + (size_t)(s.p[i] - '0');
    k = i + 1 + n[0] + n[1] + n[2];
    if (k > s.n)
        k = s.n;
    if (k > 10) {
        options.p = s.p + k - n[2];
        options.n = n[2];
        t->rank = (int)strtol(s.p + 9, NULL, 10);
        t->type = (uint32_t)n[0];
        ledger_options(options, t);
    }
    s.p += k;
    s.n -= k;
    return s;
}

int sim_ledger_same_terms(const sim_terms *a, const sim_terms *b)
{
    return a->attempts == b->attempts && a->type == b->type &&
           a->rank == b->rank && a->keep_ms == b->keep_ms &&
           a->timeout_ms == b->timeout_ms &&
           a->deadline_ms == b->deadline_ms && a->backoff == b->backoff &&
           a->reply == b->reply && a->backoff_ms == b->backoff_ms &&
           a->backoff_max_ms == b->backoff_max_ms;
}

/* ------------------------------------------------------------------- places */

sim_place *sim_ledger_at(sim_book *b, uint64_t number)
{
    size_t cap = b->cap ? b->cap : 64;

    if (number >= b->cap) {
        while (number >= cap)
            cap *= 2;
        b->at = (sim_place *)realloc(b->at, cap * sizeof *b->at);
        if (b->at == NULL)
            abort();
        b->cap = cap;
    }
    for (; b->n <= number; b->n++) {
        memset(&b->at[b->n], 0, sizeof *b->at);
        b->at[b->n].letter = 'W';
    }
    return &b->at[number];
}

/* Takes the score of the set that the state names. */
static void ledger_score(sim_place *p)
{
    p->score = p->scores[p->letter == 'L'   ? 1
                         : p->letter == 'D' ? 2
                         : p->letter == 'X' ? 3
                                            : 0];
}

static int ledger_is_open(const sim_place *p)
{
    return p->job > 0 && p->letter != 'D' && p->letter != 'X';
}

/* The place is about to change: its old value is kept, once for each script. */
static sim_place *ledger_touch_part(sim_world *w, sim_book *b, int queue,
                                    uint64_t number, int moved)
{
    sim_jobs *g = &w->jobs;
    sim_place *p = sim_ledger_at(b, number);
    size_t i;

    if (g->run.what == SIM_V_NONE)
        return p;
    for (i = g->touches; i-- > 0;)
        if (g->touch[i].number == number && g->touch[i].queue == queue) {
            g->touch[i].moved |= (uint8_t)moved;
            return p;
        }
    if (g->touches == g->touch_cap) {
        g->touch_cap = g->touch_cap ? 2 * g->touch_cap : 256;
        g->touch = (sim_touch *)realloc(g->touch,
                                        g->touch_cap * sizeof *g->touch);
        if (g->touch == NULL)
            abort();
    }
    g->touch[g->touches].queue = queue;
    g->touch[g->touches].number = number;
    g->touch[g->touches].moved = (uint8_t)moved;
    g->touch[g->touches++].was = *p;
    return p;
}

static sim_place *ledger_touch(sim_world *w, sim_book *b, int queue,
                               uint64_t number)
{
    return ledger_touch_part(w, b, queue, number, 1);
}

/* "L token attempts stalls replays flag owners" */
static void ledger_state(sim_book *b, sim_place *p, relet_span s)
{
    char text[160], *at;
    size_t n = s.n < sizeof text ? s.n : sizeof text - 1;

    memcpy(text, s.p, n);
    text[n] = '\0';
    p->letter = text[0];
    p->token = strtoull(text + 1, &at, 10);
    p->attempts = (uint32_t)strtoul(at, &at, 10);
    p->stalls = (uint32_t)strtoul(at, &at, 10);
    p->replays = (uint32_t)strtoul(at, &at, 10);
    p->flag = *at ? at[1] : '?';
    if (p->letter == 'L' && p->token > b->token)
        b->token = p->token;
}

/* Parses a field of `jobs` that has a number. Returns its last letter, 0 for a
 * record, or -1 if the field is about something else. */
static int ledger_field(relet_span s, uint64_t *number)
{
    size_t i = 0;

    for (*number = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
        *number = *number * 10 + (uint64_t)(s.p[i] - '0');
    if (i == 0 || i + 1 < s.n || *number > 1000000)
        return -1;
    return i == s.n ? 0 : s.p[i];
}

/* Returns 1 if a setting has changed. */
static int ledger_setting(sim_book *b, relet_span field,
                          const relet_span *value)
{
    int stopped = b->stopped, closed = b->closed;
    long limit = b->limit;

    if (field.n == 7 && memcmp(field.p, "stopped", 7) == 0)
        b->stopped = value != NULL;
    if (field.n == 6 && memcmp(field.p, "closed", 6) == 0)
        b->closed = value != NULL;
    if (field.n == 5 && memcmp(field.p, "holes", 5) == 0 && value == NULL)
        b->miscounted = 0;
    if (field.n == 5 && memcmp(field.p, "limit", 5) == 0)
        b->limit = value ? (long)sim_ledger_number(*value) : 0;
    return b->stopped != stopped || b->closed != closed || b->limit != limit;
}

/* "NUMBER" or "NUMBER,TILL,WIDTH" */
static void ledger_ids(sim_book *b, relet_span field, const relet_span *value)
{
    int id = sim_ledger_id(field);
    char text[80], *at = text;
    size_t n = value && value->n < sizeof text ? value->n : 0;

    if (id == 0)
        return;
    memset(&b->id[id], 0, sizeof b->id[id]);
    if (n == 0)
        return;
    memcpy(text, value->p, n);
    text[n] = '\0';
    b->id[id].number = strtoull(at, &at, 10);
    if (*at != ',')
        return;
    b->id[id].till = (int64_t)strtoll(at + 1, &at, 10);
    b->id[id].width = *at == ',' ? (int64_t)strtoll(at + 1, NULL, 10) : 0;
}

static void ledger_hash(sim_world *w, sim_book *b, int queue, relet_span field,
                        const relet_span *value)
{
    uint64_t number;
    int what = ledger_field(field, &number);
    sim_place *p;

    if (value && field.n == 4 && memcmp(field.p, "open", 4) == 0) {
        b->open_ms = sim_ledger_number(*value);
        b->run_gen = w->jobs.run.what == SIM_V_REAP
                         ? w->host[w->jobs.run.host].ledger.gen
                         : 0;
        b->seen = 1;
    }
    w->jobs.noted += what == 'r' && value != NULL;
    if (what == 'r')
        ledger_touch_part(w, b, queue, number, 0)->text =
            value ? sim_ledger_digest(*value) : 0;
    if (what < 0 && ledger_setting(b, field, value))
        b->gates_us = w->now_us;
    if (what != 0 && what != 's')
        return;
    p = ledger_touch(w, b, queue, number);
    b->open -= ledger_is_open(p);
    b->gone_n -= p->gone;
    if (what == 0) {
        p->job = value ? sim_ledger_job(w, ledger_payload(*value, &p->terms))
                       : 0;
        p->record = value != NULL;
        p->born_s = value ? ledger_born(*value) : 0;
        p->gone = value == NULL && p->waiting > 0;
    } else if (value) {
        ledger_state(b, p, *value);
    } else {
        p->letter = 'W', p->token = 0, p->flag = 0;
        p->attempts = p->stalls = p->replays = 0;
    }
    if (what == 's')
        p->state = value != NULL;
    ledger_score(p);
    b->gone_n += p->gone;
    b->open += ledger_is_open(p);
}

/* ------------------------------------------------------------------ the log */

typedef struct ledger_words {
    const uint8_t *p, *end;
    long left;
} ledger_words;

static long ledger_count(ledger_words *r)
{
    long v = 0;

    for (r->p++; r->p < r->end && *r->p != '\r'; r->p++)
        v = v * 10 + (*r->p - '0');
    r->p += 2;
    return v;
}

static int ledger_word(ledger_words *r, relet_span *out)
{
    if (r->left-- <= 0)
        return 0;
    out->n = (size_t)ledger_count(r);
    out->p = (const char *)r->p;
    r->p += out->n + 2;
    return 1;
}

static void ledger_push(sim_world *w, sim_book *b, int queue, relet_span s,
                        int front)
{
    uint64_t number = (uint64_t)sim_ledger_number(s);

    if (b->line_n == b->line_cap) {
        b->line_cap = b->line_cap ? 2 * b->line_cap : 64;
        b->line = (uint64_t *)realloc(b->line, b->line_cap * sizeof *b->line);
        if (b->line == NULL)
            abort();
    }
    if (front)
        memmove(b->line + 1, b->line, b->line_n * sizeof *b->line);
    b->line[front ? 0 : b->line_n] = number;
    b->line_n++;
    b->pushed_first += front != 0;
    b->pushed_last += !front;
    ledger_touch(w, b, queue, number)->waiting++;
}

static void ledger_pop(sim_world *w, sim_book *b, int queue, int last,
                       size_t k)
{
    size_t i, from;

    if (k > b->line_n)
        k = b->line_n;
    from = last ? b->line_n - k : 0;
    for (i = from; i < from + k; i++) {
        sim_place *p = ledger_touch(w, b, queue, b->line[i]);

        p->waiting--;
        b->gone_n -= p->gone;
        p->gone = p->gone && p->ranked;
        b->gone_n += p->gone;
    }
    b->line_n -= k;
    memmove(b->line + from, b->line + from + k,
            (b->line_n - from) * sizeof *b->line);
}

/* Members are numbers; in `delayed` a rank follows a comma. */
static void ledger_member(sim_world *w, sim_book *b, int queue,
                          ledger_key key, relet_span member, int in,
                          int64_t score)
{
    uint64_t number = (uint64_t)strtoull(member.p, NULL, 10);
    sim_place *p = ledger_touch(w, b, queue, number);
    uint32_t *count = key == LEDGER_RANKED    ? &p->ranked
                      : key == LEDGER_DELAYED ? &p->delayed
                      : key == LEDGER_LEASED  ? &p->leased
                      : key == LEDGER_DONE    ? &p->done
                                              : &p->dead;

    if (in && key == LEDGER_RANKED)
        p->rank_score = score;
    else if (in)
        p->scores[key - LEDGER_DELAYED] = score;
    ledger_score(p);
    b->held += key == LEDGER_LEASED ? in - (int)*count : 0;
    b->over[0] += key == LEDGER_DONE ? in - (int)*count : 0;
    b->over[1] += key == LEDGER_DEAD ? in - (int)*count : 0;
    b->ranked_n += key == LEDGER_RANKED ? in - (int)*count : 0;
    b->delayed_n += key == LEDGER_DELAYED ? in - (int)*count : 0;
    *count = in ? 1 : 0;
    b->gone_n -= p->gone;
    if (key == LEDGER_RANKED && !in)
        p->gone = p->gone && p->waiting;
    b->gone_n += p->gone;
}

/* A score has a rank's share as a fraction. */
static int64_t ledger_fine(relet_span s)
{
    char text[40];
    double v;

    if (s.n >= sizeof text)
        abort();
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    v = strtod(text, NULL) * SIM_RANK_PARTS;
    return (int64_t)(v < 0 ? v - 0.5 : v + 0.5);
}

static void ledger_set(sim_world *w, sim_book *b, int queue, ledger_key key,
                       int add, ledger_words *r)
{
    relet_span score = {NULL, 0}, member;

    while ((!add || ledger_word(r, &score)) && ledger_word(r, &member)) {
        if (add && score.n == 2 && score.p[0] == 'X') { /* ZADD key XX … */
            score = member;
            (void)ledger_word(r, &member);
        }
        ledger_member(w, b, queue, key, member, add,
                      !add                   ? 0
                      : key == LEDGER_RANKED ? ledger_fine(score)
                                             : sim_ledger_number(score));
    }
}

static void ledger_command(sim_world *w, sim_ledger *g, ledger_words *r)
{
    relet_span verb = {"", 0}, key = {"", 0}, name, a, v;
    ledger_key which;
    sim_book *b;
    int queue;
    char c;

    if (!ledger_word(r, &verb) || !ledger_word(r, &key) || verb.n < 4)
        return;
    if (rlt_span_is(verb, "SELECT"))
        g->elsewhere = sim_ledger_number(key) != w->shape.db;
    if (g->elsewhere || (queue = sim_ledger_key(key, &name)) < 0)
        return;
    b = &g->book[queue];
    which = ledger_key_of(name);
    c = (char)(verb.p[0] | 32);
    if (c == 'h' && (verb.p[1] | 32) == 'i')
        return; /* HINCRBY of a counter                                      */
    if (which == LEDGER_JOBS && c == 'h' && (verb.p[1] | 32) == 's') {
        while (ledger_word(r, &a) && ledger_word(r, &v))
            ledger_hash(w, b, queue, a, &v);
    } else if (which == LEDGER_JOBS && c == 'h') {
        while (ledger_word(r, &a))
            ledger_hash(w, b, queue, a, NULL);
    } else if (which == LEDGER_IDS && (verb.p[1] | 32) == 's') {
        while (ledger_word(r, &a) && ledger_word(r, &v))
            ledger_ids(b, a, &v);
    } else if (which == LEDGER_IDS) {
        while (ledger_word(r, &a))
            ledger_ids(b, a, NULL);
    } else if (which == LEDGER_WAITING && (verb.p[1] | 32) == 'p' &&
               (verb.p[2] | 32) == 'u') {
        while (ledger_word(r, &a))
            ledger_push(w, b, queue, a, c == 'l');
    } else if (which == LEDGER_WAITING) {
        ledger_pop(w, b, queue, c == 'r',
                   ledger_word(r, &a) ? (size_t)sim_ledger_number(a) : 1);
    } else if (which >= LEDGER_RANKED && which <= LEDGER_DEAD) {
        ledger_set(w, b, queue, which, (verb.p[1] | 32) == 'a', r);
    }
}

/* Reads all that a host has written since. */
void sim_ledger_read(sim_world *w, sim_host *h)
{
    sim_ledger *g = &h->ledger;
    ledger_words r;

    if (g->read == h->log.n)
        return;
    r.p = h->log.bytes + g->read;
    r.end = h->log.bytes + h->log.n;
    while (g->read < h->log.n && r.p < r.end) {
        r.left = ledger_count(&r);
        ledger_command(w, g, &r);
        while (r.left > 0) {
            relet_span rest;

            (void)ledger_word(&r, &rest);
        }
    }
    g->read = h->log.n;
}

void sim_ledger_keep(sim_ledger *g, const sim_ledger *from)
{
    int i;

    for (i = 0; i < SIM_QUEUES; i++) {
        g->book[i].at = from->book[i].at;
        g->book[i].cap = from->book[i].cap;
        g->book[i].line = from->book[i].line;
        g->book[i].line_cap = from->book[i].line_cap;
    }
}

void sim_ledger_anew(sim_host *h)
{
    sim_ledger before = h->ledger;

    memset(&h->ledger, 0, sizeof h->ledger);
    sim_ledger_keep(&h->ledger, &before);
    h->ledger.gen = before.gen + 1;
}

void sim_ledger_free(sim_host *h)
{
    int i;

    for (i = 0; i < SIM_QUEUES; i++) {
        free(h->ledger.book[i].at);
        free(h->ledger.book[i].line);
    }
}
