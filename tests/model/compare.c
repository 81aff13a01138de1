/* SPDX-License-Identifier: MIT
 *
 * compare.c - plays a tape on all sides.
 *
 * A step has ended when no side sends more bytes; then the replies are judged.
 * At the end the data set is read. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "play.h"

/* --------------------------------------------------------------- sending */

static void play_encode(bytes *b, const ask *a, const side *s)
{
    char number[24];
    int i;

    bytes_format(b, "*%d\r\n", a->argc);
    for (i = 0; i < a->argc; i++) {
        word w = a->argv[i];

        if (word_is_id(w)) {
            (void)snprintf(number, sizeof number, "%lld",
                           (long long)s->id[w.p[1] - '0']);
            w.p = number;
            w.n = strlen(number);
        }
        bytes_format(b, "$%zu\r\n", w.n);
        bytes_put(b, w.p, w.n);
        bytes_text(b, "\r\n");
    }
}

static int play_gone(play *p, int i)
{
    p->v->failed = 2;
    p->v->step = p->at;
    p->v->other = i;
    bytes_text(&p->v->reply, "it is gone, or does not answer");
    return -1;
}

/* Waits until no side sends more bytes. */
static int play_settle(play *p)
{
    size_t most;
    int i, rounds;

    do {
        for (rounds = 0; rounds < 2; rounds++) {
            for (i = 0; i < p->n; i++)
                p->sides[i]->poke(p->sides[i]);
            for (i = 0; i < p->n; i++)
                if (p->sides[i]->rest(p->sides[i]) != 0)
                    return play_gone(p, i);
        }
        for (most = 0, i = 0; i < p->n; i++) {
            size_t n = p->sides[i]->take(p->sides[i]);

            most = n > most ? n : most;
        }
    } while (most > 16384); /* a long reply is written bit by bit */
    return 0;
}

static void play_line_add(play *p, int link, const ask *a)
{
    line *l = &p->lines[link];

    if (a->argc == 0)
        return;
    if (l->waiting < PLAY_WAIT_MAX)
        l->wait[l->waiting++] = a;
    if (word_is(a->argv[0], "CLIENT") && a->argc > 1 &&
        word_is(a->argv[1], "REPLY") && a->argc > 2 &&
        !word_is(a->argv[2], "ON"))
        l->loose = 1;
    l->any_order |= freedom_any_order(a);
    if (p->tally)
        tally_command(a);
}

int play_asks(play *p, const ask *asks, int n, size_t cut)
{
    static bytes out[4];
    int link = p->step == NULL ? MODEL_READER : p->step->link, i, k;

    for (i = 0; i < p->n; i++) {
        bytes_clear(&out[i]);
        for (k = 0; k < n; k++)
            play_encode(&out[i], &asks[k], p->sides[i]);
        if (cut >= out[i].n)
            cut = 0;
        p->sides[i]->send(p->sides[i], link, out[i].p,
                          cut > 0 ? cut : out[i].n);
    }
    for (k = 0; k < n; k++) {
        play_line_add(p, link, &asks[k]);
        for (i = 1; i < p->n; i++)
            p->parted[i] |= freedom_silent(p->sides[i], &asks[k],
                                           p->now_us / 1000,
                                           !p->lines[link].loose);
    }
    if (cut == 0)
        return play_settle(p);
    if (play_settle(p) != 0)
        return -1;
    for (i = 0; i < p->n; i++)
        p->sides[i]->send(p->sides[i], link, out[i].p + cut,
                          out[i].n - cut);
    return play_settle(p);
}

/* Opens links, and asks each side for its numbers of them. */
static int play_open(play *p, int from, int to)
{
    int i, link;

    for (i = 0; i < p->n; i++)
        for (link = from; link <= to; link++) {
            if (p->sides[i]->open(p->sides[i], link) != 0)
                return play_gone(p, i);
            p->sides[i]->send(p->sides[i], link, "CLIENT ID\r\n", 11);
        }
    if (play_settle(p) != 0)
        return -1;
    for (i = 0; i < p->n; i++)
        for (link = from; link <= to; link++) {
            side *s = p->sides[i];

            memmove(&s->id_was[link][1], &s->id_was[link][0],
                    (MODEL_IDS - 1) * sizeof s->id[0]);
            s->id_was[link][0] = s->id[link];
            s->id[link] = s->heard[link].n > 1 && s->heard[link].p[0] == ':'
                              ? strtoll(s->heard[link].p + 1, NULL, 10) : 0;
            bytes_clear(&s->heard[link]);
        }
    for (link = from; link <= to; link++)
        memset(&p->lines[link], 0, sizeof *p->lines);
    return 0;
}

static void play_name(side *s, int i, const char *field)
{
    const char *at = strstr(s->heard[MODEL_READER].p, field);

    if (at != NULL)
        (void)snprintf(s->run[i], sizeof s->run[i], "%.40s",
                       at + strlen(field));
}

/* Asks each server process for its own names, which a script may store. */
static int play_names(play *p)
{
    int i;

    for (i = 0; i < p->n; i++)
        p->sides[i]->send(p->sides[i], MODEL_READER, "INFO\r\n", 6);
    if (play_settle(p) != 0)
        return -1;
    for (i = 0; i < p->n; i++) {
        play_name(p->sides[i], 0, "run_id:");
        play_name(p->sides[i], 1, "master_replid:");
        bytes_clear(&p->sides[i]->heard[MODEL_READER]);
    }
    return 0;
}

static int play_again(play *p, int link)
{
    int i;

    for (i = 0; i < p->n; i++)
        p->sides[i]->shut(p->sides[i], link);
    return play_settle(p) != 0 ? -1 : play_open(p, link, link);
}

/* ---------------------------------------------------------------- playing */

/* Real servers unblock connections whose time-outs end at the same moment in
 * the order of their structs' addresses, so the data set then depends on
 * chance. */
static void play_go_on(play *p)
{
    int link, i, more = 0;

    for (link = 0; link < MODEL_LINKS; link++)
        more += p->lines[link].waiting > 1;
    for (i = 1; i < p->n && more > 1; i++)
        p->parted[i] = 1;
}

/* A connection that waits, or in a transaction, would not be answered. */
static int play_scan(play *p, const step *s)
{
    const line *l = &p->lines[s->link];
    int i;

    if (l->waiting > 0 || l->loose || l->queued > 0)
        return play_asks(p, s->asks, s->n, 0);
    play_line_add(p, s->link, &s->asks[0]);
    for (i = 0; i < p->n; i++)
        if (scan_play(p->sides[i], s->link, &s->asks[0]) != 0)
            return play_gone(p, i);
    return play_settle(p);
}

static int play_step(play *p, const step *s)
{
    int i;

    p->step = s;
    if (s->kind != STEP_CLOCK && p->sides[0]->closed[s->link] &&
        play_again(p, s->link) != 0)
        return -1;
    switch (s->kind) {
    case STEP_ASK:
        return play_asks(p, s->asks, s->n, s->cut);
    case STEP_RAW:
        if (p->lines[s->link].waiting > 0)
            return 0; /* whom would the next reply answer?                  */
        for (i = 0; i < p->n; i++)
            p->sides[i]->send(p->sides[i], s->link, s->raw.p, s->raw.n);
        return play_settle(p);
    case STEP_SCAN:
        return play_scan(p, s);
    case STEP_CLOCK:
        play_go_on(p);
        p->now_us += s->us;
        for (i = 0; i < p->n; i++)
            p->sides[i]->clock(p->sides[i], p->now_us);
        return play_settle(p);
    case STEP_AGAIN:
        return play_again(p, s->link);
    }
    return 0;
}

void verdict_clear(verdict *v)
{
    bytes_clear(&v->asked);
    bytes_clear(&v->reference);
    bytes_clear(&v->reply);
    v->failed = 0;
}

void compare_play(const tape *t, side **sides, int n, int tally, verdict *v)
{
    static play p;
    int i;

    verdict_clear(v);
    memset(&p, 0, sizeof p);
    p.sides = sides;
    p.n = n;
    p.now_us = MODEL_BEGIN_US;
    p.tally = tally;
    p.v = v;
    for (i = 0; i < n; i++)
        if (sides[i]->fresh(sides[i]) != 0) {
            (void)play_gone(&p, i);
            return;
        }
    if (play_open(&p, 0, MODEL_READER) != 0 || play_names(&p) != 0)
        return;
    for (i = 0; i < t->n; i++) {
        p.at = i;
        if (play_step(&p, &t->steps[i]) != 0 || judge_all(&p) != 0)
            return;
    }
    (void)data_same(&p);
}
