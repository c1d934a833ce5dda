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

struct box_probe;
struct err;
struct loop;
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
 * exists. llmc: that program, NULL = it was not found. tell: refusals are
 * reported to the session's own socket. */
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

/* Whether a box can be made: bubblewrap is run with the real arguments and a
 * program that does nothing, because no file tells. */

/* err NULL = it works. Otherwise what is wrong and what to do. */
typedef void box_probe_fn(const struct err *err, void *arg);

/* Try this prefix of box_prepare(). fn is called once, from the loop, unless
 * the probe is freed before. */
int box_probe_start(struct loop *loop, const char *const *prefix,
    box_probe_fn *fn, void *arg, struct box_probe **ret_probe, struct err *err);
void box_probe_free(struct box_probe *probe);

/* The same for a plain box of no worker, and wait: for command lines only. */
int box_probe_run(struct err *err);

#endif
