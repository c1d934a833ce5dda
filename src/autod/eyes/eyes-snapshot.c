/* SPDX-License-Identifier: ISC */

#include "core.h"
#include "eyes-events.h"
#include "eyes-floor.h"
#include "eyes-history.h"
#include "eyes-live.h"
#include "eyes-snapshot.h"
#include "eyes-work.h"
#include "json.h"
#include "source-todo.h"
#include "view-doc.h"
#include "view-files.h"
#include "view-needs.h"
#include "view-state.h"

struct json_object *
eyes_snapshot(struct eyes_floor *eyes)
{
	struct json_object *view = view_new();

	view_state_fill(
	    &eyes->core->state, eyes->core->settings, eyes->kept, view);
	eyes_live_fill(eyes, view);
	view_files_fill(eyes->files, view);
	eyes_history_fill(eyes->history, view);
	source_todo_fill(
	    eyes->todo, eyes->core->settings, eyes->core->workspace, view);
	eyes_work_fill(eyes, view);
	json_set(view, VIEW_EVENTS, eyes_events_list(eyes->events));
	view_needs(view);
	return view;
}
