/* SPDX-License-Identifier: ISC */

/*
 * Agents that cannot be launched until a person has done something: Claude Code
 * would stand at its first dialogs (trust, onboarding), or refuse to run as
 * root; or the sandbox that was asked for cannot be made. Their workers are
 * paused, and go on by themselves when Claude Code's own file or the settings
 * have changed, or when the sandbox can be made.
 */
#ifndef LAUNCH_BLOCK_H
#define LAUNCH_BLOCK_H

#include <stdbool.h>

struct agent;
struct buf;
struct fleet;
struct launch_block;

struct launch_block *launch_block_new(struct fleet *fleet);
void launch_block_free(struct launch_block *block);

/* Is a launch of this agent in vain? Then its worker is paused with the reason,
 * a person is told, and it is watched for. */
bool launch_block_check(struct agent *agent);

/* Why it cannot be launched now, appended; nothing if it can. */
void launch_block_reason(const struct agent *agent, struct buf *out);

/* Let those go on whose reason is gone. */
void launch_block_look(struct launch_block *block);

/* Let those go on that can, unless a person holds them, and watch for the
 * others: those that the last daemon has left, and in each patrol, because a
 * file may change unnoticed (it is behind a symbolic link, for example). */
void launch_block_resume(struct launch_block *block);

#endif
