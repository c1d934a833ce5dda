/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "core.h"
#include "emit.h"
#include "git-freeze.h"
#include "git.h"
#include "landing-private.h"
#include "landing-record.h"
#include "loop.h"
#include "persist.h"
#include "workspace.h"

void
queue_look(struct queue *queue)
{
	loop_call_request(queue->look);
}

void
queue_base_know(
    struct queue *queue, const char *commit, const char *tree, int64_t date)
{
	xstrset(&queue->known_commit, commit);
	xstrset(&queue->known_tree, tree);
	queue->known_date = date;
}

const char *
queue_base_same(const struct queue *queue, const struct landing_item *item)
{
	return text_is(queue->known_tree, item->head_tree) ?
	    queue->known_commit :
	    NULL;
}

void
queue_base_changed(struct queue *queue)
{
	xstrset(&queue->base_commit, NULL);
	xstrset(&queue->base_tree, NULL);
	queue_look(queue);
}

void
queue_add(struct queue *queue, struct landing_item *item)
{
	landing_record_append(&queue->core->state.landings, item);
	EMIT(queue->core, EVENT_LANDING_QUEUED, .worker = item->worker,
	    .task = item->task, .branch = core_branch(queue->core),
	    .commit = item->head, .title = item->title);
	persist_changed(queue->core);
	if (item->step == ITEM_SUBMITTED)
		queue->landings->hosts->changed(queue->landings->hosts_arg);
	queue_look(queue);
}

void
queue_remove(struct queue *queue, struct landing_item *item)
{
	landing_record_remove(&queue->core->state.landings, item);
	persist_changed(queue->core);
	queue_look(queue);
}

char *
queue_item_ref(const char *item)
{
	return xasprintf("refs/llmc/queue/%s", item);
}

char *
queue_item_built_ref(const char *item)
{
	return xasprintf("refs/llmc/queue/%s" QUEUE_ITEM_BUILT, item);
}

static void
on_ref_dropped(const struct err *err, void *arg)
{
	(void)arg;
	if (err != NULL) /* it only keeps a commit longer than needed */
		log_debug("a ref of the landing queue stays");
}

void
queue_item_drop_ref(struct core *core, const char *item)
{
	cleanup_free char *ref = queue_item_ref(item);
	cleanup_free char *built = queue_item_built_ref(item);

	git_freeze_drop(core->git, ref, on_ref_dropped, NULL);
	git_freeze_drop(core->git, built, on_ref_dropped, NULL);
}

const char *
queue_slot_tree(const struct queue_slot *slot)
{
	return slot->slot == NULL ? NULL : check_slot_tree(slot->slot);
}

static bool
is_queued(const struct landing_record *record, const char *id)
{
	for (size_t i = 0; i < record->count; i++)
		if (strcmp(record->items[i]->id, id) == 0)
			return true;
	return false;
}

/* Ids from now on belong to work that is being frozen. */
static bool
is_stray(const struct queue *queue, const char *id)
{
	int64_t number;

	return id[0] == 'q' && text_parse_int(id + 1, 1, INT64_MAX, &number) &&
	    (uint64_t)number <= queue->ids_before &&
	    !is_queued(&queue->core->state.landings, id);
}

static void
on_listed(const struct git_answer *answer, void *arg)
{
	struct queue *queue = arg;
	cleanup_free char *text = xstrdup(answer->out);

	if (answer->status != 0)
		return; /* the next daemon looks again */
	for (char *at = text, *id; (id = strsep(&at, "\n")) != NULL;) {
		cleanup_free char *ref = queue_item_ref(id);
		char *built = strstr(id, QUEUE_ITEM_BUILT);

		if (built != NULL)
			*built = '\0';

		if (is_stray(queue, id))
			git_freeze_drop(
			    queue->core->git, ref, on_ref_dropped, NULL);
	}
}

void
queue_item_drop_strays(struct queue *queue)
{
	struct core *core = queue->core;
	cleanup_free char *all = queue_item_ref("");
	const char *const args[] = { "for-each-ref",
		"--format=%(refname:lstrip=3)", all, NULL };
	struct git_command list = { .args = args };

	git_freeze_unlock(core->git, all);
	queue->ids_before = core->state.landings.ids;
	if (queue->ids_before > 0)
		git_run(git_queue(core->git, core->workspace->root), &list,
		    on_listed, queue);
}
