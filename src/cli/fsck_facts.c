/* SPDX-License-Identifier: MIT
 *
 * fsck_facts.c - what a scan found of each job of a queue, and the rules that a
 * job may break. */
#include <stdlib.h>

#include "fsck_facts.h"

void fsck_facts_add(fsck_facts *f, uint64_t number, uint32_t seen,
                    uint64_t token)
{
    if (f->n == f->cap) {
        f->cap = f->cap ? 2 * f->cap : 1024;
        f->list = (fsck_fact *)cli_grow(f->list, f->cap * sizeof *f->list);
    }
    f->list[f->n].number = number;
    f->list[f->n].token = token;
    f->list[f->n++].seen = seen;
}

static int fsck_facts_compare(const void *a, const void *b)
{
    const fsck_fact *x = (const fsck_fact *)a, *y = (const fsck_fact *)b;

    return (x->number > y->number) - (x->number < y->number);
}

void fsck_facts_fold(fsck_facts *f)
{
    size_t i, n = 0;

    if (f->n > 1)
        qsort(f->list, f->n, sizeof *f->list, fsck_facts_compare);
    for (i = 0; i < f->n; i++) {
        if (n == 0 || f->list[n - 1].number != f->list[i].number) {
            f->list[n++] = f->list[i];
            continue;
        }
        f->list[n - 1].seen |= f->list[i].seen;
        if (f->list[i].token > f->list[n - 1].token)
            f->list[n - 1].token = f->list[i].token;
    }
    f->n = n;
}

int fsck_facts_has(const fsck_facts *f, uint64_t number)
{
    fsck_fact wanted = {0, 0, 0};
    const fsck_fact *found;

    wanted.number = number;
    found = f->n == 0 ? NULL
                      : (const fsck_fact *)bsearch(&wanted, f->list, f->n,
                                                   sizeof wanted,
                                                   fsck_facts_compare);
    return found && (found->seen & FSCK_RECORD);
}

size_t fsck_facts_digits(relet_span s, uint64_t *number)
{
    size_t i = 0;

    for (*number = 0; i < s.n && i < 18 && s.p[i] >= '0' && s.p[i] <= '9'; i++)
        *number = *number * 10 + (uint64_t)(s.p[i] - '0');
    return i;
}

/* 1 and *token when s has the shape of a state, "L token attempts stalls
 * replays flag": a letter, four numbers, each behind a blank, and a flag. */
static int fsck_facts_has_shape(relet_span s, uint64_t *token)
{
    uint64_t number = 0;
    int i;

    *token = 0;
    s.p++;
    s.n--;
    for (i = 0; i < 4; i++) {
        relet_span rest = {s.p + 1, s.n - 1};
        size_t n = s.n > 1 && *s.p == ' '
                       ? fsck_facts_digits(rest, &number) : 0;

        if (n == 0)
            return 0;
        *token = i == 0 ? number : *token;
        s.p += 1 + n;
        s.n -= 1 + n;
    }
    return s.n > 1 && s.p[0] == ' ' && s.p[1] != ' ';
}

uint32_t fsck_facts_state(relet_span s, uint64_t *token)
{
    uint32_t seen = FSCK_STATE;

    *token = 0;
    if (s.n == 0 || !fsck_facts_has_shape(s, token))
        return seen | FSCK_ODD;
    if (s.p[0] == 'L')
        return seen | FSCK_HAS_L;
    if (s.p[0] == 'D')
        return seen | FSCK_HAS_D;
    if (s.p[0] == 'X')
        return seen | FSCK_HAS_X;
    return s.p[0] == 'W' ? seen : seen | FSCK_ODD;
}

uint32_t fsck_facts_record(relet_span s)
{
    int plain = s.n >= 5 && s.p[0] == '.', headed = s.n >= 19 && s.p[0] == '+';

    return plain || headed ? FSCK_RECORD : FSCK_RECORD | FSCK_ODD;
}

const char *fsck_facts_wrong(uint32_t seen)
{
    uint32_t right = seen & FSCK_HAS_L   ? FSCK_LEASED
                     : seen & FSCK_HAS_D ? FSCK_DONE
                     : seen & FSCK_HAS_X ? FSCK_DEAD
                                         : FSCK_WAITS;

    if (!(seen & FSCK_RECORD))
        return (seen & (FSCK_STATE | FSCK_TEXT)) ? "a part without a record"
                                                 : NULL;
    if (seen & FSCK_ODD)
        return "a record or a state of no kind";
    if (seen & FSCK_HIGH)
        return "its number or token is higher than any that was given";
    if (!(seen & right & FSCK_PLACES))
        return right == FSCK_WAITS    ? "waits, but is in no line"
               : right == FSCK_LEASED ? "is leased, but not among the leased"
               : right == FSCK_DONE   ? "is done, but will be kept for ever"
                                      : "is dead, but not among the dead";
    return NULL;
}

int fsck_facts_has_strays(uint32_t seen)
{
    uint32_t places = seen & FSCK_PLACES;

    return places && (!(seen & FSCK_RECORD) || (places & (places - 1)));
}
