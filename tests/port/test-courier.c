/* SPDX-License-Identifier: ISC */

/* Events through a webhook at a server that is well, or not. */
#include "http-world.h"

#include <dirent.h>

#include "channel.h"
#include "courier.h"
#include "notice.h"
#include "id.h"
#include "message.h"
#include "people.h"
#include "settings.h"

#define SECRET "tok-0123456789abcdef"
#define HOOK   "token_env = \"LLMC_TEST_TOKEN\"\n"

struct scene {
	struct http_world *w;
	struct settings *settings;
	struct courier *courier;
};

static struct scene
begin(enum http_mood mood, const char *type, const char *more)
{
	struct scene s = { .w = http_world_new() };

	setenv("LLMC_TEST_TOKEN", SECRET, 1);
	s.w->mood = mood;
	s.settings = http_world_settings(s.w, type, more);
	s.courier = http_world_courier(s.w, s.settings, "autod");
	return s;
}

static void
end(struct scene *s)
{
	courier_free(s->courier);
	settings_free(s->settings);
	http_world_free(s->w);
}

static void
put(struct scene *s, const char *signature, const char *text)
{
	courier_put(s->courier,
	    &(struct escalation){ .level = ESCALATION_EMERGENCY,
		.title = "it has ended",
		.text = text,
		.signature = signature,
		.worker = "adam" });
}

static bool
is_done(void *arg)
{
	const struct scene *s = arg;

	return http_world_done(s->w) == 1 && http_world_waiting(s->w) == 0;
}

static bool
has_failed(void *arg)
{
	const struct scene *s = arg;
	cleanup_free char *reason = NULL, *state = NULL;

	state = http_world_state(s->w, NULL, NULL, &reason);
	return reason != NULL && reason[0] != '\0';
}

void
unit_begin(void)
{
	unit_hurry(10);
}

TEST(an_event_is_sent_once_and_noted)
{
	ended_by(end) struct scene s = begin(HTTP_WELL, "webhook", HOOK);
	cleanup_free char *state = NULL;
	int attempts = 0;

	put(&s, "a", "so it is");
	http_world_until(s.w, is_done, &s);
	ck_assert_uint_eq(s.w->count, 1);
	ck_assert_str_eq(s.w->seen[0].uri, "/hook");
	ck_assert_str_eq(s.w->seen[0].authorization, "Bearer " SECRET);
	ck_assert_str_eq(
	    s.w->seen[0].key, json_string_or(s.w->seen[0].body, "id", ""));
	ck_assert_str_eq(
	    json_string_or(s.w->seen[0].body, "level", ""), "emergency");
	state = http_world_state(s.w, &attempts, NULL, NULL);
	ck_assert_str_eq(state, "sent");
	ck_assert_int_eq(attempts, 1);
}

static const struct {
	enum http_mood mood;
	const char *words; /* in the reason */
	int64_t wait_ms; /* at least */
} moods[] = {
	{ HTTP_HANGS, "stopped after", 1 },
	{ HTTP_500, "answered 500", 1 },
	{ HTTP_429, "answered 429", 60 * 1000 },
	{ HTTP_REDIRECT, "answered 302", 1 },
	{ HTTP_DENIES, "answered 401", 1 },
	{ HTTP_ECHOES, "answered 401", 1 },
	{ HTTP_RAW, "curl", 1 },
	{ HTTP_HALF, "curl", 1 },
	{ HTTP_CLOSES, "curl", 1 },
	{ HTTP_ENDLESS, "curl", 1 },
	{ HTTP_REFUSES, "curl", 1 },
};

/* It waits, and arrives when the server is well again. */
TEST_ROWS(a_server_that_fails_gets_it_later, nitems(moods))
{
	ended_by(end) struct scene s = begin(moods[_i].mood, "webhook", HOOK);
	cleanup_free char *reason = NULL, *state = NULL;
	cleanup_free char *id = NULL;
	int attempts = 0;
	int64_t wait = 0;

	put(&s, "a", "so it is");
	http_world_until(s.w, has_failed, &s);
	state = http_world_state(s.w, &attempts, &wait, &reason);
	ck_assert_str_eq(state, "waiting");
	ck_assert_int_ge(attempts, 1);
	ck_assert_msg(strstr(reason, moods[_i].words) != NULL, "%s", reason);
	ck_assert_ptr_null(strstr(reason, SECRET));
	if (moods[_i].wait_ms > 1)
		ck_assert_int_ge(wait, moods[_i].wait_ms);
	if (s.w->count > 0)
		id = xstrdup(s.w->seen[0].key);
	s.w->mood = HTTP_WELL;
	settings_free(s.settings);
	s.settings = http_world_settings(s.w, "webhook", HOOK);
	courier_channels(s.courier, settings_channels(s.settings));
	http_world_until(s.w, is_done, &s);
	if (id != NULL)
		ck_assert_str_eq(s.w->seen[s.w->count - 1].key, id);
}

static bool
other_has_it(void *arg)
{
	return file_exists(arg);
}

/* One of them is dead, the other one is served. */
TEST(each_channel_fails_alone)
{
	ended_by(end) struct scene s = begin(HTTP_REFUSES, "webhook", HOOK);
	cleanup_free char *text =
	    xasprintf(HOOK "[people.channels.y]\ntype = \"webhook\"\nurl = "
			   "\"http://127.0.0.1:%d/y\"\n",
		s.w->port);

	settings_free(s.settings);
	s.settings = http_world_settings(s.w, "webhook", text);
	courier_channels(s.courier, settings_channels(s.settings));
	put(&s, "a", "so it is");
	http_world_await(s.w, 1);
	ck_assert_str_eq(s.w->seen[0].uri, "/y");
	ck_assert_ptr_null(s.w->seen[0].authorization);
}

/* While one hangs, not only after it. */
TEST(a_channel_that_hangs_does_not_delay_others)
{
	ended_by(end) struct scene s = begin(HTTP_HANGS, "webhook", HOOK);
	cleanup_free char *other = xstrdup(unit_path("other"));
	cleanup_free char *text =
	    xasprintf(HOOK "[people.channels.y]\ntype = \"command\"\n"
			   "command = \"cat >'%s'\"\n",
		other);
	cleanup_free char *state = NULL;
	int attempts = 0;

	settings_free(s.settings);
	s.settings = http_world_settings(s.w, "webhook", text);
	courier_channels(s.courier, settings_channels(s.settings));
	put(&s, "a", "so it is");
	http_world_until(s.w, other_has_it, other);
	state = http_world_state(s.w, &attempts, NULL, NULL);
	ck_assert_str_eq(state, "waiting");
	ck_assert_int_eq(attempts, 1);
}

/* What everybody can see of all processes. */
static void
look_at_processes(struct http_world *w, const struct http_seen *seen)
{
	cleanup_free char *url = xasprintf("127.0.0.1:%d/hook", w->port);
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	size_t curls = 0;

	(void)seen;
	while ((entry = readdir(proc)) != NULL) {
		cleanup_free char *path =
		    xasprintf("/proc/%s/cmdline", entry->d_name);
		cleanup_buf struct buf line = BUF_INIT;

		if (file_read(path, 1 << 20, &line, NULL) < 0)
			continue;
		for (size_t i = 0; i < line.len; i++)
			if (line.data[i] == '\0')
				line.data[i] = ' ';
		curls += strcmp(line.data, "curl -q --config - ") == 0;
		ck_assert_ptr_null(strstr(line.data, SECRET));
		ck_assert_ptr_null(strstr(line.data, url));
		ck_assert_ptr_null(strstr(line.data, "so it is"));
	}
	closedir(proc);
	ck_assert_uint_ge(curls, 1);
}

/* While curl runs, and in what is left afterwards. */
TEST(no_secret_shows_in_a_list_of_processes_or_on_disk)
{
	ended_by(end) struct scene s = begin(HTTP_WELL, "webhook", HOOK);
	cleanup_free char *grep =
	    xasprintf("grep -rq '" SECRET "' '%s/.llmc'", s.w->root);
	cleanup_free char *find = xasprintf("test -z \"$(find '%s/.llmc' "
					    "-type f ! -perm 600)\"",
	    s.w->root);
	cleanup_free char *bodies = xasprintf(
	    "test -z \"$(find '%s/.llmc' -name '*.body')\"", s.w->root);
	struct child_spec spec = { .shell = grep };
	cleanup_child_result struct child_result one, two, three;

	child_result_init(&one);
	child_result_init(&two);
	child_result_init(&three);
	s.w->on_seen = look_at_processes;
	put(&s, "a", "so it is");
	http_world_until(s.w, is_done, &s);
	ck_assert_uint_eq(s.w->count, 1);
	ck_assert_int_eq(child_run(&spec, &one, NULL), 0);
	ck_assert_int_eq(one.status, 1);
	spec.shell = find;
	ck_assert_int_eq(child_run(&spec, &two, NULL), 0);
	ck_assert(child_succeeded(&two));
	spec.shell = bodies;
	ck_assert_int_eq(child_run(&spec, &three, NULL), 0);
	ck_assert(child_succeeded(&three));
}

static mode_t body_mode;

static void
look_at_body(struct http_world *w, const struct http_seen *seen)
{
	cleanup_free char *path =
	    xasprintf("%s/.llmc/%s-x.body", w->root, seen->key);
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	body_mode = st.st_mode & 0777;
}

TEST(only_the_owner_can_read_a_body)
{
	ended_by(end) struct scene s = begin(HTTP_WELL, "webhook", "");

	umask(0);
	s.w->on_seen = look_at_body;
	put(&s, "a", "so it is");
	http_world_until(s.w, is_done, &s);
	ck_assert_uint_eq(body_mode, 0600);
}

static const char *const bad_tokens[] = { "", "two words\n", "a\nb\n",
	"\x01\n" };

TEST_ROWS(what_is_no_token_is_not_sent, nitems(bad_tokens))
{
	ended_by(end) struct scene s =
	    begin(HTTP_WELL, "webhook", "token_file = \"t\"\n");
	cleanup_free char *file = xasprintf("%s/t", s.w->root);
	cleanup_free char *reason = NULL, *state = NULL;

	ck_assert_int_eq(file_replace(file, bad_tokens[_i],
			     strlen(bad_tokens[_i]), 0600, NULL),
	    0);
	put(&s, "a", "so it is");
	http_world_until(s.w, has_failed, &s);
	state = http_world_state(s.w, NULL, NULL, &reason);
	ck_assert_ptr_nonnull(strstr(reason, "does not hold a token"));
	ck_assert_uint_eq(s.w->count, 0);
	/* It is sent with the one that is there later. */
	ck_assert_int_eq(file_replace(file, "good\n", 5, 0600, NULL), 0);
	http_world_until(s.w, is_done, &s);
	ck_assert_str_eq(s.w->seen[0].authorization, "Bearer good");
}

TEST(a_token_that_others_can_read_is_not_used)
{
	ended_by(end) struct scene s =
	    begin(HTTP_WELL, "webhook", "token_file = \"t\"\n");
	cleanup_free char *file = xasprintf("%s/t", s.w->root);
	cleanup_free char *reason = NULL, *state = NULL;

	ck_assert_int_eq(file_replace(file, "good\n", 5, 0600, NULL), 0);
	ck_assert_int_eq(chmod(file, 0640), 0);
	put(&s, "a", "so it is");
	http_world_until(s.w, has_failed, &s);
	state = http_world_state(s.w, NULL, NULL, &reason);
	ck_assert_ptr_nonnull(strstr(reason, "type: chmod 600"));
	ck_assert_uint_eq(s.w->count, 0);
	ck_assert_int_eq(chmod(file, 0600), 0);
	http_world_until(s.w, is_done, &s);
	ck_assert_str_eq(s.w->seen[0].authorization, "Bearer good");
}

static bool
is_two(void *arg)
{
	const struct scene *s = arg;

	return http_world_done(s->w) == 2 && http_world_waiting(s->w) == 0;
}

TEST(a_flood_becomes_two_messages)
{
	ended_by(end) struct scene s = begin(HTTP_WELL, "webhook", "");
	struct json_object *context;

	for (int i = 0; i < 1000; i++)
		put(&s, "a", "so it is");
	http_world_until(s.w, is_two, &s);
	ck_assert_uint_eq(s.w->count, 2);
	context = json_object_object_get(s.w->seen[1].body, "context");
	ck_assert_int_eq(json_int_or(context, "count", 0), 999);
}

/* More different failures than the channel may send at once. */
TEST(a_channel_rests_between_many_messages)
{
	ended_by(end) struct scene s = begin(HTTP_WELL, "webhook", "");
	int64_t began = clock_mono_ms();

	for (int i = 0; i < CHANNEL_BURST + 2; i++) {
		cleanup_free char *name = xasprintf("s%d", i);

		put(&s, name, "so it is");
	}
	http_world_await(s.w, CHANNEL_BURST + 2);
	ck_assert_int_ge(clock_mono_ms() - began, CHANNEL_EACH_MS);
}

/* --- a disk that is full, too much that waits --------------------------- */

TEST(what_could_not_be_written_is_sent_when_it_can)
{
	ended_by(end) struct scene s = begin(HTTP_WELL, "webhook", "");
	cleanup_free char *file =
	    xasprintf("%s/.llmc/overseer-messages.json", s.w->root);

	ck_assert_int_eq(mkdir(file, 0700), 0);
	put(&s, "a", "so it is");
	ck_assert_int_eq(rmdir(file), 0);
	http_world_until(s.w, is_done, &s);
	ck_assert_uint_eq(s.w->count, 1);
}

/* As after a day with a dead server: what is new is sent. */
TEST(the_oldest_of_too_many_is_given_up)
{
	ended_by(end) struct scene s = begin(HTTP_WELL, "webhook", "");
	const struct escalation old = { .level = ESCALATION_EMERGENCY,
		.title = "old",
		.signature = "old" };
	int64_t later = clock_wall_ms() + 3600 * 1000;

	for (int i = 0; i < COURIER_WAITING_MAX; i++) {
		char id[ID_ULID_SIZE];

		id_ulid(1000 + i, id);
		courier_take(s.courier,
		    message_new(&old, settings_channels(s.settings), id,
			"2026-01-01T00:00:00.000Z", "/r", "autod", later));
	}
	put(&s, "a", "so it is");
	http_world_await(s.w, 1);
	ck_assert_ptr_nonnull(
	    strstr(json_object_to_json_string(s.w->seen[0].body), "so it is"));
	ck_assert_uint_ge(http_world_done(s.w), 1);
}

/* --- death ------------------------------------------------------------ */

static pid_t victim;

static void
kill_victim(struct http_world *w, const struct http_seen *seen)
{
	(void)w;
	(void)seen;
	if (victim == 0)
		return;
	ck_assert_int_eq(kill(victim, SIGKILL), 0);
	ck_assert_int_eq(waitpid(victim, NULL, 0), victim);
	victim = 0;
}

static void
send_and_wait(struct scene *s)
{
	s->courier = http_world_courier(s->w, s->settings, "overseer");
	put(s, "a", "so it is");
	loop_run(s->w->loop);
	_exit(1);
}

/* The daemon that takes the spool. */
struct heir {
	struct courier *courier;
	struct message *list[8];
	size_t count;
};

static void
on_inherited(struct message *message, void *arg)
{
	struct heir *heir = arg;

	ck_assert_uint_lt(heir->count, nitems(heir->list));
	heir->list[heir->count++] = message;
}

static struct heir
inherit(const char *root)
{
	struct heir heir = { 0 };

	ck_assert(message_spool_take(root, on_inherited, &heir));
	return heir;
}

static void
heir_free(struct heir *heir)
{
	while (heir->count > 0)
		message_free(heir->list[--heir->count]);
}

/* The sender is killed when its message has arrived, before it can note that:
 * whoever comes next sends it again, with the same id. */
TEST(a_message_of_a_killed_sender_comes_again_with_its_id)
{
	ended_by(end) struct scene s = begin(HTTP_WELL, "webhook", "");

	courier_free(s.courier);
	s.w->on_seen = kill_victim;
	victim = fork();
	ck_assert_int_ge(victim, 0);
	if (victim == 0) {
		s.w->loop = loop_new();
		s.w->spool = NULL;
		send_and_wait(&s);
	}
	http_world_await(s.w, 1);
	ck_assert_uint_eq(http_world_waiting(s.w), 1);
	s.courier = http_world_courier(s.w, s.settings, "autod");
	http_world_until(s.w, is_done, &s);
	ck_assert_uint_eq(s.w->count, 2);
	ck_assert_str_eq(s.w->seen[0].key, s.w->seen[1].key);
	ck_assert_str_eq(
	    json_string_or(s.w->seen[1].body, "program", ""), "overseer");
}

/* The daemon is killed after it has taken the spool, before or after it has
 * filed it: the next one gets the same messages, until they are filed. */
TEST(a_spool_is_there_until_it_is_filed)
{
	ended_by(end) struct scene s = begin(HTTP_REFUSES, "webhook", "");
	struct heir first, second;

	put(&s, "a", "so it is");
	http_world_until(s.w, has_failed, &s);
	first = inherit(s.w->root);
	second = inherit(s.w->root);
	ck_assert_uint_eq(first.count, 1);
	ck_assert_uint_eq(second.count, 1);
	ck_assert_str_eq(first.list[0]->id, second.list[0]->id);
	ck_assert_int_eq(second.list[0]->deliveries[0].attempts, 1);
	message_spool_taken(s.w->root);
	ck_assert(!message_spool_take(s.w->root, on_inherited, &second));
	heir_free(&first);
	heir_free(&second);
}

static bool
is_taken_note(void *arg)
{
	const struct scene *s = arg;

	return http_world_waiting(s->w) == 1;
}

/* What the overseer has told before is the daemon's; what it tells afterwards
 * is in another file, and the first one is not sent by both. */
TEST(what_a_daemon_has_taken_is_not_sent_by_the_overseer)
{
	ended_by(end) struct scene s = begin(HTTP_REFUSES, "webhook", "");
	struct heir first, second;
	struct settings *well;

	put(&s, "a", "the first");
	http_world_until(s.w, has_failed, &s);
	first = inherit(s.w->root);
	message_spool_taken(s.w->root);
	put(&s, "b", "the second");
	http_world_until(s.w, is_taken_note, &s);
	s.w->mood = HTTP_WELL;
	well = http_world_settings(s.w, "webhook", "");
	courier_channels(s.courier, settings_channels(well));
	http_world_until(s.w, is_done, &s);
	ck_assert_uint_eq(s.w->count, 1);
	second = inherit(s.w->root);
	ck_assert_uint_eq(second.count, 1);
	ck_assert_str_eq(second.list[0]->text, "the second");
	ck_assert_ptr_nonnull(message_sent_by(second.list[0]));
	ck_assert_str_ne(first.list[0]->id, second.list[0]->id);
	heir_free(&first);
	heir_free(&second);
	settings_free(well);
}

static struct heir taker;

static void
take_now(struct http_world *w, const struct http_seen *seen)
{
	(void)seen;
	taker = inherit(w->root);
	message_spool_taken(w->root);
}

/* The daemon takes it while it is being sent: it learns that it was, before it
 * would try. */
TEST(what_is_sent_while_it_is_taken_is_told_to_the_daemon)
{
	ended_by(end) struct scene s = begin(HTTP_WELL, "webhook", "");
	struct heir after;

	s.w->on_seen = take_now;
	put(&s, "a", "so it is");
	http_world_until(s.w, is_done, &s);
	after = inherit(s.w->root);
	ck_assert_uint_eq(after.count, 1);
	ck_assert_str_eq(after.list[0]->id, taker.list[0]->id);
	ck_assert(!message_is_done(taker.list[0]));
	ck_assert_int_gt(delivery_wait_ms(&taker.list[0]->deliveries[0],
			     taker.list[0]->at_ms),
	    0);
	ck_assert(message_learn(taker.list[0], after.list[0]));
	ck_assert_ptr_nonnull(message_sent_by(taker.list[0]));
	heir_free(&taker);
	heir_free(&after);
}

TEST(a_file_that_holds_no_messages_is_put_aside)
{
	ended_by(end) struct scene s = begin(HTTP_WELL, "webhook", "");
	cleanup_free char *file =
	    xasprintf("%s/.llmc/overseer-messages.json", s.w->root);
	cleanup_free char *aside =
	    xasprintf("%s/.llmc/overseer-messages.broken", s.w->root);

	courier_free(s.courier);
	ck_assert_int_eq(file_replace(file, "{}", 2, 0600, NULL), 0);
	s.courier = http_world_courier(s.w, s.settings, "overseer");
	put(&s, "a", "so it is");
	http_world_until(s.w, is_done, &s);
	ck_assert(file_exists(aside));
}

/* --- other channels --------------------------------------------------- */

TEST(a_command_gets_the_event)
{
	cleanup_free char *more = xasprintf(
	    "command = '''cat >'%s'; test \"$LLMC_TEST_TOKEN\" = \"\"'''\n" HOOK,
	    unit_path("told"));
	ended_by(end) struct scene s = begin(HTTP_WELL, "command", more);
	cleanup_json struct json_object *json = NULL;
	cleanup_free char *state = NULL;

	put(&s, "a", "so it is");
	http_world_until(s.w, is_done, &s);
	state = http_world_state(s.w, NULL, NULL, NULL);
	ck_assert_str_eq(state, "sent");
	ck_assert_int_eq(json_load(unit_path("told"), 1 << 20, &json, NULL), 0);
	ck_assert_str_eq(json_string_or(json, "level", ""), "emergency");
}

TEST(without_a_session_a_desktop_is_skipped)
{
	cleanup_free char *state = NULL, *reason = NULL;
	ended_by(end) struct scene s;

	unsetenv("DISPLAY");
	unsetenv("WAYLAND_DISPLAY");
	s = begin(HTTP_WELL, "desktop", "");
	put(&s, "a", "so it is");
	http_world_until(s.w, is_done, &s);
	state = http_world_state(s.w, NULL, NULL, &reason);
	ck_assert_str_eq(state, "skipped");
	ck_assert_ptr_nonnull(strstr(reason, "desktop session"));
}

TEST(a_desktop_with_a_session_shows_a_notice)
{
	static const char script[] =
	    "#!/bin/sh\nfor a; do echo \"$a\"; done >\"$TOLD\"\n";
	cleanup_free char *path =
	    xasprintf("%s/bin:%s", unit_scratch(), getenv("PATH"));
	cleanup_buf struct buf text = BUF_INIT;
	ended_by(end) struct scene s;

	file_mkdirs(unit_path("bin"), 0700, NULL);
	ck_assert_int_eq(file_replace(unit_path("bin/notify-send"), script,
			     sizeof script - 1, 0700, NULL),
	    0);
	setenv("PATH", path, 1);
	setenv("DISPLAY", ":99", 1);
	setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/none", 1);
	setenv("TOLD", unit_path("shown"), 1);
	s = begin(HTTP_WELL, "desktop", "");
	put(&s, "a", "<b>so it is</b>");
	http_world_until(s.w, is_done, &s);
	ck_assert_int_eq(
	    file_read(unit_path("shown"), 1 << 16, &text, NULL), 0);
	ck_assert_ptr_nonnull(strstr(text.data,
	    "--urgency\ncritical\n--\nllmc EMERGENCY: it has ended\n"
	    "&lt;b&gt;so it is&lt;/b&gt;\n"));
}

TEST(a_channel_that_is_gone_is_skipped)
{
	ended_by(end) struct scene s = begin(HTTP_REFUSES, "webhook", "");
	cleanup_free char *state = NULL;
	struct settings *fresh;

	put(&s, "a", "so it is");
	http_world_until(s.w, has_failed, &s);
	fresh = http_world_settings(s.w, "webhook", "enabled = false\n");
	courier_channels(s.courier, settings_channels(fresh));
	http_world_until(s.w, is_done, &s);
	state = http_world_state(s.w, NULL, NULL, NULL);
	ck_assert_str_eq(state, "skipped");
	settings_free(fresh);
}
