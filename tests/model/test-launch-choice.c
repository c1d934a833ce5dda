/* SPDX-License-Identifier: ISC */

#include "settings-world.h"
#include "attempt.h"
#include "agent-card.h"

static const char cards[] =
    "[agents.coder]\nmodel = \"opus\"\nthinking = \"high\"\n"
    "tools = [\"Read\", \"Edit\", \"Bash\"]\n[agents.plain]\n";

/* What a run with this agent, model and word for thinking is started with. */
static struct launch_choice
choice(const char *agent, const char *model, const char *thinking)
{
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(cards);
	struct task_launch *run = schema_new(&task_launch_schema);
	struct launch_choice out;

	xstrset(&run->agent, agent);
	xstrset(&run->model, model);
	xstrset(&run->thinking, thinking);
	launch_choice_make(w.settings, run, &out);
	schema_free(&task_launch_schema, run);
	return out;
}

TEST(what_the_spawn_says_goes_before_the_card)
{
	cleanup_launch_choice struct launch_choice own =
	    choice("coder", "haiku", "low");
	cleanup_launch_choice struct launch_choice card =
	    choice("coder", NULL, NULL);

	ck_assert_str_eq(own.model, "haiku");
	ck_assert_str_eq(own.thinking, "low");
	ck_assert_str_eq(card.model, "opus");
	ck_assert_str_eq(card.thinking, "high");
}

TEST(what_neither_says_is_left_to_the_settings_of_the_worker)
{
	cleanup_launch_choice struct launch_choice plain =
	    choice("plain", NULL, NULL);
	cleanup_launch_choice struct launch_choice none = { 0 };

	launch_choice_make(NULL, NULL, &none);
	ck_assert_ptr_null(none.model);
	ck_assert_ptr_null(none.tools);
	ck_assert_ptr_null(plain.model);
	ck_assert_ptr_null(plain.thinking);
	ck_assert_ptr_null(plain.tools);
	ck_assert_ptr_null(plain.deny);
	ck_assert(!plain.limited);
}

TEST(only_words_that_claude_code_knows_are_passed_on)
{
	static const struct {
		const char *said, *passed;
	} rows[] = {
		{ "off", "off" },
		{ "none", NULL },
		{ "minimal", "low" },
		{ "medium", "medium" },
		{ "xhigh", "xhigh" },
		{ "max", "max" },
		{ "--danger", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_launch_choice struct launch_choice c =
		    choice(NULL, NULL, rows[i].said);

		ck_assert_pstr_eq(c.thinking, rows[i].passed);
	}
}

TEST(tools_are_those_of_the_card_that_the_spawn_leaves)
{
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(cards);
	cleanup_launch_choice struct launch_choice some = { 0 }, more = { 0 };
	struct task_launch *run = schema_new(&task_launch_schema);

	xstrset(&run->agent, "coder");
	run->tools_scoped = true;
	strv_add(&run->tools_allow, "Read");
	strv_add(&run->tools_deny, "Bash");
	launch_choice_make(w.settings, run, &some);
	ck_assert_str_eq(some.tools, "Read");
	ck_assert_str_eq(some.deny[0], "Bash");
	ck_assert(some.limited);
	/* The card has lost it since then: nothing is given back. */
	strv_add(&run->tools_allow, "Write");
	launch_choice_make(w.settings, run, &more);
	ck_assert_str_eq(more.tools, "Read");
	schema_free(&task_launch_schema, run);
}

TEST(a_scope_limits_it_too)
{
	cleanup_settings_world struct settings_world w =
	    settings_world_parse(cards);
	cleanup_launch_choice struct launch_choice c = { 0 };
	struct task_launch *run = schema_new(&task_launch_schema);

	strv_add(&run->scope_paths, "src");
	launch_choice_make(w.settings, run, &c);
	ck_assert(c.limited);
	schema_free(&task_launch_schema, run);
}

TEST(what_those_above_may_not_do_it_may_not_either)
{
	cleanup_settings_world struct settings_world w = settings_world_parse(
	    "[workers.auto-1]\npermission_mode = \"plan\"\n"
	    "disallowed_tools = [\"Bash(rm *)\"]\n"
	    "[workers.team-1]\npermission_mode = \"default\"\n"
	    "disallowed_tools = [\"Bash(rm *)\", \"Write\"]\n");
	cleanup_launch_choice struct launch_choice c = { 0 }, none = { 0 };
	struct task_launch *run = schema_new(&task_launch_schema);

	strv_add(&run->tools_deny, "Edit");
	strv_add(&run->confined_by, "auto-1");
	strv_add(&run->confined_by, "team-1");
	launch_choice_make(w.settings, run, &c);
	ck_assert_str_eq(c.permission_mode, "plan");
	ck_assert_str_eq(launch_choice_mode(&c, "bypassPermissions"), "plan");
	ck_assert_str_eq(c.deny[0], "Bash(rm *)");
	ck_assert_str_eq(c.deny[1], "Write");
	ck_assert_str_eq(c.deny[2], "Edit");
	ck_assert_ptr_null(c.deny[3]);
	/* A worker's own may be stricter. */
	xstrset(&c.permission_mode, "acceptEdits");
	ck_assert_str_eq(launch_choice_mode(&c, "dontAsk"), "dontAsk");
	ck_assert_str_eq(launch_choice_mode(&none, "auto"), "auto");
	schema_free(&task_launch_schema, run);
}

TEST(every_difference_is_seen)
{
	cleanup_launch_choice struct launch_choice one =
	    choice(NULL, "high", NULL);
	cleanup_launch_choice struct launch_choice two =
	    choice(NULL, NULL, "high");
	cleanup_buf struct buf a = BUF_INIT, b = BUF_INIT;

	launch_choice_print(&one, &a);
	launch_choice_print(&two, &b);
	ck_assert_str_ne(a.data, b.data);
}
