/* SPDX-License-Identifier: ISC */

/*
 * A host in a fleet: daemons on clones of one repository share their tasks
 * through a database (fleet.database), a floor above auto mode. Without that
 * setting there is no such floor, and nothing of this happens.
 *
 * Every task that waits is published, and begins only where it was claimed. Its
 * owner, whose source gave it, has it at the step "elsewhere" meanwhile, and
 * settles it when its runner says how it ended. model/hosts/hosts-rules.h has
 * the rules.
 *
 * Each of these calls only those after it:
 *
 *   hosts-floor.c   connection, lease, what is next
 *   hosts-keep.c    what the shared book keeps, and for how long; what all
 *                   hosts have spent today
 *   hosts-letter.c  letters: what a person asks of another host
 *   hosts-land.c    the lander: what was submitted, how it ended
 *   hosts-share.c   tasks: published, claimed, told how they ended, stopped
 *   hosts-trust.c   a server that has lost its last commits
 *   hosts-submit.c  work of this host for the lander
 *   hosts-lease.c   what lands for all, one thing at a time; the lander's lease
 *   hosts-place.c   agents that were spawned: at home, or elsewhere; what a
 *                   person is asked about tasks
 *   hosts-rows.c    a row of the own book for each task that is shared
 *   hosts-ask.c     who this host is; one question at a time
 *
 * What is to be told is a row of the own book first (struct share), so that it
 * does not matter where a daemon is killed; every statement names task, fence,
 * host and boot, so that it does not matter how often it is sent.
 */
#ifndef HOSTS_FLOOR_H
#define HOSTS_FLOOR_H

struct auto_mode;
struct hosts_floor;
struct shared;

/* NULL: this host works alone. */
struct hosts_floor *hosts_floor_new(struct auto_mode *mode);
/* Before the floors below. NULL is ignored. */
void hosts_floor_free(struct hosts_floor *floor);

/* For the floors above; hosts may be NULL. Name and boot are valid as long as
 * the floor is; NULL = there is none. Words: why the database is not there;
 * NULL = it is. */
struct shared *hosts_floor_shared(struct hosts_floor *floor);
const char *hosts_floor_name(const struct hosts_floor *floor);
const char *hosts_floor_boot(const struct hosts_floor *floor);
const char *hosts_floor_words(const struct hosts_floor *floor);

#endif
