/* SPDX-License-Identifier: MIT
 *
 * line.h - one line of the wire, from its type byte to its CRLF.
 *
 * Every reply begins with a line, and most replies are just one line. A line is
 * judged byte by byte and may stop at any byte; the scanner decides what the
 * line means. */
#ifndef RLT_LINE_H
#define RLT_LINE_H

#include "base.h"

/* The errors that bytes on the wire can have. */
typedef enum rlt_scan_error {
    RLT_SCAN_E_NONE,
    RLT_SCAN_E_TYPE,   /* no type begins with this byte                      */
    RLT_SCAN_E_LINE,   /* CR without LF, LF without CR                       */
    RLT_SCAN_E_CRLF,   /* a string does not end where its length says        */
    RLT_SCAN_E_INT,    /* not a 64-bit integer                               */
    RLT_SCAN_E_LEN,    /* not a length or count                              */
    RLT_SCAN_E_LIMIT,  /* a length or count beyond the hard limit            */
    RLT_SCAN_E_DEPTH,  /* nested beyond the hard limit, or beyond the tape   */
    RLT_SCAN_E_NULL,
    RLT_SCAN_E_BOOL,
    RLT_SCAN_E_DOUBLE,
    RLT_SCAN_E_VERB,   /* verbatim without its format                        */
    RLT_SCAN_E_PUSH,   /* a push inside a push or an attribute               */
    RLT_SCAN_E_STREAM  /* not a part of a streamed value                     */
} rlt_scan_error;

typedef struct rlt_line {
    uint64_t number;  /* in text: bytes so far; after #: 1 for true; else the
                         number that the digits give                         */
    uint8_t type;     /* as on the wire                                      */
    uint8_t state;    /* private                                             */
    uint8_t digits;
    uint8_t minus;
    uint8_t streamed; /* a question mark in place of a number                */
    uint8_t done;     /* 1 once the LF was taken                             */
    uint8_t error;    /* rlt_scan_error, at the byte that was not taken      */
} rlt_line;

/* Begins a line with its type byte. Returns 1, or 0 if there is no such type.
 */
RELET_PRIVATE int rlt_line_begin(rlt_line *l, uint8_t type);

/* Takes up to n more bytes. Returns how many were taken: all, unless the line
 * is done or wrong. A number has at most 19 digits; its range is not judged. */
RELET_PRIVATE size_t rlt_line_take(rlt_line *l, const uint8_t *p, size_t n);

/* 1 if a question mark may replace the number in a line of this type: $ * % ~
 */
RELET_PRIVATE int rlt_line_streams(uint8_t type);

#endif
