/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "auto.h"
#include "clock.h"
#include "eyes-counters.h"
#include "eyes-events.h"
#include "eyes-floor.h"
#include "eyes-history.h"
#include "eyes-metrics.h"
#include "eyes-report.h"
#include "eyes-spans.h"
#include "eyes-stream.h"
#include "eyes-web.h"
#include "life.h"
#include "mem.h"
#include "source-todo.h"
#include "team-floor.h"
#include "view-files.h"
#include "view-state.h"

static void
floor_begin(void *self)
{
	struct eyes_floor *eyes = self;

	eyes_spans_begin(eyes->spans);
	eyes_history_begin(eyes->history);
	eyes_web_settle(eyes->web);
	eyes_report_begin(eyes->report);
	life_floor_begun(eyes->core);
}

static void
floor_patrol(void *self, bool all)
{
	struct eyes_floor *eyes = self;

	(void)all;
	eyes_spans_patrol(eyes->spans);
	eyes_history_patrol(eyes->history);
	eyes_web_settle(eyes->web);
	eyes_report_patrol(eyes->report);
}

static void
floor_close(void *self, bool now)
{
	struct eyes_floor *eyes = self;

	(void)now;
	eyes_spans_close(eyes->spans);
	eyes_report_close(eyes->report);
}

struct eyes_floor *
eyes_floor_new(struct team_floor *team, struct oversight_floor *oversight)
{
	struct eyes_floor *eyes = xcalloc(1, sizeof *eyes);

	eyes->core = team->core;
	eyes->fleet = team->fleet;
	eyes->landings = team->mode->landings;
	eyes->mode = team->mode;
	eyes->plan = team->plan;
	eyes->team = team;
	eyes->oversight = oversight;
	eyes->floor = (struct core_floor){
		.self = eyes,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.close = floor_close,
	};
	eyes->started_ms = clock_wall_ms();
	core_add_floor(eyes->core, &eyes->floor);
	eyes->events = eyes_events_new(eyes);
	eyes->files = view_files_new(eyes->core->workspace);
	eyes->history = eyes_history_new(eyes);
	eyes->kept = view_kept_new();
	eyes->todo = source_todo_new();
	eyes_counters_register(eyes);
	eyes_metrics_register(eyes);
	eyes->spans = eyes_spans_new(eyes);
	eyes->stream = eyes_stream_new(eyes);
	eyes->web = eyes_web_new(eyes);
	eyes->report = eyes_report_new(eyes);
	return eyes;
}

void
eyes_floor_free(struct eyes_floor *eyes)
{
	if (eyes == NULL)
		return;
	eyes_report_free(eyes->report);
	eyes_web_free(eyes->web);
	eyes_stream_free(eyes->stream);
	eyes_spans_free(eyes->spans);
	eyes_counters_end(eyes);
	eyes_goals_release(&eyes->goals);
	view_kept_free(eyes->kept);
	source_todo_free(eyes->todo);
	view_files_free(eyes->files);
	eyes_history_free(eyes->history);
	eyes_events_free(eyes->events);
	free(eyes);
}
