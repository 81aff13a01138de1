/* SPDX-License-Identifier: MIT
 *
 * claims.h - the jobs that a worker holds: how long it may believe in each, how
 * each ends, and what is to be told of it.
 *
 *   state    event                          becomes   telling
 *   -------  -----------------------------  --------  ------------------------
 *   FREE     claimed                        HELD      JOBS, all of a claim
 *            claimed, but no more is begun, RETURN
 *            or it is LOST in another slot
 *            after its deadline             STALE
 *   HELD     done, nothing is kept          DONE
 *            done or failed, with bytes     CLOSING
 *            given back                     RETURN
 *            another's, gone, too old       LOST      JOB_LOST
 *            valid_until has come           LOST      JOB_LOST: EXPIRED
 *            to be cancelled                HELD      JOB_CANCEL, once
 *            its attempt takes too long     HELD      JOB_CANCEL: TIMEOUT, and
 *                                                     no renewal any more
 *   DONE,    sent                           SENT
 *   RETURN
 *   SENT     answered, or given back        FREE
 *            answered, but it was lost      LATE      JOB_LOST
 *            no answer                      SENT, and the same step again
 *   STALE    its burial is sent             CLOSING
 *   CLOSING  answered                       FREE, or LATE
 *   LOST     done, failed, given back       FREE      (nothing is sent)
 *   LATE     its event is taken             FREE */
#ifndef RLT_CLAIMS_H
#define RLT_CLAIMS_H

#include "base.h"
#include "job.h"

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
    relet_time ends_at; /* then the attempt has taken too long               */
    relet_time keep_ms, backoff_ms, backoff_max_ms; /* of its relet_job      */
    uint32_t attempts_max;
    int32_t rank;
    uint32_t attempts, stalls, replays;
    uint8_t backoff; /* relet_backoff                                        */
    uint8_t bare;    /* nothing is kept of it, and nobody waits              */
    uint8_t state;   /* rlt_claim_state                                      */
    uint8_t step;    /* rlt_step that it is SENT in                          */
    uint8_t given_back; /* nobody is told that this came too late            */
    uint8_t renewed; /* which it is in the renewal that is under way, from 1 *
                      * on: some may end before the answer comes            */
    uint8_t fresh;   /* the last claim brought it                            */
    uint8_t asked;   /* it is to be cancelled                                */
    uint8_t overdue; /* ends_at has come                                     */
    uint8_t tell;    /* RLT_TELL_JOB_…, or 0: nothing                        */
    uint8_t why;     /* relet_why of what is told                            */
} rlt_claim;

/* What is to be told of a slot. */
enum { RLT_TELL_JOB_CANCEL = 1, RLT_TELL_JOB_LOST = 2 };

typedef struct rlt_claims {
    rlt_claim *slot; /* count of them                                        */
    uint32_t count;
    uint32_t tells; /* slots that have something to tell                     */
} rlt_claims;

RELET_PRIVATE void rlt_claims_init(rlt_claims *t, rlt_claim *slot,
                                   uint32_t count);

/* How many are in a state; how many are not FREE. */
RELET_PRIVATE uint32_t rlt_claims_in(const rlt_claims *t,
                                     rlt_claim_state state);
RELET_PRIVATE uint32_t rlt_claims_busy(const rlt_claims *t);

/* When rlt_claims_expire is due; the first end of a lease that is to be renewed
 * before. */
RELET_PRIVATE relet_time rlt_claims_deadline(const rlt_claims *t);
RELET_PRIVATE relet_time rlt_claims_until(const rlt_claims *t);

/* Those whose lease has ended are lost; those whose attempt is to end hear it. */
RELET_PRIVATE void rlt_claims_expire(rlt_claims *t, relet_time now);

/* What a claim that was sent then brought: until when its leases are believed
 * in, and what the server's clock said. */
typedef struct rlt_claimed {
    relet_time sent_at, until;
    int64_t server_us;
    int to_go_back;    /* none is begun: it is too late, or it has stopped   */
    uint32_t twins;    /* how many went back for another of their number     */
    uint32_t homeless; /* … found no slot                                    */
    uint64_t from;     /* lower tokens were taken before; and out: the first
                        * that found no slot                                 */
} rlt_claimed;

/* number, record and state of jobs, from element `from` of v on, each of which
 * finds a free slot unless it is known by this token already. How many did,
 * but for those past their deadline, and for twins, which were lost here, and
 * whose handlers have not ended. Two of a number cannot be told apart, so they
 * go back. */
RELET_PRIVATE uint32_t rlt_claims_take(rlt_claims *t, relet_value v,
                                       size_t from, rlt_claimed *c);

/* The next one that is STALE, or NULL. */
RELET_PRIVATE rlt_claim *rlt_claims_stale(const rlt_claims *t);

/* The HELD ones that are believed in until `until` at most begin a renewal,
 * `most` of them: how many. The letters of its answer, in the same order, end
 * it: what was renewed is believed in until then. */
RELET_PRIVATE uint32_t rlt_claims_renew(rlt_claims *t, relet_time until,
                                        uint32_t most);
RELET_PRIVATE void rlt_claims_renewed(rlt_claims *t, relet_span letters,
                                      relet_time until);

/* Those of a state are SENT in a step, until there are `most`; how many are.
 * The letters of its answer, in the same order, end it. */
RELET_PRIVATE uint32_t rlt_claims_send(rlt_claims *t, rlt_claim_state from,
                                       uint8_t step, uint32_t most);
RELET_PRIVATE uint32_t rlt_claims_sent(const rlt_claims *t, uint8_t step);
RELET_PRIVATE void rlt_claims_answered(rlt_claims *t, uint8_t step,
                                       relet_span letters);

/* There will be no answer any more. */
RELET_PRIVATE void rlt_claims_cut_off(rlt_claims *t, relet_why why);

/* The one that is HELD under this number and token, or NULL; the one of this
 * number that the user may end: it is HELD or LOST. */
RELET_PRIVATE rlt_claim *rlt_claims_find(const rlt_claims *t, uint64_t number,
                                         uint64_t token);
RELET_PRIVATE rlt_claim *rlt_claims_open(const rlt_claims *t, uint64_t number);

/* How the user ends one that may be ended: 1, something is to be sent for it;
 * 0, it was lost, and is FREE. */
RELET_PRIVATE int rlt_claims_end(rlt_claims *t, rlt_claim *s,
                                 rlt_claim_state how);

/* A CLOSING one was answered: 'd', 'l', 'g', or 0: it was not. */
RELET_PRIVATE void rlt_claims_closed(rlt_claims *t, uint32_t i, char letter);

/* 1, when a slot has something to tell: what, and what is in it. */
RELET_PRIVATE int rlt_claims_event(rlt_claims *t, int *tell, rlt_claim *job);

#endif
