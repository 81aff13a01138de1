/* SPDX-License-Identifier: MIT
 *
 * lease.c - one key held for a while, and when to stop believing it. */
#include "lease.h"

#ifndef RELET_NO_LEASE

/* Between two answers the server clock and ours may drift apart by
 * LEASE_CLOCK_MS, or by the passed time / LEASE_CLOCK_PART if that is more.
 * Beyond that, one of the clocks was set, or stands still. */
#define LEASE_CLOCK_MS 100
#define LEASE_CLOCK_PART 20

/* No wait is longer, and sums with this time do not overflow. */
#define LEASE_LEFT_MAX ((relet_time)1000000000000)

RELET_PRIVATE void rlt_lease_init(rlt_lease *l, const rlt_lease_plan *plan,
                                  rlt_rand *rand)
{
    memset(l, 0, sizeof *l);
    l->plan = *plan;
    l->rand = rand;
    l->sent_at = RELET_NEVER;
    l->valid_until = l->again_at = RELET_NEVER;
}

/* ------------------------------------------------------------------- ends */

static rlt_lease_result lease_end(rlt_lease *l, rlt_lease_result fate,
                                  relet_why why)
{
    l->state = RLT_LEASE_NONE;
    l->asked = RLT_WANT_NOTHING;
    l->copies_due = 0;
    l->tries = 0;
    l->why = why;
    return fate;
}

static rlt_lease_result lease_refused(rlt_lease *l, relet_why why)
{
    return lease_end(l, RLT_LEASE_WAS_REFUSED, why);
}

RELET_PRIVATE void rlt_lease_forget(rlt_lease *l)
{
    (void)lease_end(l, RLT_LEASE_WAS_NONE, RELET_WHY_NONE);
}

/* The release does not wait for a request under way: it is sent behind it. */
RELET_PRIVATE rlt_lease_result rlt_lease_release(rlt_lease *l, relet_time now)
{
    if (l->sent_at == RELET_NEVER)
        return lease_end(l, RLT_LEASE_WAS_RELEASED, RELET_WHY_NONE);
    rlt_lease_forget(l);
    l->granted = 1; /* the outcome is unknown: this term is over */
    l->state = RLT_LEASE_RELEASING;
    l->again_at = now;
    return RLT_LEASE_WAS_NONE;
}

/* Releases a grant that is not to be kept. */
static rlt_lease_result lease_decline(rlt_lease *l, relet_time now,
                                      relet_why why)
{
    (void)rlt_lease_release(l, now);
    l->why = why;
    return RLT_LEASE_WAS_REFUSED;
}

/* ---------------------------------------------------------------- answers */

/* A random time between half of ms and ms, so that clients that failed together
 * do not retry together. */
static relet_time lease_jitter(rlt_lease *l, relet_time ms)
{
    return ms - (relet_time)rlt_rand_below(l->rand, (uint64_t)(ms / 2 + 1));
}

static void lease_again_soon(rlt_lease *l, relet_time now, int at_once)
{
    relet_time most = RLT_MAX(1, l->plan.renew_ms / 2);
    relet_time wait = RLT_MAX(1, l->plan.ttl_ms / 500);
    int i;

    for (i = 0; i < l->tries && wait < most; i++)
        wait *= 2;
    l->tries++;
    l->again_at = at_once ? now : now + lease_jitter(l, RLT_MIN(wait, most));
}

/* Compares how far both clocks have gone since the last answer. The time on
 * ours is known within bounds only: the server read its clock at some time
 * between our request and its answer. */
static int lease_clocks_agree(rlt_lease *l, relet_time now, int64_t us)
{
    relet_time most = now - l->clock_sent, least = l->sent_at - l->clock_heard;
    int64_t theirs = us / 1000 - l->clock_us / 1000;
    relet_time apart = RLT_MAX(LEASE_CLOCK_MS, most / LEASE_CLOCK_PART);
    int known = l->measured;

    l->measured = 1;
    l->clock_sent = l->sent_at;
    l->clock_heard = now;
    l->clock_us = us;
    return !known || (theirs >= least - apart && theirs <= most + apart);
}

typedef struct lease_answer {
    int64_t status, token, left, us, place;
} lease_answer;

/* 1 when v is an answer of one of the scripts. */
static int lease_read(relet_value v, lease_answer *a)
{
    memset(a, 0, sizeof *a);
    (void)relet_value_int(relet_value_at(v, 4), &a->place);
    return relet_value_count(v) >= 4 &&
           relet_value_int(relet_value_at(v, 0), &a->status) &&
           relet_value_int(relet_value_at(v, 1), &a->token) &&
           relet_value_int(relet_value_at(v, 2), &a->left) &&
           relet_value_int(relet_value_at(v, 3), &a->us) &&
           a->token >= 0 && a->us >= 0 && a->place >= 0;
}

static relet_time lease_trusted_until(const rlt_lease *l)
{
    return l->sent_at + rlt_trust_ms(l->plan.ttl_ms);
}

static int lease_wants_copies(const rlt_lease *l)
{
    return l->plan.replicas > 0 || l->plan.fsync;
}

/* From now on the lease is ours, or ours for longer. */
static void lease_believe(rlt_lease *l)
{
    relet_time renew = l->plan.renew_ms;

    rlt_assert(l->granted);
    l->state = RLT_LEASE_HELD;
    l->copies_due = 0;
    l->tries = 0;
    l->valid_until = lease_trusted_until(l);
    renew -= (relet_time)rlt_rand_below(l->rand, (uint64_t)(renew / 8 + 1));
    l->again_at = l->sent_at + renew;
}

static rlt_lease_result lease_granted(rlt_lease *l, relet_time now)
{
    if (now >= lease_trusted_until(l))
        return lease_refused(l, RELET_WHY_EXPIRED);
    lease_believe(l);
    return RLT_LEASE_WAS_GRANTED;
}

static rlt_lease_result lease_acquired(rlt_lease *l, relet_time now,
                                       const lease_answer *a)
{
    int agree = lease_clocks_agree(l, now, a->us);

    rlt_assert(l->state == RLT_LEASE_ASKING);
    l->left_ms = RLT_MIN(a->left, LEASE_LEFT_MAX);
    l->place = a->place;
    if (a->status == -2)
        return lease_refused(l, RELET_WHY_QUARANTINE);
    if (a->status == 0)
        return lease_refused(l, RELET_WHY_TAKEN);
    l->granted = 1;
    if (a->status != 1)
        return lease_refused(l, RELET_WHY_GONE);
    l->token = (uint64_t)a->token;
    if (!agree)
        return lease_decline(l, now, RELET_WHY_CLOCK);
    if (!lease_wants_copies(l))
        return lease_granted(l, now);
    l->state = RLT_LEASE_CONFIRMING;
    return RLT_LEASE_WAS_NONE;
}

static rlt_lease_result lease_renewed(rlt_lease *l, relet_time now,
                                      const lease_answer *a)
{
    int agree = lease_clocks_agree(l, now, a->us);

    rlt_assert(l->state == RLT_LEASE_HELD);
    l->left_ms = a->left;
    l->place = 0;
    if (!agree) /* the lease may have ended because of that */
        return lease_end(l, RLT_LEASE_WAS_LOST, RELET_WHY_CLOCK);
    if (a->status == -1)
        return lease_end(l, RLT_LEASE_WAS_LOST, RELET_WHY_GONE);
    if (a->status != 1 || (uint64_t)a->token != l->token)
        return lease_end(l, RLT_LEASE_WAS_LOST, RELET_WHY_TAKEN);
    l->copies_due = lease_wants_copies(l) != 0;
    if (l->copies_due)
        return RLT_LEASE_WAS_NONE;
    lease_believe(l);
    return RLT_LEASE_WAS_RENEWED;
}

/* WAIT answers how many replicas have the write; WAITAOF answers on how many
 * disks the write is, first at the primary, then at the replicas. */
static int lease_enough(const rlt_lease *l, relet_value v)
{
    relet_value there = l->plan.fsync ? relet_value_at(v, 1) : v;
    int64_t here = 1, n = 0;

    if (l->plan.fsync && !relet_value_int(relet_value_at(v, 0), &here))
        return 0;
    return here >= 1 && relet_value_int(there, &n) && n >= l->plan.replicas;
}

/* The request is repeated. After a broken link, the next link sets the time,
 * not a back-off. */
static rlt_lease_result lease_kept(rlt_lease *l, relet_time now, relet_why why)
{
    l->why = why;
    l->copies_due = 0;
    lease_again_soon(l, now, why == RELET_WHY_BROKEN && l->tries == 0);
    return RLT_LEASE_WAS_KEPT;
}

static rlt_lease_result lease_confirmed(rlt_lease *l, relet_time now,
                                        relet_value v)
{
    int enough = lease_enough(l, v);

    rlt_assert(l->state == RLT_LEASE_CONFIRMING ||
               (l->state == RLT_LEASE_HELD && l->copies_due));
    if (l->state == RLT_LEASE_CONFIRMING)
        return enough ? lease_granted(l, now)
                      : lease_decline(l, now, RELET_WHY_NOT_REPLICATED);
    if (!enough)
        return lease_kept(l, now, RELET_WHY_NOT_REPLICATED);
    lease_believe(l);
    return RLT_LEASE_WAS_RENEWED;
}

/* No answer, or one that says nothing about the lease. */
static rlt_lease_result lease_failed(rlt_lease *l, relet_time now,
                                     relet_why why)
{
    switch (l->state) {
    case RLT_LEASE_ASKING:
    case RLT_LEASE_CONFIRMING:
        return lease_refused(l, why);
    case RLT_LEASE_HELD:
    case RLT_LEASE_RELEASING:
        return lease_kept(l, now, why);
    case RLT_LEASE_NONE:
        break;
    }
    return RLT_LEASE_WAS_NONE;
}

static rlt_lease_result lease_answered(rlt_lease *l, relet_time now,
                                       rlt_want what, relet_value v)
{
    lease_answer a;

    if (what == RLT_WANT_CONFIRM && relet_value_type(v) != RELET_T_ERROR)
        return lease_confirmed(l, now, v);
    if (what == RLT_WANT_CONFIRM && l->state == RLT_LEASE_CONFIRMING) {
        l->text = relet_value_text(v);
        return lease_decline(l, now, RELET_WHY_NOT_REPLICATED);
    }
    if (!lease_read(v, &a)) {
        l->text = relet_value_text(v);
        return lease_failed(l, now, RELET_WHY_REFUSED);
    }
    if (what == RLT_WANT_RELEASE)
        return lease_end(l, RLT_LEASE_WAS_RELEASED, RELET_WHY_NONE);
    return what == RLT_WANT_RENEW ? lease_renewed(l, now, &a)
                                  : lease_acquired(l, now, &a);
}

RELET_PRIVATE rlt_lease_result rlt_lease_reply(rlt_lease *l, relet_time now,
                                               const rlt_reply *r)
{
    rlt_want what = l->asked;
    rlt_lease_result fate = rlt_lease_tick(l, now, 1);

    if (fate != RLT_LEASE_WAS_NONE || what == RLT_WANT_NOTHING ||
        r->serial != l->serial)
        return fate;
    l->asked = RLT_WANT_NOTHING;
    l->text.p = NULL;
    l->text.n = 0;
    if (r->heard == RLT_HEARD_NOTHING)
        return lease_failed(l, now, RELET_WHY_BROKEN);
    return lease_answered(l, now, what, r->value);
}

/* ------------------------------------------------------------------- time */

/* When there is nothing to release any more: the lease that was last asked for
 * has ended by itself. The server may have begun its count late, so ttl_ms
 * counts twice. Without a link no release can be sent, so it is enough that
 * this client trusts the lease no longer. */
static relet_time lease_over_at(const rlt_lease *l, int up)
{
    return up ? l->sent_at + 2 * l->plan.ttl_ms : lease_trusted_until(l);
}

RELET_PRIVATE relet_time rlt_lease_deadline(const rlt_lease *l, int up)
{
    int idle = up && l->asked == RLT_WANT_NOTHING;

    switch (l->state) {
    case RLT_LEASE_NONE:
        break;
    case RLT_LEASE_ASKING:
    case RLT_LEASE_CONFIRMING:
        return idle ? 0 : RELET_NEVER;
    case RLT_LEASE_HELD:
        if (idle && l->copies_due)
            return 0;
        return idle ? RLT_MIN(l->again_at, l->valid_until) : l->valid_until;
    case RLT_LEASE_RELEASING:
        return RLT_MIN(idle ? l->again_at : RELET_NEVER,
                       lease_over_at(l, up));
    }
    return RELET_NEVER;
}

RELET_PRIVATE rlt_lease_result rlt_lease_tick(rlt_lease *l, relet_time now,
                                              int up)
{
    if (l->state == RLT_LEASE_HELD && now >= l->valid_until)
        return lease_end(l, RLT_LEASE_WAS_LOST, RELET_WHY_EXPIRED);
    if (l->state == RLT_LEASE_RELEASING && now >= lease_over_at(l, up))
        return lease_end(l, RLT_LEASE_WAS_RELEASED, RELET_WHY_NONE);
    return RLT_LEASE_WAS_NONE;
}

/* ------------------------------------------------------------------ wants */

RELET_PRIVATE void rlt_lease_ask(rlt_lease *l)
{
    rlt_assert(l->state == RLT_LEASE_NONE);
    if (l->term == 0 || l->granted)
        l->term++;
    l->granted = 0;
    l->token = 0;
    l->state = RLT_LEASE_ASKING;
}

static rlt_want lease_wants(const rlt_lease *l, relet_time now)
{
    switch (l->state) {
    case RLT_LEASE_NONE:
        break;
    case RLT_LEASE_ASKING:
        return RLT_WANT_ACQUIRE;
    case RLT_LEASE_CONFIRMING:
        return RLT_WANT_CONFIRM;
    case RLT_LEASE_HELD:
        if (l->copies_due)
            return RLT_WANT_CONFIRM;
        return now >= l->again_at ? RLT_WANT_RENEW : RLT_WANT_NOTHING;
    case RLT_LEASE_RELEASING:
        return now >= l->again_at ? RLT_WANT_RELEASE : RLT_WANT_NOTHING;
    }
    return RLT_WANT_NOTHING;
}

/* While an answer is due over the same link, another request would only wait
 * behind it. So there is one request at a time, with time enough for it. */
static relet_time lease_timeout(const rlt_lease *l, rlt_want what,
                                relet_time now)
{
    if (l->state == RLT_LEASE_HELD)
        return RLT_MAX(1, l->valid_until - now);
    if (what == RLT_WANT_CONFIRM)
        return RLT_MAX(1, lease_trusted_until(l) - now);
    return RLT_MAX(1, l->plan.ttl_ms / 2);
}

RELET_PRIVATE int rlt_lease_want(rlt_lease *l, relet_time now,
                                 uint32_t serial, rlt_request *out)
{
    rlt_want what = l->asked == RLT_WANT_NOTHING ? lease_wants(l, now)
                                                 : RLT_WANT_NOTHING;

    if (what == RLT_WANT_NOTHING)
        return 0;
    if (what == RLT_WANT_ACQUIRE || what == RLT_WANT_RENEW)
        l->sent_at = now;
    l->asked = what;
    l->serial = serial;
    out->what = what;
    out->serial = serial;
    out->term = l->term;
    out->token = l->token;
    out->timeout_ms = lease_timeout(l, what, now);
    rlt_assert(out->timeout_ms > 0);
    return 1;
}

#endif /* RELET_NO_LEASE */
