/* SPDX-License-Identifier: ISC */

#include "liveness.h"
#include "mem.h"

#define TOOL_PATIENCE 4 /* a build or a test run may be silent for long */
#define QUIET_PART    3

static const char *const verdict_words[] = {
	[LIVENESS_FINE] = "fine",
	[LIVENESS_QUIET] = "quiet",
	[LIVENESS_HUNG] = "hung",
	[LIVENESS_DEAD] = "dead",
};

_Static_assert(nitems(verdict_words) == LIVENESS_VERDICT_COUNT,
    "a word for every verdict");

static int64_t
times(int64_t ms, int64_t factor)
{
	return ms > INT64_MAX / factor ? INT64_MAX : ms * factor;
}

enum liveness_verdict
liveness_judge(const struct liveness_evidence *evidence, int64_t timeout_ms)
{
	int64_t whole, third = timeout_ms / QUIET_PART;

	if (!evidence->process)
		return LIVENESS_DEAD;
	if (timeout_ms <= 0)
		return LIVENESS_FINE;
	whole =
	    evidence->tool_open ? times(timeout_ms, TOOL_PATIENCE) : timeout_ms;
	if (evidence->hook_ms > whole && evidence->transcript_ms > whole &&
	    evidence->cpu_ms > whole)
		return LIVENESS_HUNG;
	if (evidence->hook_ms > third && evidence->transcript_ms > third)
		return LIVENESS_QUIET;
	return LIVENESS_FINE;
}

const char *
liveness_verdict_name(enum liveness_verdict verdict)
{
	return verdict_words[verdict];
}
