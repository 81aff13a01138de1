/* SPDX-License-Identifier: MIT
 *
 * config.c - settings: defaults, from text, judged, and back to text.
 *
 * Every field stands once in a table, with its limits; the URL's options, the
 * environment and the check all go by it. Text is read into a copy, so that
 * settings are never half taken over. */

#include "config.h"

#include "text.h"

/* A thousand years would do as well, if adding it to a time cannot overflow. */
#define CONFIG_MS_MAX ((int64_t)1000000000000)

/* Doubling and adding a few of these stays within size_t. */
#define CONFIG_BYTES_MAX ((size_t)-1 / 4)
#define CONFIG_GIB ((size_t)1 << 30)

#define CONFIG_SUN_PATH 108 /* what Linux has room for in a sockaddr_un */

typedef enum config_kind {
    CONFIG_INT,
    CONFIG_U32,
    CONFIG_MS,
    CONFIG_SIZE,
    CONFIG_TRACKING,
    CONFIG_TEXT, /* any byte but control bytes; max is its length */
    CONFIG_WORD, /* no blanks either                              */
    CONFIG_ASCII /* nothing above ASCII either                    */
} config_kind;

typedef struct config_field {
    const char *name;
    size_t at;
    config_kind kind;
    int option; /* a URL may set it behind its question mark */
    int64_t min, max;
} config_field;

#define CONFIG_NUMBER(name, kind, option, min, max) \
    {#name, offsetof(relet_config, name), kind, option, min, max}
#define CONFIG_STRING(name, kind, option) \
    {#name, offsetof(relet_config, name), kind, option, 0, \
     (int64_t)sizeof(((relet_config *)0)->name) - 1}

/* The smallest limits are those with which a handshake goes through. */
static const config_field config_fields[] = {
    CONFIG_STRING(host, CONFIG_TEXT, 0),
    CONFIG_NUMBER(port, CONFIG_INT, 0, 1, 65535),
    CONFIG_STRING(service, CONFIG_WORD, 0),
    CONFIG_STRING(user, CONFIG_WORD, 0),
    CONFIG_STRING(password, CONFIG_TEXT, 0),
    CONFIG_STRING(name, CONFIG_ASCII, 1),
    CONFIG_NUMBER(db, CONFIG_INT, 1, 0, INT32_MAX),
    CONFIG_NUMBER(tracking, CONFIG_TRACKING, 1, 0, RELET_TRACK_BROADCAST),
    CONFIG_NUMBER(tracking_noloop, CONFIG_INT, 0, 0, 1),
    CONFIG_STRING(tracking_prefix, CONFIG_TEXT, 0),
    CONFIG_STRING(prefix, CONFIG_TEXT, 1),
    CONFIG_NUMBER(connect_timeout_ms, CONFIG_MS, 1, 1, CONFIG_MS_MAX),
    CONFIG_NUMBER(timeout_ms, CONFIG_MS, 1, 1, CONFIG_MS_MAX),
    CONFIG_NUMBER(ping_every_ms, CONFIG_MS, 1, 0, CONFIG_MS_MAX),
    CONFIG_NUMBER(retry_min_ms, CONFIG_MS, 1, 1, CONFIG_MS_MAX),
    CONFIG_NUMBER(retry_max_ms, CONFIG_MS, 1, 1, CONFIG_MS_MAX),
    CONFIG_NUMBER(stable_ms, CONFIG_MS, 0, 0, CONFIG_MS_MAX),
    CONFIG_NUMBER(attempts_max, CONFIG_INT, 1, 0, INT32_MAX),
    CONFIG_NUMBER(fail_fast, CONFIG_INT, 1, 0, 1),
    CONFIG_NUMBER(operations_max, CONFIG_U32, 0, 1, 1 << 20),
    CONFIG_NUMBER(subscriptions_max, CONFIG_U32, 0, 0, 1 << 20),
    CONFIG_NUMBER(scripts_max, CONFIG_U32, 0, 0, 1 << 16),
    CONFIG_NUMBER(output_max, CONFIG_SIZE, 0, 256, (int64_t)CONFIG_BYTES_MAX),
    CONFIG_NUMBER(reply_max, CONFIG_SIZE, 0, 256, (int64_t)CONFIG_BYTES_MAX),
    CONFIG_NUMBER(tape_max, CONFIG_SIZE, 0, 256, (int64_t)CONFIG_BYTES_MAX),
    CONFIG_NUMBER(bulk_max, CONFIG_U32, 0, 64, 512 << 20),
    CONFIG_NUMBER(line_max, CONFIG_U32, 0, 64, 512 << 20),
    CONFIG_NUMBER(count_max, CONFIG_U32, 0, 16, INT32_MAX),
    CONFIG_NUMBER(depth_max, CONFIG_U32, 0, 1, 128),
    CONFIG_NUMBER(buffer_min, CONFIG_SIZE, 0, 64, (int64_t)CONFIG_BYTES_MAX),
};

#define CONFIG_FIELDS (sizeof config_fields / sizeof config_fields[0])

/* What needs no escape in a URL, and what a host's name is made of. */
#define CONFIG_PLAIN \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_~"

static const char *const config_schemes[] = {
    "redis", "rediss", "unix", "sentinel", "cluster", "mem", "file"};
static const char *const config_trackings[] = {"off", "read", "optin",
                                               "broadcast"};

/* ---------------------------------------------------------------- defaults */

void relet_config_init(relet_config *c)
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
    c->subscriptions_max = 256;
    c->scripts_max = 32;
    c->output_max = CONFIG_GIB / 4;
    c->reply_max = RLT_MIN(CONFIG_GIB, CONFIG_BYTES_MAX / 2);
    c->tape_max = c->reply_max;
    c->bulk_max = 512u << 20;
    c->line_max = 64u << 10;
    c->count_max = INT32_MAX;
    c->depth_max = 128;
    c->buffer_min = RLT_TINY ? 64 : 16 << 10;
}

void relet_config_init_small(relet_config *c)
{
    relet_config_init(c);
    c->operations_max = 16;
    c->subscriptions_max = 4;
    c->scripts_max = 4;
    c->output_max = 1024;
    c->reply_max = 1024;
    c->tape_max = 1024;
    c->bulk_max = 1000;
    c->line_max = 256;
    c->count_max = 64; /* as many as the tape has nodes */
    c->depth_max = 8;
    c->buffer_min = RLT_TINY ? 64 : 256;
}

void relet_config_wipe(relet_config *c)
{
    volatile char *p = c->password; /* or the stores may be optimised away */
    size_t i;

    for (i = 0; i < sizeof c->password; i++)
        p[i] = 0;
}

/* ------------------------------------------------------------------ fields */

static const config_field *config_find(relet_span name)
{
    size_t i;

    for (i = 0; i < CONFIG_FIELDS; i++)
        if (rlt_span_is(name, config_fields[i].name))
            return &config_fields[i];
    return NULL;
}

static char *config_chars(relet_config *c, const config_field *f)
{
    return (char *)c + f->at;
}

/* Why a byte may not stand in a field of text, or NULL. */
static const char *config_byte_rule(const config_field *f, char b)
{
    if ((uint8_t)b < ' ' || b == 0x7f)
        return " may not have a control byte";
    if (b == ' ' && f->kind != CONFIG_TEXT)
        return " may not have a blank";
    if ((uint8_t)b > 0x7f && f->kind == CONFIG_ASCII)
        return " may have ASCII only";
    return NULL;
}

static int config_is_text(const config_field *f)
{
    return f->kind == CONFIG_TEXT || f->kind == CONFIG_WORD ||
           f->kind == CONFIG_ASCII;
}

/* A number that int64 cannot hold is over every limit, as is the largest. */
static int64_t config_get(const relet_config *c, const config_field *f)
{
    const void *p = (const char *)c + f->at;

    switch (f->kind) {
    case CONFIG_INT:
        return *(const int *)p;
    case CONFIG_U32:
        return *(const uint32_t *)p;
    case CONFIG_MS:
        return *(const relet_time *)p;
    case CONFIG_SIZE:
        return (int64_t)RLT_MIN((uint64_t)*(const size_t *)p,
                                (uint64_t)INT64_MAX);
    case CONFIG_TRACKING:
        return (int64_t)c->tracking;
    case CONFIG_TEXT:
    case CONFIG_WORD:
    case CONFIG_ASCII:
        break;
    }
    return 0;
}

/* Only kinds that text can set. */
static void config_set(relet_config *c, const config_field *f, int64_t v)
{
    void *p = (char *)c + f->at;

    if (f->kind == CONFIG_MS)
        *(relet_time *)p = v;
    else
        *(int *)p = (int)v;
}

/* ------------------------------------------------------------------ reader */

typedef struct config_reader {
    relet_config c;     /* what has been read so far              */
    const char *label;  /* what is being read, for sentences      */
    const char *field;  /* and for the fault                      */
    const char *start;  /* its first byte                         */
    int escapes;        /* it is a URL                            */
    uint32_t seen;      /* fields set by this URL                 */
    char variable[128]; /* name of an environment variable        */
    relet_fault *fault;
    relet_fault unread; /* for callers who do not want one        */
} config_reader;

static void config_reader_init(config_reader *r, const relet_config *c,
                               relet_fault *fault)
{
    memset(r, 0, sizeof *r);
    r->c = *c;
    r->fault = fault == NULL ? &r->unread : fault;
}

static relet_span config_reader_start(config_reader *r, const char *label,
                                      const char *field, const char *text)
{
    r->label = label;
    r->field = field;
    r->start = text;
    r->escapes = strcmp(field, "url") == 0;
    r->seen = 0;
    return relet_str(text);
}

/* Begins a sentence about the byte at `at`. */
static void config_fault_at(config_reader *r, const char *at, rlt_say *say)
{
    memset(r->fault, 0, sizeof *r->fault);
    r->fault->code = RELET_E_CONFIG;
    r->fault->field = r->field;
    r->fault->offset = (size_t)(at - r->start);
    rlt_say_init(say, r->fault->text, sizeof r->fault->text);
    rlt_say_text(say, r->label);
    rlt_say_text(say, ": at byte ");
    rlt_say_int(say, at - r->start);
    rlt_say_text(say, ": ");
}

static int config_fault(config_reader *r, const char *at, const char *what,
                        const char *rule)
{
    rlt_say say;

    config_fault_at(r, at, &say);
    rlt_say_text(&say, what);
    rlt_say_text(&say, rule);
    return RELET_E_CONFIG;
}

/* Only digits and the names of options are repeated in a sentence: anything
 * else may be a password that slipped out of its place. */
static int config_fault_quote(config_reader *r, const char *what,
                              relet_span quote, const char *rule,
                              int64_t limit)
{
    rlt_say say;

    config_fault_at(r, quote.p, &say);
    rlt_say_text(&say, what);
    rlt_say_text(&say, " ");
    rlt_say_span(&say, quote);
    rlt_say_text(&say, rule);
    if (limit >= 0)
        rlt_say_int(&say, limit);
    return RELET_E_CONFIG;
}

/* The head of s up to one of `stops`, at which s then begins. */
static relet_span config_until(relet_span *s, const char *stops)
{
    relet_span head = *s;

    for (head.n = 0; head.n < s->n; head.n++)
        if (strchr(stops, s->p[head.n]) != NULL)
            break;
    s->p += head.n;
    s->n -= head.n;
    return head;
}

/* Take one byte, or the escape of one, off s. */
static int config_byte(config_reader *r, relet_span *s, char *out)
{
    const char *at = s->p;
    int high, low;

    *out = *at;
    if (r->escapes && *at == '%') {
        high = s->n < 3 ? -1 : rlt_text_hex(at[1]);
        low = s->n < 3 ? -1 : rlt_text_hex(at[2]);
        if (high < 0 || low < 0)
            return config_fault(r, at, "", "not an escape, % is written %25");
        *out = (char)(high * 16 + low);
        s->p += 2;
        s->n -= 2;
    } else if (r->escapes && *at == ' ') {
        return config_fault(r, at, "", "a blank is written %20");
    } else if (r->escapes && *at == '#') {
        return config_fault(r, at, "", "# is written %23");
    }
    s->p++;
    s->n--;
    return 0;
}

static int config_add(config_reader *r, const char *at, const config_field *f,
                      char b)
{
    char *text = config_chars(&r->c, f);
    size_t n = strlen(text);
    rlt_say say;

    if (n == (size_t)f->max) {
        config_fault_at(r, at, &say);
        rlt_say_text(&say, f->name);
        rlt_say_text(&say, " is longer than ");
        rlt_say_int(&say, f->max);
        rlt_say_text(&say, " bytes");
        return RELET_E_CONFIG;
    }
    text[n] = b;
    return 0;
}

/* Append text to a field: what its kind allows and, unless `set` is NULL, what
 * is in the set. */
static int config_append(config_reader *r, relet_span s, const char *field,
                         const char *set)
{
    const config_field *f = config_find(relet_str(field));
    const char *at, *rule;
    char b;

    while (s.n > 0) {
        at = s.p;
        if (config_byte(r, &s, &b) < 0)
            return RELET_E_CONFIG;
        rule = config_byte_rule(f, b);
        if (rule == NULL && set != NULL && strchr(set, b) == NULL)
            rule = " may not have this byte";
        if (rule != NULL)
            return config_fault(r, at, f->name, rule);
        if (config_add(r, at, f, b) < 0)
            return RELET_E_CONFIG;
    }
    return 0;
}

static void config_clear(config_reader *r, const char *field)
{
    const config_field *f = config_find(relet_str(field));

    memset(config_chars(&r->c, f), 0, (size_t)f->max + 1);
}

static int config_text(config_reader *r, relet_span s, const char *field)
{
    config_clear(r, field);
    return config_append(r, s, field, NULL);
}

static int config_number(config_reader *r, relet_span s, const char *field)
{
    const config_field *f = config_find(relet_str(field));
    int64_t v;
    size_t i;

    if (s.n == 0)
        return config_fault(r, s.p, field, " is empty");
    for (i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return config_fault(r, s.p + i, field, " is not a number");
    if (!rlt_text_int(s.p, s.n, &v) || v > f->max)
        return config_fault_quote(r, field, s, " is over ", f->max);
    if (v < f->min)
        return config_fault_quote(r, field, s, " is under ", f->min);
    config_set(&r->c, f, v);
    return 0;
}

/* ------------------------------------------------------------------- hosts */

static size_t config_colons(relet_span s)
{
    size_t n = 0;

    for (; s.n > 0; s.p++, s.n--)
        n += *s.p == ':';
    return n;
}

/* A name, or an IPv6 address with or without a zone, behind what host holds. */
static int config_host(config_reader *r, relet_span s, int v6)
{
    relet_span address;

    if (s.n == 0)
        return config_fault(r, s.p, "", "host is empty");
    if (!v6)
        return config_append(r, s, "host", CONFIG_PLAIN);
    if (config_colons(s) < 2)
        return config_fault(r, s.p, "", "not an IPv6 address");
    address = config_until(&s, "%");
    if (config_append(r, address, "host", "0123456789abcdefABCDEF:.") < 0)
        return RELET_E_CONFIG;
    return config_append(r, s, "host", CONFIG_PLAIN "%");
}

/* Behind what host holds, for a reason at `at`. */
static int config_host_add(config_reader *r, const char *at, const char *text)
{
    for (; *text != '\0'; text++)
        if (config_add(r, at, config_find(relet_str("host")), *text) < 0)
            return RELET_E_CONFIG;
    return 0;
}

/* :port or nothing. *port stays when there is nothing. */
static int config_port(config_reader *r, relet_span s, int *port)
{
    int kept = r->c.port, given;

    if (s.n == 0)
        return 0;
    if (!rlt_span_eat(&s, ":"))
        return config_fault(r, s.p, "", "only a port may follow an address");
    if (config_number(r, s, "port") < 0)
        return RELET_E_CONFIG;
    given = r->c.port;
    r->c.port = kept; /* which may be what `port` points to */
    *port = given;
    return 0;
}

/* name[:port] or [IPv6][:port]: the host, and *port if one is given. Of an
 * item in a list, the brackets belong to the host. */
static int config_address(config_reader *r, relet_span s, int item, int *port)
{
    const char *at = s.p;
    int v6 = rlt_span_eat(&s, "[");
    relet_span host;

    if (!v6 && config_colons(s) > 1)
        return config_fault(r, at, "", "an IPv6 address needs brackets");
    host = config_until(&s, v6 ? "]" : ":");
    if (v6 && !rlt_span_eat(&s, "]"))
        return config_fault(r, at, "", "the bracket is not closed");
    if (item && v6 && config_host_add(r, at, "[") < 0)
        return RELET_E_CONFIG;
    if (config_host(r, host, v6) < 0)
        return RELET_E_CONFIG;
    if (item && v6 && config_host_add(r, at, "]") < 0)
        return RELET_E_CONFIG;
    return config_port(r, s, port);
}

/* Addresses with commas between them, all into host; `port` is for those that
 * bring none, 0: they stay without. */
static int config_list(config_reader *r, relet_span s, int port)
{
    char digits[21] = "";
    relet_span item;
    int own;

    config_clear(r, "host");
    do {
        item = config_until(&s, ",");
        own = port;
        if (r->c.host[0] != '\0' && config_host_add(r, item.p, ",") < 0)
            return RELET_E_CONFIG;
        if (config_address(r, item, 1, &own) < 0)
            return RELET_E_CONFIG;
        if (own == 0)
            continue;
        digits[0] = ':';
        digits[1 + rlt_text_put_i64(digits + 1, own)] = '\0';
        if (config_host_add(r, item.p, digits) < 0)
            return RELET_E_CONFIG;
    } while (rlt_span_eat(&s, ","));
    return 0;
}

/* What is wrong with the path of a socket, or NULL. */
static const char *config_path_rule(const char *path)
{
    if (path[0] != '/' && path[0] != '@')
        return "a socket's path begins with / or @";
    if (path[1] == '\0')
        return "a socket's path has a name";
    if (strlen(path) >= CONFIG_SUN_PATH)
        return "a socket's path has 107 bytes at most";
    return NULL;
}

/* --------------------------------------------------------------------- url */

/* user:password, or :password for the default user: one replaces both. */
static int config_credentials(config_reader *r, relet_span s)
{
    relet_span user = config_until(&s, ":");

    if (config_text(r, user, "user") < 0)
        return RELET_E_CONFIG;
    if (!rlt_span_eat(&s, ":"))
        return config_fault(r, s.p, "", "a user needs a password");
    if (s.n == 0)
        return config_fault(r, s.p, "", "password is empty");
    return config_text(r, s, "password");
}

/* What stands between // and the path. Credentials are taken off its front;
 * the rest goes to *hosts. */
static int config_authority(config_reader *r, relet_span *s, relet_span *hosts)
{
    relet_span head;

    if (!rlt_span_eat(s, "//"))
        return config_fault(r, s->p, "", "// is missing");
    *hosts = config_until(s, "/?");
    head = config_until(hosts, "@");
    if (hosts->n == 0) {
        *hosts = head;
        return 0;
    }
    (void)rlt_span_eat(hosts, "@");
    return config_credentials(r, head);
}

static uint32_t config_bit(const config_field *f)
{
    return (uint32_t)1 << (f - config_fields);
}

static int config_url_db(config_reader *r, relet_span s)
{
    if (s.n == 0)
        return 0;
    r->seen |= config_bit(config_find(relet_str("db")));
    return config_number(r, s, "db");
}

static int config_url_tcp(config_reader *r, relet_span *s)
{
    relet_span hosts;

    if (config_authority(r, s, &hosts) < 0)
        return RELET_E_CONFIG;
    config_clear(r, "host");
    if (config_address(r, hosts, 0, &r->c.port) < 0)
        return RELET_E_CONFIG;
    (void)rlt_span_eat(s, "/");
    return config_url_db(r, config_until(s, "?"));
}

static int config_url_sentinel(config_reader *r, relet_span *s)
{
    relet_span hosts, service;

    if (config_authority(r, s, &hosts) < 0 || config_list(r, hosts, 0) < 0)
        return RELET_E_CONFIG;
    (void)rlt_span_eat(s, "/");
    service = config_until(s, "/?");
    if (service.n == 0)
        return config_fault(r, service.p, "", "service is empty");
    if (config_text(r, service, "service") < 0)
        return RELET_E_CONFIG;
    (void)rlt_span_eat(s, "/");
    return config_url_db(r, config_until(s, "?"));
}

static int config_url_cluster(config_reader *r, relet_span *s)
{
    relet_span hosts, path;

    if (config_authority(r, s, &hosts) < 0 || config_list(r, hosts, 0) < 0)
        return RELET_E_CONFIG;
    (void)rlt_span_eat(s, "/");
    path = config_until(s, "?");
    if (path.n > 0)
        return config_fault(r, path.p, "", "nothing may follow the hosts");
    return 0;
}

static int config_url_unix(config_reader *r, relet_span *s)
{
    relet_span rest = *s, path;
    const char *rule;
    char first = '\0';

    if (rlt_span_eat(&rest, "//")) {
        if (config_authority(r, s, &path) < 0)
            return RELET_E_CONFIG;
        /* What authority left and what is behind it are one path. */
        s->n += (size_t)(s->p - path.p);
        s->p = path.p;
    }
    path = rest = config_until(s, "?");
    if (rest.n > 0 && config_byte(r, &rest, &first) < 0)
        return RELET_E_CONFIG;
    if (first == '/' || first == '@')
        if (config_text(r, path, "host") < 0)
            return RELET_E_CONFIG;
    rule = config_path_rule(first == '/' || first == '@' ? r->c.host : "");
    return rule == NULL ? 0 : config_fault(r, path.p, "", rule);
}

static int config_url_name(config_reader *r, relet_span *s)
{
    relet_span name = config_until(s, "?");

    config_clear(r, "host");
    if (r->c.scheme == RELET_MEM)
        return config_append(r, name, "host", CONFIG_PLAIN);
    if (name.n == 0)
        return config_fault(r, name.p, "", "path is empty");
    if (name.n >= 2 && name.p[0] == '/' && name.p[1] == '/')
        return config_fault(r, name.p, "", "file:path goes without //");
    return config_append(r, name, "host", NULL);
}

static int config_url_where(config_reader *r, relet_span *s)
{
    switch (r->c.scheme) {
    case RELET_TCP:
    case RELET_TLS:
        return config_url_tcp(r, s);
    case RELET_UNIX:
        return config_url_unix(r, s);
    case RELET_SENTINEL:
        return config_url_sentinel(r, s);
    case RELET_CLUSTER:
        return config_url_cluster(r, s);
    case RELET_MEM:
    case RELET_FILE:
        break;
    }
    return config_url_name(r, s);
}

static int config_tracking(config_reader *r, relet_span s)
{
    int i;

    for (i = 0; i <= (int)RELET_TRACK_BROADCAST; i++)
        if (rlt_span_is(s, config_trackings[i])) {
            r->c.tracking = (relet_tracking)i;
            return 0;
        }
    return config_fault(r, s.p, "tracking",
                        " is off, read, optin or broadcast");
}

static int config_url_option(config_reader *r, relet_span s)
{
    relet_span name = config_until(&s, "=");
    const config_field *f = config_find(name);

    if (name.n == 0)
        return config_fault(r, name.p, "", "an option is empty");
    if (f == NULL || !f->option)
        return config_fault_quote(r, "option", name, " is not known", -1);
    if (r->seen & config_bit(f))
        return config_fault_quote(r, "option", name, " is repeated", -1);
    if (!rlt_span_eat(&s, "="))
        return config_fault(r, s.p, f->name, " has no value");
    r->seen |= config_bit(f);
    if (f->kind == CONFIG_TRACKING)
        return config_tracking(r, s);
    if (config_is_text(f))
        return config_text(r, s, f->name);
    return config_number(r, s, f->name);
}

static int config_url_scheme(config_reader *r, relet_span *s)
{
    relet_span scheme = config_until(s, ":");
    int i;

    if (rlt_span_is_nocase(scheme, "valkey"))
        scheme = relet_str("redis");
    if (rlt_span_is_nocase(scheme, "valkeys"))
        scheme = relet_str("rediss");
    for (i = 0; i <= (int)RELET_FILE; i++)
        if (rlt_span_is_nocase(scheme, config_schemes[i])) {
            r->c.scheme = (relet_scheme)i;
            break;
        }
    if (i > (int)RELET_FILE)
        return config_fault(r, scheme.p, "", "the scheme is not known");
    if (!rlt_span_eat(s, ":"))
        return config_fault(r, s->p, "", ": is missing");
    return 0;
}

static int config_url(config_reader *r, relet_span s)
{
    if (config_url_scheme(r, &s) < 0 || config_url_where(r, &s) < 0)
        return RELET_E_CONFIG;
    if (!rlt_span_eat(&s, "?"))
        return 0;
    do {
        if (config_url_option(r, config_until(&s, "&")) < 0)
            return RELET_E_CONFIG;
    } while (rlt_span_eat(&s, "&"));
    return 0;
}

/* The copy held a password. */
static int config_reader_end(config_reader *r, relet_config *c, int err)
{
    if (err == 0 && c != NULL)
        *c = r->c;
    relet_config_wipe(&r->c);
    return err;
}

int relet_config_url(relet_config *c, const char *url, relet_fault *fault)
{
    config_reader r;
    relet_span s;

    config_reader_init(&r, c, fault);
    s = config_reader_start(&r, "url", "url", url);
    return config_reader_end(&r, c, config_url(&r, s));
}

/* ------------------------------------------------------------- environment */

typedef struct config_env {
    config_reader *r;
    const char *scope;
    relet_env_fn *get;
    void *user;
} config_env;

typedef enum config_level {
    CONFIG_GENERIC,
    CONFIG_SCOPED
} config_level;

/* A variable at one level; set but empty counts as not set. Its name is then
 * the label of what is read. */
static const char *config_env_at(config_env *e, config_level level,
                                 const char *name)
{
    const char *value;
    rlt_say say;

    if (level == CONFIG_SCOPED && e->scope[0] == '\0')
        return NULL;
    rlt_say_init(&say, e->r->variable, sizeof e->r->variable);
    if (level == CONFIG_SCOPED)
        rlt_say_text(&say, e->scope);
    rlt_say_text(&say, name);
    value = e->get(e->user, e->r->variable);
    return value == NULL || *value == '\0' ? NULL : value;
}

/* The same at either level, scoped first. */
static const char *config_env_any(config_env *e, const char *name)
{
    const char *value = config_env_at(e, CONFIG_SCOPED, name);

    return value != NULL ? value : config_env_at(e, CONFIG_GENERIC, name);
}

/* Set a field from a variable that was just looked up. */
static int config_env_set(config_env *e, const char *value, const char *field)
{
    config_reader *r = e->r;
    const config_field *f = config_find(relet_str(field));
    relet_span s;

    if (value == NULL)
        return 0;
    s = config_reader_start(r, r->variable, f->name, value);
    return config_is_text(f) ? config_text(r, s, field) :
                               config_number(r, s, field);
}

/* What is not about where. */
static int config_env_rest(config_env *e, config_level level)
{
    static const char *const pairs[][2] = {{"REDIS_DB", "db"},
                                           {"REDIS_USERNAME", "user"},
                                           {"REDIS_PASSWORD", "password"},
                                           {"REDIS_PREFIX", "prefix"}};
    size_t i;

    for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (config_env_set(e, config_env_at(e, level, pairs[i][0]),
                           pairs[i][1]) < 0)
            return RELET_E_CONFIG;
    return 0;
}

static int config_env_url(config_env *e, config_level level)
{
    const char *value = config_env_at(e, level, "REDIS_URL");

    return config_url(e->r,
                      config_reader_start(e->r, e->r->variable, "url", value));
}

static int config_env_host(config_env *e, config_level level)
{
    config_reader *r = e->r;
    const char *value = config_env_at(e, level, "REDIS_HOST");
    relet_span s = config_reader_start(r, r->variable, "host", value);

    if (r->c.scheme != RELET_TLS)
        r->c.scheme = RELET_TCP;
    config_clear(r, "host");
    if (config_host(r, s, config_colons(s) > 0) < 0)
        return RELET_E_CONFIG;
    return config_env_set(e, config_env_any(e, "REDIS_PORT"), "port");
}

static int config_env_sentinel(config_env *e, config_level level)
{
    config_reader *r = e->r;
    const char *value = config_env_any(e, "REDIS_SENTINEL_PORT");
    int kept = r->c.port, port = 0;
    relet_span s;

    r->c.scheme = RELET_SENTINEL;
    if (config_env_set(e, value, "port") < 0)
        return RELET_E_CONFIG;
    if (value != NULL)
        port = r->c.port;
    r->c.port = kept;
    value = config_env_at(e, level, "REDIS_SENTINEL_HOST");
    s = config_reader_start(r, r->variable, "host", value);
    if (config_list(r, s, port) < 0)
        return RELET_E_CONFIG;
    return config_env_set(e, config_env_any(e, "REDIS_SENTINEL_NAME"),
                          "service");
}

/* Where to connect is decided by one variable, the first that is set: half of
 * one address and half of another would be neither. */
static const char *const config_wheres[] = {"REDIS_SENTINEL_HOST",
                                            "REDIS_HOST", "REDIS_URL"};

typedef enum config_where {
    CONFIG_WHERE_SENTINEL,
    CONFIG_WHERE_HOST,
    CONFIG_WHERE_URL,
    CONFIG_WHERE_NONE
} config_where;

static config_where config_env_where(config_env *e, config_level *level)
{
    int i;

    *level = CONFIG_SCOPED;
    for (i = 0; i < (int)CONFIG_WHERE_NONE; i++)
        if (config_env_at(e, *level, config_wheres[i]) != NULL)
            return (config_where)i;
    *level = CONFIG_GENERIC;
    for (i = 0; i < (int)CONFIG_WHERE_NONE; i++)
        if (config_env_at(e, *level, config_wheres[i]) != NULL)
            return (config_where)i;
    return CONFIG_WHERE_NONE;
}

/* From the general to the special: the credentials in a scoped URL go over a
 * generic password, and a scoped password over them. */
static int config_env_read(config_env *e)
{
    config_level level;
    config_where where = config_env_where(e, &level);

    if (where == CONFIG_WHERE_URL && level == CONFIG_GENERIC)
        if (config_env_url(e, level) < 0)
            return RELET_E_CONFIG;
    if (config_env_rest(e, CONFIG_GENERIC) < 0)
        return RELET_E_CONFIG;
    if (where == CONFIG_WHERE_URL && level == CONFIG_SCOPED)
        if (config_env_url(e, level) < 0)
            return RELET_E_CONFIG;
    if (config_env_rest(e, CONFIG_SCOPED) < 0)
        return RELET_E_CONFIG;

    switch (where) {
    case CONFIG_WHERE_SENTINEL:
        return config_env_sentinel(e, level);
    case CONFIG_WHERE_HOST:
        return config_env_host(e, level);
    case CONFIG_WHERE_NONE:
        return config_env_set(e, config_env_any(e, "REDIS_PORT"), "port");
    case CONFIG_WHERE_URL:
        break;
    }
    return 0;
}

/* A setting breaks a rule: the sentence is `field rule`. */
static int config_refuse(relet_fault *fault, const char *field,
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

int relet_config_env_from(relet_config *c, const char *scope,
                          relet_env_fn *get, void *user, relet_fault *fault)
{
    config_reader r;
    config_env e;

    e.r = &r;
    e.scope = scope == NULL ? "" : scope;
    e.get = get;
    e.user = user;
    if (strlen(e.scope) > sizeof r.variable / 2)
        return config_refuse(fault, "scope", "is longer than 64 bytes");
    config_reader_init(&r, c, fault);
    return config_reader_end(&r, c, config_env_read(&e));
}

/* ------------------------------------------------------------------- check */

static int config_check_text(const relet_config *c, const config_field *f,
                             relet_fault *fault)
{
    const char *text = (const char *)c + f->at;
    const char *rule;

    if (memchr(text, '\0', (size_t)f->max + 1) == NULL)
        return config_refuse(fault, f->name, "does not end with a NUL");
    for (; *text != '\0'; text++) {
        rule = config_byte_rule(f, *text);
        if (rule != NULL)
            return config_refuse(fault, f->name, rule + 1);
    }
    return 0;
}

static int config_check_number(const relet_config *c, const config_field *f,
                               relet_fault *fault)
{
    int64_t v = config_get(c, f);
    char sentence[64];
    rlt_say say;

    if (v >= f->min && v <= f->max)
        return 0;
    rlt_say_init(&say, sentence, sizeof sentence);
    rlt_say_text(&say, "is ");
    rlt_say_int(&say, v);
    rlt_say_text(&say, v < f->min ? ", must be at least " :
                                    ", must be at most ");
    rlt_say_int(&say, v < f->min ? f->min : f->max);
    return config_refuse(fault, f->name, sentence);
}

static int config_check_fields(const relet_config *c, relet_fault *fault)
{
    const config_field *f = config_fields;
    int err = 0;

    for (; err == 0 && f < config_fields + CONFIG_FIELDS; f++)
        err = config_is_text(f) ? config_check_text(c, f, fault) :
                                  config_check_number(c, f, fault);
    return err;
}

/* The host by the same rules as in a URL, but without escapes. */
static int config_check_host(config_reader *r, const relet_config *c)
{
    relet_span s = config_reader_start(r, "host", "host", c->host);

    config_clear(r, "host");
    switch (c->scheme) {
    case RELET_TCP:
    case RELET_TLS:
        return config_host(r, s, config_colons(s) > 0);
    case RELET_SENTINEL:
    case RELET_CLUSTER:
        return config_list(r, s, 0);
    case RELET_MEM:
        return config_append(r, s, "host", CONFIG_PLAIN);
    case RELET_UNIX:
        if (config_path_rule(c->host) != NULL)
            return config_fault(r, s.p, "", config_path_rule(c->host));
        return 0;
    case RELET_FILE:
        break;
    }
    return s.n > 0 ? 0 : config_fault(r, s.p, "", "path is empty");
}

static int config_check_where(const relet_config *c, relet_fault *fault)
{
    config_reader r;

    if ((int)c->scheme < 0 || c->scheme > RELET_FILE)
        return config_refuse(fault, "scheme", "is not one of relet_scheme");
    config_reader_init(&r, c, fault);
    if (config_reader_end(&r, NULL, config_check_host(&r, c)) < 0)
        return RELET_E_CONFIG;
    if (c->scheme == RELET_SENTINEL && c->service[0] == '\0')
        return config_refuse(fault, "service", "is empty");
    return 0;
}

static int config_check_text_items(const char *list)
{
    relet_span rest = relet_str(list);

    while (rest.p != NULL)
        if (rlt_span_cut(&rest, ',').n == 0)
            return 0;
    return 1;
}

static int config_check_who(const relet_config *c, relet_fault *fault)
{
    if (c->user[0] != '\0' && c->password[0] == '\0')
        return config_refuse(fault, "user", "needs a password");
    if (c->tracking_prefix[0] == '\0')
        return 0;
    if (c->tracking != RELET_TRACK_BROADCAST)
        return config_refuse(fault, "tracking_prefix",
                             "needs tracking to be broadcast");
    if (!config_check_text_items(c->tracking_prefix))
        return config_refuse(fault, "tracking_prefix", "has an empty item");
    return 0;
}

/* bulk_max and line_max may be over reply_max: whichever is met first counts.
 * The three together are asked for once only when nothing can grow. */
static int config_check_limits(const relet_config *c, relet_fault *fault)
{
    if (c->retry_min_ms > c->retry_max_ms)
        return config_refuse(fault, "retry_min_ms", "is over retry_max_ms");
    if (c->buffer_min > c->output_max)
        return config_refuse(fault, "buffer_min", "is over output_max");
    if (c->buffer_min > c->reply_max)
        return config_refuse(fault, "buffer_min", "is over reply_max");
    if (c->resize == NULL &&
        (uint64_t)c->output_max + c->reply_max + c->tape_max > CONFIG_GIB)
        return config_refuse(fault, "resize",
                             "is NULL, so output_max, reply_max and tape_max "
                             "must be 1 GiB at most together");
    return 0;
}

int relet_config_check(const relet_config *c, relet_fault *fault)
{
    if (config_check_fields(c, fault) < 0 || config_check_where(c, fault) < 0 ||
        config_check_who(c, fault) < 0)
        return RELET_E_CONFIG;
    return config_check_limits(c, fault);
}

/* -------------------------------------------------------------- back to url */

static void config_say(rlt_say *say, const char *text, const char *plain)
{
    static const char hex[17] = "0123456789ABCDEF";
    char piece[4] = "";

    for (; *text != '\0'; text++) {
        piece[0] = *text;
        piece[1] = '\0';
        if (strchr(CONFIG_PLAIN, *text) == NULL &&
            strchr(plain, *text) == NULL) {
            piece[0] = '%';
            piece[1] = hex[(uint8_t)*text >> 4];
            piece[2] = hex[(uint8_t)*text & 15];
        }
        rlt_say_text(say, piece);
    }
}

static void config_say_where(rlt_say *say, const relet_config *c)
{
    int v6 = strchr(c->host, ':') != NULL;

    switch (c->scheme) {
    case RELET_TCP:
    case RELET_TLS:
        rlt_say_text(say, v6 ? "[" : "");
        config_say(say, c->host, ":");
        rlt_say_text(say, v6 ? "]:" : ":");
        rlt_say_int(say, c->port);
        return;
    case RELET_SENTINEL:
    case RELET_CLUSTER:
        config_say(say, c->host, ":,[]");
        rlt_say_text(say, c->scheme == RELET_SENTINEL ? "/" : "");
        config_say(say, c->scheme == RELET_SENTINEL ? c->service : "", "");
        return;
    case RELET_UNIX:
    case RELET_MEM:
    case RELET_FILE:
        config_say(say, c->host, "/");
        return;
    }
}

/* Only options that differ from their default; the mark in front of the first
 * is a question mark. Returns the mark of the next. */
static char config_say_option(rlt_say *say, const relet_config *c,
                              const relet_config *usual,
                              const config_field *f, char mark)
{
    const char *text = (const char *)c + f->at;
    char piece[2] = "";

    if (!f->option || (config_is_text(f) ? *text == '\0' :
                       config_get(c, f) == config_get(usual, f)))
        return mark;
    piece[0] = mark;
    rlt_say_text(say, piece);
    rlt_say_text(say, f->name);
    rlt_say_text(say, "=");
    if (config_is_text(f))
        config_say(say, text, "");
    else if (f->kind == CONFIG_TRACKING)
        rlt_say_text(say, config_trackings[c->tracking]);
    else
        rlt_say_int(say, config_get(c, f));
    return '&';
}

int rlt_config_url_text(const relet_config *c, int with_password, char *out,
                        size_t cap)
{
    relet_config usual;
    rlt_say say;
    char mark = '?';
    size_t i;

    relet_config_init(&usual);
    rlt_say_init(&say, out, cap);
    rlt_say_text(&say, config_schemes[c->scheme]);
    rlt_say_text(&say, ":");
    if (c->password[0] != '\0' || c->scheme == RELET_TCP ||
        c->scheme == RELET_TLS || c->scheme == RELET_SENTINEL ||
        c->scheme == RELET_CLUSTER)
        rlt_say_text(&say, "//");
    if (c->password[0] != '\0') {
        config_say(&say, c->user, "");
        rlt_say_text(&say, ":");
        config_say(&say, with_password ? c->password : "***", "*");
        rlt_say_text(&say, "@");
    }
    config_say_where(&say, c);
    for (i = 0; i < CONFIG_FIELDS; i++)
        mark = config_say_option(&say, c, &usual, &config_fields[i], mark);
    return say.n == cap - 1 ? RELET_E_LIMIT : 0;
}
