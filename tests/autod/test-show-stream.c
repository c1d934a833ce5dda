/* SPDX-License-Identifier: ISC */

/* The view for those who follow it, on the whole daemon. */
#include "team-world.h"
#include "book-history.h"
#include "message.h"
#include "person.h"
#include "show.h"
#include "rpc.h"
#include "source.h"
#include "view-state.h"
#include "view.h"
#include "json-short.h"

/* How often a view was made (the linker puts this in between). */
static int made;

void __real_view_needs(struct json_object *view);
void __wrap_view_needs(struct json_object *view);

void
__wrap_view_needs(struct json_object *view)
{
	made++;
	__real_view_needs(view);
}

/* --- the world ------------------------------------------------------- */

/* Somebody who follows, and has what was sent. */
struct reader {
	struct show_follower *follower;
	struct json_object *view;
	int64_t seq;
	int snapshots, changes;
	bool ended, refuses;
};

static struct show_floor *show;

static void
end(void)
{
	if (show == NULL)
		return;
	show_floor_free(take_ptr(&show));
	team_world_end();
}

static void
begin(const char *settings)
{
	team_world_begin(settings);
	show = show_floor_new(team_world.team, NULL, NULL);
	auto_world_live();
	floor_world_settle();
	made = 0;
}

void
unit_before(void)
{
	begin(NULL);
	unit_at_end(end);
}

static int
on_body(const char *what, struct json_object *body, void *arg)
{
	struct reader *r = arg;
	int64_t seq = json_int_or(body, "seq", 0);

	if (body == NULL) {
		r->ended = true;
		show_stream_leave(take_ptr(&r->follower));
		return -EPIPE;
	}
	if (strcmp(what, "snapshot") == 0) {
		/* Its own: the stream shares what it hands out. */
		const char *text = json_object_to_json_string(
		    json_object_object_get(body, "view"));

		r->snapshots++;
		json_object_put(r->view);
		r->view = json_tokener_parse(text);
	} else {
		ck_assert_str_eq(what, "change");
		ck_assert_int_eq(seq, r->seq + 1);
		r->changes++;
		ck_assert_int_eq(
		    view_apply(r->view, json_object_object_get(body, "change")),
		    0);
	}
	r->seq = seq;
	return r->refuses ? -ENOBUFS : 0;
}

static void
follow(struct reader *r)
{
	*r = (struct reader){ 0 };
	r->follower = show_stream_follow(show->stream, on_body, r);
}

static void
leave(struct reader *r)
{
	show_stream_leave(take_ptr(&r->follower));
	json_object_put(take_ptr(&r->view));
}

/* What it has is what there is. */
static bool
is_current(void *arg)
{
	const struct reader *r = arg;
	int before = made;
	cleanup_json struct json_object *now = show_snapshot(show, NULL);

	made = before;
	json_object_object_del(view_of(now, "head"), "lag_ms");
	json_object_object_del(view_of(r->view, "head"), "lag_ms");
	return json_object_equal(now, r->view);
}

static void
catch_up(struct reader *r)
{
	floor_world_wait(is_current, r);
}

static struct agent *
add_worker(const char *name)
{
	struct agent *agent = floor_world_add(name, WORKER_WORKING);

	persist_changed(floor_world.core);
	return agent;
}

/* --- following ------------------------------------------------------- */

TEST(a_snapshot_comes_first_then_what_changes)
{
	struct reader r;
	struct agent *eve;

	follow(&r);
	ck_assert_int_eq(r.snapshots, 1);
	ck_assert_ptr_null(view_row(r.view, "workers", "eve"));
	eve = add_worker("eve");
	catch_up(&r);
	ck_assert_ptr_nonnull(view_row(r.view, "workers", "eve"));
	xstrset(&eve->worker->reason, "because");
	persist_changed(floor_world.core);
	catch_up(&r);
	ck_assert_str_eq(
	    json_string_or(view_row(r.view, "workers", "eve"), "reason", ""),
	    "because");
	emit(floor_world.core,
	    &(struct event){ .kind = EVENT_FLEET_RESUMED, .worker = "eve" });
	catch_up(&r);
	ck_assert_int_eq(r.snapshots, 1);
	ck_assert_int_ge(r.changes, 2);
	leave(&r);
}

TEST(one_who_comes_later_gets_the_same_changes)
{
	struct reader first, second;

	follow(&first);
	add_worker("eve");
	follow(&second); /* before the change was sent */
	catch_up(&first);
	catch_up(&second);
	ck_assert_int_eq(first.seq, second.seq);
	leave(&first);
	add_worker("adam");
	catch_up(&second);
	leave(&second);
}

static bool
has_changed(void *arg)
{
	const struct reader *r = arg;

	return r->changes > 0;
}

TEST(many_changes_become_one)
{
	struct reader r;

	follow(&r);
	made = 0;
	for (int i = 0; i < 20; i++) {
		cleanup_free char *name = xasprintf("w%d", i);

		add_worker(name);
	}
	floor_world_wait(has_changed, &r);
	ck_assert_int_eq(r.changes, 1);
	ck_assert_int_eq(made, 1);
	ck_assert(is_current(&r));
	leave(&r);
}

static bool
time_is_up(void *arg)
{
	return clock_mono_ms() >= *(int64_t *)arg;
}

/* Longer than any change waits. */
static void
pass(void)
{
	int64_t until = clock_mono_ms() + (int64_t)4 * SHOW_PAUSE_MS;

	floor_world_wait(time_is_up, &until);
}

TEST(a_storm_of_changes_is_sent_at_intervals)
{
	int64_t began, until;
	struct reader r;

	add_worker("eve");
	follow(&r);
	catch_up(&r);
	pass();
	made = 0;
	began = clock_mono_ms();
	while (made < 5) {
		persist_note(floor_world.core);
		until = clock_mono_ms() + 2;
		floor_world_wait(time_is_up, &until);
	}
	ck_assert_int_ge(clock_mono_ms() - began, (int64_t)4 * SHOW_PAUSE_MS);
	leave(&r);
}

TEST(nothing_is_computed_while_nobody_follows)
{
	struct reader r;

	add_worker("eve");
	emit(floor_world.core, &(struct event){ .kind = EVENT_FLEET_RESUMED });
	pass();
	ck_assert_int_eq(made, 0);
	follow(&r);
	catch_up(&r);
	pass();
	made = 0;
	pass(); /* nothing changes by itself */
	ck_assert_int_eq(made, 0);
	add_worker("adam");
	leave(&r); /* before the change was sent */
	pass();
	ck_assert_int_eq(made, 0);
}

TEST(one_who_refuses_gets_nothing_more_and_harms_nobody)
{
	struct reader slow, other;

	follow(&slow);
	follow(&other);
	slow.refuses = true;
	add_worker("eve");
	catch_up(&other);
	ck_assert_int_eq(slow.changes, 1);
	add_worker("adam");
	catch_up(&other);
	ck_assert_int_eq(slow.changes, 1);
	leave(&slow);
	add_worker("bob");
	catch_up(&other);
	leave(&other);
}

TEST(those_who_follow_are_told_of_the_end)
{
	struct reader a, b;
	int fd;

	follow(&a);
	follow(&b);
	fd = floor_world_send("view.follow", "{}");
	add_worker("eve");
	catch_up(&a);
	end();
	ck_assert(a.ended && b.ended);
	json_object_put(a.view);
	json_object_put(b.view);
	close(fd);
}

/* --- what nobody was told -------------------------------------------- */

static bool
on_any(const struct message *message, void *arg)
{
	struct message **ret = arg;

	*ret = book_find_message(floor_world.core->book, message->id);
	return false;
}

/* The only message, once it was tried and failed; the caller frees it. */
static struct message *
failed_message(void)
{
	struct message *m = NULL;

	while (m == NULL || m->deliveries[0].reason == NULL) {
		message_free(m);
		m = NULL;
		floor_world_settle();
		book_look_messages(floor_world.core->book, 0, on_any, &m, NULL);
	}
	return m;
}

static const char *
channel_need(const struct reader *r)
{
	return json_string_or(
	    view_row(r->view, "needs", "m-channel"), "words", "");
}

TEST(channels_that_fail_are_said_until_one_gets_through)
{
	struct courier_store store;
	struct message *m;
	struct reader r;

	end();
	begin("[people.channels.x]\ntype = \"command\"\n"
	      "command = \"exit 3\"\n");
	store = messages_store(floor_world.core);
	follow(&r);
	person_escalate(floor_world.core,
	    &(struct escalation){ .level = ESCALATION_CRITICAL,
		.event = "e1",
		.title = "work is stuck",
		.signature = "s",
		.task = "t1" });
	m = failed_message();
	catch_up(&r);
	ck_assert_uint_eq(floor_world.core->state.ask_count, 1);
	ck_assert_str_eq(channel_need(&r), ""); /* it is tried again */
	while (m->deliveries[0].attempts < 3)
		delivery_begin(&m->deliveries[0], clock_wall_ms());
	store.save(m, store.arg);
	catch_up(&r);
	floor_has(channel_need(&r), "nothing could be sent to you since 2");
	floor_has(channel_need(&r), ": x: exited with status 3");
	delivery_end(&m->deliveries[0], DELIVERY_SENT, NULL, NULL);
	store.save(m, store.arg);
	catch_up(&r);
	ck_assert_str_eq(channel_need(&r), "");
	message_free(m);
	leave(&r);
}

/* --- over the socket ------------------------------------------------- */

/* Lines from the daemon. */
struct line {
	int fd;
	struct buf bytes;
	bool ended;
};

static bool
has_line(void *arg)
{
	struct line *line = arg;
	char bytes[65536];
	ssize_t n = 1;

	while (
	    n > 0 && memchr(line->bytes.data, '\n', line->bytes.len) == NULL) {
		struct pollfd p = { .fd = line->fd, .events = POLLIN };

		if (poll(&p, 1, 0) <= 0)
			return false;
		n = read(line->fd, bytes, sizeof bytes);
		if (n > 0)
			buf_add(&line->bytes, bytes, (size_t)n);
	}
	line->ended = n <= 0;
	return true;
}

/* The next notification, which the caller owns; NULL = it was cut off. */
static struct json_object *
next(struct line *line, const char *method)
{
	struct rpc_message message;
	struct json_object *params;
	size_t len;

	floor_world_wait(has_line, line);
	if (line->ended)
		return NULL;
	len = strcspn(line->bytes.data, "\n");
	ck_assert_int_eq(
	    rpc_decode(line->bytes.data, len, &message, NULL, NULL, NULL), 0);
	ck_assert_str_eq(message.method, method);
	params = json_object_get(message.params);
	rpc_message_release(&message);
	buf_consume(&line->bytes, len + 1);
	return params;
}

/* So many bytes of words in the rows of tasks. */
static void
add_tasks(int count, const char *words)
{
	xstrset(&floor_world.core->state.paused, "nobody gets one");
	for (int i = 0; i < count; i++) {
		cleanup_free char *id = state_task_id(&floor_world.core->state);
		struct task *task =
		    task_new(id, "tasks", id, "A title", "text", 1);

		task->step = TASK_WAITING;
		xstrset(&task->last_words, words);
		xstrset(&task->reason, words);
		state_add_task(&floor_world.core->state, task);
	}
	persist_changed(floor_world.core);
}

static void
change_tasks(int n)
{
	struct state *state = &floor_world.core->state;

	for (size_t i = 0; i < state->task_count; i++)
		state->tasks[i]->turns = n;
	persist_changed(floor_world.core);
}

static char *
long_words(size_t len)
{
	char *words = xcalloc(1, len + 1);

	memset(words, 'x', len);
	return words;
}

TEST(a_slow_reader_is_cut_off_and_begins_again)
{
	cleanup_free char *words = long_words(1000);
	struct line slow = { .bytes = BUF_INIT }, again = { .bytes = BUF_INIT };
	cleanup_json struct json_object *first = NULL, *second = NULL;
	struct json_object *body, *row;
	struct reader other;
	int64_t last = 0;

	add_tasks(300, words);
	follow(&other);
	slow.fd = floor_world_send("view.follow", "{}");
	first = next(&slow, "snapshot");
	ck_assert_ptr_nonnull(first);
	/* It reads nothing, and the others do not notice. */
	for (int i = 1; i <= 20; i++) {
		change_tasks(i);
		catch_up(&other);
	}
	while ((body = next(&slow, "change")) != NULL) {
		last = json_int_or(body, "seq", 0);
		json_object_put(body);
	}
	ck_assert_int_lt(last, other.seq);
	again.fd = floor_world_send("view.follow", "{}");
	second = next(&again, "snapshot");
	/* A change may have come since; it fits to this one. */
	ck_assert_int_gt(json_int_or(second, "seq", 0), last);
	ck_assert_int_le(json_int_or(second, "seq", 0), other.seq);
	row = view_row(json_object_object_get(second, "view"), "tasks", "t1");
	ck_assert_int_eq(json_int_or(row, "turns", 0), 20);
	leave(&other);
	close(slow.fd);
	close(again.fd);
	buf_release(&slow.bytes);
	buf_release(&again.bytes);
}

static void
file_task(const struct task *task)
{
	book_file_task(floor_world.core->book, task);
}

static void
add_details(struct task *task, const char *words)
{
	task->attempts = 1;
	task->attempt.report = json_object_new_object();
	json_set_string(task->attempt.report, "summary", words);
	for (int i = 0; i < 6; i++)
		task_note(task, "sent back", words, i + 1);
}

/* All that is long; details where they are shown. */
static void
make_long(const char *words)
{
	struct state *state = &floor_world.core->state;

	for (size_t i = 0; i < state->task_count; i++) {
		struct task *task = state->tasks[i];

		task->step = i % 3 == 0 ? TASK_PARKED : TASK_WAITING;
		xstrset(&task->title, words);
		xstrset(&task->key, words);
		if (i < 3 * VIEW_TASKS_WHOLE)
			add_details(task, words);
	}
	for (size_t i = 0; i < SHOW_ENDED_MAX; i++)
		file_task(state->tasks[i]);
	persist_changed(floor_world.core);
}

TEST(however_many_tasks_there_are_the_view_fits)
{
	cleanup_free char *words = long_words(1100);
	struct line line = { .bytes = BUF_INIT };
	cleanup_json struct json_object *body = NULL, *change = NULL;
	struct json_object *row;
	struct floor_call *call;

	add_tasks(VIEW_TASKS_MAX + VIEW_PARKED_MAX, words);
	make_long(words);
	line.fd = floor_world_send("view.follow", "{}");
	body = next(&line, "snapshot");
	row = view_row(json_object_object_get(body, "view"), "tasks", "t2");
	ck_assert_ptr_nonnull(row);
	ck_assert_ptr_null(json_object_object_get(row, "last_words"));
	/* All of them at once. */
	change_tasks(7);
	change = next(&line, "change");
	ck_assert_ptr_nonnull(change);
	ck_assert_int_eq(
	    json_int_or(change, "seq", 0), json_int_or(body, "seq", 0) + 1);
	call = floor_world_ask("view.get", "{}");
	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert_ptr_nonnull(view_row(floor_call_result(call), "tasks", "t2"));
	close(line.fd);
	buf_release(&line.bytes);
}

/* Nobody follows: a patrol frees what the next view is made of faster. */
TEST(what_is_kept_no_longer_is_read_again)
{
	cleanup_json struct json_object *before = NULL, *after = NULL;
	cleanup_json struct json_object *change = NULL;
	struct task *task = task_new("t7", "folder", "7.md", "Seven", "x", 1);

	task->outcome = OUTCOME_LANDED;
	file_task(task);
	emit(floor_world.core, &(struct event){ .kind = EVENT_SETTINGS_READ });
	before = show_snapshot(show, NULL);
	ck_assert_ptr_nonnull(view_row(before, "ended", "t7"));
	show_stream_patrol(show->stream);
	after = show_snapshot(show, NULL);
	change = view_diff(before, after);
	ck_assert_msg(change == NULL, "%s", json_object_to_json_string(change));
	ck_assert_int_eq(json_object_array_length(view_of(after, VIEW_EVENTS)),
	    json_object_array_length(view_of(before, VIEW_EVENTS)));
	task_free(task);
}

/* --- what only files tell -------------------------------------------- */

static bool
is_asked(void *arg)
{
	const struct reader *r = arg;

	return view_row(r->view, "asks", "a1") != NULL;
}

static bool
is_overseen(void *arg)
{
	const struct reader *r = arg;
	struct json_object *overseer =
	    json_object_object_get(view_of(r->view, "head"), "overseer");

	return strcmp(json_string_or(overseer, "state", ""), "watching") == 0;
}

TEST(what_is_asked_of_a_person_is_shown)
{
	struct reader r;

	follow(&r);
	catch_up(&r);
	xstrset(&floor_world.core->state.paused, "no money");
	persist_changed(floor_world.core);
	floor_world_wait(is_asked, &r);
	ck_assert_str_eq(
	    json_string_or(view_row(r.view, "asks", "a1"), "words", ""),
	    "no money");
	leave(&r);
}

/* llmc status asks for no more. */
TEST(what_needs_a_person_can_be_had_alone)
{
	static const char failure[] = "{\"class\": \"auth\"}\n";
	cleanup_json struct json_object *view = NULL;
	cleanup_free char *file = NULL;
	struct json_object *alone;
	struct floor_call *call;

	file = workspace_path(&floor_world.workspace, "failure.json");
	ck_assert_int_eq(
	    file_replace(file, failure, strlen(failure), 0600, NULL), 0);
	xstrset(&floor_world.core->state.paused, "no money");
	persist_changed(floor_world.core);
	floor_world_settle();
	view = show_snapshot(show, NULL);
	call = floor_world_ask("view.get", "{\"sections\":[\"needs\"]}");
	ck_assert_ptr_null(floor_world_answer(call));
	alone = floor_call_result(call);
	ck_assert_int_eq(json_object_object_length(alone), 1);
	ck_assert_int_ge(json_object_object_length(view_of(alone, "needs")), 2);
	ck_assert_int_eq(
	    json_object_equal(view_of(alone, "needs"), view_of(view, "needs")),
	    1);
}

TEST(what_another_program_writes_is_shown)
{
	static const char overseer[] = "{\"state\": \"watching\"}\n";
	cleanup_free char *file = NULL;
	struct reader r;

	file = workspace_path(&floor_world.workspace, "overseer.json");
	follow(&r);
	catch_up(&r);
	ck_assert_int_eq(
	    file_replace(file, overseer, strlen(overseer), 0600, NULL), 0);
	floor_world_wait(is_overseen, &r);
	leave(&r);
}

/* --- what nobody has taken ------------------------------------------- */

struct todo {
	const struct reader *reader;
	int64_t count;
	const char *key, *title; /* NULL = there is no such row */
};

static bool
is_todo(void *arg)
{
	const struct todo *t = arg;
	struct json_object *row = view_row(t->reader->view, "todo", t->key);

	if (json_int_or(view_of(t->reader->view, "head"), "todo", -1) !=
	    t->count)
		return false;
	return t->title == NULL ?
	    row == NULL :
	    strcmp(json_string_or(row, "title", ""), t->title) == 0;
}

static void
put_task(const char *folder, const char *name, const char *text)
{
	cleanup_free char *file = file_join(folder, name);

	ck_assert_int_eq(file_replace(file, text, strlen(text), 0600, NULL), 0);
}

TEST(tasks_that_nobody_has_taken_are_shown)
{
	cleanup_free char *folder = NULL, *file = NULL;
	struct reader r;
	int fd;

	folder = workspace_path(&floor_world.workspace, "tasks/todo");
	file = file_join(folder, "1-a.md");
	ck_assert_int_eq(file_mkdirs(folder, 0700, NULL), 0);
	follow(&r);
	catch_up(&r);
	put_task(folder, "1-a.md", "Do it");
	floor_world_wait(is_todo, &(struct todo){ &r, 1, "1-a.md", "Do it" });
	fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
	ck_assert_int_eq(write(fd, " well", 5), 5);
	close(fd);
	floor_world_wait(
	    is_todo, &(struct todo){ &r, 1, "1-a.md", "Do it well" });
	ck_assert_int_eq(unlink(file), 0);
	floor_world_wait(is_todo, &(struct todo){ &r, 0, "1-a.md", NULL });
	leave(&r);
}

TEST(of_many_tasks_those_that_come_next_are_shown)
{
	cleanup_json struct json_object *view = NULL;
	cleanup_free char *folder = NULL;

	folder = workspace_path(&floor_world.workspace, "tasks/todo");
	ck_assert_int_eq(file_mkdirs(folder, 0700, NULL), 0);
	for (int i = 1; i <= SOURCE_TODO_MAX + 2; i++) {
		cleanup_free char *name = xasprintf("%d-a.md", i);

		put_task(folder, name, "Do it");
	}
	put_task(folder, "999-z.md", "priority: urgent\n\nFirst");
	view = show_snapshot(show, NULL);
	ck_assert_int_eq(json_int_or(view_of(view, "head"), "todo", -1),
	    SOURCE_TODO_MAX + 3);
	ck_assert_int_eq(
	    json_object_object_length(view_of(view, "todo")), SOURCE_TODO_MAX);
	ck_assert_int_lt(
	    json_int_or(view_row(view, "todo", "999-z.md"), "rank", 99),
	    json_int_or(view_row(view, "todo", "1-a.md"), "rank", -1));
	ck_assert_ptr_null(view_row(view, "todo", "200-a.md"));
	ck_assert_ptr_nonnull(view_row(view, "todo", "199-a.md"));
}

static size_t
count_events(const struct reader *r, const char *type)
{
	struct json_object *list = view_of(r->view, VIEW_EVENTS);
	size_t count = 0;

	JSON_EACH (row, list)
		count += strcmp(json_string_or(row, "type", ""), type) == 0;
	return count;
}

static void
retry(void)
{
	emit(floor_world.core,
	    &(struct event){
		.kind = EVENT_TASK_RETRY, .task = "t1", .reason = "R" });
}

/* Of a daemon before this one, of this one before anybody looked, and since. */
TEST(events_from_before_somebody_looked_are_shown)
{
	static const char line[] =
	    "{\"timestamp\": \"2026-01-31T10:00:00.000Z\", \"level\": "
	    "\"INFO\", \"event\": {\"type\": \"strange\"}}\n";
	cleanup_free char *file = NULL;
	struct reader r;

	file = workspace_path(&floor_world.workspace, "logs/auto.log");
	ck_assert_int_eq(
	    file_append(file, line, strlen(line), 0600, false, NULL), 0);
	retry();
	follow(&r);
	ck_assert_uint_eq(count_events(&r, "strange"), 1);
	ck_assert_uint_eq(count_events(&r, "task_retry"), 1);
	retry();
	catch_up(&r);
	ck_assert_uint_eq(count_events(&r, "task_retry"), 2);
	for (int i = 0; i < VIEW_EVENTS_MAX; i++)
		retry();
	catch_up(&r);
	/* A machine that is busy may add one of its own. */
	ck_assert_uint_eq(
	    json_object_array_length(view_of(r.view, VIEW_EVENTS)),
	    VIEW_EVENTS_MAX);
	ck_assert_uint_ge(count_events(&r, "task_retry"), VIEW_EVENTS_MAX - 2);
	ck_assert_uint_eq(count_events(&r, "strange"), 0);
	leave(&r);
}

static const struct {
	const char *method, *params;
	int at_once;
	const char *words; /* for the next one */
} slow_reads[] = {
	{ "screen.get", "{\"worker\":\"auto-1\"}", 16,
	    "16 others look at screens just now; try again in a moment" },
	{ "replay.get", "{\"task\":\"auto-1\"}", 4,
	    "4 others are being read; try again in a moment" },
};

TEST_ROWS(what_takes_long_is_read_for_some_at_once, nitems(slow_reads))
{
	struct floor_call *next;

	for (int i = 0; i < slow_reads[_i].at_once; i++)
		floor_world_ask(slow_reads[_i].method, slow_reads[_i].params);
	next = floor_world_ask(slow_reads[_i].method, slow_reads[_i].params);
	ck_assert_str_eq(floor_world_answer(next), slow_reads[_i].words);
}
