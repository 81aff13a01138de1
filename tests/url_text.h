/* SPDX-License-Identifier: MIT
 *
 * url_text.h - writes settings back to a URL, for the test that text to
 * settings to text to settings is stable.
 *
 * The URL, read over the defaults, gives again all settings of c that a URL can
 * express. The password is written only on request, else as three stars. The
 * result is 0, or RELET_E_LIMIT if cap is too small: then out holds the
 * beginning. */
#ifndef RELET_URL_TEXT_H
#define RELET_URL_TEXT_H

#include <string.h>

#include "config.h"
#include "text.h"
#include "config_url.h"

/* Enough for any URL: each byte of a text may need three. */
#define T_URL_MAX (3 * sizeof(relet_config))

static const char *const t_schemes[] = {
    "redis", "rediss", "unix", "sentinel", "cluster", "mem", "file"};
static const char *const t_trackings[] = {"off", "read", "optin", "broadcast"};

static void t_say_text(rlt_say *say, const char *text, const char *plain)
{
    static const char hex[17] = "0123456789ABCDEF";
    char piece[4] = "";

    for (; *text != '\0'; text++) {
        piece[0] = *text;
        piece[1] = '\0';
        if (strchr(RLT_URL_PLAIN, *text) == NULL &&
            strchr(plain, *text) == NULL) {
            piece[0] = '%';
            piece[1] = hex[(uint8_t)*text >> 4];
            piece[2] = hex[(uint8_t)*text & 15];
        }
        rlt_say_text(say, piece);
    }
}

static void t_say_authority(rlt_say *say, const relet_config *c,
                                 int with_password)
{
    rlt_say_text(say, "://");
    if (c->password[0] == '\0')
        return;
    t_say_text(say, c->user, "");
    rlt_say_text(say, ":");
    t_say_text(say, with_password ? c->password : "***", "*");
    rlt_say_text(say, "@");
}

static void t_say_where(rlt_say *say, const relet_config *c)
{
    int v6 = strchr(c->host, ':') != NULL;

    switch (c->scheme) {
    case RELET_TCP:
    case RELET_TLS:
        rlt_say_text(say, v6 ? "[" : "");
        t_say_text(say, c->host, ":");
        rlt_say_text(say, v6 ? "]:" : ":");
        rlt_say_int(say, c->port);
        return;
    case RELET_SENTINEL:
    case RELET_CLUSTER:
        t_say_text(say, c->host, ":,[]");
        rlt_say_text(say, c->scheme == RELET_SENTINEL ? "/" : "");
        t_say_text(say, c->scheme == RELET_SENTINEL ? c->service : "", "");
        return;
    case RELET_UNIX:
    case RELET_MEM:
    case RELET_FILE:
        t_say_text(say, c->host, "/");
        return;
    }
}

/* Writes an option only if it differs from its default. The mark in front of
 * the first is a question mark. Returns the mark of the next. */
static char t_say_option(rlt_say *say, const relet_config *c,
                              const relet_config *usual,
                              const rlt_field *f, char mark)
{
    const char *text = (const char *)c + f->at;
    char piece[2] = "";

    if (!f->option || (rlt_config_is_text(f) ? *text == '\0' :
                       rlt_config_get(c, f) == rlt_config_get(usual, f)))
        return mark;
    piece[0] = mark;
    rlt_say_text(say, piece);
    rlt_say_text(say, f->name);
    rlt_say_text(say, "=");
    if (rlt_config_is_text(f))
        t_say_text(say, text, "");
    else if (f->kind == RLT_FIELD_TRACKING)
        rlt_say_text(say, t_trackings[c->tracking]);
    else
        rlt_say_int(say, rlt_config_get(c, f));
    return '&';
}

static int t_url_text(const relet_config *c, int with_password, char *out,
                        size_t cap)
{
    relet_config usual;
    rlt_say say;
    char mark = '?';
    size_t i;

    relet_config_init(&usual);
    rlt_say_init(&say, out, cap);
    rlt_say_text(&say, t_schemes[c->scheme]);
    if (c->scheme == RELET_MEM || c->scheme == RELET_FILE)
        rlt_say_text(&say, ":");
    else
        t_say_authority(&say, c, with_password);
    t_say_where(&say, c);
    for (i = 0; rlt_config_field(i) != NULL; i++)
        mark = t_say_option(&say, c, &usual, rlt_config_field(i), mark);
    return say.n == cap - 1 ? RELET_E_LIMIT : 0;
}

#endif
