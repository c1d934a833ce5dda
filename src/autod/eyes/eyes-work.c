/* SPDX-License-Identifier: ISC */

#include "clock.h"
#include "eyes-floor.h"
#include "eyes-work.h"
#include "json.h"
#include "landing.h"
#include "mem.h"
#include "plan-assignment.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "plan-summary.h"
#include "queue-view.h"
#include "task-run.h"
#include "team-book.h"
#include "team-floor.h"
#include "view-doc.h"
#include "view-row.h"

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

static struct json_object *
node_row(const struct plan_node *node)
{
	struct json_object *row = json_object_new_object();

	json_set_string(row, "id", node->id);
	json_set_string(row, "parent", node->parent_id);
	json_set_string(row, "kind", node_kind_name(node->kind));
	view_row_text(row, "title", node->name, VIEW_TITLE_MAX);
	json_set_string(row, "status", node_status_name(node->status));
	json_set_string(row, "worker",
	    node->assignment != NULL ? node->assignment->worker : NULL);
	view_row_text(row, "reason", node->blocked_reason, VIEW_REASON_MAX);
	return row;
}

/* Parents before their children, in the order of the plan. */
static void
add_nodes(
    struct json_object *list, struct plan_node *const *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (json_object_array_length(list) >= EYES_NODES_MAX)
			return;
		json_object_array_add(list, node_row(nodes[i]));
		add_nodes(list, nodes[i]->children, nodes[i]->child_count);
	}
}

static struct json_object *
goal_row(const struct plan *plan)
{
	struct plan_summary s = plan_summary(plan, NULL);
	struct json_object *row = json_object_new_object();
	struct json_object *nodes = json_object_new_array();

	json_set_string(row, "id", plan->goal->id);
	view_row_text(row, "title", plan->goal->title, VIEW_TITLE_MAX);
	json_set_string(row, "status", goal_status_name(plan->goal->status));
	json_set_int(row, "done", (int64_t)s.leaves[NODE_DONE]);
	json_set_int(row, "total", (int64_t)s.total);
	json_set_int(row, "ready", (int64_t)s.ready);
	json_set_int(row, "blocked", (int64_t)s.leaves[NODE_BLOCKED]);
	json_set_int(row, "percent", s.percent);
	add_nodes(nodes, plan->phases, plan->phase_count);
	json_set(row, "nodes", nodes);
	return row;
}

static void
fill_goals(struct eyes_floor *eyes, struct json_object *view)
{
	struct json_object *rows = view_of(view, "goals");
	struct json_object *head = view_of(view, "head");
	const struct plan_set *set;
	int more = 0;

	json_set_string(head, "goals_off",
	    eyes->plan->state == PLAN_SAFE ? eyes->plan->why : NULL);
	if (eyes->plan->state != PLAN_OPEN)
		return;
	set = plan_floor_set(eyes->plan);
	for (size_t i = 0; i < set->plan_count; i++) {
		const struct plan *plan = set->plans[i];

		if (plan->goal->implicit ||
		    !goal_status_open(plan->goal->status))
			continue;
		if (json_object_object_length(rows) < EYES_GOALS_MAX)
			json_set(rows, plan->goal->id, goal_row(plan));
		else
			more++;
	}
	json_set_int(head, "goals_more", more);
}

/* --- delegation ------------------------------------------------------ */

static void
fill_team(struct eyes_floor *eyes, struct json_object *view)
{
	const struct team_book *book = eyes->team->book;
	struct json_object *team = view_of(view, "team");

	json_set_int(team, "mail_open",
	    (int64_t)team_book_count(book, STORE_MAIL, NULL));
	json_set_int(team, "mail_person",
	    (int64_t)team_book_count(book, STORE_MAIL, ACTOR_PERSON));
	json_set_int(team, "questions",
	    (int64_t)team_book_count(book, STORE_REQUEST, NULL));
	json_set_int(team, "reservations",
	    (int64_t)team_book_count(book, STORE_RESERVATION, NULL));
}

void
eyes_work_fill(struct eyes_floor *eyes, struct json_object *view)
{
	fill_landing(eyes, view);
	fill_goals(eyes, view);
	fill_team(eyes, view);
}
