/* SPDX-License-Identifier: ISC */

/*
 * One that runs already. An earlier overseer may have been killed at any
 * moment: the daemon it started is taken over, or ended where it had begun to
 * end it; a failure that it was dealing with is dealt with. What it did not
 * write down the daemon's lock tells: who holds it is taken over when it can be
 * proved to be the daemon, and refused when not. Never two.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "console.h"
#include "daemon-takeover.h"
#include "ending.h"
#include "errtext.h"
#include "json.h"
#include "lock.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "overseer.h"
#include "repair-agent.h"
#include "respond.h"
#include "way-out.h"

#define REGISTRATION_MAX (64 * 1024)
#define TAKE_LOOK_MS     5
#define TAKE_MS          5000 /* for who holds the lock to register and beat */

static void on_take_due(void *arg);

static bool
is_held(const struct overseer *o)
{
	cleanup_free char *lock = overseer_path(o, "state.lock");

	return lock_is_held(lock) == 1;
}

/* How long it runs by the wall clock, on ours; never in the future. */
static int64_t
mono_of(int64_t unix_s)
{
	int64_t age = clock_wall_ms() - unix_s * 1000, now = clock_mono_ms();

	return age < 0 ? now : now - age;
}

/* Find the process again; false for one that is gone, or as good as that. */
static bool
find(struct procref *ref, struct json_object *json)
{
	int status = 0;

	return procref_from_json(ref, json, NULL) == 0 &&
	    procref_open(ref) == 0 && procref_ending(ref, &status) < 0;
}

/* Takes ref and instance over. */
static void
adopt(struct overseer *o, struct procref *ref, char *instance, int64_t unix_s)
{
	struct daemon_process *d = &o->daemon;

	daemon_process_release(d);
	*d = (struct daemon_process)DAEMON_PROCESS_INIT;
	d->ref = *ref;
	d->alive = d->adopted = true;
	d->instance = instance;
	d->started_ms = mono_of(unix_s);
	*ref = (struct procref)PROCREF_INIT;
	way_out_daemon(d->ref.pidfd);
	daemon_process_watch(o);
	console_say(o, CONSOLE_GREEN, "Took over the running daemon (pid %d).",
	    (int)d->ref.pid);
	overseer_set_state(o, STATE_STARTING);
	overseer_register(o);
	observe_begin(o);
}

/* --- who holds the lock ---------------------------------------------- */

static int
refuse(struct err *err, int code, const char *why)
{
	return err_set(err, code,
	    "a daemon is running for this repository, but %s; stop it with: "
	    "llmc down",
	    why);
}

/* It must be who is registered, alive, of auto mode, and the one that beats.
 * -EAGAIN: not yet, or no more. */
static int
verify(const struct overseer *o, struct procref *ref,
    struct json_object **ret_daemon, struct err *err)
{
	cleanup_free char *registration = overseer_path(o, "daemon.json");
	cleanup_free char *heartbeat = overseer_path(o, "auto.heartbeat");
	cleanup_json struct json_object *daemon = NULL, *beat = NULL;

	if (json_load(registration, REGISTRATION_MAX, &daemon, NULL) < 0)
		return refuse(err, -EAGAIN, "its registration cannot be read");
	if (!find(ref, daemon))
		return refuse(err, -EAGAIN, "it is not the registered one");
	if (!json_bool_or(daemon, "auto", false))
		return refuse(err, -EBUSY, "it is not in auto mode");
	if (json_load(heartbeat, REGISTRATION_MAX, &beat, NULL) < 0 ||
	    strcmp(json_string_or(daemon, "instance_id", ""),
		json_string_or(beat, "instance_id", "?")) != 0)
		return refuse(
		    err, -EAGAIN, "its heartbeat is that of another daemon");
	*ret_daemon = take_ptr(&daemon);
	return 0;
}

/* Start it, or take over who holds its lock, now or a little later. */
static int
try_take(struct overseer *o, struct err *err)
{
	struct procref ref = PROCREF_INIT;
	cleanup_json struct json_object *daemon = NULL;
	int r;

	if (!is_held(o)) {
		o->take_ms = 0;
		if (o->daemon.beaten)
			respond_ended(o); /* so that was not why it failed */
		else
			daemon_process_start(o);
		return 0;
	}
	r = verify(o, &ref, &daemon, err);
	if (r == 0) {
		o->take_ms = 0;
		adopt(o, &ref,
		    xstrdup(json_string_or(daemon, "instance_id", "")),
		    json_int_or(daemon, "start_time_unix", 0));
		return 0;
	}
	procref_release(&ref);
	if (r != -EAGAIN)
		return r;
	if (o->take_ms == 0) {
		o->take_ms = clock_mono_ms();
		log_info("the daemon's lock is held: %s", err->msg);
	}
	if (clock_mono_ms() - o->take_ms > TAKE_MS)
		return r;
	loop_timer_free(o->delay);
	o->delay = loop_after(o->loop, TAKE_LOOK_MS, on_take_due, o);
	*err = (struct err){ 0 };
	return 0;
}

void
daemon_takeover_or_end(struct overseer *o)
{
	struct err err = { 0 };

	if (try_take(o, &err) < 0)
		ending_begin(o, OVERSEER_REFUSED, err.msg);
}

static void
on_take_due(void *arg)
{
	struct overseer *o = arg;

	daemon_takeover_or_end(o);
}

/* --- what an earlier overseer wrote down ------------------------------ */

static bool
read_verdict(const char *name, enum health_verdict *ret_verdict)
{
	for (unsigned i = 0; i < HEALTH_VERDICT_COUNT; i++) {
		if (strcmp(health_verdict_name(i), name) == 0) {
			*ret_verdict = i;
			return true;
		}
	}
	return false;
}

/* Not after a crash of the overseer: only its regular end, or that there was
 * none, makes this start a person's. */
static void
note_start(struct overseer *o, struct json_object *json, int r)
{
	struct spiral_event event = { .kind = SPIRAL_START,
		.at_ms = clock_wall_ms() };
	const char *state = json_string_or(json, "state", "");

	if (o->history.count == 0 ||
	    (r != -ENOENT &&
		strcmp(state, overseer_state_name(STATE_TERMINATED)) != 0))
		return;
	history_note(&o->history, &event);
	overseer_register(o);
}

/* The failure that it was dealing with; false = none. */
static bool
read_failure(struct overseer *o, struct json_object *json)
{
	const char *state = json_string_or(json, "state", "");
	const char *class = json_string_or(json, "class", NULL);
	const char *words = json_string_or(json, "failure", NULL);
	cleanup_buf struct buf signature = BUF_INIT;

	if ((strcmp(state, overseer_state_name(STATE_ENDING_DAEMON)) != 0 &&
		strcmp(state, overseer_state_name(STATE_REMEDIATING)) != 0) ||
	    words == NULL ||
	    !read_verdict(json_string_or(json, "verdict", ""), &o->verdict))
		return false;
	o->words = xstrdup(words);
	o->class = class != NULL ? xstrdup(class) : NULL;
	o->cut_short =
	    strcmp(state, overseer_state_name(STATE_REMEDIATING)) == 0;
	o->abrupt = json_bool_or(json, "abrupt", false);
	o->failed_ms = json_int_or(json, "failed_ms", 0);
	o->ran_ms = json_int_or(json, "ran_ms", 0);
	o->attempt = (int)json_int_or(json, "attempt", 0);
	health_signature(o->verdict, o->class, o->words, &signature);
	o->signature = xstrdup(signature.data);
	return true;
}

/* Its daemon; false when that is gone. */
static bool
take_recorded(struct overseer *o, struct json_object *daemon, bool failed)
{
	struct procref ref = PROCREF_INIT;

	if (!find(&ref, daemon)) {
		procref_release(&ref);
		return false;
	}
	adopt(o, &ref, NULL, json_int_or(daemon, "started_unix", 0));
	if (failed) {
		respond_resume(o);
	} else if (json_bool_or(daemon, "told_to_end", false)) {
		log_info("it was told to stop: another one follows");
		daemon_process_end(o, false);
	}
	return true;
}

int
daemon_takeover_begin(struct overseer *o, struct err *err)
{
	cleanup_free char *file = overseer_path(o, "overseer.json");
	cleanup_json struct json_object *json = NULL;
	struct json_object *daemon = NULL;
	bool failed = false;
	int r;

	/* The session of a repair that nobody waits for. */
	repair_agent_sweep(o);
	r = json_load(file, REGISTRATION_MAX, &json, NULL);
	note_start(o, json, r);
	if (r == 0)
		failed = read_failure(o, json);
	if (json_get_object(json, "", "daemon", &daemon, NULL) == 0 &&
	    take_recorded(o, daemon, failed))
		return 0;
	if (failed && !is_held(o)) {
		respond_resume(o);
		return 0;
	}
	return try_take(o, err);
}
