/* SPDX-License-Identifier: ISC */

#include "goalrun.h"

void
goal_enable(void)
{
	auto_set("plan.enabled", "true");
}

void
goal_enable_fast(void)
{
	goal_enable();
	auto_tune("plan_tick=200");
}

const char *
goal_create(const char *markdown)
{
	const char *file = e2e_path("%s/the plan.md", unit_scratch());
	struct json_object *json;

	e2e_write(file, markdown);
	json = e2e_json(
	    fleet_do("--json", "goal", "create", "--plan", file, NULL), 0);
	return json_string_or(json, "goal", "");
}

const char *
goal_of_one_task(const char *steps)
{
	return goal_create(e2e_path("# A goal\n## A phase\n### A task\n"
				    "Acceptance: it is there\n\n%s\n",
	    steps));
}

/* --- what is shown ---------------------------------------------------- */

struct json_object *
goal_record(const char *goal)
{
	struct json_object *record = NULL,
			   *json = e2e_json(
			       fleet_do("--json", "goal", "show", goal, NULL),
			       0);

	ck_assert(json_get_object(json, "", "record", &record, NULL) == 0);
	return record;
}

const char *
goal_status(const char *goal)
{
	return auto_member(goal_record(goal), "status");
}

static struct json_object *
find_node(struct json_object *record, const char *node)
{
	static const char *const keys[] = { "phaseId", "taskId", "subtaskId" };
	struct json_object *list = NULL;

	ck_assert(json_object_object_get_ex(record, "nodes", &list));
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *at = json_object_array_get_idx(list, i);

		for (size_t k = 0; k < nitems(keys); k++)
			if (strcmp(json_string_or(at, keys[k], ""), node) == 0)
				return at;
	}
	ck_abort_msg("no node %s in: %s", node,
	    e2e_shown(json_object_to_json_string(record)));
	return NULL;
}

const char *
goal_node(const char *goal, const char *node, const char *path)
{
	return auto_member(find_node(goal_record(goal), node), path);
}

static void
node_is_reached(struct json_object *record, const char *goal, const char *node)
{
	struct json_object *at = find_node(record, node), *why;
	const char *commit = auto_member(at, "evidence.commits.0");

	ck_assert_str_eq(auto_member(at, "status"), "done");
	ck_assert_msg(commit[0] != '\0', "no commit of %s in: %s", node,
	    e2e_shown(json_object_to_json_string(at)));
	ck_assert_str_eq(auto_member(at, "evidence.commits.1"), "");
	e2e_git(
	    fleet_root(), "merge-base", "--is-ancestor", commit, "main", NULL);
	why = e2e_json(
	    fleet_do("--json", "why", e2e_path("%s/%s", goal, node), NULL), 0);
	ck_assert_str_eq(auto_member(why, "status"), "done");
}

void
goal_is_reached(const char *goal, const char *const *nodes)
{
	struct json_object *record = goal_record(goal),
			   *seen = json_object_new_object();
	size_t count = 0;

	ck_assert_str_eq(auto_member(record, "status"), "completed");
	for (; nodes[count] != NULL; count++) {
		node_is_reached(record, goal, nodes[count]);
		json_set_int(seen,
		    auto_member(
			find_node(record, nodes[count]), "evidence.commits.0"),
		    1);
	}
	ck_assert_uint_eq((size_t)json_object_object_length(seen), count);
	json_object_put(seen);
	fleet_do("doctor", "store", "check", NULL);
}

/* --- notices ----------------------------------------------------------- */

void
goal_set_notices(void)
{
	e2e_write(e2e_scratch("told"), "");
	e2e_notify(fleet_root(),
	    e2e_path("cat >'%s'.$$; cat '%s'.$$ >>'%s'", e2e_scratch("told"),
		e2e_scratch("told"), e2e_scratch("told")));
}

void
goal_wait_notice(const char *class, const char *words)
{
	auto_wait_shell(e2e_path("grep '\"class\":\"%s\"' '%s' | grep -qF '%s'",
	    class, e2e_scratch("told"), words));
}

int
goal_notices(void)
{
	return (int)strtol(
	    e2e_sh(fleet_root(),
		e2e_path("grep -c 'needs a person:' '%s'", e2e_scratch("told")))
		->out,
	    NULL, 10);
}
