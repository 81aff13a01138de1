/* SPDX-License-Identifier: MIT
 *
 * spoil.c - malformed commands, within bounds.
 *
 * Spoiling changes an argument or two. Taming removes arguments that would need
 * a gigabyte, or would stop the test itself. */
#include <stdlib.h>
#include <string.h>

#include "model.h"

static void spoil_drop(ask *a, int i)
{
    memmove(&a->argv[i], &a->argv[i + 1],
            (size_t)(a->argc - i - 1) * sizeof *a->argv);
    a->argc--;
}

static void spoil_insert(ask *a, int i, word w)
{
    if (a->argc == MODEL_WORDS)
        return;
    memmove(&a->argv[i + 1], &a->argv[i],
            (size_t)(a->argc - i) * sizeof *a->argv);
    a->argv[i] = w;
    a->argc++;
}

static word spoil_case(maker *m, word w)
{
    char text[64];
    size_t i;

    if (w.n > sizeof text)
        return w;
    for (i = 0; i < w.n; i++) {
        text[i] = w.p[i];
        if (text[i] >= 'A' && text[i] <= 'Z' && maker_once_in(m, 2))
            text[i] = (char)(text[i] + ('a' - 'A'));
    }
    return tape_word(m->t, text, w.n);
}

static void spoil_one(maker *m, ask *a)
{
    int i = 1 + (int)maker_below(m, (uint32_t)a->argc);
    int k = (int)maker_below(m, (uint32_t)a->argc);
    word hostile = tape_text(m->t, maker_pick(m, hostile_words));

    switch (maker_below(m, 8)) {
    case 0:
        spoil_insert(a, i, hostile);
        return;
    case 1:
        if (i < a->argc)
            spoil_drop(a, i);
        return;
    case 2:
        spoil_insert(a, i, a->argv[k]);
        return;
    case 3:
        if (i < a->argc && k > 0) {
            word w = a->argv[i];

            a->argv[i] = a->argv[k];
            a->argv[k] = w;
        }
        return;
    case 4:
        for (i = 0; i < a->argc; i++)
            a->argv[i] = spoil_case(m, a->argv[i]);
        return;
    default:
        if (i < a->argc)
            a->argv[i] = hostile;
        return;
    }
}

void expand_spoil(maker *m, ask *a)
{
    do
        spoil_one(m, a);
    while (maker_once_in(m, 3));
}

/* ----------------------------------------------------------------- taming */

static int tame_number(word w, double *out)
{
    char text[64];
    char *end;

    if (w.n == 0 || w.n >= sizeof text)
        return 0;
    memcpy(text, w.p, w.n);
    text[w.n] = '\0';
    *out = strtod(text[0] == '#' ? text + 1 : text, &end);
    return *end == '\0';
}

/* Numbers from `least` up to `most` become 7 (or -7). */
static void tame_range(ask *a, int from, double least, double most)
{
    double x;
    int i;

    for (i = from; i < a->argc; i++)
        if (tame_number(a->argv[i], &x) && x > least && x < most) {
            a->argv[i].p = x < 0 ? "-7" : "7";
            a->argv[i].n = x < 0 ? 2 : 1;
        }
}

static int tame_is_any(word w, const char *const *list)
{
    for (; *list != NULL; list++)
        if (word_is(w, *list))
            return 1;
    return 0;
}

#define TAME_SMALL 64 /* bytes of the longest member of a small set        */

/* The result of a lexicographic range in a large sorted set whose scores differ
 * depends on chance. */
static void tame_great(maker *m, ask *a)
{
    int i;

    if (a->argv[0].n == 0 || (a->argv[0].p[0] | 32) != 'z')
        return;
    for (i = 0; i < a->argc; i++) {
        if (!m->great && a->argv[i].n > TAME_SMALL)
            a->argv[i] = tape_text(m->t, "a");
        if (m->great && bytes_glob(i == 0 ? "*lex*" : "bylex", a->argv[i].p,
                                   a->argv[i].n)) {
            expand_template(m, "!ZCARD %z", a);
            return;
        }
    }
}

void expand_tame(maker *m, ask *a)
{
    static const char *const random[] = {"SRANDMEMBER", "HRANDFIELD",
                                         "ZRANDMEMBER", NULL};
    word name = a->argv[0];
    int i;

    if (a->argc == 0)
        expand_template(m, "PING", a);
    /* An error repeats the name of a subcommand, which must not be a
     * connection's number. */
    for (i = 0; i < 2 && i < a->argc; i++)
        if (word_is_id(a->argv[i]))
            a->argv[i] = tape_text(m->t, "7");
    tame_great(m, a);
    /* The local server has only some of the settings. */
    for (i = 2; word_is(name, "CONFIG") && i < a->argc; i++)
        if (word_is(a->argv[i], "*"))
            a->argv[i] = tape_text(m->t, "nope");
    if (word_is(name, "SETRANGE"))
        tame_range(a, 2, 4000, 536870913.0);
    if (tame_is_any(name, random))
        tame_range(a, 2, -9223372036854775807.0, -1000);
    if (word_is(name, "XAUTOCLAIM"))
        tame_range(a, 6, 100000, 1e30);
    if (word_is(name, "SELECT") && a->argc > 1)
        tame_range(a, 1, 2.5, 16);
}
