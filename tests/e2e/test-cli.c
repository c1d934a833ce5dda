/* SPDX-License-Identifier: ISC */

#include "api.h"
#include "e2e.h"
#include "json-schema.h"
#include "version.h"

/* The names of all commands, NULL terminated. */
static const char *const *
commands(void)
{
	static const char *names[128];
	struct json_object *json =
	    e2e_json(e2e_llmc(NULL, "--json", "help", NULL), 0);
	size_t count = json_object_array_length(json);

	ck_assert_uint_ge(count, 6);
	ck_assert_uint_lt(count, nitems(names));
	for (size_t i = 0; i < count; i++)
		names[i] = json_string_or(
		    json_object_array_get_idx(json, i), "name", "");
	names[count] = NULL;
	return names;
}

#define HELP_LINES   40
#define HELP_COLUMNS 80
#define LISTED_MAX   35

/* How many lines of a terminal it takes. */
static size_t
lines_of(const char *text)
{
	size_t count = 0;

	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		count += len == 0 ? 1 : (len + HELP_COLUMNS - 1) / HELP_COLUMNS;
		text += len + (text[len] == '\n');
	}
	return count;
}

/* Three ways, on one screen, with an example. */
TEST(every_command_has_help)
{
	const char *const *names = commands();

	for (size_t i = 0; names[i] != NULL; i++) {
		const char *const calls[][5] = { { "help", names[i] },
			{ names[i], "--help" }, { "--help", names[i] },
			{ names[i], "-h", "--", "x" } };
		const char *help = e2e_llmcv(NULL, calls[0])->out;

		for (size_t j = 0; j < nitems(calls); j++) {
			struct e2e_run *run = e2e_llmcv(NULL, calls[j]);

			e2e_expect(run, 0, NULL);
			ck_assert_str_eq(run->out, help);
		}
		e2e_has(help, e2e_path("usage: llmc %s", names[i]));
		e2e_has(help, "--root DIR");
		ck_assert_msg(lines_of(help) <= HELP_LINES, "%s has %zu lines",
		    names[i], lines_of(help));
		if (strstr(help, "(internal)") == NULL)
			e2e_has(help, e2e_path("\nExample: llmc %s", names[i]));
	}
}

TEST(help_lists_few_commands_in_groups)
{
	struct e2e_run *run = e2e_llmc(NULL, "help", NULL);
	const char *help = run->out, *at = strstr(help, "\nStart\n");
	const char *end = strstr(help, "\nOptions");
	size_t count = 0;

	e2e_expect(run, 0, NULL);
	e2e_has(help, "usage: llmc [OPTIONS] COMMAND");
	ck_assert_ptr_null(strchr(help, '\t'));
	ck_assert_str_eq(e2e_llmc(NULL, "--help", NULL)->out, help);
	ck_assert_str_eq(e2e_llmc(NULL, "-h", NULL)->out, help);
	ck_assert_ptr_nonnull(at);
	for (; (at = strstr(at, "\n  ")) != NULL && at < end; at++)
		count++;
	ck_assert_uint_gt(count, 20);
	ck_assert_uint_le(count, LISTED_MAX);
	e2e_has(help, "\n  init ");
	e2e_has(help, "\n  add ");
	e2e_has(help, "\n  peek ");
	e2e_has(help, "\n  wait ");
	e2e_has(help, "\nLand\n  review ");
}

TEST(other_names_do_the_same)
{
	static const struct {
		const char *other[4], *name[5];
	} cases[] = {
		{ { "work", "--help" }, { "goal", "node", "--help" } },
		{ { "--help", "work" }, { "help", "goal", "node" } },
		{ { "help", "tick" }, { "help", "goal", "tick" } },
		{ { "doctor", "schema", "work" },
		    { "doctor", "schema", "goal node" } },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		struct e2e_run *other = e2e_llmcv(NULL, cases[i].other);
		struct e2e_run *name = e2e_llmcv(NULL, cases[i].name);

		e2e_expect(other, 0, NULL);
		ck_assert_str_eq(other->out, name->out);
		ck_assert_str_eq(other->err, name->err);
	}
	e2e_lacks(e2e_llmc(NULL, "help", NULL)->out, "\n  work ");

	e2e_lacks(e2e_llmc(NULL, "completion", "words", "--", "", NULL)->out,
	    "\nplan\t");
}

TEST(options_may_stand_inside_a_name)
{
	static const struct {
		const char *args[8], *out;
	} cases[] = {
		{ { "goal", "--no-color", "node", "-h" }, "llmc goal node: " },
		{ { "goal", "--plan", "x", "plan", "-h" }, "llmc goal plan: " },
		{ { "goal", "-h", "--", "plan", "g1" }, "llmc goal plan: " },
		{ { "doctor", "--root", ".", "store", "-h" },
		    "llmc doctor store: " },
		{ { "report", "--root=.", "stats", "-h" },
		    "llmc report stats: " },
		{ { "log", "--worker", "x", "daemon", "-h" },
		    "llmc log daemon: " },
		{ { "log", "--worker", "daemon", "-h" }, "llmc log: " },
		{ { "--help", "accept", "w1" }, "llmc accept: " },
		{ { "--help", "goal", "plan", "draft", "g1" },
		    "llmc goal plan: " },
		{ { "help", "goal", "plan", "draft" }, "llmc goal plan: " },
		{ { "help", "work" }, "llmc goal node: " },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		struct e2e_run *run = e2e_llmcv(NULL, cases[i].args);

		e2e_expect(run, 0, NULL);
		ck_assert_msg(
		    strncmp(run->out, cases[i].out, strlen(cases[i].out)) == 0,
		    "%zu: %s", i, run->out);
	}
}

TEST(help_as_json_is_the_table)
{
	struct json_object *json =
	    e2e_json(e2e_llmc(NULL, "config", "--help", "--json", NULL), 0);
	struct json_object *one = json_object_array_get_idx(json, 0);

	ck_assert_uint_eq(json_object_array_length(json), 1);
	ck_assert_str_eq(json_string_or(one, "name", ""), "config");
	ck_assert(json_object_is_type(
	    json_object_object_get(one, "options"), json_type_array));
}

TEST(version_is_told_two_ways)
{
	struct e2e_run *run = e2e_llmc(NULL, "--version", NULL);
	struct json_object *json;

	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "llmc " LLMC_VERSION);
	ck_assert_str_eq(e2e_llmc(NULL, "version", NULL)->out, run->out);
	json = e2e_json(e2e_llmc(NULL, "--version", "--json", NULL), 0);
	ck_assert_str_eq(json_string_or(json, "version", ""), LLMC_VERSION);
	/* Of the commit that was built, in a repository. */
	if (e2e_exists(e2e_source(".git")))
		e2e_has(run->out,
		    e2e_path("(%s)", json_string_or(json, "commit", "?")));
	e2e_expect(e2e_llmc(NULL, "doctor", "--version", NULL), 2,
	    "--version must come before the command");
}

TEST(unknown_words_name_the_nearest)
{
	static const struct {
		const char *args[5], *words;
	} cases[] = {
		{ { "docter" },
		    "docter: no such command; did you mean "
		    "\"doctor\"?" },
		{ { "INIT" }, "did you mean \"init\"?" },
		{ { "help", "confg" }, "did you mean \"config\"?" },
		{ { "doctor", "schema", "confg" }, "did you mean \"config\"?" },
		{ { "doctor", "schema", "--api", "worker.stat" },
		    "worker.stat: no such method; did you mean "
		    "\"worker.start\"?" },
		{ { "doctor", "schema", "--api", "fly" },
		    "fly: no such method" },
		{ { "--help", "confg" }, "did you mean \"config\"?" },
		{ { "--jsno", "init" }, "did you mean --json?" },
		{ { "--rot=x", "init" }, "did you mean --root?" },
		{ { "init", "--verbos" }, "did you mean --verbose?" },
		{ { "config", "--fromat=x" }, "did you mean --format?" },
		{ { "frobnicate" }, "frobnicate: no such command" },
		{ { "-x" }, "-x: no such option" },
		{ { "init", "-x" }, "-x: no such option" },
		{ { "--json=1", "init" }, "did you mean --json?" },
		{ { "" }, ": no such command" },
		{ { "-" }, "-: no such option" },
		{ { NULL }, "a command is required; this folder is not" },
		{ { "init", "extra" }, "extra: unexpected argument" },
		{ { "version", "x" }, "x: unexpected argument" },
		{ { "doctor", "schma" }, "did you mean \"schema\"?" },
		{ { "log", "dameon" }, "did you mean \"daemon\"?" },
		{ { "doctor", "--", "schema" },
		    "type the options after it: llmc doctor schema" },
		{ { "help", "goal", "paln" }, "did you mean \"goal plan\"?" },
		{ { "two\nlines" }, "two\\x0alines: no such command\n" },
		{ { "\x1b[31m" }, "\\x1b[31m: no such command" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		struct e2e_run *run = e2e_llmcv(NULL, cases[i].args);

		e2e_expect(run, 2, cases[i].words);
		e2e_has(run->err, "usage: llmc ");
		ck_assert_str_eq(run->out, "");
		e2e_lacks(run->err, "\x1b");
	}
}

TEST(without_a_command_it_says_what_is_next)
{
	const char *fresh = e2e_repo("fresh"), *root = e2e_workspace("set up");
	static const char *const steps[][3] = {
		{ "config get", "tmux.socket", "\nNext: llmc task add " },
		{ "task add", "Count them.",
		    "\nNext: llmc up --auto --detach\n" },
	};

	e2e_expect(e2e_sh(e2e_dir("empty"), "git init -q"), 0, NULL);
	e2e_has(e2e_llmc(e2e_path("%s/empty", unit_scratch()), NULL)->out,
	    "\nNext: git commit ");
	e2e_has(e2e_llmc(fresh, NULL)->out, "\nNext: llmc init\n");
	for (size_t i = 0; i < nitems(steps); i++) {
		struct e2e_run *run = e2e_sh(root,
		    e2e_path("\"$LLMC\" %s '%s' >/dev/null && \"$LLMC\"",
			steps[i][0], steps[i][1]));

		e2e_expect(run, 0, NULL);
		e2e_has(run->out, steps[i][2]);
	}
	e2e_expect(e2e_sh(root, "echo 'x = [' >>.llmc/config.toml"), 0, NULL);
	e2e_has(e2e_llmc(root, NULL)->out, "\nNext: llmc doctor\n");
}

TEST(json_errors_are_one_value_on_standard_output)
{
	const char *plain = e2e_dir("plain");

	e2e_json_error(e2e_llmc(plain, "--json", NULL), 2, "usage",
	    "a command is required");
	e2e_json_error(e2e_llmc(plain, "--json", "docter", NULL), 2, "usage",
	    "did you mean");
	/* The mistake may come before the flag. */
	e2e_json_error(e2e_llmc(plain, "docter", "--json", NULL), 2, "usage",
	    "did you mean");
	e2e_json_error(e2e_llmc(plain, "--what", "--json", NULL), 2, "usage",
	    "no such option");
	e2e_json_error(e2e_llmc(plain, "init", "--root", "--json", NULL), 1,
	    "no_repository", "--json");
	e2e_json_error(e2e_llmc(plain, "init", "--json", NULL), 1,
	    "no_repository", "git init");
	e2e_json_error(e2e_llmc(plain, "--json", "bad\xff", NULL), 2, "usage",
	    "bad\xef\xbf\xbd: no such command");
	/* After "--" it is an argument. */
	e2e_expect(e2e_llmc(plain, "help", "--", "--json", NULL), 2,
	    "--json: no such command");
}

TEST(flags_stand_before_and_behind)
{
	const char *dir = e2e_workspace("r");
	const char *plain = e2e_dir("plain");
	const char *out;

	out = e2e_llmc(dir, "--json", "config", "get", "auto.max_turns", NULL)
		  ->out;
	ck_assert_str_eq(
	    e2e_llmc(dir, "config", "--json", "get", "auto.max_turns", NULL)
		->out,
	    out);
	ck_assert_str_eq(
	    e2e_llmc(dir, "config", "get", "auto.max_turns", "--json", NULL)
		->out,
	    out);
	ck_assert_str_eq(e2e_llmc(plain, "--root", dir, "config", "get",
			     "auto.max_turns", "--json", NULL)
			     ->out,
	    out);
	ck_assert_str_eq(e2e_llmc(plain, "config", "get", "--json",
			     e2e_path("--root=%s", dir), "auto.max_turns", NULL)
			     ->out,
	    out);
	e2e_expect(e2e_llmc(dir, "-v", "config", "get", "auto.max_turns", NULL),
	    0, "");
	e2e_expect(
	    e2e_llmc(dir, "config", "get", "auto.max_turns", "--verbose", NULL),
	    0, "");
}

TEST(colours_are_asked_for)
{
	const char *dir = e2e_workspace("r");
	static const char *const list[] = { "config", "list", NULL };
	static const char *const plain[] = { "--no-color", "config", "list",
		NULL };
	static const char *const json[] = { "--json", "config", "list", NULL };

	e2e_expect(e2e_llmc(dir, "config", "set", "auto.max_turns", "41", NULL),
	    0, NULL);
	e2e_lacks(e2e_llmcv(dir, list)->out, "\033");
	e2e_env("FORCE_COLOR=1");
	e2e_has(e2e_llmcv(dir, list)->out, "\033[");
	e2e_lacks(e2e_llmcv(dir, plain)->out, "\033");
	e2e_lacks(e2e_llmcv(dir, json)->out, "\033");
	e2e_env("NO_COLOR=1");
	e2e_lacks(e2e_llmcv(dir, list)->out, "\033");
	e2e_env("NO_COLOR=");
	e2e_has(e2e_llmcv(dir, list)->out, "\033[");
	e2e_env("FORCE_COLOR=0");
	e2e_lacks(e2e_llmcv(dir, list)->out, "\033");
	e2e_env("FORCE_COLOR=");
	e2e_lacks(e2e_llmcv(dir, list)->out, "\033");
}

/* On its own terminal, made by script(1). */
TEST(a_terminal_gets_colours_and_its_width)
{
	const char *dir = e2e_workspace("r");
	struct e2e_run *run;

	if (e2e_sh(dir, "script -qec true /dev/null")->status != 0)
		unit_skip("no script(1) that makes a terminal");
	e2e_expect(e2e_llmc(dir, "config", "set", "auto.max_turns", "41", NULL),
	    0, NULL);
	e2e_env("TERM=xterm");
	run = e2e_sh(dir, "script -qec '\"$LLMC\" config list' /dev/null");
	e2e_has(run->out, "\033[1m");
	run = e2e_sh(
	    dir, "script -qec 'stty cols 60; \"$LLMC\" config list' /dev/null");
	e2e_has(run->out, "\xe2\x80\xa6");
	e2e_env("TERM=dumb");
	run = e2e_sh(dir, "script -qec '\"$LLMC\" config list' /dev/null");
	e2e_lacks(run->out, "\033[");
}

TEST(a_reader_that_went_away_is_no_failure)
{
	/* A pipe whose reading end is certainly closed. */
	struct e2e_run *run = e2e_sh(NULL,
	    "mkfifo p && exec 3<>p 4>p 3<&- && \"$LLMC\" doctor schema >&4");

	e2e_expect(run, 0, NULL);
	run = e2e_sh(NULL, "exec 3<>p 4>p 3<&-; \"$LLMC\" nothing 2>&4");
	ck_assert_int_eq(run->status, 2);
	run = e2e_sh(NULL, "exec 3<>p 4>p 3<&-; \"$LLMC\" --json nothing >&4");
	ck_assert_int_eq(run->status, 2);
}

TEST(a_full_disk_is_a_failure)
{
	static const char *const calls[] = { "version", "help", "doctor schema",
		"config doc", "--json version", "--json doctor schema" };

	if (!e2e_exists("/dev/full"))
		unit_skip("there is no /dev/full");
	for (size_t i = 0; i < nitems(calls); i++) {
		struct e2e_run *run =
		    e2e_sh(NULL, e2e_path("\"$LLMC\" %s >/dev/full", calls[i]));

		e2e_expect(
		    run, 1, "llmc: standard output: No space left on device");
	}
	ck_assert_int_eq(
	    e2e_sh(NULL, "\"$LLMC\" nothing 2>/dev/full")->status, 2);
}

TEST(closed_standard_descriptors_do_no_harm)
{
	const char *dir = e2e_repo("r");
	struct e2e_run *run;

	run = e2e_sh(dir, "\"$LLMC\" init <&- >&- 2>&-");
	ck_assert_int_eq(run->status, 0);
	e2e_has(e2e_read(e2e_path("%s/.llmc/config.toml", dir)), "llmc config");
	e2e_lacks(e2e_read(e2e_path("%s/.llmc/config.toml", dir)), "Set up");
	e2e_has(e2e_read(e2e_path("%s/.git/info/exclude", dir)), "/.llmc\n");
	run =
	    e2e_sh(dir, "\"$LLMC\" config set auto.max_turns 41 <&- >&- 2>&-");
	ck_assert_int_eq(run->status, 0);
	run = e2e_sh(dir, "\"$LLMC\" config get auto.max_turns <&- 2>&-");
	ck_assert_str_eq(run->out, "41\n");
	run = e2e_sh(dir, "\"$LLMC\" config get auto.max_tuns <&- >&-");
	e2e_expect(run, 1, "auto.max_turns");
}

/* Is it refused outside any repository, with as many arguments as it needs? */
static bool
is_refused(const char *command)
{
	const char *args[8] = { command };
	struct e2e_run *run = e2e_llmcv(e2e_dir("plain"), args);

	for (size_t count = 1; run->status == 2 && count < 5; count++) {
		args[count] = "x";
		run = e2e_llmcv(e2e_dir("plain"), args);
	}
	return strstr(run->err, "a worker's session") != NULL;
}

TEST(some_commands_are_refused_inside_a_session)
{
	static const char refused[] =
	    "|init|add|doctor trust|up|restart|down|overseer|fleet|asks|answer|doctor channel|mail|"
	    "goal|goal node|goal tick|doctor store|web|report metrics|top|"
	    "why|pause|resume|stop|abort|nuke|accept|pick|landing revert|reset|"
	    "attach console|";
	const char *const *names = commands();

	e2e_env("LLMC_AGENT=1");
	for (size_t i = 0; names[i] != NULL; i++) {
		if (strstr(e2e_llmc(NULL, "help", names[i], NULL)->out,
			"(internal)") != NULL)
			continue; /* for programs, not for agents */
		ck_assert_msg(is_refused(names[i]) ==
			(strstr(refused, e2e_path("|%s|", names[i])) != NULL),
		    "%s", names[i]);
	}
}

TEST(own_name_does_not_matter)
{
	const char *dir = e2e_workspace("r");
	const char *names[] = { unit_path("--json"), unit_path("a b\n'c"),
		unit_path("x=y") };

	for (size_t i = 0; i < nitems(names); i++) {
		struct e2e_run *run;

		ck_assert_int_eq(symlink(e2e_llmc_path(), names[i]), 0);
		e2e_env(e2e_path("LINK=%s", names[i]));
		run = e2e_sh(dir, "\"$LINK\" version");
		e2e_expect(run, 0, NULL);
		e2e_has(run->out, "llmc " LLMC_VERSION);
		run = e2e_sh(dir, "\"$LINK\" nothing");
		e2e_expect(
		    run, 2, "llmc: nothing: no such command\nusage: llmc ");
		/* The other programs are searched where llmc really is. */
		run = e2e_sh(dir, "\"$LINK\" --json doctor");
		e2e_has(run->out, "\"autod\",\n      \"status\": \"ok\"");
	}
}

/* From a directory that has been removed. */
TEST(a_directory_that_is_gone_is_told)
{
	struct e2e_run *run =
	    e2e_sh(NULL, "mkdir d && cd d && rmdir ../d && \"$LLMC\" init");

	e2e_expect(run, 1, "No such file or directory");
	run = e2e_sh(NULL, "mkdir d && cd d && rmdir ../d && \"$LLMC\" help");
	e2e_expect(run, 0, NULL);
}

/* e2e_json() compares what a command prints with the schema of it. */
TEST(all_schemas_are_one_object)
{
	ck_assert(json_object_equal(
	    e2e_json(e2e_llmc(NULL, "doctor", "schema", NULL), 0),
	    e2e_json(e2e_llmc(NULL, "--json", "doctor", "schema", NULL), 0)));
}

TEST(every_command_has_a_schema)
{
	struct json_object *schemas =
	    e2e_json(e2e_llmc(NULL, "doctor", "schema", NULL), 0);
	const char *const *names = commands();

	for (size_t i = 0; names[i] != NULL; i++) {
		struct json_object *one = e2e_json(
		    e2e_llmc(NULL, "doctor", "schema", names[i], NULL), 0);

		ck_assert(json_object_equal(
		    one, json_object_object_get(schemas, names[i])));
		e2e_has(json_string_or(one, "$schema", ""), "2020-12");
	}
}

static void
assert_callers(struct json_object *callers, const struct api_method *m)
{
	size_t count = 0;

	for (size_t i = 0; api_caller_words[i] != NULL; i++)
		if (m->callers & (1u << i))
			ck_assert_str_eq(
			    json_object_get_string(
				json_object_array_get_idx(callers, count++)),
			    api_caller_words[i]);
	ck_assert_uint_eq(json_object_array_length(callers), count);
}

TEST(every_method_is_described)
{
	struct json_object *methods =
	    e2e_json(e2e_llmc(NULL, "doctor", "schema", "--api", NULL), 0);

	for (const struct api_method *m = api_methods; m->name != NULL; m++) {
		struct json_object *one = e2e_json(
		    e2e_llmc(NULL, "doctor", "schema", "--api", m->name, NULL),
		    0);

		ck_assert(json_object_equal(
		    one, json_object_object_get(methods, m->name)));
		ck_assert_str_eq(json_string_or(one, "help", ""), m->help);
		ck_assert_int_eq(json_bool_or(one, "oneshot", false),
		    (m->flags & API_ONESHOT) != 0);
		assert_callers(json_object_object_get(one, "callers"), m);
		ck_assert_int_eq(json_bool_or(one, "stream", false),
		    (m->flags & API_STREAM) != 0);
	}
	methods = json_object_object_get(methods, "task.drop");
	ck_assert_str_eq(json_object_to_json_string_ext(
			     json_object_object_get(methods, "errors"),
			     JSON_C_TO_STRING_PLAIN),
	    "{\"no_such_task\":-32002,\"busy\":-32001,"
	    "\"wrong_status\":-32003,\"failed\":-32000}");
	ck_assert_ptr_nonnull(json_object_object_get(
	    json_object_object_get(methods, "params"), "properties"));
	ck_assert_ptr_nonnull(json_object_object_get(
	    json_object_object_get(methods, "result"), "properties"));
}

/* The checker itself must be able to fail. */
TEST(schema_checker_says_no)
{
	static const struct {
		const char *schema, *value, *why;
	} cases[] = {
		{ "{\"type\":\"object\"}", "[]", "type" },
		{ "{\"type\":[\"array\",\"null\"]}", "{}", "type" },
		{ "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1}",
		    "a: does not match \"type\"" },
		{ "{\"required\":[\"a\"]}", "{}", "required" },
		{ "{\"additionalProperties\":false}", "{\"a\":1}",
		    "additionalProperties" },
		{ "{\"additionalProperties\":{\"type\":\"null\"}}", "{\"a\":1}",
		    "a: " },
		{ "{\"items\":{\"enum\":[\"x\"]}}", "[\"x\",\"y\"]", "[1]: " },
		{ "{\"items\":{\"minimum\":3}}", "[2]", "minimum" },
		{ "{\"maxItems\":1}", "[1,2]", "maxItems" },
		{ "{\"unheard\":1}", "{}", "unheard" },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_json struct json_object *schema =
		    json_tokener_parse(cases[i].schema);
		cleanup_json struct json_object *value =
		    json_tokener_parse(cases[i].value);
		cleanup_buf struct buf why = BUF_INIT;

		ck_assert(!schema_matches(schema, value, "", &why));
		e2e_has(why.data, cases[i].why);
	}
}
