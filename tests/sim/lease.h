/* SPDX-License-Identifier: MIT
 *
 * lease.h - what the ghost knows of leases: what servers granted, what nodes
 * believe, and what the thing that a lease protects has accepted. */
#ifndef SIM_LEASE_H
#define SIM_LEASE_H

#include <stddef.h>
#include <stdint.h>

#include "history.h"
#include "relet.h"

#define SIM_KEYS 3
#define SIM_HOLDS 4    /* leases of a node at a time                          */
#define SIM_EFFECTS 1024 /* under way to what is protected                    */
#define SIM_LEAPS 96
#define SIM_SPANS 256  /* of the strip chart                                  */

#define SIM_TTL_MAX_MS ((relet_time)10000)

/* Why what servers granted may not hold. */
typedef enum sim_void {
    SIM_VOID_TIME, /* a server's clock leapt                                  */
    SIM_VOID_COPY, /* another server took over, and was behind                */
    SIM_VOID_DISK, /* it started without the last it had written              */
    SIM_VOIDS
} sim_void;

/* When something was done last, so many times in a row. */
#define SIM_PACE 16

typedef struct sim_pace {
    int64_t at_us[SIM_PACE];
    uint64_t n;
} sim_pace;

/* A lease of a node: what it asked for, was told, and may believe. */
typedef struct sim_hold {
    unsigned serial;     /* 0: none. Its label, so that servers' keys tell it */
    int key;
    relet_time ttl_ms, retry_ms, quarantine_ms;
    uint32_t group;
    uint8_t once, alone, patient; /* patient: waits for ever, no quarantine   */
    uint8_t copies, disk; /* it counts when so many others have it, a disk    */
    uint8_t lied;        /* its node heard lies about it                      */
    uint8_t stale;       /* what ran last, did on a server that is replaced   */
    uint8_t leading;     /* GAINED was told, LOST was not                     */
    uint8_t stopping;    /* it was told to leave                              */
    uint8_t owes;        /* its work is to be said to have stopped            */
    uint8_t resigned;    /* LOST was told, and it is kept for grace_ms …      */
    relet_time resigned_at, grace_ms; /* … from then on, on its node's clock  */
    uint64_t term, token;
    uint64_t granted;    /* token that a server granted last                  */
    int64_t start_us;
    int64_t waits_us;    /* since then nobody leads, and it waits; 0: not so  */
    int64_t until_us;    /* its node believes in it until then                */
    int64_t ran_us;      /* a server granted or renewed it last               */
    int64_t run_us;      /* … what its node may believe: copies were counted  */
    int64_t granted_us;  /* a server did this token first                     */
    int64_t truth_us;    /* that ends then, whatever its node heard of it     */
    int64_t copied_us;   /* that ends then of which there were enough copies  */
    uint64_t refused_at; /* of the link's bytes: a renewal was refused        */
    uint64_t refused_gen, refused_token;
    int64_t refused_us;
    relet_time wait_ms;  /* 0: for ever                                       */
    sim_pace fails;      /* acquisitions in a row that servers refused to do  */
    uint64_t wakes_seen; /* of the key, when that was last                    */
    int64_t up_us;       /* its node has a new link since, and has not asked  */
    int64_t clock_from_us, clock_to_us; /* it asked, and heard the answer …   */
    int64_t clock_before_us; /* it asked the time before                      */
    int64_t clock_wall_us; /* … that a server gave by this clock              */
    int clock_host, clock_host_before; /* … and which server it was           */
    uint8_t leapt;       /* which has leapt since the answer before           */
    uint64_t wakes, ups; /* of the key, of the node, when it began            */
    uint32_t asked;
    uint32_t span;       /* 1 + its last in the strip chart                   */
} sim_hold;

/* What is under way to what the lease protects, and may arrive late. */
typedef struct sim_effect {
    int key, node, lied;
    unsigned serial;
    uint64_t token;
} sim_effect;

typedef struct sim_span {
    int key, node;       /* node below 0: another program                     */
    uint64_t token;
    int64_t from_us, to_us;
} sim_span;

typedef struct sim_key {
    uint64_t token;      /* of the last grant                                 */
    int64_t granted_us;
    int twice;           /* its tokens may have begun again                   */
    uint64_t top;        /* that the register has seen                        */
    unsigned top_serial;
    int64_t other_us;    /* another program took it,                          */
    int64_t other_until_us; /* for so long                                    */
    relet_time ttl_max;  /* that anybody asked for                            */
    int64_t lied_us;     /* servers lied about it first; 0: they did not      */
    uint64_t wakes;
} sim_key;

/* What a server does for a lease at this moment. */
typedef enum sim_script {
    SIM_ACQUIRE,
    SIM_RENEW,
    SIM_RELEASE
} sim_script;

typedef struct sim_run {
    int active, answered;
    sim_script what;
    int host, key, node;   /* the link may be gone when it has run            */
    unsigned serial;
    uint64_t term, token;  /* token 0: not said                               */
    int64_t answer[3];     /* status, token, ms left or who was woken         */
    int64_t ttl_us;
    uint32_t record;       /* its number                                      */
    uint64_t behind;       /* of the link's bytes, its answer; 0: it is lost  */
    char owner[128];
    char before[160], before_left[32];
    uint64_t last;         /* token, before it                                */
    int listener;          /* one of the first in line hears, but for itself  */
} sim_run;

/* What was asked about a lease, and where in the link's bytes the answer ends. */
typedef struct sim_record {
    int key;
    sim_act act;
    uint64_t behind;
    int64_t wall_us;       /* the server's clock, when it ran                */
    int host;              /* which server that was                          */
    uint32_t ran;          /* its number among those that ran; 0: it did not  */
    int64_t ran_us;
    int fresh;             /* it was granted by a new token                   */
} sim_record;

#define SIM_RECORD_FORGOTTEN (-1) /* as a key: behind ran, writes were lost   */

typedef struct sim_leases {
    sim_key key[SIM_KEYS];
    sim_effect effect[SIM_EFFECTS];
    uint64_t effects;
    sim_span span[SIM_SPANS];
    uint32_t spans;
    unsigned serials;
    sim_run run;
    unsigned late_serial; /* whose renewal a proxy carries on later: over …   */
    int late_link;
    uint64_t late_gen;
    int64_t void_us[SIM_VOIDS]; /* until then that happened                   */
    uint32_t runs;       /* acts that ran                                     */
    int64_t wall_max_us; /* the farthest that a server's clock was ahead      */
    sim_leap leap[SIM_LEAPS];
    size_t leaps;        /* of servers' clocks                                */
    int leapt;           /* a server's clock did; who looks later sees it     */
    relet_time ttl_max;
    /* A leader is asked to leave, and another one waits first in line. */
    int hand_key;        /* -1: none                                          */
    int hand_tried;
    int64_t hand_us, handed_us;
} sim_leases;

#endif
