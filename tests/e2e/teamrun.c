/* SPDX-License-Identifier: ISC */

#include <stdarg.h>
#include <string.h>

#include "mem.h"
#include "teamrun.h"

struct json_object *
team_child(const char *task, const char *more)
{
	struct json_object *child = json_tokener_parse(more);

	ck_assert_ptr_nonnull(child);
	if (!json_object_object_get_ex(child, "role", NULL))
		json_set_string(child, "role", "coder");
	json_set_string(child, "task", task);
	return child;
}

const char *
team_spawn(struct json_object *child, ...)
{
	cleanup_json struct json_object *params = json_object_new_object();
	struct json_object *list = json_object_new_array();
	va_list args;

	json_set_string(params, "spawn_reason", "It has parts.");
	json_set(params, "requested_subagents", list);
	va_start(args, child);
	for (; child != NULL; child = va_arg(args, struct json_object *))
		json_object_array_add(list, child);
	va_end(args);
	return e2e_path("fake: tool agent_spawn %s\n",
	    json_object_to_json_string_ext(params, JSON_C_TO_STRING_PLAIN));
}

const char *
team_kept(const char *name)
{
	return e2e_path("%s/%s.answer", auto_gates(), name);
}

const char *
team_read(const char *name)
{
	return e2e_read(team_kept(name));
}

/* --- the story ---------------------------------------------------------- */

#define RETRIED                                                              \
	"{\"verification\":{\"artifacts\":[{\"path\":\"out.json\",\"json\":" \
	"true}],\"onFailure\":\"retry_once\"},\"label\":\"forgets\"}"
#define REPORTS "{\"completionReport\":true,\"label\":\"reports\"}"

/* It holds src/ and asks for another agent below it, which is too deep. */
static struct json_object *
reporter(void)
{
	const char *deeper = team_spawn(team_child("Too deep.", "{}"), NULL);

	return team_child(
	    e2e_path("Make a.\n"
		     "fake: tool mail_reserve {\"paths\":[\"src\"]}\n"
		     "%sfake: keep %s\n"
		     "fake: run %s\n"
		     "fake: commit a.txt x\n"
		     "fake: tool report_progress {\"phase\":\"written\","
		     "\"percentComplete\":90}\n"
		     "fake: tool report_completion {\"summary\":\"a is there\","
		     "\"status\":\"complete\",\"confidence\":\"high\"}\n",
		deeper, team_kept("deeper"), auto_gate("reporter")),
	    REPORTS);
}

static struct json_object *
forgetful(void)
{
	return team_child("Make b.\nfake: commit b.txt x\n", RETRIED);
}

static struct json_object *
rival(void)
{
	return team_child(
	    e2e_path("Make c.\nfake: run %s\n"
		     "fake: tool mail_reserve {\"paths\":[\"src/x.c\"]}\n"
		     "fake: keep %s\n"
		     "fake: commit c.txt x\n",
		auto_gate("rival"), team_kept("rival")),
	    "{\"role\":\"writer\"}");
}

static int
count_tasks(const char *actor)
{
	return auto_logged("../tasks.jsonl", actor);
}

void
team_story(void)
{
	const char *goal;

	goal_enable();
	auto_set("auto.concurrency", "1");
	auto_set("team.max_depth", "2");
	goal = goal_of_one_task(e2e_path("fake: commit p.txt x\n%s"
					 "fake: keep %s\n",
	    team_spawn(reporter(), forgetful(), rival(), NULL),
	    team_kept("spawned")));
	auto_up("--until-empty", NULL);
	auto_wait_gate("reporter");
	auto_wait_gate("rival");
	fleet_wait("auto-1", "waiting");
	auto_kill9_daemon();
	auto_open_gate("rival");
	auto_up("--until-empty", NULL);
	auto_wait_landed(1); /* the rival's */
	auto_open_gate("reporter");
	ck_assert_int_eq(auto_wait_exit(), 1); /* one has failed */
	e2e_has(team_read("deeper"), "depth_limit_exceeded");
	e2e_has(team_read("rival"), "E_CONFLICT");
	e2e_has(team_read("spawned"), "spawned_agents");
	auto_history("a.txt: x", "c.txt: x", "p.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 3);
	ck_assert_int_eq(auto_finished("landed"), 3);
	ck_assert_int_eq(auto_finished("failed"), 1);
	ck_assert_int_eq(auto_finished(NULL), 4);
	ck_assert_int_eq(count_tasks("artifact_not_found"), 1);
	ck_assert_str_eq(goal_status(goal), "completed");
	/* The parent was told of each, once. */
	ck_assert_int_eq(fleet_prompts("Subject: result.ready:t2"), 1);
	ck_assert_int_eq(fleet_prompts("Subject: result.ready:t3"), 1);
	ck_assert_int_eq(fleet_prompts("Subject: result.ready:t4"), 1);
	ck_assert_int_eq(fleet_prompts("\"summary\": \"a is there\""), 1);
	ck_assert_int_eq(fleet_prompts("\"reason\": \"artifact_not_found"), 1);
	/* The attempt that was tried again was told why. */
	ck_assert_int_eq(
	    fleet_prompts("Previous attempt failed verification"), 1);
	auto_no_sessions();
}
