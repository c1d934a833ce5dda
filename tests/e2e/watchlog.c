/* SPDX-License-Identifier: ISC */

#include "watchlog.h"

static struct json_object *
records(const char *task)
{
	return e2e_json(
	    fleet_do("--json", "task", "iterations", task, NULL), 0);
}

/* The next record with this member, from *at on. */
static struct json_object *
next(struct json_object *list, size_t *at, const char *member)
{
	while (*at < json_object_array_length(list)) {
		struct json_object *record =
		    json_object_array_get_idx(list, (*at)++);

		if (json_object_object_get(record, member) != NULL)
			return record;
	}
	return NULL;
}

/* As much as a message may have, the end of it. */
static const char *
shown(struct json_object *json)
{
	const char *text = json_object_to_json_string(json);
	size_t len = strlen(text);

	return len > 3000 ? text + len - 3000 : text;
}

static int
number_of(struct json_object *record)
{
	return (int)json_int_or(
	    json_object_object_get(record, "iteration"), "number", 0);
}

void
watchlog_wait(const char *task, int count)
{
	auto_wait_shell(
	    e2e_path("test \"$(\"$LLMC\" --json task iterations %s | "
		     "grep -c '\"iteration\": *{')\" -ge %d",
		task, count));
}

void
watchlog_last(const char *task, const char *member, const char *words)
{
	struct json_object *list = records(task), *record, *last = NULL;
	struct json_object *places[4], *value = NULL;
	size_t at = 0;

	while ((record = next(list, &at, "iteration")) != NULL)
		last = record;
	ck_assert_msg(last != NULL, "no iteration of %s", task);
	places[0] = json_object_object_get(last, "iteration");
	places[1] = json_object_object_get(places[0], "analysis");
	places[2] = json_object_object_get(places[0], "context");
	places[3] = json_object_object_get(last, "check");
	for (size_t i = 0; i < nitems(places) && value == NULL; i++)
		value = json_object_object_get(places[i], member);
	ck_assert_msg(value != NULL &&
		strstr(json_object_to_json_string(value), words) != NULL,
	    "%s is not %s in %s", member, words, shown(last));
}

int
watchlog_at(const char *task, const char *level, const char *type)
{
	struct json_object *list = records(task), *record, *act;
	size_t at = 0;

	while ((record = next(list, &at, "intervention")) != NULL) {
		act = json_object_object_get(record, "intervention");
		if (strcmp(json_string_or(act, "level", ""), level) == 0 &&
		    strcmp(json_string_or(act, "type", ""), type) == 0)
			return (int)json_int_or(act, "iteration", 0);
	}
	ck_abort_msg("no %s for %s in %s", level, type, shown(list));
	return 0;
}

int
watchlog_first(const char *task)
{
	struct json_object *list = records(task), *record, *act;
	size_t at = 0;

	while ((record = next(list, &at, "intervention")) != NULL) {
		act = json_object_object_get(record, "intervention");
		if (strcmp(json_string_or(act, "level", ""), "log") != 0)
			return (int)json_int_or(act, "iteration", 0);
	}
	return 0;
}

int
watchlog_with(const char *task, const char *text, int number)
{
	struct json_object *list = records(task), *record;
	size_t at = 0;
	int count = 0;

	while ((record = next(list, &at, "iteration")) != NULL)
		count += number_of(record) <= number &&
		    strstr(json_object_to_json_string(
			       json_object_object_get(record, "iteration")),
			text) != NULL;
	return count;
}

void
watchlog_whole(const char *task)
{
	struct json_object *list = records(task), *record;
	size_t at = 0;
	int count = 0;

	while ((record = next(list, &at, "iteration")) != NULL) {
		count++;
		ck_assert_msg(number_of(record) == count, "not %d in %s", count,
		    shown(list));
		ck_assert_msg(json_object_object_get(record, "check") != NULL,
		    "not judged: %s", shown(record));
	}
	ck_assert_msg(count > 0, "no iteration of %s", task);
}

void
watchlog_parked(const char *task, const char *words)
{
	auto_wait_shell(
	    e2e_path("\"$LLMC\" task list | grep -q '^%s .*parked'", task));
	auto_wait_shell(e2e_path("\"$LLMC\" --json task iterations %s | "
				 "grep -q '\"level\": *\"pause\"'",
	    task));
	e2e_has(fleet_do("task", "show", task, NULL)->out, words);
	e2e_has(fleet_do("task", "show", task, NULL)->out,
	    e2e_path("llmc resume %s", task));
	e2e_has(fleet_do("status", NULL)->out, "parked");
	auto_wait_event("oversight", "pause");
}

int
watchlog_events(void)
{
	return auto_events("oversight", NULL) -
	    auto_events("oversight", "\"action\":\"log\"");
}
