/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "auto-private.h"
#include "auto.h"
#include "box.h"
#include "check-place.h"
#include "core.h"
#include "emit.h"
#include "errand.h"
#include "failure.h"
#include "jsonl.h"
#include "landing-record.h"
#include "landing.h"
#include "operation.h"
#include "loop.h"
#include "outcome.h"
#include "park.h"
#include "persist.h"
#include "place.h"
#include "settings.h"
#include "task.h"
#include "workspace.h"

#define POST_LOG_SIZE (20 * 1024 * 1024)
#define POST_LOG_KEEP 3
#define REASON_LINES  5 /* of its output, in the reason */

/* Append a record to logs/post_accept.log. */
static void
post_log_write(const struct core *core, const struct landed_tasks *list,
    const char *move, const struct errand_result *result)
{
	const struct task *t = landed_tasks_last(list);
	cleanup_buf struct buf ids = BUF_INIT;
	cleanup_free char *file =
	    workspace_path(core->workspace, "logs/post_accept.log");
	cleanup_json struct json_object *json = json_object_new_object();
	char stamp[CLOCK_STAMP_SIZE];

	landed_tasks_add_ids(list, " ", &ids);
	clock_format_stamp(clock_wall_ms(), stamp);
	json_set_string(json, "timestamp", stamp);
	json_set_string(json, "level", result->status == 0 ? "INFO" : "ERROR");
	json_set_string(json, "worker_name", t->worker);
	json_set_string(json, "task", t->id);
	json_set_string(json, "tasks", ids.data);
	json_set_string(json, "commit_sha", move);
	json_set_string(json, "command",
	    settings_string(core->settings, "auto.post_accept_command"));
	json_set_int(json, "exit_code", result->status);
	json_set_bool(json, "timed_out", result->timed_out);
	json_set_int(json, "duration_ms", result->duration_ms);
	json_set_string(json, "stdout", result->out.data);
	json_set_string(json, "stderr", result->err.data);
	jsonl_append(file, json, POST_LOG_SIZE, POST_LOG_KEEP, NULL);
}

struct post_accept {
	struct operation op; /* first */
	struct auto_mode *mode;
	char *move; /* the commit that the branch moved to */
	char *dir, *name; /* of the errand's files */
	/* What landed may do anything: if workers have a sandbox, so has the
	 * command, and a worktree instead of the user's checkout; else NULL. */
	struct check_place *place;
	struct errand *errand; /* while it runs */
	int status; /* its exit status */
	bool reverting; /* what landed is being taken back */
	struct buf reason; /* why it failed, one sentence */
	struct buf output; /* its output if it failed */
};

static const char *
command_of(const struct core *core)
{
	return settings_string(core->settings, "auto.post_accept_command");
}

/* Is there a command, and a commit to run it for? */
static bool
runs(const struct auto_mode *mode)
{
	return mode->active && command_of(mode->core)[0] != '\0';
}

static void
tasks_of(const struct post_accept *post, struct landed_tasks *ret_list)
{
	const struct state *state = &post->mode->core->state;

	landed_tasks_find(
	    state->tasks, state->task_count, post->move, ret_list);
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

/* --- step place: a worktree for the box ------------------------------- */

static void
on_placed(const char *broken, const struct err *err, void *arg)
{
	struct post_accept *post = arg;

	if (broken != NULL)
		EMIT(post->mode->core, EVENT_WORKTREE_BROKEN, .path = broken);
	operation_on_done(err, &post->op);
}

/* One that an earlier daemon began is adopted. */
static void
step_place(struct operation *op)
{
	struct post_accept *post = (struct post_accept *)op;
	struct git_check_tree what = { .commit = post->move };
	char name[64];

	if (post->place != NULL && !errand_find(post->dir, name, sizeof name))
		check_place_begin(
		    post->place, &what, true, on_placed, operation_await(op));
	else
		operation_next(op);
}

static void
cancel_place(struct operation *op)
{
	struct post_accept *post = (struct post_accept *)op;

	check_place_cancel(post->place);
}

/* --- step run -------------------------------------------------------- */

static void
report_result(
    const struct post_accept *post, const struct errand_result *result)
{
	cleanup_landed_tasks struct landed_tasks list = { 0 };

	tasks_of(post, &list);
	post_log_write(post->mode->core, &list, post->move, result);
	EMIT(post->mode->core, EVENT_POST_ACCEPT,
	    .task = landed_tasks_last(&list)->id, .commit = post->move,
	    .exit_code = result->status, .duration_ms = result->duration_ms);
}

/* Copy what is needed from the result, which is freed with the errand. */
static void
keep_result(struct post_accept *post, const struct errand_result *result)
{
	const char *said =
	    result->err.len > 0 ? result->err.data : result->out.data;
	cleanup_landed_tasks struct landed_tasks list = { 0 };
	const char *move;
	struct buf *out;
	size_t len = 0;

	post->status = result->status;
	if (result->status == 0)
		return;
	tasks_of(post, &list);
	buf_adds(&post->output, said);
	/* "post_accept_command exited with status 1 after t3 landed as abc:
	 * ..."; said: its output. */
	move = post->move;
	out = &post->reason;
	buf_adds(out, "post_accept_command ");
	if (result->timed_out)
		buf_adds(out, "took too long");
	else if (result->lost)
		buf_adds(out, "was killed");
	else
		buf_addf(out, "exited with status %d", result->status);
	buf_adds(out, " after ");
	landed_tasks_add_ids(&list, ", ", out);
	buf_addf(out, " landed as %.12s", move);
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

/* If it was cancelled because we are stopping, the next daemon runs it again.
 * If it exited before that, the next daemon judges it from its files. */
static void
on_exited(const struct errand_result *result, void *arg)
{
	struct post_accept *post = arg;

	if (!post->op.stopping || result->cancelled)
		report_result(post, result);
	if (result->cancelled)
		errand_forget(post->dir, post->name, NULL);
	keep_result(post, result);
	if (post->place != NULL)
		git_check_tree_tidy(post->mode->core->git,
		    check_place_dir(post->place), post->move);
	errand_free(take_ptr(&post->errand));
	operation_on_over(&post->op);
}

static void
add_env(const struct post_accept *post, char ***env)
{
	cleanup_landed_tasks struct landed_tasks list = { 0 };
	cleanup_free char *task = NULL, *commit = NULL, *worker = NULL;
	cleanup_buf struct buf tasks = BUF_INIT;

	tasks_of(post, &list);
	task = xasprintf("LLMC_TASK=%s", landed_tasks_last(&list)->id);
	commit = xasprintf("LLMC_COMMIT=%s", post->move);
	worker = xasprintf("LLMC_WORKER=%s", landed_tasks_last(&list)->worker);
	buf_adds(&tasks, "LLMC_TASKS=");
	landed_tasks_add_ids(&list, " ", &tasks);
	strv_add(env, task);
	strv_add(env, commit);
	strv_add(env, worker);
	strv_add(env, tasks.data);
}

static int
start(struct post_accept *post, char **env, struct err *err)
{
	const struct core *core = post->mode->core;
	cleanup_free char *command = NULL;
	const char *const *box = NULL, *const *place = NULL;
	cleanup_strv char **all = NULL;
	struct errand_spec spec = {
		.dir = post->dir,
		.name = post->name,
		.cwd = post->place != NULL ? check_place_dir(post->place) :
					     core->workspace->root,
		.env = (const char *const *)env,
		.deadline_ms =
		    2 * settings_duration(core->settings, "auto.check_timeout"),
	};
	int r = file_mkdirs(post->dir, 0700, err);

	if (r == 0)
		r = errand_adopt(
		    core->loop, &spec, on_exited, post, &post->errand, err);
	if (r != -ENOENT)
		return r;
	r = post->place == NULL ?
	    0 :
	    check_place_box(post->place, &box, &place, err);
	if (r < 0)
		return r;
	command = box_shell(box, command_of(core));
	spec.command = command;
	strv_add_all(&all, place);
	strv_add_all(&all, strv_const(env));
	spec.env = strv_const(all);
	return errand_start(
	    core->loop, &spec, on_exited, post, &post->errand, err);
}

static void
step_run(struct operation *op)
{
	struct post_accept *post = (struct post_accept *)op;
	char **env = NULL;
	struct err err = { 0 };

	add_env(post, &env);
	if (start(post, env, &err) < 0)
		operation_fail(op, &err);
	else
		operation_await(op);
	strv_clear(&env);
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
settle_all(struct post_accept *post, const char *reason)
{
	cleanup_landed_tasks struct landed_tasks list = { 0 };

	tasks_of(post, &list);
	for (size_t i = 0; i < list.count; i++)
		outcome_settle(
		    post->mode, list.tasks[i], OUTCOME_LANDED, reason);
}

/* These attempts have failed. */
static void
fail_reverted(struct post_accept *post)
{
	struct auto_mode *mode = post->mode;
	cleanup_landed_tasks struct landed_tasks list = { 0 };

	tasks_of(post, &list);
	for (size_t i = 0; i < list.count; i++) {
		struct task *t = list.tasks[i];

		if (t->commit != NULL)
			continue;
		xstrset(&t->move, NULL);
		outcome_undone(mode, t, post->reason.data);
	}
	persist_changed(mode->core);
}

/* Add a task to repair it; false if there were too many already. */
static bool
add_fix(struct post_accept *post, const struct landed_tasks *list)
{
	struct core *core = post->mode->core;
	int64_t now = clock_wall_ms(), max;
	cleanup_free char *id = NULL;
	struct task *fix;

	max = settings_int(core->settings, "auto.max_attempts");
	for (size_t i = 0; i < list->count; i++)
		if (list->tasks[i]->fixes >= max)
			return false;
	id = state_task_id(&core->state);
	fix = task_for_fix(id, list->tasks, list->count, command_of(core),
	    post->output.data, now);
	task_take(fix, now); /* it comes from no source */
	state_add_task(&core->state, fix);
	return true;
}

static void
step_act(struct operation *op)
{
	struct post_accept *post = (struct post_accept *)op;

	if (post->status != 0) {
		struct core *core = post->mode->core;
		const char *policy = settings_string(
		    core->settings, "auto.on_post_accept_failure");
		const char *reason = post->reason.data;
		cleanup_landed_tasks struct landed_tasks list = { 0 };

		tasks_of(post, &list);
		for (size_t i = 0; i < list.count; i++)
			task_note(list.tasks[i], "post_accept_command failed",
			    reason, clock_wall_ms());
		if (strcmp(policy, "revert") == 0 &&
		    !lands_by_pull(core->settings)) {
			post->reverting = true;
			operation_next(&post->op);
			return;
		}
		if (strcmp(policy, "continue") == 0 ||
		    (strcmp(policy, "fix") == 0 && add_fix(post, &list)))
			EMIT(core, EVENT_POST_ACCEPT_FAILED, .reason = reason);
		else
			failure_raise(core,
			    &(struct failure){ .class = "post_accept",
				.worker = landed_tasks_last(&list)->worker,
				.task = landed_tasks_last(&list)->id,
				.status = post->status,
				.reason = reason });
		settle_all(post, NULL);
		operation_next(&post->op);
		return;
	}
	settle_all(post, NULL);
	operation_next(op);
}

/* --- step revert: through the landing queue --------------------------- */

/* Newest first: each of them is the last change of its files then. */
static void
revert_next(struct post_accept *post)
{
	cleanup_landed_tasks struct landed_tasks list = { 0 };
	const struct task *t;

	tasks_of(post, &list);
	t = landed_tasks_next_revert(&list);
	if (t != NULL) {
		struct landings *landings;
		cleanup_free char *title = NULL;
		cleanup_free char *message = NULL;

		operation_await(&post->op);
		landings = post->mode->landings;
		title = xasprintf("Revert \"%s\"", t->title);
		message = xasprintf("%s\n\n%s", title, post->reason.data);
		/* An earlier daemon may have done it. */
		if (!revert_is_queued(landings, t->commit))
			revert_enqueue(landings,
			    &(struct revert_order){ .commit = t->commit,
				.title = title,
				.message = message,
				.why = post->reason.data });
		landings_kick(landings);
		return;
	}
	post->reverting = false;
	fail_reverted(post);
	operation_next(&post->op);
}

static void
step_revert(struct operation *op)
{
	struct post_accept *post = (struct post_accept *)op;

	if (post->reverting)
		revert_next(post);
	else
		operation_next(op);
}

/* The next daemon finds it in the queue. */
static void
cancel_revert(struct operation *op)
{
	operation_arrived(op, NULL);
}

/* A task that was taken back has no commit from here on, so that the next
 * daemon continues with the rest. */
void
post_accept_reverted(struct auto_mode *mode, struct task *t)
{
	struct post_accept *post = mode->post;
	bool ours =
	    post != NULL && post->reverting && text_is(t->move, post->move);

	xstrset(&t->commit, NULL);
	persist_changed(mode->core);
	if (ours && operation_arrived(&post->op, NULL))
		revert_next(post);
}

void
post_accept_not_reverted(
    struct auto_mode *mode, const char *commit, const char *words)
{
	struct post_accept *post = mode->post;
	cleanup_landed_tasks struct landed_tasks list = { 0 };
	cleanup_free char *reason = NULL, *id = NULL;
	const struct task *t;

	if (post == NULL || !post->reverting)
		return; /* asked for again when it is due */
	tasks_of(post, &list);
	t = landed_tasks_next_revert(&list);
	if (t == NULL || strcmp(t->commit, commit) != 0 ||
	    !operation_arrived(&post->op, NULL))
		return;
	post->reverting = false;
	id = xstrdup(t->id);
	reason = xasprintf(
	    "%s, and reverting %s failed: %s", post->reason.data, t->id, words);
	fail_reverted(post);
	settle_all(post, reason);
	operation_next(&post->op);
	/* Last: it stops the daemon, and with it this operation. */
	RAISE(mode->core, "revert", .task = id, .reason = reason);
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
	loop_call_request(mode->look);
}

static void
end(struct operation *op, const struct err *err)
{
	struct post_accept *post = (struct post_accept *)op;
	struct auto_mode *mode = post->mode;

	mode->post = NULL;
	persist_forget(mode->core, op);
	errand_free(post->errand);
	check_place_free(post->place);
	if (err == NULL)
		begin_next(mode);
	else if (err->code != -ECANCELED)
		RAISE(mode->core, "post_accept", .reason = err->msg);
	buf_release(&post->reason);
	buf_release(&post->output);
	free(post->move);
	free(post->dir);
	free(post->name);
	free(post);
}

static const struct operation_step steps[] = {
	{ .name = "write", .run = step_write, .cancel = cancel_write },
	{ .name = "place", .run = step_place, .cancel = cancel_place },
	{ .name = "run", .run = step_run, .cancel = cancel_run },
	{ .name = "act", .run = step_act, .firm = true },
	{ .name = "revert", .run = step_revert, .cancel = cancel_revert },
	{ .name = "tidy", .run = step_tidy, .firm = true },
};

OPERATION_KIND(kind, "post_accept", steps, end);

/* Has no worker any of the tasks of this move? */
static bool
is_free(const struct auto_mode *mode, const struct landed_tasks *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (auto_is_held(mode, list->tasks[i]))
			return false;
	return true;
}

static void
begin_for(struct auto_mode *mode, struct task *t)
{
	const struct state *state = &mode->core->state;
	cleanup_landed_tasks struct landed_tasks list = { 0 };
	cleanup_free char *move = NULL;

	if (t->move == NULL) {
		if (!auto_is_held(mode, t))
			outcome_without_commit(mode, t, NULL);
		return;
	}
	move = xstrdup(t->move);
	landed_tasks_find(state->tasks, state->task_count, move, &list);
	if (!is_free(mode, &list))
		return;
	if (runs(mode)) {
		struct core *core = mode->core;
		struct post_accept *post = xcalloc(1, sizeof *post);

		post->mode = mode;
		post->move = xstrdup(move);
		post->name = xasprintf("%.40s", move);
		post->dir = workspace_path(core->workspace, "post");
		if (box_mode_strictest(core->settings) != BOX_OFF)
			post->place = check_place_new(
			    &(struct check_place_spec){ .loop = core->loop,
				.git = core->git,
				.workspace = core->workspace,
				.settings = &core->settings,
				.name = "accept",
				.index = PLACE_POST_ACCEPT });
		buf_init(&post->reason);
		buf_init(&post->output);
		mode->post = post;
		operation_begin(&post->op, &kind, core->loop, 0);
		return;
	}
	for (size_t i = 0; i < list.count; i++)
		outcome_settle(mode, list.tasks[i], OUTCOME_LANDED, NULL);
}

void
post_accept_due(struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;

	if (mode->core->stopping)
		return; /* left to the next daemon */
	for (size_t i = 0; i < state->task_count && mode->post == NULL; i++)
		if (state->tasks[i]->step == TASK_LANDED)
			begin_for(mode, state->tasks[i]);
}

bool
post_accept_pending(const struct auto_mode *mode)
{
	const struct state *state = &mode->core->state;

	if (mode->post != NULL)
		return !mode->post->reverting; /* that moves the branch */
	for (size_t i = 0; i < state->task_count && runs(mode); i++)
		if (state->tasks[i]->step == TASK_LANDED &&
		    state->tasks[i]->move != NULL)
			return true;
	return false;
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

/* --- landed by a pull request --------------------------------------------- */

int
auto_pull_merged(
    struct auto_mode *mode, struct task *t, const char *commit, bool whole)
{
	struct agent *held = auto_holder(mode, t);
	const struct landing_item *item =
	    landing_record_of_task(&mode->core->state.landings, t->id);
	/* Later work that no worker has. */
	cleanup_free char *left = item != NULL && held == NULL ?
	    xstrdup(item->head) :
	    !whole && t->from != NULL ? xstrdup(t->from) :
					NULL;

	if ((held != NULL && agent_is_taken(held)) ||
	    !landings_withdraw(mode->landings, t->id))
		return -EBUSY;
	if (left != NULL)
		task_ref_salvage(mode, t, left);
	if (held != NULL)
		auto_clear_worker(held);
	EMIT(mode->core, EVENT_LANDED, .worker = t->worker, .task = t->id,
	    .branch = core_branch(mode->core), .commit = commit, .to = commit,
	    .count = 1);
	xstrset(&t->reason, NULL);
	t->pull_asks = false;
	if (t->step == TASK_LANDED) {
		post_accept_due(mode);
	} else {
		xstrset(&t->commit, commit);
		outcome_settle(mode, t, OUTCOME_LANDED, NULL);
	}
	persist_changed(mode->core);
	return 0;
}
