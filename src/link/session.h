/* SPDX-License-Identifier: MIT
 *
 * session.h - the life of a link: wanted, opened, up, lost, wanted again.
 *
 *   state        leaves on             to           doing
 *   -----------  --------------------  -----------  ---------------------------
 *   WAITING      until                 WANTED
 *   WANTED       driver took it        OPENING
 *   OPENING      opened                HANDSHAKING  write the handshake
 *                not opened, until     WAITING      back off
 *   HANDSHAKING  last answer good      UP           tell UP, GAP
 *                LOADING, BUSY, …      BUSY_WAIT    tell DOWN once
 *                refusal, until        WAITING      close, DOWN, back off
 *   BUSY_WAIT    until                 HANDSHAKING  repeat it on the same link
 *   UP           closed, silent, bad   WAITING      close, DOWN, GAP, outcomes,
 *                                                   back off
 *   any          stop, attempts_max    OVER         close, DOWN, GAP, outcomes
 *
 * GAP is told when messages or invalidations may be missed. With DOWN: when
 * the link that ends was UP with tracking, or a subscription was in force on
 * it. DOWN for BUSY leaves the link open, so it brings no GAP.
 *
 * A close by the server counts only when everything that the server sent has
 * been judged (`hangup`). Operations are written to the link in UP alone. */
#ifndef RLT_SESSION_H
#define RLT_SESSION_H

#include "base.h"
#include "conn.h"
#include "handshake.h"
#include "pubsub.h"
#include "rand.h"
#include "script.h"

typedef enum rlt_session_state {
    RLT_WAITING,
    RLT_WANTED,
    RLT_OPENING,
    RLT_HANDSHAKING,
    RLT_BUSY_WAIT,
    RLT_UP,
    RLT_OVER
} rlt_session_state;

/* Why a watch is lost: its link broke; its WATCH ended or was refused; or its
 * WATCH ended, and its outcome is not told yet. Until it is told, another WATCH
 * does not begin a new watch: both may be meant for one transaction. */
enum { RLT_WATCH_LINK = 1, RLT_WATCH_ENDED, RLT_WATCH_UNTOLD };

typedef struct rlt_session {
    const rlt_setup *setup;
    rlt_conn *conn;
    rlt_pubsub *pubsub;
    rlt_scripts *scripts;
    relet_time now, until;
    relet_time up_at;   /* when this link came up                            */
    relet_time last_in; /* when a byte last came                             */
    relet_time overdue_at; /* when an answer became overdue, or now          */
    relet_time ping_at; /* when an idle link is to be pinged                 */
    relet_time wishes_at; /* when subscriptions without memory retry          */
    relet_time hold_until; /* UP, but the server is busy: do not write yet   */
    relet_time input_seen; /* when a tick first saw unjudged input           */
    relet_why why;      /* of DOWN                                           */
    int failures;       /* failures in a row since a stable link             */
    int busy_tries;
    uint8_t state;      /* rlt_session_state                                 */
    uint8_t opened;     /* the driver holds a link                           */
    uint8_t close;      /* … which the driver is to close                    */
    uint8_t hangup;     /* the server closed the link                        */
    uint8_t tell_down;  /* bits: DOWN, and a GAP directly behind it          */
    uint8_t tell_up, tell_gap;
    uint8_t missed;     /* a push was lost: rlt_link_take_missed             */
    uint8_t has_lost;   /* a GAP behind a DOWN was due at some time          */
    uint8_t heard;      /* bytes came since the last tick                    */
    uint8_t watching;   /* a WATCH is in force or under way                  */
    uint8_t watch_lost; /* 0, or why the watch is lost: RLT_WATCH_…          */
    relet_time retry_in_ms;
    uint64_t connects, attempts, protocol_errors;
    rlt_rand rand;
    rlt_handshake handshake;
    char text[RLT_TEXT_MAX(192)]; /* of DOWN                                 */
    char last_words[RLT_TEXT_MAX(120)]; /* an error that answers nothing     */
} rlt_session;

RELET_PRIVATE void rlt_session_init(rlt_session *s);

RELET_PRIVATE relet_time rlt_session_deadline(const rlt_session *s);
RELET_PRIVATE void rlt_session_tick(rlt_session *s, relet_time now);
RELET_PRIVATE int rlt_session_want(rlt_session *s, relet_io *io);
RELET_PRIVATE void rlt_session_opened(rlt_session *s, int err,
                                      const char *text);
RELET_PRIVATE void rlt_session_closed(rlt_session *s, int err,
                                      const char *text);

RELET_PRIVATE size_t rlt_session_pending(const rlt_session *s,
                                         const uint8_t **p);
RELET_PRIVATE void rlt_session_sent(rlt_session *s, size_t n);

/* Whether there is a link that answers may come from. */
RELET_PRIVATE int rlt_session_hears(const rlt_session *s);

/* An answer during the handshake. _skip: the answer is over a limit. Returns 1
 * if *ev, about a refused subscription, is to be told. */
RELET_PRIVATE int rlt_session_handshake(rlt_session *s, relet_value v,
                                        relet_event *ev);
RELET_PRIVATE void rlt_session_handshake_skip(rlt_session *s);

/* A push has confirmed a subscription, in any state. */
RELET_PRIVATE void rlt_session_confirmed(rlt_session *s);

/* An answer that no operation waits for. */
RELET_PRIVATE void rlt_session_stray(rlt_session *s, relet_value v);

/* The WATCH of a transaction that is still to come may no longer be in force:
 * then note `lost`, RLT_WATCH_ENDED or RLT_WATCH_UNTOLD. */
RELET_PRIVATE void rlt_session_watch(rlt_session *s, int lost);

/* All input is judged, so a hangup counts now. Returns 1 if there was one. */
RELET_PRIVATE int rlt_session_drained(rlt_session *s);

/* The link is of no use any more. `detail` may be NULL. */
RELET_PRIVATE void rlt_session_fail(rlt_session *s, relet_why why,
                                    const char *text, const char *detail);
RELET_PRIVATE void rlt_session_bad_input(rlt_session *s);
RELET_PRIVATE void rlt_session_stop(rlt_session *s);

/* When a link that owes an answer since `since` will have been silent for `ms`;
 * RELET_NEVER if the link is not UP, or while there is input to judge. */
RELET_PRIVATE relet_time rlt_session_silent_at(const rlt_session *s,
                                               relet_time since,
                                               relet_time ms);

/* The server refuses every command for a while: write nothing until a back-off
 * has passed. */
RELET_PRIVATE void rlt_session_hold(rlt_session *s);

/* Send the commands that subscriptions need, as far as there is room. */
RELET_PRIVATE void rlt_session_subscribes(rlt_session *s);

/* DOWN and its GAP come before the outcomes that the lost link caused; UP and
 * its GAP come after them. */
RELET_PRIVATE int rlt_session_event(rlt_session *s, relet_event *ev);
RELET_PRIVATE int rlt_session_last_event(rlt_session *s, relet_event *ev);

#endif
