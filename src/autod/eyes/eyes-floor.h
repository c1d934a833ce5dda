/* SPDX-License-Identifier: ISC */

/*
 * The top floor: what people see. It changes nothing; it makes the view
 * (view-doc.h) of what the floors below know, and gives it to whoever looks.
 *
 *   eyes-stream.c   the view; what only the daemon knows; what other floors
 *                   give to it; the view and its changes for those who follow
 *                   it
 *   eyes-floor.c    the last events of it; what is counted for metrics; what
 *                   is measured; the page on 127.0.0.1; the report for it
 *   eyes-history.c  what it has from the book
 *   eyes-spans.c    how workers spend their time
 *   eyes-report.c   reports to people.report_command
 */
#ifndef EYES_FLOOR_H
#define EYES_FLOOR_H

#include "core.h"
#include "eyes-stream.h"

struct auto_mode;
struct buf;
struct eyes_events;
struct eyes_floor;
struct eyes_history;
struct eyes_report;
struct eyes_spans;
struct eyes_stream;
struct eyes_web;
struct fleet;
struct json_object;
struct landings;
struct oversight_floor;
struct plan_floor;
struct source_todo;
struct team_floor;
struct view_files;
struct view_kept;
struct work_span;

/* The list, oldest first. The caller owns it; the rows are not to be
 * changed. */
struct json_object *eyes_events_list(struct eyes_events *events);
/* It is read again when somebody looks. */
void eyes_events_forget(struct eyes_events *events);

/* Appended. Made from memory: nothing is asked or waited for. */
void eyes_metrics_text(struct eyes_floor *eyes, struct buf *out);

struct eyes_floor {
	struct core *core;
	struct fleet *fleet;
	struct landings *landings;
	struct auto_mode *mode;
	struct plan_floor *plan;
	struct oversight_floor *oversight; /* NULL = nobody watches */
	struct team_floor *team;
	struct core_floor floor;
	int64_t started_ms; /* wall clock */
	struct eyes_events *events;
	struct view_files *files;
	struct eyes_history *history;
	struct view_kept *kept;
	struct eyes_goals goals;
	struct source_todo *todo;
	struct eyes_spans *spans;
	struct eyes_stream *stream;
	struct eyes_web *web;
	struct eyes_report *report;
};

/* Registers itself as a floor, and its methods. oversight may be NULL. */
struct eyes_floor *
eyes_floor_new(struct team_floor *team, struct oversight_floor *oversight);

/* Call before the floors below are freed. */
void eyes_floor_free(struct eyes_floor *eyes);

/* The port that it listens on; 0 = it is not open. */
unsigned eyes_web_port(const struct eyes_web *web);

/* A span has ended. */
void eyes_counters_span(struct eyes_floor *eyes, const struct work_span *span);

#endif
