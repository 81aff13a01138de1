/* SPDX-License-Identifier: MIT
 *
 * parser.h - reads a field of the settings from text, and says what is wrong
 * with the text.
 *
 * A parser reads text into settings, and keeps what a message about a fault in
 * that text needs. Text is read twice: the first reading sets nothing, so that
 * settings are never half taken over, and no copy of a password is made.
 * Functions that return int return 0, or fill the fault and return
 * RELET_E_CONFIG. */
#ifndef RLT_PARSER_H
#define RLT_PARSER_H

#include "base.h"
#include "config.h"

#ifndef RELET_SMALL

typedef struct rlt_parser {
    relet_config *c;    /* settings; NULL in the first reading    */
    relet_scheme scheme; /* as read so far, …                     */
    char host[1024];    /* … in both readings                     */
    char *text;         /* the field being set, or NULL           */
    int hosted;         /* the host was read                      */
    const char *label;  /* name of the text, for messages         */
    const char *field;  /* name of the field, for the fault       */
    const char *start;  /* first byte of the text                 */
    int escapes;        /* the text is a URL                      */
    uint32_t seen;      /* fields set by this URL                 */
    size_t used;        /* bytes in the field being set           */
    char variable[128]; /* name of an environment variable        */
    relet_fault *fault;
    relet_fault unread; /* *fault for a caller that passed NULL   */
} rlt_parser;

/* Prepares a first reading. */
RELET_PRIVATE void rlt_parser_init(rlt_parser *r, const relet_config *c,
                                   relet_fault *fault);

/* Does both readings; the second sets *c. */
typedef int rlt_parser_fn(rlt_parser *r, void *from);
RELET_PRIVATE int rlt_parser_run(rlt_parser *r, relet_config *c,
                                 relet_fault *fault, rlt_parser_fn *read,
                                 void *from);

/* Begins a text and returns its span. The text is a URL if field is "url". */
RELET_PRIVATE relet_span rlt_parser_start(rlt_parser *r, const char *label,
                                          const char *field, const char *text);

/* Reports a fault at the byte `at`. Returns RELET_E_CONFIG. */
RELET_PRIVATE int rlt_parser_fault(rlt_parser *r, const char *at,
                                   const char *what, const char *rule);

/* Reports a fault in `quote`. The message is `what`, the quote, `rule` and,
 * unless it is negative, `limit`. A message quotes only digits and the names of
 * options: any other text may be a password in the wrong place. */
RELET_PRIVATE int rlt_parser_quote(rlt_parser *r, const char *what,
                                   relet_span quote, const char *rule,
                                   int64_t limit);

/* Takes one byte, or the escape of one, off s. */
RELET_PRIVATE int rlt_parser_byte(rlt_parser *r, relet_span *s, char *out);

/* Clear empties a field of text; append adds to the field that was cleared
 * last. The field's kind must allow every byte and, unless `set` is NULL, every
 * byte must be in `set`. */
RELET_PRIVATE void rlt_parser_clear(rlt_parser *r, const char *field);
RELET_PRIVATE int rlt_parser_append(rlt_parser *r, relet_span s,
                                    const char *field, const char *set);

/* Appends one byte to the field that was cleared last. */
RELET_PRIVATE int rlt_parser_add(rlt_parser *r, const char *at,
                                 const rlt_field *f, char b);

/* Reads all of s as a number within the limits of a field. */
RELET_PRIVATE int rlt_parser_number(rlt_parser *r, relet_span s,
                                    const char *field, int64_t *out);

/* Reads a field of any kind: a field that is not text takes a number. */
RELET_PRIVATE int rlt_parser_field(rlt_parser *r, relet_span s,
                                   const char *field);

#endif /* RELET_SMALL */

#endif
