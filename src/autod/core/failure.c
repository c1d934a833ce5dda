/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "core.h"
#include "emit.h"
#include "failure-class.h"
#include "failure.h"
#include "landing-branch.h"
#include "life.h"
#include "persist.h"
#include "workspace.h"

static const char *
scope_of(const struct failure *f)
{
	return failure_scope_name(failure_class_find(f->class)->scope);
}

static void
write_record(struct core *core, const struct failure *f)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "failure.json");
	cleanup_json struct json_object *json = json_object_new_object();
	struct err err = { 0 };

	json_set_string(json, "class", f->class);
	json_set_string(json, "scope", scope_of(f));
	json_set_string(json, "worker", f->worker);
	json_set_string(json, "task", f->task);
	json_set(json, "exit_status",
	    f->status >= 0 ? json_object_new_int(f->status) : NULL);
	json_set_string(json, "words", f->reason);
	json_set_int(json, "at_unix", clock_wall_ms() / 1000);
	json_set_string(json, "instance_id", core->instance);
	if (json_save(file, json, 0600, &err) < 0)
		emit(core,
		    &(struct event){
			.kind = EVENT_STATE_UNWRITTEN, .reason = err.msg });
}

/* Without its landing branch, git fails in many places. */
static bool
is_of_branch(const struct failure *f)
{
	enum failure_scope scope = failure_class_find(f->class)->scope;

	return scope == FAILURE_SCOPE_WORKER || scope == FAILURE_SCOPE_LANDING;
}

void
failure_raise(struct core *core, const struct failure *f)
{
	cleanup_free char *lost =
	    is_of_branch(f) ? landing_branch_lost(core) : NULL;
	struct failure of_branch = {
		.class = "landing_branch", .status = -1, .reason = lost
	};

	if (core->stopping)
		return;
	if (lost != NULL)
		f = &of_branch;
	core->state.errors++;
	persist_changed(core);
	if (!core->evicted)
		write_record(core, f);
	emit(core,
	    &(struct event){ .kind = EVENT_FAILURE,
		.class = f->class,
		.scope = scope_of(f),
		.worker = f->worker,
		.task = f->task,
		.reason = f->reason });
	core->exit_status = core->evicted ? FAILURE_EXIT_ROOT_GONE : 1;
	life_stop(core, "failure", false);
}

void
failure_clear(struct core *core)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "failure.json");

	unlink(file);
}
