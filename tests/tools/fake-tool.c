/* SPDX-License-Identifier: ISC */

#include "child.h"
#include "fake.h"

#define TOOL_MS         (600 * 1000)
#define TOOL_OUTPUT_MAX (30 * 1024)
#define DESCRIPTION     "scripted by the test"

static struct json_object *
fake_tool_input(const struct fake_tool *tool)
{
	struct json_object *input = json_object_new_object();

	json_set_string(input, "command", tool->command);
	json_set_string(input, "description", DESCRIPTION);
	if (tool->background)
		json_set_bool(input, "run_in_background", true);
	return input;
}

static void
fake_tool_clear(struct fake_tool *tool)
{
	loop_timer_free(take_ptr(&tool->notify));
	fake_fired_cancel(take_ptr(&tool->notice));
	free(take_ptr(&tool->command));
	json_object_put(take_ptr(&tool->response));
	buf_release(&tool->result);
	tool->running = false;
}

void
fake_tool_cancel(struct fake *fake)
{
	if (!fake->tool.running)
		return;
	if (fake->tool.child != NULL)
		child_abandon(take_ptr(&fake->tool.child));
	fake_tool_clear(&fake->tool);
}

/* ---- after the command: PostToolUse or its failure, then the batch */

static void
fake_tool_batched(
    struct fake *fake, const struct fake_answer *answer, void *arg)
{
	(void)answer;
	(void)arg;
	fake->turn.fired = NULL;
	script_answer(&fake->turn.script, fake->tool.result.data);
	fake_tool_clear(&fake->tool);
	fake_turn_step(fake);
}

static void
fake_tool_batch(struct fake *fake, const struct fake_answer *answer, void *arg)
{
	struct fake_tool *tool = &fake->tool;
	struct json_object *event, *calls, *call;
	cleanup_buf struct buf context = BUF_INIT;

	(void)arg;
	if (answer != NULL && answer->context.len > 0) {
		buf_addf(&context,
		    "PostToolUse:Bash hook additional context: %s",
		    answer->context.data);
		fake_log_prompt(fake, context.data);
		fake_term_say(fake, "  ", context.data);
	}
	call = json_object_new_object();
	json_set_string(call, "tool_name", "Bash");
	json_set(call, "tool_input", fake_tool_input(tool));
	json_set_string(call, "tool_use_id", tool->id);
	json_set_string(call, "tool_response", tool->result.data);
	calls = json_object_new_array();
	json_object_array_add(calls, call);
	event = fake_event(
	    fake, "PostToolBatch", FAKE_WITH_MODE | FAKE_WITH_EFFORT);
	json_set(event, "tool_calls", calls);
	fake->turn.fired =
	    fake_fire(fake, event, "Bash", fake_tool_batched, NULL);
}

static void
fake_tool_finish(struct fake *fake)
{
	struct fake_tool *tool = &fake->tool;
	struct json_object *event;
	int64_t ms = clock_mono_ms() - tool->began_ms;

	fake_transcript_result(fake, tool->id, tool->result.data, tool->failed,
	    json_object_get(tool->response));
	event = fake_event_tool(fake,
	    tool->failed ? "PostToolUseFailure" : "PostToolUse",
	    fake_tool_input(tool));
	if (!tool->failed)
		json_set(event, "tool_response", take_ptr(&tool->response));
	json_set_string(event, "tool_use_id", tool->id);
	if (tool->failed) {
		json_set_string(event, "error", tool->result.data);
		json_set_bool(event, "is_interrupt", false);
	}
	json_set_int(event, "duration_ms", ms);
	fake->turn.fired =
	    fake_fire(fake, event, "Bash", fake_tool_batch, NULL);
}

static struct json_object *
fake_tool_response(const char *output, const char *task)
{
	struct json_object *response = json_object_new_object();

	json_set_string(response, "stdout", output);
	json_set_string(response, "stderr", "");
	json_set_bool(response, "interrupted", false);
	json_set_bool(response, "isImage", false);
	json_set_bool(response, "noOutputExpected", false);
	if (task != NULL)
		json_set_string(response, "backgroundTaskId", task);
	return response;
}

static void
fake_tool_done(const struct child_result *result, void *arg)
{
	struct fake *fake = arg;
	struct fake_tool *tool = &fake->tool;
	cleanup_buf struct buf output = BUF_INIT, error = BUF_INIT;

	tool->child = NULL;
	child_output_text(&result->out, &output);
	while (output.len > 0 && output.data[output.len - 1] == '\n')
		buf_truncate(&output, output.len - 1);
	tool->failed = !child_succeeded(result);
	if (tool->then != NULL) {
		fake_term_say(fake, "  ", output.data);
		fake_tool_clear(tool);
		tool->then(fake);
		return;
	}
	if (!tool->failed) {
		buf_adds(&tool->result,
		    output.len > 0 ? output.data :
				     "(Bash completed with no output)");
		tool->response = fake_tool_response(output.data, NULL);
		fake_tool_finish(fake);
		return;
	}
	buf_addf(&tool->result, "Exit code %d",
	    result->exited ? result->status : 128 + result->signal);
	if (output.len > 0)
		buf_addf(&tool->result, "\n%s", output.data);
	buf_addf(&error, "Error: %s", tool->result.data);
	tool->response = json_object_new_string(error.data);
	fake_tool_finish(fake);
}

/* ---- the command */

static int
fake_tool_spawn(struct fake *fake, const char *command, child_fn *done,
    void *arg, struct child **ret_child)
{
	cleanup_free char *session =
	    xasprintf("CLAUDE_CODE_SESSION_ID=%s", fake->session);
	cleanup_free char *pid = xasprintf("CLAUDE_PID=%d", (int)getpid());
	const char *env[] = { session, pid, "CLAUDECODE=1",
		"CLAUDE_CODE_ENTRYPOINT=cli", "GIT_EDITOR=true", NULL };
	struct child_spec spec = {
		.shell = command,
		.cwd = fake->cwd,
		.env = env,
		.output_max = TOOL_OUTPUT_MAX,
		.deadline_ms = TOOL_MS,
		.merge_stderr = true,
	};

	return child_spawn(fake->loop, &spec, done, arg, ret_child, NULL);
}

static void
fake_task_free(struct fake_task *task)
{
	TAILQ_REMOVE(&task->fake->tasks, task, entry);
	free(task->command);
	free(task);
}

void
fake_tool_free_tasks(struct fake *fake)
{
	struct fake_task *task;

	while ((task = TAILQ_FIRST(&fake->tasks)) != NULL) {
		if (task->child != NULL)
			child_abandon(task->child);
		fake_task_free(task);
	}
}

static void
fake_task_done(const struct child_result *result, void *arg)
{
	struct fake_task *task = arg;
	struct fake *fake = task->fake;
	cleanup_free char *text = xasprintf(
	    "<task-notification>\n<task-id>%s</task-id>\n"
	    "<tool-use-id>%s</tool-use-id>\n<status>%s</status>\n"
	    "<summary>Background command \"%s\" completed (exit code %d)"
	    "</summary>\n</task-notification>",
	    task->id, task->tool_use_id,
	    child_succeeded(result) ? "completed" : "failed", DESCRIPTION,
	    result->status);

	task->child = NULL;
	fake_task_free(task);
	fake_notify(fake, text);
}

static void
fake_tool_background(struct fake *fake)
{
	struct fake_tool *tool = &fake->tool;
	struct fake_task *task = xcalloc(1, sizeof(*task));
	char uuid[ID_UUID_SIZE];

	id_uuid(uuid);
	task->fake = fake;
	snprintf(task->id, sizeof(task->id), "b%.8s", uuid);
	memcpy(task->tool_use_id, tool->id, sizeof(tool->id));
	task->command = xstrdup(tool->command);
	TAILQ_INSERT_TAIL(&fake->tasks, task, entry);
	if (fake_tool_spawn(
		fake, tool->command, fake_task_done, task, &task->child) < 0)
		fake_quit(fake, 1);
	buf_addf(&tool->result, "Command running in background with ID: %.9s.",
	    task->id);
	tool->failed = false;
	tool->response = fake_tool_response("", task->id);
	fake_tool_finish(fake);
}

static void
fake_tool_exec(struct fake *fake)
{
	struct fake_tool *tool = &fake->tool;

	fake_status(fake, "busy", NULL);
	tool->began_ms = clock_mono_ms();
	if (tool->background)
		fake_tool_background(fake);
	else if (fake_tool_spawn(fake, tool->command, fake_tool_done, fake,
		     &tool->child) < 0)
		fake_quit(fake, 1);
}

/* ---- may it run? */

static void
fake_tool_deny(struct fake *fake, const char *reason)
{
	struct fake_tool *tool = &fake->tool;

	tool->failed = true;
	buf_adds(&tool->result, reason);
	fake_transcript_result(
	    fake, tool->id, reason, true, json_object_new_string(reason));
	fake_tool_batch(fake, NULL, NULL);
}

static void
fake_tool_noticed(
    struct fake *fake, const struct fake_answer *answer, void *arg)
{
	(void)answer;
	(void)arg;
	fake->tool.notice = NULL;
}

static void
fake_tool_notice(void *arg)
{
	struct fake *fake = arg;
	struct json_object *event = fake_event(fake, "Notification", 0);

	loop_timer_free(take_ptr(&fake->tool.notify));
	json_set_string(event, "message", "Claude needs your permission");
	json_set_string(event, "notification_type", "permission_prompt");
	fake->tool.notice = fake_fire(
	    fake, event, "permission_prompt", fake_tool_noticed, NULL);
}

void
fake_tool_allow(struct fake *fake)
{
	loop_timer_free(take_ptr(&fake->tool.notify));
	fake_tool_exec(fake);
}

static void
fake_tool_requested(
    struct fake *fake, const struct fake_answer *answer, void *arg)
{
	(void)arg;
	fake->turn.fired = NULL;
	if (answer->block) {
		fake_tool_deny(fake, answer->reason.data);
	} else if (answer->allow) {
		fake_tool_exec(fake);
	} else {
		fake_status(fake, "waiting", "permission prompt");
		fake_term_dialog(fake, FAKE_DIALOG_PERMISSION);
		fake->tool.notify = loop_after(fake->loop,
		    fake->options.notify_ms, fake_tool_notice, fake);
	}
}

static void
fake_tool_request(struct fake *fake)
{
	struct json_object *event = fake_event_tool(
	    fake, "PermissionRequest", fake_tool_input(&fake->tool));
	struct json_object *list = json_object_new_array(), *dirs, *one;

	dirs = json_object_new_array();
	json_object_array_add(dirs, json_object_new_string(fake->cwd));
	one = json_object_new_object();
	json_set_string(one, "type", "addDirectories");
	json_set(one, "directories", dirs);
	json_set_string(one, "destination", "session");
	json_object_array_add(list, one);
	one = json_object_new_object();
	json_set_string(one, "type", "setMode");
	json_set_string(one, "mode", "acceptEdits");
	json_set_string(one, "destination", "session");
	json_object_array_add(list, one);
	json_set(event, "permission_suggestions", list);
	fake->turn.fired =
	    fake_fire(fake, event, "Bash", fake_tool_requested, NULL);
}

/* Modes in which a shell command needs no permission. */
static bool
fake_mode_allows(const struct fake *fake)
{
	return fake->options.bash_allowed ||
	    strcmp(fake->options.mode, "bypassPermissions") == 0 ||
	    strcmp(fake->options.mode, "auto") == 0;
}

static void
fake_tool_hooked(struct fake *fake, const struct fake_answer *answer, void *arg)
{
	struct fake_tool *tool = &fake->tool;

	(void)arg;
	fake->turn.fired = NULL;
	if (answer->block)
		fake_tool_deny(fake, answer->reason.data);
	else if (answer->ask || (tool->ask && !answer->allow))
		fake_tool_request(fake);
	else if (answer->allow || fake_mode_allows(fake))
		fake_tool_exec(fake);
	else if (strcmp(fake->options.mode, "dontAsk") == 0)
		fake_tool_deny(fake, "Permission to use Bash was denied.");
	else
		fake_tool_request(fake);
}

void
fake_tool_run(struct fake *fake, const struct script_action *action)
{
	struct fake_tool *tool = &fake->tool;
	struct json_object *event;
	char uuid[ID_UUID_SIZE];

	id_uuid(uuid);
	buf_init(&tool->result);
	snprintf(tool->id, sizeof(tool->id), "toolu_%.23s", uuid);
	tool->command = xstrdup(action->command.data);
	tool->background = action->background;
	tool->ask = action->permission;
	tool->then = NULL;
	tool->running = true;
	fake_transcript_call(
	    fake, action->say.data, tool->id, fake_tool_input(tool));
	if (action->say.len > 0)
		fake_term_say(fake, "● ", action->say.data);
	fake_term_say(fake, "● Bash: ", tool->command);
	event = fake_event_tool(fake, "PreToolUse", fake_tool_input(tool));
	json_set_string(event, "tool_use_id", tool->id);
	fake->turn.fired =
	    fake_fire(fake, event, "Bash", fake_tool_hooked, NULL);
}

void
fake_tool_bare(
    struct fake *fake, const char *command, void (*then)(struct fake *fake))
{
	struct fake_tool *tool = &fake->tool;

	buf_init(&tool->result);
	tool->command = xstrdup(command);
	tool->background = false;
	tool->then = then;
	tool->running = true;
	fake_tool_exec(fake);
}

struct json_object *
fake_tool_tasks(struct fake *fake)
{
	struct json_object *list = json_object_new_array(), *json;
	struct fake_task *task;

	TAILQ_FOREACH (task, &fake->tasks, entry) {
		json = json_object_new_object();
		json_set_string(json, "id", task->id);
		json_set_string(json, "type", "shell");
		json_set_string(json, "status", "running");
		json_set_string(json, "description", DESCRIPTION);
		json_set_string(json, "command", task->command);
		json_object_array_add(list, json);
	}
	return list;
}
