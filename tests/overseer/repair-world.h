/* SPDX-License-Identifier: ISC */

/*
 * A repair for tests: a real repository, a fake tmux, and a process in place of
 * the agent whose hooks come over the real socket. The rest of the overseer is
 * replaced by functions that only record their calls.
 */
#ifndef REPAIR_WORLD_H
#define REPAIR_WORLD_H

#include "base.h"
#include "fake-tmux.h"
#include "overseer-private.h"
#include "repo.h"

extern struct world {
	struct overseer o;
	struct repo *repo;
	struct fake_tmux *tmux;
	pid_t agent; /* 0 = none */
	int hooks; /* number of hooks sent */
	char *session; /* where the agent works */

	/* The arguments of world_repaired(). */
	int told;
	enum repair_outcome outcome;
	struct buf words, log;
	int64_t cost;
} w;

/* For repair_begin(). */
repair_ended_fn world_repaired;

/* worktree: overseer.remediation_worktree. */
void world_begin(bool worktree);
void world_end(void);
/* A channel of the settings, without a worktree for repairs. */
void world_notify(const char *command);
void world_set(const char *key, const char *value);

/* Run the loop until the repair is in that step, or has ended. */
void world_until_step(const char *step);
void world_until_file(const char *name); /* below the root */
/* Run the loop until tmux got this request; clears the trace. */
void world_until_tmux(const char *trace);
/* Run the loop until something with these words is typed; the same. */
void world_until_typed(const char *words);
/* Run the loop until the result of the agent is being checked. */
void world_until_looking(void);
/* Run the loop until it has ended. */
void world_until_over(void);
/* The same, with this outcome and these words. */
void world_until_told(enum repair_outcome outcome, const char *words);

/* The agent is launched, reports its start and accepts its prompt. */
void world_agent(void);
void world_agent_ready(void);
/* Run until the agent is working. */
void world_work(void);
void world_agent_exits(void);

/* Send a hook of the agent, data as JSON text. Returns the descriptor on which
 * the answer will arrive. */
int world_hook(const char *event, const char *data);
/* Wait for that answer; the caller frees it. */
char *world_answer(int fd);
/* It writes a finding: it was the weather. */
void world_finds(void);
#define WORLD_FOUND "the agent found: it was the weather"
/* Both, for a Stop. */
char *world_stops(void);

#endif
