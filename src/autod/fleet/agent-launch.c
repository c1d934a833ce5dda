/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "agent-launch.h"
#include "agent.h"
#include "buf.h"
#include "claude-home.h"
#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"
#include "op-setup.h"
#include "settings.h"
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

/* Other programs than Claude have no first-run dialogs that we know of. */
static bool
runs_claude(const char *command)
{
	const char *slash = strrchr(command, '/');

	return strcmp(slash != NULL ? slash + 1 : command, "claude") == 0;
}

/* Would a dialog appear that nobody answers? Then pause the worker, with a
 * reason that says what to type. */
static bool
is_blocked_by_dialog(struct agent *agent)
{
	const char *home = getenv("HOME");
	cleanup_buf struct buf reason = BUF_INIT;
	struct err err = { 0 };
	unsigned problems;

	if (home == NULL || !runs_claude(agent_string(agent, "agent_command")))
		return false;
	problems = claude_home_check(home, agent->core->workspace->root,
	    getenv("ANTHROPIC_API_KEY"), &err);
	if (problems == 0)
		return false;
	for (unsigned bit = 1; bit <= CLAUDE_FILE_BROKEN; bit <<= 1)
		if (problems & bit)
			buf_addf(&reason, "%s%s", reason.len > 0 ? "; " : "",
			    claude_home_words(bit));
	buf_adds(&reason,
	    problems & CLAUDE_NOT_ONBOARDED ?
		": start claude once by hand, then run: llmc trust" :
		": run: llmc trust");
	buf_addf(&reason, ", then: llmc reset %s", agent->worker->name);
	agent_move(agent, WORKER_PAUSED, reason.data);
	return true;
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

/* Resume the conversation if there is one; otherwise start a new one. */
static void
launch(struct agent *agent)
{
	const struct core *core = agent->core;
	const struct worker *w = agent->worker;
	struct session_launch how = {
		.settings = core->settings,
		.cwd = w->worktree,
		.socket = core->socket,
		.resume = w->session.id != NULL &&
		    w->session.transcript != NULL &&
		    file_exists(w->session.transcript),
		.stop_blocks_max = STOP_BLOCKS +
		    (int)settings_int(core->settings, "auto.max_turns"),
		.start_timeout_ms = agent_duration(agent, "start_timeout"),
	};

	agent->resuming = how.resume;
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
	else if (!is_blocked_by_dialog(agent) && !op_setup(agent))
		launch(agent);
}
