/* SPDX-License-Identifier: MIT
 *
 * out.h - writes replies in RESP2 and in RESP3.
 *
 * An rlt_out is a byte buffer and the protocol of its reader. The functions
 * handle the differences between the protocols, so that commands need not. When
 * memory is short the reply is cut off and `failed` is set: the owner then
 * closes the connection, as Redis does at its output limit. */
#ifndef RLT_OUT_H
#define RLT_OUT_H

#include "base.h"
#include "buf.h"
#include "text.h"
#include "num.h"

typedef struct rlt_out {
    rlt_buf buf;
    int resp;     /* 2 or 3                                                  */
    int failed;
    size_t errors; /* error replies written at the top level                 */
} rlt_out;

RELET_PRIVATE void rlt_out_init(rlt_out *o, rlt_memory memory, size_t max);
RELET_PRIVATE void rlt_out_free(rlt_out *o);

RELET_PRIVATE void rlt_out_raw(rlt_out *o, const void *p, size_t n);

RELET_PRIVATE void rlt_out_status(rlt_out *o, const char *text);
RELET_PRIVATE void rlt_out_status_span(rlt_out *o, relet_span text);

/* The text includes the code: "ERR syntax error". Line ends become blanks, but
 * those at the end are dropped. (In a status they all become blanks.) */
RELET_PRIVATE void rlt_out_error(rlt_out *o, const char *text);
RELET_PRIVATE void rlt_out_error_span(rlt_out *o, relet_span text);

RELET_PRIVATE void rlt_out_int(rlt_out *o, int64_t v);
RELET_PRIVATE void rlt_out_bulk(rlt_out *o, relet_span s);
RELET_PRIVATE void rlt_out_text(rlt_out *o, const char *text); /* a bulk     */
RELET_PRIVATE void rlt_out_bulk_int(rlt_out *o, int64_t v);

/* A null string, a null array; the same in RESP3. */
RELET_PRIVATE void rlt_out_null(rlt_out *o);
RELET_PRIVATE void rlt_out_null_array(rlt_out *o);

/* A bulk in RESP2; the text is %.17g, inf, -inf, nan, as in Redis 7.0. */
RELET_PRIVATE void rlt_out_double(rlt_out *o, double v);

/* In RESP2: 1 or 0; a bulk; a bulk without the format. */
RELET_PRIVATE void rlt_out_bool(rlt_out *o, int v);
RELET_PRIVATE void rlt_out_big(rlt_out *o, relet_span digits);
RELET_PRIVATE void rlt_out_verbatim(rlt_out *o, const char *format,
                                    relet_span text);

/* Headers, whose elements follow. In RESP2 all of them are flat arrays. */
RELET_PRIVATE void rlt_out_array(rlt_out *o, size_t n);
RELET_PRIVATE void rlt_out_map(rlt_out *o, size_t pairs);
RELET_PRIVATE void rlt_out_set(rlt_out *o, size_t n);
RELET_PRIVATE void rlt_out_push(rlt_out *o, size_t n);

/* For a header whose count is known only after its elements: _later returns a
 * mark, _later_end inserts the header there, with type *, %, ~ or > and n as in
 * RESP3: a map's pairs are doubled for RESP2. Inner headers end first. */
RELET_PRIVATE size_t rlt_out_later(rlt_out *o);
RELET_PRIVATE void rlt_out_later_end(rlt_out *o, size_t mark, char type,
                                     size_t n);

#endif
