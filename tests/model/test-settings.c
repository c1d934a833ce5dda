/* SPDX-License-Identifier: ISC */

#include "settings-world.h"

TEST(table_is_well_formed)
{
	for (size_t i = 0; i < settings_table_count; i++) {
		const struct setting *row = &settings_table[i];
		const char *dot = strchr(row->path, '.');

		ck_assert_msg(dot != NULL && strchr(dot + 1, '.') == NULL,
		    "%s: not section.key", row->path);
		ck_assert_uint_lt(row->type, SETTING_TYPE_COUNT);
		ck_assert_msg((row->fallback == NULL) == (row->derived != NULL),
		    "%s: one of fallback and derived", row->path);
		ck_assert_msg(row->type == SETTING_LIST ||
			(row->choices != NULL) == (row->type == SETTING_CHOICE),
		    "%s: choices", row->path);
		ck_assert_msg(row->min <= row->max, "%s: bounds", row->path);
		ck_assert_msg(row->help != NULL &&
			row->help[strlen(row->help) - 1] == '.',
		    "%s: help is no sentence", row->path);
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(settings_table[j].path, row->path);
		ck_assert_ptr_eq(settings_find(row->path, NULL), row);
	}
}

TEST(every_default_can_be_written)
{
	for (size_t i = 0; i < settings_table_count; i++) {
		const struct setting *row = &settings_table[i];
		cleanup_settings_world struct settings_world
		    none = settings_world_parse(""),
		    p = settings_world_parse(row->fallback != NULL ?
			    settings_world_one_key(row, row->fallback) :
			    "");

		ck_assert_uint_eq(none.problems.count, 0);
		ck_assert_uint_eq(p.problems.count, 0);
		ck_assert_str_eq(settings_world_value(p.settings, row->path),
		    settings_world_value(none.settings, row->path));
	}
}

TEST(derived_defaults_come_from_the_facts)
{
	struct settings_facts other = settings_world_facts;
	cleanup_settings_world struct settings_world p = settings_world_parse(
							 ""),
						     q, r;
	const char *socket = settings_string(p.settings, "tmux.socket");

	ck_assert_str_eq(
	    settings_string(p.settings, "repo.default_branch"), "trunk");
	ck_assert_uint_eq(strlen(socket), strlen("llmc-12345678"));
	ck_assert_int_eq(strncmp(socket, "llmc-", 5), 0);
	q = settings_world_parse("");
	ck_assert_str_eq(settings_string(q.settings, "tmux.socket"), socket);
	other.root = "/home/me/project2";
	other.default_branch = NULL;
	r.settings = settings_parse("", 0, &other, &r.problems);
	ck_assert_str_ne(settings_string(r.settings, "tmux.socket"), socket);
	ck_assert_str_eq(
	    settings_string(r.settings, "repo.default_branch"), "");
}

TEST(accessors_give_the_effective_value)
{
	cleanup_settings_world struct settings_world p = settings_world_parse(
	    "[repo]\nworktree_dir = \"~/trees\"\nupstream = \"push\"\n"
	    "[defaults]\nallowed_tools = [\"a b\", \"\"]\n"
	    "permission_mode = \"plan\"\n"
	    "[auto]\nmax_turns = 50\n");
	const char *const *items;

	ck_assert_uint_eq(p.problems.count, 0);
	ck_assert_str_eq(
	    settings_string(p.settings, "repo.worktree_dir"), "/home/me/trees");
	ck_assert_str_eq(settings_string(p.settings, "repo.upstream"), "push");
	ck_assert_int_eq(settings_int(p.settings, "auto.max_turns"), 50);
	ck_assert_str_eq(
	    settings_string(p.settings, "defaults.permission_mode"), "plan");
	ck_assert_uint_eq(
	    settings_list(p.settings, "defaults.allowed_tools", &items), 2);
	ck_assert_str_eq(items[0], "a b");
	ck_assert_str_eq(items[1], "");
	ck_assert_ptr_null(items[2]);
	ck_assert_uint_eq(
	    settings_list(p.settings, "defaults.extra_args", &items), 0);
	ck_assert_ptr_null(items[0]);
}

TEST(value_tells_its_line)
{
	cleanup_settings_world struct settings_world p =
	    settings_world_parse("\n[auto]\n\nmax_turns = 50\n");
	struct json_object *json = NULL;
	unsigned line = 99;

	ck_assert(settings_value(p.settings, "auto.max_turns", &json, &line));
	ck_assert_int_eq(json_object_get_int64(json), 50);
	ck_assert_uint_eq(line, 4);
	json_object_put(json);
	ck_assert(
	    settings_value(p.settings, "auto.max_attempts", &json, &line));
	ck_assert_uint_eq(line, 0);
	json_object_put(json);
	ck_assert(settings_value(p.settings, "workers.x.model", &json, &line));
	json_object_put(json);
	json = NULL;
	ck_assert(!settings_value(p.settings, "tmux.none", &json, &line));
	ck_assert(!settings_value(p.settings, "tmux", &json, &line));
	ck_assert(!settings_value(p.settings, "workers.x", &json, &line));
	ck_assert_ptr_null(json);
}

static void
assert_override_refused(struct settings *settings, const char *path,
    const char *typed, const char *words)
{
	const char *before = settings_world_value(settings, path);
	struct err err = { 0 };

	ck_assert_int_eq(
	    settings_override(settings, path, typed, &err), -EINVAL);
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_str_eq(err.msg, words);
	ck_assert_int_eq(
	    settings_override(settings, path, typed, NULL), -EINVAL);
	ck_assert_str_eq(settings_world_value(settings, path), before);
}

TEST(options_stand_over_the_file)
{
	cleanup_settings_world struct settings_world p = settings_world_parse(
	    "[auto]\nconcurrency = 2\ntask_pool_command = \"old\"\n");
	struct settings *s = p.settings;
	cleanup_json struct json_object *json = NULL;
	unsigned line = 99;

	ck_assert_uint_eq(p.problems.count, 0);
	ck_assert_int_eq(
	    settings_override(s, "auto.concurrency", "8", NULL), 0);
	ck_assert_int_eq(settings_int(s, "auto.concurrency"), 8);
	ck_assert(settings_value(s, "auto.concurrency", &json, &line));
	ck_assert_uint_eq(line, 0);
	ck_assert_int_eq(settings_override(s, "auto.task_pool_command",
			     "echo \"a\" | head\n", NULL),
	    0);
	ck_assert_str_eq(settings_string(s, "auto.task_pool_command"),
	    "echo \"a\" | head\n");
	ck_assert_int_eq(
	    settings_override(s, "auto.task_pool_command", "", NULL), 0);
	ck_assert_str_eq(settings_string(s, "auto.task_pool_command"), "");
	ck_assert_int_eq(
	    settings_override(s, "auto.tasks_dir", "~/tasks", NULL), 0);
	ck_assert_str_eq(
	    settings_string(s, "auto.tasks_dir"), "/home/me/tasks");
	ck_assert_int_eq(
	    settings_override(s, "auto.check_timeout", "90", NULL), 0);
	ck_assert_int_eq(settings_duration(s, "auto.check_timeout"), 90000);
	ck_assert_int_eq(
	    settings_override(s, "budget.day_cost", "12.5", NULL), 0);
	ck_assert_int_eq(settings_amount(s, "budget.day_cost"), 12500000);
	ck_assert_int_eq(
	    settings_override(s, "auto.require_commit", "true", NULL), 0);
	ck_assert(settings_bool(s, "auto.require_commit"));
}

TEST(wrong_options_are_refused_with_what_is_allowed)
{
	cleanup_settings_world struct settings_world p =
	    settings_world_parse("[auto]\nconcurrency = 2\n");

	assert_override_refused(p.settings, "auto.concurrency", "0",
	    "auto.concurrency: expected a whole number from 1 to 100, found "
	    "0");
	assert_override_refused(p.settings, "auto.concurrency", "2 # two",
	    "auto.concurrency: expected a whole number from 1 to 100, found 2 "
	    "# two");
	assert_override_refused(p.settings, "budget.task_cost", "cheap",
	    "budget.task_cost: expected a number such as 2.50 from 0 to "
	    "1000000, found cheap");
	assert_override_refused(p.settings, "auto.on_post_accept_failure",
	    "shrug",
	    "auto.on_post_accept_failure: expected one of \"shutdown\", "
	    "\"continue\", \"revert\", \"fix\", found shrug");
}

TEST(home_is_for_paths_only)
{
	static const char *const paths[][2] = { { "~/w", "/home/me/w" },
		{ "~x/w", "~x/w" }, { "~", "/home/me" } };
	struct settings_facts homeless = settings_world_facts;
	static const char text[] = "[repo]\nworktree_dir = \"~/w\"\n"
				   "branch_prefix = \"~/\"\n";
	cleanup_settings_world struct settings_world p = settings_world_parse(
							 text),
						     q;

	ck_assert_str_eq(
	    settings_string(p.settings, "repo.branch_prefix"), "~/");
	homeless.home = "";
	q.settings = settings_parse(text, strlen(text), &homeless, &q.problems);
	ck_assert_str_eq(
	    settings_string(q.settings, "repo.worktree_dir"), "~/w");
	for (size_t i = 0; i < nitems(paths); i++) {
		cleanup_free char *line =
		    xasprintf("[repo]\nworktree_dir = \"%s\"\n", paths[i][0]);
		cleanup_settings_world struct settings_world w =
		    settings_world_parse(line);

		ck_assert_str_eq(
		    settings_string(w.settings, "repo.worktree_dir"),
		    paths[i][1]);
	}
}

/* Each text has one problem, and nothing of it counts. */
static const struct {
	const char *text;
	unsigned line;
	bool fatal;
	const char *words;
} faults[] = {
	/* What is not known is a warning. */
	{ "[auto]\nmax_turn = 1\n", 2, false,
	    "auto.max_turn: no such setting; did you mean "
	    "\"auto.max_turns\"?" },
	{ "x = 1\n", 1, false,
	    "x: no such setting; all of them: llmc config list" },
	{ "[nothing.at.all]\nx = 1\n", 1, false, "nothing: no such" },
	{ "\"auto.max_turns\" = 50\n", 1, false,
	    "\"auto.max_turns\": no such" },
	{ "[workers.a]\n\"b.model\" = \"x\"\n", 2, false,
	    "workers.a.\"b.model\": no such" },
	{ "[workers.a.b]\nmodel = \"x\"\n", 1, false, "workers.a.b: no such" },
	{ "[workers.a]\nmodl = 1\n", 2, false,
	    "workers.a.modl: no such setting; did you mean "
	    "\"workers.a.model\"?" },
	{ "\"\" = 1\n", 1, false, "\"\": no such" },
	{ "\"\\u0000\\n\" = 1\n", 1, false, ": no such" },
	/* A text that cannot be read. */
	{ "[tmux\n", 1, true, "" },
	{ "\n\nmax_turns\n", 3, true, "" },
	{ "[a]\n[a]\n", 2, true, "" },
	{ "a = \"\xff\"\n", 1, true, "" },
	/* Sections are tables. */
	{ "auto = 1\n", 1, true, "expected a table" },
	{ "[[auto]]\n", 1, true, "expected a table" },
	{ "workers = \"x\"\n", 1, true, "expected a table" },
	{ "[[workers]]\n", 1, true, "expected a table" },
	{ "workers.adam = 1\n", 1, true, "expected a table" },
	{ "[[workers.adam]]\n", 1, true, "expected a table" },
	{ "overseer.policy = 3\n", 1, true,
	    "overseer.policy: expected a table" },
	/* Values under another name: times have good defaults, but
	 * permissions are not guessed. */
	{ "overseer.stall_timeout_secs = \"1h\"\n", 1, false,
	    "overseer.stall_timeout_secs: expected a whole number of seconds, "
	    "found a string" },
	{ "overseer.heartbeat_timeout_secs = 1\n", 1, false,
	    "overseer.heartbeat_timeout: expected" },
	{ "defaults.skip_permissions = 1\n", 1, true,
	    "defaults.skip_permissions: expected true or false, found an "
	    "integer" },
	/* Goals. */
	{ "planner.timeout = \"often\"\n", 1, true,
	    "planner.timeout: expected a duration" },
	{ "team.max_concurrent = -1\n", 1, true,
	    "team.max_concurrent: expected a whole number from 0 to 1000" },
	{ "plan.allow_agents = \"main\"\n", 1, true,
	    "plan.allow_agents: expected a list" },
	{ "overseer.policy.bse = 3\n", 1, false,
	    "overseer.policy.bse: no such setting; all of them: "
	    "llmc config list" },
};

TEST_ROWS(a_fault_is_named_with_its_line, nitems(faults))
{
	cleanup_settings_world struct settings_world p =
	    settings_world_parse(faults[_i].text);
	const struct settings_problem *problem = p.problems.list;

	ck_assert_uint_eq(p.problems.count, 1);
	ck_assert_int_eq(p.problems.fatal, faults[_i].fatal);
	ck_assert_int_eq(problem->fatal, faults[_i].fatal);
	ck_assert_uint_eq(problem->line, faults[_i].line);
	ck_assert_msg(strstr(problem->text, faults[_i].words) != NULL, "%s",
	    problem->text);
	ck_assert_ptr_null(strchr(problem->text, '\n'));
	ck_assert_int_ne(strncmp(problem->text, "line ", 5), 0);
	ck_assert_int_eq(settings_int(p.settings, "auto.max_turns"), 20);
	ck_assert_int_eq(
	    settings_duration(p.settings, "planner.timeout"), 300000);
	ck_assert_int_eq(
	    settings_duration(p.settings, "overseer.stall_timeout"), 3600000);
}

TEST(all_problems_are_collected)
{
	cleanup_settings_world struct settings_world p = settings_world_parse(
	    "[auto]\nmax_turns = 0\nwrong = 1\nmax_attempts = \"x\"\n"
	    "[workers.Adam]\nmodel = 1\n");

	ck_assert_uint_eq(p.problems.count, 4);
	ck_assert(p.problems.fatal);
	ck_assert(p.problems.list[0].fatal);
	ck_assert(!p.problems.list[1].fatal);
	ck_assert_uint_eq(p.problems.list[3].line, 5);
	ck_assert_ptr_nonnull(
	    strstr(p.problems.list[3].text, "workers.Adam: not a valid name"));
	settings_problems_release(&p.problems);
	ck_assert_uint_eq(p.problems.count, 0);
	ck_assert_ptr_null(p.problems.list);
}

TEST(times_that_contradict_each_other_are_told)
{
	static const struct {
		const char *text, *problem;
	} cases[] = {
		{ "[auto]\nworker_stall_timeout = \"45m\"\n", NULL },
		{ "[auto]\nworker_stall_timeout = \"2h\"\n",
		    "auto.worker_stall_timeout: 2h is too long for "
		    "overseer.stall_timeout, which is 1h: 45m (three "
		    "quarters) is used" },
		{ "[auto]\nworker_stall_timeout = \"2h\"\n"
		  "[overseer]\nstall_timeout = \"3h\"\n",
		    NULL },
		/* What nobody chose gives way. */
		{ "[overseer]\nstall_timeout = \"5m\"\n", NULL },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_settings_world struct settings_world p =
		    settings_world_parse(cases[i].text);

		ck_assert(!p.problems.fatal);
		ck_assert_uint_eq(p.problems.count, cases[i].problem != NULL);
		if (cases[i].problem == NULL)
			continue;
		ck_assert_uint_eq(p.problems.list[0].line, 2);
		ck_assert_str_eq(p.problems.list[0].text, cases[i].problem);
	}
}

TEST(a_password_is_refused_in_the_address_of_a_fleet)
{
	static const struct {
		const char *address;
		bool refused;
	} cases[] = {
		{ "postgresql://db/x", false },
		{ "postgresql://me@db:5432/x", false },
		{ "postgresql://db:5432/x", false },
		{ "service=team", false },
		{ "postgresql://me:secret@db/x", true },
		{ "postgresql://db/x?password=secret", true },
		{ "host=db password=secret", true },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_free char *text =
		    xasprintf("[fleet]\ndatabase = \"%s\"\n", cases[i].address);
		cleanup_settings_world struct settings_world p =
		    settings_world_parse(text);

		ck_assert_msg(p.problems.fatal == cases[i].refused, "%s",
		    cases[i].address);
	}
}

TEST(workers_stand_over_the_defaults)
{
	cleanup_settings_world struct settings_world p = settings_world_parse(
	    "[defaults]\nmodel = \"sonnet\"\n"
	    "[workers.eve]\n"
	    "[workers.adam]\nmodel = \"opus\"\nstart_timeout = 0\n");
	cleanup_buf struct buf path = BUF_INIT;
	const char *const *names;

	ck_assert_uint_eq(settings_workers(p.settings, &names), 2);
	ck_assert_str_eq(names[0], "eve");
	ck_assert_str_eq(names[1], "adam");
	ck_assert_ptr_null(names[2]);
	buf_adds(&path, ">");
	settings_worker_path(p.settings, "adam", "model", &path);
	ck_assert_str_eq(path.data, ">workers.adam.model");
	buf_clear(&path);
	settings_worker_path(p.settings, "eve", "model", &path);
	ck_assert_str_eq(path.data, "defaults.model");
	buf_clear(&path);
	settings_worker_path(p.settings, "stranger", "model", &path);
	ck_assert_str_eq(path.data, "defaults.model");
	ck_assert_str_eq(
	    settings_string(p.settings, "workers.adam.model"), "opus");
	ck_assert_str_eq(
	    settings_string(p.settings, "workers.eve.model"), "sonnet");
	/* An invalid one is ignored. */
	ck_assert_uint_eq(p.problems.count, 1);
	ck_assert(p.problems.fatal);
	ck_assert_int_eq(
	    settings_duration(p.settings, "workers.adam.start_timeout"),
	    settings_duration(p.settings, "defaults.start_timeout"));
}

TEST(many_workers_are_kept_apart)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_settings_world struct settings_world p;
	const char *const *names;

	for (int i = 0; i < 300; i++)
		buf_addf(&text, "[workers.w%d]\nmodel = \"m%d\"\n", i, i);
	p = settings_world_parse(text.data);
	ck_assert_uint_eq(p.problems.count, 0);
	ck_assert_uint_eq(settings_workers(p.settings, &names), 300);
	for (int i = 0; i < 300; i++)
		ck_assert_str_eq(
		    settings_string(p.settings,
			settings_world_keep(xasprintf("workers.w%d.model", i))),
		    settings_world_keep(xasprintf("m%d", i)));
}

TEST(find_knows_workers)
{
	bool worker = true;

	ck_assert_ptr_eq(settings_find("defaults.model", &worker),
	    settings_find("workers.a-1_b.model", NULL));
	ck_assert(!worker);
	ck_assert_ptr_nonnull(settings_find("workers.a.model", &worker));
	ck_assert(worker);
	ck_assert_ptr_null(settings_find("workers.A.model", NULL));
	ck_assert_ptr_null(settings_find("workers..model", NULL));
	ck_assert_ptr_null(settings_find("workers.a.b.model", NULL));
	ck_assert_ptr_null(settings_find("workers.a.rows", NULL));
	ck_assert_ptr_null(settings_find("workers.a", NULL));
	ck_assert_ptr_null(settings_find("tmux", NULL));
	ck_assert_ptr_null(settings_find("auto.max_turns.", NULL));
	ck_assert_ptr_null(settings_find("", NULL));
}

/* --- other names ------------------------------------------------------ */

TEST(other_names_mean_the_same)
{
	cleanup_settings_world struct settings_world p = settings_world_parse(
	    "[overseer]\nheartbeat_timeout_secs = 45\n"
	    "stall_timeout_secs = 7200\nrestart_cooldown_secs = 0\n"
	    "[daemon]\npatrol_interval_secs = 9\n"
	    "[defaults]\nskip_permissions = false\n"
	    "[workers.adam]\nskip_permissions = true\n");
	const struct settings *s = p.settings;

	ck_assert_uint_eq(p.problems.count, 0);
	ck_assert_int_eq(
	    settings_duration(s, "overseer.heartbeat_timeout"), 45000);
	ck_assert_int_eq(
	    settings_duration(s, "overseer.stall_timeout"), 7200000);
	ck_assert_int_eq(settings_duration(s, "overseer.restart_cooldown"), 0);
	ck_assert_int_eq(settings_duration(s, "daemon.patrol_interval"), 9000);
	ck_assert_str_eq(
	    settings_string(s, "defaults.permission_mode"), "default");
	ck_assert_str_eq(settings_string(s, "workers.adam.permission_mode"),
	    "bypassPermissions");
	ck_assert_str_eq(
	    settings_string(s, "workers.eve.permission_mode"), "default");
}

TEST(goals_have_the_names_of_their_design_too)
{
	cleanup_settings_world struct settings_world p =
	    settings_world_parse("[overseer]\nenabled = true\n"
				 "[overseer.planner]\nmodel = \"opus\"\n"
				 "[overseer.policy]\nallowAgents = [\"*\"]\n");
	const struct settings *s = p.settings;
	const char *const *agents;

	ck_assert_uint_eq(p.problems.count, 0);
	ck_assert(settings_bool(s, "plan.enabled"));
	ck_assert_uint_eq(settings_list(s, "plan.allow_agents", &agents), 1);
	ck_assert_str_eq(agents[0], "*");
	ck_assert_str_eq(settings_string(s, "planner.model"), "opus");
}

/* Whichever is first in the file. */
TEST(the_real_name_stands_over_another)
{
	static const struct {
		const char *text, *problem;
		unsigned line;
	} cases[] = {
		{ "overseer.stall_timeout = 90\n"
		  "overseer.stall_timeout_secs = 60\n",
		    "overseer.stall_timeout_secs is ignored: "
		    "overseer.stall_timeout is the same setting",
		    2 },
		{ "overseer.stall_timeout_secs = 60\n"
		  "overseer.stall_timeout = 90\n",
		    "overseer.stall_timeout_secs is ignored: "
		    "overseer.stall_timeout is the same setting",
		    1 },
		{ "overseer.stall_timeout = 90\n"
		  "workers.adam.skip_permissions = true\n"
		  "workers.adam.permission_mode = \"plan\"\n",
		    "workers.adam.skip_permissions is ignored: "
		    "workers.adam.permission_mode is the same setting",
		    2 },
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		cleanup_settings_world struct settings_world p =
		    settings_world_parse(cases[i].text);

		ck_assert(!p.problems.fatal);
		ck_assert_uint_eq(p.problems.count, 1);
		ck_assert_uint_eq(p.problems.list[0].line, cases[i].line);
		ck_assert_str_eq(p.problems.list[0].text, cases[i].problem);
		ck_assert_int_eq(
		    settings_duration(p.settings, "overseer.stall_timeout"),
		    90000);
		if (i == 2)
			ck_assert_str_eq(settings_string(p.settings,
					     "workers.adam.permission_mode"),
			    "plan");
	}
}

TEST(a_setting_with_another_name_is_named)
{
	cleanup_buf struct buf words = BUF_INIT;

	settings_describe_unknown("overseer.enabled", &words);
	ck_assert_str_eq(words.data,
	    "overseer.enabled is another name of plan.enabled; describe it "
	    "with: llmc config doc plan.enabled");
}
