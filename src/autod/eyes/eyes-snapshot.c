/* SPDX-License-Identifier: ISC */

#include "core.h"
#include "eyes-events.h"
#include "view-files.h"
#include "eyes-floor.h"
#include "eyes-snapshot.h"
#include "eyes-work.h"
#include "json.h"
#include "view-doc.h"
#include "view-needs.h"
#include "view-state.h"
#include "workspace.h"

static void
fill_head(struct eyes_floor *eyes, struct json_object *view)
{
	const struct core *core = eyes->core;
	struct json_object *head = view_of(view, "head");

	json_set_string(head, "root", core->workspace->root);
	json_set_string(head, "branch", core_branch(core));
	json_set_string(head, "instance", core->instance);
	json_set_bool(head, "stopping", core->stopping);
}

struct json_object *
eyes_snapshot(struct eyes_floor *eyes)
{
	struct json_object *view = view_new();

	view_state_fill(&eyes->core->state, eyes->core->settings, view);
	fill_head(eyes, view);
	view_files_fill(eyes->files, view);
	eyes_work_fill(eyes, view);
	json_set(view, VIEW_EVENTS, eyes_events_list(eyes->events));
	view_needs(view);
	return view;
}
