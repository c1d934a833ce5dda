/* SPDX-License-Identifier: ISC */

/*
 * Outcomes: written down first, then the source is told, then the task is
 * filed in tasks.jsonl and forgotten. Cut off anywhere, it is done again.
 */
#include <string.h>

#include "clock.h"
#include "errtext.h"
#include "json.h"
#include "jsonl.h"
#include "log.h"
#include "mem.h"
#include "pilot.h"
#include "source.h"
#include "workspace.h"

#define FILED_SIZE (20 * 1024 * 1024)
#define FILED_KEEP 3

static int
tell_source(struct pilot *p, const struct task *t, struct err *err)
{
	struct source *source = supply_source(p, err);

	if (source == NULL)
		return err->code;
	if (strcmp(t->source, source_kind(source)) != 0)
		return 0; /* "fix", or the source has been changed */
	return source_settle(source, t->key, t->outcome, t->reason, err);
}

static int
file_task(const struct daemon *d, const struct task *t, struct err *err)
{
	cleanup_free char *file = workspace_path(d->workspace, "tasks.jsonl");
	cleanup_json struct json_object *json = task_to_json(t);

	return jsonl_append(file, json, FILED_SIZE, FILED_KEEP, err);
}

static void
settle_now(void *arg)
{
	struct daemon *d = arg;
	struct err err = { 0 };

	for (size_t i = d->state.task_count; i-- > 0;) {
		const struct task *t = d->state.tasks[i];

		if (t->step != TASK_SETTLING)
			continue;
		if (tell_source(d->pilot, t, &err) < 0 ||
		    file_task(d, t, &err) < 0) {
			/* Patrol tries again; the work itself is safe. */
			log_info("%s: its end cannot be told yet: %s", t->id,
			    err.msg);
			continue;
		}
		state_remove_task(&d->state, t->id);
		daemon_changed(d);
	}
	pilot_look(d);
}

void
settle_open(struct daemon *d)
{
	daemon_then(d, d->pilot, settle_now, d);
}

/* It has its outcome: count it, tell people, and see to the rest. */
void
settle_counted(struct daemon *d, const struct task *t)
{
	bool good =
	    t->outcome == OUTCOME_LANDED || t->outcome == OUTCOME_NO_CHANGES;

	d->state.outcomes[t->outcome]++;
	d->state.last_task_completion_unix = clock_wall_ms() / 1000;
	if (good)
		d->pilot->done++;
	else
		d->pilot->failed++;
	log_fields(LOG_LEVEL_INFO, "task finished", "task", t->id, "outcome",
	    task_outcome_name(t->outcome), "worker", t->worker, "title",
	    t->title, "reason", good ? NULL : t->reason, NULL);
	record(d, LOG_LEVEL_INFO, "task_finished", "task", t->id, "outcome",
	    task_outcome_name(t->outcome), "worker_name", t->worker,
	    "task_excerpt", t->title, "commit_sha", t->commit, "reason",
	    good ? NULL : t->reason, NULL);
	d->pilot->hungry = true; /* it may have blocked another */
	daemon_changed(d);
	settle_open(d);
}

void
settle_task(struct daemon *d, struct task *t, enum task_outcome outcome,
    const char *reason)
{
	if (task_settle(t, outcome, reason, clock_wall_ms()) == 0)
		settle_counted(d, t);
}
