/* SPDX-License-Identifier: MIT
 *
 * history.c - searches for an order of acts in which all answers about one
 * lease are right. */
#include "history.h"

#include <stdlib.h>
#include <string.h>

#define HISTORY_STEPS 400000
#define HISTORY_SEEN 16384 /* tried states that are kept; a power of two      */

/* The state of a lease, as far as it follows from the acts so far. */
typedef struct history_state {
    uint32_t holder; /* 0: nobody                                             */
    uint32_t fence_who;
    uint64_t fence_term;
    uint64_t last;   /* the last token, …                                     */
    int open;        /* 1: it is a higher one, not answered                   */
    int64_t least_us, most_us; /* the lease ends in between                   */
} history_state;

typedef struct history_step {
    history_state before;
    size_t first, act; /* act: the act tried last                             */
    int64_t now_us;
    int effect;
    int only;          /* no other act needs to be tried instead              */
} history_step;

typedef struct history {
    const sim_act *acts;
    size_t n;
    const sim_leap *leaps;
    size_t leaps_n;
    uint8_t *done;
    uint64_t set;    /* hash of the acts that are done                        */
    size_t first;    /* no act before it can still be done                    */
    int64_t now_us;  /* latest begin of the acts that are done                */
    history_state now;
    history_step *stack;
    size_t depth;
    uint64_t *seen;
} history;

/* ------------------------------------------------------------------ effects */

static int history_may_be_free(const history_state *s, const sim_act *a)
{
    return s->holder == 0 || a->to_us >= s->least_us;
}

static int history_may_be_held(const history_state *s, const sim_act *a)
{
    return s->holder != 0 && a->from_us <= s->most_us;
}

/* Clocks may run apart by one percent, and count in milliseconds. An act that
 * was split off an earlier period begins a microsecond late. */
static void history_hold(const history *h, history_state *s, const sim_act *a)
{
    int64_t slack = a->ttl_us / 100 + 2000;
    size_t i;

    s->holder = a->who;
    s->least_us = a->from_us + a->ttl_us - slack;
    s->most_us = a->to_us > INT64_MAX - a->ttl_us - slack
                     ? INT64_MAX
                     : a->to_us + a->ttl_us + slack;
    for (i = 0; i < h->leaps_n; i++) {
        const sim_leap *l = &h->leaps[i];

        if (l->to_us < a->from_us - 1 || l->from_us > s->most_us)
            continue;
        s->most_us = INT64_MAX;
        if (l->from_us < s->least_us)
            s->least_us = l->from_us > a->from_us ? l->from_us : a->from_us;
    }
}

static int history_last_is(history_state *s, uint64_t token)
{
    if (s->open ? token <= s->last : token != s->last)
        return 0;
    s->open = 0;
    s->last = token;
    return 1;
}

/* Returns 1 if this term was granted before, or ended before it was granted. */
static int history_is_over(const history_state *s, const sim_act *a)
{
    return s->fence_who == a->who && a->term <= s->fence_term;
}

static int history_grant(const history *h, history_state *s, const sim_act *a)
{
    s->open = !a->answered;
    if (a->answered && a->last <= s->last)
        return 0;
    if (a->answered)
        s->last = a->last;
    s->fence_who = a->who;
    s->fence_term = a->term;
    history_hold(h, s, a);
    return 1;
}

static int history_free(history_state *s)
{
    s->holder = 0;
    return 1;
}

/* The effects of each act: returns 1, with the state after it, if possible. */

static int history_acquired(const history *h, history_state *s,
                            const sim_act *a, int effect)
{
    int mine = history_may_be_held(s, a) && s->holder == a->who;
    int other = history_may_be_held(s, a) && s->holder != a->who;
    int free = history_may_be_free(s, a);

    if (effect == 0 && history_is_over(s, a)) { /* a grant is repeated */
        if (!mine || a->term < s->fence_term ||
            (a->answered && (a->status != 1 || !history_last_is(s, a->last))))
            return 0;
        history_hold(h, s, a);
        return 1;
    }
    if (effect == 0)
        return (!a->answered || a->status == 1) && (mine || free) &&
               history_grant(h, s, a);
    if (a->cut && !history_is_over(s, a) && (mine || free)) {
        history_hold(h, s, a); /* cut before the token was written */
        return 1;
    }
    if (!a->answered || !history_last_is(s, a->last))
        return 0;
    if (a->status == -1)
        return history_is_over(s, a) &&
               (other || a->term < s->fence_term || (free && history_free(s)));
    if (a->status == -2)
        return !history_is_over(s, a) && a->quarantine &&
               (mine || (free && history_free(s)));
    return a->status == 0 && !history_is_over(s, a) && other;
}

/* Returns 1 if the token that was answered, or else the token of the request,
 * can be the last one. */
static int history_tells(history_state *s, const sim_act *a)
{
    return a->answered ? history_last_is(s, a->last)
                       : a->token == 0 || history_last_is(s, a->token);
}

static int history_renewed(const history *h, history_state *s,
                           const sim_act *a, int effect)
{
    int held = history_may_be_held(s, a), own;

    if ((!a->answered && effect == 1) || !history_tells(s, a))
        return 0;
    own = s->holder == a->who && s->last == a->token;
    if (effect == 0) {
        if (!held || !own || (a->answered && a->status != 1))
            return 0;
        history_hold(h, s, a);
        return 1;
    }
    if (a->status == -1)
        return history_may_be_free(s, a) && history_free(s);
    return a->status == 0 && held && !own;
}

static int history_released(history_state *s, const sim_act *a, int effect)
{
    int held = history_may_be_held(s, a), own;

    if ((a->answered || effect == 0) && !history_tells(s, a))
        return 0;
    own = s->holder == a->who && s->fence_who == a->who &&
          s->fence_term == a->term && (a->token == 0 || s->last == a->token);
    if (effect == 0)
        return held && own && (!a->answered || a->status == 1) &&
               history_free(s);
    if (a->answered && a->status == 0)
        return held && !own;
    if ((a->answered && a->status != -1) || !history_may_be_free(s, a))
        return 0;
    if (a->token == 0) {
        s->fence_who = a->who;
        s->fence_term = a->term;
    }
    return history_free(s);
}

static int history_other(const history *h, history_state *s, const sim_act *a,
                         int effect)
{
    int held = history_may_be_held(s, a);
    int free = history_may_be_free(s, a);

    if (effect == 0 && a->answered && a->status != 1)
        return 0;
    if (effect == 1 && (!a->answered || a->status != 0))
        return 0;
    if (a->what == SIM_ACT_TAKE && effect == 0) {
        if (free)
            history_hold(h, s, a);
        return free;
    }
    if (a->what == SIM_ACT_TAKE)
        return held;
    if (effect == 0)
        return held && s->holder == a->who && history_free(s);
    return s->holder != a->who || (free && history_free(s));
}

/* Returns 1, with the state after the act, if the act can have this effect: 0
 * is the purpose of the act, 1 anything else. */
static int history_apply(const history *h, history_state *s, const sim_act *a,
                         int effect)
{
    switch (a->what) {
    case SIM_ACT_ACQUIRE:
        return history_acquired(h, s, a, effect);
    case SIM_ACT_RENEW:
        return history_renewed(h, s, a, effect);
    case SIM_ACT_RELEASE:
        return history_released(s, a, effect);
    case SIM_ACT_TAKE:
    case SIM_ACT_DROP:
        return history_other(h, s, a, effect);
    }
    return 0;
}

/* ------------------------------------------------------------------- search */

static uint64_t history_mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return a ^ a >> 29;
}

static uint64_t history_digest(const history *h)
{
    const history_state *s = &h->now;
    uint64_t d = history_mix(h->set, s->holder);

    d = history_mix(d, s->fence_who);
    d = history_mix(d, s->fence_term);
    d = history_mix(d, s->last << 1 | (uint64_t)s->open);
    d = history_mix(d, (uint64_t)s->least_us);
    return history_mix(d, (uint64_t)s->most_us) | 1;
}

/* Returns 1 if this state was tried before. */
static int history_was_here(history *h)
{
    uint64_t d = history_digest(h);
    uint64_t *slot = &h->seen[d >> 24 & (HISTORY_SEEN - 1)];

    if (*slot == d)
        return 1;
    *slot = d;
    return 0;
}

/* The first end of the acts that are not done, of the answered acts or of all.
 * Only an act that begins before it may be next. */
static int64_t history_horizon(const history *h, int all)
{
    int64_t at = INT64_MAX;
    size_t i;

    for (i = h->first; i < h->n && h->acts[i].from_us <= at; i++)
        if (!h->done[i] && (all || h->acts[i].answered) &&
            h->acts[i].to_us >= h->now_us && h->acts[i].to_us < at)
            at = h->acts[i].to_us;
    return at;
}

static void history_mark(history *h, size_t i, int done)
{
    h->done[i] = (uint8_t)done;
    h->set ^= history_mix(i + 1, UINT64_C(0xd6e8feb86659fd93));
}

static void history_do(history *h, size_t i, const history_state *behind)
{
    history_step *step = &h->stack[h->depth++];

    step->before = h->now;
    step->first = h->first;
    step->now_us = h->now_us;
    step->act = i;
    h->now = *behind;
    if (h->now_us < h->acts[i].from_us)
        h->now_us = h->acts[i].from_us;
    history_mark(h, i, 1);
    while (h->first < h->n &&
           (h->done[h->first] || (!h->acts[h->first].answered &&
                                  h->acts[h->first].to_us < h->now_us)))
        h->first++;
}

static int history_finished(const history *h)
{
    size_t i;

    for (i = h->first; i < h->n; i++)
        if (!h->done[i] && h->acts[i].answered)
            return 0;
    return 1;
}

static int history_changed(const history_state *a, const history_state *b)
{
    return a->holder != b->holder || a->fence_who != b->fence_who ||
           a->fence_term != b->fence_term || a->last != b->last ||
           a->open != b->open || a->least_us != b->least_us ||
           a->most_us != b->most_us;
}

/* Tokens only grow: an act that is answered with a lower token comes first. */
static uint64_t history_least(const history *h, int64_t horizon)
{
    uint64_t least = UINT64_MAX;
    size_t i;

    for (i = h->first; i < h->n && h->acts[i].from_us <= horizon; i++)
        if (!h->done[i] && h->acts[i].answered &&
            h->acts[i].who != SIM_ACT_OTHER && h->acts[i].last < least)
            least = h->acts[i].last;
    return least;
}

/* Returns 1 if an earlier act without an answer could have the same effect for
 * at least as long: of such acts it is enough to try the first. */
static int history_is_second(const history *h, size_t i)
{
    const sim_act *a = &h->acts[i];
    size_t j;

    for (j = h->first; j < i && !a->answered; j++) {
        const sim_act *b = &h->acts[j];

        if (!h->done[j] && !b->answered && b->what == a->what &&
            b->who == a->who && b->term == a->term && b->token == a->token &&
            b->to_us == a->to_us)
            return 1;
    }
    return 0;
}

/* Returns 1 if the act just before had no answer and changed nothing that shows
 * after this act: then the act before need not have been done. */
static int history_was_vain(const history *h, const sim_act *a, int effect,
                            const history_state *behind)
{
    const history_step *last = h->depth > 0 ? &h->stack[h->depth - 1] : NULL;
    history_state s;

    if (last == NULL || h->acts[last->act].answered)
        return 0;
    s = last->before;
    return history_apply(h, &s, a, effect) && !history_changed(&s, behind);
}

/* Returns 1 if the act changes nothing in any state. A release of a free lease,
 * without a token, voids the requests of its term: a later place may matter. */
static int history_only_tells(const sim_act *a, int effect)
{
    return effect == 1 && (a->what != SIM_ACT_RELEASE || a->token != 0 ||
                           a->status != -1);
}

/* Tries an act, from this effect on. Returns 1 if the act may be next. */
static int history_try(history *h, size_t i, int effect, uint64_t least)
{
    const sim_act *a = &h->acts[i];
    int only;

    if (h->done[i] || a->to_us < h->now_us || history_is_second(h, i))
        return 0;
    for (; effect < 2; effect++) {
        history_state s = h->now;

        if (!history_apply(h, &s, a, effect) ||
            s.last + (uint64_t)s.open > least ||
            (!a->answered && !history_changed(&s, &h->now)) ||
            history_was_vain(h, a, effect, &s))
            continue;
        /* An act that never changes anything may be placed here, if no other
         * act had to come before it. */
        only = a->answered && history_only_tells(a, effect) &&
               !history_changed(&s, &h->now) &&
               a->from_us <= history_horizon(h, 1);
        history_do(h, i, &s);
        h->stack[h->depth - 1].effect = effect;
        h->stack[h->depth - 1].only = only;
        return 1;
    }
    return 0;
}

/* Goes on with the next act that may follow, from (act, effect) on, answered
 * acts first. Returns 0 if there is none. */
static int history_forward(history *h, size_t act, int effect)
{
    int64_t horizon = history_horizon(h, 0);
    uint64_t least = history_least(h, horizon);
    int answered = act == h->first && effect == 0 ? 1 : h->acts[act].answered;

    for (; answered >= 0; answered--, act = h->first, effect = 0)
        for (; act < h->n && h->acts[act].from_us <= horizon;
             act++, effect = 0)
            if (h->acts[act].answered == answered &&
                history_try(h, act, effect, least))
                return 1;
    return 0;
}

static int history_back(history *h, size_t *act, int *effect)
{
    history_step *step;

    do {
        if (h->depth == 0)
            return 0;
        step = &h->stack[--h->depth];
        h->now = step->before;
        h->first = step->first;
        h->now_us = step->now_us;
        history_mark(h, step->act, 0);
    } while (step->only);
    *act = step->act;
    *effect = step->effect + 1;
    return 1;
}

static sim_verdict history_search(history *h, size_t *culprit)
{
    size_t act = 0, steps = 0;
    int effect = 0;

    *culprit = 0;
    while (!history_finished(h)) {
        if (++steps > HISTORY_STEPS)
            return SIM_GAVE_UP;
        if (h->first > *culprit)
            *culprit = h->first;
        if (history_forward(h, act, effect) && !history_was_here(h)) {
            act = h->first;
            effect = 0;
        } else if (!history_back(h, &act, &effect)) {
            return SIM_DISORDERED;
        }
    }
    return SIM_ORDERED;
}

sim_verdict sim_history_check(const sim_act *acts, size_t n,
                              const sim_leap *leaps, size_t leaps_n,
                              size_t *culprit)
{
    sim_verdict verdict = SIM_GAVE_UP;
    history h;

    memset(&h, 0, sizeof h);
    h.acts = acts;
    h.n = n;
    h.leaps = leaps;
    h.leaps_n = leaps_n;
    h.done = (uint8_t *)calloc(n + 1, 1);
    h.stack = (history_step *)malloc((n + 1) * sizeof *h.stack);
    h.seen = (uint64_t *)calloc(HISTORY_SEEN, sizeof *h.seen);
    if (h.done == NULL || h.stack == NULL || h.seen == NULL)
        abort();
    verdict = history_search(&h, culprit);
    free(h.done);
    free(h.stack);
    free(h.seen);
    return verdict;
}
