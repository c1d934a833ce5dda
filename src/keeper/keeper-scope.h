/* SPDX-License-Identifier: ISC */

/*
 * Landlock's scopes: the program cannot signal processes outside, such as the
 * keeper, or connect to abstract unix sockets of others. Nothing else is
 * restricted, so that bwrap can still mount.
 */
#ifndef KEEPER_SCOPE_H
#define KEEPER_SCOPE_H

/* Negative errno if the kernel does not have it (Landlock ABI 6). */
int keeper_scope_check(void);

#define KEEPER_SCOPE_ABSTRACT (1U << 0)
#define KEEPER_SCOPE_SIGNAL   (1U << 1)

/* For the calling process and all that it starts, for ever. Without the right
 * to do this as root, programs with the set-user-ID bit lose its effect. */
int keeper_scope_enter(unsigned scopes);

#endif
