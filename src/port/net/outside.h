/* SPDX-License-Identifier: ISC */

/*
 * The proxy of one box, as a process of its own outside the box: started just
 * before bwrap, it gets the listening socket from inside (inside.h) and ends
 * with bwrap, by the kernel's hand.
 *
 * It is not in autod, and not for want of a loop there: a box must not be able
 * to stall the daemon (accept(2) on a socket that it shares with the box can
 * block), the daemon must not read what a box sends before its worker is known,
 * and a turn must not lose its connections when the daemon is restarted or
 * killed. The worker is known for the same reason: each box has its own.
 */
#ifndef OUTSIDE_H
#define OUTSIDE_H

struct err;

struct outside {
	const char *hosts; /* file of rules, one a line; read again when it
			    * changes; its writer is the daemon */
	const char *worker;
	const char *socket; /* where to tell of hosts that were refused: the
			     * worker's socket; "" = nowhere */
};

/* Start the proxy, and become argv, which runs inside_exec() in the box.
 * Returns only on failure: negative errno. */
int
outside_exec(const struct outside *outside, char *const *argv, struct err *err);

/* Write the file of rules, if it says something else; what the settings say
 * (model/proxy-request.h). */
int outside_write_hosts(
    const char *file, const char *const *hosts, struct err *err);

#endif
