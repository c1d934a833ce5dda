/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "iteration.h"

#include <math.h>

#include "excerpt.h"
#include "json-short.h"
#include "schema.h"

static const char *const token_keys[ITERATION_TOKEN_KINDS] = {
	[ITERATION_INPUT] = "input",
	[ITERATION_OUTPUT] = "output",
	[ITERATION_CACHE_READ] = "cacheRead",
	[ITERATION_CACHE_WRITE] = "cacheWrite",
};

struct iteration *
iteration_new(int64_t number)
{
	struct iteration *it = xcalloc(1, sizeof *it);

	it->refs = 1;
	it->number = number;
	it->duration_ms = -1;
	it->completion = NAN;
	it->tests = -1;
	it->coverage = NAN;
	it->max_iterations = -1;
	it->estimated_cost = NAN;
	it->estimated_calls = it->failing_named = -1;
	it->cost = NAN;
	for (size_t i = 0; i < ITERATION_TOKEN_KINDS; i++)
		it->tokens[i] = -1;
	return it;
}

struct iteration *
iteration_ref(const struct iteration *iteration)
{
	struct iteration *it = (struct iteration *)(uintptr_t)iteration;

	if (it != NULL)
		it->refs++;
	return it;
}

void
iteration_unref(struct iteration *it)
{
	if (it == NULL || --it->refs > 0)
		return;
	schema_release(&iteration_schema, it);
	strv_free(it->errors);
	strv_free(it->files);
	free(it->calls);
	for (size_t i = 0; i < it->blob_count; i++) {
		free(it->blobs[i].path);
		free(it->blobs[i].hash);
	}
	free(it->blobs);
	free(it);
}

void
iteration_cleanup(struct iteration **iteration)
{
	iteration_unref(*iteration);
}

static char *
cut(const char *text, size_t max)
{
	return xstrndup(text, text_cut(text, strlen(text), max));
}

void
iteration_add_error(struct iteration *it, const char *text)
{
	it->errors_known = true;
	if (strv_count(it->errors) < ITERATION_ERRORS)
		strv_take(&it->errors, cut(text, ITERATION_ERROR_MAX));
}

void
iteration_set_failure(struct iteration *it, const char *output)
{
	cleanup_buf struct buf plain = BUF_INIT, tail = BUF_INIT;

	excerpt_plain(output, &plain);
	while (
	    plain.len > 0 && strchr(" \t\n", plain.data[plain.len - 1]) != NULL)
		buf_truncate(&plain, plain.len - 1);
	excerpt_tail(plain.data, plain.len, INT_MAX, ITERATION_FAILURE, &tail);
	free(it->failure);
	it->failure = buf_take(&tail);
}

void
iteration_add_call(struct iteration *it, const struct iteration_call *call)
{
	it->calls_known = true;
	if (it->call_count >= ITERATION_CALLS)
		return;
	if ((it->call_count & (it->call_count + 1)) == 0)
		it->calls = xreallocarray(
		    it->calls, 2 * it->call_count + 2, sizeof *it->calls);
	it->calls[it->call_count++] = *call;
}

void
iteration_add_blob(struct iteration *it, const char *path, const char *hash)
{
	if (it->blob_count >= ITERATION_FILES)
		return;
	if ((it->blob_count & (it->blob_count + 1)) == 0)
		it->blobs = xreallocarray(
		    it->blobs, 2 * it->blob_count + 2, sizeof *it->blobs);
	it->blobs[it->blob_count].path = xstrdup(path);
	it->blobs[it->blob_count++].hash = xstrdup(hash);
}

/* --- from JSON ------------------------------------------------------- */

/* Where members are read from; the optional ones may be in any of the three. */
struct place {
	struct json_object *json;
	const char *at;
};

struct reader {
	struct place top, analysis, context;
	struct err *err;
	int status; /* of the first failure */
};

static bool
has(const struct place *place, const char *key)
{
	return place->json != NULL &&
	    json_object_object_get_ex(place->json, key, NULL);
}

static const struct place *
anywhere(const struct reader *r, const char *key)
{
	if (has(&r->analysis, key))
		return &r->analysis;
	return has(&r->context, key) ? &r->context : &r->top;
}

/* Is the member there? A failure is kept. */
static bool
settle(struct reader *r, int status)
{
	if (status < 0 && status != -ENOENT && r->status == 0)
		r->status = status;
	return status == 0;
}

static void
read_text(
    struct reader *r, const struct place *place, const char *key, char **ret)
{
	const char *text;

	if (r->status == 0 && place->json != NULL &&
	    settle(
		r, json_get_string(place->json, place->at, key, &text, r->err)))
		*ret = cut(text, ITERATION_TEXT_MAX);
}

static void
read_int(struct reader *r, const struct place *place, const char *key,
    int64_t max, int64_t *ret)
{
	int64_t value;

	if (r->status == 0 && place->json != NULL &&
	    settle(r,
		json_get_int(
		    place->json, place->at, key, 0, max, &value, r->err)))
		*ret = value;
}

static int
wrong(struct reader *r, const struct place *place, const char *key,
    const char *wanted)
{
	cleanup_buf struct buf path = BUF_INIT;

	json_path_key(&path, place->at, key);
	r->status =
	    err_set(r->err, -EINVAL, "%s: expected %s", path.data, wanted);
	return r->status;
}

static void
read_number(
    struct reader *r, const struct place *place, const char *key, double *ret)
{
	double value;

	if (r->status < 0 || place->json == NULL ||
	    !settle(r,
		json_get_double(place->json, place->at, key, &value, r->err)))
		return;
	if (value >= 0 && value <= ITERATION_VALUE_MAX)
		*ret = value;
	else
		wrong(r, place, key, "a number from 0 to 1e12");
}

/* A list of strings; a single one is a list too. */
static bool
read_list(struct reader *r, const struct place *place, const char *key,
    size_t max, size_t bytes, char ***ret)
{
	struct json_object *value;
	cleanup_free char **items = NULL;
	size_t count;

	if (r->status < 0 || place->json == NULL ||
	    !json_object_object_get_ex(place->json, key, &value) ||
	    value == NULL)
		return false;
	if (json_object_is_type(value, json_type_string)) {
		strv_take(ret, cut(json_object_get_string(value), bytes));
		return true;
	}
	if (!json_object_is_type(value, json_type_array)) {
		wrong(r, place, key, "a list of strings");
		return false;
	}
	count = json_object_array_length(value);
	count = count < max ? count : max;
	for (size_t i = 0; i < count; i++)
		if (!json_object_is_type(json_object_array_get_idx(value, i),
			json_type_string)) {
			wrong(r, place, key, "a list of strings");
			return false;
		}
	/* Filled at once: strv_take looks for the end each time. */
	items = xcalloc(count + 1, sizeof(char *));
	for (size_t i = 0; i < count; i++)
		items[i] = cut(
		    json_object_get_string(json_object_array_get_idx(value, i)),
		    bytes);
	strv_clear(ret);
	*ret = take_ptr(&items);
	return true;
}

static bool
succeeded(const char *status)
{
	return status != NULL &&
	    (strcmp(status, "success") == 0 ||
		strcmp(status, "succeeded") == 0 ||
		strcmp(status, "completed") == 0 ||
		strcmp(status, "passed") == 0 || strcmp(status, "ok") == 0);
}

static bool
is_null(struct json_object *json, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(json, key, &value) && value == NULL;
}

static void
read_errors(struct reader *r, struct iteration *it)
{
	struct json_object *analysis = r->analysis.json;
	cleanup_free char *class = NULL;
	cleanup_strv char **errors = NULL;
	bool listed = read_list(r, &r->analysis, "errors", ITERATION_ERRORS,
	    ITERATION_ERROR_MAX, &errors);

	read_text(r, &r->analysis, "failureClass", &class);
	if (r->status < 0)
		return;
	it->errors_known = listed || class != NULL || succeeded(it->status) ||
	    (analysis != NULL && json_object_object_length(analysis) > 0 &&
		!is_null(analysis, "errors"));
	if (class != NULL && class[0] != '\0')
		iteration_add_error(it, class);
	for (char **e = errors; e != NULL && *e != NULL; e++)
		if (!text_is(class, *e))
			iteration_add_error(it, *e);
}

static void
read_learnings(struct reader *r, struct iteration *it)
{
	cleanup_strv char **list = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	if (!read_list(r, &r->analysis, "learnings", ITERATION_BLOCKERS,
		ITERATION_TEXT_MAX, &list))
		return;
	for (char **s = list; s != NULL && *s != NULL; s++)
		buf_addf(&text, "%s%s", text.len > 0 ? "\n" : "", *s);
	it->learnings = cut(text.data, ITERATION_TEXT_MAX);
}

static void
take_blobs(struct reader *r, const struct place *place,
    struct json_object *blobs, struct iteration *it)
{
	json_object_object_foreach(blobs, path, hash)
	{
		if (hash != NULL &&
		    !json_object_is_type(hash, json_type_string)) {
			wrong(r, place, "blobs", "hashes of files");
			return;
		}
		iteration_add_blob(
		    it, path, hash == NULL ? "" : json_object_get_string(hash));
	}
}

/* [[action, tree, answer, flags], ...] */
static void
read_calls(struct reader *r, struct iteration *it)
{
	struct json_object *list = NULL;

	if (r->status < 0 ||
	    !settle(r,
		json_get_array(r->top.json, r->top.at, "calls", &list, r->err)))
		return;
	it->calls_known = true;
	JSON_EACH (row, list) {
		int64_t part[4];

		for (size_t i = 0; i < nitems(part); i++) {
			struct json_object *value = json_length(row) == 4 ?
			    json_object_array_get_idx(row, i) :
			    NULL;

			if (!json_object_is_type(value, json_type_int)) {
				wrong(r, &r->top, "calls",
				    "lists of four numbers");
				return;
			}
			part[i] = json_object_get_int64(value);
		}
		iteration_add_call(it,
		    &(struct iteration_call){ (uint64_t)part[0],
			(uint64_t)part[1], (uint64_t)part[2],
			(unsigned)part[3] });
	}
}

static void
read_tokens(struct reader *r, struct iteration *it)
{
	const struct place *place = anywhere(r, "tokens");
	cleanup_buf struct buf at = BUF_INIT;
	struct place tokens = { NULL, NULL };

	if (r->status < 0 ||
	    !settle(r,
		json_get_object(
		    place->json, place->at, "tokens", &tokens.json, r->err)))
		return;
	json_path_key(&at, place->at, "tokens");
	tokens.at = at.data;
	for (size_t i = 0; i < ITERATION_TOKEN_KINDS; i++)
		read_int(r, &tokens, token_keys[i], INT64_MAX, &it->tokens[i]);
}

static void
read_all(struct reader *r, struct iteration *it)
{
	const struct place *a = &r->analysis, *c = &r->context;
	bool passing;
	const struct place *place;
	struct json_object *blobs;

	read_int(r, &r->top, "number", ITERATION_NUMBER_MAX, &it->number);
	read_text(r, &r->top, "status", &it->status);
	read_int(r, &r->top, "durationMs", ITERATION_MS_MAX, &it->duration_ms);
	read_errors(r, it);
	read_list(r, a, "blockers", ITERATION_BLOCKERS, ITERATION_ERROR_MAX,
	    &it->blockers);
	read_learnings(r, it);
	read_number(r, a, "completionPercentage", &it->completion);
	if (r->status == 0 && r->analysis.json != NULL &&
	    settle(r,
		json_get_bool(r->analysis.json, r->analysis.at, "testsPassing",
		    &passing, r->err)))
		it->tests = passing;
	read_text(r, a, "checkFailure", &it->failure);
	read_list(r, a, "failing", ITERATION_FILES, ITERATION_ERROR_MAX,
	    &it->failing);
	read_int(
	    r, a, "failingNamed", ITERATION_NUMBER_MAX, &it->failing_named);
	read_number(r, a, "coveragePercent", &it->coverage);
	it->files_known = read_list(r, a, "artifactsModified", ITERATION_FILES,
	    ITERATION_ERROR_MAX, &it->files);
	read_text(r, c, "objective", &it->objective);
	read_int(
	    r, c, "maxIterations", ITERATION_NUMBER_MAX, &it->max_iterations);
	read_number(r, anywhere(r, "estimatedCost"), "estimatedCost",
	    &it->estimated_cost);
	read_int(r, anywhere(r, "estimatedCalls"), "estimatedCalls",
	    ITERATION_NUMBER_MAX, &it->estimated_calls);
	read_number(r, anywhere(r, "cost"), "cost", &it->cost);
	read_tokens(r, it);
	read_list(r, anywhere(r, "scope"), "scope", ITERATION_FILES,
	    ITERATION_ERROR_MAX, &it->scope);
	place = anywhere(r, "blobs");
	if (r->status == 0 &&
	    settle(r,
		json_get_object(
		    place->json, place->at, "blobs", &blobs, r->err)))
		take_blobs(r, place, blobs, it);
	read_text(r, anywhere(r, "treeHash"), "treeHash", &it->tree);
	it->part = json_bool_or(r->top.json, "part", false);
	it->waits = json_bool_or(r->top.json, "waits", false);
	it->own_tests = json_bool_or(r->top.json, "ownTests", false);
	read_int(r, &r->top, "attempt", ITERATION_NUMBER_MAX, &it->attempt);
	read_text(r, &r->top, "repeated", &it->repeated);
	read_calls(r, it);
}

static void
enter(struct reader *r, const char *key, struct buf *at, struct place *ret)
{
	json_path_key(at, r->top.at, key);
	ret->at = at->data;
	if (r->status == 0)
		settle(r,
		    json_get_object(
			r->top.json, r->top.at, key, &ret->json, r->err));
}

int
iteration_from_json(struct json_object *json, const char *at, int64_t number,
    struct iteration **ret_iteration, struct err *err)
{
	struct reader r = { .top = { json, at }, .err = err };
	cleanup_iteration struct iteration *it = iteration_new(number);
	cleanup_buf struct buf analysis = BUF_INIT, context = BUF_INIT;

	if (!json_object_is_type(json, json_type_object))
		return err_set(err, -EINVAL, "%s: expected an object, found %s",
		    at, json_type_words(json));
	enter(&r, "analysis", &analysis, &r.analysis);
	enter(&r, "context", &context, &r.context);
	read_all(&r, it);
	if (r.status < 0)
		return r.status;
	*ret_iteration = take_ptr(&it);
	return 0;
}

/* --- to JSON --------------------------------------------------------- */

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct iteration, key, member, ##__VA_ARGS__)
#define MAY(key, member) FIELD(key, member, .flags = SCHEMA_OMIT_UNSET)
#define KNOWN(key, member) \
	FIELD(key, member, .flags = SCHEMA_OMIT_UNSET | SCHEMA_UNKNOWN)
#define MADE(key, kind, ...)                                        \
	{                                                           \
		.name = (key), .type = SCHEMA_##kind, ##__VA_ARGS__ \
	}
#define PERHAPS .flags = (SCHEMA_OPTIONAL | SCHEMA_NULLABLE)

static const struct schema_field analysis_fields[] = {
	MADE("failureClass", STRING, PERHAPS,
	    .help = "the first error; null = there was none"),
	MADE("errors", LIST, PERHAPS, .help = "null = not known"),
	MAY("blockers", blockers),
	MAY("learnings", learnings),
	MAY("completionPercentage", completion),
	SCHEMA_AS(struct iteration, "testsPassing", TRUTH, tests,
	    .flags = SCHEMA_OMIT_UNSET),
	MAY("checkFailure", failure),
	MAY("failing", failing),
	KNOWN("failingNamed", failing_named),
	MAY("coveragePercent", coverage),
	MADE("artifactsModified", LIST, .flags = SCHEMA_OPTIONAL),
};
static const struct schema analysis =
    SCHEMA_OF(struct iteration, analysis_fields);

static const struct schema_field context_fields[] = {
	MAY("objective", objective),
	KNOWN("maxIterations", max_iterations),
	MAY("estimatedCost", estimated_cost),
	KNOWN("estimatedCalls", estimated_calls),
};
static const struct schema context =
    SCHEMA_OF(struct iteration, context_fields);

static const struct schema_field token_fields[] = {
	KNOWN("input", tokens[ITERATION_INPUT]),
	KNOWN("output", tokens[ITERATION_OUTPUT]),
	KNOWN("cacheRead", tokens[ITERATION_CACHE_READ]),
	KNOWN("cacheWrite", tokens[ITERATION_CACHE_WRITE]),
};
static const struct schema tokens = SCHEMA_OF(struct iteration, token_fields);

static const struct schema call_parts = {
	.fields = &(const struct schema_field){ .type = SCHEMA_INT },
};
static const struct schema call = {
	.fields = &(const struct schema_field){ .type = SCHEMA_ARRAY,
	    .of = &call_parts },
};

static const struct schema hashes = {
	.fields = &(const struct schema_field){ .type = SCHEMA_STRING,
	    .flags = SCHEMA_NULLABLE },
};

static const struct schema_field fields[] = {
	FIELD("number", number),
	MAY("status", status),
	KNOWN("durationMs", duration_ms),
	SCHEMA_GROUP("analysis", analysis),
	SCHEMA_GROUP("context", context),
	MAY("cost", cost),
	SCHEMA_GROUP("tokens", tokens, .flags = SCHEMA_OMIT_UNSET),
	MAY("scope", scope),
	MADE("blobs", MAP, .of = &hashes, .flags = SCHEMA_OPTIONAL),
	MAY("treeHash", tree),
	MAY("part", part),
	MAY("waits", waits),
	MAY("attempt", attempt),
	MAY("ownTests", own_tests),
	MADE("calls", ARRAY, .of = &call, .flags = SCHEMA_OPTIONAL,
	    .help = "[action, tree, answer, flags]"),
	MAY("repeated", repeated),
};

const struct schema iteration_schema = SCHEMA_OF(struct iteration, fields);

static void
set_analysis(const struct iteration *it, struct json_object *json)
{
	if (it->errors_known)
		json_set_string(json, "failureClass",
		    it->errors == NULL ? NULL : it->errors[0]);
	if (strv_count(it->errors) > 1)
		json_set(json, "errors", strv_to_json(it->errors));
	if (it->files_known)
		json_set(json, "artifactsModified", strv_to_json(it->files));
	if (!it->errors_known && json_object_object_length(json) > 0)
		json_set(json, "errors", NULL);
}

static struct json_object *
calls_to_json(const struct iteration *it)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < it->call_count; i++) {
		const struct iteration_call *c = &it->calls[i];
		const int64_t part[] = { (int64_t)c->action, (int64_t)c->tree,
			(int64_t)c->answer, (int64_t)c->flags };
		struct json_object *row = json_object_new_array();

		for (size_t k = 0; k < nitems(part); k++)
			json_object_array_add(
			    row, json_object_new_int64(part[k]));
		json_object_array_add(list, row);
	}
	return list;
}

struct json_object *
iteration_to_json(const struct iteration *it)
{
	struct json_object *json = schema_json(&iteration_schema, it);
	struct json_object *blobs;

	set_analysis(it, json_member(json, "analysis"));
	blobs = it->blob_count > 0 ? json_object_new_object() : NULL;
	for (size_t i = 0; i < it->blob_count; i++)
		json_set_string(blobs, it->blobs[i].path,
		    it->blobs[i].hash[0] == '\0' ? NULL : it->blobs[i].hash);
	if (blobs != NULL)
		json_set(json, "blobs", blobs);
	if (it->calls_known)
		json_set(json, "calls", calls_to_json(it));
	schema_order(&iteration_schema, json);
	return json;
}

/* --- members that nobody knows --------------------------------------- */

static bool
has_field(const struct schema *schema, const char *name)
{
	for (size_t i = 0; i < schema->count; i++)
		if (strcmp(schema->fields[i].name, name) == 0)
			return true;
	return false;
}

static void
add_unknown(struct json_object *json, const char *group,
    const struct schema *known, const struct schema *also, char ***names)
{
	struct json_object_iterator it, end;

	if (!json_object_is_type(json, json_type_object))
		return;
	end = json_object_iter_end(json);
	for (it = json_object_iter_begin(json);
	     !json_object_iter_equal(&it, &end); json_object_iter_next(&it)) {
		const char *key = json_object_iter_peek_name(&it);
		cleanup_free char *name = xasprintf(
		    "%s%s%s", group, group[0] != '\0' ? "." : "", key);

		if (!has_field(known, key) && !has_field(also, key) &&
		    !strv_has(strv_const(*names), name))
			strv_add(names, name);
	}
}

void
iteration_unknown(struct json_object *json, char ***names)
{
	/* The optional ones may be in any of the three. */
	add_unknown(json, "", &iteration_schema, &context, names);
	add_unknown(json_member(json, "analysis"), "analysis", &analysis,
	    &iteration_schema, names);
	add_unknown(json_member(json, "context"), "context", &context,
	    &iteration_schema, names);
}
