/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "people.h"
#include "settings.h"

static struct settings *
settings_with(const char *command, const char *more)
{
	struct settings_facts facts = { .root = "/r" };
	struct settings_problems problems;
	cleanup_free char *text =
	    xasprintf("[people.channels.told]\ntype = \"command\"\n"
		      "command = \"%s\"\n%s",
		command, more);
	struct settings *settings =
	    settings_parse(text, strlen(text), &facts, &problems);

	ck_assert_msg(!problems.fatal, "%s", problems.list[0].text);
	settings_problems_release(&problems);
	return settings;
}

/* Tell `count` times and end; returns how long that took. */
static int64_t
tell(const char *command, const char *more, struct notice notice, int count,
    enum people_saved saved)
{
	struct loop *loop = loop_new();
	struct people *people = people_new(loop, unit_scratch(), "autod", NULL);
	struct settings *settings = settings_with(command, more);
	int64_t began = clock_mono_ms();

	ck_assert_int_eq(file_mkdirs(unit_path(".llmc"), 0700, NULL), 0);
	for (int i = 0; i < count; i++)
		people_tell(people, settings, &notice, saved);
	ck_assert_int_lt(clock_mono_ms() - began, PEOPLE_END_MS);
	people_free(people);
	settings_free(settings);
	loop_free(loop);
	return clock_mono_ms() - began;
}

/* The messages in a file, one per line. */
static size_t
messages(const char *file, struct json_object **list, size_t max)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t count = 0;
	char *rest, *line;

	if (file_read(file, 1 << 20, &text, NULL) < 0)
		return 0;
	rest = text.data;
	while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
		ck_assert_uint_lt(count, max);
		ck_assert_int_eq(json_parse(line, strlen(line), 1 << 20,
				     &list[count++], NULL),
		    0);
	}
	return count;
}

TEST(a_command_gets_the_message_as_json)
{
	struct json_object *list[2], *context = NULL;
	cleanup_free char *command = xasprintf("cat >'%s'", unit_path("told"));
	struct notice n = { .class = NOTICE_BUDGET,
		.why = "it is spent",
		.worker = "ad'am\"",
		.task = "t-1" };

	tell(command, "", n, 1, PEOPLE_SAVED);
	ck_assert_uint_eq(messages(unit_path("told"), list, 2), 1);
	json_object_object_get_ex(list[0], "context", &context);
	ck_assert_str_eq(json_string_or(context, "class", ""), "budget");
	ck_assert_str_eq(
	    json_string_or(context, "title", ""), "a budget is reached");
	ck_assert_str_eq(json_string_or(context, "worker", ""), "ad'am\"");
	ck_assert_str_eq(json_string_or(context, "reason", ""), "it is spent");
	ck_assert_str_eq(json_string_or(list[0], "root", ""), unit_scratch());
	json_object_put(list[0]);
}

/* Another program with the same messages each time. */
static void
tell_again(const char *command, const struct notice *list, size_t count)
{
	struct loop *loop = loop_new();
	struct people *people = people_new(loop, unit_scratch(), "autod", NULL);
	struct settings *settings = settings_with(command, "");

	ck_assert_int_eq(file_mkdirs(unit_path(".llmc"), 0700, NULL), 0);
	people_settings(people, settings);
	for (size_t i = 0; i < count; i++)
		people_tell(people, settings, &list[i], PEOPLE_SAVED);
	people_free(people);
	settings_free(settings);
	loop_free(loop);
}

static size_t
count_messages(const char *file)
{
	struct json_object *list[8];
	size_t count = messages(file, list, nitems(list));

	for (size_t i = 0; i < count; i++)
		json_object_put(list[i]);
	return count;
}

TEST(a_notice_with_an_id_is_told_once)
{
	cleanup_free char *command = xasprintf("cat >>'%s'", unit_path("once"));
	const struct notice both[] = {
		{ .class = NOTICE_GOAL, .id = "D_1", .why = "help" },
		{ .class = NOTICE_GOAL, .id = "D_2", .why = "more help" },
	};

	tell_again(command, both, 1);
	tell_again(command, both, 1);
	ck_assert_uint_eq(count_messages(unit_path("once")), 1);
	tell_again(command, both, 2);
	ck_assert_uint_eq(count_messages(unit_path("once")), 2);
}

/* Two processes: the first notice, and all others as one. */
TEST(a_flood_starts_no_flood_of_processes)
{
	cleanup_free char *command =
	    xasprintf("cat >'%s'.$$; cat '%s'.$$ >>'%s'", unit_path("part"),
		unit_path("part"), unit_path("flood"));
	struct notice n = { .class = NOTICE_TASK, .why = "it failed" };

	tell(command, "", n, 1000, PEOPLE_SAVED);
	ck_assert_uint_eq(count_messages(unit_path("flood")), 2);
}

TEST(only_the_levels_that_were_chosen_are_told)
{
	cleanup_free char *command =
	    xasprintf("cat >>'%s'", unit_path("chosen"));
	struct notice limit = { .class = NOTICE_LIMIT, .why = "429" };
	struct notice failure = { .class = NOTICE_FAILURE, .why = "dead" };

	tell(command, "", limit, 1, PEOPLE_SAVED); /* not by default */
	tell(command, "levels = [\"info\"]\n", failure, 1, PEOPLE_SAVED);
	ck_assert_uint_eq(count_messages(unit_path("chosen")), 0);
	tell(command, "levels = [\"info\"]\n", limit, 1, PEOPLE_SAVED);
	ck_assert_uint_eq(count_messages(unit_path("chosen")), 1);
}

/* The disk hangs: only a command can tell of it, and no file is written. */
TEST(what_cannot_be_saved_is_told_by_commands)
{
	cleanup_free char *command =
	    xasprintf("cat >>'%s'", unit_path("unsaved"));
	cleanup_free char *more =
	    xasprintf("[people.channels.ops]\ntype = \"webhook\"\n"
		      "url = \"http://127.0.0.1:1/\"\n");
	struct notice n = { .class = NOTICE_FAILURE, .why = "it hangs" };

	tell(command, more, n, 1, PEOPLE_UNSAVED);
	ck_assert_uint_eq(count_messages(unit_path("unsaved")), 1);
	ck_assert(!file_exists(unit_path(".llmc/overseer-messages.json")));
}

/* Our end waits for it only for a short time. */
TEST(a_hanging_command_does_not_hold_us_up)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *command =
	    xasprintf("echo $$ >'%s'; exec sleep 600", unit_path("hanging"));
	ended_by(procref_release) struct procref ref = PROCREF_INIT;
	struct notice n = { .class = NOTICE_FAILURE };
	int64_t took = tell(command, "", n, 1, PEOPLE_SAVED);

	ck_assert_int_ge(took, PEOPLE_END_MS);
	ck_assert_int_lt(took, 4 * PEOPLE_END_MS);
	ck_assert_int_eq(file_read(unit_path("hanging"), 100, &text, NULL), 0);
	ck_assert_int_eq(
	    procref_set(&ref, (pid_t)strtol(text.data, NULL, 10)), 0);
	procref_signal(&ref, SIGKILL);
}

TEST(a_command_that_fails_is_harmless)
{
	static const char *const commands[] = { "/no/such/program", "exit 3",
		"kill -9 $$", "exec <&-; exit 0", "/dev/null", "'unbalanced" };
	struct notice n = { .class = NOTICE_FAILURE };

	for (size_t i = 0; i < nitems(commands); i++)
		ck_assert_int_lt(
		    tell(commands[i], "", n, 1, PEOPLE_SAVED), 60000);
}
