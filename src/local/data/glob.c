/* SPDX-License-Identifier: MIT
 *
 * glob.c - the glob patterns of KEYS, PSUBSCRIBE and ACL.
 *
 * After a mismatch only the last star is tried further on: an earlier star
 * could match nothing that the last cannot. So the time is bounded, unlike that
 * of the usual recursion. */
#include "glob.h"

static unsigned char glob_lower(char c, int nocase)
{
    unsigned char u = (unsigned char)c;

    return nocase && u >= 'A' && u <= 'Z' ? (unsigned char)(u - 'A' + 'a') : u;
}

/* 1 if the class that begins at p[*i] == '[' has c. *i moves to the last byte
 * of the class; a class without an end reaches to the end of the pattern. */
static int glob_class(relet_span p, size_t *i, char c, int nocase)
{
    size_t at = *i + 1;
    int found = 0, not_in = at < p.n && p.p[at] == '^';
    unsigned char want = glob_lower(c, nocase), low, high;

    if (not_in)
        at++;
    for (;; at++) {
        if (at >= p.n) {
            at = p.n - 1;
            break;
        }
        if (p.p[at] == '\\' && at + 1 < p.n) {
            at++;
            if (p.p[at] == c)
                found = 1;
        } else if (p.p[at] == ']') {
            break;
        } else if (at + 2 < p.n && p.p[at + 1] == '-') {
            low = (unsigned char)p.p[at];
            high = (unsigned char)p.p[at + 2];
            if (low > high) {
                unsigned char t = low;

                low = high;
                high = t;
            }
            low = glob_lower((char)low, nocase);
            high = glob_lower((char)high, nocase);
            at += 2;
            if (want >= low && want <= high)
                found = 1;
        } else if (glob_lower(p.p[at], nocase) == want) {
            found = 1;
        }
    }
    *i = at;
    return not_in ? !found : found;
}

/* Matches the element of the pattern at *i with c; *i moves behind the
 * element. */
static int glob_one(relet_span p, size_t *i, char c, int nocase)
{
    int ok;

    switch (p.p[*i]) {
    case '?':
        ok = 1;
        break;
    case '[':
        ok = glob_class(p, i, c, nocase);
        break;
    case '\\':
        if (*i + 1 < p.n)
            ++*i;
        ok = glob_lower(p.p[*i], nocase) == glob_lower(c, nocase);
        break;
    default:
        ok = glob_lower(p.p[*i], nocase) == glob_lower(c, nocase);
        break;
    }
    ++*i;
    return ok;
}

RELET_PRIVATE int rlt_glob_match(relet_span p, relet_span s, int nocase)
{
    size_t i = 0, at = 0, star = SIZE_MAX, star_at = 0;

    /* As in Redis, not even a star matches an empty string. */
    if (s.n == 0)
        return p.n == 0;

    while (at < s.n) {
        if (i < p.n && p.p[i] == '*') {
            star = i++;
            star_at = at;
            continue;
        }
        if (i < p.n && glob_one(p, &i, s.p[at], nocase)) {
            at++;
            continue;
        }
        if (star == SIZE_MAX)
            return 0;
        i = star + 1;
        at = ++star_at;
    }
    while (i < p.n && p.p[i] == '*')
        i++;
    return i == p.n;
}
