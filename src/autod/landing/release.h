/* SPDX-License-Identifier: ISC */

/*
 * A worker whose work would wait long in the queue is released for another
 * task: its item goes on without it. It is marked first (item->freeing), and
 * its worktree is reset then, so that the next daemon finishes it.
 */
#ifndef RELEASE_H
#define RELEASE_H

#include <stddef.h>
#include <stdint.h>

struct landing_facts;
struct landing_item;
struct landing_plan;
struct landings;

/* Mark what can be released. items are those of the entries of the facts, from
 * which the plan was made. Returns how many workers could be released, if
 * somebody needed them. */
size_t release_due(struct landings *landings, const struct landing_facts *facts,
    const struct landing_plan *plan, struct landing_item *const *items,
    int64_t now_ms);

/* Reset the worker of a marked item. */
void release_worker(struct landings *landings, struct landing_item *item);
/* The item has no worker any more. */
void release_done(struct landings *landings, struct landing_item *item);

#endif
