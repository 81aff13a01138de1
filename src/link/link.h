/* SPDX-License-Identifier: MIT
 *
 * link.h - one connection to a server, and all state that belongs to the
 * connection: the life of its socket, its operations, its subscriptions, and
 * the scripts that its server knows. Layers above use the functions of this
 * file and do not name the parts of a link.
 *
 * link.c begins and ends a link and sends on it; deliver.c reads from it. */
#ifndef RLT_LINK_H
#define RLT_LINK_H

#include "base.h"
#include "command_rules.h"
#include "conn.h"
#include "handshake.h"
#include "pubsub.h"
#include "script.h"
#include "session.h"

typedef struct rlt_link {
    rlt_session session;
    rlt_conn conn;
    rlt_pubsub pubsub;
    rlt_scripts scripts;
    uint64_t pushes;
    uint8_t cause_len;
    char cause[119]; /* the first refusal inside the transaction at the front */
} rlt_link;

/* The settings and the memory of a link. Without memory.resize each block has
 * its maximum of bytes. */
typedef struct rlt_link_plan {
    rlt_conn_plan conn;
    const rlt_setup *setup;
    uint64_t seed;
    rlt_memory memory;
    rlt_subscription *subscriptions;
    rlt_script *scripts;
    uint32_t subscriptions_max, scripts_max;
    uint32_t own_channels; /* the last subscriptions are the library's own   */
    void *names, *hello, *secrets;
    size_t names_max, hello_max, secrets_max;
} rlt_link_plan;

RELET_PRIVATE void rlt_link_init(rlt_link *l, const rlt_link_plan *p);

/* The link ends; its memory is given back, and its secrets are overwritten. */
RELET_PRIVATE void rlt_link_free(rlt_link *l);

/* ---------------------------------------------------------------- its state */

RLT_SHORT int rlt_link_is_up(const rlt_link *l)
{
    return l->session.state == RLT_UP;
}

/* 1 if the link will not connect again. */
RLT_SHORT int rlt_link_is_over(const rlt_link *l)
{
    return l->session.state == RLT_OVER;
}

/* A number that changes with each connection that was UP. */
RLT_SHORT uint32_t rlt_link_epoch(const rlt_link *l)
{
    return (uint32_t)l->session.connects;
}

/* The allocator, and the most bytes of a reply. */
RLT_SHORT rlt_memory rlt_link_memory(const rlt_link *l)
{
    return l->conn.out.memory;
}

RLT_SHORT size_t rlt_link_reply_max(const rlt_link *l)
{
    return l->conn.reader.bytes.max;
}

/* The user's operations without an outcome. */
RLT_SHORT size_t rlt_link_outstanding(const rlt_link *l)
{
    return l->conn.outstanding;
}

/* Adds the counters of the link to *out. */
RELET_PRIVATE void rlt_link_stats(const rlt_link *l, relet_stats *out);

/* --------------------------------------------------------- time, the driver */

RELET_PRIVATE relet_time rlt_link_deadline(const rlt_link *l);
RELET_PRIVATE void rlt_link_tick(rlt_link *l, relet_time now);
RELET_PRIVATE void rlt_link_stop(rlt_link *l);

/* As the relet_io functions of relet.h. */
RLT_SHORT int rlt_link_want(rlt_link *l, relet_io *io)
{
    return rlt_session_want(&l->session, io);
}

RLT_SHORT void rlt_link_opened(rlt_link *l, int err, const char *text)
{
    rlt_session_opened(&l->session, err, text);
}

RLT_SHORT void rlt_link_closed(rlt_link *l, int err, const char *text)
{
    rlt_session_closed(&l->session, err, text);
}

RLT_SHORT size_t rlt_link_pending(const rlt_link *l, const uint8_t **p)
{
    return rlt_session_pending(&l->session, p);
}

RLT_SHORT void rlt_link_sent(rlt_link *l, size_t n)
{
    rlt_session_sent(&l->session, n);
}

RELET_PRIVATE size_t rlt_link_space(rlt_link *l, uint8_t **p);
RELET_PRIVATE void rlt_link_received(rlt_link *l, size_t n);

/* 0 or RELET_E_MEMORY. For the next handshake. */
RLT_SHORT int rlt_link_credentials(rlt_link *l, relet_span user,
                                       relet_span password)
{
    return rlt_handshake_credentials(&l->session.handshake, user, password);
}

/* When the link will have owed the answer to the library operation with this
 * tag for `ms`, counted from `since`; RELET_NEVER if it owes another one. */
RELET_PRIVATE relet_time rlt_link_silent_at(const rlt_link *l, uint64_t tag,
                                            relet_time since, relet_time ms);

/* Gives the link up, because it has been silent for too long. */
RELET_PRIVATE void rlt_link_silent(rlt_link *l);

/* ------------------------------------------------------------- what goes out
 *
 * A submission: begin, write exactly that many bytes, commit. */

RLT_SHORT int rlt_link_begin(rlt_link *l, size_t n, uint8_t **out)
{
    return rlt_conn_begin(&l->conn, n, out);
}

RLT_SHORT void rlt_link_commit(rlt_link *l, const rlt_op *op, size_t n)
{
    rlt_assert(!rlt_link_is_over(l));
    rlt_conn_commit(&l->conn, op, n);
}

/* Bytes that wait to be sent, and how many there may be. */
RLT_SHORT size_t rlt_link_queued(const rlt_link *l)
{
    return rlt_buf_used(&l->conn.out);
}

RLT_SHORT size_t rlt_link_room(const rlt_link *l)
{
    return l->conn.out.max;
}

/* Adds arguments to the newest command, which has argc of them: *op is batched
 * with it. `size` is the length of the command, from rlt_link_joinable; it
 * becomes n bytes longer, for which there is room. */
RLT_SHORT size_t rlt_link_joinable(const rlt_link *l, const rlt_op *op)
{
    return rlt_conn_joinable(&l->conn, op);
}

RELET_PRIVATE void rlt_link_join(rlt_link *l, const rlt_op *op, size_t size,
                                 size_t argc, const relet_args *more, size_t n);

/* Ends each operation of the user's with this tag; returns how many. */
RELET_PRIVATE size_t rlt_link_cancel(rlt_link *l, uint64_t tag);

/* The user's operations with this tag go on under the tag `heir` of the
 * library, so the user is told no outcome of them. */
RELET_PRIVATE void rlt_link_disown(rlt_link *l, uint64_t tag, uint64_t heir);

/* Whether the outcome of a user's operation with this tag is still to come. */
RLT_SHORT int rlt_link_has_tag(const rlt_link *l, uint64_t tag)
{
    return rlt_conn_has_tag(&l->conn, tag);
}

/* Whether an operation without an outcome has this place. */
RLT_SHORT int rlt_link_has_place(const rlt_link *l, uint32_t place)
{
    return rlt_conn_has_place(&l->conn, place);
}

/* WATCH. _watch_flags: the flags of a command with this effect. _watch: to be
 * called when that command is committed. _exec_flags: the flags of a
 * transaction. _unguarded: the reason to refuse a transaction, or NULL; each
 * reason is returned once. */
RELET_PRIVATE uint8_t rlt_link_watch_flags(const rlt_link *l,
                                           rlt_effect effect);
RELET_PRIVATE void rlt_link_watch(rlt_link *l, rlt_effect effect);
RELET_PRIVATE uint8_t rlt_link_exec_flags(rlt_link *l);
RELET_PRIVATE const char *rlt_link_unguarded(rlt_link *l);

/* Subscriptions. The codes are those of rlt_pubsub_…; if memory is short, the
 * commands are sent later. */
RELET_PRIVATE int rlt_link_subscribe(rlt_link *l, relet_channel kind,
                                     relet_span name);
RELET_PRIVATE int rlt_link_unsubscribe(rlt_link *l, relet_channel kind,
                                       relet_span name);
RELET_PRIVATE int rlt_link_own_channel(rlt_link *l, relet_span name);
RELET_PRIVATE void rlt_link_leave_channel(rlt_link *l, relet_span name);

/* Scripts: the user's have the numbers that rlt_link_script_add returns; the
 * library's own are prepared by rlt_link_scripts_own, the first `count`. */
RLT_SHORT int rlt_link_script_add(rlt_link *l, relet_span body)
{
    return rlt_script_add(&l->scripts, body);
}

RLT_SHORT void rlt_link_scripts_own(rlt_link *l, uint32_t count)
{
    rlt_scripts_own(&l->scripts, count);
}

RLT_SHORT uint32_t rlt_link_script(const rlt_link *l, rlt_own_script which)
{
    return rlt_script_own(&l->scripts, which);
}

RLT_SHORT int rlt_link_has_script(const rlt_link *l, int script)
{
    return script >= 0 && (uint32_t)script < l->scripts.count;
}

/* _words: the words of a call in front of its keys, and the class of *op. The
 * call names the script by its SHA-1 if the server knows the script and `whole`
 * is 0. _sent: to be called after the commit; it writes the text of a script of
 * the library's own into a whole call. From then on the server knows the
 * script, if `known` is set or the link is up. */
RELET_PRIVATE void rlt_link_script_words(const rlt_link *l, uint32_t script,
                                         int whole, size_t keys,
                                         char digits[20],
                                         relet_span words[RLT_SCRIPT_WORDS],
                                         rlt_op *op);
RELET_PRIVATE void rlt_link_script_sent(rlt_link *l, uint32_t script,
                                        int known);

/* ------------------------------------------------------------ what comes in */

typedef enum rlt_found {
    RLT_FOUND_NOTHING,
    RLT_FOUND_EVENT,   /* *ev is of the link, or a subscription or message   */
    RLT_FOUND_OUTCOME, /* *ev is that of a user's operation                  */
    RLT_FOUND_BATCH,   /* the same, and that of the operations batched with
                        * it: rlt_link_take_answered                         */
    RLT_FOUND_OURS     /* a library operation has ended: ev->tag, ev->value;
                        * no value: there was no answer                      */
} rlt_found;

/* Where rlt_link_next goes on, if the caller does not tell the user of what it
 * has found. */
typedef enum rlt_from {
    RLT_FROM_START,
    RLT_FROM_ENDED, /* an operation that ended without an answer was found   */
    RLT_FROM_INPUT
} rlt_from;

/* Finds the next thing to deliver. *from is RLT_FROM_START at the first call
 * for an event. DOWN and its GAP come before the outcomes that the lost link
 * caused, UP and its GAP after them. Input is judged one frame at a time, until
 * there is something to deliver. */
RELET_PRIVATE rlt_found rlt_link_next(rlt_link *l, relet_event *ev,
                                      rlt_from *from);

/* Whether an event waits that rlt_link_next returns before it reads input. Such
 * an event may be caused by a call that found nothing. */
RLT_SHORT int rlt_link_tells(const rlt_link *l)
{
    return l->session.tell_down || l->conn.ended || l->session.tell_up ||
           l->session.tell_gap;
}

/* 1, once: a push was lost for want of room. rlt_link_next returns
 * RLT_FOUND_EVENT for it, with a GAP. */
RLT_SHORT int rlt_link_take_missed(rlt_link *l)
{
    int missed = l->session.missed;

    l->session.missed = 0;
    return missed;
}

/* The values and names of the last event are not used any more. */
RLT_SHORT void rlt_link_release(rlt_link *l)
{
    rlt_reader_release(&l->conn.reader);
    if (RLT_HAS_MESSAGES && l->pubsub.lent)
        rlt_pubsub_release(&l->pubsub);
}

/* The next operation that was answered by its batch: 1 and *out, or 0. _has: 1
 * if there is one. */
RLT_SHORT int rlt_link_has_answered(const rlt_link *l)
{
    return rlt_conn_has_answered(&l->conn);
}

RLT_SHORT int rlt_link_take_answered(rlt_link *l, rlt_op *out)
{
    return rlt_conn_take_answered(&l->conn, out);
}

RELET_PRIVATE void rlt_event_clear(relet_event *ev);

#endif
