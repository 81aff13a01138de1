/* SPDX-License-Identifier: MIT
 *
 * config_url.h - reads hosts and URLs.
 *
 * Functions that return int return 0, or fill the fault and return
 * RELET_E_CONFIG. */
#ifndef RLT_CONFIG_URL_H
#define RLT_CONFIG_URL_H

#include "base.h"
#include "parser.h"

#ifndef RELET_SMALL

/* The bytes that need no escape in a URL; host names consist of them too. */
#define RLT_URL_PLAIN \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_~"

RELET_PRIVATE size_t rlt_url_colons(relet_span s);

/* Appends a name, or an IPv6 address with or without a zone, to the host. */
RELET_PRIVATE int rlt_url_host(rlt_parser *r, relet_span s, int v6);

/* Reads a list of addresses with commas between them into the host. An address
 * without a port gets `port`, or none if `port` is 0. */
RELET_PRIVATE int rlt_url_list(rlt_parser *r, relet_span s, int64_t port);

/* The rule that the path of a socket breaks, or NULL. */
RELET_PRIVATE const char *rlt_url_path_rule(const char *path);

/* Reads a whole URL. */
RELET_PRIVATE int rlt_url_read(rlt_parser *r, relet_span s);

#endif /* RELET_SMALL */

#endif
