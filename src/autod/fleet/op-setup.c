/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "box.h"
#include "emit.h"
#include "errtext.h"
#include "file.h"
#include "log.h"
#include "loop.h"
#include "id.h"
#include "mem.h"
#include "op-setup.h"
#include "settings.h"
#include "setup.h"
#include "strv.h"
#include "worker-op.h"
#include "workspace.h"

struct op_setup {
	struct worker_op op;
	struct setup_spec spec; /* its strings are used until it has begun */
	struct box box;
	struct err refused; /* there is no box for its command */
	struct setup *setup;
	struct loop_timer *cancelled;
};

static void
run(struct operation *op)
{
	struct op_setup *s = (struct op_setup *)op;

	if (s->refused.code != 0) {
		operation_fail(op, &s->refused);
		return;
	}
	s->setup = setup_begin(
	    op->loop, &s->spec, operation_on_done, operation_await(op));
}

static void
on_cancelled(void *arg)
{
	struct op_setup *s = arg;

	loop_timer_free(take_ptr(&s->cancelled));
	operation_arrived(&s->op.op, NULL);
}

/* Freeing a setup ends it, without a callback. */
static void
cancel(struct operation *op)
{
	struct op_setup *s = (struct op_setup *)op;

	setup_free(take_ptr(&s->setup));
	s->cancelled = loop_after(op->loop, 1, on_cancelled, s);
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_setup *s = (struct op_setup *)op;
	struct agent *agent = s->op.agent;

	worker_op_release(&s->op);
	setup_free(s->setup);
	box_release(&s->box);
	loop_timer_free(s->cancelled);
	if (err != NULL && err->code != -ECANCELED) {
		agent_move(agent, WORKER_ERROR, err->msg);
		emit(agent->core,
		    &(struct event){ .kind = EVENT_SETUP_FAILED,
			.worker = agent->worker->name,
			.reason = err->msg });
	}
	free(s);
}

static const struct operation_step steps[] = {
	{ .name = "run", .run = run, .cancel = cancel },
};

static const struct operation_kind kind = {
	.name = "setup",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

static bool
is_due(const struct setup_spec *spec)
{
	return (spec->copy_files[0] != NULL || spec->command[0] != '\0' ||
		   spec->serena_name != NULL) &&
	    setup_is_due(spec);
}

/* Serena finds projects by name: one per worker and repository. */
static char *
project_name(const struct agent *agent)
{
	char hash[9];

	id_hash(agent->core->workspace->root, hash, 8);
	return xasprintf("%s-%s", session_name(agent->session), hash);
}

bool
op_setup(struct agent *agent)
{
	const struct core *core = agent->core;
	const char *home = getenv("HOME");
	cleanup_free char *dir = workspace_path(core->workspace, "setup");
	cleanup_free char *stamp = file_join(dir, agent->worker->name);
	cleanup_free char *serena =
	    xasprintf("%s/.serena/serena_config.yml", home != NULL ? home : "");
	cleanup_free char *project = project_name(agent);
	struct setup_spec spec = {
		.root = core->workspace->root,
		.worktree = agent->worker->worktree,
		.stamp = stamp,
		.command =
		    settings_string(core->settings, "repo.setup_command"),
		.timeout_ms =
		    settings_duration(core->settings, "repo.setup_timeout"),
		.serena_name = settings_bool(core->settings, "repo.serena") ?
		    project :
		    NULL,
		.serena_config = serena,
	};
	struct op_setup *s;

	settings_list(core->settings, "repo.copy_files", &spec.copy_files);
	if (!is_due(&spec))
		return false;
	if (file_mkdirs(dir, 0700, NULL) < 0)
		log_debug("cannot create %s", dir);
	s = xcalloc(1, sizeof *s);
	box_prepare(&(struct box_spec){ .kind = BOX_COMMAND,
			.workspace = core->workspace,
			.settings = core->settings,
			.worker = agent->worker->name,
			.tree = agent->worker->worktree,
			.network = true },
	    &s->box, &s->refused);
	spec.box = strv_const(s->box.prefix);
	s->spec = spec;
	worker_op_begin(&s->op, &kind, agent, NULL);
	return true;
}
