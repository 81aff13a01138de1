/* SPDX-License-Identifier: MIT
 *
 * scripts.h - the scripts a server knows, by their SHA-1.
 */
#ifndef RLT_SCRIPTS_H
#define RLT_SCRIPTS_H

#include "lua.h"
#include "state.h"

enum {
    RLT_SCRIPT_NO_WRITES = 1,
    RLT_SCRIPT_ALLOW_OOM = 2,
    RLT_SCRIPT_ALLOW_STALE = 4,
    RLT_SCRIPT_NO_CLUSTER = 8,
    RLT_SCRIPT_CROSS_SLOT = 16,
    RLT_SCRIPT_PLAIN = 32 /* has no first line that says what it is          */
};

typedef struct rlt_script {
    rlt_lua_code *code;
    int flags;
    char sha[41];
} rlt_script;

/* What scripts need; server->scripts. */
typedef struct rlt_scripts {
    rlt_lua lua;
    rlt_dict known;  /* value.p: rlt_script *                                */
    rlt_out reply;   /* of the command that a script runs                    */
} rlt_scripts;

RELET_PRIVATE int rlt_scripts_begin(rlt_server *s);
RELET_PRIVATE void rlt_scripts_free(rlt_server *s);
RELET_PRIVATE void rlt_scripts_flush(rlt_server *s);

/* The script with this name, in any case, or NULL. */
RELET_PRIVATE rlt_script *rlt_scripts_find(const rlt_server *s,
                                           relet_span sha);

/* The script with this text: known already, or compiled and known from now on.
 * NULL: an error was replied. */
RELET_PRIVATE rlt_script *rlt_scripts_load(rlt_call *c, relet_span text);

/* What the first line says: the flags, or -1 with the sentence in *error, to
 * be followed by *word if that is not empty. *skip: bytes that are no code. */
RELET_PRIVATE int rlt_scripts_first_line(relet_span text, size_t *skip,
                                         const char **error,
                                         relet_span *word);

/* The flags of a command; of one that runs a script, as that says. */
RELET_PRIVATE uint32_t rlt_scripts_flags(const rlt_call *c);

#endif
