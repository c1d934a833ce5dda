/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "detection.h"
#include "emit.h"
#include "error-signature.h"
#include "escalation.h"
#include "iteration.h"
#include "oversight-floor.h"
#include "oversight-private.h"
#include "person.h"
#include "task.h"
#include "watched.h"

static const char *const titles[STEP_COUNT] = {
	[STEP_NONE] = "oversight has seen something",
	[STEP_LOG] = "oversight has seen something",
	[STEP_WARN] = "oversight has warned a worker",
	[STEP_REDIRECT] = "oversight has redirected a worker",
	[STEP_RESTART] = "oversight has begun a fresh session",
	[STEP_RETRY] = "oversight has begun a new attempt",
	[STEP_PAUSE] = "oversight has parked a task",
};

/* Words that llmc answer knows as --yes and --no. */
static const char *const choices[] = { "continue", "abort", NULL };

void
oversight_tell(const struct oversight_floor *floor, const struct watched *w,
    const char *worker, const struct detection *d, enum progress_step level,
    const char *text)
{
	cleanup_buf struct buf signature = BUF_INIT;
	cleanup_json struct json_object *detection = detection_to_json(d);
	const struct task *t = state_task(&floor->core->state, w->task);
	cleanup_free char *event =
	    xasprintf("oversight/%s/%" PRId64 "/%s/%s", w->task, w->count,
		detection_type_words[d->type], progress_step_words[level]);
	struct escalation what = { .event = event,
		.asked = level >= STEP_PAUSE,
		.title = titles[level],
		.text = text,
		.worker = worker,
		.task = w->task,
		.task_title = t != NULL ? t->title : NULL,
		.iteration = w->count,
		.intervention = progress_step_words[level],
		.detection = detection,
		.options = level == STEP_PAUSE ? choices : NULL };
	const char *task;
	const char *error;

	if (hand_task_worker(w->task) != NULL ||
	    !escalation_of_intervention(progress_step_words[level],
		severity_words[d->severity], &what.level))
		return;
	/* The same error of several workers is one failure; anything else is
	 * one of its task. */
	task = w->task;
	error = json_string_or(d->evidence, "repeatedError", "");
	buf_addf(&signature, "oversight %s ", detection_type_words[d->type]);
	if (d->type == DETECTION_STUCK && *error != '\0')
		error_signature(error, strlen(error), &signature);
	else
		buf_adds(&signature, task);
	what.signature = signature.data;
	/* The command is told of what it was told of before there were
	 * levels. */
	person_escalate(floor->core, &what,
	    level >= STEP_PAUSE ? NOTICE_TASK : NOTICE_NONE);
}

/* --- several workers -------------------------------------------------- */

static const char all_workers[] = "fleet"; /* not a type of detection */

/* One event, and one message to people, not one for each worker. */
static void
tell_of_fleet(
    const struct oversight_floor *floor, size_t workers, const char *error)
{
	cleanup_buf struct buf signature = BUF_INIT;
	cleanup_free char *reason =
	    xasprintf("%zu workers have the same error: %.200s; look at them "
		      "with: llmc status",
		workers, error);

	emit(floor->core,
	    &(struct event){ .kind = EVENT_OVERSIGHT,
		.class = all_workers,
		.action = "log",
		.reason = reason });
	if (floor->config.mode == OVERSIGHT_OBSERVE)
		return;
	error_signature(error, strlen(error), &signature);
	person_tell(floor->core,
	    &(struct notice){ .class = NOTICE_WORKER,
		.what = "several workers have the same error",
		.why = reason,
		.signature = signature.data });
}

void
oversight_tell_fleet(struct oversight_floor *floor, const char *worker,
    const struct iteration *it)
{
	for (size_t i = 0; i < strv_count(it->errors); i++) {
		uint64_t hash =
		    error_signature_hash(it->errors[i], strlen(it->errors[i]));
		size_t workers = 0;

		if (hash != 0 && fleet_pattern_is_shared(it->errors[i]))
			workers = fleet_pattern_see(
			    &floor->pattern, hash, worker, clock_mono_ms());
		if (workers > 0)
			tell_of_fleet(floor, workers, it->errors[i]);
	}
}
