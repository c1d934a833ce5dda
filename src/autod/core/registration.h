/* SPDX-License-Identifier: ISC */

/* daemon.json: who the daemon is, for the command line and the overseer. */
#ifndef REGISTRATION_H
#define REGISTRATION_H

struct core;
struct err;

int registration_write(const struct core *core, struct err *err);
void registration_remove(const struct core *core);

/* The lock is held: who holds it, in words. Returns -EAGAIN. A daemon has
 * registered, a single request has not. */
int registration_tell_holder(const struct core *core, struct err *err);

#endif
