/* SPDX-License-Identifier: MIT
 *
 * session.c - the life of a link: wanted, opened, up, lost, wanted again.
 *
 * Every failure of a link ends in rlt_session_fail. It gives the operations
 * their outcomes, forgets the subscriptions and scripts that the server had,
 * and sets the time of the next attempt. */
#include "session.h"

#include "subscribe.h"
#include "text.h"

#define SESSION_ROOM_MS 100 /* wait for memory after a lack of it            */

RELET_PRIVATE void rlt_session_init(rlt_session *s)
{
    s->state = RLT_WAITING;
    s->until = s->ping_at = s->wishes_at = RELET_NEVER;
}

/* --------------------------------------------------------------- failures */

static void session_text(rlt_session *s, const char *text, const char *detail)
{
    rlt_say say;

    rlt_say_init(&say, s->text, sizeof s->text);
    rlt_say_text(&say, text);
    if (detail == NULL || detail[0] == '\0')
        return;
    rlt_say_text(&say, ": ");
    rlt_say_span(&say, relet_str(detail));
}

/* Failures that a quick second attempt cannot mend. */
static int session_is_stubborn(relet_why why)
{
    return why == RELET_WHY_AUTH || why == RELET_WHY_NO_RESP3 ||
           why == RELET_WHY_SETUP || why == RELET_WHY_PROTOCOL;
}

static relet_time session_below(rlt_session *s, relet_time bound)
{
    return (relet_time)rlt_rand_below(&s->rand, (uint64_t)bound + 1);
}

/* Full jitter under a bound that doubles. A stubborn failure waits for at least
 * half of retry_max_ms. */
static relet_time session_backoff(rlt_session *s, int tries, int stubborn)
{
    relet_time bound = s->setup->retry_min_ms;

    if (stubborn)
        return s->setup->retry_max_ms / 2 +
               session_below(s, s->setup->retry_max_ms / 2);
    while (tries-- > 1 && bound < s->setup->retry_max_ms)
        bound *= 2;
    return session_below(s, RLT_MIN(bound, s->setup->retry_max_ms));
}

/* Bits of tell_down: a DOWN, and a GAP directly behind it. */
enum { SESSION_TELL_DOWN = 1, SESSION_TELL_LOSS = 2 };

static void session_down(rlt_session *s, relet_why why, relet_time retry)
{
    rlt_assert(retry >= 0);
    rlt_assert(why != RELET_WHY_NONE);
    s->why = why;
    s->retry_in_ms = retry;
    s->tell_down |= SESSION_TELL_DOWN;
    if (s->tell_gap)
        s->tell_down |= SESSION_TELL_LOSS;
    s->tell_up = s->tell_gap = 0;
}

/* The link ends: the messages and invalidations that it would have brought are
 * missed from now on. A subscription may be in force before the link is UP. */
static void session_lose(rlt_session *s)
{
    if ((s->state == RLT_UP &&
         rlt_setup_tracking(s->setup) != RELET_TRACK_OFF) ||
        rlt_pubsub_in_force(s->pubsub)) {
        s->tell_down |= SESSION_TELL_LOSS;
        s->has_lost = 1;
    }
}

RELET_PRIVATE void rlt_session_watch(rlt_session *s, int lost)
{
    rlt_assert(lost == RLT_WATCH_ENDED || lost == RLT_WATCH_UNTOLD);
    if (RLT_HAS_WATCH && s->conn->watch_gone && s->watching) {
        s->watch_lost = (uint8_t)lost;
        s->watching = 0;
    }
    s->conn->watch_gone = 0;
}

/* Drop the link. The operations are affected only if the link was UP, or if no
 * link follows. */
static void session_drop_link(rlt_session *s, relet_why why, int last)
{
    if (s->state == RLT_UP || last)
        rlt_conn_break(s->conn, why, last);
    else
        rlt_reader_release(&s->conn->reader);
    /* A WATCH that is still queued will hold on the next link. */
    if (RLT_HAS_WATCH && s->state == RLT_UP) {
        if (s->watching)
            s->watch_lost = RLT_WATCH_LINK;
        s->watching = 0;
    }
    session_lose(s);
    rlt_pubsub_broken(s->pubsub);
    rlt_scripts_forget(s->scripts);
    rlt_handshake_forget(&s->handshake);
    s->close |= s->opened; /* a close not taken yet stands */
    s->opened = s->hangup = 0;
    s->hold_until = 0;
    s->input_seen = RELET_NEVER;
    s->ping_at = RELET_NEVER;
}

RELET_PRIVATE void rlt_session_fail(rlt_session *s, relet_why why,
                                    const char *text, const char *detail)
{
    int lived = s->state == RLT_UP && s->now - s->up_at >= s->setup->stable_ms;
    relet_time retry;

    rlt_assert(s->state != RLT_OVER);
    rlt_assert(why != RELET_WHY_STOPPED); /* that is rlt_session_stop */
    s->protocol_errors += why == RELET_WHY_PROTOCOL;
    s->failures = lived ? 1 : RLT_MIN(s->failures + 1, 1000000);
    s->busy_tries = 0;
    session_text(s, text, detail);
    s->last_words[0] = '\0';
    if (s->setup->attempts_max > 0 && s->failures >= s->setup->attempts_max) {
        session_drop_link(s, RELET_WHY_GAVE_UP, 1);
        session_down(s, why, RELET_NEVER);
        s->state = RLT_OVER;
        return;
    }
    session_drop_link(s, RELET_WHY_BROKEN, 0);
    retry = session_backoff(s, s->failures, session_is_stubborn(why));
    session_down(s, why, retry);
    s->state = RLT_WAITING;
    s->until = s->now + retry;
}

RELET_PRIVATE void rlt_session_bad_input(rlt_session *s)
{
    char detail[120];
    rlt_say say;

    rlt_say_init(&say, detail, sizeof detail);
    rlt_say_text(&say, rlt_scan_error_text(s->conn->reader.scan.error));
    rlt_say_text(&say, ", at byte ");
    rlt_say_int(&say, (int64_t)rlt_reader_error_at(&s->conn->reader));
    rlt_say_text(&say, " of what it sent");
    rlt_session_fail(s, RELET_WHY_PROTOCOL, "the server does not speak RESP",
                     detail);
}

RELET_PRIVATE void rlt_session_stop(rlt_session *s)
{
    if (s->state == RLT_OVER)
        return;
    session_text(s, "stopped", NULL);
    session_drop_link(s, RELET_WHY_STOPPED, 1);
    session_down(s, RELET_WHY_STOPPED, RELET_NEVER);
    s->state = RLT_OVER;
}

/* ---------------------------------------------------------- the handshake */

static void session_greet(rlt_session *s)
{
    rlt_assert(s->state == RLT_OPENING || s->state == RLT_BUSY_WAIT);
    s->state = RLT_HANDSHAKING;
    s->until = s->now + s->setup->connect_timeout_ms;
    if (rlt_handshake_begin(&s->handshake) < 0)
        rlt_session_fail(s, RELET_WHY_MEMORY, "no memory for the greeting",
                         NULL);
}

static void session_come_up(rlt_session *s)
{
    rlt_assert(s->state == RLT_HANDSHAKING);
    rlt_assert(!s->tell_up);
    rlt_handshake_forget(&s->handshake);
    s->state = RLT_UP;
    s->up_at = s->last_in = s->overdue_at = s->now;
    s->busy_tries = 0;
    s->tell_up = 1;
    s->tell_gap |= (s->connects > 0 || s->has_lost) &&
                   (rlt_setup_tracking(s->setup) != RELET_TRACK_OFF ||
                    rlt_pubsub_any(s->pubsub));
    s->connects++;
    rlt_session_subscribes(s); /* those too late for the handshake */
}

/* The server answers but is not ready: ask again later, on this link. */
static void session_greet_later(rlt_session *s)
{
    relet_time wait = session_backoff(s, ++s->busy_tries, 0);

    rlt_assert(s->state == RLT_HANDSHAKING);
    rlt_handshake_forget(&s->handshake);
    if (s->busy_tries == 1) {
        session_text(s, s->handshake.quote, NULL);
        session_down(s, RELET_WHY_BUSY, wait);
    }
    s->state = RLT_BUSY_WAIT;
    s->until = s->now + wait;
}

/* 1 when an event is to be told. */
static int session_greeted(rlt_session *s, rlt_handshake_result verdict)
{
    const uint8_t *rest;

    if ((verdict == RLT_HANDSHAKE_DONE || verdict == RLT_HANDSHAKE_LATER) &&
        rlt_handshake_pending(&s->handshake, &rest) > 0) {
        rlt_session_fail(s, RELET_WHY_PROTOCOL,
                         "the greeting was answered before it was sent", NULL);
        return 0;
    }
    switch (verdict) {
    case RLT_HANDSHAKE_ON:
        return 0;
    case RLT_HANDSHAKE_TELL:
        return 1;
    case RLT_HANDSHAKE_DONE:
        session_come_up(s);
        return 0;
    case RLT_HANDSHAKE_LATER:
        session_greet_later(s);
        return 0;
    case RLT_HANDSHAKE_BAD:
        rlt_session_fail(s, s->handshake.why, s->handshake.text,
                         s->handshake.quote);
        return 0;
    }
    return 0;
}

RELET_PRIVATE int rlt_session_handshake(rlt_session *s, relet_value v,
                                        relet_event *ev)
{
    if (s->state == RLT_HANDSHAKING)
        return session_greeted(s, rlt_handshake_answer(&s->handshake, v, ev));
    rlt_session_stray(s, v);
    return 0;
}

RELET_PRIVATE void rlt_session_handshake_skip(rlt_session *s)
{
    int why = s->conn->reader.scan.skip_why;

    if (s->state == RLT_HANDSHAKING)
        (void)session_greeted(s, rlt_handshake_skipped(&s->handshake, why));
    else
        rlt_session_fail(s, RELET_WHY_PROTOCOL,
                         "an answer came that nothing waited for", NULL);
}

RELET_PRIVATE void rlt_session_confirmed(rlt_session *s)
{
    if (s->state == RLT_HANDSHAKING)
        (void)session_greeted(s, rlt_handshake_confirmed(&s->handshake));
}

/* A server may send an error that answers nothing before it closes the link. */
RELET_PRIVATE void rlt_session_stray(rlt_session *s, relet_value v)
{
    rlt_say say;

    rlt_say_init(&say, s->last_words, sizeof s->last_words);
    rlt_say_span(&say, relet_value_text(v));
    if (relet_value_type(v) != RELET_T_ERROR)
        rlt_session_fail(s, RELET_WHY_PROTOCOL,
                         "an answer came that nothing waited for", NULL);
}

/* ------------------------------------------------------------- the driver */

RELET_PRIVATE int rlt_session_want(rlt_session *s, relet_io *io)
{
    memset(io, 0, sizeof *io);
    if (s->close) {
        s->close = 0;
        return 1;
    }
    if (s->state != RLT_WANTED)
        return 0;
    rlt_assert(!s->opened);
    io->open = 1;
    io->scheme = s->setup->scheme;
    io->host = s->setup->host;
    io->port = s->setup->port;
    io->deadline = s->until = s->now + s->setup->connect_timeout_ms;
    s->state = RLT_OPENING;
    s->opened = 1;
    s->attempts++;
    return 1;
}

RELET_PRIVATE void rlt_session_opened(rlt_session *s, int err,
                                      const char *text)
{
    relet_time until = s->until;

    if (s->state != RLT_OPENING)
        return;
    if (err != 0) {
        s->opened = 0;
        rlt_session_fail(s, RELET_WHY_CONNECT, text ? text : "no connection",
                         NULL);
    } else if (rlt_reader_open(&s->conn->reader) < 0) {
        rlt_session_fail(s, RELET_WHY_MEMORY, "no memory for a link", NULL);
    } else {
        session_greet(s);
        if (s->state == RLT_HANDSHAKING)
            /* Look-up, connect and handshake share one deadline. */
            s->until = RLT_MIN(s->until, until);
    }
}

RELET_PRIVATE void rlt_session_closed(rlt_session *s, int err,
                                      const char *text)
{
    if (!s->opened)
        return;
    s->opened = 0;
    s->hangup = 1;
    session_text(s, text ? text
                         : err ? "the link failed" : "the server closed",
                 NULL);
    if (s->state == RLT_OPENING)
        (void)rlt_session_drained(s);
}

RELET_PRIVATE int rlt_session_drained(rlt_session *s)
{
    char text[sizeof s->text];

    if (!s->hangup)
        return 0;
    memcpy(text, s->text, sizeof text);
    rlt_session_fail(s, RELET_WHY_CLOSED, text, s->last_words);
    return 1;
}

RELET_PRIVATE int rlt_session_hears(const rlt_session *s)
{
    return s->state == RLT_HANDSHAKING || s->state == RLT_BUSY_WAIT ||
           s->state == RLT_UP;
}

RELET_PRIVATE size_t rlt_session_pending(const rlt_session *s,
                                         const uint8_t **p)
{
    if (s->hangup)
        return 0;
    if (s->state == RLT_UP)
        return s->hold_until > s->now ? 0 : rlt_conn_pending(s->conn, p);
    if (s->state != RLT_HANDSHAKING)
        return 0;
    return rlt_handshake_pending(&s->handshake, p);
}

RELET_PRIVATE void rlt_session_sent(rlt_session *s, size_t n)
{
    if (s->state == RLT_UP)
        rlt_conn_sent(s->conn, n);
    else
        rlt_handshake_sent(&s->handshake, n);
}

/* ---------------------------------------------------------- subscriptions */

RELET_PRIVATE void rlt_session_subscribes(rlt_session *s)
{
    uint32_t slot;
    int leave = 0, code = 0;

    s->wishes_at = RELET_NEVER;
    if (!RLT_HAS_MESSAGES || s->state != RLT_UP || s->hold_until > s->now)
        return;
    while (code == 0 &&
           (slot = rlt_pubsub_send(s->pubsub, &leave)) != RLT_NO_SUBSCRIPTION)
        code = rlt_subscribe_send(s->conn, s->pubsub, slot, leave,
                                  s->setup->timeout_ms);
    /* After RELET_E_LIMIT no timer is needed: operations under way end and make
     * room, and then there is a tick. */
    if (code == RELET_E_MEMORY)
        s->wishes_at = s->now + SESSION_ROOM_MS;
}

/* ------------------------------------------------------------------- time */

RELET_PRIVATE void rlt_session_hold(rlt_session *s)
{
    if (s->hold_until > s->now)
        return;
    s->hold_until = s->now + 1 + session_backoff(s, ++s->busy_tries, 0);
}

/* Until when a link may be silent although an answer is overdue. Without pings
 * the link may have been silent for long, since no answer was due. */
static relet_time session_dead_at(const rlt_session *s)
{
    if (s->setup->ping_every_ms == 0)
        return 2 * s->setup->timeout_ms + RLT_MAX(s->last_in, s->overdue_at);
    return s->last_in + s->setup->ping_every_ms + s->setup->timeout_ms;
}

static void session_ping(rlt_session *s)
{
    static const char ping[] = "*1\r\n$4\r\nPING\r\n";
    uint8_t *out = NULL;
    rlt_op op;

    rlt_assert(s->state == RLT_UP);
    s->ping_at = s->now + s->setup->ping_every_ms;
    rlt_conn_rest(s->conn);
    if (rlt_conn_begin(s->conn, sizeof ping - 1, &out) < 0)
        return;
    memset(&op, 0, sizeof op);
    op.klass = RLT_OP_PING;
    op.deadline = s->setup->timeout_ms;
    memcpy(out, ping, sizeof ping - 1);
    rlt_conn_commit(s->conn, &op, sizeof ping - 1);
}

static int session_has_input(const rlt_session *s)
{
    return rlt_reader_has_input(&s->conn->reader);
}

RELET_PRIVATE relet_time rlt_session_silent_at(const rlt_session *s,
                                               relet_time since, relet_time ms)
{
    if (s->state != RLT_UP || session_has_input(s))
        return RELET_NEVER;
    return RLT_MAX(since, s->last_in) + ms;
}

/* An answer that is here already beats a deadline. After a long pause of this
 * process the socket may hold more answers than one read brings, so a link with
 * input gets a second before deadlines count. */
static int session_may_expire(rlt_session *s)
{
    if (!rlt_session_hears(s) || !session_has_input(s)) {
        s->input_seen = RELET_NEVER;
        return 1;
    }
    if (s->input_seen == RELET_NEVER)
        s->input_seen = s->now;
    return s->now - s->input_seen >= 1000;
}

static void session_not_greeted(rlt_session *s)
{
    if (s->conn->reader.starved)
        rlt_session_fail(s, RELET_WHY_MEMORY, "no memory to read into", NULL);
    else
        rlt_session_fail(s, RELET_WHY_SILENT,
                         "no answer to the greeting in connect_timeout_ms",
                         NULL);
}

static void session_tick_up(rlt_session *s)
{
    if (!rlt_conn_overdue(s->conn))
        s->overdue_at = s->now;
    else if (s->now >= session_dead_at(s) && !session_has_input(s)) {
        rlt_session_fail(s, RELET_WHY_SILENT, "the server does not answer",
                         NULL);
        return;
    }
    if (s->setup->ping_every_ms > 0)
        s->ping_at = RLT_MAX(s->ping_at == RELET_NEVER ? 0 : s->ping_at,
                             s->last_in + s->setup->ping_every_ms);
    if (s->now >= s->ping_at && rlt_conn_idle(s->conn))
        session_ping(s);
    if (s->wishes_at == RELET_NEVER || s->now >= s->wishes_at)
        rlt_session_subscribes(s);
}

RELET_PRIVATE void rlt_session_tick(rlt_session *s, relet_time now)
{
    rlt_assert(now >= s->now);
    s->now = now;
    /* New bytes count as received now, not at the last tick: it may be long
     * ago, as after a pause of the process. */
    if (s->heard)
        s->last_in = now;
    s->heard = 0;
    rlt_conn_tick(s->conn, now, session_may_expire(s));
    rlt_session_watch(s, RLT_WATCH_UNTOLD);
    switch ((rlt_session_state)s->state) {
    case RLT_WAITING:
        if (s->until == RELET_NEVER || now >= s->until)
            s->state = RLT_WANTED;
        return;
    case RLT_WANTED:
    case RLT_OVER:
        return;
    case RLT_OPENING:
        if (now >= s->until)
            rlt_session_fail(s, RELET_WHY_CONNECT,
                             "no connection in connect_timeout_ms", NULL);
        return;
    case RLT_HANDSHAKING:
        if (now >= s->until && !session_has_input(s))
            session_not_greeted(s);
        return;
    case RLT_BUSY_WAIT:
        if (now >= s->until)
            session_greet(s);
        return;
    case RLT_UP:
        session_tick_up(s);
        return;
    }
}

static relet_time session_deadline_up(const rlt_session *s)
{
    relet_time t = RELET_NEVER;

    if (s->hold_until > s->now)
        t = s->hold_until;
    t = RLT_MIN(t, s->wishes_at);
    if (rlt_conn_overdue(s->conn))
        t = RLT_MIN(t, session_dead_at(s));
    else if (rlt_conn_idle(s->conn) && s->setup->ping_every_ms > 0)
        t = RLT_MIN(t, RLT_MAX(s->ping_at == RELET_NEVER ? 0 : s->ping_at,
                               s->last_in + s->setup->ping_every_ms));
    return t;
}

RELET_PRIVATE relet_time rlt_session_deadline(const rlt_session *s)
{
    relet_time t = RELET_NEVER;

    switch ((rlt_session_state)s->state) {
    case RLT_WAITING:
        t = s->until == RELET_NEVER ? s->now : s->until;
        break;
    case RLT_WANTED:
    case RLT_OVER:
        break;
    case RLT_OPENING:
    case RLT_HANDSHAKING:
    case RLT_BUSY_WAIT:
        t = s->until;
        break;
    case RLT_UP:
        t = session_deadline_up(s);
        break;
    }
    return RLT_MIN(t, rlt_conn_deadline(s->conn, s->now));
}

RELET_PRIVATE int rlt_session_event(rlt_session *s, relet_event *ev)
{
    if (!s->tell_down)
        return 0;
    ev->why = s->why;
    ev->text = relet_str(s->text);
    if (s->tell_down & SESSION_TELL_DOWN) {
        ev->kind = RELET_EV_DOWN;
        ev->retry_in_ms = s->retry_in_ms;
        s->tell_down &= SESSION_TELL_LOSS;
    } else {
        ev->kind = RELET_EV_GAP;
        s->tell_down = 0;
    }
    return 1;
}

RELET_PRIVATE int rlt_session_last_event(rlt_session *s, relet_event *ev)
{
    if (s->tell_up) {
        s->tell_up = 0;
        ev->kind = RELET_EV_UP;
        ev->text = relet_str(s->handshake.server);
        return 1;
    }
    if (RLT_HAS_MESSAGES && s->tell_gap) {
        s->tell_gap = 0;
        ev->kind = RELET_EV_GAP;
        return 1;
    }
    return 0;
}
