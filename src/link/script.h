/* SPDX-License-Identifier: MIT
 *
 * script.h - scripts by their SHA-1, and whole where the server lacks them. */
#ifndef RLT_SCRIPT_H
#define RLT_SCRIPT_H

#include "base.h"

typedef struct rlt_script {
    relet_span body; /* p is NULL: the text is packed                        */
    char sha[40];    /* zeros until a packed script was first sent whole     */
    uint8_t known;   /* it was sent whole over this link                     */
} rlt_script;

/* The library's own scripts, in lua/: first all that leases need. */
#ifndef RELET_NO_LEASE
#define RLT_SCRIPTS_LEASE 3
#else
#define RLT_SCRIPTS_LEASE 0
#endif
typedef enum rlt_own_script {
#ifndef RELET_NO_LEASE
    RLT_SCRIPT_LEASE_ACQUIRE,
    RLT_SCRIPT_LEASE_RELEASE,
    RLT_SCRIPT_LEASE_RENEW,
#endif
#ifndef RELET_NO_QUEUE
    RLT_SCRIPT_QUEUE_CANCEL,
    RLT_SCRIPT_QUEUE_CLAIM,
    RLT_SCRIPT_QUEUE_CLAIM_TYPE,
    RLT_SCRIPT_QUEUE_DONE,
    RLT_SCRIPT_QUEUE_DONE_PLAIN,
    RLT_SCRIPT_QUEUE_FAIL,
    RLT_SCRIPT_QUEUE_FORGET,
    RLT_SCRIPT_QUEUE_IDLE,
    RLT_SCRIPT_QUEUE_KEEP,
    RLT_SCRIPT_QUEUE_LIST,
    RLT_SCRIPT_QUEUE_LOOK,
    RLT_SCRIPT_QUEUE_PROGRESS,
    RLT_SCRIPT_QUEUE_PROMOTE,
    RLT_SCRIPT_QUEUE_PURGE,
    RLT_SCRIPT_QUEUE_PUT,
    RLT_SCRIPT_QUEUE_PUT_FULL,
    RLT_SCRIPT_QUEUE_RANK,
    RLT_SCRIPT_QUEUE_REAP,
    RLT_SCRIPT_QUEUE_RECALL,
    RLT_SCRIPT_QUEUE_RELEASE,
    RLT_SCRIPT_QUEUE_RENEW,
    RLT_SCRIPT_QUEUE_REPAIR,
    RLT_SCRIPT_QUEUE_REPLAY,
    RLT_SCRIPT_QUEUE_STATUS,
    RLT_SCRIPT_QUEUE_TRIM,
    RLT_SCRIPT_QUEUE_UNIQUE,
#endif
    RLT_SCRIPTS_OWN /* all of them                                           */
} rlt_own_script;

/* The user's scripts, from 0 on, and the library's own, from `max` on. */
typedef struct rlt_scripts {
    rlt_script *list;
    uint32_t count, max, own;
} rlt_scripts;

/* `list` has room for `max` scripts, and for as many more as rlt_scripts_own
 * will be called for. */
RELET_PRIVATE void rlt_scripts_init(rlt_scripts *s, rlt_script *list,
                                    uint32_t max);

/* Returns the script's number, or RELET_E_LIMIT. A body that is added twice has
 * one number. */
RELET_PRIVATE int rlt_script_add(rlt_scripts *s, relet_span body);

/* Prepare the library's first `count` scripts, before one of them is called. */
RELET_PRIVATE void rlt_scripts_own(rlt_scripts *s, uint32_t count);

/* The number of one of the library's own scripts. */
RELET_PRIVATE uint32_t rlt_script_own(const rlt_scripts *s,
                                      rlt_own_script which);

/* A new link: its server may know none of the scripts. */
RELET_PRIVATE void rlt_scripts_forget(rlt_scripts *s);

/* The words in front of a call's keys: EVALSHA and the SHA-1, or EVAL and the
 * body, then the number of keys, written into digits. The body of one of the
 * library's own is a gap, as cmd.h calls it. */
#define RLT_SCRIPT_WORDS 3
RELET_PRIVATE void rlt_script_words(const rlt_script *s, int whole,
                                    size_t keys, char digits[20],
                                    relet_span words[RLT_SCRIPT_WORDS]);

/* Turn the bytes of an EVALSHA into those of the EVAL that does the same: its
 * first *cut bytes are to be replaced by the patches. `head` holds the first
 * patch. One of the patches may be a gap. */
#define RLT_SCRIPT_HEAD 64
#define RLT_SCRIPT_PATCHES 3
RELET_PRIVATE void rlt_script_whole(const rlt_script *s, relet_span evalsha,
                                    char head[RLT_SCRIPT_HEAD], size_t *cut,
                                    relet_span patch[RLT_SCRIPT_PATCHES]);

RLT_SHORT int rlt_script_is_packed(const rlt_script *s)
{
    return RLT_SCRIPTS_OWN > 0 && s->body.p == NULL;
}

/* Write the text of a packed script into the gap of its EVAL command. From then
 * on the SHA-1 is known. */
RELET_PRIVATE void rlt_script_fill(rlt_scripts *s, uint32_t number,
                                   uint8_t *eval);

#endif
