/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <signal.h>

#include "asks.h"
#include "client.h"
#include "core-settings.h"
#include "core.h"
#include "daily-copy.h"
#include "emit.h"
#include "event-table.h"
#include "git.h"
#include "heartbeat.h"
#include "ladder.h"
#include "life.h"
#include "loop.h"
#include "obstacle.h"
#include "persist.h"
#include "person.h"
#include "procref.h"
#include "serve.h"
#include "server.h"
#include "settings.h"
#include "sibling.h"
#include "version.h"
#include "watch.h"
#include "workspace.h"

/* --- the registration --------------------------------------------------- */

#define FILE_MAX 65536

static int
registration_write(const struct core *core, struct err *err)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "daemon.json");
	cleanup_free char *log =
	    workspace_path(core->workspace, "logs/autod.log");
	struct procref self = PROCREF_INIT;
	cleanup_json struct json_object *json = NULL;

	procref_set_self(&self);
	json = procref_to_json(&self);
	procref_release(&self);
	json_set_int(json, "start_time_unix", clock_wall_ms() / 1000);
	json_set_string(json, "instance_id", core->instance);
	json_set_string(json, "log_file", log);
	json_set_string(json, "socket", core->socket);
	json_set_string(json, "version", LLMC_VERSION);
	json_set_string(json, "landing_branch", core->branch);
	json_set_bool(json, "auto", core->options->auto_mode);
	return json_save(file, json, 0600, err);
}

/* ended.json: this daemon ends because its work is done, or because a person
 * wants it to. Without it, the overseer takes every end for a failure. */
static int
registration_declare_end(
    const struct core *core, const char *why, struct err *err)
{
	cleanup_free char *file = workspace_path(core->workspace, "ended.json");
	struct procref self = PROCREF_INIT;
	cleanup_json struct json_object *json = NULL;

	procref_set_self(&self);
	json = procref_to_json(&self);
	procref_release(&self);
	json_set_string(json, "instance_id", core->instance);
	json_set_string(json, "why", why);
	json_set_int(json, "at_unix", clock_wall_ms() / 1000);
	return json_save(file, json, 0600, err);
}

int
registration_describe_holder(const struct core *core, struct err *err)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "daemon.json");
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *who = NULL;

	if (json_load(file, FILE_MAX, &json, NULL) == 0)
		who = xasprintf(
		    " (pid %lld)", (long long)json_int_or(json, "pid", 0));
	return err_set(err, -EAGAIN,
	    "another daemon%s owns %s; llmc status shows it, llmc down stops it",
	    who != NULL ? who : "", core->workspace->root);
}

#define QUIET_MS     20 /* interval of checks whether everything has ended */
#define HAND_OVER_MS 2 /* the same, before another takes over */
#define STOP_MS      15000 /* limit for everything to end */

struct life {
	struct core *core;
	size_t begun; /* number of floors that have begun */
	bool over; /* the last state was saved */
	bool signalled; /* a stop signal was received */
	const char *complete; /* why the run is over, NULL = it is not */
	uint64_t patrols;
	bool keep; /* the sessions, for the next daemon */
	struct loop_timer *patrol, *deadline, *quiet;
	struct daily_copy *copy;
	struct watch *config;
	struct loop_signal *signals[3];
};

/* Have all floors begun? */
static bool
all_begun(const struct life *life)
{
	return life->begun == life->core->floor_count;
}

/* --- patrol ----------------------------------------------------------- */

static void
patrol(struct core *core, bool all)
{
	if (core->stopping || !all_begun(core->life))
		return;
	if (obstacle_clear(core))
		persist_panes_again(core);
	obstacle_look_files(core);
	/* From the top, so that the fleet sees what auto mode decides. */
	for (size_t i = core->floor_count; i-- > 0;)
		if (core->floors[i]->patrol != NULL)
			core->floors[i]->patrol(core->floors[i]->self, all);
}

void
life_patrol(struct core *core)
{
	patrol(core, true);
}

uint64_t
life_patrols(const struct core *core)
{
	return core->life->patrols;
}

static void
on_patrol(void *arg)
{
	struct life *life = arg;

	life->patrols++;
	patrol(life->core, false);
	daily_copy_patrol(life->copy);
	messages_file(life->core);
	asks_remind(life->core);
	heartbeat_awake(life->core->heartbeat);
	rest_now(life->core);
}

static void
start_patrol(struct life *life)
{
	const struct core *core = life->core;
	int64_t ms =
	    settings_duration(core->settings, "daemon.patrol_interval");
	int64_t look = silence_look_ms(
	    settings_duration(core->settings, "overseer.stall_timeout"));

	loop_timer_free(life->patrol);
	life->patrol =
	    loop_every(core->loop, ms < look ? ms : look, on_patrol, life);
}

/* --- settings --------------------------------------------------------- */

static void
on_reloaded(const struct err *err, void *arg)
{
	struct life *life = arg;

	if (err != NULL && err->code == -ECANCELED)
		return;
	if (err != NULL)
		EMIT(life->core, EVENT_SETTINGS_WRONG, .reason = err->msg);
	else
		EMIT(life->core, EVENT_SETTINGS_READ);
	/* What a person is asked depends on them too. */
	persist_changed(life->core);
	if (all_begun(life))
		start_patrol(life);
}

void
life_reload(struct core *core)
{
	reload_begin(core, on_reloaded, core->life);
}

/* A file that is missing is being replaced, or goes together with its folder:
 * what was read stays in effect. */
static void
on_config_changed(void *arg)
{
	struct core *core = arg;
	cleanup_free char *config =
	    workspace_path(core->workspace, "config.toml");

	if (file_exists(config))
		life_reload(core);
}

/* --- the beginning ---------------------------------------------------- */

static void
on_stop_signal(int signo, void *arg)
{
	struct life *life = arg;
	char reason[32];

	/* The second signal stops at once. A stop for a failure does not count
	 * as the first. */
	snprintf(reason, sizeof reason, "signal %d", signo);
	life_stop(life->core, reason, life->signalled);
	life->signalled = true;
}

static void
on_reload_signal(int signo, void *arg)
{
	struct life *life = arg;

	(void)signo;
	life_reload(life->core);
}

static void
begin_floor(struct life *life)
{
	struct core *core = life->core;

	while (life->begun < core->floor_count) {
		const struct core_floor *floor = core->floors[life->begun];

		if (floor->begin != NULL) {
			floor->begin(floor->self);
			return;
		}
		life->begun++;
	}
	serve_release(core);
	start_patrol(life);
	life_patrol(core);
	rest_soon(core);
}

void
life_floor_begun(struct core *core)
{
	core->life->begun++;
	if (!core->stopping) /* else the others do not begin any more */
		begin_floor(core->life);
}

int
life_begin(struct core *core, struct err *err)
{
	struct life *life = core->life;
	const char *missing = serve_missing(core);
	int r;
	cleanup_free char *file = NULL;

	if (missing != NULL)
		fatalx("no handler for %s", missing);
	serve_hold(core);
	r = serve_listen(core, err);
	if (r == 0)
		r = registration_write(core, err);
	if (r < 0)
		return r;
	/* At the start of a run: remove what the last one left. */
	file = workspace_path(core->workspace, "failure.json");
	unlink(file);
	messages_begin(core);
	if (core->options->auto_mode)
		core->heartbeat = heartbeat_new(core);
	life->signals[0] =
	    loop_signal_new(core->loop, SIGTERM, on_stop_signal, life);
	life->signals[1] =
	    loop_signal_new(core->loop, SIGINT, on_stop_signal, life);
	life->signals[2] =
	    loop_signal_new(core->loop, SIGHUP, on_reload_signal, life);
	if (core->state.daemon_running && core->options->restart.count == 0)
		EMIT(core, EVENT_DAEMON_RESUMES);
	core->state.daemon_running = true;
	persist_changed(core);
	begin_floor(life);
	return 0;
}

/* --- the end ---------------------------------------------------------- */

/* Before the process is gone: its end is judged then. */
static void
declare_end(const struct life *life)
{
	struct core *core = life->core;
	struct err err = { 0 };

	if (life->complete == NULL || core->options->oneshot || core->evicted ||
	    registration_declare_end(core, life->complete, &err) == 0)
		return;
	log_info("ended.json: %s", err.msg);
	core->exit_status = 1;
}

static void
finish(struct life *life, bool now)
{
	struct core *core = life->core;
	struct err err = { 0 };

	if (life->over)
		return;
	life->over = true;
	for (size_t i = core->floor_count; i-- > 0 && !life->keep;)
		if (core->floors[i]->close != NULL)
			core->floors[i]->close(core->floors[i]->self, now);
	if (!life->keep)
		core->state.daemon_running = false;
	if (persist_flush(core, &err) < 0) {
		EMIT(core, EVENT_STATE_UNWRITTEN, .reason = err.msg);
		core->exit_status = 1;
		life->complete = NULL;
		core->restarts = false;
	}
	declare_end(life);
	if (!core->restarts) {
		cleanup_free char *file =
		    workspace_path(core->workspace, "daemon.json");

		if (!core->evicted)
			unlink(file);
	}
	heartbeat_free(take_ptr(&core->heartbeat));
	loop_stop(core->loop, core->exit_status);
}

static bool
is_quiet(const struct core *core)
{
	for (size_t i = 0; i < core->floor_count && !core->life->keep; i++)
		if (core->floors[i]->is_quiet != NULL &&
		    !core->floors[i]->is_quiet(core->floors[i]->self))
			return false;
	/* If git were killed, it would leave its lock files. */
	return !git_busy(core->git);
}

static void
on_deadline(void *arg)
{
	finish(arg, true);
}

static void
on_quiet_check(void *arg)
{
	struct life *life = arg;

	if (is_quiet(life->core))
		finish(life, false);
}

void
life_stop(struct core *core, const char *reason, bool now)
{
	struct life *life = core->life;

	if (!core->stopping)
		EMIT(core, EVENT_DAEMON_STOPPING, .reason = reason);
	if (now || core->options->oneshot) {
		core->stopping = true;
		finish(life, true);
		return;
	}
	if (core->stopping)
		return;
	core->stopping = true;
	serve_release(core);
	for (size_t i = core->floor_count; i-- > 0;)
		if (core->floors[i]->stop != NULL)
			core->floors[i]->stop(core->floors[i]->self);
	life->deadline = loop_after(core->loop, STOP_MS, on_deadline, life);
	life->quiet = loop_every(core->loop, QUIET_MS, on_quiet_check, life);
}

/* Stop as if it were killed, but between two writes and with no git running:
 * the sessions go on, and the next daemon takes them over. */
static void
hand_over(struct core *core, const char *reason)
{
	struct life *life = core->life;

	if (core->stopping)
		return;
	EMIT(core, EVENT_DAEMON_STOPPING, .reason = reason);
	life->keep = true;
	core->stopping = true;
	serve_release(core);
	life->deadline = loop_after(core->loop, STOP_MS, on_deadline, life);
	life->quiet =
	    loop_every(core->loop, HAND_OVER_MS, on_quiet_check, life);
}

void
life_hand_on(struct core *core, struct restart *ret_restart)
{
	const struct core_floor *floor;
	int ends[2];

	restart_hold_signals();
	*ret_restart =
	    (struct restart){ .count = core->options->restart.count + 1,
		    .lock = restart_keep(core->lock) };
	snprintf(ret_restart->instance, sizeof ret_restart->instance, "%s",
	    core->instance);
	if (fd_channel_pair(ends) < 0)
		return;
	for (size_t i = 0; i < core->floor_count; i++) {
		floor = core->floors[i];
		if (floor->hand_on != NULL)
			floor->hand_on(floor->self, ends[1]);
	}
	fd_close(ends[1]);
	ret_restart->kept = restart_keep(ends[0]);
	fd_close(ends[0]);
}

void
life_complete(struct core *core, const char *reason, bool now)
{
	core->life->complete = reason;
	life_stop(core, reason, now);
}

bool
life_is_complete(const struct core *core)
{
	return core->life->complete != NULL;
}

bool
life_is_overseen(const struct core *core)
{
	cleanup_free char *lock =
	    workspace_path(core->workspace, "overseer.lock");

	return lock_is_held(lock) == 1;
}

static void
on_failure(struct core *core)
{
	persist_changed(core);
	core->exit_status = core->evicted ? FAILURE_EXIT_ROOT_GONE : 1;
	life_stop(core, "failure", false);
}

/* --- methods ---------------------------------------------------------- */

static void
on_info(void *arg, struct server_call *call, struct json_object *params)
{
	const struct core *core = arg;
	struct json_object *result = json_object_new_object();

	(void)params;
	json_set_string(result, "version", LLMC_VERSION);
	json_set_int(result, "pid", getpid());
	json_set_string(result, "instance_id", core->instance);
	json_set_int(result, "lag_ms", loop_lag_ms(core->loop));
	json_set_int(result, "turns", (int64_t)loop_passes(core->loop));
	json_set_int(result, "workers", (int64_t)core->state.count);
	json_set_bool(result, "auto", core->options->auto_mode);
	json_set_int(result, "restarts", core->options->restart.count);
	server_reply(call, result);
}

static void
on_asked_reload(const struct err *err, void *arg)
{
	if (err != NULL)
		serve_refuse(arg, API_FAILED, "%s", err->msg);
	else
		server_reply(arg, NULL);
}

static void
on_reload(void *arg, struct server_call *call, struct json_object *params)
{
	(void)params;
	reload_begin(arg, on_asked_reload, call);
}

static void
on_stop(void *arg, struct server_call *call, struct json_object *params)
{
	struct core *core = arg;
	bool again = json_bool_or(params, "again", false);
	cleanup_free char *program = again ? sibling_find("autod") : NULL;

	if (again && core->stopping) {
		serve_refuse(call, API_BUSY, "the daemon is stopping");
		return;
	}
	if (again && program == NULL) {
		serve_refuse(call, API_FAILED,
		    "the program autod is not there any more; nothing has "
		    "changed");
		return;
	}
	server_reply(call, json_object_new_int64(getpid()));
	if (json_bool_or(params, "keep", false)) {
		core->restarts = again;
		hand_over(core,
		    again ? "llmc restart: the program on disk takes over" :
			    "another daemon takes over");
		return;
	}
	life_complete(
	    arg, "stopped with llmc down", json_bool_or(params, "now", false));
}

void
life_register(struct core *core)
{
	serve_handle(core, "daemon.info", on_info, core);
	serve_handle(core, "daemon.reload", on_reload, core);
	serve_handle(core, "daemon.stop", on_stop, core);
}

/* --- the object ----------------------------------------------------------- */

struct life *
life_new(struct core *core)
{
	cleanup_free char *config =
	    workspace_path(core->workspace, "config.toml");
	struct life *life = xcalloc(1, sizeof *life);

	life->core = core;
	life->copy = daily_copy_new(core);
	core->on_failure = on_failure;
	/* Before lock and socket: when a process dies, the kernel closes the
	 * last descriptors first, and closing inotify takes 15 ms. In this
	 * order the next daemon need not wait for it. */
	if (!core->options->oneshot &&
	    watch_new(core->loop, config, on_config_changed, core,
		&life->config, NULL) < 0)
		log_debug("config.toml is not watched");
	return life;
}

void
life_free(struct life *life)
{
	if (life == NULL)
		return;
	loop_timer_free(life->patrol);
	loop_timer_free(life->deadline);
	loop_timer_free(life->quiet);
	watch_free(life->config);
	daily_copy_free(life->copy);
	for (size_t i = 0; i < nitems(life->signals); i++)
		loop_signal_free(life->signals[i]);
	free(life);
}
