/* SPDX-License-Identifier: ISC */

/* llmc hook PreToolUse decides by itself what a session may do, from the policy
 * of its worker; most of it without a daemon. */
#include <sys/socket.h>
#include <sys/un.h>

#include "e2e.h"
#include "hook-world.h"

#define ALL "\"tools\":{\"all\":true}"

static const char *tree; /* of the worker */

/* A worktree with a path that must be quoted, and a policy for it. */
static void
guard_begin(const char *name, const char *members)
{
	cleanup_free char *real = NULL;

	world_begin(name);
	tree = e2e_path("%s/a tree", e2e_dir("trees of the guard"));
	mkdir(tree, 0700);
	real = realpath(tree, NULL);
	tree = e2e_path("%s", real);
	mkdir(e2e_path("%s/src", tree), 0700);
	mkdir(e2e_path("%s/docs", tree), 0700);
	w.policy = e2e_path("%s.policy", w.spool);
	e2e_write(w.policy,
	    e2e_path("{\"version\":1,\"tree\":\"%s\",%s%s}", tree,
		strstr(members, "tools") == NULL ? ALL "," : "", members));
}

static const char *
use(const char *tool, const char *member, const char *path)
{
	cleanup_json struct json_object *data = json_object_new_object();
	struct json_object *input = json_object_new_object();
	cleanup_buf struct buf text = BUF_INIT;

	json_set_string(data, "tool_name", tool);
	json_set_string(data, "cwd", e2e_path("%s/src", tree));
	if (member != NULL)
		json_set_string(input, member, path);
	json_set_string(input, "content", "x");
	json_set(data, "tool_input", input);
	json_print(data, false, &text);
	return e2e_path("%s", text.data);
}

/* "" = it may be used; otherwise the reason that Claude Code is given. */
static const char *
denial(void)
{
	cleanup_json struct json_object *answer = NULL;
	struct json_object *output;

	if (w.out.len == 0)
		return "";
	answer = json_tokener_parse(w.out.data);
	ck_assert(json_get_object(
		      answer, "", "hookSpecificOutput", &output, NULL) == 0);
	ck_assert_str_eq(
	    json_string_or(output, "hookEventName", ""), "PreToolUse");
	ck_assert_str_eq(
	    json_string_or(output, "permissionDecision", ""), "deny");
	return e2e_path(
	    "%s", json_string_or(output, "permissionDecisionReason", ""));
}

static void
expect_passes(const char *input)
{
	fire("PreToolUse", input);
	ck_assert_msg(denial()[0] == '\0', "%s: %s", input, w.out.data);
}

static void
expect_denied(const char *input, const char *words)
{
	fire("PreToolUse", input);
	e2e_has(denial(), words);
}

TEST(tools_stay_away_while_the_daemon_is_away)
{
	guard_begin("guard tools",
	    "\"tools\":{\"allow\":[\"Read\",\"Bash\",\"mcp__db\","
	    "\"mcp__llmc__report_completion\"],"
	    "\"deny\":[\"mcp__db__drop\",\"Bash(rm *)\"]}");
	expect_passes(use("Read", "file_path", "/etc/hosts"));
	expect_passes(use("Bash", "command", "git log"));
	expect_passes(use("mcp__db__query", NULL, NULL));
	expect_passes(use("mcp__llmc__report_completion", NULL, NULL));
	expect_denied(use("mcp__db__drop", NULL, NULL), "mcp__db__drop");
	expect_denied(use("Write", "file_path", "a.c"), "Write");
	expect_denied(use("WebFetch", "url", "x"), "Read, Bash");
	expect_denied(use("mcp__llmc__agent_spawn", NULL, NULL), "agent_spawn");
	ck_assert(!e2e_exists(w.spool));
}

TEST(writes_outside_of_the_scope_are_denied)
{
	static const char *const tools[][2] = { { "Write", "file_path" },
		{ "Edit", "file_path" }, { "MultiEdit", "file_path" },
		{ "NotebookEdit", "notebook_path" } };

	guard_begin("guard scope", "\"scope_paths\":[\"src\"]");
	for (size_t i = 0; i < nitems(tools); i++) {
		const char *tool = tools[i][0], *member = tools[i][1];

		expect_passes(use(tool, member, "a.c"));
		expect_passes(
		    use(tool, member, e2e_path("%s/src/new/b.c", tree)));
		expect_denied(use(tool, member, "../docs/a.md"),
		    "docs/a.md is outside the scope");
		expect_denied(use(tool, member, e2e_path("%s/docs/a.md", tree)),
		    "You may change: src");
		expect_denied(use(tool, member, "/etc/passwd"), "outside your");
		expect_denied(use(tool, NULL, NULL), "outside your");
	}
	expect_passes(use("Read", "file_path", "/etc/passwd"));
	/* Claude Code may read these as others. */
	expect_denied(use("Write", "file_path", " a.c"), "without blanks");
	expect_denied(use("Write", "file_path", "a.c\n"), "without ~");
	expect_denied(use("Edit", "file_path", "~/src/a.c"), "without ~");
	expect_passes(use("Bash", "command", "rm -r docs"));
}

/* Its own processes are those with its mark; a child of one of them may have
 * lost it. */
TEST(commands_that_a_worker_does_not_run_are_denied)
{
	pid_t ours, bare;
	int ready[2];

	guard_begin("guard commands",
	    "\"refuse_commands\":[\"git-push\",\"rm-outside\","
	    "\"kill-others\",\"protected-files\"],"
	    "\"protected_paths\":[\"docs/**\"]");
	expect_passes(use("Bash", "command", "git commit -m push && make"));
	expect_passes(use("Bash", "command", "rm -rf ../build; sudo true"));
	expect_denied(use("Bash", "command",
			  "rm -rf ../../../../../../../../../../other"),
	    "outside");
	expect_denied(use("Write", "file_path", "../docs/a"), "is protected");
	ck_assert_int_eq(pipe(ready), 0);
	setenv("LLMC_KEEPER", "mine/adam", 1);
	ours = fork();
	if (ours == 0) {
		char name[] = "sh", option[] = "-c",
		     text[] = "env -i sleep 1000 & echo $!; wait";
		char *const sh[] = { name, option, text, NULL };

		dup2(ready[1], STDOUT_FILENO);
		execvp("sh", sh);
		_exit(127);
	}
	{
		char number[32] = "";

		ck_assert(read(ready[0], number, sizeof number - 1) > 0);
		bare = (pid_t)strtol(number, NULL, 10);
	}
	expect_passes(
	    use("Bash", "command", e2e_path("kill %d %d", ours, bare)));
	setenv("LLMC_KEEPER", "mine/eve", 1);
	expect_denied(use("Bash", "command", e2e_path("kill -9 %d", ours)),
	    "not a process of your session");
	unsetenv("LLMC_KEEPER");
	kill(bare, SIGKILL);
	waitpid(ours, NULL, 0);
}

TEST(neither_links_nor_dots_lead_out_of_the_scope)
{
	guard_begin("guard links", "\"scope_paths\":[\"src\"]");
	mkdir(e2e_path("%s/docs/deep", tree), 0700);
	unlink(e2e_path("%s/src/link", tree));
	unlink(e2e_path("%s/src/file.c", tree));
	ck_assert_int_eq(
	    symlink("../docs/deep", e2e_path("%s/src/link", tree)), 0);
	ck_assert_int_eq(
	    symlink("../docs/new.md", e2e_path("%s/src/file.c", tree)), 0);
	expect_denied(use("Write", "file_path", "link/x"), "docs/deep/x");
	expect_denied(use("Write", "file_path", "file.c"), "docs/new.md");
	/* The kernel and programs differ here. */
	expect_denied(use("Write", "file_path", "link/../x"), "docs/x");
	expect_denied(use("Write", "file_path", "link/../../src/x/../../y"),
	    "y is outside");
	expect_denied(
	    use("Write", "file_path", e2e_path("%s/src/../docs/x", tree)),
	    "docs/x");
	expect_denied(
	    use("Write", "file_path", e2e_path("%s/srcx/a", tree)), "srcx/a");
}

TEST(what_another_has_reserved_is_denied_until_then)
{
	guard_begin("guard reserved",
	    e2e_path("\"reserved\":[{\"path\":\"src/a\",\"owner\":\"eve\","
		     "\"until\":%lld},{\"path\":\"docs\",\"owner\":\"eve\","
		     "\"until\":1000}]",
		(long long)clock_wall_ms() + 3600000));
	expect_denied(
	    use("Edit", "file_path", "a/b.c"), "src/a/b.c is reserved by eve");
	expect_passes(use("Edit", "file_path", "ab.c"));
	expect_passes(use("Edit", "file_path", "../docs/a.md"));
	expect_passes(use("Edit", "file_path", "/elsewhere"));
}

/* A file that is named must be there; nothing else is allowed without it. */
TEST(a_policy_that_cannot_be_read_allows_nothing)
{
	static const char *const texts[] = { "", "{", "{}", "[1]",
		"{\"version\":9," ALL "}",
		"{\"version\":1," ALL ",\"scope_paths\":1}" };

	guard_begin("guard damaged", "\"scope_paths\":[]");
	for (size_t i = 0; i < nitems(texts); i++) {
		e2e_write(w.policy, texts[i]);
		expect_denied(use("Bash", "command", "ls"), "cannot read");
		expect_passes(use("mcp__llmc__report_progress", NULL, NULL));
	}
	ck_assert_int_eq(unlink(w.policy), 0);
	expect_denied(use("Write", "file_path", "a.c"), "cannot read");
	/* Without one nothing is guarded. */
	w.policy = NULL;
	expect_passes(use("Write", "file_path", "a.c"));
}

TEST(input_that_cannot_be_read_is_denied_only_if_something_is)
{
	guard_begin("guard input", "\"tools\":{\"all\":true}");
	expect_passes("garbage");
	e2e_write(
	    w.policy, "{\"version\":1," ALL ",\"scope_paths\":[\"src\"]}");
	expect_denied("garbage", "cannot read");
	expect_denied("{\"tool_name\":7}", "cannot read");
}

TEST(the_daemon_hears_what_was_denied)
{
	guard_begin("guard heard", "\"scope_paths\":[\"src\"]");
	world_listen(ANSWER, NULL);
	w.expected = 1;
	expect_denied(use("Write", "file_path", "/etc/x"), "outside");
	e2e_has(w.heard.data,
	    "\"denied\":{\"guard\":\"task_guard\",\"tool\":\"Write\","
	    "\"path\":\"/etc/x\",\"reason\":\"");
	w.expected = 1;
	expect_passes(use("Write", "file_path", "x"));
	e2e_lacks(w.heard.data, "denied");
}

/* A listener whose queue is full: connect(2) waits. */
static void
stop_listening(const char *path, int *fds, size_t count)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strlcpy(address.sun_path, path, sizeof address.sun_path);
	for (size_t i = 0; i < count; i++)
		fds[i] = socket(
		    AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(
	    bind(fds[0], (struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(listen(fds[0], 0), 0);
	for (size_t i = 1; i < count; i++)
		if (connect(fds[i], (struct sockaddr *)&address,
			sizeof address) == -1) {
			ck_assert_int_eq(errno, EAGAIN);
			return;
		}
	ck_abort_msg("the queue is never full");
}

/* Claude Code may stop waiting, and the tool would be used. */
TEST(a_deny_does_not_wait_for_a_daemon_that_is_stopped)
{
	int fds[8];
	int64_t passed_ms;

	guard_begin("guard late", "\"scope_paths\":[\"src\"]");
	stop_listening(w.socket, fds, nitems(fds));
	expect_passes(use("Write", "file_path", "x"));
	passed_ms = w.took_ms;
	expect_denied(use("Write", "file_path", "/etc/x"), "outside");
	ck_assert_int_lt(w.took_ms, passed_ms);
	for (size_t i = 0; i < nitems(fds); i++)
		close(fds[i]);
}
