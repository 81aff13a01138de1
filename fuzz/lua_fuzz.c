/* SPDX-License-Identifier: MIT
 *
 * lua_fuzz.c - runs any bytes as a script.
 *
 * The first byte chooses the caller's protocol and, now and then, which
 * allocation fails; the rest is the script. Steps and memory are short. The
 * script must end with a whole reply, give the same reply in a second run, and
 * leave no memory allocated. */
#include "lua_rig.h"

#define FUZZ_STEPS 20000
#define FUZZ_MEMORY ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(int holds)
{
    if (!holds)
        abort();
}

/* 1 if every line of the reply ends and its length is as its headers say. */
static int is_whole(relet_span s)
{
    size_t at = 0;
    long missing = 1, count;

    for (; missing > 0; missing--) {
        const char *end = at < s.n ? (const char *)memchr(s.p + at, '\n',
                                                          s.n - at)
                                   : NULL;

        if (end == NULL || strchr("+-:$*%~_#,(=", s.p[at]) == NULL)
            return 0;
        count = strtol(s.p + at + 1, NULL, 10);
        if (strchr("*~", s.p[at]) && count > 0)
            missing += count;
        if (s.p[at] == '%')
            missing += 2 * count;
        if (strchr("$=", s.p[at]) && count >= 0)
            end += count + 2;
        at = (size_t)(end - s.p) + 1;
    }
    return at == s.n;
}

static size_t run(const uint8_t *data, size_t n, long fail_at, char *reply,
                  size_t cap)
{
    lua_rig r;
    relet_span source, s;
    size_t size = 0;

    if (lua_rig_open(&r, fail_at)) {
        r.steps_max = FUZZ_STEPS;
        r.memory_max = FUZZ_MEMORY;
        r.out.buf.max = cap;
        r.resp = 2 + (data[0] & 1);
        source.p = (const char *)data + 1;
        source.n = n - 1;
        s = lua_rig_eval(&r, source);
        must(s.p[0] == '(' || is_whole(s));
        size = s.n;
        memcpy(reply, s.p, size);
    }
    lua_rig_close(&r);
    must(r.held == 0);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static char first[65536], second[65536];
    size_t a, b;

    if (n < 1)
        return 0;
    if (data[0] >= 128) {
        (void)run(data, n, data[0] - 128, first, sizeof first);
        return 0;
    }
    a = run(data, n, -1, first, sizeof first);
    b = run(data, n, -1, second, sizeof second);
    must(a == b && memcmp(first, second, a) == 0);
    return 0;
}
