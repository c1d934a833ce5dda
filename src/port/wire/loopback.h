/* SPDX-License-Identifier: ISC */

/* Sockets that listen on 127.0.0.1, and on no other address. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

struct err;

/* A new one, for which nobody waits; port 0 = any free one. Negative errno,
 * with words that name the port: -EADDRINUSE. */
int loopback_listen(unsigned port, struct err *err);

/* Is it one? A descriptor from somewhere else may be anything: -EINVAL, or what
 * the kernel says. ret_port may be NULL. */
int loopback_check(int fd, unsigned *ret_port, struct err *err);

#endif
