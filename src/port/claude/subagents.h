/* SPDX-License-Identifier: ISC */

/* The files of a conversation's subagents, read as they grow:
 * <transcript without .jsonl>/subagents/agent-<id>.jsonl. They do not exist
 * before the first subagent begins. */
#ifndef SUBAGENTS_H
#define SUBAGENTS_H

#include <stddef.h>

struct loop;
struct subagents;

/* A whole line, without its newline; called from the loop only. */
typedef void subagents_fn(const char *line, size_t len, void *arg);

/* Watches them; at most one mebibyte is read per pass of the loop. Longer lines
 * are left out. */
struct subagents *subagents_new(
    struct loop *loop, const char *transcript, subagents_fn *fn, void *arg);
void subagents_free(struct subagents *subagents);
/* The transcript has grown: its folder may exist now. */
void subagents_look(struct subagents *subagents);

#endif
