/* SPDX-License-Identifier: MIT
 *
 * request.h - what clients send: bytes to commands, and running them.
 */
#ifndef RLT_INTAKE_H
#define RLT_INTAKE_H

#include "state.h"

/* Bytes have come; whole commands in them run. */
RELET_PRIVATE void rlt_request_feed(rlt_peer *p, const void *bytes, size_t n);

/* Whoever waited and does so no longer goes on with its input. */
RELET_PRIVATE void rlt_request_resume(rlt_server *s);

#endif
