/* SPDX-License-Identifier: MIT
 *
 * config_check.c - checks each setting alone, and the settings together. */
#include "text.h"
#include "config_url.h"

static int check_text(const relet_config *c, const rlt_field *f,
                      relet_fault *fault)
{
    const char *text = (const char *)c + f->at;
    const char *rule;

    if (memchr(text, '\0', (size_t)f->max + 1) == NULL)
        return rlt_config_refuse(fault, f->name, "does not end with a NUL");
    for (; *text != '\0'; text++) {
        rule = rlt_config_byte_rule(f, *text);
        if (rule != NULL)
            return rlt_config_refuse(fault, f->name,
                                     RLT_HAS_TEXT ? rule + 1 : "");
    }
    return 0;
}

static int check_number(const relet_config *c, const rlt_field *f,
                        relet_fault *fault)
{
    int64_t v = rlt_config_get(c, f);
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
    return rlt_config_refuse(fault, f->name, sentence);
}

static int check_fields(const relet_config *c, relet_fault *fault)
{
    const rlt_field *f;
    int err = 0;
    size_t i;

    for (i = 0; err == 0 && (f = rlt_config_field(i)) != NULL; i++)
        err = rlt_config_is_text(f) ? check_text(c, f, fault) :
                                  check_number(c, f, fault);
    return err;
}

#ifdef RELET_SMALL

static int check_where(const relet_config *c, relet_fault *fault)
{
    if ((int)c->scheme < 0 || c->scheme > RELET_FILE)
        return rlt_config_refuse(fault, "scheme", "");
    if (c->scheme != RELET_MEM && c->host[0] == '\0')
        return rlt_config_refuse(fault, "host", "");
    return 0;
}

#else

/* Checks the host by the same rules as in a URL, but without escapes. */
static int check_host(rlt_parser *r, const relet_config *c)
{
    relet_span s = rlt_parser_start(r, "host", "host", c->host);

    rlt_parser_clear(r, "host");
    switch (c->scheme) {
    case RELET_TCP:
    case RELET_TLS:
        return rlt_url_host(r, s, rlt_url_colons(s) > 0);
    case RELET_SENTINEL:
    case RELET_CLUSTER:
        return rlt_url_list(r, s, 0);
    case RELET_MEM:
        return rlt_parser_append(r, s, "host", RLT_URL_PLAIN);
    case RELET_UNIX:
        if (rlt_url_path_rule(c->host) != NULL)
            return rlt_parser_fault(r, s.p, "", rlt_url_path_rule(c->host));
        return 0;
    case RELET_FILE:
        break;
    }
    return s.n > 0 ? 0 : rlt_parser_fault(r, s.p, "", "path is empty");
}

static int check_where(const relet_config *c, relet_fault *fault)
{
    rlt_parser r;

    if ((int)c->scheme < 0 || c->scheme > RELET_FILE)
        return rlt_config_refuse(fault, "scheme", "is not one of relet_scheme");
    rlt_parser_init(&r, c, fault);
    if (check_host(&r, c) < 0)
        return RELET_E_CONFIG;
    if (c->scheme == RELET_SENTINEL && c->service[0] == '\0')
        return rlt_config_refuse(fault, "service", "is empty");
    return 0;
}

#endif

static int check_text_items(const char *list)
{
    relet_span rest = relet_str(list);

    while (rest.p != NULL)
        if (rlt_span_cut(&rest, ',').n == 0)
            return 0;
    return 1;
}

static int check_who(const relet_config *c, relet_fault *fault)
{
    if (c->user[0] != '\0' && c->password[0] == '\0')
        return rlt_config_refuse(fault, "user", "needs a password");
    if (c->tracking_prefix[0] == '\0')
        return 0;
    if (c->tracking != RELET_TRACK_BROADCAST)
        return rlt_config_refuse(fault, "tracking_prefix",
                             "needs tracking to be broadcast");
    if (!check_text_items(c->tracking_prefix))
        return rlt_config_refuse(fault, "tracking_prefix", "has an empty item");
    return 0;
}

/* bulk_max and line_max may be over reply_max: the limit that is reached first
 * counts. The sum of output_max, reply_max and tape_max is limited only when
 * nothing can grow, because then all three are allocated at once. */
static int check_limits(const relet_config *c, relet_fault *fault)
{
    if (c->retry_min_ms > c->retry_max_ms)
        return rlt_config_refuse(fault, "retry_min_ms", "is over retry_max_ms");
    if (c->buffer_min > c->output_max)
        return rlt_config_refuse(fault, "buffer_min", "is over output_max");
    if (c->buffer_min > c->reply_max)
        return rlt_config_refuse(fault, "buffer_min", "is over reply_max");
    if (c->resize == NULL &&
        (uint64_t)c->output_max + c->reply_max + c->tape_max > RLT_CONFIG_GIB)
        return rlt_config_refuse(fault, "resize",
                             "is NULL, so output_max, reply_max and tape_max "
                             "must be 1 GiB at most together");
    return 0;
}

RELET_API int relet_config_check(const relet_config *c, relet_fault *fault)
{
    if (check_fields(c, fault) < 0 || check_where(c, fault) < 0 ||
        check_who(c, fault) < 0)
        return RELET_E_CONFIG;
    return check_limits(c, fault);
}
