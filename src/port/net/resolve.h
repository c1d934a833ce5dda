/* SPDX-License-Identifier: ISC */

/*
 * The addresses of a host, without waiting: getent(1) looks the name up as
 * every other program here does (files, DNS, what nsswitch.conf says), in a
 * child that has a deadline. A thread would make every fork of this program
 * harder, and libevent's resolver reads /etc/hosts and DNS only.
 */
#ifndef RESOLVE_H
#define RESOLVE_H

struct err;
struct loop;
struct resolve;

#define RESOLVE_MS  (15 * 1000)
#define RESOLVE_MAX 8 /* addresses */

/* Called once, from the loop, after which the object is gone. addresses is
 * ended by NULL, the preferred one first; empty, with err set, if there is
 * none. Both are valid until the callback returns. */
typedef void
resolve_fn(const char *const *addresses, const struct err *err, void *arg);

/* host must be a valid name (model/proxy-request.h). NULL with err set if
 * nothing could be started; then there is no callback. */
struct resolve *resolve_new(struct loop *loop, const char *host, resolve_fn *fn,
    void *arg, struct err *err);

/* Forget the question; there is no callback. */
void resolve_free(struct resolve *resolve);

/* The addresses in what getent(1) printed ("ADDRESS STREAM name"), each once.
 * The caller frees them (strv.h); NULL = none. */
char **resolve_parse(const char *text);

#endif
