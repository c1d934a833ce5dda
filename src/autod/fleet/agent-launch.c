/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include <string.h>

#include "agent-guard.h"
#include "agent-launch.h"
#include "agent.h"
#include "box.h"
#include "buf.h"
#include "claude-home.h"
#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "launch-block.h"
#include "launch-choice.h"
#include "mem.h"
#include "op-box.h"
#include "op-setup.h"
#include "op-stand.h"
#include "run-dir.h"
#include "serve.h"
#include "settings.h"
#include "task-run.h"
#include "task.h"
#include "worker-limits.h"
#include "workspace.h"

#define LAUNCHES_MAX 4 /* at once: each start uses a CPU for seconds */
#define SLOT_MS      100 /* to wait for a free slot */
#define RETRY_MS     1000
#define FAILURES_MAX 3
#define STOP_BLOCKS  20 /* beyond auto.max_turns */

static size_t
count_launching(const struct fleet *fleet)
{
	size_t count = 0;

	for (size_t i = 0; i < fleet->count; i++)
		count += session_phase(fleet->agents[i]->session) ==
		    SESSION_LAUNCHING;
	return count;
}

void
agent_launch_failed(struct agent *agent, const struct err *err)
{
	const char *name = agent->worker->name;

	agent->start_failures++;
	agent->retry_ms =
	    clock_mono_ms() + RETRY_MS * (int64_t)agent->start_failures;
	if (agent->start_failures < FAILURES_MAX) {
		emit(agent->core,
		    &(struct event){ .kind = EVENT_LAUNCH_RETRIED,
			.worker = name,
			.reason = err->msg });
		agent_tick_later(agent, RETRY_MS);
		return;
	}
	agent->start_failures = 0;
	agent_move(agent, WORKER_ERROR, err->msg);
	emit(agent->core,
	    &(struct event){ .kind = EVENT_LAUNCH_FAILED,
		.worker = name,
		.reason = err->msg });
}

/* --- settings ---------------------------------------------------------- */

/* What its task wants instead. */
static void
choice_of(const struct agent *agent, struct launch_choice *ret_choice)
{
	const struct core *core = agent->core;
	const struct task *task = agent->worker->task != NULL ?
	    state_task(&core->state, agent->worker->task) :
	    NULL;

	launch_choice_make(
	    core->settings, task != NULL ? task->run : NULL, ret_choice);
}

/* Those that an agent is started with; the others are read when needed. */
static void
add_launch_settings(const struct agent *agent, struct buf *out)
{
	static const char *const keys[] = { "agent_command", "model",
		"permission_mode", "allow_root", "allowed_tools",
		"disallowed_tools", "append_system_prompt", "extra_args",
		"isolate", "sandbox", "sandbox_read", "sandbox_write",
		"sandbox_env", "user_namespace", "memory_max", "tasks_max",
		"cpu_weight" };
	cleanup_launch_choice struct launch_choice choice = { 0 };
	const struct settings *settings = agent->core->settings;

	for (size_t i = 0; i < nitems(keys); i++) {
		cleanup_json struct json_object *value = NULL;
		cleanup_buf struct buf path = BUF_INIT;

		settings_worker_path(
		    settings, agent->worker->name, keys[i], &path);
		if (settings_value(settings, path.data, &value, NULL))
			json_print(value, false, out);
		buf_addc(out, '\n');
	}
	choice_of(agent, &choice);
	launch_choice_print(&choice, out);
}

bool
agent_launch_is_stale(const struct agent *agent)
{
	cleanup_buf struct buf now = BUF_INIT;

	/* A session of an earlier daemon may have been started for a task that
	 * wanted something else. */
	if (agent->launched_with == NULL)
		return worker_is_team(agent->worker->name);
	add_launch_settings(agent, &now);
	return strcmp(agent->launched_with, now.data) != 0;
}

/* --- launching --------------------------------------------------------- */

/* Is there a conversation that the agent will find? One that began inside a
 * sandbox is not seen outside of it, and the other way round. */
static bool
can_resume(const struct agent *agent)
{
	const struct worker *w = agent->worker;
	cleanup_free char *dir =
	    box_claude_dir(agent->core->workspace, w->name);
	size_t len = strlen(dir);
	bool boxed = box_mode_of(agent->core->settings, w->name) != BOX_OFF;

	if (w->session.id == NULL || w->session.transcript == NULL ||
	    !file_exists(w->session.transcript))
		return false;
	return boxed ==
	    (strncmp(w->session.transcript, dir, len) == 0 &&
		w->session.transcript[len] == '/');
}

char *
agent_projects(const struct agent *agent)
{
	const struct core *core = agent->core;
	cleanup_free char *dir = NULL;

	if (box_mode_of(core->settings, agent->worker->name) != BOX_OFF)
		dir = box_claude_dir(core->workspace, agent->worker->name);
	return claude_home_projects(dir);
}

/* Resume the conversation if there is one; otherwise start a new one. */
static void
launch(struct agent *agent)
{
	struct core *core = agent->core;
	const struct worker *w = agent->worker;
	cleanup_free char *socket = run_dir_socket(core->workspace, w->name);
	cleanup_free char *projects = agent_projects(agent);
	struct session_launch how = {
		.settings = core->settings,
		.cwd = w->worktree,
		.socket = socket,
		.projects = projects,
		.sandboxed = true,
		.guarded = true,
		.resume = can_resume(agent),
		.stop_blocks_max = STOP_BLOCKS +
		    (int)settings_int(core->settings, "auto.max_turns"),
		.start_timeout_ms = agent_duration(agent, "start_timeout"),
	};
	cleanup_launch_choice struct launch_choice choice = { 0 };
	cleanup_buf struct buf with = BUF_INIT;
	struct err err = { 0 };

	choice_of(agent, &choice);
	how.choice = &choice;
	if (run_dir_make(core->workspace, w->name, &err) < 0 ||
	    agent_guard_write(agent, &err) < 0 ||
	    serve_open_door(core, w->name, &err) < 0) {
		agent_launch_failed(agent, &err);
		return;
	}
	worker_limits_prepare(agent, &how);
	agent->resuming = how.resume;
	add_launch_settings(agent, &with);
	xstrset(&agent->launched_with, with.data);
	session_launch(agent->session, &how);
	emit(agent->core,
	    &(struct event){ .kind = EVENT_LAUNCHING,
		.worker = w->name,
		.session = w->session.id,
		.resume = how.resume ? "yes" : "no" });
}

void
agent_launch(struct agent *agent)
{
	if (count_launching(agent->fleet) >= LAUNCHES_MAX)
		agent_tick_later(agent, SLOT_MS);
	else if (!launch_block_check(agent) && !op_box(agent) &&
	    !op_stand(agent) && !op_setup(agent))
		launch(agent);
}
