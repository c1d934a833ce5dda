/* SPDX-License-Identifier: ISC */

/*
 * The first start of a program with a book on what the last one without left
 * (before.h): everything is read into it once, and the old files are kept. It
 * is killed at steps of that too (tests/faults/stepkill.c): each time all
 * is as it was, or all is in the book, and the next start ends with the same
 * book. What was interrupted is continued as after any crash.
 *
 *   UPGRADE_WRITES  of the writes of SQLite, kill at one of so many (25)
 *   UPGRADE_EVERY   of the steps that are left, kill at one of so many (9)
 */
#include <sqlite3.h>

#include "before.h"
#include "faults.h"
#include "version.h"

#define BEFORE "before-" LLMC_VERSION

/* A command that changes nothing, but needs the state. */
#define ANY "\"$LLMC\" mail inbox >/dev/null"

static const char *when = ""; /* for messages */

/* --- what is there ------------------------------------------------------- */

/* A member that may be left out. */
static bool
is_unset(struct json_object *value)
{
	return value == NULL ||
	    (json_object_is_type(value, json_type_boolean) &&
		!json_object_get_boolean(value)) ||
	    (json_object_is_type(value, json_type_int) &&
		json_object_get_int64(value) == 0);
}

/* Is everything of one value in another? Keys that are gone are not asked
 * for. */
static void
expect_same(struct json_object *now, struct json_object *old, const char *path)
{
	static const char *const gone[] = { "corrections", "goal", "mail_given",
		"oversight", "overseer_active", NULL };

	if (json_object_is_type(old, json_type_object)) {
		json_object_object_foreach(old, key, value)
		{
			struct json_object *other = NULL;
			bool is_gone = false;

			for (size_t i = 0; gone[i] != NULL; i++)
				is_gone |= strcmp(gone[i], key) == 0;
			if (is_gone ||
			    (!json_object_object_get_ex(now, key, &other) &&
				is_unset(value)))
				continue;
			ck_assert_msg(json_object_object_get_ex(now, key, NULL),
			    "%sno %s.%s", when, path, key);
			expect_same(other, value, e2e_path("%s.%s", path, key));
		}
		return;
	}
	if (json_object_is_type(old, json_type_array)) {
		ck_assert_msg(json_object_is_type(now, json_type_array) &&
			json_object_array_length(now) ==
			    json_object_array_length(old),
		    "%s%s", when, path);
		for (size_t i = 0; i < json_object_array_length(old); i++)
			expect_same(json_object_array_get_idx(now, i),
			    json_object_array_get_idx(old, i),
			    e2e_path("%s.%zu", path, i));
		return;
	}
	ck_assert_msg(json_object_equal(now, old), "%s%s is %s, not %s", when,
	    path, json_object_to_json_string(now),
	    json_object_to_json_string(old));
}

static void
expect_state(void)
{
	struct json_object *now = e2e_state(fleet_root());
	struct json_object *old = e2e_load(before_file("state.json"));

	ck_assert_ptr_nonnull(old);
	expect_same(now, old, "state");
	json_object_put(now);
	json_object_put(old);
}

static void
expect_task(const char *id, struct json_object *old)
{
	static const char *const keys[][2] = { { "title", "title" },
		{ "outcome", "outcome" }, { "worker", "worker" },
		{ "commit", "commit_sha" }, { "attempts", "attempts" },
		{ "turns", "turns" }, { "tokens", "tokens" },
		{ "text", "text" }, { "usage", "usage" },
		{ "history", "history" } };
	struct json_object *record = NULL,
			   *shown = e2e_json(
			       fleet_do("--json", "task", "show", id, NULL), 0);

	ck_assert(json_object_object_get_ex(shown, "record", &record));
	for (size_t i = 0; i < nitems(keys); i++) {
		struct json_object *a = NULL, *b = NULL;

		ck_assert(json_object_object_get_ex(old, keys[i][0], &a));
		json_object_object_get_ex(record, keys[i][1], &b);
		expect_same(b, a, e2e_path("%s.%s", id, keys[i][1]));
	}
}

/* The last record of each ended task. */
static void
expect_tasks(void)
{
	char *text = xstrdup(e2e_read(before_file("tasks.jsonl")));
	struct json_object *last = json_object_new_object();
	int count = 0;

	for (char *at = text, *line; (line = strsep(&at, "\n")) != NULL;) {
		struct json_object *task = json_tokener_parse(line);

		if (task != NULL)
			json_object_object_add(
			    last, json_string_or(task, "id", ""), task);
	}
	{
		json_object_object_foreach(last, id, task)
		{
			expect_task(id, task);
			count++;
		}
	}
	ck_assert_int_gt(count, 0);
	json_object_put(last);
	free(text);
}

/* All rows of all tables. */
static int
add_row(void *arg, int count, char **values, char **names)
{
	(void)names;
	for (int i = 0; i < count; i++)
		buf_addf(arg, "%s|", values[i] != NULL ? values[i] : "NULL");
	buf_addc(arg, '\n');
	return 0;
}

static int
add_table(void *arg, int count, char **values, char **names)
{
	cleanup_free char *sql = xasprintf(
	    "SELECT '%s', * FROM %s ORDER BY 2, 3", values[0], values[0]);
	void **both = arg;

	(void)count;
	(void)names;
	/* When the daemon was last alive. */
	if (strcmp(values[0], "alive") != 0)
		ck_assert_int_eq(
		    sqlite3_exec(both[0], sql, add_row, both[1], NULL),
		    SQLITE_OK);
	return 0;
}

static char *
dump(void)
{
	const char *path = e2e_path("%s/.llmc/llmc.db", fleet_root());
	struct buf text = BUF_INIT;
	sqlite3 *db = NULL;
	void *both[2];

	ck_assert_int_eq(
	    sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	both[0] = db;
	both[1] = &text;
	ck_assert_int_eq(
	    sqlite3_exec(db,
		"SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY "
		"name",
		add_table, both, NULL),
	    SQLITE_OK);
	sqlite3_close(db);
	return buf_take(&text);
}

static void
expect_moved(void)
{
	static const char *const names[] = { "state.json", "state.json.bak",
		"tasks.jsonl", "runs.jsonl", "iterations", "perf", "spans",
		"store.db" };

	for (size_t i = 0; i < nitems(names); i++) {
		const char *dir = e2e_path("%s/.llmc", fleet_root());

		ck_assert_msg(!e2e_exists(e2e_path("%s/%s", dir, names[i])),
		    "%s%s is still there", when, names[i]);
		ck_assert_msg(
		    e2e_exists(e2e_path("%s/" BEFORE "/%s", dir, names[i])),
		    "%s%s is not kept", when, names[i]);
	}
}

/* As many as lines of these files. */
static void
expect_rows(const char *table, const char *files)
{
	struct e2e_run *run = e2e_sh(fleet_root(),
	    e2e_path(
		"\"$LLMC\" --json doctor store sql 'SELECT count(*) FROM %s' | tr "
		"-d ' \n'; cd '%s'; echo \" $(cat %s | sort -u | wc -l)\"",
		table, before_file(""), files));
	const char *rows = strstr(run->out, "\"rows\":[[");

	ck_assert_msg(rows != NULL &&
		strtol(rows + 9, NULL, 10) ==
		    strtol(strrchr(rows, ' '), NULL, 10),
	    "%s: %s%s", table, run->out, run->err);
}

static void
expect_shown(const char *words, const char *script)
{
	struct e2e_run *run = e2e_sh(fleet_root(), script);

	e2e_expect(run, 0, NULL);
	ck_assert_msg(strstr(run->out, words) != NULL, "%s: no %s in: %s",
	    script, words, e2e_shown(run->out));
}

static void
expect_ended(void)
{
	expect_shown("Mail for a person", "\"$LLMC\" mail inbox");
	expect_shown("\"paused\"", "\"$LLMC\" --json goal list");
	expect_shown("completed", "\"$LLMC\" goal list --all");
	expect_shown("Which colour?", "\"$LLMC\" --json asks");
	expect_shown("All 4 tasks that ended succeeded", "\"$LLMC\" report");
	expect_shown("auto-1", "\"$LLMC\" task iterations t1");
	expect_shown(
	    "/T1.1", "\"$LLMC\" goal show g2 && \"$LLMC\" task show g2/1.1");
}

const int unit_timeout = 380; /* seconds, each */

TEST_ROWS(everything_is_in_the_book, 2)
{
	static const char *const names[] = { "ended", "killed" };
	cleanup_free char *first = NULL, *again = NULL;

	before_begin(names[_i]);
	e2e_expect(e2e_sh(fleet_root(), ANY), 0, NULL);
	expect_moved();
	expect_state();
	expect_tasks();
	expect_rows("turn", "iterations/*");
	expect_rows("attempt", "perf/*");
	expect_rows("span", "spans/*");
	expect_shown(" 1\n",
	    "\"$LLMC\" doctor store sql \"SELECT count(*) FROM requests r WHERE "
	    "r.status = 'open'\"");
	if (_i == 0)
		expect_ended();
	e2e_expect(
	    e2e_sh(fleet_root(), "\"$LLMC\" doctor store check >/dev/null"), 0,
	    NULL);
	/* Once: what is in the old files does not matter any more. */
	first = dump();
	e2e_expect(e2e_sh(fleet_root(), ANY), 0, NULL);
	again = dump();
	ck_assert_str_eq(again, first);
}

/* --- kills ---------------------------------------------------------------- */

/* Which only counts them if n is 0. */
static struct e2e_run *
killed_at(int n)
{
	const char *llmc = e2e_llmc_path();

	faults_arm();
	return e2e_sh(fleet_root(),
	    e2e_path("LD_LIBRARY_PATH='%.*s/../../tests/faults' "
		     "LD_PRELOAD=stepkill.so STEPKILL_PROGRAM=autod "
		     "STEPKILL_WRITES=1 STEPKILL_ARM='%s' STEPKILL_COUNT='%s' "
		     "STEPKILL_N=%d " ANY,
		(int)(strrchr(llmc, '/') - llmc), llmc, unit_path("arm"),
		unit_path("steps"), n));
}

static void
kill_at(int n, bool is_write, const char *wanted)
{
	cleanup_free char *found = NULL;

	before_again();
	killed_at(n);
	ck_assert_msg(!e2e_exists(unit_path("arm")), "%sit was not", when);
	expect_state();
	if (!is_write)
		expect_tasks();
	e2e_expect(e2e_sh(fleet_root(), ANY), 0, NULL);
	expect_moved();
	found = dump();
	e2e_write(unit_path("wanted"), wanted);
	e2e_write(unit_path("found"), found);
	ck_assert_msg(strcmp(found, wanted) == 0, "%sanother book: %s", when,
	    e2e_shown(e2e_sh(unit_scratch(), "diff wanted found")->out));
}

TEST(killed_anywhere_it_is_all_or_nothing)
{
	cleanup_free char *wanted = NULL, *steps = NULL;
	int every = e2e_number("UPGRADE_EVERY", 9), n = 0, writes = 0;
	int places = 0, kills = 0;

	before_begin("ended");
	e2e_expect(killed_at(0), 0, NULL);
	wanted = dump();
	steps = xstrdup(e2e_read(unit_path("steps")));
	for (char *at = steps, *line; (line = strsep(&at, "\n")) != NULL;) {
		bool is_write = strstr(line, " pwrite ") != NULL;

		if (line[0] == '\0')
			continue;
		n++;
		if (is_write &&
		    ++writes % e2e_number("UPGRADE_WRITES", 25) != 0)
			continue;
		if (places++ % every != 0)
			continue;
		when = e2e_path("killed before %s: ", line);
		kill_at(n, is_write, wanted);
		kills++;
	}
	printf("# %d kills at %d steps\n", kills, n);
	fflush(stdout);
	ck_assert_int_gt(kills * every, 50);
}

/* --- and then ------------------------------------------------------------- */

/* What was being done is done: the question is asked again, work in progress
 * goes on where it was, what waited to land lands, all of it once. */
TEST(what_was_interrupted_goes_on)
{
	static const char *const files[] = { "c.txt", "painted.txt", "README",
		"begun.txt", "half.txt" };

	before_begin("killed");
	fleet_do("config", "set", "defaults.env",
	    "[\"FAKE_CLAUDE_LOG\", \"FAKE_CLAUDE_GOES_ON\"]", NULL);
	fleet_do("config", "set", "auto.check_command", "none", NULL);
	e2e_env("FAKE_CLAUDE_GOES_ON=1");
	e2e_write(e2e_path("%s/half.txt", fleet_worktree("auto-2")), "half\n");
	e2e_write(e2e_path("%s/go", getenv("HOME")), "");
	auto_up(NULL);
	/* The session that asks again may not be there yet. */
	auto_wait_shell(
	    "id=$(\"$LLMC\" doctor store sql \"SELECT r.id FROM requests r WHERE "
	    "r.status = 'open'\" | tail -n 1); case $id in R_*) \"$LLMC\" "
	    "answer \"$id\" 2;; esac; "
	    "git cat-file -e main:painted.txt");
	auto_wait_finished("landed", 4);
	auto_drain();
	for (size_t i = 0; i < nitems(files); i++)
		ck_assert_str_eq(e2e_git(fleet_root(), "rev-list", "--count",
				     "main", "--", files[i], NULL),
		    strcmp(files[i], "README") == 0 ? "2\n" : "1\n");
	ck_assert_int_eq(fleet_commits(), 5);
}
