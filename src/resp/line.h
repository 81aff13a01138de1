/* SPDX-License-Identifier: MIT
 *
 * line.h - one line of the wire, from its type byte to its CRLF.
 *
 * Every reply begins with a line, and most are nothing else. A line is judged
 * byte by byte and may stop anywhere; what it means is the scanner's affair. */
#ifndef RLT_LINE_H
#define RLT_LINE_H

#include "base.h"

/* What can be wrong on the wire. */
typedef enum rlt_scan_error {
    RLT_SCAN_E_NONE,
    RLT_SCAN_E_TYPE,   /* no type begins with this byte                      */
    RLT_SCAN_E_LINE,   /* CR without LF, LF without CR                       */
    RLT_SCAN_E_CRLF,   /* a string does not end where it said                */
    RLT_SCAN_E_INT,    /* not a 64-bit integer                               */
    RLT_SCAN_E_LEN,    /* not a length or count                              */
    RLT_SCAN_E_LIMIT,  /* a length or count beyond the hard limit            */
    RLT_SCAN_E_DEPTH,  /* nested beyond the hard limit, or beyond the tape   */
    RLT_SCAN_E_NULL,
    RLT_SCAN_E_BOOL,
    RLT_SCAN_E_DOUBLE,
    RLT_SCAN_E_VERB,   /* verbatim without its format                        */
    RLT_SCAN_E_PUSH,   /* a push inside a push or an attribute               */
    RLT_SCAN_E_STREAM  /* a streamed value that is not one                   */
} rlt_scan_error;

typedef struct rlt_line {
    uint64_t number;  /* of text: bytes so far; of #: 1 for true; else what
                         the digits say                                      */
    uint8_t type;     /* as on the wire                                      */
    uint8_t state;    /* private                                             */
    uint8_t digits;
    uint8_t minus;
    uint8_t streamed; /* a question mark in place of a number                */
    uint8_t done;     /* 1 behind the LF                                     */
    uint8_t error;    /* rlt_scan_error, at the byte that was not taken      */
} rlt_line;

/* The type byte: 1, or 0 when there is no such type. */
RELET_PRIVATE int rlt_line_begin(rlt_line *l, uint8_t type);

/* Up to n bytes more; returns how many were taken: all, unless the line is
 * done or wrong. A number has at most 19 digits; its range is not judged. */
RELET_PRIVATE size_t rlt_line_take(rlt_line *l, const uint8_t *p, size_t n);

/* 1 when a question mark may stand for the number: $ * % ~ */
RELET_PRIVATE int rlt_line_streams(uint8_t type);

#endif
