/* SPDX-License-Identifier: ISC */

#include "e2e.h"
#include "settings.h"
#include "json-short.h"

/* Of the running test. */
static const char *ws;

void
unit_before(void)
{
	ws = e2e_workspace("r");
}

static const char *
config_of(const char *dir)
{
	return e2e_path("%s/.llmc/config.toml", dir);
}

static const char *
get(const char *dir, const char *key)
{
	struct e2e_run *run = e2e_llmc(dir, "config", "get", key, NULL);
	size_t len = strlen(run->out);

	e2e_expect(run, 0, NULL);
	ck_assert_uint_gt(len, 0);
	return e2e_path("%.*s", (int)(len - 1), run->out);
}

static void
set(const char *dir, const char *key, const char *value)
{
	struct e2e_run *run = e2e_llmc(dir, "config", "set", key, value, NULL);

	e2e_expect(run, 0, NULL);
	e2e_has(run->out, e2e_path("%s is now ", key));
}

static void
unset(const char *key)
{
	e2e_expect(e2e_llmc(ws, "config", "unset", key, NULL), 0, NULL);
}

/* The row of a key in the array that `config list --json` prints. */
static struct json_object *
row_of(struct json_object *list, const char *key)
{
	JSON_EACH (row, list)
		if (strcmp(json_string_or(row, "key", ""), key) == 0)
			return row;
	return NULL;
}

static struct json_object *
list(const char *dir)
{
	return e2e_json(e2e_llmc(dir, "--json", "config", "list", NULL), 0);
}

TEST(list_shows_every_key_and_where_it_is_from)
{
	struct json_object *rows, *row;
	const char *text;

	e2e_write(config_of(ws),
	    "[auto]\nmax_attempts = 99\n\n[workers.adam]\nmodel = \"opus\"\n");
	rows = list(ws);
	text = e2e_llmc(ws, "config", "list", NULL)->out;
	for (size_t i = 0; i < settings_table_count; i++) {
		ck_assert_ptr_nonnull(row_of(rows, settings_table[i].path));
		e2e_has(text, settings_table[i].path);
	}
	ck_assert_uint_eq(
	    json_object_array_length(rows), settings_table_count + 1);
	row = row_of(rows, "auto.max_attempts");
	ck_assert_int_eq(json_int_or(row, "value", 0), 99);
	ck_assert_str_eq(json_string_or(row, "source", ""), "file");
	ck_assert_int_eq(json_int_or(row, "line", 0), 2);
	row = row_of(rows, "auto.max_turns");
	ck_assert_str_eq(json_string_or(row, "source", ""), "default");
	ck_assert_int_eq(json_int_or(row, "line", -1), -1);
	ck_assert_str_eq(
	    json_string_or(row_of(rows, "tmux.socket"), "source", ""),
	    "derived");
	row = row_of(rows, "workers.adam.model");
	ck_assert_str_eq(json_string_or(row, "value", ""), "opus");
	ck_assert_int_eq(json_int_or(row, "line", 0), 5);
	e2e_has(text, "file line 2");
}

TEST(get_prints_the_bare_value)
{
	struct json_object *json;

	ck_assert_str_eq(get(ws, "auto.max_attempts"), "3");
	ck_assert_str_eq(get(ws, "tmux.command"), "tmux");
	ck_assert_str_eq(get(ws, "defaults.allowed_tools"), "[]");
	ck_assert_str_eq(get(ws, "defaults.start_timeout"), "1m");
	ck_assert_str_eq(get(ws, "repo.default_branch"), "main");
	ck_assert_str_eq(get(ws, "workers.adam.agent_command"), "claude");
	json = e2e_json(
	    e2e_llmc(ws, "config", "get", "auto.max_attempts", "--json", NULL),
	    0);
	ck_assert_str_eq(json_string_or(json, "key", ""), "auto.max_attempts");
	ck_assert_int_eq(json_int_or(json, "value", 0), 3);
}

TEST(set_takes_every_type)
{
	static const struct {
		const char *key, *typed, *shown, *line;
	} cases[] = {
		{ "repo.default_branch", "next", "next",
		    "default_branch = \"next\"" },
		{ "repo.worktree_dir", "~/trees", NULL,
		    "worktree_dir = \"~/trees\"" },
		{ "defaults.allowed_tools", "[\"Bash(ls *)\", \"Read\"]",
		    "[\"Bash(ls *)\",\"Read\"]",
		    "allowed_tools = [\"Bash(ls *)\", \"Read\"]" },
		{ "defaults.start_timeout", "500ms", "500ms",
		    "start_timeout = \"500ms\"" },
		{ "defaults.model", "say \"hi\"\\\n\tthen stop", NULL,
		    "model = \"say \\\"hi\\\"\\\\\\n\\tthen stop\"" },
	};
	const char *home = getenv("HOME");

	for (size_t i = 0; i < nitems(cases); i++) {
		set(ws, cases[i].key, cases[i].typed);
		if (cases[i].shown != NULL)
			ck_assert_str_eq(get(ws, cases[i].key), cases[i].shown);
		e2e_has(
		    e2e_read(config_of(ws)), e2e_path("\n%s\n", cases[i].line));
	}
	/* "~" stays in the file and is expanded when the value is read. */
	ck_assert_str_eq(
	    get(ws, "repo.worktree_dir"), e2e_path("%s/trees", home));
}

/* Who changes a setting sees what it was, and whether that is all to do. */
TEST(set_says_what_was_there_and_whether_to_restart)
{
	struct json_object *json;
	struct e2e_run *run;

	run = e2e_llmc(ws, "config", "set", "auto.max_attempts", "99", NULL);
	e2e_has(run->out, "auto.max_attempts is now 99 (was 3).\n");
	e2e_has(run->out, "No daemon is running");
	run = e2e_llmc(ws, "config", "unset", "auto.max_attempts", NULL);
	e2e_has(
	    run->out, "auto.max_attempts is now 3, its default (was 99).\n");
	json = e2e_json(e2e_llmc(ws, "--json", "config", "set",
			    "auto.max_attempts", "80", NULL),
	    0);
	ck_assert_int_eq(json_int_or(json, "before", 0), 3);
	ck_assert_int_eq(json_int_or(json, "value", 0), 80);
	ck_assert(!json_bool_or(json, "restart", true));
}

TEST(doc_describes_one_key)
{
	struct json_object *json;
	const char *text =
	    e2e_llmc(ws, "config", "doc", "auto.max_attempts", NULL)->out;

	e2e_has(text, "[auto]\n# ");
	e2e_has(text, "from 1 to 100");
	e2e_has(text, "\nmax_attempts = 3\n");
	e2e_lacks(text, "rows");
	e2e_has(e2e_llmc(ws, "config", "doc", "workers.adam.model", NULL)->out,
	    "[workers.adam]\n");
	json = e2e_json(
	    e2e_llmc(ws, "--json", "config", "doc", "auto.max_attempts", NULL),
	    0);
	ck_assert_uint_eq(json_object_array_length(json), 1);
	e2e_expect(e2e_llmc(ws, "config", "doc", "auto.max_atempts", NULL), 1,
	    "did you mean \"auto.max_attempts\"?");
}

/* The word that only looks need not be typed. */
TEST(without_a_verb_things_are_listed)
{
	static const char *const commands[] = { "config", "task", "goal agents",
		"goal", "goal node" };

	set(ws, "plan.enabled", "true");
	for (size_t i = 0; i < nitems(commands); i++) {
		struct e2e_run *bare = e2e_llmc(ws, commands[i], NULL);

		e2e_expect(bare, 0, NULL);
		ck_assert_str_eq(
		    bare->out, e2e_llmc(ws, commands[i], "list", NULL)->out);
	}
	e2e_expect(e2e_llmc(ws, "task", "--all", NULL), 0, NULL);
}

/* How a file is changed: test-toml-edit.c. */
TEST(set_keeps_comments_and_order)
{
	static const char before[] =
	    "# top\n\n[auto] # screens\nmax_attempts   =  100 # not too wide\n"
	    "\n# who\n[defaults]\nmodel = 'opus'\n# end, without a newline";

	e2e_write(config_of(ws), before);
	set(ws, "auto.max_attempts", "90");
	set(ws, "auto.max_turns", "50");
	unset("defaults.model");
	ck_assert_str_eq(e2e_read(config_of(ws)),
	    "# top\n\n[auto] # screens\nmax_attempts   =  90 # not too wide\n"
	    "max_turns = 50\n\n# who\n[defaults]\n# end, without a newline");
}

TEST(unset_brings_the_default_back)
{
	const char *start = e2e_read(config_of(ws));
	struct json_object *json;

	set(ws, "auto.max_turns", "50");
	json = e2e_json(
	    e2e_llmc(ws, "--json", "config", "unset", "auto.max_turns", NULL),
	    0);
	ck_assert_int_eq(json_int_or(json, "value", 0), 20);
	ck_assert_str_eq(json_string_or(json, "source", ""), "default");
	e2e_has(e2e_read(config_of(ws)), start);
	e2e_expect(e2e_llmc(ws, "config", "unset", "auto.max_turns", NULL), 1,
	    "auto.max_turns is not set in config.toml");
	e2e_json_error(
	    e2e_llmc(ws, "--json", "config", "unset", "auto.max_turns", NULL),
	    1, "not_set", "auto.max_turns");
}

TEST(unset_removes_another_name)
{
	const char *start = e2e_read(config_of(ws));

	e2e_write(config_of(ws),
	    e2e_path("%s\n[overseer]\nenabled = false\n", start));
	e2e_has(e2e_llmc(ws, "config", "unset", "overseer.enabled", NULL)->out,
	    "plan.enabled is now true, its default (was false).\n");
}

TEST(worker_keys_stand_over_the_defaults)
{
	set(ws, "defaults.model", "sonnet");
	set(ws, "workers.adam-1.model", "opus");
	set(ws, "workers.adam-1.extra_args", "[\"-x\"]");
	ck_assert_str_eq(get(ws, "workers.adam-1.model"), "opus");
	ck_assert_str_eq(get(ws, "workers.adam-1.extra_args"), "[\"-x\"]");
	ck_assert_str_eq(get(ws, "workers.eve.model"), "sonnet");
	ck_assert_str_eq(get(ws, "defaults.model"), "sonnet");
	e2e_has(e2e_read(config_of(ws)),
	    "[workers.adam-1]\nmodel = \"opus\"\nextra_args = [\"-x\"]\n");
	unset("workers.adam-1.model");
	ck_assert_str_eq(get(ws, "workers.adam-1.model"), "sonnet");
}

TEST(default_branch_is_that_of_origin)
{
	const char *origin = e2e_repo("origin");
	const char *dir = unit_path("clone");

	e2e_git(NULL, "clone", "-q", origin, dir, NULL);
	e2e_git(dir, "checkout", "-q", "-b", "topic", NULL);
	e2e_expect(e2e_llmc(dir, "init", NULL), 0, NULL);
	ck_assert_str_eq(get(dir, "repo.default_branch"), "main");
	e2e_expect(
	    e2e_llmc(dir, "config", "unset", "repo.default_branch", NULL), 0,
	    NULL);
	ck_assert_str_eq(get(dir, "repo.default_branch"), "main");
	e2e_git(dir, "remote", "set-head", "origin", "--delete", NULL);
	ck_assert_str_eq(get(dir, "repo.default_branch"), "topic");
	set(dir, "repo.default_branch", "mine");
	ck_assert_str_eq(get(dir, "repo.default_branch"), "mine");
}

TEST(socket_is_stable_and_one_per_root)
{
	const char *a = e2e_workspace("a"), *b = e2e_workspace("b");
	const char *socket = get(a, "tmux.socket");

	e2e_has(socket, "llmc-");
	ck_assert_uint_eq(strlen(socket), strlen("llmc-") + 8);
	ck_assert_str_eq(get(a, "tmux.socket"), socket);
	ck_assert_str_eq(get(e2e_dir("a/below"), "tmux.socket"), socket);
	ck_assert_str_ne(get(b, "tmux.socket"), socket);
	ck_assert_int_eq(symlink(a, unit_path("link")), 0);
	ck_assert_str_eq(get(unit_path("link"), "tmux.socket"), socket);
}

TEST(sets_at_one_time_lose_nothing)
{
	static const struct {
		const char *key, *value;
	} sets[] = { { "auto.max_turns", "50" }, { "auto.max_attempts", "90" },
		{ "auto.check_slots", "7" }, { "tmux.command", "tmux-x" },
		{ "defaults.model", "opus" }, { "repo.branch_prefix", "w/" } };
	struct e2e_run *run;

	run = e2e_sh(ws,
	    "set_one() {\n"
	    "  until \"$LLMC\" config set $1 $2 2>err.$1 >/dev/null; do\n"
	    "    grep -q 'another llmc is changing .*; try again' err.$1 ||\n"
	    "      { cat err.$1; exit 1; }\n"
	    "  done\n"
	    "}\n"
	    "for s in auto.max_turns=50 auto.max_attempts=90 auto.check_slots=7 \\\n"
	    "    tmux.command=tmux-x defaults.model=opus \\\n"
	    "    repo.branch_prefix=w/; do\n"
	    "  set_one ${s%=*} ${s#*=} & p=\"$p $!\"\n"
	    "done\n"
	    "for i in $p; do wait $i || exit 1; done\n"
	    "rm -f err.*; ls -A .llmc | grep tmp; true");
	e2e_expect(run, 0, NULL);
	ck_assert_str_eq(run->out, "");
	for (size_t i = 0; i < nitems(sets); i++)
		ck_assert_str_eq(get(ws, sets[i].key), sets[i].value);
}

/* Whoever can write there would have us change any file of the user. */
TEST(linked_file_is_refused)
{
	const char *real = unit_path("real.toml");

	e2e_write(real, "[auto]\nmax_turns = 30\n");
	ck_assert_int_eq(unlink(config_of(ws)), 0);
	ck_assert_int_eq(symlink(real, config_of(ws)), 0);
	e2e_expect(e2e_llmc(ws, "config", "set", "auto.max_turns", "31", NULL),
	    1, "it is a symbolic link");
	ck_assert_str_eq(e2e_read(real), "[auto]\nmax_turns = 30\n");
}

TEST(agents_have_keys_of_their_own)
{
	set(ws, "agents.coder.model", "opus");
	set(ws, "agents.coder.tags", "[\"code\", \"fix\"]");
	ck_assert_str_eq(get(ws, "agents.coder.model"), "opus");
	ck_assert_str_eq(get(ws, "agents.coder.tools"), "[\"*\"]");
	ck_assert_ptr_nonnull(row_of(list(ws), "agents.coder.tags"));
	ck_assert_ptr_null(row_of(list(ws), "agents.coder.notes"));
	e2e_expect(e2e_llmc(ws, "config", "set", "agents.coder.cost_tier",
		       "huge", NULL),
	    1, "expected one of free, cheap");
	e2e_expect(
	    e2e_llmc(ws, "config", "set", "agents.Coder.model", "x", NULL), 1,
	    "not a valid name for an agent");
	unset("agents.coder.model");
	ck_assert_str_eq(get(ws, "agents.coder.model"), "");
}

TEST(agents_are_listed_and_suggested)
{
	struct json_object *json;

	e2e_expect(e2e_llmc(ws, "goal", "agents", "list", NULL), 0, NULL);
	e2e_write(config_of(ws),
	    "[agents.coder]\ntags = [\"code\"]\ncostTier = \"medium\"\n"
	    "[agents.writer]\ndescription = \"Release notes\"\n"
	    "cost_tier = \"cheap\"\n");
	e2e_has(
	    e2e_llmc(ws, "goal", "agents", "list", NULL)->out, "Release notes");
	json = e2e_json(e2e_llmc(ws, "--json", "goal", "agents", "suggest",
			    "the", "release", "notes", NULL),
	    0);
	ck_assert_str_eq(
	    json_string_or(json_object_array_get_idx(json, 0), "name", ""),
	    "writer");
	e2e_has(
	    e2e_llmc(ws, "goal", "agents", "suggest", "--tags", "code,x", NULL)
		->out,
	    "tags: code; cost: medium");
	e2e_expect(e2e_llmc(ws, "goal", "agents", "suggest", "code",
		       "--max-cost", "free", NULL),
	    0, NULL);
	e2e_expect(e2e_llmc(ws, "goal", "agents", "suggest", "x", "--max-cost",
		       "low", NULL),
	    2, "use free, cheap, medium or expensive");
	e2e_expect(e2e_llmc(ws, "goal", "agents", "suggest", NULL), 2, "TEXT");
}

TEST(doc_needs_no_repository_and_lists_every_key)
{
	const char *plain = e2e_dir("plain");
	struct e2e_run *toml = e2e_llmc(plain, "config", "doc", NULL);
	struct e2e_run *mdoc =
	    e2e_llmc(plain, "config", "doc", "--format=mdoc", NULL);
	struct json_object *json =
	    e2e_json(e2e_llmc(plain, "--json", "config", "doc", NULL), 0);

	e2e_expect(toml, 0, NULL);
	e2e_expect(mdoc, 0, NULL);
	ck_assert_uint_eq(json_object_array_length(json), settings_table_count);
	for (size_t i = 0; i < settings_table_count; i++) {
		const char *key = strrchr(settings_table[i].path, '.') + 1;

		e2e_has(toml->out, e2e_path("%s = ", key));
		e2e_has(mdoc->out, e2e_path(".It Ic %s\n", key));
		ck_assert_ptr_nonnull(row_of(json, settings_table[i].path));
	}
}

TEST(example_is_what_doc_prints)
{
	struct e2e_run *run = e2e_llmc(NULL, "config", "doc", NULL);

	ck_assert_str_eq(
	    e2e_read(e2e_source("examples/config.toml")), run->out);
}

/* Every key is in the example, and using the example changes nothing. */
TEST(example_holds_all_keys_with_their_defaults)
{
	struct json_object *defaults, *example;

	e2e_set(ws, "auto.check_command", NULL);
	defaults = list(ws);
	e2e_write(config_of(ws), e2e_read(e2e_source("examples/config.toml")));
	example = list(ws);
	ck_assert_uint_eq(json_object_array_length(example),
	    json_object_array_length(defaults));
	for (size_t i = 0; i < settings_table_count; i++) {
		const char *path = settings_table[i].path;
		struct json_object *row = row_of(example, path);

		ck_assert_ptr_nonnull(row);
		ck_assert(json_object_equal(
		    json_object_object_get(row, "value"),
		    json_object_object_get(row_of(defaults, path), "value")));
		ck_assert_str_eq(json_string_or(row, "source", ""),
		    settings_table[i].fallback != NULL ? "file" : "derived");
	}
	/* Derived keys are comments there. */
	e2e_has(e2e_read(config_of(ws)), "\n# socket = ");
	e2e_has(e2e_read(config_of(ws)), "\n# default_branch = ");
}
