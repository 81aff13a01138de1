/* SPDX-License-Identifier: MIT
 *
 * parser.c - reads a field of the settings from text, and says what is wrong
 * with the text.
 *
 * Every fault has the offset of the byte that is wrong. */
#include "parser.h"

#include "text.h"

#ifndef RELET_SMALL

RELET_PRIVATE void rlt_parser_init(rlt_parser *r, const relet_config *c,
                                   relet_fault *fault)
{
    memset(r, 0, sizeof *r);
    r->scheme = c->scheme;
    r->fault = fault == NULL ? &r->unread : fault;
}

RELET_PRIVATE int rlt_parser_run(rlt_parser *r, relet_config *c,
                                 relet_fault *fault, rlt_parser_fn *read,
                                 void *from)
{
    int reading, err = 0;

    for (reading = 0; reading < 2 && err == 0; reading++) {
        rlt_parser_init(r, c, fault);
        r->c = reading > 0 ? c : NULL;
        err = read(r, from);
    }
    if (err < 0)
        return err;
    c->scheme = r->scheme;
    if (r->hosted)
        memcpy(c->host, r->host, sizeof c->host);
    return 0;
}

RELET_PRIVATE relet_span rlt_parser_start(rlt_parser *r, const char *label,
                                          const char *field, const char *text)
{
    r->label = label;
    r->field = field;
    r->start = text;
    r->escapes = strcmp(field, "url") == 0;
    r->seen = 0;
    return relet_str(text);
}

/* Begins the message of a fault at the byte `at`. */
static void parser_fault_at(rlt_parser *r, const char *at, rlt_say *say)
{
    memset(r->fault, 0, sizeof *r->fault);
    r->fault->code = RELET_E_CONFIG;
    r->fault->field = r->field;
    r->fault->offset = (size_t)(at - r->start);
    rlt_say_init(say, r->fault->text, sizeof r->fault->text);
    rlt_say_text(say, r->label);
    rlt_say_text(say, ": at byte ");
    rlt_say_int(say, at - r->start);
    rlt_say_text(say, ": ");
}

RELET_PRIVATE int rlt_parser_fault(rlt_parser *r, const char *at,
                                   const char *what, const char *rule)
{
    rlt_say say;

    parser_fault_at(r, at, &say);
    rlt_say_text(&say, what);
    rlt_say_text(&say, rule);
    return RELET_E_CONFIG;
}

RELET_PRIVATE int rlt_parser_quote(rlt_parser *r, const char *what,
                                   relet_span quote, const char *rule,
                                   int64_t limit)
{
    rlt_say say;

    parser_fault_at(r, quote.p, &say);
    rlt_say_text(&say, what);
    rlt_say_text(&say, " ");
    rlt_say_span(&say, quote);
    rlt_say_text(&say, rule);
    if (limit >= 0)
        rlt_say_int(&say, limit);
    return RELET_E_CONFIG;
}

RELET_PRIVATE int rlt_parser_byte(rlt_parser *r, relet_span *s, char *out)
{
    const char *at = s->p;
    int high, low;

    *out = *at;
    if (r->escapes && *at == '%') {
        high = s->n < 3 ? -1 : rlt_text_hex(at[1]);
        low = s->n < 3 ? -1 : rlt_text_hex(at[2]);
        if (high < 0 || low < 0)
            return rlt_parser_fault(r, at, "",
                                    "not an escape, % is written %25");
        *out = (char)(high * 16 + low);
        s->p += 2;
        s->n -= 2;
    } else if (r->escapes && *at == ' ') {
        return rlt_parser_fault(r, at, "", "a blank is written %20");
    } else if (r->escapes && *at == '#') {
        return rlt_parser_fault(r, at, "", "# is written %23");
    }
    s->p++;
    s->n--;
    return 0;
}

RELET_PRIVATE int rlt_parser_add(rlt_parser *r, const char *at,
                                 const rlt_field *f, char b)
{
    rlt_say say;

    if (r->used == (size_t)f->max) {
        parser_fault_at(r, at, &say);
        rlt_say_text(&say, f->name);
        rlt_say_text(&say, " is longer than ");
        rlt_say_int(&say, f->max);
        rlt_say_text(&say, " bytes");
        return RELET_E_CONFIG;
    }
    if (r->text)
        r->text[r->used] = b;
    r->used++;
    return 0;
}

RELET_PRIVATE int rlt_parser_append(rlt_parser *r, relet_span s,
                                    const char *field, const char *set)
{
    const rlt_field *f = rlt_config_find(relet_str(field));
    const char *at, *rule;
    char b;

    while (s.n > 0) {
        at = s.p;
        if (rlt_parser_byte(r, &s, &b) < 0)
            return RELET_E_CONFIG;
        rule = rlt_config_byte_rule(f, b);
        if (rule == NULL && set != NULL && strchr(set, b) == NULL)
            rule = " may not have this byte";
        if (rule != NULL)
            return rlt_parser_fault(r, at, f->name, rule);
        if (rlt_parser_add(r, at, f, b) < 0)
            return RELET_E_CONFIG;
    }
    return 0;
}

RELET_PRIVATE void rlt_parser_clear(rlt_parser *r, const char *field)
{
    const rlt_field *f = rlt_config_find(relet_str(field));

    r->text = r->c ? rlt_config_chars(r->c, f) : NULL;
    if (strcmp(field, "host") == 0) {
        r->text = r->host;
        r->hosted = 1;
    }
    if (r->text)
        memset(r->text, 0, (size_t)f->max + 1);
    r->used = 0;
}

RELET_PRIVATE int rlt_parser_number(rlt_parser *r, relet_span s,
                                    const char *field, int64_t *out)
{
    const rlt_field *f = rlt_config_find(relet_str(field));
    size_t i;

    if (s.n == 0)
        return rlt_parser_fault(r, s.p, field, " is empty");
    for (i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return rlt_parser_fault(r, s.p + i, field, " is not a number");
    if (!rlt_text_int(s.p, s.n, out) || *out > f->max)
        return rlt_parser_quote(r, field, s, " is over ", f->max);
    if (*out < f->min)
        return rlt_parser_quote(r, field, s, " is under ", f->min);
    return 0;
}

RELET_PRIVATE int rlt_parser_field(rlt_parser *r, relet_span s,
                                   const char *field)
{
    const rlt_field *f = rlt_config_find(relet_str(field));
    int64_t v;

    if (rlt_config_is_text(f)) {
        rlt_parser_clear(r, field);
        return rlt_parser_append(r, s, field, NULL);
    }
    if (rlt_parser_number(r, s, field, &v) < 0)
        return RELET_E_CONFIG;
    if (r->c)
        rlt_config_set(r->c, f, v);
    return 0;
}

#endif /* RELET_SMALL */
