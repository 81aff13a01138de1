/* SPDX-License-Identifier: MIT
 *
 * users.h - who may do what.
 */
#ifndef RLT_USERS_H
#define RLT_USERS_H

#include "state.h"

/* The user "default", who may do everything without a password. 1, or 0: no
 * memory. */
RELET_PRIVATE int rlt_users_init(rlt_server *s);
RELET_PRIVATE void rlt_users_free(rlt_server *s);
RELET_PRIVATE void rlt_users_one_free(rlt_server *s, rlt_user *u);

RELET_PRIVATE rlt_user *rlt_users_find(const rlt_server *s, relet_span name);
RELET_PRIVATE rlt_user *rlt_users_default(const rlt_server *s);

/* The user with this password, or NULL. */
RELET_PRIVATE rlt_user *rlt_users_enter(const rlt_server *s, relet_span name,
                                        relet_span password);

/* What a connection begins as. */
RELET_PRIVATE void rlt_users_begin(rlt_peer *p);

/* 1, or 0: *why is 'c' for the command, 'k' for a key, 'n' for a channel. */
RELET_PRIVATE int rlt_users_may(const rlt_call *c, const rlt_user *u,
                                char *why);

/* Whether a channel, or (literal) a pattern, may be subscribed to. */
RELET_PRIVATE int rlt_users_may_read(const rlt_user *u, relet_span channel,
                                     int literal);

/* Categories are numbers; NULL and -1: there is none. And those of a command,
 * a bit each. */
#define RLT_USERS_NO_CATEGORY 31
RELET_PRIVATE const char *rlt_users_category(int i);
RELET_PRIVATE int rlt_users_category_find(relet_span name);
RELET_PRIVATE uint32_t rlt_users_categories(const rlt_server *s,
                                            const rlt_command *row,
                                            const rlt_command *container);

/* CONFIG SET requirepass; empty: none. Its memory is promised. */
RELET_PRIVATE void rlt_users_require(rlt_server *s, relet_span password);

#endif
