/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "view-private.h"

const struct view_section view_sections[] = {
	{ "head", false },
	{ "needs", true },
	{ "workers", true },
	{ "tasks", true },
	{ "todo", true },
	{ "ended", true },
	{ "landing", true },
	{ "goals", true },
	{ "asks", true },
	{ "repairs", true },
	{ "team", false },
	{ "budget", false },
	{ NULL, false },
};

struct json_object *
view_new(void)
{
	struct json_object *view = json_object_new_object();

	for (const struct view_section *s = view_sections; s->name != NULL; s++)
		json_set(view, s->name, json_object_new_object());
	json_set(view, VIEW_EVENTS, json_object_new_array());
	return view;
}

static void
complete(struct json_object *view, struct json_object *empty, const char *name,
    enum json_type type)
{
	if (!json_object_is_type(view_of(view, name), type))
		json_set(view, name, json_object_get(view_of(empty, name)));
}

struct json_object *
view_complete(struct json_object *view)
{
	cleanup_json struct json_object *empty = view_new();

	if (!json_object_is_type(view, json_type_object)) {
		json_object_put(view);
		return json_object_get(empty);
	}
	for (const struct view_section *s = view_sections; s->name != NULL; s++)
		complete(view, empty, s->name, json_type_object);
	complete(view, empty, VIEW_EVENTS, json_type_array);
	return view;
}

struct json_object *
view_of(struct json_object *view, const char *section)
{
	return json_object_object_get(view, section);
}

struct json_object *
view_row(struct json_object *view, const char *section, const char *key)
{
	return json_object_object_get(view_of(view, section), key);
}

/* --- for where it would be too long ---------------------------------- */

static struct json_object *
brief_row(struct json_object *row)
{
	static const char *const details[] = { "history", "last_words",
		"completion", "progress", "nodes" };
	struct json_object *brief = json_object_new_object();

	json_object_object_foreach(row, key, value)
	{
		json_set(brief, key, json_object_get(value));
	}
	for (size_t i = 0; i < nitems(details); i++)
		json_object_object_del(brief, details[i]);
	return brief;
}

static struct json_object *
brief_rows(struct json_object *rows)
{
	struct json_object *brief = json_object_new_object();

	json_object_object_foreach(rows, key, row)
	{
		json_set(brief, key, brief_row(row));
	}
	return brief;
}

struct json_object *
view_brief(struct json_object *sections)
{
	struct json_object *brief = json_object_new_object();

	json_object_object_foreach(sections, name, rows)
	{
		bool details = strcmp(name, "tasks") == 0 ||
		    strcmp(name, "ended") == 0 || strcmp(name, "goals") == 0;

		json_set(brief, name,
		    details ? brief_rows(rows) : json_object_get(rows));
	}
	return brief;
}

/* --- what has changed ------------------------------------------------ */

/* The rows that are new or different. */
static struct json_object *
new_rows(struct json_object *before, struct json_object *after)
{
	struct json_object *rows = json_object_new_object();

	json_object_object_foreach(after, key, row)
	{
		struct json_object *old = NULL;

		if (!json_object_object_get_ex(before, key, &old) ||
		    !json_object_equal(old, row))
			json_set(rows, key, json_object_get(row));
	}
	return rows;
}

/* The keys of those that are gone. */
static struct json_object *
lost_rows(struct json_object *before, struct json_object *after)
{
	struct json_object *keys = json_object_new_array();

	json_object_object_foreach(before, key, row)
	{
		(void)row;
		if (!json_object_object_get_ex(after, key, NULL))
			json_object_array_add(
			    keys, json_object_new_string(key));
	}
	return keys;
}

/* Adds it unless it is empty; takes it. */
static void
set_filled(
    struct json_object *change, const char *key, struct json_object *value)
{
	size_t count = json_object_is_type(value, json_type_array) ?
	    json_object_array_length(value) :
	    (size_t)json_object_object_length(value);

	if (count > 0)
		json_set(change, key, value);
	else
		json_object_put(value);
}

static int64_t
last_number(struct json_object *events)
{
	size_t count = json_object_array_length(events);

	return count == 0 ?
	    0 :
	    json_int_or(json_object_array_get_idx(events, count - 1), "n", 0);
}

static struct json_object *
new_events(struct json_object *before, struct json_object *after)
{
	struct json_object *list = json_object_new_array();
	int64_t last = last_number(before);

	for (size_t i = 0; i < json_object_array_length(after); i++) {
		struct json_object *event = json_object_array_get_idx(after, i);

		if (json_int_or(event, "n", 0) > last)
			json_object_array_add(list, json_object_get(event));
	}
	return list;
}

struct json_object *
view_diff(struct json_object *before, struct json_object *after)
{
	struct json_object *change = json_object_new_object();
	struct json_object *set = json_object_new_object();
	struct json_object *unset = json_object_new_object();

	for (const struct view_section *s = view_sections; s->name != NULL;
	     s++) {
		struct json_object *old = view_of(before, s->name);
		struct json_object *now = view_of(after, s->name);

		if (s->map) {
			set_filled(set, s->name, new_rows(old, now));
			set_filled(unset, s->name, lost_rows(old, now));
		} else if (!json_object_equal(old, now)) {
			json_set(set, s->name, json_object_get(now));
		}
	}
	set_filled(change, "set", set);
	set_filled(change, "unset", unset);
	set_filled(change, VIEW_EVENTS,
	    new_events(
		view_of(before, VIEW_EVENTS), view_of(after, VIEW_EVENTS)));
	if (json_object_object_length(change) > 0)
		return change;
	json_object_put(change);
	return NULL;
}

/* --- making a change ------------------------------------------------- */

static const struct view_section *
find_section(const char *name)
{
	for (const struct view_section *s = view_sections; s->name != NULL; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

static void
set_rows(struct json_object *rows, struct json_object *from)
{
	json_object_object_foreach(from, key, row)
	{
		json_set(rows, key, json_object_get(row));
	}
}

static int
apply_set(struct json_object *view, struct json_object *set)
{
	json_object_object_foreach(set, name, value)
	{
		const struct view_section *s = find_section(name);
		struct json_object *rows = view_of(view, name);

		if (s == NULL) /* of a later version */
			continue;
		if (rows == NULL ||
		    !json_object_is_type(value, json_type_object))
			return -EINVAL;
		if (s->map)
			set_rows(rows, value);
		else
			json_set(view, s->name, json_object_get(value));
	}
	return 0;
}

static int
apply_unset(struct json_object *view, struct json_object *unset)
{
	json_object_object_foreach(unset, name, keys)
	{
		const struct view_section *s = find_section(name);
		struct json_object *rows = view_of(view, name);

		if (s == NULL)
			continue;
		if (!s->map || rows == NULL ||
		    !json_object_is_type(keys, json_type_array))
			return -EINVAL;
		for (size_t i = 0; i < json_object_array_length(keys); i++) {
			struct json_object *key =
			    json_object_array_get_idx(keys, i);

			if (!json_object_is_type(key, json_type_string))
				return -EINVAL;
			json_object_object_del(
			    rows, json_object_get_string(key));
		}
	}
	return 0;
}

int
view_apply(struct json_object *view, struct json_object *change)
{
	struct json_object *set = json_object_object_get(change, "set");
	struct json_object *unset = json_object_object_get(change, "unset");
	struct json_object *events =
	    json_object_object_get(change, VIEW_EVENTS);
	int r = 0;

	if ((set != NULL && !json_object_is_type(set, json_type_object)) ||
	    (unset != NULL && !json_object_is_type(unset, json_type_object)) ||
	    (events != NULL && !json_object_is_type(events, json_type_array)))
		return -EINVAL;
	if (set != NULL)
		r = apply_set(view, set);
	if (r == 0 && unset != NULL)
		r = apply_unset(view, unset);
	if (r == 0 && events != NULL) {
		struct json_object *list = view_of(view, VIEW_EVENTS);
		size_t count;

		for (size_t i = 0; i < json_object_array_length(events); i++)
			json_object_array_add(list,
			    json_object_get(
				json_object_array_get_idx(events, i)));
		count = json_object_array_length(list);
		if (count > VIEW_EVENTS_MAX)
			json_object_array_del_idx(
			    list, 0, count - VIEW_EVENTS_MAX);
	}
	return r;
}
