/* SPDX-License-Identifier: MIT
 *
 * elect.c - a lease and the campaign for it: when to ask, and which event to
 * tell. */
#include "elect.h"

#include "text.h"

#ifndef RELET_NO_LEASE

/* ---------------------------------------------------------------- telling */

static void elect_gained(rlt_elect *e)
{
    e->state = RLT_ELECT_LEADING;
    e->term++;
    e->tries = 0;
    e->give_up_at = RELET_NEVER;
    e->trouble = RELET_WHY_NONE;
    e->tell &= (uint8_t)~RLT_TELL_TROUBLE;
    e->tell |= RLT_TELL_GAINED;
}

static void elect_lost(rlt_elect *e, relet_why why)
{
    if (e->tell & RLT_TELL_GAINED) {
        e->tell &= (uint8_t)~RLT_TELL_GAINED;
        return;
    }
    e->tell |= RLT_TELL_LOST;
    e->lost_why = why;
    e->lost_term = e->term;
    e->lost_token = e->plan.alone ? 0 : e->lease.token;
}

static void elect_over(rlt_elect *e, relet_why why)
{
    rlt_assert(e->state != RLT_ELECT_REST);
    rlt_assert(e->state != RLT_ELECT_OVER);
    e->state = RLT_ELECT_OVER;
    e->end_why = why;
    e->tell &= (uint8_t)~RLT_TELL_TROUBLE;
    e->tell |= RLT_TELL_ENDED;
}

/* Trouble is told once, and again when its reason has changed. */
static void elect_trouble(rlt_elect *e, relet_why why, relet_span text)
{
    rlt_say say;

    if (e->trouble == why)
        return;
    e->trouble = why;
    rlt_say_init(&say, e->text, sizeof e->text);
    rlt_say_span(&say, text);
    e->tell |= RLT_TELL_TROUBLE;
}

static relet_span elect_lost_text(relet_why why)
{
    if (why == RELET_WHY_EXPIRED)
        return relet_str("it was not renewed in time");
    if (why == RELET_WHY_TAKEN)
        return relet_str("another owner holds it");
    if (why == RELET_WHY_GONE)
        return relet_str("the server has no such lease");
    if (why == RELET_WHY_CLOCK)
        return relet_str("the server's clock and ours disagree");
    if (why == RELET_WHY_GROUP)
        return relet_str("an earlier lease of its group was lost");
    return relet_str("stopped");
}

static void elect_show(const rlt_elect *e, relet_event *ev, relet_kind kind,
                       uint64_t term, uint64_t token)
{
    ev->kind = kind;
    ev->term = term;
    ev->token = token;
    ev->did_wait = e->did_wait;
}

RELET_PRIVATE int rlt_elect_event(rlt_elect *e, relet_event *ev)
{
    unsigned tell = e->tell & (0u - e->tell); /* the lowest of the bits */

    e->tell &= (uint8_t)~tell;
    if (tell == RLT_TELL_LOST) {
        elect_show(e, ev, RELET_EV_LEASE_LOST, e->lost_term, e->lost_token);
        ev->why = e->lost_why;
        ev->text = elect_lost_text(e->lost_why);
    } else if (tell == RLT_TELL_TROUBLE) {
        elect_show(e, ev, RELET_EV_LEASE_TROUBLE, 0, 0);
        ev->why = e->trouble;
        ev->text = relet_str(e->text);
    } else if (tell == RLT_TELL_GAINED) {
        elect_show(e, ev, RELET_EV_LEASE_GAINED, e->term,
                   e->plan.alone ? 0 : e->lease.token);
    } else if (tell == RLT_TELL_ENDED) {
        elect_show(e, ev, RELET_EV_LEASE_ENDED, e->term, 0);
        ev->why = e->end_why;
        rlt_assert(e->state == RLT_ELECT_OVER);
        e->state = RLT_ELECT_REST;
    }
    return tell != 0;
}

/* ---------------------------------------------------------------- waiting */

static relet_time elect_below(rlt_elect *e, relet_time ms)
{
    return (relet_time)rlt_rand_below(e->lease.rand, (uint64_t)ms + 1);
}

static void elect_ask_in(rlt_elect *e, relet_time now, relet_time ms)
{
    e->state = RLT_ELECT_WAITING;
    e->ask_at = e->woken ? now : now + ms;
    e->woken = 0;
}

/* A bound that doubles, with full jitter: a thousand campaigns may have failed
 * at once. */
static relet_time elect_backoff(rlt_elect *e)
{
    relet_time bound = RLT_MAX(1, e->plan.lease.ttl_ms / 100);
    int i;

    for (i = 0; i < e->tries && bound < e->plan.retry_ms; i++)
        bound *= 2;
    e->tries = RLT_MIN(e->tries + 1, 100);
    return 1 + elect_below(e, RLT_MIN(bound, e->plan.retry_ms));
}

/* If what was about to end is so again when it should have ended, the server
 * clock stands still: each further wait is longer. */
static relet_time elect_longer(rlt_elect *e, relet_time left)
{
    int ends = left >= 0 && left <= e->plan.lease.ttl_ms / 8;
    relet_time more = ends && e->nearly > 0 ? (relet_time)8 << e->nearly : 0;

    rlt_assert(e->nearly <= 16);
    e->nearly = ends ? RLT_MIN(e->nearly + 1, 16) : 0;
    return RLT_MIN(more, e->plan.retry_ms);
}

/* The wait until the other holder's lease ends. The first in line asks then;
 * the others wait half a lease more, as the first will have made them wait
 * again. */
static relet_time elect_after_other(rlt_elect *e)
{
    relet_time ttl = e->plan.lease.ttl_ms, left = e->lease.left_ms;
    relet_time more = elect_longer(e, left);

    if (left < 0 || left > e->plan.retry_ms)
        left = e->plan.retry_ms;
    left += more + 1 + elect_below(e, RLT_MIN(16, ttl / 8));
    if (e->lease.place > 0)
        left += ttl / 2 + elect_below(e, ttl / 4);
    return left;
}

/* A server whose clock was set back reports more than quarantine_ms, until its
 * clock is right again. So the wait is quarantine_ms at most. */
static relet_time elect_after_quarantine(rlt_elect *e)
{
    relet_time left = RLT_MIN(e->lease.left_ms, e->plan.quarantine_ms);

    return left + elect_longer(e, left) + 1 + elect_below(e, 16);
}

/* A clock that was set is fine again; a clock that stands still shows only when
 * it had time enough to move. */
static relet_time elect_after_clock(rlt_elect *e)
{
    relet_time ms = e->plan.lease.renew_ms;

    return RLT_MAX(ms, 500) + elect_below(e, ms / 8);
}

/* The reason of a refusal decides when to ask again. A refusal that says
 * nothing about the server is not told as trouble: the link tells of it. */
static void elect_refused(rlt_elect *e, relet_time now)
{
    relet_why why = e->lease.why;

    rlt_assert(!e->plan.alone);
    e->did_wait = 1;
    if (why == RELET_WHY_TAKEN) {
        e->tries = 0;
        e->trouble = RELET_WHY_NONE;
        elect_ask_in(e, now, elect_after_other(e));
    } else if (why == RELET_WHY_QUARANTINE) {
        elect_trouble(e, why, relet_str("the server has just taken over"));
        elect_ask_in(e, now, elect_after_quarantine(e));
    } else if (why == RELET_WHY_CLOCK) {
        elect_trouble(e, why, elect_lost_text(why));
        elect_ask_in(e, now, elect_after_clock(e));
    } else {
        if (why == RELET_WHY_REFUSED)
            elect_trouble(e, why, e->lease.text);
        if (why == RELET_WHY_NOT_REPLICATED)
            elect_trouble(e, why, e->lease.text.n > 0
                                      ? e->lease.text
                                      : relet_str("too few copies"));
        elect_ask_in(e, now, elect_backoff(e));
    }
}

/* A renewal or a release had no effect, and is repeated while there is time. A
 * broken link is not told as trouble: the link tells of it. */
static void elect_kept(rlt_elect *e)
{
    relet_why why = e->lease.why;

    rlt_assert(e->state != RLT_ELECT_OVER);
    if (why == RELET_WHY_REFUSED)
        elect_trouble(e, why, e->lease.text);
    if (why == RELET_WHY_NOT_REPLICATED)
        elect_trouble(e, why, relet_str("too few copies of a renewal"));
}

/* The server holds nothing for this campaign any more. */
static void elect_left(rlt_elect *e)
{
    if (!e->shut_out) {
        elect_over(e, e->end_why);
        return;
    }
    e->shut_out = 0;
    e->state = RLT_ELECT_GATED;
}

/* Releases the lease, or gives up the place in the line. */
static void elect_leave(rlt_elect *e, relet_time now, relet_why why)
{
    rlt_assert(e->state != RLT_ELECT_REST);
    rlt_assert(e->state != RLT_ELECT_OVER);
    e->state = RLT_ELECT_LEAVING;
    e->end_why = why;
    if (e->plan.alone ||
        rlt_lease_release(&e->lease, now) == RLT_LEASE_WAS_RELEASED)
        elect_left(e);
}

/* The first of two phases: the work is to stop, and the lease is kept until the
 * work has stopped. If no work has begun, there is only the second phase. */
static void elect_resign(rlt_elect *e, relet_time now, relet_why why)
{
    rlt_assert(e->state == RLT_ELECT_LEADING);
    elect_lost(e, why);
    e->state = RLT_ELECT_RESIGNING;
    e->end_why = why;
    e->grace_until = now + e->plan.grace_ms;
    if (!(e->tell & RLT_TELL_LOST))
        elect_leave(e, now, why);
}

/* ----------------------------------------------------------------- results */

static void elect_fate_lost(rlt_elect *e, relet_time now)
{
    relet_why why = e->lease.why;

    if (e->state == RLT_ELECT_RESIGNING) {
        elect_left(e);
        return;
    }
    elect_lost(e, why);
    if (e->plan.once) {
        elect_over(e, why);
        return;
    }
    e->did_wait = 0;
    if (why == RELET_WHY_TAKEN)
        elect_ask_in(e, now, elect_after_other(e));
    else if (why == RELET_WHY_CLOCK)
        elect_ask_in(e, now, elect_after_clock(e));
    else
        elect_ask_in(e, now, elect_backoff(e));
}

static void elect_fate(rlt_elect *e, relet_time now, rlt_lease_result fate)
{
    switch (fate) {
    case RLT_LEASE_WAS_NONE:
        return;
    case RLT_LEASE_WAS_GRANTED:
        elect_gained(e);
        return;
    case RLT_LEASE_WAS_REFUSED:
        elect_refused(e, now);
        return;
    case RLT_LEASE_WAS_RENEWED:
        e->trouble = RELET_WHY_NONE;
        return;
    case RLT_LEASE_WAS_KEPT:
        elect_kept(e);
        return;
    case RLT_LEASE_WAS_LOST:
        elect_fate_lost(e, now);
        return;
    case RLT_LEASE_WAS_RELEASED:
        if (e->state == RLT_ELECT_LEAVING)
            elect_left(e);
        return;
    }
}

/* ------------------------------------------------------------------ events */

RELET_PRIVATE void rlt_elect_start(rlt_elect *e, const rlt_elect_plan *plan,
                                   rlt_rand *rand, relet_time now)
{
    memset(e, 0, sizeof *e);
    e->plan = *plan;
    rlt_lease_init(&e->lease, &plan->lease, rand);
    e->state = RLT_ELECT_GATED;
    e->ask_at = e->give_up_at = e->grace_until = RELET_NEVER;
    if (plan->wait_ms != RELET_NEVER)
        e->give_up_at = now + plan->wait_ms;
    if (plan->alone)
        elect_gained(e);
}

RELET_PRIVATE void rlt_elect_began(rlt_elect *e, relet_time now)
{
    if (e->give_up_at != RELET_NEVER)
        e->give_up_at = now + e->plan.wait_ms;
}

RELET_PRIVATE void rlt_elect_turn(rlt_elect *e, relet_time now, int open)
{
    if (open && e->state == RLT_ELECT_GATED)
        elect_ask_in(e, now, 0);
    if (open || e->plan.alone)
        return;
    if (e->state == RLT_ELECT_WAITING || e->state == RLT_ELECT_ASKING) {
        e->shut_out = 1;
        elect_leave(e, now, RELET_WHY_GROUP);
    } else if (e->state == RLT_ELECT_LEADING) {
        e->shut_out = !e->plan.once;
        elect_resign(e, now, RELET_WHY_GROUP);
    }
}

RELET_PRIVATE void rlt_elect_wake(rlt_elect *e, relet_time now)
{
    if (e->state == RLT_ELECT_WAITING)
        e->ask_at = now;
    else if (e->state == RLT_ELECT_ASKING)
        e->woken = 1;
}

/* Every request over the old link has had its outcome. */
RELET_PRIVATE void rlt_elect_linked(rlt_elect *e, relet_time now)
{
    if (e->state == RLT_ELECT_WAITING)
        e->ask_at = RLT_MIN(e->ask_at, now + elect_below(e, 16));
    e->lease.again_at = RLT_MIN(e->lease.again_at, now);
}

RELET_PRIVATE void rlt_elect_stop(rlt_elect *e, relet_time now)
{
    switch (e->state) {
    case RLT_ELECT_REST:
    case RLT_ELECT_OVER:
        return;
    case RLT_ELECT_GATED:
        elect_over(e, RELET_WHY_STOPPED);
        return;
    case RLT_ELECT_WAITING:
    case RLT_ELECT_ASKING:
        elect_leave(e, now, RELET_WHY_STOPPED);
        return;
    case RLT_ELECT_LEADING:
        elect_resign(e, now, RELET_WHY_STOPPED);
        return;
    case RLT_ELECT_RESIGNING:
    case RLT_ELECT_LEAVING:
        e->shut_out = 0;
        e->end_why = RELET_WHY_STOPPED;
        return;
    }
}

RELET_PRIVATE void rlt_elect_stopped(rlt_elect *e, relet_time now)
{
    /* Until GAINED is taken, the work that stopped is of an earlier term. */
    if (e->state == RLT_ELECT_LEADING && !(e->tell & RLT_TELL_GAINED))
        rlt_elect_stop(e, now);
    if (e->state == RLT_ELECT_RESIGNING)
        elect_leave(e, now, e->end_why);
}

RELET_PRIVATE void rlt_elect_cut_off(rlt_elect *e, relet_why why, int stopped)
{
    if (e->state == RLT_ELECT_REST || e->state == RLT_ELECT_OVER)
        return;
    if (e->state == RLT_ELECT_LEADING && !stopped)
        return;
    if (e->state == RLT_ELECT_LEADING)
        elect_lost(e, why);
    rlt_lease_forget(&e->lease);
    elect_over(e, why);
}

/* -------------------------------------------------------------------- time */

RELET_PRIVATE relet_time rlt_elect_deadline(const rlt_elect *e, int up)
{
    relet_time at = e->plan.alone ? RELET_NEVER
                                  : rlt_lease_deadline(&e->lease, up);

    switch (e->state) {
    case RLT_ELECT_REST:
    case RLT_ELECT_OVER:
        return RELET_NEVER;
    case RLT_ELECT_GATED:
    case RLT_ELECT_ASKING:
        return RLT_MIN(at, e->give_up_at);
    case RLT_ELECT_WAITING:
        if (up && e->lease.state == RLT_LEASE_NONE)
            at = RLT_MIN(at, e->ask_at);
        return RLT_MIN(at, e->give_up_at);
    case RLT_ELECT_LEADING:
    case RLT_ELECT_LEAVING:
        break;
    case RLT_ELECT_RESIGNING:
        return RLT_MIN(at, e->grace_until);
    }
    return at;
}

RELET_PRIVATE void rlt_elect_tick(rlt_elect *e, relet_time now, int up)
{
    elect_fate(e, now, rlt_lease_tick(&e->lease, now, up));
    if (e->state == RLT_ELECT_RESIGNING && now >= e->grace_until)
        elect_leave(e, now, e->end_why);
    if (now < e->give_up_at)
        return;
    if (e->state == RLT_ELECT_WAITING || e->state == RLT_ELECT_ASKING)
        elect_leave(e, now, RELET_WHY_TIMEOUT);
    else if (e->state == RLT_ELECT_GATED)
        elect_over(e, RELET_WHY_TIMEOUT);
}

RELET_PRIVATE void rlt_elect_reply(rlt_elect *e, relet_time now,
                                   const rlt_reply *r)
{
    elect_fate(e, now, rlt_lease_reply(&e->lease, now, r));
}

RELET_PRIVATE int rlt_elect_want(rlt_elect *e, relet_time now,
                                 uint32_t serial, rlt_request *out)
{
    if (e->state == RLT_ELECT_WAITING && now >= e->ask_at &&
        e->lease.state == RLT_LEASE_NONE) {
        rlt_lease_ask(&e->lease);
        e->state = RLT_ELECT_ASKING;
        e->woken = 0;
    }
    return rlt_lease_want(&e->lease, now, serial, out);
}

RELET_PRIVATE relet_time rlt_elect_valid_until(const rlt_elect *e)
{
    if (e->state != RLT_ELECT_LEADING && e->state != RLT_ELECT_RESIGNING)
        return INT64_MIN;
    return e->plan.alone ? RELET_NEVER : e->lease.valid_until;
}

#endif /* RELET_NO_LEASE */
