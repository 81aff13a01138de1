/* SPDX-License-Identifier: MIT
 *
 * tape.c - makes a list of steps from a seed.
 *
 * Each tape draws its own mix: a few families of commands, the share of
 * malformed arguments, the connections and their protocols, the speed of time.
 * Many different small tapes reach more than one average tape. */
#include <string.h>

#include "model.h"

word tape_word(tape *t, const char *p, size_t n)
{
    word w = {"", 0};

    if (t->used + n > sizeof t->arena)
        return w;
    w.p = t->arena + t->used;
    w.n = n;
    if (n > 0)
        memcpy(t->arena + t->used, p, n);
    t->used += n;
    return w;
}

word tape_text(tape *t, const char *text)
{
    return tape_word(t, text, strlen(text));
}

/* The mix of this tape. */
typedef struct mix {
    const family *chosen[5];
    int families;
    int links;
    int in_multi[MODEL_CLIENTS]; /* commands left before EXEC              */
    uint32_t clock_in, script_in, multi_in, raw_in, pipe_in;
} mix;

static const family *mix_family(maker *m)
{
    uint32_t sum = 0, at;
    int i;

    for (i = 0; i < family_count; i++)
        sum += (uint32_t)families[i].weight;
    at = maker_below(m, sum);
    for (i = 0; at >= (uint32_t)families[i].weight; i++)
        at -= (uint32_t)families[i].weight;
    return &families[i];
}

static int mix_has(const mix *x, const char *name)
{
    int i;

    for (i = 0; i < x->families; i++)
        if (strcmp(x->chosen[i]->name, name) == 0)
            return 1;
    return 0;
}

static void mix_draw(maker *m, mix *x)
{
    int i;

    memset(x, 0, sizeof *x);
    x->families = 1 + (int)maker_below(m, 5);
    for (i = 0; i < x->families; i++)
        x->chosen[i] = mix_family(m);
    x->links = maker_once_in(m, 3) ? 1 : 2 + (int)maker_below(m, 3);
    if (mix_has(x, "caches") && maker_once_in(m, 2))
        x->families = 1;
    if (strcmp(x->chosen[0]->name, "engine") == 0 && !maker_once_in(m, 3))
        x->families = 1;
    x->clock_in = 3 + maker_below(m, 12);
    x->script_in = maker_once_in(m, 3) ? 4 : 25;
    x->multi_in = maker_once_in(m, 4) ? 6 : 40;
    x->raw_in = maker_once_in(m, 8) ? 10 : 200;
    x->pipe_in = maker_once_in(m, 4) ? 4 : 30;
    m->great = maker_once_in(m, 4);
    m->calm = maker_once_in(m, 6) ? 600 : 800 + (int)maker_below(m, 220);
}

static step *tape_add(tape *t, step_kind kind, int link)
{
    step *s;

    if (t->n == MODEL_STEPS)
        return NULL;
    s = &t->steps[t->n++];
    memset(s, 0, offsetof(step, asks));
    s->n = 0;
    s->raw.p = "";
    s->raw.n = 0;
    s->cut = 0;
    s->kind = kind;
    s->link = link;
    return s;
}

/* Moves the clock to a millisecond around the end of a key or lease, or by any
 * time. */
static void tape_clock(maker *m)
{
    static const int64_t us[] = {0, 1, 999, 1000, 1001, 2000, 5000, 100000,
        500000, 999000, 1000000, 1001000, 5000000, 60000000, 600000000};
    int known = m->ends < 32 ? m->ends : 32;
    step *s = tape_add(m->t, STEP_CLOCK, 0);
    int64_t by = us[maker_below(m, sizeof us / sizeof *us)];

    if (s == NULL)
        return;
    if (known > 0 && !maker_once_in(m, 3)) {
        int64_t at = m->ends_ms[maker_below(m, (uint32_t)known)] * 1000;

        at += (int64_t)maker_below(m, 4) * 1000 - 1000;
        if (at > m->now_us && at - m->now_us < INT64_C(4000000000))
            by = at - m->now_us;
    } else if (maker_once_in(m, 30)) {
        by = -(int64_t)maker_below(m, 3000) * 1000;
    }
    s->us = by;
    m->now_us += by;
}

static int tape_is_random(const ask *a)
{
    return word_is(a->argv[0], "SPOP") || word_is(a->argv[0], "RANDOMKEY");
}

/* The data sets must not stay different after a command with a random effect,
 * so this adds a command that makes them equal again. */
static void tape_settle(maker *m, step *s)
{
    const ask *a = &s->asks[s->n - 1];
    ask *b = &s->asks[s->n];
    ask was = *a;

    if (!tape_is_random(a) || s->n == MODEL_ASKS)
        return;
    if (word_is(a->argv[0], "SPOP") && a->argc > 1) {
        expand_template(m, "!DEL x", b);
        b->argv[1] = a->argv[1];
    } else {
        expand_template(m, "!SCAN 0 COUNT 100000", &s->asks[s->n - 1]);
        *b = was;
    }
    s->n++;
}

static void tape_ask(maker *m, const mix *x, ask *a)
{
    const family *f = maker_once_in(m, 12) ? mix_family(m)
        : x->chosen[maker_below(m, (uint32_t)x->families)];

    if (strcmp(f->name, "engine") == 0 && !maker_once_in(m, 8) &&
        files_make(m, a))
        return;
    if (maker_once_in(m, x->script_in)) {
        script_make(m, f, a);
    } else {
        expand_template(m, maker_pick(m, f->rows), a);
    }
}

static void tape_plain(maker *m, int link, const char *template)
{
    step *s = tape_add(m->t, STEP_ASK, link);

    if (s == NULL)
        return;
    expand_template(m, template, &s->asks[0]);
    s->n = 1;
}

static void tape_raw(maker *m, int link)
{
    static const char *const raw[] = {"\r\n", "PING\r\n", "ping  \"a b\"\r\n",
        "*0\r\n", "*-1\r\n", "*1\r\n$-1\r\n", "*x\r\n", "*1\r\n+PING\r\n",
        "*1\r\n$4\r\nPING\r\n*", "\"unbalanced\r\n", "*1\r\n$x\r\n",
        "*99999999999\r\n", "*2\r\n$3\r\nGET\r\n$99999999999\r\n",
        "SET s1 'a\\'b'\r\n", "GET s1\n", "set s1 \"\\x41\\n\"\r\nget s1\r\n",
        "*1048577\r\n", "*1\r\n$536870913\r\n", "PING \"a\"b\r\n",
        "GET\r\n", "*1\r\n$0\r\n\r\n", "POST / HTTP/1.1\r\n", NULL};
    step *s = tape_add(m->t, STEP_RAW, link);

    if (s != NULL)
        s->raw = tape_text(m->t, maker_pick(m, raw));
}

static void tape_commands(maker *m, const mix *x, int link)
{
    step *s = tape_add(m->t, STEP_ASK, link);
    int n = maker_once_in(m, x->pipe_in) ? 2 + (int)maker_below(m, 2) : 1;

    if (s == NULL)
        return;
    while (n-- > 0 && s->n < MODEL_ASKS) {
        tape_ask(m, x, &s->asks[s->n++]);
        tape_settle(m, s);
    }
    if (maker_once_in(m, 40))
        s->cut = 1 + maker_below(m, 20);
}

/* One connection reads into its cache and blocks, perhaps a second one, too;
 * another one unblocks them by its commands, at the latest by the last. */
static void tape_wait_and_wake(maker *m, const mix *x)
{
    static const char *const wakes[] = {"RPUSH l1 {%e}", "RPUSH l1 a b",
        "EVAL redis.call('rpush',KEYS[1],'a','b') 1 l1", "ZADD z1 1 a 2 b",
        "XADD x1 * a b", "RENAME l3 l1", "MULTI", "SET s1 %v", NULL};
    int by = (int)maker_below(m, (uint32_t)x->links);
    int waits = (by + 1) % x->links, next = (by + 2) % x->links, n;

    for (n = 1 + (int)maker_below(m, 3); n > 0; n--)
        tape_plain(m, waits, "![LRANGE l2 0 -1|LRANGE l1 0 -1|GET s1|"
                             "CLIENT CACHING YES|SET s1 %v]");
    tape_plain(m, by, "!DEL l1 z1 x1");
    tape_plain(m, waits, "![BLMOVE l1 l2 LEFT RIGHT 0|BRPOPLPUSH l1 l2 0|"
                         "BLPOP l1 0|BLMPOP 0 1 l1 LEFT COUNT 2|"
                         "BZPOPMIN z1 0|XREAD BLOCK 0 STREAMS x1 $]");
    if (next != by && maker_once_in(m, 3)) {
        tape_plain(m, next, "!LRANGE l3 0 -1");
        tape_plain(m, next, "!BLMOVE [l1|l2] l3 LEFT RIGHT 0.5");
    }
    for (n = 1 + (int)maker_below(m, 2); n > 0; n--)
        tape_plain(m, by, maker_pick(m, wakes));
    tape_plain(m, by, "!RPUSH l1 y z");
    tape_plain(m, by, "!ZADD z1 1 y 2 z");
    tape_plain(m, by, "!XADD x1 * a b");
    tape_plain(m, by, "!EXEC");
}

static void tape_scan(maker *m, int link)
{
    step *s = tape_add(m->t, STEP_SCAN, link);

    if (s == NULL)
        return;
    expand_template(m, "![SCAN 0 (MATCH %p;TYPE [string|hash|list|set|zset])|"
                       "SCAN 0|SSCAN %t 0|HSCAN %h 0 (MATCH %p)|"
                       "ZSCAN %z 0] COUNT [1|2|3]", &s->asks[0]);
    s->n = 1;
}

/* Jobs in a queue, some of them claimed. */
static void tape_work(maker *m, int link)
{
    step *s;
    int i;

    for (i = 0; i < FILES_WORK; i++) {
        s = tape_add(m->t, STEP_ASK, link);
        if (s != NULL && files_work(m, i, &s->asks[0]))
            s->n = 1;
        else if (s != NULL)
            m->t->n--;
    }
}

static void tape_step(maker *m, mix *x)
{
    int link = maker_once_in(m, 2) ? 0 : (int)maker_below(m,
                                                  (uint32_t)x->links);

    if (x->links > 1 && mix_has(x, "caches") && maker_once_in(m, 6)) {
        tape_wait_and_wake(m, x);
    } else if (mix_has(x, "engine") && maker_once_in(m, 20)) {
        tape_work(m, link);
    } else if (maker_once_in(m, x->clock_in)) {
        tape_clock(m);
    } else if (maker_once_in(m, 40)) {
        tape_scan(m, link);
    } else if (maker_once_in(m, x->raw_in)) {
        tape_raw(m, link);
    } else if (maker_once_in(m, 120)) {
        (void)tape_add(m->t, STEP_AGAIN, link);
    } else if (x->in_multi[link] == 0 && maker_once_in(m, x->multi_in)) {
        x->in_multi[link] = 1 + (int)maker_below(m, 6);
        if (maker_once_in(m, 3))
            tape_plain(m, link, "WATCH {%k}");
        tape_plain(m, link, "MULTI");
    } else if (x->in_multi[link] == 1) {
        x->in_multi[link] = 0;
        tape_plain(m, link, maker_once_in(m, 9) ? "DISCARD" : "EXEC");
    } else {
        x->in_multi[link] -= x->in_multi[link] > 0;
        tape_commands(m, x, link);
    }
}

/* Entries for the consumer groups of the tape. */
static void tape_groups(maker *m, int link)
{
    tape_plain(m, link, "!XGROUP CREATE x1 g1 [0|$] MKSTREAM");
    tape_plain(m, link, "!XGROUP CREATE x2 g1 0 MKSTREAM");
    tape_plain(m, link, "!XADD x1 * a b");
    tape_plain(m, link, "!XADD x1 * c d");
    tape_plain(m, link, "!XREADGROUP GROUP g1 al [COUNT 1|] STREAMS x1 >");
}

/* A connection that gets every keyspace event, also those of its own commands.
 * */
static void tape_ears(maker *m, int link)
{
    tape_plain(m, link, "!HELLO 3");
    tape_plain(m, link, "!CONFIG SET notify-keyspace-events KEAmn");
    tape_plain(m, link, "!PSUBSCRIBE __key*__:*");
}

/* A connection with tracking, which perhaps also gets keyspace events. */
static void tape_cache(maker *m, int link)
{
    tape_plain(m, link, "!HELLO 3");
    if (maker_once_in(m, 4))
        tape_ears(m, link);
    tape_plain(m, link, "!CLIENT TRACKING ON [||NOLOOP|BCAST|OPTOUT]");
}

void tape_make(tape *t, uint64_t seed)
{
    maker m;
    mix x;
    int link, steps;

    memset(&m, 0, sizeof m);
    script_forget();
    t->seed = seed;
    t->n = 0;
    t->used = 0;
    m.t = t;
    m.now_us = MODEL_BEGIN_US;
    rlt_rand_seed(&m.rand, seed);
    mix_draw(&m, &x);
    for (link = 0; link < x.links; link++)
        if (maker_once_in(&m, 2))
            tape_plain(&m, link, "!HELLO 3");
    if (mix_has(&x, "groups"))
        tape_groups(&m, 0);
    if (mix_has(&x, "engine"))
        tape_work(&m, 0);
    for (link = 0; link < x.links; link++)
        if (mix_has(&x, "caches") || (mix_has(&x, "tracking") &&
                                      maker_once_in(&m, 2)))
            tape_cache(&m, link);
    if (maker_once_in(&m, 10))
        tape_ears(&m, (int)maker_below(&m, (uint32_t)x.links));
    steps = 10 + (int)maker_below(&m, 51);
    while (steps-- > 0)
        tape_step(&m, &x);
}

/* --------------------------------------------------------------- printing */

void tape_show_ask(bytes *b, const ask *a)
{
    int i;

    for (i = 0; i < a->argc; i++) {
        word w = a->argv[i];

        if (i > 0)
            bytes_text(b, " ");
        if (word_is_id(w)) {
            bytes_format(b, "<id of %c>", w.p[1]);
            continue;
        }
        bytes_text(b, "\"");
        bytes_escape(b, w.p, w.n, 600);
        bytes_text(b, "\"");
    }
}

void tape_print(FILE *f, const step *s)
{
    bytes b = {NULL, 0, 0};
    int i;

    switch (s->kind) {
    case STEP_CLOCK:
        bytes_format(&b, "clock %+lld us", (long long)s->us);
        break;
    case STEP_AGAIN:
        bytes_format(&b, "%d: close and open", s->link);
        break;
    case STEP_RAW:
        bytes_format(&b, "%d: raw \"", s->link);
        bytes_escape(&b, s->raw.p, s->raw.n, 600);
        bytes_text(&b, "\"");
        break;
    case STEP_SCAN:
    case STEP_ASK:
        bytes_format(&b, s->kind == STEP_SCAN ? "%d: to the end:" : "%d:",
                     s->link);
        for (i = 0; i < s->n; i++) {
            bytes_text(&b, i == 0 ? " " : " ; ");
            tape_show_ask(&b, &s->asks[i]);
        }
        if (s->cut > 0)
            bytes_format(&b, "   (in two writes, the first of %zu bytes)",
                         s->cut);
        break;
    }
    (void)fprintf(f, "    %s\n", b.p);
    bytes_free(&b);
}
