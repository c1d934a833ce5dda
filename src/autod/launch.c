/* SPDX-License-Identifier: ISC */

/* The beginning of a worker's session: launched, resumed or adopted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "buf.h"
#include "claude-home.h"
#include "claude.h"
#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "id.h"
#include "json.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "settings.h"
#include "setup.h"
#include "tmux.h"
#include "workspace.h"

#define LAUNCHES_MAX 4 /* at once: each start takes a CPU for seconds */
#define TURN_MS      100 /* to wait for one's turn */
#define RETRY_MS     1000
#define FAILURES_MAX 3
#define GATE_CAP     20 /* blocks of a Stop that Claude Code lets through */

static size_t
count_launching(const struct daemon *d)
{
	size_t count = 0;

	for (size_t i = 0; i < d->agent_count; i++)
		count += d->agents[i]->phase == AGENT_LAUNCHING;
	return count;
}

/* A program by another name than Claude's has its own first-run ways. */
static bool
runs_claude(const char *command)
{
	const char *slash = strrchr(command, '/');

	return strcmp(slash != NULL ? slash + 1 : command, "claude") == 0;
}

/* Would a dialog come up that nobody answers? Then the worker waits for a
 * person, with the words of what to type. */
static bool
agent_blocked_by_dialog(struct agent *agent)
{
	const struct daemon *d = agent->daemon;
	const char *home = getenv("HOME");
	cleanup_buf struct buf path = BUF_INIT, words = BUF_INIT;
	struct err err = { 0 };
	unsigned problems;

	settings_worker_path(
	    d->settings, agent->worker->name, "agent_command", &path);
	if (home == NULL ||
	    !runs_claude(settings_string(d->settings, path.data)))
		return false;
	problems = claude_home_check(
	    home, d->workspace->root, getenv("ANTHROPIC_API_KEY"), &err);
	if (problems == 0)
		return false;
	for (unsigned bit = 1; bit <= CLAUDE_FILE_BROKEN; bit <<= 1)
		if (problems & bit)
			buf_addf(&words, "%s%s", words.len > 0 ? "; " : "",
			    claude_home_words(bit));
	buf_adds(&words,
	    problems & CLAUDE_NOT_ONBOARDED ?
		": start claude once by hand, then run: llmc trust" :
		": run: llmc trust");
	buf_addf(&words, ", then: llmc reset %s", agent->worker->name);
	agent->phase = AGENT_NONE;
	agent_move(agent, WORKER_PAUSED, words.data);
	return true;
}

static void
agent_launch_failed(struct agent *agent, const struct err *err)
{
	agent->phase = AGENT_NONE;
	agent->start_failures++;
	agent->retry_ms =
	    clock_mono_ms() + RETRY_MS * (int64_t)agent->start_failures;
	if (agent->start_failures < FAILURES_MAX) {
		log_info("%s: no session, will try again: %s",
		    agent->worker->name, err->msg);
		agent_tick_later(agent, RETRY_MS);
		return;
	}
	agent->start_failures = 0;
	agent_move(agent, WORKER_ERROR, err->msg);
	log_errorx("%s: the session cannot be started: %s", agent->worker->name,
	    err->msg);
}

/* Watch the agent's own process: epoll tells of its death at once. */
static int
agent_watch_pane(struct agent *agent, pid_t pid)
{
	int r = procref_set(&agent->pane, pid);

	if (r < 0)
		return r;
	json_object_put(agent->worker->session.pane);
	agent->worker->session.pane = procref_to_json(&agent->pane);
	if (agent->pane.pidfd >= 0)
		agent->pane_watch = loop_watch_new(agent->daemon->loop,
		    agent->pane.pidfd, LOOP_READ, agent_pane_event, agent);
	daemon_changed(agent->daemon);
	return 0;
}

static void
agent_started(pid_t pid, const struct err *error, void *arg)
{
	struct agent *agent = arg;
	struct err err = { 0 };

	agent->tmux_busy = false;
	/* The session itself may have been heard before tmux. */
	if (agent->phase != AGENT_LAUNCHING && agent->phase != AGENT_UP)
		return; /* ended meanwhile */
	if (error != NULL) {
		agent_launch_failed(agent, error);
		return;
	}
	if (agent_watch_pane(agent, pid) < 0) {
		err_set(&err, -ESRCH,
		    "the agent ended at once; look with: "
		    "llmc peek %s",
		    agent->worker->name);
		agent_launch_failed(agent, &err);
		if (agent->resume)
			agent_resume_failed(agent);
		return;
	}
	agent_tick_later(agent,
	    agent->phase == AGENT_UP ?
		1 :
		agent_duration(agent, "start_timeout") + 1);
}

static void
agent_old_gone(const struct err *error, void *arg)
{
	struct agent *agent = arg;
	struct daemon *d = agent->daemon;
	const char *const pane[] = { d->llmc, "pane", NULL, NULL };
	const char *argv[nitems(pane)];
	struct tmux_session session = {
		.name = agent->session_name,
		.role = "worker",
		.worker = agent->worker->name,
		.generation = agent->worker->session.generation,
		.cwd = agent->worker->worktree,
		.argv = argv,
	};

	agent->tmux_busy = false;
	if (agent->phase != AGENT_LAUNCHING)
		return;
	if (error != NULL) {
		agent_launch_failed(agent, error);
		return;
	}
	memcpy(argv, pane, sizeof argv);
	argv[2] = agent->launcher;
	agent->tmux_busy = true;
	tmux_start(d->tmux, &session, agent_started, agent);
}

static void
agent_launch_now(void *arg)
{
	struct agent *agent = arg;
	struct daemon *d = agent->daemon;
	struct worker *w = agent->worker;
	struct claude_launch launch = {
		.workspace = d->workspace,
		.settings = d->settings,
		.worker = w->name,
		.cwd = w->worktree,
		.generation = w->session.generation,
		.session = w->session.id,
		.resume = agent->resume,
		.llmc = d->llmc,
		.socket = d->socket,
		.max_turns =
		    GATE_CAP + (int)settings_int(d->settings, "auto.max_turns"),
	};
	struct err err = { 0 };

	free(take_ptr(&agent->launcher));
	if (claude_prepare(&launch, &agent->launcher, &err) < 0) {
		agent_launch_failed(agent, &err);
		return;
	}
	log_fields(LOG_LEVEL_INFO, "launching", "worker", w->name, "session",
	    w->session.id, "resume", agent->resume ? "yes" : "no", NULL);
	agent->tmux_busy = true;
	agent->launched_ms = clock_mono_ms();
	tmux_kill(d->tmux, agent->session_name, agent_old_gone, agent);
}

/* --- what the worktree needs ----------------------------------------- */

static void
setup_done(const struct err *err, void *arg)
{
	struct agent *agent = arg;

	setup_free(take_ptr(&agent->setup));
	agent->operating = false;
	if (err != NULL) {
		agent_move(agent, WORKER_ERROR, err->msg);
		log_errorx("%s: %s", agent->worker->name, err->msg);
	}
	agent_tick_later(agent, 1);
}

/* True while the worktree is not ready for a session. */
static bool
sets_up(struct agent *agent)
{
	struct daemon *d = agent->daemon;
	const char *home = getenv("HOME");
	cleanup_free char *dir = workspace_path(d->workspace, "setup");
	cleanup_free char *stamp = file_join(dir, agent->worker->name);
	cleanup_free char *serena =
	    xasprintf("%s/.serena/serena_config.yml", home != NULL ? home : "");
	struct setup_spec spec = {
		.root = d->workspace->root,
		.worktree = agent->worker->worktree,
		.stamp = stamp,
		.command = settings_string(d->settings, "repo.setup_command"),
		.timeout_ms =
		    settings_duration(d->settings, "repo.setup_timeout"),
		.serena_name = settings_bool(d->settings, "repo.serena") ?
		    agent->session_name :
		    NULL,
		.serena_config = serena,
	};

	settings_list(d->settings, "repo.copy_files", &spec.copy_files);
	if (agent->setup != NULL)
		return true;
	if ((spec.copy_files[0] == NULL && spec.command[0] == '\0' &&
		spec.serena_name == NULL) ||
	    !setup_is_due(&spec))
		return false;
	if (file_mkdirs(dir, 0700, NULL) < 0)
		log_debug("%s cannot be made", dir);
	agent->operating = true;
	agent->setup = setup_begin(d->loop, &spec, setup_done, agent);
	return true;
}

/* A conversation worth keeping is resumed; else a new one begins. */
void
agent_launch(struct agent *agent)
{
	struct worker *w = agent->worker;
	char session[ID_UUID_SIZE];

	if (count_launching(agent->daemon) >= LAUNCHES_MAX) {
		agent_tick_later(agent, TURN_MS);
		return;
	}
	if (agent_blocked_by_dialog(agent) || sets_up(agent))
		return;
	agent_unwatch(agent);
	agent->phase = AGENT_LAUNCHING;
	agent->compacting = false;
	agent->resume = w->session.id != NULL &&
	    w->session.transcript != NULL && file_exists(w->session.transcript);
	if (!agent->resume) {
		id_uuid(session);
		xstrset(&w->session.id, session);
		xstrset(&w->session.transcript, NULL);
	}
	w->session.generation++;
	w->session.ready = false;
	w->session.open_tools = 0;
	daemon_changed(agent->daemon);
	daemon_then(agent->daemon, agent, agent_launch_now, agent);
}

void
agent_adopt(struct agent *agent, pid_t pane_pid)
{
	struct worker *w = agent->worker;

	if (agent_watch_pane(agent, pane_pid) < 0)
		return;
	agent->phase = w->session.ready ? AGENT_UP : AGENT_LAUNCHING;
	agent->launched_ms = clock_mono_ms();
	agent_follow(agent);
	log_fields(
	    LOG_LEVEL_INFO, "running session adopted", "worker", w->name, NULL);
}
