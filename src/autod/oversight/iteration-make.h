/* SPDX-License-Identifier: ISC */

/* An iteration out of what is known at the end of a turn. */
#ifndef ITERATION_MAKE_H
#define ITERATION_MAKE_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct git_snapshot;
struct iteration;
struct spent;
struct watched;
struct watched_mark;

struct iteration_facts {
	const struct git_snapshot *snapshot; /* NULL = not known */
	const char *last_words; /* NULL = see the transcript */
	bool part; /* of a turn that goes on */
	const char *error; /* that ended the turn, NULL = none */
	int64_t duration_ms; /* -1 = not known */
	int64_t expected; /* iterations; -1 = not known */
	double completion; /* percent, NAN = not known */
	double estimated_cost; /* US dollars, NAN = not known */
};

/* The next one of the worker's task; what it counts is marked. The caller owns
 * it. */
struct iteration *iteration_make(struct watched *watched,
    const struct agent *agent, const struct iteration_facts *facts);

/* What has become known since the open iteration was made is of it. Call before
 * the next turn begins. */
void iteration_catch_up(struct watched *watched, const struct agent *agent);

/* What the task has spent since the last iteration is of this one. */
void iteration_add_spent(struct iteration *iteration, struct watched_mark *mark,
    const struct spent *spent);

/* Has the agent said nothing since the last iteration? */
bool iteration_is_counted(
    const struct watched_mark *mark, const struct agent *agent);

#endif
