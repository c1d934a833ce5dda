/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "core.h"
#include "git.h"
#include "landing-list.h"
#include "landing-private.h"
#include "landing-record.h"
#include "serve.h"
#include "settings.h"
#include "workspace.h"

static void
add_entry(const struct queue *queue, struct queue_facts *facts,
    struct landing_item *item)
{
	const struct candidate *c = candidates_of(queue->candidates, item->id);
	struct landing_entry *entry = &facts->entries[facts->plan.entry_count];
	const struct landing_hosts *hosts = queue->landings->hosts;
	const char *wait = NULL;

	facts->items[facts->plan.entry_count++] = item;
	*entry = (struct landing_entry){
		.task = item->id,
		.priority = item->priority,
		.seq = item->seq,
		.landing = item->commit != NULL,
	};
	/* A pull request is built on the branch, and on nothing else. */
	if (landings_proposes(queue->landings, item, &wait))
		facts->plan.window = 1;
	entry->held = wait != NULL ||
	    (item->kind == ITEM_SHARED &&
		(hosts == NULL || !hosts->lands(queue->landings->hosts_arg)));
	if (c == NULL)
		return;
	entry->held |= c->waits;
	entry->build = c->build;
	entry->parent = c->parent;
	entry->commit = c->commit;
	entry->tree = c->tree;
}

/* --- protected paths -------------------------------------------------- */

/* What replaces files in a check: those paths, as in that tree. */
static void
overlay_key(const struct queue *queue, char ret_key[CHECK_KEY_SIZE])
{
	const struct core *core = queue->core;
	cleanup_buf struct buf text = BUF_INIT;
	const char *const *paths;

	ret_key[0] = '\0';
	settings_list(core->settings, "repo.protected_paths", &paths);
	if (queue->base_tree == NULL || *paths == NULL)
		return;
	buf_adds(&text, queue->base_tree);
	for (; *paths != NULL; paths++)
		buf_addf(&text, "\n%s", *paths);
	check_book_key(text.data, ret_key);
}

/* Does the work, or work below it that has not landed yet, change protected
 * paths? */
static bool
is_overlaid(const struct queue_facts *facts, size_t entry, const char *base)
{
	const struct landing_entry *entries = facts->entries;
	size_t i;

	for (int depth = 0; depth <= LANDING_WINDOW_MAX; depth++) {
		if (facts->items[entry]->guarded)
			return true;
		if (text_is(base, entries[entry].parent))
			return false;
		for (i = 0; i < facts->plan.entry_count; i++)
			if (entries[i].build == LANDING_BUILT &&
			    strcmp(entries[i].commit, entries[entry].parent) ==
				0)
				break;
		if (i == facts->plan.entry_count)
			return false;
		entry = i;
	}
	return false;
}

static void
name_trees(const struct queue *queue, struct queue_facts *facts)
{
	char key[CHECK_KEY_SIZE];
	bool guarded = false;

	for (size_t i = 0; i < facts->plan.entry_count; i++)
		guarded |= facts->items[i]->guarded;
	if (!guarded)
		return;
	overlay_key(queue, key);
	for (size_t i = 0; i < facts->plan.entry_count && key[0] != '\0'; i++) {
		struct landing_entry *entry = &facts->entries[i];
		char *name;

		if (entry->build != LANDING_BUILT ||
		    !is_overlaid(facts, i, queue->base_commit))
			continue;
		name = check_book_tree(entry->tree, key);
		strv_take(&facts->trees, name);
		entry->tree = name;
	}
}

static void
add_runs(struct queue *queue, struct queue_facts *facts)
{
	static const char *const nobody[] = { NULL };

	for (int i = 0; i < LANDING_SLOTS_MAX; i++) {
		struct queue_slot *slot = &queue->slots[i];
		const char *tree = queue_slot_tree(slot);

		/* There were more slots once, and they are ending. */
		if (tree == NULL ||
		    (i >= queue->slot_count && slot->slot != NULL))
			continue;
		facts->run_slots[facts->plan.run_count] = slot;
		facts->runs[facts->plan.run_count++] = (struct landing_run){
			.tree = tree,
			.tasks = slot->pinned != NULL ?
			    (const char *const *)slot->pinned :
			    nobody,
			.started_ms = slot->slot != NULL ?
			    check_slot_since_ms(slot->slot) :
			    slot->since_ms,
			.cancelled = slot->cancelled,
		};
	}
}

/* How many checks of ours may run on other hosts, less what ours run for them.
 */
static int
other_slots(const struct queue *queue)
{
	const struct landing_hosts *hosts = queue->landings->hosts;
	int count =
	    hosts != NULL ? hosts->check_room(queue->landings->hosts_arg) : 0;

	for (int i = 0; i < LANDING_SLOTS_MAX; i++)
		count += (queue->slots[i].tree != NULL) - queue->slots[i].lent;
	return queue->slot_count + count > LANDING_SLOTS_MAX ?
	    LANDING_SLOTS_MAX - queue->slot_count :
	    count;
}

void
queue_facts_make(struct queue *queue, struct queue_facts *facts)
{
	const struct core *core = queue->core;
	const struct landing_record *record = &queue->core->state.landings;

	memset(facts, 0, sizeof *facts);
	facts->plan.window = record->window;
	facts->entries = xcalloc(record->count + 1, sizeof *facts->entries);
	facts->items =
	    xcalloc(record->count + 1, sizeof(struct landing_item *));
	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step == ITEM_QUEUED)
			add_entry(queue, facts, record->items[i]);
	name_trees(queue, facts);
	add_runs(queue, facts);
	check_slot_key(core, facts->key);
	facts->plan.base_commit = queue->base_commit;
	facts->plan.base_tree = queue->base_tree;
	facts->plan.moving = record->to != NULL;
	facts->plan.hold = queue_move_waits(queue->move) ||
	    !landings_may_move(queue->landings);
	facts->plan.entries = facts->entries;
	facts->plan.runs = facts->runs;
	facts->plan.book = &record->checks;
	facts->plan.command = facts->key[0] != '\0' ? facts->key : NULL;
	facts->plan.mode =
	    strcmp(settings_string(core->settings, "auto.land_mode"), "each") ==
		0 ?
	    LANDING_EACH :
	    LANDING_TIP;
	facts->plan.slots = queue->slot_count + other_slots(queue);
	facts->plan.red_told = record->red_told;
	facts->plan.trial = queue->trial;
}

void
queue_facts_release(struct queue_facts *facts)
{
	free(facts->entries);
	free(facts->items);
	strv_clear(&facts->trees);
}

/* Lives until git answers. */
struct asked {
	struct landings *landings;
	struct server_call *call;
};

static struct json_object *
view_json(struct queue *queue, const char *commit, const char *tree)
{
	const struct core *core = queue->core;
	struct landing_list list = {
		.record = &core->state.landings,
		.branch = core_branch(core),
		.check = settings_string(core->settings, "auto.check_command"),
		.hold = queue_move_reason(queue->move) != NULL ?
		    queue_move_reason(queue->move) :
		    upstream_reason(queue->upstream),
		.pushes = upstream_mode_of(core->settings) != UPSTREAM_OFF,
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

		landings_proposes(
		    queue->landings, facts.items[i], &troubles[i]);
		if (troubles[i] == NULL && c != NULL && c->waits)
			troubles[i] = c->words;
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
	free(asked);
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
	const char *branch = core_branch(core);
	cleanup_free char *commit = xasprintf("refs/heads/%s^{commit}", branch);
	cleanup_free char *tree = xasprintf("refs/heads/%s^{tree}", branch);
	const char *const args[] = { "rev-parse", commit, tree, NULL };
	struct git_command ask = { .args = args, .drop = drop };
	struct asked *asked;

	if (queue->base_commit != NULL) {
		serve_reply(core, call,
		    view_json(queue, queue->base_commit, queue->base_tree));
		return;
	}
	asked = xcalloc(1, sizeof *asked);
	asked->landings = landings;
	asked->call = call;
	git_run(
	    git_queue(core->git, core->workspace->root), &ask, on_tip, asked);
}
