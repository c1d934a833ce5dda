/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <signal.h>

#include "check-book.h"
#include "cli-private.h"
#include "landing-list.h"
#include "loop.h"

static void
add_expected(struct json_object *item, struct buf *out)
{
	int64_t expected = json_int_or(item, "expected_ms", -1);

	if (expected > 0)
		moment_add_age(out, expected);
	else if (expected == 0)
		buf_adds(out, "now");
}

static const struct view_column columns[] = {
	{ "#", "position", VIEW_COUNT, .right = true },
	{ "State", "state", .cell = VIEW_STATUS },
	{ "Task", "task", .flexible = true },
	{ "Worker", "worker", .flexible = true },
	{ "Check", "check_slot", VIEW_COUNT, .right = true },
	{ "Lands in", .add = add_expected, .right = true },
	{ "Why", "why", .flexible = true },
	{ "Title", "title", .flexible = true },
};

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
		cli_visible(cli, hold);
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
	cli_visible(cli, command);
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
	cli_visible(cli, reason);
	buf_addc(&cli->text, '\n');
}

/* Append to cli->text. */
static void
landing_text_add(struct cli *cli, struct json_object *list)
{
	struct json_object *push = json_object_object_get(list, "push");
	const char *branch = json_string_or(list, "landing_branch", "");
	cleanup_free char *none = xasprintf("Nothing waits to land%s%s.",
	    branch[0] != '\0' ? " on " : "", branch);

	CLI_TABLE(cli, columns, json_object_object_get(list, "items"), none);
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

static int
load(struct cli *cli, struct json_object **ret_list)
{
	const char *code = NULL;
	struct err err = { 0 };

	if (remote_try(cli, "landing.list", json_object_new_object(), 0,
		ret_list, &code, &err))
		return CLI_OK;
	if (strcmp(code, "no_daemon") == 0) {
		struct landing_list list = { .now_ms = clock_wall_ms() };
		cleanup_free char *commit = NULL, *tree = NULL;
		char key[CHECK_KEY_SIZE];
		struct settings *settings = NULL;
		struct state state;
		int status = cli_load_settings(cli, &settings);

		/* What the last daemon left in the book. */
		if (status != CLI_OK)
			return status;
		status = roster_load(cli, &state);
		if (status == CLI_OK) {
			list.record = &state.landings;
			list.branch =
			    settings_string(settings, "repo.default_branch");
			list.check =
			    settings_string(settings, "auto.check_command");
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
	return cli_fail_err(cli, code, &err);
}

/* --- follow ---------------------------------------------------------- */

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
	struct json_object *copy = NULL, *items;

	if (status != CLI_OK) {
		loop_stop(f->loop, status);
		return;
	}
	/* A copy without the members that change although nothing happens. */
	json_object_deep_copy(list, &copy, NULL);
	items = json_object_object_get(copy, "items");
	for (size_t i = 0; i < json_object_array_length(items); i++)
		json_object_object_del(
		    json_object_array_get_idx(items, i), "expected_ms");
	now = copy;
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
landing_run(struct cli *cli, const struct cli_args *args)
{
	int status;

	if (args->flags[FLAG_FOLLOW] != NULL) {
		cleanup_free char *socket = remote_socket(cli);
		cleanup_free char *file =
		    workspace_path(&cli->workspace, "logs/auto.log");
		struct follower f = { .cli = cli, .loop = loop_new() };
		struct loop_signal *interrupt =
		    loop_signal_new(f.loop, SIGINT, on_signal, &f);
		struct event_feed *feed = NULL;
		struct err err = { 0 };

		f.look = loop_call_new(f.loop, look, &f);
		if (event_feed_new(f.loop, socket, file, &event_feed_view, 1,
			on_event, &f, &feed, &err) < 0) {
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
	.run = landing_run,
};
