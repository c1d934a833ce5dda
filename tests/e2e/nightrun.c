/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "nightrun.h"
#include "overrun.h"
#include "teamrun.h"

#define LOOK_MS 250
#define SOON_MS 8000 /* on a machine that is busy with tests */

/* The titles are what the list and the report call them. */
#define LONG    "Rename the helper of the parser"
#define READER  "See whether the manual has every option"
#define STUCK   "Make the tests of the lexer pass"
#define ASKS    "Paint the door"
#define NOTHING "Tidy the folder of examples"
#define VICTIM  "Count the lines of the index"

#define COLOUR "Which colour shall the door have?"

/* Fails for one task alone, each time with other numbers, times and paths. The
 * agent does what its last line says: it tries again, and gets it never right.
 */
#define CHECK                                                             \
	"! test -e lexer.txt || { echo \"FAIL /tmp/build-$$/lexer.c:$$: " \
	"expected 3 tokens after $(date +%N) ns\"; echo 'fake: run date " \
	"+%N >>lexer.txt; git commit -qam again'; exit 1; }"

#define COFFEE "Brew coffee"
#define NODE(id, rest)                                     \
	"{\"id\":\"" id "\",\"name\":\"Node " id "\"" rest \
	",\"acceptance\":[\"it is there\"]}"
#define PLAN                                    \
	"{\"planVersion\":1,\"phases\":[" NODE( \
	    "P1", ",\"tasks\":[" NODE("T1.1", "") "]") "]}"

/* What was not as it should be. The night goes on, so that one run tells all
 * of it. */
static struct buf wrong = BUF_INIT;

static void
expect(bool is_so, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void
expect(bool is_so, const char *fmt, ...)
{
	va_list ap;

	if (is_so)
		return;
	va_start(ap, fmt);
	buf_addc(&wrong, '\n');
	buf_vaddf(&wrong, fmt, ap);
	va_end(ap);
}

/* --- what is set -------------------------------------------------------- */

static bool
has_boxes(void)
{
	return e2e_sh(NULL,
		   "bwrap --unshare-user --unshare-pid --ro-bind / / "
		   "--proc /proc true")
		   ->status == 0;
}

void
night_begin(void)
{
	/* Set by the tests' own helpers, for speed. */
	static const char *const fast[] = { "daemon.patrol_interval",
		"overseer.remediation_timeout", "overseer.heartbeat_timeout",
		"overseer.remediation_prompt" };

	for (size_t i = 0; i < nitems(fast); i++)
		fleet_do("config", "unset", fast[i], NULL);
	auto_tune("daemon_start=60000 daemon_stop=30000");
	goal_enable();
	auto_set("auto.concurrency", "3");
	auto_set("auto.check_command", CHECK);
	if (has_boxes())
		fleet_box("worktree");
}

/* --- the work ----------------------------------------------------------- */

/* Much is said, none of it with the words of the task, and now and then a
 * command finds nothing. The others bring something new, as those of healthy
 * work do: numbers alone would not be that. */
static const char *
narration(int calls)
{
	static const char *const said[] = {
		"Let me have a look at how this hangs together before I touch "
		"anything; I want to be sure that I understand it.",
		"Interesting. There is more history here than I expected, so I "
		"will go through the callers one at a time.",
		"That was not it. Perhaps the other branch explains why nobody "
		"noticed; I will search for it there.",
		"Good, this confirms what I thought. Now the remaining places, "
		"which should be quick.",
		"Hm, the search has found nothing, which is fine: it means that "
		"nobody depends on it.",
	};
	cleanup_buf struct buf steps = BUF_INIT;

	for (int i = 0; i < calls; i++) {
		buf_addf(&steps, "fake: say %s (%d)\n", said[i % 5], i);
		if (i == calls / 2)
			buf_addf(&steps, "fake: run %s\n", auto_gate("long"));
		else if (i % 5 == 4)
			buf_addf(
			    &steps, "fake: run grep -rn nowhere%d .git*\n", i);
		else
			buf_addf(&steps,
			    "fake: run ls .; echo %d | tr 0-9 a-j\n", i);
	}
	return e2e_path("%s", steps.data);
}

static const char *
reading(void)
{
	cleanup_buf struct buf steps = BUF_INIT;

	for (int i = 0; i < 12; i++)
		buf_addf(&steps, "fake: run grep -rn option%d .git*\n", i);
	return e2e_path("%s"
			"fake: say No change is needed: the manual already "
			"describes every option that the program accepts.\n",
	    steps.data);
}

static const char *
parent(int children)
{
	cleanup_json struct json_object *params = json_object_new_object();
	struct json_object *list = json_object_new_array();

	json_set_string(params, "spawn_reason", "It has parts.");
	json_set(params, "requested_subagents", list);
	for (int i = 1; i <= children; i++)
		json_object_array_add(list,
		    team_child(e2e_path("Make part %d.\n"
					"fake: commit part%d.txt x\n",
				   i, i),
			"{}"));
	return e2e_path("fake: tool agent_spawn %s\nfake: commit whole.txt x\n",
	    json_object_to_json_string_ext(params, JSON_C_TO_STRING_PLAIN));
}

static void
add_tasks(const struct night *night)
{
	auto_task("01-asks.md",
	    "# " ASKS
	    "\n\nfake: tool request_orchestrator {\"message\":\"" COLOUR
	    "\",\"options\":[\"red\",\"blue\"],"
	    "\"timeoutSeconds\":3600}\nfake: commit door.txt x");
	/* Cheap ones first: what a task costs is compared with the others. */
	for (int i = 1; i <= night->small; i++)
		auto_task(e2e_path("1%d-small.md", i),
		    "# Small %d\n\nfake: commit small%d.txt x", i, i);
	auto_task("30-long.md", "# " LONG "\n\n%sfake: commit long.txt x",
	    narration(night->calls));
	auto_task("31-stuck.md", "# " STUCK "\n\nfake: commit lexer.txt x");
	if (night->kills_agent)
		auto_task("32-victim.md",
		    "# " VICTIM "\n\nfake: run %s\nfake: commit lines.txt x",
		    auto_gate("victim"));
	auto_task("33-nothing.md", "# " NOTHING "\n\nfake: say Done.");
	auto_task("34-reader.md", "# " READER "\n\n%s", reading());
}

static void
add_goal_to_plan(void)
{
	fleet_answer("Goal: " COFFEE, "fake: answer " PLAN "\n");
	fleet_answer(
	    "T1.1 of the goal \"" COFFEE "\"", "fake: commit coffee.txt x\n");
	fleet_do("goal", "create", "--title", COFFEE, NULL);
}

/* --- a terminal that nobody reads --------------------------------------- */

/* Its name. Nothing more fits into it: Ctrl-S, or a window that hangs. */
static const char *
full_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	char page[1024];
	const char *name;
	int fd;

	ck_assert_int_ge(master, 0); /* stays open until the test ends */
	ck_assert_int_eq(grantpt(master), 0);
	ck_assert_int_eq(unlockpt(master), 0);
	name = e2e_path("%s", ptsname(master));
	fd = open(name, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	memset(page, 'x', sizeof page);
	while (write(fd, page, sizeof page) > 0)
		;
	while (write(fd, page, 1) > 0)
		;
	ck_assert_int_eq(errno, EAGAIN);
	fd_close(fd);
	return name;
}

/* --- looking ------------------------------------------------------------ */

/* Wait until the script, run in the root, succeeds. */
static void
wait_shell(const char *script)
{
	while (e2e_sh(fleet_root(), script)->status != 0) {
		ck_assert_msg(!over_has_ended(), "the overseer has ended");
		if (unit_is_late())
			ck_abort_msg(
			    "waited in vain for %.200s:%.800s: %.2500s",
			    e2e_shown(script), e2e_shown(wrong.data),
			    e2e_shown(e2e_sh(fleet_root(),
				"\"$LLMC\" status; tail -n 12 "
				".llmc/logs/auto.log | cut -c 1-300")
					  ->out));
		poll(NULL, 0, LOOK_MS); /* waits for other programs */
	}
}

static struct json_object *
find_titled(struct json_object *json, const char *title);

static struct json_object *
find_below(struct json_object *json, const char *title)
{
	struct json_object *found = NULL;

	json_object_object_foreach(json, key, value)
	{
		(void)key;
		if (found == NULL)
			found = find_titled(value, title);
	}
	return found;
}

/* The first object of a document with this title; NULL = none. */
static struct json_object *
find_titled(struct json_object *json, const char *title)
{
	struct json_object *found = NULL;

	if (json_object_is_type(json, json_type_object))
		return strcmp(json_string_or(json, "title", ""), title) == 0 ?
		    json :
		    find_below(json, title);
	for (size_t i = 0; json_object_is_type(json, json_type_array) &&
	     found == NULL && i < json_object_array_length(json);
	     i++)
		found = find_titled(json_object_array_get_idx(json, i), title);
	return found;
}

static struct json_object *
task(const char *title)
{
	struct json_object *list =
	    e2e_json(fleet_do("--json", "task", "list", "--all", NULL), 0);
	struct json_object *found = find_titled(list, title);

	ck_assert_msg(found != NULL, "no task \"%s\" in %s", title,
	    e2e_shown(json_object_to_json_string(list)));
	return found;
}

/* --- the one list ------------------------------------------------------- */

static struct json_object *
needs(void)
{
	struct json_object *status =
	    e2e_json(fleet_do("--json", "status", NULL), 0);
	struct json_object *list = json_object_object_get(status, "needs");

	expect(list != NULL, "status has no list of what needs a person");
	return list != NULL ? list : json_object_new_array();
}

/* The need of this kind (NULL = any) about this; NULL = none. */
static struct json_object *
need(struct json_object *list, const char *what, const char *who)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);

		if ((what == NULL ||
			strcmp(json_string_or(row, "what", ""), what) == 0) &&
		    (who == NULL ||
			strcmp(json_string_or(row, "who", ""), who) == 0))
			return row;
	}
	return NULL;
}

/* The task is on the list, with words, and with a command about it. */
static void
is_needed(struct json_object *list, const char *title, const char *words)
{
	const char *id = json_string_or(task(title), "id", "?");
	struct json_object *row = need(list, NULL, id);
	const char *command = json_string_or(row, "command", "");

	expect(row != NULL, "\"%s\" (%s) is not in the list: %s", title, id,
	    json_object_to_json_string(list));
	if (row == NULL)
		return;
	expect(strstr(json_string_or(row, "words", ""), words) != NULL,
	    "\"%s\": no \"%s\" in: %s", title, words,
	    json_object_to_json_string(row));
	expect(strncmp(command, "llmc ", 5) == 0,
	    "\"%s\": no command about it: %s", title,
	    json_object_to_json_string(row));
	/* What it says can be typed. */
	if (strncmp(command, "llmc task show ", 15) == 0)
		expect(
		    e2e_sh(fleet_root(), e2e_path("\"$LLMC\" %s", command + 5))
			    ->status == 0,
		    "\"%s\" fails", command);
}

static void
is_not_needed(struct json_object *list, const char *title)
{
	const char *id = json_string_or(task(title), "id", "?");

	expect(need(list, NULL, id) == NULL, "\"%s\" (%s) is in the list: %s",
	    title, id, json_object_to_json_string(list));
}

/* Everything that shows it shows the same. */
static void
is_one_list(struct json_object *list)
{
	struct json_object *top = e2e_json(fleet_do("--json", "top", NULL), 0);
	struct json_object *rows = json_object_object_get(top, "needs");

	expect(rows != NULL &&
		(size_t)json_object_object_length(rows) ==
		    json_object_array_length(list),
	    "top has another list: %s", json_object_to_json_string(rows));
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const char *who = json_string_or(
		    json_object_array_get_idx(list, i), "who", "?");

		expect(strstr(json_object_to_json_string_ext(
				  rows, JSON_C_TO_STRING_PLAIN),
			   e2e_path("\"who\":\"%s\"", who)) != NULL,
		    "top does not have %s", who);
	}
}

/* --- the night ---------------------------------------------------------- */

/* The daemon dies while the long task is half done, and is there again though
 * nobody reads what the overseer says. */
static void
kill_daemon(void)
{
	int64_t then;
	int before;

	wait_shell(e2e_path("test -e '%s/long.here'", auto_gates()));
	before = fleet_daemon_pid();
	then = clock_mono_ms();
	fleet_kill(before);
	over_daemon(before);
	expect(clock_mono_ms() - then < SOON_MS,
	    "it took %lld ms until another daemon was there",
	    (long long)(clock_mono_ms() - then));
	auto_open_gate("long");
}

static void
kill_agent(void)
{
	const char *worker;
	int pid;

	wait_shell(e2e_path("test -e '%s/victim.here'", auto_gates()));
	worker = json_string_or(task(VICTIM), "worker", "?");
	pid = fleet_agent_pid(worker);
	auto_open_gate("victim"); /* for the one that replaces it */
	fleet_kill(pid);
}

static const char *
status_of(const char *worker)
{
	struct json_object *status =
	    e2e_json(fleet_do("--json", "status", NULL), 0);
	struct json_object *list =
	    json_object_object_get(status, "auto_workers");

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);

		if (strcmp(json_string_or(row, "name", ""), worker) == 0)
			return json_string_or(row, "status", "");
	}
	return "";
}

/* The question of a worker is in the list until a person answers it. */
static void
answer(void)
{
	const char *worker = json_string_or(task(ASKS), "worker", "?"), *id;
	struct json_object *row;

	wait_shell("\"$LLMC\" --json goal tree | grep -q "
		   "'\"pendingRequestCount\": *1'");
	row = need(needs(), "question", NULL);
	expect(strstr(json_string_or(row, "words", ""), COLOUR) != NULL,
	    "the question is not in the list");
	expect(
	    strstr(json_string_or(row, "command", ""), "llmc answer a") != NULL,
	    "the list does not say how to answer");
	expect(strstr(fleet_do("status", NULL)->out, COLOUR) != NULL,
	    "status does not show the question");
	expect(strcmp(status_of(worker), "waiting") == 0, "%s asks, and is %s",
	    worker, status_of(worker));
	/* Reading marks nothing. */
	fleet_do("mail", "inbox", NULL);
	fleet_do("asks", NULL);
	expect(need(needs(), "question", NULL) != NULL,
	    "the question was forgotten when it was read");
	id = e2e_sh(fleet_root(),
	    "\"$LLMC\" log --lines 100000 | grep -o 'R_[0-9A-Za-z]*' | head "
	    "-n 1 | tr -d '\\n'")
		 ->out;
	fleet_do("answer", id, "2", NULL);
}

static int
expected_commits(const struct night *night)
{
	return night->small + night->children + night->kills_agent +
	    night->plans + 3; /* the long one, the door, and the whole */
}

static void
has_landed(const char *file)
{
	const char *subject = e2e_path("%s.txt: x", file);
	struct e2e_run *found = e2e_sh(fleet_root(),
	    e2e_path("git log --format=%%s main | grep -cFx -e '%s'", subject));

	expect(strcmp(found->out, "1\n") == 0, "\"%s\" has landed %.*s times",
	    subject, (int)strcspn(found->out, "\n"), found->out);
}

/* Everything that was healthy is on the branch, once. */
static void
all_has_landed(const struct night *night)
{
	for (int i = 1; i <= night->small; i++)
		has_landed(e2e_path("small%d", i));
	for (int i = 1; i <= night->children; i++)
		has_landed(e2e_path("part%d", i));
	has_landed("whole");
	has_landed("long");
	has_landed("door");
	if (night->kills_agent)
		has_landed("lines");
	if (night->plans)
		has_landed("coffee");
	expect(auto_landed() == expected_commits(night),
	    "%d commits have landed instead of %d: %s", auto_landed(),
	    expected_commits(night), fleet_log());
	expect(strcmp(json_string_or(task(READER), "outcome", ""),
		   "no_changes") == 0,
	    "who only read has the outcome %s",
	    json_string_or(task(READER), "outcome", "(none)"));
	expect(auto_finished("no_changes") == 1,
	    "%d tasks are no_changes instead of 1",
	    auto_finished("no_changes"));
	expect(auto_finished("aborted") == 0, "%d tasks were aborted: %s",
	    auto_finished("aborted"),
	    e2e_sh(fleet_root(),
		"\"$LLMC\" --json task list --all | "
		"grep -o '\"reason\": *\"[^\"]*\"'")
		->out);
}

static const char *
oversight_did(const char *filter)
{
	return e2e_sh(fleet_root(),
	    e2e_path("grep -h '\"type\":\"oversight\"' .llmc/logs/auto.log* | "
		     "grep -v '\"action\":\"log\"' | "
		     "grep %s '\"task\":\"%s\"'; true",
		filter, json_string_or(task(STUCK), "id", "?")))
	    ->out;
}

/* No rule has done more than to write down what it saw of healthy work. */
static void
healthy_was_left_alone(void)
{
	const char *found = oversight_did("-v");

	expect(found[0] == '\0', "oversight did: %s", found);
	found = oversight_did("-e");
	expect(strstr(found, "\"action\":\"restart\"") != NULL,
	    "no fresh session was begun for what is stuck: %s", found);
}

/* --- the morning -------------------------------------------------------- */

static int64_t
sum_of(struct json_object *rows)
{
	int64_t sum = 0;

	for (size_t i = 0; i < json_object_array_length(rows); i++)
		sum += json_int_or(
		    json_object_array_get_idx(rows, i), "cost_micros", 0);
	return sum;
}

/* The day's money is the sum of the rows, to the micro-dollar. */
static void
money_adds_up(struct json_object *report, bool plans)
{
	static const char *const lists[][2] = { { "landed", "landed_micros" },
		{ "not_landed", "not_landed_micros" },
		{ "open", "open_micros" } };
	/* Each has a row of its own. */
	static const char *const others[] = { "planner_micros",
		"repairs_micros", "hand_micros" };
	struct json_object *money = json_object_object_get(report, "money");
	int64_t day = sum_of(json_object_object_get(money, "days")), rows = 0;

	for (size_t i = 0; i < nitems(lists); i++) {
		int64_t sum =
		    sum_of(json_object_object_get(report, lists[i][0]));

		expect(sum == json_int_or(money, lists[i][1], -1),
		    "the rows of %s have %lld: %s", lists[i][0], (long long)sum,
		    json_object_to_json_string(money));
		rows += sum;
	}
	expect(rows > 0, "nothing has cost anything");
	for (size_t i = 0; i < nitems(others); i++)
		rows += json_int_or(money, others[i], 0);
	expect(plans == (json_int_or(money, "planner_micros", 0) > 0),
	    "what the planner has cost: %s", json_object_to_json_string(money));
	expect(day == rows, "the day has cost %lld, its rows %lld: %s",
	    (long long)day, (long long)rows, json_object_to_json_string(money));
}

static void
the_report_is_true(const struct night *night)
{
	struct json_object *report =
	    e2e_json(fleet_do("--json", "report", NULL), 0);
	struct json_object *list = json_object_object_get(report, "needs");

	expect(strtol(auto_member(report, "counts.landed"), NULL, 10) ==
		expected_commits(night),
	    "the report has %s landed", auto_member(report, "counts.landed"));
	expect(strcmp(auto_member(report, "counts.no_changes"), "1") == 0,
	    "the report has %s without a change",
	    auto_member(report, "counts.no_changes"));
	expect(
	    strstr(fleet_do("report", NULL)->out, "Nothing needs you") == NULL,
	    "the report says that nothing needs you");
	expect(
	    strstr(fleet_do("status", NULL)->out, "Nothing needs you") == NULL,
	    "status says that nothing needs you");
	is_needed(list, STUCK, "Stuck");
	is_needed(list, NOTHING, "without a change");
	money_adds_up(report, night->plans);
}

/* Everybody is free: nothing that was parked holds a worker. */
static void
nobody_is_held(void)
{
	struct json_object *status =
	    e2e_json(fleet_do("--json", "status", NULL), 0);
	struct json_object *list =
	    json_object_object_get(status, "auto_workers");

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *row = json_object_array_get_idx(list, i);

		expect(strcmp(json_string_or(row, "status", ""), "idle") == 0,
		    "%s is not free: %s", json_string_or(row, "name", ""),
		    json_object_to_json_string(row));
	}
}

/* Nobody works any more, and nothing waits for anybody but a person. */
static void
wait_quiet(void)
{
	wait_shell(
	    "! ls .llmc/tasks/todo | grep -q . && "
	    "\"$LLMC\" --json status >../status.json && "
	    "! grep -qE '\"status\": \"(working|starting|waiting|"
	    "accepting|rebasing|reviewing|needs_review|rejected|offline)\"' "
	    "../status.json && "
	    "! \"$LLMC\" --json goal list | grep -q '\"active\"'");
}

void
night_story(const struct night *night)
{
	struct json_object *list;
	const char *goal;

	add_tasks(night);
	goal = goal_of_one_task(parent(night->children));
	if (night->plans)
		add_goal_to_plan();
	over_start_on(full_terminal());
	kill_daemon();
	if (night->kills_agent)
		kill_agent();
	answer();
	wait_quiet();
	all_has_landed(night);
	healthy_was_left_alone();
	expect(strcmp(goal_status(goal), "completed") == 0, "the goal is %s",
	    goal_status(goal));
	list = needs();
	is_needed(list, STUCK, "Stuck");
	expect(
	    strcmp(json_string_or(need(list, "failure",
				      json_string_or(task(STUCK), "id", "?")),
		       "who", ""),
		json_string_or(task(STUCK), "id", "?")) == 0,
	    "what is stuck was not parked: %s",
	    json_object_to_json_string(list));
	is_needed(list, NOTHING, "without a change");
	is_not_needed(list, READER);
	is_not_needed(list, LONG);
	is_one_list(list);
	expect(need(list, "question", NULL) == NULL,
	    "the question is in the list after its answer");
	nobody_is_held();
	/* One accident is not repaired, and an agent that dies goes on. */
	expect(over_remembered("remedy", NULL) == 0 &&
		over_remembered("failure", NULL) == 1,
	    "there were failures or repairs: %s",
	    e2e_sh(fleet_root(), "\"$LLMC\" log failures")->out);
	over_signal(SIGINT);
	ck_assert_int_eq(over_wait_exit(), 0);
	the_report_is_true(night);
	auto_no_sessions();
	ck_assert_msg(wrong.len == 0, "%.3000s", e2e_shown(wrong.data));
}
