/* SPDX-License-Identifier: ISC */

/* Hard failures: a typed record for whoever looks after us, and a stop. */
#include <unistd.h>

#include "clock.h"
#include "errtext.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "pilot.h"
#include "workspace.h"

static void
failure_write(const struct daemon *d, const struct failure *f)
{
	cleanup_free char *file = workspace_path(d->workspace, "failure.json");
	cleanup_json struct json_object *json = json_object_new_object();
	struct err err = { 0 };

	json_set_string(json, "class", f->class);
	json_set_string(json, "worker", f->worker);
	json_set_string(json, "task", f->task);
	json_set(json, "exit_status",
	    f->status >= 0 ? json_object_new_int(f->status) : NULL);
	json_set_string(json, "words", f->words);
	json_set_int(json, "at_unix", clock_wall_ms() / 1000);
	json_set_string(json, "instance_id", d->instance);
	if (json_save(file, json, 0600, &err) < 0)
		log_errorx("failure.json: %s", err.msg);
}

void
failure_raise(struct daemon *d, const struct failure *f)
{
	if (d->pilot->failing || d->stopping)
		return;
	d->pilot->failing = true;
	d->state.errors++;
	daemon_changed(d);
	failure_write(d, f);
	log_fields(LOG_LEVEL_ERROR, f->words, "class", f->class, "worker",
	    f->worker, "task", f->task, NULL);
	record(d, LOG_LEVEL_ERROR, "failure", "class", f->class, "worker_name",
	    f->worker, "task", f->task, "reason", f->words, NULL);
	d->exit_status = 1;
	daemon_stop(d, false);
}

void
failure_clear(struct daemon *d)
{
	cleanup_free char *file = workspace_path(d->workspace, "failure.json");

	unlink(file);
}
