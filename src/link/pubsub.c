/* SPDX-License-Identifier: MIT
 *
 * pubsub.c - subscriptions: those that the user wants, and those that the
 * server agreed to. */
#include "pubsub.h"

#include "text.h"

static const char *const pubsub_words[3][2] = {
    {"SUBSCRIBE", "UNSUBSCRIBE"},
    {"PSUBSCRIBE", "PUNSUBSCRIBE"},
    {"SSUBSCRIBE", "SUNSUBSCRIBE"}};

RELET_PRIVATE void rlt_pubsub_init(rlt_pubsub *ps, rlt_subscription *wishes,
                                   uint32_t max, rlt_memory memory, void *names,
                                   size_t names_max)
{
    memset(ps, 0, sizeof *ps);
    if (!RLT_HAS_MESSAGES)
        return;
    memset(wishes, 0, max * sizeof *wishes);
    ps->subscriptions = wishes;
    ps->max = max;
    rlt_buf_init(&ps->names, memory, names, RLT_MIN(256, names_max),
                 names_max);
}

RELET_PRIVATE void rlt_pubsub_free(rlt_pubsub *ps)
{
    if (RLT_HAS_MESSAGES)
        rlt_buf_free(&ps->names);
}

RELET_PRIVATE relet_span rlt_pubsub_name(const rlt_pubsub *ps, uint32_t slot)
{
    const rlt_subscription *w = &ps->subscriptions[slot];
    relet_span s;

    s.p = (const char *)rlt_buf_head(&ps->names) + w->name;
    s.n = w->name_len;
    return s;
}

static int pubsub_is(const rlt_pubsub *ps, uint32_t slot, relet_channel kind,
                     relet_span name)
{
    const rlt_subscription *w = &ps->subscriptions[slot];

    return w->used && w->kind == (uint8_t)kind && w->name_len == name.n &&
           rlt_span_same(rlt_pubsub_name(ps, slot), name);
}

static uint32_t pubsub_find(rlt_pubsub *ps, relet_channel kind,
                            relet_span name)
{
    uint32_t i, slot = ps->hint;

    /* Answers come in the order of the commands: begin behind the last hit. */
    for (i = 0; i < rlt_pubsub_max(ps); i++) {
        if (slot >= ps->max)
            slot = 0;
        if (pubsub_is(ps, slot, kind, name)) {
            ps->hint = slot + 1;
            return slot;
        }
        slot++;
    }
    return RLT_NO_SUBSCRIPTION;
}

static void pubsub_free_slot(rlt_pubsub *ps, uint32_t slot)
{
    rlt_subscription *w = &ps->subscriptions[slot];
    size_t from = w->name, n = w->name_len;
    uint32_t i;

    if (!w->used || w->want || w->heading || w->asked || w->leaving ||
        w->goodbye || w->own || ps->lent == slot + 1)
        return;
    memset(w, 0, sizeof *w);
    rlt_buf_cut(&ps->names, from, n);
    for (i = 0; i < rlt_pubsub_max(ps); i++)
        if (ps->subscriptions[i].used && ps->subscriptions[i].name > from)
            ps->subscriptions[i].name -= n;
}

/* A new subscription takes the first free slot from `slot` on, before `max`. */
static int pubsub_want(rlt_pubsub *ps, relet_channel kind, relet_span name,
                       uint32_t *at, uint32_t max)
{
    uint32_t slot = pubsub_find(ps, kind, name);
    rlt_subscription *w;
    int code, lent;

    if (slot == RLT_NO_SUBSCRIPTION) {
        for (slot = *at; slot < max && ps->subscriptions[slot].used; slot++)
            ;
        if (slot >= max)
            return RELET_E_LIMIT;
        w = &ps->subscriptions[slot];
        lent = ps->lent && name.p == rlt_pubsub_name(ps, ps->lent - 1).p;
        code = rlt_buf_reserve(&ps->names, name.n);
        if (code < 0)
            return code;
        if (lent) /* the name is an event's: it may have moved */
            name.p = rlt_pubsub_name(ps, ps->lent - 1).p;
        (void)rlt_buf_put(&ps->names, name.p, name.n);
        w->name = rlt_buf_used(&ps->names) - name.n;
        w->name_len = name.n;
        w->kind = (uint8_t)kind;
        w->used = 1;
    }
    w = &ps->subscriptions[slot];
    w->want = 1;
    ps->goodbyes -= w->goodbye;
    w->goodbye = 0;
    ps->dirty = 1;
    *at = slot;
    return 0;
}

RELET_PRIVATE int rlt_pubsub_subscribe(rlt_pubsub *ps, relet_channel kind,
                                       relet_span name)
{
    uint32_t slot = 0;

    return pubsub_want(ps, kind, name, &slot, ps->max - ps->spare);
}

static void pubsub_goodbye(rlt_pubsub *ps, rlt_subscription *w)
{
    if (w->want || w->heading || w->asked || w->leaving || w->goodbye)
        return;
    w->goodbye = 1;
    ps->goodbyes++;
}

RELET_PRIVATE int rlt_pubsub_unsubscribe(rlt_pubsub *ps, relet_channel kind,
                                         relet_span name)
{
    uint32_t slot = pubsub_find(ps, kind, name);

    if (slot == RLT_NO_SUBSCRIPTION || !ps->subscriptions[slot].want)
        return RELET_E_REFUSED;
    ps->subscriptions[slot].want = 0;
    pubsub_goodbye(ps, &ps->subscriptions[slot]);
    ps->dirty = 1;
    return 0;
}

RELET_PRIVATE int rlt_pubsub_own(rlt_pubsub *ps, relet_span name)
{
    uint32_t slot = ps->max - ps->spare;
    int code = pubsub_want(ps, RELET_SHARDED, name, &slot, ps->max);

    if (code == 0)
        ps->subscriptions[slot].own++;
    return code;
}

RELET_PRIVATE void rlt_pubsub_disown(rlt_pubsub *ps, relet_span name)
{
    uint32_t slot = pubsub_find(ps, RELET_SHARDED, name);

    rlt_assert(slot != RLT_NO_SUBSCRIPTION);
    rlt_assert(ps->subscriptions[slot].own > 0);
    if (--ps->subscriptions[slot].own > 0)
        return;
    ps->subscriptions[slot].want = 0; /* as it is already if it was refused */
    pubsub_goodbye(ps, &ps->subscriptions[slot]);
    ps->dirty = 1;
}

RELET_PRIVATE int rlt_pubsub_any(const rlt_pubsub *ps)
{
    uint32_t i;

    for (i = 0; i < rlt_pubsub_max(ps); i++)
        if (ps->subscriptions[i].want && !ps->subscriptions[i].own)
            return 1;
    return 0;
}

RELET_PRIVATE int rlt_pubsub_in_force(const rlt_pubsub *ps)
{
    uint32_t i;

    for (i = 0; i < rlt_pubsub_max(ps); i++)
        if (ps->subscriptions[i].want && ps->subscriptions[i].there &&
            !ps->subscriptions[i].own)
            return 1;
    return 0;
}

RELET_PRIVATE uint32_t rlt_pubsub_send(rlt_pubsub *ps, int *leave)
{
    uint32_t i;

    for (i = 0; ps->dirty && i < rlt_pubsub_max(ps); i++)
        if (ps->subscriptions[i].used &&
            ps->subscriptions[i].want != ps->subscriptions[i].heading) {
            *leave = !ps->subscriptions[i].want;
            return i;
        }
    ps->dirty = 0;
    return RLT_NO_SUBSCRIPTION;
}

RELET_PRIVATE uint32_t rlt_pubsub_restore(const rlt_pubsub *ps, uint32_t from)
{
    for (; from < rlt_pubsub_max(ps); from++)
        if (ps->subscriptions[from].want && !ps->subscriptions[from].heading)
            return from;
    return RLT_NO_SUBSCRIPTION;
}

RELET_PRIVATE void rlt_pubsub_was_sent(rlt_pubsub *ps, uint32_t slot, int leave)
{
    rlt_subscription *w = &ps->subscriptions[slot];

    rlt_assert(slot < ps->max);
    rlt_assert(w->used);
    w->heading = !leave;
    if (leave)
        w->leaving++;
    else
        w->asked++;
}

RELET_PRIVATE void rlt_pubsub_command(const rlt_pubsub *ps, uint32_t slot,
                                      int leave, relet_span argv[2])
{
    argv[0] = relet_str(pubsub_words[ps->subscriptions[slot].kind][leave != 0]);
    argv[1] = rlt_pubsub_name(ps, slot);
}

/* ----------------------------------------------------------------- pushes */

/* [message, channel, payload], or [pmessage, pattern, channel, payload]. */
static rlt_push pubsub_message(relet_value push, relet_channel kind,
                               relet_event *ev)
{
    size_t n = relet_value_count(push), at = kind == RELET_PATTERN ? 1 : 0;

    if (n != 3 + at || !relet_value_text(relet_value_at(push, 1)).p ||
        !relet_value_text(relet_value_at(push, 1 + at)).p)
        return RLT_PUSH_MALFORMED;
    ev->kind = RELET_EV_MESSAGE;
    ev->channel_kind = kind;
    if (at)
        ev->pattern = relet_value_text(relet_value_at(push, 1));
    ev->channel = relet_value_text(relet_value_at(push, 1 + at));
    ev->value = relet_value_at(push, 2 + at);
    return RLT_PUSH_MESSAGE;
}

/* [subscribe, channel, count]; the channel is null if there was nothing to
 * unsubscribe from. */
static rlt_push pubsub_confirmation(rlt_pubsub *ps, relet_value push,
                                    relet_channel kind, int leave,
                                    relet_event *ev, uint32_t *slot)
{
    relet_value name = relet_value_at(push, 1);
    int named = relet_value_text(name).p != NULL;

    if (relet_value_count(push) != 3 ||
        relet_value_type(relet_value_at(push, 2)) != RELET_T_INT ||
        (!named && (!leave || relet_value_type(name) != RELET_T_NULL)))
        return RLT_PUSH_MALFORMED;
    ev->kind = leave ? RELET_EV_UNSUBSCRIBED : RELET_EV_SUBSCRIBED;
    ev->channel_kind = kind;
    ev->channel = relet_value_text(name);
    *slot = named ? pubsub_find(ps, kind, ev->channel) : RLT_NO_SUBSCRIPTION;
    return leave ? RLT_PUSH_UNSUBSCRIBED : RLT_PUSH_SUBSCRIBED;
}

RELET_PRIVATE rlt_push rlt_pubsub_read(rlt_pubsub *ps, relet_value push,
                                       relet_event *ev, uint32_t *slot)
{
    static const char *const messages[3] = {"message", "pmessage", "smessage"};
    relet_span word = relet_value_text(relet_value_first(push));
    relet_type type;
    int kind, leave;

    for (kind = 0; kind < 3; kind++) {
        if (rlt_span_is(word, messages[kind]))
            return pubsub_message(push, (relet_channel)kind, ev);
        for (leave = 0; leave < 2; leave++)
            if (rlt_span_is_nocase(word, pubsub_words[kind][leave]))
                return pubsub_confirmation(ps, push, (relet_channel)kind,
                                           leave, ev, slot);
    }
    if (rlt_span_is(word, "invalidate")) {
        type = relet_value_type(relet_value_at(push, 1));
        if (relet_value_count(push) != 2 ||
            (type != RELET_T_ARRAY && type != RELET_T_NULL))
            return RLT_PUSH_MALFORMED;
        ev->kind = RELET_EV_INVALIDATE;
        ev->value = relet_value_at(push, 1);
        return RLT_PUSH_INVALIDATE;
    }
    ev->kind = RELET_EV_PUSHED;
    ev->value = push;
    return RLT_PUSH_UNKNOWN;
}

/* ----------------------------------------------------------------- events */

static void pubsub_answered(rlt_pubsub *ps, uint32_t slot)
{
    rlt_assert(ps->subscriptions[slot].asked > 0);
    ps->subscriptions[slot].asked--;
}

RELET_PRIVATE void rlt_pubsub_agreed(rlt_pubsub *ps, uint32_t slot)
{
    pubsub_answered(ps, slot);
    ps->subscriptions[slot].there = 1;
}

/* Whether a command that is still under way decides, and not this answer. */
static int pubsub_superseded(const rlt_subscription *w)
{
    return w->asked > 0 || w->leaving > 0;
}

RELET_PRIVATE int rlt_pubsub_refused(rlt_pubsub *ps, uint32_t slot)
{
    rlt_subscription *w = &ps->subscriptions[slot];

    pubsub_answered(ps, slot);
    if (pubsub_superseded(w))
        return 0;
    w->want = 0;
    w->heading = w->there;
    ps->dirty = 1;
    return 1;
}

static void pubsub_not_now(rlt_pubsub *ps, rlt_subscription *w)
{
    if (!pubsub_superseded(w))
        w->heading = w->there;
    pubsub_goodbye(ps, w);
    ps->dirty = 1;
}

RELET_PRIVATE void rlt_pubsub_busy(rlt_pubsub *ps, uint32_t slot)
{
    rlt_subscription *w = &ps->subscriptions[slot];

    pubsub_answered(ps, slot);
    pubsub_not_now(ps, w);
}

RELET_PRIVATE void rlt_pubsub_stayed(rlt_pubsub *ps, uint32_t slot)
{
    rlt_subscription *w = &ps->subscriptions[slot];

    rlt_assert(w->leaving > 0);
    w->leaving--;
    pubsub_not_now(ps, w);
}

RELET_PRIVATE void rlt_pubsub_left(rlt_pubsub *ps, uint32_t slot)
{
    rlt_assert(ps->subscriptions[slot].leaving > 0);
    ps->subscriptions[slot].leaving--;
    ps->subscriptions[slot].there = 0;
}

RELET_PRIVATE int rlt_pubsub_moved(rlt_pubsub *ps, uint32_t slot)
{
    rlt_subscription *w = &ps->subscriptions[slot];

    w->there = 0;
    /* The answer to a command that is under way will tell. */
    if (w->asked || w->leaving || !w->heading)
        return 0;
    w->heading = 0;
    ps->dirty = 1;
    pubsub_goodbye(ps, w);
    return w->want;
}

RELET_PRIVATE void rlt_pubsub_broken(rlt_pubsub *ps)
{
    uint32_t i;

    for (i = 0; i < rlt_pubsub_max(ps); i++) {
        rlt_subscription *w = &ps->subscriptions[i];

        if (!w->used)
            continue;
        w->asked = w->leaving = 0;
        w->heading = w->there = 0;
        w->want |= w->own > 0;
        pubsub_goodbye(ps, w);
    }
    ps->dirty = 1;
}

RELET_PRIVATE uint32_t rlt_pubsub_next_asked(const rlt_pubsub *ps)
{
    uint32_t i;

    for (i = 0; i < rlt_pubsub_max(ps); i++)
        if (ps->subscriptions[i].asked)
            return i;
    return RLT_NO_SUBSCRIPTION;
}

RELET_PRIVATE void rlt_pubsub_show(rlt_pubsub *ps, uint32_t slot,
                                   relet_event *ev)
{
    rlt_pubsub_release(ps);
    ev->channel_kind = (relet_channel)ps->subscriptions[slot].kind;
    ev->channel = rlt_pubsub_name(ps, slot);
    ps->lent = slot + 1;
}

RELET_PRIVATE void rlt_pubsub_release(rlt_pubsub *ps)
{
    uint32_t slot = ps->lent;

    if (!RLT_HAS_MESSAGES || slot == 0)
        return;
    ps->lent = 0;
    pubsub_free_slot(ps, slot - 1);
}

RELET_PRIVATE int rlt_pubsub_event(rlt_pubsub *ps, relet_event *ev)
{
    uint32_t i;

    if (!RLT_HAS_MESSAGES || ps->goodbyes == 0)
        return 0;
    for (i = 0; !ps->subscriptions[i].goodbye; i++)
        ;
    ps->goodbyes--;
    ps->subscriptions[i].goodbye = 0;
    ev->kind = RELET_EV_UNSUBSCRIBED;
    rlt_pubsub_show(ps, i, ev);
    return 1;
}
