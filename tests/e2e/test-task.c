/* SPDX-License-Identifier: ISC */

/*
 * llmc task and the options of llmc up, from files as the daemon leaves them,
 * and changes while no daemon runs.
 */
#include "shown.h"

void
unit_before(void)
{
	shown_setup();
}

/* --- llmc up --------------------------------------------------------- */

TEST(up_checks_its_options_before_anything_starts)
{
	static const char *const wrong[][3] = { { "--until-empty", NULL, NULL },
		{ "--concurrency", "2", NULL },
		{ "--task-pool-command", "true", NULL },
		{ "--post-accept-command", "true", "--detach" } };
	static const char *const counts[] = { "0", "101", "x", "-1", "2x", "",
		"1.0" };

	for (size_t i = 0; i < nitems(wrong); i++)
		e2e_expect(e2e_llmc(shown_root, "up", wrong[i][0], wrong[i][1],
			       wrong[i][2], NULL),
		    2, "works only with --auto");
	for (size_t i = 0; i < nitems(counts); i++)
		e2e_expect(e2e_llmc(shown_root, "up", "--auto", "--concurrency",
			       counts[i], NULL),
		    2, "from 1 to 100");
	ck_assert(!e2e_exists(shown_file("llmc.db")));
	e2e_json_error(e2e_llmc(shown_root, "--json", "up", "--auto",
			   "--concurrency=0", NULL),
	    2, "usage", "1 to 100");
}

/* Next to a copy of llmc, an autod that records how it was called. */
static const char *
other_llmc(void)
{
	const char *dir = e2e_dir("it's other");

	e2e_sh(shown_root, e2e_path("cp \"$LLMC\" \"%s/llmc\"", dir));
	e2e_script(e2e_path("%s/autod", dir),
	    "#!/bin/sh\nfor word; do printf '<%s>\\n' \"$word\"; done "
	    ">called.tmp\nmv called.tmp called\necho 'no, I will not' >&2\n"
	    "exit 3\n");
	return e2e_path("%s/llmc", dir);
}

TEST(up_passes_its_options_on_as_they_are)
{
	static const char words[] =
	    " up --auto --concurrency 100 --task-pool-command "
	    "'echo \"$HOME\" '\\''a  b'\\''; x=1' --post-accept-command= "
	    "--until-empty";
	const char *llmc = other_llmc();
	const char *expected =
	    e2e_path("<--root>\n<%s>\n<--auto>\n<--task-pool-command>\n"
		     "<echo \"$HOME\" 'a  b'; x=1>\n<--concurrency>\n<100>\n"
		     "<--post-accept-command>\n<>\n<--until-empty>\n",
		shown_root);
	struct e2e_run *run;

	/* An agent that nothing is known of, and so nothing is checked. */
	shown_set("defaults.agent_command", "true");
	run = e2e_sh(shown_root, e2e_path("\"%s\" %s", llmc, words));
	ck_assert_int_eq(run->status, 3);
	ck_assert_str_eq(e2e_read(e2e_path("%s/called", shown_root)), expected);
	e2e_sh(shown_root, "rm called");
	/* In the background, through a shell. */
	run = e2e_sh(shown_root, e2e_path("\"%s\" %s --detach", llmc, words));
	ck_assert_int_eq(run->status, 1);
	e2e_has(run->err, "did not start: no, I will not");
	ck_assert_str_eq(e2e_read(e2e_path("%s/called", shown_root)), expected);
	e2e_sh(shown_root, e2e_path("\"%s\" up", llmc));
	ck_assert_str_eq(e2e_read(e2e_path("%s/called", shown_root)),
	    e2e_path("<--root>\n<%s>\n", shown_root));
}

/* What an earlier daemon said is not why this one did not start. */
TEST(what_a_daemon_says_that_does_not_start_is_shown)
{
	const char *llmc = other_llmc();
	const char *log = e2e_path("%s/.llmc/logs/autod.stderr", shown_root);
	const char *up = e2e_path("\"%s\" up --detach", llmc);
	struct stat st;

	e2e_write(log, "long ago\n");
	ck_assert_int_eq(chmod(log, 0644), 0);
	e2e_has(e2e_sh(shown_root, up)->err,
	    "llmc: the daemon did not start: no, I will not\n");
	ck_assert_int_eq(stat(log, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	e2e_script(e2e_path("%s/it's other/autod", unit_scratch()),
	    "#!/bin/sh\nprintf 'one reason\\nand \\033 the end\\n' >&2\n");
	ck_assert_str_eq(e2e_sh(shown_root, up)->err,
	    "llmc: the daemon did not start; it said:\n"
	    "one reason\nand \\x1b the end\n");
	e2e_has(e2e_sh(shown_root, e2e_path("%s --json", up))->out,
	    "\"output\": \"one reason");
	e2e_script(e2e_path("%s/it's other/autod", unit_scratch()),
	    "#!/bin/sh\nexit 1\n");
	e2e_has(e2e_sh(shown_root, up)->err,
	    "did not start; see: llmc log daemon\n");
	e2e_sh(shown_root, "rm .llmc/logs/autod.stderr");
	e2e_sh(shown_root, e2e_path("umask 0; %s", up));
	ck_assert_int_eq(stat(log, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
}

/* --- llmc task ------------------------------------------------------- */

TEST(task_says_how_it_is_called)
{
	static const struct {
		const char *args[3];
		const char *words;
	} wrong[] = {
		{ { "lst", NULL, NULL }, "did you mean \"list\"?" },
		{ { "frobnicate", NULL, NULL }, "no such subcommand" },
		{ { "show", NULL, NULL }, "type: llmc task show ID" },
		{ { "retry", NULL, NULL }, "type: llmc task retry ID" },
		{ { "drop", "a", "b" }, "type: llmc task drop ID" },
		{ { "list", "x", NULL }, "type: llmc task list [--all]" },
		{ { "list", "--file", "x" }, "takes no --file" },
		{ { "show", "t1", "--all" }, "takes no --all" },
		{ { "add", "x", "--file=y" }, "not both" },
		{ { "add", "x", "--all" }, "takes no --all" },
		{ { "add", "x", "--priority=hihg" },
		    "use urgent, high, normal or low" },
		{ { "priority", "t1", NULL }, "type: llmc task priority" },
		{ { "priority", "t1", "hihg" },
		    "\"hihg\" is not a priority; use urgent, high, normal or "
		    "low" },
		{ { "list", "--priority=high", NULL }, "takes no --priority" },
	};

	for (size_t i = 0; i < nitems(wrong); i++)
		e2e_expect(e2e_llmc(shown_root, "task", wrong[i].args[0],
			       wrong[i].args[1], wrong[i].args[2], NULL),
		    2, wrong[i].words);
	shown_fails("empty", "task", "add", "");
	shown_fails("is empty", "task", "add", NULL);
	e2e_expect(e2e_llmc(shown_root, "task", "add", "--file", "gone", NULL),
	    1, "gone: No such file");
}

TEST(no_task_is_told_with_what_to_do)
{
	struct json_object *json, *source;

	e2e_has(shown_must("task", "list", NULL)->out, "llmc task add TEXT");
	json = shown_json("task", "list", NULL);
	source = json_object_object_get(json, "source");
	ck_assert_str_eq(shown_member(source, "kind"), "folder");
	ck_assert_str_eq(shown_member(source, "where"), shown_file("tasks"));
}

/* U+202E turns the text around, ESC ]0; sets the title of the window. */
TEST(a_title_cannot_fool_a_terminal)
{
	static const char *const commands[][3] = { { "task", "list" },
		{ "task", "show", "evil.md" }, { "status", NULL } };
	static const char *const bad[] = { "\xe2\x80\xae", "\033]", "\a",
		"\xc2\x9b", "\xe2\x80\x8b" };

	e2e_sh(shown_root, "mkdir -p .llmc/tasks/todo");
	e2e_write(shown_file("tasks/todo/evil.md"),
	    "Fix \xe2\x80\xaetxt.exe\033]0;x\a\xc2\x9b\xe2\x80\x8b\n");
	for (size_t i = 0; i < 2 * nitems(commands); i++) {
		const char *const *c = commands[i / 2];
		struct e2e_run *run = e2e_llmc(shown_root, c[0],
		    i % 2 == 0 ? "--json" : "--no-color",
		    c[1] == NULL ? NULL : c[1], c[2], NULL);

		for (size_t k = 0; k < nitems(bad); k++)
			ck_assert_msg(strstr(run->out, bad[k]) == NULL &&
				strstr(run->err, bad[k]) == NULL,
			    "%s %s: %s", c[0], c[1], run->out);
		if (c[1] != NULL)
			e2e_has(run->out, "\\u202etxt.exe");
	}
	e2e_sh(shown_root, "rm .llmc/tasks/todo/evil.md");
}

/* Changes in the checkout would keep the work from landing. */
TEST(the_example_of_a_source_leaves_the_checkout_clean)
{

	const char *ask =
	    e2e_path("sh '%s' TODO.txt", e2e_source("examples/task-pool.sh"));
	struct e2e_run *run;

	e2e_sh(shown_root,
	    "printf 'one\\nmore of it\\n\\n\\ntwo\\n' >TODO.txt && "
	    "git add TODO.txt && git commit -qm 'Add what to do'");
	run = e2e_sh(shown_root, ask);
	ck_assert_int_eq(run->status, 0);
	ck_assert_str_eq(run->out, "one\nmore of it\n");
	ck_assert_str_eq(e2e_sh(shown_root, "git status --porcelain")->out, "");
	ck_assert_str_eq(e2e_sh(shown_root, ask)->out, "two\n");
	run = e2e_sh(shown_root, ask);
	ck_assert_int_eq(run->status, 4);
	ck_assert_str_eq(run->out, "");
	/* What is added is printed, what was taken is not. */
	e2e_sh(shown_root,
	    "printf 'new\\n\\n' | cat - TODO.txt >x && mv x TODO.txt && "
	    "git commit -qam 'Add more'");
	ck_assert_str_eq(e2e_sh(shown_root, ask)->out, "new\n");
	ck_assert_int_eq(e2e_sh(shown_root, ask)->status, 4);
	ck_assert_str_eq(e2e_sh(shown_root, "git status --porcelain")->out, "");
}

TEST(each_task_is_listed_once_and_the_live_ones_first)
{
	struct json_object *list, *json;
	const char *out, *at = NULL;
	static const char *const order[] = { "t3 ", "t4 ", "more.md", "t2 ",
		"t1 " };
	struct state state;

	shown_fill_state(&state);
	shown_save(&state);
	shown_append_new("t1", "first.md", OUTCOME_LANDED, NULL);
	shown_append_new("t2", "second.md", OUTCOME_FAILED, "an older record");
	shown_append_new("t2", "second.md", OUTCOME_DEAD_LETTER, "no luck");
	/* In progress again: the old record is history. */
	shown_append_new("t3", "faster.md", OUTCOME_FAILED, "once");
	shown_put_task("doing", "faster.md", "Make it faster\n");
	shown_put_task("doing", "later.md", "Later\n");
	shown_put_task("todo", "more.md", "Do more\n");
	shown_put_task("done", "first.md", "Title of t1\n");
	shown_put_task("failed", "second.md", "Title of t2\n");
	out = shown_must("task", "list", NULL)->out;
	at = out;
	for (size_t i = 0; i < nitems(order); i++) {
		at = strstr(at, order[i]);
		ck_assert_msg(at != NULL, "%s is not where it should be: %s",
		    order[i], e2e_shown(out));
	}
	e2e_has(out, "dead-letter");
	e2e_has(out, "Make it faster");
	e2e_lacks(out, "first.md");
	json = shown_json("task", "list", NULL);
	list = json_object_object_get(json, "tasks");
	ck_assert_uint_eq(json_object_array_length(list), 5);
	json = json_object_array_get_idx(list, 0);
	ck_assert_str_eq(shown_member(json, "worker"), "auto-1");
	ck_assert_str_eq(shown_member(json, "status"), "assigned");
	ck_assert_int_eq(json_int_or(json, "attempts", 0), 1);
	ck_assert_int_ge(json_int_or(json, "age_secs", 0), 60);
	ck_assert(!json_object_object_get_ex(json, "text", NULL));
	json = json_object_array_get_idx(list, 3);
	ck_assert_str_eq(shown_member(json, "reason"), "no luck");
}

TEST(of_the_ended_ones_the_last_are_listed)
{
	struct json_object *json, *list;

	for (int i = 1; i <= 30; i++) {
		cleanup_free char *id = xasprintf("t%d", i);

		shown_append_new(id, id, OUTCOME_LANDED, NULL);
	}
	json = shown_json("task", "list", NULL);
	list = json_object_object_get(json, "tasks");
	ck_assert_uint_eq(json_object_array_length(list), 20);
	ck_assert_str_eq(
	    shown_member(json_object_array_get_idx(list, 0), "id"), "t30");
	ck_assert_str_eq(
	    shown_member(json_object_array_get_idx(list, 19), "id"), "t11");
	json = shown_json("task", "list", "--all");
	ck_assert_uint_eq(
	    json_object_array_length(json_object_object_get(json, "tasks")),
	    30);
}

TEST(one_task_is_shown_with_everything)
{
	struct task *task = shown_ended("t7", "hard.md", OUTCOME_DEAD_LETTER,
	    "three times:\n\n\033[1mover\n");
	struct json_object *json;
	const char *out;

	xstrset(&task->last_words, "I am\n\033[31msorry\033[0m");
	task->tokens = 1204332;
	task->spent.cost = 1250000;
	task->spent.estimated = 1;
	task->spent.usage.tool_calls = 3;
	usage_add(&task->spent.usage, "claude-x", USAGE_OUTPUT, 1204332);
	task->attempts = 3;
	shown_append_ended(task);
	task_free(task);
	out = shown_must("task", "show", "t7")->out;
	e2e_has(out, "t7  Title of t7");
	e2e_has(out, "dead-letter");
	e2e_has(out, "reason    three times: \\x1b[1mover\n");
	e2e_has(out, "hard.md");
	e2e_has(out, "1,204,332 tokens, $1.25 est., 3 tool calls\n");
	e2e_has(out, "claude-x: 1204332 output\n");
	e2e_has(out, "text\n  Title of t7\n\n  and more\n");
	e2e_has(out, "last message\n  I am\n  \\x1b[31msorry");
	e2e_has(out, "history\n  20");
	e2e_has(out, "dead-letter: three times: \\x1b[1mover\n");
	json = json_object_object_get(
	    shown_json("task", "show", "hard.md"), "record");
	ck_assert_str_eq(shown_member(json, "id"), "t7");
	ck_assert_str_eq(shown_member(json, "outcome"), "dead-letter");
	ck_assert_str_eq(shown_member(json, "cost_source"), "estimate");
	shown_fails("did you mean \"hard.md\"?", "task", "show", "hrad.md");
	shown_fails("llmc task list", "task", "show", "something-else");
	e2e_json_error(
	    e2e_llmc(shown_root, "--json", "task", "show", "t8", NULL), 1,
	    "no_such_task", "t7");
}

TEST(a_task_that_only_the_folder_has_is_shown)
{
	struct json_object *json;

	shown_put_task("todo", "idea.md", "# An idea\n\nwith details\n");
	e2e_has(shown_must("task", "show", "idea.md")->out, "with details");
	json = json_object_object_get(
	    shown_json("task", "show", "idea.md"), "record");
	ck_assert_str_eq(shown_member(json, "status"), "todo");
	ck_assert_str_eq(shown_member(json, "title"), "An idea");
}

TEST(task_files_and_commands_are_sources_too)
{
	struct json_object *json;
	const char *list = e2e_dir("list of tasks");

	e2e_write(e2e_path("%s/1.json", list),
	    "{\"id\":\"1\",\"subject\":\"Sub\",\"description\":\"Desc\","
	    "\"status\":\"pending\",\"blocks\":[],\"blockedBy\":[]}\n");
	e2e_write(e2e_path("%s/2.json", list), "{\"id\":\n");
	shown_set("auto.task_list", list);
	json = shown_json("task", "list", NULL);
	ck_assert_str_eq(
	    shown_member(json_object_object_get(json, "source"), "kind"),
	    "files");
	e2e_has(shown_must("task", "list", NULL)->out, "unusable");
	e2e_has(shown_must("task", "show", "1")->out, "Sub\n\n  Desc");
	/* A missing folder is reported, but is not an error. */
	shown_set("auto.task_list", "README");
	e2e_expect(e2e_llmc(shown_root, "task", "list", NULL), 0, "README");
	json = shown_json("task", "list", NULL);
	e2e_has(shown_member(json_object_object_get(json, "source"), "problem"),
	    "README");
	shown_set("auto.task_pool_command", "next task");
	e2e_has(
	    shown_must("task", "list", NULL)->out, "the command: next task");
}

/* --- changes, without a daemon --------------------------------------- */

TEST(tasks_are_added_as_typed_piped_or_kept_in_a_file)
{
	struct json_object *json;

	e2e_has(shown_must("task", "add", "Fix the parser, please")->out,
	    "Added 1-fix-the-parser-please.md.");
	ck_assert_str_eq(
	    e2e_read(shown_file("tasks/todo/1-fix-the-parser-please.md")),
	    "Fix the parser, please\n");
	e2e_has(
	    e2e_llmc(shown_root, "task", "add", "several", "words", NULL)->out,
	    "2-several-words.md");
	e2e_has(
	    e2e_sh(shown_root, "printf 'Piped\n\nin\n' | \"$LLMC\" task add")
		->out,
	    "3-piped.md");
	e2e_has(e2e_sh(shown_root, "echo Dash | \"$LLMC\" task add -")->out,
	    "4-dash.md");
	e2e_write(
	    e2e_path("%s/idea", shown_root), "# An idea\n\nwith details\n");
	json = shown_json("task", "add", "--file=idea");
	ck_assert_str_eq(shown_member(json, "task"), "5-an-idea.md");
	ck_assert_str_eq(
	    shown_member(json, "path"), shown_file("tasks/todo/5-an-idea.md"));
	e2e_has(shown_must("task", "list", NULL)->out, "several-words.md");
	shown_set("auto.task_pool_command", "true");
	shown_fails("auto.task_pool_command", "task", "add", "x");
}

TEST(landed_tasks_are_retried)
{
	struct task *task = shown_ended("t1", "a.md", OUTCOME_LANDED, NULL);

	xstrset(&task->commit, "0123456789abcdef0123456789abcdef01234567");
	shown_append_ended(task);
	task_free(task);
	shown_put_task("done", "a.md", "A\n");
	shown_put_task("done", "b.md", "B\n");
	e2e_has(shown_must("task", "retry", "t1")->out, "a.md: todo.");
	ck_assert_str_eq(e2e_read(shown_file("tasks/todo/a.md")),
	    "Landed before: 0123456789abcdef0123456789abcdef01234567\n\nA\n");
	ck_assert(!e2e_exists(shown_file("tasks/done/a.md")));
	/* Only its source has it. */
	shown_must("task", "retry", "b.md");
	ck_assert_str_eq(e2e_read(shown_file("tasks/todo/b.md")), "B\n");
}

TEST(tasks_have_priorities)
{
	struct json_object *json, *list;
	const char *out;

	shown_must("task", "add", "Later");
	e2e_lacks(shown_must("task", "list", NULL)->out, "PRIORITY");
	e2e_has(e2e_llmc(shown_root, "task", "add", "--priority", "high",
		    "Sooner", NULL)
		    ->out,
	    "2-sooner.md");
	ck_assert_str_eq(e2e_read(shown_file("tasks/todo/2-sooner.md")),
	    "Priority: high\n\nSooner\n");
	e2e_has(
	    e2e_llmc(shown_root, "task", "priority", "1-later.md", "low", NULL)
		->out,
	    "1-later.md: low.");
	ck_assert_str_eq(e2e_read(shown_file("tasks/todo/1-later.md")),
	    "Priority: low\n\nLater\n");
	out = shown_must("task", "list", NULL)->out;
	e2e_has(out, "PRIORITY");
	e2e_has(out, "low");
	list =
	    json_object_object_get(shown_json("task", "list", NULL), "tasks");
	json = json_object_array_get_idx(list, 0);
	ck_assert_str_eq(shown_member(json, "key"), "2-sooner.md");
	ck_assert_str_eq(shown_member(json, "priority"), "high");
	out = shown_must("task", "show", "1-later.md")->out;
	e2e_has(out, "priority  low\n");
	e2e_has(out, "text\n  Later\n");
	e2e_lacks(out, "Priority:");
	e2e_json_error(e2e_llmc(shown_root, "--json", "task", "priority",
			   "1-latre.md", "low", NULL),
	    1, "no_such_task", "1-later.md");
}

TEST(a_source_that_keeps_its_own_priorities_is_named)
{
	shown_set("auto.task_pool_command", "true");
	e2e_expect(e2e_llmc(shown_root, "task", "priority", "x", "high", NULL),
	    1,
	    "tasks come from auto.task_pool_command; give them a priority "
	    "there");
}

TEST(the_state_has_the_priority_of_a_task_in_progress)
{
	struct json_object *json;
	struct state state;

	shown_fill_state(&state);
	shown_save(&state);
	shown_put_task("doing", "later.md", "Later\n");
	e2e_expect(
	    e2e_llmc(shown_root, "task", "priority", "t4", "urgent", NULL), 0,
	    NULL);
	json =
	    json_object_object_get(shown_json("task", "show", "t4"), "record");
	ck_assert_str_eq(shown_member(json, "priority"), "urgent");
	ck_assert_str_eq(shown_member(json, "status"), "waiting");
	e2e_has(
	    e2e_sh(shown_root, "\"$STATE\"")->out, "\"priority\": \"urgent\"");
}

TEST(tasks_are_retried_and_dropped_by_id_or_name)
{
	struct json_object *json;

	shown_put_task("failed", "a.md", "A\n");
	shown_put_task("failed", "b.md", "B\n");
	shown_put_task("failed", "c.md", "C\n");
	shown_put_task("todo", "d.md", "D\n");
	shown_append_new("t1", "a.md", OUTCOME_DEAD_LETTER, "no luck");
	shown_append_new("t2", "b.md", OUTCOME_DEAD_LETTER, "no luck");
	json = shown_json("task", "retry", "t1");
	ck_assert_str_eq(shown_member(json, "task"), "a.md");
	ck_assert_str_eq(shown_member(json, "status"), "todo");
	ck_assert(e2e_exists(shown_file("tasks/todo/a.md")));
	shown_must("task", "retry", "c.md");
	ck_assert(e2e_exists(shown_file("tasks/todo/c.md")));
	shown_must("task", "drop", "t2");
	shown_must("task", "drop", "d.md");
	ck_assert(!e2e_exists(shown_file("tasks/failed/b.md")));
	ck_assert(!e2e_exists(shown_file("tasks/todo/d.md")));
	shown_fails("did you mean \"c.md\"?", "task", "drop", "cc.md");
	/* It exists, but waits already: the source says so. */
	shown_fails("neither failed nor landed", "task", "retry", "c.md");
	e2e_json_error(
	    e2e_llmc(shown_root, "--json", "task", "retry", "zzzzzz", NULL), 1,
	    "no_such_task", "zzzzzz");
}

TEST(a_task_that_has_landed_is_known_and_not_dropped)
{
	struct task *task = shown_ended("t1", "a.md", OUTCOME_LANDED, NULL);

	shown_append_ended(task);
	task_free(task);
	shown_put_task("done", "a.md", "A\n");
	shown_fails("t1 is landed; llmc task drop is not for such a task",
	    "task", "drop", "t1");
	ck_assert(e2e_exists(shown_file("tasks/done/a.md")));
}

/* --- edit ------------------------------------------------------------ */

/* The editor works on the draft, on a terminal made by script(1). */
static const char *
edit_with(const char *editor)
{
	e2e_write(unit_path("edit.sh"), editor);
	return e2e_sh(shown_root,
	    e2e_path(
		"EDITOR='sh %s' TERM=dumb script -qec '\"$LLMC\" task edit "
		"a.md' /dev/null </dev/null",
		unit_path("edit.sh")))
	    ->out;
}

TEST(a_task_that_waits_is_edited)
{
	const char *file = e2e_path("%s/.llmc/tasks/todo/a.md", shown_root);
	const char *out;
	struct e2e_run *run;

	shown_put_task("todo", "a.md", "Priority: high\n\nDo this\n");
	run = e2e_sh(shown_root,
	    "printf 'Do that\\n' | \"$LLMC\" task edit a.md --file -");
	e2e_expect(run, 0, NULL);
	ck_assert_str_eq(run->out, "Changed a.md.\n");
	/* What was said about it stays. */
	ck_assert_str_eq(e2e_read(file), "Priority: high\n\nDo that\n");
	if (e2e_sh(shown_root, "script -qec true /dev/null")->status != 0)
		unit_skip("no script(1) that makes a terminal");
	e2e_has(edit_with("sed -i s/that/more/ \"$1\""), "Changed a.md.");
	ck_assert_str_eq(e2e_read(file), "Priority: high\n\nDo more\n");
	e2e_has(edit_with("true"), "Nothing was changed.");
	e2e_has(edit_with("exit 3"), "exited with status 3");
	/* Somebody else was faster: neither text is lost. */
	out = edit_with(
	    e2e_path("sed -i s/more/mine/ \"$1\"; echo theirs >'%s'", file));
	e2e_has(out, "was changed by somebody else");
	ck_assert_ptr_null(strstr(out, "Changed"));
	ck_assert_str_eq(e2e_read(file), "theirs\n");
	e2e_has(e2e_sh(shown_root, "cat .llmc/drafts/*")->out, "Do mine");
}

TEST(a_task_that_failed_is_edited)
{
	shown_put_task("failed", "a.md", "Do this\n");
	shown_append_new("t7", "a.md", OUTCOME_DEAD_LETTER, "no luck");
	e2e_sh(shown_root, "echo Do that >text");
	e2e_expect(
	    e2e_llmc(shown_root, "task", "edit", "t7", "--file", "text", NULL),
	    0, NULL);
	ck_assert_str_eq(
	    e2e_read(e2e_path("%s/.llmc/tasks/failed/a.md", shown_root)),
	    "Do that\n");
}

TEST(a_task_in_progress_is_not_edited)
{
	struct state state;

	shown_fill_state(&state);
	shown_save(&state);
	shown_fails(
	    "llmc message auto-1 TEXT, or take the task away with: llmc task "
	    "drop t3",
	    "task", "edit", "t3");
	shown_fails("llmc task drop t4", "task", "edit", "t4");
	shown_fails("there is no task t9", "task", "edit", "t9");
	shown_append_new("t1", "b.md", OUTCOME_LANDED, NULL);
	shown_fails("llmc task retry t1", "task", "edit", "t1");
	shown_put_task("todo", "c.md", "C\n");
	shown_fails(
	    "there is no terminal for an editor", "task", "edit", "c.md");
}
