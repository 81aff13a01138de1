/* SPDX-License-Identifier: MIT
 *
 * worker.c - when a worker does what. */
#include "worker.h"

#include "text.h"

#define WORK_AGAIN_MIN_MS 50
#define WORK_AGAIN_MAX_MS 5000
#define WORK_HELD_BACK_MAX_MS 1000
#define WORK_MS_MAX INT64_C(1000000000000000) /* by any clock: sums fit       */

RELET_PRIVATE void rlt_work_start(rlt_work *w, const rlt_work_plan *plan,
                                  rlt_slot *slots, rlt_rand *rand,
                                  relet_time now)
{
    int i;

    memset(w, 0, sizeof *w);
    rlt_slots_init(&w->held, slots, plan->slots);
    w->plan = *plan;
    w->allowed = plan->slots;
    w->rand = rand;
    rlt_walk_begin(&w->walk, now);
    w->state = RLT_WORK_EAGER;
    w->poll_at = now;
    w->due_at = RELET_NEVER;
    rlt_sweep_begin(&w->sweep, plan->reap_ms, now);
    for (i = 0; i < RLT_STEPS; i++)
        w->step[i].op = 1;
}

/* -------------------------------------------------------------------- time */

/* When the first lease is to be renewed. */
static relet_time work_renewal(const rlt_work *w)
{
    relet_time until = rlt_slots_until(&w->held);

    if (until == RELET_NEVER)
        return until;
    return until - rlt_lease_trust_ms(w->plan.lease_ms) + w->plan.renew_ms;
}

static int work_is_idle(const rlt_work *w)
{
    return w->state == RLT_WORK_REST || w->state == RLT_WORK_OVER;
}

/* A claim brought jobs that are not known here, and there is room for one; or
 * it was not answered, and is not to be made again. */
static int work_is_astray(const rlt_work *w)
{
    if (w->astray)
        return rlt_slots_in(&w->held, RLT_SLOT_FREE) > 0;
    return w->repeats && w->state == RLT_WORK_STOPPING &&
           w->step[RLT_STEP_CLAIM].serial == 0;
}

/* Those that a handler is at. */
static uint32_t work_in_hand(const rlt_work *w)
{
    return rlt_slots_in(&w->held, RLT_SLOT_HELD) +
           rlt_slots_in(&w->held, RLT_SLOT_LOST);
}

RELET_PRIVATE uint32_t rlt_work_load(const rlt_work *w)
{
    return work_in_hand(w) + (w->repeats || w->astray ? w->wanted : 0);
}

/* How many slots there are, as soon as what was sent has ended. */
static uint32_t work_slots(const rlt_work *w)
{
    return rlt_slots_in(&w->held, RLT_SLOT_FREE) +
           rlt_slots_in(&w->held, RLT_SLOT_SENT);
}

RELET_PRIVATE int rlt_work_hungry(const rlt_work *w)
{
    return w->state == RLT_WORK_EAGER && !w->short_of && work_slots(w) > 0;
}

/* How many jobs may be claimed. */
static uint32_t work_room(const rlt_work *w)
{
    uint32_t n = RLT_MIN(work_slots(w), w->plan.batch), has = work_in_hand(w);

    if (w->repeats) /* it may have been granted, and counts as load so long */
        return RLT_MIN(n, w->wanted);
    return RLT_MIN(n, w->allowed > has ? w->allowed - has : 0);
}

/* Without a clock: what is held up by a step that is under way is not. */
static int work_to_send(const rlt_work *w)
{
    const rlt_under_way *u = w->step;

    if ((u[RLT_STEP_DONE].serial == 0 &&
         rlt_slots_in(&w->held, RLT_SLOT_DONE) > 0) ||
        (u[RLT_STEP_RETURN].serial == 0 &&
         rlt_slots_in(&w->held, RLT_SLOT_RETURN) > 0))
        return 1;
    if (work_is_astray(w))
        return u[RLT_STEP_RECALL].serial == 0;
    if (w->astray)
        return 0;
    if (w->state != RLT_WORK_EAGER || u[RLT_STEP_CLAIM].serial != 0)
        return 0;
    if (w->walk.unranked)
        return u[RLT_STEP_RANK].serial == 0;
    return w->short_of ? u[RLT_STEP_LINE_UP].serial == 0
                       : rlt_slots_in(&w->held, RLT_SLOT_FREE) > 0 &&
                             work_room(w) > 0;
}

RELET_PRIVATE relet_time rlt_work_deadline(const rlt_work *w, int up,
                                           relet_time now)
{
    relet_time t;

    if (work_is_idle(w))
        return RELET_NEVER;
    t = rlt_slots_deadline(&w->held);
    if (!up)
        return t;
    if (w->again_at > now)
        return RLT_MIN(t, w->again_at);
    if (work_to_send(w))
        return now;
    if (w->step[RLT_STEP_RENEW].serial == 0)
        t = RLT_MIN(t, work_renewal(w));
    if (w->step[RLT_STEP_REAP].serial == 0 && w->state != RLT_WORK_STOPPING)
        t = RLT_MIN(t, w->sweep.reap_at);
    if (w->step[RLT_STEP_TRIM].serial == 0 && w->state != RLT_WORK_STOPPING)
        t = RLT_MIN(t, w->sweep.trim_at);
    if (w->state == RLT_WORK_ASLEEP)
        t = RLT_MIN(t, RLT_MIN(w->poll_at, w->due_at));
    if (w->state == RLT_WORK_EAGER && w->step[RLT_STEP_PROMOTE].serial == 0)
        t = RLT_MIN(t, w->due_at); /* also while it is full of work */
    return t;
}

RELET_PRIVATE void rlt_work_tick(rlt_work *w, relet_time now)
{
    if (work_is_idle(w))
        return;
    rlt_slots_expire(&w->held, now);
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
    w->walk.woken = w->plan.by_type;
    w->walk.heeds = 0;
    w->walk.again_at = 0;
    w->short_of = 0;
    w->again_at = 0;
    w->tries = 0;
}

/* ---------------------------------------------------------------- to be sent */

RELET_PRIVATE int rlt_work_sends(const rlt_slot *s, rlt_step step)
{
    if (step == RLT_STEP_RENEW)
        return s->renewed > 0;
    return s->state == RLT_SLOT_SENT && s->step == (uint8_t)step;
}

/* All that is at least half way to its renewal, so that one step does for
 * many. */
static uint32_t work_gather_renewals(rlt_work *w, relet_time now)
{
    relet_time until = now + rlt_lease_trust_ms(w->plan.lease_ms) -
                       w->plan.renew_ms / 2;

    return rlt_slots_renew(&w->held, until, w->plan.batch);
}

/* Those of a step that was not answered, or else what has ended since. */
static uint32_t work_gather_ended(rlt_work *w, rlt_step step)
{
    if (w->step[step].sent_at != 0)
        return rlt_slots_sent(&w->held, (uint8_t)step);
    return rlt_slots_send(&w->held,
                          step == RLT_STEP_DONE ? RLT_SLOT_DONE
                                                : RLT_SLOT_RETURN,
                          (uint8_t)step, w->plan.batch);
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
        return work_is_astray(w);
    case RLT_STEP_RANK:
        return eager && w->walk.unranked;
    case RLT_STEP_CLAIM:
        return eager && !w->astray && !w->short_of && !w->walk.unranked &&
               (*count = work_room(w)) > 0;
    case RLT_STEP_LINE_UP:
        return eager && w->short_of && w->step[RLT_STEP_CLAIM].serial == 0;
    case RLT_STEP_LEAVE:
        return w->in_line && w->state == RLT_WORK_STOPPING;
    case RLT_STEP_REAP:
        return w->sweep.reap_at <= now && w->state != RLT_WORK_STOPPING;
    case RLT_STEP_TRIM:
        return w->sweep.trim_at <= now && w->state != RLT_WORK_STOPPING;
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
        if (i == RLT_STEP_CLAIM || i == RLT_STEP_LINE_UP)
            w->walk.heeds = w->walk.woken;
        if (i == RLT_STEP_CLAIM) {
            if (w->walk.again_at <= now)
                rlt_walk_begin(&w->walk, now);
            w->wanted = w->repeats ? RLT_MAX(w->wanted, out->count)
                                   : out->count;
            w->doubled = w->repeats;
            w->repeats = 1;
        }
        out->step = (rlt_step)i;
        out->serial = serial;
        out->op = w->step[i == RLT_STEP_RECALL ? RLT_STEP_CLAIM : i].op;
        out->timeout_ms = RLT_MAX(w->plan.renew_ms, 1000);
        out->latest_ms = rlt_sweep_latest(&w->sweep, now, w->plan.lease_ms);
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

/* number, record, state, from the fourth element on. */
static uint32_t work_take(rlt_work *w, relet_time now, relet_value v,
                          int64_t us, rlt_claimed *c)
{
    uint32_t n;

    memset(c, 0, sizeof *c);
    c->sent_at = w->step[RLT_STEP_CLAIM].sent_at;
    c->until = c->sent_at + rlt_lease_trust_ms(w->plan.lease_ms);
    c->to_go_back = w->state == RLT_WORK_STOPPING || c->until <= now;
    c->server_us = us;
    c->from = w->astray_from;
    n = rlt_slots_take(&w->held, v, 3, c);
    w->taken += n;
    return n;
}

/* What found no slot, since a step that was to free it was not answered, is
 * asked for again. */
static void work_claim_over(rlt_work *w, const rlt_claimed *c)
{
    w->astray = c->homeless > 0;
    w->astray_from = w->astray ? c->from : 0;
    w->repeats = 0;
    w->step[RLT_STEP_CLAIM].op += c->homeless == 0;
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

/* Jobs wait that nobody may have now: a queue that is stopped, or its limit; or
 * not this worker: the handlers it lost them by have not ended.
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

/* What was asked for is of one type: `said` is a letter and a mark. */
static void work_picked(rlt_work *w, relet_time now, relet_span said,
                        const rlt_claimed *c, int found)
{
    char letter = said.n > 0 ? *said.p : 'e';

    w->walk.unranked = letter == 'w';
    if (letter == 'w')
        return;
    if (said.n > 0)
        said = rlt_span(said.p + 1, said.n - 1);
    rlt_walk_on(&w->walk, said, found, letter == 'e', now, w->plan.poll_ms);
    if (found)
        w->held_back = 0;
    w->short_of = letter == 'e';
    if (letter == 'h' || c->twins > 0)
        work_hold_back(w, now);
}

static uint32_t work_claimed(rlt_work *w, relet_time now, relet_value v)
{
    int64_t us = 0, passed = 0;
    rlt_claimed c;
    uint32_t n;

    /* This claim had been done before; or it brought nothing, which no server
     * notes, and may still come once more over a link that is gone. */
    if (relet_value_count(v) < 3 ||
        (w->doubled && relet_value_count(v) == 3)) {
        w->astray = 1;
        return 0;
    }
    (void)relet_value_int(relet_value_at(v, 0), &us);
    work_due(w, now, us, relet_value_at(v, 1));
    (void)relet_value_int(relet_value_at(v, 2), &passed);
    n = work_take(w, now, v, us, &c);
    work_claim_over(w, &c);
    if (w->plan.by_type) {
        work_picked(w, now, relet_value_text(relet_value_at(v, 2)), &c,
                    relet_value_count(v) > 3);
        return n;
    }
    if (passed < 0 || c.twins > 0) {
        work_hold_back(w, now);
        return n;
    }
    w->held_back = 0;
    w->short_of = passed < (int64_t)w->wanted - n - c.homeless;
    return n;
}

static uint32_t work_recalled(rlt_work *w, relet_time now, relet_value v)
{
    int64_t us = 0;
    rlt_claimed c;
    uint32_t n;

    (void)relet_value_int(relet_value_at(v, 1), &us);
    n = work_take(w, now, v, us, &c);
    work_claim_over(w, &c);
    return n;
}

static void work_lined_up(rlt_work *w, relet_time now, relet_value v)
{
    int64_t us = 0, stands = 0;
    relet_time poll = w->plan.poll_ms;

    (void)relet_value_int(relet_value_at(v, 0), &us);
    (void)relet_value_int(relet_value_at(v, 2), &stands);
    work_due(w, now, us, relet_value_at(v, 1));
    w->short_of = 0;
    w->in_line = stands != 0;
    w->walk.woken = w->walk.woken && !w->walk.heeds;
    if (!stands && w->plan.by_type && !rlt_walk_at_start(&w->walk))
        work_hold_back(w, now); /* what waits is of other types */
    if (!stands || w->state != RLT_WORK_EAGER)
        return;
    rlt_walk_begin(&w->walk, now);
    w->held_back = 0;
    w->state = RLT_WORK_ASLEEP;
    w->poll_at = now + poll -
                 (relet_time)rlt_rand_below(w->rand, (uint64_t)poll / 4 + 1);
}

static void work_promoted(rlt_work *w, relet_time now, relet_value v)
{
    int64_t ms = -1;

    (void)relet_value_int(relet_value_at(v, 1), &ms);
    w->due_at = ms < 0 ? RELET_NEVER : now + RLT_MIN(ms, WORK_MS_MAX);
}

static void work_ranked(rlt_work *w, relet_value v)
{
    int64_t left = 0;

    (void)relet_value_int(relet_value_at(v, 1), &left);
    w->walk.unranked = left > 0;
}

/* What is relet waits: also for who looked. */
static void work_reaped(rlt_work *w, relet_time now, relet_value v)
{
    if (rlt_sweep_reaped(&w->sweep, now, w->step[RLT_STEP_REAP].sent_at,
                         w->plan.reap_ms, v, w->rand) > 0)
        rlt_work_wake(w);
}

/* Letters, one for each job, or an array. */
static int work_is_answer(rlt_step step, relet_value v)
{
    int letters = step == RLT_STEP_DONE || step == RLT_STEP_RETURN;

    return relet_value_type(v) == (letters ? RELET_TEXT : RELET_ARRAY);
}

/* How many jobs it brought. */
static uint32_t work_answer(rlt_work *w, relet_time now, rlt_step step,
                            relet_value v)
{
    switch (step) {
    case RLT_STEP_RENEW:
        rlt_slots_renewed(&w->held, relet_value_text(relet_value_at(v, 0)),
                          w->step[RLT_STEP_RENEW].sent_at +
                              rlt_lease_trust_ms(w->plan.lease_ms));
        break;
    case RLT_STEP_DONE:
    case RLT_STEP_RETURN:
        rlt_slots_answered(&w->held, (uint8_t)step, relet_value_text(v));
        w->step[step].op++;
        w->step[step].sent_at = 0;
        break;
    case RLT_STEP_PROMOTE:
        work_promoted(w, now, v);
        break;
    case RLT_STEP_RECALL:
        return work_recalled(w, now, v);
    case RLT_STEP_RANK:
        work_ranked(w, v);
        break;
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
    case RLT_STEP_TRIM:
        rlt_sweep_trimmed(&w->sweep, now, w->plan.reap_ms, v, w->rand);
        break;
    }
    return 0;
}

/* What is only for others' sake holds up nothing else. */
static void work_refused(rlt_work *w, relet_time now, rlt_step step)
{
    relet_time again = rlt_sweep_again(now, w->plan.reap_ms, w->rand);

    if (step == RLT_STEP_REAP)
        w->sweep.reap_at = again;
    else if (step == RLT_STEP_TRIM)
        w->sweep.trim_at = again;
    else
        work_failed(w, now);
}

RELET_PRIVATE int rlt_work_reply(rlt_work *w, relet_time now, rlt_step step,
                                 const rlt_reply *r)
{
    uint32_t brought = 0, bit = 1u << step;
    int trouble = 0;

    if (r->serial == 0 || r->serial != w->step[step].serial)
        return 0;
    w->step[step].serial = 0;
    if (r->heard == RLT_HEARD_VALUE && work_is_answer(step, r->value)) {
        w->tries = 0;
        w->refused &= (uint16_t)~bit;
        brought = work_answer(w, now, step, r->value);
    } else {
        work_refused(w, now, step);
        trouble = r->heard == RLT_HEARD_VALUE && !(w->refused & bit);
        w->refused |= (uint16_t)(trouble ? bit : 0);
    }
    rlt_work_settle(w);
    rlt_assert(brought == 0 || w->state == RLT_WORK_EAGER ||
               w->state == RLT_WORK_ASLEEP); /* else it goes back untold     */
    return trouble ? RLT_WORK_TROUBLE : brought > 0 ? RLT_WORK_BROUGHT : 0;
}

/* ---------------------------------------------------------------- the user */

RELET_PRIVATE void rlt_work_settle(rlt_work *w)
{
    uint32_t i, busy;

    if (w->state != RLT_WORK_STOPPING)
        return;
    busy = rlt_slots_busy(&w->held);
    for (i = 0; i < RLT_STEPS; i++)
        busy += w->step[i].serial != 0;
    if (busy > 0 || w->astray || work_is_astray(w) || w->in_line)
        return;
    w->state = RLT_WORK_OVER;
    w->tell_end = 1;
}

RELET_PRIVATE void rlt_work_stop(rlt_work *w)
{
    if (work_is_idle(w))
        return;
    w->state = RLT_WORK_STOPPING;
    rlt_work_settle(w);
}

RELET_PRIVATE void rlt_work_cut_off(rlt_work *w, relet_why why)
{
    if (work_is_idle(w))
        return;
    rlt_slots_cut_off(&w->held, why);
    w->state = RLT_WORK_OVER;
    w->tell_end = 1;
}

RELET_PRIVATE void rlt_work_eased(rlt_work *w)
{
    if (w->held_back && w->state == RLT_WORK_ASLEEP)
        w->state = RLT_WORK_EAGER;
}

RELET_PRIVATE int rlt_work_ended(rlt_work *w)
{
    if (!w->tell_end)
        return 0;
    w->tell_end = 0;
    w->state = RLT_WORK_REST;
    return 1;
}
