/* SPDX-License-Identifier: ISC */

#include "mem.h"
#include "stall.h"

#define TOOL_PATIENCE 4 /* a build or a test run may be silent for long */

static const char *const action_words[] = {
	[STALL_WAIT] = "wait",
	[STALL_INTERRUPT] = "interrupt",
	[STALL_RESTART] = "restart",
	[STALL_FAIL] = "fail",
};

_Static_assert(
    nitems(action_words) == STALL_ACTION_COUNT, "a word for every action");

/* Mildest first; the last one repeats. */
static const enum stall_action stages[] = {
	STALL_INTERRUPT,
	STALL_RESTART,
	STALL_FAIL,
};

const char *
stall_action_name(enum stall_action action)
{
	return action_words[action];
}

enum stall_action
stall_judge(const struct stall_facts *facts, int64_t timeout_ms)
{
	int64_t patience = timeout_ms;
	size_t stage = facts->stage > 0 ? (size_t)facts->stage : 0;

	if (timeout_ms <= 0)
		return STALL_WAIT;
	if (facts->tool_open)
		patience = timeout_ms > INT64_MAX / TOOL_PATIENCE ?
		    INT64_MAX :
		    timeout_ms * TOOL_PATIENCE;
	if (facts->hook_ms <= patience || facts->transcript_ms <= patience ||
	    facts->step_ms <= patience)
		return STALL_WAIT;
	return stages[stage < nitems(stages) ? stage : nitems(stages) - 1];
}
