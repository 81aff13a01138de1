/* SPDX-License-Identifier: MIT
 *
 * vectors_test.c - runs a file of golden cases against the scanner.
 *
 *     vectors_test [tests/vectors/resp3.txt]
 *
 * Each input is fed whole, byte by byte, and in two parts, cut at every place.
 * The events of a prefix must be a prefix of the whole's events. Simple and
 * bulk strings are one type to a user, so the file's two words for them are,
 * too. */
#include "value_words.h"

/* ----------------------------------------------------------------- the file */

static int t_hex(char c)
{
    const char *digits = "0123456789abcdef", *at = strchr(digits, c | 0x20);

    return c == '\0' || at == NULL ? -1 : (int)(at - digits);
}

/* Decodes escapes up to `end`, and leaves *s there. */
static void t_unescape(t_text *out, const char **s, char end)
{
    const char *p = *s;
    char c;

    while (*p != '\0' && *p != end) {
        c = *p++;
        if (c == '\\' && *p == 'r') {
            c = '\r';
            p++;
        } else if (c == '\\' && *p == 'n') {
            c = '\n';
            p++;
        } else if (c == '\\' && *p == 'x') {
            c = (char)(t_hex(p[1]) * 16 + t_hex(p[2]));
            p += 3;
        }
        t_put(out, &c, 1);
    }
    *s = p;
}

/* Evaluates an expression such as ("a" x 3) + "b": quoted parts, each perhaps
 * repeated. */
static void t_expression(t_text *out, const char *s)
{
    size_t from, len;
    long times;

    while ((s = strchr(s, '"')) != NULL) {
        s++;
        from = out->n;
        t_unescape(out, &s, '"');
        len = out->n - from;
        s += *s == '"';
        if (strncmp(s, " x ", 3) == 0)
            for (times = strtol(s + 3, NULL, 10); times > 1; times--)
                t_put(out, out->p + from, len);
    }
}

static void t_input(t_text *out, const char *line)
{
    out->n = 0;
    if (line[0] == '"' || strncmp(line, "(\"", 2) == 0)
        t_expression(out, line);
    else
        t_unescape(out, &line, '\0');
}

/* Writes the expected events in the words of t_put_value. */
static void t_expected(t_text *out, const char *p)
{
    char *end;
    int quoted = 0, i;

    out->n = 0;
    out->p[0] = '\0';
    if (strcmp(p, "128 nested arrays around int(1)") == 0) {
        for (i = 0; i < 128; i++)
            t_say(out, "arr[");
        t_say(out, "int(1)");
        for (i = 0; i < 128; i++)
            t_say(out, "]");
        return;
    }
    while (*p != '\0') {
        if (!quoted && strncmp(p, "simple\"", 7) == 0) {
            t_say(out, "text");
            p += 6;
        } else if (!quoted && strncmp(p, "blob\"", 5) == 0) {
            t_say(out, "text");
            p += 4;
        } else if (!quoted && strncmp(p, "dbl(", 4) == 0) {
            t_put_double(out, strtod(p + 4, &end));
            p = end + 1;
        } else {
            quoted ^= *p == '"';
            t_put(out, p++, 1);
        }
    }
}

/* --------------------------------------------------------------- one vector */

/* Feeds the first `whole` bytes of in, in two chunks cut at `cut`, or byte by
 * byte. */
static void t_run(t_text *got, const t_text *in, size_t whole, size_t cut,
                  int bytewise)
{
    const uint8_t *p = (const uint8_t *)in->p;
    t_feed f;
    size_t i;

    got->n = 0;
    got->p[0] = '\0';
    t_feed_init(&f, t_feed_limits(), UINT32_MAX, t_event, got);
    if (bytewise) {
        for (i = 0; i < whole; i++)
            t_feed_bytes(&f, p + i, 1);
    } else {
        t_feed_bytes(&f, p, cut);
        t_feed_bytes(&f, p + cut, whole - cut);
    }
    if (f.n > 0 && f.scan.error == RLT_SCAN_E_NONE)
        t_say(got, got->n > 0 ? " ; MORE" : "MORE");
    t_feed_free(&f);
}

static int t_same(const t_text *want, const t_text *got, int line,
                  const char *how, size_t at)
{
    if (strcmp(want->p, got->p) == 0)
        return 1;
    printf("line %d, %s %lu:\n  want %.300s\n  got  %.300s\n", line, how,
           (unsigned long)at, want->p, got->p);
    return 0;
}

/* Returns 1 if want begins with got, less a MORE at its end. */
static int t_prefix(const t_text *want, t_text *got, int line, size_t at)
{
    if (got->n >= 4 && strcmp(got->p + got->n - 4, "MORE") == 0)
        got->n -= got->n > 4 ? 7 : 4;
    if (strncmp(want->p, got->p, got->n) == 0)
        return 1;
    got->p[got->n] = '\0';
    return t_same(want, got, line, "prefix of", at);
}

static int t_vector(const t_text *in, const t_text *want, int line)
{
    static t_text got;
    size_t k;

    t_run(&got, in, in->n, in->n, 0);
    if (!t_same(want, &got, line, "whole", in->n))
        return 0;
    t_run(&got, in, in->n, 0, 1);
    if (!t_same(want, &got, line, "byte by byte", in->n))
        return 0;
    for (k = 0; k <= in->n; k++) {
        t_run(&got, in, in->n, k, 0);
        if (!t_same(want, &got, line, "cut at", k))
            return 0;
        t_run(&got, in, k, k, 0);
        if (!t_prefix(want, &got, line, k))
            return 0;
    }
    return 1;
}

static void t_trim(char *line)
{
    char *comment = strstr(line, "\t#");

    if (comment != NULL)
        *comment = '\0';
    line[strcspn(line, "\r\n")] = '\0';
}

int main(int argc, char **argv)
{
    static char line[4096];
    static t_text in, want;
    const char *path = argc > 1 ? argv[1] : "tests/vectors/resp3.txt";
    FILE *file = fopen(path, "r");
    int number = 0, passed = 0, failed = 0, pending = 0;

    if (file == NULL) {
        printf("%s: cannot be read\n", path);
        return 1;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        number++;
        if (line[0] == '\t' && pending) {
            t_trim(line + 1);
            t_expected(&want, line + 1);
            if (t_vector(&in, &want, number - 1))
                passed++;
            else
                failed++;
            pending = 0;
        } else if (line[0] != '\t' && line[0] != '\n' &&
                   strncmp(line, "# ", 2) != 0) {
            line[strcspn(line, "\n")] = '\0';
            t_input(&in, line);
            pending = 1;
        }
    }
    fclose(file);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
