/* SPDX-License-Identifier: ISC */

/*
 * Everything that can happen in the daemon: one row per kind, with its name,
 * its level, the sentence for the log, its fields, and the text that `llmc
 * log` shows. Code that causes something emits one event (core/emit.h); the
 * log, logs/auto.log, the clients of `llmc log` and the upper floors of the
 * daemon receive it.
 */
#ifndef EVENT_H
#define EVENT_H

#include "event-table.h"

struct json_object;
struct schema_field;

/* One thing that happened. Strings are borrowed for the call, NULL = not given;
 * only the numbers that belong to the kind are used. */
struct event {
	enum event_kind kind;
	const char *worker, *task, *reason;
	const char *from, *to; /* statuses */
	const char *session, *receipt, *resume;
	const char *status, *text, *error, *class;
	const char *commit, *branch, *title, *outcome, *result;
	const char *action, *scope, *ref, *path, *key, *instance;
	const char *goal, *node, *assignment, *dispatch, *actor;
	const char *data; /* a JSON object for the book; NULL = the fields */
	int64_t attempt, until_unix, exit_code, duration_ms;
	int64_t concurrency, count, done, failed;
	const void *landing; /* EVENT_LANDING_ENDED: landing/landing.h */
	int64_t at_ms; /* wall clock; emit() sets it */
};

/* The class of EVENT_PLAN_REVIEW_NEEDED if guards have seen it, and no agent
 * has said it. */
#define PLAN_REVIEW_GUARD "guard_violation"

const struct event_row *event_row(enum event_kind kind);

/* Find by the name in auto.log; NULL = unknown. */
const struct event_row *event_row_named(const char *name);

/* Append the sentence for the log. */
void event_text(const struct event *event, struct buf *out);

/* Call fn for each field that does not appear in the sentence. */
typedef void event_field_fn(const char *name, const char *value, void *arg);

void event_fields(const struct event *event, event_field_fn *fn, void *arg);

/* The record for auto.log: {timestamp, level, event: {type, ...}}; every value
 * is a string. The caller owns it; NULL for a kind without a name. */
struct json_object *
event_record(const struct event *event, const char *timestamp);

/* A record of logs/auto.log. */
extern const struct schema_field event_record_schema;

/* "2026-01-31 09:15:30  auto-1 gets t17: Fix the parser", with a newline; local
 * time; appended. One line of at most `width` columns; 0 = everything, where
 * the lines of a log are lines here too, indented. An event of an unknown type
 * is shown as its type and its members. False (nothing is appended) for a
 * record that is not an event. */
bool event_words_add(
    struct json_object *record, bool colour, int width, struct buf *out);

/* The same of the member "event" of a record, without the time: appended. */
void event_words_of(struct json_object *event, struct buf *out);

#endif
