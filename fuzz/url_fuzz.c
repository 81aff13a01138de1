/* SPDX-License-Identifier: MIT
 *
 * url_fuzz.c - a URL is accepted whole, or refused and nothing is changed.
 *
 * An accepted URL passes the check, holds no control byte, and means the same
 * after it was written out and read again. A refused URL gives a fault whose
 * offset is inside the text. Then the same text is the value of an environment
 * variable, which its length chooses. */
#include <stdlib.h>

#include "url_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(int holds)
{
    if (!holds)
        abort();
}

static void *no_memory(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)user;
    (void)p;
    (void)old_size;
    (void)new_size;
    return NULL;
}

static void defaults(relet_config *c)
{
    relet_config_init(c);
    c->resize = no_memory;
}

static void printable(const char *text)
{
    must(*text != '\0');
    for (; *text != '\0'; text++)
        must(*text >= ' ' && *text <= '~');
}

/* Text alone can make only these settings contradict one another. */
static void sound(const relet_config *c)
{
    relet_fault fault;

    if (relet_config_check(c, &fault) == 0)
        return;
    must(fault.code == RELET_E_CONFIG);
    printable(fault.text);
    must(strcmp(fault.field, "retry_min_ms") == 0 ||
         strcmp(fault.field, "user") == 0 ||
         strcmp(fault.field, "service") == 0);
}

static void refused(const relet_config *c, const relet_fault *fault,
                    const char *text)
{
    relet_config before;

    defaults(&before);
    must(memcmp(c, &before, sizeof before) == 0);
    must(fault->code == RELET_E_CONFIG);
    must(fault->field != NULL);
    must(fault->offset <= strlen(text));
    must(memchr(fault->text, '\0', sizeof fault->text) != NULL);
    printable(fault->text);
}

static void stable(const relet_config *c)
{
    static char text[T_URL_MAX], again[T_URL_MAX];
    relet_config back;

    must(t_url_text(c, 1, text, sizeof text) == 0);
    printable(text);
    defaults(&back);
    must(relet_config_url(&back, text, NULL) == 0);
    must(memcmp(c, &back, sizeof back) == 0);
    must(t_url_text(&back, 1, again, sizeof again) == 0);
    must(strcmp(text, again) == 0);
}

typedef struct variable {
    const char *name, *value;
} variable;

static const char *get(void *user, const char *name)
{
    const variable *v = (const variable *)user;

    return strcmp(name, v->name) == 0 ? v->value : NULL;
}

static void fuzz_environment(const char *text)
{
    static const char *const names[] = {
        "A_REDIS_URL", "REDIS_HOST", "A_REDIS_PORT", "REDIS_DB",
        "REDIS_USERNAME", "A_REDIS_PASSWORD", "REDIS_PREFIX",
        "REDIS_SENTINEL_HOST"};
    relet_config c;
    relet_fault fault;
    variable v;

    v.name = names[strlen(text) % (sizeof names / sizeof names[0])];
    v.value = text;
    defaults(&c);
    if (relet_config_env_from(&c, "A_", get, &v, &fault) == 0)
        sound(&c);
    else
        refused(&c, &fault, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = (char *)malloc(n + 1);
    relet_config c;
    relet_fault fault;

    must(text != NULL);
    if (n > 0)
        memcpy(text, data, n);
    text[n] = '\0';
    defaults(&c);
    if (relet_config_url(&c, text, &fault) == 0) {
        sound(&c);
        stable(&c);
    } else {
        refused(&c, &fault, text);
        must(strcmp(fault.field, "url") == 0);
    }
    fuzz_environment(text);
    free(text);
    return 0;
}
