/* SPDX-License-Identifier: ISC */

/* llmc goal add: a goal from a text, with a plan that is looked at or changed
 * before work on it begins. */
#ifndef GOAL_ADD_H
#define GOAL_ADD_H

#include <stdbool.h>

struct cli;
struct json_object;

struct goal_add {
	const char *text; /* what is to be reached; NULL = as the plan says */
	const char *file; /* its plan; NULL = the planner makes one */
	bool edit; /* show the plan in the editor first */
	bool dry_run; /* only show it */
	bool yes; /* after the editor: begin without asking */
};

/* params: what else the goal says. Takes them. */
int goal_add(
    struct cli *cli, const struct goal_add *add, struct json_object *params);

#endif
