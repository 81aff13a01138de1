/* SPDX-License-Identifier: MIT
 *
 * local_fuzz.c - a whole local server, driven by bytes.
 *
 * Four bytes choose a configuration; then each step is a byte and its
 * arguments: a command (local_words.h), raw bytes, a move of the clock, a
 * hangup, a shortage of memory. A follower is fed the server's log of changes.
 *
 *   - all output is well-formed, in the protocol that was asked for
 *   - a command has one reply
 *   - the follower has the same data, and accepts every command of the log
 *   - a third server that is fed the dump has the same data, too
 *   - once its deadline has come, the server asks for a later one
 *   - memory stays under the cap, and all of it is freed, with the right sizes
 *   - the server works afterwards
 *   - the same input gives the same output again */
#include "local_rig.h"
#include "local_words.h"
#include "pubsub.h"
#include "server.h"

#define FUZZ_CLIENTS 3
#define FUZZ_STEPS 400
#define FUZZ_BEGIN_US INT64_C(1700000000123456)
#define FUZZ_LATE_US INT64_C(7000000000000000)
#define FUZZ_FRAME 131072

/* Bytes that one input may cost: beyond them the server is stopped. */
#define FUZZ_BYTES ((size_t)24 << 20)

typedef struct fuzz_client {
    int id;   /* -1: hung up                                                 */
    int wild; /* was sent bytes whose replies are not counted                */
    int slow; /* takes no output                                             */
    /* A reply to EXEC then has a push as an element, on real servers too. */
    int subscribed_in_multi;
    fuzz_ear ear;
    char frame[FUZZ_FRAME]; /* commands that wait to be fed together         */
    size_t frame_n;
} fuzz_client;

typedef struct fuzz {
    fuzz_server a, b;
    fuzz_client client[FUZZ_CLIENTS];
    words w;
    int64_t now_us;
    int lost;         /* no memory for a dump: nothing to compare            */
    int late;         /* chooses a follower's clock                          */
    fuzz_ear follower_ear, third_ear;
    uint64_t said;    /* a hash of all output                                */
    size_t said_n;
} fuzz;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static relet_local_config fuzz_config(const uint8_t *b)
{
    static const size_t memory[] = {(size_t)8 << 20, 120000, 200000, 1000000};
    static const size_t output[] = {1 << 20, 600, 20000, 100000};
    static const size_t input[] = {1 << 20, 300, 20000, 100000};
    relet_local_config c;

    memset(&c, 0, sizeof c);
    c.resize = fuzz_resize;
    c.memory_max = memory[b[0] & 3];
    c.output_max = output[(b[0] >> 2) & 3];
    c.input_max = input[(b[0] >> 4) & 3];
    c.clients_max = b[0] & 64 ? FUZZ_CLIENTS - 1 : FUZZ_CLIENTS + 4;
    c.databases = b[0] & 128 ? 2 : 4;
    c.script_steps = b[1] & 1 ? 300 : 3000;
    c.script_memory = b[1] & 2 ? 20000 : 200000;
    c.effects = 1;
    c.seed = b[1] >> 2;
    return c;
}

/* ------------------------------------------------------------------ replies */

static void fuzz_hangup(fuzz *f, fuzz_client *c)
{
    if (c->id >= 0)
        relet_local_hangup(f->a.l, c->id);
    c->id = -1;
}

/* Takes at most `most` bytes of the client's output. A reply may break off only
 * for a client that is closed. */
static void fuzz_take(fuzz *f, fuzz_client *c, size_t most)
{
    const uint8_t *p;
    size_t n, had;
    int whole;

    if (c->id < 0)
        return;
    had = relet_local_output(f->a.l, c->id, &p);
    n = RLT_MIN(most, had);
    if (n > 0) {
        f->said = fuzz_hash(f->said + (uint64_t)c->id, p, n);
        f->said_n += n;
        if (FUZZ_TRACES)
            fuzz_show("says", p, n);
        fuzz_hear(&c->ear, p, n);
        relet_local_sent(f->a.l, c->id, n);
    }
    whole = fuzz_judge(&c->ear);
    if (n < had)
        return;
    if (relet_local_closed(f->a.l, c->id)) {
        fuzz_hangup(f, c);
        return;
    }
    if (!whole && (c->wild || c->subscribed_in_multi))
        fuzz_hangup(f, c);
    else
        must(whole, "the output stops in the middle of a reply");
}

static void fuzz_take_all(fuzz *f)
{
    int i;

    for (i = 0; i < FUZZ_CLIENTS; i++)
        if (!f->client[i].slow)
            fuzz_take(f, &f->client[i], (size_t)-1);
    must(f->a.l->server.config.memory_max >= f->a.heap.held,
         "memory over the cap");
}

/* ---------------------------------------------------------------- followers */

static void fuzz_same(fuzz *f, fuzz_server *other, const char *what)
{
    uint64_t a, b;

    if (!fuzz_dump(f->a.l, NULL, &a, 0)) {
        f->lost = 1;
        return;
    }
    must(fuzz_dump(other->l, NULL, &b, 0), "a dump breaks with memory");
    if (a == b)
        return;
    (void)fuzz_dump(f->a.l, NULL, &a, 1);
    fprintf(stderr, "---- the other:\n");
    (void)fuzz_dump(other->l, NULL, &b, 1);
    must(0, what);
}

static void fuzz_follower(const fuzz *f, fuzz_server *s, fuzz_ear *ear)
{
    relet_local_config c;

    memset(&c, 0, sizeof c);
    c.resize = fuzz_resize;
    c.databases = f->a.l->server.config.databases;
    fuzz_server_begin(s, &c);
    if (f->late)
        relet_local_time(s->l, f->late == 1 ? FUZZ_LATE_US : FUZZ_BEGIN_US);
    s->ear = ear;
    fuzz_ear_begin(ear);
    s->replay = relet_local_connect(s->l);
    must(s->replay == 0, "no connection");
    relet_local_replay(s->l, s->replay, 1);
}

/* A new follower begins with a dump. */
static void fuzz_rebuild(fuzz *f)
{
    uint64_t sum;

    fuzz_server_end(&f->b);
    fuzz_follower(f, &f->b, &f->follower_ear);
    f->lost = !fuzz_dump(f->a.l, &f->b, &sum, 0);
}

/* Feeds the server's changes to the follower. */
static void fuzz_follow(fuzz *f, int rebuild)
{
    const uint8_t *p;
    size_t n;
    int broken;

    n = relet_local_effects(f->a.l, &p, &broken);
    f->said = fuzz_hash(f->said, p, n);
    if (!broken && !f->lost)
        fuzz_replay(&f->b, p, n);
    relet_local_effects_taken(f->a.l, n);
    if ((broken || rebuild || f->lost))
        fuzz_rebuild(f);
}

/* -------------------------------------------------------------------- steps */

static void fuzz_connect(fuzz *f, fuzz_client *c)
{
    if (c->id >= 0)
        return;
    c->id = relet_local_connect(f->a.l);
    must(c->id >= 0 || c->id == RELET_E_LIMIT || c->id == RELET_E_MEMORY,
         "an odd code");
    if (c->id < 0)
        return;
    c->frame_n = 0;
    c->wild = c->slow = c->subscribed_in_multi = 0;
    fuzz_ear_begin(&c->ear);
}

static void fuzz_feed(fuzz *f, fuzz_client *c, const void *p, size_t n)
{
    char *copy;

    if (c->id < 0)
        return;
    /* a block of exactly n bytes, so that reads behind it are seen */
    copy = (char *)malloc(n > 0 ? n : 1);
    memcpy(copy, p, n);
    if (FUZZ_TRACES)
        fuzz_show("feed", (const uint8_t *)copy, n);
    relet_local_feed(f->a.l, c->id, copy, n);
    free(copy);
}

static int fuzz_is_news(const words *w)
{
    relet_span s = words_get(w, 0);

    return s.n >= 9 && memcmp(s.p + s.n - 9, "SUBSCRIBE", 9) == 0;
}

static void fuzz_frame_add(const fuzz *f, fuzz_client *c)
{
    const words *w = &f->w;
    size_t need = 32;
    int i;

    if (c->id < 0)
        return;
    if (fuzz_is_news(w) &&
        (c->frame_n > 0 || f->a.l->server.peers[c->id]->in_multi))
        c->subscribed_in_multi = 1;
    for (i = 0; i < w->count; i++)
        need += w->len[i] + 32;
    if (need > FUZZ_FRAME - c->frame_n)
        return;
    c->frame_n += (size_t)sprintf(c->frame + c->frame_n, "*%d\r\n", w->count);
    for (i = 0; i < w->count; i++) {
        c->frame_n += (size_t)sprintf(c->frame + c->frame_n, "$%lu\r\n",
                                      (unsigned long)w->len[i]);
        memcpy(c->frame + c->frame_n, words_get(w, i).p, w->len[i]);
        c->frame_n += w->len[i];
        memcpy(c->frame + c->frame_n, "\r\n", 2);
        c->frame_n += 2;
    }
}

/* 1 if the replies to this client can be counted. */
static int fuzz_counts(const fuzz *f, const fuzz_client *c)
{
    const rlt_server *s = &f->a.l->server;
    const rlt_peer *p;

    if (c->id < 0 || c->wild || c->slow || s->asleep_until_ms != 0)
        return 0;
    p = s->peers[c->id];
    return !p->closing && p->wait == RLT_WAIT_NONE &&
           !rlt_local_pubsub_reading(p) && p->reply_mode == RLT_REPLY_ON;
}

static int fuzz_resp(const fuzz *f, const fuzz_client *c)
{
    return f->a.l->server.peers[c->id]->out.resp;
}

static void fuzz_command(fuzz *f, fuzz_client *c, int how)
{
    int counts, resp;
    size_t number = words_byte(&f->w), cut;

    f->w.now_ms = f->now_us / 1000;
    words_make(&f->w, number + (how & 4 ? 256u : 0u));
    if (c->id < 0)
        return;
    counts = fuzz_counts(f, c) && c->frame_n == 0 && f->w.count > 0 &&
             !fuzz_is_news(&f->w);
    resp = fuzz_resp(f, c);
    c->ear.replies = c->ear.resp3_seen = 0;
    fuzz_frame_add(f, c);
    if ((how & 3) == 3)
        return;
    cut = (how & 3) == 2 ? words_byte(&f->w) % (c->frame_n + 1) : c->frame_n;
    fuzz_feed(f, c, c->frame, cut);
    fuzz_feed(f, c, c->frame + cut, c->frame_n - cut);
    c->frame_n = 0;
    fuzz_take_all(f);
    if (c->id < 0 || !counts)
        return;
    if (resp == 2 && fuzz_resp(f, c) == 2)
        must(!c->ear.resp3_seen, "RESP3 to a client that speaks RESP2");
    if (fuzz_counts(f, c))
        must(c->ear.replies == 1, "a command does not have exactly one reply");
}

static void fuzz_raw(fuzz *f, fuzz_client *c)
{
    char bytes[256];
    int n = words_byte(&f->w), i;

    for (i = 0; i < n && f->w.at < f->w.n; i++)
        bytes[i] = (char)words_byte(&f->w);
    c->wild = 1;
    fuzz_feed(f, c, bytes, (size_t)i);
}

static void fuzz_clock(fuzz *f, int64_t us)
{
    int i;

    f->now_us = RLT_MAX(us, 0);
    if (FUZZ_TRACES)
        fprintf(stderr, "time %lld\n", (long long)f->now_us);
    relet_local_time(f->a.l, f->now_us);
    for (i = 0; relet_local_deadline(f->a.l) <= f->now_us; i++) {
        must(i < 100, "the server's deadline stays in the past");
        relet_local_time(f->a.l, f->now_us);
    }
}

static void fuzz_time(fuzz *f, int arg)
{
    static const int64_t by_us[] = {1, 999, 1000, 1001, 5000, 100000, 1000000,
                                    60000000, INT64_C(86400000000),
                                    INT64_C(100000000000000)};
    int64_t us;

    if (arg >= 10) {
        us = relet_local_deadline(f->a.l);
        if (us < INT64_MAX / 4)
            fuzz_clock(f, us + (arg == 11) - (arg == 12));
        return;
    }
    if (f->now_us < INT64_MAX / 4)
        fuzz_clock(f, f->now_us + by_us[arg]);
}

static void fuzz_shortage(fuzz *f, int arg)
{
    fuzz_heap *h = &f->a.heap;

    h->fail_from = h->fail_to = 0;
    if (arg < 4)
        return;
    h->fail_from = h->calls + 1 + words_byte(&f->w) % 32;
    h->fail_to = h->fail_from + (arg < 10 ? 1 : (long)1 << (arg - 9));
}

static void fuzz_story(fuzz *f, fuzz_client *c)
{
    uint8_t number = words_byte(&f->w);
    const char *line = words_stories[number % WORDS_STORIES];

    if (number == 255) {
        relet_local_flush(f->a.l);
        return;
    }
    f->w.now_ms = f->now_us / 1000;
    while ((line = words_line(&f->w, line)) != NULL) {
        fuzz_frame_add(f, c);
        fuzz_feed(f, c, c->frame, c->frame_n);
        c->frame_n = 0;
        fuzz_take_all(f);
    }
}

static void fuzz_odd(fuzz *f, fuzz_client *c, int arg)
{
    if (arg < 4)
        fuzz_hangup(f, c);
    else if (arg < 8)
        fuzz_connect(f, c);
    else if (arg < 12)
        c->slow = !c->slow;
    else
        fuzz_take(f, c, words_byte(&f->w));
}

static void fuzz_step(fuzz *f)
{
    static const int64_t back_us[] = {1, 1000, 1000000, 3600000000,
                                      INT64_C(100000000000000)};
    int b = words_byte(&f->w), arg = b & 15;
    fuzz_client *c = &f->client[(b & 3) % FUZZ_CLIENTS];

    if (b < 128) {
        fuzz_command(f, c, b >> 2);
        return;
    }
    switch ((b >> 4) & 7) {
    case 0: fuzz_raw(f, c); break;
    case 1: fuzz_time(f, arg % 13); break;
    case 2: fuzz_clock(f, f->now_us - back_us[arg % 5]); break;
    case 3: fuzz_odd(f, c, arg); break;
    case 4: fuzz_shortage(f, arg); break;
    case 5: fuzz_follow(f, arg & 1); break;
    case 6: fuzz_story(f, c); break;
    case 7:
        fuzz_follow(f, 0);
        if (!f->lost)
            fuzz_same(f, &f->b, "the log makes other data");
        break;
    }
    fuzz_take_all(f);
}

/* ------------------------------------------------------------------ the end */

static void fuzz_works(fuzz *f)
{
    static const char ask[] = "*1\r\n$4\r\nPING\r\n";
    fuzz_client *c = &f->client[0];
    const uint8_t *p;
    int i;

    for (i = 0; i < FUZZ_CLIENTS; i++)
        fuzz_hangup(f, &f->client[i]);
    f->a.l->server.config.memory_max = 0;
    fuzz_clock(f, RLT_MAX(f->now_us, FUZZ_BEGIN_US) + (INT64_C(1) << 50));
    fuzz_connect(f, c);
    must(c->id >= 0, "no client can connect");
    relet_local_replay(f->a.l, c->id, 1);
    relet_local_feed(f->a.l, c->id, ask, sizeof ask - 1);
    must(relet_local_output(f->a.l, c->id, &p) == 7 &&
             memcmp(p, "+PONG\r\n", 7) == 0,
         "the server does not work afterwards");
}

static void fuzz_end(fuzz *f)
{
    fuzz_server third;
    uint64_t sum;

    f->a.heap.fail_from = f->a.heap.fail_to = 0;
    fuzz_take_all(f);
    fuzz_follow(f, 0);
    if (!f->lost) {
        fuzz_same(f, &f->b, "the log makes other data");
        fuzz_follower(f, &third, &f->third_ear);
        if (fuzz_dump(f->a.l, &third, &sum, 0))
            fuzz_same(f, &third, "the dump makes other data");
        fuzz_server_end(&third);
    }
    fuzz_works(f);
    fuzz_server_end(&f->a);
    fuzz_server_end(&f->b);
}

static uint64_t fuzz_run(fuzz *f, const uint8_t *data, size_t n)
{
    relet_local_config c = fuzz_config(data);
    int i, steps = 0;

    f->w.data = data;
    f->w.n = n;
    f->w.at = 4;
    f->w.members = 0;
    f->lost = 0;
    f->said = f->said_n = 0;
    f->late = data[2] & 3;
    f->now_us = FUZZ_BEGIN_US;
    fuzz_server_begin(&f->a, &c);
    fuzz_follower(f, &f->b, &f->follower_ear);
    relet_local_time(f->a.l, f->now_us);
    for (i = 0; i < FUZZ_CLIENTS; i++) {
        f->client[i].id = -1;
        fuzz_connect(f, &f->client[i]);
    }
    while (f->w.at < n && steps++ < FUZZ_STEPS && f->said_n < FUZZ_BYTES)
        fuzz_step(f);
    f->said = fuzz_hash(f->said, &f->a.heap.peak, sizeof f->a.heap.peak);
    fuzz_end(f);
    return f->said;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static fuzz f;
    uint64_t said;

    if (n < 5)
        return 0;
    said = fuzz_run(&f, data, n);
    if (data[3] % 8 == 0)
        must(fuzz_run(&f, data, n) == said,
             "a second run of the input has other output");
    return 0;
}
