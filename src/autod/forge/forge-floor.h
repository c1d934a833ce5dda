/* SPDX-License-Identifier: ISC */

/*
 * What is done at a forge, a floor above auto mode. Issues as tasks
 * (auto.source): it looks at the list of issues with our label, claims one when
 * no other of them waits for a worker, adds it as a task, and tells the issue
 * how the task ended. Pull requests of finished work (auto.land): pushed,
 * opened, looked at until they are merged or closed.
 *
 *   forge-ask.c    one request at a time; a rest when there is no answer
 *   forge-pull.c   pull requests, and what people and their tasks see of them
 *   forge-claim.c  a claim is a ref at origin, moved by compare-and-swap
 *   forge-row.c    issues that were taken, until everything is told
 *   forge-take.c   whether an issue may be taken, and taking it
 *   forge-pull-duty.c  what is due for a pull request: at origin, at the forge,
 *                  and for its task
 *   forge-floor.c  what is next; the list; settings
 *
 * Each of them calls only those above it in this list.
 *
 * A claim is at origin before the issue is recorded, the record and its task
 * are one transaction, and each thing that is told may be told again: so it
 * does not matter where a daemon is killed.
 */
#ifndef FORGE_FLOOR_H
#define FORGE_FLOOR_H

struct auto_mode;
struct forge_floor;

struct forge_floor *forge_floor_new(struct auto_mode *mode);
/* Before the floors below. */
void forge_floor_free(struct forge_floor *floor);

#endif
