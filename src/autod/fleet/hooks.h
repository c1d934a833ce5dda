/* SPDX-License-Identifier: ISC */

/*
 * What Claude Code reports through `llmc hook`: the method hook.event, and the
 * spool for what came while nobody listened. The answer goes out after the
 * state is written, so that an event that was acknowledged is never lost.
 */
#ifndef HOOKS_H
#define HOOKS_H

struct fleet;
struct hooks;

/* Registers the method; watches the spool when the daemon is to stay. */
struct hooks *hooks_new(struct fleet *fleet);
void hooks_free(struct hooks *hooks);

/* Take what lies in the spool: a part of it, the rest soon; or all. */
void hooks_drain(struct hooks *hooks);
void hooks_drain_all(struct hooks *hooks);

#endif
