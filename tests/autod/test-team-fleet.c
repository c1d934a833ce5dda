/* SPDX-License-Identifier: ISC */

/* The agents that can be asked for, in the prompts of those who may ask. */
#include "team-world.h"

#define CARD                                                                \
	"[agents.coder]\ndescription = \"Writes code\"\n[plan]\nenabled = " \
	"true\n"

static const struct {
	const char *settings;
	bool told;
	const char *depth; /* NULL = not told */
} cases[] = {
	{ CARD, true, "You are at depth 1 of at most 3." },
	/* There is nobody to ask for. */
	{ "[plan]\nenabled = true\n", false,
	    "You are at depth 1 of at most 3." },
	/* Nobody can be started. */
	{ "[agents.coder]\ndescription = \"Writes code\"\n", false, NULL },
	{ CARD "[team]\nmax_concurrent = 0\n", false, NULL },
	{ CARD "[team]\nenabled = false\n", false, NULL },
};

/* Every request of the conversation carries it. */
TEST(the_opening_prompt_is_short_beside_the_task)
{
	const char *prompt;

	team_world_begin("[plan]\nenabled = true\n");
	auto_world_task("a.md", "Add the numbers\n");
	auto_world_live();
	prompt = fake_session_prompt(auto_world_turn(1)->session);
	ck_assert_ptr_nonnull(strstr(prompt, "agent_spawn"));
	ck_assert_msg(strlen(prompt) - strlen("Add the numbers") <= 1536,
	    "%zu bytes: %s", strlen(prompt), prompt);
}

TEST_ROWS(who_may_start_agents_reads_which_there_are, nitems(cases))
{
	struct agent *agent;
	const char *prompt;

	team_world_begin(cases[_i].settings);
	auto_world_task("a.md", "Add the numbers\n");
	auto_world_live();
	agent = auto_world_turn(1);
	prompt = fake_session_prompt(agent->session);
	ck_assert_ptr_nonnull(strstr(prompt, "Add the numbers"));
	ck_assert_msg((strstr(prompt, "\n- coder: Writes code\n") != NULL) ==
		cases[_i].told,
	    "%s", prompt);
	ck_assert_int_eq(
	    strstr(prompt, "agents named below") != NULL, cases[_i].told);
	ck_assert_msg(cases[_i].depth == NULL ?
		strstr(prompt, "agent_spawn") == NULL :
		strstr(prompt, cases[_i].depth) != NULL &&
		    strstr(prompt, "your own subagents are cheaper") != NULL &&
		    strstr(prompt, "one message with its outcome") != NULL,
	    "%s", prompt);
}
