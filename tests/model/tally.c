/* SPDX-License-Identifier: MIT
 *
 * tally.c - counts the commands that were sent, and the errors of the replies.
 *
 * The counts show which commands and errors the tapes never reach. Errors are
 * counted by their text, without words of the caller. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define TALLY_MAX 2000

typedef struct tally_row {
    char name[120];
    long n, errors;
} tally_row;

static struct {
    tally_row rows[TALLY_MAX];
    int n;
} tally_of[2]; /* commands, errors */

static tally_row *tally_find(int which, const char *name)
{
    int i;

    for (i = 0; i < tally_of[which].n; i++)
        if (strcmp(tally_of[which].rows[i].name, name) == 0)
            return &tally_of[which].rows[i];
    if (i == TALLY_MAX)
        return &tally_of[which].rows[0];
    (void)snprintf(tally_of[which].rows[i].name, 120, "%s", name);
    tally_of[which].n++;
    return &tally_of[which].rows[i];
}

static int tally_has_parts(word w)
{
    static const char *const names[] = {"CLIENT", "CONFIG", "XGROUP", "XINFO",
        "SCRIPT", "ACL", "PUBSUB", "COMMAND", "CLUSTER", "DEBUG",
        NULL};
    int i;

    for (i = 0; names[i] != NULL; i++)
        if (word_is(w, names[i]))
            return 1;
    return 0;
}

static void tally_upper(char *out, size_t room, word w)
{
    size_t i;

    for (i = 0; i < w.n && i + 1 < room; i++)
        out[i] = isprint((unsigned char)w.p[i])
                     ? (char)toupper((unsigned char)w.p[i]) : '?';
    out[i] = '\0';
}

static tally_row *tally_command_row(const ask *a)
{
    char name[60], part[40], both[110];

    tally_upper(name, sizeof name, a->argv[0]);
    if (a->argc < 2 || !tally_has_parts(a->argv[0]))
        return tally_find(0, name);
    tally_upper(part, sizeof part, a->argv[1]);
    (void)snprintf(both, sizeof both, "%s %s", name, part);
    return tally_find(0, both);
}

void tally_command(const ask *a)
{
    tally_command_row(a)->n++;
}

/* Replaces digits by one #, and quoted text by '…'. */
static void tally_error(word text)
{
    char name[120];
    size_t i, n = 0;
    char quote = '\0';

    for (i = 0; i < text.n && n + 1 < sizeof name; i++) {
        char c = text.p[i];

        if (quote != '\0') {
            quote = c == quote ? '\0' : quote;
            if (quote == '\0')
                name[n++] = c;
            continue;
        }
        if ((c == '\'' || c == '`') && i > 0 && text.p[i - 1] == ' ')
            quote = c == '`' ? '`' : '\'';
        if (isxdigit((unsigned char)c) && i + 8 < text.n &&
            strspn(text.p + i, "0123456789abcdef") > 30) {
            i += strspn(text.p + i, "0123456789abcdef");
            c = '#';
        }
        if (isdigit((unsigned char)c) && n > 0 && name[n - 1] == '#')
            continue;
        name[n++] = isdigit((unsigned char)c) ? '#'
                    : isprint((unsigned char)c) ? c : '?';
    }
    name[n] = '\0';
    tally_find(1, name)->n++;
}

void tally_reply(const ask *a, const forest *f, int at)
{
    int child;

    if (frame_error(f, at)) {
        tally_error(f->at[at].text);
        if (a != NULL)
            tally_command_row(a)->errors++;
    }
    for (child = f->at[at].first; child >= 0; child = f->at[child].next)
        tally_reply(NULL, f, child);
}

static int tally_order(const void *a, const void *b)
{
    return strcmp(((const tally_row *)a)->name, ((const tally_row *)b)->name);
}

void tally_print(FILE *f)
{
    static const char *const titles[] = {"commands: sent, and refused",
                                         "errors"};
    int which, i;

    for (which = 0; which < 2; which++) {
        qsort(tally_of[which].rows, (size_t)tally_of[which].n,
              sizeof(tally_row), tally_order);
        (void)fprintf(f, "%s (%d)\n", titles[which], tally_of[which].n);
        for (i = 0; i < tally_of[which].n; i++) {
            const tally_row *r = &tally_of[which].rows[i];

            if (which == 0)
                (void)fprintf(f, "  %8ld %8ld  %s\n", r->n, r->errors,
                              r->name);
            else
                (void)fprintf(f, "  %8ld  %s\n", r->n, r->name);
        }
    }
}
