/* SPDX-License-Identifier: MIT
 *
 * server.h - a whole local server; what its own manual says, relet_local.h.
 */
#ifndef RLT_SERVER_H
#define RLT_SERVER_H

#include "state.h"

struct relet_local {
    rlt_server server;
};

#endif
