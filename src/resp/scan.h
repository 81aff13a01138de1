/* SPDX-License-Identifier: MIT
 *
 * scan.h - bytes to judged values: the only room that meets hostile bytes.
 *
 * The caller owns a buffer and shows the scanner the current frame: a push, or
 * a value with all that stands inside it. The scanner judges each byte once
 * and leaves a tape of nodes over the bytes in place; offsets are relative to
 * the frame's first byte, so the buffer may move whenever no call is running.
 *
 *     rlt_scan_run  ──MORE────► bring bytes: to n >= need; in skip mode drop
 *                   ──VALUE───► read rlt_scan_value, then rlt_scan_next
 *                   ──PUSH────► the same; the frame may go on after it
 *                   ──TAPE────► rlt_scan_tape or rlt_scan_skip, run again
 *                   ──SKIPPED─► rlt_scan_next
 *                   ──ERROR───► the end; every further run says so again
 */
#ifndef RLT_SCAN_H
#define RLT_SCAN_H

#include "tape.h"

/* The tape needs RLT_SCAN_DEPTH_HARD + 2 nodes to get over any frame in skip
 * mode; with fewer, one nested deeper is an error. Never fewer than 3. Limits
 * over the hard ones are the hard ones. */
RELET_PRIVATE void rlt_scan_init(rlt_scan *s, const rlt_scan_limits *l,
                                 relet_node *tape, uint32_t tape_cap);

/* The tape was moved or grown, what it held is still in it. */
RELET_PRIVATE void rlt_scan_tape(rlt_scan *s, relet_node *tape,
                                 uint32_t tape_cap);

/* Judge. `frame` is the first byte of the current frame, n bytes are there,
 * never fewer than last time. Streamed strings are joined in place, so bytes
 * before `at` may change. */
RELET_PRIVATE rlt_verdict rlt_scan_run(rlt_scan *s, uint8_t *frame, size_t n);

/* After VALUE or PUSH: what is lent, until the tape or the bytes move. */
RELET_PRIVATE relet_value rlt_scan_value(const rlt_scan *s,
                                         const uint8_t *frame);

/* Ends the loan after VALUE, PUSH or SKIPPED. So many bytes of the frame are
 * done with and the next frame starts there; 0: a push inside an unfinished
 * value is off the tape, and the same frame goes on. */
RELET_PRIVATE size_t rlt_scan_next(rlt_scan *s);

/* Go on without keeping this frame. The first reason stays. */
RELET_PRIVATE void rlt_scan_skip(rlt_scan *s, int why);

/* In skip mode, after MORE: how many bytes at the frame's start may be thrown
 * away. The caller does so: the frame starts that much later. */
RELET_PRIVATE size_t rlt_scan_drop(rlt_scan *s);

RELET_PRIVATE const char *rlt_scan_error_text(int error);

#endif
