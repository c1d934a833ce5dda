/* SPDX-License-Identifier: ISC */

/*
 * The proxy of a box: the only way out of it. Takes a socket that listens
 * inside the box, asks the rules (model/records/proxy-request.h) for each
 * connection, connects and relays, both ways, each at its own end. Speaks HTTP:
 * CONNECT and plain requests.
 *
 * Everything is bounded: connections (the one that was idle longest makes room
 * for a new one), bytes in between, and time at every step.
 */
#ifndef PROXY_H
#define PROXY_H

#include <sys/queue.h>

struct err;
struct loop;
struct proxy;
struct proxy_target;

struct proxy_options {
	int connections; /* at most; 0 = PROXY_CONNECTIONS */
	/* The rules in force now (NULL terminated), valid until the next call.
	 */
	const char *const *(*rules)(void *arg);
	/* A host was asked for that no rule allows. */
	void (*refused)(const struct proxy_target *target, void *arg);
	void *arg;
};

/* The proxy owns the listening descriptor from now on, also on failure. NULL
 * with err set if it is not a listening stream socket. */
struct proxy *proxy_new(struct loop *loop, int listener,
    const struct proxy_options *options, struct err *err);

/* The addresses in what getent(1) printed ("ADDRESS STREAM name"), each once.
 * The caller frees them (buf.h); NULL = none. */
char **resolve_parse(const char *text);

#endif
