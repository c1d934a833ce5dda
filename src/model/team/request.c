/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "request.h"
#include "schema.h"

#define VERSION 1

const char *const request_state_words[REQUEST_STATE_COUNT + 1] = {
	[REQUEST_PENDING] = "pending",
	[REQUEST_NOTIFIED] = "notified",
	[REQUEST_RESOLVED] = "resolved",
	[REQUEST_TIMEOUT] = "timeout",
	[REQUEST_CANCELLED] = "cancelled",
	[REQUEST_ORPHANED] = "orphaned",
};

#define FIELD(key, member, ...)                                               \
	SCHEMA_FIELD(struct request, key, member, .flags = SCHEMA_OMIT_UNSET, \
	    ##__VA_ARGS__)
#define MUST(key, member, ...)                                              \
	SCHEMA_FIELD(struct request, key, member, .flags = SCHEMA_REQUIRED, \
	    ##__VA_ARGS__)

/* The actor of a record is the one who is asked. */
static const struct schema_field fields[] = {
	MUST("id", id),
	MUST("child", child),
	MUST("actor", parent),
	FIELD("worker", worker),
	FIELD("task", task),
	FIELD("run", run),
	FIELD("session", session),
	FIELD("parentTask", parent_task),
	FIELD("goal", goal),
	FIELD("message", message),
	FIELD("options", options),
	MUST("state", state, .words = request_state_words),
	MUST("ts", created_ms),
	MUST("deadline", deadline_ms),
	FIELD("ended", ended_ms),
	FIELD("response", response),
	FIELD("responder", responder),
	FIELD("respondCall", respond_call),
};
static const struct schema schema = { .fields = fields,
	.count = nitems(fields) };

struct request *
request_new(void)
{
	return xcalloc(1, sizeof(struct request));
}

void
request_free(struct request *request)
{
	if (request == NULL)
		return;
	schema_release(&schema, request);
	free(request);
}

struct json_object *
request_to_json(const struct request *request)
{
	struct json_object *json = json_object_new_object();

	json_set_int(json, "version", VERSION);
	json_set_string(json, "status",
	    request_is_open(request) ? "open" :
				       request_state_words[request->state]);
	schema_add(&schema, request, json);
	return json;
}

int
request_from_json(struct json_object *json, const char *at,
    struct request **ret_request, struct err *err)
{
	struct request *request;
	int r;

	if (!json_object_is_type(json, json_type_object))
		return err_set(err, -EINVAL, "%s: expected an object", at);
	if (json_int_or(json, "version", 0) != VERSION)
		return err_set(
		    err, -EINVAL, "%s.version: expected %d", at, VERSION);
	request = request_new();
	r = schema_read(&schema, json, at, request, err);
	if (r < 0) {
		request_free(request);
		return r == -ENOENT ? -EINVAL : r;
	}
	*ret_request = request;
	return 0;
}

/* --- one --------------------------------------------------------------- */

bool
request_is_open(const struct request *request)
{
	return request->state < REQUEST_RESOLVED;
}

bool
request_is_kept(const struct request *request, int64_t now_ms)
{
	return request_is_open(request) ||
	    request->ended_ms + REQUEST_KEEP_MS >= now_ms;
}

int64_t
request_timeout(int64_t wanted_ms, bool person)
{
	if (wanted_ms <= 0)
		return person ? REQUEST_TIMEOUT_MAX_MS : REQUEST_TIMEOUT_MS;
	if (wanted_ms < REQUEST_TIMEOUT_MIN_MS)
		return REQUEST_TIMEOUT_MIN_MS;
	return wanted_ms > REQUEST_TIMEOUT_MAX_MS ? REQUEST_TIMEOUT_MAX_MS :
						    wanted_ms;
}

void
request_end(struct request *request, enum request_state state, int64_t now_ms)
{
	if (!request_is_open(request))
		return;
	request->state = state;
	request->ended_ms = now_ms;
}

const char *
request_choice(
    const struct request *request, const char *words, struct err *err)
{
	size_t count = strv_count(request->options);
	int64_t number;

	for (size_t i = 0; i < count; i++)
		if (strcasecmp(request->options[i], words) == 0)
			return request->options[i];
	if (count == 0 || !text_parse_int(words, 0, INT64_MAX, &number))
		return words;
	if (number >= 1 && number <= (int64_t)count)
		return request->options[number - 1];
	err_set(err, -EINVAL, "there is no option %s, only %zu", words, count);
	return NULL;
}

int
request_resolve(struct request *request, const char *response,
    const char *responder, const char *call, int64_t now_ms, struct err *err)
{
	if (request_is_open(request) && now_ms >= request->deadline_ms)
		request_end(request, REQUEST_TIMEOUT, request->deadline_ms);
	switch (request->state) {
	case REQUEST_PENDING:
	case REQUEST_NOTIFIED:
		request_end(request, REQUEST_RESOLVED, now_ms);
		xstrset(&request->response, response);
		xstrset(&request->responder, responder);
		xstrset(&request->respond_call, call);
		return 0;
	case REQUEST_RESOLVED:
		return err_set(err, -EALREADY,
		    "%s was answered already; the first answer counts",
		    request->id);
	case REQUEST_TIMEOUT:
		return err_set(err, -ETIMEDOUT,
		    "%s has timed out: the agent has gone on without an "
		    "answer",
		    request->id);
	default:
		return err_set(err, -ESTALE, "%s is %s: nobody waits for it",
		    request->id, request_state_words[request->state]);
	}
}

/* --- all --------------------------------------------------------------- */

void
request_registry_release(struct request_registry *registry)
{
	for (size_t i = 0; i < registry->count; i++)
		request_free(registry->list[i]);
	free(registry->list);
	*registry = (struct request_registry){ 0 };
}

void
request_registry_add(struct request_registry *registry, struct request *request)
{
	size_t at = registry->count++;

	registry->list = xreallocarray(
	    registry->list, registry->count, sizeof(struct request *));
	for (;
	     at > 0 && registry->list[at - 1]->created_ms > request->created_ms;
	     at--)
		registry->list[at] = registry->list[at - 1];
	registry->list[at] = request;
}

struct request *
request_registry_find(const struct request_registry *registry, const char *id)
{
	for (size_t i = 0; i < registry->count; i++)
		if (strcmp(registry->list[i]->id, id) == 0)
			return registry->list[i];
	return NULL;
}

struct json_object *
request_to_answer(const struct request *r)
{
	static const char *const words[REQUEST_STATE_COUNT] = {
		[REQUEST_TIMEOUT] =
		    "Nobody answered in time. Decide yourself, and say in your "
		    "report what you have decided.",
		[REQUEST_CANCELLED] = "The question was cancelled.",
		[REQUEST_ORPHANED] =
		    "The agent that you work for has ended. Decide yourself, "
		    "and say in your report what you have decided.",
	};
	struct json_object *json = json_object_new_object();

	json_set_string(json, "requestId", r->id);
	json_set_string(json, "status", request_state_words[r->state]);
	if (r->response != NULL)
		json_set_string(json, "response", r->response);
	if (r->responder != NULL)
		json_set_string(json, "responder", r->responder);
	if (words[r->state] != NULL)
		json_set_string(json, "message", words[r->state]);
	return json;
}

void
request_registry_remove(struct request_registry *registry, const char *id)
{
	size_t kept = 0;

	for (size_t i = 0; i < registry->count; i++) {
		struct request *r = registry->list[i];

		if (strcmp(r->id, id) == 0)
			request_free(r);
		else
			registry->list[kept++] = r;
	}
	registry->count = kept;
}

int
request_registry_admits(const struct request_registry *registry,
    const char *child, const char *parent, int recent, struct err *err)
{
	int own = 0, asked = 0;

	for (size_t i = 0; i < registry->count; i++) {
		const struct request *r = registry->list[i];

		own += strcmp(r->child, child) == 0 && request_is_open(r);
		asked += strcmp(r->parent, parent) == 0 && request_is_open(r);
	}
	if (own >= REQUEST_CHILD_MAX)
		return err_set(err, -EDQUOT,
		    "pending: %d of your questions have no answer yet; wait "
		    "for one of them",
		    own);
	if (asked >= REQUEST_PARENT_MAX)
		return err_set(err, -EDQUOT,
		    "pending: %s has %d questions to answer already; decide "
		    "yourself, or ask later",
		    parent, asked);
	if (recent >= REQUEST_RATE_MAX)
		return err_set(err, -EDQUOT,
		    "rate limit: %d questions within a minute; decide "
		    "yourself, or ask later",
		    recent);
	return 0;
}

static bool
has_same_options(const struct request *a, const struct request *b)
{
	size_t count = strv_count(a->options);

	if (count != strv_count(b->options))
		return false;
	for (size_t i = 0; i < count; i++)
		if (strcmp(a->options[i], b->options[i]) != 0)
			return false;
	return true;
}

struct request *
request_registry_alike(
    const struct request_registry *registry, const struct request *request)
{
	for (size_t i = 0; i < registry->count; i++) {
		struct request *r = registry->list[i];

		if (request_is_open(r) && r->message != NULL &&
		    strcmp(r->child, request->child) == 0 &&
		    strcmp(r->parent, request->parent) == 0 &&
		    strcmp(r->message, request->message) == 0 &&
		    has_same_options(r, request))
			return r;
	}
	return NULL;
}

const struct request *
request_registry_first(
    const struct request_registry *registry, const char *child)
{
	for (size_t i = 0; i < registry->count; i++)
		if (request_is_open(registry->list[i]) &&
		    strcmp(registry->list[i]->child, child) == 0)
			return registry->list[i];
	return NULL;
}

size_t
request_registry_pending(
    const struct request_registry *registry, const char *child)
{
	size_t count = 0;

	for (size_t i = 0; i < registry->count; i++)
		count += request_is_open(registry->list[i]) &&
		    strcmp(registry->list[i]->child, child) == 0;
	return count;
}

int64_t
request_registry_next(const struct request_registry *registry)
{
	int64_t next = 0;

	for (size_t i = 0; i < registry->count; i++) {
		const struct request *r = registry->list[i];

		if (request_is_open(r) && (next == 0 || r->deadline_ms < next))
			next = r->deadline_ms;
	}
	return next;
}
