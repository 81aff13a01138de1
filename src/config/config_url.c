/* SPDX-License-Identifier: MIT
 *
 * config_url.c - reads hosts and URLs. */
#include "config_url.h"

#include "text.h"

#ifndef RELET_SMALL

#define URL_SUN_PATH 108 /* the size of sun_path in Linux's sockaddr_un */

static const char *const url_schemes[] = {
    "redis", "rediss", "unix", "sentinel", "cluster", "mem", "file"};
static const char *const url_trackings[] = {"off", "read", "optin",
                                            "broadcast"};
static const char *const url_fsyncs[] = {"always", "everysec", "never"};

/* Returns the head of s up to the first byte that is in `stops`. s then begins
 * at that byte, or is empty. */
static relet_span url_until(relet_span *s, const char *stops)
{
    relet_span head = *s;

    for (head.n = 0; head.n < s->n; head.n++)
        if (strchr(stops, s->p[head.n]) != NULL)
            break;
    s->p += head.n;
    s->n -= head.n;
    return head;
}

/* ------------------------------------------------------------------- hosts */

RELET_PRIVATE size_t rlt_url_colons(relet_span s)
{
    size_t n = 0;

    for (; s.n > 0; s.p++, s.n--)
        n += *s.p == ':';
    return n;
}

/* Appends text to the host. A fault names the byte `at`. */
static int url_host_add(rlt_parser *r, const char *at, const char *text)
{
    const rlt_field *f = rlt_config_find(relet_str("host"));

    for (; *text != '\0'; text++)
        if (rlt_parser_add(r, at, f, *text) < 0)
            return RELET_E_CONFIG;
    return 0;
}

/* Reads a zone such as %eth0, the interface that an address belongs to. */
static int url_zone(rlt_parser *r, relet_span s)
{
    const char *at = s.p;

    if (s.n == 0)
        return 0;
    if (!rlt_span_eat(&s, r->escapes ? "%25" : "%") || s.n == 0)
        return rlt_parser_fault(r, at, "", "not a zone, its % is written %25");
    if (url_host_add(r, at, "%") < 0)
        return RELET_E_CONFIG;
    return rlt_parser_append(r, s, "host", RLT_URL_PLAIN);
}

/* Appends a name, or an IPv6 address with or without a zone, to the host. */
RELET_PRIVATE int rlt_url_host(rlt_parser *r, relet_span s, int v6)
{
    relet_span address;

    if (s.n == 0)
        return rlt_parser_fault(r, s.p, "", "host is empty");
    if (!v6)
        return rlt_parser_append(r, s, "host", RLT_URL_PLAIN);
    if (rlt_url_colons(s) < 2)
        return rlt_parser_fault(r, s.p, "", "not an IPv6 address");
    address = url_until(&s, "%");
    if (rlt_parser_append(r, address, "host", "0123456789abcdefABCDEF:.") < 0)
        return RELET_E_CONFIG;
    return url_zone(r, s);
}

/* Reads :port or nothing. Without a port *port stays as it is. */
static int url_port(rlt_parser *r, relet_span s, int64_t *port)
{
    if (s.n == 0)
        return 0;
    if (!rlt_span_eat(&s, ":"))
        return rlt_parser_fault(r, s.p, "",
                                "only a port may follow an address");
    return rlt_parser_number(r, s, "port", port);
}

/* Reads name[:port] or [IPv6][:port] into the host, and *port if one is given.
 * For an item in a list, the host keeps the brackets. */
static int url_address(rlt_parser *r, relet_span s, int item,
                       int64_t *port)
{
    const char *at = s.p;
    int v6 = rlt_span_eat(&s, "[");
    relet_span host;

    if (!v6 && rlt_url_colons(s) > 1)
        return rlt_parser_fault(r, at, "", "an IPv6 address needs brackets");
    host = url_until(&s, v6 ? "]" : ":");
    if (v6 && !rlt_span_eat(&s, "]"))
        return rlt_parser_fault(r, at, "", "the bracket is not closed");
    if (item && v6 && url_host_add(r, at, "[") < 0)
        return RELET_E_CONFIG;
    if (rlt_url_host(r, host, v6) < 0)
        return RELET_E_CONFIG;
    if (item && v6 && url_host_add(r, at, "]") < 0)
        return RELET_E_CONFIG;
    return url_port(r, s, port);
}

/* Reads a list of addresses with commas between them into the host. An address
 * without a port gets `port`, or none if `port` is 0. */
RELET_PRIVATE int rlt_url_list(rlt_parser *r, relet_span s, int64_t port)
{
    char digits[22] = "";
    relet_span item;
    int64_t own;

    rlt_parser_clear(r, "host");
    do {
        item = url_until(&s, ",");
        own = port;
        if (r->used > 0 && url_host_add(r, item.p, ",") < 0)
            return RELET_E_CONFIG;
        if (url_address(r, item, 1, &own) < 0)
            return RELET_E_CONFIG;
        if (own == 0)
            continue;
        digits[0] = ':';
        digits[1 + rlt_text_put_i64(digits + 1, own)] = '\0';
        if (url_host_add(r, item.p, digits) < 0)
            return RELET_E_CONFIG;
    } while (rlt_span_eat(&s, ","));
    return 0;
}

/* The rule that the path of a socket breaks, or NULL. */
RELET_PRIVATE const char *rlt_url_path_rule(const char *path)
{
    if (path[0] != '/' && path[0] != '@')
        return "a socket's path begins with / or @";
    if (path[1] == '\0')
        return "a socket's path has a name";
    if (strlen(path) >= URL_SUN_PATH)
        return "a socket's path has 107 bytes at most";
    return NULL;
}

/* --------------------------------------------------------------------- url */

/* Reads user:password, or :password for the default user. Either form replaces
 * both the user and the password. */
static int url_credentials(rlt_parser *r, relet_span s)
{
    relet_span user = url_until(&s, ":");

    if (rlt_parser_field(r, user, "user") < 0)
        return RELET_E_CONFIG;
    if (!rlt_span_eat(&s, ":"))
        return rlt_parser_fault(r, s.p, "", "a user needs a password");
    if (s.n == 0)
        return rlt_parser_fault(r, s.p, "", "password is empty");
    return rlt_parser_field(r, s, "password");
}

/* Reads the part between // and the path. Credentials are taken off its front;
 * *hosts becomes the rest. */
static int url_authority(rlt_parser *r, relet_span *s, relet_span *hosts)
{
    relet_span head;

    *hosts = *s;
    if (!rlt_span_eat(s, "//"))
        return rlt_parser_fault(r, s->p, "", "// is missing");
    *hosts = url_until(s, "/?");
    head = url_until(hosts, "@");
    if (hosts->n == 0) {
        *hosts = head;
        return 0;
    }
    (void)rlt_span_eat(hosts, "@");
    return url_credentials(r, head);
}

static int url_db(rlt_parser *r, relet_span s)
{
    if (s.n == 0)
        return 0;
    r->seen |= rlt_config_bit(rlt_config_find(relet_str("db")));
    return rlt_parser_field(r, s, "db");
}

static int url_tcp(rlt_parser *r, relet_span *s)
{
    int64_t port = r->c ? r->c->port : 0;
    relet_span hosts;

    if (url_authority(r, s, &hosts) < 0)
        return RELET_E_CONFIG;
    rlt_parser_clear(r, "host");
    if (url_address(r, hosts, 0, &port) < 0)
        return RELET_E_CONFIG;
    if (r->c)
        r->c->port = (int)port;
    (void)rlt_span_eat(s, "/");
    return url_db(r, url_until(s, "?"));
}

static int url_sentinel(rlt_parser *r, relet_span *s)
{
    relet_span hosts, service;

    if (url_authority(r, s, &hosts) < 0 || rlt_url_list(r, hosts, 0) < 0)
        return RELET_E_CONFIG;
    (void)rlt_span_eat(s, "/");
    service = url_until(s, "/?");
    if (service.n == 0)
        return rlt_parser_fault(r, service.p, "", "service is empty");
    if (rlt_parser_field(r, service, "service") < 0)
        return RELET_E_CONFIG;
    (void)rlt_span_eat(s, "/");
    return url_db(r, url_until(s, "?"));
}

static int url_cluster(rlt_parser *r, relet_span *s)
{
    relet_span hosts, path;

    if (url_authority(r, s, &hosts) < 0 || rlt_url_list(r, hosts, 0) < 0)
        return RELET_E_CONFIG;
    (void)rlt_span_eat(s, "/");
    path = url_until(s, "?");
    if (path.n > 0)
        return rlt_parser_fault(r, path.p, "", "nothing may follow the hosts");
    return 0;
}

static int url_unix(rlt_parser *r, relet_span *s)
{
    relet_span rest = *s, path;
    const char *rule;
    char first = '\0';

    if (rlt_span_eat(&rest, "//")) {
        if (url_authority(r, s, &path) < 0)
            return RELET_E_CONFIG;
        /* The path is the rest of the authority and all that follows it. */
        s->n += (size_t)(s->p - path.p);
        s->p = path.p;
    }
    path = rest = url_until(s, "?");
    if (rest.n > 0 && rlt_parser_byte(r, &rest, &first) < 0)
        return RELET_E_CONFIG;
    if (first == '/' || first == '@')
        if (rlt_parser_field(r, path, "host") < 0)
            return RELET_E_CONFIG;
    rule = rlt_url_path_rule(first == '/' || first == '@' ? r->host : "");
    return rule == NULL ? 0 : rlt_parser_fault(r, path.p, "", rule);
}

static int url_name(rlt_parser *r, relet_span *s)
{
    relet_span name = url_until(s, "?");

    rlt_parser_clear(r, "host");
    if (r->scheme == RELET_MEM)
        return rlt_parser_append(r, name, "host", RLT_URL_PLAIN);
    if (name.n == 0)
        return rlt_parser_fault(r, name.p, "", "path is empty");
    if (rlt_parser_append(r, name, "host", NULL) < 0)
        return RELET_E_CONFIG;
    if (r->host[0] == '/' && r->host[1] == '/')
        return rlt_parser_fault(r, name.p, "", "file:path goes without //");
    return 0;
}

static int url_where(rlt_parser *r, relet_span *s)
{
    switch (r->scheme) {
    case RELET_TCP:
    case RELET_TLS:
        return url_tcp(r, s);
    case RELET_UNIX:
        return url_unix(r, s);
    case RELET_SENTINEL:
        return url_sentinel(r, s);
    case RELET_CLUSTER:
        return url_cluster(r, s);
    case RELET_MEM:
    case RELET_FILE:
        break;
    }
    return url_name(r, s);
}

static int url_tracking(rlt_parser *r, relet_span s)
{
    int i;

    for (i = 0; i <= (int)RELET_TRACK_BROADCAST; i++)
        if (rlt_span_is(s, url_trackings[i])) {
            if (r->c)
                r->c->tracking = (relet_tracking)i;
            return 0;
        }
    return rlt_parser_fault(r, s.p, "tracking",
                        " is off, read, optin or broadcast");
}

static int url_fsync(rlt_parser *r, relet_span s)
{
    int i;

    if (r->scheme != RELET_FILE)
        return rlt_parser_fault(r, s.p, "fsync", " is for file: alone");
    for (i = 0; i <= (int)RELET_FSYNC_NEVER; i++)
        if (rlt_span_is(s, url_fsyncs[i])) {
            if (r->c)
                r->c->fsync = (relet_fsync)i;
            return 0;
        }
    return rlt_parser_fault(r, s.p, "fsync", " is always, everysec or never");
}

static int url_option(rlt_parser *r, relet_span s)
{
    relet_span name = url_until(&s, "=");
    const rlt_field *f = rlt_config_find(name);

    if (name.n == 0)
        return rlt_parser_fault(r, name.p, "", "an option is empty");
    if (f == NULL || !f->option)
        return rlt_parser_quote(r, "option", name, " is not known", -1);
    if (r->seen & rlt_config_bit(f))
        return rlt_parser_quote(r, "option", name, " is repeated", -1);
    if (!rlt_span_eat(&s, "="))
        return rlt_parser_fault(r, s.p, f->name, " has no value");
    r->seen |= rlt_config_bit(f);
    if (f->kind == RLT_FIELD_TRACKING)
        return url_tracking(r, s);
    if (f->kind == RLT_FIELD_FSYNC)
        return url_fsync(r, s);
    return rlt_parser_field(r, s, f->name);
}

static int url_scheme(rlt_parser *r, relet_span *s)
{
    relet_span scheme = url_until(s, ":");
    int i;

    if (rlt_span_is_nocase(scheme, "valkey"))
        scheme = relet_str("redis");
    if (rlt_span_is_nocase(scheme, "valkeys"))
        scheme = relet_str("rediss");
    for (i = 0; i <= (int)RELET_FILE; i++)
        if (rlt_span_is_nocase(scheme, url_schemes[i])) {
            r->scheme = (relet_scheme)i;
            break;
        }
    if (i > (int)RELET_FILE)
        return rlt_parser_fault(r, scheme.p, "", "the scheme is not known");
    if (!rlt_span_eat(s, ":"))
        return rlt_parser_fault(r, s->p, "", ": is missing");
    return 0;
}

RELET_PRIVATE int rlt_url_read(rlt_parser *r, relet_span s)
{
    if (url_scheme(r, &s) < 0 || url_where(r, &s) < 0)
        return RELET_E_CONFIG;
    if (!rlt_span_eat(&s, "?"))
        return 0;
    do {
        if (url_option(r, url_until(&s, "&")) < 0)
            return RELET_E_CONFIG;
    } while (rlt_span_eat(&s, "&"));
    return 0;
}

static int url_from(rlt_parser *r, void *from)
{
    const char *url = *(const char **)from;

    return rlt_url_read(r, rlt_parser_start(r, "url", "url", url));
}

RELET_API int relet_config_url(relet_config *c, const char *url,
                               relet_fault *fault)
{
    rlt_parser r;

    rlt_assert(c != NULL);
    rlt_assert(url != NULL);
    return rlt_parser_run(&r, c, fault, url_from, &url);
}

#endif /* RELET_SMALL */
