/* SPDX-License-Identifier: ISC */

/*
 * The way out of a box without a network of its own (sandbox = "strict"), seen
 * from inside: listen on the box's loopback, hand the listening socket to the
 * proxy outside (outside.h), become the program. Nothing of llmc stays in the
 * box, and a connection needs no relay in it.
 */
#ifndef INSIDE_H
#define INSIDE_H

struct err;

#define INSIDE_PORT 3128
/* The socket to the proxy: bwrap passes open descriptors on. */
#define INSIDE_FD      9
#define INSIDE_WAIT_MS (10 * 1000)

/* Listen on 127.0.0.1:port (0 = INSIDE_PORT), hand the socket over through
 * channel, wait for the answer, set the variables of proxies and exec argv.
 * Returns only on failure: negative errno. */
int inside_exec(int channel, unsigned port, char *const *argv, struct err *err);

/* One descriptor through a socket, with one byte. */
int inside_send(int channel, int fd);
/* The descriptor (close-on-exec), or negative errno: -ECONNRESET if the other
 * side is gone, -EBADMSG if none came. */
int inside_receive(int channel);

#endif
