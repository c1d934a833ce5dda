/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <malloc.h>

#include "book.h"
#include "core.h"
#include "heartbeat.h"
#include "ladder.h"
#include "loop.h"
#include "settings.h"
#include "sibling.h"
#include "worker.h"
#include "workspace.h"

#define BEATS         3 /* per overseer.heartbeat_timeout: two may be late */
#define MOST_MS       5000
#define BEAT_QUIET_MS 16000 /* while little happens: it wakes the machine */
#define QUIET_PASS_MS 1000 /* of the loop, at least: that is quiet */
#define SPARE_MS      8000 /* such a beat may be late by, at least */
#define REST_MS       1000 /* after a call */
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
	struct json_object *workers; /* as they were when the daemon failed;
				      * NULL = it has not */
};

/* --- rest ----------------------------------------------------------------- */

void
rest_now(struct core *core)
{
	book_rest(core->book);
	malloc_trim(0);
}

static void
on_rest(void *arg)
{
	struct core *core = arg;

	loop_timer_free(take_ptr(&core->rest));
	rest_now(core);
}

void
rest_soon(struct core *core)
{
	if (core->rest == NULL)
		core->rest = loop_after(core->loop, REST_MS, on_rest, core);
}

/* --- what the daemon is doing --------------------------------------------- */

/* What the daemon is doing, in one word, in case it looks stuck. */
static const char *
phase(const struct core *core)
{
	const struct core_floor *floor;

	if (core->stopping)
		return core->restarts ? RESTART_PHASE : "stopping";
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
		rest_now(h->core);
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
add_work(const struct heartbeat *h, struct json_object *json)
{
	struct json_object *expected = json_object_new_array();
	struct json_object *workers = json_object_new_array();
	const struct core *core = h->core;
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
	/* The end of a daemon that has failed changes what its workers do. */
	if (h->workers != NULL) {
		json_object_put(workers);
		workers = json_object_get(h->workers);
	}
	json_set(json, "workers", workers);
}

/* --- the beat ------------------------------------------------------------ */

/* Only looks: who finds out that the root is not ours raises a failure, which
 * beats. */
static bool
beats_in_our_root(const struct core *core)
{
	cleanup_free char *lock = workspace_path(core->workspace, "state.lock");

	return !core->evicted &&
	    (core->lock < 0 || lock_is_at(core->lock, lock));
}

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
	add_work(h, json);
	json_print(json, false, &text);
	buf_addc(&text, '\n');
	h->activity_unix = activity_unix(core);
	loop_lag_reset(core->loop);
	if (h->timer != NULL)
		loop_timer_restart(h->timer, period_ms(core, beat_is_quiet(h)));
	if (!beats_in_our_root(core))
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

struct heartbeat *
heartbeat_new(struct core *core)
{
	struct heartbeat *h = xcalloc(1, sizeof *h);

	h->core = core;
	h->passes = loop_passes(core->loop);
	h->beat_ms = clock_mono_ms();
	beat(h);
	h->timer = loop_after(core->loop, period_ms(core, false), beat, h);
	return h;
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

void
heartbeat_failed(struct heartbeat *h)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *workers = NULL;

	if (h == NULL)
		return;
	if (h->workers == NULL) {
		json = json_object_new_object();
		add_work(h, json);
		json_object_object_get_ex(json, "workers", &workers);
		h->workers = json_object_get(workers);
	}
	beat(h);
}

void
heartbeat_awake(struct heartbeat *h)
{
	if (h != NULL && h->quiet)
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
	if (h->core->restarts)
		beat(h); /* the overseer is told: this is not a death */
	else if (!h->core->evicted && h->workers == NULL)
		unlink(file);
	loop_timer_free(h->timer);
	json_object_put(h->workers);
	free(h);
}
