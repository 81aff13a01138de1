/* SPDX-License-Identifier: MIT
 *
 * sim.h - a simulated world in one thread: whole clients, servers in memory,
 * links that delay, cut and lose bytes, and a judge that knows each event.
 *
 *   sim_main   seeds, rates, the summary line
 *   shrink     finds the faults that a failure needs
 *   world      one run: phases, the loop over due events
 *   swarm      draws the kind of a run: shape, limits, faults
 *   faults     draws each fault: its kind, time, and node or host
 *   plain      a workload: commands, scripts, transactions, messages
 *   lease      a workload: leaders, locks, and the data that they protect
 *   jobs       a workload: nodes that put jobs, nodes that work on them;
 *              orders: requests of operators
 *   node       a client, its clock, its memory, its driver
 *   host       a server, its clock, its log
 *   copies     replicas and a disk that have the data too; WAIT, WAITAOF
 *   lies       false or odd answers of servers
 *   net pipe   links, one byte at a time
 *   judge      R1-R18, E1-E4; hears: messages and subscriptions; causes: the
 *              causes that excuse failures
 *   claims     L1-L9: at servers; belief: at nodes; chart: which node led when
 *   cuts       scripts that end in their middle
 *   verbs asks Q1-Q12: at servers; books: of whole queues; fates: acts of
 *              operators; tasks: at nodes; hands: handlers; waits, awaits: Q11;
 *              replies: answers of servers; ledger: the queues in stores
 *   pace       R15, L11, L12: when clients ask
 *   record     L10: the requests and answers of nodes; history: whether an
 *              order of them is consistent
 *   wire       a second RESP parser, independent of the library's
 *   choices queue trace
 *
 * Times are in microseconds of the world. Clocks of nodes and hosts differ from
 * that time. */
#ifndef SIM_H
#define SIM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "choices.h"
#include "history.h"
#include "jobs.h"
#include "lease.h"
#include "marks.h"
#include "queue.h"
#include "relet.h"
#include "relet_local.h"

#define SIM_NODES 8
#define SIM_HOSTS 2
#define SIM_LINKS 192
#define SIM_FAULTS 96
#define SIM_WISHES 6
#define SIM_DIGESTS 4
#define SIM_RECORDS 512  /* acts sent on a link and not answered yet          */
#define SIM_MESSAGES 4096 /* messages sent and not delivered yet              */

#define SIM_MS ((int64_t)1000)
#define SIM_S ((int64_t)1000000)
#define SIM_NEVER INT64_MAX
#define SIM_KEEPALIVE_US (15 * SIM_S)

typedef struct sim_world sim_world;
typedef struct sim_node sim_node;
typedef struct sim_link sim_link;
struct sim_words;
struct sim_frame;

/* The purposes of streams of random choices. */
enum {
    SIM_OF_SWARM = 1,
    SIM_OF_FAULT,
    SIM_OF_NODE,
    SIM_OF_WORK,
    SIM_OF_CHUNK,
    SIM_OF_DELAY,
    SIM_OF_TIE,
    SIM_OF_ERROR,
    SIM_OF_MEMORY
};

/* The kinds of due events; `whom` is the number of a node, link, fault or host.
 * */
typedef enum sim_kind {
    SIM_BYTES,     /* bytes come to an end of link `whom`; which: see net.c   */
    SIM_CONNECT,   /* link `whom` reaches its host                            */
    SIM_KEEPALIVE, /* TCP finds out that link `whom` is dead                  */
    SIM_WAKE,      /* node `whom` has a deadline                              */
    SIM_BOOT,      /* node `whom` starts                                      */
    SIM_STEP,      /* node `whom` has work to submit                          */
    SIM_HOST,      /* host `whom` looks at its clock                          */
    SIM_WAIT,      /* WAIT of link `whom`: one more copy, or time is up       */
    SIM_FAULT_ON,  /* fault `whom` begins                                     */
    SIM_FAULT_OFF, /* fault `whom` ends                                       */
    SIM_HANG,      /* disks hang, before the restart by fault `whom`          */
    SIM_CLOG,      /* the path of a node stops or is free, by fault `whom`    */
    SIM_EFFECT,    /* the effect of a leader arrives                          */
    SIM_TASK,      /* a handler of node `whom` ends                           */
    SIM_DEED,      /* the deed of a handler arrives                           */
    SIM_PHASE
} sim_kind;

/* ------------------------------------------------------------------- judge */

typedef enum sim_rule {
    SIM_R1, SIM_R2, SIM_R3, SIM_R4, SIM_R5, SIM_R6, SIM_R7, SIM_R8, SIM_R9,
    SIM_R10, SIM_R11, SIM_R12, SIM_R13, SIM_R14, SIM_R15, SIM_R16, SIM_R17,
    SIM_R18, SIM_E1, SIM_E2, SIM_E3, SIM_E4, SIM_L1, SIM_L2, SIM_L3, SIM_L4,
    SIM_L5, SIM_L6, SIM_L7, SIM_L8, SIM_L9, SIM_L10, SIM_L11, SIM_L12, SIM_Q1,
    SIM_Q2, SIM_Q3, SIM_Q4, SIM_Q5, SIM_Q6, SIM_Q7, SIM_Q8, SIM_Q9, SIM_Q10,
    SIM_Q11, SIM_Q12,
    SIM_RULES
} sim_rule;

/* The judge's data about an operation. */
typedef struct sim_op {
    int64_t deadline;    /* on its node's clock, ms; RELET_NEVER              */
    int64_t at_us;
    uint64_t digest[SIM_DIGESTS]; /* what servers answered, newest first      */
    uint64_t text;       /* digest of the first refusal in a transaction      */
    uint16_t touched;    /* times that its first byte was given to a link     */
    uint16_t whole;      /* times that its last byte was; then it may run     */
    uint16_t ran;        /* times that a server ran it                        */
    uint16_t refused;    /* times that a server proved that it did not run it */
    uint8_t repeatable;
    uint8_t cached;      /* CLIENT CACHING is sent before it                  */
    uint8_t outcome;     /* relet_kind; RELET_EV_NOTHING: none yet            */
    uint8_t what;        /* its kind, for the workload                        */
    uint8_t hasty;       /* has less time than a round trip needs             */
    uint8_t lied;        /* a server lied while the operation was under way   */
    uint64_t watch;      /* tag of the WATCH that this transaction relies on  */
    uint64_t watch_before; /* of a WATCH: tag of the one before; 0: none      */
    uint8_t cancelled;   /* a cancellation was asked for                      */
    uint64_t sent_gen;   /* gen of the link that its first byte last went to  */
    uint8_t script;      /* sent again in full if a server lacks its script   */
    uint8_t unseen;      /* its bytes do not identify it                      */
    uint32_t jobs_from, jobs_n; /* the jobs that it puts                      */
    uint32_t before;     /* jobs in front of its own in the command           */
    uint64_t with;       /* tag of the put before it in the command, or 0     */
} sim_op;

/* A tag: the node's number, and its operation's number, which begins at 1. */
#define SIM_TAG(node, n) ((uint64_t)(node) << 32 | (uint64_t)(n))

/* ---------------------------------------------------------------- network */

typedef struct sim_part {
    int64_t at_us;
    size_t n;
} sim_part;

/* One direction of a link. */
typedef struct sim_pipe {
    uint8_t *bytes;      /* [head, tail); the first `arrived` can be read     */
    size_t head, tail, cap;
    size_t arrived;
    size_t limit;        /* the most bytes under way                          */
    sim_part *parts;     /* [part, parts_n): what has not arrived             */
    size_t part, parts_n, parts_cap;
    int64_t last_us;     /* nothing arrives before it                         */
    int64_t cut_after;   /* bytes until the link is cut; below 0: never       */
    uint64_t carried;
    uint8_t held;        /* something is due, and the path swallows it        */
    uint8_t dying;       /* the link breaks once all under way has arrived    */
    uint8_t wanted;      /* the writer has more                               */
    uint8_t fin;         /* 1: the writer has closed; 2: that has arrived     */
} sim_pipe;

enum { SIM_UP, SIM_DOWN }; /* to the server, to the client                   */

typedef enum sim_link_state {
    SIM_FREE,
    SIM_DIALLING,
    SIM_OPEN
} sim_link_state;

struct sim_link {
    sim_link_state state;
    int number, node, host;
    int index;           /* the client's number of it                         */
    uint64_t gen;
    int client_gone, host_gone; /* the ends that have let go of it            */
    int reset;           /* 1: broken, and the client does not know yet       */
    int64_t open_us;
    relet_time give_up;  /* on the node's clock                               */
    sim_pipe pipe[2];
    int64_t stalled_us[2]; /* nothing arrives before this, on this link alone */
    int64_t stall_for_us;  /* a planned stall lasts for so long, …            */
    sim_script stall_what; /* … from the next lease request of this kind on   */
    /* The host's end. */
    int id;              /* its id in relet_local                             */
    uint8_t *in, *out;
    size_t in_n, in_cap, out_n, out_at, out_cap;
    int unread_first;    /* data that came is read before the link breaks     */
    int kill_after_run;  /* reset it after a run, before the answer           */
    int blocked;         /* a command waits in the server                     */
    int waiting;         /* … WAIT: for copies of this link's writes,         */
    int wait_aof;        /* … WAITAOF: that are on disks,                     */
    int wait_copies, wait_disk; /* … for so many                              */
    int64_t wait_until_us;
    size_t wrote_n;      /* log size after the last change by this link       */
    unsigned granted[SIM_HOLDS]; /* its node's leases: serial, …              */
    int64_t granted_to_us[SIM_HOLDS]; /* … and the end of that grant          */
    int in_multi;
    int closing;         /* it closes when all output was sent                */
    uint64_t unit;       /* tag of the transaction that is being queued       */
    uint64_t awaited;    /* tag of the command that is being answered         */
    int greeted, selected;
    unsigned subscribed, restore, left;
    /* The bytes that the client's end has written. */
    size_t tap_skip;
    int tap_unit;
    uint64_t tap_tag;
    int64_t waits_us;    /* its client may send nothing before this           */
    uint64_t error_at;   /* place of an unread error in the link's bytes      */
    int deaf;            /* its subscription to a wake-up channel was refused */
    int lied;
    uint64_t frames;     /* frames sent while a server may lie                */
    uint32_t record[SIM_RECORDS]; /* numbers of acts                          */
    unsigned records_sent, records_ran, records_read;
};

/* The state of the path from a node to a host: counts of faults, since faults
 * overlap. */
typedef struct sim_path {
    int hole[2];
    int refuse, hang, crowd;
    int64_t shut_us;     /* no connection is let in before this               */
    int64_t extra_us;
    size_t squeeze;
} sim_path;

/* -------------------------------------------------------------------- host */

/* The size of the log at a time; the log holds all changes, in RESP. */
typedef struct sim_mark_at {
    int64_t at_us;
    size_t n;
} sim_mark_at;

typedef struct sim_log {
    uint8_t *bytes;
    size_t n, cap;
    sim_mark_at *at;
    size_t at_n, at_cap;
} sim_log;

typedef struct sim_host {
    int number;
    relet_local *local;
    void *block;
    size_t held;
    uint64_t gen;
    sim_log log;
    sim_ledger ledger;
    int up;
    int frozen;          /* count of faults that stop it                      */
    int64_t loading_until_us;
    int64_t start_us;
    int64_t wall_offset_us; /* its clock is this much ahead of the world's    */
    int64_t wall_stop_us;   /* frozen at; SIM_NEVER: it runs                  */
    int32_t ppm;
    size_t copied_n, synced_n; /* log sizes: promised to a copy; on disk      */
    int read_only;
    char run_id[41];     /* of a process that stays as a replica; "": none    */
    char replid[41];     /* of the master that it replicates until it starts  */
    int64_t due_us;      /* when SIM_HOST is scheduled                        */
    int64_t timed_us;    /* when it last looked at its clock                  */
    int64_t looked_us;   /* … and logged which keys had expired               */
    int admin;
    sim_link *by_id[SIM_LINKS + 8];
    const sim_link *asking; /* link whose command runs; NULL: none            */
} sim_host;

/* -------------------------------------------------------------------- node */

/* The state of a node after the healing of all others. */
typedef enum sim_loss {
    SIM_WHOLE,
    SIM_DEAD,  /* it does not come back                                       */
    SIM_APART, /* no data gets from it or to it                               */
    SIM_STUCK  /* it never gets another turn                                  */
} sim_loss;

#define SIM_CALMS 4

typedef struct sim_calm {
    int64_t from_us, to_us;
} sim_calm;

struct sim_node {
    sim_world *world;
    int number;
    uint64_t incarnation;
    relet *r;
    void *memory;
    size_t memory_n;
    relet_config config;
    int running, leaving, stopping;
    int boots;           /* a boot is scheduled                               */
    int paused;          /* number of faults that hold it                     */
    int wake_late;       /* a wake-up came while it was held                  */
    int64_t resumed_us;
    int64_t offset_us;
    int32_t ppm;
    relet_time now;
    int64_t wake_us;
    uint64_t wake_gen;
    int link[RELET_LINKS_MAX]; /* number + 1; 0: none                         */
    int spins;
    /* Memory. */
    int oom;             /* count of faults                                   */
    uint32_t oom_rate;   /* refused allocations in 256                        */
    uint64_t asked;
    size_t held, held_peak;
    /* For the judge. */
    sim_op *ops;
    uint32_t ops_n, ops_cap, ops_first; /* of this incarnation from ops_first */
    uint32_t in_order;   /* the operation that was answered last              */
    uint64_t told[32], ups, late_ok;
    uint64_t bytes_in, bytes_out;
    relet_time heard_at, said_at;
    relet_time heard_tick; /* heard_at, as it was at the last tick            */
    relet_time short_at; /* when memory was last refused                      */
    uint32_t unasked;    /* turns in a row that ended with the link silent too
                          * long, and not asked by PING                       */
    int owed;            /* a late answer, past its time-out, may still come  */
    size_t open_ops;
    /* Messages. */
    unsigned wished, in_force, wish_moved;
    int gap_due;
    int may_gap;         /* one GAP may come after an UP                      */
    int may_skip;        /* messages may be missing: a GAP said so            */
    int64_t gap_us;      /* … when such a GAP last came                       */
    int is_up, loss_due; /* a GAP has to follow the DOWN                      */
    uint64_t message_gen; /* gen of the link that carried these               */
    uint64_t message[SIM_MESSAGES];
    uint32_t message_first, message_last;
    unsigned heard;      /* messages of the last probe that it heard          */
    uint32_t probe;      /* number of the operation that proves life; 0: none */
    int lied, ever_lied; /* on this link; to this incarnation                 */
    int64_t lied_us;     /* … until then                                      */
    uint64_t misled;     /* times that the client found the lie out           */
    uint64_t odd;        /* pushes of an unknown kind                         */
    int troubled;        /* a cause of trouble has not passed yet             */
    int touching;        /* active faults that trouble it all the time        */
    int64_t disturbed_us; /* when a cause of trouble last took effect         */
    int64_t shaken_us;   /* when a server lost writes, or its clock leapt     */
    int64_t calm_us;     /* all is well since then; -1: it is not             */
    sim_calm calm[SIM_CALMS]; /* the last periods in which all was well       */
    uint32_t calms;
    sim_pace dials;
    relet_time up_at;    /* when it was told of its link                      */
    int64_t whole_us;    /* when it recovered, or everything else did         */
    uint64_t watch;      /* tag of the last WATCH in force; 0: none           */
    int waited;          /* since whole_us, it waited without a deadline      */
    int64_t short_us;    /* when memory was last refused, in the world's time */
    int64_t refused_us;  /* when a server last answered it by an error        */
    sim_stream work, chunk;
    int script[2];
    int64_t step_us;
    sim_hold hold[SIM_HOLDS];
    sim_desk desk[SIM_DESKS];
    sim_await await;     /* the put wait for a job that it has put            */
    char wake[33];       /* how the channels end that wake it                 */
    int asks;            /* a script that only reads (sim_verb), sent by …    */
    uint64_t asks_tag, shown; /* … by this operation; digest of the answer    */
    int64_t up_us;       /* when its link last came up                        */
    int64_t claims_us[SIM_QUEUES]; /* when its worker last asked              */
    sim_loss lost;
};

/* ------------------------------------------------------------------ faults */

typedef enum sim_trouble {
    SIM_T_RESET, SIM_T_FIN, SIM_T_CUT, SIM_T_HOLE, SIM_T_SLOW, SIM_T_REFUSE,
    SIM_T_HANG, SIM_T_CROWD, SIM_T_SQUEEZE, SIM_T_AFTER_RUN, SIM_T_STALL,
    SIM_T_PAUSE, SIM_T_CRASH, SIM_T_STOP, SIM_T_MEMORY, SIM_T_RESTART,
    SIM_T_FREEZE, SIM_T_FAILOVER, SIM_T_CLOCK, SIM_T_FLUSH, SIM_T_CLOG,
    SIM_T_REPLICA, SIM_T_ERRORS, SIM_T_GREETING, SIM_T_LIES,
    SIM_TROUBLES
} sim_trouble;

typedef struct sim_fault {
    sim_trouble what;
    int64_t at_us, for_us;
    int node;            /* node's number; below 0: all                       */
    uint64_t key;        /* seed of its own random draws                      */
    int64_t amount;
    uint32_t rate;
    int way;             /* bit 0: up, bit 1: down; or a choice of its own    */
    int off;             /* removed by the shrinker                           */
    int active, fired;
    unsigned clogged;    /* bit set of nodes whose paths it stops             */
    int hanging;         /* disks hang because of it                          */
    size_t leap;         /* index of its clock leap                           */
} sim_fault;

/* -------------------------------------------------------------------- runs */

typedef enum sim_phase {
    SIM_BOOTING,
    SIM_CHAOS,
    SIM_QUIET,  /* all is healed, and the system has to recover           */
    SIM_PROBED, /* messages went to all subscribers                       */
    SIM_OVER
} sim_phase;

typedef enum sim_preset {
    SIM_SWARM, /* each seed has its own mix                              */
    SIM_CALM,  /* no faults                                              */
    SIM_FULL,  /* 60 s, five nodes, every class of fault: to measure     */
    SIM_LITE   /* two nodes, two seconds                                 */
} sim_preset;

/* The settings in which two runs of a seed may differ. */
typedef struct sim_setup {
    uint64_t seed;
    sim_preset preset;
    uint64_t chunk_salt;       /* other splits of bytes, same history (R10)   */
    const uint8_t *keep;       /* per fault: 0 removes it; NULL: all stay     */
    const struct sim_workload *work; /* NULL: the seed decides              */
    int trace;
    int plant;                 /* fail after the chaos; 1: if a fault fired   */
    const uint8_t *bytes;      /* a fuzzer's choices                          */
    size_t bytes_n;
} sim_setup;

typedef struct sim_shape {
    int nodes;
    int64_t chaos_us;
    int64_t latency_us;
    int64_t step_us;           /* between two steps of a node's work          */
    size_t pipe;
    uint32_t chunky;           /* odd reads and writes in 256                 */
    unsigned ops;              /* kinds of operations that this run knows     */
    unsigned troubles;
    int faults;
    int password, tracking, db;
    int replicas;
    uint32_t careful;          /* leases that ask for copies, in 4            */
    int64_t lag_us, sync_us;   /* delay of a replica, of a disk               */
    int64_t bound_us;          /* from healing until all works                */
    relet_time timeout_max;
    int32_t ppm;
    int bursts;                /* large commands for small buffers            */
    uint32_t spurious;         /* needless wake-ups in 256                    */
    uint32_t cuts;             /* scripts cut in their middle, in 256         */
    uint32_t repairs;          /* node steps that repair a job, in 256        */
    relet_time dead_ms;        /* how long dead jobs are kept; 0: default     */
} sim_shape;

/* A workload submits operations, and reads the events that come back. */
typedef struct sim_workload {
    const char *name;
    void (*start)(sim_world *w, sim_node *n);
    void (*step)(sim_world *w, sim_node *n);
    void (*event)(sim_world *w, sim_node *n, const relet_event *ev);
    int (*quiet)(sim_world *w, sim_node *n);      /* submit a proof of life   */
    int (*alive)(sim_world *w, const sim_node *n); /* that proof came         */
} sim_workload;

extern const sim_workload sim_plain, sim_lease, sim_both, sim_working;

struct sim_world {
    sim_setup setup;
    sim_choices choices;
    sim_shape shape;
    const sim_workload *work;
    sim_queue queue;
    int64_t now_us;
    sim_phase phase;
    int64_t phase_us;
    int64_t arrived_us; /* what was under way when all was whole has arrived  */
    uint64_t events, turns;
    uint64_t hash, history;    /* all events; only those told to nodes        */
    sim_node node[SIM_NODES];
    sim_host host[SIM_HOSTS];
    int primary;
    sim_link *link[SIM_LINKS];
    uint64_t link_gen;
    sim_path path[SIM_NODES][SIM_HOSTS];
    sim_fault fault[SIM_FAULTS];
    int faults, faults_fired, memory_faults;
    int found_out; /* links that broke since their server lied                */
    int talking;               /* faults that make servers give errors        */
    int flush_next;            /* flush scripts before the next one runs      */
    int replicas_away;         /* faults that keep all replicas away          */
    int64_t lag_us;            /* replica lag beside the usual one            */
    int disks_hang;            /* faults that let nothing be written          */
    int64_t hung_us;           /* … since                                     */
    sim_leases leases;
    sim_jobs jobs;
    sim_record *record;
    size_t records_n, records_cap;
    sim_op nobody;             /* stands for an operation with unknown tag    */
    /* Verdict. */
    int failed;                /* 1 + rule                                    */
    char why[320];
    uint64_t checked[SIM_RULES]; /* judged, and no excuse was needed          */
    uint64_t excused[SIM_RULES]; /* not judged, since an excuse was valid     */
    int64_t recovery_us;
    int gave_up;               /* histories that took too long to judge       */
};

/* ------------------------------------------------------------------- rooms */

/* trace.c */
extern FILE *sim_trace_out;
void sim_say(const sim_world *w, const char *format, ...);
void sim_trace_clear(void);
void sim_trace_print(int lines);
#define SIM_SAY(w, ...) \
    do { \
        if ((w)->setup.trace) \
            sim_say((w), __VA_ARGS__); \
    } while (0)
void sim_note(sim_world *w, uint64_t kind, uint64_t what);

/* world.c */
sim_world *sim_world_new(void);
void sim_world_free(sim_world *w);
/* One run: 0, or 1 + the rule that was broken. */
int sim_world_run(sim_world *w, const sim_setup *setup);
void sim_due_at(sim_world *w, int64_t at_us, sim_kind kind, int whom,
                uint64_t which);
uint64_t sim_draw(const sim_world *w, uint64_t kind, uint64_t a);

/* swarm.c */
void sim_swarm(sim_world *w);
void sim_swarm_config(sim_world *w, sim_node *n);
void sim_swarm_print(const sim_world *w);

/* faults.c */
void sim_faults_draw(sim_world *w);
void sim_fault_on(sim_world *w, sim_fault *f);
void sim_fault_off(sim_world *w, sim_fault *f);
void sim_fault_hang(sim_world *w, sim_fault *f, int on);
void sim_fault_clog(sim_world *w, sim_fault *f, uint64_t which);
void sim_faults_heal(sim_world *w);
const char *sim_fault_name(sim_trouble what);
void sim_fault_print(const sim_world *w, int i);
/* The first active fault that touches this node; NULL: none. */
const sim_fault *sim_fault_of(const sim_world *w, sim_trouble what, int node);
/* The error that the host must give instead of running this; NULL: none. */
const char *sim_fault_error(sim_world *w, int node, uint64_t tag,
                            int greeting);

/* pipe.c */
void sim_pipe_clear(sim_pipe *p, size_t limit);
void sim_pipe_free(sim_pipe *p);
size_t sim_pipe_room(const sim_pipe *p);
void sim_pipe_put(sim_pipe *p, const uint8_t *bytes, size_t n, int64_t at_us);
/* Bytes that have just become readable. */
size_t sim_pipe_arrive(sim_pipe *p, int64_t now_us);
int64_t sim_pipe_next(const sim_pipe *p);
void sim_pipe_take(sim_pipe *p, size_t n);

/* net.c */
sim_link *sim_net_dial(sim_world *w, sim_node *n, const relet_io *io);
void sim_net_connect(sim_world *w, int number, uint64_t gen);
void sim_net_keepalive(sim_world *w, int number, uint64_t gen);
void sim_net_bytes(sim_world *w, int number, uint64_t which);
size_t sim_net_write(sim_world *w, sim_link *l, int way, const uint8_t *p,
                     size_t n);
void sim_net_fin(sim_world *w, sim_link *l, int way);
void sim_net_reset(sim_world *w, sim_link *l, int quiet);
void sim_net_client_lets_go(sim_world *w, sim_link *l, int crash);
void sim_net_host_lets_go(sim_world *w, sim_link *l);
void sim_net_heal(sim_world *w, int node, int host);
void sim_net_stall(sim_link *l, int way, int64_t until_us);
void sim_net_flows(sim_world *w, sim_link *l, int way);
void sim_net_whole(sim_world *w, sim_link *l);
/* The link of this number of a node's client, the first one, and whether the
 * client still uses this link; NULL: none. */
sim_link *sim_net_at(sim_world *w, const sim_node *n, int index);
sim_link *sim_net_of_node(sim_world *w, const sim_node *n);
int sim_net_in_use(const sim_world *w, const sim_link *l);
/* Links in use, by age: the next after *gen, which is set to its gen. When a
 * place in the table is free again depends on how bytes are cut. */
sim_link *sim_net_next(const sim_world *w, uint64_t *gen);
void sim_net_blank(sim_link *l); /* as new, but keeps its buffers */

/* lies.c: may falsify the frame that is about to be sent; returns its size. */
size_t sim_lies(sim_world *w, sim_link *l, size_t at, size_t k,
                const struct sim_frame *f);

/* copies.c */
int sim_copies_wait(sim_world *w, sim_link *l, const struct sim_words *c);
void sim_copies_due(sim_world *w, sim_link *l);
void sim_copies_turn(sim_world *w);

/* host.c, intake.c, log.c */
void sim_host_start(sim_world *w, sim_host *h, const sim_log *from,
                    size_t keep);
void sim_host_down(sim_world *w, sim_host *h, int reset);
void sim_host_free(sim_host *h);
int64_t sim_host_wall(const sim_world *w, const sim_host *h);
/* Look at the host's clock, or plan to. */
void sim_host_time(sim_world *w, sim_host *h);
void sim_host_schedule(sim_world *w, sim_host *h);
void sim_host_clock(sim_world *w, sim_host *h);
void sim_host_accept(sim_world *w, sim_link *l);
void sim_host_arrived(sim_world *w, sim_link *l);
void sim_host_flush(sim_world *w, sim_link *l);
void sim_host_say(sim_link *l, const char *text);
void sim_host_outputs(sim_world *w, sim_host *h);
void sim_host_admin(sim_world *w, sim_host *h, int argc, ...);
void sim_host_thaw(sim_world *w, sim_host *h);
/* The host's answer, without its first byte; cut to fit. */
void sim_host_ask(sim_host *h, char *out, size_t size, int argc, ...);
void sim_host_id(sim_host *h, const char *section, const char *field,
                 char *out);
void sim_log_put(sim_log *g, int64_t at_us, const uint8_t *p, size_t n);
size_t sim_log_at(const sim_log *g, int64_t at_us);
int64_t sim_log_time(const sim_log *g, size_t n);
void sim_log_copy(sim_log *to, const sim_log *from, size_t n);

/* The gen of a wake-up for no reason. */
#define SIM_NEEDLESS (UINT64_MAX - 1)

/* node.c, driver.c */
void sim_node_boot(sim_world *w, sim_node *n);
void sim_node_end(sim_world *w, sim_node *n, int crash);
int sim_driver_turn(sim_world *w, sim_node *n);
void sim_node_turn(sim_world *w, sim_node *n);
void sim_node_wake(sim_world *w, sim_node *n, uint64_t gen);
void sim_node_stir(sim_world *w, sim_node *n);
relet_time sim_node_clock(const sim_world *w, const sim_node *n);
int64_t sim_node_world_time(const sim_world *w, const sim_node *n,
                            relet_time ms);
void *sim_node_resize(void *user, void *p, size_t old_size, size_t new_size);

/* pace.c: when a client connects, and asks for leases. */
void sim_pace_dials(sim_world *w, sim_node *n);
void sim_pace_up(sim_world *w, sim_node *n);
void sim_pace_down(sim_node *n);
void sim_pace_sent(sim_world *w, sim_node *n, unsigned serial);
void sim_pace_refused(sim_world *w, const sim_run *run, const char *error);
void sim_pace_ran(sim_hold *h);
void sim_pace_heard(sim_world *w, sim_node *n, const sim_record *r);
void sim_pace_clock(sim_world *w, const sim_node *n, const sim_hold *h);
void sim_pace_turn(sim_world *w, sim_node *n, sim_hold *h, relet_time valid);

/* bounds.c */
int64_t sim_bound_recovery(const sim_world *w, const sim_node *n);
int64_t sim_bound_lead(const sim_world *w, const sim_node *n,
                       const sim_hold *h);
int64_t sim_bound_behind(const sim_world *w);

/* causes.c */
void sim_disturb(sim_world *w, int node);
void sim_disturb_link(sim_world *w, const sim_link *l);
void sim_causes_read(sim_world *w, sim_link *l);
int sim_link_waits(const sim_world *w, const sim_link *l);
void sim_disturb_by_error(sim_world *w, sim_link *l);
void sim_disturb_servers(sim_world *w);
void sim_causes_turn(sim_world *w, sim_node *n);
int sim_was_calm(const sim_world *w, const sim_node *n, int64_t since_us,
                 int64_t until_us, int64_t for_us);
int sim_troubled(const sim_node *n, int64_t since_us);
int sim_disturbed(const sim_world *w, const sim_node *n, int64_t since_us);

/* judge.c: what happened, as it happens. */
void sim_fail(sim_world *w, sim_rule rule, const char *format, ...);
int sim_holds(sim_world *w, sim_rule rule, int holds); /* returns `holds`     */
/* The same, but a valid excuse counts as excused and returns 1. */
int sim_judges(sim_world *w, sim_rule rule, int excused, int holds);
sim_op *sim_op_of(sim_world *w, uint64_t tag);
uint64_t sim_judge_next_tag(sim_world *w, sim_node *n);
void sim_judge_submitted(sim_world *w, sim_node *n, const relet_request *q,
                         int code, int what);
void sim_judge_touched(sim_world *w, sim_link *l, const struct sim_words *c,
                       uint64_t tag);
void sim_judge_whole(sim_world *w, sim_link *l, uint64_t tag);
/* `code` is the result of the call for a WATCH, its end, or a transaction. */
void sim_judge_watch(sim_world *w, sim_node *n, uint64_t tag, int code);
void sim_judge_unwatch(sim_node *n, int code);
void sim_judge_unit(sim_world *w, sim_node *n, uint64_t tag, int code);
void sim_judge_ran(sim_world *w, sim_link *l, uint64_t tag);
void sim_judge_answered(sim_world *w, sim_link *l, uint64_t tag,
                        uint64_t digest, int refusal);
void sim_judge_event(sim_world *w, sim_node *n, const relet_event *ev);
void sim_judge_refusal(sim_world *w, uint64_t tag, uint64_t digest);
int sim_judge_waits_for_ever(const sim_node *n);
void sim_judge_turn(sim_world *w, sim_node *n);
/* The client's tick of this turn has sent a PING. */
void sim_judge_pinged(sim_world *w, const sim_node *n);
void sim_judge_gone(sim_world *w, sim_node *n, int crash);
extern const char *const sim_rule_name[SIM_RULES];

/* hears.c */
void sim_hears_first(sim_world *w, sim_link *l);
void sim_hears_wish(sim_world *w, sim_node *n, int wish, int on);
void sim_hears_gap(sim_world *w, sim_node *n);
void sim_hears_message(sim_world *w, sim_node *n, const relet_event *ev);
void sim_hears_subscription(sim_world *w, sim_node *n, const relet_event *ev);
int sim_wish_of(relet_channel kind, relet_span name);
extern const char *const sim_wish_name[SIM_WISHES];
extern const relet_channel sim_wish_kind[SIM_WISHES];

/* lease.c */
int sim_lease_more(sim_world *w); /* 1: this is still due after the healing   */
/* The node's first lease that waits while no leader holds it; NULL: none. */
const sim_hold *sim_lease_missing(const sim_world *w, const sim_node *n);
void sim_lease_look(sim_world *w);
int sim_lease_link_is_quick(sim_world *w, const sim_node *n);
void sim_lease_arrives(sim_world *w, uint64_t which);

/* claims.c: what servers do with leases, as it happens. */
extern const char *const sim_key_name[SIM_KEYS];
void sim_claims_begin(sim_world *w);
/* From now on, earlier grants may be forgotten or end too early. */
void sim_claims_void(sim_world *w, sim_void why);
/* Returns 1, and fills *run, if the command is about a lease. */
int sim_claims_read(const struct sim_words *c, sim_run *run);
/* A request arrived late: its owner has another term, or has left. */
void sim_claims_late(sim_world *w, const sim_link *l, unsigned serial);
void sim_claims_before(sim_world *w, sim_link *l, const struct sim_words *c);
void sim_claims_answer(sim_world *w, const sim_link *l, size_t at, size_t n);
void sim_claims_answer_ends(sim_world *w, int64_t later);
void sim_claims_after(sim_world *w, sim_link *l);
/* The client of this link hears of so many copies of all that it wrote. */
void sim_claims_copied(sim_world *w, const sim_link *l, int copies, int disk);
int sim_claims_two_masters(sim_world *w); /* 1: as if servers lost writes     */
int sim_claims_leapt(const sim_world *w, int64_t since_us);

/* belief.c: what nodes are told of leases. */
void sim_belief_event(sim_world *w, sim_node *n, const relet_event *ev);
void sim_belief_turn(sim_world *w, sim_node *n);
void sim_belief_gone(sim_world *w, sim_node *n, int crash);
/* Another program has taken the key, by SET NX PX. */
void sim_belief_other(sim_world *w, int key, relet_time ms);
int sim_belief_led(const sim_world *w, int key);

/* record.c */
void sim_record_sent(sim_world *w, sim_link *l, const struct sim_words *c);
uint32_t sim_record_arrived(sim_link *l);
void sim_record_ran(sim_world *w, const sim_run *run, int refused,
                    uint64_t behind);
void sim_record_lied(sim_world *w, const sim_link *l);
void sim_record_read(sim_world *w, sim_link *l);
void sim_record_forgotten(sim_world *w);
void sim_record_gone(sim_world *w, sim_link *l);
void sim_record_other(sim_world *w, int key, int take, relet_time ms, int done);
void sim_record_judge(sim_world *w);

/* chart.c */
void sim_chart_begin(sim_world *w, int node, sim_hold *h);
void sim_chart_other(sim_world *w, int key, int64_t to_us);
void sim_chart_print(const sim_world *w);

/* shrink.c: keep[i] for each fault; how many stay. */
int sim_shrink(sim_world *w, const sim_setup *setup, uint8_t *keep,
               int *tries);

#include "work.h"

#endif
