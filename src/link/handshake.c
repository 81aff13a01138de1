/* SPDX-License-Identifier: MIT
 *
 * handshake.c - the first commands on a new link: they log in, and restore the
 * state that the user configured.
 *
 * The handshake goes out in one write and is all or nothing: a refused step
 * costs the link, since later commands would run in another state than the user
 * configured. The last step is a PING, because a server that is loading, or
 * busy with a script, answers HELLO as if it were ready. */
#include "handshake.h"

#include "cmd.h"
#include "scan.h"
#include "text.h"

enum {
    HANDSHAKE_HELLO,
    HANDSHAKE_LIB_NAME,
    HANDSHAKE_LIB_VERSION,
    HANDSHAKE_SELECT,
    HANDSHAKE_TRACKING,
    HANDSHAKE_WISHES, /* one answer for each subscription sent               */
    HANDSHAKE_PING,
    HANDSHAKE_OVER
};

static int handshake_say(rlt_handshake *g, const relet_span *argv, size_t argc)
{
    size_t n = rlt_cmd_size(argv, argc);
    int code = rlt_buf_reserve(&g->bytes, n);

    if (code < 0)
        return code;
    (void)rlt_cmd_write(rlt_buf_end(&g->bytes), argv, argc);
    rlt_buf_commit(&g->bytes, n);
    return 0;
}

static int handshake_say_hello(rlt_handshake *g)
{
    relet_span argv[7], user, password;
    size_t n = 0;

    user.p = (const char *)rlt_buf_head(&g->secrets);
    user.n = g->user_len;
    password.n = rlt_buf_used(&g->secrets) - user.n;
    password.p = password.n > 0 ? user.p + user.n : NULL;
    argv[n++] = relet_str("HELLO");
    argv[n++] = relet_str("3");
    if (password.n > 0) {
        argv[n++] = relet_str("AUTH");
        argv[n++] = user.n > 0 ? user : relet_str("default");
        argv[n++] = password;
    }
    if (g->setup->name.n > 0) {
        argv[n++] = relet_str("SETNAME");
        argv[n++] = g->setup->name;
    }
    return handshake_say(g, argv, n);
}

static int handshake_say_library(rlt_handshake *g, const char *what,
                                 const char *value)
{
    relet_span argv[4];

    argv[0] = relet_str("CLIENT");
    argv[1] = relet_str("SETINFO");
    argv[2] = relet_str(what);
    argv[3] = relet_str(value);
    return handshake_say(g, argv, 4);
}

static int handshake_say_select(rlt_handshake *g)
{
    char digits[20];
    relet_span argv[2];

    if (g->setup->db == 0)
        return 0;
    argv[0] = relet_str("SELECT");
    argv[1].p = digits;
    argv[1].n = rlt_text_put_i64(digits, g->setup->db);
    return handshake_say(g, argv, 2);
}

/* Append two arguments for each prefix to the command that begins at `from`. */
static int handshake_say_prefixes(rlt_handshake *g, size_t argc, size_t from)
{
    relet_span rest = g->setup->tracking_prefix, argv[2];
    size_t len, more;
    int code;

    argv[0] = relet_str("PREFIX");
    for (; rest.n > 0; argc += 2) {
        argv[1] = rlt_span_cut(&rest, ',');
        more = rlt_cmd_more_size(argc, argv, 2);
        code = rlt_buf_reserve(&g->bytes, more);
        if (code < 0)
            return code;
        len = rlt_buf_used(&g->bytes) - from;
        rlt_cmd_more(rlt_buf_end(&g->bytes) - len, len, argc, argv, 2);
        rlt_buf_commit(&g->bytes, more);
    }
    return 0;
}

static int handshake_say_tracking(rlt_handshake *g)
{
    relet_span argv[5];
    size_t n = 0, from = rlt_buf_used(&g->bytes);
    int code;

    if (rlt_setup_tracking(g->setup) == RELET_TRACK_OFF)
        return 0;
    argv[n++] = relet_str("CLIENT");
    argv[n++] = relet_str("TRACKING");
    argv[n++] = relet_str("ON");
    if (rlt_setup_tracking(g->setup) == RELET_TRACK_OPTIN)
        argv[n++] = relet_str("OPTIN");
    if (rlt_setup_tracking(g->setup) == RELET_TRACK_BROADCAST)
        argv[n++] = relet_str("BCAST");
    if (g->setup->tracking_noloop)
        argv[n++] = relet_str("NOLOOP");
    code = handshake_say(g, argv, n);
    return code == 0 ? handshake_say_prefixes(g, n, from) : code;
}

/* One command for each subscription, so that each refusal belongs to one. */
static int handshake_say_wishes(rlt_handshake *g)
{
    uint32_t slot = 0;
    relet_span argv[2];
    int code = 0;

    while (code == 0 && (slot = rlt_pubsub_restore(g->pubsub, slot)) !=
                            RLT_NO_SUBSCRIPTION) {
        rlt_pubsub_command(g->pubsub, slot, 0, argv);
        code = handshake_say(g, argv, 2);
        if (code == 0)
            rlt_pubsub_was_sent(g->pubsub, slot, 0);
        slot++;
    }
    return code;
}

/* Upper bound of a handshake: fixed words, their values, the subscriptions. */
static size_t handshake_size_max(const rlt_handshake *g)
{
    size_t n = 512 + rlt_buf_used(&g->secrets) + g->setup->name.n +
               24 * g->setup->tracking_prefix.n;
    uint32_t slot = 0;

    while ((slot = rlt_pubsub_restore(g->pubsub, slot)) != RLT_NO_SUBSCRIPTION)
        n += 40 + rlt_pubsub_name(g->pubsub, slot++).n;
    return n;
}

RELET_PRIVATE int rlt_handshake_begin(rlt_handshake *g)
{
    relet_span ping = relet_str("PING");
    int code;

    rlt_handshake_forget(g);
    g->step = HANDSHAKE_HELLO;
    g->busy = 0;
    /* Reserve it all: growing later would leave a copy of the password. */
    code = rlt_buf_reserve(&g->bytes, handshake_size_max(g));
    if (code == 0)
        code = handshake_say_hello(g);
    if (code == 0)
        code = handshake_say_library(g, "LIB-NAME", "relet");
    if (code == 0)
        code = handshake_say_library(g, "LIB-VER", RELET_VERSION);
    if (code == 0)
        code = handshake_say_select(g);
    if (code == 0)
        code = handshake_say_tracking(g);
    if (code == 0)
        code = handshake_say_wishes(g);
    if (code == 0)
        code = handshake_say(g, &ping, 1);
    return code;
}

static void handshake_wipe(rlt_buf *b)
{
    size_t n = rlt_buf_used(b);

    if (n > 0)
        memset(rlt_buf_head(b), 0, n);
    rlt_buf_drop(b, n);
}

RELET_PRIVATE void rlt_handshake_forget(rlt_handshake *g)
{
    handshake_wipe(&g->bytes);
    rlt_buf_shrink(&g->bytes, 0);
    g->sent = 0;
}

RELET_PRIVATE size_t rlt_handshake_pending(const rlt_handshake *g,
                                           const uint8_t **p)
{
    size_t n = rlt_buf_used(&g->bytes) - g->sent;

    if (n > 0)
        *p = rlt_buf_head(&g->bytes) + g->sent;
    return n;
}

RELET_PRIVATE void rlt_handshake_sent(rlt_handshake *g, size_t n)
{
    rlt_assert(n <= rlt_buf_used(&g->bytes) - g->sent);
    g->sent += n;
}

/* Make room for n bytes of secrets, and keep the old secrets. A buffer that
 * grows would leave a copy of its bytes behind: take a new buffer instead. */
static int handshake_secrets_room(rlt_handshake *g, size_t n)
{
    rlt_buf *b = &g->secrets, fresh;
    size_t old = rlt_buf_used(b);

    if (b->memory.resize == NULL || n <= b->cap)
        return n > old ? rlt_buf_reserve(b, n - old) : 0;
    rlt_buf_init(&fresh, b->memory, NULL, b->floor, b->max);
    if (rlt_buf_reserve(&fresh, n) < 0)
        return RELET_E_MEMORY;
    if (old > 0)
        (void)rlt_buf_put(&fresh, rlt_buf_head(b), old);
    handshake_wipe(b);
    rlt_buf_free(b);
    *b = fresh;
    return 0;
}

RELET_PRIVATE int rlt_handshake_credentials(rlt_handshake *g, relet_span user,
                                            relet_span password)
{
    size_t n = user.n + password.n;

    if (handshake_secrets_room(g, n) < 0)
        return RELET_E_MEMORY;
    handshake_wipe(&g->secrets);
    g->user_len = 0;
    if (n == 0)
        return 0;
    (void)rlt_buf_put(&g->secrets, user.p, user.n);
    (void)rlt_buf_put(&g->secrets, password.p, password.n);
    g->user_len = user.n;
    return 0;
}

/* ---------------------------------------------------------------- answers */

RELET_PRIVATE int rlt_handshake_is_busy(relet_span e)
{
    return rlt_span_eat(&e, "LOADING ") || rlt_span_eat(&e, "BUSY ") ||
           rlt_span_eat(&e, "MASTERDOWN ");
}

static void handshake_quote(rlt_handshake *g, relet_value v)
{
    rlt_say say;

    rlt_say_init(&say, g->quote, sizeof g->quote);
    rlt_say_span(&say, relet_value_text(v));
}

static rlt_handshake_result handshake_bad(rlt_handshake *g, relet_why why,
                                          const char *text)
{
    g->why = why;
    g->text = RLT_HAS_TEXT ? text : "";
    return RLT_HANDSHAKE_BAD;
}

static relet_why handshake_refusal(relet_span e)
{
    if (rlt_span_eat(&e, "WRONGPASS") || rlt_span_eat(&e, "NOAUTH") ||
        rlt_span_eat(&e, "NOPERM"))
        return RELET_WHY_AUTH;
    if (rlt_span_eat(&e, "ERR max number of clients") ||
        rlt_span_eat(&e, "DENIED"))
        return RELET_WHY_CLOSED;
    return RELET_WHY_SETUP;
}

static rlt_handshake_result handshake_refused(rlt_handshake *g, relet_value v)
{
    static const char *const text[] = {
        "HELLO was refused",         "CLIENT SETINFO was refused",
        "CLIENT SETINFO was refused", "SELECT was refused",
        "CLIENT TRACKING was refused", "a subscription was refused",
        "PING was refused"};
    relet_why why = handshake_refusal(relet_value_text(v));

    handshake_quote(g, v);
    if (g->step == HANDSHAKE_HELLO && why == RELET_WHY_SETUP)
        return handshake_bad(g, RELET_WHY_NO_RESP3,
                             "HELLO 3 was refused, and RESP3 is all we speak");
    return handshake_bad(g, why, RLT_HAS_TEXT ? text[g->step] : "");
}

static rlt_handshake_result handshake_next(rlt_handshake *g)
{
    g->step++;
    if (g->step == HANDSHAKE_SELECT && g->setup->db == 0)
        g->step++;
    if (g->step == HANDSHAKE_TRACKING &&
        rlt_setup_tracking(g->setup) == RELET_TRACK_OFF)
        g->step++;
    if (g->step == HANDSHAKE_WISHES &&
        rlt_pubsub_next_asked(g->pubsub) == RLT_NO_SUBSCRIPTION)
        g->step++;
    if (g->step < HANDSHAKE_OVER)
        return RLT_HANDSHAKE_ON;
    return g->busy ? RLT_HANDSHAKE_LATER : RLT_HANDSHAKE_DONE;
}

RELET_PRIVATE rlt_handshake_result rlt_handshake_confirmed(rlt_handshake *g)
{
    if (g->step == HANDSHAKE_WISHES &&
        rlt_pubsub_next_asked(g->pubsub) == RLT_NO_SUBSCRIPTION)
        return handshake_next(g);
    return RLT_HANDSHAKE_ON;
}

/* Reads the server's name and version; 0 if the answer is not RESP3's. */
static int handshake_read_hello(rlt_handshake *g, relet_value v)
{
    int64_t proto = 0;
    rlt_say say;

    if (relet_value_type(v) != RELET_T_MAP ||
        !relet_value_int(relet_value_get(v, "proto"), &proto) || proto != 3)
        return 0;
    rlt_say_init(&say, g->server, sizeof g->server);
    rlt_say_span(&say, relet_value_text(relet_value_get(v, "server")));
    rlt_say_text(&say, " ");
    rlt_say_span(&say, relet_value_text(relet_value_get(v, "version")));
    return 1;
}

/* An error in this step belongs to the first subscription without an answer:
 * the answers come in order. */
static rlt_handshake_result handshake_wish_refused(rlt_handshake *g,
                                                   relet_value v, int busy,
                                                   relet_event *ev)
{
    uint32_t slot = rlt_pubsub_next_asked(g->pubsub);

    if (busy) {
        rlt_pubsub_busy(g->pubsub, slot);
        return rlt_handshake_confirmed(g);
    }
    /* A handshake sends nothing later that could supersede the refusal. */
    (void)rlt_pubsub_refused(g->pubsub, slot);
    ev->kind = RELET_EV_SUBSCRIPTION_REFUSED;
    ev->text = relet_value_text(v);
    rlt_pubsub_show(g->pubsub, slot, ev);
    (void)rlt_handshake_confirmed(g);
    return RLT_HANDSHAKE_TELL;
}

/* Whether the handshake may go on after this error. */
static int handshake_forgives(const rlt_handshake *g, relet_value v, int busy)
{
    relet_span text = relet_value_text(v);

    if (busy || g->step == HANDSHAKE_LIB_NAME ||
        g->step == HANDSHAKE_LIB_VERSION)
        return 1;
    /* A user without the right to PING still has a link. */
    return g->step == HANDSHAKE_PING && rlt_span_eat(&text, "NOPERM");
}

RELET_PRIVATE rlt_handshake_result rlt_handshake_answer(rlt_handshake *g,
                                                        relet_value v,
                                                        relet_event *ev)
{
    int error = relet_value_type(v) == RELET_T_ERROR;
    int busy = error && rlt_handshake_is_busy(relet_value_text(v));

    rlt_assert(g->step < HANDSHAKE_OVER);
    if (busy) {
        g->busy = 1;
        handshake_quote(g, v);
    }
    g->quote[0] = g->busy ? g->quote[0] : '\0';
    if (RLT_HAS_MESSAGES && g->step == HANDSHAKE_WISHES && error)
        return handshake_wish_refused(g, v, busy, ev);
    /* A subscription's confirmation is a push; the last push ends the step. */
    if (RLT_HAS_MESSAGES && g->step == HANDSHAKE_WISHES)
        return handshake_bad(g, RELET_WHY_PROTOCOL,
                             "a subscription was answered by a reply");
    if (error && !handshake_forgives(g, v, busy))
        return handshake_refused(g, v);
    if (g->step == HANDSHAKE_HELLO && !error && !handshake_read_hello(g, v))
        return handshake_bad(g, RELET_WHY_NO_RESP3,
                             "HELLO 3 was answered, but not in RESP3");
    return handshake_next(g);
}

RELET_PRIVATE rlt_handshake_result rlt_handshake_skipped(rlt_handshake *g,
                                                         int why)
{
    int ignored =
        g->step == HANDSHAKE_LIB_NAME || g->step == HANDSHAKE_LIB_VERSION;

    /* HELLO lists modules, which may be more than a small client can hold. But
     * a line that is too long counts as a refusal. */
    g->quote[0] = '\0';
    if (g->step != HANDSHAKE_WISHES && (ignored || why != RLT_SKIP_LINE))
        return handshake_next(g);
    return handshake_bad(g, RELET_WHY_SETUP,
                         "an answer to the greeting is over a limit");
}
