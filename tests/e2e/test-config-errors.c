/* SPDX-License-Identifier: ISC */

/* What llmc config says about errors. Which values and files are wrong, and in
 * which words: test-settings.c, test-settings-value.c. */
#include "e2e.h"
#include "enclave.h"

static const char *
config_of(const char *dir)
{
	return e2e_path("%s/.llmc/config.toml", dir);
}

/* Of the running test. */
static const char *ws;

void
unit_before(void)
{
	ws = e2e_workspace("r");
}

TEST(set_refuses_what_the_table_forbids)
{
	static const struct {
		const char *key, *typed, *allowed;
	} cases[] = {
		{ "auto.max_turns", "0",
		    "a whole number from 1 to 1000, found 0" },
		{ "auto.max_turns", "40\n[auto]", "a whole number" },
		{ "defaults.allowed_tools", "[1]", "a list of strings" },
		{ "workers.adam.start_timeout", "2h",
		    "workers.adam.start_timeout: expected a duration" },
	};
	const char *before = e2e_read(config_of(ws));

	for (size_t i = 0; i < nitems(cases); i++) {
		const char *const args[] = { "config", "set", cases[i].key,
			cases[i].typed, "--json", NULL };
		struct e2e_run *run = e2e_llmc(
		    ws, "config", "set", cases[i].key, cases[i].typed, NULL);

		e2e_expect(run, 1, cases[i].allowed);
		ck_assert_str_eq(run->out, "");
		e2e_json_error(
		    e2e_llmcv(ws, args), 1, "bad_value", cases[i].key);
		ck_assert_str_eq(e2e_read(config_of(ws)), before);
	}
}

TEST(unknown_keys_name_the_nearest)
{
	static const struct {
		const char *key, *words;
	} cases[] = {
		{ "auto.max_atempts", "did you mean \"auto.max_attempts\"?" },
		{ "workers.Adam.model", "not a valid name for a worker" },
		{ "", ": no such setting" },
		{ "repo.default_branch.x", "no such setting" },
	};
	static const char *const verbs[] = { "get", "set", "unset" };
	const char *before = e2e_read(config_of(ws));

	for (size_t i = 0; i < nitems(cases); i++)
		for (size_t v = 0; v < nitems(verbs); v++) {
			const char *const args[] = { "config", verbs[v],
				cases[i].key,
				strcmp(verbs[v], "set") == 0 ? "x" : NULL,
				NULL };

			e2e_expect(e2e_llmcv(ws, args), 1, cases[i].words);
		}
	e2e_json_error(
	    e2e_llmc(ws, "--json", "config", "get", "auto.max_atempts", NULL),
	    1, "no_such_key", "auto.max_attempts");
	ck_assert_str_eq(e2e_read(config_of(ws)), before);
}

TEST(wrong_files_are_told_by_line)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "\n[auto]\nmax_turns = \"x\"\n",
		    ":3: auto.max_turns: expected a whole number from 1 to 1000, "
		    "found a string \"x\"" },
		{ "[workers.Adam]\nmodel = \"x\"\n",
		    ":1: workers.Adam: not a valid name" },
		{ "auto = 3\n", ":1: auto: expected a table, found an int" },
		{ "[auto]\nmax_turns =\n", ":2: expected a value" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		struct e2e_run *run;

		e2e_write(config_of(ws), cases[i].text);
		run = e2e_llmc(ws, "config", "list", NULL);
		e2e_expect(run, 1, e2e_path("%s:", config_of(ws)));
		e2e_has(run->err, cases[i].words);
		e2e_lacks(run->err, ": line ");
		ck_assert_str_eq(run->out, "");
		e2e_json_error(e2e_llmc(ws, "--json", "config", "get",
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
		{ "\"a\\u001b[31m\\nb\" = 1\n", ":1: warning: \"a\\u001b[31m" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		struct e2e_run *run;

		e2e_write(config_of(ws), cases[i].text);
		run = e2e_llmc(ws, "config", "get", "auto.max_turns", NULL);
		e2e_expect(
		    run, 0, e2e_path("%s%s", config_of(ws), cases[i].words));
		ck_assert_str_eq(run->out, "20\n");
		ck_assert_ptr_eq(
		    strchr(run->err, '\n'), strrchr(run->err, '\n'));
		/* One JSON value and nothing else. */
		e2e_json(e2e_llmc(ws, "--json", "config", "list", NULL), 0);
	}
}

TEST(set_repairs_the_very_key_that_is_wrong)
{
	/* Errors elsewhere are reported, but do not prevent the change. */
	e2e_write(config_of(ws), "[auto]\nmax_turns = 0\nmax_attempts = 9\n");
	e2e_expect(
	    e2e_llmc(ws, "config", "set", "auto.max_attempts", "99", NULL), 1,
	    "config.toml:2: auto.max_turns: ");
	ck_assert_str_eq(e2e_read(config_of(ws)),
	    "[auto]\nmax_turns = 0\nmax_attempts = 99\n");
	/* There is no old value then. */
	e2e_has(
	    e2e_llmc(ws, "config", "set", "auto.max_turns", "41", NULL)->out,
	    "auto.max_turns is now 41.\n");
	ck_assert_str_eq(e2e_read(config_of(ws)),
	    "[auto]\nmax_turns = 41\nmax_attempts = 99\n");
	e2e_write(config_of(ws), "[auto]\nmax_turns = \n");
	e2e_expect(
	    e2e_llmc(ws, "config", "set", "auto.max_attempts", "98", NULL), 1,
	    "config.toml:2: expected a value");
	e2e_write(config_of(ws), "auto = 3\n");
	e2e_expect(
	    e2e_llmc(ws, "config", "set", "auto.max_attempts", "98", NULL), 1,
	    "config.toml: 'auto' is an integer on line 1");
	ck_assert_str_eq(e2e_read(config_of(ws)), "auto = 3\n");
}

/* Verbs that are wrong: test-task.c. */
TEST(doc_has_two_formats_and_a_value_may_look_like_an_option)
{
	e2e_expect(e2e_llmc(ws, "config", "doc", "--format", "x", NULL), 2,
	    "use toml or mdoc");
	e2e_expect(
	    e2e_llmc(ws, "config", "set", "defaults.model", "--", "-x", NULL),
	    0, NULL);
	ck_assert_str_eq(
	    e2e_llmc(ws, "config", "get", "defaults.model", NULL)->out, "-x\n");
}

TEST(file_that_cannot_be_read_is_told)
{
	ck_assert_int_eq(unlink(config_of(ws)), 0);
	ck_assert_int_eq(mkdir(config_of(ws), 0700), 0);
	e2e_expect(e2e_llmc(ws, "config", "list", NULL), 1,
	    "config.toml: it is a folder; move it away");
	e2e_expect(e2e_llmc(ws, "config", "set", "auto.max_turns", "50", NULL),
	    1, "config.toml: it is a folder; move it away");
	e2e_json_error(e2e_llmc(ws, "--json", "config", "list", NULL), 1, "io",
	    "it is a folder; move it away");
	ck_assert_int_eq(rmdir(config_of(ws)), 0);
	e2e_expect(e2e_llmc(ws, "config", "list", NULL), 1, "llmc init");
	e2e_expect(e2e_llmc(ws, "config", "set", "auto.max_turns", "50", NULL),
	    1, "llmc init");
}

TEST(file_in_a_readonly_folder_is_told)
{
	const char *why = enclave_obey_modes();
	struct e2e_run *run;

	if (why != NULL)
		unit_skip(why);
	ck_assert_int_eq(chmod(e2e_path("%s/.llmc", ws), 0500), 0);
	run = e2e_llmc(ws, "config", "set", "auto.max_turns", "50", NULL);
	e2e_expect(run, 1, "Permission denied");
	ck_assert_str_eq(
	    e2e_llmc(ws, "config", "get", "auto.max_turns", NULL)->out, "20\n");
}

TEST(lock_that_cannot_be_made_is_told)
{
	const char *before = e2e_read(config_of(ws));

	unlink(e2e_path("%s/.llmc/config.lock", ws));
	ck_assert_int_eq(mkdir(e2e_path("%s/.llmc/config.lock", ws), 0700), 0);
	e2e_expect(e2e_llmc(ws, "config", "set", "auto.max_turns", "50", NULL),
	    1, "config.lock");
	ck_assert_str_eq(e2e_read(config_of(ws)), before);
}
