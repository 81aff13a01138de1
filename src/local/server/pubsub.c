/* SPDX-License-Identifier: MIT
 *
 * pubsub.c - channels, patterns, shard channels, and their subscribers.
 */
#include "pubsub.h"
#include "blocked.h"

#define PUBSUB_ALL                                                             \
    (RLT_EVENT_GENERIC | RLT_EVENT_STRING | RLT_EVENT_LIST | RLT_EVENT_SET |   \
     RLT_EVENT_HASH | RLT_EVENT_ZSET | RLT_EVENT_EXPIRED | RLT_EVENT_EVICTED | \
     RLT_EVENT_STREAM | PUBSUB_MODULE)
#define PUBSUB_MODULE                                                          \
    (1 << 13) /* 'd': modules are not supported, but A includes it */

/* ------------------------------------------------------------- subscribing */

static void pubsub_link(rlt_topic *t, rlt_reader *r)
{
    r->next = NULL;
    r->back = t->last;
    if (t->last)
        t->last->next = r;
    else
        t->first = r;
    t->last = r;
    t->count++;
}

static void pubsub_unlink(rlt_topic *t, rlt_reader *r)
{
    if (r->back)
        r->back->next = r->next;
    else
        t->first = r->next;
    if (r->next)
        r->next->back = r->back;
    else
        t->last = r->back;
    t->count--;
}

RELET_PRIVATE int rlt_local_pubsub_join(rlt_peer *p, rlt_local_pubsub_kind kind,
                                        relet_span name)
{
    rlt_server *s = p->server;
    rlt_dict *topics = &s->topics[kind];
    rlt_entry *e, *own;
    rlt_reader *r;

    if (rlt_dict_find(&p->subscribed[kind], name) != NULL)
        return 0;
    e = rlt_dict_find(topics, name);
    if (e == NULL) {
        e = rlt_dict_add(topics, &s->pool, name);
        e->value.p = rlt_pool_get(&s->pool, sizeof(rlt_topic));
        memset(e->value.p, 0, sizeof(rlt_topic));
    }
    r = (rlt_reader *)rlt_pool_get(&s->pool, sizeof *r);
    r->peer = p;
    r->topic = e;
    pubsub_link((rlt_topic *)e->value.p, r);
    own = rlt_dict_add(&p->subscribed[kind], &s->pool, name);
    own->value.p = r;
    return 1;
}

static void pubsub_drop(rlt_peer *p, rlt_local_pubsub_kind kind, rlt_entry *own)
{
    rlt_server *s = p->server;
    rlt_reader *r = (rlt_reader *)own->value.p;
    rlt_topic *t = (rlt_topic *)r->topic->value.p;

    pubsub_unlink(t, r);
    if (t->count == 0) {
        rlt_dict_remove(&s->topics[kind], &s->pool, r->topic);
        rlt_pool_put(&s->pool, t, sizeof *t);
    }
    rlt_pool_put(&s->pool, r, sizeof *r);
    rlt_dict_remove(&p->subscribed[kind], &s->pool, own);
}

RELET_PRIVATE int rlt_local_pubsub_leave(rlt_peer *p,
                                         rlt_local_pubsub_kind kind,
                                         relet_span name)
{
    rlt_entry *own = rlt_dict_find(&p->subscribed[kind], name);

    if (own == NULL)
        return 0;
    pubsub_drop(p, kind, own);
    return 1;
}

RELET_PRIVATE void rlt_local_pubsub_leave_all(rlt_peer *p)
{
    int k;

    for (k = 0; k < RLT_NEWS_KINDS; k++) {
        while (p->subscribed[k].first)
            pubsub_drop(p, (rlt_local_pubsub_kind)k, p->subscribed[k].first);
        rlt_dict_clear(&p->subscribed[k], &p->server->pool);
    }
}

RELET_PRIVATE uint32_t rlt_local_pubsub_count(const rlt_peer *p)
{
    return p->subscribed[RLT_NEWS_CHANNEL].count +
           p->subscribed[RLT_NEWS_PATTERN].count;
}

RELET_PRIVATE int rlt_local_pubsub_reading(const rlt_peer *p)
{
    return rlt_local_pubsub_count(p) > 0 ||
           p->subscribed[RLT_NEWS_SHARD].count > 0;
}

/* -------------------------------------------------------------- publishing */

static void pubsub_write(rlt_peer *p, const char *what,
                         const rlt_entry *pattern, relet_span channel,
                         relet_span message)
{
    rlt_out_push(&p->out, pattern ? 4 : 3);
    rlt_out_text(&p->out, what);
    if (pattern)
        rlt_out_bulk(&p->out, rlt_entry_key(pattern));
    rlt_out_bulk(&p->out, channel);
    rlt_out_bulk(&p->out, message);
    rlt_blocked_told(p);
}

static uint32_t pubsub_tell(const rlt_entry *topic, const char *what,
                            int is_pattern, relet_span channel,
                            relet_span message)
{
    const rlt_topic *t = (const rlt_topic *)topic->value.p;
    const rlt_reader *r;

    for (r = t->first; r; r = r->next)
        pubsub_write(r->peer, what, is_pattern ? topic : NULL, channel,
                     message);
    return t->count;
}

RELET_PRIVATE uint32_t rlt_local_pubsub_publish(rlt_server *s, int shard,
                                                relet_span channel,
                                                relet_span message)
{
    rlt_dict *direct =
        &s->topics[shard ? RLT_NEWS_SHARD : RLT_NEWS_CHANNEL];
    rlt_entry *e = rlt_dict_find(direct, channel);
    uint32_t n = 0;

    if (e != NULL)
        n = pubsub_tell(e, shard ? "smessage" : "message", 0, channel, message);
    if (shard)
        return n;
    for (e = s->topics[RLT_NEWS_PATTERN].first; e; e = e->next)
        if (rlt_glob_match(rlt_entry_key(e), channel, 0))
            n += pubsub_tell(e, "pmessage", 1, channel, message);
    return n;
}

/* --------------------------------------------------------- keyspace events */

/* An event was lost for want of memory. Close every subscriber: any of them may
 * have missed it. */
static void pubsub_lost(rlt_server *s)
{
    uint32_t i;

    for (i = 0; i < s->peers_cap; i++)
        if (s->peers[i] && rlt_local_pubsub_count(s->peers[i]) > 0) {
            s->peers[i]->out.failed = 1;
            rlt_blocked_told(s->peers[i]);
        }
}

static void pubsub_event_as(rlt_server *s, const char *prefix, uint32_t db,
                            relet_span name, relet_span message)
{
    size_t n = strlen(prefix), size = n + 20 + 3 + name.n;
    char *text = (char *)rlt_pool_try(&s->pool, size);
    relet_span channel;

    if (text == NULL) {
        pubsub_lost(s);
        return;
    }
    memcpy(text, prefix, n);
    n += rlt_text_put_u64(text + n, db);
    memcpy(text + n, "__:", 3);
    n += 3;
    if (name.n > 0)
        memcpy(text + n, name.p, name.n);
    channel.p = text;
    channel.n = n + name.n;
    (void)rlt_local_pubsub_publish(s, 0, channel, message);
    rlt_pool_put(&s->pool, text, size);
}

RELET_PRIVATE void rlt_local_pubsub_event(rlt_server *s, uint32_t db,
                                          int class_, const char *event,
                                          relet_span key)
{
    int flags = s->settings.notify;

    if ((flags & class_) == 0)
        return;
    if (s->topics[RLT_NEWS_CHANNEL].count == 0 &&
        s->topics[RLT_NEWS_PATTERN].count == 0)
        return;
    if (flags & RLT_NOTIFY_KEYSPACE)
        pubsub_event_as(s, "__keyspace@", db, key, relet_str(event));
    if (flags & RLT_NOTIFY_KEYEVENT)
        pubsub_event_as(s, "__keyevent@", db, relet_str(event), key);
}

typedef struct pubsub_letter {
    char letter;
    int flag;
} pubsub_letter;

static const pubsub_letter pubsub_letters[] = {
    {'g', RLT_EVENT_GENERIC},   {'$', RLT_EVENT_STRING},
    {'l', RLT_EVENT_LIST},      {'s', RLT_EVENT_SET},
    {'h', RLT_EVENT_HASH},      {'z', RLT_EVENT_ZSET},
    {'x', RLT_EVENT_EXPIRED},   {'e', RLT_EVENT_EVICTED},
    {'t', RLT_EVENT_STREAM},    {'d', PUBSUB_MODULE},
    {'n', RLT_EVENT_NEW},       {'K', RLT_NOTIFY_KEYSPACE},
    {'E', RLT_NOTIFY_KEYEVENT}, {'m', RLT_EVENT_KEY_MISS}};

RELET_PRIVATE int rlt_local_pubsub_flags(relet_span letters)
{
    int flags = 0, found;
    size_t i, k;

    for (i = 0; i < letters.n; i++) {
        found = letters.p[i] == 'A' ? PUBSUB_ALL : 0;
        for (k = 0; k < sizeof pubsub_letters / sizeof *pubsub_letters; k++)
            if (pubsub_letters[k].letter == letters.p[i])
                found = pubsub_letters[k].flag;
        if (found == 0)
            return -1;
        flags |= found;
    }
    return flags;
}

/* Redis omits 'n' when it prints A. */
RELET_PRIVATE size_t rlt_local_pubsub_letters(int flags, char *text)
{
    size_t n = 0, k;

    if ((flags & PUBSUB_ALL) == PUBSUB_ALL) {
        text[n++] = 'A';
        flags &= ~(PUBSUB_ALL | RLT_EVENT_NEW);
    }
    for (k = 0; k < sizeof pubsub_letters / sizeof *pubsub_letters; k++)
        if (flags & pubsub_letters[k].flag)
            text[n++] = pubsub_letters[k].letter;
    return n;
}
