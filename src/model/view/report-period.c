/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "report-period.h"
#include "work-span.h"

void
report_run_release(struct report_run *run)
{
	free(run->wanted);
	free(run->id);
	free(run->first);
	free(run->last);
	memset(run, 0, sizeof *run);
}

/* How long after its end a run is gone on with; how long one that was killed
 * may have run. */
#define AGAIN_MS  (3600 * (int64_t)1000)
#define KILLED_MS (24 * AGAIN_MS)

static bool
goes_on(const struct report_run *run, int64_t at_ms)
{
	return run->id != NULL && !run->complete &&
	    (run->ended_ms > 0 ? at_ms - run->ended_ms <= AGAIN_MS :
				 at_ms - run->begun_ms <= KILLED_MS);
}

static bool
is_wanted(const struct report_run *run)
{
	return run->wanted != NULL && run->id != NULL &&
	    strcmp(run->id, run->wanted) == 0;
}

bool
report_run_is_found(const struct report_run *run)
{
	return run->id != NULL && (run->wanted == NULL || is_wanted(run));
}

void
report_run_event(struct report_run *run, const char *id,
    enum report_run_what what, int64_t at)
{
	xstrset(&run->last, id);
	if (run->next_ms != 0)
		return;
	if (run->id == NULL || strcmp(run->id, id) != 0) {
		if (is_wanted(run)) {
			run->next_ms = at;
			return;
		}
		if (!goes_on(run, at)) {
			xstrset(&run->first, id);
			run->from_ms = at;
		}
		xstrset(&run->id, id);
	}
	if (what == REPORT_RUN_BEGINS)
		run->begun_ms = at;
	run->ended_ms = what == REPORT_RUN_BEGINS ? 0 : at;
	run->complete = what == REPORT_RUN_COMPLETE;
}

int64_t
report_run_end(const struct report_run *run, const struct work_span *spans,
    size_t count, bool goes_on, int64_t now_ms)
{
	int64_t end = run->from_ms;

	if (goes_on && run->next_ms == 0)
		return now_ms;
	if (run->ended_ms > 0)
		return run->ended_ms;
	for (size_t i = 0; i < count; i++)
		if (spans[i].to_ms > end &&
		    (run->next_ms == 0 || spans[i].to_ms <= run->next_ms))
			end = spans[i].to_ms;
	return end;
}
