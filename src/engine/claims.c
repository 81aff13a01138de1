/* SPDX-License-Identifier: MIT
 *
 * claims.c - the jobs that a worker holds. */
#include "claims.h"

#ifndef RELET_NO_QUEUE

RELET_PRIVATE void rlt_claims_init(rlt_claims *t, rlt_claim *slot,
                                   uint32_t count)
{
    memset(slot, 0, count * sizeof *slot);
    t->slot = slot;
    t->count = count;
    t->tells = 0;
}

static int claims_held(const rlt_claim *s)
{
    return s->state == RLT_CLAIM_HELD;
}

/* A claim tells one event at a time: a loss takes the place of a cancel. */
static void claims_tell(rlt_claims *t, rlt_claim *s, int what)
{
    rlt_assert(what != 0);
    rlt_assert(s->state != RLT_CLAIM_FREE);
    if (s->tell == 0)
        t->tells++;
    rlt_assert(t->tells <= t->count);
    s->tell = (uint8_t)what;
}

static void claims_untell(rlt_claims *t, rlt_claim *s)
{
    if (s->tell == 0)
        return;
    rlt_assert(t->tells > 0);
    s->tell = 0;
    t->tells--;
}

static void claims_free(rlt_claims *t, rlt_claim *s)
{
    claims_untell(t, s);
    memset(s, 0, sizeof *s);
}

static void claims_lose(rlt_claims *t, rlt_claim *s, relet_why why)
{
    rlt_assert(s->state != RLT_CLAIM_FREE);
    rlt_assert(s->state != RLT_CLAIM_LOST);
    rlt_assert(s->state != RLT_CLAIM_LATE);
    s->state = claims_held(s) ? RLT_CLAIM_LOST : RLT_CLAIM_LATE;
    s->why = (uint8_t)why;
    s->renewed = 0;
    claims_tell(t, s, RLT_TELL_JOB_LOST);
}

RELET_PRIVATE uint32_t rlt_claims_in(const rlt_claims *t, rlt_claim_state state)
{
    uint32_t i, n = 0;

    for (i = 0; i < t->count; i++)
        n += t->slot[i].state == state;
    return n;
}

RELET_PRIVATE uint32_t rlt_claims_busy(const rlt_claims *t)
{
    return t->count - rlt_claims_in(t, RLT_CLAIM_FREE);
}

/* -------------------------------------------------------------------- time */

RELET_PRIVATE relet_time rlt_claims_deadline(const rlt_claims *t)
{
    relet_time first = RELET_NEVER;
    uint32_t i;

    for (i = 0; i < t->count; i++) {
        const rlt_claim *s = &t->slot[i];

        if (!claims_held(s))
            continue;
        first = RLT_MIN(first, s->valid_until);
        if (!s->overdue)
            first = RLT_MIN(first, s->ends_at);
    }
    return first;
}

RELET_PRIVATE relet_time rlt_claims_until(const rlt_claims *t)
{
    relet_time first = RELET_NEVER;
    uint32_t i;

    for (i = 0; i < t->count; i++)
        if (claims_held(&t->slot[i]) && !t->slot[i].overdue)
            first = RLT_MIN(first, t->slot[i].valid_until);
    return first;
}

RELET_PRIVATE void rlt_claims_expire(rlt_claims *t, relet_time now)
{
    uint32_t i;

    for (i = 0; i < t->count; i++) {
        rlt_claim *s = &t->slot[i];

        if (!claims_held(s))
            continue;
        if (now >= s->valid_until) {
            claims_lose(t, s, RELET_WHY_EXPIRED);
        } else if (now >= s->ends_at && !s->overdue) {
            s->overdue = 1;
            s->why = RELET_WHY_TIMEOUT;
            claims_tell(t, s, RLT_TELL_JOB_CANCEL);
        }
    }
}

/* ------------------------------------------------------------------ claimed */

/* Returns a free claim, or NULL. *known: a claim has the job and this token;
 * then NULL is returned. *twin: a claim has the job with another token. */
static rlt_claim *claims_place(rlt_claims *t, uint64_t number, uint64_t token,
                               int *twin, int *known)
{
    rlt_claim *found = NULL;
    uint32_t i;

    *twin = *known = 0;
    for (i = 0; i < t->count; i++) {
        rlt_claim *s = &t->slot[i];

        if (s->state == RLT_CLAIM_FREE)
            found = found ? found : s;
        else if (s->number == number && s->token == token)
            *known = 1;
        else if (s->number == number)
            *twin = 1;
    }
    return *known ? NULL : found;
}

/* Notes the options that the end of a job will need. Returns 1 if its deadline
 * has passed; the job was put in the second `born`. */
static int claims_note(rlt_claim *s, relet_span record, const rlt_claimed *c)
{
    relet_job j;
    uint64_t born;

    (void)rlt_job_read(record, &j, &born);
    s->attempts_max = rlt_job_attempts(&j);
    s->backoff = (uint8_t)j.backoff;
    s->backoff_ms = j.backoff_ms;
    s->backoff_max_ms = j.backoff_max_ms;
    s->keep_ms = j.keep_ms;
    s->rank = j.rank;
    s->bare = j.id.n == 0 && j.reply_to.n == 0 && j.keep_ms == 0;
    s->ends_at = j.timeout_ms > 0 ? c->sent_at + j.timeout_ms : RELET_NEVER;
    return j.deadline_ms > 0 &&
           c->server_us / 1000 - (int64_t)born * 1000 - 999 > j.deadline_ms;
}

/* Returns 1 if the job is to be begun. */
static int claims_take_one(rlt_claims *t, relet_value v, size_t i,
                           rlt_claimed *c)
{
    rlt_job_state state;
    rlt_claim *s;
    int64_t number;
    int twin, known, late;

    if (!relet_value_int(relet_value_at(v, i), &number) || number <= 0 ||
        !rlt_job_state_read(relet_value_text(relet_value_at(v, i + 2)),
                            &state))
        return 0;
    /* A job that was taken before and has ended here may still be leased on
     * the server, so that a RECALL lists it. */
    if (state.token < c->from)
        return 0;
    s = claims_place(t, (uint64_t)number, state.token, &twin, &known);
    if (s == NULL && !known && c->homeless++ == 0)
        c->from = state.token;
    if (s == NULL)
        return 0;
    rlt_assert(s->state == RLT_CLAIM_FREE);
    rlt_assert(s->tell == 0);
    s->fresh = 1;
    s->number = (uint64_t)number;
    s->token = state.token;
    s->attempts = state.attempts;
    s->stalls = state.stalls;
    s->replays = state.replays;
    s->valid_until = c->until;
    late = claims_note(s, relet_value_text(relet_value_at(v, i + 1)), c);
    c->twins += (uint32_t)twin;
    s->state = (uint8_t)(twin || c->to_go_back ? RLT_CLAIM_RETURN
                         : late                ? RLT_CLAIM_STALE
                                               : RLT_CLAIM_HELD);
    return claims_held(s);
}

RELET_PRIVATE uint32_t rlt_claims_take(rlt_claims *t, relet_value v,
                                       size_t from, rlt_claimed *c)
{
    size_t i, count = relet_value_count(v);
    uint32_t n = 0, k;

    for (k = 0; k < t->count; k++)
        t->slot[k].fresh = 0;
    for (i = from; i + 2 < count; i += 3)
        n += (uint32_t)claims_take_one(t, v, i, c);
    return n;
}

RELET_PRIVATE rlt_claim *rlt_claims_stale(const rlt_claims *t)
{
    uint32_t i;

    for (i = 0; i < t->count; i++)
        if (t->slot[i].state == RLT_CLAIM_STALE)
            return &t->slot[i];
    return NULL;
}

/* ------------------------------------------------------------------ letters */

static relet_why claims_why(char letter)
{
    return letter == 'g' ? RELET_WHY_GONE : RELET_WHY_TAKEN;
}

static void claims_let_go(rlt_claims *t, rlt_claim *s, char letter)
{
    if (!s->given_back && (letter == 'l' || letter == 'g'))
        claims_lose(t, s, claims_why(letter));
    else
        claims_free(t, s);
}

RELET_PRIVATE uint32_t rlt_claims_renew(rlt_claims *t, relet_time until,
                                        uint32_t most)
{
    uint32_t i, n = 0;

    for (i = 0; i < t->count; i++) {
        rlt_claim *s = &t->slot[i];

        s->renewed = 0;
        if (n < most && claims_held(s) && !s->overdue &&
            s->valid_until <= until)
            s->renewed = (uint8_t)++n;
    }
    return n;
}

static void claims_renewed_one(rlt_claims *t, rlt_claim *s, char letter,
                               relet_time until)
{
    if (letter == 'l' || letter == 'g') {
        claims_lose(t, s, claims_why(letter));
    } else if (letter == 'o') {
        claims_lose(t, s, RELET_WHY_TIMEOUT);
    } else if (letter != 0) {
        s->valid_until = RLT_MAX(s->valid_until, until);
        if (letter != 'c' || s->asked)
            return;
        s->asked = 1;
        if (s->tell == 0) /* else keep the reason of the pending event */
            s->why = RELET_WHY_NONE;
        claims_tell(t, s, RLT_TELL_JOB_CANCEL);
    }
}

RELET_PRIVATE void rlt_claims_renewed(rlt_claims *t, relet_span letters,
                                      relet_time until)
{
    uint32_t i;

    for (i = 0; i < t->count; i++) {
        rlt_claim *s = &t->slot[i];
        size_t place = s->renewed;

        rlt_assert(place == 0 || claims_held(s));
        s->renewed = 0;
        if (place > 0 && place <= letters.n)
            claims_renewed_one(t, s, letters.p[place - 1], until);
    }
}

RELET_PRIVATE uint32_t rlt_claims_sent(const rlt_claims *t, uint8_t step)
{
    uint32_t i, n = 0;

    for (i = 0; i < t->count; i++)
        n += (uint32_t)rlt_claims_is_sent(&t->slot[i], step);
    return n;
}

RELET_PRIVATE uint32_t rlt_claims_send(rlt_claims *t, rlt_claim_state from,
                                       uint8_t step, uint32_t most)
{
    uint32_t i, n = rlt_claims_sent(t, step);

    for (i = 0; n < most && i < t->count; i++) {
        rlt_claim *s = &t->slot[i];

        if (s->state != from)
            continue;
        s->state = RLT_CLAIM_SENT;
        s->given_back = from == RLT_CLAIM_RETURN;
        s->step = step;
        n++;
    }
    return n;
}

RELET_PRIVATE void rlt_claims_answered(rlt_claims *t, uint8_t step,
                                       relet_span letters)
{
    uint32_t i;
    size_t n = 0;

    for (i = 0; i < t->count; i++)
        if (rlt_claims_is_sent(&t->slot[i], step)) {
            claims_let_go(t, &t->slot[i],
                          (char)(n < letters.n ? letters.p[n] : 'g'));
            n++;
        }
}

RELET_PRIVATE void rlt_claims_cut_off(rlt_claims *t, relet_why why)
{
    uint32_t i;

    for (i = 0; i < t->count; i++) {
        rlt_claim *s = &t->slot[i];

        if (s->state == RLT_CLAIM_RETURN || s->state == RLT_CLAIM_STALE ||
            s->given_back)
            claims_free(t, s);
        else if (s->state != RLT_CLAIM_FREE && s->state != RLT_CLAIM_LOST &&
                 s->state != RLT_CLAIM_LATE)
            claims_lose(t, s, why);
    }
}

/* ---------------------------------------------------------------- the user */

RELET_PRIVATE rlt_claim *rlt_claims_find(const rlt_claims *t, uint64_t number,
                                         uint64_t token)
{
    rlt_claim *s = rlt_claims_open(t, number);

    return s != NULL && claims_held(s) && s->token == token ? s : NULL;
}

RELET_PRIVATE rlt_claim *rlt_claims_open(const rlt_claims *t, uint64_t number)
{
    uint32_t i;

    for (i = 0; i < t->count; i++)
        if (t->slot[i].number == number &&
            (claims_held(&t->slot[i]) || t->slot[i].state == RLT_CLAIM_LOST))
            return &t->slot[i];
    return NULL;
}

RELET_PRIVATE int rlt_claims_end(rlt_claims *t, rlt_claim *s,
                                 rlt_claim_state how)
{
    if (s->state == RLT_CLAIM_LOST) {
        claims_free(t, s);
        return 0;
    }
    claims_untell(t, s);
    s->state = (uint8_t)how;
    s->renewed = 0;
    return 1;
}

RELET_PRIVATE void rlt_claims_closed(rlt_claims *t, uint32_t i, char letter)
{
    rlt_claim *s = &t->slot[i];

    rlt_assert(i < t->count);
    if (s->state != RLT_CLAIM_CLOSING)
        return;
    if (letter == 0)
        claims_lose(t, s, RELET_WHY_BROKEN);
    else
        claims_let_go(t, s, letter);
}

RELET_PRIVATE int rlt_claims_event(rlt_claims *t, int *tell, rlt_claim *job)
{
    uint32_t i;

    for (i = 0; t->tells > 0 && i < t->count; i++) {
        rlt_claim *s = &t->slot[i];

        if (s->tell == 0)
            continue;
        *tell = s->tell;
        claims_untell(t, s);
        *job = *s;
        if (s->state == RLT_CLAIM_LATE)
            claims_free(t, s);
        return 1;
    }
    return 0;
}

#endif /* RELET_NO_QUEUE */
