/* SPDX-License-Identifier: ISC */

/* A proxy in a process of its own, servers to reach, and clients that wait. */
#ifndef PROXY_WORLD_H
#define PROXY_WORLD_H

#include "unit.h"

/* A listening socket on a free port of 127.0.0.1. */
int net_listen(unsigned *ret_port);
/* Connected to that port, with a deadline on every read. */
int net_connect(unsigned port);
/* All until the end of the stream; the caller frees. */
char *net_drain(int fd);
void net_say(int fd, const char *text);
/* Up to the empty line; the caller frees. */
char *net_head(int fd);

/* A server that answers each connection: with what it read up to the end of the
 * stream if echo, otherwise with the head of the request. */
pid_t net_serve(int listener, int echo);

/* "getent" in PATH knows the names *.test, all at 127.0.0.1. */
void net_fake_names(void);

struct world_proxy {
	unsigned port;
	pid_t pid;
	int refused; /* a pipe: "host:port\n" of each refusal */
};
void world_proxy_begin(
    const char *const *rules, int connections, struct world_proxy *ret);
void net_end(pid_t pid);

#endif
