/* SPDX-License-Identifier: ISC */

/*
 * What Claude Code reports through `llmc hook`: the method hook.event, and the
 * spools for events that arrived while no daemon was running. The answer is
 * sent after the state is saved, so that an acknowledged event is never lost.
 *
 * Each worker has its own spool (run-dir.h): what lies there counts for that
 * worker only. The common one of older versions, .llmc/spool, counts for
 * sessions that such a version launched.
 */
#ifndef HOOKS_H
#define HOOKS_H

struct fleet;
struct hooks;

/* Registers the method; watches the spools unless it is a single request. */
struct hooks *hooks_new(struct fleet *fleet);
void hooks_free(struct hooks *hooks);

/* A worker comes, or goes: its spool is watched, or no more. What waits in it
 * stays there. */
void hooks_add(struct hooks *hooks, const char *worker);
void hooks_remove(struct hooks *hooks, const char *worker);

/* Process the spools: a part of each now, and the rest in later passes of the
 * loop. Hooks of the same worker that arrive meanwhile wait for their turn. The
 * spool of one that is being cleared (agent.h) waits. */
void hooks_drain(struct hooks *hooks);

/* The same, and call fn when all have been processed: now, if they are small.
 */
void hooks_drain_then(struct hooks *hooks, void (*fn)(void *arg), void *arg);

#endif
