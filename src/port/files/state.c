/* SPDX-License-Identifier: ISC */

/* What is in state.json; its files are state-file.c. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "id.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "record.h"
#include "state.h"
#include "worker-json.h"
#include "worker.h"

void
state_init(struct state *state)
{
	memset(state, 0, sizeof *state);
	id_uuid(state->root_id);
}

void
state_release(struct state *state)
{
	for (size_t i = 0; i < state->count; i++)
		worker_free(state->workers[i]);
	free(state->workers);
	free(state->last_reviewed);
	state_auto_release(state);
	json_object_put(state->rest);
	memset(state, 0, sizeof *state);
}

/* Where the worker is, or would have to be. */
static size_t
state_place(const struct state *state, const char *name, bool *ret_found)
{
	size_t low = 0, high = state->count, middle;
	int order;

	*ret_found = false;
	while (low < high) {
		middle = low + (high - low) / 2;
		order = strcmp(state->workers[middle]->name, name);
		if (order == 0) {
			*ret_found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct worker *
state_find(const struct state *state, const char *name)
{
	bool found;
	size_t at = state_place(state, name, &found);

	return found ? state->workers[at] : NULL;
}

void
state_add(struct state *state, struct worker *worker)
{
	bool found;
	size_t at = state_place(state, worker->name, &found);

	if (found)
		fatalx("two workers named %s", worker->name);
	state->workers = xreallocarray(
	    state->workers, state->count + 1, sizeof(struct worker *));
	memmove(state->workers + at + 1, state->workers + at,
	    (state->count - at) * sizeof(struct worker *));
	state->workers[at] = worker;
	state->count++;
}

void
state_remove(struct state *state, const char *name)
{
	bool found;
	size_t at = state_place(state, name, &found);

	if (!found)
		return;
	worker_free(state->workers[at]);
	state->count--;
	memmove(state->workers + at, state->workers + at + 1,
	    (state->count - at) * sizeof(struct worker *));
}

static void
copy_members(struct json_object *from, struct json_object *to)
{
	struct json_object_iter it;

	json_object_object_foreachC(from, it)
	{
		json_set(to, it.key, json_object_get(it.val));
	}
}

static const struct record_field counters[] = {
	RECORD_FIELD(struct state, "receipts", receipts),
	RECORD_FIELD(struct state, "last_reviewed", last_reviewed),
	RECORD_FIELD(struct state, "daemon_running", daemon_running),
};

struct json_object *
state_to_json(const struct state *state)
{
	struct json_object *json = json_object_new_object();
	struct json_object *workers = json_object_new_object();

	json_set_string(json, "root_id", state->root_id);
	record_to_json(counters, nitems(counters), state, json);
	for (size_t i = 0; i < state->count; i++)
		json_set(workers, state->workers[i]->name,
		    worker_to_json(state->workers[i]));
	json_set(json, "workers", workers);
	state_auto_to_json(state, json);
	if (state->rest != NULL)
		copy_members(state->rest, json);
	return json;
}

/* Missing is fine, another type is not. */
static int
optional(int r)
{
	return r == -ENOENT ? 0 : r;
}

static int
parse_counters(struct json_object *json, struct state *state, struct err *err)
{
	const char *root_id = NULL;
	int r;

	r = optional(json_get_string(json, "", "root_id", &root_id, err));
	if (r < 0)
		return r;
	if (root_id != NULL && !id_uuid_valid(root_id))
		return err_set(err, -EINVAL, "root_id: expected a UUID");
	if (root_id != NULL)
		strlcpy(state->root_id, root_id, sizeof state->root_id);
	return record_from_json(
	    counters, nitems(counters), json, "", state, err);
}

static int
parse_worker(const char *name, struct json_object *json, int64_t now_ms,
    struct state *state, struct err *err)
{
	cleanup_buf struct buf at = BUF_INIT;
	struct worker *worker = NULL;
	int r;

	json_path_key(&at, "workers", name);
	r = worker_from_json(json, at.data, now_ms, &worker, err);
	if (r < 0)
		return r;
	if (strcmp(worker->name, name) != 0) {
		worker_free(worker);
		return err_set(err, -EINVAL,
		    "%s.name: expected the name it is filed under", at.data);
	}
	state_add(state, worker);
	return 0;
}

static int
parse_workers(struct json_object *json, int64_t now_ms, struct state *state,
    struct err *err)
{
	struct json_object *workers = NULL;
	struct json_object_iter it;
	int r;

	r = json_get_object(json, "", "workers", &workers, err);
	if (r < 0)
		return optional(r);
	json_object_object_foreachC(workers, it)
	{
		r = parse_worker(it.key, it.val, now_ms, state, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A newer version's members must survive a visit of an older one. */
static void
keep_rest(struct json_object *json, struct state *state)
{
	static const struct state nothing;
	cleanup_json struct json_object *known = state_to_json(&nothing);
	cleanup_json struct json_object *rest = json_object_new_object();
	struct json_object_iter it;

	copy_members(json, rest);
	json_object_object_foreachC(known, it)
	{
		json_object_object_del(rest, it.key);
	}
	if (json_object_object_length(rest) > 0)
		state->rest = json_object_get(rest);
}

int
state_parse(const char *bytes, size_t len, int64_t now_ms,
    struct state *ret_state, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	struct state state;
	int r;

	r = json_parse(bytes, len, STATE_SIZE_MAX, &json, err);
	if (r < 0)
		return r;
	if (!json_object_is_type(json, json_type_object))
		return err_set(err, -EINVAL, "expected an object, found %s",
		    json_type_words(json));
	state_init(&state);
	r = parse_counters(json, &state, err);
	if (r == 0)
		r = parse_workers(json, now_ms, &state, err);
	if (r == 0)
		r = state_auto_from_json(json, &state, err);
	if (r < 0) {
		state_release(&state);
		/* Whatever is missing in a record makes it malformed. */
		if (err != NULL)
			err->code = -EINVAL;
		return -EINVAL;
	}
	keep_rest(json, &state);
	*ret_state = state;
	return 0;
}
