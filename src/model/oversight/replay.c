/* SPDX-License-Identifier: ISC */

/* Documents of histories: what is found at their end, behaviour_check(), and
 * what the ladder would have done, behaviour_replay(). */

#include "base.h"

#include "behaviour-private.h"
#include "ladder.h"
#include "schema.h"

/* How many of the calls from `at` on belong to this iteration: a part of a turn
 * has as many as a slice, and the last iteration has the rest. */
static size_t
calls_of(struct json_object *calls, size_t at, bool part, bool last)
{
	size_t count = json_length(calls), n = 0;

	while (at + n < count && !(part && n == CALLS_SLICE)) {
		int64_t flags = json_object_get_int64(json_object_array_get_idx(
		    json_object_array_get_idx(calls, at + n), 3));
		bool ends = (flags & (CALL_END | CALL_WORDS)) == CALL_END;

		if (part && ends && !last)
			break;
		n++;
		if (ends && !last)
			break;
	}
	return n;
}

static void
add_step(struct json_object *steps, const struct behaviour *b,
    const struct iteration *it, int type, enum progress_step step)
{
	struct json_object *json = json_object_new_object();
	struct detection d;

	behaviour_describe(b, (enum detection_type)type, &d);
	json_set_int(json, "iteration", it->number);
	json_set_string(json, "step", progress_step_words[step]);
	json_set_string(json, "type", detection_type_words[type]);
	json_set_string(json, "why", d.message);
	json_object_array_add(steps, json);
	detection_release(&d);
}

/* A history of a document. */
struct history {
	struct json_object *iterations,
	    *calls; /* borrowed; calls may be NULL */
	struct thresholds thresholds;
	struct buf at; /* the path of the iterations */
};

static int
history_open(const struct thresholds *thresholds, struct json_object *json,
    const char *at, struct history *h, struct err *err)
{
	struct json_object *given = NULL;
	int r;

	*h = (struct history){
		.iterations = json, .thresholds = *thresholds, .at = BUF_INIT
	};
	buf_adds(&h->at, at);
	if (json_object_is_type(json, json_type_array))
		return 0;
	if (!json_object_is_type(json, json_type_object))
		return err_set(err, -EINVAL,
		    "%s%sexpected a history: an object with \"history\", or "
		    "an array of iterations",
		    at, at[0] != '\0' ? ": " : "");
	buf_clear(&h->at);
	json_path_key(&h->at, at, "history");
	r = json_get_array(json, at, "history", &h->iterations, err);
	if (r == -ENOENT)
		return err_set(err, -EINVAL,
		    "\"%s\", the array of iterations, is missing", h->at.data);
	if (r == 0)
		r = json_get_array(json, at, "calls", &h->calls, err);
	if (r == 0 || r == -ENOENT)
		r = json_get_object(json, at, "thresholds", &given, err);
	if (r == 0 || r == -ENOENT)
		r = thresholds_merge(&h->thresholds, given, "thresholds", err);
	return r;
}

/* The next iteration; `next` is the first of the calls that are not its own.
 * Its owner is the caller. */
static int
history_next(const struct history *h, size_t i, size_t *next,
    struct iteration **ret, struct err *err)
{
	cleanup_iteration struct iteration *it = NULL;
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *json = json_object_array_get_idx(h->iterations, i);
	size_t end = *next;
	int r = 0;

	json_path_index(&path, h->at.data != NULL ? h->at.data : "", i);
	if (json == NULL)
		it = iteration_new((int64_t)i + 1);
	else
		r = iteration_from_json(
		    json, path.data, (int64_t)i + 1, &it, err);
	if (r < 0)
		return r;
	if (!it->calls_known)
		end += calls_of(h->calls, *next, it->part,
		    i + 1 == json_length(h->iterations));
	for (; *next < end; ++*next) {
		struct json_object *call =
		    json_object_array_get_idx(h->calls, *next);
		int64_t part[4];

		if (json_length(call) != nitems(part))
			return err_set(err, -EINVAL,
			    "calls[%zu]: expected four numbers", *next);
		for (size_t p = 0; p < nitems(part); p++)
			part[p] = json_object_get_int64(
			    json_object_array_get_idx(call, p));
		iteration_add_call(it,
		    &(struct iteration_call){ (uint64_t)part[0],
			(uint64_t)part[1] + 1, (uint64_t)part[2],
			(unsigned)part[3] });
	}
	*ret = take_ptr(&it);
	return 0;
}

int
behaviour_check(const struct thresholds *thresholds,
    struct json_object *document, struct json_object **ret_detections,
    char ***unknown, struct err *err)
{
	static const char *const keys[] = { "history", "thresholds", "name",
		"calls", NULL };
	cleanup_behaviour struct behaviour *b = NULL;
	struct history h;
	size_t next = 0;
	int r = json_object_is_type(document, json_type_object) ?
	    schema_known(&(const struct schema){ 0 }, keys, document, "", err) :
	    0;

	if (r < 0)
		return r;
	r = history_open(thresholds, document, "", &h, err);
	b = behaviour_new(&h.thresholds);
	for (size_t i = 0; r == 0 && i < json_length(h.iterations); i++) {
		cleanup_iteration struct iteration *it = NULL;

		r = history_next(&h, i, &next, &it, err);
		if (r < 0)
			break;
		if (unknown != NULL)
			iteration_unknown(
			    json_object_array_get_idx(h.iterations, i),
			    unknown);
		behaviour_add(b, it);
	}
	buf_release(&h.at);
	if (r == 0)
		*ret_detections = behaviour_to_json(b);
	return r;
}

/* What is due is done at once. */
static int
replay_object(const struct thresholds *thresholds, struct json_object *json,
    const char *name, const char *at, struct json_object *list, struct err *err)
{
	struct json_object *entry = json_object_new_object();
	struct json_object *steps = json_object_new_array();
	cleanup_behaviour struct behaviour *b = NULL;
	struct progress progress = { 0 };
	const struct progress_policy policy = { 0 };
	struct history h;
	size_t next = 0;
	int r = history_open(thresholds, json, at, &h, err);

	json_set_string(entry, "name", json_string_or(json, "name", name));
	json_set(entry, "steps", steps);
	json_object_array_add(list, entry);
	b = behaviour_new(&h.thresholds);
	for (size_t i = 0; r == 0 && i < json_length(h.iterations); i++) {
		cleanup_iteration struct iteration *it = NULL;
		enum progress_step called_for[DETECTION_TYPES];
		enum progress_step due[DETECTION_TYPES];

		r = history_next(&h, i, &next, &it, err);
		if (r < 0)
			break;
		behaviour_add(b, it);
		for (int type = 0; type < DETECTION_TYPES; type++)
			called_for[type] =
			    behaviour_step(b, (enum detection_type)type);
		progress_next(&progress, called_for, &policy, due);
		for (int type = 0; type < DETECTION_TYPES; type++) {
			if (due[type] == STEP_NONE)
				continue;
			add_step(steps, b, it, type, due[type]);
			progress_delivered(
			    &progress, (enum detection_type)type, due[type]);
		}
	}
	buf_release(&h.at);
	return r;
}

/* Is it an array of histories, and not one of iterations? */
static bool
has_histories(struct json_object *document)
{
	struct json_object *first = json_length(document) > 0 ?
	    json_object_array_get_idx(document, 0) :
	    NULL;

	return json_object_is_type(document, json_type_array) &&
	    (json_object_is_type(first, json_type_array) ||
		json_member(first, "history") != NULL);
}

int
behaviour_replay(const struct thresholds *thresholds,
    struct json_object *document, struct json_object **ret_replays,
    struct err *err)
{
	cleanup_json struct json_object *list = json_object_new_array();
	int r = 0;

	if (!has_histories(document))
		r = replay_object(
		    thresholds, document, "history", "", list, err);
	for (size_t i = 0;
	     has_histories(document) && r == 0 && i < json_length(document);
	     i++) {
		cleanup_free char *name = xasprintf("history %zu", i + 1);
		cleanup_buf struct buf at = BUF_INIT;

		json_path_index(&at, "", i);
		r = replay_object(thresholds,
		    json_object_array_get_idx(document, i), name, at.data, list,
		    err);
	}
	if (r == 0)
		*ret_replays = take_ptr(&list);
	return r;
}

static const struct schema replay_step = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("iteration", INT, NULL),
	    SCHEMA_IS("step", STRING, NULL, .choices = progress_step_words),
	    SCHEMA_IS("type", STRING, NULL, .choices = detection_type_words),
	    SCHEMA_IS("why", STRING, NULL),
	    SCHEMA_END,
	},
};

const struct schema replay_schema = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("name", STRING, NULL),
	    SCHEMA_IS("steps", ROWS, NULL, .of = &replay_step),
	    SCHEMA_END,
	},
};
