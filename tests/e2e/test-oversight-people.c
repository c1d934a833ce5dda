/* SPDX-License-Identifier: ISC */

/* People are told of what oversight does, and what they answer is done. */
#include "autorun.h"

/* Main passes; the work does once good.txt is there. What the check prints is
 * what the agent does next. */
#define CHECK  "test ! -e b.txt || test -e good.txt || { echo '%s'; exit 1; }"
#define PARKED "\"$LLMC\" task list | grep -q '^t1 .*parked'"

/* Everything goes through a channel; and the command gets its classes. */
void
unit_before(void)
{
	const char *config, *told = e2e_scratch("told");

	fleet_begin();
	config = e2e_path("%s/.llmc/config.toml", fleet_root());
	auto_set("auto.max_turns", "30");
	e2e_notify(fleet_root(),
	    e2e_path(
		"cat >'%s'.$$; cat '%s'.$$ >>'%s.command'", told, told, told));
	auto_ails("");
	e2e_write(config,
	    e2e_path("%s\n[people.channels.x]\ntype = \"command\"\n"
		     "command = \"cat >'%s'.$$; cat '%s'.$$ >>'%s'\"\n",
		e2e_read(config), told, told, told));
}

static void
get_stuck(void)
{
	auto_set(
	    "auto.check_command", e2e_path(CHECK, "fake: run ls ./missing.c"));
	auto_task("a.md", "fake: commit b.txt x");
	auto_up(NULL);
	auto_wait_shell(PARKED);
}

static void
wait_told(const char *words)
{
	auto_wait_shell(
	    e2e_path("grep -qF '%s' '%s'", words, e2e_scratch("told")));
}

/* The only message with these words. */
static struct json_object *
told(const char *words)
{
	struct e2e_run *run;

	wait_told(words);
	run = e2e_sh(fleet_root(),
	    e2e_path("grep -F '%s' '%s'", words, e2e_scratch("told")));
	ck_assert_msg(strchr(run->out, '\n') == run->out + strlen(run->out) - 1,
	    "several: %s", e2e_shown(run->out));
	return e2e_json(run, 0);
}

#define PAUSE "\"intervention\":{\"level\":\"pause\""

const int unit_timeout = 120; /* seconds, each */

TEST(a_pause_is_told_once_and_an_answer_lets_the_task_go_on)
{
	struct json_object *event, *context = NULL, *detection = NULL;

	get_stuck();
	event = told(PAUSE);
	ck_assert_str_eq(json_string_or(event, "level", ""), "critical");
	json_object_object_get_ex(event, "context", &context);
	json_object_object_get_ex(context, "detection", &detection);
	ck_assert_str_eq(json_string_or(context, "worker", ""), "auto-1");
	ck_assert_str_eq(json_string_or(context, "task", ""), "t1");
	ck_assert_int_gt(json_int_or(context, "iterationNumber", 0), 0);
	ck_assert_str_eq(json_string_or(detection, "type", ""), "stuck");
	e2e_has(json_object_to_json_string(detection), "missing.c");
	e2e_has(json_object_to_json_string(detection), "recommendations");
	/* The sixth time in the same way is critical; a warning is for the
	 * session alone. */
	event = told("\"intervention\":{\"level\":\"redirect\"");
	ck_assert_str_eq(json_string_or(event, "level", ""), "critical");
	e2e_lacks(e2e_read(e2e_scratch("told")),
	    "\"intervention\":{\"level\":\"warn\"");
	auto_wait_shell(
	    e2e_path("grep -c '\"class\":\"task\"' '%s.command' | grep -qx 1",
		e2e_scratch("told")));
	/* Whenever the daemon dies. */
	auto_kill9_daemon();
	auto_up(NULL);
	auto_wait_shell(PARKED);
	told(PAUSE);
	e2e_has(fleet_do("asks", NULL)->out, "failure");
	e2e_has(fleet_do("status", NULL)->out, "llmc answer a");
	fleet_do("answer", "t1", "fake: commit good.txt x", NULL);
	auto_wait_finished("landed", 1);
	ck_assert_int_eq(fleet_prompts("A person says"), 1);
	fleet_fails("nothing is asked about t1", "answer", "t1", "no", NULL);
	e2e_has(fleet_do("asks", "--all", NULL)->out, "fake: commit good.txt");
	auto_drain();
	auto_no_complaints();
}

static void
abort_by(const char *word)
{
	e2e_has(fleet_do("answer", "t1", word, NULL)->out, "t1 is aborted");
	auto_wait_finished("aborted", 1);
	auto_drain();
}

TEST(a_task_is_aborted_by_the_number_of_an_option)
{
	get_stuck();
	e2e_has(fleet_do("asks", NULL)->out, "1. continue, 2. abort");
	fleet_fails("there is no option 3, only 2", "answer", "t1", "3", NULL);
	abort_by("2");
}

/* And not without a daemon, which is told with what to type. */
TEST(a_task_is_aborted_by_no)
{
	get_stuck();
	auto_kill9_daemon();
	fleet_fails("llmc up", "answer", "t1", "--no", NULL);
	auto_up(NULL);
	auto_wait_shell(PARKED);
	abort_by("--no");
}
