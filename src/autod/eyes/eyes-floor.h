/* SPDX-License-Identifier: ISC */

/*
 * The top floor: what people see. It changes nothing; it makes the view
 * (view-doc.h) of what the floors below know, and gives it to whoever looks.
 *
 *   eyes-snapshot.c  the view
 *   eyes-events.c    the last events of it
 *   eyes-history.c   what it has from the book
 *   eyes-live.c      what only the daemon knows
 *   eyes-work.c      what other floors give to it
 *   eyes-spans.c     how workers spend their time
 *   eyes-counters.c  what is counted for metrics
 *   eyes-metrics.c   what is measured
 *   eyes-stream.c    the view and its changes for those who follow it
 *   eyes-web.c       the page on 127.0.0.1
 *   eyes-report-page.c  the report for it
 *   eyes-report.c    reports to people.report_command
 */
#ifndef EYES_FLOOR_H
#define EYES_FLOOR_H

#include "core.h"
#include "eyes-work.h"

struct auto_mode;
struct eyes_events;
struct view_files;
struct eyes_history;
struct eyes_report;
struct view_kept;
struct eyes_spans;
struct eyes_stream;
struct eyes_web;
struct fleet;
struct landings;
struct oversight_floor;
struct plan_floor;
struct source_todo;
struct team_floor;

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

#endif
