/* SPDX-License-Identifier: ISC */

/*
 * A worker "ann" about to be launched, for tests: settings from a text, and a
 * root with blanks and quotes in its name.
 */
#ifndef CLAUDE_WORLD_H
#define CLAUDE_WORLD_H

#include "unit.h"
#include "agent-kind.h"
#include "claude.h"
#include "workspace.h"

extern struct claude_world {
	struct workspace workspace;
	struct settings *settings;
	struct agent_launch launch;
} w;

/* The text must be a valid configuration. The root exists. */
void claude_world_begin(const char *config);
void claude_world_end(void);

/* The launcher file of agent_prepare(), which must succeed; the caller frees
 * it. */
char *claude_world_prepare(void);

#endif
