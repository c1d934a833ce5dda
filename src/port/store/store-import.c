/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "mem.h"
#include "store-build.h"
#include "store-export.h"
#include "store-import.h"
#include "store-walk.h"
#include "store.h"

#define FILE_MAX      ((size_t)2 * 1024 * 1024 * 1024)
#define GOAL_BODY_KEY "nodes"

struct reader {
	const struct store_sink *sink;
	struct err *err;
};

/* --- records ------------------------------------------------------------ */

static int
give(const struct reader *reader, enum store_kind kind, const char *goal_id,
    const char *id, const char *body)
{
	struct store_change record = { kind, goal_id, id, body };

	return reader->sink->record(&record, reader->sink->arg, reader->err);
}

static char *
span_text(const struct store_span *span)
{
	return xstrndup(span->text, span->len);
}

/* Only the goalId is needed here; the rest is checked where it is stored. */
static int
give_member(const struct reader *reader, enum store_kind kind, const char *id,
    const struct store_span *value)
{
	cleanup_json struct json_object *body = NULL;
	cleanup_free char *text = span_text(value);
	const char *goal_id;
	int r;

	r = json_parse(
	    value->text, value->len, STORE_GOAL_MAX, &body, reader->err);
	if (r < 0)
		return r;
	goal_id = json_string_or(body, "goalId", NULL);
	if (goal_id == NULL)
		return err_set(reader->err, -EINVAL, "goalId: missing");
	return give(reader, kind, goal_id, id, text);
}

static int
give_nodes(const struct reader *reader, const char *goal_id,
    const struct store_span *nodes)
{
	cleanup_buf struct buf id = BUF_INIT;
	struct store_walk walk;
	struct store_span value;
	int r;

	store_walk_init(&walk, nodes->text, nodes->len);
	r = store_walk_enter(&walk, '{', reader->err);
	while (r == 0 &&
	    (r = store_walk_next(&walk, '{', &id, &value, reader->err)) == 1) {
		cleanup_free char *text = span_text(&value);

		r = give(reader, STORE_NODE, goal_id, id.data, text);
		if (r < 0)
			err_prefix(reader->err, "nodes.%s", id.data);
	}
	return r;
}

/* The goal without its nodes, in the order of its members; then the nodes. */
static int
give_goal(const struct reader *reader, enum store_kind kind, const char *id,
    const struct store_span *goal)
{
	cleanup_buf struct buf key = BUF_INIT, body = BUF_INIT;
	struct store_span value, nodes = { NULL, 0 };
	struct store_walk walk;
	int r;

	(void)kind;
	store_walk_init(&walk, goal->text, goal->len);
	r = store_walk_enter(&walk, '{', reader->err);
	buf_addc(&body, '{');
	while (r == 0 || r == 1) {
		size_t start = walk.pos;

		r = store_walk_next(&walk, '{', &key, &value, reader->err);
		if (r != 1)
			break;
		if (strcmp(key.data, GOAL_BODY_KEY) == 0) {
			nodes = value;
			continue;
		}
		/* With the comma before it, if there was one. */
		while (start < walk.pos && goal->text[start] != '"')
			start++;
		if (body.len > 1)
			buf_addc(&body, ',');
		buf_add(&body, goal->text + start, walk.pos - start);
	}
	buf_addc(&body, '}');
	if (r == 0)
		r = give(reader, STORE_GOAL, id, id, body.data);
	if (r == 0 && nodes.text != NULL)
		r = give_nodes(reader, id, &nodes);
	return r;
}

/* --- events ------------------------------------------------------------- */

static int
give_event(const struct reader *reader, const struct store_span *value)
{
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf data = BUF_INIT;
	struct json_object *member = NULL;
	struct store_event event = { 0 };
	struct err *err = reader->err;
	int r = json_parse(value->text, value->len, STORE_BODY_MAX, &json, err);

	if (r == 0)
		r = json_get_string(json, "", "type", &event.type, err);
	if (r == 0)
		r = json_get_int(
		    json, "", "ts", INT64_MIN, INT64_MAX, &event.ts_ms, err);
	if (r < 0)
		return r == -ENOENT ? -EINVAL : r;
	event.seq = json_int_or(json, "seq", 0);
	event.goal_id = json_string_or(json, "goalId", NULL);
	event.assignment_id = json_string_or(json, "assignmentId", NULL);
	event.node_id = json_string_or(json, "workNodeId", NULL);
	event.worker = json_string_or(json, "worker", NULL);
	event.task = json_string_or(json, "task", NULL);
	event.key = json_string_or(json, "key", NULL);
	if (json_object_object_get_ex(json, "data", &member) &&
	    member != NULL) {
		json_print(member, false, &data);
		event.data = data.data;
	}
	return reader->sink->event(&event, reader->sink->arg, err);
}

static int
give_events(const struct reader *reader, const struct store_span *list)
{
	struct store_walk walk;
	struct store_span value;
	size_t n = 0;
	int r;

	store_walk_init(&walk, list->text, list->len);
	r = store_walk_enter(&walk, '[', reader->err);
	while (r == 0 &&
	    (r = store_walk_next(&walk, '[', NULL, &value, reader->err)) == 1) {
		r = give_event(reader, &value);
		if (r < 0)
			err_prefix(reader->err, "[%zu]", n);
		n++;
	}
	return r;
}

/* --- the document ------------------------------------------------------- */

static const struct part {
	const char *key;
	enum store_kind kind;
	int (*give)(const struct reader *reader, enum store_kind kind,
	    const char *id, const struct store_span *value);
} parts[] = {
	{ "goals", STORE_GOAL, give_goal },
	{ "assignments", STORE_ASSIGNMENT, give_member },
	{ "crystallizations", STORE_CRYSTAL, give_member },
	{ "dispatchIndex", STORE_DISPATCH, give_member },
	{ "mail", STORE_MAIL, give_member },
	{ "requests", STORE_REQUEST, give_member },
	{ "reservations", STORE_RESERVATION, give_member },
};

static int
give_part(const struct reader *reader, const struct part *part,
    const struct store_span *members)
{
	cleanup_buf struct buf id = BUF_INIT;
	struct store_walk walk;
	struct store_span value;
	int r;

	store_walk_init(&walk, members->text, members->len);
	r = store_walk_enter(&walk, '{', reader->err);
	while (r == 0 &&
	    (r = store_walk_next(&walk, '{', &id, &value, reader->err)) == 1) {
		r = part->give(reader, part->kind, id.data, &value);
		if (r < 0)
			err_prefix(reader->err, "%s", id.data);
	}
	return r;
}

static int
give_any(const struct reader *reader, const char *key,
    const struct store_span *value)
{
	cleanup_free char *version = NULL;

	for (size_t i = 0; i < nitems(parts); i++) {
		if (strcmp(key, parts[i].key) == 0)
			return give_part(reader, &parts[i], value);
	}
	if (strcmp(key, "events") == 0)
		return give_events(reader, value);
	if (strcmp(key, "version") != 0)
		return err_set(reader->err, -EINVAL, "unknown key");
	version = span_text(value);
	if (strcmp(version, "1") != 0)
		return err_set(reader->err, -EINVAL,
		    "this llmc reads version %d only", STORE_EXPORT_VERSION);
	return 0;
}

int
store_import_parse(const char *text, size_t len, const struct store_sink *sink,
    struct err *err)
{
	struct err none = { 0 };
	struct reader reader = { sink, err != NULL ? err : &none };
	cleanup_buf struct buf key = BUF_INIT;
	struct store_walk walk;
	struct store_span value;
	bool versioned = false;
	int r;

	store_walk_init(&walk, text, len);
	r = store_walk_enter(&walk, '{', reader.err);
	while (r == 0 &&
	    (r = store_walk_next(&walk, '{', &key, &value, reader.err)) == 1) {
		versioned |= strcmp(key.data, "version") == 0;
		r = give_any(&reader, key.data, &value);
		if (r < 0)
			err_prefix(reader.err, "%s", key.data);
	}
	if (r == 0 && !versioned)
		r = err_set(reader.err, -EINVAL, "version: missing");
	return r;
}

/* --- into a store ------------------------------------------------------- */

struct import {
	struct store_build *build;
	struct store_counts counts;
};

static int
take_record(const struct store_change *record, void *arg, struct err *err)
{
	struct import *import = arg;

	import->counts.records++;
	return store_build_record(import->build, record, err);
}

static int
take_event(const struct store_event *event, void *arg, struct err *err)
{
	struct import *import = arg;
	bool is_new = true;
	int r = store_build_event(import->build, event, &is_new, err);

	if (r == 0 && !is_new)
		r = err_set(err, -EINVAL,
		    "there are two events with the key %s", event->key);
	import->counts.events++;
	return r;
}

int
store_import(const char *path, const char *file,
    struct store_counts *ret_counts, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct import import = { 0 };
	struct store_sink sink = { take_record, take_event, &import };
	int r = file_read(file, FILE_MAX, &text, err);

	if (r == 0)
		r = store_build_begin(path, &import.build, err);
	if (r < 0)
		return r;
	r = store_import_parse(text.data, text.len, &sink, err);
	if (r < 0) {
		err_prefix(err, "%s", file);
		store_build_drop(import.build);
		return r;
	}
	r = store_build_finish(import.build, err);
	if (r == 0)
		*ret_counts = import.counts;
	return r;
}
