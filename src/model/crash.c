/* SPDX-License-Identifier: ISC */

#include "backoff.h"
#include "crash.h"
#include "worker.h"

struct crash_verdict
crash_judge(struct worker *worker, bool driven, int64_t now_ms)
{
	struct crash_verdict verdict = { 0 };

	if (worker_waits(worker->status) || worker->status == WORKER_ERROR)
		return verdict;
	if (now_ms - worker->crashed_ms > CRASH_ROW_MS)
		worker->crashes = 0;
	worker->crashes++;
	worker->crashed_ms = now_ms;
	verdict.counts = true;
	verdict.give_up =
	    worker->crashes >= (driven ? CRASH_DRIVEN_MAX : CRASH_MAX);
	if (worker->crashes > 1)
		backoff_next(
		    &backoff_crash, worker->crashes - 2, &verdict.pause_ms);
	return verdict;
}
