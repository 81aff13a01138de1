/* SPDX-License-Identifier: MIT
 *
 * worker.c - what a worker holds of a queue. */
#include "worker.h"

#include "text.h"

#define WORK_AGAIN_MIN_MS 50
#define WORK_AGAIN_MAX_MS 5000
#define WORK_HELD_BACK_MAX_MS 1000

RELET_PRIVATE void rlt_work_start(rlt_work *w, const rlt_work_plan *plan,
                                  rlt_slot *slots, rlt_rand *rand,
                                  relet_time now)
{
    int i;

    memset(w, 0, sizeof *w);
    memset(slots, 0, plan->slots * sizeof *slots);
    w->plan = *plan;
    w->slot = slots;
    w->rand = rand;
    w->state = RLT_WORK_EAGER;
    w->poll_at = now;
    w->due_at = RELET_NEVER;
    w->reap_at = plan->reap_ms == RELET_NEVER ? RELET_NEVER : now;
    for (i = 0; i < RLT_STEPS; i++)
        w->step[i].op = 1;
}

/* ------------------------------------------------------------------- slots */

static int work_is_running(const rlt_slot *s)
{
    return s->state == RLT_SLOT_HELD;
}

static void work_tell(rlt_work *w, rlt_slot *s, int what)
{
    if (s->tell == 0)
        w->tells++;
    s->tell |= (uint8_t)what;
}

static void work_untell(rlt_work *w, rlt_slot *s, int what)
{
    if (s->tell == 0)
        return;
    s->tell &= (uint8_t)~what;
    if (s->tell == 0)
        w->tells--;
}

static void work_free(rlt_work *w, rlt_slot *s)
{
    work_untell(w, s, 255);
    memset(s, 0, sizeof *s);
}

static void work_lose(rlt_work *w, rlt_slot *s, relet_why why)
{
    work_untell(w, s, RLT_TELL_JOB_CANCEL);
    s->state = s->state == RLT_SLOT_HELD ? RLT_SLOT_LOST : RLT_SLOT_LATE;
    s->why = (uint8_t)why;
    s->renewed = 0;
    work_tell(w, s, RLT_TELL_JOB_LOST);
}

static uint32_t work_count(const rlt_work *w, rlt_slot_state state)
{
    uint32_t i, n = 0;

    for (i = 0; i < w->plan.slots; i++)
        n += w->slot[i].state == state;
    return n;
}

static relet_why work_why(char letter)
{
    return letter == 'g' ? RELET_WHY_GONE : RELET_WHY_TAKEN;
}

/* -------------------------------------------------------------------- time */

static relet_time work_renew_at(const rlt_work *w, const rlt_slot *s)
{
    return s->valid_until - rlt_lease_trust_ms(w->plan.lease_ms) +
           w->plan.renew_ms;
}

static relet_time work_renewal(const rlt_work *w)
{
    relet_time t = RELET_NEVER;
    uint32_t i;

    for (i = 0; i < w->plan.slots; i++)
        if (work_is_running(&w->slot[i]))
            t = RLT_MIN(t, work_renew_at(w, &w->slot[i]));
    return t;
}

static int work_is_idle(const rlt_work *w)
{
    return w->state == RLT_WORK_REST || w->state == RLT_WORK_OVER;
}

static int work_to_send(const rlt_work *w)
{
    return (w->step[RLT_STEP_DONE].serial == 0 &&
            work_count(w, RLT_SLOT_DONE) > 0) ||
           (w->step[RLT_STEP_RETURN].serial == 0 &&
            work_count(w, RLT_SLOT_RETURN) > 0) ||
           (w->state == RLT_WORK_EAGER && w->step[RLT_STEP_CLAIM].serial == 0 &&
            work_count(w, RLT_SLOT_FREE) > 0);
}

RELET_PRIVATE relet_time rlt_work_deadline(const rlt_work *w, int up,
                                           relet_time now)
{
    relet_time t = RELET_NEVER;
    uint32_t i;

    if (work_is_idle(w))
        return t;
    for (i = 0; i < w->plan.slots; i++)
        if (work_is_running(&w->slot[i]))
            t = RLT_MIN(t, w->slot[i].valid_until);
    if (!up)
        return t;
    if (w->again_at > now)
        return RLT_MIN(t, w->again_at);
    if (work_to_send(w))
        return now;
    if (w->step[RLT_STEP_RENEW].serial == 0)
        t = RLT_MIN(t, work_renewal(w));
    if (w->step[RLT_STEP_REAP].serial == 0 && w->state != RLT_WORK_STOPPING)
        t = RLT_MIN(t, w->reap_at);
    if (w->state == RLT_WORK_ASLEEP)
        t = RLT_MIN(t, RLT_MIN(w->poll_at, w->due_at));
    return t;
}

RELET_PRIVATE void rlt_work_tick(rlt_work *w, relet_time now)
{
    uint32_t i;

    if (work_is_idle(w))
        return;
    for (i = 0; i < w->plan.slots; i++)
        if (work_is_running(&w->slot[i]) && now >= w->slot[i].valid_until)
            work_lose(w, &w->slot[i], RELET_WHY_EXPIRED);
    if (w->state != RLT_WORK_ASLEEP)
        return;
    if (now >= w->due_at) {
        w->state = RLT_WORK_EAGER;
    } else if (now >= w->poll_at) { /* lining up tells whether there is work */
        w->state = RLT_WORK_EAGER;
        w->short_of = w->held_back == 0;
    }
}

RELET_PRIVATE void rlt_work_wake(rlt_work *w)
{
    if (w->state == RLT_WORK_ASLEEP)
        w->state = RLT_WORK_EAGER;
    w->short_of = 0;
    w->again_at = 0;
    w->tries = 0;
}

/* ---------------------------------------------------------------- to be sent */

static int work_takes_part(const rlt_slot *s, rlt_step step)
{
    if (step == RLT_STEP_RENEW)
        return s->renewed;
    return s->state == RLT_SLOT_SENT && s->step == (uint8_t)step;
}

RELET_PRIVATE int rlt_work_sends(const rlt_work *w, uint32_t slot,
                                 rlt_step step)
{
    return work_takes_part(&w->slot[slot], step);
}

/* All that is at least half way to its renewal, so that one step does for
 * many. */
static uint32_t work_gather_renewals(rlt_work *w, relet_time now)
{
    relet_time until = now + w->plan.renew_ms / 2;
    uint32_t i, n = 0;

    for (i = 0; i < w->plan.slots; i++) {
        rlt_slot *s = &w->slot[i];

        s->renewed = n < RLT_WORK_BATCH && work_is_running(s) &&
                     work_renew_at(w, s) <= until;
        n += s->renewed;
    }
    return n;
}

/* Those of a step that was not answered, or else what has ended since. */
static uint32_t work_gather_ended(rlt_work *w, rlt_step step)
{
    rlt_slot_state from = step == RLT_STEP_DONE ? RLT_SLOT_DONE
                                                : RLT_SLOT_RETURN;
    uint32_t i, n = 0;

    for (i = 0; i < w->plan.slots; i++)
        n += work_takes_part(&w->slot[i], step) ? 1u : 0u;
    for (i = 0; w->step[step].sent_at == 0 && i < w->plan.slots; i++) {
        rlt_slot *s = &w->slot[i];

        if (n == RLT_WORK_BATCH || s->state != from)
            continue;
        s->state = RLT_SLOT_SENT;
        s->step = (uint8_t)step;
        n++;
    }
    return n;
}

/* How many jobs there is room for, as soon as what was sent has ended. */
static uint32_t work_room(const rlt_work *w)
{
    uint32_t n = work_count(w, RLT_SLOT_FREE) + work_count(w, RLT_SLOT_SENT);

    return RLT_MIN(n, RLT_WORK_BATCH);
}

/* Whether a step is called for, and how many jobs it is about. */
static int work_calls_for(rlt_work *w, rlt_step step, relet_time now,
                          uint32_t *count)
{
    int eager = w->state == RLT_WORK_EAGER;

    *count = 0;
    switch (step) {
    case RLT_STEP_RENEW:
        return work_renewal(w) <= now &&
               (*count = work_gather_renewals(w, now)) > 0;
    case RLT_STEP_DONE:
    case RLT_STEP_RETURN:
        return (*count = work_gather_ended(w, step)) > 0;
    case RLT_STEP_PROMOTE:
        return eager && w->due_at <= now;
    case RLT_STEP_RECALL:
        return w->astray;
    case RLT_STEP_CLAIM:
        return eager && !w->astray && !w->short_of &&
               (*count = work_room(w)) > 0;
    case RLT_STEP_LINE_UP:
        return eager && w->short_of && w->step[RLT_STEP_CLAIM].serial == 0;
    case RLT_STEP_LEAVE:
        return w->in_line && w->state == RLT_WORK_STOPPING;
    case RLT_STEP_REAP:
        return w->reap_at <= now && w->state != RLT_WORK_STOPPING;
    }
    return 0;
}

RELET_PRIVATE int rlt_work_want(rlt_work *w, relet_time now, uint32_t serial,
                                rlt_errand *out)
{
    int i;

    if (work_is_idle(w) || now < w->again_at)
        return 0;
    for (i = 0; i < RLT_STEPS; i++) {
        rlt_under_way *u = &w->step[i];

        if (u->serial != 0 ||
            !work_calls_for(w, (rlt_step)i, now, &out->count))
            continue;
        u->serial = serial;
        /* A claim that was not answered may have begun its leases then. */
        if (i != RLT_STEP_CLAIM || !w->repeats)
            u->sent_at = now;
        if (i == RLT_STEP_CLAIM) {
            w->wanted = out->count;
            w->repeats = 1;
        }
        out->step = (rlt_step)i;
        out->serial = serial;
        out->op = u->op;
        out->timeout_ms = RLT_MAX(w->plan.renew_ms, 1000);
        return 1;
    }
    return 0;
}

/* ----------------------------------------------------------------- answers */

static void work_failed(rlt_work *w, relet_time now)
{
    relet_time wait = WORK_AGAIN_MIN_MS << RLT_MIN(w->tries, 7);

    wait = RLT_MIN(wait, WORK_AGAIN_MAX_MS);
    wait -= (relet_time)rlt_rand_below(w->rand, (uint64_t)wait / 2 + 1);
    w->again_at = now + wait;
    w->tries++;
}

static void work_renewed(rlt_work *w, relet_span letters)
{
    relet_time until = w->step[RLT_STEP_RENEW].sent_at +
                       rlt_lease_trust_ms(w->plan.lease_ms);
    uint32_t i;
    size_t n = 0;

    for (i = 0; i < w->plan.slots; i++) {
        rlt_slot *s = &w->slot[i];
        char letter;

        if (!s->renewed)
            continue;
        s->renewed = 0;
        letter = n < letters.n ? letters.p[n] : 0;
        n++;
        if (!work_is_running(s) || letter == 0)
            continue;
        if (letter == 'l' || letter == 'g') {
            work_lose(w, s, work_why(letter));
        } else if (letter == 'o') {
            work_lose(w, s, RELET_WHY_TIMEOUT);
        } else {
            s->valid_until = RLT_MAX(s->valid_until, until);
            if (letter == 'c' && !s->asked)
                work_tell(w, s, RLT_TELL_JOB_CANCEL);
            if (letter == 'c')
                s->asked = 1;
        }
    }
}

static void work_let_go(rlt_work *w, rlt_slot *s, char letter)
{
    if (letter == 'l' || letter == 'g')
        work_lose(w, s, work_why(letter));
    else
        work_free(w, s);
}

static void work_ended(rlt_work *w, rlt_step step, relet_span letters)
{
    uint32_t i;
    size_t n = 0;

    for (i = 0; i < w->plan.slots; i++)
        if (work_takes_part(&w->slot[i], step)) {
            work_let_go(w, &w->slot[i], n < letters.n ? letters.p[n] : 'g');
            n++;
        }
}

static rlt_slot *work_place(rlt_work *w, uint64_t number)
{
    rlt_slot *found = NULL;
    uint32_t i;

    for (i = 0; i < w->plan.slots; i++) {
        if (w->slot[i].state == RLT_SLOT_FREE)
            found = found ? found : &w->slot[i];
        else if (w->slot[i].number == number)
            return NULL; /* it is here already */
    }
    return found;
}

/* What the end of a job will need. */
static void work_note(rlt_slot *s, relet_span record)
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
}

static int work_take_one(rlt_work *w, relet_value v, size_t i,
                         relet_time until)
{
    rlt_job_state state;
    rlt_slot *s;
    int64_t number;

    if (!relet_value_int(relet_value_at(v, i), &number) || number <= 0 ||
        !rlt_job_state_read(relet_value_text(relet_value_at(v, i + 2)),
                            &state))
        return 0;
    s = work_place(w, (uint64_t)number);
    if (s == NULL)
        return 0;
    s->state = w->state == RLT_WORK_STOPPING ? RLT_SLOT_RETURN
                                             : RLT_SLOT_HELD;
    s->number = (uint64_t)number;
    s->token = state.token;
    s->attempts = state.attempts;
    s->stalls = state.stalls;
    s->replays = state.replays;
    s->valid_until = until;
    work_note(s, relet_value_text(relet_value_at(v, i + 1)));
    return 1;
}

/* number, record, state, from the fourth element on. */
static uint32_t work_take(rlt_work *w, relet_value v)
{
    relet_time until = w->step[RLT_STEP_CLAIM].sent_at +
                       rlt_lease_trust_ms(w->plan.lease_ms);
    size_t i, count = relet_value_count(v);
    uint32_t n = 0;

    for (i = 3; i + 2 < count; i += 3)
        n += (uint32_t)work_take_one(w, v, i, until);
    return n;
}

/* Scores of delayed jobs are 1024 * ms. */
static void work_due(rlt_work *w, relet_time now, int64_t server_us,
                     relet_value due)
{
    int64_t score, ms;

    w->due_at = RELET_NEVER;
    if (!relet_value_int(due, &score) || score < 0)
        return;
    ms = score / 1024 - server_us / 1000;
    w->due_at = now + RLT_MAX(ms, 0);
}

/* Jobs wait that nobody may have now: a queue that is stopped, or its limit.
 * Who lined up would be told that there is work, so it asks again later, or
 * as soon as a job of its own has ended. */
static void work_hold_back(rlt_work *w, relet_time now)
{
    relet_time wait = WORK_AGAIN_MIN_MS << RLT_MIN(w->held_back, 5);

    wait = RLT_MIN(RLT_MIN(wait, WORK_HELD_BACK_MAX_MS), w->plan.poll_ms);
    wait -= (relet_time)rlt_rand_below(w->rand, (uint64_t)wait / 2 + 1);
    if (w->held_back < 5)
        w->held_back++;
    w->short_of = 0;
    if (w->state != RLT_WORK_EAGER)
        return;
    w->state = RLT_WORK_ASLEEP;
    w->poll_at = now + wait;
}

static uint32_t work_claimed(rlt_work *w, relet_time now, relet_value v)
{
    int64_t us = 0, passed = 0;
    uint32_t n;

    if (relet_value_count(v) < 3) { /* this claim had been done before */
        w->astray = 1;
        return 0;
    }
    (void)relet_value_int(relet_value_at(v, 0), &us);
    work_due(w, now, us, relet_value_at(v, 1));
    (void)relet_value_int(relet_value_at(v, 2), &passed);
    n = work_take(w, v);
    w->repeats = 0;
    w->step[RLT_STEP_CLAIM].op++;
    if (passed < 0) {
        work_hold_back(w, now);
        return n;
    }
    w->held_back = 0;
    w->short_of = (int64_t)n + passed < (int64_t)w->wanted;
    return n;
}

static uint32_t work_recalled(rlt_work *w, relet_value v)
{
    w->astray = w->repeats = 0;
    w->step[RLT_STEP_CLAIM].op++;
    return work_take(w, v);
}

static void work_lined_up(rlt_work *w, relet_time now, relet_value v)
{
    int64_t stands = 0;
    relet_time poll = w->plan.poll_ms;

    (void)relet_value_int(v, &stands);
    w->short_of = 0;
    w->in_line = stands != 0;
    if (!stands || w->state != RLT_WORK_EAGER)
        return;
    w->state = RLT_WORK_ASLEEP;
    w->poll_at = now + poll -
                 (relet_time)rlt_rand_below(w->rand, (uint64_t)poll / 4 + 1);
}

/* A full step is followed by the next at once. After that it is no use to look
 * before a lease has ended, and of all that look one in time is enough. */
static void work_reaped(rlt_work *w, relet_time now, relet_value v)
{
    int64_t again = 0, dead = 0, left = -1;
    relet_time wait = w->plan.reap_ms;

    (void)relet_value_int(relet_value_at(v, 0), &again);
    (void)relet_value_int(relet_value_at(v, 1), &dead);
    (void)relet_value_int(relet_value_at(v, 2), &left);
    if (again + dead >= RLT_WORK_BATCH)
        wait = 0;
    else if (left >= 0)
        wait = RLT_MIN(wait, left);
    w->reap_at = now + wait +
                 (relet_time)rlt_rand_below(
                     w->rand, (uint64_t)w->plan.reap_ms / 8 + 1);
}

static int work_is_answer(rlt_step step, relet_value v)
{
    relet_type t = relet_value_type(v);

    switch (step) {
    case RLT_STEP_DONE:
    case RLT_STEP_RETURN:
        return t == RELET_TEXT;
    case RLT_STEP_RENEW:
    case RLT_STEP_PROMOTE:
    case RLT_STEP_RECALL:
    case RLT_STEP_CLAIM:
    case RLT_STEP_REAP:
        return t == RELET_ARRAY;
    case RLT_STEP_LINE_UP:
    case RLT_STEP_LEAVE:
        return t == RELET_INT;
    }
    return 0;
}

/* How many jobs it brought. */
static uint32_t work_answer(rlt_work *w, relet_time now, rlt_step step,
                            relet_value v)
{
    switch (step) {
    case RLT_STEP_RENEW:
        work_renewed(w, relet_value_text(relet_value_at(v, 0)));
        break;
    case RLT_STEP_DONE:
    case RLT_STEP_RETURN:
        work_ended(w, step, relet_value_text(v));
        w->step[step].op++;
        w->step[step].sent_at = 0;
        break;
    case RLT_STEP_PROMOTE:
        w->due_at = RELET_NEVER;
        break;
    case RLT_STEP_RECALL:
        return work_recalled(w, v);
    case RLT_STEP_CLAIM:
        return work_claimed(w, now, v);
    case RLT_STEP_LINE_UP:
        work_lined_up(w, now, v);
        break;
    case RLT_STEP_LEAVE:
        w->in_line = 0;
        break;
    case RLT_STEP_REAP:
        work_reaped(w, now, v);
        break;
    }
    return 0;
}

RELET_PRIVATE int rlt_work_reply(rlt_work *w, relet_time now, rlt_step step,
                                 const rlt_reply *r)
{
    uint32_t brought = 0;

    if (r->serial == 0 || r->serial != w->step[step].serial)
        return 0;
    w->step[step].serial = 0;
    if (r->heard == RLT_HEARD_VALUE && work_is_answer(step, r->value)) {
        w->tries = 0;
        brought = work_answer(w, now, step, r->value);
    } else {
        work_failed(w, now);
    }
    if (w->state != RLT_WORK_STOPPING)
        return brought > 0;
    rlt_work_stop(w);
    return 0;
}

RELET_PRIVATE rlt_slot *rlt_work_find(const rlt_work *w, uint64_t number,
                                      uint64_t token)
{
    uint32_t i;

    for (i = 0; i < w->plan.slots; i++)
        if (w->slot[i].number == number && w->slot[i].token == token &&
            work_is_running(&w->slot[i]))
            return &w->slot[i];
    return NULL;
}

/* ---------------------------------------------------------------- the user */

RELET_PRIVATE void rlt_work_stop(rlt_work *w)
{
    uint32_t i, busy = 0;

    if (work_is_idle(w))
        return;
    w->state = RLT_WORK_STOPPING;
    for (i = 0; i < w->plan.slots; i++)
        busy += w->slot[i].state != RLT_SLOT_FREE;
    for (i = 0; i < RLT_STEPS; i++)
        busy += w->step[i].serial != 0;
    if (busy > 0 || w->astray || w->in_line)
        return;
    w->state = RLT_WORK_OVER;
    w->tell_end = 1;
}

RELET_PRIVATE void rlt_work_cut_off(rlt_work *w, relet_why why)
{
    uint32_t i;

    if (work_is_idle(w))
        return;
    for (i = 0; i < w->plan.slots; i++) {
        rlt_slot *s = &w->slot[i];

        if (s->state == RLT_SLOT_RETURN)
            work_free(w, s);
        else if (s->state != RLT_SLOT_FREE && s->state != RLT_SLOT_LOST &&
                 s->state != RLT_SLOT_LATE)
            work_lose(w, s, why);
    }
    w->state = RLT_WORK_OVER;
    w->tell_end = 1;
}

RELET_PRIVATE int rlt_work_end(rlt_work *w, uint32_t slot, rlt_slot_state how)
{
    rlt_slot *s = &w->slot[slot];

    if (s->state == RLT_SLOT_LOST) {
        work_free(w, s);
        return 0;
    }
    if (s->state != RLT_SLOT_HELD)
        return -1;
    work_untell(w, s, RLT_TELL_JOB_CANCEL);
    if (w->held_back && w->state == RLT_WORK_ASLEEP)
        w->state = RLT_WORK_EAGER; /* it makes room under the limit */
    s->state = (uint8_t)how;
    s->renewed = 0;
    return 1;
}

RELET_PRIVATE void rlt_work_closed(rlt_work *w, uint32_t slot, char letter)
{
    rlt_slot *s = &w->slot[slot];

    if (s->state != RLT_SLOT_CLOSING)
        return;
    if (letter == 0)
        work_lose(w, s, RELET_WHY_BROKEN);
    else
        work_let_go(w, s, letter);
}

RELET_PRIVATE int rlt_work_event(rlt_work *w, uint32_t *slot, int *tell,
                                 rlt_slot *job)
{
    uint32_t i;

    for (i = 0; w->tells > 0 && i < w->plan.slots; i++) {
        rlt_slot *s = &w->slot[i];

        if (s->tell == 0)
            continue;
        *slot = i;
        *tell = s->tell & RLT_TELL_JOB_LOST ? RLT_TELL_JOB_LOST
                                            : RLT_TELL_JOB_CANCEL;
        work_untell(w, s, *tell);
        *job = *s;
        if (s->state == RLT_SLOT_LATE)
            work_free(w, s);
        return 1;
    }
    return 0;
}

RELET_PRIVATE int rlt_work_ended(rlt_work *w)
{
    if (!w->tell_end)
        return 0;
    w->tell_end = 0;
    w->state = RLT_WORK_REST;
    return 1;
}
