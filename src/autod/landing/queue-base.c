/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core.h"
#include "emit.h"
#include "errtext.h"
#include "git-facts.h"
#include "git-work.h"
#include "git.h"
#include "landing-item.h"
#include "landing.h"
#include "mem.h"
#include "queue-base.h"
#include "queue.h"
#include "settle.h"
#include "workspace.h"

#define BASE_RETRY_MS     200 /* times the number of failures, */
#define BASE_RETRY_MAX_MS 60000 /* up to this */
#define BASE_TRIES        5 /* then somebody must know */

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
	return queue->known_tree != NULL && item->head_tree != NULL &&
		strcmp(queue->known_tree, item->head_tree) == 0 ?
	    queue->known_commit :
	    NULL;
}

static void
use_known(struct queue *queue)
{
	xstrset(&queue->base_commit, queue->known_commit);
	xstrset(&queue->base_tree, queue->known_tree);
	queue->base_date = queue->known_date;
}

/* Everybody waits for the branch: a person who asked is answered, and in auto
 * mode it is a failure. */
static void
no_base(struct queue *queue, const char *complaint)
{
	const struct landing_record *record = &queue->core->state.landings;
	struct err err = { 0 };

	err_set(&err, -ENOENT, "git cannot read the branch %s: %s",
	    core_branch(queue->core), complaint);
	for (size_t i = record->count; i-- > 0;)
		if (i < record->count && record->items[i]->step == ITEM_QUEUED)
			settle_refused(queue->landings, record->items[i], &err);
	if (record->count > 0)
		landings_blocked(queue->landings, "git", err.msg);
}

static void
base_failed(struct queue *queue, const char *complaint)
{
	int64_t wait = ++queue->base_fails * BASE_RETRY_MS;

	if (queue->base_fails == 1)
		emit(queue->core,
		    &(struct event){ .kind = EVENT_LANDING_WAITS,
			.branch = core_branch(queue->core),
			.reason = complaint });
	if (queue->base_fails == BASE_TRIES)
		no_base(queue, complaint);
	queue_wake(queue, wait < BASE_RETRY_MAX_MS ? wait : BASE_RETRY_MAX_MS);
}

static void
on_base(const struct git_answer *answer, void *arg)
{
	struct queue *queue = arg;
	char commit[GIT_ID_SIZE] = "", tree[GIT_ID_SIZE] = "";
	long long date = 0;

	queue->base_asked = false;
	if (answer->status != 0) {
		base_failed(queue, answer->complaint);
		return;
	}
	queue->base_fails = 0;
	sscanf(answer->out, "%64s %64s %lld", commit, tree, &date);
	queue_base_know(queue, commit, tree, date);
	use_known(queue);
	queue_look(queue);
}

void
queue_base_ask(struct queue *queue)
{
	const struct core *core = queue->core;
	cleanup_free char *branch =
	    xasprintf("refs/heads/%s", core_branch(core));
	const char *const args[] = { "log", "--max-count=1",
		"--no-show-signature", "--format=%H %T %ct", branch, "--",
		NULL };
	struct git_command ask = { .args = args };

	if (queue->base_asked)
		return;
	if (queue->known_commit != NULL &&
	    git_facts_is_at(
		core->git, core_branch(core), queue->known_commit)) {
		use_known(queue);
		queue_look(queue);
		return;
	}
	queue->base_asked = true;
	git_run(
	    git_queue(core->git, core->workspace->root), &ask, on_base, queue);
}

void
queue_base_changed(struct queue *queue)
{
	xstrset(&queue->base_commit, NULL);
	xstrset(&queue->base_tree, NULL);
	queue_look(queue);
}
