/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <string.h>

#include "budget.h"
#include "buf.h"
#include "json.h"
#include "report-verdict.h"
#include "text.h"

enum level {
	GOOD,
	MIXED,
	BAD,
	NOTHING
};

const char *const report_levels[] = { "good", "mixed", "bad", "nothing", NULL };

struct judging {
	struct json_object *report, *counts, *money, *rows;
	int64_t landed, done, not_landed, open, worker_ms;
	enum level level;
	struct buf words;
};

static struct json_object *
part(struct json_object *object, const char *key)
{
	return json_object_object_get(object, key);
}

static const char *
plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

/* What ended, and how. */
static void
judge_tasks(struct judging *j)
{
	int64_t all = j->done + j->not_landed;
	bool goes_on =
	    json_bool_or(part(j->report, "period"), "goes_on", false);

	if (all == 0 && j->open > 0) {
		j->level = NOTHING;
		buf_addf(&j->words,
		    goes_on ? "No task has ended yet; %" PRId64 " in progress" :
			      "No task ended; %" PRId64 " begun and not ended",
		    j->open);
	} else if (all == 0) {
		j->level = NOTHING;
		buf_adds(&j->words, "Nothing was worked on");
	} else if (j->done == 0) {
		j->level = BAD;
		buf_addf(&j->words,
		    all == 1 ?
			"Nothing landed: the one task that ended did not "
			"succeed" :
			"Nothing landed: none of the %" PRId64
			" tasks that ended succeeded",
		    all);
	} else if (j->not_landed > 0) {
		j->level = MIXED;
		buf_addf(&j->words,
		    "%" PRId64 " of %" PRId64 " tasks that ended succeeded",
		    j->done, all);
	} else {
		j->level = GOOD;
		buf_addf(&j->words,
		    all == 1 ? "The one task that ended succeeded" :
			       "All %" PRId64 " tasks that ended succeeded",
		    all);
	}
	if (j->done > j->landed)
		buf_addf(&j->words, " (%" PRId64 " without a change)",
		    j->done - j->landed);
}

static void
add_money(struct judging *j)
{
	int64_t total = json_int_or(j->money, "total_micros", 0);
	int64_t ended = json_int_or(j->money, "landed_micros", 0) +
	    json_int_or(j->money, "not_landed_micros", 0);
	int64_t unknown = json_int_or(j->money, "unknown", 0);

	if (ended > 0) {
		buf_adds(&j->words, ", for ");
		budget_add_cost(&j->words, ended);
	}
	if (total > ended) {
		buf_adds(&j->words, "; all that was spent is ");
		budget_add_cost(&j->words, total);
	}
	if (json_int_or(j->money, "estimated_micros", 0) > 0)
		buf_adds(&j->words, " (estimated)");
	if (unknown > 0)
		buf_addf(&j->words,
		    "; the cost of %" PRId64 " task%s is not known", unknown,
		    plural(unknown));
}

/* Time of workers that was lost, if it was a large part of it. */
static void
add_lost(struct judging *j, const char *row, int64_t percent, const char *words)
{
	int64_t ms = json_int_or(j->rows, row, 0);

	if (ms <= 0 || j->worker_ms <= 0 || ms / percent < j->worker_ms / 100)
		return;
	buf_addf(&j->words, "; %s %" PRId64 " %% of the workers' time", words,
	    ms / ((j->worker_ms + 99) / 100));
	if (j->level == GOOD)
		j->level = MIXED;
}

void
report_verdict(struct json_object *report, const char *failure)
{
	struct json_object *json = json_object_new_object();
	struct json_object *time = part(report, "time");
	struct judging j = {
		.report = report,
		.counts = part(report, "counts"),
		.money = part(report, "money"),
		.rows = part(time, "rows"),
		.worker_ms = json_int_or(time, "worker_ms", 0),
		.words = BUF_INIT,
	};
	size_t needs = json_object_array_length(part(report, "needs"));

	j.landed = json_int_or(j.counts, "landed", 0);
	j.done = j.landed + json_int_or(j.counts, "no_changes", 0);
	j.not_landed = json_int_or(j.counts, "failed", 0) +
	    json_int_or(j.counts, "aborted", 0) +
	    json_int_or(j.counts, "dead_letter", 0);
	j.open = json_int_or(j.counts, "open", 0);
	judge_tasks(&j);
	add_money(&j);
	add_lost(&j, "daemon_down", 10, "the daemon was down for");
	add_lost(&j, "limited", 25, "usage limits took");
	add_lost(&j, "outage", 10, "the service was away for");
	add_lost(&j, "working_failed", 50, "failed attempts took");
	add_lost(&j, "paused", 25, "workers were paused for");
	add_lost(&j, "error", 25, "workers were in error for");
	add_lost(
	    &j, "idle_queue", 25, "tasks waited while workers were idle for");
	if (failure != NULL) {
		j.level = BAD;
		buf_adds(&j.words, "; llmc itself failed: ");
		text_add_visible(&j.words, failure,
		    text_cut(failure, strlen(failure), 200), false);
	}
	if (needs > 0)
		buf_addf(&j.words, "; %zu thing%s need%s you", needs,
		    plural((int64_t)needs), needs == 1 ? "s" : "");
	buf_addc(&j.words, '.');
	json_set_string(json, "level", report_levels[j.level]);
	json_set_string(json, "words", j.words.data);
	buf_release(&j.words);
	json_set(report, "verdict", json);
}
