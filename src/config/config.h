/* SPDX-License-Identifier: MIT
 *
 * config.h - the settings: their limits and their defaults.
 *
 * The public functions are declared in relet.h. */
#ifndef RLT_CONFIG_H
#define RLT_CONFIG_H

#include "base.h"

#define RLT_CONFIG_GIB ((size_t)1 << 30)

typedef enum rlt_field_kind {
    RLT_FIELD_INT,
    RLT_FIELD_U32,
    RLT_FIELD_MS,
    RLT_FIELD_SIZE,
    RLT_FIELD_TRACKING,
    RLT_FIELD_FSYNC,
    RLT_FIELD_TEXT, /* any byte but control bytes; max is its length */
    RLT_FIELD_WORD, /* no blanks either                              */
    RLT_FIELD_ASCII /* nothing above ASCII either                    */
} rlt_field_kind;

typedef struct rlt_field {
    const char *name;
    int64_t max;
    uint16_t min;
    uint16_t at;
    uint8_t kind;
    uint8_t option; /* 1: a URL may set it behind the question mark         */
} rlt_field;

/* A field by its index or by its name; NULL if there is no such field. */
RELET_PRIVATE const rlt_field *rlt_config_field(size_t i);
RELET_PRIVATE const rlt_field *rlt_config_find(relet_span name);

/* A bit of its own for each of the first 32 fields, which include all those
 * that a URL can set. */
RELET_PRIVATE uint32_t rlt_config_bit(const rlt_field *f);

RELET_PRIVATE char *rlt_config_chars(relet_config *c, const rlt_field *f);
RELET_PRIVATE int rlt_config_is_text(const rlt_field *f);

/* The reason why a field of text may not contain a byte, or NULL. */
RELET_PRIVATE const char *rlt_config_byte_rule(const rlt_field *f, char b);

/* Get returns INT64_MAX, which is over every limit, for a size that int64
 * cannot hold. Set only takes the kinds of number that text can set. */
RELET_PRIVATE int64_t rlt_config_get(const relet_config *c,
                                     const rlt_field *f);
RELET_PRIVATE void rlt_config_set(relet_config *c, const rlt_field *f,
                                  int64_t v);

/* Reports a setting that breaks a rule in *fault, which may be NULL; the
 * message is `field rule`. Returns RELET_E_CONFIG. */
RELET_PRIVATE int rlt_config_refuse(relet_fault *fault, const char *field,
                                    const char *rule);

#endif
