/* SPDX-License-Identifier: ISC */

/* The run of the daemon: what it holds, how it begins, how it ends. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "client.h"
#include "clock.h"
#include "config.h"
#include "daemon.h"
#include "delivery.h"
#include "errtext.h"
#include "file.h"
#include "git-ask.h"
#include "git.h"
#include "id.h"
#include "json.h"
#include "lock.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "methods.h"
#include "pilot.h"
#include "server.h"
#include "settings.h"
#include "sibling.h"
#include "tmux.h"
#include "watch.h"
#include "workspace.h"

#define QUIET_MS 20 /* between looks whether the last child has ended */
#define STOP_MS  15000 /* for all sessions to end */

#define REGISTRATION_MAX 65536

const char *
daemon_branch(const struct daemon *d)
{
	return settings_string(d->settings, "repo.default_branch");
}

bool
daemon_lands_over_dirt(const struct daemon *d)
{
	return strcmp(settings_string(d->settings, "repo.dirty_checkout"),
		   "overlap") == 0;
}

/* --- settings -------------------------------------------------------- */

/* Options of the command line go over the file. */
static int
override(const struct daemon *d, struct settings *settings, struct err *err)
{
	const struct {
		const char *path, *value;
	} overrides[] = {
		{ "auto.concurrency", d->options->concurrency },
		{ "auto.task_pool_command", d->options->task_pool_command },
		{ "auto.post_accept_command", d->options->post_accept_command },
	};
	int r = 0;

	for (size_t i = 0; i < nitems(overrides) && r == 0; i++)
		if (overrides[i].value != NULL)
			r = settings_override(settings, overrides[i].path,
			    overrides[i].value, err);
	return r;
}

/* Warnings are told once a load; an error keeps the old settings. */
int
daemon_reload(struct daemon *d, struct err *err)
{
	cleanup_free char *file = workspace_path(d->workspace, "config.toml");
	struct settings_problems problems;
	struct settings *fresh = NULL;
	int r = config_load_with(
	    d->workspace, d->detected_branch, &fresh, &problems, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < problems.count && r == 0; i++)
		if (problems.list[i].fatal)
			r = err_set(err, -EINVAL, "%s:%u: %s", file,
			    problems.list[i].line, problems.list[i].text);
	settings_problems_release(&problems);
	if (r < 0) {
		settings_free(fresh);
		return r;
	}
	r = override(d, fresh, err);
	if (r < 0) {
		settings_free(fresh);
		return r;
	}
	settings_free(d->settings);
	d->settings = fresh;
	return 0;
}

static void
reload_and_tell(struct daemon *d)
{
	struct err err = { 0 };

	if (daemon_reload(d, &err) < 0)
		log_warnx("the new settings are wrong, the old ones stay: %s",
		    err.msg);
	else
		log_info("settings read again");
	patrol_start(d);
}

static void
config_changed(void *arg)
{
	reload_and_tell(arg);
}

static void
spool_changed(void *arg)
{
	hooks_drain(arg);
}

/* --- ports ----------------------------------------------------------- */

static int
open_ports(struct daemon *d, struct err *err)
{
	cleanup_free char *config = workspace_path(d->workspace, "tmux.conf");
	struct tmux_options tmux = {
		.command = settings_string(d->settings, "tmux.command"),
		.socket = settings_string(d->settings, "tmux.socket"),
		.config = config,
		.columns = (int)settings_int(d->settings, "tmux.columns"),
		.rows = (int)settings_int(d->settings, "tmux.rows"),
		.history_limit =
		    (int)settings_int(d->settings, "tmux.history_limit"),
	};
	struct git_options git = {
		.root = d->workspace->root,
		.run_hooks = settings_bool(d->settings, "repo.run_hooks"),
	};

	d->git = git_new(d->loop, &git);
	return tmux_new(d->loop, &tmux, &d->tmux, err);
}

/* A state that is not this root's, or has lost its workers, is not gone on
 * from: somebody wrote it who should not have. */
static int
check_state(const struct daemon *d, struct err *err)
{
	char root_id[ID_UUID_SIZE] = "";
	int missing = 0, r;

	if (d->oneshot)
		return 0;
	r = state_root_id(d->workspace, root_id, NULL);
	r = state_check(&d->state, r == 0 ? root_id : NULL, &missing, err);
	if (r == 0 && missing > 0)
		log_warnx("%d of the auto workers are missing in state.json; "
			  "they are made again",
		    missing);
	return r;
}

static int
load_state(struct daemon *d, struct err *err)
{
	cleanup_free char *recovered = NULL;
	int r = state_load(
	    d->workspace, clock_wall_ms(), &d->state, &recovered, err);

	if (r < 0)
		return r;
	if (recovered != NULL)
		log_warnx(
		    "the state was damaged, its backup is used: %s", recovered);
	r = check_state(d, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < d->state.count; i++)
		agent_new(d, d->state.workers[i]);
	return 0;
}

/* Who holds the lock: a daemon has registered, a single request has not. */
static int
tell_holder(const struct daemon *d, struct err *err)
{
	cleanup_free char *file = workspace_path(d->workspace, "daemon.json");
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *who = NULL;

	if (json_load(file, REGISTRATION_MAX, &json, NULL) == 0)
		who = xasprintf(
		    " (pid %lld)", (long long)json_int_or(json, "pid", 0));
	return err_set(err, -EAGAIN,
	    "another daemon%s owns %s; llmc status shows it, llmc down ends it",
	    who != NULL ? who : "", d->workspace->root);
}

static int
take_lock(struct daemon *d, struct err *err)
{
	cleanup_free char *file = workspace_path(d->workspace, "state.lock");
	int r = lock_try(file, err);

	if (r == -EAGAIN)
		return tell_holder(d, err);
	if (r < 0)
		return r;
	d->lock = r;
	return 0;
}

/* Before lock and socket: of a process that died the kernel closes the last
 * descriptors first, and inotify takes it 15 ms, for which who comes next need
 * not wait. */
static void
watch_config(struct daemon *d)
{
	cleanup_free char *config = workspace_path(d->workspace, "config.toml");

	if (!d->oneshot &&
	    watch_new(
		d->loop, config, config_changed, d, &d->config_watch, NULL) < 0)
		log_debug("config.toml is not watched");
}

int
daemon_new(struct loop *loop, const struct workspace *workspace,
    const struct daemon_options *options, struct daemon **ret_daemon,
    struct err *err)
{
	struct daemon *d = xcalloc(1, sizeof *d);
	char instance[ID_UUID_SIZE];
	int r;

	d->loop = loop;
	d->workspace = workspace;
	d->options = options;
	d->oneshot = options->oneshot;
	d->lock = -1;
	TAILQ_INIT(&d->waiters);
	TAILQ_INIT(&d->landings);
	state_init(&d->state);
	daemon_commit_init(d);
	id_uuid(instance);
	d->instance = xstrdup(instance);
	d->socket = client_socket_path(workspace);
	d->llmc = sibling_find("llmc");
	d->detected_branch = git_default_branch(workspace->root);
	watch_config(d);
	r = take_lock(d, err);
	if (r == 0)
		r = daemon_reload(d, err);
	if (r == 0)
		r = open_ports(d, err);
	if (r == 0)
		r = load_state(d, err);
	if (r == 0)
		r = pilot_new(d, err);
	if (r == 0 && d->llmc == NULL)
		r = err_set(
		    err, -ENOENT, "the program llmc is not found beside autod");
	if (r < 0) {
		daemon_free(d);
		return r;
	}
	*ret_daemon = d;
	return 0;
}

void
daemon_free(struct daemon *d)
{
	if (d == NULL)
		return;
	waiters_release(d);
	while (d->agent_count > 0)
		agent_free(d->agents[0]);
	free(d->agents);
	pilot_free(d->pilot);
	daemon_commit_release(d);
	server_free(d->server);
	tmux_free(d->tmux);
	git_free(d->git);
	watch_free(d->config_watch);
	watch_free(d->spool_watch);
	loop_timer_free(d->patrol);
	loop_timer_free(d->stop_deadline);
	loop_timer_free(d->quiet);
	for (size_t i = 0; i < nitems(d->signals); i++)
		loop_signal_free(d->signals[i]);
	state_release(&d->state);
	settings_free(d->settings);
	fd_close(d->lock);
	free(d->socket);
	free(d->llmc);
	free(d->instance);
	free(d->detected_branch);
	free(d);
}

/* --- the beginning --------------------------------------------------- */

static int
write_registration(const struct daemon *d, struct err *err)
{
	cleanup_free char *file = workspace_path(d->workspace, "daemon.json");
	cleanup_free char *log = workspace_path(d->workspace, "logs/autod.log");
	struct procref self = PROCREF_INIT;
	cleanup_json struct json_object *json = NULL;

	procref_set_self(&self);
	json = procref_to_json(&self);
	procref_release(&self);
	json_set_int(json, "start_time_unix", clock_wall_ms() / 1000);
	json_set_string(json, "instance_id", d->instance);
	json_set_string(json, "log_file", log);
	json_set_string(json, "socket", d->socket);
	json_set_string(json, "version", LLMC_VERSION);
	json_set_bool(json, "auto", d->options->auto_mode);
	return json_save(file, json, 0600, err);
}

static void
remove_registration(const struct daemon *d)
{
	cleanup_free char *file = workspace_path(d->workspace, "daemon.json");

	unlink(file);
	beat_remove(d);
}

/* What was under way when the last daemon ended is taken up again. */
static void
recover(struct agent *agent)
{
	struct worker *w = agent->worker;

	if (w->status == WORKER_ACCEPTING)
		landing_recover(agent);
	else if (w->status == WORKER_STARTING &&
	    w->session.step == PROMPT_NONE && w->prompt != NULL)
		tasks_start_again(agent);
	delivery_recovered(&w->session, clock_wall_ms());
}

/* No session of its own any more: what it was doing decides what comes. */
static void
lost_session(struct agent *agent)
{
	struct worker *w = agent->worker;

	json_object_put(take_ptr(&w->session.pane));
	w->session.ready = false;
	w->session.open_tools = 0;
	if (worker_in_turn(w->status)) {
		w->after = w->status;
		agent_move(agent, WORKER_OFFLINE, NULL);
		w->session.busy =
		    w->session.step == PROMPT_NONE; /* to be told to go on */
	} else if (w->status == WORKER_IDLE ||
	    (w->status == WORKER_STARTING && w->session.step != PROMPT_NONE)) {
		agent_move(agent, WORKER_OFFLINE, NULL);
	}
	daemon_changed(agent->daemon);
}

static void
begin_agent(struct agent *agent, const struct tmux_info *found)
{
	if (found != NULL && !found->dead &&
	    found->generation == agent->worker->session.generation)
		agent_adopt(agent, found->pane_pid);
	if (agent->phase == AGENT_NONE)
		lost_session(agent);
}

static void
begin(const struct tmux_info *list, size_t count, const struct err *err,
    void *arg)
{
	struct daemon *d = arg;

	if (err != NULL) {
		log_errorx("tmux: %s", err->msg);
		d->exit_status = 1;
		loop_stop(d->loop, 1);
		return;
	}
	for (size_t i = 0; i < d->agent_count; i++) {
		struct agent *agent = d->agents[i];
		const struct tmux_info *found = NULL;

		for (size_t j = 0; j < count; j++)
			if (strcmp(list[j].name, agent->session_name) == 0)
				found = &list[j];
		begin_agent(agent, found);
	}
	hooks_drain_all(d); /* what was said while nobody listened */
	for (size_t i = 0; i < d->agent_count; i++) {
		recover(d->agents[i]);
		agent_tick_later(d->agents[i], 1);
	}
	d->state.daemon_running = true;
	daemon_changed(d);
	pilot_begin(d);
	patrol_start(d);
	patrol_run(d);
}

static void
on_stop_signal(int signo, void *arg)
{
	struct daemon *d = arg;

	/* A failure of our own may be stopping us already: that is no first
	 * signal. */
	log_info("signal %d: stopping", signo);
	daemon_stop(d, d->signalled);
	d->signalled = true;
}

static void
on_reload_signal(int signo, void *arg)
{
	(void)signo;
	reload_and_tell(arg);
}

int
daemon_start(struct daemon *d, struct err *err)
{
	cleanup_free char *spool = workspace_path(d->workspace, "spool");
	int r =
	    server_new(d->loop, d->socket, methods_call, d, &d->server, err);

	if (r < 0)
		return r;
	r = write_registration(d, err);
	if (r < 0)
		return r;
	failure_clear(d);
	if (d->pilot->active)
		beat_start(d->pilot);
	d->signals[0] = loop_signal_new(d->loop, SIGTERM, on_stop_signal, d);
	d->signals[1] = loop_signal_new(d->loop, SIGINT, on_stop_signal, d);
	d->signals[2] = loop_signal_new(d->loop, SIGHUP, on_reload_signal, d);
	if (watch_new(d->loop, spool, spool_changed, d, &d->spool_watch, NULL) <
	    0)
		log_debug("the spool is not watched");
	if (d->state.daemon_running)
		log_info("the last daemon did not end properly; going on from "
			 "what it had written");
	tmux_list(d->tmux, begin, d);
	return 0;
}

/* --- the end --------------------------------------------------------- */

/* What a worker was doing is kept, but none is ready without a session. */
static void
set_offline(struct agent *agent)
{
	if (agent->phase == AGENT_NONE && agent->worker->status == WORKER_IDLE)
		agent_move(agent, WORKER_OFFLINE, NULL);
}

static void
stop_now(void *arg)
{
	struct daemon *d = arg;
	struct err err = { 0 };

	for (size_t i = 0; i < d->agent_count; i++)
		set_offline(d->agents[i]);
	supply_release(d->pilot);
	d->state.daemon_running = false;
	if (daemon_save(d, &err) < 0) {
		log_errorx("the state cannot be written: %s", err.msg);
		d->exit_status = 1;
	}
	remove_registration(d);
	loop_stop(d->loop, d->exit_status);
}

static bool
is_quiet(const struct daemon *d)
{
	for (size_t i = 0; i < d->agent_count; i++)
		if (d->agents[i]->phase != AGENT_NONE)
			return false;
	/* A git that is killed leaves its locks behind. */
	return !git_busy(d->git) && pilot_is_quiet(d);
}

static void
stop_when_quiet(void *arg)
{
	struct daemon *d = arg;

	if (is_quiet(d))
		stop_now(d);
}

/* Sessions end, worktrees stay. What a worker was doing is kept: the next
 * daemon resumes it. */
void
daemon_stop(struct daemon *d, bool now)
{
	if (now || d->oneshot) {
		for (size_t i = 0; i < d->agent_count; i++)
			procref_signal(&d->agents[i]->pane, SIGKILL);
		stop_now(d);
		return;
	}
	if (d->stopping)
		return;
	d->stopping = true;
	waiters_release(d);
	pilot_stop(d);
	/* Those that died too: tmux keeps their last screen. */
	for (size_t i = 0; i < d->agent_count; i++)
		agent_end(d->agents[i], stop_when_quiet, d);
	d->stop_deadline = loop_after(d->loop, STOP_MS, stop_now, d);
	d->quiet = loop_every(d->loop, QUIET_MS, stop_when_quiet, d);
}
