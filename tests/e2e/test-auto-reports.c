/* SPDX-License-Identifier: ISC */

/* Reports of agents by the tools of llmc mcp, in auto mode: in the record of
 * the task, in files, and in llmc report stats; also while no daemon runs. */
#include "autorun.h"
#include "filed.h"

#define REPORT                                                   \
	"fake: tool report_completion {\"status\":\"COMPLETE\"," \
	"\"confidence\":\"high\",\"summary\":\"All is added up.\"}\n"

/* The last tool waits for a daemon. */
#define SPOOLED "ls .llmc/run/auto-1/spool/00000000000000000000000000.json"

/* The only record of a task that has ended. */
static struct json_object *
record(void)
{
	return filed_last(fleet_root());
}

static void
expect_record(const char *path, const char *text)
{
	struct json_object *json = record();

	ck_assert_str_eq(auto_member(json, path), text);
	json_object_put(json);
}

TEST(what_an_agent_reports_is_recorded)
{
	cleanup_json struct json_object *stats = NULL;

	auto_task("a.md",
	    "fake: tool report_progress {\"phase\":\"sums\","
	    "\"percentComplete\":40,\"metrics\":{\"done\":3}}\n"
	    "fake: tool report_progress {\"phase\":\"too soon\"}\n"
	    "fake: commit a.txt a\n" REPORT);
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	expect_record("run.report.summary", "All is added up.");
	expect_record("run.report.status", "complete");
	expect_record("run.progress.phase", "sums");
	expect_record("run.progress_count", "1");
	expect_record("run.last_tool", "report_completion");
	ck_assert_int_eq(auto_events("progress", "sums (40%)"), 1);
	ck_assert_int_eq(auto_events("reported", "All is added up."), 1);
	e2e_has(fleet_do("doctor", "store", "sql",
		    "SELECT e.data FROM events AS e WHERE e.type = 'progress'",
		    NULL)
		    ->out,
	    "\"metrics\":{\"done\":3}");
	stats = e2e_json(fleet_do("--json", "report", "stats", NULL), 0);
	ck_assert_str_eq(auto_member(stats, "0.agent"), "default");
	ck_assert_str_eq(auto_member(stats, "0.outcomes.success"), "1");
	ck_assert_str_eq(auto_member(stats, "0.reports"), "1");
}

TEST(without_the_tool_the_last_message_counts)
{
	auto_task("a.md", "fake: commit a.txt a\nfake: say Status: partial\n");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	expect_record("run.report.status", "partial");
	expect_record("run.report_by_tool", "");
}

/* As if the hook of the tool that runs had not been heard. */
static void
forget_tool(void)
{
	struct json_object *state = auto_state(), *tasks = NULL, *run = NULL;

	ck_assert(json_object_object_get_ex(state, "tasks", &tasks));
	ck_assert(json_object_object_get_ex(
	    json_object_array_get_idx(tasks, 0), "run", &run));
	json_set_string(run, "last_tool", "report_completion");
	auto_put_state(state);
}

/* The hooks of tools are dropped while no daemon runs, but for the last. */
TEST(a_tool_after_the_report_is_known_to_the_next_daemon)
{
	auto_task(
	    "a.md", "fake: commit a.txt a\nfake: run %s\n", auto_gate("work"));
	auto_up(NULL);
	auto_wait_gate("work");
	auto_kill9_daemon();
	forget_tool();
	auto_open_gate("work");
	auto_wait_shell(SPOOLED);
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	expect_record("run.last_tool", "Bash");
}

/* The call waits for the next daemon. */
TEST(a_report_without_a_daemon_reaches_the_next_one)
{
	auto_task("a.md", "fake: commit a.txt a\nfake: run %s\n" REPORT,
	    auto_gate("work"));
	auto_up(NULL);
	auto_wait_gate("work");
	auto_kill9_daemon();
	auto_open_gate("work");
	auto_wait_shell(SPOOLED);
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	expect_record("run.last_tool", "report_completion");
	expect_record("run.report.summary", "All is added up.");
	ck_assert_int_eq(auto_events("reported", NULL), 1);
}
