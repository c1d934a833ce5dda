/* SPDX-License-Identifier: ISC */

/*
 * An agent in a turn shows no sign of life: when that is too long, and what to
 * try next. Ages are in milliseconds; INT64_MAX = never happened, a negative
 * age counts as 0.
 *
 * Two programs judge silence. The daemon tries to revive a worker in stages;
 * the overseer restarts the whole daemon when nothing moved for
 * overseer.stall_timeout. Each stage counts as a move, and stall_limits() keeps
 * the wait for each stage below the overseer's timeout, so that the daemon
 * always acts first.
 */
#ifndef STALL_H
#define STALL_H

#include <stdbool.h>
#include <stdint.h>

enum stall_action {
	STALL_WAIT,
	STALL_INTERRUPT, /* press Escape, and tell it to continue */
	STALL_RESTART, /* a new session that resumes the conversation */
	STALL_FAIL, /* the attempt failed */
	STALL_ACTION_COUNT
};

const char *stall_action_name(enum stall_action action);

/* How long an agent may be silent; 0 or less = for ever. */
struct stall_limits {
	int64_t turn_ms;
	int64_t tool_ms; /* while a tool is running: four times that */
};

/* The limits for a timeout, none longer than stall_longest_ms(). overseer_ms:
 * overseer.stall_timeout; 0 = the overseer does not judge this agent. */
struct stall_limits stall_limits(int64_t timeout_ms, int64_t overseer_ms);

/* The longest wait for a stage that surely ends before the overseer's timeout:
 * three quarters of it. */
int64_t stall_longest_ms(int64_t overseer_ms);

/* How often, at least, the daemon must look at its workers and tell the
 * overseer: the two may take half of the quarter that remains. */
int64_t stall_look_ms(int64_t overseer_ms);

/* Has it been silent for too long? Silence as long as the limit is not. */
bool stall_is_silent(
    int64_t quiet_ms, bool tool_open, const struct stall_limits *limits);

struct stall_facts {
	int64_t quiet_ms; /* age of the last hook or growth of the transcript.
			   * CPU time does not count: an endless loop uses
			   * plenty */
	int64_t step_ms; /* since the last stage; INT64_MAX = none */
	bool tool_open; /* a tool is running */
	int stage; /* number of stages since a turn ended */
};

/* What to do next; each stage gets the whole time again. */
enum stall_action
stall_judge(const struct stall_facts *facts, const struct stall_limits *limits);

#endif
