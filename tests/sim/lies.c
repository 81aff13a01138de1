/* SPDX-License-Identifier: MIT
 *
 * lies.c - servers that answer in odd but valid forms, and servers that lie,
 * which send false or malformed answers.
 *
 * A client has to read odd forms as if they were usual. On the link of a lie,
 * and for all that was under way there, no rule is judged that relies on
 * answers. The other rules hold: each operation has one outcome, in time;
 * memory is bounded; turns end. The healing closes a link on which a server
 * lied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "wire.h"

#define LIES_ROOM 1400 /* text said before a short frame, or in its place     */

typedef struct lies_text {
    char p[LIES_ROOM];
    size_t n;
} lies_text;

static void lies_put(lies_text *t, const char *text)
{
    size_t n = strlen(text);

    if (n > sizeof t->p - t->n)
        n = sizeof t->p - t->n;
    memcpy(t->p + t->n, text, n);
    t->n += n;
}

/* Replaces bytes [at, at + gone) of the output to the client by *t. */
static void lies_replace(sim_link *l, size_t at, size_t gone,
                         const lies_text *t)
{
    size_t behind = l->out_n - at - gone;

    while (l->out_n + t->n > l->out_cap) {
        l->out_cap = 2 * (l->out_n + t->n);
        l->out = (uint8_t *)realloc(l->out, l->out_cap);
        if (l->out == NULL)
            abort();
    }
    memmove(l->out + at + t->n, l->out + at + gone, behind);
    memcpy(l->out + at, t->p, t->n);
    l->out_n = at + t->n + behind;
}

/* ------------------------------------------------------------------- oddly */

static size_t lies_line(const sim_link *l, size_t at)
{
    const uint8_t *end = (const uint8_t *)memchr(l->out + at, '\n',
                                                 l->out_n - at);

    return end ? (size_t)(end - (l->out + at)) + 1 : 0;
}

/* Rewrites the frame in an odd form: a string in two pieces, an array without a
 * count, or the null of RESP2. Returns by how much the frame is longer. */
static size_t lies_other_form(sim_link *l, size_t at, size_t k,
                              const sim_frame *f)
{
    size_t line = lies_line(l, at), n = f->text.n, half = n / 2;
    lies_text t = {{0}, 0}, end = {{0}, 0};

    if (f->type == '$' && n > 1 && n < 500) {
        t.n = (size_t)sprintf(t.p, "$?\r\n;%lu\r\n", (unsigned long)half);
        memcpy(t.p + t.n, l->out + at + line, half);
        t.n += half;
        t.n += (size_t)sprintf(t.p + t.n, "\r\n;%lu\r\n",
                               (unsigned long)(n - half));
        memcpy(t.p + t.n, l->out + at + line + half, n - half);
        t.n += n - half;
        lies_put(&t, "\r\n;0\r\n");
        lies_replace(l, at, k, &t);
        SIM_MARK(streamed);
        return t.n - k;
    }
    if (f->type == '*') {
        lies_put(&t, "*?\r\n");
        lies_put(&end, ".\r\n");
        lies_replace(l, at + k, 0, &end);
        lies_replace(l, at, line, &t);
        SIM_MARK(streamed);
        return t.n + end.n - line;
    }
    if (f->type == '_') {
        lies_put(&t, "$-1\r\n");
        lies_replace(l, at, k, &t);
        return t.n - k;
    }
    return 0;
}

static size_t lies_oddly(sim_world *w, sim_link *l, size_t at, size_t k,
                         const sim_frame *f, uint64_t bits)
{
    lies_text t = {{0}, 0};

    switch (bits % 4) {
    case 0: /* a push of an unknown kind */
        lies_put(&t, ">3\r\n+weather\r\n:21\r\n%1\r\n+wind\r\n,0.5\r\n");
        w->node[l->node].odd += !l->client_gone;
        break;
    case 1:
        lies_put(&t, "|1\r\n+ttl\r\n:3600\r\n");
        break;
    case 2:
        lies_put(&t, "|2\r\n+a\r\n*1\r\n_\r\n$1\r\nb\r\n#t\r\n");
        break;
    case 3:
        return f->type == '>' ? 0 : lies_other_form(l, at, k, f);
    }
    if (f->type == '>' && bits % 4 != 0)
        return 0;
    if (bits % 4 != 0)
        SIM_MARK(attribute);
    lies_replace(l, at, 0, &t);
    return t.n;
}

/* -------------------------------------------------------------------- lies */

/* From now on the node is lied to, until it has another link. */
static void lies_told(sim_world *w, sim_link *l)
{
    sim_node *n = &w->node[l->node];
    uint32_t i;

    l->lied = 1;
    sim_record_lied(w, l);
    if (!sim_net_in_use(w, l))
        return; /* the client has left this link */
    SIM_MARK(lied);
    sim_disturb_link(w, l);
    n->lied = n->ever_lied = 1;
    sim_tasks_lied_to(w, n);
    for (i = n->ops_first; i < n->ops_n; i++)
        if (n->ops[i].outcome == RELET_EV_NOTHING)
            n->ops[i].lied = 1;
    for (i = 0; i < SIM_HOLDS; i++)
        n->hold[i].lied = n->hold[i].serial > 0;
}

static void lies_nested(lies_text *t)
{
    int i;

    for (i = 0; i < 200; i++)
        lies_put(t, "*1\r\n");
    lies_put(t, ":1\r\n");
}

/* Makes a false text, in place of the frame, or after it if the frame stays. */
static void lies_make(lies_text *t, uint64_t bits)
{
    static const char *const said[] = {
        "", ":1\r\n", "_\r\n", "*0\r\n", "+OK\r\n", "#t\r\n",
        "-ERR no\r\n", "-NOSCRIPT No matching script.\r\n",
        "-LOADING not yet\r\n", "-MOVED 1 :0\r\n", "-NOAUTH who?\r\n",
        "*5\r\n:1\r\n:9223372036854775807\r\n:1000\r\n:0\r\n:0\r\n",
        "*4\r\n:0\r\n:-1\r\n:-1\r\n:-9223372036854775808\r\n",
        "*2\r\n:1\r\n:1\r\n", "%1\r\n+proto\r\n:2\r\n",
        ">2\r\n+message\r\n:1\r\n", ">3\r\n+subscribe\r\n_\r\n:1\r\n",
        ">2\r\n+invalidate\r\n:1\r\n", ">0\r\n", "|1\r\n+a\r\n",
        "$999999999999\r\n", "*2147483647\r\n:1\r\n", "$-2\r\n", "$?\r\n;0",
        "*?\r\n.\r\n", "\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n"};

    if (bits % 30 == 29)
        lies_nested(t);
    else
        lies_put(t, said[bits % (sizeof said / sizeof said[0])]);
}

/* Returns 1 if the frame confirms a subscription. */
static int lies_confirms(const sim_link *l, size_t at, size_t k)
{
    static const char head[] = ">3\r\n$9\r\nsubscribe\r\n";

    return k >= sizeof head && memcmp(l->out + at, head, sizeof head - 1) == 0;
}

/* Returns by how much the frame is longer, or, as the number wraps, shorter. */
static size_t lies_lie(sim_world *w, sim_link *l, size_t at, size_t k,
                       uint64_t bits)
{
    lies_text t = {{0}, 0};

    lies_told(w, l);
    if (lies_confirms(l, at, k) && k <= sizeof t.p && (bits >> 40 & 3)) {
        memcpy(t.p, l->out + at, t.n = k);
        lies_replace(l, at + k, 0, &t);
        return k;
    }
    switch (bits % 4) {
    case 0: /* one byte is another */
        l->out[at + (size_t)((bits >> 16) % k)] ^=
            (uint8_t)(1 + (bits >> 8 & 126));
        return 0;
    case 1: /* the end is missing */
        lies_replace(l, at + k - k / 3, k / 3, &t);
        return 0 - k / 3;
    case 2: /* a false text follows the frame */
        lies_make(&t, bits >> 8);
        lies_replace(l, at + k, 0, &t);
        return t.n;
    case 3: /* a false text replaces the frame */
        lies_make(&t, bits >> 8);
        lies_replace(l, at, k, &t);
        return t.n - k;
    }
    return 0;
}

size_t sim_lies(sim_world *w, sim_link *l, size_t at, size_t k,
                const sim_frame *f)
{
    const sim_fault *fault = sim_fault_of(w, SIM_T_LIES, l->node);
    uint64_t bits;

    if (fault == NULL)
        return k;
    bits = sim_keyed(&w->choices, SIM_OF_ERROR, fault->key,
                     sim_mix(l->gen, l->frames++));
    if ((bits & 255) >= fault->rate)
        return k;
    bits >>= 8;
    if (fault->way < 2)
        return k + lies_oddly(w, l, at, k, f, bits);
    return k + lies_lie(w, l, at, k, bits);
}
