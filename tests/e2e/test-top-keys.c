/* SPDX-License-Identifier: ISC */

/* llmc top in a real terminal: keys that act, what is said when something is
 * refused, colours, and the words of a program that has to end. */
#include <sys/resource.h>

#include "autorun.h"
#include "toprun.h"

static void
begin(void)
{
	fleet_begin();
	auto_ails("");
	fleet_up();
	fleet_add("adam");
	fleet_add("bea");
	top_shell(80, 24);
}

/* --- keys that act --------------------------------------------------- */

const int unit_timeout = 120; /* seconds, each */

TEST_IN(begin, a_message_is_typed_and_sent)
{
	fleet_start("adam", "fake: commit a.txt a");
	fleet_wait("adam", "needs_review");
	top_type("");
	top_wait("needs_review");
	top_keys("M");
	top_wait("message to adam");
	top_keys("-l 'never mind'");
	top_keys("Escape");
	top_wait("nothing was done");
	top_keys("M");
	top_keys("-l 'fake: commit b.txt \xc3\xa4'");
	top_wait("b.txt \xc3\xa4_");
	top_keys("Enter");
	top_wait("Sent to adam.");
	fleet_wait_prompt("fake: commit b.txt \xc3\xa4");
	ck_assert_int_eq(fleet_prompts("never mind"), 0);
}

TEST_IN(begin, texts_of_several_lines_stand_on_one)
{
	fleet_start("adam", "fake: commit a.txt a\nfake: run true\n");
	fleet_wait("adam", "needs_review");
	top_type("");
	top_wait("work waits for a review: fake: commit a.txt a fake: ");
	e2e_lacks(top_screen(), "\\x0a");
}

TEST_IN(begin, the_time_of_a_worker_is_shown_by_status)
{
	fleet_do("pause", "adam", NULL);
	fleet_do("resume", "adam", NULL);
	top_type("");
	top_keys("Enter");
	top_wait("TIME BY STATUS since ");
	top_wait("  idle, without tasks");
}

/* --- what is refused -------------------------------------------------- */

TEST_IN(begin, what_the_daemon_refuses_is_said_whole)
{
	top_type("");
	top_resize(40, 12);
	top_wait_same(40, 12);
	top_keys("A");
	top_wait("has no finished work");
	top_keys("M");
	top_keys("-l 'fake: commit b.txt b'");
	top_keys("Enter");
	/* On more than one line. */
	top_wait("start --worker adam");
	e2e_has(top_screen(), "adam");
	/* A row that was there, and is there no more. */
	top_keys("G Space");
	top_wait("[frozen]");
	fleet_do("nuke", "bea", "--yes", NULL);
	top_keys("P y");
	top_wait("no worker");
	top_keys("Space");
	top_wait_without("bea ");
}

TEST_IN(begin, without_a_daemon_nothing_is_done)
{
	top_type("");
	top_wait("[live]");
	fleet_do("down", NULL);
	top_wait("[lost");
	top_keys("P y");
	top_wait("No daemon is running; start it with: llmc up --detach");
	top_keys("j");
	top_wait_without("No daemon");
}

TEST_IN(begin, an_agent_may_not_act)
{
	/* A worker may not even look. */
	top_keys("'LLMC_AGENT=1 LLMC_WORKER=adam \"$LLMC\" top; "
		 "echo ended-$?' Enter");
	top_wait_end(1);
	e2e_has(top_screen(), "agents may not run llmc top");
	top_keys("clear Enter");
	/* The session that repairs may. */
	top_type("LLMC_AGENT=1 LLMC_WORKER=overseer ");
	top_wait("[live]");
	top_keys("P y");
	top_wait("agents may not do that");
	top_keys("q");
	top_wait_end(0);
	ck_assert_str_eq(fleet_status("adam"), "idle");
	fleet_start("adam",
	    e2e_path("fake: run '%s' top >\"$FLEET/said\" 2>&1; true\n"
		     "fake: commit a.txt a",
		e2e_llmc_path()));
	fleet_wait("adam", "needs_review");
	e2e_has(e2e_read(e2e_path("%s/said", unit_scratch())),
	    "agents may not run llmc top");
}

/* --- colours ---------------------------------------------------------- */

/* How green is made, NULL = not at all. */
static const struct {
	const char *environment, *green;
} colours[] = {
	{ "TERM=screen COLORTERM= ", "\033[32m" },
	{ "TERM=xterm-256color COLORTERM= ", "\033[38;5;" },
	{ "TERM=foot COLORTERM=truecolor ", "\033[38;2;" },
	{ "TERM=screen COLORTERM= NO_COLOR=1 ", NULL },
	{ "TERM=xterm-256color COLORTERM=truecolor NO_COLOR=1 ", NULL },
	{ "TERM=vt100 COLORTERM= ", NULL },
	{ "TERM=nobody-knows-it COLORTERM= ", "\033[32m" },
};

static const char *const greens[] = { "\033[32m", "\033[38;5;", "\033[38;2;" };

TEST_IN(begin, colours_are_those_of_the_terminal)
{
	for (size_t i = 0; i < nitems(colours); i++) {
		const char *screen;

		top_keys("'clear' Enter");
		top_type(colours[i].environment);
		top_wait("[live]");
		screen = top_colours();
		e2e_has(screen, "\033[1m");
		for (size_t g = 0; g < nitems(greens); g++)
			ck_assert_msg((strstr(screen, greens[g]) != NULL) ==
				(colours[i].green != NULL &&
				    strcmp(colours[i].green, greens[g]) == 0),
			    "%s: %s", colours[i].environment,
			    e2e_shown(screen));
		top_keys("q");
		top_wait_end(0);
	}
}

/* --- a program that has to end ---------------------------------------- */

#ifdef __has_feature
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED false
#endif

/* Memory for a larger screen is missing. */
TEST_IN(begin, last_words_are_said_on_the_terminal_that_stays)
{
	struct rlimit none = { 0, 0 };

	if (SANITIZED)
		unit_skip("a sanitizer ends the program in its own way");
	top_type("");
	top_wait("[live]");
	ck_assert_int_eq(prlimit(top_pid(), RLIMIT_AS, &none, NULL), 0);
	top_resize(240, 80);
	top_wait_end(71);
	e2e_has(top_screen(), "out of memory");
	e2e_has(top_screen(), "prompt>");
}
