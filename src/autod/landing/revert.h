/* SPDX-License-Identifier: ISC */

/* Takes a landed commit back: one more commit through the landing queue. */
#ifndef REVERT_H
#define REVERT_H

struct landings;
struct server_call;

/* Answers when the new commit is on the branch, or cannot be. commit: an id, 7
 * digits or more. */
void revert_begin(
    struct landings *landings, const char *commit, struct server_call *call);

#endif
