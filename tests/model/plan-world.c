/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "plan-progress.h"

static struct buf text = BUF_INIT;

static struct plan_node *
node_of(const char *line)
{
	static const char letters[] = "PTS";
	cleanup_free char *words = xstrdup(line);
	char *save = NULL, *id = strtok_r(words, " ", &save), *dep;
	cleanup_free char *name = xasprintf("name of %s", id);
	cleanup_free char *parent = xstrdup(id);
	enum node_kind kind =
	    (enum node_kind)(strchr(letters, id[0]) - letters);
	struct plan_node *node = plan_node_new("goal_1", kind, id, name, NOW);

	if (kind != NODE_PHASE) {
		parent[0] = letters[kind - 1];
		*strrchr(parent, '.') = '\0';
		xstrset(&node->parent_id, parent);
	}
	strv_add(&node->acceptance, "it works");
	while ((dep = strtok_r(NULL, " ", &save)) != NULL)
		strv_add(&node->depends_on, dep);
	return node;
}

struct plan *
plan_world(const char *const *lines)
{
	struct plan *plan = plan_new(plan_goal_new("goal_1", "title", NOW));
	struct err err = { 0 };

	for (; *lines != NULL; lines++) {
		struct plan_node *node = node_of(*lines);
		struct plan_node *parent = plan_find(plan, node->parent_id);

		node->order = (int)(parent == NULL ? plan->phase_count :
						     parent->child_count);
		ck_assert_msg(plan_attach(plan, node, &err) == 0, "%s: %s",
		    *lines, err.msg);
	}
	plan_link_blocks(plan);
	return plan;
}

void
plan_world_set(struct plan *plan, const char *id, enum node_status status)
{
	const struct plan_node_move move = {
		.to = status, .reason = "a reason", .rolled_up = true
	};
	struct plan_changes changes = { 0 };
	struct plan_node *node = plan_find(plan, id);

	ck_assert_ptr_nonnull(node);
	plan_node_move(node, &move, NOW, NULL);
	plan_rollup_from(plan, node, NOW, &changes);
	plan_changes_release(&changes);
}

const char *
plan_world_words(const struct plan *plan)
{
	buf_clear(&text);
	for (struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n))
		buf_addf(&text, "%s%s %s", text.len == 0 ? "" : ", ", n->id,
		    node_status_name(n->status));
	return text.data;
}

const char *
plan_world_changes(const struct plan_changes *changes)
{
	buf_clear(&text);
	for (size_t i = 0; i < changes->count; i++)
		buf_addf(
		    &text, "%s%s", i == 0 ? "" : " ", changes->nodes[i]->id);
	for (char **id = changes->removed; id != NULL && *id != NULL; id++)
		buf_addf(&text, "%s-%s", text.len == 0 ? "" : " ", *id);
	if (changes->goal)
		buf_addf(&text, "%sgoal", text.len == 0 ? "" : " ");
	return text.data;
}

const char *
plan_world_json(const struct plan *plan)
{
	cleanup_json struct json_object *json = plan_to_json(plan);

	buf_clear(&text);
	json_print(json, true, &text);
	return text.data;
}
