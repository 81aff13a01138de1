/* SPDX-License-Identifier: MIT
 *
 * scan.h - turns bytes into judged values; the only module that parses
 * untrusted replies.
 *
 * The caller owns a buffer and shows the scanner the current frame: a push, or
 * a value with all values inside it. The scanner judges each byte once
 * and leaves a tape of nodes that refer to the bytes in place. Offsets are
 * relative to the frame's first byte, so the buffer may move whenever no call
 * is running.
 *
 *     rlt_scan_run  ──MORE────► read until n >= need; in skip mode drop first
 *                   ──VALUE───► read rlt_scan_value, then rlt_scan_next
 *                   ──PUSH────► the same; the frame may go on after it
 *                   ──TAPE────► rlt_scan_tape or rlt_scan_skip, run again
 *                   ──SKIPPED─► rlt_scan_next
 *                   ──ERROR───► final; every further run returns ERROR again
 */
#ifndef RLT_SCAN_H
#define RLT_SCAN_H

#include "tape.h"

/* With RLT_SCAN_DEPTH_HARD + 2 nodes the tape can skip any frame; with fewer, a
 * frame nested deeper than the tape is an error. tape_cap is at least 3. A
 * limit over its hard limit counts as the hard limit. */
RELET_PRIVATE void rlt_scan_init(rlt_scan *s, const rlt_scan_limits *l,
                                 relet_node *tape, uint32_t tape_cap);

/* Call after the tape was moved or grown with its contents kept. */
RELET_PRIVATE void rlt_scan_tape(rlt_scan *s, relet_node *tape,
                                 uint32_t tape_cap);

/* Judges bytes. `frame` is the first byte of the current frame and n bytes are
 * there, never fewer than at the last call. Streamed strings are joined in
 * place, so bytes before `at` may change. */
RELET_PRIVATE rlt_verdict rlt_scan_run(rlt_scan *s, uint8_t *frame, size_t n);

/* After VALUE or PUSH: the value on loan, valid until the tape or the bytes
 * move. */
RELET_PRIVATE relet_value rlt_scan_value(const rlt_scan *s,
                                         const uint8_t *frame);

/* Ends the loan after VALUE, PUSH or SKIPPED. Returns how many bytes of the
 * frame are done with: the next frame starts behind them. Returns 0 if a push
 * inside an unfinished value was taken off the tape: the same frame goes on. */
RELET_PRIVATE size_t rlt_scan_next(rlt_scan *s);

/* Scans on without keeping this frame. A second call keeps the first reason. */
RELET_PRIVATE void rlt_scan_skip(rlt_scan *s, int why);

/* In skip mode, after MORE: the number of bytes at the frame's start that the
 * caller must now drop; the frame then starts behind them. Else 0. */
RELET_PRIVATE size_t rlt_scan_drop(rlt_scan *s);

RELET_PRIVATE const char *rlt_scan_error_text(int error);

#endif
