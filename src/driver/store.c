/* SPDX-License-Identifier: MIT
 *
 * store.c - one store: a local server, a clock, and a log where there is a
 * file. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif

#include "store.h"

#ifndef RELET_NO_POLL

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STORE_FEED ((size_t)65536) /* bytes of a record at once */
#define STORE_SYNC_MS 1000

static void *store_resize(void *user, void *p, size_t old_size, size_t size)
{
    (void)user;
    (void)old_size;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, size);
}

static int64_t store_wall_us(void)
{
    struct timespec t = {0, 0};

    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + (int64_t)(t.tv_nsec / 1000);
}

static int store_has_log(const rlt_store *s)
{
    return s->scheme == RELET_FILE;
}

static int store_say(rlt_store *s, const char *text, int err)
{
    (void)snprintf(s->text, sizeof s->text, "%s", text);
    return err;
}

RELET_PRIVATE void rlt_store_shut(rlt_store *s)
{
    if (s->local != NULL) {
        relet_local_finish(s->local);
        free(s->local);
        s->life++;
    }
    s->local = NULL;
    rlt_logfile_close(&s->disk);
    s->sync_at = RELET_NEVER;
}

/* -------------------------------------------------------- rewriting the log */

static int store_dump(rlt_store *s, rlt_logfile *fresh)
{
    uint64_t at = 0;
    const uint8_t *p;
    size_t n;
    int broken, code;

    while ((n = relet_local_dump(s->local, &at, &p, &broken)) > 0) {
        if (broken)
            return store_say(s, "no memory to write the log anew", ENOMEM);
        code = rlt_logfile_add(fresh, p, n);
        if (code != 0)
            return store_say(s, fresh->text, code);
    }
    return 0;
}

/* A salt may be any number that was not used before. */
static uint64_t store_salt(const rlt_store *s)
{
    return (s->disk.log.salt ^ s->seed ^ (uint64_t)store_wall_us()) *
           UINT64_C(0xd1342543de82ef95);
}

/* A rewrite that failed is tried again when the log has grown. */
static void store_rewritten(rlt_store *s, int code)
{
    uint64_t base = s->disk.log.base, min = s->config->rewrite_min;

    if (code == 0)
        s->rewrite_at = RLT_MAX(base * 2, min);
    else
        s->rewrite_at = s->disk.size + RLT_MAX(base, min);
    s->info.rewrites += code == 0;
}

/* *done: the new log is in place, whatever is returned. */
static int store_rewrite(rlt_store *s, int *done)
{
    rlt_logfile fresh;
    int code = rlt_logfile_fresh(&fresh, &s->disk, store_salt(s));

    *done = 0;
    if (code != 0)
        (void)store_say(s, fresh.text, 0);
    else
        code = store_dump(s, &fresh);
    if (code == 0) {
        code = rlt_logfile_replace(&s->disk, &fresh, done);
        if (code != 0)
            (void)store_say(s, *done ? s->disk.text : fresh.text, 0);
    }
    rlt_logfile_abandon(&fresh);
    store_rewritten(s, code);
    return code;
}

/* ------------------------------------------------------------------ writing */

static int store_safe(rlt_store *s)
{
    int code = 0;

    s->sync_at = RELET_NEVER;
    if (s->disk.synced == s->disk.size)
        return 0;
    code = rlt_logfile_sync(&s->disk);
    if (code != 0)
        (void)store_say(s, s->disk.text, 0);
    s->info.syncs += code == 0;
    s->suspect |= code != 0;
    return code;
}

static int store_append(rlt_store *s, const void *p, size_t n)
{
    int code = rlt_logfile_append(&s->disk, p, n);

    if (code != 0)
        return store_say(s, s->disk.text, code);
    s->info.records++;
    switch (s->fsync) {
    case RELET_FSYNC_ALWAYS:
        return store_safe(s);
    case RELET_FSYNC_EVERYSEC:
        if (s->sync_at == RELET_NEVER)
            s->sync_at = relet_clock() + STORE_SYNC_MS;
        return 0;
    case RELET_FSYNC_NEVER:
        break;
    }
    return 0;
}

/* Once the record is written, a rewrite that fails is no error, unless the new
 * log is already in place. */
static int store_write(rlt_store *s, const void *p, size_t n)
{
    int code = store_append(s, p, n), done = 0;

    if (code != 0 || s->disk.size < s->rewrite_at)
        return code;
    code = store_rewrite(s, &done);
    return done ? code : 0;
}

RELET_PRIVATE void rlt_store_commit(rlt_store *s)
{
    int broken, done, code;
    const uint8_t *p;
    size_t n;

    if (s->local == NULL || !store_has_log(s))
        return;
    n = relet_local_effects(s->local, &p, &broken);
    if (n == 0 && !broken)
        return;
    code = broken ? store_rewrite(s, &done) : store_write(s, p, n);
    if (code == 0)
        relet_local_effects_taken(s->local, n);
    else /* memory is ahead of the disk: no client may see it */
        rlt_store_shut(s);
}

RELET_PRIVATE void rlt_store_sync(rlt_store *s)
{
    if (s->local != NULL && store_has_log(s) && store_safe(s) != 0)
        rlt_store_shut(s);
}

RELET_PRIVATE void rlt_store_sync_due(rlt_store *s)
{
    if (s->sync_at != RELET_NEVER && relet_clock() >= s->sync_at)
        rlt_store_sync(s);
}

/* ------------------------------------------------------------------ opening */

static int store_refused(rlt_store *s, uint64_t at, relet_span why)
{
    char what[160];

    (void)snprintf(what, sizeof what,
                   "the record at byte %llu cannot be replayed: %.*s",
                   (unsigned long long)at, (int)RLT_MIN(why.n, 80), why.p);
    rlt_logfile_blame(&s->disk, what);
    return store_say(s, s->disk.text, EIO);
}

/* Replays one record, in pieces, so that it is not in memory three times. */
static int store_replay(rlt_store *s, int id, uint64_t at, const uint8_t *p,
                        size_t n)
{
    relet_span why;
    const uint8_t *out;
    size_t m, k;

    while (n > 0) {
        k = RLT_MIN(n, STORE_FEED);
        relet_local_feed(s->local, id, p, k);
        p += k;
        n -= k;
        m = relet_local_output(s->local, id, &out);
        why = rlt_log_refusal(out, m);
        if (why.p == NULL && relet_local_closed(s->local, id))
            why = relet_str("no commands");
        if (why.p != NULL)
            return store_refused(s, at, why);
        relet_local_sent(s->local, id, m);
    }
    s->info.replayed++;
    return 0;
}

static int store_read(rlt_store *s)
{
    int id = relet_local_connect(s->local), code;
    const uint8_t *p;
    uint64_t at;
    size_t n;

    if (id < 0)
        return store_say(s, "no memory", ENOMEM);
    relet_local_replay(s->local, id, 1);
    for (;;) {
        at = s->disk.size;
        code = rlt_logfile_next(&s->disk, &p, &n);
        if (code != 0)
            return store_say(s, s->disk.text, code);
        if (n == 0)
            break;
        code = store_replay(s, id, at, p, n);
        if (code != 0)
            return code;
    }
    relet_local_hangup(s->local, id);
    return 0;
}

static int store_open_log(rlt_store *s)
{
    int code = rlt_logfile_open(&s->disk, s->name), done;

    if (code != 0)
        return store_say(s, s->disk.text, code);
    if (s->disk.size == 0)
        return store_rewrite(s, &done);
    code = store_read(s);
    if (code != 0) {
        s->suspect = 1; /* the error may be that of a sync */
        return code;
    }
    s->info.cut_at = s->disk.cut_at;
    s->info.cut_bytes = s->disk.cut_bytes;
    s->rewrite_at = RLT_MAX(s->disk.log.base * 2, s->config->rewrite_min);
    if (s->suspect)
        code = store_rewrite(s, &done);
    s->suspect = code != 0;
    return code;
}

static int store_open_local(rlt_store *s)
{
    relet_local_config c = s->config->local;
    void *block = malloc(relet_local_size());

    if (c.resize == NULL)
        c.resize = store_resize;
    if (c.seed == 0)
        c.seed = s->seed;
    c.effects = store_has_log(s);
    if (block != NULL)
        s->local = relet_local_init(block, relet_local_size(), &c);
    if (s->local == NULL) {
        free(block);
        return store_say(s, "no memory", ENOMEM);
    }
    relet_local_time(s->local, store_wall_us());
    return 0;
}

RELET_PRIVATE int rlt_store_open(rlt_store *s)
{
    int code;

    if (s->local != NULL)
        return 0;
    memset(&s->info, 0, sizeof s->info);
    code = store_open_local(s);
    if (code == 0 && store_has_log(s))
        code = store_open_log(s);
    if (code != 0)
        rlt_store_shut(s);
    return code;
}

/* --------------------------------------------------------------------- time */

RELET_PRIVATE void rlt_store_pass(rlt_store *s)
{
    if (s->local == NULL)
        return;
    relet_local_time(s->local, store_wall_us());
    rlt_store_commit(s);
}

/* The local server uses the wall clock. Rounded up: a bit late rather than
 * early. */
RELET_PRIVATE relet_time rlt_store_deadline(const rlt_store *s)
{
    int64_t due, now;

    if (s->local == NULL)
        return RELET_NEVER;
    due = relet_local_deadline(s->local);
    if (due == INT64_MAX)
        return s->sync_at;
    now = store_wall_us();
    if (due <= now)
        return 0;
    return RLT_MIN(s->sync_at, relet_clock() + (due - now) / 1000 + 1);
}

#endif /* RELET_NO_POLL */
