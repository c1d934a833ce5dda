/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "schema.h"
#include "text.h"
#include "usage.h"

const char *const usage_kind_words[] = {
	[USAGE_INPUT] = "input",
	[USAGE_OUTPUT] = "output",
	[USAGE_CACHE_READ] = "cache_read",
	[USAGE_CACHE_WRITE_5M] = "cache_write_5m",
	[USAGE_CACHE_WRITE_1H] = "cache_write_1h",
	[USAGE_KINDS] = NULL,
};

static const struct usage_model *
find(const struct usage *usage, const char *name)
{
	for (size_t i = 0; i < usage->count; i++)
		if (strcmp(usage->models[i].name, name) == 0)
			return &usage->models[i];
	return NULL;
}

/* The entry of a model; when there is no space for another one, all further
 * models share the last entry. */
static struct usage_model *
entry_of(struct usage *usage, const char *model)
{
	char name[USAGE_MODEL_SIZE] = "";
	size_t len = text_cut(model, strlen(model), sizeof name - 1);
	const struct usage_model *found;

	memcpy(name, model, len);
	found = find(usage, name);
	if (found != NULL)
		return &usage->models[found - usage->models];
	if (usage->count >= USAGE_MODELS_MAX - 1) {
		memset(name, 0, sizeof name);
		memcpy(name, USAGE_OTHERS, sizeof USAGE_OTHERS);
		found = find(usage, name);
		if (found != NULL)
			return &usage->models[found - usage->models];
	}
	memcpy(usage->models[usage->count].name, name, sizeof name);
	return &usage->models[usage->count++];
}

static void
count(int64_t *sum, int64_t more)
{
	if (more > 0)
		*sum = more > USAGE_MAX - *sum ? USAGE_MAX : *sum + more;
}

void
usage_add(struct usage *usage, const char *model, enum usage_kind kind,
    int64_t tokens)
{
	if (tokens > 0)
		count(&entry_of(usage, model)->tokens[kind], tokens);
}

void
usage_merge(struct usage *usage, const struct usage *more)
{
	for (size_t i = 0; i < more->count; i++)
		for (int k = 0; k < USAGE_KINDS; k++)
			usage_add(usage, more->models[i].name,
			    (enum usage_kind)k, more->models[i].tokens[k]);
	count(&usage->tool_calls, more->tool_calls);
}

struct usage
usage_beyond(const struct usage *total, const struct usage *counted)
{
	struct usage more = { 0 };

	for (size_t i = 0; i < total->count; i++) {
		const struct usage_model *model = &total->models[i];
		const struct usage_model *known = find(counted, model->name);

		for (int k = 0; k < USAGE_KINDS; k++)
			usage_add(&more, model->name, (enum usage_kind)k,
			    model->tokens[k] -
				(known != NULL ? known->tokens[k] : 0));
	}
	count(&more.tool_calls, total->tool_calls - counted->tool_calls);
	return more;
}

bool
usage_is_empty(const struct usage *usage)
{
	return usage->count == 0 && usage->tool_calls == 0;
}

int64_t
usage_budget_tokens(const struct usage *usage)
{
	int64_t sum = 0;

	for (size_t i = 0; i < usage->count; i++)
		for (int k = 0; k < USAGE_KINDS; k++)
			if (k != USAGE_CACHE_READ)
				count(&sum, usage->models[i].tokens[k]);
	return sum;
}

#define TOKENS(key, kind) SCHEMA_FIELD(struct usage_model, key, tokens[kind])

static const struct schema_field model_fields[] = {
	TOKENS("input", USAGE_INPUT),
	TOKENS("output", USAGE_OUTPUT),
	TOKENS("cache_read", USAGE_CACHE_READ),
	TOKENS("cache_write_5m", USAGE_CACHE_WRITE_5M),
	TOKENS("cache_write_1h", USAGE_CACHE_WRITE_1H),
};
static const struct schema model_schema =
    SCHEMA_OF(struct usage_model, model_fields);

static const struct schema by_model = {
	.fields = &(const struct schema_field){ .type = SCHEMA_OBJECT,
	    .of = &model_schema },
};

static const struct schema_field fields[] = {
	SCHEMA_FIELD(struct usage, "tool_calls", tool_calls),
	SCHEMA_IS("models", MAP, "tokens by model and kind", .of = &by_model),
};

const struct schema usage_schema = SCHEMA_OF(struct usage, fields);

struct json_object *
usage_to_json(const struct usage *usage)
{
	struct json_object *json = schema_json(&usage_schema, usage);
	struct json_object *all = json_object_new_object();

	for (size_t i = 0; i < usage->count; i++)
		json_set(all, usage->models[i].name,
		    schema_json(&model_schema, &usage->models[i]));
	json_set(json, "models", all);
	return json;
}

/* A missing number is 0. */
static int
get_number(struct json_object *json, const char *at, const char *key,
    int64_t *ret_number, struct err *err)
{
	int r = json_get_int(json, at, key, 0, USAGE_MAX, ret_number, err);

	return r == -ENOENT ? 0 : r;
}

static int
get_model(struct json_object *json, const char *at, const char *name,
    struct usage *usage, struct err *err)
{
	int r = 0;

	if (!json_object_is_type(json, json_type_object))
		return err_set(err, -EINVAL, "%s: expected an object, found %s",
		    at, json_type_words(json));
	for (int k = 0; k < USAGE_KINDS && r == 0; k++) {
		int64_t tokens = 0;

		r = get_number(json, at, usage_kind_words[k], &tokens, err);
		usage_add(usage, name, (enum usage_kind)k, tokens);
	}
	return r;
}

int
usage_from_json(struct json_object *json, const char *at,
    struct usage *ret_usage, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *models = NULL;
	struct usage usage = { 0 };
	int r = get_number(json, at, "tool_calls", &usage.tool_calls, err);

	if (r < 0)
		return r;
	r = json_get_object(json, at, "models", &models, err);
	if (r < 0 && r != -ENOENT)
		return r;
	json_path_key(&path, at, "models");
	if (models != NULL) {
		json_object_object_foreach(models, name, tokens)
		{
			r = get_model(tokens, path.data, name, &usage, err);
			if (r < 0)
				return r;
		}
	}
	*ret_usage = usage;
	return 0;
}
