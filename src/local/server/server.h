/* SPDX-License-Identifier: MIT
 *
 * server.h - a whole local server. Its manual is relet_local.h.
 */
#ifndef RLT_SERVER_H
#define RLT_SERVER_H

#include "state.h"

struct relet_local {
    rlt_server server;
};

#endif
