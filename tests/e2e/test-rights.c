/* SPDX-License-Identifier: ISC */

/* What agents do not get by their shell, and where their tools do not write:
 * real daemon, real llmc mcp, spawned agents. */
#include "teamrun.h"

void
unit_before(void)
{
	fleet_begin();
	goal_enable();
	auto_ails("");
}

static void
call(struct buf *lines, int id, const char *tool, const char *arguments)
{
	buf_addf(lines,
	    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
	    "\"params\":{\"name\":\"%s\",\"arguments\":%s}}\n",
	    id, tool, arguments);
}

/* A script that says these lines to llmc mcp at the socket of a worker, without
 * its policy, as a shell can; the answers are in the file "out". */
static const char *
script(const char *worker, const char *lines, int count, const char *more)
{
	const char *dir = auto_gates();
	const char *file = e2e_path("%s/talk.sh", dir);

	e2e_write(e2e_path("%s/in", dir), lines);
	e2e_script(file,
	    e2e_path("#!/bin/sh\nset -eu\n"
		     "mkfifo '%s/fifo'\n"
		     "'%s' mcp --socket '%s/.llmc/run/%s/sock' <'%s/fifo' "
		     ">'%s/out' &\n"
		     "exec 3>'%s/fifo'\ncat '%s/in' >&3\n"
		     "until [ \"$(wc -l <'%s/out')\" -ge %d ]; do\n"
		     "sleep 0.02; done\nexec 3>&-\nwait\n%s",
		dir, e2e_llmc_path(), fleet_root(), worker, dir, dir, dir, dir,
		dir, count, more));
	return file;
}

static const char *
said(const char *name)
{
	return e2e_read(e2e_path("%s/%s", auto_gates(), name));
}

const int unit_timeout = 300; /* seconds, each */

TEST(a_spawned_agent_gets_nothing_back_by_its_shell)
{
	cleanup_buf struct buf lines = BUF_INIT;
	const char *talk;

	call(&lines, 1, "agent_spawn",
	    "{\"spawn_reason\":\"x\",\"requested_subagents\":[{\"role\":"
	    "\"coder\",\"task\":\"fake: commit c.txt c\"}]}");
	talk = script("team-1", lines.data, 1,
	    e2e_path("'%s' task add 'around it' >'%s/added' 2>&1 || "
		     "echo status $? >>'%s/added'\n",
		e2e_llmc_path(), auto_gates(), auto_gates()));
	auto_task("a.md", "Begin.\nfake: commit a.txt a\n%s",
	    team_spawn(
		team_child(
		    e2e_path("fake: run '%s'\nfake: commit b.txt b\n", talk),
		    "{\"toolsDeny\":[\"mcp__llmc__agent_spawn\"]}"),
		NULL));
	auto_up(NULL);
	auto_wait_finished("landed", 2);
	auto_drain();
	e2e_has(said("out"), "E_UNAUTHORIZED: You do not have the tool");
	e2e_has(said("added"),
	    "task.add is refused: team-1 works for another agent");
	e2e_has(said("added"), "status 1");
	ck_assert_int_eq(auto_finished(NULL), 2);
}

/* --- paths ------------------------------------------------------------- */

/* Every tool that takes a text, with a path ("%s") wherever one could end in a
 * file name. */
static const struct {
	const char *tool, *arguments;
} uses[] = {
	{ "report_progress", "{\"phase\":\"%s\",\"metrics\":{\"%s\":1}}" },
	{ "report_completion",
	    "{\"summary\":\"%s\",\"artifacts\":[{\"path\":\"%s\"}]}" },
	{ "agent_spawn",
	    "{\"spawn_reason\":\"x\",\"requested_subagents\":[{\"role\":"
	    "\"%s\",\"task\":\"x\",\"label\":\"%s\"}]}" },
	{ "agent_spawn",
	    "{\"spawn_reason\":\"x\",\"requested_subagents\":[{\"role\":"
	    "\"coder\",\"task\":\"x\",\"suggested_actor_id\":\"%s\","
	    "\"label\":\"%s\"}]}" },
	{ "agent_spawn",
	    "{\"spawn_reason\":\"x\",\"requested_subagents\":[{\"role\":"
	    "\"coder\",\"task\":\"x\",\"agent\":\"%s\",\"scope_paths\":["
	    "\"%s\"]}]}" },
	{ "agent_spawn",
	    "{\"spawn_reason\":\"x\",\"requested_subagents\":[{\"role\":"
	    "\"coder\",\"task\":\"x\",\"model\":\"%s\",\"verification\":{"
	    "\"artifacts\":[{\"path\":\"%s\"}]}}]}" },
	{ "agent_status", "{\"actor_id\":\"%s\"}" },
	{ "mail_send", "{\"to\":\"%s\",\"subject\":\"%s\",\"body\":\"x\"}" },
	{ "mail_send",
	    "{\"to\":\"person\",\"subject\":\"%s\",\"body\":\"%s\"}" },
	{ "mail_inbox", "{\"id\":\"%s\"}" },
	{ "mail_ack", "{\"id\":\"%s\"}" },
	{ "mail_reserve", "{\"paths\":[\"%s\"],\"reason\":\"%s\"}" },
	{ "mail_release", "{\"paths\":[\"%s\"]}" },
	{ "mail_list_reservations", "{}" },
	{ "respond_orchestrator_request",
	    "{\"requestId\":\"%s\",\"response\":\"%s\"}" },
	{ "request_orchestrator",
	    "{\"message\":\"%s\",\"options\":[\"%s\"],\"timeoutSeconds\":10}" },
	{ "plan_review_needed", "{\"reason\":\"%s\",\"suggestion\":\"%s\"}" },
};

/* What it is called with, "%s" replaced. */
static void
fill(struct buf *out, const char *text, const char *path)
{
	const char *at;

	for (; (at = strstr(text, "%s")) != NULL; text = at + 2) {
		buf_add(out, text, (size_t)(at - text));
		buf_adds(out, path);
	}
	buf_adds(out, text);
}

/* Nothing that a tool is told becomes the name of a file. The link is one that
 * the agent has made in its worktree. */
TEST(no_tool_writes_outside_of_the_worktree)
{
	const char *const paths[] = { "../escaped", "link/escaped",
		e2e_path("%s/escaped", unit_scratch()) };
	cleanup_buf struct buf lines = BUF_INIT;
	const char *found;
	int count = 0;

	for (size_t i = 0; i < nitems(uses); i++)
		for (size_t k = 0; k < nitems(paths); k++) {
			cleanup_buf struct buf arguments = BUF_INIT;

			fill(&arguments, uses[i].arguments, paths[k]);
			call(&lines, ++count, uses[i].tool, arguments.data);
		}
	/* What it delegates has only words: a person would be asked. */
	auto_set("auto.max_turns", "3");
	auto_task("a.md",
	    "fake: run ln -s '%s' link && '%s'; rm -f link\n"
	    "fake: commit a.txt a\n",
	    unit_scratch(), script("auto-1", lines.data, count, ""));
	auto_up(NULL);
	auto_wait_shell(
	    e2e_path("[ \"$(wc -l <'%s/out')\" -ge %d ]", auto_gates(), count));
	/* All were answered, some well. */
	e2e_has(said("out"), "accepted");
	e2e_has(said("out"), "recorded");
	e2e_has(said("out"), "E_");
	auto_wait_finished(NULL, 1);
	auto_drain();
	found = e2e_sh(unit_scratch(), "find . -name '*escaped*'")->out;
	ck_assert_str_eq(found, "");
}
