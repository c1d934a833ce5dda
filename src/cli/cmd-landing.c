/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "check-book.h"
#include "cli.h"
#include "clock.h"
#include "cmd-events.h"
#include "cmd-landing.h"
#include "commands.h"
#include "errtext.h"
#include "git-ask.h"
#include "json.h"
#include "landing-list.h"
#include "loop.h"
#include "mem.h"
#include "moment.h"
#include "remote.h"
#include "roster.h"
#include "settings.h"
#include "table.h"
#include "text.h"

enum {
	COLUMN_POSITION,
	COLUMN_STATE,
	COLUMN_WHAT,
	COLUMN_WORKER,
	COLUMN_CHECK,
	COLUMN_EXPECTED,
	COLUMN_WHY,
	COLUMN_TITLE,
	COLUMN_COUNT
};

static const struct table_column columns[COLUMN_COUNT] = {
	[COLUMN_POSITION] = { .title = "#", .right = true },
	[COLUMN_STATE] = { .title = "STATE" },
	[COLUMN_WHAT] = { .title = "TASK", .flexible = true },
	[COLUMN_WORKER] = { .title = "WORKER", .flexible = true },
	[COLUMN_CHECK] = { .title = "CHECK", .right = true },
	[COLUMN_EXPECTED] = { .title = "LANDS IN", .right = true },
	[COLUMN_WHY] = { .title = "WHY", .flexible = true },
	[COLUMN_TITLE] = { .title = "TITLE", .flexible = true },
};

static const struct {
	const char *state, *colour;
} colours[] = {
	{ "covered", "36" },
	{ "green", "32" },
	{ "landing", "32" },
	{ "landed", "32" },
	{ "suspect", "33" },
	{ "deferred", "33" },
	{ "held", "33" },
	{ "red", "31" },
	{ "ejected", "31" },
};

static const char *
colour_of(const char *state)
{
	for (size_t i = 0; i < nitems(colours); i++)
		if (strcmp(colours[i].state, state) == 0)
			return colours[i].colour;
	return NULL;
}

static void
add_number(struct buf *out, struct json_object *item, const char *member)
{
	int64_t value = json_int_or(item, member, 0);

	if (value > 0)
		buf_addf(out, "%" PRId64, value);
}

static void
add_row(struct table *table, struct json_object *item)
{
	const char *cells[COLUMN_COUNT];
	const char *state = json_string_or(item, "state", "");
	int64_t expected = json_int_or(item, "expected_ms", -1);
	cleanup_buf struct buf position = BUF_INIT, slot = BUF_INIT;
	cleanup_buf struct buf in = BUF_INIT;

	add_number(&position, item, "position");
	add_number(&slot, item, "check_slot");
	if (expected > 0)
		moment_add_age(&in, expected);
	else if (expected == 0)
		buf_adds(&in, "now");
	cells[COLUMN_POSITION] = position.data;
	cells[COLUMN_STATE] = state;
	cells[COLUMN_WHAT] = json_string_or(item, "task", NULL);
	cells[COLUMN_WORKER] = json_string_or(item, "worker", NULL);
	cells[COLUMN_CHECK] = slot.data;
	cells[COLUMN_EXPECTED] = in.data;
	cells[COLUMN_WHY] = json_string_or(item, "why", "");
	cells[COLUMN_TITLE] = json_string_or(item, "title", "");
	table_row(table, cells);
	table_colour(table, COLUMN_STATE, colour_of(state));
}

static void
add_branch(struct cli *cli, struct json_object *list)
{
	const char *branch = json_string_or(list, "landing_branch", "");
	const char *hold = json_string_or(list, "hold", NULL);

	if (json_bool_or(list, "red", false)) {
		cli_coloured(cli, "1;31", "red");
		buf_addf(&cli->text, ": %s itself fails its check at %.7s\n",
		    branch, json_string_or(list, "base_sha", ""));
	}
	if (hold != NULL) {
		buf_addf(&cli->text, "%s cannot be moved: ", branch);
		text_add_visible(&cli->text, hold, strlen(hold), false);
		buf_addc(&cli->text, '\n');
	}
}

static void
add_check(struct cli *cli, struct json_object *list)
{
	struct json_object *check = json_object_object_get(list, "check");
	const char *command = json_string_or(check, "command", "");
	int64_t took = json_int_or(check, "expected_ms", 0);
	int64_t trees = json_int_or(check, "trees", 0);

	if (check == NULL) {
		buf_adds(&cli->text,
		    "No check command is set (auto.check_command): work lands "
		    "as it is.\n");
		return;
	}
	buf_adds(&cli->text, "Check: ");
	text_add_visible(&cli->text, command, strlen(command), false);
	if (took > 0) {
		buf_adds(&cli->text, ", takes ");
		moment_add_age(&cli->text, took);
	}
	if (trees > 0)
		buf_addf(&cli->text,
		    ", flaky on %" PRId64 " of %" PRId64 " trees (%" PRId64
		    " %%)%s",
		    json_int_or(check, "flaky_trees", 0), trees,
		    json_int_or(check, "flaky_percent", 0),
		    json_bool_or(check, "flaky_alarm", false) ?
			", which is too often" :
			"");
	buf_addc(&cli->text, '\n');
}

void
landing_text_push(struct cli *cli, struct json_object *push)
{
	const char *state = json_string_or(push, "state", "");
	const char *sha = json_string_or(push, "commit_sha", "");
	const char *reason = json_string_or(push, "reason", "");
	int64_t tries = json_int_or(push, "tries", 0);
	int64_t ms = json_int_or(push, "next_unix", 0) * 1000 - clock_wall_ms();

	if (strcmp(state, "failed") != 0) {
		buf_addf(&cli->text,
		    strcmp(state, "done") == 0 ?
			"Push: origin took %.7s\n" :
			"Push: origin does not have %.7s yet\n",
		    sha);
		return;
	}
	cli_coloured(cli, "33", "not pushed");
	buf_addf(&cli->text,
	    ": origin does not have %.7s after %" PRId64 " tr%s, next ", sha,
	    tries, tries == 1 ? "y" : "ies");
	if (ms > 0) {
		buf_adds(&cli->text, "in ");
		moment_add_age(&cli->text, ms);
	} else {
		buf_adds(&cli->text, "now");
	}
	buf_adds(&cli->text, ": ");
	text_add_visible(&cli->text, reason, strlen(reason), false);
	buf_addc(&cli->text, '\n');
}

/* Append to cli->text. */
static void
landing_text_add(struct cli *cli, struct json_object *list)
{
	struct json_object *items = json_object_object_get(list, "items");
	size_t count = json_object_array_length(items);
	struct json_object *push = json_object_object_get(list, "push");
	const char *branch = json_string_or(list, "landing_branch", "");
	struct table *table;

	if (count == 0) {
		buf_addf(&cli->text, "Nothing waits to land%s%s.\n",
		    branch[0] != '\0' ? " on " : "", branch);
	} else {
		table = table_new(columns, COLUMN_COUNT);
		for (size_t i = 0; i < count; i++)
			add_row(table, json_object_array_get_idx(items, i));
		table_print(table, cli->width, cli->colour, &cli->text);
		table_free(table);
	}
	add_branch(cli, list);
	add_check(cli, list);
	if (push != NULL)
		landing_text_push(cli, push);
}

enum {
	FLAG_FOLLOW
};

static const struct cli_flag landing_flags[] = {
	[FLAG_FOLLOW] = { "follow", NULL,
	    "print it again whenever it changes, until Ctrl-C" },
	{ NULL, NULL, NULL },
};

struct follower {
	struct cli *cli;
	struct loop *loop;
	struct loop_call *look;
	struct json_object *shown; /* without what only time changes */
};

/* --- the queue ------------------------------------------------------- */

/* The tip of the branch and its tree; "" if it has none. */
static char *
ask_tip(struct cli *cli, const char *branch, const char *what)
{
	cleanup_free char *name = xasprintf("refs/heads/%s^{%s}", branch, what);
	const char *const args[] = { "rev-parse", "--verify", "--quiet", name,
		NULL };
	cleanup_buf struct buf id = BUF_INIT;

	if (git_ask(cli->workspace.root, args, &id, NULL) != 0)
		buf_clear(&id);
	return buf_take(&id);
}

/* What the last daemon left in the book. */
static int
load_resting(struct cli *cli, struct json_object **ret_list)
{
	struct landing_list list = { .now_ms = clock_wall_ms() };
	cleanup_free char *commit = NULL, *tree = NULL;
	char key[CHECK_KEY_SIZE];
	struct settings *settings = NULL;
	struct state state;
	int status = cli_load_settings(cli, &settings);

	if (status != CLI_OK)
		return status;
	status = roster_load(cli, &state);
	if (status == CLI_OK) {
		list.record = &state.landings;
		list.branch = settings_string(settings, "repo.default_branch");
		list.check = settings_string(settings, "auto.check_command");
		list.pushes = settings_bool(settings, "repo.push");
		check_book_key(list.check, key);
		commit = ask_tip(cli, list.branch, "commit");
		tree = ask_tip(cli, list.branch, "tree");
		*ret_list = landing_list_resting(
		    list, commit, tree, key[0] != '\0' ? key : NULL);
		state_release(&state);
	}
	settings_free(settings);
	return status;
}

static int
load(struct cli *cli, struct json_object **ret_list)
{
	const char *code = NULL;
	struct err err = { 0 };

	if (remote_try(cli, "landing.list", json_object_new_object(), 0,
		ret_list, &code, &err))
		return CLI_OK;
	if (strcmp(code, "no_daemon") == 0)
		return load_resting(cli, ret_list);
	return cli_fail_err(cli, code, &err);
}

/* --- follow ---------------------------------------------------------- */

/* A copy without the members that change although nothing happens. */
static struct json_object *
lasting(struct json_object *list)
{
	struct json_object *copy = NULL, *items;

	json_object_deep_copy(list, &copy, NULL);
	items = json_object_object_get(copy, "items");
	for (size_t i = 0; i < json_object_array_length(items); i++)
		json_object_object_del(
		    json_object_array_get_idx(items, i), "expected_ms");
	return copy;
}

/* False: the reader has gone. */
static bool
print(struct cli *cli, struct json_object *list, bool first)
{
	cleanup_buf struct buf line = BUF_INIT;
	const struct buf *out = &cli->text;
	bool written;

	buf_clear(&cli->text);
	if (cli->json) {
		json_print(list, false, &line);
		buf_addc(&line, '\n');
		out = &line;
	} else {
		if (!first)
			buf_addc(&cli->text, '\n');
		landing_text_add(cli, list);
	}
	written = cli_write(out) == 0;
	buf_clear(&cli->text);
	return written;
}

static void
look(void *arg)
{
	struct follower *f = arg;
	cleanup_json struct json_object *list = NULL, *now = NULL;
	int status = load(f->cli, &list);

	if (status != CLI_OK) {
		loop_stop(f->loop, status);
		return;
	}
	now = lasting(list);
	if (f->shown != NULL && json_object_equal(now, f->shown))
		return;
	if (!print(f->cli, list, f->shown == NULL))
		loop_stop(f->loop, CLI_OK);
	json_object_put(f->shown);
	f->shown = take_ptr(&now);
}

static bool
on_event(struct json_object *record, void *arg)
{
	struct follower *f = arg;

	(void)record;
	loop_call_request(f->look);
	return true;
}

static void
on_signal(int signo, void *arg)
{
	struct follower *f = arg;

	(void)signo;
	loop_stop(f->loop, CLI_OK);
}

static int
follow(struct cli *cli)
{
	cleanup_free char *socket = remote_socket(cli);
	cleanup_free char *file =
	    workspace_path(&cli->workspace, "logs/auto.log");
	struct follower f = { .cli = cli, .loop = loop_new() };
	struct loop_signal *interrupt =
	    loop_signal_new(f.loop, SIGINT, on_signal, &f);
	struct event_feed *feed = NULL;
	struct err err = { 0 };
	int status;

	f.look = loop_call_new(f.loop, look, &f);
	if (event_feed_new(f.loop, socket, file, &event_feed_view, 1, on_event,
		&f, &feed, &err) < 0) {
		status = cli_fail_err(cli, "io", &err);
	} else {
		loop_call_request(f.look);
		status = loop_run(f.loop);
	}
	event_feed_free(feed);
	json_object_put(f.shown);
	loop_call_free(f.look);
	loop_signal_free(interrupt);
	loop_free(f.loop);
	return status;
}

static int
landing_run(struct cli *cli, const struct cli_args *args)
{
	int status;

	if (args->flags[FLAG_FOLLOW] != NULL)
		return follow(cli);
	status = load(cli, &cli->result);
	if (status == CLI_OK)
		landing_text_add(cli, cli->result);
	return status;
}

const struct cli_command cmd_landing = {
	.name = "landing",
	.usage = "[--follow]",
	.summary = "show what waits to land, and why",
	.help =
	    "One line for each piece of work in the landing queue, in the "
	    "order in which it\nlands: its state, the slot of the running "
	    "check that covers it, when it is\nexpected to land, and why it "
	    "waits. Then the check command: how long it takes\nand how often "
	    "it contradicts itself; and with repo.push, whether the last\n"
	    "landing is pushed. With --follow and --json, every change is one "
	    "line of JSON.\n",
	.flags = landing_flags,
	.method = "landing.list",
	.needs = CLI_NEEDS_REPO | CLI_NEEDS_INIT,
	.run = landing_run,
};
