/* SPDX-License-Identifier: ISC */

#include "mem.h"
#include "stall.h"

#define TOOL_PATIENCE 4 /* a build or a test run may be silent for long */
#define LOOKS         16 /* in the overseer's timeout */
#define LOOK_LEAST_MS 100

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

static int64_t
smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t
stall_longest_ms(int64_t overseer_ms)
{
	return overseer_ms - overseer_ms / 4;
}

int64_t
stall_look_ms(int64_t overseer_ms)
{
	int64_t ms = overseer_ms / LOOKS;

	return ms > LOOK_LEAST_MS ? ms : LOOK_LEAST_MS;
}

struct stall_limits
stall_limits(int64_t timeout_ms, int64_t overseer_ms)
{
	int64_t longest =
	    overseer_ms > 0 ? stall_longest_ms(overseer_ms) : INT64_MAX;
	int64_t tool;

	if (timeout_ms <= 0)
		return (struct stall_limits){ 0 };
	tool = timeout_ms > INT64_MAX / TOOL_PATIENCE ?
	    INT64_MAX :
	    timeout_ms * TOOL_PATIENCE;
	return (struct stall_limits){
		.turn_ms = smaller(timeout_ms, longest),
		.tool_ms = smaller(tool, longest),
	};
}

bool
stall_is_silent(
    int64_t quiet_ms, bool tool_open, const struct stall_limits *limits)
{
	int64_t limit = tool_open ? limits->tool_ms : limits->turn_ms;

	return limit > 0 && quiet_ms > limit;
}

enum stall_action
stall_judge(const struct stall_facts *facts, const struct stall_limits *limits)
{
	size_t stage = facts->stage > 0 ? (size_t)facts->stage : 0;

	if (!stall_is_silent(smaller(facts->quiet_ms, facts->step_ms),
		facts->tool_open, limits))
		return STALL_WAIT;
	return stages[smaller((int64_t)stage, (int64_t)nitems(stages) - 1)];
}
