/* SPDX-License-Identifier: ISC */

/*
 * The agents that other agents have asked for, as the plans in memory and the
 * state have them. For an open book of plans only.
 */
#ifndef TEAM_KIN_H
#define TEAM_KIN_H

#include <stdbool.h>
#include <stddef.h>

#include "task.h"

struct plan;
struct plan_node;
struct task_run;
struct team_floor;

struct team_kin {
	struct plan *plan;
	struct plan_node *node;
	struct task_run *run; /* that of its task; of the node without one */
	struct task *task; /* NULL: none is in the state */
	/* How it was filed (team_kins_add_filed()); OUTCOME_NONE = unknown. */
	enum task_outcome outcome;
	char *reason;
};

/* In the order in which they were asked for, goal by goal. */
struct team_kins {
	struct team_kin *list;
	size_t count, room;
};

void team_kins_load(struct team_floor *floor, struct team_kins *ret_kins);
/* Give those whose task was filed the record that it was filed with. */
void team_kins_add_filed(struct team_floor *floor, struct team_kins *kins);
void team_kins_release(struct team_kins *kins);
#define cleanup_team_kins __attribute__((cleanup(team_kins_release)))

/* Has it not ended yet? */
bool team_kin_is_open(const struct team_kin *kin);
/* Did this actor ask for it, or for the one that did, and so on? */
bool team_kin_is_below(const struct team_kins *kins, const struct team_kin *kin,
    const char *actor);
/* NULL = unknown actor. */
const struct team_kin *
team_kins_find(const struct team_kins *kins, const char *actor);

#endif
