/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "clock.h"
#include "json.h"
#include "landing-text.h"
#include "mem.h"
#include "moment.h"
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

void
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
