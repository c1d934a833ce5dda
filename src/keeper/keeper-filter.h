/* SPDX-License-Identifier: ISC */

/*
 * A filter of system calls for bwrap --seccomp: the kernel's keyrings are out
 * of reach. A new session keyring is not enough, since the user's own keyring
 * can be linked to it by its number from any namespace.
 */
#ifndef KEEPER_FILTER_H
#define KEEPER_FILTER_H

/* Have the filter's program readable at this descriptor, which the next program
 * inherits. Negative errno. */
int keeper_filter_open(int fd);

/* Leave the session keyring for a new one. */
void keeper_filter_leave_keyring(void);

#endif
