/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "outbox.h"
#include "people.h"
#include "procref.h"
#include "settings.h"
#include "unit.h"

static struct settings *
settings_with(const char *command, const char *more)
{
	struct settings_facts facts = { .root = "/r" };
	struct settings_problems problems;
	cleanup_free char *text =
	    xasprintf("[people]\nnotify_command = '''%s'''\n%s", command, more);
	struct settings *settings =
	    settings_parse(text, strlen(text), &facts, &problems);

	ck_assert_msg(!problems.fatal, "%s", problems.list[0].text);
	settings_problems_release(&problems);
	return settings;
}

/* Tell `count` times and end; returns how long that took. */
static int64_t
tell(const char *command, const char *more, struct notice notice, int count)
{
	struct loop *loop = loop_new();
	struct people *people = people_new(loop, "/r", "autod");
	struct settings *settings = settings_with(command, more);
	int64_t began = clock_mono_ms();

	for (int i = 0; i < count; i++)
		people_tell(people, settings, &notice);
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

START_TEST(the_command_gets_the_message_as_json)
{
	struct json_object *list[2];
	cleanup_free char *command = xasprintf("cat >%s", unit_path("told"));
	cleanup_free char *big = xmalloc(300001);
	struct notice n = { .class = NOTICE_BUDGET,
		.why = big,
		.worker = "ad'am\"",
		.task = "t-1" };

	memset(big, 'x', 300000); /* more than a pipe holds */
	big[300000] = '\0';
	tell(command, "", n, 1);
	ck_assert_uint_eq(messages(unit_path("told"), list, 2), 1);
	ck_assert_str_eq(json_string_or(list[0], "class", ""), "budget");
	ck_assert_str_eq(json_string_or(list[0], "worker", ""), "ad'am\"");
	ck_assert_str_eq(json_string_or(list[0], "root", ""), "/r");
	ck_assert_str_eq(json_string_or(list[0], "why", ""), big);
	json_object_put(list[0]);
}
END_TEST

/* Another program with the same outbox each time. */
static void
tell_with_outbox(const char *command, const struct notice *list, size_t count)
{
	struct loop *loop = loop_new();
	struct people *people = people_new(loop, "/r", "autod");
	struct settings *settings = settings_with(command, "");

	people_use_outbox(people, settings, unit_path("outbox"));
	for (size_t i = 0; i < count; i++)
		people_tell(people, settings, &list[i]);
	people_free(people);
	settings_free(settings);
	loop_free(loop);
}

START_TEST(a_notice_with_an_id_is_told_once)
{
	struct json_object *list[4];
	cleanup_free char *command = xasprintf("cat >>%s", unit_path("once"));
	const struct notice first = {
		.class = NOTICE_GOAL, .id = "D_1", .why = "help"
	};
	const struct notice second = {
		.class = NOTICE_GOAL, .id = "D_2", .why = "more help"
	};

	tell_with_outbox(command, &first, 1);
	tell_with_outbox(command, &first, 1);
	ck_assert_uint_eq(messages(unit_path("once"), list, 4), 1);
	json_object_put(list[0]);
	tell_with_outbox(command, &second, 1);
	ck_assert_uint_eq(messages(unit_path("once"), list, 4), 2);
	ck_assert_str_eq(json_string_or(list[1], "why", ""), "more help");
	json_object_put(list[0]);
	json_object_put(list[1]);
}
END_TEST

/* The program was killed in the minute after another notice. */
START_TEST(a_notice_that_waits_is_told_by_the_next_program)
{
	struct json_object *list[4], *message = json_object_new_object();
	cleanup_free char *command = xasprintf("cat >>%s", unit_path("late"));
	const struct notice same = {
		.class = NOTICE_GOAL, .id = "D_1", .why = "help"
	};

	json_set_string(message, "class", "goal");
	json_set_string(message, "why", "help");
	ck_assert_int_eq(
	    outbox_put(unit_path("outbox"), "D_1", message, NULL), 0);
	json_object_put(message);
	tell_with_outbox(command, &same, 1);
	tell_with_outbox(command, NULL, 0);
	ck_assert_uint_eq(messages(unit_path("late"), list, 4), 1);
	ck_assert_str_eq(json_string_or(list[0], "why", ""), "help");
	json_object_put(list[0]);
}
END_TEST

/* Two processes: the first notice, and all others as one. */
START_TEST(a_flood_starts_no_flood_of_processes)
{
	struct json_object *list[4];
	cleanup_free char *command = xasprintf("cat >%s.$$; cat %s.$$ >>%s",
	    unit_path("part"), unit_path("part"), unit_path("flood"));
	struct notice n = { .class = NOTICE_TASK, .why = "it failed" };
	int64_t sum;

	tell(command, "", n, 1000);
	ck_assert_uint_eq(messages(unit_path("flood"), list, 4), 2);
	sum =
	    json_int_or(list[0], "count", 0) + json_int_or(list[1], "count", 0);
	ck_assert_int_eq(sum, 1000);
	json_object_put(list[0]);
	json_object_put(list[1]);
}
END_TEST

START_TEST(only_what_was_chosen_is_told)
{
	cleanup_free char *command = xasprintf("cat >>%s", unit_path("chosen"));
	struct json_object *list[4];
	struct notice limit = { .class = NOTICE_LIMIT, .why = "429" };
	struct notice failure = { .class = NOTICE_FAILURE, .why = "dead" };

	tell(command, "", limit, 1); /* not by default */
	tell(command, "notify_on = [\"limit\"]\n", failure, 1);
	tell("", "", failure, 1);
	ck_assert_uint_eq(messages(unit_path("chosen"), list, 4), 0);
	tell(command, "notify_on = [\"limit\"]\n", limit, 1);
	ck_assert_uint_eq(messages(unit_path("chosen"), list, 4), 1);
	json_object_put(list[0]);
}
END_TEST

START_TEST(the_older_name_of_the_command_is_used)
{
	cleanup_free char *more = xasprintf(
	    "[overseer]\nnotify_command = '''cat >%s'''\n", unit_path("older"));
	struct notice n = { .class = NOTICE_FAILURE };

	tell("", more, n, 1);
	ck_assert(file_exists(unit_path("older")));
}
END_TEST

/* Our end waits for it only for a short time. */
START_TEST(a_hanging_command_does_not_hold_us_up)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *command =
	    xasprintf("echo $$ >%s; exec sleep 600", unit_path("hanging"));
	struct procref ref = PROCREF_INIT;
	struct notice n = { .class = NOTICE_FAILURE };
	int64_t took = tell(command, "", n, 1);

	ck_assert_int_ge(took, PEOPLE_END_MS);
	ck_assert_int_lt(took, PEOPLE_DEADLINE_MS);
	ck_assert_int_eq(file_read(unit_path("hanging"), 100, &text, NULL), 0);
	ck_assert_int_eq(
	    procref_set(&ref, (pid_t)strtol(text.data, NULL, 10)), 0);
	procref_signal(&ref, SIGKILL);
	procref_release(&ref);
}
END_TEST

START_TEST(a_command_that_fails_is_harmless)
{
	static const char *const commands[] = { "/no/such/program", "exit 3",
		"kill -9 $$", "exec <&-; exit 0", "/dev/null", "'unbalanced" };
	struct notice n = { .class = NOTICE_FAILURE };

	for (size_t i = 0; i < nitems(commands); i++)
		ck_assert_int_lt(tell(commands[i], "", n, 1), 60000);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("people");

	unit_case(suite, "people",
	    (const TTest *[]){ the_command_gets_the_message_as_json,
		a_flood_starts_no_flood_of_processes,
		a_notice_with_an_id_is_told_once,
		a_notice_that_waits_is_told_by_the_next_program,
		only_what_was_chosen_is_told,
		the_older_name_of_the_command_is_used,
		a_hanging_command_does_not_hold_us_up,
		a_command_that_fails_is_harmless, NULL });
	return suite;
}
