/* SPDX-License-Identifier: ISC */

/* llmc doctor store, llmc why and llmc log with goals, while no daemon runs and
 * beside one; a book that is damaged. */
#include "e2e.h"

static const char *root;

static void
make_root(const char *name)
{
	root = e2e_workspace(name);
	e2e_guard(root, "");
	e2e_expect(
	    e2e_llmc(root, "config", "set", "plan.enabled", "true", NULL), 0,
	    NULL);
}

static void
make_goal(void)
{
	make_root("a b");
	e2e_write(e2e_path("%s/plan.md", root),
	    "## One\n### First\nAcceptance:\n- it works\n### Second\n"
	    "Acceptance:\n- it works too\n");
	e2e_expect(e2e_llmc(root, "goal", "create", "--title", "Ship it",
		       "--plan", "plan.md", NULL),
	    0, NULL);
}

static struct e2e_run *
store(const char *verb, const char *arg)
{
	return e2e_llmc(root, "doctor", "store", verb, arg, NULL);
}

static void
start_daemon(void)
{
	e2e_expect(e2e_llmc(root, "up", "--detach", NULL), 0, NULL);
}

static void
stop_daemon(void)
{
	e2e_expect(e2e_llmc(root, "down", NULL), 0, NULL);
}

static void
has_goal(void)
{
	struct e2e_run *run = e2e_llmc(root, "goal", "list", NULL);

	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "Ship it");
}

/* --- export ------------------------------------------------------------ */

TEST(an_export_is_printed_as_it_is_written)
{
	struct e2e_run *run;

	make_goal();
	e2e_expect(store("export", "one.json"), 0, NULL);
	run = store("export", NULL);
	e2e_expect(run, 0, NULL);
	ck_assert_str_eq(run->out, e2e_read(e2e_path("%s/one.json", root)));
	e2e_has(run->out, "Ship it");
	ck_assert_str_eq(
	    e2e_sh(root, "ls .llmc | grep store-export || true")->out, "");
}

TEST(wrong_input_is_refused_with_words)
{
	make_root("a b");
	e2e_expect(store("frobnicate", NULL), 2, "no such subcommand");
	e2e_expect(store("export", "none/x.json"), 1, "none/x.json");
	e2e_json_error(e2e_llmc(root, "--json", "doctor", "store", "export",
			   "none/x.json", NULL),
	    1, "failed", "none/x.json");
}

TEST(a_book_of_a_newer_llmc_is_left_as_it_is)
{
	make_goal();
	/* The version is at byte 60; and the page has no checksum. */
	e2e_sh(root,
	    "printf '\\0\\0\\377\\377' | dd of=.llmc/llmc.db bs=1 seek=60 "
	    "conv=notrunc 2>/dev/null; head -c 8 /dev/zero | "
	    "dd of=.llmc/llmc.db bs=1 seek=4088 conv=notrunc 2>/dev/null; "
	    "cp .llmc/llmc.db kept");
	e2e_expect(e2e_llmc(root, "goal", "list", NULL), 1, "newer");
	e2e_expect(store("export", "x.json"), 1, "newer");
	e2e_expect(store("check", NULL), 1, "newer");
	e2e_expect(e2e_sh(root, "cmp kept .llmc/llmc.db"), 0, NULL);
}

/* --- SQL ---------------------------------------------------------------- */

static void
asks(void)
{
	struct json_object *json, *rows = NULL;
	struct e2e_run *run =
	    store("sql", "SELECT n.id, n.status FROM nodes AS n ORDER BY n.id");

	e2e_expect(run, 0, NULL);
	ck_assert_str_eq(run->out,
	    "id    status\nP1    queued\nT1.1  queued\nT1.2  queued\n");
	json = e2e_json(e2e_llmc(root, "--json", "doctor", "store", "sql",
			    "SELECT count(*) AS n FROM goals", NULL),
	    0);
	ck_assert(json_object_object_get_ex(json, "rows", &rows));
	ck_assert_str_eq(
	    json_object_to_json_string_ext(rows, JSON_C_TO_STRING_PLAIN),
	    "[[1]]");
	e2e_expect(store("sql", "DELETE FROM goals"), 1, "only SELECT");
	e2e_expect(store("sql", "SELECT 1; SELECT 2"), 1, "one statement");
	e2e_expect(store("sql", "SELECT x FROM goals"), 1, "x");
	e2e_expect(store("sql", NULL), 2, "llmc doctor store sql QUERY");
	has_goal();
}

TEST(the_book_is_queried_without_a_daemon_and_beside_one)
{
	make_goal();
	asks();
	start_daemon();
	asks();
	stop_daemon();
}

/* --- long jobs ---------------------------------------------------------- */

/* A fifo in the place of the file that is written waits for a reader. */
TEST(a_job_is_stopped_at_its_deadline_and_the_caller_is_told)
{
	make_goal();
	e2e_sh(root, "mkfifo out.json.part");
	e2e_hurry(600);
	e2e_expect(store("export", "out.json"), 1,
	    "stopped because it took more than 30 minutes");
	e2e_env("LLMC_TIME_SCALE");
	has_goal();
}

TEST(on_a_terminal_a_long_job_tells_for_how_long)
{
	struct e2e_run *run;

	make_goal();
	if (e2e_sh(root, "script -qec true /dev/null")->status != 0)
		return;
	e2e_sh(root, "mkfifo out.json.part");
	/* The reader comes when most of the second line is there. */
	run = e2e_sh(root,
	    "script -qec '\"$LLMC\" doctor store export out.json' /dev/null | "
	    "{ head -c 60; cat out.json.part >/dev/null & cat; wait; }");
	e2e_has(run->out, "writing the export: 1 s");
	run = e2e_sh(
	    root, "script -qec '\"$LLMC\" doctor store check' /dev/null");
	e2e_lacks(run->out, "checking the book:");
}

/* --- damage ------------------------------------------------------------- */

/* The first bytes of the file: everything else can be read. */
static void
damage(void)
{
	e2e_expect(e2e_sh(root,
		       "[ ! -e .llmc/llmc.db-wal ] && printf 'no database' | "
		       "dd of=.llmc/llmc.db conv=notrunc 2>/dev/null"),
	    0, NULL);
}

static void
is_recovered(void)
{
	has_goal();
	e2e_expect(store("check", NULL), 0, NULL);
	e2e_expect(e2e_sh(root, "ls .llmc/llmc.corrupt-*.db"), 0, NULL);
}

TEST(a_damaged_book_is_recovered_without_a_daemon)
{
	make_goal();
	damage();
	is_recovered();
}

TEST(a_daemon_recovers_its_book_and_plans_again)
{
	struct e2e_run *run;

	make_goal();
	damage();
	start_daemon();
	is_recovered();
	run = e2e_llmc(root, "log", NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "llmc.corrupt-");
	run = e2e_llmc(root, "why", "T1.1", NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "Ship it");
	stop_daemon();
	has_goal();
}

TEST(a_copy_of_the_book_is_made_every_day)
{
	int looks = 0;

	make_goal();
	/* Not `up --detach`, whose minute would be a tenth of a second. */
	e2e_hurry(600);
	e2e_sh(root, "setsid \"$LLMC\" up </dev/null >/dev/null 2>&1 &");
	while (e2e_sh(root, "test -s .llmc/llmc.copy.db")->status != 0)
		e2e_rest(&looks);
	e2e_env("LLMC_TIME_SCALE");
	stop_daemon();
	e2e_sh(root, "mv .llmc/llmc.copy.db .llmc/llmc.db");
	has_goal();
}

/* --- looking ------------------------------------------------------------ */

TEST(why_and_events_tell_of_a_goal)
{
	struct json_object *json;
	struct e2e_run *run;

	make_goal();
	run = e2e_llmc(root, "why", "T1.1", NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "T1.1 is queued");
	json = e2e_json(e2e_llmc(root, "--json", "why", "T1.1", NULL), 0);
	ck_assert_str_eq(json_string_or(json, "kind", ""), "node");
	e2e_expect(e2e_llmc(root, "why", "nobody", NULL), 1,
	    "nothing is known about nobody");
	run = e2e_llmc(root, "log", "--goal", "g1", NULL);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "Ship it");
	e2e_expect(e2e_llmc(root, "log", "--goal", "nope", NULL), 1,
	    "there is no goal nope");
	/* The store has them without the log too, and once with it. */
	run = e2e_llmc(root, "log", "--json", NULL);
	e2e_json(run, 0);
	e2e_sh(root, "rm .llmc/logs/auto.log*");
	ck_assert_str_eq(e2e_llmc(root, "log", "--json", NULL)->out, run->out);
}
