/* SPDX-License-Identifier: MIT
 *
 * client.h - the parts put together; three rooms work on them: client.c for
 * memory and drivers, submit.c for what goes out, answer.c for what comes.
 *
 * What users call is in relet.h. */
#ifndef RLT_CLIENT_H
#define RLT_CLIENT_H

#include "base.h"
#include "conn.h"
#include "greet.h"
#include "pubsub.h"
#include "script.h"
#include "session.h"

struct relet {
    rlt_session session;
    rlt_conn conn;
    rlt_pubsub pubsub;
    rlt_scripts scripts;
    rlt_setup setup;
    rlt_memory memory; /* the user's hook                                    */
    size_t held, held_peak;
    void *driver;
    const char *refusal;
    uint32_t operations_max;
    size_t output_max, name_max;
    uint8_t fail_fast;
    uint8_t watched_unit;
    uint8_t cause_len;
    char cause[120]; /* the first refusal inside the transaction at the front */
    uint64_t submitted, replies, errors, not_sent, unsure, pushes;
    uint64_t bytes_in, bytes_out;
};

/* Returns RELET_E_REFUSED; relet_refusal names the rule from now on. */
RELET_PRIVATE int rlt_client_refuse(relet *r, const char *rule);

/* A word for the driver that opened this client. */
RELET_PRIVATE void rlt_client_driver_set(relet *r, void *driver);
RELET_PRIVATE void *rlt_client_driver(const relet *r);

#endif
