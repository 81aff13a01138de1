/* SPDX-License-Identifier: MIT
 *
 * client.c - the memory of a client and its parts, and the calls of drivers.
 *
 * One block holds everything of fixed size. Without an allocator it holds the
 * buffers too, at their caps, and the client never asks for memory again. */
#include "client.h"

#include "text.h"

/* ----------------------------------------------------------------- memory */

/* Calls the user's resize hook, and counts the memory in use. */
static void *client_resize(void *user, void *p, size_t old_size,
                           size_t new_size)
{
    relet *r = (relet *)user;
    void *q = r->memory.resize(r->memory.user, p, old_size, new_size);

    if (q == NULL && new_size > 0)
        return NULL;
    r->held += new_size - old_size;
    r->held_peak = RLT_MAX(r->held_peak, r->held);
    return q;
}

/* Where the parts of the block are: offsets from its start. */
typedef struct client_plan {
    size_t ops, subscriptions, script_list, leases, workers, claims, strings;
    size_t in, out, tape, names, hello, secrets;
    size_t names_max, hello_max, secrets_max;
    size_t total;
    uint32_t ops_cap, subscriptions_max;
    size_t output_max; /* the user's, and what is kept free for leases       */
} client_plan;

static size_t client_place(client_plan *p, size_t n)
{
    size_t at = p->total;

    /* Aligned for anything we keep. */
    p->total += (n + 15) & ~(size_t)15;
    return at;
}

/* Subscriptions of the library: for each lease and worker that listens, and for
 * as many that have ended and wait for the server to confirm that they left. */
static uint32_t client_channels(const relet_config *c)
{
    return RLT_HAS_ENGINE ? 2 * (c->leases_max + c->workers_max) : 0;
}

#ifdef RELET_NO_QUEUE
#define CLIENT_STEPS 0
#else
#define CLIENT_STEPS RLT_STEPS
#endif

/* Internal operations and tombstones take entries too, and a put may be
 * followed by a promote. */
static uint32_t client_ops_cap(const relet_config *c)
{
    uint32_t puts = c->workers_max > 0 ? c->operations_max + 1 : 0;
    uint32_t want = c->operations_max + 8;
    uint32_t cap = 16;

    if (RLT_HAS_ENGINE)
        want += 2 * c->leases_max + puts + client_channels(c) +
                c->workers_max * (CLIENT_STEPS + c->jobs_max);
    while (cap < want)
        cap *= 2;
    return cap;
}

/* How many library scripts the client may use: others get no memory. */
static uint32_t client_scripts(const relet_config *c)
{
    if (RLT_HAS_QUEUE && c->workers_max > 0)
        return RLT_SCRIPTS_OWN;
    return RLT_HAS_ENGINE && c->leases_max > 0 ? RLT_SCRIPTS_LEASE : 0;
}

/* Bytes of a handshake: its fixed words, their values, the subscriptions. */
static size_t client_hello_max(const relet_config *c, const client_plan *p)
{
    return 512 + p->secrets_max + strlen(c->name) +
           24 * strlen(c->tracking_prefix) + p->names_max +
           40 * (size_t)p->subscriptions_max;
}

static void client_plan_make(client_plan *p, const relet_config *c)
{
    size_t secrets = strlen(c->user) + strlen(c->password);

    memset(p, 0, sizeof *p);
    p->ops_cap = client_ops_cap(c);
    p->subscriptions_max = c->subscriptions_max + client_channels(c);
    p->output_max = c->output_max;
    if (RLT_HAS_ENGINE)
        p->output_max += RLT_LEASES_OUTPUT((size_t)c->leases_max) +
                         RLT_WORKERS_OUTPUT((size_t)c->workers_max);
    if (RLT_HAS_MESSAGES)
        p->names_max = 64 * (size_t)c->subscriptions_max +
                       RLT_WAKE_MAX * (size_t)client_channels(c);
    p->secrets_max = RLT_MAX(secrets, 96);
    if (c->resize) {
        if (RLT_HAS_MESSAGES)
            p->names_max += 65536 + 192 * (size_t)c->subscriptions_max;
        p->secrets_max = sizeof c->user + sizeof c->password;
    }
    p->hello_max = client_hello_max(c, p);
    (void)client_place(p, sizeof(relet));
    p->ops = client_place(p, p->ops_cap * sizeof(rlt_op));
    p->subscriptions =
        client_place(p, p->subscriptions_max * sizeof(rlt_subscription));
    p->script_list = client_place(
        p, (c->scripts_max + client_scripts(c)) * sizeof(rlt_script));
#ifndef RELET_NO_LEASE
    p->leases = client_place(p, c->leases_max * sizeof(rlt_lease_entry));
#endif
#ifndef RELET_NO_QUEUE
    p->workers = client_place(p, c->workers_max * sizeof(rlt_worker_entry));
    p->claims = client_place(
        p, (size_t)c->workers_max * c->jobs_max * sizeof(rlt_claim) +
               (c->workers_max ? sizeof(rlt_queue_room) : 0));
#endif
    p->strings = client_place(p, strlen(c->host) + strlen(c->name) +
                                     strlen(c->tracking_prefix) +
                                     strlen(c->prefix) + 4);
    if (c->resize)
        return;
    p->in = client_place(p, c->reply_max);
    p->out = client_place(p, p->output_max);
    p->tape = client_place(p, c->tape_max);
    p->names = client_place(p, p->names_max);
    p->hello = client_place(p, p->hello_max);
    p->secrets = client_place(p, p->secrets_max);
}

RELET_API size_t relet_size(const relet_config *c)
{
    client_plan p;

    if (relet_config_check(c, NULL) < 0)
        return 0;
    client_plan_make(&p, c);
    return p.total;
}

static const char *client_keep(char **at, const char *text)
{
    char *p = *at;
    size_t n = strlen(text) + 1;

    memcpy(p, text, n);
    *at += n;
    return p;
}

static void client_setup(relet *r, const relet_config *c, char *strings)
{
    rlt_setup *s = &r->setup;

    r->prefix = client_keep(&strings, c->prefix);
    s->scheme = c->scheme;
    s->host = client_keep(&strings, c->host);
    s->port = c->port;
    s->db = c->db;
    s->name = relet_str(client_keep(&strings, c->name));
    s->tracking_prefix = relet_str(client_keep(&strings, c->tracking_prefix));
    s->tracking = c->tracking;
    s->tracking_noloop = c->tracking_noloop;
    s->connect_timeout_ms = c->connect_timeout_ms;
    s->timeout_ms = c->timeout_ms;
    s->ping_every_ms = c->ping_every_ms;
    s->retry_min_ms = c->retry_min_ms;
    s->retry_max_ms = c->retry_max_ms;
    s->stable_ms = c->stable_ms;
    s->attempts_max = c->attempts_max;
}

static void client_init_link(relet *r, const relet_config *c,
                             const client_plan *p, rlt_memory memory)
{
    uint8_t *block = (uint8_t *)r;
    rlt_link_plan plan;

    plan.conn.reader.memory = memory;
    plan.conn.reader.limits.line_max = c->line_max;
    plan.conn.reader.limits.bulk_max = c->bulk_max;
    plan.conn.reader.limits.count_max = c->count_max;
    plan.conn.reader.limits.depth_max = c->depth_max;
    plan.conn.reader.buffer_min = c->buffer_min;
    plan.conn.reader.reply_max = c->reply_max;
    plan.conn.reader.tape_max = c->tape_max;
    plan.conn.reader.block = block + p->in;
    plan.conn.reader.tape_block = block + p->tape;
    plan.conn.ops = (rlt_op *)(void *)(block + p->ops);
    plan.conn.ops_cap = p->ops_cap;
    plan.conn.output_max = p->output_max;
    plan.conn.out_block = block + p->out;
    plan.setup = &r->setup;
    plan.seed = c->seed;
    plan.memory = memory;
    plan.subscriptions =
        (rlt_subscription *)(void *)(block + p->subscriptions);
    plan.subscriptions_max = p->subscriptions_max;
    plan.own_channels = client_channels(c);
    plan.scripts = (rlt_script *)(void *)(block + p->script_list);
    plan.scripts_max = c->scripts_max;
    plan.names = block + p->names;
    plan.names_max = p->names_max;
    plan.hello = block + p->hello;
    plan.hello_max = p->hello_max;
    plan.secrets = block + p->secrets;
    plan.secrets_max = p->secrets_max;
    rlt_link_init(rlt_route_numbered(&r->route, 0), &plan);
}

#ifndef RELET_NO_QUEUE

/* Output bytes of a step: for the text of its script and the keys; and for each
 * job, a number and a token. */
#define CLIENT_STEP_BYTES 5120
#define CLIENT_STEP_JOB_BYTES 64
#define CLIENT_CLAIM_HEAD 128 /* bytes of a claim's answer besides records    */

/* A claim brings a few values, and three for each job. */
#define CLIENT_CLAIM_VALUES 3

/* A record of a job exceeds bulk_max only if it comes alone. */
static rlt_step_limits client_step_limits(const relet_config *c)
{
    size_t bytes = RLT_MIN(c->reply_max - CLIENT_CLAIM_HEAD, c->bulk_max);
    size_t values = RLT_MIN(c->count_max, c->tape_max / sizeof(relet_node) - 1);
    size_t out = RLT_MAX(c->output_max, CLIENT_STEP_BYTES) - CLIENT_STEP_BYTES;
    rlt_step_limits l;

    out = RLT_MIN(out / CLIENT_STEP_JOB_BYTES, RLT_WORKER_BATCH);
    out = RLT_MIN(out, c->bulk_max); /* answers have a letter a job          */
    l.claim_bytes = (uint32_t)RLT_MIN(bytes, 1u << 20);
    l.jobs = (uint32_t)RLT_MIN(out, (values - CLIENT_CLAIM_VALUES) / 3);
    return l;
}

static void client_init_workers(relet *r, const relet_config *c,
                                const client_plan *p)
{
    rlt_workers *w = &r->workers;

    w->list = (rlt_worker_entry *)(void *)((uint8_t *)r + p->workers);
    w->claims = (rlt_claim *)(void *)((uint8_t *)r + p->claims);
    w->max = (uint16_t)c->workers_max;
    w->jobs_max = (uint16_t)c->jobs_max;
    w->limits = client_step_limits(c);
    memset(w->list, 0, w->max * sizeof(rlt_worker_entry));
    if (w->max > 0)
        memset(rlt_client_queues(r), 0, sizeof(rlt_queue_room));
}

RELET_PRIVATE rlt_args *rlt_client_args(const relet *r)
{
    rlt_args *w = &rlt_client_queues(r)->args;

    rlt_assert(r->workers.max > 0);
    rlt_args_init(w);
    return w;
}

#endif

/* The parts have a random generator of their own, so that their names reveal
 * nothing of the session's jitter. */
static void client_init_parts(relet *r, const relet_config *c,
                              const client_plan *p)
{
    (void)p;
    if (RLT_HAS_ENGINE)
        rlt_rand_seed(&r->rand, c->seed ^ UINT64_C(0x6c65617365));
#ifndef RELET_NO_LEASE
    r->leases.list = (rlt_lease_entry *)(void *)((uint8_t *)r + p->leases);
    r->leases.max = c->leases_max;
    memset(r->leases.list, 0, r->leases.max * sizeof(rlt_lease_entry));
#endif
#ifndef RELET_NO_QUEUE
    client_init_workers(r, c, p);
#endif
}

static int client_fault(relet_fault *fault, int code, const char *text)
{
    rlt_say say;

    if (fault == NULL)
        return code;
    memset(fault, 0, sizeof *fault);
    fault->code = code;
    rlt_say_init(&say, fault->text, sizeof fault->text);
    rlt_say_text(&say, text);
    return code;
}

RELET_API relet *relet_init(void *mem, size_t size, const relet_config *c,
                            relet_fault *fault)
{
    relet *r = (relet *)mem;
    rlt_memory memory = {NULL, NULL};
    client_plan p;

    if (relet_config_check(c, fault) < 0)
        return NULL;
    client_plan_make(&p, c);
    if (mem == NULL || size < p.total) {
        (void)client_fault(fault, RELET_E_MEMORY,
                           "the memory is smaller than relet_size says");
        return NULL;
    }
    memset(r, 0, sizeof *r);
    r->memory.resize = c->resize;
    r->memory.user = c->resize_user;
    if (c->resize) {
        memory.resize = client_resize;
        memory.user = r;
    }
    r->own_home.operations_max = c->operations_max;
    r->home = &r->own_home;
    r->output_max = c->output_max;
    r->name_max = RLT_MIN(c->bulk_max, c->reply_max / 2);
    r->fail_fast = c->fail_fast != 0;
    r->refusal = "";
    client_setup(r, c, (char *)mem + p.strings);
    client_init_link(r, c, &p, memory);
    client_init_parts(r, c, &p);
    if (rlt_route_credentials(&r->route, relet_str(c->user),
                             relet_str(c->password)) < 0) {
        (void)client_fault(fault, RELET_E_MEMORY,
                           "no memory for the credentials");
        rlt_route_free(&r->route);
        return NULL;
    }
    return r;
}

RELET_PRIVATE void rlt_client_driver_set(relet *r, void *driver,
                                         rlt_home *home)
{
    r->driver = driver;
    if (home == NULL)
        return;
    *home = r->own_home;
    r->home = home;
}

RELET_PRIVATE void rlt_client_make_foreign(relet *r)
{
    r->home->operations_max = 0;
}

RELET_PRIVATE void *rlt_client_driver(const relet *r)
{
    return r->driver;
}

/* ------------------------------------------------------------- the driver */

RELET_API int relet_io_want(relet *r, relet_io *io)
{
    return !rlt_client_is_foreign(r) && rlt_route_want(&r->route, io);
}

RELET_API void relet_io_opened(relet *r, int link, int err, const char *text)
{
    if (!rlt_client_is_foreign(r))
        rlt_link_opened(rlt_route_numbered(&r->route, link), err, text);
}

RELET_API void relet_io_closed(relet *r, int link, int err, const char *text)
{
    if (!rlt_client_is_foreign(r))
        rlt_link_closed(rlt_route_numbered(&r->route, link), err, text);
}

RELET_API size_t relet_io_space(relet *r, int link, uint8_t **p)
{
    if (rlt_client_is_foreign(r))
        return 0;
    return rlt_link_space(rlt_route_numbered(&r->route, link), p);
}

RELET_API void relet_io_received(relet *r, int link, size_t n)
{
    if (n == 0 || rlt_client_is_foreign(r))
        return;
    rlt_link_received(rlt_route_numbered(&r->route, link), n);
    r->bytes_in += n;
}

RELET_API size_t relet_io_pending(const relet *r, int link, const uint8_t **p)
{
    if (rlt_client_is_foreign(r))
        return 0;
    return rlt_route_pending(&r->route, link, p);
}

RELET_API void relet_io_sent(relet *r, int link, size_t n)
{
    if (rlt_client_is_foreign(r))
        return;
    rlt_link_sent(rlt_route_numbered(&r->route, link), n);
    r->bytes_out += n;
}

/* ------------------------------------------------------------- inspection */

/* Not inlined: there are many callers, and none is hot. */
RELET_PRIVATE RLT_APART int rlt_client_refuse(relet *r, const char *rule)
{
    if (rlt_client_is_foreign(r))
        return RELET_E_FORKED; /* relet_refusal says so */
    if (RLT_HAS_TEXT)
        r->refusal = rule;
    return RELET_E_REFUSED;
}

#ifndef RELET_SMALL

static const char client_forked[] =
    "another process opened this client: a child opens its own, and may only "
    "close this one";

RELET_API const char *relet_refusal(const relet *r)
{
    return rlt_client_is_foreign(r) ? client_forked : r->refusal;
}

#endif

RELET_API size_t relet_outstanding(const relet *r)
{
    return rlt_client_is_foreign(r) ? 0 : rlt_route_outstanding(&r->route);
}

RELET_API int relet_is_up(const relet *r)
{
    return !rlt_client_is_foreign(r) &&
           rlt_route_is_up(&r->route, RLT_ANY_HASHSLOT);
}

RELET_API void relet_stats_get(const relet *r, relet_stats *out)
{
    memset(out, 0, sizeof *out);
    if (rlt_client_is_foreign(r))
        return;
    out->submitted = r->submitted;
    out->replies = r->replies;
    out->errors = r->errors;
    out->not_sent = r->not_sent;
    out->unsure = r->unsure;
    rlt_route_stats(&r->route, out);
    out->bytes_in = r->bytes_in;
    out->bytes_out = r->bytes_out;
    out->memory = r->held;
    out->memory_peak = r->held_peak;
}

#ifndef RELET_SMALL

RELET_API const char *relet_kind_text(relet_kind kind)
{
    static const char *const text[] = {
        "nothing", "reply", "error", "not sent", "unsure", "up", "down",
        "subscribed", "unsubscribed", "subscription refused", "message",
        "invalidate", "gap", "pushed", "lease gained", "lease lost",
        "lease trouble", "lease ended", "jobs", "job cancel", "job lost",
        "worker trouble", "worker ended"};

    return (unsigned)kind <= RELET_EV_WORKER_ENDED ? text[kind] : "?";
}

RELET_API const char *relet_why_text(relet_why why)
{
    static const char *const text[] = {
        "none", "timeout", "cancelled", "broken", "stopped", "gave up",
        "watch lost", "too large", "memory", "connect", "closed", "silent",
        "protocol", "no resp3", "auth", "setup", "busy", "expired", "taken",
        "gone", "clock", "group", "not replicated", "quarantine", "refused"};

    return (unsigned)why <= RELET_WHY_REFUSED ? text[why] : "?";
}

#endif

RELET_API const char *relet_version(void)
{
    return RELET_VERSION;
}
