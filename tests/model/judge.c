/* SPDX-License-Identifier: MIT
 *
 * judge.c - compares the replies of the sides in one step.
 *
 * It compares byte for byte, and if the bytes differ, frame by frame, under the
 * rule of the command that a frame answers. So each connection has a queue of
 * commands that wait for an answer, and the commands of its transaction. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "play.h"

static heard *judge_of_reference, *judge_of_other;

static heard *judge_heard(heard **h)
{
    if (*h == NULL) {
        *h = (heard *)calloc(1, sizeof **h);
        if (*h == NULL)
            abort();
        (*h)->trees.at = (frame *)calloc(FRAME_MAX, sizeof(frame));
        if ((*h)->trees.at == NULL)
            abort();
    }
    return *h;
}

const heard *judge_reference(void)
{
    return judge_heard(&judge_of_reference);
}

/* --------------------------------------------------------------- reading */

static int play_subscribes(const ask *a)
{
    static const char *const names[] = {"SUBSCRIBE", "UNSUBSCRIBE",
        "PSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE", "SUNSUBSCRIBE", NULL};
    const char *const *n;

    for (n = names; *n != NULL; n++)
        if (word_is(a->argv[0], *n))
            return 1;
    return 0;
}

static int play_is_queued(const forest *f, int at)
{
    return f->at[at].type == '+' && word_is(f->at[at].text, "QUEUED");
}

static void play_pop(line *l)
{
    l->pushed = 0;
    l->waiting--;
    memmove((void *)l->wait, (const void *)(l->wait + 1),
            (size_t)l->waiting * sizeof *l->wait);
}

static int play_answers(const ask *a, word head)
{
    return play_subscribes(a) && a->argv[0].n == head.n &&
           strncasecmp(a->argv[0].p, head.p, head.n) == 0;
}

/* A push may be the answer to SUBSCRIBE and its like. */
static void play_push(line *l, const forest *f, int at)
{
    word head = frame_head(f, at);
    const ask *a = l->waiting > 0 ? l->wait[0] : NULL;

    if (l->pushed && l->waiting > 1 && !play_answers(a, head) &&
        play_answers(l->wait[1], head)) {
        play_pop(l);
        a = l->wait[0];
    }
    if (a == NULL || !play_answers(a, head))
        return;
    l->pushed++;
    if (l->pushed == a->argc - 1) /* one for each channel                  */
        play_pop(l);
}

/* Returns the command that a reply answers, and removes it from the queue. */
static const ask *play_owner(line *l, const forest *f, int at)
{
    const ask *a;

    if (l->pushed)
        play_pop(l);
    do {
        a = NULL;
        if (l->waiting == 0)
            break; /* bytes of a raw step                                 */
        a = l->wait[0];
        play_pop(l);
    } while (play_subscribes(a) && !frame_error(f, at) &&
             !play_is_queued(f, at));
    if (play_is_queued(f, at) && l->queued < PLAY_WAIT_MAX)
        l->queue[l->queued++] = a;
    return l->loose ? NULL : a;
}

/* The patterns of a client that match one message stand in a hash table. */
static int play_swap(const forest *f, const root *a, const root *b)
{
    int i = f->at[a->at].first, k = f->at[b->at].first;

    if (!a->push || !b->push || !word_is(frame_head(f, a->at), "pmessage") ||
        !word_is(frame_head(f, b->at), "pmessage"))
        return 0;
    i = f->at[i].next;
    k = f->at[k].next;
    if (i < 0 || k < 0 || strncmp(f->at[i].text.p, f->at[k].text.p,
                                  f->at[i].text.n) <= 0)
        return 0;
    for (i = f->at[i].next, k = f->at[k].next; i >= 0 && k >= 0;
         i = f->at[i].next, k = f->at[k].next)
        if (f->at[i].text.n != f->at[k].text.n ||
            memcmp(f->at[i].text.p, f->at[k].text.p, f->at[i].text.n) != 0)
            return 0;
    return 1;
}

static void play_sort_patterns(heard *h)
{
    int i, k;

    for (i = 1; i < h->n; i++)
        for (k = i; k > 0 && play_swap(&h->trees, &h->roots[k - 1],
                                       &h->roots[k]); k--) {
            root r = h->roots[k];

            h->roots[k] = h->roots[k - 1];
            h->roots[k - 1] = r;
        }
}

/* Pushes from within another frame stand behind it. */
static void play_read_strays(heard *h, int from)
{
    for (; from < h->trees.n && h->n < ROOTS_MAX; from++)
        if (h->trees.at[from].stray) {
            memset(&h->roots[h->n], 0, sizeof *h->roots);
            h->roots[h->n].at = from;
            h->roots[h->n++].push = 1;
        }
}

static void play_read(const bytes *b, heard *h)
{
    size_t at = 0;
    int from;

    h->n = 0;
    h->trees.n = 0;
    while (at < b->n && h->n < ROOTS_MAX) {
        root *r = &h->roots[h->n];

        memset(r, 0, sizeof *r);
        from = h->trees.n;
        r->at = frame_read(&h->trees, b->p + at, b->n - at);
        if (r->at < 0)
            break;
        r->push = frame_is_push(&h->trees, r->at);
        at += h->trees.at[r->at].size;
        h->n++;
        play_read_strays(h, from);
    }
    h->whole = at == b->n;
    play_sort_patterns(h);
}

/* Gives the reference's frames to the commands they answer. */
static void play_own(play *p, int link, heard *h)
{
    line *l = &p->lines[link];
    int i, used = 0;

    for (i = 0; i < h->n; i++) {
        root *r = &h->roots[i];
        const ask *a;

        if (r->push) {
            play_push(l, &h->trees, r->at);
            continue;
        }
        r->owner = a = play_owner(l, &h->trees, r->at);
        if (p->tally)
            tally_reply(a, &h->trees, r->at);
        if (a == NULL || play_is_queued(&h->trees, r->at))
            continue;
        if (word_is(a->argv[0], "EXEC") &&
            used + l->queued <= PLAY_WAIT_MAX) {
            r->queue = &p->exec_queue[used];
            r->queued = l->queued;
            memcpy((void *)&p->exec_queue[used], (const void *)l->queue,
                   (size_t)l->queued * sizeof *l->queue);
            used += l->queued;
        }
        if (word_is(a->argv[0], "EXEC") || word_is(a->argv[0], "DISCARD") ||
            word_is(a->argv[0], "RESET"))
            l->queued = 0;
    }
    if (l->pushed)
        play_pop(l);
}

/* --------------------------------------------------------------- judging */

static int judge_is_valkey(const side *s)
{
    return strcmp(s->name, "valkey") == 0;
}

/* A transaction with SUBSCRIBE gives more frames than it has commands, so the
 * commands of later frames are not known. */
static int judge_ran_exec(const play *p)
{
    int i;

    for (i = 0; p->step != NULL && i < p->step->n; i++)
        if (p->step->asks[i].argc > 0 &&
            word_is(p->step->asks[i].argv[0], "EXEC"))
            return 1;
    return 0;
}

static int judge_frame(play *p, int other, int link, const ask *a,
                       const forest *x, int i, const forest *y, int k)
{
    int valkey = judge_is_valkey(p->sides[other]);
    rule r = a != NULL ? freedom_rule(a)
             : p->lines[link].loose ? (valkey ? RULE_ANY : RULE_TYPE)
             : judge_ran_exec(p) ? RULE_TYPE : RULE_EXACT;
    bytes left = {NULL, 0, 0}, right = {NULL, 0, 0};
    int same, allowed = 0;

    if ((r == RULE_SCAN || r == RULE_SCAN_PAIRS) &&
        (frame_goes_on(x, i) || frame_goes_on(y, k)))
        r = RULE_TYPE;
    info_compare_with(p->sides[other]);
    frame_render(&left, x, i, r, p->sides[0]);
    frame_render(&right, y, k, r, p->sides[other]);
    bytes_put(&left, "", 0);
    bytes_put(&right, "", 0);
    freedom_wording(p->sides[other], &right);
    same = bytes_same(&left, &right);
    if (!same && a != NULL)
        allowed = freedom_version(p->sides[other], a, &left, &right);
    if (allowed == 2)
        p->parted[other] = 1;
    bytes_free(&left);
    bytes_free(&right);
    return same || allowed != 0;
}

/* A push amid the replies of a transaction stands behind the same one of them;
 * Valkey keeps all for the end. */
static int judge_strays(const forest *x, int i, const forest *y, int k)
{
    i = x->at[i].first;
    k = y->at[k].first;
    while (i >= 0 && k >= 0 && x->at[i].stray == y->at[k].stray) {
        i = x->at[i].next;
        k = y->at[k].next;
    }
    return i < 0 && k < 0;
}

/* A transaction's replies have the freedoms of its commands. */
static int judge_exec(play *p, int other, int link, const root *r,
                      const forest *x, const forest *y, int k)
{
    int i = x->at[r->at].first, n, subscribes = 0, freely = 0;

    for (n = 0; n < r->queued; n++) {
        subscribes |= r->queue[n] != NULL && play_subscribes(r->queue[n]);
        freely |= r->queue[n] != NULL &&
                  freedom_rule(r->queue[n]) != RULE_EXACT;
    }
    if (subscribes && freely)
        return 1; /* the command of each reply is not known                */
    if (subscribes)
        return judge_frame(p, other, link, NULL, x, r->at, y, k);
    if (x->at[r->at].count != r->queued || y->at[k].count != r->queued ||
        x->at[r->at].type != '*' || y->at[k].type != '*')
        return 0;
    i = frame_no_stray(x, i);
    k = frame_no_stray(y, y->at[k].first);
    for (n = 0; i >= 0 && k >= 0; n++) {
        if (!judge_frame(p, other, link, r->queue[n], x, i, y, k))
            return 0;
        i = frame_no_stray(x, x->at[i].next);
        k = frame_no_stray(y, y->at[k].next);
    }
    return 1;
}

static int judge_is_end(const forest *f, int at)
{
    word head = frame_head(f, at);

    return word_is(head, "unsubscribe") || word_is(head, "punsubscribe") ||
           word_is(head, "sunsubscribe");
}

static int judge_root(play *p, int other, int link, int loose_order,
                      const heard *x, int i,
                      const heard *y, int k)
{
    const root *r = &x->roots[i];
    bytes left = {NULL, 0, 0}, right = {NULL, 0, 0};
    rule push;
    int same;

    if (r->push != y->roots[k].push ||
        (!judge_is_valkey(p->sides[other]) && r->queue != NULL &&
         !judge_strays(&x->trees, r->at, &y->trees, y->roots[k].at)))
        return 0;
    if (r->queue != NULL && judge_exec(p, other, link, r, &x->trees, &y->trees,
                                       y->roots[k].at))
        return 1;
    if (!r->push)
        return judge_frame(p, other, link, r->owner, &x->trees, r->at,
                           &y->trees,
                           y->roots[k].at);
    push = word_is(frame_head(&x->trees, r->at), "tracking-redir-broken")
               ? RULE_IDS
           : loose_order && judge_is_end(&x->trees, r->at) ? RULE_UNSUBSCRIBED
                                                         : RULE_EXACT;
    frame_render(&left, &x->trees, r->at, push, p->sides[0]);
    frame_render(&right, &y->trees, y->roots[k].at, push, p->sides[other]);
    same = bytes_same(&left, &right);
    bytes_free(&left);
    bytes_free(&right);
    return same;
}

static int judge_ordered(play *p, int other, int link, const heard *x,
                         const heard *y)
{
    int i;

    if (x->n == y->n && !x->whole && !y->whole && p->lines[link].loose)
        return 1; /* a transaction in which CLIENT REPLY took a reply away   */
    if (x->n != y->n || !x->whole || !y->whole)
        return 0;
    for (i = 0; i < x->n && !p->parted[other]; i++)
        if (!judge_root(p, other, link, 0, x, i, y, i))
            return 0;
    return 1;
}

/* Replies in order; pushes each with some push of the other side that stands
 * between the same replies, or behind: Valkey's follow the reply to the
 * command that made them. */
static int judge_unordered(play *p, int other, int link, const heard *x,
                           const heard *y)
{
    int later = judge_is_valkey(p->sides[other]);
    static char used[ROOTS_MAX];
    int i, k, from = 0;

    if (x->n != y->n || !x->whole || !y->whole)
        return 0;
    memset(used, 0, sizeof used);
    for (i = 0; i < x->n && !p->parted[other]; i++) {
        for (k = from; k < y->n; k++) {
            if (!used[k] && y->roots[k].push == x->roots[i].push &&
                (!x->roots[i].push ||
                 judge_root(p, other, link, 1, x, i, y, k)))
                break;
            if (x->roots[i].push && !y->roots[k].push && !later)
                return 0;
        }
        if (k == y->n || !judge_root(p, other, link, 1, x, i, y, k))
            return 0;
        used[k] = 1;
        if (!x->roots[i].push)
            from = k + 1;
    }
    return 1;
}

static const ask judge_anything = {{{"-", 1}}, 1};

/* Returns 1 if a row about versions explains all replies: the data sets are
 * then different from here on. */
static int judge_parts(play *p, int other, int link, const heard *x)
{
    const bytes *left = &p->sides[0]->heard[link];
    const bytes *right = &p->sides[other]->heard[link];
    int i, k, found = 0;

    for (i = 0; i < x->n && !found; i++) {
        const root *r = &x->roots[i];

        if (r->owner != NULL)
            found = freedom_version(p->sides[other], r->owner, left, right);
        for (k = 0; k < r->queued && !found; k++)
            if (r->queue[k] != NULL)
                found = freedom_version(p->sides[other], r->queue[k], left,
                                        right);
    }
    for (k = 0; p->step != NULL && k < p->step->n && !found; k++)
        found = freedom_version(p->sides[other], &p->step->asks[k], left,
                                right);
    if (!found) /* by what was asked long ago                              */
        found = freedom_version(p->sides[other], &judge_anything, left, right);
    p->parted[other] |= found != 0;
    return found != 0;
}

static void judge_show(bytes *b, const side *s, int link)
{
    bytes_format(b, "%-7s ", s->name);
    bytes_text(b, "\"");
    bytes_escape(b, s->heard[link].p, s->heard[link].n, 1500);
    bytes_text(b, s->closed[link] ? "\" and closed" : "\"");
}

static int judge_fail(play *p, int other, int link, const heard *x)
{
    verdict *v = p->v;
    int i;

    v->failed = 1;
    v->step = p->at;
    v->link = link;
    v->other = other;
    for (i = 0; i < x->n && i < 6; i++)
        if (x->roots[i].owner != NULL) {
            bytes_text(&v->asked, v->asked.n > 0 ? " ; " : "");
            tape_show_ask(&v->asked, x->roots[i].owner);
        }
    judge_show(&v->reference, p->sides[0], link);
    judge_show(&v->reply, p->sides[other], link);
    return -1;
}

static int judge_any_order(const play *p, const side *o)
{
    int i, any = p->step == NULL;

    for (i = 0; i < MODEL_LINKS; i++)
        any |= p->lines[i].any_order;
    /* Valkey's pushes follow the reply to the command that caused them. */
    return any || judge_is_valkey(o);
}

static int judge_link(play *p, int link)
{
    heard *x = judge_heard(&judge_of_reference);
    side *s = p->sides[0];
    int other;

    play_read(&s->heard[link], x);
    play_own(p, link, x);
    for (other = 1; other < p->n; other++) {
        side *o = p->sides[other];
        heard *y = judge_heard(&judge_of_other);

        /* A server that has nothing to write for want of replies does not see
         * that it was to close; ours does. */
        if (strcmp(o->name, "ours") == 0 && o->closed[link] &&
            !s->closed[link] && p->lines[link].loose)
            p->parted[other] = 1;
        if (p->parted[other] || (bytes_same(&s->heard[link],
                                            &o->heard[link]) &&
                                 s->closed[link] == o->closed[link]))
            continue;
        play_read(&o->heard[link], y);
        if (s->closed[link] == o->closed[link] &&
            (judge_ordered(p, other, link, x, y) ||
             (judge_any_order(p, o) &&
              judge_unordered(p, other, link, x, y))))
            continue;
        if (judge_parts(p, other, link, x))
            continue;
        return judge_fail(p, other, link, x);
    }
    if (s->closed[link])
        memset(&p->lines[link], 0, sizeof *p->lines);
    return 0;
}

int judge_all(play *p)
{
    int link, i;

    for (link = 0; link < MODEL_LINKS; link++) {
        int any = 0;

        for (i = 0; i < p->n; i++)
            any |= p->sides[i]->heard[link].n > 0 ||
                   p->sides[i]->closed[link];
        if (any && judge_link(p, link) != 0)
            return -1;
        for (i = 0; i < p->n; i++)
            bytes_clear(&p->sides[i]->heard[link]);
    }
    for (link = 0; link < MODEL_LINKS; link++)
        if (p->lines[link].waiting == 0)
            p->lines[link].any_order = 0;
    return 0;
}
