/* SPDX-License-Identifier: ISC */

#include "teamrun.h"
#include "together.h"

#define SMALL  6
#define LANDED (SMALL + 4) /* three of the agents, and the one above them */
#define ENDED  (LANDED + 1) /* and the one that only reports */

#define SOON_MS 20000 /* of a patrol every 30 s; on a busy machine */

#define GOAL   "Dinner for four"
#define PLATES "Which plates?"
#define BLUE   "Take the blue ones. fake: commit table.txt blue"
#define LEAK   "The stove leaks in line 3."

/* Fails for one task alone, each time in another folder. The agent does what
 * its last line says: it tries again, and gets it never right. */
#define CHECK                                                            \
	"! test -e soup.txt || grep -q salt soup.txt || { echo \"FAIL "  \
	"/tmp/build-$$/soup.c:3: it lacks salt\";"                       \
	" echo 'fake: run date +%N >>soup.txt; git commit -qam again'; " \
	"exit 1; }"

/* --- the work ----------------------------------------------------------- */

static const char *
long_text(void)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (int i = 0; i < 50; i++)
		buf_adds(&text, " with carrots, leek");
	return e2e_path("%s", text.data);
}

/* A session that begins anew knows better, after a gate. The steps come late in
 * the text: one that is told to change its approach reads the beginning. */
static const char *
soup(void)
{
	const char *mark = e2e_path("%s/tried", auto_gates());

	return e2e_path("Cook the soup%s\nfake: run if [ -e '%s' ]; then %s; "
			"echo salt >soup.txt; else echo >'%s'; echo water "
			">soup.txt; fi; git add -A; git commit -qm "
			"'soup.txt: x'\n",
	    long_text(), mark, auto_gate("fresh"), mark);
}

static const char *
parent(void)
{
	return e2e_path("fake: commit dinner.txt x\n%s",
	    team_spawn(team_child("Look at the kitchen.\nfake: say " LEAK "\n",
			   "{\"role\":\"reviewer\",\"label\":\"review\"}"),
		team_child("Lay the table.\nfake: say I looked.\n"
			   "fake: say ```json\n"
			   "fake: say {\"overseerUpdate\": {\"status\": "
			   "\"blocked\", \"blockers\": [\"" PLATES "\"]}}\n"
			   "fake: say ```\n",
		    "{\"label\":\"table\"}"),
		team_child(soup(), "{\"label\":\"soup\"}"),
		team_child(e2e_path("Bake the bread.\nfake: run %s\n"
				    "fake: commit bread.txt x\n",
			       auto_gate("bread")),
		    "{\"label\":\"bread\"}"),
		NULL));
}

/* It is killed with the daemon, and asked again. */
static void
set_planner(void)
{
	cleanup_json struct json_object *plan = json_tokener_parse(
	    "{\"planVersion\":1,\"phases\":[{\"id\":\"P1\",\"name\":"
	    "\"The dinner\",\"acceptance\":[\"x\"],\"tasks\":[{\"id\":"
	    "\"T1.1\",\"name\":\"Cook dinner\",\"acceptance\":[\"x\"]}]}]}");
	struct json_object *at = json_object_object_get(plan, "phases");

	at = json_object_array_get_idx(at, 0);
	at = json_object_array_get_idx(json_object_object_get(at, "tasks"), 0);
	json_set_string(at, "objective", parent());
	e2e_write(e2e_path("%s/plan.json", auto_gates()),
	    json_object_to_json_string(plan));
	e2e_write(e2e_path("%s/planner.sh", auto_gates()),
	    e2e_path("cat >/dev/null\n%s\ncat '%s/plan.json'\n",
		auto_gate("planner"), auto_gates()));
	auto_set(
	    "planner.command", e2e_path("sh '%s/planner.sh'", auto_gates()));
}

void
together_begin(void)
{
	fleet_do("config", "unset", "daemon.patrol_interval", NULL);
	auto_set("auto.check_command", CHECK);
	/* A fresh session begins at the ninth refusal. */
	auto_set("auto.max_turns", "30");
	auto_set("agents.reviewer.tools", "[\"Read\", \"Grep\", \"Glob\"]");
	set_planner();
}

/* --- looking ------------------------------------------------------------ */

static struct json_object *
shown(const char *what)
{
	return e2e_json(fleet_do("--json", what, NULL), 0);
}

static int
times(const char *text, const char *words)
{
	int count = 0;

	for (; (text = strstr(text, words)) != NULL; text += strlen(words))
		count++;
	return count;
}

static void
says_once(const char *text, const char *words)
{
	ck_assert_msg(times(text, words) == 1, "%d times \"%s\" in: %s",
	    times(text, words), words, e2e_shown(text));
}

/* The task with this title. */
static struct json_object *
task(const char *title)
{
	struct json_object *tasks = json_object_object_get(
	    e2e_json(fleet_do("--json", "task", "list", "--all", NULL), 0),
	    "tasks");

	for (size_t i = 0; i < json_object_array_length(tasks); i++) {
		struct json_object *row = json_object_array_get_idx(tasks, i);

		if (strcmp(json_string_or(row, "title", ""), title) == 0)
			return row;
	}
	ck_abort_msg("no task \"%s\" in: %s", title,
	    e2e_shown(json_object_to_json_string(tasks)));
	return NULL;
}

static const char *
id_of(const char *title)
{
	return json_string_or(task(title), "id", "?");
}

static int64_t
number(const char *sql)
{
	struct json_object *answer = e2e_json(
	    fleet_do("--json", "doctor", "store", "sql", sql, NULL), 0);

	return strtoll(auto_member(answer, "rows.0.0"), NULL, 10);
}

/* --- while it waits for a person ---------------------------------------- */

/* The one thing that is asked, in the same words everywhere. */
static void
is_asked(void)
{
	const char *id = id_of("table"), *why;
	struct json_object *asks = shown("asks");

	ck_assert_int_eq((int)json_object_array_length(asks), 1);
	ck_assert_str_eq(auto_member(asks, "0.kind"), "blocked");
	ck_assert_str_eq(auto_member(asks, "0.task"), id);
	says_once(fleet_do("asks", NULL)->out, PLATES);
	says_once(fleet_do("status", NULL)->out, PLATES);
	says_once(fleet_do("status", NULL)->out,
	    e2e_path("llmc answer %s TEXT", auto_member(asks, "0.id")));
	/* Its plan says it, and the report of the run that goes on. */
	says_once(e2e_llmc(fleet_root(), "report", NULL)->out, PLATES);
	says_once(e2e_llmc(fleet_root(), "report", NULL)->out,
	    "; all that was spent is $");
	says_once(fleet_do("goal", "tree", NULL)->out, "blocked: " PLATES);
	says_once(fleet_do("goal", "show",
		      auto_member(shown("status"), "goals.goals.0.goal"), NULL)
		      ->out,
	    PLATES);
	why = fleet_do("why", id, NULL)->out;
	says_once(why, e2e_path("llmc answer %s TEXT", id));
	says_once(why, "yes, it is blocked: " PLATES);
	says_once(why, "task parked: it is blocked: " PLATES);
	ck_assert_str_eq(auto_member(task("table"), "status"), "parked");
}

/* --- when all has ended ------------------------------------------------- */

/* The task, what became of it, and what why says of it. */
static void
ended(const char *title, const char *outcome)
{
	struct json_object *row = task(title);
	const char *commit = json_string_or(row, "commit_sha", "");
	const char *why =
	    fleet_do("why", json_string_or(row, "id", "?"), NULL)->out;

	ck_assert_msg(strcmp(json_string_or(row, "status", ""), outcome) == 0,
	    "\"%s\" is not %s: %s", title, outcome,
	    e2e_shown(json_object_to_json_string(row)));
	ck_assert_msg(json_int_or(row, "attempts", 0) == 1,
	    "\"%s\" has had another attempt: %s", title, e2e_shown(why));
	if (commit[0] == '\0') {
		says_once(why, ": done\n");
		e2e_lacks(why, "land");
		return;
	}
	ck_assert_str_eq(json_string_or(row, "reason", ""), "");
	says_once(why, e2e_path(": done: landed as %.7s\n", commit));
	says_once(why, e2e_path(": it landed as %.7s\n", commit));
}

static void
tasks_are_right(void)
{
	struct json_object *tasks = json_object_object_get(
	    e2e_json(fleet_do("--json", "task", "list", "--all", NULL), 0),
	    "tasks");
	const char *why;

	ck_assert_int_eq((int)json_object_array_length(tasks), ENDED);
	for (int i = 1; i <= SMALL; i++)
		ended(e2e_path("Small %d", i), "landed");
	ended("Cook dinner", "landed");
	ended("table", "landed");
	ended("soup", "landed");
	ended("bread", "landed");
	ended("review", "no_changes");
	why = fleet_do("why", id_of("table"), NULL)->out;
	says_once(why, "task parked: it is blocked: " PLATES);
	says_once(why, "task resumed: Take the blue ones.");
	why = fleet_do("why", id_of("soup"), NULL)->out;
	says_once(why, "its worker was told to change its approach");
	says_once(why, "a fresh session goes on with it");
}

static int64_t
sum_of(struct json_object *rows)
{
	int64_t sum = 0;

	for (size_t i = 0; i < json_object_array_length(rows); i++)
		sum += json_int_or(
		    json_object_array_get_idx(rows, i), "cost_micros", 0);
	return sum;
}

static void
report_is_right(void)
{
	struct json_object *report = shown("report");
	const char *text = fleet_do("report", NULL)->out;
	int64_t total =
	    strtoll(auto_member(report, "money.total_micros"), NULL, 10);

	ck_assert_str_eq(
	    auto_member(report, "counts.landed"), e2e_path("%d", LANDED));
	ck_assert_str_eq(auto_member(report, "counts.no_changes"), "1");
	ck_assert_str_eq(auto_member(report, "counts.failed"), "0");
	ck_assert_str_eq(auto_member(report, "counts.aborted"), "0");
	ck_assert_str_eq(auto_member(report, "counts.open"), "0");
	/* Each run ended by a kill, but for the last. */
	ck_assert_str_eq(auto_member(report, "period.first_run"), "r1");
	ck_assert_str_eq(auto_member(report, "period.run"), "r4");
	says_once(text, "Nothing needs you");
	says_once(text,
	    e2e_path("All %d tasks that ended succeeded (1 without "
		     "a change)",
		ENDED));
	says_once(text, LEAK);
	e2e_lacks(text, PLATES);
	/* The run has ended with its work, not at the next patrol. */
	ck_assert_int_lt(number("SELECT ended_ms - (SELECT max(finished_ms) "
				"FROM ended_task) FROM run ORDER BY began_ms "
				"DESC LIMIT 1"),
	    SOON_MS);
	/* All that was paid for is in the attempts. */
	ck_assert_int_gt(total, 0);
	ck_assert_msg(number("SELECT sum(cost) FROM attempt") == total,
	    "the attempts do not cost what the tasks do: %s",
	    e2e_shown(fleet_do("doctor", "store", "sql",
		"SELECT attempt.id, attempt.cost, ended_task.cost FROM attempt "
		"JOIN ended_task ON attempt.id = ended_task.id || '-1' "
		"WHERE attempt.cost <> ended_task.cost",
		NULL)
			  ->out));
	ck_assert_int_eq(number("SELECT sum(cost) FROM day"), total);
	ck_assert_int_eq(number("SELECT count(*) FROM attempt"), ENDED);
	ck_assert_int_eq(
	    sum_of(json_object_object_get(report, "landed")), total);
	ck_assert_str_eq(auto_member(report, "money.elsewhere_micros"), "0");
}

/* Of all that was asked: the one question, and what was only told. */
static void
asks_are_right(void)
{
	/* All but the last of the soup. */
	static const char *const told[] = { "oversight has warned a worker",
		"oversight has redirected a worker",
		"oversight has begun a fresh session", "the run has ended" };
	size_t count = 0;
	struct json_object *all =
	    e2e_json(fleet_do("--json", "asks", "--all", NULL), 0);
	int blocked = 0;

	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *row = json_object_array_get_idx(all, i);

		if (strcmp(json_string_or(row, "kind", ""), "told") == 0) {
			ck_assert_uint_lt(count, nitems(told));
			ck_assert_str_eq(
			    json_string_or(row, "title", ""), told[count++]);
			if (count < nitems(told))
				ck_assert_str_eq(
				    json_string_or(row, "task", ""),
				    id_of("soup"));
			continue;
		}
		blocked++;
		ck_assert_str_eq(json_string_or(row, "kind", ""), "blocked");
		ck_assert_str_eq(
		    json_string_or(row, "task", ""), id_of("table"));
		ck_assert_str_eq(json_string_or(row, "how", ""), "answered");
		ck_assert_str_eq(json_string_or(row, "answer", ""), BLUE);
	}
	ck_assert_msg(blocked == 1, "%d asks: %s", blocked,
	    e2e_shown(json_object_to_json_string(all)));
	ck_assert_uint_eq(count, nitems(told));
	e2e_has(fleet_do("asks", NULL)->out, "Nothing is asked of you");
	says_once(fleet_do("status", NULL)->out, "Nothing needs you");
}

static void
goal_is_right(const char *goal)
{
	const char *list = fleet_do("goal", "list", "--all", NULL)->out;

	ck_assert_str_eq(goal_status(goal), "completed");
	says_once(list, GOAL);
	says_once(list, "5/5");
	e2e_has(fleet_do("goal", "show", goal, NULL)->out,
	    "completed, 5 of 5 done (100%)");
	e2e_expect(
	    e2e_llmc(fleet_root(), "doctor", "store", "check", NULL), 0, NULL);
}

/* The agent above them heard of each once, in its own words. */
static void
parent_was_told(void)
{
	static const char *const children[] = { "review", "table", "soup",
		"bread" };

	for (size_t i = 0; i < nitems(children); i++)
		ck_assert_int_eq(fleet_prompts(e2e_path("\"task_id\": \"%s\"",
				     id_of(children[i]))),
		    1);
	ck_assert_int_eq(fleet_prompts("\"last_words\": \"" LEAK "\""), 1);
}

/* --- the story ---------------------------------------------------------- */

void
together_story(void)
{
	const char *goal;

	for (int i = 1; i <= SMALL; i++)
		auto_task(e2e_path("%d-small.md", i),
		    "# Small %d\n\nfake: commit small%d.txt x", i, i);
	auto_up(NULL);
	auto_wait_landed(SMALL);
	goal = json_string_or(
	    e2e_json(fleet_do("--json", "goal", "add", GOAL, NULL), 0), "goal",
	    "");
	auto_wait_gate("planner");
	auto_kill9_daemon(); /* while the goal is planned */
	auto_open_gate("planner");
	auto_up(NULL);
	auto_wait_gate("bread");
	auto_wait_gate("fresh");
	auto_wait_shell("\"$LLMC\" asks | grep -q '" PLATES "'");
	auto_kill9_daemon(); /* while it asks */
	fleet_fails("llmc up --auto", "answer", id_of("table"), BLUE, NULL);
	auto_up(NULL);
	is_asked();
	fleet_do("answer", id_of("table"), BLUE, NULL);
	auto_wait_landed(SMALL + 1);
	auto_kill9_daemon(); /* while a fresh session is in its turn */
	auto_open_gate("fresh");
	auto_open_gate("bread");
	auto_up("--until-empty", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history("table.txt: blue", "soup", "bread.txt: x", "dinner.txt: x",
	    "small1.txt: x", "small6.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), LANDED);
	tasks_are_right();
	report_is_right();
	asks_are_right();
	goal_is_right(goal);
	parent_was_told();
	auto_no_complaints();
	auto_no_sessions();
}
