/* SPDX-License-Identifier: ISC */

#include "telling.h"

enum telling
telling_now(enum intervention due, int64_t waited_ms, int64_t slice_ms)
{
	int64_t patience = slice_ms;

	if (due <= INTERVENTION_LOG)
		return TELLING_NOTHING;
	if (due >= INTERVENTION_PAUSE)
		return TELLING_INTERRUPT;
	if (due == INTERVENTION_WARN)
		patience *= INTERVENE_PATIENCE;
	return waited_ms >= patience ? TELLING_INTERRUPT : TELLING_CONTEXT;
}

bool
telling_again(
    enum intervention level, enum severity before, enum severity after)
{
	return level == INTERVENTION_REDIRECT && after != SEVERITY_NONE &&
	    after >= before;
}
