/* SPDX-License-Identifier: MIT
 *
 * files.c - calls of the scripts of lua/, as the library makes them, and odd
 * ones.
 *
 * The keys are those that a script's head names, of one queue and one lease;
 * the arguments come from a template for each script. A token is the time of
 * the claim, in us of the server's clock, which the tape sets; so a call often
 * has the right token, and as often a token that was right before. files_work
 * begins a queue anew, so that the maker knows the jobs that it claims. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define FILES_MAX 64

typedef struct file {
    char name[40]; /* without .lua                                         */
    char *text;
    size_t size;
} file;

static struct {
    file at[FILES_MAX];
    int n;
} files;

/* The arguments after the keys. `often`: the weight of a script among all
 * calls. */
static const struct {
    const char *name, *words;
    int often;
} files_arguments[] = {
    {"queue_put", "%o %O [0|0|3] {%v}", 5},
    {"queue_put_full", "%o %O [0|0|3] {%J %v}", 5},
    {"queue_unique", "%o %O [t|e|r|d] [1|1000|60000] %J %v [0|3]", 4},
    {"queue_claim", "%o %O [1|1000|60000] [1|2|5] [100|100000]", 6},
    {"queue_claim_type",
     "%o %O [1|1000|60000] [1|2|5] [100|100000] %Y [-inf|2]", 4},
    {"queue_recall", "%o %O", 2},
    {"queue_done_plain", "%o %O {%N %T}", 3},
    {"queue_done", "%o %O {%N %T [0|1000|60000] %v}", 3},
    {"queue_fail", "%o %O {%N %T [r|r|s|x] [0|100|5000] %v}", 4},
    {"queue_release", "{%N %T}", 3},
    {"queue_renew", "[1|1000|60000] [1|60000] {%N %T}", 3},
    {"queue_progress", "{%N %T %v}", 2},
    {"queue_cancel", "%K %N", 3},
    {"queue_look", "%K %N", 4},
    {"queue_keep", "%K %N [1|1000|60000]", 2},
    {"queue_list", "[w|k|y|l|d|x] [0|1] [1|10|128] [1100|5000] %Y", 4},
    {"queue_purge", "[w|y|x|d|l|a] [1|10|128] [0|1]", 2},
    {"queue_rank", "[1|10|128]", 3},
    {"queue_promote", "[1|10|128]", 5},
    {"queue_reap", "[1|10|128] [0|1|5] [0|1000] [0|60000]", 4},
    {"queue_replay", "[0|1|3] [0|1|10] 0 [%N|%N %N|]", 2},
    {"queue_idle", "%W [1|1|0|p]", 4},
    {"queue_status", "", 3},
    {"queue_trim", "[0|1|100] [0|1|100] [0|1000] [1|10|128]", 2},
    {"queue_forget", "[0|i] 1000", 2},
    {"lease_acquire", "[al|al|bo] [1|2|3] [1|1000|60000] %W [0|0|500]", 6},
    {"lease_release", "[al|al|bo] [1|2|3] %X %W", 4},
    {"lease_renew", "[al|al|bo] %X [1|1000|60000]", 4}};

#define FILES_KNOWN (sizeof files_arguments / sizeof *files_arguments)

/* ---------------------------------------------------------------- reading */

static void files_add(const char *folder, const char *name)
{
    file *at = &files.at[files.n];
    char path[600];
    FILE *f;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    (void)snprintf(at->name, sizeof at->name, "%.*s", (int)strlen(name) - 4,
                   name);
    f = fopen(path, "rb");
    at->text = (char *)malloc(65536);
    if (f == NULL || at->text == NULL)
        abort();
    at->size = fread(at->text, 1, 65536, f);
    files.n++;
    (void)fclose(f);
}

static int files_is_lua(const struct dirent *d)
{
    size_t n = strlen(d->d_name);

    return n > 4 && n < 40 && strcmp(d->d_name + n - 4, ".lua") == 0;
}

/* Reads the scripts in the order of their names, so that a seed gives the same
 * tape on each machine. */
void files_read(const char *folder)
{
    struct dirent **list;
    int n = scandir(folder, &list, files_is_lua, alphasort), i;

    for (i = 0; i < n; i++) {
        if (files.n < FILES_MAX)
            files_add(folder, list[i]->d_name);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
}

/* ------------------------------------------------------------------ words */

/* A lease's token, or '' for a client that does not know its token. */
static word files_lease_token(maker *m)
{
    int n = m->grants < 8 ? m->grants : 8;
    int64_t us = m->now_us;

    if (n > 0)
        us = m->grants_us[maker_once_in(m, 4) ? maker_below(m, (uint32_t)n)
                                              : (uint32_t)(m->grants - 1) % 8];
    if (maker_once_in(m, 12))
        return tape_text(m->t, "");
    return maker_format(m, "%lld", (long long)us);
}

/* A job that was claimed in the tape, mostly followed by its token. */
static word files_number(maker *m)
{
    m->claimed_at = maker_below(m, 8);
    if (m->claimed_at < m->claimed && !maker_once_in(m, 8))
        return maker_format(m, "%u", m->claimed_at + 1);
    return maker_format(m, "%u", 1 + maker_below(m, 8));
}

static word files_token(maker *m)
{
    return maker_format(m, "%lld", (long long)m->claimed_us +
                        (maker_once_in(m, 8) ? maker_below(m, 8)
                                             : m->claimed_at));
}

static word files_head(maker *m)
{
    static const char *const types[] = {"", "", "mail", "x", NULL};
    static const char *const ids[] = {"", "a", "b", "a", NULL};
    static const char *const options[] = {"", "", "", "rc1", "b100", NULL};
    const char *type = maker_pick(m, types), *id = maker_pick(m, ids);
    const char *more = maker_pick(m, options);

    return maker_format(m, "%d,%u,%u,%u,%u;%s%s%s",
                        (int)maker_below(m, 5) - 1,
                        maker_once_in(m, 2) ? 0 : maker_below(m, 3) * 1000,
                        (unsigned)strlen(type), (unsigned)strlen(id),
                        (unsigned)strlen(more), type, id, more);
}

word files_word(maker *m, char kind)
{
    static const char *const ids[] = {"", "a", "b", NULL};
    static const char *const types[] = {"", "mail", "x", NULL};
    static const char *const channels[] = {"c1", "c2", "", NULL};

    switch (kind) {
    case 'N': return files_number(m);
    case 'X': return files_lease_token(m);
    case 'T': return files_token(m);
    case 'O':
        m->ops += !maker_once_in(m, 8);
        return maker_format(m, "%d", m->ops);
    case 'J': return files_head(m);
    case 'K': return tape_text(m->t, maker_pick(m, ids));
    case 'Y': return tape_text(m->t, maker_pick(m, types));
    default: return tape_text(m->t, maker_pick(m, channels));
    }
}

/* ------------------------------------------------------------------ calls */

static void files_add_word(ask *a, word w)
{
    if (a->argc < MODEL_WORDS)
        a->argv[a->argc++] = w;
}

static word files_key(maker *m, word name)
{
    ask b;

    if (!maker_once_in(m, 40))
        return maker_format(m, "q.%.*s", (int)name.n, name.p);
    expand_template(m, "!ECHO %k", &b);
    return b.argv[1];
}

/* Reads the keys from the head of a script, such as "KEYS  1 jobs  2 waiting,
 * ranked or dead ... ARGV": a number after two blanks, and the first name after
 * it. A key with several names may be any place of a queue. */
static void files_keys(maker *m, const file *f, ask *a)
{
    static const char *const places[] = {"waiting", "ranked", "delayed",
                                         "leased", "done", "dead", NULL};
    const char *p = (const char *)memmem(f->text, f->size, "KEYS  ", 6);
    const char *end = p == NULL ? NULL
        : (const char *)memmem(p, (size_t)(f->text + f->size - p), "ARGV", 4);
    word name;

    for (; end != NULL && p + 4 < end; p++) {
        if (p[0] != ' ' || p[1] != '1' + (a->argc - 3) || p[2] != ' ')
            continue;
        name.p = p + 3;
        name.n = strcspn(name.p, " ,\n");
        if (name.p[name.n] == ',')
            name = tape_text(m->t, maker_pick(m, places));
        files_add_word(a, files_key(m, name));
    }
}

static int files_pick(maker *m)
{
    uint32_t sum = 0, at;
    size_t i;

    for (i = 0; i < FILES_KNOWN; i++)
        sum += (uint32_t)files_arguments[i].often;
    at = maker_below(m, sum);
    for (i = 0; at >= (uint32_t)files_arguments[i].often; i++)
        at -= (uint32_t)files_arguments[i].often;
    return (int)i;
}

static const file *files_find(const char *name)
{
    int i;

    for (i = 0; i < files.n; i++)
        if (strcmp(files.at[i].name, name) == 0)
            return &files.at[i];
    return NULL;
}

/* Adds the words of the template, after the keys. */
static void files_words(maker *m, const char *template, ask *a)
{
    ask *words = (ask *)calloc(1, sizeof *words);
    char line[100];
    int i;

    if (words == NULL)
        abort();
    (void)snprintf(line, sizeof line, "%sECHO %s",
                   *template == '!' ? "!" : "",
                   template + (*template == '!'));
    expand_template(m, line, words);
    for (i = 1; i < words->argc; i++)
        files_add_word(a, words->argv[i]);
    free(words);
}

int files_call(maker *m, const char *name, const char *template, ask *a)
{
    const file *f = files_find(name);
    word text, sha;

    if (f == NULL)
        return 0;
    text.p = f->text;
    text.n = f->size;
    a->argc = 0;
    files_add_word(a, tape_text(m->t, "EVAL"));
    files_add_word(a, text);
    files_add_word(a, text);
    files_keys(m, f, a);
    a->argv[2] = maker_format(m, "%d", a->argc - 3);
    files_words(m, template, a);
    sha = script_sha(m, text);
    if (maker_once_in(m, 4)) {
        a->argv[0] = tape_text(m->t, "EVALSHA");
        a->argv[1] = sha;
    }
    if (strcmp(name, "lease_acquire") == 0)
        m->grants_us[m->grants++ % 8] = m->now_us;
    return 1;
}

int files_make(maker *m, ask *a)
{
    int k = files_pick(m);

    return files_call(m, files_arguments[k].name, files_arguments[k].words, a);
}

int files_work(maker *m, int at, ask *a)
{
    switch (at) {
    case 0:
        expand_template(m, "!DEL q.jobs q.waiting q.ranked q.delayed q.leased "
                           "q.done q.dead q.ids", a);
        return 1;
    case 1: return files_call(m, "queue_put", "!al %O 0 a b c", a);
    case 2:
        m->claimed = 3;
        m->claimed_us = m->now_us;
        return files_call(m, "queue_claim", "!al %O 60000 3 100000", a);
    case 3: return files_call(m, "queue_put_full", "!al %O 0 %J d %J e", a);
    default: return files_call(m, "queue_promote", "!128", a);
    }
}
