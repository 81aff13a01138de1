/* SPDX-License-Identifier: MIT
 *
 * config_url.h - settings out of text: fields, hosts, URLs.
 *
 * A parser reads text into settings, and knows what sentences about that text
 * need to say. Text is read twice: the first reading sets nothing, so that
 * settings are never half taken over, and no copy of a password is made.
 * Functions that return int return 0, or RELET_E_CONFIG and have filled the
 * fault. */
#ifndef RLT_CONFIG_URL_H
#define RLT_CONFIG_URL_H

#include "base.h"
#include "config.h"

/* What needs no escape in a URL, and what a host's name is made of. */
#define RLT_URL_PLAIN \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_~"

typedef struct rlt_parser {
    relet_config *c;    /* what is set; NULL in the first reading */
    relet_scheme scheme; /* as read so far, …                     */
    char host[1024];    /* … in both readings                     */
    char *text;         /* of the field that is being read        */
    int hosted;         /* the host was read                      */
    const char *label;  /* what is being read, for sentences      */
    const char *field;  /* and for the fault                      */
    const char *start;  /* its first byte                         */
    int escapes;        /* it is a URL                            */
    uint32_t seen;      /* fields set by this URL                 */
    size_t used;        /* bytes in the field of text being set   */
    char variable[128]; /* name of an environment variable        */
    relet_fault *fault;
    relet_fault unread; /* for callers who do not want one        */
} rlt_parser;

/* For a first reading. */
RELET_PRIVATE void rlt_parser_init(rlt_parser *r, const relet_config *c,
                                   relet_fault *fault);

/* Both readings, of which the second sets *c. */
typedef int rlt_parser_fn(rlt_parser *r, void *from);
RELET_PRIVATE int rlt_parser_run(rlt_parser *r, relet_config *c,
                                 relet_fault *fault, rlt_parser_fn *read,
                                 void *from);

/* Begin with a text; returns its span. It is a URL when field is "url". */
RELET_PRIVATE relet_span rlt_parser_start(rlt_parser *r, const char *label,
                                          const char *field, const char *text);

/* A fault at that byte. Returns RELET_E_CONFIG. */
RELET_PRIVATE int rlt_parser_fault(rlt_parser *r, const char *at,
                                   const char *what, const char *rule);

/* Empty a field of text, then append to it: what its kind allows and, unless
 * `set` is NULL, what is in the set. */
RELET_PRIVATE void rlt_parser_clear(rlt_parser *r, const char *field);
RELET_PRIVATE int rlt_parser_append(rlt_parser *r, relet_span s,
                                    const char *field, const char *set);

/* The number that s is, within the limits of a field. */
RELET_PRIVATE int rlt_parser_number(rlt_parser *r, relet_span s,
                                    const char *field, int64_t *out);

/* Read a field, whatever its kind: what is not text is a number. */
RELET_PRIVATE int rlt_parser_field(rlt_parser *r, relet_span s,
                                   const char *field);

RELET_PRIVATE size_t rlt_url_colons(relet_span s);

/* A name, or an IPv6 address with or without a zone, behind what host holds. */
RELET_PRIVATE int rlt_url_host(rlt_parser *r, relet_span s, int v6);

/* Addresses with commas between them, all into host; `port` is for those that
 * bring none, 0: they stay without. */
RELET_PRIVATE int rlt_url_list(rlt_parser *r, relet_span s, int64_t port);

/* What is wrong with the path of a socket, or NULL. */
RELET_PRIVATE const char *rlt_url_path_rule(const char *path);

/* A whole URL. */
RELET_PRIVATE int rlt_url_read(rlt_parser *r, relet_span s);

#endif
