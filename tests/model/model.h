/* SPDX-License-Identifier: MIT
 *
 * model.h - the same commands to several servers, and their replies compared.
 *
 * A tape is a list of steps made from a seed. It is played on two or three
 * sides at once: Redis 7.0 is the reference, Valkey 8.0 and the local server
 * are compared with it. No real time passes: the tape sets every side's wall
 * clock, and a step ends when no side sends more bytes.
 *
 *   bytes.c    growing bytes, escaped text, glob
 *   rig.c      real servers: processes, sockets, the frozen clock
 *   ours.c     the local server, in this process
 *   words.c    templates of commands      scripts.c  small Lua programs
 *   files.c    calls of the scripts of lua/
 *   expand.c   template to words          tape.c     seed to steps
 *   frames.c   bytes to a tree, and back in a canonical form
 *   freedoms.c the table of allowed differences, with their reasons
 *   info.c     which fields of INFO are compared
 *   scan.c     scans to their end
 *   compare.c  plays a tape                judge.c    compares the replies
 *   data.c     reads the data set
 *   chance.c   counts random results over many calls
 *   tally.c    which commands and which errors the tapes reach
 *   shrink.c   a failing tape made small
 *   model_main.c  the command line */
#ifndef MODEL_H
#define MODEL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "rand.h"

#define MODEL_CLIENTS 4           /* connections a tape may use             */
#define MODEL_READER 4            /* one more, to read the data set with    */
#define MODEL_LINKS 5
#define MODEL_IDS 16              /* that a connection had, remembered      */
#define MODEL_STEPS 96
#define MODEL_ASKS 4              /* commands in one write                  */
#define MODEL_WORDS 64            /* arguments of one command               */
#define MODEL_ARENA (256 * 1024)  /* all words of one tape                  */
#define MODEL_DBS 3               /* data sets that are compared            */
#define MODEL_BEGIN_US INT64_C(1700000000123456)

/* ------------------------------------------------------------------ bytes */

typedef struct bytes {
    char *p;
    size_t n, cap;
} bytes;

void bytes_put(bytes *b, const void *p, size_t n);
void bytes_text(bytes *b, const char *text);
void bytes_format(bytes *b, const char *format, ...);
void bytes_clear(bytes *b);
void bytes_free(bytes *b);
/* As a C string would be written, at most `most` bytes of it. */
void bytes_escape(bytes *b, const char *p, size_t n, size_t most);
int bytes_same(const bytes *a, const bytes *b);
/* `*` stands for anything; letters compare whatever their case. */
int bytes_glob(const char *pattern, const char *p, size_t n);

typedef struct word {
    const char *p;
    size_t n;
} word;

int word_is(word w, const char *text); /* whatever its case */

/* ------------------------------------------------------------------- tape */

typedef struct ask {
    word argv[MODEL_WORDS];
    int argc;
} ask;

typedef enum step_kind {
    STEP_ASK,   /* commands, in one write                                  */
    STEP_RAW,   /* bytes that may be no command                            */
    STEP_SCAN,  /* a scan from cursor 0 to its end                         */
    STEP_CLOCK, /* the wall clock moves                                    */
    STEP_AGAIN  /* the connection is closed and opened again               */
} step_kind;

typedef struct step {
    step_kind kind;
    int link;
    int64_t us; /* STEP_CLOCK: forward, or back                            */
    ask asks[MODEL_ASKS];
    int n;
    word raw;
    size_t cut; /* the write is made in two halves, here; 0: in one        */
} step;

typedef struct tape {
    uint64_t seed;
    step steps[MODEL_STEPS];
    int n;
    char arena[MODEL_ARENA];
    size_t used;
} tape;

/* The number that a side knows connection k by, as an argument; filled in
 * side by side as the command is sent. */
#define MODEL_ID_MARK '\1'
int word_is_id(word w);

void tape_make(tape *t, uint64_t seed);
word tape_word(tape *t, const char *p, size_t n);
word tape_text(tape *t, const char *text);
void tape_print(FILE *f, const step *s);
void tape_show_ask(bytes *b, const ask *a);

/* The maker's state: what a template may refer to. */
typedef struct maker {
    tape *t;
    rlt_rand rand;
    int64_t now_us;
    int64_t ends_ms[32]; /* when keys end, as far as the tape knows        */
    int ends;
    word shas[16]; /* of scripts that were sent                            */
    int sha_count;
    int64_t grants_us[8]; /* when a lease was asked for: its tokens          */
    int grants;
    int64_t claimed_us; /* when jobs 1, 2, … were claimed, and how many     */
    uint32_t claimed, claimed_at;
    int ops; /* operations of the library's scripts, so far                */
    int great; /* sorted sets may be great ones                            */
    int calm; /* in 1024: how often an argument is an ordinary one         */
} maker;

uint32_t maker_below(maker *m, uint32_t n);
int maker_once_in(maker *m, uint32_t n);
const char *maker_pick(maker *m, const char *const *list);
word maker_format(maker *m, const char *format, ...);
void maker_end(maker *m, int64_t in_ms); /* something ends then */

/* One template to one command, and what a hostile caller makes of it. */
void expand_template(maker *m, const char *template, ask *a);
void expand_spoil(maker *m, ask *a);
/* Keeps out what no reply could be compared for, as a gigabyte of it. */
void expand_tame(maker *m, ask *a);

typedef struct family {
    const char *name;
    int weight;
    const char *const *rows;
} family;
extern const family families[];
extern const int family_count;
extern const char *const hostile_words[];
int family_rows(const family *f);

/* A script call; the families that its inner commands come from. */
void script_make(maker *m, const family *f, ask *a);
/* The text's sha, remembered with it until the next tape; and back: an empty
 * word for one that no script of the tape has. */
word script_sha(maker *m, word text);
word script_of(word sha);
void script_forget(void);

/* Scripts in a folder; a call of one, if there are any; the words in it. */
void files_read(const char *folder);
int files_make(maker *m, ask *a);
#define FILES_WORK 5 /* steps that fill a queue and claim from it          */
int files_work(maker *m, int at, ask *a);
int files_call(maker *m, const char *name, const char *template, ask *a);
word files_word(maker *m, char kind);

/* ------------------------------------------------------------------ sides */

typedef struct side side;
struct side {
    const char *name;
    void *state;
    /* Empty, with the settings of a fresh server, all links closed. */
    int (*fresh)(side *s);
    int (*open)(side *s, int link);
    void (*shut)(side *s, int link);
    void (*send)(side *s, int link, const char *p, size_t n);
    void (*clock)(side *s, int64_t us);
    /* A barrier in two halves, so that the sides work at the same time. */
    void (*poke)(side *s);
    int (*rest)(side *s); /* 0, or -1: it is gone or does not answer       */
    /* What has arrived, to the end of heard[]; says how much that was. */
    size_t (*take)(side *s);
    void (*stop)(side *s);
    bytes heard[MODEL_LINKS];
    int open_links[MODEL_LINKS];
    int closed[MODEL_LINKS]; /* by the server                              */
    char run[2][41]; /* names of the process, as scripts may store them    */
    int64_t id[MODEL_LINKS]; /* what it calls the connection               */
    int64_t id_was[MODEL_LINKS][MODEL_IDS]; /* and what it called it before */
};

side *rig_start(const char *name, const char *binary, const char *libs,
                const char *shim);
side *ours_start(void); /* NULL: not built in */

/* ----------------------------------------------------------------- frames */

#define FRAME_MAX 20000

typedef struct frame {
    char type;        /* of RESP; '~' etc., '!' for a blob error           */
    word text;        /* of a scalar                                       */
    int null;
    int count;        /* children; twice as many as pairs of a map         */
    int first, next;  /* places in the forest, -1: none                    */
    int stray;        /* a push amid the children of another, not counted  */
    size_t size;      /* bytes it took                                     */
} frame;

typedef struct forest {
    frame *at;
    int n;
} forest;

/* Reads one frame at p: its place in the forest, or -1 if it is not whole. */
int frame_read(forest *f, const char *p, size_t n);
int frame_is_push(const forest *f, int at);
/* at, or the next behind it that is no stray; -1: none. */
int frame_no_stray(const forest *f, int at);
int frame_error(const forest *f, int at);
word frame_head(const forest *f, int at); /* first child's text */

typedef enum rule {
    RULE_EXACT,
    RULE_SORTED, /* the members in any order                               */
    RULE_PAIRS,  /* pairs of members in any order                          */
    RULE_DEEP,   /* whatever is in any depth of it in any order            */
    RULE_SHAPE,  /* types and counts only                                  */
    RULE_SCAN,   /* a cursor and members                                   */
    RULE_SCAN_PAIRS, /* a cursor and pairs                                 */
    RULE_HELLO,  /* without the fields that belong to one server           */
    RULE_IDS,    /* numbers of connections                                 */
    RULE_CLIENTS,/* a line per client, some of its fields                  */
    RULE_UNSUBSCRIBED, /* a push, of whatever channel                      */
    RULE_INFO,   /* the fields of INFO that ours has, see info.c           */
    RULE_HELP,   /* its first line                                         */
    RULE_TYPE,   /* only that it is an error, a number, …                  */
    RULE_ANY
} rule;

/* Returns 1 if this is a scan's reply, and not its last one: it may have any
 * elements. */
int frame_goes_on(const forest *f, int at);
void frame_render(bytes *out, const forest *f, int at, rule r, const side *s);

/* The fields of INFO's text that can be compared, with this side's. */
void info_compare_with(const side *other);
void info_render(bytes *out, word text, const side *s);

/* --------------------------------------------------------------- freedoms */

rule freedom_rule(const ask *a);
/* Rewrites a rendered reply of the other side in the words of Redis 7.0. */
void freedom_wording(const side *other, bytes *reply);
/* Returns 1 if the other side may give this reply instead of that of Redis; 2
 * if so, and its data set is different from here on. */
int freedom_version(const side *other, const ask *a, const bytes *redis,
                    const bytes *reply);
/* Returns 1 if the other side's data set is different from here on, though no
 * reply shows that. */
int freedom_silent(const side *other, const ask *a, int64_t now_ms, int heard);
/* Returns 1 if the pushes of this command may come in any order. */
int freedom_any_order(const ask *a);
void freedom_print(FILE *f);

/* ---------------------------------------------------------------- compare */

typedef struct verdict {
    int failed;    /* 1: differs, 2: a side is gone                        */
    int step;      /* -1: in the data set afterwards                       */
    int link;
    int other;     /* which side                                           */
    bytes asked, reference, reply;
} verdict;

/* Plays the tape on all sides; the first is the reference. */
void compare_play(const tape *t, side **sides, int n, int tally, verdict *v);
void verdict_clear(verdict *v);

void shrink_tape(tape *t, side **sides, int n, verdict *v);

/* Tests every command with a random result on all sides. Returns how many of
 * *played failed, and prints these; with f, writes chi-squared of all. */
int chance_play(side **sides, int n, int *played, FILE *f);

void tally_command(const ask *a);
void tally_reply(const ask *a, const forest *f, int at);
void tally_print(FILE *f);

#endif
