/* SPDX-License-Identifier: MIT
 *
 * chance.c - commands with random results, on all sides.
 *
 * Two replies of such a command cannot be compared, but many can be counted.
 * Each reply has only elements, as many as it should, none twice if all must
 * differ, each beside its own value. Over many replies, chi-squared shows how
 * evenly the elements are drawn: for n elements it is n - 1 on average, with a
 * deviation of sqrt(2 (n - 1)). That of the local server may be five deviations
 * above. The real servers draw from a hash table only approximately evenly:
 * their figure is only printed. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define CHANCE_MANY 400
#define CHANCE_BATCH 100

typedef struct chance {
    const char *fill; /* one element; every % its number                   */
    const char *draw; /* one reply                                         */
    int n;            /* elements                                          */
    int each;         /* elements of one reply                             */
    int apart;        /* all differ                                        */
    int calls;
} chance;

static const chance chances[] = {
    {"SADD s m%", "SRANDMEMBER s", 64, 1, 1, 6400},
    {"SADD s m%", "SRANDMEMBER s 5", 64, 5, 1, 6400},
    {"SADD s m%", "SRANDMEMBER s 40", 64, 40, 1, 1000},
    {"SADD s m%", "SRANDMEMBER s 99", 64, 64, 1, 10},
    {"SADD s m%", "SRANDMEMBER s -1000", 64, 1000, 0, 64},
    {"SADD s m%", "SRANDMEMBER s 7", 400, 7, 1, 4000},
    {"SADD s %", "SRANDMEMBER s", 64, 1, 1, 6400},
    {"SADD s %", "SRANDMEMBER s 5", 64, 5, 1, 6400},
    {"SADD s m%", "COPY s t REPLACE;SPOP t", 64, 1, 1, 6400},
    {"SADD s m%", "COPY s t REPLACE;SPOP t 5", 64, 5, 1, 3200},
    {"SADD s m%", "COPY s t REPLACE;SPOP t 60", 64, 60, 1, 640},
    {"HSET h f% v%", "HRANDFIELD h", 64, 1, 1, 6400},
    {"HSET h f% v%", "HRANDFIELD h 5", 64, 5, 1, 3200},
    {"HSET h f% v%", "HRANDFIELD h 5 WITHVALUES", 64, 5, 1, 3200},
    {"HSET h f% v%", "HRANDFIELD h -1000 WITHVALUES", 64, 1000, 0, 64},
    {"HSET h f% v%", "HRANDFIELD h", 400, 1, 1, 20000},
    {"ZADD z % m%", "ZRANDMEMBER z", 64, 1, 1, 6400},
    {"ZADD z % m%", "ZRANDMEMBER z 5", 64, 5, 1, 3200},
    {"ZADD z % m%", "ZRANDMEMBER z 5 WITHSCORES", 64, 5, 1, 3200},
    {"ZADD z % m%", "ZRANDMEMBER z -1000 WITHSCORES", 64, 1000, 0, 64},
    {"ZADD z % m%", "ZRANDMEMBER z", 400, 1, 1, 20000},
    {"SET k% x", "RANDOMKEY", 64, 1, 1, 6400}};

static forest chance_trees;
static long chance_hits[CHANCE_MANY];

/* ---------------------------------------------------------------- asking */

static void chance_line(bytes *out, const char *line, int number)
{
    for (; *line != '\0'; line++)
        if (*line == '%')
            bytes_format(out, "%d", number);
        else if (*line == ';')
            bytes_text(out, "\r\n");
        else
            bytes_put(out, line, 1);
    bytes_text(out, "\r\n");
}

/* Sends the line so often, and waits for all replies. */
static int chance_ask(side *s, const char *line, int from, int to)
{
    bytes out = {NULL, 0, 0};
    size_t more;

    for (; from < to; from++)
        chance_line(&out, line, from);
    bytes_clear(&s->heard[0]);
    s->send(s, 0, out.p, out.n);
    bytes_free(&out);
    do { /* the second barrier says that the replies have been written      */
        s->poke(s);
        if (s->rest(s) != 0)
            return -1;
        s->poke(s);
        if (s->rest(s) != 0)
            return -1;
        more = s->take(s);
    } while (more > 0);
    return 0;
}

/* --------------------------------------------------------------- judging */

static int chance_number(const frame *x)
{
    char text[32];
    size_t i = 0;

    while (i < x->text.n && (x->text.p[i] < '0' || x->text.p[i] > '9'))
        i++;
    if (i == x->text.n || x->text.n - i >= sizeof text)
        return -1;
    memcpy(text, x->text.p + i, x->text.n - i);
    text[x->text.n - i] = '\0';
    return atoi(text);
}

/* Counts the elements of one reply: 0, or -1 if the reply is malformed. */
static int chance_count(const chance *c, const forest *f, int at)
{
    static char met[CHANCE_MANY];
    int valued = strstr(c->draw, "WITH") != NULL, drawn = 0, i;
    int aggregate = strchr("*~", f->at[at].type) != NULL;

    if (aggregate && f->at[at].count != c->each * (1 + valued))
        return -1;
    memset(met, 0, sizeof met);
    for (at = aggregate ? f->at[at].first : at; at >= 0;
         at = f->at[at].next, drawn++) {
        i = chance_number(&f->at[at]);
        if (i < 0 || i >= c->n || (c->apart && met[i]))
            return -1;
        met[i] = 1;
        chance_hits[i]++;
        if (valued) {
            at = f->at[at].next;
            if (at < 0 || chance_number(&f->at[at]) != i)
                return -1;
        }
    }
    return drawn == c->each ? 0 : -1;
}

/* Counts the replies of one batch. If a line has two commands, the replies of
 * the second one count. */
static int chance_batch(const chance *c, const bytes *heard, int calls)
{
    int two = strchr(c->draw, ';') != NULL, n, at;
    size_t done = 0;

    for (n = 0; done < heard->n; n++) {
        chance_trees.n = 0;
        at = frame_read(&chance_trees, heard->p + done, heard->n - done);
        if (at < 0)
            return -1;
        done += chance_trees.at[at].size;
        if ((!two || n % 2 == 1) && chance_count(c, &chance_trees, at) != 0)
            return -1;
    }
    return n == calls * (1 + two) ? 0 : -1;
}

/* Returns chi-squared, or -1 if a reply was malformed. */
static double chance_measure(side *s, const chance *c)
{
    double sum = 0, off, want = (double)c->calls * c->each / c->n;
    int n, i;

    memset(chance_hits, 0, sizeof chance_hits);
    if (chance_ask(s, "FLUSHALL", 0, 1) != 0 ||
        chance_ask(s, c->fill, 0, c->n) != 0)
        return -1;
    for (n = 0; n < c->calls; n += CHANCE_BATCH) {
        int calls = c->calls - n < CHANCE_BATCH ? c->calls - n
                                                : CHANCE_BATCH;

        if (chance_ask(s, c->draw, 0, calls) != 0 ||
            chance_batch(c, &s->heard[0], calls) != 0)
            return -1;
    }
    for (i = 0; i < c->n; i++) {
        off = (double)chance_hits[i] - want;
        sum += off * off / want;
    }
    return sum;
}

static int chance_is_even(const side *s, const chance *c, double chi)
{
    double most = c->n - 1 + 5 * sqrt(2.0 * (c->n - 1));

    return chi >= 0 && (chi < most || strcmp(s->name, "ours") != 0);
}

static int chance_one(side **sides, int n, const chance *c, FILE *f)
{
    bytes line = {NULL, 0, 0};
    int k, bad = 0;

    bytes_format(&line, "  %-30s of %3d:", c->draw, c->n);
    for (k = 0; k < n; k++) {
        double chi = chance_measure(sides[k], c);

        bad |= !chance_is_even(sides[k], c, chi);
        bytes_format(&line, "  %s %.0f", sides[k]->name, chi);
    }
    if (bad)
        (void)printf("FAIL not as by chance:%s\n", line.p);
    else if (f != NULL)
        (void)fprintf(f, "%s\n", line.p);
    bytes_free(&line);
    return bad;
}

int chance_play(side **sides, int n, int *played, FILE *f)
{
    int k, failed = 0;

    chance_trees.at = (frame *)calloc(FRAME_MAX, sizeof(frame));
    if (chance_trees.at == NULL)
        abort();
    for (k = 0; k < n; k++)
        if (sides[k]->fresh(sides[k]) != 0 || sides[k]->open(sides[k], 0) != 0)
            return 1;
    if (f != NULL)
        (void)fprintf(f, "chi-square of what is drawn (-1: no such reply)\n");
    for (*played = 0; *played < (int)(sizeof chances / sizeof *chances);
         ++*played)
        failed += chance_one(sides, n, &chances[*played], f);
    free(chance_trees.at);
    return failed;
}
