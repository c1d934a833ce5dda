/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "json.h"
#include "node-run.h"
#include "plan-floor.h"
#include "plan-set.h"
#include "task.h"
#include "team-again.h"
#include "team-family.h"
#include "team-floor.h"

/* Those whose node is done: their work is on the branch, or reported. */
static void
add_done(const struct team_floor *floor, const char *parent, struct buf *names)
{
	const struct plan_set *set = plan_floor_set(floor->plan);

	for (size_t i = 0; i < set->plan_count; i++)
		for (size_t n = 0; n < set->plans[i]->count; n++) {
			const struct plan_node *node = set->plans[i]->nodes[n];
			const char *of = node_run_parent(node);

			if (of == NULL || strcmp(of, parent) != 0 ||
			    node->status != NODE_DONE)
				continue;
			buf_addf(names, "%s%s (%s)", names->len > 0 ? ", " : "",
			    json_string_or(node->spawn, "label", node->id),
			    node->id);
		}
}

void
team_again_task_text(
    const struct team_floor *floor, const struct task *task, struct buf *out)
{
	cleanup_buf struct buf open = BUF_INIT, done = BUF_INIT;

	team_family_open(floor, task->id, &open);
	if (floor->plan->state == PLAN_OPEN)
		add_done(floor, task->id, &done);
	if (open.len + done.len == 0)
		return;
	buf_adds(out,
	    "\n\nAn earlier attempt at this task has asked for other agents. "
	    "Do not ask for the same again; agent_status shows them.");
	if (open.len > 0)
		buf_addf(out,
		    " These work for you, and you get their results: %s.",
		    open.data);
	if (done.len > 0)
		buf_addf(out,
		    " These are done, and what they changed has landed: %s.",
		    done.data);
}
