/* SPDX-License-Identifier: MIT
 *
 * handshake.h - the greeting of a new link: who we are, what we want restored.
 *
 *   answer to …     good        an error                       then
 *   --------------  ----------  -----------------------------  -------------
 *   HELLO           a map, 3    BAD: NO_RESP3, AUTH, CLOSED    next
 *   CLIENT SETINFO  any         ignored, servers before 7.2    next
 *   SELECT          any         BAD: SETUP                     next
 *   TRACKING        any         BAD: SETUP                     next
 *   a subscription  its push    TELL: the wish is refused      the next wish
 *   PING            any         NOPERM: good; else BAD         DONE or LATER
 *
 * LOADING, BUSY and MASTERDOWN are noted at any step; the greeting then ends
 * in LATER and is said again as a whole. */
#ifndef RLT_HANDSHAKE_H
#define RLT_HANDSHAKE_H

#include "base.h"
#include "buf.h"
#include "pubsub.h"

/* What a session needs to know of the configuration; the strings live as long
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

typedef struct rlt_handshake {
    const rlt_setup *setup;
    rlt_pubsub *pubsub;
    rlt_buf bytes;   /* holds the password: overwritten when it is over      */
    rlt_buf secrets; /* user and password                                    */
    size_t user_len, sent;
    uint8_t step;
    uint8_t busy; /* a step was answered LOADING or the like                 */
    relet_why why;    /* of a BAD one …                                      */
    const char *text; /* … what went wrong …                                 */
    char quote[120];  /* … and the server's words, also of a LATER one       */
    char server[64];  /* "redis 7.0.15"                                      */
} rlt_handshake;

typedef enum rlt_handshake_result {
    RLT_HANDSHAKE_ON, /* more answers are due                                */
    RLT_HANDSHAKE_TELL,  /* so they are, and *ev is to be told                */
    RLT_HANDSHAKE_DONE,  /* the link may be used                              */
    RLT_HANDSHAKE_LATER, /* the server is there, but not yet of use          */
    RLT_HANDSHAKE_BAD /* the link is of no use                               */
} rlt_handshake_result;

/* Write a new greeting, with all wishes that are not in force. 0 or a code. */
RELET_PRIVATE int rlt_handshake_begin(rlt_handshake *g);

/* Overwrite it. */
RELET_PRIVATE void rlt_handshake_forget(rlt_handshake *g);

RELET_PRIVATE size_t rlt_handshake_pending(const rlt_handshake *g,
                                           const uint8_t **p);
RELET_PRIVATE void rlt_handshake_sent(rlt_handshake *g, size_t n);

/* An answer came; one over a limit (an rlt_scan_why); a wish was confirmed by
 * a push. */
RELET_PRIVATE rlt_handshake_result rlt_handshake_answer(rlt_handshake *g,
                                                        relet_value v,
                                                        relet_event *ev);
RELET_PRIVATE rlt_handshake_result rlt_handshake_skipped(rlt_handshake *g,
                                                         int why);
RELET_PRIVATE rlt_handshake_result rlt_handshake_confirmed(rlt_handshake *g);

/* 0 or RELET_E_MEMORY. */
RELET_PRIVATE int rlt_handshake_credentials(rlt_handshake *g, relet_span user,
                                            relet_span password);

/* 1 when an error says LOADING, BUSY or MASTERDOWN. */
RELET_PRIVATE int rlt_handshake_is_busy(relet_span error);

#endif
