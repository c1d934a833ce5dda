/* SPDX-License-Identifier: ISC */

/* Messages are sent at least once and filed once, wherever the daemon dies. */
#include "floor-world.h"
#include "ask.h"
#include "book-history.h"
#include "book.h"
#include "channel.h"
#include "courier.h"
#include "id.h"
#include "people.h"
#include "message.h"
#include "person.h"
#include "settings.h"
#include "state.h"

static const char *told; /* a file: every message that was sent is a line */

static const char *
channel(void)
{
	static char text[1024];

	told = unit_path("told");
	snprintf(text, sizeof text,
	    "[people.channels.x]\ntype = \"command\"\ncommand = \"cat >>'%s'; "
	    "test ! -e '%s'\"\n",
	    told, unit_path("down"));
	return text;
}

static void
begin(void)
{
	floor_world_begin(channel());
	floor_world_live();
	floor_world_settle();
}

/* As killed: nothing more is saved. */
static void
die(void)
{
	floor_world.store_fails = true;
	floor_world_close();
	floor_world.store_fails = false;
}

static void
live_again(void)
{
	floor_world_open();
	floor_world_live();
	floor_world_settle();
}

/* How often it was sent. */
static size_t
sent(void)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t lines = 0;

	file_read(told, 1 << 20, &text, NULL);
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	return lines;
}

static int64_t
count(const char *sql)
{
	int64_t n = -1;

	ck_assert_int_eq(
	    book_get_int(floor_world.core->book, sql, NULL, 0, &n, NULL), 0);
	return n;
}

#define MESSAGES "SELECT count(*) FROM message AS m"
#define DONE     MESSAGES " WHERE m.done = 1"

static void
tell(void)
{
	person_escalate(floor_world.core,
	    &(struct escalation){ .level = ESCALATION_CRITICAL,
		.event = "e1",
		.title = "work is stuck",
		.text = "why",
		.signature = "s",
		.task = "t1" });
}

static const struct ask *
only(void)
{
	ck_assert_uint_eq(floor_world.core->state.ask_count, 1);
	return floor_world.core->state.asks[0];
}

void
unit_begin(void)
{
	unit_hurry(10);
}

TEST(an_ask_was_told_when_a_channel_has_taken_it)
{
	begin();
	ck_assert_int_eq(file_replace(unit_path("down"), "", 0, 0600, NULL), 0);
	tell();
	floor_world_settle();
	while (sent() == 0)
		floor_world_settle();
	ck_assert_int_eq(only()->told_ms, 0);
	ck_assert_int_eq(count(DONE), 0);
	remove(unit_path("down"));
	floor_world_until(count(MESSAGES) == 1 && count(DONE) == 1);
	ck_assert_int_gt(only()->told_ms, 0);
}

/* A channel says what can be chosen, also where the ask opens with the same
 * commit. */
TEST(a_message_has_the_options_of_its_ask)
{
	static const char *const wanted[] = { "\"continue\"", "\"abort\"",
		"\"try again\"", "\"leave it\"" };
	cleanup_buf struct buf text = BUF_INIT;
	struct task *t;

	begin();
	t = task_new("t1", "command", "k", "T", "x", 1);
	t->step = TASK_WAITING;
	ck_assert_int_eq(task_park(t, ASK_BLOCKED, NULL, "no key", 2), 0);
	state_add_task(&floor_world.core->state, t);
	person_tell(floor_world.core,
	    &(struct notice){
		.class = NOTICE_WORKER, .why = "no key", .task = "t1" });
	person_tell(floor_world.core,
	    &(struct notice){
		.class = NOTICE_TASK, .why = "it failed", .task = "t9" });
	floor_world_until(count(MESSAGES) == 2 && count(DONE) == 2);
	file_read(told, 1 << 20, &text, NULL);
	for (size_t i = 0; i < nitems(wanted); i++)
		ck_assert_msg(
		    strstr(text.data, wanted[i]) != NULL, "%s", wanted[i]);
}

/* Its parent decides what becomes of it. */
TEST(a_failed_child_is_a_notice_and_no_ask)
{
	struct task *t;

	begin();
	t = task_new("t2", "plan", "g/T1", "T", "x", 1);
	t->step = TASK_WAITING;
	xstrset(&t->launch.parent, "t1");
	xstrset(&t->launch.parent_actor, "actor:t1");
	state_add_task(&floor_world.core->state, t);
	person_tell(floor_world.core,
	    &(struct notice){
		.class = NOTICE_TASK, .why = "it failed", .task = "t2" });
	floor_world_settle();
	ck_assert_uint_eq(floor_world.core->state.ask_count, 0);
	floor_world_until(count(MESSAGES) == 1 && count(DONE) == 1);
}

/* Killed before the ask is saved: neither is there, and nothing was sent. */
TEST(nothing_is_sent_that_is_not_saved)
{
	begin();
	floor_world.store_fails = true;
	tell();
	die();
	ck_assert_uint_eq(sent(), 0);
	live_again();
	ck_assert_int_eq(count(MESSAGES), 0);
	tell();
	floor_world_until(count(MESSAGES) == 1 && count(DONE) == 1);
	ck_assert_uint_eq(sent(), 1);
}

static bool
is_sent(void *arg)
{
	(void)arg;
	return sent() > 0;
}

/* Killed in the delivery, before what became of it is saved: again. */
TEST(what_is_not_known_to_be_sent_is_sent_again)
{
	begin();
	tell();
	floor_world_wait_closely(is_sent, NULL);
	die();
	live_again();
	floor_world_until(count(MESSAGES) == 1 && count(DONE) == 1);
	ck_assert_uint_ge(sent(), 1);
	ck_assert_uint_le(sent(), 2);
	tell(); /* it is known */
	floor_world_settle();
	ck_assert_int_eq(count(MESSAGES), 1);
	only();
}

/* --- what the overseer has left ----------------------------------------- */

static char id[ID_ULID_SIZE];

static void
spool(bool delivered)
{
	struct loop *loop = loop_new();
	struct message_spool *spool =
	    message_spool_new(loop, floor_world.workspace.root);
	struct courier_store store = message_spool_store(spool);
	struct message *m;

	id_ulid(clock_wall_ms(), id);
	m = message_new(&(struct escalation){ .level = ESCALATION_EMERGENCY,
			    .title = "the daemon is dead",
			    .text = "why",
			    .signature = "dead" },
	    settings_channels(floor_world.core->settings), id,
	    "2026-01-01T00:00:00.000Z", floor_world.workspace.root, "overseer",
	    0);
	if (delivered)
		delivery_end(&m->deliveries[0], DELIVERY_SENT, NULL, NULL);
	m->done = delivered;
	store.save(m, store.arg);
	message_free(m);
	message_spool_free(spool);
	loop_free(loop);
}

static bool
is_spooled(void)
{
	cleanup_free char *file =
	    workspace_path(&floor_world.workspace, "overseer-messages.json");
	cleanup_free char *taken =
	    workspace_path(&floor_world.workspace, "overseer-messages.taken");

	return file_exists(file) || file_exists(taken);
}

/* Was it sent already? */
static const bool cases[] = { false, true };

TEST_ROWS(a_spool_is_filed_once_with_its_id, nitems(cases))
{
	struct message *m;

	begin();
	spool(cases[_i]);
	floor_world_close();
	live_again();
	floor_world_until(count(MESSAGES) == 1 && count(DONE) == 1);
	m = book_find_message(floor_world.core->book, id);
	ck_assert_ptr_nonnull(m);
	ck_assert_ptr_nonnull(message_sent_by(m));
	message_free(m);
	floor_world_settle();
	ck_assert(!is_spooled());
	ck_assert_uint_eq(sent(), cases[_i] ? 0 : 1);
	ck_assert_str_eq(only()->words, "why");
}

/* Killed after it was taken and before it is saved. */
TEST(a_spool_that_was_not_saved_is_filed_by_the_next_daemon)
{
	begin();
	spool(false);
	floor_world.store_fails = true;
	messages_file(floor_world.core);
	die();
	ck_assert(is_spooled());
	ck_assert_uint_eq(sent(), 0);
	live_again();
	floor_world_until(count(MESSAGES) == 1 && count(DONE) == 1);
	only();
	ck_assert_uint_eq(sent(), 1);
}

/* Killed after it is saved and before its file is gone. */
TEST(a_spool_that_was_filed_is_not_filed_again)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *taken = NULL, *file = NULL;

	begin();
	spool(false);
	file = workspace_path(&floor_world.workspace, "overseer-messages.json");
	taken =
	    workspace_path(&floor_world.workspace, "overseer-messages.taken");
	ck_assert_int_eq(file_read(file, 1 << 20, &text, NULL), 0);
	messages_file(floor_world.core);
	floor_world_until(count(MESSAGES) == 1 && count(DONE) == 1);
	floor_world_settle();
	floor_world_close();
	ck_assert_int_eq(
	    file_replace(taken, text.data, text.len, 0600, NULL), 0);
	live_again();
	ck_assert(!is_spooled());
	ck_assert_int_eq(count(MESSAGES), 1);
	ck_assert_int_eq(count(DONE), 1);
	ck_assert_uint_eq(sent(), 1);
	only();
}
