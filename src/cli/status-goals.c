/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "goal-view.h"
#include "json.h"
#include "mem.h"
#include "plan-digest.h"
#include "schema.h"
#include "status-goals.h"
#include "status.h"
#include "table.h"
#include "text.h"

static void
add_row(struct table *table, struct json_object *goal)
{
	cleanup_buf struct buf done = BUF_INIT, note = BUF_INIT;
	const char *status = json_string_or(goal, "status", "");
	int64_t ready = json_int_or(goal, "ready", 0);
	int64_t blocked = json_int_or(goal, "blocked", 0);

	if (json_int_or(goal, "total", 0) == 0)
		buf_adds(&done, "no plan");
	else
		buf_addf(&done, "%" PRId64 "/%" PRId64,
		    json_int_or(goal, "done", 0),
		    json_int_or(goal, "total", 0));
	if (ready > 0)
		buf_addf(&note, "%" PRId64 " ready", ready);
	if (blocked > 0)
		buf_addf(&note, "%s%" PRId64 " blocked", ready > 0 ? ", " : "",
		    blocked);
	table_row(table,
	    (const char *const[]){ json_string_or(goal, "goal", ""), status,
		done.data, note.data, json_string_or(goal, "title", "") });
	table_colour(table, 1, goal_view_colour(status));
}

static void
show_goals(struct cli *cli, struct json_object *digest)
{
	static const struct table_column columns[] = {
		{ .title = NULL },
		{ .title = NULL },
		{ .title = NULL, .right = true },
		{ .title = NULL },
		{ .title = NULL, .flexible = true },
	};
	struct json_object *goals = json_object_object_get(digest, "goals");
	size_t count = json_object_array_length(goals);
	int64_t more = json_int_or(digest, "more", 0);
	struct table *table = table_new(columns, nitems(columns));

	for (size_t i = 0; i < count; i++)
		add_row(table, json_object_array_get_idx(goals, i));
	table_print(table, cli->width, cli->colour, &cli->text);
	table_free(table);
	if (more > 0)
		buf_addf(&cli->text,
		    "... and %" PRId64 " more; see: llmc goal list\n", more);
}

void
status_goals_show(struct status *s)
{
	const struct schema_field shape = { .type = SCHEMA_OBJECT,
		.of = &plan_digest_shape };
	struct json_object *digest = s->state.goals;
	const char *off = json_string_or(digest, "off", NULL);
	int64_t stalled = json_int_or(digest, "stalled", 0);
	struct cli *cli = s->cli;

	/* Another version of llmc may have written it. */
	if (digest == NULL || schema_check(&shape, digest, "", NULL) < 0)
		return;
	json_set(cli->result, "goals", json_object_get(digest));
	if (off == NULL &&
	    json_object_array_length(json_object_object_get(digest, "goals")) ==
		0)
		return;
	status_section(cli, "GOALS");
	if (off != NULL) {
		cli_coloured(cli, "1;31", "off");
		buf_adds(&cli->text, "  ");
		text_add_visible(&cli->text, off, strlen(off), false);
		buf_addc(&cli->text, '\n');
		return;
	}
	show_goals(cli, digest);
	if (stalled > 0)
		buf_addf(&cli->text,
		    "%" PRId64 " assignment%s stalled; see: llmc work list\n",
		    stalled, stalled == 1 ? " is" : "s are");
}
