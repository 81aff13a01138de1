/* SPDX-License-Identifier: MIT
 *
 * pack.c - compresses the output of embed.awk into src/link/script_text.inc.
 *
 * The commonest pair of adjacent symbols becomes a symbol of its own, again and
 * again, until no pair is left that would make the text shorter or the symbols
 * are used up (Re-Pair, after Larsson and Moffat). The scripts of leases and
 * those of queues have pairs of their own, so that a build without queues does
 * not contain their pairs. Symbols of ten bits make these scripts shortest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BITS = 10,
    PAIRS_FROM = 128, /* smaller symbols are ASCII, and 0 ends a script       */
    SYMBOLS = 1 << BITS,
    DEPTH_MAX = 16,
    TEXT_MAX = 60000, /* places and lengths are written as 16 bits           */
    SCRIPTS_MAX = 100,
    NAME_MAX_LEN = 40
};

typedef struct script {
    char name[NAME_MAX_LEN + 1];
    unsigned at, n; /* its first symbol; the length of its plain text        */
} script;

typedef struct part {
    const char *name, *macro;
    script scripts[SCRIPTS_MAX];
    unsigned count;
    unsigned text[TEXT_MAX], n;
    unsigned pair[SYMBOLS][2], depth[SYMBOLS], symbols;
} part;

static part parts[2];
static unsigned occurs[SYMBOLS][SYMBOLS];

static void die(const char *why)
{
    fprintf(stderr, "pack: %s\n", why);
    exit(1);
}

/* ----------------------------------------------------------------- reading */

static void put(part *p, unsigned symbol)
{
    if (p->n == TEXT_MAX)
        die("the scripts are too long");
    p->text[p->n++] = symbol;
}

/* "@lease_renew" begins a script of the part "lease". */
static part *begin(const char *name)
{
    part *p = strncmp(name, "lease_", 6) == 0 ? &parts[0] : &parts[1];
    script *s = &p->scripts[p->count++];

    if (p->count == SCRIPTS_MAX || strlen(name) > NAME_MAX_LEN)
        die("there are too many scripts, or a name is too long");
    strcpy(s->name, name);
    return p;
}

static void read_scripts(void)
{
    static char line[1000];
    part *p = NULL;
    size_t i, n;

    while (fgets(line, sizeof line, stdin) != NULL) {
        n = strlen(line);
        if (n == 0 || line[n - 1] != '\n')
            die("a line is too long, or has no end");
        if (line[0] == '@') {
            line[n - 1] = '\0';
            if (p)
                put(p, 0);
            p = begin(line + 1);
            continue;
        }
        if (p == NULL)
            die("a script without a name");
        p->scripts[p->count - 1].n += (unsigned)n;
        for (i = 0; i < n; i++) {
            if (line[i] <= 0)
                die("a byte is no ASCII");
            put(p, (unsigned)line[i]);
        }
    }
    if (p)
        put(p, 0);
}

/* ----------------------------------------------------------------- packing */

static unsigned deeper(const part *p, unsigned a, unsigned b)
{
    return 1 + (p->depth[a] > p->depth[b] ? p->depth[a] : p->depth[b]);
}

/* Returns how often the commonest pair occurs, and the pair: of several, the
 * first pair to occur so often. In a run of equal symbols only every other pair
 * counts, since pairs that overlap cannot both be replaced. */
static unsigned commonest(const part *p, unsigned *left, unsigned *right)
{
    const unsigned *t = p->text;
    unsigned i, most = 0, counted = 0;

    for (i = 0; i + 1 < p->n; i++) {
        counted = !(counted && i > 0 && t[i - 1] == t[i] && t[i] == t[i + 1]);
        if (!counted || t[i] == 0 || t[i + 1] == 0 ||
            deeper(p, t[i], t[i + 1]) > DEPTH_MAX)
            continue;
        if (++occurs[t[i]][t[i + 1]] > most) {
            most = occurs[t[i]][t[i + 1]];
            *left = t[i];
            *right = t[i + 1];
        }
    }
    for (i = 0; i + 1 < p->n; i++)
        occurs[t[i]][t[i + 1]] = 0;
    return most;
}

static void replace(part *p, unsigned left, unsigned right, unsigned symbol)
{
    unsigned from, to = 0;

    for (from = 0; from < p->n; from++, to++) {
        p->text[to] = p->text[from];
        if (from + 1 < p->n && p->text[from] == left &&
            p->text[from + 1] == right) {
            p->text[to] = symbol;
            from++;
        }
    }
    p->n = to;
}

/* The table of pairs takes two symbols per pair, so a pair has to occur three
 * times. */
static void pack(part *p)
{
    unsigned left = 0, right = 0;

    for (p->symbols = PAIRS_FROM; p->symbols < SYMBOLS; p->symbols++) {
        if (commonest(p, &left, &right) < 3)
            return;
        p->pair[p->symbols][0] = left;
        p->pair[p->symbols][1] = right;
        p->depth[p->symbols] = deeper(p, left, right);
        replace(p, left, right, p->symbols);
    }
}

/* ----------------------------------------------------------------- writing */

static unsigned char bytes[TEXT_MAX * 2];
static unsigned bits;

static void write_symbol(unsigned symbol)
{
    unsigned i;

    for (i = 0; i < BITS; i++, bits++)
        bytes[bits / 8] |= (unsigned char)((symbol >> i & 1) << bits % 8);
}

/* The pairs, then the scripts, without the zeros behind them. */
static void write_part(part *p)
{
    unsigned i, ended = 0;
    int column = 0;

    memset(bytes, 0, sizeof bytes);
    bits = 0;
    for (i = PAIRS_FROM; i < p->symbols; i++) {
        write_symbol(p->pair[i][0]);
        write_symbol(p->pair[i][1]);
    }
    p->scripts[0].at = bits / BITS;
    for (i = 0; i < p->n; i++)
        if (p->text[i])
            write_symbol(p->text[i]);
        else
            p->scripts[++ended].at = bits / BITS;
    printf("\n#ifndef %s\nstatic const uint8_t script_text_%s[] = {", p->macro,
           p->name);
    for (i = 0; i < (bits + 7) / 8; i++) {
        if (column == 0 || column > 75)
            column = printf("\n    ") - 1;
        column += printf("%u,", (unsigned)bytes[i]);
    }
    printf("\n};\n#endif\n");
}

static void write_places(const part *p)
{
    unsigned i;

    printf("#ifndef %s\n", p->macro);
    for (i = 0; i < p->count; i++)
        printf("    {%u, %u}, /* %s */\n", p->scripts[i].at, p->scripts[i].n,
               p->scripts[i].name);
    printf("#endif\n");
}

int main(void)
{
    parts[0].name = "lease";
    parts[0].macro = "RELET_NO_LEASE";
    parts[1].name = "queue";
    parts[1].macro = "RELET_NO_QUEUE";
    read_scripts();
    printf("/* SPDX-License-Identifier: MIT\n"
           " *\n"
           " * script_text.inc - the scripts of lua/, packed.\n"
           " *\n"
           " * `make scripts` makes this file by tools/embed.awk and "
           "tools/pack.c; lua/ has\n"
           " * the scripts to read. A symbol has %d bits, the low ones first. "
           "A symbol below\n"
           " * %d is a byte of text, another one stands for a pair of symbols. "
           "The pairs\n"
           " * come first, that of symbol %d as symbols 0 and 1; then the "
           "scripts. script.c\n"
           " * unpacks them. */\n\n",
           BITS, PAIRS_FROM, PAIRS_FROM);
    printf("/* No symbol stands for pairs of pairs that are nested deeper. */\n"
           "#define SCRIPT_TEXT_DEPTH %d\n", DEPTH_MAX);
    pack(&parts[0]);
    pack(&parts[1]);
    write_part(&parts[0]);
    write_part(&parts[1]);
    printf("\n/* The number of its first symbol and the length of each script. "
           "*/\nstatic const uint16_t script_text_places[][2] = {\n");
    write_places(&parts[0]);
    write_places(&parts[1]);
    printf("    {0, 0}\n};\n");
    return 0;
}
