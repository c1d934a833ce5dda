/* SPDX-License-Identifier: ISC */

/* What llmc config says about errors. */
#include "e2e.h"
#include "enclave.h"

static const char *
config_of(const char *dir)
{
	return e2e_path("%s/.llmc/config.toml", dir);
}

TEST(set_refuses_what_the_table_forbids)
{
	static const struct {
		const char *key, *typed, *allowed;
	} cases[] = {
		{ "auto.max_turns", "0",
		    "a whole number from 1 to 1000, found 0" },
		{ "auto.max_turns", "1001", "a whole number from 1 to 1000" },
		{ "auto.max_turns", "-7", "found -7" },
		{ "auto.max_turns", "many", "found many" },
		{ "auto.max_turns", "40.0", "a whole number" },
		{ "auto.max_turns", "", "a whole number" },
		{ "auto.max_turns", "\"40\"", "a whole number" },
		{ "auto.max_turns", "40 # forty", "a whole number" },
		{ "auto.max_turns", "40\n[auto]", "a whole number" },
		{ "auto.max_turns", "99999999999999999999", "a whole number" },
		{ "defaults.start_timeout", "99ms", "from 100ms to 1h" },
		{ "defaults.start_timeout", "2h", "from 100ms to 1h" },
		{ "defaults.start_timeout", "soon", "a duration such as" },
		{ "defaults.start_timeout", "-5", "a duration such as" },
		{ "defaults.permission_mode", "Plan", "one of \"bypass" },
		{ "defaults.permission_mode", "", "\"default\"" },
		{ "defaults.allowed_tools", "Bash", "a list of strings" },
		{ "defaults.allowed_tools", "[1]", "a list of strings" },
		{ "defaults.allowed_tools", "[\"a\", 1]", "a list of strings" },
		{ "defaults.allowed_tools", "[\"\\u0000\"]",
		    "a list of strings" },
		{ "workers.adam.start_timeout", "2h",
		    "workers.adam.start_timeout: expected a duration" },
	};
	const char *dir = e2e_workspace("r");
	const char *before = e2e_read(config_of(dir));

	for (size_t i = 0; i < nitems(cases); i++) {
		const char *const args[] = { "config", "set", cases[i].key,
			cases[i].typed, "--json", NULL };
		struct e2e_run *run = e2e_llmc(
		    dir, "config", "set", cases[i].key, cases[i].typed, NULL);

		e2e_expect(run, 1, cases[i].allowed);
		ck_assert_str_eq(run->out, "");
		e2e_json_error(
		    e2e_llmcv(dir, args), 1, "bad_value", cases[i].key);
		ck_assert_str_eq(e2e_read(config_of(dir)), before);
	}
}

TEST(unknown_keys_name_the_nearest)
{
	static const struct {
		const char *key, *words;
	} cases[] = {
		{ "auto.max_atempts", "did you mean \"auto.max_attempts\"?" },
		{ "default.model", "did you mean \"defaults.model\"?" },
		{ "workers.adam.modle",
		    "did you mean \"workers.adam.model\"?" },
		{ "workers.Adam.model", "not a valid name for a worker" },
		{ "workers..model", "not a valid name for a worker" },
		{ "workers.adam", "workers.adam: no such setting" },
		{ "tmux", "tmux: no such setting" },
		{ "", ": no such setting" },
		{ "nothing.like.it", "no such setting" },
		{ "repo.default_branch.x", "no such setting" },
	};
	static const char *const verbs[] = { "get", "set", "unset" };
	const char *dir = e2e_workspace("r");
	const char *before = e2e_read(config_of(dir));

	for (size_t i = 0; i < nitems(cases); i++)
		for (size_t v = 0; v < nitems(verbs); v++) {
			const char *const args[] = { "config", verbs[v],
				cases[i].key,
				strcmp(verbs[v], "set") == 0 ? "x" : NULL,
				NULL };

			e2e_expect(e2e_llmcv(dir, args), 1, cases[i].words);
		}
	e2e_json_error(
	    e2e_llmc(dir, "--json", "config", "get", "auto.max_atempts", NULL),
	    1, "no_such_key", "auto.max_attempts");
	ck_assert_str_eq(e2e_read(config_of(dir)), before);
}

TEST(wrong_files_are_told_by_line)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "\n[auto]\nmax_turns = \"x\"\n",
		    ":3: auto.max_turns: expected a whole number from 1 to 1000, "
		    "found a string \"x\"" },
		{ "[auto]\nmax_turns = 4.0\n", ":2: auto.max_turns: expected" },
		{ "[auto]\nmax_turns = true\n", "found a boolean true" },
		{ "[auto]\nmax_turns = [1]\n", "found an array" },
		{ "[auto.max_turns]\nx = 1\n", ":1: auto.max_turns: expected" },
		{ "[auto]\nmax_turns = 1979-05-27\n",
		    ":2: auto.max_turns: expected" },
		{ "[auto]\nmax_turns = nan\n", ":2: auto.max_turns: expected" },
		{ "[auto]\nmax_turns = 0\n", "found an integer 0" },
		{ "[tmux]\ncommand = 3\n",
		    ":2: tmux.command: expected a string, found an integer" },
		{ "[repo]\nworktree_dir = 3\n",
		    ":2: repo.worktree_dir: expected a path" },
		{ "[defaults]\npermission_mode = \"x\"\n",
		    ":2: defaults.permission_mode: expected one of" },
		{ "[defaults]\nallowed_tools = \"x\"\n",
		    ":2: defaults.allowed_tools: expected a list" },
		{ "[defaults]\nallowed_tools = [\"a\\u0000\"]\n",
		    ":2: defaults.allowed_tools: expected a list" },
		{ "[defaults]\nstart_timeout = \"2h\"\n",
		    ":2: defaults.start_timeout: expected a duration" },
		{ "[defaults]\nstart_timeout = -1\n", ":2: defaults.start" },
		{ "[defaults]\nstart_timeout = inf\n", ":2: defaults.start" },
		{ "[workers.adam]\nstart_timeout = 0\n",
		    ":2: workers.adam.start_timeout: expected a duration" },
		{ "[workers.Adam]\nmodel = \"x\"\n",
		    ":1: workers.Adam: not a valid name" },
		{ "[workers.\"a.b\"]\nmodel = \"x\"\n",
		    ":1: workers.\"a.b\": not a valid name" },
		{ "auto = 3\n", ":1: auto: expected a table, found an int" },
		{ "[[auto]]\nmax_turns = 3\n", ":1: auto: expected a table" },
		{ "workers = 1\n", ":1: workers: expected a table" },
		{ "workers.adam = 1\n", ":1: workers.adam: expected a table" },
		{ "[auto]\nmax_turns =\n", ":2: expected a value" },
		{ "[tmux\n", ":1: " },
		{ "a = 1\na = 2\n", ":2: " },
		{ "x = \"\xff\"\n", ":1: " },
	};
	const char *dir = e2e_workspace("r");

	for (size_t i = 0; i < nitems(cases); i++) {
		struct e2e_run *run;

		e2e_write(config_of(dir), cases[i].text);
		run = e2e_llmc(dir, "config", "list", NULL);
		e2e_expect(run, 1, e2e_path("%s:", config_of(dir)));
		e2e_has(run->err, cases[i].words);
		e2e_lacks(run->err, ": line ");
		ck_assert_str_eq(run->out, "");
		e2e_json_error(e2e_llmc(dir, "--json", "config", "get",
				   "auto.max_turns", NULL),
		    1, "bad_config", cases[i].words);
	}
}

TEST(unknown_keys_in_the_file_are_warnings)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "[auto]\nmax_turn = 3\n",
		    ":2: warning: auto.max_turn: no such setting; did you mean "
		    "\"auto.max_turns\"?" },
		{ "[workers.adam]\nmodle = \"x\"\n",
		    ":2: warning: workers.adam.modle: no such setting; did "
		    "you mean \"workers.adam.model\"?" },
		{ "[tmus]\nmax_turns = 3\n",
		    ":1: warning: tmus: no such setting" },
		{ "\"auto.max_turns\" = 3\n",
		    ":1: warning: \"auto.max_turns\": no" },
		{ "[workers]\nadam.\"x.y\" = 3\n", ":2: warning: workers." },
		{ "\"a\\u001b[31m\\nb\" = 1\n", ":1: warning: \"a\\u001b[31m" },
	};
	const char *dir = e2e_workspace("r");

	for (size_t i = 0; i < nitems(cases); i++) {
		struct e2e_run *run;

		e2e_write(config_of(dir), cases[i].text);
		run = e2e_llmc(dir, "config", "get", "auto.max_turns", NULL);
		e2e_expect(
		    run, 0, e2e_path("%s%s", config_of(dir), cases[i].words));
		ck_assert_str_eq(run->out, "10\n");
		ck_assert_ptr_eq(
		    strchr(run->err, '\n'), strrchr(run->err, '\n'));
		/* One JSON value and nothing else. */
		e2e_json(e2e_llmc(dir, "--json", "config", "list", NULL), 0);
	}
}

TEST(set_can_mend_the_very_key_that_is_wrong)
{
	const char *dir = e2e_workspace("r");

	/* Errors elsewhere are reported, but do not prevent the change. */
	e2e_write(config_of(dir), "[auto]\nmax_turns = 0\nmax_attempts = 9\n");
	e2e_expect(
	    e2e_llmc(dir, "config", "set", "auto.max_attempts", "99", NULL), 1,
	    "config.toml:2: auto.max_turns: ");
	ck_assert_str_eq(e2e_read(config_of(dir)),
	    "[auto]\nmax_turns = 0\nmax_attempts = 99\n");
	e2e_expect(e2e_llmc(dir, "config", "set", "auto.max_turns", "41", NULL),
	    0, NULL);
	ck_assert_str_eq(e2e_read(config_of(dir)),
	    "[auto]\nmax_turns = 41\nmax_attempts = 99\n");
	e2e_write(config_of(dir), "[auto]\nmax_turns = \n");
	e2e_expect(
	    e2e_llmc(dir, "config", "set", "auto.max_attempts", "98", NULL), 1,
	    "config.toml:2: expected a value");
	e2e_write(config_of(dir), "auto = 3\n");
	e2e_expect(
	    e2e_llmc(dir, "config", "set", "auto.max_attempts", "98", NULL), 1,
	    "config.toml: 'auto' is an integer on line 1");
	ck_assert_str_eq(e2e_read(config_of(dir)), "auto = 3\n");
}

TEST(verbs_are_checked)
{
	const char *dir = e2e_workspace("r");

	e2e_expect(
	    e2e_llmc(dir, "config", "lsit", NULL), 2, "did you mean \"list\"?");
	e2e_expect(e2e_llmc(dir, "config", "frobnicate", NULL), 2,
	    "usage: llmc config");
	e2e_expect(
	    e2e_llmc(dir, "config", "get", NULL), 2, "llmc config get KEY");
	e2e_expect(
	    e2e_llmc(dir, "config", "set", "a", NULL), 2, "set KEY VALUE");
	e2e_expect(e2e_llmc(dir, "config", "set", "a", "b", "c", NULL), 2,
	    "c: unexpected argument");
	e2e_expect(
	    e2e_llmc(dir, "config", "list", "x", NULL), 2, "llmc config list");
	e2e_expect(e2e_llmc(dir, "config", "doc", "--format", "x", NULL), 2,
	    "use toml or mdoc");
	e2e_expect(e2e_llmc(dir, "config", "doc", "--format", NULL), 2,
	    "--format needs a value");
	e2e_expect(
	    e2e_llmc(dir, "config", "set", "defaults.model", "--", "-x", NULL),
	    0, NULL);
	ck_assert_str_eq(
	    e2e_llmc(dir, "config", "get", "defaults.model", NULL)->out,
	    "-x\n");
}

TEST(file_that_cannot_be_read_is_told)
{
	const char *dir = e2e_workspace("r");

	ck_assert_int_eq(unlink(config_of(dir)), 0);
	ck_assert_int_eq(mkdir(config_of(dir), 0700), 0);
	e2e_expect(e2e_llmc(dir, "config", "list", NULL), 1,
	    "config.toml: it is a folder; move it away");
	e2e_expect(e2e_llmc(dir, "config", "set", "auto.max_turns", "50", NULL),
	    1, "config.toml: it is a folder; move it away");
	e2e_json_error(e2e_llmc(dir, "--json", "config", "list", NULL), 1, "io",
	    "it is a folder; move it away");
	ck_assert_int_eq(rmdir(config_of(dir)), 0);
	e2e_expect(e2e_llmc(dir, "config", "list", NULL), 1, "llmc init");
	e2e_expect(e2e_llmc(dir, "config", "set", "auto.max_turns", "50", NULL),
	    1, "llmc init");
}

TEST(file_in_a_readonly_folder_is_told)
{
	const char *dir = e2e_workspace("r"), *why = enclave_obey_modes();
	struct e2e_run *run;

	if (why != NULL)
		unit_skip(why);
	ck_assert_int_eq(chmod(e2e_path("%s/.llmc", dir), 0500), 0);
	run = e2e_llmc(dir, "config", "set", "auto.max_turns", "50", NULL);
	e2e_expect(run, 1, "Permission denied");
	ck_assert_str_eq(
	    e2e_llmc(dir, "config", "get", "auto.max_turns", NULL)->out,
	    "10\n");
}

TEST(lock_that_cannot_be_made_is_told)
{
	const char *dir = e2e_workspace("r");
	const char *before = e2e_read(config_of(dir));

	unlink(e2e_path("%s/.llmc/config.lock", dir));
	ck_assert_int_eq(mkdir(e2e_path("%s/.llmc/config.lock", dir), 0700), 0);
	e2e_expect(e2e_llmc(dir, "config", "set", "auto.max_turns", "50", NULL),
	    1, "config.lock");
	ck_assert_str_eq(e2e_read(config_of(dir)), before);
}
