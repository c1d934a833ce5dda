/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "channel.h"
#include "courier.h"
#include "id.h"
#include "message-spool.h"
#include "message.h"
#include "people.h"
#include "settings.h"

static struct settings *
settings_with(const char *command, const char *more)
{
	struct settings_facts facts = { .root = "/r" };
	struct settings_problems problems;
	cleanup_free char *text =
	    xasprintf("[people]\nnotify_command = \"%s\"\n%s", command, more);
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
	struct people *people = people_new(loop, "/r", "autod", NULL);
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

TEST(the_command_gets_the_message_as_json)
{
	struct json_object *list[2];
	cleanup_free char *command = xasprintf("cat >'%s'", unit_path("told"));
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

/* What waits there is given to the next program, as the daemon does. */
struct giving {
	struct people *people;
	struct settings *settings;
};

static void
on_message(struct message *message, void *arg)
{
	const struct giving *giving = arg;

	people_take(giving->people, giving->settings, message);
}

/* Another program with the same messages each time. */
static void
tell_again(const char *command, const char *more, const struct notice *list,
    size_t count)
{
	struct loop *loop = loop_new();
	struct message_spool *spool = message_spool_new(loop, unit_scratch());
	const struct courier_store store = message_spool_store(spool);
	struct people *people =
	    people_new(loop, unit_scratch(), "autod", &store);
	struct settings *settings = settings_with(command, more);

	ck_assert_int_eq(file_mkdirs(unit_path(".llmc"), 0700, NULL), 0);
	message_spool_waiting(
	    spool, on_message, &(struct giving){ people, settings });
	for (size_t i = 0; i < count; i++)
		people_tell(people, settings, &list[i]);
	people_free(people);
	message_spool_free(spool);
	settings_free(settings);
	loop_free(loop);
}

static char *
channel_to(const char *file)
{
	return xasprintf("[people.channels.ops]\ntype = \"command\"\n"
			 "command = \"cat >>'%s'\"\n",
	    file);
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
	struct json_object *list[4];
	cleanup_free char *command = xasprintf("cat >>'%s'", unit_path("once"));
	cleanup_free char *channel = channel_to(unit_path("ops"));
	const struct notice both[] = {
		{ .class = NOTICE_GOAL, .id = "D_1", .why = "help" },
		{ .class = NOTICE_GOAL, .id = "D_2", .why = "more help" },
	};

	tell_again(command, channel, both, 1);
	tell_again(command, channel, both, 1);
	ck_assert_uint_eq(count_messages(unit_path("once")), 1);
	ck_assert_uint_eq(count_messages(unit_path("ops")), 1);
	tell_again(command, channel, both, 2);
	ck_assert_uint_eq(messages(unit_path("once"), list, 4), 2);
	ck_assert_str_eq(json_string_or(list[1], "why", ""), "more help");
	ck_assert_int_eq((int)json_int_or(list[1], "count", 0), 1);
	ck_assert_uint_eq(count_messages(unit_path("ops")), 2);
	json_object_put(list[0]);
	json_object_put(list[1]);
}

/* What a program leaves that was killed in the minute after another notice.
 * Returns the id of the record. */
static const char *
leave(const struct channel_list *channels, int attempts)
{
	static char id[ID_ULID_SIZE];
	const struct escalation what = { .level = ESCALATION_WARNING,
		.event = "D_1",
		.by_command = true,
		.class = "goal",
		.title = "a goal needs a person, or is reached",
		.text = "help",
		.signature = "goal" };
	struct loop *loop = loop_new();
	struct message_spool *spool = message_spool_new(loop, unit_scratch());
	struct courier_store store = message_spool_store(spool);
	struct message *record;

	ck_assert_int_eq(file_mkdirs(unit_path(".llmc"), 0700, NULL), 0);
	id_ulid(clock_wall_ms(), id);
	record = message_new(&what, channels, id, "2026-01-01T00:00:00.000Z",
	    unit_scratch(), "autod", 0);
	message_delivery(record, MESSAGE_COMMAND)->attempts = attempts;
	store.save(record, store.arg);
	message_free(record);
	message_spool_free(spool);
	loop_free(loop);
	return id;
}

TEST(a_notice_that_waits_is_told_by_the_next_program)
{
	struct json_object *list[4];
	cleanup_free char *command = xasprintf("cat >>'%s'", unit_path("late"));
	const struct notice same = {
		.class = NOTICE_GOAL, .id = "D_1", .why = "help"
	};

	leave(&(struct channel_list){ 0 }, 0);
	tell_again(command, "", &same, 1);
	tell_again(command, "", NULL, 0);
	ck_assert_uint_eq(messages(unit_path("late"), list, 4), 1);
	ck_assert_str_eq(json_string_or(list[0], "class", ""), "goal");
	ck_assert_str_eq(json_string_or(list[0], "why", ""), "help");
	json_object_put(list[0]);
}

static void
keep_last(struct message *message, void *arg)
{
	struct message **last = arg;

	message_free(*last);
	*last = message;
}

/* Of the only message. */
static enum delivery_state
state_of_command(void)
{
	struct message *last = NULL;
	enum delivery_state state;

	message_spool_read(unit_scratch(), keep_last, &last);
	ck_assert_ptr_nonnull(last);
	state = message_delivery(last, MESSAGE_COMMAND)->state;
	message_free(last);
	return state;
}

TEST(a_command_that_is_not_set_any_more_is_given_up)
{
	leave(&(struct channel_list){ 0 }, 0);
	tell_again("", "", NULL, 0);
	ck_assert_int_eq(state_of_command(), DELIVERY_FAILED);
}

/* The one before was killed while it ran: it may have been told. */
TEST(a_command_is_not_run_twice)
{
	cleanup_free char *command = xasprintf("cat >>'%s'", unit_path("told"));

	leave(&(struct channel_list){ 0 }, 1);
	tell_again(command, "", NULL, 0);
	ck_assert_uint_eq(count_messages(unit_path("told")), 0);
	ck_assert_int_eq(state_of_command(), DELIVERY_FAILED);
}

static const struct {
	const char *command;
	enum delivery_state state;
} ends[] = {
	{ "true", DELIVERY_SENT },
	{ "false", DELIVERY_FAILED },
};

TEST_ROWS(only_a_command_that_succeeds_has_told_it, nitems(ends))
{
	const struct notice notice = {
		.class = NOTICE_GOAL, .id = "D_1", .why = "help"
	};

	ck_assert_int_eq(file_mkdirs(unit_path(".llmc"), 0700, NULL), 0);
	tell_again(ends[_i].command, "", &notice, 1);
	ck_assert_int_eq(state_of_command(), ends[_i].state);
}

/* Two processes: the first notice, and all others as one. */
TEST(a_flood_starts_no_flood_of_processes)
{
	struct json_object *list[4];
	cleanup_free char *command =
	    xasprintf("cat >'%s'.$$; cat '%s'.$$ >>'%s'", unit_path("part"),
		unit_path("part"), unit_path("flood"));
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

TEST(only_what_was_chosen_is_told)
{
	cleanup_free char *command =
	    xasprintf("cat >>'%s'", unit_path("chosen"));
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

/* Our end waits for it only for a short time. */
TEST(a_hanging_command_does_not_hold_us_up)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *command =
	    xasprintf("echo $$ >'%s'; exec sleep 600", unit_path("hanging"));
	ended_by(procref_release) struct procref ref = PROCREF_INIT;
	struct notice n = { .class = NOTICE_FAILURE };
	int64_t took = tell(command, "", n, 1);

	ck_assert_int_ge(took, PEOPLE_END_MS);
	ck_assert_int_lt(took, PEOPLE_DEADLINE_MS);
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
		ck_assert_int_lt(tell(commands[i], "", n, 1), 60000);
}
