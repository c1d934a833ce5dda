/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "after-landing.h"
#include "auto.h"
#include "buf.h"
#include "clock.h"
#include "emit.h"
#include "errand.h"
#include "errtext.h"
#include "failure.h"
#include "file.h"
#include "git-revert.h"
#include "json.h"
#include "jsonl.h"
#include "landing.h"
#include "mem.h"
#include "operation.h"
#include "outcome.h"
#include "persist.h"
#include "post-accept.h"
#include "scheduler.h"
#include "settings.h"
#include "workspace.h"

#define POST_LOG_SIZE (20 * 1024 * 1024)
#define POST_LOG_KEEP 3
#define REASON_LINES  5 /* of its output, in the reason */

struct post_accept {
	struct operation op; /* first */
	struct auto_mode *mode;
	char *task; /* id */
	char *dir; /* for the errand's files */
	struct errand *errand; /* while it runs */
	int status; /* its exit status */
	struct buf reason; /* why it failed, one sentence */
	struct buf output; /* its output if it failed */
};

static const char *
command_of(const struct core *core)
{
	return settings_string(core->settings, "auto.post_accept_command");
}

static struct task *
task_of(const struct post_accept *post)
{
	return state_task(&post->mode->core->state, post->task);
}

/* --- step write: save that it landed --------------------------------- */

static void
step_write(struct operation *op)
{
	struct post_accept *post = (struct post_accept *)op;

	persist_then(
	    post->mode->core, op, operation_on_over, operation_await(op));
}

static void
cancel_write(struct operation *op)
{
	struct post_accept *post = (struct post_accept *)op;

	persist_forget(post->mode->core, op);
	operation_arrived(op, NULL);
}

/* --- step run -------------------------------------------------------- */

static void
write_log(const struct post_accept *post, const struct errand_result *result)
{
	const struct core *core = post->mode->core;
	const struct task *t = task_of(post);
	cleanup_free char *file =
	    workspace_path(core->workspace, "logs/post_accept.log");
	cleanup_json struct json_object *json = json_object_new_object();
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_stamp(clock_wall_ms(), stamp);
	json_set_string(json, "timestamp", stamp);
	json_set_string(json, "level", result->status == 0 ? "INFO" : "ERROR");
	json_set_string(json, "worker_name", t->worker);
	json_set_string(json, "task", t->id);
	json_set_string(json, "commit_sha", t->commit);
	json_set_string(json, "command", command_of(core));
	json_set_int(json, "exit_code", result->status);
	json_set_bool(json, "timed_out", result->timed_out);
	json_set_int(json, "duration_ms", result->duration_ms);
	json_set_string(json, "stdout", result->out.data);
	json_set_string(json, "stderr", result->err.data);
	jsonl_append(file, json, POST_LOG_SIZE, POST_LOG_KEEP, NULL);
}

static void
report_result(
    const struct post_accept *post, const struct errand_result *result)
{
	const struct task *t = task_of(post);

	write_log(post, result);
	emit(post->mode->core,
	    &(struct event){ .kind = EVENT_POST_ACCEPT,
		.task = t->id,
		.commit = t->commit,
		.exit_code = result->status,
		.duration_ms = result->duration_ms });
}

/* "post_accept_command exited with status 1 after t3 landed as abc: ..." */
static void
add_reason(const struct task *t, const struct errand_result *result,
    const char *said, struct buf *out)
{
	size_t len = 0;

	buf_adds(out, "post_accept_command ");
	if (result->timed_out)
		buf_adds(out, "took too long");
	else if (result->lost)
		buf_adds(out, "was killed");
	else
		buf_addf(out, "exited with status %d", result->status);
	buf_addf(out, " after %s landed as %.12s", t->id, t->commit);
	for (int i = 0; i < REASON_LINES && said[len] != '\0'; i++) {
		len += strcspn(said + len, "\n");
		len += said[len] == '\n';
	}
	while (len > 0 && said[len - 1] == '\n')
		len--;
	if (len > 0) {
		buf_adds(out, ":\n");
		buf_add(out, said, len);
	}
}

/* Copy what is needed from the result, which is freed with the errand. */
static void
keep_result(struct post_accept *post, const struct errand_result *result)
{
	const char *said =
	    result->err.len > 0 ? result->err.data : result->out.data;

	post->status = result->status;
	if (result->status == 0)
		return;
	buf_adds(&post->output, said);
	add_reason(task_of(post), result, said, &post->reason);
}

/* If it was cancelled because we are stopping, the next daemon runs it again.
 * If it exited before that, the next daemon judges it from its files. */
static void
on_exited(const struct errand_result *result, void *arg)
{
	struct post_accept *post = arg;

	if (!post->op.stopping || result->cancelled)
		report_result(post, result);
	if (result->cancelled)
		errand_forget(post->dir, post->task, NULL);
	keep_result(post, result);
	errand_free(take_ptr(&post->errand));
	if (operation_arrived(&post->op, NULL))
		operation_next(&post->op);
}

static int
start(struct post_accept *post, struct err *err)
{
	const struct core *core = post->mode->core;
	const struct task *t = task_of(post);
	cleanup_free char *task = xasprintf("LLMC_TASK=%s", t->id);
	cleanup_free char *commit = xasprintf("LLMC_COMMIT=%s", t->commit);
	cleanup_free char *worker = xasprintf("LLMC_WORKER=%s", t->worker);
	const char *const env[] = { task, commit, worker, NULL };
	struct errand_spec spec = {
		.dir = post->dir,
		.name = t->id,
		.command = command_of(core),
		.cwd = core->workspace->root,
		.env = env,
		.deadline_ms = settings_duration(
		    core->settings, "auto.post_accept_timeout"),
	};
	int r = file_mkdirs(post->dir, 0700, err);

	if (r == 0)
		r = errand_adopt(
		    core->loop, &spec, on_exited, post, &post->errand, err);
	if (r == -ENOENT)
		r = errand_start(
		    core->loop, &spec, on_exited, post, &post->errand, err);
	return r;
}

static void
step_run(struct operation *op)
{
	struct err err = { 0 };

	if (start((struct post_accept *)op, &err) < 0)
		operation_fail(op, &err);
	else
		operation_await(op);
}

static void
cancel_run(struct operation *op)
{
	struct post_accept *post = (struct post_accept *)op;

	if (post->errand != NULL)
		errand_cancel(post->errand);
}

/* --- step act: handle the result ------------------------------------- */

static void
on_reverted(const char *id, const struct err *err, void *arg)
{
	struct post_accept *post = arg;
	struct auto_mode *mode = post->mode;
	struct task *t = task_of(post);
	int max = (int)settings_int(mode->core->settings, "auto.max_attempts");
	cleanup_free char *reason = NULL;

	if (!operation_arrived(&post->op, NULL))
		return;
	if (err != NULL) {
		reason = xasprintf("%s, and reverting it failed: %s",
		    post->reason.data, err->msg);
		outcome_settle(mode, t, OUTCOME_LANDED, reason);
		failure_raise(mode->core,
		    &(struct failure){ .class = "revert",
			.task = t->id,
			.status = -1,
			.reason = reason });
	} else {
		task_note(t, "reverted", id, clock_wall_ms());
		xstrset(&t->commit, NULL);
		if (!task_attempt_failed(
			t, post->reason.data, max, clock_wall_ms()))
			outcome_settled(mode, t);
		persist_changed(mode->core);
	}
	operation_next(&post->op);
}

static void
revert(struct post_accept *post, struct task *t)
{
	struct core *core = post->mode->core;
	cleanup_free char *message =
	    xasprintf("Revert \"%s\"\n\n%s", t->title, post->reason.data);

	git_revert(core->git, core_branch(core), t->commit, message,
	    core_lands_over_dirt(core), on_reverted,
	    operation_await(&post->op));
}

/* Add a task to repair it; false if there were too many already. */
static bool
add_fix(struct post_accept *post, const struct task *t)
{
	struct core *core = post->mode->core;
	int64_t now = clock_wall_ms();
	cleanup_free char *id = NULL;
	struct task *fix;

	if (t->fixes >= settings_int(core->settings, "auto.max_attempts"))
		return false;
	id = state_task_id(&core->state);
	fix = task_for_fix(id, t, command_of(core), post->output.data, now);
	task_take(fix, now); /* it comes from no source */
	state_add_task(&core->state, fix);
	return true;
}

static void
act_on_failure(struct post_accept *post, struct task *t)
{
	struct core *core = post->mode->core;
	const char *policy =
	    settings_string(core->settings, "auto.on_post_accept_failure");
	const char *reason = post->reason.data;

	task_note(t, "post_accept_command failed", reason, clock_wall_ms());
	if (strcmp(policy, "revert") == 0) {
		revert(post, t);
		return;
	}
	if (strcmp(policy, "continue") == 0 ||
	    (strcmp(policy, "fix") == 0 && add_fix(post, t)))
		emit(core,
		    &(struct event){
			.kind = EVENT_POST_ACCEPT_FAILED, .reason = reason });
	else
		failure_raise(core,
		    &(struct failure){ .class = "post_accept",
			.worker = t->worker,
			.task = t->id,
			.status = post->status,
			.reason = reason });
	outcome_settle(post->mode, t, OUTCOME_LANDED, NULL);
	operation_next(&post->op);
}

static void
step_act(struct operation *op)
{
	struct post_accept *post = (struct post_accept *)op;
	struct task *t = task_of(post);

	if (post->status != 0) {
		act_on_failure(post, t);
		return;
	}
	outcome_settle(post->mode, t, OUTCOME_LANDED, NULL);
	operation_next(op);
}

/* --- step tidy: remove its files once the outcome is saved ----------- */

static void
on_outcome_written(void *arg)
{
	struct post_accept *post = arg;
	char name[64];

	if (!operation_arrived(&post->op, NULL))
		return;
	while (errand_find(post->dir, name, sizeof name))
		if (errand_forget(post->dir, name, NULL) < 0)
			break;
	operation_next(&post->op);
}

static void
step_tidy(struct operation *op)
{
	struct post_accept *post = (struct post_accept *)op;

	persist_then(
	    post->mode->core, op, on_outcome_written, operation_await(op));
}

/* --- the operation --------------------------------------------------- */

static void
begin_next(struct auto_mode *mode)
{
	post_accept_due(mode);
	landings_kick(mode->landings);
	after_landing_resume(mode);
	scheduler_look(mode);
}

static void
end(struct operation *op, const struct err *err)
{
	struct post_accept *post = (struct post_accept *)op;
	struct auto_mode *mode = post->mode;

	mode->post = NULL;
	persist_forget(mode->core, op);
	errand_free(post->errand);
	if (err == NULL)
		begin_next(mode);
	else if (err->code != -ECANCELED)
		failure_raise(mode->core,
		    &(struct failure){ .class = "post_accept",
			.task = post->task,
			.status = -1,
			.reason = err->msg });
	buf_release(&post->reason);
	buf_release(&post->output);
	free(post->task);
	free(post->dir);
	free(post);
}

static const struct operation_step steps[] = {
	{ .name = "write", .run = step_write, .cancel = cancel_write },
	{ .name = "run", .run = step_run, .cancel = cancel_run },
	{ .name = "act", .run = step_act, .firm = true },
	{ .name = "tidy", .run = step_tidy, .firm = true },
};

static const struct operation_kind kind = {
	.name = "post_accept",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

void
post_accept_begin(struct auto_mode *mode, struct task *t)
{
	struct core *core = mode->core;
	struct post_accept *post;

	if (core->stopping)
		return; /* left to the next daemon */
	if (!mode->active || command_of(core)[0] == '\0') {
		outcome_settle(mode, t, OUTCOME_LANDED, NULL);
		return;
	}
	post = xcalloc(1, sizeof *post);
	post->mode = mode;
	post->task = xstrdup(t->id);
	post->dir = workspace_path(core->workspace, "post");
	buf_init(&post->reason);
	buf_init(&post->output);
	mode->post = post;
	operation_begin(&post->op, &kind, core->loop, 0);
}

void
post_accept_due(struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;

	for (size_t i = 0; i < state->task_count && mode->post == NULL; i++)
		if (state->tasks[i]->step == TASK_LANDED &&
		    !auto_is_held(mode, state->tasks[i]))
			post_accept_begin(mode, state->tasks[i]);
}

void
post_accept_stop(struct auto_mode *mode)
{
	if (mode->post != NULL)
		operation_cancel(&mode->post->op, "the daemon is stopping");
}

void
post_accept_drop(struct auto_mode *mode)
{
	if (mode->post != NULL)
		operation_drop(&mode->post->op);
}
