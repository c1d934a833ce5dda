/* SPDX-License-Identifier: ISC */

/*
 * The words around a box for its network: without one of its own (sandbox =
 * "strict"), programs in it reach sandbox_hosts through a proxy
 * (net/outside.h); with that of the host ("worktree"), they cannot connect to
 * abstract unix sockets outside, if that can be forbidden (Landlock ABI 6). Of
 * either, nothing is open inside but the standard streams, and the kernel's
 * keyrings are out of reach.
 */
#ifndef BOX_NET_H
#define BOX_NET_H

#include <stdbool.h>

struct err;
struct workspace;

struct box_net {
	char **before; /* words before those of bwrap */
	char **inner; /* words after its "--" */
};

/* The words that every box begins with. share: it has the host's network; if
 * abstract sockets cannot be forbidden there, they stay open. */
int box_net_begin(
    const char *bwrap, bool share, struct box_net *ret_net, struct err *err);
/* Then, for a box without: the proxy. Writes the file of rules,
 * .llmc/box/NAME/hosts, which a proxy that runs already reads too; its folder
 * exists. llmc: that program, NULL = it was not found. tell: refusals are told
 * to the session's own socket. */
int box_net_prepare(const struct workspace *workspace, const char *name,
    const char *llmc, const char *const *hosts, bool tell, struct box_net *net,
    struct err *err);
/* Can they be forbidden? bwrap: the program; one that becomes root by being
 * executed would not any more. */
bool box_net_can_scope(const char *bwrap);
/* Only the file, if there is one. */
void box_net_refresh(const struct workspace *workspace, const char *name,
    const char *const *hosts);
void box_net_release(struct box_net *net);

#endif
