/* SPDX-License-Identifier: ISC */

/*
 * What is seen of the daemon. Death and log lines come as events; the heartbeat
 * carries the time of the machine's monotonic clock, so it is looked at only
 * when it could be stale; progress now and then.
 */
#include "base.h"

#include <sys/stat.h>

#include "event-table.h"
#include "loop.h"
#include "overseer-private.h"
#include "settings-table.h"
#include "settings.h"
#include "watch.h"

#define SMALL_MAX     (64 * 1024)
#define START_LOOK_MS 100 /* between looks whether it is ready */
#define DOUBT_MS      500
#define SLACK_MS      50
#define PRESSURE      60.0 /* percent of time that a process waits for the CPU */
#define STALL_LOOKS   6 /* in a stall timeout */

static int64_t
limit(const struct settings *settings, const char *key)
{
	cleanup_free char *path = xasprintf("overseer.%s", key);

	return settings_duration(settings, path);
}

/* --- what there is to see -------------------------------------------- */

static void
on_log_line(const char *line, size_t len, bool cut, void *arg)
{
	struct overseer *o = arg;
	struct sight *s = &o->sight;
	const char *level =
	    settings_string(o->settings, "overseer.log_failure_level");
	bool old = s->past > 0;

	(void)cut;
	if (old)
		s->past -= (int64_t)len + 1;
	if (!o->daemon.alive || s->complaint.len > 0 ||
	    !health_read_line(line, level, o->daemon.ref.pid,
		old ? s->since : NULL, &s->complaint))
		return;
	observe_look(o);
}

static void
see_heartbeat(struct overseer *o)
{
	cleanup_free char *file = overseer_path(o, "auto.heartbeat");
	cleanup_json struct json_object *json = NULL;
	struct sight *s = &o->sight;
	uint64_t sequence;
	int64_t at;

	if (json_load(file, SMALL_MAX, &json, NULL) < 0 ||
	    !text_is(
		o->daemon.instance, json_string_or(json, "instance_id", "")))
		return;
	json_object_put(o->sight.beat);
	o->sight.beat = json_object_get(json);
	sequence = (uint64_t)json_int_or(json, "sequence", 0);
	at = json_int_or(json, "monotonic_ms", 0);
	if (strcmp(json_string_or(json, "phase", ""), RESTART_PHASE) == 0) {
		/* It has as much time as for a start, and then beats again. */
		if (s->restarted_ms == 0) {
			log_info("the daemon replaces its program");
			s->restarted_ms = clock_mono_ms();
		}
		o->daemon.ready = false;
		s->sequence = 0;
		s->beat_ms = 0;
		return;
	}
	if (sequence == s->sequence)
		return;
	s->sequence = sequence;
	s->beat_ms = at > clock_mono_ms() ? clock_mono_ms() : at;
	at = json_int_or(json, "sign_monotonic_ms", 0);
	s->sign_ms = at > s->beat_ms ? s->beat_ms : at;
}

/* Has the process that we watch written this, and is it still the same
 * instance? Tells which one that is, when it was not known yet. */
static bool
is_from_daemon(struct daemon_process *d, struct json_object *json)
{
	const char *instance = json_string_or(json, "instance_id", "");
	struct procref ref = PROCREF_INIT;
	bool same = instance[0] != '\0' &&
	    procref_from_json(&ref, json, NULL) == 0 && ref.pid == d->ref.pid &&
	    ref.start_time == d->ref.start_time &&
	    strcmp(ref.boot_id, d->ref.boot_id) == 0;

	procref_release(&ref);
	if (same && d->instance == NULL)
		d->instance = xstrdup(instance);
	return same && strcmp(instance, d->instance) == 0;
}

/* Why it has ended, by its own declaration; NULL = it declared nothing. */
static char *
read_declaration(struct overseer *o)
{
	cleanup_free char *file = overseer_path(o, "ended.json");
	cleanup_json struct json_object *json = NULL;

	if (o->daemon.alive || json_load(file, SMALL_MAX, &json, NULL) < 0 ||
	    !is_from_daemon(&o->daemon, json))
		return NULL;
	return xstrdup(json_string_or(json, "why", "no reason is given"));
}

/* Has the daemon ended because .llmc is not the folder that it began with? */
static bool
root_is_gone(const struct overseer *o)
{
	return !o->daemon.alive &&
	    (!overseer_owns_root(o) ||
		o->daemon.status == FAILURE_EXIT_ROOT_GONE);
}

bool
observe_failure(struct overseer *o)
{
	cleanup_free char *file = overseer_path(o, "failure.json");
	cleanup_json struct json_object *json = NULL;

	if (root_is_gone(o)) {
		xstrset(&o->failure.class, "root_gone");
		xstrset(&o->failure.words,
		    failure_class_find(o->failure.class)->what);
		return true;
	}
	if (json_load(file, SMALL_MAX, &json, NULL) < 0 ||
	    (o->daemon.instance != NULL &&
		strcmp(json_string_or(json, "instance_id", ""),
		    o->daemon.instance) != 0))
		return false;
	free(o->failure.class);
	o->failure.class = xstrdup(json_string_or(json, "class", "unknown"));
	free(o->failure.words);
	o->failure.words = xstrdup(json_string_or(json, "words", ""));
	return true;
}

static void
see_progress(struct sight *s)
{
	struct json_object *expected = NULL;
	int64_t activity;

	if (json_get_array(s->beat, "", "expected", &expected, NULL) < 0)
		return;
	s->assigned = json_object_array_length(expected) > 0;
	activity = json_int_or(s->beat, "activity_unix", 0);
	/* What waits begins to count when the wait is over. */
	if (activity != s->activity_unix || !s->assigned) {
		s->activity_unix = activity;
		s->moved_ms = clock_mono_ms();
	}
}

/* Is the machine short of time? Then silence proves nothing. */
static bool
starved(void)
{
	cleanup_buf struct buf text = BUF_INIT;
	double some = 0;

	return file_read("/proc/pressure/cpu", SMALL_MAX, &text, NULL) == 0 &&
	    sscanf(text.data, "some avg10=%lf", &some) == 1 && some > PRESSURE;
}

/* --- the verdict ----------------------------------------------------- */

static void
collect(const struct daemon_process *d, const struct sight *s,
    struct health_facts *out)
{
	int64_t now = clock_mono_ms();
	int64_t moved = s->sign_ms > s->moved_ms ? s->sign_ms : s->moved_ms;

	*out = (struct health_facts){
		.ended = !d->alive,
		.told_to_end = d->told_to_end,
		.status = d->status,
		.ready = d->ready,
		.identity = s->identity,
		.failure = s->failure,
		.frozen = d->alive && procref_state(&d->ref) == 'T',
		.complaint = s->complaint.len > 0 ? s->complaint.data : NULL,
		.up_ms = now -
		    (s->restarted_ms > 0 ? s->restarted_ms : d->started_ms),
		.beat_ms = s->beat_ms > 0 ? now - s->beat_ms : INT64_MAX,
		.assigned = s->assigned,
		.moved_ms = moved > 0 ? now - moved : INT64_MAX,
	};
}

/* Did we not run until lately, as after a suspend, or in a virtual machine that
 * is moved? What was stopped together with us has a period to show that it
 * lives. */
static bool
has_woken(struct sight *s, int64_t period)
{
	int64_t now = clock_mono_ms();

	if (s->due_ms > 0 && now - s->due_ms > period / 4) {
		s->woke_ms = now;
		log_info("the overseer did not run for %lld ms: the daemon "
			 "gets one more period",
		    (long long)(now - s->due_ms));
	}
	s->due_ms = 0;
	return s->woke_ms > 0 && now - s->woke_ms < period;
}

/* A machine that is short of time gets one more period, once in a while. */
static bool
put_off(struct sight *s, int64_t period)
{
	int64_t now = clock_mono_ms();

	if (s->graced_ms > 0 && now - s->graced_ms < period)
		return true;
	if ((s->graced_ms > 0 && now - s->graced_ms < 4 * period) || !starved())
		return false;
	s->graced_ms = now;
	log_info("the machine is overloaded: the daemon gets one more period");
	return true;
}

/* Registration, lock and heartbeat agree. */
static void
become_ready(struct overseer *o)
{
	cleanup_free char *lock = overseer_path(o, "state.lock");
	struct daemon_process *d = &o->daemon;

	if (d->ready || !o->sight.identity || o->sight.beat_ms == 0 ||
	    lock_is_held(lock) != 1)
		return;
	d->ready = true;
	o->sight.restarted_ms = 0;
	o->sight.moved_ms = clock_mono_ms();
	HAPPENS(o, WHEN_READY);
}

static int64_t
smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* When could the next look find something? */
static int64_t
next_look_ms(const struct overseer *o)
{
	const struct sight *s = &o->sight;
	int64_t now = clock_mono_ms();
	int64_t beat =
	    s->beat_ms + limit(o->settings, "heartbeat_timeout") - now;
	int64_t wait =
	    smaller(beat, limit(o->settings, "stall_timeout") / STALL_LOOKS) +
	    SLACK_MS;

	if (!o->daemon.ready)
		return START_LOOK_MS;
	return wait < SLACK_MS ? DOUBT_MS : wait; /* overdue, and excused */
}

static void
on_look_due(void *arg)
{
	observe_look(arg);
}

static void
look_later(struct overseer *o, int64_t ms)
{
	o->sight.due_ms = clock_mono_ms() + ms;
	loop_timer_set(&o->sight.look, o->loop, ms, on_look_due, o);
}

static enum health_verdict
judge(const struct settings *settings, const struct health_facts *facts)
{
	struct health_limits limits = {
		.start_ms = tuning.daemon_start,
		.heartbeat_ms = limit(settings, "heartbeat_timeout"),
		.stall_ms = limit(settings, "stall_timeout"),
	};

	return health_judge(facts, &limits);
}

void
observe_look(struct overseer *o)
{
	cleanup_free char *declared = NULL;
	struct health_facts facts;
	enum health_verdict verdict;
	cleanup_free char *file = NULL;
	cleanup_json struct json_object *json = NULL;
	bool woken;

	if (o->state != STATE_STARTING && o->state != STATE_RUNNING)
		return;
	if (o->daemon.alive && o->daemon.child == NULL &&
	    !procref_alive(&o->daemon.ref)) {
		/* Only a child reports its end by itself. */
		daemon_process_is_gone(o);
		return;
	}
	woken = has_woken(&o->sight, limit(o->settings, "heartbeat_timeout"));
	file = overseer_path(o, "daemon.json");
	o->sight.identity = json_load(file, SMALL_MAX, &json, NULL) == 0 &&
	    is_from_daemon(&o->daemon, json);
	see_heartbeat(o);
	o->sight.failure = (!o->daemon.alive || o->sight.complaint.len > 0) &&
	    observe_failure(o);
	if (o->daemon.alive)
		become_ready(o);
	if (o->daemon.ready && o->daemon.alive)
		see_progress(&o->sight);
	collect(&o->daemon, &o->sight, &facts);
	declared = read_declaration(o);
	facts.declared = declared != NULL;
	facts.woken = woken;
	verdict = judge(o->settings, &facts);
	if (verdict == HEALTH_STALLED && !o->sight.reread) {
		/* The daemon may have been given more time meanwhile. */
		o->sight.reread = true;
		overseer_reload(o, true);
		return;
	}
	o->sight.reread = false;
	if ((verdict == HEALTH_HUNG || verdict == HEALTH_STALLED) &&
	    put_off(&o->sight, limit(o->settings, "heartbeat_timeout"))) {
		facts.starved = true;
		verdict = judge(o->settings, &facts);
	}
	if ((verdict == HEALTH_IDENTITY || verdict == HEALTH_HUNG) &&
	    !o->sight.doubted) {
		/* One that is just ending has taken its registration away. One
		 * that was stopped together with us wakes just now. */
		o->sight.doubted = true;
		look_later(o, DOUBT_MS);
		return;
	}
	if (verdict == HEALTH_FINE || verdict == HEALTH_STARTING) {
		o->sight.doubted = false;
		look_later(o, next_look_ms(o));
		return;
	}
	if (verdict == HEALTH_COMPLAINED && o->sight.failure)
		verdict = HEALTH_FAILED; /* the typed record says more */
	HAPPENS(o,
	    verdict == HEALTH_COMPLETE || verdict == HEALTH_STOPPED_BY_US ?
		WHEN_COMPLETE :
		o->daemon.alive ? WHEN_FAILING :
				  WHEN_FAILED,
	    .verdict = verdict,
	    .words = verdict == HEALTH_COMPLAINED ? facts.complaint :
		verdict == HEALTH_COMPLETE        ? declared :
						    NULL);
}

void
observe_begin(struct overseer *o)
{
	cleanup_free char *log = overseer_path(o, "logs/autod.log");
	bool past = o->sight.tail == NULL && o->daemon.adopted;
	struct err err = { 0 };

	observe_end(o);
	if (past) {
		struct sight *s = &o->sight;
		int64_t age = clock_mono_ms() - o->daemon.started_ms;
		struct stat st;

		/* Of a daemon that was taken over, the log is read from the
		 * beginning: it may have complained unwatched. */
		s->past = stat(log, &st) == 0 ? (int64_t)st.st_size : 0;
		clock_format_stamp(clock_wall_ms() - age, s->since);
	}
	/* From one daemon to the next: a line tells whose it is, and to end an
	 * inotify instance takes the kernel longer than to start a daemon. */
	if (o->sight.tail == NULL &&
	    tail_new(o->loop, log, past, on_log_line, o, &o->sight.tail, &err) <
		0)
		log_warnx("cannot follow autod.log: %s", err.msg);
	look_later(o, START_LOOK_MS);
}

void
observe_end(struct overseer *o)
{
	struct tail *tail = o->sight.tail;
	struct json_object *beat = o->sight.beat;

	loop_timer_free(take_ptr(&o->sight.look));
	buf_release(&o->sight.complaint);
	o->sight =
	    (struct sight){ .tail = tail, .beat = beat, .complaint = BUF_INIT };
}
