/* SPDX-License-Identifier: MIT
 *
 * lease.h - the judge's data about leases: the grants of servers, the beliefs
 * of nodes, and the tokens that the register of a lease has accepted. */
#ifndef SIM_LEASE_H
#define SIM_LEASE_H

#include <stddef.h>
#include <stdint.h>

#include "history.h"
#include "relet.h"

#define SIM_KEYS 3
#define SIM_HOLDS 4    /* leases of a node at a time                          */
#define SIM_EFFECTS 1024 /* effects under way to the registers                */
#define SIM_LEAPS 96
#define SIM_SPANS 256  /* spans of the strip chart                            */

#define SIM_TTL_MAX_MS ((relet_time)10000)

/* Why grants of servers may not hold. */
typedef enum sim_void {
    SIM_VOID_TIME, /* a server's clock leapt                                  */
    SIM_VOID_COPY, /* another server took over, and was behind                */
    SIM_VOID_DISK, /* it started without its last writes                      */
    SIM_VOIDS
} sim_void;

/* The times of the last acts of a kind. */
#define SIM_PACE 16

typedef struct sim_pace {
    int64_t at_us[SIM_PACE];
    uint64_t n;
} sim_pace;

/* A lease of a node: its request, its events, and its belief. */
typedef struct sim_hold {
    unsigned serial;     /* 0: none. Its label, which is in servers' keys     */
    int key;
    relet_time ttl_ms, retry_ms, quarantine_ms;
    uint32_t group;
    uint8_t once, alone, patient; /* patient: no wait limit, no quarantine    */
    uint8_t copies, disk; /* it counts once on so many replicas, on a disk    */
    uint8_t lied;        /* a server lied about it to its node                */
    uint8_t stale;       /* its last script ran on a server since replaced    */
    uint8_t leading;     /* LEASE_GAINED came, LEASE_LOST did not             */
    uint8_t stopping;    /* it was told to stop                               */
    uint8_t owes;        /* the end of its work is still to be reported       */
    uint8_t resigned;    /* LEASE_LOST came, and it is kept for grace_ms …    */
    relet_time resigned_at, grace_ms; /* … from then on, on its node's clock  */
    uint64_t term, token;
    uint64_t granted;    /* token that a server last granted                  */
    int64_t start_us;
    int64_t waits_us;    /* no leader, and it waits since then; 0: not so     */
    int64_t until_us;    /* its node believes in it until then                */
    int64_t ran_us;      /* when a server last granted or renewed it          */
    int64_t run_us;      /* … as its node may believe: copies were counted    */
    int64_t granted_us;  /* when a server first granted this token            */
    int64_t truth_us;    /* when the grant ends, whatever its node heard      */
    int64_t copied_us;   /* when the grant with enough copies ends            */
    uint64_t refused_at; /* place of a refused renewal in the link's bytes    */
    uint64_t refused_gen, refused_token;
    int64_t refused_us;
    relet_time wait_ms;  /* 0: for ever                                       */
    sim_pace fails;      /* acquisitions in a row that servers refused        */
    uint64_t wakes_seen; /* wake-ups of the key at the last of these          */
    int64_t up_us;       /* its link is up since then, and it has not asked   */
    int64_t clock_from_us, clock_to_us; /* its request and its answer …       */
    int64_t clock_before_us; /* the request before that                       */
    int64_t clock_used_us;   /* the last one that was surely answered in time */
    int64_t clock_wall_us; /* … with the server clock of the answer           */
    int clock_host, clock_host_before; /* … and the server that gave it       */
    int clock_used_host;
    uint8_t leapt;       /* that clock leapt since the answer before          */
    uint64_t wakes, ups; /* wake-ups of the key, links, when it began         */
    uint32_t asked;
    uint32_t span;       /* 1 + its last span in the strip chart              */
} sim_hold;

/* An effect under way to the register of a lease; it may arrive late. */
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
    uint64_t token;      /* token of the last grant                           */
    int64_t granted_us;
    uint64_t highest;    /* of all grants                                     */
    uint64_t twice;      /* tokens up to this may exist twice; 0: none        */
    uint64_t top;        /* highest token that the register has seen          */
    unsigned top_serial;
    int64_t other_us;    /* when another program took it, …                   */
    int64_t other_until_us; /* … and until when                               */
    relet_time ttl_max;  /* longest that was asked for                        */
    int64_t lied_us;     /* when servers first lied about it; 0: never        */
    uint64_t wakes;
} sim_key;

/* The script that a server runs for a lease. */
typedef enum sim_script {
    SIM_ACQUIRE,
    SIM_RENEW,
    SIM_RELEASE
} sim_script;

typedef struct sim_run {
    int active, answered;
    int cut;               /* it may end in its middle                        */
    sim_script what;
    int host, key, node;   /* the link may be gone when the script has run    */
    unsigned serial;
    uint64_t term, token;  /* token 0: not stated                             */
    int64_t answer[3];     /* status, token, ms left or 1 if one was woken    */
    int64_t ttl_us;
    uint32_t record;       /* its number                                      */
    uint64_t behind;       /* end of its answer in the link's bytes; 0: lost  */
    char owner[128];
    char before[160], before_left[32];
    uint64_t last;         /* token before it                                 */
    int listener;          /* one of the first in line listens; not itself    */
} sim_run;

/* A request about a lease, and where in the link's bytes its answer ends. */
typedef struct sim_record {
    int key;
    sim_act act;
    uint64_t behind;
    int64_t wall_us;       /* the server clock when it ran                   */
    int host;              /* which server that was                          */
    uint32_t ran;          /* place among those that ran; 0: it did not       */
    int64_t ran_us;
    int fresh;             /* it was granted with a new token                 */
} sim_record;

#define SIM_RECORD_FORGOTTEN (-1) /* as a key: writes after `ran` were lost   */

typedef struct sim_leases {
    sim_key key[SIM_KEYS];
    sim_effect effect[SIM_EFFECTS];
    uint64_t effects;
    sim_span span[SIM_SPANS];
    uint32_t spans;
    unsigned serials;
    sim_run run;
    unsigned late_serial; /* lease whose request arrives late, over …         */
    int late_link;
    uint64_t late_gen;
    int64_t void_us[SIM_VOIDS]; /* when that last happened                    */
    uint32_t runs;       /* acts that ran                                     */
    int64_t wall_max_us; /* the most that a server clock was ahead            */
    sim_leap leap[SIM_LEAPS];
    size_t leaps;        /* leaps of server clocks                            */
    int leapt;           /* a clock leapt; a later look finds out             */
    relet_time ttl_max;
    /* A leader is asked to leave while another waits first in line. */
    int hand_key;        /* -1: none                                          */
    int hand_tried;
    int64_t hand_us, handed_us;
} sim_leases;

#endif
