/* SPDX-License-Identifier: MIT
 *
 * handshake.h - the first commands on a new link: they log in, and restore the
 * state that the user configured.
 *
 *   answer to …     good        an error                       then
 *   --------------  ----------  -----------------------------  -------------
 *   HELLO           proto is 3  BAD: NO_RESP3, AUTH, CLOSED    next
 *   CLIENT SETINFO  any         ignored, servers before 7.2    next
 *   SELECT          any         BAD: SETUP                     next
 *   TRACKING        any         BAD: SETUP                     next
 *   a subscription  its push    TELL: subscription refused     the next one
 *   PING            any         NOPERM: good; else BAD         DONE or LATER
 *
 * LOADING, BUSY and MASTERDOWN are noted at any step; the handshake then ends
 * in LATER and is sent again as a whole. */
#ifndef RLT_HANDSHAKE_H
#define RLT_HANDSHAKE_H

#include "base.h"
#include "buf.h"
#include "pubsub.h"

/* The part of the configuration that a session needs; the strings live as long
 * as the session does. */
typedef struct rlt_setup {
    relet_scheme scheme;
    const char *host;
    int port, db;
    relet_span name;
    relet_span tracking_prefix;
    relet_tracking tracking;
    int tracking_noloop;
    relet_time connect_timeout_ms, timeout_ms, ping_every_ms;
    relet_time retry_min_ms, retry_max_ms, stable_ms;
    int attempts_max;
} rlt_setup;

RLT_SHORT relet_tracking rlt_setup_tracking(const rlt_setup *s)
{
    return RLT_HAS_MESSAGES ? s->tracking : RELET_TRACK_OFF;
}

typedef struct rlt_handshake {
    const rlt_setup *setup;
    rlt_pubsub *pubsub;
    rlt_buf bytes;   /* holds the password: overwritten at the end           */
    rlt_buf secrets; /* user and password                                    */
    size_t user_len, sent;
    uint8_t step;
    uint8_t busy; /* a step was answered LOADING or the like                 */
    relet_why why;    /* of a BAD result …                                   */
    const char *text; /* … what went wrong …                                 */
    char quote[RLT_TEXT_MAX(120)]; /* … and the server's words, also if LATER */
    char server[RLT_TEXT_MAX(64)]; /* "redis 7.0.15"                         */
} rlt_handshake;

typedef enum rlt_handshake_result {
    RLT_HANDSHAKE_ON, /* more answers are due                                */
    RLT_HANDSHAKE_TELL,  /* the same, and *ev is to be told                   */
    RLT_HANDSHAKE_DONE,  /* the link may be used                              */
    RLT_HANDSHAKE_LATER, /* the server answers, but is not ready             */
    RLT_HANDSHAKE_BAD /* the link is of no use                               */
} rlt_handshake_result;

/* Write a new handshake, with all subscriptions that are not in force. Returns
 * 0 or a code. */
RELET_PRIVATE int rlt_handshake_begin(rlt_handshake *g);

/* Overwrite the handshake's bytes, and give memory back. */
RELET_PRIVATE void rlt_handshake_forget(rlt_handshake *g);

RELET_PRIVATE size_t rlt_handshake_pending(const rlt_handshake *g,
                                           const uint8_t **p);
RELET_PRIVATE void rlt_handshake_sent(rlt_handshake *g, size_t n);

/* _answer: an answer came. _skipped: an answer over a limit, `why` is an
 * rlt_scan_why. _confirmed: a push confirmed a subscription. */
RELET_PRIVATE rlt_handshake_result rlt_handshake_answer(rlt_handshake *g,
                                                        relet_value v,
                                                        relet_event *ev);
RELET_PRIVATE rlt_handshake_result rlt_handshake_skipped(rlt_handshake *g,
                                                         int why);
RELET_PRIVATE rlt_handshake_result rlt_handshake_confirmed(rlt_handshake *g);

/* Copies the credentials for later handshakes. 0 or RELET_E_MEMORY. */
RELET_PRIVATE int rlt_handshake_credentials(rlt_handshake *g, relet_span user,
                                            relet_span password);

/* 1 when an error says LOADING, BUSY or MASTERDOWN. */
RELET_PRIVATE int rlt_handshake_is_busy(relet_span error);

#endif
