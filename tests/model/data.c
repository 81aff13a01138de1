/* SPDX-License-Identifier: MIT
 *
 * data.c - the data set after a tape, read type by type. */
#include <string.h>

#include "play.h"

#define DATA_KEYS 64

typedef struct data_key {
    char name[64];
    size_t n;
    char type;
    int db;
} data_key;

static void data_ask(ask *a, const char *const *words, const data_key *k)
{
    int i;

    for (i = 0; words[i] != NULL; i++) {
        a->argv[i].p = words[i][0] == '@' ? k->name : words[i];
        a->argv[i].n = words[i][0] == '@' ? k->n : strlen(words[i]);
    }
    a->argc = i;
}

/* Sends, judges, and leaves the reference's frames to be looked at. */
static int data_round(play *p, const ask *asks, int n)
{
    p->step = NULL;
    p->at = -1;
    if (play_asks(p, asks, n, 0) != 0)
        return -1;
    return judge_all(p);
}

static int data_names(play *p, data_key *keys)
{
    static const char *const all[] = {"KEYS", "*", NULL};
    static const char *const dbs[] = {"0", "1", "2"};
    static ask asks[2 * MODEL_DBS];
    const heard *h = judge_reference();
    int i, n = 0, child;

    for (i = 0; i < MODEL_DBS; i++) {
        const char *select[3] = {"SELECT", NULL, NULL};

        select[1] = dbs[i];
        data_ask(&asks[2 * i], select, NULL);
        data_ask(&asks[2 * i + 1], all, NULL);
    }
    if (data_round(p, asks, 2 * MODEL_DBS) != 0)
        return -1;
    for (i = 0; i < MODEL_DBS && 2 * i + 1 < h->n; i++)
        for (child = h->trees.at[h->roots[2 * i + 1].at].first; child >= 0;
             child = h->trees.at[child].next) {
            word w = h->trees.at[child].text;

            if (n == DATA_KEYS || w.n > sizeof keys->name)
                continue;
            memcpy(keys[n].name, w.p, w.n);
            keys[n].n = w.n;
            keys[n++].db = i;
        }
    return n;
}

static const char *const *data_read_of(char type)
{
    static const char *const get[] = {"GET", "@", NULL};
    static const char *const hash[] = {"HGETALL", "@", NULL};
    static const char *const list[] = {"LRANGE", "@", "0", "-1", NULL};
    static const char *const set[] = {"SMEMBERS", "@", NULL};
    static const char *const zset[] = {"ZRANGE", "@", "0", "-1",
                                       "WITHSCORES", NULL};
    static const char *const stream[] = {"XINFO", "STREAM", "@", "FULL",
                                         "COUNT", "0", NULL};

    switch (type) {
    case 'h': return hash;
    case 'l': return list;
    case 'e': return set;
    case 'z': return zset;
    case 'x': return stream;
    default: return get;
    }
}

static char data_type(word w)
{
    return word_is(w, "set") ? 'e' : word_is(w, "stream") ? 'x'
                                   : w.n > 0 ? w.p[0] : 's';
}

int data_same(play *p)
{
    static const char *const type[] = {"TYPE", "@", NULL};
    static const char *const ends[] = {"PEXPIRETIME", "@", NULL};
    static data_key keys[DATA_KEYS];
    static ask asks[2 * DATA_KEYS];
    const heard *h;
    int n = data_names(p, keys), i, db, from = 0;

    h = judge_reference();
    for (db = 0; n > 0 && db < MODEL_DBS; db++) {
        char digit[2] = {'0', '\0'};
        const char *select[3] = {"SELECT", NULL, NULL};
        int to = from;

        digit[0] = (char)('0' + db);
        select[1] = digit;
        while (to < n && keys[to].db == db)
            to++;
        if (to == from)
            continue;
        data_ask(&asks[0], select, NULL);
        for (i = from; i < to; i++)
            data_ask(&asks[1 + i - from], type, &keys[i]);
        if (data_round(p, asks, 1 + to - from) != 0)
            return -1;
        for (i = from; i < to; i++) {
            int r = 1 + i - from;

            keys[i].type = r < h->n
                ? data_type(h->trees.at[h->roots[r].at].text) : 's';
        }
        for (i = 0; i < to - from; i++) {
            data_ask(&asks[2 * i], data_read_of(keys[from + i].type),
                     &keys[from + i]);
            data_ask(&asks[2 * i + 1], ends, &keys[from + i]);
        }
        if (data_round(p, asks, 2 * (to - from)) != 0)
            return -1;
        from = to;
    }
    return n < 0 ? -1 : 0;
}
