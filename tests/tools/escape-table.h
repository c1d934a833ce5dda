/* SPDX-License-Identifier: ISC */

/*
 * Ways out of a sandbox, each a shell script: what the tests run inside a box,
 * and beside it in an unsandboxed control.
 *
 * A row has escaped if its script ended with status 0 and `look`, run outside
 * afterwards, saw the effect. A row that does not escape in the control either
 * is no evidence: the machine, and not the sandbox, stopped it.
 *
 * The scripts run with /bin/sh in the worktree, and find in their environment:
 * ROOT, GIT (the common folder), WORKTREE and WORKER, SIBLING and OTHER (its
 * name), HOME, SECRET (a file in HOME), OUTSIDE (a folder below /tmp), WORD
 * (contents of everything secret), COMMIT (one that is on no branch but the
 * sibling's), OWN (folder of the worker's socket), PROBE (escapes), VICTIM (a
 * process outside, which has SECRET open as 7), ABSTRACT, TCP_PORT, UDP_PORT,
 * TMUX_SOCKET, TMUX_REAL (of this repository), DISK, ELSEWHERE (a folder that
 * is neither temporary nor in HOME, with private and the sockets sock and
 * tmux), GIVEN (a folder of PATH, with the socket sock), BWRAP (the file that
 * makes the box, which its user may write; seen outside only), SESSION_KEY,
 * USER_KEY and USER_RING (numbers of the kernel). DOCTOR_SECRET is set around a
 * box, not in it. `look` also has ARRIVED: a folder with a file for each socket
 * (main, other, abstract, tcp, udp, elsewhere, given) at which the word
 * arrived.
 */
#ifndef ESCAPE_TABLE_H
#define ESCAPE_TABLE_H

#include "base.h"

enum escape_group {
	ESCAPE_GIT,
	ESCAPE_FILES,
	ESCAPE_SOCKETS,
	ESCAPE_PROCESSES,
	ESCAPE_NETWORK,
	ESCAPE_KERNEL,
	ESCAPE_DEPUTIES,
	ESCAPE_GROUP_COUNT
};

/* The modes in which a row must not escape. */
#define ESCAPE_WORKTREE 1u
#define ESCAPE_STRICT   2u
#define ESCAPE_BOTH     (ESCAPE_WORKTREE | ESCAPE_STRICT)
/* "worktree" where no clone can be (git_clone_suits): a linked
 * worktree, with objects that can be written. */
#define ESCAPE_LINKED 8u
#define ESCAPE_ALL    (ESCAPE_BOTH | ESCAPE_LINKED)
/* In boxes of all kinds: those of checks, set-ups and repairs too. */
#define ESCAPE_KINDS 16u
/* "worktree" holds it by Landlock's scopes: not on an older kernel. */
#define ESCAPE_SCOPED 4u

struct escape {
	const char *id;
	enum escape_group group;
	unsigned modes;
	const char *words; /* what it tries, for people */
	const char *script; /* the attempt */
	const char *deputy; /* then run by the daemon on the worker's files, in
			     * the worker's box if there is one; NULL = none */
	const char *look; /* 0 = the effect is there; undoes what lies outside
			   * of the scratch folders. "true": the script changes
			   * nothing */
};

extern const struct escape escape_table[];
size_t escape_count(void);

#endif
