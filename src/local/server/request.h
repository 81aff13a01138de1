/* SPDX-License-Identifier: MIT
 *
 * request.h - parses what clients send into commands, and runs them.
 */
#ifndef RLT_INTAKE_H
#define RLT_INTAKE_H

#include "state.h"

/* Bytes have arrived: run the complete commands among them. */
RELET_PRIVATE void rlt_request_feed(rlt_peer *p, const void *bytes, size_t n);

/* Go on with the input of peers whose wait has ended. */
RELET_PRIVATE void rlt_request_resume(rlt_server *s);

#endif
