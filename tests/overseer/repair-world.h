/* SPDX-License-Identifier: ISC */

/*
 * A repair for tests: a real repository, a tmux that is none, a process that
 * stands for the agent and whose hooks come over the real socket. The rest of
 * the overseer is here, too: it only notes what it is told.
 */
#ifndef REPAIR_WORLD_H
#define REPAIR_WORLD_H

#include "buf.h"
#include "fake-tmux.h"
#include "overseer.h"
#include "repair.h"
#include "repo.h"

struct world {
	struct overseer o; /* first */
	struct repo *repo;
	struct fake_tmux *tmux;
	pid_t agent; /* 0 = none */
	int hooks; /* made */
	char *session; /* where the agent works */

	/* What respond_repaired() was told. */
	int told;
	enum repair_outcome outcome;
	struct buf words, log;
};

/* worktree: overseer.remediation_worktree. */
void world_begin(struct world *w, bool worktree);
void world_end(struct world *w);

/* Run the loop until the repair is in that step, or over. */
void world_until_step(struct world *w, const char *step);
/* Until tmux has been asked for this, which is cleared then. */
void world_until_tmux(struct world *w, const char *trace);
/* Until something with these words is typed; likewise. */
void world_until_typed(struct world *w, const char *words);
/* Until what the agent left is looked at. */
void world_until_looking(struct world *w);
/* Until it is over. */
void world_until_over(struct world *w);
/* The same, with this outcome and these words. */
void world_until_told(
    struct world *w, enum repair_outcome outcome, const char *words);

/* The agent is launched, reports its start and takes its prompt. */
void world_agent(struct world *w);
void world_agent_ready(struct world *w);
void world_agent_exits(struct world *w);

/* A hook of the agent's, data as JSON text. The descriptor on which the answer
 * will come. */
int world_hook(struct world *w, const char *event, const char *data);
/* Wait for that answer; to be freed. */
char *world_answer(struct world *w, int fd);
/* Both: a Stop. */
char *world_stops(struct world *w);

#endif
