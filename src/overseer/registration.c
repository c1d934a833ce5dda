/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "loop.h"
#include "overseer-private.h"
#include "version.h"
#include "workspace.h"

char *
overseer_path(const struct overseer *o, const char *name)
{
	return workspace_path(&o->workspace, name);
}

static struct json_object *
daemon_json(const struct daemon_process *d)
{
	struct json_object *json;

	if (!d->alive)
		return NULL;
	json = procref_to_json(&d->ref);
	json_set_string(json, "instance_id", d->instance);
	json_set_int(json, "started_unix",
	    clock_wall_ms() / 1000 - (clock_mono_ms() - d->started_ms) / 1000);
	json_set_bool(json, "adopted", d->adopted);
	json_set_bool(json, "told_to_end", d->told_to_end);
	return json;
}

int
overseer_write_registration(const struct overseer *o, struct err *err)
{
	const struct overseer_failure *f = &o->failure;
	cleanup_free char *file = overseer_path(o, "overseer.json");
	cleanup_json struct json_object *json = procref_to_json(&o->run.self);
	struct json_object *events = json_object_new_array();
	bool stopping = o->state == STATE_STOPPING;

	json_set_int(json, "start_time_unix", o->run.started_unix);
	json_set_string(json, "instance_id", o->run.instance);
	/* The next overseer has to know what this one was at. */
	json_set_string(json, "state",
	    overseer_state_name(stopping ? o->run.stopped_in : o->state));
	json_set_bool(json, "stopping", stopping);
	json_set_int(json, "attempt", f->attempt);
	json_set_string(json, "failure", f->words);
	json_set_string(json, "verdict",
	    f->words != NULL ? health_verdict_name(f->verdict) : NULL);
	json_set_string(json, "class", f->class);
	json_set_bool(json, "abrupt", f->abrupt);
	json_set_int(json, "failed_ms", f->at_ms);
	json_set_int(json, "ran_ms", f->ran_ms);
	json_set_int(json, "exit_status",
	    o->state == STATE_TERMINATED ? o->run.exit_status : -1);
	json_set_int(json, "until_ms", o->run.until_ms);
	json_set(json, "daemon", daemon_json(&o->daemon));
	json_set(json, "repair_pane",
	    o->repair != NULL ? json_object_get(o->repair->agent.record.pane) :
				NULL);
	for (int i = 0; i < OVERSEER_EVENTS; i++)
		if (o->run.events[i] != NULL)
			json_object_array_add(
			    events, json_object_new_string(o->run.events[i]));
	json_set(json, "events", events);
	json_set_string(json, "version", LLMC_VERSION);
	json_set_int(json, "restarts", o->run.restart.count);
	return json_save(file, json, 0600, err);
}

void
overseer_register(struct overseer *o)
{
	o->changed = true;
	loop_call_request(o->write);
}

bool
overseer_owns_root(const struct overseer *o)
{
	cleanup_free char *lock = overseer_path(o, "overseer.lock");

	return o->lock < 0 || lock_is_at(o->lock, lock);
}

void
overseer_set_state(struct overseer *o, enum overseer_state state)
{
	if (state == STATE_STOPPING)
		o->run.stopped_in = o->state;
	o->state = state;
	log_info("state: %s", overseer_state_name(state));
	if (state != STATE_STARTING) /* written when it has been started */
		overseer_register(o);
}
