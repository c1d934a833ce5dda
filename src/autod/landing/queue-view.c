/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "candidates.h"
#include "clock.h"
#include "core.h"
#include "git.h"
#include "json.h"
#include "landing-item.h"
#include "landing-list.h"
#include "landing.h"
#include "mem.h"
#include "queue-facts.h"
#include "queue-move.h"
#include "queue-view.h"
#include "queue.h"
#include "serve.h"
#include "settings.h"
#include "workspace.h"

/* Lives until git answers. */
struct asked {
	struct landings *landings;
	struct server_call *call;
	struct git_slot *slot;
};

static struct json_object *
view_json(struct queue *queue, const char *commit, const char *tree)
{
	const struct core *core = queue->core;
	struct landing_list list = {
		.record = &core->state.landings,
		.branch = core_branch(core),
		.check = settings_string(core->settings, "auto.check_command"),
		.hold = queue_move_reason(queue->move),
		.pushes = settings_bool(core->settings, "repo.push"),
		.now_ms = clock_wall_ms(),
	};
	int slots[LANDING_SLOTS_MAX];
	cleanup_free const char **troubles = NULL;
	struct queue_facts facts;
	struct json_object *json;

	queue_facts_make(queue, &facts);
	facts.plan.base_commit = commit;
	facts.plan.base_tree = tree;
	troubles = xcalloc(facts.plan.entry_count + 1, sizeof *troubles);
	for (size_t i = 0; i < facts.plan.entry_count; i++) {
		const struct candidate *c =
		    candidates_of(queue->candidates, facts.items[i]->id);

		troubles[i] = c != NULL && c->waits ? c->words : NULL;
	}
	for (size_t i = 0; i < facts.plan.run_count; i++)
		slots[i] = (int)(facts.run_slots[i] - queue->slots) + 1;
	list.facts = &facts.plan;
	list.items = facts.items;
	list.troubles = troubles;
	list.slots = slots;
	json = landing_list_json(&list);
	queue_facts_release(&facts);
	return json;
}

static void
on_tip(const struct git_answer *answer, void *arg)
{
	struct asked *asked = arg;
	struct landings *landings = asked->landings;
	cleanup_free char *commit =
	    xstrdup(answer->status == 0 ? answer->out : "");
	char *rest = commit;
	const char *tree;

	strsep(&rest, "\n");
	tree = rest != NULL ? rest : "";
	serve_reply(landings->core, asked->call,
	    view_json(landings->queue, commit, tree));
	git_slot_end(asked->slot);
	free(asked);
}

static void
ask_tip(struct git_slot *slot, void *arg)
{
	struct asked *asked = arg;
	const char *branch = core_branch(asked->landings->core);
	cleanup_free char *commit = xasprintf("refs/heads/%s^{commit}", branch);
	cleanup_free char *tree = xasprintf("refs/heads/%s^{tree}", branch);
	const char *const args[] = { "rev-parse", commit, tree, NULL };
	struct git_command ask = { .args = args };

	asked->slot = slot;
	git_slot_run(slot, &ask, on_tip, asked);
}

static void
drop(void *arg)
{
	struct asked *asked = arg;

	serve_refuse(asked->call, API_FAILED, "the daemon is stopping");
	free(asked);
}

struct json_object *
queue_view(struct landings *landings)
{
	const struct queue *queue = landings->queue;
	bool known = queue->base_commit != NULL;

	return view_json(landings->queue, known ? queue->base_commit : "",
	    known ? queue->base_tree : "");
}

void
queue_view_answer(struct landings *landings, struct server_call *call)
{
	struct queue *queue = landings->queue;
	struct core *core = landings->core;
	struct asked *asked;

	if (queue->base_commit != NULL) {
		serve_reply(core, call,
		    view_json(queue, queue->base_commit, queue->base_tree));
		return;
	}
	asked = xcalloc(1, sizeof *asked);
	asked->landings = landings;
	asked->call = call;
	git_slot(
	    git_queue(core->git, core->workspace->root), ask_tip, drop, asked);
}
