/* SPDX-License-Identifier: MIT
 *
 * claims.h - the jobs that a worker holds: until when each lease is trusted,
 * how each job ends, and which event tells of it.
 *
 *   state    event                          becomes   told
 *   -------  -----------------------------  --------  ------------------------
 *   FREE     claimed                        HELD      JOBS, one for them all
 *            claimed while stopping, too    RETURN
 *            late, or its number is in
 *            another claim
 *            claimed after its deadline     STALE
 *   HELD     done, nothing is kept          DONE
 *            done or failed, with bytes     CLOSING
 *            given back                     RETURN
 *            renewal: lost, gone, too old   LOST      JOB_LOST
 *            valid_until has come           LOST      JOB_LOST: EXPIRED
 *            renewal: to be cancelled       HELD      JOB_CANCEL, once
 *            its attempt takes too long     HELD      JOB_CANCEL: TIMEOUT, and
 *                                                     no renewal any more
 *   DONE,    sent                           SENT
 *   RETURN
 *   SENT     answered: done, or a return    FREE
 *            answered: lost or gone         LATE      JOB_LOST
 *            no answer                      SENT, and the same step again
 *   STALE    RELET_BURY is sent for it      CLOSING
 *   CLOSING  answered                       FREE, or LATE
 *   LOST     done, failed, given back       FREE      (nothing is sent)
 *   LATE     its event is taken             FREE */
#ifndef RLT_CLAIMS_H
#define RLT_CLAIMS_H

#include "base.h"
#include "job.h"

#ifndef RELET_NO_QUEUE

#define RLT_WORKER_BATCH 128 /* jobs in a step at most                       */

typedef enum rlt_claim_state {
    RLT_CLAIM_FREE,
    RLT_CLAIM_HELD,
    RLT_CLAIM_DONE,
    RLT_CLAIM_RETURN,
    RLT_CLAIM_SENT,
    RLT_CLAIM_STALE,
    RLT_CLAIM_CLOSING,
    RLT_CLAIM_LOST,
    RLT_CLAIM_LATE
} rlt_claim_state;

typedef struct rlt_claim {
    uint64_t number, token;
    relet_time valid_until;
    relet_time ends_at; /* the attempt times out then                        */
    relet_time keep_ms, backoff_ms, backoff_max_ms; /* of its relet_job      */
    uint32_t attempts_max;
    int32_t rank;
    uint32_t attempts, stalls, replays;
    uint8_t backoff; /* relet_backoff                                        */
    uint8_t bare;    /* no id, no reply channel, no result is kept           */
    uint8_t state;   /* rlt_claim_state                                      */
    uint8_t step;    /* rlt_step that it is SENT in                          */
    uint8_t given_back; /* goes back: no JOB_LOST if that comes too late     */
    uint8_t renewed; /* place in the renewal under way, from 1; 0: not in it.
                      * Claims in front may end before the answer comes      */
    uint8_t fresh;   /* brought by the last CLAIM or RECALL                  */
    uint8_t asked;   /* the server asked to cancel it                        */
    uint8_t overdue; /* ends_at has come                                     */
    uint8_t tell;    /* RLT_TELL_JOB_…, or 0: nothing                        */
    uint8_t why;     /* relet_why of the event                               */
} rlt_claim;

/* The event that a claim has to tell. */
enum { RLT_TELL_JOB_CANCEL = 1, RLT_TELL_JOB_LOST = 2 };

typedef struct rlt_claims {
    rlt_claim *slot; /* an array of `count`                                  */
    uint32_t count;
    uint32_t tells; /* claims that have an event to tell                     */
} rlt_claims;

RELET_PRIVATE void rlt_claims_init(rlt_claims *t, rlt_claim *slot,
                                   uint32_t count);

/* How many claims are in a state; how many are not FREE. */
RELET_PRIVATE uint32_t rlt_claims_in(const rlt_claims *t,
                                     rlt_claim_state state);
RELET_PRIVATE uint32_t rlt_claims_busy(const rlt_claims *t);

/* _deadline: when rlt_claims_expire is due. _until: the first valid_until of
 * the claims that are to be renewed before. */
RELET_PRIVATE relet_time rlt_claims_deadline(const rlt_claims *t);
RELET_PRIVATE relet_time rlt_claims_until(const rlt_claims *t);

/* A HELD claim whose lease has ended becomes LOST; a claim whose attempt has
 * timed out tells JOB_CANCEL. */
RELET_PRIVATE void rlt_claims_expire(rlt_claims *t, relet_time now);

/* The outcome of a CLAIM: when it was sent, until when its leases are trusted,
 * and the server clock of the answer. */
typedef struct rlt_claimed {
    relet_time sent_at, until;
    int64_t server_us;
    int to_go_back;    /* begin no job: too late, or the worker is stopping  */
    uint32_t twins;    /* jobs sent back: their number is in another claim   */
    uint32_t homeless; /* jobs that found no free claim                      */
    uint64_t from;     /* in: lower tokens were taken before; out: the first
                        * token that found no free claim                     */
} rlt_claimed;

/* Takes the jobs of an answer, from element `from` of v on: number, record and
 * state of each. A job gets a free claim unless its token is known already.
 * Returns how many jobs are to be begun. A job past its deadline is not. Nor is
 * a twin, a job that was lost here while its handler has not ended: it goes
 * back, as two claims of one number cannot be told apart. */
RELET_PRIVATE uint32_t rlt_claims_take(rlt_claims *t, relet_value v,
                                       size_t from, rlt_claimed *c);

/* The next STALE claim, or NULL. */
RELET_PRIVATE rlt_claim *rlt_claims_stale(const rlt_claims *t);

/* _renew begins a renewal of at most `most` HELD claims that are trusted until
 * `until` or less, and returns how many. _renewed ends the renewal with the
 * letters of its answer, in the same order: a renewed claim is trusted until
 * its `until`. */
RELET_PRIVATE uint32_t rlt_claims_renew(rlt_claims *t, relet_time until,
                                        uint32_t most);
RELET_PRIVATE void rlt_claims_renewed(rlt_claims *t, relet_span letters,
                                      relet_time until);

/* The claim is SENT in this step. */
RLT_SHORT int rlt_claims_is_sent(const rlt_claim *s, uint8_t step)
{
    return s->state == RLT_CLAIM_SENT && s->step == step;
}

/* _send: claims in state `from` become SENT in a step, until `most` are SENT in
 * it; returns how many are. _answered ends the step with the letters of its
 * answer, in the same order. */
RELET_PRIVATE uint32_t rlt_claims_send(rlt_claims *t, rlt_claim_state from,
                                       uint8_t step, uint32_t most);
RELET_PRIVATE uint32_t rlt_claims_sent(const rlt_claims *t, uint8_t step);
RELET_PRIVATE void rlt_claims_answered(rlt_claims *t, uint8_t step,
                                       relet_span letters);

/* No answer will come any more: claims that are to go back or are STALE become
 * FREE, all others are lost. */
RELET_PRIVATE void rlt_claims_cut_off(rlt_claims *t, relet_why why);

/* _find: the HELD claim of this number and token, or NULL. _open: the claim of
 * this number that the user may end, HELD or LOST, or NULL. */
RELET_PRIVATE rlt_claim *rlt_claims_find(const rlt_claims *t, uint64_t number,
                                         uint64_t token);
RELET_PRIVATE rlt_claim *rlt_claims_open(const rlt_claims *t, uint64_t number);

/* The user ends a HELD or LOST claim: it becomes `how`. Returns 1 if a step is
 * to be sent for the claim, 0 if the claim was LOST and is FREE now. */
RELET_PRIVATE int rlt_claims_end(rlt_claims *t, rlt_claim *s,
                                 rlt_claim_state how);

/* A CLOSING claim was answered: 'd' done, 'l' lost, 'g' gone; 0: no answer. */
RELET_PRIVATE void rlt_claims_closed(rlt_claims *t, uint32_t i, char letter);

/* Returns 1, the next event in *tell and a copy of its claim in *job; 0 if no
 * claim has an event to tell. */
RELET_PRIVATE int rlt_claims_event(rlt_claims *t, int *tell, rlt_claim *job);

#endif /* RELET_NO_QUEUE */

#endif
