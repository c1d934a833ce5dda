/* SPDX-License-Identifier: ISC */

/* state.json's record of a worker: one table, read in both directions. */

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "text.h"
#include "word.h"
#include "worker-words.h"
#include "worker.h"

enum field_type {
	FIELD_STRING, /* char * */
	FIELD_BOOL,
	FIELD_COUNT, /* int, not negative */
	FIELD_PAST, /* int64_t: a time that has been */
	FIELD_TIME, /* int64_t: a time that may be to come */
	FIELD_NUMBER, /* uint64_t, up to INT64_MAX */
	FIELD_SUM, /* int64_t, not negative */
	FIELD_STATUS,
	FIELD_STEP,
	FIELD_ACCEPT,
	FIELD_OBJECT, /* struct json_object * */
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset;
};

#define AT(member) offsetof(struct worker, member)

/* Each member but the name may be missing. */
static const struct field fields[] = {
	{ "name", FIELD_STRING, AT(name) },
	{ "branch", FIELD_STRING, AT(branch) },
	{ "worktree", FIELD_STRING, AT(worktree) },
	{ "status", FIELD_STATUS, AT(status) },
	{ "since_ms", FIELD_PAST, AT(since_ms) },
	{ "activity_ms", FIELD_PAST, AT(activity_ms) },
	{ "created_ms", FIELD_PAST, AT(created_ms) },
	{ "prompt", FIELD_STRING, AT(prompt) },
	{ "prompt_command", FIELD_STRING, AT(prompt_command) },
	{ "task", FIELD_STRING, AT(task) },
	{ "stalls", FIELD_COUNT, AT(stalls) },
	{ "over_budget", FIELD_BOOL, AT(over_budget) },
	{ "usage_transcript", FIELD_STRING, AT(usage_transcript) },
	{ "usage_tokens", FIELD_SUM, AT(usage_tokens) },
	{ "usage_cost", FIELD_SUM, AT(usage_cost) },
	{ "commit", FIELD_STRING, AT(commit) },
	{ "self_review", FIELD_BOOL, AT(self_review) },
	{ "self_reviewed", FIELD_BOOL, AT(self_reviewed) },
	{ "step", FIELD_STEP, AT(session.step) },
	{ "pending", FIELD_STRING, AT(session.pending) },
	{ "receipt", FIELD_STRING, AT(session.receipt) },
	{ "pending_clear", FIELD_BOOL, AT(session.pending_clear) },
	{ "pending_since_ms", FIELD_PAST, AT(session.pending_since_ms) },
	{ "pending_tries", FIELD_COUNT, AT(session.pending_tries) },
	{ "after", FIELD_STATUS, AT(after) },
	{ "generation", FIELD_NUMBER, AT(session.generation) },
	{ "session", FIELD_STRING, AT(session.id) },
	{ "transcript", FIELD_STRING, AT(session.transcript) },
	{ "pane", FIELD_OBJECT, AT(session.pane) },
	{ "ready", FIELD_BOOL, AT(session.ready) },
	{ "busy", FIELD_BOOL, AT(session.busy) },
	{ "open_tools", FIELD_COUNT, AT(session.open_tools) },
	{ "crashes", FIELD_COUNT, AT(crashes) },
	{ "crashed_ms", FIELD_PAST, AT(crashed_ms) },
	{ "reason", FIELD_STRING, AT(reason) },
	{ "before", FIELD_STATUS, AT(before) },
	{ "until_ms", FIELD_TIME, AT(until_ms) },
	{ "limit_tries", FIELD_COUNT, AT(limit_tries) },
	{ "accept", FIELD_ACCEPT, AT(accept) },
	{ "accept_onto", FIELD_STRING, AT(accept_onto) },
	{ "accept_commit", FIELD_STRING, AT(accept_commit) },
	{ "accept_message", FIELD_STRING, AT(accept_message) },
	{ "conflicts", FIELD_COUNT, AT(conflicts) },
};

/* One member, seen as what its field says it is. */
union member {
	void *at;
	char **string;
	bool *boolean;
	int *count;
	int64_t *time; /* or a sum */
	uint64_t *number;
	enum worker_status *status;
	enum prompt_step *step;
	enum accept_step *accept;
	struct json_object **object;
};

static void
set_member(struct json_object *json, const struct field *field, union member m)
{
	const char *key = field->key;

	switch (field->type) {
	case FIELD_STRING:
		json_set_string(json, key, *m.string);
		break;
	case FIELD_BOOL:
		json_set_bool(json, key, *m.boolean);
		break;
	case FIELD_COUNT:
		json_set_int(json, key, *m.count);
		break;
	case FIELD_PAST:
	case FIELD_TIME:
	case FIELD_SUM:
		json_set_int(json, key, *m.time);
		break;
	case FIELD_NUMBER:
		json_set_int(json, key, (int64_t)*m.number);
		break;
	case FIELD_STATUS:
		json_set_string(json, key, worker_status_name(*m.status));
		break;
	case FIELD_STEP:
		json_set_string(json, key, prompt_step_name(*m.step));
		break;
	case FIELD_ACCEPT:
		json_set_string(json, key, accept_step_name(*m.accept));
		break;
	case FIELD_OBJECT:
		json_set(json, key, json_object_get(*m.object));
		break;
	}
}

struct json_object *
worker_to_json(const struct worker *worker)
{
	struct json_object *json = json_object_new_object();
	struct worker view = *worker; /* the same members, without const */

	for (size_t i = 0; i < nitems(fields); i++)
		set_member(json, &fields[i],
		    (union member){ .at = (char *)&view + fields[i].offset });
	return json;
}

static int
get_time(struct json_object *json, const char *at, const char *key,
    int64_t most, int64_t *ret, struct err *err)
{
	int64_t ms;
	int r;

	r = json_get_int(json, at, key, INT64_MIN, INT64_MAX, &ms, err);
	if (r < 0)
		return r;
	*ret = ms < 0 ? 0 : ms > most ? most : ms;
	return 0;
}

static int
get_member(struct json_object *json, const char *at, const struct field *field,
    int64_t now_ms, union member m, struct err *err)
{
	const char *key = field->key, *string;
	unsigned word = 0;
	int64_t number;
	int r = 0;

	switch (field->type) {
	case FIELD_STRING:
		r = json_get_string(json, at, key, &string, err);
		if (r == 0)
			xstrset(m.string, string);
		return r;
	case FIELD_BOOL:
		return json_get_bool(json, at, key, m.boolean, err);
	case FIELD_COUNT:
		r = json_get_int(json, at, key, 0, INT_MAX, &number, err);
		if (r == 0)
			*m.count = (int)number;
		return r;
	case FIELD_PAST:
		return get_time(json, at, key, now_ms, m.time, err);
	case FIELD_TIME:
		return get_time(json, at, key, INT64_MAX, m.time, err);
	case FIELD_NUMBER:
		r = json_get_int(json, at, key, 0, INT64_MAX, &number, err);
		if (r == 0)
			*m.number = (uint64_t)number;
		return r;
	case FIELD_SUM:
		return json_get_int(json, at, key, 0, INT64_MAX, m.time, err);
	case FIELD_OBJECT:
		r = json_get_object(json, at, key, m.object, err);
		if (r == 0)
			json_object_get(*m.object);
		return r;
	case FIELD_STATUS:
		r = word_get(json, at, key, worker_status_words, &word, err);
		if (r == 0)
			*m.status = (enum worker_status)word;
		return r;
	case FIELD_STEP:
		r = word_get(json, at, key, prompt_step_words, &word, err);
		if (r == 0)
			*m.step = (enum prompt_step)word;
		return r;
	case FIELD_ACCEPT:
		r = word_get(json, at, key, accept_step_words, &word, err);
		if (r == 0)
			*m.accept = (enum accept_step)word;
		return r;
	}
	return r;
}

/* Members that only make sense together, where a file was edited by hand. */
static void
mend(struct worker *worker)
{
	struct session_record *session = &worker->session;

	if (!worker_may(worker->before, WORKER_PAUSED) ||
	    worker_waits(worker->before))
		worker->before = WORKER_OFFLINE;
	if (session->step != PROMPT_NONE &&
	    (session->pending == NULL || session->receipt == NULL)) {
		session_record_forget_pending(session);
		worker->after = WORKER_WORKING;
	}
}

int
worker_from_json(struct json_object *json, const char *at, int64_t now_ms,
    struct worker **ret_worker, struct err *err)
{
	struct worker *worker;
	struct err words;
	const char *name;
	int r;

	r = json_get_string(json, at, "name", &name, &words);
	if (r == 0 && !text_is_name(name))
		r = err_set(&words, -EINVAL, "%s%sname: not a worker's name",
		    at, *at == '\0' ? "" : ".");
	if (r < 0)
		return err_set(err, -EINVAL, "%s", words.msg);
	worker = worker_new(name, now_ms);
	for (size_t i = 0; i < nitems(fields); i++) {
		r = get_member(json, at, &fields[i], now_ms,
		    (union member){ .at = (char *)worker + fields[i].offset },
		    &words);
		if (r < 0 && r != -ENOENT) {
			worker_free(worker);
			return err_set(err, r, "%s", words.msg);
		}
	}
	mend(worker);
	*ret_worker = worker;
	return 0;
}
