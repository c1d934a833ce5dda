/* SPDX-License-Identifier: ISC */

/* Persist, then act: one write of the state at the end of a turn, then the
 * calls that waited for it. */
#include <stdlib.h>

#include "daemon.h"
#include "errtext.h"
#include "json.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "pilot.h"
#include "server.h"

#define RETRY_MS 1000 /* a disk that is full now may not be in a second */

struct effect {
	TAILQ_ENTRY(effect) entry;
	void *owner;
	effect_fn *fn;
	void *arg;
};

struct reply {
	struct server_call *call;
	struct json_object *result;
	int code;
	char *message; /* NULL = it went well */
};

static void
reply_now(void *arg)
{
	struct reply *reply = arg;

	if (reply->message != NULL)
		server_fail(reply->call, reply->code, reply->message, NULL);
	else
		server_reply(reply->call, reply->result);
	free(reply->message);
	free(reply);
}

static void
commit_again(void *arg)
{
	struct daemon *d = arg;

	loop_call_request(d->commit);
}

static void
commit_run(void *arg)
{
	struct daemon *d = arg;
	struct effect *effect, mark = { 0 };
	struct err err = { 0 };

	if (d->dirty && !d->oneshot &&
	    state_foreign(d->workspace, &d->state) == 1)
		pilot_foreign_state(d);
	if (d->dirty && daemon_save(d, &err) < 0) {
		/* Nothing is acted on that is not written down. */
		log_errorx("the state cannot be written, nothing goes on "
			   "until it can: %s",
		    err.msg);
		loop_timer_free(d->commit_retry);
		d->commit_retry =
		    loop_after(d->loop, RETRY_MS, commit_again, d);
		return;
	}
	TAILQ_INSERT_TAIL(&d->effects, &mark, entry);
	while ((effect = TAILQ_FIRST(&d->effects)) != &mark) {
		TAILQ_REMOVE(&d->effects, effect, entry);
		effect->fn(effect->arg);
		free(effect);
	}
	TAILQ_REMOVE(&d->effects, &mark, entry);
}

void
daemon_commit_init(struct daemon *d)
{
	TAILQ_INIT(&d->effects);
	d->commit = loop_call_new(d->loop, commit_run, d);
}

void
daemon_commit_release(struct daemon *d)
{
	struct effect *effect;

	while ((effect = TAILQ_FIRST(&d->effects)) != NULL) {
		TAILQ_REMOVE(&d->effects, effect, entry);
		if (effect->fn == reply_now)
			reply_now(effect->arg);
		free(effect);
	}
	loop_call_free(take_ptr(&d->commit));
	loop_timer_free(take_ptr(&d->commit_retry));
}

void
daemon_changed(struct daemon *d)
{
	d->dirty = true;
	loop_call_request(d->commit);
}

void
daemon_then(struct daemon *d, void *owner, effect_fn *fn, void *arg)
{
	struct effect *effect = xcalloc(1, sizeof *effect);

	effect->owner = owner;
	effect->fn = fn;
	effect->arg = arg;
	TAILQ_INSERT_TAIL(&d->effects, effect, entry);
	loop_call_request(d->commit);
}

void
daemon_forget(struct daemon *d, const void *owner)
{
	struct effect *effect, *next;

	for (effect = TAILQ_FIRST(&d->effects); effect != NULL; effect = next) {
		next = TAILQ_NEXT(effect, entry);
		if (effect->owner != owner || effect->fn == NULL)
			continue;
		TAILQ_REMOVE(&d->effects, effect, entry);
		free(effect);
	}
}

void
daemon_reply(
    struct daemon *d, struct server_call *call, struct json_object *result)
{
	struct reply *reply;

	if (call == NULL) {
		json_object_put(result);
		return;
	}
	reply = xcalloc(1, sizeof *reply);
	reply->call = call;
	reply->result = result;
	daemon_then(d, NULL, reply_now, reply);
}

void
daemon_fail(
    struct daemon *d, struct server_call *call, int code, const char *message)
{
	struct reply *reply;

	if (call == NULL)
		return;
	reply = xcalloc(1, sizeof *reply);
	reply->call = call;
	reply->code = code;
	reply->message = xstrdup(message);
	daemon_then(d, NULL, reply_now, reply);
}

int
daemon_save(struct daemon *d, struct err *err)
{
	int r = state_save(d->workspace, &d->state, err);

	if (r == 0)
		d->dirty = false;
	return r;
}
