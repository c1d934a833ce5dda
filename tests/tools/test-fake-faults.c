/* SPDX-License-Identifier: ISC */

/* Faults that tests set for the fake agent, and continuing after them. */

#include "bed.h"

static const char *const no_args[] = { NULL };

static struct bed *
begin(void)
{
	const char *agent = getenv("LLMC_FAKE_CLAUDE");
	cleanup_free char *faults =
	    xasprintf("FAKE_CLAUDE_FAULTS=%s", unit_scratch());
	const char *const env[] = { faults, "FAKE_CLAUDE_GOES_ON=1", NULL };
	struct bed *bed;

	ck_assert_msg(agent != NULL, "LLMC_FAKE_CLAUDE is not set");
	bed = bed_new(agent, NULL, env);
	bed_start(bed, no_args);
	bed_wait(bed, "SessionStart");
	return bed;
}

static void
turn(struct bed *bed, const char *prompt)
{
	bed_paste(bed, prompt);
	bed_wait(bed, "Stop");
	bed_wait_status(bed, "idle");
}

static void
fault(const struct bed *bed, const char *event, const char *what)
{
	cleanup_free char *name =
	    xasprintf("%s.%s", strrchr(bed_repo(bed), '/') + 1, event);

	ck_assert_int_eq(
	    file_replace(unit_path(name), what, strlen(what), 0600, NULL), 0);
}

static void
check_events(struct bed *bed, const char *want)
{
	cleanup_free char *names = bed_event_names(bed);

	ck_assert_str_eq(names, want);
}

static void
check_shell(struct bed *bed, const char *command, const char *want)
{
	cleanup_free char *said = bed_shell(bed, command);

	ck_assert_str_eq(said, want);
}

TEST(a_lost_hook_is_not_run_and_only_once)
{
	cleanup_bed struct bed *bed = begin();

	fault(bed, "UserPromptSubmit", "lose");
	turn(bed, "first");
	turn(bed, "second");
	check_events(bed, "SessionStart Stop UserPromptSubmit Stop");
}

TEST(a_doubled_hook_is_run_twice)
{
	cleanup_bed struct bed *bed = begin();

	fault(bed, "UserPromptSubmit", "double");
	turn(bed, "first");
	check_events(
	    bed, "SessionStart UserPromptSubmit UserPromptSubmit Stop");
}

TEST(a_turn_that_was_killed_is_gone_on_with)
{
	cleanup_bed struct bed *bed = begin();
	const char *args[] = { "--resume", bed_session(bed), NULL };

	bed_paste(bed,
	    "fake: run true\nfake: sleep 60000\n"
	    "fake: commit f text");
	bed_wait(bed, "PostToolUse");
	bed_signal(bed, SIGKILL);
	bed_wait_gone(bed);
	bed_start(bed, args);
	bed_wait(bed, "SessionStart");
	turn(bed, "fake: commit g text"); /* another task */
	check_shell(bed, "ls f 2>/dev/null; cat g", "text");
	turn(bed, "go on"); /* without a step: that turn had ended */
	check_shell(bed, "ls f 2>/dev/null; git status --porcelain", "");
}

TEST(steps_of_the_cut_off_turn_are_played_again)
{
	cleanup_bed struct bed *bed = begin();
	const char *args[] = { "--resume", bed_session(bed), NULL };

	bed_paste(bed,
	    "fake: commit f text\nfake: run [ -e again ] || "
	    "{ touch again; kill -KILL $CLAUDE_PID; }\n"
	    "fake: run rm again\nfake: commit g text");
	bed_wait_gone(bed);
	bed_start(bed, args);
	bed_wait(bed, "SessionStart");
	turn(bed, "go on");
	check_shell(bed, "cat f g; git status --porcelain", "text\ntext");
}
