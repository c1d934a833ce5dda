/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "auto-private.h"
#include "auto.h"
#include "emit.h"
#include "git-freeze.h"
#include "git.h"
#include "persist.h"
#include "workspace.h"

/* Git keeps commits without a ref for two weeks too. */
static void
on_kept(const struct git_answer *answer, void *arg)
{
	(void)answer;
	(void)arg;
}

static void
on_dropped(const struct err *err, void *arg)
{
	(void)err; /* it only keeps a commit longer than needed */
	(void)arg;
}

static void
keep(struct auto_mode *mode, const char *ref, const char *commit)
{
	const struct core *core = mode->core;
	const char *const args[] = { "update-ref", "--no-deref", ref, commit,
		NULL };
	struct git_command update = { .args = args };

	git_run(git_queue(core->git, core->workspace->root), &update, on_kept,
	    NULL);
}

void
task_ref_keep(struct auto_mode *mode, struct task *task)
{
	cleanup_free char *ref = xasprintf("refs/llmc/task/%s", task->id);

	task->kept = true;
	persist_changed(mode->core);
	keep(mode, ref, task->from);
}

void
task_ref_keep_all(struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;

	for (size_t i = 0; i < state->task_count; i++)
		if (state->tasks[i]->from != NULL)
			task_ref_keep(mode, state->tasks[i]);
}

void
task_ref_drop(struct auto_mode *mode, struct task *task)
{
	cleanup_free char *ref = xasprintf("refs/llmc/task/%s", task->id);

	if (!task->kept)
		return;
	task->kept = false;
	git_freeze_drop(mode->core->git, ref, on_dropped, NULL);
}

void
task_ref_salvage(
    struct auto_mode *mode, const struct task *task, const char *commit)
{
	cleanup_free char *ref = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_compact(clock_wall_ms(), stamp);
	ref = xasprintf(
	    "refs/llmc/salvage/%s/%s-%s", task->worker, stamp, task->id);
	keep(mode, ref, commit);
	emit(mode->core,
	    &(struct event){ .kind = EVENT_WORK_SALVAGED,
		.worker = task->worker,
		.task = task->id,
		.ref = ref });
}
