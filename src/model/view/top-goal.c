/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdint.h>

#include "buf.h"
#include "json.h"
#include "mem.h"
#include "strmap.h"
#include "top-goal.h"
#include "top-lines.h"
#include "top-list.h"

#define DEPTH_MAX 12 /* columns are for the words */

/* Parents come before their children; the map has the depth + 1 of each. */
static int
depth_of(const struct strmap *depths, struct json_object *node)
{
	const char *parent = json_string_or(node, "parent", NULL);
	void *found = parent != NULL ? strmap_get(depths, parent) : NULL;
	intptr_t depth = (intptr_t)found;

	return depth < DEPTH_MAX ? (int)depth : DEPTH_MAX;
}

static void
add_node(struct json_object *node, int depth, struct top_lines *lines)
{
	const char *status = json_string_or(node, "status", "?");
	const char *worker = json_string_or(node, "worker", NULL);
	const char *reason = json_string_or(node, "reason", NULL);
	cleanup_buf struct buf text = BUF_INIT;

	buf_addf(&text, "%s  %s", status, json_string_or(node, "title", ""));
	if (worker != NULL)
		buf_addf(&text, " (%s)", worker);
	if (reason != NULL)
		buf_addf(&text, ": %s", reason);
	top_lines_add(lines, 2 * depth, top_word_style(status), text.data);
}

void
top_goal_add(struct json_object *row, struct top_lines *lines)
{
	struct json_object *nodes = json_object_object_get(row, "nodes");
	cleanup_free char *sums =
	    xasprintf("%" PRId64 " of %" PRId64 " done, %" PRId64
		      " ready, %" PRId64 " blocked",
		json_int_or(row, "done", 0), json_int_or(row, "total", 0),
		json_int_or(row, "ready", 0), json_int_or(row, "blocked", 0));
	int64_t more = json_int_or(row, "nodes_more", 0);
	struct strmap depths = { 0 };

	top_lines_field(
	    lines, "title", STYLE_PLAIN, json_string_or(row, "title", NULL));
	top_lines_field(lines, "leaves", STYLE_PLAIN, sums);
	if (!json_object_is_type(nodes, json_type_array))
		return;
	top_lines_head(lines, "TREE");
	for (size_t i = 0; i < json_object_array_length(nodes); i++) {
		struct json_object *node = json_object_array_get_idx(nodes, i);
		const char *id = json_string_or(node, "id", NULL);
		int depth = depth_of(&depths, node);

		add_node(node, depth, lines);
		if (id != NULL)
			strmap_add(&depths, id, (void *)(intptr_t)(depth + 1));
	}
	strmap_release(&depths);
	if (more > 0)
		top_lines_addf(lines, STYLE_DIM,
		    "%" PRId64 " more: llmc goal show %s", more,
		    json_string_or(row, "id", ""));
}
