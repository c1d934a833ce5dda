/* SPDX-License-Identifier: ISC */

#include "clock.h"
#include "eyes-floor.h"
#include "eyes-work.h"
#include "json.h"
#include "landing.h"
#include "mem.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "queue-view.h"
#include "task-run.h"
#include "team-floor.h"
#include "team-request.h"
#include "view-doc.h"
#include "view-goal.h"

#define EXPECTED_STEP 10 /* seconds: an estimate is not to change by itself */

/* --- the landing queue ----------------------------------------------- */

/* When it is expected to land, as a moment. */
static void
set_expected(struct json_object *row, int64_t now_ms)
{
	struct json_object *left = NULL;
	int64_t at = now_ms / 1000;

	json_object_object_get_ex(row, "expected_ms", &left);
	if (left == NULL) {
		json_set(row, "expected_unix", NULL);
	} else {
		at += json_object_get_int64(left) / 1000;
		json_set_int(row, "expected_unix",
		    (at + EXPECTED_STEP - 1) / EXPECTED_STEP * EXPECTED_STEP);
	}
	json_object_object_del(row, "expected_ms");
}

static void
fill_landing(struct eyes_floor *eyes, struct json_object *view)
{
	cleanup_json struct json_object *list = queue_view(eyes->landings);
	struct json_object *items = json_object_object_get(list, "items");
	struct json_object *rows = view_of(view, "landing");
	struct json_object *head = view_of(view, "head");
	static const char *const members[] = { "red", "hold", "check", "push",
		"running" };

	for (size_t i = 0; i < json_object_array_length(items); i++) {
		struct json_object *row = json_object_array_get_idx(items, i);

		set_expected(row, clock_wall_ms());
		json_set(
		    rows, json_string_or(row, "id", "?"), json_object_get(row));
	}
	for (size_t i = 0; i < nitems(members); i++)
		json_set(head, members[i],
		    json_object_get(json_object_object_get(list, members[i])));
}

/* --- goals ----------------------------------------------------------- */

/* The row of that place, if the goal has not changed. */
static struct json_object *
goal_row(
    struct eyes_goals *kept, size_t place, const struct plan *plan, size_t room)
{
	uint64_t mark = view_goal_mark(plan, room);

	if (kept->marks[place] != mark) {
		json_object_put(kept->rows[place]);
		kept->rows[place] = view_goal_row(plan, room);
		kept->marks[place] = mark;
	}
	return json_object_get(kept->rows[place]);
}

static void
fill_goals(struct eyes_floor *eyes, struct json_object *view)
{
	struct json_object *rows = view_of(view, "goals");
	struct json_object *head = view_of(view, "head");
	const struct plan_set *set;
	size_t room = EYES_NODES_MAX, count = 0;
	int more = 0;

	json_set_string(head, "goals_off",
	    eyes->plan->state == PLAN_SAFE ? eyes->plan->why : NULL);
	if (eyes->plan->state != PLAN_OPEN)
		return;
	set = plan_floor_set(eyes->plan);
	for (size_t i = 0; i < set->plan_count; i++) {
		const struct plan *plan = set->plans[i];
		struct json_object *row;

		if (!goal_status_open(plan->goal->status))
			continue;
		if (count == EYES_GOALS_MAX) {
			more++;
			continue;
		}
		row = goal_row(&eyes->goals, count++, plan, room);
		room -= json_object_array_length(
		    json_object_object_get(row, "nodes"));
		json_set(rows, plan->goal->id, row);
	}
	json_set_int(head, "goals_more", more);
}

/* --- delegation ------------------------------------------------------ */

static void
fill_team(struct eyes_floor *eyes, struct json_object *view)
{
	const struct team_floor *floor = eyes->team;
	struct json_object *team = view_of(view, "team");

	json_set_int(team, "mail_open", (int64_t)team_post_count(floor, NULL));
	json_set_int(
	    team, "mail_person", (int64_t)team_post_count(floor, ACTOR_PERSON));
	json_set_int(
	    team, "questions", (int64_t)team_requests_count(floor->requests));
	json_set_int(
	    team, "reservations", (int64_t)team_reserve_count(floor));
}

void
eyes_goals_release(struct eyes_goals *goals)
{
	for (size_t i = 0; i < EYES_GOALS_MAX; i++)
		json_object_put(goals->rows[i]);
	*goals = (struct eyes_goals){ 0 };
}

void
eyes_work_fill(struct eyes_floor *eyes, struct json_object *view)
{
	fill_landing(eyes, view);
	fill_goals(eyes, view);
	fill_team(eyes, view);
}
