/* SPDX-License-Identifier: MIT
 *
 * hashslot.h - which hash slot a key is in, and where a redirect points.
 */
#ifndef RLT_HASHSLOT_H
#define RLT_HASHSLOT_H

#include "base.h"

#define RLT_HASHSLOTS 16384

/* 0 … 16383. Of a key with a hash tag, a {…} that is not empty, only the
 * inside of the first one counts. */
RELET_PRIVATE uint16_t rlt_hashslot_of(relet_span key);

typedef enum rlt_redirect_kind {
    RLT_MOVED,   /* the slot lives there from now on                      */
    RLT_ASK,     /* this one command goes there, behind an ASKING         */
    RLT_REDIRECT /* everything goes there; there is no slot               */
} rlt_redirect_kind;

typedef struct rlt_redirect {
    rlt_redirect_kind kind;
    uint16_t slot;
    relet_span host; /* inside the error text; empty: the sender's own    */
    int port;
} rlt_redirect;

/* 1 and *out, when the text of an error is a redirect in every detail. 0, when
 * it is any other error: a script may return what looks like one. */
RELET_PRIVATE int rlt_hashslot_redirect(relet_span error_text,
                                        rlt_redirect *out);

#endif
