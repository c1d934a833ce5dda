/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>

#include "book.h"
#include "client.h"
#include "core.h"
#include "emit.h"
#include "event-table.h"
#include "git.h"
#include "ladder.h"
#include "life.h"
#include "loop.h"
#include "persist.h"
#include "person.h"
#include "procref.h"
#include "serve.h"
#include "server.h"
#include "settings.h"
#include "sibling.h"
#include "task.h"
#include "version.h"
#include "worker.h"
#include "workspace.h"

/* --- failures ----------------------------------------------------------- */

static const char *
scope_of(const struct failure *f)
{
	return failure_scope_name(failure_class_find(f->class)->scope);
}

/* Without its landing branch, git fails in many places. */
static bool
is_of_branch(const struct failure *f)
{
	enum failure_scope scope = failure_class_find(f->class)->scope;

	return scope == FAILURE_SCOPE_WORKER || scope == FAILURE_SCOPE_LANDING;
}

void
failure_raise(struct core *core, const struct failure *f)
{
	cleanup_free char *lost =
	    is_of_branch(f) ? landing_branch_lost(core) : NULL;
	struct failure of_branch = {
		.class = "landing_branch", .status = -1, .reason = lost
	};

	if (core->stopping)
		return;
	if (lost != NULL)
		f = &of_branch;
	core->state.errors++;
	persist_changed(core);
	if (!core->evicted) {
		cleanup_free char *file =
		    workspace_path(core->workspace, "failure.json");
		cleanup_json struct json_object *json =
		    json_object_new_object();
		struct err err = { 0 };

		json_set_string(json, "class", f->class);
		json_set_string(json, "scope", scope_of(f));
		json_set_string(json, "worker", f->worker);
		json_set_string(json, "task", f->task);
		json_set(json, "exit_status",
		    f->status >= 0 ? json_object_new_int(f->status) : NULL);
		json_set_string(json, "words", f->reason);
		json_set_int(json, "at_unix", clock_wall_ms() / 1000);
		json_set_string(json, "instance_id", core->instance);
		if (json_save(file, json, 0600, &err) < 0)
			EMIT(core, EVENT_STATE_UNWRITTEN, .reason = err.msg);
	}
	EMIT(core, EVENT_FAILURE, .class = f->class, .scope = scope_of(f),
	    .worker = f->worker, .task = f->task, .reason = f->reason);
	core->exit_status = core->evicted ? FAILURE_EXIT_ROOT_GONE : 1;
	life_stop(core, "failure", false);
}

/* --- the heartbeat ------------------------------------------------------ */

#define BEATS         3 /* per overseer.heartbeat_timeout: two may be late */
#define MOST_MS       5000
#define BEAT_QUIET_MS 16000 /* while little happens: it wakes the machine */
#define QUIET_PASS_MS 1000 /* of the loop, at least: that is quiet */
#define SPARE_MS      8000 /* such a beat may be late by, at least */
#define REASON_MAX    ((size_t)200) /* bytes of a worker's reason */
#define WORKERS_MAX   ((size_t)32 * 1024) /* bytes of all lines */

struct heartbeat {
	struct core *core;
	struct loop_timer *timer;
	uint64_t sequence;
	uint64_t passes; /* of the loop, at the last beat */
	int64_t beat_ms; /* when that was */
	bool quiet; /* little had happened before it */
	int64_t last_unix;
	int failure; /* of the last beat, 0 = none */
	int64_t activity_unix; /* as in the last beat */
};

/* What the daemon is doing, in one word, in case it looks stuck. */
static const char *
phase(const struct core *core)
{
	const struct core_floor *floor;

	if (core->stopping)
		return life_restarts(core) ? RESTART_PHASE : "stopping";
	for (size_t i = core->floor_count; i-- > 0;) {
		floor = core->floors[i];
		if (floor->phase != NULL)
			return floor->phase(floor->self);
	}
	return "idle";
}

static int64_t
sign_ms(const struct core *core)
{
	int64_t latest = 0, ms;

	for (size_t i = 0; i < core->floor_count; i++) {
		const struct core_floor *floor = core->floors[i];

		ms = floor->sign_ms != NULL ? floor->sign_ms(floor->self) : 0;
		if (ms > latest)
			latest = ms;
	}
	return latest;
}

static int64_t
rss_kb(void)
{
	cleanup_buf struct buf text = BUF_INIT;
	long long size = 0, resident = 0;

	if (file_read("/proc/self/statm", 4096, &text, NULL) < 0 ||
	    sscanf(text.data, "%lld %lld", &size, &resident) != 2)
		return 0;
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static int64_t
period_ms(const struct core *core, bool quiet)
{
	int64_t timeout =
	    settings_duration(core->settings, "overseer.heartbeat_timeout");
	int64_t look = silence_look_ms(
	    settings_duration(core->settings, "overseer.stall_timeout"));
	int64_t ms = timeout / BEATS, most = MOST_MS;

	if (quiet && timeout - SPARE_MS > ms) {
		ms = timeout - SPARE_MS;
		most = BEAT_QUIET_MS;
	}
	if (ms > look)
		ms = look;
	return ms > most ? most : ms;
}

/* What the work until now needed goes back to the kernel. */
static void
life_rest(struct core *core)
{
	book_rest(core->book);
	malloc_trim(0);
}

/* Has the loop hardly been woken since the last beat? Then what the work before
 * needed goes back to the kernel. */
static bool
beat_is_quiet(struct heartbeat *h)
{
	uint64_t passes = loop_passes(h->core->loop);
	int64_t now = clock_mono_ms();
	bool quiet =
	    (int64_t)(passes - h->passes) * QUIET_PASS_MS <= now - h->beat_ms;

	h->passes = passes;
	h->beat_ms = now;
	if (quiet && !h->quiet)
		life_rest(h->core);
	h->quiet = quiet;
	return quiet;
}

/* --- what the overseer has to know of the work ------------------------- */

/* The last assignment or completion of a task. */
static int64_t
activity_unix(const struct core *core)
{
	int64_t assigned = core->state.last_task_assignment_unix;
	int64_t completed = core->state.last_task_completion_unix;

	return assigned > completed ? assigned : completed;
}

/* Is the worker expected to get on with its task? Not while it waits for the
 * service, for a person, or for the user's checkout to be clean. */
static bool
is_expected(const struct state *state, const struct worker *w)
{
	const struct task *task =
	    w->task != NULL ? state_task(state, w->task) : NULL;
	bool lands =
	    w->status == WORKER_NEEDS_REVIEW || w->status == WORKER_ACCEPTING;

	return task != NULL && task->step == TASK_ASSIGNED &&
	    !worker_waits(w->status) && w->status != WORKER_WAITING &&
	    !w->for_person &&
	    !(w->status == WORKER_NEEDS_REVIEW &&
		task->attempt.review == REVIEW_OPEN) &&
	    (!lands || state->source_repo_dirty_retry_count == 0);
}

static void
add_work(const struct core *core, struct json_object *json)
{
	struct json_object *expected = json_object_new_array();
	struct json_object *workers = json_object_new_array();
	const struct state *state = &core->state;
	int64_t now = clock_wall_ms();
	size_t len = 0;

	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];
		cleanup_buf struct buf line = BUF_INIT;

		if (is_expected(state, w))
			json_object_array_add(
			    expected, json_object_new_string(w->name));
		/* For the evidence of a failure: what it was doing. */
		buf_addf(
		    &line, "%s %s", w->name, worker_status_name(w->status));
		if (w->task != NULL)
			buf_addf(&line, " task %s", w->task);
		if (w->since_ms > 0) {
			buf_adds(&line, " since ");
			text_add_duration(
			    &line, (now - w->since_ms) / 1000 * 1000);
		}
		if (w->reason != NULL) {
			buf_adds(&line, ": ");
			text_add_visible(&line, w->reason,
			    text_cut(w->reason, strlen(w->reason), REASON_MAX),
			    false);
		}
		len += line.len;
		if (len <= WORKERS_MAX)
			json_object_array_add(
			    workers, json_object_new_string(line.data));
	}
	json_set_int(json, "activity_unix", activity_unix(core));
	json_set(json, "expected", expected);
	json_set(json, "workers", workers);
}

/* --- the beat ------------------------------------------------------------ */

/* Not synced: after a crash of the machine there is no daemon anyway. */
static void
beat(void *arg)
{
	struct heartbeat *h = arg;
	struct core *core = h->core;
	int64_t now_unix = clock_wall_ms() / 1000;
	cleanup_free char *file =
	    workspace_path(core->workspace, "auto.heartbeat");
	cleanup_free char *fresh = xasprintf("%s.new", file);
	cleanup_json struct json_object *json = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_fd int fd = -1;
	int r;

	json_set_int(json, "timestamp_unix", now_unix);
	json_set_string(json, "instance_id", core->instance);
	json_set_int(json, "sequence", (int64_t)++h->sequence);
	json_set_int(json, "lag_ms", loop_lag_ms(core->loop));
	json_set_string(json, "phase", phase(core));
	json_set_int(json, "rss_kb", rss_kb());
	json_set_int(json, "monotonic_ms", clock_mono_ms());
	json_set_int(json, "sign_monotonic_ms", sign_ms(core));
	add_work(core, json);
	json_print(json, false, &text);
	buf_addc(&text, '\n');
	h->activity_unix = activity_unix(core);
	loop_lag_reset(core->loop);
	if (h->timer != NULL)
		loop_timer_restart(h->timer, period_ms(core, beat_is_quiet(h)));
	if (!root_guard_holds(core))
		return;
	unlink(fresh); /* whatever it is: it is made anew */
	fd = file_open(fresh, O_WRONLY | O_CREAT | O_EXCL, 0600);
	r = fd < 0 ? fd : file_write_all(fd, text.data, text.len);
	/* File systems sync a file when it replaces another, which is most of
	 * the cost of a beat and not needed here; so exchange the two. */
	if (r == 0 &&
	    renameat2(AT_FDCWD, fresh, AT_FDCWD, file, RENAME_EXCHANGE) == 0)
		unlink(fresh);
	else if (r == 0 && rename(fresh, file) == -1)
		r = -errno;
	if (r == 0)
		h->last_unix = now_unix;
	else if (h->failure != r)
		log_info("%s cannot be written: %s", fresh,
		    r == -EEXIST ? file_strerror(-EISDIR) : file_strerror(r));
	h->failure = r;
}

void
heartbeat_saved(struct heartbeat *h)
{
	if (h != NULL && h->activity_unix != activity_unix(h->core))
		beat(h);
}

void
heartbeat_now(struct heartbeat *h)
{
	if (h != NULL)
		beat(h);
}

int64_t
heartbeat_last_unix(const struct heartbeat *h)
{
	return h != NULL ? h->last_unix : 0;
}

void
heartbeat_free(struct heartbeat *h)
{
	cleanup_free char *file = NULL;

	if (h == NULL)
		return;
	file = workspace_path(h->core->workspace, "auto.heartbeat");
	if (life_restarts(h->core))
		beat(h); /* the overseer is told: this is not a death */
	else if (!h->core->evicted)
		unlink(file);
	loop_timer_free(h->timer);
	free(h);
}

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
	json_set_string(json, "landing_branch", core_branch(core));
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
#define REST_MS      1000 /* after a call */

struct life {
	struct core *core;
	size_t begun; /* number of floors that have begun */
	bool over; /* the last state was saved */
	bool signalled; /* a stop signal was received */
	const char *complete; /* why the run is over, NULL = it is not */
	uint64_t patrols;
	bool keep; /* the sessions, for the next daemon */
	bool again; /* this process is it, with the program on disk */
	struct loop_timer *patrol, *deadline, *quiet, *rest;
	struct loop_signal *signals[3];
};

struct life *
life_new(struct core *core)
{
	struct life *life = xcalloc(1, sizeof *life);

	life->core = core;
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
	loop_timer_free(life->rest);
	for (size_t i = 0; i < nitems(life->signals); i++)
		loop_signal_free(life->signals[i]);
	free(life);
}

/* Have all floors begun? */
static bool
all_begun(const struct life *life)
{
	return life->begun == life->core->floor_count;
}

static void
on_rest(void *arg)
{
	struct life *life = arg;

	loop_timer_free(take_ptr(&life->rest));
	life_rest(life->core);
}

void
life_rest_soon(struct core *core)
{
	struct life *life = core->life;

	if (life->rest == NULL)
		life->rest = loop_after(core->loop, REST_MS, on_rest, life);
}

/* --- patrol ----------------------------------------------------------- */

static void
patrol(struct core *core, bool all)
{
	if (core->stopping || !all_begun(core->life))
		return;
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
	struct heartbeat *h;

	life->patrols++;
	patrol(life->core, false);
	messages_file(life->core);
	asks_remind(life->core);
	/* We are awake: beat now instead of waking again soon for it, if beats
	 * have become rare because little happens. */
	h = life->core->heartbeat;
	if (h != NULL && h->quiet)
		beat(h);
	life_rest(life->core);
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
	life_rest_soon(core);
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
	if (core->options->auto_mode) {
		struct heartbeat *h = xcalloc(1, sizeof *h);

		h->core = core;
		h->passes = loop_passes(core->loop);
		h->beat_ms = clock_mono_ms();
		beat(h);
		h->timer =
		    loop_after(core->loop, period_ms(core, false), beat, h);
		core->heartbeat = h;
	}
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
		life->again = false;
	}
	declare_end(life);
	if (!life->again) {
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

bool
life_restarts(const struct core *core)
{
	return core->life != NULL && core->life->again;
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
		core->life->again = again;
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
