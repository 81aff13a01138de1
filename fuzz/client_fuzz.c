/* SPDX-License-Identifier: MIT
 *
 * client_fuzz.c - a whole client, driven by a schedule of bytes.
 *
 * The first byte chooses a configuration. Each byte after it is one step: its
 * low half is the kind of the step, its high half an amount. The peer answers
 * the commands that it got, unless a step makes it lie.
 *
 *   - an operation that was accepted has exactly one outcome in the end
 *   - if the peer did not lie over this link, an operation gets its own reply
 *   - an operation that ended NOT_SENT did not run
 *   - an operation that was not marked repeatable did not run twice
 *   - memory stays under the caps and is freed
 *   - a client at rest has its deadline in the future
 *   - when the faults are over the client works */
#include <stdint.h>

#include "outcome.h"
#include "peer.h"

#define FUZZ_TAGS 256
#define FUZZ_STEPS 600

typedef enum fuzz_step {
    FUZZ_SUBMIT,
    FUZZ_UNIT,
    FUZZ_SCRIPT,
    FUZZ_WISH,
    FUZZ_CANCEL,
    FUZZ_SERVE,
    FUZZ_READ,
    FUZZ_WRITE,
    FUZZ_TICK,
    FUZZ_TAKE,
    FUZZ_LINK,
    FUZZ_SAY,
    FUZZ_SHORTAGE,
    FUZZ_ODD,
    FUZZ_TURN,
    FUZZ_RAW
} fuzz_step;

typedef struct fuzz {
    t_peer p;
    const uint8_t *data;
    size_t n, at;
    uint64_t tags;
    uint8_t accepted[FUZZ_TAGS], outcomes[FUZZ_TAGS], ran[FUZZ_TAGS];
    uint8_t once[FUZZ_TAGS]; /* may not run twice                            */
    uint8_t never[FUZZ_TAGS]; /* ended as NOT_SENT: must not run             */
    int lied;                /* the peer lied over this link                 */
    int lied_ever;
    int opens;
} fuzz;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const relet_time fuzz_ms[16] = {0,   1,   5,    10,   50,   100,
                                       101, 200, 500,  1000, 1001, 2000,
                                       4999, 5000, 15000, 20000};
static const size_t fuzz_bytes[16] = {(size_t)-1, 1,  2,  3,   5,   8,   13, 21,
                                      34,         55, 89, 144, 233, 377, 610,
                                      987};

static void must(int holds, const char *what)
{
    if (!holds)
        t_die(what);
}

static int fuzz_byte(fuzz *f)
{
    return f->at < f->n ? f->data[f->at++] : 0;
}

/* ------------------------------------------------------------------- oracle */

static uint64_t fuzz_number(relet_span s)
{
    uint64_t v = 0;
    size_t i;

    for (i = 0; i < s.n && i < 6 && s.p[i] >= '0' && s.p[i] <= '9'; i++)
        v = v * 10 + (uint64_t)(s.p[i] - '0');
    return v < FUZZ_TAGS ? v : 0;
}

/* The last word of a command is its tag; 0 is the tag of no operation. */
static int fuzz_ran(t_peer *p, const t_words *w)
{
    fuzz *f = (fuzz *)p->user;
    uint64_t tag;

    if (!t_is(w, 0, "ECHO") && !t_is(w, 0, "EVAL") &&
        !(t_is(w, 0, "EVALSHA") && t_sha_known(&p->server, w->word[1])))
        return 0;
    tag = fuzz_number(w->word[w->n - 1]);
    if (tag > 0 && f->ran[tag] < 255)
        f->ran[tag]++;
    must(tag == 0 || !f->once[tag] || f->ran[tag] <= 1,
         "an operation that is not repeatable ran twice");
    must(tag == 0 || !f->never[tag] || f->lied_ever,
         "an operation runs after its outcome NOT_SENT");
    return 0;
}

static void fuzz_reply(const fuzz *f, const relet_event *ev)
{
    relet_value v = ev->value;

    if (f->lied)
        return;
    if (relet_value_type(v) == RELET_T_ARRAY)
        v = relet_value_first(v);
    must(fuzz_number(relet_value_text(v)) == ev->tag ||
             relet_value_is(v, "OK"),
         "an operation has the reply of another one");
    must(f->ran[ev->tag] > 0 || relet_value_is(v, "OK"),
         "a reply to an operation that did not run");
}

static void fuzz_event(fuzz *f, const relet_event *ev)
{
    must(ev->kind != RELET_EV_NOTHING, "an event that is none");
    if (!t_is_outcome(ev->kind))
        return;
    if (ev->kind == RELET_EV_REPLY)
        fuzz_reply(f, ev);
    if (ev->kind == RELET_EV_NOT_SENT) {
        must(f->lied_ever || f->ran[ev->tag] == 0,
             "the outcome NOT_SENT of an operation that ran");
        f->never[ev->tag % FUZZ_TAGS] = 1;
    }
    must(ev->tag < FUZZ_TAGS && f->accepted[ev->tag],
         "an outcome without an operation");
    must(f->outcomes[ev->tag]++ == 0, "a second outcome");
}

/* Reads every byte that the event lends. */
static void fuzz_read(const relet_event *ev)
{
    static int64_t copy[2048];
    relet_span s[3];
    int i;

    s[0] = ev->text;
    s[1] = ev->channel;
    s[2] = ev->pattern;
    for (i = 0; i < 3; i++)
        if (s[i].n > 0)
            memcpy(copy, s[i].p, RLT_MIN(s[i].n, sizeof copy));
    must(relet_value_size(ev->value) <= sizeof copy, "a value over the caps");
    (void)relet_value_copy(ev->value, copy, sizeof copy);
}

static int fuzz_take(fuzz *f, int most)
{
    relet_event ev;
    int n = 0;

    while (n < most && relet_next(f->p.r, &ev)) {
        fuzz_read(&ev);
        fuzz_event(f, &ev);
        n++;
    }
    return n;
}

/* -------------------------------------------------------------------- steps */

static void fuzz_accepted(fuzz *f, int code, int repeatable)
{
    must(code == 0 || code == RELET_E_LIMIT || code == RELET_E_MEMORY ||
             code == RELET_E_REFUSED || code == RELET_E_STOPPED,
         "an odd code");
    if (code < 0)
        return;
    f->accepted[f->tags] = 1;
    f->once[f->tags] = (uint8_t)!repeatable;
    f->tags++;
}

static void fuzz_submit(fuzz *f, fuzz_step what, int arg)
{
    unsigned flags = (unsigned)arg & (RELET_REPEATABLE | RELET_CACHED);
    relet_request q = t_request(f->tags, flags);
    relet_span word[4];
    relet_args args[2];
    char text[16];
    int code, once = !(flags & RELET_REPEATABLE);

    if (f->tags == FUZZ_TAGS)
        return;
    q.timeout_ms = arg & 4 ? 10 : arg & 8 ? RELET_NEVER : 0;
    sprintf(text, "%lu", (unsigned long)f->tags);
    word[0] = word[2] = relet_str("ECHO");
    word[1] = relet_str(text);
    word[3] = relet_str("0");
    args[0].argv = word;
    args[1].argv = word + 2;
    args[0].argc = args[1].argc = 2;
    if (what == FUZZ_SUBMIT)
        code = relet_command(f->p.r, word, 2, &q);
    else if (what == FUZZ_UNIT)
        code = relet_transaction(f->p.r, args, 2, &q);
    else
        code = relet_script_run(f->p.r, arg >> 3, 1, word + 1, 1, &q);
    /* A peer that answers NOSCRIPT to a script that ran gets it twice. */
    fuzz_accepted(f, code, !once || what == FUZZ_SCRIPT);
}

static void fuzz_wish(fuzz *f, int arg)
{
    static const char *const name[] = {"a", "bb", "a-much-longer-name", "d"};
    relet_channel kind = arg & 8 ? RELET_SHARDED : RELET_CHANNEL;

    if (arg & 4)
        (void)t_unwish(&f->p, kind, name[arg & 3]);
    else
        (void)t_wish(&f->p, kind, name[arg & 3]);
}

static void fuzz_link(fuzz *f, int arg)
{
    t_peer *p = &f->p;

    p->no = arg == 1 ? "refused" : NULL;
    p->deaf = arg == 2;
    if (arg == 3 && p->open)
        p->hangup = 1;
    if (arg >= 4 && p->open) {
        t_link_gone(p);
        relet_io_closed(p->r, 0, arg & 1, arg & 2 ? "reset" : NULL);
    }
}

/* Sends bytes that a server may send at any time, or that no server sends. */
static void fuzz_say(fuzz *f, int arg)
{
    static const char *const pool[16] = {
        ">2\r\n+MOVING\r\n:1\r\n",
        ">3\r\n+message\r\n+a\r\n$2\r\nhi\r\n",
        ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n",
        ">2\r\n+invalidate\r\n_\r\n",
        "+OK\r\n",
        "-ERR unasked\r\n",
        "-BUSY later\r\n",
        "-NOSCRIPT none\r\n",
        "-LOADING later\r\n",
        "-EXECABORT no\r\n",
        "_\r\n",
        T_HELLO_SAYS,
        ">3\r\n+subscribe\r\n+a\r\n:1\r\n",
        ">3\r\n+sunsubscribe\r\n+a\r\n:0\r\n",
        "*2\r\n:1\r\n",
        "$1000\r\n"};

    if (!f->p.open)
        return;
    if (arg >= 4)
        f->lied = f->lied_ever = 1;
    t_say(&f->p, pool[arg]);
}

static void fuzz_raw(fuzz *f, int arg)
{
    char byte;

    f->lied = f->lied_ever = 1;
    for (; arg >= 0 && f->at < f->n; arg--) {
        byte = (char)fuzz_byte(f);
        if (f->p.open)
            t_say_span(&f->p, &byte, 1);
    }
}

static void fuzz_odd(fuzz *f, int arg)
{
    t_server *s = &f->p.server;
    relet_span word = {"a-token-of-some-length-0123456789", 33};

    switch (arg) {
    case 0: s->busy += 1; break;
    case 1: s->busy += 5; break;
    case 2: s->refuse = "-NOPERM no\r\n"; break;
    case 3: s->refuse = "-BUSY later\r\n"; break;
    case 4: s->refuse = s->keep = NULL; break;
    case 5: s->keep = "-NOSUB no\r\n"; break;
    case 6: s->keep = "-BUSY later\r\n"; break;
    case 7: s->scripts = 0; break;
    case 8: s->busy_text = "-LOADING later\r\n"; break;
    case 9: s->busy_text = NULL; break;
    case 10:
        word.n = (size_t)fuzz_byte(f) % 34;
        (void)relet_credentials(f->p.r, relet_str(""), word);
        break;
    case 11:
        if (f->tags < FUZZ_TAGS)
            fuzz_accepted(f, t_ask(&f->p, f->tags, 0, "WATCH", "0"), 1);
        break;
    case 12: relet_stop(f->p.r); break;
    case 13: f->p.now += 3600000; break;
    case 14: relet_tick(f->p.r, f->p.now - 1000); break;
    default: s->in_multi = 0; break;
    }
    if (arg == 15)
        f->lied = f->lied_ever = 1;
}

static void fuzz_shortage(fuzz *f, int arg)
{
    f->p.heap.fail_on = arg & 1;
    f->p.heap.fail_at = arg < 2 ? 0 : f->p.heap.calls + (uint64_t)arg / 2;
}

static void fuzz_links(fuzz *f)
{
    int opens = f->p.opens;

    (void)t_links(&f->p);
    if (f->p.opens != opens)
        f->lied = 0;
}

static int fuzz_turn(fuzz *f)
{
    int moved = t_read(&f->p);

    relet_tick(f->p.r, f->p.now);
    moved |= fuzz_take(f, 1000);
    fuzz_links(f);
    moved |= t_write(&f->p);
    moved |= t_serve(&f->p);
    return moved;
}

static void fuzz_one(fuzz *f, int byte)
{
    fuzz_step what = (fuzz_step)(byte & 15);
    int arg = byte >> 4;

    switch (what) {
    case FUZZ_SUBMIT:
    case FUZZ_UNIT:
    case FUZZ_SCRIPT:
        fuzz_submit(f, what, arg);
        return;
    case FUZZ_WISH:
        fuzz_wish(f, arg);
        return;
    case FUZZ_CANCEL:
        (void)relet_cancel(f->p.r, f->tags - 1 - (uint64_t)arg);
        return;
    case FUZZ_SERVE:
        while (arg-- >= 0 && t_serve_next(&f->p))
            ;
        return;
    case FUZZ_READ:
        f->p.give = fuzz_bytes[arg];
        (void)t_read(&f->p);
        return;
    case FUZZ_WRITE:
        fuzz_links(f);
        f->p.accept = fuzz_bytes[arg];
        (void)t_write(&f->p);
        return;
    case FUZZ_TICK:
        f->p.now += fuzz_ms[arg];
        relet_tick(f->p.r, f->p.now);
        return;
    case FUZZ_TAKE:
        (void)fuzz_take(f, arg + 1);
        return;
    case FUZZ_LINK:
        fuzz_link(f, arg);
        return;
    case FUZZ_SAY:
        fuzz_say(f, arg);
        return;
    case FUZZ_SHORTAGE:
        fuzz_shortage(f, arg);
        return;
    case FUZZ_ODD:
        fuzz_odd(f, arg);
        return;
    case FUZZ_TURN:
        f->p.now += fuzz_ms[arg];
        f->p.accept = f->p.give = (size_t)-1;
        (void)fuzz_turn(f);
        return;
    case FUZZ_RAW:
        fuzz_raw(f, arg);
        return;
    }
}

/* -------------------------------------------------------------------- ends */

static void fuzz_rest(fuzz *f)
{
    int turns = 0;

    while (fuzz_turn(f) || fuzz_turn(f))
        must(++turns < 100000, "the client never comes to rest");
    must(relet_deadline(f->p.r) > f->p.now, "at rest, and the deadline is now");
}

/* The faults are over: each operation ends, and a new operation succeeds. */
static void fuzz_settle(fuzz *f)
{
    t_peer *p = &f->p;
    relet_time end;

    p->no = NULL;
    p->deaf = 0;
    p->accept = p->give = (size_t)-1;
    p->heap.fail_at = 0;
    p->server.busy = 0;
    p->server.refuse = p->server.keep = NULL;
    fuzz_link(f, 4);
    fuzz_rest(f);
    for (end = p->now + 60000; p->now < end;) {
        p->now = RLT_MIN(end, RLT_MAX(p->now + 1, relet_deadline(p->r)));
        fuzz_rest(f);
    }
}

static void fuzz_judge(fuzz *f)
{
    uint64_t tag;

    for (tag = 0; tag < f->tags; tag++)
        must(f->outcomes[tag] == f->accepted[tag], "an outcome is missing");
    must(relet_outstanding(f->p.r) == 0, "something is outstanding");
}

static void fuzz_end(fuzz *f, int stop)
{
    uint64_t tag = f->tags;

    if (stop)
        relet_stop(f->p.r);
    fuzz_settle(f);
    if (!stop && tag < FUZZ_TAGS && relet_is_up(f->p.r)) {
        fuzz_submit(f, FUZZ_SUBMIT, 0);
        fuzz_rest(f);
        must(f->ran[tag] == 1 && f->outcomes[tag] == 1,
             "the client does not work after the faults");
    }
    fuzz_judge(f);
}

static relet_config fuzz_config(int choice)
{
    relet_config c = t_config();

    c.operations_max = choice & 1 ? 4 : 16;
    c.subscriptions_max = 4;
    c.scripts_max = 2;
    c.output_max = choice & 2 ? 256 : 2048;
    c.reply_max = choice & 4 ? 512 : 2048;
    c.tape_max = choice & 4 ? 256 : 1024;
    c.bulk_max = 256;
    c.line_max = 256;
    c.count_max = 32;
    c.depth_max = 4;
    if (choice & 8)
        strcpy(c.password, "sesame");
    if (choice & 16)
        c.ping_every_ms = 0;
    if (choice & 32)
        c.tracking = RELET_TRACK_OPTIN;
    return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static fuzz f;
    relet_config c;
    int choice, steps = 0;

    if (n < 1)
        return 0;
    choice = data[0];
    c = fuzz_config(choice);
    t_fixed = choice & 64;
    memset((char *)&f + sizeof f.p, 0, sizeof f - sizeof f.p);
    must(t_start_with(&f.p, &c), "the client was not made");
    f.p.user = &f;
    f.p.answer = fuzz_ran;
    f.data = data;
    f.n = n;
    f.at = 1;
    f.tags = 1;
    (void)relet_script_add(f.p.r, relet_str("return ARGV[1]"));
    (void)relet_script_add(f.p.r, relet_str("return KEYS[1] -- longer"));
    while (f.at < n && steps++ < FUZZ_STEPS)
        fuzz_one(&f, fuzz_byte(&f));
    fuzz_end(&f, choice & 128);
    must(f.p.heap.peak < 20000, "memory over the caps");
    must(t_end(&f.p) == 0, "memory was not freed");
    return 0;
}
