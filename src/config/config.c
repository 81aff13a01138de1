/* SPDX-License-Identifier: MIT
 *
 * config.c - the settings: their limits and their defaults.
 *
 * One table lists the fields; the URL's options, the environment and the check
 * all use it. */
#include "config.h"

#include "text.h"

/* About 32 years. Any large value will do that can be added to a time without
 * overflow. */
#define CONFIG_MS_MAX ((int64_t)1000000000000)

/* Twice such a size, or the sum of up to four, fits in size_t. */
#define CONFIG_BYTES_MAX ((size_t)-1 / 4)
#define CONFIG_BYTES ((int64_t)CONFIG_BYTES_MAX)

/* A build that leaves out leases or queues allows none of them. */
#ifdef RELET_NO_LEASE
#define CONFIG_LEASES_MAX 0
#else
#define CONFIG_LEASES_MAX (1 << 12)
#endif
#ifdef RELET_NO_QUEUE
#define CONFIG_WORKERS_MAX 0
#else
#define CONFIG_WORKERS_MAX (1 << 8)
#endif

#ifdef RELET_SMALL
#define CONFIG_SUBSCRIPTIONS_MAX 0
#define CONFIG_TRACKING_MAX RELET_TRACK_OFF
#else
#define CONFIG_SUBSCRIPTIONS_MAX (1 << 20)
#define CONFIG_TRACKING_MAX RELET_TRACK_BROADCAST
#endif

#define CONFIG_NUMBER(name, kind, option, min, max) \
    {#name, max, min, offsetof(relet_config, name), kind, option}
#define CONFIG_STRING(name, kind, option) \
    {#name, (int64_t)sizeof(((relet_config *)0)->name) - 1, 0, \
     offsetof(relet_config, name), kind, option}

/* The minimum of each limit is the smallest value with which a handshake still
 * succeeds. */
static const rlt_field config_fields[] = {
    CONFIG_STRING(host, RLT_FIELD_TEXT, 0),
    CONFIG_NUMBER(port, RLT_FIELD_INT, 0, 1, 65535),
    CONFIG_STRING(service, RLT_FIELD_WORD, 0),
    CONFIG_STRING(user, RLT_FIELD_WORD, 0),
    CONFIG_STRING(password, RLT_FIELD_TEXT, 0),
    CONFIG_STRING(name, RLT_FIELD_ASCII, 1),
    CONFIG_NUMBER(db, RLT_FIELD_INT, 1, 0, INT32_MAX),
    CONFIG_NUMBER(tracking, RLT_FIELD_TRACKING, 1, 0, CONFIG_TRACKING_MAX),
    CONFIG_NUMBER(tracking_noloop, RLT_FIELD_INT, 0, 0, 1),
    CONFIG_STRING(tracking_prefix, RLT_FIELD_TEXT, 0),
    CONFIG_STRING(prefix, RLT_FIELD_TEXT, 1),
    CONFIG_NUMBER(fsync, RLT_FIELD_FSYNC, 1, 0, RELET_FSYNC_NEVER),
    CONFIG_NUMBER(connect_timeout_ms, RLT_FIELD_MS, 1, 1, CONFIG_MS_MAX),
    CONFIG_NUMBER(timeout_ms, RLT_FIELD_MS, 1, 1, CONFIG_MS_MAX),
    CONFIG_NUMBER(ping_every_ms, RLT_FIELD_MS, 1, 0, CONFIG_MS_MAX),
    CONFIG_NUMBER(retry_min_ms, RLT_FIELD_MS, 1, 1, CONFIG_MS_MAX),
    CONFIG_NUMBER(retry_max_ms, RLT_FIELD_MS, 1, 1, CONFIG_MS_MAX),
    CONFIG_NUMBER(stable_ms, RLT_FIELD_MS, 0, 0, CONFIG_MS_MAX),
    CONFIG_NUMBER(attempts_max, RLT_FIELD_INT, 1, 0, INT32_MAX),
    CONFIG_NUMBER(fail_fast, RLT_FIELD_INT, 1, 0, 1),
    CONFIG_NUMBER(operations_max, RLT_FIELD_U32, 0, 1, 1 << 20),
    CONFIG_NUMBER(subscriptions_max, RLT_FIELD_U32, 0, 0,
                  CONFIG_SUBSCRIPTIONS_MAX),
    CONFIG_NUMBER(scripts_max, RLT_FIELD_U32, 0, 0, 1 << 16),
    CONFIG_NUMBER(leases_max, RLT_FIELD_U32, 0, 0, CONFIG_LEASES_MAX),
    CONFIG_NUMBER(workers_max, RLT_FIELD_U32, 0, 0, CONFIG_WORKERS_MAX),
    CONFIG_NUMBER(jobs_max, RLT_FIELD_U32, 0, 1, 1 << 12),
    CONFIG_NUMBER(output_max, RLT_FIELD_SIZE, 0, 256, CONFIG_BYTES),
    CONFIG_NUMBER(reply_max, RLT_FIELD_SIZE, 0, 256, CONFIG_BYTES),
    CONFIG_NUMBER(tape_max, RLT_FIELD_SIZE, 0, 256, CONFIG_BYTES),
    CONFIG_NUMBER(bulk_max, RLT_FIELD_U32, 0, 64, 512 << 20),
    CONFIG_NUMBER(line_max, RLT_FIELD_U32, 0, 64, 512 << 20),
    CONFIG_NUMBER(count_max, RLT_FIELD_U32, 0, 16, INT32_MAX),
    CONFIG_NUMBER(depth_max, RLT_FIELD_U32, 0, 1, 128),
    CONFIG_NUMBER(buffer_min, RLT_FIELD_SIZE, 0, 64, CONFIG_BYTES),
};

#define CONFIG_FIELDS (sizeof config_fields / sizeof config_fields[0])

/* ---------------------------------------------------------------- defaults */

RELET_API void relet_config_init(relet_config *c)
{
    memset(c, 0, sizeof *c);
    c->scheme = RELET_TCP;
    c->tracking = RELET_TRACK_OFF;
    memcpy(c->host, "localhost", sizeof "localhost");
    c->port = 6379;
    c->connect_timeout_ms = 5000;
    c->timeout_ms = 5000;
    c->ping_every_ms = 15000;
    c->retry_min_ms = 100;
    c->retry_max_ms = 10000;
    c->stable_ms = 10000;
    c->operations_max = 16384;
    c->subscriptions_max = RLT_MIN(256, CONFIG_SUBSCRIPTIONS_MAX);
    c->scripts_max = 32;
    c->leases_max = RLT_MIN(8, CONFIG_LEASES_MAX);
    c->workers_max = RLT_MIN(4, CONFIG_WORKERS_MAX);
    c->jobs_max = 64;
    c->output_max = RLT_CONFIG_GIB / 4;
    c->reply_max = RLT_MIN(RLT_CONFIG_GIB, CONFIG_BYTES_MAX / 2);
    c->tape_max = c->reply_max;
    c->bulk_max = 512u << 20;
    c->line_max = 64u << 10;
    c->count_max = INT32_MAX;
    c->depth_max = 128;
    c->buffer_min = RLT_TINY ? 64 : 16 << 10;
}

RELET_API void relet_config_init_small(relet_config *c)
{
    relet_config_init(c);
    c->operations_max = 16;
    c->subscriptions_max = RLT_MIN(4, CONFIG_SUBSCRIPTIONS_MAX);
    c->scripts_max = 4;
    c->leases_max = 0;
    c->workers_max = 0;
    c->jobs_max = 1;
    c->output_max = 1024;
    c->reply_max = 1024;
    c->tape_max = 1024;
    c->bulk_max = 1000;
    c->line_max = 256;
    c->count_max = 64; /* as many as the tape has nodes */
    c->depth_max = 8;
    c->buffer_min = RLT_TINY ? 64 : 256;
}

RELET_API void relet_config_wipe(relet_config *c)
{
    volatile char *p = c->password; /* or the stores may be optimised away */
    size_t i;

    for (i = 0; i < sizeof c->password; i++)
        p[i] = 0;
}

/* ------------------------------------------------------------------ fields */

RELET_PRIVATE const rlt_field *rlt_config_field(size_t i)
{
    return i < CONFIG_FIELDS ? &config_fields[i] : NULL;
}

RELET_PRIVATE uint32_t rlt_config_bit(const rlt_field *f)
{
    return (uint32_t)1 << (f - config_fields);
}

RELET_PRIVATE const rlt_field *rlt_config_find(relet_span name)
{
    size_t i;

    for (i = 0; i < CONFIG_FIELDS; i++)
        if (rlt_span_is(name, config_fields[i].name))
            return &config_fields[i];
    return NULL;
}

RELET_PRIVATE char *rlt_config_chars(relet_config *c, const rlt_field *f)
{
    return (char *)c + f->at;
}

/* The reason why a field of text may not contain a byte, or NULL. */
RELET_PRIVATE const char *rlt_config_byte_rule(const rlt_field *f, char b)
{
    if ((uint8_t)b < ' ' || b == 0x7f)
        return RLT_TEXT(" may not have a control byte");
    if (b == ' ' && f->kind != RLT_FIELD_TEXT)
        return RLT_TEXT(" may not have a blank");
    if ((uint8_t)b > 0x7f && f->kind == RLT_FIELD_ASCII)
        return RLT_TEXT(" may have ASCII only");
    return NULL;
}

RELET_PRIVATE int rlt_config_is_text(const rlt_field *f)
{
    return f->kind == RLT_FIELD_TEXT || f->kind == RLT_FIELD_WORD ||
           f->kind == RLT_FIELD_ASCII;
}

/* A size that int64 cannot hold becomes INT64_MAX, which is over every limit
 * too. */
RELET_PRIVATE int64_t rlt_config_get(const relet_config *c, const rlt_field *f)
{
    const void *p = (const char *)c + f->at;

    switch ((rlt_field_kind)f->kind) {
    case RLT_FIELD_INT:
        return *(const int *)p;
    case RLT_FIELD_U32:
        return *(const uint32_t *)p;
    case RLT_FIELD_MS:
        return *(const relet_time *)p;
    case RLT_FIELD_SIZE:
        return (int64_t)RLT_MIN((uint64_t)*(const size_t *)p,
                                (uint64_t)INT64_MAX);
    case RLT_FIELD_TRACKING:
        return (int64_t)c->tracking;
    case RLT_FIELD_FSYNC:
        return (int64_t)c->fsync;
    case RLT_FIELD_TEXT:
    case RLT_FIELD_WORD:
    case RLT_FIELD_ASCII:
        break;
    }
    return 0;
}

/* Only for the kinds of number that text can set. */
RELET_PRIVATE void rlt_config_set(relet_config *c, const rlt_field *f,
                                  int64_t v)
{
    void *p = (char *)c + f->at;

    if (f->kind == RLT_FIELD_MS)
        *(relet_time *)p = v;
    else
        *(int *)p = (int)v;
}

/* Reports a setting that breaks a rule; the message is `field rule`. */
RELET_PRIVATE RLT_APART int rlt_config_refuse(relet_fault *fault,
                                              const char *field,
                                              const char *rule)
{
    rlt_say say;

    if (fault == NULL)
        return RELET_E_CONFIG;
    memset(fault, 0, sizeof *fault);
    fault->code = RELET_E_CONFIG;
    fault->field = field;
    rlt_say_init(&say, fault->text, sizeof fault->text);
    rlt_say_text(&say, field);
    rlt_say_text(&say, " ");
    rlt_say_text(&say, rule);
    return RELET_E_CONFIG;
}
