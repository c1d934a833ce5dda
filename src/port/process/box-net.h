/* SPDX-License-Identifier: ISC */

/*
 * The network of a box: the words around it, its end inside, and the process
 * outside that serves it.
 *
 * The words: without one of its own (sandbox =
 * "strict"), programs in it reach sandbox_hosts through a proxy; with that of
 * the host ("worktree"), they cannot connect to abstract unix sockets outside,
 * if that can be forbidden (Landlock ABI 6). Of either, nothing is open inside
 * but the standard streams, what leads out of boxes in the kernel is refused by
 * a filter of system calls, and the first process is the keeper's init.
 */
#ifndef BOX_NET_H
#define BOX_NET_H

struct err;
struct workspace;

struct box_net {
	char **before; /* words before those of bwrap */
	char *bwrap; /* the word for bwrap itself */
	char **inner; /* words after its "--" */
};

/* The words that every box begins with. share: it has the host's network; if
 * abstract sockets cannot be forbidden there, they stay open. */
int box_net_begin(
    const char *bwrap, bool share, struct box_net *ret_net, struct err *err);
/* Then, for a box without: the proxy. Writes the file of rules,
 * .llmc/box/NAME/hosts, which a proxy that runs already reads too; its folder
 * exists. llmc: that program, NULL = it was not found. tell: refusals are
 * reported to the session's own socket. */
int box_net_prepare(const struct workspace *workspace, const char *name,
    const char *llmc, const char *const *hosts, bool tell, struct box_net *net,
    struct err *err);
/* Must a copy of bwrap be executed, since the user of the box may write the
 * file? Not root's own file for an ordinary user: it may have the set-user-ID
 * bit, or be named by a rule of AppArmor. */
bool box_net_must_seal(const char *bwrap);
/* Can they be forbidden? bwrap: the program; one that becomes root by being
 * executed would not any more. */
bool box_net_can_scope(const char *bwrap);
/* Only the file, if there is one. */
void box_net_refresh(const struct workspace *workspace, const char *name,
    const char *const *hosts);
void box_net_release(struct box_net *net);

/*
 * The proxy of one box, as a process of its own outside the box: started just
 * before bwrap, it gets the listening socket from inside and ends
 * with bwrap, by the kernel's hand.
 *
 * It is not in autod, and not for want of a loop there: a box must not be able
 * to stall the daemon (accept(2) on a socket that it shares with the box can
 * block), the daemon must not read what a box sends before its worker is known,
 * and a turn must not lose its connections when the daemon is restarted or
 * killed. The worker is known for the same reason: each box has its own.
 */

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
 * (model/records/proxy-request.h). */
int outside_write_hosts(
    const char *file, const char *const *hosts, struct err *err);

/*
 * The way out of a box without a network of its own (sandbox = "strict"), seen
 * from inside: listen on the box's loopback, hand the listening socket to the
 * proxy outside, become the program. Nothing of llmc stays in the
 * box, and a connection needs no relay in it.
 */

#define INSIDE_PORT 3128
/* The socket to the proxy: bwrap passes open descriptors on. */
#define INSIDE_FD      9
#define INSIDE_WAIT_MS (10 * 1000)

/* Listen on 127.0.0.1:port (0 = INSIDE_PORT), hand the socket over through
 * channel, wait for the answer, set the variables of proxies and exec argv.
 * Returns only on failure: negative errno. */
int inside_exec(int channel, unsigned port, char *const *argv, struct err *err);

#endif
