/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "silence.h"

#define TOOL_PATIENCE 4 /* a build or a test run may be silent for long */
#define LOOKS         16 /* in the overseer's timeout */
#define LOOK_LEAST_MS 100

/* Mildest first; the last one repeats. */
static const enum progress_step stages[] = {
	STEP_REDIRECT,
	STEP_RESTART,
	STEP_RETRY,
};

static int64_t
smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t
silence_longest_ms(int64_t overseer_ms)
{
	return overseer_ms - overseer_ms / 4;
}

int64_t
silence_look_ms(int64_t overseer_ms)
{
	int64_t ms = overseer_ms / LOOKS;

	return ms > LOOK_LEAST_MS ? ms : LOOK_LEAST_MS;
}

struct silence_limits
silence_limits(int64_t timeout_ms, int64_t overseer_ms)
{
	int64_t longest =
	    overseer_ms > 0 ? silence_longest_ms(overseer_ms) : INT64_MAX;
	int64_t tool;

	if (timeout_ms <= 0)
		return (struct silence_limits){ 0 };
	tool = timeout_ms > INT64_MAX / TOOL_PATIENCE ?
	    INT64_MAX :
	    timeout_ms * TOOL_PATIENCE;
	return (struct silence_limits){
		.turn_ms = smaller(timeout_ms, longest),
		.tool_ms = smaller(tool, longest),
	};
}

bool
silence_is_long(
    int64_t quiet_ms, bool tool_open, const struct silence_limits *limits)
{
	int64_t limit = tool_open ? limits->tool_ms : limits->turn_ms;

	return limit > 0 && quiet_ms > limit;
}

enum progress_step
silence_next(
    const struct silence_facts *facts, const struct silence_limits *limits)
{
	size_t stage = facts->stage > 0 ? (size_t)facts->stage : 0;

	if (!silence_is_long(smaller(facts->quiet_ms, facts->step_ms),
		facts->tool_open, limits))
		return STEP_NONE;
	return stages[smaller((int64_t)stage, (int64_t)nitems(stages) - 1)];
}

enum progress_step
silence_by_hand(enum stall_class sample, bool vain, enum recovery_policy policy)
{
	if (sample != STALL_WAITING && sample != STALL_FAILED && !vain)
		return STEP_WARN;
	return sample != STALL_WAITING &&
		(policy == RECOVERY_REPLAN || policy == RECOVERY_REASSIGN) ?
	    STEP_RETRY :
	    STEP_PAUSE;
}
