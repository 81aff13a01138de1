/* SPDX-License-Identifier: MIT
 *
 * kept.c - events that came while the user waited for another one.
 *
 * The events form a ring: r->kept points to the newest event, and the `next`
 * of the newest event is the oldest one. Each event has a copy of its value and
 * texts. Only the newest may lack this copy, when there was no memory for it.
 * Then its bytes are still those of the link, and the client reads nothing from
 * the link until the event has been copied or taken. */
#include "kept.h"

#ifndef RELET_NO_POLL
#ifndef RELET_SMALL

static void *kept_resize(relet *r, void *p, size_t old_size, size_t size)
{
    rlt_memory m = rlt_route_memory(&r->route);

    return m.resize != NULL ? m.resize(m.user, p, old_size, size) : NULL;
}

RELET_PRIVATE rlt_kept *rlt_kept_make(relet *r)
{
    rlt_kept *k = (rlt_kept *)kept_resize(r, NULL, 0, sizeof *k);

    if (k != NULL)
        memset(k, 0, sizeof *k);
    return k;
}

RELET_PRIVATE void rlt_kept_free(relet *r, rlt_kept *k)
{
    if (k->n > 0)
        (void)kept_resize(r, k->copy, k->n, 0);
    (void)kept_resize(r, k, sizeof *k, 0);
}

static size_t kept_size(const rlt_kept *k)
{
    return sizeof *k + k->n;
}

/* ---------------------------------------------------------------- the ring */

/* Takes the event that follows `before` out of the ring. */
static rlt_kept *kept_unlink(relet *r, rlt_kept *before)
{
    rlt_kept *k = before->next;
    size_t bytes = r->kept->bytes - kept_size(k);

    before->next = k->next;
    if (r->kept == k)
        r->kept = before == k ? NULL : before;
    if (r->kept != NULL)
        r->kept->bytes = bytes;
    return k;
}

/* Ends the loan of the first event, if it was lent. */
static void kept_release(relet *r)
{
    if (r->kept != NULL && r->kept->next->lent)
        rlt_kept_free(r, kept_unlink(r, r->kept));
    rlt_assert(r->kept == NULL || !r->kept->next->lent);
}

static void kept_lend(rlt_kept *k, relet_event *ev)
{
    rlt_assert(!k->lent);
    k->lent = 1;
    *ev = k->ev;
}

RELET_PRIVATE void rlt_kept_add(relet *r, rlt_kept *k, const relet_event *ev)
{
    rlt_kept *last = r->kept;

    rlt_assert(last == NULL || last->whole);
    rlt_assert(ev->kind != RELET_EV_NOTHING);
    k->ev = *ev;
    k->next = last != NULL ? last->next : k;
    k->bytes = kept_size(k) + (last != NULL ? last->bytes : 0);
    if (last != NULL)
        last->next = k;
    r->kept = k;
}

RELET_PRIVATE int rlt_kept_next(relet *r, relet_event *ev)
{
    kept_release(r);
    if (r->kept == NULL)
        return 0;
    kept_lend(r->kept->next, ev);
    return 1;
}

/* ------------------------------------------------------------- one of them */

/* The event before the wanted one, or NULL. A lent event is gone already. */
static rlt_kept *kept_find(const relet *r, const rlt_wanted *w)
{
    rlt_kept *before = r->kept;

    if (before == NULL)
        return NULL;
    do {
        if (!before->next->lent && rlt_wanted_is(w, &before->next->ev))
            return before;
        before = before->next;
    } while (before != r->kept);
    return NULL;
}

RELET_PRIVATE int rlt_kept_has(const relet *r, relet_kind kind, int number)
{
    rlt_wanted w;

    w.kind = kind;
    w.tag = 0;
    w.number = number;
    return kept_find(r, &w) != NULL;
}

RELET_PRIVATE int rlt_kept_take(relet *r, const rlt_wanted *w, relet_event *ev)
{
    rlt_kept *before, *k;

    kept_release(r);
    before = kept_find(r, w);
    if (before == NULL)
        return 0;
    k = before->next;
    if (before != r->kept) { /* to the front, from where it is released */
        (void)kept_unlink(r, before);
        rlt_assert(r->kept != NULL);
        k->next = r->kept->next;
        r->kept->next = k;
        r->kept->bytes += kept_size(k);
    }
    kept_lend(k, ev);
    return 1;
}

/* --------------------------------------------------------------- the copies */

static size_t kept_copy_size(const relet_event *ev)
{
    return relet_value_size(ev->value) + ev->channel.n + ev->pattern.n +
           ev->text.n;
}

static char *kept_text(char *to, relet_span *s)
{
    if (s->n > 0)
        memcpy(to, s->p, s->n);
    if (s->p != NULL)
        s->p = to;
    return to + s->n;
}

static void kept_copy(rlt_kept *k, void *copy, size_t n)
{
    relet_event *ev = &k->ev;
    size_t value = relet_value_size(ev->value);
    char *at = (char *)copy + value;

    ev->value = relet_value_copy(ev->value, copy, value);
    at = kept_text(at, &ev->channel);
    at = kept_text(at, &ev->pattern);
    at = kept_text(at, &ev->text);
    rlt_assert(at == (char *)copy + n);
    k->copy = copy;
    k->n = n;
    k->whole = 1;
}

RELET_PRIVATE int rlt_kept_copy(relet *r, size_t max)
{
    rlt_kept *k = r->kept;
    size_t n = kept_copy_size(&k->ev);
    void *copy;

    rlt_assert(!k->whole);
    if (n > max || k->bytes > max - n)
        return RELET_E_LIMIT;
    if (n == 0) {
        k->whole = 1;
        return 0;
    }
    copy = kept_resize(r, NULL, 0, n);
    if (copy == NULL)
        return RELET_E_MEMORY;
    kept_copy(k, copy, n);
    k->bytes += n;
    return 0;
}

RELET_PRIVATE void rlt_kept_strip(relet *r)
{
    relet_event *ev = &r->kept->ev;

    rlt_assert(!r->kept->whole);
    if (ev->kind == RELET_EV_REPLY || ev->kind == RELET_EV_ERROR) {
        ev->kind = RELET_EV_ERROR;
        ev->why = RELET_WHY_MEMORY;
    }
    ev->value.node = NULL;
    ev->channel.n = ev->pattern.n = 0;
    ev->text = relet_str("no memory to keep it");
    r->kept->whole = 1;
}

RELET_PRIVATE void rlt_kept_finish(relet *r)
{
    while (r->kept != NULL)
        rlt_kept_free(r, kept_unlink(r, r->kept));
}

#endif /* RELET_SMALL */
#endif /* RELET_NO_POLL */
