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
    RLT_SCRIPT_PLAIN = 32 /* no shebang line                                 */
};

typedef struct rlt_script {
    rlt_lua_code *code;
    int flags;
    char sha[41];
} rlt_script;

/* The state of scripting; server->scripts. */
typedef struct rlt_scripts {
    rlt_lua lua;
    rlt_dict known;  /* value.p: rlt_script *                                */
    rlt_out reply;   /* of the command that a script runs                    */
} rlt_scripts;

RELET_PRIVATE int rlt_scripts_begin(rlt_server *s);
RELET_PRIVATE void rlt_scripts_free(rlt_server *s);
RELET_PRIVATE void rlt_scripts_flush(rlt_server *s);

/* The script with this SHA-1 in hex, in any case, or NULL. */
RELET_PRIVATE rlt_script *rlt_scripts_find(const rlt_server *s,
                                           relet_span sha);

/* The script with this text, which is compiled and stored if it is new. NULL:
 * an error was replied. */
RELET_PRIVATE rlt_script *rlt_scripts_load(rlt_call *c, relet_span text);

/* The flags of the shebang line; -1: *error has the message, to be followed by
 * *word if that is not empty. *skip: bytes before the code. */
RELET_PRIVATE int rlt_scripts_first_line(relet_span text, size_t *skip,
                                         const char **error,
                                         relet_span *word);

/* The flags of a command; of EVAL and EVALSHA, as the script declares them. */
RELET_PRIVATE uint32_t rlt_scripts_flags(const rlt_call *c);

#endif
