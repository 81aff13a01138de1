/* SPDX-License-Identifier: MIT
 *
 * config.h - settings: defaults, from text, judged, and back to text.
 *
 * What users call is in relet.h. */
#ifndef RLT_CONFIG_H
#define RLT_CONFIG_H

#include "base.h"

/* The URL that, taken over into the defaults, gives again all that a URL can
 * say of c. The password only when asked for, else as three stars. 0, or
 * RELET_E_LIMIT when cap is too small: then out holds the beginning. */
RELET_PRIVATE int rlt_config_url_text(const relet_config *c, int with_password,
                                      char *out, size_t cap);

/* Enough for any: each byte of a text may need three. */
#define RLT_CONFIG_URL_MAX (3 * sizeof(relet_config))

#endif
