/* SPDX-License-Identifier: MIT
 *
 * tape.c - the tape of nodes that a scan leaves: adds leaves, opens and closes
 * aggregates. */
#include "tape.h"

static void tape_frame_end(rlt_scan *s, uint32_t node, unsigned kind)
{
    if (s->skipping) {
        s->skip_push = kind == RELET_T_PUSH;
        rlt_tape_tell(s, RLT_SCAN_SKIPPED);
    } else {
        rlt_tape_lend(s, node,
                      kind == RELET_T_PUSH ? RLT_SCAN_PUSH : RLT_SCAN_VALUE);
    }
}

RELET_PRIVATE uint32_t rlt_tape_stream_room(const relet_node *node,
                                            uint32_t count)
{
    return node->kind == RELET_T_MAP ? count * 2 + 1 : count + 1;
}

static void tape_stream_over(rlt_scan *s)
{
    relet_node *node = &s->tape[s->open];
    uint32_t more = RLT_SCAN_COUNT_HARD - s->limits.count_max;

    if (node->flags & RLT_NODE_OVER || more == 0) {
        rlt_tape_fail(s, RLT_SCAN_E_LIMIT);
        return;
    }
    node->flags |= RLT_NODE_OVER;
    s->left = rlt_tape_stream_room(node, more) - 1;
    rlt_tape_skip(s, RLT_SKIP_COUNT);
}

/* The innermost aggregate has ended. Attributes and pushes inside a value are
 * not counted as parts of it. */
RELET_PRIVATE void rlt_tape_end(rlt_scan *s)
{
    uint32_t at = s->open;
    relet_node *node = &s->tape[at];
    uint64_t above = (uint64_t)node->payload;
    unsigned kind = node->kind;

    node->flags &= (uint8_t)~RLT_NODE_OPEN;
    node->payload = s->top - at - 1;
    s->open = (uint32_t)above;
    s->left = (uint32_t)(above >> 32);
    s->depth--;
    if (s->skipping)
        s->top = at;
    if (kind == RELET_NODE_ATTRIBUTE) {
        s->attributes--;
        s->described = 1;
        if (s->skipping)
            return;
        node->payload++;
        rlt_tape_set(&s->tape[s->top], RELET_NODE_END, 0, s->top - at, -1);
        s->top++;
        return;
    }
    s->pushes = (uint8_t)(s->pushes && kind != RELET_T_PUSH);
    if (s->open == RLT_SCAN_AT_TOP)
        tape_frame_end(s, at, kind);
    else if (kind != RELET_T_PUSH)
        s->left--;
    else if (s->skipping)
        s->lost_pushes++;
    else
        rlt_tape_lend(s, at, RLT_SCAN_PUSH);
}

RELET_PRIVATE void rlt_tape_close(rlt_scan *s)
{
    while (s->left == 0 && s->verdict == RLT_SCAN_MORE) {
        if (RLT_HAS_STREAMS && s->tape[s->open].flags & RLT_NODE_STREAMED)
            tape_stream_over(s);
        else
            rlt_tape_end(s);
    }
}

RELET_PRIVATE void rlt_tape_leaf(rlt_scan *s, unsigned kind, uint64_t len,
                                 int64_t payload)
{
    s->phase = RLT_SCAN_AT_TYPE;
    if (!s->skipping)
        rlt_tape_set(&s->tape[s->top++], kind,
                 s->described ? RLT_NODE_DESCRIBED : 0, (uint32_t)len, payload);
    s->described = 0;
    if (s->open == RLT_SCAN_AT_TOP) {
        tape_frame_end(s, s->top - 1, kind);
    } else {
        s->left--;
        rlt_tape_close(s);
    }
}

/* Several attributes in a row are one map: the first is opened again. */
static relet_node *tape_reopen(rlt_scan *s)
{
    relet_node *end = &s->tape[--s->top];
    relet_node *node = end - end->len;

    node->flags |= RLT_NODE_OPEN;
    return node;
}

RELET_PRIVATE void rlt_tape_open(rlt_scan *s, unsigned kind, uint32_t count,
                                 unsigned flags)
{
    int doubled = kind == RELET_T_MAP || kind == RELET_NODE_ATTRIBUTE;
    relet_node *node;

    if (s->depth == RLT_SCAN_DEPTH_HARD || s->top == s->tape_cap) {
        rlt_tape_fail(s, RLT_SCAN_E_DEPTH);
        return;
    }
    if (kind == RELET_NODE_ATTRIBUTE && s->described && !s->skipping) {
        node = tape_reopen(s);
        node->len += count;
    } else {
        node = &s->tape[s->top++];
        flags |= s->described ? RLT_NODE_DESCRIBED : 0;
        rlt_tape_set(node, kind, flags | RLT_NODE_OPEN, count, 0);
    }
    node->payload = rlt_tape_above(s->open, s->left);
    s->open = (uint32_t)(node - s->tape);
    s->left = doubled ? count * 2 : count;
    if (RLT_HAS_STREAMS && (flags & RLT_NODE_STREAMED))
        s->left = rlt_tape_stream_room(node, s->limits.count_max);
    s->depth++;
    s->described = 0;
    s->phase = RLT_SCAN_AT_TYPE;
    s->pushes = (uint8_t)(s->pushes || kind == RELET_T_PUSH);
    s->attributes = (uint8_t)(s->attributes + (kind == RELET_NODE_ATTRIBUTE));
    rlt_tape_close(s);
}

RELET_PRIVATE void rlt_tape_settle(rlt_scan *s)
{
    int careful = s->skipping || s->described ||
                  (RLT_HAS_STREAMS && s->joining);
    size_t need = 1;

    if (s->phase <= RLT_SCAN_AT_TYPE)
        s->phase = careful ? RLT_SCAN_AT_TYPE : RLT_SCAN_AT_PLAIN;
    else if (s->phase == RLT_SCAN_AT_FORMAT)
        need = 4;
    else if (s->phase == RLT_SCAN_AT_TAIL)
        need = 2;
    else if (s->phase == RLT_SCAN_AT_PAYLOAD && !s->skipping)
        need = (size_t)s->rest + 2;
    s->need = s->at + need;
}

RELET_PRIVATE void rlt_tape_begin(rlt_scan *s)
{
    s->at = 0;
    s->need = 1;
    s->top = 0;
    s->left = 1;
    s->phase = RLT_SCAN_AT_PLAIN;
    s->verdict = RLT_SCAN_MORE;
}

RELET_PRIVATE void rlt_tape_undo(rlt_scan *s)
{
    const relet_node *push = &s->tape[s->result];

    s->top = s->result;
    if (push->flags & RLT_NODE_DESCRIBED)
        s->top -= 1 + push[-1].len;
    s->verdict = RLT_SCAN_MORE;
    s->phase = RLT_SCAN_AT_TYPE;
    rlt_tape_settle(s);
}

/* The nodes of open aggregates move to the front of the tape. */
RELET_PRIVATE void rlt_tape_skip(rlt_scan *s, int why)
{
    uint32_t i, kept = 0;

    if (s->skipping || s->verdict != RLT_SCAN_MORE)
        return;
    for (i = 0; i < s->top; i++) {
        if (!(s->tape[i].flags & RLT_NODE_OPEN))
            continue;
        s->tape[kept] = s->tape[i];
        s->tape[kept].payload = rlt_tape_above(
            kept == 0 ? RLT_SCAN_AT_TOP : kept - 1,
            (uint32_t)((uint64_t)s->tape[kept].payload >> 32));
        kept++;
    }
    s->top = kept;
    if (kept > 0)
        s->open = kept - 1;
    s->skipping = 1;
    s->skip_why = why;
    rlt_tape_settle(s);
}
