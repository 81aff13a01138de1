/* SPDX-License-Identifier: MIT
 *
 * hashslot.h - which hash slot a key is in, and where a redirect points.
 */
#ifndef RLT_HASHSLOT_H
#define RLT_HASHSLOT_H

#include "base.h"

#define RLT_HASHSLOTS 16384

/* The hash slot of a key, 0 … 16383. If the first {…} in the key is not empty,
 * it is a hash tag: only the bytes inside it count. */
RELET_PRIVATE uint16_t rlt_hashslot_of(relet_span key);

typedef enum rlt_redirect_kind {
    RLT_MOVED,   /* the named node serves the slot from now on            */
    RLT_ASK,     /* send only this command there, after an ASKING         */
    RLT_REDIRECT /* send every command there; it names no slot            */
} rlt_redirect_kind;

typedef struct rlt_redirect {
    rlt_redirect_kind kind;
    uint16_t slot;
    relet_span host; /* inside the error text; empty: the sender's host   */
    int port;
} rlt_redirect;

/* Returns 1 and sets *out if the text of an error is a redirect in every
 * detail. Returns 0 for any other text: a script may return an error that only
 * looks like a redirect. */
RELET_PRIVATE int rlt_hashslot_redirect(relet_span error_text,
                                        rlt_redirect *out);

#endif
