/* SPDX-License-Identifier: ISC */

/* Workers and auto mode with Claude Code without a terminal: the fake one, and
 * the real one where it is. */
#include "auto-scenarios.h"
#include "autorun.h"
#include "scenarios.h"

static void
begin_auto(void)
{
	fleet_begin();
	e2e_set(fleet_root(), "defaults.agent", "claude-headless");
}

static void
begin(void)
{
	begin_auto();
	fleet_up();
}

/* A person who looks at it reads words, and what is typed is a prompt. */
START_TEST(its_stream_is_shown_in_words)
{
	fleet_add("adam");
	fleet_start("adam", "fake: say these are words\nfake: commit a.txt x");
	fleet_wait("adam", "needs_review");
	e2e_has(fleet_do("peek", "adam", NULL)->out, "these are words");
	e2e_lacks(fleet_do("peek", "adam", NULL)->out, "\"type\"");
	e2e_expect(e2e_sh(fleet_root(),
		       "tmux -L \"$(\"$LLMC\" config get tmux.socket)\" "
		       "send-keys -t '=llmc-adam:' 'typed by hand' Enter"),
	    0, NULL);
	fleet_wait_prompt("typed by hand");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("headless");

	scenarios_add_test(s, begin, its_stream_is_shown_in_words);
	scenarios_add(s, begin);
	auto_scenarios_add(s, begin_auto);
	return s;
}
