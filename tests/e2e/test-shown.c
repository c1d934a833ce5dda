/* SPDX-License-Identifier: ISC */

/*
 * How auto mode looks from outside: events, status, doctor and completion, from
 * files as the daemon leaves them.
 */
#include "shown.h"
#include "worker.h"

/* --- llmc log ----------------------------------------------------- */

static void
append_event(const char *level, const char *event)
{
	const char *path = shown_file("logs/auto.log");
	const char *before = e2e_exists(path) ? e2e_read(path) : "";

	e2e_sh(shown_root, "mkdir -p .llmc/logs");
	e2e_write(path,
	    e2e_path("%s{\"timestamp\":\"2026-01-31T08:15:30.123Z\",\"level\":"
		     "\"%s\",\"event\":%s}\n",
		before, level, event));
}

void
unit_before(void)
{
	shown_setup();
}

/* The output of a check is a log, not a line; it is there for who asks. */
TEST(an_event_is_one_line_unless_asked_for_more)
{
	const char *lines = "one\\ntwo\\nthree", *out;

	for (int i = 0; i < 7; i++)
		lines = e2e_path("%s\\n%s", lines, lines);
	append_event("INFO",
	    e2e_path("{\"type\":\"check\",\"result\":\"failed\","
		     "\"reason\":\"%s\"}",
		lines));
	out = shown_must("log", NULL, NULL)->out;
	e2e_has(out, "  check failed: one two three one");
	e2e_has(out, "...\n");
	ck_assert_uint_eq(strlen(out), 301);
	ck_assert_ptr_eq(strchr(out, '\n'), out + 300);
	out = shown_must("log", "--long", NULL)->out;
	e2e_has(out, "  check failed: one\n    two\n    three\n    one\n");
	ck_assert_uint_gt(strlen(out), 1000);
	out = e2e_sh(shown_root,
	    "export TERM=xterm; script -qec \"stty cols 60; \\\"$LLMC\\\" "
	    "--no-color log\" /dev/null")
		  ->out;
	ck_assert_uint_eq(strcspn(out, "\r"), 60);
}

TEST(events_are_told_in_words)
{
	static const struct {
		const char *event;
		const char *words;
	} table[] = {
		{ "{\"type\":\"daemon_startup\",\"instance_id\":\"i\","
		  "\"concurrency\":2}",
		    "auto mode begins with 2 at a time\n" },
		{ "{\"type\":\"daemon_shutdown\",\"reason\":\"SIGINT\"}",
		    "auto mode ends: SIGINT\n" },
		{ "{\"type\":\"task_assigned\",\"worker_name\":\"auto-1\","
		  "\"task\":\"t1\",\"task_excerpt\":\"Do\\n it\","
		  "\"attempt\":2}",
		    "auto-1 gets t1, attempt 2: Do it\n" },
		{ "{\"type\":\"task_completed\",\"worker_name\":\"auto-1\","
		  "\"task\":\"t1\",\"result\":\"changes\"}",
		    "auto-1 has ended its work on t1: changes\n" },
		{ "{\"type\":\"accept_success\",\"worker_name\":\"auto-1\","
		  "\"task\":\"t1\",\"commit_sha\":\"0123456789abcdef\"}",
		    "the work of auto-1 on t1 has landed as 0123456\n" },
		{ "{\"type\":\"accept_success\",\"worker_name\":\"auto-1\","
		  "\"task\":\"t1\",\"branch\":\"main\",\"commit_sha\":"
		  "\"0123456789abcdef\"}",
		    "the work of auto-1 on t1 has landed on main as "
		    "0123456\n" },
		{ "{\"type\":\"accept_failure\",\"worker_name\":\"auto-1\","
		  "\"task\":\"t1\",\"branch\":\"main\",\"commit_sha\":"
		  "\"0123456789abcdef\",\"error\":\"conflict\"}",
		    "the work of auto-1 on t1 at 0123456 has not landed on "
		    "main: conflict\n" },
		{ "{\"type\":\"accept_failure\",\"worker_name\":\"auto-1\","
		  "\"task\":\"t1\",\"error\":\"conflict\"}",
		    "the work of auto-1 on t1 has not landed: conflict\n" },
		{ "{\"type\":\"worker_state_transition\",\"worker_name\":\"a\","
		  "\"from_state\":\"idle\",\"to_state\":\"working\"}",
		    "a: idle -> working\n" },
		{ "{\"type\":\"worker_state_transition\",\"worker_name\":\"a\","
		  "\"from_state\":\"working\",\"to_state\":\"paused\","
		  "\"reason\":\"it asks\"}",
		    "a: working -> paused: it asks\n" },
		{ "{\"type\":\"sent_back\",\"worker_name\":\"a\",\"task\":"
		  "\"t1\",\"reason\":\"no commit\"}",
		    "a is sent back to t1: no commit\n" },
		{ "{\"type\":\"task_retry\",\"task\":\"t1\",\"reason\":\"x\","
		  "\"attempt\":2}",
		    "t1 will be tried again after attempt 2: x\n" },
		{ "{\"type\":\"task_finished\",\"task\":\"t1\",\"outcome\":"
		  "\"landed\",\"reason\":null}",
		    "t1 is finished: landed\n" },
		{ "{\"type\":\"post_accept\",\"task\":\"t1\",\"commit_sha\":"
		  "\"0123456789\",\"exit_code\":1,\"duration_ms\":65000}",
		    "post_accept_command for t1 at 0123456 ended with status 1 "
		    "in 1m5s\n" },
		{ "{\"type\":\"waiting\",\"reason\":\"dirty\",\"until_unix\":"
		  "1769850930}",
		    "waiting until 2026-01-31 10:15:30: dirty\n" },
		{ "{\"type\":\"stall\",\"worker_name\":\"a\",\"task\":\"t1\","
		  "\"action\":\"redirect\"}",
		    "a shows no sign of life in t1: redirect\n" },
		{ "{\"type\":\"budget\",\"scope\":\"day\",\"worker_name\":null,"
		  "\"reason\":\"$5\"}",
		    "the budget of the day is reached: $5\n" },
		{ "{\"type\":\"quarantine\",\"reason\":\"2.json\"}",
		    "a task cannot be used: 2.json\n" },
		{ "{\"type\":\"failure\",\"class\":\"task_source\","
		  "\"worker_name\":\"\",\"task\":null,\"reason\":\"gone\"}",
		    "hard failure task_source: gone\n" },
		{ "{\"type\":\"waiting\",\"worker_name\":\"a\",\"reason\":"
		  "\"limit\"}",
		    "a is waiting: limit\n" },
		{ "{\"type\":\"of_tomorrow\",\"n\":3,\"text\":\"a\\u001b[1m\"}",
		    "of_tomorrow n=3 text=a\\x1b[1m\n" },
		/* Numbers may be strings. */
		{ "{\"type\":\"waiting\",\"until_unix\":\"1769850931\"}",
		    "waiting until 2026-01-31 10:15:31\n" },
		{ "{\"type\":\"sent_back\"}", "? is sent back\n" },
	};
	const char *out = NULL;

	e2e_env("TZ=XXX-1");
	for (size_t i = 0; i < nitems(table); i++)
		append_event("INFO", table[i].event);
	out = shown_must("log", NULL, NULL)->out;
	for (size_t i = 0; i < nitems(table); i++)
		e2e_has(
		    out, e2e_path("2026-01-31 09:15:30  %s", table[i].words));
	ck_assert_uint_eq(
	    json_object_array_length(shown_json("log", "--lines", "3")), 3);
	e2e_has(e2e_llmc(shown_root, "log", "--lines=1", NULL)->out, "? is");
	e2e_expect(
	    e2e_llmc(shown_root, "log", "--lines", "x", NULL), 2, "a number");
	ck_assert_str_eq(
	    e2e_llmc(shown_root, "log", "--lines", "0", NULL)->err, "");
}

TEST(events_are_chosen_by_worker_task_and_kind)
{
	struct json_object *json;
	struct e2e_run *run;
	const char *out;

	append_event("INFO",
	    "{\"type\":\"task_assigned\",\"worker_name\":\"auto-1\","
	    "\"task\":\"t1\",\"task_excerpt\":\"One\",\"attempt\":1}");
	append_event("INFO",
	    "{\"type\":\"task_assigned\",\"worker_name\":\"auto-2\","
	    "\"task\":\"t2\",\"task_excerpt\":\"Two\",\"attempt\":1}");
	append_event("INFO",
	    "{\"type\":\"task_completed\",\"worker_name\":\"auto-1\","
	    "\"task\":\"t1\",\"result\":\"changes\"}");
	out = shown_must("log", "--worker=auto-1", NULL)->out;
	e2e_has(out, "auto-1 gets t1");
	e2e_has(out, "auto-1 has ended its work on t1");
	e2e_lacks(out, "auto-2");
	out = shown_must("log", "--kind=task_assigned", "--task=t1")->out;
	e2e_has(out, "auto-1 gets t1");
	e2e_lacks(out, "ended");
	e2e_lacks(out, "t2");
	/* Of one sort, any; the last ones of those that match. */
	out = shown_must("log", "--worker=auto-1", "--worker=auto-2")->out;
	e2e_has(out, "auto-1 gets t1");
	e2e_has(out, "auto-2 gets t2");
	out = shown_must("log", "--task=t2", "-n1")->out;
	e2e_has(out, "auto-2 gets t2");
	json = shown_json("log", "--task=t2", NULL);
	ck_assert_uint_eq(json_object_array_length(json), 1);
	run = e2e_llmc(shown_root, "log", "--task", "t9", NULL);
	e2e_expect(run, 0, "there are no such events");
	run = e2e_llmc(shown_root, "log", "--kind", "task_asigned", NULL);
	e2e_expect(
	    run, 2, "task_asigned: no such kind of event; the kinds are: ");
	e2e_has(run->err, " task_assigned ");
}

TEST(what_is_no_event_is_left_out)
{
	struct e2e_run *run = e2e_llmc(shown_root, "log", NULL);

	e2e_expect(run, 0, "llmc up --auto");
	e2e_sh(shown_root, "mkdir -p .llmc/logs");
	e2e_write(shown_file("logs/auto.log"),
	    "{\"timestamp\":\"x\",\"level\":\"INFO\",\"message\":\"m\"}\n"
	    "rubbish\n{\"timestamp\":\"when\",\"level\":\"INFO\",\"event\":"
	    "{\"type\":\"quarantine\"}}\n{\"torn");
	ck_assert_str_eq(shown_must("log", NULL, NULL)->out,
	    "when  a task cannot be used\n");
	ck_assert_uint_eq(
	    json_object_array_length(shown_json("log", NULL, NULL)), 1);
}

TEST(events_are_followed_until_interrupted)
{
	struct e2e_run *run;

	append_event("INFO", "{\"type\":\"quarantine\",\"reason\":\"one\"}");
	/* The reader ends it when the second one has arrived. */
	run = e2e_sh(shown_root,
	    "mkfifo out\n"
	    "\"$LLMC\" log -f --json --kind quarantine >out 2>err & "
	    "pid=$!\n"
	    "exec 3<out; read -r first <&3; echo \"$first\"\n"
	    "for type in failure quarantine; do\n"
	    "echo '{\"timestamp\":\"t\",\"level\":\"INFO\",\"event\":{\"type\":"
	    "\"'$type'\",\"reason\":\"two\"}}' >>.llmc/logs/auto.log\n"
	    "done\n"
	    "read -r second <&3; echo \"$second\"\n"
	    "kill -INT $pid; wait $pid; echo \"status $?\"; cat err");
	e2e_has(run->out, "\"reason\":\"one\"");
	e2e_has(run->out, "{\"type\":\"quarantine\",\"reason\":\"two\"}");
	e2e_has(run->out, "}\nstatus 0\n");
}

/* --- llmc status ----------------------------------------------------- */

TEST(status_without_auto_mode_does_not_speak_of_it)
{
	struct json_object *json = shown_json("status", NULL, NULL);

	ck_assert(!json_object_object_get_ex(json, "auto", NULL));
	e2e_lacks(shown_must("status", NULL, NULL)->out, "AUTO");
}

static void
spend_today(struct state *state)
{
	struct spent *spent =
	    &daybook_day(&state->days, shown_now() / 86400)->spent;

	usage_add(&spent->usage, "claude-x", USAGE_INPUT, 1204332);
	spent->cost = spent->estimated = 4200000;
}

TEST(status_tells_how_auto_mode_is)
{
	struct json_object *json, *worker;
	struct state state;
	const char *out;

	shown_fill_state(&state);
	state.outcomes[OUTCOME_LANDED] = 4;
	state.outcomes[OUTCOME_NO_CHANGES] = 1;
	state.outcomes[OUTCOME_DEAD_LETTER] = 2;
	state.outcomes[OUTCOME_FAILED] = 1;
	state.errors = 3;
	spend_today(&state);
	state.last_task_completion_unix = shown_now() - 125;
	state.paused = xstrdup("budget.day_cost is reached");
	state.source_repo_dirty_retry_after_unix = shown_now() + 3600;
	state.source_repo_dirty_backoff_secs = 3600;
	state.source_repo_dirty_retry_count = 3;
	shown_save(&state);
	/* The local day is another one than that of the budgets. */
	e2e_env(shown_now() % 86400 < 43200 ? "TZ=WEST+12" : "TZ=EAST-14");
	shown_put_task("todo", "a.md", "A\n");
	e2e_write(shown_file("auto.heartbeat"),
	    e2e_path("{\"timestamp_unix\":%lld,\"instance_id\":\"i\","
		     "\"sequence\":7,\"lag_ms\":2,\"phase\":\"patrol\","
		     "\"rss_kb\":9000}",
		(long long)shown_now() - 61));
	out = shown_must("status", NULL, NULL)->out;
	e2e_has(out, "t3 \"Make it faster\"");
	e2e_has(out, "Auto Mode: 1 worker, 5 tasks completed, 3 not, 3 errors");
	e2e_has(out, "1 in progress, 1 waiting, 1 in the folder, 3 failed  ");
	e2e_has(out, "Today: 1,204,332 tokens, $4.20 est.");
	e2e_has(out, "Tasks were last completed 2m");
	e2e_has(out, "paused: budget.day_cost is reached\n");
	e2e_has(out, "your checkout has uncommitted changes; next try in ");
	e2e_has(out, "(3 of 10); commit or stash what llmc landing shows");
	e2e_has(out, "Heartbeat: 1m");
	e2e_has(out, "patrol");
	e2e_lacks(out, "FAILED");
	json = shown_json("status", NULL, NULL);
	worker = json_object_array_get_idx(
	    json_object_object_get(json, "auto_workers"), 0);
	ck_assert_str_eq(shown_member(worker, "task"), "t3");
	ck_assert_str_eq(shown_member(worker, "task_title"), "Make it faster");
	json = json_object_object_get(json, "auto");
	ck_assert_int_eq(json_int_or(json, "tasks_completed", 0), 5);
	ck_assert_int_eq(json_int_or(json, "tasks_waiting", 0), 1);
	ck_assert_int_eq(json_int_or(json, "next_deadline_unix", 0),
	    json_int_or(json_object_object_get(json, "source_repo_dirty"),
		"retry_after_unix", 1));
}

/* On a terminal as wide as that, made by script(1); "" if there is none. */
static const char *
at_width(int columns, const char *command)
{
	e2e_env("TERM=dumb");
	return e2e_sh(shown_root,
	    e2e_path("script -qec 'stty cols %d; \"$LLMC\" %s' /dev/null",
		columns, command))
	    ->out;
}

static void
assert_fits(const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\r\n");

		ck_assert_msg(
		    text_width(text, len) <= 80, "%.*s", (int)len, text);
		text += len + strspn(text + len, "\r\n");
	}
}

TEST(lists_fit_on_a_terminal)
{
	static const char *const lists[] = { "status", "task list",
		"config list", "salvage list" };
	static const char long_name[] = "a-worker-with-the-longest-nam-32";
	static const char wide[] = "\xe4\xbd\x9c\xe6\xa5\xad";
	struct state state;
	struct worker *worker;

	if (at_width(80, "version")[0] == '\0')
		unit_skip("no script(1) that makes a terminal");
	shown_fill_state(&state);
	worker = worker_new(long_name, shown_now() * 1000);
	worker->status = WORKER_WORKING;
	xstrset(&worker->prompt,
	    "a prompt that is longer than the terminal is "
	    "wide, whatever else is on its line");
	xstrset(&worker->branch, "llmc/a-worker-with-the-longest-nam-32");
	state_add(&state, worker);
	shown_save(&state);
	shown_put_task("todo",
	    e2e_path("%s%s-a-task-whose-name-nearly-fills-the-line-of-a-"
		     "terminal-by-itself.md",
		wide, wide),
	    e2e_path("# %s%s%s%s%s%s and a title that is long as well\n", wide,
		wide, wide, wide, wide, wide));
	e2e_git(shown_root, "update-ref",
	    e2e_path("refs/llmc/salvage/%s/20260131T081530Z", long_name),
	    "HEAD", NULL);
	for (size_t i = 0; i < nitems(lists); i++)
		assert_fits(at_width(80, lists[i]));
	e2e_has(at_width(80, "task list"), "\xe2\x80\xa6");
	/* With more room, nothing is cut off. */
	e2e_lacks(at_width(250, "task list"), "\xe2\x80\xa6");
	e2e_has(at_width(250, "status"), long_name);
}

TEST(what_was_spent_on_another_day_is_not_todays)
{
	struct state state;

	shown_fill_state(&state);
	usage_add(
	    &daybook_day(&state.days, shown_now() / 86400 - 1)->spent.usage,
	    "claude-x", USAGE_INPUT, 99);
	shown_save(&state);
	e2e_env("TZ=UTC");
	e2e_has(shown_must("status", NULL, NULL)->out, "Today: 0 tokens");
}

TEST(a_failure_is_shown_with_what_to_type)
{
	struct json_object *json;
	const char *out;

	e2e_write(shown_file("failure.json"),
	    e2e_path("{\"class\":\"task_pool_failed\",\"worker\":null,"
		     "\"task\":null,\"exit_status\":7,\"words\":\"said: no\\n"
		     "more\",\"at_unix\":%lld,\"instance_id\":\"i\"}",
		(long long)shown_now() - 5));
	out = shown_must("status", NULL, NULL)->out;
	e2e_has(out, "FAILED: task_pool_failed");
	e2e_has(out, "  said: no more\n");
	e2e_has(out, "llmc up --auto");
	json = json_object_object_get(shown_json("status", NULL, NULL), "auto");
	json = json_object_object_get(json, "failure");
	ck_assert_int_eq(json_int_or(json, "exit_status", 0), 7);
	/* A broken file is not an error. */
	e2e_write(shown_file("failure.json"), "{");
	e2e_lacks(shown_must("status", NULL, NULL)->out, "AUTO");
}

/* --- llmc asks, resume, doctor, completion ---------------------------- */

#define TOLD(nr, level, title)                                       \
	"{\"id\":\"01ARZ3NDEKTSV4RRFFQ69G5FA" nr "\",\"timestamp\":" \
	"\"2026-01-31T08:15:30.000Z\",\"level\":\"" level            \
	"\",\"title\":\"" title                                      \
	"\",\"signature\":\"s\",\"channels\":[{\"channel\":\"a\","   \
	"\"state\":\"waiting\"}]}"

/* While no daemon runs, the overseer tells. */
TEST(only_critical_messages_of_the_overseer_are_asks)
{
	const char *out;

	e2e_write(shown_file("overseer-messages.json"),
	    "[" TOLD("A", "critical", "it is dead") "," TOLD(
		"B", "warning", "it is slow") "]");
	out = shown_must("asks", NULL, NULL)->out;
	e2e_has(out, "it is dead");
	e2e_lacks(out, "it is slow");
	e2e_has(shown_must("asks", "--all", NULL)->out, "it is slow");
}

TEST(resume_needs_a_daemon_and_a_person)
{
	e2e_expect(e2e_llmc(shown_root, "resume", NULL), 1, "llmc up");
	e2e_expect(e2e_llmc(shown_root, "resume", "a", "b", NULL), 2,
	    "unexpected argument");
	e2e_env("LLMC_AGENT=1");
	e2e_expect(
	    e2e_llmc(shown_root, "resume", NULL), 1, "a worker's session");
}

static void
set_and_diagnose(const char *key, const char *value, const char *words)
{
	shown_set(key, value);
	e2e_has(e2e_llmc(shown_root, "doctor", NULL)->out, words);
}

TEST(doctor_looks_for_the_source_of_tasks)
{
	e2e_has(e2e_llmc(shown_root, "doctor", NULL)->out,
	    "ok    tasks       none yet");
	shown_put_task("todo", "a.md", "A\n");
	e2e_has(e2e_llmc(shown_root, "doctor", NULL)->out,
	    "ok    tasks       come");
	set_and_diagnose("auto.tasks_dir", "README", "fail  tasks");
	set_and_diagnose("auto.task_list", "no/such", "does not exist");
	set_and_diagnose(
	    "auto.task_pool_command", "no-such-program x", "is not found");
	set_and_diagnose(
	    "auto.task_pool_command", "N=1 no-such-program x", "ok    tasks");
	set_and_diagnose("auto.task_pool_command", "echo; x", "ok    tasks");
}

/* What can follow these words; the last one is what has been typed of it. */
static const struct {
	const char *words, *expected;
} completions[] = {
	{ "task ''",
	    "add\nlist\nshow\nedit\npriority\nretry\ndrop\nreservations\n" },
	{ "goal ''", "plan\tdraft, apply and examine the plans of goals\n" },
	{ "goal --json node ''", "list\nshow\nadd\n" },
	{ "up ''", "--task-pool-command\t" },
	{ "mail ''", "inbox\nsend\nshow\nack\n" },
	{ "goal plan \'\'", "draft\napply\ninsights\nrecommend\n" },
	{ "goal agents suggest --max-cost ''",
	    "free\ncheap\nmedium\nexpensive\n" },
	{ "report stats --by ''", "agent\nmodel\ntask-type\n" },
	{ "wait adam --until ''", "offline\nwaiting\n" },
	{ "doctor --sandbox --mode ''", "worktree\nstrict\n" },
	{ "report --run ''", "" },
	{ "task add --file ''", ":\n" },
	{ "task add --priority ''", "urgent\nhigh\nnormal\nlow\n" },
	{ "resume ''", "--note\t" },
	{ "lo", "log\tshow the events of auto mode\n" },
	{ "doctor schema --api ''", "hook.event\nworker.add\n" },
	{ "doctor schema \'\'", "log\tshow the events of auto mode\n" },
};

TEST_ROWS(shells_ask_what_can_follow, nitems(completions))
{
	struct e2e_run *run = e2e_sh(NULL,
	    e2e_path(
		"\"$LLMC\" completion words -- %s", completions[_i].words));

	e2e_expect(run, 0, NULL);
	e2e_has(run->out, completions[_i].expected);
}
