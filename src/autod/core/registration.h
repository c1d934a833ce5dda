/* SPDX-License-Identifier: ISC */

/* daemon.json: identifies the daemon for the command line and the overseer. */
#ifndef REGISTRATION_H
#define REGISTRATION_H

struct core;
struct err;

int registration_write(const struct core *core, struct err *err);
void registration_remove(const struct core *core);

/* ended.json: this daemon ends because its work is done, or because a person
 * wants it to. Without it, the overseer takes every end for a failure. */
int registration_declare_end(
    const struct core *core, const char *why, struct err *err);

/* The lock is taken: describe who holds it, and return -EAGAIN. A daemon is
 * registered, a single request is not. */
int registration_describe_holder(const struct core *core, struct err *err);

#endif
