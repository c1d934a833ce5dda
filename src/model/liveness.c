/* SPDX-License-Identifier: ISC */

#include "liveness.h"

#define TOOL_PATIENCE 4 /* a build or a test run may be silent for long */

bool
liveness_is_hung(const struct liveness_evidence *evidence, int64_t timeout_ms)
{
	int64_t patience = timeout_ms;

	if (!evidence->process || timeout_ms <= 0)
		return false;
	if (evidence->tool_open)
		patience = timeout_ms > INT64_MAX / TOOL_PATIENCE ?
		    INT64_MAX :
		    timeout_ms * TOOL_PATIENCE;
	return evidence->hook_ms > patience &&
	    evidence->transcript_ms > patience && evidence->cpu_ms > patience;
}
