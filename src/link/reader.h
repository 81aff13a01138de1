/* SPDX-License-Identifier: MIT
 *
 * reader.h - the bytes that come in, and the frames that they make. */
#ifndef RLT_READER_H
#define RLT_READER_H

#include "base.h"
#include "buf.h"
#include "scan.h"

typedef struct rlt_reader_plan {
    rlt_memory memory;
    rlt_scan_limits limits;
    size_t buffer_min, reply_max, tape_max;
    void *block, *tape_block; /* without a resize hook                       */
} rlt_reader_plan;

typedef struct rlt_reader {
    rlt_scan scan;
    rlt_scan_limits limits;
    rlt_buf bytes, tape;
    uint64_t consumed; /* bytes dropped on this link                         */
    size_t lent;       /* room that rlt_reader_space last gave               */
    uint8_t loan;      /* the scanner has lent a value                       */
    uint8_t hungry;    /* all input is judged: more may come                 */
    uint8_t eager;     /* the last read filled what was lent                 */
    uint8_t no_memory; /* the frame was skipped for want of memory           */
    uint8_t starved;   /* there is no memory to read even one byte into      */
} rlt_reader;

RELET_PRIVATE void rlt_reader_init(rlt_reader *i, const rlt_reader_plan *p);
RELET_PRIVATE void rlt_reader_free(rlt_reader *i);

/* Be ready for a new link: 0, or RELET_E_MEMORY. */
RELET_PRIVATE int rlt_reader_open(rlt_reader *i);
RELET_PRIVATE void rlt_reader_close(rlt_reader *i);

/* _space: room for the next read. _received: n bytes of the room were filled.
 * _has_input: there may be bytes that were not judged yet. */
RELET_PRIVATE size_t rlt_reader_space(rlt_reader *i, uint8_t **p);
RELET_PRIVATE void rlt_reader_received(rlt_reader *i, size_t n);
RELET_PRIVATE int rlt_reader_has_input(const rlt_reader *i);

typedef enum rlt_arrival {
    RLT_ARRIVED_NOTHING,
    RLT_ARRIVED_VALUE,
    RLT_ARRIVED_PUSH,
    RLT_ARRIVED_SKIPPED, /* an answer over a limit: scan.skip_why            */
    RLT_ARRIVED_LOST,    /* a push over a limit: it is lost                  */
    RLT_ARRIVED_BAD      /* not RESP: scan.error                             */
} rlt_arrival;

/* Judge the next frame. A VALUE or PUSH is lent until rlt_reader_release,
 * which may be called without a loan. */
RELET_PRIVATE rlt_arrival rlt_reader_next(rlt_reader *i, relet_value *v);
RELET_PRIVATE void rlt_reader_release(rlt_reader *i);

/* Where in the stream the error was. */
RELET_PRIVATE uint64_t rlt_reader_error_at(const rlt_reader *i);

/* Nothing is outstanding: give memory back. */
RELET_PRIVATE void rlt_reader_rest(rlt_reader *i);

#endif
