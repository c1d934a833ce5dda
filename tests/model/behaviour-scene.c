/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "behaviour-scene.h"

#include "behaviour.h"
#include "iteration.h"
#include "thresholds.h"

static struct behaviour *behaviour;
static struct json_object *found;
static struct buf words = BUF_INIT;
static int64_t number;

static struct json_object *
parse(const char *text)
{
	cleanup_free char *json = xstrdup(text);
	struct json_object *value = NULL;
	struct err err = { 0 };

	for (char *c = json; *c != '\0'; c++)
		if (*c == '\'')
			*c = '"';
	json_parse(json, strlen(json), 1 << 20, &value, &err);
	ck_assert_msg(value != NULL, "%s: %s", json, err.msg);
	return value;
}

static void
forget(void)
{
	behaviour_free(behaviour);
	behaviour = NULL;
	json_object_put(found);
	found = NULL;
	buf_release(&words);
}

void
scene_begin(const char *given)
{
	static bool registered;
	struct thresholds thresholds;
	cleanup_json struct json_object *json = NULL;
	struct err err = { 0 };

	if (!registered)
		atexit(forget);
	registered = true;
	forget();
	number = 0;
	thresholds_init(&thresholds, PROFILE_DEFAULT);
	if (given != NULL)
		json = parse(given);
	ck_assert_msg(
	    thresholds_merge(&thresholds, json, "thresholds", &err) == 0, "%s",
	    err.msg);
	behaviour = behaviour_new(&thresholds);
}

void
scene_add(const char *json, ...)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_json struct json_object *value = NULL;
	cleanup_iteration struct iteration *it = NULL;
	struct err err = { 0 };
	va_list ap;
	int r;

	va_start(ap, json);
	buf_vaddf(&text, json, ap);
	va_end(ap);
	value = parse(text.data);
	r = iteration_from_json(value, "iteration", ++number, &it, &err);
	ck_assert_msg(r == 0, "%s", err.msg);
	behaviour_add(behaviour, it);
}

void
scene_repeat(int count, const char *json)
{
	while (count-- > 0)
		scene_add("%s", json);
}

const char *
scene_found(void)
{
	json_object_put(found);
	found = behaviour_to_json(behaviour);
	buf_clear(&words);
	for (size_t i = 0; i < json_object_array_length(found); i++) {
		struct json_object *d = json_object_array_get_idx(found, i);

		buf_addf(&words, "%s%s %s", words.len > 0 ? ", " : "",
		    json_string_or(d, "type", "?"),
		    json_string_or(d, "severity", "?"));
	}
	return words.data;
}

struct json_object *
scene_detection(const char *type)
{
	scene_found();
	for (size_t i = 0; i < json_object_array_length(found); i++) {
		struct json_object *d = json_object_array_get_idx(found, i);

		if (strcmp(json_string_or(d, "type", ""), type) == 0)
			return d;
	}
	ck_abort_msg("%s was not found", type);
	return NULL;
}
