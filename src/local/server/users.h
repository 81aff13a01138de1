/* SPDX-License-Identifier: MIT
 *
 * users.h - the users of ACL, and what they are permitted to do.
 */
#ifndef RLT_USERS_H
#define RLT_USERS_H

#include "state.h"

/* Makes the user "default", which may do everything without a password. 1, or
 * 0: no memory. */
RELET_PRIVATE int rlt_users_init(rlt_server *s);
RELET_PRIVATE void rlt_users_free(rlt_server *s);
RELET_PRIVATE void rlt_users_one_free(rlt_server *s, rlt_user *u);

RELET_PRIVATE rlt_user *rlt_users_find(const rlt_server *s, relet_span name);
RELET_PRIVATE rlt_user *rlt_users_default(const rlt_server *s);

/* The user with this password, or NULL. */
RELET_PRIVATE rlt_user *rlt_users_enter(const rlt_server *s, relet_span name,
                                        relet_span password);

/* Sets the user of a new connection. */
RELET_PRIVATE void rlt_users_begin(rlt_peer *p);

/* 1 if the user may run the call; 0: *why is 'c' for the command, 'k' for a
 * key, 'n' for a channel. */
RELET_PRIVATE int rlt_users_may(const rlt_call *c, const rlt_user *u,
                                char *why);

/* 1 if the user may subscribe to a channel, or (literal) to a pattern. */
RELET_PRIVATE int rlt_users_may_read(const rlt_user *u, relet_span channel,
                                     int literal);

/* The name of category i, or NULL; the number of a category, or -1; and the
 * categories of a command, one bit each. */
#define RLT_USERS_NO_CATEGORY 31
RELET_PRIVATE const char *rlt_users_category(int i);
RELET_PRIVATE int rlt_users_category_find(relet_span name);
RELET_PRIVATE uint32_t rlt_users_categories(const rlt_server *s,
                                            const rlt_command *row,
                                            const rlt_command *container);

/* CONFIG SET requirepass; empty: no password. The memory is promised. */
RELET_PRIVATE void rlt_users_require(rlt_server *s, relet_span password);

#endif
