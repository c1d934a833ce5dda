/* SPDX-License-Identifier: ISC */

/* Landlock's signal scope: the program cannot signal the keeper. */
#ifndef KEEPER_SCOPE_H
#define KEEPER_SCOPE_H

/* Negative errno if the kernel does not have it (Landlock ABI 6). */
int keeper_scope_check(void);

/* For the calling process and all that it starts, for ever. Without the right
 * to do this as root, programs with the set-user-ID bit lose its effect. */
int keeper_scope_enter(void);

#endif
