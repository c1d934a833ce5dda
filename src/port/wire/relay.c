/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "api.h"
#include "backoff.h"
#include "client.h"
#include "errtext.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "relay.h"
#include "watch.h"

/* If the file of the socket tells nothing. */
static const struct backoff again = { .first_ms = 100, .max_ms = 5000 };

struct relay_call {
	TAILQ_ENTRY(relay_call) entry;
	struct relay *relay;
	const char *method;
	struct json_object *params;
	relay_fn *fn;
	void *arg;
	struct client_stream *stream; /* it is with the daemon */
	struct loop_timer *deadline;
	struct loop_timer *pause; /* NULL = it may be sent */
	int tries;
};

TAILQ_HEAD(relay_calls, relay_call);

struct relay {
	struct loop *loop;
	char *socket;
	struct relay_calls calls;
	int flights;
	struct watch *watch; /* of the socket, while a call waits for it */
	struct loop_call *pump;
};

static void
call_free(struct relay_call *call)
{
	struct relay *relay = call->relay;

	TAILQ_REMOVE(&relay->calls, call, entry);
	if (call->stream != NULL)
		relay->flights--;
	client_stream_free(call->stream);
	loop_timer_free(call->deadline);
	loop_timer_free(call->pause);
	json_object_put(call->params);
	free(call);
	/* Another one may have waited for its place. */
	loop_call_request(relay->pump);
}

static void
call_end(struct relay_call *call, struct json_object *result, int code,
    const char *message)
{
	relay_fn *fn = call->fn;
	void *arg = call->arg;

	fn(result, code, message, arg);
	call_free(call);
}

static void
on_deadline(void *arg)
{
	call_end(arg, NULL, API_BUSY,
	    "llmc's daemon has not answered in time. Go on without this, and "
	    "try again later.");
}

/* --- waiting for a daemon --------------------------------------------- */

static void
on_pause_over(void *arg)
{
	struct relay_call *call = arg;

	loop_timer_free(take_ptr(&call->pause));
	loop_call_request(call->relay->pump);
}

/* A daemon touches its socket when it listens. */
static void
on_socket_changed(void *arg)
{
	struct relay *relay = arg;
	struct relay_call *call;

	TAILQ_FOREACH (call, &relay->calls, entry)
		loop_timer_free(take_ptr(&call->pause));
	loop_call_request(relay->pump);
}

static void
call_pause(struct relay_call *call)
{
	struct relay *relay = call->relay;
	int64_t ms = again.max_ms;

	backoff_next(&again, call->tries++, &ms);
	call->pause = loop_after(relay->loop, ms, on_pause_over, call);
	if (relay->watch == NULL)
		watch_new(relay->loop, relay->socket, on_socket_changed, relay,
		    &relay->watch, NULL);
}

/* --- with the daemon -------------------------------------------------- */

static void
on_notification(const char *method, struct json_object *params, void *arg)
{
	(void)method;
	(void)params;
	(void)arg;
}

static void
on_end(int status, struct json_object *result, const struct err *err, void *arg)
{
	struct relay_call *call = arg;
	struct client_stream *stream = call->stream;
	const char *message = NULL;
	int code = 0;

	if (status == -EPROTO)
		message = client_stream_error(stream, &code);
	if (status == 0 || (status == -EPROTO && code != API_BUSY)) {
		call_end(call, result, code, message);
		return;
	}
	if (status == -EBADMSG) {
		call_end(call, NULL, API_FAILED, err->msg);
		return;
	}
	call->stream = NULL;
	call->relay->flights--;
	client_stream_free(stream);
	call_pause(call);
	loop_call_request(call->relay->pump);
}

static const struct client_stream_fns stream_fns = { on_notification, on_end };

static void
call_send(struct relay_call *call)
{
	struct relay *relay = call->relay;
	struct err err = { 0 };
	int r = client_stream_new(relay->loop, relay->socket, call->method,
	    call->params, &stream_fns, call, &call->stream, &err);

	if (r == 0)
		relay->flights++;
	else if (r == -E2BIG || r == -ENAMETOOLONG || r == -EACCES)
		call_end(call, NULL, API_FAILED, err.msg);
	else
		call_pause(call);
}

static void
pump(void *arg)
{
	struct relay *relay = arg;
	struct relay_call *call, *next;
	bool waits = false;

	for (call = TAILQ_FIRST(&relay->calls); call != NULL; call = next) {
		next = TAILQ_NEXT(call, entry);
		if (call->stream == NULL && call->pause == NULL &&
		    relay->flights < RELAY_FLIGHTS_MAX)
			call_send(call);
	}
	TAILQ_FOREACH (call, &relay->calls, entry)
		waits |= call->pause != NULL;
	if (!waits)
		watch_free(take_ptr(&relay->watch));
}

/* --- the relay -------------------------------------------------------- */

struct relay *
relay_new(struct loop *loop, const char *socket)
{
	struct relay *relay = xcalloc(1, sizeof *relay);

	relay->loop = loop;
	relay->socket = xstrdup(socket);
	relay->pump = loop_call_new(loop, pump, relay);
	TAILQ_INIT(&relay->calls);
	return relay;
}

void
relay_free(struct relay *relay)
{
	struct relay_call *call;

	if (relay == NULL)
		return;
	while ((call = TAILQ_FIRST(&relay->calls)) != NULL)
		call_free(call);
	watch_free(relay->watch);
	loop_call_free(relay->pump);
	free(relay->socket);
	free(relay);
}

struct relay_call *
relay_send(struct relay *relay, const char *method, struct json_object *params,
    int64_t wait_ms, relay_fn *fn, void *arg)
{
	struct relay_call *call = xcalloc(1, sizeof *call);

	call->relay = relay;
	call->method = method;
	call->params = json_object_get(params);
	call->fn = fn;
	call->arg = arg;
	call->deadline = loop_after(relay->loop, wait_ms, on_deadline, call);
	TAILQ_INSERT_TAIL(&relay->calls, call, entry);
	loop_call_request(relay->pump);
	return call;
}

void
relay_cancel(struct relay_call *call)
{
	call_free(call);
}
