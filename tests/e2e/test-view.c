/* SPDX-License-Identifier: ISC */

/* What a running daemon shows: view.get over its socket, and the records that
 * it keeps for what is shown later. */
#include "autorun.h"
#include "book-history.h"
#include "book.h"
#include "client.h"
#include "message.h"
#include "view.h"
#include "workspace.h"

#define ANSWER_MS 20000
#define CLI_USAGE 2 /* called wrongly */

void
unit_before(void)
{
	fleet_begin();
	auto_ails("");
}

/* The text of a member of the view. */
static void
expect_view(const char *path, const char *text)
{
	struct workspace workspace = { 0 };
	cleanup_json struct json_object *params = json_object_new_object();
	cleanup_json struct json_object *view = NULL;
	cleanup_free char *socket = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(workspace_at(fleet_root(), &workspace, &err), 0);
	socket = client_socket_path(&workspace);
	workspace_release(&workspace);
	ck_assert_msg(client_call(socket, "view.get", params, ANSWER_MS, true,
			  &view, NULL, &err) == 0,
	    "%s", err.msg);
	ck_assert_str_eq(auto_member(view, path), text);
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_view_shows_what_goes_on)
{
	auto_task(
	    "a.md", "fake: commit a.txt a\nfake: run %s\n", auto_gate("work"));
	auto_up(NULL);
	auto_wait_gate("work");
	expect_view("workers.auto-1.status", "working");
	expect_view("workers.auto-1.tool", "Bash");
	expect_view("workers.auto-1.mode", "auto");
	expect_view("tasks.t1.worker", "auto-1");
	expect_view("tasks.t1.run_id", "r1");
	expect_view("head.run_id", "r1");
	auto_open_gate("work");
	auto_wait_finished("landed", 1);
	expect_view("ended.t1.outcome", "landed");
	expect_view("ended.t1.lines_added", "1");
	expect_view("ended.t1.lines_removed", "0");
	auto_drain();
	/* Without the daemon, the book and the files tell it. */
	auto_wait_shell("\"$LLMC\" --json top | "
			"grep -q '\"lines_added\": *1'");
	auto_wait_shell("\"$LLMC\" --json top | "
			"grep -q '\"type\": *\"task_completed\"'");
}

/* Something of everything that needs a person. */
static const char needing[] =
    "{\"head\": {\"failure\": {\"class\": \"C\"}}, "
    "\"team\": {\"mail_person\": 1}, \"asks\": {\"a1\": {\"kind\": "
    "\"question\", \"who\": \"t1\", \"command\": \"llmc answer a1 "
    "TEXT\"}, \"a2\": {\"kind\": \"told\", \"who\": \"state\", "
    "\"command\": \"llmc answer a2 --yes\"}}}";

static void
try_command(const char *command)
{
	cleanup_free char *script = NULL;
	struct e2e_run *run;

	ck_assert_msg(strncmp(command, "llmc ", 5) == 0, "%s", command);
	script = xasprintf("echo text | \"$LLMC\" %s", command + 5);
	run = e2e_sh(fleet_root(), script);
	ck_assert_msg(
	    run->status != CLI_USAGE, "%s: %s%s", command, run->out, run->err);
}

static int
try_commands(struct json_object *needs)
{
	int count = 0;

	json_object_object_foreach(needs, key, need)
	{
		(void)key;
		try_command(json_string_or(need, "command", ""));
		count++;
	}
	return count;
}

TEST(what_needs_a_person_says_what_can_be_typed)
{
	cleanup_json struct json_object *view =
	    view_complete(json_tokener_parse(needing));

	view_needs(view);
	ck_assert_int_eq(try_commands(view_of(view, "needs")), 4);
}

/* --- what nobody was told ------------------------------------------------ */

#define UNTOLD "nothing could be sent to you since"

static void
on_waiting(struct message *message, void *arg)
{
	struct message **ret = arg;

	message_free(*ret);
	*ret = message;
}

/* The message that waits: three tries of it have begun, or (sent) it got
 * through. */
static void
set_message(bool sent)
{
	struct message *m = NULL;
	struct book *book = NULL;

	ck_assert_int_eq(
	    book_open(e2e_path("%s/.llmc/llmc.db", fleet_root()), &book, NULL),
	    0);
	ck_assert_int_eq(book_history_open(book, NULL), 0);
	ck_assert_int_eq(book_load_messages(book, on_waiting, &m, NULL), 0);
	ck_assert_ptr_nonnull(m);
	m->deliveries[0].attempts = 3;
	if (sent)
		delivery_end(&m->deliveries[0], DELIVERY_SENT, NULL, NULL);
	m->done = sent;
	book_put_message(book, m);
	ck_assert_int_eq(book_commit(book, NULL), 0);
	book_close(book);
	message_free(m);
}

TEST(channels_that_have_failed_are_said_without_a_daemon)
{
	const char *status;

	e2e_notify(fleet_root(), "exit 3");
	auto_task("a.md",
	    "fake: say ```json\n"
	    "fake: say {\"overseerUpdate\": {\"status\": \"blocked\", "
	    "\"blockers\": [\"needs NPM_TOKEN\"]}}\n"
	    "fake: say ```\n");
	auto_up(NULL);
	auto_wait_state("tasks.0.step", "parked");
	auto_wait_logged("autod.log", "try 1 of");
	e2e_lacks(fleet_do("status", NULL)->out, UNTOLD);
	auto_drain();
	status = fleet_do("status", NULL)->out;
	e2e_has(status, "NPM_TOKEN");
	e2e_lacks(status, UNTOLD);
	set_message(false);
	status = fleet_do("status", NULL)->out;
	e2e_has(status, UNTOLD);
	e2e_has(status, "told: exited with status 3");
	e2e_has(status, "llmc doctor channel told");
	e2e_has(e2e_llmc(fleet_root(), "doctor", NULL)->out, UNTOLD);
	set_message(true);
	e2e_lacks(fleet_do("status", NULL)->out, UNTOLD);
}
