/* SPDX-License-Identifier: ISC */

/* llmc landing: the queue while a check runs. llmc landing revert: landed work
 * taken back. The branch that all of it is about. */
#include "autorun.h"
#include "json-schema.h"

void
unit_before(void)
{
	fleet_begin();
}

static const char *
commit_of(const char *name)
{
	const char *line = e2e_git(fleet_root(), "rev-parse", name, NULL);

	return e2e_path("%.*s", (int)strcspn(line, "\n"), line);
}

static bool
in_main(const char *file)
{
	return e2e_exists(e2e_path("%s/%s", fleet_root(), file));
}

/* A check that waits at a gate. */
static void
set_check(const char *script)
{
	const char *file = unit_path("check.sh");

	e2e_script(file, e2e_path("#!/bin/sh\n%s\n", script));
	auto_set("auto.check_command", e2e_path("'%s'", file));
}

/* --- landing ---------------------------------------------------------- */

/* A command, whose output is in a file; what is left after a failed test ends
 * soon. */
static void
start(const char *command, const char *out)
{
	cleanup_child_result struct child_result result;
	struct child_spec spec = {
		.cwd = fleet_root(),
		.env = e2e_edits(),
		.detach = true,
		.shell = e2e_path("echo $$ >'%s.pid'\n"
				  "exec </dev/null >'%s' 2>&1\n"
				  "exec timeout 100 %s",
		    out, out, command),
	};
	struct err err = { 0 };

	ck_assert_msg(child_run(&spec, &result, &err) == 0, "%s", err.msg);
}

/* llmc with these words. */
static void
background(const char *words, const char *out)
{
	start(e2e_path("'%s' %s", e2e_llmc_path(), words), out);
}

static void
on_terminal(const char *words, const char *out)
{
	start(e2e_path(
		  "script -qec '\"%s\" %s' /dev/null", e2e_llmc_path(), words),
	    out);
}

static void
make_work(const char *worker, const char *file)
{
	fleet_add(worker);
	fleet_start(worker, e2e_path("fake: commit %s x", file));
	fleet_wait(worker, "needs_review");
}

/* A worker whose work is accepted, by a person who does not wait. */
static void
accept_work(const char *worker, const char *file)
{
	make_work(worker, file);
	background(e2e_path("accept %s", worker), unit_path("accepted"));
}

/* What the command says, as its schema has it. */
static struct json_object *
told_by(const char *command)
{
	struct json_object *schema =
	    e2e_json(e2e_llmc(NULL, "doctor", "schema", command, NULL), 0);
	struct json_object *json =
	    e2e_json(e2e_llmc(fleet_root(), "--json", command, NULL), 0);
	cleanup_buf struct buf why = BUF_INIT;

	ck_assert_msg(schema_matches(schema, json, "", &why), "%s", why.data);
	return json;
}

static struct json_object *
listed(void)
{
	return told_by("landing");
}

const int unit_timeout = 120; /* seconds, each */

TEST(on_a_terminal_a_landing_tells_for_how_long)
{
	const char *shown = unit_path("shown"), *json = unit_path("json");

	if (e2e_sh(fleet_root(), "script -qec true /dev/null")->status != 0)
		return;
	set_check(auto_gate("check"));
	fleet_up();
	make_work("adam", "a.txt");
	make_work("eve", "b.txt");
	on_terminal("accept adam", shown);
	on_terminal("accept eve --json", json);
	auto_wait_shell(e2e_path(
	    "grep -q 'landing the work of adam: [2-9] s' '%s'", shown));
	auto_open_gate("check");
	auto_wait_shell(e2e_path("grep -q 'Landed ' '%s'", shown));
	auto_wait_shell(e2e_path("grep -q commit_sha '%s'", json));
	/* The line is gone before the answer comes. */
	auto_wait_shell(
	    e2e_path("tr '\\r' '\\n' <'%s' | grep -q '^.\\[KLanded '", shown));
	auto_wait_shell(e2e_path("! grep -q 'landing the work' '%s'", json));
}

TEST(the_queue_while_a_check_runs)
{
	const char *out = unit_path("followed");
	struct json_object *list;
	const char *text;

	set_check(auto_gate("check"));
	fleet_up();
	background("landing --follow", out);
	auto_wait_shell(e2e_path("grep -q 'Nothing waits' '%s'", out));
	accept_work("adam", "a.txt");
	auto_wait_gate("check");
	accept_work("eve", "b.txt");
	auto_wait_shell(e2e_path("grep -q ' built  *eve ' '%s'", out));
	list = listed();
	ck_assert_str_eq(auto_member(list, "landing_branch"), "main");
	ck_assert_str_eq(auto_member(list, "base_sha"), commit_of("main"));
	ck_assert_str_eq(auto_member(list, "items.0.worker"), "adam");
	ck_assert_str_eq(auto_member(list, "items.0.state"), "covered");
	ck_assert_str_eq(auto_member(list, "items.0.check_slot"), "1");
	ck_assert_str_eq(auto_member(list, "items.1.worker"), "eve");
	ck_assert_str_eq(auto_member(list, "items.1.position"), "2");
	ck_assert_str_eq(auto_member(list, "items.1.state"), "built");
	ck_assert_str_eq(auto_member(list, "running.0.covers.0"),
	    auto_member(list, "items.0.id"));
	text = fleet_do("landing", NULL)->out;
	e2e_has(text, "a check is running");
	e2e_has(text, "waits for a check");
	e2e_has(text, "check.sh");
	auto_open_gate("check");
	auto_wait_landed(2);
	auto_wait_shell(
	    e2e_path("test \"$(grep -c 'Nothing waits' '%s')\" = 2", out));
	e2e_expect(
	    e2e_sh(NULL, e2e_path("kill -INT $(cat '%s.pid')", out)), 0, NULL);
	text = e2e_read(out);
	e2e_has(text, "covered");
	text = fleet_do("landing", NULL)->out;
	e2e_has(text, "Nothing waits to land on main.\n");
	e2e_has(text, "flaky on 0 of 2 trees (0 %)");
}

/* The whole output, not only as much as fits into an error. */
TEST(a_person_sees_why_work_fails)
{
	struct e2e_run *run;

	set_check("test ! -e a.txt || { echo begun; seq 1000 1400; exit 3; }");
	fleet_up();
	fleet_add("adam");
	fleet_start("adam", "fake: commit a.txt x");
	fleet_wait("adam", "needs_review");
	run = e2e_llmc(fleet_root(), "accept", "adam", NULL);
	e2e_expect(run, 1, "has not landed on main");
	e2e_has(run->err, "status 3");
	e2e_has(run->err, "begun\n1000\n");
	e2e_has(run->err, "\n1400\n");
	ck_assert(!in_main("a.txt"));
	fleet_wait("adam", "needs_review");
}

/* What the last daemon left, and a branch that is red. */
TEST(the_queue_without_a_daemon)
{
	struct json_object *list;

	e2e_has(fleet_do("landing", NULL)->out, "No check command is set");
	set_check(auto_gate("check"));
	fleet_up();
	accept_work("adam", "a.txt");
	auto_wait_gate("check");
	fleet_kill(fleet_daemon_pid());
	list = listed();
	ck_assert_str_eq(auto_member(list, "items.0.state"), "queued");
	ck_assert_str_eq(
	    auto_member(list, "items.0.why"), "no daemon is running");
	e2e_has(fleet_do("landing", NULL)->out, "no daemon is running");
	auto_open_gate("check");
	fleet_up();
	auto_wait_landed(1);
}

/* It stops nothing, so it must be seen; also when the daemon is gone. */
/* A user who takes a commit off the branch, or changes it, has the last word:
 * work that began there lands without it, under its own title. */
TEST(what_a_user_dropped_does_not_come_back)
{
	static const char *const ways[] = {
		"git reset -q --hard HEAD~1",
		"git rm -q dropped; echo k >kept; git add kept; "
		"git commit -q --amend -m amended",
	};
	const char *root = fleet_root();

	fleet_up();
	for (size_t i = 0; i < nitems(ways); i++) {
		const char *worker = i == 0 ? "adam" : "eve";
		const char *file = e2e_path("own%zu", i);

		e2e_expect(e2e_sh(root,
			       "echo d >dropped; git add dropped; "
			       "git commit -qm Dropped"),
		    0, NULL);
		fleet_add(worker);
		fleet_start(worker,
		    e2e_path(
			"fake: commit %s x\nfake: commit %s y", file, file));
		fleet_wait(worker, "needs_review");
		e2e_expect(e2e_sh(root, ways[i]), 0, NULL);
		fleet_do("review", worker, NULL);
		fleet_do("accept", worker, NULL);
		fleet_wait(worker, "idle");
		ck_assert(in_main(file));
		ck_assert(!in_main("dropped"));
		e2e_lacks(
		    e2e_git(root, "log", "--format=%s%n%b", NULL), "Dropped");
	}
	ck_assert(in_main("kept"));
}

/* The same while the work is checked. */
TEST(what_a_user_dropped_stays_away_in_auto_mode)
{
	const char *root = fleet_root();

	set_check(e2e_path("[ -z \"${LLMC_CHECK_SLOT-}\" ] || exit 0\n%s",
	    auto_gate("check")));
	e2e_expect(e2e_sh(root,
		       "echo d >dropped; git add dropped; "
		       "git commit -qm Dropped"),
	    0, NULL);
	auto_task("1.md", "Own\nfake: commit own.txt x");
	auto_up("--until-empty", NULL);
	auto_wait_gate("check");
	e2e_expect(e2e_sh(root, "git reset -q --hard HEAD~1"), 0, NULL);
	auto_open_gate("check");
	ck_assert_int_eq(auto_wait_exit(), 0);
	ck_assert(in_main("own.txt"));
	ck_assert(!in_main("dropped"));
	e2e_lacks(e2e_git(root, "log", "--format=%s%n%b", NULL), "Dropped");
}

TEST(a_push_that_fails_is_shown)
{
	auto_set("repo.upstream", "push");
	fleet_up();
	accept_work("adam", "a.txt");
	auto_wait_landed(1);
	auto_wait_shell(
	    e2e_path("'%s' status | grep -q 'not pushed'", e2e_llmc_path()));
	for (int i = 0; i < 2; i++) {
		struct json_object *list = listed(), *all = told_by("status");

		ck_assert_str_eq(auto_member(list, "push.state"), "failed");
		ck_assert_str_eq(
		    auto_member(list, "push.commit_sha"), commit_of("main"));
		ck_assert_str_eq(auto_member(all, "push.tries"), "1");
		e2e_has(fleet_do("landing", NULL)->out,
		    "not pushed: origin does not have ");
		e2e_has(fleet_do("status", NULL)->out, "after 1 try, next in ");
		if (i == 0)
			fleet_kill(fleet_daemon_pid());
	}
	auto_set("repo.upstream", "off");
	fleet_up();
	auto_wait_shell(
	    e2e_path("! '%s' status | grep -q pushed", e2e_llmc_path()));
}

/* --- revert ----------------------------------------------------------- */

TEST(a_task_is_taken_back)
{
	const char *landed;
	struct json_object *json, *schema;
	cleanup_buf struct buf why = BUF_INIT;

	auto_task("a.md", "A\nfake: commit a.txt x");
	auto_task("b.md", "B\nfake: commit b.txt y");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	landed = auto_member(e2e_json(e2e_llmc(fleet_root(), "--json", "task",
					  "show", "t1", NULL),
				 0),
	    "record.commit_sha");
	ck_assert(in_main("a.txt") && in_main("b.txt"));
	fleet_fails(
	    "There is no terminal to ask on", "landing", "revert", "t1", NULL);
	ck_assert(in_main("a.txt"));
	json = e2e_json(e2e_llmc(fleet_root(), "--json", "landing", "revert",
			    "t1", "--yes", NULL),
	    0);
	schema = e2e_json(
	    e2e_llmc(NULL, "doctor", "schema", "landing", "revert", NULL), 0);
	ck_assert_msg(schema_matches(schema, json, "", &why), "%s", why.data);
	ck_assert_str_eq(auto_member(json, "reverted_sha"), landed);
	ck_assert_str_eq(auto_member(json, "commit_sha"), commit_of("main"));
	ck_assert_msg(!in_main("a.txt") && in_main("b.txt"), "%s",
	    e2e_sh(fleet_root(), "ls; git status --short; git log --stat")
		->out);
	e2e_has(fleet_do("task", "show", "t1", NULL)->out,
	    e2e_path("taken back by commit: %s", commit_of("main")));
	e2e_has(fleet_do("log", NULL)->out,
	    e2e_path("%.7s is taken back on main by %.7s", landed,
		commit_of("main")));
	fleet_fails(
	    "nothing to take back", "landing", "revert", "t1", "--yes", NULL);
	/* By its name at its source. */
	e2e_has(fleet_do("landing", "revert", "b.md", "--yes", NULL)->out,
	    e2e_path("Landed [%.7s] on main: Revert \"b.txt: y\"",
		commit_of("main")));
	ck_assert(!in_main("b.txt"));
}

TEST(a_commit_is_taken_back)
{
	const char *root = fleet_root();
	struct e2e_run *run;

	e2e_expect(
	    e2e_sh(root,
		"for n in 1 2; do echo $n >a.txt; git add a.txt; git commit "
		"-qm \"a $n\"; done; echo x >b.txt; git add b.txt; git commit "
		"-qm b; git branch other main~1; git switch -q other; "
		"git commit -q --allow-empty -m other; git switch -q main"),
	    0, NULL);
	fleet_up();
	run = fleet_do("landing", "revert", "HEAD", "--yes", NULL);
	e2e_has(run->out, "on main: Revert \"b\"\nIt takes [");
	ck_assert(!in_main("b.txt"));
	fleet_fails("conflicts with later changes: a.txt", "landing", "revert",
	    "main~3", "--yes", NULL);
	fleet_fails(
	    "it is not on main", "landing", "revert", "other", "--yes", NULL);
	e2e_json_error(
	    e2e_llmc(root, "--json", "landing", "revert", "t7", NULL), 1,
	    "no_such_commit", "there is no task and no commit t7");
	/* What the check does not let pass stays. */
	set_check("test \"$(cat a.txt)\" = 2 || { echo two is missing; exit 1; "
		  "}");
	fleet_fails(
	    "two is missing", "landing", "revert", "main~2", "--yes", NULL);
	ck_assert_int_eq(fleet_commits(), 5);
	ck_assert_str_eq(
	    e2e_git(root, "status", "--porcelain", "-uno", NULL), "");
}

/* --- the branch ------------------------------------------------------- */

static void
assert_logged(const char *words)
{
	const char *log = e2e_path("%s/.llmc/logs/autod.log", fleet_root());

	auto_wait_shell(e2e_path("grep -q '%s' '%s'", words, log));
}

/* Shown by status and doctor as the daemon uses it, not as it is set. */
TEST(the_branch_that_the_daemon_uses)
{
	struct e2e_run *run;

	fleet_do("config", "unset", "repo.default_branch", NULL);
	fleet_up();
	assert_logged("work lands on main from now on");
	e2e_git(fleet_root(), "branch", "other", NULL);
	fleet_do("config", "set", "repo.default_branch", "other", NULL);
	e2e_has(fleet_do("status", NULL)->out, "Work lands on main.\n");
	ck_assert_str_eq(auto_member(listed(), "landing_branch"), "main");
	run = e2e_llmc(fleet_root(), "doctor", NULL);
	e2e_has(run->out,
	    "the setting is other, but the daemon lands work on main until it "
	    "is restarted");
	fleet_do("config", "set", "repo.default_branch", "nowhere", NULL);
	fleet_do("down", NULL);
	e2e_has(fleet_do("status", NULL)->out, "Work lands on nowhere.\n");
	fleet_up();
	assert_logged("there is no branch nowhere; create it, or type: llmc "
		      "config set repo.default_branch BRANCH");
}

TEST(a_task_that_has_not_landed)
{
	auto_task("a.md", "A\nfake: commit a.txt x");
	fleet_fails(
	    "a.md has not landed", "landing", "revert", "a.md", "--yes", NULL);
}

/* --- people who commit more often than the check takes ----------------------
 */

/* A check that ends when the branch has moved, as long as somebody commits; and
 * who it is, in the user's own checkout. */
static void
begin_crowd(const char *overtaken, const char *commits, const char *pause)
{
	e2e_skip_sandboxed("commits and checks are in step without one");
	set_check(e2e_path("cd '%s'; at=$(git rev-parse main); n=0\n"
			   "while [ -e .llmc/crowd ] && [ $n -lt 400 ] &&\n"
			   "    [ \"$(git rev-parse main)\" = \"$at\" ]; do\n"
			   "	sleep 0.05; n=$((n + 1))\n"
			   "done",
	    fleet_root()));
	auto_set("auto.overtaken", overtaken);
	auto_set("auto.concurrency", "3");
	e2e_script(unit_path("crowd.sh"),
	    e2e_path(
		"#!/bin/sh\n>.llmc/crowd\n"
		"while [ -e .llmc/crowd ]; do %s; sleep %s; done\n"
		"until git diff --quiet HEAD; do git commit -qam user; done",
		commits, pause));
	e2e_sh(
	    fleet_root(), "seq 9 >long && git add long && git commit -qm long");
	/* The command is to be known to work here. */
	auto_task("0.md", "First\nfake: commit 0.txt x");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	start(e2e_path("sh '%s'", unit_path("crowd.sh")), unit_path("crowd"));
	auto_wait_shell("[ -e .llmc/crowd ]");
}

static void
end_crowd(void)
{
	unlink(e2e_path("%s/.llmc/crowd", fleet_root()));
}

#define CROWD_MAKES_A_FILE "date +%N >u.txt; git add u.txt; git commit -qm user"

TEST(checks_that_are_overtaken_are_told_in_numbers)
{
	begin_crowd("wait", CROWD_MAKES_A_FILE, "1.5");
	auto_task("a.md", "A\nfake: commit a.txt x");
	auto_task("b.md", "B\nfake: commit b.txt x");
	auto_wait_event("checks_overtaken", "in vain");
	auto_wait_shell("\"$LLMC\" status --json | grep -q 'a check takes "
			"[0-9.ms]*, main moves every [0-9.ms]*; [0-9]* checks "
			"in a row were in vain'");
	ck_assert_int_eq(auto_finished("landed"), 1);
	end_crowd();
	auto_wait_finished("landed", 3);
	auto_wait_shell("! \"$LLMC\" status --json | grep -q 'in vain'");
	ck_assert_int_eq(auto_events("checks_overtaken", NULL), 1);
}

TEST(a_result_that_was_overtaken_lands_where_people_say_so)
{
	begin_crowd("land", CROWD_MAKES_A_FILE, "1.5");
	auto_task("a.md", "A\nfake: commit a.txt x");
	auto_task("b.md", "B\nfake: commit b.txt x");
	auto_task("c.md", "C\nfake: commit c.txt x");
	auto_wait_finished("landed", 4);
	ck_assert(e2e_exists(e2e_path("%s/.llmc/crowd", fleet_root())));
	end_crowd();
	auto_history("a.txt: x", "b.txt: x", "c.txt: x", NULL);
	ck_assert_int_eq(
	    auto_events("accept_success", "\"result\":\"overtaken\""), 3);
	auto_wait_shell("[ \"$(\"$LLMC\" report | grep -c "
			"'landed on a result that was overtaken')\" = 3 ]");
	auto_wait_shell("\"$LLMC\" task show t2 --json | "
			"grep -q '\"overtaken\": *true'");
	/* It has been checked as it is. */
	auto_wait_shell("! \"$LLMC\" status --json | grep -q unproven");
	told_by("landing");
	told_by("report");
}

/* Without a conflict. */
TEST(what_overtakes_in_a_file_of_the_work_lands_nothing)
{
	begin_crowd("land",
	    "sed -i \"1s/.*/$(date +%N)/\" long; git commit -qam user", "1.5");
	auto_task("a.md",
	    "A\nfake: run sed -i 's/^9$/nine/' long && git commit -qam nine");
	auto_wait_event("checks_overtaken", "no file of the work and merges");
	ck_assert_int_eq(auto_finished("landed"), 1);
	end_crowd();
	auto_wait_finished("landed", 2);
	ck_assert_int_eq(auto_events("accept_success", "overtaken"), 0);
}

/* Faster than it can be built again. */
TEST(what_never_lands_in_time_is_told_too)
{
	begin_crowd("land", CROWD_MAKES_A_FILE, "0.05");
	auto_task("a.md", "A\nfake: commit a.txt x");
	auto_task("b.md", "B\nfake: commit b.txt x");
	auto_task("c.md", "C\nfake: commit c.txt x");
	auto_wait_event("checks_overtaken", "commit less often");
	end_crowd();
	auto_wait_finished("landed", 4);
}
