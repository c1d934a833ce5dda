/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "git-private.h"
#include "loop.h"

#define GIT_DEADLINE_MS INT64_C(120000)
#define GIT_TREE_FACTOR 5 /* more for what reads or writes a whole tree */

struct git_slot {
	TAILQ_ENTRY(git_slot) entry;
	struct git_queue *queue;
	git_slot_fn *begin;
	git_drop_fn *drop;
	void *arg;
	bool begun;
};

SLIST_HEAD(git_queues, git_queue);

struct git {
	struct loop *loop;
	char *root;
	bool run_hooks;
	char **own;
	int64_t deadline_ms;
	git_home_fn *home;
	git_box_fn *box;
	void *arg; /* of these */
	struct git_queues queues;
};

static void
queue_next(void *arg)
{
	struct git_queue *queue = arg;
	struct git_slot *slot = TAILQ_FIRST(&queue->slots);

	if (slot == NULL || slot->begun)
		return;
	slot->begun = true;
	slot->begin(slot, slot->arg);
}

void
git_slot(
    struct git_queue *queue, git_slot_fn *begin, git_drop_fn *drop, void *arg)
{
	struct git_slot *slot = xcalloc(1, sizeof *slot);

	slot->queue = queue;
	slot->begin = begin;
	slot->drop = drop;
	slot->arg = arg;
	TAILQ_INSERT_TAIL(&queue->slots, slot, entry);
	loop_call_request(queue->next);
}

void
git_slot_end(struct git_slot *slot)
{
	struct git_queue *queue = slot->queue;

	TAILQ_REMOVE(&queue->slots, slot, entry);
	free(slot);
	loop_call_request(queue->next);
}

void *
git_slot_running(struct git_queue *queue, git_drop_fn *drop)
{
	const struct git_slot *slot = TAILQ_FIRST(&queue->slots);

	return slot != NULL && slot->begun && slot->drop == drop ? slot->arg :
								   NULL;
}

struct git_queue *
git_queue(struct git *git, const char *dir)
{
	struct git_queue *queue;

	SLIST_FOREACH (queue, &git->queues, entry)
		if (strcmp(queue->dir, dir) == 0)
			return queue;
	queue = xcalloc(1, sizeof *queue);
	queue->git = git;
	queue->dir = xstrdup(dir);
	TAILQ_INIT(&queue->slots);
	queue->next = loop_call_new(git->loop, queue_next, queue);
	SLIST_INSERT_HEAD(&git->queues, queue, entry);
	return queue;
}

struct git *
git_new(struct loop *loop, const struct git_options *options)
{
	struct git *git = xcalloc(1, sizeof *git);

	git->loop = loop;
	git->root = xstrdup(options->root);
	git->run_hooks = options->run_hooks;
	git->own = strv_copy(options->own);
	git->deadline_ms =
	    options->deadline_ms > 0 ? options->deadline_ms : GIT_DEADLINE_MS;
	git->home = options->home;
	git->box = options->box;
	git->arg = options->arg;
	SLIST_INIT(&git->queues);
	return git;
}

bool
git_home(const struct git *git, const char *dir, struct git_home *ret_home)
{
	return git->home != NULL && strcmp(dir, git->root) != 0 &&
	    git->home(git->arg, dir, ret_home);
}

int
git_box(
    const struct git *git, const char *dir, char ***ret_prefix, struct err *err)
{
	return git->box != NULL && strcmp(dir, git->root) != 0 ?
	    git->box(git->arg, dir, ret_prefix, err) :
	    0;
}

const char *
git_root(const struct git *git)
{
	return git->root;
}

struct loop *
git_loop(const struct git *git)
{
	return git->loop;
}

bool
git_runs_hooks(const struct git *git)
{
	return git->run_hooks;
}

const char *const *
git_own(const struct git *git)
{
	return strv_const(git->own);
}

bool
git_busy(const struct git *git)
{
	const struct git_queue *queue;

	SLIST_FOREACH (queue, &git->queues, entry)
		if (!TAILQ_EMPTY(&queue->slots))
			return true;
	return false;
}

void
git_free(struct git *git)
{
	struct git_queue *queue;

	if (git == NULL)
		return;
	while ((queue = SLIST_FIRST(&git->queues)) != NULL) {
		struct git_slot *slot;

		SLIST_REMOVE_HEAD(&git->queues, entry);
		while ((slot = TAILQ_FIRST(&queue->slots)) != NULL) {
			TAILQ_REMOVE(&queue->slots, slot, entry);
			if (slot->drop != NULL)
				slot->drop(slot->arg);
			free(slot);
		}
		loop_call_free(queue->next);
		free(queue->dir);
		free(queue);
	}
	strv_free(git->own);
	free(git->root);
	free(git);
}

const char *
git_verb(const char *const *args)
{
	while (args[0] != NULL && args[0][0] == '-' && args[1] != NULL)
		args += strcasecmp(args[0], "-c") == 0 ? 2 : 1;
	return args[0] != NULL ? args[0] : "";
}

int64_t
git_deadline(const struct git *git, const char *verb)
{
	static const char *const slow[] = { "add", "checkout", "clean",
		"commit", "read-tree", "rebase", "restore", "status",
		"submodule", "update-index", "worktree" };

	for (size_t i = 0; i < nitems(slow); i++)
		if (strcmp(verb, slow[i]) == 0)
			return GIT_TREE_FACTOR * git->deadline_ms;
	return git->deadline_ms;
}
