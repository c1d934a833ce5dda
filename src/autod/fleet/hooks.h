/* SPDX-License-Identifier: ISC */

/*
 * What Claude Code reports through `llmc hook`: the method hook.event, and the
 * spool for events that arrived while no daemon was running. The answer is sent
 * after the state is saved, so that an acknowledged event is never lost.
 */
#ifndef HOOKS_H
#define HOOKS_H

struct fleet;
struct hooks;

/* Registers the method; watches the spool unless it is a single request. */
struct hooks *hooks_new(struct fleet *fleet);
void hooks_free(struct hooks *hooks);

/* Process the spool: a part of it now, and the rest in later passes of the
 * loop. Hooks that arrive meanwhile wait for their turn. */
void hooks_drain(struct hooks *hooks);
/* The same, and call fn when it has been processed: now, if it is small. */
void hooks_drain_then(struct hooks *hooks, void (*fn)(void *arg), void *arg);

#endif
